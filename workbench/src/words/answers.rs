//! Offers and answers as JSON documents, with a sentence for each.

use incrowd::lattice::Scope;
use incrowd::recode::tree::negotiate as tree;
use incrowd::wire;
use incrowd::{Answer, Offer, Request};
use serde_json::{Map, Value, json};

use crate::input::count::Material;
use crate::orders::negotiate_local::LocallyNegotiated;
use crate::sentences::{concession, in_words};

/// An offer as JSON, with its one sentence in words.
pub fn offer(scope: &Scope, offer: &Offer) -> Value {
    let said = |offer: &Offer| vec![("in_words", in_words(scope, offer))];
    wire::WrittenOffer { scope, offer, said: &said }.to_value()
}

/// The answer to a request as JSON, with a sentence for every offer that says what it means, and what it gives up.
pub fn answer(scope: &Scope, asked: &Request, answer: &Answer) -> Value {
    let said = |offer: &Offer| said_of(scope, asked, answer, offer);
    wire::WrittenAnswer { scope, asked, answer, said: &said, more: Vec::new() }.to_value()
}

/// What an offer of an answer means, and what it gives up of the request.
pub fn said_of(scope: &Scope, asked: &Request, answer: &Answer, offer: &Offer) -> wire::Said {
    let mut said = vec![("in_words", in_words(scope, offer))];
    if let Answer::Offers(_) = answer {
        said.push(("concession", concession(scope, asked, offer)));
    }
    said
}

/// The answer to a request over local recoding.
pub fn locally_negotiated(negotiated: &LocallyNegotiated) -> Value {
    let LocallyNegotiated { counted, tree, request, answer } = negotiated;
    let offer = |offer: &tree::Offer| local_offer(counted, offer);
    let (outcome, key, offers) = match answer {
        tree::Answer::Exact(exact) => ("exact", "exact", offer(exact)),
        tree::Answer::Offers(offers) => {
            let mut made = json!({
                "suppression": offers.suppression.as_ref().map(offer),
                "loss": offers.loss.as_ref().map(offer),
                "privacy": offers.privacy.as_ref().map(offer),
            });
            if offers.privacy_alternatives.len() > 1 {
                made["privacy_alternatives"] = offers.privacy_alternatives.iter().map(offer).collect();
            }
            ("offers", "offers", made)
        }
    };
    json!({
        "outcome": outcome,
        "local": true,
        "request": local_request(counted, request),
        "n_records": counted.counts.n_records(),
        "n_dropped": counted.counts.n_dropped(),
        "n_nodes": tree.shape().n_nodes(),
        key: offers,
    })
}

/// A request over local recoding as it was understood.
pub fn local_request(counted: &Material, request: &tree::Request) -> Value {
    let mut document = json!({
        "criteria": wire::criteria(&request.criteria, &counted.sensitive_names()),
        "max_suppressed": request.n_suppressed_max,
    });
    let names: Vec<&str> = counted.hierarchies.iter().map(|hierarchy| hierarchy.attribute()).collect();
    let limits = wire::loss_limits(&names, request);
    if !limits.is_empty() {
        document["max_loss"] = Value::Object(limits);
    }
    document
}

/// A cut of the tree: what it promises, loses and reaches.
fn local_offer(counted: &Material, offer: &tree::Offer) -> Value {
    let sensitive = counted.sensitive_names();
    let names = counted.hierarchies.iter().map(|hierarchy| hierarchy.attribute().to_string());
    let ncp = names.zip(&offer.ncp_of_attribute).map(|(name, ncp)| (name, json!(wire::rounded(*ncp))));
    let reached =
        offer.reached.iter().map(|&(measure, value)| (wire::key(measure, &sensitive), wire::number(measure, value)));
    json!({
        "criteria": wire::criteria(&offer.criteria, &sensitive),
        "n_suppressed": offer.cut.n_suppressed,
        "n_groups": offer.n_groups(),
        "reached": reached.collect::<Map<String, Value>>(),
        "loss": wire::rounded(offer.ncp),
        "loss_at_least": wire::rounded(offer.ncp_at_least),
        "loss_of": ncp.collect::<Map<String, Value>>(),
    })
}
