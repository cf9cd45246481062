//! The command line. Help, man pages and shell completions are generated from these definitions.

use crate::args::TEMP_DIR;
use crate::colour::{self, When};
use crate::commands::{
    cat, compare, completions, convert, count, functions, generate, head, inspect, man, query, sample, schema, sniff,
    sort, summarize, tail, verify,
};
use crate::failure::SUCCESS;
use crate::metrics::Metrics;
use crate::render::format_by_name;
use brc_core::{Error, Result};
use brc_encodings::output::same_target;
use brc_encodings::temporary;
use brc_kernels::standard_output::check_open;
use brc_query::Statement;
use clap::error::{ContextKind, ContextValue};
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Converts CSV and other tables to compact binary files, and queries them
///
/// Read text once and query it many times: `brc convert` writes CSV and other text files in a binary encoding, `brc
/// query` answers SQL over any encoding, and `brc compare` measures which encoding suits a table best.
#[derive(Parser)]
#[command(name = "brc", version, after_help = AFTER_HELP, arg_required_else_help = true)]
pub(crate) struct Cli {
    /// Record rows, bytes read, bytes spilled, CPU time, memory and page faults ten times a second, and write them to
    /// a new file at the end: CSV, or a page with plots if its name ends in .html
    #[arg(long, global = true, value_name = "FILE", help_heading = "Options of every command")]
    metrics: Option<PathBuf>,

    /// When to use colours; auto: on a terminal unless NO_COLOR is set, elsewhere only if CLICOLOR_FORCE is set
    #[arg(
        long,
        global = true,
        value_name = "auto|always|never",
        default_value = "auto",
        hide_possible_values = true,
        help_heading = "Options of every command"
    )]
    color: When,

    #[command(subcommand)]
    command: Command,
}

impl Cli {
    /// Parses the command line, and chooses the directory for temporary files if the command has such an option. Ends
    /// the process if the command line is invalid or asks for help.
    ///
    /// # Errors
    /// If help cannot be printed, or the metrics and the command have the same output.
    pub(crate) fn of(words: impl Iterator<Item = OsString>) -> Result<Self> {
        let words: Vec<OsString> = words.map(no_option).collect();
        let matches = Self::command().try_get_matches_from(&words).or_else(|error| end(with_tip(error, &words)))?;
        let parsed = Self::from_arg_matches(&matches).or_else(|error| end(error.format(&mut Self::command())))?;
        if let Some((_, of_command)) = matches.subcommand() {
            if let Some(directory) = paths(of_command, TEMP_DIR).next() {
                temporary::choose_directory(directory.clone());
            }
            parsed.check_metrics(of_command)?;
        }
        Ok(parsed)
    }

    /// Refuses metrics in a file that the command writes.
    fn check_metrics(&self, of_command: &ArgMatches) -> Result<()> {
        // The last one of several paths is the output.
        let outputs = paths(of_command, "output").chain(paths(of_command, "rejects"));
        let mut outputs = outputs.chain(paths(of_command, "paths").last());
        match &self.metrics {
            Some(metrics) if outputs.any(|output| same_target(metrics, output)) => {
                let reason = "is also the output; choose a different file for the metrics";
                Err(Error::Usage(format!("{}: {reason}", metrics.display())))
            }
            _ => Ok(()),
        }
    }

    /// Runs the command; returns its exit code unless it fails as a whole.
    ///
    /// # Errors
    /// Any failure; [`crate::failure::report`] prints it.
    pub(crate) fn run(self) -> anyhow::Result<u8> {
        colour::choose(self.color);
        let metrics = self.metrics.as_deref().map(Metrics::start).transpose()?;
        let outcome = self.command.run();
        let written = metrics.map_or(Ok(()), Metrics::finish);
        let code = outcome?;
        written?;
        Ok(code)
    }
}

/// A statement that begins with a comment is no option.
fn no_option(word: OsString) -> OsString {
    match word.to_str() {
        Some(text) if text.starts_with('-') && Statement::is_one(text) => format!(" {text}").into(),
        _ => word,
    }
}

/// The error with what to write instead of an invalid word, where that is known.
fn with_tip(mut error: clap::Error, words: &[OsString]) -> clap::Error {
    if let Some(tip) = tip(&error, words) {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
        error.remove(ContextKind::SuggestedSubcommand);
        error.remove(ContextKind::SuggestedArg);
    }
    error
}

/// What to write instead of an invalid word.
fn tip(error: &clap::Error, words: &[OsString]) -> Option<String> {
    let invalid = |kind| match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word.as_str()),
        _ => None,
    };
    if let Some(word) = invalid(ContextKind::InvalidSubcommand) {
        let is_file = word.contains(['.', '/', '\\']) || Path::new(word).exists();
        let is_query = word == "sql" || is_file || Statement::is_one(word);
        return is_query.then(|| "queries are written brc query FILE \"select …\"".to_owned());
    }
    let format = format_by_name(invalid(ContextKind::InvalidArg)?.strip_prefix("--")?)?;
    let mut cli = Cli::command();
    cli.build();
    let command = words.iter().find_map(|word| cli.find_subcommand(word))?;
    let has_formats = command.get_arguments().any(|argument| argument.get_long() == Some("format"));
    has_formats.then(|| format!("the format is written --format {}", format.name()))
}

/// The values of an argument, if the command has it.
fn paths<'m>(of_command: &'m ArgMatches, argument: &str) -> impl Iterator<Item = &'m PathBuf> {
    of_command.try_get_many(argument).ok().flatten().into_iter().flatten()
}

/// Prints help, the version or a usage error, and ends the process.
///
/// # Errors
/// If help or the version cannot be printed.
fn end<T>(error: clap::Error) -> Result<T> {
    if !error.use_stderr() {
        let printed = check_open().and_then(|()| error.print()).and_then(|()| std::io::stdout().flush());
        printed.map_err(Error::io(Path::new("-"), "write"))?;
        std::process::exit(error.exit_code());
    }
    error.exit()
}

const AFTER_HELP: &str = "\
Examples:
  brc sniff visits.csv
  brc convert visits.csv visits.parquet
  brc query visits.parquet 'select country, count(*), avg(price) group by country'
  brc query visits.csv --by country --agg 'count(*),avg(price)' --where 'price > 10'
  brc compare visits.csv --by country_code --rows 1M

Exit codes:
  0  success
  1  the run failed: a file is missing or not supported, the disk is full …
  2  the command line is invalid or incomplete, or the target exists
  3  a row of text or JSON is malformed, the output cannot hold it, or more rows were rejected than allowed
  4  a file is corrupt";

// The options of a command are built only when it runs, because building those of all commands would take longer than
// many queries. The descriptions are therefore here; a description on an `Args` struct would override them.
#[derive(Subcommand)]
#[command(defer = true)]
enum Command {
    /// Show how a file is read: its format, column types and first rows
    ///
    /// For text files: each part of the dialect, the evidence for it, and the option that overrides it. Every command
    /// that reads tables takes these options. For other files: encoding, compression and columns.
    Sniff(sniff::Args),
    /// Show the first rows of a table
    ///
    /// Reads only as much of the file as these rows need.
    Head(head::Args),
    /// Show the columns of a table: name, type and whether nulls are allowed
    ///
    /// Types of text and JSON are inferred from all rows: each column gets the narrowest type that fits every value.
    /// brc sniff is faster, and infers them from a sample.
    Schema(schema::Args),
    /// Show what is in each column: nulls, distinct values, range, quartiles, most frequent values
    ///
    /// Columns are summarised one after the other, within --memory. Files that cannot be read column by column, such as
    /// CSV, are copied to a temporary file first.
    #[command(visible_alias = "describe")]
    Summarize(summarize::Args),
    /// Count the rows of a table
    ///
    /// Without --where, formats that store the number of rows are answered from their metadata.
    Count(count::Args),
    /// Query a table in SQL, or with --by, --agg and --where
    ///
    /// Without a query, a prompt for SQL opens if standard input and output are terminals. Otherwise, and for a table
    /// of one string and one number column, the default query is min, mean and max of each number column, grouped by
    /// the string column. Statements are select, from, describe, summarize, show and explain, separated by semicolons.
    /// Sums are exact, also of floats; mean is rounded half up to the column's scale. Nulls form one group; aggregates
    /// ignore them. brc functions lists all functions, with an example each.
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
    /// The sort is stable: rows with equal keys keep their order. Beyond --memory, sorted runs spill to a temporary
    /// file.
    Sort(sort::Args),
    /// Show the last rows of a table
    ///
    /// Of a file with row groups, only the last ones are read.
    Tail(tail::Args),
    /// Show a random sample of the rows of a table
    ///
    /// The sample is uniform, without replacement, and kept in memory. Rows come in the order of the table; the same
    /// seed gives the same rows, whatever the number of threads.
    Sample(sample::Args),
    /// Show how a file is stored: row groups, schemes and sizes
    Inspect(inspect::Args),
    /// Check files for damage: every checksum, or every row of a text file
    ///
    /// Prints one line per file. All files are checked, even if one is damaged.
    Verify(verify::Args),
    /// Measure which encoding suits a table best
    ///
    /// Converts each table to every encoding with every compression, runs the same query on each file, and compares
    /// sizes and times. Every answer is checked against that of the input. Each run is a separate process. The report
    /// ends with recommendations for repeated queries, for the smallest size and for frequent conversion. Nothing is
    /// kept except in the directory of --out.
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
    fn run(self) -> anyhow::Result<u8> {
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
            Self::Inspect(args) => return inspect::run(&args),
            Self::Verify(args) => return Ok(verify::run(&args)),
            Self::Compare(args) => return compare::run(&args),
            Self::Generate(args) => generate::run(&args)?,
            Self::Functions(args) => functions::run(&args)?,
            Self::Completions(args) => completions::run(&args)?,
            Self::Man(args) => man::run(&args)?,
        }
        Ok(SUCCESS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_consistent() {
        Cli::command().debug_assert();
    }
}
