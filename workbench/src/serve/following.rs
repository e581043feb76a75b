//! Work that goes on: how far it is, word of every change, its end, and the files that it made.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use axum::body::Body as HttpBody;
use axum::extract::{Path as InPath, State};
use axum::http::header;
use axum::response::IntoResponse;
use futures_util::stream::unfold;
use serde_json::json;

use super::closed::veil;
use super::jobs::Job;
use super::problem::Problem;
use super::server::{Answered, Shared, ok};

pub(super) async fn job(State(server): Shared, InPath(id): InPath<String>) -> Answered {
    let job = server.jobs.get(&id)?;
    job.asked();
    ok(server.job(&job, job.state()))
}

pub(super) async fn cancel(State(server): Shared, InPath(id): InPath<String>) -> Answered {
    let job = server.jobs.get(&id)?;
    job.cancel();
    ok(server.job(&job, job.state()))
}

/// What is under way, and what has ended lately: the newest first, without results.
pub(super) async fn list(State(server): Shared) -> Answered {
    let of = |job: &Arc<Job>| {
        let mut document = server.job(job, job.state());
        document.as_object_mut().map(|fields| fields.shift_remove("result"));
        document["n_seconds"] = json!(job.age().as_secs());
        document
    };
    ok(json!({ "jobs": server.jobs.list().iter().map(of).collect::<Vec<_>>() }))
}

/// Ends a search with the best that it has found so far.
pub(super) async fn enough(State(server): Shared, InPath(id): InPath<String>) -> Answered {
    let job = server.jobs.get(&id)?;
    job.enough();
    ok(server.job(&job, job.state()))
}

/// How far a job is, told whenever it has changed, until it is over. Whoever listens waits for it.
pub(super) async fn events(State(server): Shared, InPath(id): InPath<String>) -> Answered {
    const STEP: Duration = Duration::from_millis(100);
    let job = server.jobs.get(&id)?;
    let start = (server, job.changes(), job.follow(), job, String::new(), false);
    let stream = unfold(start, |(server, mut changes, following, job, mut last, is_over)| async move {
        if is_over {
            return None;
        }
        loop {
            // One look at the state: it may change between two.
            let state = job.state();
            let is_over = state.is_over();
            let mut document = server.job(&job, state);
            if !server.allows_preview() {
                veil(&mut document);
            }
            let text = document.to_string();
            if text != last {
                last.clone_from(&text);
                let name = if is_over { "end" } else { "progress" };
                let event = format!("event: {name}\ndata: {text}\n\n");
                return Some((
                    Ok::<_, std::convert::Infallible>(event),
                    (server, changes, following, job, last, is_over),
                ));
            }
            let _ = tokio::time::timeout(STEP, changes.changed()).await;
        }
    });
    let headers = [(header::CONTENT_TYPE, "text/event-stream")];
    Ok((headers, HttpBody::from_stream(stream)).into_response())
}

/// A file that a job has published, and nothing else.
pub(super) async fn download(State(server): Shared, InPath((id, which)): InPath<(String, String)>) -> Answered {
    let job = server.jobs.get(&id)?;
    let path = {
        let files = job.files.lock().unwrap_or_else(PoisonError::into_inner);
        let files = files.as_ref().ok_or_else(|| Problem::not_found("file"))?;
        match which.as_str() {
            "release" if files.release.as_os_str().is_empty() => return Err(Problem::not_found("file")),
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
