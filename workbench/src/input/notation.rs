//! How a release says what the table says: "no value", and numbers.

use std::collections::{HashMap, HashSet};

use arrow_schema::{DataType, Schema};
use incrowd::Domain;
use incrowd::number::Decimal;
use incrowd::table::Code;
use incrowd::verify::Text;

use crate::input::source::Source;

/// How a file writes texts of the table. Columns of numbers lose how a number was written: `18.0` is read back as `18`.
///
/// Whatever compares a release with the table compares texts, so that it has to say the table's as the release does.
#[derive(Clone, Debug, Default)]
pub struct Notation {
    /// How "no value" is written; none where nothing stands there.
    missing: Text,
    /// The columns of the release that are numbers of the computer.
    numbers: HashSet<String>,
}

impl Notation {
    /// That of a release whose columns have these types.
    pub fn of_columns<'a>(missing: Text, columns: impl Iterator<Item = (&'a str, &'a DataType)>) -> Notation {
        let numbers = columns.filter(|(_, data_type)| is_number(data_type)).map(|(name, _)| name.to_string());
        Notation { missing, numbers: numbers.collect() }
    }

    /// That of a release that was read.
    pub fn of_schema(missing: Text, schema: &Schema) -> Notation {
        let columns = schema.fields().iter().map(|field| (field.name().as_str(), field.data_type()));
        Notation::of_columns(missing, columns)
    }

    /// How "no value" is written.
    pub fn missing(&self) -> Text {
        self.missing.clone()
    }

    /// Whether a column of the release loses how numbers were written.
    pub fn is_of_numbers(&self, column: &str) -> bool {
        self.numbers.contains(column)
    }

    /// What a column of the release says for a text of the table.
    pub fn text(&self, column: &str, text: &str) -> String {
        if self.is_of_numbers(column) { as_number(text) } else { text.to_string() }
    }

    /// The same where there may be no value.
    pub fn cell(&self, column: &str, text: Option<&str>) -> Text {
        text.map_or_else(|| self.missing(), |text| Some(self.text(column, text)))
    }

    /// What a column of the release says for a value of the table.
    pub fn value(&self, column: &str, domain: &Domain, code: Code) -> Text {
        let is_there = domain.missing() != Some(code);
        self.cell(column, is_there.then(|| domain.values()[code.index()].as_str()))
    }
}

/// Whether a column of this type loses how numbers were written.
pub fn is_number(data_type: &DataType) -> bool {
    *data_type == DataType::Float64
}

/// How a number of the computer says a text, which other texts than numbers stay.
pub fn as_number(text: &str) -> String {
    text.parse::<f64>().map_or_else(|_| text.to_string(), |number| number.to_string())
}

/// How a table writes the numbers of a column, for whoever reads them elsewhere; empty where both keep their texts.
#[derive(Debug, Default)]
pub struct Writing {
    texts: HashSet<String>,
    by_number: HashMap<String, String>,
}

impl Writing {
    fn new(domain: &Domain) -> Writing {
        let mut writing = Writing::default();
        for (_, text) in domain.present() {
            writing.texts.insert(text.to_string());
            // Of two ways to write a number the first gets everybody: nobody is counted twice.
            if let Some(number) = Decimal::parse(text) {
                writing.by_number.entry(number.to_string()).or_insert_with(|| text.to_string());
            }
        }
        writing
    }

    /// How the table writes a number that is written otherwise elsewhere.
    pub fn of(&self, text: &str) -> Option<String> {
        if self.texts.contains(text) {
            return None;
        }
        self.by_number.get(&Decimal::parse(text)?.to_string()).cloned()
    }
}

/// By column of `domains`, how the table writes numbers that data beside it hold: where either of them has numbers of the
/// computer and not texts, `18.0` and `18` are the same.
pub fn writings(table: &Source, beside: &Source, domains: &[Domain]) -> Vec<Writing> {
    let is_number = |source: &Source, name: &str| {
        source.schema().field_with_name(name).is_ok_and(|field| field.data_type().is_numeric())
    };
    let of = |domain: &Domain| {
        let loses_texts = is_number(table, domain.name()) || is_number(beside, domain.name());
        if loses_texts { Writing::new(domain) } else { Writing::default() }
    };
    domains.iter().map(of).collect()
}
