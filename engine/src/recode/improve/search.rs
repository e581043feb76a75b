//! One step after the other, until there were enough of them or nothing comes of them any more.

use rayon::prelude::*;

use crate::error::Result;
use crate::loss::{LOSS_ONE, Steps};
use crate::random::Random;
use crate::recode::improve::Rules;
use crate::recode::improve::exchange::{Sharing, exchange};
use crate::recode::improve::starts::{dissolved, grown};
use crate::recode::nearest::{Classes, NOTHING};
use crate::recode::partition::{Part, put_together};
use crate::recode::space::{Axis, Side, Space};
use crate::task::{SearchProgress, Task};

/// The nearest classes that a step chooses from.
const N_NEAR: usize = 8;

/// Steps that are thought through at the same time, at most; of few classes fewer, for they would be in each other's way.
const N_AT_ONCE: usize = 64;

/// Steps per class, and altogether, after which nothing more is expected where none of them has won anything.
const N_FUTILE_EACH: u64 = 40;
const N_FUTILE: u64 = 2_000;

/// Classes with more parts together are only cut anew.
const N_PARTS_MAX: usize = 1_024;

/// What all classes may lose together on single attributes, in steps of the loss.
pub(crate) type Limits<'a> = &'a [(usize, Steps)];

/// Improves classes by at most so many steps; ends earlier where the task says that it is enough, or nothing is won any
/// more. Returns how many steps it took.
///
/// # Guarantee
/// The classes have the same records, keep the rules if they did before, and do not lose more; of an attribute that has a
/// limit, no more than it allows, if that was so before.
/// They depend on what is given and on the number of steps alone: where another run is given the number that this one
/// took, it ends with the same classes.
pub(crate) fn improve(
    space: &Space,
    rules: &dyn Rules,
    parts: Vec<Vec<Part>>,
    limits: Limits,
    n_steps_max: u64,
    seed: u64,
    task: &Task,
) -> Result<(Vec<Vec<Part>>, u64)> {
    let mut lost = Lost::new(space, limits, &parts);
    let random = Random::new(seed);
    let n_records: u64 = parts.iter().flatten().map(|part| part.n_records).sum();
    let mut parts = parts;
    let (mut n_steps, mut n_futile) = (0, 0);
    let mut is_over = n_steps_max == 0 || parts.is_empty();
    while !is_over {
        let mut classes = Classes::new(space);
        for parts in parts {
            classes.push(parts);
        }
        let mut loss: u64 = classes.ids().into_iter().map(|id| classes.loss(id)).sum();
        classes.lay_out();
        let mut order = classes.ids();
        random.part(n_steps).shuffle(&mut order);
        let n_at_once = (order.len() / 8).clamp(1, N_AT_ONCE);
        for at_once in order.chunks(n_at_once) {
            task.go_on()?;
            let at_once = &at_once[..at_once.len().min((n_steps_max - n_steps) as usize)];
            classes.lay_out_loose();
            let step = |(i, &id): (usize, &u32)| step(&classes, rules, id, &mut random.part(!(n_steps + i as u64)));
            let found: Vec<Option<Improvement>> = at_once.par_iter().enumerate().map(step).collect();
            n_steps += at_once.len() as u64;
            n_futile += at_once.len() as u64;
            for Improvement { ids, gain, pieces } in found.into_iter().flatten() {
                let is_there = ids.iter().all(|&id| classes.is_there(id));
                if is_there && lost.may_change(ids.iter().map(|&id| classes.parts(id)), &pieces) {
                    ids.iter().for_each(|&id| drop(classes.take(id)));
                    for parts in pieces {
                        classes.push(parts);
                    }
                    loss -= gain;
                    n_futile = 0;
                }
            }
            let best = Some(loss as f64 / (n_records * LOSS_ONE) as f64);
            let progress = SearchProgress { n_evaluated: n_steps, best, loss_at_least: 0.0 };
            is_over = n_steps >= n_steps_max
                || n_futile >= N_FUTILE.max(N_FUTILE_EACH * order.len() as u64)
                || loss == 0
                || (task.is_enough)(&progress);
            if is_over {
                break;
            }
        }
        parts = classes.into_parts();
    }
    task.go_on()?;
    Ok((parts, n_steps))
}

/// What is lost on the attributes that have a limit.
struct Lost<'a> {
    space: &'a Space,
    limits: Limits<'a>,
    /// By limit.
    now: Vec<Steps>,
}

impl<'a> Lost<'a> {
    fn new(space: &'a Space, limits: Limits<'a>, classes: &[Vec<Part>]) -> Lost<'a> {
        let mut lost = Lost { space, limits, now: vec![0; limits.len()] };
        lost.now = lost.of(classes.iter().map(|parts| &parts[..]));
        lost
    }

    /// What some classes lose, by limit.
    fn of<'p>(&self, classes: impl Iterator<Item = &'p [Part]>) -> Vec<Steps> {
        let mut sums = vec![0; self.limits.len()];
        if sums.is_empty() {
            return sums;
        }
        for parts in classes {
            let costs = lost_on_attributes(self.space, parts);
            sums.iter_mut().zip(self.limits).for_each(|(sum, &(a, _))| *sum += costs[a]);
        }
        sums
    }

    /// Whether classes may give place to others; if so, it is remembered.
    fn may_change<'p>(&mut self, before: impl Iterator<Item = &'p [Part]>, after: &[Vec<Part>]) -> bool {
        if self.limits.is_empty() {
            return true;
        }
        let (before, after) = (self.of(before), self.of(after.iter().map(|parts| &parts[..])));
        let then: Vec<Steps> =
            self.now.iter().zip(before.iter().zip(&after)).map(|(now, (before, after))| now - before + after).collect();
        // What is beyond its limit already may come nearer to it.
        let is_within = self.limits.iter().zip(self.now.iter().zip(&then));
        let may = is_within.into_iter().all(|(&(_, most), (now, then))| *then <= most || then <= now);
        if may {
            self.now = then;
        }
        may
    }
}

/// What the records of a class lose on each attribute.
pub(crate) fn lost_on_attributes(space: &Space, parts: &[Part]) -> Vec<Steps> {
    let n_records: u64 = parts.iter().map(|part| part.n_records).sum();
    let sides = space.around(parts.iter().map(|part| part.base));
    let cost = |(axis, side): (&Axis, &Side)| n_records * u64::from(axis.cost(side.0, side.1));
    space.axes.iter().zip(&sides).map(cost).collect()
}

/// What takes the place of some classes.
struct Improvement {
    ids: Vec<u32>,
    gain: u64,
    pieces: Vec<Vec<Part>>,
}

/// Tries to do better with a class and some of its nearest; none where that was in vain.
fn step(classes: &Classes, rules: &dyn Rules, id: u32, random: &mut Random) -> Option<Improvement> {
    if !classes.is_there(id) {
        return None;
    }
    let space = classes.space();
    let mut near: Vec<u32> =
        classes.nearest::<N_NEAR>(id).into_iter().filter(|near| *near != NOTHING).map(|near| near.1).collect();
    let n_others = 1 + random.below(4) as usize;
    // Mostly the very nearest.
    if random.below(2) == 0 {
        random.shuffle(&mut near);
    }
    near.truncate(n_others);
    let mut ids = vec![id];
    ids.extend(near);
    let is_large = |ids: &[u32]| ids.iter().map(|&id| classes.parts(id).len()).sum::<usize>() > N_PARTS_MAX;
    while ids.len() > 2 && is_large(&ids) {
        ids.pop();
    }
    let before: Vec<&[Part]> = ids.iter().map(|&id| classes.parts(id)).collect();
    let together = || put_together(before.concat());
    let start = match random.below(4) {
        _ if is_large(&ids) => rules.pieces(together()),
        0 => before.iter().map(|parts| parts.to_vec()).collect(),
        1 => rules.pieces(together()),
        2 if ids.len() > 2 => dissolved(space, &before),
        _ => grown(space, rules, &together(), random)?,
    };
    if !start.iter().all(|parts| rules.keeps(parts)) {
        return None;
    }
    let mut groups: Vec<Sharing> = start.into_iter().map(|parts| Sharing::new(space, parts)).collect();
    if !is_large(&ids) {
        exchange(space, rules, &mut groups);
    }
    let loss_before: u64 = ids.iter().map(|&id| classes.loss(id)).sum();
    let loss: u64 = groups.iter().map(Sharing::loss).sum();
    let gain = loss_before.checked_sub(loss).filter(|gain| *gain > 0)?;
    Some(Improvement { ids, gain, pieces: groups.into_iter().map(|group| group.parts).collect() })
}
