//! Delimited text: the usual form of input tables.
//!
//! The dialect of a text is [sniffed](brc_text::sniff()), and the types of its columns are [inferred](brc_text::infer)
//! from all values, unless they are given. Tables of the One Billion Row Challenge are a special case: one row per
//! line, without quotes, nulls and header, parsed by kernels. Their values cannot contain a delimiter or line feed, and
//! a NUL byte is rejected, because it means that the file is not text.

mod each_value;
mod footer;
mod given_types;
mod headers;
mod inference;
mod open;
mod plain;
mod preset;
mod row;
mod scanner;
mod sniff;
mod source;
mod split_text;
mod stream;
mod table;
mod table_writer;
mod text_reason;
mod types;
mod writer;

use crate::encoding::{CreateOptions, Encoding, OpenOptions, TextOptions};
use crate::input::Input;
use crate::text::{BadRow, LineLayout, RowParser, TextTable, TextWriter};
use brc_core::{BatchWriter, Error, Field, Result, RowFault, ScanOptions, Schema, Table};
use brc_kernels::cpu::Level;
use brc_text::{Delimiter, Dialect, DialectOverrides, TableForms};
use row::Value;

pub use headers::Headers;
pub use inference::Inference;
pub use sniff::sniff_text;

pub(crate) struct Csv;

impl Encoding for Csv {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["csv", "tsv", "txt"]
    }

    fn about(&self) -> &'static str {
        "delimited text, one row per line: read by everything"
    }

    fn sniff(&self, prefix: &[u8]) -> bool {
        preset::is_text(prefix)
    }

    fn check_text_options(&self, options: &TextOptions) -> Result<(), String> {
        match options.sheet {
            Some(_) => Err("a text has no sheets".to_owned()),
            None => Ok(()),
        }
    }

    fn holds_any_bytes(&self) -> bool {
        false
    }

    fn has_delimiter(&self) -> bool {
        true
    }

    fn detects_damage(&self) -> bool {
        false
    }

    fn open(&self, input: Input, options: &OpenOptions) -> Result<Box<dyn Table>> {
        match one_brc(&input, options) {
            Some(delimiter) => {
                let header = options.schema.is_some() && preset::begins_with(&input.prefix, delimiter);
                let layout = Separated { delimiter, header };
                Ok(Box::new(TextTable::new(input.in_whole_rows()?, Schema::one_brc(), Box::new(layout), options)?))
            }
            None => open::open(input, options),
        }
    }

    fn create(&self, schema: &Schema, options: &CreateOptions) -> Result<Box<dyn BatchWriter>> {
        // With commas it is an ordinary table, whose values may have quotes.
        let is_one_brc = *schema == Schema::one_brc() && options.delimiter != Some(b',');
        let delimiter = options.delimiter.unwrap_or(if is_one_brc { preset::DELIMITER } else { b',' });
        check_separator(delimiter)?;
        if is_one_brc {
            let rows = writer::Lines::new(schema, delimiter);
            return Ok(Box::new(TextWriter::new(self.name(), schema, rows)));
        }
        let dialect = Dialect { delimiter: Delimiter::Byte(delimiter), ..Dialect::default() };
        Ok(Box::new(table_writer::TableWriter::new(schema, &dialect)))
    }
}

/// The delimiter of a text of the One Billion Row Challenge: if its schema is given, or if it looks like one and
/// no columns are given but its own.
fn one_brc(input: &Input, options: &OpenOptions) -> Option<u8> {
    let plain = DialectOverrides { delimiter: options.text.dialect.delimiter, ..DialectOverrides::default() };
    let delimiter = match options.text.dialect.delimiter {
        None => preset::DELIMITER,
        Some(Delimiter::Byte(byte)) => byte,
        Some(Delimiter::Blanks) => return None,
    };
    let has_forms = options.text.forms != TableForms::default();
    if options.text.dialect != plain || has_forms || check_separator(delimiter).is_err() {
        return None;
    }
    let is_one = match &options.schema {
        Some(schema) => schema.is_like(&Schema::one_brc()),
        None => {
            let of_columns = Schema::one_brc();
            let is_own = |given: &Field| {
                let same = |own: &Field| own.name == given.name && own.logical_type == given.logical_type;
                of_columns.fields().iter().any(same)
            };
            let is_plain = options.names.is_none() && options.text.types.iter().all(is_own);
            let is_inferred = !options.text.all_strings && !options.text.exact_text;
            is_plain && is_inferred && delimiter == preset::DELIMITER && preset::is_one_brc(&input.prefix)
        }
    };
    is_one.then_some(delimiter)
}

fn check_separator(delimiter: u8) -> Result<()> {
    if delimiter.is_ascii_digit() || b"-.\n\r\0".contains(&delimiter) {
        let delimiter = delimiter.escape_ascii();
        return Err(Error::Usage(format!("'{delimiter}' cannot be the delimiter: numbers or line ends contain it")));
    }
    Ok(())
}

/// Rows of values with a delimiter between them.
#[derive(Clone, Copy)]
struct Separated {
    delimiter: u8,
    /// Whether the first line is a header.
    header: bool,
}

impl Separated {
    /// Parses a row, without its line end, into one value per column.
    fn parse<'a>(self, line: &'a [u8], schema: &Schema, values: &mut Vec<Value<'a>>) -> Result<(), BadRow> {
        row::parse(line, schema, self.delimiter, values).map_err(|BadRow { column, fault }| {
            let fault = brc_text::sniff::fault_in_line(fault, column, line);
            BadRow { column, fault }
        })
    }
}

impl LineLayout for Separated {
    fn has_header(&self) -> bool {
        self.header
    }

    fn rows(&self, _: &Schema, options: &ScanOptions) -> Box<dyn RowParser> {
        // Single rows are not needed: the rows of each name can be added up.
        let aggregate = options.sums && options.predicate.is_none() && options.projection == [0, 1];
        Box::new(plain::PlainRows::new(Level::best(), *self, aggregate))
    }

    fn explain(&self, line: &[u8], schema: &Schema) -> Option<(Option<usize>, RowFault)> {
        let bad = self.parse(line, schema, &mut Vec::new()).err()?;
        Some((bad.column, bad.fault))
    }
}

#[cfg(test)]
mod general_tests;
#[cfg(test)]
mod tests;
