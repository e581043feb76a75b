//! Requests, answers and what they are about as JSON: facts without sentences.

use serde_json::{Map, Value, json};

use crate::criterion::{Criteria, Criterion, MILLION, Measure, NEVER};
use crate::hierarchy::Hierarchy;
use crate::judge::Judgement;
use crate::lattice::{Lattice, Scope};
use crate::recode::tree::negotiate as tree;
use crate::scheme::Scheme;
use crate::search::explain::Explanation;
use crate::search::negotiate::Answer;
use crate::search::on_demand::{FoundAnswer, Proof};
use crate::search::request::Request;
use crate::verify::Verdict;

/// A scheme as `{"age": 1, "race": 0}`, in the project's order of attributes.
pub fn levels(attributes: &[&str], scheme: &Scheme) -> Value {
    let entries = attributes.iter().zip(scheme.levels());
    Value::Object(entries.map(|(name, level)| (name.to_string(), json!(level.0))).collect())
}

/// Criteria as `{"k": 10, "l": 3}`; `sensitive` names the sensitive attributes of the run, in order.
pub fn criteria(criteria: &Criteria, sensitive: &[String]) -> Map<String, Value> {
    let measures: Vec<Measure> = criteria.iter().map(|criterion| criterion.measure).collect();
    let entry = |criterion: Criterion| (key_among(criterion.measure, &measures, sensitive), value(criterion));
    criteria.iter().map(entry).collect()
}

/// The name of a criterion, with its sensitive attribute in front where there are several: `t`, `income:t`.
pub fn key(measure: Measure, sensitive: &[String]) -> String {
    match measure.sensitive() {
        Some(s) if sensitive.len() > 1 => format!("{}:{}", sensitive[s], measure.name()),
        _ => measure.name().to_string(),
    }
}

/// The same where it stands among others: recursive diversity says its l where it is asked with several,
/// `recursive_l3`.
pub fn key_among(measure: Measure, among: &[Measure], sensitive: &[String]) -> String {
    format!("{}{}", key(measure, sensitive), l_among(measure, among))
}

/// What tells recursive diversity from that with another l among the same measures.
pub(super) fn l_among(measure: Measure, among: &[Measure]) -> String {
    let Measure::Recursive { sensitive, l } = measure else { return String::new() };
    let is_other = |known: &Measure| matches!(*known, Measure::Recursive { sensitive: s, l: other } if s == sensitive && other != l);
    if among.iter().any(is_other) { format!("_l{l}") } else { String::new() }
}

/// The measure that a criterion's name means; of recursive diversity that with the smallest l, where the name
/// leaves it open.
pub fn measure_of(key: &str, sensitive: &[String]) -> Option<Measure> {
    let (s, name) = match key.rsplit_once(':') {
        Some((attribute, name)) => (sensitive.iter().position(|known| known == attribute)?, name),
        None => (0, key),
    };
    // Recursive diversity with its l.
    let (name, l) = match name.rsplit_once("_l").map(|(name, l)| (name, l.parse())) {
        Some((name, Ok(l))) => (name, l),
        _ => (name, 2),
    };
    let measure = match Measure::parse(name)?.about(s) {
        Measure::Recursive { sensitive, .. } => Measure::Recursive { sensitive, l },
        measure => measure,
    };
    let is_about_nothing = measure.sensitive().is_some_and(|s| s >= sensitive.len());
    (!is_about_nothing).then_some(measure)
}

/// What a criterion asks for: a number, or `{"c": 2, "l": 3}`.
pub fn value(criterion: Criterion) -> Value {
    match criterion.measure {
        Measure::Recursive { l, .. } => json!({ "c": number(criterion.measure, criterion.value), "l": l }),
        measure => number(measure, criterion.value),
    }
}

/// A value of a measure; null where no value is reached.
pub fn number(measure: Measure, value: u64) -> Value {
    match value {
        NEVER => Value::Null,
        value if measure.is_count() => json!(value),
        // Whole numbers as such: 2, not 2.0.
        value if value % MILLION == 0 => json!(value / MILLION),
        value => json!(value as f64 / MILLION as f64),
    }
}

/// Reads a criterion back from its name and value, as [`criteria`] writes them.
pub fn criterion_of(key: &str, value: &Value, sensitive: &[String]) -> Option<Criterion> {
    let millionths =
        |value: &Value| Some((value.as_f64().filter(|v| *v >= 0.0 && *v < 1e12)? * MILLION as f64).round() as u64);
    let (measure, value) = match measure_of(key, sensitive)? {
        Measure::Recursive { sensitive, .. } => {
            let l = u32::try_from(value.get("l")?.as_u64()?).ok().filter(|l| *l > 0)?;
            (Measure::Recursive { sensitive, l }, millionths(value.get("c")?)?)
        }
        measure if measure.is_count() => (measure, value.as_u64()?),
        measure => (measure, millionths(value)?),
    };
    Some(Criterion { measure, value })
}

fn attributes(scope: &Scope) -> Vec<&str> {
    scope.hierarchies().iter().map(|hierarchy| hierarchy.attribute()).collect()
}

/// What each level of a scheme is called.
pub fn level_names(hierarchies: &[Hierarchy], scheme: &Scheme) -> Value {
    let name = |(a, hierarchy): (usize, &Hierarchy)| {
        (hierarchy.attribute().to_string(), json!(hierarchy.level(scheme.level(a)).name()))
    };
    Value::Object(hierarchies.iter().enumerate().map(name).collect())
}

/// What a local method was asked for: criteria, and how many records may be suppressed, where any may.
pub fn asked_of_method(asked: &Criteria, n_suppressed_max: u64, sensitive: &[String]) -> Value {
    let mut object = criteria(asked, sensitive);
    if n_suppressed_max > 0 {
        object.insert("max_suppressed".into(), json!(n_suppressed_max));
    }
    Value::Object(object)
}

/// A request as it was understood, by the names of the quasi-identifiers and of the sensitive attributes.
pub fn request_of(attributes: &[&str], sensitive: &[String], request: &Request) -> Value {
    let mut object = criteria(&request.criteria, sensitive);
    object.insert("max_suppressed".into(), json!(request.n_suppressed_max));
    object.insert("max_level".into(), levels(attributes, &request.level_max));
    object.insert("best_by".into(), json!(request.best_by.name()));
    Value::Object(object)
}

/// A request over local recoding, in the same way.
pub fn local_request_of(attributes: &[&str], sensitive: &[String], request: &tree::Request) -> Value {
    let mut object = criteria(&request.criteria, sensitive);
    object.insert("max_suppressed".into(), json!(request.n_suppressed_max));
    let limits = loss_limits(attributes, request);
    if !limits.is_empty() {
        object.insert("max_loss".into(), Value::Object(limits));
    }
    Value::Object(object)
}

/// What may be lost by a request over local recoding, by attribute, with `*` for everything.
pub fn loss_limits(attributes: &[&str], request: &tree::Request) -> Map<String, Value> {
    let of = request.loss_max_of.iter().map(|&(a, share)| (attributes[a].to_string(), json!(share)));
    let all = request.loss_max.map(|share| ("*".to_string(), json!(share)));
    all.into_iter().chain(of).collect()
}

/// The sensitive attributes of a scope.
pub fn sensitive_names(scope: &Scope) -> Vec<String> {
    scope.sensitive().iter().map(|(name, _)| name.clone()).collect()
}

/// What a recoding loses, by the quality functions that need no levels.
pub fn losses_of_judgement(judgement: &Judgement) -> Value {
    losses_of_cells(judgement.ncp, judgement.discernibility, judgement.mean_group_size)
}

/// The same by its numbers.
pub fn losses_of_cells(ncp: f64, discernibility: u128, group_size: f64) -> Value {
    json!({ "ncp": rounded(ncp), "discernibility": large(discernibility), "group_size": rounded(group_size) })
}

/// What a release itself shows of what was lost: how large the groups are in which records cannot be told apart.
pub fn losses_of_release(verdict: &Verdict) -> Value {
    json!({
        "discernibility": large(verdict.n_squares),
        "group_size": rounded(verdict.n_records as f64 / verdict.n_groups.max(1) as f64),
    })
}

/// A whole number, as exactly as JSON can say it.
pub(super) fn large(n: u128) -> Value {
    u64::try_from(n).map_or_else(|_| json!(n as f64), |n| json!(n))
}

/// Which part of the lattice an answer comes from, and what is proved about it among all schemes.
pub fn partial(lattice: &Lattice, found: &FoundAnswer) -> Value {
    let mut object = on_demand(found);
    if let (Value::Object(object), Some(selection)) = (&mut object, lattice.selection()) {
        object.remove("n_evaluated");
        object.insert("n_annotated".into(), json!(lattice.schemes().len()));
        object.insert("share".into(), json!(selection.share));
        object.insert("estimator".into(), json!(selection.estimator.name()));
    }
    object
}

/// How an answer on demand was found, and what is proved about it.
pub fn on_demand(found: &FoundAnswer) -> Value {
    // Nothing does better than a loss that is beyond all losses.
    let bound = |proof: &Proof| match proof.loss_at_least.is_finite() {
        true => json!({ "is_optimal": proof.is_optimal, "loss_at_least": proof.loss_at_least }),
        false => json!({ "is_optimal": proof.is_optimal, "loss_at_least": null }),
    };
    let names: &[&str] = match &found.answer {
        Answer::Exact(_) => &["exact"],
        Answer::Offers(_) => &["suppression", "height", "privacy"],
    };
    let proofs: Map<String, Value> =
        names.iter().zip(&found.proofs).map(|(name, proof)| (name.to_string(), bound(proof))).collect();
    json!({
        "n_evaluated": found.n_evaluated,
        "is_proved": found.is_proved(),
        "is_decided": found.is_decided,
        "proofs": proofs,
    })
}

/// Why a scheme suppresses what it does.
pub fn explanation(scope: &Scope, explanation: &Explanation) -> Value {
    let names = attributes(scope);
    let by_attribute = explanation.by_attribute.iter().map(|contribution| {
        let hierarchy = &scope.hierarchies()[contribution.attribute];
        json!({
            "attribute": names[contribution.attribute],
            "level": contribution.level.0,
            "level_name": hierarchy.level(contribution.level.0 as usize).name(),
            "n_caused": contribution.n_caused,
            "n_saved_by_next": contribution.n_saved_by_next,
        })
    });
    let by_size = explanation
        .by_size
        .iter()
        .map(|share| json!({ "size": share.size, "n_records": share.n_records, "n_suppressed": share.n_suppressed }));
    json!({
        "levels": levels(&names, &explanation.scheme),
        "n_suppressed": explanation.n_suppressed,
        "by_attribute": by_attribute.collect::<Vec<_>>(),
        "by_size": by_size.collect::<Vec<_>>(),
    })
}

/// A share from 0 to 1, rounded to what is worth reading.
pub fn share(n: u64, of: u64) -> f64 {
    if of == 0 { 0.0 } else { rounded(n as f64 / of as f64) }
}

/// Six decimals are enough for anything that is measured.
pub fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}
