//! Sensitive values that criteria count by their labels on a level of a hierarchy.
//!
//! Where nearly every record has a value of its own, any l records have l values. Three different decades are worth more
//! than three different days.

use crate::hierarchy::Hierarchy;
use crate::table::{Code, Domain};

/// How the values of a sensitive attribute, as the table has them, are counted.
#[derive(Clone, Debug, PartialEq)]
pub struct CountedAs {
    /// As the table has them.
    values: Domain,
    /// By value, the code of its label among those that are counted.
    pub(super) labels: Vec<Code>,
}

impl CountedAs {
    /// The labels of a level as a domain of their own, and which of them each value has.
    pub(super) fn new(values: &Domain, hierarchy: &Hierarchy, level: usize) -> (CountedAs, Domain) {
        let of_level = hierarchy.level(level);
        let is_missing = |code: usize| hierarchy.is_missing(level, of_level.of_base()[code]);
        let (absent, present): (Vec<usize>, Vec<usize>) = (0..values.len()).partition(|code| is_missing(*code));
        let texts = present.iter().map(|code| of_level.label_of(*code).to_string()).collect();
        let domain = Domain::new(values.name(), texts, absent.first().map(|code| of_level.label_of(*code)));
        let label = |code: usize| match is_missing(code) {
            true => domain.missing().expect("it was seen above"),
            false => domain.code(of_level.label_of(code)).expect("the domain was made of these"),
        };
        let labels = (0..values.len()).map(label).collect();
        (CountedAs { values: values.clone(), labels }, domain)
    }

    /// The values as the table has them.
    pub fn values(&self) -> &Domain {
        &self.values
    }

    /// The label that a value is counted as, by code.
    pub fn label(&self, value: Code) -> Option<Code> {
        self.labels.get(value.index()).copied()
    }
}
