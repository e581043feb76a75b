//! Whether a table is still the one that was read: hashes of files, fingerprints of what somebody else holds.

use arrow_array::{ArrayRef, RecordBatch};
use arrow_buffer::NullBuffer;
use incrowd::Result;
use incrowd::table::Cells;
use rayon::prelude::*;
use sha2::{Digest, Sha256};

use super::stream::{FilePlace, Packing, Stream};
use super::{Part, Source, csv, fingerprint, names, parquet};
use crate::input::digest::{changed, hex};

impl Source {
    /// The SHA-256 of each file that was read; of a table in memory, that of the CSV file that it would make.
    ///
    /// # Guarantee
    /// It is that of the content that every reading of this source has seen: a CSV file is hashed whenever it is read, and
    /// a reading that meets another content than the first is an error, as is a file of another kind, or of a source that
    /// is not hashed while it is read, that was written to.
    pub fn sha256(&self) -> Result<Vec<String>> {
        (0..self.parts.len()).map(|part| self.sha256_of_part(part)).collect()
    }

    fn sha256_of_part(&self, part: usize) -> Result<String> {
        let known = self.hashes[part].get();
        match &self.parts[part] {
            // Whoever holds a frame may have written to it; files are looked at whenever they are read.
            Part::Held { file: None, .. } if known.is_some() && self.fingerprint.get().is_some() => {
                self.check_same()?
            }
            Part::Held { file: None, .. } => {
                self.remember(part, self.sha256_of_frame()?)?;
                self.check_same()?;
            }
            // No file; what was counted there is known by its counts.
            Part::Database(_) => return Ok(String::new()),
            _ if known.is_some() => {}
            Part::Csv(csv::CsvFile { place, .. }) if self.is_hashed => self.remember(part, sha256_of_place(place)?)?,
            Part::Csv(csv::CsvFile { place, .. })
            | Part::Parquet(parquet::ParquetFile { place, .. })
            | Part::Held { file: Some(place), .. } => {
                let hash = sha256_of_place(place)?;
                place.check()?;
                self.remember(part, hash)?;
            }
        }
        Ok(self.hashes[part].get().expect("it was just remembered").clone())
    }

    /// Keeps the hash of the first reading, and refuses another content later.
    pub(super) fn remember(&self, part: usize, hash: String) -> Result<()> {
        match *self.hashes[part].get_or_init(|| hash.clone()) == hash {
            true => Ok(()),
            false => Err(changed(self.files()[part])),
        }
    }

    /// Takes the fingerprint of a table in memory, so that [`Source::check_same`] knows it again; before it is read.
    pub fn pin(&self) {
        if self.is_frame() {
            self.fingerprint.get_or_init(|| fingerprint::of(self.held()));
        }
    }

    fn held(&self) -> impl Iterator<Item = &RecordBatch> {
        self.parts.iter().flat_map(|part| match part {
            Part::Held { pieces, .. } => pieces.as_slice(),
            _ => &[],
        })
    }

    /// Refuses a table that is not the one that was read, for those who do not read it again.
    ///
    /// # Guarantee
    /// What it passes has the content of the reading before, as far as sizes and times of a file tell, or else its hash; and
    /// of a table in memory the fingerprint that was taken of it ([`Source::pin`]).
    pub fn check_same(&self) -> Result<()> {
        for (part, known) in self.parts.iter().zip(&self.hashes) {
            match part {
                Part::Parquet(file) => file.place.check()?,
                Part::Held { file: Some(place), .. } => place.check()?,
                Part::Held { file: None, name, .. } => match self.fingerprint.get() {
                    Some(known) if fingerprint::of(self.held()) != *known => return Err(changed(name)),
                    _ => {}
                },
                // Somebody may have written the same once more.
                Part::Csv(file) => match (file.place.check(), known.get()) {
                    (Err(_), Some(known)) if sha256_of_place(&file.place)? == *known => {}
                    (checked, _) => checked?,
                },
                // What was counted is one state of it, and a release of that state.
                Part::Database(_) => {}
            }
        }
        Ok(())
    }

    /// The texts of the file are made on all threads; a hash is made of them in their order.
    fn sha256_of_frame(&self) -> Result<String> {
        let mut hasher = Sha256::new();
        let mut header = Vec::new();
        let names = names(&self.stored);
        write_record(&mut header, names.len(), |i, line| write_field(names[i].as_bytes(), line));
        hasher.update(header);
        let pieces: Vec<&RecordBatch> = self.held().collect();
        for at_once in pieces.chunks(2 * rayon::current_num_threads()) {
            let texts: Vec<Vec<u8>> = at_once.par_iter().map(|batch| csv_of(&names, batch)).collect();
            texts.iter().for_each(|text| hasher.update(text));
        }
        Ok(hex(&hasher.finalize()))
    }
}

/// The lines that a batch would be in a CSV file.
fn csv_of(names: &[String], batch: &RecordBatch) -> Vec<u8> {
    let columns: Vec<Fields> =
        names.iter().zip(batch.columns()).map(|(name, column)| Fields::of(name, column)).collect();
    let mut lines = Vec::new();
    for record in 0..batch.num_rows() {
        write_record(&mut lines, columns.len(), |i, line| columns[i].write(record, line));
    }
    lines
}

/// A column, and how its fields are written.
enum Fields<'a> {
    /// A column of a type that cannot be read cannot be published either: it is hashed as empty.
    Empty,
    /// Each different value as it is written, by the number of each record's.
    Numbered {
        values: Vec<Vec<u8>>,
        keys: Vec<usize>,
        nulls: Option<NullBuffer>,
    },
    Others(Cells<'a>),
}

impl Fields<'_> {
    fn of<'a>(name: &str, column: &'a ArrayRef) -> Fields<'a> {
        match Cells::new(name, column) {
            Err(_) => Fields::Empty,
            Ok(Cells::Dictionary { keys, nulls, values }) => {
                let mut text = String::new();
                let value = |i: usize| {
                    let mut written = Vec::new();
                    if values.read(i, &mut text) {
                        write_field(text.as_bytes(), &mut written);
                    }
                    written
                };
                Fields::Numbered { values: (0..values.len()).map(value).collect(), keys, nulls }
            }
            Ok(cells) => Fields::Others(cells),
        }
    }

    #[inline]
    fn write(&self, record: usize, line: &mut Vec<u8>) {
        match self {
            Fields::Empty => {}
            Fields::Numbered { values, keys, nulls } => {
                if nulls.as_ref().is_none_or(|nulls| nulls.is_valid(record)) {
                    line.extend_from_slice(&values[keys[record]]);
                }
            }
            Fields::Others(Cells::Integers(values, nulls)) => {
                if nulls.as_ref().is_none_or(|nulls| nulls.is_valid(record)) {
                    write_number(values[record], line);
                }
            }
            Fields::Others(cells @ Cells::Days(..)) => {
                let mut text = String::new();
                cells.read(record, &mut text);
                line.extend_from_slice(text.as_bytes());
            }
            Fields::Others(cells) => {
                if let Some(text) = cells.str_at(record) {
                    write_field(text.as_bytes(), line);
                }
            }
        }
    }
}

/// Fields with what separates them. A line of one empty field has quotes, so that it is one.
fn write_record(lines: &mut Vec<u8>, n_fields: usize, mut write: impl FnMut(usize, &mut Vec<u8>)) {
    let start = lines.len();
    for i in 0..n_fields {
        if i > 0 {
            lines.push(b',');
        }
        write(i, lines);
    }
    if lines.len() == start {
        lines.extend_from_slice(b"\"\"");
    }
    lines.push(b'\n');
}

/// In quotes where it has to be.
#[inline]
fn write_field(text: &[u8], line: &mut Vec<u8>) {
    if !text.iter().any(|byte| matches!(byte, b',' | b'"' | b'\r' | b'\n')) {
        return line.extend_from_slice(text);
    }
    line.push(b'"');
    for &byte in text {
        if byte == b'"' {
            line.push(b'"');
        }
        line.push(byte);
    }
    line.push(b'"');
}

/// Digit by digit: what formats texts is several times as slow, and a table has many numbers.
fn write_number(number: i64, line: &mut Vec<u8>) {
    if number < 0 {
        line.push(b'-');
    }
    let (mut digits, mut at, mut left) = ([0; 20], 20, number.unsigned_abs());
    loop {
        at -= 1;
        digits[at] = b'0' + (left % 10) as u8;
        left /= 10;
        if left == 0 {
            break;
        }
    }
    line.extend_from_slice(&digits[at..]);
}

fn sha256_of_place(place: &FilePlace) -> Result<String> {
    let stream = Stream::unpacked(place, Packing::Plain)?.hashed();
    let hash = stream.sha256().map_err(|error| crate::io_error(&place.path, error))?;
    Ok(hash.expect("it was asked for"))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::types::Int32Type;
    use arrow_array::{
        BooleanArray, Date32Array, DictionaryArray, Float64Array, Int64Array, ListArray, StringArray, StringViewArray,
    };
    use proptest::prelude::*;

    use super::*;

    /// The same by a library, record by record.
    fn plainly(names: &[String], batch: &RecordBatch) -> Vec<u8> {
        let mut writer = ::csv::Writer::from_writer(Vec::new());
        for record in 0..batch.num_rows() {
            let field = |(name, column): (&String, &ArrayRef)| {
                let mut text = String::new();
                if let Ok(cells) = Cells::new(name, column) {
                    cells.read(record, &mut text);
                }
                text
            };
            writer.write_record(names.iter().zip(batch.columns()).map(field)).expect("memory");
        }
        writer.into_inner().expect("memory")
    }

    proptest! {
        #[test]
        fn a_frame_is_written_as_a_library_writes_csv(
            texts in prop::collection::vec(prop::option::of("[a,\"\r\n é]{0,5}"), 1..30),
            numbers in prop::collection::vec(prop::option::of(any::<i64>()), 30),
            kinds in prop::collection::vec(0..8usize, 1..4),
        ) {
            let n = texts.len();
            let numbers = &numbers[..n];
            let column = |kind: &usize| -> ArrayRef {
                let texts = || texts.iter().map(Option::as_deref);
                match kind {
                    0 => Arc::new(texts().collect::<StringArray>()),
                    1 => Arc::new(texts().collect::<StringViewArray>()),
                    2 => Arc::new(texts().collect::<DictionaryArray<Int32Type>>()),
                    3 => Arc::new(numbers.iter().copied().collect::<Int64Array>()),
                    4 => Arc::new(numbers.iter().map(|n| n.map(|n| n as f64 / 8.0)).collect::<Float64Array>()),
                    5 => Arc::new(numbers.iter().map(|n| n.map(|n| n % 2 == 0)).collect::<BooleanArray>()),
                    6 => Arc::new(numbers.iter().map(|n| n.map(|n| (n % 40_000) as i32)).collect::<Date32Array>()),
                    _ => Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(numbers.iter().map(|n| n.map(|_| [Some(1)])))),
                }
            };
            let names: Vec<String> = (0..kinds.len()).map(|i| format!("c{i}")).collect();
            let columns = names.iter().cloned().zip(kinds.iter().map(column)).map(|(name, column)| (name, column, true));
            let batch = RecordBatch::try_from_iter_with_nullable(columns).expect("columns of one length");
            prop_assert_eq!(String::from_utf8(csv_of(&names, &batch)), String::from_utf8(plainly(&names, &batch)));
            let part = batch.slice(n / 3, n - n / 3);
            prop_assert_eq!(csv_of(&names, &part), plainly(&names, &part));
        }
    }
}
