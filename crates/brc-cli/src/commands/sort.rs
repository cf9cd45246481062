//! `brc sort`: sorts the rows of tables.

use crate::answer::Resources;
use crate::args::{MemoryArgs, Opened, Threads};
use crate::row_args::{Limit, OutputArgs, Selection, TableArgs};
use brc_query::{OrderBy, Query};

#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// What to sort by: columns or expressions separated by commas, each optionally followed by desc and nulls first; all is
    /// every column from left to right
    #[arg(long, value_name = "EXPRESSIONS", alias = "order-by", allow_hyphen_values = true)]
    by: String,

    #[command(flatten)]
    limit: Limit,

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
  brc sort visits.csv --by price
  brc sort visits.csv --by 'country, price desc nulls first' -o sorted.parquet
  brc sort measurements.buren --by 'temperature desc' -n 10";

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let query = {
        let order_by = OrderBy::parse_list(&args.by)?;
        Query { order_by, limit: args.limit.limit, ..args.selection.query()? }
    };
    let paths = args.table.paths()?;
    let Opened { table, .. } = args.table.open(&paths)?;
    let destination = args.output.destination(paths)?;
    let resources = Resources::new(args.threads, &args.memory, &args.table.source);
    destination.answer(&query, table.as_ref(), &resources)?;
    Ok(())
}
