//! Text with one row a line and a separator between the columns: what tables usually come as.
//!
//! There is no quoting: a separator or line feed cannot be part of a value. Strings are bytes; they need not be UTF-8,
//! but a NUL byte is refused, because it means that the file is not text at all. A first line that names the columns is
//! read over; none is written.

mod general;
mod guess;
mod plain;
mod row;
mod writer;

use crate::encoding::{CreateOptions, Encoding, OpenOptions};
use crate::input::Input;
use crate::text::{BadRow, Layout, Rows, TextTable, TextWriter};
use brc_core::{BatchWriter, Error, LogicalType, Result, RowFault, ScanOptions, Schema, Table};
use brc_kernels::cpu::Level;
use row::Value;

pub(crate) struct Csv;

impl Encoding for Csv {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["csv", "txt"]
    }

    fn about(&self) -> &'static str {
        "text, one row a line, columns between separators: read by everything"
    }

    fn sniff(&self, prefix: &[u8]) -> bool {
        guess::is_text(prefix)
    }

    fn holds_any_bytes(&self) -> bool {
        false
    }

    fn detects_damage(&self) -> bool {
        false
    }

    fn open(&self, input: Input, options: &OpenOptions) -> Result<Box<dyn Table>> {
        check_separator(options.separator)?;
        let guess::Columns { schema, header } = guess::columns(&input, options)?;
        let layout = Separated { separator: options.separator, header, guessed: options.schema.is_none() };
        Ok(Box::new(TextTable::new(input, schema, Box::new(layout), options)))
    }

    fn create(&self, schema: &Schema, options: &CreateOptions) -> Result<Box<dyn BatchWriter>> {
        check_separator(options.separator)?;
        self.can_hold(schema).map_err(Error::Usage)?;
        let rows = writer::Lines::new(schema, options.separator);
        Ok(Box::new(TextWriter::new(self.name(), schema, rows)))
    }
}

fn check_separator(separator: u8) -> Result<()> {
    if separator.is_ascii_digit() || b"-.\n\r\0".contains(&separator) {
        let separator = separator.escape_ascii();
        return Err(Error::Usage(format!("'{separator}' cannot separate columns: numbers or lines consist of it")));
    }
    Ok(())
}

/// Rows of columns with a separator between them.
#[derive(Clone, Copy)]
struct Separated {
    separator: u8,
    /// Whether the first line is no row, but names the columns.
    header: bool,
    /// Whether the columns are those of the first rows, and not what somebody said.
    guessed: bool,
}

impl Separated {
    /// Reads a row, without its line end, into one value for each column.
    fn parse<'a>(self, line: &'a [u8], schema: &Schema, values: &mut Vec<Value<'a>>) -> Result<(), BadRow> {
        row::parse(line, schema, self.separator, values).map_err(|bad| if self.guessed { bad.doubted() } else { bad })
    }
}

impl Layout for Separated {
    fn has_header(&self) -> bool {
        self.header
    }

    fn rows(&self, schema: &Schema, options: &ScanOptions) -> Box<dyn Rows> {
        let types: Vec<_> = schema.fields().iter().map(|field| field.logical_type).collect();
        if types == [LogicalType::String, LogicalType::decimal(1)] {
            // Nobody wants to see single rows: each name's can be added up.
            let fold = options.sums && options.predicate.is_none() && options.projection == [0, 1];
            Box::new(plain::PlainRows::new(Level::best(), *self, fold))
        } else {
            Box::new(general::GeneralRows::new(schema, &options.projection, *self))
        }
    }

    fn explain(&self, line: &[u8], schema: &Schema) -> Option<(Option<usize>, RowFault)> {
        let bad = self.parse(line, schema, &mut Vec::new()).err()?;
        Some((bad.column, bad.fault))
    }
}

#[cfg(test)]
mod tests;
