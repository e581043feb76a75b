//! The independent check: does a published table keep its promise, judged from that table alone?
//!
//! Deliberately plain. It counts texts in ordinary maps and shares no counting code with what made the release,
//! so that a mistake there cannot hide here.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use arrow_array::{ArrayAccessor, RecordBatch};
use arrow_buffer::NullBuffer;

use crate::criterion::{Criteria, Criterion, Distance, MILLION, Measure, NEVER};
use crate::error::{Error, ErrorKind, Result, unknown};
use crate::hierarchy::ANY;
use crate::table::{Cells, Domain};

/// What records are that are `*` in every quasi-identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuppressedAs {
    /// A group like any other: the file is judged as it stands.
    Group,
    /// Not there: the file marks suppressed records in this way instead of leaving them out.
    Absent,
}

/// A cell of the file; none where it has no value.
pub type Text = Option<String>;

/// How many records of a group there are, and per sensitive attribute how many have each value.
#[derive(Clone, Debug, Default)]
struct FoundGroup {
    size: u64,
    values: Vec<HashMap<Text, u64>>,
}

/// Counts the groups of a published table, batch after batch.
pub struct Verifier {
    quasi_identifiers: Vec<String>,
    sensitive: Vec<String>,
    suppressed_as: SuppressedAs,
    groups: HashMap<Vec<Text>, FoundGroup>,
    n_records: u64,
    n_absent: u64,
    order: Option<Order>,
    /// By sensitive attribute, the labels that its values are counted as; none where they are counted as they are.
    labels: Vec<Option<Labelled>>,
}

/// What each value of a sensitive attribute is counted as.
pub type Labels = HashMap<Text, Text>;

/// Labels, and what the file shows of them.
struct Labelled {
    labels: Labels,
    /// The values of the file.
    seen: HashSet<Text>,
}

impl Labelled {
    /// What a value is counted as: without a label, itself.
    fn see(&mut self, value: Text) -> Text {
        let label = self.labels.get(&value).unwrap_or(&value).clone();
        self.seen.insert(value);
        label
    }
}

/// How the texts of a table came to be, by which their order is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Texts {
    /// They are those of the file.
    AsWritten,
    /// They are of a table in memory that somebody may have read from the file: how a number or "no value" was written
    /// there is forgotten. Numbers may come in the order of their sizes or of their texts, "no value" anywhere.
    AsRemembered,
}

/// Whether records come in the order of what they say: column by column, "no value" first, texts by their bytes.
struct Order {
    columns: Vec<String>,
    texts: Texts,
    /// The record before, as whether there is a value and its text; none before the first.
    before: Option<Vec<(bool, String)>>,
    n_out_of_order: u64,
}

/// The original table's distribution of one sensitive attribute, which some criteria compare with.
#[derive(Clone, Debug, PartialEq)]
pub struct Original {
    /// Every value in order, and how many records have it; none stands for "no value".
    pub counts: Vec<(Text, u64)>,
    /// How far apart values are, for t-closeness.
    pub distance: Distance,
    /// For hierarchical distance, the labels of every value on the levels from 0 to below the top.
    pub labels: Vec<Vec<String>>,
}

impl Original {
    /// A distribution whose values are put in the order of their kind: numbers by size, texts by their letters.
    pub fn new(
        name: &str,
        counts: HashMap<Text, u64>,
        distance: Distance,
        labels: &HashMap<Text, Vec<String>>,
    ) -> Original {
        let present = counts.keys().flatten().cloned().collect();
        let domain = Domain::new(name, present, None);
        let ordered = domain.values().iter().map(|value| Some(value.clone())).chain(counts.get(&None).map(|_| None));
        let counts: Vec<(Text, u64)> = ordered.map(|value| (value.clone(), counts[&value])).collect();
        // A value without labels has one like no other: as far from the others as can be.
        let unlike_any = |value: &Text| vec![format!("\0{value:?}")];
        let labels_of = |(value, _): &(Text, u64)| labels.get(value).cloned().unwrap_or_else(|| unlike_any(value));
        Original { labels: counts.iter().map(labels_of).collect(), counts, distance }
    }

    /// Whether every record of the table keeps a criterion that compares with it, as a group of one.
    fn is_kept_alone(&self, criterion: Criterion) -> bool {
        let present: Vec<usize> = (0..self.counts.len()).filter(|&i| self.counts[i].1 > 0).collect();
        let known = Known::new(self);
        let mut tried = HashSet::new();
        present.iter().all(|&i| {
            let (value, count) = &self.counts[i];
            // Values that are as frequent, below the same labels, are as far from the table; of values in order, one of the
            // two ends is furthest.
            let is_new = match (criterion.measure, self.distance) {
                (Measure::Closeness(_), Distance::Ordered) => [present.first(), present.last()].contains(&Some(&i)),
                (Measure::Closeness(_), Distance::Hierarchical) => tried.insert((*count, self.labels[i].get(1..))),
                _ => tried.insert((*count, None)),
            };
            let alone = || compare_plainly(criterion.measure, &HashMap::from([(value.clone(), 1)]), 1, &known);
            !is_new || criterion.holds(alone())
        })
    }
}

/// What lies outside the file and some criteria need.
#[derive(Clone, Debug, Default)]
pub struct Outside {
    /// By sensitive attribute; none where the original distribution is not known.
    pub originals: Vec<Option<Original>>,
    /// How many people of the population share each group's published values; none where that is not known.
    pub population: Option<HashMap<Vec<Text>, u64>>,
}

impl Outside {
    /// Whether every record of the original table keeps these criteria on its own, as far as that is known: then they
    /// promise nothing.
    pub fn is_kept_alone(&self, criteria: &Criteria) -> bool {
        let is_kept = |criterion: Criterion| {
            let original = criterion.measure.sensitive().and_then(|s| self.originals.get(s)?.as_ref());
            match original.filter(|_| criterion.measure.is_relative()) {
                Some(original) => original.is_kept_alone(criterion),
                None => criterion.is_void(),
            }
        };
        !criteria.is_empty() && criteria.iter().all(is_kept)
    }
}

/// Whether a table keeps its promise, with the numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// How many records the file has, without those that are marked as suppressed.
    pub n_records: u64,
    /// Records that were treated as suppressed.
    pub n_absent: u64,
    /// How many groups they form.
    pub n_groups: u64,
    /// The size of the smallest one; none where there is no group.
    pub smallest_group: Option<u64>,
    /// The sum of the squares of group sizes: every record counts the records that it cannot be told from.
    pub n_squares: u128,
    /// The fewest distinct values of the first sensitive attribute.
    pub fewest_distinct: Option<u64>,
    /// One for every criterion.
    pub findings: Vec<Finding>,
}

/// One criterion: what was asked, what the table reaches, and how much of it falls short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What is claimed.
    pub criterion: Criterion,
    /// Whether the file, and what came with it, was enough to judge.
    pub is_judged: bool,
    /// The strictest value that every group satisfies; none when there is no group.
    pub reached: Option<u64>,
    /// How many groups do not keep it.
    pub n_groups_failing: u64,
    /// How many records are in these groups.
    pub n_records_failing: u64,
    /// Where the claim is about people, whether it holds of records; none where it is about records.
    pub holds_for_records: Option<bool>,
}

impl Finding {
    fn new(criterion: Criterion, is_judged: bool) -> Finding {
        Finding {
            criterion,
            is_judged,
            reached: None,
            n_groups_failing: 0,
            n_records_failing: 0,
            holds_for_records: None,
        }
    }

    /// Takes note of what a group of so many records measures.
    fn see(&mut self, measured: u64, n_records: u64) {
        if !self.criterion.holds(measured) {
            self.n_groups_failing += 1;
            self.n_records_failing += n_records;
        }
        let worse = if self.criterion.measure.is_at_least() { u64::min } else { u64::max };
        self.reached = Some(self.reached.map_or(measured, |reached| worse(reached, measured)));
    }

    /// Nothing that could be judged speaks against it.
    pub fn holds(&self) -> bool {
        self.n_groups_failing == 0
    }
}

/// What is to be said about a promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ruling {
    /// All of it was judged, and all of it is so.
    Kept,
    /// Something that was judged is not so.
    Broken,
    /// Nothing that was judged speaks against it, but not all of it could be judged.
    NotJudged,
}

impl Ruling {
    /// The word that JSON uses.
    pub fn name(self) -> &'static str {
        match self {
            Ruling::Kept => "kept",
            Ruling::Broken => "broken",
            Ruling::NotJudged => "not judged",
        }
    }
}

impl Verdict {
    /// # Guarantee
    /// Kept only where at least one criterion was asked for and every one was judged and holds; broken if and only if
    /// one that was judged fails.
    pub fn ruling(&self) -> Ruling {
        match &self.findings[..] {
            findings if findings.iter().any(|finding| !finding.holds()) => Ruling::Broken,
            findings if findings.is_empty() || findings.iter().any(|finding| !finding.is_judged) => Ruling::NotJudged,
            _ => Ruling::Kept,
        }
    }

    /// The verdict on a promise to people, of whom the file says nothing: by what somebody found who knows whose record
    /// is whose, and without that as far as the records go.
    ///
    /// # Guarantee
    /// Without knowing whose records they are nothing is ever kept. It is broken where the file shows it: as many people,
    /// and as many values of people, need as many records.
    pub fn over_people(self, known: Option<Vec<Finding>>) -> Verdict {
        let of_people = |finding: Finding| {
            let of_records = finding.is_judged.then(|| finding.holds());
            let is_implied = matches!(finding.criterion.measure, Measure::Size | Measure::Distinct(_));
            let is_known = |known: &&Finding| known.criterion == finding.criterion && known.is_judged;
            let known = known.as_ref().and_then(|known| known.iter().find(is_known));
            let finding = match known {
                Some(known) => *known,
                None if is_implied && !finding.holds() => finding,
                None => {
                    Finding { is_judged: false, reached: None, n_groups_failing: 0, n_records_failing: 0, ..finding }
                }
            };
            Finding { holds_for_records: of_records.or(Some(false)), ..finding }
        };
        Verdict { findings: self.findings.into_iter().map(of_people).collect(), ..self }
    }

    /// A table of which nothing was asked, or of which something could not be judged, has kept no promise.
    pub fn holds(&self) -> bool {
        self.ruling() == Ruling::Kept
    }
}

impl Verifier {
    /// A check of a table with these columns, which has seen no record yet.
    pub fn new(quasi_identifiers: &[String], sensitive: &[String], suppressed_as: SuppressedAs) -> Verifier {
        Verifier {
            quasi_identifiers: quasi_identifiers.to_vec(),
            sensitive: sensitive.to_vec(),
            suppressed_as,
            groups: HashMap::new(),
            n_records: 0,
            n_absent: 0,
            order: None,
            labels: Vec::new(),
        }
    }

    /// Counts the labels of sensitive values in their place, by sensitive attribute; values without one stand for
    /// themselves.
    pub fn with_labels(self, labels: Vec<Option<Labels>>) -> Verifier {
        let labelled = |labels: Labels| Labelled { labels, seen: HashSet::new() };
        Verifier { labels: labels.into_iter().map(|labels| labels.map(labelled)).collect(), ..self }
    }

    /// The values of the file that a sensitive attribute has, by the label that each is counted as, in order; and how
    /// many have none. Nothing where values are counted as they are.
    pub fn labelled(&self, sensitive: usize) -> Option<(BTreeMap<Text, Vec<Text>>, u64)> {
        let Labelled { labels, seen } = self.labels.get(sensitive)?.as_ref()?;
        let mut by_label: BTreeMap<Text, Vec<Text>> = BTreeMap::new();
        let mut n_without = 0;
        for value in seen {
            match labels.get(value) {
                Some(label) => by_label.entry(label.clone()).or_default().push(value.clone()),
                None => n_without += 1,
            }
        }
        by_label.values_mut().for_each(|values| values.sort_unstable());
        Some((by_label, n_without))
    }

    /// Also looks whether records come in the order of these columns, which batches hold beside the others.
    pub fn with_order(self, columns: &[String], texts: Texts) -> Verifier {
        let order = Order { columns: columns.to_vec(), texts, before: None, n_out_of_order: 0 };
        Verifier { order: Some(order), ..self }
    }

    /// Looks at the records of one batch, which holds the attributes by name.
    ///
    /// # Errors
    /// Where a column is missing or cannot be read.
    pub fn push(&mut self, batch: &RecordBatch) -> Result<()> {
        self.push_times(batch, None)
    }

    /// The same of records that were counted: by record of the batch, how many say this.
    ///
    /// # Errors
    /// Where a column is missing or cannot be read, or there are more records than can be counted.
    pub fn push_counted(&mut self, batch: &RecordBatch, n_times: &[u64]) -> Result<()> {
        assert_eq!(n_times.len(), batch.num_rows(), "a number for every record");
        let so_far = self.n_records.checked_add(self.n_absent);
        if n_times.iter().try_fold(so_far, |sum, n| Some(sum?.checked_add(*n))).flatten().is_none() {
            return Err(Error::new(ErrorKind::TooLarge, "more records than can be counted"));
        }
        self.push_times(batch, Some(n_times))
    }

    fn push_times(&mut self, batch: &RecordBatch, n_times: Option<&[u64]>) -> Result<()> {
        let of_order = self.order.iter().flat_map(|order| &order.columns);
        let mut names: Vec<&String> = self.quasi_identifiers.iter().chain(&self.sensitive).chain(of_order).collect();
        names.sort_unstable();
        names.dedup();
        let all: Vec<Cells> = cells_of(batch, &names)?;
        let places = |wanted: &[String]| -> Vec<usize> {
            wanted.iter().map(|name| names.binary_search(&name).expect("it was looked up")).collect()
        };
        let (identifying, sensitive) = (places(&self.quasi_identifiers), places(&self.sensitive));
        let ordered = self.order.as_ref().map(|order| places(&order.columns));
        let cells = |places: &[usize]| places.iter().map(|place| &all[*place]).collect::<Vec<&Cells>>();
        let (identifying, sensitive, ordered) = (cells(&identifying), cells(&sensitive), ordered.map(|o| cells(&o)));
        // Records in order often say what the record before them says: such are looked at once, with how many they are.
        for run in runs(&all, batch.num_rows()) {
            if let (Some(order), Some(ordered)) = (&mut self.order, &ordered) {
                order.see(ordered, run.start);
            }
            let n_of_run = n_times.map_or(run.len() as u64, |n_times| n_times[run.clone()].iter().sum());
            if n_of_run > 0 {
                self.see(&identifying, &sensitive, run.start, n_of_run);
            }
        }
        Ok(())
    }

    /// Counts so many records that say what one of the batch says.
    fn see(&mut self, columns: &[&Cells], sensitive: &[&Cells], record: usize, n_times: u64) {
        let mut text = String::new();
        let mut read = |cells: &Cells| cells.read(record, &mut text).then(|| text.clone());
        let values: Vec<Text> = columns.iter().map(|cells| read(cells)).collect();
        let is_suppressed = !values.is_empty() && values.iter().all(|value| value.as_deref() == Some(ANY));
        if is_suppressed && self.suppressed_as == SuppressedAs::Absent {
            self.n_absent += n_times;
            return;
        }
        self.n_records += n_times;
        let found = self.groups.entry(values).or_default();
        found.size += n_times;
        found.values.resize_with(sensitive.len(), HashMap::new);
        for (s, (values, cells)) in found.values.iter_mut().zip(sensitive).enumerate() {
            let value = read(cells);
            let value = match self.labels.get_mut(s) {
                Some(Some(labelled)) => labelled.see(value),
                _ => value,
            };
            *values.entry(value).or_default() += n_times;
        }
    }

    /// The groups of the file in the order of their cells: these, how many records, and per sensitive attribute how many
    /// have each value.
    pub fn groups(&self) -> Vec<(&[Text], u64, &[HashMap<Text, u64>])> {
        let mut groups: Vec<_> =
            self.groups.iter().map(|(cells, found)| (cells.as_slice(), found.size, found.values.as_slice())).collect();
        groups.sort_by(|a, b| a.0.cmp(b.0));
        groups
    }

    /// How many records were taken for suppressed.
    pub fn n_absent(&self) -> u64 {
        self.n_absent
    }

    /// How many records come before one that should stand before them; none where nobody asked for that.
    pub fn n_out_of_order(&self) -> Option<u64> {
        self.order.as_ref().map(|order| order.n_out_of_order)
    }

    /// How many records of the file have each value of a sensitive attribute.
    pub fn distribution(&self, sensitive: usize) -> HashMap<Text, u64> {
        let mut counts = HashMap::new();
        for found in self.groups.values() {
            for (value, n) in &found.values[sensitive] {
                *counts.entry(value.clone()).or_default() += n;
            }
        }
        counts
    }

    /// Judges all records that were pushed.
    ///
    /// # Guarantee
    /// The verdict holds if and only if at least one criterion is asked for, every one can be judged, and every group of
    /// the table satisfies every one.
    pub fn verdict(&self, criteria: &Criteria, outside: &Outside) -> Verdict {
        let finding = |criterion: Criterion| {
            let original = criterion.measure.sensitive().and_then(|s| outside.originals.get(s)?.as_ref());
            let is_there = criterion.measure.sensitive().is_none_or(|s| s < self.sensitive.len());
            let is_judged = is_there
                && match criterion.measure {
                    Measure::Population => outside.population.is_some(),
                    measure => !measure.is_relative() || original.is_some(),
                };
            let mut finding = Finding::new(criterion, is_judged);
            let known = original.filter(|_| criterion.measure.is_relative()).map(Known::new);
            for (values, found) in self.groups.iter().filter(|_| is_judged) {
                let measured = match criterion.measure {
                    Measure::Population => {
                        let population = outside.population.as_ref().expect("it was looked for above");
                        population.get(values).copied().unwrap_or(0)
                    }
                    measure => measure_plainly(measure, found, known.as_ref()),
                };
                finding.see(measured, found.size);
            }
            finding
        };
        let groups = || self.groups.values();
        Verdict {
            n_records: self.n_records,
            n_absent: self.n_absent,
            n_groups: self.groups.len() as u64,
            smallest_group: groups().map(|found| found.size).min(),
            n_squares: groups().map(|found| u128::from(found.size).pow(2)).sum(),
            fewest_distinct: groups().filter_map(|found| Some(found.values.first()?.len() as u64)).min(),
            findings: criteria.iter().map(finding).collect(),
        }
    }
}

fn cells_of<'a>(batch: &'a RecordBatch, names: &[&String]) -> Result<Vec<Cells<'a>>> {
    let schema = batch.schema();
    let cells = |name: &&String| {
        let column = batch.column_by_name(name).ok_or_else(|| {
            let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
            unknown(ErrorKind::Data, "column", name, &names)
        })?;
        Cells::new(name, column)
    };
    names.iter().map(cells).collect()
}

impl Order {
    /// Compares a record of a batch with the one that was seen before it.
    fn see(&mut self, columns: &[&Cells], i: usize) {
        let read = |cells: &Cells| {
            let mut text = String::new();
            (cells.read(i, &mut text), text)
        };
        let record: Vec<(bool, String)> = columns.iter().map(|cells| read(cells)).collect();
        let before = self.before.get_or_insert_with(|| record.clone());
        let first_difference = before.iter().zip(&record).find(|(a, b)| a != b);
        let is_in_order = first_difference.is_none_or(|(a, b)| may_follow(b, a, self.texts));
        self.n_out_of_order += u64::from(!is_in_order);
        *before = record;
    }
}

/// Stretches of records that say the same in all of these columns as the one before them.
fn runs(columns: &[Cells], n_records: usize) -> Vec<Range<usize>> {
    let mut differs = vec![false; n_records];
    for cells in columns {
        mark_differences(cells, &mut differs);
    }
    let starts = (0..n_records).filter(|&i| i == 0 || differs[i]);
    let mut runs: Vec<Range<usize>> = starts.map(|start| start..n_records).collect();
    for i in 1..runs.len() {
        runs[i - 1].end = runs[i].start;
    }
    runs
}

/// Marks every record whose cell is not that of the record before it. Where the same text is stored in two ways, it may be
/// marked too: it is then looked at on its own.
fn mark_differences(cells: &Cells, differs: &mut [bool]) {
    let nulls = match cells {
        Cells::Integers(values, nulls) | Cells::Days(values, nulls) => {
            mark(differs, values.len(), |i| values[i] != values[i - 1]);
            nulls.as_ref()
        }
        Cells::Dictionary { keys, nulls, .. } => {
            mark(differs, keys.len(), |i| keys[i] != keys[i - 1]);
            nulls.as_ref()
        }
        Cells::Utf8(array) => mark_texts(differs, *array),
        Cells::Rendered(array) => mark_texts(differs, array),
        Cells::LargeUtf8(array) => mark_texts(differs, *array),
        Cells::Utf8View(array) => mark_texts(differs, *array),
    };
    if let Some(nulls) = nulls {
        mark(differs, nulls.len(), |i| nulls.is_null(i) != nulls.is_null(i - 1));
    }
}

fn mark(differs: &mut [bool], n_records: usize, is_other: impl Fn(usize) -> bool) {
    (1..n_records).for_each(|i| differs[i] |= is_other(i));
}

fn mark_texts<'a>(differs: &mut [bool], array: impl ArrayAccessor<Item = &'a str>) -> Option<&'a NullBuffer> {
    mark(differs, array.len(), |i| array.value(i) != array.value(i - 1) || array.is_null(i) != array.is_null(i - 1));
    None
}

/// Whether a record with this cell may come after one with that cell, where they are the first that differ.
fn may_follow(cell: &(bool, String), before: &(bool, String), texts: Texts) -> bool {
    let number = |(_, text): &(bool, String)| text.parse::<f64>().ok();
    let may_have_changed = || match (cell.0 && before.0, number(cell), number(before)) {
        (true, Some(number), Some(before)) => before <= number,
        (is_there, ..) => !is_there,
    };
    before < cell || (texts == Texts::AsRemembered && may_have_changed())
}

/// How the values of a sensitive attribute are spread over the groups of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Spread {
    /// How many records have each value, in the order of values.
    pub frequencies: Vec<(Text, u64)>,
    /// The fewest different values in a group.
    pub fewest_distinct: u64,
    /// The distance of a group to the whole file in millionths, greatest and mean: with all values equally far apart, and
    /// in order. Whole numbers, so that they do not depend on which group is looked at first.
    pub equal: (u64, u64),
    /// The same with values in order.
    pub ordered: (u64, u64),
}

impl Verifier {
    /// How evenly the values of one sensitive attribute are spread.
    pub fn spread(&self, sensitive: usize) -> Spread {
        let order = |distance| Original::new("", self.distribution(sensitive), distance, &HashMap::new());
        let greatest_and_mean = |distance: Distance| {
            let original = order(distance);
            let known = Known::new(&original);
            let of_group = |found: &FoundGroup| measure_plainly(Measure::Closeness(sensitive), found, Some(&known));
            let distances: Vec<u64> = self.groups.values().map(of_group).collect();
            let n_groups = distances.len().max(1) as u128;
            let sum: u128 = distances.iter().map(|&distance| u128::from(distance)).sum();
            // Half a millionth is rounded up.
            (distances.iter().copied().max().unwrap_or(0), ((2 * sum + n_groups) / (2 * n_groups)) as u64)
        };
        Spread {
            frequencies: order(Distance::Equal).counts,
            fewest_distinct: self.groups.values().map(|found| found.values[sensitive].len() as u64).min().unwrap_or(0),
            equal: greatest_and_mean(Distance::Equal),
            ordered: greatest_and_mean(Distance::Ordered),
        }
    }

    /// How many groups cannot be made of dealt classes: so many of them over all groups, of sizes that differ by one at
    /// most, with counts of every value that differ by at most `most_differ`. All, where the classes do not add up.
    ///
    /// Classes that look alike are one group here, so that how many a group is made of is not known but bounded: by its
    /// size, and by how often it has each value.
    pub fn n_not_dealt(&self, sensitive: usize, n_classes: u64, most_differ: u64) -> u64 {
        if n_classes == 0 || n_classes > self.n_records {
            return self.groups.len() as u64;
        }
        let shares = |n: u64| (n / n_classes, n.div_ceil(n_classes));
        let sizes = shares(self.n_records);
        let bounds: HashMap<Text, (u64, u64)> = self
            .distribution(sensitive)
            .into_iter()
            .map(|(value, n)| {
                let (down, up) = shares(n);
                // Some class has at most the mean, and some at least.
                (
                    value,
                    match most_differ {
                        // So many classes of the same number each; where that cannot be, no group can be made of them.
                        0 if down < up => (u64::MAX, 0),
                        0 | 1 => (down, up),
                        _ => (up.saturating_sub(most_differ), down + most_differ),
                    },
                )
            })
            .collect();
        let (mut n_wrong, mut least, mut most) = (0, 0, 0);
        let n_needed = bounds.values().filter(|(lower, _)| *lower > 0).count();
        for found in self.groups.values() {
            let of_value = found.values[sensitive].iter().map(|(value, &n)| (n, bounds[value]));
            let n_there = of_value.clone().filter(|(_, (lower, _))| *lower > 0).count();
            let all = of_value.chain([(found.size, sizes)]);
            // With m classes, a count is from m times the lower bound to m times the upper; of a value that every class
            // has and the group lacks, that is no class.
            let (mut low, mut high) = (1, if n_there < n_needed { 0 } else { u64::MAX });
            for (n, (lower, upper)) in all {
                low = low.max(n.div_ceil(upper.max(1)));
                high = high.min(n.checked_div(lower).unwrap_or(u64::MAX));
            }
            match low <= high {
                true => (least, most) = (least + low, high.saturating_add(most)),
                false => n_wrong += 1,
            }
        }
        let adds_up = least <= n_classes && n_classes <= most;
        if n_wrong == 0 && !adds_up { self.groups.len() as u64 } else { n_wrong }
    }
}

/// What a group measures, by the definitions: no shortcuts, and nothing shared with [`crate::criterion`].
fn measure_plainly(measure: Measure, found: &FoundGroup, known: Option<&Known>) -> u64 {
    let n = found.size;
    let values = measure.sensitive().map(|s| &found.values[s]);
    let mut counts: Vec<u64> = values.map_or(Vec::new(), |values| values.values().copied().collect());
    counts.sort_unstable_by(|a, b| b.cmp(a));
    match measure {
        Measure::Size | Measure::Population => n,
        Measure::Distinct(_) => counts.len() as u64,
        Measure::Share(_) => fraction_up(counts[0].into(), n.into()),
        Measure::Entropy(_) => {
            let shares = counts.iter().map(|&c| c as f64 / n as f64);
            let entropy: f64 = shares.map(|p| -p * p.ln()).sum();
            // A hair more, so that two equally frequent values are 2 however the computer takes logarithms.
            (entropy.exp() * MILLION as f64 * (1.0 + 1e-13) + 1e-6) as u64
        }
        Measure::Recursive { l, .. } => match counts.iter().skip(l as usize - 1).sum::<u64>() {
            0 => NEVER,
            rest => (u128::from(counts[0]) * u128::from(MILLION) / u128::from(rest)) as u64 + 1,
        },
        Measure::Closeness(_) | Measure::Disclosure(_) | Measure::Likeness(_) | Measure::EnhancedLikeness(_) => {
            let known = known.expect("relative criteria are judged with the original distribution");
            compare_plainly(measure, values.expect("a sensitive attribute is named"), n, known)
        }
    }
}

/// Judges what is promised to people: who is in which group, and with which values there.
///
/// The file itself does not say whose record is whose. Whoever makes it knows, and shows every record here on its way:
/// those of the original table, and those that are published.
#[derive(Default)]
pub struct PeopleVerifier {
    n_sensitive: usize,
    /// By person, their values of each sensitive attribute in the original table.
    table: Who,
    /// By published group, who is in it and with which values; and how many records it has.
    groups: HashMap<Vec<Text>, (Who, u64)>,
}

/// People by name.
type Who = HashMap<String, Own>;

/// The records of one person: how many, and their different values of each sensitive attribute.
struct Own {
    n_records: u64,
    values: Vec<HashSet<Text>>,
}

/// What everybody's values weigh together; see [`crate::criterion::PARTS`].
const WEIGHT: u64 = 2_520;

impl PeopleVerifier {
    /// A check of records with so many sensitive attributes, which has seen none yet.
    pub fn new(n_sensitive: usize) -> PeopleVerifier {
        PeopleVerifier { n_sensitive, ..PeopleVerifier::default() }
    }

    /// Looks at a record of the original table.
    pub fn see_original(&mut self, person: &str, values: impl Iterator<Item = Text>) {
        note_values(&mut self.table, self.n_sensitive, person, values, 1);
    }

    /// Looks at a published record: the cells that someone could be found by, and its sensitive values.
    pub fn see_published(&mut self, cells: Vec<Text>, person: &str, values: impl Iterator<Item = Text>) {
        self.see_published_times(cells, person, values, 1);
    }

    /// Looks at so many equal published records of the same person.
    pub fn see_published_times(
        &mut self,
        cells: Vec<Text>,
        person: &str,
        values: impl Iterator<Item = Text>,
        n_times: u64,
    ) {
        let (people, n_records) = self.groups.entry(cells).or_default();
        *n_records += n_times;
        note_values(people, self.n_sensitive, person, values, n_times);
    }

    /// How many people the smallest group has; none where there is no group.
    pub fn smallest_group(&self) -> Option<u64> {
        self.groups.values().map(|(people, _)| people.len() as u64).min()
    }

    /// How many people of the original table have no record among those published.
    pub fn n_lost(&self) -> u64 {
        let published: HashSet<&String> = self.groups.values().flat_map(|(people, _)| people.keys()).collect();
        self.table.keys().filter(|person| !published.contains(person)).count() as u64
    }

    /// How many people there are in the original table.
    pub fn n_people(&self) -> u64 {
        self.table.len() as u64
    }

    /// How many people are alone by all their published records together: nobody else has as many in each of the same
    /// groups. No promise about groups says anything of it.
    pub fn n_alone_by_all_records(&self) -> u64 {
        let mut sets: HashMap<&str, Vec<(&[Text], u64)>> = HashMap::new();
        for (cells, (people, _)) in &self.groups {
            people.iter().for_each(|(who, own)| sets.entry(who).or_default().push((cells, own.n_records)));
        }
        let mut n_alike: HashMap<Vec<(&[Text], u64)>, u64> = HashMap::new();
        for mut set in sets.into_values() {
            set.sort_unstable();
            *n_alike.entry(set).or_default() += 1;
        }
        n_alike.values().filter(|n| **n == 1).count() as u64
    }

    /// The published groups in the order of their cells: who is in each, and with how many records.
    pub fn groups(&self) -> Vec<(&[Text], Vec<(&str, u64)>)> {
        let mut groups: Vec<(&[Text], Vec<(&str, u64)>)> = Vec::with_capacity(self.groups.len());
        for (cells, (people, _)) in &self.groups {
            let mut who: Vec<(&str, u64)> = people.iter().map(|(who, own)| (who.as_str(), own.n_records)).collect();
            who.sort_unstable();
            groups.push((cells, who));
        }
        groups.sort_unstable();
        groups
    }

    /// What every criterion comes to, over people. The distances between values are those of `outside`, and so is the
    /// population.
    pub fn findings(&self, criteria: &Criteria, outside: &Outside) -> Vec<Finding> {
        criteria.iter().map(|criterion| self.finding(criterion, outside)).collect()
    }

    fn finding(&self, criterion: Criterion, outside: &Outside) -> Finding {
        let measure = criterion.measure;
        let original = measure.sensitive().and_then(|s| outside.originals.get(s)?.as_ref());
        let is_judged = match measure {
            Measure::Population => outside.population.is_some(),
            measure => !measure.is_relative() || original.is_some(),
        };
        let mut finding = Finding::new(criterion, is_judged);
        let is_weighed = matches!(measure, Measure::Closeness(_));
        let order: Option<HashMap<&Text, usize>> = original
            .filter(|_| is_weighed)
            .map(|original| original.counts.iter().map(|(value, _)| value).zip(0..).collect());
        // The same values in the same order, and how many people of the table have each.
        let of_table = original.filter(|_| measure.is_relative()).map(|original| {
            let counts = values_of(&self.table, measure.sensitive().expect("relative to values"), order.as_ref());
            let count = |value: &Text| counts.get(value).copied().unwrap_or(0);
            let counts = original.counts.iter().map(|(value, _)| (value.clone(), count(value)));
            Original { counts: counts.collect(), ..original.clone() }
        });
        let n_table = self.table.len() as u64 * if is_weighed { WEIGHT } else { 1 };
        let known = of_table.as_ref().map(|original| Known { n_records: i128::from(n_table), ..Known::new(original) });
        for (cells, (people, n_records)) in self.groups.iter().filter(|_| is_judged) {
            let n = people.len() as u64;
            let measured = match measure.sensitive() {
                None if measure == Measure::Size => n,
                None => outside.population.as_ref().and_then(|known| known.get(cells)).copied().unwrap_or(0),
                Some(s) => {
                    let mut values = values_of(people, s, order.as_ref());
                    if matches!(measure, Measure::Distinct(_) | Measure::Entropy(_) | Measure::Recursive { .. }) {
                        values = everybody_once(values, n);
                    }
                    let size = n * if is_weighed { WEIGHT } else { 1 };
                    let mut all = vec![HashMap::new(); s];
                    all.push(values);
                    measure_plainly(measure, &FoundGroup { size, values: all }, known.as_ref())
                }
            };
            finding.see(measured, *n_records);
        }
        finding
    }
}

fn note_values(people: &mut Who, n_sensitive: usize, person: &str, values: impl Iterator<Item = Text>, n_records: u64) {
    if !people.contains_key(person) {
        people.insert(person.to_string(), Own { n_records: 0, values: vec![HashSet::new(); n_sensitive] });
    }
    let own = people.get_mut(person).expect("they were just noted");
    own.n_records += n_records;
    own.values.iter_mut().zip(values).for_each(|(known, value)| {
        known.insert(value);
    });
}

/// How many people have each value; or what it weighs, where everybody's weight is shared out evenly among their values,
/// and of what is left over the first ones in order get one part each.
fn values_of(people: &Who, sensitive: usize, places: Option<&HashMap<&Text, usize>>) -> HashMap<Text, u64> {
    let mut all: HashMap<Text, u64> = HashMap::new();
    for own in people.values() {
        let mut own: Vec<&Text> = own.values[sensitive].iter().collect();
        let n = own.len() as u64;
        let (each, n_more) = places.map_or((1, 0), |_| (WEIGHT / n, WEIGHT % n));
        if let Some(places) = places.filter(|_| n_more > 0) {
            own.sort_by_key(|value| places.get(value));
        }
        for (i, value) in (0..).zip(own) {
            let n = each + u64::from(i < n_more);
            match all.get_mut(value) {
                Some(known) => *known += n,
                None => drop(all.insert(value.clone(), n)),
            }
        }
    }
    all
}

/// Everybody counted once: with the value that most have, those who are left with the next, and so on.
fn everybody_once(values: HashMap<Text, u64>, n_people: u64) -> HashMap<Text, u64> {
    let mut most: Vec<(u64, Text)> = values.into_iter().map(|(value, n)| (n, value)).collect();
    most.sort_by(|a, b| b.cmp(a));
    let mut n_left = n_people;
    let mut once = HashMap::new();
    for (n, value) in most {
        let taken = n.min(n_left);
        n_left -= taken;
        if taken > 0 {
            once.insert(value, taken);
        }
    }
    once
}

/// The original distribution, with the place of every value.
struct Known<'a> {
    original: &'a Original,
    places: HashMap<&'a Text, usize>,
    n_records: i128,
    /// How many values any record has.
    n_present: usize,
}

impl Known<'_> {
    fn new(original: &Original) -> Known<'_> {
        let counts = || original.counts.iter().map(|(_, count)| *count);
        Known {
            original,
            places: original.counts.iter().map(|(value, _)| value).zip(0..).collect(),
            n_records: counts().map(i128::from).sum(),
            n_present: counts().filter(|count| *count > 0).count(),
        }
    }
}

/// Criteria that compare a group with the original table, value by value.
fn compare_plainly(measure: Measure, values: &HashMap<Text, u64>, n: u64, known: &Known) -> u64 {
    let Known { original, places, n_records, n_present } = known;
    let (n, of_table) = (i128::from(n), *n_records);
    // Shares of the group and of the table, over the common denominator n · N, of the values that the group has.
    let pair = |(value, c): (&Text, &u64)| {
        let place = *places.get(value)?;
        let count = original.counts[place].1;
        (count > 0).then(|| (place, i128::from(*c) * of_table, i128::from(count) * n))
    };
    let Some(pairs) = values.iter().map(pair).collect::<Option<Vec<(usize, i128, i128)>>>() else {
        // The file has a value that the original table lacks.
        return NEVER;
    };
    let gains = || pairs.iter().map(|(_, p, q)| (*p, *q)).filter(|(p, q)| p > q);
    let log = |q: i128| (q as f64 / (n * of_table) as f64).ln();
    let likeness = || gains().map(|(p, q)| fraction_up((p - q) as u128, q as u128)).max().unwrap_or(0);
    match measure {
        Measure::Closeness(_) => {
            let steps = original.counts.len() as i128 - 1;
            // By value of the table: of those that the group lacks, all that the table has is too little.
            let differences = || {
                let mut differences: Vec<i128> =
                    original.counts.iter().map(|(_, count)| -(i128::from(*count) * n)).collect();
                pairs.iter().for_each(|(place, p, _)| differences[*place] += p);
                differences
            };
            let (moved, whole) = match original.distance {
                _ if steps == 0 => (0, 1),
                Distance::Equal => {
                    let of_group: i128 = pairs.iter().map(|(_, p, q)| (p - q).abs()).sum();
                    let of_others = of_table * n - pairs.iter().map(|(_, _, q)| q).sum::<i128>();
                    (of_group + of_others, 2)
                }
                Distance::Ordered => {
                    let mut before = 0;
                    let differences = differences();
                    let sums = differences.iter().map(|d| {
                        before += d;
                        before.abs()
                    });
                    (sums.sum(), steps)
                }
                Distance::Hierarchical => moved_in_tree(&differences(), &original.labels),
            };
            fraction_up(moved as u128, (whole * n * of_table) as u128)
        }
        // A value of the table that the group lacks.
        Measure::Disclosure(_) if pairs.len() < *n_present => NEVER,
        Measure::Disclosure(_) => {
            let logs = pairs.iter().filter(|(_, p, q)| p != q).map(|(_, p, q)| (*p as f64 / *q as f64).ln().abs());
            (logs.fold(0.0, f64::max) * MILLION as f64) as u64 + 1
        }
        Measure::EnhancedLikeness(_) if gains().any(|(p, q)| (p - q) as f64 / q as f64 > -log(q)) => NEVER,
        _ => likeness(),
    }
}

/// Li et al.'s formula for hierarchical distance: at every label, what its branches can settle among each other is
/// moved at the cost of its height.
fn moved_in_tree(differences: &[i128], labels: &[Vec<String>]) -> (i128, i128) {
    let height = labels.iter().map(Vec::len).max().unwrap_or(0).max(1);
    let mut moved = 0;
    // What each branch has too much, by its label; from the values up.
    let mut extras: BTreeMap<Vec<&str>, i128> = BTreeMap::new();
    let path =
        |i: usize, level: usize| -> Vec<&str> { labels[i].iter().skip(level).rev().map(String::as_str).collect() };
    for (i, difference) in differences.iter().enumerate() {
        *extras.entry(path(i, 0)).or_default() += difference;
    }
    for level in 1..=height {
        let mut above: BTreeMap<Vec<&str>, (i128, i128)> = BTreeMap::new();
        for (path, extra) in &extras {
            let parent = path[..path.len().min(height - level)].to_vec();
            let (too_much, too_little) = above.entry(parent).or_default();
            *too_much += extra.max(&0);
            *too_little -= extra.min(&0);
        }
        moved += level as i128 * above.values().map(|(more, less)| more.min(less)).sum::<i128>();
        extras = above.into_iter().map(|(path, (more, less))| (path, more - less)).collect();
    }
    (moved, height as i128)
}

/// `a / b` in millionths, rounded up.
fn fraction_up(a: u128, b: u128) -> u64 {
    u64::try_from((a * u128::from(MILLION)).div_ceil(b)).unwrap_or(NEVER)
}
