//! `brc convert`: writes a table in another encoding.

mod appending;
mod partitions;

use crate::args::{CONVERSION_MEMORY, Files, MemoryArgs, Source, Threads, compression, target_encoding};
use crate::changes;
use crate::failure::hint;
use crate::inputs::{expand, sources};
use crate::progress::watch_table;
use crate::row_args::{Columns, columns};
use crate::target::{encoding_of, refuse_delimiter, refuse_missing, target_compression};
use crate::text_args::delimiter;
use crate::{inputs, printable, quantity};
use brc_compress::Compressor;
use brc_core::decimal::counted;
use brc_core::{Error, Progress, RowFault, Schema, SkippedLines, Table, current_schema};
use brc_encodings::append::Appendable;
use brc_encodings::{
    Converted, CreateOptions, Encoding, Input, OpenOptions, Output, OutputOptions, RejectLog, RejectReason, Target,
    check_text_name, convert_inferred, delimiter_by_extension, writer,
};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Instant;

#[derive(clap::Args)]
#[command(after_help = AFTER_HELP, override_usage = "brc convert [OPTIONS] <IN>... <OUT>",
          mut_arg("memory", |memory| memory.help(CONVERSION_MEMORY)))]
pub(crate) struct Args {
    /// The files to read as one table, then the file to write. Inputs may be a quoted glob such as 'part-*.csv' or a
    /// directory (all files below it); - is standard input or output
    // A single list, because clap does not accept options between a repeated positional argument and the next one.
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,

    #[command(flatten)]
    files: Files,

    /// The delimiter of a text output [default: a tab for .tsv, else that of --delimiter, else a comma; a semicolon for
    /// the table of the One Billion Row Challenge]
    #[arg(long, value_name = "CHAR", value_parser = delimiter)]
    output_delimiter: Option<u8>,

    /// The encoding of the output [default: inferred from its extension]
    #[arg(long, value_name = "ENCODING", value_parser = target_encoding())]
    to: Option<&'static dyn Encoding>,

    #[arg(long, value_name = "NAME[:LEVEL]", value_parser = compression(), help = COMPRESSION_HELP.as_str())]
    compression: Option<Compressor>,

    /// Store the rows of each buren row group grouped by this column, so that conditions on it read less, if its values
    /// have 16 rows or more each on average; none turns this off [default: a column that saves at least 2 %; the strings
    /// of a table that has one column of them, and a few of numbers]
    #[arg(long, value_name = "COLUMN")]
    key: Option<String>,

    /// Write a ppm image as text (P3) instead of binary (P6)
    #[arg(long)]
    ascii: bool,

    /// The size of a row group in bytes of text; csv, json and ppm have row groups only if they are compressed; k, M, G
    /// are powers of 1024 [default: 16M, less if --memory is small]
    #[arg(long, value_name = "BYTES", value_parser = row_group)]
    row_group: Option<u64>,

    #[command(flatten)]
    memory: MemoryArgs,

    #[command(flatten)]
    threads: Threads,

    /// Overwrite the output and the rejects file if they exist
    #[arg(long)]
    force: bool,

    /// Append the rows to the output, a buren file with the same columns, as new row groups; create it if it does not
    /// exist. Text is read in the column types of the file
    #[arg(long, conflicts_with_all = ["partition_by", "compression", "force"])]
    append: bool,

    /// Write a directory with one Hive folder per combination of values of these columns, as in
    /// OUT/country=DE/year=2024/part-0.buren. The files do not repeat these columns; --to sets their encoding [default:
    /// buren]
    #[arg(long, value_name = "COLUMNS", allow_hyphen_values = true, value_parser = columns,
          conflicts_with_all = ["rejects", "row_group"])]
    pub(crate) partition_by: Option<Columns>,

    /// Do not sync the output to disk: faster, but a crash of the machine may damage it
    #[arg(long)]
    no_sync: bool,

    /// Write bad rows of a text file to this TSV file, with line, byte offset, column and reason, and go on. Values
    /// that the output encoding cannot hold still stop the run
    #[arg(long, value_name = "FILE")]
    rejects: Option<PathBuf>,

    /// Fail if more than N rows are rejected [default: no limit]
    #[arg(long, value_name = "N", requires = "rejects", value_parser = quantity::parse_count)]
    max_rejects: Option<u64>,

    #[command(flatten)]
    source: Source,
}

static COMPRESSION_HELP: LazyLock<String> = LazyLock::new(|| {
    let names: Vec<_> = brc_compress::COMPRESSIONS.iter().map(|compression| compression.name()).collect();
    format!(
        "The compression of the output: {}; some have levels, as in zstd:9 [default: inferred from a second extension, as in \
         .csv.gz, else none]",
        names.join(", ")
    )
});

const AFTER_HELP: &str = "\
Examples:
  brc convert measurements.txt measurements.buren
  brc convert measurements.buren measurements.csv
  brc convert visits.csv visits.parquet
  brc convert visits.tsv visits.buren --delimiter tab --null ',NA' --type 'revenue=decimal(10,2)'
  brc convert dirty.txt clean.buren --rejects bad-rows.tsv --max-rejects 1000
  brc convert 'visits-*.csv' visits.buren --file-name day
  brc convert visits.csv visits --partition-by country,year --to parquet
  brc convert today.csv visits.buren --append
  zcat measurements.txt.gz | brc convert - measurements.buren --compression lz4";

fn row_group(text: &str) -> Result<u64, String> {
    const RANGE: std::ops::RangeInclusive<u64> = 64 << 10..=64 << 20;
    let bytes = quantity::parse_bytes(text)?;
    if RANGE.contains(&bytes) { Ok(bytes) } else { Err("must be between 64k and 64M".to_owned()) }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let start = Instant::now();
    if args.inputs().is_empty() {
        return Err(Error::Usage("convert needs an input and an output: brc convert IN… OUT".to_owned()).into());
    }
    if let Some(columns) = &args.partition_by {
        return Ok(partitions::write(args, columns.names(), start)?);
    }
    let conversion = Conversion::begin(args)?;
    inputs::print_notes(conversion.table());
    crate::interrupt::clean_up_when_killed();
    let progress = Progress::default();
    let converted = watch_table(&progress, conversion.table(), || conversion.run(&progress))?;
    message!("{}", summary(&converted, start.elapsed().as_secs_f64()));
    for line in notes(&converted, conversion.table()) {
        message!("{}", printable::lines(line.as_bytes()));
    }
    Ok(())
}

/// A conversion with its input opened.
pub(crate) struct Conversion<'a> {
    args: &'a Args,
    to: &'static dyn Encoding,
    create: CreateOptions,
    inputs: Vec<PathBuf>,
    table: Box<dyn Table>,
    target: Option<Appendable>,
}

impl<'a> Conversion<'a> {
    /// Opens the input.
    ///
    /// # Errors
    /// Those of the options, the input and the output.
    pub(crate) fn begin(args: &'a Args) -> Result<Self, Error> {
        let to = encoding_of(args.output(), args.to)?;
        let options = args.open_options()?;
        let files = expand(args.inputs())?;
        let target = if args.append { Appendable::open(args.output(), to)? } else { None };
        let has_types = !options.text.types.is_empty();
        let options = match &target {
            Some(target) => appending::options(options, target.schema(), &args.files.added_columns(&files)?),
            None => options,
        };
        let opened = args.source.open_quietly(&files, &args.files, &options);
        let explained = |error| if has_types { error } else { appending::explained(error, args.output()) };
        let opened = opened.map_err(explained)?;
        Self::of(args, to, sources(&files), opened.table, target)
    }

    /// Like [`Conversion::begin`], for an open input instead of the named ones.
    ///
    /// # Errors
    /// Those of the options, the input and the output.
    pub(crate) fn of_input(args: &'a Args, input: Input) -> Result<Self, Error> {
        let to = encoding_of(args.output(), args.to)?;
        let target = if args.append { Appendable::open(args.output(), to)? } else { None };
        let options = match &target {
            Some(target) => appending::options(args.open_options()?, target.schema(), &[]),
            None => args.open_options()?,
        };
        let opened = args.source.open_input(input, &options)?;
        args.source.text.check([opened.encoding])?;
        Self::of(args, to, Vec::new(), opened.table, target)
    }

    /// Like [`Conversion::begin`], for an open table instead of the named inputs.
    ///
    /// # Errors
    /// Those of the options and the output.
    pub(crate) fn of_table(args: &'a Args, table: Box<dyn Table>) -> Result<Self, Error> {
        let to = encoding_of(args.output(), args.to)?;
        let target = if args.append { Appendable::open(args.output(), to)? } else { None };
        Self::of(args, to, Vec::new(), table, target)
    }

    fn of(
        args: &'a Args,
        to: &'static dyn Encoding,
        inputs: Vec<PathBuf>,
        table: Box<dyn Table>,
        target: Option<Appendable>,
    ) -> Result<Self, Error> {
        if let Some(target) = &target {
            target.schema_with(&current_schema(table.as_ref()))?;
        }
        let compression = target_compression(args.output(), args.compression, to)?;
        let create = args.create_options(to, compression, args.memory.budget().dictionary_bytes())?;
        Ok(Self { args, to, create, inputs, table, target })
    }

    pub(crate) fn table(&self) -> &dyn Table {
        self.table.as_ref()
    }

    /// Converts the table.
    ///
    /// # Errors
    /// As for [`convert_inferred`].
    pub(crate) fn run(&self, progress: &Progress) -> Result<Converted, Error> {
        let Self { args, to, create, inputs, table, target } = self;
        let begin = |schema: &Schema| {
            let output = Output::create(args.output(), &args.output_options(inputs))?;
            let writer = match target {
                Some(target) => appending::writer(target, schema, create, &output)?,
                None => writer(*to, schema, create)?,
            };
            Ok(Target { writer, output, rejects: reject_log(args, inputs)? })
        };
        let workers = args.memory.budget().workers(args.threads.count(), args.row_group_bytes());
        convert_inferred(table.as_ref(), begin, workers, progress)
    }
}

/// The notes on a conversion, one line each.
pub(crate) fn notes(converted: &Converted, table: &dyn Table) -> Vec<String> {
    let skipped = skipped(&converted.skipped_lines);
    let notes = skipped.into_iter().chain(rejected(converted)).chain(unsupported_columns(table));
    let notes = notes.chain(changes::read(table)).chain(changes::text(table)).chain(changes::altered(table));
    notes.chain(converted.remark.clone()).collect()
}

impl Args {
    fn inputs(&self) -> &[PathBuf] {
        self.paths.split_last().map_or(&[], |(_, inputs)| inputs)
    }

    fn open_options(&self) -> Result<OpenOptions, Error> {
        let row_group_bytes = Some(self.row_group_bytes());
        Ok(OpenOptions { keep_rejects: self.rejects.is_some(), row_group_bytes, ..self.source.open_options()? })
    }

    fn row_group_bytes(&self) -> u64 {
        self.row_group.unwrap_or(self.memory.budget().row_group_bytes())
    }

    fn output(&self) -> &Path {
        self.paths.last().map_or(Path::new("-"), PathBuf::as_path)
    }

    fn create_options(
        &self,
        to: &dyn Encoding,
        compression: Compressor,
        dictionary_bytes: usize,
    ) -> Result<CreateOptions, Error> {
        self.check_options_of(to, compression)?;
        let default = CreateOptions::new(compression);
        let delimiter = self.output_delimiter.or(delimiter_by_extension(self.output())).or(self.source.delimiter());
        let (key, ascii) = (self.key.clone(), self.ascii);
        Ok(CreateOptions { key, delimiter, ascii, dictionary_bytes: Some(dictionary_bytes), ..default })
    }

    /// Refuses options that the encoding of the output does not have.
    fn check_options_of(&self, to: &dyn Encoding, compression: Compressor) -> Result<(), Error> {
        refuse_missing(to, "--ascii", self.ascii && !to.has_ascii_form(), "second form that is text")?;
        refuse_missing(to, "--key", self.key.is_some() && !to.has_cluster_key(), "cluster key")?;
        // Compressed text consists of parts of this size.
        let has_parts = to.has_row_groups() || !compression.is_none();
        refuse_missing(
            to,
            "--row-group",
            self.row_group.is_some() && !has_parts,
            "row groups unless it is compressed",
        )?;
        refuse_delimiter(to, self.output_delimiter)
    }

    fn output_options(&self, inputs: &[PathBuf]) -> OutputOptions {
        OutputOptions { force: self.force || self.append, sync: !self.no_sync, inputs: inputs.to_vec() }
    }
}

fn reject_log(args: &Args, inputs: &[PathBuf]) -> Result<RejectLog, Error> {
    let Some(path) = &args.rejects else { return Ok(args.source.text.reject_log()) };
    if brc_encodings::output::same_target(path, args.output()) {
        return Err(Error::Usage(format!("{}: is also the output; choose a different rejects file", path.display())));
    }
    check_text_name(path)?;
    if args.append && has_rows(path) {
        let reason = "already has rejected rows; with --append, --rejects needs a new file";
        return Err(Error::Usage(format!("{}: {reason}", path.display())));
    }
    let file = Output::create(path, &args.output_options(inputs))?;
    let log = RejectLog::to(file, args.max_rejects);
    let files = inputs.iter().filter(|input| !input.is_dir()).count();
    Ok(if files > 1 { log.naming_files() } else { log })
}

/// Whether there is a file with more than the header of a rejects file.
fn has_rows(path: &Path) -> bool {
    path.is_file() && File::open(path).is_ok_and(|file| BufReader::new(file).split(b'\n').nth(1).is_some())
}

fn summary(converted: &Converted, seconds: f64) -> String {
    let Converted { rows_stored, rows_rejected, bytes_in, bytes_out, .. } = converted;
    let [bytes_in, bytes_out] = [bytes_in, bytes_out].map(|&bytes| quantity::bytes(bytes));
    let (rows, rejected) = (counted(*rows_stored, "row"), quantity::count(*rows_rejected));
    format!("{rows} written, {rejected} rejected; {bytes_in} → {bytes_out} in {seconds:.2} s")
}

/// The numbers of skipped lines by kind; `None` if nothing but the header was skipped.
fn skipped(lines: &SkippedLines) -> Option<String> {
    let kinds = [
        (lines.preamble, "line", " before the table"),
        (lines.comments, "comment line", ""),
        (lines.blank, "blank line", ""),
        (lines.repeated_headers, changes::REPEATED_HEADER, ""),
        (lines.footer, "line", " after the table"),
    ];
    let kinds = kinds.iter().filter(|(lines, ..)| *lines > 0);
    let kinds: Vec<_> = kinds.map(|(lines, noun, position)| format!("{}{position}", counted(*lines, noun))).collect();
    let renamings = changes::renamings(lines.renamings).map(|line| format!("; {line}")).unwrap_or_default();
    (!kinds.is_empty()).then(|| format!("skipped {}{renamings}", kinds.join(", ")))
}

/// The number of rejection reasons that are listed.
const MAX_REASONS: usize = 5;

/// The reasons why rows were rejected, one line each, with hints.
fn rejected(converted: &Converted) -> Vec<String> {
    let line = |reason: &RejectReason| {
        let RejectReason { column, fault, rows, first_line } = reason;
        let column = column.as_ref().map(|column| format!("column '{column}': ")).unwrap_or_default();
        let kind = fault.as_ref().map_or("other reasons".to_owned(), RowFault::kind);
        let hint = fault.as_ref().and_then(hint).map(|hint| format!("; {hint}")).unwrap_or_default();
        format!("rejected {}: {column}{kind} (first on line {first_line}){hint}", counted(*rows, "row"))
    };
    let mut lines: Vec<_> = converted.reasons.iter().take(MAX_REASONS).map(line).collect();
    let rest: u64 = converted.reasons.iter().skip(MAX_REASONS).map(|reason| reason.rows).sum();
    if rest > 0 {
        lines.push(format!("rejected {} for other reasons", counted(rest, "row")));
    }
    lines
}

/// Columns that were found while reading to have no supported type.
fn unsupported_columns(table: &dyn Table) -> Vec<String> {
    let Some(schema) = table.inferred() else { return Vec::new() };
    let known = table.schema().unsupported_columns();
    schema
        .unsupported_columns()
        .iter()
        .filter(|column| !known.contains(column))
        .map(|it| format!("{it}; it is left out"))
        .collect()
}
