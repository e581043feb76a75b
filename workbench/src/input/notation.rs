//! How a release says what the table says: "no value", and numbers.

use std::collections::HashSet;

use arrow_schema::{DataType, Schema};
use incrowd::Domain;
use incrowd::table::Code;
use incrowd::verify::Text;

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
