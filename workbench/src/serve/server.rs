//! What all questions share: tables, jobs, turns, and the lattice that can answer.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use incrowd::scheme::n_schemes;
use incrowd::search::request::check_criteria;
use incrowd::{Answer, Criteria, Lattice, Measure, Offer, Plan, Ranking, Request, negotiate};
use rayon::{ThreadPool, ThreadPoolBuilder};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::ask::{Question, privacy, request, scheme};
use super::closed::{Closed, Over, refused};
use super::jobs::{self, Job, Jobs};
use super::problem::Problem;
use super::round::Round;
use super::safety::Party;
use super::tables::{Opened, Ready, Tables};
use crate::input::count::Counted;
use crate::note::Note;
use crate::orders::negotiate::{neighbours, steps, to_explain};
use crate::orders::request::Privacy;
use crate::words::documents;
use crate::words::notes::Front;
use crate::work::Work;

/// Answers that are computed at once.
const N_AT_ONCE: usize = 4;

/// Reading more than this takes long.
pub const N_LARGE_BYTES: u64 = 16 << 20;

/// Annotating takes long where schemes times combinations are more than this.
const N_ROWS_LONG: u64 = 20_000_000;

/// Making a tree takes long where combinations times attributes are more than this.
const N_PLACES_LONG: usize = 200_000;

/// What all questions share.
pub struct Server {
    pub tables: Tables,
    pub jobs: Jobs,
    /// Where values of the data are not shown, what may be asked nevertheless.
    pub closed: Option<Closed>,
    /// Whose key leads here.
    pub party: Party,
    pub n_upload_max: u64,
    pub is_demo: bool,
    /// The negotiation at several desks, the same for all keys.
    pub round: Arc<Round>,
    /// Releases that were written here.
    published: Mutex<HashSet<PathBuf>>,
    turns: Semaphore,
    /// Threads of who has a turn, so that nobody stands behind what another has begun.
    pools: Mutex<Vec<ThreadPool>>,
}

pub type Shared = State<Arc<Server>>;
pub type Answered = Result<Response, Problem>;

impl Server {
    pub fn new(
        tables: Tables,
        closed: Option<Closed>,
        party: Party,
        n_upload_max: u64,
        is_demo: bool,
        round: Arc<Round>,
    ) -> Server {
        Server {
            tables,
            jobs: Jobs::default(),
            closed,
            party,
            n_upload_max,
            is_demo,
            round,
            published: Mutex::default(),
            turns: Semaphore::new(N_AT_ONCE),
            pools: Mutex::default(),
        }
    }

    pub fn opened(&self, id: &str) -> Result<Arc<Opened>, Problem> {
        self.tables.get(id).ok_or_else(|| {
            Problem::not_found("project").hint("it may be from before a restart: open the project again")
        })
    }

    /// A problem that names files as the user knows them.
    pub fn problem(&self, error: incrowd::Error) -> Problem {
        let mut problem = Problem::from(error);
        let texts = [Some(&mut problem.message), problem.position.as_mut(), problem.hint.as_mut()];
        texts.into_iter().flatten().for_each(|text| *text = self.tables.folder.relative(text));
        problem
    }

    /// What is worth knowing about some work, as far as it may be told here.
    pub fn notes(&self, work: &Work) -> Value {
        self.in_words(work.watch().notes())
    }

    /// A job with its notes; in a state that it may have left meanwhile.
    pub fn job(&self, job: &Job, state: jobs::State) -> Value {
        let mut document = job.to_json_as(state);
        document["notes"] = self.in_words(job.notes());
        if !self.allows_preview() {
            // The best so far is a loss, which is measured with the source.
            document["progress"].as_object_mut().map(|progress| progress.shift_remove("search"));
        }
        document
    }

    fn in_words(&self, mut notes: Vec<Note>) -> Value {
        notes.retain(|note| self.allows_preview() || !note.is_about_values());
        let mut notes = documents::notes(&notes, Front::Http);
        for note in notes.as_array_mut().into_iter().flatten() {
            if let Some(text) = note["text"].as_str().map(|text| self.tables.folder.relative(text)) {
                note["text"] = json!(text);
            }
        }
        notes
    }

    pub fn allows_preview(&self) -> bool {
        self.closed.is_none()
    }

    /// Refuses what only a server with preview does.
    pub fn previews(&self, otherwise: &str) -> Result<(), Problem> {
        match self.allows_preview() {
            true => Ok(()),
            false => Err(refused(otherwise).hint("start it with --allow-preview, for those who may see the data")),
        }
    }

    /// Refuses to promise less than the project where the data are not to be seen.
    pub fn check_promise(&self, criteria: &Criteria, sensitive: &[String]) -> Result<(), Problem> {
        match &self.closed {
            Some(closed) if !criteria.is_empty() => closed.check(criteria, sensitive),
            _ => Ok(()),
        }
    }

    /// Whether a release may take another file's place: without preview only that of one that was written here.
    pub fn may_replace(&self, path: &Path) -> bool {
        self.allows_preview() || self.published.lock().unwrap_or_else(PoisonError::into_inner).contains(path)
    }

    pub fn has_published(&self, path: &Path) {
        self.published.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_path_buf());
    }

    /// What of an answer may be promised here: an offer below what the project promises is none.
    pub fn allowed(&self, answer: Answer, sensitive: &[String]) -> Answer {
        let (Some(closed), Answer::Offers(mut offers)) = (&self.closed, answer.clone()) else { return answer };
        let is_allowed = |offer: &Offer| closed.allows(&offer.criteria, sensitive);
        // What t, δ, β or k-map could be relaxed to is what is just reached, which tells of records that nobody sees.
        let asked = offers.suppression.criteria.clone();
        let is_told = |offer: &Offer| {
            let relaxed = offer.criteria.iter().zip(asked.iter()).filter(|(given, wanted)| given != wanted);
            relaxed.into_iter().all(|(given, _)| !given.measure.is_relative() && given.measure != Measure::Population)
        };
        offers.privacy = offers.privacy.filter(is_allowed).filter(|offer| is_told(offer));
        offers.privacy_alternatives.retain(|offer| is_allowed(offer) && is_told(offer));
        Answer::Offers(offers)
    }
}

pub fn ok(value: Value) -> Answered {
    Ok(json_response(StatusCode::OK, &value))
}

/// The same with a document that is written already.
pub fn ok_text(document: String) -> Answered {
    Ok((StatusCode::OK, [(header::CONTENT_TYPE, "application/json")], document).into_response())
}

pub fn json_response(status: StatusCode, value: &Value) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], value.to_string()).into_response()
}

/// "It takes a while": the job to wait for before asking again.
pub fn accepted(server: &Server, job: &Job) -> Answered {
    let location = format!("/api/v1/jobs/{}", job.id);
    let body = json!({ "job": server.job(job, job.state()) }).to_string();
    let headers = [(header::CONTENT_TYPE, "application/json"), (header::LOCATION, location.as_str())];
    Ok((StatusCode::ACCEPTED, headers, body).into_response())
}

/// Works on a thread where waiting harms nobody.
pub async fn aside<T: Send + 'static>(
    server: &Arc<Server>,
    work: impl FnOnce(&Server) -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let _turn = server.turns.acquire().await.expect("turns are never closed");
    let server = server.clone();
    let worked = tokio::task::spawn_blocking(move || {
        let pools = || server.pools.lock().unwrap_or_else(PoisonError::into_inner);
        let known = pools().pop();
        let pool = known.map_or_else(|| ThreadPoolBuilder::new().build(), Ok).map_err(|_| Problem::bug())?;
        let done = pool.install(|| work(&server));
        pools().push(pool);
        done
    });
    worked.await.unwrap_or_else(|_| Err(Problem::bug()))
}

pub fn look_first(server: &Arc<Server>, opened: &Arc<Opened>) -> Result<Arc<Job>, Problem> {
    let (worker, opened) = (server.clone(), opened.clone());
    server.jobs.start("profile", opened.table.key.clone(), move |job| {
        if opened.n_bytes > N_LARGE_BYTES {
            job.takes_long()?;
        }
        let looked = {
            let work = job.work(worker.tables.n_bytes_max);
            opened.survey(&work).and_then(|_| opened.columns(&work))
        };
        looked.map(|_| Value::Null).map_err(|error| worker.problem(error))
    })
}

/// A question whose lattice is at hand.
pub struct ReadyQuestion {
    pub opened: Arc<Opened>,
    pub ready: Arc<Ready>,
    pub privacy: Privacy,
    pub request: Request,
    /// What a lattice that is annotated in part answers, before it is extended by what is looked at beside the answer.
    pub answer: Option<Answer>,
}

/// What a question needs, or the job that has to end first.
pub enum Readiness<T> {
    Ready(T),
    Job(Arc<Job>),
}

pub fn find(server: &Arc<Server>, question: &Question) -> Result<Readiness<ReadyQuestion>, Problem> {
    let opened = server.opened(&question.project)?;
    let wrong = |error| server.problem(error);
    let (privacy, ranking) = privacy(&opened, &question.request).map_err(wrong)?;
    server.check_promise(&privacy.criteria, &privacy.sensitive)?;
    match server.tables.lattice(&opened, &privacy, &ranking) {
        None => start_annotation(server, opened, privacy, ranking).map(Readiness::Job),
        Some(ready) => {
            let request = request(&opened, &ready, &privacy, &question.request).map_err(wrong)?;
            check_locked(server, &ready.counted, &privacy, &request, Over::Levels)?;
            Ok(Readiness::Ready(ReadyQuestion { opened, ready, privacy, request, answer: None }))
        }
    }
}

/// Refuses a guest who moves what the policy has locked: it stays as the served project's standing request has it.
pub fn check_locked(
    server: &Server,
    counted: &Counted,
    privacy: &Privacy,
    asked: &Request,
    over: Over,
) -> Result<(), Problem> {
    let Some(closed) = server.closed.as_ref().filter(|_| server.party == Party::Guest) else { return Ok(()) };
    let moved = closed.moved(counted, privacy, asked, over).map_err(|error| server.problem(error))?;
    match moved {
        None => Ok(()),
        Some(name) => Err(refused(format!("{name} is locked: it stays as the project has it"))
            .hint("ask whoever has the curator's key")),
    }
}

pub fn start_annotation(
    server: &Arc<Server>,
    opened: Arc<Opened>,
    privacy: Privacy,
    ranking: Ranking,
) -> Result<Arc<Job>, Problem> {
    let worker = server.clone();
    let measures: Vec<_> = privacy.criteria.iter().map(|criterion| criterion.measure).collect();
    let key = format!("{} {measures:?} {:?} {}", opened.key, privacy.sensitive, ranking.needs_entropy());
    server.jobs.start("annotate", key, move |job| {
        let wrong = |error| worker.problem(error);
        let counted = count_first(&worker, job, &opened, &privacy)?;
        if !privacy.criteria.is_empty() {
            let n_values = counted.n_sensitive_values();
            check_criteria(&privacy.criteria, counted.counts.crowd(), &n_values).map_err(wrong)?;
        }
        if n_schemes(&counted.hierarchies)
            .is_none_or(|n| n.saturating_mul(counted.counts.n_groups() as u64) > N_ROWS_LONG)
        {
            job.takes_long()?;
        }
        let ready =
            worker.tables.annotate(&opened, &privacy, &ranking, &job.work(worker.tables.n_bytes_max)).map_err(wrong)?;
        Ok(json!({ "n_schemes": ready.lattice.schemes().len() }))
    })
}

/// Makes the tree of groups with what some criteria see.
pub fn start_growing(server: &Arc<Server>, opened: Arc<Opened>, privacy: Privacy) -> Result<Arc<Job>, Problem> {
    let worker = server.clone();
    let measures: Vec<_> = privacy.criteria.iter().map(|criterion| criterion.measure).collect();
    let key = format!("tree {} {measures:?} {:?}", opened.key, privacy.sensitive);
    server.jobs.start("annotate", key, move |job| {
        let counted = count_first(&worker, job, &opened, &privacy)?;
        if counted.counts.n_groups() * counted.hierarchies.len() > N_PLACES_LONG {
            job.takes_long()?;
        }
        let tree = worker.tables.known.tree(&counted, measures.iter().copied(), &job.work(worker.tables.n_bytes_max));
        let tree = tree.map_err(|error| worker.problem(error))?;
        Ok(json!({ "n_nodes": tree.shape().n_nodes() }))
    })
}

/// Counts, for what needs no lattice.
pub fn start_counting(server: &Arc<Server>, opened: Arc<Opened>, privacy: Privacy) -> Result<Arc<Job>, Problem> {
    let worker = server.clone();
    let key = format!("{} {:?} {:?}", opened.key, privacy.sensitive, privacy.criteria.value(Measure::Population));
    server.jobs.start("count", key, move |job| {
        let counted = count_first(&worker, job, &opened, &privacy)?;
        Ok(json!({ "n_records": counted.counts.n_records(), "n_groups": counted.counts.n_groups() }))
    })
}

/// Counts within a job.
pub fn count_first(server: &Server, job: &Job, opened: &Opened, privacy: &Privacy) -> Result<Arc<Counted>, Problem> {
    if opened.n_bytes > N_LARGE_BYTES {
        job.takes_long()?;
    }
    server.tables.count(opened, privacy, &job.work(server.tables.n_bytes_max)).map_err(|error| server.problem(error))
}

/// Answers a question about a lattice on a thread where waiting harms nobody.
pub async fn with_lattice(
    server: &Arc<Server>,
    question: Question,
    work: impl FnOnce(&Server, &Question, &ReadyQuestion) -> incrowd::Result<Value> + Send + 'static,
) -> Answered {
    match find(server, &question)? {
        Readiness::Job(job) => accepted(server, &job),
        Readiness::Ready(asked) => {
            let value = aside(server, move |server| {
                let asked = with_what_is_looked_at(asked, &question).map_err(|error| server.problem(error))?;
                let mut document = work(server, &question, &asked).map_err(|error| server.problem(error))?;
                let about = server.tables.told_again(&asked.ready.counted).map_err(|error| server.problem(error))?;
                document["notes"] = server.notes(&about);
                Ok(document)
            });
            ok(value.await?)
        }
    }
}

/// Of a lattice that is annotated in part, also what a question looks at: the coarsest acceptable scheme, and a scheme with
/// those that its explanation compares it with.
fn with_what_is_looked_at(asked: ReadyQuestion, question: &Question) -> incrowd::Result<ReadyQuestion> {
    let Ready { counted, lattice } = &*asked.ready;
    if lattice.selection().is_none() {
        return Ok(asked);
    }
    let (weights, yardstick) = (counted.weights(), counted.yardstick(lattice.measures().iter().copied())?);
    let with_entropy = lattice.entropies().is_some();
    let plan = Plan { weights: &weights, yardstick: &yardstick, with_entropy };
    let (mut lattice, request) = (Lattice::clone(lattice), &asked.request);
    lattice.extend(&counted.counts, &plan, &request.level_max)?;
    let answer = negotiate(&lattice, request)?;
    let named = scheme(&lattice, question)?;
    for looked_at in named.iter().chain([to_explain(&answer, request)]) {
        let tops = lattice.schemes().tops().to_vec();
        let steps = if question.explain { steps(looked_at, &tops) } else { Vec::new() };
        let steps = steps.into_iter().map(|(.., scheme)| scheme);
        for neighbour in neighbours(looked_at, &tops).into_iter().chain(steps) {
            lattice.extend(&counted.counts, &plan, &neighbour)?;
        }
    }
    let ready = Arc::new(Ready { counted: counted.clone(), lattice: Arc::new(lattice) });
    Ok(ReadyQuestion { ready, answer: Some(answer), ..asked })
}
