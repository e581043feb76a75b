//! Whether a lattice is made whole or schemes are evaluated on demand, and the clock, the bar and Ctrl-C of the latter.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use incrowd::lattice::Scope;
use incrowd::on_demand::{Budget, Found, Progress, negotiate_on_demand};
use incrowd::wire::grouped;
use incrowd::{Answer, Error, ErrorKind, Plan, Request, Result};

use crate::count::Counted;
use crate::talk::Talk;
use crate::wishes::ProjectArgs;

/// Flags that say how much of the lattice is made.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "How much of the lattice is made")]
pub struct ExtentArgs {
    /// Make the whole lattice, however long it takes [default: where it fits and takes no longer than about a minute]
    #[arg(long, conflicts_with = "on_demand")]
    pub full: bool,
    /// Make no lattice: evaluate schemes as the search needs them; Ctrl-C ends it with the best so far
    #[arg(long)]
    pub on_demand: bool,
    /// How long to search on demand, such as 30s, 5m or 2h
    #[arg(long, value_name = "TIME", default_value = "1m")]
    pub time: String,
}

/// Schemes times distinct combinations above which the whole lattice takes longer than about a minute: 8 ns each, on two
/// cores.
const N_GROUPS_MAX: u64 = 15_000_000_000;
/// About how many bytes a scheme of a large lattice takes: its profile, and its cells of the grids.
const N_BYTES_OF_SCHEME: u64 = 600;

impl ExtentArgs {
    /// Whether schemes are evaluated on demand; says so, and why.
    pub fn is_on_demand(&self, args: &ProjectArgs, counted: &Counted, talk: &Talk) -> Result<bool> {
        if self.full || self.on_demand {
            return Ok(self.on_demand);
        }
        let n_schemes = incrowd::scheme::n_schemes(&counted.hierarchies).unwrap_or(u64::MAX);
        let n_groups = counted.counts.n_groups() as u64;
        let n_bytes_max = args.n_bytes_max()?;
        let n_bytes = n_schemes.saturating_mul(N_BYTES_OF_SCHEME);
        let megabytes = |n_bytes: u64| grouped(n_bytes.div_ceil(1_000_000));
        let reason = if n_bytes > n_bytes_max {
            format!("would take about {} MB, and {} MB are allowed", megabytes(n_bytes), megabytes(n_bytes_max))
        } else if n_schemes.saturating_mul(n_groups) > N_GROUPS_MAX {
            format!("over {} groups would take minutes", grouped(n_groups))
        } else {
            return Ok(false);
        };
        talk.note(format!("on demand: the whole lattice of {} schemes {reason} (--full insists)", grouped(n_schemes)));
        Ok(true)
    }

    /// Answers a request on demand, within the memory and the time that the flags allow.
    pub fn negotiate(
        &self,
        args: &ProjectArgs,
        counted: &Counted,
        request: &Request,
        talk: &Talk,
    ) -> Result<(Scope, Found)> {
        let time = parse_time(&self.time)?;
        let weights = counted.weights();
        let yardstick = counted.yardstick(request.criteria.iter().map(|criterion| criterion.measure))?;
        let plan = Plan { weights: &weights, yardstick: &yardstick, with_entropy: request.best_by.needs_entropy() };
        let scope = Scope::new(&counted.counts, &counted.hierarchies, &yardstick);
        let bar = talk.things("searching", time.as_secs().max(1), "seconds at most");
        let is_interrupted = interrupted();
        let start = Instant::now();
        let go_on = |progress: &Progress| {
            bar.set_position(start.elapsed().as_secs());
            let best = progress.best.map_or("nothing yet".to_string(), |best| format!("best loss {best:.3}"));
            bar.set_message(format!("{} schemes, {best}", progress.n_evaluated));
            start.elapsed() < time && !is_interrupted.load(Ordering::SeqCst)
        };
        let budget = Budget { n_bytes_max: args.n_bytes_max()?, go_on: &go_on };
        let found = negotiate_on_demand(&counted.counts, &counted.hierarchies, &plan, request, &budget);
        bar.finish_and_clear();
        Ok((scope, found?))
    }
}

/// What is proved about an answer, as a sentence says it.
pub fn proof_in_words(scope: &Scope, request: &Request, found: &Found) -> String {
    let n_schemes = scope.n_schemes().map_or("over 10^19".to_string(), grouped);
    let looked = format!("{} of {n_schemes} schemes were looked at", grouped(found.n_evaluated));
    if found.is_proved() {
        return format!("Proved optimal; {looked}");
    }
    let proof = match &found.answer {
        _ if !found.is_decided => return format!("The best so far, and perhaps all can be had; {looked}"),
        Answer::Exact(_) => &found.proofs[0],
        Answer::Offers(_) => &found.proofs[1],
    };
    let what = if matches!(found.answer, Answer::Exact(_)) { "nothing" } else { "of other levels, nothing" };
    let tops: usize = scope.hierarchies().iter().map(|hierarchy| hierarchy.top()).sum();
    let bound = match request.best_by.is_height() {
        // The next whole height that is not proved impossible.
        true => format!("{what} below height {} will do", (proof.loss_at_least * tops as f64 - 0.25).ceil().max(0.0)),
        false => format!("{what} has a loss below {:.3}", proof.loss_at_least),
    };
    format!("The best so far: {bound}; {looked}; more --time may find better")
}

/// Becomes true when someone presses Ctrl-C; the second time ends the program.
fn interrupted() -> &'static AtomicBool {
    static IS_INTERRUPTED: AtomicBool = AtomicBool::new(false);
    static IS_WATCHED: AtomicBool = AtomicBool::new(false);
    if !IS_WATCHED.swap(true, Ordering::SeqCst) {
        std::thread::spawn(|| {
            let Ok(runtime) = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build() else {
                return;
            };
            runtime.block_on(async {
                while tokio::signal::ctrl_c().await.is_ok() {
                    if IS_INTERRUPTED.swap(true, Ordering::SeqCst) {
                        std::process::exit(130);
                    }
                }
            });
        });
    }
    &IS_INTERRUPTED
}

/// `30s`, `5m` or `2h`.
fn parse_time(text: &str) -> Result<Duration> {
    let text = text.trim();
    let (digits, unit) = text.split_at(text.find(|c: char| c.is_alphabetic()).unwrap_or(text.len()));
    let factor = match unit {
        "" | "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => f64::NAN,
    };
    match digits.trim().parse::<f64>().map(|number| number * factor) {
        Ok(seconds) if (0.0..1e9).contains(&seconds) => Ok(Duration::from_secs_f64(seconds)),
        _ => Err(Error::new(ErrorKind::Request, format!("'{text}' is not a time")).hint("for example --time 30s")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        for (text, seconds) in
            [("30", Some(30)), ("30s", Some(30)), ("5m", Some(300)), ("2 h", Some(7200)), ("0", Some(0))]
        {
            assert_eq!(parse_time(text).ok(), seconds.map(Duration::from_secs), "{text}");
        }
        for text in ["", "-1s", "soon", "5d", "nan"] {
            assert!(parse_time(text).is_err(), "{text}");
        }
    }
}
