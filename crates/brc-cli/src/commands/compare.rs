//! `brc compare`: measures encodings and compressions on a table, and recommends one.

use crate::args::{QueryArgs, Source, Threads, compression, query_options, target_encoding};
use crate::commands::compare_cell;
use crate::failure::SUCCESS;
use crate::invocation::{command_line, executable};
use crate::render::terminal_width;
use crate::{colour, interrupt, quantity, stdout};
use brc_compare::{Host, KNOWN_QUERIES, QueryOptions, Request, Screen};
use brc_compress::{COMPRESSIONS, Compressor};
use brc_encodings::{ENCODINGS, Encoding};
use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;

#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The files to compare, of any encoding, each on its own; a directory is one table of all files below it
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    /// The encodings to compare, separated by commas [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = target_encoding())]
    encodings: Vec<&'static dyn Encoding>,

    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = compression(),
          help = COMPRESSIONS_HELP.as_str())]
    compressions: Vec<Compressor>,

    #[command(flatten)]
    query: QueryArgs,

    #[arg(long = "query", value_name = "QUERY", value_parser = query_options, allow_hyphen_values = true,
          conflicts_with_all = ["by", "agg", "filter"], help = QUERY_HELP.as_str())]
    queries: Vec<QueryOptions>,

    /// Use only the first N rows of each table
    #[arg(long, value_name = "N", value_parser = positive_rows)]
    rows: Option<u64>,

    /// The number of timed runs of the query, and of reading the file
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    runs: u32,

    /// The number of timed conversions to each file
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    convert_runs: u32,

    /// The number of untimed runs before those; at least one is made, to check the answer
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(0..=10_000))]
    warmup: u32,

    /// Also measure with the file dropped from the page cache before each run
    #[arg(long)]
    cold: bool,

    /// The time limit of one run (90s, 10min, 2h); a run that exceeds it fails [default: 10min, or 100 times the first
    /// read of the table]
    #[arg(long, value_name = "TIME", value_parser = quantity::parse_duration)]
    timeout: Option<Duration>,

    /// Save report.html, README.md, results.csv and results.json in this directory, and continue an interrupted run
    /// there
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Keep the converted files too, in DIR/files
    #[arg(long, requires = "out")]
    keep: bool,

    /// Measure again, and replace existing results and reports
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    threads: Threads,

    /// How much memory each conversion and each query may use; k, M, G are powers of 1024
    /// [default: 60 % of what this process may use]
    #[arg(long, value_name = "BYTES", value_parser = quantity::parse_bytes)]
    memory: Option<u64>,

    #[command(flatten)]
    source: Source,
}

static QUERY_HELP: LazyLock<String> = LazyLock::new(|| {
    let names: Vec<_> = KNOWN_QUERIES.iter().map(|query| query.name).collect();
    format!(
        "The query as one argument: a select, the options --by, --agg and --where, or the name of a benchmark query ({}); may \
         be repeated to compare several queries",
        names.join(", ")
    )
});

static COMPRESSIONS_HELP: LazyLock<String> = LazyLock::new(|| {
    let names: Vec<_> = COMPRESSIONS.iter().map(|compression| compression.name()).collect();
    format!(
        "The compressions to compare, separated by commas: {}; some have levels, as in zstd:9 [default: all, each at its \
         usual level]",
        names.join(", ")
    )
});

const AFTER_HELP: &str = "\
Converted files are written to the directory of --out, or else to TMPDIR, and deleted after each measurement. The \
exit code is 1 if any of them failed. Column names that are not plain words are written in double quotes, as in SQL.

Examples:
  brc compare measurements.txt --rows 1M
  brc compare measurements.txt --out comparison --cold
  brc compare measurements.txt --encodings buren,csv --compressions none,lz4 --runs 30
  brc compare measurements.txt --query '' --query '--by \"\" --agg max(temperature)'
  brc compare visits.csv --query 2a --query 2c --encodings buren,parquet
  brc compare measurements.buren --by station --agg 'max(temperature)' --where 'temperature > 30'";

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    let host = Host {
        program: executable()?,
        arguments: compare_cell::arguments,
        before_files: interrupt::clean_up_when_killed_with,
    };
    let comparison = brc_compare::compare(&args.request()?, &host).map_err(reportable)?;
    stdout::print(comparison.text(screen()).as_bytes())?;
    if let Some(reason) = comparison.not_kept().first() {
        anyhow::bail!("could not keep a file: {reason}");
    }
    Ok(if comparison.failed_cells() == 0 { SUCCESS } else { 1 })
}

/// Converts to an error that [`crate::failure::report`] knows.
fn reportable(error: brc_compare::Error) -> anyhow::Error {
    match error {
        brc_compare::Error::Table(error) => error.into(),
        brc_compare::Error::Job(failure) => failure.into(),
        brc_compare::Error::Other(_) => error.into(),
    }
}

impl Args {
    fn request(&self) -> brc_core::Result<Request> {
        Ok(Request {
            files: self.files.clone(),
            table: self.source.table_options()?,
            encodings: self.encodings(),
            compressions: self.compressions(),
            queries: if self.queries.is_empty() { vec![self.query.options()] } else { self.queries.clone() },
            rows: self.rows,
            runs: self.runs,
            convert_runs: self.convert_runs,
            warmup: self.warmup,
            cold: self.cold,
            timeout: self.timeout,
            threads: self.threads.count(),
            memory: self.memory,
            out: self.out.clone(),
            keep: self.keep,
            force: self.force,
            command: command_line(),
        })
    }

    fn encodings(&self) -> Vec<&'static dyn Encoding> {
        let all = || ENCODINGS.iter().copied().filter(|encoding| !encoding.is_read_only()).collect();
        if self.encodings.is_empty() { all() } else { self.encodings.clone() }
    }

    fn compressions(&self) -> Vec<Compressor> {
        let all = || COMPRESSIONS.iter().map(|compression| Compressor::of(*compression)).collect();
        if self.compressions.is_empty() { all() } else { self.compressions.clone() }
    }
}

/// Parses a number of rows, which must not be 0.
fn positive_rows(text: &str) -> Result<u64, String> {
    match quantity::parse_count(text)? {
        0 => Err("at least one row is needed".to_owned()),
        rows => Ok(rows),
    }
}

/// The capabilities of standard output: those of the terminal, or a default width.
fn screen() -> Screen {
    const DEFAULT_WIDTH: usize = 120;
    const MIN_WIDTH: usize = 50;
    let width = terminal_width().map_or(DEFAULT_WIDTH, |width| usize::from(width).max(MIN_WIDTH));
    Screen { width, colour: colour::of_stdout() }
}
