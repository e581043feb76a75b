//! Sections, keys and values of a project file, as far as they mean the same everywhere.

use incrowd::error::{Wording, unknown};
use incrowd::number::Decimal;
use incrowd::{Error, ErrorKind, Result};
use toml::{Table, Value};

pub(super) fn wrong(message: impl Into<Wording>) -> Error {
    Error::new(ErrorKind::Project, message)
}

pub(super) fn section<'a>(table: &'a Table, key: &str) -> Result<Option<&'a Table>> {
    match table.get(key) {
        None => Ok(None),
        Some(Value::Table(section)) => Ok(Some(section)),
        Some(_) => Err(wrong(format!("{key} must be a section"))),
    }
}

pub(super) fn known_keys(table: &Table, prefix: &str, known: &[&str]) -> Result<()> {
    match table.keys().find(|key| !known.contains(&key.as_str())) {
        Some(key) => Err(unknown(
            ErrorKind::Project,
            "key",
            &format!("{prefix}{key}"),
            &known
                .iter()
                .map(|k| format!("{prefix}{k}"))
                .collect::<Vec<_>>()
                .iter()
                .map(String::as_str)
                .collect::<Vec<_>>(),
        )),
        None => Ok(()),
    }
}

pub(super) fn choice<'a>(table: &Table, prefix: &str, key: &str, choices: &[&'a str]) -> Result<&'a str> {
    match text_at(table, &format!("{prefix}{key}"), key)? {
        None => Ok(choices[0]),
        Some(text) => choices
            .iter()
            .copied()
            .find(|choice| *choice == text)
            .ok_or_else(|| unknown(ErrorKind::Project, &format!("value of {prefix}{key}"), &text, choices)),
    }
}

pub(super) fn text_at(table: &Table, key: &str, name: &str) -> Result<Option<String>> {
    match table.get(name) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(wrong(format!("{key} must be a text in quotes"))),
    }
}

pub(super) fn texts(value: &Value, key: &str) -> Result<Vec<String>> {
    let list = match value {
        Value::Array(list) => list.as_slice(),
        Value::String(_) => std::slice::from_ref(value),
        _ => &[],
    };
    let texts: Option<Vec<String>> = list.iter().map(|value| value.as_str().map(str::to_string)).collect();
    texts
        .filter(|texts| !texts.is_empty() || value.as_array().is_some())
        .ok_or_else(|| wrong(format!("{key} must be a list of texts in quotes")))
}

pub(super) fn number(value: &Value) -> Option<f64> {
    value.as_float().or_else(|| value.as_integer().map(|n| n as f64))
}

/// A number as it is written: whole ones with all of their digits.
pub(super) fn decimal(value: &Value) -> Option<Decimal> {
    value.as_integer().map(Decimal::from).or_else(|| Decimal::of(value.as_float()?))
}

pub(super) fn decimals(value: &Value, key: &str) -> Result<Vec<Decimal>> {
    let list = match value {
        Value::Array(list) => list.as_slice(),
        single => std::slice::from_ref(single),
    };
    let numbers: Option<Vec<Decimal>> = list.iter().map(decimal).collect();
    numbers.ok_or_else(|| wrong(format!("{key} must be a list of numbers")))
}

/// A number of records or a percentage, as a flag would write it; the name has its section before it.
pub(super) fn amount(table: &Table, name: &'static str) -> Result<Option<String>> {
    let key = name.rsplit('.').next().unwrap_or(name);
    match table.get(key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(Value::Integer(n)) => Ok(Some(n.to_string())),
        Some(_) => Err(wrong(format!("{name} must be a number of records or a percentage"))
            .hint(Wording::text("for example ").example(name, "1%"))),
    }
}
