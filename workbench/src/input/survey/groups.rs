//! Groups of values that are worth having: neighbours on a scale, continents, chapters of diagnoses, months, the rare ones.

use incrowd::Rule;
use incrowd::hierarchy::LabelTable;
use incrowd::table::Kind;

use super::icd::{icd9_path, icd10_path, is_icd9};
use super::look::SurveyedColumn;
use super::scales::{places_on_scale, sex_of};
use super::shapes::{Shape, date_of, month_in_words, range_of};
use super::world::{continent_of_code, continent_of_name};
use crate::input::names::Named;

/// Rows of labels from the value upwards, and why they are grouped so.
type Grouping = (Vec<Vec<String>>, String);

/// Fewer values are shown or hidden.
const N_VALUES_MIN: usize = 3;

/// Levels of groups by frequency, at most, and how many values may be left beside the others on the last of them.
const N_LEVELS_MAX: usize = 3;
const N_KEPT_MIN: usize = 4;

/// A tree for the values of a column, where they say how they belong together.
pub(super) fn suggest_groups(column: &SurveyedColumn) -> Option<(Rule, String)> {
    let values = column.values().filter(|values| values.len() >= N_VALUES_MIN)?;
    let named = column.named();
    let (rows, why) = by_shape(column, values)
        .or_else(|| by_name(named, values))
        .or_else(|| spellings_of_sex(values))
        .or_else(|| if column.kind == Kind::Text { on_a_scale(values) } else { None })
        .or_else(|| if is_category(column, named) { rare_ones(values) } else { None })?;
    let n_labels = rows.first()?.len();
    let numbered: Vec<(u64, Vec<String>)> = rows.into_iter().map(|row| (0, row)).collect();
    let table = LabelTable::new("the suggested tree", numbered).ok()?;
    (n_labels > 1).then_some((Rule::Table(table), why))
}

/// Whether numbers are codes here, and not measured or counted: few whole numbers under a name that is no quantity.
pub(super) fn is_category(column: &SurveyedColumn, named: Option<Named>) -> bool {
    const QUANTITIES: [&str; 9] =
        ["age", "birth", "time", "household", "date", "weight of a record", "hours", "score", "grade"];
    let are_whole = || column.sample.iter().all(|number| number.fract() == 0.0);
    let (least, greatest) = column.range.unwrap_or((0.0, f64::MAX));
    match column.kind {
        Kind::Text | Kind::Boolean => !column.is_measured(),
        Kind::Date => false,
        Kind::Integer | Kind::Number => {
            let is_quantity = named.is_none_or(|named| QUANTITIES.contains(&named.concept));
            let is_small = least >= -9.0 && greatest <= 99.0 && column.n_distinct.n <= 40;
            !is_quantity && is_small && are_whole()
        }
    }
}

fn by_shape(column: &SurveyedColumn, values: &[(String, u64)]) -> Option<Grouping> {
    match column.shape? {
        Shape::Icd10 => {
            let row = |text: &str| [vec![text.to_string()], icd10_path(text).to_vec()].concat();
            Some((rows(values, row), "codes of ICD-10 by category, block and chapter".into()))
        }
        shape @ (Shape::Country | Shape::CountryCode) => continents(values, shape),
        shape if shape.is_date() => Some(months(values, shape)),
        Shape::Range => ranges(values),
        Shape::RegionCode => {
            let part = |text: &str, n: usize| text.chars().take(n).collect::<String>();
            let longest = values.iter().map(|(text, _)| text.chars().count()).max()?;
            let lengths: Vec<usize> = (2..longest).rev().collect();
            let row = |text: &str| {
                let parts = lengths.iter().map(|n| part(text, *n).trim_end_matches('-').to_string());
                std::iter::once(text.to_string()).chain(parts).collect()
            };
            Some((rows(values, row), "codes of regions by their first characters".into()))
        }
        _ => None,
    }
}

fn by_name(named: Option<Named>, values: &[(String, u64)]) -> Option<Grouping> {
    match named?.concept {
        "diagnosis" if values.iter().all(|(text, _)| is_icd9(text)) => {
            let row = |text: &str| [vec![text.to_string()], icd9_path(text).to_vec()].concat();
            Some((rows(values, row), "codes of ICD-9 by category and chapter".into()))
        }
        "country" | "nationality" => {
            continents(values, Shape::CountryCode).or_else(|| continents(values, Shape::Country))
        }
        _ => None,
    }
}

/// Words for sex in several spellings: `M`, `male` and `Male` are one.
fn spellings_of_sex(values: &[(String, u64)]) -> Option<Grouping> {
    let n_known: u64 = values.iter().filter(|(text, _)| sex_of(text).is_some()).map(|(_, n)| n).sum();
    let n_records: u64 = values.iter().map(|(_, n)| n).sum();
    let n_spelled = |sex: &str| values.iter().filter(|(text, _)| sex_of(text) == Some(sex)).count();
    let is_worthwhile = n_spelled("male") > 1 && n_spelled("female") > 1 && 10 * n_known >= 9 * n_records;
    let row = |text: &str| vec![text.to_string(), sex_of(text).unwrap_or("other or unknown").to_string()];
    is_worthwhile.then(|| (rows(values, row), "words for sex, their spellings put together".into()))
}

fn rows(values: &[(String, u64)], row: impl Fn(&str) -> Vec<String>) -> Vec<Vec<String>> {
    values.iter().map(|(text, _)| row(text)).collect()
}

/// Countries by continent; what is no country is put with its like.
fn continents(values: &[(String, u64)], shape: Shape) -> Option<Grouping> {
    let continent = |text: &str| match shape {
        Shape::CountryCode => continent_of_code(text),
        _ => continent_of_name(text),
    };
    let n_known = values.iter().filter(|(text, _)| continent(text).is_some()).count();
    let elsewhere = unused("elsewhere", values);
    let row = |text: &str| vec![text.to_string(), continent(text).map_or_else(|| elsewhere.clone(), str::to_string)];
    let rows = rows(values, row);
    let is_divided = rows.iter().any(|row| row[1] != rows[0][1]);
    (2 * n_known > values.len() && is_divided).then(|| (rows, "countries by continent".into()))
}

/// Dates in another order than year, month, day, by month, quarter and year, and by decade where there are many years.
fn months(values: &[(String, u64)], shape: Shape) -> Grouping {
    let no_date = unused("no date", values);
    let month = |text: &str| match shape {
        Shape::MonthInWords => month_in_words(text),
        _ => date_of(text.trim()).map(|date| date.month(shape)),
    };
    let years: Vec<u32> = values.iter().filter_map(|(text, _)| month(text)).map(|(year, _)| year).collect();
    let has_decades = years.iter().max() > years.iter().min().map(|first| first + 20).as_ref();
    let n_labels = if has_decades { 4 } else { 3 };
    let row = |text: &str| {
        let labels = match month(text) {
            Some((year, month)) => [
                format!("{year}-{month:02}"),
                format!("{year}-Q{}", month.div_ceil(3)),
                year.to_string(),
                format!("{}s", year / 10 * 10),
            ],
            None => [(); 4].map(|()| no_date.clone()),
        };
        std::iter::once(text.to_string()).chain(labels.into_iter().take(n_labels)).collect()
    };
    let units = if has_decades { "month, quarter, year and decade" } else { "month, quarter and year" };
    (rows(values, row), format!("{} by {units}", shape.in_words()))
}

/// Ranges in the order of their lower ends, neighbours together.
fn ranges(values: &[(String, u64)]) -> Option<Grouping> {
    let mut ordered: Vec<(f64, f64, &(String, u64))> = Vec::new();
    let mut strangers: Vec<&(String, u64)> = Vec::new();
    for value in values {
        match range_of(&value.0) {
            Some((least, most)) => ordered.push((least, most, value)),
            None => strangers.push(value),
        }
    }
    ordered.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    // What is no range comes last, as a group of its own.
    let in_order: Vec<&(String, u64)> = ordered.into_iter().map(|(.., value)| value).chain(strangers).collect();
    Some((neighbours(&in_order)?, "ranges in order, neighbours together".into()))
}

/// Words that have a place on a scale, neighbours together.
fn on_a_scale(values: &[(String, u64)]) -> Option<Grouping> {
    let texts: Vec<&str> = values.iter().map(|(text, _)| text.as_str()).collect();
    let places = places_on_scale(&texts)?;
    let mut ordered: Vec<(usize, &(String, u64))> = places.into_iter().zip(values).collect();
    ordered.sort();
    let in_order: Vec<&(String, u64)> = ordered.into_iter().map(|(_, value)| value).collect();
    Some((neighbours(&in_order)?, "words on a scale, neighbours together".into()))
}

/// Half as many groups on each level, of neighbours, until two are left.
fn neighbours(in_order: &[&(String, u64)]) -> Option<Vec<Vec<String>>> {
    let mut rows: Vec<Vec<String>> = in_order.iter().map(|(text, _)| vec![text.clone()]).collect();
    // By group, its first and last value and how many records it has.
    let mut groups: Vec<(usize, usize, u64)> = in_order.iter().enumerate().map(|(i, (_, n))| (i, i, *n)).collect();
    while groups.len() > 2 && rows[0].len() < 4 {
        groups = paired(&groups);
        for (first, last, _) in &groups {
            let label = match first == last {
                true => in_order[*first].0.clone(),
                false => format!("{} to {}", in_order[*first].0, in_order[*last].0),
            };
            rows[*first..=*last].iter_mut().for_each(|row| row.push(label.clone()));
        }
    }
    (rows.first()?.len() > 1).then_some(rows)
}

/// Neighbours in pairs; of an odd number, one of the ends stays alone, the one that has more records.
fn paired(groups: &[(usize, usize, u64)]) -> Vec<(usize, usize, u64)> {
    let is_odd = groups.len() % 2 == 1;
    let begins_alone = is_odd && groups[0].2 > groups[groups.len() - 1].2;
    let (alone, rest) = groups.split_at(usize::from(begins_alone));
    let pair = |pair: &[(usize, usize, u64)]| {
        let last = pair[pair.len() - 1];
        (pair[0].0, last.1, pair.iter().map(|group| group.2).sum())
    };
    alone.iter().copied().chain(rest.chunks(2).map(pair)).collect()
}

/// Values that fewer than one record in fifty has become "other values", then those that fewer than one in ten has, then the
/// less frequent half or more, until a few are left.
fn rare_ones(values: &[(String, u64)]) -> Option<Grouping> {
    let n_records: u64 = values.iter().map(|(_, n)| n).sum();
    let n_frequent = |part: u64| values.iter().filter(|(_, n)| n * part >= n_records).count();
    let mut parts: Vec<u64> =
        [50, 10].into_iter().filter(|part| (1..values.len() - 1).contains(&n_frequent(*part))).collect();
    parts.dedup_by_key(|part| n_frequent(*part));
    // By level, how many values stay as they are: the first ones, which are the most frequent.
    let mut kept: Vec<usize> = parts.iter().map(|part| n_frequent(*part)).collect();
    let mut frequent = Vec::new();
    while kept.len() < N_LEVELS_MAX && kept.last().copied().unwrap_or(values.len()) > N_KEPT_MIN {
        let n = kept.last().copied().unwrap_or(values.len());
        // Every level more makes the lattice larger: of many values few levels lead to a few.
        let fewer = n / if n > 16 { 4 } else { 2 };
        kept.push(fewer);
        frequent.push(fewer.to_string());
    }
    let others: Vec<String> =
        (0..kept.len()).map(|i| unused(&format!("other values{}", "*".repeat(i)), values)).collect();
    let row = |(i, (text, _)): (usize, &(String, u64))| {
        let label = |(n_kept, other): (&usize, &String)| if i < *n_kept { text.clone() } else { other.clone() };
        std::iter::once(text.clone()).chain(kept.iter().zip(&others).map(label)).collect()
    };
    let shares: Vec<String> = parts.iter().map(|part| format!("{} %", 100 / part)).collect();
    let by_share = format!("values that fewer than {} of the records have", shares.join(", then "));
    let by_place = format!("all but the {} most frequent values", frequent.join(", then "));
    let what: Vec<String> = [(by_share, parts.is_empty()), (by_place, frequent.is_empty())]
        .into_iter()
        .filter(|(_, is_none)| !is_none)
        .map(|(what, _)| what)
        .collect();
    let rows = || values.iter().enumerate().map(row).collect();
    (!kept.is_empty()).then(|| (rows(), format!("{} are put together", what.join(", then "))))
}

/// A label that is none of the values.
fn unused(label: &str, values: &[(String, u64)]) -> String {
    let mut label = label.to_string();
    while values.iter().any(|(text, _)| *text == label) {
        label.push('*');
    }
    label
}
