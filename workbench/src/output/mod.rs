//! What goes out: files that appear whole or not at all, their order and types, and what only the signer gets.

pub mod signals;
pub mod staged;
pub mod naming;
pub mod account;
pub mod uniques;
pub mod sorted;
pub mod sink;
pub mod page;
pub mod chart;
pub mod report;
