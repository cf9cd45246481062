//! The interactive prompt.

use crate::failure::Failed;
use crate::files::named;
use crate::run::Runner;
use brc_cli::embedding::{Editor, Typed, Words, message};
use brc_core::interrupt;

/// The commands that end the prompt.
const COMMANDS: &[&str] = &[".exit", ".quit", "\\q"];

fn is_exit(typed: &str) -> bool {
    let typed = typed.trim_end_matches(';').trim();
    COMMANDS.contains(&typed) || ["exit", "quit"].contains(&typed)
}

/// Runs statements from the terminal until its end. Failures are reported, and the prompt continues.
pub(crate) async fn run(runner: Runner, files: Vec<String>) -> Result<(), Failed> {
    let names = files.iter().map(|word| named(word).0).collect();
    let mut editor = Editor::new("brc-sql> ", "sql-history", Words::new(names, COMMANDS))?;
    loop {
        match tokio::task::block_in_place(|| editor.read())? {
            Typed::Line(line) if is_exit(line.trim()) => return Ok(()),
            Typed::Line(line) => {
                interrupt::clear();
                tokio::select! {
                    outcome = runner.run(&line) => if let Err(failed) = outcome { failed.report(); },
                    _ = tokio::signal::ctrl_c() => {
                        // Work on other threads does not end with the statement.
                        interrupt::request();
                        message(format_args!("interrupted"));
                    }
                }
            }
            Typed::Dropped => {}
            Typed::End => return Ok(()),
        }
    }
}
