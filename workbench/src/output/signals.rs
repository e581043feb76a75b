//! Signals that would end the program, held back while something is done that must not be left half done.

use std::sync::{Mutex, OnceLock, PoisonError};

use incrowd::Result;

/// What is said of a file that was being named when a signal came, and whether it got its name.
pub type LastWords = fn(&str, &Result<()>);

/// Whoever has the last words of this process, where it is a command of ours and not a program that uses this crate.
static LAST_WORDS: OnceLock<LastWords> = OnceLock::new();

/// Held while signals are held back.
static AT_WORK: Mutex<()> = Mutex::new(());

/// Says that nobody else in this process cares about signals, so that they may be held back.
pub fn take_over(last_words: LastWords) {
    LAST_WORDS.get_or_init(|| last_words);
}

/// Ends the program, after what there is to say of what was done meanwhile.
pub fn end(name: &str, named: &Result<()>, status: i32) -> ! {
    if let Some(last_words) = LAST_WORDS.get() {
        last_words(name, named);
    }
    std::process::exit(status);
}

/// Works undisturbed by Ctrl-C, a hang-up or a polite kill. Where one came meanwhile, also returns the status with which
/// the program is to end.
///
/// Signals that are not ours are left alone; so is what nobody can hold back, a kill with SIGKILL.
pub fn held<T>(work: impl FnOnce() -> T) -> (T, Option<i32>) {
    match LAST_WORDS.get().and_then(|_| system::hold()) {
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

mod system {
    use std::future::poll_fn;
    use std::sync::PoisonError;
    use std::task::{Context, Poll};
    use std::time::Duration;

    use tokio::runtime::{Builder, Runtime};

    use super::AT_WORK;

    /// A signal that has come by the end of the work is noticed within this time.
    const NOTICED_WITHIN: Duration = Duration::from_millis(2);

    /// Whether a signal has come.
    type Coming = Box<dyn FnMut(&mut Context<'_>) -> Poll<Option<()>> + Send>;

    pub struct Held {
        runtime: Runtime,
        /// Each with the system's number of it.
        signals: Vec<(i32, Coming)>,
    }

    /// From now on these signals wait; none where the system does not allow it.
    pub fn hold() -> Option<Held> {
        let runtime = Builder::new_current_thread().enable_all().build().ok()?;
        let guard = runtime.enter();
        let signals = signals()?;
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

    async fn first(signals: &mut [(i32, Coming)]) -> i32 {
        poll_fn(|context| {
            let came = |(number, coming): &mut (i32, Coming)| coming(context).is_ready().then_some(*number);
            match signals.iter_mut().find_map(came) {
                Some(number) => Poll::Ready(128 + number),
                None => Poll::Pending,
            }
        })
        .await
    }

    /// A hang-up, Ctrl-C and a polite kill.
    #[cfg(unix)]
    fn signals() -> Option<Vec<(i32, Coming)>> {
        use tokio::signal::unix::{SignalKind, signal};
        let kinds = [SignalKind::hangup(), SignalKind::interrupt(), SignalKind::terminate()];
        let ignored = ignored();
        // What someone has told the program to ignore, as nohup does, stays ignored.
        let kinds = kinds.into_iter().filter(|kind| ignored & 1 << (kind.as_raw_value() - 1) == 0);
        let coming = |kind: SignalKind| {
            let mut signal = signal(kind).ok()?;
            Some((kind.as_raw_value(), Box::new(move |context: &mut Context<'_>| signal.poll_recv(context)) as Coming))
        };
        kinds.map(coming).collect()
    }

    /// Ctrl-C and Ctrl-Break, with the numbers that C gives them.
    #[cfg(windows)]
    fn signals() -> Option<Vec<(i32, Coming)>> {
        use tokio::signal::windows::{ctrl_break, ctrl_c};
        let (mut interrupt, mut stop) = (ctrl_c().ok()?, ctrl_break().ok()?);
        Some(vec![
            (2, Box::new(move |context: &mut Context<'_>| interrupt.poll_recv(context)) as Coming),
            (21, Box::new(move |context: &mut Context<'_>| stop.poll_recv(context)) as Coming),
        ])
    }

    #[cfg(not(any(unix, windows)))]
    fn signals() -> Option<Vec<(i32, Coming)>> {
        None
    }

    /// The signals that this process ignores, one bit each; none where the system does not say.
    #[cfg(unix)]
    fn ignored() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
    }
}
