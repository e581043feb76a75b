//! Counts the groups of a published table and judges them.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use arrow_array::RecordBatch;

use crate::criterion::{Criteria, Criterion, MILLION, Measure, NEVER};
use crate::error::{Error, ErrorKind, Result, unknown};
use crate::hierarchy::ANY;
use crate::table::Cells;
use crate::verify::order::{Order, Texts, differences, is_stored_otherwise, runs};
use crate::verify::reference::{KnownOriginal, Outside, Text, compare_plainly, fraction_up};
use crate::verify::verdict::{Finding, Verdict};

/// What records are that are `*` in every quasi-identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuppressedAs {
    /// A group like any other: the file is judged as it stands.
    Group,
    /// Not there: the file marks suppressed records in this way instead of leaving them out.
    Absent,
}

/// How many records of a group there are, and per sensitive attribute how many have each value.
#[derive(Clone, Debug, Default)]
pub(super) struct FoundGroup {
    pub(super) size: u64,
    pub(super) values: Vec<HashMap<Text, u64>>,
}

/// Counts the groups of a published table, batch after batch.
pub struct Verifier {
    quasi_identifiers: Vec<String>,
    sensitive: Vec<String>,
    suppressed_as: SuppressedAs,
    pub(super) groups: HashMap<Vec<Text>, FoundGroup>,
    pub(super) n_records: u64,
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
        Verifier { order: Some(Order::of(columns, texts)), ..self }
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
        let differs = differences(&all, batch.num_rows());
        if let (Some(order), Some(ordered)) = (&mut self.order, &ordered) {
            order.see(ordered, differs.iter().enumerate().filter(|(_, differs)| **differs).map(|(i, _)| i));
        }
        let n_of = |run: &Range<usize>| n_times.map_or(run.len() as u64, |n_times| n_times[run.clone()].iter().sum());
        let runs: Vec<(Range<usize>, u64)> = runs(&differs).into_iter().map(|run| (run.clone(), n_of(&run))).collect();
        // And still more of them are in the group of the record before them.
        let is_another_group =
            |start: usize| identifying.iter().any(|cells| is_stored_otherwise(cells, start - 1, start));
        for of_group in runs.chunk_by(|_, (run, _)| !is_another_group(run.start)) {
            self.see(&identifying, &sensitive, of_group);
        }
        Ok(())
    }

    /// Counts records of one group: where those begin that say the same, and how many they are.
    fn see(&mut self, columns: &[&Cells], sensitive: &[&Cells], of_group: &[(Range<usize>, u64)]) {
        let n_records: u64 = of_group.iter().map(|(_, n_times)| n_times).sum();
        if n_records == 0 {
            return;
        }
        let first = of_group[0].0.start;
        let mut text = String::new();
        let mut read = |cells: &&Cells| cells.read(first, &mut text).then(|| text.clone());
        let values: Vec<Text> = columns.iter().map(&mut read).collect();
        let is_suppressed = !values.is_empty() && values.iter().all(|value| value.as_deref() == Some(ANY));
        if is_suppressed && self.suppressed_as == SuppressedAs::Absent {
            self.n_absent += n_records;
            return;
        }
        self.n_records += n_records;
        let found = self.groups.entry(values).or_default();
        found.size += n_records;
        found.values.resize_with(sensitive.len(), HashMap::new);
        let mut value: Text = None;
        for (s, (values, cells)) in found.values.iter_mut().zip(sensitive).enumerate() {
            for (run, n_times) in of_group.iter().filter(|(_, n_times)| *n_times > 0) {
                let text = value.get_or_insert_default();
                if !cells.read(run.start, text) {
                    value = None;
                }
                if let Some(Some(labelled)) = self.labels.get_mut(s) {
                    value = labelled.see(value);
                }
                match values.get_mut(&value) {
                    Some(n) => *n += n_times,
                    None => _ = values.insert(value.clone(), *n_times),
                }
            }
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
            let known = original.filter(|_| criterion.measure.is_relative()).map(KnownOriginal::new);
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

/// What a group measures, by the definitions, and with nothing that is shared with [`crate::criterion`].
pub(super) fn measure_plainly(measure: Measure, found: &FoundGroup, known: Option<&KnownOriginal>) -> u64 {
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
