//! A lattice follows its records: where some come or go, only groups that they are in are rolled up again.
//!
//! A scheme's new profile is the old one without the groups that changed, as they were, and with them as they are. The
//! walk that finds them leaves out, subtree by subtree, every group that can no longer meet a changed combination; in
//! most schemes hardly any is left.

use rayon::prelude::*;

use crate::counts::GroupCounts;
use crate::criterion::Measured;
use crate::error::Result;
use crate::kept::Profiles;
use crate::lattice::{Grid, Lattice, Plan, Scope};
use crate::loss::Penalties;
use crate::profile::{Entry, Profile};
use crate::roll_up::most_merging_first;
use crate::table::Code;
use crate::walk::{Effort, Wanted, canonical, changed_profiles};

/// The lattice of a table after records came or went; none where everything would have to be annotated again.
///
/// That is so where values came or went with the records, where something is measured against the whole table, where
/// only part of the lattice is annotated, and where too much changed. `before` are the counts that the lattice was made
/// from; the hierarchies and weights are still the same.
///
/// # Guarantee
/// It is the lattice that [`annotate`](crate::annotate()) gives for the new counts.
pub fn updated(
    lattice: &Lattice,
    before: &GroupCounts,
    after: &GroupCounts,
    plan: &Plan,
    effort: &Effort,
) -> Result<Option<Lattice>> {
    let is_relative = plan.yardstick.measures().iter().any(|measure| measure.is_relative());
    let has_same_values = before.domains() == after.domains() && before.sensitive() == after.sensitive();
    let has_same_measures = plan.yardstick.measures() == lattice.measures();
    if is_relative || plan.with_entropy || !has_same_values || !has_same_measures || !lattice.schemes().is_complete() {
        return Ok(None);
    }
    let changed = changed_combinations(before, after);
    if changed.len() * N_GROUPS_PER_CHANGE > after.n_groups() {
        return Ok(None);
    }
    let penalties = Penalties::new(lattice.hierarchies(), plan.weights)?;
    let wanted = Wanted { yardstick: plan.yardstick, penalties: &penalties, entropies: None };
    let order = most_merging_first(after);
    let schemes = lattice.schemes();
    let near = |counts: &GroupCounts| {
        changed_profiles(counts, lattice.hierarchies(), &wanted, schemes, &changed, &order, effort)
    };
    let (were, are) = (near(before)?, near(after)?);
    let n_source_groups = were.n_source_groups + are.n_source_groups;
    // One number per look, whichever of the three it comes from.
    let (looks, numbers) =
        canonical(lattice.measures(), &[lattice.looks().values(), were.looks.values(), are.looks.values()]);
    let changed = |place: usize| {
        let parts = [lattice.profile(place), &were.profiles[place], &are.profiles[place]];
        changed_profile(parts, &numbers)
    };
    let profiles: Vec<Vec<Entry>> = (0..schemes.len()).into_par_iter().map(changed).collect();
    lattice.intact()?;
    let (looks, profiles) = without_unused(&looks, profiles);
    Ok(Some(Lattice {
        grids: Grid::all(&looks, schemes, &profiles),
        scope: Scope::new(after, lattice.hierarchies(), plan.yardstick),
        schemes: schemes.clone(),
        selection: None,
        looks,
        profiles: Profiles::Made(profiles),
        entropies: None,
        n_source_groups,
    }))
}

/// Where more than one in so many combinations changed, annotating everything takes no longer.
const N_GROUPS_PER_CHANGE: usize = 8;

/// The combinations whose records are not the same before and after.
fn changed_combinations<'a>(before: &'a GroupCounts, after: &'a GroupCounts) -> Vec<&'a [Code]> {
    let content = |counts: &GroupCounts, group: usize| -> (u64, Vec<(Vec<Code>, u64)>) {
        (counts.size(group), counts.cells(group).map(|(codes, n)| (codes.to_vec(), n)).collect())
    };
    let (mut here, mut there) = (0, 0);
    let mut changed = Vec::new();
    while here < before.n_groups() || there < after.n_groups() {
        let codes = |counts: &'a GroupCounts, group: usize| (group < counts.n_groups()).then(|| counts.codes(group));
        match (codes(before, here), codes(after, there)) {
            (Some(old), Some(new)) if old == new => {
                if content(before, here) != content(after, there) {
                    changed.push(old);
                }
                (here, there) = (here + 1, there + 1);
            }
            (Some(old), new) if new.is_none_or(|new| old < new) => {
                changed.push(old);
                here += 1;
            }
            (_, new) => {
                changed.extend(new);
                there += 1;
            }
        }
    }
    changed
}

/// The first profile without the second and with the third, by the common numbers of looks.
fn changed_profile(parts: [&Profile; 3], numbers: &[Vec<u32>]) -> Vec<Entry> {
    let mut signed: Vec<(u32, i64, i128)> = Vec::new();
    for ((profile, numbers), sign) in parts.into_iter().zip(numbers).zip([1, -1, 1]) {
        let entry = |entry: &Entry| {
            let (n_groups, loss) = (i64::from(entry.n_groups), i128::from(entry.loss));
            (numbers[entry.look as usize], sign * n_groups, i128::from(sign) * loss)
        };
        signed.extend(profile.entries().iter().map(entry));
    }
    signed.sort_unstable_by_key(|(look, ..)| *look);
    let sum = |same: &[(u32, i64, i128)]| {
        let (n_groups, loss) = same.iter().fold((0, 0), |(n, loss), entry| (n + entry.1, loss + entry.2));
        Entry { look: same[0].0, n_groups: n_groups as u32, loss: loss as u64 }
    };
    let entries = signed.chunk_by(|a, b| a.0 == b.0).map(sum);
    entries.filter(|entry| entry.n_groups > 0).collect()
}

/// Looks that some group has, and the profiles by their new numbers.
fn without_unused(looks: &Measured, profiles: Vec<Vec<Entry>>) -> (Measured, Vec<Profile>) {
    let mut is_used = vec![false; looks.len()];
    profiles.iter().flatten().for_each(|entry| is_used[entry.look as usize] = true);
    let mut numbers = Vec::with_capacity(looks.len());
    let mut values = Vec::new();
    let mut n_used = 0;
    for (look, is_used) in is_used.iter().enumerate() {
        numbers.push(n_used);
        if *is_used {
            values.extend_from_slice(looks.of(look));
            n_used += 1;
        }
    }
    let renumbered = |mut entries: Vec<Entry>| {
        entries.iter_mut().for_each(|entry| entry.look = numbers[entry.look as usize]);
        Profile::provisional(entries, Vec::new())
    };
    (Measured::new(looks.measures(), values), profiles.into_par_iter().map(renumbered).collect())
}
