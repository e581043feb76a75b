//! A table's columns, and how their cells become small numbers that can be counted.
//!
//! Tables come in as Arrow record batches, whatever they came from.
//! Every attribute that matters gets a [`Domain`]: its distinct values in a canonical order,
//! so that the same table gives the same codes however its records were ordered or split.
//! The parts stand in reading order; each uses only those above it.

pub mod zone;
mod dates;
mod kind;
mod domain;
mod cells;
mod missing;
pub(crate) mod encoder;

pub use cells::Cells;
pub use dates::{date_text, days_of_date, parse_date};
pub use domain::Domain;
pub use encoder::Encoder;
pub use kind::Kind;
pub use missing::{Missing, Needed};

/// The number of a value within its attribute's domain, or within one level of its hierarchy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(pub u32);

impl Code {
    /// The code as a place in a list.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What an attribute is to the person behind the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Names the person: never published.
    Identifier,
    /// Could be known to an attacker and narrows down who it is: generalized.
    QuasiIdentifier,
    /// What must not be linked to the person: published as it is, within a crowd.
    Sensitive,
    /// None of these: published as it is, if the project says so.
    Other,
    /// Says whose record it is, alone or with others of this role: people are counted by it, and it is never published.
    Person,
}

impl Role {
    /// Every role there is.
    pub const ALL: [Role; 5] = [Role::Identifier, Role::QuasiIdentifier, Role::Sensitive, Role::Other, Role::Person];

    /// The word that project files use.
    pub fn name(self) -> &'static str {
        match self {
            Role::Identifier => "identifier",
            Role::QuasiIdentifier => "quasi-identifier",
            Role::Sensitive => "sensitive",
            Role::Other => "other",
            Role::Person => "person",
        }
    }

    /// The role of a name.
    pub fn parse(name: &str) -> Option<Role> {
        Role::ALL.into_iter().find(|role| role.name() == name)
    }

    /// Whether its values say who somebody is: they are neither published nor shown.
    pub fn tells_who(self) -> bool {
        matches!(self, Role::Identifier | Role::Person)
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::types::Int32Type;
    use arrow_array::{ArrayRef, LargeStringArray, StringArray, StringViewArray};

    use super::*;
    use std::sync::Arc;

    #[test]
    fn kinds() {
        for (text, kind) in [
            ("0", Kind::Integer),
            ("-12", Kind::Integer),
            ("007", Kind::Text),
            ("+1", Kind::Text),
            ("0.5", Kind::Number),
            ("0.0599999986588955", Kind::Number),
            ("0.05999999865889551", Kind::Text),
            ("1e3", Kind::Number),
            ("00.5", Kind::Text),
            ("nan", Kind::Text),
            ("2024-02-29", Kind::Date),
            ("2023-02-29", Kind::Text),
            ("2024-02-29T10:00:00", Kind::Date),
            ("2024-02-29T10:00:00+01:00", Kind::Date),
            ("2024-02-29T10:00:00Z[Europe/Paris]", Kind::Text),
            ("", Kind::Text),
            ("true", Kind::Boolean),
            ("17-21", Kind::Text),
        ] {
            assert_eq!(Kind::of(text), kind, "{text}");
        }
    }

    #[test]
    fn dates_and_days_are_inverse() {
        for days in (-800_000..800_000).step_by(97) {
            let text = date_text(days);
            if let Some((year, month, day)) = parse_date(&text) {
                assert_eq!(days_of_date(year, month, day), days);
            } else {
                assert!(days < -719_000, "{text} must parse");
            }
        }
        for (days, text) in [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (-719_468, "0000-03-01"),
            (-719_528, "0000-01-01"),
            (-719_529, "-001-12-31"),
            (2_932_896, "9999-12-31"),
            (2_932_897, "10000-01-01"),
            (106_751_991_167, "292278994-08-17"),
            (-106_751_991_168, "-292275055-05-16"),
        ] {
            assert_eq!(date_text(days), text);
        }
        let leap_days = [(2000, true), (1900, false), (2024, true), (2023, false), (0, true)];
        for (year, is_there) in leap_days {
            assert_eq!(parse_date(&format!("{year:04}-02-29")).is_some(), is_there, "{year}");
        }
        assert_eq!(days_of_date(2024, 13, 32), days_of_date(2025, 2, 1));
    }

    #[test]
    fn a_domain_orders_numbers_by_size_and_puts_missing_last() {
        let values = ["10", "9", "100", "9"].map(String::from).to_vec();
        let domain = Domain::new("age", values, Some("?"));
        assert_eq!(domain.values(), ["9", "10", "100", "?"]);
        assert_eq!(domain.code("100"), Some(Code(2)));
        assert_eq!(domain.code("?"), None);
        assert_eq!(domain.missing(), Some(Code(3)));
    }

    #[test]
    fn what_cannot_be_read_is_missing_only_where_it_is_null() {
        use arrow_array::builder::{Int64Builder, ListBuilder};
        let missing = Missing { tokens: vec!["".into(), "1".into()], drop_records: true, ..Missing::default() };
        let mut lists = ListBuilder::new(Int64Builder::new());
        lists.append_value([Some(1)]);
        lists.append_null();
        let column: ArrayRef = Arc::new(lists.finish());
        assert!(Cells::new("x", &column).is_err());
        let mut keep = [true, true];
        missing.mark("x", &column, &mut keep).expect("any column can be marked");
        assert_eq!(keep, [true, false]);
    }

    #[test]
    fn every_way_to_store_a_column_gives_the_same_codes() {
        let missing = Missing { tokens: vec!["7".into()], drop_records: false, ..Missing::default() };
        let texts = [Some("3"), None, Some("70000"), Some("7"), Some("3")];
        let strings: ArrayRef = Arc::new(StringArray::from(texts.to_vec()));
        let views: ArrayRef = Arc::new(StringViewArray::from(texts.to_vec()));
        let large: ArrayRef = Arc::new(LargeStringArray::from(texts.to_vec()));
        let numbers = texts.map(|t| t.map(|t| t.parse::<i64>().expect("a number")));
        let integers: ArrayRef = Arc::new(arrow_array::Int64Array::from(numbers.to_vec()));
        let floats: ArrayRef = Arc::new(arrow_array::Float64Array::from(numbers.map(|n| n.map(|n| n as f64)).to_vec()));
        let dictionary: ArrayRef = Arc::new(texts.into_iter().collect::<arrow_array::DictionaryArray<Int32Type>>());
        for column in [strings, views, large, integers, floats, dictionary] {
            let mut encoder = Encoder::new("x", &missing);
            let mut codes = Vec::new();
            encoder.encode(&column, &mut codes).expect("a readable column");
            assert_eq!(codes, [1, 0, 2, 0, 1], "{}", column.data_type());
            assert_eq!(encoder.values()[1..], ["3", "70000"]);
        }
    }
}
