//! How useful and how risky a generalized record is, and what is wanted of it.

use crate::error::{Error, ErrorKind, Result, unknown};
use crate::hierarchy::Hierarchy;
use crate::random::Random;

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
    /// Every model there is.
    pub const ALL: [Utility; 5] =
        [Utility::InverseLeaves, Utility::LogLeaves, Utility::Depth, Utility::ShareKept, Utility::LmKept];

    /// The word that flags and certificates use.
    pub fn name(self) -> &'static str {
        match self {
            Utility::InverseLeaves => "inverse-leaves",
            Utility::LogLeaves => "log-leaves",
            Utility::Depth => "depth",
            Utility::ShareKept => "share-kept",
            Utility::LmKept => "lm-kept",
        }
    }

    /// The formula, and what it means.
    pub fn words(self) -> &'static str {
        match self {
            Utility::InverseLeaves => "Σ 1/n: one over the values that a cell may stand for",
            Utility::LogLeaves => "Σ ln(m/n): the information that cells give",
            Utility::Depth => "Σ depth: the generalization steps that are left",
            Utility::ShareKept => "what is left of the loss Σ (n−1)/m",
            Utility::LmKept => "what is left of the loss metric Σ (n−1)/(m−1)",
        }
    }

    /// The model of a name.
    ///
    /// # Errors
    /// Where there is none of that name.
    pub fn parse(name: &str) -> Result<Utility> {
        let named = Utility::ALL.into_iter().find(|utility| utility.name() == name);
        named.ok_or_else(|| unknown(ErrorKind::Request, "utility model", name, &Utility::ALL.map(Utility::name)))
    }

    /// Of one attribute: `n` values of `m` below, `depth` steps from `*`.
    pub(super) fn of(self, n: u32, m: u32, depth: usize) -> i64 {
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
    /// Every model there is.
    pub const ALL: [Risk; 3] = [Risk::Sensitivity, Risk::Identity, Risk::Entropic];

    /// The word that flags and certificates use.
    pub fn name(self) -> &'static str {
        match self {
            Risk::Sensitivity => "sensitivity",
            Risk::Identity => "identity",
            Risk::Entropic => "entropic",
        }
    }

    /// The formula, and what it means.
    pub fn words(self) -> &'static str {
        match self {
            Risk::Sensitivity => "Φ/|ρ|: how sensitive the cells are, over the people whom they fit",
            Risk::Identity => "1/|ρ|: the chance to pick the right one of the people whom the cells fit",
            Risk::Entropic => "Φ·ln(1/|ρ|): negative; not monotone",
        }
    }

    /// The model of a name.
    ///
    /// # Errors
    /// Where there is none of that name.
    pub fn parse(name: &str) -> Result<Risk> {
        let named = Risk::ALL.into_iter().find(|risk| risk.name() == name);
        named.ok_or_else(|| unknown(ErrorKind::Request, "risk model", name, &Risk::ALL.map(Risk::name)))
    }

    /// Sensitivity in steps of 1 / [`SENSITIVITY_ONE`]; it is exact as a float.
    pub fn of(self, sensitivity: u64, n_fitting: u64) -> f64 {
        self.of_unrounded(sensitivity as f64 / SENSITIVITY_ONE as f64, n_fitting)
    }

    pub(super) fn of_unrounded(self, sensitivity: f64, n_fitting: u64) -> f64 {
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
    LeastRisk {
        /// In steps of 1 / [`UTILITY_ONE`].
        utility_at_least: i64,
    },
    /// The most utility.
    MostUtility {
        /// By the risk model.
        risk_at_most: f64,
    },
    /// The least risk − λ · utility.
    Scalar {
        /// How much risk a unit of utility is worth.
        lambda: f64,
    },
}

impl Goal {
    /// What is to be least, of a generalization that will do; none of one that will not.
    pub fn cost(self, risk: f64, utility: i64) -> Option<f64> {
        match self {
            Goal::LeastRisk { utility_at_least } => (utility >= utility_at_least).then_some(risk),
            Goal::MostUtility { risk_at_most } => (risk <= risk_at_most).then_some(-(utility as f64)),
            Goal::Scalar { lambda } => Some(risk - lambda * (utility as f64 / UTILITY_ONE as f64)),
        }
    }

    /// What is to be least first, what then of those where that is the same, and what last: of generalizations with the
    /// least risk the most useful is wanted, and of those with the most utility, or the least cost, the least risky.
    pub fn rank(self, risk: f64, utility: i64) -> [f64; 3] {
        // Utilities are whole numbers of few enough steps to be exact.
        let useless = -(utility as f64);
        match self {
            Goal::LeastRisk { .. } => [risk, useless, 0.0],
            Goal::MostUtility { .. } => [useless, risk, 0.0],
            Goal::Scalar { lambda } => [risk - lambda * (utility as f64 / UTILITY_ONE as f64), risk, useless],
        }
    }
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
    ///
    /// # Errors
    /// Where a weight is missing, below 0, too large or no number.
    pub fn given(hierarchies: &[Hierarchy], weights: Vec<Vec<f64>>) -> Result<Sensitivities> {
        let wrong = |name: &str, what: &str| {
            Err(Error::new(ErrorKind::Project, format!("the sensitivities of attribute '{name}' {what}"))
                .hint(format!("every value of the table needs a number from 0 to {SENSITIVITY_MAX}")))
        };
        if hierarchies.len() != weights.len() {
            let message = format!("sensitivities of {} of {} attributes are given", weights.len(), hierarchies.len());
            return Err(Error::new(ErrorKind::Request, message));
        }
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

    /// Whether there is a number for every value of these.
    pub(super) fn fit(&self, hierarchies: &[Hierarchy]) -> bool {
        let n_values = hierarchies.iter().map(|hierarchy| hierarchy.level(0).len());
        self.0.iter().map(Vec::len).eq(n_values)
    }

    /// Of one value of the table.
    pub fn of_value(&self, attribute: usize, value: usize) -> f64 {
        self.0[attribute][value]
    }

    /// By level and label of an attribute: one over the sum of one over the weights below, and 0 for `*`.
    pub(super) fn rolled_up(&self, attribute: usize, hierarchy: &Hierarchy) -> Vec<Vec<f64>> {
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
    pub(super) fn of_any(&self, attribute: usize, values: &mut dyn Iterator<Item = usize>) -> u64 {
        in_steps(1.0 / values.map(|value| 1.0 / self.0[attribute][value]).sum::<f64>())
    }
}

pub(super) fn in_steps(sensitivity: f64) -> u64 {
    (sensitivity * SENSITIVITY_ONE as f64).round() as u64
}

/// One generalization of one value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rung {
    pub(super) label: u32,
    pub(super) utility: i64,
    pub(super) sensitivity: u64,
    /// The sensitivity before it was rounded to steps.
    pub(super) unrounded: f64,
    /// How many people it fits.
    pub(super) n_fitting: u64,
    /// The least sensitivity per utility with which more can be said.
    pub(super) price: f64,
}
