//! How often each value of an attribute occurs, before and after.

use crate::utility::view::View;

/// The distribution of an attribute over its classes, in the source and in the release.
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution {
    /// The attribute.
    pub attribute: String,
    /// What its classes are called.
    pub classes: Vec<String>,
    /// The share of the source's records in each class.
    pub before: Vec<f64>,
    /// The share of the published records; all 0 where nothing is published.
    pub after: Vec<f64>,
    /// The total variation distance of the two, from 0 (equal) to 1.
    pub distance: f64,
}

/// The share of the records in each class of an attribute.
pub fn shares(view: &View, attribute: usize, n_classes: usize) -> Vec<f64> {
    let mut of_belief = vec![0.0; view.beliefs(attribute).len()];
    (0..view.len()).for_each(|row| of_belief[view.place(row, attribute) as usize] += view.weight(row));
    let mut shares = vec![0.0; n_classes];
    for (belief, n) in view.beliefs(attribute).iter().zip(&of_belief) {
        belief.shares.iter().for_each(|(class, share)| shares[*class as usize] += share * n);
    }
    let total: f64 = shares.iter().sum();
    if total > 0.0 {
        shares.iter_mut().for_each(|share| *share /= total);
    }
    shares
}

/// The total variation distance of two distributions: ½ Σ |p − q|, the most by which the probability of any set of values
/// differs (Levin, Peres, Wilmer: Markov Chains and Mixing Times, 2009, proposition 4.2). Nothing at all is 1 away from
/// anything.
pub fn total_variation(before: &[f64], after: &[f64]) -> f64 {
    if after.iter().all(|share| *share == 0.0) {
        return 1.0;
    }
    before.iter().zip(after).map(|(p, q)| (p - q).abs()).sum::<f64>() / 2.0
}
