//! What lies outside a release and some criteria compare it with: the original distribution, the population.

use std::collections::HashMap;

use incrowd::table::Code;
use incrowd::verify::{Original, Outside, Text};
use incrowd::wire::Certificate;
use incrowd::{Criteria, Distance, Domain, Hierarchy, Scheme, Verifier};
use serde_json::{Map, Value, json};

use crate::input::count::Counted;

/// Everything that the project knows, with texts as the release writes them; `missing` is how it writes "no value".
///
/// Whom of the population a group may be is known for a scheme only; `in_two_columns` says of which quasi-identifiers the
/// release has the lowest and the highest value.
pub fn outside(counted: &Counted, scheme: Option<&Scheme>, in_two_columns: &[bool], missing: &Text) -> Outside {
    let originals = (0..counted.sensitive.len()).map(|s| Some(original(counted, s, missing))).collect();
    let population = scheme.and_then(|scheme| population(counted, scheme, in_two_columns, missing));
    Outside { originals, population }
}

/// What a release that gives an attribute this level shows of each of its values: its label, or its two ends.
pub fn shown_at(hierarchy: &Hierarchy, level: usize, in_two_columns: bool, missing: &Text) -> Vec<Vec<Text>> {
    let values = hierarchy.level(level);
    let label = |code: Code| match in_two_columns {
        true => {
            let (low, high) = hierarchy.ends_of_label(level, code);
            vec![low.or_else(|| missing.clone()), high.or_else(|| missing.clone())]
        }
        false if hierarchy.is_missing(level, code) => vec![missing.clone()],
        false => vec![Some(values.labels()[code.index()].clone())],
    };
    let labels: Vec<Vec<Text>> = (0..values.len() as u32).map(|code| label(Code(code))).collect();
    values.of_base().iter().map(|code| labels[code.index()].clone()).collect()
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
fn population(
    counted: &Counted,
    scheme: &Scheme,
    in_two_columns: &[bool],
    missing: &Text,
) -> Option<HashMap<Vec<Text>, u64>> {
    let population = counted.counts.population()?;
    let shown_of =
        |(a, hierarchy): (usize, &Hierarchy)| shown_at(hierarchy, scheme.level(a), in_two_columns[a], missing);
    let shown: Vec<Vec<Vec<Text>>> = counted.hierarchies.iter().enumerate().map(shown_of).collect();
    let mut people = HashMap::new();
    for (codes, n) in population.groups() {
        let cells = codes.iter().zip(&shown).flat_map(|(code, shown)| shown[code.index()].clone());
        *people.entry(cells.collect()).or_default() += n;
    }
    Some(people)
}

/// How far apart the values of sensitive attributes are, for those of relative criteria, as a certificate says it.
///
/// The distribution over the original table would tell what suppressed records have, who are in it and not in the release:
/// where nobody was suppressed it is that of the release, whose values are then told in their order, with their labels.
/// Where somebody was, only the distance is told that the project orders: by default it is that of the kind of all values.
pub fn distances_for_certificate(
    counted: &Counted,
    criteria: &Criteria,
    release: &Verifier,
    missing: &Text,
    is_whole: bool,
) -> Map<String, Value> {
    let is_relative = |s: &usize| {
        criteria.iter().any(|criterion| criterion.measure.is_relative() && criterion.measure.sensitive() == Some(*s))
    };
    let of_attribute = |s: usize| {
        let original = original(counted, s, missing);
        let mut object = Map::new();
        if is_whole || counted.sensitive[s].distance.is_some() {
            object.insert("distance".into(), json!(original.distance.name()));
        }
        let shown = release.distribution(s);
        let values =
            || original.counts.iter().zip(&original.labels).filter(|((value, _), _)| shown.contains_key(value));
        match original.distance {
            _ if !is_whole => {}
            Distance::Equal => {}
            Distance::Ordered => {
                object.insert("values".into(), values().map(|((value, _), _)| json!(value)).collect());
            }
            Distance::Hierarchical => {
                object.insert("labels".into(), values().map(|((value, _), labels)| json!([value, labels])).collect());
            }
        }
        (counted.sensitive[s].name.clone(), Value::Object(object))
    };
    (0..counted.sensitive.len()).filter(is_relative).map(of_attribute).collect()
}

/// The original distribution as a certificate has it: that of the release where nobody was suppressed.
///
/// Certificates of version 1 told the distribution itself, where they thought that safe.
pub fn from_certificate(certificate: &Certificate, name: &str, of_release: HashMap<Text, u64>) -> Option<Original> {
    let said = certificate.original.get(name)?;
    if certificate.format_version < 2 {
        return from_json(said)?.1;
    }
    if certificate.n_records_suppressed > 0 {
        return None;
    }
    let distance = Distance::parse(said.get("distance")?.as_str()?)?;
    let pair = |pair: &Value| serde_json::from_value::<(Text, Vec<String>)>(pair.clone()).ok();
    let labels: HashMap<Text, Vec<String>> = match said.get("labels") {
        Some(labels) => labels.as_array()?.iter().map(pair).collect::<Option<_>>()?,
        None => HashMap::new(),
    };
    let ordered: Option<Vec<Text>> = said.get("values").and_then(|values| serde_json::from_value(values.clone()).ok());
    let is_of_release = |values: &Vec<Text>| {
        values.len() == of_release.len() && values.iter().all(|value| of_release.contains_key(value))
    };
    match ordered.filter(is_of_release) {
        // In the order of the table, in which "no value" is a text among others in CSV.
        Some(values) => Some(Original {
            labels: vec![Vec::new(); values.len()],
            counts: values.into_iter().map(|value| (value.clone(), of_release[&value])).collect(),
            distance,
        }),
        None => Some(Original::new(name, of_release, distance, &labels)),
    }
}

/// The distance and, where it is told, the distribution that a certificate names for a sensitive attribute.
fn from_json(value: &Value) -> Option<(Distance, Option<Original>)> {
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
