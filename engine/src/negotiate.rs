//! Whether a wish can be met, and if not, what the three nearest bargains are.
//!
//! The lattice of schemes and the search over it are those of the thesis, chapter 4 (SSDBM 2012): exact where
//! that is possible, three relaxations where not. Everything is read from annotations; no record is touched.

use crate::criterion::{Criteria, Criterion};
use crate::error::{Error, ErrorKind, Result};
use crate::lattice::{Lattice, Suppression};
use crate::profile::Outcome;
use crate::scheme::{Level, Scheme};

/// What someone wishes for: at least this much privacy, at most this many records lost, at most these levels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    pub criteria: Criteria,
    pub n_suppressed_max: u64,
    /// The coarsest scheme that is still acceptable (the papers' v_max).
    pub level_max: Scheme,
}

/// The answer to a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// All wishes are met, by the best scheme that meets them.
    Exact(Offer),
    /// They cannot all be met; each offer gives up one of them.
    Offers(Offers),
}

/// Three ways out, each the best answer to a request that gives up as little as possible of one wish.
#[derive(Clone, Debug, PartialEq)]
pub struct Offers {
    /// More records are lost: the fewest that the levels allow.
    pub suppression: Offer,
    /// Levels are exceeded: the lowest height anywhere in the lattice.
    pub height: Option<Offer>,
    /// Less privacy: the greatest value that works, at least 2.
    pub privacy: Option<Offer>,
    /// With several criteria, what each alone could be lowered to; the privacy offer takes the smallest concession.
    pub privacy_alternatives: Vec<Offer>,
}

/// A scheme and what publishing it under some criteria would give.
#[derive(Clone, Debug, PartialEq)]
pub struct Offer {
    pub scheme: Scheme,
    /// The criteria that the release would satisfy.
    pub criteria: Criteria,
    pub n_suppressed: u64,
    /// Groups that would be published.
    pub n_groups: u64,
    /// The size of the smallest published group.
    pub smallest_group: Option<u64>,
    /// The fewest distinct sensitive values of a published group.
    pub fewest_distinct: Option<u32>,
    /// Mean loss, see [`crate::loss`].
    pub ncp: f64,
}

impl Request {
    /// Refuses what has no meaning on this table; an impossible wish is not refused, it gets offers.
    pub fn check(&self, lattice: &Lattice) -> Result<()> {
        check_criteria(self.criteria, lattice.n_records(), lattice.n_sensitive())?;
        if self.n_suppressed_max > lattice.n_records() {
            return Err(wrong(format!("at most {} records can be suppressed, there are no more", lattice.n_records()))
                .hint("give --max-suppressed as a number of records or as a percentage, such as 1%"));
        }
        for (hierarchy, level) in lattice.hierarchies().iter().zip(self.level_max.levels()) {
            if usize::from(level.0) > hierarchy.top() {
                return Err(wrong(format!(
                    "attribute '{}' has levels 0 to {}, not {}",
                    hierarchy.attribute(),
                    hierarchy.top(),
                    level.0
                ))
                .hint(format!("see them with: incrowd hierarchy show {}", hierarchy.attribute())));
            }
        }
        Ok(())
    }
}

/// Refuses values of criteria that no table of this size can be asked for.
pub fn check_criteria(criteria: Criteria, n_records: u64, n_sensitive: usize) -> Result<()> {
    if criteria.is_empty() {
        return Err(wrong("no privacy is asked for").hint("give --k or --l, or set them under [request]"));
    }
    if let Some(k) = criteria.k {
        if k == 0 {
            return Err(wrong("k must be at least 1").hint("k = 2 is the least that hides anyone"));
        }
        if k > n_records {
            return Err(wrong(format!("k = {k} is larger than the table, which has {n_records} records"))
                .hint("no group can have more records than there are"));
        }
    }
    if let Some(l) = criteria.l {
        if n_sensitive == 0 {
            return Err(wrong("l needs a sensitive attribute, and the project names none")
                .hint("give one attribute role = \"sensitive\" in incrowd.toml"));
        }
        if l == 0 {
            return Err(wrong("l must be at least 1").hint("l = 2 is the least that hides a sensitive value"));
        }
        if l > n_sensitive as u64 {
            return Err(wrong(format!(
                "l = {l} is larger than the {n_sensitive} distinct values of the sensitive attribute"
            ))
            .hint("no group can have more distinct values than the table"));
        }
    }
    Ok(())
}

fn wrong(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Request, message)
}

/// Answers a request.
///
/// Best means: the lowest height, then the fewest suppressed records, then the smallest level vector in the
/// order of attributes.
///
/// # Guarantee
/// An exact answer is the best of all schemes within the levels that suppress no more than asked.
/// Each offer is the exact answer to its relaxed request, and no smaller relaxation of that wish has one:
/// not fewer records within the levels, not a lower height anywhere in the lattice, not a greater value of
/// the criterion that is lowered.
pub fn negotiate(lattice: &Lattice, request: &Request) -> Result<Answer> {
    request.check(lattice)?;
    if let Some(offer) = best_within(lattice, request) {
        return Ok(Answer::Exact(offer));
    }
    let privacy_alternatives = relax_privacy(lattice, request);
    Ok(Answer::Offers(Offers {
        suppression: relax_suppression(lattice, request),
        height: relax_height(lattice, request),
        privacy: privacy_alternatives.first().cloned(),
        privacy_alternatives,
    }))
}

/// The best scheme within the levels of a request that satisfies all of it.
fn best_within(lattice: &Lattice, request: &Request) -> Option<Offer> {
    if !may_be_possible(lattice, request) {
        return None;
    }
    let suppression = lattice.suppression(request.criteria);
    lowest(lattice, &suppression, request.n_suppressed_max, Some(&request.level_max))
        .map(|place| offer(lattice, place, request.criteria))
}

/// False where one look proves that nothing within the levels satisfies the request.
fn may_be_possible(lattice: &Lattice, request: &Request) -> bool {
    // Under monotone criteria nothing below the coarsest acceptable scheme suppresses less than it does.
    let is_monotone = request.criteria.iter().all(Criterion::is_monotone);
    let top_place = lattice.schemes().place(&request.level_max);
    !is_monotone || lattice.n_suppressed(top_place, request.criteria) <= request.n_suppressed_max
}

/// The place of the best scheme that suppresses at most `n_max` records.
fn lowest(lattice: &Lattice, suppression: &Suppression, n_max: u64, within: Option<&Scheme>) -> Option<usize> {
    let height_max = within.map_or(lattice.schemes().n_heights() - 1, |scheme| scheme.height() as usize);
    let bound: Option<Vec<u8>> = within.map(|scheme| scheme.levels().iter().map(|level| level.0).collect());
    let mut candidates = Vec::new();
    (0..=height_max)
        .filter(|&height| suppression.floor(height) <= n_max)
        .find_map(|height| best_of_height(lattice, suppression, n_max, bound.as_deref(), height, &mut candidates))
}

fn best_of_height(
    lattice: &Lattice,
    suppression: &Suppression,
    n_max: u64,
    bound: Option<&[u8]>,
    height: usize,
    candidates: &mut Vec<(u64, usize, bool)>,
) -> Option<usize> {
    let schemes = lattice.schemes();
    let is_within = |place: usize| {
        let fits = |bound: &[u8]| schemes.vector(place).iter().zip(bound).all(|(level, most)| level <= most);
        bound.is_none_or(fits)
    };
    candidates.clear();
    for place in schemes.at_height(height) {
        let (least, most) = suppression.bounds(place);
        if least <= n_max && is_within(place) {
            candidates.push((least, place, least == most));
        }
    }
    // From the most promising on, so that few have to be looked at closely.
    candidates.sort_unstable();
    let mut best: Option<(u64, usize)> = None;
    for &(least, place, is_exact) in candidates.iter() {
        if best.is_some_and(|best| best < (least, place)) {
            if best.is_some_and(|(n_suppressed, _)| n_suppressed < least) {
                break;
            }
            continue;
        }
        let n_suppressed = if is_exact { least } else { suppression.exact(place) };
        if n_suppressed <= n_max && best.is_none_or(|best| (n_suppressed, place) < best) {
            best = Some((n_suppressed, place));
        }
    }
    best.map(|(_, place)| place)
}

fn relax_suppression(lattice: &Lattice, request: &Request) -> Offer {
    let suppression = lattice.suppression(request.criteria);
    let top_place = lattice.schemes().place(&request.level_max);
    let is_monotone = request.criteria.iter().all(Criterion::is_monotone);
    let n_least = if is_monotone {
        suppression.exact(top_place)
    } else {
        let schemes = lattice.schemes();
        (0..schemes.len())
            .filter(|&place| schemes.scheme(place).is_below(&request.level_max))
            .map(|place| suppression.exact(place))
            .min()
            .expect("the coarsest acceptable scheme is among them")
    };
    let place =
        lowest(lattice, &suppression, n_least, Some(&request.level_max)).expect("one scheme suppresses the least");
    offer(lattice, place, request.criteria)
}

fn relax_height(lattice: &Lattice, request: &Request) -> Option<Offer> {
    let suppression = lattice.suppression(request.criteria);
    lowest(lattice, &suppression, request.n_suppressed_max, None).map(|place| offer(lattice, place, request.criteria))
}

/// What each criterion alone could be lowered to, the smallest concession first.
fn relax_privacy(lattice: &Lattice, request: &Request) -> Vec<Offer> {
    let mut alternatives: Vec<(f64, Offer)> = request
        .criteria
        .iter()
        .filter_map(|criterion| {
            let (value, offer) = lower(lattice, request, criterion)?;
            Some((value as f64 / criterion.value() as f64, offer))
        })
        .collect();
    // Relative to what was asked; the earlier criterion where they tie.
    alternatives.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    alternatives.into_iter().map(|(_, offer)| offer).collect()
}

/// The greatest value of one criterion, at least 2 and less than asked, that has an exact answer.
fn lower(lattice: &Lattice, request: &Request, criterion: Criterion) -> Option<(u64, Offer)> {
    let relaxed =
        |value: u64| Request { criteria: request.criteria.with(criterion.with_value(value)), ..request.clone() };
    let is_monotone = request.criteria.iter().all(Criterion::is_monotone);
    let works = |value: u64| {
        let request = relaxed(value);
        may_be_possible(lattice, &request) && (is_monotone || best_within(lattice, &request).is_some())
    };
    // Records suppressed at a scheme never shrink as the value grows, so the values that work are 2 … some value.
    let (mut working, mut failing) = (1, criterion.value());
    while failing > working + 1 {
        let middle = working + (failing - working) / 2;
        if works(middle) { working = middle } else { failing = middle }
    }
    (working >= 2).then(|| (working, best_within(lattice, &relaxed(working)).expect("it works")))
}

fn offer(lattice: &Lattice, place: usize, criteria: Criteria) -> Offer {
    Offer::new(lattice.schemes().scheme(place), criteria, lattice.profile(place).outcome(criteria))
}

impl Offer {
    pub fn new(scheme: Scheme, criteria: Criteria, outcome: Outcome) -> Offer {
        Offer {
            scheme,
            criteria,
            n_suppressed: outcome.n_suppressed,
            n_groups: outcome.n_groups,
            smallest_group: outcome.smallest_group,
            fewest_distinct: outcome.fewest_distinct,
            ncp: outcome.ncp,
        }
    }
}

/// What one particular scheme would give, whether or not it meets anyone's wishes.
pub fn offer_of(lattice: &Lattice, scheme: &Scheme, criteria: Criteria) -> Offer {
    offer(lattice, lattice.schemes().place(scheme), criteria)
}

/// The answer that the published algorithm gives (thesis, Figures 4.3–4.8), for comparison.
///
/// It differs from [`negotiate`] in the height offer: the binary search starts at the height of the coarsest
/// acceptable scheme, so a satisfying scheme that lies lower but outside the acceptable levels is missed.
pub fn negotiate_as_published(lattice: &Lattice, request: &Request) -> Result<Answer> {
    let answer = negotiate(lattice, request)?;
    Ok(match answer {
        Answer::Exact(_) => answer,
        Answer::Offers(offers) => {
            Answer::Offers(Offers { height: relax_height_as_published(lattice, request), ..offers })
        }
    })
}

fn relax_height_as_published(lattice: &Lattice, request: &Request) -> Option<Offer> {
    let schemes = lattice.schemes();
    let suppression = lattice.suppression(request.criteria);
    let satisfies = |&place: &usize| suppression.exact(place) <= request.n_suppressed_max;
    let (mut low, mut high) = (request.level_max.height() as usize, schemes.n_heights() - 1);
    let mut lowest_height = None;
    while low <= high {
        let middle = (low + high) / 2;
        if schemes.at_height(middle).any(|place| satisfies(&place)) {
            lowest_height = Some(middle);
            if middle == 0 {
                break;
            }
            high = middle - 1;
        } else {
            low = middle + 1;
        }
    }
    let place = schemes.at_height(lowest_height?).filter(satisfies).min_by_key(|&place| suppression.exact(place))?;
    Some(offer(lattice, place, request.criteria))
}

/// Why a scheme suppresses what it does.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    pub scheme: Scheme,
    pub n_suppressed: u64,
    /// Records in groups of each size, smallest first, with whether they are published.
    pub by_size: Vec<SizeShare>,
    /// What each attribute contributes, in the order of attributes.
    pub by_attribute: Vec<Contribution>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeShare {
    pub size: u64,
    pub n_records: u64,
    pub n_suppressed: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contribution {
    pub attribute: usize,
    pub level: Level,
    /// Records that would not be suppressed if this attribute were `*`: how much of the loss it causes.
    pub n_caused: u64,
    /// Records that one more level would save; none at the top.
    pub n_saved_by_next: Option<u64>,
}

/// Explains a scheme's suppression, from annotations.
pub fn explain(lattice: &Lattice, scheme: &Scheme, criteria: Criteria) -> Explanation {
    let schemes = lattice.schemes();
    let profile = lattice.profile(schemes.place(scheme));
    let n_suppressed = profile.n_suppressed(criteria);
    let at = |scheme: &Scheme| lattice.n_suppressed(schemes.place(scheme), criteria);
    let mut by_size: Vec<SizeShare> = Vec::new();
    for entry in profile.entries() {
        let n_records = entry.n_records();
        let lost = if criteria.holds(entry.group()) { 0 } else { n_records };
        match by_size.last_mut() {
            Some(last) if last.size == entry.size => {
                last.n_records += n_records;
                last.n_suppressed += lost;
            }
            _ => by_size.push(SizeShare { size: entry.size, n_records, n_suppressed: lost }),
        }
    }
    let by_attribute = scheme
        .levels()
        .iter()
        .enumerate()
        .map(|(attribute, &level)| {
            let top = Level(schemes.tops()[attribute]);
            let next = (level < top).then(|| scheme.with(attribute, Level(level.0 + 1)));
            Contribution {
                attribute,
                level,
                n_caused: n_suppressed.saturating_sub(at(&scheme.with(attribute, top))),
                n_saved_by_next: next.map(|next| n_suppressed.saturating_sub(at(&next))),
            }
        })
        .collect();
    Explanation { scheme: scheme.clone(), n_suppressed, by_size, by_attribute }
}
