//! Boxes of generalizations of one record, and what everything in a box costs at least.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use crate::recode::per_record::models::{Goal, Risk, UTILITY_ONE};
use crate::recode::per_record::near::{NAtLevels, Near};
use crate::recode::per_record::published::Ordered;
use crate::recode::per_record::record::{Landscape, Record};

/// A most general corner and everything below it, the attributes before `first` fixed.
#[derive(Clone)]
pub(super) struct OneBox {
    pub(super) first: usize,
    /// The rows that may fit something in it, of those that the search keeps: its own once it is counted, and till then
    /// those of the box that it is part of.
    pub(super) rows: Range<usize>,
    pub(super) n_at_most: u64,
    pub(super) is_counted: bool,
}

/// A generalization that will do.
pub(super) struct Candidate {
    pub(super) levels: Vec<u8>,
    pub(super) risk: f64,
    pub(super) utility: i64,
    pub(super) rank: [f64; 3],
}

pub(super) struct Boxes {
    pub(super) n_attributes: usize,
    pub(super) goal: Goal,
    /// The risk that was allowed, which is compared with risks before they were rounded.
    pub(super) limit: Option<f64>,
    /// How much of a risk can be due to rounding.
    pub(super) rounding: f64,
    /// The least risk that there can be.
    pub(super) risk_at_least: f64,
    /// The utility that a generalization must have to be better than the best so far.
    pub(super) needed: i64,
    pub(super) near: Option<Near>,
    pub(super) n_small: usize,
    /// Rows of `near`, those of each box one after the other.
    pub(super) rows: Vec<u32>,
    pub(super) best: Option<Candidate>,
    pub(super) n_visited: usize,
    pub(super) boxes: Vec<OneBox>,
    /// Level by level, one corner after the other.
    pub(super) corners: Vec<u8>,
    /// What a box can cost at least, how much utility its corner lacks, and which it is.
    pub(super) queue: BinaryHeap<Reverse<(Ordered, i64, u32)>>,
    /// How many people of the box at hand fit up to each level of each attribute.
    pub(super) n_at_levels: NAtLevels,
    /// For the scalar form, how many of them fit something in the box with at least the utility of each step.
    pub(super) steps: Option<Steps>,
    pub(super) n_by_utility: Vec<u64>,
}

/// Utility from that of `*` everywhere to that of the record, in at most [`Steps::N_MAX`] parts of one width.
#[derive(Clone, Copy)]
pub(super) struct Steps {
    pub(super) least: i64,
    pub(super) width: i64,
    /// All utilities differ by multiples of this.
    pub(super) unit: i64,
    pub(super) n: usize,
}

impl Steps {
    pub(super) const N_MAX: i64 = 128;

    pub(super) fn new(record: &Record) -> Steps {
        let (tops, bottom) = (record.tops(), vec![0; record.n_attributes()]);
        let (least, most) = (record.utility(&tops), record.utility(&bottom));
        let gained = (0..tops.len()).flat_map(|a| (1..=tops[a]).map(move |level| record.gained(a, level)));
        let unit = gained.fold(0, greatest_common_divisor).max(1);
        let width = ((most - least) / Steps::N_MAX / unit + 1) * unit;
        Steps { least, width, unit, n: ((most - least) / width) as usize + 1 }
    }

    /// The part that a utility is in.
    pub(super) fn of(&self, utility: i64) -> usize {
        ((utility - self.least) / self.width) as usize
    }

    /// The least utility of a part, and the most.
    pub(super) fn ends(&self, part: usize) -> (i64, i64) {
        let least = self.least + part as i64 * self.width;
        (least, least + self.width - self.unit)
    }
}

fn greatest_common_divisor(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

/// Sums of rounded products may be off by this share; a bound stays below what it bounds.
pub(super) const ROUNDING: f64 = 1e-12;

impl Boxes {
    pub(super) fn corner(&self, place: usize) -> &[u8] {
        &self.corners[place * self.n_attributes..][..self.n_attributes]
    }

    /// The sensitivity that is best for the risk of anything in a box that has enough utility.
    pub(super) fn sensitivity_at_best(&self, record: &Record, corner: &[u8], first: usize) -> u64 {
        match record.risk_model() {
            Risk::Identity => 0,
            Risk::Sensitivity => {
                let missing = self.needed.saturating_sub(record.utility(corner)).max(0);
                record.sensitivity(corner) + record.sensitivity_for(corner, first, missing)
            }
            // The only way down is more sensitivity in a crowd that does not grow.
            Risk::Entropic => record.sensitivity_below(corner, first),
        }
    }

    /// What everything in a box costs at least, with a sensitivity at best and people at most.
    pub(super) fn bound(&self, record: &Record, corner: &[u8], first: usize, sensitivity: u64, n_at_most: u64) -> f64 {
        let risk = record.risk_model().of(sensitivity, n_at_most);
        let rounded_down = |bound: f64| bound - bound.abs() * ROUNDING;
        match (self.goal, record.risk_model()) {
            (Goal::Scalar { .. }, _) => {
                let cost = self.goal.cost(risk, record.utility_below(corner, first));
                rounded_down(cost.expect("everything will do"))
            }
            (_, Risk::Entropic) => rounded_down(risk),
            // One division of whole numbers: no rounding turns their order, and ties stay ties.
            _ => risk,
        }
    }

    /// The same from how many of the people in a box each attribute leaves at each level: a crowd of n needs n of them in
    /// every attribute, which says how low each may go, and so how much utility a crowd of n can have. From the greatest
    /// crowd to the smallest, this is what they cost at least.
    pub(super) fn bound_by_levels(&self, record: &Record, corner: &[u8], first: usize, n_fitting: u64) -> f64 {
        if let (Goal::Scalar { lambda }, Some(steps)) = (self.goal, &self.steps) {
            return self.bound_by_steps(record, corner, first, n_fitting, lambda, steps);
        }
        let model = record.risk_model();
        let (mut n, mut utility, mut sensitivity) = (n_fitting, record.utility(corner), record.sensitivity(corner));
        let needs = match model {
            Risk::Sensitivity => record.sensitivity_for(corner, first, self.needed.saturating_sub(utility).max(0)),
            Risk::Identity | Risk::Entropic => 0,
        };
        let of_corner = sensitivity + needs;
        let mut least = f64::INFINITY;
        let mut levels = self.levels_inside(corner, first);
        loop {
            if utility >= self.needed {
                if model != Risk::Entropic {
                    // Later crowds are smaller.
                    return model.of(of_corner, n);
                }
                let risk = model.of(sensitivity, n);
                let worth = match self.goal {
                    Goal::Scalar { lambda } => lambda * (utility as f64 / UTILITY_ONE as f64),
                    _ => 0.0,
                };
                least = least.min(risk - worth - (risk.abs() + worth.abs()) * ROUNDING);
            }
            let Some((n_left, level, attribute)) = levels.next() else { return least };
            n = n.min(n_left);
            utility += record.gained(attribute, level + 1);
            sensitivity += record.sensitivity_gained(attribute, level + 1);
        }
    }

    /// The levels of a box below its corner, with how many of the people at hand fit up to each, the most first.
    pub(super) fn levels_inside<'a>(
        &'a self,
        corner: &'a [u8],
        first: usize,
    ) -> impl Iterator<Item = (u64, u8, usize)> + 'a {
        let levels = self.n_at_levels.in_order.iter().map(|&(n, level, attribute)| (n, level, usize::from(attribute)));
        levels.filter(move |(_, level, attribute)| *attribute >= first && *level < corner[*attribute])
    }

    /// The same for the scalar form, from the least utility in a box to the most: what has so much fits no more people
    /// than levels allow, and only people who fit something with so much.
    pub(super) fn bound_by_steps(
        &self,
        record: &Record,
        corner: &[u8],
        first: usize,
        n_fitting: u64,
        lambda: f64,
        steps: &Steps,
    ) -> f64 {
        let (of_corner, most) = (record.utility(corner), record.utility_below(corner, first));
        let from = self.needed.max(of_corner);
        if from > most {
            return f64::INFINITY;
        }
        let is_sensitive = record.risk_model() == Risk::Sensitivity;
        let mut prices = if is_sensitive { record.prices(corner, first) } else { Vec::new() };
        prices.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let (mut prices, mut paid, mut bought) = (prices.into_iter().peekable(), 0.0, of_corner);
        let (mut n, mut utility) = (n_fitting, of_corner);
        let mut levels = self.levels_inside(corner, first);
        let mut least = f64::INFINITY;
        for part in steps.of(from)..=steps.of(most) {
            let (low, high) = steps.ends(part);
            let (low, high) = (low.max(from), high.min(most));
            if high < low {
                continue;
            }
            while utility < low {
                let Some((n_left, level, attribute)) = levels.next() else { return least };
                n = n.min(n_left);
                utility += record.gained(attribute, level + 1);
            }
            // The cheapest attributes give all that they have.
            while let Some((price, has)) = prices.next_if(|(_, has)| bought + has < low) {
                paid += price * has as f64;
                bought += has;
            }
            let rest = prices.peek().map_or(0.0, |(price, _)| price * (low - bought) as f64);
            let needs = ((paid + rest) * (1.0 - ROUNDING)).floor() as u64;
            let sensitivity = if is_sensitive { record.sensitivity(corner) + needs } else { 0 };
            let risk = record.risk_model().of(sensitivity, n.min(self.n_by_utility[part]).max(1));
            let worth = lambda * (high as f64 / UTILITY_ONE as f64);
            least = least.min(risk - worth - (risk.abs() + worth.abs()) * ROUNDING);
        }
        least
    }
}
