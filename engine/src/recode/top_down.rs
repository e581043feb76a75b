//! Local recoding from above: the table is divided around two records that are far apart, again and again.
//!
//! The top-down method of Xu et al., "Utility-based anonymization using local recoding" (KDD 2006), on groups of equal
//! records. To divide a set, a random group leads to the one farthest from it, that one to its own farthest, and after
//! three such steps two seeds are far apart. All others come in random order, and join the seed whose box is then the
//! better one. What is left with fewer than k records joins its nearest class, as from below: where the two have 2k
//! records or more, the nearest class gives up only what is needed.

use std::sync::Mutex;

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
    settle(&mut divider, found, watch).map(Partition::new)
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
const N_LOPSIDED_MAX: u32 = 8;

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
        let Some((one, other)) = self.seeds(parts, &mut random) else {
            (self.watch.progress)(n_records);
            let dealt = divider.deal(parts.to_vec());
            self.found.lock().expect("no thread has failed").extend(dealt);
            return Ok(());
        };
        let n_first = match n_lopsided < N_LOPSIDED_MAX {
            true => self.around(parts, one, other, &mut random),
            false => self.middle(parts, one, other),
        };
        let (first, second) = parts.split_at_mut(n_first);
        let n_smaller = first.len().min(second.len());
        let n_lopsided = if n_smaller * 16 < n_first { n_lopsided + 1 } else { 0 };
        let randoms = [random.part(1), random.part(2)];
        let [r1, r2] = randoms;
        if first.len() + second.len() >= N_PARALLEL {
            let (a, b) = rayon::join(
                || self.divide(first, r1, n_lopsided),
                || self.divide(second, r2, n_lopsided),
            );
            return a.and(b);
        }
        self.divide(first, r1, n_lopsided)?;
        self.divide(second, r2, n_lopsided)
    }

    /// Two groups that are far apart; none where all are equal.
    fn seeds(&self, parts: &[Part], random: &mut Random) -> Option<(u32, u32)> {
        let farthest = |from: u32| {
            let distances = parts.iter().map(|part| (self.space.distance(from, part.base), part.base));
            distances.max_by_key(|&(distance, base)| (distance, std::cmp::Reverse(base))).expect("not empty")
        };
        let mut one = parts[random.below(parts.len() as u64) as usize].base;
        let mut far = farthest(one);
        for _ in 0..2 {
            let next = farthest(far.1);
            one = far.1;
            far = next;
        }
        let is_one_point = parts.iter().all(|part| self.space.places(part.base) == self.space.places(one));
        (!is_one_point).then_some((one, far.1))
    }

    /// Divides around two seeds; those of the first come first, and their number is returned.
    fn around(&self, parts: &mut [Part], one: u32, other: u32, random: &mut Random) -> usize {
        random.shuffle(parts);
        let mut boxes: [Vec<Side>; 2] = [self.space.point(one), self.space.point(other)];
        let mut n_records = [0u64; 2];
        let mut cost = [0u64; 2];
        let mut firsts = Vec::with_capacity(parts.len());
        let mut seconds = Vec::new();
        for part in parts.iter() {
            let side = match part.base {
                base if base == one => 0,
                base if base == other => 1,
                base => {
                    // What the records of each side lose more with this part, its own included.
                    let more = [0, 1].map(|side: usize| {
                        let new = self.space.cost_with(&boxes[side], base);
                        let added = part.n_records * new + n_records[side] * (new - cost[side]);
                        (added, n_records[side])
                    });
                    usize::from(more[1] < more[0])
                }
            };
            self.space.widen(&mut boxes[side], part.base);
            n_records[side] += part.n_records;
            cost[side] = self.space.cost(&boxes[side]);
            if side == 0 { firsts.push(*part) } else { seconds.push(*part) }
        }
        let n_first = firsts.len();
        parts[..n_first].copy_from_slice(&firsts);
        parts[n_first..].copy_from_slice(&seconds);
        n_first
    }

    /// Divides into halves along the line between two seeds.
    fn middle(&self, parts: &mut [Part], one: u32, other: u32) -> usize {
        parts.sort_by_cached_key(|part| {
            let (to_one, to_other) = (self.space.distance(one, part.base), self.space.distance(other, part.base));
            (to_one as i64 - to_other as i64, *part)
        });
        parts.len() / 2
    }
}
