//! Long work: without Python's lock, watched by a progress bar, and ended by Ctrl-C.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use incrowd::Result;
use incrowd_workbench::talk::{Talk, Watch};
use pyo3::prelude::*;

use crate::words::{bug, raised};

/// Python shows what there is to show.
pub const QUIET: Talk = Talk { is_json: false, is_quiet: true };

/// How often signals are looked at and the bar is moved.
const STEP: Duration = Duration::from_millis(50);

/// Works on a thread of its own, so that this one can listen for Ctrl-C.
///
/// `progress` is called with what is being done, how much is done, and of how much; nothing of it where the work is
/// over before the first look. Where it or a signal handler raises, the work is stopped and the exception goes on.
pub fn work<T: Send>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    job: impl FnOnce() -> Result<T> + Send,
) -> PyResult<T> {
    let progress = progress.map(|progress| progress.clone().unbind());
    let watch = Arc::new(Watch::default());
    let (done, raised_meanwhile) = py.detach(|| {
        std::thread::scope(|scope| {
            let (tell, ended) = channel::<()>();
            let of_worker = watch.clone();
            let worker = scope.spawn(move || {
                let done = catch_unwind(AssertUnwindSafe(|| of_worker.over(job)));
                drop(tell);
                done
            });
            let mut raised_meanwhile = None;
            while ended.recv_timeout(STEP) == Err(RecvTimeoutError::Timeout) {
                if raised_meanwhile.is_none()
                    && let Err(error) = look(&watch, progress.as_ref())
                {
                    watch.stop();
                    raised_meanwhile = Some(error);
                }
            }
            (worker.join(), raised_meanwhile)
        })
    });
    match (raised_meanwhile, done) {
        (Some(error), _) => Err(error),
        (None, Ok(Ok(done))) => done.map_err(|error| raised(&error)),
        (None, _) => Err(bug()),
    }
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
