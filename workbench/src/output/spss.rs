//! Writes a release as a file of SPSS, `.sav`, without compression.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use incrowd::Result;
use incrowd::table::days_of_date;

use super::gathered::{Gathered, GatheredColumn, Stored};

/// What is stored of a column by text, and what the file says of it.
struct Variable<'a> {
    column: &'a GatheredColumn,
    /// 0 of a number, otherwise how many bytes the text has.
    width: usize,
    /// How it is shown: the kind of format, its width and its decimals.
    format: [u8; 3],
    /// By text, its bytes, in places of eight.
    values: Vec<Vec<u8>>,
    missing: Vec<u8>,
    labels: Vec<(i32, String)>,
}

/// The kinds of formats: texts, numbers and days.
const A: u8 = 1;
const F: u8 = 5;
const DATE: u8 = 20;

/// The number that means "no value".
const NOTHING: f64 = -f64::MAX;

/// How long a label may be.
const N_LABEL: usize = 120;

/// Whether a text can be the name of a variable.
pub fn is_name(name: &str) -> bool {
    let reserved = ["ALL", "AND", "BY", "EQ", "GE", "GT", "LE", "LT", "NE", "NOT", "OR", "TO", "WITH"];
    name.len() <= 64
        && name.starts_with(|c: char| c.is_alphabetic() || c == '@')
        && name.chars().all(|c| c.is_alphanumeric() || "._@#$".contains(c))
        && !name.ends_with('.')
        && !reserved.contains(&name.to_uppercase().as_str())
}

pub fn write(gathered: &Gathered, file: &File, path: &Path) -> Result<()> {
    let variables = gathered.columns.iter().map(|column| variable(column, path)).collect::<Result<Vec<_>>>()?;
    write_all(&variables, gathered.n_records, file).map_err(|error| crate::io_error(path, error))
}

fn variable<'a>(column: &'a GatheredColumn, path: &Path) -> Result<Variable<'a>> {
    let of_numbers = |kind: [u8; 3], numbers: Vec<f64>, labels: Vec<(i32, String)>| Variable {
        column,
        width: 0,
        format: kind,
        values: numbers.into_iter().map(|number| number.to_le_bytes().to_vec()).collect(),
        missing: NOTHING.to_le_bytes().to_vec(),
        labels,
    };
    Ok(match column.stored() {
        Stored::Codes(codes, labels) if labels.values().all(|label| label.len() <= N_LABEL && is_kept(label)) => {
            of_numbers([F, 8, 0], codes.into_iter().map(f64::from).collect(), labels.into_iter().collect())
        }
        Stored::Numbers(numbers) => {
            let is_whole = numbers.iter().all(|number| number.fract() == 0.0);
            of_numbers([F, 12, if is_whole { 0 } else { 4 }], numbers, Vec::new())
        }
        Stored::Dates(days) => {
            let first = days_of_date(1582, 10, 14);
            let seconds = days.into_iter().map(|day| ((day - first) * 86_400) as f64).collect();
            of_numbers([DATE, 11, 0], seconds, Vec::new())
        }
        Stored::Codes(..) | Stored::Texts => {
            let width = column.width(path, 255, is_kept)?;
            let value = |text: &String| {
                let mut bytes = text.clone().into_bytes();
                bytes.resize(width.next_multiple_of(8), b' ');
                bytes
            };
            Variable {
                column,
                width,
                format: [A, width as u8, 0],
                values: column.texts().iter().map(value).collect(),
                missing: vec![b' '; width.next_multiple_of(8)],
                labels: Vec::new(),
            }
        }
    })
}

/// Whether a text is read as it was written: blanks at its end fill its place.
fn is_kept(text: &str) -> bool {
    !text.is_empty() && text.trim_end() == text && !text.contains('\0')
}

fn write_all(variables: &[Variable], n_records: usize, file: &File) -> std::io::Result<()> {
    let n_places: usize = variables.iter().map(|variable| variable.missing.len() / 8).sum();
    let mut out = BufWriter::with_capacity(1 << 18, file);
    let n = |number: usize| i32::try_from(number).unwrap_or(-1).to_le_bytes();
    // When it was written is no part of a release.
    let product = format!("{:60}", "@(#) SPSS DATA FILE incrowd");
    out.write_all(&[&b"$FL2"[..], product.as_bytes(), &n(2), &n(n_places), &n(0), &n(0), &n(n_records)].concat())?;
    out.write_all(&[&100f64.to_le_bytes()[..], b"01 Jan 7000:00:00", &[b' '; 64], &[0; 3]].concat())?;
    for (i, variable) in variables.iter().enumerate() {
        let [kind, width, decimals] = variable.format;
        let format = [decimals, width, kind, 0];
        let label = label_of(variable);
        out.write_all(&[n(2), n(variable.width), n(usize::from(!label.is_empty())), n(0), format, format].concat())?;
        out.write_all(format!("{:8}", short_name(i)).as_bytes())?;
        if !label.is_empty() {
            let mut bytes = label.as_bytes().to_vec();
            bytes.resize(label.len().next_multiple_of(4), b' ');
            out.write_all(&[&n(label.len())[..], &bytes].concat())?;
        }
        for _ in 1..variable.missing.len() / 8 {
            out.write_all(&[&n(2)[..], &(-1i32).to_le_bytes(), &[0; 16], &[b' '; 8]].concat())?;
        }
    }
    let mut place = 0;
    for variable in variables {
        if !variable.labels.is_empty() {
            out.write_all(&[n(3), n(variable.labels.len())].concat())?;
            for (code, label) in &variable.labels {
                let mut bytes = [&[label.len() as u8][..], label.as_bytes()].concat();
                bytes.resize(bytes.len().next_multiple_of(8), b' ');
                out.write_all(&[&f64::from(*code).to_le_bytes()[..], &bytes].concat())?;
            }
            out.write_all(&[n(4), n(1), n(place + 1)].concat())?;
        }
        place += variable.missing.len() / 8;
    }
    let extension = |kind: usize, size: usize, bytes: &[u8]| {
        [&[n(7), n(kind), n(size), n(bytes.len() / size)].concat()[..], bytes].concat()
    };
    // Of the program and the machine: numbers as everywhere, the low byte first, texts in UTF-8.
    let machine = [20, 0, 0, -1, 1, 1, 2, 65001].map(i32::to_le_bytes).concat();
    out.write_all(&extension(3, 4, &machine))?;
    out.write_all(&extension(4, 8, &[NOTHING, f64::MAX, NOTHING.next_up()].map(f64::to_le_bytes).concat()))?;
    let names = variables.iter().enumerate().map(|(i, variable)| format!("{}={}", short_name(i), variable.column.name));
    out.write_all(&extension(13, 1, names.collect::<Vec<_>>().join("\t").as_bytes()))?;
    out.write_all(&extension(20, 1, b"UTF-8"))?;
    out.write_all(&[n(999), n(0)].concat())?;
    for record in 0..n_records {
        for variable in variables {
            out.write_all(variable.column.place(record).map_or(&variable.missing, |place| &variable.values[place]))?;
        }
    }
    out.flush()
}

/// What the variable is called where only eight letters are allowed.
fn short_name(variable: usize) -> String {
    format!("V{}", variable + 1)
}

/// What the column is called at length, as far as there is room.
fn label_of<'a>(variable: &Variable<'a>) -> &'a str {
    let label = variable.column.said.label.as_str();
    let n = (0..=label.len().min(255)).rev().find(|n| label.is_char_boundary(*n)).unwrap_or(0);
    &label[..n]
}
