//! Lattices of which only the most promising schemes are annotated (thesis, chapter 5), and what their answers prove.
//!
//! Which schemes are promising is estimated from their levels: how large groups get when one attribute alone is
//! generalized. That takes one pass over the groups per attribute, not one per scheme.

use crate::counts::GroupCounts;
use crate::criterion::Criteria;
use crate::error::{Error, ErrorKind, Result, Wording};
use crate::hierarchy::Hierarchy;
use crate::lattice::annotate::annotate_schemes;
use crate::lattice::size::check_size;
pub use crate::lattice::{Estimator, Selection};
use crate::lattice::{Lattice, Plan};
use crate::loss::Penalties;
use crate::scheme::{Level, Scheme, Schemes, n_schemes, tops_of};
use crate::search::bounds::{Failing, Floors};
use crate::search::negotiate::{Answer, Offer};
use crate::search::on_demand::{FoundAnswer, Proof, necessary};
use crate::search::promising::{most_promising, n_by_height};
use crate::search::request::Request;
use crate::table::Code;
use crate::task::Task;

impl Estimator {
    /// What a level adds to the score of a scheme.
    fn of(self, power: &Power) -> f64 {
        match self {
            Estimator::Gamma => power.gamma,
            Estimator::Mu => power.mu,
            Estimator::GammaMu => power.gamma * power.mu,
            Estimator::Lambda => power.gamma.log2() * power.mu,
        }
    }
}

impl Default for Selection {
    fn default() -> Self {
        Selection { share: 0.05, estimator: Estimator::Lambda }
    }
}

impl Selection {
    /// How many of `n` schemes of one height are annotated.
    pub fn n_of(&self, n: u64) -> u64 {
        // To the nearest whole number: so the tables of the thesis come out, which does not say it.
        ((self.share * n as f64).round() as u64).max(2).min(n)
    }
}

/// How well one level of one attribute groups records.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Power {
    /// Groups when this attribute alone is generalized, to this level.
    pub n_groups: u64,
    /// The average size of these groups.
    pub gamma: f64,
    /// How many times the average size of the level below that is; at level 0 the inverse of level 1's.
    pub mu: f64,
}

/// By attribute and level, how well it groups records.
pub fn powers(counts: &GroupCounts, hierarchies: &[Hierarchy]) -> Vec<Vec<Power>> {
    let of_attribute = |(a, hierarchy): (usize, &Hierarchy)| {
        let n_groups = n_groups_alone(counts, hierarchy, a);
        let gamma = |level: usize| counts.n_records() as f64 / n_groups[level].max(1) as f64;
        let mu = |level: usize| match level {
            0 if hierarchy.top() == 0 => 1.0,
            0 => gamma(0) / gamma(1),
            _ => gamma(level) / gamma(level - 1),
        };
        let power = |level: usize| Power { n_groups: n_groups[level], gamma: gamma(level), mu: mu(level) };
        (0..hierarchy.n_levels()).map(power).collect()
    };
    hierarchies.iter().enumerate().map(of_attribute).collect()
}

/// By level, how many groups there are when this attribute alone is generalized.
fn n_groups_alone(counts: &GroupCounts, hierarchy: &Hierarchy, attribute: usize) -> Vec<u64> {
    let others = |group: usize| {
        let codes = counts.codes(group);
        (&codes[..attribute], &codes[attribute + 1..])
    };
    // Groups that differ in this attribute alone side by side.
    let mut order: Vec<usize> = (0..counts.n_groups()).collect();
    order.sort_unstable_by(|&a, &b| others(a).cmp(&others(b)));
    let mut n_groups = vec![0; hierarchy.n_levels()];
    let mut labels: Vec<Code> = Vec::new();
    for alike in order.chunk_by(|&a, &b| others(a) == others(b)) {
        for (level, n_groups) in n_groups.iter_mut().enumerate() {
            let of_base = hierarchy.level(level).of_base();
            labels.clear();
            labels.extend(alike.iter().map(|&group| of_base[counts.codes(group)[attribute].index()]));
            labels.sort_unstable();
            labels.dedup();
            *n_groups += labels.len() as u64;
        }
    }
    n_groups
}

/// How promising a scheme is by an estimator: the sum over its levels.
pub fn score(powers: &[Vec<Power>], estimator: Estimator, scheme: &Scheme) -> f64 {
    let of_level = |(of_attribute, level): (&Vec<Power>, &Level)| estimator.of(&of_attribute[usize::from(level.0)]);
    powers.iter().zip(scheme.levels()).map(of_level).sum()
}

/// The most promising schemes of every height.
pub fn select(powers: &[Vec<Power>], selection: Selection) -> Schemes {
    select_unless(powers, selection, &Task::default()).expect("nobody stops it")
}

/// The same; ends with an error once somebody has stopped it.
fn select_unless(powers: &[Vec<Power>], selection: Selection, task: &Task) -> Result<Schemes> {
    let tops: Vec<u8> = powers.iter().map(|of_attribute| (of_attribute.len() - 1) as u8).collect();
    let scores: Vec<Vec<f64>> = powers
        .iter()
        .map(|of_attribute| of_attribute.iter().map(|power| selection.estimator.of(power)).collect())
        .collect();
    let n_wanted: Vec<usize> = n_by_height(&tops).iter().map(|&n| selection.n_of(n) as usize).collect();
    Ok(Schemes::some(tops, most_promising(&scores, &n_wanted, task)?))
}

/// Annotates the most promising schemes of every height; of a share of 0 the finest and the coarsest only.
///
/// # Guarantee
/// Every profile is that of [`annotate`](crate::annotate()); which schemes have one depends on the table, the
/// hierarchies and the selection alone. The finest and the coarsest scheme are always among them.
///
/// # Errors
/// As for [`annotate`](crate::annotate()); and where the share is none.
pub fn annotate_partially(
    counts: &GroupCounts,
    hierarchies: &[Hierarchy],
    plan: &Plan,
    selection: Selection,
    task: &Task,
) -> Result<Lattice> {
    counts.check_hierarchies(hierarchies)?;
    if !(0.0..=1.0).contains(&selection.share) {
        return Err(Error::new(ErrorKind::Request, "the share of schemes must be from 0 to 1")
            .hint(Wording::text("for example ").example("partial", "5%")));
    }
    check_size(hierarchies.len(), n_selected(hierarchies, selection)?, task)?;
    let tops = tops_of(hierarchies)?;
    let schemes = match selection.share == 0.0 {
        true => Schemes::some(tops.clone(), vec![vec![0; tops.len()].into(), tops.into()]),
        false => select_unless(&powers(counts, hierarchies), selection, task)?,
    };
    annotate_schemes(counts, hierarchies, plan, schemes, Some(selection), task)
}

/// How many schemes a selection annotates.
///
/// # Errors
/// Where a hierarchy has more levels than can be numbered.
pub fn n_selected(hierarchies: &[Hierarchy], selection: Selection) -> Result<u64> {
    match n_schemes(hierarchies) {
        _ if selection.share == 0.0 => Ok(2),
        // A share of what cannot be counted cannot be counted either.
        Some(_) => Ok(n_by_height(&tops_of(hierarchies)?).iter().map(|&n| selection.n_of(n)).sum()),
        None => Ok(u64::MAX),
    }
}

/// How good the answer of a lattice is among all schemes, annotated or not.
///
/// A scheme that was not annotated is ruled out by a coarser one that was and suppresses too much (by the monotone
/// part of the criteria), or because it cannot lose less. The answer is proved where nothing is left.
///
/// The counts and the plan are those of the lattice.
///
/// # Errors
/// Where the counts and the plan are those of another lattice, or somebody has stopped it.
pub fn prove(
    lattice: &Lattice,
    counts: &GroupCounts,
    plan: &Plan,
    request: &Request,
    answer: Answer,
    task: &Task,
) -> Result<FoundAnswer> {
    let penalties = Penalties::new(lattice.hierarchies(), plan.weights)?;
    let floors = Floors::new(counts, lattice.hierarchies(), &penalties, lattice.entropies(), &request.best_by);
    let prover = Prover { lattice, floors: &floors, request, task };
    let bound: Vec<u8> = request.level_max.levels().iter().map(|level| level.0).collect();
    let tops = lattice.schemes().tops();
    let n_max = request.n_suppressed_max;
    let (is_decided, proofs) = match &answer {
        Answer::Exact(offer) => (true, vec![prover.proof(offer, n_max, &bound)?]),
        Answer::Offers(offers) => {
            let none_within = |criteria: &Criteria, n_max: u64| {
                Ok::<_, Error>(prover.rest(criteria, n_max, &bound, f64::INFINITY)?.is_infinite())
            };
            let is_decided = none_within(&request.criteria, n_max)?;
            let n_least = offers.suppression.n_suppressed;
            let is_least = n_least == 0 || none_within(&request.criteria, n_least - 1)?;
            let mut suppression = prover.proof(&offers.suppression, n_least, &bound)?;
            suppression.is_optimal &= is_least;
            let height = match &offers.height {
                Some(offer) => prover.proof(offer, n_max, tops)?,
                None => Proof { is_optimal: true, loss_at_least: f64::INFINITY },
            };
            let privacy = offers.privacy_alternatives.iter().map(|offer| {
                let mut proof = prover.proof(offer, n_max, &bound)?;
                // Nothing stricter: one step less relaxed, and nothing within the levels.
                let relaxed =
                    offer.criteria.iter().find(|criterion| !request.criteria.iter().any(|own| own == *criterion));
                if let Some(criterion) = relaxed {
                    let value = match criterion.measure.is_at_least() {
                        true => criterion.value + 1,
                        false => criterion.value.saturating_sub(1),
                    };
                    proof.is_optimal &= none_within(&offer.criteria.with(criterion.with_value(value)), n_max)?;
                }
                Ok(proof)
            });
            let privacy: Vec<Proof> = privacy.collect::<Result<_>>()?;
            (is_decided, [suppression, height].into_iter().chain(privacy).collect())
        }
    };
    lattice.intact()?;
    Ok(FoundAnswer { answer, is_decided, proofs, n_evaluated: lattice.schemes().len() as u64 })
}

/// Schemes between two questions whether the proof is still wanted.
const N_PROVED_BETWEEN: usize = 256;

/// So many schemes are looked at for a proof, which takes a fraction of a second.
const N_LOOKED_AT_MAX: u64 = 2_000_000;

struct Prover<'a> {
    lattice: &'a Lattice,
    floors: &'a Floors,
    request: &'a Request,
    task: &'a Task<'a>,
}

impl Prover<'_> {
    /// What is proved of the best annotated scheme within `bound` that suppresses at most `n_max` records.
    fn proof(&self, offer: &Offer, n_max: u64, bound: &[u8]) -> Result<Proof> {
        let place = self.lattice.schemes().place(&offer.scheme);
        let outcome = self.lattice.outcome(place, &offer.criteria);
        let loss = self.request.best_by.loss(self.lattice, place, &outcome);
        let rest = self.rest(&offer.criteria, n_max, bound, loss)?;
        // What could lose as little could still be preferred.
        Ok(Proof { is_optimal: rest > loss, loss_at_least: rest.min(loss).max(0.0) })
    }

    /// The least that a scheme within `bound` might lose which is neither annotated nor ruled out; infinite where there
    /// is none that might lose `loss_max` or less.
    fn rest(&self, criteria: &Criteria, n_max: u64, bound: &[u8], loss_max: f64) -> Result<f64> {
        let failing = self.failing(criteria, n_max)?;
        let mut rest = Rest { least: f64::INFINITY, loss_max, n_looked_at: 0 };
        self.visit(&mut bound.to_vec(), 0, 0.0, bound, &failing, &mut rest)?;
        if rest.n_looked_at > N_LOOKED_AT_MAX {
            // Too many to tell: nothing better than the finest scheme's floor is known.
            return Ok(self.floors.of(&vec![0; bound.len()]).min(rest.least));
        }
        Ok(rest.least)
    }

    /// Annotated schemes that suppress more than `n_max` records, the coarsest first.
    fn failing(&self, criteria: &Criteria, n_max: u64) -> Result<Failing> {
        let schemes = self.lattice.schemes();
        let mut failing = Failing::new(schemes.tops());
        let necessary = necessary(criteria, self.lattice.measures(), self.lattice.n_people().is_some());
        let suppression = self.lattice.suppression(&necessary);
        for place in (0..schemes.len()).rev() {
            self.task.go_on_now_and_then(place, N_PROVED_BETWEEN)?;
            let (least, most) = suppression.bounds(place);
            let fails = least > n_max || most > n_max && suppression.exact(place) > n_max;
            if fails && !failing.has(schemes.vector(place)) {
                failing.add(schemes.vector(place));
            }
        }
        Ok(failing)
    }

    /// Looks at all schemes that agree with `levels` in the attributes before `attribute`; the others are at their
    /// coarsest there.
    fn visit(
        &self,
        levels: &mut [u8],
        attribute: usize,
        floor: f64,
        bound: &[u8],
        failing: &Failing,
        rest: &mut Rest,
    ) -> Result<()> {
        rest.n_looked_at += 1;
        self.task.go_on_now_and_then(rest.n_looked_at as usize, N_PROVED_BETWEEN)?;
        if rest.n_looked_at > N_LOOKED_AT_MAX || failing.has(levels) {
            return Ok(());
        }
        let Some(of_level) = self.floors.of_level.get(attribute) else {
            let floor = floor - self.floors.slack;
            if floor <= rest.loss_max && floor < rest.least && self.lattice.schemes().find_levels(levels).is_none() {
                rest.least = floor;
            }
            return Ok(());
        };
        let least: f64 = self.floors.of_level[attribute + 1..].iter().map(|of_level| of_level[0]).sum();
        for level in 0..=bound[attribute] {
            let floor = floor + of_level[level as usize];
            let floor_least = floor + least - self.floors.slack;
            if floor_least > rest.loss_max || floor_least >= rest.least {
                break;
            }
            levels[attribute] = level;
            self.visit(levels, attribute + 1, floor, bound, failing, rest)?;
        }
        levels[attribute] = bound[attribute];
        Ok(())
    }
}

/// What is left to be ruled out.
struct Rest {
    least: f64,
    loss_max: f64,
    n_looked_at: u64,
}
