//! Files of version 2: row groups of column chunks, a footer that tells where they lie and what is known of them.
//!
//! Each chunk stands by itself: it has its own scheme, dictionary and tokens. So row groups are encoded side by side,
//! nobody keeps more values in memory than a row group has, and a chunk can be replaced by another one.

mod bounds;
mod chunk_writer;
mod column;
mod decoder;
mod describe;
mod encoder;
mod fits;
mod footer;
mod footer_check;
mod footer_message;
mod gathered;
mod interner;
mod reader;
mod scanner;
mod string_chunk;
mod strings_gathered;
mod verify;
mod writer;

pub(crate) use reader::Reader;
pub(crate) use writer::Writer;
