//! What lies outside a release and some criteria compare it with: the original distribution, the population.

use std::collections::HashMap;

use incrowd::table::Code;
use incrowd::verify::{Original, Outside, Text};
use incrowd::wire::{Certificate, LabelsSaid, OriginalSaid};
use incrowd::{Criteria, Distance, Hierarchy, Scheme, Verifier};

use crate::input::count::Counted;
use crate::input::notation::Notation;

/// Everything that the project knows, with texts as the release says them.
///
/// Whom of the population a group may be is known for a scheme only; `in_two_columns` says of which quasi-identifiers the
/// release has the lowest and the highest value.
pub fn outside(counted: &Counted, scheme: Option<&Scheme>, in_two_columns: &[bool], notation: &Notation) -> Outside {
    let originals = (0..counted.sensitive.len()).map(|s| Some(original(counted, s, notation))).collect();
    let population = scheme.and_then(|scheme| population(counted, scheme, in_two_columns, notation));
    Outside { originals, population }
}

/// What a release that gives an attribute this level shows of each of its values: its label, or its two ends.
pub fn shown_at(hierarchy: &Hierarchy, level: usize, in_two_columns: bool, notation: &Notation) -> Vec<Vec<Text>> {
    let (values, name) = (hierarchy.level(level), hierarchy.attribute());
    let ends = [format!("{name}_low"), format!("{name}_high")];
    let label = |code: Code| match in_two_columns {
        true => {
            let (low, high) = hierarchy.ends_of_label(level, code);
            vec![notation.cell(&ends[0], low.as_deref()), notation.cell(&ends[1], high.as_deref())]
        }
        false if hierarchy.is_missing(level, code) => vec![notation.missing()],
        false => vec![Some(notation.text(name, &values.labels()[code.index()]))],
    };
    let labels: Vec<Vec<Text>> = (0..values.len() as u32).map(|code| label(Code(code))).collect();
    values.of_base().iter().map(|code| labels[code.index()].clone()).collect()
}

/// What a release says for a value that criteria count: labels are no part of it, and stay as they are.
pub fn counted_value(counted: &Counted, sensitive: usize, code: Code, notation: &Notation) -> Text {
    let domain = &counted.counts.sensitive()[sensitive];
    match counted.counts.counted_as(sensitive) {
        Some(_) if domain.missing() == Some(code) => notation.missing(),
        Some(_) => Some(domain.values()[code.index()].clone()),
        None => notation.value(domain.name(), domain, code),
    }
}

fn original(counted: &Counted, sensitive: usize, notation: &Notation) -> Original {
    let (distance, hierarchy) = &counted.distances[sensitive];
    let mut original = Original { counts: Vec::new(), distance: *distance, labels: Vec::new() };
    for (code, n) in counted.counts.distribution(sensitive).into_iter().enumerate() {
        let value = counted_value(counted, sensitive, Code(code as u32), notation);
        match original.counts.last_mut() {
            // Two ways to write a number, of which one is published, are one to whoever reads the release.
            Some((known, n_known)) if *known == value => *n_known += n,
            _ => {
                original.counts.push((value, n));
                original.labels.push(hierarchy.as_ref().map_or(Vec::new(), |hierarchy| hierarchy.path(code)));
            }
        }
    }
    original
}

/// How many people of the population share each combination of published values.
fn population(
    counted: &Counted,
    scheme: &Scheme,
    in_two_columns: &[bool],
    notation: &Notation,
) -> Option<HashMap<Vec<Text>, u64>> {
    let population = counted.counts.population()?;
    let shown_of =
        |(a, hierarchy): (usize, &Hierarchy)| shown_at(hierarchy, scheme.level(a), in_two_columns[a], notation);
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
    notation: &Notation,
    is_whole: bool,
) -> Vec<(String, OriginalSaid)> {
    let is_relative = |s: &usize| {
        criteria.iter().any(|criterion| criterion.measure.is_relative() && criterion.measure.sensitive() == Some(*s))
    };
    let of_attribute = |s: usize| {
        let original = original(counted, s, notation);
        let shown = release.distribution(s);
        let values = || {
            let all = original.counts.iter().zip(&original.labels);
            all.filter(|((value, _), _)| shown.contains_key(value))
                .map(|((value, _), labels)| (value.clone(), labels.clone()))
        };
        let is_told = is_whole || counted.sensitive[s].distance.is_some();
        let said = OriginalSaid {
            distance: is_told.then(|| original.distance.name().to_string()),
            values: (is_whole && original.distance == Distance::Ordered)
                .then(|| values().map(|(value, _)| value).collect()),
            labels: (is_whole && original.distance == Distance::Hierarchical)
                .then(|| LabelsSaid::OfValues(values().collect())),
            counts: None,
        };
        (counted.sensitive[s].name.clone(), said)
    };
    (0..counted.sensitive.len()).filter(is_relative).map(of_attribute).collect()
}

/// The original distribution as a certificate has it: that of the release where nobody was suppressed.
///
/// Certificates of version 1 told the distribution itself, where they thought that safe.
pub fn from_certificate(
    certificate: &Certificate,
    name: &str,
    of_release: HashMap<Text, u64>,
    notation: &Notation,
) -> Option<Original> {
    let said = certificate.original_of(name)?;
    let distance = Distance::parse(said.distance.as_deref()?)?;
    if certificate.format_version < 2 {
        let counts = said.counts?;
        let labels = match said.labels {
            None => vec![Vec::new(); counts.len()],
            Some(LabelsSaid::InOrder(labels)) => labels,
            Some(LabelsSaid::OfValues(labels)) if labels.is_empty() => Vec::new(),
            Some(LabelsSaid::OfValues(_)) => return None,
        };
        return (labels.len() == counts.len()).then_some(Original { counts, distance, labels });
    }
    if certificate.n_records_suppressed > 0 {
        return None;
    }
    let as_read = |text: Text| text.map(|text| notation.text(name, &text));
    let labels: HashMap<Text, Vec<String>> = match said.labels {
        None => HashMap::new(),
        Some(LabelsSaid::OfValues(labels)) => {
            labels.into_iter().map(|(value, labels)| (as_read(value), labels)).collect()
        }
        Some(LabelsSaid::InOrder(_)) => return None,
    };
    let is_of_release = |values: &Vec<Text>| {
        values.len() == of_release.len() && values.iter().all(|value| of_release.contains_key(value))
    };
    let ordered = said.values.map(|values| values.into_iter().map(as_read).collect::<Vec<Text>>());
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
