//! Assembles rows, for all encodings in which the values of a row are contiguous.
//!
//! A table has far fewer distinct strings than rows, and most of its numbers are near zero. So each string and each
//! small number is encoded once, with the bytes around it in a row, and rows are assembled by copying. A copy has a
//! fixed length wherever that suffices: it takes an instruction or two, whereas a copy of the exact length takes a
//! call. The next value overwrites the excess bytes.

mod buffer;
mod column_encodings;
mod encoded_numbers;
mod encoded_strings;
mod encoded_values;
mod short;
#[cfg(test)]
mod tests;
pub(crate) mod values;

use crate::refused::Refused;
use brc_core::{Batch, Column, Error, Result, Schema, UnsupportedReason, Value};
use column_encodings::{ColumnEncodings, EncodedRows};
use encoded_strings::EncodedStrings;
use std::ops::Range;

pub(crate) use buffer::RowBuffer;
pub(crate) use short::Short;

/// How an encoding writes the values of a row.
pub(crate) trait RowWriter: Send {
    /// The bytes before and after each value of a column.
    fn around(&self, column: usize) -> (Vec<u8>, Vec<u8>);

    /// Appends a value of a column, which has the column's type; `None` is a null.
    ///
    /// # Errors
    /// If the encoding cannot hold it. What was appended is then discarded.
    fn value(&self, column: usize, value: Option<Value<'_>>, out: &mut RowBuffer) -> Result<(), UnsupportedReason>;

    /// The same bytes for a number of a column whose numbers [are short](values::is_short_number); decimals in units of
    /// their scale.
    fn number(&self, column: usize, number: i64) -> Short;

    /// Ends a row of `length` bytes, which are followed by [`END_ROOM`] spare ones. Returns its final length.
    #[inline]
    fn end_row(&self, _row: &mut [u8], length: usize) -> usize {
        length
    }
}

/// The number of bytes by which a row may grow at its end.
pub(crate) const END_ROOM: usize = 16;

/// Writes rows for one worker.
pub(crate) struct RowEncoder<W> {
    /// The encoding's name.
    name: &'static str,
    schema: Schema,
    writer: W,
    columns: Vec<ColumnEncodings>,
}

impl<W: RowWriter> RowEncoder<W> {
    /// An encoder for a schema. `name` is the encoding's, for messages.
    pub(crate) fn new(name: &'static str, schema: &Schema, writer: W) -> Self {
        let count = schema.fields().len();
        let known = |(index, field)| ColumnEncodings::new(index, count, field, &writer);
        let columns = schema.fields().iter().enumerate().map(known).collect();
        Self { name, schema: schema.clone(), writer, columns }
    }

    /// Appends rows of a batch; `rows_before` is the number of rows of the part before the batch. After each row,
    /// `row_done` receives its range and decides whether to continue. Returns the number of appended rows.
    ///
    /// # Errors
    /// [`Error::UnsupportedValue`] if the encoding cannot hold a value of a row.
    pub(crate) fn push(
        &mut self,
        batch: &Batch<'_>,
        rows: Range<usize>,
        rows_before: u64,
        out: &mut RowBuffer,
        mut row_done: impl FnMut(Range<usize>) -> bool,
    ) -> Result<usize> {
        let Self { name, schema, writer, columns } = self;
        if batch.columns.len() != columns.len() {
            return Err(foreign());
        }
        let mut sources = Vec::with_capacity(columns.len());
        for (index, (known, column)) in columns.iter_mut().zip(batch.columns).enumerate() {
            sources.push(known.source(index, writer, column, rows.clone())?);
        }
        let mut written = 0;
        while written < rows.len() {
            let outcome = write_rows(writer, &sources, written..rows.len(), out, &mut row_done).and_then(|row| {
                written = row;
                // The row that was not written has a long value, or needs more space.
                if row < rows.len() { write_row(writer, &sources, row, out, &mut row_done) } else { Ok(()) }
            });
            match outcome {
                Ok(()) => written += 1,
                Err(Stopped::Behind(row)) => return Ok(row + 1),
                Err(Stopped::At { row, index }) => {
                    let refused = refused(writer, rows.start + row, index, &batch.columns[index], schema);
                    return Err(refused.into_error(rows_before, name, schema));
                }
            }
        }
        Ok(rows.len())
    }

    /// The error that the encoding cannot hold a row of a batch; `rows_before` is the number of rows of the part before
    /// it.
    #[cold]
    pub(crate) fn refuse(&self, row: usize, fault: UnsupportedReason, rows_before: u64) -> Error {
        Refused::row(row, fault).into_error(rows_before, self.name, &self.schema)
    }
}

/// Why writing rows stopped.
enum Stopped {
    /// After this row, as requested.
    Behind(usize),
    /// At this row, because the encoding cannot hold a value.
    At { row: usize, index: usize },
}

/// Writes rows up to the first with a long value, or for which there may be too little space. Returns its position.
#[inline]
fn write_rows(
    writer: &impl RowWriter,
    sources: &[EncodedRows<'_>],
    rows: Range<usize>,
    out: &mut RowBuffer,
    row_done: impl FnMut(Range<usize>) -> bool,
) -> Result<usize, Stopped> {
    // Many tables have these columns: for them, nothing is decided row by row, not even the length of string copies,
    // because such a branch would often be mispredicted.
    macro_rules! pair {
        ($width:expr, $strings:expr, $numbers:expr) => {{
            let ((codes, strings), (values, numbers)) = ($strings, $numbers);
            write_short_rows(writer, rows, out, row_done, |row, room| {
                let at = strings.write_short::<{ $width }>(codes[row], room)?;
                let encode = |number| writer.number(1, number);
                Some(at + numbers.write_short(values[row].into(), &mut room[at..], encode)?)
            })
        }};
        ($strings:expr, $numbers:expr) => {
            match $strings.1.longest() {
                0..=32 => pair!(32, $strings, $numbers),
                33..=64 => pair!(64, $strings, $numbers),
                _ => pair!(EncodedStrings::WIDEST, $strings, $numbers),
            }
        };
    }
    match *sources {
        [EncodedRows::Strings(codes, strings), EncodedRows::I16(values, numbers)] => {
            pair!((codes, strings), (values, numbers))
        }
        [EncodedRows::Strings(codes, strings), EncodedRows::I32(values, numbers)] => {
            pair!((codes, strings), (values, numbers))
        }
        _ => write_short_rows(writer, rows, out, row_done, |row, room| {
            let mut at = 0;
            for (index, source) in sources.iter().enumerate() {
                at += source.write(row, &mut room[at..], |number| writer.number(index, number))?;
            }
            Some(at)
        }),
    }
}

/// The same with a function that writes a row of short values, and returns its length.
#[inline]
fn write_short_rows(
    writer: &impl RowWriter,
    rows: Range<usize>,
    out: &mut RowBuffer,
    mut row_done: impl FnMut(Range<usize>) -> bool,
    write: impl Fn(usize, &mut [u8]) -> Option<usize>,
) -> Result<usize, Stopped> {
    let before = out.len();
    let all = out.room(0);
    let mut written = 0;
    let mut outcome = Ok(rows.end);
    for row in rows {
        let room = &mut all[written..];
        let Some(length) = write(row, room).filter(|length| room.len() - length >= END_ROOM) else {
            outcome = Ok(row);
            break;
        };
        let start = written;
        written += writer.end_row(room, length);
        if !row_done(before + start..before + written) {
            outcome = Err(Stopped::Behind(row));
            break;
        }
    }
    out.advance(written);
    outcome
}

/// Writes a row of any values.
#[cold]
fn write_row(
    writer: &impl RowWriter,
    sources: &[EncodedRows<'_>],
    row: usize,
    out: &mut RowBuffer,
    mut row_done: impl FnMut(Range<usize>) -> bool,
) -> Result<(), Stopped> {
    let start = out.len();
    for (index, source) in sources.iter().enumerate() {
        let (number, numbers) = match source {
            EncodedRows::I8(values, numbers) => (values[row].into(), numbers),
            EncodedRows::I16(values, numbers) => (values[row].into(), numbers),
            EncodedRows::I32(values, numbers) => (values[row].into(), numbers),
            EncodedRows::I64(values, numbers) => (values[row], numbers),
            EncodedRows::Strings(codes, strings) => {
                out.push(strings.get(codes[row]).ok_or(Stopped::At { row, index })?);
                continue;
            }
            EncodedRows::Encoded(encoded) => {
                out.push(encoded.get(row).ok_or(Stopped::At { row, index })?);
                continue;
            }
        };
        numbers.write(writer.number(index, number), out);
    }
    let length = out.len() - start;
    out.push_zeros(END_ROOM);
    let grown = writer.end_row(&mut out.as_mut_slice()[start..], length);
    out.truncate(start + grown);
    if row_done(start..out.len()) { Ok(()) } else { Err(Stopped::Behind(row)) }
}

/// The reason why a value is refused.
#[cold]
fn refused(writer: &impl RowWriter, row: usize, index: usize, column: &Column<'_>, schema: &Schema) -> Refused {
    let value = Value::of_row(column, row);
    let fault = writer.value(index, value, &mut RowBuffer::default()).err();
    let number = match value {
        None | Some(Value::Bytes(_)) => String::new(),
        Some(value) => value.to_text(schema.fields()[index].logical_type),
    };
    let text = value.map_or(&[][..], values::bytes);
    let shown = if text.is_empty() { number.as_bytes() } else { text };
    Refused::value(row, index, shown, fault.unwrap_or(UnsupportedReason::Empty))
}

/// For writes to memory, which cannot fail.
pub(crate) fn written<T, E>(outcome: Result<T, E>) {
    if outcome.is_err() {
        unreachable!("memory was not written");
    }
}

/// The error that a batch does not fit the schema.
pub(crate) fn foreign() -> Error {
    Error::Usage("a batch is not of the table's columns".into())
}
