//! Tables to test with, and the definitions of everything that is tested, written as plainly as possible.
//!
//! The definitions share no code with the engine: they compare texts record by record, look at every scheme
//! and sort what they find. What they take from the engine are plain data: criteria, requests, verdicts.

#![allow(dead_code)] // Every test file uses its own part of this.

pub mod measures;
pub mod random;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use incrowd::hierarchy::LabelTable;
use incrowd::quality::Losses;
use incrowd::recode::global;
use incrowd::release::{Column, Publisher, Row};
use incrowd::table::Needed;
use incrowd::task::Task;
use incrowd::verify::{Finding, Original, Outside, SuppressedAs};
use incrowd::{
    Answer, Counter, Criteria, Criterion, Distance, GroupCounts, Hierarchy, Lattice, Level, Measure, Missing, Offer,
    Plan, Quality, Ranking, Request, Rule, Scheme, Verdict, Yardstick,
};
use measures::{Counts, NaiveReference, Seen, is_at_least, is_met, measured};

// ---- Tables ----

/// What a record says in one column; none is "no value".
pub type Cell = Option<String>;

/// A quasi-identifier, with a row of labels for each of its values: the value, then its label at each level.
#[derive(Clone, Debug)]
pub struct Attribute {
    pub name: String,
    pub rows: Vec<Vec<String>>,
    pub weight: f64,
}

/// A sensitive attribute; without rows it has no hierarchy.
#[derive(Clone, Debug)]
pub struct Sensitive {
    pub attribute: Attribute,
    pub distance: Distance,
}

/// A table with all that a project says about it.
///
/// A record has one cell per quasi-identifier, then one per sensitive attribute,
/// then one for a column without a role if there is one.
#[derive(Clone, Debug)]
pub struct Table {
    pub quasi_identifiers: Vec<Attribute>,
    pub sensitive: Vec<Sensitive>,
    pub has_note: bool,
    pub missing: Missing,
    pub records: Vec<Vec<Cell>>,
    pub wanted: Wanted,
}

/// What is to be measured of a table, beside sizes and distinct values.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    pub measures: Vec<Measure>,
    pub with_entropy: bool,
    /// One cell per quasi-identifier.
    pub population: Option<Vec<Vec<Cell>>>,
}

/// What the engine makes of a table.
pub struct Made {
    pub counts: GroupCounts,
    pub hierarchies: Vec<Hierarchy>,
    pub weights: Vec<f64>,
    pub yardstick: Yardstick,
    pub with_entropy: bool,
    pub lattice: Lattice,
}

pub const SENSITIVE: &str = "disease";
pub const NOTE: &str = "note";

impl Attribute {
    pub fn new(name: &str, rows: &[&[&str]]) -> Attribute {
        let rows = rows.iter().map(|row| row.iter().map(|label| label.to_string()).collect()).collect();
        Attribute { name: name.to_string(), rows, weight: 1.0 }
    }

    /// Values without levels between themselves and `*`.
    pub fn flat(name: &str, values: &[&str]) -> Attribute {
        let rows: Vec<&[&str]> = values.chunks(1).collect();
        Attribute::new(name, &rows)
    }

    pub fn rule(&self) -> Rule {
        let rows = self.rows.iter().cloned().zip(1..).map(|(row, line)| (line, row));
        Rule::Table(LabelTable::new("labels.csv", rows.collect()).expect("rows of equal length"))
    }
}

impl Sensitive {
    /// Values that are all equally far apart.
    pub fn plain(name: &str) -> Sensitive {
        let attribute = Attribute { name: name.to_string(), rows: Vec::new(), weight: 1.0 };
        Sensitive { attribute, distance: Distance::Equal }
    }

    pub fn with(attribute: Attribute, distance: Distance) -> Sensitive {
        Sensitive { attribute, distance }
    }

    fn hierarchy(&self, domain: &incrowd::Domain) -> Option<Hierarchy> {
        (self.distance == Distance::Hierarchical)
            .then(|| self.attribute.rule().resolve(domain).expect("a complete tree"))
    }

    fn labels(&self, value: &Cell, missing: &Missing) -> Vec<Cell> {
        match self.distance {
            Distance::Hierarchical => self.attribute.labels(value, missing),
            _ => Vec::new(),
        }
    }
}

/// One sensitive attribute, the usual one.
pub fn one_sensitive() -> Vec<Sensitive> {
    vec![Sensitive::plain(SENSITIVE)]
}

impl Made {
    pub fn plan(&self) -> Plan<'_> {
        Plan { weights: &self.weights, yardstick: &self.yardstick, with_entropy: self.with_entropy }
    }
}

impl Table {
    pub fn names(&self) -> Vec<&str> {
        let names = self.quasi_identifiers.iter().map(|attribute| attribute.name.as_str());
        names.chain(self.sensitive_names()).chain(self.has_note.then_some(NOTE)).collect()
    }

    pub fn quasi_identifier_names(&self) -> Vec<&str> {
        self.quasi_identifiers.iter().map(|attribute| attribute.name.as_str()).collect()
    }

    pub fn sensitive_names(&self) -> Vec<&str> {
        self.sensitive.iter().map(|sensitive| sensitive.attribute.name.as_str()).collect()
    }

    /// Whether a record, or somebody of the population, has every value that it needs.
    pub fn keeps(&self, record: &[Cell]) -> bool {
        let is_needed = |name: &str| match &self.missing.needed {
            Needed::All => true,
            Needed::Only(names) => names.iter().any(|known| known == name),
            Needed::AllBut(names) => names.iter().all(|known| known != name),
        };
        let lacks = |(name, cell): (&str, &Cell)| is_needed(name) && cell.is_none();
        !self.missing.drop_records || !self.names().into_iter().zip(record).any(lacks)
    }

    pub fn batch(&self) -> RecordBatch {
        batch(&self.names(), &self.records)
    }

    pub fn counter(&self) -> Counter {
        Counter::new(&self.quasi_identifier_names(), &self.sensitive_names(), &self.missing)
    }

    pub fn counts(&self) -> GroupCounts {
        let mut counter = self.counter();
        counter.push(&self.batch()).expect("columns of texts");
        let counts = counter.finish();
        match &self.wanted.population {
            None => counts,
            Some(people) => {
                counts.with_population(&counts_of(&self.quasi_identifier_names(), &[], &self.missing, people))
            }
        }
    }

    pub fn yardstick(&self, counts: &GroupCounts) -> Yardstick {
        let domains = self.sensitive.iter().zip(counts.sensitive());
        let distances: Vec<_> =
            domains.map(|(sensitive, domain)| (sensitive.distance, sensitive.hierarchy(domain))).collect();
        Yardstick::new(counts, &distances, self.wanted.measures.iter().copied()).expect("there is what it needs")
    }

    pub fn make(&self) -> Made {
        let counts = self.counts();
        let rules = self.quasi_identifiers.iter().map(Attribute::rule);
        let hierarchies: Vec<Hierarchy> =
            rules.zip(counts.domains()).map(|(rule, domain)| rule.resolve(domain).expect("a complete tree")).collect();
        let weights: Vec<f64> = self.quasi_identifiers.iter().map(|attribute| attribute.weight).collect();
        let (yardstick, with_entropy) = (self.yardstick(&counts), self.wanted.with_entropy);
        let plan = Plan { weights: &weights, yardstick: &yardstick, with_entropy };
        let lattice = incrowd::annotate(&counts, &hierarchies, &plan, &Task::default()).expect("a small lattice");
        Made { counts, hierarchies, weights, yardstick, with_entropy, lattice }
    }
}

/// Publishes a scheme of a table in two batches, and returns the rows of the release in order.
pub fn publish(table: &Table, made: &Made, levels: &[u8], criteria: &Criteria) -> (Vec<Vec<Cell>>, u64, u64) {
    let recoding = global::recode(&made.counts, &made.hierarchies, &scheme(levels), &made.yardstick, criteria)
        .expect("one of the schemes");
    let recoded = table.quasi_identifier_names().into_iter().enumerate();
    let recoded = recoded.map(|(a, name)| Column::Recoded(a, name.to_string()));
    let kept = table.names().into_iter().skip(table.quasi_identifiers.len()).map(|name| Column::Kept(name.to_string()));
    let columns = recoded.chain(kept).collect();
    let mut publisher = Publisher::new(&made.counts, &recoding, &table.missing, columns);
    let batch = table.batch();
    let n_first = batch.num_rows() / 3;
    let parts = [batch.slice(0, n_first), batch.slice(n_first, batch.num_rows() - n_first)];
    let mut rows = recode_all(&mut publisher, &parts).expect("the table did not change");
    rows.sort();
    let cells: Vec<Vec<Cell>> = rows.iter().map(|row| row.cells()).collect();
    (cells, publisher.n_suppressed(), publisher.n_dropped())
}

/// The published records of some batches, of which the ones that were shared out come last.
pub fn recode_all(publisher: &mut Publisher, batches: &[RecordBatch]) -> incrowd::Result<Vec<Row>> {
    let (mut rows, mut waiting) = (Vec::new(), Vec::new());
    for batch in batches {
        let recoded = publisher.recode(batch)?;
        rows.extend(recoded.rows);
        waiting.extend(recoded.waiting);
    }
    waiting.sort();
    for row in waiting {
        rows.extend(publisher.settle(&row)?.map(|(row, _)| row));
    }
    Ok(rows)
}

/// Columns of texts.
pub fn batch(names: &[&str], records: &[Vec<Cell>]) -> RecordBatch {
    let column =
        |i: usize| -> ArrayRef { Arc::new(records.iter().map(|record| record[i].as_deref()).collect::<StringArray>()) };
    let columns: Vec<(&str, ArrayRef)> = names.iter().enumerate().map(|(i, &name)| (name, column(i))).collect();
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, column)| (name, column, true)))
        .expect("columns of equal length")
}

/// Records from rows of texts.
pub fn records(rows: &[&[Option<&str>]]) -> Vec<Vec<Cell>> {
    rows.iter().map(|row| row.iter().map(|cell| cell.map(str::to_string)).collect()).collect()
}

/// The counts of a table of texts, in one call.
pub fn counts_of(names: &[&str], sensitive: &[&str], missing: &Missing, rows: &[Vec<Cell>]) -> GroupCounts {
    let columns: Vec<&str> = names.iter().chain(sensitive).copied().collect();
    let mut counter = Counter::new(names, sensitive, missing);
    counter.push(&batch(&columns, rows)).expect("columns of texts");
    counter.finish()
}

pub fn k(value: u64) -> Criteria {
    Criteria::of(Some(value), None)
}

pub fn l(value: u64) -> Criteria {
    Criteria::of(None, Some(value))
}

pub fn k_and_l(k: u64, l: u64) -> Criteria {
    Criteria::of(Some(k), Some(l))
}

pub fn criterion(measure: Measure, value: u64) -> Criterion {
    Criterion { measure, value }
}

/// A request for the lowest scheme.
pub fn request(criteria: Criteria, n_suppressed_max: u64, levels: &[u8]) -> Request {
    Request { criteria, n_suppressed_max, level_max: scheme(levels), best_by: Ranking::from(Quality::Height) }
}

pub fn scheme(levels: &[u8]) -> Scheme {
    Scheme::new(levels.iter().map(|&level| Level(level)).collect())
}

// ---- What a table is, by definition ----

/// A table as the definitions see it: every record with its labels, every scheme with its groups.
pub struct Naive {
    pub records: Vec<NaiveRecord>,
    pub n_dropped: u64,
    /// By sensitive attribute, how many records have each value.
    pub references: Vec<NaiveReference>,
    pub tops: Vec<u8>,
    /// In the order of their level vectors.
    pub schemes: Vec<NaiveScheme>,
}

pub struct NaiveRecord {
    /// By attribute and level; none is a value that is missing and published as such.
    pub labels: Vec<Vec<Cell>>,
    /// By attribute and level, how much of the value is lost, from 0 to 1.
    pub penalties: Vec<Vec<f64>>,
    /// By attribute and level, how many records have the same label.
    pub n_alike: Vec<Vec<u64>>,
    pub sensitive: Vec<Cell>,
    pub note: Option<Cell>,
}

pub struct NaiveScheme {
    pub levels: Vec<u8>,
    pub groups: Vec<NaiveGroup>,
}

pub struct NaiveGroup {
    /// What the engine measures too, in increasing order of measures.
    pub values: Rc<[(Measure, u64)]>,
    /// Of one record.
    pub loss: f64,
    /// The places of its records.
    pub members: Vec<usize>,
}

#[derive(Clone, Debug)]
pub struct NaiveOffer {
    pub levels: Vec<u8>,
    pub criteria: Criteria,
    pub n_suppressed: u64,
    pub n_groups: u64,
    /// What was measured, with the least private value of a published group.
    pub reached: Vec<(Measure, u64)>,
    pub losses: Losses,
    /// Other schemes that are as good, but for the rounding of losses.
    pub or: Vec<NaiveOffer>,
}

#[derive(Clone, Debug)]
pub enum NaiveAnswer {
    Exact(NaiveOffer),
    Offers {
        suppression: NaiveOffer,
        height: Option<NaiveOffer>,
        /// Each criterion lowered alone, the smallest concession first: that one is the privacy offer.
        privacy: Vec<NaiveOffer>,
    },
}

impl Attribute {
    /// The labels of a value from itself to `*`.
    pub fn labels(&self, value: &Cell, missing: &Missing) -> Vec<Cell> {
        let missing_label = missing.tokens.first().map_or("", String::as_str);
        let written = value.as_deref().unwrap_or(missing_label);
        let row = self.rows.iter().find(|row| row[0] == written);
        let mut between: Vec<Cell> =
            (1..self.rows[0].len()).map(|i| Some(row.map_or(missing_label, |row| &row[i]).to_string())).collect();
        // A last column that says the same of all values is the top already.
        let last_labels: HashSet<_> = self.rows.iter().map(|row| row.last()).collect();
        if self.rows[0].len() > 1 && last_labels.len() == 1 {
            between.pop();
        }
        let top = Some("*".to_string());
        std::iter::once(value.clone()).chain(between).chain([top]).collect()
    }
}

impl Naive {
    pub fn new(table: &Table) -> Naive {
        let n_attributes = table.quasi_identifiers.len();
        let read = |cell: &Cell| cell.clone().filter(|text| !table.missing.tokens.contains(text));
        let all: Vec<Vec<Cell>> = table.records.iter().map(|record| record.iter().map(read).collect()).collect();
        let is_kept = |record: &&Vec<Cell>| table.keeps(record);
        let kept: Vec<Vec<Cell>> = all.iter().filter(is_kept).cloned().collect();
        let n_dropped = (all.len() - kept.len()) as u64;
        let people = table.wanted.population.as_deref().unwrap_or(&[]);
        let people: Vec<Vec<Cell>> = people.iter().map(|person| person.iter().map(read).collect()).collect();
        let people: Vec<Vec<Cell>> = people.iter().filter(is_kept).cloned().collect();

        // By attribute, for every value that occurs: its labels and what they cost, by level.
        let mut labels_of: Vec<HashMap<Cell, Vec<Cell>>> = Vec::new();
        let mut penalties_of: Vec<HashMap<Cell, Vec<f64>>> = Vec::new();
        for (a, attribute) in table.quasi_identifiers.iter().enumerate() {
            let of_people = people.iter().map(|person| person[a].clone());
            let values: BTreeSet<Cell> = kept.iter().map(|record| record[a].clone()).chain(of_people).collect();
            let mut labels: HashMap<Cell, Vec<Cell>> =
                values.iter().map(|value| (value.clone(), attribute.labels(value, &table.missing))).collect();
            // What is called as no value is, and is nothing else, is no value.
            let missing_label = Some(table.missing.label().to_string());
            for level in 1..attribute.labels(&None, &table.missing).len() - 1 {
                let n_alike = labels.values().filter(|labels| labels[level] == missing_label).count();
                let of_missing = labels.get_mut(&None).map(|labels| &mut labels[level]);
                if let Some(label) = of_missing.filter(|label| **label == missing_label && n_alike == 1) {
                    *label = None;
                }
            }
            let penalty_at = |value: &Cell, level: usize| {
                let is_alike = |other: &&Cell| labels[*other][level] == labels[value][level];
                penalty(&values.iter().collect::<Vec<_>>(), &values.iter().filter(is_alike).collect::<Vec<_>>())
            };
            let penalties = |value: &Cell| (0..labels[value].len()).map(|level| penalty_at(value, level)).collect();
            penalties_of.push(values.iter().map(|value| (value.clone(), penalties(value))).collect());
            labels_of.push(labels);
        }
        let n_alike = |a: usize, level: usize, value: &Cell| {
            let label = |value: &Cell| &labels_of[a][value][level];
            kept.iter().filter(|other| label(&other[a]) == label(value)).count() as u64
        };
        let n_alike_of: Vec<HashMap<&Cell, Vec<u64>>> = (0..n_attributes)
            .map(|a| {
                let of_levels =
                    |value: &Cell| (0..labels_of[a][value].len()).map(|level| n_alike(a, level, value)).collect();
                kept.iter()
                    .map(|record| &record[a])
                    .map(|value| (value, value))
                    .collect::<HashMap<_, _>>()
                    .into_keys()
                    .map(|value| (value, of_levels(value)))
                    .collect()
            })
            .collect();
        let naive_record = |record: &Vec<Cell>| NaiveRecord {
            labels: (0..n_attributes).map(|a| labels_of[a][&record[a]].clone()).collect(),
            penalties: (0..n_attributes).map(|a| penalties_of[a][&record[a]].clone()).collect(),
            n_alike: (0..n_attributes).map(|a| n_alike_of[a][&record[a]].clone()).collect(),
            sensitive: record[n_attributes..][..table.sensitive.len()].to_vec(),
            note: table.has_note.then(|| record[n_attributes + table.sensitive.len()].clone()),
        };
        let records: Vec<NaiveRecord> = kept.iter().map(naive_record).collect();
        let people: Vec<Vec<Vec<Cell>>> =
            people.iter().map(|person| (0..n_attributes).map(|a| labels_of[a][&person[a]].clone()).collect()).collect();
        let reference = |(s, sensitive): (usize, &Sensitive)| {
            let mut counts = Counts::new();
            records.iter().for_each(|record| *counts.entry(record.sensitive[s].clone()).or_default() += 1);
            NaiveReference::new(&counts, sensitive.distance, |value| sensitive.labels(value, &table.missing))
        };
        let references: Vec<NaiveReference> = table.sensitive.iter().enumerate().map(reference).collect();

        let top = |attribute: &Attribute| attribute.labels(&None, &table.missing).len() as u8 - 1;
        let tops: Vec<u8> = table.quasi_identifiers.iter().map(top).collect();
        let weights: Vec<f64> = table.quasi_identifiers.iter().map(|attribute| attribute.weight).collect();
        let mut yardstick = NaiveYardstick { measures: measures_of(table), references, known: HashMap::new() };
        let schemes = all_level_vectors(&tops)
            .into_iter()
            .map(|levels| NaiveScheme { groups: groups(&records, &people, &levels, &weights, &mut yardstick), levels })
            .collect();
        Naive { references: yardstick.references, records, n_dropped, tops, schemes }
    }

    /// How many different values each sensitive attribute has.
    pub fn n_values(&self) -> Vec<usize> {
        self.references.iter().map(|reference| reference.counts.len()).collect()
    }

    /// How many different values the first sensitive attribute has; 0 without one.
    pub fn n_sensitive(&self) -> usize {
        self.n_values().first().copied().unwrap_or(0)
    }

    pub fn n_records(&self) -> u64 {
        self.records.len() as u64
    }

    pub fn scheme(&self, levels: &[u8]) -> &NaiveScheme {
        self.schemes.iter().find(|scheme| scheme.levels == levels).expect("all schemes are there")
    }

    /// What would be published: for every record of a group that holds, its labels and its other cells.
    pub fn published(&self, levels: &[u8], criteria: &Criteria) -> Vec<Vec<Cell>> {
        let groups = self.scheme(levels).groups.iter().filter(|group| group.holds(criteria));
        let members = groups.flat_map(|group| &group.members);
        let mut rows: Vec<Vec<Cell>> = members
            .map(|&member| {
                let record = &self.records[member];
                let labels = levels.iter().enumerate().map(|(a, &level)| record.labels[a][level as usize].clone());
                labels.chain(record.sensitive.clone()).chain(record.note.clone()).collect()
            })
            .collect();
        rows.sort();
        rows
    }
}

/// Every vector of levels, in increasing order.
pub fn all_level_vectors(tops: &[u8]) -> Vec<Vec<u8>> {
    match tops {
        [] => vec![vec![]],
        [rest @ .., last] => {
            let shorter = all_level_vectors(rest).into_iter();
            shorter.flat_map(|levels| (0..=*last).map(move |level| [levels.clone(), vec![level]].concat())).collect()
        }
    }
}

/// What the engine measures when it is asked for these measures, in increasing order.
fn measures_of(table: &Table) -> Vec<Measure> {
    let distinct = (!table.sensitive.is_empty()).then_some(Measure::Distinct(0));
    let all = table.wanted.measures.iter().copied().chain([Measure::Size]).chain(distinct);
    all.collect::<BTreeSet<Measure>>().into_iter().collect()
}

/// Measures the same records among as many people only once, however many schemes have them as a group.
struct NaiveYardstick {
    measures: Vec<Measure>,
    references: Vec<NaiveReference>,
    known: HashMap<(Vec<usize>, u64), Rc<[(Measure, u64)]>>,
}

impl NaiveYardstick {
    fn values(&mut self, records: &[NaiveRecord], members: &[usize], population: u64) -> Rc<[(Measure, u64)]> {
        let NaiveYardstick { measures, references, known } = self;
        let all = || {
            let mut values = vec![Counts::new(); references.len()];
            for &i in members {
                let cells = values.iter_mut().zip(&records[i].sensitive);
                cells.for_each(|(counts, value)| *counts.entry(value.clone()).or_default() += 1);
            }
            let seen = Seen { size: members.len() as u64, population, values };
            measures.iter().map(|&measure| (measure, measured(&seen, measure, references))).collect()
        };
        known.entry((members.to_vec(), population)).or_insert_with(all).clone()
    }
}

fn groups(
    records: &[NaiveRecord],
    people: &[Vec<Vec<Cell>>],
    levels: &[u8],
    weights: &[f64],
    yardstick: &mut NaiveYardstick,
) -> Vec<NaiveGroup> {
    let labels_of = |labels: &'_ [Vec<Cell>]| -> Vec<Cell> {
        levels.iter().enumerate().map(|(a, &level)| labels[a][level as usize].clone()).collect()
    };
    let mut n_people: HashMap<Vec<Cell>, u64> = HashMap::new();
    people.iter().for_each(|labels| *n_people.entry(labels_of(labels)).or_default() += 1);
    let mut members_of: HashMap<Vec<Option<&str>>, Vec<usize>> = HashMap::new();
    for (i, record) in records.iter().enumerate() {
        let labels = levels.iter().enumerate().map(|(a, &level)| record.labels[a][level as usize].as_deref());
        members_of.entry(labels.collect()).or_default().push(i);
    }
    let total: f64 = weights.iter().sum();
    let group = |members: Vec<usize>| {
        let first = &records[members[0]];
        let population = match people {
            [] => 0,
            _ => n_people.get(&labels_of(&first.labels)).copied().unwrap_or(0),
        };
        let weighted: f64 =
            levels.iter().enumerate().map(|(a, &level)| first.penalties[a][level as usize] * weights[a]).sum();
        NaiveGroup { values: yardstick.values(records, &members, population), loss: weighted / total, members }
    };
    members_of.into_values().map(group).collect()
}

/// The share of an attribute's values that a label leaves open: Xu et al. (KDD 2006), section 3.
fn penalty(values: &[&Cell], alike: &[&Cell]) -> f64 {
    if alike.len() <= 1 {
        return 0.0;
    }
    let present: Vec<&str> = values.iter().filter_map(|value| value.as_deref()).collect();
    let positions: Option<Vec<f64>> = present.iter().map(|text| position(text)).collect();
    let Some(positions) = positions else {
        return alike.len() as f64 / values.len() as f64;
    };
    if alike.iter().any(|value| value.is_none()) {
        return 1.0; // Not even known whether there is a value.
    }
    let alike: Vec<f64> =
        alike.iter().map(|value| position(value.as_deref().expect("present")).expect("a number")).collect();
    range(&alike) / range(&positions)
}

fn range(positions: &[f64]) -> f64 {
    let (mut least, mut greatest) = (positions[0], positions[0]);
    for &position in positions {
        least = least.min(position);
        greatest = greatest.max(position);
    }
    greatest - least
}

/// A number, or the number of a day.
fn position(text: &str) -> Option<f64> {
    text.parse().ok().or_else(|| day_number(text).map(|day| day as f64))
}

/// How many days lie between the beginning of year 0 and a date like `2024-03-31`.
pub fn day_number(text: &str) -> Option<u32> {
    let parts: Vec<u32> = text.split('-').map(|part| part.parse().ok()).collect::<Option<_>>()?;
    let [year, month, day] = parts[..] else { return None };
    let is_leap = |year: u32| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let in_years: u32 = (0..year).map(|year| if is_leap(year) { 366 } else { 365 }).sum();
    let february = if is_leap(year) { 29 } else { 28 };
    let months = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    Some(in_years + months[..month as usize - 1].iter().sum::<u32>() + day)
}

// ---- What a scheme gives, by definition ----

impl NaiveGroup {
    pub fn size(&self) -> u64 {
        self.members.len() as u64
    }

    pub fn value(&self, measure: Measure) -> u64 {
        let known = self.values.iter().find(|(known, _)| *known == measure);
        known.expect("the table wants it measured").1
    }

    pub fn holds(&self, criteria: &Criteria) -> bool {
        criteria.iter().all(|criterion| is_met(criterion, self.value(criterion.measure)))
    }
}

impl NaiveScheme {
    pub fn height(&self) -> u32 {
        self.levels.iter().map(|&level| u32::from(level)).sum()
    }

    pub fn n_suppressed(&self, criteria: &Criteria) -> u64 {
        self.groups.iter().filter(|group| !group.holds(criteria)).map(NaiveGroup::size).sum()
    }

    /// Groups that look the same to every criterion: how many, and their losses summed.
    pub fn profile(&self) -> BTreeMap<Vec<u64>, (u64, f64)> {
        let mut profile = BTreeMap::new();
        for group in &self.groups {
            let signature = group.values.iter().map(|(_, value)| *value).collect();
            let (n_groups, loss) = profile.entry(signature).or_insert((0, 0.0));
            *n_groups += 1;
            *loss += group.loss;
        }
        profile
    }
}

impl Naive {
    /// What a scheme gives, whether or not it meets anyone's wishes.
    pub fn offer(&self, scheme: &NaiveScheme, criteria: &Criteria) -> NaiveOffer {
        let published: Vec<&NaiveGroup> = scheme.groups.iter().filter(|group| group.holds(criteria)).collect();
        let worst = |&(measure, _): &(Measure, u64)| {
            let values = published.iter().map(|group| group.value(measure));
            (measure, if is_at_least(measure) { values.min() } else { values.max() }.expect("something is published"))
        };
        let reached = published.first().map_or(Vec::new(), |group| group.values.iter().map(worst).collect());
        NaiveOffer {
            levels: scheme.levels.clone(),
            criteria: criteria.clone(),
            n_suppressed: scheme.n_suppressed(criteria),
            n_groups: published.len() as u64,
            reached,
            losses: self.losses(scheme, criteria),
            or: Vec::new(),
        }
    }

    /// Every quality function, record by record; a suppressed record is `*` everywhere.
    pub fn losses(&self, scheme: &NaiveScheme, criteria: &Criteria) -> Losses {
        let n = self.n_records();
        let per_record = |sum: f64| if n == 0 { 0.0 } else { sum / n as f64 };
        let (mut ncp, mut discernibility, mut up, mut bits, mut all_bits) = (0.0, 0u128, 0.0, 0.0, 0.0);
        let (mut n_groups, mut n_suppressed) = (0, 0);
        for group in &scheme.groups {
            let is_published = group.holds(criteria);
            *(if is_published { &mut n_groups } else { &mut n_suppressed }) += 1;
            for record in group.members.iter().map(|&member| &self.records[member]) {
                ncp += if is_published { group.loss } else { 1.0 };
                discernibility += u128::from(if is_published { group.size() } else { n });
                for (a, (&level, &top)) in scheme.levels.iter().zip(&self.tops).enumerate() {
                    let level = if is_published { level } else { top };
                    up += f64::from(level) / f64::from(top) / self.tops.len() as f64;
                    let bits_of = |n_alike: u64| (n_alike as f64 / record.n_alike[a][0] as f64).log2();
                    bits += bits_of(record.n_alike[a][level as usize]);
                    all_bits += bits_of(n);
                }
            }
        }
        Losses {
            ncp: per_record(ncp),
            discernibility,
            // The suppressed records are alike to each other: one group more.
            group_size: n as f64 / (n_groups + u64::from(n_suppressed > 0)).max(1) as f64,
            precision: 1.0 - per_record(up),
            entropy: Some(if all_bits > 0.0 { bits / all_bits } else { 0.0 }),
        }
    }

    /// How much of all that there is to lose is lost, in the mix of a ranking.
    pub fn loss(&self, scheme: &NaiveScheme, criteria: &Criteria, best_by: &Ranking) -> f64 {
        let losses = self.losses(scheme, criteria);
        let n = self.n_records() as f64;
        let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        let top: u32 = self.tops.iter().map(|&top| u32::from(top)).sum();
        let (mut sum, mut weights) = (0.0, 0.0);
        for part in best_by.name().split(',') {
            let (name, weight) = part.split_once('=').unwrap_or((part, "1"));
            let weight: f64 = weight.parse().expect("a number");
            weights += weight;
            sum += weight
                * match name {
                    "height" => share(f64::from(scheme.height()), f64::from(top)),
                    "ncp" => losses.ncp,
                    // From every record alone to all alike.
                    "discernibility" => share(losses.discernibility as f64 - n, n * n - n),
                    "group-size" => share(losses.group_size - 1.0, n - 1.0),
                    "precision" => 1.0 - losses.precision,
                    "entropy" => losses.entropy.expect("computed above"),
                    other => panic!("{other} is no quality function"),
                };
        }
        sum / weights
    }
}

// ---- Negotiation, by definition ----

/// The best of all schemes that are allowed and suppress at most so many records.
pub fn best(naive: &Naive, request: &Request, n_max: u64, allowed: impl Fn(&[u8]) -> bool) -> Option<NaiveOffer> {
    let Request { criteria, best_by, .. } = request;
    let satisfying =
        naive.schemes.iter().filter(|scheme| allowed(&scheme.levels) && scheme.n_suppressed(criteria) <= n_max);
    fn rank<'a>(scheme: &'a NaiveScheme, criteria: &Criteria) -> (u32, u64, &'a [u8]) {
        (scheme.height(), scheme.n_suppressed(criteria), &scheme.levels)
    }
    if best_by.is_height() {
        let lowest = satisfying.min_by_key(|scheme| rank(scheme, criteria));
        return lowest.map(|scheme| naive.offer(scheme, criteria));
    }
    let mut ranked: Vec<(f64, &NaiveScheme)> =
        satisfying.map(|scheme| (naive.loss(scheme, criteria, best_by), scheme)).collect();
    ranked.sort_by(|(a, x), (b, y)| a.total_cmp(b).then_with(|| rank(x, criteria).cmp(&rank(y, criteria))));
    let least = ranked.first()?.0;
    let as_good = ranked.iter().take_while(|(loss, _)| *loss <= least + LOSS_TOLERANCE);
    let mut as_good = as_good.map(|(_, scheme)| naive.offer(scheme, criteria));
    as_good.next().map(|first| NaiveOffer { or: as_good.collect(), ..first })
}

/// The values that a criterion could be relaxed to, the strictest first.
fn weaker_values(naive: &Naive, criterion: Criterion, within: impl Fn(&[u8]) -> bool) -> Vec<u64> {
    let Criterion { measure, value: asked } = criterion;
    let million = measures::MILLION;
    let is_some_privacy = |value: u64| match measure {
        Measure::Size | Measure::Population | Measure::Distinct(_) => value >= 2,
        Measure::Entropy(_) => value > million,
        Measure::Share(_) | Measure::Closeness(_) => value < million,
        Measure::Recursive { .. } | Measure::Disclosure(_) | Measure::Likeness(_) | Measure::EnhancedLikeness(_) => {
            value <= 1_000 * million
        }
    };
    // Between the values that groups have, nothing changes.
    let acceptable = naive.schemes.iter().filter(|scheme| within(&scheme.levels));
    let of_groups = acceptable.flat_map(|scheme| &scheme.groups).map(|group| group.value(measure));
    let mut values: Vec<u64> = match measure {
        Measure::Size | Measure::Distinct(_) => (0..asked).collect(),
        _ => of_groups.collect::<BTreeSet<u64>>().into_iter().collect(),
    };
    values.retain(|&value| !is_met(criterion, value) && is_some_privacy(value));
    if is_at_least(measure) {
        values.reverse();
    }
    values
}

pub fn negotiate(naive: &Naive, request: &Request) -> NaiveAnswer {
    let Request { criteria, n_suppressed_max, .. } = request;
    let within = |levels: &[u8]| levels.iter().zip(request.level_max.levels()).all(|(&level, most)| level <= most.0);
    if let Some(offer) = best(naive, request, *n_suppressed_max, within) {
        return NaiveAnswer::Exact(offer);
    }
    let acceptable = || naive.schemes.iter().filter(|scheme| within(&scheme.levels));
    let n_least = acceptable().map(|scheme| scheme.n_suppressed(criteria)).min().expect("the finest is acceptable");
    let is_possible =
        |criteria: &Criteria| acceptable().any(|scheme| scheme.n_suppressed(criteria) <= *n_suppressed_max);
    // How much of what was asked is left, as a fraction, and the offer.
    let relaxed = |criterion: Criterion| {
        let relaxed_to = |value: u64| criteria.with(Criterion { value, ..criterion });
        let values = weaker_values(naive, criterion, within);
        let value = values.into_iter().find(|&value| is_possible(&relaxed_to(value)))?;
        let request = Request { criteria: relaxed_to(value), ..request.clone() };
        let left = if is_at_least(criterion.measure) { (value, criterion.value) } else { (criterion.value, value) };
        Some((left, best(naive, &request, *n_suppressed_max, within).expect("it is possible")))
    };
    let mut privacy: Vec<((u64, u64), NaiveOffer)> = criteria.iter().filter_map(relaxed).collect();
    // The smallest concession first, the earlier criterion where they tie: k'/k against l'/l.
    let product = |a: u64, b: u64| u128::from(a) * u128::from(b);
    privacy.sort_by(|(a, _), (b, _)| product(b.0, a.1).cmp(&product(a.0, b.1)));
    NaiveAnswer::Offers {
        suppression: best(naive, request, n_least, within).expect("one scheme suppresses the least"),
        height: best(naive, request, *n_suppressed_max, |_| true),
        privacy: privacy.into_iter().map(|(_, offer)| offer).collect(),
    }
}

/// The same, with the height offer of the thesis, Figure 4.8; ties, which it leaves open, by level vector.
pub fn negotiate_as_published(naive: &Naive, request: &Request) -> NaiveAnswer {
    let mut answer = negotiate(naive, request);
    if let NaiveAnswer::Offers { height, .. } = &mut answer {
        *height = height_as_published(naive, request);
    }
    answer
}

fn height_as_published(naive: &Naive, request: &Request) -> Option<NaiveOffer> {
    let satisfying_at = |height: i64| {
        let at_height = naive.schemes.iter().filter(move |scheme| i64::from(scheme.height()) == height);
        at_height.filter(|scheme| scheme.n_suppressed(&request.criteria) <= request.n_suppressed_max)
    };
    let mut h_low = i64::from(request.level_max.height());
    let mut h_high: i64 = naive.tops.iter().map(|&top| i64::from(top)).sum();
    let mut lowest = None;
    while h_low <= h_high {
        let h_current = (h_low + h_high) / 2;
        if satisfying_at(h_current).next().is_none() {
            h_low = h_current + 1;
        } else {
            lowest = Some(h_current);
            h_high = h_current - 1;
        }
    }
    let winner =
        satisfying_at(lowest?).min_by_key(|scheme| (scheme.n_suppressed(&request.criteria), &scheme.levels))?;
    Some(naive.offer(winner, &request.criteria))
}

// ---- Verification, by definition ----

/// What [`verify`] compares a release with.
#[derive(Clone, Debug, Default)]
pub struct NaiveOutside {
    /// By sensitive attribute; none where nothing is known.
    pub references: Option<Vec<NaiveReference>>,
    /// How many people share each group's published values.
    pub population: Option<BTreeMap<Vec<Cell>, u64>>,
}

impl NaiveOutside {
    /// The same, as the engine takes it.
    pub fn outside(&self, sensitive: &[Sensitive]) -> Outside {
        let original = |(reference, sensitive): (&NaiveReference, &Sensitive)| {
            let text = |cell: &Cell| cell.clone().unwrap_or_default();
            // All labels but the last, which is `*` for all.
            let labels = |labels: &Vec<Cell>| labels.iter().rev().skip(1).rev().map(text).collect::<Vec<_>>();
            let of_values = reference.counts.iter().zip(&reference.labels);
            Some(Original::new(
                &sensitive.attribute.name,
                reference.counts.iter().cloned().collect(),
                reference.distance,
                &of_values.map(|((value, _), of_value)| (value.clone(), labels(of_value))).collect(),
            ))
        };
        let references = self.references.iter().flatten();
        Outside {
            originals: references.zip(sensitive).map(original).collect(),
            population: self.population.clone().map(|people| people.into_iter().collect()),
        }
    }
}

/// Judges rows of which the first `n_attributes` cells are quasi-identifiers and the next ones are sensitive.
pub fn verify(
    rows: &[Vec<Cell>],
    n_attributes: usize,
    n_sensitive: usize,
    criteria: &Criteria,
    suppressed_as: SuppressedAs,
    outside: &NaiveOutside,
) -> Verdict {
    let is_marked = |row: &&Vec<Cell>| {
        let is_any = |cell: &Cell| cell.as_deref() == Some("*");
        suppressed_as == SuppressedAs::Absent && n_attributes > 0 && row[..n_attributes].iter().all(is_any)
    };
    let present: Vec<&Vec<Cell>> = rows.iter().filter(|row| !is_marked(row)).collect();
    let mut groups: BTreeMap<&[Cell], Seen> = BTreeMap::new();
    for row in &present {
        let labels = &row[..n_attributes];
        let n_people = || outside.population.as_ref().and_then(|people| people.get(labels)).copied().unwrap_or(0);
        let empty = || Seen { size: 0, population: n_people(), values: vec![Counts::new(); n_sensitive] };
        let seen = groups.entry(labels).or_insert_with(empty);
        seen.size += 1;
        let cells = seen.values.iter_mut().zip(&row[n_attributes..]);
        cells.for_each(|(counts, value)| *counts.entry(value.clone()).or_default() += 1);
    }
    let finding = |criterion: Criterion| {
        let is_judged = match criterion.measure {
            Measure::Population => outside.population.is_some(),
            Measure::Closeness(_) | Measure::Disclosure(_) | Measure::Likeness(_) | Measure::EnhancedLikeness(_) => {
                outside.references.is_some()
            }
            _ => true,
        };
        let references = outside.references.as_deref().unwrap_or(&[]);
        let reached: Vec<(u64, u64)> = groups
            .values()
            .filter(|_| is_judged)
            .map(|seen| (seen.size, measured(seen, criterion.measure, references)))
            .collect();
        let failing = || reached.iter().filter(|(_, value)| !is_met(criterion, *value));
        let values = reached.iter().map(|(_, value)| *value);
        Finding {
            criterion,
            is_judged,
            reached: if is_at_least(criterion.measure) { values.min() } else { values.max() },
            n_groups_failing: failing().count() as u64,
            n_records_failing: failing().map(|(size, _)| size).sum(),
            holds_for_records: None,
        }
    };
    Verdict {
        n_records: present.len() as u64,
        n_absent: (rows.len() - present.len()) as u64,
        n_groups: groups.len() as u64,
        smallest_group: groups.values().map(|seen| seen.size).min(),
        n_squares: groups.values().map(|seen| u128::from(seen.size) * u128::from(seen.size)).sum(),
        fewest_distinct: groups.values().filter_map(|seen| Some(seen.values.first()?.len() as u64)).min(),
        findings: criteria.iter().map(finding).collect(),
    }
}

// ---- Comparing ----

/// Losses are whole numbers of steps, so that each penalty is off by half of one at most.
const NCP_TOLERANCE: f64 = 1e-6;
/// Of entropies too; where there are few bits to lose, that is more of them.
pub const LOSS_TOLERANCE: f64 = 2e-5;

pub fn are_same_losses(losses: &Losses, naive: &Losses) -> bool {
    let is_near = |a: f64, b: f64, tolerance: f64| (a - b).abs() <= tolerance;
    is_near(losses.ncp, naive.ncp, NCP_TOLERANCE)
        && losses.discernibility == naive.discernibility
        && is_near(losses.group_size, naive.group_size, 1e-9)
        && is_near(losses.precision, naive.precision, 1e-9)
        && losses.entropy.is_none_or(|entropy| is_near(entropy, naive.entropy.expect("computed"), LOSS_TOLERANCE))
}

fn is_same_offer(offer: &Offer, naive: &NaiveOffer) -> bool {
    let is_same = offer.scheme.levels().iter().map(|level| level.0).eq(naive.levels.iter().copied())
        && offer.criteria == naive.criteria
        && offer.n_suppressed == naive.n_suppressed
        && offer.n_groups == naive.n_groups
        && offer.reached == naive.reached
        && are_same_losses(&offer.losses, &naive.losses);
    is_same || naive.or.iter().any(|other| is_same_offer(offer, other))
}

fn is_same_answer(answer: &Answer, naive: &NaiveAnswer) -> bool {
    let is_same = |offer: Option<&Offer>, naive: Option<&NaiveOffer>| match (offer, naive) {
        (Some(offer), Some(naive)) => is_same_offer(offer, naive),
        (offer, naive) => offer.is_none() && naive.is_none(),
    };
    match (answer, naive) {
        (Answer::Exact(offer), NaiveAnswer::Exact(naive)) => is_same_offer(offer, naive),
        (Answer::Offers(offers), NaiveAnswer::Offers { suppression, height, privacy }) => {
            is_same_offer(&offers.suppression, suppression)
                && is_same(offers.height.as_ref(), height.as_ref())
                && is_same(offers.privacy.as_ref(), privacy.first())
                && offers.privacy_alternatives.len() == privacy.len()
                && offers.privacy_alternatives.iter().zip(privacy).all(|(a, b)| is_same_offer(a, b))
        }
        _ => false,
    }
}

#[track_caller]
pub fn assert_same_offer(offer: &Offer, naive: &NaiveOffer) {
    assert!(is_same_offer(offer, naive), "offered {offer:#?}\nwhere the definition gives {naive:#?}");
}

/// Asks both for the answer to a request, the product's and the paper's.
#[track_caller]
pub fn assert_same_negotiation(lattice: &Lattice, naive: &Naive, request: &Request, context: &dyn std::fmt::Debug) {
    let answer = incrowd::negotiate(lattice, request).expect("a request with a meaning");
    let expected = negotiate(naive, request);
    assert!(
        is_same_answer(&answer, &expected),
        "{request:?} of {context:#?}\ngives {answer:#?}\nwhere the definition gives {expected:#?}"
    );
    if !request.best_by.is_height() {
        return;
    }
    let answer =
        incrowd::search::negotiate::negotiate_as_published(lattice, request).expect("a request with a meaning");
    let expected = negotiate_as_published(naive, request);
    assert!(
        is_same_answer(&answer, &expected),
        "{request:?} of {context:#?}\ngives, as published, {answer:#?}\nwhere Figure 4.8 gives {expected:#?}"
    );
}

/// The profile of a scheme is that of the groups that the definition finds.
#[track_caller]
pub fn assert_same_profile(lattice: &Lattice, naive: &NaiveScheme, context: &dyn std::fmt::Debug) {
    let entries = lattice.profile(lattice.schemes().place(&scheme(&naive.levels))).entries();
    let expected = naive.profile();
    let found: BTreeMap<Vec<u64>, (u64, f64)> = entries
        .iter()
        .map(|entry| {
            let loss = entry.loss as f64 / incrowd::loss::LOSS_ONE as f64;
            (lattice.signatures().of(entry.signature as usize).to_vec(), (u64::from(entry.n_groups), loss))
        })
        .collect();
    assert_eq!(found.len(), entries.len(), "every signature stands there once, at {:?} of {context:#?}", naive.levels);
    assert!(entries.is_sorted_by_key(|entry| entry.signature), "at {:?} of {context:#?}", naive.levels);
    let n_groups = |profile: &BTreeMap<Vec<u64>, (u64, f64)>| -> Vec<(Vec<u64>, u64)> {
        profile.iter().map(|(signature, (n_groups, _))| (signature.clone(), *n_groups)).collect()
    };
    let measures = lattice.signatures().measures();
    assert_eq!(n_groups(&found), n_groups(&expected), "{measures:?} at {:?} of {context:#?}", naive.levels);
    for ((n_groups, found), (_, loss)) in found.values().zip(expected.values()) {
        let is_near = (found - loss).abs() <= NCP_TOLERANCE * *n_groups as f64;
        assert!(is_near, "loss {found} instead of {loss} at {:?} of {context:#?}", naive.levels);
    }
}
