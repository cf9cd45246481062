#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod array;
mod batches;
mod queue;
mod reader;
mod recycled;
mod strings;
mod types;
mod utf8;
mod views;

pub use reader::{Feed, Options, Reader, scan_batches};
pub use strings::StringForm;
pub use types::{arrow_schema, requested_schema};
pub use utf8::located;
