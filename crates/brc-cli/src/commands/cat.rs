//! `brc cat`: writes rows of tables, some or all of them.

use super::convert::target_compression;
use crate::args::{ConversionMemory, Files, Opened, Source, Threads, compression, encoding};
use crate::inputs::expand;
use crate::metrics;
use crate::text_args::delimiter;
use brc_compress::Compressor;
use brc_core::{Progress, Schema, current_schema, identifier, with_types};
use brc_encodings::projected::Filter;
use brc_encodings::{
    CreateOptions, Encoding, OpenOptions, Output, OutputOptions, Projected, by_extension, convert,
    delimiter_by_extension, text, writer,
};
use brc_query::Expression;
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The files to read, as one table; - is standard input, and a quoted 'part-*.csv' is expanded
    #[arg(value_name = "FILE", required = true)]
    inputs: Vec<PathBuf>,

    /// The columns to write, in this order, separated by commas [default: all]
    #[arg(long, value_name = "COLUMNS", allow_hyphen_values = true, value_parser = columns)]
    columns: Option<Columns>,

    /// Write only rows that satisfy this SQL condition
    #[arg(long = "where", value_name = "CONDITION", allow_hyphen_values = true)]
    filter: Option<String>,

    /// The encoding of the output [default: inferred from its extension, else csv]
    #[arg(long, value_name = "ENCODING", value_parser = encoding())]
    to: Option<&'static dyn Encoding>,

    /// The file to write; - is standard output
    #[arg(long, short, value_name = "OUT", default_value = "-")]
    output: PathBuf,

    /// How the output is compressed, as for convert [default: inferred from a second extension, else none]
    #[arg(long, value_name = "NAME[:LEVEL]", value_parser = compression())]
    compression: Option<Compressor>,

    /// Overwrite the output if it exists
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    files: Files,

    /// The delimiter of a text output [default: a tab for .tsv, else that of --delimiter, else a comma; a semicolon for the
    /// table of the One Billion Row Challenge]
    #[arg(long, value_name = "CHAR", value_parser = delimiter)]
    output_delimiter: Option<u8>,

    #[command(flatten)]
    memory: ConversionMemory,

    #[command(flatten)]
    threads: Threads,

    #[command(flatten)]
    source: Source,
}

const AFTER_HELP: &str = "\
Examples:
  brc cat measurements.buren | head
  brc cat measurements.buren --where 'temperature > 60' --to json
  brc cat measurements.parquet --columns temperature,station -o swapped.csv
  brc cat 'part-*.csv' --file-name part --where \"part != 'part-3.csv'\" -o parts.parquet";

/// Where rows lie one behind the other, they do not wait for so many bytes of others, as they would for a row group.
const STREAMED: u64 = 2 << 20;

/// Names of columns.
#[derive(Clone)]
struct Columns(Vec<String>);

fn columns(list: &str) -> Result<Columns, identifier::ListError> {
    identifier::parse_list(list).map(Columns)
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let to = args.to.or_else(|| by_extension(&args.output)).unwrap_or_else(text);
    let filter = args.filter.as_deref().map(condition).transpose()?;
    let inputs = expand(&args.inputs)?;
    let budget = args.memory.budget();
    let row_group_bytes = Some(budget.row_group_bytes()).filter(|&bytes| to.compresses_blocks() || bytes < STREAMED);
    let options = OpenOptions { row_group_bytes, ..args.source.open_options() };
    let Opened { table, .. } = args.source.open_all(&inputs, &args.files, &options)?;
    let compression = target_compression(&args.output, args.compression, to)?;
    let delimiter = args.output_delimiter.or(delimiter_by_extension(&args.output)).or(args.source.delimiter());
    let dictionary_bytes = Some(budget.dictionary_bytes());
    let create = CreateOptions { delimiter, dictionary_bytes, ..CreateOptions::new(compression) };
    crate::interrupt::clean_up_when_killed();
    let output_options = OutputOptions { force: args.force, sync: true, inputs };
    let workers = budget.workers(args.threads.count(), row_group_bytes.unwrap_or(STREAMED));
    let (table, progress) = (table.as_ref(), Progress::default());
    let columns = args.columns.as_ref().map(|columns| &columns.0[..]);
    let write = |_: &Schema| {
        let rows = Projected::new(table, columns, filter.as_deref())?;
        let writer = writer(to, &current_schema(&rows), &create)?;
        let output = Output::create(&args.output, &output_options)?;
        convert(&rows, writer, output, args.source.text.reject_log(), workers, &progress)
    };
    metrics::follow(&progress, || with_types(table, workers.threads, &progress, write))?;
    Ok(())
}

/// The filter that a condition is.
fn condition(text: &str) -> brc_core::Result<Box<Filter>> {
    let expression = Expression::parse(text)?;
    Ok(Box::new(move |schema| expression.resolve(schema)))
}
