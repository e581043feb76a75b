//! Every bargain over one criterion: what the tree loses at each of its values.

use crate::criterion::{Criterion, Measure};
use crate::error::Result;
use crate::recode::tree::Tree;
use crate::recode::tree::negotiate::{Offer, Request};
use crate::task::Task;

/// What the best cut loses where every group is asked for this value.
#[derive(Clone, Debug, PartialEq)]
pub struct Bargain {
    /// The strictest value that this cut keeps.
    pub value: u64,
    /// How many records are lost.
    pub n_suppressed: u64,
    /// How many groups are published.
    pub n_groups: u64,
    /// From 0 to 1.
    pub ncp: f64,
    /// No cut within the same limits loses less.
    pub ncp_at_least: f64,
}

impl Tree {
    /// The best cut at every value of a measure at which it changes, from the least private on: from the value that the
    /// request asks for, or the weakest that is privacy at all, to the strictest that can be kept within its limits.
    ///
    /// The best cut at one value is also the best at every stricter one that it keeps. So one cut follows the other, and
    /// none is looked for twice.
    ///
    /// # Errors
    /// Where the request has no meaning on this tree, or the task was cancelled.
    pub fn frontier(&self, request: &Request, measure: Measure, task: &Task) -> Result<Vec<Bargain>> {
        let mut value = request.criteria.value(measure).unwrap_or(measure.weakest());
        let mut bargains: Vec<Bargain> = Vec::new();
        loop {
            let criteria = request.criteria.with(Criterion { measure, value });
            let at_value = Request { criteria, ..request.clone() };
            at_value.check(self)?;
            let Some(offer) = self.best_within(&at_value, task)? else { return Ok(bargains) };
            // Where nothing is published, nothing is left to be said.
            let Some(reached) = offer.reached(measure) else { return Ok(bargains) };
            let bargain = bargain(&offer, reached);
            // What loses no less and is less private is none.
            let is_beaten = |known: &Bargain| known.ncp >= bargain.ncp && known.n_suppressed >= bargain.n_suppressed;
            while bargains.pop_if(|known| is_beaten(known)).is_some() {}
            bargains.push(bargain);
            value = match measure.is_at_least() {
                true => reached + 1,
                false if reached == 0 => return Ok(bargains),
                false => reached - 1,
            };
        }
    }
}

fn bargain(offer: &Offer, value: u64) -> Bargain {
    Bargain {
        value,
        n_suppressed: offer.cut.n_suppressed,
        n_groups: offer.n_groups(),
        ncp: offer.ncp,
        ncp_at_least: offer.ncp_at_least,
    }
}
