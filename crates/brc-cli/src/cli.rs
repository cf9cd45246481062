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
    /// Write time, rows, bytes read, processor time, memory and page faults to a new file, ten times a second: as CSV, or as a
    /// page with plots if its name ends in .html
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

#[derive(Subcommand)]
enum Command {
    Generate(generate::Args),
    Convert(convert::Args),
    Query(query::Args),
    Compare(compare::Args),
    Sniff(sniff::Args),
    Schema(schema::Args),
    Head(head::Args),
    Cat(cat::Args),
    Inspect(inspect::Args),
    Verify(verify::Args),
    Completions(completions::Args),
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
