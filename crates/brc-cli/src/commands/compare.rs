//! `brc compare`: measures encodings and compressions on a table, and says which to pick.

use crate::args::{Question, Source, Threads, compression, encoding, question, quote};
use crate::compare::environment::{Environment, now};
use crate::compare::job::TableFormat;
use crate::compare::matrix::{Matrix, cells};
use crate::compare::monitor::Bar;
use crate::compare::process::Processes;
use crate::compare::results::{Cell, FileIdentity, Outcome, Results, Settings, TableResults, VERSION};
use crate::compare::store::{self, Store};
use crate::compare::terminal::Screen;
use crate::compare::view::View;
use crate::compare::{csv, html, markdown, terminal};
use crate::{interrupt, quantity, stdout};
use brc_compress::{COMPRESSIONS, Compressor};
use brc_core::Error;
use brc_encodings::{ENCODINGS, Encoding};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::LazyLock;
use std::time::Duration;

/// Find out which encoding to keep a table in: all of them, measured on your table, with verified answers
///
/// Converts each table to every encoding with every compression, asks each file the same question, and compares sizes and
/// times. Every answer is checked against that of the input; a wrong one fails. Each run is a process of its own. Ends
/// with what to pick if you ask often, store much, or convert often. Nothing is kept but what --out names.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The tables: files of any encoding, each compared by itself
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    /// Which encodings to compare, with commas between [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = encoding())]
    encodings: Vec<&'static dyn Encoding>,

    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = compression(),
          help = COMPRESSIONS_HELP.as_str())]
    compressions: Vec<Compressor>,

    #[command(flatten)]
    question: Question,

    /// A question in one argument: --by, --agg and --where as above; given several times, each one is compared
    #[arg(long = "query", value_name = "OPTIONS", value_parser = question, allow_hyphen_values = true,
          conflicts_with_all = ["by", "agg", "filter"])]
    queries: Vec<Question>,

    /// Take only the first N rows of each table
    #[arg(long, value_name = "N", value_parser = some_rows)]
    rows: Option<u64>,

    /// How often each file is asked, and read, with the clock running
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    runs: u32,

    /// How often each file is made
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    convert_runs: u32,

    /// How often each file is asked before that; once at least, to check its answer
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(0..=10_000))]
    warmup: u32,

    /// Measure everything once more with the file dropped from the page cache before each run
    #[arg(long)]
    cold: bool,

    /// How long one run of a cell may take (90s, 10min, 2h): it is ended then, and the cell fails
    /// [default: 10min, or 100 times what the first look at the table takes]
    #[arg(long, value_name = "TIME", value_parser = quantity::parse_duration)]
    timeout: Option<Duration>,

    /// Keep the results in this directory: report.html, README.md, results.csv, results.json; a run that was interrupted
    /// goes on there
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Keep the converted files too, in DIR/files
    #[arg(long, requires = "out")]
    keep: bool,

    /// Measure anew, and replace the results and reports that are there
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    source: Source,

    #[command(flatten)]
    threads: Threads,
}

static COMPRESSIONS_HELP: LazyLock<String> = LazyLock::new(|| {
    let names: Vec<_> = COMPRESSIONS.iter().map(|compression| compression.name()).collect();
    format!(
        "Which compressions to compare, with commas between: {}; some have levels, as in zstd:9 [default: all, each at its \
         usual level]",
        names.join(", ")
    )
});

const AFTER_HELP: &str = "\
Converted files lie beside the results, or in TMPDIR without --out, and are deleted after each cell.
The exit code is 1 if a cell failed. As in SQL, a column whose name is not a plain word is written in double quotes.

Examples:
  brc compare measurements.txt --rows 1M
  brc compare measurements.txt --out comparison --cold
  brc compare measurements.txt --encodings buren,csv --compressions none,lz4 --runs 30
  brc compare measurements.txt --query '' --query '--by \"\" --agg max(temperature)'
  brc compare measurements.buren --by station --agg 'max(temperature)' --where 'temperature > 30'";

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if args.cold && cfg!(not(target_os = "linux")) {
        return Err(Error::Usage("--cold: files can only be dropped from the page cache on Linux".to_owned()).into());
    }
    let (wanted, inputs) = args.wanted()?;
    refuse_impossible(&wanted)?;
    let store = args.out.as_deref().map(|out| Store::new(out, &args.files)).transpose()?;
    let mut results = match &store {
        Some(store) if !args.force => store.resume(wanted)?,
        _ => wanted,
    };
    let not_kept = measure(args, store.as_ref(), &mut results, &inputs)?;
    let views: Vec<View<'_>> = results.tables.iter().filter_map(|table| View::new(&results, table)).collect();
    if let Some(store) = &store {
        store.write("results.csv", csv::render(&views).as_bytes())?;
        store.write("README.md", markdown::render(&results, &views).as_bytes())?;
        store.write("report.html", html::render(&results, &views).as_bytes())?;
    }
    let tables: Vec<String> = views.iter().map(|view| terminal::render(view, screen())).collect();
    stdout::print(tables.join("\n\n").as_bytes())?;
    if let Some(reason) = not_kept.first() {
        anyhow::bail!("a file could not be kept: {reason}");
    }
    let cells = results.tables.iter().flat_map(|table| &table.cells);
    let failed = cells.filter(|cell| matches!(cell.outcome, Outcome::Failed { .. })).count();
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Refuses a table for which nothing can be measured: all encodings and compressions exclude each other.
fn refuse_impossible(wanted: &Results) -> brc_core::Result<()> {
    for table in &wanted.tables {
        let reasons: Vec<String> = table.cells.iter().map_while(why_impossible).collect();
        if reasons.len() == table.cells.len() {
            let reasons = reasons.join("; ");
            return Err(Error::Usage(format!("{}: there can be none of these files: {reasons}", table.input.path)));
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

/// Has everything measured that is not known yet. Returns why files are not where they should stay.
fn measure(
    args: &Args,
    store: Option<&Store>,
    results: &mut Results,
    inputs: &[PathBuf],
) -> anyhow::Result<Vec<String>> {
    let scratch = store.map_or_else(|| store::scratch(&std::env::temp_dir()), Store::scratch)?;
    interrupt::clean_up_when_killed_with(scratch.path());
    let kept = store.filter(|_| args.keep).map(Store::files).transpose()?;
    let mut save = |results: &Results| store.map_or(Ok(()), |store| store.save(results));
    let mut executor = Processes::new(args.threads.count())?;
    let mut monitor = Bar::new();
    let mut matrix = Matrix {
        executor: &mut executor,
        monitor: &mut monitor,
        save: &mut save,
        format: &TableFormat::of(&args.source),
        scratch: scratch.path(),
        kept: kept.as_deref(),
        timeout: args.timeout,
        not_kept: Vec::new(),
    };
    matrix.run(results, inputs)
}

impl Args {
    fn encodings(&self) -> Vec<&'static dyn Encoding> {
        if self.encodings.is_empty() {
            ENCODINGS.to_vec()
        } else {
            once_each(&self.encodings, |it| it.name().to_owned())
        }
    }

    fn compressions(&self) -> Vec<Compressor> {
        let all = || COMPRESSIONS.iter().map(|compression| Compressor::of(*compression)).collect();
        if self.compressions.is_empty() { all() } else { once_each(&self.compressions, ToString::to_string) }
    }

    /// What there will be in the end, without any figure yet, and the files of its tables.
    fn wanted(&self) -> anyhow::Result<(Results, Vec<PathBuf>)> {
        let (inputs, tables) = self.tables()?.into_iter().unzip();
        let settings = Settings {
            encodings: self.encodings().iter().map(|encoding| encoding.name().to_owned()).collect(),
            compressions: self.compressions().iter().map(ToString::to_string).collect(),
            rows: self.rows,
            runs: self.runs,
            convert_runs: self.convert_runs,
            warmup: self.warmup,
            cold: self.cold,
            threads: self.threads.count(),
            from: self.source.from.map(|encoding| encoding.name().to_owned()),
            schema: self.source.schema.as_ref().map(ToString::to_string),
            names: self.source.names.as_ref().map(ToString::to_string),
            separator: self.source.separator,
        };
        let results = Results {
            version: VERSION,
            command: command_line(),
            started: now(),
            environment: Environment::look_around(),
            program: FileIdentity::of(&std::env::current_exe()?, "brc")?,
            settings,
            empty_process: Vec::new(),
            tables,
        };
        Ok((results, inputs))
    }

    fn questions(&self) -> Vec<Question> {
        if self.queries.is_empty() {
            vec![self.question.clone()]
        } else {
            once_each(&self.queries, ToString::to_string)
        }
    }

    /// The files with every question, of which nothing is known but that they can be asked.
    fn tables(&self) -> brc_core::Result<Vec<(PathBuf, TableResults)>> {
        let (encodings, compressions) = (self.encodings(), self.compressions());
        let mut tables = Vec::new();
        for file in once_each(&self.files, |file| file.display().to_string()) {
            refuse_streams(&file)?;
            let opened = self.source.open(&file, &self.source.open_options())?;
            let schema = opened.table.schema();
            let input = FileIdentity::of(&file, &file.to_string_lossy())?;
            for question in self.questions() {
                question.query()?.plan(schema)?;
                let cells = cells(&encodings, &compressions, schema);
                let table = TableResults { input: input.clone(), question, facts: None, as_it_is: None, cells };
                tables.push((file.clone(), table));
            }
        }
        Ok(tables)
    }
}

/// Refuses what can be read only once. A directory is no table either, but that is said when it is opened.
fn refuse_streams(file: &Path) -> brc_core::Result<()> {
    let refuse = |why: &str| Err(Error::Usage(format!("{}: {why}", file.display())));
    if file == Path::new("-") {
        return refuse("standard input is read only once, but a comparison reads a table again and again: name a file");
    }
    let found = std::fs::metadata(file).map_err(Error::io(file, "open"))?;
    if found.is_file() || found.is_dir() { Ok(()) } else { refuse("is read again and again, so it must be a file") }
}

/// Reads how many rows to take: of none, nothing can be said.
fn some_rows(text: &str) -> Result<u64, String> {
    match quantity::parse_count(text)? {
        0 => Err("at least one row is needed".to_owned()),
        rows => Ok(rows),
    }
}

/// The entries without those whose name came before.
fn once_each<T: Clone>(list: &[T], name: impl Fn(&T) -> String) -> Vec<T> {
    let first = |index: usize| list[..index].iter().all(|earlier| name(earlier) != name(&list[index]));
    (0..list.len()).filter(|&index| first(index)).map(|index| list[index].clone()).collect()
}

/// How this process was called, as a shell would take it.
fn command_line() -> String {
    let arguments = std::env::args_os().skip(1).map(|argument| quote(&argument.to_string_lossy()).into_owned());
    std::iter::once("brc".to_owned()).chain(arguments).collect::<Vec<_>>().join(" ")
}

/// What standard output can show: a usual terminal, unless it is one and says something else.
fn screen() -> Screen {
    const USUAL: usize = 120;
    const NARROWEST: usize = 50;
    let stdout = std::io::stdout();
    if !stdout.is_terminal() {
        return Screen { width: USUAL, colour: false };
    }
    let width = rustix::termios::tcgetwinsize(&stdout).map_or(USUAL, |size| usize::from(size.ws_col));
    let width = if width == 0 { USUAL } else { width.max(NARROWEST) };
    Screen { width, colour: std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) }
}
