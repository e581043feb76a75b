//! What is to be published, whichever way it was found, becomes a release with its certificate and report, or nothing.

use std::path::Path;

use incrowd::recode::{Recoding, global};
use incrowd::release::Column;
use incrowd::verify::{Outside, PeopleVerifier, Ruling, Verdict};
use incrowd::wire::{self, Certificate, Claim, HowFound, PerRecord, PerRecordOutcome};
use incrowd::{Criteria, Criterion, Error, ErrorKind, GroupCounts, Measure, Offer, Request, Result, Scheme};

use super::agree::{Agreed, Choice};
use super::certify::{account, certificate, completed, judge_staged};
use super::facts::{attribute_facts, group_sizes, height_facts, risk_facts};
use super::files::{Files, commit};
use super::write::{Written, published_columns, write_release};
use crate::input::count::Counted;
use crate::input::project::Project;
use crate::input::reference::outside;
use crate::orders::local::{Dealing, Local, LocallyMade};
use crate::orders::per_record::MadeOneByOne;
use crate::orders::utility::Analysis;
use crate::output::account::{Account, Loss, SourceFiles};
use crate::output::report::{self, HeightFacts};
use crate::output::sink::Format;
use crate::sentences;
use crate::work::Work;

/// Publishes records that were generalized one by one, with certificate and report.
pub fn publish_one_by_one(place: &Place, made: &MadeOneByOne) -> Result<Published> {
    let draft = Draft {
        recoding: &made.recoding,
        criteria: &made.criteria,
        way: Way::PerRecord(made.seed),
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
pub struct Place<'a> {
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
    pub way: Way<'a>,
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
    /// The criteria that are promised.
    Criteria,
    /// What was wanted of each record.
    Goal,
}

#[derive(Clone, Copy)]
pub enum Way<'a> {
    /// One level per attribute; in two columns where that is wanted and its labels are ranges.
    Global {
        scheme: &'a Scheme,
        two_columns: bool,
    },
    Local(&'a Local),
    /// Every record on its own, with the seed of random weights where they are.
    PerRecord(Option<u64>),
}

impl<'a> Way<'a> {
    pub fn scheme(self) -> Option<&'a Scheme> {
        match self {
            Way::Global { scheme, .. } => Some(scheme),
            Way::Local(_) | Way::PerRecord(_) => None,
        }
    }

    /// The counts that the recoding was made of.
    pub fn counts(self, counted: &Counted) -> &GroupCounts {
        match self {
            Way::Local(_) => counted.told_apart(),
            Way::Global { .. } | Way::PerRecord(_) => &counted.counts,
        }
    }

    /// By quasi-identifier, whether its lowest and its highest value have a column each.
    pub fn in_two_columns(self, counted: &Counted) -> Vec<bool> {
        let n_attributes = counted.hierarchies.len();
        match self {
            Way::Local(local) if local.two_columns => (0..n_attributes).map(|a| counted.is_numeric(a)).collect(),
            Way::Global { two_columns: true, .. } => counted.with_ranges(),
            _ => vec![false; n_attributes],
        }
    }
}

/// Writes the release of an offer with its certificate and report, or nothing.
pub fn publish(place: &Place, agreed: &Agreed) -> Result<Published> {
    if agreed.offer.n_groups == 0 {
        return Err(Error::new(ErrorKind::Request, "no group keeps the promise, so there is nothing to publish")
            .hint("ask for less privacy, or allow coarser levels"));
    }
    let counted = place.counted;
    let Offer { criteria, scheme, .. } = &agreed.offer;
    let yardstick = counted.yardstick(criteria.iter().map(|criterion| criterion.measure))?;
    let recoding = global::recode(&counted.counts, &counted.hierarchies, scheme, &yardstick, criteria)?;
    let way = Way::Global { scheme, two_columns: agreed.two_columns };
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
pub fn publish_made(place: &Place, made: &LocallyMade) -> Result<Published> {
    let LocallyMade { local, criteria, recoding, judgement, dealt, .. } = made;
    let draft = Draft {
        recoding,
        criteria,
        way: Way::Local(local),
        choice: "method",
        asked: AskedFor::Criteria,
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

fn publish_draft(place: &Place, draft: &Draft) -> Result<Published> {
    let &Place { project, counted, analysis, files, replace, work } = place;
    // Whoever asks, and by whatever method: what promises nothing is no release.
    counted.check_promise(draft.criteria)?;
    counted.check_people()?;
    check_ordered(counted, draft)?;
    let output = &files.release;
    let in_two_columns = draft.way.in_two_columns(counted);
    let columns = published_columns(project, counted, &in_two_columns)?;
    let format = Format::of(output, counted.source.delimiter())?.of_columns(columns.len());
    format.check_names(columns.iter().map(Column::name), output)?;
    let written = write_release(project, counted, draft, format, columns, output, work)?;
    check_same_table(counted, draft, &written)?;

    let staged_path = written.staged.readable_path();
    let sources = SourceFiles::of(project, counted)?;
    let certificate = certificate(project, counted, draft, &written, &sources, format, files);
    // How the release writes "no value".
    let missing = format.writes_missing_as_text().then(|| project.missing.label().to_string());
    let all = outside(counted, draft.way.scheme(), &in_two_columns, &missing);
    let of_people = |people: &PeopleVerifier| people.findings(draft.criteria, &without_missing(&all, &missing));
    let of_people = written.people.as_ref().map(of_people);
    let mut judged = judge_staged(&staged_path, format, &certificate, counted.labels(&missing), all, work)?;
    if let Some(findings) = of_people {
        judged.verdict = judged.verdict.over_people(Some(findings));
    }
    let mut certificate = completed(certificate, &judged, counted, &missing);
    certificate.dealt = draft.dealt.as_ref().map(|Dealing { n_classes, most_differ, together }| {
        wire::Dealt::of_file(&judged.file, &certificate.sensitive, *n_classes, most_differ, *together)
    });
    let claims =
        wire::check_release(&certificate, &judged.verdict, &judged.file, &judged.columns, Some(&judged.sha256));
    let account = account(draft, &written, &certificate, &judged, sources, files);
    // Here everything is known that a criterion needs, so that what is not judged was not looked at: a bug as well.
    if wire::ruling(&judged.verdict, &claims) != Ruling::Kept {
        // Never seen, and never to be published: whoever meets this has found a bug of ours.
        return Ok(Published { certificate, account, verdict: judged.verdict, claims, holds: false });
    }
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let made_of = draft.way.counts(counted);
    let utility = analysis.map(|analysis| analysis.utility(counted, made_of, draft.recoding, work));
    let facts = report::Facts {
        release: &name(output),
        certificate_name: &name(&files.certificate),
        certificate: &certificate,
        account: &account,
        verdict: &judged.verdict,
        claims: &claims,
        attributes: attribute_facts(counted, draft),
        group_sizes: group_sizes(draft.recoding, written.people.as_ref()),
        risk: risk_facts(counted, draft.recoding, &written, &missing, work)?,
        by_height: draft.by_height.clone(),
        utility: utility.transpose()?,
    };
    let report = report::html(&facts);
    let certificate_text = format!("{}\n", serde_json::to_string_pretty(&certificate).expect("a certificate is JSON"));
    commit(written.staged, files, &certificate_text, &report, replace)?;
    Ok(Published { certificate, account, verdict: judged.verdict, claims, holds: true })
}

/// Refuses to promise a value that nobody has ordered and that the release does not show: an offer relaxes t, δ, β and
/// k-map to what is just reached, and that tells of suppressed records and of the population.
fn check_ordered(counted: &Counted, draft: &Draft) -> Result<()> {
    let names = counted.sensitive_names();
    let tells = |criterion: &Criterion| {
        let is_ordered =
            matches!(draft.asked, AskedFor::Request(asked) if asked.criteria.iter().any(|c| c == *criterion));
        let is_shown = counted.counts.people().is_none() && wire::is_shown(criterion.measure, draft.n_suppressed);
        draft.choice == Choice::Privacy.name() && !is_ordered && !is_shown
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

/// The same with "no value" where the release writes a text: whose records go by is looked at before they are written.
fn without_missing(outside: &Outside, missing: &Option<String>) -> Outside {
    let mut outside = outside.clone();
    for (value, _) in outside.originals.iter_mut().flatten().flat_map(|original| &mut original.counts) {
        if value == missing {
            *value = None;
        }
    }
    outside
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
