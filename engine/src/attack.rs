//! What an attacker learns from a release: what its groups give away by themselves, and whom an outside table finds.
//!
//! An attacker knows a person's quasi-identifiers and that the person is in the table. The published cells say which
//! groups that person can be in; the sensitive values of those groups say what the person can have.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::error::Result;
use crate::hierarchy::steps::days_of_label;
use crate::hierarchy::{ALL_HIDDEN, ANY, Hierarchy, Side, range_ends};
use crate::number::Decimal;
use crate::recode::sets;
use crate::table::{Kind, days_of_date, parse_date};
use crate::task::Task;
use crate::verify::{Text, Verifier};

/// Records of a release that look alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// By quasi-identifier.
    pub cells: Vec<Text>,
    /// How many records it has.
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
#[non_exhaustive]
pub struct Hit {
    /// How many groups are concerned.
    pub n_groups: u64,
    /// How many records are in them.
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
#[non_exhaustive]
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
    /// The number of the group.
    pub group: usize,
    /// The value that has become likelier.
    pub value: Text,
    /// The share of the value in the table.
    pub prior: f64,
    /// The share of the value in the group.
    pub posterior: f64,
}

/// How much likelier values have become in a group than in all of the release.
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

/// What is known about the published cells of one quasi-identifier.
#[derive(Clone, Debug, Default)]
pub struct Meaning {
    /// By label of a hierarchy, the values below it, on whatever level it stands.
    below: HashMap<String, BTreeSet<String>>,
    /// The values that the hierarchy has.
    values: BTreeSet<String>,
    /// Whether no cell has a name of its own: what cannot be read in any other way is a value.
    is_plain: bool,
    /// Whether all cells are labels, of a hierarchy that is not known: even what looks like a value is a name.
    is_labels: bool,
    /// Whether a number or date may be the middle of a range, which does not say of which.
    has_midpoints: bool,
    /// Whether commas within the values of a set look like those between them.
    has_plain_sets: bool,
    /// Where cells are the first characters of values, or the last: which end is left out.
    cut: Option<Side>,
}

impl Meaning {
    /// With the labels of a hierarchy.
    pub fn new(hierarchy: &Hierarchy) -> Meaning {
        let mut below: HashMap<String, BTreeSet<String>> = HashMap::new();
        let values = hierarchy.level(0).labels();
        for level in hierarchy.levels().iter().skip(1) {
            for (base, value) in values.iter().enumerate() {
                below.entry(level.label_of(base).to_string()).or_default().insert(value.clone());
            }
        }
        Meaning { below, values: values.iter().cloned().collect(), ..Meaning::default() }
    }

    /// Where values are published as they are, or by a rule whose labels say what they stand for.
    pub fn plain() -> Meaning {
        Meaning { is_plain: true, ..Meaning::default() }
    }

    /// Where all values are published as labels, and what these stand for is not known.
    pub fn labels() -> Meaning {
        Meaning { is_labels: true, ..Meaning::default() }
    }

    /// The same for cells of which numbers and dates may be the middle of a range.
    pub fn with_midpoints(self, has_midpoints: bool) -> Meaning {
        Meaning { has_midpoints, ..self }
    }

    /// The same for sets of a version that did not tell commas within values from those between them.
    pub fn with_plain_sets(self, has_plain_sets: bool) -> Meaning {
        Meaning { has_plain_sets, ..self }
    }

    /// The same for cells that are the first characters of values, or the last: `side` is the end that is left out.
    pub fn with_cut(self, side: Option<Side>) -> Meaning {
        Meaning { cut: side, ..self }
    }

    /// Whether it is known what a cell stands for; `is_value` where it is the text of a value that somebody has.
    ///
    /// A cell of which it is not says nothing about whom it fits: to count such a cell as fitting nobody, or everybody,
    /// would make a release look safer than it is.
    pub fn can_read(&self, cell: &Text, is_value: bool) -> bool {
        let Some(text) = cell else { return true };
        let has_position = !matches!(Kind::of(text), Kind::Text | Kind::Boolean);
        if self.has_midpoints && has_position {
            return false;
        }
        let is_value = !self.is_labels && (has_position || is_value || self.values.contains(text));
        is_value || self.is_plain || !self.read(cell).ways.is_empty()
    }

    /// What a cell may stand for, beside its own text: `*`, a label of the hierarchy, a range (`[24-30]`, `24-30`, `-5 to -1`,
    /// `[1.5, 2)`, `<18`, `>=65`), a part of the calendar (`2024-03`, `2024-Q1`, `2024`, `2020s`), a set (`{a,b}`), or a
    /// text with some characters hidden (`476**`).
    fn read<'a>(&'a self, cell: &'a Text) -> Reading<'a> {
        let mut ways = Vec::new();
        if let Some(text) = cell {
            if text == ANY {
                ways.push(CellReading::Anything);
            } else if text.contains('*') {
                ways.push(CellReading::Masked(text));
            }
            ways.extend(self.below.get(text).map(CellReading::Label));
            ways.extend(self.cut.map(|side| CellReading::Part(text, side)));
            if sets::is_ours(text) && !self.has_plain_sets {
                ways.extend(sets::read(text).map(CellReading::Set));
            } else if let Some(list) = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
                // Values may have commas of their own, so that the list is not taken apart.
                ways.push(CellReading::List([format!(",{list},"), format!(",{},", list.replace(", ", ","))]));
            }
            ways.extend(ranges(text).into_iter().map(CellReading::Range));
        }
        Reading { cell, ways }
    }

    /// Whether a record with this value may be published with this cell.
    pub fn allows(&self, cell: &Text, value: &Text) -> bool {
        self.read(cell).allows(value)
    }

    /// Those of some values that can be compared with none of the cells but `*`: the hierarchy does not have them, and
    /// they are no numbers or dates where cells are ranges of such.
    pub fn strangers<'v>(&self, cells: &[&Text], values: impl Iterator<Item = &'v Text>) -> Vec<&'v Text> {
        let readings: Vec<Reading> = cells.iter().map(|cell| self.read(cell)).collect();
        let unit_of = |way: &CellReading| if let CellReading::Range(range) = way { Some(range.unit) } else { None };
        let is_number = |text: &str| Kind::of(text).is_numeric();
        let mut units: Vec<Unit> = readings.iter().flat_map(|reading| &reading.ways).filter_map(unit_of).collect();
        // 2024 may be a year, and may be a number.
        units.extend(cells.iter().copied().flatten().any(|cell| is_number(cell)).then_some(Unit::Number));
        let is_word = |reading: &Reading| {
            reading.ways.is_empty() && reading.cell.as_ref().is_some_and(|text| place(text).is_none())
        };
        // Where cells are words of which no hierarchy is known, values may be any words.
        let may_be_words =
            self.cut.is_some() || self.values.is_empty() && (units.is_empty() || readings.iter().any(is_word));
        let is_known = |value: &&Text| {
            let Some(text) = value else { return true };
            may_be_words
                || self.values.contains(text)
                || place(text).is_some_and(|(unit, _)| units.contains(&unit))
                || cells.contains(value)
        };
        values.filter(|value| !is_known(value)).collect()
    }
}

/// A cell, and the ways in which it can be read.
struct Reading<'a> {
    cell: &'a Text,
    ways: Vec<CellReading<'a>>,
}

enum CellReading<'a> {
    Anything,
    Label(&'a BTreeSet<String>),
    Set(Vec<String>),
    /// As others write it: the list with a comma before and after every value; once more without blanks behind commas.
    List([String; 2]),
    Masked(&'a str),
    /// Everything that begins like this, or ends.
    Part(&'a str, Side),
    Range(Range),
}

impl Reading<'_> {
    fn allows(&self, value: &Text) -> bool {
        let of_way = |way: &CellReading| match (way, value) {
            (CellReading::Anything, _) => true,
            (_, None) => false,
            (CellReading::Label(values), Some(value)) => values.contains(value),
            (CellReading::Set(values), Some(value)) => values.contains(value),
            (CellReading::List(lists), Some(value)) => lists.iter().any(|list| list.contains(&format!(",{value},"))),
            (CellReading::Masked(hidden), Some(value)) => is_masked(hidden, value),
            (CellReading::Part(part, Side::Right), Some(value)) => value.starts_with(part),
            (CellReading::Part(part, Side::Left), Some(value)) => value.ends_with(part),
            (CellReading::Range(range), Some(value)) => range.contains(value),
        };
        self.cell == value || self.ways.iter().any(of_way) || is_same_place(self.cell, value)
    }
}

/// What a position is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Number,
    Day,
}

/// All numbers, or all days, from one to another; without end where there is none.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Range {
    unit: Unit,
    low: Option<Decimal>,
    high: Option<Decimal>,
    has_low: bool,
    has_high: bool,
}

impl Range {
    fn contains(&self, value: &str) -> bool {
        place(value).is_some_and(|(unit, at)| {
            unit == self.unit
                && self.low.is_none_or(|low| low < at || (self.has_low && low == at))
                && self.high.is_none_or(|high| at < high || (self.has_high && high == at))
        })
    }
}

/// Where a number or date stands. `007` is a number too where it is asked whether it lies within a range.
fn place(text: &str) -> Option<(Unit, Decimal)> {
    if let Some((year, month, day)) = parse_date(text) {
        return Some((Unit::Day, Decimal::from(days_of_date(year, month, day))));
    }
    Decimal::parse(text.trim()).map(|number| (Unit::Number, number))
}

/// Whether two texts are the same number or day, as `29` and `29.0` are. A postcode `007` is not 7.
fn is_same_place(a: &Text, b: &Text) -> bool {
    let (Some(a), Some(b)) = (a, b) else { return false };
    let is_text = |text: &str| matches!(Kind::of(text), Kind::Text | Kind::Boolean);
    !is_text(a) && !is_text(b) && place(a) == place(b)
}

/// The ranges that a cell may be, ends and all.
fn ranges(cell: &str) -> Vec<Range> {
    let number = |text: &str| place(text).filter(|(unit, _)| *unit == Unit::Number).map(|(_, number)| number);
    let of_numbers = |low: Option<Decimal>, high: Option<Decimal>, has_low: bool, has_high: bool| {
        vec![Range { unit: Unit::Number, low, high, has_low, has_high }]
    };
    for (sign, has_end) in [("<=", true), ("<", false)] {
        if let Some(high) = cell.strip_prefix(sign).and_then(number) {
            return of_numbers(None, Some(high), false, has_end);
        }
    }
    for (sign, has_end) in [(">=", true), (">", false)] {
        if let Some(low) = cell.strip_prefix(sign).and_then(number) {
            return of_numbers(Some(low), None, has_end, false);
        }
    }
    let inner = cell.strip_prefix(['[', '(', ']']).and_then(|rest| rest.strip_suffix([']', ')', '[']));
    if let Some((low, high)) = inner.and_then(|inner| inner.split_once(','))
        && let (Some(low), Some(high)) = (number(low), number(high))
    {
        return of_numbers(Some(low), Some(high), cell.starts_with('['), cell.ends_with(']'));
    }
    let text = cell.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(cell);
    // Numbers may be negative and dates have hyphens of their own: the one between the two ends is any that fits.
    let between = range_ends(text).filter_map(|(low, high)| {
        let ((unit, low), (same, high)) = (place(low)?, place(high)?);
        // As a label of whole numbers, 17-21 is everything below 22.
        let is_whole = text == cell && unit == Unit::Number && low.is_whole() && high.is_whole();
        let next = high.plus(Decimal::from(1)).filter(|_| is_whole);
        let (end, has_high) = next.map_or((high, true), |next| (next, false));
        let range = Range { unit, low: Some(low), high: Some(end), has_low: true, has_high };
        (unit == same && low <= high).then_some(range)
    });
    between.chain(days(cell)).collect()
}

/// The days of a month, a quarter, a year or a decade.
fn days(cell: &str) -> Option<Range> {
    let (first, last) = days_of_label(cell)?;
    Some(Range { unit: Unit::Day, low: Some(first.into()), high: Some(last.into()), has_low: true, has_high: true })
}

/// Whether a text is another with some characters hidden by stars.
fn is_masked(cell: &str, value: &str) -> bool {
    // Of a text that is hidden altogether, not even the length is left.
    cell == ALL_HIDDEN
        || cell.contains('*')
            && cell.chars().count() == value.chars().count()
            && cell.chars().zip(value.chars()).all(|(hidden, open)| hidden == '*' || hidden == open)
}

/// A release as linkage sees it.
pub struct Linkable<'a> {
    /// The groups of the release.
    pub groups: &'a [Group],
    /// By quasi-identifier.
    pub meanings: &'a [Meaning],
    /// By quasi-identifier, its place among the attributes of the outside records; none where they lack it.
    pub known: &'a [Option<usize>],
    /// By group, whose records it has, as numbers; none where nobody knows.
    pub people: Option<&'a [Vec<u32>]>,
}

/// Whom an outside table finds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Linkage {
    /// How many people have values that no cell of the release can stand for.
    pub n_outside: u64,
    /// No group allows them: they are not in the table, or were suppressed.
    pub n_without: u64,
    /// One group only allows them, in each of the releases.
    pub n_one_group: u64,
    /// The others: several groups of a release allow them.
    pub n_several_groups: u64,
    /// One record only allows them, in one of the releases.
    pub n_one_record: u64,
    /// All records that allow them, in one of the releases, belong to one person; none where nobody knows whose they are.
    pub n_one_person: Option<u64>,
    /// All records that allow them, in all releases together, leave one sensitive value.
    pub n_certain: u64,
    /// Where several releases are looked at: those of whom no single release gives the value away, but all together.
    pub n_certain_together: u64,
}

/// Links outside records with the groups of releases that may hold them, by the values of each sensitive attribute.
///
/// # Errors
/// Where the task is cancelled.
pub fn link(
    releases: &[Linkable],
    outside: &[(Vec<Text>, u64)],
    n_sensitive: usize,
    task: &Task,
) -> Result<Vec<Linkage>> {
    let fates = fates(releases, outside, n_sensitive, task)?;
    let linkage = |fates: Vec<Fate>| {
        let mut linkage = Linkage::default();
        fates.into_iter().zip(outside).for_each(|(fate, (_, n))| linkage.add(fate, *n));
        linkage
    };
    Ok(fates.into_iter().map(linkage).collect())
}

/// The same for people who may be known by each of several records: `whom` are the places of each person's among the
/// outside records, at least one. Somebody is as easy to find as the easiest of their records.
///
/// # Errors
/// Where the task is cancelled.
pub fn link_people(
    releases: &[Linkable],
    outside: &[(Vec<Text>, u64)],
    whom: &[Vec<usize>],
    n_sensitive: usize,
    task: &Task,
) -> Result<Vec<Linkage>> {
    let fates = fates(releases, outside, n_sensitive, task)?;
    let linkage = |fates: Vec<Fate>| {
        let mut linkage = Linkage::default();
        for places in whom {
            let fate = places.iter().map(|place| fates[*place]).reduce(Fate::or).expect("everybody has a record");
            linkage.add(fate, 1);
        }
        linkage
    };
    Ok(fates.into_iter().map(linkage).collect())
}

/// What an attacker finds who knows somebody by one record.
#[derive(Clone, Copy)]
struct Fate {
    is_without: bool,
    is_one_group: bool,
    is_one_record: bool,
    /// None where nobody knows whose records those of the release are.
    is_one_person: Option<bool>,
    is_certain: bool,
    /// Whether a release gives the value away by itself.
    is_certain_alone: bool,
}

impl Fate {
    /// Of somebody whom these groups of each release allow.
    fn new(releases: &[Linkable], found: &[Vec<usize>], sensitive: usize) -> Fate {
        let of = |release: usize| found[release].iter().map(move |&place| &releases[release].groups[place]);
        let all = 0..releases.len();
        // Two values say that it is not one; of several releases it is asked which they have in common.
        let n_asked = if releases.len() == 1 { 2 } else { usize::MAX };
        let values = |release: usize| -> BTreeSet<&Text> {
            let mut values = BTreeSet::new();
            let mut all = of(release).flat_map(|group| group.values[sensitive].keys());
            while values.len() < n_asked
                && let Some(value) = all.next()
            {
                values.insert(value);
            }
            values
        };
        let n_records = |release: usize| of(release).map(|group| group.size).sum::<u64>();
        let is_one_person = |release: usize| {
            let people = releases[release].people?;
            let mut who = found[release].iter().flat_map(|&place| &people[place]);
            let first = who.next()?;
            Some(who.all(|person| person == first))
        };
        let is_without = found.iter().any(Vec::is_empty);
        let is_known = releases.iter().any(|release| release.people.is_some());
        let possible: Vec<BTreeSet<&Text>> = all.clone().map(values).collect();
        let together = possible.iter().skip(1).fold(possible[0].clone(), |left, next| &left & next);
        let is_certain = !is_without && together.len() == 1;
        Fate {
            is_without,
            is_one_group: !is_without && found.iter().all(|places| places.len() == 1),
            is_one_record: !is_without && all.clone().any(|release| n_records(release) == 1),
            is_one_person: is_known.then(|| !is_without && all.clone().any(|r| is_one_person(r) == Some(true))),
            is_certain,
            is_certain_alone: is_certain && possible.iter().any(|values| values.len() == 1),
        }
    }

    /// Of somebody who may be known by either of two records.
    fn or(self, other: Fate) -> Fate {
        Fate {
            is_without: self.is_without && other.is_without,
            is_one_group: self.is_one_group || other.is_one_group,
            is_one_record: self.is_one_record || other.is_one_record,
            is_one_person: self.is_one_person.zip(other.is_one_person).map(|(one, other)| one || other),
            is_certain: self.is_certain || other.is_certain,
            is_certain_alone: self.is_certain_alone || other.is_certain_alone,
        }
    }
}

/// By sensitive attribute and outside record.
fn fates(
    releases: &[Linkable],
    outside: &[(Vec<Text>, u64)],
    n_sensitive: usize,
    task: &Task,
) -> Result<Vec<Vec<Fate>>> {
    let indexes: Vec<Index> =
        releases.iter().map(|release| Index::new(release, outside, task)).collect::<Result<_>>()?;
    let mut fates = vec![Vec::with_capacity(outside.len()); n_sensitive];
    for (record, n) in outside {
        task.go_on()?;
        let found: Vec<Vec<usize>> = indexes.iter().map(|index| index.groups_of(record)).collect();
        for (sensitive, fates) in fates.iter_mut().enumerate() {
            fates.push(Fate::new(releases, &found, sensitive));
        }
        (task.progress)(*n);
    }
    Ok(fates)
}

impl Linkage {
    /// Adds `n` people with the same fate.
    fn add(&mut self, fate: Fate, n: u64) {
        let of = |is_so: bool| n * u64::from(is_so);
        self.n_outside += n;
        self.n_without += of(fate.is_without);
        self.n_one_group += of(fate.is_one_group);
        self.n_several_groups += of(!fate.is_without && !fate.is_one_group);
        self.n_one_record += of(fate.is_one_record);
        if let Some(is_one_person) = fate.is_one_person {
            *self.n_one_person.get_or_insert(0) += of(is_one_person);
        }
        self.n_certain += of(fate.is_certain);
        self.n_certain_together += of(fate.is_certain && !fate.is_certain_alone);
    }
}

/// For every value of the outside table, which groups of a release allow it: one bit per group.
struct Index<'a> {
    n_groups: usize,
    /// By quasi-identifier that is known outside: its place there, and the groups by value.
    allowed: Vec<(usize, HashMap<&'a Text, Vec<u64>>)>,
}

impl<'a> Index<'a> {
    fn new<'r>(release: &'r Linkable, outside: &'a [(Vec<Text>, u64)], task: &Task) -> Result<Index<'a>> {
        let n_groups = release.groups.len();
        let known = release.known.iter().enumerate().filter_map(|(a, place)| Some((a, (*place)?)));
        let allowed = known.map(|(a, place)| -> Result<(usize, HashMap<&'a Text, Vec<u64>>)> {
            let mut groups_of: BTreeMap<&'r Text, Vec<usize>> = BTreeMap::new();
            for (i, group) in release.groups.iter().enumerate() {
                groups_of.entry(&group.cells[a]).or_default().push(i);
            }
            let values: BTreeSet<&Text> = outside.iter().map(|(record, _)| &record[place]).collect();
            let read = |(cell, groups): (&'r Text, Vec<usize>)| (release.meanings[a].read(cell), groups);
            let readings: Vec<(Reading, Vec<usize>)> = groups_of.into_iter().map(read).collect();
            let bits = |value: &'a Text| -> Result<(&'a Text, Vec<u64>)> {
                task.go_on()?;
                let mut bits = vec![0u64; n_groups.div_ceil(64)];
                for (_, groups) in readings.iter().filter(|(reading, _)| reading.allows(value)) {
                    groups.iter().for_each(|i| bits[i / 64] |= 1 << (i % 64));
                }
                Ok((value, bits))
            };
            Ok((place, values.into_iter().map(bits).collect::<Result<_>>()?))
        });
        Ok(Index { n_groups, allowed: allowed.collect::<Result<_>>()? })
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
            ("<18", "17.9", true),
            ("<18", "18", false),
            ("<-5", "-6", true),
            (">=65", "65", true),
            (">=65", "64", false),
            ("[10, 20)", "19.5", true),
            ("[10, 20)", "20", false),
            ("[-5, 0.5)", "-5", true),
            ("18-39", "39.5", true),
            ("18-39", "40", false),
            ("[18-39]", "39.5", false),
            ("10-19", "007", false),
            ("0-9", "007", true),
            ("2024-Q1", "2024-03-31", true),
            ("2024-Q1", "2024-04-01", false),
            ("2024-Q4", "2024-12-31", true),
            ("2024-12", "2024-12-01", true),
            ("2024-12", "2025-01-01", false),
            ("2024", "2024-12-31", true),
            ("2024", "2025-01-01", false),
            ("2020s", "2029-12-31", true),
            ("2020s", "2030-01-01", false),
            ("2024-Q1", "2024", false),
            ("29", "29.0", true),
            ("2024-03-01", "2024-03-01 10:00", true),
            ("7", "007", false),
            ("{a, b,c}", "a, b", true),
            ("{a, b,c}", "b", true),
            ("{a, b,c}", "d", false),
            (r"{a\,b,c}", "a,b", true),
            (r"{a\,b,c}", "a", false),
            (r"{a\,b,c}", "c", true),
            ("{a,b,c}", "a,b", false),
            (r"{\{a\,b\}}", "{a,b}", true),
            ("{a,b}", "{a,b}", true),
            ("9007199254740992", "9007199254740993", false),
            ("[9007199254740993-9007199254740995]", "9007199254740992", false),
            ("9007199254740992-9007199254740993", "9007199254740993", true),
            ("9007199254740992-9007199254740993", "9007199254740994", false),
            ("<9007199254740993", "9007199254740992", true),
            (">=-9007199254740992", "-9007199254740993", false),
        ] {
            assert_eq!(meaning.allows(&some(cell), &some(value)), is_allowed, "{cell} for {value}");
        }
        assert!(meaning.allows(&None, &None) && meaning.allows(&some("*"), &None));
        assert!(!meaning.allows(&some("28"), &None));
        let before = Meaning::default().with_plain_sets(true);
        assert!(before.allows(&some("{a,b,c}"), &some("a,b")) && before.allows(&some("{a,b,c}"), &some("c")));
    }

    #[test]
    fn what_cannot_be_read_is_known() {
        let some = |text: &str| Some(text.to_string());
        let nothing = Meaning::default();
        for cell in
            ["*", "29", "2.5", "<18", ">=65", "[10, 20)", "18-39", "2024-Q1", "2020s", "{a,b}", "476**", "2024-02-29"]
        {
            assert!(nothing.can_read(&some(cell), false), "{cell}");
        }
        for cell in ["young", "North", "<young", "2024-Q5", "a-b", "[a, b)", ""] {
            assert!(!nothing.can_read(&some(cell), false), "{cell}");
            assert!(nothing.can_read(&some(cell), true) && Meaning::plain().can_read(&some(cell), false), "{cell}");
        }
        let labels = Meaning::labels();
        assert!(labels.can_read(&some("15-19"), false) && labels.can_read(&some("476**"), false));
        assert!(!labels.can_read(&some("Private"), true) && !labels.can_read(&some("15"), true));
        let middles = Meaning::plain().with_midpoints(true);
        assert!(!middles.can_read(&some("26.5"), true) && !middles.can_read(&some("2024-02-29"), false));
        assert!(middles.can_read(&some("North"), false) && middles.can_read(&some("*"), false));
    }

    #[test]
    fn strangers_can_be_compared_with_no_cell() {
        let [range, quarter, word, number, day] =
            ["[24-30]", "2024-Q1", "forty", "40", "2024-07-01"].map(|t| Some(t.to_string()));
        let values = [word.clone(), number.clone(), day.clone(), None];
        let strangers = |cells: &[&Text]| -> Vec<Text> {
            Meaning::default().strangers(cells, values.iter()).into_iter().cloned().collect()
        };
        assert_eq!(strangers(&[&range]), [word.clone(), day]);
        assert_eq!(strangers(&[&quarter]), [word.clone(), number]);
        assert_eq!(strangers(&[&range, &quarter, &word]), []);
        assert_eq!(strangers(&[&word]), [], "words may be anything");
        assert_eq!(strangers(&[&Some("2024".into())]), [word], "a year may be a number");
    }
}
