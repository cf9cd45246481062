//! Files: row groups of column chunks, and a footer with their locations and statistics.
//!
//! A chunk has its own scheme and tokens, so that row groups can be encoded in parallel and a chunk can be replaced.
//! Only the dictionaries of string columns are shared, as long as they are small enough for memory: the dictionary
//! codes of a row group are assigned when the row group is appended to the file.

mod appending;
mod bounds;
mod chunk_dictionary;
mod chunk_rows;
mod chunk_writer;
mod cluster;
mod column;
mod column_buffer;
mod decoded_rows;
mod decoder;
mod delivery;
mod describe;
mod dictionary_cache;
mod encoder;
mod file_dictionary;
mod file_tokens;
mod fits;
mod footer;
mod footer_check;
mod footer_message;
mod interner;
mod key_choice;
mod local_codes;
mod number_codes;
mod options;
mod own_dictionary;
mod prefetch;
mod reader;
mod restore;
mod run_key;
mod run_selection;
mod runs;
mod scan_dictionary;
mod scanner;
mod shared_dictionary;
mod string_chunk;
mod string_column;
mod value_counts;
mod value_order;
mod verify;
mod writer;

pub use options::{Key, WriterOptions};
pub use reader::Reader;
pub use verify::Verified;
pub use writer::Writer;
