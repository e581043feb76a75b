//! Classes that were found, improved step by step, and every criterion kept.

use std::collections::BTreeSet;

use crate::counts::GroupCounts;
use crate::error::Result;
use crate::loss::Steps;
use crate::recode::divide::Divider;
use crate::recode::enough::{Scale, is_enough};
use crate::recode::improve::Rules;
use crate::recode::improve::search::{improve, lost_on_attributes};
use crate::recode::keep::cuts::Cutter;
use crate::recode::keep::partition::{Wanted, is_built_in, kept_as_seen};
use crate::recode::method::Assignment;
use crate::recode::partition::{Least, Part, Partition};
use crate::recode::space::Space;
use crate::table::Code;
use crate::task::Task;

/// Improves classes that [`super::partition()`] made by at most so many steps, until the task says that it is enough, or
/// nothing is won any more. Returns how many steps it took.
///
/// # Guarantee
/// Every class and every published group keeps every criterion where that was so before, the same records are left out,
/// and no more is lost. The classes depend on what is given and on the number of steps alone: given the number that it
/// took, it ends with the same classes.
///
/// # Errors
/// Where the yardstick does not measure a criterion, or the task was cancelled.
pub fn improved(
    found: Partition,
    assignment: &Assignment,
    wanted: &Wanted,
    n_steps_max: u64,
    task: &Task,
) -> Result<(Partition, u64)> {
    improved_within(found, assignment, wanted, &[], n_steps_max, task)
}

/// The same where all classes together may lose no more on some attributes than this, in steps of the loss.
///
/// # Guarantee
/// That of [`improved`]; and no attribute that has a limit loses more than it allows, where that was so before.
///
/// # Errors
/// As for [`improved`].
pub fn improved_within(
    found: Partition,
    assignment: &Assignment,
    wanted: &Wanted,
    limits: &[(usize, Steps)],
    n_steps_max: u64,
    task: &Task,
) -> Result<(Partition, u64)> {
    let &Assignment { counts, hierarchies, weights, least, seed, .. } = assignment;
    let demand = &wanted.demand;
    let space = Space::new(counts, hierarchies, weights)?;
    let scale = Scale::new(counts, demand)?;
    let cutter = Cutter { space: &space, scale: &scale, k: least.k, task };
    let is_enough = |parts: &[Part]| is_enough(counts, demand, parts);
    let better = if is_built_in(&least, demand) && !found.is_by_cell() {
        let classes = found.classes().map(<[Part]>::to_vec).collect();
        let rules = Plain { space: &space, counts, least };
        let (classes, n_steps) = improve(&space, &rules, classes, limits, n_steps_max, seed, task)?;
        (Partition::new(classes, least), n_steps)
    } else {
        let classes = found.by_cells(counts);
        if !classes.iter().all(|parts| is_enough(parts)) {
            return Ok((found, 0));
        }
        let (classes, n_steps) = improve(&space, &cutter, classes, limits, n_steps_max, seed, task)?;
        (Partition::keeping(classes, is_enough).leaving_out(found.suppressed().to_vec()), n_steps)
    };
    let (better, n_steps) = better;
    let better = match scale.is_over_people() {
        true => kept_as_seen(better, assignment, wanted.style, &cutter, &is_enough, task)?,
        false => better,
    };
    let loss = |partition: &Partition| partition.classes().map(|parts| cutter.loss(parts)).sum::<u64>();
    // Where groups were united that a reader takes for one, an attribute may have lost more by it.
    let is_within = || {
        let lost = losses_of(&space, &better);
        limits.iter().all(|&(a, most)| lost[a] <= most)
    };
    Ok(if loss(&better) < loss(&found) && is_within() { (better, n_steps) } else { (found, n_steps) })
}

/// What the records of all classes lose on each attribute, in steps of the loss; what is left out is not counted.
///
/// # Errors
/// Where hierarchies and weights do not fit each other.
pub fn loss_of_attributes(found: &Partition, assignment: &Assignment) -> Result<Vec<Steps>> {
    Ok(losses_of(&Space::new(assignment.counts, assignment.hierarchies, assignment.weights)?, found))
}

fn losses_of(space: &Space, found: &Partition) -> Vec<Steps> {
    let mut sums = vec![0; space.n_axes()];
    for parts in found.classes() {
        sums.iter_mut().zip(lost_on_attributes(space, parts)).for_each(|(sum, lost)| *sum += lost);
    }
    sums
}

/// What the records of all classes lose together, in steps of the loss; what is left out is not counted.
///
/// # Errors
/// Where hierarchies and weights do not fit each other.
pub fn loss(found: &Partition, assignment: &Assignment) -> Result<Steps> {
    let space = Space::new(assignment.counts, assignment.hierarchies, assignment.weights)?;
    let of_class = |parts: &[Part]| {
        let n_records: u64 = parts.iter().map(|part| part.n_records).sum();
        n_records * space.cost(&space.around(parts.iter().map(|part| part.base)))
    };
    Ok(found.classes().map(of_class).sum())
}

/// k records, and l values of one attribute.
struct Plain<'a> {
    space: &'a Space,
    counts: &'a GroupCounts,
    least: Least,
}

impl Rules for Plain<'_> {
    fn k(&self) -> u64 {
        self.least.k
    }

    fn keeps(&self, parts: &[Part]) -> bool {
        let Some(l) = self.least.l else { return true };
        let mut values: BTreeSet<Code> = BTreeSet::new();
        parts.iter().filter_map(|part| part.value).any(|value| values.insert(value) && values.len() as u64 >= l)
    }

    fn pieces(&self, parts: Vec<Part>) -> Vec<Vec<Part>> {
        Divider::new(self.space, self.counts, self.least).pieces(parts)
    }
}

impl Rules for Cutter<'_> {
    fn k(&self) -> u64 {
        self.k
    }

    fn keeps(&self, parts: &[Part]) -> bool {
        self.scale.holds(&self.scale.tally(parts))
    }

    fn pieces(&self, parts: Vec<Part>) -> Vec<Vec<Part>> {
        // Where nobody wants it any more, whoever improves hears it too.
        Cutter::pieces(self, parts.clone()).unwrap_or_else(|_| vec![parts])
    }
}
