//! Local recoding from above: the table is divided around two records that are far apart, again and again.
//!
//! The top-down method of Xu et al., "Utility-based anonymization using local recoding" (KDD 2006), on groups of equal
//! records. To divide a set, a random group leads to the one farthest from it, that one to its own farthest, and after
//! three such steps two seeds are far apart. The others join the seed whose records then lose less in addition; those
//! to whom it makes the greatest difference come first. Sets of more than k records are divided on. What is left with
//! fewer than k joins one of its nearest classes, as from below, or takes from it what it lacks, whichever loses least.
//!
//! (The paper lets the others come in random order. On Adult that loses 2 to 12 percent more for small k, because the boxes
//! are wide before those come that belong clearly to one side; for large k it loses less. For what is left with fewer than
//! k the paper looks at all classes, and at what each would have to give up, where we look at some of the nearest. So where
//! a table is small or has few classes, what the paper prints is tried too; on small tables the paper's way with what is left
//! over is tried with our order, and neighbours share their records anew. The best is taken.)
//!
//! What it costs: six passes over the distinct records for every time they are divided, so records · attributes ·
//! log₂(records / k) where halves are about equal; and a search for the nearest class for what is left over, which is
//! more than half of the time where k is small. On made-up records of eight attributes, all of them different, that is
//! 0.3 s of processor time for 25,000, 2 s for 100,000 and 41 s for a million (k = 10). All threads divide, the two
//! halves independently.

use std::cmp::Reverse;

use rayon::prelude::*;

use crate::counts::GroupCounts;
use crate::error::Result;
use crate::hierarchy::Hierarchy;
use crate::random::Random;
use crate::recode::divide::Divider;
use crate::recode::nearest::Classes;
use crate::recode::partition::{Least, Part, Partition};
use crate::recode::published;
use crate::recode::settle::{Choose, settle, share_anew};
use crate::recode::space::{Side, Space, widen};
use crate::table::Code;
use crate::task::Task;

/// Puts all records into classes, from above.
///
/// # Guarantee
/// Every class has at least k records, and at least l different sensitive values where l is asked for.
/// The classes depend on the table, the weights, k, l and the seed alone: not on the order of records or the number of
/// threads.
/// Where the table has at most 4,096 parts (distinct records, by sensitive value where l is asked for), or at most 65,536 and
/// no more than 320 times k records, they lose no more than those of [`published::top_down`] with the same seed.
///
/// # Errors
/// Where no such partition of this table exists, arguments do not fit the counts, or the task was cancelled.
pub fn partition(
    counts: &GroupCounts,
    hierarchies: &[Hierarchy],
    weights: &[f64],
    least: Least,
    seed: u64,
    task: &Task,
) -> Result<Partition> {
    least.check(counts, hierarchies)?;
    let space = Space::new(counts, hierarchies, weights)?;
    let mut parts = least.parts(counts);
    let mut places: Vec<u32> = parts.iter().flat_map(|part| space.places(part.base)).copied().collect();
    let mut divider = Divider::new(&space, counts, least);
    let is_small = parts.len() <= N_SMALL;
    let has_few_classes = counts.n_records() / least.k <= N_FEW && parts.len() <= N_FEW_PARTS;
    // What is tried beside it works through all records again; the bar shows the first.
    let silent = Task { progress: &|_| (), ..*task };
    let mut best: Option<(u64, Vec<Vec<Part>>)> = None;
    let mut consider = |classes: Classes| {
        let loss = classes.loss_of_all();
        if best.as_ref().is_none_or(|(least, _)| loss < *least) {
            best = Some((loss, classes.into_parts()));
        }
    };
    let halving = Halving { space: &space, counts, least, n_parts: parts.len(), task };
    let found = halving.divide(&mut parts, &mut places, Random::new(seed), 0)?;
    if is_small {
        let adjusted = Classes::of(&space, published::adjusted(&space, found.clone(), least, &silent)?);
        consider(shared_anew(adjusted, &mut divider, true, &silent)?);
    }
    let settled = settle::<N_NEAR, _>(&mut divider, found, Choose::Shared, task)?;
    consider(shared_anew(settled, &mut divider, is_small, &silent)?);
    if is_small || has_few_classes {
        let printed = Classes::of(&space, published::from_above(&space, counts, least, seed, &silent)?);
        consider(shared_anew(printed, &mut divider, is_small, &silent)?);
    }
    Ok(Partition::new(best.expect("one was tried").1, least))
}

/// The same, where neighbours have shared their records anew if that is wanted.
fn shared_anew<'a>(
    mut classes: Classes<'a>,
    divider: &mut Divider<'a>,
    is_wanted: bool,
    task: &Task,
) -> Result<Classes<'a>> {
    if is_wanted {
        share_anew(&mut classes, divider, task)?;
    }
    Ok(classes)
}

/// Tables of at most so many parts are small.
const N_SMALL: usize = 4_096;

/// Where no more classes than this can be made, and of no more parts, there is time to do what the paper prints too.
const N_FEW: u64 = 320;
const N_FEW_PARTS: usize = 1 << 16;

/// Among how many near classes one that is left with too few records chooses.
const N_NEAR: usize = 8;

struct Halving<'a> {
    space: &'a Space,
    counts: &'a GroupCounts,
    least: Least,
    n_parts: usize,
    task: &'a Task<'a>,
}

/// Sets of fewer parts are divided by one thread.
const N_PARALLEL: usize = 2_048;

/// A set that is not halved within this many divisions on average, beyond the first few, is cut in the middle: outliers
/// may be taken off one by one, but not for ever.
const N_PER_HALF: u32 = 4;
const N_FIRST_FEW: u32 = 8;

/// Parts between two questions whether the work is still wanted.
const N_BETWEEN: usize = 1 << 16;

impl Halving<'_> {
    /// Divides a set; `places` are those of its parts, which move along with them: to look them up for every set anew
    /// is what would take most of the time, because they would be all over the memory.
    fn divide(&self, parts: &mut [Part], places: &mut [u32], mut random: Random, depth: u32) -> Result<Vec<Vec<Part>>> {
        self.task.go_on()?;
        let n_records: u64 = parts.iter().map(|part| part.n_records).sum();
        let mut divider = Divider::new(self.space, self.counts, self.least);
        let is_enough = divider.is_enough(n_records, parts);
        if n_records <= self.least.k || !is_enough {
            if is_enough {
                (self.task.progress)(n_records);
            }
            return Ok(vec![parts.to_vec()]);
        }
        let Some(seeds) = self.seeds(parts, places, &mut random) else {
            (self.task.progress)(n_records);
            return Ok(divider.deal(parts.to_vec()));
        };
        self.task.go_on()?;
        let n_halves = (depth.saturating_sub(N_FIRST_FEW) / N_PER_HALF).min(64);
        let n_first = match (parts.len() as u128) << n_halves <= self.n_parts as u128 {
            true => self.around(parts, places, &seeds)?,
            false => self.middle(parts, places, &seeds),
        };
        let (first, second) = parts.split_at_mut(n_first);
        let (first_places, second_places) = places.split_at_mut(n_first * self.space.n_axes());
        let is_large = first.len() + second.len() >= N_PARALLEL;
        let mut divide_first = || self.divide(first, first_places, random.part(1), depth + 1);
        let mut divide_second = || self.divide(second, second_places, random.part(2), depth + 1);
        let (first, second) = match is_large {
            true => rayon::join(divide_first, divide_second),
            false => (divide_first(), divide_second()),
        };
        let mut found = first?;
        found.extend(second?);
        Ok(found)
    }

    /// Two groups that are far apart; none where all are equal.
    fn seeds(&self, parts: &[Part], places: &[u32], random: &mut Random) -> Option<Seeds> {
        let n_axes = self.space.n_axes();
        let farthest = |distances: &[u64]| {
            let far = distances.iter().zip(parts).max_by_key(|(distance, part)| (**distance, Reverse(part.base)));
            far.expect("a set is not empty").1.base
        };
        let mut one = parts[random.below(parts.len() as u64) as usize].base;
        let mut to_one = self.distances(places, one);
        for _ in 0..2 {
            one = farthest(&to_one);
            to_one = self.distances(places, one);
        }
        let other = farthest(&to_one);
        let is_one_point = || places.chunks(n_axes).all(|of_part| of_part == self.space.places(one));
        if to_one.iter().all(|&distance| distance == 0) && is_one_point() {
            return None;
        }
        Some(Seeds { one, other, to_one, to_other: self.distances(places, other) })
    }

    /// How far all are from one.
    fn distances(&self, places: &[u32], from: u32) -> Vec<u64> {
        let n_axes = self.space.n_axes();
        let from = self.space.places(from);
        let distance = |of_part: &[u32]| self.space.distance_between(from, of_part);
        match places.len() < N_PARALLEL * n_axes {
            true => places.chunks(n_axes).map(distance).collect(),
            false => places.par_chunks(n_axes).map(distance).collect(),
        }
    }

    /// Divides around two seeds; those of the first come first, and their number is returned.
    fn around(&self, parts: &mut [Part], places: &mut [u32], seeds: &Seeds) -> Result<usize> {
        let n_axes = self.space.n_axes();
        let &Seeds { one, other, .. } = seeds;
        let mut boxes: [Vec<Side>; 2] = [self.space.point(one), self.space.point(other)];
        let mut n_records = [0u64; 2];
        let mut cost = [0u64; 2];
        let mut sides = [Vec::new(), Vec::new()];
        for i in in_order(parts, seeds, |to_one, to_other| Reverse(to_one.abs_diff(to_other))) {
            self.task.go_on_now_and_then(sides[0].len() + sides[1].len() + 1, N_BETWEEN)?;
            let part = &parts[i as usize];
            let of_part = &places[i as usize * n_axes..(i as usize + 1) * n_axes];
            let new = [0, 1].map(|side: usize| self.space.cost_with(&boxes[side], of_part));
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
            widen(&mut boxes[side], of_part);
            n_records[side] += part.n_records;
            cost[side] = new[side];
            sides[side].push(i);
        }
        let n_first = sides[0].len();
        rearrange(parts, places, &sides.concat());
        Ok(n_first)
    }

    /// Divides into halves along the line between two seeds.
    fn middle(&self, parts: &mut [Part], places: &mut [u32], seeds: &Seeds) -> usize {
        let order = in_order(parts, seeds, |to_one, to_other| to_one as i64 - to_other as i64);
        rearrange(parts, places, &order);
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

/// The numbers of parts, ordered by something about their two distances, equal ones by group; on all threads where there
/// are many.
fn in_order<K: Ord + Send>(parts: &[Part], seeds: &Seeds, key: impl Fn(u64, u64) -> K) -> Vec<u32> {
    let distances = seeds.to_one.iter().zip(&seeds.to_other);
    let keys = distances.zip(parts).zip(0..).map(|(((&to_one, &to_other), part), i)| {
        let key = key(to_one, to_other);
        (key, part.base, part.value, i)
    });
    let mut keys: Vec<(K, u32, Option<Code>, u32)> = keys.collect();
    match keys.len() < N_PARALLEL {
        true => keys.sort_unstable(),
        false => keys.par_sort_unstable(),
    }
    keys.into_iter().map(|(_, _, _, i)| i).collect()
}

/// Puts parts and their places into a new order.
fn rearrange(parts: &mut [Part], places: &mut [u32], order: &[u32]) {
    let n_axes = places.len() / parts.len();
    let moved: Vec<Part> = order.iter().map(|&i| parts[i as usize]).collect();
    parts.copy_from_slice(&moved);
    let mut moved = Vec::with_capacity(places.len());
    order.iter().for_each(|&i| moved.extend_from_slice(&places[i as usize * n_axes..(i as usize + 1) * n_axes]));
    places.copy_from_slice(&moved);
}
