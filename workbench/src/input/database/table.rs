//! A table of a database: its columns as they are read, and the statements that read and count them.
//!
//! # Guarantee
//! Two cells are one value here where they are one to [`incrowd::table::Cells`], whatever their column's collation: what is
//! grouped by is never coarser than that, and what is finer is added up by whoever counts.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
};
use arrow_array::{Array, ArrayRef, Float64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use incrowd::table::Cells;
use incrowd::{Error, ErrorKind, Result};

use super::connect::Database;
use super::dialect::Dialect;
use super::place::{ColumnLabels, TableOrQuery};
use crate::sentences::hint;

/// A table that can be read and counted.
pub struct Table {
    database: Arc<Database>,
    /// What errors call it.
    pub name: String,
    /// What stands behind FROM.
    from: String,
    columns: Vec<TableColumn>,
    /// The column that says how many records a group is; no column of the table has its name.
    pub number: String,
}

/// A column, and how it is asked for.
#[derive(Clone)]
struct TableColumn {
    field: Field,
    /// What is selected.
    cell: String,
    /// What is grouped by beside it, where equal cells need not be the same to us.
    key: Option<String>,
    /// The cell as a text that is the one we read, where the engine writes it as we do.
    text: Option<String>,
    /// Whether cells come as texts behind a mark, because the driver guesses types from the first values.
    is_marked: bool,
    /// The labels that it is read as, where it is.
    labels: Option<LabelJoin>,
}

/// A small table of labels, joined with the one that is read.
#[derive(Clone)]
struct LabelJoin {
    /// What the small table is called: no table of anybody's.
    name: String,
    /// What equals a value there.
    key: String,
    /// The values and their labels, as the engine writes them.
    rows: Arc<str>,
}

/// Columns of which it only matters whether there is a value, and what means that there is none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Presence<'a> {
    pub columns: &'a [String],
    pub tokens: &'a [String],
}

impl Table {
    /// Looks at the columns of a table, or of what a query gives.
    pub fn open(database: Arc<Database>, asked: &TableOrQuery) -> Result<Table> {
        let dialect = database.dialect;
        let from = match asked {
            TableOrQuery::Table(name) => dialect.table(name),
            // It may end in a comment.
            TableOrQuery::Query(query) => format!("({query}\n)"),
        };
        let mut schema: Option<SchemaRef> = None;
        let looked = database.query(&format!("SELECT * FROM {from} AS t WHERE 1 = 0"), |found, _| {
            schema = Some(found.clone());
            Ok(())
        });
        // Not every engine says so.
        looked.map_err(|error| match asked {
            TableOrQuery::Table(name) if database.has_table(name).is_ok_and(|is_there| !is_there) => {
                Error::new(ErrorKind::Io, "there is no such table")
                    .at(name.clone())
                    .hint("check the table's name and its schema")
            }
            _ => error,
        })?;
        let schema = schema.expect("an answer has columns");
        let declared = match (dialect, asked) {
            (Dialect::Sqlite, TableOrQuery::Table(name)) => declared(&database, name)?,
            _ => Vec::new(),
        };
        let columns: Vec<TableColumn> = schema.fields().iter().map(|field| column(dialect, field, &declared)).collect();
        let taken = |name: &String| columns.iter().any(|column| column.field.name() == name);
        let mut number = "n".to_string();
        while taken(&number) {
            number.push('_');
        }
        Ok(Table { database, name: asked.name().to_string(), from, columns, number })
    }

    /// The same with labels in the place of some columns' values: of those that the place names.
    ///
    /// # Guarantee
    /// As many records as before: no value has two labels. A value that has none stays what it is.
    pub fn labelled(mut self, all: &[ColumnLabels]) -> Result<Table> {
        let dialect = self.database.dialect;
        for (i, ColumnLabels { column: name, labels }) in all.iter().enumerate() {
            let Some(column) = self.columns.iter_mut().find(|column| column.field.name() == name) else { continue };
            let quoted = format!("t.{}", dialect.column(name));
            let is_day = *column.field.data_type() == DataType::Date32;
            let key = match (&column.text, is_day) {
                (Some(text), _) => text.clone(),
                (None, true) => quoted.clone(),
                (None, false) => {
                    let message = format!("column '{name}' is of a type whose values are not joined with labels");
                    return Err(Error::new(ErrorKind::Data, message).at(self.name.clone()).hint(hint(
                        "texts, whole numbers and days are; name a {data.query} that makes it one, or leave out {from_level}",
                    )));
                }
            };
            let value =
                |value: &str| if is_day { format!("DATE {}", dialect.text(value)) } else { dialect.text(value) };
            let rows: Vec<String> =
                labels.iter().map(|(of, label)| format!("({}, {})", value(of), dialect.text(label))).collect();
            if rows.is_empty() {
                continue;
            }
            let alias = format!("incrowd_level_{i}");
            let label = format!("COALESCE({alias}.label, {})", dialect.exact(&quoted));
            let cell = match column.is_marked {
                true => format!("CASE WHEN {quoted} IS NULL THEN '' ELSE '{MARK}' || {label} END"),
                false => label,
            };
            let labels = Some(LabelJoin { name: alias, key, rows: rows.join(", ").into() });
            let field = Field::new(name, DataType::Utf8, true);
            *column = TableColumn { field, cell, key: None, text: None, is_marked: column.is_marked, labels };
        }
        Ok(self)
    }

    /// What a statement about some columns has before it, and what it reads from.
    fn sources(&self, columns: &[&TableColumn]) -> (String, String) {
        let joins: Vec<&LabelJoin> = columns.iter().filter_map(|column| column.labels.as_ref()).collect();
        let with = |join: &&LabelJoin| match self.database.dialect {
            Dialect::Spark => format!("{}(value, label) AS (SELECT * FROM (VALUES {}))", join.name, join.rows),
            _ => format!("{}(value, label) AS (VALUES {})", join.name, join.rows),
        };
        let before = match joins.is_empty() {
            true => String::new(),
            false => format!("WITH {} ", joins.iter().map(with).collect::<Vec<_>>().join(", ")),
        };
        let joined = |join: &&LabelJoin| format!(" LEFT JOIN {0} ON {0}.value = {1}", join.name, join.key);
        (before, format!("{} AS t{}", self.from, joins.iter().map(joined).collect::<String>()))
    }

    /// The columns as they are read.
    pub fn schema(&self) -> SchemaRef {
        Arc::new(Schema::new(self.columns.iter().map(|column| column.field.clone()).collect::<Vec<_>>()))
    }

    /// Whether columns are texts whose types must be found out from their values.
    pub fn is_untyped(&self) -> bool {
        self.database.dialect == Dialect::Sqlite
    }

    fn chosen(&self, names: &[String]) -> Vec<&TableColumn> {
        self.columns.iter().filter(|column| names.contains(column.field.name())).collect()
    }

    /// The statement that reads some columns of every record, in whatever order they are.
    fn rows_sql(&self, columns: &[&TableColumn]) -> String {
        let dialect = self.database.dialect;
        let cells = columns.iter().map(|column| format!("{} AS {}", column.cell, dialect.quoted(column.field.name())));
        let (before, from) = self.sources(columns);
        format!("{before}SELECT {} FROM {from}", cells.collect::<Vec<_>>().join(", "))
    }

    /// The statement that counts the combinations of some columns.
    fn groups_sql(&self, columns: &[&TableColumn]) -> String {
        let dialect = self.database.dialect;
        let cells: String = columns
            .iter()
            .map(|column| format!("{} AS {}, ", column.cell, dialect.quoted(column.field.name())))
            .collect();
        let places = (1..=columns.len()).map(|place| place.to_string());
        let keys: Vec<String> = places.chain(columns.iter().filter_map(|column| column.key.clone())).collect();
        let group = if keys.is_empty() { String::new() } else { format!(" GROUP BY {}", keys.join(", ")) };
        let (before, from) = self.sources(columns);
        format!("{before}SELECT {cells}COUNT(*) AS {} FROM {from}{group}", dialect.quoted(&self.number))
    }

    /// Reads some columns of every record.
    pub fn rows(&self, names: &[String], mut visit: impl FnMut(RecordBatch) -> Result<()>) -> Result<()> {
        let columns = self.chosen(names);
        self.database.in_its_order()?;
        self.database.query(&self.rows_sql(&columns), |_, batch| match batch {
            // What is empty may be of any type.
            Some(batch) if batch.num_rows() > 0 => visit(self.made(&batch, &columns)?),
            _ => Ok(()),
        })
    }

    /// Counts the combinations of some columns in the database; how many records each is stands in the last column.
    pub fn groups(
        &self,
        names: &[String],
        presence: Presence,
        mut visit: impl FnMut(RecordBatch) -> Result<()>,
    ) -> Result<()> {
        let columns: Vec<TableColumn> =
            self.chosen(names).into_iter().map(|column| self.only_present(column, presence)).collect();
        let columns: Vec<&TableColumn> = columns.iter().collect();
        self.database.query(&self.groups_sql(&columns), |_, batch| match batch {
            // What is empty may be of any type.
            Some(batch) if batch.num_rows() > 0 => visit(self.made(&batch, &columns)?),
            _ => Ok(()),
        })
    }

    /// How many records there are, asked on its own.
    pub fn n_records(&self) -> Result<u64> {
        let mut n_records = None;
        self.database.query(&format!("SELECT COUNT(*) FROM {} AS t", self.from), |_, batch| {
            if let Some(batch) = batch {
                let cells = Cells::new("count", batch.column(0))?;
                let mut text = String::new();
                n_records = cells.read(0, &mut text).then(|| text.parse().ok()).flatten();
            }
            Ok(())
        })?;
        n_records
            .ok_or_else(|| Error::new(ErrorKind::Data, "does not say how many records it has").at(self.name.clone()))
    }

    /// The same with no more than whether there is a value, where that is all that matters and the engine can tell.
    fn only_present(&self, column: &TableColumn, presence: Presence) -> TableColumn {
        let Some(text) = column.text.as_ref().filter(|_| presence.columns.contains(column.field.name())) else {
            return column.clone();
        };
        let dialect = self.database.dialect;
        let value = dialect.without_missing(text, presence.tokens);
        let is_free = |text: &String| !presence.tokens.contains(text);
        let there = (1..).map(|i| i.to_string()).find(is_free).expect("there are more numbers than tokens");
        let there = dialect.text(&if column.is_marked { format!("{MARK}{there}") } else { there });
        let absent = if column.is_marked { "''" } else { "NULL" };
        TableColumn {
            field: Field::new(column.field.name(), DataType::Utf8, true),
            cell: format!("CASE WHEN {value} IS NOT NULL THEN {there} ELSE {absent} END"),
            key: None,
            ..column.clone()
        }
    }

    /// A batch as everybody reads it: moments by the clock of UTC, and marks taken away.
    fn made(&self, batch: &RecordBatch, columns: &[&TableColumn]) -> Result<RecordBatch> {
        let changed = || {
            Error::new(ErrorKind::Data, "has other columns, or columns of other types, than before")
                .at(self.name.clone())
                .hint("somebody has changed the table under way; run the command again")
        };
        let mut made: Vec<(Field, ArrayRef)> = Vec::new();
        for (column, array) in columns.iter().zip(batch.columns()) {
            let array = match column.is_marked {
                true => unmarked(array, column.field.data_type()).ok_or_else(changed)?,
                false => by_utc(array),
            };
            if array.data_type() != column.field.data_type() {
                return Err(changed());
            }
            made.push((column.field.clone(), array));
        }
        if let (Some(field), true) =
            (batch.schema_ref().fields().get(columns.len()), batch.num_columns() > columns.len())
        {
            made.push((Field::new(&self.number, field.data_type().clone(), true), batch.column(columns.len()).clone()));
        }
        let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = made.into_iter().unzip();
        RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).map_err(|_| changed())
    }
}

/// What stands before a text of SQLite; without it there is no value.
const MARK: char = '=';

/// How a column is asked for, by its type.
fn column(dialect: Dialect, field: &Field, declared: &[(String, String)]) -> TableColumn {
    let (name, quoted) = (field.name(), format!("t.{}", dialect.column(field.name())));
    let exact = dialect.exact(&quoted);
    if dialect == Dialect::Sqlite {
        let is_real = |kind: &str| ["REAL", "FLOA", "DOUB"].iter().any(|word| kind.contains(word));
        let kind = declared.iter().find(|(known, _)| known == name).map(|(_, kind)| kind.to_uppercase());
        let (data_type, text) = match kind.is_some_and(|kind| is_real(&kind)) {
            // All digits of the number, which is read as one.
            true => (DataType::Float64, format!("printf('%!.17g', {quoted})")),
            false => (DataType::Utf8, exact.clone()),
        };
        return TableColumn {
            cell: format!("CASE WHEN {quoted} IS NULL THEN '' ELSE '{MARK}' || {text} END"),
            key: None,
            text: (data_type == DataType::Utf8).then_some(exact),
            field: Field::new(name, data_type, true),
            is_marked: true,
            labels: None,
        };
    }
    let as_it_is = |data_type: DataType| TableColumn {
        field: Field::new(name, data_type, true),
        cell: quoted.clone(),
        key: None,
        text: None,
        is_marked: false,
        labels: None,
    };
    // The driver gives cents of money as whole numbers, and the bytes of types that Arrow does not know.
    let native = field.metadata().get("POSTGRESQL:type").filter(|_| dialect == Dialect::Postgresql);
    match native.map(String::as_str) {
        Some("money") => return as_text(name, &dialect.exact(&format!("CAST({quoted} AS numeric)"))),
        Some(_) if field.metadata().contains_key("ADBC:postgresql:typname") => return as_text(name, &exact),
        _ => {}
    }
    match field.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => as_text(name, &exact),
        // DuckDB does not keep -0 when it packs a table, and Sail not when it groups.
        kind @ (DataType::Float32 | DataType::Float64) if matches!(dialect, Dialect::Duckdb | Dialect::Spark) => {
            let name = if *kind == DataType::Float32 { "FLOAT" } else { "DOUBLE" };
            TableColumn { cell: format!("({quoted} + CAST(0 AS {name}))"), ..as_it_is(kind.clone()) }
        }
        // 0 and -0 are one number to the engine, and two texts.
        kind @ (DataType::Float32 | DataType::Float64 | DataType::Float16) => {
            TableColumn { key: Some(exact), ..as_it_is(kind.clone()) }
        }
        DataType::Timestamp(unit, Some(_)) => as_it_is(DataType::Timestamp(*unit, Some("UTC".into()))),
        kind if kind.is_integer() => TableColumn { text: Some(exact), ..as_it_is(kind.clone()) },
        kind if Cells::new(name, &arrow_array::new_empty_array(kind)).is_ok() => as_it_is(kind.clone()),
        // Lists and bytes are left as they are, and refused by whoever reads them.
        kind @ (DataType::Binary | DataType::LargeBinary | DataType::BinaryView) => as_it_is(kind.clone()),
        kind if kind.is_nested() => as_it_is(kind.clone()),
        // Times of day, spans of time and the like: the engine has words for them.
        _ => as_text(name, &exact),
    }
}

fn as_text(name: &str, exact: &str) -> TableColumn {
    TableColumn {
        field: Field::new(name, DataType::Utf8, true),
        cell: exact.to_string(),
        key: None,
        text: Some(exact.to_string()),
        is_marked: false,
        labels: None,
    }
}

/// The types that columns of SQLite were declared with.
fn declared(database: &Database, table: &str) -> Result<Vec<(String, String)>> {
    let dialect = database.dialect;
    let name = super::dialect::parts_of(table).pop().unwrap_or_default();
    let mut all = Vec::new();
    let sql = format!("SELECT name, '{MARK}' || type AS type FROM pragma_table_xinfo({})", dialect.text(&name));
    database.query(&sql, |_, batch| {
        let Some(batch) = batch else { return Ok(()) };
        let (names, kinds) = (Cells::new("name", batch.column(0))?, Cells::new("type", batch.column(1))?);
        let (mut name, mut kind) = (String::new(), String::new());
        for i in 0..batch.num_rows() {
            if names.read(i, &mut name) && kinds.read(i, &mut kind) {
                all.push((name.clone(), kind.clone()));
            }
        }
        Ok(())
    })?;
    Ok(all)
}

/// Texts behind a mark as what they are.
fn unmarked(array: &ArrayRef, data_type: &DataType) -> Option<ArrayRef> {
    let texts = array.as_string_opt::<i32>()?;
    let texts = texts.iter().map(|text| text.and_then(|text| text.strip_prefix(MARK)));
    Some(match data_type {
        DataType::Float64 => {
            let numbers = texts.map(|text| text.map(|text| text.parse().ok()).map_or(Some(None), |n| n.map(Some)));
            Arc::new(numbers.collect::<Option<Vec<Option<f64>>>>().map(Float64Array::from)?)
        }
        _ => Arc::new(texts.collect::<StringArray>()),
    })
}

/// The same moments with the clock of UTC.
fn by_utc(array: &ArrayRef) -> ArrayRef {
    match array.data_type() {
        DataType::Timestamp(TimeUnit::Second, Some(_)) => {
            Arc::new(array.as_primitive::<TimestampSecondType>().clone().with_timezone("UTC"))
        }
        DataType::Timestamp(TimeUnit::Millisecond, Some(_)) => {
            Arc::new(array.as_primitive::<TimestampMillisecondType>().clone().with_timezone("UTC"))
        }
        DataType::Timestamp(TimeUnit::Microsecond, Some(_)) => {
            Arc::new(array.as_primitive::<TimestampMicrosecondType>().clone().with_timezone("UTC"))
        }
        DataType::Timestamp(TimeUnit::Nanosecond, Some(_)) => {
            Arc::new(array.as_primitive::<TimestampNanosecondType>().clone().with_timezone("UTC"))
        }
        _ => array.clone(),
    }
}
