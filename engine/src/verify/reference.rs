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

/// The original distribution, with the place of every value, and what is the same for every group.
pub(super) struct KnownOriginal<'a> {
    pub(super) original: &'a Original,
    pub(super) places: HashMap<&'a Text, usize>,
    pub(super) n_records: i128,
    /// How many values any record has.
    pub(super) n_present: usize,
    /// How many records have a value before each place, and the sum of these; both end with that of all values.
    pub(super) before: Vec<i128>,
    pub(super) before_sums: Vec<i128>,
    /// For hierarchical distance, from the values up to the top.
    pub(super) labels: Vec<LabelsOfLevel>,
}

/// The labels of one level.
pub(super) struct LabelsOfLevel {
    /// By place of the value.
    of_place: Vec<usize>,
    /// By label, how many records of the table have it.
    counts: Vec<i128>,
}

impl KnownOriginal<'_> {
    pub(super) fn new(original: &Original) -> KnownOriginal<'_> {
        let counts = || original.counts.iter().map(|(_, count)| *count);
        let sums = |of: &mut dyn Iterator<Item = i128>| -> Vec<i128> {
            let mut sum = 0;
            let sums = of.map(|n| {
                sum += n;
                sum
            });
            std::iter::once(0).chain(sums).collect()
        };
        let before = sums(&mut counts().map(i128::from));
        let before_sums = sums(&mut before[1..].iter().copied());
        let labels = match original.distance {
            Distance::Hierarchical => labels_of(original),
            Distance::Equal | Distance::Ordered => Vec::new(),
        };
        KnownOriginal {
            original,
            places: original.counts.iter().map(|(value, _)| value).zip(0..).collect(),
            n_records: before[original.counts.len()],
            n_present: counts().filter(|count| *count > 0).count(),
            before,
            before_sums,
            labels,
        }
    }
}

/// By level, from the values to the top: a label is all that stands above it, so that equal words in two branches are two.
fn labels_of(original: &Original) -> Vec<LabelsOfLevel> {
    let height = original.labels.iter().map(Vec::len).max().unwrap_or(0).max(1);
    let of_level = |level: usize| {
        let (mut numbers, mut counts) = (HashMap::new(), Vec::new());
        let number = |(labels, (_, count)): (&Vec<String>, &(Text, u64))| {
            let path: Vec<String> = labels.iter().rev().take(height - level).cloned().collect();
            let number = *numbers.entry(path).or_insert_with(|| {
                counts.push(0);
                counts.len() - 1
            });
            counts[number] += i128::from(*count);
            number
        };
        LabelsOfLevel { of_place: original.labels.iter().zip(&original.counts).map(number).collect(), counts }
    };
    (0..=height).map(of_level).collect()
}

/// Criteria that compare a group with the original table, value by value.
pub(super) fn compare_plainly(measure: Measure, values: &HashMap<Text, u64>, n: u64, known: &KnownOriginal) -> u64 {
    let KnownOriginal { original, places, n_records, n_present, .. } = known;
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
            let (moved, whole) = match original.distance {
                _ if steps == 0 => (0, 1),
                Distance::Equal => {
                    let of_group: i128 = pairs.iter().map(|(_, p, q)| (p - q).abs()).sum();
                    let of_others = of_table * n - pairs.iter().map(|(_, _, q)| q).sum::<i128>();
                    (of_group + of_others, 2)
                }
                Distance::Ordered => (moved_in_order(&pairs, n, known), steps),
                Distance::Hierarchical => moved_in_tree(&pairs, n, known),
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

/// `Σ_i |Σ_{j≤i} (p_j − q_j)|` of values in order. From one value of the group to the next its own sum stays what it is, and
/// the table's grows: what is between is below it up to some place, and above it from there on.
fn moved_in_order(pairs: &[(usize, i128, i128)], n: i128, known: &KnownOriginal) -> i128 {
    let mut of_group: Vec<(usize, i128)> = pairs.iter().map(|(place, p, _)| (*place, *p)).collect();
    of_group.sort_unstable();
    let (mut moved, mut sum, mut from) = (0, 0, 0);
    let n_values = known.original.counts.len();
    for (place, p) in of_group.into_iter().chain([(n_values, 0)]) {
        // The sums up to and with each value are `before` of the next place.
        let upto = |i: usize| known.before[i + 1] * n;
        let (mut crossed, mut end) = (from, place);
        while crossed < end {
            let middle = crossed.midpoint(end);
            match upto(middle) > sum {
                true => end = middle,
                false => crossed = middle + 1,
            }
        }
        let of_table = |from: usize, to: usize| (known.before_sums[to] - known.before_sums[from]) * n;
        moved += sum * (crossed - from) as i128 - of_table(from, crossed);
        moved += of_table(crossed, place) - sum * (place - crossed) as i128;
        (sum, from) = (sum + p, place);
    }
    moved
}

/// Li et al.'s formula for hierarchical distance: at every label, what its branches can settle among each other is
/// moved at the cost of its height. Below labels that the group lacks there is too little everywhere, and nothing to settle.
fn moved_in_tree(pairs: &[(usize, i128, i128)], n: i128, known: &KnownOriginal) -> (i128, i128) {
    let height = known.labels.len() - 1;
    // What the group has too much of each label that it has, by label; from the values up.
    let extras = |labels: &LabelsOfLevel| {
        let mut extras: BTreeMap<usize, (i128, usize)> = BTreeMap::new();
        for (place, p, _) in pairs {
            let label = labels.of_place[*place];
            extras.entry(label).or_insert_with(|| (-labels.counts[label] * n, *place)).0 += p;
        }
        extras
    };
    let mut moved = 0;
    for level in 1..=height {
        let above = &known.labels[level];
        let mut too_much: BTreeMap<usize, i128> = BTreeMap::new();
        for (extra, place) in extras(&known.labels[level - 1]).values() {
            *too_much.entry(above.of_place[*place]).or_default() += extra.max(&0);
        }
        // What is too much less what is too little is what the label itself has too much.
        let extras = extras(above);
        moved += level as i128 * too_much.iter().map(|(label, more)| (*more).min(more - extras[label].0)).sum::<i128>();
    }
    (moved, height as i128)
}

/// `a / b` in millionths, rounded up.
pub(super) fn fraction_up(a: u128, b: u128) -> u64 {
    u64::try_from((a * u128::from(MILLION)).div_ceil(b)).unwrap_or(NEVER)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// The formulas as they are written, value by value of the table.
    fn moved_naively(pairs: &[(usize, i128, i128)], n: i128, original: &Original) -> (i128, i128) {
        let mut differences: Vec<i128> = original.counts.iter().map(|(_, count)| -i128::from(*count) * n).collect();
        pairs.iter().for_each(|(place, p, _)| differences[*place] += p);
        if original.distance == Distance::Ordered {
            let sums = (0..differences.len()).map(|i| differences[..=i].iter().sum::<i128>().abs());
            return (sums.sum(), differences.len() as i128 - 1);
        }
        let height = original.labels.iter().map(Vec::len).max().unwrap_or(0).max(1);
        let path = |i: usize| -> Vec<&str> { original.labels[i].iter().rev().map(String::as_str).collect() };
        let mut extras: BTreeMap<Vec<&str>, i128> = BTreeMap::new();
        differences.iter().enumerate().for_each(|(i, difference)| *extras.entry(path(i)).or_default() += difference);
        let mut moved = 0;
        for level in 1..=height {
            let mut above: BTreeMap<Vec<&str>, (i128, i128)> = BTreeMap::new();
            for (path, extra) in &extras {
                let (more, less) = above.entry(path[..path.len().min(height - level)].to_vec()).or_default();
                (*more, *less) = (*more + extra.max(&0), *less - extra.min(&0));
            }
            moved += level as i128 * above.values().map(|(more, less)| more.min(less)).sum::<i128>();
            extras = above.into_iter().map(|(path, (more, less))| (path, more - less)).collect();
        }
        (moved, height as i128)
    }

    /// Distances of groups with few of many values are found out without a look at all values.
    #[test]
    fn distances_are_those_of_a_look_at_every_value() {
        let mut random = Random::new(11);
        for _ in 0..3_000 {
            let n_values = 2 + random.below(9) as usize;
            let counts: Vec<(Text, u64)> =
                (0..n_values).map(|i| (Some(format!("{i}")), random.below(4) + u64::from(i == 0))).collect();
            // The same words in several branches, and some paths that are shorter than others.
            let height = 1 + random.below(3);
            let mut word = |i: usize, level: u64| match level {
                0 => format!("{i}"),
                _ => format!("{}", random.below(3)),
            };
            let mut labels_of = |i: usize| -> Vec<String> {
                (0..height - u64::from(i % 4 == 3).min(height - 1)).map(|level| word(i, level)).collect()
            };
            let labels: Vec<Vec<String>> = (0..n_values).map(&mut labels_of).collect();
            for distance in [Distance::Ordered, Distance::Hierarchical] {
                let original = Original { counts: counts.clone(), distance, labels: labels.clone() };
                let known = KnownOriginal::new(&original);
                let mut group: Vec<(usize, i128)> = Vec::new();
                for (place, (_, count)) in counts.iter().enumerate() {
                    let n = i128::from(random.below(count + 1));
                    group.extend((n > 0).then_some((place, n)));
                }
                let n: i128 = group.iter().map(|(_, c)| c).sum();
                let pair = |&(place, c): &(usize, i128)| (place, c * known.n_records, i128::from(counts[place].1) * n);
                let pairs: Vec<(usize, i128, i128)> = group.iter().rev().map(pair).collect();
                let found = match distance {
                    Distance::Ordered => (moved_in_order(&pairs, n, &known), n_values as i128 - 1),
                    _ => moved_in_tree(&pairs, n, &known),
                };
                assert_eq!(found, moved_naively(&pairs, n, &original), "{group:?} of {original:?}");
            }
        }
    }
}
