//! The SQL prompt: reads and runs statements in sequence, over tables that stay open.

use super::session::Session;
use crate::editor::{Editor, Typed, Words};
use crate::render::{format_by_name, format_names};
use crate::{failure, interrupt, stdout};
use brc_core::{Error, Result, current_schema};
use brc_query::Statement;
use std::time::Instant;

const HELP: &str = "\
Statements end with a semicolon and may have several lines:
  select … from t where … group by … order by … limit …;
  from 'other.csv';  describe;  summarize;  show tables;  explain select …;

Commands take one line:
  \\d [TABLE]         show the columns
  \\dt, .tables       list the tables
  .mode [FORMAT]     set the output format
  .timer on|off      report how long each statement takes
  \\?, .help          show this help
  \\q, .quit          end, as Ctrl-D does

Tab completes names. Ctrl-C discards the line, or ends the statement that runs; pressed twice, it ends brc.
brc functions lists all functions and operators.
";

/// What to do after a line.
#[derive(PartialEq, Eq)]
enum Next {
    Line,
    End,
}

/// Reads statements and commands from the terminal until a command or the end of input ends the prompt. Failures are
/// reported and do not end it.
///
/// # Errors
/// Those of the terminal.
pub(super) fn run(mut session: Session<'_>) -> Result<()> {
    let mut prompt = Prompt { times: false };
    let mut editor = Editor::new("brc> ", "history", Words::of_brc(names(&mut session)))?;
    interrupt::end_statements();
    stdout::print(b"Statements end with a semicolon; \\? shows help, \\q ends.\n")?;
    loop {
        let line = match editor.read()? {
            Typed::Line(line) => line,
            Typed::Dropped => continue,
            Typed::End => return Ok(()),
        };
        match prompt.execute(&line, &mut session) {
            Ok(Next::End) => return Ok(()),
            Ok(Next::Line) => {}
            Err(error) => drop(failure::report(&error.into())),
        }
    }
}

/// The names of tables and columns, for completion.
fn names(session: &mut Session<'_>) -> Vec<String> {
    let tables = session.tables.list().into_iter().map(|(name, _)| name);
    let mut names: Vec<String> = tables.collect();
    if let Ok(table) = session.tables.get(None) {
        let schema = current_schema(table.opened.table.as_ref());
        names.extend(schema.fields().iter().map(|field| brc_core::identifier::in_sql(&field.name).into_owned()));
    }
    names
}

struct Prompt {
    /// Whether to report the time of each statement.
    times: bool,
}

impl Prompt {
    /// Runs a command or statements.
    fn execute(&mut self, line: &str, session: &mut Session<'_>) -> Result<Next> {
        let line = line.trim();
        let (command, argument) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let argument = argument.trim().trim_end_matches(';');
        match command.trim_end_matches(';') {
            "" => {}
            "\\q" | ".quit" | ".exit" | ".q" | "quit" | "exit" => return Ok(Next::End),
            "\\?" | "\\h" | ".help" | "help" => stdout::print(HELP.as_bytes())?,
            "\\d" | ".schema" => self.run(&format!("describe {argument}"), session)?,
            "\\dt" | "\\l" | ".tables" => self.run("show tables", session)?,
            ".mode" => set_mode(argument, session)?,
            ".timer" => self.times = is_on(argument)?,
            command if line.starts_with(['\\', '.']) => {
                return Err(Error::Usage(format!("unknown command '{command}'; \\? lists them")));
            }
            _ => self.run(line, session)?,
        }
        Ok(Next::Line)
    }

    fn run(&self, text: &str, session: &mut Session<'_>) -> Result<()> {
        interrupt::resume();
        for statement in Statement::parse_all(text)? {
            let start = Instant::now();
            session.run(&statement)?;
            if self.times {
                message!("time {:.3} s", start.elapsed().as_secs_f64());
            }
        }
        Ok(())
    }
}

fn set_mode(name: &str, session: &mut Session<'_>) -> Result<()> {
    let names = format_names().join(", ");
    if name.is_empty() {
        let current = session.format.map_or("table", |format| format.name());
        return stdout::print(format!("{current} (others: {names})\n").as_bytes());
    }
    let Some(format) = format_by_name(name) else {
        return Err(Error::Usage(format!("unknown format '{name}' (formats: {names})")));
    };
    stdout::check(format)?;
    session.format = Some(format);
    Ok(())
}

fn is_on(word: &str) -> Result<bool> {
    match word {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(Error::Usage(".timer needs on or off".to_owned())),
    }
}
