//! `frontier --local`: every bargain over one criterion, as cuts of one tree of groups.

use std::path::PathBuf;
use std::sync::Arc;

use incrowd::recode::tree::Tree;
use incrowd::recode::tree::frontier::Bargain;
use incrowd::recode::tree::negotiate::Request;
use incrowd::search::request::check_criteria;
use incrowd::{Criteria, Criterion, Measure, Result};

use super::Rules;
use super::frontier::varied;
use super::known::Known;
use super::local::guaranteed;
use super::negotiate_local::{LocalWish, LossLimits, check_no_levels};
use super::request::{About, GivenRequest, Privacy, Suppression};
use super::saved::Tables;
use crate::input::project::{CriterionText, Project};
use crate::work::Work;

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

impl FrontierLocal {
    pub fn run(&self, project: &Project, known: &Known, rules: &Rules, work: &Work) -> Result<LocalBargains> {
        self.max_loss.check(rules)?;
        check_no_levels(&self.request)?;
        let criteria: &[CriterionText] = &self.request.criteria;
        let privacy = GivenRequest::of_criteria(criteria.to_vec()).privacy(project, &self.about)?;
        let (measure, privacy) = varied(&self.over, criteria, privacy)?;
        let value = privacy.criteria.value(measure).unwrap_or(measure.weakest());
        let measured = privacy.criteria.with(Criterion { measure, value });
        guaranteed(&measured)?;
        let asked_for = Privacy { criteria: measured.clone(), ..privacy.clone() };
        let about = LocalWish { about: &self.about, given: &self.request, max_loss: &self.max_loss };
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
