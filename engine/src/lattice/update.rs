//! A lattice follows its records: where some come or go, only groups that they are in are rolled up again.
//!
//! A scheme's new profile is the old one without the groups that changed, as they were, and with them as they are. The
//! walk that finds them leaves out, subtree by subtree, every group that can no longer meet a changed combination; in
//! most schemes hardly any is left.

use rayon::prelude::*;

use crate::counts::GroupCounts;
use crate::error::Result;
use crate::lattice::annotate::{Lattice, Plan};
use crate::lattice::grid::Grid;
use crate::lattice::profile::{Entry, Profile};
use crate::lattice::profiles::Profiles;
use crate::lattice::roll_up::most_merging_first;
use crate::lattice::roller::Annotation;
use crate::lattice::scope::Scope;
use crate::lattice::signatures::{canonical, without_unused};
use crate::lattice::walk::{Changed, changed_profiles};
use crate::loss::Penalties;
use crate::table::Code;
use crate::task::Task;

/// The lattice of a table after records came or went; none where everything would have to be annotated again.
///
/// That is so where values came or went with the records, where something is measured against the whole table, and where
/// only part of the lattice is annotated. `before` are the counts that the lattice was made from; the hierarchies and
/// weights are still the same.
///
/// # Guarantee
/// It is the lattice that [`annotate`](crate::annotate()) gives for the new counts.
///
/// # Errors
/// Where the memory allowed does not suffice, a profile could not be read, or the task was cancelled.
pub fn updated(
    lattice: &Lattice,
    before: &GroupCounts,
    after: &GroupCounts,
    plan: &Plan,
    task: &Task,
) -> Result<Option<Lattice>> {
    let is_relative = plan.yardstick.measures().iter().any(|measure| measure.is_relative());
    let has_same_values = before.domains() == after.domains() && before.sensitive() == after.sensitive();
    let has_same_measures =
        plan.yardstick.measures() == lattice.measures() && before.people().is_some() == after.people().is_some();
    if is_relative || plan.with_entropy || !has_same_values || !has_same_measures || !lattice.schemes().is_complete() {
        return Ok(None);
    }
    let combinations = changed_combinations(before, after);
    let n_groups = |place: usize| {
        task.go_on_now_and_then(place, N_BETWEEN)?;
        Ok(u32::try_from(lattice.profile(place).n_groups()).unwrap_or(u32::MAX))
    };
    let n_groups = (0..lattice.schemes().len()).into_par_iter().map(n_groups).collect::<Result<_>>()?;
    let changed = Changed { combinations, n_groups };
    let penalties = Penalties::new(lattice.hierarchies(), plan.weights)?;
    let wanted = Annotation { yardstick: plan.yardstick, penalties: &penalties, entropies: None };
    let order = most_merging_first(after);
    let schemes = lattice.schemes();
    let near = |counts: &GroupCounts| {
        changed_profiles(counts, lattice.hierarchies(), &wanted, schemes, &changed, &order, task)
    };
    let (were, are) = (near(before)?, near(after)?);
    let n_source_groups = were.n_source_groups + are.n_source_groups;
    // One number per signature, whichever of the three it comes from.
    let (signatures, numbers) = canonical(
        plan.yardstick,
        &[lattice.signatures().values(), were.signatures.values(), are.signatures.values()],
        task,
    )?;
    let profile = |place: usize| {
        task.go_on_now_and_then(place, N_BETWEEN)?;
        let parts = [lattice.profile(place), &were.profiles[place], &are.profiles[place]];
        Ok(Profile::provisional(changed_profile(parts, &numbers), Vec::new()))
    };
    let profiles: Vec<Profile> = (0..schemes.len()).into_par_iter().map(profile).collect::<Result<_>>()?;
    lattice.intact()?;
    let (signatures, profiles) = without_unused(signatures, profiles);
    Ok(Some(Lattice {
        grids: Grid::all(&signatures, schemes, &profiles, task)?,
        scope: Scope::new(after, lattice.hierarchies(), plan.yardstick),
        schemes: schemes.clone(),
        selection: None,
        signatures,
        profiles: Profiles::InMemory(profiles),
        entropies: None,
        n_source_groups,
        by_loss: Default::default(),
    }))
}

/// Schemes between two questions whether the work is still wanted.
const N_BETWEEN: usize = 64;

/// Whether so few combinations changed that following them is quicker than annotating everything.
pub fn is_worthwhile(before: &GroupCounts, after: &GroupCounts) -> bool {
    before.domains() == after.domains() && changed_combinations(before, after).len() * 100 <= after.n_groups()
}

/// The combinations whose records are not the same before and after.
fn changed_combinations<'a>(before: &'a GroupCounts, after: &'a GroupCounts) -> Vec<&'a [Code]> {
    let content = |counts: &GroupCounts, group: usize| -> (u64, Vec<(Vec<Code>, u64)>) {
        (counts.size(group), counts.cells(group).map(|(codes, n)| (codes.to_vec(), n)).collect())
    };
    let (who_was, who_is) = (before.people_of_groups(), after.people_of_groups());
    let are_others =
        |here: usize, there: usize| who_was.as_ref().map(|who| &who[here]) != who_is.as_ref().map(|who| &who[there]);
    let (mut here, mut there) = (0, 0);
    let mut changed = Vec::new();
    while here < before.n_groups() || there < after.n_groups() {
        let codes = |counts: &'a GroupCounts, group: usize| (group < counts.n_groups()).then(|| counts.codes(group));
        match (codes(before, here), codes(after, there)) {
            (Some(old), Some(new)) if old == new => {
                if content(before, here) != content(after, there) || are_others(here, there) {
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

/// The first profile without the second and with the third, by the common numbers of signatures.
fn changed_profile(parts: [&Profile; 3], numbers: &[Vec<u32>]) -> Vec<Entry> {
    // All three are in the order of their signatures, and so are the common numbers.
    let mut rest = parts.map(|profile| profile.entries());
    let mut changed = Vec::with_capacity(parts[0].entries().len());
    let number =
        |part: usize, rest: &[&[Entry]; 3]| rest[part].first().map(|entry| numbers[part][entry.signature as usize]);
    while let Some(signature) = (0..3).filter_map(|part| number(part, &rest)).min() {
        let (mut n_groups, mut loss) = (0u32, 0u64);
        for part in 0..3 {
            if number(part, &rest) != Some(signature) {
                continue;
            }
            let entry = rest[part][0];
            rest[part] = &rest[part][1..];
            // Below zero for a moment, perhaps.
            (n_groups, loss) = match part {
                1 => (n_groups.wrapping_sub(entry.n_groups), loss.wrapping_sub(entry.loss)),
                _ => (n_groups.wrapping_add(entry.n_groups), loss.wrapping_add(entry.loss)),
            };
        }
        if n_groups > 0 {
            changed.push(Entry { signature, n_groups, loss });
        }
    }
    changed
}
