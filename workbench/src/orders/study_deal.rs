//! `study deal`: how diverse dealt classes are, and how near to the table, beside classes made by chance.
//!
//! The experiments of Stack & Deal, on the sensitive attribute of any project, or on frequencies alone.

use incrowd::error::Wording;
use incrowd::random::Random;
use incrowd::task::Task;
use incrowd::{Error, ErrorKind, Result, Role};

use super::compare::leave_out_too_large;
use super::known::Known;
use super::request::{About, Privacy};
use crate::input::project::Project;
use crate::sentences::hint;
use crate::work::{Unit, Work};

/// Which frequencies are dealt, into classes of which sizes.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyDeal {
    pub about: About,
    /// How often each value occurs; that of the project's sensitive attribute where none are given.
    pub frequencies: Option<Vec<u64>>,
    /// From which k to which, as it is written: `2..21`, or one k. It is read when the number of records is known.
    pub ks: Option<String>,
    pub seed: u64,
}

/// What came of it.
pub struct StudiedDeal {
    /// Whose values; none where frequencies were given.
    pub attribute: Option<String>,
    /// The most frequent first.
    pub frequencies: Vec<u64>,
    pub seed: u64,
    /// For every k, every way to make classes.
    pub rows: Vec<DealRow>,
}

/// What one way to make classes gives for one k.
pub struct DealRow {
    pub k: u64,
    pub n_classes: usize,
    pub making: Making,
    /// The fewest different values in a class.
    pub diversity: usize,
    /// By how much classes differ at most in how many records they have of a value. Classes of two records cannot differ
    /// by three.
    pub most_differ: u64,
    /// Greatest and mean distance to the table, all values equally far apart.
    pub equal: (f64, f64),
    /// The same, values in the order of their frequency.
    pub ordered: (f64, f64),
}

/// The values of k where nobody says.
const KS: std::ops::RangeInclusive<u64> = 2..=21;

impl StudyDeal {
    /// The project may be left out where frequencies are given.
    pub fn run(&self, project: Option<&Project>, known: &Known, work: &Work) -> Result<StudiedDeal> {
        let (frequencies, attribute) = match (&self.frequencies, project) {
            (Some(given), _) => (given.clone(), None),
            (None, Some(project)) => {
                let name = self.attribute(project)?;
                let privacy =
                    Privacy { criteria: Default::default(), floors: Default::default(), sensitive: vec![name.clone()] };
                let counted = known.count(project, &self.about.choice(&privacy), work)?;
                (counted.counts.distribution(0), Some(name))
            }
            (None, None) => {
                return Err(Error::new(ErrorKind::Request, "there is nothing to deal")
                    .hint(hint("name a project, or give {frequencies}")));
            }
        };
        let frequencies = checked(frequencies)?;
        let n_records: u64 = frequencies.iter().sum();
        let ks = match &self.ks {
            Some(text) => ks_of(text, n_records)?,
            None => leave_out_too_large(KS.collect(), n_records, work),
        };
        for &k in &ks {
            check_memory(&frequencies, k, work.n_bytes_max())?;
        }
        let n_all = n_records * (ks.len() * Making::ALL.len()) as u64;
        let rows = work.stage("dealing", n_all, Unit::Records, |task| {
            let of_k = |&k: &u64| rows(&frequencies, k, self.seed, task);
            ks.iter().map(of_k).collect::<Result<Vec<_>>>()
        })?;
        Ok(StudiedDeal { attribute, frequencies, seed: self.seed, rows: rows.into_iter().flatten().collect() })
    }

    /// The sensitive attribute that is dealt: the chosen one, or the project's first.
    fn attribute(&self, project: &Project) -> Result<String> {
        let first = || project.with_role(Role::Sensitive).next().map(|known| known.name.clone());
        self.about.sensitive.clone().or_else(first).ok_or_else(|| {
            Error::new(ErrorKind::Project, "the project has no sensitive attribute to deal by")
                .hint(hint("give an attribute the role sensitive, or use {frequencies}"))
        })
    }
}

impl StudiedDeal {
    pub fn n_records(&self) -> u64 {
        self.frequencies.iter().sum()
    }

    /// The least k at which every dealt class has all values.
    pub fn k_of_all_values(&self) -> Option<u64> {
        let has_all = |row: &&DealRow| row.making == Making::Dealt && row.diversity == self.frequencies.len();
        self.rows.iter().find(has_all).map(|row| row.k)
    }
}

/// The most frequent first, without those that do not occur.
fn checked(mut frequencies: Vec<u64>) -> Result<Vec<u64>> {
    frequencies.retain(|&n| n > 0);
    frequencies.sort_unstable_by_key(|&n| std::cmp::Reverse(n));
    match frequencies.iter().try_fold(0u64, |sum, &n| sum.checked_add(n)) {
        Some(n) if (2..=100_000_000).contains(&n) => Ok(frequencies),
        _ => Err(Error::new(ErrorKind::Request, "there must be from 2 to 100,000,000 records")),
    }
}

/// Refuses classes that would not fit: there is a number per record, and one per class and value.
fn check_memory(frequencies: &[u64], k: u64, n_bytes_max: u64) -> Result<()> {
    let n_records: u64 = frequencies.iter().sum();
    let n_numbers = (n_records / k).saturating_mul(frequencies.len() as u64).saturating_add(n_records);
    let (n_needed, n_allowed) = (n_numbers.saturating_mul(8).div_ceil(1_000_000), n_bytes_max / 1_000_000);
    match n_needed > n_allowed {
        true => Err(Error::new(
            ErrorKind::TooLarge,
            format!("classes of {k} records would take {n_needed} MB, where {n_allowed} MB are allowed"),
        )
        .hint(hint("ask for a larger {k}"))),
        false => Ok(()),
    }
}

/// `2..21` as 2, 3, … 21.
fn ks_of(text: &str, n_records: u64) -> Result<Vec<u64>> {
    let wrong = || {
        Error::new(ErrorKind::Request, format!("'{text}' is not a range of k from 2 to the {n_records} records"))
            .hint(Wording::text("for example ").example("k", format!("2..{}", n_records.clamp(2, 21))))
    };
    let (from, to) = text.split_once("..").unwrap_or((text, text));
    let (from, to): (u64, u64) = (from.parse().map_err(|_| wrong())?, to.parse().map_err(|_| wrong())?);
    let is_fine = (2..=to).contains(&from) && to <= n_records && to - from < 1_000;
    is_fine.then(|| (from..=to).collect()).ok_or_else(wrong)
}

/// A way to make classes of the same sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Making {
    Dealt,
    ByChance,
    /// Dealt, then disturbed as long as counts of a value differ by no more than this; in the end some differ by it.
    Differing(u64),
}

impl Making {
    pub const ALL: [Making; 4] = [Making::Dealt, Making::ByChance, Making::Differing(2), Making::Differing(3)];

    pub fn name(self) -> String {
        match self {
            Making::Dealt => "dealt".to_string(),
            Making::ByChance => "by chance".to_string(),
            Making::Differing(n) => format!("differing by {n}"),
        }
    }
}

fn rows(frequencies: &[u64], k: u64, seed: u64, task: &Task) -> Result<Vec<DealRow>> {
    let row = |making: Making| {
        let classes = classes(frequencies, k, making, &mut Random::new(seed).part(k), task)?;
        let all = || classes.chunks_exact(frequencies.len());
        let mut of_classes: Vec<(f64, f64)> = Vec::new();
        for (i, class) in all().enumerate() {
            if i % N_STEPS == 0 {
                task.go_on()?;
            }
            of_classes.push(distances(class, frequencies));
        }
        let distances = of_classes;
        let greatest_and_mean = |of: &dyn Fn(&(f64, f64)) -> f64| {
            let all = distances.iter().map(of);
            (all.clone().fold(0.0, f64::max), all.sum::<f64>() / distances.len() as f64)
        };
        let diversity = all().map(|class| class.iter().filter(|&&n| n > 0).count()).min().unwrap_or(0);
        (task.progress)(frequencies.iter().sum());
        Ok(DealRow {
            k,
            n_classes: distances.len(),
            making,
            diversity,
            most_differ: most_differ(&classes, frequencies.len()),
            equal: greatest_and_mean(&|distance| distance.0),
            ordered: greatest_and_mean(&|distance| distance.1),
        })
    };
    Making::ALL.into_iter().map(row).collect()
}

/// After so many steps it is asked whether the work is still wanted.
const N_STEPS: usize = 1 << 16;

/// For every class, how many records it has of each value, one class after the other.
fn classes(frequencies: &[u64], k: u64, making: Making, random: &mut Random, task: &Task) -> Result<Vec<u64>> {
    task.go_on()?;
    let (n_records, n_values) = (frequencies.iter().sum::<u64>(), frequencies.len());
    let n_classes = (n_records / k) as usize;
    let mut stack: Vec<u32> = Vec::with_capacity(n_records as usize);
    for (value, &n) in (0..).zip(frequencies) {
        for first in (0..n).step_by(N_STEPS) {
            task.go_on()?;
            stack.extend(std::iter::repeat_n(value, (n - first).min(N_STEPS as u64) as usize));
        }
    }
    if making == Making::ByChance {
        shuffle(&mut stack, random, task)?;
    }
    let mut classes = vec![0; n_values * n_classes];
    for (i, &value) in stack.iter().enumerate() {
        if i % N_STEPS == 0 {
            task.go_on()?;
        }
        classes[i % n_classes * n_values + value as usize] += 1;
    }
    if let Making::Differing(most) = making {
        disturb(&mut classes, n_values, most, stack.len() * 4, random, task)?;
    }
    Ok(classes)
}

/// As [`Random::shuffle`] does, and asks on the way whether it is still wanted.
fn shuffle(stack: &mut [u32], random: &mut Random, task: &Task) -> Result<()> {
    for i in (1..stack.len()).rev() {
        if i % N_STEPS == 0 {
            task.go_on()?;
        }
        stack.swap(i, random.below(i as u64 + 1) as usize);
    }
    Ok(())
}

/// At most so many times the tries are made in all.
const N_TIMES_ON: usize = 4;

/// Lets classes exchange records by chance, as long as their counts of every value differ by at most `most`.
///
/// Where the counts may lie is not laid down beforehand, for with few values the bounds of one would forbid every move of
/// another. Chance may have brought them together again when the tries are over: then it goes on for a while.
fn disturb(
    classes: &mut [u64],
    n_values: usize,
    most: u64,
    n_tries: usize,
    random: &mut Random,
    task: &Task,
) -> Result<()> {
    let n_classes = (classes.len() / n_values) as u64;
    let mut spreads: Vec<ClassSpread> =
        (0..n_values).map(|v| ClassSpread::new(classes.iter().skip(v).step_by(n_values), most)).collect();
    let at = |class: usize, value: usize| class * n_values + value;
    for i in 0..n_tries * N_TIMES_ON {
        if i % N_STEPS == 0 {
            task.go_on()?;
        }
        if i >= n_tries && spreads.iter().any(|spread| spread.now() == most) {
            break;
        }
        let [a, b] = [0, 1].map(|_| random.below(n_classes) as usize);
        let [v, w] = [0, 1].map(|_| random.below(n_values as u64) as usize);
        if a == b || v == w || classes[at(a, v)] == 0 || classes[at(b, w)] == 0 {
            continue;
        }
        let moves = [(v, a, b), (w, b, a)];
        let is_fine = |(value, from, to): (usize, usize, usize)| {
            spreads[value].after(classes[at(from, value)], classes[at(to, value)]).is_some_and(|by| by <= most)
        };
        if moves.into_iter().all(is_fine) {
            for (value, from, to) in moves {
                spreads[value].exchange(classes[at(from, value)], classes[at(to, value)]);
                classes[at(from, value)] -= 1;
                classes[at(to, value)] += 1;
            }
        }
    }
    Ok(())
}

/// How many classes have how many records of a value.
struct ClassSpread {
    /// The number of records that the first entry is about.
    first: u64,
    n_classes: Vec<u64>,
}

impl ClassSpread {
    /// With room for all counts that differ by at most `most`: their mean stays what it is.
    fn new<'a>(counts: impl Iterator<Item = &'a u64> + Clone, most: u64) -> ClassSpread {
        let least = counts.clone().min().copied().unwrap_or(0);
        let mut spread = ClassSpread { first: least.saturating_sub(most), n_classes: vec![0; 2 * most as usize + 4] };
        counts.for_each(|&n| *spread.of(n).expect("dealt counts differ by one") += 1);
        spread
    }

    fn of(&mut self, n_records: u64) -> Option<&mut u64> {
        self.n_classes.get_mut(n_records.checked_sub(self.first)? as usize)
    }

    /// By how much counts differ after one class gives a record to another; none where there is no room for that.
    fn after(&self, from: u64, to: u64) -> Option<u64> {
        let place = |n: u64| Some(n.checked_sub(self.first)? as usize).filter(|&at| at < self.n_classes.len());
        let (given, taken) = (place(from.checked_sub(1)?)?, place(to + 1)?);
        let is_there = |at: &usize| {
            let n = self.n_classes[*at] + u64::from(*at == given) + u64::from(*at == taken);
            n > u64::from(*at == given + 1) + u64::from(*at + 1 == taken)
        };
        let there = || (0..self.n_classes.len()).filter(is_there);
        Some((there().next_back()? - there().next()?) as u64)
    }

    /// By how much counts differ.
    fn now(&self) -> u64 {
        let there = || (0..self.n_classes.len()).filter(|&at| self.n_classes[at] > 0);
        there().next_back().zip(there().next()).map_or(0, |(last, first)| (last - first) as u64)
    }

    fn exchange(&mut self, from: u64, to: u64) {
        for (n, is_more) in [(from, false), (to, false), (from - 1, true), (to + 1, true)] {
            let there = self.of(n).expect("there is room");
            *there = if is_more { *there + 1 } else { *there - 1 };
        }
    }
}

/// By how much classes differ at most in how many records they have of a value.
fn most_differ(classes: &[u64], n_values: usize) -> u64 {
    let of_value = |v: usize| {
        let counts = || classes.iter().skip(v).step_by(n_values);
        counts().max().unwrap_or(&0) - counts().min().unwrap_or(&0)
    };
    (0..n_values).map(of_value).max().unwrap_or(0)
}

/// The distance of a class to the table: all values equally far apart, and in the order in which they stand.
fn distances(class: &[u64], table: &[u64]) -> (f64, f64) {
    let (n, of_table) = (class.iter().sum::<u64>() as f64, table.iter().sum::<u64>() as f64);
    let differences: Vec<f64> = class.iter().zip(table).map(|(&c, &t)| c as f64 / n - t as f64 / of_table).collect();
    let equal = differences.iter().map(|d| d.abs()).sum::<f64>() / 2.0;
    let mut before = 0.0;
    let moved: f64 = differences
        .iter()
        .map(|d| {
            before += d;
            f64::abs(before)
        })
        .sum();
    (equal, moved / (table.len().max(2) - 1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_paper_s_distances() {
        // P, Q and R of the paper, in tenths.
        let (p, q, r) = ([2, 1, 7], [3, 0, 7], [1, 0, 9]);
        let ordered = |a: &[u64], b: &[u64]| (distances(a, b).1 * 1e6).round() / 1e6;
        assert_eq!((ordered(&q, &p), ordered(&q, &r), ordered(&p, &r)), (0.05, 0.2, 0.15));
    }

    #[test]
    fn dealing_is_never_worse_than_chance() {
        for frequencies in [vec![167, 153, 127, 103, 91, 89], vec![500, 30, 20, 3, 1], vec![60; 10]] {
            for seed in 0..5 {
                for k in 2..22 {
                    let rows = rows(&frequencies, k, seed, &Task::default()).expect("nobody cancels");
                    for other in &rows[1..] {
                        let what = format!("k = {k}, {}, {frequencies:?}", other.making.name());
                        assert!(rows[0].equal.1 <= other.equal.1 + 1e-3, "mean, {what}");
                        assert!(rows[0].ordered.1 <= other.ordered.1 + 1e-3, "mean in order, {what}");
                        assert!(rows[0].diversity >= other.diversity, "diversity, {what}");
                    }
                }
            }
        }
    }

    /// Frequencies of the paper's data: its example, the transfusion data (Figure 4), Haberman's (Figure 5).
    const OF_THE_PAPER: [&[u64]; 3] = [&[167, 153, 127, 103, 91, 89], &[570, 178], &[225, 81]];

    #[test]
    fn disturbed_classes_differ_by_as_much_as_they_may() {
        for frequencies in OF_THE_PAPER {
            let n_values = frequencies.len();
            for (seed, most, k) in (0..10).flat_map(|seed| (3..21).flat_map(move |k| [(seed, 2, k), (seed, 3, k)])) {
                // The dice of a study.
                let mut random = Random::new(seed).part(k);
                let classes = classes(frequencies, k, Making::Differing(most), &mut random, &Task::default());
                let classes = classes.expect("nobody cancels");
                let of_class = |v: usize| classes.chunks_exact(n_values).map(move |class| class[v]);
                let differ = |v: usize| of_class(v).max().expect("a class") - of_class(v).min().expect("a class");
                assert_eq!((0..n_values).map(differ).max(), Some(most), "k = {k}, {frequencies:?}");
                assert_eq!(most_differ(&classes, n_values), most);
                assert_eq!((0..n_values).map(|v| of_class(v).sum()).collect::<Vec<u64>>(), frequencies);
                let sizes = || classes.chunks_exact(n_values).map(|class| class.iter().sum::<u64>());
                assert!(sizes().min() >= Some(k) && sizes().max() <= sizes().min().map(|size| size + 1));
            }
        }
    }

    /// Figures 3 to 5: the more counts may differ, the farther classes are from the table.
    #[test]
    fn the_figures_have_three_different_curves() {
        const N_SEEDS: u64 = 10;
        for frequencies in OF_THE_PAPER {
            for k in 3..21 {
                let mut mean = [0.0; 3];
                for seed in 0..N_SEEDS {
                    let rows = rows(frequencies, k, seed, &Task::default()).expect("nobody cancels");
                    for (mean, making) in
                        mean.iter_mut().zip([Making::Dealt, Making::Differing(2), Making::Differing(3)])
                    {
                        let row = rows.iter().find(|row| row.making == making).expect("every way is tried");
                        *mean += row.ordered.1 / N_SEEDS as f64;
                    }
                }
                let [dealt, by_2, by_3] = mean;
                assert!(dealt < by_2 && by_2 < by_3, "k = {k}, {frequencies:?}: {mean:?}");
            }
        }
    }

    #[test]
    fn a_shuffle_that_asks_is_the_shuffle() {
        let (mut asked, mut plain): (Vec<u32>, Vec<u32>) = ((0..200_000).collect(), (0..200_000).collect());
        shuffle(&mut asked, &mut Random::new(7), &Task::default()).expect("nobody cancels");
        Random::new(7).shuffle(&mut plain);
        assert!(asked == plain);
    }

    #[test]
    fn a_study_that_is_no_longer_wanted_ends_at_once() {
        let order = StudyDeal { about: About::default(), frequencies: Some(vec![30_000_000; 3]), ks: None, seed: 1 };
        let work = Work::default();
        work.watch().cancel();
        let start = std::time::Instant::now();
        let error = order.run(None, &Known::default(), &work).err().expect("it is cancelled");
        assert_eq!(error.kind(), ErrorKind::Cancelled);
        assert!(start.elapsed().as_secs_f64() < 0.6);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let order = |frequencies, k: &str| StudyDeal {
            about: About::default(),
            frequencies: Some(frequencies),
            ks: Some(k.to_string()),
            seed: 1,
        };
        let work = Work::new(None, Some(10_000_000), crate::work::Watch::default());
        let run = |order: StudyDeal| order.run(None, &Known::default(), &work).map(|studied| studied.rows.len());
        assert_eq!(run(order(vec![50; 300], "2..3")).expect_err("18 MB of classes").kind(), ErrorKind::TooLarge);
        assert_eq!(run(order(vec![50; 300], "200")).expect("a few classes"), 4);
        assert_eq!(run(order(vec![9_000_000; 2], "9000")).expect_err("144 MB").kind(), ErrorKind::TooLarge);
    }
}
