//! `negotiate --local`: the same bargains over local recoding, as cuts of one tree of groups.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use incrowd::error::{Wording, unknown};
use incrowd::recode::tree::Tree;
use incrowd::recode::tree::negotiate::{Answer, Offer, Offers, Request};
use incrowd::search::request::{check_criteria, check_promise};
use incrowd::{Criteria, Criterion, Error, ErrorKind, Ranking, Result};

use super::Rules;
use super::known::Known;
use super::local::guaranteed;
use super::request::{About, GivenRequest, Privacy, attribute_index, share_of};
use super::saved::{self, Tables};
use crate::input::count::Material;
use crate::input::project::Project;
use crate::sentences::hint;
use crate::work::Work;

/// How much may be lost at most: in all, and of single attributes by name; shares from 0 to 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LossLimits {
    pub all: Option<f64>,
    pub of: Vec<(String, f64)>,
}

/// A question that is answered by ranges of its own for every group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NegotiateLocal {
    pub about: About,
    pub request: GivenRequest,
    pub max_loss: LossLimits,
    /// A tree that was kept in a file.
    pub lattice: Option<PathBuf>,
}

/// An answer, and the tree that it is a cut of.
pub struct LocallyNegotiated {
    pub counted: Tables,
    pub tree: Arc<Tree>,
    pub request: Request,
    pub answer: Answer,
}

impl LossLimits {
    /// `10%` or `1/10` in all, or `age=5%` of an attribute.
    pub fn parse(texts: &[String]) -> Result<LossLimits> {
        let mut limits = LossLimits::default();
        for text in texts {
            match text.rsplit_once('=') {
                Some((name, share)) => limits.add(Some(name.trim()), loss_of(share)?)?,
                None => limits.add(None, loss_of(text)?)?,
            }
        }
        Ok(limits)
    }

    /// Refuses limits where nobody may know what is lost: who tries one after the other learns it.
    pub fn check(&self, rules: &Rules) -> Result<()> {
        match rules.is_veiled && *self != LossLimits::default() {
            true => Err(Error::new(ErrorKind::Request, "what is lost is not told here, and no limit tells it either")
                .hint(hint("leave out {max_loss}"))),
            false => Ok(()),
        }
    }

    /// Adds a limit, of which there is one for everything and one for each attribute.
    pub fn add(&mut self, name: Option<&str>, share: f64) -> Result<()> {
        if !(0.0..=1.0).contains(&share) {
            return Err(
                Error::new(ErrorKind::Request, "a loss is from 0% to 100%").hint(hint("for example {max_loss=10%}"))
            );
        }
        let is_known = match name {
            None => self.all.is_some(),
            Some(name) => self.of.iter().any(|(known, _)| known == name),
        };
        match name {
            _ if is_known => {
                let of = name.map_or(String::new(), |name| format!(" of '{name}'"));
                return Err(Error::new(ErrorKind::Request, format!("the loss{of} is limited twice")));
            }
            None => self.all = Some(share),
            Some(name) => self.of.push((name.to_string(), share)),
        }
        Ok(())
    }
}

fn loss_of(text: &str) -> Result<f64> {
    share_of(text).ok_or_else(|| {
        Error::new(ErrorKind::Request, format!("'{text}' is not a share such as 10%"))
            .hint(hint("{max_loss=10%} in all, {max_loss=age=5%} of an attribute"))
    })
}

impl NegotiateLocal {
    /// Refuses wishes that are about one level for all.
    pub fn check(&self) -> Result<()> {
        check_no_levels(&self.request)
    }

    pub fn run(&self, project: &Project, known: &Known, rules: &Rules, work: &Work) -> Result<LocallyNegotiated> {
        self.check()?;
        self.max_loss.check(rules)?;
        let privacy = self.request.privacy(project, &self.about)?;
        check_promise(&privacy.criteria)?;
        (rules.promise)(&privacy.criteria, &privacy.sensitive)?;
        guaranteed(&privacy.criteria)?;
        let about = LocalWish { about: &self.about, given: &self.request, max_loss: &self.max_loss };
        let (counted, tree, privacy) = about.tree(self.lattice.as_deref(), &privacy, project, known, work)?;
        let request = about.request(&counted, &privacy, project)?;
        check_criteria(&request.criteria, counted.counts.crowd(), &counted.n_sensitive_values())?;
        counted.check_promise(&request.criteria)?;
        privacy.note_trivial(&counted, work);
        let answer = answer(&tree, &request, &privacy.sensitive, rules, work)?;
        Ok(LocallyNegotiated { counted, tree, request, answer })
    }
}

/// The offers over local recoding that can be published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutChoice {
    /// The answer that meets the request
    Exact,
    /// The offer that loses more records
    Suppression,
    /// The offer that loses more of the values
    Loss,
    /// The offer that promises less
    Privacy,
}

impl CutChoice {
    pub const ALL: [CutChoice; 4] = [CutChoice::Exact, CutChoice::Suppression, CutChoice::Loss, CutChoice::Privacy];

    pub fn name(self) -> &'static str {
        match self {
            CutChoice::Exact => "exact",
            CutChoice::Suppression => "suppression",
            CutChoice::Loss => "loss",
            CutChoice::Privacy => "privacy",
        }
    }

    pub fn parse(name: &str) -> Result<CutChoice> {
        if name == "height" {
            let message = Wording::text("").setting("offer").and(" height is about one level for all");
            let hint = "where every group has ranges of its own, the offers are suppression, loss and privacy";
            return Err(Error::new(ErrorKind::Request, message).hint(hint));
        }
        let choice = CutChoice::ALL.into_iter().find(|choice| choice.name() == name);
        choice.ok_or_else(|| unknown(ErrorKind::Request, "offer", name, &CutChoice::ALL.map(CutChoice::name)))
    }

    /// The offer that is chosen of an answer; who would accept an offer accepts the answer that needs none.
    pub fn of(self, answer: &Answer) -> Option<(Offer, CutChoice)> {
        let offers = match answer {
            Answer::Exact(offer) => return Some((offer.clone(), CutChoice::Exact)),
            Answer::Offers(offers) => offers,
        };
        let offer = match self {
            CutChoice::Exact => None,
            CutChoice::Suppression => offers.suppression.clone(),
            CutChoice::Loss => offers.loss.clone(),
            CutChoice::Privacy => offers.privacy.clone(),
        };
        offer.map(|offer| (offer, self))
    }

    /// The request that an offer is the exact answer to: what was asked for, with what it gives up given up.
    pub fn agreed(self, asked: &Request, criteria: &Criteria, n_suppressed: u64) -> Request {
        let asked = Request { criteria: criteria.clone(), ..asked.clone() };
        match self {
            CutChoice::Exact | CutChoice::Privacy => asked,
            CutChoice::Suppression => Request { n_suppressed_max: n_suppressed, ..asked },
            CutChoice::Loss => Request { loss_max: None, loss_max_of: Vec::new(), ..asked },
        }
    }
}

/// The answer of a tree, as far as it may be told.
pub fn answer(tree: &Tree, request: &Request, sensitive: &[String], rules: &Rules, work: &Work) -> Result<Answer> {
    // What t, δ or β could be relaxed to is what is just reached, which tells of records that nobody sees.
    let is_told = |criterion: Criterion| {
        let is_as_asked = request.criteria.value(criterion.measure) == Some(criterion.value);
        is_as_asked || !rules.is_veiled || !criterion.measure.is_relative()
    };
    let told =
        |offer: &Offer| (rules.promise)(&offer.criteria, sensitive).is_ok() && offer.criteria.iter().all(is_told);
    Ok(match work.quietly(|task| tree.negotiate(request, task))? {
        Answer::Exact(offer) => Answer::Exact(offer),
        Answer::Offers(mut offers) => {
            offers.privacy_alternatives.retain(told);
            let privacy = offers.privacy_alternatives.first().cloned();
            Answer::Offers(Offers { privacy, ..offers })
        }
    })
}

pub(super) fn check_no_levels(request: &GivenRequest) -> Result<()> {
    let has_levels = request.max_level.as_ref().is_some_and(|levels| !levels.is_empty());
    let message = match (has_levels, request.best_by.is_some()) {
        (true, _) => hint("{max_level} is about one level for all, and here every group has ranges of its own"),
        (false, true) => hint("{best_by} is about one level for all, and here the loss is NCP"),
        (false, false) => return Ok(()),
    };
    Err(Error::new(ErrorKind::Request, message).hint(hint("leave it out, or limit the loss: {max_loss=age=5%}")))
}

/// What is asked, before it is known what it is asked of.
pub(super) struct LocalWish<'a> {
    pub(super) about: &'a About,
    pub(super) given: &'a GivenRequest,
    pub(super) max_loss: &'a LossLimits,
}

impl LocalWish<'_> {
    /// The tree of a project or of a file, what it was made of, and the privacy with attributes numbered as there.
    pub(super) fn tree(
        &self,
        file: Option<&Path>,
        privacy: &Privacy,
        project: &Project,
        known: &Known,
        work: &Work,
    ) -> Result<(Tables, Arc<Tree>, Privacy)> {
        let Some(path) = file else {
            let counted = known.count(project, &self.about.choice(privacy), work)?;
            let measures = privacy.criteria.iter().map(|criterion| criterion.measure);
            check_criteria(&privacy.criteria, counted.counts.crowd(), &counted.n_sensitive_values())?;
            let tree = known.tree(&counted, measures, work)?;
            return Ok((Tables::Counted(counted), tree, privacy.clone()));
        };
        let at = |error: Error| error.or_at(path.display().to_string());
        // The file has the counts, so that whatever is asked can be measured.
        let unmeasured = Privacy { criteria: Criteria::default(), ..privacy.clone() };
        let opened = saved::open(path, project, self.about, &unmeasured, &Ranking::default(), work)?;
        let privacy = privacy.about(&opened.privacy.sensitive);
        let material = opened.content.material(project, &opened.lattice, work)?;
        let none = || {
            Error::new(ErrorKind::Request, "holds no tree of groups")
                .at(path.display().to_string())
                .hint(hint("make one: annotate with {local}"))
        };
        let shape = opened.content.tree(&material)?.ok_or_else(none)?;
        let yardstick = material.yardstick(privacy.criteria.iter().map(|criterion| criterion.measure))?;
        let tree = work.quietly(|task| Tree::of(shape, material.told_apart(), &yardstick, task)).map_err(at)?;
        Ok((Tables::Own(material), Arc::new(tree), privacy))
    }

    /// The request with its limits.
    pub(super) fn request(&self, counted: &Material, privacy: &Privacy, project: &Project) -> Result<Request> {
        let of = |(name, share): &(String, f64)| Ok((attribute_index(name, &counted.hierarchies)?, *share));
        Ok(Request {
            criteria: privacy.criteria.clone(),
            n_suppressed_max: self.given.n_suppressed_max(project, counted.counts.n_records())?,
            loss_max: self.max_loss.all,
            loss_max_of: self.max_loss.of.iter().map(of).collect::<Result<_>>()?,
        })
    }
}
