//! What comes in: files and frames as record batches, the project that says what they are, and the counts of the first
//! reading.

pub mod digest;
pub mod source;
pub mod project;
pub mod count;
pub mod reference;
pub mod survey;
