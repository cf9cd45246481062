//! `brc sample`: shows a random sample of the rows of tables.

use crate::answer::Resources;
use crate::args::{MemoryArgs, Opened, Threads};
use crate::row_args::{OutputArgs, Rows, Selection, TableArgs};
use brc_query::{Pick, Query};

#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    #[command(flatten)]
    rows: Rows,

    /// The number that the sample depends on besides the table
    #[arg(long, value_name = "N", default_value = "0")]
    seed: u64,

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
  brc sample measurements.buren
  brc sample visits.csv -n 1000 --seed 7 -o sample.csv
  brc sample visits.parquet -n 1k --where 'price > 10' --format jsonl";

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let query = {
        let pick = Pick::Random { seed: args.seed };
        Query { limit: Some(args.rows.limit), pick, ..args.selection.query()? }
    };
    let paths = args.table.paths()?;
    let Opened { table, .. } = args.table.open(&paths)?;
    let destination = args.output.destination(paths)?;
    let resources = Resources::new(args.threads, &args.memory, &args.table.source);
    destination.answer(&query, table.as_ref(), &resources)?;
    Ok(())
}
