//! The negotiation at several desks that a server holds, and word of every move.

use std::sync::Arc;

use axum::http::StatusCode;
use serde_json::{Map, Value};
use tokio::sync::watch;

use super::problem::Problem;
use super::shared::Shared;
use crate::output::account::Minutes;

/// One negotiation at a time, over one project.
pub struct Round(watch::Sender<Option<Arc<Held>>>);

/// What is negotiated over, and how far that is.
pub struct Held {
    pub project: String,
    pub shared: Shared,
}

impl Default for Round {
    fn default() -> Self {
        Round(watch::channel(None).0)
    }
}

impl Round {
    pub fn held(&self) -> Option<Arc<Held>> {
        self.0.borrow().clone()
    }

    /// Tells of every change.
    pub fn changes(&self) -> watch::Receiver<Option<Arc<Held>>> {
        self.0.subscribe()
    }

    pub fn begin(&self, project: &str, wish: Map<String, Value>) -> Arc<Held> {
        let held = Arc::new(Held { project: project.to_string(), shared: Shared::new(wish) });
        self.0.send_replace(Some(held.clone()));
        held
    }

    /// Goes on from what somebody has looked at; nothing where somebody else has gone on meanwhile.
    pub fn go_on(&self, from: &Arc<Held>, shared: Shared) -> Option<Arc<Held>> {
        let next = Arc::new(Held { project: from.project.clone(), shared });
        let is_latest = |held: &mut Option<Arc<Held>>| {
            let is_latest = held.as_ref().is_some_and(|held| Arc::ptr_eq(held, from));
            if is_latest {
                *held = Some(next.clone());
            }
            is_latest
        };
        self.0.send_if_modified(is_latest).then_some(next)
    }

    /// How the desks have agreed on a request about a project.
    pub fn minutes(&self, project: &str, request: &Map<String, Value>) -> Result<Minutes, Problem> {
        let held = self.held().filter(|held| held.project == project && held.shared.wish() == request);
        held.and_then(|held| held.shared.minutes()).ok_or_else(|| {
            Problem::new(StatusCode::CONFLICT, "request", "the desks have not agreed to this request")
                .hint("publish what all three have agreed to, or leave out shared")
        })
    }
}
