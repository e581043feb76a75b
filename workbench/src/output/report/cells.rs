//! Cells that were replaced while the table was read: what could not be read, what a hierarchy does not know, and what is
//! published coarser than it is.

use serde_json::Value;

use super::facts::Facts;
use super::text::{counted, name};
use crate::output::page::escape;

/// Nothing where nothing was replaced.
pub(super) fn cells(facts: &Facts) -> String {
    let (certificate, account) = (facts.certificate, facts.account);
    let n_cells = |attribute: &str, of: fn(&crate::input::source::Replaced) -> u64| {
        let replaced = account.replaced.iter().find(|replaced| replaced.column == attribute);
        replaced.map_or(0, of)
    };
    let unreadable = certificate.unreadable.keys().map(|attribute| {
        let n = counted(n_cells(attribute, |replaced| replaced.n_unreadable), "cell is", "cells are");
        format!("{}: {n} no number or no date, and published as no value.", name(attribute))
    });
    let unknown = certificate.unknown.iter().map(|(attribute, said)| {
        let n = counted(n_cells(attribute, |replaced| replaced.n_unknown), "cell has a value", "cells have values");
        let instead = if said == "other" { "“other”" } else { "no value" };
        format!("{}: {n} that its hierarchy does not know, published as {instead}.", name(attribute))
    });
    let coarser = certificate.published_as.iter().map(|(attribute, said)| {
        let top = account.tops.iter().find(|top| top.column == *attribute);
        let how = match (said.get("round"), said.get("level"), top) {
            (Some(step), ..) => format!("rounded to multiples of {}", number(step)),
            (_, Some(level), _) => format!("published by level {} of its hierarchy", escape(&number(level))),
            (_, _, Some(top)) => format!(
                "numbers from {} on, {} of the source, have one label",
                top.from,
                counted(top.n_cells, "cell", "cells")
            ),
            _ => "the highest numbers have one label".to_string(),
        };
        format!("{}: {how}. Criteria count what is published.", name(attribute))
    });
    let items: String = unreadable.chain(unknown).chain(coarser).map(|item| format!("<li>{item}</li>\n")).collect();
    match items.is_empty() {
        true => String::new(),
        false => format!(
            "<section>\n<h2>Cells that were replaced before anything else</h2>\n<ul>\n{items}</ul>\n</section>\n"
        ),
    }
}

fn number(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}
