//! Writes string chunks without a dictionary.

use super::bounds::Bounds;
use super::chunk_rows::ChunkRows;
use super::chunk_writer::ChunkWriter;
use super::footer::{Chunk, Layout};
use super::string_column::push;
use crate::strings::{self, Estimate, StringBuffer, Strings};
use brc_core::Result;
use brc_core::bounds::string_bounds;

impl ChunkWriter<'_> {
    /// Appends a chunk in which each row has its own string.
    pub(super) fn each(
        &mut self,
        each: &mut StringBuffer,
        rows: ChunkRows<'_>,
        estimate: impl FnOnce(Strings<'_>) -> Estimate,
    ) -> Result<Chunk> {
        fill(each, rows)?;
        let all = each.strings();
        let tokenizer = estimate(all).tokenizer;
        let mut chunk = self.chunk(Layout::Strings);
        if let Some(tokenizer) = &tokenizer {
            chunk.tokens = self.block(|out| tokenizer.tokens().write(out))?;
        }
        for of_block in rows.blocks() {
            let values = all.slice(of_block.clone());
            let valid = values.iter().enumerate().filter(|(row, _)| rows.is_valid(of_block.start + row));
            let bounds = string_bounds(valid.map(|(_, value)| value)).and_then(|(min, max)| Bounds::strings(min, max));
            self.row_block(&mut chunk, rows, of_block.clone(), bounds, |out| {
                strings::encode(values, tokenizer.as_deref(), out);
            })?;
        }
        Ok(chunk)
    }
}

/// Replaces nulls with the shortest value, so that they have the common template, too; with the empty string if values
/// are long.
fn fill(strings: &mut StringBuffer, rows: ChunkRows<'_>) -> Result<()> {
    const MAX_FILLER_BYTES: usize = 64;
    if rows.validity.is_none() {
        return Ok(());
    }
    let all = strings.strings();
    let valid = (0..rows.count).filter(|&row| rows.is_valid(row)).map(|row| all.get(row));
    let filler =
        valid.min_by_key(|value| value.len()).filter(|value| value.len() <= MAX_FILLER_BYTES).unwrap_or_default();
    let mut filled = StringBuffer::default();
    for row in 0..rows.count {
        push(&mut filled, if rows.is_valid(row) { all.get(row) } else { filler })?;
    }
    *strings = filled;
    Ok(())
}
