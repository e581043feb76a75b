//! The words of `--json` as Python's dicts, lists and numbers, and errors as `incrowd.Error`.

use incrowd::Error;
use incrowd_workbench::sentences::for_python;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde_json::Value;

/// A JSON document as Python would have read it.
pub fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(is) => is.into_pyobject(py)?.to_owned().into_any(),
        Value::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(whole), _) => whole.into_pyobject(py)?.into_any(),
            (None, Some(whole)) => whole.into_pyobject(py)?.into_any(),
            (None, None) => number.as_f64().into_pyobject(py)?.into_any(),
        },
        Value::String(text) => text.into_pyobject(py)?.into_any(),
        Value::Array(list) => {
            let items = list.iter().map(|item| to_python(py, item)).collect::<PyResult<Vec<_>>>()?;
            PyList::new(py, items)?.into_any()
        }
        Value::Object(object) => {
            let dict = PyDict::new(py);
            for (key, value) in object {
                dict.set_item(key, to_python(py, value)?)?;
            }
            dict.into_any()
        }
    })
}

/// Reads a JSON document that the Python side wrote.
pub fn from_json(text: &str) -> PyResult<Value> {
    serde_json::from_str(text).map_err(|error| PyValueError::new_err(format!("not JSON: {error}")))
}

/// An error with its kind, message, position and hint, in Python's words.
pub fn raised(error: &Error) -> PyErr {
    let [position, hint] = [error.position(), error.hint_given()].map(|said| said.map(for_python));
    raise(error.kind().name(), &for_python(error.message()), position.as_deref(), hint.as_deref())
}

/// Something that should not have happened.
pub fn bug() -> PyErr {
    raise("bug", "this should not have happened", None, Some("please report it"))
}

/// Says something worth knowing that is not the result, as a warning; an error where the user made warnings errors.
pub fn tell(py: Python<'_>, note: &str) -> PyResult<()> {
    py.import("incrowd._error")?.getattr("tell")?.call1((note,)).map(|_| ())
}

fn raise(kind: &str, message: &str, position: Option<&str>, hint: Option<&str>) -> PyErr {
    Python::attach(|py| {
        let made = py
            .import("incrowd._error")
            .and_then(|module| module.getattr("of_engine"))
            .and_then(|make| make.call1((kind, message, position, hint)));
        made.map_or_else(|error| error, PyErr::from_value)
    })
}
