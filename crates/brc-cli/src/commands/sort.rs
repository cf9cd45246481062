//! `brc sort`: sorts the rows of tables.

use crate::render::exact_format;
use crate::row_args::{Limit, RowsArgs};
use brc_query::{OrderBy, Query};

#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// What to sort by: columns or expressions separated by commas, each optionally followed by desc and nulls first;
    /// all is every column from left to right
    #[arg(long, value_name = "EXPRESSIONS", alias = "order-by", allow_hyphen_values = true)]
    by: String,

    #[command(flatten)]
    limit: Limit,

    #[command(flatten)]
    table: RowsArgs,
}

const AFTER_HELP: &str = "\
Examples:
  brc sort visits.csv --by price
  brc sort visits.csv --by 'country, price desc nulls first' -o sorted.parquet
  brc sort measurements.buren --by 'temperature desc' -n 10 --format table";

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let order_by = OrderBy::parse_list(&args.by)?;
    let query = Query { order_by, limit: args.limit.limit, ..args.table.query()? };
    // The default is not the table format, which holds all rows to lay them out.
    Ok(args.table.answer(&query, Some(exact_format()))?)
}
