//! Text with one row a line and a separator between the columns: what tables usually come as.
//!
//! There is no quoting: a separator or line feed cannot be part of a value. Strings are bytes; they need not be UTF-8,
//! but a NUL byte is refused, because it means that the file is not text at all.

mod general;
mod guess;
mod plain;
mod row;
mod writer;

use crate::encoding::{CreateOptions, Encoding, OpenOptions};
use crate::input::Input;
use crate::text::{Layout, Rows, TextTable, TextWriter};
use brc_core::{BatchWriter, DataType, Error, Result, RowFault, ScanOptions, Schema, Table};
use brc_kernels::cpu::Level;

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
        let schema = match &options.schema {
            Some(schema) => schema.clone(),
            None => guess::schema(&input, options.separator)?,
        };
        Ok(Box::new(TextTable::new(input, schema, Box::new(Separated(options.separator)), options)))
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

/// Rows of columns with that separator between them.
struct Separated(u8);

impl Layout for Separated {
    fn rows(&self, schema: &Schema, options: &ScanOptions) -> Box<dyn Rows> {
        let types: Vec<_> = schema.fields().iter().map(|field| field.data_type).collect();
        if types == [DataType::String, DataType::Decimal { scale: 1 }] {
            // Nobody wants to see single rows: each name's can be added up.
            let fold = options.sums && options.predicate.is_none() && options.projection == [0, 1];
            Box::new(plain::PlainRows::new(Level::best(), self.0, fold))
        } else {
            Box::new(general::GeneralRows::new(schema, &options.projection, self.0))
        }
    }

    fn explain(&self, line: &[u8], schema: &Schema) -> Option<(Option<usize>, RowFault)> {
        let bad = row::parse(line, schema, self.0, &mut Vec::new()).err()?;
        Some((bad.column, bad.fault))
    }
}

#[cfg(test)]
mod tests;
