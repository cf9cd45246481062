//! The dictionary of a column of the file, which grows by the new values of each row group.
//!
//! Row groups are encoded in parallel with local codes. When a row group is appended to the file, its codes are
//! translated to this dictionary. So each distinct value is stored once, and the output depends only on the order of
//! the rows.

use super::chunk_writer::ChunkWriter;
use super::footer::{self, DictionaryPart};
use super::own_dictionary::{check_distinct, write_values};
use super::value_order::ValueOrder;
use crate::block::Block;
use crate::strings::{self, StringBuffer, Strings, Tokenizer};
use brc_core::{Dictionary, Result};
use brc_kernels::interner::DictionaryBuilder;

/// The maximum number of values in a dictionary.
const MAX_VALUES: usize = 1 << 20;

/// The memory per value in addition to its bytes.
const VALUE_BYTES: usize = 24;

/// Tokens are trained when a part has at least this many bytes of new values, and at least one byte per this many rows.
const MIN_TOKEN_BYTES: usize = 32 << 10;
const MAX_ROWS_PER_BYTE: usize = 4;

/// The distinct values of a column so far.
pub(super) struct FileDictionary {
    known: DictionaryBuilder,
    tokenizer: Option<Tokenizer>,
    is_full: bool,
    /// Whether it is full because memory ran out.
    lacked_memory: bool,
    /// The memory taken from the budget, in bytes.
    taken: usize,
    /// The number of rows of each value; `None` if a count overflowed.
    counts: Option<Vec<u32>>,
    pub(super) stored: footer::Dictionary,
}

impl FileDictionary {
    pub(super) fn new() -> Self {
        Self {
            known: DictionaryBuilder::default(),
            tokenizer: None,
            is_full: false,
            lacked_memory: false,
            taken: 0,
            counts: Some(Vec::new()),
            stored: footer::Dictionary::default(),
        }
    }

    /// A stored dictionary that cannot grow.
    pub(super) fn closed(stored: footer::Dictionary) -> Self {
        Self { is_full: true, counts: None, stored, ..Self::new() }
    }

    /// Removes all values; returns the memory they took, in bytes.
    pub(super) fn clear(&mut self) -> usize {
        std::mem::replace(self, Self { lacked_memory: self.lacked_memory, ..Self::new() }).taken
    }

    /// Removes all values and accepts no more; returns the memory they took, in bytes.
    fn close(&mut self) -> usize {
        (self.is_full, self.known, self.counts) = (true, DictionaryBuilder::default(), None);
        std::mem::take(&mut self.taken)
    }

    /// Whether memory for values ever ran out.
    pub(super) fn lacked_memory(&self) -> bool {
        self.lacked_memory
    }

    /// The number of values.
    pub(super) fn len(&self) -> usize {
        self.known.dictionary().len()
    }

    /// The tokenizer of the stored values.
    pub(super) fn tokenizer(&self) -> Option<&Tokenizer> {
        self.tokenizer.as_ref()
    }

    /// Appends those of these values that are new to the file, and returns the codes of all; `hashes` are those of the
    /// values, `rows` is their number of rows. Memory is taken from the budget `left`. Returns `None` if the dictionary
    /// has exceeded its maximum size or the budget, now or earlier; its memory is then returned to the budget.
    pub(super) fn add(
        &mut self,
        (local, hashes): (&Dictionary, &[u32]),
        rows: usize,
        left: &mut usize,
        writer: &mut ChunkWriter<'_>,
    ) -> Result<Option<Vec<u32>>> {
        if self.is_full {
            return Ok(None);
        }
        let mut codes = Vec::new();
        self.known.get_all(local.iter(), hashes, &mut codes);
        let mut new: Vec<u32> = (0..local.len() as u32).filter(|&code| codes[code as usize].is_none()).collect();
        let bytes: usize = new.iter().map(|&code| local.get(code).len() + VALUE_BYTES).sum();
        if self.len() + new.len() > MAX_VALUES || bytes > *left {
            self.lacked_memory |= bytes > *left;
            *left += self.close();
            return Ok(None);
        }
        *left -= bytes;
        self.taken += bytes;
        if !new.is_empty() {
            let order = ValueOrder::new(local);
            new.sort_unstable_by(|&a, &b| order.compare(a, b));
            check_distinct(local, &new)?;
            for &code in &new {
                let inserted = self.known.insert(local.get(code), hashes[code as usize]);
                codes[code as usize] = Some(inserted);
            }
            let sorted: StringBuffer = new.iter().map(|&code| local.get(code)).collect();
            let part = self.write(sorted.strings(), rows, writer)?;
            self.stored.parts.push(part);
        }
        Ok(codes.into_iter().collect())
    }

    /// Adds row counts for these codes.
    pub(super) fn count(&mut self, codes: &[u32], rows: &[u32]) {
        let values = self.len();
        self.counts = self.counts.take().and_then(|mut counts| {
            counts.resize(values, 0);
            for (&code, &rows) in codes.iter().zip(rows) {
                let count = &mut counts[code as usize];
                *count = count.checked_add(rows)?;
            }
            Some(counts)
        });
    }

    /// The number of rows of each value; `None` if unknown or there are no values.
    pub(super) fn counts(&self) -> Option<&[u32]> {
        self.counts.as_deref().filter(|counts| !counts.is_empty())
    }

    /// Appends values in ascending order, as tokens if there are many or if earlier values were stored as tokens.
    fn write(&mut self, values: Strings<'_>, rows: usize, writer: &mut ChunkWriter<'_>) -> Result<DictionaryPart> {
        let mut part =
            DictionaryPart { offset: writer.bytes.len() as u64, tokens: Block::default(), blocks: Vec::new() };
        let bytes = values.total_bytes();
        if self.tokenizer.is_none() && bytes >= MIN_TOKEN_BYTES && bytes >= rows / MAX_ROWS_PER_BYTE {
            let tokenizer = strings::train_sorted(values);
            part.tokens = writer.block(|out| tokenizer.tokens().write(out))?;
            self.tokenizer = Some(tokenizer);
        }
        part.blocks = write_values(values, self.tokenizer.as_ref(), writer)?;
        Ok(part)
    }
}
