//! Tables of files that are read whole: cells as texts, each different text once, with what the files say of their columns.

use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::StringDictionaryBuilder;
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{Field, Schema, SchemaRef};
use incrowd::table::date_text;
use incrowd::{Error, ErrorKind, Result};

use super::csv::text_type;
use super::options::Encoding;
use super::pieces_of;
use super::said::Said;
use crate::note::Note;

/// A table that is being read.
pub(super) struct Held {
    fields: Vec<Field>,
    columns: Vec<StringDictionaryBuilder<Int32Type>>,
    n_records: usize,
    notes: Vec<Note>,
}

/// A table that was read whole.
pub(super) struct Whole {
    pub schema: SchemaRef,
    /// The records in pieces that are looked at together.
    pub pieces: Vec<RecordBatch>,
    /// What had to be found out about it.
    pub notes: Vec<Note>,
}

impl Held {
    /// Columns by name, with what the file says of them.
    pub fn new(columns: impl IntoIterator<Item = (String, Said)>) -> Held {
        let field = |(name, said): (String, Said)| said.on(Field::new(name, text_type(), true));
        let fields: Vec<Field> = columns.into_iter().map(field).collect();
        let columns = fields.iter().map(|_| StringDictionaryBuilder::new()).collect();
        Held { fields, columns, n_records: 0, notes: Vec::new() }
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

    /// Remembers how texts were written, if that was guessed and mattered.
    pub fn guessed(&mut self, decoder: &Decoder) {
        if decoder.has_guessed.get() {
            self.notes.push(Note::Encoding { encoding: Encoding::Windows1252.name() });
        }
    }

    pub fn finish(mut self) -> Whole {
        let schema = Arc::new(Schema::new(self.fields));
        let arrays: Vec<ArrayRef> =
            self.columns.iter_mut().map(|column| Arc::new(column.finish()) as ArrayRef).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(self.n_records));
        let batch = RecordBatch::try_new_with_options(schema.clone(), arrays, &options)
            .expect("every column got one cell per record");
        Whole { schema, pieces: pieces_of(&[batch]), notes: self.notes }
    }
}

/// A computer's number as people write it.
pub(crate) fn number_text(number: f64) -> String {
    match number.fract() == 0.0 && number.abs() < 1e15 {
        true => format!("{}", number as i64),
        false => format!("{number}"),
    }
}

/// A moment that is so many seconds after the beginning of a day, as `2019-12-31T23:59:00`.
pub(super) fn moment_text(days: i64, seconds: f64) -> String {
    // Rounded before it is split: the last half of a millisecond belongs to the next day.
    let milliseconds = (seconds * 1000.0).round() as i64;
    let (day, within) = (days + milliseconds.div_euclid(86_400_000), milliseconds.rem_euclid(86_400_000));
    let (whole, rest) = (within / 1000, within % 1000);
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

/// Makes texts of bytes: as the file says that they are written, or as somebody said, or by a guess.
pub(super) struct Decoder {
    /// None where it is guessed.
    encoding: Option<&'static encoding_rs::Encoding>,
    has_guessed: Cell<bool>,
}

impl Decoder {
    pub fn said(encoding: &'static encoding_rs::Encoding) -> Decoder {
        Decoder { encoding: Some(encoding), has_guessed: Cell::new(false) }
    }

    /// For files that do not say it: UTF-8 where a text is that, else Windows-1252.
    pub fn guessing(said: Option<Encoding>) -> Decoder {
        Decoder { encoding: said.map(Encoding::known), has_guessed: Cell::new(false) }
    }

    pub fn text(&self, bytes: &[u8]) -> String {
        match (self.encoding, std::str::from_utf8(bytes)) {
            (Some(encoding), _) => encoding.decode_without_bom_handling(bytes).0.into_owned(),
            (None, Ok(text)) => text.to_string(),
            (None, Err(_)) => {
                self.has_guessed.set(true);
                Encoding::Windows1252.known().decode_without_bom_handling(bytes).0.into_owned()
            }
        }
    }
}

/// A text in a place of fixed size, which a zero ends.
pub(super) fn until_zero(bytes: &[u8]) -> &[u8] {
    &bytes[..memchr::memchr(0, bytes).unwrap_or(bytes.len())]
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

    /// Goes on behind these bytes, where they are what comes next.
    pub fn expect(&mut self, expected: &[u8]) -> Option<()> {
        (self.bytes.get(self.at..)?.starts_with(expected)).then(|| self.at += expected.len())
    }

    /// So many pieces of the same size.
    pub fn list(&mut self, n: usize, n_bytes: usize) -> Option<Vec<&'a [u8]>> {
        Some(self.take(n.checked_mul(n_bytes)?)?.chunks_exact(n_bytes).collect())
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

pub(super) type ReadTable = Result<Whole>;
