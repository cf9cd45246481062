//! How rows are printed: one file for each format, and the list of all of them.
//!
//! A format writes rows as an encoding does, in parts that follow one another: so a long answer is printed while it is computed.

mod arrow;
mod csv;
mod json;
mod layout;
mod lines;
mod markdown;
mod one_brc;
mod table;
mod vertical;

pub(crate) use json::json_string;
pub(crate) use layout::{Cells, Header, Look, cut, lay_out, width_of, wrap};
pub(crate) use lines::{codes_of_runs, with_codes};
pub(crate) use table::terminal_width;

use brc_core::{BatchWriter, Error, LogicalType, Result, ScanError, ScanOptions, Schema, Sink, Table, Value};
use brc_query::{Plan, QueryResult};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// A way to print rows.
pub(crate) trait Format: Sync {
    /// Its name, as in `--format`.
    fn name(&self) -> &'static str;

    /// Other names of it.
    fn aliases(&self) -> &'static [&'static str] {
        &[]
    }

    /// One line on what it is, for help texts.
    fn about(&self) -> &'static str;

    /// Whether it can express answers to that plan.
    ///
    /// # Errors
    /// [`brc_core::Error::Usage`] if it cannot.
    fn check(&self, _plan: &Plan) -> Result<()> {
        Ok(())
    }

    /// Whether it can express whatever there is: then rows may be printed as they come.
    fn expresses_all(&self) -> bool {
        false
    }

    /// Whether it is for programs alone, and no terminal can show it.
    fn is_binary(&self) -> bool {
        false
    }

    /// Whether all that it writes may go to a terminal as it is: bytes that a terminal would obey are escaped, but for
    /// colours.
    fn is_printable(&self) -> bool {
        false
    }

    /// Writes rows of these columns. An encoder fails with [`brc_core::Error::Usage`] if the format cannot express a value.
    fn writer(&self, schema: &Schema) -> Box<dyn BatchWriter>;

    /// The same for a format that is text as tables come in, which writes values in the forms that the schema has.
    fn text_writer(&self, _schema: &Schema) -> Option<Box<dyn BatchWriter>> {
        None
    }

    /// The same for rows of a table, of which more may be known.
    fn writer_of(&self, table: &dyn Table) -> Box<dyn BatchWriter> {
        self.writer(table.schema())
    }
}

/// All formats, in the order in which help texts show them.
static FORMATS: &[&dyn Format] = &[
    &one_brc::OneBrc,
    &table::WIDE,
    &vertical::Vertical,
    &csv::CSV,
    &csv::TSV,
    &json::JSON,
    &json::JSON_ARRAY,
    &markdown::Markdown,
    &arrow::Arrow,
];

/// Reads the name of a format.
pub(crate) fn format() -> impl TypedValueParser<Value = &'static dyn Format> {
    let values = FORMATS
        .iter()
        .map(|format| PossibleValue::new(format.name()).aliases(format.aliases().iter().copied()).help(format.about()));
    PossibleValuesParser::new(values)
        .try_map(|name| format_by_name(&name).ok_or_else(|| format!("unknown format {name}")))
}

/// The format of that name or alias.
pub(crate) fn format_by_name(name: &str) -> Option<&'static dyn Format> {
    FORMATS.iter().copied().find(|format| format.name() == name || format.aliases().contains(&name))
}

/// The names of all formats that a terminal shows.
pub(crate) fn format_names() -> Vec<&'static str> {
    FORMATS.iter().filter(|format| !format.is_binary()).map(|format| format.name()).collect()
}

/// What is printed if nothing else is asked for: the official line where it fits, else a table.
pub(crate) fn default_format(plan: &Plan) -> &'static dyn Format {
    if plan.is_one_brc() { &one_brc::OneBrc } else { table() }
}

/// The format for people.
pub(crate) fn table() -> &'static dyn Format {
    &table::WIDE
}

/// The same without colours, and cut where there is no terminal, too.
pub(crate) fn narrow_table() -> &'static dyn Format {
    &table::NARROW
}

/// The format of one value a line.
pub(crate) fn vertical() -> &'static dyn Format {
    &vertical::Vertical
}

/// The format that tells answers apart: it is lossless, for any question and any bytes.
pub(crate) fn exact_format() -> &'static dyn Format {
    &csv::CSV
}

/// Appends a whole answer.
///
/// # Errors
/// [`brc_core::Error::Usage`] if the format cannot express it.
pub(crate) fn render(format: &dyn Format, plan: &Plan, answer: &QueryResult, out: &mut Vec<u8>) -> Result<()> {
    format.check(plan)?;
    let table = answer.table()?;
    let mut writer = format.writer_of(&table);
    out.extend(writer.start());
    let (mut scanner, mut encoder) = (table.scanner(&ScanOptions::everything(table.schema()))?, writer.encoder());
    for split in (0..).map_while(|index| table.split(index)) {
        let sink: &mut dyn Sink = encoder.as_mut();
        scanner.scan(&split, sink).map_err(other)?;
        let mut part = encoder.finish()?;
        writer.append(&mut part)?;
        out.extend(part.bytes);
    }
    out.extend(writer.finish()?);
    Ok(())
}

/// An answer has no bad rows, and its types are known.
fn other(error: ScanError) -> Error {
    match error {
        ScanError::Other(error) => error,
        ScanError::BadRow { .. } | ScanError::Widened => Error::Widened,
    }
}

/// Appends the text form of a value of that type; nothing for a null.
fn plain(value: Option<Value<'_>>, logical_type: LogicalType, out: &mut Vec<u8>) {
    if let Some(value) = value {
        value.write(logical_type, out);
    }
}

/// A value as it can be shown on one line, whatever bytes it has.
fn cell(value: Option<Value<'_>>, logical_type: LogicalType) -> String {
    if value.is_none() {
        return "null".to_owned();
    }
    let mut bytes = Vec::new();
    plain(value, logical_type, &mut bytes);
    crate::printable::line(&bytes).into_owned()
}

/// The formats of a few values of all kinds, for tests.
#[cfg(test)]
fn rendered(format: &dyn Format) -> String {
    use brc_core::{Batch, BitmapBuffer, ByteStrings, Column, Data, Integers};
    let schema = Schema::parse("a|b:string,n:decimal(4,2),d:date,f:float64,b:bool").unwrap();
    let mut first_only = BitmapBuffer::default();
    [true, false].into_iter().for_each(|value| first_only.push(value));
    let nullable = |data: Data<'static>| Column::from(data);
    let strings = nullable(Data::Bytes(ByteStrings::new(&[0, 6, 6], b"x, \"y\"")));
    let floats = nullable(Data::Floats(&[f64::NAN, 1e300]));
    let decimals = nullable(Data::Integers(Integers::I64(&[150, 0]))).with_validity(first_only.bitmap());
    let dates = nullable(Data::Integers(Integers::I32(&[19782, 0]))).with_validity(first_only.bitmap());
    let bools = nullable(Data::Integers(Integers::I8(&[1, 0]))).with_validity(first_only.bitmap());
    let mut writer = format.writer(&schema);
    let mut out = writer.start();
    let mut encoder = writer.encoder();
    let columns = [strings, decimals, dates, floats, bools];
    encoder.batch(&Batch { rows: 2, columns: &columns }).unwrap();
    let mut part = encoder.finish().unwrap();
    writer.append(&mut part).unwrap();
    out.extend(part.bytes);
    out.extend(writer.finish().unwrap());
    String::from_utf8(out).unwrap()
}
