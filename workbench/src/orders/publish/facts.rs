//! What the report tells about a release: attributes, sizes of groups, risk, and what other heights would lose.

use std::collections::{BTreeMap, HashMap};

use incrowd::judge::ncp_of_cells;
use incrowd::recode::partition::CellStyle;
use incrowd::recode::per_record::dictionary::{Dictionary, Match};
use incrowd::recode::{Recoding, Span};
use incrowd::release::Column;
use incrowd::risk::people::{self, Members};
use incrowd::risk::special_uniques::{N_ATTRIBUTES_MAX, ShownGroup, special_uniques};
use incrowd::risk::{Alike, contributions_of, estimated_unique_in_population, risks};
use incrowd::task::Task;
use incrowd::verify::{PeopleVerifier, Text};
use incrowd::{Hierarchy, Result};

use super::agree::Agreed;
use super::draft::{Draft, MadeBy};
use super::write::Written;
use crate::input::count::Counted;
use crate::input::notation::Notation;
use crate::orders::annotate::by_height;
use crate::orders::local::Local;
use crate::output::report::{AttributeFacts, HeightFacts, PublishedAs, RiskFacts, UniquesFacts};
use crate::work::Work;

pub fn attribute_facts(counted: &Counted, draft: &Draft) -> Vec<AttributeFacts> {
    let recoding = draft.recoding;
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
            MadeBy::Global { scheme, .. } => PublishedAs::Level {
                level: scheme.level(a),
                n_levels: hierarchy.n_levels(),
                name: hierarchy.level(scheme.level(a)).phrase().to_string(),
            },
            MadeBy::Local(local) => PublishedAs::Own(cells_in_words(local, counted.is_numeric(a))),
            MadeBy::PerRecord(_) => PublishedAs::Own("labels of the hierarchy"),
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
        (CellStyle::Stars, _) => "values that are as they are or hidden",
        (CellStyle::Sets, false) => "sets of values",
        (CellStyle::Labels, _) | (CellStyle::Ranges | CellStyle::Midpoints | CellStyle::Rounded, false) => {
            "labels of the hierarchy"
        }
    }
}

/// How many groups have each size, in people where it is known whose record it is.
pub fn group_sizes(recoding: &Recoding, people: Option<&PeopleVerifier>) -> Vec<(u64, u64)> {
    let mut by_size = BTreeMap::new();
    let sizes = match people {
        Some(people) => people.groups().iter().map(|(_, who)| who.len() as u64).collect(),
        None => recoding.sizes_as_seen(),
    };
    sizes.into_iter().for_each(|size| *by_size.entry(size).or_insert(0) += 1);
    by_size.into_iter().collect()
}

/// A record is at risk above this: fewer than five are alike.
const RISK_THRESHOLD: f64 = 0.2;

/// Shares of the population that a file may be, where nobody says it.
const SHARES_SAMPLED: [f64; 3] = [0.01, 0.1, 0.5];

/// How likely people are to be found in a release, as its readers see it.
pub fn risk_facts(counted: &Counted, recoding: &Recoding, written: &Written, work: &Work) -> Result<Option<RiskFacts>> {
    if recoding.n_groups() == 0 {
        return Ok(None);
    }
    // A population that is too large to be looked up counts as unknown: the worst case.
    let population = counted.counts.population();
    let people = population.and_then(|_| Dictionary::new(&counted.counts, &counted.hierarchies, Match::Exact).ok());
    // Groups that look alike are one; of the people whom they fit, those of the larger one are counted, which errs on
    // the safe side.
    let mut groups: BTreeMap<Vec<u32>, (u64, Option<u64>)> = BTreeMap::new();
    // Where everybody has one record, people are records.
    let watched = written.people.as_ref().filter(|_| counted.counts.people().is_some());
    let columns = identifying(&written.columns, recoding.n_attributes());
    let mut of_texts: HashMap<Vec<Text>, Option<u64>> = HashMap::new();
    for ((group, cells), size) in recoding.rows_as_seen().enumerate().zip(recoding.sizes()) {
        let spans: Vec<&Span> = (0..recoding.n_attributes()).map(|a| &recoding.cell(group, a).span).collect();
        let alike = people.as_ref().map(|people| people.n_fitting_spans(&spans));
        let (n_records, most_alike) = groups.entry(cells).or_default();
        *n_records += size;
        *most_alike = alike.max(*most_alike);
        if watched.is_some() && alike.is_some() {
            let of_texts = of_texts.entry(texts(recoding, group, &columns, &written.notation)).or_default();
            *of_texts = alike.max(*of_texts);
        }
    }
    let known = |people: Option<u64>| people.map_or(Alike::Unknown, Alike::Counted);
    let found = risks(groups.values().map(|(size, people)| (*size, known(*people))), RISK_THRESHOLD);
    let sizes: Vec<u64> = groups.values().map(|(size, _)| *size).collect();
    let names: Vec<&str> = counted.hierarchies.iter().map(|hierarchy| hierarchy.attribute()).collect();
    let rows: Vec<(Vec<u32>, u64)> = groups.into_iter().map(|(cells, (size, _))| (cells, size)).collect();
    let special_uniques = work.quietly(|task| uniques_facts(counted, &rows, task))?;
    let estimates = |sizes: &[u64], n_unique: u64| {
        let estimate = |share: f64| estimated_unique_in_population(sizes, share).min(n_unique as f64);
        SHARES_SAMPLED.map(|share| (share, estimate(share))).into()
    };
    let facts = RiskFacts {
        threshold: RISK_THRESHOLD,
        unique_in_population: estimates(&sizes, found.n_unique),
        found,
        contributions: work.quietly(|task| contributions_of(&names, &rows, task))?,
        special_uniques,
    };
    let Some(watched) = watched else { return Ok(Some(facts)) };
    let seen = Seen::new(watched, &columns);
    let alike: Vec<Alike> = seen
        .texts
        .iter()
        .map(|texts| match population {
            Some(_) => Alike::Counted(of_texts.get(*texts).copied().flatten().unwrap_or(0)),
            None => Alike::Unknown,
        })
        .collect();
    let found = people::risks(&seen.members, &alike, RISK_THRESHOLD);
    Ok(Some(RiskFacts {
        unique_in_population: estimates(&seen.members.sizes(), found.n_unique),
        found,
        contributions: work.quietly(|task| people::contributions_of(&seen.members, &names, &seen.cells, task))?,
        ..facts
    }))
}

/// The groups of a release as whoever watched it being written saw them, and who is in them.
struct Seen<'a> {
    members: Members,
    /// By group, what stands in the columns that someone could be found by.
    texts: Vec<&'a [Text]>,
    /// By group, a number per attribute that equal texts share.
    cells: Vec<Vec<u32>>,
}

impl Seen<'_> {
    fn new<'a>(verifier: &'a PeopleVerifier, columns: &[(usize, &Column)]) -> Seen<'a> {
        let groups = verifier.groups();
        let (mut records, mut names) = (Vec::new(), HashMap::new());
        for (group, (_, who)) in (0..).zip(&groups) {
            for (person, n) in who {
                let next = names.len() as u32;
                records.push((*names.entry(*person).or_insert(next), group, *n));
            }
        }
        let members = Members::new(names.len(), groups.len(), records);
        let texts: Vec<&[Text]> = groups.into_iter().map(|(texts, _)| texts).collect();
        let n_attributes = columns.last().map_or(0, |(attribute, _)| attribute + 1);
        let mut cells = vec![Vec::with_capacity(n_attributes); texts.len()];
        for attribute in 0..n_attributes {
            let mut numbers: HashMap<Vec<&Text>, u32> = HashMap::new();
            for (cells, texts) in cells.iter_mut().zip(&texts) {
                let own = columns.iter().zip(*texts).filter(|((a, _), _)| *a == attribute).map(|(_, text)| text);
                let next = numbers.len() as u32;
                cells.push(*numbers.entry(own.collect()).or_insert(next));
            }
        }
        Seen { members, texts, cells }
    }
}

/// The columns that someone could be found by, in the order of attributes, with the attribute of each.
fn identifying(columns: &[Column], n_attributes: usize) -> Vec<(usize, &Column)> {
    let is_of = |column: &&Column, attribute: usize| match column {
        Column::Recoded(a, _) | Column::Low(a, _) | Column::High(a, _) => *a == attribute,
        Column::Kept(_) | Column::Person(_) => false,
    };
    let of = |attribute: usize| columns.iter().filter(move |column| is_of(column, attribute));
    (0..n_attributes).flat_map(|attribute| of(attribute).map(move |column| (attribute, column))).collect()
}

/// What a group has in these columns.
fn texts(recoding: &Recoding, group: usize, columns: &[(usize, &Column)], notation: &Notation) -> Vec<Text> {
    let text = |(attribute, column): &(usize, &Column)| {
        let cell = recoding.cell(group, *attribute);
        let text = match column {
            Column::Low(..) => cell.ends.0.as_deref(),
            Column::High(..) => cell.ends.1.as_deref(),
            _ => (!cell.is_missing).then_some(cell.text.as_str()),
        };
        notation.cell(column.name(), text)
    };
    columns.iter().map(text).collect()
}

/// The share of the population that scores as probabilities would take the table for; the report shows none of them.
const DIS_FRACTION: f64 = 0.1;

/// Looking for special uniques may cost so many looks at a combination, which is a moment.
const N_LOOKS_MAX: u64 = 30_000_000;

/// Who stands alone on few attributes, in the source and in the release; sets of attributes as large as can be looked
/// at in a moment.
fn uniques_facts(counted: &Counted, rows: &[ShownGroup], task: &Task) -> Result<Option<UniquesFacts>> {
    let (counts, n_attributes) = (&counted.counts, counted.hierarchies.len());
    let Some(size_max) = affordable_size(n_attributes as u64, counts.n_groups() as u64) else { return Ok(None) };
    // Equal records of one person are as much alone as one.
    let sizes = counts.crowds();
    let row = |group: usize| (counts.codes(group).iter().map(|code| code.0).collect(), sizes[group]);
    let source: Vec<ShownGroup> = (0..counts.n_groups()).map(row).collect();
    let found = |rows: &[ShownGroup]| special_uniques(rows, n_attributes, Some(size_max), DIS_FRACTION, task);
    Ok(Some(UniquesFacts { source: found(&source)?, file: found(rows)? }))
}

/// The largest size of sets for which all sets times all combinations are few enough; none where there is no such size.
fn affordable_size(n_attributes: u64, n_groups: u64) -> Option<usize> {
    let (mut n_sets, mut n_of_size, mut affordable) = (0_u64, 1_u64, None);
    for size in 1..=n_attributes.min(N_ATTRIBUTES_MAX as u64) {
        n_of_size = n_of_size.saturating_mul(n_attributes - size + 1) / size;
        n_sets = n_sets.saturating_add(n_of_size);
        if n_sets.saturating_mul(n_groups) > N_LOOKS_MAX {
            break;
        }
        affordable = Some(size as usize);
    }
    affordable.filter(|_| n_attributes <= N_ATTRIBUTES_MAX as u64)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_attributes_as_a_moment_allows() {
        // 63 sets of up to six attributes; 24 + 276 + 2,024 of up to three of 24.
        assert_eq!(affordable_size(6, 60_000), Some(6));
        assert_eq!(affordable_size(24, 12_000), Some(3));
        assert_eq!(affordable_size(24, 2_000_000), None);
        assert_eq!(affordable_size(64, 1), Some(5));
        assert_eq!(affordable_size(65, 1), None);
        assert_eq!(affordable_size(0, 5), None);
    }
}
