//! How good a release is: what it loses, how large its groups are, and how private.
//!
//! Everything is read from the recoding and the counts; no record is looked at.

use crate::counts::GroupCounts;
use crate::counts::people::People;
use crate::criterion::{Criteria, Measure, Measured, Yardstick};
use crate::error::{Error, ErrorKind, Result};
use crate::hierarchy::Hierarchy;
use crate::lattice::one_scheme::{added_up, slots_of_people};
use crate::loss::{balanced, ncp_of_level};
use crate::recode::partition::closest_common_ancestor;
use crate::recode::{Recoding, Share, Span};
use crate::table::Code;
use crate::task::Task;

/// What is to be said about a release. A suppressed record counts as one of which nothing is said.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Judgement {
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
    /// How many records are not published.
    pub n_suppressed: u64,
    /// What criteria see of the groups.
    pub measured: Measured,
}

impl Judgement {
    /// The least privacy of any group by a measure; none where nothing is published, or the yardstick lacks it.
    pub fn reached(&self, measure: Measure) -> Option<u64> {
        let column = self.measured.column(measure)?;
        let values = (0..self.measured.len()).map(|group| self.measured.of(group)[column]);
        if measure.is_at_least() { values.min() } else { values.max() }
    }

    /// Whether every group satisfies all criteria, all of which were measured.
    pub fn holds(&self, criteria: &Criteria) -> bool {
        let test = self.measured.test(criteria);
        (0..self.measured.len()).all(|group| test.holds(group))
    }
}

/// Judges a recoding of these counts by what the yardstick measures.
///
/// How many people of the population share a group is not looked at: that is 0 here.
///
/// # Errors
/// Where hierarchies, weights or recoding do not fit the counts.
pub fn judge(
    counts: &GroupCounts,
    hierarchies: &[Hierarchy],
    weights: &[f64],
    yardstick: &Yardstick,
    recoding: &Recoding,
) -> Result<Judgement> {
    judge_with(counts, hierarchies, weights, yardstick, recoding, &Task::default())
}

/// The same as work that somebody may stop.
///
/// # Errors
/// As for [`judge`], and where somebody has stopped it.
pub fn judge_with(
    counts: &GroupCounts,
    hierarchies: &[Hierarchy],
    weights: &[f64],
    yardstick: &Yardstick,
    recoding: &Recoding,
    task: &Task,
) -> Result<Judgement> {
    counts.check_hierarchies(hierarchies)?;
    if recoding.n_attributes() != hierarchies.len() {
        return Err(Error::new(ErrorKind::Request, "the recoding is one of another table"));
    }
    let weights = balanced(hierarchies, weights)?;
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
    let ncp = ncp_of_attribute.iter().zip(&weights).map(|(ncp, weight)| ncp * weight).sum::<f64>() / total;

    let (seen, n_groups) = recoding.as_seen();
    let mut seen_sizes = vec![0u64; n_groups];
    seen.iter().zip(&sizes).for_each(|(&group, size)| seen_sizes[group as usize] += size);
    let of_group = |&size: &u64| u128::from(size) * u128::from(size);
    let of_suppressed = u128::from(n_suppressed) * u128::from(counts.n_records());
    Ok(Judgement {
        ncp,
        ncp_of_attribute,
        discernibility: seen_sizes.iter().map(of_group).sum::<u128>() + of_suppressed,
        mean_group_size: (counts.n_records() - n_suppressed) as f64 / n_groups.max(1) as f64,
        n_groups,
        n_suppressed,
        measured: measured(counts, yardstick, recoding, &seen, &seen_sizes, task)?,
    })
}

/// What each cell of a quasi-identifier costs, without weight: the penalty of Xu et al. (see [`crate::loss`]).
pub fn ncp_of_cells(hierarchy: &Hierarchy, recoding: &Recoding, attribute: usize) -> Vec<f64> {
    let of_level: Vec<Vec<f64>> = (0..hierarchy.n_levels()).map(|level| ncp_of_level(hierarchy, level)).collect();
    let positions = hierarchy.offsets().unwrap_or_default();
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

/// What criteria see of each group of a release, in the order of their numbers.
fn measured(
    counts: &GroupCounts,
    yardstick: &Yardstick,
    recoding: &Recoding,
    seen: &[u32],
    sizes: &[u64],
    task: &Task,
) -> Result<Measured> {
    // By group and slot; the values of all sensitive attributes side by side.
    let values = match counts.people().filter(|_| yardstick.is_over_people()) {
        Some(people) => of_people(counts, people, yardstick, recoding, seen),
        None => of_records(counts, yardstick, recoding, seen, task)?,
    };
    let mut measures = Vec::new();
    let mut next = 0;
    let mut histogram: Vec<(u32, u64)> = Vec::new();
    for (group, &size) in sizes.iter().enumerate() {
        task.go_on_now_and_then(group, N_BETWEEN)?;
        histogram.clear();
        while let Some(&(_, value, n)) = values.get(next).filter(|(of, ..)| *of as usize == group) {
            histogram.push((value, n));
            next += 1;
        }
        yardstick.measure(size, 0, &histogram, &mut measures);
    }
    Ok(Measured::by(yardstick, measures))
}

/// Groups between two questions whether the judgement is still wanted.
const N_BETWEEN: usize = 256;

/// Who is in which group, and with which values there.
///
/// # Panics
/// Where the records of a cell that several people have go to several groups: then nobody knows who is where.
fn of_people(
    counts: &GroupCounts,
    people: &People,
    yardstick: &Yardstick,
    recoding: &Recoding,
    seen: &[u32],
) -> Vec<(u32, u32, u64)> {
    let mut n_people = vec![0; counts.n_cells().max(counts.n_groups())];
    (0..people.len()).for_each(|person| people.cells(person).for_each(|(cell, _)| n_people[cell] += 1));
    let group_of_cell = counts.groups_of_cells();
    // By cell that people are kept with, the groups that its records are in.
    let groups: Vec<Vec<u32>> = (0..group_of_cell.len())
        .map(|cell| {
            let base = group_of_cell[cell] as usize;
            let place = counts.place_of_cell(base, cell);
            let is_meant = |share: &&Share| share.cell.is_none_or(|of| of as usize == place);
            let shares: Vec<&Share> = recoding.shares(base).iter().filter(is_meant).collect();
            assert!(n_people[cell] <= 1 || shares.len() == 1, "it is known who is where");
            let mut groups: Vec<u32> = shares.iter().filter_map(|share| Some(seen[share.group? as usize])).collect();
            groups.sort_unstable();
            groups.dedup();
            groups
        })
        .collect();
    slots_of_people(counts, people, yardstick, |cell| groups[cell].iter().copied())
}

fn of_records(
    counts: &GroupCounts,
    yardstick: &Yardstick,
    recoding: &Recoding,
    seen: &[u32],
    task: &Task,
) -> Result<Vec<(u32, u32, u64)>> {
    let n_sensitive = yardstick.references().len();
    let mut values: Vec<(u32, u32, u64)> = Vec::new();
    for base in 0..counts.n_groups() {
        task.go_on_now_and_then(base, N_BETWEEN)?;
        let cells: Vec<(&[Code], u64)> = counts.cells(base).collect();
        for share in recoding.shares(base) {
            let Some(group) = share.group else { continue };
            let of_share = match share.cell {
                Some(cell) => &[(cells[cell as usize].0, share.n_records)],
                None => &cells[..],
            };
            for (codes, n_records) in of_share {
                let value = |s: usize| (seen[group as usize], yardstick.value(s, codes[s].0), *n_records);
                values.extend((0..n_sensitive).map(value));
            }
        }
    }
    Ok(added_up(values))
}
