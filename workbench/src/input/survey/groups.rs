//! Groups of values that are worth having: neighbours on a scale, continents, chapters of diagnoses, months, the rare ones.

use incrowd::Rule;
use incrowd::hierarchy::LabelTable;
use incrowd::table::Kind;

use super::icd::{icd9_path, icd10_path, is_icd9};
use super::look::SurveyedColumn;
use super::scales::{places_on_scale, sex_of};
use super::shapes::{Shape, date_of, month_in_words, range_of};
use super::world::{continent_of_code, continent_of_name};
use crate::input::names::{Named, role_by_name};

/// Rows of labels from the value upwards, and why they are grouped so.
type Grouping = (Vec<Vec<String>>, String);

/// Fewer values are shown or hidden.
const N_VALUES_MIN: usize = 3;

/// A tree for the values of a column, where they say how they belong together.
pub(super) fn suggest_groups(column: &SurveyedColumn) -> Option<(Rule, String)> {
    let values = column.values().filter(|values| values.len() >= N_VALUES_MIN)?;
    let named = role_by_name(&column.name);
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

/// Dates in another order than year, month, day, by month, quarter and year.
fn months(values: &[(String, u64)], shape: Shape) -> Grouping {
    let no_date = unused("no date", values);
    let row = |text: &str| {
        let month = match shape {
            Shape::MonthInWords => month_in_words(text),
            _ => date_of(text.trim()).map(|date| date.month(shape)),
        };
        let labels = match month {
            Some((year, month)) => {
                [format!("{year}-{month:02}"), format!("{year}-Q{}", month.div_ceil(3)), year.to_string()]
            }
            None => [no_date.clone(), no_date.clone(), no_date.clone()],
        };
        std::iter::once(text.to_string()).chain(labels).collect()
    };
    (rows(values, row), format!("{} by month, quarter and year", shape.in_words()))
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

/// Values that fewer than one record in fifty has become "other values", then those that fewer than one in ten has.
fn rare_ones(values: &[(String, u64)]) -> Option<Grouping> {
    let n_records: u64 = values.iter().map(|(_, n)| n).sum();
    let n_rare = |part: u64| values.iter().filter(|(_, n)| n * part < n_records).count();
    let mut parts: Vec<u64> = [50, 10].into_iter().filter(|part| (2..values.len()).contains(&n_rare(*part))).collect();
    parts.dedup_by_key(|part| n_rare(*part));
    let others: Vec<String> =
        (0..parts.len()).map(|i| unused(&format!("other values{}", "*".repeat(i)), values)).collect();
    let row = |(text, n): &(String, u64)| {
        let label = |(part, other): (&u64, &String)| if n * part < n_records { other.clone() } else { text.clone() };
        std::iter::once(text.clone()).chain(parts.iter().zip(&others).map(label)).collect()
    };
    let shares = parts.iter().map(|part| format!("{} %", 100 / part)).collect::<Vec<_>>().join(", then ");
    (!parts.is_empty()).then(|| {
        (
            values.iter().map(row).collect(),
            format!("values that fewer than {shares} of the records have are put together"),
        )
    })
}

/// A label that is none of the values.
fn unused(label: &str, values: &[(String, u64)]) -> String {
    let mut label = label.to_string();
    while values.iter().any(|(text, _)| *text == label) {
        label.push('*');
    }
    label
}
