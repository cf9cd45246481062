//! Buffers strings: as codes while there are few distinct values, otherwise as contiguous bytes.
//!
//! Which of the two depends only on the rows, not on how they arrive (with codes or without, in which batches).

use super::cluster::Partition;
use super::dictionary_cache::DictionaryCache;
use super::interner::Interner;
use crate::integer_buffer::{IntegerBuffer, UNKNOWN};
use crate::integer_slice::for_widths;
use crate::strings::{self, StringBuffer};
use brc_core::{Bitmap, ByteStrings, Column, Data, Dictionary, Error, Result};
use brc_kernels::arithmetic::Integer;
use foldhash::fast::RandomState;

/// The maximum number of values in a dictionary.
const MAX_VALUES: usize = 1 << 17;

/// The maximum size of a dictionary in bytes.
const MAX_DICTIONARY_BYTES: usize = 8 << 20;

/// At this number of distinct values, one row in sixteen must have repeated a value; otherwise a dictionary will not
/// pay.
const PROBE_VALUES: usize = 1 << 14;

/// The number of values sampled at that point.
const PROBE_SAMPLE: usize = 1 << 11;

/// The maximum size of a chunk's strings in bytes; the same as for a batch in memory.
pub(super) const MAX_STRING_BYTES: usize = i32::MAX as usize;

/// The buffered strings of a part.
pub(super) struct StringColumn {
    pub(super) form: StringForm,
    /// Memory for strings.
    spare: StringBuffer,
    /// Memory for codes.
    spare_codes: IntegerBuffer,
    /// The part's code of each code in the batches' dictionary.
    local: Vec<u32>,
    cache: DictionaryCache,
    /// The codes of a batch.
    of_batch: Vec<u32>,
    /// The number and total length of the part's distinct values; the next part probably has about as many.
    room: (usize, usize),
}

pub(super) enum StringForm {
    /// Null rows have an arbitrary code.
    Codes { codes: IntegerBuffer, values: Interner },
    /// Null rows are empty.
    Each(StringBuffer),
}

impl StringColumn {
    pub(super) fn new(hasher: &RandomState) -> Self {
        Self {
            form: StringForm::new(hasher, (0, 0), IntegerBuffer::default()),
            spare: StringBuffer::default(),
            spare_codes: IntegerBuffer::default(),
            local: Vec::new(),
            cache: DictionaryCache::default(),
            of_batch: Vec::new(),
            room: (0, 0),
        }
    }

    /// Removes all strings, keeping memory for reuse.
    pub(super) fn clear(&mut self, hasher: &RandomState) {
        let form = StringForm::new(hasher, self.room, std::mem::take(&mut self.spare_codes));
        if let StringForm::Each(mut strings) = std::mem::replace(&mut self.form, form) {
            strings.clear();
            self.spare = strings;
        }
        self.local.clear();
        self.cache.clear_part();
    }

    /// The number of distinct values, if known.
    pub(super) fn distinct(&self) -> Option<usize> {
        match &self.form {
            StringForm::Codes { values, .. } => Some(values.dictionary().len()),
            StringForm::Each(_) => None,
        }
    }

    /// The rank of each code's value; `None` if there are no codes.
    pub(super) fn ranks(&mut self) -> Option<Vec<u32>> {
        match &self.form {
            StringForm::Codes { values, .. } => Some(self.cache.ranks(values.dictionary())),
            StringForm::Each(_) => None,
        }
    }

    /// Moves the rows into their runs.
    pub(super) fn cluster(&mut self, partition: &Partition, spare: &mut IntegerBuffer) {
        match &mut self.form {
            StringForm::Codes { codes, .. } => {
                partition.scatter_integers(codes.slice(), spare);
                std::mem::swap(codes, spare);
            }
            StringForm::Each(each) => {
                self.spare.clear();
                self.spare.push_rows(each.strings(), partition.rows());
                std::mem::swap(each, &mut self.spare);
                self.spare.clear();
            }
        }
    }

    /// Keeps only these rows, if they have codes.
    pub(super) fn pick(&mut self, rows: &[u32]) {
        if let StringForm::Codes { codes, .. } = &mut self.form {
            let picked = codes.picked(rows);
            self.spare_codes = std::mem::replace(codes, picked);
            self.spare_codes.clear();
        }
    }

    pub(super) fn append(&mut self, column: &Column<'_>) -> Result<()> {
        match column.data {
            Data::Codes { codes, dictionary } => self.append_codes(codes, dictionary, column.validity),
            Data::Runs { dictionary, .. } => {
                let mut codes = std::mem::take(&mut self.of_batch);
                codes.clear();
                brc_core::batch::codes_of(column, &mut codes);
                let appended = self.append_codes(&codes, dictionary, column.validity);
                self.of_batch = codes;
                appended
            }
            Data::Bytes(strings) if column.validity.is_none() => {
                self.cache.mix();
                self.append_values(strings)
            }
            Data::Bytes(strings) => {
                self.cache.mix();
                let mut valid = column.validity.map(|validity| validity.iter());
                strings.iter().try_for_each(|value| match valid.as_mut().and_then(Iterator::next) {
                    Some(false) => self.form.push_null(),
                    _ => self.form.push(value, &mut self.spare),
                })
            }
            Data::Integers(_) | Data::Floats(_) => Ok(()),
        }
    }

    /// Appends strings without nulls.
    fn append_values(&mut self, strings: ByteStrings<'_>) -> Result<()> {
        let (offsets, bytes) = strings.parts();
        let mut hashes = Vec::new();
        let mut taken = 0;
        while taken < strings.len() {
            let (codes, values) = match &mut self.form {
                StringForm::Codes { codes, values } => (codes, values),
                StringForm::Each(each) => return push_all(each, ByteStrings::new(&offsets[taken..], bytes)),
            };
            if hashes.is_empty() {
                hashes.extend(strings.iter().map(|value| values.hash(value)));
            }
            let distinct = values.dictionary().len();
            // Whether there are too many is checked only at exactly this number.
            let most = if distinct < PROBE_VALUES { PROBE_VALUES } else { usize::MAX };
            self.of_batch.clear();
            values.intern_all(strings.iter().skip(taken), &hashes[taken..], most, &mut self.of_batch);
            taken += self.of_batch.len();
            let now = values.dictionary();
            codes.extend_codes(&self.of_batch, now.len() as u32);
            self.room = (now.len(), now.value_bytes());
            if now.len() > distinct && too_many(now, codes.len()) {
                self.room = (0, 0);
                self.form.expand(&mut self.spare)?;
            }
        }
        Ok(())
    }

    fn append_codes(&mut self, codes: &[u32], dictionary: &Dictionary, validity: Option<Bitmap<'_>>) -> Result<()> {
        self.local.resize(dictionary.len(), UNKNOWN);
        while let StringForm::Codes { codes: own, values } = &mut self.form {
            let largest = values.dictionary().len() as u32;
            let are_known = match validity {
                None => own.extend_translated(codes, &self.local, largest),
                Some(validity) => own.extend_translated_valid(codes, validity, &self.local, largest),
            };
            if are_known {
                return Ok(());
            }
            self.number(codes, dictionary, validity)?;
        }
        let mut valid = validity.map(|validity| validity.iter());
        let mut is_valid = || valid.as_mut().and_then(Iterator::next) != Some(false);
        codes.iter().try_for_each(|&code| match is_valid() {
            true => self.form.push(dictionary.get(code), &mut self.spare),
            false => self.form.push_null(),
        })
    }

    /// Assigns codes to the values of a batch that are new in this part, unless there are too many.
    fn number(&mut self, codes: &[u32], dictionary: &Dictionary, validity: Option<Bitmap<'_>>) -> Result<()> {
        let StringForm::Codes { codes: own, values } = &mut self.form else { return Ok(()) };
        for (row, &code) in codes.iter().enumerate() {
            if validity.is_some_and(|validity| !validity.get(row)) || self.local[code as usize] != UNKNOWN {
                continue;
            }
            let (value, hash) = self.cache.value(code, dictionary, values);
            let (local, is_new) = match self.cache.are_mixed() {
                true => values.intern_hashed(value, hash),
                false => (values.append(value, hash), true),
            };
            self.local[code as usize] = local;
            if is_new && too_many(values.dictionary(), own.len() + row + 1) {
                return self.form.expand(&mut self.spare);
            }
        }
        Ok(())
    }
}

impl StringForm {
    /// An empty buffer with memory for some values, their bytes, and codes.
    fn new(hasher: &RandomState, (values, bytes): (usize, usize), codes: IntegerBuffer) -> Self {
        let mut interner = Interner::new(hasher);
        interner.reserve(values + values / 16, bytes + bytes / 16);
        Self::Codes { codes, values: interner }
    }

    /// Appends a string. `spare` provides the memory for expanding codes, if necessary.
    fn push(&mut self, value: &[u8], spare: &mut StringBuffer) -> Result<()> {
        match self {
            Self::Codes { codes, values } => {
                let (code, is_new) = values.intern(value);
                codes.extend_codes(&[code], code);
                match is_new && too_many(values.dictionary(), codes.len()) {
                    true => self.expand(spare),
                    false => Ok(()),
                }
            }
            Self::Each(strings) => push(strings, value),
        }
    }

    fn push_null(&mut self) -> Result<()> {
        match self {
            Self::Codes { codes, .. } => {
                codes.extend_codes(&[0], 0);
                Ok(())
            }
            Self::Each(strings) => push(strings, b""),
        }
    }

    /// Expands codes to one string per row.
    fn expand(&mut self, spare: &mut StringBuffer) -> Result<()> {
        if let Self::Codes { codes, values } = self {
            let mut strings = std::mem::take(spare);
            let mut add = |code: i64| push(&mut strings, values.dictionary().get(code as u32));
            for_widths!(codes.slice(), codes => codes.iter().try_for_each(|code| add(code.wide())))?;
            *self = Self::Each(strings);
        }
        Ok(())
    }
}

fn too_many(dictionary: &Dictionary, rows: usize) -> bool {
    dictionary.len() > MAX_VALUES
        || dictionary.value_bytes() > MAX_DICTIONARY_BYTES
        || dictionary.len() == PROBE_VALUES
            && (rows < PROBE_VALUES + PROBE_VALUES / 16
                || rows < PROBE_VALUES + PROBE_VALUES / 4 && are_small(dictionary))
}

/// Whether strings are hardly longer than the longest codes, such as short numbers. Codes then pay only for frequent
/// values.
fn are_small(dictionary: &Dictionary) -> bool {
    let sample: StringBuffer = dictionary.iter().step_by(PROBE_VALUES / PROBE_SAMPLE).collect();
    strings::untrained_bytes(sample.strings()) * 8 <= PROBE_SAMPLE as u64 * (u64::from(MAX_VALUES.ilog2()) + 1)
}

/// Appends strings, unless they exceed the maximum size.
fn push_all(each: &mut StringBuffer, strings: ByteStrings<'_>) -> Result<()> {
    let (offsets, bytes) = (strings.parts().0, strings.span());
    let first = offsets[0];
    if each.strings().total_bytes() + bytes.len() > MAX_STRING_BYTES {
        return Err(too_long());
    }
    each.extend(offsets[1..].iter().map(|end| (end - first) as u32), bytes);
    Ok(())
}

fn too_long() -> Error {
    Error::too_large("buren", "a column of one of its row groups would have 2 GiB of strings or more")
}

/// Appends a string, unless it exceeds the maximum size.
pub(super) fn push(strings: &mut StringBuffer, value: &[u8]) -> Result<()> {
    if strings.strings().total_bytes() + value.len() > MAX_STRING_BYTES {
        return Err(too_long());
    }
    strings.push(value);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether this number of distinct values, each occurring twice in 20 rows, ends up as codes.
    fn are_codes(distinct: usize, value: impl Fn(usize) -> String) -> bool {
        let mut strings = StringColumn::new(&RandomState::default());
        let rows: Vec<usize> =
            (0..distinct).flat_map(|row| (0..1 + usize::from(row % 10 == 0)).map(move |_| row)).collect();
        for rows in rows.chunks(1000) {
            let values: StringBuffer =
                rows.iter().map(|&row| value(row)).collect::<Vec<_>>().iter().map(String::as_bytes).collect();
            let offsets: Vec<i32> = values.offsets().iter().map(|&offset| offset as i32).collect();
            let column = Column::from(Data::Bytes(ByteStrings::new(&offsets, values.strings().bytes())));
            strings.append(&column).unwrap();
        }
        let of_row = |row: usize| match &strings.form {
            StringForm::Codes { codes, values } => values.dictionary().get(codes.slice().get(row) as u32).to_vec(),
            StringForm::Each(each) => each.strings().get(row).to_vec(),
        };
        assert!((0..rows.len()).all(|row| of_row(row) == value(rows[row]).into_bytes()));
        matches!(strings.form, StringForm::Codes { .. })
    }

    #[test]
    fn rarely_repeated_short_values_get_no_codes() {
        let number = |row: usize| format!("id{:010}", row * 7919 % 100_000);
        let text = |row: usize| format!("{:016x}", (row as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        assert!(are_codes(PROBE_VALUES - 1, number));
        assert!(!are_codes(PROBE_VALUES + 5000, number));
        assert!(are_codes(PROBE_VALUES + 5000, text));
    }
}
