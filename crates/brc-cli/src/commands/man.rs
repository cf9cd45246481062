//! `brc man`: writes the manual pages.

use crate::cli::Cli;
use brc_core::Error;
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use std::io::Write;
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The directory for the pages; created if necessary
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

const AFTER_HELP: &str = "\
Examples:
  brc man ~/.cargo/share/man/man1
  man brc-query";

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    std::fs::create_dir_all(&args.directory).map_err(Error::io(&args.directory, "create"))?;
    let mut brc = Cli::command().disable_help_subcommand(true);
    brc.build();
    let commands = brc.get_subcommands().filter(|command| !command.is_hide_set());
    for command in commands.chain([&brc]) {
        let man = Man::new(command.clone());
        let path = args.directory.join(man.get_filename());
        let page = page(command, &man).map_err(Error::io(&path, "write"))?;
        std::fs::write(&path, page).map_err(Error::io(&path, "write"))?;
    }
    Ok(())
}

/// The page of a command. Its synopsis is the usage line, because that of [`Man::render`] lists every option.
fn page(command: &Command, man: &Man) -> std::io::Result<Vec<u8>> {
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").replace('\\', "\\e").replace('-', "\\-");
    writeln!(page, ".SH SYNOPSIS\n{usage}")?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    man.render_extra_section(&mut page)?;
    if command.get_version().is_some() {
        man.render_version_section(&mut page)?;
    }
    Ok(page)
}
