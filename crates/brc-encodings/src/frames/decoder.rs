//! Decodes frames in which one row follows the other.

use super::{DecodeError, FrameDecoder, Malformed};
use crate::delivery::Delivery;
use crate::text::{BATCH_ROWS, Gathered};
use brc_core::{Column, DataType, Schema};

/// How an encoding lays the values of a row one after the other.
pub(crate) trait RowLayout: Send + 'static {
    /// Reads rows from some bytes.
    type Reader<'a>: RowReader<'a>;

    /// A reader of the rows at the start of some bytes.
    fn reader(bytes: &[u8]) -> Self::Reader<'_>;
}

/// Takes values off the front of some bytes, row by row and column by column in the order of the schema.
pub(crate) trait RowReader<'a> {
    /// How many bytes are left.
    fn left(&self) -> usize;

    /// Begins a row of so many columns.
    fn begin_row(&mut self, columns: usize) -> Result<(), Fault>;

    /// A string.
    fn text(&mut self, column: usize) -> Result<&'a [u8], Fault>;

    /// A decimal, in units of its column's scale.
    fn number(&mut self, column: usize) -> Result<i64, Fault>;

    /// Ends the row.
    fn end_row(&mut self) -> Result<(), Fault>;
}

/// Why the next value cannot be taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The bytes end within it.
    CutOff,
    /// It is not what should be there.
    Malformed(String),
}

impl Fault {
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self::Malformed(reason.into())
    }

    fn reason(self) -> String {
        match self {
            Self::CutOff => "the bytes end within a row".to_owned(),
            Self::Malformed(reason) => reason,
        }
    }
}

/// The decoder of such frames.
pub(crate) struct RowDecoder<L> {
    columns: Vec<Gathered>,
    rows: usize,
    layout: std::marker::PhantomData<L>,
}

impl<L: RowLayout> RowDecoder<L> {
    pub(crate) fn new(schema: &Schema, projection: &[usize]) -> Self {
        let gathered = |(column, field)| Gathered::new(field, projection.contains(&column));
        let columns = schema.fields().iter().enumerate().map(gathered).collect();
        Self { columns, rows: 0, layout: std::marker::PhantomData }
    }

    /// Where the first row ends that ends at `least` or later, as [`super::Layout::row_end`] wants it.
    pub(crate) fn row_end(schema: &Schema, bytes: &[u8], least: usize) -> Result<Option<usize>, Malformed> {
        let mut reader = L::reader(bytes);
        let mut rows = 0;
        loop {
            let at = bytes.len() - reader.left();
            if at >= least && at > 0 {
                return Ok(Some(at));
            }
            match skip_row::<L>(&mut reader, schema) {
                Ok(()) => rows += 1,
                Err(Fault::CutOff) => return Ok(None),
                Err(fault) => return Err(Malformed { at, rows, reason: fault.reason() }),
            }
        }
    }

    #[inline]
    fn row(&mut self, reader: &mut L::Reader<'_>) -> Result<(), Fault> {
        reader.begin_row(self.columns.len())?;
        for (index, column) in self.columns.iter_mut().enumerate() {
            match column {
                Gathered::Strings { interner, codes } => codes.push(interner.intern(reader.text(index)?)),
                Gathered::Numbers(numbers) => numbers.push(reader.number(index)?),
                Gathered::SkippedStrings => {
                    reader.text(index)?;
                }
                Gathered::SkippedNumbers => {
                    reader.number(index)?;
                }
            }
        }
        reader.end_row()
    }

    fn deliver(&mut self, delivery: &mut Delivery<'_>) -> Result<(), DecodeError> {
        let columns: Vec<Column<'_>> = self.columns.iter().map(Gathered::lend).collect();
        let outcome = delivery.batch(self.rows, &columns);
        self.forget();
        Ok(outcome?)
    }

    fn forget(&mut self) {
        self.columns.iter_mut().for_each(Gathered::clear);
        self.rows = 0;
    }
}

fn skip_row<L: RowLayout>(reader: &mut L::Reader<'_>, schema: &Schema) -> Result<(), Fault> {
    reader.begin_row(schema.fields().len())?;
    for (index, field) in schema.fields().iter().enumerate() {
        match field.data_type {
            DataType::Decimal { .. } => reader.number(index).map(drop)?,
            _ => reader.text(index).map(drop)?,
        }
    }
    reader.end_row()
}

impl<L: RowLayout> FrameDecoder for RowDecoder<L> {
    fn decode(&mut self, bytes: &[u8], delivery: &mut Delivery<'_>) -> Result<u64, DecodeError> {
        let mut reader = L::reader(bytes);
        let mut rows = 0;
        self.forget();
        while reader.left() > 0 {
            let at = bytes.len() - reader.left();
            self.row(&mut reader).map_err(|fault| Malformed { at, rows, reason: fault.reason() })?;
            rows += 1;
            self.rows += 1;
            if self.rows == BATCH_ROWS {
                self.deliver(delivery)?;
            }
        }
        self.deliver(delivery)?;
        Ok(rows)
    }
}
