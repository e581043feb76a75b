//! Whether a request can be met, and if not, what the three nearest offers are.
//!
//! The lattice of schemes and the search over it are those of the thesis, chapter 4 (SSDBM 2012): exact where
//! that is possible, three relaxations where not. Everything is read from annotations; no record is touched.

use super::explain::place_of;
use super::request::Request;
use crate::criterion::{Criteria, Criterion, Measure, Measured, Test};
use crate::error::Result;
use crate::lattice::profile::Outcome;
use crate::lattice::{Lattice, Suppression};
use crate::quality::Losses;
use crate::scheme::{Level, Scheme};
use crate::task::Task;

/// The answer to a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The request is met, by the best scheme that meets them.
    Exact(Offer),
    /// They cannot all be met; each offer gives up one of them.
    Offers(Offers),
}

/// Three ways out, each the best answer to a request that gives up as little as possible of one wish.
#[derive(Clone, Debug, PartialEq)]
pub struct Offers {
    /// More records are lost: the fewest that the levels allow.
    pub suppression: Offer,
    /// Levels are exceeded: the best anywhere in the lattice; by height it is the lowest.
    pub height: Option<Offer>,
    /// Less privacy: the strictest value that works, see [`Measure::weakest`].
    pub privacy: Option<Offer>,
    /// With several criteria, what each alone could be relaxed to; the privacy offer takes the smallest concession.
    pub privacy_alternatives: Vec<Offer>,
}

impl Answer {
    /// All offers of the answer, to be completed.
    pub fn offers_mut(&mut self) -> Vec<&mut Offer> {
        match self {
            Answer::Exact(offer) => vec![offer],
            Answer::Offers(offers) => {
                let Offers { suppression, height, privacy, privacy_alternatives } = offers;
                [suppression].into_iter().chain(height).chain(privacy).chain(privacy_alternatives).collect()
            }
        }
    }
}

/// A scheme and what publishing it under some criteria would give.
#[derive(Clone, Debug, PartialEq)]
pub struct Offer {
    /// The levels that are published.
    pub scheme: Scheme,
    /// The criteria that the release would satisfy.
    pub criteria: Criteria,
    /// How many records are lost.
    pub n_suppressed: u64,
    /// How many people lose all of their records, where people are counted and somebody has looked: annotations do not
    /// say whose records they are.
    pub n_people_lost: Option<u64>,
    /// Groups that would be published.
    pub n_groups: u64,
    /// What was measured, with the least private value of a published group; empty when all is suppressed.
    pub reached: Vec<(Measure, u64)>,
    /// What is lost of the values, by every quality function.
    pub losses: Losses,
}

/// Answers a request.
///
/// Best means: the least loss by the request's ranking, then the lowest height, then the fewest suppressed records,
/// then the smallest level vector in the order of attributes.
///
/// # Guarantee
/// An exact answer is the best of all schemes within the levels that suppress no more than asked.
/// Each offer is the exact answer to its relaxed request, and no smaller relaxation of that wish has one:
/// not fewer records within the levels, not a better scheme anywhere in the lattice, not a stricter value of
/// the criterion that is relaxed. This holds for criteria that are not monotone too: nothing is skipped that was not
/// proved to fail.
///
/// On a partial lattice all this holds among the schemes that are annotated; [`crate::search::partial::prove`] tells what
/// holds among all.
///
/// # Errors
/// Where the request has no meaning on this lattice, or the lattice turns out to be damaged.
pub fn negotiate(lattice: &Lattice, request: &Request) -> Result<Answer> {
    negotiate_with(lattice, request, &Task::default())
}

/// The same as work that somebody may stop: over millions of schemes, some rankings take seconds.
///
/// Tells the task's `progress` of every scheme whose records are counted up, once per question that it is looked at for;
/// what a look at a column of the grid rules out is not told.
///
/// # Errors
/// As for [`negotiate`], and where somebody has stopped it.
pub fn negotiate_with(lattice: &Lattice, request: &Request, task: &Task) -> Result<Answer> {
    request.check(lattice)?;
    if let Some(offer) = best_within(lattice, request, task)? {
        lattice.intact()?;
        return Ok(Answer::Exact(offer));
    }
    let privacy_alternatives = relax_privacy(lattice, request, task)?;
    let offers = Answer::Offers(Offers {
        suppression: relax_suppression(lattice, request, task)?,
        height: relax_height(lattice, request, task)?,
        privacy: privacy_alternatives.first().cloned(),
        privacy_alternatives,
    });
    // A lattice that was opened from a file may have turned out to be damaged.
    lattice.intact()?;
    Ok(offers)
}

/// The best scheme within the levels of a request that satisfies all of it.
fn best_within(lattice: &Lattice, request: &Request, task: &Task) -> Result<Option<Offer>> {
    (task.progress)(u64::from(decisive(lattice, request).is_some()));
    if !may_be_possible(lattice, request) {
        return Ok(None);
    }
    let suppression = lattice.suppression(&request.criteria);
    let place = best(lattice, &suppression, request, request.n_suppressed_max, Some(&request.level_max), task)?;
    Ok(place.map(|place| offer(lattice, place, &request.criteria)))
}

/// What meets a request once an attribute is left out: the best scheme that hides it and keeps to the levels of the others.
///
/// None where nothing does. An attribute that may be hidden as it is has no such offer where the request has no exact
/// answer.
///
/// # Errors
/// As for [`negotiate_with`].
pub fn negotiate_without(lattice: &Lattice, request: &Request, attribute: usize, task: &Task) -> Result<Option<Offer>> {
    let hidden = Level(lattice.schemes().tops()[attribute]);
    let level_max = request.level_max.with(attribute, hidden);
    let request = Request { level_max, ..request.clone() };
    request.check(lattice)?;
    if !may_be_possible(lattice, &request) {
        return Ok(None);
    }
    let suppression = lattice.suppression(&request.criteria);
    let is_within = within_levels(lattice, Some(&request.level_max));
    let mut ranked = Ranked { lattice, request: &request, n_max: request.n_suppressed_max, least: None, task };
    let promising = suppression.promising(0..lattice.schemes().len(), request.n_suppressed_max);
    for place in promising.filter(is_within).filter(|&place| lattice.schemes().vector(place)[attribute] == hidden.0) {
        task.go_on()?;
        ranked.look_at(place);
    }
    let offer = ranked.least.map(|(_, place, _)| offer(lattice, place, &request.criteria));
    lattice.intact()?;
    Ok(offer)
}

/// False where one look at a scheme proves that nothing within the levels satisfies the request.
fn may_be_possible(lattice: &Lattice, request: &Request) -> bool {
    decisive(lattice, request)
        .is_none_or(|place| lattice.n_suppressed(place, &request.criteria) <= request.n_suppressed_max)
}

/// The place of the coarsest acceptable scheme, where it decides: under monotone criteria nothing below it suppresses
/// less than it does. A partial lattice may not have it.
pub(super) fn decisive(lattice: &Lattice, request: &Request) -> Option<usize> {
    lattice.schemes().find(&request.level_max).filter(|_| request.criteria.is_monotone(lattice.n_people().is_some()))
}

/// The place of the best scheme that suppresses at most `n_max` records.
fn best(
    lattice: &Lattice,
    suppression: &Suppression,
    request: &Request,
    n_max: u64,
    within: Option<&Scheme>,
    task: &Task,
) -> Result<Option<usize>> {
    if request.best_by.is_height() {
        return lowest(lattice, suppression, n_max, within, task);
    }
    let mut ranked = Ranked { lattice, request, n_max, least: None, task };
    let is_within = within_levels(lattice, within);
    match lattice.by_loss().filter(|_| request.best_by.is_ncp()) {
        Some(floors) => {
            for (i, floor) in floors.iter().enumerate() {
                task.go_on_now_and_then(i, N_BETWEEN)?;
                let place = floor.place as usize;
                // Nothing that comes later loses less.
                if ranked.least.is_some_and(|(loss, ..)| floor.ncp > loss) {
                    break;
                }
                if suppression.is_promising(place, n_max) && is_within(&place) {
                    ranked.look_at(place);
                }
            }
        }
        None => {
            let promising = suppression.promising(0..lattice.schemes().len(), n_max);
            for place in promising.filter(is_within) {
                task.go_on()?;
                ranked.look_at(place);
            }
        }
    }
    Ok(ranked.least.map(|(_, place, _)| place))
}

/// Schemes that are hardly looked at, between two questions whether the answer is still wanted.
pub(super) const N_BETWEEN: usize = 256;

/// The best of the schemes that were looked at.
struct Ranked<'a> {
    lattice: &'a Lattice,
    request: &'a Request,
    n_max: u64,
    /// Its loss, its place, and how many records it suppresses.
    least: Option<(f64, usize, u64)>,
    /// Told of every scheme that is looked at.
    task: &'a Task<'a>,
}

impl Ranked<'_> {
    fn look_at(&mut self, place: usize) {
        (self.task.progress)(1);
        let outcome = self.lattice.outcome(place, &self.request.criteria);
        if outcome.n_suppressed > self.n_max {
            return;
        }
        let loss = self.request.best_by.loss(self.lattice, place, &outcome);
        let height = |place: usize| self.lattice.schemes().scheme(place).height();
        let is_better = self.least.is_none_or(|(known, at, n_suppressed)| {
            let by_height = || height(place).cmp(&height(at));
            let by_loss = loss.total_cmp(&known).then_with(by_height);
            // Places of one height are in the order of levels.
            by_loss.then(outcome.n_suppressed.cmp(&n_suppressed)).then(place.cmp(&at)).is_lt()
        });
        if is_better {
            self.least = Some((loss, place, outcome.n_suppressed));
        }
    }
}

/// The places of all schemes within some levels, by height.
fn places_within<'a>(lattice: &'a Lattice, within: Option<&Scheme>) -> impl DoubleEndedIterator<Item = usize> + 'a {
    (0..lattice.schemes().len()).filter(within_levels(lattice, within))
}

/// Whether a place is within some levels.
pub(super) fn within_levels<'a>(lattice: &'a Lattice, within: Option<&Scheme>) -> impl Fn(&usize) -> bool + 'a {
    let schemes = lattice.schemes();
    let bound: Option<Vec<u8>> = within.map(|scheme| scheme.levels().iter().map(|level| level.0).collect());
    move |place: &usize| {
        bound.as_ref().is_none_or(|bound| schemes.vector(*place).iter().zip(bound).all(|(level, most)| level <= most))
    }
}

/// The place of the lowest scheme that suppresses at most `n_max` records.
fn lowest(
    lattice: &Lattice,
    suppression: &Suppression,
    n_max: u64,
    within: Option<&Scheme>,
    task: &Task,
) -> Result<Option<usize>> {
    let height_max = within.map_or(lattice.schemes().n_heights() - 1, |scheme| scheme.height() as usize);
    let is_within = within_levels(lattice, within);
    let mut candidates = Vec::new();
    for height in (0..=height_max).filter(|&height| suppression.floor(height) <= n_max) {
        let found = best_of_height(lattice, suppression, n_max, &is_within, height, &mut candidates, task)?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

fn best_of_height(
    lattice: &Lattice,
    suppression: &Suppression,
    n_max: u64,
    is_within: &impl Fn(&usize) -> bool,
    height: usize,
    candidates: &mut Vec<(u64, usize, bool)>,
    task: &Task,
) -> Result<Option<usize>> {
    task.go_on()?;
    candidates.clear();
    for place in suppression.promising(lattice.schemes().at_height(height), n_max).filter(is_within) {
        let (least, most) = suppression.bounds(place);
        candidates.push((least, place, least == most));
    }
    // From the most promising on, so that few have to be looked at closely.
    candidates.sort_unstable();
    let mut best: Option<(u64, usize)> = None;
    for (i, &(least, place, is_exact)) in candidates.iter().enumerate() {
        task.go_on_now_and_then(i, N_BETWEEN)?;
        if best.is_some_and(|best| best < (least, place)) {
            if best.is_some_and(|(n_suppressed, _)| n_suppressed < least) {
                break;
            }
            continue;
        }
        (task.progress)(1);
        let n_most = best.map_or(n_max, |(n_suppressed, _)| n_suppressed);
        let n_suppressed = if is_exact { Some(least) } else { suppression.exact_up_to(place, n_most) };
        if let Some(n) = n_suppressed.filter(|n| *n <= n_max && best.is_none_or(|best| (*n, place) < best)) {
            best = Some((n, place));
        }
    }
    Ok(best.map(|(_, place)| place))
}

fn relax_suppression(lattice: &Lattice, request: &Request, task: &Task) -> Result<Offer> {
    let suppression = lattice.suppression(&request.criteria);
    let n_least = match decisive(lattice, request) {
        Some(place) => {
            (task.progress)(1);
            suppression.exact(place)
        }
        // From the top: coarse schemes have few groups to look at, and mostly suppress less.
        None => {
            let mut n_least = u64::MAX;
            for (i, place) in places_within(lattice, Some(&request.level_max)).rev().enumerate() {
                task.go_on_now_and_then(i, N_BETWEEN)?;
                if suppression.bounds(place).0 < n_least {
                    (task.progress)(1);
                    n_least = suppression.exact_up_to(place, n_least).unwrap_or(n_least);
                }
            }
            n_least
        }
    };
    let place = best(lattice, &suppression, request, n_least, Some(&request.level_max), task)?;
    lattice.intact()?;
    Ok(offer(lattice, place.expect("one scheme suppresses the least"), &request.criteria))
}

fn relax_height(lattice: &Lattice, request: &Request, task: &Task) -> Result<Option<Offer>> {
    let suppression = lattice.suppression(&request.criteria);
    let place = best(lattice, &suppression, request, request.n_suppressed_max, None, task)?;
    Ok(place.map(|place| offer(lattice, place, &request.criteria)))
}

/// What each criterion alone could be relaxed to, the smallest concession first.
fn relax_privacy(lattice: &Lattice, request: &Request, task: &Task) -> Result<Vec<Offer>> {
    smallest_concession_first(request, |criterion| relax(lattice, request, criterion, task))
}

/// What relaxing each criterion of a request gives, relative to what was asked; the earlier criterion where they tie.
pub(super) fn smallest_concession_first(
    request: &Request,
    relax: impl Fn(Criterion) -> Result<Option<(u64, Offer)>>,
) -> Result<Vec<Offer>> {
    let mut alternatives: Vec<(f64, Offer)> = request
        .criteria
        .iter()
        .filter_map(|criterion| {
            let relaxed = relax(criterion).transpose()?;
            Some(relaxed.map(|(value, offer)| (criterion.share_left(value), offer)))
        })
        .collect::<Result<_>>()?;
    alternatives.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    Ok(alternatives.into_iter().map(|(_, offer)| offer).collect())
}

/// The strictest value of one criterion, weaker than asked, that has an exact answer.
fn relax(lattice: &Lattice, request: &Request, criterion: Criterion, task: &Task) -> Result<Option<(u64, Offer)>> {
    let relaxed =
        |value: u64| Request { criteria: request.criteria.with(criterion.with_value(value)), ..request.clone() };
    let measure = criterion.measure;
    let Some(weakest) = weakest_of(lattice, criterion) else { return Ok(None) };
    let strictest = match decisive(lattice, request) {
        Some(place) => {
            (task.progress)(1);
            strictest_of(&mut Relaxed::new(lattice, request, measure), place, weakest, criterion.value)
        }
        None => strictest_of_any(lattice, request, criterion, weakest, task)?,
    };
    let Some(value) = strictest else { return Ok(None) };
    let offer = best_within(lattice, &relaxed(value), task)?;
    lattice.intact()?;
    Ok(Some((value, offer.expect("it works"))))
}

/// The weakest value that a criterion can be relaxed to; none where it is no weaker than what was asked for.
pub(super) fn weakest_of(lattice: &Lattice, criterion: Criterion) -> Option<u64> {
    let measure = criterion.measure;
    // Beyond the greatest value that a group has, nothing changes any more.
    let weakest = match measure.is_at_least() {
        true => measure.weakest(),
        false => measure.weakest().min(lattice.greatest(measure)),
    };
    (!criterion.holds(weakest)).then_some(weakest)
}

/// Schemes asked whether they satisfy a request in which one measure is asked another value.
pub(super) struct Relaxed<'a> {
    lattice: &'a Lattice,
    test: Test<'a>,
    measure: Measure,
    n_max: u64,
}

impl<'a> Relaxed<'a> {
    pub(super) fn new(lattice: &'a Lattice, request: &Request, measure: Measure) -> Relaxed<'a> {
        let test = lattice.signatures().test(&request.criteria);
        Relaxed { lattice, test, measure, n_max: request.n_suppressed_max }
    }

    fn is_possible(&mut self, place: usize, value: u64) -> bool {
        self.test.set(self.measure, value);
        let profile = self.lattice.profile(place);
        profile.n_suppressed_up_to(self.lattice.signatures(), &self.test, self.n_max).is_some()
    }
}

/// The strictest value at which one scheme satisfies a request, from the weakest to one that it is known to fail at; none
/// where not even the weakest does.
pub(super) fn strictest_of(relaxed: &mut Relaxed, place: usize, weakest: u64, failing: u64) -> Option<u64> {
    if !relaxed.is_possible(place, weakest) {
        return None;
    }
    // Records suppressed at a scheme never grow as the value gets weaker, so all values from some one on work.
    let (mut working, mut failing) = (weakest, failing);
    while working.abs_diff(failing) > 1 {
        let middle = working.min(failing) + working.abs_diff(failing) / 2;
        if relaxed.is_possible(place, middle) { working = middle } else { failing = middle }
    }
    Some(working)
}

/// The same over all schemes within the levels of a request, all of which fail at the value asked for.
///
/// Each is asked once whether it is any better than what is known; few are.
fn strictest_of_any(
    lattice: &Lattice,
    request: &Request,
    criterion: Criterion,
    weakest: u64,
    task: &Task,
) -> Result<Option<u64>> {
    let mut relaxed = Relaxed::new(lattice, request, criterion.measure);
    let suppression_at = |value: u64| lattice.suppression(&request.criteria.with(criterion.with_value(value)));
    let (mut strictest, mut to_reach) = (None, weakest);
    let mut suppression = suppression_at(to_reach);
    // From the top: coarse schemes have few groups to look at, and mostly suppress less.
    for (i, place) in places_within(lattice, Some(&request.level_max)).rev().enumerate() {
        task.go_on_now_and_then(i, N_BETWEEN)?;
        if !suppression.is_promising(place, request.n_suppressed_max) {
            continue;
        }
        (task.progress)(1);
        let Some(value) = strictest_of(&mut relaxed, place, to_reach, criterion.value) else { continue };
        strictest = Some(value);
        if value.abs_diff(criterion.value) <= 1 {
            break;
        }
        to_reach = if value < criterion.value { value + 1 } else { value - 1 };
        suppression = suppression_at(to_reach);
    }
    Ok(strictest)
}

pub(super) fn offer(lattice: &Lattice, place: usize, criteria: &Criteria) -> Offer {
    let outcome = lattice.outcome(place, criteria);
    let losses = lattice.losses(place, &outcome);
    Offer::new(lattice.schemes().scheme(place), criteria.clone(), lattice.signatures(), outcome, losses)
}

impl Offer {
    /// `measured` are the signatures or groups that the outcome is about.
    pub fn new(scheme: Scheme, criteria: Criteria, measured: &Measured, outcome: Outcome, losses: Losses) -> Offer {
        let measures = measured.measures().iter().copied();
        Offer {
            scheme,
            criteria,
            n_suppressed: outcome.n_suppressed,
            n_people_lost: None,
            n_groups: outcome.n_groups,
            reached: measures.zip(outcome.reached.unwrap_or_default()).collect(),
            losses,
        }
    }

    /// The least private value of a measure among published groups.
    pub fn reached(&self, measure: Measure) -> Option<u64> {
        self.reached.iter().find(|(known, _)| *known == measure).map(|(_, value)| *value)
    }

    /// The size of the smallest published group.
    pub fn smallest_group(&self) -> Option<u64> {
        self.reached(Measure::Size)
    }

    /// The fewest distinct values of the first sensitive attribute in a published group.
    pub fn fewest_distinct(&self) -> Option<u64> {
        self.reached(Measure::Distinct(0))
    }
}

/// What one particular scheme would give, whether or not it meets anyone's wishes.
///
/// # Errors
/// Where the lattice has no such scheme, or was annotated without one of the criteria.
pub fn offer_of(lattice: &Lattice, scheme: &Scheme, criteria: &Criteria) -> Result<Offer> {
    lattice.check_measured(criteria)?;
    Ok(offer(lattice, place_of(lattice, scheme)?, criteria))
}
