//! The dictionary of a single chunk.

use super::chunk_writer::ChunkWriter;
use super::footer::Chunk;
use super::value_order::ValueOrder;
use crate::integers::BLOCK_ROWS;
use crate::strings::{self, StringBuffer, Strings, Tokenizer};
use brc_core::{Dictionary, Error, Result};

/// The minimum size of values in bytes for which tokens pay.
const MIN_TOKEN_BYTES: usize = 32 << 10;

pub(super) struct OwnDictionary {
    /// The values in ascending order.
    values: StringBuffer,
}

impl OwnDictionary {
    /// A dictionary of these values, and the code of each.
    ///
    /// # Errors
    /// If two values are equal.
    pub(super) fn new(dictionary: &Dictionary) -> Result<(Self, Vec<u32>)> {
        let (sorted, positions) = ValueOrder::new(dictionary).ranks();
        check_distinct(dictionary, &sorted)?;
        Ok((Self { values: sorted.iter().map(|&code| dictionary.get(code)).collect() }, positions))
    }

    /// Appends tokens, if they pay, and the values. Training tokens takes longer than everything else, so those of the
    /// column's dictionary are reused if it has any.
    pub(super) fn write(
        &self,
        known: Option<&Tokenizer>,
        chunk: &mut Chunk,
        writer: &mut ChunkWriter<'_>,
    ) -> Result<()> {
        let values = self.values.strings();
        let are_worth = values.total_bytes() >= MIN_TOKEN_BYTES;
        let own = (are_worth && known.is_none()).then(|| strings::train_sorted(values));
        let tokenizer = known.filter(|_| are_worth).or(own.as_ref());
        if let Some(tokenizer) = tokenizer {
            chunk.tokens = writer.block(|out| tokenizer.tokens().write(out))?;
        }
        chunk.dictionary = write_values(values, tokenizer, writer)?;
        Ok(())
    }
}

/// Checks that sorted values are distinct, which a batch's dictionary should guarantee.
pub(super) fn check_distinct(dictionary: &Dictionary, sorted: &[u32]) -> Result<()> {
    match sorted.windows(2).find(|pair| dictionary.get(pair[0]) == dictionary.get(pair[1])) {
        None => Ok(()),
        Some(pair) => {
            let value = String::from_utf8_lossy(dictionary.get(pair[0]));
            Err(Error::Usage(format!("two codes of one dictionary stand for '{value}'")))
        }
    }
}

/// Appends values in ascending order as blocks; returns the number of values of each block.
pub(super) fn write_values(
    values: Strings<'_>,
    tokenizer: Option<&Tokenizer>,
    writer: &mut ChunkWriter<'_>,
) -> Result<Vec<(u32, crate::block::Block)>> {
    let write = |first: usize| {
        let values = values.slice(first..values.len().min(first + BLOCK_ROWS));
        let block = writer.block(|out| strings::encode_sorted(values, tokenizer, out))?;
        Ok((values.len() as u32, block))
    };
    (0..values.len()).step_by(BLOCK_ROWS).map(write).collect()
}
