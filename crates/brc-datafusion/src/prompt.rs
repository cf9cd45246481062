//! Statements that are typed.

use crate::failure::Failed;
use crate::files::named;
use crate::run::Runner;
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Completer, Config, Editor, Helper, Highlighter, Hinter};
use std::path::PathBuf;

const PROMPT: &str = "brc-sql> ";

/// Knows where a statement ends, and which tables there are.
#[derive(Completer, Helper, Highlighter, Hinter)]
struct Statements {
    #[rustyline(Completer)]
    names: Names,
}

/// The names of tables.
struct Names(Vec<String>);

impl rustyline::completion::Completer for Names {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        cursor: usize,
        _: &rustyline::Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        let typed = line.get(..cursor).unwrap_or(line);
        let is_word = |character: char| character.is_alphanumeric() || character == '_';
        let start = typed
            .rfind(|character| !is_word(character))
            .map_or(0, |at| at + typed[at..].chars().next().map_or(0, char::len_utf8));
        let word = &typed[start..];
        let found = self.0.iter().filter(|name| !word.is_empty() && name.starts_with(word)).cloned();
        Ok((start, found.collect()))
    }
}

impl Validator for Statements {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let typed = context.input().trim();
        let is_whole = typed.is_empty() || typed.ends_with(';') || is_exit(typed);
        Ok(if is_whole { ValidationResult::Valid(None) } else { ValidationResult::Incomplete })
    }
}

fn is_exit(typed: &str) -> bool {
    matches!(typed.trim_end_matches(';').trim(), "exit" | "quit" | "\\q" | ".exit" | ".quit")
}

/// Runs what is typed until there is no more. What fails is said, and the next one may be typed.
pub(crate) async fn run(runner: Runner, files: Vec<String>) -> Result<(), Failed> {
    let terminal = |error: ReadlineError| Failed::usage(format!("terminal: {error}"));
    let config = Config::builder().max_history_size(10_000).map_err(terminal)?.build();
    let mut editor = Editor::<Statements, FileHistory>::with_config(config).map_err(terminal)?;
    let names = files.iter().map(|word| named(word).0).collect();
    editor.set_helper(Some(Statements { names: Names(names) }));
    let history = history();
    if let Some(path) = &history {
        // There is none before the first run.
        let _ = editor.load_history(path);
    }
    loop {
        match tokio::task::block_in_place(|| editor.readline(PROMPT)) {
            Ok(line) if is_exit(line.trim()) => return Ok(()),
            Ok(line) => {
                remember(&mut editor, &line, history.as_ref());
                tokio::select! {
                    outcome = runner.run(&line) => if let Err(failed) = outcome { failed.report(); },
                    _ = tokio::signal::ctrl_c() => eprintln!("interrupted"),
                }
            }
            Err(ReadlineError::Interrupted) => {}
            Err(ReadlineError::Eof) => return Ok(()),
            Err(error) => return Err(terminal(error)),
        }
    }
}

/// A history that cannot be written is none.
fn remember(editor: &mut Editor<Statements, FileHistory>, line: &str, history: Option<&PathBuf>) {
    if line.trim().is_empty() {
        return;
    }
    let _ = editor.add_history_entry(line);
    if let Some(path) = history {
        let _ = path.parent().map(std::fs::create_dir_all);
        let _ = editor.append_history(path);
    }
}

/// `$XDG_STATE_HOME/brc/sql-history`, or that under `~/.local/state`.
fn history() -> Option<PathBuf> {
    let directory = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = directory("XDG_STATE_HOME").or_else(|| Some(directory("HOME")?.join(".local/state")))?;
    Some(state.join("brc/sql-history"))
}
