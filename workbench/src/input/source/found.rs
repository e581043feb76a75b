//! How a table's numbers and dates are written, found out from its first records where nothing else is possible.

use std::collections::BTreeSet;

use arrow_array::RecordBatch;
use arrow_schema::DataType;
use incrowd::Result;
use incrowd::error::Wording;
use incrowd::table::Cells;

use super::dates::{self, DateFormat};
use super::options::Notation;
use super::rewrite::plain_number;
use super::{Rewriting, Source};

/// What was found out about how a table is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// How numbers are written, and the columns that tell it; none where they are written as one expects.
    pub notation: Option<(Notation, Vec<String>)>,
    /// By column, how its dates are written.
    pub dates: Vec<(String, DateFormat)>,
}

/// Different values of a column that are looked at.
const N_VALUES: usize = 1_000;

/// What means "no value" in most tables.
const NOTHING: [&str; 9] = ["", "?", "NA", "N/A", "n/a", "null", "NULL", "-", "."];

/// Every other way to write numbers.
const NOTATIONS: [(u8, Option<u8>); 6] =
    [(b',', None), (b',', Some(b'.')), (b',', Some(b' ')), (b'.', Some(b',')), (b'.', Some(b' ')), (b'.', Some(b'\''))];

impl Source {
    /// Finds out how numbers and dates are written, and reads them so from now on.
    ///
    /// What could be meant in two ways is left as it is: `1,234` alone may be a thousand or little more than one.
    pub fn finding_out(self) -> Result<(Source, Found)> {
        let Some(first) = self.first_records()? else { return Ok((self, Found::default())) };
        let columns: Vec<(String, BTreeSet<String>)> = (0..first.num_columns())
            .filter_map(|index| {
                values_of(&first, index).map(|values| (first.schema().field(index).name().clone(), values))
            })
            .collect();
        let date = |(name, values): &(String, BTreeSet<String>)| {
            let values: Vec<&str> = values.iter().map(String::as_str).collect();
            dates::detect(&values).map(|format| (name.clone(), format))
        };
        let dates: Vec<(String, DateFormat)> = columns.iter().filter_map(date).collect();
        let notation = match self.rewriting.notation.is_plain() {
            true => notation_of(&columns),
            false => None,
        };
        let said = notation.as_ref().map_or(self.rewriting.notation, |(notation, _)| *notation);
        let rewriting = Rewriting { notation: said, dates: dates.clone() };
        Ok((self.rewriting(rewriting), Found { notation, dates }))
    }
}

/// What somebody has to say so that values are read as numbers or dates, which they are not as they stand; none where that
/// is not plain.
pub fn what_to_say<'a>(values: impl Iterator<Item = &'a str>) -> Option<Wording> {
    let values: BTreeSet<String> =
        values.filter(|value| !NOTHING.contains(&value.trim())).take(N_VALUES).map(str::to_string).collect();
    if let Some(format) = dates::detect(&values.iter().map(String::as_str).collect::<Vec<_>>()) {
        return Some(Wording::text("say how its dates are written: ").example("hierarchy.format", format.pattern()));
    }
    let (notation, _) = notation_of(&[(String::new(), values)])?;
    let mark = |byte: u8| char::from(byte).to_string();
    let mut said = Wording::text("say how numbers are written: ");
    if notation.decimal != Notation::default().decimal {
        said = said.example("data.decimal", mark(notation.decimal));
    }
    Some(match (notation.thousands, notation.decimal != Notation::default().decimal) {
        (Some(thousands), true) => said.and(" and ").example("data.thousands", mark(thousands)),
        (Some(thousands), false) => said.example("data.thousands", mark(thousands)),
        (None, _) => said,
    })
}

/// Some different values of a column of texts or whole numbers.
fn values_of(batch: &RecordBatch, index: usize) -> Option<BTreeSet<String>> {
    let kind = batch.schema_ref().field(index).data_type();
    let is_looked_at = kind.is_integer() || matches!(kind, DataType::Utf8 | DataType::Dictionary(..));
    let cells = Cells::new("", batch.column(index)).ok().filter(|_| is_looked_at)?;
    let (mut values, mut text) = (BTreeSet::new(), String::new());
    for record in 0..batch.num_rows() {
        if cells.read(record, &mut text) && !NOTHING.contains(&text.trim()) && !values.contains(&text) {
            values.insert(text.clone());
        }
        if values.len() >= N_VALUES {
            break;
        }
    }
    Some(values)
}

/// The one notation in which columns are numbers that are none, or others, without it.
fn notation_of(columns: &[(String, BTreeSet<String>)]) -> Option<(Notation, Vec<String>)> {
    let is_number =
        |text: &str, notation: Notation| plain_number(text, notation).is_some() || text.parse::<i64>().is_ok();
    let fits = |values: &BTreeSet<String>, notation: Notation| {
        !values.is_empty() && values.iter().all(|value| is_number(value, notation))
    };
    let mut found: Option<(Notation, Vec<String>)> = None;
    for (name, values) in columns {
        let (decimal, group): (Vec<Notation>, Vec<Notation>) = NOTATIONS
            .map(|(decimal, thousands)| Notation { decimal, thousands })
            .into_iter()
            .filter(|notation| fits(values, *notation) && values.iter().any(|v| plain_number(v, *notation).is_some()))
            .partition(|notation| notation.decimal == b',');
        let notation = match (&decimal[..], &group[..]) {
            ([], []) | ([_, ..], [_, ..]) => continue,
            // The simplest that explains everything; 1.234 alone may be a number already.
            (all, []) | ([], all) => all[0],
        };
        let is_read_anyway = values.iter().all(|value| value.parse::<f64>().is_ok());
        if is_read_anyway {
            continue;
        }
        match &mut found {
            None => found = Some((notation, vec![name.clone()])),
            Some((known, names)) if united(*known, notation).is_some() => {
                *known = united(*known, notation).expect("they were just united");
                names.push(name.clone());
            }
            // Columns disagree: nothing is sure.
            Some(_) => return None,
        }
    }
    found
}

/// The notation of two columns of one table, where one is the other with thousands.
fn united(a: Notation, b: Notation) -> Option<Notation> {
    let thousands = match (a.thousands, b.thousands) {
        (Some(a), Some(b)) if a != b => return None,
        (a, b) => a.or(b),
    };
    (a.decimal == b.decimal).then_some(Notation { decimal: a.decimal, thousands })
}
