//! A release becomes a table: its distinct rows are brought there and expanded in place, in order.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, RecordBatchIterator};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use incrowd::table::Cells;
use incrowd::{Error, ErrorKind, Result};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

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
        self.ingest(ROWS, Box::new(placed(rows)?))?;
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

/// The rows of a file, with their places.
fn placed(rows: &Path) -> Result<RecordBatchIterator<Batches>> {
    let unreadable = |_| Error::new(ErrorKind::Io, "cannot be read").at(rows.display().to_string());
    let file = File::open(rows).map_err(|error| crate::io_error(rows, error))?;
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).map_err(unreadable)?;
    let reader = reader.with_batch_size(64 * 1024).build().map_err(unreadable)?;
    let place = Field::new(PLACE, DataType::Int64, false);
    let fields = arrow_array::RecordBatchReader::schema(&reader)
        .fields()
        .iter()
        .map(|field| field.as_ref().clone())
        .collect::<Vec<_>>();
    let schema = Arc::new(Schema::new([fields, vec![place]].concat()));
    let (mut n_before, of) = (0, schema.clone());
    let with_places = reader.map(move |batch| {
        let batch = batch?;
        let places: ArrayRef = Arc::new(Int64Array::from_iter_values(n_before..n_before + batch.num_rows() as i64));
        n_before += batch.num_rows() as i64;
        RecordBatch::try_new(of.clone(), [batch.columns(), &[places]].concat())
    });
    Ok(RecordBatchIterator::new(Box::new(with_places) as Batches, schema))
}
