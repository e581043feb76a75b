//! Writes a release as a file of Stata, format 118, which every Stata since version 14 reads.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use incrowd::Result;
use incrowd::table::days_of_date;

use super::gathered::{Gathered, GatheredColumn, Stored};

/// What is stored of a column by text, and what the file says of it.
struct Variable<'a> {
    column: &'a GatheredColumn,
    kind: u16,
    format: String,
    /// By text, its bytes.
    values: Vec<Vec<u8>>,
    missing: Vec<u8>,
    labels: Vec<(i32, String)>,
}

const DOUBLE: u16 = 65526;
const LONG: u16 = 65528;
const MISSING: i32 = 0x7fff_ffe5;

/// Whether a text can be the name of a variable.
pub fn is_name(name: &str) -> bool {
    let is_letter = |c: char| c.is_alphabetic() || c == '_';
    name.chars().count() <= 32
        && name.starts_with(is_letter)
        && name.chars().all(|c| is_letter(c) || c.is_ascii_digit())
}

pub fn write(gathered: &Gathered, file: &File, path: &Path) -> Result<()> {
    let variables = gathered.columns.iter().map(|column| variable(column, path)).collect::<Result<Vec<_>>>()?;
    write_all(&variables, gathered.n_records, file).map_err(|error| crate::io_error(path, error))
}

fn variable<'a>(column: &'a GatheredColumn, path: &Path) -> Result<Variable<'a>> {
    let whole = |numbers: &mut dyn Iterator<Item = i32>| numbers.map(|n| n.to_le_bytes().to_vec()).collect::<Vec<_>>();
    let of_long = |format: &str, values: Vec<Vec<u8>>, labels: BTreeLabels| Variable {
        column,
        kind: LONG,
        format: format.to_string(),
        values,
        missing: MISSING.to_le_bytes().to_vec(),
        labels: labels.into_iter().collect(),
    };
    let is_whole = |number: &f64| number.fract() == 0.0 && number.abs() < 2e9;
    Ok(match column.stored() {
        Stored::Codes(codes, labels) => of_long("%12.0g", whole(&mut codes.into_iter()), labels),
        Stored::Numbers(numbers) if numbers.iter().all(is_whole) => {
            of_long("%12.0g", whole(&mut numbers.into_iter().map(|number| number as i32)), BTreeLabels::new())
        }
        Stored::Numbers(numbers) => Variable {
            column,
            kind: DOUBLE,
            format: "%10.0g".into(),
            values: numbers.into_iter().map(|number| number.to_le_bytes().to_vec()).collect(),
            missing: 2f64.powi(1023).to_le_bytes().to_vec(),
            labels: Vec::new(),
        },
        Stored::Dates(days) => {
            let first = days_of_date(1960, 1, 1);
            of_long("%td", whole(&mut days.into_iter().map(|day| (day - first) as i32)), BTreeLabels::new())
        }
        Stored::Texts => {
            let width = column.width(path, 2045, |text| !text.is_empty() && !text.contains('\0'))?;
            let value = |text: &String| {
                let mut bytes = text.clone().into_bytes();
                bytes.resize(width, 0);
                bytes
            };
            Variable {
                column,
                kind: width as u16,
                format: format!("%{width}s"),
                values: column.texts().iter().map(value).collect(),
                missing: vec![0; width],
                labels: Vec::new(),
            }
        }
    })
}

type BTreeLabels = std::collections::BTreeMap<i32, String>;

fn write_all(variables: &[Variable], n_records: usize, file: &File) -> std::io::Result<()> {
    let tagged = |tag: &str, content: Vec<u8>| {
        [format!("<{tag}>").into_bytes(), content, format!("</{tag}>").into_bytes()].concat()
    };
    let list = |text: &dyn Fn(usize, &Variable) -> String, size: usize| -> Vec<u8> {
        let fixed = |(i, variable): (usize, &Variable)| {
            let text = text(i, variable);
            // A label that is too long ends at a letter.
            let n = (0..size).rev().find(|n| text.is_char_boundary(*n)).unwrap_or(0).min(text.len());
            let mut bytes = text.as_bytes()[..n].to_vec();
            bytes.resize(size, 0);
            bytes
        };
        variables.iter().enumerate().flat_map(fixed).collect()
    };
    let n_variables = u16::try_from(variables.len()).map_err(|_| std::io::Error::other("too many columns"))?;
    let header = [
        tagged("release", b"118".to_vec()),
        tagged("byteorder", b"LSF".to_vec()),
        tagged("K", n_variables.to_le_bytes().to_vec()),
        tagged("N", (n_records as u64).to_le_bytes().to_vec()),
        tagged("label", vec![0; 2]),
        // When it was written is no part of a release.
        tagged("timestamp", vec![0]),
    ];
    let labels_name = |i: usize, variable: &Variable| match variable.labels.is_empty() {
        true => String::new(),
        false => format!("labels{}", i + 1),
    };
    let sections = [
        tagged("variable_types", variables.iter().flat_map(|variable| variable.kind.to_le_bytes()).collect()),
        tagged("varnames", list(&|_, variable| variable.column.name.clone(), 129)),
        tagged("sortlist", vec![0; 2 * (variables.len() + 1)]),
        tagged("formats", list(&|_, variable| variable.format.clone(), 57)),
        tagged("value_label_names", list(&labels_name, 129)),
        tagged("variable_labels", list(&|_, variable| variable.column.said.label.clone(), 321)),
        tagged("characteristics", Vec::new()),
    ];
    let tables = variables.iter().enumerate().filter(|(_, variable)| !variable.labels.is_empty());
    let tables: Vec<u8> = tables
        .flat_map(|(i, variable)| tagged("lbl", label_table(&labels_name(i, variable), &variable.labels)))
        .collect();
    let value_labels = tagged("value_labels", tables);

    let start = [b"<stata_dta>".to_vec(), tagged("header", header.concat())].concat();
    let n_data = n_records * variables.iter().map(|variable| variable.missing.len()).sum::<usize>();
    // Where each part begins.
    let mut map = vec![0, start.len()];
    map.push(start.len() + tagged("map", vec![0; 14 * 8]).len());
    let n_data = n_data + "<data></data>".len();
    let rest = [n_data, "<strls></strls>".len(), value_labels.len(), "</stata_dta>".len()];
    for n in sections.iter().map(Vec::len).chain(rest) {
        map.push(map.last().expect("it begins somewhere") + n);
    }

    let mut out = BufWriter::with_capacity(1 << 18, file);
    out.write_all(&start)?;
    out.write_all(&tagged("map", map.iter().flat_map(|at| (*at as u64).to_le_bytes()).collect()))?;
    out.write_all(&sections.concat())?;
    out.write_all(b"<data>")?;
    for record in 0..n_records {
        for variable in variables {
            out.write_all(variable.column.place(record).map_or(&variable.missing, |place| &variable.values[place]))?;
        }
    }
    out.write_all(b"</data><strls></strls>")?;
    out.write_all(&value_labels)?;
    out.write_all(b"</stata_dta>")?;
    out.flush()
}

fn label_table(name: &str, labels: &[(i32, String)]) -> Vec<u8> {
    let mut name = name.as_bytes().to_vec();
    name.resize(129 + 3, 0);
    let (mut starts, mut texts) = (Vec::new(), Vec::new());
    for (_, label) in labels {
        starts.extend((texts.len() as u32).to_le_bytes());
        texts.extend(label.bytes().chain([0]));
    }
    let codes: Vec<u8> = labels.iter().flat_map(|(code, _)| code.to_le_bytes()).collect();
    let sizes = [labels.len() as u32, texts.len() as u32].map(u32::to_le_bytes).concat();
    let table = [sizes, starts, codes, texts].concat();
    [(table.len() as u32).to_le_bytes().to_vec(), name, table].concat()
}
