//! Version 2 of the format: tables of any types, with nulls.
//!
//! How values lie in blocks is decided by pure functions between slices and bytes (`integers`, `floats`, `strings`,
//! `validity`); row groups, chunks, statistics and checksums are the business of `file`.

pub(crate) mod file;
pub mod floats;
pub mod integers;
mod malformed;
pub mod strings;
pub mod validity;

pub use malformed::Malformed;
