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
use crate::lattice::evaluate::{Evaluate, Evaluating, Seen};
use crate::lattice::profile::Outcome;
use crate::lattice::walk::{Wanted, with_roller};
use crate::loss::{Entropies, LOSS_ONE, Penalties};
use crate::quality::{At, Quality, Ranking};
use crate::scheme::{Level, Scheme};
use crate::search::negotiate::{Answer, Offer, Offers, Request, check_criteria, check_levels};
use crate::task::{SearchProgress, Task};

/// An answer, and how sure it is.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundAnswer {
    /// What was found.
    pub answer: Answer,
    /// That not all wishes can be met is proved; always so where the answer is exact or criteria are monotone.
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
    let penalties = Penalties::new(hierarchies, plan.weights)?;
    let needs_entropy = plan.with_entropy || request.best_by.needs_entropy();
    let entropies = needs_entropy.then(|| Entropies::new(counts, hierarchies));
    let wanted = Wanted { yardstick: plan.yardstick, penalties: &penalties, entropies: entropies.as_ref() };
    let floors = Floors::new(counts, hierarchies, &penalties, entropies.as_ref(), &request.best_by);
    let tops: Vec<u8> = hierarchies.iter().map(|hierarchy| hierarchy.top() as u8).collect();
    let evaluating = Evaluating {
        n_bytes_max: task.n_bytes_max / 2,
        work: |evaluator: &mut dyn Evaluate| {
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
            let mut desk = Desk { evaluator, n_evaluated: 0, is_stopped: false, n_known: 0 };
            let found = searched.negotiate(&mut desk);
            task.go_on()?;
            Ok(found)
        },
    };
    with_roller(counts, hierarchies, &wanted, None, evaluating)
}

/// By attribute and level, what the ranking counts at least: losses of schemes are no less than the sum.
pub(crate) struct Floors {
    pub(crate) of_level: Vec<Vec<f64>>,
    /// What rounding could take away from the sum.
    pub(crate) slack: f64,
}

impl Floors {
    /// NCP, precision, entropy and height are sums over attributes, and a suppressed record counts as the coarsest.
    /// The other quality functions are not: they count as nothing here.
    pub(crate) fn new(
        counts: &GroupCounts,
        hierarchies: &[Hierarchy],
        penalties: &Penalties,
        entropies: Option<&Entropies>,
        ranking: &Ranking,
    ) -> Floors {
        let height_max: usize = hierarchies.iter().map(Hierarchy::top).sum();
        let n = counts.n_records();
        let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        let mean = |a: usize, level: usize, steps: &[u32]| {
            let values = hierarchies[a].level(level).of_base();
            let of_group = |group: usize| {
                u128::from(steps[values[counts.codes(group)[a].index()].index()]) * u128::from(counts.size(group))
            };
            (0..counts.n_groups()).map(of_group).sum::<u128>()
        };
        let of = |a: usize, level: usize| {
            ranking.mixed(|quality| match quality {
                Quality::Height => share(level as f64, height_max as f64),
                Quality::Precision => share(level as f64, hierarchies[a].top() as f64) / hierarchies.len() as f64,
                Quality::Ncp => share(mean(a, level, penalties.of(a, level)) as f64, n as f64 * LOSS_ONE as f64),
                Quality::Entropy => {
                    let entropies = entropies.expect("it is made where the ranking needs it");
                    let gained = mean(a, level, entropies.of(a, level)) - mean(a, 0, entropies.of(a, 0));
                    let all = u128::from(entropies.suppressed) * u128::from(n);
                    share(gained as f64, all.saturating_sub(entropies.of_table) as f64)
                }
                Quality::Discernibility | Quality::GroupSize => 0.0,
            })
        };
        let of_attribute =
            |(a, hierarchy): (usize, &Hierarchy)| (0..hierarchy.n_levels()).map(|level| of(a, level)).collect();
        Floors {
            of_level: hierarchies.iter().enumerate().map(of_attribute).collect(),
            // A record that is `*` everywhere may cost a few steps more than a suppressed one.
            slack: 1e-9 + hierarchies.len() as f64 / LOSS_ONE as f64,
        }
    }

    /// No scheme with these levels loses less.
    pub(crate) fn of(&self, levels: &[u8]) -> f64 {
        let sum: f64 = self.of_level.iter().zip(levels).map(|(of_level, &level)| of_level[level as usize]).sum();
        sum - self.slack
    }
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
    evaluator: &'a mut dyn Evaluate,
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

/// Schemes that are known to suppress too much, and so does everything finer.
pub(crate) struct Failing {
    /// By attribute and level, a set of those that are at this level or coarser.
    at_least: Vec<Vec<Vec<u64>>>,
    n: usize,
}

impl Failing {
    pub(crate) fn new(tops: &[u8]) -> Failing {
        Failing { at_least: tops.iter().map(|&top| vec![Vec::new(); top as usize + 1]).collect(), n: 0 }
    }

    pub(crate) fn add(&mut self, levels: &[u8]) {
        let (word, bit) = (self.n / 64, self.n % 64);
        for (of_level, &level) in self.at_least.iter_mut().zip(levels) {
            for (i, set) in of_level.iter_mut().enumerate() {
                set.resize(word + 1, 0);
                set[word] |= u64::from(i <= level as usize) << bit;
            }
        }
        self.n += 1;
    }

    /// Whether a scheme is as fine as one of these, or finer.
    pub(crate) fn has(&self, levels: &[u8]) -> bool {
        let sets: Vec<&[u64]> =
            self.at_least.iter().zip(levels).map(|(of_level, &level)| &of_level[level as usize][..]).collect();
        (0..self.n.div_ceil(64)).any(|word| sets.iter().fold(u64::MAX, |all, set| all & set[word]) != 0)
    }
}

/// Schemes that are known not to suppress too much, and nor does anything coarser: failing ones upside down.
struct Working<'a> {
    tops: &'a [u8],
    turned: Failing,
}

impl Working<'_> {
    fn turn(&self, levels: &[u8]) -> Vec<u8> {
        self.tops.iter().zip(levels).map(|(top, level)| top - level).collect()
    }

    fn add(&mut self, levels: &[u8]) {
        let turned = self.turn(levels);
        if !self.turned.has(&turned) {
            self.turned.add(&turned);
        }
    }

    fn has(&self, levels: &[u8]) -> bool {
        self.turned.has(&self.turn(levels))
    }
}

/// The best scheme of a search: loss, height, records lost, level vector; less is better.
type Best = (f64, u32, u64, Vec<u8>);

fn is_better(a: &Best, b: &Best) -> bool {
    a.0.total_cmp(&b.0).then_with(|| (a.1, a.2, &a.3).cmp(&(b.1, b.2, &b.3))).is_lt()
}

fn height(levels: &[u8]) -> u32 {
    levels.iter().map(|&level| u32::from(level)).sum()
}

fn is_within(levels: &[u8], bound: &[u8]) -> bool {
    levels.iter().zip(bound).all(|(level, most)| level <= most)
}

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
                let seen = desk.evaluator.seen(levels);
                self.note(levels, &seen, desk)
            }
        }
    }

    /// The best scheme within `bound` that suppresses at most `n_max` records, and what is proved about it.
    fn best(&mut self, bound: &[u8], n_max: u64, desk: &mut Desk) -> (Option<Best>, Proof) {
        let searched = self.searched;
        let lowest = searched.floors.of(&vec![0; bound.len()]);
        let mut scan = Scan {
            failing: Failing::new(searched.tops),
            working: Working { tops: searched.tops, turned: Failing::new(searched.tops) },
            best: None,
            bound,
            n_max,
            low: f64::NEG_INFINITY,
            high: lowest,
        };
        self.seed(&mut scan);
        let top = self.look_at(bound, desk);
        scan.take(bound, top);
        if top.n_failing > n_max {
            // Nothing finer is better.
            return (None, Proof { is_optimal: true, loss_at_least: f64::INFINITY });
        }
        self.tell(desk, &scan);
        if self.criteria.is_monotone(self.searched.is_over_people) && !desk.is_stopped {
            self.descend(&mut scan, desk);
        }
        let highest = searched.floors.of(bound);
        let step = match searched.request.best_by.is_height() {
            true => 1.0 / f64::from(height(searched.tops).max(1)),
            false => (highest - lowest).max(0.0) / N_BANDS,
        };
        // The first band has the finest scheme in it, however it is rounded.
        scan.high = lowest + step / 2.0;
        loop {
            self.visit(&mut bound.to_vec(), 0, 0.0, &mut scan, desk);
            if desk.is_stopped {
                break;
            }
            let is_over = scan.high >= highest || scan.best.as_ref().is_some_and(|best| best.0 < scan.high);
            scan.low = scan.high;
            if is_over {
                break;
            }
            scan.high = if step > 0.0 { scan.high + step } else { highest };
        }
        let is_optimal = !desk.is_stopped;
        let loss_at_least = match &scan.best {
            Some(best) if is_optimal => best.0,
            None if is_optimal => f64::INFINITY,
            _ => scan.low.max(lowest).max(0.0),
        };
        (scan.best, Proof { is_optimal, loss_at_least })
    }

    /// Takes over what is known already.
    fn seed(&self, scan: &mut Scan) {
        // The coarsest first, so that few are needed.
        let mut failing: Vec<&[u8]> =
            self.known.iter().filter(|(_, known)| known.n_failing > scan.n_max).map(|(levels, _)| &**levels).collect();
        failing.sort_unstable_by_key(|levels| (std::cmp::Reverse(height(levels)), *levels));
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
            best: scan.best.as_ref().map(|best| best.0),
            loss_at_least: scan.low.max(0.0),
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

    /// A good scheme to begin with: every attribute as fine as it can be, one after the other, from the coarsest scheme
    /// on; once in the order of what that is worth, once in the other.
    fn descend(&mut self, scan: &mut Scan, desk: &mut Desk) {
        let floors = &self.searched.floors.of_level;
        let worth = |a: usize| floors[a][scan.bound[a] as usize] - floors[a][0];
        let mut order: Vec<usize> = (0..scan.bound.len()).collect();
        order.sort_by(|&a, &b| worth(b).total_cmp(&worth(a)).then(a.cmp(&b)));
        for _ in 0..2 {
            let mut levels = scan.bound.to_vec();
            for &a in &order {
                let (mut failing, mut working) = (None, levels[a]);
                while failing.map_or(0, |level: u8| level + 1) < working && !desk.is_stopped {
                    let middle = (failing.map_or(0, |level| level + 1) + working) / 2;
                    levels[a] = middle;
                    if self.fails(&levels, scan, desk) {
                        failing = Some(middle);
                    } else {
                        working = middle;
                    }
                }
                levels[a] = working;
            }
            order.reverse();
        }
    }

    /// Looks at all schemes of the band that agree with `levels` in the attributes before `attribute`; the others are
    /// at their coarsest there.
    fn visit(&mut self, levels: &mut Vec<u8>, attribute: usize, floor: f64, scan: &mut Scan, desk: &mut Desk) {
        if desk.is_stopped || scan.failing.has(levels) {
            return;
        }
        let floors = self.searched.floors;
        let Some(of_level) = floors.of_level.get(attribute) else {
            let floor = floor - floors.slack;
            let is_hopeless = scan.best.as_ref().is_some_and(|best| best.0 < floor);
            if floor > scan.low && floor <= scan.high && !is_hopeless {
                let known = self.try_out(levels, scan, desk);
                if known.n_failing > scan.n_max {
                    self.widen(levels.clone(), scan, desk);
                }
            }
            return;
        };
        let rest = |level_of: &dyn Fn(usize) -> usize| -> f64 {
            (attribute + 1..levels.len()).map(|a| floors.of_level[a][level_of(a)]).sum()
        };
        let (least, most) = (rest(&|_| 0), rest(&|a| scan.bound[a] as usize));
        // A hair either way, so that no scheme falls between two bands by the order in which it is added up.
        const HAIR: f64 = 1e-12;
        for level in 0..=scan.bound[attribute] {
            let floor = floor + of_level[level as usize];
            if floor + least - floors.slack > scan.high + HAIR {
                break;
            }
            if floor + most - floors.slack > scan.low - HAIR {
                levels[attribute] = level;
                self.visit(levels, attribute + 1, floor, scan, desk);
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

/// How many bands the range of losses is looked at in.
const N_BANDS: f64 = 48.0;

/// How far one search is.
struct Scan<'a> {
    failing: Failing,
    working: Working<'a>,
    best: Option<Best>,
    bound: &'a [u8],
    n_max: u64,
    /// Schemes whose floor is above `low` and at most `high` are looked at now; those below have been.
    low: f64,
    high: f64,
}

impl Scan<'_> {
    fn take(&mut self, levels: &[u8], known: Known) {
        if known.n_suppressed <= self.n_max && is_within(levels, self.bound) {
            let candidate = (known.loss, height(levels), known.n_suppressed, levels.to_vec());
            if self.best.as_ref().is_none_or(|best| is_better(&candidate, best)) {
                self.best = Some(candidate);
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
            let answer = Answer::Exact(self.offer(&best.3, &request.criteria, desk));
            return FoundAnswer { answer, is_decided: true, proofs: vec![proof], n_evaluated: desk.n_evaluated };
        }
        let is_decided = proof.is_optimal;
        // What gives up as little as possible: known at once under monotone criteria, to be looked for otherwise.
        let least = self.least(&bound, &mut search, desk);
        let (best, mut suppression) = search.best(&bound, least.n_suppressed, desk);
        suppression.is_optimal &= least.is_proved;
        let best = best.expect("one scheme suppresses the least");
        let suppression_offer = self.offer(&best.3, &request.criteria, desk);
        let (best, height) = search.best(self.tops, request.n_suppressed_max, desk);
        let height_offer = best.map(|best| self.offer(&best.3, &request.criteria, desk));
        let mut alternatives: Vec<(f64, Offer, Proof)> = Vec::new();
        let mut proofs = vec![suppression, height];
        for (criterion, value) in request.criteria.iter().zip(&least.values) {
            let Some(value) = *value else {
                proofs.extend((!least.is_proved).then_some(Proof { is_optimal: false, loss_at_least: 0.0 }));
                continue;
            };
            let criteria = request.criteria.with(criterion.with_value(value));
            let (best, mut proof) = SchemeSearch::new(self, &criteria).best(&bound, request.n_suppressed_max, desk);
            proof.is_optimal &= least.is_proved;
            let levels = match best {
                Some(best) => best.3,
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
        let seen = desk.evaluator.seen(levels);
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
                let seen = desk.evaluator.seen(&levels);
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
