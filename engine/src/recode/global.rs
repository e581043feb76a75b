//! Full-domain generalization: one level per attribute for all records, groups that fail are suppressed.

use crate::counts::GroupCounts;
use crate::counts::people::People;
use crate::criterion::{Criteria, Yardstick};
use crate::error::Result;
use crate::hierarchy::Hierarchy;
use crate::lattice::groups_of;
use crate::recode::{Cell, Recoding, Share, Span};
use crate::scheme::Scheme;
use crate::table::Code;

/// Generalizes all records to a scheme and suppresses the groups that fail a criterion.
///
/// # Guarantee
/// A group is published with all of its records or not at all, and every published group satisfies every criterion.
///
/// # Errors
/// Where hierarchies, scheme and criteria do not fit the counts and the yardstick.
pub fn recode(
    counts: &GroupCounts,
    hierarchies: &[Hierarchy],
    scheme: &Scheme,
    yardstick: &Yardstick,
    criteria: &Criteria,
) -> Result<Recoding> {
    let (group_of_base, groups) = groups_of(counts, hierarchies, scheme, yardstick)?;
    groups.check_measured(criteria)?;
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
    let mut rows = vec![Vec::new(); n_published as usize];
    for (base, &group) in group_of_base.iter().enumerate() {
        let Some(published) = published[group as usize] else { continue };
        let row = &mut rows[published as usize];
        if row.is_empty() {
            let codes = counts.codes(base).iter().zip(hierarchies).enumerate();
            *row = codes
                .map(|(a, (code, hierarchy))| hierarchy.level(scheme.level(a)).of_base()[code.index()].0)
                .collect();
        }
    }
    let shares = group_of_base.iter().enumerate().map(|(base, &group)| {
        vec![Share { cell: None, group: published[group as usize], n_records: counts.size(base) }]
    });
    let cells = hierarchies.iter().enumerate().map(|(a, hierarchy)| {
        let level = scheme.level(a);
        let cell = |(code, text): (u32, &String)| {
            let span = Span::Label(level as u8, Code(code));
            let is_missing = hierarchy.is_missing(level, Code(code));
            // What a label says itself: the values behind it are also those of records that are not published.
            let ends = hierarchy.ends_of_label(level, Code(code));
            Cell { text: text.clone(), is_missing, ends, span }
        };
        (0..).zip(hierarchy.level(level).labels()).map(cell).collect()
    });
    let is_exact = (0..hierarchies.len()).map(|a| scheme.level(a) == 0).collect();
    Ok(Recoding::new(shares, cells.collect(), rows, is_exact))
}

/// How many people would lose all of their records if a scheme were published; none where records are counted.
///
/// # Errors
/// As for [`recode`].
pub fn n_people_lost(
    counts: &GroupCounts,
    hierarchies: &[Hierarchy],
    scheme: &Scheme,
    yardstick: &Yardstick,
    criteria: &Criteria,
) -> Result<Option<u64>> {
    let Some(people) = counts.people() else { return Ok(None) };
    let (group_of_base, groups) = groups_of(counts, hierarchies, scheme, yardstick)?;
    groups.check_measured(criteria)?;
    let (test, group_of_cell) = (groups.test(criteria), counts.groups_of_cells());
    let is_kept = |(cell, _): (usize, u64)| test.holds(group_of_base[group_of_cell[cell] as usize] as usize);
    let is_lost = |person: &usize| !People::cells(people, *person).any(is_kept);
    Ok(Some((0..people.len()).filter(is_lost).count() as u64))
}
