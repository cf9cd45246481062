//! Runs a comparison from the request to the reports.

use crate::environment::{Environment, now};
use crate::error::Error;
use crate::matrix::{Matrix, cells};
use crate::monitor::Bar;
use crate::options::{QueryOptions, TableOptions};
use crate::process::{Host, Processes};
use crate::results::{Cell, FileIdentity, Outcome, Results, Settings, TableResults, VERSION};
use crate::store::{self, Store};
use crate::terminal::{self, Screen};
use crate::view::View;
use crate::{csv, html, markdown};
use brc_compress::Compressor;
use brc_core::{Error as TableError, Progress, with_types};
use brc_encodings::Encoding;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The tables, encodings and queries to compare, and the number of runs.
pub struct Request {
    /// The tables, each compared by itself. Duplicates are ignored, in all lists.
    pub files: Vec<PathBuf>,
    /// How to read them.
    pub table: TableOptions,
    /// The encodings to compare.
    pub encodings: Vec<&'static dyn Encoding>,
    /// The compressions to compare.
    pub compressions: Vec<Compressor>,
    /// The queries to run on each table.
    pub queries: Vec<QueryOptions>,
    /// The number of first rows to take from each table; all if `None`.
    pub rows: Option<u64>,
    /// Timed runs of each query and each read.
    pub runs: u32,
    /// Timed conversions to each file.
    pub convert_runs: u32,
    /// Untimed runs of each query before the timed ones; at least one is made.
    pub warmup: u32,
    /// Whether to measure everything once more without the page cache. Linux only.
    pub cold: bool,
    /// The time limit of each process of a cell.
    pub timeout: Option<Duration>,
    /// Threads of each process.
    pub threads: usize,
    /// The memory limit of each conversion and each query, in bytes; `None` for the default.
    pub memory: Option<u64>,
    /// The directory of results and reports, if they are kept.
    pub out: Option<PathBuf>,
    /// Whether converted files are kept there too.
    pub keep: bool,
    /// Whether to discard results found there and measure again.
    pub force: bool,
    /// The command line, for the reports.
    pub command: String,
}

/// The results of a comparison.
pub struct Comparison {
    results: Results,
    not_kept: Vec<String>,
}

/// Runs the requested measurements, and writes the reports if `out` is set.
///
/// # Errors
/// If a table cannot be read, if no cell of a table is possible, or if results cannot be written. A failure within a
/// cell is recorded as its outcome.
pub fn compare(request: &Request, host: &Host) -> Result<Comparison, Error> {
    if request.cold && cfg!(not(target_os = "linux")) {
        let reason = "--cold works on Linux only, where files can be dropped from the page cache";
        return Err(TableError::Usage(reason.to_owned()).into());
    }
    let (wanted, inputs) = request.wanted(host)?;
    refuse_impossible(&wanted)?;
    let store = request.out.as_deref().map(|out| Store::new(out, &request.files)).transpose()?;
    let mut results = match &store {
        Some(store) if !request.force => store.resume(wanted)?,
        _ => wanted,
    };
    let not_kept = measure(request, host, store.as_ref(), &mut results, &inputs)?;
    let comparison = Comparison { results, not_kept };
    if let Some(store) = &store {
        let (results, views) = (&comparison.results, comparison.views());
        store.write("results.csv", csv::render(&views).as_bytes())?;
        store.write("README.md", markdown::render(results, &views).as_bytes())?;
        store.write("report.html", html::render(results, &views).as_bytes())?;
    }
    Ok(comparison)
}

impl Comparison {
    /// The results for a terminal, one table after the other.
    #[must_use]
    pub fn text(&self, screen: Screen) -> String {
        let tables: Vec<String> = self.views().iter().map(|view| terminal::render(view, screen)).collect();
        tables.join("\n\n")
    }

    /// The number of failed cells.
    #[must_use]
    pub fn failed_cells(&self) -> usize {
        let cells = self.results.tables.iter().flat_map(|table| &table.cells);
        cells.filter(|cell| matches!(cell.outcome, Outcome::Failed { .. })).count()
    }

    /// The reasons why converted files could not be kept.
    #[must_use]
    pub fn not_kept(&self) -> &[String] {
        &self.not_kept
    }

    fn views(&self) -> Vec<View<'_>> {
        self.results.tables.iter().filter_map(|table| View::new(&self.results, table)).collect()
    }
}

/// Rejects a table whose encodings and compressions all exclude each other.
fn refuse_impossible(wanted: &Results) -> brc_core::Result<()> {
    for table in &wanted.tables {
        let reasons: Vec<String> = table.cells.iter().map_while(why_impossible).collect();
        if reasons.len() == table.cells.len() {
            let reasons = reasons.join("; ");
            return Err(TableError::Usage(format!("{}: none of these files is possible: {reasons}", table.input.path)));
        }
    }
    Ok(())
}

fn why_impossible(cell: &Cell) -> Option<String> {
    match &cell.outcome {
        Outcome::Impossible { reason } => Some(format!("{} {}: {reason}", cell.encoding, cell.compression)),
        _ => None,
    }
}

/// Runs all measurements that are not known yet. Returns why files could not be kept.
fn measure(
    request: &Request,
    host: &Host,
    store: Option<&Store>,
    results: &mut Results,
    inputs: &[PathBuf],
) -> Result<Vec<String>, Error> {
    let scratch = store.map_or_else(|| store::scratch(&std::env::temp_dir()), Store::scratch)?;
    (host.before_files)(scratch.path());
    let kept = store.filter(|_| request.keep).map(Store::files).transpose()?;
    let mut save = |results: &Results| store.map_or(Ok(()), |store| store.save(results));
    let mut executor = Processes { host, threads: request.threads, memory: request.memory };
    let mut monitor = Bar::new();
    let mut matrix = Matrix {
        executor: &mut executor,
        monitor: &mut monitor,
        save: &mut save,
        format: &request.table,
        scratch: scratch.path(),
        kept: kept.as_deref(),
        timeout: request.timeout,
        not_kept: Vec::new(),
    };
    matrix.run(results, inputs)
}

impl Request {
    fn encodings(&self) -> Vec<&'static dyn Encoding> {
        once_each(&self.encodings, |it| it.name().to_owned())
    }

    fn compressions(&self) -> Vec<Compressor> {
        once_each(&self.compressions, ToString::to_string)
    }

    /// The results to fill, without measurements, and the input file of each table.
    fn wanted(&self, host: &Host) -> Result<(Results, Vec<PathBuf>), Error> {
        let (inputs, tables) = self.tables()?.into_iter().unzip();
        let settings = Settings {
            encodings: self.encodings().iter().map(|encoding| encoding.name().to_owned()).collect(),
            compressions: self.compressions().iter().map(ToString::to_string).collect(),
            rows: self.rows,
            runs: self.runs,
            convert_runs: self.convert_runs,
            warmup: self.warmup,
            cold: self.cold,
            threads: self.threads,
            memory: self.memory,
            reading: self.table.given(),
        };
        let results = Results {
            version: VERSION,
            command: self.command.clone(),
            started: now(),
            environment: Environment::detect(),
            program: FileIdentity::of(&host.program, "brc")?,
            settings,
            empty_process: Vec::new(),
            tables,
        };
        Ok((results, inputs))
    }

    /// One table per file and query. Each query is planned, to find errors early.
    fn tables(&self) -> brc_core::Result<Vec<(PathBuf, TableResults)>> {
        let (encodings, compressions) = (self.encodings(), self.compressions());
        let mut tables = Vec::new();
        for file in once_each(&self.files, |file| file.display().to_string()) {
            refuse_streams(&file)?;
            let (_, table) = self.table.open(&file)?;
            let schema = table.schema();
            let input = FileIdentity::of(&file, &file.to_string_lossy())?;
            for question in once_each(&self.queries, ToString::to_string) {
                let query = question.query()?;
                with_types(table.as_ref(), self.threads, &Progress::default(), |schema| query.plan(schema).map(drop))?;
                let cells = cells(&encodings, &compressions, schema);
                let table = TableResults { input: input.clone(), question, facts: None, as_it_is: None, cells };
                tables.push((file.clone(), table));
            }
        }
        Ok(tables)
    }
}

/// Rejects inputs that can be read only once.
fn refuse_streams(file: &Path) -> brc_core::Result<()> {
    let refuse = |why: &str| Err(TableError::Usage(format!("{}: {why}", file.display())));
    if file == Path::new("-") {
        return refuse("compare reads its input many times, so it cannot be standard input; name a file");
    }
    if brc_encodings::remote::is_in_store(file) {
        return refuse("compare reads its input many times, so it must be a local file; download it first");
    }
    let found = std::fs::metadata(file).map_err(TableError::io(file, "open"))?;
    if found.is_file() || found.is_dir() {
        Ok(())
    } else {
        refuse("compare reads its input many times, so it must be a file")
    }
}

/// The entries without duplicate names.
fn once_each<T: Clone>(list: &[T], name: impl Fn(&T) -> String) -> Vec<T> {
    let first = |index: usize| list[..index].iter().all(|earlier| name(earlier) != name(&list[index]));
    (0..list.len()).filter(|&index| first(index)).map(|index| list[index].clone()).collect()
}
