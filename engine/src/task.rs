//! Long work: how far it is, whether it is still wanted, and how much memory it may take.

use crate::error::{Error, ErrorKind, Result};

/// Work that takes long, as whoever wants it sees it.
///
/// # Guarantee
/// Once `is_cancelled` says true, the work ends soon, with an error of kind [`ErrorKind::Cancelled`] and no result.
pub struct Task<'a> {
    /// The most bytes that the result and the work on it may take.
    pub n_bytes_max: u64,
    /// Called with how much was just finished: schemes of a lattice, records of a release.
    pub progress: &'a (dyn Fn(u64) + Sync),
    /// Asked now and then, by any thread.
    pub is_cancelled: &'a (dyn Fn() -> bool + Sync),
}

impl Default for Task<'_> {
    /// Nobody looks, nobody stops it, and it may take what it needs.
    fn default() -> Self {
        Task { n_bytes_max: u64::MAX, progress: &|_| {}, is_cancelled: &|| false }
    }
}

impl Task<'_> {
    /// Ends work that is no longer wanted.
    pub fn check(&self) -> Result<()> {
        if (self.is_cancelled)() { Err(cancelled()) } else { Ok(()) }
    }
}

/// The one error of work that somebody has stopped.
pub fn cancelled() -> Error {
    Error::new(ErrorKind::Cancelled, "stopped before it was done")
}
