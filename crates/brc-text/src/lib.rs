//! Text tables.
//!
//! A CSV file does not say how it is written. This crate finds its [`Dialect`] in samples of it, [explains](sniff) how it
//! did so, and turns [other charsets](charset) into UTF-8, so that whoever reads rows knows exactly what to look for.

#![forbid(unsafe_code)]

pub mod charset;
pub mod dialect;
pub mod names;
pub mod sniff;

pub use charset::{Charset, CharsetError, TextReader};
pub use dialect::{Delimiter, Dialect, DialectError, DialectOverrides, LineEnd};
pub use sniff::{Finding, Part, Sample, Sniffed, sniff};
