//! Every address that can be asked over HTTP, and who answers.

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};

use super::closed::refused;
use super::comparing::compare_methods;
use super::desks;
use super::following::{cancel, download, enough, events, job, list};
use super::looking;
use super::negotiating::{annotate, answer, explore_answer, one_scheme, sample};
use super::negotiating_local;
use super::orders::{publish_release, review, run_order};
use super::problem::Problem;
use super::projects::{about, edit, hierarchy, list_files, open, profile, project, save, upload};
use super::safety::Party;
use super::server::Server;

/// JSON bodies; files are uploaded elsewhere.
const N_BODY_MAX: usize = 4 << 20;

/// Every route below `/api/v1` that a key opens; the document at `openapi.json` describes them all.
pub fn routes(server: Arc<Server>) -> Router {
    let routes = match server.party {
        Party::Guest => for_all().fallback(for_curators).method_not_allowed_fallback(for_curators),
        Party::Curator => for_all()
            .merge(for_curator())
            .fallback(|| async { Problem::not_found("address") })
            .method_not_allowed_fallback(|| async {
                Problem::new(StatusCode::METHOD_NOT_ALLOWED, "request", "this address is asked in another way")
                    .hint("see openapi.json")
            }),
    };
    routes.layer(DefaultBodyLimit::max(N_BODY_MAX)).with_state(server)
}

/// What a guest is told of everything that is not named in [`for_all`].
async fn for_curators() -> Problem {
    refused("this takes the curator's key").hint("a guest negotiates and compares; ask whoever started the server")
}

/// What guests may ask, too: none of it shows a value, changes roles or hierarchies, or writes a file.
fn for_all() -> Router<Arc<Server>> {
    Router::new()
        .route("/openapi.json", get(openapi))
        .route("/about", get(about))
        .route("/projects", post(edit))
        .route("/projects/{id}", get(project))
        .route("/profile", post(profile))
        .route("/hierarchy", post(hierarchy))
        .route("/annotate", post(annotate))
        .route("/negotiate", post(answer))
        .route("/explore", post(explore_answer))
        .route("/scheme", post(one_scheme))
        .route("/negotiate-local", post(negotiating_local::answer))
        .route("/explore-local", post(negotiating_local::explore))
        .route("/compare", post(compare_methods))
        .route("/jobs/{id}", get(job).delete(cancel))
        .route("/jobs/{id}/events", get(events))
        .route("/desks", get(desks::seen))
        .route("/desks/events", get(desks::events))
        .route("/desks/move", post(desks::moves))
        .route("/desks/agree", post(desks::agrees))
}

/// What only the curator's key opens.
fn for_curator() -> Router<Arc<Server>> {
    Router::new()
        .route("/files", get(list_files).put(upload).layer(DefaultBodyLimit::disable()))
        .route("/open", post(open))
        .route("/save", post(save))
        .route("/sample", post(sample))
        .route("/group", post(negotiating_local::group))
        .route("/groups", post(looking::groups))
        .route("/spread", post(looking::spread))
        .route("/jobs", get(list))
        .route("/jobs/{id}/enough", post(enough))
        .route("/desks/begin", post(desks::begin))
        .route("/review", post(review))
        .route("/publish", post(publish_release))
        .route("/orders/{verb}", post(run_order))
        .route("/jobs/{id}/files/{which}", get(download))
}

pub const OPENAPI: &str = include_str!("openapi.json");

async fn openapi() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], OPENAPI).into_response()
}
