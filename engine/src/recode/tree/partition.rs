//! The records of a cut, as classes that can be improved and published.

use crate::counts::{GroupCounts, number};
use crate::criterion::{Criteria, Criterion, Measure, Yardstick};
use crate::error::Result;
use crate::hierarchy::Hierarchy;
use crate::recode::partition::{CellStyle, Least, Part, Partition, texts_of};
use crate::recode::tree::Tree;
use crate::recode::tree::best::{Cut, Goal, Limits, best, cut_of, live};
use crate::recode::tree::measure::parts_of;
use crate::task::Task;

impl Tree {
    /// The cut that loses least among those that keep the criteria and lose at most so many records; none where there is
    /// none.
    ///
    /// # Errors
    /// Where a criterion was not measured, or the task was cancelled.
    pub fn cut(&self, criteria: &Criteria, n_suppressed_max: u64, task: &Task) -> Result<Option<Cut>> {
        self.signatures().check_measured(criteria)?;
        let limits = Limits { n_lost: n_suppressed_max, loss: None, of_attributes: Vec::new() };
        let live = live(self, criteria, &limits, n_suppressed_max > 0);
        let n_records = self.shape().n_records(self.shape().root());
        let found = best(&live, &limits, Goal::Loss, n_records, task)?;
        Ok(found.folded.map(|folded| cut_of(&live, &folded, found.at_least)))
    }

    /// What would be printed of some nodes if they were published: by node and attribute, the text of its cells.
    pub fn cells(
        &self,
        nodes: &[usize],
        counts: &GroupCounts,
        hierarchies: &[Hierarchy],
        style: CellStyle,
    ) -> Vec<Vec<String>> {
        let parts = |&node: &usize| self.shape().bases(node).flat_map(|base| parts_of(counts, base)).collect();
        let classes: Vec<Vec<Part>> = nodes.iter().map(parts).collect();
        texts_of(counts, hierarchies, style, &classes)
    }

    /// The classes of a cut by cell of the groups, and what is left out.
    pub(crate) fn classes(&self, counts: &GroupCounts, cut: &Cut) -> (Vec<Vec<Part>>, Vec<Part>) {
        let parts = |&node: &u32| self.shape().bases(node as usize).flat_map(|base| parts_of(counts, base));
        let mut suppressed: Vec<Part> = cut.suppressed.iter().flat_map(parts).collect();
        suppressed.sort_unstable();
        (cut.published.iter().map(|node| parts(node).collect()).collect(), suppressed)
    }

    /// The classes of a cut that suppresses nothing, each of which has what `least` says.
    pub(crate) fn plain(&self, counts: &GroupCounts, cut: &Cut, least: Least) -> Partition {
        let mut of_base = vec![Vec::new(); counts.n_groups()];
        least.parts(counts).into_iter().for_each(|part| of_base[part.base as usize].push(part));
        let bases = |node: u32| self.shape().bases(node as usize);
        let class = |&node: &u32| bases(node).flat_map(|base| of_base[base as usize].clone()).collect();
        Partition::new(cut.published.iter().map(class).collect(), least)
    }
}

impl Cut {
    /// All records as one group.
    pub(crate) fn everything(tree: &Tree) -> Cut {
        let (root, loss) = (tree.shape().root(), tree.shape().loss(tree.shape().root()));
        let published = vec![number(root)];
        Cut { published, suppressed: Vec::new(), n_suppressed: 0, loss, loss_at_least: loss }
    }
}

/// Puts all records into the classes of the cut of their tree that loses least.
///
/// # Guarantee
/// Every class has at least k records, and at least l different sensitive values where l is asked for.
/// The classes depend on the table, the weights, k and l alone: not on the order of records or the number of threads.
///
/// # Errors
/// Where no such partition of this table exists, arguments do not fit the counts, or the task was cancelled.
pub fn partition(
    counts: &GroupCounts,
    hierarchies: &[Hierarchy],
    weights: &[f64],
    least: Least,
    task: &Task,
) -> Result<Partition> {
    least.check(counts, hierarchies)?;
    let l = least.l.map(|value| Criterion { measure: Measure::Distinct(least.sensitive), value });
    let criteria = Criteria::new([Criterion::k(least.k)].into_iter().chain(l));
    // People are told apart by an attribute of their own here, whose different values are counted.
    let yardstick = Yardstick::of_records(counts, criteria.iter().map(|criterion| criterion.measure))?;
    let tree = Tree::grow(counts, hierarchies, weights, &yardstick, task)?;
    let cut = tree.cut(&criteria, 0, task)?.expect("all records together have k, and every value");
    Ok(tree.plain(counts, &cut, least))
}
