//! Reading and writing of delimited text.
//!
//! CSV files do not describe their own format. This crate detects the [`Dialect`] from samples of a file, [reports the
//! evidence](mod@sniff), and converts [other charsets](charset) to UTF-8, so that [rows](mod@rows) can be read exactly.
//!
//! ```
//! use brc_text::{Delimiter, DialectOverrides, Sample, sniff};
//!
//! let text = b"id;price\n1;0,99\n2;1,50\n";
//! let sniffed = sniff(&[Sample::whole(text)], &DialectOverrides::default());
//! assert_eq!(sniffed.dialect.delimiter, Delimiter::Byte(b';'));
//! assert_eq!(sniffed.names, ["id", "price"]);
//! for finding in &sniffed.findings {
//!     println!("{finding}"); // delimiter ';' - 3 of 3 sampled rows have 2 fields with it; next best is …
//! }
//! ```

#![forbid(unsafe_code)]

/// Serialises a type as the text of its [`Display`](std::fmt::Display) and [`FromStr`](std::str::FromStr).
macro_rules! as_text {
    ($type:ty) => {
        impl TryFrom<String> for $type {
            type Error = <$type as std::str::FromStr>::Err;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                text.parse()
            }
        }

        impl From<$type> for String {
            fn from(value: $type) -> Self {
                value.to_string()
            }
        }
    };
}

pub mod charset;
pub mod dialect;
pub mod form;
pub mod infer;
pub mod rows;
pub mod sniff;
pub mod typed;
pub mod unquote;
pub mod write;

pub use charset::{BYTE_ORDER_MARK, Charset, CharsetError, TextReader};
pub use dialect::{Delimiter, Dialect, DialectError, DialectOverrides, LineEnd};
pub use form::{Form, GivenForms, GivenNumber, NumberForm, TableForms, TimeForm};
pub use sniff::{Finding, Part, Sample, Sniffed, sniff, sniff_rows};

/// The example of the README is compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
