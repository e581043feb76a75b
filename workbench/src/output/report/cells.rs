//! Cells that were replaced while the table was read: what could not be read, what a hierarchy does not know, and what is
//! published coarser than it is.

use super::facts::Facts;
use super::text::{counted, name};
use crate::input::source::PublishAs;
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
    let unknown = certificate.unknown.keys().map(|attribute| {
        let n = counted(n_cells(attribute, |replaced| replaced.n_unknown), "cell has a value", "cells have values");
        let instead = if certificate.unknown_of(attribute) == Some("other") { "“other”" } else { "no value" };
        format!("{}: {n} that its hierarchy does not know, published as {instead}.", name(attribute))
    });
    let coarser = certificate.published_as.keys().map(|attribute| {
        let top = account.tops.iter().find(|top| top.column == *attribute);
        let how = match (certificate.coarser_of(attribute).flatten().and_then(PublishAs::of_said), top) {
            (Some(how @ PublishAs::Round(_)), _) => how.in_words(),
            (Some(how @ PublishAs::Level(_)), _) => format!("published {}", escape(&how.in_words())),
            (_, Some(top)) => format!(
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
