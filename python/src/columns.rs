//! Columns of plain Python values become Arrow and come back, where nobody has installed a library for it.
//!
//! Numbers travel as bytes, so that a million of them are copied at once; texts as Python's own.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, BooleanArray, LargeStringArray, NullArray, PrimitiveArray};
use arrow_buffer::{Buffer, NullBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, TimeUnit};
use incrowd::table::Cells;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

/// What a type is called between the two halves of the package; `None` where plain values are not made of it.
pub fn name_of(of: &DataType) -> Option<String> {
    Some(match of {
        DataType::Null => "null".into(),
        DataType::Boolean => "bool".into(),
        DataType::Int8 => "int8".into(),
        DataType::Int16 => "int16".into(),
        DataType::Int32 => "int32".into(),
        DataType::Int64 => "int64".into(),
        DataType::UInt8 => "uint8".into(),
        DataType::UInt16 => "uint16".into(),
        DataType::UInt32 => "uint32".into(),
        DataType::UInt64 => "uint64".into(),
        DataType::Float32 => "float32".into(),
        DataType::Float64 => "float64".into(),
        DataType::Date32 => "date".into(),
        DataType::Decimal128(digits, scale) => format!("decimal:{digits}:{scale}"),
        DataType::Timestamp(unit, zone) => {
            let unit = UNITS.iter().find(|(_, of)| of == unit).expect("there are four units").0;
            format!("time:{unit}:{}", zone.as_deref().unwrap_or_default())
        }
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => "text".into(),
        _ => return None,
    })
}

const UNITS: [(&str, TimeUnit); 4] = [
    ("s", TimeUnit::Second),
    ("ms", TimeUnit::Millisecond),
    ("us", TimeUnit::Microsecond),
    ("ns", TimeUnit::Nanosecond),
];

/// The type of a name that `name_of` gives.
fn type_of(name: &str) -> Option<DataType> {
    let mut parts = name.splitn(3, ':');
    Some(match (parts.next()?, parts.next(), parts.next()) {
        ("null", ..) => DataType::Null,
        ("bool", ..) => DataType::Boolean,
        ("int8", ..) => DataType::Int8,
        ("int16", ..) => DataType::Int16,
        ("int32", ..) => DataType::Int32,
        ("int64", ..) => DataType::Int64,
        ("uint8", ..) => DataType::UInt8,
        ("uint16", ..) => DataType::UInt16,
        ("uint32", ..) => DataType::UInt32,
        ("uint64", ..) => DataType::UInt64,
        ("float32", ..) => DataType::Float32,
        ("float64", ..) => DataType::Float64,
        ("date", ..) => DataType::Date32,
        ("text", ..) => DataType::LargeUtf8,
        ("decimal", Some(digits), Some(scale)) => DataType::Decimal128(digits.parse().ok()?, scale.parse().ok()?),
        ("time", Some(unit), Some(zone)) => {
            let unit = UNITS.iter().find(|(of, _)| *of == unit)?.1;
            DataType::Timestamp(unit, (!zone.is_empty()).then(|| zone.into()))
        }
        _ => return None,
    })
}

/// A column of so many records from a type's name, its values, and which of them are there (a byte each).
///
/// Texts are a list of texts or None; everything else is bytes, as the machine writes such numbers.
pub fn array_of(
    kind: &str,
    values: &Bound<'_, PyAny>,
    there: Option<&[u8]>,
    n_records: usize,
) -> PyResult<Result<ArrayRef, ArrowError>> {
    let wrong = || ArrowError::SchemaError(format!("{kind} is no type of a column"));
    let Some(of) = type_of(kind) else { return Ok(Err(wrong())) };
    match of {
        DataType::Null => return Ok(Ok(Arc::new(NullArray::new(n_records)))),
        DataType::LargeUtf8 => {
            let texts: Vec<Option<String>> = values.extract()?;
            return Ok(Ok(Arc::new(LargeStringArray::from(texts))));
        }
        _ => {}
    }
    let bytes = values.cast::<PyBytes>()?.as_bytes();
    let nulls = there.map(|there| NullBuffer::from(there.iter().map(|&is_there| is_there != 0).collect::<Vec<bool>>()));
    Ok(numbers_of(&of, bytes, nulls).unwrap_or_else(|| Err(wrong())))
}

fn numbers_of(of: &DataType, bytes: &[u8], nulls: Option<NullBuffer>) -> Option<Result<ArrayRef, ArrowError>> {
    fn primitive<T: ArrowPrimitiveType>(
        of: &DataType,
        bytes: &[u8],
        nulls: Option<NullBuffer>,
    ) -> Result<ArrayRef, ArrowError> {
        let values: ScalarBuffer<T::Native> = ScalarBuffer::from(Buffer::from(bytes));
        Ok(Arc::new(PrimitiveArray::<T>::try_new(values, nulls)?.with_data_type(of.clone())))
    }
    Some(match of {
        DataType::Boolean => {
            let values = bytes.iter().map(|&is_true| is_true != 0).collect::<Vec<bool>>();
            if nulls.as_ref().is_some_and(|nulls| nulls.len() != values.len()) {
                return Some(Err(ArrowError::InvalidArgumentError("values and gaps are not equally many".into())));
            }
            Ok(Arc::new(BooleanArray::new(values.into(), nulls)) as ArrayRef)
        }
        DataType::Int8 => primitive::<Int8Type>(of, bytes, nulls),
        DataType::Int16 => primitive::<Int16Type>(of, bytes, nulls),
        DataType::Int32 => primitive::<Int32Type>(of, bytes, nulls),
        DataType::Int64 => primitive::<Int64Type>(of, bytes, nulls),
        DataType::UInt8 => primitive::<UInt8Type>(of, bytes, nulls),
        DataType::UInt16 => primitive::<UInt16Type>(of, bytes, nulls),
        DataType::UInt32 => primitive::<UInt32Type>(of, bytes, nulls),
        DataType::UInt64 => primitive::<UInt64Type>(of, bytes, nulls),
        DataType::Float32 => primitive::<Float32Type>(of, bytes, nulls),
        DataType::Float64 => primitive::<Float64Type>(of, bytes, nulls),
        DataType::Date32 => primitive::<Date32Type>(of, bytes, nulls),
        DataType::Decimal128(..) => primitive::<Decimal128Type>(of, bytes, nulls),
        DataType::Timestamp(TimeUnit::Second, _) => primitive::<TimestampSecondType>(of, bytes, nulls),
        DataType::Timestamp(TimeUnit::Millisecond, _) => primitive::<TimestampMillisecondType>(of, bytes, nulls),
        DataType::Timestamp(TimeUnit::Microsecond, _) => primitive::<TimestampMicrosecondType>(of, bytes, nulls),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => primitive::<TimestampNanosecondType>(of, bytes, nulls),
        _ => return None,
    })
}

/// The values of a column as Python has them: numbers, texts, days and units of time as whole numbers, decimals as texts.
pub fn values_of<'py>(py: Python<'py>, name: &str, column: &ArrayRef) -> PyResult<Bound<'py, PyList>> {
    macro_rules! numbers {
        ($type:ty) => {
            PyList::new(py, column.as_primitive::<$type>().iter())
        };
    }
    match column.data_type() {
        DataType::Boolean => PyList::new(py, column.as_boolean().iter()),
        DataType::Int8 => numbers!(Int8Type),
        DataType::Int16 => numbers!(Int16Type),
        DataType::Int32 => numbers!(Int32Type),
        DataType::Int64 => numbers!(Int64Type),
        DataType::UInt8 => numbers!(UInt8Type),
        DataType::UInt16 => numbers!(UInt16Type),
        DataType::UInt32 => numbers!(UInt32Type),
        DataType::UInt64 => numbers!(UInt64Type),
        DataType::Float32 => numbers!(Float32Type),
        DataType::Float64 => numbers!(Float64Type),
        DataType::Date32 => numbers!(Date32Type),
        DataType::Timestamp(TimeUnit::Second, _) => numbers!(TimestampSecondType),
        DataType::Timestamp(TimeUnit::Millisecond, _) => numbers!(TimestampMillisecondType),
        DataType::Timestamp(TimeUnit::Microsecond, _) => numbers!(TimestampMicrosecondType),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => numbers!(TimestampNanosecondType),
        _ => {
            let cells = Cells::new(name, column).map_err(|error| crate::words::raised(&error))?;
            let mut text = String::new();
            let read = |record| cells.read(record, &mut text).then(|| text.clone());
            PyList::new(py, (0..column.len()).map(read).collect::<Vec<Option<String>>>())
        }
    }
}
