//! `brc verify`: checks files for damage.

use crate::args::{Source, Threads};
use crate::failure::{code_of, worst};
use crate::inputs::expand;
use crate::progress::{Total, watch};
use crate::{changes, quantity, stdout};
use brc_core::{Progress, Result, decimal};
use brc_encodings::Verified;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The files; - is standard input, and of a directory or a quoted 'part-*.buren' all files are checked
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
  brc verify backup/*.buren
  brc verify backup/";

pub(crate) fn run(args: &Args) -> u8 {
    code_of(|code| print_all(args, code))
}

/// Verifies all files. `code` is that of the files verified so far.
///
/// # Errors
/// If standard output fails.
fn print_all(args: &Args, code: &mut Option<(u8, bool)>) -> Result<()> {
    for argument in &args.files {
        let files = match expand(std::slice::from_ref(argument)) {
            Ok(files) => files,
            Err(error) => {
                *code = worst(*code, error);
                continue;
            }
        };
        let mut sum = Sum::default();
        for file in &files {
            match verify(args, &file.path) {
                Ok((line, verified)) => {
                    stdout::print_names(line.as_bytes())?;
                    sum.add(&verified);
                }
                Err(error) => *code = worst(*code, error),
            }
        }
        if files.iter().any(|file| file.path != *argument) {
            stdout::print_names(sum.line(argument, files.len() as u64).as_bytes())?;
        }
    }
    Ok(())
}

/// The totals of the undamaged files of a directory or pattern.
#[derive(Default)]
struct Sum {
    files: u64,
    rows: u64,
    bytes: u64,
}

impl Sum {
    fn add(&mut self, verified: &Verified) {
        self.files += 1;
        self.rows += verified.rows;
        self.bytes += verified.bytes;
    }

    fn line(&self, argument: &Path, found: u64) -> String {
        let (rows, size) = (decimal::counted(self.rows, "row"), quantity::bytes(self.bytes));
        let files = match found - self.files {
            0 => decimal::counted(found, "file"),
            _ => format!("{} of {}", quantity::count(self.files), decimal::counted(found, "file")),
        };
        format!("{}: {files} OK ({rows}, {size})\n", argument.display())
    }
}

fn verify(args: &Args, file: &Path) -> Result<(String, Verified)> {
    let (encoding, input) = args.source.input(file)?;
    let total = input.length().map_or(Total::Unknown, Total::Bytes);
    let progress = Progress::default();
    let options = args.source.open_options()?;
    let verified = watch(&progress, total, || encoding.verify(input, &options, args.threads.count(), &progress))?;
    changes::note_left_out(&progress);
    let (rows, size) = (decimal::counted(verified.rows, "row"), quantity::bytes(verified.bytes));
    let remark = verified.remark.map(|remark| format!("; {remark}")).unwrap_or_default();
    Ok((format!("{}: OK ({}, {rows}, {size}){remark}\n", file.display(), encoding.name()), verified))
}
