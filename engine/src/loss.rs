//! How much a generalization blurs: the normalized certainty penalty (NCP) of Xu et al., "Utility-based
//! anonymization using local recoding" (KDD 2006).
//!
//! A value of a categorical attribute that may be any of `n` of the attribute's `m` values costs `n / m`,
//! and nothing when `n` is 1. A number or date that may lie anywhere in `[y, z]` costs `(z − y)` over the
//! range that the table has. A record's loss is the mean over the quasi-identifiers, weighted by how much
//! the analyst cares; a suppressed record costs 1. A release's loss is the mean over all records.

use crate::error::{Error, ErrorKind, Result};
use crate::hierarchy::Hierarchy;

/// A loss between 0 and 1 as a whole number of steps, so that sums are exact whatever their order.
pub type Steps = u64;

/// The steps that make up a loss of 1.
pub const ONE: Steps = 1 << 25;

/// What every value of every level of every quasi-identifier costs, weights included.
#[derive(Clone, Debug)]
pub struct Penalties {
    /// By attribute, level and code; a record that is `*` everywhere costs about [`ONE`].
    steps: Vec<Vec<Vec<u32>>>,
}

impl Penalties {
    pub fn new(hierarchies: &[Hierarchy], weights: &[f64]) -> Result<Penalties> {
        assert_eq!(hierarchies.len(), weights.len(), "one weight per quasi-identifier");
        let total: f64 = weights.iter().sum();
        if weights.iter().any(|&weight| !(weight.is_finite() && weight >= 0.0)) {
            return Err(Error::new(ErrorKind::Project, "weights must be numbers of at least 0"));
        }
        if total == 0.0 && !weights.is_empty() {
            return Err(Error::new(ErrorKind::Project, "at least one quasi-identifier needs a weight above 0"));
        }
        let steps = hierarchies
            .iter()
            .zip(weights)
            .map(|(hierarchy, weight)| {
                let of_level = |level| {
                    ncp_of_level(hierarchy, level)
                        .into_iter()
                        .map(|ncp| (ncp * weight / total * ONE as f64).round() as u32)
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

/// The unweighted penalty of every value of a level.
pub fn ncp_of_level(hierarchy: &Hierarchy, level: usize) -> Vec<f64> {
    let values = hierarchy.level(level);
    let n_leaves = hierarchy.n_leaves(level);
    let Some(positions) = hierarchy.positions() else {
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
