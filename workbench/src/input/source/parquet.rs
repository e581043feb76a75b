//! Parquet: row groups as record batches, and the folders that such files lie in.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::parquet::arrow::ProjectionMask;
use ::parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use ::parquet::errors::ParquetError;
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, Int32Array, RecordBatch, RecordBatchOptions, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use incrowd::{Error, ErrorKind, Result};

use super::csv::text_type;
use super::stream::FilePlace;

/// Records per batch: enough that what is done once per batch does not show.
const N_BATCH: usize = 32 * 1024;

/// A Parquet file.
pub(super) struct ParquetFile {
    pub place: FilePlace,
    metadata: ArrowReaderMetadata,
    /// What the names of its folders say: the same for every record.
    constants: Vec<Constant>,
}

/// A column that folders are named by: `year=2024`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Constant {
    name: String,
    /// None where the folder says that there is no value.
    value: Option<String>,
}

fn wrong(path: &Path, error: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Data, format!("cannot be read as Parquet: {error}"))
        .at(path.display().to_string())
        .hint("the file may be damaged or cut off")
}

/// Reads what a Parquet file says about itself; texts are asked for as dictionaries.
pub(super) fn open(place: FilePlace, constants: Vec<Constant>) -> Result<(ParquetFile, SchemaRef)> {
    let path = place.path.clone();
    let load = |options| {
        let bytes = place.bytes()?;
        guarded(&path, || ArrowReaderMetadata::load(&bytes, options).map_err(|error: ParquetError| wrong(&path, error)))
    };
    let plain = load(ArrowReaderOptions::new())?;
    // The codes are in the file already, and each text is looked at once.
    let as_dictionary = |field: &Arc<Field>| match field.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
            Arc::new(field.as_ref().clone().with_data_type(text_type()))
        }
        _ => field.clone(),
    };
    let fields: Vec<Arc<Field>> = plain.schema().fields().iter().map(as_dictionary).collect();
    let schema = Schema::new_with_metadata(fields, plain.schema().metadata().clone());
    let metadata = load(ArrowReaderOptions::new().with_schema(Arc::new(schema.clone())))?;
    // Where a file has the column of its folder's name, the file is right.
    let is_new = |constant: &Constant| schema.column_with_name(&constant.name).is_none();
    let constants: Vec<Constant> = constants.into_iter().filter(is_new).collect();
    let of_folders = constants.iter().map(|constant| Arc::new(Field::new(&constant.name, text_type(), true)));
    let fields: Vec<Arc<Field>> = schema.fields().iter().cloned().chain(of_folders).collect();
    let schema = Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()));
    Ok((ParquetFile { place, metadata, constants }, schema))
}

impl ParquetFile {
    pub fn n_row_groups(&self) -> usize {
        self.metadata.metadata().num_row_groups()
    }

    /// Reads some columns of a row group, batch after batch.
    pub fn read(
        &self,
        row_group: usize,
        columns: &[String],
        visit: &mut impl FnMut(RecordBatch, u64) -> Result<()>,
    ) -> Result<()> {
        let (path, metadata) = (&self.place.path, &self.metadata);
        let wanted = |index: &usize| columns.contains(metadata.schema().field(*index).name());
        let roots = (0..metadata.schema().fields().len()).filter(wanted);
        let mask = ProjectionMask::roots(metadata.parquet_schema(), roots);
        let group = metadata.metadata().row_group(row_group);
        let bytes = self.place.bytes()?;
        let mut reader = guarded(path, || {
            ParquetRecordBatchReaderBuilder::new_with_metadata(bytes, metadata.clone())
                .with_row_groups(vec![row_group])
                .with_projection(mask)
                .with_batch_size(N_BATCH)
                .build()
                .map_err(|error| wrong(path, error))
        })?;
        let n_bytes_per_record = group.compressed_size() as f64 / group.num_rows().max(1) as f64;
        while let Some(batch) = guarded(path, || reader.next().transpose().map_err(|error| wrong(path, error)))? {
            let n_bytes = (batch.num_rows() as f64 * n_bytes_per_record) as u64;
            visit(self.with_constants(batch, columns), n_bytes)?;
        }
        Ok(())
    }

    fn with_constants(&self, batch: RecordBatch, columns: &[String]) -> RecordBatch {
        let wanted: Vec<&Constant> =
            self.constants.iter().filter(|constant| columns.contains(&constant.name)).collect();
        if wanted.is_empty() {
            return batch;
        }
        let n_records = batch.num_rows();
        let array = |constant: &&Constant| {
            let codes = match constant.value {
                Some(_) => Int32Array::from(vec![0; n_records]),
                None => Int32Array::new_null(n_records),
            };
            let texts = StringArray::from(vec![constant.value.as_deref().unwrap_or("")]);
            Arc::new(DictionaryArray::<Int32Type>::try_new(codes, Arc::new(texts)).expect("0 is the only text"))
                as ArrayRef
        };
        let field = |constant: &&Constant| Arc::new(Field::new(&constant.name, text_type(), true));
        let fields: Vec<Arc<Field>> =
            batch.schema_ref().fields().iter().cloned().chain(wanted.iter().map(field)).collect();
        let arrays = batch.columns().iter().cloned().chain(wanted.iter().map(array)).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(n_records));
        RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options)
            .expect("a constant has one cell per record")
    }
}

/// The Parquet files of a folder and of those in it, in the order of their paths, with what their folders' names say.
pub(super) fn files_of(folder: &Path) -> Result<Vec<(PathBuf, Vec<Constant>)>> {
    let mut files = Vec::new();
    collect(folder, &mut Vec::new(), &mut files)?;
    match files.is_empty() {
        true => Err(Error::new(ErrorKind::Data, "the folder holds no .parquet file")
            .at(folder.display().to_string())
            .hint("name a file, or a folder of Parquet files")),
        false => Ok(files),
    }
}

fn collect(folder: &Path, said: &mut Vec<Constant>, files: &mut Vec<(PathBuf, Vec<Constant>)>) -> Result<()> {
    let entries = std::fs::read_dir(folder).map_err(|error| crate::io_error(folder, error))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            // Only folders that say a value belong to the table; others hold something else.
            let Some((column, value)) = name.split_once('=') else { continue };
            let value = (value != "__HIVE_DEFAULT_PARTITION__").then(|| unescaped(value));
            said.push(Constant { name: unescaped(column), value });
            collect(&path, said, files)?;
            said.pop();
        } else if path.extension().is_some_and(|extension| extension == "parquet") {
            files.push((path, said.clone()));
        }
    }
    Ok(())
}

/// A part of a path as it was before characters that paths cannot have were written as `%3A`.
fn unescaped(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut plain, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let code = text.get(at + 1..at + 3).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match (bytes[at], code) {
            (b'%', Some(byte)) => {
                plain.push(byte);
                at += 3;
            }
            (byte, _) => {
                plain.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8(plain).unwrap_or_else(|_| text.to_string())
}

thread_local! {
    static IS_GUARDED: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Reads with a library that panics on some damaged files, and makes an error of that.
pub(crate) fn guarded<T>(path: &Path, read: impl FnOnce() -> Result<T>) -> Result<T> {
    guarded_as("Parquet", path, read)
}

/// The same for a file of another format.
pub(super) fn guarded_as<T>(format: &str, path: &Path, read: impl FnOnce() -> Result<T>) -> Result<T> {
    IS_GUARDED.set(true);
    let read = std::panic::catch_unwind(std::panic::AssertUnwindSafe(read));
    IS_GUARDED.set(false);
    read.unwrap_or_else(|_| {
        Err(Error::new(ErrorKind::Data, format!("cannot be read as {format}"))
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
