//! Tables to test with, and the definitions of everything that is tested, written as plainly as possible.
//!
//! The definitions share no code with the engine: they compare texts record by record, look at every scheme
//! and sort what they find. What they take from the engine are plain data: criteria, requests, verdicts.

#![allow(dead_code)] // Every test file uses its own part of this.

pub mod random;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use incrowd::criterion::Criterion;
use incrowd::hierarchy::LabelTable;
use incrowd::lattice::Effort;
use incrowd::recode::global;
use incrowd::release::{Column, Publisher};
use incrowd::verify::{Finding, SuppressedAs};
use incrowd::{
    Answer, Counter, Criteria, GroupCounts, Hierarchy, Lattice, Level, Missing, Offer, Request, Rule, Scheme, Verdict,
};

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

/// A table with all that a project says about it.
///
/// A record has one cell per quasi-identifier, then one for the sensitive attribute if there is one,
/// then one for a column without a role if there is one.
#[derive(Clone, Debug)]
pub struct Table {
    pub quasi_identifiers: Vec<Attribute>,
    pub has_sensitive: bool,
    pub has_note: bool,
    pub missing: Missing,
    pub records: Vec<Vec<Cell>>,
}

/// What the engine makes of a table.
pub struct Made {
    pub counts: GroupCounts,
    pub hierarchies: Vec<Hierarchy>,
    pub weights: Vec<f64>,
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

impl Table {
    pub fn names(&self) -> Vec<&str> {
        let names = self.quasi_identifiers.iter().map(|attribute| attribute.name.as_str());
        names.chain(self.has_sensitive.then_some(SENSITIVE)).chain(self.has_note.then_some(NOTE)).collect()
    }

    pub fn quasi_identifier_names(&self) -> Vec<&str> {
        self.quasi_identifiers.iter().map(|attribute| attribute.name.as_str()).collect()
    }

    pub fn sensitive_name(&self) -> Option<&'static str> {
        self.has_sensitive.then_some(SENSITIVE)
    }

    pub fn batch(&self) -> RecordBatch {
        batch(&self.names(), &self.records)
    }

    pub fn counter(&self) -> Counter {
        Counter::new(&self.quasi_identifier_names(), self.sensitive_name(), &self.missing)
    }

    pub fn counts(&self) -> GroupCounts {
        let mut counter = self.counter();
        counter.push(&self.batch()).expect("columns of texts");
        counter.finish()
    }

    pub fn make(&self) -> Made {
        let counts = self.counts();
        let rules = self.quasi_identifiers.iter().map(Attribute::rule);
        let hierarchies: Vec<Hierarchy> =
            rules.zip(counts.domains()).map(|(rule, domain)| rule.resolve(domain).expect("a complete tree")).collect();
        let weights: Vec<f64> = self.quasi_identifiers.iter().map(|attribute| attribute.weight).collect();
        let lattice = incrowd::annotate(&counts, &hierarchies, &weights, &Effort::default()).expect("a small lattice");
        Made { counts, hierarchies, weights, lattice }
    }
}

/// Publishes a scheme of a table in two batches, and returns the rows of the release in order.
pub fn publish(table: &Table, made: &Made, levels: &[u8], criteria: Criteria) -> (Vec<Vec<Cell>>, u64, u64) {
    let recoding = global::recode(&made.counts, &made.hierarchies, &scheme(levels), criteria);
    let recoded = table.quasi_identifier_names().into_iter().enumerate();
    let recoded = recoded.map(|(a, name)| Column::Recoded(a, name.to_string()));
    let kept = table.names().into_iter().skip(table.quasi_identifiers.len()).map(|name| Column::Kept(name.to_string()));
    let columns = recoded.chain(kept).collect();
    let mut publisher = Publisher::new(&made.counts, &recoding, &table.missing, columns);
    let batch = table.batch();
    let n_first = batch.num_rows() / 3;
    let parts = [batch.slice(0, n_first), batch.slice(n_first, batch.num_rows() - n_first)];
    let mut rows = Vec::new();
    for part in parts {
        rows.extend(publisher.recode(&part).expect("the table did not change"));
    }
    rows.sort();
    let cells: Vec<Vec<Cell>> = rows.iter().map(|row| row.cells()).collect();
    (cells, publisher.n_suppressed(), publisher.n_dropped())
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
pub fn counts_of(names: &[&str], sensitive: Option<&str>, missing: &Missing, rows: &[Vec<Cell>]) -> GroupCounts {
    let columns: Vec<&str> = names.iter().copied().chain(sensitive).collect();
    let mut counter = Counter::new(names, sensitive, missing);
    counter.push(&batch(&columns, rows)).expect("columns of texts");
    counter.finish()
}

pub fn k(value: u64) -> Criteria {
    Criteria { k: Some(value), l: None }
}

pub fn l(value: u64) -> Criteria {
    Criteria { k: None, l: Some(value) }
}

pub fn k_and_l(k: u64, l: u64) -> Criteria {
    Criteria { k: Some(k), l: Some(l) }
}

pub fn scheme(levels: &[u8]) -> Scheme {
    Scheme::new(levels.iter().map(|&level| Level(level)).collect())
}

// ---- What a table is, by definition ----

/// A table as the definitions see it: every record with its labels, every scheme with its groups.
pub struct Naive {
    pub records: Vec<NaiveRecord>,
    pub n_dropped: u64,
    /// How many different sensitive values there are.
    pub n_sensitive: usize,
    pub tops: Vec<u8>,
    /// In the order of their level vectors.
    pub schemes: Vec<NaiveScheme>,
}

pub struct NaiveRecord {
    /// By attribute and level; none is a value that is missing and published as such.
    pub labels: Vec<Vec<Cell>>,
    /// By attribute and level, how much of the value is lost, from 0 to 1.
    pub penalties: Vec<Vec<f64>>,
    pub sensitive: Option<Cell>,
    pub note: Option<Cell>,
}

pub struct NaiveScheme {
    pub levels: Vec<u8>,
    pub groups: Vec<NaiveGroup>,
}

pub struct NaiveGroup {
    pub size: u64,
    pub n_distinct: u64,
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
    pub smallest_group: Option<u64>,
    pub fewest_distinct: Option<u64>,
    pub ncp: f64,
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
        let is_kept = |record: &&Vec<Cell>| !table.missing.drop_records || record.iter().all(Cell::is_some);
        let kept: Vec<Vec<Cell>> = all.iter().filter(is_kept).cloned().collect();
        let n_dropped = (all.len() - kept.len()) as u64;

        // By attribute, for every value that occurs: its labels and what they cost, by level.
        let mut labels_of: Vec<HashMap<Cell, Vec<Cell>>> = Vec::new();
        let mut penalties_of: Vec<HashMap<Cell, Vec<f64>>> = Vec::new();
        for (a, attribute) in table.quasi_identifiers.iter().enumerate() {
            let values: BTreeSet<Cell> = kept.iter().map(|record| record[a].clone()).collect();
            let labels: HashMap<Cell, Vec<Cell>> =
                values.iter().map(|value| (value.clone(), attribute.labels(value, &table.missing))).collect();
            let penalty_at = |value: &Cell, level: usize| {
                let is_alike = |other: &&Cell| labels[*other][level] == labels[value][level];
                penalty(&values.iter().collect::<Vec<_>>(), &values.iter().filter(is_alike).collect::<Vec<_>>())
            };
            let penalties = |value: &Cell| (0..labels[value].len()).map(|level| penalty_at(value, level)).collect();
            penalties_of.push(values.iter().map(|value| (value.clone(), penalties(value))).collect());
            labels_of.push(labels);
        }
        let naive_record = |record: &Vec<Cell>| NaiveRecord {
            labels: (0..n_attributes).map(|a| labels_of[a][&record[a]].clone()).collect(),
            penalties: (0..n_attributes).map(|a| penalties_of[a][&record[a]].clone()).collect(),
            sensitive: table.has_sensitive.then(|| record[n_attributes].clone()),
            note: table.has_note.then(|| record[n_attributes + usize::from(table.has_sensitive)].clone()),
        };
        let records: Vec<NaiveRecord> = kept.iter().map(naive_record).collect();

        let top = |attribute: &Attribute| attribute.labels(&None, &table.missing).len() as u8 - 1;
        let tops: Vec<u8> = table.quasi_identifiers.iter().map(top).collect();
        let weights: Vec<f64> = table.quasi_identifiers.iter().map(|attribute| attribute.weight).collect();
        let schemes = all_level_vectors(&tops)
            .into_iter()
            .map(|levels| NaiveScheme { groups: groups(&records, &levels, &weights), levels })
            .collect();
        let sensitive_values: HashSet<_> = records.iter().filter_map(|record| record.sensitive.as_ref()).collect();
        Naive { n_sensitive: sensitive_values.len(), records, n_dropped, tops, schemes }
    }

    pub fn n_records(&self) -> u64 {
        self.records.len() as u64
    }

    pub fn scheme(&self, levels: &[u8]) -> &NaiveScheme {
        self.schemes.iter().find(|scheme| scheme.levels == levels).expect("all schemes are there")
    }

    /// What would be published: for every record of a group that holds, its labels and its other cells.
    pub fn published(&self, levels: &[u8], criteria: Criteria) -> Vec<Vec<Cell>> {
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

fn groups(records: &[NaiveRecord], levels: &[u8], weights: &[f64]) -> Vec<NaiveGroup> {
    let mut members_of: HashMap<Vec<Option<&str>>, Vec<usize>> = HashMap::new();
    for (i, record) in records.iter().enumerate() {
        let labels = levels.iter().enumerate().map(|(a, &level)| record.labels[a][level as usize].as_deref());
        members_of.entry(labels.collect()).or_default().push(i);
    }
    let group = |members: Vec<usize>| {
        let distinct: HashSet<&Cell> = members.iter().filter_map(|&i| records[i].sensitive.as_ref()).collect();
        let first = &records[members[0]];
        let weighted: f64 =
            levels.iter().enumerate().map(|(a, &level)| first.penalties[a][level as usize] * weights[a]).sum();
        NaiveGroup {
            size: members.len() as u64,
            n_distinct: distinct.len() as u64,
            loss: weighted / weights.iter().sum::<f64>(),
            members,
        }
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
    pub fn holds(&self, criteria: Criteria) -> bool {
        criteria.k.is_none_or(|k| self.size >= k) && criteria.l.is_none_or(|l| self.n_distinct >= l)
    }
}

impl NaiveScheme {
    pub fn height(&self) -> u32 {
        self.levels.iter().map(|&level| u32::from(level)).sum()
    }

    pub fn n_suppressed(&self, criteria: Criteria) -> u64 {
        self.groups.iter().filter(|group| !group.holds(criteria)).map(|group| group.size).sum()
    }

    pub fn offer(&self, criteria: Criteria) -> NaiveOffer {
        let published: Vec<&NaiveGroup> = self.groups.iter().filter(|group| group.holds(criteria)).collect();
        let n_records: u64 = self.groups.iter().map(|group| group.size).sum();
        let n_suppressed = self.n_suppressed(criteria);
        let lost: f64 = published.iter().map(|group| group.loss * group.size as f64).sum();
        NaiveOffer {
            levels: self.levels.clone(),
            criteria,
            n_suppressed,
            n_groups: published.len() as u64,
            smallest_group: published.iter().map(|group| group.size).min(),
            fewest_distinct: published.iter().map(|group| group.n_distinct).min(),
            ncp: if n_records == 0 { 0.0 } else { (lost + n_suppressed as f64) / n_records as f64 },
        }
    }

    /// Groups by size and number of distinct sensitive values: how many, and their losses summed.
    pub fn profile(&self) -> BTreeMap<(u64, u64), (u64, f64)> {
        let mut profile = BTreeMap::new();
        for group in &self.groups {
            let (n_groups, loss) = profile.entry((group.size, group.n_distinct)).or_insert((0, 0.0));
            *n_groups += 1;
            *loss += group.loss;
        }
        profile
    }
}

// ---- Negotiation, by definition ----

/// The best of all schemes that are allowed and suppress at most so many records.
fn best(naive: &Naive, criteria: Criteria, n_max: u64, allowed: impl Fn(&[u8]) -> bool) -> Option<NaiveOffer> {
    naive
        .schemes
        .iter()
        .filter(|scheme| allowed(&scheme.levels) && scheme.n_suppressed(criteria) <= n_max)
        .min_by_key(|scheme| (scheme.height(), scheme.n_suppressed(criteria), &scheme.levels))
        .map(|scheme| scheme.offer(criteria))
}

pub fn negotiate(naive: &Naive, request: &Request) -> NaiveAnswer {
    let Request { criteria, n_suppressed_max, .. } = *request;
    let within = |levels: &[u8]| levels.iter().zip(request.level_max.levels()).all(|(&level, most)| level <= most.0);
    if let Some(offer) = best(naive, criteria, n_suppressed_max, within) {
        return NaiveAnswer::Exact(offer);
    }
    let acceptable = naive.schemes.iter().filter(|scheme| within(&scheme.levels));
    let n_least = acceptable.map(|scheme| scheme.n_suppressed(criteria)).min().expect("the finest is acceptable");
    let lowered = |criteria_of: &dyn Fn(u64) -> Criteria, asked: u64| {
        let mut values = (2..asked).rev();
        let found = values.find_map(|value| Some((value, best(naive, criteria_of(value), n_suppressed_max, within)?)));
        found.map(|(value, offer)| (value, asked, offer))
    };
    let lower_k = criteria.k.and_then(|asked| lowered(&|k| Criteria { k: Some(k), ..criteria }, asked));
    let lower_l = criteria.l.and_then(|asked| lowered(&|l| Criteria { l: Some(l), ..criteria }, asked));
    // The smaller concession first: k'/k against l'/l.
    let privacy = match (lower_k, lower_l) {
        (Some(k), Some(l)) if l.0 * k.1 > k.0 * l.1 => vec![l.2, k.2],
        (lower_k, lower_l) => lower_k.into_iter().chain(lower_l).map(|(_, _, offer)| offer).collect(),
    };
    NaiveAnswer::Offers {
        suppression: best(naive, criteria, n_least, within).expect("one scheme suppresses the least"),
        height: best(naive, criteria, n_suppressed_max, |_| true),
        privacy,
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
        at_height.filter(|scheme| scheme.n_suppressed(request.criteria) <= request.n_suppressed_max)
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
    let winner = satisfying_at(lowest?).min_by_key(|scheme| (scheme.n_suppressed(request.criteria), &scheme.levels))?;
    Some(winner.offer(request.criteria))
}

// ---- Verification, by definition ----

/// Judges rows of which the first `n_attributes` cells are quasi-identifiers and the next one may be sensitive.
pub fn verify(
    rows: &[Vec<Cell>],
    n_attributes: usize,
    has_sensitive: bool,
    criteria: Criteria,
    suppressed_as: SuppressedAs,
) -> Verdict {
    let is_marked = |row: &&Vec<Cell>| {
        let is_any = |cell: &Cell| cell.as_deref() == Some("*");
        suppressed_as == SuppressedAs::Absent && n_attributes > 0 && row[..n_attributes].iter().all(is_any)
    };
    let present: Vec<&Vec<Cell>> = rows.iter().filter(|row| !is_marked(row)).collect();
    let mut groups: BTreeMap<&[Cell], Vec<&Vec<Cell>>> = BTreeMap::new();
    for row in &present {
        groups.entry(&row[..n_attributes]).or_default().push(row);
    }
    let sizes: Vec<u64> = groups.values().map(|group| group.len() as u64).collect();
    let distinct: Vec<u64> = groups
        .values()
        .map(|group| {
            let sensitive: HashSet<&Cell> =
                group.iter().filter(|_| has_sensitive).map(|row| &row[n_attributes]).collect();
            sensitive.len() as u64
        })
        .collect();
    let finding = |criterion: Criterion, asked: u64, reached: &[u64]| {
        let failing = || sizes.iter().zip(reached).filter(move |(_, reached)| **reached < asked);
        Finding {
            criterion,
            reached: reached.iter().copied().min(),
            n_groups_failing: failing().count() as u64,
            n_records_failing: failing().map(|(size, _)| size).sum(),
        }
    };
    let of_k = criteria.k.map(|k| finding(Criterion::KAnonymity(k), k, &sizes));
    let of_l = criteria.l.map(|l| finding(Criterion::DistinctDiversity(l), l, &distinct));
    Verdict {
        n_records: present.len() as u64,
        n_absent: (rows.len() - present.len()) as u64,
        n_groups: groups.len() as u64,
        smallest_group: sizes.iter().copied().min(),
        fewest_distinct: distinct.iter().copied().min().filter(|_| has_sensitive),
        findings: of_k.into_iter().chain(of_l).collect(),
    }
}

// ---- Comparing ----

const NCP_TOLERANCE: f64 = 1e-6;

fn is_same_offer(offer: &Offer, naive: &NaiveOffer) -> bool {
    offer.scheme.levels().iter().map(|level| level.0).eq(naive.levels.iter().copied())
        && offer.criteria == naive.criteria
        && offer.n_suppressed == naive.n_suppressed
        && offer.n_groups == naive.n_groups
        && offer.smallest_group == naive.smallest_group
        && offer.fewest_distinct.map(u64::from) == naive.fewest_distinct
        && (offer.ncp - naive.ncp).abs() <= NCP_TOLERANCE
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
    let answer = incrowd::negotiate::negotiate_as_published(lattice, request).expect("a request with a meaning");
    let expected = negotiate_as_published(naive, request);
    assert!(
        is_same_answer(&answer, &expected),
        "{request:?} of {context:#?}\ngives, as published, {answer:#?}\nwhere Figure 4.8 gives {expected:#?}"
    );
}

/// Every profile of the lattice is that of the groups that the definition finds.
#[track_caller]
pub fn assert_same_profile(profile: &incrowd::profile::Profile, naive: &NaiveScheme, context: &dyn std::fmt::Debug) {
    let expected = naive.profile();
    let found: Vec<_> = profile
        .entries()
        .iter()
        .map(|entry| (entry.size, u64::from(entry.n_distinct), u64::from(entry.n_groups)))
        .collect();
    let defined: Vec<_> =
        expected.iter().map(|(&(size, n_distinct), &(n_groups, _))| (size, n_distinct, n_groups)).collect();
    assert_eq!(found, defined, "(size, distinct, groups) at {:?} of {context:#?}", naive.levels);
    for (entry, (n_groups, loss)) in profile.entries().iter().zip(expected.values()) {
        let found = entry.loss as f64 / incrowd::loss::ONE as f64;
        let is_near = (found - loss).abs() <= NCP_TOLERANCE * *n_groups as f64;
        assert!(is_near, "loss {found} instead of {loss} at {:?} of {context:#?}", naive.levels);
    }
}
