//! `brc completions`: prints a script that makes a shell complete `brc`'s options.

use crate::cli::Cli;
use clap::CommandFactory;

#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The shell
    shell: clap_complete::Shell,
}

const AFTER_HELP: &str = "\
Examples:
  brc completions bash > ~/.local/share/bash-completion/completions/brc
  brc completions zsh > ~/.zfunc/_brc
  brc completions fish > ~/.config/fish/completions/brc.fish";

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "brc", &mut script);
    Ok(crate::stdout::print(&script)?)
}
