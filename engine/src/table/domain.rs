//! The distinct values of a column in their canonical order.

use std::cmp::Ordering;

use crate::number::Decimal;
use crate::table::Code;
use crate::table::kind::Kind;

/// The distinct values of one attribute, in canonical order; a missing value, if there is one, comes last.
#[derive(Clone, Debug, PartialEq)]
pub struct Domain {
    name: String,
    kind: Kind,
    values: Vec<String>,
    has_missing: bool,
}

impl Domain {
    /// Orders values canonically and drops duplicates: numbers by size, everything else by its bytes.
    pub fn new(name: &str, mut values: Vec<String>, missing: Option<&str>) -> Domain {
        let kind = values.iter().map(|value| Kind::of(value)).reduce(Kind::join).unwrap_or(Kind::Text);
        values.sort_unstable_by(|a, b| compare(kind, a, b));
        values.dedup();
        let has_missing = missing.is_some();
        values.extend(missing.map(str::to_string));
        Domain { name: name.to_string(), kind, values, has_missing }
    }

    /// The attribute's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the values are.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// How many distinct values there are, a missing one included.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there is no value at all.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Every value as it is written, by code.
    pub fn values(&self) -> &[String] {
        &self.values
    }

    /// The code that stands for "no value".
    pub fn missing(&self) -> Option<Code> {
        self.has_missing.then(|| Code(self.values.len() as u32 - 1))
    }

    /// Every value that is not missing, with its code.
    pub fn present(&self) -> impl Iterator<Item = (Code, &str)> {
        let n_present = self.values.len() - usize::from(self.has_missing);
        self.values[..n_present].iter().enumerate().map(|(code, value)| (Code(code as u32), value.as_str()))
    }

    /// The code of a value as it is written.
    pub fn code(&self, value: &str) -> Option<Code> {
        let n_present = self.values.len() - usize::from(self.has_missing);
        self.values[..n_present]
            .binary_search_by(|known| compare(self.kind, known, value))
            .ok()
            .map(|code| Code(code as u32))
    }

    /// The values of two domains of the same attribute.
    pub fn united(&self, other: &Domain) -> Domain {
        let values = self.present().chain(other.present()).map(|(_, value)| value.to_string()).collect();
        let label = |domain: &Domain| domain.missing().map(|code| domain.values[code.index()].clone());
        Domain::new(&self.name, values, label(self).or_else(|| label(other)).as_deref())
    }

    /// The same attribute with other values, and "no value" where there was one.
    pub(crate) fn with_values(&self, values: Vec<String>) -> Domain {
        Domain::new(&self.name, values, self.missing().map(|code| self.values[code.index()].as_str()))
    }

    /// The code here of each code of a domain whose values are all here.
    pub fn translation(&self, other: &Domain) -> Vec<Code> {
        let present = other.present().map(|(_, value)| self.code(value).expect("the value is here"));
        present.chain(other.missing().map(|_| self.missing().expect("missing is here"))).collect()
    }
}

fn compare(kind: Kind, a: &str, b: &str) -> Ordering {
    let by_value = match kind {
        Kind::Integer => match (a.parse::<i64>(), b.parse::<i64>()) {
            (Ok(a), Ok(b)) => Some(a.cmp(&b)),
            _ => None,
        },
        Kind::Number => match (Decimal::parse(a), Decimal::parse(b)) {
            (Some(a), Some(b)) => Some(a.cmp(&b)),
            _ => None,
        },
        _ => None,
    };
    by_value.unwrap_or(Ordering::Equal).then_with(|| a.cmp(b))
}
