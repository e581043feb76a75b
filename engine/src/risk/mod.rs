//! How likely someone is to be found in a table: the prosecutor's, the journalist's and the marketer's view, and how many
//! records stand alone.
//!
//! A *prosecutor* knows that the person is in the table: 1 over the records of the group. A *journalist* knows only that
//! the person is in the population: 1 over the people of the population who look the same. A *marketer* links all
//! records and counts the ones that are right. (El Emam, "Guide to the de-identification of personal health
//! information", 2013.) Where no population is known, the table counts as one: the worst case. Where it is a sample, how
//! many people look the same is estimated, from sampling weights or from the share that was sampled.
//!
//! Where a column says whose record it is and somebody has several, people are counted instead of records: `people`.
//! `weighted` has what a sample says of single records and of households, `special_uniques` on how few attributes a
//! record stands alone.

pub mod weighted;
pub mod people;
pub mod special_uniques;

use rustc_hash::FxHashMap;

use crate::counts::GroupCounts;
use crate::error::Result;
use crate::number::Crowd;
use crate::table::Code;
use crate::task::Task;

/// How many people of the population look the same as the records of a group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Alike {
    /// Nothing says so: nobody else does, the worst case.
    Unknown,
    /// So many, in a table of the population.
    Counted(u64),
    /// About so many: the sum of the group's sampling weights, or its records divided by the share that was sampled.
    Estimated(f64),
}

impl Alike {
    /// The number that a risk is one over; never fewer than the records themselves.
    pub fn at_least(self, size: u64) -> f64 {
        let people = match self {
            Alike::Unknown => 0.0,
            Alike::Counted(people) => people as f64,
            Alike::Estimated(people) => people,
        };
        people.max(size as f64)
    }
}

/// The risk of the records of a table as one kind of attacker sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct AttackerView {
    /// That of the record that is easiest to find.
    pub highest: f64,
    /// The mean over all records.
    pub average: f64,
    /// Records whose risk is above the threshold.
    pub n_at_risk: u64,
}

/// How likely the people of a table are to be found.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Risks {
    /// How many records are published.
    pub n_records: u64,
    /// How many different people they are of, where somebody has several: then all of this is about people.
    pub n_people: Option<u64>,
    /// How many groups there are.
    pub n_groups: u64,
    /// To whom knows that the person is in the release.
    pub prosecutor: AttackerView,
    /// To whom does not know it.
    pub journalist: AttackerView,
    /// The share of all records that an attacker who links every one gets right.
    pub marketer: f64,
    /// Records that stand alone in the table.
    pub n_unique: u64,
    /// Of these, the ones that stand alone in the population, where that is known.
    pub n_unique_in_population: Option<u64>,
}

impl Risks {
    /// How many there are of what all of this is about.
    pub fn crowd(&self) -> Crowd {
        self.n_people.map_or(Crowd::Records(self.n_records), Crowd::People)
    }
}

/// Judges groups by the number of their records and of the people of the population who look the same. A risk above
/// `threshold` is too much.
pub fn risks(groups: impl Iterator<Item = (u64, Alike)>, threshold: f64) -> Risks {
    let nobody = AttackerView { highest: 0.0, average: 0.0, n_at_risk: 0 };
    let (mut prosecutor, mut journalist) = (nobody, nobody);
    let (mut n_records, mut n_groups, mut n_unique) = (0, 0, 0);
    let mut n_unique_in_population = None;
    for (size, people) in groups.filter(|(size, _)| *size > 0) {
        let alike = people.at_least(size);
        for (view, crowd) in [(&mut prosecutor, size as f64), (&mut journalist, alike)] {
            let risk = 1.0 / crowd;
            view.highest = view.highest.max(risk);
            view.average += size as f64 * risk;
            view.n_at_risk += if risk > threshold { size } else { 0 };
        }
        n_records += size;
        n_groups += 1;
        n_unique += u64::from(size == 1);
        if matches!(people, Alike::Counted(_)) {
            *n_unique_in_population.get_or_insert(0) += u64::from(alike == 1.0);
        }
    }
    let share = 1.0 / n_records.max(1) as f64;
    prosecutor.average *= share;
    journalist.average *= share;
    let marketer = journalist.average;
    Risks { n_records, n_people: None, n_groups, prosecutor, journalist, marketer, n_unique, n_unique_in_population }
}

/// How many of the records that stand alone in a sample also stand alone in the population, as Zayatz (1991) estimates it.
///
/// Groups of the population are taken to be as large as those of the sample are, and each person to be in the sample with
/// the probability `sampled`. Then a group of F people leaves one record with probability F · p · (1 − p)^(F − 1), and by
/// Bayes' rule some of the records that stand alone come from groups of one. An estimate: it is coarse for small samples.
pub fn estimated_unique_in_population(sizes: &[u64], sampled: f64) -> f64 {
    let mut n_of_size: FxHashMap<u64, u64> = FxHashMap::default();
    sizes.iter().for_each(|size| *n_of_size.entry(*size).or_insert(0) += 1);
    let mut by_size: Vec<(u64, u64)> = n_of_size.into_iter().collect();
    by_size.sort_unstable();
    let alone = |(size, n): &(u64, u64)| {
        let size = *size as f64;
        *n as f64 * size * sampled * (1.0 - sampled).powf(size - 1.0)
    };
    let all: f64 = by_size.iter().map(alone).sum();
    let n_unique = by_size.iter().find(|(size, _)| *size == 1).map_or(0, |(_, n)| *n) as f64;
    if all == 0.0 { 0.0 } else { n_unique * (n_unique * sampled) / all }
}

/// What one quasi-identifier does to the risk.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Contribution {
    /// The name of the quasi-identifier.
    pub attribute: String,
    /// By this attribute alone, the records that stand alone and the average risk.
    pub n_unique_alone: u64,
    /// The average risk where only this attribute is known.
    pub average_alone: f64,
    /// By all others: how many stand alone, and how low the average risk gets, when it is left out.
    pub n_unique_without: u64,
    /// The average risk where all but this attribute are known.
    pub average_without: f64,
}

impl Contribution {
    fn new(name: &str, alone: &Risks, without: &Risks) -> Contribution {
        Contribution {
            attribute: name.to_string(),
            n_unique_alone: alone.n_unique,
            average_alone: alone.prosecutor.average,
            n_unique_without: without.n_unique,
            average_without: without.prosecutor.average,
        }
    }
}

/// What each quasi-identifier does to the risk of being found in the table.
///
/// # Errors
/// Where the task is cancelled.
pub fn contributions(counts: &GroupCounts, task: &Task) -> Result<Vec<Contribution>> {
    let names: Vec<&str> = counts.domains().iter().map(|domain| domain.name()).collect();
    let row = |group: usize| (counts.codes(group).iter().map(|code| code.0).collect(), counts.size(group));
    contributions_of(&names, &(0..counts.n_groups()).map(row).collect::<Vec<_>>(), task)
}

/// The same of groups of any table: a number per attribute that equal cells share, and how many records.
///
/// # Errors
/// Where the task is cancelled.
pub fn contributions_of(names: &[&str], groups: &[(Vec<u32>, u64)], task: &Task) -> Result<Vec<Contribution>> {
    let by = |is_meant: &dyn Fn(usize) -> bool| -> Result<Risks> {
        let mut sizes: FxHashMap<Vec<u32>, u64> = FxHashMap::default();
        for (i, (cells, size)) in groups.iter().enumerate() {
            task.go_on_now_and_then(i, N_BETWEEN)?;
            let meant = cells.iter().enumerate().filter(|(a, _)| is_meant(*a)).map(|(_, cell)| *cell);
            *sizes.entry(meant.collect()).or_insert(0) += size;
        }
        // In one order, so that sums are the same whatever came first.
        let mut sizes: Vec<u64> = sizes.into_values().collect();
        sizes.sort_unstable();
        Ok(risks(sizes.into_iter().map(|size| (size, Alike::Unknown)), 1.0))
    };
    let contribution = |(attribute, name): (usize, &&str)| -> Result<Contribution> {
        let (alone, without) = (by(&|a| a == attribute)?, by(&|a| a != attribute)?);
        Ok(Contribution::new(name, &alone, &without))
    };
    names.iter().enumerate().map(contribution).collect()
}

/// Groups between two questions whether the work is still wanted.
pub(crate) const N_BETWEEN: usize = 1 << 14;

/// By group of the counts, its records and the people of the population who look the same.
pub fn crowds(counts: &GroupCounts) -> Vec<(u64, Alike)> {
    let people: Option<FxHashMap<&[Code], u64>> = counts.population().map(|population| population.groups().collect());
    let of_group = |group: usize| {
        let alike = people.as_ref().map(|people| people.get(counts.codes(group)).copied().unwrap_or(0));
        (counts.size(group), alike.map_or(Alike::Unknown, Alike::Counted))
    };
    (0..counts.n_groups()).map(of_group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_groups_by_hand() {
        let found = risks([1, 2, 5].into_iter().map(|size| (size, Alike::Unknown)), 0.4);
        assert_eq!((found.n_records, found.n_groups, found.n_unique), (8, 3, 1));
        assert_eq!(found.prosecutor, AttackerView { highest: 1.0, average: 3.0 / 8.0, n_at_risk: 3 });
        assert_eq!((found.journalist, found.marketer), (found.prosecutor, 3.0 / 8.0));
        assert_eq!(found.n_unique_in_population, None);
        let groups = [(1, 1), (1, 4), (2, 8), (1, 0)];
        let found = risks(groups.into_iter().map(|(size, people)| (size, Alike::Counted(people))), 0.3);
        assert_eq!(
            found.journalist,
            AttackerView { highest: 1.0, average: (1.0 + 0.25 + 0.25 + 1.0) / 5.0, n_at_risk: 2 }
        );
        assert_eq!((found.n_unique, found.n_unique_in_population), (3, Some(2)));
        assert_eq!(risks(std::iter::empty(), 0.1).prosecutor.highest, 0.0);
    }

    #[test]
    fn a_sample_is_a_sample_to_a_journalist_alone() {
        // One in four: a record stands for four people, two for eight.
        let found = risks([(1, Alike::Estimated(4.0)), (2, Alike::Estimated(8.0))].into_iter(), 0.2);
        assert_eq!(found.journalist, AttackerView { highest: 0.25, average: (0.25 + 2.0 * 0.125) / 3.0, n_at_risk: 1 });
        assert_eq!((found.prosecutor.highest, found.prosecutor.n_at_risk), (1.0, 3));
        assert_eq!((found.marketer, found.n_unique_in_population), (found.journalist.average, None));
        // Weights below one never make fewer people than there are records.
        assert_eq!(risks([(2, Alike::Estimated(1.5))].into_iter(), 0.2).journalist.highest, 0.5);
    }

    #[test]
    fn what_each_attribute_does_by_hand() {
        // Told apart by the first alone, all but two alike by the second.
        let found =
            contributions_of(&["x", "y"], &[(vec![0, 0], 1), (vec![1, 0], 2), (vec![2, 1], 1)], &Task::default());
        let found = found.expect("nobody stops it");
        assert_eq!((found[0].n_unique_alone, found[0].n_unique_without), (2, 1));
        assert_eq!((found[1].n_unique_alone, found[1].n_unique_without), (1, 2));
        assert_eq!((found[0].average_alone, found[0].average_without), (0.75, 0.5));
        assert_eq!(found[1].attribute, "y");
    }

    #[test]
    fn the_estimate_is_right_where_it_can_be_known() {
        // Everybody is in the sample: who stands alone, stands alone.
        assert_eq!(estimated_unique_in_population(&[1, 1, 1, 2, 7], 1.0), 3.0);
        assert_eq!(estimated_unique_in_population(&[2, 7], 0.5), 0.0);
        // Half are: of one group of one (½) and one of two (2 · ½ · ½ = ½), a record alone is as likely from either.
        assert_eq!(estimated_unique_in_population(&[1, 2], 0.5), 0.5);
    }
}
