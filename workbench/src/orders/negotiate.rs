//! `negotiate`: whether a request can be met, or the three nearest offers; and what that is worth.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use incrowd::lattice::Scope;
use incrowd::recode::global::n_people_lost;
use incrowd::search::as_published::negotiate_as_published_with;
use incrowd::search::explain::Explanation;
use incrowd::search::negotiate::{negotiate_with, negotiate_without};
use incrowd::search::on_demand::FoundAnswer;
use incrowd::search::partial::{Selection, prove};
use incrowd::search::request::{check_criteria, check_promise, depends_on_table};
use incrowd::task::Task;
use incrowd::{
    Answer, Criteria, Error, ErrorKind, Lattice, Level, Offer, Plan, Quality, Request, Result, Scheme, explain,
};

use super::Rules;
use super::extent::{Extent, ExtentWish, Searched, TIME, search};
use super::known::Known;
use super::lattice::annotate_some;
use super::local::note_much_lost;
use super::request::{About, GivenRequest};
use super::saved;
use crate::input::count::{Counted, Material};
use crate::input::project::Project;
use crate::sentences::hint;
use crate::work::Work;

/// A question, and from how much of the lattice it is answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Negotiate {
    pub about: About,
    pub request: GivenRequest,
    /// Whether it is said why so many records are lost.
    pub explain: bool,
    /// As the published algorithm would, whose height offer is not always the lowest.
    pub as_published: bool,
    /// A lattice that was kept in a file.
    pub lattice: Option<PathBuf>,
    pub extent: ExtentWish,
    /// How long to search on demand.
    pub time: Duration,
    /// From the schemes of a partial lattice alone.
    pub not_extended: bool,
}

/// An answer, what it is about, and what is proved of it.
pub struct Negotiated {
    pub request: Request,
    /// The least that will do, of criteria for which a range was given.
    pub floors: Criteria,
    pub answer: Answer,
    pub found: Where,
    /// With the lattice that its numbers come from.
    pub explanation: Option<(Arc<Lattice>, Explanation)>,
    /// Where the request is not met: attributes without which the others are, each with the best scheme that hides it.
    pub without: Vec<(usize, Offer)>,
    /// How many schemes the answer is made of; one that is looked at for several questions counts for each.
    pub n_looked_at: u64,
    /// How long it took to find it, once counts and lattice were there.
    pub time: Duration,
}

/// Where an answer was found.
pub enum Where {
    /// Among all schemes.
    Whole(Arc<Lattice>),
    /// Among the most promising, with what that proves among all.
    Partial(Arc<Lattice>, FoundAnswer),
    /// On demand, with what ended the search.
    OnDemand(Searched),
}

impl Default for Negotiate {
    /// No wishes, answered from as much of the lattice as is reasonable.
    fn default() -> Self {
        Negotiate {
            about: About::default(),
            request: GivenRequest::default(),
            explain: false,
            as_published: false,
            lattice: None,
            extent: ExtentWish::default(),
            time: TIME,
            not_extended: false,
        }
    }
}

impl Negotiated {
    /// What the answer is about.
    pub fn scope(&self) -> &Scope {
        match &self.found {
            Where::Whole(lattice) | Where::Partial(lattice, _) => lattice,
            Where::OnDemand(searched) => &searched.scope,
        }
    }

    /// Says where the answer loses much; and what a method would lose, where there are counts to try it on.
    pub fn note_much_lost(&self, counted: Option<&Counted>, work: &Work) {
        if let Answer::Exact(offer) = &self.answer {
            note_much_lost(offer.losses.ncp, &offer.criteria, counted, work);
        }
    }
}

impl Negotiate {
    /// Refuses wishes that would do nothing.
    pub fn check(&self) -> Result<()> {
        match self.not_extended && !matches!(self.extent.forced, Some(Extent::Partial(_))) && self.lattice.is_none() {
            true => Err(about_partial_lattices()),
            false => Ok(()),
        }
    }

    pub fn run(&self, project: &Project, known: &Known, rules: &Rules, work: &Work) -> Result<Negotiated> {
        self.check()?;
        if self.as_published && self.request.best_by.is_none() {
            // What the papers publish is the lowest scheme.
            let request = GivenRequest { best_by: Some(Quality::Height.into()), ..self.request.clone() };
            return Negotiate { request, ..self.clone() }.run(project, known, rules, work);
        }
        let privacy = self.request.negotiable(project, &self.about)?;
        check_promise(&privacy.criteria)?;
        (rules.promise)(&privacy.criteria, &privacy.sensitive)?;
        let best_by = self.request.best_by(project)?;
        let mut answered = match &self.lattice {
            Some(path) => {
                // What a file turns out to hold is found out on the way.
                let at = |error: Error| match error.kind() {
                    ErrorKind::Data => error.or_at(path.display().to_string()),
                    _ => error,
                };
                let saved::OpenedLattice { lattice, privacy, content } =
                    saved::open(path, project, &self.about, &privacy, &best_by, work)?;
                let request = self.request.checked(project, &privacy, lattice.hierarchies(), lattice.n_records())?;
                let is_on_demand = self.extent.forced == Some(Extent::OnDemand) || saved::has_counts_only(&lattice);
                if self.not_extended && (is_on_demand || lattice.selection().is_none()) {
                    return Err(about_partial_lattices());
                }
                let needs_material = is_on_demand
                    || lattice.selection().is_some()
                    || lattice.n_people().is_some()
                    || depends_on_table(&request.criteria);
                let material = needs_material.then(|| content.material(project, &lattice, work)).transpose()?;
                material.iter().try_for_each(|material| material.check_promise(&request.criteria))?;
                material.iter().for_each(|material| privacy.note_trivial(material, work));
                match &material {
                    Some(material) if is_on_demand => self.on_demand(material, request, work)?,
                    _ => self.on_lattice(Arc::new(lattice), material.as_ref(), request, work).map_err(at)?,
                }
            }
            None => {
                let counted = known.count(project, &self.about.choice(&privacy), work)?;
                let n_records = counted.counts.n_records();
                let request = self.request.checked(project, &privacy, &counted.hierarchies, n_records)?;
                check_criteria(&request.criteria, counted.counts.crowd(), &counted.n_sensitive_values())?;
                counted.check_promise(&request.criteria)?;
                privacy.note_trivial(&counted, work);
                let answered = match known.for_request(&self.extent, &counted, &request, work)? {
                    Some(lattice) => self.on_lattice(lattice, Some(&counted), request, work)?,
                    None => self.on_demand(&counted, request, work)?,
                };
                answered.note_much_lost(Some(&counted), work);
                answered
            }
        };
        answered.answer = (rules.answer)(privacy.above_floors(answered.answer), &privacy.sensitive);
        answered.floors = privacy.floors;
        Ok(answered)
    }

    /// Answers from a lattice; a partial one needs the material that it was made of.
    pub fn on_lattice(
        &self,
        mut lattice: Arc<Lattice>,
        material: Option<&Material>,
        request: Request,
        work: &Work,
    ) -> Result<Negotiated> {
        let weights = material.map(Material::weights).unwrap_or_default();
        let yardstick = match (lattice.selection(), material) {
            (Some(_), Some(material)) => Some(material.yardstick(lattice.measures().iter().copied())?),
            _ => None,
        };
        let plan = yardstick.as_ref().map(|yardstick| {
            let with_entropy = lattice.entropies().is_some();
            Plan { weights: &weights, yardstick, with_entropy }
        });
        let partial = plan.as_ref().zip(material);
        if let (Some((plan, material)), false) = (partial, self.not_extended) {
            Arc::make_mut(&mut lattice).extend(&material.counts, plan, &request.level_max)?;
        }
        let (start, n_looked_at) = (Instant::now(), AtomicU64::new(0));
        let progress = |n: u64| {
            n_looked_at.fetch_add(n, Ordering::Relaxed);
        };
        let answer = work.quietly(|task| {
            let task = &Task { progress: &progress, ..*task };
            match self.as_published {
                true => negotiate_as_published_with(&lattice, &request, task),
                false => negotiate_with(&lattice, &request, task),
            }
        })?;
        let (time, n_looked_at) = (start.elapsed(), n_looked_at.into_inner());
        let without = match (&answer, self.as_published) {
            (Answer::Offers(_), false) => work.quietly(|task| without_one(&lattice, &request, task))?,
            _ => Vec::new(),
        };
        let found = match partial {
            Some((plan, material)) => {
                let proved = |task: &Task| prove(&lattice, &material.counts, plan, &request, answer.clone(), task);
                Some(work.quietly(proved)?)
            }
            None => None,
        };
        let scheme = to_explain(&answer, &request);
        if let (Some((plan, material)), true) = (partial, self.explain) {
            for neighbour in neighbours(scheme, lattice.schemes().tops()) {
                work.check()?;
                Arc::make_mut(&mut lattice).extend(&material.counts, plan, &neighbour)?;
            }
        }
        let explanation = match self.explain {
            true => Some((lattice.clone(), explain(&lattice, scheme, &request.criteria)?)),
            false => None,
        };
        lattice.intact()?;
        let mut answer = answer;
        if let Some(material) = material {
            count_people_lost(material, &mut answer)?;
        }
        let found = match found {
            Some(found) => Where::Partial(lattice, found),
            None => Where::Whole(lattice),
        };
        let floors = Criteria::default();
        Ok(Negotiated { request, floors, answer, found, explanation, without, n_looked_at, time })
    }

    /// Answers without a lattice.
    fn on_demand(&self, counted: &Material, request: Request, work: &Work) -> Result<Negotiated> {
        if self.as_published {
            return Err(Error::new(ErrorKind::TooLarge, hint("{as_published} needs a lattice")).hint(hint(
                "leave it out, choose fewer with {quasi_identifiers}, or make one with {partial} or {full}",
            )));
        }
        let start = Instant::now();
        let searched = search(counted, &request, self.time, &|| work.watch().is_enough(), work)?;
        let (time, n_looked_at) = (start.elapsed(), searched.found.n_evaluated);
        let mut answer = searched.found.answer.clone();
        count_people_lost(counted, &mut answer)?;
        let explanation = match self.explain {
            true => Some(explain_on_demand(counted, &request, &answer, work)?),
            false => None,
        };
        let (found, without) = (Where::OnDemand(searched), Vec::new());
        let floors = Criteria::default();
        Ok(Negotiated { request, floors, answer, found, explanation, without, n_looked_at, time })
    }
}

/// Attributes without which a request is met that is not met with them, the least loss first.
fn without_one(lattice: &Lattice, request: &Request, task: &Task) -> Result<Vec<(usize, Offer)>> {
    let tops = lattice.schemes().tops();
    // What may be hidden as it is has been looked at.
    let limited = (0..tops.len()).filter(|&a| request.level_max.level(a) < usize::from(tops[a]));
    let mut offers = Vec::new();
    for attribute in limited {
        let offer = negotiate_without(lattice, request, attribute, task)?;
        offers.extend(offer.map(|offer| (attribute, offer)));
    }
    offers.sort_by(|(_, a), (_, b)| a.losses.ncp.total_cmp(&b.losses.ncp));
    Ok(offers)
}

/// Says of every offer how many people would lose all of their records, where people are counted.
pub fn count_people_lost(material: &Material, answer: &mut Answer) -> Result<()> {
    if material.counts.people().is_none() {
        return Ok(());
    }
    for offer in answer.offers_mut() {
        let yardstick = material.yardstick(offer.criteria.iter().map(|criterion| criterion.measure))?;
        let (counts, hierarchies) = (&material.counts, &material.hierarchies);
        offer.n_people_lost = n_people_lost(counts, hierarchies, &offer.scheme, &yardstick, &offer.criteria)?;
    }
    Ok(())
}

fn about_partial_lattices() -> Error {
    Error::new(ErrorKind::Request, hint("{not_extended} is about partial lattices"))
        .hint(hint("leave it out, or make one with {partial=5%}"))
}

/// Of an exact answer one wants to know its own cost, of offers what the wishes themselves would cost.
pub fn to_explain<'a>(answer: &'a Answer, request: &'a Request) -> &'a Scheme {
    match answer {
        Answer::Exact(offer) => &offer.scheme,
        Answer::Offers(_) => &request.level_max,
    }
}

/// Annotates what an explanation needs and nothing else.
fn explain_on_demand(
    counted: &Material,
    request: &Request,
    answer: &Answer,
    work: &Work,
) -> Result<(Arc<Lattice>, Explanation)> {
    let none = Selection { share: 0.0, ..Selection::default() };
    let measures = request.criteria.iter().map(|criterion| criterion.measure).collect();
    let mut lattice = annotate_some(counted, measures, false, Some(none), work)?;
    let (weights, yardstick) = (counted.weights(), counted.yardstick(lattice.measures().iter().copied())?);
    let plan = Plan { weights: &weights, yardstick: &yardstick, with_entropy: false };
    let scheme = to_explain(answer, request);
    for neighbour in neighbours(scheme, lattice.schemes().tops()) {
        work.check()?;
        lattice.extend(&counted.counts, &plan, &neighbour)?;
    }
    let explanation = explain(&lattice, scheme, &request.criteria)?;
    Ok((Arc::new(lattice), explanation))
}

/// The schemes one step away: which attribute is one level coarser, or finer, and the scheme.
pub fn steps(scheme: &Scheme, tops: &[u8]) -> Vec<(usize, bool, Scheme)> {
    let of_attribute = scheme.levels().iter().zip(tops).enumerate().flat_map(|(a, (level, &top))| {
        let coarser = (level.0 < top).then(|| (a, true, scheme.with(a, Level(level.0 + 1))));
        let finer = level.0.checked_sub(1).map(|finer| (a, false, scheme.with(a, Level(finer))));
        [coarser, finer].into_iter().flatten()
    });
    of_attribute.collect()
}

/// The schemes that an explanation of one compares it with: itself, and each attribute one level coarser or hidden.
pub fn neighbours(scheme: &Scheme, tops: &[u8]) -> Vec<Scheme> {
    let levels = scheme.levels().iter().zip(tops).enumerate();
    let of_attribute = levels
        .flat_map(|(a, (level, &top))| [scheme.with(a, Level(top)), scheme.with(a, Level((level.0 + 1).min(top)))]);
    std::iter::once(scheme.clone()).chain(of_attribute).collect()
}
