//! The standing request, the guard, the policy and the words for the report of a project file.

use incrowd::error::unknown;
use incrowd::{ErrorKind, Result, Role};
use toml::{Table, Value};

use crate::input::project::keys::{amount, known_keys, number, section, text_at, texts, wrong};
use crate::input::project::{Attribute, CRITERIA, CriterionText, Guard, Policy, ReportWords, StandingRequest};

pub(super) fn standing_request(table: &Table) -> Result<StandingRequest> {
    let known: Vec<&str> = CRITERIA.into_iter().chain(["max_suppressed", "max_level", "best_by"]).collect();
    known_keys(table, "request.", &known)?;
    let mut criteria = Vec::new();
    for name in CRITERIA {
        let criterion = |attribute: Option<&String>, value: &Value| {
            Ok(CriterionText { name, attribute: attribute.cloned(), value: criterion_value(name, value)? })
        };
        match table.get(name) {
            None => {}
            Some(Value::Table(of_attributes)) => {
                for (attribute, value) in of_attributes {
                    criteria.push(criterion(Some(attribute), value)?);
                }
            }
            Some(value) => criteria.push(criterion(None, value)?),
        }
    }
    let max_suppressed = amount(table, "request.max_suppressed")?;
    let mut max_level = Vec::new();
    for (name, value) in section(table, "max_level")?.into_iter().flatten() {
        let level = match value {
            Value::Integer(n) => u64::try_from(*n).ok().map(|n| n.to_string()),
            Value::String(level) => Some(level.clone()),
            _ => None,
        };
        max_level.push((
            name.clone(),
            level.ok_or_else(|| wrong(format!("request.max_level.{name} must be a level, by number or name")))?,
        ));
    }
    let best_by = text_at(table, "request.best_by", "best_by")?;
    Ok(StandingRequest { criteria, max_suppressed, max_level, best_by })
}

pub(super) fn guard(table: &Table) -> Result<Guard> {
    known_keys(table, "guard.", &["min_records", "max_dropped", "max_suppressed"])?;
    let min_records = match table.get("min_records") {
        None => None,
        Some(value) => Some(
            value
                .as_integer()
                .and_then(|n| u64::try_from(n).ok())
                .ok_or_else(|| wrong("guard.min_records must be a whole number of at least 0"))?,
        ),
    };
    let (max_dropped, max_suppressed) = (amount(table, "guard.max_dropped")?, amount(table, "guard.max_suppressed")?);
    Ok(Guard { min_records, max_dropped, max_suppressed })
}

pub(super) fn report_words(table: &Table) -> Result<ReportWords> {
    known_keys(table, "report.", &["recipient", "purpose", "agreed"])?;
    let text = |key: &str| text_at(table, &format!("report.{key}"), key);
    let agreed = table.get("agreed").map_or(Ok(Vec::new()), |value| texts(value, "report.agreed"))?;
    Ok(ReportWords { recipient: text("recipient")?, purpose: text("purpose")?, agreed })
}

/// The floor of guests; every name that it has must mean something.
pub(super) fn policy(table: &Table, attributes: &[Attribute]) -> Result<Policy> {
    known_keys(table, "policy.", &["min_k", "min_l", "locked"])?;
    let least = |key: &str, value: &Value| match value.as_integer().and_then(|n| u64::try_from(n).ok()) {
        Some(n) if n > 0 => Ok(n.to_string()),
        _ => Err(wrong(format!("policy.{key} must be a whole number of at least 1"))),
    };
    let mut floors = Vec::new();
    if let Some(value) = table.get("min_k") {
        floors.push(CriterionText { name: "k", attribute: None, value: least("min_k", value)? });
    }
    let sensitive: Vec<&str> =
        attributes.iter().filter(|known| known.role == Role::Sensitive).map(|known| known.name.as_str()).collect();
    let mut of = |name: &str, value: &Value| -> Result<()> {
        if !sensitive.contains(&name) {
            return Err(unknown(ErrorKind::Project, "sensitive attribute of policy.min_l", name, &sensitive));
        }
        floors.push(CriterionText { name: "l", attribute: Some(name.to_string()), value: least("min_l", value)? });
        Ok(())
    };
    match table.get("min_l") {
        None => {}
        Some(Value::Table(each)) => each.iter().try_for_each(|(name, value)| of(name, value))?,
        Some(_) if sensitive.is_empty() => {
            return Err(wrong("policy.min_l is about sensitive attributes, and there is none"));
        }
        Some(value) => sensitive.iter().try_for_each(|name| of(name, value))?,
    }
    let locked = table.get("locked").map_or(Ok(Vec::new()), |value| texts(value, "policy.locked"))?;
    let names = attributes.iter().filter(|known| known.role == Role::QuasiIdentifier).map(|known| known.name.as_str());
    let known: Vec<&str> = CRITERIA.into_iter().chain(["max_suppressed", "best_by"]).chain(names).collect();
    match locked.iter().find(|name| !known.contains(&name.as_str())) {
        Some(name) => Err(unknown(ErrorKind::Project, "term of policy.locked", name, &known)),
        None => Ok(Policy { floors, locked }),
    }
}

/// A criterion's value as a flag would write it: `10`, `0.2`, `1/3`, `10..5`, or `2,3` for a list.
fn criterion_value(name: &str, value: &Value) -> Result<String> {
    let is_whole = ["k", "k_map", "l"].contains(&name);
    match value {
        Value::Integer(n) if *n >= 0 => Ok(n.to_string()),
        Value::Float(number) if !is_whole => Ok(number.to_string()),
        Value::String(text) if !is_whole || text.contains("..") => Ok(text.clone()),
        Value::Array(list) if name == "recursive" => {
            let parts: Option<Vec<f64>> = list.iter().map(number).collect();
            let parts = parts.ok_or_else(|| wrong("request.recursive must be a list of two numbers"))?;
            Ok(parts.iter().map(f64::to_string).collect::<Vec<_>>().join(","))
        }
        _ if is_whole => Err(wrong(format!("request.{name} must be a whole number"))),
        _ => Err(wrong(format!("request.{name} must be a number"))),
    }
}
