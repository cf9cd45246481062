//! `brc tail`: shows the last rows of tables.

use crate::answer::Resources;
use crate::args::{MemoryArgs, Opened, Threads};
use crate::row_args::{OutputArgs, Rows, Selection, TableArgs};
use brc_query::{Pick, Query};

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
  brc tail measurements.buren
  brc tail visits.csv -n 3 --where \"country = 'NO'\"
  tail -n +2 visits.csv | brc tail - -n 5 --format jsonl";

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let query = Query { limit: Some(args.rows.limit), pick: Pick::Last, ..args.selection.query()? };
    let paths = args.table.paths()?;
    let Opened { table, .. } = args.table.open(&paths)?;
    let destination = args.output.destination(paths)?;
    let resources = Resources::new(args.threads, &args.memory, &args.table.source);
    destination.answer(&query, table.as_ref(), &resources)?;
    Ok(())
}
