//! Every bargain that makes sense: the schemes and values of a criterion that no other beats on privacy, records lost
//! and loss together.

use rayon::prelude::*;

use crate::criterion::{Criteria, Criterion, Measure};
use crate::error::Result;
use crate::lattice::Lattice;
use crate::lattice::profile::Outcome;
use crate::loss::LOSS_ONE;
use crate::quality::Ranking;
use crate::search::request::{Request, check_criteria};
use crate::task::Task;

/// One bargain: publish the scheme at this place, asking every group for this value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bargain {
    /// The place of the scheme in the lattice.
    pub place: usize,
    /// The strictest value of the criterion that loses no more records.
    pub value: u64,
    /// How many records are lost.
    pub n_suppressed: u64,
    /// How many groups are published.
    pub n_groups: u64,
    /// By the ranking, from 0 to 1.
    pub loss: f64,
}

/// All bargains over one measure, from the most private on, within the levels and records lost of a request.
///
/// The other criteria of the request hold throughout; its own value of the measure, if any, is the least private one
/// that is looked at.
///
/// # Guarantee
/// Nothing that publishes a group is left out unless a bargain of the list is at least as good in privacy, records lost
/// and loss; and none of the list is so beaten by another.
///
/// # Errors
/// Where the request or the measure has no meaning on this lattice, the lattice is damaged, or the task was cancelled.
pub fn frontier(
    lattice: &Lattice,
    request: &Request,
    measure: Measure,
    ranking: &Ranking,
    task: &Task,
) -> Result<Vec<Bargain>> {
    let others = request.criteria.without(measure);
    let least = request.criteria.value(measure).unwrap_or(measure.weakest());
    let n_values: Vec<usize> = lattice.sensitive().iter().map(|(_, n)| *n).collect();
    check_criteria(&request.criteria.with(Criterion { measure, value: least }), lattice.crowd(), &n_values)?;
    request.level_max.check(lattice.hierarchies())?;
    lattice.check_measured(&request.criteria.with(Criterion { measure, value: least }))?;
    let level_max = &request.level_max;
    let places: Vec<usize> =
        (0..lattice.schemes().len()).filter(|&place| lattice.schemes().scheme(place).is_below(level_max)).collect();
    let weakest = Criterion { measure, value: least };
    let of_schemes = |places: &[usize]| -> Result<Vec<Bargain>> {
        task.go_on()?;
        let of = |&place: &usize| of_scheme(lattice, place, &others, weakest, request.n_suppressed_max, ranking);
        Ok(places.iter().flat_map(of).collect())
    };
    let all: Vec<Vec<Bargain>> = places.par_chunks(N_BETWEEN).map(of_schemes).collect::<Result<_>>()?;
    let mut all = all.concat();
    // The most private first; among equals the one that loses least. A loss is never negative, so its bits are in order.
    let is_at_least = measure.is_at_least();
    all.par_sort_unstable_by_key(|bargain| {
        let privacy = if is_at_least { u64::MAX - bargain.value } else { bargain.value };
        (privacy, bargain.n_suppressed, bargain.loss.to_bits(), bargain.place)
    });
    // Of all that is at least as private: fewer records lost only at a greater loss. Both in order.
    let mut staircase: Vec<(u64, f64)> = Vec::new();
    all.retain(|bargain| {
        let next = staircase.partition_point(|(n_suppressed, _)| *n_suppressed <= bargain.n_suppressed);
        if next > 0 && staircase[next - 1].1 <= bargain.loss {
            return false;
        }
        let start = staircase.partition_point(|(n_suppressed, _)| *n_suppressed < bargain.n_suppressed);
        let n_beaten = staircase[start..].iter().take_while(|(_, loss)| *loss >= bargain.loss).count();
        staircase.splice(start..start + n_beaten, [(bargain.n_suppressed, bargain.loss)]);
        true
    });
    lattice.intact()?;
    Ok(all)
}

/// Schemes between two questions whether the work is still wanted.
const N_BETWEEN: usize = 64;

/// What one scheme offers at every value of a criterion that changes something, down to the criterion's own.
fn of_scheme<'a>(
    lattice: &'a Lattice,
    place: usize,
    others: &Criteria,
    weakest: Criterion,
    n_suppressed_max: u64,
    ranking: &'a Ranking,
) -> impl Iterator<Item = Bargain> + 'a {
    let signatures = lattice.signatures();
    let column = signatures.column(weakest.measure).expect("the criterion was measured");
    let test = signatures.test(others);
    let is_at_least = weakest.measure.is_at_least();
    let mut outcome = Outcome { n_suppressed: 0, n_groups: 0, reached: None, ncp: 0.0, n_squares: 0, entropy: 0 };
    let mut loss = 0u128;
    // The groups that could be published, by value, the most private first.
    let mut groups: Vec<(u64, usize)> = Vec::new();
    let profile = lattice.profile(place);
    for (i, entry) in profile.entries().iter().enumerate() {
        let value = signatures.of(entry.signature as usize)[column];
        if test.holds(entry.signature as usize) && weakest.holds(value) {
            groups.push((value, i));
        }
    }
    groups.sort_unstable();
    if is_at_least {
        groups.reverse();
    }
    outcome.n_suppressed = lattice.n_records();
    let n_records = lattice.n_records() as f64;
    let mut bargains = Vec::new();
    // Publish them one value after the other: each value loses what comes behind it.
    let mut next = 0;
    while next < groups.len() {
        let value = groups[next].0;
        while next < groups.len() && groups[next].0 == value {
            let entry = &profile.entries()[groups[next].1];
            let size = signatures.n_records(entry.signature as usize);
            let of_entry = size * u64::from(entry.n_groups);
            outcome.n_suppressed -= of_entry;
            outcome.n_groups += u64::from(entry.n_groups);
            outcome.n_squares += u128::from(size) * u128::from(of_entry);
            outcome.entropy += u128::from(profile.entropy(groups[next].1)) * u128::from(size);
            loss += u128::from(entry.loss) * u128::from(size);
            next += 1;
        }
        if outcome.n_suppressed > n_suppressed_max {
            continue;
        }
        let all = loss + u128::from(outcome.n_suppressed) * u128::from(LOSS_ONE);
        outcome.ncp = (all as f64 / (n_records * LOSS_ONE as f64)).min(1.0);
        bargains.push(Bargain {
            place,
            value,
            n_suppressed: outcome.n_suppressed,
            n_groups: outcome.n_groups,
            loss: ranking.loss(lattice, place, &outcome),
        });
    }
    bargains.into_iter()
}
