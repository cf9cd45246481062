//! `brc schema`: shows the columns of tables.

use crate::args::{Opened, Threads};
use crate::progress::watch_table;
use crate::render::{Cells, Header, Look, json_string, lay_out};
use crate::row_args::TableArgs;
use crate::{changes, colour, printable, stdout};
use brc_core::{Progress, Result, Schema, Table, UnsupportedColumn, current_schema};
use brc_encodings::brc_text::Form;
use brc_encodings::encoding::read_all;

#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// Print an array of objects with name, type and nullable
    #[arg(long)]
    json: bool,

    /// Infer types from all rows; this is the default, other than in brc sniff
    #[arg(long)]
    // Accepted for users of brc sniff; it has no effect.
    #[allow(dead_code)]
    all: bool,

    #[command(flatten)]
    threads: Threads,

    #[command(flatten)]
    table: TableArgs,
}

const AFTER_HELP: &str = "\
Examples:
  brc schema measurements.buren
  brc schema measurements.parquet --json | jq -r '.[].name'
  brc schema 'part-*.csv' --union-by-name";

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let Opened { table, .. } = args.table.open(&args.table.found()?)?;
    Ok(show(table.as_ref(), args.threads, args.json)?)
}

/// Prints the columns of a table, with types inferred from all rows.
///
/// # Errors
/// Those of the table and of standard output.
pub(super) fn show(table: &dyn Table, threads: Threads, is_json: bool) -> Result<()> {
    if table.inferred().is_some() {
        let progress = Progress::default();
        watch_table(&progress, table, || read_all(table, threads.count(), &progress))?;
    }
    let schema = &*current_schema(table);
    if is_json {
        stdout::print_names(json(schema).as_bytes())?;
    } else {
        stdout::print(&columns(schema))?;
    }
    for note in changes::read(table) {
        message!("note: {}", printable::line(note.as_bytes()));
    }
    // Unsupported columns that were found in the first rows are already noted.
    let is_noted = |column: &&UnsupportedColumn| {
        table.inferred().is_some() && table.schema().unsupported_columns().contains(column)
    };
    for column in schema.unsupported_columns().iter().filter(|column| !is_noted(column)) {
        message!("{}", printable::line(column.to_string().as_bytes()));
    }
    Ok(())
}

/// Formats one column per line: name, type and nullability, and the text format if any column has a non-default one.
pub(super) fn columns(schema: &Schema) -> Vec<u8> {
    let forms = Form::of_columns(schema);
    let headers = if forms.iter().any(Option::is_some) { &["name", "type", "nulls", "format"][..] } else { HEADERS };
    let mut cells = Cells::default();
    for (field, form) in schema.fields().iter().zip(&forms) {
        cells.push(&printable::line(field.name.as_bytes()));
        cells.push(&field.logical_type.to_string());
        cells.push(if field.nullable { "null" } else { "not null" });
        if headers.len() > HEADERS.len() {
            let form = form.map(|form| form.to_string()).unwrap_or_default();
            cells.push(&printable::line(form.as_bytes()));
        }
    }
    let mut out = Vec::new();
    let look = Look { width: None, colour: colour::of_stdout() };
    lay_out(&headers.iter().map(|header| Header::left(*header)).collect::<Vec<_>>(), &cells, look, &mut out);
    out
}

const HEADERS: &[&str] = &["name", "type", "nulls"];

fn json(schema: &Schema) -> String {
    let column = |field: &brc_core::Field| {
        let (name, of_type) = (json_string(&field.name), json_string(&field.logical_type.to_string()));
        format!("  {{\"name\": {name}, \"type\": {of_type}, \"nullable\": {}}}", field.nullable)
    };
    let columns: Vec<_> = schema.fields().iter().map(column).collect();
    format!("[\n{}\n]\n", columns.join(",\n"))
}
