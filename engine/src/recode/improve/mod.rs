//! Better classes from those that a method made: near ones exchange records, are cut or grown anew, or are dissolved.
//!
//! It goes in steps. A step takes one class and some of its nearest, and puts their records into classes anew (`starts`):
//! as they are, cut again, grown from records that are far apart, or with one class dissolved into the others. Then
//! records move and change places as long as less is lost by it (`exchange`). What comes out takes the place of what
//! was there if it loses less (`search`).
//!
//! All classes keep what is asked for at every step, so that whoever wants to stops it at any.
//! Many steps are thought through at the same time, and one after the other they are taken; those whose classes are gone
//! by then are not. So the classes depend on the number of steps, not on the number of threads.

use crate::recode::partition::Part;

/// What classes must keep.
pub(crate) trait Rules: Sync {
    /// Records that every class has at least.
    fn k(&self) -> u64;

    /// Whether a class of at least k records may be published.
    fn keeps(&self, parts: &[Part]) -> bool;

    /// Divides a class into several that may be published, where less is lost that way.
    fn pieces(&self, parts: Vec<Part>) -> Vec<Vec<Part>>;
}

pub(crate) mod exchange;
pub(crate) mod starts;
pub(crate) mod search;
