//! `frontier`: every bargain that no other beats, over one criterion.

use std::path::PathBuf;
use std::sync::Arc;

use incrowd::search::frontier::{Bargain, frontier};
use incrowd::search::request::{check_criteria, check_promise, check_promise_on, depends_on_table};
use incrowd::wire;
use incrowd::{Criteria, Criterion, Error, ErrorKind, Lattice, Measure, Ranking, Result};

use super::extent::{Extent, ExtentWish, Otherwise};
use super::known::Known;
use super::request::{About, GivenRequest, Privacy, Suppression};
use super::saved::{self, Tables};
use crate::input::count::Material;
use crate::input::project::{CriterionText, Project};
use crate::sentences::hint;
use crate::work::Work;

/// Which criterion is varied, within which wishes.
#[derive(Clone, Debug, PartialEq)]
pub struct Frontier {
    pub about: About,
    pub criteria: Vec<CriterionText>,
    /// The criterion that is varied, by its name in JSON.
    pub over: String,
    /// What loss means.
    pub ranking: Ranking,
    pub max_suppressed: Suppression,
    pub max_level: Vec<(String, String)>,
    /// A lattice that was kept in a file.
    pub lattice: Option<PathBuf>,
    pub extent: ExtentWish,
}

/// The bargains, the most private first, and what they are about.
pub struct Bargains {
    pub lattice: Arc<Lattice>,
    pub privacy: Privacy,
    pub measure: Measure,
    pub ranking: Ranking,
    pub n_suppressed_max: u64,
    pub bargains: Vec<Bargain>,
}

/// The least that a frontier looks at where nobody says.
pub fn max_suppressed() -> Suppression {
    Suppression::Share(10.0, "10%".into())
}

impl Frontier {
    /// Refuses what has no lattice.
    pub fn check(&self) -> Result<()> {
        match self.extent.forced {
            Some(Extent::OnDemand) => {
                Err(Error::new(ErrorKind::Request, "a frontier needs a lattice, whole or partial")
                    .hint(hint("leave out {on_demand}, or take {partial=5%}")))
            }
            _ => Ok(()),
        }
    }

    pub fn run(&self, project: &Project, known: &Known, work: &Work) -> Result<Bargains> {
        self.check()?;
        let ranking = &self.ranking;
        let privacy = GivenRequest::of_criteria(self.criteria.clone()).privacy(project, &self.about)?;
        let (measure, privacy) = varied(&self.over, &self.criteria, privacy)?;
        let wish = GivenRequest {
            max_suppressed: Some(self.max_suppressed.clone()),
            max_level: Some(self.max_level.clone()),
            ..GivenRequest::default()
        };
        let measured = privacy.criteria.with(Criterion { measure, value: measure.weakest() });
        let floor = if privacy.criteria.value(measure).is_some() { &privacy.criteria } else { &measured };
        let needs_table = depends_on_table(floor);
        let (lattice, privacy, measure, material) = match &self.lattice {
            Some(path) => {
                // The varied measure travels along, to be numbered as in the file.
                let asked = Privacy { criteria: measured, ..privacy.clone() };
                let saved::OpenedLattice { lattice, privacy: asked, content } =
                    saved::open(path, project, &self.about, &asked, ranking, work)?;
                if saved::has_counts_only(&lattice) {
                    return Err(Error::new(ErrorKind::Request, "holds counts and no lattice, which a frontier needs")
                        .at(path.display().to_string())
                        .hint(hint("annotate again without {on_demand}, for example with {partial=5%}")));
                }
                let varied = Privacy {
                    criteria: Criteria::new([Criterion { measure, value: measure.weakest() }]),
                    ..privacy.clone()
                };
                let varied = varied.about(&asked.sensitive).criteria.iter().next().expect("one criterion").measure;
                let material = needs_table.then(|| content.material(project, &lattice, work)).transpose()?;
                (Arc::new(lattice), privacy.about(&asked.sensitive), varied, material.map(Tables::Own))
            }
            None => {
                let asked = Privacy { criteria: measured.clone(), ..privacy.clone() };
                let counted = known.count(project, &self.about.choice(&asked), work)?;
                if !privacy.criteria.is_empty() {
                    check_criteria(&privacy.criteria, counted.counts.crowd(), &counted.n_sensitive_values())?;
                }
                let measures = measured.iter().map(|criterion| criterion.measure);
                let with_entropy = ranking.needs_entropy();
                let lattice = match self.extent.choose(&counted, Otherwise::Partial, work)? {
                    Extent::Full => known.annotate(&counted, measures, with_entropy, work)?,
                    Extent::Partial(selection) => {
                        known.annotate_some(&counted, measures, with_entropy, Some(selection), work)?
                    }
                    Extent::OnDemand => {
                        return Err(Error::new(
                            ErrorKind::TooLarge,
                            "a frontier needs a lattice, and not even a part fits",
                        )
                        .hint(hint(
                            "choose fewer with {quasi_identifiers}, a smaller {partial}, or allow more with {memory}",
                        )));
                    }
                };
                (lattice, privacy, measure, needs_table.then_some(Tables::Counted(counted)))
            }
        };
        let request = wish.checked(project, &privacy, lattice.hierarchies(), lattice.n_records())?;
        let found = work.quietly(|task| frontier(&lattice, &request, measure, ranking, task));
        let mut bargains = found.map_err(|error| match (&self.lattice, error.kind()) {
            (Some(path), ErrorKind::Data) => error.or_at(path.display().to_string()),
            _ => error,
        })?;
        if let Some(material) = &material {
            bargains = promising(bargains, &privacy.criteria, measure, material)?;
        }
        let (ranking, n_suppressed_max) = (ranking.clone(), request.n_suppressed_max);
        Ok(Bargains { lattice, privacy, measure, ranking, n_suppressed_max, bargains })
    }
}

/// The measure that is varied, and the privacy without a standing wish for it.
pub(super) fn varied(over: &str, given: &[CriterionText], privacy: Privacy) -> Result<(Measure, Privacy)> {
    let asked = privacy.criteria.iter().map(|criterion| criterion.measure);
    let by_name = asked.into_iter().find(|measure| wire::key(*measure, &privacy.sensitive) == over);
    let Some(measure) = by_name.or_else(|| wire::measure_of(over, &privacy.sensitive)) else {
        let message = format!("'{over}' is no criterion that can be varied here");
        return Err(Error::new(ErrorKind::Request, message)
            .hint("one of k, k_map, l, alpha, entropy_l, recursive, t, delta, beta, enhanced_beta; ATTRIBUTE:t with several sensitive attributes"));
    };
    let is_given = given.iter().any(|text| text.name == measure.name());
    let criteria = if is_given { privacy.criteria.clone() } else { privacy.criteria.without(measure) };
    let least = criteria.value(measure).unwrap_or(measure.weakest());
    check_promise(&criteria.with(Criterion { measure, value: least }))?;
    Ok((measure, Privacy { criteria, ..privacy }))
}

/// The bargains that promise something to someone; an error where the least that was asked for does not.
fn promising(
    mut bargains: Vec<Bargain>,
    criteria: &Criteria,
    measure: Measure,
    material: &Material,
) -> Result<Vec<Bargain>> {
    if criteria.value(measure).is_some() {
        material.check_promise(criteria)?;
    }
    let yardstick = material.yardstick(criteria.iter().map(|criterion| criterion.measure).chain([measure]))?;
    bargains.retain(|bargain| {
        check_promise_on(&criteria.with(Criterion { measure, value: bargain.value }), &yardstick).is_ok()
    });
    Ok(bargains)
}
