//! Data and projects: what lies in the served folder, what is open, edited and saved, and what its columns look like.

use std::path::Path;
use std::time::Duration;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Path as InPath, Query, Request as HttpRequest, State};
use axum::http::StatusCode;
use futures_util::StreamExt;
use incrowd::{Quality, Role, Rule};
use serde::Deserialize;
use serde_json::{Value, json};

use super::ask::Body;
use super::columns::ColumnValues;
use super::problem::Problem;
use super::safety::Party;
use super::saving::save_project;
use super::server::{Answered, N_LARGE_BYTES, Server, Shared, accepted, aside, json_response, look_first, ok};
use super::tables::Opened;
use super::trees::ShownLevels;
use super::{document, trees};
use crate::input::project::{CRITERIA, FILE_NAME};
use crate::input::source::{ReadOptions, Source};
use crate::input::survey::{Suggestion, SurveyedColumn, rule_toml};
use crate::orders::contenders::Contender;
use crate::orders::hierarchy::absent;
use crate::orders::profile::{repeating, shown_rule, tells_who};
use crate::orders::verify::parse_certificate;
use crate::output::staged::Staged;
use crate::words::{hierarchies, profiles};
use crate::work::Work;

/// A part of an upload must come within this time.
const CHUNK_TIME: Duration = Duration::from_secs(20);

pub async fn about(State(server): Shared) -> Answered {
    let first = server.tables.first();
    let methods = Contender::all().into_iter().map(
        |contender| json!({ "name": contender.name(), "title": contender.title(), "is_slow": contender.is_slow() }),
    );
    ok(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "folder": server.tables.folder.root().file_name().map(|name| name.to_string_lossy()),
        "is_demo": server.is_demo,
        "allows_preview": server.allows_preview(),
        "role": match server.party { Party::Curator => "curator", Party::Guest => "guest" },
        "n_upload_max": server.n_upload_max,
        "criteria": CRITERIA,
        "best_by": Quality::ALL.map(Quality::name),
        "methods": methods.collect::<Vec<_>>(),
        "project": first.map(|opened| project_json(&server, &opened)),
    }))
}

fn project_json(server: &Server, opened: &Opened) -> Value {
    let file = server.tables.folder.root().join(FILE_NAME);
    let on_disk = std::fs::read_to_string(&file).ok();
    let is_saved = on_disk.as_ref().is_some_and(|text| {
        *text == opened.project.text || document::of_text(text).is_ok_and(|known| known == opened.document)
    });
    let shown =
        if server.allows_preview() { opened.document.clone() } else { document::without_values(&opened.document) };
    json!({ "id": opened.id, "document": shown, "file_exists": on_disk.is_some(), "is_saved": is_saved })
}

/// Files that could be opened, not too deep and not too many.
pub async fn list_files(State(server): Shared) -> Answered {
    let files = aside(&server, |server| {
        let mut files = Vec::new();
        // Names may tell too, and without preview nothing else can be opened.
        if !server.allows_preview() {
            return Ok(files);
        }
        collect(server.tables.folder.root(), Path::new(""), 3, &mut files);
        Ok(files)
    });
    ok(json!({ "files": files.await? }))
}

fn collect(root: &Path, below: &Path, depth: usize, files: &mut Vec<Value>) {
    const N_FILES_MAX: usize = 500;
    let Ok(entries) = std::fs::read_dir(root.join(below)) else { return };
    let mut names: Vec<_> = entries.filter_map(|entry| entry.ok()).map(|entry| entry.file_name()).collect();
    names.sort();
    for name in names.iter().filter(|name| !name.as_encoded_bytes().starts_with(b".")) {
        let path = below.join(name);
        // Links are not followed: what is listed is what lies here.
        let Ok(metadata) = root.join(&path).symlink_metadata() else { continue };
        if files.len() >= N_FILES_MAX {
            return;
        }
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or("");
        let kind = match ending {
            _ if metadata.is_dir() => {
                if depth > 1 {
                    collect(root, &path, depth - 1, files);
                }
                continue;
            }
            "toml" if name == FILE_NAME => "project",
            "csv" | "tsv" | "txt" => "csv",
            "parquet" => "parquet",
            _ if is_table(ending) => "table",
            _ => continue,
        };
        if metadata.is_file()
            && let Some(text) = path.to_str()
        {
            files.push(json!({ "path": text, "kind": kind, "n_bytes": metadata.len() }));
        }
    }
}

/// Whether files of an ending are tables, as far as a name can tell; what is in them their first bytes say.
fn is_table(ending: &str) -> bool {
    const ENDINGS: [&str; 16] = [
        "csv", "tsv", "txt", "gz", "zst", "parquet", "xlsx", "xlsm", "xlsb", "xls", "ods", "sav", "zsav", "dta",
        "sas7bdat", "xpt",
    ];
    ENDINGS.contains(&ending.to_ascii_lowercase().as_str())
}

#[derive(Deserialize)]
pub struct Upload {
    path: String,
    #[serde(default)]
    replace: bool,
}

/// Takes a file into the served folder, whole or not at all.
pub async fn upload(
    State(server): Shared,
    asked: Result<Query<Upload>, QueryRejection>,
    request: HttpRequest,
) -> Answered {
    server.previews("without preview this server takes no files")?;
    let wrong = |status, message: &str| Problem::new(status, "request", message);
    let Query(asked) = asked.map_err(|_| {
        wrong(StatusCode::BAD_REQUEST, "an upload names its path")
            .hint("PUT /api/v1/files?path=patients.csv&replace=false")
    })?;
    let ending = Path::new(&asked.path).extension().and_then(|ending| ending.to_str()).unwrap_or("").to_string();
    let is_certificate = asked.path.ends_with(".certificate.json");
    if !is_table(&ending) && !is_certificate {
        return Err(wrong(StatusCode::UNPROCESSABLE_ENTITY, "only tables, and certificates of releases, can be uploaded")
            .hint("name the file .csv, .tsv, .txt, .gz, .zst, .parquet, .xlsx, .xls, .ods, .sav, .zsav, .dta, .sas7bdat, .xpt or .certificate.json"));
    }
    let folder = &server.tables.folder;
    let path = folder.to_write(&asked.path).map_err(|error| server.problem(error))?;
    if path.exists() && !asked.replace {
        return Err(server.problem(crate::output::staged::exists(&path).hint("choose another name, or replace it")));
    }
    let staged = Staged::create(&path).map_err(|error| server.problem(error))?;
    let mut n_bytes = 0;
    let mut parts = request.into_body().into_data_stream();
    loop {
        let part = tokio::time::timeout(CHUNK_TIME, parts.next()).await;
        let part = part.map_err(|_| wrong(StatusCode::REQUEST_TIMEOUT, "the upload came to a halt"))?;
        let Some(part) = part else { break };
        let part = part.map_err(|_| wrong(StatusCode::BAD_REQUEST, "the upload was cut off"))?;
        n_bytes += part.len() as u64;
        if n_bytes > server.n_upload_max {
            return Err(wrong(StatusCode::PAYLOAD_TOO_LARGE, "the file is larger than this server takes")
                .hint("put it into the served folder, or start the server with a larger --max-upload"));
        }
        let written = tokio::task::block_in_place(|| std::io::Write::write_all(&mut staged.file(), &part));
        written.map_err(|error| server.problem(crate::io_error(&path, error)))?;
    }
    tokio::task::block_in_place(|| {
        // What is none is not kept: whoever replaces one by it keeps the one they have.
        match is_certificate {
            true => certifying(&staged, &asked.path)?,
            false => readable(&staged, &asked.path)?,
        }
        staged.commit(asked.replace)
    })
    .map_err(|error| server.problem(error))?;
    Ok(json_response(StatusCode::CREATED, &json!({ "path": asked.path, "n_bytes": n_bytes })))
}

/// Refuses what is no certificate, under the name that it was to have.
fn certifying(staged: &Staged, name: &str) -> incrowd::Result<()> {
    let path = staged.readable_path();
    let text = std::fs::read_to_string(&path).map_err(|error| crate::io_error(Path::new(name), error))?;
    parse_certificate(&text, name).map(drop)
}

/// Refuses what cannot be read as a table, under the name that it was to have.
fn readable(staged: &Staged, name: &str) -> incrowd::Result<()> {
    let path = staged.readable_path();
    let read = Source::open(&path, &ReadOptions::default());
    read.map(drop).map_err(|error| {
        let mut named = incrowd::Error::new(error.kind(), error.message().to_string()).at(name.to_string());
        if let Some(hint) = error.hint_given() {
            named = named.hint(hint.to_string().replace(&path.display().to_string(), name));
        }
        named
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Open {
    path: String,
}

pub async fn open(State(server): Shared, Body(asked): Body<Open>) -> Answered {
    server.previews("without preview only the served project can be asked about")?;
    server.tables.folder.to_read(&asked.path).map_err(|error| server.problem(error))?;
    let worker = server.clone();
    let job = server.jobs.start("open", asked.path.clone(), move |job| {
        let full = worker.tables.folder.to_read(&asked.path).map_err(|error| worker.problem(error))?;
        if full.metadata().is_ok_and(|file| file.is_dir() || file.len() > N_LARGE_BYTES) {
            job.takes_long()?;
        }
        let opened = worker
            .tables
            .open(&asked.path, &job.work(worker.tables.n_bytes_max))
            .map_err(|error| worker.problem(error))?;
        Ok(project_json(&worker, &opened))
    })?;
    accepted(&server, &job)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    document: Value,
    /// The project that was edited.
    #[serde(default)]
    base: Option<String>,
}

pub async fn edit(State(server): Shared, Body(asked): Body<Edit>) -> Answered {
    let opened = aside(&server, move |server| {
        let base = asked.base.as_deref().and_then(|id| server.tables.get(id));
        let document = match (&server.closed, &base) {
            (Some(closed), _) => closed.edited(asked.document)?,
            (None, Some(base)) => document::with_kept(asked.document, &base.document),
            (None, None) => asked.document,
        };
        let known = base.as_ref().map(|base| base.project.text.as_str());
        server.tables.open_document(document, known).map_err(|error| server.problem(error))
    });
    let opened = opened.await?;
    ok(project_json(&server, &opened))
}

pub async fn project(State(server): Shared, InPath(id): InPath<String>) -> Answered {
    let opened = server.opened(&id)?;
    ok(project_json(&server, &opened))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Save {
    project: String,
    #[serde(default)]
    replace: bool,
}

/// Writes the project file, so that the command line sees what the page sees, and the hierarchies that were imported.
pub async fn save(State(server): Shared, Body(asked): Body<Save>) -> Answered {
    server.previews("without preview the project stays as it is")?;
    let opened = server.opened(&asked.project)?;
    aside(&server, move |server| {
        let wrong = |error| server.problem(error);
        save_project(&opened.project, &opened.document, &server.tables.folder, asked.replace).map_err(wrong)?;
        let saved = server.tables.open(FILE_NAME, &Work::default()).map_err(wrong)?;
        Ok(json_response(StatusCode::OK, &project_json(server, &saved)))
    })
    .await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OfProject {
    project: String,
}

pub async fn profile(State(server): Shared, Body(asked): Body<OfProject>) -> Answered {
    let opened = server.opened(&asked.project)?;
    if !opened.is_seen() {
        return accepted(&server, &*look_first(&server, &opened)?);
    }
    aside(&server, move |server| {
        let document = profile_json(server, &opened).map_err(|error| server.problem(error))?;
        Ok(json_response(StatusCode::OK, &document))
    })
    .await
}

fn profile_json(server: &Server, opened: &Opened) -> incrowd::Result<Value> {
    let (survey, suggestions) = opened.survey(&Work::default())?;
    let columns = opened.columns(&Work::default())?;
    let column = |(column, suggestion): (&SurveyedColumn, &Suggestion)| {
        let shows = server.allows_preview();
        let mut document = profiles::column(survey, column, suggestion, Some(&opened.project), shows);
        // A chart of names is no picture, and names are nobody's business.
        let is_named = tells_who(Some(&opened.project), column, suggestion);
        // Small numbers tell, with or without the values that they belong to.
        let chart = columns.get(&column.name).filter(|_| shows && !is_named);
        document["chart"] = chart.map_or(Value::Null, ColumnValues::chart);
        let rule = shown_rule(Some(&opened.project), column, suggestion, shows).filter(|_| shows);
        document["suggested_rule"] = rule.map_or(Value::Null, rule_json);
        if !shows && let Some(known) = document.as_object_mut() {
            known.shift_remove("suggested_hierarchy");
            known.shift_remove("why_hierarchy");
        }
        document
    };
    let uniqueness = opened.uniqueness(&Work::default())?.map(|found| {
        let names: Vec<String> = opened.project.with_role(Role::QuasiIdentifier).map(|a| a.name.clone()).collect();
        profiles::uniqueness(&names, &found)
    });
    Ok(json!({
        "data": opened.document["data"]["path"],
        "n_records": survey.n_records,
        "n_incomplete": survey.n_incomplete,
        "missing": survey.missing.tokens,
        "missing_records": if survey.missing.drop_records { "drop" } else { "keep" },
        "columns": survey.columns.iter().zip(suggestions).map(column).collect::<Vec<_>>(),
        "uniqueness": uniqueness,
        "repeating": repeating(Some(&opened.project), survey).as_ref().map(profiles::repeating),
    }))
}

/// A rule as the document writes it.
fn rule_json(rule: &Rule) -> Value {
    let text = rule_toml(rule).map(|rule| format!("rule = {rule}"));
    text.and_then(|text| document::of_text(&text).ok()).map_or(Value::Null, |document| document["rule"].clone())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OfAttribute {
    project: String,
    attribute: String,
    /// One that is being made; the project's own where it is not given.
    #[serde(default)]
    hierarchy: Option<Value>,
    /// Whether what the project's own does not fit is asked for, in its stead.
    #[serde(default)]
    absent: bool,
    /// Whether every value with its labels is asked for.
    #[serde(default)]
    rows: bool,
}

pub async fn hierarchy(State(server): Shared, Body(asked): Body<OfAttribute>) -> Answered {
    let opened = server.opened(&asked.project)?;
    if asked.hierarchy.as_ref().is_some_and(|edited| !edited.is_null() && edited.get("kept").is_none()) {
        // What a rule makes of a column tells whether a value is in it.
        server.previews("hierarchies are those of the served project")?;
    }
    if asked.absent {
        server.previews("which cells do not fit is not told")?;
        return aside(&server, move |server| {
            let places = absent(&opened.project, &asked.attribute).map_err(|error| server.problem(error))?;
            let mut document = hierarchies::absent(&asked.attribute, &places, true);
            server.tables.folder.name_files(&mut document);
            Ok(json_response(StatusCode::OK, &document))
        })
        .await;
    }
    if !opened.is_seen() {
        return accepted(&server, &*look_first(&server, &opened)?);
    }
    aside(&server, move |server| {
        let edited = asked.hierarchy.as_ref().filter(|edited| !edited.is_null());
        let shown = match server.allows_preview() {
            false => ShownLevels::Numbers,
            true if asked.rows => ShownLevels::Rows,
            true => ShownLevels::Tree,
        };
        let tree = trees::tree(&server.tables, &opened, &asked.attribute, edited, shown);
        tree.map(|tree| json_response(StatusCode::OK, &tree)).map_err(|error| server.problem(error))
    })
    .await
}
