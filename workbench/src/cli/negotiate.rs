//! `incrowd negotiate`: whether a request can be met, or the three nearest offers.

use std::path::PathBuf;

use crate::sentences;
use crate::sentences::{counted_words, grouped, percent};
use incrowd::lattice::Scope;
use incrowd::search::explain::Explanation;
use incrowd::search::negotiate::Offers;
use incrowd::wire;
use incrowd::{Answer, Criteria, Lattice, Measure, Offer, Quality, Ranking, Request, Result};

use super::arguments::{ExtentArgs, ProjectArgs, RequestArgs, TIME, parse_time};
use super::terminal::{Exit, Terminal, columns, ctrl_c_is_enough};
use crate::orders::Rules;
use crate::orders::extent::{Otherwise, looked_at};
use crate::orders::known::Known;
use crate::orders::negotiate::{Negotiate, Negotiated, Where};
use crate::words::documents;
use crate::words::notes::Front;
use crate::words::search::{partial_in_words, proof_in_words};

/// Ask whether a request can be met; if not, get the three nearest offers
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Exit status: 0 when the request is met, 1 when there are only offers, 2 on error.

Examples:
  incrowd negotiate --k 10 --max-suppressed 1%
  incrowd negotiate --k 10 --l 3 --max-suppressed 321 --max-level age=2,sex=0
  incrowd negotiate --k 10 --t 0.2 --max-suppressed 2% --best-by height
  incrowd negotiate --l disease:3 --t income:0.2 --max-suppressed 1%
  incrowd negotiate --k 10 --max-suppressed 0 --explain
  incrowd negotiate --k 10..5 --max-suppressed 1% --max-level age=1   offers of less privacy down to k = 5
  incrowd negotiate --k 5 --alpha 1/3 --max-suppressed 1%
  incrowd negotiate --k 10 --max-suppressed 1% --lattice hospital.crowd
  incrowd negotiate --k 10 --max-suppressed 1% --on-demand --time 5m
  incrowd negotiate --k 10 --max-suppressed 1% --partial 5%
  incrowd negotiate --local --k 10 --l 3 --max-suppressed 1% --max-loss 10% --max-loss age=5%
  incrowd negotiate hospital --json | jq .offers.height.levels")]
pub struct Args {
    #[command(flatten)]
    pub project: ProjectArgs,
    #[command(flatten)]
    pub request: RequestArgs,
    /// Say why so many records are lost and what would help
    #[arg(long)]
    pub explain: bool,
    /// Over ranges of their own for every group, instead of one level for all: cuts of one tree of groups
    #[arg(long, conflicts_with_all = ["explain", "as_published", "full", "partial", "on_demand", "not_extended"])]
    pub local: bool,
    /// With --local, the most that records may lose on average: 10% in all, age=5% of an attribute; may be given several times
    #[arg(long, value_name = "P%|A=P%", value_delimiter = ',', requires = "local")]
    pub max_loss: Vec<String>,
    /// Answer as the published algorithm would, whose height offer is not always the lowest
    #[arg(long)]
    pub as_published: bool,
    /// Answer from a lattice that annotate -o has written, without counting
    #[arg(long, value_name = "FILE", conflicts_with_all = ["full", "partial"])]
    pub lattice: Option<PathBuf>,
    #[command(flatten)]
    pub extent: ExtentArgs,
    /// How long to search on demand, such as 30s, 5m or 2h; Ctrl-C ends it too, with the best so far
    #[arg(long, value_name = "TIME", default_value = TIME)]
    pub time: String,
    /// Answer from the schemes of a partial lattice alone, without evaluating the coarsest acceptable one
    #[arg(long)]
    pub not_extended: bool,
}

pub fn run(args: &Args, terminal: &Terminal) -> Result<Exit> {
    args.extent.check(Otherwise::OnDemand)?;
    let order = order(args)?;
    let project = args.project.open()?;
    let work = args.project.work(terminal)?;
    ctrl_c_is_enough(work.watch());
    let negotiated = order.run(&project, &Known::default(), &Rules::default(), &work)?;
    terminal.json(&documents::negotiated(&negotiated));
    let Negotiated { request, floors, answer, found, explanation, without, n_looked_at, time } = &negotiated;
    let scope = negotiated.scope();
    if !terminal.is_json {
        say_answer(scope, request, floors, answer, terminal);
        for (attribute, offer) in without {
            terminal.say(format!(
                "  without {}: {}.",
                scope.hierarchies()[*attribute].attribute(),
                sentences::in_words(scope, offer)
            ));
        }
        match found {
            Where::Whole(_) => {}
            Where::Partial(lattice, found) => {
                terminal.say(format!("\n  {}.", partial_in_words(lattice, request, found, Front::CommandLine)));
            }
            Where::OnDemand(searched) => {
                terminal.say(format!("\n  {}.", proof_in_words(searched, request, Front::CommandLine)));
            }
        }
        if let Some((lattice, explanation)) = explanation {
            say_explanation(lattice, explanation, terminal);
            terminal.say(format!(
                "\n  ({} in {:.1} ms, once records were counted and schemes annotated)",
                looked_at(scope, *n_looked_at),
                time.as_secs_f64() * 1e3
            ));
        }
    }
    Ok(match answer {
        Answer::Exact(_) => Exit::Done,
        Answer::Offers(_) => Exit::No,
    })
}

/// What the flags order.
pub fn order(args: &Args) -> Result<Negotiate> {
    let order = Negotiate {
        about: args.project.about(),
        request: args.request.given()?,
        explain: args.explain,
        as_published: args.as_published,
        lattice: args.lattice.clone(),
        extent: args.extent.wish()?,
        time: parse_time(&args.time)?,
        not_extended: args.not_extended,
    };
    order.check()?;
    Ok(order)
}

/// Prints an answer for people; the floors are the least that will do, where ranges were given.
pub fn say_answer(scope: &Scope, request: &Request, floors: &Criteria, answer: &Answer, terminal: &Terminal) {
    terminal.say(format!("Request: {}", request_in_words(scope, request, floors)));
    match answer {
        Answer::Exact(offer) => {
            terminal.say("Answer:  yes, all of it\n");
            terminal.say(offers_table(scope, &request.best_by, &[("", offer)]));
            terminal.say(format!("\n  In words: {}.", sentences::in_words(scope, offer)));
        }
        Answer::Offers(offers) => {
            terminal.say("Answer:  not all of it; each offer gives up one part of it\n");
            say_offers(scope, request, floors, offers, terminal);
        }
    }
}

fn say_offers(scope: &Scope, request: &Request, floors: &Criteria, offers: &Offers, terminal: &Terminal) {
    let mut made = vec![("lose more records", &offers.suppression)];
    made.extend(offers.height.as_ref().map(|offer| ("generalize otherwise", offer)));
    made.extend(offers.privacy.as_ref().map(|offer| ("settle for less", offer)));
    terminal.say(offers_table(scope, &request.best_by, &made));
    terminal.say("");
    for (title, offer) in &made {
        terminal.say(format!("  {title}: {}.", sentences::concession(scope, request, offer)));
    }
    if offers.height.is_none() {
        terminal.say("  generalize otherwise: nothing in the lattice meets the rest of the request.");
    }
    if offers.privacy.is_none() {
        terminal
            .say(format!("  settle for less: {} would not do.", weakest_in_words(scope, &request.criteria, floors)));
    }
    for offer in offers.privacy_alternatives.iter().skip(1) {
        let criteria = criteria_in_words(scope, &offer.criteria);
        terminal.say(format!("  or, instead: {criteria}, losing {}.", counted_words(offer.n_suppressed, "record")));
    }
}

/// What was tried in vain: every criterion at its weakest, or at the least that will do.
fn weakest_in_words(scope: &Scope, criteria: &Criteria, floors: &Criteria) -> String {
    let names = wire::sensitive_names(scope);
    let weakest = |criterion: incrowd::Criterion| {
        let least = floors.value(criterion.measure).unwrap_or_else(|| criterion.measure.weakest());
        let weakest = criterion.with_value(least);
        sentences::criterion_in_words(weakest, &names)
    };
    let all: Vec<String> = criteria.iter().map(weakest).collect();
    match all.len() {
        1 => all.concat(),
        _ => format!("{} alone", all.join(" or ")),
    }
}

fn criteria_in_words(scope: &Scope, criteria: &Criteria) -> String {
    let names = wire::sensitive_names(scope);
    criteria.iter().map(|criterion| sentences::criterion_in_words(criterion, &names)).collect::<Vec<_>>().join(", ")
}

/// A request in one line.
fn request_in_words(scope: &Scope, request: &Request, floors: &Criteria) -> String {
    let n_records = scope.n_records();
    let lost = match request.n_suppressed_max {
        0 => "no record lost".to_string(),
        n => format!("at most {} of {} records lost ({})", grouped(n), grouped(n_records), percent(n, n_records)),
    };
    let limits: Vec<String> = scope
        .hierarchies()
        .iter()
        .zip(request.level_max.levels())
        .filter(|(hierarchy, level)| usize::from(level.0) < hierarchy.top())
        .map(|(hierarchy, level)| format!("{} ≤ {}", hierarchy.attribute(), level.0))
        .collect();
    let limits = if limits.is_empty() { "any level".to_string() } else { limits.join(", ") };
    let best = match request.best_by == Ranking::default() {
        true => String::new(),
        false => format!("; best by {}", request.best_by.name()),
    };
    let down_to = match floors.is_empty() {
        true => String::new(),
        false => format!(" (down to {})", criteria_in_words(scope, floors)),
    };
    format!("{}{down_to}; {lost}; {limits}{best}", criteria_in_words(scope, &request.criteria))
}

/// Offers side by side: what each does to every attribute, and what it costs.
fn offers_table(scope: &Scope, best_by: &Ranking, offers: &[(&str, &Offer)]) -> String {
    let mut header = vec![""];
    header.extend(offers.iter().map(|(title, _)| if title.is_empty() { "published" } else { title }));
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut row = |name: String, cell: &dyn Fn(&Offer) -> String| {
        rows.push(std::iter::once(name).chain(offers.iter().map(|(_, offer)| cell(offer))).collect());
    };
    for (a, hierarchy) in scope.hierarchies().iter().enumerate() {
        row(format!("  {}", hierarchy.attribute()), &|offer| {
            let level = offer.scheme.level(a);
            let phrase = hierarchy.level(level).phrase();
            if level == 0 || level == hierarchy.top() {
                return phrase.to_string();
            }
            format!("{phrase} ({level}/{})", hierarchy.top())
        });
    }
    row("  promised".into(), &|offer| criteria_in_words(scope, &offer.criteria));
    row("  records lost".into(), &|offer| {
        format!("{} ({})", grouped(offer.n_suppressed), percent(offer.n_suppressed, scope.n_records()))
    });
    if scope.n_dropped() > 0 {
        row("  dropped".into(), &|_| format!("{} for missing values", grouped(scope.n_dropped())));
    }
    if offers.iter().any(|(_, offer)| offer.n_people_lost.is_some()) {
        let n_people = scope.crowd().n();
        row("  people lost".into(), &|offer| match offer.n_people_lost {
            Some(n_lost) => format!("{} ({})", grouped(n_lost), percent(n_lost, n_people)),
            None => "–".into(),
        });
    }
    row("  groups".into(), &|offer| grouped(offer.n_groups));
    let names = wire::sensitive_names(scope);
    for &measure in scope.measures() {
        let name = match measure {
            Measure::Size if scope.n_people().is_some() => "fewest people".to_string(),
            Measure::Size => "smallest group".to_string(),
            Measure::Distinct(_) if names.len() == 1 => "fewest values".to_string(),
            measure => format!("reached {}", wire::key(measure, &names)),
        };
        row(format!("  {name}"), &|offer| match offer.reached(measure) {
            Some(value) => sentences::number_in_words(measure, value),
            None => "–".into(),
        });
    }
    row("  height".into(), &|offer| offer.scheme.height().to_string());
    row("  loss (NCP)".into(), &|offer| format!("{:.3}", offer.losses.ncp));
    for quality in best_by.qualities().filter(|quality| ![Quality::Height, Quality::Ncp].contains(quality)) {
        row(format!("  {}", quality.name()), &|offer| match quality {
            Quality::Discernibility => grouped(u64::try_from(offer.losses.discernibility).unwrap_or(u64::MAX)),
            Quality::GroupSize => format!("{:.2}", offer.losses.group_size),
            Quality::Precision => format!("{:.3}", offer.losses.precision),
            _ => offer.losses.entropy.map_or("–".into(), |entropy| format!("{entropy:.3}")),
        });
    }
    let left: Vec<usize> = (0..header.len()).collect();
    columns(&header, &rows, &left)
}

/// Prints why records are lost.
pub fn say_explanation(lattice: &Lattice, explanation: &Explanation, terminal: &Terminal) {
    let n_records = lattice.n_records();
    terminal.say(format!(
        "\nWhy {} ({}) {} lost at levels {}:\n",
        counted_words(explanation.n_suppressed, "record"),
        percent(explanation.n_suppressed, n_records),
        if explanation.n_suppressed == 1 { "is" } else { "are" },
        explanation.scheme
    ));
    let mut by_cause: Vec<_> = explanation.by_attribute.iter().collect();
    by_cause.sort_by_key(|contribution| std::cmp::Reverse(contribution.n_caused));
    let rows: Vec<Vec<String>> = by_cause
        .iter()
        .map(|contribution| {
            let hierarchy = &lattice.hierarchies()[contribution.attribute];
            let saved = contribution.n_saved_by_next.map_or("at its top".to_string(), grouped);
            vec![
                format!("  {}", hierarchy.attribute()),
                hierarchy.level(contribution.level.0 as usize).phrase().to_string(),
                grouped(contribution.n_caused),
                percent(contribution.n_caused, explanation.n_suppressed),
                saved,
            ]
        })
        .collect();
    let header = ["  attribute", "level", "lost because of it", "share", "one more level saves"];
    terminal.say(columns(&header, &rows, &[0, 1]));
    terminal.say("\n  (lost because of it: records that would be kept if the attribute were hidden; shares overlap)\n");
    terminal.say(columns(&["  group size", "records", "share", "lost"], &size_rows(explanation, n_records), &[0]));
}

/// The smallest sizes one by one, the rest together.
fn size_rows(explanation: &Explanation, n_records: u64) -> Vec<Vec<String>> {
    const N_SIZES: usize = 8;
    let row = |name: String, n: u64, lost: u64| vec![name, grouped(n), percent(n, n_records), grouped(lost)];
    let (first, rest) = explanation.by_size.split_at(explanation.by_size.len().min(N_SIZES));
    let mut rows: Vec<Vec<String>> =
        first.iter().map(|share| row(format!("  {}", share.size), share.n_records, share.n_suppressed)).collect();
    if let (Some(smallest), Some(largest)) = (rest.first(), rest.last()) {
        let sum = |measure: fn(&incrowd::search::explain::SizeShare) -> u64| rest.iter().map(measure).sum();
        let name = format!("  {} to {}", grouped(smallest.size), grouped(largest.size));
        rows.push(row(name, sum(|share| share.n_records), sum(|share| share.n_suppressed)));
    }
    rows
}
