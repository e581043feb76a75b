//! A release in memory: verified before anyone sees it, and written to a file by the same way as on the command line.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use incrowd::hierarchy::absent_values;
use incrowd::table::{Cells, Domain, Encoder};
use incrowd::verify::SuppressedAs;
use incrowd::wire::{self, Certificate};
use incrowd::{Error, ErrorKind, Result};
use incrowd_workbench::input::notation::Notation;
use incrowd_workbench::input::reference::outside;
use incrowd_workbench::input::source::{self, ReadOptions, Source};
use incrowd_workbench::io_error;
use incrowd_workbench::orders::Rules;
use incrowd_workbench::orders::publish::{Decided, Files, NewTable, No, Published, prepare, prepare_table};
use incrowd_workbench::orders::verify::{Checked, Question, counted_at, in_two_columns, judge_source};
use incrowd_workbench::output::account::{Account, Key};
use incrowd_workbench::sentences::hint;
use incrowd_workbench::words::releases;
use incrowd_workbench::work::Work;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use serde_json::Value;

use crate::frame::{Frame, stream};
use crate::restore::{only_shown, restored};
use crate::table::{Bargain, KnownTable};
use crate::words::to_python;
use crate::work::work;

/// What Python calls a release.
#[pyclass(frozen, module = "incrowd._native")]
pub struct Release {
    known: Arc<KnownTable>,
    bargain: Bargain,
    /// What was decided, so that it can be written again.
    decided: Decided,
    frame: source::Frame,
    certificate: Certificate,
    account: Account,
    report: String,
    /// Columns in which texts may stand for values that were of another type.
    replaced: Vec<String>,
}

/// Publishes into a file that is gone at the end, so that what is in memory has been verified as any release is.
pub fn publish(known: &Arc<KnownTable>, bargain: Bargain, key: Option<Key>, work: &Work) -> Result<Release> {
    let folder = tempfile::tempdir().map_err(|error| io_error(Path::new("temporary folder"), error))?;
    let path = folder.path().join("release.parquet");
    let mut files = prepare(&known.project, &path, false)?;
    if let Some(key) = key {
        files.key = key;
    }
    let decided = decide(known, &bargain, work)?;
    let Published { certificate, account, .. } = write(known, &bargain, &decided, &files, false, work)?;
    let report = std::fs::read_to_string(&files.report).map_err(|error| io_error(&files.report, error))?;
    let read = Source::open(&path, &ReadOptions::default())?;
    let mut batches = Vec::new();
    read.for_each(&read.column_names(), |batch, _| Ok(batches.push(batch)))?;
    let frame = source::Frame { name: "release".into(), schema: read.schema().clone(), batches: batches.into() };
    // Where texts stand for values, the column is one of texts.
    let is_replaced = |name: &str| {
        let has_coded_ends =
            known.project.attributes.iter().any(|attribute| attribute.name == name && attribute.rule.codes_ends());
        let is_other = certificate.unknown_of(name) == Some("other");
        has_coded_ends || is_other || certificate.published_as.contains_key(name)
    };
    let is_exact = |name: &str| match certificate.level(name) {
        _ if is_replaced(name) => false,
        Some(level) => level == 0,
        None => !certificate.quasi_identifiers.iter().any(|known| known == name),
    };
    let frame = restored(frame, known.project.frame.as_ref(), is_exact)?;
    let replaced = certificate.columns.iter().filter(|name| is_replaced(name)).cloned().collect();
    Ok(Release { known: known.clone(), bargain, decided, frame, certificate, account, report, replaced })
}

/// What is to be published.
fn decide(known: &KnownTable, bargain: &Bargain, work: &Work) -> Result<Decided> {
    let Bargain { order, privacy, counted, agreed } = bargain;
    match agreed {
        Some(agreed) => Ok(Decided::Agreed(agreed.clone())),
        None => match order.decide(&known.project, privacy, counted, &known.known, &Rules::default(), work)? {
            Decided::No(no) => Err(why_not(no)),
            decided => Ok(decided),
        },
    }
}

/// Publishes with certificate and report, or nothing.
fn write(
    known: &KnownTable,
    bargain: &Bargain,
    decided: &Decided,
    files: &Files,
    replace: bool,
    work: &Work,
) -> Result<Published> {
    let published =
        decided.write(&known.project, &bargain.counted, bargain.order.target.as_deref(), files, replace, work)?;
    match published.holds {
        true => Ok(published),
        false => Err(why_not(No::Broken(Box::new(published)))),
    }
}

/// Why nothing is published, as an error.
pub fn why_not(no: No) -> Error {
    let wrong = |message: String| Error::new(ErrorKind::Request, message);
    match no {
        No::NoSuchAnswer(_) | No::NoSuchCut(_) => wrong("there is no such answer to this request".into()),
        No::TooManyLost { n_suppressed, n_records } => {
            wrong(format!("at these levels {n_suppressed} of {n_records} records would be lost, more than may be"))
                .hint(hint("choose coarser levels, or allow it with {max_suppressed}"))
        }
        No::Missed(made) => made.error(),
        No::NotPossible(outcome) => match outcome.made() {
            Err(error) => error,
            Ok(_) => unreachable!("what was made is published"),
        },
        No::Broken(_) => Error::new(ErrorKind::Data, "the release does not keep its promise; nothing was written")
            .hint("this should not have happened: please report it"),
    }
}

#[pymethods]
impl Release {
    /// Columns in which texts may stand for values that were of another type.
    #[getter]
    fn replaced(&self) -> Vec<String> {
        self.replaced.clone()
    }

    #[getter]
    fn certificate<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &serde_json::to_value(&self.certificate).expect("a certificate is JSON"))
    }

    /// What the signer knows beside the certificate.
    #[getter]
    fn account<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &releases::account(&self.account, &self.certificate))
    }

    #[getter]
    fn report(&self) -> &str {
        &self.report
    }

    #[getter]
    fn frame(&self) -> Frame {
        Frame { inner: self.frame.clone() }
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        stream(py, &self.frame)
    }

    /// The third reading, of what is in memory; the table that it came from says what the certificate must not tell.
    #[pyo3(signature = (progress = None))]
    fn verify<'py>(&self, py: Python<'py>, progress: Option<Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        let verdict = work(py, progress.as_ref(), |work| self.judge(&self.frame, work))?;
        to_python(py, &verdict)
    }

    /// Writes the release with its certificate and report; returns where they are.
    #[pyo3(signature = (path, replace, progress = None))]
    fn write(
        &self,
        py: Python<'_>,
        path: PathBuf,
        replace: bool,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<(PathBuf, PathBuf, PathBuf)> {
        work(py, progress.as_ref(), |work| {
            let mut files = prepare(&self.known.project, &path, replace)?;
            files.key = self.account.key.clone();
            write(&self.known, &self.bargain, &self.decided, &files, replace, work)?;
            Ok((files.release, files.certificate, files.report))
        })
    }

    /// Writes the release as a table of a database, in one transaction that verifies it there; returns the names of its
    /// certificate and its report.
    #[pyo3(signature = (table, database, replace, progress = None))]
    fn write_into(
        &self,
        py: Python<'_>,
        table: &str,
        database: &str,
        replace: bool,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<(PathBuf, PathBuf)> {
        work(py, progress.as_ref(), |work| {
            let project = &self.known.project;
            if project.database.as_ref().is_some_and(|own| own.uri == database) {
                // It would be of another state of the table.
                return Err(Error::new(ErrorKind::Request, "the table that it is made of is in that database")
                    .hint("publish_into counts and writes in one transaction"));
            }
            let (_, mut files) = prepare_table(project, &NewTable::new(table, Some(database))?, replace)?;
            files.key = self.account.key.clone();
            write(&self.known, &self.bargain, &self.decided, &files, replace, work)?;
            Ok((files.certificate, files.report))
        })
    }

    /// The records of a frame in their order, each as the release publishes those like it, and empty where the
    /// release has none like it. Of the `columns`, those that the release does not have stay as they are.
    #[pyo3(signature = (frame, columns, progress = None))]
    fn recode(
        &self,
        py: Python<'_>,
        frame: &Frame,
        columns: Vec<String>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Frame> {
        let inner = work(py, progress.as_ref(), |_| self.recoded(&frame.inner, &columns))?;
        Ok(Frame { inner })
    }
}

impl Release {
    fn judge(&self, frame: &source::Frame, work: &Work) -> Result<Value> {
        let certificate = &self.certificate;
        let source = Source::of_frame(frame)?;
        let notation = Notation::of_schema(None, source.schema());
        let question = Question {
            quasi_identifiers: &certificate.quasi_identifiers,
            sensitive: &certificate.sensitive,
            criteria: &certificate.promised().expect("the certificate is our own"),
            with_order: certificate.sorted,
            labels: self.bargain.counted.labels(&notation),
        };
        let scheme = self.bargain.agreed.as_ref().map(|agreed| agreed.offer.scheme.clone());
        let counted = &*self.bargain.counted;
        let in_two_columns = in_two_columns(&certificate.quasi_identifiers, &counted.hierarchies);
        let all = outside(counted, scheme.as_ref(), &in_two_columns, &notation);
        let judged = judge_source(&source, &question, |_| all.clone(), SuppressedAs::Group, work)?;
        let known = (&self.known.project, counted, &all);
        let judged = judged.over_people(&source, Some(certificate), &question, Some(known), work)?;
        let claims = wire::check_release(certificate, &judged.verdict, &judged.file, &judged.columns, None);
        let (sensitive, dealt) = (certificate.sensitive.clone(), certificate.dealt.clone());
        let count_at = counted_at(certificate);
        Ok(releases::checked(&Checked { judged, sensitive, claims, is_own: false, dealt, count_at }))
    }

    fn recoded(&self, frame: &source::Frame, columns: &[String]) -> Result<source::Frame> {
        if self.bargain.agreed.is_none() {
            return Err(Error::new(
                ErrorKind::Request,
                "what groups or records have of their own cannot be given to others",
            )
            .hint("publish with method=\"global\""));
        }
        let source = Source::of_frame(frame)?;
        columns.iter().chain(&self.certificate.columns).try_for_each(|name| source.check_column(name))?;
        let labels = self.labels_of_new(frame)?;
        let published = self.published()?;
        let missing = &self.known.project.missing;
        let quasi_identifiers = &self.certificate.quasi_identifiers;
        let level = |name: &str| self.certificate.level(name).unwrap_or(0);
        let mut batches = Vec::new();
        let mut fields: Vec<Field> = Vec::new();
        for batch in frame.batches.iter() {
            let column = |name: &str| batch.column_by_name(name).expect("columns were checked above");
            let mut keep = vec![true; batch.num_rows()];
            if missing.drop_records {
                for name in columns.iter().chain(&self.certificate.columns) {
                    missing.mark_dropped(name, column(name), &mut keep)?;
                }
            }
            let texts: Vec<Vec<Option<&str>>> = quasi_identifiers
                .iter()
                .zip(&labels)
                .map(|(name, of_value)| {
                    let mut encoder = Encoder::new(name, missing);
                    let mut codes = Vec::new();
                    encoder.encode(column(name), &mut codes)?;
                    // Code 0 is "no value".
                    let of_code = |code: usize| match code {
                        0 => of_value.get(&None).and_then(|label| label.as_deref()),
                        _ => of_value.get(&Some(encoder.values()[code].clone())).and_then(|label| label.as_deref()),
                    };
                    let of_code: Vec<Option<&str>> = (0..encoder.n_codes()).map(of_code).collect();
                    Ok(codes.into_iter().map(|code| of_code[code as usize]).collect())
                })
                .collect::<Result<_>>()?;
            let is_published = |record: usize| {
                let cells: Option<Vec<&str>> = texts.iter().map(|texts| texts[record]).collect();
                keep[record] && cells.is_some_and(|cells| published.contains(&cells.join("\0")))
            };
            let shown: Vec<bool> = (0..batch.num_rows()).map(is_published).collect();
            let wrong = |error: arrow_schema::ArrowError| Error::new(ErrorKind::Data, error.to_string());
            let array = |name: &String| -> Result<ArrayRef> {
                match quasi_identifiers.iter().position(|known| known == name).filter(|_| level(name) > 0) {
                    Some(a) => {
                        let cell = |record: usize| texts[a][record].filter(|_| shown[record]);
                        Ok(Arc::new((0..batch.num_rows()).map(cell).collect::<StringArray>()))
                    }
                    None => only_shown(column(name), &shown).map_err(wrong),
                }
            };
            let arrays: Vec<ArrayRef> = columns.iter().map(array).collect::<Result<_>>()?;
            fields =
                columns.iter().zip(&arrays).map(|(name, a)| Field::new(name, a.data_type().clone(), true)).collect();
            let schema = Arc::new(Schema::new(fields.clone()));
            batches.push(RecordBatch::try_new(schema, arrays).map_err(wrong)?);
        }
        if batches.is_empty() {
            let kind = |name: &str| frame.schema.field_with_name(name).expect("columns were checked above").data_type();
            let kind = |name: &str| if level(name) > 0 { DataType::Utf8 } else { kind(name).clone() };
            fields = columns.iter().map(|name| Field::new(name, kind(name), true)).collect();
        }
        let schema = Arc::new(Schema::new(fields));
        let made = source::Frame { name: frame.name.clone(), schema: schema.clone(), batches: batches.into() };
        // Batches share one list of categories, in the order that it had.
        let has_categories = |name: &str| {
            schema.field_with_name(name).is_ok_and(|field| matches!(field.data_type(), DataType::Dictionary(..)))
        };
        restored(made, Some(frame), has_categories)
    }

    /// The combinations of quasi-identifiers that the release shows.
    fn published(&self) -> Result<HashSet<String>> {
        let mut published = HashSet::new();
        for batch in self.frame.batches.iter() {
            let cells: Vec<Cells> = self
                .certificate
                .quasi_identifiers
                .iter()
                .map(|name| Cells::new(name, batch.column_by_name(name).expect("a release has its quasi-identifiers")))
                .collect::<Result<_>>()?;
            let mut text = String::new();
            for record in 0..batch.num_rows() {
                let read = |cells: &Cells| match cells.read(record, &mut text) {
                    true => text.clone(),
                    false => MISSING.to_string(),
                };
                published.insert(cells.iter().map(read).collect::<Vec<_>>().join("\0"));
            }
        }
        Ok(published)
    }

    /// By quasi-identifier, what each value of a new frame is at the level of the release; none where the hierarchy
    /// does not know it.
    fn labels_of_new(&self, frame: &source::Frame) -> Result<Vec<HashMap<Option<String>, Option<String>>>> {
        let counted = &self.bargain.counted;
        let missing = &self.known.project.missing;
        let of_attribute = |(attribute, domain): (&incrowd_workbench::input::project::Attribute, &Domain)| {
            let name = &attribute.name;
            let mut encoder = Encoder::new(name, missing);
            let mut has_missing = domain.missing().is_some();
            let mut codes = Vec::new();
            for batch in frame.batches.iter() {
                encoder.encode(batch.column_by_name(name).expect("columns were checked before"), &mut codes)?;
                has_missing |= codes.contains(&0);
            }
            let label = has_missing.then(|| missing.label());
            let new = Domain::new(name, encoder.values()[1..].to_vec(), label);
            let unknown: HashSet<&str> = absent_values(&attribute.rule, &new).into_iter().collect();
            let known =
                new.present().map(|(_, value)| value.to_string()).filter(|value| !unknown.contains(value.as_str()));
            // Together with those of the table, so that labels are written as they were there.
            let values = domain.present().map(|(_, value)| value.to_string()).chain(known).collect();
            let all = Domain::new(name, values, label);
            let hierarchy = attribute.rule.resolve(&all)?;
            let level = self.certificate.level(name).unwrap_or(0) as usize;
            let values = hierarchy.level(level);
            let label_of = |code: usize| values.labels()[values.of_base()[code].index()].clone();
            let mut labels: HashMap<Option<String>, Option<String>> =
                all.present().map(|(code, value)| (Some(value.to_string()), Some(label_of(code.index())))).collect();
            if let Some(code) = all.missing() {
                let is_missing = hierarchy.is_missing(level, values.of_base()[code.index()]);
                let label = if is_missing { MISSING.to_string() } else { label_of(code.index()) };
                labels.insert(None, Some(label));
            }
            Ok(labels)
        };
        counted.quasi_identifiers.iter().zip(counted.counts.domains()).map(of_attribute).collect()
    }
}

/// Stands for "no value" among texts, none of which can be this.
const MISSING: &str = "\0\0";
