//! `verify`: the third reading; judges a published table from itself and its certificate, with what else is known.
//!
//! The parts stand in reading order; each uses only those above it.

mod certificate;
mod judged;
mod columns;
mod release;
mod people;
mod order;

pub use certificate::{beside, delimiter_of, parse_certificate, read_certificate};
pub use columns::in_two_columns;
pub use judged::{Judged, Question, judge, judge_source, judge_table, open_release, read};
pub use order::{Checked, Verify, certificate_of, check, check_roles, counted_at};
pub use people::people_of_release;
