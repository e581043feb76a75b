//! `negotiate --local` and `frontier --local`: the same bargains over local recoding, as cuts of one tree of groups.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use incrowd::recode::tree::Tree;
use incrowd::recode::tree::frontier::Bargain;
use incrowd::recode::tree::negotiate::{Answer, Offers, Request};
use incrowd::search::negotiate::{check_criteria, check_promise};
use incrowd::{Criteria, Criterion, Error, ErrorKind, Measure, Ranking, Result};

use super::Rules;
use super::frontier::{Tables, varied};
use super::known::Known;
use super::local::guaranteed;
use super::request::{About, GivenRequest, Privacy, Suppression, attribute_index};
use super::saved;
use crate::input::count::Material;
use crate::input::project::{CriterionText, Project};
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

/// Which criterion is varied, within which wishes.
#[derive(Clone, Debug, PartialEq)]
pub struct FrontierLocal {
    pub about: About,
    /// With the records that may be lost.
    pub request: GivenRequest,
    /// The criterion that is varied, by its name in JSON.
    pub over: String,
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

/// The bargains, the least private first, and what they are about.
pub struct LocalBargains {
    pub counted: Tables,
    pub tree: Arc<Tree>,
    pub request: Request,
    pub measure: Measure,
    pub bargains: Vec<Bargain>,
}

/// What a frontier over local recoding loses where nobody says.
pub fn no_record() -> Suppression {
    Suppression::Records(0)
}

impl LossLimits {
    /// `10%` in all, or `age=5%` of an attribute.
    pub fn parse(texts: &[String]) -> Result<LossLimits> {
        let mut limits = LossLimits::default();
        for text in texts {
            match text.rsplit_once('=') {
                Some((name, share)) => limits.add(Some(name.trim()), share_of(share)?)?,
                None => limits.add(None, share_of(text)?)?,
            }
        }
        Ok(limits)
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

fn share_of(text: &str) -> Result<f64> {
    let wrong = || {
        Error::new(ErrorKind::Request, format!("'{text}' is not a share such as 10%"))
            .hint(hint("{max_loss=10%} in all, {max_loss=age=5%} of an attribute"))
    };
    let percent = text.trim().strip_suffix('%').ok_or_else(wrong)?;
    percent.trim().parse::<f64>().map(|percent| percent / 100.0).map_err(|_| wrong())
}

impl NegotiateLocal {
    /// Refuses wishes that are about one level for all.
    pub fn check(&self) -> Result<()> {
        check_no_levels(&self.request)
    }

    pub fn run(&self, project: &Project, known: &Known, rules: &Rules, work: &Work) -> Result<LocallyNegotiated> {
        self.check()?;
        let privacy = self.request.privacy(project, &self.about)?;
        check_promise(&privacy.criteria)?;
        (rules.promise)(&privacy.criteria, &privacy.sensitive)?;
        guaranteed(&privacy.criteria)?;
        let about = Asked { about: &self.about, given: &self.request, max_loss: &self.max_loss };
        let (counted, tree, privacy) = about.tree(self.lattice.as_deref(), &privacy, project, known, work)?;
        let request = about.request(&counted, &privacy, project)?;
        check_criteria(&request.criteria, counted.counts.crowd(), &counted.n_sensitive_values())?;
        counted.check_promise(&request.criteria)?;
        privacy.note_trivial(&counted, work);
        let answer = work.quietly(|task| tree.negotiate(&request, task))?;
        let may_promise = |criteria: &_| (rules.promise)(criteria, &privacy.sensitive).is_ok();
        let answer = match answer {
            Answer::Exact(offer) => Answer::Exact(offer),
            Answer::Offers(mut offers) => {
                offers.privacy_alternatives.retain(|offer| may_promise(&offer.criteria));
                let privacy = offers.privacy_alternatives.first().cloned();
                Answer::Offers(Offers { privacy, ..offers })
            }
        };
        Ok(LocallyNegotiated { counted, tree, request, answer })
    }
}

impl FrontierLocal {
    pub fn run(&self, project: &Project, known: &Known, work: &Work) -> Result<LocalBargains> {
        check_no_levels(&self.request)?;
        let criteria: &[CriterionText] = &self.request.criteria;
        let privacy = GivenRequest::of_criteria(criteria.to_vec()).privacy(project, &self.about)?;
        let (measure, privacy) = varied(&self.over, criteria, privacy)?;
        let value = privacy.criteria.value(measure).unwrap_or(measure.weakest());
        let measured = privacy.criteria.with(Criterion { measure, value });
        guaranteed(&measured)?;
        let asked_for = Privacy { criteria: measured.clone(), ..privacy.clone() };
        let about = Asked { about: &self.about, given: &self.request, max_loss: &self.max_loss };
        let (counted, tree, asked_for) = about.tree(self.lattice.as_deref(), &asked_for, project, known, work)?;
        let request = about.request(&counted, &asked_for, project)?;
        check_criteria(&request.criteria, counted.counts.crowd(), &counted.n_sensitive_values())?;
        counted.check_promise(&request.criteria)?;
        // Attributes are numbered as in the file.
        let varied = Privacy { criteria: Criteria::new([Criterion { measure, value }]), ..privacy };
        let varied = varied.about(&asked_for.sensitive).criteria;
        let measure = varied.iter().next().expect("one criterion").measure;
        let bargains = work.quietly(|task| tree.frontier(&request, measure, task))?;
        Ok(LocalBargains { counted, tree, request, measure, bargains })
    }
}

fn check_no_levels(request: &GivenRequest) -> Result<()> {
    let has_levels = request.max_level.as_ref().is_some_and(|levels| !levels.is_empty());
    let message = match (has_levels, request.best_by.is_some()) {
        (true, _) => hint("{max_level} is about one level for all, and here every group has ranges of its own"),
        (false, true) => hint("{best_by} is about one level for all, and here the loss is NCP"),
        (false, false) => return Ok(()),
    };
    Err(Error::new(ErrorKind::Request, message).hint(hint("leave it out, or limit the loss: {max_loss=age=5%}")))
}

/// What is asked, before it is known what it is asked of.
struct Asked<'a> {
    about: &'a About,
    given: &'a GivenRequest,
    max_loss: &'a LossLimits,
}

impl Asked<'_> {
    /// The tree of a project or of a file, what it was made of, and the privacy with attributes numbered as there.
    fn tree(
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
    fn request(&self, counted: &Material, privacy: &Privacy, project: &Project) -> Result<Request> {
        let of = |(name, share): &(String, f64)| Ok((attribute_index(name, &counted.hierarchies)?, *share));
        Ok(Request {
            criteria: privacy.criteria.clone(),
            n_suppressed_max: self.given.n_suppressed_max(project, counted.counts.n_records())?,
            loss_max: self.max_loss.all,
            loss_max_of: self.max_loss.of.iter().map(of).collect::<Result<_>>()?,
        })
    }
}
