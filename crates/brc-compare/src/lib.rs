//! Compares encodings on the user's own table and machine: measures each one, checks every result, and recommends one.
//!
//! A `matrix::Matrix` goes through the cells (one per encoding and compression) and measures each one (`measure`) in
//! separate processes (`process`; `worker` is their side). This needs the calling program, which describes in [`Host`]
//! how to start itself again. Results are plain data (`results`), saved after each cell (`store`) and resumed while
//! they are still valid (`resume`). Reports are made from these results alone: `view` computes figures from samples,
//! `advice` turns them into sentences, and each report format has a module of its own.

#![forbid(unsafe_code)]

mod advice;
mod best;
mod child;
mod comparison;
mod csv;
mod environment;
mod error;
mod executor;
mod html;
mod job;
mod known;
mod limit;
mod markdown;
mod matrix;
mod measure;
mod monitor;
mod notes;
mod options;
mod pareto;
pub mod printable;
mod process;
pub mod quantity;
mod results;
mod resume;
mod statistics;
mod store;
mod terminal;
mod text_size;
pub mod usage;
mod view;
mod worker;

#[cfg(test)]
mod sample;
#[cfg(test)]
mod tests;

pub use comparison::{Comparison, Request, compare};
pub use environment::now;
pub use error::{Error, Failure};
pub use html::{Plot, TimedRun, timeline};
pub use job::JobArguments;
pub use known::{KNOWN_QUERIES, KnownQuery};
pub use options::{QueryOptions, TableOptions};
pub use process::Host;
pub use terminal::Screen;
pub use worker::{Render, Worker};

/// Compiles the example of the README as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
