//! The Rust part, `brc._brc`, of the Python package `brc` in `python/`.
//!
//! Rows are exchanged as streams of Arrow's C interface, so that nothing here depends on a Python library. Keyword
//! arguments become command-line options, so they have the same meaning and are checked by the same code.

#![deny(unsafe_code)]

mod answer;
mod batches;
mod capsule;
mod conversion;
mod errors;
mod frames;
mod scan;
mod signals;
mod sniffed;
mod source;
mod stream;
mod table;
mod values;
mod warnings;
mod words;

use brc_kernels::memory::Allocator;
use brc_kernels::memory::pooled::{MiMalloc, keep_freed};
use pyo3::prelude::*;
use std::ffi::OsString;
use std::path::PathBuf;

/// Lets queries know how much memory they use. Python's own objects are not counted.
#[global_allocator]
static ALLOCATOR: Allocator<MiMalloc> = Allocator::of(MiMalloc);

/// Runs the program brc in this process, and returns its exit code.
#[pyfunction]
fn main(py: Python<'_>, executable: PathBuf, before: Vec<OsString>, arguments: Vec<OsString>) -> u8 {
    let invocation = brc_cli::Invocation { arguments, executable: Some(executable), before_arguments: before };
    py.detach(|| brc_cli::main(invocation))
}

#[pymodule]
fn _brc(module: &Bound<'_, PyModule>) -> PyResult<()> {
    keep_freed();
    errors::add_to(module)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<table::Table>()?;
    module.add_class::<scan::Scan>()?;
    module.add_class::<answer::Answer>()?;
    module.add_class::<batches::Batch>()?;
    module.add_class::<conversion::Ledger>()?;
    module.add_class::<sniffed::Sniffed>()?;
    module.add_function(wrap_pyfunction!(main, module)?)?;
    module.add_function(wrap_pyfunction!(table::open, module)?)?;
    module.add_function(wrap_pyfunction!(sniffed::sniff, module)?)?;
    module.add_function(wrap_pyfunction!(words::option_words, module)?)?;
    module.add_function(wrap_pyfunction!(conversion::convert, module)?)?;
    module.add_function(wrap_pyfunction!(conversion::write, module)?)
}
