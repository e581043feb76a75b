//! What somebody wants published, over HTTP: JSON to an order, and what came of it as JSON.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use axum::extract::{Path as InPath, State};
use incrowd::error::{Wording, unknown};
use incrowd::lattice::Scope;
use incrowd::recode::partition::CellStyle;
use incrowd::search::request::check_criteria;
use incrowd::wire;
use incrowd::{Answer, Criteria, Error, ErrorKind, Method, Result};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::ask::{Body, Document, Levels, Readable, Wish, given_request, local_order, privacy_of_order};
use super::explore;
use super::problem::Problem;
use super::server::{
    Answered, Readiness, Server, Shared, accepted, aside, ok, start_annotation, start_counting, start_growing,
};
use super::tables::Opened;
use crate::input::count::Counted;
use crate::orders::Rules;
use crate::orders::extent::{Extent, ExtentWish, TIME};
use crate::orders::negotiate_local::{CutChoice, NegotiateLocal};
use crate::orders::per_record::PER_RECORD;
use crate::orders::publish::{
    self as publishing, AnswerChoice, CutWish, Decided, Files, NewTable, No, Ordered, PublishBy, Published,
};
use crate::orders::request::{About, Privacy};
use crate::output::account::{Key, Minutes};
use crate::sentences::hint;
use crate::words::order::{PathUse, Reader};
use crate::words::{releases, verbs};
use crate::work::Work;

pub struct PublishQuestion {
    project: String,
    request: Wish,
    /// `exact`, `suppression`, `height`, `privacy`, `levels` for those that are named, or `method` for another method.
    choice: String,
    levels: Option<Levels>,
    method: Option<String>,
    /// Whether the answer or the offer is one with ranges of its own for every group.
    local: bool,
    /// How the method works and writes its cells: the flags of `publish --method …`, by the same names.
    options: Wish,
    /// Where to write the release, within the served folder.
    output: Option<String>,
    /// The table of the project's database that the release becomes, where it is no file.
    into: Option<String>,
    replace: bool,
    /// The signer's key; a new one where none is given.
    key: Option<Key>,
    /// The column that analysts want to say something about, for the report.
    target: Option<String>,
    /// Whether several desks have agreed to the request: the report says how.
    shared: bool,
}

impl Readable for PublishQuestion {
    fn read(reader: &Reader) -> Result<PublishQuestion> {
        let text = |key: &str| Ok(reader.text(key)?.map(str::to_string));
        Ok(PublishQuestion {
            project: reader.needed("project", Reader::text)?.to_string(),
            request: reader.needed("request", Reader::object)?.clone(),
            choice: reader.needed("choice", Reader::text)?.to_string(),
            levels: reader.levels("levels")?,
            method: text("method")?,
            local: reader.flag("local")?,
            options: reader.object("options")?.cloned().unwrap_or_default(),
            output: text("output")?,
            into: text("into")?,
            replace: reader.flag("replace")?,
            key: reader.key()?,
            target: text("target")?,
            shared: reader.flag("shared")?,
        })
    }
}

/// An order on a project that is open, with the privacy that it is about.
struct Taken {
    opened: Arc<Opened>,
    order: publishing::Publish,
    privacy: Privacy,
}

fn wrong(message: impl Into<Wording>) -> Error {
    Error::new(ErrorKind::Request, message)
}

impl PublishQuestion {
    fn order(&self, server: &Server) -> Result<publishing::Publish> {
        if self.method.is_some() && self.choice != "method" {
            return Err(wrong("a method is named, and another choice made").hint("choose \"method\""));
        }
        let path = |path: &str, _| server.tables.folder.to_read(path);
        let options = Reader::new(&self.options, &path, false);
        let is_chosen = |name: &str| CutChoice::ALL.iter().any(|choice| choice.name() == name);
        if self.local && !is_chosen(&self.choice) {
            let known = CutChoice::ALL.map(CutChoice::name);
            return Err(unknown(ErrorKind::Request, "choice", &self.choice, &known));
        }
        let asked = self.local.then(|| local_order(&self.request)).transpose()?;
        if let Some(NegotiateLocal { about, request, max_loss, .. }) = asked {
            let local = options.local(Method::Negotiated.name())?;
            options.finish()?;
            let way = PublishBy::Cut(CutWish { choice: CutChoice::parse(&self.choice)?, max_loss, local });
            return Ok(publishing::Publish { about, request, way, two_columns: false, target: self.target.clone() });
        }
        let way = match (self.choice.as_str(), &self.method, &self.levels) {
            ("method", Some(name), _) if name == PER_RECORD => PublishBy::PerRecord(Box::new(options.of_records()?)),
            ("method", Some(name), _) => PublishBy::Local(options.local(name)?),
            ("method", None, _) => return Err(wrong("no method is named").hint("for example \"top-down\"")),
            ("levels", _, Some(levels)) => PublishBy::Levels(levels.clone()),
            ("levels", _, None) => return Err(wrong("no levels are named").hint("for example {\"age\": 1}")),
            (other, ..) => {
                let known = ["exact", "suppression", "height", "privacy", "levels", "method"];
                let choice = AnswerChoice::ALL.into_iter().find(|choice| choice.name() == other);
                let choice = choice.ok_or_else(|| unknown(ErrorKind::Request, "choice", other, &known))?;
                PublishBy::Answer { choice, extent: ExtentWish::default(), time: TIME }
            }
        };
        let two_columns = self.choice != "method" && options.two_columns()?;
        if self.choice != "method" && self.options.keys().any(|name| name != "two_columns") {
            return Err(
                wrong("options are about methods, but for two_columns").hint("choose \"method\", or leave them out")
            );
        }
        options.finish()?;
        Ok(publishing::Publish {
            about: About::default(),
            request: given_request(&self.request)?,
            way,
            two_columns,
            target: self.target.clone(),
        })
    }
}

fn find(
    server: &Arc<Server>,
    asked: &PublishQuestion,
) -> std::result::Result<Readiness<(Taken, Arc<Counted>)>, Problem> {
    let problem = |error| server.problem(error);
    let opened = server.opened(&asked.project)?;
    let order = asked.order(server).map_err(problem)?;
    if !matches!(order.way, PublishBy::PerRecord(_)) {
        let asked = order.request.privacy(&opened.project, &order.about).map_err(problem)?;
        server.check_promise(&asked.criteria, &asked.sensitive)?;
    }
    let privacy = privacy_of_order(&opened, &order).map_err(problem)?;
    server.check_promise(&privacy.criteria, &privacy.sensitive)?;
    if let PublishBy::PerRecord(_) = &order.way {
        server.previews("what becomes of single records is decided by whoever may see them")?;
    }
    let Some(counted) = server.tables.counted(&opened, &privacy) else {
        return start_counting(server, opened, privacy).map(Readiness::Job);
    };
    let mut order = order;
    if let PublishBy::Answer { extent, .. } = &mut order.way {
        // The schemes that the page shows are those that it publishes.
        let forced = server.tables.extent(&counted, &server.tables.unwatched()).map_err(problem)?;
        *extent = ExtentWish { forced: Some(forced), estimator: None };
        check_criteria(&privacy.criteria, counted.counts.crowd(), &counted.n_sensitive_values()).map_err(problem)?;
        let ranking = order.request.best_by(&opened.project).map_err(problem)?;
        if extent.forced != Some(Extent::OnDemand) && server.tables.lattice(&opened, &privacy, &ranking).is_none() {
            return start_annotation(server, opened, privacy, ranking).map(Readiness::Job);
        }
    }
    if let PublishBy::Cut(wish) = &order.way {
        check_criteria(&privacy.criteria, counted.counts.crowd(), &counted.n_sensitive_values()).map_err(problem)?;
        let measures = privacy.criteria.iter().map(|criterion| criterion.measure);
        let is_known = server.tables.known.known_tree(&counted, measures).is_some();
        if wish.local.style == CellStyle::Ranges && !is_known {
            return start_growing(server, opened, privacy).map(Readiness::Job);
        }
    }
    Ok(Readiness::Ready((Taken { opened, order, privacy }, counted)))
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
            PublishBy::Levels(_) => true,
            PublishBy::Answer { extent, .. } => extent.forced != Some(Extent::OnDemand),
            PublishBy::Local(_) | PublishBy::Cut(_) | PublishBy::PerRecord(_) => false,
        }
    }

    /// Refuses what cannot be had, where that is known in no time.
    fn check(&self, server: &Server, counted: &Arc<Counted>, work: &Work) -> Result<Option<Decided>> {
        if let PublishBy::Local(_) | PublishBy::Cut(_) = &self.order.way {
            let (counts, n_values) = (&counted.counts, counted.n_sensitive_values());
            check_criteria(&self.privacy.criteria, counts.crowd(), &n_values)?;
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
        let work = server.tables.told_again(counted)?;
        let mut document = match (&self.order.way, self.check(server, counted, &work)?) {
            (_, Some(Decided::Agreed(agreed))) => {
                let yardstick = counted.yardstick(agreed.offer.criteria.iter().map(|criterion| criterion.measure))?;
                let scope = Scope::new(&counted.counts, &counted.hierarchies, &yardstick);
                let mut document = explore::review(&self.opened, counted, &scope, &agreed.offer);
                document["choice"] = json!(agreed.choice);
                document
            }
            (PublishBy::Local(local), _) => {
                explore::review_method(&self.opened, counted, local, &self.privacy.criteria, 0)
            }
            (PublishBy::Cut(wish), _) => self.review_cut(wish, server, counted, &work)?,
            _ => return Err(wrong("this cannot be reviewed before it is made").hint("publish it, and read its report")),
        };
        document["notes"] = server.notes(&work);
        // Whoever may not see the data does not write beside them.
        let database = self.opened.project.database.as_ref().filter(|_| server.allows_preview());
        document["beside"] = json!(database.map(|place| place.asked.name()));
        Ok(document)
    }
}

impl Taken {
    /// What would be promised of groups with ranges of their own; how they are improved is seen when they are made.
    fn review_cut(&self, wish: &CutWish, server: &Server, counted: &Arc<Counted>, work: &Work) -> Result<Value> {
        let (about, given, known) = (&self.order.about, &self.order.request, &server.tables.known);
        let found = with_rules(server, |rules| {
            let (project, privacy) = (&self.opened.project, &self.privacy);
            let ground = publishing::cut::Ground { about, given, project, privacy, counted, known, rules };
            publishing::cut::offer(wish, &ground, work)
        })?;
        let Some((offer, choice)) = found else { return Err(wrong("there is no such answer to this request")) };
        let n_suppressed = offer.cut.n_suppressed;
        let mut document = explore::review_method(&self.opened, counted, &wish.local, &offer.criteria, n_suppressed);
        document["choice"] = json!(choice.name());
        document["cut"] = json!({
            "n_groups": offer.n_groups(), "n_suppressed": n_suppressed, "loss": wire::rounded(offer.ncp),
        });
        Ok(document)
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
    work(&Rules { answer: &answer, promise: &promise, is_veiled: !server.allows_preview() })
}

/// Why nothing is published, as an error.
fn why_not(no: &No, server: &Server) -> Error {
    match no {
        No::NoSuchAnswer(_) | No::NoSuchCut(_) => wrong("there is no such answer to this request"),
        No::TooManyLost { n_suppressed, n_records } => {
            wrong(format!("at these levels {n_suppressed} of {n_records} records would be lost, more than may be"))
                .hint(hint("choose coarser levels, or allow it with {max_suppressed}"))
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

pub async fn review(State(server): Shared, Document(asked): Document<PublishQuestion>) -> Answered {
    match find(&server, &asked)? {
        Readiness::Job(job) => accepted(&server, &job),
        Readiness::Ready((taken, counted)) => {
            let document =
                aside(&server, move |server| taken.review(server, &counted).map_err(|error| server.problem(error)));
            ok(document.await?)
        }
    }
}

pub async fn publish_release(State(server): Shared, Document(asked): Document<PublishQuestion>) -> Answered {
    let (taken, counted) = match find(&server, &asked)? {
        Readiness::Job(job) => return accepted(&server, &job),
        Readiness::Ready((taken, counted)) => (taken, counted),
    };
    let wrong = |error| server.problem(error);
    let key = asked.key;
    if key.is_some() {
        server.previews("whoever chooses the key could try what the data are")?;
    }
    let minutes = asked.shared.then(|| server.round.minutes(&asked.project, &asked.request)).transpose()?;
    if let Some(table) = asked.into.clone() {
        let what =
            json!([asked.request, asked.choice, asked.levels, asked.method, asked.options, asked.target, asked.shared]);
        return publish_into(&server, taken, table, (key, minutes), asked.replace, &what);
    }
    let name = asked.output.clone().unwrap_or_else(|| "release.csv".to_string());
    let output = server.tables.folder.to_write(&name).map_err(wrong)?;
    let replace = asked.replace && server.may_replace(&output);
    publishing::prepare(&taken.opened.project, &output, replace).map_err(|error| {
        let is_there = error.message().to_string().starts_with("is there already");
        wrong(if is_there { error.hint("choose another name, or replace it") } else { error })
    })?;
    // What cannot be had is refused before a job begins.
    let (taken, counted) = aside(&server, move |server| {
        let work = server.tables.unwatched();
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
        asked.options,
        asked.target,
        asked.shared,
        replace
    ]);
    let job = server.jobs.start("publish", format!("{name} {what}"), move |job| {
        if takes_long(&taken, &counted) {
            job.takes_long()?;
        }
        let work = job.work(worker.tables.n_bytes_max);
        let published = publishing::prepare(&taken.opened.project, &output, replace)
            .map(|files| Files { key: key.unwrap_or_else(|| files.key.clone()), minutes, ..files })
            .and_then(|files| {
                let project = &taken.opened.project;
                // A dictionary is counted with the table; all else is at hand, and tells again what is worth knowing.
                let counted = taken.order.count(project, &taken.privacy, &worker.tables.known, &work)?;
                if let PublishBy::Answer { .. } = &taken.order.way {
                    worker.tables.extent(&counted, &work)?;
                }
                let decided = taken.decide(&worker, &counted, &work)?;
                match decided.publish(project, &counted, taken.order.target.as_deref(), &files, replace, &work)? {
                    Ordered::Published(published) => Ok((files, published)),
                    Ordered::No(no) => Err(why_not(&no, &worker)),
                }
            });
        let (files, published) = published.map_err(|error| worker.problem(error))?;
        let mut document = published_json(&worker, &files, &published);
        document["notes"] = worker.notes(&work);
        worker.has_published(&output);
        *job.files.lock().unwrap_or_else(PoisonError::into_inner) = Some(files);
        Ok(document)
    })?;
    accepted(&server, &job)
}

/// Publishes a table of the project's database: counted, written and verified in one transaction.
fn publish_into(
    server: &Arc<Server>,
    taken: Taken,
    table: String,
    (key, minutes): (Option<Key>, Option<Minutes>),
    replace: bool,
    what: &Value,
) -> Answered {
    server.previews("who may not see the data does not write beside them")?;
    let worker = server.clone();
    let id = format!("{table} {} {what} {replace}", taken.opened.id);
    let new = NewTable { name: table.clone(), database: None };
    let job = server.jobs.start("publish", id, move |job| {
        job.takes_long()?;
        let work = job.work(worker.tables.n_bytes_max);
        let published = with_rules(&worker, |rules| {
            let (files, ordered) =
                taken.order.run_into(&taken.opened.project, rules, &new, key, minutes, replace, &work)?;
            match ordered {
                Ordered::Published(published) => Ok((files, published)),
                Ordered::No(no) => Err(why_not(&no, &worker)),
            }
        });
        let (files, published) = published.map_err(|error| {
            let is_there = error.message().to_string().contains("there already");
            worker.problem(if is_there { error.hint("choose another name, or replace it") } else { error })
        })?;
        let mut document = published_json(&worker, &files, &published);
        document["table"] = json!(table);
        document["notes"] = worker.notes(&work);
        // The table is no file.
        let files = Files { release: PathBuf::new(), target: None, ..files };
        *job.files.lock().unwrap_or_else(PoisonError::into_inner) = Some(files);
        Ok(document)
    })?;
    accepted(server, &job)
}

/// Local methods need more than linear time; the others read and sort the table.
fn takes_long(taken: &Taken, counted: &Counted) -> bool {
    const N_RECORDS_LONG: u64 = 200_000;
    const N_GROUPS_LONG: usize = 5_000;
    let counts = &counted.counts;
    let is_method = matches!(taken.order.way, PublishBy::Local(_) | PublishBy::Cut(_) | PublishBy::PerRecord(_));
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
        "verdict": releases::verdict(published),
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
            PathUse::Connect => Err(wrong("a server reads the database of its project and no other")
                .hint("name a table of it, and the project")),
        };
        let result = with_rules(&worker, |rules| {
            let (project, known) = (&opened.project, &worker.tables.known);
            let desk = verbs::Desk { project, known, rules, with_standing: true, path: &path };
            verbs::run(verb, &asked.order, &desk, &work)
        });
        let mut result = result.map_err(|error| worker.problem(error))?;
        folder.name_files(&mut result);
        Ok(json!({ "result": result, "notes": worker.notes(&work) }))
    })?;
    accepted(&server, &job)
}
