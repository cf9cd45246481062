//! Tables are often in object stores, and a query needs few of their bytes. This crate reads files there without
//! downloading them first: ranges of an [`Object`], prefetched with few requests, or all of a file in order
//! ([`InOrder`]). It also writes files, which become visible once they are complete ([`Upload`]).
//!
//! All functions may block the calling thread. Requests run on two threads of their own.
//!
//! A file that changes while it is read is an error, never a mix of old and new bytes: every request requires the
//! entity tag of the first response if it is a strong one, and each response is compared with the first.

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
