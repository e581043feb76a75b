//! How much of the lattice is made: all of it, the most promising part, or nothing until a search needs it; and the
//! clock, the bar and Ctrl-C of such a search.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use incrowd::lattice::Scope;
use incrowd::on_demand::{Budget, Found, Progress, negotiate_on_demand};
use incrowd::partial::{Estimator, Selection, n_selected};
use incrowd::wire::grouped;
use incrowd::{Answer, Error, ErrorKind, Lattice, Plan, Request, Result};

use crate::count::Material;
use crate::talk::Talk;
use crate::wishes::ProjectArgs;

/// Flags that say how much of the lattice is made.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "How much of the lattice is made [default: all where it fits and takes no minutes]")]
pub struct ExtentArgs {
    /// Make the whole lattice, however long it takes
    #[arg(long, conflicts_with_all = ["on_demand", "partial"])]
    pub full: bool,
    /// Make the most promising schemes of every height only, this share of them and at least two
    #[arg(long, value_name = "P%", num_args = 0..=1, default_missing_value = "5%", conflicts_with = "on_demand")]
    pub partial: Option<String>,
    /// What makes schemes promising: gamma, mu, gamma-mu or lambda [default: lambda]
    #[arg(long, value_name = "NAME")]
    pub estimator: Option<String>,
    /// Make no lattice: evaluate schemes as the search needs them; Ctrl-C ends it with the best so far
    #[arg(long)]
    pub on_demand: bool,
}

/// How much of the lattice is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Extent {
    Full,
    Partial(Selection),
    OnDemand,
}

/// What is done where the whole lattice is too much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Otherwise {
    /// One request can be answered exactly without a lattice.
    OnDemand,
    /// Many are to be answered, or something is to be said about many schemes.
    Partial,
}

/// Schemes times distinct combinations above which a lattice takes longer than about a minute: 8 ns each, on two cores.
const N_GROUPS_MAX: u64 = 15_000_000_000;
/// About how many bytes a scheme of a large lattice takes: its profile, and its cells of the grids.
const N_BYTES_OF_SCHEME: u64 = 600;

impl ExtentArgs {
    /// What the flags force, if anything.
    pub fn forced(&self) -> Result<Option<Extent>> {
        let estimator = self.estimator.as_deref().map(Estimator::parse).transpose()?;
        if let Some(text) = &self.partial {
            let selection = Selection { share: parse_share(text)?, ..Selection::default() };
            return Ok(Some(Extent::Partial(Selection {
                estimator: estimator.unwrap_or(selection.estimator),
                ..selection
            })));
        }
        match (self.full, self.on_demand) {
            (true, _) => Ok(Some(Extent::Full)),
            (_, true) => Ok(Some(Extent::OnDemand)),
            _ => Ok(None),
        }
    }

    /// How much is made; where that is not all and nobody has asked for it, says so, and why.
    pub fn choose(&self, args: &ProjectArgs, counted: &Material, otherwise: Otherwise, talk: &Talk) -> Result<Extent> {
        if let Some(forced) = self.forced()? {
            return Ok(forced);
        }
        let n_schemes = incrowd::scheme::n_schemes(&counted.hierarchies).unwrap_or(u64::MAX);
        let Some(reason) = too_much(n_schemes, args, counted)? else { return Ok(Extent::Full) };
        self.instead(&reason, args, counted, otherwise, talk)
    }

    /// What is done where the whole lattice is too much for some reason; says so.
    pub fn instead(
        &self,
        reason: &str,
        args: &ProjectArgs,
        counted: &Material,
        otherwise: Otherwise,
        talk: &Talk,
    ) -> Result<Extent> {
        let estimator = self.estimator.as_deref().map(Estimator::parse).transpose()?;
        let selection =
            Selection { estimator: estimator.unwrap_or(Selection::default().estimator), ..Selection::default() };
        let n_selected = n_selected(&counted.hierarchies, selection)?;
        let n_schemes = incrowd::scheme::n_schemes(&counted.hierarchies).map_or("over 10^19".into(), grouped);
        let (extent, what) = match otherwise {
            Otherwise::Partial if too_much(n_selected, args, counted)?.is_none() => (
                Extent::Partial(selection),
                format!(
                    "partial, the best {} % of the schemes of every height by {}",
                    selection.share * 100.0,
                    selection.estimator.name()
                ),
            ),
            _ => (Extent::OnDemand, "on demand".to_string()),
        };
        talk.note(format!("{what}: the whole lattice of {n_schemes} schemes {reason} (--full insists)"));
        Ok(extent)
    }
}

/// How long to search on demand where nobody says.
pub const TIME: &str = "1m";

impl ProjectArgs {
    /// Answers a request on demand, within the memory that the flags allow and a time such as 30s, 5m or 2h.
    pub fn negotiate_on_demand(
        &self,
        counted: &Material,
        request: &Request,
        time: &str,
        talk: &Talk,
    ) -> Result<(Scope, Found)> {
        let time = parse_time(time)?;
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
        let budget = Budget { n_bytes_max: self.n_bytes_max()?, go_on: &go_on };
        let found = negotiate_on_demand(&counted.counts, &counted.hierarchies, &plan, request, &budget);
        bar.finish_and_clear();
        Ok((scope, found?))
    }
}

/// Why so many schemes over these groups are too many, if they are.
fn too_much(n_schemes: u64, args: &ProjectArgs, counted: &Material) -> Result<Option<String>> {
    let n_groups = counted.counts.n_groups() as u64;
    let n_bytes_max = args.n_bytes_max()?;
    let n_bytes = n_schemes.saturating_mul(N_BYTES_OF_SCHEME);
    let megabytes = |n_bytes: u64| grouped(n_bytes.div_ceil(1_000_000));
    Ok(if n_bytes > n_bytes_max {
        Some(format!("would take about {} MB, and {} MB are allowed", megabytes(n_bytes), megabytes(n_bytes_max)))
    } else if n_schemes.saturating_mul(n_groups) > N_GROUPS_MAX {
        Some(format!("over {} groups would take minutes", grouped(n_groups)))
    } else {
        None
    })
}

/// What is proved about an answer on demand, as a sentence says it.
pub fn proof_in_words(scope: &Scope, request: &Request, found: &Found) -> String {
    let n_schemes = scope.n_schemes().map_or("over 10^19".to_string(), grouped);
    let looked = format!("{} of {n_schemes} schemes were looked at", grouped(found.n_evaluated));
    if found.is_proved() {
        return format!("Proved optimal; {looked}");
    }
    if !found.is_decided {
        return format!("The best so far, and perhaps all can be had; {looked}");
    }
    format!("The best so far: {}; {looked}; more --time may find better", bound_in_words(scope, request, found))
}

/// What is proved about the answer of a partial lattice, as sentences say it.
pub fn partial_in_words(lattice: &Lattice, request: &Request, found: &Found) -> String {
    let n_schemes = lattice.n_schemes().map_or("over 10^19".to_string(), grouped);
    let selection = lattice.selection().unwrap_or_default();
    let from = format!(
        "From a partial lattice: {} of {n_schemes} schemes, the most promising by {}",
        grouped(lattice.schemes().len() as u64),
        selection.estimator.name()
    );
    let proved = if found.is_proved() {
        "Proved optimal: nothing that is not annotated could be better".to_string()
    } else if !found.is_decided {
        "Perhaps all can be had: schemes that are not annotated were not ruled out; --on-demand finds out".to_string()
    } else {
        let bound = bound_in_words(lattice, request, found);
        format!("Among all schemes, {bound}; --on-demand finds the best")
    };
    format!("{from}. {proved}")
}

/// No scheme is better than this.
fn bound_in_words(scope: &Scope, request: &Request, found: &Found) -> String {
    let (proof, what) = match &found.answer {
        Answer::Exact(_) => (&found.proofs[0], "nothing"),
        Answer::Offers(_) => (&found.proofs[1], "of other levels, nothing"),
    };
    let tops: usize = scope.hierarchies().iter().map(|hierarchy| hierarchy.top()).sum();
    match request.best_by.is_height() {
        // The next whole height that is not proved impossible.
        true => format!("{what} below height {} will do", (proof.loss_at_least * tops as f64 - 0.25).ceil().max(0.0)),
        false => format!("{what} has a loss below {:.3}", proof.loss_at_least),
    }
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

/// `5%`, above 0 and at most 100.
fn parse_share(text: &str) -> Result<f64> {
    let number = text.trim().strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    match number {
        Some(percent) if percent > 0.0 && percent <= 100.0 => Ok(percent / 100.0),
        _ => Err(Error::new(ErrorKind::Request, format!("'{text}' is not a share of the schemes"))
            .hint("for example --partial 5%")),
    }
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

    #[test]
    fn shares() {
        for (text, share) in [("5%", Some(0.05)), ("100 %", Some(1.0)), ("0.5%", Some(0.005))] {
            assert_eq!(parse_share(text).ok(), share, "{text}");
        }
        for text in ["", "0%", "101%", "5", "-5%", "nan%", "%"] {
            assert!(parse_share(text).is_err(), "{text}");
        }
    }
}
