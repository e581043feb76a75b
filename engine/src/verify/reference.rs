//! What lies outside a file and some criteria compare its groups with, value by value.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::criterion::{Criteria, Criterion, Distance, MILLION, Measure, NEVER};
use crate::table::Domain;

/// A cell of the file; none where it has no value.
pub type Text = Option<String>;

/// The original table's distribution of one sensitive attribute, which some criteria compare with.
#[derive(Clone, Debug, PartialEq)]
pub struct Original {
    /// Every value in order, and how many records have it; none stands for "no value".
    pub counts: Vec<(Text, u64)>,
    /// How far apart values are, for t-closeness.
    pub distance: Distance,
    /// For hierarchical distance, the labels of every value on the levels from 0 to below the top.
    pub labels: Vec<Vec<String>>,
}

impl Original {
    /// A distribution whose values are put in the order of their kind: numbers by size, texts by their letters.
    pub fn new(
        name: &str,
        counts: HashMap<Text, u64>,
        distance: Distance,
        labels: &HashMap<Text, Vec<String>>,
    ) -> Original {
        let present = counts.keys().flatten().cloned().collect();
        let domain = Domain::new(name, present, None);
        let ordered = domain.values().iter().map(|value| Some(value.clone())).chain(counts.get(&None).map(|_| None));
        let counts: Vec<(Text, u64)> = ordered.map(|value| (value.clone(), counts[&value])).collect();
        // A value without labels has one like no other: as far from the others as can be.
        let unlike_any = |value: &Text| vec![format!("\0{value:?}")];
        let labels_of = |(value, _): &(Text, u64)| labels.get(value).cloned().unwrap_or_else(|| unlike_any(value));
        Original { labels: counts.iter().map(labels_of).collect(), counts, distance }
    }

    /// Whether every record of the table keeps a criterion that compares with it, as a group of one.
    fn is_kept_alone(&self, criterion: Criterion) -> bool {
        let present: Vec<usize> = (0..self.counts.len()).filter(|&i| self.counts[i].1 > 0).collect();
        let known = KnownOriginal::new(self);
        let mut tried = HashSet::new();
        present.iter().all(|&i| {
            let (value, count) = &self.counts[i];
            // Values that are as frequent, below the same labels, are as far from the table; of values in order, one of the
            // two ends is furthest.
            let is_new = match (criterion.measure, self.distance) {
                (Measure::Closeness(_), Distance::Ordered) => [present.first(), present.last()].contains(&Some(&i)),
                (Measure::Closeness(_), Distance::Hierarchical) => tried.insert((*count, self.labels[i].get(1..))),
                _ => tried.insert((*count, None)),
            };
            let alone = || compare_plainly(criterion.measure, &HashMap::from([(value.clone(), 1)]), 1, &known);
            !is_new || criterion.holds(alone())
        })
    }
}

/// What lies outside the file and some criteria need.
#[derive(Clone, Debug, Default)]
pub struct Outside {
    /// By sensitive attribute; none where the original distribution is not known.
    pub originals: Vec<Option<Original>>,
    /// How many people of the population share each group's published values; none where that is not known.
    pub population: Option<HashMap<Vec<Text>, u64>>,
}

impl Outside {
    /// Whether every record of the original table keeps these criteria on its own, as far as that is known: then they
    /// promise nothing.
    pub fn is_kept_alone(&self, criteria: &Criteria) -> bool {
        let is_kept = |criterion: Criterion| {
            let original = criterion.measure.sensitive().and_then(|s| self.originals.get(s)?.as_ref());
            match original.filter(|_| criterion.measure.is_relative()) {
                Some(original) => original.is_kept_alone(criterion),
                None => criterion.is_void(),
            }
        };
        !criteria.is_empty() && criteria.iter().all(is_kept)
    }
}

/// The original distribution, with the place of every value.
pub(super) struct KnownOriginal<'a> {
    pub(super) original: &'a Original,
    pub(super) places: HashMap<&'a Text, usize>,
    pub(super) n_records: i128,
    /// How many values any record has.
    pub(super) n_present: usize,
}

impl KnownOriginal<'_> {
    pub(super) fn new(original: &Original) -> KnownOriginal<'_> {
        let counts = || original.counts.iter().map(|(_, count)| *count);
        KnownOriginal {
            original,
            places: original.counts.iter().map(|(value, _)| value).zip(0..).collect(),
            n_records: counts().map(i128::from).sum(),
            n_present: counts().filter(|count| *count > 0).count(),
        }
    }
}

/// Criteria that compare a group with the original table, value by value.
pub(super) fn compare_plainly(measure: Measure, values: &HashMap<Text, u64>, n: u64, known: &KnownOriginal) -> u64 {
    let KnownOriginal { original, places, n_records, n_present } = known;
    let (n, of_table) = (i128::from(n), *n_records);
    // Shares of the group and of the table, over the common denominator n · N, of the values that the group has.
    let pair = |(value, c): (&Text, &u64)| {
        let place = *places.get(value)?;
        let count = original.counts[place].1;
        (count > 0).then(|| (place, i128::from(*c) * of_table, i128::from(count) * n))
    };
    let Some(pairs) = values.iter().map(pair).collect::<Option<Vec<(usize, i128, i128)>>>() else {
        // The file has a value that the original table lacks.
        return NEVER;
    };
    let gains = || pairs.iter().map(|(_, p, q)| (*p, *q)).filter(|(p, q)| p > q);
    let log = |q: i128| (q as f64 / (n * of_table) as f64).ln();
    let likeness = || gains().map(|(p, q)| fraction_up((p - q) as u128, q as u128)).max().unwrap_or(0);
    match measure {
        Measure::Closeness(_) => {
            let steps = original.counts.len() as i128 - 1;
            // By value of the table: of those that the group lacks, all that the table has is too little.
            let differences = || {
                let mut differences: Vec<i128> =
                    original.counts.iter().map(|(_, count)| -(i128::from(*count) * n)).collect();
                pairs.iter().for_each(|(place, p, _)| differences[*place] += p);
                differences
            };
            let (moved, whole) = match original.distance {
                _ if steps == 0 => (0, 1),
                Distance::Equal => {
                    let of_group: i128 = pairs.iter().map(|(_, p, q)| (p - q).abs()).sum();
                    let of_others = of_table * n - pairs.iter().map(|(_, _, q)| q).sum::<i128>();
                    (of_group + of_others, 2)
                }
                Distance::Ordered => {
                    let mut before = 0;
                    let differences = differences();
                    let sums = differences.iter().map(|d| {
                        before += d;
                        before.abs()
                    });
                    (sums.sum(), steps)
                }
                Distance::Hierarchical => moved_in_tree(&differences(), &original.labels),
            };
            fraction_up(moved as u128, (whole * n * of_table) as u128)
        }
        // A value of the table that the group lacks.
        Measure::Disclosure(_) if pairs.len() < *n_present => NEVER,
        Measure::Disclosure(_) => {
            let logs = pairs.iter().filter(|(_, p, q)| p != q).map(|(_, p, q)| (*p as f64 / *q as f64).ln().abs());
            (logs.fold(0.0, f64::max) * MILLION as f64) as u64 + 1
        }
        Measure::EnhancedLikeness(_) if gains().any(|(p, q)| (p - q) as f64 / q as f64 > -log(q)) => NEVER,
        _ => likeness(),
    }
}

/// Li et al.'s formula for hierarchical distance: at every label, what its branches can settle among each other is
/// moved at the cost of its height.
fn moved_in_tree(differences: &[i128], labels: &[Vec<String>]) -> (i128, i128) {
    let height = labels.iter().map(Vec::len).max().unwrap_or(0).max(1);
    let mut moved = 0;
    // What each branch has too much, by its label; from the values up.
    let mut extras: BTreeMap<Vec<&str>, i128> = BTreeMap::new();
    let path =
        |i: usize, level: usize| -> Vec<&str> { labels[i].iter().skip(level).rev().map(String::as_str).collect() };
    for (i, difference) in differences.iter().enumerate() {
        *extras.entry(path(i, 0)).or_default() += difference;
    }
    for level in 1..=height {
        let mut above: BTreeMap<Vec<&str>, (i128, i128)> = BTreeMap::new();
        for (path, extra) in &extras {
            let parent = path[..path.len().min(height - level)].to_vec();
            let (too_much, too_little) = above.entry(parent).or_default();
            *too_much += extra.max(&0);
            *too_little -= extra.min(&0);
        }
        moved += level as i128 * above.values().map(|(more, less)| more.min(less)).sum::<i128>();
        extras = above.into_iter().map(|(path, (more, less))| (path, more - less)).collect();
    }
    (moved, height as i128)
}

/// `a / b` in millionths, rounded up.
pub(super) fn fraction_up(a: u128, b: u128) -> u64 {
    u64::try_from((a * u128::from(MILLION)).div_ceil(b)).unwrap_or(NEVER)
}
