//! All encodings that `brc` reads and writes, behind one registry.
//!
//! Conversions and queries do not refer to a specific encoding: they look it up in [`ENCODINGS`] by name, by the
//! extension of an output, or by the first bytes of an input.

#![forbid(unsafe_code)]
// Some shared code is unused in builds without all encodings.
#![cfg_attr(
    not(all(feature = "parquet", feature = "arrow", feature = "capnp", feature = "protobuf")),
    allow(dead_code)
)]

pub mod append;
#[cfg(feature = "arrow")]
mod arrow;
#[cfg(feature = "avro")]
mod avro;
mod bincode;
mod buren;
#[cfg(feature = "capnp")]
mod capnp;
mod cbor;
pub mod chunks;
#[cfg(feature = "record-batches")]
mod columnar;
mod compressed;
mod compressed_input;
pub mod convert;
mod csv;
mod delivery;
pub mod description;
pub mod document;
pub mod encoding;
mod fault;
mod file_identity;
pub mod folders;
mod frames;
pub mod hive;
pub mod input;
pub mod input_file;
mod json;
mod long_rows;
pub mod memory_budget;
mod msgpack;
mod narrow;
pub mod ordered;
mod other_formats;
pub mod output;
pub mod output_folder;
#[cfg(feature = "parquet")]
mod parquet;
mod part_buffer;
pub mod partitioned;
mod platform;
mod ppm;
#[cfg(feature = "protobuf")]
mod protobuf;
#[cfg(feature = "record-batches")]
mod record_batches;
mod refused;
mod registry;
pub mod rejects;
pub mod remote;
mod rows;
mod stream_copy;
mod tally;
pub mod temporary;
mod text;
mod turns;
mod unfinished;
pub mod union;
#[cfg(any(feature = "avro", feature = "parquet", feature = "protobuf"))]
mod varint;
mod warnings;
mod widened;
mod write_back;
#[cfg(feature = "xlsx")]
mod xlsx;
mod zip;

#[cfg(feature = "capnp")]
#[allow(warnings, clippy::all, clippy::pedantic, clippy::unwrap_used)]
#[path = "capnp/table_capnp.rs"]
mod table_capnp;

#[cfg(feature = "arrow")]
pub use arrow::stream_writer::arrow_stream;
pub use brc_text;
pub use convert::{Converted, Target, Workers, convert, convert_inferred};
pub use csv::{Headers, Inference, sniff_text};
pub use description::{Description, Fact, Facts};
pub use encoding::{CreateOptions, Encoding, OpenOptions, TextOptions, Verified};
pub use fault::turns_panics_into_errors;
pub use file_identity::FileIdentity;
pub use input::Input;
pub use input_file::InputFile;
pub use json::{hex_digits, json_lines, not_finite};
pub use memory_budget::MemoryBudget;
pub use other_formats::refuse_other_format;
pub use output::{Output, OutputOptions};
#[cfg(feature = "record-batches")]
pub use record_batches::RecordBatches;
pub use registry::{
    ENCODINGS, by_extension, by_name, check_compression_name, check_text_name, compression_by_extension,
    compressions_of, delimiter_by_extension, for_input, for_named_input, text, writer,
};
pub use rejects::{RejectLog, RejectReason};
pub use unfinished::{remove_directory, remove_unfinished};
pub use union::{ConstantColumn, Union, UnionOptions};
pub use warnings::on_warning;

/// Compiles and runs the README's example as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
