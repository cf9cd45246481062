//! `brc summarize`: shows what is in each column of tables.

use crate::args::{MemoryArgs, Opened, Threads};
use crate::progress::{Total, watch, watch_table};
use crate::render::terminal_width;
use crate::row_args::{Selection, TableArgs};
use crate::summary::{self, Summarizer, TableSummary};
use crate::{changes, stdout};
use brc_compress::Compressor;
use brc_core::{Error, Progress, Result, Schema, Table, current_schema, with_types};
use brc_encodings::{CreateOptions, Encoding, Input, OpenOptions, Output, convert, writer};
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
Quartiles are values of the column: at least 25, 50 and 75 % of all values do not exceed them. stddev is that of a
sample, over n - 1.

Examples:
  brc summarize visits.csv
  brc summarize visits.parquet --columns price,country --where 'price > 0'
  brc summarize visits.parquet --json | jq '.columns[] | select(.nulls > 0) | .name'";

impl Args {
    fn summarize(&self, table: &dyn Table, query: &Query) -> Result<TableSummary> {
        let (threads, memory, progress) = (self.threads.count(), &self.memory.memory(), &Progress::default());
        watch(progress, Total::Unknown, || Summarizer { table, query, threads, memory, progress }.run())
    }

    /// The selected columns and rows as a temporary buren file: to read one column of it after the other costs less than to
    /// read all of a text for each, and a pipe can be read only once.
    fn copy(&self, table: &dyn Table) -> Result<Box<dyn Table>> {
        let (query, memory, budget) = (self.selection.query()?, self.memory.memory(), self.memory.budget());
        let (threads, buren) = (self.threads.count(), buren()?);
        let workers = budget.workers(threads, budget.row_group_bytes());
        let create = CreateOptions {
            key: Some("none".to_owned()),
            dictionary_bytes: Some(budget.dictionary_bytes()),
            ..CreateOptions::new(Compressor::none())
        };
        let progress = Progress::default();
        let copy = |schema: &Schema| {
            let plan = query.plan(schema)?.within(&memory);
            let rows = plan.selected(table)?;
            let writer = writer(buren, &current_schema(&rows), &create)?;
            let (output, file) = Output::temporary(&memory.temp_dir)?;
            convert(&rows, writer, output, self.table.source.text.reject_log(), workers, &progress)?;
            Ok(file)
        };
        let file = watch_table(&progress, table, || with_types(table, threads, &progress, copy))?;
        buren.open(Input::from_file(table.path().to_owned(), file)?, &OpenOptions::default())
    }
}

fn buren() -> Result<&'static dyn Encoding> {
    brc_encodings::by_name("buren").ok_or_else(|| Error::Usage("there is no encoding for temporary files".to_owned()))
}

/// How wide lines are where there is no terminal.
const USUAL_WIDTH: u16 = 80;

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let budget = args.memory.budget();
    let row_group_bytes = Some(budget.row_group_bytes());
    let Opened { table, .. } = args.table.open_in_row_groups_of(row_group_bytes, &args.table.paths()?)?;
    let table = table.as_ref();
    let summary = match table.reads_by_column() {
        true => args.summarize(table, &args.selection.query()?)?,
        false => args.summarize(args.copy(table)?.as_ref(), &Query::everything())?,
    };
    let text = match args.json {
        true => summary::json(&summary),
        false => summary::text(&summary, terminal_width().unwrap_or(USUAL_WIDTH).into()),
    };
    stdout::print_names(text.as_bytes())?;
    changes::note_nulled(table);
    Ok(())
}
