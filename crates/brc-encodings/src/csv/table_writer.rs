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
            formed: Vec::new(),
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
    forms: Vec<Option<Form>>,
    fields: FieldWriter,
    part: PartBuffer,
    /// A buffer for a formatted value.
    formed: Vec<u8>,
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
        let rows_before = self.part.rows_before();
        for row in 0..batch.rows {
            let start = self.part.bytes.len();
            for (index, column) in batch.columns.iter().enumerate() {
                if index > 0 {
                    self.fields.delimiter(&mut self.part.bytes);
                }
                match Value::of_row(column, row) {
                    None => self.fields.null(&mut self.part.bytes),
                    Some(Value::Bytes(text)) if memchr(0, text).is_some() => {
                        let refused = Refused::value(row, index, text, UnsupportedReason::NulByte);
                        return Err(refused.into_error(rows_before, NAME, &self.schema));
                    }
                    Some(Value::Bytes(text)) => self.fields.value(text, &mut self.part.bytes),
                    Some(value) => {
                        let logical_type = self.schema.fields()[index].logical_type;
                        match &self.forms[index] {
                            None => value.write(logical_type, &mut self.part.bytes),
                            Some(form) => {
                                self.formed.clear();
                                form.write(value, logical_type, &mut self.formed);
                                self.fields.value(&self.formed, &mut self.part.bytes);
                            }
                        }
                    }
                }
            }
            self.fields.end_row(&mut self.part.bytes);
            if self.part.bytes.len() - start > RowOptions::MAX_ROW {
                let refused = Refused::row(row, UnsupportedReason::LineTooLong(RowOptions::MAX_ROW));
                return Err(refused.into_error(rows_before, NAME, &self.schema));
            }
            self.part.count(1);
        }
        Ok(())
    }
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
