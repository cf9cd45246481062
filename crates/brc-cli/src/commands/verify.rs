//! `brc verify`: checks files.

use crate::args::{Source, Threads};
use crate::failure;
use crate::progress::{Total, watch};
use crate::{quantity, stdout};
use brc_core::{Error, Progress, Result};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The files; - is standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    #[command(flatten)]
    threads: Threads,

    #[command(flatten)]
    source: Source,
}

const AFTER_HELP: &str = "\
The exit code is 4 if any file is corrupt, otherwise that of the first failure.

Examples:
  brc verify measurements.buren
  brc verify backup/*.buren";

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut worst = None;
    for file in &args.files {
        match verify(args, file) {
            Ok(line) => stdout::print_names(line.as_bytes())?,
            Err(error) => {
                let is_corrupt = matches!(error, Error::Corrupt { .. });
                let code = failure::report(&error.into());
                if is_corrupt || worst.is_none() {
                    worst = Some(code);
                }
            }
        }
    }
    Ok(worst.unwrap_or(ExitCode::SUCCESS))
}

fn verify(args: &Args, file: &Path) -> Result<String> {
    let (encoding, input) = args.source.input(file)?;
    let total = input.length().map_or(Total::Unknown, Total::Bytes);
    let progress = Progress::default();
    let options = args.source.open_options();
    let verified = watch(&progress, total, || encoding.verify(input, &options, args.threads.count(), &progress))?;
    let (rows, size) = (quantity::count(verified.rows), quantity::bytes(verified.bytes));
    Ok(format!("{}: OK ({}, {rows} rows, {size})\n", file.display(), encoding.name()))
}
