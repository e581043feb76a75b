//! The workbench as a page: an HTTP server that answers wishes from lattices it keeps, and is safe by default.
//!
//! Modules stand in reading order; each uses only those above it. `start` is how a front begins.

mod problem;
mod safety;
mod connections;
mod jobs;
mod columns;
mod text;
mod document;
mod saving;
mod tables;
mod closed;
mod ask;
mod trees;
mod explore;
mod cuts;
mod assets;
mod shared;
mod round;
mod server;
mod projects;
mod negotiating;
mod comparing;
mod orders;
mod negotiating_local;
mod following;
mod looking;
mod desks;
mod api;
pub mod start;

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::extract::Request;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Router};
use hyper::service::Service;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use incrowd::{Error, ErrorKind, Result};
use tokio::net::{TcpListener, TcpStream};

use crate::input::project::{FILE_NAME, Project};
use crate::output::naming::at_rest;
use crate::sentences::hint;
use crate::work::Work;
use closed::{Closed, veil};
use connections::{Seat, Seats, Watched};
use problem::Problem;
use round::Round;
use safety::{Door, Folder, N_TOKEN_MIN, Party, Token};
use server::Server;
use tables::{Opened, Tables};

pub use api::OPENAPI;
pub use assets::n_bytes_of_page;

/// The head of a request must come within this time, and an idle connection is closed after it.
const HEAD_TIME: Duration = Duration::from_secs(15);

/// A request must have come and be answered within this time; uploads have their own.
const ANSWER_TIME: Duration = Duration::from_secs(60);

/// When the program is told to end, answers that are under way may take this long.
const DRAIN_TIME: Duration = Duration::from_secs(3);

/// What is served, to whom, and how much of it.
pub struct Settings {
    /// Under this folder files are read and written.
    pub root: PathBuf,
    /// The project file or data file that is open at the start.
    pub start: Option<PathBuf>,
    /// What is read instead of the data that the project names.
    pub data: Option<PathBuf>,
    pub is_demo: bool,
    pub address: SocketAddr,
    pub token: String,
    /// The key of guests, who negotiate and compare without seeing values.
    pub guest_token: String,
    /// Names by which the server is reached beside its address.
    pub hosts: Vec<String>,
    pub allows_preview: bool,
    pub n_upload_max: u64,
    pub n_bytes_max: u64,
}

/// Everything behind one address, and whether there is something for guests.
pub fn app(settings: &Settings) -> Result<(Router, bool)> {
    let (token, guest) = (&settings.token, &settings.guest_token);
    if token == guest {
        return Err(Error::new(ErrorKind::Request, "the guests' token is the curator's")
            .hint("give guests one of their own, or leave it away: a good one is made up"));
    }
    if ![token, guest].iter().all(|text| text.len() >= N_TOKEN_MIN && text.bytes().all(|byte| byte.is_ascii_graphic()))
    {
        return Err(Error::new(ErrorKind::Request, format!("a token has at least {N_TOKEN_MIN} visible characters"))
            .hint(hint("leave {token} away on this machine: a good one is made up")));
    }
    let project = match &settings.start {
        Some(path) if is_project(path) => Some(Project::open(path)?.with_data_in_text(settings.data.as_deref())?),
        _ if settings.data.is_some() => {
            return Err(Error::new(
                ErrorKind::Request,
                "other data are read instead of a project's, and there is none",
            )
            .hint("name the table itself"));
        }
        _ => None,
    };
    let folder = Folder::new(&settings.root, project.iter().flat_map(named_files).collect())?;
    let tables = Tables::new(folder, settings.n_bytes_max);
    match (&project, &settings.start) {
        (Some(project), _) => drop(tables.open_project(project)?),
        (None, Some(path)) => {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            tables.open(&name, &Work::default())?;
        }
        (None, None) => {}
    }
    let closed = match settings.allows_preview {
        true => None,
        false => Some(Closed::new(tables.first().ok_or_else(nothing_to_serve)?)?),
    };
    let is_closed = closed.is_some();
    let round = Arc::new(Round::default());
    let guests = tables.first().map(|project| guests(&tables, project, settings, &round)).transpose()?;
    let server = Server::new(tables, closed, Party::Curator, settings.n_upload_max, settings.is_demo, round);
    let guest = guests.is_some().then(|| Token::new(&settings.guest_token));
    let (door, has_guests) =
        (Door { token: Token::new(&settings.token), guest, hosts: hosts(settings) }, guests.is_some());
    let page = |request: Request| async move { page(&request) };
    let app = Router::new().nest("/api/v1", api::routes(Arc::new(server))).fallback(page).layer(from_fn(
        move |request: Request, next: Next| {
            let party = door.check(request.method(), request.uri().path(), request.headers());
            let guests = guests.clone().filter(|_| matches!(party, Ok(Party::Guest)));
            async move {
                let is_veiled = is_closed || guests.is_some();
                let answer = guarded(request, next, guests, party.err()).await;
                if is_veiled { veiled(answer).await } else { answer }
            }
        },
    ));
    Ok((app, has_guests))
}

/// What guests get to: the served project, closed as on a server without preview, with jobs and turns of their own.
fn guests(tables: &Tables, project: Arc<Opened>, settings: &Settings, round: &Arc<Round>) -> Result<Router> {
    let closed = Closed::new(project.clone())?;
    let server = Server::new(tables.beside(project), Some(closed), Party::Guest, 0, settings.is_demo, round.clone());
    Ok(Router::new().nest("/api/v1", api::routes(Arc::new(server))))
}

/// The answer of a server without preview: JSON without what is measured with the source; the rest as it is.
async fn veiled(answer: Response) -> Response {
    let is_json = answer.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == "application/json");
    if !is_json {
        return answer;
    }
    let (mut head, body) = answer.into_parts();
    let bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap_or_default();
    let Ok(mut document) = serde_json::from_slice(&bytes) else {
        return Response::from_parts(head, axum::body::Body::from(bytes));
    };
    veil(&mut document);
    head.headers.remove(header::CONTENT_LENGTH);
    Response::from_parts(head, axum::body::Body::from(document.to_string()))
}

fn nothing_to_serve() -> Error {
    Error::new(ErrorKind::Request, "without preview only a served project can be asked about, and there is none")
        .hint(hint("name one, or a table; or show values with {allow_preview}"))
}

fn is_project(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "toml") || path.join(FILE_NAME).exists()
}

/// The files that a project itself names: whoever serves it trusts them, wherever they are.
fn named_files(project: &Project) -> Vec<PathBuf> {
    let hierarchies = project.attributes.iter().filter_map(|attribute| attribute.hierarchy_file.as_ref());
    let names = hierarchies.map(|(name, _)| name).chain([&project.data]).chain(&project.population);
    names.map(|name| project.folder.join(name)).collect()
}

/// The names by which requests may address the server.
fn hosts(settings: &Settings) -> Vec<String> {
    let mut hosts = settings.hosts.clone();
    let ip = settings.address.ip();
    if ip.is_loopback() || ip.is_unspecified() {
        hosts.extend(["127.0.0.1", "localhost", "[::1]"].map(String::from));
    }
    hosts.push(match ip {
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => format!("[{ip}]"),
    });
    hosts
}

fn page(request: &Request) -> Response {
    match *request.method() {
        Method::GET | Method::HEAD if !request.uri().path().starts_with("/api/") => {
            assets::asset(request.uri().path(), request.headers())
        }
        _ => Problem::not_found("address").into_response(),
    }
}

/// Lets a request in or not, limits its time, and says to browsers what they must not do with the answer.
async fn guarded(mut request: Request, next: Next, guests: Option<Router>, refused: Option<Problem>) -> Response {
    let is_api = request.uri().path().starts_with("/api/");
    let is_upload = request.method() == Method::PUT;
    let place = request.extensions().get::<Arc<Seat>>().cloned();
    let seat = place.clone();
    let answer = async {
        match guests {
            // What the curator's routes have found in the address is none of the guests' routes.
            Some(guests) => {
                request.extensions_mut().clear();
                seat.map(|seat| request.extensions_mut().insert(seat));
                TowerToHyperService::new(guests).call(request).await.unwrap_or_else(|never| match never {})
            }
            None => next.run(request).await,
        }
    };
    let mut response = match refused {
        Some(problem) => problem.into_response(),
        None if is_upload => answer.await,
        None => tokio::time::timeout(ANSWER_TIME, answer).await.unwrap_or_else(|_| {
            Problem::new(StatusCode::REQUEST_TIMEOUT, "request", "this took too long").into_response()
        }),
    };
    if let Some(place) = place {
        place.works(false);
    }
    let headers = response.headers_mut();
    let text = |text| HeaderValue::from_static(text);
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, text("nosniff"));
    headers.insert(header::REFERRER_POLICY, text("no-referrer"));
    headers.insert("cross-origin-opener-policy", text("same-origin"));
    headers.insert("cross-origin-resource-policy", text("same-origin"));
    if is_api {
        headers.insert(header::CACHE_CONTROL, text("no-store"));
    }
    response
}

/// Refuses to be reached from other machines by whoever happens to pass by.
pub fn check_address(address: SocketAddr, has_token: bool) -> Result<()> {
    match address.ip().is_loopback() || has_token {
        true => Ok(()),
        false => Err(Error::new(ErrorKind::Request, "others could reach this address, and no token keeps them out")
            .hint(hint("give {token=SECRET}, and put TLS in front; or leave {host} away to serve this machine only"))),
    }
}

/// Answers until the program is told to end.
pub fn run(listener: std::net::TcpListener, app: Router) -> Result<()> {
    let wrong = |error: std::io::Error| Error::new(ErrorKind::Io, format!("the server could not start: {error}"));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(wrong)?;
    listener.set_nonblocking(true).map_err(wrong)?;
    runtime.block_on(async {
        let listener = TcpListener::from_std(listener).map_err(wrong)?;
        let places = Arc::new(Seats::default());
        let accepting = tokio::spawn(accept(listener, app, places.clone()));
        told_to_end().await.map_err(wrong)?;
        // Nobody new comes in; who is being answered gets their answer, if it does not take long.
        accepting.abort();
        let _ = tokio::time::timeout(DRAIN_TIME, places.drained()).await;
        // What is written by now is on its way soon.
        tokio::time::sleep(Duration::from_millis(50)).await;
        Ok(())
    })?;
    // What runs is not waited for: a release that is not finished has no name yet. Only names that are being given are.
    runtime.shutdown_background();
    std::mem::forget(at_rest());
    Ok(())
}

async fn accept(listener: TcpListener, app: Router, places: Arc<Seats>) {
    loop {
        let Ok((stream, from)) = listener.accept().await else {
            // Out of file descriptors, perhaps: some will be free soon.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let Some(place) = places.enter(from.ip()) else { continue };
        let (app, places) = (app.clone(), places.clone());
        tokio::spawn(async move {
            serve_one(stream, app, &place).await;
            places.leave(&place);
        });
    }
}

/// Answers one client until it goes away, speaks nonsense, takes too long or makes room for another.
async fn serve_one(stream: TcpStream, app: Router, place: &Arc<Seat>) {
    let _ = stream.set_nodelay(true);
    let service = TowerToHyperService::new(app.layer(Extension(place.clone())));
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME).max_buf_size(64 << 10);
    let answered = std::pin::pin!(http.serve_connection(TokioIo::new(Watched::new(stream, place.clone())), service));
    let _ = futures_util::future::select(answered, std::pin::pin!(place.given_up())).await;
}

#[cfg(unix)]
async fn told_to_end() -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let interrupt = std::pin::pin!(tokio::signal::ctrl_c());
    let terminate = std::pin::pin!(terminate.recv());
    futures_util::future::select(interrupt, terminate).await;
    Ok(())
}

#[cfg(not(unix))]
async fn told_to_end() -> std::io::Result<()> {
    tokio::signal::ctrl_c().await
}
