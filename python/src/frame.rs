//! Data frames in and out through the Arrow PyCapsule interface, whoever made them and without copying.

use std::ffi::CStr;
use std::sync::Arc;

use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow_schema::ffi::FFI_ArrowSchema;
use incrowd::table::Cells;
use incrowd::{Error, ErrorKind};
use incrowd_workbench::input::source;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods};

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

/// The batches of a frame as a capsule; the buffers stay where they are.
pub fn stream<'py>(py: Python<'py>, frame: &source::Frame) -> PyResult<Bound<'py, PyCapsule>> {
    let batches: Vec<RecordBatch> = frame.batches.to_vec();
    let reader = RecordBatchIterator::new(batches.into_iter().map(Ok), frame.schema.clone());
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), STREAM)
}
