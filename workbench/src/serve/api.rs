//! The questions that can be asked over HTTP, and how each is answered.

use std::path::Path;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Body as HttpBody;
use axum::extract::rejection::QueryRejection;
use axum::extract::{DefaultBodyLimit, Path as InPath, Query, Request as HttpRequest, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use futures_util::StreamExt;
use futures_util::stream::unfold;
use incrowd::negotiate::{check_criteria, offer_of};
use incrowd::wire;
use incrowd::{Answer, Method, Quality, Ranking, Request, Role, Rule, explain, negotiate};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::sync::Semaphore;

use super::ask::{Body, Levels, Question, privacy, request, scheme};
use super::jobs::{Job, Jobs};
use super::problem::Problem;
use super::tables::{Opened, QUIET, Ready, Tables};
use super::{document, explore, trees};
use crate::commands::profile::{column_json, uniqueness_json};
use crate::commands::publish::{self, Agreed, Choice};
use crate::compare::{self, Ask, Contender, Cost, Questions};
use crate::local::{Local, guaranteed};
use crate::project::{CRITERIA, FILE_NAME};
use crate::staged::{Staged, write_whole};
use crate::survey::{Column, Suggestion, rule_toml};
use crate::wishes::Privacy;

/// JSON bodies; files are uploaded elsewhere.
const N_BODY_MAX: usize = 4 << 20;

/// A part of an upload must come within this time.
const CHUNK_TIME: Duration = Duration::from_secs(20);

/// Answers that are computed at once.
const N_AT_ONCE: usize = 4;

/// What all questions share.
pub struct Server {
    pub tables: Tables,
    pub jobs: Jobs,
    pub allows_preview: bool,
    pub n_upload_max: u64,
    pub is_demo: bool,
    turns: Semaphore,
}

type Shared = State<Arc<Server>>;
type Answered = Result<Response, Problem>;

impl Server {
    pub fn new(tables: Tables, allows_preview: bool, n_upload_max: u64, is_demo: bool) -> Server {
        Server {
            tables,
            jobs: Jobs::default(),
            allows_preview,
            n_upload_max,
            is_demo,
            turns: Semaphore::new(N_AT_ONCE),
        }
    }

    fn opened(&self, id: &str) -> Result<Arc<Opened>, Problem> {
        self.tables.get(id).ok_or_else(|| {
            Problem::not_found("project").hint("it may be from before a restart: open the project again")
        })
    }

    /// A problem that names files as the user knows them.
    fn problem(&self, error: incrowd::Error) -> Problem {
        let mut problem = Problem::from(error);
        let texts = [Some(&mut problem.message), problem.position.as_mut(), problem.hint.as_mut()];
        texts.into_iter().flatten().for_each(|text| *text = self.tables.folder.relative(text));
        problem
    }

    fn previews(&self) -> Result<(), Problem> {
        match self.allows_preview {
            true => Ok(()),
            false => Err(Problem::new(StatusCode::FORBIDDEN, "request", "this server shows no values of the data")
                .hint("start it with --allow-preview to see some")),
        }
    }
}

/// Every route below `/api/v1`; the document at `openapi.json` describes them.
pub fn routes(server: Arc<Server>) -> Router {
    Router::new()
        .route("/openapi.json", get(openapi))
        .route("/about", get(about))
        .route("/files", get(list_files).put(upload).layer(DefaultBodyLimit::disable()))
        .route("/open", post(open))
        .route("/projects", post(edit))
        .route("/projects/{id}", get(project))
        .route("/save", post(save))
        .route("/profile", post(profile))
        .route("/hierarchy", post(hierarchy))
        .route("/annotate", post(annotate))
        .route("/negotiate", post(answer))
        .route("/explore", post(explore_answer))
        .route("/scheme", post(one_scheme))
        .route("/sample", post(sample))
        .route("/compare", post(compare_methods))
        .route("/review", post(review))
        .route("/publish", post(publish_release))
        .route("/jobs/{id}", get(job).delete(cancel))
        .route("/jobs/{id}/events", get(events))
        .route("/jobs/{id}/files/{which}", get(download))
        .fallback(|| async { Problem::not_found("address") })
        .method_not_allowed_fallback(|| async {
            Problem::new(StatusCode::METHOD_NOT_ALLOWED, "request", "this address is asked in another way")
                .hint("see openapi.json")
        })
        .layer(DefaultBodyLimit::max(N_BODY_MAX))
        .with_state(server)
}

pub const OPENAPI: &str = include_str!("openapi.json");

async fn openapi() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], OPENAPI).into_response()
}

fn ok(value: Value) -> Answered {
    Ok(json_response(StatusCode::OK, &value))
}

fn json_response(status: StatusCode, value: &Value) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], value.to_string()).into_response()
}

/// "It takes a while": the job to wait for before asking again.
fn accepted(job: &Job) -> Answered {
    let location = format!("/api/v1/jobs/{}", job.id);
    let body = json!({ "job": job.to_json() }).to_string();
    let headers = [(header::CONTENT_TYPE, "application/json"), (header::LOCATION, location.as_str())];
    Ok((StatusCode::ACCEPTED, headers, body).into_response())
}

/// Works on a thread where waiting harms nobody.
async fn aside<T: Send + 'static>(
    server: &Arc<Server>,
    work: impl FnOnce(&Server) -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let _turn = server.turns.acquire().await.expect("turns are never closed");
    let server = server.clone();
    tokio::task::spawn_blocking(move || work(&server)).await.unwrap_or_else(|_| {
        Err(Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "bug", "this should not have happened: please report it"))
    })
}

// ── Data and projects ──────────────────────────────────────────────────────────────────────────────────────────────

async fn about(State(server): Shared) -> Answered {
    let first = server.tables.first();
    let methods = Contender::all().into_iter().map(
        |contender| json!({ "name": contender.name(), "title": contender.title(), "is_slow": contender.is_slow() }),
    );
    ok(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "folder": server.tables.folder.root().file_name().map(|name| name.to_string_lossy()),
        "is_demo": server.is_demo,
        "allows_preview": server.allows_preview,
        "n_upload_max": server.n_upload_max,
        "criteria": CRITERIA,
        "best_by": Quality::ALL.map(Quality::name),
        "methods": methods.collect::<Vec<_>>(),
        "project": first.map(|opened| project_json(&server, &opened)),
    }))
}

fn project_json(server: &Server, opened: &Opened) -> Value {
    let file = server.tables.folder.root().join(FILE_NAME);
    let on_disk = std::fs::read_to_string(&file).ok();
    let is_saved = on_disk.as_ref().is_some_and(|text| {
        *text == opened.project.text || document::of_text(text).is_ok_and(|known| known == opened.document)
    });
    let shown =
        if server.allows_preview { opened.document.clone() } else { document::without_values(&opened.document) };
    json!({ "id": opened.id, "document": shown, "file_exists": on_disk.is_some(), "is_saved": is_saved })
}

/// Files that could be opened, not too deep and not too many.
async fn list_files(State(server): Shared) -> Answered {
    let files = aside(&server, |server| {
        let mut files = Vec::new();
        collect(server.tables.folder.root(), Path::new(""), 3, &mut files);
        Ok(files)
    });
    ok(json!({ "files": files.await? }))
}

fn collect(root: &Path, below: &Path, depth: usize, files: &mut Vec<Value>) {
    const N_FILES_MAX: usize = 500;
    let Ok(entries) = std::fs::read_dir(root.join(below)) else { return };
    let mut names: Vec<_> = entries.filter_map(|entry| entry.ok()).map(|entry| entry.file_name()).collect();
    names.sort();
    for name in names.iter().filter(|name| !name.as_encoded_bytes().starts_with(b".")) {
        let path = below.join(name);
        // Links are not followed: what is listed is what lies here.
        let Ok(metadata) = root.join(&path).symlink_metadata() else { continue };
        if files.len() >= N_FILES_MAX {
            return;
        }
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or("");
        let kind = match ending {
            _ if metadata.is_dir() => {
                if depth > 1 {
                    collect(root, &path, depth - 1, files);
                }
                continue;
            }
            "toml" if name == FILE_NAME => "project",
            "csv" | "tsv" | "txt" => "csv",
            "parquet" => "parquet",
            _ => continue,
        };
        if metadata.is_file()
            && let Some(text) = path.to_str()
        {
            files.push(json!({ "path": text, "kind": kind, "n_bytes": metadata.len() }));
        }
    }
}

#[derive(Deserialize)]
struct Upload {
    path: String,
    #[serde(default)]
    replace: bool,
}

/// Takes a file into the served folder, whole or not at all.
async fn upload(State(server): Shared, asked: Result<Query<Upload>, QueryRejection>, request: HttpRequest) -> Answered {
    let wrong = |status, message: &str| Problem::new(status, "request", message);
    let Query(asked) = asked.map_err(|_| {
        wrong(StatusCode::BAD_REQUEST, "an upload names its path")
            .hint("PUT /api/v1/files?path=patients.csv&replace=false")
    })?;
    let ending = Path::new(&asked.path).extension().and_then(|ending| ending.to_str()).unwrap_or("").to_string();
    if !["csv", "tsv", "txt", "parquet"].contains(&ending.as_str()) {
        return Err(wrong(StatusCode::UNPROCESSABLE_ENTITY, "only tables can be uploaded")
            .hint("name the file .csv, .tsv, .txt or .parquet"));
    }
    let folder = &server.tables.folder;
    if asked.path.starts_with("hierarchies/") {
        let _ = std::fs::create_dir(folder.root().join("hierarchies"));
    }
    let path = folder.to_write(&asked.path).map_err(|error| server.problem(error))?;
    if path.exists() && !asked.replace {
        return Err(server.problem(crate::staged::exists(&path).hint("choose another name, or replace it")));
    }
    let staged = Staged::create(&path).map_err(|error| server.problem(error))?;
    let mut n_bytes = 0;
    let mut parts = request.into_body().into_data_stream();
    loop {
        let part = tokio::time::timeout(CHUNK_TIME, parts.next()).await;
        let part = part.map_err(|_| wrong(StatusCode::REQUEST_TIMEOUT, "the upload came to a halt"))?;
        let Some(part) = part else { break };
        let part = part.map_err(|_| wrong(StatusCode::BAD_REQUEST, "the upload was cut off"))?;
        n_bytes += part.len() as u64;
        if n_bytes > server.n_upload_max {
            return Err(wrong(StatusCode::PAYLOAD_TOO_LARGE, "the file is larger than this server takes")
                .hint("put it into the served folder, or start the server with a larger --max-upload"));
        }
        let written = tokio::task::block_in_place(|| std::io::Write::write_all(&mut staged.file(), &part));
        written.map_err(|error| server.problem(crate::io_error(&path, error)))?;
    }
    tokio::task::block_in_place(|| staged.commit(asked.replace)).map_err(|error| server.problem(error))?;
    Ok(json_response(StatusCode::CREATED, &json!({ "path": asked.path, "n_bytes": n_bytes })))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Open {
    path: String,
}

async fn open(State(server): Shared, Body(asked): Body<Open>) -> Answered {
    server.tables.folder.to_read(&asked.path).map_err(|error| server.problem(error))?;
    let worker = server.clone();
    let job = server.jobs.start("open", asked.path.clone(), move |_| {
        let opened = worker.tables.open(&asked.path).map_err(|error| worker.problem(error))?;
        Ok(project_json(&worker, &opened))
    })?;
    accepted(&job)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Edit {
    document: Value,
    /// The project that was edited.
    #[serde(default)]
    base: Option<String>,
}

async fn edit(State(server): Shared, Body(asked): Body<Edit>) -> Answered {
    let opened = aside(&server, move |server| {
        let base = asked.base.as_deref().and_then(|id| server.tables.get(id));
        let document = match &base {
            Some(base) => document::with_kept(asked.document, &base.document),
            None => asked.document,
        };
        server.tables.open_document(document).map_err(|error| server.problem(error))
    });
    let opened = opened.await?;
    ok(project_json(&server, &opened))
}

async fn project(State(server): Shared, InPath(id): InPath<String>) -> Answered {
    let opened = server.opened(&id)?;
    ok(project_json(&server, &opened))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Save {
    project: String,
    #[serde(default)]
    replace: bool,
}

/// Writes the project file, so that the command line sees what the page sees.
async fn save(State(server): Shared, Body(asked): Body<Save>) -> Answered {
    let opened = server.opened(&asked.project)?;
    aside(&server, move |server| {
        let file = server.tables.folder.to_write(FILE_NAME).map_err(|error| server.problem(error))?;
        let is_same = std::fs::read_to_string(&file).is_ok_and(|known| known == opened.project.text);
        if !is_same {
            let saved = write_whole(&file, opened.project.text.as_bytes(), asked.replace);
            saved.map_err(|error| server.problem(error.hint("save it again with replace: true")))?;
        }
        Ok(json_response(StatusCode::OK, &project_json(server, &opened)))
    })
    .await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OfProject {
    project: String,
}

async fn profile(State(server): Shared, Body(asked): Body<OfProject>) -> Answered {
    let opened = server.opened(&asked.project)?;
    if !opened.is_seen() {
        return accepted(&*look_first(&server, &opened)?);
    }
    aside(&server, move |server| {
        let document = profile_json(server, &opened).map_err(|error| server.problem(error))?;
        Ok(json_response(StatusCode::OK, &document))
    })
    .await
}

fn look_first(server: &Arc<Server>, opened: &Arc<Opened>) -> Result<Arc<Job>, Problem> {
    let (worker, opened) = (server.clone(), opened.clone());
    server.jobs.start("profile", opened.table.key.clone(), move |_| {
        let looked = opened.survey().and_then(|_| opened.columns());
        looked.map(|_| Value::Null).map_err(|error| worker.problem(error))
    })
}

fn profile_json(server: &Server, opened: &Opened) -> incrowd::Result<Value> {
    let (survey, suggestions) = opened.survey()?;
    let columns = opened.columns()?;
    let column = |(column, suggestion): (&Column, &Suggestion)| {
        let mut document = column_json(survey, column, suggestion, Some(&opened.project), server.allows_preview);
        // A chart of names is no picture, and names are nobody's business.
        let role = opened.project.attributes.iter().find(|known| known.name == column.name).map(|known| known.role);
        let is_named = role == Some(Role::Identifier) || suggestion.role == Role::Identifier;
        let chart = columns.get(&column.name).filter(|_| !is_named);
        document["chart"] = chart.map_or(Value::Null, |seen| seen.chart(server.allows_preview));
        if is_named {
            document.as_object_mut().map(|known| (known.shift_remove("least"), known.shift_remove("greatest")));
        }
        document["suggested_rule"] = rule_json(&suggestion.rule);
        document
    };
    let uniqueness = opened.uniqueness()?.map(|found| {
        let names: Vec<String> = opened.project.with_role(Role::QuasiIdentifier).map(|a| a.name.clone()).collect();
        uniqueness_json(&names, &found)
    });
    Ok(json!({
        "data": opened.document["data"]["path"],
        "n_records": survey.n_records,
        "n_incomplete": survey.n_incomplete,
        "missing": survey.missing.tokens,
        "missing_records": if survey.missing.drop_records { "drop" } else { "keep" },
        "columns": survey.columns.iter().zip(suggestions).map(column).collect::<Vec<_>>(),
        "uniqueness": uniqueness,
    }))
}

/// A rule as the document writes it.
fn rule_json(rule: &Rule) -> Value {
    let text = rule_toml(rule).map(|rule| format!("rule = {rule}"));
    text.and_then(|text| document::of_text(&text).ok()).map_or(Value::Null, |document| document["rule"].clone())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OfAttribute {
    project: String,
    attribute: String,
    /// One that is being made; the project's own where it is not given.
    #[serde(default)]
    hierarchy: Option<Value>,
}

async fn hierarchy(State(server): Shared, Body(asked): Body<OfAttribute>) -> Answered {
    let opened = server.opened(&asked.project)?;
    if !opened.is_seen() {
        return accepted(&*look_first(&server, &opened)?);
    }
    aside(&server, move |server| {
        let edited = asked.hierarchy.as_ref().filter(|edited| !edited.is_null());
        let tree = trees::tree(&server.tables, &opened, &asked.attribute, edited, server.allows_preview);
        tree.map(|tree| json_response(StatusCode::OK, &tree)).map_err(|error| server.problem(error))
    })
    .await
}

// ── Negotiating ────────────────────────────────────────────────────────────────────────────────────────────────────

/// A question whose lattice is at hand.
struct Asked {
    opened: Arc<Opened>,
    ready: Arc<Ready>,
    privacy: Privacy,
    request: Request,
}

/// Either the lattice that can answer, or the job that is making it.
enum Found {
    Ready(Asked),
    Job(Arc<Job>),
}

fn find(server: &Arc<Server>, question: &Question) -> Result<Found, Problem> {
    let opened = server.opened(&question.project)?;
    let wrong = |error| server.problem(error);
    let (privacy, ranking) = privacy(&opened, &question.request).map_err(wrong)?;
    match server.tables.lattice(&opened, &privacy, &ranking) {
        None => start_annotation(server, opened, privacy, ranking).map(Found::Job),
        Some(ready) => {
            let request = request(&ready.lattice, &privacy, &ranking, &question.request).map_err(wrong)?;
            Ok(Found::Ready(Asked { opened, ready, privacy, request }))
        }
    }
}

fn start_annotation(
    server: &Arc<Server>,
    opened: Arc<Opened>,
    privacy: Privacy,
    ranking: Ranking,
) -> Result<Arc<Job>, Problem> {
    let worker = server.clone();
    let measures: Vec<_> = privacy.criteria.iter().map(|criterion| criterion.measure).collect();
    let key = format!("{} {measures:?} {:?} {}", opened.key, privacy.sensitive, ranking.needs_entropy());
    server.jobs.start("annotate", key, move |_| {
        let annotated = || {
            let counted = worker.tables.count(&opened, &privacy)?;
            if !privacy.criteria.is_empty() {
                check_criteria(&privacy.criteria, counted.counts.n_records(), &counted.n_sensitive_values())?;
            }
            let ready = worker.tables.annotate(&opened, &privacy, &ranking)?;
            Ok(json!({ "n_schemes": ready.lattice.schemes().len() }))
        };
        annotated().map_err(|error| worker.problem(error))
    })
}

/// Answers a question about a lattice on a thread where waiting harms nobody.
async fn with_lattice(
    server: &Arc<Server>,
    question: Question,
    work: impl FnOnce(&Server, &Question, &Asked) -> incrowd::Result<Value> + Send + 'static,
) -> Answered {
    match find(server, &question)? {
        Found::Job(job) => accepted(&job),
        Found::Ready(asked) => {
            let value =
                aside(server, move |server| work(server, &question, &asked).map_err(|error| server.problem(error)));
            ok(value.await?)
        }
    }
}

/// The lattice as a whole: which levels each attribute has, and how many schemes that makes.
async fn annotate(State(server): Shared, Body(question): Body<Question>) -> Answered {
    let opened = server.opened(&question.project)?;
    let (privacy, ranking) = privacy(&opened, &question.request).map_err(|error| server.problem(error))?;
    if !opened.is_seen() {
        return accepted(&*look_first(&server, &opened)?);
    }
    let Some(ready) = server.tables.lattice(&opened, &privacy, &ranking) else {
        return accepted(&*start_annotation(&server, opened, privacy, ranking)?);
    };
    let lattice = &ready.lattice;
    let attributes =
        lattice.hierarchies().iter().zip(&ready.counted.quasi_identifiers).map(|(hierarchy, attribute)| {
            let example = server.allows_preview.then(|| trees::example(&opened, hierarchy)).flatten();
            let level = |(i, level): (usize, &incrowd::hierarchy::Values)| {
                let mut document =
                    json!({ "level": i, "name": level.name(), "phrase": level.phrase(), "n_values": level.len() });
                if let Some(labels) = &example {
                    document["example"] = json!(labels[i]);
                }
                document
            };
            let levels: Vec<Value> = hierarchy.levels().iter().enumerate().map(level).collect();
            json!({ "attribute": hierarchy.attribute(), "weight": attribute.weight, "levels": levels })
        });
    let sensitive = lattice.sensitive().iter().map(|(name, n)| json!({ "attribute": name, "n_values": n }));
    let names = wire::sensitive_names(lattice);
    let measures = lattice.looks().measures().iter().map(|measure| wire::key(*measure, &names));
    ok(json!({
        "n_records": lattice.n_records(),
        "n_dropped": lattice.n_dropped(),
        "n_schemes": lattice.schemes().len(),
        "n_heights": lattice.schemes().n_heights(),
        "n_bytes": lattice.n_bytes(),
        "measured": measures.collect::<Vec<_>>(),
        "attributes": attributes.collect::<Vec<_>>(),
        "sensitive": sensitive.collect::<Vec<_>>(),
    }))
}

async fn answer(State(server): Shared, Body(question): Body<Question>) -> Answered {
    let asked = match find(&server, &question)? {
        Found::Job(job) => return accepted(&job),
        Found::Ready(asked) => asked,
    };
    let is_quick = asked.request.criteria.is_monotone()
        && asked.request.best_by.is_height()
        && asked.ready.lattice.schemes().len() <= 20_000;
    let answer = move |asked: &Asked| {
        let (lattice, request) = (&asked.ready.lattice, &asked.request);
        let answer = negotiate(lattice, request)?;
        let mut document = wire::answer(lattice, request, &answer);
        if question.explain {
            let scheme = match &answer {
                Answer::Exact(offer) => &offer.scheme,
                Answer::Offers(_) => &request.level_max,
            };
            document["explanation"] = wire::explanation(lattice, &explain(lattice, scheme, &request.criteria));
        }
        Ok(document)
    };
    // Microseconds are not worth a change of threads.
    match is_quick {
        true => ok(answer(&asked).map_err(|error| server.problem(error))?),
        false => ok(aside(&server, move |server| answer(&asked).map_err(|error| server.problem(error))).await?),
    }
}

async fn explore_answer(State(server): Shared, Body(question): Body<Question>) -> Answered {
    with_lattice(&server, question, |_, question, asked| {
        let scheme = scheme(&asked.ready.lattice, question)?;
        explore::explore(&asked.ready.lattice, &asked.request, scheme)
    })
    .await
}

async fn one_scheme(State(server): Shared, Body(question): Body<Question>) -> Answered {
    with_lattice(&server, question, |_, question, asked| {
        let lattice = &asked.ready.lattice;
        let scheme = scheme(lattice, question)?.unwrap_or_else(|| asked.request.level_max.clone());
        Ok(explore::scheme(lattice, &asked.request, &scheme))
    })
    .await
}

async fn sample(State(server): Shared, Body(question): Body<Question>) -> Answered {
    server.previews()?;
    let opened = server.opened(&question.project)?;
    privacy(&opened, &question.request).map_err(|error| server.problem(error))?;
    if !opened.is_seen() {
        return accepted(&*look_first(&server, &opened)?);
    }
    with_lattice(&server, question, |_, question, asked| {
        let lattice = &asked.ready.lattice;
        let scheme = scheme(lattice, question)?.unwrap_or_else(|| asked.request.level_max.clone());
        explore::sample(&asked.opened, &asked.ready, &asked.privacy, &scheme, asked.opened.columns()?)
    })
    .await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Compare {
    project: String,
    request: Map<String, Value>,
    /// All that there are where none is named.
    #[serde(default)]
    methods: Option<Vec<String>>,
}

async fn compare_methods(State(server): Shared, Body(asked): Body<Compare>) -> Answered {
    let opened = server.opened(&asked.project)?;
    let (privacy, _) = privacy(&opened, &asked.request).map_err(|error| server.problem(error))?;
    let contenders = match &asked.methods {
        None => Contender::all(),
        Some(names) => names
            .iter()
            .map(|name| Contender::parse(name))
            .collect::<incrowd::Result<_>>()
            .map_err(|error| server.problem(error))?,
    };
    let worker = server.clone();
    let key = format!("{} {} {:?}", opened.id, Value::Object(asked.request.clone()), asked.methods);
    let job = server.jobs.start("compare", key, move |job| {
        let wrong = |error| worker.problem(error);
        let needs_entropy = contenders.iter().any(|contender| contender.needs_entropy());
        let ranking = if needs_entropy { Ranking::from(Quality::Entropy) } else { Ranking::default() };
        let ready = worker.tables.annotate(&opened, &privacy, &ranking).map_err(wrong)?;
        let request = request(&ready.lattice, &privacy, &Ranking::default(), &asked.request).map_err(wrong)?;
        let rows = compared(&ready, &request, contenders).map_err(wrong)?;
        job.go_on()?;
        let frontier = explore::bargains(&ready, &request).map_err(wrong)?;
        Ok(json!({ "n_records": ready.lattice.n_records(), "rows": rows, "frontier": frontier }))
    })?;
    accepted(&job)
}

/// What each contender makes of a request; local ones take no part where they cannot promise what is asked.
fn compared(ready: &Ready, request: &Request, contenders: Vec<Contender>) -> incrowd::Result<Vec<Value>> {
    let counted = &ready.counted;
    let weights = counted.weights();
    let ask = Ask {
        counted,
        weights: &weights,
        level_max: &request.level_max,
        n_suppressed_max: request.n_suppressed_max,
        seed: 0,
        questions: &Questions::new(counted, compare::N_QUERIES, 0, None)?,
        lattice: Some((&ready.lattice, Cost::default())),
    };
    let can_promise = guaranteed(&request.criteria).is_ok();
    let takes_part = |contender: &Contender| {
        contender.is_possible(!counted.sensitive.is_empty())
            && (can_promise || matches!(contender, Contender::Global(_)))
    };
    let contenders: Vec<Contender> = contenders.into_iter().filter(takes_part).collect();
    let bar = QUIET.things("comparing", counted.counts.n_records() * contenders.len() as u64, "records");
    let row = |contender: Contender| {
        let mut row = compare::one(&ask, contender, &request.criteria, &bar)?.to_json(counted);
        // Of the whole server, whatever else it does meanwhile.
        if let Some(row) = row.as_object_mut() {
            row.remove("cpu_seconds");
            row.remove("peak_bytes");
        }
        Ok(row)
    };
    contenders.into_iter().map(row).collect()
}

// ── Publishing ─────────────────────────────────────────────────────────────────────────────────────────────────────

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Publish {
    project: String,
    request: Map<String, Value>,
    /// `exact`, `suppression`, `height`, `privacy`, `levels` for those that are named, or `method` for a local method.
    choice: String,
    #[serde(default)]
    levels: Option<Levels>,
    #[serde(default)]
    method: Option<String>,
    /// Where to write the release, within the served folder.
    #[serde(default)]
    output: Option<String>,
    #[serde(default)]
    replace: bool,
}

impl Publish {
    fn question(&self) -> Question {
        let levels = self.levels.clone();
        Question { project: self.project.clone(), request: self.request.clone(), levels, place: None, explain: false }
    }

    /// The local method, where one was chosen that can promise what is asked for.
    fn local(&self, asked: &Asked) -> incrowd::Result<Option<Local>> {
        let wrong = |message: &str| incrowd::Error::new(incrowd::ErrorKind::Request, message);
        match (self.choice.as_str(), &self.method) {
            ("method", Some(name)) => {
                let local = Local::new(Method::parse(name)?);
                guaranteed(&asked.privacy.criteria)?;
                if local.method.is_dealing() && asked.ready.counted.sensitive.is_empty() {
                    return Err(wrong("there is no sensitive attribute to deal by")
                        .hint("give an attribute the role sensitive, or take another method"));
                }
                Ok(Some(local))
            }
            ("method", None) => Err(wrong("no method is named").hint("for example \"top-down\"")),
            (_, Some(_)) => Err(wrong("a method is named, and another choice made").hint("choose \"method\"")),
            (_, None) => Ok(None),
        }
    }

    /// What was agreed on, if there is such an answer.
    fn agree<'a>(&self, asked: &'a Asked) -> incrowd::Result<Agreed<'a>> {
        let wrong = |message: &str| incrowd::Error::new(incrowd::ErrorKind::Request, message);
        let lattice = &asked.ready.lattice;
        let kept = Some(std::borrow::Cow::Borrowed(lattice));
        let choice = match self.choice.as_str() {
            "levels" => {
                let scheme = scheme(lattice, &self.question())?.ok_or_else(|| wrong("no levels are named"))?;
                let offer = offer_of(lattice, &scheme, &asked.privacy.criteria);
                return Ok(Agreed { offer, choice: "levels", request: Value::Null, lattice: kept, search: None });
            }
            "exact" => Choice::Exact,
            "suppression" => Choice::Suppression,
            "height" => Choice::Height,
            "privacy" => Choice::Privacy,
            other => {
                let known = ["exact", "suppression", "height", "privacy", "levels", "method"];
                return Err(incrowd::error::unknown(incrowd::ErrorKind::Request, "choice", other, &known));
            }
        };
        let answer = negotiate(lattice, &asked.request)?;
        let (offer, choice) =
            publish::chosen(&answer, choice).ok_or_else(|| wrong("there is no such answer to these wishes"))?;
        let request = wire::request(lattice, &asked.request);
        let search = lattice.n_schemes().map(wire::Search::whole);
        Ok(Agreed { offer, choice: choice.name(), request, lattice: kept, search })
    }
}

/// What would be promised, in words.
async fn review(State(server): Shared, Body(asked): Body<Publish>) -> Answered {
    with_lattice(&server, asked.question(), move |_, _, found| {
        if let Some(local) = asked.local(found)? {
            return Ok(explore::review_method(&found.opened, &found.ready, &local, &found.privacy.criteria));
        }
        let agreed = asked.agree(found)?;
        let mut document = explore::review(&found.opened, &found.ready, &agreed.offer);
        document["choice"] = json!(agreed.choice);
        Ok(document)
    })
    .await
}

async fn publish_release(State(server): Shared, Body(asked): Body<Publish>) -> Answered {
    let found = match find(&server, &asked.question())? {
        Found::Job(job) => return accepted(&job),
        Found::Ready(found) => found,
    };
    let wrong = |error| server.problem(error);
    let name = asked.output.clone().unwrap_or_else(|| "release.csv".to_string());
    let output = server.tables.folder.to_write(&name).map_err(wrong)?;
    publish::prepare(&found.opened.project, &output, asked.replace).map_err(|error| {
        let is_there = error.message().starts_with("is there already");
        wrong(if is_there { error.hint("choose another name, or replace it") } else { error })
    })?;
    if asked.local(&found).map_err(wrong)?.is_none() {
        asked.agree(&found).map_err(wrong)?;
    }
    let worker = server.clone();
    let order = json!([found.opened.id, asked.request, asked.choice, asked.levels, asked.method, asked.replace]);
    let job = server.jobs.start("publish", format!("{name} {order}"), move |job| {
        let wrong = |error| worker.problem(error);
        let (project, counted) = (&found.opened.project, &found.ready.counted);
        let files = publish::prepare(project, &output, asked.replace).map_err(wrong)?;
        let published = match asked.local(&found).map_err(wrong)? {
            Some(local) => {
                let bar = QUIET.things(local.method.name(), counted.counts.n_records(), "records");
                let made = local.make(counted, &found.privacy.criteria, &bar).map_err(wrong)?;
                bar.finish_and_clear();
                made.check(&counted.sensitive_names()).map_err(wrong)?;
                publish::publish_made(project, counted, made, &files, asked.replace, &QUIET)
            }
            None => {
                let agreed = asked.agree(&found).map_err(wrong)?;
                publish::publish(project, counted, &agreed, &files, asked.replace, &QUIET)
            }
        }
        .map_err(wrong)?;
        let short = |path: &Path| worker.tables.folder.relative(&path.display().to_string());
        let document = json!({
            "published": published.holds,
            "choice": published.certificate.choice,
            "files": {
                "release": short(&files.release),
                "certificate": short(&files.certificate),
                "report": short(&files.report),
            },
            "certificate": published.certificate,
            "verdict": published.verdict,
        });
        if published.holds {
            *job.files.lock().unwrap_or_else(PoisonError::into_inner) = Some(files);
        }
        Ok(document)
    })?;
    accepted(&job)
}

// ── Jobs ───────────────────────────────────────────────────────────────────────────────────────────────────────────

async fn job(State(server): Shared, InPath(id): InPath<String>) -> Answered {
    ok(server.jobs.get(&id)?.to_json())
}

async fn cancel(State(server): Shared, InPath(id): InPath<String>) -> Answered {
    let job = server.jobs.get(&id)?;
    job.cancel();
    ok(job.to_json())
}

/// How far a job is, told whenever it has changed, until it is over.
async fn events(State(server): Shared, InPath(id): InPath<String>) -> Answered {
    const STEP: Duration = Duration::from_millis(100);
    let job = server.jobs.get(&id)?;
    let start = (job.changes(), job, String::new(), false);
    let stream = unfold(start, |(mut changes, job, mut last, is_over)| async move {
        if is_over {
            return None;
        }
        loop {
            // One look at the state: it may change between two.
            let state = job.state();
            let is_over = state.is_over();
            let text = job.to_json_as(state).to_string();
            if text != last {
                last.clone_from(&text);
                let name = if is_over { "end" } else { "progress" };
                let event = format!("event: {name}\ndata: {text}\n\n");
                return Some((Ok::<_, std::convert::Infallible>(event), (changes, job, last, is_over)));
            }
            let _ = tokio::time::timeout(STEP, changes.changed()).await;
        }
    });
    let headers = [(header::CONTENT_TYPE, "text/event-stream")];
    Ok((headers, HttpBody::from_stream(stream)).into_response())
}

/// A file that a job has published, and nothing else.
async fn download(State(server): Shared, InPath((id, which)): InPath<(String, String)>) -> Answered {
    let job = server.jobs.get(&id)?;
    let path = {
        let files = job.files.lock().unwrap_or_else(PoisonError::into_inner);
        let files = files.as_ref().ok_or_else(|| Problem::not_found("file"))?;
        match which.as_str() {
            "release" => files.release.clone(),
            "certificate" => files.certificate.clone(),
            "report" => files.report.clone(),
            _ => return Err(Problem::not_found("file")),
        }
    };
    let file = std::fs::File::open(&path).map_err(|error| server.problem(crate::io_error(&path, error)))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().replace(['"', '\\'], "_");
    let stream = unfold(file, |mut file| async move {
        let mut part = vec![0; 64 << 10];
        let n = tokio::task::block_in_place(|| std::io::Read::read(&mut file, &mut part));
        match n {
            Ok(0) => None,
            Ok(n) => {
                part.truncate(n);
                Some((Ok(part), file))
            }
            Err(error) => Some((Err(error), file)),
        }
    });
    let headers = [
        (header::CONTENT_TYPE, "application/octet-stream".to_string()),
        (
            header::CONTENT_DISPOSITION,
            format!("attachment; filename=\"{}\"", name.replace(|c: char| !c.is_ascii(), "_")),
        ),
    ];
    Ok((headers, HttpBody::from_stream(stream)).into_response())
}
