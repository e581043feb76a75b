//! Several desks, one negotiation: who begins it, who moves, who agrees, and word of it to all.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body as HttpBody;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::IntoResponse;
use futures_util::stream::unfold;
use incrowd::Result;
use serde_json::{Value, json};

use super::ask::{Document, Question, Readable, Wish};
use super::closed::refused;
use super::problem::Problem;
use super::round::Held;
use super::safety::Party;
use super::server::{Answered, Readiness, Server, Shared, accepted, find, ok};
use super::shared::Desk;
use crate::words::order::Reader;

/// A sign of life for whoever stands between.
const STILL_HERE: Duration = Duration::from_secs(15);

/// What is negotiated over now, for those who know the project.
fn document(server: &Server, held: Option<&Held>) -> Value {
    match held.filter(|held| server.tables.get(&held.project).is_some()) {
        None => Value::Null,
        Some(held) => {
            let mut document = held.shared.document();
            document["project"] = json!(held.project);
            document
        }
    }
}

pub(super) async fn seen(State(server): Shared) -> Answered {
    ok(json!({ "desks": document(&server, server.round.held().as_deref()) }))
}

/// What is negotiated over, told whenever somebody has moved or agreed; once, to those who ask for no stream of events.
pub(super) async fn events(State(server): Shared, headers: HeaderMap) -> Answered {
    let accepted = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    let is_once = !accepted.is_some_and(|kinds| kinds.contains("text/event-stream"));
    let start = (server.round.changes(), server, true);
    let stream = unfold(start, move |(mut changes, server, is_first)| async move {
        if !is_first && is_once {
            return None;
        }
        if !is_first {
            match tokio::time::timeout(STILL_HERE, changes.changed()).await {
                Ok(Err(_)) => return None,
                Ok(Ok(())) => {}
                Err(_) => return Some((Ok(": here\n\n".to_string()), (changes, server, false))),
            }
        }
        let held = changes.borrow_and_update().clone();
        let event = format!("event: desks\ndata: {}\n\n", document(&server, held.as_deref()));
        Some((Ok::<_, std::convert::Infallible>(event), (changes, server, false)))
    });
    Ok(([(header::CONTENT_TYPE, "text/event-stream")], HttpBody::from_stream(stream)).into_response())
}

pub struct Begin {
    project: String,
    request: Wish,
}

impl Readable for Begin {
    fn read(reader: &Reader) -> Result<Begin> {
        Ok(Begin {
            project: reader.needed("project", Reader::text)?.to_string(),
            request: reader.needed("request", Reader::object)?.clone(),
        })
    }
}

pub(super) async fn begin(State(server): Shared, Document(asked): Document<Begin>) -> Answered {
    let held = match check(&server, &asked.project, &asked.request)? {
        Some(waiting) => return Ok(waiting),
        None => server.round.begin(&asked.project, asked.request),
    };
    ok(json!({ "desks": document(&server, Some(&held)) }))
}

pub struct Move {
    project: String,
    desk: String,
    change: Wish,
}

impl Readable for Move {
    fn read(reader: &Reader) -> Result<Move> {
        Ok(Move {
            project: reader.needed("project", Reader::text)?.to_string(),
            desk: reader.needed("desk", Reader::text)?.to_string(),
            change: reader.needed("change", Reader::object)?.clone(),
        })
    }
}

pub(super) async fn moves(State(server): Shared, Document(asked): Document<Move>) -> Answered {
    let desk = desk(&server, &asked.desk)?;
    // Somebody else may move at the same time: then this move goes on from theirs.
    loop {
        let held = held(&server, &asked.project)?;
        let next = held.shared.moved(desk, &asked.change).map_err(|error| server.problem(error))?;
        if let Some(waiting) = check(&server, &held.project, next.wish())? {
            return Ok(waiting);
        }
        if let Some(held) = server.round.go_on(&held, next) {
            return ok(json!({ "desks": document(&server, Some(&held)) }));
        }
    }
}

pub struct Agree {
    project: String,
    desk: String,
    version: u64,
}

impl Readable for Agree {
    fn read(reader: &Reader) -> Result<Agree> {
        Ok(Agree {
            project: reader.needed("project", Reader::text)?.to_string(),
            desk: reader.needed("desk", Reader::text)?.to_string(),
            version: reader.needed("version", Reader::whole)?,
        })
    }
}

pub(super) async fn agrees(State(server): Shared, Document(asked): Document<Agree>) -> Answered {
    let desk = desk(&server, &asked.desk)?;
    loop {
        let held = held(&server, &asked.project)?;
        let next = held.shared.agreed(desk, asked.version).map_err(|error| {
            let problem = server.problem(error);
            Problem { status: StatusCode::CONFLICT, ..problem }
        })?;
        if let Some(held) = server.round.go_on(&held, next) {
            return ok(json!({ "desks": document(&server, Some(&held)) }));
        }
    }
}

/// The desk that somebody sits at: the curator's takes the curator's key.
fn desk(server: &Server, name: &str) -> std::result::Result<Desk, Problem> {
    match Desk::parse(name).map_err(|error| server.problem(error))? {
        Desk::Curator if server.party == Party::Guest => {
            Err(refused("the curator's desk takes the curator's key").hint("a guest is the analyst or the officer"))
        }
        desk => Ok(desk),
    }
}

fn held(server: &Server, project: &str) -> std::result::Result<Arc<Held>, Problem> {
    server.opened(project)?;
    let held = server.round.held().filter(|held| held.project == project);
    held.ok_or_else(|| {
        Problem::new(StatusCode::CONFLICT, "request", "nothing is negotiated at several desks over this project")
            .hint("whoever has the curator's key begins it")
    })
}

/// Refuses what this key may not wish for; what has to be made first, if anything.
fn check(
    server: &Arc<Server>,
    project: &str,
    wish: &Wish,
) -> std::result::Result<Option<axum::response::Response>, Problem> {
    let question =
        Question { project: project.to_string(), request: wish.clone(), levels: None, place: None, explain: false };
    Ok(match find(server, &question)? {
        Readiness::Job(job) => Some(accepted(server, &job)?),
        Readiness::Ready(_) => None,
    })
}
