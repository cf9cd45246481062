//! Arrow's C interface in Python capsules, and signal checks from threads in unknown state: all unsafe code of this
//! crate.

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

/// A capsule with a stream of record batches. Dropping the capsule abandons the stream.
pub(crate) fn of_stream<'py>(
    py: Python<'py>,
    reader: Box<dyn RecordBatchReader + Send>,
) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), STREAM)
}

/// A capsule with a schema.
pub(crate) fn of_schema<'py>(py: Python<'py>, schema: &Schema) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowSchema::try_from(schema).or_raise(py)?, SCHEMA)
}

/// The record batches of an object that has `__arrow_c_stream__`.
///
/// # Errors
/// If the object has no such method, or the method raises.
pub(crate) fn stream_of(object: &Bound<'_, PyAny>) -> PyResult<ArrowArrayStreamReader> {
    let capsule = object.call_method0("__arrow_c_stream__")?;
    let capsule = capsule.cast::<PyCapsule>().map_err(|_| PyTypeError::new_err("__arrow_c_stream__: no capsule"))?;
    let pointer = capsule.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: A capsule with this name holds a pointer to such a C struct, which lives as long as the capsule:
    // `__arrow_c_stream__` guarantees that. This thread is attached and no one else has the capsule, so no one else
    // uses the struct now. The struct is left released, so that the capsule does not release it again.
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr()) };
    ArrowArrayStreamReader::try_new(stream).or_raise(object.py())
}

/// Reads the schema in a capsule, which keeps it.
///
/// # Errors
/// If it is not a schema capsule.
pub(crate) fn schema_of(capsule: &Bound<'_, PyAny>) -> PyResult<Schema> {
    let capsule = capsule.cast::<PyCapsule>().map_err(|_| PyTypeError::new_err("requested_schema: no capsule"))?;
    let pointer = capsule.pointer_checked(Some(SCHEMA))?.cast::<FFI_ArrowSchema>();
    // SAFETY: As above; the struct is only read, while this thread is attached and holds the capsule.
    let schema = unsafe { pointer.as_ref() };
    Schema::try_from(schema).or_raise(capsule.py())
}

/// Lets Python handle pending signals, on its main thread. Returns whether a handler raised an exception. Since nothing
/// can be raised from here, the handler is then called again as soon as the interpreter runs.
///
/// The caller may read a stream with this thread detached, from within a method of this module, which `pyo3` would not
/// notice.
pub(crate) fn is_interrupted() -> bool {
    // SAFETY: These functions may be called by a thread that is attached or not; calls that require an attached thread
    // are made between `Py…Ensure` and `Py…Release`. While the interpreter shuts down, only its own thread gets here,
    // so there is none to wait for.
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
