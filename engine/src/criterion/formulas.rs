//! What each criterion measures of one group, as a formula over how often its sensitive values occur.
//!
//! # Joining
//!
//! Two groups of records that keep a criterion keep it together: what the union measures is never worse than what the
//! worse of the two does. Every formula says why. With `a` and `b` records in the two, the share of a value in the union
//! is the mean of its two shares, weighted by `a` and `b`, and lies between them. (Over people it is not: whoever is in
//! both groups counts once in the union.)

use crate::criterion::{Distance, MILLION, NEVER};
use crate::hierarchy::Hierarchy;

/// A sensitive attribute over the whole original table: what groups are compared with.
#[derive(Clone, Debug)]
pub struct Reference {
    /// Records; people, where these are counted.
    n_records: u64,
    /// By value, how many of them have it.
    counts: Vec<u64>,
    /// How many values any record has.
    n_present: usize,
    distance: Distance,
    /// By value, how many records have it or one before it, and the sum of these.
    cumulative: Vec<u64>,
    cumulative_sums: Vec<i128>,
    /// By level below the top: the label above each value, and how many records have each label.
    levels: Vec<(Vec<u32>, Vec<u64>)>,
    /// Whether the labels of the first level are the values themselves.
    begins_with_values: bool,
}

impl Reference {
    /// `counts` are by value in the attribute's order; only hierarchical distance needs the hierarchy.
    pub fn new(counts: Vec<u64>, distance: Distance, hierarchy: Option<&Hierarchy>) -> Reference {
        let n = counts.iter().sum();
        Reference::among(n, counts, distance, hierarchy)
    }

    /// The same of `n` people, each of whom may have several of the values.
    pub fn among(n: u64, counts: Vec<u64>, distance: Distance, hierarchy: Option<&Hierarchy>) -> Reference {
        let cumulative: Vec<u64> = counts.iter().scan(0, |sum, n| Some(add(sum, *n))).collect();
        let sums = cumulative.iter().scan(0i128, |sum, n| Some(add(sum, i128::from(*n))));
        let cumulative_sums = std::iter::once(0).chain(sums).collect();
        let itself = || (0..counts.len() as u32).collect();
        let levels: Vec<Vec<u32>> = match (distance, hierarchy) {
            (Distance::Ordered, _) => Vec::new(),
            (Distance::Hierarchical, Some(hierarchy)) => {
                let labels = |level: usize| hierarchy.level(level).of_base().iter().map(|code| code.0).collect();
                (0..hierarchy.top()).map(labels).collect()
            }
            (Distance::Equal, _) | (Distance::Hierarchical, None) => vec![itself()],
        };
        let begins_with_values =
            levels.first().is_some_and(|labels| (0..).zip(labels).all(|(value, label)| value == *label));
        let with_counts = |labels: Vec<u32>| {
            let mut of_label = vec![0; labels.iter().max().map_or(0, |label| *label as usize + 1)];
            labels.iter().zip(&counts).for_each(|(label, n)| of_label[*label as usize] += n);
            (labels, of_label)
        };
        Reference {
            n_records: n,
            n_present: counts.iter().filter(|count| **count > 0).count(),
            levels: levels.into_iter().map(with_counts).collect(),
            begins_with_values,
            counts,
            distance,
            cumulative,
            cumulative_sums,
        }
    }

    /// How far apart values are.
    pub fn distance(&self) -> Distance {
        self.distance
    }

    /// By value, how many records of the table have it.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }
}

pub(super) fn add<T: Copy + std::ops::AddAssign>(sum: &mut T, n: T) -> T {
    *sum += n;
    *sum
}

/// One group as criteria about one sensitive attribute see it: its values in order, and how many records have each.
pub type Histogram<'a> = &'a [(u32, u64)];

/// How many of `n_people` somebody would count with each value who counts everybody once, by the value that tells most:
/// all who have the most frequent one, then as many as are left with the next, and so on.
///
/// `histogram` has for each value how many people have it in one of their records. Where everybody has one value, it comes
/// back as it is.
///
/// # Guarantee
/// Whichever one of their values everybody is counted with, the counts are no more uneven: the sum of the m greatest is at
/// most that of the m greatest here, for every m. So no choice has fewer different values, less entropy, or a greater
/// ratio of the most frequent one to those from the l-th on.
pub fn told_most(histogram: Histogram, n_people: u64) -> Vec<(u32, u64)> {
    let mut most = histogram.to_vec();
    most.sort_unstable_by_key(|&(value, c)| (std::cmp::Reverse(c), value));
    let mut n_left = n_people;
    for (_, c) in &mut most {
        *c = n_left.min(*c);
        n_left -= *c;
    }
    most.retain(|(_, c)| *c > 0);
    most.sort_unstable();
    most
}

/// How many values [`told_most`] leaves, of which the counts are given; in any order.
pub fn n_told_most(counts: impl ExactSizeIterator<Item = u64> + Clone, n_people: u64) -> u64 {
    let (sum, most) = counts.clone().fold((0, 0), |(sum, most): (u64, u64), c| (sum + c, most.max(c)));
    if sum <= n_people {
        return counts.len() as u64;
    }
    if most <= 1 || most >= n_people {
        return if most >= n_people { u64::from(n_people > 0) } else { n_people };
    }
    let (mut n_values, mut n_left) = (0, n_people);
    let mut take = |c: u64, n: u64| {
        let n = n.min(n_left.div_ceil(c));
        (n_values, n_left) = (n_values + n, n_left.saturating_sub(n * c));
    };
    if most < N_SMALL_COUNTS as u64 {
        // How many values have each count.
        let mut with_count = [0u32; N_SMALL_COUNTS];
        counts.for_each(|c| with_count[c as usize] += 1);
        (1..=most).rev().for_each(|c| take(c, u64::from(with_count[c as usize])));
    } else {
        let mut counts: Vec<u64> = counts.collect();
        counts.sort_unstable();
        counts.iter().rev().filter(|c| **c > 0).for_each(|c| take(*c, 1));
    }
    n_values
}

/// Counts below this are counted themselves instead of sorted.
const N_SMALL_COUNTS: usize = 64;

/// Distinct values.
///
/// # Joining
/// The union has the values of both.
pub fn n_distinct(histogram: Histogram) -> u64 {
    histogram.len() as u64
}

/// The share of the most frequent value among `n`.
///
/// # Joining
/// A share in the union is at most the greater of the two.
pub fn greatest_share(histogram: Histogram, n: u64) -> u64 {
    let most = histogram.iter().map(|(_, c)| *c).max().unwrap_or(0);
    // A group of the population's people only has no shares.
    if n == 0 { 0 } else { ratio_up(u128::from(most), u128::from(n)) }
}

/// `exp` of the entropy: how many equally frequent values would be as uncertain.
///
/// # Joining
/// Entropy is concave: that of a mean of two distributions is at least the mean of theirs, and so at least the lesser.
pub fn effective_values(histogram: Histogram) -> u64 {
    let Some(&(_, first)) = histogram.first() else { return 0 };
    let (mut n, mut is_even, mut c_ln_c) = (0, true, 0.0);
    let small = &*SMALL;
    for &(_, c) in histogram {
        n += c;
        is_even &= c == first;
        c_ln_c += small.get(c as usize).map_or_else(|| c as f64 * (c as f64).ln(), |(_, c_ln_c)| *c_ln_c);
    }
    if n == 0 {
        return 0;
    }
    if is_even {
        return histogram.len() as u64 * MILLION;
    }
    let exact = MILLION as f64 * (ln(n) - c_ln_c / n as f64).exp();
    let nearest = exact.round();
    // Next to a whole number of millionths the computer's rounding could decide: there, ask whole numbers. Every term of the
    // sum is off by a few units in the last place, and so is their sum for every term.
    let off = exact * f64::EPSILON * (histogram.len() + 8) as f64 * (1.0 + ln(n));
    match (exact - nearest).abs() <= 4.0 * off && is_effective_number(histogram, n, nearest as u64) {
        true => nearest as u64,
        false => exact as u64,
    }
}

/// The natural logarithms of small counts, and the counts times these.
static SMALL: std::sync::LazyLock<Vec<(f64, f64)>> = std::sync::LazyLock::new(|| {
    let ln = |n: u32| f64::from(n.max(1)).ln();
    (0..1024u32).map(|n| (ln(n), f64::from(n) * ln(n))).collect()
});

/// The natural logarithm of a count, by lookup where it is small.
fn ln(n: u64) -> f64 {
    SMALL.get(n as usize).map_or_else(|| (n as f64).ln(), |(ln, _)| *ln)
}

/// Whether exp(entropy) is exactly so many millionths: `n^n · 10^(6n) = m^n · Π c^c`, prime by prime.
fn is_effective_number(histogram: Histogram, n: u64, millionths: u64) -> bool {
    let mut exponents: std::collections::BTreeMap<u64, i128> = std::collections::BTreeMap::new();
    let mut multiply = |base: u64, power: i128| {
        for (prime, exponent) in factors(base) {
            *exponents.entry(prime).or_default() += i128::from(exponent) * power;
        }
    };
    multiply(n, i128::from(n));
    multiply(MILLION, i128::from(n));
    multiply(millionths, -i128::from(n));
    histogram.iter().for_each(|(_, c)| multiply(*c, -i128::from(*c)));
    exponents.values().all(|exponent| *exponent == 0)
}

fn factors(mut n: u64) -> Vec<(u64, u32)> {
    let mut factors = Vec::new();
    let mut prime = 2;
    while prime * prime <= n {
        let mut exponent = 0;
        while n % prime == 0 {
            n /= prime;
            exponent += 1;
        }
        if exponent > 0 {
            factors.push((prime, exponent));
        }
        prime += 1;
    }
    if n > 1 {
        factors.push((n, 1));
    }
    factors
}

/// The least c of (c,l)-diversity that holds: a millionth more than the ratio, where that is a whole number of them.
///
/// # Joining
/// The greatest count of the union is at most the sum of the two greatest. What is left of the union without some l − 1
/// values is the sum of what is left of the two without these, and each of that is at least what is left without its own
/// l − 1 greatest: so the rests, too, add up to no more than the union's. The ratio of the sums lies between the ratios.
pub fn recursive_ratio(histogram: Histogram, l: u32) -> u64 {
    let mut counts: Vec<u64> = histogram.iter().map(|(_, c)| *c).collect();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let rest: u64 = counts.iter().skip(l.saturating_sub(1) as usize).sum();
    match (counts.first(), rest) {
        (None, _) => 0,
        (_, 0) => NEVER,
        (Some(&most), rest) => ratio_down(u128::from(most), u128::from(rest)) + 1,
    }
}

/// The earth mover's distance to the table, in the reference's distance between values.
///
/// # Joining
/// In all three distances it is a sum of absolute values of expressions that are linear in the shares, and so convex: at a
/// mean of two distributions it is at most the mean of the distances, and so at most the greater.
pub fn distance_to_table(histogram: Histogram, reference: &Reference) -> u64 {
    let n: u64 = histogram.iter().map(|(_, c)| c).sum();
    if n == 0 || reference.counts.len() < 2 {
        return 0;
    }
    match reference.distance {
        Distance::Ordered => ordered_distance(histogram, n, reference),
        Distance::Equal | Distance::Hierarchical => tree_distance(histogram, n, reference),
    }
}

/// `1/(s−1) Σ_i |Σ_{j≤i} (p_j − q_j)|`.
///
/// Between two values of the group its sum stands still while the table's grows, so that a stretch of values is added
/// up at once on either side of the place where the table overtakes.
fn ordered_distance(histogram: Histogram, n: u64, reference: &Reference) -> u64 {
    let n_values = reference.cumulative.len();
    let whole = u128::from(n) * u128::from(reference.n_records) * (n_values - 1) as u128;
    // The common case fits into 64 bits, which are much faster.
    let moved = match i64::try_from(2 * whole) {
        Ok(_) => ordered_moves::<i64>(histogram, n as i64, reference, |sum| sum as i64) as u128,
        Err(_) => ordered_moves::<i128>(histogram, i128::from(n), reference, |sum| sum) as u128,
    };
    ratio_up(moved, whole)
}

/// The sum of the distances, over the common denominator n · N.
fn ordered_moves<T>(histogram: Histogram, n: T, reference: &Reference, sum_of: impl Fn(i128) -> T) -> T
where
    T: Copy
        + From<i32>
        + PartialOrd
        + std::ops::Add<Output = T>
        + std::ops::Sub<Output = T>
        + std::ops::Mul<Output = T>,
{
    let Reference { cumulative, cumulative_sums, .. } = reference;
    let number = |n: u64| sum_of(i128::from(n));
    let of_table = number(reference.n_records);
    let mut total = T::from(0);
    let mut stretch = |from: usize, to: usize, c: u64| {
        if from == to {
            return;
        }
        let ours = number(c) * of_table;
        let sum = |from: usize, to: usize| n * sum_of(cumulative_sums[to] - cumulative_sums[from]);
        let length = |from: usize, to: usize| number((to - from) as u64);
        // The table's sum never shrinks: the ends say whether it is beyond ours everywhere, or nowhere.
        if number(cumulative[from]) * n >= ours {
            total = total + sum(from, to) - ours * length(from, to);
        } else if number(cumulative[to - 1]) * n <= ours {
            total = total + ours * length(from, to) - sum(from, to);
        } else {
            let overtaken = from + cumulative[from..to].partition_point(|&known| number(known) * n <= ours);
            total = total + ours * length(from, overtaken) - sum(from, overtaken);
            total = total + sum(overtaken, to) - ours * length(overtaken, to);
        }
    };
    let (mut from, mut c) = (0, 0);
    for (value, count) in histogram {
        stretch(from, *value as usize, c);
        from = *value as usize;
        c += count;
    }
    stretch(from, cumulative.len(), c);
    total
}

/// `1/(2H) Σ |p − q|` over all labels of all H levels below the top: each unit that is moved goes up and down again.
fn tree_distance(histogram: Histogram, n: u64, reference: &Reference) -> u64 {
    let whole = 2 * reference.levels.len() as u128 * u128::from(n) * u128::from(reference.n_records);
    // No more can be moved than the whole; that mostly fits into 64 bits, which are much faster.
    match u64::try_from(whole) {
        Ok(whole) => ratio_up(u128::from(tree_moves::<u64>(histogram, n, reference)), u128::from(whole)),
        Err(_) => ratio_up(tree_moves::<u128>(histogram, u128::from(n), reference), whole),
    }
}

/// The sum of the differences, over the common denominator n · N.
fn tree_moves<T>(histogram: Histogram, n: T, reference: &Reference) -> T
where
    T: Copy
        + From<u64>
        + PartialOrd
        + std::ops::Add<Output = T>
        + std::ops::Sub<Output = T>
        + std::ops::Mul<Output = T>,
{
    let of_table = T::from(reference.n_records);
    let mut total = T::from(0);
    let mut of_label: Vec<(u32, u64)> = Vec::new();
    for (level, (labels, counts)) in reference.levels.iter().enumerate() {
        let mut of_level = histogram;
        if level > 0 || !reference.begins_with_values {
            add_up_labels(histogram, labels, &mut of_label);
            of_level = &of_label;
        }
        // Labels that the group lacks are off by their own share: all of the table, less the shares of those it has.
        let mut absent = of_table;
        for &(label, c) in of_level {
            let of_label = T::from(counts[label as usize]);
            absent = absent - of_label;
            let (ours, theirs) = (T::from(c) * of_table, of_label * n);
            total = total + if ours > theirs { ours - theirs } else { theirs - ours };
        }
        total = total + absent * n;
    }
    total
}

/// How many records have each label, by label.
fn add_up_labels(histogram: Histogram, labels: &[u32], of_label: &mut Vec<(u32, u64)>) {
    of_label.clear();
    for (value, c) in histogram {
        let label = labels[*value as usize];
        match of_label.last_mut() {
            Some((last, sum)) if *last == label => *sum += c,
            _ => of_label.push((label, *c)),
        }
    }
    // Values that follow each other mostly have labels that do.
    if !of_label.is_sorted_by(|a, b| a.0 < b.0) {
        of_label.sort_unstable();
        of_label.dedup_by(|next, first| {
            let is_same = next.0 == first.0;
            first.1 += if is_same { next.1 } else { 0 };
            is_same
        });
    }
}

/// The greatest `|ln (p / q)|` among `n`, and a millionth more, since less than δ is asked for.
///
/// # Joining
/// Less than δ for a value says that its share lies in an interval around the table's; what lies between two shares of
/// the interval does too. A value that both groups have the union has.
pub fn greatest_disclosure(histogram: Histogram, n: u64, reference: &Reference) -> u64 {
    if n == 0 {
        return 0;
    }
    if histogram.len() < reference.n_present {
        return NEVER;
    }
    let scale = reference.n_records as f64 / n as f64;
    let of_value = |(value, c): &(u32, u64)| {
        let of_table = reference.counts[*value as usize];
        // Where the shares are equal, say so exactly.
        match u128::from(*c) * u128::from(reference.n_records) == u128::from(of_table) * u128::from(n) {
            true => 0.0,
            false => (*c as f64 / of_table as f64 * scale).ln().abs(),
        }
    };
    (histogram.iter().map(of_value).fold(0.0, f64::max) * MILLION as f64) as u64 + 1
}

/// The greatest `(p − q) / q` among `n`.
///
/// # Joining
/// A share in the union is at most the greater of the two, and what it is compared with stays.
pub fn greatest_gain(histogram: Histogram, n: u64, reference: &Reference) -> u64 {
    let of_value = |(value, c): &(u32, u64)| {
        let ours = u128::from(*c) * u128::from(reference.n_records);
        let of_table = u128::from(reference.counts[*value as usize]) * u128::from(n);
        if ours > of_table { ratio_up(ours - of_table, of_table) } else { 0 }
    };
    histogram.iter().map(of_value).max().unwrap_or(0)
}

/// The greatest `(p − q) / q` among `n`, or never where it exceeds `−ln q` for some value.
///
/// # Joining
/// As for the gain; the bound of each value depends on the table alone.
pub fn greatest_bounded_gain(histogram: Histogram, n: u64, reference: &Reference) -> u64 {
    let exceeds = |(value, c): &(u32, u64)| {
        let q = reference.counts[*value as usize] as f64 / reference.n_records as f64;
        let p = *c as f64 / n as f64;
        // A value that all records have cannot gain, however the computer divides.
        q < 1.0 && (p - q) / q > -q.ln()
    };
    match histogram.iter().any(exceeds) {
        true => NEVER,
        false => greatest_gain(histogram, n, reference),
    }
}

/// `a / b` in millionths, rounded up; never where that is beyond counting.
fn ratio_up(a: u128, b: u128) -> u64 {
    match (u64::try_from(a).ok().and_then(|a| a.checked_mul(MILLION)), u64::try_from(b)) {
        (Some(a), Ok(b)) => a.div_ceil(b),
        _ => match a.checked_mul(u128::from(MILLION)) {
            Some(a) => u64::try_from(a.div_ceil(b)).unwrap_or(NEVER),
            None => NEVER,
        },
    }
}

fn ratio_down(a: u128, b: u128) -> u64 {
    u64::try_from(a * u128::from(MILLION) / b).unwrap_or(NEVER - 1)
}
