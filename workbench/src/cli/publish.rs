//! `incrowd publish`: flags to an order, and what came of it in words.

use std::path::PathBuf;

use crate::sentences;
use crate::sentences::{counted_words, grouped, percent};
use clap::builder::PossibleValue;
use incrowd::recode::method::Method;
use incrowd::recode::partition::CellStyle;
use incrowd::wire::Distribution;
use incrowd::{Error, ErrorKind, Result};

use super::arguments::{ExtentArgs, PerRecordArgs, ProjectArgs, RequestArgs, TIME, levels, parse_time};
use super::negotiate::say_answer;
use super::negotiate_local;
use super::terminal::{Exit, Terminal};
use crate::input::database::dialect::Dialect;
use crate::input::project::Project;
use crate::orders::Rules;
use crate::orders::extent::Otherwise;
use crate::orders::known::Known;
use crate::orders::local::{Local, LocallyMade, method_named};
use crate::orders::negotiate_local::{CutChoice, LossLimits};
use crate::orders::per_record::{Outcome, PER_RECORD, PerRecordWish, check_one_by_one, published_search};
use crate::orders::publish::{
    AnswerChoice, CutWish, Expansion, Files, Form, GLOBAL, NewTable, No, Ordered, Publish, PublishBy, Published,
    prepare,
};
use crate::output::account::Key;
use crate::words::releases;

/// Publish the exact answer, one of the offers, levels of your choice, or what a local method makes
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
The release appears under its name only after `verify` has passed, with a certificate and a report beside it. \
Records are sorted by what is published, so that their order says nothing about the order of the input.

--method global generalizes an attribute to one level for all records. The other methods are local: every group gets \
ranges of its own, which loses less, no record is suppressed unless --max-suppressed allows it, and every group keeps all \
criteria by construction. --method deal makes groups of k or k + 1 records (more, where groups look alike) in which every \
sensitive value is as frequent as in the table, to one record; k holds by construction, other criteria are checked on the \
groups, and nothing is published where one fails. How much an attribute matters to the analyst is its weight in the project \
file. `incrowd compare` shows what each method would lose.

Columns that are published as they are (sensitive, other) can tell what is generalized. Where one tells it of nearly all \
records and leaves somebody among fewer than k, nothing is published, unless the project says tells = \"accepted\" of it; \
weaker relations are notes.

Where an identifier of the project repeats, as subjects do in a table of events, nothing is published until the project says \
what is counted: role = \"person\" on the column counts people, records = \"independent\" under [data] counts records.

--method per-record generalizes every record on its own, to the least risk that leaves enough utility. Such a release is \
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
  incrowd publish --local --k 10 --l 3 --max-suppressed 1% --max-loss 10% -o release.csv
  incrowd publish --k 10 --into public.discharges_k10
  incrowd publish --k 10 --into discharges_k10 --database postgresql://curator@db/shared
  incrowd publish --k 10 --rows -o rows.csv --sql --into public.discharges_k10 > expand.sql
  incrowd publish --method per-record --utility-at-least 60% -o release.csv
  incrowd publish --method per-record --risk identity --risk-at-most 0.1 --also-k 5 -o release.csv")]
pub struct Args {
    #[command(flatten)]
    pub project: ProjectArgs,
    #[command(flatten)]
    pub request: RequestArgs,
    /// Which answer to publish
    #[arg(long, value_enum, default_value_t = OfferName::Exact)]
    pub offer: OfferName,
    /// Publish an answer over local recoding: ranges of their own for every group, as `negotiate --local` found them
    #[arg(long)]
    pub local: bool,
    /// With --local, the most that records may lose on average: 10% in all, age=5% of an attribute; may be given several times
    #[arg(long, value_name = "P%|A=P%", value_delimiter = ',', requires = "local")]
    pub max_loss: Vec<String>,
    /// Publish these levels instead of an answer; an attribute not named stays exact
    #[arg(long, value_name = "A=LEVEL,…", value_delimiter = ',', conflicts_with = "offer")]
    pub levels: Option<Vec<String>>,
    /// How to generalize
    #[arg(long, value_name = "METHOD", default_value = GLOBAL, value_parser = methods())]
    pub method: String,
    /// How cells of a local method are written: [24-30] and labels, labels only, sets of categories, midpoints, rounded
    /// outwards to the steps of the hierarchy, [20-34], or the value and otherwise *. Only `labels`, `rounded` and `stars` do
    /// not tell that a record has each end
    /// [default: ranges]
    #[arg(long, value_name = "STYLE", value_parser = CellStyle::ALL.map(CellStyle::name))]
    pub cells: Option<String>,
    /// Write ranges of numbers and dates as two columns, NAME_low and NAME_high
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
    /// As the method's paper prints it, for comparison. With --method top-down, bottom-up, deal or per-record
    #[arg(long)]
    pub as_published: bool,
    #[command(flatten)]
    pub per_record: PerRecordArgs,
    /// With --method per-record --as-published: which of the paper's searches [default: best-first]
    #[arg(long, value_name = "SEARCH", value_parser = ["best-first", "walk"], help_heading = PER_RECORD)]
    pub search: Option<String>,
    /// File to write, .csv, .parquet, .sav or .dta [default: release.csv in the project's folder]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write distinct rows, each with how many records say it (column n), instead of records
    #[arg(long)]
    pub rows: bool,
    /// Print the statement that makes records of the rows where they are loaded, as a table with the name of the file
    #[arg(long, requires = "rows")]
    pub sql: bool,
    /// Whose SQL it is [default: postgresql]
    #[arg(long, value_name = "DIALECT", requires = "sql", value_parser = Dialect::ALL.map(Dialect::name))]
    pub dialect: Option<String>,
    /// Make a table of the project's database, in one transaction, instead of a file; with --sql, the table that the
    /// statement makes [default: release]
    #[arg(long, value_name = "TABLE")]
    pub into: Option<String>,
    /// With --into, make it in this database, wherever the data are: postgresql://user@host/database, sqlite:FILE, duckdb:FILE
    #[arg(long, value_name = "ADDRESS", requires = "into", conflicts_with = "sql")]
    pub database: Option<String>,
    /// The column that analysts want to predict or explain, for the report: any that is published
    #[arg(long, value_name = "ATTRIBUTE")]
    pub target: Option<String>,
    /// Replace files that are there already
    #[arg(long)]
    pub force: bool,
    /// The signer's key, 64 digits from 0 to f: the same key gives the same certificate [default: a new one]
    #[arg(long, value_name = "HEX")]
    pub key: Option<String>,
    #[command(flatten)]
    pub extent: ExtentArgs,
    /// How long to search on demand, such as 30s, 5m or 2h; then the best so far is published, and said to be that
    /// [default: 1m]. With a local method, how long to improve its groups [default: not at all]
    #[arg(long, value_name = "TIME")]
    pub time: Option<String>,
    /// Improve the groups of a local method by at most so many steps; the certificate says how many --time came to
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub steps: Option<u64>,
}

fn methods() -> clap::builder::PossibleValuesParser {
    let global = PossibleValue::new(GLOBAL).help("one level per attribute, the same for all records");
    let local = Method::ALL.map(|method| PossibleValue::new(method.name()).help(method.words()));
    let published = Method::AS_PUBLISHED.map(|method| PossibleValue::new(method.name()).hide(true));
    let single = PossibleValue::new(PER_RECORD).help("every record on its own, risk against utility; not k-anonymous");
    std::iter::once(global).chain(local).chain(published).chain([single]).collect::<Vec<_>>().into()
}

/// The answers that can be published.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum OfferName {
    /// The answer that meets the request
    Exact,
    /// The offer that loses more records
    Suppression,
    /// The offer that generalizes otherwise
    Height,
    /// With --local, the offer that loses more of the values
    Loss,
    /// The offer that promises less
    Privacy,
}

impl OfferName {
    fn name(self) -> &'static str {
        match self {
            OfferName::Exact => "exact",
            OfferName::Suppression => "suppression",
            OfferName::Height => "height",
            OfferName::Loss => "loss",
            OfferName::Privacy => "privacy",
        }
    }
}

pub fn run(args: &Args, terminal: &Terminal) -> Result<Exit> {
    let project = args.project.open()?;
    let form = form(args)?;
    if let Some(table) = &form.table {
        return run_into(args, &project, table, terminal);
    }
    let output = args.output.clone().unwrap_or_else(|| project.folder.join("release.csv"));
    let mut files = prepare(&project, &output, args.force)?;
    if let Some(text) = &args.key {
        files.key = Key::parse(text)?;
    }
    files.rows = form.rows;
    let order = order(args)?;
    let work = args.project.work(terminal)?;
    match order.run(&project, &Known::default(), &Rules::default(), &files, args.force, &work)? {
        Ordered::Published(published) => {
            say_published(&files, &published, form.expansion.as_ref(), terminal);
            Ok(Exit::Done)
        }
        Ordered::No(no) => {
            say_why_not(&no, terminal);
            Ok(Exit::No)
        }
    }
}

/// What the flags want it written as.
fn form(args: &Args) -> Result<Form> {
    let dialect = args.dialect.as_deref().map_or(Ok(Dialect::default()), Dialect::parse)?;
    Form::new(
        args.rows,
        args.sql.then_some(dialect),
        args.into.clone(),
        args.database.as_deref(),
        args.output.is_some(),
    )
}

/// Publishes a table.
fn run_into(args: &Args, project: &Project, table: &NewTable, terminal: &Terminal) -> Result<Exit> {
    let key = args.key.as_deref().map(Key::parse).transpose()?;
    let work = args.project.work(terminal)?;
    match order(args)?.run_into(project, &Rules::default(), table, key, None, args.force, &work)? {
        (files, Ordered::Published(published)) => {
            say_published(&files, &published, None, terminal);
            Ok(Exit::Done)
        }
        (_, Ordered::No(no)) => {
            say_why_not(&no, terminal);
            Ok(Exit::No)
        }
    }
}

/// What the flags order; those that would do nothing are refused.
pub fn order(args: &Args) -> Result<Publish> {
    let way = match args.method.as_str() {
        PER_RECORD => {
            check_one_by_one(|name| is_given(args, name))?;
            let as_published = published_search(args.as_published, args.search.as_deref())?;
            PublishBy::PerRecord(Box::new(PerRecordWish { as_published, ..args.per_record.wish()? }))
        }
        method => {
            if let Some(flag) = args.per_record.first_given() {
                return Err(Error::new(
                    ErrorKind::Request,
                    format!("{flag} is about records that are generalized one by one"),
                )
                .hint(format!("leave it out, or take --method {PER_RECORD}")));
            }
            if args.local {
                return cut(args);
            }
            let local = local(args)?;
            match (local, &args.levels) {
                (Some(local), _) => {
                    args.project.check_no_lattice(method)?;
                    PublishBy::Local(local)
                }
                (None, Some(list)) => {
                    args.project.check_no_lattice("--levels")?;
                    PublishBy::Levels(levels(list)?)
                }
                (None, None) => {
                    let choice = AnswerChoice::parse(args.offer.name())?;
                    let time = parse_time(args.time.as_deref().unwrap_or(TIME))?;
                    PublishBy::Answer { choice, extent: args.extent.wish()?, time }
                }
            }
        }
    };
    let two_columns = args.two_columns && matches!(way, PublishBy::Answer { .. } | PublishBy::Levels(_));
    let (about, request, target) = (args.project.about(), args.request.given()?, args.target.clone());
    Ok(Publish { about, request, way, two_columns, target })
}

/// An answer over local recoding; flags that would do nothing are refused.
fn cut(args: &Args) -> Result<Publish> {
    let negotiated = Method::Negotiated.name();
    let choice = CutChoice::parse(args.offer.name())?;
    CutWish::check_method(&args.method)?;
    let mut as_method = Args { method: negotiated.to_string(), offer: OfferName::Exact, ..args.clone() };
    // Levels and other rankings the order itself refuses.
    (as_method.request.max_level, as_method.request.best_by) = (None, None);
    args.project.check_no_lattice("--local")?;
    let local = local(&as_method)?.expect("a method is named");
    let way = PublishBy::Cut(CutWish { choice, max_loss: LossLimits::parse(&args.max_loss)?, local });
    let (about, request, target) = (args.project.about(), args.request.given()?, args.target.clone());
    Ok(Publish { about, request, way, two_columns: false, target })
}

/// Whether a flag is given that says something to methods which look at groups of records.
fn is_given(args: &Args, name: &str) -> bool {
    match name {
        "k" => !args.request.criteria.texts().is_empty(),
        "max_suppressed" => args.request.max_suppressed.is_some(),
        "max_level" => args.request.max_level.is_some(),
        "best_by" => args.request.best_by.is_some(),
        "offer" => args.offer != OfferName::Exact,
        "levels" => args.levels.is_some(),
        "local" => args.local,
        "cells" => args.cells.is_some(),
        "two_columns" => args.two_columns,
        "seed" => args.seed.is_some(),
        "plain" => args.plain,
        "exchanges" => args.exchanges.is_some(),
        "steps" => args.steps.is_some(),
        "full" => args.extent.first_given().is_some(),
        _ => false,
    }
}

/// The local method that the flags ask for, if any; flags that would do nothing are refused.
fn local(args: &Args) -> Result<Option<Local>> {
    let refuse = |flag: &str, why: &str, hint: String| {
        Err(Error::new(ErrorKind::Request, format!("{flag} {why}")).hint(format!("leave it out, or {hint}")))
    };
    if args.method == GLOBAL {
        args.extent.check(Otherwise::OnDemand)?;
        if let (Some(flag), true) = (args.extent.first_given(), args.levels.is_some()) {
            return refuse(flag, "is about the search for a scheme", "leave out --levels".into());
        }
        let given = [
            ("--cells", args.cells.is_some()),
            ("--seed", args.seed.is_some()),
            ("--steps", args.steps.is_some()),
            ("--as-published", args.as_published),
            ("--search", args.search.is_some()),
        ];
        return match given.into_iter().find(|(_, is_given)| *is_given) {
            Some((flag, _)) => refuse(flag, "is about local methods", "choose one with --method top-down".into()),
            None => Ok(None),
        };
    }
    let given = [
        ("--offer", args.offer != OfferName::Exact),
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
    let style = args.cells.as_deref().and_then(CellStyle::parse);
    if args.search.is_some() {
        return refuse("--search", "is about single records", format!("take --method {PER_RECORD}"));
    }
    let method = method_named(&args.method, args.as_published)?;
    let local = Local::with_options(method, style, args.two_columns, args.seed, args.plain, args.exchanges)?;
    local.improved_by(args.steps, args.time.as_deref().map(parse_time).transpose()?).map(Some)
}

/// Says why nothing was published.
fn say_why_not(no: &No, terminal: &Terminal) {
    terminal.json(&releases::not_published(no));
    match no {
        No::NoSuchAnswer(answered) => {
            let (scope, request, floors, answer, choice) = &**answered;
            say_answer(scope, request, floors, answer, terminal);
            say_no(*choice, terminal);
        }
        No::NoSuchCut(answered) => {
            let (negotiated, choice) = &**answered;
            negotiate_local::say(negotiated, terminal);
            terminal.note(match choice {
                CutChoice::Exact => {
                    "\nNothing was published. Take an offer with --offer suppression, loss or privacy.".to_string()
                }
                other => format!("\nNothing was published: there is no {} offer.", other.name()),
            });
        }
        No::TooManyLost { n_suppressed, n_records } => {
            terminal.say(format!(
                "At these levels {} of {} records would be lost, more than may be.",
                grouped(*n_suppressed),
                grouped(*n_records)
            ));
            terminal.note("\nNothing was published. Choose coarser levels, or allow it with --max-suppressed.");
        }
        No::Missed(made) => say_missed(made, terminal),
        No::NotPossible(outcome) => say_not_possible(outcome, terminal),
        No::Broken(_) => {
            terminal.say("The release does not keep its promise; nothing was written.");
        }
    }
}

fn say_missed(made: &LocallyMade, terminal: &Terminal) {
    let (local, sensitive) = (&made.local, &made.sensitive);
    let missed = made.missed();
    for (criterion, reached, n_failing) in missed {
        terminal.say(format!(
            "{} of {} of {} miss {}: {} is reached.",
            grouped(n_failing as u64),
            counted_words(made.judgement.n_groups as u64, "group"),
            local.method.name(),
            sentences::criterion_in_words(criterion, sensitive),
            sentences::number_in_words(criterion.measure, reached),
        ));
    }
    let (why, advice) = made.why_missed();
    terminal.note(format!("\nNothing was published: {why}; {advice}."));
}

fn say_not_possible(outcome: &Outcome, terminal: &Terminal) {
    let advice = match outcome {
        Outcome::OutOfReach { .. } => "Ask for less, or for a share such as --utility-at-least 60%.",
        Outcome::TooRisky { .. } => "Allow more with --risk-at-most.",
        Outcome::Made(_) => return,
    };
    terminal.say(format!("{}.", outcome.words()));
    terminal.note(format!("\nNothing was published. {advice}"));
}

fn say_no(choice: AnswerChoice, terminal: &Terminal) {
    terminal.note(match choice {
        AnswerChoice::Exact => {
            "\nNothing was published. Take an offer with --offer suppression, height or privacy.".to_string()
        }
        other => format!("\nNothing was published: there is no {} offer.", other.name()),
    });
}

fn say_published(files: &Files, published: &Published, expansion: Option<&Expansion>, terminal: &Terminal) {
    let Published { certificate, account, .. } = published;
    terminal.json(&releases::published(files, published, expansion));
    if let Some(expansion) = expansion {
        // Nothing else goes where the statement does.
        terminal.say(format!("{};", expansion.statement(files, certificate)));
        terminal.note(format!("Published {}.", counted_words(certificate.n_records_published, "record")));
        return;
    }
    let reached: Vec<String> = releases::reached(account, certificate)
        .iter()
        .map(|(name, entry)| format!("{name} = {} (promised {})", entry["reached"], entry["promised"]))
        .collect();
    let n_complete = certificate.n_records_published + certificate.n_records_suppressed;
    let suppressed = match certificate.n_records_suppressed {
        0 => "0 suppressed".to_string(),
        n => format!("{} suppressed ({})", grouped(n), percent(n, n_complete)),
    };
    let dropped = match certificate.n_records_dropped {
        0 => String::new(),
        n => format!(", {} dropped for missing values", grouped(n)),
    };
    terminal.say(format!(
        "Published {} in {}; {suppressed}{dropped}. Verified: {}.",
        counted_words(certificate.n_records_published, "record"),
        counted_words(certificate.n_groups, "group"),
        if reached.is_empty() { "the file is what its certificate says".to_string() } else { reached.join(", ") }
    ));
    if let Some(people) = &account.people {
        let smallest = people.smallest_group.map_or("none".to_string(), sentences::people_in_words);
        terminal.say(format!(
            "  people       {} lost of {}; {smallest} in the smallest group; {} alone by all their records together",
            grouped(people.n_lost),
            grouped(people.n),
            grouped(people.n_alone_by_all_records)
        ));
    }
    if let Some(dealt) = &certificate.dealt {
        terminal.say(format!("Values were {}.", sentences::dealt_in_words(dealt)));
    }
    if let (Some(per_record), Some(outcome)) = (&certificate.per_record, &account.per_record) {
        terminal.say(&per_record.statement);
        let Distribution { median, mean, greatest, .. } = outcome.risk;
        terminal.say(format!(
            "  risk         mean {mean}, median {median}, greatest {greatest} ({})",
            per_record.risk_model
        ));
        let Distribution { least, median, mean, .. } = outcome.utility;
        terminal.say(format!(
            "  utility      mean {mean}, median {median}, least {least} of {} ({})",
            outcome.greatest_utility, per_record.utility_model
        ));
    }
    if let Some(search) = &account.search {
        terminal.say(format!("  scheme       {}", search.statement));
    }
    terminal.say(format!("  release      {}", files.release.display()));
    terminal.say(format!("  certificate  {}", files.certificate.display()));
    terminal.say(format!("  report       {} (for you: it tells what the release does not)", files.report.display()));
}
