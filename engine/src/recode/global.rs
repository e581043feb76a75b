//! Full-domain generalization: one level per attribute for all records, groups that fail are suppressed.

use crate::counts::GroupCounts;
use crate::criterion::{Criteria, Yardstick};
use crate::hierarchy::Hierarchy;
use crate::lattice::groups_of;
use crate::recode::Recoding;
use crate::scheme::Scheme;

/// Generalizes all records to a scheme and suppresses the groups that fail a criterion.
///
/// # Guarantee
/// A group is published with all of its records or not at all, and every published group satisfies every criterion.
pub fn recode(
    counts: &GroupCounts,
    hierarchies: &[Hierarchy],
    scheme: &Scheme,
    yardstick: &Yardstick,
    criteria: &Criteria,
) -> Recoding {
    let (group_of_base, groups) = groups_of(counts, hierarchies, scheme, yardstick);
    let test = groups.test(criteria);
    let mut n_published = 0;
    let published: Vec<Option<u32>> = (0..groups.len())
        .map(|group| {
            test.holds(group).then(|| {
                n_published += 1;
                n_published - 1
            })
        })
        .collect();
    let mut cells = vec![Vec::new(); n_published as usize];
    let of_base: Vec<Option<u32>> = group_of_base.iter().map(|&group| published[group as usize]).collect();
    for (base, published) in of_base.iter().enumerate() {
        let Some(published) = published else { continue };
        let cells = &mut cells[*published as usize];
        if cells.is_empty() {
            let codes = counts.codes(base).iter().zip(hierarchies).enumerate();
            *cells = codes
                .map(|(a, (code, hierarchy))| hierarchy.level(scheme.level(a)).of_base()[code.index()].0)
                .collect();
        }
    }
    let levels = || hierarchies.iter().enumerate().map(|(a, hierarchy)| (scheme.level(a), hierarchy));
    Recoding {
        of_base,
        cells,
        labels: levels().map(|(level, hierarchy)| hierarchy.level(level).labels().to_vec()).collect(),
        is_exact: levels().map(|(level, _)| level == 0).collect(),
    }
}
