//! What lies outside a release and some criteria compare it with: the original distribution, the population.

use std::collections::HashMap;

use incrowd::table::Code;
use incrowd::verify::{Original, Outside};
use incrowd::{Criteria, Distance, Domain, Scheme, Yardstick};
use serde_json::{Map, Value, json};

use crate::count::Counted;

type Text = Option<String>;

/// Everything that the project knows, with texts as the release writes them; `missing` is how it writes "no value".
///
/// Whom of the population a group may be is known for a scheme only.
pub fn outside(counted: &Counted, scheme: Option<&Scheme>, missing: &Text) -> Outside {
    let originals = (0..counted.sensitive.len()).map(|s| Some(original(counted, s, missing))).collect();
    Outside { originals, population: scheme.and_then(|scheme| population(counted, scheme, missing)) }
}

fn text_of(domain: &Domain, code: usize, missing: &Text) -> Text {
    match domain.missing() {
        Some(Code(known)) if known as usize == code => missing.clone(),
        _ => Some(domain.values()[code].clone()),
    }
}

fn original(counted: &Counted, sensitive: usize, missing: &Text) -> Original {
    let domain = &counted.counts.sensitive()[sensitive];
    let (distance, hierarchy) = &counted.distances[sensitive];
    let counts = counted.counts.distribution(sensitive).into_iter().enumerate();
    let all = 0..domain.len();
    Original {
        counts: counts.map(|(code, n)| (text_of(domain, code, missing), n)).collect(),
        distance: *distance,
        labels: match hierarchy {
            Some(hierarchy) => all.map(|code| hierarchy.path(code)).collect(),
            None => all.map(|_| Vec::new()).collect(),
        },
    }
}

/// How many people of the population share each combination of published values.
fn population(counted: &Counted, scheme: &Scheme, missing: &Text) -> Option<HashMap<Vec<Text>, u64>> {
    let mut people = HashMap::new();
    for (codes, n) in counted.counts.population()?.groups() {
        let label = |(a, code): (usize, &Code)| {
            let (hierarchy, level) = (&counted.hierarchies[a], scheme.level(a));
            let values = hierarchy.level(level);
            match hierarchy.is_missing(level, values.of_base()[code.index()]) {
                true => missing.clone(),
                false => Some(values.label_of(code.index()).to_string()),
            }
        };
        *people.entry(codes.iter().enumerate().map(label).collect()).or_default() += n;
    }
    Some(people)
}

/// What a certificate says about the original table, for the sensitive attributes of relative criteria.
///
/// The distribution over the original table tells that of the suppressed records, who are in it and not in the release.
/// It is told only where they would be safe as one group, so that they could as well have been published as `*`.
pub fn original_for_certificate(
    counted: &Counted,
    criteria: &Criteria,
    yardstick: &Yardstick,
    published: &[HashMap<Text, u64>],
    missing: &Text,
) -> Map<String, Value> {
    let originals: Vec<Original> = (0..counted.sensitive.len()).map(|s| original(counted, s, missing)).collect();
    let is_safe = suppressed_are_safe(criteria, yardstick, &originals, published);
    let is_relative = |s: &usize| {
        criteria.iter().any(|criterion| criterion.measure.is_relative() && criterion.measure.sensitive() == Some(*s))
    };
    (0..originals.len())
        .filter(is_relative)
        .map(|s| (counted.sensitive[s].name.clone(), to_json(&originals[s], is_safe)))
        .collect()
}

/// Whether nobody was suppressed, or the suppressed records together would satisfy all criteria about sensitive values.
fn suppressed_are_safe(
    criteria: &Criteria,
    yardstick: &Yardstick,
    originals: &[Original],
    published: &[HashMap<Text, u64>],
) -> bool {
    let mut histogram = Vec::new();
    let mut n_suppressed = 0;
    for (s, original) in originals.iter().enumerate() {
        n_suppressed = 0;
        for (code, (value, n)) in (0..).zip(&original.counts) {
            let left = n - published[s].get(value).copied().unwrap_or(0).min(*n);
            n_suppressed += left;
            if left > 0 {
                histogram.push((yardstick.value(s, code), left));
            }
        }
    }
    let mut measured = Vec::new();
    yardstick.measure(n_suppressed, u64::MAX, &histogram, &mut measured);
    let holds = |criterion: incrowd::Criterion| {
        let column = yardstick.measures().iter().position(|measure| *measure == criterion.measure);
        criterion.holds(measured[column.expect("criteria are measured")])
    };
    n_suppressed == 0 || criteria.iter().all(holds)
}

fn to_json(original: &Original, with_counts: bool) -> Value {
    let mut object = Map::new();
    object.insert("distance".into(), json!(original.distance.name()));
    if with_counts {
        object.insert("counts".into(), original.counts.iter().map(|(value, n)| json!([value, n])).collect());
        if original.distance == Distance::Hierarchical {
            object.insert("labels".into(), json!(original.labels));
        }
    }
    Value::Object(object)
}

/// The distance and, where it is told, the distribution that a certificate names for a sensitive attribute.
pub fn from_json(value: &Value) -> Option<(Distance, Option<Original>)> {
    let distance = Distance::parse(value.get("distance")?.as_str()?)?;
    let Some(counts) = value.get("counts") else { return Some((distance, None)) };
    let count = |pair: &Value| {
        let text = match pair.get(0)? {
            Value::Null => None,
            text => Some(text.as_str()?.to_string()),
        };
        Some((text, pair.get(1)?.as_u64()?))
    };
    let counts: Vec<(Text, u64)> = counts.as_array()?.iter().map(count).collect::<Option<_>>()?;
    let labels: Vec<Vec<String>> = match value.get("labels") {
        Some(labels) => serde_json::from_value(labels.clone()).ok()?,
        None => vec![Vec::new(); counts.len()],
    };
    (labels.len() == counts.len()).then_some((distance, Some(Original { counts, distance, labels })))
}
