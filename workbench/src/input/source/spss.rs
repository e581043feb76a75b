//! Files of SPSS: `.sav`, plain or compressed, and `.zsav`; codes as their labels, and the missing values that they declare.
//!
//! The format is described at <https://www.gnu.org/software/pspp/pspp-dev/html_node/System-File-Format.html>.

use std::collections::HashMap;
use std::io::Read;

use incrowd::table::{date_text, days_of_date};

use super::held::{Cursor, Held, ReadTable, damaged, moment_text, number_text, time_text};
use super::options::{Encoding, Labels, ReadOptions};
use super::said::Said;
use super::stream::FilePlace;

const SPSS: &str = "SPSS";

/// The number that means "no value".
const NOTHING: f64 = -f64::MAX;

pub(super) fn open(place: &FilePlace, options: &ReadOptions) -> ReadTable {
    let mut bytes = Vec::new();
    place.bytes()?.read_to_end(&mut bytes).map_err(|error| crate::io_error(&place.path, error))?;
    let table = dictionary(&bytes).and_then(|dictionary| dictionary.table(&bytes, options));
    table.map(Held::finish).ok_or_else(|| damaged(SPSS, &place.path))
}

/// A variable, as the file describes it.
struct Variable {
    name: String,
    label: String,
    /// 0 of a number, otherwise how many bytes the text has.
    width: usize,
    /// How many places of eight bytes it has in a record.
    n_places: usize,
    /// Where its places begin.
    place: usize,
    format: u8,
    missing: Vec<MissingValue>,
    labels: Vec<([u8; 8], String)>,
}

enum MissingValue {
    Number(f64),
    Range(f64, f64),
    Text([u8; 8]),
}

struct Dictionary {
    is_big: bool,
    compression: i32,
    bias: f64,
    n_records: Option<usize>,
    n_places: usize,
    variables: Vec<Variable>,
    encoding: &'static encoding_rs::Encoding,
    data_at: usize,
}

/// Reads everything before the records.
fn dictionary(bytes: &[u8]) -> Option<Dictionary> {
    let is_big = matches!(bytes.get(64..68)?, [0, 0, 0, 2 | 3]);
    let mut cursor = Cursor { bytes, at: 68, is_big };
    let _places = cursor.i32()?;
    let compression = cursor.i32()?;
    let _weight = cursor.i32()?;
    let n_records = usize::try_from(cursor.i32()?).ok();
    let bias = cursor.f64()?;
    cursor.take(9 + 8 + 64 + 3)?;
    let mut raw = Raw::default();
    loop {
        match cursor.i32()? {
            2 => raw.variable(&mut cursor)?,
            3 => raw.value_labels(&mut cursor)?,
            6 => {
                let n_lines = cursor.size()?;
                cursor.take(n_lines.checked_mul(80)?)?;
            }
            7 => {
                let (kind, size, count) = (cursor.i32()?, cursor.size()?, cursor.size()?);
                raw.extensions.insert(kind, cursor.take(size.checked_mul(count)?)?.to_vec());
            }
            999 => {
                cursor.i32()?;
                break;
            }
            _ => return None,
        }
    }
    let encoding = raw.encoding(is_big);
    let n_places = raw.n_places;
    let variables = raw.variables(encoding);
    Some(Dictionary { is_big, compression, bias, n_records, n_places, variables, encoding, data_at: cursor.at })
}

/// Variables as they stand in the file, before their long names and lengths are known.
#[derive(Default)]
struct Raw {
    variables: Vec<RawVariable>,
    n_places: usize,
    /// The labels of values, and the places of the variables that have them.
    labels: Vec<(Vec<([u8; 8], Vec<u8>)>, Vec<usize>)>,
    extensions: HashMap<i32, Vec<u8>>,
}

struct RawVariable {
    name: String,
    label: Vec<u8>,
    width: usize,
    place: usize,
    format: u8,
    missing: Vec<MissingValue>,
}

impl Raw {
    fn variable(&mut self, cursor: &mut Cursor) -> Option<()> {
        let (kind, has_label, n_missing) = (cursor.i32()?, cursor.i32()?, cursor.i32()?);
        let format = (cursor.i32()? >> 16) as u8;
        cursor.i32()?;
        let name = String::from_utf8_lossy(cursor.take(8)?).trim_end().to_string();
        let mut label = Vec::new();
        if has_label == 1 {
            let n = cursor.size()?;
            label = cursor.take(n)?.to_vec();
            cursor.take(n.next_multiple_of(4) - n)?;
        }
        let mut values = Vec::new();
        for _ in 0..n_missing.unsigned_abs() {
            values.push(<[u8; 8]>::try_from(cursor.take(8)?).ok()?);
        }
        let place = self.n_places;
        self.n_places += 1;
        // A text goes on in places of its own.
        let Ok(width) = usize::try_from(kind) else { return Some(()) };
        let is_big = cursor.is_big;
        let number = |bytes: &[u8; 8]| if is_big { f64::from_be_bytes(*bytes) } else { f64::from_le_bytes(*bytes) };
        let missing = match (&values[..], n_missing < 0) {
            ([low, high, rest @ ..], true) => std::iter::once(MissingValue::Range(number(low), number(high)))
                .chain(rest.iter().map(|value| MissingValue::Number(number(value))))
                .collect(),
            (values, _) if width == 0 => values.iter().map(|value| MissingValue::Number(number(value))).collect(),
            (values, _) => values.iter().map(|value| MissingValue::Text(*value)).collect(),
        };
        self.variables.push(RawVariable { name, label, width, place, format, missing });
        Some(())
    }

    fn value_labels(&mut self, cursor: &mut Cursor) -> Option<()> {
        let mut labels = Vec::new();
        for _ in 0..cursor.size()? {
            let value = <[u8; 8]>::try_from(cursor.take(8)?).ok()?;
            let n = usize::from(cursor.take(1)?[0]);
            labels.push((value, cursor.take(n)?.to_vec()));
            cursor.take((n + 1).next_multiple_of(8) - n - 1)?;
        }
        if cursor.i32()? != 4 {
            return None;
        }
        let mut places = Vec::new();
        for _ in 0..cursor.size()? {
            places.push(cursor.size()?.checked_sub(1)?);
        }
        self.labels.push((labels, places));
        Some(())
    }

    /// How texts are written: by its name, or by its number, or as files did before either was said.
    fn encoding(&self, is_big: bool) -> &'static encoding_rs::Encoding {
        let named = self.extensions.get(&20).and_then(|name| encoding_rs::Encoding::for_label(name));
        let number = self.extensions.get(&3).and_then(|bytes| Cursor { bytes, at: 28, is_big }.i32());
        named.unwrap_or(match number {
            Some(65001) => encoding_rs::UTF_8,
            Some(1250) => encoding_rs::WINDOWS_1250,
            Some(1251) => encoding_rs::WINDOWS_1251,
            Some(28592) => encoding_rs::ISO_8859_2,
            Some(28605) => encoding_rs::ISO_8859_15,
            _ => Encoding::Windows1252.known(),
        })
    }

    /// Pairs that extensions list as `SHORT=value`, separated by a mark.
    fn pairs(&self, kind: i32, encoding: &'static encoding_rs::Encoding) -> HashMap<String, String> {
        let bytes = self.extensions.get(&kind).map_or(&[][..], Vec::as_slice);
        let (text, ..) = encoding.decode(bytes);
        let pairs = text.split(['\t', '\0']).filter_map(|pair| pair.split_once('='));
        pairs.map(|(short, value)| (short.to_string(), value.to_string())).collect()
    }

    fn variables(self, encoding: &'static encoding_rs::Encoding) -> Vec<Variable> {
        let text = |bytes: &[u8]| encoding.decode(bytes).0.trim_end().to_string();
        let (long_names, long_widths) = (self.pairs(13, encoding), self.pairs(14, encoding));
        let mut variables: Vec<Variable> = Vec::new();
        let mut is_segment_until = 0;
        for raw in self.variables {
            if raw.place < is_segment_until {
                continue;
            }
            let long_width = long_widths.get(&raw.name).and_then(|width| width.parse::<usize>().ok());
            let n_places = match long_width {
                // A text of more than 255 bytes goes on in segments that look like variables.
                Some(width) => (width.div_ceil(252) - 1) * 32 + (width - 252 * (width.div_ceil(252) - 1)).div_ceil(8),
                None => raw.width.div_ceil(8).max(1),
            };
            is_segment_until = raw.place + n_places;
            let labels = self.labels.iter().filter(|(_, places)| places.contains(&raw.place));
            let labels = labels.flat_map(|(labels, _)| labels.iter().map(|(value, label)| (*value, text(label))));
            variables.push(Variable {
                name: long_names.get(&raw.name).cloned().unwrap_or_else(|| raw.name.clone()),
                label: text(&raw.label),
                width: long_width.unwrap_or(raw.width),
                n_places,
                place: raw.place,
                format: raw.format,
                missing: raw.missing,
                labels: labels.collect(),
            });
        }
        variables
    }
}

impl Dictionary {
    fn table(&self, bytes: &[u8], options: &ReadOptions) -> Option<Held> {
        let mut held = Held::new(self.variables.iter().map(|variable| self.described(variable, options.labels)));
        let data = bytes.get(self.data_at..)?;
        let unpacked;
        let data = match self.compression {
            0 => data,
            1 => {
                unpacked = self.unpacked(data)?;
                &unpacked
            }
            2 => {
                unpacked = self.unpacked(&inflated(bytes, self.data_at, self.is_big)?)?;
                &unpacked
            }
            _ => return None,
        };
        let n_record_bytes = self.n_places.checked_mul(8).filter(|n| *n > 0)?;
        if self.n_records.is_some_and(|n| n != data.len() / n_record_bytes) || data.len() % n_record_bytes != 0 {
            return None;
        }
        for record in data.chunks_exact(n_record_bytes) {
            for (column, variable) in self.variables.iter().enumerate() {
                let cell = &record[variable.place * 8..][..variable.n_places * 8];
                held.push(column, self.cell(variable, cell, options.labels).as_deref());
            }
            held.end_record();
        }
        Some(held)
    }

    fn described(&self, variable: &Variable, labels: Labels) -> (String, Said) {
        let code = |(value, label): &([u8; 8], String)| {
            let number = if self.is_big { f64::from_be_bytes(*value) } else { f64::from_le_bytes(*value) };
            (number.fract() == 0.0 && number.abs() < 2e9).then(|| (number as i32, label.clone()))
        };
        let is_read_as_labels = labels == Labels::Labels && variable.width == 0;
        let codes = variable.labels.iter().filter(|_| is_read_as_labels).filter_map(code).collect();
        (variable.name.clone(), Said { label: variable.label.clone(), codes })
    }

    /// What a cell says; none where it has no value.
    fn cell(&self, variable: &Variable, bytes: &[u8], labels: Labels) -> Option<String> {
        let first = <[u8; 8]>::try_from(&bytes[..8]).expect("a place has eight bytes");
        let label = || {
            let known = variable.labels.iter().find(|(value, _)| *value == first);
            known.filter(|_| labels == Labels::Labels && variable.width <= 8).map(|(_, label)| label.clone())
        };
        if variable.width > 0 {
            let is_missing = |missing: &MissingValue| matches!(missing, MissingValue::Text(value) if *value == first);
            if variable.width <= 8 && variable.missing.iter().any(is_missing) {
                return None;
            }
            // Of a segment of 256 bytes, 255 are text.
            let text: Vec<u8> = match variable.width > 255 {
                true => bytes.chunks(256).flat_map(|segment| &segment[..segment.len().min(255)]).copied().collect(),
                false => bytes.to_vec(),
            };
            let text = &text[..variable.width.min(text.len())];
            let text = self.encoding.decode_without_bom_handling(text).0.trim_end().to_string();
            return label().or_else(|| Some(text).filter(|text| !text.is_empty()));
        }
        let number = if self.is_big { f64::from_be_bytes(first) } else { f64::from_le_bytes(first) };
        let is_missing = |missing: &MissingValue| match missing {
            MissingValue::Number(value) => *value == number,
            MissingValue::Range(low, high) => (*low..=*high).contains(&number),
            MissingValue::Text(_) => false,
        };
        if number == NOTHING || number.is_nan() || variable.missing.iter().any(is_missing) {
            return None;
        }
        Some(label().unwrap_or_else(|| formatted(number, variable.format)))
    }

    /// The numbers and texts of records that are written in short: a byte for each, and the rest where that is not enough.
    fn unpacked(&self, data: &[u8]) -> Option<Vec<u8>> {
        let bytes_of = |number: f64| if self.is_big { number.to_be_bytes() } else { number.to_le_bytes() };
        let mut unpacked = Vec::with_capacity(data.len() * 3);
        let mut cursor = Cursor { bytes: data, at: 0, is_big: self.is_big };
        while cursor.at < data.len() {
            for &code in cursor.take(8)? {
                match code {
                    0 => {}
                    252 => return Some(unpacked),
                    253 => unpacked.extend_from_slice(cursor.take(8)?),
                    254 => unpacked.extend_from_slice(b"        "),
                    255 => unpacked.extend_from_slice(&bytes_of(NOTHING)),
                    code => unpacked.extend_from_slice(&bytes_of(f64::from(code) - self.bias)),
                }
            }
        }
        Some(unpacked)
    }
}

/// The blocks of a `.zsav` file, inflated.
fn inflated(bytes: &[u8], at: usize, is_big: bool) -> Option<Vec<u8>> {
    let mut header = Cursor { bytes, at, is_big };
    header.unsigned(8)?;
    let mut trailer = Cursor { bytes, at: usize::try_from(header.unsigned(8)?).ok()?, is_big };
    trailer.take(8 + 8 + 4)?;
    let mut inflated = Vec::new();
    for _ in 0..trailer.size()? {
        trailer.unsigned(8)?;
        let at = usize::try_from(trailer.unsigned(8)?).ok()?;
        let (n_inflated, n_deflated) = (trailer.size()?, trailer.size()?);
        let block = bytes.get(at..at.checked_add(n_deflated)?)?;
        let before = inflated.len();
        flate2::read::ZlibDecoder::new(block).take(n_inflated as u64).read_to_end(&mut inflated).ok()?;
        if inflated.len() - before != n_inflated {
            return None;
        }
    }
    Some(inflated)
}

/// A number as its format shows it: dates are seconds since the calendar of today began.
fn formatted(number: f64, format: u8) -> String {
    let first_day = days_of_date(1582, 10, 14);
    match format {
        20 | 23 | 24 | 28 | 29 | 30 | 38 | 39 => date_text(first_day + (number / 86_400.0).floor() as i64),
        22 | 41 => moment_text(first_day, number),
        21 | 25 => time_text(number),
        _ => number_text(number),
    }
}
