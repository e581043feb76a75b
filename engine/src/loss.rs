//! How much a generalization blurs: the normalized certainty penalty (NCP) of Xu et al., "Utility-based
//! anonymization using local recoding" (KDD 2006).
//!
//! A value of a categorical attribute that may be any of `n` of the attribute's `m` values costs `n / m`,
//! and nothing when `n` is 1; a label with a weight of its own (the paper's extension) so many times that. A number or date that may lie anywhere in `[y, z]` costs `(z − y)` over the
//! range that the table has. A record's loss is the mean over the quasi-identifiers, weighted by how much
//! the analyst cares; a suppressed record costs 1. A release's loss is the mean over all records.
//!
//! Beside it stands the non-uniform entropy of Gionis and Tassa, "k-Anonymization with minimal loss of information"
//! (TKDE 2009): a value that `m` of the table's records have, published as a label that `n` records have, costs
//! `log₂ (n / m)` bits; a suppressed record is all labels at their widest.

use crate::counts::GroupCounts;
use crate::error::{Error, ErrorKind, Result, Step, Wording};
use crate::hierarchy::Hierarchy;

/// A loss between 0 and 1 as a whole number of steps, so that sums are exact whatever their order.
pub type Steps = u64;

/// The steps that make up a loss of 1.
pub const LOSS_ONE: Steps = 1 << 25;

/// What every value of every level of every quasi-identifier costs, weights included.
#[derive(Clone, Debug)]
pub struct Penalties {
    /// By attribute, level and code; a record that is `*` everywhere costs about [`LOSS_ONE`].
    steps: Vec<Vec<Vec<u32>>>,
}

impl Penalties {
    /// What every label costs, where the attributes weigh so much.
    ///
    /// # Errors
    /// As for [`balanced`].
    pub fn new(hierarchies: &[Hierarchy], weights: &[f64]) -> Result<Penalties> {
        let weights = balanced(hierarchies, weights)?;
        let total: f64 = weights.iter().sum();
        let steps = hierarchies
            .iter()
            .zip(&weights)
            .map(|(hierarchy, weight)| {
                let of_level = |level| {
                    ncp_of_level(hierarchy, level)
                        .into_iter()
                        .map(|ncp| (ncp * weight / total * LOSS_ONE as f64).round() as u32)
                        .collect()
                };
                (0..hierarchy.n_levels()).map(of_level).collect()
            })
            .collect();
        Ok(Penalties { steps })
    }

    /// What each value of one level of one attribute costs.
    pub fn of(&self, attribute: usize, level: usize) -> &[u32] {
        &self.steps[attribute][level]
    }
}

/// Weights of quasi-identifiers in the same proportions, of which the greatest is from 1 to 2: so they can be added up,
/// however large or small they are.
///
/// Scaling by a power of two rounds nothing, so that losses are what they would be without.
///
/// # Errors
/// Where there is not one weight per hierarchy, or one is below 0, or all are 0.
pub fn balanced(hierarchies: &[Hierarchy], weights: &[f64]) -> Result<Vec<f64>> {
    if hierarchies.len() != weights.len() {
        let message = format!("{} weights are given for {} quasi-identifiers", weights.len(), hierarchies.len());
        return Err(Error::new(ErrorKind::Request, message));
    }
    let is_wrong = |weight: &f64| !(weight.is_finite() && *weight >= 0.0);
    if let Some(place) = weights.iter().position(is_wrong) {
        let name = hierarchies[place].attribute();
        return Err(Error::new(ErrorKind::Project, "weights must be numbers of at least 0")
            .at(format!("attributes.{name}.weight"))
            .hint("the default is 1"));
    }
    let greatest = weights.iter().copied().fold(0.0, f64::max);
    if greatest == 0.0 && !weights.is_empty() {
        return Err(Error::new(ErrorKind::Project, "at least one quasi-identifier needs a weight above 0")
            .hint(Wording::from(Step::RaiseWeight).and("; without any, all weigh 1")));
    }
    // In two steps: the power of two of the least number that there is would be infinite.
    let exponent = -greatest.log2().floor() as i32;
    let (half, rest) = (2f64.powi(exponent / 2), 2f64.powi(exponent - exponent / 2));
    Ok(weights.iter().map(|weight| weight * half * rest).collect())
}

/// The steps that make up one bit of entropy.
const BIT: f64 = (1u64 << 20) as f64;

/// How many records have every value of every level of every quasi-identifier, as entropies.
#[derive(Clone, Debug)]
pub struct Entropies {
    /// By attribute, level and code, the logarithm of the number of records, in steps.
    pub(crate) steps: Vec<Vec<Vec<u32>>>,
    /// The steps of a record that is suppressed.
    pub suppressed: Steps,
    /// The steps of all records of the table as it is, added up.
    pub of_table: u128,
    /// How many records the table has.
    pub n_records: u64,
}

impl Entropies {
    /// How much is forgotten with every label, from how often values occur.
    pub fn new(counts: &GroupCounts, hierarchies: &[Hierarchy]) -> Entropies {
        let steps_of = |n: u64| ((n.max(1) as f64).log2() * BIT).round() as u32;
        let of_attribute = |(attribute, hierarchy): (usize, &Hierarchy)| {
            let of_level = |level: usize| {
                let values = hierarchy.level(level);
                let mut n_records = vec![0; values.len()];
                for group in 0..counts.n_groups() {
                    n_records[values.of_base()[counts.codes(group)[attribute].index()].index()] += counts.size(group);
                }
                n_records.into_iter().map(steps_of).collect()
            };
            (0..hierarchy.n_levels()).map(of_level).collect()
        };
        let steps: Vec<Vec<Vec<u32>>> = hierarchies.iter().enumerate().map(of_attribute).collect();
        let of_group = |group: usize| {
            let codes = counts.codes(group).iter().zip(&steps);
            let of_record: u64 = codes.map(|(code, steps)| u64::from(steps[0][code.index()])).sum();
            u128::from(of_record) * u128::from(counts.size(group))
        };
        Entropies {
            of_table: (0..counts.n_groups()).map(of_group).sum(),
            suppressed: u64::from(steps_of(counts.n_records())) * hierarchies.len() as u64,
            n_records: counts.n_records(),
            steps,
        }
    }

    /// The steps of each value of one level of one attribute.
    pub fn of(&self, attribute: usize, level: usize) -> &[u32] {
        &self.steps[attribute][level]
    }

    /// What is lost of all that there is to lose, from 0 to 1, when published records have these steps together.
    pub fn loss(&self, published: u128, n_suppressed: u64) -> f64 {
        let suppressed = u128::from(self.suppressed);
        let all = suppressed * u128::from(self.n_records);
        let left = published + suppressed * u128::from(n_suppressed);
        match all > self.of_table {
            true => (left.saturating_sub(self.of_table) as f64 / (all - self.of_table) as f64).min(1.0),
            false => 0.0,
        }
    }
}

/// The penalty of every value of a level, before the attribute's weight.
///
/// A label with a weight of its own costs so many times its share of the values, and never more than 1; one above it costs
/// at least as much, because it says less.
pub fn ncp_of_level(hierarchy: &Hierarchy, level: usize) -> Vec<f64> {
    if hierarchy.node_weights().is_empty() {
        return share_of_level(hierarchy, level);
    }
    let mut below = share_of_level(hierarchy, 0);
    for at in 1..=level {
        let mut ncp = share_of_level(hierarchy, at);
        for &(_, code, weight) in hierarchy.node_weights().iter().filter(|known| usize::from(known.0) == at) {
            ncp[code.index()] = (ncp[code.index()] * weight).min(1.0);
        }
        for (parent, ncp_below) in hierarchy.level(at - 1).parents().iter().zip(below) {
            ncp[parent.index()] = ncp[parent.index()].max(ncp_below);
        }
        below = ncp;
    }
    below
}

/// What every value of a level leaves open: its share of the values, or of the range.
fn share_of_level(hierarchy: &Hierarchy, level: usize) -> Vec<f64> {
    let values = hierarchy.level(level);
    let n_leaves = hierarchy.n_leaves(level);
    let Some(positions) = hierarchy.offsets() else {
        let n_values = hierarchy.level(0).len() as f64;
        let ncp = |&n: &u32| if n > 1 { f64::from(n) / n_values } else { 0.0 };
        return n_leaves.iter().map(ncp).collect();
    };
    let nothing = (f64::INFINITY, f64::NEG_INFINITY);
    let widen = |(low, high): (f64, f64), at: f64| (low.min(at), high.max(at));
    let (low, high) = positions.iter().flatten().copied().fold(nothing, widen);
    let mut spans = vec![nothing; values.len()];
    let mut may_be_missing = vec![false; values.len()];
    for (base, code) in values.of_base().iter().enumerate() {
        match positions[base] {
            Some(at) => spans[code.index()] = widen(spans[code.index()], at),
            None => may_be_missing[code.index()] = true,
        }
    }
    (0..values.len())
        .map(|code| match n_leaves[code] {
            0 | 1 => 0.0,
            // Not even known whether there is a value: nothing is known.
            _ if may_be_missing[code] || high <= low => 1.0,
            _ => (spans[code].1 - spans[code].0) / (high - low),
        })
        .collect()
}
