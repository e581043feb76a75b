//! Results as JSON documents, the same words for `--json`, HTTP and Python.

use incrowd::wire;
use serde_json::{Map, Value, json};

use crate::note::{Note, TooMuch};
use crate::orders::negotiate::{Negotiated, Where};
use crate::sentences;
use crate::words::notes::{Front, in_words};

/// An answer, with what is proved of it.
pub fn negotiated(negotiated: &Negotiated) -> Value {
    let Negotiated { scope, request, answer, found, explanation } = negotiated;
    let mut document = sentences::answer(scope, request, answer);
    match found {
        Where::Whole => {}
        Where::Partial(lattice, found) => document["partial"] = wire::partial(lattice, found),
        Where::OnDemand(searched) => document["on_demand"] = wire::on_demand(&searched.found),
    }
    if let Some((lattice, explanation)) = explanation {
        document["explanation"] = wire::explanation(lattice, explanation);
    }
    document
}

/// Notes with their facts, and in the words of a front.
pub fn notes(notes: &[Note], front: Front) -> Value {
    notes
        .iter()
        .map(|note| {
            let mut document = facts(note);
            document.insert("code".into(), json!(note.code()));
            document.insert("text".into(), json!(in_words(note, front)));
            Value::Object(document)
        })
        .collect()
}

fn facts(note: &Note) -> Map<String, Value> {
    let facts = match note {
        Note::Dropped { n_records, n_all } => json!({ "n_records": n_records, "n_all": n_all }),
        Note::Strangers { attribute, n_values } => json!({ "attribute": attribute, "n_values": n_values }),
        Note::NoHierarchy { attribute, n_values, n_not_numbers } => {
            json!({ "attribute": attribute, "n_values": n_values, "n_not_numbers": n_not_numbers })
        }
        Note::NoSteps { attribute } => json!({ "attribute": attribute }),
        Note::NotWhole { part, n_schemes, why } => json!({
            "extent": if part.is_some() { "partial" } else { "on-demand" },
            "share": part.map(|(share, _)| share),
            "estimator": part.map(|(_, estimator)| estimator),
            "n_schemes": n_schemes,
            "why": match why {
                TooMuch::Memory { .. } => "memory",
                TooMuch::Minutes { .. } => "time",
                TooMuch::Refused(_) => "refused",
            },
        }),
        Note::OnDemandAfterAll { .. } | Note::DataNotHere => json!({}),
        Note::Updated { n_appended, n_removed } => json!({ "n_appended": n_appended, "n_removed": n_removed }),
        Note::NotPromised { method } | Note::LevelsIgnored { method } => json!({ "method": method }),
        Note::KsLeftOut { ks, n_records } => json!({ "ks": ks, "n_records": n_records }),
        Note::KsBeyond { ks } => json!({ "ks": ks }),
        Note::SchemesNotDrawn { n_max } => json!({ "n_max": n_max }),
    };
    match facts {
        Value::Object(facts) => facts,
        _ => Map::new(),
    }
}
