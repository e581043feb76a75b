//! `incrowd publish`: the second reading; writes a release, its certificate and its report, or nothing.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use arrow_schema::DataType;
use clap::builder::PossibleValue;
use incrowd::judge::ncp_of_cells;
use incrowd::lattice::{Scope, outcome_of};
use incrowd::quality::Losses;
use incrowd::recode::method::Method;
use incrowd::recode::partition::CellStyle;
use incrowd::recode::per_record::dictionary::{Dictionary, Match};
use incrowd::recode::{Recoding, Span, global};
use incrowd::release::{Column, Publisher, Row};
use incrowd::risk::{contributions_of, estimated_unique_in_population, risks};
use incrowd::search::negotiate::{check_criteria, check_promise};
use incrowd::search::on_demand::FoundAnswer;
use incrowd::search::partial::prove;
use incrowd::table::Kind;
use incrowd::verify::{Finding, Outside, Ruling, SuppressedAs};
use incrowd::wire::{self, Certificate, Distribution, FileHash, HowFound, PerRecord, PerRecordOutcome};
use incrowd::{
    Answer, Criteria, Criterion, Error, ErrorKind, Hierarchy, Lattice, Measure, Offer, Plan, Request, Result, Role,
    Scheme, Yardstick, negotiate,
};
use serde_json::{Map, Value, json};

use crate::account::{Account, Key, SourceFiles, file_name};
use crate::commands::annotate::by_height;
use crate::commands::negotiate::{annotate, say_answer};
use crate::commands::verify::{Judged, Question, judge};
use crate::count::{Counted, needed_columns};
use crate::extent::{CtrlC, ExtentArgs, Otherwise, TIME, search_of};
use crate::local::{Dealing, Local, Made, guaranteed, note_flat, note_without_steps};
use crate::naming::{Trio, give_names, is_taken};
use crate::outside::{distances_for_certificate, outside};
use crate::per_record::{self, Outcome, PER_RECORD, PerRecordArgs};
use crate::project::Project;
use crate::report::{self, AttributeFacts, HeightFacts, PublishedAs, RiskFacts};
use crate::sentences::{self, counted_words, grouped};
use crate::sink::{Format, Sink, TypedColumn, kept_type, type_of_kind};
use crate::sorted::Sorter;
use crate::staged::Staged;
use crate::talk::{Exit, Talk, go_on};
use crate::uniques::Uniques;
use crate::wishes::{Privacy, ProjectArgs, RequestArgs, with_levels};

/// Publish the exact answer, one of the offers, levels of your choice, or what a local method makes
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
The release appears under its name only after `verify` has passed, with a certificate and a report beside it. \
Records are sorted by what is published, so that their order says nothing about the order of the input.

--method global generalizes an attribute to one level for all records. The other methods are local: every group gets \
ranges of its own, which loses less, and no record is suppressed. They promise k and l by construction; other criteria \
are checked on what comes out, and nothing is published where they do not hold. --method deal makes groups of k or k + 1 \
records (more, where groups look alike) in which every sensitive value is as frequent as in the table, to one record; l is \
checked on what comes out too. How much the analyst cares about each
attribute is its weight in the project file. `incrowd compare` shows what each method would lose.

--method per-record generalizes every record on its own, to the least risk that leaves enough utility. Such a release is
NOT k-anonymous: a record may be the only one with its cells. --also-k groups afterwards so that k holds.

Exit status: 0 when published, 1 when there is no such answer or the promise would be broken, 2 on error.

Examples:
  incrowd publish --k 10 --max-suppressed 1% -o release.csv
  incrowd publish --k 10 --max-suppressed 0 --offer height -o release.parquet
  incrowd publish --k 5 --l 3 --levels age=2,sex=0,postcode=3 -o release.csv
  incrowd publish --method top-down --k 10 -o release.csv
  incrowd publish --method bottom-up --k 10 --l 3 --cells sets -o release.csv
  incrowd publish --method top-down --k 10 --two-columns --seed 7 -o release.parquet
  incrowd publish --method deal --k 9 -o release.csv
  incrowd publish --method per-record --utility-at-least 60% -o release.csv
  incrowd publish --method per-record --risk identity --risk-at-most 0.1 --also-k 5 -o release.csv")]
pub struct Args {
    #[command(flatten)]
    pub project: ProjectArgs,
    #[command(flatten)]
    pub request: RequestArgs,
    /// Which answer to publish
    #[arg(long, value_enum, default_value_t = Choice::Exact)]
    pub offer: Choice,
    /// Publish these levels instead of an answer; an attribute not named stays exact
    #[arg(long, value_name = "A=LEVEL,…", value_delimiter = ',', conflicts_with = "offer")]
    pub levels: Option<Vec<String>>,
    /// How to generalize
    #[arg(long, value_name = "METHOD", default_value = GLOBAL, value_parser = methods())]
    pub method: String,
    /// How cells of a local method are written: [24-30] and labels, labels only, sets of categories, midpoints, or rounded
    /// outwards to the steps of the hierarchy, [20-34]. Only `labels` and `rounded` do not tell that a record has each end
    /// [default: ranges]
    #[arg(long, value_name = "STYLE", value_parser = CellStyle::ALL.map(CellStyle::name))]
    pub cells: Option<String>,
    /// Write numbers and dates of a local method as two columns, NAME_low and NAME_high
    #[arg(long)]
    pub two_columns: bool,
    /// Where random choices of a local method come from: the same seed gives the same release [default: 0]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// With --method deal: any records of a sensitive value, as in the paper, instead of near ones
    #[arg(long)]
    pub plain: bool,
    /// With --method deal: attempts per group at an exchange of records that loses less [default: 300]
    #[arg(long, value_name = "N")]
    pub exchanges: Option<u32>,
    #[command(flatten)]
    pub per_record: PerRecordArgs,
    /// File to write, .csv or .parquet [default: release.csv in the project's folder]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace files that are there already
    #[arg(long)]
    pub force: bool,
    /// The signer's key, 64 digits from 0 to f: the same key gives the same certificate [default: a new one]
    #[arg(long, value_name = "HEX")]
    pub key: Option<String>,
    #[command(flatten)]
    pub extent: ExtentArgs,
    /// How long to search on demand, such as 30s, 5m or 2h; then the best so far is published, and said to be that
    #[arg(long, value_name = "TIME", default_value = TIME)]
    pub time: String,
}

/// The method that looks for one level per attribute.
const GLOBAL: &str = "global";

fn methods() -> clap::builder::PossibleValuesParser {
    let global = PossibleValue::new(GLOBAL).help("one level per attribute, the same for all records");
    let local = Method::ALL.map(|method| PossibleValue::new(method.name()).help(method.words()));
    let single = PossibleValue::new(PER_RECORD).help("every record on its own, risk against utility; not k-anonymous");
    std::iter::once(global).chain(local).chain([single]).collect::<Vec<_>>().into()
}

/// The answers that can be published.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Choice {
    /// The answer that meets all wishes
    Exact,
    /// The offer that loses more records
    Suppression,
    /// The offer that generalizes otherwise
    Height,
    /// The offer that promises less
    Privacy,
}

impl Choice {
    pub fn name(self) -> &'static str {
        match self {
            Choice::Exact => "exact",
            Choice::Suppression => "suppression",
            Choice::Height => "height",
            Choice::Privacy => "privacy",
        }
    }
}

/// What was agreed on: the offer to publish, and how it came about.
pub struct Agreed<'a> {
    pub offer: Offer,
    pub choice: &'static str,
    /// As it was understood; null where levels were chosen by hand.
    pub request: Value,
    pub lattice: Option<Cow<'a, Lattice>>,
    /// How the scheme was found; nothing where levels were chosen by hand.
    pub search: Option<HowFound>,
}

pub fn run(args: &Args, talk: &Talk) -> Result<Exit> {
    let project = args.project.open()?;
    let output = args.output.clone().unwrap_or_else(|| project.folder.join("release.csv"));
    let mut files = prepare(&project, &output, args.force)?;
    if let Some(text) = &args.key {
        files.key = Key::parse(text)?;
    }
    if args.method == PER_RECORD {
        return run_per_record(args, &project, &files, talk);
    }
    if let Some(flag) = args.per_record.first_given() {
        return Err(Error::new(ErrorKind::Request, format!("{flag} is about records that are generalized one by one"))
            .hint(format!("leave it out, or take --method {PER_RECORD}")));
    }
    let mut privacy = args.request.criteria.resolve(&project, args.project.sensitive.as_deref())?;
    check_promise(&privacy.criteria)?;
    args.request.best_by(&project)?;
    let local = local(args, &project, talk)?;
    if args.levels.is_some() {
        args.project.check_no_lattice("--levels")?;
    }
    if let Some(local) = &local {
        args.project.check_no_lattice(local.method.name())?;
        privacy = privacy_of(local, privacy, args.project.sensitive.is_some(), &project)?;
    }
    let counted = args.project.count(&project, &privacy, talk)?;
    let published = match local {
        Some(local) => {
            let Some(made) = make(args, &local, &privacy, &counted, talk)? else {
                return Ok(Exit::No);
            };
            publish_made(&project, &counted, made, &files, args.force, talk)?
        }
        None => {
            let Some(agreed) = agree(args, &project, &privacy, &counted, talk)? else {
                return Ok(Exit::No);
            };
            publish(&project, &counted, &agreed, &files, args.force, talk)?
        }
    };
    if !published.holds {
        talk.json(&published.verdict);
        talk.say("The release does not keep its promise; nothing was written.");
        return Ok(Exit::No);
    }
    say_published(&files, &published, talk);
    Ok(Exit::Done)
}

/// Publishes records that are generalized one by one.
fn run_per_record(args: &Args, project: &Project, files: &Files, talk: &Talk) -> Result<Exit> {
    let given = [
        ("--k and other criteria", !args.request.criteria.texts().is_empty()),
        ("--max-suppressed", args.request.max_suppressed.is_some()),
        ("--max-level", args.request.max_level.is_some()),
        ("--best-by", args.request.best_by.is_some()),
        ("--offer", args.offer != Choice::Exact),
        ("--levels", args.levels.is_some()),
        ("--cells", args.cells.is_some()),
        ("--two-columns", args.two_columns),
        ("--seed", args.seed.is_some()),
        ("--plain", args.plain),
        ("--exchanges", args.exchanges.is_some()),
        ("--full, --partial and --on-demand", args.extent.first_given().is_some()),
    ];
    if let Some((flag, _)) = given.into_iter().find(|(_, is_given)| *is_given) {
        return Err(Error::new(ErrorKind::Request, format!("{flag} cannot be had with --method {PER_RECORD}"))
            .hint("it looks at one record at a time; --also-k groups them afterwards, --weights-seed draws weights"));
    }
    let privacy = args.project.no_privacy(project)?;
    if !project.request.criteria.is_empty() {
        talk.note(format!("the criteria in [request] of the project are not promised by {PER_RECORD}"));
    }
    let counted = args.per_record.count(project, args.project.choice(&privacy), talk)?;
    per_record::check_memory(&counted, args.project.n_bytes_max()?)?;
    let bar = talk.things(PER_RECORD, counted.counts.n_records(), "records");
    let outcome = per_record::make(&args.per_record, &counted, &bar)?;
    bar.finish_and_clear();
    let why = outcome.words();
    let made = match outcome {
        Outcome::Made(made) => made,
        Outcome::OutOfReach { greatest_utility, n_records } => {
            talk.json(&json!({
                "published": false, "method": PER_RECORD, "greatest_utility": greatest_utility,
                "n_records_out_of_reach": n_records,
            }));
            talk.say(format!("{why}."));
            talk.note("\nNothing was published. Ask for less, or for a share such as --utility-at-least 60%.");
            return Ok(Exit::No);
        }
        Outcome::TooRisky { n_records } => {
            talk.json(&json!({ "published": false, "method": PER_RECORD, "n_records_too_risky": n_records }));
            talk.say(format!("{why}."));
            talk.note("\nNothing was published. Allow more with --risk-at-most.");
            return Ok(Exit::No);
        }
    };
    let published = publish_one_by_one(project, &counted, *made, files, args.force, talk)?;
    if !published.holds {
        talk.json(&published.verdict);
        talk.say("The release does not keep its promise; nothing was written.");
        return Ok(Exit::No);
    }
    say_published(files, &published, talk);
    Ok(Exit::Done)
}

/// Publishes records that were generalized one by one, with certificate and report.
pub fn publish_one_by_one(
    project: &Project,
    counted: &Counted,
    made: per_record::Made,
    files: &Files,
    replace: bool,
    talk: &Talk,
) -> Result<Published> {
    let draft = Draft {
        recoding: made.recoding,
        criteria: &made.criteria,
        way: Way::PerRecord(made.seed),
        choice: "method",
        request: made.facts.goal.clone(),
        search: None,
        n_groups: made.judgement.n_groups as u64,
        n_suppressed: made.judgement.n_suppressed,
        smallest_group: made.judgement.reached(Measure::Size),
        fewest_distinct: made.judgement.reached(Measure::Distinct(0)),
        loss: wire::losses_of_judgement(&made.judgement),
        by_height: Vec::new(),
        dealt: None,
        per_record: Some((made.facts, made.outcome)),
    };
    publish_draft(project, counted, &draft, files, replace, talk)
}

/// The local method that the flags ask for, if any; flags that would do nothing are refused.
pub fn local(args: &Args, project: &Project, talk: &Talk) -> Result<Option<Local>> {
    let refuse = |flag: &str, why: &str, hint: String| {
        Err(Error::new(ErrorKind::Request, format!("{flag} {why}")).hint(format!("leave it out, or {hint}")))
    };
    if args.method == GLOBAL {
        args.extent.check(Otherwise::OnDemand)?;
        if let (Some(flag), true) = (args.extent.first_given(), args.levels.is_some()) {
            return refuse(flag, "is about the search for a scheme", "leave out --levels".into());
        }
        let given =
            [("--cells", args.cells.is_some()), ("--two-columns", args.two_columns), ("--seed", args.seed.is_some())];
        return match given.into_iter().find(|(_, is_given)| *is_given) {
            Some((flag, _)) => refuse(flag, "is about local methods", "choose one with --method top-down".into()),
            None => Ok(None),
        };
    }
    let given = [
        ("--offer", args.offer != Choice::Exact),
        ("--levels", args.levels.is_some()),
        ("--max-level", args.request.max_level.is_some()),
        ("--best-by", args.request.best_by.is_some()),
    ];
    if let Some((flag, _)) = given.into_iter().find(|(_, is_given)| *is_given) {
        let why = format!("is about levels, and {} gives every group ranges of its own", args.method);
        return refuse(flag, &why, format!("take --method {GLOBAL}"));
    }
    if let Some(flag) = args.extent.first_given() {
        let why = format!("is about the lattice of schemes, and {} looks for no scheme", args.method);
        return refuse(flag, &why, format!("take --method {GLOBAL}"));
    }
    if !project.request.max_level.is_empty() {
        talk.note(format!("max_level of the project is about levels; {} does not look at it", args.method));
    }
    let style = args.cells.as_deref().and_then(CellStyle::parse).unwrap_or(CellStyle::Ranges);
    if args.two_columns && matches!(style, CellStyle::Labels | CellStyle::Midpoints) {
        return refuse(
            "--two-columns",
            &format!("would say more than --cells {}", style.name()),
            format!("take --cells {}", CellStyle::Ranges.name()),
        );
    }
    let named = Method::parse(&args.method)?;
    let method = if named == Method::Deal && args.plain { Method::DealPlain } else { named };
    let given = [
        ("--plain", args.plain && !method.is_dealing()),
        ("--exchanges", args.exchanges.is_some() && method != Method::Deal),
    ];
    if let Some((flag, _)) = given.into_iter().find(|(_, is_given)| *is_given) {
        return refuse(flag, "is about near records in dealt groups", "take --method deal".into());
    }
    if args.seed.is_some() && !method.is_random() {
        let why = format!("is about random choices, and {} makes none", method.name());
        return refuse("--seed", &why, format!("take --method {}", Method::TopDown.name()));
    }
    let local = Local::new(method);
    Ok(Some(Local {
        style,
        two_columns: args.two_columns,
        seed: args.seed.unwrap_or(local.seed),
        n_exchanges: args.exchanges.unwrap_or(local.n_exchanges),
        ..local
    }))
}

/// The privacy of a local release. A dealt one is about all sensitive attributes unless one was chosen.
pub fn privacy_of(local: &Local, privacy: Privacy, is_chosen: bool, project: &Project) -> Result<Privacy> {
    guaranteed(&privacy.criteria)?;
    if !local.method.is_dealing() {
        return Ok(privacy);
    }
    if privacy.criteria.value(Measure::Size).is_none() {
        return Err(
            Error::new(ErrorKind::Request, "dealing needs k: how large groups are to be").hint("for example --k 10")
        );
    }
    let all: Vec<String> = project.with_role(Role::Sensitive).map(|known| known.name.clone()).collect();
    match (all.is_empty(), is_chosen) {
        (true, _) => Err(Error::new(ErrorKind::Project, "there is no sensitive attribute to deal by")
            .at(project.file.display().to_string())
            .hint("give one attribute role = \"sensitive\", or take another method")),
        (false, true) => Ok(privacy),
        (false, false) => Ok(privacy.about(&all)),
    }
}

/// Recodes locally; none where a criterion that is not kept by construction does not hold.
fn make(args: &Args, local: &Local, privacy: &Privacy, counted: &Counted, talk: &Talk) -> Result<Option<Made>> {
    let criteria = &privacy.criteria;
    let n_records = counted.counts.n_records();
    check_criteria(criteria, n_records, &counted.n_sensitive_values())?;
    if local.style != CellStyle::Sets {
        note_flat(counted, talk);
    }
    if local.style == CellStyle::Rounded {
        note_without_steps(counted, talk);
    }
    let bar = talk.things(local.method.name(), n_records, "records");
    let made = args.project.on_threads(|| local.make(counted, criteria, &bar))??;
    bar.finish_and_clear();
    let missed = made.missed();
    if missed.is_empty() {
        return Ok(Some(made));
    }
    let reached = missed.iter().map(|&(Criterion { measure, .. }, reached, _)| {
        (wire::key(measure, &privacy.sensitive), wire::number(measure, reached))
    });
    talk.json(&json!({
        "published": false,
        "method": local.method.name(),
        "criteria": wire::criteria(criteria, &privacy.sensitive),
        "missed": Value::Object(reached.collect()),
    }));
    for (criterion, reached, n_failing) in missed {
        talk.say(format!(
            "{} of {} of {} miss {}: {} is reached.",
            grouped(n_failing as u64),
            counted_words(made.judgement.n_groups as u64, "group"),
            local.method.name(),
            sentences::criterion_in_words(criterion, &privacy.sensitive),
            sentences::number_in_words(criterion.measure, reached),
        ));
    }
    talk.note(format!(
        "\nNothing was published: {} and can only be checked for the rest. Ask for a greater k, for less, or take --method \
         global.",
        local.kept_by_construction()
    ));
    Ok(None)
}

/// Refuses a place for a release before any work is done.
pub fn prepare(project: &Project, output: &Path, replace: bool) -> Result<Files> {
    let files = Files::beside(output)?;
    files.check(project, replace)?;
    Format::of(output, b',')?;
    Staged::create(output)?;
    Ok(files)
}

/// A release that has been judged; it has its name only where the promise holds.
pub struct Published {
    pub certificate: Certificate,
    /// What the signer knows beside it.
    pub account: Account,
    /// As `verify --json` says it.
    pub verdict: Value,
    pub holds: bool,
}

/// What is to be published, whichever way it was found.
struct Draft<'a> {
    recoding: Recoding,
    criteria: &'a Criteria,
    /// One level per attribute, or the local method.
    way: Way<'a>,
    choice: &'static str,
    request: Value,
    search: Option<HowFound>,
    n_groups: u64,
    n_suppressed: u64,
    smallest_group: Option<u64>,
    fewest_distinct: Option<u64>,
    loss: Value,
    by_height: Vec<HeightFacts>,
    dealt: Option<Dealing>,
    per_record: Option<(PerRecord, PerRecordOutcome)>,
}

#[derive(Clone, Copy)]
enum Way<'a> {
    Global(&'a Scheme),
    Local(&'a Local),
    /// Every record on its own, with the seed of random weights where they are.
    PerRecord(Option<u64>),
}

impl<'a> Way<'a> {
    fn scheme(self) -> Option<&'a Scheme> {
        match self {
            Way::Global(scheme) => Some(scheme),
            Way::Local(_) | Way::PerRecord(_) => None,
        }
    }

    fn has_two_columns(self) -> bool {
        matches!(self, Way::Local(local) if local.two_columns)
    }
}

/// Writes the release of an offer with its certificate and report, or nothing.
pub fn publish(
    project: &Project,
    counted: &Counted,
    agreed: &Agreed,
    files: &Files,
    replace: bool,
    talk: &Talk,
) -> Result<Published> {
    if agreed.offer.n_groups == 0 {
        return Err(Error::new(ErrorKind::Request, "no group keeps the promise, so there is nothing to publish")
            .hint("ask for less privacy, or allow coarser levels"));
    }
    let Offer { criteria, scheme, .. } = &agreed.offer;
    let yardstick = counted.yardstick(criteria.iter().map(|criterion| criterion.measure))?;
    let draft = Draft {
        recoding: global::recode(&counted.counts, &counted.hierarchies, scheme, &yardstick, criteria)?,
        criteria,
        way: Way::Global(scheme),
        choice: agreed.choice,
        request: agreed.request.clone(),
        search: agreed.search.clone(),
        n_groups: agreed.offer.n_groups,
        n_suppressed: agreed.offer.n_suppressed,
        smallest_group: agreed.offer.smallest_group(),
        fewest_distinct: agreed.offer.fewest_distinct(),
        loss: wire::losses(&agreed.offer.losses),
        by_height: height_facts(agreed),
        dealt: None,
        per_record: None,
    };
    publish_draft(project, counted, &draft, files, replace, talk)
}

/// Writes the release of a local method with its certificate and report, or nothing.
pub fn publish_made(
    project: &Project,
    counted: &Counted,
    made: Made,
    files: &Files,
    replace: bool,
    talk: &Talk,
) -> Result<Published> {
    let Made { local, criteria, recoding, judgement, dealt } = made;
    let draft = Draft {
        recoding,
        criteria: &criteria,
        way: Way::Local(&local),
        choice: "method",
        request: Value::Object(wire::criteria(&criteria, &counted.sensitive_names())),
        search: None,
        n_groups: judgement.n_groups as u64,
        n_suppressed: judgement.n_suppressed,
        smallest_group: judgement.reached(Measure::Size),
        fewest_distinct: judgement.reached(Measure::Distinct(0)),
        loss: wire::losses_of_judgement(&judgement),
        by_height: Vec::new(),
        dealt,
        per_record: None,
    };
    publish_draft(project, counted, &draft, files, replace, talk)
}

fn publish_draft(
    project: &Project,
    counted: &Counted,
    draft: &Draft,
    files: &Files,
    replace: bool,
    talk: &Talk,
) -> Result<Published> {
    // Whoever asks, and by whatever method: what promises nothing is no release.
    check_promise(draft.criteria)?;
    check_ordered(counted, draft)?;
    let output = &files.release;
    let columns = published_columns(project, counted, draft.way.has_two_columns())?;
    let format = Format::of(output, counted.source.delimiter())?.of_columns(columns.len());
    let written = write_release(project, counted, draft, format, columns, output, talk)?;
    check_same_table(counted, draft, &written)?;

    let staged_path = written.staged.readable_path();
    let sources = SourceFiles::of(project, counted)?;
    let certificate = certificate(counted, draft, &written, &sources, format, files);
    // How the release writes "no value".
    let missing = (format != Format::Parquet).then(|| project.missing.label().to_string());
    let all = outside(counted, draft.way.scheme(), &missing);
    let judged = judge_staged(&staged_path, format, &certificate, all, talk)?;
    let mut certificate = completed(certificate, &judged, counted, &missing);
    certificate.dealt = draft.dealt.as_ref().map(|Dealing { n_classes, most_differ, together }| {
        wire::Dealt::of_file(&judged.file, &certificate.sensitive, *n_classes, most_differ, *together)
    });
    let claims =
        wire::check_release(&certificate, &judged.verdict, &judged.file, &judged.columns, Some(&judged.sha256));
    let verdict = wire::verdict(&judged.verdict, &certificate.sensitive, &claims);
    let account = account(draft, &certificate, &judged, sources, files);
    // Here everything is known that a criterion needs, so that what is not judged was not looked at: a bug as well.
    if wire::ruling(&judged.verdict, &claims) != Ruling::Kept {
        // Never seen, and never to be published: whoever meets this has found a bug of ours.
        return Ok(Published { certificate, account, verdict, holds: false });
    }
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let facts = report::Facts {
        release: &name(output),
        certificate_name: &name(&files.certificate),
        certificate: &certificate,
        account: &account,
        verdict: &judged.verdict,
        claims: &claims,
        attributes: attribute_facts(counted, draft),
        group_sizes: group_sizes(&draft.recoding),
        risk: risk_facts(counted, &draft.recoding),
        by_height: draft.by_height.clone(),
    };
    let report = report::html(&facts);
    let certificate_text = format!("{}\n", serde_json::to_string_pretty(&certificate).expect("a certificate is JSON"));
    commit(written.staged, files, &certificate_text, &report, replace)?;
    Ok(Published { certificate, account, verdict, holds: true })
}

/// Refuses to promise a value that nobody has ordered and that the release does not show: an offer relaxes t, δ, β and
/// k-map to what is just reached, and that tells of suppressed records and of the population.
fn check_ordered(counted: &Counted, draft: &Draft) -> Result<()> {
    let names = counted.sensitive_names();
    let tells = |criterion: &Criterion| {
        let is_ordered = draft.request.get(wire::key(criterion.measure, &names)) == Some(&wire::value(*criterion));
        let is_shown = wire::is_shown(criterion.measure, draft.n_suppressed);
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

/// The release and what stands beside it, and the key that its report will hold.
pub struct Files {
    pub release: PathBuf,
    pub certificate: PathBuf,
    pub report: PathBuf,
    pub key: Key,
}

impl Files {
    fn beside(release: &Path) -> Result<Files> {
        let with = |ending: &str| {
            let mut name = release.as_os_str().to_owned();
            name.push(ending);
            PathBuf::from(name)
        };
        Ok(Files {
            release: release.to_path_buf(),
            certificate: with(".certificate.json"),
            report: with(".report.html"),
            key: Key::random()?,
        })
    }

    /// Refuses to write over something before any work is done.
    fn check(&self, project: &Project, replace: bool) -> Result<()> {
        let files = [&self.release, &self.certificate, &self.report];
        files.into_iter().try_for_each(|path| project.check_output(path))?;
        if let Some(folder) = files.into_iter().find(|path| path.is_dir()) {
            return Err(Error::new(ErrorKind::Io, "is a folder, not a file").at(folder.display().to_string()));
        }
        match files.into_iter().find(|path| !replace && path.symlink_metadata().is_ok()) {
            Some(path) => Err(is_taken(&self.release, &self.certificate, path)),
            None => Ok(()),
        }
    }
}

/// Finds the offer to publish; none where the answer is no.
fn agree(
    args: &Args,
    project: &Project,
    privacy: &Privacy,
    counted: &Counted,
    talk: &Talk,
) -> Result<Option<Agreed<'static>>> {
    let n_records = counted.counts.n_records();
    let criteria = &privacy.criteria;
    check_criteria(criteria, n_records, &counted.n_sensitive_values())?;
    if let Some(levels) = &args.levels {
        let exact = Scheme::new(vec![incrowd::Level(0); counted.hierarchies.len()]);
        let scheme = with_levels(&exact, levels, &counted.hierarchies)?;
        let yardstick = counted.yardstick(criteria.iter().map(|criterion| criterion.measure))?;
        let offer = offer_of_levels(counted, &yardstick, scheme, privacy)?;
        if args.request.exceeds_suppression(project, &offer, n_records)? {
            talk.say(format!(
                "At these levels {} of {} records would be lost, more than may be.",
                grouped(offer.n_suppressed),
                grouped(n_records)
            ));
            talk.json(&json!({ "published": false, "n_suppressed": offer.n_suppressed, "n_records": n_records }));
            talk.note("\nNothing was published. Choose coarser levels, or allow it with --max-suppressed.");
            return Ok(None);
        }
        return Ok(Some(Agreed { offer, choice: "levels", request: Value::Null, lattice: None, search: None }));
    }
    let request = args.request.resolve(project, privacy, &counted.hierarchies, n_records)?;
    let lattice = annotate(&args.extent, &args.project, counted, criteria, &request.best_by, talk)?;
    let Answered { scope, answer, found, lattice } = match lattice {
        Some(lattice) => answer_from(lattice, counted, &request)?,
        None => {
            // Whoever presses Ctrl-C wants nothing published: only the time ends a search with the best so far.
            let searched = args.project.negotiate_on_demand(counted, &request, &args.time, CtrlC::EndsAll, talk)?;
            let answer = searched.found.answer.clone();
            Answered { scope: searched.scope, answer, found: Some(searched.found), lattice: None }
        }
    };
    match chosen(&answer, args.offer) {
        Some((offer, choice)) => {
            let selection = lattice.as_ref().and_then(Lattice::selection);
            let search = match &found {
                Some(found) => Some(search_of(&scope, selection, &request, found, choice.name())),
                None => scope.n_schemes().map(sentences::found_in_whole_lattice),
            };
            let request = wire::request(&scope, &request);
            let lattice = lattice.filter(|lattice| lattice.schemes().is_complete()).map(Cow::Owned);
            Ok(Some(Agreed { offer, choice: choice.name(), request, lattice, search }))
        }
        None => {
            say_no(&scope, &request, &answer, args.offer, talk);
            Ok(None)
        }
    }
}

/// An answer, and where it comes from.
struct Answered {
    scope: Scope,
    answer: Answer,
    /// What is proved about it; nothing where the whole lattice has answered.
    found: Option<FoundAnswer>,
    lattice: Option<Lattice>,
}

/// Answers from a lattice; of a partial one it is said what that proves among all schemes.
fn answer_from(mut lattice: Lattice, counted: &Counted, request: &Request) -> Result<Answered> {
    if lattice.selection().is_none() {
        let answer = negotiate(&lattice, request)?;
        return Ok(Answered { scope: (*lattice).clone(), answer, found: None, lattice: Some(lattice) });
    }
    let (weights, yardstick) = (counted.weights(), counted.yardstick(lattice.measures().iter().copied())?);
    let with_entropy = lattice.entropies().is_some();
    let plan = Plan { weights: &weights, yardstick: &yardstick, with_entropy };
    lattice.extend(&counted.counts, &plan, &request.level_max)?;
    let answer = negotiate(&lattice, request)?;
    let found = prove(&lattice, &counted.counts, &plan, request, answer.clone())?;
    Ok(Answered { scope: (*lattice).clone(), answer, found: Some(found), lattice: Some(lattice) })
}

/// What publishing levels of one's own choice would give.
pub fn offer_of_levels(counted: &Counted, yardstick: &Yardstick, scheme: Scheme, privacy: &Privacy) -> Result<Offer> {
    let weights = counted.weights();
    let plan = Plan { weights: &weights, yardstick, with_entropy: false };
    let criteria = &privacy.criteria;
    let (groups, outcome) = outcome_of(&counted.counts, &counted.hierarchies, &plan, &scheme, criteria)?;
    let levels: Vec<u8> = scheme.levels().iter().map(|level| level.0).collect();
    let tops: Vec<u8> = counted.hierarchies.iter().map(|hierarchy| hierarchy.top() as u8).collect();
    let losses = Losses::new(&outcome, &levels, &tops, counted.counts.n_records(), None);
    Ok(Offer::new(scheme, criteria.clone(), &groups, outcome, losses))
}

/// The offer that was chosen; who would accept an offer accepts the answer that needs none.
pub fn chosen(answer: &Answer, choice: Choice) -> Option<(Offer, Choice)> {
    let offer = match (answer, choice) {
        (Answer::Exact(offer), _) => return Some((offer.clone(), Choice::Exact)),
        (Answer::Offers(_), Choice::Exact) => None,
        (Answer::Offers(offers), Choice::Suppression) => Some(offers.suppression.clone()),
        (Answer::Offers(offers), Choice::Height) => offers.height.clone(),
        (Answer::Offers(offers), Choice::Privacy) => offers.privacy.clone(),
    };
    offer.map(|offer| (offer, choice))
}

fn say_no(scope: &Scope, request: &Request, answer: &Answer, choice: Choice, talk: &Talk) {
    talk.json(&sentences::answer(scope, request, answer));
    say_answer(scope, request, answer, talk);
    talk.note(match choice {
        Choice::Exact => {
            "\nNothing was published. Take an offer with --offer suppression, height or privacy.".to_string()
        }
        other => format!("\nNothing was published: there is no {} offer.", other.name()),
    });
}

/// A release that is written but has no name yet.
struct Written {
    staged: Staged,
    columns: Vec<Column>,
    n_suppressed: u64,
    n_published: u64,
}

/// How much is sorted in memory before it goes to disk: of published records, and of those that wait for their group.
const N_SORT_BYTES: usize = 384 << 20;
const N_WAITING_BYTES: usize = 128 << 20;

fn write_release(
    project: &Project,
    counted: &Counted,
    draft: &Draft,
    format: Format,
    columns: Vec<Column>,
    output: &Path,
    talk: &Talk,
) -> Result<Written> {
    let recoding = &draft.recoding;
    let names = columns.iter().map(|column| source_name(counted, column));
    let needed = needed_columns(&counted.source, names, &project.missing);
    let staged = Staged::create(output)?;
    let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let (mut sorter, mut waiting) = (Sorter::new(folder, N_SORT_BYTES), Sorter::new(folder, N_WAITING_BYTES));
    let mut publisher = Publisher::new(&counted.counts, recoding, &project.missing, columns.clone());
    if format != Format::Parquet {
        publisher = publisher.writing_missing_as(project.missing.label());
    }
    // Texts from CSV get their types from all that is published.
    let is_counted: Vec<bool> =
        columns.iter().map(|column| is_counted(counted, source_name(counted, column))).collect();
    let mut kinds = (format == Format::Parquet && counted.source.is_text()).then(|| Kinds::new(&is_counted));
    let mut uniques = Uniques::new(project, &columns);
    let mut n_published = 0;
    let mut take = |row: Row| {
        if let Some(kinds) = &mut kinds {
            kinds.see(&row.cells());
        }
        uniques.see(&row);
        n_published += 1;
        sorter.push(row)
    };
    let bar = talk.bytes("publishing", counted.source.n_bytes());
    counted.source.for_each(&needed, |batch, n_bytes| {
        go_on(&bar)?;
        let recoded = publisher.recode(&batch)?;
        recoded.rows.into_iter().try_for_each(&mut take)?;
        recoded.waiting.into_iter().try_for_each(|row| waiting.push(row))?;
        bar.inc(n_bytes);
        Ok(())
    })?;
    waiting.for_each(|row| {
        go_on(&bar)?;
        publisher.settle(&row)?.map_or(Ok(()), &mut take)
    })?;
    publisher.finish()?;
    bar.finish_and_clear();
    uniques.check()?;
    let typed = typed_columns(counted, recoding, &columns, kinds.as_ref());
    if kinds.is_some_and(|kinds| !kinds.are_said_as_written(&typed)) {
        sorter = sorted_as_said(sorter, &typed, folder)?;
    }
    let mut sink = Sink::new(staged.file(), output, format, &typed)?;
    let bar = talk.things("writing", n_published, "records");
    sorter.for_each(|row| {
        go_on(&bar)?;
        bar.inc(1);
        sink.write(&row)
    })?;
    sink.finish()?;
    bar.finish_and_clear();
    let n_suppressed = publisher.n_suppressed();
    Ok(Written { staged, columns, n_suppressed, n_published })
}

/// The same rows in the order of what the file says: a number `1.50` is read back as `1.5`.
fn sorted_as_said(sorter: Sorter, typed: &[TypedColumn], folder: &Path) -> Result<Sorter> {
    let mut again = Sorter::new(folder, N_SORT_BYTES);
    sorter.for_each(|row| {
        let said = |(cell, column): (Option<String>, &TypedColumn)| cell.map(|text| said(text, &column.data_type));
        again.push(Row::new(row.cells().into_iter().zip(typed).map(said)))
    })?;
    Ok(again)
}

/// The columns of the release, in the order of the table.
fn published_columns(project: &Project, counted: &Counted, two_columns: bool) -> Result<Vec<Column>> {
    let column = |name: String| {
        let index = counted.quasi_identifiers.iter().position(|attribute| attribute.name == name);
        if let Some(index) = index {
            return match two_columns && counted.is_numeric(index) {
                true => {
                    vec![Column::Low(index, format!("{name}_low")), Column::High(index, format!("{name}_high"))]
                }
                false => vec![Column::Recoded(index, name)],
            };
        }
        let attribute = project.attributes.iter().find(|attribute| attribute.name == name);
        match attribute.map(|attribute| attribute.role) {
            Some(Role::Identifier) => vec![],
            // Left out of this run with --quasi-identifiers: nobody vouches for it, so it is not published.
            Some(Role::QuasiIdentifier) => vec![],
            Some(Role::Sensitive | Role::Other) => vec![Column::Kept(name)],
            None if project.keep_other => vec![Column::Kept(name)],
            None => vec![],
        }
    };
    let columns: Vec<Column> = counted.source.column_names().into_iter().flat_map(column).collect();
    let mut names: Vec<&str> = columns.iter().map(Column::name).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(Error::new(ErrorKind::Request, format!("two columns would be called '{}'", pair[0]))
            .hint("leave out --two-columns, or rename the column in the data")),
        None => Ok(columns),
    }
}

/// The column of the table that a column of the release is made of.
fn source_name<'a>(counted: &'a Counted, column: &'a Column) -> &'a str {
    match column {
        Column::Low(a, _) | Column::High(a, _) => &counted.quasi_identifiers[*a].name,
        Column::Recoded(_, name) | Column::Kept(name) => name,
    }
}

/// The columns of the release that someone could be found by.
fn identifying_columns(counted: &Counted, columns: &[Column]) -> Vec<String> {
    let of_attribute = |attribute: usize| {
        columns.iter().filter(move |column| match column {
            Column::Recoded(a, _) | Column::Low(a, _) | Column::High(a, _) => *a == attribute,
            Column::Kept(_) => false,
        })
    };
    (0..counted.hierarchies.len()).flat_map(of_attribute).map(|column| column.name().to_string()).collect()
}

/// What the texts of each column have in common.
struct Kinds {
    kinds: Vec<Option<Kind>>,
    all_are_plain_dates: Vec<bool>,
    /// Whether every number fits a decimal of the computer without loss.
    all_are_short: Vec<bool>,
    /// Of columns that groups are made of, by number, how it is written.
    written: Vec<Option<HashMap<u64, String>>>,
    /// Whether a number of such a column is written in two ways.
    is_ambiguous: Vec<bool>,
    /// Whether every text would be the same if it were read as a number and written again.
    all_are_numbers_as_written: Vec<bool>,
}

impl Kinds {
    /// Says of each column whether groups are made of it.
    fn new(is_counted: &[bool]) -> Kinds {
        let n_columns = is_counted.len();
        Kinds {
            kinds: vec![None; n_columns],
            all_are_plain_dates: vec![true; n_columns],
            all_are_short: vec![true; n_columns],
            written: is_counted.iter().map(|is_counted| is_counted.then(HashMap::new)).collect(),
            is_ambiguous: vec![false; n_columns],
            all_are_numbers_as_written: vec![true; n_columns],
        }
    }

    fn see(&mut self, cells: &[Option<String>]) {
        for (i, cell) in cells.iter().enumerate() {
            let Some(cell) = cell else { continue };
            let kind = Kind::of(cell);
            self.kinds[i] = Some(self.kinds[i].map_or(kind, |known| known.join(kind)));
            self.all_are_plain_dates[i] &= cell.len() == 10;
            self.all_are_short[i] &= cell.bytes().filter(u8::is_ascii_digit).count() <= 15;
            self.all_are_numbers_as_written[i] &= !kind.is_numeric() || said(cell.clone(), &DataType::Float64) == *cell;
            if !matches!(kind, Kind::Integer | Kind::Number) {
                continue;
            }
            let (Some(written), Ok(number)) = (&mut self.written[i], cell.parse::<f64>()) else { continue };
            // 0 and -0 are one number.
            let known = written.entry((number + 0.0).to_bits()).or_insert_with(|| cell.clone());
            self.is_ambiguous[i] |= known != cell;
        }
    }

    /// Whether a file with these types says all texts as they are.
    fn are_said_as_written(&self, typed: &[TypedColumn]) -> bool {
        let is_number = |column: &TypedColumn| column.data_type == DataType::Float64;
        typed.iter().zip(&self.all_are_numbers_as_written).all(|(column, are_same)| *are_same || !is_number(column))
    }
}

/// How a typed file says a text, which is of that type: numbers lose how they were written, nothing else does.
fn said(text: String, data_type: &DataType) -> String {
    match (data_type, text.parse::<f64>()) {
        (DataType::Float64, Ok(number)) => number.to_string(),
        _ => text,
    }
}

fn is_counted(counted: &Counted, name: &str) -> bool {
    counted.counts.domains().iter().chain(counted.counts.sensitive()).any(|domain| domain.name() == name)
}

fn typed_columns(
    counted: &Counted,
    recoding: &Recoding,
    columns: &[Column],
    kinds: Option<&Kinds>,
) -> Vec<TypedColumn> {
    let typed = |(i, column): (usize, &Column)| {
        let is_text = matches!(column, Column::Recoded(a, _) if !recoding.is_exact(*a));
        let name = source_name(counted, column);
        let field = counted.source.schema().field_with_name(name).expect("columns come from the schema");
        let data_type = match kinds {
            _ if is_text => DataType::Utf8,
            // Groups are told apart by what is written: 1 and 1.0 are two values, and one number.
            Some(kinds) if kinds.is_ambiguous[i] => DataType::Utf8,
            Some(kinds) if kinds.kinds[i] == Some(Kind::Number) && !kinds.all_are_short[i] => DataType::Utf8,
            Some(kinds) => type_of_kind(kinds.kinds[i].unwrap_or(Kind::Text), kinds.all_are_plain_dates[i]),
            None => kept_type(field.data_type()),
        };
        TypedColumn { name: column.name().to_string(), data_type }
    };
    columns.iter().enumerate().map(typed).collect()
}

fn certificate(
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
        Way::Global(_) => (GLOBAL, None, None),
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
        format_version: Certificate::FORMAT_VERSION,
        version: env!("CARGO_PKG_VERSION").to_string(),
        method: method.to_string(),
        request: draft.request.clone(),
        choice: draft.choice.to_string(),
        cells,
        search: None,
        criteria: promised.collect(),
        quasi_identifiers: identifying_columns(counted, &written.columns),
        sensitive,
        original: Map::new(),
        dealt: None,
        per_record,
        columns: written.columns.iter().map(|column| column.name().to_string()).collect(),
        delimiter: match format {
            Format::Csv { delimiter } => Some(char::from(delimiter)),
            Format::Parquet => None,
        },
        levels: scheme.map_or(Value::Null, |scheme| wire::levels(&names, scheme)),
        level_names: scheme.map_or(Value::Null, level_names),
        height: scheme.map(Scheme::height),
        n_records_read: counts.n_records() + counts.n_dropped(),
        n_records_dropped: counts.n_dropped(),
        n_records_suppressed: written.n_suppressed,
        n_records_published: written.n_published,
        n_groups: draft.n_groups,
        smallest_group: draft.smallest_group,
        fewest_distinct: draft.fewest_distinct,
        loss: Value::Null,
        order: format!("sorted by the published values, so that the order of the input is lost; {choices}"),
        sorted: true,
        seed,
        input: marked(&sources.input),
        hierarchies: marked(&sources.hierarchies),
        output: FileHash { name: file_name(&files.release), ..FileHash::default() },
    }
}

/// What the signer knows beside the certificate.
fn account(draft: &Draft, certificate: &Certificate, judged: &Judged, sources: SourceFiles, files: &Files) -> Account {
    let SourceFiles { input, hierarchies } = sources;
    let dictionary = draft.per_record.as_ref().and_then(|(facts, _)| facts.dictionary.clone());
    Account {
        key: files.key.clone(),
        files: input.into_iter().chain(hierarchies).chain(dictionary).collect(),
        loss: draft.loss.clone(),
        search: draft.search.clone(),
        criteria: criteria_reached(judged, &certificate.sensitive, |_| true),
        per_record: draft.per_record.as_ref().map(|(_, outcome)| outcome.clone()),
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
fn judge_staged(path: &Path, format: Format, certificate: &Certificate, all: Outside, talk: &Talk) -> Result<Judged> {
    let delimiter = match format {
        Format::Csv { delimiter } => Some(delimiter),
        Format::Parquet => None,
    };
    let question = Question {
        quasi_identifiers: &certificate.quasi_identifiers,
        sensitive: &certificate.sensitive,
        criteria: &certificate.promised().expect("the certificate was just made"),
        with_order: certificate.sorted,
    };
    judge(path, delimiter, &question, |_| all, SuppressedAs::Group, talk)
}

/// Adds to the certificate what only the finished file can tell.
fn completed(
    mut certificate: Certificate,
    judged: &Judged,
    counted: &Counted,
    missing: &Option<String>,
) -> Certificate {
    let criteria = certificate.promised().expect("the certificate was just made");
    let is_whole = certificate.n_records_suppressed == 0;
    certificate.original = distances_for_certificate(counted, &criteria, &judged.file, missing, is_whole);
    certificate.criteria = criteria_reached(judged, &certificate.sensitive, |measure| certificate.shows(measure));
    certificate.loss = wire::losses_of_release(&judged.verdict);
    certificate.output.sha256 = judged.sha256.clone();
    certificate
}

fn attribute_facts(counted: &Counted, draft: &Draft) -> Vec<AttributeFacts> {
    let recoding = &draft.recoding;
    let sizes = recoding.sizes();
    let facts = |(a, hierarchy): (usize, &Hierarchy)| {
        let penalties = ncp_of_cells(hierarchy, recoding, a);
        let mut is_published = vec![false; penalties.len()];
        let (mut n_records, mut loss) = (0u64, 0.0);
        for (group, &size) in sizes.iter().enumerate() {
            let cell = recoding.row(group)[a] as usize;
            is_published[cell] = true;
            n_records += size;
            loss += size as f64 * penalties[cell];
        }
        let published = || (0..penalties.len()).filter(|&code| is_published[code]);
        let published_as = match draft.way {
            Way::Global(scheme) => PublishedAs::Level {
                level: scheme.level(a),
                n_levels: hierarchy.n_levels(),
                name: hierarchy.level(scheme.level(a)).phrase().to_string(),
            },
            Way::Local(local) => PublishedAs::Own(cells_in_words(local, counted.is_numeric(a))),
            Way::PerRecord(_) => PublishedAs::Own("labels of the hierarchy"),
        };
        AttributeFacts {
            name: hierarchy.attribute().to_string(),
            published_as,
            n_labels: published().count(),
            samples: published().take(4).map(|code| recoding.cells(a)[code].text.clone()).collect(),
            ncp: loss / n_records.max(1) as f64,
        }
    };
    counted.hierarchies.iter().enumerate().map(facts).collect()
}

/// What stands in the cells of a local method.
fn cells_in_words(local: &Local, is_numeric: bool) -> &'static str {
    match (local.style, is_numeric) {
        _ if is_numeric && local.two_columns => "lowest and highest value, in two columns",
        (CellStyle::Ranges | CellStyle::Sets, true) => "ranges",
        (CellStyle::Midpoints, true) => "middles of ranges",
        (CellStyle::Rounded, true) => "ranges rounded to the steps of the hierarchy",
        (CellStyle::Sets, false) => "sets of values",
        (CellStyle::Labels, _) | (CellStyle::Ranges | CellStyle::Midpoints | CellStyle::Rounded, false) => {
            "labels of the hierarchy"
        }
    }
}

fn group_sizes(recoding: &Recoding) -> Vec<(u64, u64)> {
    let mut by_size = BTreeMap::new();
    recoding.sizes_as_seen().into_iter().for_each(|size| *by_size.entry(size).or_insert(0) += 1);
    by_size.into_iter().collect()
}

/// A record is at risk above this: fewer than five are alike.
const RISK_THRESHOLD: f64 = 0.2;

/// Shares of the population that a file may be, where nobody says it.
const SHARES_SAMPLED: [f64; 3] = [0.01, 0.1, 0.5];

/// How likely people are to be found in a release, as its readers see it.
fn risk_facts(counted: &Counted, recoding: &Recoding) -> Option<RiskFacts> {
    if recoding.n_groups() == 0 {
        return None;
    }
    // A population that is too large to be looked up counts as unknown: the worst case.
    let population = counted.counts.population();
    let people = population.and_then(|_| Dictionary::new(&counted.counts, &counted.hierarchies, Match::Exact).ok());
    // Groups that look alike are one; of the people whom they fit, those of the larger one are counted, which errs on
    // the safe side.
    let mut groups: BTreeMap<Vec<u32>, (u64, Option<u64>)> = BTreeMap::new();
    for ((group, cells), size) in recoding.rows_as_seen().enumerate().zip(recoding.sizes()) {
        let spans: Vec<&Span> = (0..recoding.n_attributes()).map(|a| &recoding.cell(group, a).span).collect();
        let alike = people.as_ref().map(|people| people.n_fitting_spans(&spans));
        let (n_records, most_alike) = groups.entry(cells).or_default();
        *n_records += size;
        *most_alike = alike.max(*most_alike);
    }
    let found = risks(groups.values().copied(), RISK_THRESHOLD);
    let sizes: Vec<u64> = groups.values().map(|(size, _)| *size).collect();
    let names: Vec<&str> = counted.hierarchies.iter().map(|hierarchy| hierarchy.attribute()).collect();
    let rows: Vec<(Vec<u32>, u64)> = groups.into_iter().map(|(cells, (size, _))| (cells, size)).collect();
    Some(RiskFacts {
        threshold: RISK_THRESHOLD,
        found,
        unique_in_population: SHARES_SAMPLED.map(|p| (p, estimated_unique_in_population(&sizes, p))).into(),
        contributions: contributions_of(&names, &rows),
    })
}

fn height_facts(agreed: &Agreed) -> Vec<HeightFacts> {
    let Some(lattice) = &agreed.lattice else { return Vec::new() };
    by_height(lattice, &agreed.offer.criteria)
        .iter()
        .map(|summary| HeightFacts {
            height: summary.height,
            n_suppressed_min: summary.n_suppressed.0,
            n_suppressed_mean: summary.n_suppressed.1,
            n_suppressed_max: summary.n_suppressed.2,
        })
        .collect()
}

/// Lets nobody else read a file: the report has the key.
fn for_the_signer(file: &std::fs::File) -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
    }
    let _ = file;
    Ok(())
}

/// Gives the files their names: all of them, or none.
fn commit(release: Staged, files: &Files, certificate: &str, report: &str, replace: bool) -> Result<()> {
    use std::io::Write;
    let stage = |path: &Path, text: &str| {
        let staged = Staged::create(path)?;
        staged.file().write_all(text.as_bytes()).map_err(|error| crate::io_error(path, error))?;
        Ok::<Staged, Error>(staged)
    };
    let (report, certificate) = (stage(&files.report, report)?, stage(&files.certificate, certificate)?);
    for_the_signer(report.file()).map_err(|error| crate::io_error(&files.report, error))?;
    give_names(Trio { release, report, certificate }, replace)
}

fn say_published(files: &Files, published: &Published, talk: &Talk) {
    let Published { certificate, account, .. } = published;
    let mut said = json!({
        "published": true,
        "release": files.release.display().to_string(),
        "certificate": files.certificate.display().to_string(),
        "report": files.report.display().to_string(),
        "method": certificate.method,
        "choice": certificate.choice,
        "levels": certificate.levels,
        "criteria": account.criteria,
        "n_records_published": certificate.n_records_published,
        "n_records_suppressed": certificate.n_records_suppressed,
        "n_records_dropped": certificate.n_records_dropped,
        "n_groups": certificate.n_groups,
        "smallest_group": certificate.smallest_group,
        "loss": account.loss,
        "order": certificate.order,
    });
    if let (Some(per_record), Some(outcome)) = (&certificate.per_record, &account.per_record) {
        let (mut all, outcome) = (json!(per_record), json!(outcome));
        all.as_object_mut().into_iter().for_each(|all| all.extend(outcome.as_object().cloned().unwrap_or_default()));
        said["per_record"] = all;
    }
    if let Some(dealt) = &certificate.dealt {
        said["dealt"] = dealt.summary();
    }
    if let Some(search) = &account.search {
        said["search"] = json!(search);
    }
    talk.json(&said);
    let reached: Vec<String> = account
        .criteria
        .iter()
        .map(|(name, entry)| format!("{name} = {} (promised {})", entry["reached"], entry["promised"]))
        .collect();
    talk.say(format!(
        "Published {} in {}; {} suppressed. Verified: {}.",
        counted_words(certificate.n_records_published, "record"),
        counted_words(certificate.n_groups, "group"),
        grouped(certificate.n_records_suppressed),
        if reached.is_empty() { "the file is what its certificate says".to_string() } else { reached.join(", ") }
    ));
    if let Some(dealt) = &certificate.dealt {
        talk.say(format!("Values were {}.", sentences::dealt_in_words(dealt)));
    }
    if let (Some(per_record), Some(outcome)) = (&certificate.per_record, &account.per_record) {
        talk.say(&per_record.statement);
        let Distribution { median, mean, greatest, .. } = outcome.risk;
        talk.say(format!(
            "  risk         mean {mean}, median {median}, greatest {greatest} ({})",
            per_record.risk_model
        ));
        let Distribution { least, median, mean, .. } = outcome.utility;
        talk.say(format!(
            "  utility      mean {mean}, median {median}, least {least} of {} ({})",
            outcome.greatest_utility, per_record.utility_model
        ));
    }
    if let Some(search) = &account.search {
        talk.say(format!("  scheme       {}", search.statement));
    }
    talk.say(format!("  release      {}", files.release.display()));
    talk.say(format!("  certificate  {}", files.certificate.display()));
    talk.say(format!("  report       {} (for you: it tells what the release does not)", files.report.display()));
}
