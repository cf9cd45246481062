//! `brc sniff`: shows what brc takes a file for, and why.

use super::schema;
use crate::preview::{self, FirstRows};
use crate::{printable, stdout};
use brc_core::{Result, Table};
use brc_encodings::input::{self, Source};
use brc_encodings::{Encoding, Input, OpenOptions, for_input, text};
use brc_text::sniff::{PLACE_BYTES, START_BYTES};
use brc_text::{DialectOverrides, Sample, Sniffed};
use std::fmt::Write;
use std::path::PathBuf;

/// Show what a file is taken for, and why: the dialect of a text, the types of its columns, its first rows
///
/// Of other files: encoding, compression and columns.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The file; - is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Print nothing but the columns, as --schema of other commands takes them
    #[arg(long)]
    schema: bool,

    /// How many rows to show
    #[arg(long, short = 'n', value_name = "N", default_value = "5", value_parser = crate::quantity::parse_count)]
    rows: u64,
}

const AFTER_HELP: &str = "\
Examples:
  brc sniff visits.csv
  brc convert visits.csv visits.buren --schema \"$(brc sniff --schema visits.csv)\"";

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let input = Input::open(&args.file)?;
    let encoding = for_input(&input)?;
    let compression = input.compression.map_or("none", |compression| compression.name());
    let sniffed = if encoding.name() == text().name() { Some(sniff(&input)?) } else { None };
    let table = open(encoding, input, sniffed.as_ref());
    if args.schema {
        let table = table?;
        let inferred = table.inferred();
        return Ok(stdout::print_names(format!("{}\n", inferred.as_deref().unwrap_or(table.schema())).as_bytes())?);
    }
    let mut out = String::new();
    line(&mut out, "encoding", encoding.name(), "");
    line(&mut out, "compression", compression, "");
    if let Some(sniffed) = &sniffed {
        for finding in &sniffed.findings {
            line(&mut out, &finding.part.to_string(), &finding.value, &finding.evidence);
        }
        for advice in &sniffed.advice {
            _ = writeln!(out, "note: {}", printable::line(advice.as_bytes()));
        }
    }
    stdout::print_names(out.as_bytes())?;
    let table = table?;
    let rows = FirstRows::of(table.as_ref(), args.rows);
    let inferred = table.inferred();
    let mut out = format!("\n{}\n", schema::columns(inferred.as_deref().unwrap_or(table.schema()))).into_bytes();
    let shown = rows.and_then(|rows| preview::table().render(&rows, &mut out));
    stdout::print_names(&out)?;
    Ok(shown?)
}

/// What was found, and what speaks for it.
fn line(out: &mut String, what: &str, value: &str, evidence: &str) {
    let (value, evidence) = (printable::line(value.as_bytes()), printable::line(evidence.as_bytes()));
    let text = format!("{what:<21}{value:<12} {evidence}");
    // Writing to memory does not fail.
    _ = writeln!(out, "{}", text.trim_end());
}

/// Opens the table, a text by the dialect that was found.
fn open(encoding: &dyn Encoding, input: Input, sniffed: Option<&Sniffed>) -> Result<Box<dyn Table>> {
    let mut options = OpenOptions::default();
    options.dialect.delimiter = sniffed.map(|sniffed| sniffed.dialect.delimiter);
    encoding.open(input, &options)
}

/// Finds the dialect from the file's beginning and, where that can be read at any place, some others.
fn sniff(input: &Input) -> Result<Sniffed> {
    let start = &input.prefix[..input.prefix.len().min(START_BYTES)];
    let mut places: Vec<(u64, Vec<u8>)> = Vec::new();
    let mut length = None;
    if let Source::File { file, length: whole } = &input.source {
        length = Some(*whole);
        for place in 1..=4 {
            let last = whole.saturating_sub(PLACE_BYTES as u64);
            let offset = last / 4 * place + if place == 4 { last % 4 } else { 0 };
            if offset > start.len() as u64 {
                let mut bytes = vec![0; PLACE_BYTES];
                let read = input::read_full_at(file, &mut bytes, offset);
                bytes.truncate(read.map_err(brc_core::Error::io(&input.path, "read"))?);
                places.push((offset, bytes));
            }
        }
    }
    let is_end = |end: u64| length.map_or(end < START_BYTES as u64, |length| end >= length);
    let sample = |offset: u64, bytes| Sample { bytes, offset, is_end: is_end(offset + bytes.len() as u64) };
    let mut samples = vec![sample(0, start)];
    samples.extend(places.iter().map(|(offset, bytes)| sample(*offset, bytes)));
    Ok(brc_text::sniff(&samples, &DialectOverrides::default()))
}
