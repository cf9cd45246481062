//! `brc sniff`: shows what brc takes a file for, and why.

use super::schema;
use crate::preview::{self, FirstRows};
use crate::{printable, stdout};
use crate::text_args::TextArgs;
use brc_encodings::{Input, OpenOptions, for_input, sniff_text, text};
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

    /// Print only the columns, as --schema of other commands takes them
    #[arg(long = "schema")]
    print_schema: bool,

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
  brc sniff visits.csv --schema > visits.schema
  brc convert visits.csv visits.buren --schema @visits.schema";

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let options = OpenOptions { names: args.text.names(), text: args.text.options(), ..OpenOptions::default() };
    let input = Input::open(&args.file)?;
    let encoding = for_input(&input)?;
    let compression = input.compression.unwrap_or("none");
    let sniffed = if encoding.name() == text().name() { Some(sniff_text(&input, &options)?) } else { None };
    args.text.check(sniffed.is_some(), encoding)?;
    let table = encoding.open(input, &options);
    if args.print_schema {
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
