//! `brc completions`: prints a completion script for a shell.

use crate::cli::Cli;
use clap::CommandFactory;

#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The shell
    shell: clap_complete::Shell,
}

const AFTER_HELP: &str = "\
The commands below also create the directory; open a new shell to use the completions. For zsh, ~/.zshrc needs:
  fpath=(~/.zfunc $fpath); autoload -Uz compinit; compinit

Examples:
  brc completions bash | install -Dm644 /dev/stdin ~/.local/share/bash-completion/completions/brc
  brc completions zsh | install -Dm644 /dev/stdin ~/.zfunc/_brc
  brc completions fish | install -Dm644 /dev/stdin ~/.config/fish/completions/brc.fish";

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "brc", &mut script);
    Ok(crate::stdout::print(&script)?)
}
