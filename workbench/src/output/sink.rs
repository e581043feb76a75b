//! Where a release goes: CSV, Parquet, SPSS or Stata, with the types that its columns had.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use incrowd::release::Row;
use incrowd::{Error, ErrorKind, Result};

use crate::input::source::DELIMITERS;
use crate::output::columns::TypedColumn;
#[cfg(feature = "files")]
use crate::output::gathered::Gathered;
use crate::output::row_groups::RowGroups;
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

/// Takes rows in order and writes them.
pub enum Sink<'a> {
    Csv {
        out: BufWriter<&'a File>,
        delimiter: u8,
        /// The line at hand, with its end.
        line: Vec<u8>,
        path: &'a Path,
    },
    Parquet(Box<RowGroups<'a>>),
    /// A file for a program of statistics.
    #[cfg(feature = "files")]
    Gathered {
        gathered: Gathered,
        format: Format,
        file: &'a File,
        path: &'a Path,
    },
}

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
            Format::Parquet => Ok(Sink::Parquet(Box::new(RowGroups::new(buffered, path, columns)?))),
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
            Sink::Parquet(groups) => groups.write(&cells, n_records),
            #[cfg(feature = "files")]
            Sink::Gathered { gathered, .. } => {
                Ok((0..n_records).for_each(|_| gathered.push(cells.iter().map(Option::as_deref))))
            }
        }
    }

    /// Writes what is left.
    pub fn finish(self) -> Result<()> {
        match self {
            Sink::Csv { mut out, path, .. } => out.flush().map_err(|error| crate::io_error(path, error)),
            Sink::Parquet(groups) => groups.finish(),
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
