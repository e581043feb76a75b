//! What goes wrong, as programs and people read it: RFC 9457's problem documents, with a position and a hint.

use crate::sentences::for_http;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use incrowd::{Error, ErrorKind};
use serde_json::{Value, json};

/// Why a question got no answer. Never the value of a cell.
#[derive(Clone, Debug)]
pub struct Problem {
    pub status: StatusCode,
    /// What kind of thing is wrong, as `--json` calls it.
    pub kind: &'static str,
    pub message: String,
    pub position: Option<String>,
    pub hint: Option<String>,
}

impl Problem {
    pub fn new(status: StatusCode, kind: &'static str, message: impl Into<String>) -> Problem {
        Problem { status, kind, message: message.into(), position: None, hint: None }
    }

    pub fn hint(mut self, hint: impl Into<String>) -> Problem {
        self.hint = Some(hint.into());
        self
    }

    pub fn not_found(what: &str) -> Problem {
        Problem::new(StatusCode::NOT_FOUND, "request", format!("there is no such {what}"))
    }

    /// What nobody expected.
    pub fn bug() -> Problem {
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "bug", "this should not have happened: please report it")
    }

    pub fn to_json(&self) -> Value {
        json!({
            "type": "about:blank",
            "title": self.status.canonical_reason().unwrap_or("Error"),
            "status": self.status.as_u16(),
            "kind": self.kind,
            "detail": self.message,
            "position": self.position,
            "hint": self.hint,
        })
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Problem {
        let status = match (error.kind(), error.message().to_string().as_str()) {
            (ErrorKind::Io, text) if text.contains("there already") => StatusCode::CONFLICT,
            (ErrorKind::Io, "there is no such file" | "there is no such folder") => StatusCode::NOT_FOUND,
            (ErrorKind::Io, "permission denied") => StatusCode::FORBIDDEN,
            (ErrorKind::Io, "the disk is full") => StatusCode::INSUFFICIENT_STORAGE,
            _ => StatusCode::UNPROCESSABLE_ENTITY,
        };
        Problem {
            status,
            kind: error.kind().name(),
            message: for_http(error.message()),
            position: error.position().map(for_http),
            hint: error.hint_given().map(for_http),
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = self.to_json().to_string();
        (self.status, [(header::CONTENT_TYPE, "application/problem+json")], body).into_response()
    }
}
