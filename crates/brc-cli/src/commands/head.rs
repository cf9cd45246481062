//! `brc head`: shows the first rows of tables.

use crate::args::{Files, Opened, Source};
use crate::inputs::expand;
use crate::render::{Format, render, row_format};
use crate::{quantity, stdout};
use brc_core::{Progress, Table};
use brc_query::{Plan, Query, QueryResult, SelectItem};
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The files to read, as one table; - is standard input, and a quoted 'part-*.csv' is expanded
    #[arg(value_name = "FILE", required = true)]
    inputs: Vec<PathBuf>,

    /// The number of rows
    #[arg(long, short = 'n', value_name = "N", default_value = "10", value_parser = quantity::parse_count)]
    rows: u64,

    /// How to print them
    #[arg(long, value_name = "NAME", default_value = "table", value_parser = row_format())]
    format: &'static dyn Format,

    #[command(flatten)]
    files: Files,

    #[command(flatten)]
    source: Source,
}

const AFTER_HELP: &str = "\
Examples:
  brc head measurements.buren
  brc head measurements.parquet -n 3 --format jsonl
  brc head 'part-*.csv' --file-name part";

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    stdout::check(args.format)?;
    let (inputs, options) = (expand(&args.inputs)?, args.source.open_options());
    let Opened { table, .. } = args.source.open_all(&inputs, &args.files, &options)?;
    let (plan, rows) = first_rows(table.as_ref(), args.rows)?;
    let mut text = Vec::new();
    render(args.format, &plan, &rows, &mut text)?;
    Ok(stdout::print_names(&text)?)
}

/// The first rows of a table. No more of it is read than they need.
///
/// # Errors
/// Those of the scan, unless there are enough rows before.
pub(super) fn first_rows(table: &dyn Table, rows: u64) -> brc_core::Result<(Plan, QueryResult)> {
    let all = Query { select: Some(vec![SelectItem::ALL]), by: Some(Vec::new()), ..Query::default() };
    Query { limit: Some(rows), ..all }.ask(table, 1, &Progress::default())
}
