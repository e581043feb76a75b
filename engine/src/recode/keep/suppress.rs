//! Leaving out the records that cost most: those without which the others of their class lose clearly less.
//!
//! A record that is left out loses everything, so that it pays only where the others win back more than that.

use std::collections::BTreeSet;

use crate::error::Result;
use crate::loss::LOSS_ONE;
use crate::recode::keep::cuts::Cutter;
use crate::recode::partition::{Part, put_together};
use crate::task::Task;

/// Classes, and the records that are in none of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Left {
    pub(crate) classes: Vec<Vec<Part>>,
    pub(crate) suppressed: Vec<Part>,
}

/// Makes classes of those from which records were taken, so that each keeps everything; none where that cannot be.
pub(crate) type Remake<'a> = &'a dyn Fn(Vec<Vec<Part>>) -> Result<Option<Vec<Vec<Part>>>>;

/// How often records are taken out of many classes at once, and the classes made anew.
const N_ROUNDS: usize = 6;

/// In classes of more groups than this, only all records at an end of an attribute are tried, not single groups.
const N_SINGLE: usize = 64;

/// Leaves out at most so many records, all at once where `remake` can do with what is left, and one by one where their
/// class keeps everything without them.
///
/// # Guarantee
/// What is lost, with everything that suppressed records had, is not more than without.
pub(crate) fn suppress(
    cutter: &Cutter,
    classes: Vec<Vec<Part>>,
    n_max: u64,
    remake: Remake,
    task: &Task,
) -> Result<Left> {
    let all = Left { classes, suppressed: Vec::new() };
    if n_max == 0 {
        return Ok(all);
    }
    let loss = |left: &Left| {
        let of_classes: u64 = left.classes.iter().map(|parts| cutter.loss(parts)).sum();
        of_classes + n_records(&left.suppressed) * LOSS_ONE
    };
    let one_by_one = shrunk(cutter, all.clone(), n_max, task)?;
    let mut at_once = all;
    let mut n_at_most = n_max;
    for _ in 0..N_ROUNDS {
        task.go_on()?;
        let n_left = n_max - n_records(&at_once.suppressed);
        let Some(less) = without_costly(cutter, &at_once, n_left.min(n_at_most)) else { break };
        let made = match less.classes.is_empty() {
            true => None,
            false => remake(less.classes)?,
        };
        let made = made.map(|classes| Left { classes, suppressed: less.suppressed });
        match made.filter(|made| loss(made) < loss(&at_once)) {
            Some(better) => at_once = better,
            // Fewer of them, the costliest.
            None => n_at_most = n_at_most.min(n_left) / 4,
        }
    }
    let at_once = shrunk(cutter, at_once, n_max, task)?;
    Ok(if loss(&at_once) < loss(&one_by_one) { at_once } else { one_by_one })
}

fn n_records(parts: &[Part]) -> u64 {
    parts.iter().map(|part| part.n_records).sum()
}

/// Some groups of a class, and what is won for each of their records by leaving them out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Costly {
    gain_of_each: u64,
    /// How many records they are.
    n_records: u64,
    bases: BTreeSet<u32>,
}

/// The groups of a class that cost most, if leaving them out wins anything; with `keeps`, only if the class keeps
/// everything without them.
fn costliest(cutter: &Cutter, parts: &[Part], n_at_most: u64, keeps: bool) -> Option<Costly> {
    let space = cutter.space;
    let sides = space.around(parts.iter().map(|part| part.base));
    let n_all = n_records(parts);
    let before = n_all * space.cost(&sides);
    // What is won at most, if the others then lose nothing.
    if before <= LOSS_ONE {
        return None;
    }
    let mut tried: BTreeSet<BTreeSet<u32>> = BTreeSet::new();
    for axis in (0..sides.len()).filter(|&axis| sides[axis].0 < sides[axis].1) {
        for end in [sides[axis].0, sides[axis].1] {
            let is_there = |part: &&Part| space.places(part.base)[axis] == end;
            let bases: BTreeSet<u32> = parts.iter().filter(is_there).map(|part| part.base).collect();
            if parts.len() <= N_SINGLE {
                tried.extend(bases.iter().map(|&base| BTreeSet::from([base])));
            }
            tried.insert(bases);
        }
    }
    let costly = |bases: BTreeSet<u32>| {
        let (out, rest): (Vec<Part>, Vec<Part>) = parts.iter().partition(|part| bases.contains(&part.base));
        let n_out = n_records(&out);
        if n_out > n_at_most || rest.is_empty() {
            return None;
        }
        let gain = before.checked_sub(cutter.loss(&rest) + n_out * LOSS_ONE).filter(|gain| *gain > 0)?;
        let is_kept = !keeps || cutter.scale.holds(&cutter.scale.tally(&rest));
        is_kept.then(|| Costly { gain_of_each: gain / n_out, n_records: n_out, bases })
    };
    tried.into_iter().filter_map(costly).max_by(|a, b| (a.gain_of_each, &b.bases).cmp(&(b.gain_of_each, &a.bases)))
}

/// The same classes without their costliest records, the costliest of all first; none where nothing is won.
fn without_costly(cutter: &Cutter, left: &Left, n_at_most: u64) -> Option<Left> {
    let mut costly: Vec<(Costly, usize)> = (0..)
        .zip(&left.classes)
        .filter_map(|(i, parts)| Some((costliest(cutter, parts, n_at_most, false)?, i)))
        .collect();
    costly.sort_unstable_by(|a, b| b.0.gain_of_each.cmp(&a.0.gain_of_each).then(a.1.cmp(&b.1)));
    let mut n_left = n_at_most;
    let mut less = left.clone();
    for (costly, i) in costly {
        if costly.n_records <= n_left {
            n_left -= costly.n_records;
            take_out(&mut less, i, &costly.bases);
        }
    }
    less.classes.retain(|parts| !parts.is_empty());
    (n_left < n_at_most).then_some(less)
}

fn take_out(left: &mut Left, class: usize, bases: &BTreeSet<u32>) {
    let parts = std::mem::take(&mut left.classes[class]);
    let (out, rest): (Vec<Part>, Vec<Part>) = parts.into_iter().partition(|part| bases.contains(&part.base));
    left.classes[class] = rest;
    left.suppressed = put_together([std::mem::take(&mut left.suppressed), out].concat());
}

/// Leaves out records as long as their class keeps everything without them, the costliest first.
fn shrunk(cutter: &Cutter, mut left: Left, n_max: u64, task: &Task) -> Result<Left> {
    let mut n_left = n_max - n_records(&left.suppressed);
    let mut costly: BTreeSet<(u64, std::cmp::Reverse<usize>)> = BTreeSet::new();
    let mut found: Vec<Option<Costly>> = Vec::with_capacity(left.classes.len());
    for (i, parts) in left.classes.iter().enumerate() {
        task.go_on_now_and_then(i, 64)?;
        let of_class = costliest(cutter, parts, n_left, true);
        costly.extend(of_class.iter().map(|of_class| (of_class.gain_of_each, std::cmp::Reverse(i))));
        found.push(of_class);
    }
    while let Some((_, std::cmp::Reverse(i))) = costly.pop_last() {
        let of_class = found[i].take().expect("it was put there");
        if of_class.n_records <= n_left {
            n_left -= of_class.n_records;
            take_out(&mut left, i, &of_class.bases);
        }
        let next = costliest(cutter, &left.classes[i], n_left, true);
        costly.extend(next.iter().map(|next| (next.gain_of_each, std::cmp::Reverse(i))));
        found[i] = next;
    }
    Ok(left)
}
