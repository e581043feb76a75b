//! `incrowd negotiate`: whether all wishes can be met, or the three nearest bargains.

use std::path::PathBuf;

use incrowd::lattice::Scope;
use incrowd::search::negotiate::{Explanation, Offers, check_criteria, check_promise, negotiate_as_published};
use incrowd::search::partial::{Selection, prove};
use incrowd::wire;
use incrowd::{
    Answer, Criteria, Error, ErrorKind, Lattice, Level, Measure, Offer, Plan, Quality, Ranking, Request, Result,
    Scheme, explain, negotiate,
};
use serde_json::Value;

use crate::count::Material;
use crate::extent::{CtrlC, Extent, ExtentArgs, Otherwise, TIME, partial_in_words, proof_in_words};
use crate::saved;
use crate::sentences::{self, counted_words, grouped, percent};
use crate::talk::{Exit, Talk, columns};
use crate::wishes::{ProjectArgs, RequestArgs};

/// Ask whether all wishes can be met; if not, get the three nearest bargains
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Exit status: 0 when all wishes are met, 1 when there are only offers, 2 on error.

Examples:
  incrowd negotiate --k 10 --max-suppressed 1%
  incrowd negotiate --k 10 --l 3 --max-suppressed 321 --max-level age=2,sex=0
  incrowd negotiate --k 10 --t 0.2 --max-suppressed 2% --best-by ncp
  incrowd negotiate --l disease:3 --t income:0.2 --max-suppressed 1%
  incrowd negotiate --k 10 --max-suppressed 0 --explain
  incrowd negotiate --k 10 --max-suppressed 1% --lattice hospital.crowd
  incrowd negotiate --k 10 --max-suppressed 1% --on-demand --time 5m
  incrowd negotiate --k 10 --max-suppressed 1% --partial 5%
  incrowd negotiate hospital --json | jq .offers.height.levels")]
pub struct Args {
    #[command(flatten)]
    pub project: ProjectArgs,
    #[command(flatten)]
    pub request: RequestArgs,
    /// Say why so many records are lost and what would help
    #[arg(long)]
    pub explain: bool,
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

pub fn run(args: &Args, talk: &Talk) -> Result<Exit> {
    args.extent.check(Otherwise::OnDemand)?;
    if args.not_extended && args.extent.partial.is_none() && args.lattice.is_none() {
        return Err(not_extended_is_about_partial_lattices());
    }
    let project = args.project.open()?;
    let privacy = args.request.criteria.resolve(&project, args.project.sensitive.as_deref())?;
    check_promise(&privacy.criteria)?;
    let best_by = args.request.best_by(&project)?;
    if let Some(path) = &args.lattice {
        // What a file turns out to hold is found out on the way.
        let at = |error: Error| match error.kind() {
            ErrorKind::Data => error.or_at(path.display().to_string()),
            _ => error,
        };
        let saved::Opened { lattice, privacy, content } =
            saved::open(path, &project, &args.project, &privacy, &best_by, talk)?;
        let request = args.request.resolve(&project, &privacy, lattice.hierarchies(), lattice.n_records())?;
        let is_on_demand = args.extent.on_demand || saved::has_counts_only(&lattice);
        if args.not_extended && (is_on_demand || lattice.selection().is_none()) {
            return Err(not_extended_is_about_partial_lattices());
        }
        let needs_material = is_on_demand || lattice.selection().is_some();
        let material = needs_material.then(|| content.material(&project, &lattice)).transpose()?;
        return match &material {
            Some(material) if is_on_demand => run_on_demand(args, material, &request, talk),
            _ => run_on_lattice(args, lattice, material.as_ref(), &request, talk).map_err(at),
        };
    }
    let counted = args.project.count(&project, &privacy, talk)?;
    let n_records = counted.counts.n_records();
    let request = args.request.resolve(&project, &privacy, &counted.hierarchies, n_records)?;
    check_criteria(&request.criteria, n_records, &counted.n_sensitive_values())?;
    match annotate(&args.extent, &args.project, &counted, &request.criteria, &best_by, talk)? {
        Some(lattice) => run_on_lattice(args, lattice, Some(&counted), &request, talk),
        None => run_on_demand(args, &counted, &request, talk),
    }
}

fn not_extended_is_about_partial_lattices() -> Error {
    Error::new(ErrorKind::Request, "--not-extended is about partial lattices")
        .hint("leave it out, or make one with --partial 5%")
}

/// The lattice for one request, as much of it as the flags or its size say; none where schemes are evaluated on demand.
pub fn annotate(
    extent: &ExtentArgs,
    args: &ProjectArgs,
    counted: &Material,
    criteria: &Criteria,
    best_by: &Ranking,
    talk: &Talk,
) -> Result<Option<Lattice>> {
    match extent.choose(args, counted, Otherwise::OnDemand, talk)? {
        Extent::OnDemand => Ok(None),
        Extent::Partial(selection) => {
            let measures = criteria.iter().map(|criterion| criterion.measure).collect();
            args.annotate_some(counted, measures, best_by.needs_entropy(), Some(selection), talk).map(Some)
        }
        // What turns out to be too large after all is answered on demand, unless someone wants it whole.
        Extent::Full => match args.annotate(counted, criteria, best_by, talk) {
            Err(error) if error.kind() == ErrorKind::TooLarge && !extent.full => {
                talk.note(format!("on demand, since {}", error.message()));
                Ok(None)
            }
            lattice => lattice.map(Some),
        },
    }
}

/// Answers from a lattice; a partial one needs the material that it was made of.
fn run_on_lattice(
    args: &Args,
    mut lattice: Lattice,
    material: Option<&Material>,
    request: &Request,
    talk: &Talk,
) -> Result<Exit> {
    let weights = material.map(Material::weights).unwrap_or_default();
    let yardstick = match (lattice.selection(), material) {
        (Some(_), Some(material)) => Some(material.yardstick(lattice.measures().iter().copied())?),
        _ => None,
    };
    let plan = yardstick.as_ref().map(|yardstick| {
        let with_entropy = lattice.entropies().is_some();
        Plan { weights: &weights, yardstick, with_entropy }
    });
    let partial = plan.as_ref().zip(material);
    if let (Some((plan, material)), false) = (partial, args.not_extended) {
        lattice.extend(&material.counts, plan, &request.level_max)?;
    }
    let answer = match args.as_published {
        true => negotiate_as_published(&lattice, request)?,
        false => negotiate(&lattice, request)?,
    };
    let found = match partial {
        Some((plan, material)) => Some(prove(&lattice, &material.counts, plan, request, answer.clone())?),
        None => None,
    };
    let scheme = to_explain(&answer, request);
    if let (Some((plan, material)), true) = (partial, args.explain) {
        for neighbour in neighbours(scheme, lattice.schemes().tops()) {
            lattice.extend(&material.counts, plan, &neighbour)?;
        }
    }
    let explanation = args.explain.then(|| explain(&lattice, scheme, &request.criteria)).transpose()?;
    lattice.intact()?;
    if talk.is_json {
        let mut document = sentences::answer(&lattice, request, &answer);
        if let Value::Object(object) = &mut document {
            if let Some(found) = &found {
                object.insert("partial".into(), wire::partial(&lattice, found));
            }
            if let Some(explanation) = &explanation {
                object.insert("explanation".into(), wire::explanation(&lattice, explanation));
            }
        }
        talk.json(&document);
    } else {
        say_answer(&lattice, request, &answer, talk);
        if let Some(found) = &found {
            talk.say(format!("\n  {}.", partial_in_words(&lattice, request, found)));
        }
        if let Some(explanation) = &explanation {
            say_explanation(&lattice, explanation, talk);
        }
    }
    Ok(match answer {
        Answer::Exact(_) => Exit::Done,
        Answer::Offers(_) => Exit::No,
    })
}

/// Of an exact answer one wants to know its own cost, of offers what the wishes themselves would cost.
fn to_explain<'a>(answer: &'a Answer, request: &'a Request) -> &'a Scheme {
    match answer {
        Answer::Exact(offer) => &offer.scheme,
        Answer::Offers(_) => &request.level_max,
    }
}

/// Annotates what an explanation needs and nothing else.
fn explain_on_demand(
    args: &Args,
    counted: &Material,
    request: &Request,
    answer: &Answer,
    talk: &Talk,
) -> Result<(Lattice, Explanation)> {
    let none = Selection { share: 0.0, ..Selection::default() };
    let measures = request.criteria.iter().map(|criterion| criterion.measure).collect();
    let mut lattice = args.project.annotate_some(counted, measures, false, Some(none), talk)?;
    let (weights, yardstick) = (counted.weights(), counted.yardstick(lattice.measures().iter().copied())?);
    let plan = Plan { weights: &weights, yardstick: &yardstick, with_entropy: false };
    let scheme = to_explain(answer, request);
    for neighbour in neighbours(scheme, lattice.schemes().tops()) {
        lattice.extend(&counted.counts, &plan, &neighbour)?;
    }
    let explanation = explain(&lattice, scheme, &request.criteria)?;
    Ok((lattice, explanation))
}

/// The schemes that an explanation of one compares it with: itself, and each attribute one level coarser or hidden.
fn neighbours(scheme: &Scheme, tops: &[u8]) -> Vec<Scheme> {
    let levels = scheme.levels().iter().zip(tops).enumerate();
    let of_attribute = levels
        .flat_map(|(a, (level, &top))| [scheme.with(a, Level(top)), scheme.with(a, Level((level.0 + 1).min(top)))]);
    std::iter::once(scheme.clone()).chain(of_attribute).collect()
}

/// Answers without a lattice.
fn run_on_demand(args: &Args, counted: &Material, request: &Request, talk: &Talk) -> Result<Exit> {
    if args.as_published {
        return Err(Error::new(ErrorKind::TooLarge, "--as-published needs a lattice")
            .hint("leave it out, choose fewer with --quasi-identifiers, or make one with --partial or --full"));
    }
    let searched = args.project.negotiate_on_demand(counted, request, &args.time, CtrlC::EndsTheSearch, talk)?;
    let (scope, found) = (&searched.scope, &searched.found);
    let explained = match args.explain {
        true => Some(explain_on_demand(args, counted, request, &found.answer, talk)?),
        false => None,
    };
    if talk.is_json {
        let mut document = sentences::answer(scope, request, &found.answer);
        if let Value::Object(object) = &mut document {
            object.insert("on_demand".into(), wire::on_demand(found));
            if let Some((lattice, explanation)) = &explained {
                object.insert("explanation".into(), wire::explanation(lattice, explanation));
            }
        }
        talk.json(&document);
    } else {
        say_answer(scope, request, &found.answer, talk);
        talk.say(format!("\n  {}.", proof_in_words(&searched, request)));
        if let Some((lattice, explanation)) = &explained {
            say_explanation(lattice, explanation, talk);
        }
    }
    Ok(match &found.answer {
        Answer::Exact(_) => Exit::Done,
        Answer::Offers(_) => Exit::No,
    })
}

/// Prints an answer for people.
pub fn say_answer(scope: &Scope, request: &Request, answer: &Answer, talk: &Talk) {
    talk.say(format!("Wished:  {}", request_in_words(scope, request)));
    match answer {
        Answer::Exact(offer) => {
            talk.say("Answer:  yes, all of it\n");
            talk.say(offers_table(scope, &request.best_by, &[("", offer)]));
            talk.say(format!("\n  In words: {}.", sentences::in_words(scope, offer)));
        }
        Answer::Offers(offers) => {
            talk.say("Answer:  not all of it; each of these gives up one wish\n");
            say_offers(scope, request, offers, talk);
        }
    }
}

fn say_offers(scope: &Scope, request: &Request, offers: &Offers, talk: &Talk) {
    let mut made = vec![("lose more records", &offers.suppression)];
    made.extend(offers.height.as_ref().map(|offer| ("generalize otherwise", offer)));
    made.extend(offers.privacy.as_ref().map(|offer| ("settle for less", offer)));
    talk.say(offers_table(scope, &request.best_by, &made));
    talk.say("");
    for (title, offer) in &made {
        talk.say(format!("  {title}: {}.", sentences::concession(scope, request, offer)));
    }
    if offers.height.is_none() {
        talk.say("  generalize otherwise: nothing in the lattice meets the other wishes.");
    }
    if offers.privacy.is_none() {
        talk.say(format!("  settle for less: {} would not do.", weakest_in_words(scope, &request.criteria)));
    }
    for offer in offers.privacy_alternatives.iter().skip(1) {
        let criteria = criteria_in_words(scope, &offer.criteria);
        talk.say(format!("  or, instead: {criteria}, losing {}.", counted_words(offer.n_suppressed, "record")));
    }
}

/// What was tried in vain: every criterion at its weakest.
fn weakest_in_words(scope: &Scope, criteria: &Criteria) -> String {
    let names = wire::sensitive_names(scope);
    let weakest = |criterion: incrowd::Criterion| {
        let weakest = criterion.with_value(criterion.measure.weakest());
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
pub fn request_in_words(scope: &Scope, request: &Request) -> String {
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
    let best = match request.best_by.is_height() {
        true => String::new(),
        false => format!("; best by {}", request.best_by.name()),
    };
    format!("{}; {lost}; {limits}{best}", criteria_in_words(scope, &request.criteria))
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
    row("  groups".into(), &|offer| grouped(offer.n_groups));
    let names = wire::sensitive_names(scope);
    for &measure in scope.measures() {
        let name = match measure {
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
pub fn say_explanation(lattice: &Lattice, explanation: &Explanation, talk: &Talk) {
    let n_records = lattice.n_records();
    talk.say(format!(
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
    talk.say(columns(&header, &rows, &[0, 1]));
    talk.say("\n  (lost because of it: records that would be kept if the attribute were hidden; shares overlap)\n");
    talk.say(columns(&["  group size", "records", "share", "lost"], &size_rows(explanation, n_records), &[0]));
}

/// The smallest sizes one by one, the rest together.
fn size_rows(explanation: &Explanation, n_records: u64) -> Vec<Vec<String>> {
    const N_SIZES: usize = 8;
    let row = |name: String, n: u64, lost: u64| vec![name, grouped(n), percent(n, n_records), grouped(lost)];
    let (first, rest) = explanation.by_size.split_at(explanation.by_size.len().min(N_SIZES));
    let mut rows: Vec<Vec<String>> =
        first.iter().map(|share| row(format!("  {}", share.size), share.n_records, share.n_suppressed)).collect();
    if let (Some(smallest), Some(largest)) = (rest.first(), rest.last()) {
        let sum = |measure: fn(&incrowd::search::negotiate::SizeShare) -> u64| rest.iter().map(measure).sum();
        let name = format!("  {} to {}", grouped(smallest.size), grouped(largest.size));
        rows.push(row(name, sum(|share| share.n_records), sum(|share| share.n_suppressed)));
    }
    rows
}
