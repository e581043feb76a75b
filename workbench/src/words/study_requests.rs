//! What requests get in which way, as a document, as rows and as pictures.

use incrowd::search::partial::{Estimator, Selection};
use incrowd::{Answer, Offer, wire};
use serde_json::{Map, Value, json};

use super::figures::{Figure, whole};
use super::studies::difference;
use crate::orders::study_lattice::KINDS;
use crate::orders::study_requests::{AskedRequest, AskedSet, Prepared, StudiedRequests, Way, WayAnswer, WaySummary};
use crate::output::bars::{self, Bars};
use crate::sentences::criterion_in_words;

/// What requests get in which way.
pub fn document(study: &StudiedRequests) -> Value {
    let set = |set: &AskedSet| {
        let way = |(i, prepared): (usize, &Prepared)| {
            let WaySummary { n_requests, n_exact, n_missed, n_equal, mean_looked_at, mean_seconds, .. } =
                set.summary(i);
            let [levels, schemes, annotating] = prepared.seconds.map(wire::rounded);
            json!({
                "way": prepared.way.name(),
                "n_annotated": prepared.n_annotated,
                "n_bytes": prepared.n_bytes,
                "making": { "levels": { "seconds": levels }, "schemes": { "seconds": schemes }, "annotating": { "seconds": annotating } },
                "n_requests": n_requests,
                "n_exact": n_exact,
                "n_missed": n_missed,
                "n_equal": n_equal,
                "mean_n_looked_at": wire::rounded(mean_looked_at),
                "seconds": wire::rounded(mean_seconds),
            })
        };
        json!({
            "quasi_identifiers": set.attributes,
            "n_records": set.whole.n_records(),
            "n_schemes": set.whole.schemes().len(),
            "ways": set.ways.iter().enumerate().map(way).collect::<Vec<Value>>(),
            "requests": set.requests.iter().map(|asked| of_request(set, asked)).collect::<Vec<Value>>(),
        })
    };
    json!({ "sets": study.sets.iter().map(set).collect::<Vec<Value>>() })
}

fn of_request(set: &AskedSet, asked: &AskedRequest) -> Value {
    let answer = |(prepared, answer): (&Prepared, &WayAnswer)| {
        let kinds = KINDS.iter().zip(&answer.differences).map(|(kind, by)| (kind.to_string(), difference(by)));
        let found = offers(&answer.answer).into_iter().map(|(kind, offer)| (kind.to_string(), of_offer(set, offer)));
        json!({
            "way": prepared.way.name(),
            "outcome": if matches!(answer.answer, Answer::Exact(_)) { "exact" } else { "offers" },
            "found": Value::Object(found.collect::<Map<String, Value>>()),
            "differences": Value::Object(kinds.collect::<Map<String, Value>>()),
            "n_looked_at": answer.n_looked_at,
            "seconds": wire::rounded(answer.seconds),
        })
    };
    json!({
        "request": wire::request(&set.whole, &asked.request),
        "answers": set.ways.iter().zip(&asked.answers).map(answer).collect::<Vec<Value>>(),
    })
}

fn of_offer(set: &AskedSet, offer: &Offer) -> Value {
    json!({
        "levels": offer.scheme.levels().iter().map(|level| level.0).collect::<Vec<u8>>(),
        "height": offer.scheme.height(),
        "criteria": wire::criteria(&offer.criteria, &wire::sensitive_names(&set.whole)),
        "n_suppressed": offer.n_suppressed,
        "ncp": wire::rounded(offer.losses.ncp),
    })
}

fn offers(answer: &Answer) -> Vec<(&'static str, &Offer)> {
    match answer {
        Answer::Exact(offer) => vec![(KINDS[0], offer)],
        Answer::Offers(offers) => {
            let made = [Some(&offers.suppression), offers.height.as_ref(), offers.privacy.as_ref()];
            KINDS[1..].iter().copied().zip(made).filter_map(|(kind, offer)| Some((kind, offer?))).collect()
        }
    }
}

/// The columns of the rows.
pub const HEADER: [&str; 15] = [
    "n_quasi_identifiers",
    "criteria",
    "max_suppressed",
    "max_level",
    "way",
    "answer",
    "levels",
    "height",
    "promised",
    "n_suppressed",
    "ncp",
    "n_looked_at",
    "missed",
    "more_suppressed",
    "milliseconds",
];

/// A row per request, way and offer.
pub fn rows(study: &StudiedRequests) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for set in &study.sets {
        let names = wire::sensitive_names(&set.whole);
        let promised = |criteria: &incrowd::Criteria| {
            criteria.iter().map(|criterion| criterion_in_words(criterion, &names)).collect::<Vec<_>>().join(", ")
        };
        for asked in &set.requests {
            let request = &asked.request;
            for (prepared, answer) in set.ways.iter().zip(&asked.answers) {
                let missed = KINDS.iter().zip(&answer.differences);
                let missed = missed.filter(|(_, by)| matches!(by, crate::orders::study_lattice::Difference::Lost));
                let missed = missed.map(|(kind, _)| *kind).collect::<Vec<_>>().join(" ");
                for (kind, offer) in offers(&answer.answer) {
                    let by = KINDS.iter().position(|known| *known == kind).map(|i| &answer.differences[i]);
                    let more = match by {
                        Some(crate::orders::study_lattice::Difference::By { n_suppressed, .. }) => {
                            n_suppressed.to_string()
                        }
                        _ => String::new(),
                    };
                    rows.push(vec![
                        set.attributes.len().to_string(),
                        promised(&request.criteria),
                        request.n_suppressed_max.to_string(),
                        request.level_max.to_string(),
                        prepared.way.name(),
                        kind.to_string(),
                        offer.scheme.to_string(),
                        offer.scheme.height().to_string(),
                        promised(&offer.criteria),
                        offer.n_suppressed.to_string(),
                        wire::rounded(offer.losses.ncp).to_string(),
                        answer.n_looked_at.to_string(),
                        missed.clone(),
                        more,
                        format!("{:.3}", answer.seconds * 1e3),
                    ]);
                }
            }
        }
    }
    rows
}

/// The columns of the summary, a row per set and way.
pub const SUMMARY_HEADER: [&str; 12] = [
    "attributes",
    "way",
    "schemes",
    "kB",
    "making s",
    "exact",
    "missed",
    "equal",
    "Δ lost",
    "Δ height",
    "looked at",
    "ms",
];

pub fn summary_rows(study: &StudiedRequests) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for set in &study.sets {
        for (i, prepared) in set.ways.iter().enumerate() {
            let summary = set.summary(i);
            rows.push(vec![
                set.attributes.len().to_string(),
                prepared.way.name(),
                prepared.n_annotated.to_string(),
                prepared.n_bytes.div_ceil(1000).to_string(),
                format!("{:.3}", prepared.seconds.iter().sum::<f64>()),
                format!("{}/{}", summary.n_exact, summary.n_requests),
                summary.n_missed.to_string(),
                summary.n_equal.to_string(),
                format!("{:+.1}", summary.mean_n_suppressed),
                format!("{:+.2}", summary.mean_height),
                format!("{:.1}", summary.mean_looked_at),
                format!("{:.2}", summary.mean_seconds * 1e3),
            ]);
        }
    }
    rows
}

/// The pictures: what each way looks at, misses and takes.
pub fn figures(study: &StudiedRequests) -> Vec<Figure> {
    let ways: Vec<Way> = study.sets.first().map_or(Vec::new(), |set| set.ways.iter().map(|way| way.way).collect());
    let chart = |name: &str,
                 title: &str,
                 y_name: &str,
                 caption: &str,
                 y_label: fn(f64) -> String,
                 of: &dyn Fn(&AskedSet, usize) -> f64| {
        let kind = |set: &AskedSet| {
            (format!("{} attributes", set.attributes.len()), (0..ways.len()).map(|way| Some(of(set, way))).collect())
        };
        Figure {
            name: name.into(),
            title: title.into(),
            caption: format!("{caption} {LEGEND}"),
            svg: bars::svg(&Bars {
                title: title.into(),
                x_name: "way to an answer".into(),
                y_name: y_name.into(),
                places: ways.iter().map(|&way| short(way)).collect(),
                groups: groups(&ways),
                kinds: study.sets.iter().map(kind).collect(),
                y_label,
            }),
        }
    };
    vec![
        chart("looked-at", "Schemes looked at", "schemes, on average", "Per request.", whole, &|set, way| {
            set.summary(way).mean_looked_at
        }),
        chart("missed", "Answers missed", "answers", "Exact answers and offers.", whole, &|set, way| {
            set.summary(way).n_missed as f64
        }),
        chart("annotated", "Schemes annotated", "schemes", "Before the first request.", whole, &|set, way| {
            set.ways[way].n_annotated as f64
        }),
        chart("time", "Time of an answer", "ms, on average", "Per request.", milliseconds, &|set, way| {
            set.summary(way).mean_seconds * 1e3
        }),
    ]
}

/// A number at an axis: without decimals where it has none.
fn milliseconds(y: f64) -> String {
    if y.fract() == 0.0 { whole(y) } else { format!("{y:.2}") }
}

const LEGEND: &str = "Of the whole lattice: ours, and as published; of parts, by their share and estimator, with + where the \
                      coarsest acceptable scheme is evaluated when the request arrives; and on demand.";

/// A way in a few letters, beside others of its group.
fn short(way: Way) -> String {
    let letters = |of: Selection| match of.estimator {
        Estimator::Gamma => "Γ",
        Estimator::Mu => "M",
        Estimator::GammaMu => "ΓM",
        Estimator::Lambda => "Λ",
        other => other.name(),
    };
    match way {
        Way::Whole => "ours".into(),
        Way::Published => "pub".into(),
        Way::Partial(of) => letters(of).into(),
        Way::Extended(of) => format!("{}+", letters(of)),
        Way::OnDemand => "".into(),
    }
}

/// Ways that have something in common, as they follow each other.
fn groups(ways: &[Way]) -> Vec<(String, usize)> {
    let name = |way: &Way| match way {
        Way::Whole | Way::Published => "whole".to_string(),
        Way::Partial(of) | Way::Extended(of) => format!("{} %", (of.share * 1e4).round() / 100.0),
        Way::OnDemand => "none".to_string(),
    };
    let mut groups: Vec<(String, usize)> = Vec::new();
    for name in ways.iter().map(name) {
        match groups.last_mut() {
            Some((last, n)) if *last == name => *n += 1,
            _ => groups.push((name, 1)),
        }
    }
    groups
}
