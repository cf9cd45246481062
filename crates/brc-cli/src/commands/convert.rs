//! `brc convert`: writes a table in another encoding.

use crate::args::{Files, Opened, Source, Threads, compression, encoding};
use crate::inputs::{expand, without_nulls};
use crate::progress::{Total, watch};
use crate::quantity;
use brc_compress::Compressor;
use brc_core::{Error, Progress, Schema, Table};
use brc_encodings::{
    Converted, CreateOptions, ENCODINGS, Encoding, OpenOptions, Output, OutputOptions, RejectLog, Target, by_extension,
    check_compression_name, compression_by_extension, convert_inferred, writer,
};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Instant;

/// Write a table in another encoding
///
/// All rows are kept in their order. The output is the old file or the whole new one, never a part. The same input and
/// options give the same bytes, whatever the number of threads, from a file or a pipe.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The files to read, as one table; - is standard input, and a quoted 'part-*.csv' is expanded
    #[arg(value_name = "IN", required = true)]
    inputs: Vec<PathBuf>,

    /// The file to write; - is standard output
    #[arg(value_name = "OUT")]
    output: PathBuf,

    #[command(flatten)]
    files: Files,

    #[command(flatten)]
    source: Source,

    /// The encoding of the output [default: told by its extension]
    #[arg(long, value_name = "ENCODING", value_parser = encoding())]
    to: Option<&'static dyn Encoding>,

    #[arg(long, value_name = "NAME[:LEVEL]", value_parser = compression(), help = COMPRESSION_HELP.as_str())]
    compression: Option<Compressor>,

    /// The column by which rows are grouped inside a row group [default: the string column with the fewest values]
    #[arg(long, value_name = "COLUMN")]
    key: Option<String>,

    /// Write the numbers of a ppm image as text (P3) and not in binary (P6)
    #[arg(long)]
    ascii: bool,

    /// How much text makes up a row group, in bytes; k, M, G are powers of 1024
    #[arg(long, value_name = "BYTES", default_value = "16M", value_parser = row_group)]
    row_group: u64,

    #[command(flatten)]
    threads: Threads,

    /// Replace the output, and the file of rejects, if they are there
    #[arg(long)]
    force: bool,

    /// Do not wait until the output is safe on the disk: a crash of the machine just afterwards may damage it
    #[arg(long)]
    no_sync: bool,

    /// Leave malformed rows of a text out and keep them in this file, with line, byte, column and reason; rows that the
    /// output's encoding cannot hold still stop the conversion
    #[arg(long, value_name = "FILE")]
    rejects: Option<PathBuf>,

    /// How many rows may be rejected [default: any number]
    #[arg(long, value_name = "N", requires = "rejects", value_parser = quantity::parse_count)]
    max_rejects: Option<u64>,
}

static COMPRESSION_HELP: LazyLock<String> = LazyLock::new(|| {
    let names: Vec<_> = brc_compress::COMPRESSIONS.iter().map(|compression| compression.name()).collect();
    format!(
        "How the output is compressed: {}; some have levels, as in zstd:9 [default: told by a second extension, as in \
         .csv.gz, else none]",
        names.join(", ")
    )
});

const AFTER_HELP: &str = "\
Examples:
  brc convert measurements.txt measurements.buren
  brc convert measurements.buren measurements.csv
  brc convert visits.tsv visits.buren --delimiter tab --schema 'ip:string,revenue:decimal(2)'
  brc convert dirty.txt clean.buren --rejects bad-rows.tsv --max-rejects 1000
  brc convert 'visits-*.csv' visits.buren --file-name day
  zcat measurements.txt.gz | brc convert - measurements.buren --compression lz4";

fn row_group(text: &str) -> Result<u64, String> {
    const RANGE: std::ops::RangeInclusive<u64> = 64 << 10..=64 << 20;
    let bytes = quantity::parse_bytes(text)?;
    if RANGE.contains(&bytes) { Ok(bytes) } else { Err("must lie between 64k and 64M".to_owned()) }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let start = Instant::now();
    let to = target_encoding(args)?;
    let options = OpenOptions {
        keep_rejects: args.rejects.is_some(),
        row_group_bytes: Some(args.row_group),
        ..args.source.open_options()
    };
    let inputs = expand(&args.inputs)?;
    let Opened { table, .. } = args.source.open_all(&inputs, &args.files, &options, without_nulls(to))?;
    let compression = target_compression(&args.output, args.compression, to)?;
    let create = args.create_options(to, compression)?;
    crate::interrupt::clean_up_when_killed();
    let begin = |schema: &Schema| {
        let writer = writer(to, schema, &create)?;
        let output = Output::create(&args.output, &args.output_options(&inputs))?;
        Ok(Target { writer, output, rejects: reject_log(args, &inputs)? })
    };
    let progress = Progress::default();
    let threads = args.threads.count();
    let converted =
        watch(&progress, total(table.as_ref()), || convert_inferred(table.as_ref(), begin, threads, &progress))?;
    eprintln!("{}", summary(&converted, start.elapsed().as_secs_f64()));
    Ok(())
}

impl Args {
    fn create_options(&self, to: &dyn Encoding, compression: Compressor) -> Result<CreateOptions, Error> {
        if self.ascii && !to.has_ascii_form() {
            return Err(Error::Usage(format!("--ascii: {} has no second form that is text", to.name())));
        }
        let usual = CreateOptions::new(compression);
        let delimiter = self.source.delimiter.unwrap_or(usual.delimiter);
        Ok(CreateOptions { key: self.key.clone(), delimiter, ascii: self.ascii, ..usual })
    }

    fn output_options(&self, inputs: &[PathBuf]) -> OutputOptions {
        OutputOptions { force: self.force, sync: !self.no_sync, inputs: inputs.to_vec() }
    }
}

fn target_encoding(args: &Args) -> Result<&'static dyn Encoding, Error> {
    args.to.or_else(|| by_extension(&args.output)).ok_or_else(|| {
        let names: Vec<_> = ENCODINGS.iter().map(|encoding| encoding.name()).collect();
        let output = args.output.display();
        Error::Usage(format!("{output}: the name does not tell the encoding: add --to {}", names.join("|")))
    })
}

/// The compression that was asked for, or that the output's name tells.
pub(super) fn target_compression(
    output: &Path,
    compression: Option<Compressor>,
    to: &dyn Encoding,
) -> Result<Compressor, Error> {
    let named = compression_by_extension(output);
    if let Some(named) = named.filter(|_| to.compresses_blocks()) {
        let (output, to, named) = (output.display(), to.name(), named.name());
        let reason =
            format!("{to} compresses its blocks: name the file without that extension, and add --compression {named}");
        return Err(Error::Usage(format!("{output}: {reason}")));
    }
    let compressor = compression.or(named.map(Compressor::of)).unwrap_or_else(Compressor::none);
    let is_whole = !to.compresses_blocks() && !compressor.is_none();
    check_compression_name(output, is_whole.then_some(compressor.compression))?;
    Ok(compressor)
}

fn reject_log(args: &Args, inputs: &[PathBuf]) -> Result<RejectLog, Error> {
    let Some(path) = &args.rejects else { return Ok(RejectLog::none()) };
    if brc_encodings::output::same_target(path, &args.output) {
        return Err(Error::Usage(format!("{}: is the output already", path.display())));
    }
    check_compression_name(path, None)?;
    let file = Output::create(path, &args.output_options(inputs))?;
    let log = RejectLog::to(file, args.max_rejects);
    Ok(if inputs.len() > 1 { log.naming_files() } else { log })
}

fn total(table: &dyn Table) -> Total {
    table.bytes().map_or(Total::Unknown, Total::Bytes)
}

fn summary(converted: &Converted, seconds: f64) -> String {
    let Converted { rows_read, rows_stored, rows_rejected, bytes_in, bytes_out, .. } = converted;
    let [bytes_in, bytes_out] = [bytes_in, bytes_out].map(|&bytes| quantity::bytes(bytes));
    format!(
        "rows read {rows_read} = stored {rows_stored} + rejected {rows_rejected}; \
         {bytes_in} → {bytes_out} in {seconds:.2} s"
    )
}
