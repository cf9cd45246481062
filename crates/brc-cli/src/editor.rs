//! The line editor of the prompt: editing, completion and a persistent history.

use brc_core::{Error, Result};
use brc_query::{AGGREGATES, FUNCTIONS};
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Config, Context, Helper};
use std::io;
use std::path::{Path, PathBuf};

/// The number of lines in the history.
const MAX_HISTORY: usize = 1000;

const KEYWORDS: &[&str] = &[
    "all",
    "and",
    "as",
    "asc",
    "between",
    "by",
    "case",
    "cast",
    "coalesce",
    "date",
    "desc",
    "describe",
    "distinct",
    "else",
    "end",
    "exclude",
    "explain",
    "extract",
    "false",
    "filter",
    "first",
    "from",
    "group",
    "having",
    "if",
    "ilike",
    "in",
    "interval",
    "is",
    "last",
    "like",
    "limit",
    "not",
    "null",
    "nullif",
    "nulls",
    "offset",
    "or",
    "order",
    "select",
    "show",
    "summarize",
    "tables",
    "then",
    "timestamp",
    "true",
    "try_cast",
    "when",
    "where",
];

const COMMANDS: &[&str] =
    &[".exit", ".help", ".mode", ".quit", ".schema", ".tables", ".timer", "\\?", "\\d", "\\dt", "\\q"];

/// The outcome of reading a line.
pub enum Typed {
    /// A command, or statements that end with a semicolon.
    Line(String),
    /// The line was discarded with Ctrl-C.
    Dropped,
    /// Ctrl-D, or the terminal was closed.
    End,
}

/// A line editor with a history file.
pub struct Editor {
    prompt: &'static str,
    inner: rustyline::Editor<Words, FileHistory>,
    history: Option<PathBuf>,
}

impl Editor {
    /// Creates an editor with a prompt, completion of `words`, and a history file of the given name.
    ///
    /// # Errors
    /// Those of the terminal.
    pub fn new(prompt: &'static str, history: &str, words: Words) -> Result<Self> {
        let config = Config::builder().max_history_size(MAX_HISTORY).map_err(terminal)?.build();
        let mut inner = rustyline::Editor::with_config(config).map_err(terminal)?;
        inner.set_helper(Some(words));
        let history = history_file(history);
        if let Some(path) = &history {
            // The file does not exist before the first run.
            let _ = inner.load_history(path);
        }
        Ok(Self { prompt, inner, history })
    }

    /// Reads a command or statement.
    ///
    /// # Errors
    /// Those of the terminal.
    pub fn read(&mut self) -> Result<Typed> {
        match self.inner.readline(self.prompt) {
            Ok(line) => {
                self.remember(&line);
                Ok(Typed::Line(line))
            }
            Err(ReadlineError::Interrupted) => Ok(Typed::Dropped),
            Err(ReadlineError::Eof) => Ok(Typed::End),
            Err(error) => Err(terminal(error)),
        }
    }

    /// Appends a line to the history file immediately, because a signal may end the program. Write errors are ignored.
    fn remember(&mut self, line: &str) {
        if line.trim().is_empty() {
            return;
        }
        let _ = self.inner.add_history_entry(line);
        if let Some(path) = &self.history {
            let directory = path.parent().unwrap_or(path);
            let _ = directory_of_owner().create(directory);
            // New files are readable by their owner only.
            let _ = self.inner.append_history(path);
        }
    }
}

fn terminal(error: ReadlineError) -> Error {
    let error = match error {
        ReadlineError::Io(error) => error,
        other => io::Error::other(other.to_string()),
    };
    Error::io(Path::new("terminal"), "read")(error)
}

/// The path of a file in `$XDG_STATE_HOME/brc`, by default `~/.local/state/brc`.
fn history_file(name: &str) -> Option<PathBuf> {
    let directory = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = directory("XDG_STATE_HOME").or_else(|| Some(directory("HOME")?.join(".local/state")))?;
    Some(state.join("brc").join(name))
}

/// Completes words, and detects the end of statements.
pub struct Words {
    names: Vec<String>,
    commands: &'static [&'static str],
}

impl Words {
    /// Completes names anywhere and commands at the start of a line.
    #[must_use]
    pub fn new(mut names: Vec<String>, commands: &'static [&'static str]) -> Self {
        names.sort_by_key(|name| name.to_lowercase());
        names.dedup();
        Self { names, commands }
    }

    /// Also completes the functions, keywords and commands of brc.
    pub(crate) fn of_brc(mut names: Vec<String>) -> Self {
        let aggregates = AGGREGATES.iter().map(|function| function.name);
        let functions = FUNCTIONS.iter().map(|function| function.name);
        names.extend(aggregates.chain(functions).map(|name| format!("{name}(")));
        names.extend(KEYWORDS.iter().map(|word| (*word).to_owned()));
        Self::new(names, COMMANDS)
    }

    /// The start of the word before the cursor, and its completions.
    fn completions(&self, typed: &str) -> (usize, Vec<String>) {
        let is_first = typed.trim_start().split(char::is_whitespace).count() <= 1;
        if is_first && typed.trim_start().starts_with(['.', '\\']) {
            let start = typed.len() - typed.trim_start().len();
            let commands = self.commands.iter().filter(|command| command.starts_with(&typed[start..]));
            return (start, commands.map(|command| (*command).to_owned()).collect());
        }
        let is_word = |character: char| character.is_alphanumeric() || character == '_';
        let start = typed
            .rfind(|character| !is_word(character))
            .map_or(0, |at| at + typed[at..].chars().next().map_or(0, char::len_utf8));
        let word = typed[start..].to_lowercase();
        if word.is_empty() {
            return (start, Vec::new());
        }
        // A quoted name matches by its content.
        let is_it = |name: &&String| name.trim_start_matches('"').to_lowercase().starts_with(&word);
        let start = if typed[..start].ends_with('"') { start - 1 } else { start };
        (start, self.names.iter().filter(is_it).cloned().collect())
    }
}

impl Completer for Words {
    type Candidate = String;

    fn complete(&self, line: &str, cursor: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        Ok(self.completions(line.get(..cursor).unwrap_or(line)))
    }
}

impl Validator for Words {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(if is_complete(context.input()) { ValidationResult::Valid(None) } else { ValidationResult::Incomplete })
    }
}

impl Hinter for Words {
    type Hint = String;
}

impl Highlighter for Words {}

impl Helper for Words {}

/// Whether the input can be run: a command, empty input, or statements whose last semicolon is neither quoted nor in a
/// comment.
fn is_complete(typed: &str) -> bool {
    let text = typed.trim();
    let is_command = text.starts_with(['.', '\\']) || ["quit", "exit", "help"].contains(&text);
    text.is_empty() || is_command || ends_statement(text)
}

fn ends_statement(mut text: &str) -> bool {
    let mut ends = false;
    while let Some(first) = text.chars().next() {
        text = if let Some(comment) = text.strip_prefix("--") {
            comment.split_once('\n').map_or("", |(_, rest)| rest)
        } else if let Some(comment) = text.strip_prefix("/*") {
            let Some((_, rest)) = comment.split_once("*/") else { return false };
            rest
        } else if ['\'', '"'].contains(&first) {
            ends = false;
            let Some((_, rest)) = text[1..].split_once(first) else { return false };
            rest
        } else {
            ends = if first.is_whitespace() { ends } else { first == ';' };
            &text[first.len_utf8()..]
        };
    }
    ends
}

/// A builder of directories that are accessible to their owner only.
fn directory_of_owner() -> std::fs::DirBuilder {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_end_with_a_semicolon() {
        for text in [
            "",
            " ",
            "select 1;",
            "select 1;  -- done",
            "a;\n/* b */",
            "\\d",
            ".mode csv",
            "quit",
            "select ';';",
            "-- x\n;",
        ] {
            assert!(is_complete(text), "{text}");
        }
        for text in [
            "select 1",
            "select ';",
            "select 1 -- ;",
            "/* ;",
            "select ';'",
            "select \";\"",
            "a; select",
            "-- ;",
            "a - b",
            "; - ",
        ] {
            assert!(!is_complete(text), "{text}");
        }
    }

    #[test]
    fn words_are_completed() {
        let words = Words::of_brc(vec!["city".to_owned(), "\"wind speed\"".to_owned(), "Öl".to_owned()]);
        let completed = |typed: &str| {
            let (start, found) = words.completions(typed);
            found.into_iter().map(|word| format!("{}{word}", &typed[..start])).collect::<Vec<_>>()
        };
        assert_eq!(completed("select ci"), ["select city"]);
        assert_eq!(completed("SELECT max(CIT"), ["SELECT max(city"]);
        assert_eq!(completed("select count(*),wi"), ["select count(*),\"wind speed\""]);
        assert_eq!(completed("select \"wi"), ["select \"wind speed\""]);
        assert_eq!(completed("select ö"), ["select Öl"]);
        assert_eq!(completed("summ"), ["summarize"]);
        assert_eq!(completed("select strp"), ["select strpos("]);
        assert_eq!(completed("select "), [""; 0]);
        assert_eq!(completed(".mo"), [".mode"]);
        assert_eq!(completed("\\d"), ["\\d", "\\dt"]);
    }
}
