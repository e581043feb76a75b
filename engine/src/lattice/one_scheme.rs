//! The groups of a single scheme, straight from the counts: what is published, and the slow twin of the fast walk.

use hashbrown::HashTable;

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
    let mut cells: Vec<(u32, u32, u64)> = Vec::new();
    for (base, &group) in group_of_base.iter().enumerate() {
        sizes[group as usize] += counts.size(base);
        for (codes, n) in counts.cells(base) {
            cells.extend(codes.iter().enumerate().map(|(s, code)| (group, yardstick.value(s, code.0), n)));
        }
    }
    cells.sort_unstable();
    cells.dedup_by(|next, cell| {
        let is_same = (next.0, next.1) == (cell.0, cell.1);
        if is_same {
            cell.2 += next.2;
        }
        is_same
    });
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
    Ok((group_of_base, Measured::new(yardstick.measures(), values)))
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
