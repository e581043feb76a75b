//! Local recoding from above: the table is divided around two records that are far apart, again and again.
//!
//! The top-down method of Xu et al., "Utility-based anonymization using local recoding" (KDD 2006), on groups of equal
//! records. To divide a set, a random group leads to the one farthest from it, that one to its own farthest, and after
//! three such steps two seeds are far apart. The others join the seed whose records then lose less in addition; those
//! to whom it makes the greatest difference come first. Sets of more than k records are divided on. What is left with
//! fewer than k joins its nearest class, as from below: where the two have 2k records or more, the nearest class gives
//! up only what is needed.
//!
//! (The paper lets the others come in random order. On Adult that loses up to a tenth more, because the boxes are wide
//! before those come that belong clearly to one side.)
//!
//! What it costs: six passes over the distinct records for every time they are divided, so records · attributes ·
//! log₂(records / k) where halves are about equal; and a search for the nearest class for what is left over, which is
//! most of the time where k is small. Dividing is done by all threads, the two halves independently.

use std::cmp::Reverse;
use std::sync::Mutex;

use rayon::prelude::*;

use crate::counts::GroupCounts;
use crate::error::Result;
use crate::hierarchy::Hierarchy;
use crate::random::Random;
use crate::recode::bottom_up::settle;
use crate::recode::divide::Divider;
use crate::recode::partition::{Least, Part, Partition, Watch};
use crate::recode::space::{Side, Space};

/// Puts all records into classes, from above.
///
/// # Guarantee
/// Every class has at least k records, and at least l different sensitive values where l is asked for.
/// The classes depend on the table, the weights, k, l and the seed alone: not on the order of records or the number of
/// threads.
pub fn partition(
    counts: &GroupCounts,
    hierarchies: &[Hierarchy],
    weights: &[f64],
    least: Least,
    seed: u64,
    watch: &Watch,
) -> Result<Partition> {
    least.check(counts, hierarchies)?;
    let space = Space::new(counts, hierarchies, weights)?;
    let halving = Halving { space: &space, counts, least, watch, found: Mutex::new(Vec::new()) };
    halving.divide(&mut least.parts(counts), Random::new(seed), 0)?;
    let mut found = halving.found.into_inner().expect("no thread has failed");
    // Threads end in any order.
    found.sort_unstable();
    let mut divider = Divider::new(&space, counts, least);
    let classes = settle(&mut divider, found, watch)?;
    Ok(Partition::new(classes.into_parts(), |parts| least.is_enough(counts, parts)))
}

struct Halving<'a> {
    space: &'a Space,
    counts: &'a GroupCounts,
    least: Least,
    watch: &'a Watch<'a>,
    found: Mutex<Vec<Vec<Part>>>,
}

/// Sets of fewer parts are divided by one thread.
const N_PARALLEL: usize = 2_048;

/// After so many divisions in a row that hardly divide, a set is cut in the middle: else it would take for ever.
const N_LOPSIDED_MAX: u32 = 6;

impl Halving<'_> {
    fn divide(&self, parts: &mut [Part], mut random: Random, n_lopsided: u32) -> Result<()> {
        self.watch.check()?;
        let n_records: u64 = parts.iter().map(|part| part.n_records).sum();
        let mut divider = Divider::new(self.space, self.counts, self.least);
        let is_enough = divider.is_enough(n_records, parts);
        if n_records <= self.least.k || !is_enough {
            if is_enough {
                (self.watch.progress)(n_records);
            }
            self.found.lock().expect("no thread has failed").push(parts.to_vec());
            return Ok(());
        }
        let Some(seeds) = self.seeds(parts, &mut random) else {
            (self.watch.progress)(n_records);
            let dealt = divider.deal(parts.to_vec());
            self.found.lock().expect("no thread has failed").extend(dealt);
            return Ok(());
        };
        let n_first = match n_lopsided < N_LOPSIDED_MAX {
            true => self.around(parts, &seeds),
            false => self.middle(parts, &seeds),
        };
        let (first, second) = parts.split_at_mut(n_first);
        let n_smaller = first.len().min(second.len());
        let n_lopsided = if n_smaller * 32 < first.len() + second.len() { n_lopsided + 1 } else { 0 };
        let is_large = first.len() + second.len() >= N_PARALLEL;
        let mut divide_first = || self.divide(first, random.part(1), n_lopsided);
        let mut divide_second = || self.divide(second, random.part(2), n_lopsided);
        let (first, second) = match is_large {
            true => rayon::join(divide_first, divide_second),
            false => (divide_first(), divide_second()),
        };
        first.and(second)
    }

    /// Two groups that are far apart; none where all are equal.
    fn seeds(&self, parts: &[Part], random: &mut Random) -> Option<Seeds> {
        let farthest = |distances: &[u64]| {
            let far = distances.iter().zip(parts).max_by_key(|(distance, part)| (**distance, Reverse(part.base)));
            far.expect("a set is not empty").1.base
        };
        let mut one = parts[random.below(parts.len() as u64) as usize].base;
        let mut to_one = self.distances(parts, one);
        for _ in 0..2 {
            one = farthest(&to_one);
            to_one = self.distances(parts, one);
        }
        let other = farthest(&to_one);
        let is_one_point = || parts.iter().all(|part| self.space.places(part.base) == self.space.places(one));
        if to_one.iter().all(|&distance| distance == 0) && is_one_point() {
            return None;
        }
        Some(Seeds { one, other, to_one, to_other: self.distances(parts, other) })
    }

    /// How far all are from one.
    fn distances(&self, parts: &[Part], from: u32) -> Vec<u64> {
        let distance = |part: &Part| self.space.distance(from, part.base);
        match parts.len() < N_PARALLEL {
            true => parts.iter().map(distance).collect(),
            false => parts.par_iter().map(distance).collect(),
        }
    }

    /// Divides around two seeds; those of the first come first, and their number is returned.
    fn around(&self, parts: &mut [Part], seeds: &Seeds) -> usize {
        let &Seeds { one, other, .. } = seeds;
        sort_by_distances(parts, seeds, |to_one, to_other| Reverse(to_one.abs_diff(to_other)));
        let mut boxes: [Vec<Side>; 2] = [self.space.point(one), self.space.point(other)];
        let mut n_records = [0u64; 2];
        let mut cost = [0u64; 2];
        let mut firsts = Vec::new();
        let mut seconds = Vec::new();
        for part in parts.iter() {
            let new = [0, 1].map(|side: usize| self.space.cost_with(&boxes[side], part.base));
            // What the records of each side lose more with this part, its own included.
            let more = [0, 1].map(|side: usize| {
                let added = part.n_records * new[side] + n_records[side] * (new[side] - cost[side]);
                (added, n_records[side])
            });
            let side = match part.base {
                base if base == one => 0,
                base if base == other => 1,
                _ => usize::from(more[1] < more[0]),
            };
            self.space.widen(&mut boxes[side], part.base);
            n_records[side] += part.n_records;
            cost[side] = new[side];
            if side == 0 { firsts.push(*part) } else { seconds.push(*part) }
        }
        let n_first = firsts.len();
        parts[..n_first].copy_from_slice(&firsts);
        parts[n_first..].copy_from_slice(&seconds);
        n_first
    }

    /// Divides into halves along the line between two seeds.
    fn middle(&self, parts: &mut [Part], seeds: &Seeds) -> usize {
        sort_by_distances(parts, seeds, |to_one, to_other| to_one as i64 - to_other as i64);
        parts.len() / 2
    }
}

/// Two groups that are far apart, and how far all parts of a set are from each.
struct Seeds {
    one: u32,
    other: u32,
    to_one: Vec<u64>,
    to_other: Vec<u64>,
}

/// Sorts by something about the two distances, equal ones by group, on all threads where there are many.
fn sort_by_distances<K: Ord + Send>(parts: &mut [Part], seeds: &Seeds, key: impl Fn(u64, u64) -> K) {
    let distances = seeds.to_one.iter().zip(&seeds.to_other);
    let keys = distances.zip(parts.iter()).map(|((&to_one, &to_other), part)| (key(to_one, to_other), *part));
    let mut keys: Vec<(K, Part)> = keys.collect();
    match keys.len() < N_PARALLEL {
        true => keys.sort_unstable(),
        false => keys.par_sort_unstable(),
    }
    parts.iter_mut().zip(keys).for_each(|(part, (_, sorted))| *part = sorted);
}
