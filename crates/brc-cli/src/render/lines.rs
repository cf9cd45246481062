//! Formats that write rows in sequence, so that several threads can format them.

use brc_core::{Batch, BatchWriter, LogicalType, Part, PartEncoder, Result, Schema, Sink, Value};
use std::sync::Arc;

/// The text of rows.
pub(super) trait Lines: Send + Sync + 'static {
    /// The text before the first row.
    fn start(&self) -> Vec<u8> {
        Vec::new()
    }

    /// The text between two rows.
    fn between(&self) -> &'static [u8] {
        b""
    }

    /// Appends the rows of a batch without run-encoded columns. `types` are the types of the columns; `any` is set if rows
    /// precede them.
    fn rows(&self, batch: &Batch<'_>, types: &[LogicalType], any: bool, out: &mut Vec<u8>);

    /// Appends the rows of a batch one by one, with the text between them.
    fn each_row(
        &self,
        batch: &Batch<'_>,
        any: bool,
        out: &mut Vec<u8>,
        row: impl Fn(&[Option<Value<'_>>], &mut Vec<u8>),
    ) where
        Self: Sized,
    {
        let mut values = Vec::with_capacity(batch.columns.len());
        for index in 0..batch.rows {
            values.clear();
            values.extend(batch.columns.iter().map(|column| Value::of_row(column, index)));
            if any || index > 0 {
                out.extend_from_slice(self.between());
            }
            row(&values, out);
        }
    }

    /// The text after the last row.
    fn end(&self) -> Vec<u8> {
        Vec::new()
    }

    /// The whole text if there are no rows.
    fn nothing(&self) -> Vec<u8> {
        [self.start(), self.end()].concat()
    }
}

/// A writer of such rows.
pub(super) fn writer(schema: &Schema, lines: impl Lines) -> Box<dyn BatchWriter> {
    let types = schema.fields().iter().map(|field| field.logical_type).collect();
    Box::new(Writer { lines: Arc::new(lines), types, any: false })
}

struct Writer<L> {
    lines: Arc<L>,
    types: Arc<[LogicalType]>,
    /// Whether any row was written.
    any: bool,
}

impl<L: Lines> BatchWriter for Writer<L> {
    fn encoder(&self) -> Box<dyn PartEncoder> {
        let (lines, types) = (Arc::clone(&self.lines), Arc::clone(&self.types));
        Box::new(Encoder { lines, types, bytes: Vec::new(), rows: 0 })
    }

    /// The start is written with the first row, so that nothing is written if the first row cannot be expressed.
    fn append(&mut self, part: &mut Part) -> Result<()> {
        if part.rows > 0 {
            let before = if self.any { self.lines.between().to_vec() } else { self.lines.start() };
            part.bytes.splice(0..0, before);
            self.any = true;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<Vec<u8>> {
        Ok(if self.any { self.lines.end() } else { self.lines.nothing() })
    }
}

/// The size in bytes from which a part is delivered before the end of its split.
const LARGE_PART: usize = 4 << 20;

struct Encoder<L> {
    lines: Arc<L>,
    types: Arc<[LogicalType]>,
    bytes: Vec<u8>,
    rows: u64,
}

impl<L: Lines> Sink for Encoder<L> {
    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        batch.without_runs(|batch| {
            self.lines.rows(batch, &self.types, self.rows > 0, &mut self.bytes);
            self.rows += batch.rows as u64;
            Ok(())
        })
    }
}

impl<L: Lines> PartEncoder for Encoder<L> {
    fn finish(&mut self) -> Result<Part> {
        let (bytes, rows) = (std::mem::take(&mut self.bytes), std::mem::take(&mut self.rows));
        Ok(Part { rows, bytes, cuts: Vec::new(), meta: Box::new(()), meta_bytes: 0 })
    }

    fn overflow(&mut self) -> Result<Option<Part>> {
        if self.bytes.len() < LARGE_PART { Ok(None) } else { self.finish().map(Some) }
    }

    fn recycle(&mut self, bytes: Vec<u8>) {
        Part::recycle(bytes, &mut self.bytes);
    }
}
