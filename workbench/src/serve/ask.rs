//! From a JSON document to a checked request: the same words as `--json`, and the same checks as the command line's.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{FromRequest, Request as HttpRequest};
use axum::http::{StatusCode, header};
use incrowd::error::Wording;
use incrowd::number::Crowd;
use incrowd::search::request::check_criteria;
use incrowd::{Error, ErrorKind, Hierarchy, Lattice, Level, Ranking, Request, Result, Scheme};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::connections::Seat;
use super::problem::Problem;
use super::tables::{Opened, Ready};
use crate::orders::negotiate_local::NegotiateLocal;
use crate::orders::publish::Publish;
use crate::orders::request::{About, GivenRequest, Privacy, attribute_index, parse_level};
use crate::words::order::{PathUse, Reader};

/// A body must come within this time.
const BODY_TIME: Duration = Duration::from_secs(20);

/// A wish as it comes over the wire: criteria by name, `max_suppressed`, `max_level`, `best_by`.
pub type Wish = Map<String, Value>;

/// A level per attribute, by its number or name.
pub type Levels = Vec<(String, String)>;

/// A question about a project.
#[derive(Debug)]
pub struct Question {
    pub project: String,
    pub request: Wish,
    /// Levels of one's own choice, as `{"age": 1}`; an attribute not named stays exact.
    pub levels: Option<Levels>,
    /// A scheme by its place, where levels are not named.
    pub place: Option<u64>,
    pub explain: bool,
}

impl Readable for Question {
    fn read(reader: &Reader) -> Result<Question> {
        Ok(Question {
            project: reader.needed("project", Reader::text)?.to_string(),
            request: reader.object("request")?.cloned().unwrap_or_default(),
            levels: reader.levels("levels")?,
            place: reader.whole("place")?,
            explain: reader.flag("explain")?,
        })
    }
}

/// What is read key by key, with the reader of every order.
pub trait Readable: Sized {
    fn read(reader: &Reader) -> Result<Self>;
}

/// A body that is read so; what nobody reads in it is refused.
pub struct Document<T>(pub T);

impl<T: Readable, S: Send + Sync> FromRequest<S> for Document<T> {
    type Rejection = Problem;

    async fn from_request(request: HttpRequest, state: &S) -> std::result::Result<Self, Problem> {
        let Body(document) = Body::<Wish>::from_request(request, state).await?;
        let no_path = |_: &str, _: PathUse| Err(wrong("no file is named here"));
        let reader = Reader::new(&document, &no_path, false);
        let read = T::read(&reader)?;
        reader.finish().map_err(|error| {
            let problem = Problem::from(error);
            Problem { message: format!("the body is not what is asked for here: {}", problem.message), ..problem }
        })?;
        Ok(Document(read))
    }
}

/// A JSON body, or a problem that says what is wrong with it.
pub struct Body<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: HttpRequest, state: &S) -> std::result::Result<Self, Problem> {
        let wrong = |status, message: String| Problem::new(status, "request", message);
        let content_type = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let kind = content_type.and_then(|text| text.split(';').next()).map(str::trim);
        if kind != Some("application/json") {
            return Err(wrong(StatusCode::UNSUPPORTED_MEDIA_TYPE, "the body must be application/json".into()));
        }
        let place = request.extensions().get::<Arc<Seat>>().cloned();
        let bytes = tokio::time::timeout(BODY_TIME, Bytes::from_request(request, state))
            .await
            .map_err(|_| wrong(StatusCode::REQUEST_TIMEOUT, "the body did not come".into()))?
            .map_err(|error| wrong(error.status(), "the body is too large or was cut off".into()))?;
        // Until here it could be somebody who only keeps a place; `guarded` says when the answer is there.
        if let Some(place) = place {
            place.works(true);
        }
        serde_json::from_slice(&bytes).map(Body).map_err(|error| {
            // The message of a data error quotes what it found; the place and the kind are enough.
            let message = match error.is_data() {
                true => format!("the body is not what is asked for here: {}", without_quotes(&error.to_string())),
                false => "the body is not JSON".to_string(),
            };
            let status = if error.is_data() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::BAD_REQUEST };
            let mut problem = wrong(status, message);
            problem.position = Some(format!("line {}, column {}", error.line(), error.column()));
            problem
        })
    }
}

/// A message without the texts that it quotes.
fn without_quotes(message: &str) -> String {
    message.split('"').step_by(2).collect::<Vec<_>>().join("…")
}

/// What a wish says; nothing is added to it, since the page shows all of what it asks for.
pub fn given_request(wish: &Wish) -> Result<GivenRequest> {
    let no_path = |_: &str, _: PathUse| Err(wrong("a request names no files"));
    let reader = Reader::new(wish, &no_path, false);
    let given = reader.given_request()?;
    reader.finish()?;
    Ok(given)
}

/// The same of a wish over local recoding.
pub fn local_order(wish: &Wish) -> Result<NegotiateLocal> {
    let no_path = |_: &str, _: PathUse| Err(wrong("a request names no files"));
    Reader::new(wish, &no_path, false).negotiate_local()
}

/// The privacy and the ranking that a wish names; its other parts are checked for what they are, not yet for what they
/// mean on this table.
pub fn privacy(opened: &Opened, wish: &Wish) -> Result<(Privacy, Ranking)> {
    let given = given_request(wish)?;
    let privacy = given.privacy(&opened.project, &About::default())?;
    // What no table could be asked for is refused before any work; what this one cannot, when it has been counted.
    if !privacy.criteria.is_empty() {
        check_criteria(&privacy.criteria, Crowd::Records(u64::MAX), &vec![usize::MAX; privacy.sensitive.len()])?;
    }
    Ok((privacy, given.best_by(&opened.project)?))
}

/// The privacy that an order to publish is about.
pub fn privacy_of_order(opened: &Opened, order: &Publish) -> Result<Privacy> {
    let privacy = order.privacy(&opened.project)?;
    if !privacy.criteria.is_empty() {
        check_criteria(&privacy.criteria, Crowd::Records(u64::MAX), &vec![usize::MAX; privacy.sensitive.len()])?;
    }
    Ok(privacy)
}

/// The whole request, once the levels that there are are known.
pub fn request(opened: &Opened, ready: &Ready, privacy: &Privacy, wish: &Wish) -> Result<Request> {
    let lattice = &ready.lattice;
    let given = given_request(wish)?;
    let request = given.checked(&opened.project, privacy, lattice.hierarchies(), lattice.n_records())?;
    request.check(lattice)?;
    ready.counted.check_promise(&request.criteria)?;
    Ok(request)
}

/// The scheme that a question names, if any.
pub fn scheme(lattice: &Lattice, question: &Question) -> Result<Option<Scheme>> {
    match (&question.levels, question.place) {
        (Some(levels), _) => {
            let exact = Scheme::new(vec![Level(0); lattice.hierarchies().len()]);
            with_levels(&exact, levels, lattice.hierarchies()).map(Some)
        }
        (None, Some(place)) => match usize::try_from(place).ok().filter(|place| *place < lattice.schemes().len()) {
            Some(place) => Ok(Some(lattice.schemes().scheme(place))),
            None => Err(wrong(format!("there are {} schemes", lattice.schemes().len()))),
        },
        (None, None) => Ok(None),
    }
}

/// A scheme with other levels for some attributes.
pub fn with_levels(start: &Scheme, levels: &[(String, String)], hierarchies: &[Hierarchy]) -> Result<Scheme> {
    let mut scheme = start.clone();
    for (name, level) in levels {
        let attribute = attribute_index(name, hierarchies)?;
        scheme = scheme.with(attribute, parse_level(level, &hierarchies[attribute])?);
    }
    Ok(scheme)
}

fn wrong(message: impl Into<Wording>) -> Error {
    Error::new(ErrorKind::Request, message)
}
