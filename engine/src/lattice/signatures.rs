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
    let is_plain = yardstick.measures().len() <= 2;
    let (values, numbers) = canonical_of(yardstick.n_measured(), is_plain, parts, task)?;
    Ok((Measured::by(yardstick, values), numbers))
}

/// The same of signatures with `n` values each.
fn canonical_of(n: usize, is_plain: bool, parts: &[&[u64]], task: &Task) -> Result<(Vec<u64>, Vec<Vec<u32>>)> {
    let values = |&(_, part, signature): &(u64, u32, u32)| &parts[part as usize][signature as usize * n..][..n];
    // In plain order where there are two measures at most, as sizes and sets have it; else in one that is quick.
    let second = |values: &[u64]| if is_plain { values[n.min(2) - 1] } else { hash_words(values) };
    let mut order: Vec<(u64, u32, u32)> = Vec::with_capacity(parts.iter().map(|part| part.len() / n).sum());
    for (part, all) in parts.iter().enumerate() {
        for (signature, values) in all.chunks_exact(n).enumerate() {
            order.push((first_of_order(values[0], second(values)), number(part), number(signature)));
            task.go_on_now_and_then(order.len(), N_BETWEEN)?;
        }
    }
    order.par_sort_unstable();
    // What one number cannot tell apart.
    for same in order.chunk_by_mut(|a, b| a.0 == b.0).filter(|same| same.len() > 1) {
        let whole = |of: &(u64, u32, u32)| (values(of)[0], second(values(of)));
        same.sort_unstable_by(|a, b| {
            whole(a).cmp(&whole(b)).then_with(|| values(a).cmp(values(b))).then_with(|| (a.1, a.2).cmp(&(b.1, b.2)))
        });
    }
    let mut numbers: Vec<Vec<u32>> = parts.iter().map(|part| vec![0; part.len() / n]).collect();
    let mut signatures: Vec<u64> = Vec::with_capacity(order.len() * n);
    for (i, signature) in order.iter().enumerate() {
        task.go_on_now_and_then(i, N_BETWEEN)?;
        let values = values(signature);
        if signatures.is_empty() || signatures[signatures.len() - n..] != *values {
            signatures.extend_from_slice(values);
        }
        numbers[signature.1 as usize][signature.2 as usize] = number(signatures.len() / n) - 1;
    }
    signatures.shrink_to_fit();
    Ok((signatures, numbers))
}

/// The beginning of two numbers by which something is ordered, as far as it fits into one.
fn first_of_order(first: u64, second: u64) -> u64 {
    match first < 1 << 20 {
        true => first << 44 | second >> 20,
        // Rare: the whole numbers tell.
        false => u64::MAX,
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever fits into the number that is sorted first: by size, equal ones once, in whichever part they are.
    #[test]
    fn signatures_are_in_the_order_of_size_and_nothing_else_matters() {
        let sizes = [1, 5, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 1 << 37];
        let all: Vec<[u64; 3]> =
            sizes.iter().flat_map(|&size| [[size, 1, 7], [size, 2, 7], [size, 2, 9], [size, 1 << 40, 0]]).collect();
        let mut random = crate::random::Random::new(3);
        let mut part =
            |n: usize| -> Vec<u64> { (0..n).flat_map(|_| all[random.below(all.len() as u64) as usize]).collect() };
        let parts = [part(200), part(5), Vec::new(), part(40)];
        let (signatures, numbers) =
            canonical_of(3, false, &parts.each_ref().map(|part| &part[..]), &Task::default()).expect("nobody stops it");
        let of = |number: usize| &signatures[number * 3..][..3];
        assert!((1..signatures.len() / 3).all(|i| of(i - 1)[0] <= of(i)[0] && of(i - 1) != of(i)));
        for (part, numbers) in parts.iter().zip(&numbers) {
            for (values, number) in part.chunks_exact(3).zip(numbers) {
                assert_eq!(values, of(*number as usize));
            }
        }
        let mut others = parts.clone();
        others.reverse();
        let again = canonical_of(3, false, &others.each_ref().map(|part| &part[..]), &Task::default());
        assert_eq!(again.expect("nobody stops it").0, signatures);
    }
}
