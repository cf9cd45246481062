//! `brc query`: runs SQL statements or a query given by options.

mod prompt;
mod session;
mod single;
mod tables;

pub use single::{OpenQuery, QueryCommand};

use crate::args::{Files, MemoryArgs, QueryArgs, Source, Threads};
use crate::row_args::{Limit, OutputArgs};
use crate::{failure, quantity, stdout};
use brc_core::{Error, Result};
use brc_query::{Expression, OrderBy, Query, Statement};
use session::Session;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::{fs, io};

#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The files to query as one table, and SQL: 'select city, max(price) group by city'. A file may be a quoted glob
    /// such as 'part-*.buren', a directory (all files below it), or - for standard input. SQL may also name files
    /// itself: "select * from 'a.csv'"
    #[arg(value_name = "FILE|SQL")]
    arguments: Vec<PathBuf>,

    /// Run the statements of a file, separated by semicolons; - is standard input
    #[arg(long, short = 'f', value_name = "FILE")]
    sql_file: Option<PathBuf>,

    /// Open a prompt for SQL [default: on a terminal, without a query, unless the table is that of the One Billion Row
    /// Challenge]
    #[arg(long, short = 'i')]
    interactive: bool,

    #[command(flatten)]
    query: QueryArgs,

    /// Return only groups that satisfy this condition on keys and aggregates
    #[arg(long, value_name = "CONDITION", allow_hyphen_values = true)]
    having: Option<String>,

    /// How to sort the result: expressions separated by commas, each optionally followed by desc and nulls first
    /// [default: by the keys]
    #[arg(long, value_name = "EXPRESSIONS", allow_hyphen_values = true)]
    order_by: Option<String>,

    #[command(flatten)]
    limit: Limit,

    /// Skip the first N rows of the result
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

    /// Read the rows even if statistics in the file could answer the query
    #[arg(long)]
    no_statistics: bool,

    /// Print to standard error what was read, skipped, and answered from statistics
    #[arg(long)]
    explain: bool,

    /// Print to standard error how long reading, decoding and aggregating took
    #[arg(long)]
    timings: bool,

    #[command(flatten)]
    source: Source,
}

const AFTER_HELP: &str = "\
Column names that are not plain words are written in double quotes, as in SQL; a quote inside them is doubled:
  --by '\"city, country\"' --agg 'max(\"wind speed\")' --where '\"5\"\" pipes\" > 2'

Examples:
  brc query measurements.buren
  brc query measurements.buren --where \"station = 'Hamburg'\" --format table
  brc query measurements.txt --where 'temperature > 30' --agg 'mean(temperature),count()'
  brc query measurements.buren --order-by 'max(temperature) desc' --limit 3 --format table
  brc query measurements.buren --by '' --agg 'count(),sum(temperature)' --format json --explain
  brc query \"select country, count(*) from 'visits.csv' group by country\"
  brc query visits.csv 'describe; select max(duration)'
  brc query 'part-*.buren' --file-name part --by part
  brc query visits.csv 'select country, avg(duration) group by country' -o by-country.parquet
  brc query visits.tsv --delimiter tab --schema 'ip:string,revenue:decimal(2)' --agg 'sum(revenue)'";

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let Request { sql, inputs } = args.request()?;
    if !sql.is_empty() {
        return args.run_all(&sql, &inputs);
    }
    let query = args.query()?;
    if args.may_prompt()? {
        let mut session = Session::new(args, &inputs, true)?;
        if args.interactive || !session.is_one_brc(&query)? {
            return Ok(prompt::run(session)?);
        }
    }
    Ok(Session::new(args, &inputs, false)?.answer(&query, None, args.explain)?)
}

/// The parsed command line: statements (none if the query is given by options) and input files.
struct Request {
    sql: Vec<Sql>,
    inputs: Vec<PathBuf>,
}

/// The SQL of one argument or file.
struct Sql {
    text: String,
    file: Option<PathBuf>,
}

impl Args {
    /// Separates SQL from files.
    fn request(&self) -> Result<Request> {
        let (mut sql, mut inputs) = (Vec::new(), Vec::new());
        for argument in &self.arguments {
            match argument.to_str().filter(|text| Statement::is_one(text) && !names_file(text)) {
                Some(text) => sql.push(Sql { text: text.to_owned(), file: None }),
                None => {
                    refuse_expression(argument)?;
                    inputs.push(argument.clone());
                }
            }
        }
        if let Some(path) = &self.sql_file {
            let is_stdin = path == Path::new("-");
            if is_stdin && inputs.iter().any(|input| input == path) {
                return Err(Error::Usage("standard input cannot be both the table and the statements".to_owned()));
            }
            let read = if is_stdin { io::read_to_string(io::stdin()) } else { fs::read_to_string(path) };
            sql.push(Sql { text: read.map_err(Error::io(path, "read"))?, file: Some(path.clone()) });
        }
        Ok(Request { sql, inputs })
    }

    /// Parses all statements, then runs them in sequence until one fails.
    fn run_all(&self, sql: &[Sql], inputs: &[PathBuf]) -> anyhow::Result<()> {
        self.refuse_clauses()?;
        if self.interactive {
            return Err(Error::Usage("--interactive takes its queries from the terminal".to_owned()).into());
        }
        let mut statements = Vec::new();
        for Sql { text, file } in sql {
            let location = || file.as_ref().map_or(String::new(), |file| format!("{}: ", file.display()));
            let parsed = Statement::parse_all(text).map_err(|error| Error::Usage(format!("{}{error}", location())))?;
            statements.extend(parsed.into_iter().map(|statement| (statement, file.as_deref())));
        }
        if statements.is_empty() {
            return Err(Error::Usage("there is no statement to run".to_owned()).into());
        }
        if statements.len() > 1 && self.output.file().is_some() {
            return Err(Error::Usage(
                "--output takes the result of one statement; run one statement per file".to_owned(),
            )
            .into());
        }
        let mut session = Session::new(self, inputs, statements.len() > 1)?;
        for (index, (statement, file)) in statements.iter().enumerate() {
            if index > 0 && session.separates_answers() {
                stdout::print(b"\n")?;
            }
            let outcome = session.run(statement);
            if statements.len() > 1 {
                outcome.map_err(|error| failure::in_statement(error, index + 1, statement.line, *file))?;
            } else {
                outcome?;
            }
        }
        Ok(())
    }

    /// The query described by the options.
    fn query(&self) -> Result<Query> {
        let mut query = self.query.options().query()?;
        query.having = self.having.as_deref().map(Expression::parse).transpose()?;
        query.order_by = self.order_by.as_deref().map_or(Ok(Vec::new()), OrderBy::parse_list)?;
        query.limit = self.limit.limit;
        query.offset = self.offset.unwrap_or(0);
        Ok(query)
    }

    /// Whether to open a prompt: no query is given, and input and output are terminals.
    fn may_prompt(&self) -> Result<bool> {
        let is_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
        let is_query =
            self.has_clauses() || self.explain || self.output.format().is_some() || self.output.file().is_some();
        match self.interactive {
            true if !is_terminal => Err(Error::Usage("--interactive needs a terminal".to_owned())),
            true if self.has_clauses() || self.output.file().is_some() => {
                Err(Error::Usage("--interactive takes its queries and their clauses from the terminal".to_owned()))
            }
            true => Ok(true),
            false => Ok(is_terminal && !is_query),
        }
    }

    /// Whether any option is given that SQL expresses as a clause.
    fn has_clauses(&self) -> bool {
        let Self { having, order_by, limit, offset, query, .. } = self;
        having.is_some() || order_by.is_some() || limit.limit.is_some() || offset.is_some() || query.is_given()
    }

    fn refuse_clauses(&self) -> Result<()> {
        match self.has_clauses() {
            true => Err(Error::Usage(
                "--by, --agg, --where, --having, --order-by, --limit and --offset cannot be combined with a SQL query"
                    .to_owned(),
            )),
            false => Ok(()),
        }
    }
}

/// Whether text that looks like SQL is a file nevertheless.
fn names_file(text: &str) -> bool {
    !text.contains(char::is_whitespace) && Path::new(text).exists()
}

/// Rejects an argument that is no file and looks more like SQL than like a file name.
fn refuse_expression(argument: &Path) -> Result<()> {
    const CHANGES: [&str; 7] = ["insert", "update", "delete", "create", "drop", "alter", "copy"];
    let Some(text) = argument.to_str().filter(|_| !argument.exists()) else { return Ok(()) };
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    if !rest.is_empty() && CHANGES.iter().any(|known| known.eq_ignore_ascii_case(word)) {
        return Err(Error::Usage(format!(
            "'{word}' is not supported: brc reads tables; -o saves the result of a query"
        )));
    }
    // A folder may be called year=2024.
    let is_path = text.contains(['/', '\\']) || text.rsplit(' ').next().is_some_and(|last| last.contains('.'));
    let looks_like_sql =
        !rest.is_empty() && !is_path || text.contains(['<', '>']) || text.contains(" = ") || text.ends_with(')');
    if looks_like_sql || rest == "*" || rest.starts_with("* ") || text.to_ascii_lowercase().contains(" from ") {
        let message = format!("'{text}' is neither a file nor a query; queries begin with select: 'select …'");
        return Err(Error::Usage(message));
    }
    Ok(())
}
