//! The program `brc`: converts text tables to binary ones and queries them. Other programs can run it in their own
//! process, and use its options, files and failures through [`embedding`].

#![forbid(unsafe_code)]
// These macros panic if the stream is closed or full.
#![deny(clippy::print_stderr, clippy::print_stdout)]

#[macro_use]
mod stderr;

mod answer;
mod args;
mod changes;
mod charsets;
mod cli;
mod colour;
mod commands;
mod describe;
mod editor;
pub mod embedding;
mod explain;
mod failure;
mod generate;
mod globs;
mod inputs;
mod interrupt;
mod invocation;
mod limits;
mod metrics;
mod progress;
mod quantity;
mod render;
mod row_args;
mod stdout;
mod summary;
mod system_memory;
mod target;
mod temporary_copy;
mod text_args;

use brc_compare::printable;
use brc_core::Error;
use brc_kernels::cpu::Level;
use brc_kernels::memory;
use std::ffi::OsString;

pub use invocation::Invocation;

/// Runs the program in this process, which must do nothing else. Returns the exit code, unless it ends the process
/// itself.
pub fn main(invocation: Invocation) -> u8 {
    std::panic::set_hook(Box::new(failure::panicked));
    memory::keep_freed();
    memory::when_exhausted(failure::out_of_memory);
    interrupt::report_file_size_limit_as_error();
    limits::raise_open_file_limit();
    brc_encodings::on_warning(failure::warn);
    if let Err(error) = Level::requested() {
        return failure::report(&Error::Usage(format!("{}: {error}", Level::VARIABLE)).into());
    }
    let arguments = invocation.arguments.clone();
    invocation::set(invocation);
    let outcome = match commands::compare_cell::Args::of(&arguments) {
        Some(args) => commands::compare_cell::run(&args).map(|()| failure::SUCCESS),
        None => {
            let program = std::iter::once(OsString::from("brc"));
            cli::Cli::of(program.chain(arguments)).map_err(Into::into).and_then(cli::Cli::run)
        }
    };
    outcome.unwrap_or_else(|error| failure::report(&error))
}
