//! The command line as a whole. Help, man pages and shell completions all come from these definitions.

use crate::colour::{self, When};
use crate::commands::{
    cat, compare, completions, convert, count, functions, generate, head, inspect, man, query, sample, schema, sniff,
    sort, summarize, tail, verify,
};
use crate::metrics::Metrics;
use clap::{Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;

/// Converts CSV and other tables to compact binary files, and queries them
///
/// Read text once and query it many times: `brc convert` writes CSV-like text in a binary encoding, `brc query` answers
/// SQL over any encoding, and `brc compare` shows which encoding suits a table best.
#[derive(Parser)]
#[command(name = "brc", version, after_help = AFTER_HELP, arg_required_else_help = true)]
pub(crate) struct Cli {
    /// Record rows, bytes read, bytes in temporary files, processor time, memory and page faults ten times a second in
    /// a new file: as CSV, or as a page with plots if its name ends in .html
    #[arg(long, global = true, value_name = "FILE", help_heading = "Watching")]
    metrics: Option<PathBuf>,

    /// When to use colours: auto is on a terminal, unless NO_COLOR is set, and elsewhere if CLICOLOR_FORCE is
    #[arg(
        long,
        global = true,
        value_name = "auto|always|never",
        default_value = "auto",
        hide_possible_values = true,
        help_heading = "Watching"
    )]
    color: When,

    #[command(subcommand)]
    command: Command,
}

impl Cli {
    /// Does what the command says; returns its exit code unless it fails as a whole.
    ///
    /// # Errors
    /// Whatever goes wrong; [`crate::failure::report`] knows what to make of it.
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        colour::choose(self.color);
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
  brc query visits.parquet 'select country, count(*), avg(price) group by country'
  brc query visits.csv --by country --agg 'count(*),avg(price)' --where 'price > 10'
  brc compare visits.csv --rows 1M

Exit codes:
  0  success
  1  the run failed: a file is missing or not supported, the disk is full …
  2  the command line is invalid or incomplete, or the target exists
  3  a row is malformed, the output cannot hold it, or more rows were rejected than allowed
  4  a file is corrupt";

// The options of a command are made only when it runs: making those of all would take longer than many a query. So the
// descriptions are here, and structs of arguments have none: it would replace the one here.
#[derive(Subcommand)]
#[command(defer = true)]
enum Command {
    /// Show how a file is read: its format, column types and first rows
    ///
    /// For a text, each part of the dialect comes with the evidence for it and the option that overrides it; every
    /// command that reads tables takes these options. For other files: encoding, compression and columns.
    Sniff(sniff::Args),
    /// Show the first rows of a table
    ///
    /// Reads no more of the file than these rows need.
    Head(head::Args),
    /// Show the columns of a table: name, type and whether nulls are allowed
    ///
    /// Where types are inferred, all rows are read: each column gets the narrowest type that fits every value. brc
    /// sniff infers types from a sample.
    Schema(schema::Args),
    /// Show what is in each column: nulls, distinct values, range, quartiles, most frequent values
    ///
    /// Each column is grouped by its values, one column after the other, in the memory that --memory allows. Files that
    /// cannot be read column by column, such as texts, are copied to a temporary file first.
    #[command(visible_alias = "describe")]
    Summarize(summarize::Args),
    /// Count the rows of a table
    ///
    /// Files that store their number of rows are not read.
    Count(count::Args),
    /// Query a table in SQL, or with --by, --agg and --where
    ///
    /// Without a query, a terminal shows a prompt where SQL is typed. Elsewhere, and for a table of one string and one
    /// number column, the query is: min, mean and max of each number column, grouped by the string column. Besides
    /// select there are from, describe, summarize, show and explain; statements are separated by semicolons. Sums are
    /// exact, also those of floats; means are rounded half up to the column's scale. Null keys form one group; aggregates ignore
    /// nulls. brc help functions lists all functions with an example each.
    Query(query::Args),
    /// Convert a table to another encoding
    ///
    /// All rows are kept, in their order. The output is replaced atomically: a failed run leaves the old file
    /// untouched. The same input and options give the same bytes, whatever the number of threads, from a file or a
    /// pipe.
    Convert(convert::Args),
    /// Print or save rows of a table, optionally only some rows and columns
    Cat(cat::Args),
    /// Sort the rows of a table
    ///
    /// Rows that are equal in what they are sorted by stay in their order. Beyond --memory, sorted runs go to a
    /// temporary file.
    Sort(sort::Args),
    /// Show the last rows of a table
    ///
    /// Of a file that stores how many rows its parts have, only the last parts are read.
    Tail(tail::Args),
    /// Show a random sample of the rows of a table
    ///
    /// Every set of rows is as likely as any other of its size; no row comes twice. The rows come in the order of the
    /// table, and the same seed gives the same rows, whatever the number of threads. They are kept in memory.
    Sample(sample::Args),
    /// Show how a file is stored: row groups, schemes and sizes
    Inspect(inspect::Args),
    /// Check files for damage: every checksum; for a text, every row
    ///
    /// Prints one line per file. All files are checked, even if one is damaged.
    Verify(verify::Args),
    /// Measure which encoding suits a table best
    ///
    /// Converts each table to every encoding with every compression, runs the same query on each file, and compares
    /// sizes and times. Every result is checked against that of the input; a wrong one fails. Each run is a separate
    /// process. Ends with a recommendation for repeated queries, for the smallest size and for frequent conversion.
    /// Nothing is kept except in the directory of --out.
    Compare(compare::Args),
    /// Generate a test table
    ///
    /// The same seed gives the same bytes, whatever the number of threads.
    Generate(generate::Args),
    /// List all functions and operators of queries, with an example each
    Functions(functions::Args),
    /// Print a completion script for a shell
    Completions(completions::Args),
    /// Write the manual pages of brc and its commands
    Man(man::Args),
}

impl Command {
    fn run(self) -> anyhow::Result<ExitCode> {
        match self {
            Self::Sniff(args) => sniff::run(&args)?,
            Self::Head(args) => head::run(&args)?,
            Self::Schema(args) => schema::run(&args)?,
            Self::Summarize(args) => summarize::run(&args)?,
            Self::Count(args) => count::run(&args)?,
            Self::Query(args) => query::run(&args)?,
            Self::Convert(args) => convert::run(&args)?,
            Self::Cat(args) => cat::run(&args)?,
            Self::Sort(args) => sort::run(&args)?,
            Self::Tail(args) => tail::run(&args)?,
            Self::Sample(args) => sample::run(&args)?,
            Self::Inspect(args) => inspect::run(&args)?,
            Self::Verify(args) => return verify::run(&args),
            Self::Compare(args) => return compare::run(&args),
            Self::Generate(args) => generate::run(&args)?,
            Self::Functions(args) => functions::run(&args)?,
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
