//! The order of records, and records that say what the one before them says.

use std::ops::Range;

use arrow_array::ArrayAccessor;
use arrow_buffer::NullBuffer;

use crate::table::Cells;

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
pub(super) struct Order {
    pub(super) columns: Vec<String>,
    texts: Texts,
    /// The record before, as whether there is a value and its text; none before the first.
    before: Option<Vec<(bool, String)>>,
    pub(super) n_out_of_order: u64,
}

impl Order {
    pub(super) fn of(columns: &[String], texts: Texts) -> Order {
        Order { columns: columns.to_vec(), texts, before: None, n_out_of_order: 0 }
    }

    /// Compares a record of a batch with the one that was seen before it.
    pub(super) fn see(&mut self, columns: &[&Cells], i: usize) {
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
pub(super) fn runs(columns: &[Cells], n_records: usize) -> Vec<Range<usize>> {
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
