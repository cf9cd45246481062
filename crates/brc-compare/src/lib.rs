//! Which encoding should a table be kept in? Measures all of them on the user's own table and machine, checks every
//! result, and says what to pick.
//!
//! A `matrix::Matrix` goes through the cells (an encoding with a compression each) and has each one measured
//! (`measure`) in processes of its own (`process`, whose other side is `worker`): this needs the program that calls
//! it, which says in [`Host`] how it is run once more. What is found is plain data (`results`), kept after each cell
//! (`store`) and gone on with if it still holds (`resume`). Reports are made from nothing else: `view` turns samples
//! into figures, `advice` into sentences, and there is one file for each form of report.

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
pub use store::remove_directory;
pub use terminal::Screen;
pub use worker::{Render, Worker};

/// The example of the README is compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
