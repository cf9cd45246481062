//! Encodes the rows of a frame as one message.

use super::messages::Form;
use super::numbers::Numbers;
use super::strings::Strings;
use super::{packing::WORD, write};
use crate::frames::FrameEncoder;
use crate::rows::{RowBuffer, foreign};
use crate::table_capnp::{column, entry};
use ::capnp::message::{Builder, HeapAllocator};
use ::capnp::primitive_list;
use ::capnp::private::layout::PrimitiveElement;
use brc_core::{
    Batch, Bitmap, BitmapBuffer, Column, Data, Field, Integers, LogicalType, PhysicalType, Result, Schema, batch,
    float32, for_integers,
};
use std::ops::Range;

/// The words of a message besides its columns: the root, the entry, the rows and the tag of their list.
const MESSAGE_WORDS: usize = 1 + 2 + 2 + 1;
/// The words of a column besides its lists.
const COLUMN_WORDS: usize = 3;
/// The bits of a word.
const WORD_BITS: usize = 64;

/// Encodes the rows of one frame at a time.
pub(super) struct ColumnsEncoder {
    form: Form,
    columns: Vec<Pending>,
    rows: usize,
}

/// A column of the frame.
struct Pending {
    nullable: bool,
    validity: BitmapBuffer,
    values: Values,
    /// The codes of a batch that came in runs.
    unrolled: Vec<u32>,
}

enum Values {
    Strings(Strings),
    Numbers(Numbers),
    Bools(Vec<bool>),
    Floats(Vec<f64>),
    /// 32-bit floats, widened.
    ShortFloats(Vec<f64>),
}

impl ColumnsEncoder {
    pub(super) fn new(form: Form, schema: &Schema) -> Self {
        Self { form, columns: schema.fields().iter().map(Pending::new).collect(), rows: 0 }
    }

    fn append(&mut self, batch: &Batch<'_>, rows: Range<usize>) -> Result<()> {
        for (pending, column) in self.columns.iter_mut().zip(batch.columns) {
            pending.push(column, rows.clone())?;
        }
        self.rows += rows.len();
        Ok(())
    }

    /// The words of the segment.
    fn words(&self) -> usize {
        MESSAGE_WORDS + self.columns.iter().map(|column| COLUMN_WORDS + column.words(self.rows)).sum::<usize>()
    }
}

impl FrameEncoder for ColumnsEncoder {
    fn push(
        &mut self,
        batch: &Batch<'_>,
        rows: Range<usize>,
        _: u64,
        max_bytes: usize,
        out: &mut RowBuffer,
    ) -> Result<usize> {
        if batch.columns.len() != self.columns.len() {
            return Err(foreign());
        }
        let before = out.len();
        let row_bytes: usize =
            self.columns.iter_mut().zip(batch.columns).map(|(column, new)| column.longest(new)).sum();
        if before + self.pending() + rows.len() * row_bytes < max_bytes {
            self.append(batch, rows.clone())?;
            return Ok(rows.len());
        }
        for row in rows.clone() {
            self.append(batch, row..row + 1)?;
            if before + self.pending() >= max_bytes {
                return Ok(row + 1 - rows.start);
            }
        }
        Ok(rows.len())
    }

    fn pending(&self) -> usize {
        self.words() * WORD
    }

    fn finish(&mut self, out: &mut RowBuffer) {
        let words = self.words();
        // The whole message fits the first segment.
        let mut message = Builder::new(HeapAllocator::new().first_segment_words(words as u32));
        let mut root = message.init_root::<entry::Builder<'_>>().init_rows();
        root.set_rows(self.rows as u32);
        let mut columns = root.init_columns(self.columns.len() as u32);
        for (index, pending) in self.columns.iter().enumerate() {
            pending.build(columns.reborrow().get(index as u32));
        }
        write(&message, self.form, out);
        self.columns.iter_mut().for_each(Pending::clear);
        self.rows = 0;
    }
}

impl Pending {
    fn new(field: &Field) -> Self {
        let values = match field.logical_type.physical() {
            PhysicalType::Integers if field.logical_type == LogicalType::Bool => Values::Bools(Vec::new()),
            PhysicalType::Integers => Values::Numbers(Numbers::default()),
            PhysicalType::Floats if field.logical_type == LogicalType::Float32 => Values::ShortFloats(Vec::new()),
            PhysicalType::Floats => Values::Floats(Vec::new()),
            PhysicalType::Bytes => Values::Strings(Strings::default()),
        };
        Self { nullable: field.nullable, validity: BitmapBuffer::default(), values, unrolled: Vec::new() }
    }

    /// An upper bound of the bytes that a row can add.
    fn longest(&mut self, column: &Column<'_>) -> usize {
        let longest = match (&mut self.values, column.data) {
            (Values::Strings(strings), Data::Codes { dictionary, .. } | Data::Runs { dictionary, .. }) => {
                strings.learn(dictionary) + 4 * WORD
            }
            (_, Data::Bytes(strings)) => strings.iter().map(<[u8]>::len).max().unwrap_or(0) + 4 * WORD,
            _ => 2 * WORD,
        };
        // The struct and the first word of a validity list that does not exist yet.
        if self.nullable { longest + 2 * COLUMN_WORDS * WORD } else { longest }
    }

    fn push(&mut self, column: &Column<'_>, rows: Range<usize>) -> Result<()> {
        let validity = column.validity.map(|validity| validity.slice(rows.clone()));
        match validity.filter(|validity| validity.count_nulls() > 0) {
            Some(_) if !self.nullable => return Err(foreign()),
            Some(validity) => self.push_nullable(column, rows.clone(), validity)?,
            None => self.push_values(column, rows.clone())?,
        }
        if self.nullable {
            self.validity.extend(validity, rows.len());
        }
        Ok(())
    }

    fn push_values(&mut self, column: &Column<'_>, rows: Range<usize>) -> Result<()> {
        match (&mut self.values, column.data) {
            (Values::Numbers(numbers), Data::Integers(values)) => numbers.push(&values, rows),
            (Values::Bools(bools), Data::Integers(values)) => {
                for_integers!(values.slice(rows), values => bools.extend(values.iter().map(|&value| value != 0)));
            }
            (Values::Floats(floats) | Values::ShortFloats(floats), Data::Floats(values)) => {
                floats.extend_from_slice(&values[rows]);
            }
            (Values::Strings(strings), Data::Codes { codes, .. }) => strings.push(&codes[rows]),
            (Values::Strings(strings), Data::Runs { .. }) => {
                self.unrolled.clear();
                batch::codes_of_rows(column, rows, &mut self.unrolled);
                strings.push(&self.unrolled);
            }
            (Values::Strings(strings), Data::Bytes(bytes)) => strings.push_strings(bytes.slice(rows)),
            _ => return Err(foreign()),
        }
        Ok(())
    }

    /// Appends rows with nulls, which become zeros and empty strings, whatever the values of the batch.
    fn push_nullable(&mut self, column: &Column<'_>, rows: Range<usize>, validity: Bitmap<'_>) -> Result<()> {
        match (&mut self.values, column.data) {
            (Values::Numbers(numbers), Data::Integers(values)) => match values.slice(rows) {
                Integers::I8(values) => numbers.push(&Integers::I8(&or_zero(values, validity)), 0..values.len()),
                Integers::I16(values) => numbers.push(&Integers::I16(&or_zero(values, validity)), 0..values.len()),
                Integers::I32(values) => numbers.push(&Integers::I32(&or_zero(values, validity)), 0..values.len()),
                Integers::I64(values) => numbers.push(&Integers::I64(&or_zero(values, validity)), 0..values.len()),
                Integers::I128(values) => numbers.push(&Integers::I128(&or_zero(values, validity)), 0..values.len()),
            },
            (Values::Bools(bools), Data::Integers(values)) => {
                let values = values.slice(rows);
                bools.extend(validity.iter().enumerate().map(|(row, is_valid)| is_valid && values.get(row) != 0));
            }
            (Values::Floats(floats) | Values::ShortFloats(floats), Data::Floats(values)) => {
                floats.extend(or_zero(&values[rows], validity));
            }
            (Values::Strings(strings), Data::Codes { .. } | Data::Runs { .. }) => {
                self.unrolled.clear();
                batch::codes_of_rows(column, rows, &mut self.unrolled);
                let codes = self.unrolled.iter().zip(validity.iter());
                strings.push_some(codes.map(|(&code, is_valid)| is_valid.then_some(code)));
            }
            (Values::Strings(strings), Data::Bytes(bytes)) => {
                let bytes = bytes.slice(rows);
                let string = |(string, is_valid)| if is_valid { string } else { &b""[..] };
                bytes.iter().zip(validity.iter()).map(string).for_each(|string| strings.push_string(string));
            }
            _ => return Err(foreign()),
        }
        Ok(())
    }

    /// The words of the lists for the given number of rows, including the structs between the column and the lists.
    fn words(&self, rows: usize) -> usize {
        let values = match &self.values {
            Values::Strings(strings) => strings.words(),
            Values::Numbers(numbers) => match numbers.width() {
                16 => 2 * rows,
                width => (rows * width).div_ceil(WORD),
            },
            Values::Bools(_) => rows.div_ceil(WORD_BITS),
            Values::Floats(_) => rows,
            Values::ShortFloats(_) => rows.div_ceil(2),
        };
        let validity = if self.validity.nulls() > 0 { rows.div_ceil(WORD_BITS) + COLUMN_WORDS } else { 0 };
        values + validity
    }

    fn build(&self, mut column: column::Builder<'_>) {
        if let Some(validity) = self.validity.bitmap() {
            let mut nullable = column.init_nullable();
            fill_bits(nullable.reborrow().init_validity(validity.len() as u32), validity.iter());
            column = nullable.init_values();
        }
        match &self.values {
            Values::Strings(strings) => strings.build(column.init_text()),
            Values::Numbers(numbers) => numbers.build(column),
            Values::Bools(bools) => fill_bits(column.init_bools(bools.len() as u32), bools.iter().copied()),
            Values::Floats(floats) => fill(column.init_float64(floats.len() as u32), floats, |value| value),
            Values::ShortFloats(floats) => {
                fill(column.init_float32(floats.len() as u32), floats, float32::nearest);
            }
        }
    }

    fn clear(&mut self) {
        self.validity.clear();
        match &mut self.values {
            Values::Strings(strings) => strings.clear(),
            Values::Numbers(numbers) => numbers.clear(),
            Values::Bools(bools) => bools.clear(),
            Values::Floats(floats) | Values::ShortFloats(floats) => floats.clear(),
        }
    }
}

/// The values, with zeros for nulls.
fn or_zero<T: Copy + Default>(values: &[T], validity: Bitmap<'_>) -> Vec<T> {
    let value = |(&value, is_valid)| if is_valid { value } else { T::default() };
    values.iter().zip(validity.iter()).map(value).collect()
}

fn fill_bits(mut list: primitive_list::Builder<'_, bool>, bits: impl Iterator<Item = bool>) {
    for (index, bit) in (0..list.len()).zip(bits) {
        list.set(index, bit);
    }
}

/// Writes all values of a list.
pub(super) fn fill<S: Copy, T: PrimitiveElement>(
    mut list: primitive_list::Builder<'_, T>,
    values: &[S],
    cast: impl Fn(S) -> T,
) {
    match list.as_slice() {
        Some(slots) => slots.iter_mut().zip(values).for_each(|(slot, &value)| *slot = cast(value)),
        None => (0..list.len()).zip(values).for_each(|(index, &value)| list.set(index, cast(value))),
    }
}
