//! What the values of a column are: numbers, dates or texts.

use crate::number::Decimal;
use crate::table::dates::parse_date;

/// What the values of an attribute are, as far as all of them agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Whole numbers.
    Integer,
    /// Numbers with or without decimals.
    Number,
    /// Days, with or without a time.
    Date,
    /// `true` and `false`.
    Boolean,
    /// Anything else.
    Text,
}

impl Kind {
    /// The word that files and JSON use.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Integer => "integer",
            Kind::Number => "number",
            Kind::Date => "date",
            Kind::Boolean => "boolean",
            Kind::Text => "text",
        }
    }

    /// Whether values have a place on a line: numbers, not dates.
    pub fn is_numeric(self) -> bool {
        matches!(self, Kind::Integer | Kind::Number)
    }

    /// The narrowest kind that one text fits.
    ///
    /// An integer must be written the way we would write it: `007` is a text, as postcodes are.
    pub fn of(text: &str) -> Kind {
        match text.as_bytes().first() {
            None => return Kind::Text,
            Some(first) if first.is_ascii_digit() || b"-.".contains(first) => {}
            _ => {
                return match text {
                    "true" | "false" => Kind::Boolean,
                    _ => Kind::Text,
                };
            }
        }
        if text.parse::<i64>().is_ok_and(|n| n.to_string() == text) {
            Kind::Integer
        } else if parse_date(text).is_some() {
            Kind::Date
        } else if is_plain_decimal(text) {
            Kind::Number
        } else {
            Kind::Text
        }
    }

    /// The kind that values of both kinds have in common.
    pub fn join(self, other: Kind) -> Kind {
        match (self, other) {
            _ if self == other => self,
            (Kind::Integer, Kind::Number) | (Kind::Number, Kind::Integer) => Kind::Number,
            _ => Kind::Text,
        }
    }
}

/// A decimal with at most one leading zero before the point, so that codes like `00.12` stay texts.
fn is_plain_decimal(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let leading_zeros = digits.len() - digits.trim_start_matches('0').len();
    let after_zeros = digits.as_bytes().get(leading_zeros);
    let plain_start = leading_zeros == 0 || (leading_zeros == 1 && matches!(after_zeros, None | Some(b'.')));
    // A computer's decimals hold about 15 digits, from the first that is not 0 on; what is longer would come back changed.
    let mantissa = digits.bytes().take_while(|b| !b"eE".contains(b)).filter(u8::is_ascii_digit);
    let n_digits = mantissa.skip_while(|b| *b == b'0').count();
    plain_start
        && n_digits <= 15
        && digits.bytes().all(|b| b.is_ascii_digit() || b".eE+-".contains(&b))
        && text.parse::<f64>().is_ok_and(f64::is_finite)
        && Decimal::parse(text).is_some()
}
