//! What the report tells about a release: attributes, sizes of groups, risk, and what other heights would lose.

use std::collections::BTreeMap;

use incrowd::Hierarchy;
use incrowd::judge::ncp_of_cells;
use incrowd::recode::partition::CellStyle;
use incrowd::recode::per_record::dictionary::{Dictionary, Match};
use incrowd::recode::{Recoding, Span};
use incrowd::risk::{contributions_of, estimated_unique_in_population, risks};

use super::agree::Agreed;
use super::draft::{Draft, Way};
use crate::input::count::Counted;
use crate::orders::annotate::by_height;
use crate::orders::local::Local;
use crate::output::report::{AttributeFacts, HeightFacts, PublishedAs, RiskFacts};

pub fn attribute_facts(counted: &Counted, draft: &Draft) -> Vec<AttributeFacts> {
    let recoding = &draft.recoding;
    let sizes = recoding.sizes();
    let facts = |(a, hierarchy): (usize, &Hierarchy)| {
        let penalties = ncp_of_cells(hierarchy, recoding, a);
        let mut is_published = vec![false; penalties.len()];
        let (mut n_records, mut loss) = (0u64, 0.0);
        for (group, &size) in sizes.iter().enumerate() {
            let cell = recoding.row(group)[a] as usize;
            is_published[cell] = true;
            n_records += size;
            loss += size as f64 * penalties[cell];
        }
        let published = || (0..penalties.len()).filter(|&code| is_published[code]);
        let published_as = match draft.way {
            Way::Global(scheme) => PublishedAs::Level {
                level: scheme.level(a),
                n_levels: hierarchy.n_levels(),
                name: hierarchy.level(scheme.level(a)).phrase().to_string(),
            },
            Way::Local(local) => PublishedAs::Own(cells_in_words(local, counted.is_numeric(a))),
            Way::PerRecord(_) => PublishedAs::Own("labels of the hierarchy"),
        };
        AttributeFacts {
            name: hierarchy.attribute().to_string(),
            published_as,
            n_labels: published().count(),
            samples: published().take(4).map(|code| recoding.cells(a)[code].text.clone()).collect(),
            ncp: loss / n_records.max(1) as f64,
        }
    };
    counted.hierarchies.iter().enumerate().map(facts).collect()
}

/// What stands in the cells of a local method.
fn cells_in_words(local: &Local, is_numeric: bool) -> &'static str {
    match (local.style, is_numeric) {
        _ if is_numeric && local.two_columns => "lowest and highest value, in two columns",
        (CellStyle::Ranges | CellStyle::Sets, true) => "ranges",
        (CellStyle::Midpoints, true) => "middles of ranges",
        (CellStyle::Rounded, true) => "ranges rounded to the steps of the hierarchy",
        (CellStyle::Sets, false) => "sets of values",
        (CellStyle::Labels, _) | (CellStyle::Ranges | CellStyle::Midpoints | CellStyle::Rounded, false) => {
            "labels of the hierarchy"
        }
    }
}

pub fn group_sizes(recoding: &Recoding) -> Vec<(u64, u64)> {
    let mut by_size = BTreeMap::new();
    recoding.sizes_as_seen().into_iter().for_each(|size| *by_size.entry(size).or_insert(0) += 1);
    by_size.into_iter().collect()
}

/// A record is at risk above this: fewer than five are alike.
const RISK_THRESHOLD: f64 = 0.2;

/// Shares of the population that a file may be, where nobody says it.
const SHARES_SAMPLED: [f64; 3] = [0.01, 0.1, 0.5];

/// How likely people are to be found in a release, as its readers see it.
pub fn risk_facts(counted: &Counted, recoding: &Recoding) -> Option<RiskFacts> {
    if recoding.n_groups() == 0 {
        return None;
    }
    // A population that is too large to be looked up counts as unknown: the worst case.
    let population = counted.counts.population();
    let people = population.and_then(|_| Dictionary::new(&counted.counts, &counted.hierarchies, Match::Exact).ok());
    // Groups that look alike are one; of the people whom they fit, those of the larger one are counted, which errs on
    // the safe side.
    let mut groups: BTreeMap<Vec<u32>, (u64, Option<u64>)> = BTreeMap::new();
    for ((group, cells), size) in recoding.rows_as_seen().enumerate().zip(recoding.sizes()) {
        let spans: Vec<&Span> = (0..recoding.n_attributes()).map(|a| &recoding.cell(group, a).span).collect();
        let alike = people.as_ref().map(|people| people.n_fitting_spans(&spans));
        let (n_records, most_alike) = groups.entry(cells).or_default();
        *n_records += size;
        *most_alike = alike.max(*most_alike);
    }
    let found = risks(groups.values().copied(), RISK_THRESHOLD);
    let sizes: Vec<u64> = groups.values().map(|(size, _)| *size).collect();
    let names: Vec<&str> = counted.hierarchies.iter().map(|hierarchy| hierarchy.attribute()).collect();
    let rows: Vec<(Vec<u32>, u64)> = groups.into_iter().map(|(cells, (size, _))| (cells, size)).collect();
    Some(RiskFacts {
        threshold: RISK_THRESHOLD,
        found,
        unique_in_population: SHARES_SAMPLED.map(|p| (p, estimated_unique_in_population(&sizes, p))).into(),
        contributions: contributions_of(&names, &rows),
    })
}

pub fn height_facts(agreed: &Agreed) -> Vec<HeightFacts> {
    let Some(lattice) = &agreed.lattice else { return Vec::new() };
    by_height(lattice, &agreed.offer.criteria)
        .iter()
        .map(|summary| HeightFacts {
            height: summary.height,
            n_suppressed_min: summary.n_suppressed.0,
            n_suppressed_mean: summary.n_suppressed.1,
            n_suppressed_max: summary.n_suppressed.2,
        })
        .collect()
}
