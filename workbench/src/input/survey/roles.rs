//! Which role a column seems to have: by what its values look like, by its name, and by how often values occur.

use incrowd::Role;
use incrowd::table::Kind;

use super::look::{Survey, SurveyedColumn};
use super::rules::N_FEW;
use super::scales::{have_both_sexes, sex_of};
use super::shapes::{Shape, range_of};
use crate::input::names::{Named, is_part_of_a_name, n_words, person_standing, says_how_many};
use crate::sentences::percent;

/// A role and the reason for it.
pub(super) type Reasoned = (Role, String);

/// From so many words on, a value is a sentence.
const N_WORDS_OF_A_SENTENCE: f64 = 5.0;

/// What is never a number of few digits.
const NEVER_SMALL: [&str; 6] = ["phone", "email", "internet", "surname", "firstname", "full name"];

/// The role of one column; `sensitive` is the column that is suggested as sensitive, if that is another one.
pub(super) fn suggest_role(survey: &Survey, column: &SurveyedColumn, sensitive: Option<&SurveyedColumn>) -> Reasoned {
    by_what_names_people(survey, column)
        .or_else(|| nothing_to_tell(column))
        .or_else(|| by_name(survey, column, sensitive))
        .or_else(|| by_value(survey, column, sensitive))
        .unwrap_or_else(|| (Role::Other, nothing_said(column)))
}

fn nothing_said(column: &SurveyedColumn) -> String {
    let n_distinct = column.n_distinct;
    match column.named() {
        Some(named) => format!("{}, but {n_distinct} distinct values do not look like it", named.says()),
        None if !column.label.is_empty() => format!("name and label say nothing; {n_distinct} distinct values"),
        None => format!("name says nothing; {n_distinct} distinct values"),
    }
}

/// What names people, whatever else it may be: it is never published.
fn by_what_names_people(survey: &Survey, column: &SurveyedColumn) -> Option<Reasoned> {
    let named = column.named();
    if let Some(shape) = column.shape.filter(|shape| shape.names_people() && column.n_distinct.n > 2) {
        return Some((Role::Identifier, format!("values look like {}", shape.in_words())));
    }
    if column.kind == Kind::Text
        && column.mean_words >= N_WORDS_OF_A_SENTENCE
        && !is_date(column)
        && column.n_distinct.n > N_FEW
        && column.finds_people(survey.n_records)
    {
        let n = column.mean_words.round();
        return Some((Role::Identifier, format!("free text, {n} words on average: it may name anybody")));
    }
    match named {
        Some(named) if named.role == Role::Identifier && !named.is_weak => match names_nobody(survey, column) {
            true => {
                Some((Role::Other, format!("{}, but {} distinct values name nobody", named.says(), column.n_distinct)))
            }
            false => Some((Role::Identifier, named.says())),
        },
        _ if is_part_of_a_name(&column.name) && column.kind == Kind::Text && column.n_distinct.n > N_FEW => {
            Some((Role::Identifier, format!("name says {}: a part of a name", column.name.to_lowercase())))
        }
        _ => None,
    }
}

/// Whether the values contradict a name that says who it is: two values, yes and no, small numbers that are counted, or words.
pub(super) fn names_nobody(survey: &Survey, column: &SurveyedColumn) -> bool {
    let Some(named) = column.named() else { return false };
    if named.is_weak {
        // "ID_district" with the names of districts.
        let is_number = named.concept == "number of a person" && (named.is_of_label || n_words(&column.name) > 1);
        return is_number && column.kind == Kind::Text && column.are_words && !is_nearly_unique(survey, column);
    }
    let is_number = column.kind.is_numeric();
    let is_small = is_number && column.range.is_some_and(|(_, greatest)| greatest < 10_000.0);
    // `number_of_accounts`, and `mobile_likes`, of which a few are many.
    let middle = column.sample.get(column.sample.len() / 2).filter(|_| is_number);
    let is_too_short = NEVER_SMALL.contains(&named.concept) && middle.is_some_and(|number| number.abs() < 10_000.0);
    let is_counted = is_too_short || (is_small && column.n_distinct.n <= 300 && named.concept != "coordinates");
    survey.n_records >= 20 && (column.shape == Some(Shape::YesNo) || column.n_distinct.n <= 2 || is_counted)
}

fn nothing_to_tell(column: &SurveyedColumn) -> Option<Reasoned> {
    match column.n_distinct.n {
        0 => Some((Role::Other, "no record has a value".into())),
        1 => Some((Role::Other, "one value only: it tells nobody apart".into())),
        _ => None,
    }
}

/// What the name says, where the values do not contradict it.
fn by_name(survey: &Survey, column: &SurveyedColumn, sensitive: Option<&SurveyedColumn>) -> Option<Reasoned> {
    let named = column.named()?;
    let n_distinct = column.n_distinct;
    let is_few = n_distinct.n <= N_FEW && survey.n_records >= 10 * n_distinct.n;
    let is_nearly_unique = is_nearly_unique(survey, column);
    let own = || own_value(survey, column);
    match named.role {
        Role::Identifier if is_few => {
            Some((Role::Other, format!("{}, but {n_distinct} distinct values name nobody", named.says())))
        }
        Role::Identifier if names_nobody(survey, column) => Some((
            Role::Other,
            format!("{}, but {n_distinct} distinct values in words do not look like it", named.says()),
        )),
        Role::Identifier => Some((Role::Identifier, named.says())),
        _ if named.has_weak_identifier && is_nearly_unique => {
            Some((Role::Identifier, format!("{} and {}", named.says(), own())))
        }
        Role::Other => {
            Some((Role::Other, format!("{}, of a person or of a record: either may find one", named.says())))
        }
        Role::Sensitive if column.finds_people(survey.n_records) => {
            Some((Role::Other, format!("{}, but {}: published as it is, it finds people", named.says(), own())))
        }
        // The date of a diagnosis is a date.
        Role::Sensitive if is_date(column) => None,
        Role::Sensitive => Some(as_sensitive(column, named.says(), sensitive)),
        _ if !fits(column, &named) => None,
        _ if is_nearly_unique && !is_date(column) && !column.kind.is_numeric() && named.concept != "postcode" => {
            Some((Role::Identifier, format!("{}, but {}: it finds people", named.says(), own())))
        }
        role => Some((role, named.says())),
    }
}

/// Whether the values can be what the name says.
fn fits(column: &SurveyedColumn, named: &Named) -> bool {
    let n = column.n_distinct.n;
    let within = |least: f64, greatest: f64| column.range.is_some_and(|range| range.0 >= least && range.1 <= greatest);
    let is_number = column.kind.is_numeric();
    let is_flag = column.shape == Some(Shape::YesNo) || (is_number && n <= 2);
    match named.concept {
        "sex" => n <= 10 || are_spellings_of_sex(column),
        "occupation" | "education" | "language" | "religion" | "region" | "city" | "household" => !is_flag,
        "date" if !named.is_english => is_date(column),
        "date" | "admission" => {
            is_date(column) || n > 2 && column.shape != Some(Shape::YesNo) && !(is_number && n <= 4)
        }
        "time" => is_date(column) || (n > 2 && (!is_number || within(1.0, 53.0) || within(1800.0, 2100.0))),
        // A few numbers under the name of a hospital say whether somebody was there.
        "facility" => n <= N_FEW && n > 2 && !(is_number && n <= 4) && column.shape != Some(Shape::YesNo),
        "postcode" => !column.is_measured(),
        _ => true,
    }
}

/// What the values say where the name says nothing.
fn by_value(survey: &Survey, column: &SurveyedColumn, sensitive: Option<&SurveyedColumn>) -> Option<Reasoned> {
    // Whatever it looks like, nobody is generalized by their number.
    if person_standing(&column.name, false) == Some(0) && column.n_distinct.n > N_FEW && !is_date(column) {
        return Some((Role::Identifier, "name says whose record it is".into()));
    }
    let is_nearly_unique = is_nearly_unique(survey, column);
    let n = column.n_distinct.n;
    let because = |why: &str| Some((Role::QuasiIdentifier, why.to_string()));
    match column.shape {
        Some(Shape::Moment) if is_nearly_unique => Some((
            Role::Other,
            format!("points in time, and {}: nothing of them would be left", own_value(survey, column)),
        )),
        _ if is_date(column) => because("a date: others may know when it was"),
        Some(Shape::Sex) if (2..=4).contains(&n) && column.values().is_some_and(are_sexes) => {
            because("values are words for sex")
        }
        // Digits and a hyphen may as well be somebody's number.
        Some(Shape::Postcode) if !is_nearly_unique && !column.is_label() => because("values look like postcodes"),
        Some(Shape::Country) if n > 2 => because("values are countries"),
        Some(Shape::CountryCode) if n > 2 && column.n_characters.0 == 3 => because("values are codes of countries"),
        Some(Shape::RegionCode) if n > 2 && survey.n_records >= 5 * n => because("values look like codes of regions"),
        Some(Shape::Range) if n <= N_FEW && are_ages(column) => because("ranges, as ages have"),
        Some(Shape::Icd10) if !column.finds_people(survey.n_records) => {
            Some(as_sensitive(column, "values are diagnoses of ICD-10".into(), sensitive))
        }
        _ if is_nearly_unique => Some((Role::Identifier, own_value(survey, column))),
        _ if column.is_code() && column.kind == Kind::Text && column.n_characters.0 >= 4 => {
            Some((Role::QuasiIdentifier, format!("{} digits throughout, as postcodes have", column.n_characters.0)))
        }
        _ if look_like_ages(survey, column) => because("whole numbers in the range of ages, nearly every one of them"),
        _ => None,
    }
}

fn as_sensitive(column: &SurveyedColumn, why: String, sensitive: Option<&SurveyedColumn>) -> Reasoned {
    let n_distinct = column.n_distinct;
    match sensitive {
        None if n_distinct.n < 10 => {
            (Role::Sensitive, format!("{why}; {n_distinct} values, so l is {n_distinct} at most"))
        }
        None => (Role::Sensitive, why),
        Some(other) => (Role::Other, format!("{why}, but {} is sensitive already", other.name)),
    }
}

/// The column that deserves most to be the sensitive attribute; it must have something to hide.
pub(super) fn best_sensitive(survey: &Survey) -> Option<usize> {
    let rank = |column: &SurveyedColumn| {
        let can_be = column.n_distinct.n > 1 && !column.finds_people(survey.n_records) && !is_date(column);
        let by_name = column.named().filter(|named| named.role == Role::Sensitive).map(|named| named.rank);
        let by_value = (column.shape == Some(Shape::Icd10)).then_some(0);
        by_name.into_iter().chain(by_value).min().filter(|_| can_be)
    };
    let ranked = survey.columns.iter().enumerate().filter_map(|(i, column)| Some((rank(column)?, i)));
    ranked.min().map(|(_, i)| i)
}

pub(super) fn is_date(column: &SurveyedColumn) -> bool {
    column.kind == Kind::Date || column.shape.is_some_and(Shape::is_date)
}

/// Whether nearly all records have a word for sex, in however many spellings.
pub(super) fn are_spellings_of_sex(column: &SurveyedColumn) -> bool {
    let n_with = |values: &[(String, u64)], is_wanted: fn(&str) -> bool| -> u64 {
        values.iter().filter(|(text, _)| is_wanted(text)).map(|(_, n)| n).sum()
    };
    column.kind == Kind::Text
        && column.values().is_some_and(|values| {
            are_sexes(values) && 10 * n_with(values, |text| sex_of(text).is_some()) >= 9 * n_with(values, |_| true)
        })
}

fn are_sexes(values: &[(String, u64)]) -> bool {
    have_both_sexes(values.iter().map(|(text, _)| text.as_str()))
}

/// Ranges that begin with the young and end with the old.
fn are_ages(column: &SurveyedColumn) -> bool {
    let Some(values) = column.values() else { return false };
    let ends: Vec<(f64, f64)> = values.iter().filter_map(|(text, _)| range_of(text)).collect();
    let finite = |pick: fn(&(f64, f64)) -> [f64; 2]| ends.iter().flat_map(pick).filter(|end| end.is_finite());
    let least = finite(|range| [range.0, range.1]).fold(f64::INFINITY, f64::min);
    let greatest = finite(|range| [range.0, range.1]).fold(f64::NEG_INFINITY, f64::max);
    values.len() >= 3 && (0.0..=30.0).contains(&least) && (55.0..=130.0).contains(&greatest)
}

/// Whole numbers from young to old, nearly every one of them, each had by several; not percentages.
fn look_like_ages(survey: &Survey, column: &SurveyedColumn) -> bool {
    let Some((least, greatest)) = column.range.filter(|_| column.kind == Kind::Integer) else { return false };
    let n = column.n_distinct.n as f64;
    let is_percentage = (least, greatest) == (0.0, 100.0);
    let is_in_range = (0.0..=25.0).contains(&least) && (75.0..=115.0).contains(&greatest) && !is_percentage;
    is_in_range
        && !says_how_many(&column.name)
        && !says_how_many(&column.label)
        && n >= 0.7 * (greatest - least)
        && survey.n_records as f64 >= 5.0 * n
}

/// Whether nearly every record has a value of its own, and there are enough records for that to mean something.
fn is_nearly_unique(survey: &Survey, column: &SurveyedColumn) -> bool {
    let n_present = survey.n_records - column.n_missing;
    let is_countable = matches!(column.kind, Kind::Text | Kind::Integer) && !column.is_measured();
    is_countable && n_present >= 50 && column.n_unique.n as f64 >= 0.95 * n_present as f64
}

pub(super) fn own_value(survey: &Survey, column: &SurveyedColumn) -> String {
    let n_present = survey.n_records - column.n_missing;
    match column.n_unique.n >= n_present {
        true => "every value occurs once".into(),
        false => format!("{} of values occur once", percent(column.n_unique.n, n_present)),
    }
}
