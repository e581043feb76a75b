//! The groups of one scheme: which are small and why, what they contain, and what the table looks like before and after.

use std::collections::BTreeMap;

use incrowd::lattice::groups_of;
use incrowd::table::Domain;
use incrowd::{Criteria, GroupCounts, Level, Result, Scheme};

use crate::input::count::Counted;

/// Groups that somebody looks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListGroups {
    /// Only those one of whose labels has this text in it, in any case.
    pub text: Option<String>,
    /// Only those that would be suppressed, or published.
    pub lost: Option<bool>,
    /// Only those of this many records, or people where these are counted.
    pub size: Option<u64>,
    /// At most so many are listed.
    pub n_max: usize,
}

/// One group of a scheme.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// A label per quasi-identifier; a missing value has an empty one.
    pub labels: Vec<String>,
    /// How large it is, in people where these are counted.
    pub size: u64,
    pub n_records: u64,
    /// Which of the criteria it does not keep, by their place.
    pub missed: Vec<usize>,
    /// How large it would be if an attribute were one level coarser; nothing where it is at its top.
    pub size_by_next: Vec<Option<u64>>,
    /// By sensitive attribute, the values of its records with how many have each, the most frequent first; a missing one is
    /// empty.
    pub contains: Vec<Vec<(String, u64)>>,
}

/// The groups that were looked for, the smallest first.
pub struct Listed {
    pub groups: Vec<Group>,
    /// How many were found, and how many there are.
    pub n_found: usize,
    pub n_groups: usize,
    /// How many groups, and records in them, have each size, those that keep the promise and those that do not.
    pub by_size: BTreeMap<u64, [(u64, u64); 2]>,
}

impl ListGroups {
    /// Looks for groups of a scheme, under the criteria that they have to keep.
    pub fn run(&self, counted: &Counted, scheme: &Scheme, criteria: &Criteria) -> Result<Listed> {
        let (counts, hierarchies) = (&counted.counts, &counted.hierarchies);
        let yardstick = counted.yardstick(criteria.iter().map(|criterion| criterion.measure))?;
        let (group_of_base, measured) = groups_of(counts, hierarchies, scheme, &yardstick)?;
        let mut first = vec![usize::MAX; measured.len()];
        let mut n_records = vec![0u64; measured.len()];
        for (base, &group) in group_of_base.iter().enumerate() {
            first[group as usize] = first[group as usize].min(base);
            n_records[group as usize] += counts.size(base);
        }
        let missed = |group: usize| -> Vec<usize> {
            let holds = |criterion: &incrowd::Criterion| match measured.column(criterion.measure) {
                Some(column) => criterion.holds(measured.of(group)[column]),
                None => true,
            };
            criteria.iter().enumerate().filter(|(_, criterion)| !holds(criterion)).map(|(i, _)| i).collect()
        };
        let labels = |group: usize| -> Vec<String> {
            let codes = counts.codes(first[group]);
            let of = |(a, hierarchy): (usize, &incrowd::Hierarchy)| {
                let level = hierarchy.level(scheme.level(a));
                level.labels()[level.of_base()[codes[a].index()].index()].clone()
            };
            hierarchies.iter().enumerate().map(of).collect()
        };
        let mut by_size: BTreeMap<u64, [(u64, u64); 2]> = BTreeMap::new();
        let mut found = Vec::new();
        let text = self.text.as_ref().map(|text| text.to_lowercase()).filter(|text| !text.is_empty());
        for (group, &records) in n_records.iter().enumerate() {
            let (size, lost) = (measured.size(group), !missed(group).is_empty());
            let counted = &mut by_size.entry(size).or_default()[usize::from(lost)];
            (counted.0, counted.1) = (counted.0 + 1, counted.1 + records);
            let is_sought = self.lost.is_none_or(|sought| sought == lost)
                && self.size.is_none_or(|sought| sought == size)
                && text
                    .as_ref()
                    .is_none_or(|text| labels(group).iter().any(|label| label.to_lowercase().contains(text)));
            if is_sought {
                found.push(group);
            }
        }
        found.sort_by_key(|&group| (measured.size(group), first[group]));
        let n_found = found.len();
        found.truncate(self.n_max);
        let mut size_by_next = vec![vec![None; hierarchies.len()]; found.len()];
        for (a, hierarchy) in hierarchies.iter().enumerate().filter(|_| !found.is_empty()) {
            if scheme.level(a) >= hierarchy.top() {
                continue;
            }
            let next = scheme.with(a, Level(scheme.level(a) as u8 + 1));
            let (of_base, coarser) = groups_of(counts, hierarchies, &next, &yardstick)?;
            for (i, &group) in found.iter().enumerate() {
                size_by_next[i][a] = Some(coarser.size(of_base[first[group]] as usize));
            }
        }
        let contains = contents(counts, &group_of_base, &found, measured.len());
        let groups = found.iter().zip(size_by_next).zip(contains).map(|((&group, size_by_next), contains)| Group {
            labels: labels(group),
            size: measured.size(group),
            n_records: n_records[group],
            missed: missed(group),
            size_by_next,
            contains,
        });
        Ok(Listed { groups: groups.collect(), n_found, n_groups: measured.len(), by_size })
    }
}

/// Of some groups, by sensitive attribute, the values of their records, the most frequent first.
fn contents(
    counts: &GroupCounts,
    group_of_base: &[u32],
    groups: &[usize],
    n_groups: usize,
) -> Vec<Vec<Vec<(String, u64)>>> {
    let domains = counts.sensitive();
    let mut place = vec![None; n_groups];
    groups.iter().enumerate().for_each(|(i, &group)| place[group] = Some(i));
    let mut n_records = vec![vec![BTreeMap::<usize, u64>::new(); domains.len()]; groups.len()];
    for (base, &group) in group_of_base.iter().enumerate() {
        let Some(i) = place[group as usize] else { continue };
        for (s, of_value) in n_records[i].iter_mut().enumerate() {
            for (code, n) in counts.values(base, s) {
                *of_value.entry(code.index()).or_default() += n;
            }
        }
    }
    let told = |(domain, of_value): (&Domain, BTreeMap<usize, u64>)| {
        let text = |value: usize| match domain.missing().is_some_and(|missing| missing.index() == value) {
            true => String::new(),
            false => domain.values()[value].clone(),
        };
        let mut values: Vec<(String, u64)> = of_value.into_iter().map(|(value, n)| (text(value), n)).collect();
        values.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
        values
    };
    n_records.into_iter().map(|of_group| domains.iter().zip(of_group).map(told).collect()).collect()
}

/// How often the labels of an attribute occur at its level, in the table and in the release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelSpread {
    pub attribute: usize,
    /// By label, in the order of the hierarchy; a missing value has an empty one.
    pub labels: Vec<(String, u64, u64)>,
}

/// Before and after: every attribute, and two together.
pub struct BeforeAfter {
    pub spreads: Vec<LabelSpread>,
    /// How many records have each pair of labels, in the table and in the release: rows of the first attribute.
    pub pair: Option<Vec<Vec<(u64, u64)>>>,
    pub n_records: u64,
    pub n_published: u64,
}

/// Labels of an attribute that are counted at once.
pub const N_LABELS_MAX: usize = 400;

/// What the table looks like before and after it is published by a scheme, each attribute at the finest level from its own
/// on that can be shown.
pub fn before_after(
    counted: &Counted,
    scheme: &Scheme,
    criteria: &Criteria,
    pair: Option<(usize, usize)>,
) -> Result<BeforeAfter> {
    let (counts, hierarchies) = (&counted.counts, &counted.hierarchies);
    let yardstick = counted.yardstick(criteria.iter().map(|criterion| criterion.measure))?;
    let (group_of_base, measured) = groups_of(counts, hierarchies, scheme, &yardstick)?;
    let test = measured.test(criteria);
    let n_of = |base: usize| {
        let n = counts.size(base);
        (n, if test.holds(group_of_base[base] as usize) { n } else { 0 })
    };
    let level_of = |a: usize| {
        let own = scheme.level(a);
        let fits = |level: &usize| hierarchies[a].level(*level).len() <= N_LABELS_MAX;
        hierarchies[a].level((own..=hierarchies[a].top()).find(fits).unwrap_or(hierarchies[a].top()))
    };
    let label_of = |a: usize, base: usize| level_of(a).of_base()[counts.codes(base)[a].index()].index();
    let (mut n_records, mut n_published) = (0, 0);
    for base in 0..counts.n_groups() {
        let (before, after) = n_of(base);
        (n_records, n_published) = (n_records + before, n_published + after);
    }
    let spread = |a: usize| {
        let mut labels: Vec<_> = level_of(a).labels().iter().map(|label| (label.clone(), 0, 0)).collect();
        let of_base = level_of(a).of_base();
        for base in 0..counts.n_groups() {
            let ((before, after), label) = (n_of(base), of_base[counts.codes(base)[a].index()].index());
            (labels[label].1, labels[label].2) = (labels[label].1 + before, labels[label].2 + after);
        }
        LabelSpread { attribute: a, labels }
    };
    let pair = pair.map(|(a, b)| {
        let mut cells = vec![vec![(0, 0); level_of(b).len()]; level_of(a).len()];
        for base in 0..counts.n_groups() {
            let ((before, after), cell) = (n_of(base), &mut cells[label_of(a, base)][label_of(b, base)]);
            *cell = (cell.0 + before, cell.1 + after);
        }
        cells
    });
    let spreads = (0..hierarchies.len()).map(spread).collect();
    Ok(BeforeAfter { spreads, pair, n_records, n_published })
}
