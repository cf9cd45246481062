//! The program `brc`, whose results the tests compare with those of `brc-timely`.

#![forbid(unsafe_code)]

use brc_cli::Invocation;
use brc_kernels::memory::Allocator;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator::SYSTEM;

fn main() -> ExitCode {
    ExitCode::from(brc_cli::main(Invocation::of_this_process()))
}
