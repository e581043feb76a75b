//! Where records come from: CSV and Parquet files, streamed as Arrow record batches in bounded memory, or record batches
//! that somebody holds already.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use arrow_array::builder::StringBuilder;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use incrowd::error::unknown;
use incrowd::table::Cells;
use incrowd::{Error, ErrorKind, Result};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::input::digest::{Hashing, Stamp, changed, hex, sha256};
use crate::input::per_person::{Kept, PerPerson, Ranking};
use crate::sentences::hint;

/// Records per batch: enough that what is done once per batch does not show.
const N_BATCH: usize = 32 * 1024;

/// Bytes per batch of CSV, about: fields can be long.
const N_BATCH_BYTES: usize = 16 << 20;

/// How to read CSV.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CsvOptions {
    /// Found out from the header where it is not given.
    pub delimiter: Option<u8>,
}

/// What separates fields, as somebody wrote it: one character, or the word for one that is hard to type.
pub fn parse_delimiter(text: &str) -> std::result::Result<u8, String> {
    match text.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        [byte] if byte.is_ascii() && !b"\"\r\n".contains(byte) => Ok(*byte),
        _ => Err("must be one character, or \"tab\"".into()),
    }
}

/// The separators that are looked for in a header where none is named.
pub const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

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
    schema: SchemaRef,
    n_bytes: u64,
    /// By part, its hash when it was last read from beginning to end.
    hashes: Vec<OnceLock<String>>,
    /// How many records of a person are read, where not all are.
    per_person: Option<PerPerson>,
    /// Which ones, once that is known.
    kept: Mutex<Option<Arc<Kept>>>,
}

/// The records that a reading leaves in: which ones, and how many of those that say the same are still to come.
struct Filter {
    kept: Arc<Kept>,
    left: Vec<AtomicU64>,
}

enum Part {
    Csv { path: PathBuf, delimiter: u8 },
    Parquet { path: PathBuf, metadata: ArrowReaderMetadata, stamp: Stamp },
    Frame { name: PathBuf, pieces: Vec<RecordBatch> },
}

/// A piece of a table that can be read on its own: a CSV file, a row group of a Parquet file, or a part of a frame.
#[derive(Clone, Copy)]
struct Piece {
    part: usize,
    row_group: usize,
}

impl Source {
    /// Opens a CSV file, a Parquet file, or a folder of Parquet files.
    pub fn open(path: &Path, csv: &CsvOptions) -> Result<Source> {
        let paths = if path.is_dir() { parquet_files(path)? } else { vec![path.to_path_buf()] };
        fn column(field: &Arc<Field>) -> (&String, &DataType) {
            (field.name(), field.data_type())
        }
        let mut parts = Vec::new();
        let mut schema: Option<SchemaRef> = None;
        let mut n_bytes = 0;
        for path in paths {
            let stamp = Stamp::of(&path)?;
            let mut file = open_file(&path)?;
            n_bytes += stamp.n_bytes();
            let (part, part_schema) = if is_parquet(&mut file, &path)? {
                open_parquet(path.clone(), &file, stamp)?
            } else {
                open_csv(path.clone(), file, csv)?
            };
            check_names(&part_schema, &path)?;
            match &schema {
                None => schema = Some(part_schema),
                Some(first) if first.fields().iter().map(column).eq(part_schema.fields().iter().map(column)) => {}
                Some(_) => {
                    return Err(Error::new(
                        ErrorKind::Data,
                        "has other columns, or columns of other types, than the files before it",
                    )
                    .at(path.display().to_string())
                    .hint("all files of a table have the same columns in the same order"));
                }
            }
            parts.push(part);
        }
        Ok(Source::new(parts, schema.expect("at least one file was opened"), n_bytes))
    }

    /// The records of a frame, which are looked at where they are.
    pub fn of_frame(frame: &Frame) -> Result<Source> {
        let name = PathBuf::from(&frame.name);
        check_names(&frame.schema, &name)?;
        let slices = |batch: &RecordBatch| {
            let starts = (0..batch.num_rows()).step_by(N_FRAME);
            let slice = |start: usize| batch.slice(start, N_FRAME.min(batch.num_rows() - start));
            starts.map(slice).collect::<Vec<_>>()
        };
        let pieces: Vec<RecordBatch> = frame.batches.iter().flat_map(slices).collect();
        let n_bytes = frame.batches.iter().map(|batch| n_bytes_of(batch, batch.num_rows())).sum();
        Ok(Source::new(vec![Part::Frame { name, pieces }], frame.schema.clone(), n_bytes))
    }

    fn new(parts: Vec<Part>, schema: SchemaRef, n_bytes: u64) -> Source {
        let hashes = parts.iter().map(|_| OnceLock::new()).collect();
        Source { parts, schema, n_bytes, hashes, per_person: None, kept: Mutex::default() }
    }

    /// The SHA-256 of each file that was read; of a table in memory, that of the CSV file that it would make.
    ///
    /// # Guarantee
    /// It is that of the content that every reading of this source has seen: a CSV file is hashed whenever it is read, and
    /// a reading that meets another content than the first is an error, as is a Parquet file that was written to.
    pub fn sha256(&self) -> Result<Vec<String>> {
        (0..self.parts.len()).map(|part| self.sha256_of_part(part)).collect()
    }

    fn sha256_of_part(&self, part: usize) -> Result<String> {
        let known = self.hashes[part].get();
        match &self.parts[part] {
            // Whoever holds a frame may have written to it; files are looked at whenever they are read.
            Part::Csv { .. } | Part::Parquet { .. } if known.is_some() => {}
            Part::Csv { path, .. } => {
                let mut file = Hashing::new(open_file(path)?);
                std::io::copy(&mut file, &mut std::io::sink()).map_err(|error| crate::io_error(path, error))?;
                self.remember(part, file.sha256())?;
            }
            Part::Parquet { path, stamp, .. } => {
                let hash = sha256(path)?;
                check_stamp(path, stamp)?;
                self.remember(part, hash)?;
            }
            Part::Frame { .. } => self.remember(part, self.sha256_of_frame()?)?,
        }
        Ok(self.hashes[part].get().expect("it was just remembered").clone())
    }

    /// Keeps the hash of the first reading, and refuses another content later.
    fn remember(&self, part: usize, hash: String) -> Result<()> {
        match *self.hashes[part].get_or_init(|| hash.clone()) == hash {
            true => Ok(()),
            false => Err(changed(self.files()[part])),
        }
    }

    fn sha256_of_frame(&self) -> Result<String> {
        let mut writer = csv::Writer::from_writer(Sha256::new());
        let names = self.column_names();
        writer.write_record(&names).expect("a hash takes any record");
        let mut texts = vec![String::new(); names.len()];
        self.for_each_unfiltered(&names, |batch, _| {
            // A column of a type that cannot be read cannot be published either: it is hashed as empty.
            let cells = names.iter().zip(batch.columns()).map(|(name, column)| Cells::new(name, column).ok());
            let cells: Vec<Option<Cells>> = cells.collect();
            for record in 0..batch.num_rows() {
                for (cells, text) in cells.iter().zip(&mut texts) {
                    text.clear();
                    if let Some(cells) = cells {
                        cells.read(record, text);
                    }
                }
                writer.write_record(&texts).expect("a hash takes any record");
            }
            Ok(())
        })?;
        let hasher = writer.into_inner().map_err(|_| Error::new(ErrorKind::Io, "could not be hashed"))?;
        Ok(hex(&hasher.finalize()))
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

    fn kept(&self) -> Option<Arc<Kept>> {
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
        self.parts.iter().any(|part| matches!(part, Part::Csv { .. }))
    }

    /// How fields are separated, a comma where the files are not CSV.
    pub fn delimiter(&self) -> u8 {
        match self.parts.first() {
            Some(Part::Csv { delimiter, .. }) => *delimiter,
            _ => b',',
        }
    }

    pub fn files(&self) -> Vec<&Path> {
        fn path(part: &Part) -> &Path {
            match part {
                Part::Csv { path, .. } | Part::Parquet { path, .. } => path,
                Part::Frame { name, .. } => name,
            }
        }
        self.parts.iter().map(path).collect()
    }

    /// Whether the records are in memory and in no file.
    pub fn is_frame(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Frame { .. }))
    }

    pub fn n_bytes(&self) -> u64 {
        self.n_bytes
    }

    /// Refuses a column that is not there, and suggests the nearest that is.
    pub fn check_column(&self, name: &str) -> Result<()> {
        if self.schema.column_with_name(name).is_some() {
            return Ok(());
        }
        let names = self.column_names();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let position = self.files()[0].display().to_string();
        Err(unknown(ErrorKind::Data, "column", name, &names).at(position))
    }

    fn pieces(&self) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for (part, what) in self.parts.iter().enumerate() {
            let n_row_groups = match what {
                Part::Csv { .. } => 1,
                Part::Parquet { metadata, .. } => metadata.metadata().num_row_groups(),
                Part::Frame { pieces, .. } => pieces.len(),
            };
            pieces.extend((0..n_row_groups).map(|row_group| Piece { part, row_group }));
        }
        pieces
    }

    /// Reads the named columns, batch after batch, in the order of the table.
    ///
    /// `visit` gets each batch and the bytes of the files that it took to get there.
    pub fn for_each(&self, columns: &[String], mut visit: impl FnMut(RecordBatch, u64) -> Result<()>) -> Result<()> {
        let filter = self.filter()?;
        self.pieces().into_iter().try_for_each(|piece| self.read_kept(piece, columns, filter.as_ref(), &mut visit))
    }

    /// The same of all records, whosever they are.
    fn for_each_unfiltered(
        &self,
        columns: &[String],
        mut visit: impl FnMut(RecordBatch, u64) -> Result<()>,
    ) -> Result<()> {
        self.pieces().into_iter().try_for_each(|piece| self.read_piece(piece, columns, &mut visit))
    }

    /// Reads the named columns on several threads, each with a state of its own; returns the states.
    pub fn for_each_parallel<S: Send>(
        &self,
        columns: &[String],
        n_threads: usize,
        start: impl Fn() -> S + Sync,
        visit: impl Fn(&mut S, RecordBatch, u64) -> Result<()> + Sync,
    ) -> Result<Vec<S>> {
        let filter = self.filter()?;
        let pieces = self.pieces();
        let next = AtomicUsize::new(0);
        let work = || -> Result<S> {
            let mut state = start();
            while let Some(&piece) = pieces.get(next.fetch_add(1, Ordering::Relaxed)) {
                let mut visit = |batch, n_bytes| visit(&mut state, batch, n_bytes);
                let read = self.read_kept(piece, columns, filter.as_ref(), &mut visit);
                if read.is_err() {
                    // Nobody needs the rest.
                    next.store(pieces.len(), Ordering::Relaxed);
                    read?;
                }
            }
            Ok(state)
        };
        let n_threads = n_threads.clamp(1, pieces.len().max(1));
        std::thread::scope(|scope| {
            let threads: Vec<_> = (1..n_threads).map(|_| scope.spawn(work)).collect();
            let first = work();
            let others = threads.into_iter().map(|thread| thread.join().expect("a reading thread does not panic"));
            std::iter::once(first).chain(others.collect::<Vec<_>>()).collect()
        })
    }

    /// Reads those records of a piece that are left in; which ones they are all columns say.
    fn read_kept(
        &self,
        piece: Piece,
        columns: &[String],
        filter: Option<&Filter>,
        visit: &mut impl FnMut(RecordBatch, u64) -> Result<()>,
    ) -> Result<()> {
        match filter {
            None => self.read_piece(piece, columns, visit),
            Some(Filter { kept, left }) => self.read_piece(piece, &self.column_names(), &mut |batch, n_bytes| {
                visit(kept.of(&batch, left, columns)?, n_bytes)
            }),
        }
    }

    fn read_piece(
        &self,
        piece: Piece,
        columns: &[String],
        visit: &mut impl FnMut(RecordBatch, u64) -> Result<()>,
    ) -> Result<()> {
        match &self.parts[piece.part] {
            Part::Csv { path, delimiter } => {
                let hash = read_csv(path, *delimiter, &self.schema, columns, visit)?;
                self.remember(piece.part, hash)
            }
            Part::Parquet { path, metadata, stamp } => {
                // Before and after: whatever was read in between is of the file that was opened.
                check_stamp(path, stamp)?;
                let read = read_row_group(path, metadata, piece.row_group, columns, visit);
                check_stamp(path, stamp)?;
                read
            }
            Part::Frame { pieces, .. } => {
                let batch = &pieces[piece.row_group];
                let wanted = |index: &usize| columns.contains(batch.schema_ref().field(*index).name());
                let indices: Vec<usize> = (0..batch.num_columns()).filter(wanted).collect();
                let projected = batch.project(&indices).expect("the indices are those of its columns");
                visit(projected, n_bytes_of(batch, batch.num_rows()))
            }
        }
    }
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
    for (i, name) in names.iter().enumerate() {
        if let Some(first) = names[..i].iter().position(|earlier| earlier == name) {
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

fn open_file(path: &Path) -> Result<File> {
    File::open(path).map_err(|error| crate::io_error(path, error))
}

fn parquet_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).map_err(|error| crate::io_error(folder, error))?;
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "parquet"))
        .collect();
    paths.sort();
    match paths.is_empty() {
        true => Err(Error::new(ErrorKind::Data, "the folder holds no .parquet file")
            .at(folder.display().to_string())
            .hint("name a CSV or Parquet file, or a folder of Parquet files")),
        false => Ok(paths),
    }
}

/// By content: a Parquet file begins with `PAR1`.
fn is_parquet(file: &mut File, path: &Path) -> Result<bool> {
    use std::io::{Seek, SeekFrom};
    let mut magic = Vec::new();
    file.take(4).read_to_end(&mut magic).map_err(|error| crate::io_error(path, error))?;
    file.seek(SeekFrom::Start(0)).map_err(|error| crate::io_error(path, error))?;
    Ok(magic == b"PAR1")
}

/// Refuses a file that was written to since it was opened.
fn check_stamp(path: &Path, stamp: &Stamp) -> Result<()> {
    if Stamp::of(path)? == *stamp { Ok(()) } else { Err(changed(path)) }
}

fn open_parquet(path: PathBuf, file: &File, stamp: Stamp) -> Result<(Part, SchemaRef)> {
    let wrong = |error: parquet::errors::ParquetError| {
        Error::new(ErrorKind::Data, format!("cannot be read as Parquet: {error}"))
            .at(path.display().to_string())
            .hint("the file may be damaged or cut off")
    };
    let load = |options| guarded(&path, || ArrowReaderMetadata::load(file, options).map_err(wrong));
    let plain = load(ArrowReaderOptions::new())?;
    // Texts are asked for as dictionaries: the codes are in the file already, and each text is looked at once.
    let as_dictionary = |field: &Arc<Field>| match field.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
            let dictionary = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
            Arc::new(field.as_ref().clone().with_data_type(dictionary))
        }
        _ => field.clone(),
    };
    let fields: Vec<Arc<Field>> = plain.schema().fields().iter().map(as_dictionary).collect();
    let schema = Arc::new(Schema::new_with_metadata(fields, plain.schema().metadata().clone()));
    let options = ArrowReaderOptions::new().with_schema(schema.clone());
    let metadata = load(options)?;
    Ok((Part::Parquet { path, metadata, stamp }, schema))
}

fn read_row_group(
    path: &Path,
    metadata: &ArrowReaderMetadata,
    row_group: usize,
    columns: &[String],
    visit: &mut impl FnMut(RecordBatch, u64) -> Result<()>,
) -> Result<()> {
    let wrong = |error: String| {
        Error::new(ErrorKind::Data, format!("cannot be read as Parquet: {error}"))
            .at(path.display().to_string())
            .hint("the file may be damaged or cut off")
    };
    let wanted = |index: &usize| columns.contains(metadata.schema().field(*index).name());
    let roots = (0..metadata.schema().fields().len()).filter(wanted);
    let mask = ProjectionMask::roots(metadata.parquet_schema(), roots);
    let group = metadata.metadata().row_group(row_group);
    let file = open_file(path)?;
    let mut reader = guarded(path, || {
        ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata.clone())
            .with_row_groups(vec![row_group])
            .with_projection(mask)
            .with_batch_size(N_BATCH)
            .build()
            .map_err(|error| wrong(error.to_string()))
    })?;
    let n_bytes_per_record = group.compressed_size() as f64 / group.num_rows().max(1) as f64;
    while let Some(batch) = guarded(path, || reader.next().transpose().map_err(|error| wrong(error.to_string())))? {
        let n_bytes = (batch.num_rows() as f64 * n_bytes_per_record) as u64;
        visit(batch, n_bytes)?;
    }
    Ok(())
}

thread_local! {
    static IS_GUARDED: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Reads with a library that panics on some damaged files, and makes an error of that.
pub(crate) fn guarded<T>(path: &Path, read: impl FnOnce() -> Result<T>) -> Result<T> {
    IS_GUARDED.set(true);
    let read = std::panic::catch_unwind(std::panic::AssertUnwindSafe(read));
    IS_GUARDED.set(false);
    read.unwrap_or_else(|_| {
        Err(Error::new(ErrorKind::Data, "cannot be read as Parquet")
            .at(path.display().to_string())
            .hint("the file may be damaged or cut off"))
    })
}

/// Keeps panics that become errors from being shown as well.
pub fn quiet_guarded_panics() {
    let show = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !IS_GUARDED.get() {
            show(panic);
        }
    }));
}

fn open_csv(path: PathBuf, file: File, options: &CsvOptions) -> Result<(Part, SchemaRef)> {
    let position = path.display().to_string();
    let mut first_line = Vec::new();
    BufReader::new(file)
        .take(1 << 20)
        .read_until(b'\n', &mut first_line)
        .map_err(|error| crate::io_error(&path, error))?;
    let content = first_line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&first_line);
    if content.iter().all(u8::is_ascii_whitespace) && content.len() <= 2 {
        return Err(Error::new(ErrorKind::Data, "is empty")
            .at(position)
            .hint("a table begins with a line of column names"));
    }
    let delimiter = options.delimiter.unwrap_or_else(|| sniff(&first_line));
    let mut reader = csv_reader(&path, delimiter)?;
    let header = reader.headers().map_err(|error| csv_error(&path, &[], error))?;
    let fields: Vec<Field> = header.iter().map(|name| Field::new(name, DataType::Utf8, true)).collect();
    if let Some(index) = fields.iter().position(|field| field.name().is_empty()) {
        return Err(Error::new(ErrorKind::Data, format!("column {} has no name", index + 1))
            .at(format!("{position}:1"))
            .hint("the first line must name every column"));
    }
    Ok((Part::Csv { path, delimiter }, Arc::new(Schema::new(fields))))
}

/// The separator that the header uses most, outside quotes.
fn sniff(first_line: &[u8]) -> u8 {
    let mut in_quotes = false;
    let mut counts = DELIMITERS.map(|known| (known, 0));
    for &byte in first_line {
        in_quotes ^= byte == b'"';
        if !in_quotes {
            counts.iter_mut().filter(|(known, _)| *known == byte).for_each(|(_, n)| *n += 1);
        }
    }
    counts.iter().rev().max_by_key(|(_, n)| *n).map_or(b',', |(delimiter, n)| if *n == 0 { b',' } else { *delimiter })
}

fn csv_reader(path: &Path, delimiter: u8) -> Result<csv::Reader<Quotes<Hashing<File>>>> {
    let quotes = Quotes::new(Hashing::new(open_file(path)?), delimiter);
    Ok(csv::ReaderBuilder::new().delimiter(delimiter).buffer_capacity(1 << 18).from_reader(quotes))
}

/// Passes CSV on and refuses quotes that are not closed where their field ends.
///
/// A reader that forgives them would take the records that follow for a part of the field, and a release would show
/// them whole.
struct Quotes<R> {
    inner: R,
    delimiter: u8,
    state: QuoteState,
    line: u64,
    /// Where the quote was opened.
    line_opened: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum QuoteState {
    FieldStart,
    Bare,
    Quoted,
    /// After a quote within quotes: the end of the field, or the first half of a doubled quote.
    Closing,
}

impl<R: Read> Quotes<R> {
    fn new(inner: R, delimiter: u8) -> Quotes<R> {
        Quotes { inner, delimiter, state: QuoteState::FieldStart, line: 1, line_opened: 1 }
    }

    fn check(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        for &byte in bytes {
            let ends_field = byte == self.delimiter || byte == b'\n' || byte == b'\r';
            self.state = match (self.state, byte) {
                (QuoteState::FieldStart | QuoteState::Bare, _) if ends_field => QuoteState::FieldStart,
                (QuoteState::FieldStart, b'"') => {
                    self.line_opened = self.line;
                    QuoteState::Quoted
                }
                // A byte order mark before the first field.
                (QuoteState::FieldStart, 0xef | 0xbb | 0xbf) if self.line == 1 => QuoteState::FieldStart,
                (QuoteState::FieldStart | QuoteState::Bare, _) => QuoteState::Bare,
                (QuoteState::Quoted, b'"') => QuoteState::Closing,
                (QuoteState::Quoted, _) => QuoteState::Quoted,
                (QuoteState::Closing, b'"') => QuoteState::Quoted,
                (QuoteState::Closing, _) if ends_field => QuoteState::FieldStart,
                (QuoteState::Closing, _) => return Err(self.unclosed()),
            };
            self.line += u64::from(byte == b'\n');
        }
        Ok(())
    }

    fn unclosed(&self) -> std::io::Error {
        std::io::Error::new(std::io::ErrorKind::InvalidData, format!("{QUOTE}{}", self.line_opened))
    }
}

/// Marks the error for an unclosed quote; the line follows.
const QUOTE: &str = "unclosed quote on line ";

impl<R: Read> Read for Quotes<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let n = self.inner.read(buffer)?;
        if n == 0 && !buffer.is_empty() && self.state == QuoteState::Quoted {
            return Err(self.unclosed());
        }
        self.check(&buffer[..n])?;
        Ok(n)
    }
}

/// Reads a CSV file to its end; returns the hash of what was read.
fn read_csv(
    path: &Path,
    delimiter: u8,
    schema: &Schema,
    columns: &[String],
    visit: &mut impl FnMut(RecordBatch, u64) -> Result<()>,
) -> Result<String> {
    let mut reader = csv_reader(path, delimiter)?;
    let names = names(schema);
    let wanted: Vec<usize> = (0..names.len()).filter(|&index| columns.contains(&names[index])).collect();
    let schema = Arc::new(schema.project(&wanted).expect("the indices are those of the schema"));
    let mut record = csv::StringRecord::new();
    let mut n_bytes_before = 0;
    loop {
        let mut builders: Vec<StringBuilder> = wanted.iter().map(|_| StringBuilder::new()).collect();
        let (mut n_records, mut n_batch_bytes) = (0, 0);
        while n_records < N_BATCH
            && n_batch_bytes < N_BATCH_BYTES
            && reader.read_record(&mut record).map_err(|error| csv_error(path, &names, error))?
        {
            for (builder, &index) in builders.iter_mut().zip(&wanted) {
                builder.append_value(&record[index]);
            }
            n_batch_bytes += record.as_slice().len();
            n_records += 1;
        }
        if n_records == 0 {
            return Ok(reader.get_ref().inner.sha256());
        }
        let arrays: Vec<ArrayRef> = builders.iter_mut().map(|builder| Arc::new(builder.finish()) as ArrayRef).collect();
        let options = arrow_array::RecordBatchOptions::new().with_row_count(Some(n_records));
        let batch = RecordBatch::try_new_with_options(schema.clone(), arrays, &options)
            .expect("every column got one cell per record");
        let n_bytes = reader.position().byte();
        visit(batch, n_bytes - n_bytes_before)?;
        n_bytes_before = n_bytes;
    }
}

/// The line on which a record really begins: after the line breaks that the reader has not passed yet.
fn line_of_record(path: &Path, position: &csv::Position) -> u64 {
    let Ok(file) = File::open(path) else { return position.line() };
    let (mut at, mut line) = (0, 1);
    for byte in BufReader::new(file).bytes().map_while(|byte| byte.ok()) {
        if at >= position.byte() && byte != b'\n' && byte != b'\r' {
            break;
        }
        line += u64::from(byte == b'\n');
        at += 1;
    }
    line
}

fn csv_error(path: &Path, names: &[String], error: csv::Error) -> Error {
    let line = error.position().map(|position| line_of_record(path, position));
    let position = match line {
        Some(line) => format!("{}:{line}", path.display()),
        None => path.display().to_string(),
    };
    match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            Error::new(ErrorKind::Data, format!("has {len} fields where the header has {expected_len}"))
                .at(position)
                .hint(hint("quote fields that contain the separator, or name it with {data.delimiter}"))
        }
        csv::ErrorKind::Utf8 { err, .. } => {
            let column =
                names.get(err.field()).map_or(format!("column {}", err.field() + 1), |name| format!("column '{name}'"));
            Error::new(ErrorKind::Data, format!("{column} is not UTF-8"))
                .at(position)
                .hint("convert the file first, for example: iconv -f LATIN1 -t UTF-8")
        }
        csv::ErrorKind::Io(error) if error.to_string().starts_with(QUOTE) => {
            let line = error.to_string()[QUOTE.len()..].to_string();
            Error::new(ErrorKind::Data, "a quote is not closed where its field ends")
                .at(format!("{}:{line}", path.display()))
                .hint("close it, or write a quote within a quoted field twice")
        }
        csv::ErrorKind::Io(error) => crate::io_error(path, std::io::Error::new(error.kind(), error.to_string())),
        _ => Error::new(ErrorKind::Data, "is not CSV").at(position),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{Int64Array, StringArray};

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
    fn what_is_hashed_is_what_was_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("table.csv");
        let content = ["a,b\n1,2\n", "a,b\n1,3\n"];
        std::fs::write(&path, content[0]).expect("written");
        let source = Source::open(&path, &CsvOptions::default()).expect("a table");
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
