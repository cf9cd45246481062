//! `brc sample`: shows a random sample of the rows of tables.

use crate::row_args::{Rows, RowsArgs};
use brc_query::{Pick, Query};

#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    #[command(flatten)]
    rows: Rows,

    /// The seed of the random numbers: the same seed gives the same sample
    #[arg(long, value_name = "N", default_value = "0")]
    seed: u64,

    #[command(flatten)]
    table: RowsArgs,
}

const AFTER_HELP: &str = "\
Examples:
  brc sample measurements.buren
  brc sample visits.csv -n 1000 --seed 7 -o sample.csv
  brc sample visits.parquet -n 1k --where 'price > 10' --format jsonl";

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let pick = Pick::Random { seed: args.seed };
    let query = Query { limit: Some(args.rows.limit), pick, ..args.table.query()? };
    Ok(args.table.answer(&query, None)?)
}
