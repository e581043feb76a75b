//! The groups of a single scheme, straight from the counts: what is published, and the slow twin of the fast walk.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashTable;

use crate::counts::people::People;
use crate::counts::{GroupCounts, hash_codes, number};
use crate::criterion::{Criteria, Measured, Yardstick};
use crate::error::Result;
use crate::hierarchy::Hierarchy;
use crate::lattice::annotate::Plan;
use crate::lattice::profile::{Entry, Outcome, Profile};
use crate::loss::{Entropies, Penalties};
use crate::scheme::Scheme;
use crate::table::Code;

/// The groups of one scheme, straight from the counts.
///
/// Returns for every group of the counts the number of the scheme's group that it falls into,
/// and for every group of the scheme what criteria see of it.
///
/// # Errors
/// Where hierarchies do not fit the counts, or the scheme does not fit the hierarchies.
pub fn groups_of(
    counts: &GroupCounts,
    hierarchies: &[Hierarchy],
    scheme: &Scheme,
    yardstick: &Yardstick,
) -> Result<(Vec<u32>, Measured)> {
    counts.check_hierarchies(hierarchies)?;
    scheme.check(hierarchies)?;
    let of_base: Vec<&[Code]> =
        hierarchies.iter().enumerate().map(|(a, hierarchy)| hierarchy.level(scheme.level(a)).of_base()).collect();
    let generalized =
        |codes: &[Code]| -> Vec<Code> { codes.iter().zip(&of_base).map(|(code, to)| to[code.index()]).collect() };
    // By number, with the codes that they share.
    let mut table: HashTable<u32> = HashTable::new();
    let mut codes_of: Vec<Vec<Code>> = Vec::new();
    let mut group_of_base = Vec::with_capacity(counts.n_groups());
    for base in 0..counts.n_groups() {
        let codes = generalized(counts.codes(base));
        let hash = hash_codes(codes.iter().copied());
        let group = match table.find(hash, |&group| codes_of[group as usize] == codes) {
            Some(&group) => group,
            None => {
                let group = number(codes_of.len());
                codes_of.push(codes);
                let hash_again = |&group: &u32| hash_codes(codes_of[group as usize].iter().copied());
                table.insert_unique(hash, group, hash_again);
                group
            }
        };
        group_of_base.push(group);
    }
    let mut sizes = vec![0; codes_of.len()];
    group_of_base.iter().enumerate().for_each(|(base, &group)| sizes[group as usize] += counts.size(base));
    let cells = match counts.people().filter(|_| yardstick.is_over_people()) {
        Some(people) => {
            let group_of_cell = counts.groups_of_cells();
            let group_of = |cell: usize| [group_of_base[group_of_cell[cell] as usize]];
            slots_of_people(counts, people, yardstick, group_of)
        }
        None => {
            let of_base = |(base, &group): (usize, &u32)| {
                let of_cell = move |(codes, n): (&[Code], u64)| {
                    codes.iter().enumerate().map(|(s, code)| (group, yardstick.value(s, code.0), n)).collect::<Vec<_>>()
                };
                counts.cells(base).flat_map(of_cell).collect::<Vec<_>>()
            };
            added_up(group_of_base.iter().enumerate().flat_map(of_base).collect())
        }
    };
    let mut populations = vec![0; codes_of.len()];
    for (codes, n) in counts.population().into_iter().flat_map(|population| population.groups()) {
        let codes = generalized(codes);
        let hash = hash_codes(codes.iter().copied());
        if let Some(&group) = table.find(hash, |&group| codes_of[group as usize] == codes) {
            populations[group as usize] += n;
        }
    }
    let mut values = Vec::new();
    let mut next = 0;
    for group in 0..codes_of.len() {
        let n_cells = cells[next..].iter().take_while(|cell| cell.0 as usize == group).count();
        let histogram: Vec<(u32, u64)> = cells[next..next + n_cells].iter().map(|cell| (cell.1, cell.2)).collect();
        yardstick.measure(sizes[group], populations[group], &histogram, &mut values);
        next += n_cells;
    }
    Ok((group_of_base, Measured::by(yardstick, values)))
}

/// How much each group has of each slot, in order, where people are counted: who has which values where, plainly.
///
/// The records of a cell may be in several groups, or in none.
pub(crate) fn slots_of_people<G: IntoIterator<Item = u32>>(
    counts: &GroupCounts,
    people: &People,
    yardstick: &Yardstick,
    groups_of_cell: impl Fn(usize) -> G,
) -> Vec<(u32, u32, u64)> {
    // Counts by person have whose record it is behind the sensitive values.
    let n_sensitive = yardstick.references().len();
    let mut slots = Vec::new();
    for person in 0..people.len() {
        let mut values_in: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for (cell, _) in people.cells(person) {
            let codes = &counts.codes_of_cell(cell)[..n_sensitive];
            for group in groups_of_cell(cell) {
                let values = codes.iter().enumerate().map(|(s, code)| yardstick.value(s, code.0));
                values_in.entry(group).or_default().extend(values);
            }
        }
        for (group, values) in values_in {
            let values: Vec<u32> = values.into_iter().collect();
            yardstick.person(&values, |slot, n| slots.push((group, slot, n)));
        }
    }
    added_up(slots)
}

/// In order, and what is said several times of the same slot of a group added up.
pub(crate) fn added_up(mut slots: Vec<(u32, u32, u64)>) -> Vec<(u32, u32, u64)> {
    slots.sort_unstable();
    put_together(slots)
}

/// What is said several times of the same slot of a group added up, where that stands side by side.
pub(crate) fn put_together(mut slots: Vec<(u32, u32, u64)>) -> Vec<(u32, u32, u64)> {
    slots.dedup_by(|next, first| {
        let is_same = (next.0, next.1) == (first.0, first.1);
        first.2 += if is_same { next.2 } else { 0 };
        is_same
    });
    slots
}

/// What publishing one scheme would give, straight from the counts.
///
/// # Errors
/// As for [`groups_of`]; and where weights do not fit, or a criterion is not measured.
pub fn outcome_of(
    counts: &GroupCounts,
    hierarchies: &[Hierarchy],
    plan: &Plan,
    scheme: &Scheme,
    criteria: &Criteria,
) -> Result<(Measured, Outcome)> {
    let penalties = Penalties::new(hierarchies, plan.weights)?;
    let entropies = plan.with_entropy.then(|| Entropies::new(counts, hierarchies));
    let (of_base, groups) = groups_of(counts, hierarchies, scheme, plan.yardstick)?;
    let mut costs = vec![(0, 0); groups.len()];
    for (base, &group) in of_base.iter().enumerate() {
        let codes = || {
            counts.codes(base).iter().enumerate().map(|(a, code)| {
                let level = scheme.level(a);
                (a, level, hierarchies[a].level(level).of_base()[code.index()].index())
            })
        };
        let loss = codes().map(|(a, level, code)| u64::from(penalties.of(a, level)[code])).sum();
        let entropy = |entropies: &Entropies| codes().map(|(a, l, code)| u64::from(entropies.of(a, l)[code])).sum();
        costs[group as usize] = (loss, entropies.as_ref().map_or(0, entropy));
    }
    let entries =
        (0..).zip(&costs).map(|(signature, (loss, _))| Entry { signature, n_groups: 1, loss: *loss }).collect();
    let entropies = if plan.with_entropy { costs.iter().map(|(_, entropy)| *entropy).collect() } else { Vec::new() };
    let profile = Profile::provisional(entries, entropies);
    groups.check_measured(criteria)?;
    let outcome = profile.outcome(&groups, &groups.test(criteria));
    Ok((groups, outcome))
}
