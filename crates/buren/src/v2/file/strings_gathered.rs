//! Gathers strings: as codes as long as few distinct values have come, else one behind the other.
//!
//! Which of the two depends on the rows alone, not on how they came: as codes or not, in which batches.

use super::interner::Interner;
use crate::v2::strings::StringBuffer;
use brc_core::{Bitmap, Column, Data, Dictionary, Error, Result};
use foldhash::fast::RandomState;

/// A dictionary has at most so many values.
const MOST_VALUES: usize = 1 << 17;

/// And so many bytes.
const MOST_DICTIONARY_BYTES: usize = 8 << 20;

/// When there are so many distinct values, there must be half as many rows more: else no dictionary will pay.
const PROBE: usize = 1 << 14;

/// The strings of a chunk have fewer bytes than this, as those of a batch in memory.
pub(super) const MOST_BYTES: usize = i32::MAX as usize;

const UNKNOWN: u32 = u32::MAX;

/// The strings of a part so far.
pub(super) struct Strings {
    pub(super) form: Form,
    /// This part's code of each code of the dictionary that the batches share.
    local: Vec<u32>,
    /// The codes of a batch of runs, written out.
    written_out: Vec<u32>,
}

pub(super) enum Form {
    /// Null rows have any code.
    Codes { codes: Vec<u32>, values: Interner },
    /// Null rows are empty.
    Each(StringBuffer),
}

impl Strings {
    pub(super) fn new(hasher: &RandomState) -> Self {
        let form = Form::Codes { codes: Vec::new(), values: Interner::new(hasher) };
        Self { form, local: Vec::new(), written_out: Vec::new() }
    }

    pub(super) fn append(&mut self, column: &Column<'_>) -> Result<()> {
        match column.data {
            Data::Codes { codes, dictionary } => self.append_codes(codes, dictionary, column.validity),
            Data::Runs { dictionary, .. } => {
                let mut codes = std::mem::take(&mut self.written_out);
                codes.clear();
                brc_core::batch::codes_of(column, &mut codes);
                let appended = self.append_codes(&codes, dictionary, column.validity);
                self.written_out = codes;
                appended
            }
            Data::Bytes(strings) => {
                let mut valid = column.validity.map(|validity| validity.iter());
                strings.iter().try_for_each(|value| match valid.as_mut().and_then(Iterator::next) {
                    Some(false) => self.form.push_null(),
                    _ => self.form.push(value).map(drop),
                })
            }
            Data::Integers(_) | Data::Floats(_) => Ok(()),
        }
    }

    fn append_codes(&mut self, codes: &[u32], dictionary: &Dictionary, validity: Option<Bitmap<'_>>) -> Result<()> {
        self.local.resize(dictionary.len(), UNKNOWN);
        let mut valid = validity.map(|validity| validity.iter());
        for &code in codes {
            if valid.as_mut().and_then(Iterator::next) == Some(false) {
                self.form.push_null()?;
                continue;
            }
            let local = &mut self.local[code as usize];
            match &mut self.form {
                Form::Codes { codes, .. } if *local != UNKNOWN => codes.push(*local),
                form => *local = form.push(dictionary.get(code))?.unwrap_or(UNKNOWN),
            }
        }
        Ok(())
    }
}

impl Form {
    /// Adds a string and returns its code, if it has one.
    fn push(&mut self, value: &[u8]) -> Result<Option<u32>> {
        let (code, too_many) = match self {
            Self::Codes { codes, values } => {
                let (code, is_new) = values.intern(value);
                codes.push(code);
                (code, is_new && too_many(values.dictionary(), codes.len()))
            }
            Self::Each(strings) => {
                push(strings, value)?;
                return Ok(None);
            }
        };
        if too_many {
            self.write_out()?;
            return Ok(None);
        }
        Ok(Some(code))
    }

    fn push_null(&mut self) -> Result<()> {
        match self {
            Self::Codes { codes, .. } => {
                codes.push(0);
                Ok(())
            }
            Self::Each(strings) => push(strings, b""),
        }
    }

    /// Gives each row its own string.
    fn write_out(&mut self) -> Result<()> {
        if let Self::Codes { codes, values } = self {
            let mut strings = StringBuffer::default();
            codes.iter().try_for_each(|&code| push(&mut strings, values.dictionary().get(code)))?;
            *self = Self::Each(strings);
        }
        Ok(())
    }
}

fn too_many(dictionary: &Dictionary, rows: usize) -> bool {
    dictionary.len() > MOST_VALUES
        || dictionary.value_bytes() > MOST_DICTIONARY_BYTES
        || dictionary.len() == PROBE && rows < PROBE + PROBE / 2
}

/// Adds a string, if there is room for it.
pub(super) fn push(strings: &mut StringBuffer, value: &[u8]) -> Result<()> {
    if strings.strings().total_bytes() + value.len() > MOST_BYTES {
        return Err(Error::too_large("buren", "a column of one of its row groups would have 2 GiB of strings or more"));
    }
    strings.push(value);
    Ok(())
}
