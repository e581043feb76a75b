//! `incrowd negotiate --local` and `incrowd frontier --local`, for people to read.

use incrowd::criterion::Measure;
use incrowd::recode::tree::frontier::Bargain;
use incrowd::recode::tree::negotiate::{Answer, Offer, Offers, Request};
use incrowd::wire;
use incrowd::{Criteria, Ranking, Result};

use super::arguments::levels;
use super::terminal::{Exit, Terminal, columns, csv};
use super::{frontier, negotiate};
use crate::input::count::Material;
use crate::orders::Rules;
use crate::orders::frontier_local::{FrontierLocal, LocalBargains, no_record};
use crate::orders::known::Known;
use crate::orders::negotiate_local::{LocallyNegotiated, LossLimits, NegotiateLocal};
use crate::orders::request::{GivenRequest, Suppression};
use crate::sentences::{self, grouped, percent};
use crate::words::{answers, documents};

pub fn run(args: &negotiate::Args, terminal: &Terminal) -> Result<Exit> {
    let order = NegotiateLocal {
        about: args.project.about(),
        request: args.request.given()?,
        max_loss: LossLimits::parse(&args.max_loss)?,
        lattice: args.lattice.clone(),
    };
    order.check()?;
    let project = args.project.open()?;
    let work = args.project.work(terminal)?;
    let negotiated = order.run(&project, &Known::default(), &Rules::default(), &work)?;
    terminal.json(&answers::locally_negotiated(&negotiated));
    if !terminal.is_json {
        say(&negotiated, terminal);
    }
    Ok(match negotiated.answer {
        Answer::Exact(_) => Exit::Done,
        Answer::Offers(_) => Exit::No,
    })
}

pub fn say(negotiated: &LocallyNegotiated, terminal: &Terminal) {
    let LocallyNegotiated { counted, request, answer, .. } = negotiated;
    terminal.say(format!("Request: {}", request_in_words(counted, request)));
    match answer {
        Answer::Exact(offer) => {
            terminal.say("Answer:  yes, all of it\n");
            terminal.say(table(counted, &[("published", offer)]));
            say_gap(offer, terminal);
        }
        Answer::Offers(Offers { suppression, loss, privacy, privacy_alternatives }) => {
            terminal.say("Answer:  not all of it; each offer gives up one part of it\n");
            let mut made: Vec<(&str, &Offer)> = Vec::new();
            made.extend(suppression.as_ref().map(|offer| ("lose more records", offer)));
            made.extend(loss.as_ref().map(|offer| ("accept more loss", offer)));
            made.extend(privacy.as_ref().map(|offer| ("settle for less", offer)));
            terminal.say(table(counted, &made));
            terminal.say("");
            if suppression.is_none() {
                terminal.say("  lose more records: no number of lost records makes the loss small enough.");
            }
            if loss.is_none() && has_limits(request) {
                terminal.say("  accept more loss: nothing keeps the criteria with so few records lost.");
            }
            if privacy.is_none() {
                terminal.say("  settle for less: no value of one criterion alone would do.");
            }
            for offer in privacy_alternatives.iter().skip(1) {
                let criteria = criteria_in_words(counted, &offer.criteria);
                terminal.say(format!("  or, instead: {criteria}, with a loss of {}.", share(offer.ncp)));
            }
        }
    }
}

fn say_gap(offer: &Offer, terminal: &Terminal) {
    let at_least = offer.ncp_at_least;
    match at_least < offer.ncp {
        true => terminal.say(format!("\n  Of all cuts of the tree none loses less than {}.", share(at_least))),
        false => terminal.say("\n  No cut of the tree loses less."),
    }
}

fn has_limits(request: &Request) -> bool {
    request.loss_max.is_some() || !request.loss_max_of.is_empty()
}

fn share(ncp: f64) -> String {
    format!("{:.2} %", ncp * 100.0)
}

fn criteria_in_words(counted: &Material, criteria: &Criteria) -> String {
    let names = counted.sensitive_names();
    criteria.iter().map(|criterion| sentences::criterion_in_words(criterion, &names)).collect::<Vec<_>>().join(", ")
}

fn request_in_words(counted: &Material, request: &Request) -> String {
    let n_records = counted.counts.n_records();
    let lost = match request.n_suppressed_max {
        0 => "no record lost".to_string(),
        n => format!("at most {} of {} records lost ({})", grouped(n), grouped(n_records), percent(n, n_records)),
    };
    let all = request.loss_max.map(|most| format!("loss ≤ {}", share(most)));
    let name = |a: usize| counted.hierarchies[a].attribute();
    let of = request.loss_max_of.iter().map(|&(a, most)| format!("loss of {} ≤ {}", name(a), share(most)));
    let limits: Vec<String> = all.into_iter().chain(of).collect();
    let limits = if limits.is_empty() { "any loss".to_string() } else { limits.join(", ") };
    format!("{}; {lost}; {limits}", criteria_in_words(counted, &request.criteria))
}

/// Offers side by side: what each loses of every attribute, and what it costs.
fn table(counted: &Material, offers: &[(&str, &Offer)]) -> String {
    let mut header = vec![""];
    header.extend(offers.iter().map(|(title, _)| *title));
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut row = |name: String, cell: &dyn Fn(&Offer) -> String| {
        rows.push(std::iter::once(name).chain(offers.iter().map(|(_, offer)| cell(offer))).collect());
    };
    for (a, hierarchy) in counted.hierarchies.iter().enumerate() {
        row(format!("  {} loses", hierarchy.attribute()), &|offer| share(offer.ncp_of_attribute[a]));
    }
    row("  promised".into(), &|offer| criteria_in_words(counted, &offer.criteria));
    let n_records = counted.counts.n_records();
    row("  records lost".into(), &|offer| {
        format!("{} ({})", grouped(offer.cut.n_suppressed), percent(offer.cut.n_suppressed, n_records))
    });
    row("  groups".into(), &|offer| grouped(offer.n_groups()));
    let names = counted.sensitive_names();
    let measures: Vec<Measure> =
        offers.first().map_or(Vec::new(), |(_, offer)| offer.reached.iter().map(|(measure, _)| *measure).collect());
    for measure in measures {
        let name = match measure {
            Measure::Size if counted.counts.people().is_some() => "fewest people".to_string(),
            Measure::Size => "smallest group".to_string(),
            Measure::Distinct(_) if names.len() == 1 => "fewest values".to_string(),
            measure => format!("reached {}", wire::key(measure, &names)),
        };
        row(format!("  {name}"), &|offer| match offer.reached(measure) {
            Some(value) => sentences::number_in_words(measure, value),
            None => "–".into(),
        });
    }
    row("  loss (NCP)".into(), &|offer| format!("{:.4}", offer.ncp));
    let left: Vec<usize> = (0..header.len()).collect();
    columns(&header, &rows, &left)
}

pub fn run_frontier(args: &frontier::Args, terminal: &Terminal) -> Result<Exit> {
    let most = args.max_suppressed.as_deref().map(Suppression::parse).transpose()?;
    let ranking = Ranking::parse(&args.best_by)?;
    let order = FrontierLocal {
        about: args.project.about(),
        over: args.over.clone(),
        request: GivenRequest {
            max_suppressed: Some(most.unwrap_or_else(no_record)),
            max_level: Some(levels(args.max_level.as_deref().unwrap_or_default())?),
            best_by: (ranking.name() != "ncp").then_some(ranking),
            ..GivenRequest::of_criteria(args.criteria.texts())
        },
        max_loss: LossLimits::parse(&args.max_loss)?,
        lattice: args.lattice.clone(),
    };
    let project = args.project.open()?;
    let found = order.run(&project, &Known::default(), &Rules::default(), &args.project.work(terminal)?)?;
    if terminal.is_json {
        terminal.json(&documents::local_frontier(&found));
        return Ok(Exit::Done);
    }
    let name = wire::key(found.measure, &found.counted.sensitive_names());
    if args.csv {
        let header = [name.as_str(), "n_suppressed", "loss", "n_groups"].map(String::from).to_vec();
        let row = |bargain: &Bargain| {
            let value = wire::number(found.measure, bargain.value).to_string();
            vec![
                value,
                bargain.n_suppressed.to_string(),
                wire::rounded(bargain.ncp).to_string(),
                bargain.n_groups.to_string(),
            ]
        };
        let rows: Vec<Vec<String>> = found.bargains.iter().map(row).collect();
        terminal.say(csv(&header, &rows).trim_end());
        return Ok(Exit::Done);
    }
    say_frontier(&found, &name, args.list, terminal);
    Ok(Exit::Done)
}

/// So many bargains are shown where nobody wants all.
const N_SHOWN: usize = 20;

fn say_frontier(found: &LocalBargains, name: &str, all: bool, terminal: &Terminal) {
    let LocalBargains { counted, request, measure, bargains, .. } = found;
    terminal.say(format!("Request: {}\n", request_in_words(counted, request)));
    let n_records = counted.counts.n_records();
    let is_shown = |i: usize| {
        all || bargains.len() <= N_SHOWN || i * N_SHOWN / bargains.len() != (i + 1) * N_SHOWN / bargains.len()
    };
    let rows: Vec<Vec<String>> = (0..)
        .zip(bargains)
        .filter(|(i, _)| is_shown(*i))
        .map(|(_, bargain)| {
            vec![
                format!("  {}", sentences::number_in_words(*measure, bargain.value)),
                format!("{} ({})", grouped(bargain.n_suppressed), percent(bargain.n_suppressed, n_records)),
                grouped(bargain.n_groups),
                format!("{:.4}", bargain.ncp),
            ]
        })
        .collect();
    let header = format!("  {name} up to");
    terminal.say(columns(&[&header, "records lost", "groups", "loss (NCP)"], &rows, &[0]));
    if rows.len() < bargains.len() {
        terminal.say(format!("\n  {} of {} bargains; --list shows all.", rows.len(), grouped(bargains.len() as u64)));
    }
}
