//! `brc man`: writes the manual pages.

use crate::cli::Cli;
use brc_core::Error;
use clap::CommandFactory;
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The directory to write them to; made if it is not there
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

const AFTER_HELP: &str = "\
Examples:
  brc man ~/.local/share/man/man1
  man brc-query";

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    std::fs::create_dir_all(&args.directory).map_err(Error::io(&args.directory, "create"))?;
    clap_mangen::generate_to(Cli::command(), &args.directory).map_err(Error::io(&args.directory, "write"))?;
    Ok(())
}
