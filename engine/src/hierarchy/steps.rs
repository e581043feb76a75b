//! The steps that numbers and dates are rounded to: what the labels of the finest intervals say.

use crate::hierarchy::{ANY, Hierarchy, range_ends, range_text};
use crate::number::Decimal;
use crate::table::{Code, Kind, date_text, days_of_date, parse_date};

/// All numbers, or all days, from one to another; without end where there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LabelRange {
    pub(crate) low: Option<Decimal>,
    pub(crate) high: Option<Decimal>,
    /// Whether the high end is part of it. The low one is.
    pub(crate) has_high: bool,
}

impl LabelRange {
    fn contains(&self, at: Decimal) -> bool {
        self.low.is_none_or(|low| low <= at) && self.high.is_none_or(|high| at < high || (self.has_high && at == high))
    }

    /// The lowest and the highest value of it, as texts.
    fn ends(&self, kind: Kind) -> TwoEnds {
        let text = |at: Decimal| if kind == Kind::Date { day(at) } else { at.to_string() };
        let is_whole = kind == Kind::Integer && !self.has_high && self.low.is_none_or(|low| low.is_whole());
        let last = self.high.filter(|high| is_whole && high.is_whole()).and_then(|high| high.minus(Decimal::from(1)));
        (self.low.map(text), last.or(self.high).map(text))
    }

    fn is_single(&self) -> bool {
        self.has_high && self.low == self.high
    }

    /// Whether nothing of it is above the beginning of another one.
    fn is_before(&self, other: &LabelRange) -> bool {
        let is_below = |(high, low): (Decimal, Decimal)| high < low || (!self.has_high && high == low);
        self.high.zip(other.low).is_some_and(is_below)
    }
}

/// The finest steps of a hierarchy of intervals, cut points or dates.
#[derive(Clone, Debug)]
pub(crate) struct Steps {
    kind: Kind,
    /// By value of the table; none where there is no value.
    step_of: Vec<Option<LabelRange>>,
    /// By value, the first and the last value of the table in the same step.
    ends_of: Vec<(Code, Code)>,
    /// Whether dates have a time of day.
    has_times: bool,
}

impl Steps {
    /// Those of the finest level whose labels say more than one value; none where labels are no ranges.
    ///
    /// Labels are read rather than trusted: each contains its values, and they follow each other.
    pub(crate) fn of(hierarchy: &Hierarchy) -> Option<Steps> {
        let kind = hierarchy.kind();
        let own = hierarchy.level(0).labels();
        let is_missing = |code: usize| hierarchy.missing() == Some(Code(code as u32));
        let positions: Vec<Option<Decimal>> =
            (0..own.len()).map(|code| if is_missing(code) { None } else { position(kind, &own[code]) }).collect();
        let level = (1..hierarchy.top()).find(|&level| {
            let present = (0..own.len()).filter(|code| !is_missing(*code));
            let mut labels = present.map(|code| hierarchy.level(level).label_of(code));
            labels.any(|label| read(kind, label).is_none_or(|step| !step.is_single()))
        })?;
        let values = hierarchy.level(level);
        let mut step_of: Vec<Option<LabelRange>> = Vec::with_capacity(own.len());
        for (code, at) in positions.iter().enumerate() {
            let step = match at {
                Some(at) => Some(read(kind, values.label_of(code)).filter(|step| step.contains(*at))?),
                None if is_missing(code) => None,
                None => return None,
            };
            let before = code.checked_sub(1).and_then(|before| step_of[before]);
            let follows = |(before, step): (LabelRange, LabelRange)| before == step || before.is_before(&step);
            if !before.zip(step).is_none_or(follows) {
                return None;
            }
            step_of.push(step);
        }
        let mut ends_of = Vec::with_capacity(own.len());
        for same in step_of.chunk_by(|a, b| a == b) {
            let first = ends_of.len();
            ends_of.extend(same.iter().map(|_| (Code(first as u32), Code((first + same.len() - 1) as u32))));
        }
        let has_times = kind == Kind::Date && own.iter().any(|text| text.len() > "2024-03-31".len());
        Some(Steps { kind, step_of, ends_of, has_times })
    }

    /// The first value of the table in the step of one value, and the last in that of another.
    pub(crate) fn around(&self, low: Code, high: Code) -> (Code, Code) {
        (self.ends_of[low.index()].0, self.ends_of[high.index()].1)
    }

    /// All steps from that of one value to that of another, neither of which is missing.
    fn united(&self, low: Code, high: Code) -> LabelRange {
        let step = |code: Code| self.step_of[code.index()].expect("there is a value");
        LabelRange { low: step(low).low, ..step(high) }
    }

    /// What a cell says that stands for all steps from one to another: `[20-34]`, `[0.5, 2)`, `<30`, `>=65`, `*`, or
    /// `[2024-01-01 to 2024-03-31]`.
    pub(crate) fn text(&self, low: Code, high: Code) -> String {
        let LabelRange { low, high, has_high } = self.united(low, high);
        match (low, high) {
            (None, None) => ANY.to_string(),
            (Some(low), None) => format!(">={low}"),
            (None, Some(high)) => match high.plus(Decimal::from(1)).filter(|_| has_high) {
                Some(next) => format!("<{next}"),
                None => format!("<{high}"),
            },
            (Some(low), Some(high)) if self.kind == Kind::Date => format!("[{}]", range_text(&day(low), &day(high))),
            (Some(low), Some(high)) if has_high && low == high => format!("{low}"),
            (Some(low), Some(high)) if has_high => format!("[{}]", range_text(&low.to_string(), &high.to_string())),
            (Some(low), Some(high)) => format!("[{low}, {high})"),
        }
    }

    /// The ends of all steps from one to another, for releases that give each a column; none where there is no end. What is
    /// not whole ends where the next step begins.
    pub(crate) fn ends(&self, low: Code, high: Code) -> TwoEnds {
        let step = self.united(low, high);
        match (self.kind, self.has_times) {
            (Kind::Date, true) => {
                let midnight = |at: Decimal| format!("{}T00:00:00", day(at));
                let next = step.high.and_then(|high| high.plus(Decimal::from(1)));
                (step.low.map(midnight), next.map(midnight))
            }
            _ => step.ends(self.kind),
        }
    }
}

/// The lowest and the highest value that something stands for, each where there is one.
pub type TwoEnds = (Option<String>, Option<String>);

impl Hierarchy {
    /// What a label says itself about its lowest and its highest value, for releases that give each a column: `20-24` is
    /// 20 and 24, `<18` of whole numbers has 17 and no lowest, `2024-03` its first and its last day. None where it does not
    /// say any, as `*`. What is not whole ends where the next label begins: `[2.5, 5)` is 2.5 and 5.
    ///
    /// # Guarantee
    /// It depends on the label alone, and on no value that is behind it.
    pub fn ends_of_label(&self, level: usize, label: Code) -> TwoEnds {
        let text = &self.level(level).labels()[label.index()];
        let has_order = matches!(self.kind(), Kind::Integer | Kind::Number | Kind::Date);
        if level == self.top() || self.is_missing(level, label) || !has_order {
            return (None, None);
        }
        match level {
            0 => (Some(text.clone()), Some(text.clone())),
            _ => read(self.kind(), text).map_or((None, None), |step| step.ends(self.kind())),
        }
    }
}

fn position(kind: Kind, text: &str) -> Option<Decimal> {
    match kind {
        Kind::Integer | Kind::Number => Decimal::parse(text),
        Kind::Date => parse_date(text).map(|(year, month, day)| Decimal::from(days_of_date(year, month, day))),
        Kind::Boolean | Kind::Text => None,
    }
}

fn day(at: Decimal) -> String {
    date_text(at.to_string().parse().expect("days are whole numbers"))
}

/// The range that a label is.
fn read(kind: Kind, label: &str) -> Option<LabelRange> {
    match kind {
        Kind::Integer | Kind::Number => numbers_of_label(label),
        Kind::Date => {
            let (first, last) = days_of_label(label)?;
            Some(LabelRange { low: Some(first.into()), high: Some(last.into()), has_high: true })
        }
        Kind::Boolean | Kind::Text => None,
    }
}

/// `<18`, `>=65`, `[1.5, 2)`, `17-21`, `-5 to -1` or `17`: what intervals and cut points are called.
fn numbers_of_label(label: &str) -> Option<LabelRange> {
    let whole = |text: &str| Decimal::parse(text).filter(|number| number.is_whole());
    if let Some(high) = label.strip_prefix('<') {
        return Some(LabelRange { low: None, high: Some(Decimal::parse(high)?), has_high: false });
    }
    if let Some(low) = label.strip_prefix(">=") {
        return Some(LabelRange { low: Some(Decimal::parse(low)?), high: None, has_high: false });
    }
    let half_open = label.strip_prefix('[').and_then(|rest| rest.strip_suffix(')')?.split_once(", "));
    let step = match half_open {
        Some((low, high)) => LabelRange { low: Decimal::parse(low), high: Decimal::parse(high), has_high: false },
        None => {
            let ends = range_ends(label).find_map(|(low, high)| whole(low).zip(whole(high)));
            let (low, high) = ends.map_or((whole(label), whole(label)), |(low, high)| (Some(low), Some(high)));
            LabelRange { low, high, has_high: true }
        }
    };
    step.low.zip(step.high).filter(|(low, high)| low <= high).map(|_| step)
}

/// The first and the last day of a month (`2024-03`), a quarter (`2024-Q1`), a year (`2024`) or a decade (`2020s`).
pub(crate) fn days_of_label(label: &str) -> Option<(i64, i64)> {
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse::<i32>().ok())?;
    let (year, rest) = (digits(label.get(..4)?)?, label.get(4..)?);
    let (first_month, n_months) = match rest {
        "" => (1, 12),
        "s" => (1, 120),
        _ => match (rest.strip_prefix("-Q").and_then(digits), rest.strip_prefix('-').and_then(digits)) {
            (Some(quarter @ 1..=4), _) if rest.len() == 3 => (3 * quarter - 2, 3),
            (_, Some(month @ 1..=12)) if rest.len() == 3 => (month, 1),
            _ => return None,
        },
    };
    let first_day = |months: i32| {
        let month = first_month - 1 + months;
        days_of_date(year + month.div_euclid(12), month.rem_euclid(12) as u32 + 1, 1)
    };
    Some((first_day(0), first_day(n_months) - 1))
}
