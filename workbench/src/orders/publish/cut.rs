//! Which cut of the tree of groups is published.

use std::sync::Arc;

use incrowd::recode::method::Method;
use incrowd::recode::partition::CellStyle;
use incrowd::recode::tree::Tree;
use incrowd::recode::tree::negotiate::{Offer, Request};
use incrowd::{Error, ErrorKind, Result};

use super::{Decided, GLOBAL, No};
use crate::input::count::Counted;
use crate::input::project::Project;
use crate::orders::Rules;
use crate::orders::cutting::{grow_as, made};
use crate::orders::known::Known;
use crate::orders::local::{Local, LocallyMade, N_STEPS_PER_GROUP};
use crate::orders::negotiate_local::{CutChoice, LocalWish, LocallyNegotiated, LossLimits, answer};
use crate::orders::request::{About, GivenRequest, Privacy};
use crate::orders::saved::Tables;
use crate::sentences::hint;
use crate::work::Work;

/// An answer over local recoding that is to be published.
#[derive(Clone, Debug, PartialEq)]
pub struct CutWish {
    pub choice: CutChoice,
    pub max_loss: LossLimits,
    /// How cells are written, and how long groups are improved; where nothing is said of that, so many steps for each.
    pub local: Local,
}

impl CutWish {
    /// Refuses another method: the groups are those that were negotiated.
    pub fn check_method(name: &str) -> Result<()> {
        if [GLOBAL, Method::Negotiated.name()].contains(&name) {
            return Ok(());
        }
        let message = hint("{local} is about groups that were negotiated, and another method is named");
        Err(Error::new(ErrorKind::Request, message).hint("leave out one of them"))
    }
}

/// What an answer is found on.
pub struct Ground<'a> {
    pub about: &'a About,
    pub given: &'a GivenRequest,
    pub project: &'a Project,
    pub privacy: &'a Privacy,
    pub counted: &'a Arc<Counted>,
    pub known: &'a Known,
    pub rules: &'a Rules<'a>,
}

/// What is to be published of a tree, or why nothing is.
enum FoundCut {
    Offer { tree: Arc<Tree>, asked: Request, offer: Box<Offer>, choice: CutChoice },
    No(No),
}

/// The offer that would be published, before its groups are made; none where there is no such answer.
pub fn offer(wish: &CutWish, ground: &Ground, work: &Work) -> Result<Option<(Offer, CutChoice)>> {
    Ok(match find(wish, ground, work)? {
        FoundCut::Offer { offer, choice, .. } => Some((*offer, choice)),
        FoundCut::No(_) => None,
    })
}

/// Finds the answer to a request or the offer that is chosen, and makes its groups.
pub fn agree(wish: &CutWish, ground: &Ground, work: &Work) -> Result<Decided> {
    let (tree, asked, offer, choice) = match find(wish, ground, work)? {
        FoundCut::Offer { tree, asked, offer, choice } => (tree, asked, offer, choice),
        FoundCut::No(no) => return Ok(Decided::No(no)),
    };
    let agreed = choice.agreed(&asked, &offer.criteria, offer.cut.n_suppressed);
    let n_steps = match wish.local.n_steps {
        0 => N_STEPS_PER_GROUP * offer.n_groups(),
        n_steps => n_steps,
    };
    let local = Local { n_steps, ..wish.local };
    let made = made(&local, &tree, &agreed, &offer.cut, ground.counted, work)?;
    let made = LocallyMade { agreed: Some((choice.name(), asked)), ..made };
    Ok(match made.missed().is_empty() {
        true => Decided::Made(Box::new(made)),
        false => Decided::No(No::Missed(Box::new(made))),
    })
}

fn find(wish: &CutWish, ground: &Ground, work: &Work) -> Result<FoundCut> {
    let Ground { about, given, project, privacy, counted, known, rules } = *ground;
    wish.max_loss.check(rules)?;
    let tree = match wish.local.style {
        CellStyle::Ranges => known.tree(counted, privacy.criteria.iter().map(|criterion| criterion.measure), work)?,
        style => Arc::new(grow_as(style, &privacy.criteria, counted, work)?),
    };
    let asked = LocalWish { about, given, max_loss: &wish.max_loss }.request(counted, privacy, project)?;
    let answer = answer(&tree, &asked, &privacy.sensitive, rules, work)?;
    let Some((offer, choice)) = wish.choice.of(&answer) else {
        let negotiated = LocallyNegotiated { counted: Tables::Counted(counted.clone()), tree, request: asked, answer };
        return Ok(FoundCut::No(No::NoSuchCut(Box::new((negotiated, wish.choice)))));
    };
    if offer.cut.published.is_empty() {
        return Err(Error::new(ErrorKind::Request, "no group keeps the promise, so there is nothing to publish")
            .hint("ask for less privacy"));
    }
    Ok(FoundCut::Offer { tree, asked, offer: Box::new(offer), choice })
}
