//! Where records come from: files of many kinds, streamed as Arrow record batches in bounded memory, or record batches that
//! somebody holds already.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use incrowd::error::unknown;
use incrowd::table::Cells;
use incrowd::{Error, ErrorKind, Result};
use serde_json::Value;

use crate::input::database::Table;
use crate::input::per_person::{KeptRecords, PerPerson, Ranking};
use crate::note::Note;

mod options;
mod said;
mod content;
mod stream;
mod chunks;
mod lines;
mod records;
mod csv;
mod parquet;
mod dates;
mod rewrite;
mod replace;
mod reading;
mod places;
mod fingerprint;
mod same;
mod counted;
#[cfg(feature = "files")]
mod held;
#[cfg(feature = "files")]
mod workbook;
#[cfg(feature = "files")]
mod spss;
#[cfg(feature = "files")]
mod stata;
#[cfg(feature = "files")]
mod sas_formats;
#[cfg(feature = "files")]
mod sas;
#[cfg(feature = "files")]
mod transport;
mod open;
mod found;
#[cfg(test)]
mod cells_twin;
#[cfg(test)]
mod twin;

pub use dates::DateFormat;
pub use found::{Found, what_to_say};
#[cfg(feature = "files")]
pub(crate) use held::number_text;
pub use options::{DELIMITERS, Encoding, Labels, Notation, ReadOptions, parse_delimiter, parse_encoding};
pub(crate) use parquet::guarded;
pub use parquet::quiet_guarded_panics;
pub use places::{At, CellCheck, CellPlace, Places};
pub use replace::{PublishAs, Replaced, Replacement, Top, Unknown, Unreadable};
pub use rewrite::Rewriting;
pub use said::Said;
pub use stream::is_standard_input;

use replace::Coarse;
use stream::FilePlace;

/// A table in memory that somebody else brought, as record batches with the same columns.
#[derive(Clone, Debug)]
pub struct Frame {
    /// What errors and certificates call it.
    pub name: String,
    pub schema: SchemaRef,
    pub batches: Arc<[RecordBatch]>,
}

/// Records of a frame that are looked at together; a dictionary is translated once for all of them.
const N_FRAME: usize = 128 * 1024;

/// A table in one or more files, or in memory.
pub struct Source {
    parts: Vec<Part>,
    /// The columns as they are stored, and as they are read.
    stored: SchemaRef,
    schema: SchemaRef,
    rewriting: Rewriting,
    replacements: Vec<Replacement>,
    /// By replacement, how many cells were replaced, once all of them have been read.
    replaced: Vec<OnceLock<Replaced>>,
    /// What is published of columns that are published coarser, once their values are known.
    coarse: Mutex<Option<Arc<Vec<Option<Coarse>>>>>,
    /// Columns of types that cannot be read, with their types: they are not there unless somebody names them.
    unreadable: Vec<(String, DataType)>,
    n_bytes: u64,
    /// By part, its hash when it was last read from beginning to end.
    hashes: Vec<OnceLock<String>>,
    /// Whether CSV files are hashed while they are read.
    is_hashed: bool,
    /// Of a table in memory that somebody else holds, by which it is known whether it was written to since it was counted.
    fingerprint: OnceLock<u64>,
    /// The column that says how many records a row stands for, where rows are not records.
    counted: Option<String>,
    /// How many records of a person are read, where not all are.
    per_person: Option<PerPerson>,
    /// Which ones, once that is known.
    kept: Mutex<Option<Arc<KeptRecords>>>,
}

/// The records that a reading leaves in: which ones, and how many of those that say the same are still to come.
struct Filter {
    kept: Arc<KeptRecords>,
    left: Vec<AtomicU64>,
}

enum Part {
    Csv(csv::CsvFile),
    Parquet(parquet::ParquetFile),
    /// A table in memory: a frame, or a file that had to be read whole.
    Held {
        name: PathBuf,
        file: Option<FilePlace>,
        pieces: Vec<RecordBatch>,
        /// What had to be found out about it.
        notes: Vec<Note>,
    },
    /// A table that a database holds.
    Database(Box<Table>),
}

impl Part {
    fn path(&self) -> &Path {
        match self {
            Part::Csv(file) => &file.place.path,
            Part::Parquet(file) => &file.place.path,
            Part::Held { name, .. } => name,
            Part::Database(table) => Path::new(&table.name),
        }
    }
}

impl Source {
    /// The records of a frame, which are looked at where they are.
    pub fn of_frame(frame: &Frame) -> Result<Source> {
        let name = PathBuf::from(&frame.name);
        check_names(&frame.schema, &name)?;
        let n_bytes = frame.batches.iter().map(|batch| n_bytes_of(batch, batch.num_rows())).sum();
        let part = Part::Held { name, file: None, pieces: pieces_of(&frame.batches), notes: Vec::new() };
        Ok(Source::new(vec![part], frame.schema.clone(), n_bytes))
    }

    /// The records of a table that a database holds: counted there, and read from there where somebody needs them.
    pub fn of_table(table: Table) -> Result<Source> {
        let schema = table.schema();
        check_names(&schema, Path::new(&table.name))?;
        Ok(Source::new(vec![Part::Database(Box::new(table))], schema, 0).without_unreadable())
    }

    /// Whether a database holds the records.
    pub fn is_database(&self) -> bool {
        self.table().is_some()
    }

    /// The table of a database that it is.
    pub fn table(&self) -> Option<&Table> {
        match &self.parts[..] {
            [Part::Database(table)] => Some(table),
            _ => None,
        }
    }

    fn new(parts: Vec<Part>, schema: SchemaRef, n_bytes: u64) -> Source {
        let hashes = parts.iter().map(|_| OnceLock::new()).collect();
        Source {
            parts,
            stored: schema.clone(),
            schema,
            rewriting: Rewriting::default(),
            replacements: Vec::new(),
            replaced: Vec::new(),
            coarse: Mutex::default(),
            unreadable: Vec::new(),
            n_bytes,
            hashes,
            is_hashed: true,
            fingerprint: OnceLock::new(),
            counted: None,
            per_person: None,
            kept: Mutex::default(),
        }
    }

    /// The same with numbers and dates read as somebody said that they are written.
    pub fn rewriting(mut self, rewriting: Rewriting) -> Source {
        self.schema = rewriting.schema(&self.schema);
        self.rewriting = rewriting;
        self
    }

    /// The same with the dates of some columns read as somebody said that they are written.
    pub fn with_dates(self, dates: Vec<(String, DateFormat)>) -> Source {
        let notation = self.rewriting.notation;
        self.rewriting(Rewriting { notation, dates })
    }

    /// The same for somebody who only reads: hashing CSV costs nearly as much as taking it apart. A file that is written to
    /// is noticed by its times and size, as one of another kind is; a hash that is wanted after all takes another reading.
    pub fn unhashed(mut self) -> Source {
        self.is_hashed = false;
        self
    }

    /// The same with some cells replaced; what concerns columns that are not there does not matter.
    pub fn replacing(mut self, replacements: Vec<Replacement>) -> Source {
        let is_meant =
            |known: &Replacement| known.does_something() && self.schema.column_with_name(&known.column).is_some();
        self.replacements = replacements.into_iter().filter(is_meant).collect();
        self.replaced = self.replacements.iter().map(|_| OnceLock::new()).collect();
        self.schema = replace::schema(&self.replacements, &self.schema);
        self
    }

    /// How many cells were replaced in the columns that have been read.
    pub fn replaced(&self) -> Vec<&Replaced> {
        self.replaced.iter().filter_map(OnceLock::get).collect()
    }

    /// Where the highest values begin that have one label, by column.
    pub fn tops(&self) -> Vec<Top> {
        let top = |coarse: &Option<Coarse>| match coarse {
            Some(Coarse::Top(top)) => Some(top.clone()),
            _ => None,
        };
        self.coarse().iter().filter_map(top).collect()
    }

    fn coarse(&self) -> Arc<Vec<Option<Coarse>>> {
        self.coarse.lock().unwrap_or_else(PoisonError::into_inner).clone().unwrap_or_default()
    }

    /// Finds out what is published of columns that are published coarser; a reading of its own, unless that was done or there
    /// are none.
    ///
    /// `visit` gets the bytes that it took to get there.
    pub fn look_at_coarse(&self, mut visit: impl FnMut(u64) -> Result<()>) -> Result<()> {
        let is_known = self.coarse.lock().unwrap_or_else(PoisonError::into_inner).is_some();
        if is_known || !self.publishes_coarser() {
            return Ok(());
        }
        let is_coarse = |replacement: &&Replacement| replacement.publish_as.is_some();
        let names: Vec<String> = self.replacements.iter().filter(is_coarse).map(|known| known.column.clone()).collect();
        let mut values: Vec<HashMap<String, u64>> = vec![HashMap::new(); names.len()];
        let mut text = String::new();
        self.for_each_unfiltered(&names, |batch, n_bytes| {
            visit(n_bytes)?;
            for (name, values) in names.iter().zip(&mut values) {
                let column = batch.column_by_name(name).expect("the columns were read by name");
                let cells = Cells::new(name, column)?;
                for i in (0..batch.num_rows()).filter(|i| column.is_valid(*i)) {
                    if cells.read(i, &mut text) {
                        match values.get_mut(&text) {
                            Some(n) => *n += 1,
                            None => _ = values.insert(text.clone(), 1),
                        }
                    }
                }
            }
            Ok(())
        })?;
        let mut of_column: HashMap<&String, HashMap<String, u64>> = names.iter().zip(values).collect();
        let coarse = |replacement: &Replacement| match of_column.remove(&replacement.column) {
            Some(values) => Coarse::new(replacement, values).map_err(|error| self.unfit_to_publish(error, replacement)),
            None => Ok(None),
        };
        let coarse = self.replacements.iter().map(coarse).collect::<Result<Vec<_>>>()?;
        *self.coarse.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(coarse));
        Ok(())
    }

    fn unfit_to_publish(&self, error: Error, replacement: &Replacement) -> Error {
        let Replacement { column, rule, tokens, .. } = replacement;
        self.located(error, column, &CellCheck::of(rule, replacement.needs(), tokens))
    }

    /// Whether cells of a column are rewritten or replaced while they are read.
    pub fn is_treated(&self, column: &str) -> bool {
        let has_date = self.rewriting.dates.iter().any(|(name, _)| name == column);
        let is_replaced = self.replacements.iter().any(|replacement| replacement.column == column);
        has_date || is_replaced || !self.rewriting.notation.is_plain()
    }

    /// Whether something is published coarser than it is, which takes one reading more.
    pub fn publishes_coarser(&self) -> bool {
        self.replacements.iter().any(|replacement| replacement.publish_as.is_some())
    }

    /// Leaves out columns that nobody can read, such as lists: a table is not worse for having them.
    fn without_unreadable(mut self) -> Source {
        let is_readable =
            |field: &Arc<Field>| Cells::new(field.name(), &arrow_array::new_empty_array(field.data_type())).is_ok();
        let (readable, unreadable): (Vec<_>, Vec<_>) = self.schema.fields().iter().cloned().partition(is_readable);
        if !unreadable.is_empty() && !readable.is_empty() {
            self.unreadable =
                unreadable.iter().map(|field| (field.name().clone(), field.data_type().clone())).collect();
            self.schema = Arc::new(Schema::new_with_metadata(readable, self.schema.metadata().clone()));
        }
        self
    }

    /// What is worth knowing about how the files are read.
    pub fn notes(&self) -> Vec<Note> {
        let mut notes = Vec::new();
        for part in &self.parts {
            match part {
                Part::Csv(file) if file.is_unusual => notes.push(Note::Encoding { encoding: file.encoding.name() }),
                Part::Held { notes: found_out, .. } => notes.extend_from_slice(found_out),
                _ => {}
            }
        }
        if !self.unreadable.is_empty() {
            let columns = self.unreadable.iter().map(|(name, _)| name.clone()).collect();
            notes.push(Note::UnreadableColumns { columns });
        }
        notes
    }

    /// The same without what pandas wrote down as an index, but for those levels that are declared: in pandas an index
    /// is no column, so that nobody means it who speaks of all columns.
    pub fn without_index(mut self, is_declared: impl Fn(&str) -> bool) -> Source {
        // A line of CSV has the fields that it has.
        let index = if self.is_text() { Vec::new() } else { pandas_index(&self.schema) };
        let is_column = |field: &&Arc<Field>| !index.contains(field.name()) || is_declared(field.name());
        if !index.is_empty() {
            let fields: Vec<Arc<Field>> = self.schema.fields().iter().filter(is_column).cloned().collect();
            self.schema = Arc::new(Schema::new_with_metadata(fields, self.schema.metadata().clone()));
        }
        self
    }

    /// The same with no more than so many records of a person, whatever is read of it.
    pub fn with_at_most(mut self, per_person: PerPerson) -> Source {
        self.per_person = Some(per_person);
        self
    }

    /// Finds out which records of each person are read; a reading of its own, unless that was done.
    ///
    /// `visit` gets the bytes that it took to get there.
    pub fn choose(&self, mut visit: impl FnMut(u64) -> Result<()>) -> Result<()> {
        let Some(per_person) = &self.per_person else { return Ok(()) };
        if self.kept().is_some() {
            return Ok(());
        }
        self.look_at_coarse(|_| Ok(()))?;
        per_person.person.iter().try_for_each(|name| self.check_column(name))?;
        let mut ranking = Ranking::new(per_person.clone());
        self.for_each_unfiltered(&self.column_names(), |batch, n_bytes| {
            visit(n_bytes)?;
            ranking.push(&batch)
        })?;
        let kept = Arc::new(ranking.finish());
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(kept);
        Ok(())
    }

    fn kept(&self) -> Option<Arc<KeptRecords>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How many records are not read because their people have more than they may, once that is known.
    pub fn n_left_out(&self) -> u64 {
        self.kept().map_or(0, |kept| kept.n_left_out)
    }

    /// What a reading leaves in; nothing where it leaves in everything.
    fn filter(&self) -> Result<Option<Filter>> {
        self.choose(|_| Ok(()))?;
        Ok(self.kept().map(|kept| Filter { left: kept.left(), kept }))
    }

    /// The columns as they are read; texts of Parquet files come as dictionaries.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    pub fn column_names(&self) -> Vec<String> {
        names(&self.schema)
    }

    /// Whether columns are plain texts whose types must be found out from their values.
    pub fn is_text(&self) -> bool {
        self.parts.iter().any(|part| match part {
            Part::Csv(_) | Part::Held { file: Some(_), .. } => true,
            Part::Database(table) => table.is_untyped(),
            Part::Parquet(_) | Part::Held { file: None, .. } => false,
        })
    }

    /// Whether the table is a text, in which "no value" is one as well.
    pub fn is_csv(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Csv(_)))
    }

    /// How fields are separated, a comma where the files are not CSV.
    pub fn delimiter(&self) -> u8 {
        match self.parts.first() {
            Some(Part::Csv(file)) => file.delimiter,
            _ => b',',
        }
    }

    pub fn files(&self) -> Vec<&Path> {
        self.parts.iter().map(Part::path).collect()
    }

    /// Whether the records are in memory and in no file.
    pub fn is_frame(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Held { file: None, .. }))
    }

    pub fn n_bytes(&self) -> u64 {
        self.n_bytes
    }

    /// Refuses columns that are there and cannot be read, all of them at once.
    pub fn check_readable<'a>(&self, names: impl Iterator<Item = &'a str>) -> Result<()> {
        let named: Vec<String> = names
            .filter_map(|name| self.unreadable.iter().find(|(known, _)| known == name))
            .map(|(name, kind)| format!("'{name}' ({kind})"))
            .collect();
        match &named[..] {
            [] => Ok(()),
            [one] => Err(self.unreadable_error(format!("column {one} is of a type that incrowd does not read"))),
            all => {
                Err(self
                    .unreadable_error(format!("columns {} are of types that incrowd does not read", all.join(", "))))
            }
        }
    }

    fn unreadable_error(&self, message: String) -> Error {
        Error::new(ErrorKind::Data, message)
            .at(self.files()[0].display().to_string())
            .hint("write it as text, number or date, or do not name it: what nobody names does not matter")
    }

    /// Refuses a column that is not there, and suggests the nearest that is.
    pub fn check_column(&self, name: &str) -> Result<()> {
        if self.schema.column_with_name(name).is_some() {
            return Ok(());
        }
        self.check_readable(std::iter::once(name))?;
        let names = self.column_names();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let position = self.files()[0].display().to_string();
        Err(unknown(ErrorKind::Data, "column", name, &names).at(position))
    }
}

/// Batches in pieces that are looked at together.
fn pieces_of(batches: &[RecordBatch]) -> Vec<RecordBatch> {
    let slices = |batch: &RecordBatch| {
        let starts = (0..batch.num_rows()).step_by(N_FRAME);
        let slice = |start: usize| batch.slice(start, N_FRAME.min(batch.num_rows() - start));
        starts.map(slice).collect::<Vec<_>>()
    };
    batches.iter().flat_map(slices).collect()
}

/// About how many bytes some records of a frame take; only progress is shown with it.
fn n_bytes_of(batch: &RecordBatch, n_records: usize) -> u64 {
    8 * batch.num_columns() as u64 * n_records as u64
}

fn names(schema: &Schema) -> Vec<String> {
    schema.fields().iter().map(|field| field.name().clone()).collect()
}

/// The columns of a table that were an index of a pandas frame: as its metadata say, or by the name that pandas gives
/// to an index without one.
pub fn pandas_index(schema: &Schema) -> Vec<String> {
    let words = schema.metadata().get("pandas").and_then(|text| serde_json::from_str::<Value>(text).ok());
    let levels = words.as_ref().and_then(|words| words["index_columns"].as_array()).into_iter().flatten();
    // A plain range is described, and is no column.
    let stored: Vec<&str> = levels.filter_map(Value::as_str).collect();
    let is_nameless = |name: &str| {
        let number = name.strip_prefix("__index_level_").and_then(|rest| rest.strip_suffix("__"));
        number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    };
    names(schema).into_iter().filter(|name| stored.contains(&name.as_str()) || is_nameless(name)).collect()
}

fn check_names(schema: &Schema, path: &Path) -> Result<()> {
    let names = names(schema);
    let mut places = HashMap::new();
    for (i, name) in names.iter().enumerate() {
        if let Some(first) = places.insert(name, i) {
            return Err(Error::new(
                ErrorKind::Data,
                format!("columns {} and {} have the same name '{name}'", first + 1, i + 1),
            )
            .at(path.display().to_string())
            .hint("give every column a name of its own"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{ArrayRef, Int64Array, StringArray};

    fn frame(n_records: usize) -> Frame {
        let numbers: ArrayRef = Arc::new((0..n_records as i64).map(|i| i % 7).collect::<Int64Array>());
        let texts: ArrayRef = Arc::new((0..n_records).map(|i| (i % 3 > 0).then_some("a,b")).collect::<StringArray>());
        let batch = RecordBatch::try_from_iter([("n", numbers), ("s", texts)]).expect("columns of one length");
        Frame { name: "frame".into(), schema: batch.schema(), batches: vec![batch].into() }
    }

    #[test]
    fn a_frame_is_read_whole_in_pieces_and_without_copies() {
        let n_records = 2 * N_FRAME + 5;
        let frame = frame(n_records);
        let source = Source::of_frame(&frame).expect("a frame");
        assert!(source.is_frame() && !source.is_text() && source.column_names() == ["n", "s"]);
        let columns = ["n".to_string()];
        let (mut n_read, mut sizes) = (0, Vec::new());
        source
            .for_each(&columns, |batch, _| {
                assert_eq!(batch.num_columns(), 1);
                let buffers = |batch: &RecordBatch| batch.column(0).to_data().buffers()[0].data_ptr();
                assert_eq!(buffers(&batch), buffers(&frame.batches[0]), "the numbers stay where they are");
                n_read += batch.num_rows();
                Ok(sizes.push(batch.num_rows()))
            })
            .expect("readable");
        assert_eq!((n_read, sizes), (n_records, vec![N_FRAME, N_FRAME, 5]));
        let count = |n_read: &mut usize, batch: RecordBatch, _| Ok(*n_read += batch.num_rows());
        let counted = source.for_each_parallel(&columns, 2, || 0, count).expect("readable");
        assert_eq!(counted.iter().sum::<usize>(), n_records);
    }

    #[test]
    fn the_hash_of_a_table_in_memory_is_that_of_its_csv() {
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), None]));
        let texts: ArrayRef = Arc::new(StringArray::from(vec!["a,b", "é"]));
        let batch = RecordBatch::try_from_iter([("n", numbers), ("s", texts)]).expect("columns of one length");
        let frame = Frame { name: "frame".into(), schema: batch.schema(), batches: vec![batch].into() };
        let hashes = Source::of_frame(&frame).expect("a table").sha256().expect("hashed");
        assert_eq!(hashes, [crate::input::digest::sha256_of("n,s\n1,\"a,b\"\n,é\n".as_bytes())]);
    }

    #[test]
    fn a_table_of_many_pieces_is_hashed_in_their_order() {
        let n_records = 40 * N_FRAME as i64 / 16 + 7;
        let batch = |range: std::ops::Range<i64>| {
            let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(range));
            RecordBatch::try_from_iter([("n", numbers)]).expect("a column")
        };
        let starts = (0..n_records).step_by(N_FRAME / 16);
        let batches: Vec<RecordBatch> =
            starts.map(|start| batch(start..(start + N_FRAME as i64 / 16).min(n_records))).collect();
        let frame = Frame { name: "frame".into(), schema: batches[0].schema(), batches: batches.into() };
        let text: String = std::iter::once("n\n".to_string()).chain((0..n_records).map(|n| format!("{n}\n"))).collect();
        let hashes = Source::of_frame(&frame).expect("a table").sha256().expect("hashed");
        assert_eq!(hashes, [crate::input::digest::sha256_of(text.as_bytes())]);
    }

    #[test]
    fn what_is_hashed_is_what_was_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("table.csv");
        let content = ["a,b\n1,2\n", "a,b\n1,3\n"];
        std::fs::write(&path, content[0]).expect("written");
        let source = Source::open(&path, &ReadOptions::default()).expect("a table");
        let read = || source.for_each(&source.column_names(), |_, _| Ok(()));
        read().expect("readable");
        std::fs::write(&path, content[1]).expect("written");
        assert_eq!(source.sha256().expect("hashed"), [crate::input::digest::sha256_of(content[0].as_bytes())]);
        let error = read().expect_err("it is another content");
        assert!(error.to_string().contains("changed"), "{error}");
        std::fs::write(&path, content[0]).expect("written");
        read().expect("the same content again");
    }

    #[test]
    fn an_index_of_pandas_is_a_column_only_where_it_is_declared() {
        let metadata = |words: &str| std::collections::HashMap::from([("pandas".to_string(), words.to_string())]);
        let named = |words: &str, names: &[&str]| {
            let fields: Vec<Field> = names.iter().map(|name| Field::new(*name, DataType::Int64, true)).collect();
            pandas_index(&Schema::new_with_metadata(fields, metadata(words)))
        };
        let names = ["a", "ssn", "__index_level_0__", "__index_level_12__", "__index_level_x__", "__index_level___"];
        let nameless = ["__index_level_0__", "__index_level_12__"];
        assert_eq!(named("{\"index_columns\": [\"ssn\", {\"kind\": \"range\"}, \"gone\"]}", &names)[0], "ssn");
        for words in ["", "{", "[]", "{}", "{\"index_columns\": 3}"] {
            assert_eq!(named(words, &names), nameless, "{words}");
        }
        let mut frame = frame(3);
        let with_index = frame.schema.as_ref().clone().with_metadata(metadata("{\"index_columns\": [\"s\"]}"));
        frame.schema = Arc::new(with_index);
        let columns = |is_declared: bool| {
            Source::of_frame(&frame).expect("a frame").without_index(|_| is_declared).column_names()
        };
        assert_eq!((columns(false), columns(true)), (vec!["n".to_string()], vec!["n".to_string(), "s".to_string()]));
    }
}
