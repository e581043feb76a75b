//! Days and dates.

use chrono::{Datelike, NaiveDate};

use crate::table::zone;

/// The year, month and day that a text begins with, written as `2024-03-31`; a time of day may follow, and a zone: the
/// date is the one that its own clock showed. None where that is not known, as of `2024-01-31T23:30:00Z[Europe/Paris]`.
pub fn parse_date(text: &str) -> Option<(i32, u32, u32)> {
    let date = text.get(..10)?;
    if zone::is_of_named_zone(text) || !matches!(text.as_bytes().get(10), None | Some(b'T' | b' ')) {
        return None;
    }
    let (year, rest) = (date.get(..4)?, date.get(4..)?);
    let bytes = rest.as_bytes();
    if bytes[0] != b'-' || bytes[3] != b'-' {
        return None;
    }
    let number = |text: &str| text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse::<u32>().ok())?;
    let (year, month, day) = (number(year)?, number(rest.get(1..3)?)?, number(rest.get(4..6)?)?);
    let year = i32::try_from(year).ok()?;
    NaiveDate::from_ymd_opt(year, month, day).map(|_| (year, month, day))
}

/// The calendar repeats itself after 400 years, which are so many days. Columns can hold days that are farther away than
/// a calendar of any library goes.
const N_DAYS_OF_400_YEARS: i64 = 146_097;

/// The date that is `days` days after 1970-01-01, as `2024-03-31`.
pub fn date_text(days: i64) -> String {
    let within = i32::try_from(days.rem_euclid(N_DAYS_OF_400_YEARS)).ok().and_then(NaiveDate::from_epoch_days);
    let date = within.expect("a day of the 400 years from 1970 on");
    let year = i64::from(date.year()) + 400 * days.div_euclid(N_DAYS_OF_400_YEARS);
    format!("{year:04}-{:02}-{:02}", date.month(), date.day())
}

/// The number of days from 1970-01-01 to a date; the inverse of [`date_text`].
///
/// Days and months beyond the last lead on into the months and years that follow.
pub fn days_of_date(year: i32, month: u32, day: u32) -> i64 {
    let months = 12 * i64::from(year) + i64::from(month) - 1;
    let (year, month) = (months.div_euclid(12), months.rem_euclid(12));
    let within = NaiveDate::from_ymd_opt(2000 + year.rem_euclid(400) as i32, month as u32 + 1, 1);
    let first = within.expect("the first day of a month");
    let n_years_of_400 = year.div_euclid(400) - 5;
    i64::from(first.to_epoch_days()) + n_years_of_400 * N_DAYS_OF_400_YEARS + i64::from(day) - 1
}
