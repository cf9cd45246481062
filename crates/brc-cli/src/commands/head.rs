//! `brc head`: shows the first rows of tables.

use crate::answer::Resources;
use crate::args::{MemoryArgs, Opened, Threads};
use crate::row_args::{OutputArgs, Rows, Selection, TableArgs};
use brc_core::{Progress, Table};
use brc_query::{Plan, Query, QueryResult, SelectItem};

#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    #[command(flatten)]
    rows: Rows,

    #[command(flatten)]
    selection: Selection,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    threads: Threads,

    #[command(flatten)]
    memory: MemoryArgs,

    #[command(flatten)]
    table: TableArgs,
}

const AFTER_HELP: &str = "\
Examples:
  brc head measurements.buren
  brc head measurements.parquet -n 3 --format jsonl
  brc head visits.csv --columns country,price --where 'price > 10'
  brc head 'part-*.csv' --file-name part";

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let query = Query { limit: Some(args.rows.limit), ..args.selection.query()? };
    let paths = args.table.paths()?;
    let Opened { table, .. } = args.table.open(&paths)?;
    let destination = args.output.destination(paths)?;
    let mut resources = Resources::new(args.threads, &args.memory, &args.table.source);
    if query.filter.is_none() {
        // Others would read ahead.
        resources.workers = 1.into();
    }
    destination.answer(&query, table.as_ref(), &resources)?;
    Ok(())
}

/// The first rows of a table. No more of it is read than they need.
///
/// # Errors
/// Those of the scan, unless there are enough rows before.
pub(super) fn first_rows(table: &dyn Table, rows: u64) -> brc_core::Result<(Plan, QueryResult)> {
    let all = Query { select: Some(vec![SelectItem::ALL]), by: Some(Vec::new()), ..Query::default() };
    Query { limit: Some(rows), ..all }.ask(table, 1, &Progress::default())
}
