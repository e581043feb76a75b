//! Mondrian: the table is cut in two at the middle of its widest attribute, again and again.
//!
//! LeFevre, DeWitt and Ramakrishnan, "Mondrian multidimensional k-anonymity" (ICDE 2006): the method that others are
//! compared with. An attribute's width is what it costs a record, weight included. A categorical attribute is cut
//! between two values below its closest common ancestor, as near to the middle as can be.
//!
//! What it costs: for every cut a pass over the attributes of the distinct records and one sort by the widest, so
//! records · (attributes + log records) · log₂(records / k).

use crate::counts::GroupCounts;
use crate::error::Result;
use crate::hierarchy::Hierarchy;
use crate::recode::divide::Divider;
use crate::recode::partition::{Least, Part, Partition};
use crate::recode::space::Space;
use crate::task::Task;

/// What happens to records that have the value at the middle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// All go the same way: boxes do not overlap, and equal records are published alike.
    Strict,
    /// Numbers are shared out, so that both halves have as many records; categories where nothing else will do.
    Relaxed,
}

/// Puts all records into classes by cutting.
///
/// # Guarantee
/// Every class has at least k records, and at least l different sensitive values where l is asked for.
/// Where the cut is strict, equal records are in the same class and no record of one class lies in the box of another;
/// where it is relaxed and l is not asked for, no class has more than 2k − 1 records unless all of them are equal.
///
/// # Errors
/// Where no such partition of this table exists, arguments do not fit the counts, or the task was cancelled.
pub fn partition(
    counts: &GroupCounts,
    hierarchies: &[Hierarchy],
    weights: &[f64],
    least: Least,
    cut: Cut,
    task: &Task,
) -> Result<Partition> {
    least.check(counts, hierarchies)?;
    let space = Space::new(counts, hierarchies, weights)?;
    let mondrian = Mondrian { space: &space, counts, least, cut, task };
    let classes = mondrian.classes(least.parts(counts))?;
    Ok(Partition::new(classes, least))
}

struct Mondrian<'a> {
    space: &'a Space,
    counts: &'a GroupCounts,
    least: Least,
    cut: Cut,
    task: &'a Task<'a>,
}

/// Sets of fewer parts are cut by one thread.
const N_PARALLEL: usize = 2_048;

impl Mondrian<'_> {
    fn classes(&self, mut parts: Vec<Part>) -> Result<Vec<Vec<Part>>> {
        self.task.go_on()?;
        let sides = self.space.around(parts.iter().map(|part| part.base));
        let width = |a: usize| self.space.axes[a].cost(sides[a].0, sides[a].1);
        let mut axes: Vec<usize> = (0..sides.len()).filter(|&a| sides[a].0 < sides[a].1).collect();
        axes.sort_by_key(|&a| (std::cmp::Reverse(width(a)), a));
        let mut divider = Divider::new(self.space, self.counts, self.least);
        for axis in axes {
            self.task.go_on()?;
            let Some(second) = divider.halves(&mut parts, axis, self.cut == Cut::Relaxed) else { continue };
            let is_large = parts.len() + second.len() >= N_PARALLEL;
            let (first, second) = match is_large {
                true => rayon::join(|| self.classes(parts), || self.classes(second)),
                false => (self.classes(parts), self.classes(second)),
            };
            let mut classes = first?;
            classes.extend(second?);
            return Ok(classes);
        }
        (self.task.progress)(parts.iter().map(|part| part.n_records).sum());
        Ok(vec![parts])
    }
}
