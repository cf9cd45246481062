//! JSON, one object a line: what programs that know nothing of tables write and read.
//!
//! Any valid JSON is read, whatever its spaces, escapes and order of keys; but an object must be one line, so that a file
//! can be cut into splits at any line end, and its keys must be the columns, each of them once, so that nothing is left
//! out silently; one that is missing is a null, where its column may have nulls. Numbers are exact: only those of columns of
//! floats are taken through a float. Strings are UTF-8, as JSON demands. [`writer`] tells how values of each type look.

mod column;
mod guess;
mod hex;
mod number;
mod plain;
mod row;
mod rows;
mod writer;

use crate::encoding::{CreateOptions, Encoding, OpenOptions};
use crate::input::Input;
use crate::text::{BadRow, Layout, Rows, TextTable, TextWriter};
use brc_core::{BatchWriter, Result, RowFault, ScanOptions, Schema, Table};

pub(crate) struct Json;

impl Encoding for Json {
    fn name(&self) -> &'static str {
        "json"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["json", "jsonl", "ndjson"]
    }

    fn about(&self) -> &'static str {
        "JSON, one object a line: exchanged by programs of all kinds"
    }

    fn sniff(&self, prefix: &[u8]) -> bool {
        guess::is_json(prefix)
    }

    fn holds_any_bytes(&self) -> bool {
        false
    }

    fn detects_damage(&self) -> bool {
        false
    }

    fn supports(&self, _: &Schema) -> Result<(), String> {
        Ok(())
    }

    fn open(&self, mut input: Input, options: &OpenOptions) -> Result<Box<dyn Table>> {
        let schema = match &options.schema {
            Some(schema) => schema.clone(),
            None => guess::schema(guess::first_lines(&mut input)?).map_err(|untold| untold.error(&input.path))?,
        };
        options.check_names(&input.path, &schema)?;
        let layout = Objects { guessed: options.schema.is_none() };
        Ok(Box::new(TextTable::new(input.in_whole_rows()?, schema, Box::new(layout), options)))
    }

    fn create(&self, schema: &Schema, _: &CreateOptions) -> Result<Box<dyn BatchWriter>> {
        Ok(Box::new(TextWriter::new(self.name(), schema, writer::Lines::new(schema))))
    }
}

/// Rows as objects.
#[derive(Clone, Copy)]
struct Objects {
    /// Whether the columns are those of the first rows, and not what somebody said.
    guessed: bool,
}

impl Objects {
    /// What is wrong with a row, if some of it may be wrong with the guess.
    fn doubted(self, bad: BadRow) -> BadRow {
        if self.guessed { bad.doubted() } else { bad }
    }
}

impl Layout for Objects {
    fn rows(&self, schema: &Schema, options: &ScanOptions) -> Box<dyn Rows> {
        Box::new(rows::JsonRows::new(*self, schema, &options.projection))
    }

    fn explain(&self, line: &[u8], schema: &Schema) -> Option<(Option<usize>, RowFault)> {
        let bad = self.doubted(row::parse(line, schema, &mut Vec::new()).err()?);
        Some((bad.column, bad.fault))
    }
}

#[cfg(test)]
mod tests;
