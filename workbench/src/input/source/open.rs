//! Opening files: what a file is, its first bytes say.

use std::path::Path;
use std::sync::Arc;

use arrow_schema::{DataType, Field, SchemaRef};
use incrowd::{Error, ErrorKind, Result};

use super::content::{self, Content};
use super::stream::{FilePlace, Packing, Stream, unpacking_error};
use super::{Part, ReadOptions, Rewriting, Source, check_names, csv, parquet};
#[cfg(feature = "files")]
use super::{held, sas, spss, stata, transport, workbook};

impl Source {
    /// Opens a file, or a folder of Parquet files; what a file is, its first bytes say.
    pub fn open(path: &Path, options: &ReadOptions) -> Result<Source> {
        let paths = match path.is_dir() {
            true => parquet::files_of(path)?,
            false => vec![(path.to_path_buf(), Vec::new())],
        };
        fn column(field: &Arc<Field>) -> (&String, &DataType) {
            (field.name(), field.data_type())
        }
        let mut parts = Vec::new();
        let mut schema: Option<SchemaRef> = None;
        let mut n_bytes = 0;
        for (path, constants) in paths {
            let place = FilePlace::open(&path)?;
            n_bytes += place.n_bytes();
            let (part, part_schema) = open_part(place, constants, options)?;
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
        let schema = schema.expect("at least one file was opened");
        let source = Source::new(parts, schema, n_bytes).without_unreadable();
        Ok(source.rewriting(Rewriting { notation: options.notation, dates: Vec::new() }))
    }
}

/// Opens one file by what it begins with.
fn open_part(place: FilePlace, constants: Vec<parquet::Constant>, options: &ReadOptions) -> Result<(Part, SchemaRef)> {
    let path = place.path.clone();
    let start = content::start_of(&mut place.bytes()?).map_err(|error| crate::io_error(&path, error))?;
    let (packing, content, start) = match content::of_bytes(&start, &path)? {
        packed @ (Content::Gzip | Content::Zstd) => {
            let packing = if packed == Content::Gzip { Packing::Gzip } else { Packing::Zstd };
            let mut stream = Stream::unpacked(&place, packing)?;
            let start = content::start_of(&mut stream).map_err(|error| unpacking_error(&path, error))?;
            (packing, content::of_bytes(&start, &path)?, start)
        }
        plain => (Packing::Plain, plain, start),
    };
    if content == Content::Text {
        let (file, schema) = csv::open(place, packing, &start, options)?;
        return Ok((Part::Csv(file), schema));
    }
    // Other kinds are not read from beginning to end, so that they are unpacked first.
    let place = match packing {
        Packing::Plain => place,
        packing => FilePlace::spool(&path, &mut Stream::unpacked(&place, packing)?)?,
    };
    match content {
        Content::Parquet => {
            let (file, schema) = parquet::open(place, constants)?;
            Ok((Part::Parquet(file), schema))
        }
        #[cfg(feature = "files")]
        Content::Workbook => hold(workbook::open(&place, options)?, place),
        #[cfg(feature = "files")]
        Content::Spss => hold(spss::open(&place, options)?, place),
        #[cfg(feature = "files")]
        Content::Stata => hold(stata::open(&place, options)?, place),
        #[cfg(feature = "files")]
        Content::Sas => hold(sas::open(&place, options)?, place),
        #[cfg(feature = "files")]
        Content::SasTransport => hold(transport::open(&place, options)?, place),
        Content::Gzip | Content::Zstd => Err(Error::new(ErrorKind::Data, "is compressed twice")
            .at(path.display().to_string())
            .hint("unpack it once")),
        other => Err(Error::new(ErrorKind::Data, format!("is {}, which incrowd does not read", other.in_words()))
            .at(path.display().to_string())
            .hint("save it as CSV or Parquet")),
    }
}

/// A file that was read whole.
#[cfg(feature = "files")]
fn hold(table: held::Whole, place: FilePlace) -> Result<(Part, SchemaRef)> {
    place.check()?;
    let held::Whole { schema, pieces, notes } = table;
    Ok((Part::Held { name: place.path.clone(), file: Some(place), pieces, notes }, schema))
}
