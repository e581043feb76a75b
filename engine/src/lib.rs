//! incrowd hides every record in a crowd, and lets people haggle over what that costs.
//!
//! This crate is the heart: values in, values out. It opens no file and no socket, reads no clock and no
//! environment, and prints nothing. Modules stand in reading order; each uses only those above it.
//!
//! ```text
//! record batches ─ counts::Counter ─→ GroupCounts ─ lattice::annotate ─→ Lattice ─ negotiate ─→ Answer
//!        └───────── release::Publisher ←─ recode ←──────────────────────────────────────────────┘
//!                          └─→ published rows ─ verify::Verifier ─→ Verdict
//! ```

pub mod error;
pub mod task;
pub mod number;
pub mod table;
pub mod hierarchy;
pub mod scheme;
pub mod counts;
pub mod criterion;
pub mod loss;
pub mod lattice;
pub mod quality;
pub mod search;
pub mod random;
pub mod recode;
pub mod judge;
pub mod risk;
pub mod query;
pub mod release;
pub mod verify;
pub mod attack;
pub mod wire;

pub use counts::{Counter, GroupCounts};
pub use criterion::{Criteria, Criterion, Distance, Measure, Yardstick};
pub use error::{Error, ErrorKind, Result};
pub use hierarchy::{Hierarchy, Rule};
pub use lattice::{Lattice, Plan, annotate};
pub use quality::{Quality, Ranking};
pub use recode::method::Method;
pub use scheme::{Level, Scheme};
pub use search::negotiate::{Answer, Offer, Request, explain, negotiate};
pub use table::{Domain, Missing, Role};
pub use verify::{Verdict, Verifier};
