//! Tables of combinations: a column says how many records each row stands for.
//!
//! Whoever counts takes rows with their numbers; to everybody else they come as that many records.

use std::sync::Arc;

use arrow_array::{RecordBatch, UInt64Array};
use arrow_schema::Schema;
use arrow_select::take::take_record_batch;
use incrowd::table::Cells;
use incrowd::{Error, ErrorKind, Result};

use super::Source;
use crate::sentences::hint;

/// Records that a row becomes at once.
const N_EXPANDED: usize = 64 * 1024;

impl Source {
    /// The same where rows stand for as many records as a column says, which is none of the table's.
    pub fn counted_by(mut self, column: &str) -> Result<Source> {
        self.check_column(column)?;
        let others = self.schema.fields().iter().filter(|field| field.name() != column).cloned();
        self.schema = Arc::new(Schema::new_with_metadata(others.collect::<Vec<_>>(), self.schema.metadata().clone()));
        self.counted = Some(column.to_string());
        Ok(self)
    }

    /// Reads the named columns, batch after batch in the order of the table, as rows with their numbers; where a row is a
    /// record, there are none.
    pub fn for_each_numbered(
        &self,
        columns: &[String],
        mut visit: impl FnMut(RecordBatch, Option<Vec<u64>>, u64) -> Result<()>,
    ) -> Result<()> {
        // Which records of a person are left in is said of records.
        if !self.is_counted() || self.per_person.is_some() {
            return self.for_each(columns, |batch, n_bytes| visit(batch, None, n_bytes));
        }
        self.look_at_coarse(|_| Ok(()))?;
        let mut n_before = 0;
        self.for_each_row(&self.with_numbers(columns), |batch, n_bytes| {
            let (batch, numbers) = self.split_numbers(&batch, n_before)?;
            n_before += batch.num_rows() as u64;
            visit(batch, Some(numbers), n_bytes)
        })
    }

    pub(super) fn is_counted(&self) -> bool {
        self.counted.is_some()
    }

    /// The column that says how many records a row is: that of the table, or of what a database has counted.
    pub(super) fn number(&self) -> Option<&String> {
        self.counted.as_ref().or_else(|| self.table().map(|table| &table.number))
    }

    /// Whether a database counts before it answers, where numbers of records will do.
    pub(super) fn is_grouped(&self) -> bool {
        self.is_database() && !self.is_counted()
    }

    /// These columns, and the one with the numbers.
    pub(super) fn with_numbers(&self, columns: &[String]) -> Vec<String> {
        columns.iter().chain(&self.counted).cloned().collect()
    }

    /// A batch without its numbers, and these; where one is none, its place is found by reading from the beginning.
    pub(super) fn numbered_rows(&self, batch: &RecordBatch) -> Result<(RecordBatch, Vec<u64>)> {
        self.split_numbers(batch, 0).map_err(|error| {
            let mut n_before = 0;
            let numbers: Vec<String> = self.counted.iter().cloned().collect();
            let located = self.for_each_row(&numbers, |batch, _| {
                self.split_numbers(&batch, n_before)?;
                n_before += batch.num_rows() as u64;
                Ok(())
            });
            located.err().unwrap_or(error)
        })
    }

    /// A batch without its numbers, and these; so many rows of the table come before it.
    pub(super) fn split_numbers(&self, batch: &RecordBatch, n_before: u64) -> Result<(RecordBatch, Vec<u64>)> {
        let name = self.number().expect("asked where rows are counted");
        let (place, _) = batch.schema_ref().column_with_name(name).expect("it was read");
        let column = batch.column(place);
        let cells = Cells::new(name, column)?;
        let wrong = |row: usize, what: &str| {
            let row = n_before + row as u64 + 1;
            Error::new(ErrorKind::Data, format!("column '{name}' {what} in row {row} of the table"))
                .at(self.files()[0].display().to_string())
                .hint(hint("{data.counted} names the column that says how many records a row stands for: whole numbers from 1 on"))
        };
        let mut text = String::new();
        let number = |row: usize| {
            if !cells.read(row, &mut text) || text.is_empty() {
                return Err(wrong(row, "has no value"));
            }
            let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
            match text.parse::<u64>().ok().filter(|_| is_plain) {
                Some(0) => Err(wrong(row, "is 0")),
                Some(n) => Ok(n),
                None if is_plain => Err(wrong(row, "is too large")),
                None if text.starts_with('-') => Err(wrong(row, "is negative")),
                None => Err(wrong(row, "is no whole number")),
            }
        };
        let numbers = (0..batch.num_rows()).map(number).collect::<Result<Vec<u64>>>()?;
        let others: Vec<usize> = (0..batch.num_columns()).filter(|other| *other != place).collect();
        Ok((batch.project(&others).expect("the indices are those of its columns"), numbers))
    }
}

/// Visits every row as often as its number says, in pieces that fit into memory.
pub(super) fn expanded(
    batch: &RecordBatch,
    numbers: &[u64],
    mut n_bytes: u64,
    visit: &mut impl FnMut(RecordBatch, u64) -> Result<()>,
) -> Result<()> {
    let mut rows: Vec<u64> = Vec::new();
    let mut give = |rows: &mut Vec<u64>| {
        let taken = take_record_batch(batch, &UInt64Array::from(std::mem::take(rows)))
            .map_err(|error| Error::new(ErrorKind::Data, format!("rows cannot be repeated: {error}")))?;
        visit(taken, std::mem::take(&mut n_bytes))
    };
    for (row, &n) in numbers.iter().enumerate() {
        let mut n_left = n;
        while n_left > 0 {
            let n_now = n_left.min((N_EXPANDED - rows.len()) as u64);
            rows.extend(std::iter::repeat_n(row as u64, n_now as usize));
            n_left -= n_now;
            if rows.len() == N_EXPANDED {
                give(&mut rows)?;
            }
        }
    }
    if rows.is_empty() { Ok(()) } else { give(&mut rows) }
}
