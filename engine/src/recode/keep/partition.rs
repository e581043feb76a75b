//! The classes that a method makes where every one of them is to keep every criterion.

use rayon::prelude::*;

use crate::criterion::Measure;
use crate::error::Result;
use crate::loss::LOSS_ONE;
use crate::recode::enough::{Demand, Scale, is_enough};
use crate::recode::keep::cuts::Cutter;
use crate::recode::keep::mondrian;
use crate::recode::keep::suppress::suppress;
use crate::recode::keep::unite::Judged;
use crate::recode::method::{Assignment, Method};
use crate::recode::mondrian::Cut;
use crate::recode::partition::{CellStyle, Least, Part, Partition, put_together};
use crate::recode::space::Space;
use crate::recode::tree::{self, Tree};
use crate::task::Task;

/// What is wanted of classes beside what the method begins with.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// What every class must keep.
    pub demand: Demand<'a>,
    /// How many records may be left out of all classes.
    pub n_suppressed_max: u64,
    /// What cells will look like.
    pub style: CellStyle,
}

/// Puts records into classes that keep every criterion, also those that a reader takes for one because their cells are
/// the same.
///
/// Of dealt classes, and of those that are made as published, neither is looked at: these have all records.
///
/// # Guarantee
/// Every class keeps every criterion, and so does every published group; unless there is one class only, of which
/// whoever asks has to look whether it does. Where records are counted, no classes at all keep the criteria then; where
/// people are counted, none were found.
/// Records are left out only where less is lost that way, a suppressed record counting as everything; without any that
/// may be, and where the criteria are k and the l of the assignment, the classes are those of [`Method::partition`].
/// The classes depend on the assignment and what is wanted alone.
///
/// # Errors
/// As for [`Method::partition`], and where the yardstick does not measure a criterion.
pub fn partition(method: Method, assignment: &Assignment, wanted: &Wanted, task: &Task) -> Result<Partition> {
    let &Assignment { counts, hierarchies, weights, least, .. } = assignment;
    let &Wanted { demand, n_suppressed_max, style } = wanted;
    if method == Method::Negotiated && !(n_suppressed_max == 0 && is_built_in(&least, &demand)) {
        return cut_of_tree(assignment, wanted, task);
    }
    let plain = method.partition(assignment, task)?;
    if method.is_dealing() || method.is_published() || (n_suppressed_max == 0 && is_built_in(&least, &demand)) {
        return Ok(plain);
    }
    let is_enough = |parts: &[Part]| is_enough(counts, &demand, parts);
    let scale = Scale::new(counts, &demand)?;
    let space = Space::new(counts, hierarchies, weights)?;
    let cutter = Cutter { space: &space, scale: &scale, k: least.k, task };
    let parts = plain.by_cells(counts);
    let is_kept = parts.par_iter().all(|parts| is_enough(parts));
    let classes = match is_kept {
        true => parts,
        false => kept(method, &cutter, parts, &is_enough, task)?,
    };
    let seen = |found: Partition| kept_as_seen(found, assignment, style, &cutter, &is_enough, task);
    let all = seen(if is_kept { plain } else { Partition::keeping(classes.clone(), is_enough) })?;
    let remake = |rest: Vec<Vec<Part>>| remade(method, &cutter, rest, &is_enough, task);
    let left = suppress(&cutter, classes, n_suppressed_max, &remake, task)?;
    if left.suppressed.is_empty() {
        return Ok(all);
    }
    let less = seen(Partition::keeping(left.classes, is_enough).leaving_out(left.suppressed))?;
    let loss = |found: &Partition| {
        let n_suppressed: u64 = found.suppressed().iter().map(|part| part.n_records).sum();
        n_suppressed * LOSS_ONE + found.classes().map(|parts| cutter.loss(parts)).sum::<u64>()
    };
    Ok(if loss(&less) < loss(&all) { less } else { all })
}

/// The best cut of a tree of groups; all records where no cut keeps everything.
fn cut_of_tree(assignment: &Assignment, wanted: &Wanted, task: &Task) -> Result<Partition> {
    let &Assignment { counts, hierarchies, weights, least, .. } = assignment;
    let &Wanted { demand, n_suppressed_max, .. } = wanted;
    least.check(counts, hierarchies)?;
    let tree = Tree::grow(counts, hierarchies, weights, demand.yardstick, task)?;
    let cut = tree.cut(demand.criteria, n_suppressed_max, task)?;
    // Where not even some records can be published, it is said of all of them what they miss.
    let cut = cut.filter(|cut| !cut.published.is_empty()).unwrap_or_else(|| tree::Cut::everything(&tree));
    published(&tree, &cut, assignment, wanted, task)
}

/// The classes of a cut of a tree, as they can be published: groups that a reader takes for one keep everything together.
///
/// # Errors
/// Where the yardstick does not measure a criterion, or the task was cancelled.
pub fn published(
    tree: &Tree,
    cut: &tree::Cut,
    assignment: &Assignment,
    wanted: &Wanted,
    task: &Task,
) -> Result<Partition> {
    let &Assignment { counts, hierarchies, weights, least, .. } = assignment;
    let demand = &wanted.demand;
    let is_enough = |parts: &[Part]| is_enough(counts, demand, parts);
    let (classes, suppressed) = tree.classes(counts, cut);
    let found = match suppressed.is_empty() && is_built_in(&least, demand) {
        true => tree.plain(counts, cut, least),
        false => Partition::keeping(classes, is_enough).leaving_out(suppressed),
    };
    let scale = Scale::new(counts, demand)?;
    if !scale.is_over_people() {
        return Ok(found);
    }
    let space = Space::new(counts, hierarchies, weights)?;
    let cutter = Cutter { space: &space, scale: &scale, k: least.k, task };
    kept_as_seen(found, assignment, wanted.style, &cutter, &is_enough, task)
}

/// The same, where classes that a reader takes for one keep everything together too.
pub(super) fn kept_as_seen(
    mut found: Partition,
    assignment: &Assignment,
    style: CellStyle,
    cutter: &Cutter,
    is_enough: &(dyn Fn(&[Part]) -> bool + Sync),
    task: &Task,
) -> Result<Partition> {
    let counts = assignment.counts;
    loop {
        let alike = found.alike(counts, assignment.hierarchies, style, task)?;
        if alike.len() == found.n_classes() {
            return Ok(found);
        }
        let parts = found.by_cells(counts);
        let together = |classes: &Vec<usize>| put_together(classes.iter().flat_map(|&i| parts[i].clone()).collect());
        let united: Vec<Vec<Part>> = alike.iter().map(together).collect();
        if united.par_iter().all(|parts| is_enough(parts)) {
            // By cell, so that each group is published with the very records that were looked at: shared out among fewer
            // groups than there are classes, equal records might go elsewhere.
            return Ok(Partition::keeping(parts, is_enough).leaving_out(found.suppressed().to_vec()));
        }
        let classes = Judged::new(cutter, united).settled(false, task)?.into_parts();
        found = Partition::keeping(classes, is_enough).leaving_out(found.suppressed().to_vec());
    }
}

/// Whether the method itself keeps all that is asked for.
pub(super) fn is_built_in(least: &Least, demand: &Demand) -> bool {
    let is_over_people = demand.yardstick.is_over_people();
    demand.criteria.iter().all(|criterion| match criterion.measure {
        // Different people are different values of whose record it is.
        Measure::Size if is_over_people => least.l >= Some(criterion.value),
        Measure::Size => least.k >= criterion.value,
        Measure::Distinct(s) => !is_over_people && s == least.sensitive && least.l >= Some(criterion.value),
        _ => false,
    })
}

/// Classes that keep everything, from those that the method made for k and one l; all records where that cannot be.
fn kept(
    method: Method,
    cutter: &Cutter,
    parts: Vec<Vec<Part>>,
    is_enough: &(dyn Fn(&[Part]) -> bool + Sync),
    task: &Task,
) -> Result<Vec<Vec<Part>>> {
    let all = put_together(parts.concat());
    if !cutter.scale.is_over_people() && !is_enough(&all) {
        return Ok(vec![all]);
    }
    Ok(match method {
        Method::Mondrian => mondrian::classes(cutter, all, Cut::Strict, task)?,
        Method::MondrianRelaxed => mondrian::classes(cutter, all, Cut::Relaxed, task)?,
        _ => Judged::new(cutter, parts).settled(true, task)?.shared(task)?.into_parts(),
    })
}

/// Classes that keep everything, from those that records were taken out of; none where that cannot be.
fn remade(
    method: Method,
    cutter: &Cutter,
    parts: Vec<Vec<Part>>,
    is_enough: &(dyn Fn(&[Part]) -> bool + Sync),
    task: &Task,
) -> Result<Option<Vec<Vec<Part>>>> {
    let cut = match method {
        Method::Mondrian => Cut::Strict,
        Method::MondrianRelaxed => Cut::Relaxed,
        _ => {
            let judged = Judged::new(cutter, parts).settled(true, task)?.shared(task)?;
            return Ok(judged.holds().then(|| judged.into_parts()));
        }
    };
    let all = put_together(parts.concat());
    if !is_enough(&all) {
        return Ok(None);
    }
    mondrian::classes(cutter, all, cut, task).map(Some)
}
