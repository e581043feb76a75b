//! A release becomes a table: its distinct rows are brought there and expanded in place, in order.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::TimestampNanosecondType;
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch, RecordBatchIterator, StringArray};
use arrow_schema::{ArrowError, DataType, Field, Schema, TimeUnit};
use incrowd::table::Cells;
use incrowd::{Error, ErrorKind, Result};
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};

use super::connect::Database;
use super::dialect::{Dialect, parts_of};

/// The rows of a release, until they are expanded.
const ROWS: &str = "incrowd_rows";

/// Where a row stands among the others.
const PLACE: &str = "incrowd_place";

impl Database {
    /// Whether there is a table of this name.
    pub fn has_table(&self, name: &str) -> Result<bool> {
        let (dialect, mut parts) = (self.dialect, parts_of(name));
        let table = dialect.text(&parts.pop().unwrap_or_default());
        // In other letters it is the same, and what stands before it may be the catalog.
        let within = parts.pop().map_or(String::new(), |part| {
            let part = dialect.text(&part);
            format!(" AND lower({part}) IN (lower(table_schema), lower(table_catalog))")
        });
        let from = match dialect {
            Dialect::Postgresql => {
                format!("(SELECT to_regclass({}) AS r) AS t WHERE r IS NOT NULL", dialect.text(&dialect.table(name)))
            }
            Dialect::Sqlite => format!("sqlite_master WHERE name = {table} COLLATE NOCASE"),
            _ => format!("information_schema.tables WHERE lower(table_name) = lower({table}){within}"),
        };
        let mut is_there = false;
        self.query(&format!("SELECT COUNT(*) FROM {from}"), |_, batch| {
            if let Some(batch) = batch.filter(|batch| batch.num_rows() > 0) {
                let mut text = String::new();
                is_there |= Cells::new("count", batch.column(0))?.read(0, &mut text) && text != "0";
            }
            Ok(())
        })?;
        Ok(is_there)
    }

    /// Makes a table of the rows in a Parquet file, each as often as its number says, in their order; what is there is
    /// replaced where that is wanted.
    pub fn write_table(&self, name: &str, columns: &[String], number: &str, rows: &Path, replace: bool) -> Result<()> {
        self.ingest(ROWS, Box::new(placed(rows, self.dialect)?))?;
        let table = self.dialect.table(name);
        if replace {
            self.run(&format!("DROP TABLE IF EXISTS {table}"))?;
        }
        let query = self.dialect.expanded_by_place(ROWS, columns, number, PLACE);
        self.run(&format!("CREATE TABLE {table} AS\n{query}"))?;
        self.run(&format!("DROP TABLE {}", self.dialect.quoted(ROWS)))
    }
}

type Batches = Box<dyn Iterator<Item = std::result::Result<RecordBatch, ArrowError>> + Send>;

/// The rows of a file, with their places; what the engine would not give back as it was becomes text.
fn placed(rows: &Path, dialect: Dialect) -> Result<RecordBatchIterator<Batches>> {
    let reader = read(rows)?;
    let own = arrow_array::RecordBatchReader::schema(&reader);
    let as_text: Vec<bool> = own
        .fields()
        .iter()
        .enumerate()
        .map(|(column, field)| match (dialect, field.data_type()) {
            // It has millionths of a second, and no shorter times.
            (Dialect::Postgresql, DataType::Timestamp(TimeUnit::Nanosecond, _)) => has_nanoseconds(rows, column),
            (dialect, data_type) => Ok(!is_kept(dialect, data_type)),
        })
        .collect::<Result<_>>()?;
    let field = |(field, as_text): (&Arc<Field>, &bool)| match as_text {
        true => Field::new(field.name(), DataType::Utf8, true),
        false => field.as_ref().clone(),
    };
    let fields = own.fields().iter().zip(&as_text).map(field);
    let place = Field::new(PLACE, DataType::Int64, false);
    let schema = Arc::new(Schema::new(fields.chain([place]).collect::<Vec<_>>()));
    let (mut n_before, of) = (0, schema.clone());
    let with_places = reader.map(move |batch| {
        let batch = batch?;
        let places: ArrayRef = Arc::new(Int64Array::from_iter_values(n_before..n_before + batch.num_rows() as i64));
        n_before += batch.num_rows() as i64;
        let columns = batch.columns().iter().zip(of.fields()).zip(&as_text);
        let columns = columns.map(|((column, field), as_text)| match as_text {
            true => texts(field.name(), column),
            false => Ok(column.clone()),
        });
        let columns = columns.chain([Ok(places)]).collect::<std::result::Result<Vec<ArrayRef>, ArrowError>>()?;
        RecordBatch::try_new(of.clone(), columns)
    });
    Ok(RecordBatchIterator::new(Box::new(with_places) as Batches, schema))
}

fn read(rows: &Path) -> Result<ParquetRecordBatchReader> {
    let unreadable = |_| Error::new(ErrorKind::Io, "cannot be read").at(rows.display().to_string());
    let file = File::open(rows).map_err(|error| crate::io_error(rows, error))?;
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).map_err(unreadable)?;
    reader.with_batch_size(64 * 1024).build().map_err(unreadable)
}

/// Whether an engine and its driver give back what they take, for every value of a type.
fn is_kept(dialect: Dialect, data_type: &DataType) -> bool {
    match data_type {
        DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 => true,
        DataType::UInt8 | DataType::UInt16 | DataType::UInt32 => true,
        DataType::Float32 | DataType::Float64 | DataType::Utf8 | DataType::Date32 | DataType::Null => true,
        DataType::Boolean | DataType::Timestamp(..) => dialect != Dialect::Sqlite,
        // PostgreSQL's driver forgets the zeros at the end of 1.50, and takes large numbers for negative ones.
        DataType::UInt64 | DataType::Decimal128(..) => dialect == Dialect::Duckdb,
        _ => false,
    }
}

/// Whether a moment of a column has parts of a millionth of a second.
fn has_nanoseconds(rows: &Path, column: usize) -> Result<bool> {
    for batch in read(rows)? {
        let batch = batch.map_err(|_| Error::new(ErrorKind::Io, "cannot be read").at(rows.display().to_string()))?;
        let moments = batch.column(column).as_primitive::<TimestampNanosecondType>();
        if moments.iter().flatten().any(|moment| moment % 1000 != 0) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The cells of a column as a release says them.
fn texts(name: &str, column: &ArrayRef) -> std::result::Result<ArrayRef, ArrowError> {
    let cells = Cells::new(name, column).map_err(|error| ArrowError::CastError(error.to_string()))?;
    let mut text = String::new();
    let cell = |i: usize| cells.read(i, &mut text).then(|| text.clone());
    Ok(Arc::new((0..column.len()).map(cell).collect::<StringArray>()))
}
