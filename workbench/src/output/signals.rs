//! Signals that would end the program, held back while something is done that must not be left half done.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// Whether this process is a command of ours, and not a program that uses this crate.
static ARE_OURS: AtomicBool = AtomicBool::new(false);

/// Held while signals are held back.
static AT_WORK: Mutex<()> = Mutex::new(());

/// Says that nobody else in this process cares about signals, so that they may be held back.
pub fn take_over() {
    ARE_OURS.store(true, Ordering::SeqCst);
}

/// Works undisturbed by Ctrl-C, a hang-up or a polite kill. Where one came meanwhile, also returns the status with which
/// the program is to end.
///
/// Signals that are not ours are left alone; so is what nobody can hold back, a kill with SIGKILL.
pub fn held<T>(work: impl FnOnce() -> T) -> (T, Option<i32>) {
    match ARE_OURS.load(Ordering::SeqCst).then(system::hold).flatten() {
        Some(mut held) => {
            // Who has worked so before and waits for the next signal waits for this work too.
            let at_work = AT_WORK.lock().unwrap_or_else(PoisonError::into_inner);
            let done = work();
            drop(at_work);
            let status = held.status();
            held.end_by_the_next();
            (done, status)
        }
        None => (work(), None),
    }
}

#[cfg(unix)]
mod system {
    use std::future::poll_fn;
    use std::sync::PoisonError;
    use std::task::Poll;
    use std::time::Duration;

    use tokio::runtime::{Builder, Runtime};
    use tokio::signal::unix::{Signal, SignalKind, signal};

    use super::AT_WORK;

    /// A signal that has come by the end of the work is noticed within this time.
    const NOTICED_WITHIN: Duration = Duration::from_millis(2);

    pub struct Held {
        runtime: Runtime,
        /// Each with the system's number of it.
        signals: Vec<(i32, Signal)>,
    }

    /// From now on these signals wait; none where the system does not allow it.
    pub fn hold() -> Option<Held> {
        let runtime = Builder::new_current_thread().enable_all().build().ok()?;
        let guard = runtime.enter();
        let kinds = [SignalKind::hangup(), SignalKind::interrupt(), SignalKind::terminate()];
        let ignored = ignored();
        // What someone has told the program to ignore, as nohup does, stays ignored.
        let kinds = kinds.into_iter().filter(|kind| ignored & 1 << (kind.as_raw_value() - 1) == 0);
        let signals = kinds.map(|kind| Some((kind.as_raw_value(), signal(kind).ok()?)));
        let signals = signals.collect::<Option<Vec<_>>>()?;
        drop(guard);
        Some(Held { runtime, signals })
    }

    impl Held {
        /// As a shell tells that a signal has ended a program; none where no signal has come.
        pub fn status(&mut self) -> Option<i32> {
            let Held { runtime, signals } = self;
            runtime.block_on(async { tokio::time::timeout(NOTICED_WITHIN, first(signals)).await.ok() })
        }

        /// Signals end the program again.
        pub fn end_by_the_next(self) {
            let Held { runtime, mut signals } = self;
            std::thread::spawn(move || {
                let status = runtime.block_on(first(&mut signals));
                let _at_rest = AT_WORK.lock().unwrap_or_else(PoisonError::into_inner);
                std::process::exit(status)
            });
        }
    }

    async fn first(signals: &mut [(i32, Signal)]) -> i32 {
        poll_fn(|context| {
            let came = |(number, signal): &mut (i32, Signal)| signal.poll_recv(context).is_ready().then_some(*number);
            match signals.iter_mut().find_map(came) {
                Some(number) => Poll::Ready(128 + number),
                None => Poll::Pending,
            }
        })
        .await
    }

    /// The signals that this process ignores, one bit each; none where the system does not say.
    fn ignored() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
    }
}

#[cfg(not(unix))]
mod system {
    pub enum Held {}

    pub fn hold() -> Option<Held> {
        None
    }

    impl Held {
        pub fn status(&mut self) -> Option<i32> {
            match *self {}
        }

        pub fn end_by_the_next(self) {
            match self {}
        }
    }
}
