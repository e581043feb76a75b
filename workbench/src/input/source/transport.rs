//! Transport files of SAS, `.xpt`, in versions 5 and 8: what agencies ask for and survey institutes give away.
//!
//! The formats are described in SAS's technical notes TS-140 and "Record Layout of a SAS Version 8 Data Set".

use std::io::Read;
use std::path::Path;

use incrowd::{Error, ErrorKind};

use super::held::{Cursor, Decoder, Held, ReadTable, damaged};
use super::options::ReadOptions;
use super::said::Said;
use super::sas::trimmed;
use super::sas_formats::Shown;
use super::stream::FilePlace;

const TRANSPORT: &str = "a transport file of SAS";
const N_LINE: usize = 80;

pub(super) fn open(place: &FilePlace, options: &ReadOptions) -> ReadTable {
    let mut bytes = Vec::new();
    place.bytes()?.read_to_end(&mut bytes).map_err(|error| crate::io_error(&place.path, error))?;
    check_single(&bytes, &place.path)?;
    let table = read(&bytes, Decoder::guessing(options.encoding));
    table.map(Held::finish).ok_or_else(|| damaged(TRANSPORT, &place.path))
}

/// Refuses a file with several tables: nobody says which is meant.
fn check_single(bytes: &[u8], path: &Path) -> incrowd::Result<()> {
    let is_member = |line: &&[u8]| header(line).is_some_and(|(name, _)| name.starts_with(b"MEMB"));
    match bytes.chunks(N_LINE).filter(is_member).count() {
        0 | 1 => Ok(()),
        n => Err(Error::new(ErrorKind::Data, format!("holds {n} tables"))
            .at(path.display().to_string())
            .hint("write the one that is meant to a file of its own, or as CSV or Parquet")),
    }
}

/// What a line says that begins a part of the file, and the digits behind it.
fn header(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let rest = line.strip_prefix(b"HEADER RECORD*******")?;
    let (name, rest) = rest.split_at_checked(8)?;
    rest.strip_prefix(b"HEADER RECORD!!!!!!!").map(|digits| (name, digits))
}

struct Variable {
    name: String,
    label: String,
    is_number: bool,
    start: usize,
    n: usize,
    shown_as: Shown,
}

fn read(bytes: &[u8], decoder: Decoder) -> Option<Held> {
    let mut cursor = Cursor { bytes, at: 0, is_big: true };
    let mut variables = Vec::new();
    let mut n_records = None;
    // What comes before the records, part by part.
    loop {
        let (name, digits) = header(cursor.take(N_LINE)?)?;
        match name {
            b"LIBRARY " | b"LIBV8   " | b"MEMBER  " | b"MEMBV8  " | b"DSCRPTR " | b"DSCPTV8 " => {
                // Two lines that say who wrote it and when, where they are not the next header.
                while header(cursor.bytes.get(cursor.at..)?.get(..N_LINE)?).is_none() {
                    cursor.take(N_LINE)?;
                }
            }
            b"NAMESTR " | b"NAMSTV8 " => {
                let is_long = name == b"NAMSTV8 ";
                let n = number_in(digits.get(..10)?)?;
                let start = cursor.at;
                let mut at = 0;
                for _ in 0..n {
                    let variable = variable(cursor.take(140)?, at, is_long, &decoder)?;
                    at += variable.n;
                    variables.push(variable);
                }
                cursor.at = start + (cursor.at - start).next_multiple_of(N_LINE);
            }
            b"LABELV8 " | b"LABELV9 " => {
                let start = cursor.at;
                for _ in 0..number_in(digits)? {
                    let place = (cursor.unsigned(2)? as usize).checked_sub(1)?;
                    let (n_name, n_label) = (cursor.unsigned(2)? as usize, cursor.unsigned(2)? as usize);
                    let n_formats = match name == b"LABELV9 " {
                        true => cursor.unsigned(2)? as usize + cursor.unsigned(2)? as usize,
                        false => 0,
                    };
                    let long_name = decoder.text(trimmed(cursor.take(n_name)?));
                    let label = decoder.text(trimmed(cursor.take(n_label)?));
                    cursor.take(n_formats)?;
                    let variable: &mut Variable = variables.get_mut(place)?;
                    (variable.name, variable.label) = (long_name, label);
                }
                cursor.at = start + (cursor.at - start).next_multiple_of(N_LINE);
            }
            b"OBS     " => break,
            b"OBSV8   " => {
                n_records = number_in(digits.get(..15)?).filter(|n| *n > 0);
                break;
            }
            _ => return None,
        }
    }
    let n_record_bytes = variables.last().map(|variable| variable.start + variable.n)?;
    let data = bytes.get(cursor.at..)?;
    let records = data.get(..n_record_bytes * n_records.unwrap_or_else(|| n_records_of(data, n_record_bytes)))?;
    let said = |variable: &Variable| Said { label: variable.label.clone(), ..Said::default() };
    let mut held = Held::new(variables.iter().map(|variable| (variable.name.clone(), said(variable))));
    for record in records.chunks_exact(n_record_bytes) {
        for (column, variable) in variables.iter().enumerate() {
            let cell = &record[variable.start..][..variable.n];
            let text = match variable.is_number {
                true => number_of(cell).map(|number| variable.shown_as.text(number)),
                false => Some(decoder.text(trimmed(cell))),
            };
            held.push(column, text.as_deref().filter(|text| !text.is_empty()));
        }
        held.end_record();
    }
    held.guessed(&decoder);
    Some(held)
}

/// A number in digits; what is blank is none.
fn number_in(digits: &[u8]) -> Option<usize> {
    std::str::from_utf8(digits).ok()?.trim().parse().ok()
}

/// A variable, as 140 bytes describe it. Its values stand behind those of the one before, at `start`: what the file says of
/// their place is not true of all files.
fn variable(bytes: &[u8], start: usize, is_long: bool, decoder: &Decoder) -> Option<Variable> {
    let number = |at: usize, n: usize| Cursor { bytes, at, is_big: true }.unsigned(n).map(|number| number as usize);
    let text = |at: usize, n: usize| decoder.text(trimmed(&bytes[at..at + n]));
    let (kind, n) = (number(0, 2)?, number(4, 2)?);
    let long_name = if is_long { text(88, 32) } else { String::new() };
    let is_number = kind == 1;
    if n == 0 || is_number && n > 8 {
        return None;
    }
    let name = if long_name.is_empty() { text(8, 8) } else { long_name };
    Some(Variable { name, label: text(16, 40), is_number, start, n, shown_as: Shown::of(&text(56, 8)) })
}

/// How many records there are where the file does not say it: all but the blanks that fill the last line.
fn n_records_of(data: &[u8], n_record_bytes: usize) -> usize {
    let mut n = data.len() / n_record_bytes;
    let is_filling = |n: usize| {
        let start = (n - 1) * n_record_bytes;
        data.len() - start < N_LINE && data[start..].iter().all(|byte| *byte == b' ')
    };
    while n > 0 && is_filling(n) {
        n -= 1;
    }
    n
}

/// A number as IBM's mainframes write it, to the base of 16, of which the last bytes may be left out; none where it is
/// one of those that mean "no value".
fn number_of(bytes: &[u8]) -> Option<f64> {
    let (first, rest) = bytes.split_first()?;
    let is_zero = rest.iter().all(|byte| *byte == 0);
    if is_zero && matches!(first, b'.' | b'_' | b'A'..=b'Z') {
        return None;
    }
    let mut fraction = [0; 8];
    fraction[1..=rest.len()].copy_from_slice(rest);
    let fraction = u64::from_be_bytes(fraction) as f64 / 2f64.powi(56);
    let sign = if first & 0x80 == 0 { 1.0 } else { -1.0 };
    Some(sign * fraction * 16f64.powi(i32::from(first & 0x7f) - 64))
}
