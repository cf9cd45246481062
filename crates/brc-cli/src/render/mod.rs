//! The output formats, one file each, and their list.
//!
//! A format writes rows as an encoding does, in parts that are written in order, so that a long result is printed while
//! it is computed.

mod arrow;
mod csv;
mod json;
mod layout;
mod lines;
mod markdown;
mod one_brc;
mod table;
mod vertical;

pub(crate) use json::{json_string, json_text};
pub(crate) use layout::{Cells, Header, Look, cut, lay_out, width_of, wrap};
pub(crate) use table::terminal_width;

use brc_core::{BatchWriter, LogicalType, Result, ScanError, ScanOptions, Schema, Sink, Table, Value};
use brc_query::{Answer, Plan};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// An output format.
pub(crate) trait Format: Sync {
    /// Its name, as in `--format`.
    fn name(&self) -> &'static str;

    /// Aliases of the name.
    fn aliases(&self) -> &'static [&'static str] {
        &[]
    }

    /// A one-line description for help texts.
    fn about(&self) -> &'static str;

    /// Checks whether it can express the results of a plan.
    ///
    /// # Errors
    /// [`brc_core::Error::Usage`] if it cannot.
    fn check(&self, _plan: &Plan) -> Result<()> {
        Ok(())
    }

    /// Whether it can express every value, so that rows may be printed as they are computed.
    fn expresses_all(&self) -> bool {
        false
    }

    /// Whether it is binary, so that it cannot be shown on a terminal.
    fn is_binary(&self) -> bool {
        false
    }

    /// Whether its output is safe for a terminal: control characters other than colours are escaped.
    fn is_printable(&self) -> bool {
        false
    }

    /// Creates a writer of rows. Its encoders fail with [`brc_core::Error::Usage`] if the format cannot express a
    /// value.
    fn writer(&self, schema: &Schema) -> Box<dyn BatchWriter>;

    /// For text formats that tables are read from: a writer that uses the text forms of the schema.
    fn text_writer(&self, _schema: &Schema) -> Option<Box<dyn BatchWriter>> {
        None
    }

    /// A writer for the rows of a table, whose dictionaries may be used.
    fn writer_of(&self, table: &dyn Table) -> Box<dyn BatchWriter> {
        self.writer(table.schema())
    }
}

/// All formats, in the order of the help text.
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

/// Parses the name of a format.
pub(crate) fn format() -> impl TypedValueParser<Value = &'static dyn Format> {
    let values = FORMATS
        .iter()
        .map(|format| PossibleValue::new(format.name()).aliases(format.aliases().iter().copied()).help(format.about()));
    PossibleValuesParser::new(values)
        .try_map(|name| format_by_name(&name).ok_or_else(|| format!("unknown format {name}")))
}

/// The format with the given name or alias.
pub(crate) fn format_by_name(name: &str) -> Option<&'static dyn Format> {
    FORMATS.iter().copied().find(|format| format.name() == name || format.aliases().contains(&name))
}

/// The names of all text formats.
pub(crate) fn format_names() -> Vec<&'static str> {
    FORMATS.iter().filter(|format| !format.is_binary()).map(|format| format.name()).collect()
}

/// The default format: the line of the One Billion Row Challenge where it applies, else a table.
pub(crate) fn default_format(plan: &Plan) -> &'static dyn Format {
    if plan.is_one_brc() { &one_brc::OneBrc } else { table() }
}

/// The format for people.
pub(crate) fn table() -> &'static dyn Format {
    &table::WIDE
}

/// The table format without colours, limited in width even without a terminal.
pub(crate) fn narrow_table() -> &'static dyn Format {
    &table::NARROW
}

/// The format with one value per line.
pub(crate) fn vertical() -> &'static dyn Format {
    &vertical::Vertical
}

/// A lossless format for any result, used to compare results.
pub(crate) fn exact_format() -> &'static dyn Format {
    &csv::CSV
}

/// Formats a whole result.
///
/// # Errors
/// [`brc_core::Error::Usage`] if the format cannot express it.
pub(crate) fn render(format: &dyn Format, plan: &Plan, answer: &Answer, out: &mut Vec<u8>) -> Result<()> {
    format.check(plan)?;
    let mut writer = format.writer_of(answer);
    out.extend(writer.start());
    let (mut scanner, mut encoder) = (answer.scanner(&ScanOptions::everything(answer.schema()))?, writer.encoder());
    for split in (0..).map_while(|index| answer.split(index)) {
        let sink: &mut dyn Sink = encoder.as_mut();
        scanner.scan(&split, sink).map_err(ScanError::into_error)?;
        let mut part = encoder.finish()?;
        writer.append(&mut part)?;
        out.extend(part.bytes);
    }
    out.extend(writer.finish()?);
    Ok(())
}

/// Appends the text form of a value; nothing for a null.
fn plain(value: Option<Value<'_>>, logical_type: LogicalType, out: &mut Vec<u8>) {
    if let Some(value) = value {
        value.write(logical_type, out);
    }
}

/// A value on one line, with control characters escaped.
fn cell(value: Option<Value<'_>>, logical_type: LogicalType) -> String {
    if value.is_none() {
        return "null".to_owned();
    }
    let mut bytes = Vec::new();
    plain(value, logical_type, &mut bytes);
    crate::printable::line(&bytes).into_owned()
}

/// A few values of all kinds in a format, for tests.
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
