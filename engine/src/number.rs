//! Numbers as they are written, digit by digit, so that no rounding puts a value on the wrong side of a bound.

use std::cmp::Ordering;
use std::fmt;

/// A decimal number of at most 38 digits, exact.
///
/// A computer's floating-point numbers hold about 15 digits: beside them, `5551234566` and its neighbours at 9 · 10¹⁵
/// are the same number. What is told apart in a table must be told apart in its labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal {
    /// Not a multiple of ten, unless it is 0, so that equal numbers are equal here.
    digits: i128,
    /// How many of the digits stand behind the point; below 0, how many zeros stand before it. 0 of the number 0.
    scale: i32,
}

/// What a number of steps of some fineness can be: more does not fit.
const N_DIGITS_MAX: u32 = 38;

/// The most zeros before the first digit or behind the last one.
const SCALE_MAX: i32 = 5_000;

impl Decimal {
    /// Zero.
    pub const ZERO: Decimal = Decimal { digits: 0, scale: 0 };

    /// The number that a text is, written as `-12.5` or `1.25e-3`; none where it is no number or has too many digits.
    pub fn parse(text: &str) -> Option<Decimal> {
        let (is_negative, rest) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        let (mantissa, exponent) = match rest.find(['e', 'E']) {
            Some(at) => (&rest[..at], Some(&rest[at + 1..])),
            None => (rest, None),
        };
        let (before, after) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let are_digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
        if before.len() + after.len() == 0 || !are_digits(before) || !are_digits(after) {
            return None;
        }
        let unsigned = |text: &str| !text.is_empty() && are_digits(text);
        if exponent.is_some_and(|text| !unsigned(text.strip_prefix(['-', '+']).unwrap_or(text))) {
            return None;
        }
        let (mut digits, mut n_behind) = (0i128, 0i64);
        // Zeros are kept back until a digit follows, so that they do not count where they say nothing.
        let mut n_zeros = 0u32;
        for (place, byte) in before.bytes().chain(after.bytes()).enumerate() {
            n_behind += i64::from(place >= before.len());
            match byte {
                b'0' => n_zeros += u32::from(digits != 0),
                _ => {
                    digits = digits.checked_mul(10i128.checked_pow(n_zeros + 1)?)?;
                    digits = digits.checked_add(i128::from(byte - b'0'))?;
                    n_zeros = 0;
                }
            }
        }
        if digits == 0 {
            return Some(Decimal::ZERO);
        }
        let exponent: i64 = exponent.map_or(Some(0), |text| text.parse().ok())?;
        let scale = n_behind.checked_sub(i64::from(n_zeros))?.checked_sub(exponent)?;
        let scale = i32::try_from(scale).ok().filter(|scale| scale.abs() <= SCALE_MAX)?;
        let is_short = digits.unsigned_abs().ilog10() < N_DIGITS_MAX;
        is_short.then_some(Decimal { digits: if is_negative { -digits } else { digits }, scale })
    }

    /// The decimal that stands nearest to a computer's number: 0.3 for 0.30000000000000004. None where it is not finite.
    pub fn of(number: f64) -> Option<Decimal> {
        // A fraction has 15 digits that are meant; a whole number is meant as it is.
        let text = if number.fract() == 0.0 { format!("{number:e}") } else { format!("{number:.14e}") };
        number.is_finite().then(|| Decimal::parse(&text)).flatten()
    }

    /// So many steps of 10 to the power of −scale; none where they are too many.
    fn of_steps(steps: i128, scale: i32) -> Option<Decimal> {
        if steps == 0 {
            return Some(Decimal::ZERO);
        }
        let (mut digits, mut scale) = (steps, scale);
        while digits % 10 == 0 {
            (digits, scale) = (digits / 10, scale - 1);
        }
        let is_short = digits.unsigned_abs().ilog10() < N_DIGITS_MAX && scale.abs() <= SCALE_MAX;
        is_short.then_some(Decimal { digits, scale })
    }

    /// Whether nothing stands behind the decimal point.
    pub fn is_whole(self) -> bool {
        self.scale <= 0
    }

    /// Whether it is more than zero.
    pub fn is_positive(self) -> bool {
        self.digits > 0
    }

    /// The whole steps of 10 to the power of −scale that are not above it; none where they are too many.
    fn floor(self, scale: i32) -> Option<i128> {
        match scale - self.scale {
            _ if self.digits == 0 => Some(0),
            finer if finer >= 0 => self.digits.checked_mul(10i128.checked_pow(finer as u32)?),
            coarser => Some(match 10i128.checked_pow(coarser.unsigned_abs()) {
                Some(step) => self.digits.div_euclid(step),
                None => -i128::from(self.digits < 0),
            }),
        }
    }

    /// The difference; none where it has too many digits.
    pub fn minus(self, other: Decimal) -> Option<Decimal> {
        let scale = self.scale.max(other.scale);
        Decimal::of_steps(self.floor(scale)?.checked_sub(other.floor(scale)?)?, scale)
    }

    /// The sum; none where it has too many digits.
    pub fn plus(self, other: Decimal) -> Option<Decimal> {
        self.minus(Decimal { digits: -other.digits, ..other })
    }

    /// The number in the middle of two; none where it has too many digits.
    pub fn middle(self, other: Decimal) -> Option<Decimal> {
        let scale = self.scale.max(other.scale).max(0);
        let both = self.floor(scale)?.checked_add(other.floor(scale)?)?;
        Decimal::of_steps(both.checked_mul(5)?, scale + 1)
    }

    /// How many times another number it is, where that is a whole number.
    pub fn multiple_of(self, other: Decimal) -> Option<i128> {
        let scale = self.scale.max(other.scale);
        let (ours, theirs) = (self.floor(scale)?, other.floor(scale)?);
        (theirs != 0 && ours % theirs == 0).then(|| ours / theirs)
    }

    /// The interval of a width, counted from an origin, that it lies in: where that begins, and where the next one does.
    /// None where these have too many digits.
    pub fn interval(self, width: Decimal, origin: Decimal) -> Option<(Decimal, Decimal)> {
        // All bounds are whole steps of this fineness, so that what lies between two steps is where the lower one is.
        let scale = width.scale.max(origin.scale);
        let (width, origin) = (width.floor(scale)?, origin.floor(scale)?);
        let from_origin = self.floor(scale)?.checked_sub(origin)?;
        let low = origin.checked_add(from_origin.div_euclid(width).checked_mul(width)?)?;
        Some((Decimal::of_steps(low, scale)?, Decimal::of_steps(low.checked_add(width)?, scale)?))
    }

    /// The nearest multiple of a step above 0, of two as near the one that is farther from 0; none where that has too many
    /// digits.
    pub fn rounded_to(self, step: Decimal) -> Option<Decimal> {
        let (low, high) = self.interval(step, Decimal::ZERO)?;
        let by_distance = self.minus(low)?.cmp(&high.minus(self)?);
        let is_low = by_distance.is_lt() || by_distance.is_eq() && self < Decimal::ZERO;
        Some(if is_low { low } else { high })
    }

    /// The greatest number of so many digits, at least one, that is not above it.
    pub fn with_digits(self, n_digits: u32) -> Option<Decimal> {
        match self.digits {
            0 => Some(self),
            _ => {
                let step = Decimal { digits: 1, scale: n_digits as i32 - 1 - self.magnitude() };
                self.interval(step, Decimal::ZERO).map(|(low, _)| low)
            }
        }
    }

    /// The nearest of a computer's numbers.
    pub fn to_f64(self) -> f64 {
        format!("{}e{}", self.digits, -self.scale).parse().expect("digits and an exponent are a number")
    }

    /// By what powers of ten the first digit stands before the point.
    fn magnitude(self) -> i32 {
        self.digits.unsigned_abs().checked_ilog10().map_or(i32::MIN, |n| n as i32 - self.scale)
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Decimal) -> Ordering {
        let by_sign = self.digits.signum().cmp(&other.digits.signum());
        if by_sign.is_ne() || self.digits == 0 {
            return by_sign;
        }
        let by_size = self.magnitude().cmp(&other.magnitude()).then_with(|| {
            // Of the same magnitude: as many digits of each.
            let n_more = self.scale - other.scale;
            let widened = |digits: i128, by: i32| digits.unsigned_abs() * 10u128.pow(by.max(0) as u32);
            widened(self.digits, -n_more).cmp(&widened(other.digits, n_more))
        });
        if self.digits > 0 { by_size } else { by_size.reverse() }
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Decimal) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl From<i64> for Decimal {
    fn from(number: i64) -> Decimal {
        Decimal::of_steps(number.into(), 0).expect("19 digits fit")
    }
}

/// Without an exponent: `0.001`, `1000`.
impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.digits < 0 { "-" } else { "" };
        let digits = self.digits.unsigned_abs().to_string();
        match usize::try_from(self.scale) {
            Err(_) => write!(f, "{sign}{digits}{}", "0".repeat(self.scale.unsigned_abs() as usize)),
            Ok(0) => write!(f, "{sign}{digits}"),
            Ok(scale) if scale < digits.len() => {
                let (before, after) = digits.split_at(digits.len() - scale);
                write!(f, "{sign}{before}.{after}")
            }
            Ok(scale) => write!(f, "{sign}0.{digits:0>scale$}"),
        }
    }
}

/// `1234567` as `1,234,567`.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 record`, `12,000 records`.
pub fn counted_words(n: u64, thing: &str) -> String {
    format!("{} {thing}{}", grouped(n), if n == 1 { "" } else { "s" })
}

/// `1 person`, `12,000 people`.
pub fn people_in_words(n: u64) -> String {
    if n == 1 { "1 person".to_string() } else { format!("{} people", grouped(n)) }
}

/// A share as a percentage; never rounds something to nothing.
pub fn percent(n: u64, of: u64) -> String {
    let percent = if of == 0 { 0.0 } else { n as f64 / of as f64 * 100.0 };
    match percent {
        p if n > 0 && p < 0.01 => "under 0.01 %".to_string(),
        p if p < 1.0 && n > 0 => format!("{p:.2} %"),
        p => format!("{p:.1} %"),
    }
}

/// What is counted in a table, and how many of them it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crowd {
    /// Records.
    Records(u64),
    /// Different people, where a column says whose record each is.
    People(u64),
}

impl Crowd {
    /// How many.
    pub fn n(self) -> u64 {
        match self {
            Crowd::Records(n) | Crowd::People(n) => n,
        }
    }

    /// What is counted, in a word.
    pub fn word(self) -> &'static str {
        match self {
            Crowd::Records(_) => "records",
            Crowd::People(_) => "people",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        Decimal::parse(text).unwrap_or_else(|| panic!("{text} is a number"))
    }

    #[test]
    fn texts_become_numbers_and_texts_again() {
        for (text, written) in [
            ("0", "0"),
            ("-0.00", "0"),
            ("007", "7"),
            ("+1.50", "1.5"),
            (".5", "0.5"),
            ("5.", "5"),
            ("1.25e-3", "0.00125"),
            ("12e2", "1200"),
            ("-9223372036854775808", "-9223372036854775808"),
            ("123456789012345678901234567890.5", "123456789012345678901234567890.5"),
            ("1e30", "1000000000000000000000000000000"),
            ("0e99999999999999999999", "0"),
        ] {
            assert_eq!(decimal(text).to_string(), written, "{text}");
            assert_eq!(decimal(written), decimal(text));
        }
        for text in ["", "-", ".", "e5", "1e", "1e+", "--1", "1.2.3", "nan", "inf", "1_000", " 1", "0x10", "1e-99999"] {
            assert_eq!(Decimal::parse(text), None, "{text}");
        }
        assert_eq!(Decimal::parse(&"9".repeat(39)), None);
        assert_eq!(Decimal::of(0.1 + 0.2), Some(decimal("0.3")));
        assert_eq!(Decimal::of(9_007_199_254_740_992.0), Some(decimal("9007199254740992")));
        assert_eq!(Decimal::of(f64::NAN).or(Decimal::of(f64::INFINITY)), None);
    }

    #[test]
    fn numbers_are_ordered_by_size() {
        let ordered = [
            "-1e300",
            "-9007199254740993",
            "-9007199254740992.5",
            "-9007199254740992",
            "-1.5",
            "-1e-300",
            "0",
            "1e-300",
            "0.3",
            "0.30000000000000004",
            "9007199254740992",
            "9007199254740993",
            "99999999999999999999999999999999999999",
            "1e38",
            "1e300",
        ];
        for (i, a) in ordered.iter().enumerate() {
            for (j, b) in ordered.iter().enumerate() {
                assert_eq!(decimal(a).cmp(&decimal(b)), i.cmp(&j), "{a} and {b}");
            }
        }
    }

    #[test]
    fn sums_and_middles_are_exact() {
        assert_eq!(decimal("0.1").plus(decimal("0.2")), Some(decimal("0.3")));
        assert_eq!(decimal("9007199254740993").minus(decimal("0.5")), Some(decimal("9007199254740992.5")));
        assert_eq!(decimal("-1").middle(decimal("0")), Some(decimal("-0.5")));
        assert_eq!(decimal("1e30").middle(decimal("3e30")), Some(decimal("2e30")));
        assert_eq!(decimal("1e37").minus(decimal("1e-9")), None);
        assert_eq!(decimal("0.6").multiple_of(decimal("0.2")), Some(3));
        assert_eq!(decimal("0.5").multiple_of(decimal("0.2")), None);
    }
}
