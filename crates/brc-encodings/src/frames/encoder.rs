//! Encodes frames in which one row follows the other.
//!
//! Each distinct string is encoded once, and so is each small number; rows are put together by copying what came of it.
//! A copy has a fixed length wherever that suffices, which takes less time than one of exactly the right length.

use super::{FrameEncoder, Numbers};
use brc_core::{Batch, Column, DataType, Dictionary, Error, Result, Schema, Values, batch};
use std::ops::Range;

/// How an encoding writes the values of a row one after the other.
pub(crate) trait RowWriter: Send {
    /// What a row of so many columns begins with. It is the same for all rows.
    fn begin_row(&self, columns: usize, out: &mut Vec<u8>);

    /// A string of a column. It is asked once for each distinct string; what it appends is copied into the rows.
    fn text(&self, column: usize, text: &[u8], out: &mut Vec<u8>);

    /// A decimal of a column, in units of its scale.
    fn number(&self, column: usize, number: i64, out: &mut Vec<u8>);

    /// Ends the row that starts at `start`.
    fn end_row(&mut self, start: usize, out: &mut Vec<u8>);
}

/// The encoder of such frames.
pub(crate) struct RowEncoder<W> {
    writer: W,
    columns: Vec<Encoded>,
    bytes: Vec<u8>,
}

/// What is known of how the values of one column look in a row. Those of the first column have the beginning of the row
/// before them.
enum Encoded {
    Strings {
        pieces: Pieces,
        /// The codes of some rows that came as runs.
        codes: Vec<u32>,
    },
    Numbers(Numbers),
}

/// The values of some rows of one column.
enum Source<'a> {
    Strings(&'a [u32], &'a Pieces),
    I16(&'a [i16], &'a Numbers),
    I32(&'a [i32], &'a Numbers),
    I64(&'a [i64], &'a Numbers),
}

impl<W: RowWriter> RowEncoder<W> {
    pub(crate) fn new(writer: W, schema: &Schema) -> Self {
        let columns = schema.fields().len();
        let encoded = |(index, data_type)| match data_type {
            DataType::Decimal { .. } => {
                Encoded::Numbers(Numbers::new(|number, out| write_number(&writer, columns, index, number, out)))
            }
            _ => Encoded::Strings { pieces: Pieces::default(), codes: Vec::new() },
        };
        let columns = schema.fields().iter().map(|field| field.data_type).enumerate().map(encoded).collect();
        Self { writer, columns, bytes: Vec::new() }
    }
}

#[inline]
fn write_number(writer: &impl RowWriter, columns: usize, column: usize, number: i64, out: &mut Vec<u8>) {
    if column == 0 {
        writer.begin_row(columns, out);
    }
    writer.number(column, number, out);
}

impl<W: RowWriter> FrameEncoder for RowEncoder<W> {
    fn push(&mut self, batch: &Batch<'_>, rows: Range<usize>) -> Result<()> {
        let Self { writer, columns, bytes } = self;
        let width = columns.len();
        let mut sources = Vec::with_capacity(width);
        for (index, (encoded, column)) in columns.iter_mut().zip(batch.columns).enumerate() {
            if let (Encoded::Strings { pieces, .. }, Some(dictionary)) = (&mut *encoded, column.dictionary()) {
                pieces.learn(dictionary, |text, out| {
                    if index == 0 {
                        writer.begin_row(width, out);
                    }
                    writer.text(index, text, out);
                });
            }
            sources.push(encoded.source(column, rows.clone())?);
        }
        for row in 0..rows.len() {
            let start = bytes.len();
            for (index, source) in sources.iter().enumerate() {
                let (number, short) = match source {
                    Source::Strings(codes, pieces) => {
                        pieces.copy(codes[row], bytes);
                        continue;
                    }
                    Source::I16(values, short) => (i64::from(values[row]), short),
                    Source::I32(values, short) => (i64::from(values[row]), short),
                    Source::I64(values, short) => (values[row], short),
                };
                if !short.copy(number, bytes) {
                    write_number(writer, width, index, number, bytes);
                }
            }
            writer.end_row(start, bytes);
        }
        Ok(())
    }

    fn bytes(&self) -> usize {
        self.bytes.len()
    }

    fn finish(&mut self, out: &mut Vec<u8>) {
        out.append(&mut self.bytes);
    }
}

impl Encoded {
    fn source<'a>(&'a mut self, column: &Column<'a>, rows: Range<usize>) -> Result<Source<'a>> {
        match (self, column) {
            (Self::Strings { pieces, .. }, Column::Codes { codes, .. }) => Ok(Source::Strings(&codes[rows], pieces)),
            (Self::Strings { pieces, codes }, Column::Runs { .. }) => {
                codes.clear();
                codes_of(column, rows, codes);
                Ok(Source::Strings(codes, pieces))
            }
            (Self::Numbers(numbers), Column::Values(values)) => Ok(match values {
                Values::I16(values) => Source::I16(&values[rows], numbers),
                Values::I32(values) => Source::I32(&values[rows], numbers),
                Values::I64(values) => Source::I64(&values[rows], numbers),
            }),
            _ => Err(Error::Usage("a batch is not of the table's columns".into())),
        }
    }
}

/// The strings of one column as they look in a row, by their codes.
#[derive(Default)]
struct Pieces {
    /// All of them, and [`Pieces::SHORT`] bytes more.
    bytes: Vec<u8>,
    places: Vec<Range<usize>>,
}

impl Pieces {
    /// Pieces of so many bytes, which nearly all are, are copied at this length.
    const SHORT: usize = 32;

    /// Encodes the strings of a dictionary that were not there yet.
    fn learn(&mut self, dictionary: &Dictionary, encode: impl Fn(&[u8], &mut Vec<u8>)) {
        for code in self.places.len()..dictionary.len() {
            let text = dictionary.get(code as u32);
            let start = self.places.last().map_or(0, |place| place.end);
            self.bytes.truncate(start);
            encode(text, &mut self.bytes);
            self.places.push(start..self.bytes.len());
            self.bytes.resize(self.bytes.len() + Self::SHORT, 0);
        }
    }

    #[inline]
    fn copy(&self, code: u32, out: &mut Vec<u8>) {
        let place = &self.places[code as usize];
        let end = out.len() + place.len();
        match self.bytes[place.start..].first_chunk::<{ Self::SHORT }>() {
            Some(bytes) if place.len() <= Self::SHORT => {
                out.extend_from_slice(bytes);
                out.truncate(end);
            }
            _ => out.extend_from_slice(&self.bytes[place.clone()]),
        }
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
