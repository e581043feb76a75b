//! Anonymizes tables: annotates every way to generalize them, negotiates, publishes and verifies.
//!
//! This crate is the engine: values in, values out. It opens no file and no socket, reads no clock and no
//! environment, and prints nothing. Modules stand in reading order; each uses only those above it.
//!
//! ```text
//! record batches ─ counts::Counter ─→ GroupCounts ─ lattice::annotate ─→ Lattice ─ search::negotiate ─→ Answer
//!        └───────── release::Publisher ←─ recode ←──────────────────────────────────────────────────────┘
//!                          └─→ published rows ─ verify::Verifier ─→ Verdict
//! ```
//!
//! From a table to a release that was checked:
//!
//! ```
//! use std::sync::Arc;
//!
//! use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
//! use incrowd::recode::global;
//! use incrowd::release::{Column, Publisher};
//! use incrowd::task::Task;
//! use incrowd::verify::{Outside, SuppressedAs, Verifier};
//! use incrowd::*;
//!
//! # fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
//! let ages: ArrayRef = Arc::new(Int64Array::from(vec![31, 34, 36, 38, 52, 57]));
//! let ills: ArrayRef = Arc::new(StringArray::from(vec!["flu", "gout", "flu", "cold", "gout", "flu"]));
//! let table = RecordBatch::try_from_iter([("age", ages), ("illness", ills)])?;
//!
//! // Count once: equal records become groups.
//! let missing = Missing::default();
//! let mut counter = Counter::new(&["age"], &["illness"], &missing);
//! counter.push(&table)?;
//! let counts = counter.finish();
//!
//! // Annotate every way to generalize, and ask for the best that keeps k and l.
//! let hierarchies = [Rule::intervals(vec![10.0, 20.0], 0.0)?.resolve(&counts.domains()[0])?];
//! let yardstick = Yardstick::new(&counts, &[], [])?;
//! let plan = Plan { weights: &[1.0], yardstick: &yardstick, with_entropy: false };
//! let lattice = annotate(&counts, &hierarchies, &plan, &Task::default())?;
//! let request = Request {
//!     criteria: Criteria::of(Some(2), Some(2)),
//!     level_max: Scheme::new(vec![Level(3)]),
//!     n_suppressed_max: 0,
//!     best_by: Ranking::default(),
//! };
//! let Answer::Exact(offer) = negotiate(&lattice, &request)? else { unreachable!("at worst, every age is *") };
//! assert_eq!(offer.scheme.levels(), [Level(1)]);
//!
//! // Publish it, and let the independent check judge what was published.
//! let recoding = global::recode(&counts, &hierarchies, &offer.scheme, &yardstick, &request.criteria)?;
//! let columns = vec![Column::Recoded(0, "age".into()), Column::Kept("illness".into())];
//! let mut rows = Publisher::new(&counts, &recoding, &missing, columns).recode(&table)?.rows;
//! rows.sort();
//! let cell = |i: usize| rows.iter().map(|row| row.cells()[i].clone()).collect::<StringArray>();
//! let published: [(&str, ArrayRef); 2] = [("age", Arc::new(cell(0))), ("illness", Arc::new(cell(1)))];
//! let mut verifier = Verifier::new(&["age".into()], &["illness".into()], SuppressedAs::Group);
//! verifier.push(&RecordBatch::try_from_iter(published)?)?;
//! assert!(verifier.verdict(&request.criteria, &Outside::default()).holds());
//! # Ok(())
//! # }
//! ```
//!
//! What a user or a caller can get wrong is an [`Error`]; a bug of ours is a panic. Indices of groups, schemes and
//! attributes that a method takes are those that the same value gave, and are used as indices of a slice are.

#![warn(missing_docs, clippy::missing_errors_doc)]

pub mod error;
pub mod task;
pub mod number;
pub mod random;
pub mod table;
pub mod hierarchy;
pub mod scheme;
pub mod counts;
pub mod criterion;
pub mod loss;
pub mod lattice;
pub mod quality;
pub mod search;
pub mod tells;
pub mod recode;
pub mod judge;
pub mod risk;
pub mod query;
pub mod utility;
pub mod release;
pub mod verify;
pub mod attack;
pub mod wire;

pub use counts::{Counter, GroupCounts};
pub use criterion::{Criteria, Criterion, Distance, Measure, Yardstick};
pub use error::{Error, ErrorKind, Result, Wording};
pub use hierarchy::{Hierarchy, Rule};
pub use lattice::{Lattice, Plan, annotate};
pub use quality::{Quality, Ranking};
pub use recode::method::Method;
pub use scheme::{Level, Scheme};
pub use search::explain::explain;
pub use search::negotiate::{Answer, Offer, negotiate};
pub use search::request::Request;
pub use table::{Domain, Missing, Role};
pub use verify::{Verdict, Verifier};
