//! The hot loops of `brc`, and its only `unsafe` code.
//!
//! Every kernel is written once in plain Rust (the *portable* twin, which is also what any processor without a faster
//! variant runs) and again, where measuring showed it to be worth it, for an instruction set that is chosen when the
//! program runs: see [`cpu`]. Tests hold every variant against the portable one.

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
pub mod piles;
pub mod runs;
pub mod samples;
pub mod structure;
pub mod text;
pub mod tokens;
#[cfg(windows)]
pub mod windows;

/// The example of the README is compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
