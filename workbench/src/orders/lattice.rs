//! Lattices of a counted project: annotated, or brought up to date.

use incrowd::lattice::update::{is_worthwhile, updated};
use incrowd::recode::tree::Tree;
use incrowd::scheme::n_schemes;
use incrowd::search::partial::{Selection, n_selected};
use incrowd::{Criteria, GroupCounts, Hierarchy, Lattice, Measure, Plan, Ranking, Result};

use crate::input::count::Material;
use crate::work::{Unit, Work};

/// Annotates the lattice of a counted project with what the criteria and the ranking look at.
pub fn annotate(counted: &Material, criteria: &Criteria, best_by: &Ranking, work: &Work) -> Result<Lattice> {
    let measures = criteria.iter().map(|criterion| criterion.measure).collect();
    annotate_some(counted, measures, best_by.needs_entropy(), None, work)
}

/// Annotates all schemes, or those that a selection finds promising, with some measures.
pub fn annotate_some(
    counted: &Material,
    measures: Vec<Measure>,
    with_entropy: bool,
    selection: Option<Selection>,
    work: &Work,
) -> Result<Lattice> {
    let n_schemes = match selection {
        Some(selection) => n_selected(&counted.hierarchies, selection)?,
        None => n_schemes(&counted.hierarchies).unwrap_or(u64::MAX),
    };
    work.stage("annotating", n_schemes, Unit::Schemes, |task| {
        work.on_threads(|| counted.annotate_some(measures, with_entropy, selection, task))?
    })
}

/// The tree of groups of a table, with some measures of every group.
pub fn grow(counted: &Material, measures: Vec<Measure>, work: &Work) -> Result<Tree> {
    grow_for(counted, &counted.hierarchies, measures, work)
}

/// The same where cells say less than the values have.
pub fn grow_for(counted: &Material, meant: &[Hierarchy], measures: Vec<Measure>, work: &Work) -> Result<Tree> {
    let (weights, yardstick) = (counted.weights(), counted.yardstick(measures)?);
    let counts = counted.told_apart();
    work.stage("making the tree of groups", counts.n_records(), Unit::Records, |task| {
        work.on_threads(|| Tree::grow(counts, meant, &weights, &yardstick, task))?
    })
}

/// A tree of the same table with other measures.
pub fn measure_again(tree: &Tree, counted: &Material, measures: Vec<Measure>, work: &Work) -> Result<Tree> {
    let yardstick = counted.yardstick(measures)?;
    let counts = counted.told_apart();
    work.stage("measuring the tree of groups", counts.n_records(), Unit::Records, |task| {
        work.on_threads(|| Tree::of(tree.shape().clone(), counts, &yardstick, task))?
    })
}

/// The lattice after records came or went, where it need not be annotated anew.
pub fn follow(lattice: &Lattice, before: &GroupCounts, after: &Material, work: &Work) -> Result<Option<Lattice>> {
    if !is_worthwhile(before, &after.counts) {
        return Ok(None);
    }
    let (weights, yardstick) = (after.weights(), after.yardstick(lattice.measures().iter().copied())?);
    let plan = Plan { weights: &weights, yardstick: &yardstick, with_entropy: lattice.entropies().is_some() };
    // Once as it was, once as it is.
    let n_schemes = 2 * lattice.schemes().len() as u64;
    work.stage("annotating what changed", n_schemes, Unit::Schemes, |task| {
        work.on_threads(|| updated(lattice, before, &after.counts, &plan, task))?
    })
}
