//! Tables to test with, and the definitions of everything that is tested, written as plainly as possible.
//!
//! The definitions share no code with the engine: they compare texts record by record, look at every scheme
//! and sort what they find. What they take from the engine are plain data: criteria, requests, verdicts.

#![allow(dead_code, unused_imports)] // Every test file uses its own part of this.

pub mod measures;
pub mod random;
mod naive;
mod naive_negotiation;
mod naive_verification;
mod same;

pub use naive::*;
pub use naive_negotiation::*;
pub use naive_verification::*;
pub use same::*;

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
