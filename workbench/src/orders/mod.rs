//! What every verb does, decided once for all fronts: typed orders in, results and notes out.
//!
//! An order is checked when it is made; running it takes a project, what is already known of it, and the work that shows
//! how far it is. Nothing here knows flags, HTTP, documents of questions, or a terminal.

pub mod profile;
pub mod init;
pub mod hierarchy;
pub mod request;
pub mod lattice;
pub mod extent;
pub mod known;
pub mod count;
pub mod local;
pub mod per_record;
pub mod utility;
pub mod contenders;
pub mod saved;
pub mod annotate;
pub mod negotiate;
pub mod negotiate_local;
pub mod cutting;
pub mod groups;
pub mod verify;
pub mod publish;
pub mod frontier;
pub mod frontier_local;
pub mod compare;
pub mod map;
pub mod risk;
pub mod attack;
pub mod histogram;
pub mod study_deal;
pub mod study_lattice;
pub mod study_suppression;
pub mod study_requests;
pub mod study_local;
pub mod study_records;

use incrowd::{Answer, Criteria, Result};

/// What whoever serves others adds to an order: offers that are not made here, promises that are too little.
pub struct Rules<'a> {
    /// What of an answer may be told; the names are those of the sensitive attributes.
    pub answer: &'a (dyn Fn(Answer, &[String]) -> Answer + Sync),
    /// Refuses to promise too little.
    pub promise: &'a (dyn Fn(&Criteria, &[String]) -> Result<()> + Sync),
    /// Whether what is measured with the source is not told.
    pub is_veiled: bool,
}

impl Default for Rules<'_> {
    /// Whoever has the data may do with them what they like.
    fn default() -> Self {
        Rules { answer: &|answer, _| answer, promise: &|_, _| Ok(()), is_veiled: false }
    }
}
