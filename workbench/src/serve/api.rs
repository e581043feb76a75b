//! The questions that can be asked over HTTP, and how each is answered.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Body as HttpBody;
use axum::extract::{DefaultBodyLimit, Path as InPath, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use futures_util::stream::unfold;
use incrowd::wire;
use incrowd::{Answer, Criteria, Quality, Ranking, Request, explain, negotiate};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::ask::{Body, Question, privacy, request, scheme};
use super::closed::veil;
use super::orders::{publish_release, review};
use super::problem::Problem;
use super::projects::{about, edit, hierarchy, list_files, open, profile, project, save, upload};
use super::server::{
    Answered, Asked, Found, Server, Shared, accepted, aside, find, look_first, ok, start_annotation, with_lattice,
};
use super::tables::{QUIET, Ready};
use super::{explore, trees};
use crate::compare::{self, Ask, Contender, Cost, Questions};
use crate::local::guaranteed;
use crate::sentences;

/// JSON bodies; files are uploaded elsewhere.
const N_BODY_MAX: usize = 4 << 20;

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
// ── Negotiating ────────────────────────────────────────────────────────────────────────────────────────────────────

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
            let example = server.allows_preview().then(|| trees::example(&opened, hierarchy)).flatten();
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
    let measures = lattice.signatures().measures().iter().map(|measure| wire::key(*measure, &names));
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
    let answer = move |server: &Server, asked: &Asked| {
        let (lattice, request) = (&asked.ready.lattice, &asked.request);
        let answer = server.allowed(negotiate(lattice, request)?, &asked.privacy.sensitive);
        let mut document = sentences::answer(lattice, request, &answer);
        if question.explain {
            let scheme = match &answer {
                Answer::Exact(offer) => &offer.scheme,
                Answer::Offers(_) => &request.level_max,
            };
            document["explanation"] = wire::explanation(lattice, &explain(lattice, scheme, &request.criteria)?);
        }
        Ok(document)
    };
    // Microseconds are not worth a change of threads.
    match is_quick {
        true => ok(answer(&server, &asked).map_err(|error| server.problem(error))?),
        false => ok(aside(&server, move |server| answer(server, &asked).map_err(|error| server.problem(error))).await?),
    }
}

async fn explore_answer(State(server): Shared, Body(question): Body<Question>) -> Answered {
    with_lattice(&server, question, |server, question, asked| {
        let lattice = &asked.ready.lattice;
        let scheme = scheme(lattice, question)?;
        let answer = server.allowed(negotiate(lattice, &asked.request)?, &asked.privacy.sensitive);
        let may_promise = |criteria: &Criteria| server.check_promise(criteria, &asked.privacy.sensitive).is_ok();
        explore::explore(lattice, &asked.request, &answer, scheme, &may_promise)
    })
    .await
}

async fn one_scheme(State(server): Shared, Body(question): Body<Question>) -> Answered {
    with_lattice(&server, question, |_, question, asked| {
        let lattice = &asked.ready.lattice;
        let scheme = scheme(lattice, question)?.unwrap_or_else(|| asked.request.level_max.clone());
        explore::scheme(lattice, &asked.request, &scheme)
    })
    .await
}

async fn sample(State(server): Shared, Body(question): Body<Question>) -> Answered {
    server.previews("this server shows no values of the data")?;
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
    server.check_promise(&privacy.criteria, &privacy.sensitive)?;
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
        job.takes_long()?;
        let wrong = |error| worker.problem(error);
        let needs_entropy = contenders.iter().any(|contender| contender.needs_entropy());
        let ranking = if needs_entropy { Ranking::from(Quality::Entropy) } else { Ranking::default() };
        let ready = worker.tables.annotate(&opened, &privacy, &ranking).map_err(wrong)?;
        let request = request(&ready.lattice, &privacy, &Ranking::default(), &asked.request).map_err(wrong)?;
        let rows = compared(&ready, &request, contenders).map_err(wrong)?;
        job.go_on()?;
        let may_promise = |criteria: &Criteria| worker.check_promise(criteria, &privacy.sensitive).is_ok();
        let frontier = explore::bargains(&ready, &request, &may_promise).map_err(wrong)?;
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
    let is_closed = !server.allows_preview();
    let stream = unfold(start, move |(mut changes, job, mut last, is_over)| async move {
        if is_over {
            return None;
        }
        loop {
            // One look at the state: it may change between two.
            let state = job.state();
            let is_over = state.is_over();
            let mut document = job.to_json_as(state);
            if is_closed {
                veil(&mut document);
            }
            let text = document.to_string();
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
            "report" => {
                // It has the key, and numbers of the source.
                server.previews("the report stays with whoever signs, where the release was written")?;
                files.report.clone()
            }
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
