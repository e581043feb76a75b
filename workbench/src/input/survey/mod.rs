//! What each column of a table looks like, which role and hierarchy that suggests, and how many records stand alone.
//!
//! Suggestions are made to be read and corrected by a person: each carries its reason in words,
//! and none contains the value of a cell.

mod look;
mod alone;
mod rules;
mod suggest;
#[cfg(test)]
mod sample;

pub use alone::{Uniqueness, uniqueness};
pub use look::{Survey, SurveyedColumn, survey};
pub use rules::rule_toml;
pub use suggest::{Suggestion, n_schemes, repeating, suggest, take_back_twins};
