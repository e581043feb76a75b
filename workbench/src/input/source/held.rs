//! Tables of files that are read whole: cells as texts, each different text once, with what the files say of their columns.

use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::StringDictionaryBuilder;
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{Field, Schema, SchemaRef};
use incrowd::table::date_text;
use incrowd::{Error, ErrorKind, Result};

use super::csv::text_type;
use super::pieces_of;

/// What a column's label is called in the metadata of its field.
const LABEL: &str = "label";

/// A table that is being read.
pub(super) struct Held {
    fields: Vec<Field>,
    columns: Vec<StringDictionaryBuilder<Int32Type>>,
    n_records: usize,
}

impl Held {
    /// Columns by name, with what the file calls them at length.
    pub fn new(columns: impl IntoIterator<Item = (String, String)>) -> Held {
        let field = |(name, label): (String, String)| {
            let field = Field::new(name, text_type(), true);
            match label.is_empty() {
                true => field,
                false => field.with_metadata([(LABEL.to_string(), label)]),
            }
        };
        let fields: Vec<Field> = columns.into_iter().map(field).collect();
        let columns = fields.iter().map(|_| StringDictionaryBuilder::new()).collect();
        Held { fields, columns, n_records: 0 }
    }

    /// The next cell of a column; none where there is no value.
    pub fn push(&mut self, column: usize, text: Option<&str>) {
        match text {
            Some(text) => self.columns[column].append_value(text),
            None => self.columns[column].append_null(),
        }
    }

    /// A record has all of its cells.
    pub fn end_record(&mut self) {
        self.n_records += 1;
    }

    /// The columns, and the records in pieces that are looked at together.
    pub fn finish(mut self) -> (SchemaRef, Vec<RecordBatch>) {
        let schema = Arc::new(Schema::new(self.fields));
        let arrays: Vec<ArrayRef> =
            self.columns.iter_mut().map(|column| Arc::new(column.finish()) as ArrayRef).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(self.n_records));
        let batch = RecordBatch::try_new_with_options(schema.clone(), arrays, &options)
            .expect("every column got one cell per record");
        (schema, pieces_of(&[batch]))
    }
}

/// A computer's number as people write it.
pub(super) fn number_text(number: f64) -> String {
    match number.fract() == 0.0 && number.abs() < 1e15 {
        true => format!("{}", number as i64),
        false => format!("{number}"),
    }
}

/// A moment that is so many seconds after the beginning of a day, as `2019-12-31T23:59:00`.
pub(super) fn moment_text(days: i64, seconds: f64) -> String {
    let day = days + (seconds / 86_400.0).floor() as i64;
    let within = seconds.rem_euclid(86_400.0);
    let milliseconds = (within * 1000.0).round() as i64;
    let (whole, rest) = (milliseconds / 1000, milliseconds % 1000);
    let fraction = if rest == 0 { String::new() } else { format!(".{rest:03}") };
    let (hour, minute, second) = (whole / 3600, whole / 60 % 60, whole % 60);
    format!("{}T{hour:02}:{minute:02}:{second:02}{fraction}", date_text(day))
}

/// A time of day or a span of time, as `23:59:00`.
pub(super) fn time_text(seconds: f64) -> String {
    let whole = seconds.abs().round() as i64;
    let sign = if seconds < 0.0 { "-" } else { "" };
    format!("{sign}{:02}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60)
}

/// The error for a file that is not as its first bytes say.
pub(super) fn damaged(format: &str, path: &Path) -> Error {
    Error::new(ErrorKind::Data, format!("cannot be read as {format}"))
        .at(path.display().to_string())
        .hint("the file may be damaged or cut off")
}

/// Numbers and texts out of bytes, in either order of bytes.
pub(super) struct Cursor<'a> {
    pub bytes: &'a [u8],
    pub at: usize,
    pub is_big: bool,
}

impl<'a> Cursor<'a> {
    pub fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let taken = self.bytes.get(self.at..self.at.checked_add(n)?)?;
        self.at += n;
        Some(taken)
    }

    /// A whole number of up to eight bytes, without a sign.
    pub fn unsigned(&mut self, n: usize) -> Option<u64> {
        let bytes = self.take(n)?;
        let digit = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
        Some(match self.is_big {
            true => bytes.iter().fold(0, digit),
            false => bytes.iter().rev().fold(0, digit),
        })
    }

    pub fn i32(&mut self) -> Option<i32> {
        self.unsigned(4).map(|number| number as u32 as i32)
    }

    pub fn size(&mut self) -> Option<usize> {
        self.i32().and_then(|number| usize::try_from(number).ok())
    }

    pub fn f64(&mut self) -> Option<f64> {
        self.unsigned(8).map(f64::from_bits)
    }
}

pub(super) type Table = Result<(SchemaRef, Vec<RecordBatch>)>;
