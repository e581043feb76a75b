//! How much of the lattice is made: all of it, the most promising part, or nothing until a search needs it; and the
//! clock, the bar and Ctrl-C of such a search.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use incrowd::lattice::Scope;
use incrowd::search::on_demand::{FoundAnswer, Proof, negotiate_on_demand};
use incrowd::search::partial::{Estimator, Selection, n_selected};
use incrowd::task::{SearchProgress, Task};
use incrowd::wire::HowFound;
use incrowd::{Answer, Error, ErrorKind, Lattice, Plan, Request, Result};

use crate::count::Material;
use crate::sentences::grouped;
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
    /// Make no lattice: evaluate schemes as the search needs them
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

    /// The first of these flags that was given.
    pub fn first_given(&self) -> Option<&'static str> {
        let given = [
            ("--full", self.full),
            ("--partial", self.partial.is_some()),
            ("--on-demand", self.on_demand),
            ("--estimator", self.estimator.is_some()),
        ];
        given.into_iter().find(|(_, is_given)| *is_given).map(|(flag, _)| flag)
    }

    /// Refuses flags that would do nothing; `otherwise` is what is done where the whole lattice is too much.
    pub fn check(&self, otherwise: Otherwise) -> Result<()> {
        let may_be_partial = otherwise == Otherwise::Partial && !self.full && !self.on_demand;
        match self.estimator.is_some() && self.partial.is_none() && !may_be_partial {
            true => Err(Error::new(ErrorKind::Request, "--estimator is about partial lattices")
                .hint("leave it out, or add --partial 5%")),
            false => Ok(()),
        }
    }

    /// How much is made; where that is not all and nobody has asked for it, says so, and why.
    pub fn choose(&self, args: &ProjectArgs, counted: &Material, otherwise: Otherwise, talk: &Talk) -> Result<Extent> {
        let (extent, reason) = self.choice(args, counted, otherwise)?;
        reason.into_iter().for_each(|reason| talk.note(reason));
        Ok(extent)
    }

    /// How much is made, and what there is to say about it.
    pub fn choice(
        &self,
        args: &ProjectArgs,
        counted: &Material,
        otherwise: Otherwise,
    ) -> Result<(Extent, Option<String>)> {
        if let Some(forced) = self.forced()? {
            return Ok((forced, None));
        }
        let n_schemes = incrowd::scheme::n_schemes(&counted.hierarchies).unwrap_or(u64::MAX);
        let Some(reason) = too_much(n_schemes, args, counted)? else { return Ok((Extent::Full, None)) };
        self.instead(&reason, args, counted, otherwise)
    }

    /// What is done where the whole lattice is too much for some reason, and what there is to say about it.
    pub fn instead(
        &self,
        reason: &str,
        args: &ProjectArgs,
        counted: &Material,
        otherwise: Otherwise,
    ) -> Result<(Extent, Option<String>)> {
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
        Ok((extent, Some(format!("{what}: the whole lattice of {n_schemes} schemes {reason} (--full insists)"))))
    }
}

/// How long to search on demand where nobody says.
pub const TIME: &str = "1m";

/// What ends a search that has proved nothing yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Or someone who presses Ctrl-C.
    Time,
    Memory,
}

/// What Ctrl-C does to a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CtrlC {
    /// It ends the search, and the best so far is the answer.
    EndsTheSearch,
    /// It ends the program, as everywhere else.
    EndsAll,
}

/// An answer on demand, and what it is about.
pub struct Searched {
    pub scope: Scope,
    pub found: FoundAnswer,
    /// What ended the search, where that was not that everything is proved.
    pub limit: Limit,
}

impl ProjectArgs {
    /// Answers a request on demand, within the memory that the flags allow and a time such as 30s, 5m or 2h.
    pub fn negotiate_on_demand(
        &self,
        counted: &Material,
        request: &Request,
        time: &str,
        ctrl_c: CtrlC,
        talk: &Talk,
    ) -> Result<Searched> {
        let time = parse_time(time)?;
        let weights = counted.weights();
        let yardstick = counted.yardstick(request.criteria.iter().map(|criterion| criterion.measure))?;
        let plan = Plan { weights: &weights, yardstick: &yardstick, with_entropy: request.best_by.needs_entropy() };
        let scope = Scope::new(&counted.counts, &counted.hierarchies, &yardstick);
        let bar = talk.things("searching", time.as_secs().max(1), "seconds at most");
        let is_interrupted = (ctrl_c == CtrlC::EndsTheSearch).then(interrupted);
        let is_stopped = AtomicBool::new(false);
        let start = Instant::now();
        let is_enough = |progress: &SearchProgress| {
            bar.set_position(start.elapsed().as_secs());
            bar.set_message(progress_in_words(&scope, request, progress));
            let is_over =
                start.elapsed() >= time || is_interrupted.is_some_and(|interrupted| interrupted.load(Ordering::SeqCst));
            is_stopped.fetch_or(is_over, Ordering::SeqCst);
            is_over
        };
        let task = Task { n_bytes_max: self.n_bytes_max()?, is_enough: &is_enough, ..Task::default() };
        let found = negotiate_on_demand(&counted.counts, &counted.hierarchies, &plan, request, &task);
        bar.finish_and_clear();
        let limit = if is_stopped.load(Ordering::SeqCst) { Limit::Time } else { Limit::Memory };
        Ok(Searched { found: found?, limit, scope })
    }
}

/// Why so many schemes over these groups are too many, if they are.
fn too_much(n_schemes: u64, args: &ProjectArgs, counted: &Material) -> Result<Option<String>> {
    let n_groups = counted.counts.n_groups() as u64;
    let n_bytes_max = args.n_bytes_max()?;
    let n_bytes = n_schemes.saturating_mul(N_BYTES_OF_SCHEME);
    let size = |n_bytes: u64| match n_bytes {
        0..1_000_000 => format!("{} kB", n_bytes.div_ceil(1_000)),
        _ => format!("{} MB", grouped(n_bytes.div_ceil(1_000_000))),
    };
    let needed = match n_bytes < incrowd::lattice::N_BYTES_OF_ANY_MACHINE {
        true => format!("about {}", size(n_bytes)),
        false => "more memory than any machine has".to_string(),
    };
    Ok(if n_bytes > n_bytes_max {
        Some(format!("would take {needed}, and {} are allowed", size(n_bytes_max)))
    } else if n_schemes.saturating_mul(n_groups) > N_GROUPS_MAX {
        Some(format!("over {} groups would take minutes", grouped(n_groups)))
    } else {
        None
    })
}

/// How far a search is, by what the request calls best.
fn progress_in_words(scope: &Scope, request: &Request, progress: &SearchProgress) -> String {
    let best = match (progress.best, request.best_by.is_height()) {
        (None, _) => "nothing yet".to_string(),
        (Some(best), true) => format!("best height {:.0}", best * n_steps(scope)),
        (Some(best), false) => format!("best {} {best:.3}", request.best_by.name()),
    };
    format!("{} schemes, {best}", progress.n_evaluated)
}

/// The height of the coarsest scheme.
fn n_steps(scope: &Scope) -> f64 {
    scope.hierarchies().iter().map(|hierarchy| hierarchy.top()).sum::<usize>() as f64
}

/// What is proved about an answer on demand, as a sentence says it.
pub fn proof_in_words(searched: &Searched, request: &Request) -> String {
    let Searched { scope, found, limit } = searched;
    let looked = looked_at(scope, found.n_evaluated);
    if found.is_proved() {
        return format!("Proved optimal; {looked}");
    }
    let more = match limit {
        Limit::Time => "more --time",
        Limit::Memory => "more --memory",
    };
    if !found.is_decided {
        return format!("The best so far, and perhaps all can be had; {looked}; {more} may tell");
    }
    format!("The best so far: {}; {looked}; {more} may find better", bound_of_answer(scope, request, found))
}

fn looked_at(scope: &Scope, n: u64) -> String {
    let n_schemes = scope.n_schemes().map_or("over 10^19".to_string(), grouped);
    format!("{} of {n_schemes} schemes {} looked at", grouped(n), if n == 1 { "was" } else { "were" })
}

/// How the scheme of an answer was found, for those who get the release; `choice` is the answer that was taken.
pub fn search_of(
    scope: &Scope,
    selection: Option<Selection>,
    request: &Request,
    found: &FoundAnswer,
    choice: &str,
) -> HowFound {
    let proof = match (&found.answer, choice) {
        (Answer::Offers(_), "height") => found.proofs.get(1),
        (Answer::Offers(_), "privacy") => found.proofs.get(2),
        _ => found.proofs.first(),
    };
    let is_optimal = found.is_decided && proof.is_some_and(|proof| proof.is_optimal);
    let loss_at_least =
        proof.map(|proof| proof.loss_at_least).filter(|loss| *loss > 0.0 && loss.is_finite() && !is_optimal);
    let best = match selection {
        Some(selection) => format!("The best of the most promising schemes by {}", selection.estimator.name()),
        None => "The best that was found before the search ended".to_string(),
    };
    let proved = match proof {
        _ if is_optimal => "Proved optimal".to_string(),
        _ if !found.is_decided => format!("{best}: perhaps all wishes could have been met"),
        Some(proof) => format!("{best}: {}", bound_in_words(scope, request, proof)),
        None => best,
    };
    HowFound {
        extent: if selection.is_some() { "partial" } else { "on-demand" }.to_string(),
        n_schemes: scope.n_schemes(),
        n_looked_at: found.n_evaluated,
        is_optimal,
        loss_at_least,
        statement: format!("{proved}; {}", looked_at(scope, found.n_evaluated)),
    }
}

/// What is proved about the answer of a partial lattice, as sentences say it.
pub fn partial_in_words(lattice: &Lattice, request: &Request, found: &FoundAnswer) -> String {
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
        let bound = bound_of_answer(lattice, request, found);
        format!("Among all schemes, {bound}; --on-demand finds the best")
    };
    format!("{from}. {proved}")
}

/// No scheme is better than this; of offers, the one that generalizes otherwise.
fn bound_of_answer(scope: &Scope, request: &Request, found: &FoundAnswer) -> String {
    match &found.answer {
        Answer::Exact(_) => bound_in_words(scope, request, &found.proofs[0]),
        Answer::Offers(_) => format!("of other levels, {}", bound_in_words(scope, request, &found.proofs[1])),
    }
}

/// No scheme is better than this.
fn bound_in_words(scope: &Scope, request: &Request, proof: &Proof) -> String {
    // The next whole height that is not proved impossible.
    let height = (proof.loss_at_least * n_steps(scope) - 0.25).ceil();
    match request.best_by.is_height() {
        _ if proof.loss_at_least.is_infinite() => "nothing else will do".to_string(),
        true if height >= 1.0 => format!("nothing below height {height} will do"),
        false if proof.loss_at_least >= 0.0005 => format!("nothing has a loss below {:.3}", proof.loss_at_least),
        _ => "no scheme is ruled out yet".to_string(),
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
pub fn parse_share(text: &str) -> Result<f64> {
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

    /// A bound that bounds nothing is not said as one, and there is no height of minus zero.
    #[test]
    fn bounds() {
        let (scope, request) = scope_and_request();
        let words = |loss_at_least: f64| bound_in_words(&scope, &request, &Proof { is_optimal: false, loss_at_least });
        assert_eq!(words(0.0), "no scheme is ruled out yet");
        assert_eq!(words(-1e-9), "no scheme is ruled out yet");
        assert_eq!(words(0.5), "nothing below height 1 will do");
        assert_eq!(words(f64::INFINITY), "nothing else will do");
        let progress = SearchProgress { n_evaluated: 7, best: Some(0.5), loss_at_least: 0.0 };
        assert_eq!(progress_in_words(&scope, &request, &progress), "7 schemes, best height 1");
        let request = Request { best_by: incrowd::Ranking::parse("ncp").expect("a ranking"), ..request };
        assert_eq!(progress_in_words(&scope, &request, &progress), "7 schemes, best ncp 0.500");
        let nothing = Proof { is_optimal: false, loss_at_least: 0.0 };
        assert_eq!(bound_in_words(&scope, &request, &nothing), "no scheme is ruled out yet");
    }

    /// Two attributes of one step each.
    fn scope_and_request() -> (Scope, Request) {
        use arrow_array::{ArrayRef, RecordBatch, StringArray};
        use std::sync::Arc;
        let column = |values: [&str; 3]| Arc::new(StringArray::from(values.to_vec())) as ArrayRef;
        let columns = [("a", column(["x", "x", "y"])), ("b", column(["u", "v", "v"]))];
        let batch = RecordBatch::try_from_iter(columns).expect("columns of one length");
        let mut counter = incrowd::Counter::new(&["a", "b"], &[], &incrowd::Missing::default());
        counter.push(&batch).expect("texts");
        let counts = counter.finish();
        let flat = |domain: &incrowd::Domain| incrowd::Rule::Flat.resolve(domain).expect("any value");
        let hierarchies: Vec<incrowd::Hierarchy> = counts.domains().iter().map(flat).collect();
        let yardstick = incrowd::Yardstick::new(&counts, &[], []).expect("sizes");
        let request = Request {
            criteria: incrowd::Criteria::of(Some(2), None),
            n_suppressed_max: 0,
            level_max: incrowd::Scheme::new(vec![incrowd::Level(1); 2]),
            best_by: incrowd::Ranking::default(),
        };
        (Scope::new(&counts, &hierarchies, &yardstick), request)
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
