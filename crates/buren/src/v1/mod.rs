//! Version 1 of the format: strings and numbers of 64 bits without nulls, clustered by one key.
//!
//! It answers the one obvious question of a small table faster than anything else, so it is still written for such
//! tables; see [`Writer::supports`](writer::Writer::supports).

mod cluster;
mod describe;
mod dictionary_blocks;
mod encoder;
mod fetch;
mod footer;
mod footer_check;
mod footer_message;
mod gathered_strings;
mod pieces;
pub(crate) mod reader;
mod restore;
mod run_decisions;
mod run_index;
mod run_table;
mod runs;
mod scan_column;
mod scanner;
mod schemes;
mod selection;
mod verify;
pub(crate) mod writer;
