//! `brc count`: counts the rows of tables.

use crate::args::{MemoryArgs, Opened, Threads};
use crate::progress::watch_table;
use crate::row_args::{Filter, TableArgs};
use crate::{changes, stdout};
use brc_core::{Progress, Value};
use brc_query::{Expression, Query};

#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    #[command(flatten)]
    filter: Filter,

    #[command(flatten)]
    threads: Threads,

    #[command(flatten)]
    memory: MemoryArgs,

    #[command(flatten)]
    table: TableArgs,
}

const AFTER_HELP: &str = "\
Examples:
  brc count measurements.buren
  brc count visits.csv --where \"country = 'NO' and price > 10\"
  brc count 'part-*.csv'";

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let count = vec![Expression::call("count", &[])];
    let filter = args.filter.expression()?;
    let query = Query { by: Some(Vec::new()), aggregates: Some(count), filter, ..Query::default() };
    let Opened { table, .. } = args.table.open(&args.table.found()?)?;
    let (table, threads, memory) = (table.as_ref(), args.threads.count(), args.memory.memory());
    let progress = Progress::default();
    let (_, answer) = watch_table(&progress, table, || query.ask_within(table, threads, &memory, &progress))?;
    let only = answer.blocks().next().transpose()?;
    let count = only.as_ref().and_then(|block| block.rows().next()?.value(0));
    let rows = if let Some(Value::Integer(rows)) = count { rows } else { 0 };
    stdout::print(format!("{rows}\n").as_bytes())?;
    changes::note_read(table, &progress);
    Ok(())
}
