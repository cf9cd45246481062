//! Strings as views of buffers that all arrays share.

use crate::recycled::RecycledVec;
use crate::strings::{MAX_GROWING_BYTES, Plain, push_codes};
use arrow_array::builder::{ArrayBuilder, StringViewBuilder};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StringViewArray, UInt32Array};
use arrow_buffer::NullBuffer;
use arrow_schema::{ArrowError, DataType};
use arrow_select::concat::concat;
use arrow_select::take::take;
use brc_core::{Column, Dictionary};
use bytes::Bytes;
use std::sync::Arc;

/// Builds views of strings. Rows are collected as codes or bytes and converted to views together, so that they are
/// validated together as well: one by one, validation would dominate.
pub(crate) struct Views {
    /// Arrays of earlier rows: one for each change between codes and bytes, or of offsets that overflow.
    parts: Vec<StringViewArray>,
    pub(crate) codes: RecycledVec<u32>,
    pub(crate) plain: Plain,
    shared: Shared,
}

/// The size in bytes of buffers with shared strings. Each array copies the last one, if it may be extended.
const SHARED_BLOCK: u32 = 1 << 17;

/// The strings of a dictionary as views of buffers that all arrays share.
struct Shared {
    /// The builder of the strings.
    growing: StringViewBuilder,
    /// All strings as an array, unless some were added since it was made.
    array: Option<StringViewArray>,
    /// The number of strings.
    known: usize,
    /// Whether the dictionary cannot be shared because it grew too large, or has a string that is not UTF-8, which rows
    /// may not even use.
    is_off: bool,
}

/// Keeps a dictionary alive whose bytes an array shares.
struct DictionaryBytes(Dictionary);

impl AsRef<[u8]> for DictionaryBytes {
    fn as_ref(&self) -> &[u8] {
        self.0.span(0..self.0.len() as u32)
    }
}

impl Shared {
    pub(crate) fn new() -> Self {
        let growing = StringViewBuilder::new().with_fixed_block_size(SHARED_BLOCK);
        Self { growing, array: None, known: 0, is_off: false }
    }

    /// Adds the new strings of a dictionary. Returns whether all of them have views, and there are any.
    fn accepts(&mut self, dictionary: &Dictionary) -> Result<bool, ArrowError> {
        self.is_off |= !dictionary.is_complete() && dictionary.value_bytes() > MAX_GROWING_BYTES;
        self.is_off |= dictionary.value_bytes() > i32::MAX as usize;
        if !self.is_off && self.known < dictionary.len() {
            let is_large = dictionary.value_bytes() > SHARED_BLOCK as usize;
            self.array = if dictionary.is_complete() && is_large { Self::share(dictionary) } else { None };
            if self.array.is_none() {
                self.copy(dictionary)?;
            }
            self.known = dictionary.len();
        }
        Ok(!self.is_off && !dictionary.is_empty())
    }

    /// Views that share the memory of a dictionary; `None` if a string is not UTF-8.
    fn share(dictionary: &Dictionary) -> Option<StringViewArray> {
        let mut views = StringViewBuilder::with_capacity(dictionary.len());
        let block = views.append_block(Bytes::from_owner(DictionaryBytes(dictionary.clone())).into());
        let mut ranges = (0..dictionary.len() as u32).map(|code| dictionary.place(code).1);
        ranges.try_for_each(|range| views.try_append_view(block, range.start as u32, range.len() as u32)).ok()?;
        Some(views.finish())
    }

    /// Copies the new strings of a dictionary.
    fn copy(&mut self, dictionary: &Dictionary) -> Result<(), ArrowError> {
        for code in self.growing.len() as u32..dictionary.len() as u32 {
            match std::str::from_utf8(dictionary.get(code)) {
                Ok(string) => self.growing.try_append_value(string)?,
                Err(_) => {
                    self.is_off = true;
                    break;
                }
            }
        }
        Ok(())
    }

    /// All strings, in the order of their codes.
    fn array(&mut self) -> &StringViewArray {
        self.array.get_or_insert_with(|| self.growing.finish_cloned())
    }
}

impl Views {
    pub(crate) fn new() -> Self {
        Self {
            parts: Vec::new(),
            codes: RecycledVec::default(),
            plain: Plain::new(DataType::Utf8),
            shared: Shared::new(),
        }
    }

    pub(crate) fn take(&mut self, column: &Column<'_>, rows: usize) -> Result<(), ArrowError> {
        if let Some(dictionary) = column.dictionary()
            && self.shared.accepts(dictionary)?
        {
            if self.plain.rows() > 0 {
                self.end_part()?;
            }
            push_codes(column, self.shared.known as u32, &mut self.codes);
            return Ok(());
        }
        if !self.codes.is_empty() || !self.plain.has_room_for(column) {
            self.end_part()?;
        }
        self.plain.take(column, rows)
    }

    fn end_part(&mut self) -> Result<(), ArrowError> {
        let part = self.part_array(None)?;
        self.parts.push(part);
        Ok(())
    }

    /// The views of the rows that were collected in one form.
    fn part_array(&mut self, nulls: Option<NullBuffer>) -> Result<StringViewArray, ArrowError> {
        if self.codes.is_empty() {
            return Ok(StringViewArray::from(&self.plain.text(nulls)?));
        }
        let codes = UInt32Array::try_new(self.codes.take().into(), nulls)?;
        Ok(take(self.shared.array(), &codes, None)?.as_string_view().clone())
    }

    pub(crate) fn finish(&mut self, nulls: Option<NullBuffer>) -> Result<ArrayRef, ArrowError> {
        if self.parts.is_empty() {
            return Ok(Arc::new(self.part_array(nulls)?));
        }
        self.end_part()?;
        let parts = std::mem::take(&mut self.parts);
        let parts: Vec<&dyn Array> = parts.iter().map(|part_array| -> &dyn Array { part_array }).collect();
        let (views, buffers, _) = concat(&parts)?.as_string_view().clone().into_parts();
        Ok(Arc::new(StringViewArray::try_new(views, buffers, nulls)?))
    }
}
