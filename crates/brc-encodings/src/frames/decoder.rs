//! Decodes frames in which one row follows the other.

use super::{DecodeError, FrameDecoder, Malformed};
use crate::delivery::Delivery;
use crate::narrow::Narrow;
use crate::text::BATCH_ROWS;
use brc_core::{Column, Field, Integers, LogicalType, PhysicalType, Schema};
use brc_kernels::cpu::Level;
use brc_kernels::interner::Interner;
use std::ops::Range;

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

    /// A string: what is left then starts right behind it.
    fn text(&mut self, column: usize) -> Result<&'a [u8], Fault>;

    /// A decimal, in units of its column's scale.
    fn number(&mut self, column: usize, scale: u8) -> Result<i64, Fault>;

    /// Ends the row.
    fn end_row(&mut self) -> Result<(), Fault>;
}

/// Takes a string of so many bytes off the front of some.
#[inline]
pub(crate) fn take_text<'a>(bytes: &mut &'a [u8], length: impl TryInto<usize>) -> Result<&'a [u8], Fault> {
    let length = length.try_into().unwrap_or(usize::MAX);
    let (text, rest) = bytes.split_at_checked(length).ok_or(Fault::CutOff)?;
    *bytes = rest;
    Ok(text)
}

/// Why the next value cannot be taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The bytes end within it.
    CutOff,
    /// It is not what should be there.
    Malformed(String),
    /// It is a sound value, but of a kind that is not supported there.
    Unsupported(String),
}

impl Fault {
    #[cold]
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self::Malformed(reason.into())
    }

    #[cold]
    pub(crate) fn unsupported(reason: impl Into<String>) -> Self {
        Self::Unsupported(reason.into())
    }

    /// What is wrong with the row that begins at `at` of some bytes, behind so many rows.
    #[cold]
    fn in_row<L: RowLayout>(self, bytes: &[u8], at: usize, rows: u64, schema: &[LogicalType]) -> Malformed {
        match self {
            Self::CutOff => Malformed::corrupt(at, rows, "the bytes end within a row".to_owned()),
            Self::Malformed(reason) => Malformed::corrupt(at, rows, reason),
            Self::Unsupported(reason) => {
                let column = strange_column::<L>(bytes.get(at..).unwrap_or_default(), schema);
                Malformed { at, rows, column, is_sound: true, reason }
            }
        }
    }
}

/// What is not a row, in the encodings of which rows are arrays.
pub(crate) const NOT_A_ROW: &str =
    "where a row should be; brc reads a sequence of rows, each an array of values in the order of the columns";

/// What is not a string of those encodings.
pub(crate) const NOT_A_STRING: &str = "in a column of strings; see --schema";

/// What is not an integer of those encodings.
pub(crate) const NOT_AN_INTEGER: &str = "in a column of numbers, which are integers, in units of the last decimal";

/// What is said where one array holds all rows.
pub(crate) const ARRAY_AROUND: &str = "an array around all rows; brc reads a sequence of rows, one after the other";

/// The fault that a row's array has another length than there are columns.
#[cold]
pub(crate) fn wrong_length(length: u64, columns: usize) -> Fault {
    Fault::unsupported(format!("a row of {length} values, but there are {columns} columns; see --schema"))
}

/// The decoder of such frames.
pub(crate) struct RowDecoder<L> {
    types: Vec<LogicalType>,
    columns: Vec<Taken>,
    rows: usize,
    layout: std::marker::PhantomData<L>,
}

/// The values of one column that were taken from rows, and not delivered yet.
enum Taken {
    /// Strings are first found and then looked up, all of a batch at once: a look-up need not wait for the next row to be
    /// found, nor does it suffer if that was not where the processor had guessed.
    Strings {
        places: Vec<Range<usize>>,
        interner: Box<Interner>,
        codes: Vec<u32>,
    },
    Numbers {
        numbers: Vec<i64>,
        narrow: Narrow,
        scale: u8,
    },
    /// Strings nobody asked for: checked, not kept.
    SkippedStrings,
    SkippedNumbers {
        scale: u8,
    },
}

impl Taken {
    fn new(field: &Field, wanted: bool) -> Self {
        let scale = field.logical_type.scale();
        match field.logical_type.physical() {
            PhysicalType::Integers if wanted => Self::Numbers { numbers: Vec::new(), narrow: Narrow::default(), scale },
            PhysicalType::Integers => Self::SkippedNumbers { scale },
            _ if wanted => Self::Strings {
                places: Vec::new(),
                interner: Box::new(Interner::new(Level::best())),
                codes: Vec::new(),
            },
            _ => Self::SkippedStrings,
        }
    }

    /// The values, of which strings lie in `bytes`; none of a column that is skipped.
    fn lend(&mut self, bytes: &[u8]) -> Column<'_> {
        match self {
            Self::Strings { places, interner, codes } => {
                codes.clear();
                interner.intern_all(bytes, places, codes);
                Column::codes(codes, interner.dictionary())
            }
            Self::Numbers { numbers, narrow, .. } => Column::integers(narrow.lend(numbers)),
            Self::SkippedStrings | Self::SkippedNumbers { .. } => Column::integers(Integers::I64(&[])),
        }
    }

    fn clear(&mut self) {
        match self {
            Self::Strings { places, .. } => places.clear(),
            Self::Numbers { numbers, .. } => numbers.clear(),
            Self::SkippedStrings | Self::SkippedNumbers { .. } => {}
        }
    }
}

impl<L: RowLayout> RowDecoder<L> {
    pub(crate) fn new(schema: &Schema, projection: &[usize]) -> Self {
        let taken = |(column, field)| Taken::new(field, projection.contains(&column));
        let columns = schema.fields().iter().enumerate().map(taken).collect();
        Self { types: types(schema), columns, rows: 0, layout: std::marker::PhantomData }
    }

    /// Where the first row ends that ends at `least` or later, as [`super::Layout::row_end`] wants it.
    pub(crate) fn row_end(schema: &Schema, bytes: &[u8], least: usize) -> Result<Option<(usize, u64)>, Malformed> {
        let mut reader = L::reader(bytes);
        let types = types(schema);
        let mut rows = 0;
        loop {
            let at = bytes.len() - reader.left();
            if at >= least && at > 0 {
                return Ok(Some((at, rows)));
            }
            match skip_row::<L>(&mut reader, &types) {
                Ok(()) => rows += 1,
                Err(Fault::CutOff) => return Ok(None),
                Err(fault) => return Err(fault.in_row::<L>(bytes, at, rows, &types)),
            }
        }
    }

    /// Takes a row of some bytes of which so many are there.
    #[inline]
    fn row(&mut self, reader: &mut L::Reader<'_>, bytes: usize) -> Result<(), Fault> {
        reader.begin_row(self.columns.len())?;
        for (index, column) in self.columns.iter_mut().enumerate() {
            match column {
                Taken::Strings { places, .. } => {
                    let length = reader.text(index)?.len();
                    let end = bytes - reader.left();
                    places.push(end - length..end);
                }
                Taken::Numbers { numbers, scale, .. } => numbers.push(reader.number(index, *scale)?),
                Taken::SkippedStrings => {
                    reader.text(index)?;
                }
                Taken::SkippedNumbers { scale } => {
                    reader.number(index, *scale)?;
                }
            }
        }
        reader.end_row()
    }

    fn deliver(&mut self, bytes: &[u8], delivery: &mut Delivery<'_>) -> Result<(), DecodeError> {
        let columns: Vec<Column<'_>> = self.columns.iter_mut().map(|column| column.lend(bytes)).collect();
        let outcome = delivery.batch(self.rows, &columns);
        self.forget();
        Ok(outcome?)
    }

    fn forget(&mut self) {
        self.columns.iter_mut().for_each(Taken::clear);
        self.rows = 0;
    }
}

fn types(schema: &Schema) -> Vec<LogicalType> {
    schema.fields().iter().map(|field| field.logical_type).collect()
}

fn skip_row<L: RowLayout>(reader: &mut L::Reader<'_>, types: &[LogicalType]) -> Result<(), Fault> {
    reader.begin_row(types.len())?;
    for (index, logical_type) in types.iter().enumerate() {
        skip_value::<L>(reader, index, *logical_type)?;
    }
    reader.end_row()
}

fn skip_value<L: RowLayout>(reader: &mut L::Reader<'_>, column: usize, logical_type: LogicalType) -> Result<(), Fault> {
    match logical_type.physical() {
        PhysicalType::Integers => reader.number(column, logical_type.scale()).map(drop),
        _ => reader.text(column).map(drop),
    }
}

/// The column of the first value that cannot be taken of the row that some bytes begin with, if it is one.
fn strange_column<L: RowLayout>(row: &[u8], types: &[LogicalType]) -> Option<usize> {
    let mut reader = L::reader(row);
    reader.begin_row(types.len()).ok()?;
    (0..types.len()).find(|&column| skip_value::<L>(&mut reader, column, types[column]).is_err())
}

impl<L: RowLayout> FrameDecoder for RowDecoder<L> {
    fn decode(&mut self, bytes: &[u8], delivery: &mut Delivery<'_>) -> Result<u64, DecodeError> {
        let mut reader = L::reader(bytes);
        let mut rows = 0;
        self.forget();
        while reader.left() > 0 {
            let at = bytes.len() - reader.left();
            self.row(&mut reader, bytes.len()).map_err(|fault| fault.in_row::<L>(bytes, at, rows, &self.types))?;
            rows += 1;
            self.rows += 1;
            if self.rows == BATCH_ROWS {
                self.deliver(bytes, delivery)?;
            }
        }
        self.deliver(bytes, delivery)?;
        Ok(rows)
    }
}
