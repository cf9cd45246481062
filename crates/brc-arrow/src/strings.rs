//! Strings of a column in Arrow's layouts.
//!
//! Most strings are codes of a dictionary, whose bytes are shared with, or copied once to, a buffer that all view
//! arrays share: only the 16 bytes of the view are copied for each row.

use crate::recycled::RecycledVec;
use crate::views::Views;
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BinaryArray, DictionaryArray, LargeBinaryArray, LargeStringArray, PrimitiveArray, StringArray,
};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType};
use brc_core::{Column, Data, Dictionary};
use std::collections::HashMap;
use std::iter::repeat_n;
use std::sync::Arc;

/// The layout of strings in memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StringForm {
    /// Views of 16 bytes, which most current programs read fastest.
    #[default]
    View,
    /// Codes of 32 bits and a dictionary, which may differ between batches.
    Dictionary,
    /// Offsets and bytes, which every program reads.
    Plain,
}

/// A dictionary that grows beyond this number of bytes is not copied; the strings of rows are copied instead.
pub(crate) const MAX_GROWING_BYTES: usize = 1 << 25;

/// The strings that were appended since the previous array.
pub(crate) enum Strings {
    Views(Box<Views>),
    Codes(Codes),
    Plain(Plain),
}

impl Strings {
    /// For arrays of a string type.
    pub(crate) fn new(data_type: &DataType) -> Self {
        match data_type {
            DataType::Utf8View => Self::Views(Box::new(Views::new())),
            DataType::Dictionary(..) => Self::Codes(Codes::default()),
            other => Self::Plain(Plain::new(other.clone())),
        }
    }

    /// Reserves memory for the given number of rows.
    pub(crate) fn expect(&mut self, rows: usize) {
        if let Self::Views(views) = self {
            views.codes.expect(rows);
        }
    }

    /// Appends all rows of a string column.
    ///
    /// # Errors
    /// If they have 2 GiB or more in total.
    pub(crate) fn take(&mut self, column: &Column<'_>, rows: usize) -> Result<(), ArrowError> {
        match self {
            Self::Views(views) => views.take(column, rows),
            Self::Codes(codes) => {
                if let Some(dictionary) = column.dictionary()
                    && codes.accepts(dictionary)?
                {
                    push_codes(column, dictionary.len() as u32, &mut codes.codes);
                    return Ok(());
                }
                codes.switch_to_own();
                each_string(column, rows, |string| codes.push(string))
            }
            Self::Plain(plain) => plain.take(column, rows),
        }
    }

    /// The number of string bytes that the array of the collected rows does not share.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Views(views) => views.plain.bytes.len(),
            Self::Codes(codes) => codes.bytes,
            Self::Plain(plain) => plain.bytes.len(),
        }
    }

    /// The array of all rows since the previous array.
    ///
    /// # Errors
    /// If a string is not UTF-8 where the array type requires it.
    pub(crate) fn finish(&mut self, nulls: Option<NullBuffer>) -> Result<ArrayRef, ArrowError> {
        match self {
            Self::Views(views) => views.finish(nulls),
            Self::Codes(codes) => codes.finish(nulls),
            Self::Plain(plain) => plain.finish(nulls),
        }
    }
}

/// Calls `each` with the code of every row.
fn each_code(column: &Column<'_>, mut each: impl FnMut(u32)) {
    match column.data {
        Data::Codes { codes, .. } => codes.iter().for_each(|&code| each(code)),
        Data::Runs { runs, .. } => runs.iter().for_each(|run| (0..run.rows).for_each(|_| each(run.code))),
        Data::Bytes(_) | Data::Integers(_) | Data::Floats(_) => {}
    }
}

/// Appends the code of every row, or 0 if it is not below `known`, which occurs only in nulls.
pub(crate) fn push_codes(column: &Column<'_>, known: u32, all: &mut Vec<u32>) {
    let code = |code: u32| if code < known { code } else { 0 };
    match column.data {
        Data::Codes { codes, .. } => all.extend(codes.iter().map(|&own| code(own))),
        Data::Runs { runs, .. } => {
            runs.iter().for_each(|run| all.extend(repeat_n(code(run.code), run.rows as usize)));
        }
        Data::Bytes(_) | Data::Integers(_) | Data::Floats(_) => {}
    }
}

/// Calls `each` with the string of every row; nulls are empty.
pub(crate) fn each_string(
    column: &Column<'_>,
    rows: usize,
    mut each: impl FnMut(&[u8]) -> Result<(), ArrowError>,
) -> Result<(), ArrowError> {
    if let Data::Bytes(strings) = column.data {
        return (0..rows).try_for_each(|row| each(if column.is_valid(row) { strings.get(row) } else { b"" }));
    }
    let Some(dictionary) = column.dictionary() else { return Ok(()) };
    let (known, mut outcome, mut row) = (dictionary.len() as u32, Ok(()), 0);
    each_code(column, |code| {
        let string = if code < known && column.is_valid(row) { dictionary.get(code) } else { b"" };
        row += 1;
        if outcome.is_ok() {
            outcome = each(string);
        }
    });
    outcome
}

fn too_large() -> ArrowError {
    ArrowError::OffsetOverflowError(i32::MAX as usize)
}

/// Builds codes of the table's dictionary, or of one of the array's own.
#[derive(Default)]
pub(crate) struct Codes {
    codes: Vec<u32>,
    /// The table's dictionary, and its array.
    table: Option<(Dictionary, Arc<StringArray>)>,
    /// Whether the collected rows are codes of the table's dictionary.
    uses_table: bool,
    /// The strings of the array's own dictionary, and their codes.
    own: Vec<Vec<u8>>,
    known: HashMap<Vec<u8>, u32>,
    /// The total length of these strings in bytes.
    bytes: usize,
}

impl Codes {
    /// Whether codes of this dictionary can be used in the array.
    fn accepts(&mut self, dictionary: &Dictionary) -> Result<bool, ArrowError> {
        let is_first = self.codes.is_empty();
        if !dictionary.is_complete() || dictionary.value_bytes() > i32::MAX as usize || !(is_first || self.uses_table) {
            return Ok(false);
        }
        if self.table.as_ref().is_none_or(|(known, _)| known != dictionary) {
            if !is_first {
                return Ok(false);
            }
            let mut plain = Plain::new(DataType::Utf8);
            dictionary.iter().try_for_each(|string| plain.push(string))?;
            self.table = Some((dictionary.clone(), Arc::new(plain.text(None)?)));
        }
        self.uses_table = true;
        Ok(true)
    }

    /// Converts the collected rows to codes of the array's own dictionary.
    fn switch_to_own(&mut self) {
        if let (true, Some((dictionary, _))) = (self.uses_table, self.table.clone()) {
            let codes = std::mem::take(&mut self.codes);
            codes.iter().for_each(|&code| {
                let known = (code as usize) < dictionary.len();
                let code = self.code(if known { dictionary.get(code) } else { b"" });
                self.codes.push(code);
            });
        }
        self.uses_table = false;
    }

    fn push(&mut self, string: &[u8]) -> Result<(), ArrowError> {
        let code = self.code(string);
        self.codes.push(code);
        Ok(())
    }

    /// The code of a string in the array's own dictionary.
    fn code(&mut self, string: &[u8]) -> u32 {
        if let Some(&code) = self.known.get(string) {
            return code;
        }
        let code = self.own.len() as u32;
        self.own.push(string.to_vec());
        self.known.insert(string.to_vec(), code);
        self.bytes += string.len();
        code
    }

    fn finish(&mut self, nulls: Option<NullBuffer>) -> Result<ArrayRef, ArrowError> {
        let codes = std::mem::take(&mut self.codes).into_iter().map(|code| code as i32).collect();
        let codes = PrimitiveArray::<Int32Type>::try_new(codes, nulls)?;
        let values = match &self.table {
            Some((_, array)) if self.uses_table => Arc::clone(array),
            _ => {
                let mut plain = Plain::new(DataType::Utf8);
                self.own.iter().try_for_each(|string| plain.push(string))?;
                Arc::new(plain.text(None)?)
            }
        };
        self.own.clear();
        self.known.clear();
        (self.bytes, self.uses_table) = (0, false);
        Ok(Arc::new(DictionaryArray::try_new(codes, values)?))
    }
}

/// Strings as offsets and bytes.
pub(crate) struct Plain {
    offsets: RecycledVec<i32>,
    bytes: RecycledVec<u8>,
    /// The type of text or binary data, with offsets of 32 or 64 bits.
    data_type: DataType,
}

impl Plain {
    pub(crate) fn new(data_type: DataType) -> Self {
        let mut offsets = RecycledVec::default();
        offsets.push(0);
        Self { offsets, bytes: RecycledVec::default(), data_type }
    }

    pub(crate) fn rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether offsets can represent the strings of a column.
    pub(crate) fn has_room_for(&self, column: &Column<'_>) -> bool {
        match column.data {
            Data::Bytes(strings) => self.bytes.len() + strings.span().len() <= i32::MAX as usize,
            Data::Codes { .. } | Data::Runs { .. } | Data::Integers(_) | Data::Floats(_) => true,
        }
    }

    pub(crate) fn take(&mut self, column: &Column<'_>, rows: usize) -> Result<(), ArrowError> {
        match column.data {
            Data::Bytes(strings) if !column.has_nulls() => {
                let (offsets, start) = (strings.parts().0, self.bytes.len() as i32);
                i32::try_from(self.bytes.len() + strings.span().len()).map_err(|_| too_large())?;
                self.bytes.extend_from_slice(strings.span());
                self.offsets.extend(offsets[1..].iter().map(|&end| end - offsets[0] + start));
                Ok(())
            }
            _ => each_string(column, rows, |string| self.push(string)),
        }
    }

    fn push(&mut self, string: &[u8]) -> Result<(), ArrowError> {
        self.bytes.extend_from_slice(string);
        self.offsets.push(i32::try_from(self.bytes.len()).map_err(|_| too_large())?);
        Ok(())
    }

    fn parts(&mut self) -> (OffsetBuffer<i32>, Buffer) {
        let offsets = self.offsets.take();
        self.offsets.push(0);
        (OffsetBuffer::new(ScalarBuffer::from(offsets)), self.bytes.take())
    }

    pub(crate) fn text(&mut self, nulls: Option<NullBuffer>) -> Result<StringArray, ArrowError> {
        let (offsets, bytes) = self.parts();
        StringArray::try_new(offsets, bytes, nulls)
    }

    fn finish(&mut self, nulls: Option<NullBuffer>) -> Result<ArrayRef, ArrowError> {
        let (offsets, bytes) = self.parts();
        let large = |offsets: OffsetBuffer<i32>| OffsetBuffer::new(offsets.iter().map(|&end| i64::from(end)).collect());
        Ok(match self.data_type {
            DataType::Utf8 => Arc::new(StringArray::try_new(offsets, bytes, nulls)?),
            DataType::LargeUtf8 => Arc::new(LargeStringArray::try_new(large(offsets), bytes, nulls)?),
            DataType::LargeBinary => Arc::new(LargeBinaryArray::try_new(large(offsets), bytes, nulls)?),
            _ => Arc::new(BinaryArray::try_new(offsets, bytes, nulls)?),
        })
    }
}
