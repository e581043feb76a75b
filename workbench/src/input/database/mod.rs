//! Tables that somebody else holds: what is asked of them is SQL, and what comes back are record batches and counted rows.

pub mod dialect;
pub mod place;
#[cfg(feature = "databases")]
pub mod connect;
#[cfg(feature = "databases")]
pub mod table;
#[cfg(feature = "databases")]
mod write;
#[cfg(not(feature = "databases"))]
mod absent;

#[cfg(not(feature = "databases"))]
pub use absent::{Database, Presence, Purpose, Table};
#[cfg(feature = "databases")]
pub use connect::{Database, Purpose, look_in};
#[cfg(feature = "databases")]
pub use table::{Presence, Table};
