//! What the command line says: results on stdout, everything else on stderr.

use std::cell::RefCell;
use std::fmt::Display;
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use incrowd::Result;
use incrowd::task::cancelled;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::Value;

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
pub struct Talk {
    /// One JSON document on stdout and nothing else there.
    pub is_json: bool,
    /// Neither notes nor progress on stderr.
    pub is_quiet: bool,
}

impl Talk {
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

    /// Something worth knowing that is not the result; whoever watches hears it too, however quiet this is.
    pub fn note(&self, line: impl Display) {
        WATCH.with_borrow(|watch| watch.iter().for_each(|watch| watch.hear(&line)));
        if !self.is_quiet {
            to_stderr(line);
        }
    }

    /// A bar that fills while bytes are read.
    pub fn bytes(&self, what: &'static str, n_bytes: u64) -> ProgressBar {
        self.bar(what, n_bytes, "{msg:>10} {wide_bar} {bytes}/{total_bytes} {eta:>4}")
    }

    /// A bar that fills while things are made.
    pub fn things(&self, what: &'static str, n_things: u64, name: &str) -> ProgressBar {
        self.bar(what, n_things, &format!("{{msg:>10}} {{wide_bar}} {{human_pos}}/{{human_len}} {name} {{eta:>4}}"))
    }

    fn bar(&self, what: &'static str, length: u64, template: &str) -> ProgressBar {
        let is_hidden = self.is_quiet || !std::io::stderr().is_terminal();
        let target = if is_hidden { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr_with_hz(15) };
        let bar = ProgressBar::with_draw_target(Some(length), target);
        bar.set_style(ProgressStyle::with_template(template).expect("the templates above are well-formed"));
        bar.set_message(what);
        if !is_hidden {
            bar.enable_steady_tick(Duration::from_millis(200));
        }
        WATCH.with_borrow(|watch| watch.iter().for_each(|watch| watch.show(&bar)));
        bar
    }
}

thread_local! {
    static WATCH: RefCell<Option<Arc<Watch>>> = const { RefCell::new(None) };
}

/// Work of one thread that others look at, and may stop.
#[derive(Default)]
pub struct Watch {
    bar: Mutex<Option<ProgressBar>>,
    notes: Mutex<Vec<String>>,
    is_stopped: AtomicBool,
}

/// How far some work is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    pub what: String,
    pub n_done: u64,
    pub n_all: u64,
}

impl Watch {
    /// Works where the bars of this thread can be watched.
    pub fn over<T>(self: &Arc<Watch>, work: impl FnOnce() -> T) -> T {
        WATCH.set(Some(self.clone()));
        let done = work();
        WATCH.set(None);
        done
    }

    /// What the work is at; nothing before it has shown a bar.
    pub fn progress(&self) -> Option<Progress> {
        let bar = self.bar.lock().unwrap_or_else(PoisonError::into_inner);
        bar.as_ref().map(|bar| {
            let n_all = bar.length().unwrap_or(0);
            Progress { what: bar.message(), n_done: bar.position().min(n_all), n_all }
        })
    }

    /// What was worth knowing up to now, each thing once.
    pub fn notes(&self) -> Vec<String> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Asks the work to end as soon as it can.
    pub fn stop(&self) {
        self.is_stopped.store(true, Ordering::SeqCst);
        if let Some(bar) = &*self.bar.lock().unwrap_or_else(PoisonError::into_inner) {
            bar.finish();
        }
    }

    pub fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::SeqCst)
    }

    fn hear(&self, line: &impl Display) {
        let (line, mut notes) = (line.to_string(), self.notes.lock().unwrap_or_else(PoisonError::into_inner));
        if !notes.contains(&line) {
            notes.push(line);
        }
    }

    fn show(&self, bar: &ProgressBar) {
        *self.bar.lock().unwrap_or_else(PoisonError::into_inner) = Some(bar.clone());
        if self.is_stopped() {
            bar.finish();
        }
    }
}

/// Whether somebody has stopped the work of this thread; to be asked by the threads that help it.
pub fn watched() -> impl Fn() -> bool + Sync {
    let watch = WATCH.with_borrow(Clone::clone);
    move || watch.as_ref().is_some_and(|watch| watch.is_stopped())
}

/// Whether the work behind a bar is still wanted: a bar that was finished before its work was stopped from elsewhere.
pub fn go_on(bar: &ProgressBar) -> Result<()> {
    match bar.is_finished() {
        true => Err(cancelled()),
        false => Ok(()),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_was_stopped_ends_with_one_kind_of_error() {
        let talk = Talk { is_json: false, is_quiet: true };
        let watch = Arc::new(Watch::default());
        let bar = watch.over(|| talk.bytes("reading", 10));
        go_on(&bar).expect("it goes on");
        watch.stop();
        assert_eq!(go_on(&bar).expect_err("it was stopped").kind(), incrowd::ErrorKind::Cancelled);
        let later = watch.over(|| talk.things("annotating", 10, "schemes"));
        assert_eq!(go_on(&later).expect_err("so is what comes later").kind(), incrowd::ErrorKind::Cancelled);
    }
}
