//! Dates as people write them, by an example or by a pattern, as `2019-12-31`.

use incrowd::table::{date_text, days_of_date};

/// How the dates of a column are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DateFormat {
    /// The pattern, in the letters of `strftime`.
    pattern: String,
    parts: Vec<Part>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Day,
    Month,
    MonthName,
    Year,
    ShortYear,
    Hour,
    Minute,
    Second,
    Fraction,
    Zone,
    Literal(char),
}

/// The patterns that an example is held against, and that are looked for in a column.
const DAYS: [&str; 12] = [
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%d.%m.%Y",
    "%d-%m-%Y",
    "%m-%d-%Y",
    "%Y/%m/%d",
    "%Y.%m.%d",
    "%Y%m%d",
    "%d %b %Y",
    "%d-%b-%Y",
    "%d%b%Y",
    "%b %d, %Y",
];
const TIMES: [&str; 4] = ["", " %H:%M", " %H:%M:%S", "T%H:%M:%S"];

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

impl DateFormat {
    /// The format of an example (`31/12/2019`) or of a pattern (`%d/%m/%Y`).
    pub fn parse(text: &str) -> Result<DateFormat, String> {
        if text.contains('%') {
            return DateFormat::of_pattern(text);
        }
        let fitting: Vec<DateFormat> = all().filter(|format| format.iso(text).is_some()).collect();
        match &fitting[..] {
            [] => Err("is no date that can be understood; write a pattern, for example \"%d/%m/%Y\"".into()),
            [format] => Ok(format.clone()),
            _ => Err("can be read in more than one way; take a day after the 12th, or write \"%d/%m/%Y\"".into()),
        }
    }

    fn of_pattern(pattern: &str) -> Result<DateFormat, String> {
        let mut parts = Vec::new();
        let mut characters = pattern.chars();
        while let Some(character) = characters.next() {
            if character != '%' {
                parts.push(Part::Literal(character));
                continue;
            }
            match characters.next() {
                Some('d' | 'e') => parts.push(Part::Day),
                Some('m') => parts.push(Part::Month),
                Some('b' | 'B' | 'h') => parts.push(Part::MonthName),
                Some('Y') => parts.push(Part::Year),
                Some('y') => parts.push(Part::ShortYear),
                Some('H') => parts.push(Part::Hour),
                Some('M') => parts.push(Part::Minute),
                Some('S') => parts.push(Part::Second),
                Some('f') => parts.push(Part::Fraction),
                Some('z') => parts.push(Part::Zone),
                Some('T') => {
                    let colon = Part::Literal(':');
                    parts.extend([Part::Hour, colon, Part::Minute, colon, Part::Second]);
                }
                Some('%') => parts.push(Part::Literal('%')),
                _ => return Err("has a letter after % other than d, m, b, Y, y, H, M, S, f, z and T".into()),
            }
        }
        let n = |wanted: &[Part]| parts.iter().filter(|part| wanted.contains(part)).count();
        let is_date =
            n(&[Part::Day]) == 1 && n(&[Part::Month, Part::MonthName]) == 1 && n(&[Part::Year, Part::ShortYear]) == 1;
        match is_date {
            true => Ok(DateFormat { pattern: pattern.to_string(), parts }),
            false => Err("must say the day, the month and the year once, for example \"%d/%m/%Y\"".into()),
        }
    }

    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    /// A date as `2019-12-31`, with its time and zone behind it where the format has them; none where it is none.
    pub fn iso(&self, text: &str) -> Option<String> {
        let mut read = Read { rest: text.trim(), ..Read::default() };
        for (i, &part) in self.parts.iter().enumerate() {
            // Where digits follow each other without a mark, each number has all of its digits.
            let beside = [i.checked_sub(1), Some(i + 1)].into_iter().flatten().filter_map(|at| self.parts.get(at));
            let is_free = beside.into_iter().all(|part| matches!(part, Part::Literal(_) | Part::MonthName));
            read.part(part, is_free)?;
        }
        read.rest.is_empty().then(|| read.iso()).flatten()
    }
}

#[derive(Default)]
struct Read<'a> {
    rest: &'a str,
    year: u32,
    month: u32,
    day: u32,
    time: [Option<u32>; 3],
    fraction: &'a str,
    zone: String,
}

impl<'a> Read<'a> {
    fn part(&mut self, part: Part, is_free: bool) -> Option<()> {
        let least = |n: usize| if is_free { 1 } else { n };
        match part {
            Part::Literal(expected) => self.rest = self.rest.strip_prefix(expected)?,
            Part::Day => self.day = self.number(least(2), 2)?,
            Part::Month => self.month = self.number(least(2), 2)?,
            Part::Year => self.year = self.number(4, 4)?,
            Part::ShortYear => {
                let year = self.number(2, 2)?;
                self.year = if year < 69 { 2000 + year } else { 1900 + year };
            }
            Part::Hour => self.time[0] = Some(self.number(least(2), 2).filter(|hour| *hour < 24)?),
            Part::Minute => self.time[1] = Some(self.number(2, 2).filter(|minute| *minute < 60)?),
            Part::Second => self.time[2] = Some(self.number(2, 2).filter(|second| *second < 61)?),
            Part::Fraction => self.fraction = self.digits(1, 9)?,
            Part::MonthName => {
                let n = self.rest.chars().take_while(|c| c.is_ascii_alphabetic()).count();
                let name = self.rest[..n].to_ascii_lowercase();
                let is_month = |month: &&str| **month == name || name.len() == 3 && month.starts_with(&name);
                self.month = MONTHS.iter().position(is_month)? as u32 + 1;
                self.rest = &self.rest[n..];
            }
            Part::Zone => self.zone()?,
        }
        Some(())
    }

    fn digits(&mut self, n_min: usize, n_max: usize) -> Option<&'a str> {
        let n = self.rest.bytes().take(n_max).take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.rest.split_at_checked(n).filter(|_| n >= n_min)?;
        self.rest = rest;
        Some(digits)
    }

    fn number(&mut self, n_min: usize, n_max: usize) -> Option<u32> {
        self.digits(n_min, n_max)?.parse().ok()
    }

    fn zone(&mut self) -> Option<()> {
        if let Some(rest) = self.rest.strip_prefix('Z') {
            (self.zone, self.rest) = ("Z".into(), rest);
            return Some(());
        }
        let sign = self.rest.chars().next().filter(|c| ['+', '-'].contains(c))?;
        self.rest = &self.rest[1..];
        let hours = self.number(2, 2).filter(|hours| *hours < 24)?;
        self.rest = self.rest.strip_prefix(':').unwrap_or(self.rest);
        let minutes = if self.rest.is_empty() { 0 } else { self.number(2, 2).filter(|minutes| *minutes < 60)? };
        self.zone = format!("{sign}{hours:02}:{minutes:02}");
        Some(())
    }

    fn iso(&self) -> Option<String> {
        let year = i32::try_from(self.year).ok()?;
        let is_date = (1..=12).contains(&self.month) && self.day >= 1;
        let date = format!("{:04}-{:02}-{:02}", self.year, self.month, self.day);
        // The calendar knows how long months are: a day that is none leads into the next.
        if !is_date || date_text(days_of_date(year, self.month, self.day)) != date {
            return None;
        }
        let [Some(hour), minute, second] = self.time else { return Some(date) };
        let fraction = if self.fraction.is_empty() { String::new() } else { format!(".{}", self.fraction) };
        let (minute, second) = (minute.unwrap_or(0), second.unwrap_or(0));
        Some(format!("{date}T{hour:02}:{minute:02}:{second:02}{fraction}{}", self.zone))
    }
}

fn all() -> impl Iterator<Item = DateFormat> {
    let join = |day: &str, time: &str| DateFormat::of_pattern(&format!("{day}{time}")).expect("a pattern of ours");
    DAYS.into_iter().flat_map(move |day| TIMES.into_iter().map(move |time| join(day, time)))
}

/// How the dates of a column are written, where all of its values say the same and nothing else is possible.
pub(super) fn detect(values: &[&str]) -> Option<DateFormat> {
    // Eight digits are a date only where chance does not make them one so often.
    let (first, n) = (values.first()?, values.len());
    let is_compact = first.len() == 8 && first.bytes().all(|byte| byte.is_ascii_digit());
    let is_likely = |value: &&str| matches!(value.get(..2), Some("18" | "19" | "20"));
    if n < 2 || is_compact && (n < 5 || !values.iter().all(is_likely)) {
        return None;
    }
    let mut fitting = all().filter(|format| values.iter().all(|value| format.iso(value).is_some()));
    let format = fitting.next()?;
    fitting.next().is_none().then_some(format)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_by_example_and_by_pattern() {
        for (format, text, iso) in [
            ("31/12/2019", "1/2/2019", Some("2019-02-01")),
            ("12/31/2019", "02/29/2020", Some("2020-02-29")),
            ("12/31/2019", "02/29/2019", None),
            ("31.12.2019", "31.04.2019", None),
            ("20060630", "20060630", Some("2006-06-30")),
            ("20060630", "2006063", None),
            ("20060630", "200606301", None),
            ("%d/%m/%y", "31/12/68", Some("2068-12-31")),
            ("%d/%m/%y", "31/12/69", Some("1969-12-31")),
            ("31/12/2019 23:59", "01/01/2020 7:05", Some("2020-01-01T07:05:00")),
            ("%d/%m/%Y %H:%M:%S%z", "31/12/2019 23:59:01+0100", Some("2019-12-31T23:59:01+01:00")),
            ("%d/%m/%Y %H:%M:%S%z", "31/12/2019 23:59:01Z", Some("2019-12-31T23:59:01Z")),
            ("%d%b%Y", "31DEC2019", Some("2019-12-31")),
            ("%d%b%Y", "31XXX2019", None),
            ("31-Dec-2019", "1-january-2019", Some("2019-01-01")),
            ("%d/%m/%Y", "31/12/2019 10:00", None),
            ("%d/%m/%Y", "é", None),
        ] {
            let format = DateFormat::parse(format).expect("a format");
            assert_eq!(format.iso(text).as_deref(), iso, "{text} as {}", format.pattern());
        }
        for bad in ["01/02/2019", "yesterday", "%d/%m", "%q", "", "%"] {
            assert!(DateFormat::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_format_is_found_where_nothing_else_is_possible() {
        let pattern = |values: &[&str]| detect(values).map(|format| format.pattern().to_string());
        assert_eq!(pattern(&["01/02/2019", "31/02/2019"]), None);
        assert_eq!(pattern(&["01/02/2019", "31/01/2019"]).as_deref(), Some("%d/%m/%Y"));
        assert_eq!(pattern(&["01/02/2019", "01/31/2019"]).as_deref(), Some("%m/%d/%Y"));
        assert_eq!(pattern(&["01/02/2019", "02/01/2019"]), None, "day or month first");
        assert_eq!(
            pattern(&["01.02.2019", "02.01.2019"]).as_deref(),
            Some("%d.%m.%Y"),
            "nobody writes the month first"
        );
        let days = ["20060630", "20060701", "20060702", "20060703", "20060704"];
        assert_eq!(pattern(&days).as_deref(), Some("%Y%m%d"));
        assert_eq!(pattern(&days[..4]), None);
        assert_eq!(pattern(&["2019-12-31", "2019-12-30"]), None, "that is read anyway");
    }
}
