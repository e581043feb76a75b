//! Whether a request can be met by a cut of the tree, and if not, what the three nearest offers are.

use crate::criterion::{Criteria, Criterion, Measure};
use crate::error::{Error, ErrorKind, Result, Wording};
use crate::loss::{LOSS_ONE, Steps};
use crate::recode::tree::Tree;
use crate::recode::tree::best::{Cut, Goal, Limits, best, cut_of, is_possible, live};
use crate::task::Task;

/// What someone wishes for: at least this much privacy, at most this many records lost, at most this much loss.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// What every published group must keep.
    pub criteria: Criteria,
    /// The most records that may be lost.
    pub n_suppressed_max: u64,
    /// The most that records may lose on average, from 0 to 1; a suppressed one loses everything.
    pub loss_max: Option<f64>,
    /// The same for single attributes, each at most once.
    pub loss_max_of: Vec<(usize, f64)>,
}

/// The answer to a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The request is met, by the cut that loses least.
    Exact(Offer),
    /// They cannot all be met; each offer gives up one of them.
    Offers(Offers),
}

/// Three ways out, each the best cut for a request that gives up as little as possible of one wish.
#[derive(Clone, Debug, PartialEq)]
pub struct Offers {
    /// More records are lost: the fewest with which the loss is not more than asked.
    pub suppression: Option<Offer>,
    /// More is lost of the values: the least that the criteria and the records that may be lost allow.
    pub loss: Option<Offer>,
    /// Less privacy: the strictest value of one criterion that works, see [`Measure::weakest`].
    pub privacy: Option<Offer>,
    /// With several criteria, what each alone could be relaxed to; the privacy offer takes the smallest concession.
    pub privacy_alternatives: Vec<Offer>,
}

/// A cut and what publishing it would give.
#[derive(Clone, Debug, PartialEq)]
pub struct Offer {
    /// The criteria that every published group keeps.
    pub criteria: Criteria,
    /// What is published and what is suppressed.
    pub cut: Cut,
    /// What was measured, with the least private value of a published group; empty when all is suppressed.
    pub reached: Vec<(Measure, u64)>,
    /// What a record loses on average, from 0 to 1; a suppressed one everything.
    pub ncp: f64,
    /// No cut within the limits of this offer loses less.
    pub ncp_at_least: f64,
    /// What a record loses on average of each attribute.
    pub ncp_of_attribute: Vec<f64>,
}

impl Offer {
    /// How many groups would be published.
    pub fn n_groups(&self) -> u64 {
        self.cut.published.len() as u64
    }

    /// The least private value of a measure among published groups.
    pub fn reached(&self, measure: Measure) -> Option<u64> {
        self.reached.iter().find(|(known, _)| *known == measure).map(|(_, value)| *value)
    }
}

impl Answer {
    /// All offers of the answer.
    pub fn offers(&self) -> Vec<&Offer> {
        match self {
            Answer::Exact(offer) => vec![offer],
            Answer::Offers(Offers { suppression, loss, privacy, privacy_alternatives }) => {
                suppression.iter().chain(loss).chain(privacy).chain(privacy_alternatives).collect()
            }
        }
    }
}

impl Request {
    /// Refuses what has no meaning on this tree; an impossible wish is not refused, it gets offers.
    ///
    /// # Errors
    /// Where a criterion was not measured, or a limit has no meaning.
    pub fn check(&self, tree: &Tree) -> Result<()> {
        let wrong = |message: String| Err(Error::new(ErrorKind::Request, message));
        tree.signatures().check_measured(&self.criteria)?;
        let n_records = tree.n_records();
        if self.n_suppressed_max > n_records {
            return wrong(format!("at most {n_records} records can be suppressed, there are no more"));
        }
        let shares = self.loss_max.iter().chain(self.loss_max_of.iter().map(|(_, share)| share));
        if shares.into_iter().any(|share| !(0.0..=1.0).contains(share)) {
            let hint = Wording::text("for example ").example("max_loss", "10%");
            return Err(Error::new(ErrorKind::Request, "a loss is from 0% to 100%").hint(hint));
        }
        for (i, (attribute, _)) in self.loss_max_of.iter().enumerate() {
            if self.loss_max_of[..i].iter().any(|(before, _)| before == attribute) {
                return wrong("the loss of an attribute is limited twice".into());
            }
            match tree.shape().whole().get(*attribute) {
                None => return wrong("the loss of an attribute is limited that takes no part".into()),
                Some(0) => {
                    return wrong("the loss of an attribute is limited that has no weight".into());
                }
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// What published groups may lose on each limited attribute, in steps of the loss, where so many records are lost.
    pub fn limits_of_published(&self, tree: &Tree, n_suppressed: u64) -> Vec<(usize, Steps)> {
        let whole = tree.shape().whole();
        let left = |(a, most): (usize, Steps)| (a, most.saturating_sub(n_suppressed * u64::from(whole[a])));
        self.limits(tree).of_attributes.into_iter().map(left).collect()
    }

    fn limits(&self, tree: &Tree) -> Limits {
        let n_records = tree.n_records();
        // A hair more, so that 10 % is 10 % however the computer writes 0.1.
        let steps = |share: f64, whole: u64| (share * (1.0 + 1e-12) * n_records as f64 * whole as f64).floor() as u64;
        let of =
            |&(attribute, share): &(usize, f64)| (attribute, steps(share, u64::from(tree.shape().whole()[attribute])));
        Limits {
            n_lost: self.n_suppressed_max,
            loss: self.loss_max.map(|share| steps(share, LOSS_ONE)),
            of_attributes: self.loss_max_of.iter().map(of).collect(),
        }
    }
}

impl Tree {
    /// How many records it has.
    pub fn n_records(&self) -> u64 {
        self.shape().n_records(self.shape().root())
    }

    /// Answers a request.
    ///
    /// # Guarantee
    /// An exact answer keeps every criterion in every published group and every limit, and of all cuts of the tree that do
    /// none loses less than its `ncp_at_least`; that is what it loses itself, unless more cuts are left open by prices than
    /// can be looked at, which may be so with limits on single attributes.
    /// Each offer is the exact answer to its relaxed request, and no smaller relaxation of that wish has one: not fewer records
    /// within the loss, not less loss with these records, not a stricter value of the criterion that is relaxed. Where too
    /// many cuts are left open, none was found.
    /// All this holds for criteria that are not monotone too, and where people are counted.
    ///
    /// # Errors
    /// Where the request has no meaning on this tree, or the task was cancelled.
    pub fn negotiate(&self, request: &Request, task: &Task) -> Result<Answer> {
        request.check(self)?;
        if let Some(offer) = self.best_within(request, task)? {
            return Ok(Answer::Exact(offer));
        }
        let privacy_alternatives = self.relax_privacy(request, task)?;
        Ok(Answer::Offers(Offers {
            suppression: self.relax_suppression(request, task)?,
            loss: self.relax_loss(request, task)?,
            privacy: privacy_alternatives.first().cloned(),
            privacy_alternatives,
        }))
    }

    /// The exact answer to a request, if there is one: no offers are looked for.
    ///
    /// # Errors
    /// As for [`Tree::negotiate`].
    pub fn best(&self, request: &Request, task: &Task) -> Result<Option<Offer>> {
        request.check(self)?;
        self.best_within(request, task)
    }

    /// The cut that loses least among those that keep all of a request.
    pub(crate) fn best_within(&self, request: &Request, task: &Task) -> Result<Option<Offer>> {
        let limits = request.limits(self);
        let live = live(self, &request.criteria, &limits, limits.n_lost > 0);
        let found = best(&live, &limits, Goal::Loss, self.n_records(), task)?;
        Ok(found.folded.map(|folded| self.offer(cut_of(&live, &folded, found.at_least), &request.criteria)))
    }

    /// The fewest records that must be lost for the loss that may be, and the best cut that loses so many.
    fn relax_suppression(&self, request: &Request, task: &Task) -> Result<Option<Offer>> {
        let limits = request.limits(self);
        let live = live(self, &request.criteria, &limits, true);
        let found = best(&live, &limits, Goal::Records, self.n_records(), task)?;
        let Some(fewest) = found.folded else { return Ok(None) };
        let relaxed = Request { n_suppressed_max: fewest.totals.n_lost, ..request.clone() };
        let offer = self.best_within(&relaxed, task)?;
        Ok(Some(offer.unwrap_or_else(|| self.offer(cut_of(&live, &fewest, 0), &request.criteria))))
    }

    fn relax_loss(&self, request: &Request, task: &Task) -> Result<Option<Offer>> {
        if request.loss_max.is_none() && request.loss_max_of.is_empty() {
            return Ok(None);
        }
        self.best_within(&Request { loss_max: None, loss_max_of: Vec::new(), ..request.clone() }, task)
    }

    /// What each criterion alone could be relaxed to, the smallest concession first.
    fn relax_privacy(&self, request: &Request, task: &Task) -> Result<Vec<Offer>> {
        let mut alternatives: Vec<(f64, Offer)> = Vec::new();
        for criterion in request.criteria.iter() {
            if let Some(value) = self.strictest(request, criterion, task)? {
                let criteria = request.criteria.with(criterion.with_value(value));
                let offer = self.best_within(&Request { criteria, ..request.clone() }, task)?;
                alternatives.extend(offer.map(|offer| (criterion.share_left(value), offer)));
            }
        }
        // Relative to what was asked; the earlier criterion where they tie.
        alternatives.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        Ok(alternatives.into_iter().map(|(_, offer)| offer).collect())
    }

    /// The strictest value of a criterion, weaker than asked, with which there is a cut.
    ///
    /// Only values that some node measures change anything, and whatever works with one works with all weaker ones.
    fn strictest(&self, request: &Request, criterion: Criterion, task: &Task) -> Result<Option<u64>> {
        let measure = criterion.measure;
        let weakest = criterion.with_value(measure.weakest());
        let column = self.signatures().column(measure).expect("it was checked that all criteria were measured");
        let values = (0..self.signatures().len()).map(|signature| self.signatures().of(signature)[column]);
        let mut values: Vec<u64> = values.filter(|&value| !criterion.holds(value) && weakest.holds(value)).collect();
        values.sort_unstable();
        values.dedup();
        // From the weakest on.
        if !measure.is_at_least() {
            values.reverse();
        }
        let limits = request.limits(self);
        let works = |value: u64| {
            let criteria = request.criteria.with(criterion.with_value(value));
            let live = live(self, &criteria, &limits, limits.n_lost > 0);
            is_possible(&live, &limits, self.n_records(), task)
        };
        // How many of the weakest are known to work, and how many are not known to fail.
        let (mut n_working, mut n_open) = (0, values.len());
        while n_working < n_open {
            let middle = n_working + (n_open - n_working).div_ceil(2);
            match works(values[middle - 1])? {
                true => n_working = middle,
                false => n_open = middle - 1,
            }
        }
        Ok(n_working.checked_sub(1).map(|last| values[last]))
    }

    pub(crate) fn offer(&self, cut: Cut, criteria: &Criteria) -> Offer {
        let shape = self.shape();
        let mut of_attribute = vec![0u64; shape.n_attributes()];
        let mut reached: Option<Vec<u64>> = None;
        let measures = self.signatures().measures();
        for &node in &cut.published {
            let n_records = shape.n_records(node as usize);
            for (sum, &cost) in of_attribute.iter_mut().zip(shape.costs(node as usize)) {
                *sum += n_records * u64::from(cost);
            }
            let values = self.signatures().of(self.signature(node as usize));
            match &mut reached {
                None => reached = Some(values.to_vec()),
                Some(reached) => {
                    for ((least, &value), measure) in reached.iter_mut().zip(values).zip(measures) {
                        *least = if measure.is_at_least() { value.min(*least) } else { value.max(*least) };
                    }
                }
            }
        }
        let n_records = self.n_records() as f64;
        let share = |(&steps, &whole): (&u64, &u32)| match whole {
            0 => cut.n_suppressed as f64 / n_records,
            _ => (steps as f64 / f64::from(whole) + cut.n_suppressed as f64) / n_records,
        };
        let ncp = |steps: u64| (steps as f64 / (n_records * LOSS_ONE as f64)).min(1.0);
        Offer {
            criteria: criteria.clone(),
            reached: measures.iter().copied().zip(reached.unwrap_or_default()).collect(),
            ncp: ncp(cut.loss),
            ncp_at_least: ncp(cut.loss_at_least),
            ncp_of_attribute: of_attribute.iter().zip(shape.whole()).map(share).collect(),
            cut,
        }
    }
}
