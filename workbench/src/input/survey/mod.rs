//! What each column of a table looks like, which role and hierarchy that suggests, and how many records stand alone.
//!
//! Suggestions are made to be read and corrected by a person: each carries its reason in words,
//! and no reason contains the value of a cell. Hierarchies may: a tree says which values belong together.

mod scales;
mod world;
mod icd;
mod people_numbers;
mod shapes;
mod look;
mod alone;
mod groups;
mod rules;
mod roles;
mod suggest;
#[cfg(test)]
mod sample;

pub use alone::{Uniqueness, uniqueness};
pub use look::{Survey, SurveyedColumn, survey};
pub use rules::{holds_values, quoted, rule_toml};
pub use suggest::{Suggestion, n_schemes, repeating, suggest, take_back_twins};
