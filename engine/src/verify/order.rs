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

    /// Compares records of a batch, given by where each begins that says something else than the one before it, each with the
    /// one before it.
    pub(super) fn see(&mut self, columns: &[&Cells], starts: impl Iterator<Item = usize>) {
        let mut last = None;
        let (mut text, mut text_before) = (String::new(), String::new());
        for i in starts {
            let is_in_order = match last {
                // Of the batch before only the last record is known.
                None => {
                    let record = record_of(columns, i);
                    let before = self.before.take();
                    let mut pairs = before.iter().flat_map(|before| before.iter().zip(&record));
                    let first_difference = pairs.find(|(a, b)| a != b);
                    first_difference.is_none_or(|(a, b)| may_follow((b.0, &b.1), (a.0, &a.1), self.texts))
                }
                Some(before) => {
                    let mut differing = columns.iter().filter(|cells| is_stored_otherwise(cells, before, i));
                    differing
                        .find_map(|cells| {
                            let cell = cells.read(i, &mut text);
                            let cell_before = cells.read(before, &mut text_before);
                            let (cell, before) = ((cell, text.as_str()), (cell_before, text_before.as_str()));
                            // The same text may be stored in two ways.
                            (cell != before).then(|| may_follow(cell, before, self.texts))
                        })
                        .unwrap_or(true)
                }
            };
            self.n_out_of_order += u64::from(!is_in_order);
            last = Some(i);
        }
        if let Some(last) = last {
            self.before = Some(record_of(columns, last));
        }
    }
}

fn record_of(columns: &[&Cells], i: usize) -> Vec<(bool, String)> {
    let read = |cells: &&Cells| {
        let mut text = String::new();
        (cells.read(i, &mut text), text)
    };
    columns.iter().map(read).collect()
}

/// Whether two cells are stored in two ways; what is stored in one is the same.
pub(super) fn is_stored_otherwise(cells: &Cells, a: usize, b: usize) -> bool {
    let is_other =
        |nulls: &Option<NullBuffer>| nulls.as_ref().is_some_and(|nulls| nulls.is_null(a) != nulls.is_null(b));
    match cells {
        Cells::Integers(values, nulls) | Cells::Days(values, nulls) => values[a] != values[b] || is_other(nulls),
        Cells::Dictionary { keys, nulls, .. } => keys[a] != keys[b] || is_other(nulls),
        Cells::Utf8(_) | Cells::Rendered(_) | Cells::LargeUtf8(_) | Cells::Utf8View(_) => {
            cells.str_at(a) != cells.str_at(b)
        }
    }
}

/// By record, whether it says something else in one of these columns than the one before it; the first one does.
pub(super) fn differences(columns: &[Cells], n_records: usize) -> Vec<bool> {
    let mut differs = vec![false; n_records];
    differs.iter_mut().take(1).for_each(|first| *first = true);
    for cells in columns {
        mark_differences(cells, &mut differs);
    }
    differs
}

/// Stretches of records that say the same as the one before them.
pub(super) fn runs(differs: &[bool]) -> Vec<Range<usize>> {
    let n_records = differs.len();
    let starts = differs.iter().enumerate().filter(|(_, differs)| **differs).map(|(i, _)| i);
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
            mark_numbers(differs, values);
            nulls.as_ref()
        }
        Cells::Dictionary { keys, nulls, .. } => {
            mark_numbers(differs, keys);
            nulls.as_ref()
        }
        Cells::Utf8(array) => mark_texts(differs, *array),
        Cells::Rendered(array) => mark_texts(differs, array),
        Cells::LargeUtf8(array) => mark_texts(differs, *array),
        Cells::Utf8View(array) => mark_texts(differs, *array),
    };
    if let Some(nulls) = nulls {
        mark(differs, |i| nulls.is_null(i) != nulls.is_null(i - 1));
    }
}

/// Pair by pair, so that the compiler compares many at once.
fn mark_numbers<T: PartialEq>(differs: &mut [bool], values: &[T]) {
    for (differs, pair) in differs.iter_mut().skip(1).zip(values.windows(2)) {
        *differs |= pair[0] != pair[1];
    }
}

fn mark(differs: &mut [bool], is_other: impl Fn(usize) -> bool) {
    differs.iter_mut().enumerate().skip(1).for_each(|(i, differs)| *differs |= is_other(i));
}

fn mark_texts<'a>(differs: &mut [bool], array: impl ArrayAccessor<Item = &'a str>) -> Option<&'a NullBuffer> {
    mark(differs, |i| array.value(i) != array.value(i - 1) || array.is_null(i) != array.is_null(i - 1));
    None
}

/// Whether a record with this cell may come after one with that cell, where they are the first that differ.
fn may_follow(cell: (bool, &str), before: (bool, &str), texts: Texts) -> bool {
    let number = |(_, text): (bool, &str)| text.parse::<f64>().ok();
    let may_have_changed = || match (cell.0 && before.0, number(cell), number(before)) {
        (true, Some(number), Some(before)) => before <= number,
        (is_there, ..) => !is_there,
    };
    before < cell || (texts == Texts::AsRemembered && may_have_changed())
}
