//! The binary `brc`: turns text tables into binary ones and asks them questions.

#![forbid(unsafe_code)]
// They panic where the stream is closed or full.
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
mod explain;
mod failure;
mod generate;
mod globs;
mod inputs;
mod interrupt;
mod limits;
mod metrics;
mod progress;
mod quantity;
mod render;
mod row_args;
mod stdout;
mod summary;
mod system_memory;
mod temporary_copy;
mod text_args;

use brc_compare::printable;
use brc_core::Error;
use brc_kernels::cpu::Level;
use brc_kernels::memory::{self, Allocator};
use clap::Parser;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(failure::panicked));
    memory::keep_freed();
    memory::when_exhausted(failure::out_of_memory);
    interrupt::take_large_files_for_errors();
    limits::allow_open_files();
    brc_encodings::on_warning(failure::warn);
    if let Err(error) = Level::requested() {
        return failure::report(&Error::Usage(format!("{}: {error}", Level::VARIABLE)).into());
    }
    let outcome = match commands::compare_cell::Args::of_this_process() {
        Some(args) => commands::compare_cell::run(&args).map(|()| ExitCode::SUCCESS),
        None => cli::Cli::parse().run(),
    };
    outcome.unwrap_or_else(|error| failure::report(&error))
}

/// How this process was called, as a shell would take it.
fn command_line() -> String {
    let arguments: Vec<_> =
        std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned()).collect();
    let words = std::iter::once("brc").chain(arguments.iter().map(String::as_str));
    // Only a NUL byte cannot be quoted; no argument has one.
    shlex::try_join(words).unwrap_or_default()
}
