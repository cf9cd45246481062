//! Version 2 of the format: how columns of any type and their nulls are stored.
//!
//! Pure functions between slices and bytes; files, checksums and compression are others' business.

pub mod floats;
pub mod integers;
mod malformed;
pub mod strings;
pub mod validity;

pub use malformed::Malformed;
