//! `brc-sql`: all of SQL over the files that brc reads.

#![forbid(unsafe_code)]

mod failure;
mod files;
mod output;
mod prompt;
mod run;

use crate::failure::Failed;
use crate::files::FileTables;
use crate::output::Format;
use brc_cli::embedding::Shown;
use brc_core::interrupt;
use brc_kernels::memory::Allocator;
use clap::Parser;
use datafusion::prelude::SessionContext;
use std::io::{IsTerminal, Read};
#[cfg(feature = "ballista")]
use std::net::{TcpStream, ToSocketAddrs};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
#[cfg(feature = "ballista")]
use std::time::Duration;

/// Query files with all of SQL: joins, window functions, subqueries and more
///
/// Each file is a table, named by its stem or by NAME=FILE. A quoted path in a query is a table, too: select * from
/// 'x.buren'. Without a query, SQL is read from standard input or typed at a prompt.
#[derive(Parser)]
#[command(name = "brc-sql", version)]
struct Args {
    /// The files, then the query. A file is a path, a quoted glob or a directory, with NAME= before it to give the
    /// table a different name
    #[arg(value_name = "[NAME=]FILE|SQL")]
    words: Vec<String>,

    /// Run the statements of this file, separated by semicolons
    #[arg(short = 'f', long, value_name = "FILE", conflicts_with = "prompt")]
    file: Option<PathBuf>,

    /// The output format [default: table]
    #[arg(long, value_enum)]
    format: Option<Format>,

    /// Write the result to this file, in the encoding of its extension
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Overwrite the output file if it exists
    #[arg(long, requires = "output")]
    force: bool,

    /// The number of threads [default: the processors this process may use]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,

    /// How much memory to use before writing to temporary files, such as 500M; k, M, G are powers of 1024 [default: 60
    /// % of what this process may use]
    #[arg(long, value_name = "SIZE")]
    memory: Option<String>,

    /// Run the query on the cluster of the scheduler at this address; its executors must find the files by the same
    /// paths
    #[cfg(feature = "ballista")]
    #[arg(long, value_name = "HOST:PORT")]
    cluster: Option<String>,

    /// The number of partitions for reading, grouping and joining in the cluster
    #[cfg(feature = "ballista")]
    #[arg(long, value_name = "N", requires = "cluster", default_value_t = 16)]
    partitions: usize,

    /// Read string columns as binary, so that they need not be UTF-8
    #[arg(long)]
    strings_as_binary: bool,

    /// Print the time of each statement
    #[arg(long)]
    timer: bool,

    /// Open a prompt after the given statements
    #[arg(long)]
    prompt: bool,
}

/// The first words of statements.
const KEYWORDS: &[&str] = &[
    "alter", "analyze", "copy", "create", "delete", "describe", "drop", "explain", "insert", "prepare", "select",
    "set", "show", "table", "update", "values", "with",
];

/// Whether a command-line word is a query rather than a file.
fn is_statement(word: &str) -> bool {
    let word = word.trim_start_matches(|character: char| character.is_whitespace() || character == '(');
    let end = word.find(|character: char| character.is_whitespace() || "(;*\"'".contains(character));
    let first = &word[..end.unwrap_or(word.len())];
    KEYWORDS.contains(&first.to_ascii_lowercase().as_str()) && !PathBuf::from(word).exists()
}

/// Whether a word that is not a file looks like a query with a typo in its first word.
fn looks_like_statement(word: &str) -> bool {
    let has_sql = word.contains(['<', '>']) || word.contains(" * ") || word.to_ascii_lowercase().contains(" from ");
    has_sql && !PathBuf::from(word).exists()
}

/// Lets brc know how much memory is in use when it computes a part of a query.
#[global_allocator]
static ALLOCATOR: Allocator = Allocator::SYSTEM;

fn main() -> ExitCode {
    let args = Args::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let outcome = runtime.map_err(|error| Failed::usage(error.to_string())).and_then(|runtime| {
        let outcome = runtime.block_on(run(args));
        // Dropping the runtime waits for work of interrupted statements.
        interrupt::request();
        outcome
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failed) => failed.report(),
    }
}

async fn run(args: Args) -> Result<(), Failed> {
    let threads = args.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)).max(1);
    let in_cluster = args.in_cluster();
    let tables = Arc::new(FileTables::new(threads, args.memory.as_deref(), args.strings_as_binary, in_cluster)?);
    let context = tables.session(|context| place_session(context, &args))?;
    let (files, mut statements) = split(args.words)?;
    let progress = tables.progress();
    // Registering text reads it to infer types.
    let shown = Shown::new(Arc::clone(progress));
    for file in &files {
        tables.register(&context, file).await?;
    }
    drop(shown);
    if let Some(path) = &args.file {
        let text = std::fs::read_to_string(path);
        statements.push(text.map_err(|error| Failed::usage(format!("{}: {error}", path.display())))?);
    }
    let has_statements = !statements.is_empty();
    if !has_statements && !std::io::stdin().is_terminal() {
        let mut text = String::new();
        std::io::stdin()
            .read_to_string(&mut text)
            .map_err(|error| Failed::usage(format!("standard input: {error}")))?;
        statements.push(text);
    }
    let output = output::Output { format: args.format.unwrap_or_default(), path: args.output, force: args.force };
    let runner = run::Runner { context, output, timer: args.timer, in_cluster, progress: Arc::clone(progress) };
    let is_prompt = args.prompt || statements.is_empty();
    for text in statements {
        runner.run(&text).await?;
    }
    if is_prompt { prompt::run(runner, files).await } else { Ok(()) }
}

impl Args {
    #[cfg(feature = "ballista")]
    fn in_cluster(&self) -> bool {
        self.cluster.is_some()
    }

    #[cfg(not(feature = "ballista"))]
    fn in_cluster(&self) -> bool {
        false
    }
}

/// The time limit for connecting to a scheduler.
#[cfg(feature = "ballista")]
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Moves the session to the cluster, if one is given.
#[cfg(feature = "ballista")]
fn place_session(context: SessionContext, args: &Args) -> Result<SessionContext, Failed> {
    let Some(scheduler) = &args.cluster else { return Ok(context) };
    let addresses = scheduler.to_socket_addrs();
    let mut addresses =
        addresses.map_err(|error| Failed::usage(format!("--cluster {scheduler}: not HOST:PORT: {error}")))?;
    if !addresses.any(|address| TcpStream::connect_timeout(&address, CONNECT_TIMEOUT).is_ok()) {
        return Err(Failed::new(format!("{scheduler}: cannot reach a scheduler there")));
    }
    Ok(brc_datafusion::cluster::ballista::on_cluster(&context, scheduler, args.partitions.max(1))?)
}

#[cfg(not(feature = "ballista"))]
fn place_session(context: SessionContext, _: &Args) -> Result<SessionContext, Failed> {
    Ok(context)
}

/// Separates the files from the query after them.
fn split(mut words: Vec<String>) -> Result<(Vec<String>, Vec<String>), Failed> {
    let statement = words.pop_if(|word| is_statement(word));
    if let Some(word) = words.iter().find(|word| is_statement(word)) {
        return Err(Failed::usage(format!("the query must come after all files: {word}")));
    }
    if let Some(word) = words.iter().find(|word| looks_like_statement(word)) {
        let known = KEYWORDS.join(", ");
        return Err(Failed::usage(format!("'{word}' is neither a file nor a query; queries begin with {known}")));
    }
    Ok((words, statement.into_iter().collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_told_from_files() {
        for query in
            ["select 1", " WITH x as (select 1) select * from x", "(select 1)", "explain select 1", "values (1)"]
        {
            assert!(is_statement(query), "{query}");
        }
        for file in ["a.csv", "selected.csv", "t=data/*.csv", "data", "my data/*.csv"] {
            assert!(!is_statement(file) && !looks_like_statement(file), "{file}");
        }
        for typo in ["selec * from t", "slect a from t", "selct a * 2"] {
            assert!(looks_like_statement(typo), "{typo}");
        }
    }
}
