//! The same over people, where somebody has several records: who is in which groups, and how likely that makes each of
//! them to be found.
//!
//! Somebody is as easy to find as the easiest of their records: their risk is the highest of their groups', and a group's
//! is one over the different people in it. What all records of a person tell together is beyond any group: somebody may
//! stand in two crowds and be the only one who stands in both.

use rustc_hash::FxHashMap;

use crate::counts::GroupCounts;
use crate::error::Result;
use crate::risk;
use crate::risk::weighted::{Expected, expected};
use crate::risk::{Alike, AttackerView, Contribution, N_BETWEEN, Risks};
use crate::task::Task;

/// Who is in which groups, and with how many records.
#[derive(Clone, Debug, PartialEq)]
pub struct Members {
    n_groups: usize,
    /// Where each person's groups begin; one more entry than there are people.
    starts: Vec<usize>,
    /// By person, increasing: the number of a group, and how many of its records are theirs.
    places: Vec<(u32, u64)>,
}

impl Members {
    /// `records` are (person, group, how many), in any order; those of the same person and group are added up.
    pub fn new(n_people: usize, n_groups: usize, mut records: Vec<(u32, u32, u64)>) -> Members {
        records.sort_unstable();
        records.dedup_by(|next, first| {
            let is_same = (next.0, next.1) == (first.0, first.1);
            if is_same {
                first.2 += next.2;
            }
            is_same
        });
        let mut starts = vec![0; n_people + 1];
        records.iter().for_each(|(person, ..)| starts[*person as usize + 1] += 1);
        (0..n_people).for_each(|person| starts[person + 1] += starts[person]);
        Members { n_groups, starts, places: records.into_iter().map(|(_, group, n)| (group, n)).collect() }
    }

    /// Those of a table; none where nobody has several records, and people are records.
    pub fn of_counts(counts: &GroupCounts) -> Option<Members> {
        let people = counts.people()?;
        let group_of_cell = counts.groups_of_cells();
        let of_person =
            |person: usize| people.cells(person).map(move |(cell, n)| (person as u32, cell, n)).collect::<Vec<_>>();
        let records = (0..people.len()).flat_map(of_person);
        let records = records.map(|(person, cell, n)| (person, group_of_cell[cell], n)).collect();
        Some(Members::new(people.len(), counts.n_groups(), records))
    }

    /// How many people there are.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there is nobody.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The groups that somebody has records in, increasing, and how many.
    fn places(&self, person: usize) -> &[(u32, u64)] {
        &self.places[self.starts[person]..self.starts[person + 1]]
    }

    /// The groups that somebody has records in, increasing.
    pub fn groups(&self, person: usize) -> impl Iterator<Item = usize> {
        self.places(person).iter().map(|(group, _)| *group as usize)
    }

    /// By group, how many different people are in it.
    pub fn sizes(&self) -> Vec<u64> {
        let mut sizes = vec![0; self.n_groups];
        self.places.iter().for_each(|(group, _)| sizes[*group as usize] += 1);
        sizes
    }

    /// How many people stand alone in one of their groups at least.
    pub fn n_alone(&self) -> u64 {
        let sizes = self.sizes();
        self.n_with(|group| sizes[group] == 1)
    }

    /// The same people, where groups are united: `united` says into which.
    fn united(&self, united: &[u32], n_groups: usize) -> Members {
        let of_person = |person: usize| {
            self.places(person).iter().map(move |(group, n)| (person as u32, united[*group as usize], *n))
        };
        Members::new(self.len(), n_groups, (0..self.len()).flat_map(of_person).collect())
    }

    /// By person, the highest of what their groups have.
    pub fn highest(&self, of_group: &[f64]) -> Vec<f64> {
        let of_person = |person| self.places(person).iter().map(|(group, _)| of_group[*group as usize]);
        (0..self.len()).map(|person| of_person(person).fold(0.0, f64::max)).collect()
    }

    /// How many people are alone by all their records together: nobody else has as many in each of the same groups.
    pub fn n_alone_by_all_records(&self) -> u64 {
        let mut n_alike: FxHashMap<&[(u32, u64)], u64> = FxHashMap::default();
        (0..self.len()).for_each(|person| *n_alike.entry(self.places(person)).or_default() += 1);
        n_alike.values().filter(|n| **n == 1).count() as u64
    }

    /// The risk of all people together, each by the easiest of their groups.
    pub fn expected(&self, risk_of_group: &[f64], threshold: f64) -> Expected {
        // In one order, so that sums are the same whatever people are called.
        let mut risks = self.highest(risk_of_group);
        risks.sort_unstable_by(f64::total_cmp);
        expected(risks.chunk_by(|a, b| a == b).map(|same| (same.len() as u64, same[0])), threshold)
    }

    fn n_with(&self, is_meant: impl Fn(usize) -> bool) -> u64 {
        let of_person = |person: &usize| self.places(*person).iter().any(|(group, _)| is_meant(*group as usize));
        (0..self.len()).filter(of_person).count() as u64
    }
}

/// Judges people by the groups that they are in; see [`crate::risk::risks`]. By group, `alike` says how many people of
/// the population look the same.
///
/// # Guarantee
/// Where everybody is in one group with one record, it is what [`crate::risk::risks`] says of these records.
pub fn risks(members: &Members, alike: &[Alike], threshold: f64) -> Risks {
    let sizes = members.sizes();
    let in_population: Vec<f64> = alike.iter().zip(&sizes).map(|(alike, size)| alike.at_least(*size)).collect();
    let view = |crowds: &mut dyn Iterator<Item = f64>| {
        let risks: Vec<f64> = crowds.map(|crowd| 1.0 / crowd).collect();
        let Expected { highest, average, n_at_risk, .. } = members.expected(&risks, threshold);
        AttackerView { highest, average, n_at_risk }
    };
    let prosecutor = view(&mut sizes.iter().map(|size| *size as f64));
    let journalist = view(&mut in_population.iter().copied());
    let is_counted = alike.iter().any(|alike| matches!(alike, Alike::Counted(_)));
    Risks {
        n_records: members.places.iter().map(|(_, n)| n).sum(),
        n_people: Some(members.len() as u64),
        n_groups: sizes.iter().filter(|size| **size > 0).count() as u64,
        prosecutor,
        journalist,
        marketer: journalist.average,
        n_unique: members.n_with(|group| sizes[group] == 1),
        n_unique_in_population: is_counted.then(|| members.n_with(|group| in_population[group] == 1.0)),
    }
}

/// By group of the counts, its people and the people of the population who look the same.
pub fn crowds(counts: &GroupCounts, members: &Members) -> Vec<(u64, Alike)> {
    members.sizes().into_iter().zip(risk::crowds(counts)).map(|(size, (_, alike))| (size, alike)).collect()
}

/// What each quasi-identifier does to the risk of being found, of people.
///
/// # Errors
/// Where the task is cancelled.
pub fn contributions(counts: &GroupCounts, members: &Members, task: &Task) -> Result<Vec<Contribution>> {
    let names: Vec<&str> = counts.domains().iter().map(|domain| domain.name()).collect();
    let cells = |group: usize| counts.codes(group).iter().map(|code| code.0).collect();
    contributions_of(members, &names, &(0..counts.n_groups()).map(cells).collect::<Vec<_>>(), task)
}

/// The same of groups of any table: `cells` are those of each, a number per attribute that equal ones share.
///
/// # Errors
/// Where the task is cancelled.
pub fn contributions_of(
    members: &Members,
    names: &[&str],
    cells: &[Vec<u32>],
    task: &Task,
) -> Result<Vec<Contribution>> {
    let by = |is_meant: &dyn Fn(usize) -> bool| -> Result<Risks> {
        let mut numbers: FxHashMap<Vec<u32>, u32> = FxHashMap::default();
        let mut number = |(i, cells): (usize, &Vec<u32>)| -> Result<u32> {
            task.go_on_now_and_then(i, N_BETWEEN)?;
            let meant = cells.iter().enumerate().filter(|(a, _)| is_meant(*a)).map(|(_, cell)| *cell);
            let next = numbers.len() as u32;
            Ok(*numbers.entry(meant.collect()).or_insert(next))
        };
        let united: Vec<u32> = cells.iter().enumerate().map(&mut number).collect::<Result<_>>()?;
        let members = members.united(&united, numbers.len());
        Ok(risks(&members, &vec![Alike::Unknown; numbers.len()], 1.0))
    };
    let contribution = |(attribute, name): (usize, &&str)| -> Result<Contribution> {
        let (alone, without) = (by(&|a| a == attribute)?, by(&|a| a != attribute)?);
        Ok(Contribution::new(name, &alone, &without))
    };
    names.iter().enumerate().map(contribution).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Person 0 is in both groups, 1 in the first twice, 2 in the second once and in a third alone.
    fn three() -> Members {
        Members::new(3, 3, vec![(0, 0, 1), (1, 0, 1), (0, 1, 1), (2, 1, 1), (1, 0, 1), (2, 2, 4)])
    }

    #[test]
    fn three_people_by_hand() {
        let members = three();
        assert_eq!(members.sizes(), [2, 2, 1]);
        let found = risks(&members, &[Alike::Unknown; 3], 0.5);
        assert_eq!((found.n_records, found.n_people, found.n_groups, found.n_unique), (9, Some(3), 3, 1));
        assert_eq!(found.prosecutor, AttackerView { highest: 1.0, average: 2.0 / 3.0, n_at_risk: 1 });
        assert_eq!((found.journalist, found.n_unique_in_population), (found.prosecutor, None));
        let found = risks(&members, &[4, 1, 2].map(Alike::Counted), 0.4);
        assert_eq!(found.journalist, AttackerView { highest: 0.5, average: (0.5 + 0.25 + 0.5) / 3.0, n_at_risk: 2 });
        assert_eq!((found.marketer, found.n_unique_in_population), (1.25 / 3.0, Some(0)));
        // Each of the three has records that nobody else has in the same groups.
        assert_eq!(members.n_alone_by_all_records(), 3);
    }

    #[test]
    fn all_records_together_tell_how_many_there_are() {
        let of = |n: u64| Members::new(2, 1, vec![(0, 0, 1), (1, 0, n)]).n_alone_by_all_records();
        assert_eq!((of(1), of(2)), (0, 2));
    }

    #[test]
    fn what_an_attribute_does_to_people_by_hand() {
        // By x all three groups are one; by y they are as they were.
        let found = contributions_of(&three(), &["x", "y"], &[vec![0, 0], vec![0, 1], vec![0, 2]], &Task::default());
        let found = found.expect("nobody stops it");
        assert_eq!((found[0].n_unique_alone, found[0].n_unique_without), (0, 1));
        assert_eq!((found[1].n_unique_alone, found[1].n_unique_without), (1, 0));
        assert_eq!((found[0].average_alone, found[0].average_without), (1.0 / 3.0, 2.0 / 3.0));
    }
}
