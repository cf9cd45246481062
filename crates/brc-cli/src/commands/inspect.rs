//! `brc inspect`: shows what a file is made of.

use crate::args::Source;
use crate::describe;
use crate::stdout;
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The file; - is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Print everything, down to each row group, as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    source: Source,
}

const AFTER_HELP: &str = "\
Examples:
  brc inspect measurements.buren
  brc inspect measurements.buren --json | jq '.columns[].scheme'";

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let (encoding, input) = args.source.input(&args.file)?;
    let description = encoding.describe(input, &args.source.open_options())?;
    let text = if args.json { describe::json(&description).into_bytes() } else { describe::text(&description) };
    Ok(stdout::print_names(&text)?)
}
