//! Writes tables with arbitrary columns: a header, delimiters, and quotes around strings that need them.

use crate::part_buffer::PartBuffer;
use crate::refused::Refused;
use crate::rows::foreign;
use brc_core::{Batch, BatchWriter, Part, PartEncoder, Result, Schema, Sink, UnsupportedReason, Value};
use brc_text::rows::RowOptions;
use brc_text::write::FieldWriter;
use brc_text::{Dialect, Form};
use memchr::memchr;

const NAME: &str = "csv";

/// The writer of a text.
pub(super) struct TableWriter {
    schema: Schema,
    /// The form of each column's values, if not the usual one.
    forms: Vec<Option<Form>>,
    header: bool,
    fields: FieldWriter,
}

impl TableWriter {
    pub(super) fn new(schema: &Schema, dialect: &Dialect) -> Self {
        let forms = Form::of_text(schema);
        Self {
            schema: schema.clone(),
            forms,
            header: dialect.header,
            fields: FieldWriter::new(dialect, schema.fields().len()),
        }
    }
}

impl BatchWriter for TableWriter {
    fn encoder(&self) -> Box<dyn PartEncoder> {
        Box::new(Encoder {
            schema: self.schema.clone(),
            forms: self.forms.clone(),
            fields: self.fields.clone(),
            part: PartBuffer::default(),
        })
    }

    fn start(&mut self) -> Vec<u8> {
        let mut text = Vec::new();
        if self.header {
            self.fields.header(&self.schema, &mut text);
        }
        text
    }
}

struct Encoder {
    schema: Schema,
    forms: Vec<Option<Form>>,
    fields: FieldWriter,
    part: PartBuffer,
}

impl Sink for Encoder {
    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        if batch.columns.len() != self.schema.fields().len() {
            return Err(foreign());
        }
        batch.without_runs(|batch| self.rows(batch))
    }
}

impl Encoder {
    /// Writes rows of columns without runs.
    fn rows(&mut self, batch: &Batch<'_>) -> Result<()> {
        let (rows_before, first) = (self.part.rows_before(), self.part.bytes.len());
        let types = self.schema.fields().iter().map(|field| field.logical_type);
        let columns = self.fields.columns(batch, types, &self.forms);
        for row in 0..batch.rows {
            let start = self.part.bytes.len();
            self.fields.row(&columns, row, &mut self.part.bytes);
            if self.part.bytes.len() - start > RowOptions::MAX_ROW {
                let refused = Refused::row(row, UnsupportedReason::LineTooLong(RowOptions::MAX_ROW));
                return Err(refused.into_error(rows_before, NAME, &self.schema));
            }
            self.part.count(1);
        }
        match memchr(0, &self.part.bytes[first..]).and_then(|_| nul_byte(batch)) {
            Some(refused) => Err(refused.into_error(rows_before, NAME, &self.schema)),
            None => Ok(()),
        }
    }
}

/// The first value with a NUL byte, which readers refuse.
fn nul_byte(batch: &Batch<'_>) -> Option<Refused> {
    let value = |row, index, column| match Value::of_row(column, row) {
        Some(Value::Bytes(text)) if text.contains(&0) => {
            Some(Refused::value(row, index, text, UnsupportedReason::NulByte))
        }
        _ => None,
    };
    (0..batch.rows)
        .find_map(|row| batch.columns.iter().enumerate().find_map(|(index, column)| value(row, index, column)))
}

impl PartEncoder for Encoder {
    fn finish(&mut self) -> Result<Part> {
        Ok(self.part.finish())
    }

    fn overflow(&mut self) -> Result<Option<Part>> {
        Ok(self.part.overflow())
    }

    fn recycle(&mut self, bytes: Vec<u8>) {
        self.part.recycle(bytes);
    }
}
