//! Runs statements one after the other, over tables that stay open.

use super::Args;
use super::tables::{OpenTable, Tables};
use crate::answer::Resources;
use crate::commands::{schema, summarize::Summarizing};
use crate::inputs::paths;
use crate::progress::watch_table;
use crate::render::{Cells, Format, Header, Look, lay_out};
use crate::{colour, explain, printable, stdout};
use brc_core::{Error, Progress, Result, current_schema};
use brc_query::{Action, Query, Statement, TableName};
use std::path::PathBuf;
use std::time::Instant;

/// What statements run in.
pub(super) struct Session<'a> {
    args: &'a Args,
    pub(super) tables: Tables<'a>,
    /// How answers are printed; the usual format if `None`.
    pub(super) format: Option<&'static dyn Format>,
    /// Whether each answer is followed by the time it took.
    pub(super) timings: bool,
    start: Instant,
}

impl<'a> Session<'a> {
    /// A session for one statement, or for several of the same tables.
    ///
    /// # Errors
    /// If a pattern matches no file.
    pub(super) fn new(args: &'a Args, inputs: &[PathBuf], is_for_several: bool) -> Result<Self> {
        let tables = Tables::new(args, inputs, is_for_several)?;
        let (format, timings) = (args.output.format(), args.timings);
        Ok(Self { args, tables, format, timings, start: Instant::now() })
    }

    /// Whether a query over the table of the command line has the answer of the One Billion Row Challenge.
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

    /// Runs a statement and prints what it gives.
    ///
    /// # Errors
    /// What is wrong with it, with its table or with the output.
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

    /// Answers a query over a table.
    ///
    /// # Errors
    /// As for [`Session::run`].
    pub(super) fn answer(&mut self, query: &Query, table: Option<&TableName>, explains: bool) -> Result<()> {
        let Args { threads, memory, source, output, no_statistics, .. } = self.args;
        let query = Query { statistics: !no_statistics, timings: self.timings, ..query.clone() };
        let OpenTable { files, opened } = self.tables.get(table)?;
        let table = opened.table.as_ref();
        let destination = output.destination_or(self.format, paths(files))?;
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

    /// Whether answers are for people, who see better where one ends if there is an empty line.
    pub(super) fn separates_answers(&self) -> bool {
        ["table", "vertical", "markdown"].contains(&self.format.map_or("table", |format| format.name()))
    }

    /// Whether a description is printed as JSON, else as text: it has no other formats, and is no table for `-o`.
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

    /// The files of the command line, and how statements may call them.
    fn show_tables(&self) -> Result<()> {
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
