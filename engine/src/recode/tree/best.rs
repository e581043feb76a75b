//! The best cut within limits: prices are found at which the cheapest cut keeps them.
//!
//! Without limits the fold is exact. With one, such as on the records that may be lost, whatever is limited gets a price,
//! and the cheapest cut for that price is the best of all cuts that use no more of it (Everett 1963). The price is where a
//! cut that keeps the limit and one that does not are equally cheap. Where there are several limits, their prices are found in
//! turn. What no price reaches is then looked at place by place, and then all cuts that could still be better (`exact`).
//! Whatever the prices, the cost of their cheapest cut less what the limits themselves cost is no more than any cut
//! within the limit has: so it is known how far from the best the answer can be.

use crate::criterion::{Criteria, Measure};
use crate::error::Result;
use crate::loss::{LOSS_ONE, Steps};
use crate::recode::tree::Tree;
use crate::recode::tree::exact::{CutProblem, Decided};
use crate::recode::tree::fold::{Choice, Folded, Live, ONE, Prices, Totals};
use crate::task::Task;

/// A cut of a tree: which nodes are published and which are suppressed, and what that loses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Increasing.
    pub published: Vec<u32>,
    /// Increasing.
    pub suppressed: Vec<u32>,
    /// How many records are suppressed.
    pub n_suppressed: u64,
    /// What all records lose together; a suppressed one everything.
    pub loss: Steps,
    /// No cut within the same limits loses less than this.
    pub loss_at_least: Steps,
}

/// What a cut may lose at most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    pub(crate) n_lost: u64,
    /// In all.
    pub(crate) loss: Option<Steps>,
    /// By attribute that is limited, in steps of its own.
    pub(crate) of_attributes: Vec<(usize, Steps)>,
}

/// What a cut is to lose as little of as can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Goal {
    Loss,
    Records,
}

/// The best cut that was found, and what none goes below.
pub(crate) struct BestCut {
    pub(crate) folded: Option<Folded>,
    /// In steps of loss, or in records; the greatest number where it is proved that there is no cut.
    pub(crate) at_least: u64,
}

/// What can be limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Limited {
    Loss,
    Lost,
    Attribute(usize),
}

/// How often each price is found again where there are several, and how many cuts are looked at for each.
const N_ROUNDS: usize = 4;
const N_LOOKS: usize = 48;

/// No price is higher: sums of it still fit.
const PRICE_MAX: u128 = 1 << 75;

struct Search<'a> {
    live: &'a Live<'a>,
    limits: Vec<(Limited, u64)>,
    goal: Goal,
    /// What is lost at most, whatever the goal.
    loss_max: Option<Steps>,
    found: Option<Folded>,
    at_least: u64,
    /// The prices that say so.
    tightest: Option<Prices>,
    /// Whether any cut within the limits will do.
    any_will_do: bool,
    task: &'a Task<'a>,
}

/// The best cut within limits.
pub(crate) fn best(live: &Live, limits: &Limits, goal: Goal, n_records: u64, task: &Task) -> Result<BestCut> {
    let mut search = Search::new(live, limits, goal, n_records, task);
    search.run()?;
    Ok(BestCut { folded: search.found, at_least: search.at_least })
}

/// Whether there is a cut within limits, as far as one was found.
pub(crate) fn is_possible(live: &Live, limits: &Limits, n_records: u64, task: &Task) -> Result<bool> {
    let mut search = Search { any_will_do: true, ..Search::new(live, limits, Goal::Loss, n_records, task) };
    search.run()?;
    Ok(search.found.is_some())
}

impl<'a> Search<'a> {
    fn new(live: &'a Live, limits: &Limits, goal: Goal, n_records: u64, task: &'a Task) -> Search<'a> {
        let mut all: Vec<(Limited, u64)> = Vec::new();
        match goal {
            Goal::Loss if limits.n_lost > 0 && limits.n_lost < n_records => {
                all.push((Limited::Lost, limits.n_lost * LOSS_ONE));
            }
            Goal::Loss => {}
            Goal::Records => all.extend(limits.loss.map(|loss| (Limited::Loss, loss))),
        }
        all.extend(limits.of_attributes.iter().enumerate().map(|(i, &(_, steps))| (Limited::Attribute(i), steps)));
        let loss_max = limits.loss.filter(|_| goal == Goal::Loss);
        Search { live, limits: all, goal, loss_max, found: None, at_least: 0, tightest: None, any_will_do: false, task }
    }
}

/// The nodes that a request about these criteria and limits decides about.
pub(crate) fn live<'a>(tree: &'a Tree, criteria: &Criteria, limits: &Limits, may_lose: bool) -> Live<'a> {
    let attributes: Vec<usize> = limits.of_attributes.iter().map(|&(a, _)| a).collect();
    let signatures = tree.signatures();
    let test = signatures.test(criteria);
    // Whatever is counted, a node has no more of it than the one above; and no more people than records.
    let k = criteria.value(Measure::Size).unwrap_or(0);
    let is_hopeless = |node: usize| signatures.is_over_people() && signatures.size(tree.signature(node)) < k;
    let shape = tree.shape();
    match test.only_size().filter(|_| !signatures.is_over_people()) {
        Some(k) => Live::new(shape, |node| shape.n_records(node) >= k, is_hopeless, k, &attributes, may_lose),
        None => Live::new(shape, |node| test.holds(tree.signature(node)), is_hopeless, k, &attributes, may_lose),
    }
}

impl Search<'_> {
    fn run(&mut self) -> Result<()> {
        let mut prices = self.prices(ONE);
        // Nothing has a price yet: where all limits are kept all the same, there is nothing better.
        let Some(free) = self.look(&prices)? else {
            self.at_least = u64::MAX;
            return Ok(());
        };
        if self.found.is_some()
            || self.is_over()
            || self.limits.iter().all(|&limit| self.used(&free.totals, limit.0) <= limit.1)
        {
            return Ok(());
        }
        let mut beyond = vec![free];
        let n_rounds = if self.limits.len() == 1 { 1 } else { N_ROUNDS };
        for _ in 0..n_rounds {
            let before = prices.clone();
            for limit in self.limits.clone() {
                match self.find_price(&mut prices, limit)? {
                    Price::Impossible => {
                        self.at_least = u64::MAX;
                        return Ok(());
                    }
                    Price::Nothing => {}
                    Price::Found(over) => beyond.push(over),
                }
                if self.is_over() {
                    return Ok(());
                }
            }
            if prices == before {
                break;
            }
        }
        for over in beyond.into_iter().rev() {
            self.exchanged(&over)?;
        }
        self.decide(&prices)
    }

    /// Whether nothing more needs to be looked at.
    fn is_over(&self) -> bool {
        let is_too_much = self.loss_max.is_some_and(|most| self.at_least > most);
        is_too_much || (self.any_will_do && self.found.is_some())
    }

    /// Looks at all that could still be better than what was found.
    fn decide(&mut self, prices: &Prices) -> Result<()> {
        let prices = self.tightest.take().unwrap_or_else(|| prices.clone());
        match self.limits.len() {
            1 => self.decide_within::<1>(&prices),
            2 => self.decide_within::<2>(&prices),
            3 => self.decide_within::<3>(&prices),
            4 => self.decide_within::<4>(&prices),
            _ => Ok(()),
        }
    }

    /// The same for so many limits.
    fn decide_within<const N: usize>(&mut self, prices: &Prices) -> Result<()> {
        let limits: [(Limited, u64); N] = self.limits[..].try_into().expect("there are as many");
        let (live, goal) = (self.live, self.goal);
        let goal_of = |totals: &Totals| if goal == Goal::Loss { totals.loss } else { totals.n_lost * LOSS_ONE };
        let found = self.found.as_ref().map(|found| goal_of(&found.totals));
        // Where nothing was found yet, whatever is within the limits will do.
        let known = found.or(self.loss_max.map(|most| most + 1)).unwrap_or(live.n_records(0) * LOSS_ONE + 1);
        let least = if goal == Goal::Loss { self.at_least } else { self.at_least.saturating_mul(LOSS_ONE) };
        if self.is_over() || known <= least {
            return Ok(());
        }
        self.task.go_on()?;
        let Some(cheapest) = live.fold(prices) else { return Ok(()) };
        let cost = live.price_of(&cheapest.totals, prices);
        let of_limits: u128 =
            limits.iter().map(|&(limited, most)| self.price(prices, limited) * u128::from(most)).sum();
        let at_most = u128::from(known - 1) * ONE + of_limits;
        let uses = |place: usize, choice: Choice| {
            let n_lost = if choice == Choice::Lose { live.n_records(place) * LOSS_ONE } else { 0 };
            let loss = if choice == Choice::Publish { live.loss(place) } else { n_lost };
            let used = limits.map(|(limited, _)| match limited {
                Limited::Loss => loss,
                Limited::Lost => n_lost,
                Limited::Attribute(i) => live.loss_of(place, i, choice),
            });
            (if goal == Goal::Loss { loss } else { n_lost }, used)
        };
        let Some(gap) = at_most.checked_sub(cost) else { return Ok(()) };
        let used_max = limits.map(|(_, most)| most);
        match (CutProblem { live, prices, uses: &uses, used_max, gap }).decide() {
            Decided::Open => return Ok(()),
            Decided::Best(Some(choices)) => self.consider(&Folded { totals: live.totals(&choices), choices }),
            Decided::Best(None) => {}
        }
        // Whatever was found is now known to be the best within the limits.
        let known = self.found.as_ref().map(|found| self.worth(&found.totals).0);
        self.at_least = known.map_or(u64::MAX, |known| self.at_least.max(known));
        Ok(())
    }

    /// Only the goal has a price.
    fn prices(&self, of_goal: u128) -> Prices {
        let n = self.limits.iter().filter(|(limited, _)| matches!(limited, Limited::Attribute(_))).count();
        let (loss, lost) = if self.goal == Goal::Loss { (of_goal, 0) } else { (0, of_goal) };
        Prices { loss, lost, of_attributes: vec![0; n] }
    }

    /// What a cut uses of something limited, in steps.
    fn used(&self, totals: &Totals, limited: Limited) -> u64 {
        match limited {
            Limited::Loss => totals.loss,
            Limited::Lost => totals.n_lost * LOSS_ONE,
            Limited::Attribute(i) => totals.of_attributes[i],
        }
    }

    fn is_within(&self, totals: &Totals) -> bool {
        self.limits.iter().all(|&(limited, most)| self.used(totals, limited) <= most)
            && self.loss_max.is_none_or(|most| totals.loss <= most)
    }

    /// What is to be as little as can be; the other of records and loss decides among equals.
    fn worth(&self, totals: &Totals) -> (u64, u64) {
        match self.goal {
            Goal::Loss => (totals.loss, totals.n_lost),
            Goal::Records => (totals.n_lost, totals.loss),
        }
    }

    /// Keeps a cut if it is within all limits and better than what was found.
    fn consider(&mut self, folded: &Folded) {
        let is_better = |found: &Folded| self.worth(&folded.totals) < self.worth(&found.totals);
        if self.is_within(&folded.totals) && self.found.as_ref().is_none_or(is_better) {
            self.found = Some(folded.clone());
        }
    }

    /// The cheapest cut for some prices, and what that says of all cuts within the limits.
    fn look(&mut self, prices: &Prices) -> Result<Option<Folded>> {
        self.task.go_on()?;
        let Some(folded) = self.live.fold(prices) else { return Ok(None) };
        let cost = self.live.price_of(&folded.totals, prices);
        let of_limits: u128 =
            self.limits.iter().map(|&(limited, most)| self.price(prices, limited) * u128::from(most)).sum();
        let unit = if self.goal == Goal::Loss { ONE } else { ONE * u128::from(LOSS_ONE) };
        let at_least = cost.saturating_sub(of_limits).div_ceil(unit);
        let at_least = at_least.min(u128::from(u64::MAX - 1)) as u64;
        if at_least > self.at_least || self.tightest.is_none() {
            self.at_least = self.at_least.max(at_least);
            self.tightest = Some(prices.clone());
        }
        self.consider(&folded);
        Ok(Some(folded))
    }

    fn price(&self, prices: &Prices, limited: Limited) -> u128 {
        match limited {
            Limited::Loss => prices.loss,
            Limited::Lost => prices.lost,
            Limited::Attribute(i) => prices.of_attributes[i],
        }
    }

    fn set(&self, prices: &mut Prices, limited: Limited, price: u128) {
        match limited {
            Limited::Loss => prices.loss = price,
            Limited::Lost => prices.lost = price,
            Limited::Attribute(i) => prices.of_attributes[i] = price,
        }
    }

    /// Finds the price of one limited thing at which as little of it is used as may be, all other prices as they are.
    fn find_price(&mut self, prices: &mut Prices, (limited, most): (Limited, u64)) -> Result<Price> {
        self.set(prices, limited, 0);
        let Some(mut over) = self.look(prices)? else { return Ok(Price::Impossible) };
        if self.used(&over.totals, limited) <= most {
            return Ok(Price::Nothing);
        }
        // As little of it as any cut uses.
        let mut alone = self.prices(0);
        self.set(&mut alone, limited, ONE);
        let Some(mut under) = self.live.fold(&alone) else { return Ok(Price::Impossible) };
        if self.used(&under.totals, limited) > most {
            return Ok(Price::Impossible);
        }
        self.consider(&under);
        let without = prices.clone();
        for _ in 0..N_LOOKS {
            let cost = |folded: &Folded| self.live.price_of(&folded.totals, &without);
            let (of_over, of_under) = (cost(&over), cost(&under));
            let (n_over, n_under) = (self.used(&over.totals, limited), self.used(&under.totals, limited));
            // Where both are equally cheap.
            let price = (of_under.saturating_sub(of_over) / u128::from(n_over - n_under)).min(PRICE_MAX);
            self.set(prices, limited, price);
            let at = |of: u128, n: u64| of + price * u128::from(n);
            let Some(between) = self.look(prices)? else { return Ok(Price::Impossible) };
            let n_between = self.used(&between.totals, limited);
            let of_between = self.live.price_of(&between.totals, &without);
            if at(of_between, n_between) >= at(of_over, n_over).min(at(of_under, n_under)) {
                break;
            }
            if n_between <= most {
                under = between
            } else {
                over = between
            }
            if self.is_over() {
                break;
            }
        }
        Ok(Price::Found(over))
    }

    /// Does here and there what a cut beyond the limits does, where the limits are still kept and the goal comes nearer.
    fn exchanged(&mut self, beyond: &Folded) -> Result<()> {
        let Some(found) = self.found.clone() else { return Ok(()) };
        self.task.go_on()?;
        let mut differences = self.live.differences(&found.choices, &beyond.choices);
        let gain = |(_, now, then): &(usize, Totals, Totals)| {
            let (now, then) = (self.worth(now).0, self.worth(then).0);
            now.saturating_sub(then)
        };
        differences.retain(|difference| gain(difference) > 0);
        differences.sort_by_key(|difference| (std::cmp::Reverse(gain(difference)), difference.0));
        let mut better = found;
        let mut is_changed = false;
        for (place, now, then) in differences {
            let totals = exchanged(&better.totals, &now, &then);
            if self.is_within(&totals) && self.worth(&totals) < self.worth(&better.totals) {
                self.live.take_over(&mut better.choices, &beyond.choices, place);
                better.totals = totals;
                is_changed = true;
            }
        }
        if is_changed {
            debug_assert_eq!(better.totals, self.live.totals(&better.choices));
            self.consider(&better);
        }
        Ok(())
    }
}

enum Price {
    /// No cut keeps the limit.
    Impossible,
    /// It is kept without any price.
    Nothing,
    /// With the nearest cut that does not keep it.
    Found(Folded),
}

fn exchanged(totals: &Totals, now: &Totals, then: &Totals) -> Totals {
    let of_attributes = totals.of_attributes.iter().zip(now.of_attributes.iter().zip(&then.of_attributes));
    Totals {
        loss: totals.loss - now.loss + then.loss,
        n_lost: totals.n_lost - now.n_lost + then.n_lost,
        of_attributes: of_attributes.map(|(all, (now, then))| all - now + then).collect(),
    }
}

/// The nodes of a cut.
pub(crate) fn cut_of(live: &Live, folded: &Folded, loss_at_least: Steps) -> Cut {
    let (mut published, mut suppressed) = (Vec::new(), Vec::new());
    for place in live.chosen(&folded.choices) {
        match folded.choices[place] {
            Choice::Publish => published.push(live.node(place)),
            Choice::Lose => suppressed.push(live.node(place)),
            Choice::Divide => unreachable!("what is divided is not chosen"),
        }
    }
    published.sort_unstable();
    suppressed.sort_unstable();
    let Totals { loss, n_lost, .. } = folded.totals;
    Cut { published, suppressed, n_suppressed: n_lost, loss, loss_at_least: loss_at_least.min(loss) }
}
