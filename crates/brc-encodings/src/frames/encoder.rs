//! Encodes frames in which one row follows the other.

use super::FrameEncoder;
use brc_core::{Batch, Column, Dictionary, Error, Result, Schema, Values, batch};
use std::ops::Range;

/// How an encoding writes the values of a row one after the other.
pub(crate) trait RowWriter: Send {
    /// Begins a row of so many columns.
    fn begin_row(&mut self, columns: usize, out: &mut Vec<u8>);

    /// A string of a column. It is asked once for each distinct string; what it appends is copied into the rows.
    ///
    /// # Errors
    /// Why the encoding cannot hold it.
    fn text(&mut self, column: usize, text: &[u8], out: &mut Vec<u8>) -> Result<(), String>;

    /// A decimal of a column, in units of its scale.
    fn number(&mut self, column: usize, number: i64, out: &mut Vec<u8>);

    /// Ends the row that starts at `start`.
    fn end_row(&mut self, start: usize, out: &mut Vec<u8>);
}

/// The encoder of such frames.
pub(crate) struct RowEncoder<W> {
    writer: W,
    columns: Vec<Encoded>,
    bytes: Vec<u8>,
}

/// The strings of one column, as they look in a row.
#[derive(Default)]
struct Encoded {
    /// The codes of the batch, row by row.
    codes: Vec<u32>,
    bytes: Vec<u8>,
    /// For each code, where its bytes lie; an empty range for one that was not needed yet.
    places: Vec<Range<usize>>,
}

impl<W: RowWriter> RowEncoder<W> {
    pub(crate) fn new(writer: W, schema: &Schema) -> Self {
        let columns = schema.fields().iter().map(|_| Encoded::default()).collect();
        Self { writer, columns, bytes: Vec::new() }
    }
}

impl Encoded {
    /// Sees to it that all strings of the codes are encoded.
    fn prepare(
        &mut self,
        dictionary: &Dictionary,
        mut encode: impl FnMut(&[u8], &mut Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        self.places.resize(dictionary.len(), 0..0);
        for &code in &self.codes {
            let place = &mut self.places[code as usize];
            if place.start == place.end {
                let start = self.bytes.len();
                encode(dictionary.get(code), &mut self.bytes)?;
                *place = start..self.bytes.len();
            }
        }
        Ok(())
    }
}

impl<W: RowWriter> FrameEncoder for RowEncoder<W> {
    fn push(&mut self, batch: &Batch<'_>, rows: Range<usize>) -> Result<()> {
        let Self { writer, columns, bytes } = self;
        for (index, (encoded, column)) in columns.iter_mut().zip(batch.columns).enumerate() {
            let Some(dictionary) = column.dictionary() else { continue };
            encoded.codes.clear();
            codes_of(column, rows.clone(), &mut encoded.codes);
            encoded.prepare(dictionary, |text, out| {
                writer.text(index, text, out).map_err(|reason| {
                    let shown = text.escape_ascii();
                    Error::Usage(format!("'{shown}' cannot be written: {reason}"))
                })
            })?;
        }
        for row in rows.clone() {
            let start = bytes.len();
            writer.begin_row(columns.len(), bytes);
            for (index, (encoded, column)) in columns.iter().zip(batch.columns).enumerate() {
                match column {
                    Column::Values(Values::I16(values)) => writer.number(index, i64::from(values[row]), bytes),
                    Column::Values(Values::I32(values)) => writer.number(index, i64::from(values[row]), bytes),
                    Column::Values(Values::I64(values)) => writer.number(index, values[row], bytes),
                    _ => {
                        let place = encoded.places[encoded.codes[row - rows.start] as usize].clone();
                        bytes.extend_from_slice(&encoded.bytes[place]);
                    }
                }
            }
            writer.end_row(start, bytes);
        }
        Ok(())
    }

    fn bytes(&self) -> usize {
        self.bytes.len()
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<()> {
        out.append(&mut self.bytes);
        Ok(())
    }
}

/// Appends the codes of some rows of a string column.
pub(crate) fn codes_of(column: &Column<'_>, rows: Range<usize>, out: &mut Vec<u32>) {
    match column {
        Column::Codes { codes, .. } => out.extend_from_slice(&codes[rows]),
        _ => {
            // Conversions get rows in their original order, which seldom comes in runs.
            let mut all = Vec::new();
            batch::codes_of(column, &mut all);
            out.extend_from_slice(&all[rows]);
        }
    }
}
