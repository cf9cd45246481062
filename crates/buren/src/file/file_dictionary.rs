//! The dictionary of a column of the whole file: it grows by the values that a row group is the first to have.
//!
//! Row groups are encoded side by side, with codes of their own. When their turn in the file comes, those become codes of
//! this dictionary: so each distinct value is stored once, and what is written depends on the order of the rows only.

use super::chunk_writer::ChunkWriter;
use super::footer::{self, DictionaryPart};
use super::order::Order;
use super::own_dictionary::{check_distinct, write_values};
use crate::block::Block;
use crate::strings::{self, StringBuffer, Strings, Tokenizer};
use brc_core::{Dictionary, Result};
use brc_kernels::interner::DictionaryBuilder;

/// A dictionary has at most so many values.
const MOST_VALUES: usize = 1 << 20;

/// What is kept in memory of a value, beside its bytes.
const VALUE_BYTES: usize = 24;

/// Tokens are found when so many bytes of new values have come together, and a byte for so many rows; fewer are not worth it.
const WORTH_TOKENS: usize = 32 << 10;
const ROWS_OF_A_BYTE: usize = 4;

/// The distinct values of a column so far.
pub(super) struct FileDictionary {
    known: DictionaryBuilder,
    tokenizer: Option<Tokenizer>,
    is_full: bool,
    /// Whether it is so because there was no more memory.
    lacked_memory: bool,
    /// How much of the memory it has taken, in bytes.
    taken: usize,
    /// In how many rows each value is; `None` if one is in too many.
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

    /// One that is stored and does not grow.
    pub(super) fn closed(stored: footer::Dictionary) -> Self {
        Self { is_full: true, counts: None, stored, ..Self::new() }
    }

    /// Forgets all values; returns how much memory they took, in bytes.
    pub(super) fn clear(&mut self) -> usize {
        std::mem::replace(self, Self { lacked_memory: self.lacked_memory, ..Self::new() }).taken
    }

    /// Takes no more values, and forgets those that it has; returns how much memory they took, in bytes.
    fn close(&mut self) -> usize {
        (self.is_full, self.known, self.counts) = (true, DictionaryBuilder::default(), None);
        std::mem::take(&mut self.taken)
    }

    /// Whether there was ever too little memory for its values.
    pub(super) fn lacked_memory(&self) -> bool {
        self.lacked_memory
    }

    /// How many values there are.
    pub(super) fn len(&self) -> usize {
        self.known.dictionary().len()
    }

    /// What its values are stored with.
    pub(super) fn tokenizer(&self) -> Option<&Tokenizer> {
        self.tokenizer.as_ref()
    }

    /// Appends to the file what values are new, of some with these hashes in so many rows, and returns the codes of all. `None` if the
    /// dictionary would have too many values, or take more memory than `left`, from which what it takes is subtracted; or
    /// once had that, and gave back what it had taken.
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
        if self.len() + new.len() > MOST_VALUES || bytes > *left {
            self.lacked_memory |= bytes > *left;
            *left += self.close();
            return Ok(None);
        }
        *left -= bytes;
        self.taken += bytes;
        if !new.is_empty() {
            let order = Order::new(local);
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

    /// Counts rows: with each of these codes so many more.
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

    /// In how many rows each value is, of those that were counted; `None` if that is not known, or there is no value.
    pub(super) fn counts(&self) -> Option<&[u32]> {
        self.counts.as_deref().filter(|counts| !counts.is_empty())
    }

    /// Appends values of so many rows in ascending order, as tokens if they are many, or some before them were.
    fn write(&mut self, values: Strings<'_>, rows: usize, writer: &mut ChunkWriter<'_>) -> Result<DictionaryPart> {
        let mut part =
            DictionaryPart { offset: writer.bytes.len() as u64, tokens: Block::default(), blocks: Vec::new() };
        let bytes = values.total_bytes();
        if self.tokenizer.is_none() && bytes >= WORTH_TOKENS && bytes >= rows / ROWS_OF_A_BYTE {
            let tokenizer = strings::train_sorted(values);
            part.tokens = writer.block(|out| tokenizer.tokens().write(out))?;
            self.tokenizer = Some(tokenizer);
        }
        part.blocks = write_values(values, self.tokenizer.as_ref(), writer)?;
        Ok(part)
    }
}
