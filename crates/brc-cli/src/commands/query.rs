//! `brc query`: answers a group-by question.

use crate::answer::Resources;
use crate::args::{Files, MemoryArgs, Opened, QueryArgs, Source, Threads, is_select};
use crate::inputs::expand;
use crate::progress::watch_table;
use crate::row_args::{Limit, OutputArgs};
use crate::{explain, quantity};
use brc_compare::QueryOptions;
use brc_core::{Error, Progress};
use brc_query::{Expression, OrderBy, Query};
use std::path::PathBuf;
use std::time::Instant;

#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The files to query as one table, optionally followed by a SQL query: 'select city, max(price) group by city'; - is
    /// standard input, and a quoted 'part-*.buren' is expanded
    #[arg(value_name = "FILE", required = true)]
    arguments: Vec<PathBuf>,

    #[command(flatten)]
    query: QueryArgs,

    /// Return only groups that satisfy this condition of keys and aggregates
    #[arg(long, value_name = "CONDITION", allow_hyphen_values = true)]
    having: Option<String>,

    /// How to sort the answer: expressions separated by commas, each optionally followed by desc and nulls first [default:
    /// by the keys]
    #[arg(long, value_name = "EXPRESSIONS", allow_hyphen_values = true)]
    order_by: Option<String>,

    #[command(flatten)]
    limit: Limit,

    /// Skip the first N rows of the answer
    #[arg(long, value_name = "N", value_parser = quantity::parse_count)]
    offset: Option<u64>,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    files: Files,

    #[command(flatten)]
    threads: Threads,

    #[command(flatten)]
    memory: MemoryArgs,

    /// Read the rows even where statistics in the file could answer
    #[arg(long)]
    no_statistics: bool,

    /// Report on standard error what is read, skipped, and answered from statistics
    #[arg(long)]
    explain: bool,

    /// Report on standard error how long reading, decoding and aggregating took
    #[arg(long)]
    timings: bool,

    #[command(flatten)]
    source: Source,
}

const AFTER_HELP: &str = "\
As in SQL, a column whose name is not a plain word is written in double quotes, and a quote inside them is doubled:
  --by '\"city, country\"' --agg 'max(\"wind speed\")' --where '\"5\"\" pipes\" > 2'

Examples:
  brc query measurements.buren
  brc query measurements.buren --where \"station = 'Hamburg'\" --format table
  brc query measurements.txt --where 'temperature > 30' --agg 'mean(temperature),count()'
  brc query measurements.buren --order-by 'max(temperature) desc' --limit 3 --format table
  brc query measurements.buren --by '' --agg 'count(),sum(temperature)' --format json --explain
  brc query 'part-*.buren' --file-name part --by part
  brc query visits.csv 'select country, avg(duration) group by country' -o by-country.parquet
  brc query visits.tsv --delimiter tab --schema 'ip:string,revenue:decimal(2)' --agg 'sum(revenue)'";

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let start = Instant::now();
    let (query, files) = args.query()?;
    let inputs = expand(files)?;
    let Opened { encoding: from, table } = args.source.open_all(&inputs, &args.files, &args.source.open_options())?;
    let table = table.as_ref();
    let destination = args.output.destination(inputs)?;
    let resources = Resources::new(args.threads, &args.memory, &args.source);
    let progress = Progress::default();
    let plan = watch_table(&progress, table, || query.bind(table, args.threads.count(), &progress))?;
    if args.explain {
        explain::before(from, table, &plan);
    }
    let totals = destination.answer_bound(&plan, &query, table, &resources, &progress)?;
    if args.explain {
        explain::after(table, &totals);
    }
    if args.timings {
        explain::timings(&totals, start.elapsed());
    }
    Ok(())
}

impl Args {
    /// The question, and the files that it is asked.
    fn query(&self) -> brc_core::Result<(Query, &[PathBuf])> {
        let (select, files) = match self.arguments.split_last() {
            Some((last, files)) if last.to_str().is_some_and(is_select) => (last.to_str(), files),
            _ => (None, self.arguments.as_slice()),
        };
        if files.is_empty() {
            return Err(Error::Usage("no file is given".to_owned()));
        }
        let options = match select {
            Some(select) => {
                self.refuse_clauses()?;
                QueryOptions { select: Some(select.to_owned()), ..QueryOptions::default() }
            }
            None => self.query.options(),
        };
        let mut query = options.query()?;
        if select.is_none() {
            query.having = self.having.as_deref().map(Expression::parse).transpose()?;
            query.order_by = self.order_by.as_deref().map_or(Ok(Vec::new()), OrderBy::parse_list)?;
            query.limit = self.limit.limit;
            query.offset = self.offset.unwrap_or(0);
        }
        Ok((Query { statistics: !self.no_statistics, timings: self.timings, ..query }, files))
    }

    /// Refuses options that a SQL query has clauses for.
    fn refuse_clauses(&self) -> brc_core::Result<()> {
        let options =
            self.having.is_some() || self.order_by.is_some() || self.limit.limit.is_some() || self.offset.is_some();
        match options || self.query.is_given() {
            true => Err(Error::Usage(
                "--by, --agg, --where, --having, --order-by, --limit and --offset cannot be combined with a SQL query"
                    .to_owned(),
            )),
            false => Ok(()),
        }
    }
}
