//! Text with one row a line and a separator between the columns: what tables usually come as.
//!
//! There is no quoting: a separator or line feed cannot be part of a value. Strings are bytes; they need not be UTF-8,
//! but a NUL byte is refused, because it means that the file is not text at all. A carriage return right before a line
//! feed is not part of the row. The last line may lack its line feed.

mod general;
mod guess;
mod pieces;
mod plain;
mod row;
mod scanner;
mod stream;
mod table;
mod writer;

use crate::encoding::{CreateOptions, Encoding, OpenOptions};
use crate::input::Input;
use brc_core::{BatchWriter, DataType, Error, Result, RowFault, Schema, Table};

/// The longest line that may be a row, in bytes. What is longer is not a table, and must not fill the memory.
const LONGEST_LINE: usize = 1 << 20;

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

    fn can_hold(&self, schema: &Schema) -> Result<(), String> {
        let strange = |data_type| !matches!(data_type, DataType::String | DataType::Decimal { .. });
        match schema.fields().iter().find(|field| strange(field.data_type)) {
            Some(field) => Err(format!("column '{}' of type {} has no text form", field.name, field.data_type)),
            None => Ok(()),
        }
    }

    fn open(&self, input: Input, options: &OpenOptions) -> Result<Box<dyn Table>> {
        check_separator(options.separator)?;
        let schema = match &options.schema {
            Some(schema) => schema.clone(),
            None => guess::schema(&input, options.separator)?,
        };
        Ok(Box::new(table::TextTable::new(input, schema, options)))
    }

    fn create(&self, schema: &Schema, options: &CreateOptions) -> Result<Box<dyn BatchWriter>> {
        check_separator(options.separator)?;
        self.can_hold(schema).map_err(Error::Usage)?;
        Ok(Box::new(writer::TextWriter::new(schema, options.separator)))
    }
}

fn check_separator(separator: u8) -> Result<()> {
    if separator.is_ascii_digit() || b"-.\n\r\0".contains(&separator) {
        let separator = separator.escape_ascii();
        return Err(Error::Usage(format!("'{separator}' cannot separate columns: numbers or lines consist of it")));
    }
    Ok(())
}

/// What is wrong with a row that was rejected, and in which column.
pub(crate) fn explain(text: &[u8], schema: &Schema, separator: u8) -> (Option<usize>, RowFault) {
    match row::parse(text, schema, separator, &mut Vec::new()) {
        Err(bad) => (bad.column, bad.fault),
        Ok(()) => unreachable!("a row was rejected that is none of the bad ones"),
    }
}

#[cfg(test)]
mod tests;
