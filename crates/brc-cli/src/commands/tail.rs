//! `brc tail`: shows the last rows of tables.

use crate::row_args::{Rows, RowsArgs};
use brc_query::{Pick, Query};

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
  brc tail measurements.buren
  brc tail visits.csv -n 3 --where \"country = 'NO'\"
  tail -n +2 visits.csv | brc tail - -n 5 --format jsonl";

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let query = Query { limit: Some(args.rows.limit), pick: Pick::Last, ..args.table.query()? };
    Ok(args.table.answer(&query, None)?)
}
