//! What comes in: files and frames as record batches, the project that says what they are, and the counts of the first
//! reading.

pub mod digest;
pub mod per_person;
pub mod level;
pub mod database;
pub mod source;
pub mod notation;
pub mod project;
pub mod tally;
mod names;
pub mod repeats;
pub mod count;
pub mod from_level;
pub mod reference;
pub mod survey;
