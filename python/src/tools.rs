//! Verbs that need no table of their own: suggesting a project, looking at data, judging a release, the page, the demo.

use std::collections::HashMap;
use std::net::IpAddr;
use std::path::PathBuf;

use incrowd::verify::SuppressedAs;
use incrowd::{Error, ErrorKind};
use incrowd_workbench::demo_data;
use incrowd_workbench::input::source::{Frame as Records, Source, parse_delimiter, parse_encoding};
use incrowd_workbench::input::survey;
use incrowd_workbench::orders::attack::Attack;
use incrowd_workbench::orders::init::Init;
use incrowd_workbench::orders::known::Known;
use incrowd_workbench::orders::profile::{Profile, of_source, said_missing};
use incrowd_workbench::orders::request::About;
use incrowd_workbench::orders::study_deal::StudyDeal;
use incrowd_workbench::orders::verify::{Verify, certificate_of, check, parse_certificate};
use incrowd_workbench::serve::start::{N_UPLOAD_MAX, Serve};
use incrowd_workbench::words::{documents, profiles, releases, studies};
use pyo3::prelude::*;
use serde_json::json;

use crate::frame::Frame;
use crate::wish::criteria_texts;
use crate::words::{raised, to_python};
use crate::work::{is_forked, work};

fn separator(text: Option<&str>) -> PyResult<Option<u8>> {
    let wrong = |what: String| raised(&Error::new(ErrorKind::Request, format!("delimiter {what}")));
    text.map(|text| parse_delimiter(text).map_err(wrong)).transpose()
}

/// How incrowd writes a number, to compare with the texts that it reads.
#[pyfunction]
pub fn text_of(number: f64) -> String {
    number.to_string()
}

/// The hierarchies that a project file spells out, by attribute, as Python's dicts and lists.
#[pyfunction]
pub fn hierarchies_of_toml<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    let wrong = |error: toml::de::Error| raised(&Error::new(ErrorKind::Hierarchy, error.message()));
    let table: toml::Table = text.parse().map_err(wrong)?;
    let attributes = table.get("attributes").and_then(|attributes| attributes.as_table());
    let said = attributes.into_iter().flatten();
    let rules: serde_json::Map<String, serde_json::Value> = said
        .filter_map(|(name, attribute)| Some((name.clone(), attribute.get("hierarchy")?)))
        .map(|(name, rule)| (name, serde_json::to_value(rule).expect("TOML is JSON")))
        .collect();
    to_python(py, &serde_json::Value::Object(rules))
}

#[pyfunction]
#[pyo3(signature = (data, output, force, delimiter, sheet, encoding, missing, progress = None))]
pub fn init_file<'py>(
    py: Python<'py>,
    data: PathBuf,
    output: Option<PathBuf>,
    force: bool,
    delimiter: Option<&str>,
    sheet: Option<String>,
    encoding: Option<&str>,
    missing: Vec<String>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let unknown = |what: String| raised(&Error::new(ErrorKind::Request, format!("encoding {what}")));
    let encoding = encoding.map(|name| parse_encoding(name).map_err(unknown)).transpose()?;
    let delimiter = separator(delimiter)?;
    let order = Init { data, output, replace: force, delimiter, sheet, encoding, missing, ..Init::default() };
    let document = work(py, progress.as_ref(), |work| {
        let made = order.run(work)?;
        let mut document = profiles::started(&made);
        document["text"] = json!(made.text);
        Ok(document)
    })?;
    to_python(py, &document)
}

#[pyfunction]
#[pyo3(signature = (frame, missing, progress = None))]
pub fn init_frame<'py>(
    py: Python<'py>,
    frame: &Frame,
    missing: Vec<String>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let frame: &Records = &frame.inner;
    let document = work(py, progress.as_ref(), |work| {
        let source = Source::of_frame(frame)?;
        let found = of_source(None, frame.name.clone(), &source, said_missing(&missing), work)?;
        let mut document = profiles::profiled(&found, false);
        document["n_schemes"] = json!(survey::n_schemes(&found.suggestions));
        document["text"] = json!(found.project_text());
        Ok(document)
    })?;
    to_python(py, &document)
}

#[pyfunction]
#[pyo3(signature = (path, values, delimiter, missing, progress = None))]
pub fn profile_file<'py>(
    py: Python<'py>,
    path: PathBuf,
    values: bool,
    delimiter: Option<&str>,
    missing: Vec<String>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let order = Profile { path, data: None, delimiter: separator(delimiter)?, missing };
    let document = work(py, progress.as_ref(), |work| Ok(profiles::profiled(&order.run(work)?, values)))?;
    to_python(py, &document)
}

#[pyfunction]
#[pyo3(signature = (frame, values, missing, progress = None))]
pub fn profile_frame<'py>(
    py: Python<'py>,
    frame: &Frame,
    values: bool,
    missing: Vec<String>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let frame = &frame.inner;
    let document = work(py, progress.as_ref(), |work| {
        let source = Source::of_frame(frame)?;
        let found = of_source(None, frame.name.clone(), &source, said_missing(&missing), work)?;
        Ok(profiles::profiled(&found, values))
    })?;
    to_python(py, &document)
}

/// Judges a file, or a frame in its stead.
#[pyfunction]
#[pyo3(signature = (file, frame, certificate, certificate_file, quasi_identifiers, sensitive, criteria, project, data,
    suppressed_as_absent, delimiter, counted, progress = None))]
pub fn verify<'py>(
    py: Python<'py>,
    file: PathBuf,
    frame: Option<&Frame>,
    certificate: Option<&str>,
    certificate_file: Option<PathBuf>,
    quasi_identifiers: Option<Vec<String>>,
    sensitive: Option<Vec<String>>,
    criteria: HashMap<String, Vec<String>>,
    project: Option<PathBuf>,
    data: Option<PathBuf>,
    suppressed_as_absent: bool,
    delimiter: Option<&str>,
    counted: Option<String>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let args = Verify {
        file,
        database: None,
        table: None,
        certificate: certificate_file,
        quasi_identifiers,
        sensitive,
        project,
        data,
        key: None,
        criteria: criteria_texts(&criteria),
        suppressed_as: if suppressed_as_absent { SuppressedAs::Absent } else { SuppressedAs::Group },
        delimiter: separator(delimiter)?,
        counted,
    };
    let frame = frame.map(|frame| &frame.inner);
    let document = work(py, progress.as_ref(), |work| {
        if frame.is_none()
            && let Err(error) = std::fs::metadata(&args.file)
        {
            return Err(incrowd_workbench::io_error(&args.file, error));
        }
        let certificate = match certificate {
            Some(text) => Some(parse_certificate(text, "certificate")?),
            None if frame.is_some() && args.certificate.is_none() => None,
            None => certificate_of(&args)?,
        };
        let checked = check(&args, certificate, frame, work)?;
        let mut document = releases::checked(&checked);
        document["compared_with_itself"] = json!(checked.is_own);
        Ok(document)
    })?;
    to_python(py, &document)
}

/// What somebody learns from releases that lie on disk; `people` is a frame in the stead of an outside file.
#[pyfunction]
#[pyo3(signature = (files, quasi_identifiers, sensitive, project, data, outside, people, hierarchies, worst, show_values,
    progress = None))]
pub fn attack<'py>(
    py: Python<'py>,
    files: Vec<PathBuf>,
    quasi_identifiers: Option<Vec<String>>,
    sensitive: Option<Vec<String>>,
    project: Option<PathBuf>,
    data: Option<PathBuf>,
    outside: Option<PathBuf>,
    people: Option<&Frame>,
    hierarchies: Vec<String>,
    worst: usize,
    show_values: bool,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let named = |text: &String| {
        let (name, path) = text.split_once('=').expect("the Python side writes NAME=FILE");
        (name.to_string(), PathBuf::from(path))
    };
    let order = Attack {
        files,
        quasi_identifiers,
        sensitive,
        project,
        data,
        outside,
        hierarchies: hierarchies.iter().map(named).collect(),
        suppressed_as: SuppressedAs::Group,
    };
    let people = people.map(|people| &people.inner);
    let document =
        work(py, progress.as_ref(), |work| Ok(documents::attacked(&order.run(people, work)?, worst, show_values)))?;
    to_python(py, &document)
}

/// The study of Stack & Deal on frequencies.
#[pyfunction]
pub fn study_deal<'py>(py: Python<'py>, frequencies: Vec<u64>, k: &str, seed: u64) -> PyResult<Bound<'py, PyAny>> {
    let (about, ks) = (About::default(), Some(k.to_string()));
    let order = StudyDeal { about, frequencies: Some(frequencies), ks, seed };
    let document = work(py, None, |work| Ok(studies::deal(&order.run(None, &Known::default(), work)?)))?;
    to_python(py, &document)
}

/// Writes the made-up hospital, with its project.
#[pyfunction]
pub fn write_demo(py: Python<'_>, folder: PathBuf, n_records: usize, seed: u64) -> PyResult<()> {
    work(py, None, |_| demo_data::write(&folder, n_records, seed))
}

/// Serves the page until Ctrl-C.
#[pyfunction]
pub fn serve(
    py: Python<'_>,
    project: Option<PathBuf>,
    data: Option<PathBuf>,
    host: &str,
    port: u16,
    token: Option<String>,
    open: bool,
) -> PyResult<()> {
    let wrong = |_| raised(&Error::new(ErrorKind::Request, "host is not an address").hint("for example 127.0.0.1"));
    let host: IpAddr = host.parse().map_err(wrong)?;
    let order = Serve {
        project,
        data,
        host,
        port,
        token,
        guest_token: None,
        hosts: Vec::new(),
        allows_preview: None,
        n_upload_max: N_UPLOAD_MAX,
        n_bytes_max: None,
    };
    if is_forked() {
        let message = "the page cannot be served by a process that was forked from one that has worked";
        let hint = "start it by itself: multiprocessing.get_context(\"spawn\").Process(target=incrowd.serve)";
        return Err(raised(&Error::new(ErrorKind::Request, message).hint(hint)));
    }
    let page = py.detach(|| order.start()).map_err(|error| raised(&error))?;
    say(py, &format!("incrowd is at {}", page.url))?;
    if let Some((url, _)) = &page.guest {
        say(py, &format!("for guests, who see no values and publish nothing: {url}"))?;
    }
    if page.is_demo {
        say(py, "It serves made-up hospital discharges; name a project or a table to serve your own.")?;
    }
    say(py, "Ctrl-C ends it.")?;
    if open && !page.is_shown() {
        say(py, "No browser could be opened; copy the address into one.")?;
    }
    py.detach(|| page.answer()).map_err(|error| raised(&error))
}

/// As Python's `print` says it, at once.
fn say(py: Python<'_>, line: &str) -> PyResult<()> {
    let flushed = pyo3::types::PyDict::new(py);
    flushed.set_item("flush", true)?;
    py.import("builtins")?.getattr("print")?.call((line,), Some(&flushed)).map(|_| ())
}
