//! Shared types and traits of all `brc` crates.
//!
//! Encodings (how a file stores rows) and queries (what to compute from rows) do not depend on each other; both depend
//! on this crate. An encoding passes [`Batch`]es of columns to a [`Sink`]; queries and conversions are sinks. This
//! crate opens no files: bytes are read through [`ReadAt`].

#![forbid(unsafe_code)]

mod append;
pub mod array;
pub mod batch;
pub mod bitmap;
pub mod bounds;
pub mod calendar;
pub mod decimal;
pub mod dictionary;
pub mod error;
pub mod float32;
pub mod identifier;
mod inferred;
pub mod interrupt;
pub mod logical_type;
pub mod names;
pub mod predicate;
mod processors;
mod read_at;
pub mod rejects;
pub mod scan;
pub mod schema;
pub mod statistics;
pub mod table;
mod type_names;
pub mod uuid;
pub mod value;
pub mod workers;

pub use append::append;
pub use array::{Array, ArrayData, IntegerBuffer, StringBuffer, StringsTooLarge, gather};
pub use batch::{Batch, ByteStrings, Column, Data, Integers, Run};
pub use bitmap::{Bitmap, BitmapBuffer};
pub use dictionary::Dictionary;
pub use error::{Error, Result, RowFault, RowLocation, UnsupportedReason, UnsupportedValue};
pub use inferred::{current_schema, read_rows, with_types};
pub use logical_type::{LogicalType, PhysicalType, TimeUnit};
pub use predicate::{ColumnStatistics, Comparison, Predicate, PruneResult, ValueBounds, float_of_order, float_order};
pub use read_at::{ReadAhead, ReadAt, WriteAt};
pub use rejects::{Reject, Rejects};
pub use scan::{Progress, Worker, scan, scan_and};
pub use schema::{Field, Schema, SchemaError, UnsupportedColumn};
pub use statistics::Statistics;
pub use table::{
    AssumedSeparator, BatchWriter, ColumnChanges, ColumnTotals, ColumnarWriter, Conjunct, Cut, DoubtfulText, Order,
    Part, PartEncoder, ScanError, ScanOptions, Scanned, Scanner, Sink, SkippedLines, Split, Summary, Table, TableFile,
    TextPlace, TextReason, ValueForm, WantedText,
};
pub use value::Value;
pub use workers::run_workers;

/// Compiles and runs the example of the README as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
