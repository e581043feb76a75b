//! Time zones of timestamps: what a clock in the zone of a column shows.

/// The zone that a column of timestamps names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Zone {
    /// None: the timestamps are what clocks showed, wherever that was.
    Local,
    /// So many seconds before Greenwich.
    Fixed(i64),
    /// One whose clocks are put forward and back, such as `Europe/Paris`: that takes a list of when, which we do not have.
    Named(String),
}

impl Zone {
    /// The zone that a type names.
    pub fn of(name: Option<&str>) -> Zone {
        match name {
            None => Zone::Local,
            Some(name) => offset(name).map_or_else(|| Zone::Named(name.to_string()), Zone::Fixed),
        }
    }

    /// How many seconds clocks of the zone are ahead of Greenwich, as far as that is known; 0 where it is not.
    pub fn seconds(&self) -> i64 {
        if let Zone::Fixed(seconds) = self { *seconds } else { 0 }
    }

    /// What stands behind the time of a timestamp, so that a reader knows whose clock showed it (RFC 3339, and RFC 9557 for
    /// what a clock of a named zone would show): nothing, `Z`, `+01:00`, or `Z[Europe/Paris]`.
    pub fn suffix(&self) -> String {
        match self {
            Zone::Local => String::new(),
            Zone::Fixed(0) => "Z".to_string(),
            Zone::Fixed(seconds) => {
                let (sign, minutes) = (if *seconds < 0 { '-' } else { '+' }, seconds.abs() / 60);
                format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)
            }
            Zone::Named(name) => format!("Z[{name}]"),
        }
    }

    /// Takes a timestamp apart into what a clock showed and how many seconds that clock was ahead of Greenwich, where the
    /// text says so.
    pub fn split(text: &str) -> (&str, Option<i64>) {
        let text = text.split_once('[').map_or(text, |(before, _)| before);
        let clock = text.get(10..).unwrap_or("");
        match clock.find(['Z', 'z', '+', '-']) {
            Some(at) => (&text[..10 + at], offset(&clock[at..])),
            None => (text, None),
        }
    }
}

/// Whether a text is a time of a named zone that was told by a clock in Greenwich: what day it was there is not known.
pub(crate) fn is_of_named_zone(text: &str) -> bool {
    text.contains("Z[")
}

/// Seconds ahead of Greenwich, of what never changes: `+01:00`, `+0100`, `+01`, `UTC`, `Etc/GMT-1`.
fn offset(name: &str) -> Option<i64> {
    const GREENWICH: [&str; 12] = [
        "Z",
        "z",
        "UTC",
        "utc",
        "GMT",
        "UCT",
        "Etc/UTC",
        "Etc/GMT",
        "Etc/UCT",
        "Etc/Universal",
        "Etc/Zulu",
        "Etc/Greenwich",
    ];
    if GREENWICH.contains(&name) {
        return Some(0);
    }
    // By an old custom, the sign of these is the other way round.
    let (is_posix, text) = name.strip_prefix("Etc/GMT").map_or((false, name), |rest| (true, rest));
    let (sign, digits) = match text.as_bytes().first()? {
        b'+' => (1, &text[1..]),
        b'-' => (-1, &text[1..]),
        _ => return None,
    };
    let number = |text: &str| (text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse::<i64>().ok())?;
    let (hours, minutes) = match (digits.len(), is_posix) {
        (1 | 2, true) => (number(digits)?, 0),
        (2, false) => (number(digits)?, 0),
        (4, false) => (number(digits.get(..2)?)?, number(digits.get(2..)?)?),
        (5, false) if digits.as_bytes()[2] == b':' => (number(digits.get(..2)?)?, number(digits.get(3..)?)?),
        _ => return None,
    };
    let is_possible = hours < 24 && minutes < 60;
    is_possible.then_some(sign * if is_posix { -1 } else { 1 } * (hours * 3_600 + minutes * 60))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_that_never_change_are_known() {
        for (name, seconds) in [
            ("UTC", 0),
            ("+00:00", 0),
            ("+01:00", 3_600),
            ("-0330", -12_600),
            ("+14", 50_400),
            ("Etc/GMT-1", 3_600),
            ("Etc/GMT+12", -43_200),
        ] {
            assert_eq!(Zone::of(Some(name)), Zone::Fixed(seconds), "{name}");
            assert_eq!(Zone::split(&format!("2024-02-01T00:30:00{}", Zone::Fixed(seconds).suffix())).1, Some(seconds));
        }
        for name in ["Europe/Paris", "CET", "+1", "+25:00", "+01:60", "", "+0é"] {
            assert_eq!(Zone::of(Some(name)), Zone::Named(name.into()), "{name}");
        }
        assert_eq!(Zone::of(None).suffix(), "");
    }

    #[test]
    fn timestamps_are_taken_apart() {
        for (text, clock, seconds) in [
            ("2024-02-01", "2024-02-01", None),
            ("2024-02-01T00:30:00.5", "2024-02-01T00:30:00.5", None),
            ("2024-02-01 00:30Z", "2024-02-01 00:30", Some(0)),
            ("2024-02-01T00:30:00-05:30", "2024-02-01T00:30:00", Some(-19_800)),
            ("2024-01-31T23:30:00Z[Europe/Paris]", "2024-01-31T23:30:00", Some(0)),
        ] {
            assert_eq!(Zone::split(text), (clock, seconds), "{text}");
        }
    }
}
