//! Writes tables of any columns: a header, commas, and quotes around strings that need them.

use crate::compressed::{CUT_BYTES, LARGE_PART};
use crate::refused::Refused;
use crate::rows::foreign;
use brc_core::{
    Batch, BatchWriter, Cut, Error, Part, PartEncoder, Result, Schema, Sink, Summary, UnsupportedReason, Value,
};
use brc_text::Dialect;
use brc_text::rows::RowOptions;
use brc_text::write::FieldWriter;
use memchr::memchr;

const NAME: &str = "csv";

/// The writer of a text.
pub(super) struct TableWriter {
    schema: Schema,
    header: bool,
    fields: FieldWriter,
}

impl TableWriter {
    pub(super) fn new(schema: &Schema, dialect: &Dialect) -> Self {
        Self { schema: schema.clone(), header: dialect.header, fields: FieldWriter::new(dialect) }
    }
}

impl BatchWriter for TableWriter {
    fn encoder(&self) -> Box<dyn PartEncoder> {
        Box::new(Encoder {
            schema: self.schema.clone(),
            fields: self.fields.clone(),
            rows: 0,
            rows_given: 0,
            text: Vec::new(),
            cuts: Vec::new(),
        })
    }

    fn start(&mut self) -> Vec<u8> {
        let mut text = Vec::new();
        if self.header {
            for (index, field) in self.schema.fields().iter().enumerate() {
                if index > 0 {
                    self.fields.delimiter(&mut text);
                }
                self.fields.value(field.name.as_bytes(), &mut text);
            }
            self.fields.end_row(&mut text);
        }
        text
    }
}

struct Encoder {
    schema: Schema,
    fields: FieldWriter,
    /// The rows that are not given away yet, and how many of the part were.
    rows: u64,
    rows_given: u64,
    text: Vec<u8>,
    cuts: Vec<Cut>,
}

impl Sink for Encoder {
    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        if batch.columns.len() != self.schema.fields().len() {
            return Err(foreign());
        }
        // Runs are looked up row by row.
        let mut unrolled = vec![Vec::new(); batch.columns.len()];
        for (column, codes) in batch.columns.iter().zip(&mut unrolled) {
            brc_core::batch::codes_of(column, codes);
        }
        let rows_before = self.rows_given + self.rows;
        for row in 0..batch.rows {
            let start = self.text.len();
            for (index, column) in batch.columns.iter().enumerate() {
                if index > 0 {
                    self.fields.delimiter(&mut self.text);
                }
                let value = match (column.dictionary(), unrolled[index].get(row)) {
                    (Some(dictionary), Some(code)) if column.is_valid(row) => Some(Value::Bytes(dictionary.get(*code))),
                    (Some(_), _) => None,
                    (None, _) => Value::of_row(column, row),
                };
                match value {
                    None => self.fields.null(&mut self.text),
                    Some(Value::Bytes(text)) if memchr(0, text).is_some() => {
                        let refused = Refused::value(row, index, text, UnsupportedReason::NulByte);
                        return Err(refused.behind(rows_before, NAME, &self.schema));
                    }
                    Some(Value::Bytes(text)) => self.fields.value(text, &mut self.text),
                    Some(value) => value.write(self.schema.fields()[index].logical_type, &mut self.text),
                }
            }
            self.fields.end_row(&mut self.text);
            if self.text.len() - start > RowOptions::MAX_ROW {
                let refused = Refused::row(row, UnsupportedReason::LineTooLong(RowOptions::MAX_ROW));
                return Err(refused.behind(rows_before, NAME, &self.schema));
            }
            self.rows += 1;
            // The places of cuts depend on the rows alone.
            if self.text.len() - self.cuts.last().map_or(0, |cut| cut.at) >= CUT_BYTES {
                self.cuts.push(Cut { at: self.text.len(), rows: self.rows });
            }
        }
        Ok(())
    }

    fn summary(&mut self, _: &Summary<'_>) -> Result<()> {
        Err(Error::Usage(format!("a summary cannot be written as {NAME}: it has no rows")))
    }
}

impl PartEncoder for Encoder {
    fn finish(&mut self) -> Result<Part> {
        self.rows_given = 0;
        Ok(Part {
            rows: std::mem::take(&mut self.rows),
            bytes: std::mem::take(&mut self.text),
            cuts: std::mem::take(&mut self.cuts),
            meta: Box::new(()),
        })
    }

    fn overflow(&mut self) -> Result<Option<Part>> {
        let Some(end) = self.cuts.pop_if(|last| last.at >= LARGE_PART) else { return Ok(None) };
        self.rows -= end.rows;
        self.rows_given += end.rows;
        let rest = self.text.split_off(end.at);
        let bytes = std::mem::replace(&mut self.text, rest);
        Ok(Some(Part { rows: end.rows, bytes, cuts: std::mem::take(&mut self.cuts), meta: Box::new(()) }))
    }

    fn recycle(&mut self, bytes: Vec<u8>) {
        Part::recycle(bytes, &mut self.text);
    }
}
