//! What an attacker learns from a release: what its groups give away by themselves, and whom an outside table finds.
//!
//! An attacker knows a person's quasi-identifiers and that the person is in the table. The published cells say which
//! groups that person can be in; the sensitive values of those groups say what the person can have.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::hierarchy::{ANY, Hierarchy};
use crate::table::{Kind, days_of_date, parse_date};
use crate::verify::{Text, Verifier};

/// Records of a release that look alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// By quasi-identifier.
    pub cells: Vec<Text>,
    pub size: u64,
    /// By sensitive attribute, how many records have each value.
    pub values: Vec<BTreeMap<Text, u64>>,
}

/// The groups of the files that were read.
pub fn groups(file: &Verifier) -> Vec<Group> {
    let sorted = |values: &HashMap<Text, u64>| values.iter().map(|(value, n)| (value.clone(), *n)).collect();
    let group = |(cells, size, values): (&[Text], u64, &[HashMap<Text, u64>])| Group {
        cells: cells.to_vec(),
        size,
        values: values.iter().map(sorted).collect(),
    };
    file.groups().into_iter().map(group).collect()
}

/// Groups in which something is the case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hit {
    pub n_groups: u64,
    pub n_records: u64,
    /// Places of the groups, those with most records first.
    pub groups: Vec<usize>,
}

impl Hit {
    fn new(groups: &[Group], mut places: Vec<usize>) -> Hit {
        places.sort_by_key(|&place| (std::cmp::Reverse(groups[place].size), place));
        let n_records = places.iter().map(|&place| groups[place].size).sum();
        Hit { n_groups: places.len() as u64, n_records, groups: places }
    }
}

/// Homogeneity: whoever is in one of these groups has the one sensitive value that there is.
pub fn homogeneity(groups: &[Group], sensitive: usize) -> Hit {
    Hit::new(groups, (0..groups.len()).filter(|&place| groups[place].values[sensitive].len() == 1).collect())
}

/// Similarity: the values of one of these groups differ, but one label says them all.
///
/// `labels` are those of every value from level 0 to below the top. For every level above 0, the groups whose values
/// first share a label there.
pub fn similarity(groups: &[Group], sensitive: usize, labels: &HashMap<Text, Vec<String>>) -> Vec<Hit> {
    let n_levels = labels.values().map(Vec::len).max().unwrap_or(0);
    let shared_at = |group: &Group| {
        let values: Vec<&Vec<String>> =
            group.values[sensitive].keys().map(|value| labels.get(value)).collect::<Option<_>>()?;
        (values.len() > 1)
            .then(|| (1..n_levels).find(|&level| values.iter().all(|of| of.get(level) == values[0].get(level))))
            .flatten()
    };
    let levels: Vec<Option<usize>> = groups.iter().map(shared_at).collect();
    let at = |level: usize| (0..groups.len()).filter(|&place| levels[place] == Some(level)).collect();
    (1..n_levels.max(1)).map(|level| Hit::new(groups, at(level))).collect()
}

/// Skewness: how much more an attacker knows of a group than of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Skewness {
    /// The group and value whose share has grown most, by difference.
    pub most: Option<Gain>,
    /// The group and value that became likeliest by factor.
    pub steepest: Option<Gain>,
    /// Mean over records of the share of the likeliest value in their group: how often the best guess is right.
    pub best_guess: f64,
    /// The same where only the table is known.
    pub best_guess_before: f64,
}

/// What a group says about a value, beside what the table says.
#[derive(Clone, Debug, PartialEq)]
pub struct Gain {
    pub group: usize,
    pub value: Text,
    /// The share of the value in the table.
    pub prior: f64,
    /// The share of the value in the group.
    pub posterior: f64,
}

pub fn skewness(groups: &[Group], sensitive: usize) -> Skewness {
    let mut table: BTreeMap<&Text, u64> = BTreeMap::new();
    for (value, n) in groups.iter().flat_map(|group| &group.values[sensitive]) {
        *table.entry(value).or_default() += n;
    }
    let n_records: u64 = table.values().sum();
    let gains = groups.iter().enumerate().flat_map(|(place, group)| {
        let gain = |(value, &n): (&Text, &u64)| Gain {
            group: place,
            value: value.clone(),
            prior: table[value] as f64 / n_records as f64,
            posterior: n as f64 / group.size as f64,
        };
        group.values[sensitive].iter().map(gain).collect::<Vec<Gain>>()
    });
    let gains: Vec<Gain> = gains.filter(|gain| gain.posterior > gain.prior).collect();
    // The first of equals, so that the answer does not depend on how comparisons are made.
    let first_most = |of: &dyn Fn(&Gain) -> f64| {
        let most = gains.iter().map(of).fold(f64::NEG_INFINITY, f64::max);
        gains.iter().find(|gain| of(gain) == most).cloned()
    };
    let likeliest = |group: &Group| group.values[sensitive].values().copied().max().unwrap_or(0);
    let share = |n: u64| n as f64 / n_records.max(1) as f64;
    Skewness {
        most: first_most(&|gain| gain.posterior - gain.prior),
        steepest: first_most(&|gain| gain.posterior / gain.prior),
        best_guess: share(groups.iter().map(likeliest).sum()),
        best_guess_before: share(table.values().copied().max().unwrap_or(0)),
    }
}

/// What the published cells of one quasi-identifier may stand for.
#[derive(Clone, Debug, Default)]
pub struct Meaning {
    /// By label of a hierarchy, the values below it, on whatever level it stands.
    below: HashMap<String, BTreeSet<String>>,
}

impl Meaning {
    /// With the labels of a hierarchy.
    pub fn new(hierarchy: &Hierarchy) -> Meaning {
        let mut below: HashMap<String, BTreeSet<String>> = HashMap::new();
        let values = hierarchy.level(0).labels();
        for level in hierarchy.levels().iter().skip(1) {
            for (value, label) in values.iter().zip(level.of_base()) {
                below.entry(level.labels()[label.index()].clone()).or_default().insert(value.clone());
            }
        }
        Meaning { below }
    }

    /// Whether a record with this value may be published with this cell.
    ///
    /// A cell is read as a value, as `*`, as a label of the hierarchy, as a range (`[24-30]`, `24-30`), as a set
    /// (`{a,b}`), or as a text with some characters hidden (`476**`).
    pub fn allows(&self, cell: &Text, value: &Text) -> bool {
        let (Some(cell), Some(value)) = (cell, value) else { return cell.as_deref().is_none_or(|cell| cell == ANY) };
        if cell == value || cell == ANY || self.below.get(cell).is_some_and(|values| values.contains(value)) {
            return true;
        }
        if let Some(list) = cell.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
            return list.split(',').any(|one| one == value);
        }
        let inner = cell.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        is_in_range(inner.unwrap_or(cell), value) || is_masked(cell, value)
    }
}

/// Whether a number or date lies within `low-high`, the ends included.
fn is_in_range(range: &str, value: &str) -> bool {
    let position = |text: &str| match Kind::of(text) {
        Kind::Text | Kind::Boolean => None,
        Kind::Date => parse_date(text).map(|(year, month, day)| days_of_date(year, month, day) as f64),
        Kind::Integer | Kind::Number => text.parse::<f64>().ok(),
    };
    let Some(at) = position(value) else { return false };
    // Numbers may be negative and dates have hyphens of their own: the one between the two ends is any that fits.
    let mut hyphens = range.match_indices('-');
    hyphens.any(|(i, _)| {
        let (low, high) = (position(&range[..i]), position(&range[i + 1..]));
        matches!((low, high), (Some(low), Some(high)) if low <= at && at <= high)
    })
}

/// Whether a text is another with some characters hidden by stars.
fn is_masked(cell: &str, value: &str) -> bool {
    cell.contains('*')
        && cell.chars().count() == value.chars().count()
        && cell.chars().zip(value.chars()).all(|(hidden, open)| hidden == '*' || hidden == open)
}

/// A release as linkage sees it.
pub struct Linkable<'a> {
    pub groups: &'a [Group],
    /// By quasi-identifier.
    pub meanings: &'a [Meaning],
    /// By quasi-identifier, its place among the attributes of the outside records; none where they lack it.
    pub known: &'a [Option<usize>],
}

/// Whom an outside table finds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Linkage {
    pub n_outside: u64,
    /// No group allows them: they are not in the table, or were suppressed.
    pub n_without: u64,
    /// One group only allows them, in each of the releases.
    pub n_one_group: u64,
    /// One record only allows them, in one of the releases.
    pub n_one_record: u64,
    /// All records that allow them, in all releases together, leave one sensitive value.
    pub n_certain: u64,
    /// Where several releases are looked at: those of whom no single release gives the value away, but all together.
    pub n_certain_together: u64,
}

/// Links outside records with the groups of releases that may hold them, by the values of each sensitive attribute.
pub fn link(releases: &[Linkable], outside: &[(Vec<Text>, u64)], n_sensitive: usize) -> Vec<Linkage> {
    let indexes: Vec<Index> = releases.iter().map(|release| Index::new(release, outside)).collect();
    let mut linkages = vec![Linkage::default(); n_sensitive];
    for (record, n) in outside {
        let found: Vec<Vec<usize>> = indexes.iter().map(|index| index.groups_of(record)).collect();
        for (sensitive, linkage) in linkages.iter_mut().enumerate() {
            linkage.add(releases, &found, sensitive, *n);
        }
    }
    linkages
}

impl Linkage {
    /// Adds `n` equal people, whom these groups of each release allow.
    fn add(&mut self, releases: &[Linkable], found: &[Vec<usize>], sensitive: usize, n: u64) {
        self.n_outside += n;
        if found.iter().any(Vec::is_empty) {
            self.n_without += n;
            return;
        }
        let of = |release: usize| found[release].iter().map(move |&place| &releases[release].groups[place]);
        let all = 0..releases.len();
        let values = |release: usize| -> BTreeSet<&Text> {
            of(release).flat_map(|group| group.values[sensitive].keys()).collect()
        };
        let n_records = |release: usize| of(release).map(|group| group.size).sum::<u64>();
        self.n_one_group += n * u64::from(found.iter().all(|places| places.len() == 1));
        self.n_one_record += n * u64::from(all.clone().any(|release| n_records(release) == 1));
        let possible: Vec<BTreeSet<&Text>> = all.map(values).collect();
        let together = possible.iter().skip(1).fold(possible[0].clone(), |left, next| &left & next);
        let is_certain = together.len() == 1;
        self.n_certain += n * u64::from(is_certain);
        self.n_certain_together += n * u64::from(is_certain && possible.iter().all(|values| values.len() > 1));
    }
}

/// For every value of the outside table, which groups of a release allow it: one bit per group.
struct Index<'a> {
    n_groups: usize,
    /// By quasi-identifier that is known outside: its place there, and the groups by value.
    allowed: Vec<(usize, HashMap<&'a Text, Vec<u64>>)>,
}

impl<'a> Index<'a> {
    fn new(release: &Linkable, outside: &'a [(Vec<Text>, u64)]) -> Index<'a> {
        let n_groups = release.groups.len();
        let known = release.known.iter().enumerate().filter_map(|(a, place)| Some((a, (*place)?)));
        let allowed = known.map(|(a, place)| {
            let mut groups_of: BTreeMap<&Text, Vec<usize>> = BTreeMap::new();
            for (i, group) in release.groups.iter().enumerate() {
                groups_of.entry(&group.cells[a]).or_default().push(i);
            }
            let values: BTreeSet<&Text> = outside.iter().map(|(record, _)| &record[place]).collect();
            let bits = |value: &Text| {
                let mut bits = vec![0u64; n_groups.div_ceil(64)];
                for (_, groups) in groups_of.iter().filter(|(cell, _)| release.meanings[a].allows(cell, value)) {
                    groups.iter().for_each(|i| bits[i / 64] |= 1 << (i % 64));
                }
                bits
            };
            (place, values.into_iter().map(|value| (value, bits(value))).collect())
        });
        Index { n_groups, allowed: allowed.collect() }
    }

    fn groups_of(&self, record: &[Text]) -> Vec<usize> {
        let mut bits = vec![u64::MAX; self.n_groups.div_ceil(64)];
        for (place, by_value) in &self.allowed {
            bits.iter_mut().zip(&by_value[&record[*place]]).for_each(|(bits, allowed)| *bits &= allowed);
        }
        (0..self.n_groups).filter(|i| bits[i / 64] >> (i % 64) & 1 == 1).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_read_as_what_they_may_stand_for() {
        let some = |text: &str| Some(text.to_string());
        let meaning = Meaning::default();
        for (cell, value, is_allowed) in [
            ("29", "29", true),
            ("29", "28", false),
            ("*", "28", true),
            ("[24-30]", "24", true),
            ("[24-30]", "30", true),
            ("[24-30]", "31", false),
            ("[-5--1]", "-3", true),
            ("[-5--1]", "0", false),
            ("[-5-10]", "0", true),
            ("27-31", "29", true),
            ("[2024-01-01-2024-03-31]", "2024-02-29", true),
            ("[2024-01-01-2024-03-31]", "2024-04-01", false),
            ("{cook,clerk}", "clerk", true),
            ("{cook,clerk}", "smith", false),
            ("476**", "47677", true),
            ("476**", "47777", false),
            ("2*", "29", true),
            ("2*", "229", false),
            ("young", "28", false),
        ] {
            assert_eq!(meaning.allows(&some(cell), &some(value)), is_allowed, "{cell} for {value}");
        }
        assert!(meaning.allows(&None, &None) && meaning.allows(&some("*"), &None));
        assert!(!meaning.allows(&some("28"), &None));
    }
}
