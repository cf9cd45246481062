//! The command line as a whole. Help, man pages and shell completions all come from these definitions.

use crate::commands::{cat, compare, completions, convert, generate, head, inspect, man, query, schema, sniff, verify};
use crate::metrics::Metrics;
use clap::{Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;

/// Converts CSV and other tables to compact binary files, and queries them.
///
/// Text is read once and queried many times: `brc convert` reads CSV-like text and writes it in a binary encoding, `brc
/// query` answers group-by queries over any encoding, with the same result, and `brc compare` shows which encoding suits a
/// table best.
#[derive(Parser)]
#[command(name = "brc", version, after_help = AFTER_HELP, arg_required_else_help = true)]
pub(crate) struct Cli {
    /// Write time, rows, bytes read, bytes in temporary files, processor time, memory and page faults to a new file, ten times a
    /// second: as CSV, or as a page with plots if its name ends in .html
    #[arg(long, global = true, value_name = "FILE", help_heading = "Watching")]
    metrics: Option<PathBuf>,

    #[command(subcommand)]
    command: Command,
}

impl Cli {
    /// Does what the command says; returns its exit code unless it fails as a whole.
    ///
    /// # Errors
    /// Whatever goes wrong; [`crate::failure::report`] knows what to make of it.
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let metrics = self.metrics.as_deref().map(Metrics::start).transpose()?;
        let outcome = self.command.run();
        let written = metrics.map_or(Ok(()), Metrics::finish);
        let code = outcome?;
        written?;
        Ok(code)
    }
}

const AFTER_HELP: &str = "\
Examples:
  brc sniff visits.csv
  brc convert visits.csv visits.parquet
  brc query visits.csv --by country --agg 'count(),mean(price)'
  brc generate measurements.txt --rows 10M
  brc convert measurements.txt measurements.buren
  brc query measurements.buren
  brc query measurements.buren --where 'temperature > 30' --agg 'count()' --limit 5
  brc compare measurements.txt --rows 1M

Exit codes:
  0  success
  1  the run failed, or a file is of a kind that is not supported
  2  the command line is invalid or incomplete, or the target exists
  3  a row is malformed, or the output cannot hold it, or more rows were rejected than allowed
  4  a file is corrupt";

// The options of a command are made only when it runs: making those of all would take longer than many a query. So the
// descriptions are here, and structs of arguments have none: it would replace the one here.
#[derive(Subcommand)]
#[command(defer = true)]
enum Command {
    /// Make a test table
    ///
    /// The same seed gives the same bytes, whatever the number of threads.
    Generate(generate::Args),
    /// Write a table in another encoding
    ///
    /// All rows are kept in their order. The output is the old file or the whole new one, never a part. The same input and
    /// options give the same bytes, whatever the number of threads, from a file or a pipe.
    Convert(convert::Args),
    /// Ask a table a question: group its rows, and compute something for each group
    ///
    /// Without options: min, mean and max of each column of numbers, grouped by the string column. Sums are exact, also those
    /// of floats; means are rounded half up to the column's scale. Nulls are one group, and count as no values. The encoding of
    /// the input is detected from its first bytes.
    Query(query::Args),
    /// Find out which encoding to keep a table in: all of them, measured on your table, with verified answers
    ///
    /// Converts each table to every encoding with every compression, runs the same query on each file, and compares sizes
    /// and times. Every result is checked against that of the input; a wrong one fails. Each run is a process of its own.
    /// Ends with what to pick for repeated queries, for the smallest size and for frequent conversion. Nothing is kept but
    /// what --out names.
    Compare(compare::Args),
    /// Show how a file is read, and why: the dialect of a text, the types of its columns, its first rows
    ///
    /// Each part of a dialect comes with the evidence for it and the option that overrides it, which all commands take that read
    /// tables. For other files: encoding, compression and columns.
    Sniff(sniff::Args),
    /// Show the columns of a table: their names, their types, and whether they may have nulls
    ///
    /// Where types are inferred, all rows are read: each column has the narrowest type that holds all of its values. `brc
    /// sniff` infers types from samples.
    Schema(schema::Args),
    /// Show the first rows of a table
    ///
    /// No more is read than they need.
    Head(head::Args),
    /// Write rows of a table, in their order: all of them, or some columns of those that --where wants
    Cat(cat::Args),
    /// Show what a file is made of: columns, rows, row groups, how they are stored and how large they are
    Inspect(inspect::Args),
    /// Check files: every checksum and everything else that can be checked; for a text, every row
    ///
    /// Each file gets one line. All files are checked, whatever is wrong with one.
    Verify(verify::Args),
    /// Print a script with which a shell completes brc's commands and options
    Completions(completions::Args),
    /// Write the manual pages of brc and its commands
    Man(man::Args),
}

impl Command {
    fn run(self) -> anyhow::Result<ExitCode> {
        match self {
            Self::Generate(args) => generate::run(&args)?,
            Self::Convert(args) => convert::run(&args)?,
            Self::Query(args) => query::run(&args)?,
            Self::Compare(args) => return compare::run(&args),
            Self::Sniff(args) => sniff::run(&args)?,
            Self::Schema(args) => schema::run(&args)?,
            Self::Head(args) => head::run(&args)?,
            Self::Cat(args) => cat::run(&args)?,
            Self::Inspect(args) => inspect::run(&args)?,
            Self::Verify(args) => return verify::run(&args),
            Self::Completions(args) => completions::run(&args)?,
            Self::Man(args) => man::run(&args)?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn definitions_are_consistent() {
        Cli::command().debug_assert();
    }
}
