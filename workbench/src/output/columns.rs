//! Typed columns from the texts of a release.

use std::iter::repeat_n;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::{BooleanBuilder, PrimitiveBuilder, StringBuilder};
use arrow_array::types::*;
use arrow_schema::{DataType, TimeUnit};
use incrowd::error::Step;
use incrowd::table::zone::Zone;
use incrowd::table::{Kind, days_of_date, parse_date};
use incrowd::{Error, ErrorKind, Result};

use crate::input::source::Said;

/// A column of the release and the type of its values.
#[derive(Clone, Debug)]
pub struct TypedColumn {
    pub name: String,
    pub data_type: DataType,
    /// What the source said of it.
    pub said: Said,
}

impl TypedColumn {
    /// The column that says how many records a row is.
    pub fn number(name: &str) -> TypedColumn {
        TypedColumn { name: name.to_string(), data_type: DataType::Int64, said: Said::default() }
    }
}

/// The type that texts of one kind have in a typed file.
pub fn type_of_kind(kind: Kind, all_are_plain_dates: bool) -> DataType {
    match kind {
        Kind::Integer => DataType::Int64,
        Kind::Number => DataType::Float64,
        Kind::Boolean => DataType::Boolean,
        Kind::Date if all_are_plain_dates => DataType::Date32,
        Kind::Date | Kind::Text => DataType::Utf8,
    }
}

/// The type that a column keeps in a release, by the type that it is read with.
pub fn kept_type(data_type: &DataType) -> DataType {
    match data_type {
        DataType::Dictionary(_, values) => kept_type(values),
        DataType::LargeUtf8 | DataType::Utf8View => DataType::Utf8,
        DataType::Date64 => DataType::Date32,
        other => other.clone(),
    }
}

/// Builds one typed column from texts.
pub struct ColumnBuilder {
    name: String,
    data_type: DataType,
    values: Values,
}

enum Values {
    Text(StringBuilder),
    Boolean(BooleanBuilder),
    Whole(Vec<Option<i128>>),
    Float(Vec<Option<f64>>),
}

impl ColumnBuilder {
    pub fn new(column: &TypedColumn) -> Result<ColumnBuilder> {
        let values = match &column.data_type {
            DataType::Utf8 => Values::Text(StringBuilder::new()),
            DataType::Boolean => Values::Boolean(BooleanBuilder::new()),
            DataType::Float32 | DataType::Float64 => Values::Float(Vec::new()),
            data_type if data_type.is_integer() => Values::Whole(Vec::new()),
            DataType::Date32 | DataType::Timestamp(..) | DataType::Decimal128(..) => Values::Whole(Vec::new()),
            other => {
                return Err(Error::new(
                    ErrorKind::Data,
                    format!("column '{}' has type {other}, which cannot be published", column.name),
                )
                .hint(Step::DropColumn));
            }
        };
        Ok(ColumnBuilder { name: column.name.clone(), data_type: column.data_type.clone(), values })
    }

    /// Adds so many cells that say the same.
    pub fn push(&mut self, cell: Option<&str>, n: usize) -> Result<()> {
        let parsed = match (&mut self.values, cell) {
            (Values::Text(builder), cell) => {
                (0..n).for_each(|_| builder.append_option(cell));
                Some(())
            }
            (Values::Boolean(builder), None) => {
                builder.append_nulls(n);
                Some(())
            }
            (Values::Boolean(builder), Some(text)) => text.parse().ok().map(|value| builder.append_n(n, value)),
            (Values::Float(values), None) => {
                values.extend(repeat_n(None, n));
                Some(())
            }
            (Values::Float(values), Some(text)) => {
                text.parse().ok().map(|value| values.extend(repeat_n(Some(value), n)))
            }
            (Values::Whole(values), None) => {
                values.extend(repeat_n(None, n));
                Some(())
            }
            (Values::Whole(values), Some(text)) => {
                whole(&self.data_type, text).map(|value| values.extend(repeat_n(Some(value), n)))
            }
        };
        parsed.ok_or_else(|| not_of_type(&self.name, &self.data_type))
    }

    pub fn finish(&mut self) -> ArrayRef {
        match &mut self.values {
            Values::Text(builder) => Arc::new(builder.finish()),
            Values::Boolean(builder) => Arc::new(builder.finish()),
            Values::Float(values) => {
                let values = values.drain(..);
                match self.data_type {
                    DataType::Float32 => Arc::new(
                        values.map(|value| value.map(|value| value as f32)).collect::<arrow_array::Float32Array>(),
                    ),
                    _ => Arc::new(values.collect::<arrow_array::Float64Array>()),
                }
            }
            Values::Whole(values) => whole_array(&self.data_type, values.drain(..)),
        }
    }
}

/// The error of a text that is no value of its column.
pub fn not_of_type(name: &str, data_type: &DataType) -> Error {
    Error::new(ErrorKind::Data, format!("column '{name}' holds a value that is not of type {data_type}"))
}

/// The whole number that stands for a text in a column of this type.
pub fn whole(data_type: &DataType, text: &str) -> Option<i128> {
    match data_type {
        DataType::Date32 => {
            let (year, month, day) = parse_date(text)?;
            Some(i128::from(days_of_date(year, month, day)))
        }
        DataType::Timestamp(unit, zone) => timestamp(*unit, &Zone::of(zone.as_deref()), text),
        DataType::Decimal128(_, scale) => {
            let (before, after) = text.split_once('.').unwrap_or((text, ""));
            let scale = usize::try_from(*scale).ok()?;
            format!("{before}{after:0<scale$}").parse().ok()
        }
        _ => text.parse().ok(),
    }
}

/// `2024-03-31T12:00:00.5` as units since 1970. The clock is that of the text's own zone, or else of the column's.
fn timestamp(unit: TimeUnit, zone: &Zone, text: &str) -> Option<i128> {
    let (shown, ahead) = Zone::split(text);
    let (year, month, day) = parse_date(shown)?;
    let clock = shown.get(11..).unwrap_or("");
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, ""));
    let mut seconds = i128::from(days_of_date(year, month, day)) * 86_400;
    for (part, weight) in clock.split(':').filter(|part| !part.is_empty()).zip([3600, 60, 1]) {
        seconds += part.parse::<i128>().ok()? * weight;
    }
    seconds -= i128::from(ahead.unwrap_or(zone.seconds()));
    let n_digits = match unit {
        TimeUnit::Second => 0,
        TimeUnit::Millisecond => 3,
        TimeUnit::Microsecond => 6,
        TimeUnit::Nanosecond => 9,
    };
    let digits: String = format!("{fraction:0<9}").chars().take(n_digits).collect();
    Some(seconds * 10i128.pow(n_digits as u32) + digits.parse::<i128>().unwrap_or(0))
}

fn whole_array(data_type: &DataType, values: impl Iterator<Item = Option<i128>>) -> ArrayRef {
    macro_rules! array {
        ($type:ty) => {{
            let mut builder = PrimitiveBuilder::<$type>::new().with_data_type(data_type.clone());
            values.for_each(|value| builder.append_option(value.map(|value| value as _)));
            Arc::new(builder.finish())
        }};
    }
    match data_type {
        DataType::Int8 => array!(Int8Type),
        DataType::Int16 => array!(Int16Type),
        DataType::Int32 => array!(Int32Type),
        DataType::UInt8 => array!(UInt8Type),
        DataType::UInt16 => array!(UInt16Type),
        DataType::UInt32 => array!(UInt32Type),
        DataType::UInt64 => array!(UInt64Type),
        DataType::Date32 => array!(Date32Type),
        DataType::Decimal128(..) => array!(Decimal128Type),
        DataType::Timestamp(TimeUnit::Second, _) => array!(TimestampSecondType),
        DataType::Timestamp(TimeUnit::Millisecond, _) => array!(TimestampMillisecondType),
        DataType::Timestamp(TimeUnit::Microsecond, _) => array!(TimestampMicrosecondType),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => array!(TimestampNanosecondType),
        _ => array!(Int64Type),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_every_type_come_back_as_they_were() {
        use incrowd::table::Cells;
        let samples = [
            (DataType::Int8, "-5"),
            (DataType::Int64, "9223372036854775807"),
            (DataType::UInt64, "18446744073709551615"),
            (DataType::Float32, "0.1"),
            (DataType::Float64, "-1250.75"),
            (DataType::Boolean, "true"),
            (DataType::Date32, "1931-02-28"),
            (DataType::Utf8, "é,\"\n"),
            (DataType::Decimal128(10, 3), "-12.050"),
            (DataType::Timestamp(TimeUnit::Second, None), "2024-02-29T23:59:58"),
            (DataType::Timestamp(TimeUnit::Microsecond, None), "1969-12-31T23:59:59.250"),
            (DataType::Timestamp(TimeUnit::Second, Some("UTC".into())), "2024-02-29T23:59:58Z"),
            (DataType::Timestamp(TimeUnit::Nanosecond, Some("-05:30".into())), "2024-02-29T23:59:58.000000001-05:30"),
            (
                DataType::Timestamp(TimeUnit::Millisecond, Some("Europe/Paris".into())),
                "2024-02-29T23:30:00Z[Europe/Paris]",
            ),
        ];
        for (data_type, text) in samples {
            let mut column = ColumnBuilder::new(&TypedColumn {
                name: "x".into(),
                data_type: data_type.clone(),
                said: Said::default(),
            })
            .expect("known");
            column.push(Some(text), 1).expect("parses");
            column.push(None, 1).expect("null");
            let array = column.finish();
            assert_eq!(array.data_type(), &data_type);
            let cells = Cells::new("x", &array).expect("readable");
            let mut read = String::new();
            assert!(cells.read(0, &mut read), "{data_type}");
            assert_eq!(read, text, "{data_type}");
            assert!(!cells.read(1, &mut read));
        }
    }
}
