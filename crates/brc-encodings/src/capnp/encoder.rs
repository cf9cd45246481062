//! Turns the rows of a frame into one message.

use super::messages::Form;
use super::numbers::Numbers;
use super::{packing::WORD, write};
use crate::frames::FrameEncoder;
use crate::rows::{RowBuffer, foreign};
use crate::table_capnp::{column, entry};
use ::capnp::message::{Builder, HeapAllocator};
use ::capnp::private::layout::PrimitiveElement;
use ::capnp::{primitive_list, text};
use brc_core::{Batch, Column, Data, Dictionary, LogicalType, PhysicalType, Result, Schema, batch};
use std::ops::Range;

/// The words of a message of rows besides its columns: the root, the entry, the rows and the tag of their list.
const MESSAGE_WORDS: usize = 1 + 2 + 2 + 1;
/// The words of a column besides its lists.
const COLUMN_WORDS: usize = 3;

/// Encodes the rows of one frame after the other.
pub(super) struct ColumnsEncoder {
    form: Form,
    columns: Vec<Pending>,
    rows: usize,
}

/// A column of the frame.
enum Pending {
    Text(Text),
    Numbers(Numbers),
}

/// A column of strings.
#[derive(Default)]
struct Text {
    /// The strings of all codes of the batches, which keep their meaning.
    strings: Dictionary,
    /// The length of the longest of them.
    longest: usize,
    /// For each code of the batches, the place of its string in the frame, or [`NO_PLACE`].
    places: Vec<u32>,
    /// The codes of the batches that have a place, in its order: that in which they came.
    placed: Vec<u32>,
    /// The words of the list of strings: for each a pointer, and its bytes with a NUL behind.
    dictionary_words: usize,
    /// For each row, the place of its string.
    codes: Vec<u32>,
    /// Codes of a batch that came in runs.
    unrolled: Vec<u32>,
}

const NO_PLACE: u32 = u32::MAX;

impl ColumnsEncoder {
    pub(super) fn new(form: Form, schema: &Schema) -> Self {
        let pending = |logical_type: LogicalType| match logical_type.physical() {
            PhysicalType::Integers => Pending::Numbers(Numbers::default()),
            _ => Pending::Text(Text::default()),
        };
        Self { form, columns: schema.fields().iter().map(|field| pending(field.logical_type)).collect(), rows: 0 }
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
        most: usize,
        out: &mut RowBuffer,
    ) -> Result<usize> {
        if batch.columns.len() != self.columns.len() {
            return Err(foreign());
        }
        let before = out.len();
        let row_bytes: usize =
            self.columns.iter_mut().zip(batch.columns).map(|(column, new)| column.longest(new)).sum();
        if before + self.pending() + rows.len() * row_bytes < most {
            self.append(batch, rows.clone())?;
            return Ok(rows.len());
        }
        for row in rows.clone() {
            self.append(batch, row..row + 1)?;
            if before + self.pending() >= most {
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
        // All of it fits the first segment.
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
    /// More bytes than a row can add.
    fn longest(&mut self, column: &Column<'_>) -> usize {
        match (self, column.dictionary()) {
            (Self::Text(text), Some(dictionary)) => {
                text.learn(dictionary);
                text.longest + 4 * WORD
            }
            _ => 2 * WORD,
        }
    }

    fn push(&mut self, column: &Column<'_>, rows: Range<usize>) -> Result<()> {
        match (self, column.data) {
            _ if column.has_nulls() => return Err(foreign()),
            (Self::Numbers(numbers), Data::Integers(values)) => numbers.push(&values, rows),
            (Self::Text(text), Data::Codes { codes, .. }) => text.push(&codes[rows]),
            (Self::Text(text), Data::Runs { .. }) => {
                let mut codes = std::mem::take(&mut text.unrolled);
                codes.clear();
                batch::codes_of_rows(column, rows, &mut codes);
                text.push(&codes);
                text.unrolled = codes;
            }
            _ => return Err(foreign()),
        }
        Ok(())
    }

    /// The words of the lists for so many rows.
    fn words(&self, rows: usize) -> usize {
        match self {
            Self::Text(text) => text.dictionary_words + (rows * text.width()).div_ceil(WORD),
            Self::Numbers(numbers) => (rows * numbers.width()).div_ceil(WORD),
        }
    }

    fn build(&self, column: column::Builder<'_>) {
        match self {
            Self::Text(text) => text.build(column.init_text()),
            Self::Numbers(numbers) => numbers.build(column),
        }
    }

    fn clear(&mut self) {
        match self {
            Self::Text(text) => text.clear(),
            Self::Numbers(numbers) => numbers.clear(),
        }
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

impl Text {
    /// Takes over the strings of a dictionary that were not there yet.
    fn learn(&mut self, dictionary: &Dictionary) {
        for code in self.strings.len()..dictionary.len() {
            let string = dictionary.get(code as u32);
            self.strings.push(string);
            self.longest = self.longest.max(string.len());
        }
    }

    fn push(&mut self, codes: &[u32]) {
        self.places.resize(self.strings.len(), NO_PLACE);
        let start = self.codes.len();
        let mut all_placed = true;
        self.codes.extend(codes.iter().map(|&code| {
            let place = self.places[code as usize];
            all_placed &= place != NO_PLACE;
            place
        }));
        if !all_placed {
            self.codes.truncate(start);
            self.place(codes);
        }
    }

    /// Gives places to the strings that have none yet.
    fn place(&mut self, codes: &[u32]) {
        for &code in codes {
            let place = &mut self.places[code as usize];
            if *place == NO_PLACE {
                *place = self.placed.len() as u32;
                self.placed.push(code);
                self.dictionary_words += 1 + self.strings.get(code).len() / WORD + 1;
            }
            self.codes.push(*place);
        }
    }

    /// The bytes of a code.
    fn width(&self) -> usize {
        if self.placed.len() <= 1 << 16 { 2 } else { 4 }
    }

    fn build(&self, mut column: column::text::Builder<'_>) {
        let mut strings = column.reborrow().init_dictionary(self.placed.len() as u32);
        for (place, &code) in (0..).zip(&self.placed) {
            strings.set(place, text::Reader(self.strings.get(code)));
        }
        let rows = self.codes.len() as u32;
        match self.width() {
            2 => fill(column.init_codes(rows), &self.codes, |code| code as u16),
            _ => fill(column.init_wide_codes(rows), &self.codes, |code| code),
        }
    }

    fn clear(&mut self) {
        for code in self.placed.drain(..) {
            self.places[code as usize] = NO_PLACE;
        }
        self.codes.clear();
        self.dictionary_words = 0;
    }
}
