//! Arrow's C interface in capsules of Python, and the interpreter as streams find it: all that is unsafe here.

#![allow(unsafe_code)]

use crate::errors::OrRaise;
use arrow_array::RecordBatchReader;
use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::{ArrowArrayStreamReader, FFI_ArrowArrayStream};
use arrow_schema::Schema;
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods};
use std::ffi::CStr;

const STREAM: &CStr = c"arrow_array_stream";
const SCHEMA: &CStr = c"arrow_schema";

/// A stream of record batches. Whoever does not read it to its end gives it up by dropping the capsule.
pub(crate) fn of_stream<'py>(
    py: Python<'py>,
    reader: Box<dyn RecordBatchReader + Send>,
) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), STREAM)
}

/// A schema.
pub(crate) fn of_schema<'py>(py: Python<'py>, schema: &Schema) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowSchema::try_from(schema).or_raise(py)?, SCHEMA)
}

/// The record batches of an object that has `__arrow_c_stream__`.
///
/// # Errors
/// If the object has none, or what that raises.
pub(crate) fn stream_of(object: &Bound<'_, PyAny>) -> PyResult<ArrowArrayStreamReader> {
    let capsule = object.call_method0("__arrow_c_stream__")?;
    let capsule = capsule.cast::<PyCapsule>().map_err(|_| PyTypeError::new_err("__arrow_c_stream__: no capsule"))?;
    let pointer = capsule.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: a capsule of that name holds a pointer to such a struct of C, which lives as long as the capsule: that is what
    // `__arrow_c_stream__` promises. This thread is attached, and nobody else knows the capsule, so that nobody else uses the
    // struct now. It is left released, so that the capsule does not release it again.
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr()) };
    ArrowArrayStreamReader::try_new(stream).or_raise(object.py())
}

/// The schema in a capsule; the capsule keeps it.
///
/// # Errors
/// If it is none.
pub(crate) fn schema_of(capsule: &Bound<'_, PyAny>) -> PyResult<Schema> {
    let capsule = capsule.cast::<PyCapsule>().map_err(|_| PyTypeError::new_err("requested_schema: no capsule"))?;
    let pointer = capsule.pointer_checked(Some(SCHEMA))?.cast::<FFI_ArrowSchema>();
    // SAFETY: as above; the struct is only looked at, while this thread is attached and has the capsule.
    let schema = unsafe { pointer.as_ref() };
    Schema::try_from(schema).or_raise(capsule.py())
}

/// Has Python handle the signals that came, on its main thread. Returns whether a handler raised an exception: then it will be
/// called once more as soon as the interpreter runs, for nothing can be raised from here.
///
/// Whoever reads a stream may have detached this thread, from within a method of this module: `pyo3` would not notice that.
pub(crate) fn is_interrupted() -> bool {
    // SAFETY: all of these may be called by a thread that is attached or not; what needs it to be is between the calls that
    // see to that. While the interpreter ends, only its own thread gets here, and there is none to wait for.
    unsafe {
        if ffi::Py_IsInitialized() == 0 {
            return false;
        }
        let attached = ffi::PyGILState_Ensure();
        let is_interrupted = ffi::PyErr_CheckSignals() != 0;
        if is_interrupted {
            ffi::PyErr_Clear();
            ffi::PyErr_SetInterrupt();
        }
        ffi::PyGILState_Release(attached);
        is_interrupted
    }
}
