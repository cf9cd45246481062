//! Every encoding `brc` reads and writes, one file each, behind one registry.
//!
//! Who converts or queries never names an encoding: it takes one from [`ENCODINGS`] by name, by a target's extension, or
//! by looking at the first bytes of a source.

#![forbid(unsafe_code)]

pub mod encoding;
pub mod input;

pub use encoding::{CreateOptions, Encoding, OpenOptions};
pub use input::Input;
