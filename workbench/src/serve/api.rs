//! Every address that can be asked over HTTP, and who answers.

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};

use super::comparing::compare_methods;
use super::following::{cancel, download, events, job};
use super::negotiating::{annotate, answer, explore_answer, one_scheme, sample};
use super::negotiating_local;
use super::orders::{publish_release, review, run_order};
use super::problem::Problem;
use super::projects::{about, edit, hierarchy, list_files, open, profile, project, save, upload};
use super::server::Server;

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
        .route("/negotiate-local", post(negotiating_local::answer))
        .route("/explore-local", post(negotiating_local::explore))
        .route("/group", post(negotiating_local::group))
        .route("/compare", post(compare_methods))
        .route("/review", post(review))
        .route("/publish", post(publish_release))
        .route("/orders/{verb}", post(run_order))
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
