//! What a certificate says, and what only the signer gets to know.

use std::collections::BTreeMap;
use std::path::Path;

use incrowd::recode::partition::CellStyle;
use incrowd::verify::{Labels, Outside, SuppressedAs};
use incrowd::wire::{self, Certificate, CountAt, FileHash, PerRecord};
use incrowd::{Result, Role, Scheme};

use super::GLOBAL;
use super::draft::{AskedFor, Draft, MadeBy};
use super::files::{Files, Target};
use super::write::{Written, identifying_columns};
use crate::input::count::Counted;
use crate::input::database::Table;
use crate::input::database::place::TableOrQuery;
use crate::input::notation::Notation;
use crate::input::project::{Attribute, Project};
use crate::input::reference::distances_for_certificate;
use crate::input::source::{PublishAs, Source, Unknown, Unreadable};
use crate::orders::per_record::PER_RECORD;
use crate::orders::verify::{Judged, Question, judge, judge_table};
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
    let scheme = draft.way.scheme();
    let (method, cells, seed) = match draft.way {
        MadeBy::Global { .. } => (GLOBAL, None, None),
        MadeBy::Local(local) => (local.method.name(), Some(local.style.name().to_string()), local.seed_used()),
        MadeBy::PerRecord(seed) => (PER_RECORD, Some(CellStyle::Labels.name().to_string()), seed),
    };
    let choices = match seed {
        Some(_) => "random choices come from the seed",
        None => "no random choice was made",
    };
    // Named only where the release shows them, so that anyone can check what is said about them.
    let sensitive: Vec<String> = counted.sensitive_names();
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
            files.target.is_none() && written.number.is_some(),
        ),
        version: env!("CARGO_PKG_VERSION").to_string(),
        method: method.to_string(),
        request: match draft.asked {
            AskedFor::Levels => Default::default(),
            AskedFor::Request(request) => wire::request_of(&names, &sensitive, request),
            AskedFor::Cut(request) => wire::local_request_of(&names, &sensitive, request),
            AskedFor::Criteria => wire::asked_of_method(draft.criteria, draft.way.n_suppressed_ordered(), &sensitive),
            AskedFor::Goal => draft.per_record.as_ref().map(|(facts, _)| facts.goal.value()).unwrap_or_default(),
        },
        choice: draft.choice.to_string(),
        cells,
        search: None,
        criteria: wire::promised(draft.criteria, &sensitive),
        quasi_identifiers: identifying_columns(counted, &written.columns),
        sensitive,
        person: project.person().into_iter().map(str::to_string).collect(),
        count_at: BTreeMap::new(),
        unreadable: wire::words_of(said(project, counted, |attribute| {
            (attribute.unreadable == Unreadable::Missing).then(|| attribute.unreadable.name())
        })),
        unknown: wire::words_of(said(project, counted, |attribute| {
            (attribute.unknown != Unknown::Error).then(|| attribute.unknown.name())
        })),
        published_as: wire::published_as(said(project, counted, |attribute| {
            attribute.publish_as.as_ref().map(PublishAs::said)
        })),
        from_level: counted
            .quasi_identifiers
            .iter()
            .filter_map(|known| known.from_level.as_ref().map(|first| (known.name.clone(), first.said())))
            .collect(),
        original: Default::default(),
        dealt: None,
        per_record,
        columns: written.columns.iter().map(|column| column.name().to_string()).collect(),
        delimiter: format.delimiter().map(char::from),
        // A table has its records again.
        counted: written.number.clone().filter(|_| files.target.is_none()),
        levels: scheme.map(|scheme| wire::levels(&names, scheme)).unwrap_or_default(),
        level_names: scheme.map(|scheme| wire::level_names(&counted.hierarchies, scheme)).unwrap_or_default(),
        height: scheme.map(Scheme::height),
        n_records_read: counts.n_records() + counts.n_dropped() + counted.source.n_left_out(),
        n_records_dropped: counts.n_dropped(),
        n_records_left_out: counted.source.n_left_out(),
        n_records_suppressed: written.n_suppressed,
        n_records_published: written.n_published,
        n_groups: draft.n_groups,
        smallest_group: draft.smallest_group,
        fewest_distinct: draft.fewest_distinct,
        loss: Default::default(),
        order: format!("sorted by the published values, so that the order of the input is lost; {choices}"),
        sorted: true,
        seed,
        exchanges: match draft.way {
            MadeBy::Local(local) => local.exchanges_ordered(),
            MadeBy::Global { .. } | MadeBy::PerRecord(_) => None,
        },
        steps: match draft.way {
            MadeBy::Local(local) => local.steps_taken(),
            MadeBy::Global { .. } | MadeBy::PerRecord(_) => None,
        },
        input: marked(&sources.input),
        hierarchies: marked(&sources.hierarchies),
        output: FileHash { name: file_name(&files.release), ..FileHash::default() },
    }
}

/// What the project says of the attributes that this release has.
fn said<T>(project: &Project, counted: &Counted, what: impl Fn(&Attribute) -> Option<T>) -> Vec<(String, T)> {
    let is_published = |attribute: &&Attribute| match attribute.role {
        Role::QuasiIdentifier => counted.quasi_identifiers.iter().any(|known| known.name == attribute.name),
        Role::Sensitive | Role::Other => true,
        Role::Identifier | Role::Person => false,
    };
    let attributes = project.attributes.iter().filter(is_published);
    attributes.filter_map(|attribute| Some((attribute.name.clone(), what(attribute)?))).collect()
}

/// What the signer knows beside the certificate.
pub fn account(draft: &Draft, written: &Written, judged: &Judged, sources: SourceFiles, files: &Files) -> Account {
    let SourceFiles { input, hierarchies } = sources;
    let dictionary = draft.per_record.as_ref().and_then(|(facts, _)| facts.dictionary.clone());
    Account {
        key: files.key.clone(),
        files: input.into_iter().chain(hierarchies).chain(dictionary).collect(),
        loss: draft.loss,
        search: draft.search.clone(),
        criteria: judged.verdict.findings.clone(),
        per_record: draft.per_record.as_ref().map(|(_, outcome)| outcome.clone()),
        beside: written.beside.clone(),
        people: written.people.as_ref().map(PeopleAccount::of),
        replaced: written.replaced.clone(),
        tops: written.tops.clone(),
    }
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
    judge(path, format.delimiter(), certificate.counted.as_deref(), &question, |_| all, SuppressedAs::Group, work)
}

/// The third reading of a table: judges it as it lies in the database, before anybody else sees it.
pub fn judge_target(
    target: &Target,
    certificate: &Certificate,
    labels: Vec<Option<Labels>>,
    all: Outside,
    work: &Work,
) -> Result<Judged> {
    let table = Table::open(target.database.clone(), &TableOrQuery::Table(target.table.clone()))?;
    let question = Question {
        quasi_identifiers: &certificate.quasi_identifiers,
        sensitive: &certificate.sensitive,
        criteria: &certificate.promised().expect("the certificate was just made"),
        with_order: certificate.sorted,
        labels,
    };
    judge_table(&Source::of_table(table)?, &question, |_| all, SuppressedAs::Group, work)
}

/// Adds to the certificate what only the finished file can tell.
pub fn completed(mut certificate: Certificate, judged: &Judged, counted: &Counted, notation: &Notation) -> Certificate {
    let criteria = certificate.promised().expect("the certificate was just made");
    let is_whole = certificate.n_records_suppressed == 0;
    certificate.original =
        wire::originals(distances_for_certificate(counted, &criteria, &judged.file, notation, is_whole));
    let count_at = |(s, at): (usize, &Option<(usize, String)>)| {
        let (level, name) = at.as_ref()?;
        Some((counted.sensitive[s].name.clone(), CountAt::of_file(*level as u64, name, &judged.file, s)))
    };
    certificate.count_at = counted.count_at.iter().enumerate().filter_map(count_at).collect();
    let findings = &judged.verdict.findings;
    certificate.criteria =
        wire::promised_and_reached(findings, &certificate.sensitive, |measure| certificate.shows(measure));
    if !certificate.person.is_empty() {
        // How many people a group has does not show; how many records it has does.
        certificate.smallest_group = judged.verdict.smallest_group;
        certificate.fewest_distinct = judged.verdict.fewest_distinct;
    }
    certificate.loss = wire::losses_of_release(&judged.verdict);
    certificate.output.sha256 = judged.sha256.clone();
    certificate
}
