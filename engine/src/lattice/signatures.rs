//! Signatures of several origins under common numbers.

use rayon::prelude::*;

use crate::counts::number;
use crate::criterion::{Measured, Yardstick};
use crate::error::Result;
use crate::lattice::histograms::hash_words;
use crate::lattice::profile::Profile;
use crate::task::Task;

/// Numbers signatures in an order that depends on nothing but what they measure, by size first; equal ones get one number.
///
/// Returns the signatures by number, and for each part the number of each of its signatures.
pub(crate) fn canonical(yardstick: &Yardstick, parts: &[&[u64]], task: &Task) -> Result<(Measured, Vec<Vec<u32>>)> {
    let n = yardstick.n_measured();
    let is_plain = yardstick.measures().len() <= 2;
    let values = |&(_, _, part, signature): &(u64, u64, u32, u32)| &parts[part as usize][signature as usize * n..][..n];
    let mut order: Vec<(u64, u64, u32, u32)> = Vec::with_capacity(parts.iter().map(|part| part.len() / n).sum());
    for (part, all) in parts.iter().enumerate() {
        for (signature, values) in all.chunks_exact(n).enumerate() {
            // In plain order where there are two measures at most, as sizes and sets have it; else in one that is quick.
            let second = if is_plain { values[n.min(2) - 1] } else { hash_words(values) };
            order.push((values[0], second, number(part), number(signature)));
            task.go_on_now_and_then(order.len(), N_BETWEEN)?;
        }
    }
    order.par_sort_unstable_by(|a, b| {
        (a.0, a.1).cmp(&(b.0, b.1)).then_with(|| values(a).cmp(values(b))).then_with(|| (a.2, a.3).cmp(&(b.2, b.3)))
    });
    let mut numbers: Vec<Vec<u32>> = parts.iter().map(|part| vec![0; part.len() / n]).collect();
    let mut signatures: Vec<u64> = Vec::with_capacity(order.len() * n);
    for (i, signature) in order.iter().enumerate() {
        task.go_on_now_and_then(i, N_BETWEEN)?;
        let values = values(signature);
        if signatures.is_empty() || signatures[signatures.len() - n..] != *values {
            signatures.extend_from_slice(values);
        }
        numbers[signature.2 as usize][signature.3 as usize] = number(signatures.len() / n) - 1;
    }
    signatures.shrink_to_fit();
    Ok((Measured::by(yardstick, signatures), numbers))
}

/// Signatures that some group has, and the profiles by their new numbers.
pub(crate) fn without_unused(signatures: Measured, profiles: Vec<Profile>) -> (Measured, Vec<Profile>) {
    let mut is_used = vec![false; signatures.len()];
    profiles.iter().flat_map(Profile::entries).for_each(|entry| is_used[entry.signature as usize] = true);
    if is_used.iter().all(|is_used| *is_used) {
        return (signatures, profiles);
    }
    let mut numbers = Vec::with_capacity(signatures.len());
    let mut values = Vec::new();
    let mut n_used = 0;
    for (signature, is_used) in is_used.iter().enumerate() {
        numbers.push(n_used);
        if *is_used {
            values.extend_from_slice(signatures.all_of(signature));
            n_used += 1;
        }
    }
    let renumbered = |profile: Profile| profile.renumbered(|signature| numbers[signature as usize]);
    let measured = Measured::new(signatures.measures(), signatures.is_over_people(), values);
    (measured, profiles.into_par_iter().map(renumbered).collect())
}

/// Signatures between two questions whether the work is still wanted.
const N_BETWEEN: usize = 1 << 16;
