//! What stands for databases in a program that was built without them: none can be opened.

use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use incrowd::{Error, ErrorKind, Result};

use super::dialect::Dialect;
use super::place::{ColumnLabels, DatabasePlace, TableOrQuery};

/// None was opened.
#[derive(Debug)]
pub struct Database {
    pub dialect: Dialect,
    none: Infallible,
}

/// None was opened.
pub struct Table {
    pub name: String,
    pub number: String,
    none: Infallible,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Read,
    Write,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Presence<'a> {
    pub columns: &'a [String],
    pub tokens: &'a [String],
}

impl Database {
    pub fn open(_: &DatabasePlace, _: &Path, _: Purpose) -> Result<Database> {
        Err(Error::new(ErrorKind::Project, "this incrowd was built without databases")
            .hint("build it with the feature \"databases\", which is on unless somebody turns it off"))
    }

    pub fn begin(self) -> Result<Database> {
        match self.none {}
    }

    pub fn has_transactions(&self) -> bool {
        match self.none {}
    }

    pub fn commit(&self) -> Result<()> {
        match self.none {}
    }

    pub fn run(&self, _: &str) -> Result<()> {
        match self.none {}
    }

    pub fn has_table(&self, _: &str) -> Result<bool> {
        match self.none {}
    }

    pub fn write_table(&self, _: &str, _: &[String], _: &str, _: &Path, _: bool) -> Result<()> {
        match self.none {}
    }
}

impl Table {
    pub fn open(database: Arc<Database>, _: &TableOrQuery) -> Result<Table> {
        match database.none {}
    }

    pub fn labelled(self, _: &[ColumnLabels]) -> Result<Table> {
        match self.none {}
    }

    pub fn schema(&self) -> SchemaRef {
        match self.none {}
    }

    pub fn is_untyped(&self) -> bool {
        match self.none {}
    }

    pub fn rows(&self, _: &[String], _: impl FnMut(RecordBatch) -> Result<()>) -> Result<()> {
        match self.none {}
    }

    pub fn groups(&self, _: &[String], _: Presence, _: impl FnMut(RecordBatch) -> Result<()>) -> Result<()> {
        match self.none {}
    }

    pub fn n_records(&self) -> Result<u64> {
        match self.none {}
    }
}
