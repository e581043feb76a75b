//! What goes out: files that appear whole or not at all, their order and types, and what only the signer gets.

pub mod signals;
pub mod staged;
pub mod naming;
pub mod project_text;
pub mod account;
pub mod uniques;
pub mod sorted;
#[cfg(feature = "files")]
pub mod gathered;
#[cfg(feature = "files")]
pub mod spss;
#[cfg(feature = "files")]
pub mod stata;
pub mod lattice_header;
pub mod columns;
pub mod runs;
pub mod row_groups;
pub mod sink;
pub mod page;
pub mod chart;
pub mod bars;
pub mod lattice_picture;
pub mod report;
