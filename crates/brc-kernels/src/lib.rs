//! The hot loops of `brc`, and its only `unsafe` code.
//!
//! Every kernel exists in plain Rust (the *portable* variant, which runs on any processor) and, if measurements justify
//! it, for instruction sets that are selected at run time: see [`cpu`]. Tests compare every variant with the portable
//! one.

#![deny(unsafe_op_in_unsafe_fn)]

pub mod accumulate;
pub mod addresses;
#[cfg(target_vendor = "apple")]
pub mod apple;
pub mod arithmetic;
pub mod bitpack;
pub mod cpu;
pub mod decimals;
pub mod digits;
pub mod direct;
pub mod fields;
pub mod filter;
pub mod inline;
pub mod interner;
mod isa;
pub mod memory;
pub mod numerals;
pub mod packing;
pub mod partition_buffers;
pub mod runs;
pub mod samples;
pub mod standard_output;
pub mod structure;
pub mod text;
pub mod tokens;
#[cfg(windows)]
pub mod windows;

/// The example of the README is compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
