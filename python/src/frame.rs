//! Data frames in and out through the Arrow PyCapsule interface, whoever made them and without copying.

use std::collections::HashMap;
use std::ffi::CStr;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{
    Array, ArrayRef, Int64Array, RecordBatch, RecordBatchIterator, RecordBatchOptions, RecordBatchReader, StringArray,
};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{DataType, Field, Schema};
use arrow_select::take::take;
use incrowd::table::Cells;
use incrowd::{Error, ErrorKind};
use incrowd_workbench::input::source;
use parquet::arrow::ArrowWriter;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyCapsuleMethods, PyList};

use crate::columns;
use crate::restore::{only_shown, restored};
use crate::words::raised;

const STREAM: &CStr = c"arrow_array_stream";
const SCHEMA: &CStr = c"arrow_schema";

/// A table in memory, as Arrow record batches.
#[pyclass(frozen, module = "incrowd._native")]
pub struct Frame {
    pub inner: source::Frame,
}

#[pymethods]
impl Frame {
    /// Takes over what an object's `__arrow_c_stream__` streams; `name` is what errors call it.
    ///
    /// What was an index of pandas stays behind, but for levels that are `declared`.
    #[new]
    #[pyo3(signature = (data, name, declared = Vec::new()))]
    fn new(py: Python<'_>, data: &Bound<'_, PyAny>, name: String, declared: Vec<String>) -> PyResult<Frame> {
        let stream = data.call_method0("__arrow_c_stream__")?;
        let capsule = stream.cast::<PyCapsule>()?;
        let pointer = capsule.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
        let wrong = |error: arrow_schema::ArrowError| {
            raised(&Error::new(ErrorKind::Data, format!("cannot be read as Arrow: {error}")).at(name.clone()))
        };
        // SAFETY: by its name the capsule holds a stream; it is moved out, so that the capsule will not release it.
        let reader = unsafe { RecordBatchStreamReader::from_raw(pointer.as_ptr()) }.map_err(wrong)?;
        let schema = reader.schema();
        // Whoever streams may compute what it streams, and takes Python's lock where it needs it.
        let batches: Result<Vec<RecordBatch>, _> = py.detach(|| reader.collect());
        let batches = batches.map_err(wrong)?;
        let index = source::pandas_index(&schema);
        let is_column = |name: &String| !index.contains(name) || declared.contains(name);
        let columns: Vec<usize> = (0..schema.fields().len()).filter(|&i| is_column(schema.field(i).name())).collect();
        let schema = Arc::new(schema.project(&columns).map_err(wrong)?);
        let project = |batch: RecordBatch| batch.project(&columns);
        let batches: Vec<RecordBatch> = batches.into_iter().map(project).collect::<Result<_, _>>().map_err(wrong)?;
        Ok(Frame { inner: source::Frame { name, schema, batches: batches.into() } })
    }

    /// The same from plain values: of each column its name, the name of its type, its values, and which are there.
    #[staticmethod]
    fn of_columns(columns: Vec<Column<'_>>, n_records: usize, name: String) -> PyResult<Frame> {
        let wrong = |error: arrow_schema::ArrowError| {
            raised(&Error::new(ErrorKind::Data, format!("cannot be read as Arrow: {error}")).at(name.clone()))
        };
        let mut fields = Vec::new();
        let mut arrays = Vec::new();
        for (column, kind, values, there) in &columns {
            let there = there.as_ref().map(|there| there.as_bytes());
            let array = columns::array_of(kind, values, there, n_records)?.map_err(wrong)?;
            fields.push(Field::new(column, array.data_type().clone(), true));
            arrays.push(array);
        }
        let schema = Arc::new(Schema::new(fields));
        let size = RecordBatchOptions::new().with_row_count(Some(n_records));
        let batch = RecordBatch::try_new_with_options(schema.clone(), arrays, &size).map_err(wrong)?;
        Ok(Frame { inner: source::Frame { name, schema, batches: vec![batch].into() } })
    }

    /// The name of a column's type and its values, as plain Python has them; `None` where it has none for them.
    fn values<'py>(&self, py: Python<'py>, column: &str) -> PyResult<Option<(String, Vec<Bound<'py, PyList>>)>> {
        let wrong = |error| raised(&Error::new(ErrorKind::Data, format!("{error}")).at(self.inner.name.clone()));
        let place = self.inner.schema.index_of(column).map_err(wrong)?;
        let of = match self.inner.schema.field(place).data_type() {
            DataType::Dictionary(_, of) => of,
            of => of,
        };
        let Some(kind) = columns::name_of(of) else { return Ok(None) };
        let mut parts = Vec::new();
        for batch in self.inner.batches.iter() {
            let column = batch.column(place);
            let plain = match column.as_any_dictionary_opt() {
                Some(coded) => take(coded.values(), coded.keys(), None).map_err(wrong)?,
                None => column.clone(),
            };
            parts.push(columns::values_of(py, self.inner.schema.field(place).name(), &plain)?);
        }
        Ok(Some((kind, parts)))
    }

    /// Some of the columns, in the order in which they are named.
    fn select(&self, columns: Vec<String>) -> PyResult<Frame> {
        let wrong = |error| raised(&Error::new(ErrorKind::Data, format!("{error}")).at(self.inner.name.clone()));
        let places = columns.iter().map(|name| self.inner.schema.index_of(name));
        let places: Vec<usize> = places.collect::<Result<_, _>>().map_err(wrong)?;
        let schema = Arc::new(self.inner.schema.project(&places).map_err(wrong)?);
        let batches = self.inner.batches.iter().map(|batch| batch.project(&places));
        let batches: Vec<RecordBatch> = batches.collect::<Result<_, _>>().map_err(wrong)?;
        Ok(Frame { inner: source::Frame { name: self.inner.name.clone(), schema, batches: batches.into() } })
    }

    /// The same with one column more, of the numbers of records, from 0 on.
    fn numbered(&self, column: &str) -> PyResult<Frame> {
        let wrong = |error| raised(&Error::new(ErrorKind::Data, format!("{error}")).at(self.inner.name.clone()));
        let number = Arc::new(Field::new(column, DataType::Int64, false));
        let fields: Vec<_> = self.inner.schema.fields().iter().cloned().chain([number]).collect();
        let schema = Arc::new(Schema::new(fields));
        let mut n_before = 0;
        let with_number = |batch: &RecordBatch| {
            let numbers = Int64Array::from_iter_values(n_before..n_before + batch.num_rows() as i64);
            n_before += batch.num_rows() as i64;
            let columns = batch.columns().iter().cloned().chain([Arc::new(numbers) as ArrayRef]).collect();
            RecordBatch::try_new(schema.clone(), columns)
        };
        let batches: Vec<RecordBatch> =
            self.inner.batches.iter().map(with_number).collect::<Result<_, _>>().map_err(wrong)?;
        Ok(Frame { inner: source::Frame { name: self.inner.name.clone(), schema, batches: batches.into() } })
    }

    /// Records in their order and of these columns, empty where they are not shown; some columns with texts in their place.
    fn with_texts(
        &self,
        columns: Vec<String>,
        texts: HashMap<String, Vec<Option<String>>>,
        shown: Vec<bool>,
    ) -> PyResult<Frame> {
        let wrong = |error| raised(&Error::new(ErrorKind::Data, format!("{error}")).at(self.inner.name.clone()));
        let places: Vec<usize> =
            columns.iter().map(|name| self.inner.schema.index_of(name)).collect::<Result<_, _>>().map_err(wrong)?;
        let field = |(name, &place): (&String, &usize)| match texts.contains_key(name) {
            true => Field::new(name, DataType::Utf8, true),
            false => Field::new(name, self.inner.schema.field(place).data_type().clone(), true),
        };
        let schema = Arc::new(Schema::new(columns.iter().zip(&places).map(field).collect::<Vec<_>>()));
        let mut batches = Vec::new();
        let mut from = 0;
        for batch in self.inner.batches.iter() {
            let here = from..from + batch.num_rows();
            let column = |(name, &place): (&String, &usize)| match texts.get(name) {
                Some(texts) => {
                    let cells = texts[here.clone()].iter().zip(&shown[here.clone()]);
                    let cells = cells.map(|(text, is_shown)| text.as_deref().filter(|_| *is_shown));
                    Ok(Arc::new(cells.collect::<StringArray>()) as ArrayRef)
                }
                None => only_shown(batch.column(place), &shown[here.clone()]),
            };
            let arrays = columns.iter().zip(&places).map(column).collect::<Result<Vec<_>, _>>().map_err(wrong)?;
            let fields = schema.fields().iter().zip(&arrays);
            let fields = fields.map(|(field, array)| field.as_ref().clone().with_data_type(array.data_type().clone()));
            let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
            batches.push(RecordBatch::try_new(schema, arrays).map_err(wrong)?);
            from = here.end;
        }
        let schema = batches.first().map_or(schema, RecordBatch::schema);
        let made = source::Frame { name: self.inner.name.clone(), schema, batches: batches.into() };
        // Batches share one list of categories, in the order that it had.
        let has_categories = |name: &str| {
            let field = self.inner.schema.field_with_name(name);
            !texts.contains_key(name) && field.is_ok_and(|field| matches!(field.data_type(), DataType::Dictionary(..)))
        };
        let inner = restored(made, Some(&self.inner), has_categories).map_err(|error| raised(&error))?;
        Ok(Frame { inner })
    }

    /// All of it as bytes, for another process: a stream of Arrow IPC.
    fn packed<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let schema = &self.inner.schema;
        let written = py.detach(|| {
            let mut writer = StreamWriter::try_new(Vec::new(), schema)?;
            self.inner.batches.iter().try_for_each(|batch| writer.write(batch))?;
            writer.into_inner()
        });
        let bytes = written.map_err(|error| raised(&Error::new(ErrorKind::Data, error.to_string())))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// What `packed` has packed.
    #[staticmethod]
    fn unpacked(py: Python<'_>, bytes: &[u8], name: String) -> PyResult<Frame> {
        let read = py.detach(|| {
            let reader = StreamReader::try_new(bytes, None)?;
            let schema = reader.schema();
            Ok((schema, reader.collect::<Result<Vec<RecordBatch>, arrow_schema::ArrowError>>()?))
        });
        let (schema, batches) = read.map_err(|error: arrow_schema::ArrowError| {
            raised(&Error::new(ErrorKind::Data, format!("cannot be read as Arrow: {error}")).at(name.clone()))
        })?;
        Ok(Frame { inner: source::Frame { name, schema, batches: batches.into() } })
    }

    /// Writes a Parquet file, without what an earlier owner said of the columns.
    fn write_parquet(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let schema = Arc::new(Schema::new(self.inner.schema.fields().clone()));
        let written = py.detach(|| {
            let mut writer = ArrowWriter::try_new(File::create(&path)?, schema.clone(), None)?;
            for batch in self.inner.batches.iter() {
                writer.write(&batch.clone().with_schema(schema.clone())?)?;
            }
            writer.close()?;
            Ok::<(), parquet::errors::ParquetError>(())
        });
        let at = path.display().to_string();
        written.map_err(|error| raised(&Error::new(ErrorKind::Io, format!("could not be written: {error}")).at(at)))
    }

    #[getter]
    fn columns(&self) -> Vec<String> {
        self.inner.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    #[getter]
    fn n_records(&self) -> usize {
        self.inner.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// The first records as texts, as incrowd reads them; all where no number is given.
    #[pyo3(signature = (n_records = None))]
    fn rows(&self, n_records: Option<usize>) -> PyResult<Vec<Vec<Option<String>>>> {
        let mut rows = Vec::new();
        for batch in self.inner.batches.iter() {
            let columns = self.inner.schema.fields().iter().zip(batch.columns());
            let cells = columns.map(|(field, column)| Cells::new(field.name(), column));
            let cells: Vec<Cells> = cells.collect::<incrowd::Result<_>>().map_err(|error| raised(&error))?;
            let n_left = n_records.unwrap_or(usize::MAX) - rows.len();
            let mut text = String::new();
            for record in 0..batch.num_rows().min(n_left) {
                rows.push(cells.iter().map(|cells| cells.read(record, &mut text).then(|| text.clone())).collect());
            }
        }
        Ok(rows)
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A wish that may be ignored: the frame has the types that it has.
        drop(requested_schema);
        stream(py, &self.inner)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.inner.schema.as_ref())
            .map_err(|error| raised(&Error::new(ErrorKind::Data, error.to_string())))?;
        PyCapsule::new_with_value(py, schema, SCHEMA)
    }
}

/// A column of plain values: its name, the name of its type, its values, and which of them are there.
type Column<'py> = (String, String, Bound<'py, PyAny>, Option<Bound<'py, PyBytes>>);

/// The batches of a frame as a capsule; the buffers stay where they are.
pub fn stream<'py>(py: Python<'py>, frame: &source::Frame) -> PyResult<Bound<'py, PyCapsule>> {
    let batches: Vec<RecordBatch> = frame.batches.to_vec();
    let reader = RecordBatchIterator::new(batches.into_iter().map(Ok), frame.schema.clone());
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), STREAM)
}
