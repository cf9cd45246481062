//! `brc summarize`: shows what is in each column of tables.

use crate::args::{MemoryArgs, Opened, Source, Threads};
use crate::progress::{Total, watch};
use crate::render::terminal_width;
use crate::row_args::{Selection, TableArgs};
use crate::summary::{self, Summarizer, TableSummary};
use crate::temporary_copy::copy;
use crate::{changes, stdout};
use brc_core::{Progress, Result, Table};
use brc_query::Query;

#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    #[command(flatten)]
    selection: Selection,

    /// Print an object with the number of rows and an array of columns
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    threads: Threads,

    #[command(flatten)]
    memory: MemoryArgs,

    #[command(flatten)]
    table: TableArgs,
}

const AFTER_HELP: &str = "\
Quartiles are values of the column: at least 25, 50 and 75 % of all values do not exceed them. stddev is the sample \
standard deviation.

Examples:
  brc summarize visits.csv
  brc summarize visits.parquet --columns price,country --where 'price > 0'
  brc summarize visits.parquet --json | jq '.columns[] | select(.nulls > 0) | .name'";

/// The options of a summary.
pub(super) struct Summarizing<'a> {
    pub(super) threads: Threads,
    pub(super) memory: &'a MemoryArgs,
    pub(super) source: &'a Source,
    pub(super) is_json: bool,
}

impl Summarizing<'_> {
    /// Prints the summary of each column, over the rows that the query selects.
    ///
    /// # Errors
    /// Those of the query, the table and standard output.
    pub(super) fn show(&self, table: &dyn Table, query: &Query) -> Result<()> {
        let summary = match table.reads_by_column() {
            true => self.summarize(table, query)?,
            false => self.summarize(
                copy(table, query, self.threads, self.memory, self.source)?.as_ref(),
                &Query::everything(),
            )?,
        };
        let text = match self.is_json {
            true => summary::json(&summary),
            false => summary::text(&summary, terminal_width().unwrap_or(DEFAULT_WIDTH).into()),
        };
        stdout::print_names(text.as_bytes())?;
        changes::note_guesses(table);
        changes::note_unread(table);
        Ok(())
    }

    fn summarize(&self, table: &dyn Table, query: &Query) -> Result<TableSummary> {
        let (threads, memory, progress) = (self.threads.count(), &self.memory.memory(), &Progress::default());
        watch(progress, Total::Unknown, || Summarizer { table, query, threads, memory, progress }.run())
    }
}

/// The line width if there is no terminal.
const DEFAULT_WIDTH: u16 = 80;

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let Args { selection, json, threads, memory, table } = args;
    let row_group_bytes = Some(memory.budget().row_group_bytes());
    let Opened { table: opened, .. } = table.open_in_row_groups_of(row_group_bytes, &table.found()?)?;
    let summarizing = Summarizing { threads: *threads, memory, source: &table.source, is_json: *json };
    Ok(summarizing.show(opened.as_ref(), &selection.query()?)?)
}
