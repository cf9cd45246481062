//! `brc head`: shows the first rows of tables.

use crate::row_args::{Rows, RowsArgs};
use brc_core::{Progress, Table};
use brc_query::{Answer, Plan, Query};

#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    #[command(flatten)]
    rows: Rows,

    #[command(flatten)]
    table: RowsArgs,
}

const AFTER_HELP: &str = "\
Examples:
  brc head measurements.buren
  brc head measurements.parquet -n 3 --format jsonl
  brc head visits.csv --columns country,price --where 'price > 10'
  brc head 'part-*.csv' --file-name part";

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let query = Query { limit: Some(args.rows.limit), ..args.table.query()? };
    Ok(args.table.answer(&query, None)?)
}

/// The first rows of a table. Reading stops as soon as there are enough.
///
/// # Errors
/// Errors of the scan before enough rows are read.
pub(crate) fn first_rows(table: &dyn Table, rows: u64) -> brc_core::Result<(Plan, Answer)> {
    Query { limit: Some(rows), ..Query::everything() }.ask(table, 1, &Progress::default())
}
