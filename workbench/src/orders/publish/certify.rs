//! What a certificate says, and what only the signer gets to know.

use std::collections::BTreeMap;
use std::path::Path;

use incrowd::recode::partition::CellStyle;
use incrowd::verify::{Finding, Labels, Outside, SuppressedAs};
use incrowd::wire::{self, Certificate, CountAt, FileHash, PerRecord};
use incrowd::{Hierarchy, Measure, Result, Role, Scheme};
use serde_json::{Map, Value, json};

use super::GLOBAL;
use super::draft::{AskedFor, Draft, Way};
use super::files::Files;
use super::write::{Written, identifying_columns};
use crate::input::count::Counted;
use crate::input::project::{Attribute, Project};
use crate::input::reference::distances_for_certificate;
use crate::input::source::{PublishAs, Unknown, Unreadable};
use crate::orders::per_record::PER_RECORD;
use crate::orders::verify::{Judged, Question, judge};
use crate::output::account::{Account, PeopleAccount, SourceFiles, file_name};
use crate::output::sink::Format;
use crate::work::Work;

/// What of the certificate is known before the file is finished.
pub fn certificate(
    project: &Project,
    counted: &Counted,
    draft: &Draft,
    written: &Written,
    sources: &SourceFiles,
    format: Format,
    files: &Files,
) -> Certificate {
    let names: Vec<&str> = counted.hierarchies.iter().map(|hierarchy| hierarchy.attribute()).collect();
    let level_names = |scheme: &Scheme| {
        let level_name = |(a, hierarchy): (usize, &Hierarchy)| {
            (hierarchy.attribute().to_string(), json!(hierarchy.level(scheme.level(a)).name()))
        };
        Value::Object(counted.hierarchies.iter().enumerate().map(level_name).collect())
    };
    let scheme = draft.way.scheme();
    let (method, cells, seed) = match draft.way {
        Way::Global { .. } => (GLOBAL, None, None),
        Way::Local(local) => (local.method.name(), Some(local.style.name().to_string()), local.seed_used()),
        Way::PerRecord(seed) => (PER_RECORD, Some(CellStyle::Labels.name().to_string()), seed),
    };
    let choices = match seed {
        Some(_) => "random choices come from the seed",
        None => "no random choice was made",
    };
    // Named only where the release shows them, so that anyone can check what is said about them.
    let sensitive: Vec<String> = counted.sensitive_names();
    let promised = wire::criteria(draft.criteria, &sensitive).into_iter();
    let promised = promised.map(|(name, value)| (name, json!({ "promised": value })));
    let marked = |all: &[FileHash]| all.iter().map(|file| files.key.marked(file)).collect::<Vec<FileHash>>();
    let per_record = draft.per_record.as_ref().map(|(facts, _)| PerRecord {
        dictionary: facts.dictionary.as_ref().map(|file| files.key.marked(file)),
        ..facts.clone()
    });
    let counts = &counted.counts;
    Certificate {
        format: Certificate::FORMAT.to_string(),
        format_version: Certificate::version_of(
            !project.person().is_empty(),
            counted.count_at.iter().any(Option::is_some),
        ),
        version: env!("CARGO_PKG_VERSION").to_string(),
        method: method.to_string(),
        request: asked(counted, draft),
        choice: draft.choice.to_string(),
        cells,
        search: None,
        criteria: promised.collect(),
        quasi_identifiers: identifying_columns(counted, &written.columns),
        sensitive,
        person: project.person().into_iter().map(str::to_string).collect(),
        count_at: BTreeMap::new(),
        unreadable: said(project, counted, |attribute| {
            let is_missing = attribute.unreadable == Unreadable::Missing;
            is_missing.then(|| json!(attribute.unreadable.name()))
        }),
        unknown: said(project, counted, |attribute| {
            let is_said = attribute.unknown != Unknown::Error;
            is_said.then(|| json!(attribute.unknown.name()))
        }),
        published_as: said(project, counted, |attribute| attribute.publish_as.as_ref().map(PublishAs::document)),
        original: Map::new(),
        dealt: None,
        per_record,
        columns: written.columns.iter().map(|column| column.name().to_string()).collect(),
        delimiter: format.delimiter().map(char::from),
        levels: scheme.map_or(Value::Null, |scheme| wire::levels(&names, scheme)),
        level_names: scheme.map_or(Value::Null, level_names),
        height: scheme.map(Scheme::height),
        n_records_read: counts.n_records() + counts.n_dropped() + counted.source.n_left_out(),
        n_records_dropped: counts.n_dropped(),
        n_records_left_out: counted.source.n_left_out(),
        n_records_suppressed: written.n_suppressed,
        n_records_published: written.n_published,
        n_groups: draft.n_groups,
        smallest_group: draft.smallest_group,
        fewest_distinct: draft.fewest_distinct,
        loss: Value::Null,
        order: format!("sorted by the published values, so that the order of the input is lost; {choices}"),
        sorted: true,
        seed,
        exchanges: match draft.way {
            Way::Local(local) => local.exchanges_ordered(),
            Way::Global { .. } | Way::PerRecord(_) => None,
        },
        steps: match draft.way {
            Way::Local(local) => local.steps_taken(),
            Way::Global { .. } | Way::PerRecord(_) => None,
        },
        input: marked(&sources.input),
        hierarchies: marked(&sources.hierarchies),
        output: FileHash { name: file_name(&files.release), ..FileHash::default() },
    }
}

/// What the project says of the attributes that this release has.
fn said(project: &Project, counted: &Counted, what: impl Fn(&Attribute) -> Option<Value>) -> Map<String, Value> {
    let is_published = |attribute: &&Attribute| match attribute.role {
        Role::QuasiIdentifier => counted.quasi_identifiers.iter().any(|known| known.name == attribute.name),
        Role::Sensitive | Role::Other => true,
        Role::Identifier | Role::Person => false,
    };
    let attributes = project.attributes.iter().filter(is_published);
    attributes.filter_map(|attribute| Some((attribute.name.clone(), what(attribute)?))).collect()
}

/// What was asked for, as certificates write it.
fn asked(counted: &Counted, draft: &Draft) -> Value {
    match draft.asked {
        AskedFor::Levels => Value::Null,
        AskedFor::Request(request) => {
            let names: Vec<&str> = counted.hierarchies.iter().map(|hierarchy| hierarchy.attribute()).collect();
            wire::request_of(&names, &counted.sensitive_names(), request)
        }
        AskedFor::Criteria => {
            let mut asked = wire::criteria(draft.criteria, &counted.sensitive_names());
            if let Way::Local(local) = draft.way
                && local.n_suppressed_max > 0
                && !local.method.is_dealing()
            {
                asked.insert("max_suppressed".into(), local.n_suppressed_max.into());
            }
            Value::Object(asked)
        }
        AskedFor::Goal => draft.per_record.as_ref().map_or(Value::Null, |(facts, _)| facts.goal.clone()),
    }
}

/// What the signer knows beside the certificate.
pub fn account(
    draft: &Draft,
    written: &Written,
    certificate: &Certificate,
    judged: &Judged,
    sources: SourceFiles,
    files: &Files,
) -> Account {
    let SourceFiles { input, hierarchies } = sources;
    let dictionary = draft.per_record.as_ref().and_then(|(facts, _)| facts.dictionary.clone());
    Account {
        key: files.key.clone(),
        files: input.into_iter().chain(hierarchies).chain(dictionary).collect(),
        loss: draft.loss,
        search: draft.search.clone(),
        criteria: criteria_reached(judged, &certificate.sensitive, |_| true),
        per_record: draft.per_record.as_ref().map(|(_, outcome)| outcome.clone()),
        beside: written.beside.clone(),
        people: written.people.as_ref().map(PeopleAccount::of),
        replaced: written.replaced.clone(),
        tops: written.tops.clone(),
    }
}

/// The criteria with what is promised and what is reached; the latter only where that may be told.
fn criteria_reached(judged: &Judged, sensitive: &[String], is_told: impl Fn(Measure) -> bool) -> Map<String, Value> {
    let entry = |finding: &Finding| {
        let measure = finding.criterion.measure;
        let reached = if is_told(measure) { wire::finding_reached(finding) } else { Value::Null };
        (wire::key(measure, sensitive), json!({ "promised": wire::value(finding.criterion), "reached": reached }))
    };
    judged.verdict.findings.iter().map(entry).collect()
}

/// The third reading: judges the file as it lies on disk.
pub fn judge_staged(
    path: &Path,
    format: Format,
    certificate: &Certificate,
    labels: Vec<Option<Labels>>,
    all: Outside,
    work: &Work,
) -> Result<Judged> {
    let question = Question {
        quasi_identifiers: &certificate.quasi_identifiers,
        sensitive: &certificate.sensitive,
        criteria: &certificate.promised().expect("the certificate was just made"),
        with_order: certificate.sorted,
        labels,
    };
    judge(path, format.delimiter(), &question, |_| all, SuppressedAs::Group, work)
}

/// Adds to the certificate what only the finished file can tell.
pub fn completed(
    mut certificate: Certificate,
    judged: &Judged,
    counted: &Counted,
    missing: &Option<String>,
) -> Certificate {
    let criteria = certificate.promised().expect("the certificate was just made");
    let is_whole = certificate.n_records_suppressed == 0;
    certificate.original = distances_for_certificate(counted, &criteria, &judged.file, missing, is_whole);
    let count_at = |(s, at): (usize, &Option<(usize, String)>)| {
        let (level, name) = at.as_ref()?;
        Some((counted.sensitive[s].name.clone(), CountAt::of_file(*level as u64, name, &judged.file, s)))
    };
    certificate.count_at = counted.count_at.iter().enumerate().filter_map(count_at).collect();
    certificate.criteria = criteria_reached(judged, &certificate.sensitive, |measure| certificate.shows(measure));
    if !certificate.person.is_empty() {
        // How many people a group has does not show; how many records it has does.
        certificate.smallest_group = judged.verdict.smallest_group;
        certificate.fewest_distinct = judged.verdict.fewest_distinct;
    }
    certificate.loss = wire::losses_of_release(&judged.verdict);
    certificate.output.sha256 = judged.sha256.clone();
    certificate
}
