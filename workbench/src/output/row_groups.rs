//! A release in Parquet: row groups whose columns are written from their runs where they repeat themselves, and by the library
//! where they do not.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use arrow_schema::{Field, Schema};
use incrowd::{Error, ErrorKind, Result};
use parquet::arrow::arrow_writer::{ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::arrow::{ArrowSchemaConverter, add_encoded_arrow_schema_to_metadata};
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnDescPtr;

use super::columns::{ColumnBuilder, TypedColumn, not_of_type};
use super::runs::{Runs, ZSTD_LEVEL};

/// Records of a row group, and cells that the library gets at once.
const N_GROUP: usize = 1 << 20;
const N_BATCH: usize = 1 << 16;

/// A Parquet file that is being written.
pub struct RowGroups<'a> {
    writer: SerializedFileWriter<BufWriter<&'a File>>,
    library: ArrowRowGroupWriterFactory,
    columns: Vec<Chunk>,
    /// Of the row group at hand.
    n_records: usize,
    n_records_max: usize,
    n_groups: usize,
    path: &'a Path,
}

/// A column of the row group at hand.
struct Chunk {
    field: Field,
    described: ColumnDescPtr,
    /// Its cells, as long as few runs are enough for them.
    runs: Option<Runs>,
    /// Cells for the library, and how many.
    builder: ColumnBuilder,
    n_built: usize,
    writer: Option<ArrowColumnWriter>,
}

impl<'a> RowGroups<'a> {
    pub fn new(out: BufWriter<&'a File>, path: &'a Path, columns: &[TypedColumn]) -> Result<RowGroups<'a>> {
        let wrong = |error| parquet_error(path, error);
        let field = |column: &TypedColumn| Field::new(&column.name, column.data_type.clone(), true);
        let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
        let described = ArrowSchemaConverter::new().convert(&schema).map_err(wrong)?;
        let chunks = columns.iter().zip(described.columns()).map(|(column, described)| Chunk::new(column, described));
        let columns = chunks.collect::<Result<Vec<_>>>()?;
        let zstd = ZstdLevel::try_new(ZSTD_LEVEL).expect("it is a level of zstd");
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(zstd))
            // No index of pages: columns that are written from runs have none, and a file has one for all or for none.
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_offset_index_disabled(true)
            .build();
        add_encoded_arrow_schema_to_metadata(&schema, &mut properties);
        let writer =
            SerializedFileWriter::new(out, described.root_schema_ptr(), Arc::new(properties)).map_err(wrong)?;
        let library = ArrowRowGroupWriterFactory::new(&writer, schema);
        Ok(RowGroups { writer, library, columns, n_records: 0, n_records_max: N_GROUP, n_groups: 0, path })
    }

    /// Writes so many records that say the same.
    pub fn write(&mut self, cells: &[Option<String>], mut n_left: u64) -> Result<()> {
        while n_left > 0 {
            // Groups end after the same number of records, however these come.
            let n = n_left.min((self.n_records_max - self.n_records) as u64);
            for (place, cell) in cells.iter().enumerate() {
                self.push(place, cell.as_deref(), n as usize)?;
            }
            self.n_records += n as usize;
            n_left -= n;
            if self.n_records == self.n_records_max {
                self.end()?;
            }
        }
        Ok(())
    }

    fn push(&mut self, place: usize, cell: Option<&str>, n: usize) -> Result<()> {
        let Some(runs) = &mut self.columns[place].runs else { return self.columns[place].build(cell, n, self.path) };
        runs.push(cell, n);
        if runs.are_too_many() { self.leave_to_library(place) } else { Ok(()) }
    }

    /// Hands over the cells that a column has so far.
    fn leave_to_library(&mut self, place: usize) -> Result<()> {
        if self.columns[place].writer.is_none() {
            let writers = self.library.create_column_writers(self.n_groups);
            let writers = writers.map_err(|error| parquet_error(self.path, error))?;
            self.columns.iter_mut().zip(writers).for_each(|(chunk, writer)| chunk.writer = Some(writer));
        }
        let chunk = &mut self.columns[place];
        let runs = chunk.runs.take().unwrap_or_default();
        runs.iter().try_for_each(|(cell, n)| chunk.build(cell, n, self.path))
    }

    /// Ends the row group at hand.
    fn end(&mut self) -> Result<()> {
        for place in 0..self.columns.len() {
            let described = &self.columns[place].described;
            let are_for = Runs::are_for(described.physical_type());
            if self.columns[place].runs.as_ref().is_some_and(|runs| !are_for || !runs.are_worth_it()) {
                self.leave_to_library(place)?;
            }
        }
        let wrong = |error| parquet_error(self.path, error);
        let mut group = self.writer.next_row_group().map_err(wrong)?;
        for chunk in &mut self.columns {
            match chunk.runs.take() {
                Some(runs) => {
                    let (name, data_type) = (chunk.field.name(), chunk.field.data_type());
                    let written = runs.written(data_type, &chunk.described).map_err(wrong)?;
                    let (bytes, said) = written.ok_or_else(|| not_of_type(name, data_type))?;
                    group.append_column(&bytes, said).map_err(wrong)?;
                }
                None => {
                    chunk.hand_over(self.path)?;
                    let written = chunk.writer.take().expect("it was left to the library").close();
                    written.and_then(|written| written.append_to_row_group(&mut group)).map_err(wrong)?;
                }
            }
        }
        group.close().map_err(wrong)?;
        self.columns.iter_mut().for_each(Chunk::begin);
        self.n_records = 0;
        self.n_groups += 1;
        Ok(())
    }

    /// Writes what is left.
    pub fn finish(mut self) -> Result<()> {
        if self.n_records > 0 {
            self.end()?;
        }
        let mut out = self.writer.into_inner().map_err(|error| parquet_error(self.path, error))?;
        out.flush().map_err(|error| crate::io_error(self.path, error))
    }
}

impl Chunk {
    fn new(column: &TypedColumn, described: &ColumnDescPtr) -> Result<Chunk> {
        let mut chunk = Chunk {
            described: described.clone(),
            field: Field::new(&column.name, column.data_type.clone(), true),
            runs: None,
            builder: ColumnBuilder::new(column)?,
            n_built: 0,
            writer: None,
        };
        chunk.begin();
        Ok(chunk)
    }

    /// Nothing yet of a new row group.
    fn begin(&mut self) {
        self.runs = Some(Runs::default());
        self.writer = None;
    }

    fn build(&mut self, cell: Option<&str>, mut n_left: usize, path: &Path) -> Result<()> {
        while n_left > 0 {
            let n = n_left.min(N_BATCH - self.n_built);
            self.builder.push(cell, n)?;
            self.n_built += n;
            n_left -= n;
            if self.n_built == N_BATCH {
                self.hand_over(path)?;
            }
        }
        Ok(())
    }

    /// Gives the library what was built.
    fn hand_over(&mut self, path: &Path) -> Result<()> {
        if self.n_built == 0 {
            return Ok(());
        }
        self.n_built = 0;
        let writer = self.writer.as_mut().expect("it was left to the library");
        let leaves = compute_leaves(&self.field, &self.builder.finish());
        leaves
            .and_then(|leaves| leaves.iter().try_for_each(|leaf| writer.write(leaf)))
            .map_err(|error| parquet_error(path, error))
    }
}

pub(crate) fn parquet_error(path: &Path, error: ParquetError) -> Error {
    Error::new(ErrorKind::Io, format!("could not be written: {error}")).at(path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::source::Said;
    use arrow_schema::{DataType, TimeUnit};
    use incrowd::table::Cells;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use parquet::basic::Encoding;
    use proptest::prelude::*;

    /// By column, its cells one after the other, each with how often.
    type Written = Vec<Vec<(Option<String>, usize)>>;

    fn types() -> Vec<DataType> {
        vec![
            DataType::Utf8,
            DataType::Int8,
            DataType::Int64,
            DataType::UInt64,
            DataType::Float32,
            DataType::Float64,
            DataType::Boolean,
            DataType::Date32,
            DataType::Decimal128(9, 2),
            DataType::Decimal128(30, 2),
            DataType::Timestamp(TimeUnit::Second, None),
            DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        ]
    }

    /// Some values of each type.
    fn value(data_type: &DataType, number: u32) -> String {
        match data_type {
            DataType::Int8 => (number as i8).to_string(),
            DataType::Int64 => (i64::MIN + i64::from(number)).to_string(),
            DataType::UInt64 => (u64::MAX - u64::from(number)).to_string(),
            DataType::Float32 | DataType::Float64 => format!("{}", f64::from(number) - 2.5),
            DataType::Boolean => (number % 2 == 0).to_string(),
            DataType::Date32 => format!("19{:02}-03-{:02}", number % 100, number % 28 + 1),
            DataType::Decimal128(..) => format!("{}.{:02}", i64::from(number) - 3, number % 100),
            DataType::Timestamp(_, None) => format!("2024-02-29T23:{:02}:{:02}", number / 60 % 60, number % 60),
            DataType::Timestamp(..) => format!("1969-12-31T23:{:02}:{:02}Z", number / 60 % 60, number % 60),
            _ => "é".repeat(number as usize % 5) + &number.to_string(),
        }
    }

    /// A file with these rows, each with how often, in row groups of a quarter of their size.
    fn file(types: &[DataType], rows: &[(Vec<Option<String>>, u64)]) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let column = |(i, data_type): (usize, &DataType)| TypedColumn {
            name: format!("c{i}"),
            data_type: data_type.clone(),
            said: Said::default(),
        };
        let columns: Vec<TypedColumn> = types.iter().enumerate().map(column).collect();
        let out = BufWriter::new(file.as_file());
        let mut groups = RowGroups::new(out, file.path(), &columns).expect("it begins");
        groups.n_records_max = N_GROUP / 4;
        rows.iter().for_each(|(cells, n)| groups.write(cells, *n).expect("it is written"));
        groups.finish().expect("it ends");
        file
    }

    fn read(file: &tempfile::NamedTempFile, types: &[DataType]) -> Written {
        let file = file.reopen().expect("it is there");
        let reader =
            ParquetRecordBatchReaderBuilder::try_new(file).and_then(|builder| builder.build()).expect("Parquet");
        let mut columns: Written = vec![Vec::new(); types.len()];
        for batch in reader {
            let batch = batch.expect("it can be read");
            for ((column, array), data_type) in columns.iter_mut().zip(batch.columns()).zip(types) {
                assert_eq!(array.data_type(), data_type);
                let (cells, mut text) = (Cells::new("x", array).expect("texts"), String::new());
                for i in 0..batch.num_rows() {
                    let cell = cells.read(i, &mut text).then_some(&text);
                    match column.last_mut() {
                        Some((known, n)) if known.as_ref() == cell => *n += 1,
                        _ => column.push((cell.cloned(), 1)),
                    }
                }
            }
        }
        columns
    }

    fn expected(types: &[DataType], rows: &[(Vec<Option<String>>, u64)]) -> Written {
        let mut columns: Written = vec![Vec::new(); types.len()];
        for (cells, n) in rows {
            for (column, cell) in columns.iter_mut().zip(cells) {
                match column.last_mut() {
                    Some((known, n_known)) if known == cell => *n_known += *n as usize,
                    _ => column.push((cell.clone(), *n as usize)),
                }
            }
        }
        columns
    }

    /// Rows of all types; where a number is 0, there is no value.
    fn rows(types: &[DataType], numbers: &[(u32, u64)]) -> Vec<(Vec<Option<String>>, u64)> {
        let cell = |number: u32, data_type: &DataType| (number > 0).then(|| value(data_type, number));
        numbers.iter().map(|(number, n)| (types.iter().map(|t| cell(*number, t)).collect(), *n)).collect()
    }

    /// Whether the chunks of a column are written from runs, by row group.
    fn are_by_runs(file: &tempfile::NamedTempFile, column: usize) -> Vec<bool> {
        let builder = ParquetRecordBatchReaderBuilder::try_new(file.reopen().expect("it is there")).expect("Parquet");
        let groups = builder.metadata().row_groups().iter();
        // The library tells how many of them have a value.
        groups.map(|group| group.column(column).definition_level_histogram().is_none()).collect()
    }

    #[test]
    fn long_runs_cross_pages_and_groups_and_what_does_not_repeat_is_left_to_the_library() {
        let types =
            [DataType::Utf8, DataType::Int64, DataType::Boolean, DataType::Float64, DataType::Decimal128(30, 2)];
        let long = [(3, 14_000), (0, 260_000), (5, 3), (7, 50_000), (0, 9), (3, 500_000)];
        let rows = rows(&types, &long);
        let file = self::file(&types, &rows);
        assert!(read(&file, &types) == expected(&types, &rows));
        assert_eq!(are_by_runs(&file, 0), [true; 4]);
        assert_eq!(are_by_runs(&file, 1), [true; 4]);
        assert_eq!(are_by_runs(&file, 2), [false; 4], "a bit has no dictionary");
        // No runs at all, and more than are kept; the next group has few again.
        let types = [DataType::Utf8];
        let rows = self::rows(&types, &(1..5000).map(|i| (i, 1)).collect::<Vec<_>>());
        let file = self::file(&types, &rows);
        assert!(read(&file, &types) == expected(&types, &rows));
        assert_eq!(are_by_runs(&file, 0), [false]);
        let types = [DataType::Utf8, DataType::Int64];
        let many = (0..50_000).map(|i| (1 + i, 5)).chain([(4, 500_000)]);
        let rows = self::rows(&types, &many.collect::<Vec<_>>());
        let file = self::file(&types, &rows);
        assert!(read(&file, &types) == expected(&types, &rows));
        assert_eq!(are_by_runs(&file, 0), [false, true, true]);
        assert!(file.as_file().metadata().expect("it is there").len() < 2_000_000);
    }

    #[test]
    fn bounds_and_encodings_are_those_of_the_cells() {
        let types = [DataType::UInt64, DataType::Float64, DataType::Utf8, DataType::Date32];
        let cells = |of: [&str; 4]| of.map(|text| Some(text.to_string())).to_vec();
        let greatest = "18446744073709551615";
        let rows = [
            (cells(["3", "0", "b", "1969-12-31"]), 50),
            (cells([greatest, "-1.5", "é", "1970-01-02"]), 60),
            (vec![None; 4], 70),
        ];
        let file = file(&types, &rows);
        let builder = ParquetRecordBatchReaderBuilder::try_new(file.reopen().expect("it is there")).expect("Parquet");
        let group = builder.metadata().row_group(0);
        let bounds = |column: usize| {
            let said = group.column(column).statistics().expect("bounds");
            assert_eq!(said.null_count_opt(), Some(70));
            (said.min_bytes_opt().expect("least").to_vec(), said.max_bytes_opt().expect("greatest").to_vec())
        };
        assert_eq!(bounds(0), (3_u64.to_le_bytes().to_vec(), u64::MAX.to_le_bytes().to_vec()));
        assert_eq!(bounds(1), ((-1.5_f64).to_le_bytes().to_vec(), 0.0_f64.to_le_bytes().to_vec()));
        assert_eq!(bounds(2), (b"b".to_vec(), "é".as_bytes().to_vec()));
        assert_eq!(bounds(3), ((-1_i32).to_le_bytes().to_vec(), 1_i32.to_le_bytes().to_vec()));
        assert!(group.column(0).encodings().any(|encoding| encoding == Encoding::RLE_DICTIONARY));
    }

    #[test]
    fn a_text_that_is_no_value_of_its_type_is_an_error() {
        for n in [1, 1000] {
            let file = tempfile::NamedTempFile::new().expect("a file");
            let column = TypedColumn { name: "age".into(), data_type: DataType::Int64, said: Said::default() };
            let mut groups = RowGroups::new(BufWriter::new(file.as_file()), file.path(), &[column]).expect("it begins");
            groups.write(&[Some("old".to_string())], n).expect("it is kept");
            let error = groups.finish().expect_err("it is no number").to_string();
            assert!(error.contains("column 'age'") && error.contains("Int64"), "{error}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        /// Whatever runs there are, what is read is what was written.
        #[test]
        fn what_is_written_is_read(
            numbers in proptest::collection::vec(
                (0_u32..40, prop_oneof![6 => 1_u64..4, 6 => 5_u64..20, 6 => 60_u64..70, 1 => 65_500_u64..65_600]),
                0..16,
            ),
        ) {
            let types = types();
            let rows = rows(&types, &numbers);
            prop_assert!(read(&file(&types, &rows), &types) == expected(&types, &rows));
        }
    }
}
