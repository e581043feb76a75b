//! Labels of ranges of numbers: which interval, or which part between cut points, a number lies in.

use std::collections::HashMap;

use crate::error::{Error, ErrorKind, Result, Step, Wording};
use crate::hierarchy::{NamedLabels, range_text};
use crate::number::Decimal;
use crate::table::{Domain, Kind};

/// The numbers behind the values of a domain.
fn numbers(domain: &Domain, rule: &str) -> Result<Vec<Decimal>> {
    let is_number = |value: &str| value.parse().is_ok_and(f64::is_finite);
    let n_wrong = domain.present().filter(|(_, value)| !is_number(value)).count();
    if n_wrong > 0 {
        return Err(Error::new(
            ErrorKind::Hierarchy,
            format!(
                "attribute '{}': {rule} need numbers, and {n_wrong} of {} values are not",
                domain.name(),
                domain.len()
            ),
        )
        .hint(Wording::from(Step::NameMissing).and(", or choose another hierarchy")));
    }
    let numbers: Vec<Option<Decimal>> = domain.present().map(|(_, value)| Decimal::parse(value)).collect();
    exact(domain, rule, numbers)
}

/// What was computed of every value; an error where that was not possible for some.
fn exact<T>(domain: &Domain, rule: &str, computed: Vec<Option<T>>) -> Result<Vec<T>> {
    let n_too_long = computed.iter().filter(|computed| computed.is_none()).count();
    if n_too_long > 0 {
        return Err(Error::new(
            ErrorKind::Hierarchy,
            format!(
                "attribute '{}': {n_too_long} of {} values have too many digits for {rule} to be exact",
                domain.name(),
                domain.len()
            ),
        )
        .hint("38 digits are exact, those of the fraction included; round the values, or choose another hierarchy"));
    }
    Ok(computed.into_iter().flatten().collect())
}

/// `17-21` or `-5 to -1` for whole numbers, `[17, 22)` otherwise.
fn label(low: Decimal, high: Decimal, whole: bool) -> String {
    let last = high.minus(Decimal::from(1)).filter(|_| whole && low.is_whole() && high.is_whole());
    match last {
        Some(last) if last == low => format!("{low}"),
        Some(last) => range_text(&low.to_string(), &last.to_string()),
        None => format!("[{low}, {high})"),
    }
}

/// Where intervals begin and end.
type Ends = (Option<Decimal>, Option<Decimal>);

/// The label of the end that a number belongs to, if it does.
pub(super) fn end(number: Decimal, ends: Ends) -> Option<String> {
    let below = ends.0.filter(|below| number < *below).map(|below| format!("<{below}"));
    below.or_else(|| ends.1.filter(|above| number >= *above).map(|above| format!(">={above}")))
}

/// Whether a value is the label of one of the ends.
pub(super) fn is_end(value: &str, ends: Ends) -> bool {
    let label = |sign: &str, end: Option<Decimal>| end.is_some_and(|end| value == format!("{sign}{end}"));
    label("<", ends.0) || label(">=", ends.1)
}

/// `ends` are where intervals begin and end: everything below and above has one label.
pub(super) fn intervals(domain: &Domain, widths: &[Decimal], origin: Decimal, ends: Ends) -> Result<NamedLabels> {
    const RULE: &str = "intervals";
    let are_coded = domain.present().any(|(_, value)| is_end(value, ends));
    if are_coded {
        return around(domain, ends, |between| intervals(between, widths, origin, ends));
    }
    let numbers = numbers(domain, RULE)?;
    let whole_domain = domain.kind() == Kind::Integer && origin.is_whole();
    let of_width = |&width: &Decimal| {
        let whole = whole_domain && width.is_whole();
        let of_number = |number: &Decimal| {
            if let Some(end) = end(*number, ends) {
                return Some(end);
            }
            // An interval that one of the ends cuts in two is as long as what is left of it.
            let (low, high) = number.interval(width, origin)?;
            let low = ends.0.map_or(low, |below| low.max(below));
            let high = ends.1.map_or(high, |above| high.min(above));
            Some(label(low, high, whole))
        };
        let labels = exact(domain, RULE, numbers.iter().map(of_number).collect())?;
        Ok((format!("width {width}"), format!("in steps of {width}"), labels))
    };
    widths.iter().map(of_width).collect()
}

/// The labels of a domain in which the ends are coded already: they keep their labels at every level.
fn around(domain: &Domain, ends: Ends, label: impl Fn(&Domain) -> Result<NamedLabels>) -> Result<NamedLabels> {
    let numbers = domain.present().map(|(_, value)| value).filter(|value| !is_end(value, ends));
    let between = Domain::new(domain.name(), numbers.map(str::to_string).collect(), None);
    let level = |(name, phrase, labels): (String, String, Vec<String>)| {
        let label_of: HashMap<&str, String> = between.present().map(|(_, value)| value).zip(labels).collect();
        let label = |(_, value): (_, &str)| label_of.get(value).cloned().unwrap_or_else(|| value.to_string());
        (name, phrase, domain.present().map(label).collect())
    };
    Ok(label(&between)?.into_iter().map(level).collect())
}

pub(super) fn cuts(domain: &Domain, levels: &[Vec<Decimal>]) -> Result<NamedLabels> {
    let numbers = numbers(domain, "cut points")?;
    let whole_domain = domain.kind() == Kind::Integer;
    let of_level = |cuts: &Vec<Decimal>| {
        let whole = whole_domain && cuts.iter().all(|cut| cut.is_whole());
        let of_number = |number: &Decimal| match cuts.partition_point(|cut| cut <= number) {
            0 => format!("<{}", cuts[0]),
            n if n == cuts.len() => format!(">={}", cuts[n - 1]),
            n => label(cuts[n - 1], cuts[n], whole),
        };
        let name = match cuts.len() {
            1 => format!("cut at {}", cuts[0]),
            n => format!("{n} cut points"),
        };
        (name, format!("in {} ranges", cuts.len() + 1), numbers.iter().map(of_number).collect())
    };
    Ok(levels.iter().map(of_level).collect())
}
