//! How the values of one attribute get coarser, level by level, up to the single value `*`.
//!
//! A [`Rule`] says how (five-year intervals, the first three digits, this file);
//! [`Rule::resolve`] applies it to the values that a table really has and checks it.
//! The parts stand in reading order; each uses only those above it.

use crate::error::{Error, ErrorKind, Result};

mod levels;
mod ranges;
mod masks;
mod dates;
mod parents;
mod tables;
pub(crate) mod steps;
mod rule;

pub use dates::DateUnit;
pub use levels::{Hierarchy, Values};
pub use masks::Side;
pub use rule::{Needs, Rule, absent_values, unfit_values};
pub use steps::TwoEnds;
pub use tables::{KnownValues, LabelTable};

/// What the top of every hierarchy is called: nothing is said about the value.
pub const ANY: &str = "*";

/// What stands for a text of which nothing is left: not the top, for it says that the text is short.
pub const ALL_HIDDEN: &str = "**";

/// What stands for values that a table of labels does not know, where somebody said that they are to be counted together.
pub const OTHER: &str = "other";

/// A range as cells write it: `20-24`, and `-5 to -1` or `1892-10-17 to 1904-10-28` where an end has a hyphen of its own.
pub fn range_text(low: &str, high: &str) -> String {
    match low.contains('-') || high.contains('-') {
        true => format!("{low} to {high}"),
        false => format!("{low}-{high}"),
    }
}

/// The ends of what [`range_text`] has written, or may have: each way to take it apart.
pub(crate) fn range_ends(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let in_words = text.split_once(" to ");
    // Ranges were written with a hyphen only once, also between numbers and dates that have some.
    let with_hyphen = text.match_indices('-').filter(|(i, _)| *i > 0).map(|(i, _)| (&text[..i], &text[i + 1..]));
    in_words.into_iter().chain(with_hyphen)
}

fn position(source: &str, line: u64) -> String {
    match line {
        0 => source.to_string(),
        _ => format!("{source}:{line}"),
    }
}

/// Refuses what cannot tell levels apart.
fn check_names(names: &[String]) -> Result<()> {
    let is_name =
        |name: &String| !name.trim().is_empty() && name.parse::<u64>().is_err() && !["exact", ANY].contains(&&name[..]);
    let is_wrong = |(i, name): (usize, &String)| !is_name(name) || names[..i].contains(name);
    match names.iter().enumerate().any(is_wrong) {
        true => Err(Error::new(ErrorKind::Hierarchy, "levels need different names, which are no numbers")
            .hint("for example street, town and county; 'exact' and '*' are taken")),
        false => Ok(()),
    }
}

/// How a sentence says a level that somebody has named.
fn phrase_of_name(name: &str) -> String {
    match ["in ", "by ", "without "].iter().any(|before| name.starts_with(before)) {
        true => name.to_string(),
        false => format!("by {name}"),
    }
}

/// A level's name, how a sentence says it, and the label of every value that is not missing.
type NamedLabels = Vec<(String, String, Vec<String>)>;

fn count(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}
