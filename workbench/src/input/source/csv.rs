//! CSV: where its fields and its columns are, and what is said where they are not.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema, SchemaRef};
use incrowd::{Error, ErrorKind, Result};

use super::chunks::{Broken, Chunk, Chunks};
use super::content::encoding_of;
use super::options::{DELIMITERS, Encoding, ReadOptions};
use super::records::{Bad, BadRecord, Layout};
use super::stream::{FilePlace, Packing, Stream, unpacking_error};
use crate::sentences::hint;

/// A CSV file, and how to read it.
#[derive(Clone)]
pub(super) struct CsvFile {
    pub place: FilePlace,
    pub packing: Packing,
    pub encoding: Encoding,
    /// Whether the encoding was found out, and is not what one takes for granted.
    pub is_unusual: bool,
    pub delimiter: u8,
}

/// What texts are read as: codes and the texts that they stand for.
pub(super) fn text_type() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
}

/// Finds out how a CSV file is written and what its columns are; `start` are its first bytes, unpacked.
pub(super) fn open(
    place: FilePlace,
    packing: Packing,
    start: &[u8],
    options: &ReadOptions,
) -> Result<(CsvFile, SchemaRef)> {
    let position = place.path.display().to_string();
    let (encoding, is_unusual) = match options.encoding {
        Some(encoding) => (encoding, false),
        None => encoding_of(start, &place.path)?,
    };
    // What was looked at may end within a character, which is left out of the header then.
    let (text, ..) = encoding.known().decode_with_bom_removal(start);
    let first_line = text.lines().next().unwrap_or("");
    if text.trim_matches(['\r', '\n']).is_empty() {
        return Err(Error::new(ErrorKind::Data, "is empty")
            .at(position)
            .hint("a table begins with a line of column names"));
    }
    let delimiter = options.delimiter.unwrap_or_else(|| sniff(first_line.as_bytes()));
    if !delimiter.is_ascii() {
        return Err(Error::new(ErrorKind::Data, "no text has such a separator")
            .at(position)
            .hint(hint("name one character with {data.delimiter}, or \"tab\"")));
    }
    let file = CsvFile { place, packing, encoding, is_unusual, delimiter };
    let names = named(file.header()?, &position)?;
    let fields: Vec<Field> = names.into_iter().map(|name| Field::new(name, text_type(), true)).collect();
    Ok((file, Arc::new(Schema::new(fields))))
}

/// The names with one for each column that has none, as programs write that number their records: `column 1`. Refused where
/// most have none, for then the line is a title.
fn named(mut names: Vec<String>, position: &str) -> Result<Vec<String>> {
    let unnamed: Vec<usize> = (0..names.len()).filter(|index| names[*index].is_empty()).collect();
    if let Some(first) = unnamed.first().filter(|_| 2 * unnamed.len() > names.len()) {
        return Err(Error::new(ErrorKind::Data, format!("column {} has no name", first + 1))
            .at(format!("{position}:1"))
            .hint("the first line must name the columns"));
    }
    for index in unnamed {
        let mut name = format!("column {}", index + 1);
        while names.contains(&name) {
            name.push('_');
        }
        names[index] = name;
    }
    Ok(names)
}

impl CsvFile {
    /// The file from its beginning, in pieces, and hashed where that is wanted.
    pub fn chunks(&self, is_hashed: bool) -> Result<Chunks<Stream>> {
        let stream = Stream::open(&self.place, self.packing, self.encoding)?;
        Ok(Chunks::new(if is_hashed { stream.hashed() } else { stream }, self.delimiter))
    }

    /// The names of the columns.
    fn header(&self) -> Result<Vec<String>> {
        let stream = Stream::open(&self.place, self.packing, self.encoding)?;
        let mut chunks = Chunks::of_size(stream, self.delimiter, 1 << 16);
        let chunk = chunks.next().map_err(|broken| self.broken(broken))?;
        let bytes = chunk.map_or(Vec::new(), |mut chunk| std::mem::take(&mut chunk.bytes));
        let mut reader = ::csv::ReaderBuilder::new().delimiter(self.delimiter).from_reader(bytes.as_slice());
        let header = reader.byte_headers().map_err(|_| self.wrong("is not CSV"))?;
        let mut names = Vec::new();
        for (field, name) in header.iter().enumerate() {
            let name = std::str::from_utf8(name).map_err(|_| self.not_utf8(&[], field, 1))?;
            names.push(name.to_string());
        }
        Ok(names)
    }

    /// Which fields are wanted.
    pub fn layout(&self, schema: &Schema, columns: &[String]) -> Layout {
        let wanted = |index: &usize| columns.contains(schema.field(*index).name());
        let indices: Vec<usize> = (0..schema.fields().len()).filter(wanted).collect();
        let mut place = vec![None; schema.fields().len()];
        indices.iter().enumerate().for_each(|(at, &index)| place[index] = Some(at));
        let schema = Arc::new(schema.project(&indices).expect("the indices are those of the schema"));
        Layout { delimiter: self.delimiter, n_fields: place.len(), place, schema }
    }

    fn wrong(&self, what: &str) -> Error {
        Error::new(ErrorKind::Data, what).at(self.place.path.display().to_string())
    }

    fn at_line(&self, line: u64) -> String {
        format!("{}:{line}", self.place.path.display())
    }

    pub fn broken(&self, broken: Broken) -> Error {
        match broken {
            Broken::Quote { line } => Error::new(ErrorKind::Data, "a quote is not closed where its field ends")
                .at(self.at_line(line))
                .hint("close it, or write a quote within a quoted field twice"),
            Broken::Io(error) if self.encoding != Encoding::Utf8 && error.to_string().contains("throughout") => self
                .wrong(&format!("the text is not {} throughout", self.encoding.name()))
                .hint(hint("name how it is written with {data.encoding}")),
            Broken::Io(error) if self.packing == Packing::Plain => crate::io_error(&self.place.path, error),
            Broken::Io(error) => unpacking_error(&self.place.path, error),
        }
    }

    /// What is wrong with a record of a piece, and on which line it begins.
    pub fn bad(&self, chunk: &Chunk, bad: &Bad, names: &[String]) -> Error {
        let line = chunk.line + memchr::memchr_iter(b'\n', &chunk.bytes[..bad.at]).count() as u64;
        self.bad_line(line, &bad.what, names)
    }

    /// The same of a record that begins on that line.
    pub fn bad_line(&self, line: u64, what: &BadRecord, names: &[String]) -> Error {
        match *what {
            BadRecord::Fields(n) => {
                Error::new(ErrorKind::Data, format!("has {n} fields where the header has {}", names.len()))
                    .at(self.at_line(line))
                    .hint(hint("quote fields that contain the separator, or name it with {data.delimiter}"))
            }
            BadRecord::Encoding(field) => self.not_utf8(names, field, line),
        }
    }

    fn not_utf8(&self, names: &[String], field: usize, line: u64) -> Error {
        let column = names.get(field).map_or(format!("column {}", field + 1), |name| format!("column '{name}'"));
        Error::new(ErrorKind::Data, format!("{column} is not UTF-8"))
            .at(self.at_line(line))
            .hint(hint("name how the file is written, for example with {data.encoding=windows-1252}"))
    }
}

/// The separator that the header uses most, outside quotes.
fn sniff(first_line: &[u8]) -> u8 {
    let mut in_quotes = false;
    let mut counts = DELIMITERS.map(|known| (known, 0));
    for &byte in first_line {
        in_quotes ^= byte == b'"';
        if !in_quotes {
            counts.iter_mut().filter(|(known, _)| *known == byte).for_each(|(_, n)| *n += 1);
        }
    }
    counts.iter().rev().max_by_key(|(_, n)| *n).map_or(b',', |(delimiter, n)| if *n == 0 { b',' } else { *delimiter })
}
