//! Every record generalized on its own: the least risk that still leaves enough utility.
//!
//! Fouad, Lebanon, Bertino, "ARUBA: a risk-utility-based algorithm for data disclosure" (CERIAS 2008-27): of all
//! generalizations of a record, the one of least risk whose utility is at least c; or the one of most utility whose risk
//! is at most c; or the one of least risk − λ · utility. Equal records are solved once.
//!
//! A release that is made so is *not* k-anonymous: a record may be the only one with its cells. [`grouped`] generalizes
//! further until every group has k records.

pub mod jaro;
pub mod dictionary;
pub mod search;

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::counts::GroupCounts;
use crate::error::{Error, ErrorKind, Result, unknown};
use crate::hierarchy::{Hierarchy, Values};
use crate::random::Random;
use crate::recode::partition::closest_common_ancestor;
use crate::recode::per_record::dictionary::{Dictionary, Known, Match};
use crate::recode::per_record::search::{Found, Landscape};
use crate::recode::{Cell, Recoding, Share, Span, numbered};
use crate::scheme::Scheme;
use crate::table::Code;
use crate::task::Task;

/// How much a generalization is worth: a sum over the attributes, where a published value has n of the attribute's m
/// values below it.
///
/// The two losses count as what they leave: the loss of `*` everywhere less the loss of the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Utility {
    /// 1 / n.
    InverseLeaves,
    /// ln (m / n).
    LogLeaves,
    /// Steps from the value up to `*`: how many different labels stand above it. A level that repeats the label below it,
    /// because one branch of the tree is shorter than others, is no step.
    Depth,
    /// Of the loss (n − 1) / m of Xiao and Tao.
    ShareKept,
    /// Of Iyengar's loss metric LM, (n − 1) / (m − 1).
    LmKept,
}

impl Utility {
    pub const ALL: [Utility; 5] =
        [Utility::InverseLeaves, Utility::LogLeaves, Utility::Depth, Utility::ShareKept, Utility::LmKept];

    pub fn name(self) -> &'static str {
        match self {
            Utility::InverseLeaves => "inverse-leaves",
            Utility::LogLeaves => "log-leaves",
            Utility::Depth => "depth",
            Utility::ShareKept => "share-kept",
            Utility::LmKept => "lm-kept",
        }
    }

    pub fn words(self) -> &'static str {
        match self {
            Utility::InverseLeaves => "Σ 1/n: one over the values that a cell may stand for",
            Utility::LogLeaves => "Σ ln(m/n): the information that cells give",
            Utility::Depth => "Σ depth: the generalization steps that are left",
            Utility::ShareKept => "what is left of the loss Σ (n−1)/m",
            Utility::LmKept => "what is left of the loss metric Σ (n−1)/(m−1)",
        }
    }

    pub fn parse(name: &str) -> Result<Utility> {
        let named = Utility::ALL.into_iter().find(|utility| utility.name() == name);
        named.ok_or_else(|| unknown(ErrorKind::Request, "utility model", name, &Utility::ALL.map(Utility::name)))
    }

    /// Of one attribute: `n` values of `m` below, `depth` steps from `*`.
    fn of(self, n: u32, m: u32, depth: usize) -> i64 {
        let (n, m) = (f64::from(n), f64::from(m));
        let utility = match self {
            Utility::InverseLeaves => 1.0 / n,
            Utility::LogLeaves => (m / n).ln(),
            Utility::Depth => depth as f64,
            Utility::ShareKept => (m - n) / m,
            Utility::LmKept => (m - n) / (m - 1.0).max(1.0),
        };
        (utility * UTILITY_ONE as f64).round() as i64
    }
}

/// How much a published record tells an attacker: of its sensitivity Φ, and of the number |ρ| of people whom it fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Risk {
    /// Φ / |ρ|, model I.
    Sensitivity,
    /// 1 / |ρ|, model II: whose record it is, whatever it says.
    Identity,
    /// Φ · ln (1 / |ρ|), model III. It is negative, and a generalization can have a greater risk than what it
    /// generalizes: it lowers Φ.
    Entropic,
}

impl Risk {
    pub const ALL: [Risk; 3] = [Risk::Sensitivity, Risk::Identity, Risk::Entropic];

    pub fn name(self) -> &'static str {
        match self {
            Risk::Sensitivity => "sensitivity",
            Risk::Identity => "identity",
            Risk::Entropic => "entropic",
        }
    }

    pub fn words(self) -> &'static str {
        match self {
            Risk::Sensitivity => "Φ/|ρ|: how sensitive the cells are, over the people whom they fit",
            Risk::Identity => "1/|ρ|: the chance to pick the right one of the people whom the cells fit",
            Risk::Entropic => "Φ·ln(1/|ρ|): negative; not monotone",
        }
    }

    pub fn parse(name: &str) -> Result<Risk> {
        let named = Risk::ALL.into_iter().find(|risk| risk.name() == name);
        named.ok_or_else(|| unknown(ErrorKind::Request, "risk model", name, &Risk::ALL.map(Risk::name)))
    }

    /// Sensitivity in steps of 1 / [`SENSITIVITY_ONE`]; it is exact as a float.
    pub fn of(self, sensitivity: u64, n_fitting: u64) -> f64 {
        self.of_unrounded(sensitivity as f64 / SENSITIVITY_ONE as f64, n_fitting)
    }

    fn of_unrounded(self, sensitivity: f64, n_fitting: u64) -> f64 {
        let n_fitting = n_fitting as f64;
        match self {
            Risk::Sensitivity => sensitivity / n_fitting,
            Risk::Identity => 1.0 / n_fitting,
            // One person is ln 1 = 0, and not −0.
            Risk::Entropic => 0.0 - sensitivity * n_fitting.ln(),
        }
    }
}

/// Utilities are whole numbers of steps, so that sums do not depend on their order and ties are ties.
pub const UTILITY_ONE: i64 = 1 << 32;

/// Sensitivities are whole numbers of steps too.
pub const SENSITIVITY_ONE: u64 = 1 << 24;

/// The greatest sensitivity of a value: sums of those of all attributes are exact as floats.
pub const SENSITIVITY_MAX: f64 = 1e6;

/// What is wanted of each record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Goal {
    /// The least risk. Utility in steps.
    LeastRisk { utility_at_least: i64 },
    /// The most utility.
    MostUtility { risk_at_most: f64 },
    /// The least risk − λ · utility.
    Scalar { lambda: f64 },
}

/// What is wanted of all records.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wish {
    /// The same of each.
    Same(Goal),
    /// The least risk that leaves each record this share of the utility that it has as it is.
    Share(f64),
}

impl Wish {
    /// What is wanted of a record that has so much utility as it is.
    pub fn of(self, as_it_is: i64) -> Goal {
        match self {
            Wish::Same(goal) => goal,
            Wish::Share(share) => Goal::LeastRisk { utility_at_least: (as_it_is as f64 * share).floor() as i64 },
        }
    }
}

impl From<Goal> for Wish {
    fn from(goal: Goal) -> Wish {
        Wish::Same(goal)
    }
}

/// How sensitive the values of each attribute are: by attribute and value of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Sensitivities(Vec<Vec<f64>>);

impl Sensitivities {
    /// Every value of every attribute weighs 1.
    pub fn equal(hierarchies: &[Hierarchy]) -> Sensitivities {
        Sensitivities(hierarchies.iter().map(|hierarchy| vec![1.0; hierarchy.level(0).len()]).collect())
    }

    /// As in the paper: drawn evenly from 0 to 1, the same for the same seed.
    pub fn random(hierarchies: &[Hierarchy], seed: u64) -> Sensitivities {
        let source = Random::new(seed);
        let of_attribute = |(a, hierarchy): (usize, &Hierarchy)| {
            let mut random = source.part(a as u64);
            // Never 0, so that what is above does not become 0 by accident.
            (0..hierarchy.level(0).len()).map(|_| (random.below(1 << 20) + 1) as f64 / (1u64 << 20) as f64).collect()
        };
        Sensitivities(hierarchies.iter().enumerate().map(of_attribute).collect())
    }

    /// Given: for every attribute one weight per value of the table.
    pub fn given(hierarchies: &[Hierarchy], weights: Vec<Vec<f64>>) -> Result<Sensitivities> {
        let wrong = |name: &str, what: &str| {
            Err(Error::new(ErrorKind::Project, format!("the sensitivities of attribute '{name}' {what}"))
                .hint(format!("every value of the table needs a number from 0 to {SENSITIVITY_MAX}")))
        };
        assert_eq!(hierarchies.len(), weights.len(), "weights for every attribute");
        for (hierarchy, weights) in hierarchies.iter().zip(&weights) {
            if weights.len() != hierarchy.level(0).len() {
                return wrong(hierarchy.attribute(), "are missing for some of its values");
            }
            if weights.iter().any(|weight| !(weight.is_finite() && *weight >= 0.0)) {
                return wrong(hierarchy.attribute(), "are not all numbers of at least 0");
            }
            if weights.iter().any(|weight| *weight > SENSITIVITY_MAX) {
                return wrong(hierarchy.attribute(), "are too large");
            }
        }
        Ok(Sensitivities(weights))
    }

    /// Of one value of the table.
    pub fn of_value(&self, attribute: usize, value: usize) -> f64 {
        self.0[attribute][value]
    }

    /// By level and label of an attribute: one over the sum of one over the weights below, and 0 for `*`.
    fn rolled_up(&self, attribute: usize, hierarchy: &Hierarchy) -> Vec<Vec<f64>> {
        let of_level = |level: usize| {
            let mut inverse = vec![0.0; hierarchy.level(level).len()];
            for (value, label) in hierarchy.level(level).of_base().iter().enumerate() {
                inverse[label.index()] += 1.0 / self.0[attribute][value];
            }
            let is_top = level == hierarchy.top();
            let weight = |inverse: &f64| if is_top { 0.0 } else { 1.0 / inverse };
            inverse.iter().map(weight).collect()
        };
        (0..hierarchy.n_levels()).map(of_level).collect()
    }

    /// Of any of some values of an attribute.
    fn of_any(&self, attribute: usize, values: &mut dyn Iterator<Item = usize>) -> u64 {
        in_steps(1.0 / values.map(|value| 1.0 / self.0[attribute][value]).sum::<f64>())
    }
}

fn in_steps(sensitivity: f64) -> u64 {
    (sensitivity * SENSITIVITY_ONE as f64).round() as u64
}

/// A table, what its values are worth and how sensitive they are, and whom an attacker knows.
pub struct Problem<'a> {
    hierarchies: &'a [Hierarchy],
    pub utility_model: Utility,
    pub risk_model: Risk,
    sensitivities: Sensitivities,
    /// By attribute, level and label.
    utility: Vec<Vec<Vec<i64>>>,
    sensitivity: Vec<Vec<Vec<u64>>>,
    /// The same before it was rounded to steps.
    unrounded: Vec<Vec<Vec<f64>>>,
    /// Shared by problems that differ in their risk model.
    dictionary: Arc<Dictionary>,
    /// One per thread.
    known: Vec<Mutex<Known>>,
}

/// What each thread has asked a dictionary so far.
fn nothing_known() -> Vec<Mutex<Known>> {
    (0..rayon::current_num_threads().max(1)).map(|_| Mutex::default()).collect()
}

impl<'a> Problem<'a> {
    /// Whom the attacker knows is the population that the counts carry, or else the table.
    pub fn new(
        counts: &GroupCounts,
        hierarchies: &'a [Hierarchy],
        utility_model: Utility,
        risk_model: Risk,
        sensitivities: Sensitivities,
        fit: Match,
    ) -> Result<Problem<'a>> {
        if hierarchies.is_empty() {
            return Err(Error::new(ErrorKind::Request, "there is no quasi-identifier to generalize")
                .hint("name at least one in the project"));
        }
        let utility = hierarchies
            .iter()
            .map(|hierarchy| {
                let m = hierarchy.level(0).len() as u32;
                let of_level = |(level, depths): (usize, Vec<usize>)| {
                    let of_label = |(n, depth): (u32, usize)| utility_model.of(n, m, depth);
                    hierarchy.n_leaves(level).into_iter().zip(depths).map(of_label).collect()
                };
                depths(hierarchy).into_iter().enumerate().map(of_level).collect()
            })
            .collect();
        let rolled_up = |(a, hierarchy)| sensitivities.rolled_up(a, hierarchy);
        let unrounded: Vec<Vec<Vec<f64>>> = hierarchies.iter().enumerate().map(rolled_up).collect();
        let of_level = |of_level: &Vec<f64>| of_level.iter().copied().map(in_steps).collect();
        let sensitivity = unrounded.iter().map(|levels| levels.iter().map(of_level).collect()).collect();
        let dictionary = Arc::new(Dictionary::new(counts, hierarchies, fit)?);
        let known = nothing_known();
        Ok(Problem {
            hierarchies,
            utility_model,
            risk_model,
            sensitivities,
            utility,
            sensitivity,
            unrounded,
            dictionary,
            known,
        })
    }

    /// The same with another risk model.
    pub fn with_risk(&self, risk_model: Risk) -> Problem<'a> {
        Problem {
            hierarchies: self.hierarchies,
            utility_model: self.utility_model,
            risk_model,
            sensitivities: self.sensitivities.clone(),
            utility: self.utility.clone(),
            sensitivity: self.sensitivity.clone(),
            unrounded: self.unrounded.clone(),
            dictionary: self.dictionary.clone(),
            known: nothing_known(),
        }
    }

    /// The most utility that a record can have as it is. Where hierarchies are not equally deep everywhere, others have less
    /// by depth.
    pub fn greatest_utility(&self) -> i64 {
        self.utility.iter().map(|of_attribute| of_attribute[0].iter().max().copied().unwrap_or(0)).sum()
    }

    /// The utility of a record with these values that is published at these levels.
    pub fn utility(&self, codes: &[Code], levels: &[u8]) -> i64 {
        let of_attribute = |(a, (code, &level)): (usize, (&Code, &u8))| {
            let label = self.hierarchies[a].level(usize::from(level)).of_base()[code.index()];
            self.utility[a][usize::from(level)][label.index()]
        };
        codes.iter().zip(levels).enumerate().map(of_attribute).sum()
    }

    /// The utility of a record with these values as it is.
    pub fn utility_as_it_is(&self, codes: &[Code]) -> i64 {
        self.utility(codes, &vec![0; codes.len()])
    }

    /// A utility as whole steps: a hair less than asked for, so that what can be reached can be asked for.
    pub fn steps(&self, utility: f64) -> i64 {
        (utility * UTILITY_ONE as f64).floor() as i64 - self.hierarchies.len() as i64
    }

    /// The generalizations of a record.
    pub fn record(&mut self, codes: &[Code]) -> Record<'_> {
        let chains = self.chains(codes);
        let known = self.known[0].get_mut().unwrap_or_else(PoisonError::into_inner);
        Record::new(chains, self.risk_model, &self.dictionary, known)
    }

    fn chains(&self, codes: &[Code]) -> Vec<Vec<Rung>> {
        let chains = codes.iter().enumerate().map(|(a, code)| {
            let label = |level: usize| self.hierarchies[a].level(level).of_base()[code.index()].0;
            let rung = |level: usize| Rung {
                label: label(level),
                utility: self.utility[a][level][label(level) as usize],
                sensitivity: self.sensitivity[a][level][label(level) as usize],
                unrounded: self.unrounded[a][level][label(level) as usize],
                n_fitting: self.dictionary.n_fitting_alone(a, level, label(level)),
                price: f64::INFINITY,
            };
            let mut chain: Vec<Rung> = (0..self.hierarchies[a].n_levels()).map(rung).collect();
            for level in 1..chain.len() {
                let here = chain[level];
                let price = |below: &Rung| match below.utility - here.utility {
                    0 => f64::INFINITY,
                    gained => (below.sensitivity - here.sensitivity) as f64 / gained as f64,
                };
                chain[level].price = chain[..level].iter().map(price).fold(f64::INFINITY, f64::min);
            }
            chain
        });
        chains.collect()
    }

    /// Solves every group of equal records; none where nothing will do.
    pub fn solve_all(&self, counts: &GroupCounts, wish: impl Into<Wish>, task: &Task) -> Result<Vec<Option<Vec<u8>>>> {
        self.solve_after(counts, wish, &[], task)
    }

    /// The same after a wish of the same kind that allowed all that this one does: what was best then and is allowed
    /// still, is best now.
    pub fn solve_after(
        &self,
        counts: &GroupCounts,
        wish: impl Into<Wish>,
        before: &[Option<Vec<u8>>],
        task: &Task,
    ) -> Result<Vec<Option<Vec<u8>>>> {
        let (n_threads, wish) = (self.known.len(), wish.into());
        let solve = |group: usize| {
            task.check()?;
            let goal = wish.of(self.utility_as_it_is(counts.codes(group)));
            let thread = rayon::current_thread_index().unwrap_or(0) % n_threads;
            let mut known = self.known[thread].lock().unwrap_or_else(PoisonError::into_inner);
            let mut record =
                Record::new(self.chains(counts.codes(group)), self.risk_model, &self.dictionary, &mut known);
            let before = before.get(group).cloned().flatten().filter(|levels| record.will_do(levels, goal));
            let solved = before.or_else(|| search::optimum(&mut record, goal).levels);
            (task.progress)(counts.size(group));
            Ok(solved)
        };
        (0..counts.n_groups()).into_par_iter().with_min_len(16).map(solve).collect()
    }

    /// The risk and utility of every published group of a recoding, with its number of records. Suppressed records
    /// are as if they were published as `*` everywhere.
    ///
    /// Cells that are no labels count as all of their values; their depth is that of the closest label above.
    pub fn points(&self, recoding: &Recoding) -> Vec<Point> {
        let of_cells: Vec<Vec<(i64, u64)>> = (0..self.hierarchies.len())
            .map(|a| recoding.cells(a).iter().map(|cell| self.of_cell(a, &cell.span)).collect())
            .collect();
        let mut points = Vec::with_capacity(recoding.n_groups() + 1);
        for (group, n_records) in recoding.sizes().into_iter().enumerate() {
            let spans: Vec<&Span> = (0..self.hierarchies.len()).map(|a| &recoding.cell(group, a).span).collect();
            let of_cell = |a: usize| of_cells[a][recoding.row(group)[a] as usize];
            let (utility, sensitivity) = (0..spans.len()).map(of_cell).fold((0, 0), |(u, s), (v, t)| (u + v, s + t));
            let n_fitting = self.dictionary.n_fitting_spans(&spans);
            let risk = self.risk_model.of(sensitivity, n_fitting);
            points.push(Point { risk, utility, n_records, sensitivity, n_fitting });
        }
        if recoding.n_suppressed() > 0 {
            let tops: Vec<Span> = self.hierarchies.iter().map(|h| Span::Label(h.top() as u8, Code(0))).collect();
            let n_fitting = self.dictionary.n_fitting_spans(&tops.iter().collect::<Vec<_>>());
            let utility = self.utility.iter().map(|of_attribute| of_attribute[of_attribute.len() - 1][0]).sum();
            let n_records = recoding.n_suppressed();
            let risk = self.risk_model.of(0, n_fitting);
            points.push(Point { risk, utility, n_records, sensitivity: 0, n_fitting });
        }
        points
    }

    /// The same for a scheme of the lattice, nothing suppressed.
    pub fn points_of_scheme(&self, counts: &GroupCounts, scheme: &Scheme) -> Vec<Point> {
        let levels: Vec<&Values> = self.hierarchies.iter().enumerate().map(|(a, h)| h.level(scheme.level(a))).collect();
        let bits = |level: &&Values| usize::BITS - level.len().leading_zeros();
        assert!(levels.iter().map(bits).sum::<u32>() <= u128::BITS, "the labels of a group fit one key");
        let label = |base: usize, a: usize| levels[a].of_base()[counts.codes(base)[a].index()];
        let key = |base: usize| {
            levels.iter().enumerate().fold(0u128, |key, (a, level)| key << bits(level) | u128::from(label(base, a).0))
        };
        let mut groups: FxHashMap<u128, (usize, u64)> = FxHashMap::default();
        for base in 0..counts.n_groups() {
            groups.entry(key(base)).or_insert((base, 0)).1 += counts.size(base);
        }
        let mut groups: Vec<(usize, u64)> = groups.into_values().collect();
        // The order of a hash table is nobody's business.
        groups.sort_unstable();
        let point = |(base, n_records): (usize, u64)| {
            let of_label = |a: usize| (scheme.level(a), label(base, a));
            let labels = (0..levels.len()).map(of_label);
            let utility =
                labels.clone().enumerate().map(|(a, (level, code))| self.utility[a][level][code.index()]).sum();
            let of_sensitivity = |(a, (level, code)): (usize, (usize, Code))| self.sensitivity[a][level][code.index()];
            let sensitivity = labels.clone().enumerate().map(of_sensitivity).sum();
            let n_fitting = match self.dictionary.is_table() {
                true => n_records,
                false => {
                    let spans: Vec<Span> = labels.map(|(level, code)| Span::Label(level as u8, code)).collect();
                    self.dictionary.n_fitting_spans(&spans.iter().collect::<Vec<_>>())
                }
            };
            Point { risk: self.risk_model.of(sensitivity, n_fitting), utility, n_records, sensitivity, n_fitting }
        };
        groups.into_iter().map(point).collect()
    }

    /// The utility and the sensitivity of a cell.
    fn of_cell(&self, a: usize, span: &Span) -> (i64, u64) {
        let hierarchy = &self.hierarchies[a];
        let of_label =
            |level: usize, code: Code| (self.utility[a][level][code.index()], self.sensitivity[a][level][code.index()]);
        let codes: Vec<Code> = match span {
            Span::Value(code) => return of_label(0, *code),
            Span::Label(level, code) => return of_label(usize::from(*level), *code),
            Span::Range(low, high) | Span::Middle(low, high) => (low.0..=high.0).map(Code).collect(),
            Span::Set(codes) => codes.clone(),
        };
        let m = hierarchy.level(0).len() as u32;
        let (level, label) = closest_common_ancestor(hierarchy, &codes);
        let depth = depths(hierarchy)[level][label.index()];
        let sensitivity = match codes.len() as u32 == m {
            true => 0,
            false => self.sensitivities.of_any(a, &mut codes.iter().map(|code| code.index())),
        };
        (self.utility_model.of(codes.len() as u32, m, depth), sensitivity)
    }
}

/// By level and label, how many different labels stand above it (Definition 1 of the paper: the distance from the root).
fn depths(hierarchy: &Hierarchy) -> Vec<Vec<usize>> {
    let mut depths = vec![vec![0; hierarchy.level(hierarchy.top()).len()]];
    for level in (0..hierarchy.top()).rev() {
        let (here, above) = (hierarchy.level(level), hierarchy.level(level + 1));
        let of_label = |(label, parent): (&String, &Code)| {
            let is_step = *label != above.labels()[parent.index()];
            depths[depths.len() - 1][parent.index()] + usize::from(is_step)
        };
        let of_level = here.labels().iter().zip(here.parents()).map(of_label).collect();
        depths.push(of_level);
    }
    depths.reverse();
    depths
}

/// What is published of some records, as a point of the risk–utility map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    pub risk: f64,
    /// In steps.
    pub utility: i64,
    pub n_records: u64,
    /// In steps.
    pub sensitivity: u64,
    /// The people of the dictionary whom the cells fit.
    pub n_fitting: u64,
}

/// One generalization of one value.
#[derive(Clone, Copy, Debug)]
struct Rung {
    label: u32,
    utility: i64,
    sensitivity: u64,
    /// The sensitivity before it was rounded to steps.
    unrounded: f64,
    /// How many people it fits.
    n_fitting: u64,
    /// The least sensitivity per utility with which more can be said.
    price: f64,
}

/// The generalizations of one record.
pub struct Record<'a> {
    /// By attribute and level.
    chains: Vec<Vec<Rung>>,
    /// Which attribute of the table each chain is of.
    order: Vec<usize>,
    risk_model: Risk,
    dictionary: &'a Dictionary,
    known: &'a mut Known,
    /// Room for the labels of one generalization.
    labels: Vec<(u8, u32)>,
}

impl<'a> Record<'a> {
    fn new(chains: Vec<Vec<Rung>>, risk_model: Risk, dictionary: &'a Dictionary, known: &'a mut Known) -> Record<'a> {
        let (order, labels) = ((0..chains.len()).collect(), vec![(0, 0); chains.len()]);
        Record { chains, order, risk_model, dictionary, known, labels }
    }

    fn n_attributes(&self) -> usize {
        self.chains.len()
    }

    fn top(&self, attribute: usize) -> u8 {
        (self.chains[attribute].len() - 1) as u8
    }

    fn risk_model(&self) -> Risk {
        self.risk_model
    }

    fn rungs<'b>(&'b self, levels: &'b [u8]) -> impl Iterator<Item = &'b Rung> {
        self.chains.iter().zip(levels).map(|(chain, level)| &chain[usize::from(*level)])
    }

    fn sensitivity(&self, levels: &[u8]) -> u64 {
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
    fn is_at_most(&self, levels: &[u8], n_fitting: u64, risk_at_most: f64) -> bool {
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
    fn rounding(&self, n_fitting: u64) -> f64 {
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
    fn n_fitting_alone(&self, attribute: usize, level: u8) -> u64 {
        self.chains[attribute][usize::from(level)].n_fitting
    }

    /// How many generalizations there are.
    fn n_generalizations(&self) -> f64 {
        self.chains.iter().map(|chain| chain.len() as f64).product()
    }

    /// Puts the attributes in an order; `order` has places of what is there now.
    fn arrange(&mut self, order: &[usize]) {
        self.chains = order.iter().map(|&place| std::mem::take(&mut self.chains[place])).collect();
        self.order = order.iter().map(|&place| self.order[place]).collect();
    }

    /// Levels of the attributes as they are now, in the order of the table.
    fn in_order_of_table(&self, levels: &[u8]) -> Vec<u8> {
        let mut of_table = vec![0; levels.len()];
        self.order.iter().zip(levels).for_each(|(&attribute, &level)| of_table[attribute] = level);
        of_table
    }

    /// Puts the attributes back where they were.
    fn restore(&mut self) {
        let mut places: Vec<usize> = (0..self.chains.len()).collect();
        places.sort_by_key(|&place| self.order[place]);
        self.arrange(&places);
    }

    /// Puts the attributes first that have the most to say: what is fixed early then decides the most.
    fn arrange_by_sensitivity(&mut self) {
        let mut places: Vec<usize> = (0..self.chains.len()).collect();
        places.sort_by_key(|&place| Reverse(self.chains[place][0].sensitivity));
        self.arrange(&places);
    }

    /// The rows of the dictionary that fit some generalization with enough utility: the most specific one that a row fits
    /// has the lowest level of each attribute at which it does.
    fn near(&self, needed: i64) -> Near {
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
    fn gained(&self, attribute: usize, level: u8) -> i64 {
        let (level, chain) = (usize::from(level), &self.chains[attribute]);
        chain[level - 1].utility - chain[level].utility
    }

    /// The sensitivity of one step down from a level.
    fn sensitivity_gained(&self, attribute: usize, level: u8) -> u64 {
        let (level, chain) = (usize::from(level), &self.chains[attribute]);
        chain[level - 1].sensitivity - chain[level].sensitivity
    }

    /// By attribute from `first` on, what a step of utility below a corner costs at least in steps of sensitivity, and how
    /// many there are.
    fn prices(&self, corner: &[u8], first: usize) -> Vec<(f64, i64)> {
        let free = self.chains.iter().zip(corner).skip(first);
        let prices = free.map(|(chain, level)| {
            let rung = &chain[usize::from(*level)];
            (rung.price, chain[0].utility - rung.utility)
        });
        prices.filter(|(_, has)| *has > 0).collect()
    }

    /// The utility of the attributes before `first`.
    fn utility_before(&self, corner: &[u8], first: usize) -> i64 {
        self.rungs(corner).take(first).map(|rung| rung.utility).sum()
    }

    /// The most utility below a corner of which the attributes before `first` are fixed.
    fn utility_below(&self, corner: &[u8], first: usize) -> i64 {
        self.utility_before(corner, first) + self.chains[first..].iter().map(|chain| chain[0].utility).sum::<i64>()
    }

    /// The most sensitivity below a corner of which the attributes before `first` are fixed.
    fn sensitivity_below(&self, corner: &[u8], first: usize) -> u64 {
        let fixed: u64 = self.rungs(corner).take(first).map(|rung| rung.sensitivity).sum();
        fixed + self.chains[first..].iter().map(|chain| chain[0].sensitivity).sum::<u64>()
    }

    /// The sensitivity that more utility costs at least, below a corner of which the attributes before `first` are fixed:
    /// the cheapest attributes give all that they have.
    fn sensitivity_for(&self, corner: &[u8], first: usize, missing: i64) -> u64 {
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
    fn lower_to(&self, corner: &mut [u8], first: usize, needed: i64) -> bool {
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

/// How many of some people fit up to each level of each attribute.
#[derive(Default)]
struct NAtLevels {
    n_levels: usize,
    /// By attribute and level; no limit where all of them do.
    n: Vec<u64>,
    /// Those with a limit, the most people first, each as their number, level and attribute.
    in_order: Vec<(u64, u8, u16)>,
}

impl NAtLevels {
    /// At least 1: the person is there.
    fn up_to(&self, attribute: usize, level: u8) -> u64 {
        self.n[attribute * self.n_levels + usize::from(level)].max(1)
    }
}

/// The rows of a dictionary that matter for a record.
struct Near {
    /// By attribute, the greatest level, and the bit of its level 0.
    tops: Vec<u8>,
    bits: Vec<usize>,
    n_words: usize,
    /// Row by row, one bit per attribute and level below the top: whether it fits there.
    masks: Vec<u64>,
    /// By attribute and row, the utility of the lowest level at which the row fits there, and of those of all attributes
    /// after it.
    utilities: Vec<Vec<i64>>,
    /// By row.
    sizes: Vec<u64>,
}

impl Near {
    fn new(tops: Vec<u8>) -> Near {
        let mut n_bits = 0;
        let first_bit = |top: &u8| {
            n_bits += usize::from(*top);
            n_bits - usize::from(*top)
        };
        let bits = tops.iter().map(first_bit).collect();
        let utilities = vec![Vec::new(); tops.len()];
        Near { tops, bits, n_words: n_bits.div_ceil(64).max(1), masks: Vec::new(), utilities, sizes: Vec::new() }
    }

    fn push(&mut self, levels: &[u8], chains: &[Vec<Rung>], utility: i64, size: u64) {
        let mut rest = utility;
        let begin = self.masks.len();
        self.masks.resize(begin + self.n_words, 0);
        for (attribute, &level) in levels.iter().enumerate() {
            self.utilities[attribute].push(rest);
            rest -= chains[attribute][usize::from(level)].utility;
            for bit in usize::from(level)..usize::from(self.tops[attribute]) {
                let bit = self.bits[attribute] + bit;
                self.masks[begin + bit / 64] |= 1 << (bit % 64);
            }
        }
        self.sizes.push(size);
    }

    fn n_rows(&self) -> usize {
        self.sizes.len()
    }

    fn size(&self, row: u32) -> u64 {
        self.sizes[row as usize]
    }

    /// The utility of what a row fits, of the attributes from `first` on.
    fn utility_from(&self, row: u32, first: usize) -> i64 {
        self.utilities[first][row as usize]
    }

    /// The bits that a row must have to fit a generalization.
    fn mask(&self, levels: &[u8]) -> Vec<u64> {
        let mut mask = vec![0; self.n_words];
        for ((&level, &top), &bit) in levels.iter().zip(&self.tops).zip(&self.bits) {
            if level < top {
                let bit = bit + usize::from(level);
                mask[bit / 64] |= 1 << (bit % 64);
            }
        }
        mask
    }

    fn fits(&self, row: u32, mask: &[u64]) -> bool {
        let of_row = &self.masks[row as usize * self.n_words..][..self.n_words];
        of_row.iter().zip(mask).fold(0, |missing, (of_row, mask)| missing | (mask & !of_row)) == 0
    }

    /// Adds those of some rows that fit a corner, and something with so much utility below it from attribute `first` on.
    /// Says how many people they are.
    fn fitting(&self, rows: &mut Vec<u32>, some: Range<usize>, corner: &[u8], first: usize, needed: i64) -> u64 {
        let mask = self.mask(corner);
        let (begin, utilities) = (rows.len(), &self.utilities[first][..]);
        rows.resize(begin + some.len(), 0);
        let (old, new) = rows.split_at_mut(begin);
        let (mut n_rows, mut n_people) = (0, 0);
        // Half of the rows fit, and nobody can guess which: every row is written, and the next one over it if it did not.
        for &row in &old[some] {
            let fits = self.fits(row, &mask) & (utilities[row as usize] >= needed);
            new[n_rows] = row;
            n_rows += usize::from(fits);
            n_people += self.size(row) * u64::from(fits);
        }
        rows.truncate(begin + n_rows);
        n_people
    }

    /// Moves a corner down to where it still fits all of some rows that it fits: that says more.
    fn lower_to_all(&self, rows: &[u32], corner: &mut [u8], first: usize) {
        // The higher levels of an attribute that is in two words are in the second.
        for word in (self.bits[first] / 64..self.n_words).rev() {
            let of_row = |row: &u32| self.masks[*row as usize * self.n_words + word];
            let common = rows.iter().map(of_row).fold(u64::MAX, |common, mask| common & mask);
            for (level, &bit) in corner.iter_mut().zip(&self.bits).skip(first) {
                let has = |level: u8| {
                    let bit = bit + usize::from(level);
                    bit / 64 == word && common >> (bit % 64) & 1 == 1
                };
                while *level > 0 && has(*level - 1) {
                    *level -= 1;
                }
            }
        }
    }

    /// How many people of some rows fit, by attribute from `first` on and by level below a corner that all of them fit.
    fn count_levels(&self, rows: &[u32], corner: &[u8], first: usize, counted: &mut NAtLevels) {
        let n_levels = usize::from(self.tops.iter().max().copied().unwrap_or(0)) + 1;
        counted.n_levels = n_levels;
        counted.n.clear();
        counted.n.resize(n_levels * self.tops.len(), u64::MAX);
        let mut n_of_bits = [0u64; 64];
        for word in self.bits[first] / 64..self.n_words {
            n_of_bits.fill(0);
            self.count_bits(rows, word, &mut n_of_bits);
            for ((corner, &bit), n) in
                corner.iter().zip(&self.bits).zip(counted.n.chunks_exact_mut(n_levels)).skip(first)
            {
                let of_levels = n.iter_mut().enumerate().take(usize::from(*corner));
                for (level, n) in of_levels.filter(|(level, _)| (bit + level) / 64 == word) {
                    *n = n_of_bits[(bit + level) % 64];
                }
            }
        }
        counted.in_order.clear();
        for (attribute, (corner, n)) in corner.iter().zip(counted.n.chunks_exact(n_levels)).enumerate().skip(first) {
            let of_levels = n.iter().enumerate().take(usize::from(*corner));
            counted.in_order.extend(of_levels.map(|(level, n)| ((*n).max(1), level as u8, attribute as u16)));
        }
        counted.in_order.sort_unstable_by(|a, b| b.cmp(a));
    }

    /// How many people have each bit of one word of the masks. Sixteen rows at a time are added as a whole, bit by bit side
    /// by side (Harley and Seal's adders); those who are several people are added one by one.
    fn count_bits(&self, rows: &[u32], word: usize, n_of_bits: &mut [u64; 64]) {
        fn sum(a: u64, b: u64, c: u64) -> (u64, u64) {
            let half = a ^ b;
            ((a & b) | (half & c), half ^ c)
        }
        const BYTES: u64 = 0x0101_0101_0101_0101;
        let mask = |row: u32| self.masks[row as usize * self.n_words + word];
        let (mut ones, mut twos, mut fours, mut eights) = (0u64, 0u64, 0u64, 0u64);
        // Bit j + 8 i is counted in byte i of the j-th, in sixteens.
        let mut sixteens = [0u64; 8];
        let mut n_chunks = 0;
        let mut pour = |sixteens: &mut [u64; 8]| {
            for (j, bytes) in sixteens.iter_mut().enumerate() {
                bytes.to_le_bytes().iter().enumerate().for_each(|(i, n)| n_of_bits[j + 8 * i] += 16 * u64::from(*n));
                *bytes = 0;
            }
        };
        for chunk in rows.chunks(16) {
            let mut of_rows = [0u64; 16];
            for (of_row, &row) in of_rows.iter_mut().zip(chunk) {
                *of_row = if self.sizes[row as usize] == 1 { mask(row) } else { 0 };
            }
            let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = of_rows;
            let (two_a, one) = sum(ones, a, b);
            let (two_b, one) = sum(one, c, d);
            let (four_a, two) = sum(twos, two_a, two_b);
            let (two_a, one) = sum(one, e, f);
            let (two_b, one) = sum(one, g, h);
            let (four_b, two) = sum(two, two_a, two_b);
            let (eight_a, four) = sum(fours, four_a, four_b);
            let (two_a, one) = sum(one, i, j);
            let (two_b, one) = sum(one, k, l);
            let (four_a, two) = sum(two, two_a, two_b);
            let (two_a, one) = sum(one, m, n);
            let (two_b, one) = sum(one, o, p);
            let (four_b, two) = sum(two, two_a, two_b);
            let (eight_b, four) = sum(four, four_a, four_b);
            let (sixteen, eight) = sum(eights, eight_a, eight_b);
            (ones, twos, fours, eights) = (one, two, four, eight);
            sixteens.iter_mut().enumerate().for_each(|(j, bytes)| *bytes += (sixteen >> j) & BYTES);
            n_chunks += 1;
            if n_chunks % 255 == 0 {
                pour(&mut sixteens);
            }
        }
        pour(&mut sixteens);
        for (bit, n) in n_of_bits.iter_mut().enumerate() {
            let of = |plane: u64| plane >> bit & 1;
            *n += of(ones) + 2 * of(twos) + 4 * of(fours) + 8 * of(eights);
        }
        for &row in rows.iter().filter(|&&row| self.sizes[row as usize] != 1) {
            let (mut bits, size) = (mask(row), self.size(row));
            while bits != 0 {
                n_of_bits[bits.trailing_zeros() as usize] += size;
                bits &= bits - 1;
            }
        }
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

/// Says what is published of each record, where every group of equal records has its own levels.
///
/// # Guarantee
/// Every record is published, with the labels of its own values at its own levels. How many share them is not looked at:
/// the release is not k-anonymous.
pub fn recode(counts: &GroupCounts, hierarchies: &[Hierarchy], levels: &[Vec<u8>]) -> Recoding {
    let labels = |a: usize, base: usize| {
        let level = levels[base][a];
        (level, hierarchies[a].level(usize::from(level)).of_base()[counts.codes(base)[a].index()])
    };
    let bases = 0..counts.n_groups();
    let mut columns = Vec::with_capacity(hierarchies.len());
    let mut cells = Vec::with_capacity(hierarchies.len());
    for (a, hierarchy) in hierarchies.iter().enumerate() {
        let positions = hierarchy.positions();
        let (column, n_cells) = numbered(bases.clone().map(|base| labels(a, base)));
        let mut of_attribute = vec![None; n_cells];
        for (base, &number) in column.iter().enumerate() {
            of_attribute[number as usize].get_or_insert_with(|| {
                let (level, code) = labels(a, base);
                let text = hierarchy.level(usize::from(level)).labels()[code.index()].clone();
                let is_missing = hierarchy.is_missing(usize::from(level), code);
                Cell::new(text, is_missing, Span::Label(level, code), hierarchy, positions.as_deref())
            });
        }
        columns.push(column);
        cells.push(of_attribute.into_iter().map(|cell| cell.expect("every number has a cell")).collect());
    }
    let row = |base: usize| columns.iter().map(|column| column[base]).collect::<Vec<u32>>();
    let (groups, n_groups) = numbered(bases.clone().map(row));
    let mut rows = vec![Vec::new(); n_groups];
    for base in bases.clone().rev() {
        rows[groups[base] as usize] = row(base);
    }
    let share = |base: usize| vec![Share { cell: None, group: Some(groups[base]), n_records: counts.size(base) }];
    let is_exact = (0..hierarchies.len()).map(|a| levels.iter().all(|levels| levels[a] == 0)).collect();
    Recoding::new(bases.map(share), cells, rows, is_exact)
}

/// Generalizes records further until every group of a release has at least k of them.
///
/// Groups that are too small climb: each raises the attribute whose next label loses the least utility, and those that
/// have become alike are one group, until all are large enough or `*` everywhere. If those are too few, the smallest of
/// the others join them.
///
/// # Guarantee
/// Every group of the release has k records, where the table has. No level is lower than before.
pub fn grouped(problem: &Problem, counts: &GroupCounts, mut levels: Vec<Vec<u8>>, k: u64) -> Result<Vec<Vec<u8>>> {
    if k == 0 || k > counts.n_records() {
        let message = format!("groups of {k} records cannot be made of {}", counts.n_records());
        return Err(Error::new(ErrorKind::Request, message).hint("ask for a k from 2 to the number of records"));
    }
    let label = |a: usize, base: usize, level: u8| {
        problem.hierarchies[a].level(usize::from(level)).of_base()[counts.codes(base)[a].index()]
    };
    let tops: Vec<u8> = problem.hierarchies.iter().map(|hierarchy| hierarchy.top() as u8).collect();
    loop {
        let cells = |base: usize| -> Vec<(u8, Code)> {
            levels[base].iter().enumerate().map(|(a, &level)| (level, label(a, base, level))).collect()
        };
        let mut groups: FxHashMap<Vec<(u8, Code)>, (u64, Vec<usize>)> = FxHashMap::default();
        for base in 0..counts.n_groups() {
            let (size, bases) = groups.entry(cells(base)).or_default();
            *size += counts.size(base);
            bases.push(base);
        }
        let mut small: Vec<(u64, Vec<usize>)> = groups.values().filter(|(size, _)| *size < k).cloned().collect();
        if small.is_empty() {
            return Ok(levels);
        }
        let is_top = |bases: &Vec<usize>| levels[bases[0]] == tops;
        if small.iter().all(|(_, bases)| is_top(bases)) {
            // Too few are `*` everywhere, and nobody else is too few: the smallest of the others comes along.
            let others = groups.values().filter(|(_, bases)| !is_top(bases));
            let (_, bases) = others.min_by_key(|(size, bases)| (*size, bases[0])).expect("the table has k records");
            small = vec![(0, bases.clone())];
            small[0].1.iter().for_each(|&base| levels[base].clone_from(&tops));
            continue;
        }
        for (_, bases) in small {
            // All of a group have the same labels, and so does the next label above.
            let base = bases[0];
            let lost = |a: &usize| {
                let level = levels[base][*a];
                let utility = |level: u8| problem.utility[*a][usize::from(level)][label(*a, base, level).index()];
                utility(level) - utility(level + 1)
            };
            let can_climb = (0..tops.len()).filter(|&a| levels[base][a] < tops[a]);
            if let Some(a) = can_climb.min_by_key(|a| (lost(a), *a)) {
                bases.iter().for_each(|&base| levels[base][a] += 1);
            }
        }
    }
}

/// How a search is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Search {
    BestFirst,
    Walk,
    Optimum,
}

impl Search {
    pub const ALL: [Search; 3] = [Search::BestFirst, Search::Walk, Search::Optimum];

    pub fn name(self) -> &'static str {
        match self {
            Search::BestFirst => "best-first",
            Search::Walk => "walk",
            Search::Optimum => "optimum",
        }
    }

    pub fn solve(self, record: &mut Record, goal: Goal) -> Found {
        match self {
            Search::BestFirst => search::best_first(record, goal),
            Search::Walk => search::walk(record, goal),
            Search::Optimum => search::optimum(record, goal),
        }
    }

    /// Whether it finds the best, provided that, for the walk, not everything will do.
    pub fn is_exact(self, risk: Risk, goal: Goal) -> bool {
        let is_monotone = risk != Risk::Entropic;
        match (self, goal) {
            (Search::Optimum, _) | (Search::BestFirst, Goal::MostUtility { .. }) => true,
            (Search::Walk, Goal::Scalar { .. }) => false,
            _ => is_monotone,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows with random levels, of more bits than one word has, some of several people.
    fn near(random: &mut Random, tops: &[u8], n_rows: usize) -> (Near, Vec<Vec<u8>>) {
        let chain = |top: &u8| {
            let rung = |level: u8| Rung {
                label: 0,
                utility: 10 - i64::from(level),
                sensitivity: 0,
                unrounded: 0.0,
                n_fitting: 0,
                price: 0.0,
            };
            (0..=*top).map(rung).collect()
        };
        let chains: Vec<Vec<Rung>> = tops.iter().map(chain).collect();
        let mut near = Near::new(tops.to_vec());
        let mut rows = Vec::new();
        for _ in 0..n_rows {
            let row: Vec<u8> = tops.iter().map(|top| random.below(u64::from(*top) + 1) as u8).collect();
            let utility = row.iter().map(|level| 10 - i64::from(*level)).sum();
            let size = if random.below(4) == 0 { 1 + random.below(5) } else { 1 };
            near.push(&row, &chains, utility, size);
            rows.push(row);
        }
        (near, rows)
    }

    #[test]
    fn rows_are_counted_as_one_by_one() {
        let mut random = Random::new(3);
        for (tops, n_rows) in [(vec![4; 20], 5_000), (vec![1, 7, 0, 3], 700), (vec![9; 8], 40), (vec![2; 32], 3)] {
            let (near, rows) = near(&mut random, &tops, n_rows);
            for first in 0..tops.len() {
                // Mostly high: a row has to fit all attributes at once.
                let level = |top: &u8| *top - (random.below(8) / 7).min(u64::from(*top)) as u8;
                let corner: Vec<u8> = tops.iter().map(level).collect();
                let needed = (0..tops.len() - first).map(|_| 6 + random.below(3) as i64).sum();
                let fits = |row: &[u8], corner: &[u8]| row.iter().zip(corner).all(|(level, corner)| level <= corner);
                let enough =
                    |row: &[u8]| row[first..].iter().map(|level| 10 - i64::from(*level)).sum::<i64>() >= needed;
                let by_hand: Vec<u32> = (0..n_rows)
                    .filter(|&row| fits(&rows[row], &corner) && enough(&rows[row]))
                    .map(|row| row as u32)
                    .collect();
                let mut kept: Vec<u32> = (0..n_rows as u32).collect();
                let n_people = near.fitting(&mut kept, 0..n_rows, &corner, first, needed);
                assert_eq!(kept[n_rows..], by_hand);
                assert_eq!(n_people, by_hand.iter().map(|&row| near.size(row)).sum::<u64>());

                let mut counted = NAtLevels::default();
                near.count_levels(&by_hand, &corner, first, &mut counted);
                let mut n_limits = 0;
                for a in first..tops.len() {
                    for level in 0..corner[a] {
                        let up_to = by_hand.iter().filter(|&&row| rows[row as usize][a] <= level);
                        let n = up_to.map(|&row| near.size(row)).sum::<u64>().max(1);
                        assert_eq!(counted.up_to(a, level), n);
                        assert!(counted.in_order.contains(&(n, level, a as u16)));
                        n_limits += 1;
                    }
                    assert_eq!(counted.up_to(a, corner[a]), u64::MAX);
                }
                assert_eq!(counted.in_order.len(), n_limits);
                assert!(counted.in_order.is_sorted_by(|a, b| a >= b));

                let mut lowered = corner.clone();
                near.lower_to_all(&by_hand, &mut lowered, first);
                for a in 0..tops.len() {
                    let highest = by_hand.iter().map(|&row| rows[row as usize][a]).max().unwrap_or(0);
                    assert_eq!(lowered[a], if a < first { corner[a] } else { highest });
                }
            }
        }
    }
}
