//! One record with all of its generalizations: what each is worth, whom it fits, and bounds on what is below.

use std::cmp::Reverse;

use crate::recode::per_record::dictionary::{AskedBefore, Dictionary};
use crate::recode::per_record::models::{Goal, Risk, Rung};
use crate::recode::per_record::near::Near;

/// The generalizations of a record and what each is worth, however that is known.
pub trait Landscape {
    /// The greatest level of each attribute.
    fn tops(&self) -> Vec<u8>;
    /// In steps of 1 / [`UTILITY_ONE`](crate::recode::per_record::UTILITY_ONE).
    fn utility(&self, levels: &[u8]) -> i64;
    /// By the record's model of risk.
    fn risk(&mut self, levels: &[u8]) -> f64;
}

/// The generalizations of one record.
pub struct Record<'a> {
    /// By attribute and level.
    pub(super) chains: Vec<Vec<Rung>>,
    /// Which attribute of the table each chain is of.
    order: Vec<usize>,
    risk_model: Risk,
    dictionary: &'a Dictionary,
    known: &'a mut AskedBefore,
    /// Room for the labels of one generalization.
    labels: Vec<(u8, u32)>,
}

impl<'a> Record<'a> {
    pub(super) fn new(
        chains: Vec<Vec<Rung>>,
        risk_model: Risk,
        dictionary: &'a Dictionary,
        known: &'a mut AskedBefore,
    ) -> Record<'a> {
        let (order, labels) = ((0..chains.len()).collect(), vec![(0, 0); chains.len()]);
        Record { chains, order, risk_model, dictionary, known, labels }
    }

    pub(super) fn n_attributes(&self) -> usize {
        self.chains.len()
    }

    pub(super) fn top(&self, attribute: usize) -> u8 {
        (self.chains[attribute].len() - 1) as u8
    }

    pub(super) fn risk_model(&self) -> Risk {
        self.risk_model
    }

    pub(super) fn rungs<'b>(&'b self, levels: &'b [u8]) -> impl Iterator<Item = &'b Rung> {
        self.chains.iter().zip(levels).map(|(chain, level)| &chain[usize::from(*level)])
    }

    pub(super) fn sensitivity(&self, levels: &[u8]) -> u64 {
        self.rungs(levels).map(|rung| rung.sensitivity).sum()
    }

    /// Whether a generalization that fits so many people is what is wanted, as far as that is not a question of more or
    /// less.
    pub fn will_do(&mut self, levels: &[u8], goal: Goal) -> bool {
        match goal {
            Goal::MostUtility { risk_at_most } => {
                let n_fitting = self.n_fitting(levels);
                self.is_at_most(levels, n_fitting, risk_at_most)
            }
            _ => {
                let risk = self.risk(levels);
                goal.cost(risk, self.utility(levels)).is_some()
            }
        }
    }

    /// Whether the risk of a generalization that fits so many people is at most so much.
    ///
    /// Sensitivities are rounded to steps, so that 1/10 is a little more than 0.1 there. Where that would decide, they are
    /// added up as they are: a risk of exactly 0.05 is at most 0.05.
    pub(super) fn is_at_most(&self, levels: &[u8], n_fitting: u64, risk_at_most: f64) -> bool {
        let risk = self.risk_model.of(self.sensitivity(levels), n_fitting);
        match (risk - risk_at_most).abs() > self.rounding(n_fitting) {
            true => risk <= risk_at_most,
            false => {
                let sensitivity = self.rungs(levels).map(|rung| rung.unrounded).sum();
                let risk = self.risk_model.of_unrounded(sensitivity, n_fitting);
                risk <= risk_at_most + risk_at_most.abs() * 1e-12
            }
        }
    }

    /// How much the risk of something that fits so many people can change by rounding its sensitivities to steps.
    pub(super) fn rounding(&self, n_fitting: u64) -> f64 {
        match self.risk_model {
            Risk::Identity => 0.0,
            model => model.of(self.chains.len() as u64, n_fitting).abs(),
        }
    }

    /// How many people a generalization fits.
    pub fn n_fitting(&mut self, levels: &[u8]) -> u64 {
        for ((chain, &level), &attribute) in self.chains.iter().zip(levels).zip(&self.order) {
            self.labels[attribute] = (level, chain[usize::from(level)].label);
        }
        self.dictionary.n_fitting(&self.labels, self.known)
    }

    /// How many people fit one value of a generalization, whatever the others.
    pub(super) fn n_fitting_alone(&self, attribute: usize, level: u8) -> u64 {
        self.chains[attribute][usize::from(level)].n_fitting
    }

    /// How many generalizations there are.
    pub(super) fn n_generalizations(&self) -> f64 {
        self.chains.iter().map(|chain| chain.len() as f64).product()
    }

    /// Puts the attributes in an order; `order` has places of what is there now.
    pub(super) fn arrange(&mut self, order: &[usize]) {
        self.chains = order.iter().map(|&place| std::mem::take(&mut self.chains[place])).collect();
        self.order = order.iter().map(|&place| self.order[place]).collect();
    }

    /// Levels of the attributes as they are now, in the order of the table.
    pub(super) fn in_order_of_table(&self, levels: &[u8]) -> Vec<u8> {
        let mut of_table = vec![0; levels.len()];
        self.order.iter().zip(levels).for_each(|(&attribute, &level)| of_table[attribute] = level);
        of_table
    }

    /// Puts the attributes back where they were.
    pub(super) fn restore(&mut self) {
        let mut places: Vec<usize> = (0..self.chains.len()).collect();
        places.sort_by_key(|&place| self.order[place]);
        self.arrange(&places);
    }

    /// Puts the attributes first that have the most to say: what is fixed early then decides the most.
    pub(super) fn arrange_by_sensitivity(&mut self) {
        let mut places: Vec<usize> = (0..self.chains.len()).collect();
        places.sort_by_key(|&place| Reverse(self.chains[place][0].sensitivity));
        self.arrange(&places);
    }

    /// The rows of the dictionary that fit some generalization with enough utility: the most specific one that a row fits
    /// has the lowest level of each attribute at which it does.
    pub(super) fn near(&self, needed: i64) -> Near {
        // By attribute and value of the dictionary.
        let lowest: Vec<Vec<u8>> = (self.chains.iter().zip(&self.order))
            .map(|(chain, &a)| self.dictionary.lowest_levels(a, chain.iter().map(|rung| rung.label)))
            .collect();
        let mut near = Near::new(self.tops());
        let mut levels = vec![0; self.chains.len()];
        for row in 0..self.dictionary.n_rows() {
            let codes = self.dictionary.codes(row);
            let mut utility = 0;
            for (place, (&a, lowest)) in self.order.iter().zip(&lowest).enumerate() {
                levels[place] = lowest[codes[a].index()];
                utility += self.chains[place][usize::from(levels[place])].utility;
            }
            if utility >= needed {
                near.push(&levels, &self.chains, utility, self.dictionary.size(row));
            }
        }
        near
    }

    /// What one step down from a level gains.
    pub(super) fn gained(&self, attribute: usize, level: u8) -> i64 {
        let (level, chain) = (usize::from(level), &self.chains[attribute]);
        chain[level - 1].utility - chain[level].utility
    }

    /// The sensitivity of one step down from a level.
    pub(super) fn sensitivity_gained(&self, attribute: usize, level: u8) -> u64 {
        let (level, chain) = (usize::from(level), &self.chains[attribute]);
        chain[level - 1].sensitivity - chain[level].sensitivity
    }

    /// By attribute from `first` on, what a step of utility below a corner costs at least in steps of sensitivity, and how
    /// many there are.
    pub(super) fn prices(&self, corner: &[u8], first: usize) -> Vec<(f64, i64)> {
        let free = self.chains.iter().zip(corner).skip(first);
        let prices = free.map(|(chain, level)| {
            let rung = &chain[usize::from(*level)];
            (rung.price, chain[0].utility - rung.utility)
        });
        prices.filter(|(_, has)| *has > 0).collect()
    }

    /// The utility of the attributes before `first`.
    pub(super) fn utility_before(&self, corner: &[u8], first: usize) -> i64 {
        self.rungs(corner).take(first).map(|rung| rung.utility).sum()
    }

    /// The most utility below a corner of which the attributes before `first` are fixed.
    pub(super) fn utility_below(&self, corner: &[u8], first: usize) -> i64 {
        self.utility_before(corner, first) + self.chains[first..].iter().map(|chain| chain[0].utility).sum::<i64>()
    }

    /// The most sensitivity below a corner of which the attributes before `first` are fixed.
    pub(super) fn sensitivity_below(&self, corner: &[u8], first: usize) -> u64 {
        let fixed: u64 = self.rungs(corner).take(first).map(|rung| rung.sensitivity).sum();
        fixed + self.chains[first..].iter().map(|chain| chain[0].sensitivity).sum::<u64>()
    }

    /// The sensitivity that more utility costs at least, below a corner of which the attributes before `first` are fixed:
    /// the cheapest attributes give all that they have.
    pub(super) fn sensitivity_for(&self, corner: &[u8], first: usize, missing: i64) -> u64 {
        let (mut missing, mut cost) = (missing, 0.0);
        let mut is_used = 0u64;
        while missing > 0 {
            let free = self.chains.iter().zip(corner).enumerate().skip(first);
            let unused = free.filter(|(a, _)| *a >= 64 || is_used >> a & 1 == 0);
            let prices = unused.map(|(a, (chain, level))| {
                let rung = &chain[usize::from(*level)];
                (rung.price, a, chain[0].utility - rung.utility)
            });
            let cheapest = prices.filter(|(price, ..)| price.is_finite()).min_by(|x, y| x.0.total_cmp(&y.0));
            let Some((price, a, has)) = cheapest else { break };
            // Beyond the attributes that are kept track of, the cheapest has no end.
            let given = if a < 64 { has.min(missing) } else { missing };
            is_used |= 1u64.checked_shl(a as u32).unwrap_or(0);
            cost += price * given as f64;
            missing -= given;
        }
        (cost * (1.0 - 1e-12)).floor() as u64
    }

    /// Moves a corner down to the closest one below which everything with enough utility is; false where nothing has.
    pub(super) fn lower_to(&self, corner: &mut [u8], first: usize, needed: i64) -> bool {
        // What all others may lose together when one attribute is looked at.
        let spare = self.utility_below(corner, first) - needed;
        if spare < 0 {
            return false;
        }
        for (chain, level) in self.chains[first..].iter().zip(&mut corner[first..]) {
            while chain[0].utility - chain[usize::from(*level)].utility > spare {
                *level -= 1;
            }
        }
        true
    }
}

impl Landscape for Record<'_> {
    fn tops(&self) -> Vec<u8> {
        (0..self.n_attributes()).map(|attribute| self.top(attribute)).collect()
    }

    fn utility(&self, levels: &[u8]) -> i64 {
        self.rungs(levels).map(|rung| rung.utility).sum()
    }

    fn risk(&mut self, levels: &[u8]) -> f64 {
        self.risk_model.of(self.sensitivity(levels), self.n_fitting(levels))
    }
}
