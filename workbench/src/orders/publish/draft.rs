//! What is to be published, whichever way it was found, becomes a release with its certificate and report, or nothing.

use std::path::Path;

use incrowd::recode::tree::negotiate as tree;
use incrowd::recode::{Recoding, global};
use incrowd::release::Column;
use incrowd::verify::{Outside, PeopleVerifier, Ruling, Verdict};
use incrowd::wire::{self, Certificate, Claim, HowFound, PerRecord, PerRecordOutcome};
use incrowd::{Criteria, Criterion, Error, ErrorKind, GroupCounts, Measure, Offer, Request, Result, Scheme};

use super::agree::{Agreed, AnswerChoice};
use super::certify::{account, certificate, completed, judge_staged, judge_target};
use super::facts::{attribute_facts, group_sizes, height_facts, risk_facts};
use super::files::{Files, commit};
use super::write::{Written, published_columns, write_release};
use crate::input::count::Counted;
use crate::input::notation::Notation;
use crate::input::project::Project;
use crate::input::reference::outside;
use crate::orders::local::{Dealing, Local, LocallyMade};
use crate::orders::per_record::MadeOneByOne;
use crate::orders::utility::Analysis;
use crate::output::account::{Account, Loss, SourceFiles};
use crate::output::report::{self, HeightFacts};
use crate::output::sink::Format;
use crate::sentences;
use crate::work::{Unit, Work};

/// Publishes records that were generalized one by one, with certificate and report.
pub fn publish_one_by_one(place: &Publication, made: &MadeOneByOne) -> Result<Published> {
    let draft = Draft {
        recoding: &made.recoding,
        criteria: &made.criteria,
        way: MadeBy::PerRecord(made.seed),
        choice: "method",
        asked: AskedFor::Goal,
        search: None,
        n_groups: made.judgement.n_groups as u64,
        n_suppressed: made.judgement.n_suppressed,
        smallest_group: made.judgement.reached(Measure::Size),
        fewest_distinct: made.judgement.reached(Measure::Distinct(0)),
        loss: Loss::of(&made.judgement),
        by_height: Vec::new(),
        dealt: None,
        per_record: Some((made.facts.clone(), made.outcome.clone())),
    };
    publish_draft(place, &draft)
}

/// A release that has been judged; it has its name only where the promise holds.
pub struct Published {
    pub certificate: Certificate,
    /// What the signer knows beside it.
    pub account: Account,
    pub verdict: Verdict,
    /// What the certificate says, beside what the file shows.
    pub claims: Vec<Claim>,
    pub holds: bool,
}

/// What is published, where to, and what the report looks at.
pub struct Publication<'a> {
    pub project: &'a Project,
    pub counted: &'a Counted,
    /// None where nobody has asked and it would take long.
    pub analysis: Option<&'a Analysis>,
    pub files: &'a Files,
    pub replace: bool,
    pub work: &'a Work,
}

/// What is to be published, whichever way it was found.
pub struct Draft<'a> {
    pub recoding: &'a Recoding,
    pub criteria: &'a Criteria,
    /// One level per attribute, or the local method.
    pub way: MadeBy<'a>,
    pub choice: &'static str,
    pub asked: AskedFor<'a>,
    pub search: Option<HowFound>,
    pub n_groups: u64,
    pub n_suppressed: u64,
    pub smallest_group: Option<u64>,
    pub fewest_distinct: Option<u64>,
    pub loss: Loss,
    pub by_height: Vec<HeightFacts>,
    pub dealt: Option<Dealing>,
    pub per_record: Option<(PerRecord, PerRecordOutcome)>,
}

/// What was asked for.
#[derive(Clone, Copy)]
pub enum AskedFor<'a> {
    /// Levels of one's own choice, and the criteria that are promised.
    Levels,
    Request(&'a Request),
    /// A request over local recoding.
    Cut(&'a tree::Request),
    /// The criteria that are promised.
    Criteria,
    /// What was wanted of each record.
    Goal,
}

#[derive(Clone, Copy)]
pub enum MadeBy<'a> {
    /// One level per attribute; in two columns where that is wanted and its labels are ranges.
    Global {
        scheme: &'a Scheme,
        two_columns: bool,
    },
    Local(&'a Local),
    /// Every record on its own, with the seed of random weights where they are.
    PerRecord(Option<u64>),
}

impl<'a> MadeBy<'a> {
    pub fn scheme(self) -> Option<&'a Scheme> {
        match self {
            MadeBy::Global { scheme, .. } => Some(scheme),
            MadeBy::Local(_) | MadeBy::PerRecord(_) => None,
        }
    }

    /// How many records a method was allowed to leave out, where that was ordered.
    pub fn n_suppressed_ordered(self) -> u64 {
        match self {
            MadeBy::Local(local) if !local.method.is_dealing() => local.n_suppressed_max,
            MadeBy::Local(_) | MadeBy::Global { .. } | MadeBy::PerRecord(_) => 0,
        }
    }

    /// The counts that the recoding was made of.
    pub fn counts(self, counted: &Counted) -> &GroupCounts {
        match self {
            MadeBy::Local(_) => counted.told_apart(),
            MadeBy::Global { .. } | MadeBy::PerRecord(_) => &counted.counts,
        }
    }

    /// By quasi-identifier, whether its lowest and its highest value have a column each.
    pub fn in_two_columns(self, counted: &Counted) -> Vec<bool> {
        let n_attributes = counted.hierarchies.len();
        match self {
            MadeBy::Local(local) if local.two_columns => (0..n_attributes).map(|a| counted.is_numeric(a)).collect(),
            MadeBy::Global { two_columns: true, .. } => counted.with_ranges(),
            _ => vec![false; n_attributes],
        }
    }
}

/// Writes the release of an offer with its certificate and report, or nothing.
pub fn publish(place: &Publication, agreed: &Agreed) -> Result<Published> {
    if agreed.offer.n_groups == 0 {
        return Err(Error::new(ErrorKind::Request, "no group keeps the promise, so there is nothing to publish")
            .hint("ask for less privacy, or allow coarser levels"));
    }
    let counted = place.counted;
    let Offer { criteria, scheme, .. } = &agreed.offer;
    let yardstick = counted.yardstick(criteria.iter().map(|criterion| criterion.measure))?;
    let recoding = global::recode(&counted.counts, &counted.hierarchies, scheme, &yardstick, criteria)?;
    let way = MadeBy::Global { scheme, two_columns: agreed.two_columns };
    let in_two_columns = way.in_two_columns(counted);
    let recoding = recoding.in_two_columns(|a| in_two_columns[a]);
    let draft = Draft {
        recoding: &recoding,
        criteria,
        way,
        choice: agreed.choice,
        asked: agreed.request.as_ref().map_or(AskedFor::Levels, AskedFor::Request),
        search: agreed.search.clone(),
        n_groups: agreed.offer.n_groups,
        n_suppressed: agreed.offer.n_suppressed,
        smallest_group: agreed.offer.smallest_group(),
        fewest_distinct: agreed.offer.fewest_distinct(),
        loss: Loss::OfScheme(agreed.offer.losses),
        by_height: height_facts(agreed),
        dealt: None,
        per_record: None,
    };
    publish_draft(place, &draft)
}

/// Writes the release of a local method with its certificate and report, or nothing.
pub fn publish_made(place: &Publication, made: &LocallyMade) -> Result<Published> {
    let LocallyMade { local, agreed, criteria, recoding, judgement, dealt, .. } = made;
    let agreed = agreed.as_ref();
    let draft = Draft {
        recoding,
        criteria,
        way: MadeBy::Local(local),
        choice: agreed.map_or("method", |(choice, _)| choice),
        asked: agreed.map_or(AskedFor::Criteria, |(_, request)| AskedFor::Cut(request)),
        search: None,
        n_groups: judgement.n_groups as u64,
        n_suppressed: judgement.n_suppressed,
        smallest_group: judgement.reached(Measure::Size),
        fewest_distinct: judgement.reached(Measure::Distinct(0)),
        loss: Loss::of(judgement),
        by_height: Vec::new(),
        dealt: dealt.clone(),
        per_record: None,
    };
    publish_draft(place, &draft)
}

fn publish_draft(place: &Publication, draft: &Draft) -> Result<Published> {
    let &Publication { project, counted, analysis, files, replace, work } = place;
    // Whoever asks, and by whatever method: what promises nothing is no release.
    counted.check_promise(draft.criteria)?;
    counted.check_people()?;
    check_ordered(counted, draft)?;
    // A table has no path; what is on its way there lies where its certificate will.
    let output = if files.target.is_some() { &files.certificate } else { &files.release };
    let in_two_columns = draft.way.in_two_columns(counted);
    let columns = published_columns(project, counted, &in_two_columns)?;
    let number = match files.target {
        Some(_) => Some(number_on_the_way(&columns)),
        None => files.rows.then(|| number_of_rows(project, &columns)).transpose()?,
    };
    let format = match files.target {
        // The rows on their way to the database.
        Some(_) => Format::Parquet,
        None => Format::of(output, counted.source.delimiter())?.of_columns(columns.len() + number.iter().len()),
    };
    format.check_names(columns.iter().map(Column::name).chain(number.as_deref()), output)?;
    let written = write_release(project, counted, draft, format, columns, number, output, work)?;
    check_same_table(counted, draft, &written)?;

    let staged_path = written.staged.readable_path();
    let sources = SourceFiles::of(project, counted)?;
    let certificate = certificate(project, counted, draft, &written, &sources, format, files);
    if let (Some(target), Some(number)) = (&files.target, &written.number) {
        work.stage("writing to the database", 0, Unit::Records, |_| {
            target.database.write_table(&target.table, &certificate.columns, number, &staged_path, target.replaces)
        })?;
    }
    let notation = &written.notation;
    let all = outside(counted, draft.way.scheme(), &in_two_columns, notation);
    // Whose records go by is looked at before sensitive values are written.
    let of_table = || outside(counted, None, &in_two_columns, &Notation::default()).originals;
    let as_watched = || Outside { originals: of_table(), population: all.population.clone() };
    let of_people = |people: &PeopleVerifier| people.findings(draft.criteria, &as_watched());
    let of_people = written.people.as_ref().map(of_people);
    let labels = counted.labels(notation);
    let mut judged = match &files.target {
        Some(target) => judge_target(target, &certificate, labels, all, work)?,
        None => judge_staged(&staged_path, format, &certificate, labels, all, work)?,
    };
    if let Some(findings) = of_people {
        judged.verdict = judged.verdict.over_people(Some(findings));
    }
    let mut certificate = completed(certificate, &judged, counted, notation);
    certificate.dealt = draft.dealt.as_ref().map(|Dealing { n_classes, most_differ, together }| {
        wire::Dealt::of_file(&judged.file, &certificate.sensitive, *n_classes, most_differ, *together)
    });
    // A table has one where the order of its records is claimed.
    let sha256 = (files.target.is_none() || !judged.sha256.is_empty()).then_some(judged.sha256.as_str());
    let claims = wire::check_release(&certificate, &judged.verdict, &judged.file, &judged.columns, sha256);
    let account = account(draft, &written, &judged, sources, files);
    // Here everything is known that a criterion needs, so that what is not judged was not looked at: a bug as well.
    if wire::ruling(&judged.verdict, &claims) != Ruling::Kept {
        // Never seen, and never to be published: whoever meets this has found a bug of ours.
        return Ok(Published { certificate, account, verdict: judged.verdict, claims, holds: false });
    }
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let made_of = draft.way.counts(counted);
    let utility = analysis.map(|analysis| analysis.utility(counted, made_of, draft.recoding, work));
    let facts = report::Facts {
        release: &name(&files.release),
        certificate_name: &name(&files.certificate),
        certificate: &certificate,
        said: &project.report,
        account: &account,
        verdict: &judged.verdict,
        claims: &claims,
        attributes: attribute_facts(counted, draft),
        group_sizes: group_sizes(draft.recoding, written.people.as_ref()),
        risk: risk_facts(counted, draft.recoding, &written, work)?,
        by_height: draft.by_height.clone(),
        utility: utility.transpose()?,
        minutes: files.minutes.as_ref(),
    };
    let report = report::html(&facts);
    commit(written.staged, files, &certificate.to_text(), &report, replace)?;
    Ok(Published { certificate, account, verdict: judged.verdict, claims, holds: true })
}

/// What the column is called that says how many records a row is: as in the table, where rows are counted there too.
fn number_of_rows(project: &Project, columns: &[Column]) -> Result<String> {
    let number = project.counted.clone().unwrap_or_else(|| "n".to_string());
    match columns.iter().any(|column| column.name() == number) {
        true => Err(Error::new(ErrorKind::Request, format!("two columns would be called '{number}'"))
            .hint(sentences::hint("leave out {rows}, or rename the column in the data"))),
        false => Ok(number),
    }
}

/// What the same is called on the way to a database, where nobody sees it.
fn number_on_the_way(columns: &[Column]) -> String {
    let mut name = "incrowd_n".to_string();
    while columns.iter().any(|column| column.name().eq_ignore_ascii_case(&name)) {
        name.push('_');
    }
    name
}

/// Refuses to promise a value that nobody has ordered and that the release does not show: an offer relaxes t, δ, β and
/// k-map to what is just reached, and that tells of suppressed records and of the population.
fn check_ordered(counted: &Counted, draft: &Draft) -> Result<()> {
    let names = counted.sensitive_names();
    let tells = |criterion: &Criterion| {
        let asked = match draft.asked {
            AskedFor::Request(asked) => Some(&asked.criteria),
            AskedFor::Cut(asked) => Some(&asked.criteria),
            AskedFor::Levels | AskedFor::Criteria | AskedFor::Goal => None,
        };
        let is_ordered = asked.is_some_and(|asked| asked.iter().any(|asked| asked == *criterion));
        let is_shown = counted.counts.people().is_none() && wire::is_shown(criterion.measure, draft.n_suppressed);
        draft.choice == AnswerChoice::Privacy.name() && !is_ordered && !is_shown
    };
    let Some(criterion) = draft.criteria.iter().find(tells) else { return Ok(()) };
    let name = wire::key(criterion.measure, &names);
    let reached = sentences::number_in_words(criterion.measure, criterion.value);
    Err(Error::new(
        ErrorKind::Request,
        format!(
            "the {name} of the privacy offer is what is just reached, which tells of records that are not published"
        ),
    )
    .hint(format!(
        "order a round value of your own that is no stricter than {name} = {reached}, and publish its answer"
    )))
}

/// Refuses a release of a table that is not the one that was counted.
fn check_same_table(counted: &Counted, draft: &Draft, written: &Written) -> Result<()> {
    let is_same = written.n_suppressed == draft.n_suppressed
        && written.n_suppressed + written.n_published == counted.counts.n_records();
    match is_same {
        true => Ok(()),
        false => Err(Error::new(ErrorKind::Data, "changed between counting and publishing")
            .at(counted.source.files()[0].display().to_string())
            .hint("nothing was written; run the command again when nobody writes to the data")),
    }
}
