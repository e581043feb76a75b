//! What somebody wants published, over HTTP: JSON to an order, and what came of it as JSON.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use axum::extract::{Path as InPath, State};
use incrowd::error::unknown;
use incrowd::lattice::Scope;
use incrowd::recode::partition::CellStyle;
use incrowd::recode::per_record::{Risk, Utility};
use incrowd::search::negotiate::check_criteria;
use incrowd::{Answer, Criteria, Error, ErrorKind, Method, Result};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::ask::{Body, Levels, privacy_of_order, wishes};
use super::explore;
use super::jobs::Job;
use super::problem::Problem;
use super::server::{Answered, Server, Shared, accepted, aside, ok, start_annotation, start_counting};
use super::tables::Opened;
use crate::input::count::Counted;
use crate::orders::Rules;
use crate::orders::extent::{Extent, ExtentWish, TIME};
use crate::orders::local::Local;
use crate::orders::per_record::{PER_RECORD, PerRecordWish};
use crate::orders::publish::{self as publishing, Choice, Decided, Files, No, Ordered, Published, Way};
use crate::orders::wishes::{About, Privacy};
use crate::output::account::Key;
use crate::words::notes::Front;
use crate::words::order::PathUse;
use crate::words::{documents, verbs};
use crate::work::Work;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Publish {
    project: String,
    request: Map<String, Value>,
    /// `exact`, `suppression`, `height`, `privacy`, `levels` for those that are named, or `method` for another method.
    choice: String,
    #[serde(default)]
    levels: Option<Levels>,
    #[serde(default)]
    method: Option<String>,
    /// How the method works and writes its cells.
    #[serde(default)]
    options: Options,
    /// Where to write the release, within the served folder.
    #[serde(default)]
    output: Option<String>,
    #[serde(default)]
    replace: bool,
    /// The signer's key; a new one where none is given.
    #[serde(default)]
    key: Option<String>,
}

/// The flags of `publish --method …`, by the same names.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, default)]
struct Options {
    cells: Option<String>,
    two_columns: bool,
    seed: Option<u64>,
    plain: bool,
    exchanges: Option<u32>,
    utility_at_least: Option<String>,
    risk_at_most: Option<f64>,
    lambda: Option<f64>,
    utility: Option<String>,
    risk: Option<String>,
    dictionary: Option<PathBuf>,
    similarity: Option<f64>,
    weights: Option<PathBuf>,
    weights_seed: Option<u64>,
    also_k: Option<u64>,
}

/// An order on a project that is open, with the privacy that it is about.
struct Taken {
    opened: Arc<Opened>,
    order: publishing::Publish,
    privacy: Privacy,
}

/// An order whose counts and lattice are at hand, or the job that has to end first.
enum Found {
    Ready(Taken, Arc<Counted>),
    Job(Arc<Job>),
}

fn wrong(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Request, message)
}

impl Publish {
    fn order(&self, server: &Server) -> Result<publishing::Publish> {
        if self.method.is_some() && self.choice != "method" {
            return Err(wrong("a method is named, and another choice made").hint("choose \"method\""));
        }
        let way = match (self.choice.as_str(), &self.method, &self.levels) {
            ("method", Some(name), _) if name == PER_RECORD => {
                Way::PerRecord(Box::new(self.options.of_records(server)?))
            }
            ("method", Some(name), _) => Way::Local(self.options.local(name)?),
            ("method", None, _) => return Err(wrong("no method is named").hint("for example \"top-down\"")),
            ("levels", _, Some(levels)) => {
                Way::Levels(levels.iter().map(|(name, level)| (name.clone(), level.to_string())).collect())
            }
            ("levels", _, None) => return Err(wrong("no levels are named").hint("for example {\"age\": 1}")),
            (other, ..) => {
                let known = ["exact", "suppression", "height", "privacy", "levels", "method"];
                let choice = Choice::ALL.into_iter().find(|choice| choice.name() == other);
                let choice = choice.ok_or_else(|| unknown(ErrorKind::Request, "choice", other, &known))?;
                Way::Answer { choice, extent: ExtentWish::default(), time: TIME }
            }
        };
        if self.choice != "method" && self.options != Options::default() {
            return Err(wrong("options are about methods").hint("choose \"method\", or leave them out"));
        }
        Ok(publishing::Publish { about: About::default(), wishes: wishes(&self.request)?, way })
    }
}

impl Options {
    fn local(&self, name: &str) -> Result<Local> {
        let style = match &self.cells {
            None => None,
            Some(text) => {
                let known = CellStyle::ALL.map(CellStyle::name);
                Some(CellStyle::parse(text).ok_or_else(|| unknown(ErrorKind::Request, "style", text, &known))?)
            }
        };
        Local::with_options(Method::parse(name)?, style, self.two_columns, self.seed, self.plain, self.exchanges)
    }

    fn of_records(&self, server: &Server) -> Result<PerRecordWish> {
        let inside = |path: &Option<PathBuf>| match path {
            Some(path) => server.tables.folder.to_read(&path.display().to_string()).map(Some),
            None => Ok(None),
        };
        Ok(PerRecordWish {
            utility_at_least: self.utility_at_least.clone(),
            risk_at_most: self.risk_at_most,
            lambda: self.lambda,
            utility: self.utility.as_deref().map(Utility::parse).transpose()?,
            risk: self.risk.as_deref().map(Risk::parse).transpose()?,
            dictionary: inside(&self.dictionary)?,
            similarity: self.similarity,
            weights: inside(&self.weights)?,
            weights_seed: self.weights_seed,
            also_k: self.also_k,
        })
    }
}

fn find(server: &Arc<Server>, asked: &Publish) -> std::result::Result<Found, Problem> {
    let problem = |error| server.problem(error);
    let opened = server.opened(&asked.project)?;
    let order = asked.order(server).map_err(problem)?;
    if !matches!(order.way, Way::PerRecord(_)) {
        let asked = order.wishes.privacy(&opened.project, &order.about).map_err(problem)?;
        server.check_promise(&asked.criteria, &asked.sensitive)?;
    }
    let privacy = privacy_of_order(&opened, &order).map_err(problem)?;
    server.check_promise(&privacy.criteria, &privacy.sensitive)?;
    if let Way::PerRecord(_) = &order.way {
        server.previews("what becomes of single records is decided by whoever may see them")?;
    }
    let Some(counted) = server.tables.counted(&opened, &privacy) else {
        return start_counting(server, opened, privacy).map(Found::Job);
    };
    let mut order = order;
    if let Way::Answer { extent, .. } = &mut order.way {
        // The schemes that the page shows are those that it publishes.
        *extent = server.tables.extent(&counted).map_err(problem)?;
        check_criteria(&privacy.criteria, counted.counts.n_records(), &counted.n_sensitive_values())
            .map_err(problem)?;
        let ranking = order.wishes.best_by(&opened.project).map_err(problem)?;
        if extent.forced != Some(Extent::OnDemand) && server.tables.lattice(&opened, &privacy, &ranking).is_none() {
            return start_annotation(server, opened, privacy, ranking).map(Found::Job);
        }
    }
    Ok(Found::Ready(Taken { opened, order, privacy }, counted))
}

impl Taken {
    fn decide(&self, server: &Server, counted: &Arc<Counted>, work: &Work) -> Result<Decided> {
        with_rules(server, |rules| {
            self.order.decide(&self.opened.project, &self.privacy, counted, &server.tables.known, rules, work)
        })
    }

    /// Whether it is decided in no time: neither methods nor searches are.
    fn is_quick(&self) -> bool {
        match &self.order.way {
            Way::Levels(_) => true,
            Way::Answer { extent, .. } => extent.forced != Some(Extent::OnDemand),
            Way::Local(_) | Way::PerRecord(_) => false,
        }
    }

    /// Refuses what cannot be had, where that is known in no time.
    fn check(&self, server: &Server, counted: &Arc<Counted>, work: &Work) -> Result<Option<Decided>> {
        if let Way::Local(_) = &self.order.way {
            let (counts, n_values) = (&counted.counts, counted.n_sensitive_values());
            check_criteria(&self.privacy.criteria, counts.n_records(), &n_values)?;
            counted.check_promise(&self.privacy.criteria)?;
        }
        match self.is_quick() {
            true => match self.decide(server, counted, work)? {
                Decided::No(no) => Err(why_not(&no, server)),
                decided => Ok(Some(decided)),
            },
            false => Ok(None),
        }
    }

    /// What would be promised, in words.
    fn review(&self, server: &Server, counted: &Arc<Counted>) -> Result<Value> {
        let work = Work::new(None, Some(server.tables.n_bytes_max), crate::work::Watch::default());
        Ok(match (&self.order.way, self.check(server, counted, &work)?) {
            (_, Some(Decided::Agreed(agreed))) => {
                let yardstick = counted.yardstick(agreed.offer.criteria.iter().map(|criterion| criterion.measure))?;
                let scope = Scope::new(&counted.counts, &counted.hierarchies, &yardstick);
                let mut document = explore::review(&self.opened, counted, &scope, &agreed.offer);
                document["choice"] = json!(agreed.choice);
                document
            }
            (Way::Local(local), _) => explore::review_method(&self.opened, counted, local, &self.privacy.criteria),
            _ => return Err(wrong("this cannot be reviewed before it is made").hint("publish it, and read its report")),
        })
    }
}

/// Works under the rules of a server: what it does not offer, and promises that are too little.
pub fn with_rules<T>(server: &Server, work: impl FnOnce(&Rules) -> Result<T>) -> Result<T> {
    let answer = |answer: Answer, sensitive: &[String]| server.allowed(answer, sensitive);
    let promise = |criteria: &Criteria, sensitive: &[String]| {
        server.check_promise(criteria, sensitive).map_err(|problem| {
            let error = wrong(problem.message);
            problem.hint.into_iter().fold(error, |error, hint| error.hint(hint))
        })
    };
    work(&Rules { answer: &answer, promise: &promise })
}

/// Why nothing is published, as an error.
fn why_not(no: &No, server: &Server) -> Error {
    match no {
        No::NoSuchAnswer(_) => wrong("there is no such answer to these wishes"),
        No::TooManyLost { n_suppressed, n_records } => {
            wrong(format!("at these levels {n_suppressed} of {n_records} records would be lost, more than may be"))
                .hint("choose coarser levels, or allow it with max_suppressed")
        }
        No::Missed(made) => match server.allows_preview() {
            true => made.error(),
            // What is reached instead may compare with the source.
            false => wrong("the method does not keep all of these criteria")
                .hint("ask for a greater k, for less, or take another method"),
        },
        No::NotPossible(outcome) => wrong(outcome.words()).hint("ask for less"),
        No::Broken(_) => Error::new(ErrorKind::Data, "the release does not keep its promise; nothing was written")
            .hint("this should not have happened: please report it"),
    }
}

pub async fn review(State(server): Shared, Body(asked): Body<Publish>) -> Answered {
    match find(&server, &asked)? {
        Found::Job(job) => accepted(&job),
        Found::Ready(taken, counted) => {
            let document =
                aside(&server, move |server| taken.review(server, &counted).map_err(|error| server.problem(error)));
            ok(document.await?)
        }
    }
}

pub async fn publish_release(State(server): Shared, Body(asked): Body<Publish>) -> Answered {
    let (taken, counted) = match find(&server, &asked)? {
        Found::Job(job) => return accepted(&job),
        Found::Ready(taken, counted) => (taken, counted),
    };
    let wrong = |error| server.problem(error);
    let key = asked.key.as_deref().map(Key::parse).transpose().map_err(wrong)?;
    if key.is_some() {
        server.previews("whoever chooses the key could try what the data are")?;
    }
    let name = asked.output.clone().unwrap_or_else(|| "release.csv".to_string());
    let output = server.tables.folder.to_write(&name).map_err(wrong)?;
    let replace = asked.replace && server.may_replace(&output);
    publishing::prepare(&taken.opened.project, &output, replace).map_err(|error| {
        let is_there = error.message().starts_with("is there already");
        wrong(if is_there { error.hint("choose another name, or replace it") } else { error })
    })?;
    // What cannot be had is refused before a job begins.
    let (taken, counted) = aside(&server, move |server| {
        let work = Work::new(None, Some(server.tables.n_bytes_max), crate::work::Watch::default());
        taken.check(server, &counted, &work).map(drop).map_err(|error| server.problem(error))?;
        Ok((taken, counted))
    })
    .await?;
    let worker = server.clone();
    let what = json!([
        taken.opened.id,
        asked.request,
        asked.choice,
        asked.levels,
        asked.method,
        format!("{:?}", asked.options),
        replace
    ]);
    let job = server.jobs.start("publish", format!("{name} {what}"), move |job| {
        if takes_long(&taken, &counted) {
            job.takes_long()?;
        }
        let work = job.work(worker.tables.n_bytes_max);
        let published = publishing::prepare(&taken.opened.project, &output, replace)
            .map(|files| Files { key: key.unwrap_or_else(|| files.key.clone()), ..files })
            .and_then(|files| {
                let project = &taken.opened.project;
                // A dictionary is counted with the table.
                let counted = match &taken.order.way {
                    Way::PerRecord(_) => taken.order.count(project, &taken.privacy, &worker.tables.known, &work)?,
                    _ => counted,
                };
                let decided = taken.decide(&worker, &counted, &work)?;
                match decided.publish(project, &counted, &files, replace, &work)? {
                    Ordered::Published(published) => Ok((files, published)),
                    Ordered::No(no) => Err(why_not(&no, &worker)),
                }
            });
        let (files, published) = published.map_err(|error| worker.problem(error))?;
        let document = published_json(&worker, &files, &published);
        worker.has_published(&output);
        *job.files.lock().unwrap_or_else(PoisonError::into_inner) = Some(files);
        Ok(document)
    })?;
    accepted(&job)
}

/// Local methods need more than linear time; the others read and sort the table.
fn takes_long(taken: &Taken, counted: &Counted) -> bool {
    const N_RECORDS_LONG: u64 = 200_000;
    const N_GROUPS_LONG: usize = 5_000;
    let counts = &counted.counts;
    let is_method = matches!(taken.order.way, Way::Local(_) | Way::PerRecord(_));
    counts.n_records() > N_RECORDS_LONG || is_method && counts.n_groups() > N_GROUPS_LONG
}

fn published_json(server: &Server, files: &Files, published: &Published) -> Value {
    let short = |path: &Path| server.tables.folder.relative(&path.display().to_string());
    json!({
        "published": published.holds,
        "choice": published.certificate.choice,
        "files": {
            "release": short(&files.release),
            "certificate": short(&files.certificate),
            "report": short(&files.report),
        },
        "certificate": published.certificate,
        "verdict": published.verdict,
    })
}

/// Any other order, by its verb: the words are those of the flags.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnyOrder {
    project: String,
    #[serde(default)]
    order: Map<String, Value>,
}

/// Runs an order of any verb as a job; its result is what `--json` says, with the notes.
pub async fn run_order(State(server): Shared, InPath(verb): InPath<String>, Body(asked): Body<AnyOrder>) -> Answered {
    server.previews("orders of any kind are for those who may see the data")?;
    let opened = server.opened(&asked.project)?;
    let Some(verb) = verbs::VERBS.into_iter().find(|known| *known == verb) else {
        return Err(Problem::not_found("verb"));
    };
    let worker = server.clone();
    let key = format!("{verb} {} {}", opened.id, Value::Object(asked.order.clone()));
    let job = server.jobs.start("order", key, move |job| {
        // Whatever it is, it may be long; small questions have their own routes.
        job.takes_long()?;
        let work = job.work(worker.tables.n_bytes_max);
        let folder = &worker.tables.folder;
        let path = |path: &str, purpose: PathUse| match purpose {
            PathUse::Read => folder.to_read(path),
            PathUse::Write => folder.to_write(path),
        };
        let result = with_rules(&worker, |rules| {
            let (project, known) = (&opened.project, &worker.tables.known);
            let desk = verbs::Desk { project, known, rules, with_standing: true, path: &path };
            verbs::run(verb, &asked.order, &desk, &work)
        });
        let mut result = result.map_err(|error| worker.problem(error))?;
        // Files are named as the page knows them.
        let short = |named: &mut Value, key: &str| {
            if let Some(file) = named.get(key).and_then(Value::as_str).map(|file| folder.relative(file)) {
                named[key] = json!(file);
            }
        };
        let releases = result.get_mut("releases").and_then(Value::as_array_mut);
        releases.into_iter().flatten().for_each(|release| short(release, "file"));
        ["release", "certificate", "report"].iter().for_each(|key| short(&mut result, key));
        let mut notes = documents::notes(&work.watch().notes(), Front::Http);
        for note in notes.as_array_mut().into_iter().flatten() {
            if let Some(text) = note["text"].as_str().map(|text| folder.relative(text)) {
                note["text"] = json!(text);
            }
        }
        Ok(json!({ "result": result, "notes": notes }))
    })?;
    accepted(&job)
}
