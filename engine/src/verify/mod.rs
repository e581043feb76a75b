//! The independent check: does a published table keep its promise, judged from that table alone?
//!
//! Deliberately plain. It counts texts in ordinary maps and shares no counting code with what made the release,
//! so that a mistake there cannot hide here. The parts stand in reading order; each uses only those above it.

mod verdict;
mod reference;
mod order;
mod verifier;
mod spread;
mod people;

pub use order::Texts;
pub use people::PeopleVerifier;
pub use reference::{Original, Outside, Text};
pub use spread::Spread;
pub use verdict::{Finding, Ruling, Verdict};
pub use verifier::{Labels, SuppressedAs, Verifier};
