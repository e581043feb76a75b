//! The page, as it lies in `web/`: part of the program, so that it needs no other file and no other server.

use std::io::Write;
use std::sync::LazyLock;

use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::input::digest::sha256_of;

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_bytes!(concat!(env!("INCROWD_WEB"), "/", $name)) as &[u8])),*]
    };
}

/// Every file of the page, by its path.
static FILES: &[(&str, &[u8])] = &files![
    "index.html",
    "icon.svg",
    "style.css",
    "main.js",
    "api.js",
    "store.js",
    "session.js",
    "dom.js",
    "words.js",
    "charts.js",
    "pyramid.js",
    "icicle.js",
    "sample.js",
    "knobs.js",
    "ranges.js",
    "reading.js",
    "risk.js",
    "guide.js",
    "grouping.js",
    "effect.js",
    "data.js",
    "hierarchies.js",
    "negotiate.js",
    "compare.js",
    "publish.js",
    "study.js",
    "desks.js",
    "cutting.js",
    "groups.js",
    "spread.js",
    "search.js",
    "taking.js",
    "verify.js",
    "jobs.js",
];

/// Runs only what is its own, asks nobody else for anything, and cannot be framed.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

struct Packed {
    name: &'static str,
    plain: &'static [u8],
    gzip: Vec<u8>,
    tag: String,
}

static PACKED: LazyLock<Vec<Packed>> = LazyLock::new(|| {
    let packed = |&(name, plain): &(&'static str, &'static [u8])| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        let gzip = encoder.write_all(plain).and_then(|()| encoder.finish()).expect("memory takes any bytes");
        Packed { name, plain, gzip, tag: format!("\"{}\"", &sha256_of(plain)[..32]) }
    };
    FILES.iter().map(packed).collect()
});

/// What a browser loads before it shows anything.
pub fn n_bytes_of_page() -> usize {
    PACKED.iter().map(|file| file.gzip.len()).sum()
}

/// A file of the page; nothing else is ever served from here.
pub fn asset(path: &str, headers: &HeaderMap) -> Response {
    let name = match path.trim_start_matches('/') {
        "" => "index.html",
        name => name,
    };
    let Some(file) = PACKED.iter().find(|file| file.name == name) else {
        return (StatusCode::NOT_FOUND, "there is no such page").into_response();
    };
    let kind = match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        _ => "image/svg+xml",
    };
    let has = |name, text: &str| headers.get(name).is_some_and(|v| v.to_str().is_ok_and(|v| v.contains(text)));
    let common = [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::CACHE_CONTROL, "no-cache"),
        (header::ETAG, &file.tag),
        (header::VARY, "Accept-Encoding"),
    ];
    if has(header::IF_NONE_MATCH, &file.tag) {
        return (StatusCode::NOT_MODIFIED, common).into_response();
    }
    match has(header::ACCEPT_ENCODING, "gzip") {
        true => (common, [(header::CONTENT_ENCODING, "gzip")], file.gzip.clone()).into_response(),
        false => (common, file.plain).into_response(),
    }
}
