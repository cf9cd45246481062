//! Tables lie in object stores as often as on disks, and a question needs few of their bytes. This crate reads files there
//! without copying them first: some ranges of an [`Object`], few requests for all of them and ahead of those who read them;
//! or all of a file in order ([`InOrder`]). It writes files that are there when they are whole ([`Upload`]).
//!
//! Everything here is called by threads that may block. The requests run on two threads of their own.
//!
//! A file that changes while it is read is an error, never half an old and half a new one: every request demands the entity
//! tag that the first one brought.

#![forbid(unsafe_code)]

mod address;
mod cache;
mod failure;
mod in_order;
mod listing;
mod object;
mod plan;
mod request;
mod runtime;
#[cfg(test)]
mod tests;
mod upload;
mod usage;

pub use address::{Address, is_address};
pub use cache::hold_at_most;
pub use in_order::InOrder;
pub use listing::{is_pattern, matches, pattern_directory};
pub use object::Object;
pub use upload::Upload;
pub use usage::{Usage, usage};

/// The example of the README is compiled as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
