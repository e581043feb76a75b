//! Dates by month, quarter, year and so on.

use crate::error::{Error, ErrorKind, Result, Step, Wording};
use crate::hierarchy::NamedLabels;
use crate::table::zone::is_of_named_zone;
use crate::table::{Domain, parse_date};

/// A unit of the calendar, from fine to coarse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum DateUnit {
    /// `2024-03`.
    Month,
    /// `2024-Q1`.
    Quarter,
    /// `2024`.
    Year,
    /// `2020s`.
    Decade,
}

impl DateUnit {
    /// Every unit there is, from the finest on.
    pub const ALL: [DateUnit; 4] = [DateUnit::Month, DateUnit::Quarter, DateUnit::Year, DateUnit::Decade];

    /// The word that project files use.
    pub fn name(self) -> &'static str {
        match self {
            DateUnit::Month => "month",
            DateUnit::Quarter => "quarter",
            DateUnit::Year => "year",
            DateUnit::Decade => "decade",
        }
    }

    /// The unit of a name.
    pub fn parse(name: &str) -> Option<DateUnit> {
        DateUnit::ALL.into_iter().find(|unit| unit.name() == name)
    }

    fn label(self, year: i32, month: u32) -> String {
        match self {
            DateUnit::Month => format!("{year:04}-{month:02}"),
            DateUnit::Quarter => format!("{year:04}-Q{}", (month - 1) / 3 + 1),
            DateUnit::Year => format!("{year:04}"),
            DateUnit::Decade => format!("{:04}s", year.div_euclid(10) * 10),
        }
    }
}

pub(super) fn dates(domain: &Domain, units: &[DateUnit]) -> Result<NamedLabels> {
    let parsed: Vec<_> = domain.present().map(|(_, value)| parse_date(value)).collect();
    let n_named = domain.present().filter(|(_, value)| is_of_named_zone(value)).count();
    if n_named > 0 {
        return Err(Error::new(
            ErrorKind::Hierarchy,
            format!(
                "attribute '{}': {n_named} of {} values are times of a named zone, and which day it was there is not known",
                domain.name(),
                domain.len()
            ),
        )
        .hint("convert the column to the local time without a zone, or to a zone like +01:00 that never changes"));
    }
    let n_wrong = parsed.iter().filter(|date| date.is_none()).count();
    if n_wrong > 0 {
        return Err(Error::new(
            ErrorKind::Hierarchy,
            format!(
                "attribute '{}': {n_wrong} of {} values are not dates like 2024-03-31",
                domain.name(),
                domain.len()
            ),
        )
        .hint(Wording::from(Step::NameMissing).and(", or choose another hierarchy")));
    }
    Ok(units
        .iter()
        .map(|unit| {
            let labels = parsed.iter().flatten().map(|&(year, month, _)| unit.label(year, month));
            (unit.name().to_string(), format!("by {}", unit.name()), labels.collect())
        })
        .collect())
}
