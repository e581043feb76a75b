//! Where a release goes: CSV, Parquet, SPSS or Stata, with the types that its columns had.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::iter::repeat_n;
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, PrimitiveBuilder, StringBuilder};
use arrow_array::types::*;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use incrowd::error::Step;
use incrowd::release::Row;
use incrowd::table::zone::Zone;
use incrowd::table::{Kind, days_of_date, parse_date};
use incrowd::{Error, ErrorKind, Result};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use crate::input::source::{DELIMITERS, Said};
#[cfg(feature = "files")]
use crate::output::gathered::Gathered;
use crate::sentences::hint;

/// How a release is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Csv { delimiter: u8 },
    Parquet,
    Spss,
    Stata,
}

impl Format {
    /// The same for so many columns. Where there is one, nothing has to be separated: it is written with a comma in mind,
    /// which is what readers try first where they find no separator in the header.
    pub fn of_columns(self, n_columns: usize) -> Format {
        match self {
            Format::Csv { .. } if n_columns == 1 => Format::Csv { delimiter: b',' },
            format => format,
        }
    }

    /// What separates fields, where something does.
    pub fn delimiter(self) -> Option<u8> {
        match self {
            Format::Csv { delimiter } => Some(delimiter),
            Format::Parquet | Format::Spss | Format::Stata => None,
        }
    }

    /// Whether "no value" is a text; elsewhere nothing stands there.
    pub fn writes_missing_as_text(self) -> bool {
        matches!(self, Format::Csv { .. })
    }

    /// Refuses names that a program does not know columns by: under another name nobody would find them again.
    pub fn check_names<'a>(self, names: impl Iterator<Item = &'a str>, path: &Path) -> Result<()> {
        #[cfg(feature = "files")]
        for name in names {
            let (program, is_name) = match self {
                Format::Spss => ("SPSS", super::spss::is_name(name)),
                Format::Stata => ("Stata", super::stata::is_name(name)),
                Format::Csv { .. } | Format::Parquet => continue,
            };
            if !is_name {
                let message = format!("'{name}' cannot be the name of a column in {program}");
                return Err(Error::new(ErrorKind::Data, message)
                    .at(path.display().to_string())
                    .hint("rename the column in the data, or write .csv or .parquet instead"));
            }
        }
        #[cfg(not(feature = "files"))]
        let _ = (names, path);
        Ok(())
    }

    /// By the ending of the file's name.
    pub fn of(path: &Path, delimiter: u8) -> Result<Format> {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("csv" | "tsv" | "txt") => Ok(Format::Csv { delimiter }),
            Some("parquet") => Ok(Format::Parquet),
            #[cfg(feature = "files")]
            Some("sav") => Ok(Format::Spss),
            #[cfg(feature = "files")]
            Some("dta") => Ok(Format::Stata),
            _ => Err(Error::new(ErrorKind::Request, "a release is written as .csv, .parquet, .sav or .dta")
                .at(path.display().to_string())
                .hint(hint("give {output} a name that ends in one of them"))),
        }
    }
}

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

/// Takes rows in order and writes them.
pub enum Sink<'a> {
    Csv {
        out: BufWriter<&'a File>,
        delimiter: u8,
        /// The line at hand, with its end.
        line: Vec<u8>,
        path: &'a Path,
    },
    Parquet {
        writer: Box<ArrowWriter<BufWriter<&'a File>>>,
        columns: Vec<ColumnBuilder>,
        schema: SchemaRef,
        n_rows: usize,
        path: &'a Path,
    },
    /// A file for a program of statistics.
    #[cfg(feature = "files")]
    Gathered { gathered: Gathered, format: Format, file: &'a File, path: &'a Path },
}

/// Rows per batch of a Parquet file.
const N_BATCH: usize = 64 * 1024;

/// Bytes of a line of CSV that are put together before they are handed on.
const N_LINE: usize = 1024;

impl<'a> Sink<'a> {
    /// Begins a release in `file`, which will be called `path`. For CSV, rows say "no value" as a text.
    pub fn new(file: &'a File, path: &'a Path, format: Format, columns: &[TypedColumn]) -> Result<Sink<'a>> {
        let mut buffered = BufWriter::with_capacity(1 << 18, file);
        match format {
            Format::Csv { delimiter } => {
                let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
                write_header(&mut buffered, delimiter, &names).map_err(|error| csv_error(path, error))?;
                Ok(Sink::Csv { out: buffered, delimiter, line: Vec::new(), path })
            }
            Format::Parquet => {
                let fields: Vec<Field> =
                    columns.iter().map(|column| Field::new(&column.name, column.data_type.clone(), true)).collect();
                let schema = Arc::new(Schema::new(fields));
                let zstd = ZstdLevel::try_new(3).expect("3 is a level of zstd");
                let properties = WriterProperties::builder().set_compression(Compression::ZSTD(zstd)).build();
                let writer = ArrowWriter::try_new(buffered, schema.clone(), Some(properties))
                    .map_err(|error| parquet_error(path, error))?;
                let columns = columns.iter().map(ColumnBuilder::new).collect::<Result<_>>()?;
                Ok(Sink::Parquet { writer: Box::new(writer), columns, schema, n_rows: 0, path })
            }
            #[cfg(feature = "files")]
            Format::Spss | Format::Stata => {
                let columns = columns.iter().map(|column| (column.name.clone(), column.said.clone()));
                Ok(Sink::Gathered { gathered: Gathered::new(columns), format, file, path })
            }
            #[cfg(not(feature = "files"))]
            Format::Spss | Format::Stata => unreachable!("no name stands for them"),
        }
    }

    /// Writes so many records that say the same.
    pub fn write(&mut self, row: &Row, n_records: u64) -> Result<()> {
        let cells = row.cells();
        match self {
            Sink::Csv { out, delimiter, line, path } => {
                line.clear();
                let mut writer = csv::WriterBuilder::new()
                    .delimiter(*delimiter)
                    .buffer_capacity(N_LINE)
                    .from_writer(std::mem::take(line));
                let cells = cells.iter().map(|cell| cell.as_deref().unwrap_or_default());
                writer.write_record(cells).map_err(|error| csv_error(path, error))?;
                *line = writer.into_inner().map_err(|error| crate::io_error(path, error.into_error()))?;
                (0..n_records).try_for_each(|_| out.write_all(line)).map_err(|error| crate::io_error(path, error))
            }
            Sink::Parquet { .. } => self.write_typed(&cells, n_records),
            #[cfg(feature = "files")]
            Sink::Gathered { gathered, .. } => {
                Ok((0..n_records).for_each(|_| gathered.push(cells.iter().map(Option::as_deref))))
            }
        }
    }

    fn write_typed(&mut self, cells: &[Option<String>], mut n_left: u64) -> Result<()> {
        while n_left > 0 {
            let Sink::Parquet { columns, n_rows, .. } = self else { return Ok(()) };
            // Batches end after the same number of records, however these come.
            let n = n_left.min((N_BATCH - *n_rows) as u64);
            for (column, cell) in columns.iter_mut().zip(cells) {
                column.push(cell.as_deref(), n as usize)?;
            }
            *n_rows += n as usize;
            n_left -= n;
            if *n_rows >= N_BATCH {
                self.flush()?;
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        let Sink::Parquet { writer, columns, schema, n_rows, path } = self else { return Ok(()) };
        let arrays: Vec<ArrayRef> = columns.iter_mut().map(ColumnBuilder::finish).collect();
        let batch = RecordBatch::try_new(schema.clone(), arrays).expect("every column got one cell per row");
        *n_rows = 0;
        writer.write(&batch).map_err(|error| parquet_error(path, error))
    }

    /// Writes what is left.
    pub fn finish(mut self) -> Result<()> {
        self.flush()?;
        match self {
            Sink::Csv { mut out, path, .. } => out.flush().map_err(|error| crate::io_error(path, error)),
            Sink::Parquet { writer, path, .. } => {
                let mut buffered = writer.into_inner().map_err(|error| parquet_error(path, error))?;
                buffered.flush().map_err(|error| crate::io_error(path, error))
            }
            #[cfg(feature = "files")]
            Sink::Gathered { gathered, format: Format::Spss, file, path } => super::spss::write(&gathered, file, path),
            #[cfg(feature = "files")]
            Sink::Gathered { gathered, file, path, .. } => super::stata::write(&gathered, file, path),
        }
    }
}

/// Writes the names of columns, in quotes where one of them has a character that readers may take for the separator.
fn write_header(out: impl std::io::Write, delimiter: u8, names: &[&str]) -> csv::Result<()> {
    let is_misleading = |byte: u8| byte != delimiter && DELIMITERS.contains(&byte);
    let style = match names.iter().any(|name| name.bytes().any(is_misleading)) {
        true => csv::QuoteStyle::Always,
        false => csv::QuoteStyle::Necessary,
    };
    let mut writer = csv::WriterBuilder::new().delimiter(delimiter).quote_style(style).from_writer(out);
    writer.write_record(names)?;
    Ok(writer.flush()?)
}

fn csv_error(path: &Path, error: csv::Error) -> Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => crate::io_error(path, error),
        _ => Error::new(ErrorKind::Io, "could not be written").at(path.display().to_string()),
    }
}

pub(crate) fn parquet_error(path: &Path, error: parquet::errors::ParquetError) -> Error {
    Error::new(ErrorKind::Io, format!("could not be written: {error}")).at(path.display().to_string())
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
    fn new(column: &TypedColumn) -> Result<ColumnBuilder> {
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
    fn push(&mut self, cell: Option<&str>, n: usize) -> Result<()> {
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
        parsed.ok_or_else(|| {
            Error::new(
                ErrorKind::Data,
                format!("column '{}' holds a value that is not of type {}", self.name, self.data_type),
            )
        })
    }

    fn finish(&mut self) -> ArrayRef {
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

/// The whole number that stands for a text in a column of this type.
fn whole(data_type: &DataType, text: &str) -> Option<i128> {
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
