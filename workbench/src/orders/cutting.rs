//! From a cut of the tree of groups to groups that can be published, and the same again for whoever checks them.

use incrowd::recode::method::Method;
use incrowd::recode::partition::CellStyle;
use incrowd::recode::tree::negotiate::Request;
use incrowd::recode::tree::{Cut, Tree};
use incrowd::{Criteria, Result};

use super::lattice::grow_for;
use super::local::{Cutting, Local, LocallyMade};
use crate::input::count::Counted;
use crate::work::{Unit, Work};

/// The groups of a request that was agreed on, made again; none where the tree has no such answer.
pub fn made_again(local: &Local, agreed: &Request, counted: &Counted, work: &Work) -> Result<Option<LocallyMade>> {
    let tree = grow_as(local.style, &agreed.criteria, counted, work)?;
    match work.quietly(|task| tree.best(agreed, task))? {
        Some(offer) => made(local, &tree, agreed, &offer.cut, counted, work).map(Some),
        None => Ok(None),
    }
}

/// The tree over what cells of a style can say.
pub fn grow_as(style: CellStyle, criteria: &Criteria, counted: &Counted, work: &Work) -> Result<Tree> {
    let measures = criteria.iter().map(|criterion| criterion.measure).collect();
    grow_for(counted, &style.meant(&counted.hierarchies), measures, work)
}

/// The groups that become of a cut, improved.
pub fn made(
    local: &Local,
    tree: &Tree,
    agreed: &Request,
    cut: &Cut,
    counted: &Counted,
    work: &Work,
) -> Result<LocallyMade> {
    let local = Local { n_suppressed_max: agreed.n_suppressed_max, ..*local };
    let limits = agreed.limits_of_published(tree, cut.n_suppressed);
    let cutting = Cutting { tree, cut, limits: &limits };
    work.stage(Method::Negotiated.name(), counted.counts.n_records(), Unit::Records, |task| {
        work.on_threads(|| local.make_cut(counted, &agreed.criteria, &cutting, task))?
    })
}
