//! Answers without a lattice: schemes are evaluated when the search needs them, so that their number hardly matters.
//!
//! The search goes from the least loss that a scheme could possibly have to the greatest, and is over when nothing that
//! is left could beat what was found. What is left is little: under monotone criteria a scheme that suppresses too much
//! proves the same of everything finer, and coarse schemes, which have few groups, prove it of very many.

use rustc_hash::FxHashMap;

use crate::counts::GroupCounts;
use crate::criterion::{Criteria, Criterion, MILLION, Measure};
use crate::error::Result;
use crate::hierarchy::Hierarchy;
use crate::lattice::Plan;
use crate::lattice::divide::Divider;
use crate::lattice::evaluate::Seen;
use crate::lattice::profile::Outcome;
use crate::lattice::roller::Annotation;
use crate::lattice::size::check_table;
use crate::loss::{Entropies, Penalties};
use crate::quality::At;
use crate::scheme::{Level, Scheme, height_of};
use crate::search::bounds::{Failing, Floors, Working};
use crate::search::climb::{Climb, Ground, Spot};
use crate::search::negotiate::{Answer, Offer, Offers};
use crate::search::request::{Request, check_criteria, check_levels};
use crate::task::{SearchProgress, Task};

/// An answer, and how sure it is.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundAnswer {
    /// What was found.
    pub answer: Answer,
    /// That the request cannot be met is proved; always so where the answer is exact or criteria are monotone.
    pub is_decided: bool,
    /// Of the exact answer, or of the offers for suppression, height and privacy (and its alternatives) in this order.
    pub proofs: Vec<Proof>,
    /// How many schemes were looked at.
    pub n_evaluated: u64,
}

impl FoundAnswer {
    /// Whether the answer is the one that the whole lattice would give.
    pub fn is_proved(&self) -> bool {
        self.is_decided && self.proofs.iter().all(|proof| proof.is_optimal)
    }
}

/// What is proved about one offer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Proof {
    /// Whether it is the offer that the whole lattice would give.
    pub is_optimal: bool,
    /// No scheme that gives up as little loses less than this, by the request's ranking.
    pub loss_at_least: f64,
}

/// Answers a request, evaluating as few schemes as it can.
///
/// # Guarantee
/// Where everything is proved, the answer is that of [`negotiate`](crate::negotiate()) on the whole lattice, offers
/// included, for criteria that are monotone or not. Where the task ended the search (memory, or [`Task::is_enough`]), every offer keeps what it
/// says, and no scheme that gives up as little loses less than its proof says.
///
/// # Errors
/// Where hierarchies, weights or the request do not fit the counts, or the task was cancelled.
pub fn negotiate_on_demand(
    counts: &GroupCounts,
    hierarchies: &[Hierarchy],
    plan: &Plan,
    request: &Request,
    task: &Task,
) -> Result<FoundAnswer> {
    counts.check_hierarchies(hierarchies)?;
    let n_values: Vec<usize> = counts.sensitive().iter().map(|domain| domain.len()).collect();
    check_criteria(&request.criteria, counts.crowd(), &n_values)?;
    check_levels(request, hierarchies, counts.n_records())?;
    check_table(counts, hierarchies)?;
    let penalties = Penalties::new(hierarchies, plan.weights)?;
    let needs_entropy = plan.with_entropy || request.best_by.needs_entropy();
    let entropies = needs_entropy.then(|| Entropies::new(counts, hierarchies));
    let wanted = Annotation { yardstick: plan.yardstick, penalties: &penalties, entropies: entropies.as_ref() };
    let floors = Floors::new(counts, hierarchies, &penalties, entropies.as_ref(), &request.best_by);
    let tops: Vec<u8> = hierarchies.iter().map(|hierarchy| hierarchy.top() as u8).collect();
    let divider = Divider::new(counts, hierarchies, &wanted, task.n_bytes_max / 2);
    let searched = Searched {
        tops: &tops,
        n_records: counts.n_records(),
        entropies: entropies.as_ref(),
        measures: plan.yardstick.measures(),
        is_over_people: plan.yardstick.is_over_people(),
        floors: &floors,
        request,
        task,
    };
    let mut desk = Desk { divider, n_evaluated: 0, is_stopped: false, n_known: 0 };
    let found = searched.negotiate(&mut desk);
    task.go_on()?;
    Ok(found)
}

/// What is asked, and of what.
struct Searched<'a> {
    tops: &'a [u8],
    n_records: u64,
    entropies: Option<&'a Entropies>,
    is_over_people: bool,
    measures: &'a [Measure],
    floors: &'a Floors,
    request: &'a Request,
    task: &'a Task<'a>,
}

/// What the search works with.
struct Desk<'a> {
    divider: Divider<'a>,
    n_evaluated: u64,
    /// Memory, time or somebody has ended the search.
    is_stopped: bool,
    /// How many schemes are known, in all searches.
    n_known: u64,
}

/// What is known of a scheme under some criteria.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Known {
    n_suppressed: u64,
    /// Records that fail the monotone part of the criteria.
    n_failing: u64,
    loss: f64,
}

/// About how many bytes a known scheme takes.
const N_BYTES_OF_KNOWN: u64 = 128;

/// A search among schemes under fixed criteria.
struct SchemeSearch<'a> {
    searched: &'a Searched<'a>,
    criteria: Criteria,
    /// What must hold where the criteria do, and never gets worse on the way up.
    necessary: Criteria,
    known: FxHashMap<Box<[u8]>, Known>,
}

impl<'a> SchemeSearch<'a> {
    fn new(searched: &'a Searched<'a>, criteria: &Criteria) -> SchemeSearch<'a> {
        let necessary = necessary(criteria, searched.measures, searched.is_over_people);
        SchemeSearch { searched, criteria: criteria.clone(), necessary, known: FxHashMap::default() }
    }

    fn outcome(&self, seen: &Seen) -> Outcome {
        seen.profile.outcome(&seen.signatures, &seen.signatures.test(&self.criteria))
    }

    fn note(&mut self, levels: &[u8], seen: &Seen, desk: &mut Desk) -> Known {
        let outcome = self.outcome(seen);
        let n_failing = match self.necessary == self.criteria {
            true => outcome.n_suppressed,
            false => seen.profile.n_suppressed(&seen.signatures, &seen.signatures.test(&self.necessary)),
        };
        let loss = self.searched.request.best_by.loss_at(&self.searched.at(levels), &outcome);
        let known = Known { n_suppressed: outcome.n_suppressed, n_failing, loss };
        self.known.insert(levels.into(), known);
        desk.n_known += 1;
        known
    }

    fn look_at(&mut self, levels: &[u8], desk: &mut Desk) -> Known {
        match self.known.get(levels) {
            Some(known) => *known,
            None => {
                desk.n_evaluated += 1;
                let seen = desk.divider.seen(levels);
                self.note(levels, &seen, desk)
            }
        }
    }

    /// The beginning of a search for the best scheme within `bound` that suppresses at most `n_max` records, with what is
    /// known already.
    fn scan<'b>(&self, bound: &'b [u8], n_max: u64) -> Scan<'b>
    where
        'a: 'b,
    {
        let searched = self.searched;
        let mut scan = Scan {
            failing: Failing::new(searched.tops),
            working: Working::new(searched.tops),
            climb: Some(Climb::new(bound, SEED)),
            n_proofs: 0,
            order: searched.floors.order.clone(),
            rest: vec![0.0; bound.len() + 1],
            best: None,
            bound,
            n_max,
            low: f64::NEG_INFINITY,
            high: searched.floors.of(&vec![0; bound.len()]),
        };
        self.seed(&mut scan);
        scan
    }

    /// Goes down from the coarsest scheme within `bound`, where there are many: a good scheme for [`SchemeSearch::best`] to
    /// begin with, that is found before the time is spent on the proofs of another search.
    fn begin(&mut self, bound: &[u8], n_max: u64, desk: &mut Desk) {
        if desk.is_stopped || n_schemes(bound) <= N_SCHEMES_FEW {
            return;
        }
        let mut scan = self.scan(bound, n_max);
        let top = self.look_at(bound, desk);
        scan.take(bound, top);
        self.tell(desk, &scan);
        if top.n_failing <= n_max {
            self.climb(&mut scan, desk, |climb, ground| climb.begin(ground));
        }
    }

    /// The best scheme within `bound` that suppresses at most `n_max` records, and what is proved about it.
    fn best(&mut self, bound: &[u8], n_max: u64, desk: &mut Desk) -> (Option<Spot>, Proof) {
        let searched = self.searched;
        let mut scan = self.scan(bound, n_max);
        let lowest = scan.high;
        let top = self.look_at(bound, desk);
        scan.take(bound, top);
        if top.n_failing > n_max {
            // Nothing finer is better.
            return (None, Proof { is_optimal: true, loss_at_least: f64::INFINITY });
        }
        self.tell(desk, &scan);
        self.climb(&mut scan, desk, |climb, ground| {
            climb.begin(ground);
            if n_schemes(bound) > N_SCHEMES_FEW {
                climb.improve(ground);
                climb.wander(ground);
            }
        });
        self.bound_the_rest(&mut scan, desk);
        let highest = searched.floors.of(bound);
        let step = match searched.request.best_by.is_height() {
            true => 1.0 / height_of(searched.tops).max(1) as f64,
            false => (highest - lowest).max(0.0) / N_BANDS,
        };
        // The first band has the finest scheme in it, however it is rounded.
        scan.high = lowest + step / 2.0;
        // Below what no scheme can lose less than, there is nothing to look at.
        while step > 0.0 && scan.high + HAIR < scan.rest[0] - searched.floors.slack {
            (scan.low, scan.high) = (scan.high, scan.high + step);
        }
        while !desk.is_stopped {
            self.visit(&mut bound.to_vec(), 0, 0.0, &mut scan, desk);
            if desk.is_stopped {
                break;
            }
            let is_over = scan.high >= highest || scan.best.as_ref().is_some_and(|best| best.loss < scan.high);
            scan.low = scan.high;
            if is_over {
                break;
            }
            scan.high = if step > 0.0 { scan.high + step } else { highest };
        }
        let is_optimal = !desk.is_stopped;
        let loss_at_least = match &scan.best {
            Some(best) if is_optimal => best.loss,
            None if is_optimal => f64::INFINITY,
            _ => scan.least(searched.floors.slack),
        };
        (scan.best, Proof { is_optimal, loss_at_least })
    }

    /// Takes over what is known already.
    fn seed(&self, scan: &mut Scan) {
        // The coarsest first, so that few are needed.
        let mut failing: Vec<&[u8]> =
            self.known.iter().filter(|(_, known)| known.n_failing > scan.n_max).map(|(levels, _)| &**levels).collect();
        failing.sort_unstable_by_key(|levels| (std::cmp::Reverse(height_of(levels)), *levels));
        for levels in failing {
            if !scan.failing.has(levels) {
                scan.failing.add(levels);
            }
        }
        for (levels, known) in &self.known {
            scan.take(levels, *known);
            if known.n_failing <= scan.n_max {
                scan.working.add(levels);
            }
        }
    }

    /// Says how far the search is, and hears whether it goes on.
    fn tell(&self, desk: &mut Desk, scan: &Scan) {
        let task = self.searched.task;
        let progress = SearchProgress {
            n_evaluated: desk.n_evaluated,
            best: scan.best.as_ref().map(|best| best.loss),
            loss_at_least: scan.least(self.searched.floors.slack),
        };
        let is_full = desk.n_known.saturating_mul(N_BYTES_OF_KNOWN) > task.n_bytes_max / 2;
        if is_full || (task.is_cancelled)() || (task.is_enough)(&progress) {
            desk.is_stopped = true;
        }
    }

    /// Looks at a scheme, and takes note of what that proves.
    fn try_out(&mut self, levels: &[u8], scan: &mut Scan, desk: &mut Desk) -> Known {
        let is_new = !self.known.contains_key(levels);
        let known = self.look_at(levels, desk);
        scan.take(levels, known);
        if known.n_failing <= scan.n_max {
            scan.working.add(levels);
        }
        if is_new {
            self.tell(desk, scan);
            // A proof of everything may take for ever: every now and then, a better scheme is looked for as well.
            scan.n_proofs += 1;
            if scan.n_proofs % N_PROOFS == 0 && !desk.is_stopped {
                self.climb(scan, desk, |climb, ground| climb.wander(ground));
            }
        }
        known
    }

    /// Whether a scheme suppresses too much by the monotone part of the criteria; by proof, or by looking.
    fn fails(&mut self, levels: &[u8], scan: &mut Scan, desk: &mut Desk) -> bool {
        if scan.failing.has(levels) {
            return true;
        }
        !scan.working.has(levels) && self.try_out(levels, scan, desk).n_failing > scan.n_max
    }

    /// Looks for a better scheme step by step; what is met on the way is known afterwards.
    fn climb(&mut self, scan: &mut Scan, desk: &mut Desk, how: impl FnOnce(&mut Climb, &mut dyn Ground)) {
        let mut climb = scan.climb.take().expect("nobody climbs while climbing");
        how(&mut climb, &mut Climbed { search: self, scan: &mut *scan, desk });
        scan.climb = Some(climb);
    }

    /// What the last attributes of the order lose at least, by how many they are: whatever the others are, those alone
    /// must not suppress too much. Each answer bounds the search for the next (Russian doll search; Verfaillie, Lemaître,
    /// Schiex 1996).
    fn bound_the_rest(&mut self, scan: &mut Scan, desk: &mut Desk) {
        for depth in (0..scan.order.len()).rev() {
            let own = self.searched.floors.of_level[scan.order[depth]][0];
            scan.rest[depth] = scan.rest[depth + 1] + own;
            if !desk.is_stopped {
                // As the best scheme has them, they do not.
                let floor = |levels: &[u8]| -> f64 {
                    scan.order[depth..].iter().map(|&a| self.searched.floors.of_level[a][levels[a] as usize]).sum()
                };
                let mut least = floor(scan.best.as_ref().map_or(scan.bound, |best| &best.levels));
                self.least_of_rest(&mut scan.bound.to_vec(), depth, 0.0, &mut least, scan, desk);
                if !desk.is_stopped {
                    scan.rest[depth] = scan.rest[depth].max(least - HAIR);
                }
            }
        }
    }

    /// Lowers `least` to what the attributes from a depth on lose at least, beside those that are settled.
    fn least_of_rest(
        &mut self,
        levels: &mut Vec<u8>,
        depth: usize,
        floor: f64,
        least: &mut f64,
        scan: &mut Scan,
        desk: &mut Desk,
    ) {
        if desk.is_stopped || floor + scan.rest[depth] >= *least {
            return;
        }
        if self.fails(levels, scan, desk) {
            if !desk.is_stopped && !scan.failing.has(levels) {
                scan.failing.add(levels);
            }
            return;
        }
        let Some(&attribute) = scan.order.get(depth) else {
            *least = floor;
            return;
        };
        for level in 0..=scan.bound[attribute] {
            levels[attribute] = level;
            let floor = floor + self.searched.floors.of_level[attribute][level as usize];
            if floor + scan.rest[depth + 1] >= *least {
                break;
            }
            self.least_of_rest(levels, depth + 1, floor, least, scan, desk);
        }
        levels[attribute] = scan.bound[attribute];
    }

    /// Looks at all schemes of the band that agree with `levels` in the attributes before a depth of the order; the others
    /// are at their coarsest there.
    fn visit(&mut self, levels: &mut Vec<u8>, depth: usize, floor: f64, scan: &mut Scan, desk: &mut Desk) {
        if desk.is_stopped || scan.failing.has(levels) {
            return;
        }
        let floors = self.searched.floors;
        let Some(&attribute) = scan.order.get(depth) else {
            let floor = floor - floors.slack;
            let is_hopeless = scan.best.as_ref().is_some_and(|best| best.loss < floor);
            if floor > scan.low && floor <= scan.high && !is_hopeless {
                let known = self.try_out(levels, scan, desk);
                if known.n_failing > scan.n_max {
                    self.widen(levels.clone(), scan, desk);
                }
            }
            return;
        };
        let rest = scan.order[depth + 1..].iter();
        let most: f64 = rest.map(|&a| floors.of_level[a][scan.bound[a] as usize]).sum();
        for level in 0..=scan.bound[attribute] {
            let floor = floor + floors.of_level[attribute][level as usize];
            if floor + scan.rest[depth + 1] - floors.slack > scan.high + HAIR {
                break;
            }
            if floor + most - floors.slack > scan.low - HAIR {
                levels[attribute] = level;
                self.visit(levels, depth + 1, floor, scan, desk);
            }
        }
        levels[attribute] = scan.bound[attribute];
    }

    /// From a scheme that suppresses too much, the coarsest that still does, as far as one way up leads.
    fn widen(&mut self, mut levels: Vec<u8>, scan: &mut Scan, desk: &mut Desk) {
        for a in 0..levels.len() {
            let (mut failing, mut working) = (levels[a], scan.bound[a] + 1);
            let mut next = scan.bound[a];
            while working - failing > 1 && !desk.is_stopped {
                levels[a] = next;
                if self.fails(&levels, scan, desk) {
                    failing = next
                } else {
                    working = next
                }
                next = failing + (working - failing) / 2;
            }
            levels[a] = failing;
        }
        scan.failing.add(&levels);
    }
}

/// Where the search among schemes takes its steps.
struct Climbed<'s, 'a, 'd, 'e, 'b> {
    search: &'s mut SchemeSearch<'a>,
    scan: &'s mut Scan<'b>,
    desk: &'d mut Desk<'e>,
}

impl Ground for Climbed<'_, '_, '_, '_, '_> {
    fn look(&mut self, many: &[Vec<u8>]) -> Vec<Option<Spot>> {
        let Climbed { search, scan, desk } = self;
        let is_new = |levels: &Vec<u8>| !search.known.contains_key(&levels[..]) && !scan.failing.has(levels);
        let new: Vec<Vec<u8>> = many.iter().filter(|levels| !desk.is_stopped && is_new(levels)).cloned().collect();
        let seen = desk.divider.all_seen(&new);
        for (levels, seen) in new.iter().zip(&seen) {
            // As if they had come one after the other, so that the number of schemes that may be looked at says all.
            if !desk.is_stopped {
                desk.n_evaluated += 1;
                let known = search.note(levels, seen, desk);
                scan.learn(levels, known);
                search.tell(desk, scan);
            }
        }
        let spot = |levels: &Vec<u8>| {
            let known = search.known.get(&levels[..])?;
            (known.n_suppressed <= scan.n_max).then(|| Spot::new(levels, known.loss, known.n_suppressed))
        };
        many.iter().map(|levels| if desk.is_stopped { None } else { spot(levels) }).collect()
    }

    fn is_over(&self) -> bool {
        self.desk.is_stopped
    }
}

/// What the steps of a search are drawn with; whoever asks again gets the same answer.
const SEED: u64 = 0;

/// Below so many schemes a proof is quicker than a better start.
const N_SCHEMES_FEW: u64 = 5_000;

/// After so many schemes looked at for a proof, there is one more random walk.
const N_PROOFS: u64 = 1_000;

fn n_schemes(bound: &[u8]) -> u64 {
    bound.iter().fold(1, |n: u64, &most| n.saturating_mul(u64::from(most) + 1))
}

fn is_within(levels: &[u8], bound: &[u8]) -> bool {
    levels.iter().zip(bound).all(|(level, most)| level <= most)
}

/// A hair either way, so that no scheme falls between two bands by the order in which it is added up.
const HAIR: f64 = 1e-12;

/// How many bands the range of losses is looked at in.
const N_BANDS: f64 = 48.0;

/// How far one search is.
struct Scan<'a> {
    failing: Failing,
    working: Working<'a>,
    /// None while it is at work.
    climb: Option<Climb>,
    /// How many schemes were looked at for a proof.
    n_proofs: u64,
    /// In which attributes are settled.
    order: Vec<usize>,
    /// By depth, what the attributes from there on lose at least, added up.
    rest: Vec<f64>,
    best: Option<Spot>,
    bound: &'a [u8],
    n_max: u64,
    /// Schemes whose floor is above `low` and at most `high` are looked at now; those below have been.
    low: f64,
    high: f64,
}

impl Scan<'_> {
    /// Nothing that is left loses less: what a few attributes lose at least, all do.
    fn least(&self, slack: f64) -> f64 {
        let of_rest = self.rest.iter().copied().fold(0.0, f64::max);
        self.low.max(of_rest - slack).max(0.0)
    }

    /// Takes note of what a look at a scheme proves.
    fn learn(&mut self, levels: &[u8], known: Known) {
        self.take(levels, known);
        if known.n_failing <= self.n_max {
            self.working.add(levels);
        } else {
            self.failing.add(levels);
        }
    }

    fn take(&mut self, levels: &[u8], known: Known) {
        if known.n_suppressed <= self.n_max && is_within(levels, self.bound) {
            let spot = Spot::new(levels, known.loss, known.n_suppressed);
            if self.best.as_ref().is_none_or(|best| spot.is_better(best)) {
                self.best = Some(spot);
            }
        }
    }
}

/// What holds for every group where the criteria do, and is monotone.
///
/// As uncertain as l values, or the most frequent one in at most a share 1/l of the records: there are at least l.
pub(crate) fn necessary(criteria: &Criteria, measures: &[Measure], is_over_people: bool) -> Criteria {
    let implied = |criterion: Criterion| {
        let Criterion { measure, value } = criterion;
        let distinct = match measure {
            measure if measure.is_monotone(is_over_people) => return Some(criterion),
            _ if is_over_people => return None,
            Measure::Entropy(s) => (s, value.div_ceil(MILLION)),
            Measure::Share(s) => (s, MILLION.div_ceil(value.max(1))),
            Measure::Recursive { sensitive, l } => (sensitive, u64::from(l)),
            _ => return None,
        };
        let implied = Criterion { measure: Measure::Distinct(distinct.0), value: distinct.1 };
        measures.contains(&implied.measure).then_some(implied)
    };
    Criteria::new(criteria.iter().filter_map(implied))
}

impl<'a> Searched<'a> {
    fn at(&'a self, levels: &'a [u8]) -> At<'a> {
        At { levels, tops: self.tops, n_records: self.n_records, entropies: self.entropies }
    }

    fn negotiate(&self, desk: &mut Desk) -> FoundAnswer {
        let request = self.request;
        let bound: Vec<u8> = request.level_max.levels().iter().map(|level| level.0).collect();
        let mut search = SchemeSearch::new(self, &request.criteria);
        let (exact, proof) = search.best(&bound, request.n_suppressed_max, desk);
        if let Some(best) = exact {
            let answer = Answer::Exact(self.offer(&best.levels, &request.criteria, desk));
            return FoundAnswer { answer, is_decided: true, proofs: vec![proof], n_evaluated: desk.n_evaluated };
        }
        let is_decided = proof.is_optimal;
        // What gives up as little as possible: known at once under monotone criteria, to be looked for otherwise.
        let least = self.least(&bound, &mut search, desk);
        let relaxed = |(criterion, value): (Criterion, &Option<u64>)| {
            value.map(|value| SchemeSearch::new(self, &request.criteria.with(criterion.with_value(value))))
        };
        let mut relaxed: Vec<Option<SchemeSearch>> = request.criteria.iter().zip(&least.values).map(relaxed).collect();
        // Every offer has a good scheme before one is proved to be the best, which may take all the time that there is.
        // Where the fewest that can be lost are all, the finest scheme does no worse, and the way down is long: it is last.
        search.begin(self.tops, request.n_suppressed_max, desk);
        relaxed.iter_mut().flatten().for_each(|search| search.begin(&bound, request.n_suppressed_max, desk));
        search.begin(&bound, least.n_suppressed, desk);
        let (best, mut suppression) = search.best(&bound, least.n_suppressed, desk);
        suppression.is_optimal &= least.is_proved;
        let best = best.expect("one scheme suppresses the least");
        let suppression_offer = self.offer(&best.levels, &request.criteria, desk);
        let (best, height) = search.best(self.tops, request.n_suppressed_max, desk);
        let height_offer = best.map(|best| self.offer(&best.levels, &request.criteria, desk));
        let mut alternatives: Vec<(f64, Offer, Proof)> = Vec::new();
        let mut proofs = vec![suppression, height];
        for ((criterion, value), relaxed) in request.criteria.iter().zip(&least.values).zip(&mut relaxed) {
            let (Some(value), Some(relaxed)) = (*value, relaxed) else {
                proofs.extend((!least.is_proved).then_some(Proof { is_optimal: false, loss_at_least: 0.0 }));
                continue;
            };
            let criteria = relaxed.criteria.clone();
            let (best, mut proof) = relaxed.best(&bound, request.n_suppressed_max, desk);
            proof.is_optimal &= least.is_proved;
            let levels = match best {
                Some(best) => best.levels,
                // That is enough; the scheme for which the value was found is one that works.
                None => least.found_at(criterion).to_vec(),
            };
            alternatives.push((criterion.share_left(value), self.offer(&levels, &criteria, desk), proof));
        }
        alternatives.sort_by(|a, b| b.0.total_cmp(&a.0));
        proofs.extend(alternatives.iter().map(|(_, _, proof)| *proof));
        let privacy_alternatives: Vec<Offer> = alternatives.into_iter().map(|(_, offer, _)| offer).collect();
        let offers = Offers {
            suppression: suppression_offer,
            height: height_offer,
            privacy: privacy_alternatives.first().cloned(),
            privacy_alternatives,
        };
        FoundAnswer { answer: Answer::Offers(offers), is_decided, proofs, n_evaluated: desk.n_evaluated }
    }

    fn offer(&self, levels: &[u8], criteria: &Criteria, desk: &mut Desk) -> Offer {
        desk.n_evaluated += 1;
        let seen = desk.divider.seen(levels);
        let outcome = seen.profile.outcome(&seen.signatures, &seen.signatures.test(criteria));
        let losses = self.at(levels).losses(&outcome);
        let scheme = Scheme::new(levels.iter().map(|&level| Level(level)).collect());
        Offer::new(scheme, criteria.clone(), &seen.signatures, outcome, losses)
    }

    /// The fewest records that the levels allow to lose, and the strictest value of each criterion that works.
    fn least(&self, bound: &[u8], search: &mut SchemeSearch, desk: &mut Desk) -> Least {
        let request = self.request;
        let mut least = Least {
            n_suppressed: u64::MAX,
            values: vec![None; request.criteria.iter().count()],
            at: vec![bound.to_vec(); request.criteria.iter().count()],
            criteria: request.criteria.clone(),
            is_proved: true,
        };
        let is_monotone = request.criteria.is_monotone(self.is_over_people);
        // Per purpose, schemes below which nothing better can be.
        let mut failing: Vec<Failing> = (0..=least.values.len()).map(|_| Failing::new(self.tops)).collect();
        let mut levels = bound.to_vec();
        loop {
            if !failing.iter().all(|failing| failing.has(&levels)) {
                desk.n_evaluated += 1;
                let seen = desk.divider.seen(&levels);
                let known = search.note(&levels, &seen, desk);
                least.n_suppressed = least.n_suppressed.min(known.n_suppressed);
                if known.n_failing >= least.n_suppressed {
                    failing[0].add(&levels);
                }
                for (i, criterion) in request.criteria.iter().enumerate() {
                    if self.strictest(&seen, criterion, &levels, i, &mut least) {
                        failing[i + 1].add(&levels);
                    }
                }
                let progress = SearchProgress { n_evaluated: desk.n_evaluated, best: None, loss_at_least: 0.0 };
                let is_full = desk.n_known.saturating_mul(N_BYTES_OF_KNOWN) > self.task.n_bytes_max / 2;
                let is_over = || is_full || (self.task.is_cancelled)() || (self.task.is_enough)(&progress);
                if !is_monotone && (desk.is_stopped || is_over()) {
                    desk.is_stopped = true;
                    least.is_proved = false;
                    return least;
                }
            }
            // Under monotone criteria the coarsest acceptable scheme decides.
            if is_monotone || !step_down(&mut levels, bound) {
                return least;
            }
        }
    }

    /// Takes note of the strictest value of a criterion that works at a scheme; says whether nothing finer can have any.
    fn strictest(&self, seen: &Seen, criterion: Criterion, levels: &[u8], i: usize, least: &mut Least) -> bool {
        let request = self.request;
        let measure = criterion.measure;
        let mut test = seen.signatures.test(&request.criteria);
        let mut works = |value: u64| {
            test.set(measure, value);
            seen.profile.n_suppressed(&seen.signatures, &test) <= request.n_suppressed_max
        };
        let weakest = measure.weakest();
        if criterion.holds(weakest) {
            return true;
        }
        if !works(weakest) {
            let relaxed =
                necessary(&request.criteria.with(criterion.with_value(weakest)), self.measures, self.is_over_people);
            let n_failing = seen.profile.n_suppressed(&seen.signatures, &seen.signatures.test(&relaxed));
            return n_failing > request.n_suppressed_max;
        }
        let (mut working, mut failing) = (least.values[i].unwrap_or(weakest), criterion.value);
        // Where what is known already is the best that there is, one look tells.
        if least.values[i].is_some() {
            let stricter = if working < failing { working + 1 } else { working - 1 };
            if stricter == failing || !works(stricter) {
                return false;
            }
            working = stricter;
        }
        while working.abs_diff(failing) > 1 {
            let middle = working.min(failing) + working.abs_diff(failing) / 2;
            if works(middle) { working = middle } else { failing = middle }
        }
        least.values[i] = Some(working);
        least.at[i] = levels.to_vec();
        false
    }
}

/// How little must be given up.
struct Least {
    n_suppressed: u64,
    /// By criterion, the strictest value that works; none where not even the weakest does.
    values: Vec<Option<u64>>,
    /// By criterion, the scheme at which it works.
    at: Vec<Vec<u8>>,
    criteria: Criteria,
    is_proved: bool,
}

impl Least {
    fn found_at(&self, criterion: Criterion) -> &[u8] {
        let place = self.criteria.iter().position(|known| known == criterion).expect("one of the request's");
        &self.at[place]
    }
}

/// The next level vector within the bound, coarse ones first; false after the last.
fn step_down(levels: &mut [u8], bound: &[u8]) -> bool {
    for (level, most) in levels.iter_mut().zip(bound).rev() {
        if *level > 0 {
            *level -= 1;
            return true;
        }
        *level = *most;
    }
    false
}
