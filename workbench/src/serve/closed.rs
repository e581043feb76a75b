//! A server without preview: what may be asked of data that whoever asks must not see.
//!
//! Roles, hierarchies and data are those of the project that is served. Whoever could change them could have the table
//! published as it is, or ask about values one by one. The request is theirs, as far as it promises what the project
//! promises.

use std::sync::Arc;

use crate::sentences::criterion_in_words;
use axum::http::StatusCode;
use incrowd::{Criteria, Criterion, Measure, Request, Result, Role};
use serde_json::{Map, Value, json};

use super::document::{with_kept, without_nulls};
use super::problem::Problem;
use super::tables::Opened;
use super::text::is_same;
use crate::input::count::Counted;
use crate::orders::request::{About, GivenRequest, Privacy, resolve};

/// Numbers that are measured with the source: over its range, against its distribution, by queries that it answers. From
/// several of them what suppressed records have could be computed. So are the people of a release: it does not say whose
/// records it has.
const OF_SOURCE: [&str; 6] = ["ncp", "entropy", "loss_at_least", "loss_of", "ncp_of_attribute", "query_error"];

/// Criteria that compare with the source or a population.
const RELATIVE: [&str; 5] = ["t", "delta", "beta", "enhanced_beta", "k_map"];

/// Takes out of an answer what is measured with the source.
pub fn veil(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(veil),
        Value::Object(entries) => {
            for (key, value) in entries {
                // With names of values in it, and all of it about the source.
                if key == "analyses" {
                    *value = Value::Null;
                    continue;
                }
                let is_measured = OF_SOURCE.contains(&key.as_str())
                    || key == "loss" && !value.is_object()
                    || key == "people" && value.is_object();
                match (key.as_str(), value) {
                    (_, value) if is_measured => blank(value),
                    ("reached", Value::Object(reached)) => {
                        let is_relative = |key: &str| RELATIVE.contains(&key.rsplit(':').next().unwrap_or(key));
                        let relative = reached.iter_mut().filter(|(key, _)| is_relative(key));
                        relative.for_each(|(_, value)| *value = Value::Null);
                    }
                    (_, value) => veil(value),
                }
            }
        }
        _ => {}
    }
}

/// Nothing in the place of every number.
fn blank(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(blank),
        Value::Object(entries) => entries.values_mut().for_each(blank),
        Value::Number(_) => *value = Value::Null,
        _ => {}
    }
}

/// What a request is over: one level for all, or ranges per group, where levels and their order play no part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    Levels,
    Ranges,
}

/// The project that is served, and the least that it promises.
pub struct Closed {
    served: Arc<Opened>,
    sensitive: Vec<String>,
    least: Criteria,
}

impl Closed {
    pub fn new(served: Arc<Opened>) -> Result<Closed> {
        let sensitive: Vec<String> =
            served.project.with_role(Role::Sensitive).map(|attribute| attribute.name.clone()).collect();
        let known: Vec<&str> = sensitive.iter().map(String::as_str).collect();
        let (policy, request) = (&served.project.policy.floors, &served.project.request.criteria);
        let (floors, section) = if policy.is_empty() { (request, "request") } else { (policy, "policy") };
        let standing = resolve(floors, &known, None)
            .map_err(|error| error.or_at(format!("{}: [{section}]", served.project.file.display())))?;
        let least = standing.about(&sensitive).criteria;
        Ok(Closed { served, sensitive, least })
    }

    /// Refuses what promises less than the project does, by any of its criteria.
    pub fn check(&self, criteria: &Criteria, sensitive: &[String]) -> std::result::Result<(), Problem> {
        let privacy =
            Privacy { criteria: criteria.clone(), floors: Criteria::default(), sensitive: sensitive.to_vec() };
        let asked = privacy.about(&self.sensitive).criteria;
        let missed = self.least.iter().find(|least| !asked.iter().any(|asked| is_as_strict(asked, *least)));
        if let Some(least) = missed {
            let words = criterion_in_words(least, &self.sensitive);
            return Err(refused(format!("this promises less than the project does: {words}"))
                .hint("ask for as much of every criterion as the project's standing request or policy, or for more"));
        }
        let hides = |criterion: Criterion| {
            matches!(criterion.measure, Measure::Size | Measure::Distinct(_)) && criterion.value > 1
        };
        let promises = |criterion: Criterion| criterion.measure != Measure::Size || criterion.value > 1;
        match self.least.iter().any(promises) || asked.iter().any(hides) {
            true => Ok(()),
            false => Err(refused("this promise hides nobody").hint("ask for k = 2 at least")),
        }
    }

    pub fn allows(&self, criteria: &Criteria, sensitive: &[String]) -> bool {
        self.check(criteria, sensitive).is_ok()
    }

    /// The first of the locked wishes that is not what the served project's standing request has.
    pub fn moved(&self, counted: &Counted, privacy: &Privacy, asked: &Request, over: Over) -> Result<Option<String>> {
        let locked = &self.served.project.policy.locked;
        if locked.is_empty() {
            return Ok(None);
        }
        let (project, hierarchies) = (&self.served.project, &counted.hierarchies);
        let given = GivenRequest::default();
        let own = given.privacy(project, &About::default())?;
        let standing = given.checked(project, &own, hierarchies, counted.counts.n_records())?;
        let of = |privacy: &Privacy, name: &str| -> Vec<Criterion> {
            let about = privacy.about(&self.sensitive).criteria;
            about.iter().filter(|criterion| criterion.measure.name() == name).collect()
        };
        let is_moved = |name: &&String| match name.as_str() {
            "max_suppressed" => asked.n_suppressed_max != standing.n_suppressed_max,
            "best_by" => over == Over::Levels && asked.best_by != standing.best_by,
            name => match hierarchies.iter().position(|hierarchy| hierarchy.attribute() == name) {
                Some(i) => over == Over::Levels && asked.level_max.levels()[i] != standing.level_max.levels()[i],
                None => of(privacy, name) != of(&own, name),
            },
        };
        Ok(locked.iter().find(is_moved).cloned())
    }

    /// The edited document with what is never shown put back; refused where more than wishes and weights is edited.
    pub fn edited(&self, document: Value) -> std::result::Result<Value, Problem> {
        let document = with_kept(document, &self.served.document);
        match is_same(&fixed(&document), &fixed(&self.served.document)) {
            true => Ok(document),
            false => Err(refused("roles, hierarchies and data are those of the served project")
                .hint("without --allow-preview only the request and the weights can be changed")),
        }
    }
}

/// What a server without preview does not do at all.
pub fn refused(message: impl Into<String>) -> Problem {
    Problem::new(StatusCode::FORBIDDEN, "request", message)
}

/// Whether a criterion holds wherever another does.
fn is_as_strict(asked: Criterion, least: Criterion) -> bool {
    let is_alike = match (asked.measure, least.measure) {
        (Measure::Recursive { sensitive, l }, Measure::Recursive { sensitive: known, l: l_least }) => {
            sensitive == known && l >= l_least
        }
        (asked, least) => asked == least,
    };
    is_alike && least.holds(asked.value)
}

/// What is not to be changed: everything but the request and the weights.
fn fixed(document: &Value) -> Value {
    let mut document = without_nulls(document);
    if let Some(sections) = document.as_object_mut() {
        sections.shift_remove("request");
        sections.entry("attributes").or_insert(json!({}));
    }
    let attributes = document.get_mut("attributes").and_then(Value::as_object_mut);
    for attribute in attributes.into_iter().flat_map(Map::values_mut) {
        attribute.as_object_mut().map(|attribute| attribute.shift_remove("weight"));
    }
    document
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stricter_is_as_strict_and_weaker_is_not() {
        let of = |measure, value| Criterion { measure, value };
        for (measure, stricter) in [
            (Measure::Size, true),
            (Measure::Population, true),
            (Measure::Distinct(1), true),
            (Measure::Entropy(0), true),
            (Measure::Share(0), false),
            (Measure::Closeness(0), false),
            (Measure::Disclosure(0), false),
            (Measure::Likeness(0), false),
            (Measure::EnhancedLikeness(0), false),
            (Measure::Recursive { sensitive: 0, l: 3 }, false),
        ] {
            let least = of(measure, 500);
            assert!(is_as_strict(least, least));
            assert_eq!(is_as_strict(of(measure, 501), least), stricter, "{measure:?}");
            assert_eq!(is_as_strict(of(measure, 499), least), !stricter, "{measure:?}");
        }
        let recursive = |l, c| of(Measure::Recursive { sensitive: 0, l }, c);
        assert!(is_as_strict(recursive(4, 2), recursive(3, 2)) && !is_as_strict(recursive(2, 2), recursive(3, 2)));
        assert!(!is_as_strict(of(Measure::Distinct(0), 9), of(Measure::Distinct(1), 2)));
        assert!(!is_as_strict(of(Measure::Size, 9), of(Measure::Distinct(0), 2)));
    }
}
