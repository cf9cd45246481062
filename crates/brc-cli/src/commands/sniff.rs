//! `brc sniff`: shows how brc reads a file, and why.

use super::head::first_rows;
use super::schema;
use crate::args::Threads;
use crate::progress::watch_table;
use crate::render::{self, render, wrap};
use crate::text_args::TextArgs;
use crate::{changes, printable, stdout};
use brc_core::{Progress, Schema, Table, current_schema, read_rows};
use brc_encodings::{Input, OpenOptions, for_input, sniff_text, text};
use brc_text::Part;
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The file; - is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Print only names and types, in the form that --schema of other commands takes
    #[arg(long = "schema")]
    print_schema: bool,

    /// Infer types from all rows, not from a sample
    #[arg(long)]
    all: bool,

    #[command(flatten)]
    threads: Threads,

    /// How many rows to show
    #[arg(long, short = 'n', value_name = "N", default_value = "5", value_parser = crate::quantity::parse_count)]
    rows: u64,

    #[command(flatten)]
    text: TextArgs,
}

const AFTER_HELP: &str = "\
Examples:
  brc sniff visits.csv
  brc sniff visits.csv --delimiter ';' --quote \"'\"
  brc sniff visits.csv --schema --all > visits.schema
  brc convert visits.csv visits.buren --schema @visits.schema";

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let options = OpenOptions { names: args.text.names(), text: args.text.options(), ..OpenOptions::default() };
    let mut input = Input::open(&args.file)?;
    let encoding = for_input(&input)?;
    let compression = input.compression.unwrap_or("none");
    let sniffed = if encoding.name() == text().name() { Some(sniff_text(&mut input, &options)?) } else { None };
    args.text.check([encoding])?;
    let is_whole = input.is_whole;
    let table = encoding.open(input, &options);
    if args.print_schema {
        let table = table?;
        if let TypesOf::Sample = args.infer(table.as_ref(), is_whole)? {
            message!("note: column types are inferred from a sample; --all infers them from all rows");
        }
        return Ok(stdout::print_names(format!("{}\n", current_schema(table.as_ref())).as_bytes())?);
    }
    let mut out = String::new();
    line(&mut out, "encoding", encoding.name(), "");
    line(&mut out, "compression", compression, "");
    if let Some(sniffed) = &sniffed {
        for finding in &sniffed.findings {
            let evidence = format!("{} ({})", finding.evidence, option(finding.part));
            line(&mut out, &finding.part.to_string(), &finding.value, &evidence);
        }
        for advice in &sniffed.advice {
            out.push_str(&note(advice));
        }
    }
    stdout::print_names(out.as_bytes())?;
    let table = table?;
    if sniffed.is_none() {
        let notes = table.notes().into_iter().map(|note| format!("note: {}\n", printable::line(note.as_bytes())));
        stdout::print_names(notes.collect::<String>().as_bytes())?;
    }
    if sniffed.is_some() && *table.schema() == Schema::one_brc() && options.schema.is_none() {
        stdout::print_names(note(ONE_BRC).as_bytes())?;
    }
    match args.infer(table.as_ref(), is_whole)? {
        TypesOf::Sample => stdout::print_names(note(SAMPLE).as_bytes())?,
        TypesOf::All => {}
    }
    let notes: Vec<String> = changes::read(table.as_ref()).iter().map(|line| note(line)).collect();
    stdout::print_names(notes.concat().as_bytes())?;
    let rows = first_rows(table.as_ref(), args.rows);
    let mut out = b"\n".to_vec();
    out.extend(schema::columns(&current_schema(table.as_ref())));
    out.push(b'\n');
    let shown = rows.and_then(|(plan, rows)| render(render::table(), &plan, &rows, &mut out));
    // Both tables have nothing in them that a terminal would obey, but for colours.
    stdout::print(&out)?;
    Ok(shown?)
}

impl Args {
    /// Infers types from all rows, if that is asked for.
    fn infer(&self, table: &dyn Table, is_whole: bool) -> brc_core::Result<TypesOf> {
        if table.inferred().is_none() {
            return Ok(TypesOf::All);
        }
        if !self.all && !is_whole {
            return Ok(TypesOf::Sample);
        }
        let progress = Progress::default();
        watch_table(&progress, table, || read_rows(table, self.threads.count(), &progress))?;
        Ok(TypesOf::All)
    }
}

/// What the types of columns are inferred from.
enum TypesOf {
    Sample,
    All,
}

const SAMPLE: &str = "column types are inferred from a sample; --all infers them from all rows";

const ONE_BRC: &str =
    "this is the format of the One Billion Row Challenge, so the columns are station and temperature (--names)";

/// The option that overrides a part of the dialect.
fn option(part: Part) -> &'static str {
    match part {
        Part::Charset => "--charset",
        Part::LineEnd => "--line-end",
        Part::Delimiter => "--delimiter",
        Part::Quote => "--quote",
        Part::Escape => "--escape",
        Part::Comment => "--comment",
        Part::Preamble => "--skip",
        Part::Header => "--header",
        Part::Trim => "--trim",
    }
}

/// What was found, and what speaks for it.
fn line(out: &mut String, what: &str, value: &str, evidence: &str) {
    let (value, evidence) = (printable::line(value.as_bytes()), printable::line(evidence.as_bytes()));
    let text = format!("{what:<21}{value:<12} {evidence}");
    out.push_str(&fitted(text.trim_end(), EVIDENCE));
}

/// Where evidence begins.
const EVIDENCE: usize = 34;

fn note(text: &str) -> String {
    fitted(&format!("note: {}", printable::line(text.as_bytes())), 6)
}

/// A line as wide as the terminal: what goes on is indented, if there is room for it.
fn fitted(text: &str, indent: usize) -> String {
    let text = match render::terminal_width().map(usize::from) {
        Some(width) => wrap(text, if width >= 2 * indent { indent } else { 2 }, width),
        None => text.to_owned(),
    };
    text + "\n"
}
