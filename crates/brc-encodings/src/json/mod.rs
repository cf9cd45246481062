//! JSON, for exchange with programs that know nothing of tables.
//!
//! A row is an object, and its keys are the columns. Any valid JSON is read, whatever its whitespace, escapes and order
//! of keys: one object per line, several on a line, objects over several lines, or an array of them
//! ([`object_layout`]). The columns and their types are inferred from all rows ([`columns`]), unless a schema is given.
//! Numbers are exact: only float columns are parsed as floats. Strings are UTF-8, as JSON requires. See [`writer`] for
//! the form of each type's values.

mod column;
mod columns;
mod escapes;
mod hex;
mod number;
mod object_layout;
mod objects;
mod row;
mod rows;
mod sample;
mod shape;
mod strings;
mod syntax;
mod tallying;
mod value;
mod writer;

use crate::encoding::{CreateOptions, Encoding, OpenOptions};
use crate::input::Input;
use crate::text::{LineLayout, RowParser, SharedTallies, TextTable, TextWriter};
use brc_core::{BatchWriter, Error, LogicalType, Result, RowFault, ScanOptions, Schema, Table};
use brc_text::sniff::is_utf16;
use columns::Columns;
pub use hex::hex_digits;
use object_layout::ObjectLayout;
pub(crate) use object_layout::is_json;
use objects::ObjectsToLines;
use std::path::Path;
use std::sync::Arc;
use tallying::Tallying;
pub use writer::not_finite;

pub(crate) struct Json;

/// The error for a JSON file that is not UTF-8, as RFC 8259 requires.
pub(crate) fn in_utf16(path: &Path) -> Error {
    Error::unsupported(path, "is JSON in UTF-16, which is not read; iconv -f UTF-16 -t UTF-8 converts it")
}

impl Encoding for Json {
    fn name(&self) -> &'static str {
        "json"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["jsonl", "ndjson"]
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["json", "jsonl", "ndjson"]
    }

    fn about(&self) -> &'static str {
        "JSON lines (also jsonl), one object per line: exchanged by programs of all kinds"
    }

    fn sniff(&self, prefix: &[u8]) -> bool {
        is_json(prefix)
    }

    fn holds_any_bytes(&self) -> bool {
        false
    }

    fn detects_damage(&self) -> bool {
        false
    }

    fn open(&self, mut input: Input, options: &OpenOptions) -> Result<Box<dyn Table>> {
        if is_utf16(&input.prefix) {
            return Err(in_utf16(&input.path));
        }
        let objects = ObjectLayout::of(&mut input)?;
        let columns = match &options.schema {
            Some(schema) => Columns::given(schema.clone(), !options.is_trusted),
            None => {
                let mut found = sample::columns(&mut input, objects)?;
                found.name_columns(&options.names_of_others);
                let inference = options.inference.clone().unwrap_or_default();
                Columns::inferred(&input.path, found, &options.text.types, inference)?
            }
        };
        let types = columns.types();
        options.check_names(&input.path, &types.schema)?;
        let layout = Box::new(Objects { columns: Arc::new(columns) });
        let schema = Schema::clone(&types.schema);
        let table = match objects {
            ObjectLayout::Lines => TextTable::new(input.in_whole_rows()?, schema, layout, options)?,
            ObjectLayout::Objects { in_array } => {
                TextTable::relined(input, schema, layout, Arc::new(ObjectsToLines::new(in_array)), options)?
            }
        };
        Ok(Box::new(table))
    }

    fn create(&self, schema: &Schema, _: &CreateOptions) -> Result<Box<dyn BatchWriter>> {
        Ok(json_lines(schema))
    }
}

/// A writer of JSON, one object per line.
#[must_use]
pub fn json_lines(schema: &Schema) -> Box<dyn BatchWriter> {
    Box::new(TextWriter::new(Json.name(), schema, writer::Lines::new(schema)))
}

/// Writes rows as objects.
struct Objects {
    columns: Arc<Columns>,
}

impl LineLayout for Objects {
    fn inferred(&self) -> Option<Arc<Schema>> {
        self.columns.is_inferred().then(|| Arc::clone(&self.columns.types().schema))
    }

    fn is_untyped(&self, column: usize) -> bool {
        self.columns.is_untyped(column)
    }

    fn assume(&self, column: usize, logical_type: Option<LogicalType>) -> bool {
        self.columns.assume(column, logical_type)
    }

    fn notes(&self) -> Vec<String> {
        let unsupported_columns = self.columns.types();
        unsupported_columns
            .schema
            .unsupported_columns()
            .iter()
            .map(|column| format!("{column}; it is left out"))
            .collect()
    }

    fn tallying(&self, columns: &[usize], rows: u64) -> Option<(Box<dyn RowParser>, SharedTallies)> {
        let (parser, tallies) = Tallying::of(columns, &self.columns.types(), rows);
        self.columns.is_inferred().then(|| (Box::new(parser) as Box<dyn RowParser>, tallies))
    }

    fn rows(&self, _: &Schema, options: &ScanOptions) -> Box<dyn RowParser> {
        Box::new(rows::JsonRows::new(Arc::clone(&self.columns), &options.projection))
    }

    fn explain(&self, line: &[u8], _: &Schema) -> Option<(Option<usize>, RowFault)> {
        row::fault_of(line, &self.columns.types(), self.columns.is_inferred())
    }
}

#[cfg(test)]
mod tests;
