//! Any Arrow column, read as texts.

use arrow_array::cast::AsArray;
use arrow_array::temporal_conversions::as_datetime;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef, LargeStringArray, StringArray, StringViewArray};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, TimeUnit};

use crate::error::{Error, ErrorKind, Result};
use crate::table::dates::date_text;
use crate::table::zone::Zone;

/// The cells of one column, read as texts whatever their Arrow type.
pub enum Cells<'a> {
    /// Texts.
    Utf8(&'a StringArray),
    /// Long texts.
    LargeUtf8(&'a LargeStringArray),
    /// Texts by reference.
    Utf8View(&'a StringViewArray),
    /// Whole numbers, and which of them are there.
    Integers(Vec<i64>, Option<NullBuffer>),
    /// Days since 1970-01-01.
    Days(Vec<i64>, Option<NullBuffer>),
    /// Values by their numbers.
    Dictionary {
        /// By cell, the number of its value.
        keys: Vec<usize>,
        /// Which cells have a value.
        nulls: Option<NullBuffer>,
        /// The values.
        values: Box<Cells<'a>>,
    },
    /// Types that are rarely counted, written out once.
    Rendered(StringArray),
}

impl<'a> Cells<'a> {
    /// The cells of a column, whatever its type.
    ///
    /// # Errors
    /// Where the type is none that cells can be written from.
    pub fn new(name: &str, column: &'a ArrayRef) -> Result<Cells<'a>> {
        macro_rules! integers {
            ($type:ty) => {{
                let array = column.as_primitive::<$type>();
                let values = array.values().iter().map(|&value| value as i64).collect();
                Cells::Integers(values, array.nulls().cloned())
            }};
        }
        macro_rules! rendered {
            ($array:expr, |$a:ident, $i:ident| $text:expr) => {{
                let $a = $array;
                Cells::Rendered((0..$a.len()).map(|$i| $a.is_valid($i).then(|| $text)).collect())
            }};
        }
        macro_rules! timestamps {
            ($type:ty, $zone:expr, $n_per_second:expr) => {{
                // As a clock of the column's own zone showed it, which is when it was for those who wrote it down.
                let zone = Zone::of($zone.as_deref());
                let (suffix, ahead) = (zone.suffix(), zone.seconds() * $n_per_second);
                let shown = |value: i64| value.checked_add(ahead).and_then(as_datetime::<$type>);
                rendered!(column.as_primitive::<$type>(), |a, i| match shown(a.value(i)) {
                    Some(time) => format!("{}{suffix}", time.format("%Y-%m-%dT%H:%M:%S%.f")),
                    None => a.value(i).to_string(),
                })
            }};
        }
        Ok(match column.data_type() {
            DataType::Utf8 => Cells::Utf8(column.as_string()),
            DataType::LargeUtf8 => Cells::LargeUtf8(column.as_string()),
            DataType::Utf8View => Cells::Utf8View(column.as_string_view()),
            DataType::Int8 => integers!(Int8Type),
            DataType::Int16 => integers!(Int16Type),
            DataType::Int32 => integers!(Int32Type),
            DataType::Int64 => integers!(Int64Type),
            DataType::UInt8 => integers!(UInt8Type),
            DataType::UInt16 => integers!(UInt16Type),
            DataType::UInt32 => integers!(UInt32Type),
            DataType::UInt64 => rendered!(column.as_primitive::<UInt64Type>(), |a, i| a.value(i).to_string()),
            DataType::Float32 => rendered!(column.as_primitive::<Float32Type>(), |a, i| a.value(i).to_string()),
            DataType::Float64 => rendered!(column.as_primitive::<Float64Type>(), |a, i| a.value(i).to_string()),
            DataType::Boolean => rendered!(column.as_boolean(), |a, i| a.value(i).to_string()),
            DataType::Decimal128(..) => {
                rendered!(column.as_primitive::<Decimal128Type>(), |a, i| a.value_as_string(i))
            }
            DataType::Date32 => {
                let array = column.as_primitive::<Date32Type>();
                let days = array.values().iter().map(|&day| i64::from(day)).collect();
                Cells::Days(days, array.nulls().cloned())
            }
            DataType::Date64 => {
                let array = column.as_primitive::<Date64Type>();
                let days = array.values().iter().map(|&ms| ms.div_euclid(86_400_000)).collect();
                Cells::Days(days, array.nulls().cloned())
            }
            DataType::Timestamp(TimeUnit::Second, zone) => timestamps!(TimestampSecondType, zone, 1),
            DataType::Timestamp(TimeUnit::Millisecond, zone) => timestamps!(TimestampMillisecondType, zone, 1_000),
            DataType::Timestamp(TimeUnit::Microsecond, zone) => timestamps!(TimestampMicrosecondType, zone, 1_000_000),
            DataType::Timestamp(TimeUnit::Nanosecond, zone) => {
                timestamps!(TimestampNanosecondType, zone, 1_000_000_000)
            }
            DataType::Null => Cells::Rendered(StringArray::new_null(column.len())),
            DataType::Dictionary(..) => {
                let dictionary = column.as_any_dictionary();
                let keys = match dictionary.values().is_empty() {
                    true => vec![0; dictionary.len()],
                    false => dictionary.normalized_keys(),
                };
                Cells::Dictionary {
                    keys,
                    nulls: dictionary.nulls().cloned(),
                    values: Box::new(Cells::new(name, dictionary.values())?),
                }
            }
            other => {
                return Err(Error::new(
                    ErrorKind::Data,
                    format!("column '{name}' has type {other}, which incrowd does not read"),
                )
                .hint("write the column as text, number or date, or leave it out of the file"));
            }
        })
    }

    /// How many cells there are.
    pub fn len(&self) -> usize {
        match self {
            Cells::Utf8(array) => array.len(),
            Cells::LargeUtf8(array) => array.len(),
            Cells::Utf8View(array) => array.len(),
            Cells::Rendered(array) => array.len(),
            Cells::Integers(values, _) | Cells::Days(values, _) => values.len(),
            Cells::Dictionary { keys, .. } => keys.len(),
        }
    }

    /// Whether there is no cell.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Writes cell `i` over `text`; false when there is no value.
    pub fn read(&self, i: usize, text: &mut String) -> bool {
        text.clear();
        match self {
            Cells::Integers(values, nulls) => {
                let valid = nulls.as_ref().is_none_or(|nulls| nulls.is_valid(i));
                if valid {
                    use std::fmt::Write;
                    write!(text, "{}", values[i]).expect("writing to a string cannot fail");
                }
                valid
            }
            Cells::Days(values, nulls) => {
                let valid = nulls.as_ref().is_none_or(|nulls| nulls.is_valid(i));
                if valid {
                    text.push_str(&date_text(values[i]));
                }
                valid
            }
            Cells::Dictionary { keys, nulls, values } => {
                nulls.as_ref().is_none_or(|nulls| nulls.is_valid(i)) && values.read(keys[i], text)
            }
            _ => match self.str_at(i) {
                Some(cell) => {
                    text.push_str(cell);
                    true
                }
                None => false,
            },
        }
    }

    /// Cell `i` where it is stored, without a copy; none when there is no value.
    ///
    /// # Panics
    /// Where cells are stored as numbers, days or a dictionary: [`Cells::read`] writes these as texts.
    #[inline]
    pub fn str_at(&self, i: usize) -> Option<&str> {
        match self {
            Cells::Utf8(array) => array.is_valid(i).then(|| array.value(i)),
            Cells::LargeUtf8(array) => array.is_valid(i).then(|| array.value(i)),
            Cells::Utf8View(array) => array.is_valid(i).then(|| array.value(i)),
            Cells::Rendered(array) => array.is_valid(i).then(|| array.value(i)),
            Cells::Integers(..) | Cells::Days(..) | Cells::Dictionary { .. } => {
                unreachable!("these are not stored as texts")
            }
        }
    }
}
