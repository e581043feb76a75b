//! What the command line says: results on stdout, everything else on stderr.

use std::fmt::Display;
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::Value;

use crate::note::Note;
use crate::sentences::{grouped, percent};
use crate::words::notes::{Front, in_words};
use crate::work::{Detail, Listener, Stage, Unit, Watch, Work};

/// How a command ended, if not by an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done, or the answer is yes.
    Done,
    /// The answer is no: no exact answer, or a promise is broken.
    No,
    /// There is no answer: something that it takes was not given. To scripts that is an error.
    NotKnown,
}

/// Where a command's words go.
#[derive(Clone, Copy, Debug)]
pub struct Terminal {
    /// One JSON document on stdout and nothing else there.
    pub is_json: bool,
    /// Neither notes nor progress on stderr.
    pub is_quiet: bool,
}

impl Terminal {
    /// A line of the result, for people.
    pub fn say(&self, line: impl Display) {
        if !self.is_json {
            to_stdout(&format!("{line}\n"));
        }
    }

    /// The result, for programs.
    pub fn json(&self, value: &Value) {
        if self.is_json {
            let text = serde_json::to_string_pretty(value).expect("a value has no keys that are not texts");
            to_stdout(&format!("{text}\n"));
        }
    }

    /// Something worth knowing that is not the result.
    pub fn note(&self, line: impl Display) {
        if !self.is_quiet {
            to_stderr(line);
        }
    }

    /// Work that is shown here: notes as they come, and a bar for every stage.
    pub fn work(&self, n_threads: usize, n_bytes_max: Option<u64>) -> Work {
        Work::new(Some(n_threads), n_bytes_max, Watch::heard_by(Shown { terminal: *self, bar: Mutex::default() }))
    }
}

/// Shows work on the terminal.
struct Shown {
    terminal: Terminal,
    bar: Mutex<Option<Drawing>>,
}

/// A bar that follows a stage on a thread of its own.
struct Drawing {
    is_over: Arc<AtomicBool>,
    drawer: JoinHandle<()>,
}

impl Listener for Shown {
    fn notes(&self, note: &Note) {
        self.terminal.note(in_words(note, Front::CommandLine));
    }

    fn begins(&self, stage: &Arc<Stage>) {
        if self.terminal.is_quiet {
            return;
        }
        let (stage, is_over) = (stage.clone(), Arc::new(AtomicBool::new(false)));
        let until = is_over.clone();
        let drawer = match std::io::stderr().is_terminal() {
            true => std::thread::spawn(move || draw(&stage, &until)),
            // For whoever reads it tomorrow: cron, a log.
            false => std::thread::spawn(move || tell(&stage, &until, BETWEEN_LINES)),
        };
        *self.bar.lock().unwrap_or_else(PoisonError::into_inner) = Some(Drawing { is_over, drawer });
    }

    fn ends(&self) {
        if let Some(Drawing { is_over, drawer }) = self.bar.lock().unwrap_or_else(PoisonError::into_inner).take() {
            is_over.store(true, Ordering::SeqCst);
            drawer.thread().unpark();
            // A bar that could not be drawn is no reason to fail.
            drawer.join().ok();
        }
    }
}

/// How often work that nobody watches tells how far it is.
const BETWEEN_LINES: Duration = Duration::from_secs(10);

/// A line now and then, where there is no terminal to draw on.
fn tell(stage: &Stage, is_over: &AtomicBool, between: Duration) {
    let mut last = Instant::now();
    while !is_over.load(Ordering::SeqCst) {
        std::thread::park_timeout(between.saturating_sub(last.elapsed()).max(Duration::from_millis(1)));
        if last.elapsed() >= between && !is_over.load(Ordering::SeqCst) {
            to_stderr(line_of(stage));
            last = Instant::now();
        }
    }
}

/// `counting: 34 % of 1,204 MB`.
fn line_of(stage: &Stage) -> String {
    let (n_done, n_all) = (stage.n_done().min(stage.n_all), stage.n_all);
    let all = match stage.unit {
        Unit::Bytes => format!("{} MB", grouped(n_all.div_ceil(1_000_000))),
        Unit::Records => format!("{} records", grouped(n_all)),
        Unit::Schemes => format!("{} schemes", grouped(n_all)),
        Unit::Seconds => format!("{} seconds at most", grouped(n_all)),
    };
    let detail = stage.detail().map_or(String::new(), |detail| format!("; {}", in_words_so_far(&detail)));
    format!("{}: {} of {all}{detail}", stage.what, percent(n_done, n_all.max(1)))
}

fn draw(stage: &Stage, is_over: &AtomicBool) {
    let template = match stage.unit {
        Unit::Bytes => "{msg:>10} {wide_bar} {bytes}/{total_bytes} {eta:>4}",
        Unit::Records => "{msg:>10} {wide_bar} {human_pos}/{human_len} records {eta:>4}",
        Unit::Schemes => "{msg:>10} {wide_bar} {human_pos}/{human_len} schemes {eta:>4}",
        Unit::Seconds => "{msg:>10} {wide_bar} {human_pos}/{human_len} seconds at most {eta:>4}",
    };
    let bar = ProgressBar::with_draw_target(Some(stage.n_all), ProgressDrawTarget::stderr_with_hz(15));
    bar.set_style(ProgressStyle::with_template(template).expect("the templates above are well-formed"));
    bar.set_message(stage.what);
    while !is_over.load(Ordering::SeqCst) {
        bar.set_position(stage.n_done());
        if let Some(detail) = stage.detail() {
            bar.set_message(in_words_so_far(&detail));
        }
        bar.tick();
        std::thread::park_timeout(Duration::from_millis(100));
    }
    bar.finish_and_clear();
}

/// How far a search is.
fn in_words_so_far(detail: &Detail) -> String {
    let best = match &detail.best {
        None => "nothing yet".to_string(),
        Some((quality, best)) if quality == "height" => format!("best height {best:.0}"),
        Some((quality, best)) => format!("best {quality} {best:.3}"),
    };
    format!("{} schemes, {best}", detail.n_evaluated)
}

/// Ctrl-C ends a search with the best so far; the second time, or after the search, it ends the program.
pub fn ctrl_c_is_enough(watch: &Arc<Watch>) {
    let watch = watch.clone();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let Ok(runtime) = runtime else { return };
        runtime.block_on(async {
            while tokio::signal::ctrl_c().await.is_ok() {
                if watch.is_enough() || !watch.is_searching() {
                    std::process::exit(130);
                }
                watch.enough();
            }
        });
    });
}

/// Writes to stdout; a reader that has gone away ends the program quietly, as it ends other tools.
pub fn to_stdout(text: &str) {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => {}
        // As the signal would say it; never 0, which would be an answer.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => std::process::exit(141),
        Err(error) => {
            to_stderr(format_args!("error: stdout could not be written: {error}"));
            std::process::exit(2);
        }
    }
}

/// Writes a line to stderr; nobody can be told that nobody listens.
pub fn to_stderr(line: impl Display) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

/// Rows as CSV.
pub fn csv(header: &[String], rows: &[Vec<String>]) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let written = writer.write_record(header).and_then(|()| rows.iter().try_for_each(|row| writer.write_record(row)));
    written.expect("memory takes any record");
    String::from_utf8(writer.into_inner().expect("memory takes any record")).expect("made of texts")
}

/// Lays out rows in columns; all but the columns named in `left` are aligned to the right.
pub fn columns(header: &[&str], rows: &[Vec<String>], left: &[usize]) -> String {
    let width = |text: &str| text.chars().count();
    let mut widths: Vec<usize> = header.iter().map(|text| width(text)).collect();
    for row in rows {
        for (widest, cell) in widths.iter_mut().zip(row) {
            *widest = (*widest).max(width(cell));
        }
    }
    let line = |cells: Vec<&str>| {
        let padded = cells.iter().zip(&widths).enumerate().map(|(i, (cell, &widest))| {
            let padding = " ".repeat(widest - width(cell));
            if left.contains(&i) { format!("{cell}{padding}") } else { format!("{padding}{cell}") }
        });
        padded.collect::<Vec<_>>().join("  ").trim_end().to_string()
    };
    let mut lines = vec![line(header.to_vec()), widths.iter().map(|&w| "─".repeat(w)).collect::<Vec<_>>().join("  ")];
    lines.extend(rows.iter().map(|row| line(row.iter().map(String::as_str).collect())));
    lines.join("\n")
}
