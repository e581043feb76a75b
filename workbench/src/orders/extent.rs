//! How much of the lattice is made: all of it, the most promising part, or nothing until a search needs it; and such a
//! search, with what it proves.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::sentences::grouped;
use incrowd::lattice::Scope;
use incrowd::search::on_demand::{FoundAnswer, Proof, negotiate_on_demand};
use incrowd::search::partial::{Estimator, Selection, n_selected};
use incrowd::task::{SearchProgress, Task};
use incrowd::wire::HowFound;
use incrowd::{Answer, Plan, Request, Result};

use crate::input::count::Material;
use crate::note::{Note, TooMuch};
use crate::work::{Detail, Unit, Work};

/// How much of the lattice is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Extent {
    Full,
    Partial(Selection),
    OnDemand,
}

/// What somebody says about it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ExtentWish {
    /// All where it fits and takes no minutes, unless this says otherwise.
    pub forced: Option<Extent>,
    /// What makes schemes promising, where a part is made.
    pub estimator: Option<Estimator>,
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

impl ExtentWish {
    /// How much is made; where that is not all and nobody has asked for it, says so, and why.
    pub fn choose(&self, counted: &Material, otherwise: Otherwise, work: &Work) -> Result<Extent> {
        let (extent, note) = self.choice(counted, otherwise, work)?;
        note.into_iter().for_each(|note| work.note(note));
        Ok(extent)
    }

    /// How much is made, and what there is to say about it.
    pub fn choice(&self, counted: &Material, otherwise: Otherwise, work: &Work) -> Result<(Extent, Option<Note>)> {
        if let Some(forced) = self.forced {
            return Ok((forced, None));
        }
        let n_schemes = incrowd::scheme::n_schemes(&counted.hierarchies).unwrap_or(u64::MAX);
        let Some(why) = too_much(n_schemes, counted, work) else { return Ok((Extent::Full, None)) };
        self.instead(why, counted, otherwise, work)
    }

    /// What is done where the whole lattice is too much for some reason, and what there is to say about it.
    pub fn instead(
        &self,
        why: TooMuch,
        counted: &Material,
        otherwise: Otherwise,
        work: &Work,
    ) -> Result<(Extent, Option<Note>)> {
        let standard = Selection::default();
        let selection = Selection { estimator: self.estimator.unwrap_or(standard.estimator), ..standard };
        let n_selected = n_selected(&counted.hierarchies, selection)?;
        let n_schemes = incrowd::scheme::n_schemes(&counted.hierarchies);
        let is_partial = otherwise == Otherwise::Partial && too_much(n_selected, counted, work).is_none();
        let extent = if is_partial { Extent::Partial(selection) } else { Extent::OnDemand };
        let part = is_partial.then(|| (selection.share, selection.estimator.name()));
        Ok((extent, Some(Note::NotWhole { part, n_schemes, why })))
    }
}

/// How long to search on demand where nobody says.
pub const TIME: Duration = Duration::from_secs(60);

/// What ends a search that has proved nothing yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Or somebody for whom the best so far is good enough.
    Time,
    Memory,
}

/// An answer on demand, and what it is about.
pub struct Searched {
    pub scope: Scope,
    pub found: FoundAnswer,
    /// What ended the search, where that was not that everything is proved.
    pub limit: Limit,
}

/// Answers a request on demand, within a time and the memory of the work, until all is proved or `is_enough` says so.
pub fn search(
    counted: &Material,
    request: &Request,
    time: Duration,
    is_enough: &(dyn Fn() -> bool + Sync),
    work: &Work,
) -> Result<Searched> {
    let weights = counted.weights();
    let yardstick = counted.yardstick(request.criteria.iter().map(|criterion| criterion.measure))?;
    let plan = Plan { weights: &weights, yardstick: &yardstick, with_entropy: request.best_by.needs_entropy() };
    let scope = Scope::new(&counted.counts, &counted.hierarchies, &yardstick);
    let is_ended = AtomicBool::new(false);
    let start = Instant::now();
    let found = work.stage("searching", time.as_secs().max(1), Unit::Seconds, |task| {
        let is_enough = |progress: &SearchProgress| {
            work.detail(start.elapsed().as_secs(), detail(&scope, request, progress));
            let is_over = start.elapsed() >= time || is_enough();
            is_ended.fetch_or(is_over, Ordering::SeqCst);
            is_over
        };
        let task = Task { is_enough: &is_enough, ..*task };
        negotiate_on_demand(&counted.counts, &counted.hierarchies, &plan, request, &task)
    });
    work.check()?;
    let limit = if is_ended.load(Ordering::SeqCst) { Limit::Time } else { Limit::Memory };
    Ok(Searched { found: found?, limit, scope })
}

/// Why so many schemes over these groups are too many, if they are.
fn too_much(n_schemes: u64, counted: &Material, work: &Work) -> Option<TooMuch> {
    let n_groups = counted.counts.n_groups() as u64;
    let n_bytes_max = work.n_bytes_max();
    let n_bytes = n_schemes.saturating_mul(N_BYTES_OF_SCHEME);
    if n_bytes > n_bytes_max {
        let n_bytes = (n_bytes < incrowd::lattice::N_BYTES_OF_ANY_MACHINE).then_some(n_bytes);
        return Some(TooMuch::Memory { n_bytes, n_bytes_max });
    }
    (n_schemes.saturating_mul(n_groups) > N_GROUPS_MAX).then_some(TooMuch::Minutes { n_groups })
}

/// How far a search is, by what the request calls best.
fn detail(scope: &Scope, request: &Request, progress: &SearchProgress) -> Detail {
    let best = progress.best.map(|best| match request.best_by.is_height() {
        true => ("height".to_string(), (best * n_steps(scope)).round()),
        false => (request.best_by.name().to_string(), best),
    });
    Detail { n_evaluated: progress.n_evaluated, best, loss_at_least: progress.loss_at_least }
}

/// The height of the coarsest scheme.
fn n_steps(scope: &Scope) -> f64 {
    scope.hierarchies().iter().map(|hierarchy| hierarchy.top()).sum::<usize>() as f64
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
        _ if !found.is_decided => format!("{best}: perhaps the whole request can be met"),
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

/// No scheme is better than this; of offers, the one that generalizes otherwise.
pub fn bound_of_answer(scope: &Scope, request: &Request, found: &FoundAnswer) -> String {
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

/// How many schemes were looked at.
pub fn looked_at(scope: &Scope, n: u64) -> String {
    let n_schemes = scope.n_schemes().map_or("over 10^19".to_string(), grouped);
    format!("{} of {n_schemes} schemes {} looked at", grouped(n), if n == 1 { "was" } else { "were" })
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(detail(&scope, &request, &progress).best, Some(("height".into(), 1.0)));
        let request = Request { best_by: incrowd::Ranking::parse("ncp").expect("a ranking"), ..request };
        assert_eq!(detail(&scope, &request, &progress).best, Some(("ncp".into(), 0.5)));
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
            best_by: incrowd::Quality::Height.into(),
        };
        (Scope::new(&counts, &hierarchies, &yardstick), request)
    }
}
