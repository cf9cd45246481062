//! Writes query results: to standard output in some format, or to a file in any encoding.

use crate::args::{MemoryArgs, Source, Threads};
use crate::progress::watch_table;
use crate::render::{Format, default_format, render};
use crate::target::{encoding_of, target_compression};
use crate::text_args::TextArgs;
use crate::{changes, charsets, stdout};
use brc_core::{BatchWriter, Progress, Result, Table, with_types};
use brc_encodings::brc_text::Form;
use brc_encodings::{
    CreateOptions, Encoding, Output, OutputOptions, RejectLog, Workers, convert, delimiter_by_extension, writer,
};
use brc_query::{Answer, Memory, Plan, Query, ScanTotals};
use std::path::{Path, PathBuf};

/// The number of rows that a thread formats at a time.
const FORMATTED_ROWS: usize = 1 << 15;

/// The destination of a result.
pub(crate) enum Destination {
    /// Standard output, in the given format or the default one.
    Printed(Option<&'static dyn Format>),
    /// A file.
    File(OutputFile),
}

/// A file to write.
pub(crate) struct OutputFile {
    path: PathBuf,
    encoding: &'static dyn Encoding,
    create: CreateOptions,
    options: OutputOptions,
}

impl OutputFile {
    /// Describes an output file. Its name determines the compression, and the encoding unless `to` is given.
    ///
    /// # Errors
    /// If the name has no known extension, or the file cannot be written.
    pub(crate) fn new(path: &Path, to: Option<&'static dyn Encoding>, options: OutputOptions) -> Result<Self> {
        let encoding = encoding_of(path, to)?;
        let default = CreateOptions::new(target_compression(path, None, encoding)?);
        let create = CreateOptions { delimiter: delimiter_by_extension(path), ..default };
        // Report an unwritable output before running the query.
        drop(Output::create(path, &options)?);
        Ok(Self { path: path.to_owned(), encoding, create, options })
    }

    /// Replaces the options of the encoding.
    pub(crate) fn created_with(self, create: CreateOptions) -> Self {
        Self { create, ..self }
    }
}

/// The resources for running a query.
pub(crate) struct Resources<'a> {
    pub(crate) workers: Workers,
    pub(crate) memory: Memory,
    pub(crate) text: &'a TextArgs,
}

impl<'a> Resources<'a> {
    pub(crate) fn new(threads: Threads, memory: &MemoryArgs, source: &'a Source) -> Self {
        Self { workers: threads.count().into(), memory: memory.memory(), text: &source.text }
    }
}

impl Destination {
    /// Runs a query, writes its result, and notes on standard error which values were read as null. Returns the totals
    /// of the scan.
    ///
    /// # Errors
    /// Those of the query, the table and the destination.
    pub(crate) fn answer(&self, query: &Query, table: &dyn Table, resources: &Resources<'_>) -> Result<ScanTotals> {
        let (progress, threads) = (Progress::default(), resources.workers.threads);
        let plan = watch_table(&progress, table, || query.bind(table, threads, &progress))?;
        self.answer_bound(&plan, query, table, resources, &progress)
    }

    /// Like [`Destination::answer`], for a query that is already bound to the table.
    ///
    /// # Errors
    /// As for [`Destination::answer`].
    pub(crate) fn answer_bound(
        &self,
        plan: &Plan,
        query: &Query,
        table: &dyn Table,
        resources: &Resources<'_>,
        progress: &Progress,
    ) -> Result<ScanTotals> {
        let threads = resources.workers.threads;
        let totals = if plan.is_row_by_row() {
            watch_table(progress, table, || self.stream(query, table, resources, progress))?
        } else {
            let answer = || query.ask_within(table, threads, &resources.memory, progress);
            let (plan, answer) = watch_table(progress, table, answer)?;
            self.write(&plan, answer, threads)?
        };
        changes::note_read(table, progress);
        if query.selects_all() {
            changes::note_unread(table);
        }
        changes::note_sizes_of_text(query, table);
        changes::note_numbers(query, table);
        charsets::note_mismatches(query, table);
        Ok(totals)
    }

    /// Runs a [row-by-row](Plan::is_row_by_row) plan, and writes the rows as they are read.
    fn stream(
        &self,
        query: &Query,
        table: &dyn Table,
        resources: &Resources<'_>,
        progress: &Progress,
    ) -> Result<ScanTotals> {
        let Resources { workers, memory, text } = resources;
        with_types(table, workers.threads, progress, |schema| {
            let plan = query.plan(schema)?.within(memory);
            let rows = plan.selected(table)?;
            let writer = self.writer(&plan, &rows)?;
            convert(&rows, writer, self.output()?, text.reject_log(), *workers, progress)?;
            Ok(rows.totals())
        })
    }

    /// Writes a complete result. Returns the totals of the scan.
    ///
    /// # Errors
    /// If the destination cannot hold it or cannot be written.
    pub(crate) fn write(&self, plan: &Plan, answer: Answer, threads: usize) -> Result<ScanTotals> {
        let answer = match self {
            Self::Printed(_) if answer.is_in_memory() && !self.format(plan).expresses_all() => {
                let mut text = Vec::new();
                render(self.format(plan), plan, &answer, &mut text)?;
                let print = if self.format(plan).is_printable() { stdout::print } else { stdout::print_names };
                print(&text)?;
                return Ok(answer.totals());
            }
            Self::Printed(_) => answer.with_splits_of(FORMATTED_ROWS),
            // The bytes of a file depend on the splits.
            Self::File(_) => answer.in_even_splits(threads)?,
        };
        let writer = self.writer(plan, &answer)?;
        convert(&answer, writer, self.output()?, RejectLog::none(), threads, &Progress::default())?;
        Ok(answer.totals())
    }

    fn format(&self, plan: &Plan) -> &'static dyn Format {
        match self {
            Self::Printed(Some(format)) => *format,
            Self::Printed(None) | Self::File(_) => default_format(plan),
        }
    }

    fn writer(&self, plan: &Plan, table: &dyn Table) -> Result<Box<dyn BatchWriter>> {
        // Rows that are written as text again keep the text form of their source.
        let schema = Form::carry(plan.schema(), &plan.table_columns(), table.schema().clone());
        match self {
            Self::Printed(_) => {
                let format = self.format(plan);
                format.check(plan)?;
                let writer = format.text_writer(&schema).unwrap_or_else(|| format.writer_of(table));
                Ok(if format.is_binary() || format.is_printable() { writer } else { stdout::printed(writer) })
            }
            Self::File(file) => writer(file.encoding, &schema, &file.create),
        }
    }

    fn output(&self) -> Result<Output> {
        match self {
            Self::Printed(_) => Output::create(Path::new("-"), &OutputOptions::default()),
            Self::File(file) => Output::create(&file.path, &file.options),
        }
    }
}
