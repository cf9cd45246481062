//! Runs statements in sequence, over tables that stay open.

use super::Args;
use super::tables::{OpenTable, Tables};
use crate::answer::Resources;
use crate::commands::{schema, summarize::Summarizing};
use crate::inputs::sources;
use crate::progress::watch_table;
use crate::render::{Cells, Format, Header, Look, json_string, lay_out};
use crate::{colour, explain, printable, stdout};
use brc_core::{Error, Progress, Result, current_schema};
use brc_query::{Action, Query, Statement, TableName};
use std::path::PathBuf;
use std::time::Instant;

/// The state shared by statements.
pub(super) struct Session<'a> {
    args: &'a Args,
    pub(super) tables: Tables<'a>,
    /// The output format; the default if `None`.
    pub(super) format: Option<&'static dyn Format>,
    /// Whether to report the time of each statement.
    pub(super) timings: bool,
    start: Instant,
}

impl<'a> Session<'a> {
    /// Creates a session for one statement, or for several over the same tables.
    ///
    /// # Errors
    /// If a pattern matches no file.
    pub(super) fn new(args: &'a Args, inputs: &[PathBuf], is_for_several: bool) -> Result<Self> {
        let tables = Tables::new(args, inputs, is_for_several)?;
        let (format, timings) = (args.output.format(), args.timings);
        Ok(Self { args, tables, format, timings, start: Instant::now() })
    }

    /// Whether the result of the query over the command-line table is that of the One Billion Row Challenge.
    ///
    /// # Errors
    /// If the table cannot be read.
    pub(super) fn is_one_brc(&mut self, query: &Query) -> Result<bool> {
        if self.tables.list().is_empty() {
            return Ok(false);
        }
        let schema = current_schema(self.tables.get(None)?.opened.table.as_ref());
        Ok(query.plan(&schema).is_ok_and(|plan| plan.is_one_brc()))
    }

    /// Runs a statement and prints its result.
    ///
    /// # Errors
    /// Errors in the statement, its table or the output.
    pub(super) fn run(&mut self, statement: &Statement) -> Result<()> {
        self.start = Instant::now();
        let table = statement.table.as_ref();
        match &statement.action {
            Action::Select(query) => self.answer(query, table, self.args.explain),
            Action::Explain(query) => self.answer(query, table, true),
            Action::Describe => {
                let is_json = self.describes_in_json("describe")?;
                let table = self.tables.get(table)?.opened.table.as_ref();
                schema::show(table, self.args.threads, is_json)
            }
            Action::Summarize => {
                let is_json = self.describes_in_json("summarize")?;
                let Args { threads, memory, source, .. } = self.args;
                let summarizing = Summarizing { threads: *threads, memory, source, is_json };
                let table = self.tables.get(table)?.opened.table.as_ref();
                summarizing.show(table, &Query::everything())
            }
            Action::ShowTables => self.show_tables(),
        }
    }

    /// Runs a query over a table and writes its result.
    ///
    /// # Errors
    /// As for [`Session::run`].
    pub(super) fn answer(&mut self, query: &Query, table: Option<&TableName>, explains: bool) -> Result<()> {
        let Args { threads, memory, source, output, no_statistics, .. } = self.args;
        let query = Query { statistics: !no_statistics, timings: self.timings, ..query.clone() };
        let OpenTable { files, opened } = self.tables.get(table)?;
        let table = opened.table.as_ref();
        let destination = output.destination_or(self.format, sources(files))?;
        let resources = Resources::new(*threads, memory, source);
        let progress = Progress::default();
        let plan = watch_table(&progress, table, || query.bind(table, threads.count(), &progress))?;
        if explains {
            explain::before(opened.encoding, table, &plan);
        }
        let totals = destination.answer_bound(&plan, &query, table, &resources, &progress)?;
        if explains {
            explain::after(table, &totals);
        }
        if self.timings {
            explain::timings(&totals, self.start.elapsed());
        }
        Ok(())
    }

    /// Whether to print an empty line between results, for formats that people read.
    pub(super) fn separates_answers(&self) -> bool {
        ["table", "vertical", "markdown"].contains(&self.format.map_or("table", |format| format.name()))
    }

    /// Whether to print a description as JSON rather than text. Other formats and `-o` are errors.
    fn describes_in_json(&self, word: &str) -> Result<bool> {
        if self.args.output.file().is_some() {
            return Err(Error::Usage(format!("--output saves the result of select; {word} only prints")));
        }
        match (self.format.map(Format::name), self.args.output.format()) {
            (Some("json" | "json-array"), _) => Ok(true),
            (None | Some("table" | "vertical"), _) | (Some(_), None) => Ok(false),
            (Some(name), Some(_)) => {
                Err(Error::Usage(format!("{word} prints text, or JSON with --format json; not {name}")))
            }
        }
    }

    /// Prints the files of the command line with their table names.
    fn show_tables(&self) -> Result<()> {
        if self.describes_in_json("show tables")? {
            let table = |(name, files): (String, String)| {
                format!("  {{\"name\": {}, \"files\": {}}}", json_string(&name), json_string(&files))
            };
            let tables: Vec<String> = self.tables.list().into_iter().map(table).collect();
            return stdout::print_names(format!("[\n{}\n]\n", tables.join(",\n")).as_bytes());
        }
        let mut cells = Cells::default();
        for (name, file) in self.tables.list() {
            cells.push(&printable::line(name.as_bytes()));
            cells.push(&printable::line(file.as_bytes()));
        }
        let mut text = Vec::new();
        let look = Look { width: None, colour: colour::of_stdout() };
        lay_out(&["name", "files"].map(Header::left), &cells, look, &mut text);
        stdout::print(&text)
    }
}
