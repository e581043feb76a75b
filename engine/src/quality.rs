//! How good a release is: what it loses, how large its groups are.
//!
//! Everything is read from the recoding and the counts; no record is looked at.

use crate::counts::GroupCounts;
use crate::error::Result;
use crate::hierarchy::Hierarchy;
use crate::loss::{Penalties, ncp_of_level};
use crate::recode::partition::closest_common_ancestor;
use crate::recode::{Recoding, Span};

/// The quality of a release. A suppressed record counts as one of which nothing is said.
#[derive(Clone, Debug, PartialEq)]
pub struct Quality {
    /// Mean loss of a record, from 0 to 1: the mean over the quasi-identifiers, weighted by how much the analyst cares.
    pub ncp: f64,
    /// The same for each quasi-identifier alone.
    pub ncp_of_attribute: Vec<f64>,
    /// C_DM: every record counts as many as its group has; a suppressed record as many as the table has.
    pub discernibility: u128,
    /// C_AVG: published records per group; 0 where nothing is published.
    pub mean_group_size: f64,
    /// Groups as a reader of the release sees them.
    pub n_groups: usize,
    pub n_suppressed: u64,
    /// None where nothing is published.
    pub smallest_group: Option<u64>,
    /// The fewest sensitive values of a group; none without a sensitive attribute, or where it is left open which of
    /// several equal records joins a group.
    pub fewest_distinct: Option<u64>,
}

/// Judges a recoding of these counts.
pub fn quality(
    counts: &GroupCounts,
    hierarchies: &[Hierarchy],
    weights: &[f64],
    recoding: &Recoding,
) -> Result<Quality> {
    // Weights are refused here as everywhere.
    Penalties::new(hierarchies, weights)?;
    let sizes = recoding.sizes();
    let n_suppressed = recoding.n_suppressed();
    let n_records = counts.n_records().max(1) as f64;
    let ncp_of_attribute: Vec<f64> = hierarchies
        .iter()
        .enumerate()
        .map(|(a, hierarchy)| {
            let of_cell = ncp_of_cells(hierarchy, recoding, a);
            let of_group = |(group, &size): (usize, &u64)| size as f64 * of_cell[recoding.row(group)[a] as usize];
            (sizes.iter().enumerate().map(of_group).sum::<f64>() + n_suppressed as f64) / n_records
        })
        .collect();
    let total: f64 = weights.iter().sum();
    let ncp = ncp_of_attribute.iter().zip(weights).map(|(ncp, weight)| ncp * weight).sum::<f64>() / total;

    let (seen, n_groups) = recoding.as_seen();
    let mut seen_sizes = vec![0u64; n_groups];
    seen.iter().zip(&sizes).for_each(|(&group, size)| seen_sizes[group as usize] += size);
    let of_group = |&size: &u64| u128::from(size) * u128::from(size);
    let of_suppressed = u128::from(n_suppressed) * u128::from(counts.n_records());
    Ok(Quality {
        ncp,
        ncp_of_attribute,
        discernibility: seen_sizes.iter().map(of_group).sum::<u128>() + of_suppressed,
        mean_group_size: (counts.n_records() - n_suppressed) as f64 / n_groups.max(1) as f64,
        n_groups,
        n_suppressed,
        smallest_group: seen_sizes.iter().copied().min(),
        fewest_distinct: fewest_distinct(counts, recoding, &seen, n_groups),
    })
}

/// What each cell of a quasi-identifier costs, without weight: the penalty of Xu et al. (see [`crate::loss`]).
pub fn ncp_of_cells(hierarchy: &Hierarchy, recoding: &Recoding, attribute: usize) -> Vec<f64> {
    let of_level: Vec<Vec<f64>> = (0..hierarchy.n_levels()).map(|level| ncp_of_level(hierarchy, level)).collect();
    let positions = hierarchy.positions().unwrap_or_default();
    let known = || positions.iter().flatten().copied();
    let range = known().fold(f64::NEG_INFINITY, f64::max) - known().fold(f64::INFINITY, f64::min);
    let ncp = |span: &Span| match span {
        Span::Value(_) => 0.0,
        Span::Range(low, high) | Span::Middle(low, high) => match (positions[low.index()], positions[high.index()]) {
            (Some(low), Some(high)) if range > 0.0 => (high - low) / range,
            _ => 1.0,
        },
        Span::Label(level, code) => of_level[usize::from(*level)][code.index()],
        // The paper counts a set as its closest common ancestor.
        Span::Set(codes) => {
            let (level, code) = closest_common_ancestor(hierarchy, codes);
            of_level[level][code.index()]
        }
    };
    recoding.cells(attribute).iter().map(|cell| ncp(&cell.span)).collect()
}

fn fewest_distinct(counts: &GroupCounts, recoding: &Recoding, seen: &[u32], n_groups: usize) -> Option<u64> {
    counts.sensitive()?;
    let mut values: Vec<(u32, u32)> = Vec::new();
    for base in 0..counts.n_groups() {
        let shares = recoding.shares(base);
        let cells = counts.cells(base);
        for share in shares {
            let Some(group) = share.group else { continue };
            let group = seen[group as usize];
            match share.cell {
                Some(cell) => values.push((group, cells[cell as usize].0.0)),
                None if shares.len() == 1 => values.extend(cells.iter().map(|(value, _)| (group, value.0))),
                None => return None,
            }
        }
    }
    values.sort_unstable();
    values.dedup();
    let mut n_distinct = vec![0; n_groups];
    values.iter().for_each(|&(group, _)| n_distinct[group as usize] += 1);
    n_distinct.into_iter().min()
}
