//! Long work: without Python's lock, watched by a progress bar, ended by Ctrl-C, and possible after a fork.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use incrowd::{Error, ErrorKind, Result};
use incrowd_workbench::words::notes::{Front, in_words};
use incrowd_workbench::work::{Watch, Work};
use pyo3::prelude::*;

use crate::words::{bug, raised, tell};

/// How often signals are looked at and the bar is moved.
const STEP: Duration = Duration::from_millis(50);

/// Works on a thread of its own, so that this one can listen for Ctrl-C.
///
/// `progress` is called with what is being done, how much is done, and of how much; nothing of it where the work is
/// over before the first look. Where it or a signal handler raises, the work is stopped and the exception goes on.
/// What the command line would print as notes becomes warnings.
pub fn work<T: Send>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    job: impl FnOnce(&Work) -> Result<T> + Send,
) -> PyResult<T> {
    work_with(py, progress, || Ok((0, None)), job)
}

/// The same, with so many threads (0: one per core) and at most so many bytes.
pub fn work_with<T: Send>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    means: impl FnOnce() -> Result<(usize, Option<u64>)>,
    job: impl FnOnce(&Work) -> Result<T> + Send,
) -> PyResult<T> {
    let progress = progress.map(|progress| progress.clone().unbind());
    let (n_threads, n_bytes_max) = means().map_err(|error| raised(&error))?;
    let watch = Arc::new(Watch::default());
    let own = Work::new(Some(n_threads), n_bytes_max, watch.clone());
    let (done, raised_meanwhile) = py.detach(|| {
        std::thread::scope(|scope| {
            let (tell, ended) = channel::<()>();
            let own = &own;
            let worker = scope.spawn(move || {
                let done = catch_unwind(AssertUnwindSafe(|| on_threads_of_this_process(|| job(own))));
                drop(tell);
                done
            });
            let mut raised_meanwhile = None;
            while ended.recv_timeout(STEP) == Err(RecvTimeoutError::Timeout) {
                if raised_meanwhile.is_none()
                    && let Err(error) = look(&watch, progress.as_ref())
                {
                    watch.cancel();
                    raised_meanwhile = Some(error);
                }
            }
            (worker.join(), raised_meanwhile)
        })
    });
    let told = watch.notes().iter().try_for_each(|note| tell(py, &in_words(note, Front::Python)));
    match (raised_meanwhile, done) {
        (Some(error), _) => Err(error),
        (None, Ok(Ok(done))) => {
            let done = done.map_err(|error| raised(&error))?;
            // Where warnings are errors, whoever asked wants no result.
            told.map(|()| done)
        }
        (None, _) => Err(bug()),
    }
}

/// The process whose threads share the work of many small tasks; 0 before there are any.
static HAS_THREADS: AtomicU32 = AtomicU32::new(0);

/// Whether this process was forked from one that had started threads: they stayed there, and waiting for them would
/// never end.
pub fn is_forked() -> bool {
    let here = std::process::id();
    let first = HAS_THREADS.compare_exchange(0, here, Ordering::SeqCst, Ordering::SeqCst);
    first.is_err_and(|started_by| started_by != here)
}

/// Works with the threads that are there, or in a forked process with threads of its own for this piece of work.
fn on_threads_of_this_process<T: Send>(job: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    if !is_forked() {
        return job();
    }
    let pool = rayon::ThreadPoolBuilder::new().build();
    let pool = pool.map_err(|error| Error::new(ErrorKind::Io, format!("could not start threads: {error}")))?;
    pool.install(job)
}

fn look(watch: &Watch, progress: Option<&Py<PyAny>>) -> PyResult<()> {
    Python::attach(|py| {
        py.check_signals()?;
        match (progress, watch.progress()) {
            (Some(show), Some(now)) => show.call1(py, (now.what, now.n_done, now.n_all)).map(|_| ()),
            _ => Ok(()),
        }
    })
}
