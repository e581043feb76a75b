//! What numbers of SAS mean, which the formats tell that they are shown with: days or seconds since 1960, or themselves.

use incrowd::table::{date_text, days_of_date};

use super::held::{moment_text, number_text, time_text};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    Number,
    Days,
    Seconds,
    /// Seconds of a day, or a span of time.
    Time,
}

const DAYS: [&str; 40] = [
    "DATE", "DAY", "DDMMYY", "DOWNAME", "JULDAY", "JULIAN", "MMDDYY", "MMYY", "MONNAME", "MONTH", "MONYY", "QTR",
    "QTRR", "WEEKDATE", "WEEKDATX", "WEEKDAY", "WEEKU", "WEEKV", "WEEKW", "WORDDATE", "WORDDATX", "YEAR", "YYMM",
    "YYMON", "YYMMDD", "YYQ", "YYQR", "YYWEEKU", "YYWEEKV", "YYWEEKW", "E8601DA", "B8601DA", "IS8601DA", "NENGO",
    "MINGUO", "EURDFDE", "EURDFDD", "NLDATE", "NLDATEL", "NLDATES",
];
const SECONDS: [&str; 22] = [
    "DATETIME", "DATEAMPM", "DTDATE", "DTMONYY", "DTWKDATX", "DTYEAR", "DTYYQC", "MDYAMPM", "B8601DN", "B8601DT",
    "B8601DX", "B8601DZ", "B8601LX", "E8601DN", "E8601DT", "E8601DX", "E8601DZ", "E8601LX", "IS8601DN", "IS8601DT",
    "NLDATM", "EURDFDT",
];
const TIMES: [&str; 9] = ["TIME", "TIMEAMPM", "HHMM", "HOUR", "MMSS", "E8601TM", "B8601TM", "IS8601TM", "NLTIME"];

impl Shown {
    /// By the name of the format, without its width: `DATE`, `YYMMDDS`.
    pub fn of(format: &str) -> Shown {
        let format = format.trim().trim_end_matches('.').to_ascii_uppercase();
        // The last letter may say what stands between day, month and year.
        let plain = format.strip_suffix(['B', 'C', 'D', 'N', 'P', 'S']).unwrap_or(&format);
        let is_parted = ["DDMMYY", "MMDDYY", "YYMMDD", "MMYY", "YYMM", "YYQ", "YYQR"].contains(&plain);
        match format.as_str() {
            format if DAYS.contains(&format) || is_parted => Shown::Days,
            format if SECONDS.contains(&format) => Shown::Seconds,
            format if TIMES.contains(&format) => Shown::Time,
            // The time of day of a moment.
            "TOD" => Shown::Seconds,
            _ => Shown::Number,
        }
    }

    /// What a number says that is shown so; where that is no date with a year of four digits, it is the number.
    pub fn text(self, number: f64) -> String {
        let first_day = days_of_date(1960, 1, 1);
        let is_day = |days: f64| {
            let (first, last) = (days_of_date(0, 1, 1) - first_day, days_of_date(9999, 12, 31) - first_day);
            (first as f64..last as f64 + 1.0).contains(&days)
        };
        match self {
            Shown::Days if is_day(number) => date_text(first_day + number.floor() as i64),
            Shown::Seconds if is_day(number / 86_400.0) => moment_text(first_day, number),
            Shown::Time if number.abs() < 1e9 => time_text(number),
            _ => number_text(number),
        }
    }
}
