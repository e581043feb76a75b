//! Texts of which some characters are hidden or kept.

use crate::hierarchy::{ALL_HIDDEN, ANY, NamedLabels};
use crate::table::{Code, Domain};

/// Which end of a text a mask hides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The first characters.
    Left,
    /// The last characters.
    Right,
}

pub(super) fn mask(domain: &Domain, hidden: &[usize], side: Side) -> NamedLabels {
    hidden
        .iter()
        .map(|&n_hidden| {
            let label = |(_, value): (Code, &str)| {
                let n_chars = value.chars().count();
                let n_stars = n_hidden.min(n_chars);
                let stars = "*".repeat(n_stars);
                match side {
                    _ if n_stars == n_chars => ALL_HIDDEN.to_string(),
                    Side::Right => value.chars().take(n_chars - n_stars).chain(stars.chars()).collect(),
                    Side::Left => stars.chars().chain(value.chars().skip(n_stars)).collect(),
                }
            };
            let end = match side {
                Side::Right => "last",
                Side::Left => "first",
            };
            let phrase = match n_hidden {
                1 => format!("without the {end} character"),
                n => format!("without the {end} {n} characters"),
            };
            (format!("{n_hidden} hidden"), phrase, domain.present().map(label).collect())
        })
        .collect()
}

pub(super) fn keep(domain: &Domain, kept: &[usize], side: Side) -> NamedLabels {
    let of_level = |&n_kept: &usize| {
        let label = |(_, value): (Code, &str)| {
            let n_more = value.chars().count().saturating_sub(n_kept);
            let kept: String = match side {
                Side::Right => value.chars().take(n_kept).collect(),
                Side::Left => value.chars().skip(n_more).collect(),
            };
            if kept == ANY { ALL_HIDDEN.to_string() } else { kept }
        };
        let end = if side == Side::Right { "first" } else { "last" };
        let phrase = match n_kept {
            1 => format!("by the {end} character"),
            n => format!("by the {end} {n} characters"),
        };
        (format!("{n_kept} kept"), phrase, domain.present().map(label).collect())
    };
    kept.iter().map(of_level).collect()
}
