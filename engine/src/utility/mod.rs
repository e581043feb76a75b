//! What analysts see of a release: distributions, associations, a regression and a classifier, before and after.
//!
//! A generalized cell is read as its records spread evenly over the values that may be behind it, as in
//! [`crate::query`]: whole numbers and days one by one, other numbers by length, categories value by value. Everything
//! is a pure function of two views of one table, and the same for any number of threads.

pub mod attribute;
pub mod view;
pub mod distribution;
pub mod association;
pub(crate) mod solve;
pub mod regression;
pub mod classifier;
pub mod preview;

/// The attribute whose values a regression and a classifier are to tell from the quasi-identifiers: one of these, or one
/// of the sensitive attributes of the counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The number of a quasi-identifier.
    QuasiIdentifier(usize),
    /// The number of a sensitive attribute of the counts, which may be there as a target only.
    Sensitive(usize),
}

impl Target {
    /// Its place among all attributes: quasi-identifiers first, sensitive attributes behind them.
    pub fn place(self, n_quasi_identifiers: usize) -> usize {
        match self {
            Target::QuasiIdentifier(place) => place,
            Target::Sensitive(place) => n_quasi_identifiers + place,
        }
    }
}
