//! Pictures for the eye: the lattice as a pyramid, what more privacy would cost, and a few records before and after.

use std::collections::HashMap;

use crate::sentences;
use crate::sentences::percent;
use crate::words::answers;
use incrowd::criterion::MILLION;
use incrowd::lattice::{Scope, groups_of};
use incrowd::search::frontier::frontier;
use incrowd::search::negotiate::{Offers, offer_of};
use incrowd::table::Code;
use incrowd::wire;
use incrowd::{
    Answer, Criteria, Criterion, Lattice, Level, Measure, Offer, Quality, Ranking, Request, Result, Role, Scheme,
    explain, negotiate,
};
use rayon::prelude::*;
use serde_json::{Map, Value, json};

use super::columns::CountedColumns;
use super::tables::{Opened, Ready};
use crate::input::count::Counted;
use crate::input::project::Attribute;
use crate::orders::local::Local;
use crate::orders::negotiate::steps;
use crate::orders::request::Privacy;
use crate::work::Work;

/// Cells of one half of a row: more schemes than this share cells.
const N_CELLS_MAX: usize = 400;

/// Everything that stands around an answer; what other promises would cost, where they may be made.
pub fn explore(
    lattice: &Lattice,
    request: &Request,
    answer: &Answer,
    levels: Option<Scheme>,
    may_promise: &(dyn Fn(&Criteria) -> bool + Sync),
) -> Result<Value> {
    let scheme = levels.unwrap_or_else(|| match answer {
        Answer::Exact(offer) => offer.scheme.clone(),
        // Of offers one wants to know what the wishes themselves would cost.
        Answer::Offers(_) => request.level_max.clone(),
    });
    let current = offer_of(lattice, &scheme, &request.criteria)?;
    Ok(json!({
        "n_records": lattice.n_records(),
        "n_schemes": lattice.schemes().len(),
        "scheme": offer_json(lattice, &current),
        "marks": marks(lattice, answer, &scheme),
        "heights": heights(lattice, request),
        "against_privacy": against_privacy(lattice, request, &scheme, may_promise),
        "explanation": wire::explanation(lattice, &explain(lattice, &scheme, &request.criteria)?),
    }))
}

fn offer_json(lattice: &Lattice, offer: &Offer) -> Value {
    let mut document = answers::offer(lattice, offer);
    document["place"] = json!(lattice.schemes().place(&offer.scheme));
    document
}

/// One scheme under some criteria, by its place; where it is to be explained, with what every step from it would change.
pub fn scheme(lattice: &Lattice, request: &Request, scheme: &Scheme, explains: bool) -> Result<Value> {
    let mut document = offer_json(lattice, &offer_of(lattice, scheme, &request.criteria)?);
    if explains {
        let step = |(a, is_coarser, scheme): (usize, bool, Scheme)| -> Result<Value> {
            let offer = offer_of(lattice, &scheme, &request.criteria)?;
            Ok(json!({
                "attribute": lattice.hierarchies()[a].attribute(),
                "is_coarser": is_coarser,
                "place": lattice.schemes().place(&scheme),
                "n_suppressed": offer.n_suppressed,
                "loss": { "ncp": wire::rounded(offer.losses.ncp) },
            }))
        };
        document["steps"] = steps(scheme, lattice.schemes().tops()).into_iter().map(step).collect::<Result<_>>()?;
    }
    Ok(document)
}

/// Where the answer and the offers stand.
fn marks(lattice: &Lattice, answer: &Answer, current: &Scheme) -> Value {
    let place = |scheme: &Scheme| json!(lattice.schemes().place(scheme));
    let of = |offer: &Option<Offer>| offer.as_ref().map_or(Value::Null, |offer| place(&offer.scheme));
    let mut marks = match answer {
        Answer::Exact(offer) => json!({ "exact": place(&offer.scheme) }),
        Answer::Offers(Offers { suppression, height, privacy, .. }) => {
            json!({ "suppression": place(&suppression.scheme), "height": of(height), "privacy": of(privacy) })
        }
    };
    marks["current"] = place(current);
    marks
}

/// A row per height: schemes within the wished levels and beyond them, each side from the fewest records lost on.
fn heights(lattice: &Lattice, request: &Request) -> Value {
    let schemes = lattice.schemes();
    let level_max: Vec<u8> = request.level_max.levels().iter().map(|level| level.0).collect();
    let test = lattice.signatures().test(&request.criteria);
    let suppressed: Vec<u64> = (0..schemes.len())
        .into_par_iter()
        .map(|place| lattice.profile(place).n_suppressed(lattice.signatures(), &test))
        .collect();
    let row = |height: usize| {
        let places = schemes.at_height(height);
        let is_within =
            |place: &usize| schemes.vector(*place).iter().zip(&level_max).all(|(level, most)| level <= most);
        let (mut within, mut beyond): (Vec<usize>, Vec<usize>) = places.clone().partition(is_within);
        let side = |places: &mut Vec<usize>| {
            places.sort_by_key(|&place| (suppressed[place], place));
            let n_cells = places.len().min(N_CELLS_MAX);
            let cell = |i: usize| {
                let place = places[i * places.len() / n_cells];
                json!([place, suppressed[place]])
            };
            json!({ "n_schemes": places.len(), "cells": (0..n_cells).map(cell).collect::<Vec<_>>() })
        };
        let all = &suppressed[places];
        let mean = all.iter().map(|n| *n as f64).sum::<f64>() / all.len().max(1) as f64;
        json!({
            "height": height,
            "n_schemes": all.len(),
            "n_suppressed": {
                "min": all.iter().min(), "avg": (mean * 100.0).round() / 100.0, "max": all.iter().max(),
            },
            "within": side(&mut within),
            "beyond": side(&mut beyond),
        })
    };
    (0..schemes.n_heights()).map(row).collect()
}

/// What other values of the first criterion would cost: for the scheme at hand, and for the best scheme at each value.
fn against_privacy(
    lattice: &Lattice,
    request: &Request,
    scheme: &Scheme,
    may_promise: &(dyn Fn(&Criteria) -> bool + Sync),
) -> Value {
    let Some(first) = request.criteria.iter().next() else { return Value::Null };
    let place = lattice.schemes().place(scheme);
    let point = |value: u64| {
        let criteria = request.criteria.with(first.with_value(value));
        let outcome = lattice.outcome(place, &criteria);
        let asked = Request { criteria, ..request.clone() };
        let best = match negotiate(lattice, &asked) {
            Ok(Answer::Exact(offer)) => json!({ "n_suppressed": offer.n_suppressed, "loss": offer.losses.ncp }),
            _ => Value::Null,
        };
        json!({
            "value": wire::number(first.measure, value),
            "n_suppressed": outcome.n_suppressed,
            "loss": outcome.ncp,
            "best": best,
        })
    };
    let names = wire::sensitive_names(lattice);
    let is_allowed = |value: &u64| may_promise(&request.criteria.with(first.with_value(*value)));
    let n_values: Vec<u64> = lattice.sensitive().iter().map(|(_, n)| *n as u64).collect();
    let values = values_around(first, lattice.n_records(), &n_values);
    let points: Vec<Value> = values.into_par_iter().filter(is_allowed).map(point).collect();
    json!({ "criterion": wire::key(first.measure, &names), "points": points })
}

/// Round values of a criterion, and the one that is asked for.
pub fn values_around(criterion: Criterion, n_records: u64, n_sensitive_values: &[u64]) -> Vec<u64> {
    let millionths =
        |values: &[f64]| values.iter().map(|value| (value * MILLION as f64).round() as u64).collect::<Vec<_>>();
    let mut values = match criterion.measure {
        measure if measure.is_count() => {
            let most = match measure {
                Measure::Distinct(s) => n_sensitive_values[s],
                _ => n_records,
            };
            let rounds = [2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 70, 100, 150, 200, 300, 500, 1000];
            rounds.into_iter().filter(|value| *value <= most.min(criterion.value.saturating_mul(4).max(30))).collect()
        }
        Measure::Entropy(_) => millionths(&[1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 7.0, 10.0]),
        Measure::Closeness(_) | Measure::Share(_) => {
            millionths(&[0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0])
        }
        _ => millionths(&[0.2, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0]),
    };
    values.push(criterion.value);
    values.sort_unstable();
    values.dedup();
    values
}

/// The bargains over the first criterion that no other beats, thinned out to what a map can show.
pub fn bargains(
    ready: &Ready,
    request: &Request,
    may_promise: &dyn Fn(&Criteria) -> bool,
    work: &Work,
) -> Result<Value> {
    let lattice = &ready.lattice;
    let measure = request.criteria.iter().next().map_or(Measure::Size, |criterion| criterion.measure);
    // At any levels: the map shows what there is to gain by giving in.
    let tops = lattice.schemes().tops().iter().map(|&top| Level(top)).collect();
    let wide = Request { criteria: request.criteria.without(measure), level_max: Scheme::new(tops), ..request.clone() };
    let ranking = Ranking::from(Quality::Ncp);
    let mut all = work.quietly(|task| frontier(lattice, &wide, measure, &ranking, task))?;
    all.retain(|bargain| may_promise(&request.criteria.with(Criterion { measure, value: bargain.value })));
    let attributes: Vec<&str> = lattice.hierarchies().iter().map(|hierarchy| hierarchy.attribute()).collect();
    let step = all.len().div_ceil(400).max(1);
    let bargain = |bargain: &incrowd::search::frontier::Bargain| {
        let scheme = lattice.schemes().scheme(bargain.place);
        json!({
            "value": wire::number(measure, bargain.value),
            "n_suppressed": bargain.n_suppressed,
            "n_groups": bargain.n_groups,
            "average_risk": bargain.n_groups as f64 / (lattice.n_records() - bargain.n_suppressed).max(1) as f64,
            "loss": bargain.loss,
            "levels": wire::levels(&attributes, &scheme),
        })
    };
    let shown: Vec<Value> = all.iter().step_by(step).map(bargain).collect();
    let names = wire::sensitive_names(lattice);
    Ok(json!({ "over": wire::key(measure, &names), "n_bargains": all.len(), "bargains": shown }))
}

/// Some records as they are and as a scheme would publish them.
pub fn sample(
    opened: &Opened,
    ready: &Ready,
    privacy: &Privacy,
    scheme: &Scheme,
    columns: &CountedColumns,
) -> Result<Value> {
    let (counted, lattice) = (&ready.counted, &ready.lattice);
    let yardstick = counted.yardstick(privacy.criteria.iter().map(|criterion| criterion.measure))?;
    let (group_of_base, groups) = groups_of(&counted.counts, &counted.hierarchies, scheme, &yardstick)?;
    let test = groups.test(&privacy.criteria);
    let coarser = coarser(opened, columns)?;
    let show = |record: &Vec<Option<String>>| {
        let codes = codes_of(&counted.counts, columns, record);
        let base = codes.as_ref().and_then(|codes| find(&counted.counts, codes));
        let group = base.map(|base| group_of_base[base] as usize);
        let is_published = group.is_some_and(|group| test.holds(group));
        let label = |a: usize| {
            let level = counted.hierarchies[a].level(scheme.level(a));
            codes.as_ref().map(|codes| level.labels()[level.of_base()[codes[a].index()].index()].clone())
        };
        let n_alike = group.map(|group| groups.size(group));
        shown(opened, counted, columns, &coarser, record, is_published, n_alike, &label)
    };
    let all: Vec<Value> = columns.records.iter().map(show).collect();
    Ok(spread_sample(columns, &all, lattice.n_records()))
}

/// The codes of a record's quasi-identifiers; none where it has a value that was not counted.
pub fn codes_of(
    counts: &incrowd::GroupCounts,
    columns: &CountedColumns,
    record: &[Option<String>],
) -> Option<Vec<Code>> {
    let value = |name: &str| columns.all.iter().position(|column| column.name == name).and_then(|i| record[i].as_ref());
    let code = |domain: &incrowd::Domain| match value(domain.name()) {
        Some(value) => domain.code(value),
        None => domain.missing(),
    };
    counts.domains().iter().map(code).collect()
}

/// What is published of a value; none where that is the value itself.
type Published = Box<dyn Fn(&str) -> Option<String>>;

/// By column, what is published of those that are published coarser than they are.
pub fn coarser(opened: &Opened, columns: &CountedColumns) -> Result<HashMap<String, Published>> {
    let is_coarser = |attribute: &&Attribute| attribute.publish_as.is_some();
    let of = |attribute: &Attribute| {
        let seen = columns.get(&attribute.name).and_then(|column| column.seen.as_ref());
        let values = seen.map(|(domain, counts)| {
            domain.present().map(|(code, value)| (value.to_string(), counts[code.index()])).collect()
        });
        let published = attribute.replacement(&opened.project.missing).published(values.unwrap_or_default())?;
        Ok((attribute.name.clone(), Box::new(published) as Published))
    };
    opened.project.attributes.iter().filter(is_coarser).map(of).collect()
}

/// A record before and after; `label` says what becomes of a quasi-identifier.
pub fn shown(
    opened: &Opened,
    counted: &Counted,
    columns: &CountedColumns,
    coarser: &HashMap<String, Published>,
    record: &[Option<String>],
    is_published: bool,
    n_alike: Option<u64>,
    label: &dyn Fn(usize) -> Option<String>,
) -> Value {
    let role = |name: &str| opened.project.attributes.iter().find(|a| a.name == name).map(|a| a.role);
    let (mut before, mut after) = (Map::new(), Map::new());
    for (column, value) in columns.all.iter().zip(record) {
        let name = &column.name;
        let role = role(name);
        // Who somebody is, is nobody's business here either.
        let is_removed = role.is_some_and(Role::tells_who);
        before.insert(name.clone(), if is_removed { json!("(removed)") } else { json!(value) });
        let place = counted.hierarchies.iter().position(|hierarchy| hierarchy.attribute() == name.as_str());
        match (role, place) {
            (Some(Role::QuasiIdentifier), Some(a)) => {
                if let Some(label) = label(a) {
                    after.insert(name.clone(), json!(label));
                }
            }
            (Some(Role::Sensitive | Role::Other), _) => {
                let coarse = coarser.get(name).zip(value.as_ref()).and_then(|(published, value)| published(value));
                after.insert(name.clone(), json!(coarse.as_ref().or(value.as_ref())));
            }
            (None, _) if opened.project.keep_other => drop(after.insert(name.clone(), json!(value))),
            _ => {}
        }
    }
    json!({ "before": before, "after": after, "published": is_published, "n_alike": n_alike })
}

/// Some of many records; some that are lost are always among them, where there are any.
pub fn spread_sample(columns: &CountedColumns, all: &[Value], n_records: u64) -> Value {
    const N_SHOWN: usize = 12;
    let (published, lost): (Vec<&Value>, Vec<&Value>) = all.iter().partition(|record| record["published"] == true);
    let n_lost = lost.len().min((N_SHOWN / 4).max(N_SHOWN.saturating_sub(published.len())));
    let spread = |records: &[&Value], n: usize| -> Vec<Value> {
        (0..n.min(records.len())).map(|i| records[i * records.len() / n].clone()).collect()
    };
    let records = [spread(&published, N_SHOWN - n_lost), spread(&lost, n_lost)].concat();
    let names: Vec<&String> = columns.all.iter().map(|column| &column.name).collect();
    json!({ "columns": names, "records": records, "n_records": n_records })
}

/// The group with these codes; groups are in the order of their codes.
pub fn find(counts: &incrowd::GroupCounts, codes: &[Code]) -> Option<usize> {
    let (mut low, mut high) = (0, counts.n_groups());
    while low < high {
        let middle = low + (high - low) / 2;
        if counts.codes(middle) < codes { low = middle + 1 } else { high = middle }
    }
    (low < counts.n_groups() && counts.codes(low) == codes).then_some(low)
}

/// A promise in words, for the review before publishing.
pub fn review(opened: &Opened, counted: &Counted, scope: &Scope, offer: &Offer) -> Value {
    let attributes = counted.hierarchies.iter().enumerate().map(|(a, hierarchy)| {
        let level = hierarchy.level(offer.scheme.level(a));
        json!({ "attribute": hierarchy.attribute(), "level": offer.scheme.level(a), "phrase": level.phrase(),
            "n_values": level.len() })
    });
    let mut document = reviewed(opened, counted, &offer.criteria, offer.n_suppressed);
    document["offer"] = answers::offer(scope, offer);
    document["attributes"] = attributes.collect();
    document
}

/// The same for a local method: what its groups will be is known when they are made.
pub fn review_method(
    opened: &Opened,
    counted: &Counted,
    local: &Local,
    criteria: &Criteria,
    n_suppressed: u64,
) -> Value {
    let attributes = counted.hierarchies.iter().enumerate().map(|(a, hierarchy)| {
        let phrase = if counted.is_numeric(a) { "a range for every group" } else { "a label for every group" };
        json!({ "attribute": hierarchy.attribute(), "phrase": phrase })
    });
    let mut document = reviewed(opened, counted, criteria, n_suppressed);
    document["choice"] = json!("method");
    document["method"] = json!({ "name": local.method.name(), "in_words": local.method.words() });
    document["attributes"] = attributes.collect();
    if local.method.is_dealing() {
        let even = "every sensitive value as frequent as in the table, to one record";
        document["promises"].as_array_mut().expect("promises are a list").push(json!(even));
    }
    document
}

/// What every release says about itself beforehand.
fn reviewed(opened: &Opened, counted: &Counted, criteria: &Criteria, n_suppressed: u64) -> Value {
    let (names, n_records) = (counted.sensitive_names(), counted.counts.n_records());
    let promises: Vec<String> = criteria
        .iter()
        .map(|criterion| sentences::promise_in_words(criterion, &names, counted.counts.crowd()))
        .collect();
    let with_role = |role: Role| opened.project.with_role(role).map(|a| a.name.clone()).collect::<Vec<_>>();
    let is_coarser = |attribute: &&Attribute| attribute.publish_as.is_some();
    let coarser = opened.project.attributes.iter().filter(is_coarser).map(|attribute| {
        let how = attribute.publish_as.as_ref().expect("it is published coarser").in_words();
        json!({ "attribute": attribute.name, "in_words": how })
    });
    let removed = [with_role(Role::Identifier), with_role(Role::Person)].concat();
    json!({
        "promises": promises,
        "removed": removed,
        "person": with_role(Role::Person),
        "sensitive": with_role(Role::Sensitive),
        "unchanged": with_role(Role::Other),
        "coarser": coarser.collect::<Vec<_>>(),
        "keeps_unnamed": opened.project.keep_other,
        "n_published": n_records - n_suppressed,
        "n_suppressed": n_suppressed,
        "share_suppressed": percent(n_suppressed, n_records),
        "n_dropped": counted.counts.n_dropped(),
    })
}
