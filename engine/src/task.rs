//! Long work: how far it is, whether it is still wanted, when it has taken long enough, and how much memory it may take.

use crate::error::{Error, ErrorKind, Result};

/// Work that takes long, as whoever wants it sees it.
///
/// The engine reads no clock: who wants an answer by some time says so when asked.
///
/// # Guarantee
/// Once `is_cancelled` says true, the work ends soon, with an error of kind [`ErrorKind::Cancelled`] and no result.
#[derive(Clone, Copy)]
pub struct Task<'a> {
    /// The most bytes that the result and the work on it may take.
    pub n_bytes_max: u64,
    /// Called with how much was just finished: schemes of a lattice, records of a release.
    pub progress: &'a (dyn Fn(u64) + Sync),
    /// Asked now and then, by any thread.
    pub is_cancelled: &'a (dyn Fn() -> bool + Sync),
    /// Asked by a search after every scheme that it has looked at; it ends with the best so far when this says yes.
    pub is_enough: &'a (dyn Fn(&SearchProgress) -> bool + Sync),
}

/// How far a search is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchProgress {
    /// How many schemes it has looked at.
    pub n_evaluated: u64,
    /// The least loss found so far, in what is searched at the moment.
    pub best: Option<f64>,
    /// Nothing that is left loses less than this.
    pub loss_at_least: f64,
}

impl Default for Task<'_> {
    /// Nobody looks, nobody stops it, and it may take what it needs.
    fn default() -> Self {
        Task { n_bytes_max: u64::MAX, progress: &|_| {}, is_cancelled: &|| false, is_enough: &|_| false }
    }
}

impl Task<'_> {
    /// Ends work that is no longer wanted.
    ///
    /// # Errors
    /// Where somebody has stopped it.
    pub fn go_on(&self) -> Result<()> {
        if (self.is_cancelled)() { Err(cancelled()) } else { Ok(()) }
    }

    /// The same for the steps of a long loop, of which one in so many asks.
    pub(crate) fn go_on_now_and_then(&self, step: usize, n_between: usize) -> Result<()> {
        if step % n_between == 0 { self.go_on() } else { Ok(()) }
    }
}

/// The one error of work that somebody has stopped.
pub fn cancelled() -> Error {
    Error::new(ErrorKind::Cancelled, "stopped before it was done")
}
