//! The independent check: does a published table keep its promise, judged from that table alone?
//!
//! Deliberately plain. It counts texts in ordinary maps and shares no counting code with what made the release,
//! so that a mistake there cannot hide here.

use std::collections::{HashMap, HashSet};

use arrow_array::RecordBatch;

use crate::criterion::{Criteria, Criterion, Group};
use crate::error::{ErrorKind, Result, unknown};
use crate::hierarchy::ANY;
use crate::table::Cells;

/// What records are that are `*` in every quasi-identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuppressedAs {
    /// A group like any other: the file is judged as it stands.
    Group,
    /// Not there: the file marks suppressed records in this way instead of leaving them out.
    Absent,
}

/// Counts the groups of a published table, batch after batch.
pub struct Verifier {
    quasi_identifiers: Vec<String>,
    sensitive: Option<String>,
    suppressed_as: SuppressedAs,
    groups: HashMap<Vec<Option<String>>, (u64, HashSet<Option<String>>)>,
    n_records: u64,
    n_absent: u64,
}

/// Whether a table keeps its promise, with the numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub n_records: u64,
    /// Records that were treated as suppressed.
    pub n_absent: u64,
    pub n_groups: u64,
    pub smallest_group: Option<u64>,
    pub fewest_distinct: Option<u64>,
    pub findings: Vec<Finding>,
}

/// One criterion: what was asked, what the table reaches, and how much of it falls short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finding {
    pub criterion: Criterion,
    /// The greatest value that every group satisfies; none when there is no group.
    pub reached: Option<u64>,
    pub n_groups_failing: u64,
    pub n_records_failing: u64,
}

impl Finding {
    pub fn holds(&self) -> bool {
        self.n_groups_failing == 0
    }
}

impl Verdict {
    /// A table of which nothing was asked has kept no promise.
    pub fn holds(&self) -> bool {
        !self.findings.is_empty() && self.findings.iter().all(Finding::holds)
    }
}

impl Verifier {
    pub fn new(quasi_identifiers: &[String], sensitive: Option<&str>, suppressed_as: SuppressedAs) -> Verifier {
        Verifier {
            quasi_identifiers: quasi_identifiers.to_vec(),
            sensitive: sensitive.map(str::to_string),
            suppressed_as,
            groups: HashMap::new(),
            n_records: 0,
            n_absent: 0,
        }
    }

    /// Looks at the records of one batch, which holds the attributes by name.
    pub fn push(&mut self, batch: &RecordBatch) -> Result<()> {
        let schema = batch.schema();
        let cells_of = |name: &String| {
            let column = batch.column_by_name(name).ok_or_else(|| {
                let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
                unknown(ErrorKind::Data, "column", name, &names)
            })?;
            Cells::new(name, column)
        };
        let columns: Vec<Cells> = self.quasi_identifiers.iter().map(cells_of).collect::<Result<_>>()?;
        let sensitive = self.sensitive.as_ref().map(cells_of).transpose()?;
        let mut text = String::new();
        let mut read = |cells: &Cells, record: usize| cells.read(record, &mut text).then(|| text.clone());
        for record in 0..batch.num_rows() {
            let values: Vec<Option<String>> = columns.iter().map(|cells| read(cells, record)).collect();
            let is_suppressed = !values.is_empty() && values.iter().all(|value| value.as_deref() == Some(ANY));
            if is_suppressed && self.suppressed_as == SuppressedAs::Absent {
                self.n_absent += 1;
                continue;
            }
            self.n_records += 1;
            let (size, distinct) = self.groups.entry(values).or_default();
            *size += 1;
            if let Some(sensitive) = &sensitive {
                distinct.insert(read(sensitive, record));
            }
        }
        Ok(())
    }

    /// Judges all records that were pushed.
    ///
    /// # Guarantee
    /// The verdict holds if and only if every group of the table satisfies every criterion.
    pub fn verdict(&self, criteria: Criteria) -> Verdict {
        let groups =
            || self.groups.values().map(|(size, distinct)| Group { size: *size, n_distinct: distinct.len() as u32 });
        let finding = |criterion: Criterion| {
            let failing = || groups().filter(|&group| !criterion.holds(group));
            Finding {
                criterion,
                reached: groups().map(|group| criterion.reached(group)).min(),
                n_groups_failing: failing().count() as u64,
                n_records_failing: failing().map(|group| group.size).sum(),
            }
        };
        Verdict {
            n_records: self.n_records,
            n_absent: self.n_absent,
            n_groups: self.groups.len() as u64,
            smallest_group: groups().map(|group| group.size).min(),
            fewest_distinct: self
                .sensitive
                .as_ref()
                .and_then(|_| groups().map(|group| u64::from(group.n_distinct)).min()),
            findings: criteria.iter().map(finding).collect(),
        }
    }
}
