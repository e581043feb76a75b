//! What every criterion asks of a group, as its definition says: in whole numbers where the definition allows it.
//!
//! A definition here is a question, "does this group satisfy that value?", and what a group measures is the strictest
//! value that it satisfies.

use std::collections::BTreeMap;

use incrowd::criterion::NEVER;
use incrowd::{Criterion, Distance, Measure};

use super::Cell;

pub const MILLION: u64 = 1_000_000;

/// How many records of a group have each value of one sensitive attribute.
pub type Counts = BTreeMap<Cell, u64>;

/// The original table's distribution of one sensitive attribute.
#[derive(Clone, Debug)]
pub struct NaiveReference {
    /// Every value in order, with how many records have it.
    pub counts: Vec<(Cell, u64)>,
    pub distance: Distance,
    /// For hierarchical distance: by value, its labels from itself to `*`.
    pub labels: Vec<Vec<Cell>>,
}

impl NaiveReference {
    /// Numbers in the order of their size, other values in that of their letters, no value last.
    pub fn new(counts: &Counts, distance: Distance, labels_of: impl Fn(&Cell) -> Vec<Cell>) -> NaiveReference {
        let mut counts: Vec<(Cell, u64)> = counts.iter().map(|(value, n)| (value.clone(), *n)).collect();
        let numbers: Option<Vec<f64>> = counts.iter().flat_map(|(value, _)| value).map(|v| v.parse().ok()).collect();
        counts.sort_by(|(a, _), (b, _)| {
            let number = |value: &Cell| value.as_deref().and_then(|text| text.parse::<f64>().ok());
            let by_size = numbers.as_ref().and_then(|_| number(a).partial_cmp(&number(b)));
            let by_size = by_size.unwrap_or(std::cmp::Ordering::Equal);
            a.is_none().cmp(&b.is_none()).then(by_size).then_with(|| a.cmp(b))
        });
        NaiveReference { labels: counts.iter().map(|(value, _)| labels_of(value)).collect(), counts, distance }
    }

    fn n_records(&self) -> u64 {
        self.counts.iter().map(|(_, n)| n).sum()
    }

    /// How far apart two values are, as a number of steps, and how many steps are a distance of 1.
    fn steps(&self, a: usize, b: usize) -> (i64, i64) {
        match self.distance {
            Distance::Equal => (i64::from(a != b), 1),
            Distance::Ordered => (a.abs_diff(b) as i64, (self.counts.len() as i64 - 1).max(1)),
            Distance::Hierarchical => {
                let top = self.labels[a].len() - 1;
                let level = (0..=top).find(|&level| self.labels[a][level] == self.labels[b][level]);
                (level.expect("they meet at the top") as i64, top as i64)
            }
        }
    }
}

/// What criteria see of a group.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seen {
    pub size: u64,
    pub population: u64,
    /// By sensitive attribute.
    pub values: Vec<Counts>,
}

/// Whether more of a measure is more privacy.
pub fn is_at_least(measure: Measure) -> bool {
    matches!(measure, Measure::Size | Measure::Population | Measure::Distinct(_) | Measure::Entropy(_))
}

pub fn is_met(criterion: Criterion, measured: u64) -> bool {
    if is_at_least(criterion.measure) { measured >= criterion.value } else { measured <= criterion.value }
}

/// The definitions, one after the other; values in millionths where they are no counts.
pub fn satisfies(seen: &Seen, criterion: Criterion, references: &[NaiveReference]) -> bool {
    let (n, asked) = (u128::from(seen.size), u128::from(criterion.value));
    let million = u128::from(MILLION);
    let of = |s: usize| &seen.values[s];
    match criterion.measure {
        Measure::Size => n >= asked,
        Measure::Population => u128::from(seen.population) >= asked,
        Measure::Distinct(s) => of(s).len() as u128 >= asked,
        Measure::Share(s) => of(s).values().all(|&c| u128::from(c) * million <= asked * n),
        Measure::Entropy(s) => has_entropy(of(s), criterion.value),
        Measure::Recursive { sensitive, l } => {
            let mut counts: Vec<u128> = of(sensitive).values().map(|&c| u128::from(c)).collect();
            counts.sort();
            counts.reverse();
            let rest: u128 = counts.iter().skip(l as usize - 1).sum();
            counts[0] * million < asked * rest
        }
        Measure::Closeness(s) => {
            let Some((moved, whole)) = earth_moved(of(s), &references[s]) else { return false };
            moved * million <= asked * whole
        }
        Measure::Disclosure(s) => shares(of(s), &references[s]).is_some_and(|shares| {
            // The logarithm of a fraction is no fraction, except that of 1: nothing but p = q is ever a tie.
            let is_within = |p: u128, q: u128| match p == q {
                true => asked > 0,
                false => (p as f64 / q as f64).ln().abs() * 1e6 < asked as f64,
            };
            shares.iter().all(|&(p, q)| p > 0 && is_within(p, q))
        }),
        Measure::Likeness(s) => shares(of(s), &references[s])
            .is_some_and(|shares| shares.iter().all(|&(p, q)| p <= q || (p - q) * million <= asked * q)),
        Measure::EnhancedLikeness(s) => shares(of(s), &references[s]).is_some_and(|shares| {
            let whole: u128 = shares.iter().map(|(_, q)| q).sum();
            let bound = |q: u128| (whole as f64 / q as f64).ln();
            shares
                .iter()
                .all(|&(p, q)| p <= q || ((p - q) * million <= asked * q && (p - q) as f64 / q as f64 <= bound(q)))
        }),
    }
}

/// By value of the table, the share in the group and in the table, over their common denominator.
///
/// None where the group has a value that the table lacks.
fn shares(counts: &Counts, reference: &NaiveReference) -> Option<Vec<(u128, u128)>> {
    let of_value = |value: &Cell| counts.get(value).copied().unwrap_or(0);
    let is_known = |value: &Cell| reference.counts.iter().any(|(known, _)| known == value);
    let n: u64 = counts.values().sum();
    let of_table = reference.n_records();
    let share =
        |(value, c): &(Cell, u64)| (u128::from(of_value(value)) * u128::from(of_table), u128::from(*c) * u128::from(n));
    counts.keys().all(is_known).then(|| reference.counts.iter().map(share).collect())
}

/// The earth mover's distance, as a fraction: the cheapest way to make one pile of earth of the other.
fn earth_moved(counts: &Counts, reference: &NaiveReference) -> Option<(u128, u128)> {
    let shares = shares(counts, reference)?;
    let whole: u128 = shares.iter().map(|(_, q)| q).sum();
    let (_, steps) = reference.steps(0, 0);
    let steps_between = |a: usize, b: usize| reference.steps(a, b).0;
    Some((cheapest_transport(&shares, steps_between), whole * steps as u128))
}

/// What it costs to bring everything from where too much is to where too little is: along the cheapest way that is
/// open, again and again; a way may go back over what was brought before.
fn cheapest_transport(shares: &[(u128, u128)], steps: impl Fn(usize, usize) -> i64) -> u128 {
    let n = shares.len();
    let mut more: Vec<u128> = shares.iter().map(|(p, q)| p.saturating_sub(*q)).collect();
    let mut less: Vec<u128> = shares.iter().map(|(p, q)| q.saturating_sub(*p)).collect();
    let mut brought = vec![vec![0u128; n]; n];
    let mut cost = 0u128;
    while more.iter().any(|&earth| earth > 0) {
        // Bellman and Ford: the cheapest way to each place where earth is missing, from any where too much is.
        // Places 0..n give, n..2n take.
        let mut best: Vec<Option<(i64, usize)>> = vec![None; 2 * n];
        (0..n).filter(|&i| more[i] > 0).for_each(|i| best[i] = Some((0, usize::MAX)));
        loop {
            let mut changed = false;
            for i in 0..n {
                for j in 0..n {
                    if let Some((so_far, _)) = best[i]
                        && best[n + j].is_none_or(|(known, _)| so_far + steps(i, j) < known)
                    {
                        best[n + j] = Some((so_far + steps(i, j), i));
                        changed = true;
                    }
                    if let Some((so_far, _)) = best[n + j]
                        && brought[i][j] > 0
                        && best[i].is_none_or(|(known, _)| so_far - steps(i, j) < known)
                    {
                        best[i] = Some((so_far - steps(i, j), n + j));
                        changed = true;
                    }
                }
            }
            if !changed {
                break;
            }
        }
        let reached = (0..n).filter(|&j| less[j] > 0).filter_map(|j| Some((best[n + j]?.0, j))).min();
        let (each, to) = reached.expect("as much is missing as there is too much");
        let (mut way, mut place) = (vec![n + to], n + to);
        while let Some((_, before)) = best[place].filter(|(_, before)| *before != usize::MAX) {
            way.push(before);
            place = before;
        }
        let mut amount = less[to].min(more[place]);
        let hops: Vec<(usize, usize)> = way.windows(2).map(|pair| (pair[1], pair[0])).collect();
        for &(from, to) in hops.iter().filter(|(from, _)| *from >= n) {
            amount = amount.min(brought[to][from - n]);
        }
        for &(from, to) in &hops {
            if from < n { brought[from][to - n] += amount } else { brought[to][from - n] -= amount }
        }
        more[place] -= amount;
        less[to] -= amount;
        cost += amount * each as u128;
    }
    cost
}

/// `exp(−Σ p ln p) ≥ v / 10⁶`, without logarithms: `nⁿ · 10⁶ⁿ ≥ vⁿ · Π cᶜ`.
fn has_entropy(counts: &Counts, value: u64) -> bool {
    let n: u64 = counts.values().sum();
    let mut left = Whole::one();
    let mut right = Whole::one();
    for _ in 0..n {
        left.multiply(n);
        left.multiply(MILLION);
        right.multiply(value);
    }
    counts.values().for_each(|&c| (0..c).for_each(|_| right.multiply(c)));
    left.is_at_least(&right)
}

/// A whole number of any size, as digits of 32 bits, the lowest first.
struct Whole(Vec<u32>);

impl Whole {
    fn one() -> Whole {
        Whole(vec![1])
    }

    fn multiply(&mut self, by: u64) {
        let mut carry = 0u128;
        for digit in &mut self.0 {
            carry += u128::from(*digit) * u128::from(by);
            *digit = carry as u32;
            carry >>= 32;
        }
        while carry > 0 {
            self.0.push(carry as u32);
            carry >>= 32;
        }
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
    }

    fn is_at_least(&self, other: &Whole) -> bool {
        self.0.len().cmp(&other.0.len()).then_with(|| self.0.iter().rev().cmp(other.0.iter().rev())).is_ge()
    }
}

/// The strictest value that a group satisfies, found by asking; [`NEVER`] where there is none.
pub fn measured(seen: &Seen, measure: Measure, references: &[NaiveReference]) -> u64 {
    let closeness = match measure {
        // Asked often, and always about the same transport.
        Measure::Closeness(s) => Some(earth_moved(&seen.values[s], &references[s])),
        _ => None,
    };
    let holds = |value: u64| match closeness {
        Some(None) => false,
        Some(Some((moved, whole))) => moved * u128::from(MILLION) <= u128::from(value) * whole,
        None => satisfies(seen, Criterion { measure, value }, references),
    };
    // Between a value that is satisfied and one that is not.
    let beyond = 1u64 << 50;
    let (mut yes, mut no) = match (is_at_least(measure), measure) {
        // A few millionths around what logarithms say; big numbers are slow.
        (true, Measure::Entropy(s)) => {
            let counts = || seen.values[s].values().map(|&c| c as f64);
            let n: f64 = counts().sum();
            let near = (counts().map(|c| -c / n * (c / n).ln()).sum::<f64>().exp() * 1e6) as u64;
            (near.saturating_sub(2), near + 2)
        }
        (true, _) => (0, beyond),
        (false, _) if holds(0) => return 0,
        (false, _) if !holds(beyond) => return NEVER,
        (false, _) => (beyond, 0),
    };
    assert!(holds(yes) && !holds(no), "{measure:?} of {seen:?} lies between {yes} and {no}");
    while yes.abs_diff(no) > 1 {
        let middle = yes.min(no) + yes.abs_diff(no) / 2;
        if holds(middle) { yes = middle } else { no = middle }
    }
    yes
}
