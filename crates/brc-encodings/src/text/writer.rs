//! Writes rows as lines.

use super::LONGEST_LINE;
use crate::compressed::{CUT_BYTES, LARGE_PART};
use crate::refused::Refused;
use crate::rows::{RowBuffer, RowEncoder, RowWriter};
use brc_core::{Batch, BatchWriter, Cut, Part, PartEncoder, Result, Schema, Sink, UnsupportedReason};
use brc_text::BYTE_ORDER_MARK;
use std::ops::Range;

/// The writer of a text.
pub(crate) struct TextWriter<W> {
    /// The encoding's name.
    name: &'static str,
    schema: Schema,
    rows: W,
    has_parts: bool,
}

impl<W: RowWriter + Clone> TextWriter<W> {
    pub(crate) fn new(name: &'static str, schema: &Schema, rows: W) -> Self {
        Self { name, schema: schema.clone(), rows, has_parts: false }
    }
}

impl<W: RowWriter + Clone + 'static> BatchWriter for TextWriter<W> {
    fn encoder(&self) -> Box<dyn PartEncoder> {
        let encoder = RowEncoder::new(self.name, &self.schema, self.rows.clone());
        Box::new(TextEncoder { encoder, rows: 0, rows_given: 0, text: RowBuffer::default(), cuts: Vec::new() })
    }

    fn append(&mut self, part: &mut Part) -> Result<()> {
        let is_first = !std::mem::replace(&mut self.has_parts, true);
        match part.meta.downcast_ref() {
            Some(Marked(true)) if is_first => {
                Err(Refused::row(0, UnsupportedReason::ByteOrderMark).into_error(0, self.name, &self.schema))
            }
            _ => Ok(()),
        }
    }
}

/// Whether a part begins with a byte order mark. At the start of a file it would not be read back.
struct Marked(bool);

impl Marked {
    fn of(text: &[u8]) -> Box<Self> {
        Box::new(Self(text.starts_with(BYTE_ORDER_MARK)))
    }
}

struct TextEncoder<W> {
    encoder: RowEncoder<W>,
    /// The rows not yet handed over, and the number of those that were.
    rows: u64,
    rows_given: u64,
    text: RowBuffer,
    cuts: Vec<Cut>,
}

impl<W: RowWriter> Sink for TextEncoder<W> {
    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        let Self { encoder, rows, rows_given, text, cuts, .. } = self;
        let rows_before = *rows_given + *rows;
        let (mut last, mut is_too_long) = (cuts.last().map_or(0, |cut| cut.at), false);
        let done = encoder.push(batch, 0..batch.rows, rows_before, text, |line| {
            *rows += 1;
            // The cuts depend on the rows alone.
            if line.end - last >= CUT_BYTES {
                last = line.end;
                cuts.push(Cut { at: last, rows: *rows });
                is_too_long = self::is_too_long(&line);
            }
            !is_too_long
        })?;
        if is_too_long {
            return Err(encoder.refuse(done - 1, UnsupportedReason::LineTooLong(LONGEST_LINE), rows_before));
        }
        Ok(())
    }
}

/// Whether a line cannot be read again. There is always a cut after such a line.
#[cold]
fn is_too_long(line: &Range<usize>) -> bool {
    const { assert!(CUT_BYTES <= LONGEST_LINE, "a line that is too long would have no cut after it") };
    // The line feed is not part of the line.
    line.len() - 1 > LONGEST_LINE
}

impl<W: RowWriter> PartEncoder for TextEncoder<W> {
    fn finish(&mut self) -> Result<Part> {
        self.rows_given = 0;
        Ok(Part {
            rows: std::mem::take(&mut self.rows),
            meta: Marked::of(self.text.as_slice()),
            meta_bytes: 0,
            bytes: self.text.take(),
            cuts: std::mem::take(&mut self.cuts),
        })
    }

    fn overflow(&mut self) -> Result<Option<Part>> {
        let Some(end) = self.cuts.pop_if(|last| last.at >= LARGE_PART) else { return Ok(None) };
        self.rows -= end.rows;
        self.rows_given += end.rows;
        let (bytes, cuts) = (self.text.take_first(end.at), std::mem::take(&mut self.cuts));
        Ok(Some(Part { rows: end.rows, meta: Marked::of(&bytes), meta_bytes: 0, bytes, cuts }))
    }

    fn recycle(&mut self, bytes: Vec<u8>) {
        self.text.recycle(bytes);
    }
}
