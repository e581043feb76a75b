//! A piece of work: which stage it is at, whether it is still wanted, what it may be done with, and what is worth
//! knowing about it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use incrowd::task::{Task, cancelled};
use incrowd::{Error, ErrorKind, Result};

use crate::memory::free_memory;
use crate::note::Note;

/// What an order is run with. Fronts make one, look at its [`Watch`], and cancel it there.
pub struct Work {
    /// Threads of its own; where there are none, those of the pool that it runs on.
    n_threads: Option<usize>,
    n_bytes_max: Option<u64>,
    watch: Arc<Watch>,
    reads_again: bool,
}

/// Work as others see it, from any thread.
#[derive(Default)]
pub struct Watch {
    stage: Mutex<Option<Arc<Stage>>>,
    notes: Mutex<Vec<Note>>,
    is_cancelled: AtomicBool,
    is_enough: AtomicBool,
    listener: Option<Box<dyn Listener>>,
}

/// Somebody who wants to know at once.
pub trait Listener: Send + Sync {
    fn notes(&self, _note: &Note) {}
    fn begins(&self, _stage: &Arc<Stage>) {}
    fn ends(&self) {}
}

/// A part of the work that takes long.
#[derive(Debug)]
pub struct Stage {
    pub what: &'static str,
    pub unit: Unit,
    pub n_all: u64,
    n_done: AtomicU64,
    detail: Mutex<Option<Detail>>,
}

/// What a stage counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Bytes,
    Records,
    Schemes,
    /// At most so many: what ends a search is its time.
    Seconds,
}

/// How far a search is.
#[derive(Clone, Debug, PartialEq)]
pub struct Detail {
    pub n_evaluated: u64,
    /// The best so far, by what was asked for, with that quality's name.
    pub best: Option<(String, f64)>,
    /// Nothing better than this is left, from 0 (exact) to 1 (nothing said).
    pub loss_at_least: f64,
}

/// How far a stage is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    pub what: String,
    pub n_done: u64,
    pub n_all: u64,
}

impl Default for Work {
    /// Nobody watches, and it takes what there is.
    fn default() -> Self {
        Work::new(None, None, Watch::default())
    }
}

impl Work {
    /// Work with so many threads of its own (0: one per core; none: those of the pool at hand) and at most so much
    /// memory (none: three quarters of what is free).
    pub fn new(n_threads: Option<usize>, n_bytes_max: Option<u64>, watch: impl Into<Arc<Watch>>) -> Work {
        Work { n_threads, n_bytes_max, watch: watch.into(), reads_again: false }
    }

    /// The same where releases are made record by record, although the counts would do: the slow twin, for tests.
    pub fn reading_again(self) -> Work {
        Work { reads_again: true, ..self }
    }

    pub(crate) fn reads_again(&self) -> bool {
        self.reads_again
    }

    pub fn watch(&self) -> &Arc<Watch> {
        &self.watch
    }

    /// Something worth knowing that is not the result.
    pub fn note(&self, note: Note) {
        let mut notes = locked(&self.watch.notes);
        if notes.contains(&note) {
            return;
        }
        if let Some(listener) = &self.watch.listener {
            listener.notes(&note);
        }
        notes.push(note);
    }

    /// A part of the work that is shown, and ends soon after somebody has cancelled.
    pub fn stage<T>(&self, what: &'static str, n_all: u64, unit: Unit, job: impl FnOnce(&Task) -> T) -> T {
        let stage = Stage { what, unit, n_all, n_done: AtomicU64::new(0), detail: Mutex::new(None) };
        let stage = Arc::new(stage);
        *locked(&self.watch.stage) = Some(stage.clone());
        if let Some(listener) = &self.watch.listener {
            listener.begins(&stage);
        }
        let task = Task {
            n_bytes_max: self.n_bytes_max(),
            progress: &|n| stage.moves(n),
            is_cancelled: &|| self.watch.is_cancelled(),
            ..Task::default()
        };
        let done = job(&task);
        *locked(&self.watch.stage) = None;
        if let Some(listener) = &self.watch.listener {
            listener.ends();
        }
        done
    }

    /// A part of the work that is too short to be shown, and ends soon after somebody has cancelled all the same.
    pub fn quietly<T>(&self, job: impl FnOnce(&Task) -> T) -> T {
        let is_cancelled = || self.watch.is_cancelled();
        job(&Task { n_bytes_max: self.n_bytes_max(), is_cancelled: &is_cancelled, ..Task::default() })
    }

    /// Says how far the search of this stage is.
    pub fn detail(&self, n_done: u64, detail: Detail) {
        if let Some(stage) = &*locked(&self.watch.stage) {
            stage.n_done.store(n_done, Ordering::Relaxed);
            *locked(&stage.detail) = Some(detail);
        }
    }

    /// Ends work that is no longer wanted.
    pub fn check(&self) -> Result<()> {
        if self.watch.is_cancelled() { Err(cancelled()) } else { Ok(()) }
    }

    /// The most bytes that the work may take.
    pub fn n_bytes_max(&self) -> u64 {
        self.n_bytes_max.unwrap_or_else(|| free_memory() / 4 * 3)
    }

    /// How many threads read a table.
    pub fn n_threads(&self) -> usize {
        match self.n_threads {
            None => rayon::current_num_threads(),
            Some(0) => std::thread::available_parallelism().map_or(1, |n| n.get()),
            Some(n) => n,
        }
    }

    /// Works on as many threads as were asked for.
    pub fn on_threads<T: Send>(&self, job: impl FnOnce() -> T + Send) -> Result<T> {
        if self.n_threads.is_none() {
            return Ok(job());
        }
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(self.n_threads())
            .build()
            .map_err(|error| Error::new(ErrorKind::Io, format!("could not start threads: {error}")))?;
        Ok(pool.install(job))
    }
}

impl Watch {
    pub fn heard_by(listener: impl Listener + 'static) -> Watch {
        Watch { listener: Some(Box::new(listener)), ..Watch::default() }
    }

    /// What the work is at; nothing between two stages.
    pub fn progress(&self) -> Option<Progress> {
        let stage = locked(&self.stage);
        stage.as_ref().map(|stage| Progress { what: stage.what.into(), n_done: stage.n_done(), n_all: stage.n_all })
    }

    /// How far the search is that the work is at, if it is at one.
    pub fn detail(&self) -> Option<Detail> {
        locked(&self.stage).as_ref().and_then(|stage| stage.detail())
    }

    /// What was worth knowing up to now, each thing once.
    pub fn notes(&self) -> Vec<Note> {
        locked(&self.notes).clone()
    }

    /// Asks the work to end as soon as it can.
    pub fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::SeqCst);
    }

    pub fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::SeqCst)
    }
}

impl Watch {
    /// Asks a search to end with the best so far.
    pub fn enough(&self) {
        self.is_enough.store(true, Ordering::SeqCst);
    }

    /// Whether the best so far would be an answer.
    pub fn is_searching(&self) -> bool {
        locked(&self.stage).as_ref().is_some_and(|stage| stage.unit == Unit::Seconds)
    }

    pub fn is_enough(&self) -> bool {
        self.is_enough.load(Ordering::SeqCst)
    }
}

impl Stage {
    pub fn n_done(&self) -> u64 {
        self.n_done.load(Ordering::Relaxed).min(self.n_all)
    }

    pub fn detail(&self) -> Option<Detail> {
        locked(&self.detail).clone()
    }

    fn moves(&self, n: u64) {
        self.n_done.fetch_add(n, Ordering::Relaxed);
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever watches sees how far it is, hears each note once, and ends it.
    #[test]
    fn work_is_watched_and_ended() {
        let work = Work::default();
        let note = || Note::DataNotHere;
        work.note(note());
        work.note(note());
        assert_eq!(work.watch().notes(), [note()]);
        let ended = work.stage("counting", 10, Unit::Records, |task| {
            (task.progress)(4);
            let seen = work.watch().progress().expect("a stage");
            assert_eq!((seen.what.as_str(), seen.n_done, seen.n_all), ("counting", 4, 10));
            assert!(task.go_on().is_ok());
            work.watch().cancel();
            task.go_on()
        });
        assert_eq!(ended.expect_err("cancelled").kind(), ErrorKind::Cancelled);
        assert!(work.watch().progress().is_none() && work.check().is_err());
    }
}
