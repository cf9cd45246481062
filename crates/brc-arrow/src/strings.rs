//! Strings of a column in the forms that Arrow has for them.
//!
//! Most strings come as codes of a dictionary. Its bytes are copied into a buffer once, and every array of views shares that
//! buffer: of a row only the sixteen bytes of its view are copied.

use arrow_array::builder::make_view;
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, BinaryArray, DictionaryArray, PrimitiveArray, StringArray, StringViewArray};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType};
use brc_core::{Column, Data, Dictionary};
use std::collections::HashMap;
use std::sync::Arc;

/// How strings lie in memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StringForm {
    /// Views of sixteen bytes: what most programs of today read fastest.
    #[default]
    View,
    /// Codes of 32 bits and a dictionary, which may be a different one in each batch.
    Dictionary,
    /// Offsets and bytes, which every program reads.
    Plain,
}

/// A dictionary that grows beyond so many bytes is not copied: its strings are, row by row.
const MAX_GROWING_BYTES: usize = 1 << 20;

/// The strings that were taken since the last array.
pub(crate) enum Strings {
    Views(Views),
    Codes(Codes),
    Plain(Plain),
}

impl Strings {
    /// For arrays of a type of strings.
    pub(crate) fn new(data_type: &DataType) -> Self {
        match data_type {
            DataType::Utf8View => Self::Views(Views::default()),
            DataType::Dictionary(..) => Self::Codes(Codes::default()),
            other => Self::Plain(Plain { offsets: vec![0], bytes: Vec::new(), is_text: *other == DataType::Utf8 }),
        }
    }

    /// Takes all rows of a column of strings.
    ///
    /// # Errors
    /// If they have 2 GiB together.
    pub(crate) fn take(&mut self, column: &Column<'_>, rows: usize) -> Result<(), ArrowError> {
        match self {
            Self::Views(views) => {
                if column.dictionary().is_some_and(|dictionary| views.shared.takes(dictionary)) {
                    let Views { views, shared, .. } = views;
                    each_code(column, |code| views.push(shared.views.get(code as usize).copied().unwrap_or(0)));
                    return Ok(());
                }
                each_string(column, rows, |string| views.push(string))
            }
            Self::Codes(codes) => {
                if let Some(dictionary) = column.dictionary()
                    && codes.takes(dictionary)?
                {
                    let known = dictionary.len() as u32;
                    each_code(column, |code| codes.codes.push(if code < known { code as i32 } else { 0 }));
                    return Ok(());
                }
                codes.leave_whole();
                each_string(column, rows, |string| codes.push(string))
            }
            Self::Plain(plain) => each_string(column, rows, |string| plain.push(string)),
        }
    }

    /// How many bytes of strings an array of the rows at hand has for itself.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Views(views) => views.bytes.len(),
            Self::Codes(codes) => codes.bytes,
            Self::Plain(plain) => plain.bytes.len(),
        }
    }

    /// The array of all rows that were taken since the last one.
    ///
    /// # Errors
    /// If a string is not UTF-8 where it has to be.
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

/// Calls `each` with the string of every row; an empty one for a null.
fn each_string(
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

/// Views of strings, some in buffers of dictionaries, the others in one for the array alone.
#[derive(Default)]
pub(crate) struct Views {
    views: Vec<u128>,
    /// The first buffer of the array.
    bytes: Vec<u8>,
    shared: Shared,
}

/// The strings of a dictionary in buffers that all arrays share.
#[derive(Default)]
struct Shared {
    buffers: Vec<Buffer>,
    /// The view of each string.
    views: Vec<u128>,
    /// Whether the dictionary grew too large.
    is_off: bool,
}

impl Shared {
    /// Learns the strings of a dictionary. Returns whether there are views of all of them.
    fn takes(&mut self, dictionary: &Dictionary) -> bool {
        self.is_off |= !dictionary.is_complete() && dictionary.value_bytes() > MAX_GROWING_BYTES;
        self.is_off |= dictionary.value_bytes() > i32::MAX as usize;
        if self.is_off {
            return false;
        }
        let known = self.views.len();
        if known < dictionary.len() {
            let new = (known..dictionary.len()).map(|code| dictionary.get(code as u32));
            let mut bytes = Vec::with_capacity(new.clone().map(<[u8]>::len).sum());
            for string in new {
                // The first buffer is the array's own.
                self.views.push(make_view(string, self.buffers.len() as u32 + 1, bytes.len() as u32));
                bytes.extend_from_slice(string);
            }
            self.buffers.push(Buffer::from(bytes));
        }
        true
    }
}

impl Views {
    fn push(&mut self, string: &[u8]) -> Result<(), ArrowError> {
        let start = u32::try_from(self.bytes.len()).map_err(|_| too_large())?;
        self.views.push(make_view(string, 0, start));
        self.bytes.extend_from_slice(string);
        Ok(())
    }

    fn finish(&mut self, nulls: Option<NullBuffer>) -> Result<ArrayRef, ArrowError> {
        let own = Buffer::from(std::mem::take(&mut self.bytes));
        let buffers: Vec<Buffer> = [own].into_iter().chain(self.shared.buffers.iter().cloned()).collect();
        let rows = self.views.len();
        let views = ScalarBuffer::from(std::mem::replace(&mut self.views, Vec::with_capacity(rows)));
        Ok(Arc::new(StringViewArray::try_new(views, buffers, nulls)?))
    }
}

/// Codes of a dictionary that is the table's, or of one for the array alone.
#[derive(Default)]
pub(crate) struct Codes {
    codes: Vec<i32>,
    /// The table's dictionary, and the same as an array.
    whole: Option<(Dictionary, Arc<StringArray>)>,
    /// Whether the rows at hand have codes of that.
    is_whole: bool,
    /// The strings of the array's own dictionary, and their codes.
    own: Vec<Vec<u8>>,
    known: HashMap<Vec<u8>, i32>,
    /// How many bytes those strings have.
    bytes: usize,
}

impl Codes {
    /// Whether codes of that dictionary are those of the array.
    fn takes(&mut self, dictionary: &Dictionary) -> Result<bool, ArrowError> {
        let is_first = self.codes.is_empty();
        if !dictionary.is_complete() || dictionary.value_bytes() > i32::MAX as usize || !(is_first || self.is_whole) {
            return Ok(false);
        }
        if self.whole.as_ref().is_none_or(|(known, _)| known != dictionary) {
            if !is_first {
                return Ok(false);
            }
            let mut plain = Plain { offsets: vec![0], bytes: Vec::new(), is_text: true };
            dictionary.iter().try_for_each(|string| plain.push(string))?;
            self.whole = Some((dictionary.clone(), Arc::new(plain.text(None)?)));
        }
        self.is_whole = true;
        Ok(true)
    }

    /// Gives the rows at hand codes of the array's own dictionary.
    fn leave_whole(&mut self) {
        if let (true, Some((dictionary, _))) = (self.is_whole, self.whole.clone()) {
            let codes = std::mem::take(&mut self.codes);
            codes.iter().for_each(|&code| {
                let known = (code as usize) < dictionary.len();
                let code = self.code(if known { dictionary.get(code as u32) } else { b"" });
                self.codes.push(code);
            });
        }
        self.is_whole = false;
    }

    fn push(&mut self, string: &[u8]) -> Result<(), ArrowError> {
        let code = self.code(string);
        self.codes.push(code);
        Ok(())
    }

    /// The code of a string in the array's own dictionary.
    fn code(&mut self, string: &[u8]) -> i32 {
        if let Some(&code) = self.known.get(string) {
            return code;
        }
        let code = self.own.len() as i32;
        self.own.push(string.to_vec());
        self.known.insert(string.to_vec(), code);
        self.bytes += string.len();
        code
    }

    fn finish(&mut self, nulls: Option<NullBuffer>) -> Result<ArrayRef, ArrowError> {
        let codes = PrimitiveArray::<Int32Type>::try_new(ScalarBuffer::from(std::mem::take(&mut self.codes)), nulls)?;
        let values = match &self.whole {
            Some((_, whole)) if self.is_whole => Arc::clone(whole),
            _ => {
                let mut plain = Plain { offsets: vec![0], bytes: Vec::new(), is_text: true };
                self.own.iter().try_for_each(|string| plain.push(string))?;
                Arc::new(plain.text(None)?)
            }
        };
        self.own.clear();
        self.known.clear();
        (self.bytes, self.is_whole) = (0, false);
        Ok(Arc::new(DictionaryArray::try_new(codes, values)?))
    }
}

/// The bytes of strings, and where each ends.
pub(crate) struct Plain {
    offsets: Vec<i32>,
    bytes: Vec<u8>,
    is_text: bool,
}

impl Plain {
    fn push(&mut self, string: &[u8]) -> Result<(), ArrowError> {
        self.bytes.extend_from_slice(string);
        self.offsets.push(i32::try_from(self.bytes.len()).map_err(|_| too_large())?);
        Ok(())
    }

    fn parts(&mut self) -> (OffsetBuffer<i32>, Buffer) {
        let offsets = std::mem::replace(&mut self.offsets, vec![0]);
        (OffsetBuffer::new(ScalarBuffer::from(offsets)), Buffer::from(std::mem::take(&mut self.bytes)))
    }

    fn text(&mut self, nulls: Option<NullBuffer>) -> Result<StringArray, ArrowError> {
        let (offsets, bytes) = self.parts();
        StringArray::try_new(offsets, bytes, nulls)
    }

    fn finish(&mut self, nulls: Option<NullBuffer>) -> Result<ArrayRef, ArrowError> {
        if self.is_text {
            return Ok(Arc::new(self.text(nulls)?));
        }
        let (offsets, bytes) = self.parts();
        Ok(Arc::new(BinaryArray::try_new(offsets, bytes, nulls)?))
    }
}
