//! `brc sniff`: shows how brc reads a file, with the evidence.

use super::head::first_rows;
use super::schema;
use crate::args::{Files, Source, Threads};
use crate::inputs::expand;
use crate::progress::watch_table;
use crate::render::{self, render, wrap};
use crate::text_args::TextArgs;
use crate::{changes, printable, stdout};
use brc_core::{Progress, Schema, Table, current_schema, read_rows};
use brc_encodings::folders::FoundFile;
use brc_encodings::{Encoding, Input, OpenOptions, for_named_input, sniff_text, text};
use brc_text::{Part, Sniffed};
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The file; - is standard input, and a directory or a quoted 'part-*.csv' is one table of all its files
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
  brc sniff sales/
  brc convert visits.csv visits.buren --schema @visits.schema";

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let found = expand(std::slice::from_ref(&args.file))?;
    match &found[..] {
        [file] if file.path == args.file => args.show_file(),
        _ => args.show_files(&found),
    }
}

/// What was detected from the first bytes of a file.
pub(crate) struct Detected {
    path: PathBuf,
    pub(crate) encoding: &'static dyn Encoding,
    pub(crate) compression: &'static str,
    pub(crate) sniffed: Option<Sniffed>,
    is_whole: bool,
}

impl Detected {
    fn at(path: &Path, options: &OpenOptions) -> brc_core::Result<(Self, Input)> {
        Self::of(Input::open(path)?, None, options)
    }

    /// Detects the encoding, unless it is named, and the compression and dialect of an open file.
    ///
    /// # Errors
    /// If its encoding cannot be determined.
    pub(crate) fn of(
        mut input: Input,
        named: Option<&'static dyn Encoding>,
        options: &OpenOptions,
    ) -> brc_core::Result<(Self, Input)> {
        let encoding = for_named_input(&input, named)?;
        let sniffed = if encoding.name() == text().name() { Some(sniff_text(&mut input, options)?) } else { None };
        let (compression, is_whole) = (input.compression.unwrap_or("none"), input.is_whole);
        Ok((Self { path: input.path.clone(), encoding, compression, sniffed, is_whole }, input))
    }

    /// A short description of the format.
    fn in_short(&self) -> String {
        let compression = if self.compression == "none" { String::new() } else { format!(", {}", self.compression) };
        let dialect = self.sniffed.as_ref().map(|sniffed| format!(", {}", sniffed.dialect)).unwrap_or_default();
        format!("{}{compression}{dialect}", self.encoding.name())
    }

    fn print(&self) -> brc_core::Result<()> {
        let mut out = String::new();
        line(&mut out, "encoding", self.encoding.name(), "");
        line(&mut out, "compression", self.compression, "");
        if let Some(sniffed) = &self.sniffed {
            for finding in &sniffed.findings {
                let evidence = format!("{} ({})", finding.evidence, option(finding.part));
                line(&mut out, &finding.part.to_string(), &finding.value, &evidence);
            }
            for advice in &sniffed.advice {
                out.push_str(&note(advice));
            }
        }
        stdout::print_names(out.as_bytes())
    }
}

/// The number of differing files that are listed.
const MAX_OTHERS: usize = 10;

impl Args {
    fn options(&self) -> brc_core::Result<OpenOptions> {
        Ok(OpenOptions { names: self.text.names(), text: self.text.options()?, ..OpenOptions::default() })
    }

    fn show_file(&self) -> anyhow::Result<()> {
        let options = self.options()?;
        let (detected, input) = Detected::at(&self.file, &options)?;
        self.text.check([detected.encoding])?;
        let table = detected.encoding.open(input, &options);
        if self.print_schema {
            return self.show_schema(table?.as_ref(), detected.is_whole);
        }
        detected.print()?;
        let table = table?;
        if detected.sniffed.is_none() {
            let notes = table.notes().into_iter().map(|note| format!("note: {}\n", printable::line(note.as_bytes())));
            stdout::print_names(notes.collect::<String>().as_bytes())?;
        }
        if detected.sniffed.is_some() && *table.schema() == Schema::one_brc() {
            stdout::print_names(note(ONE_BRC).as_bytes())?;
        }
        self.show_table(table.as_ref(), detected.is_whole)
    }

    /// Shows the format of the first file, the files that differ from it, and the table of all files.
    fn show_files(&self, found: &[FoundFile]) -> anyhow::Result<()> {
        let options = self.options()?;
        let detect = |file: &FoundFile| Detected::at(&file.path, &options).map(|(detected, _)| detected);
        let detected = found.iter().map(detect).collect::<brc_core::Result<Vec<_>>>()?;
        let is_whole = detected.iter().all(|file| file.is_whole);
        let source =
            Source { from: None, schema: None, binary_as_string: false, max_copy: u64::MAX, text: self.text.clone() };
        let opened = source.open_all(found, &Files::default(), &options);
        if self.print_schema {
            return self.show_schema(opened?.table.as_ref(), is_whole);
        }
        if let [first, others @ ..] = &detected[..] {
            let mut out = String::new();
            line(
                &mut out,
                "files",
                &detected.len().to_string(),
                &format!("what follows is of {}", first.path.display()),
            );
            stdout::print_names(out.as_bytes())?;
            first.print()?;
            let others: Vec<_> = others.iter().filter(|other| other.in_short() != first.in_short()).collect();
            let named = others.iter().take(MAX_OTHERS);
            let mut out: String =
                named.map(|other| note(&format!("{}: {}", other.path.display(), other.in_short()))).collect();
            if others.len() > MAX_OTHERS {
                out += &note(&format!("{} more are written otherwise", others.len() - MAX_OTHERS));
            }
            stdout::print_names(out.as_bytes())?;
        }
        self.show_table(opened?.table.as_ref(), is_whole)
    }

    fn show_schema(&self, table: &dyn Table, is_whole: bool) -> anyhow::Result<()> {
        if let TypesOf::Sample = self.infer(table, is_whole)? {
            message!("note: column types are inferred from a sample; --all infers them from all rows");
        }
        Ok(stdout::print_names(format!("{}\n", current_schema(table)).as_bytes())?)
    }

    /// Shows the columns and the first rows.
    fn show_table(&self, table: &dyn Table, is_whole: bool) -> anyhow::Result<()> {
        match self.infer(table, is_whole)? {
            TypesOf::Sample => stdout::print_names(note(SAMPLE).as_bytes())?,
            TypesOf::All => {}
        }
        let notes: Vec<String> = changes::read(table).iter().map(|line| note(line)).collect();
        stdout::print_names(notes.concat().as_bytes())?;
        let rows = first_rows(table, self.rows);
        let mut out = b"\n".to_vec();
        out.extend(schema::columns(&current_schema(table)));
        out.push(b'\n');
        let shown = rows.and_then(|(plan, rows)| render(render::table(), &plan, &rows, &mut out));
        // Both tables are already escaped, and may contain colours.
        stdout::print(&out)?;
        Ok(shown?)
    }

    /// Infers types from all rows, if requested.
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

/// The rows from which column types are inferred.
enum TypesOf {
    Sample,
    All,
}

const SAMPLE: &str = "column types are inferred from a sample; --all infers them from all rows";

const ONE_BRC: &str =
    "this is the format of the One Billion Row Challenge, so the columns are station and temperature (--names)";

/// The option that overrides a part of the dialect.
pub(crate) fn option(part: Part) -> &'static str {
    match part {
        Part::Charset => "--charset",
        Part::LineEnd => "--line-end",
        Part::Delimiter => "--delimiter",
        Part::Quote => "--quote",
        Part::Escape => "--escape",
        Part::Brackets => "--brackets",
        Part::Comment => "--comment",
        Part::Preamble => "--skip",
        Part::Header => "--header",
        Part::Trim => "--trim",
    }
}

/// Formats a finding with its evidence.
fn line(out: &mut String, what: &str, value: &str, evidence: &str) {
    let (value, evidence) = (printable::line(value.as_bytes()), printable::line(evidence.as_bytes()));
    let text = format!("{what:<21}{value:<12} {evidence}");
    out.push_str(&fitted(text.trim_end(), EVIDENCE));
}

/// The column at which the evidence begins.
const EVIDENCE: usize = 34;

fn note(text: &str) -> String {
    fitted(&format!("note: {}", printable::line(text.as_bytes())), 6)
}

/// Wraps a line to the width of the terminal; continuation lines are indented if there is room.
fn fitted(text: &str, indent: usize) -> String {
    let text = match render::terminal_width().map(usize::from) {
        Some(width) => wrap(text, if width >= 2 * indent { indent } else { 2 }, width),
        None => text.to_owned(),
    };
    text + "\n"
}
