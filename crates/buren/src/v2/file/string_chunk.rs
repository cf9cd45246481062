//! Writes chunks of strings: codes and their dictionary, or each row's own string, whichever is smaller.

use super::bounds::Bounds;
use super::chunk_writer::{ChunkWriter, Rows};
use super::footer::{Chunk, Layout};
use super::strings_gathered::{Form, MOST_BYTES, push};
use crate::v2::integers::{self, BLOCK_ROWS};
use crate::v2::strings::{self, Estimate, StringBuffer, Strings, Tokenizer};
use brc_core::{Dictionary, Result};

/// Where values come so often, a dictionary is taken without a look at what else there is: it also decodes faster, and
/// its codes are what strings are grouped by.
const OFTEN: usize = 8;

/// Fewer bytes of a dictionary are not worth tokens.
const WORTH_TOKENS: usize = 32 << 10;

impl ChunkWriter<'_> {
    pub(super) fn strings(&mut self, form: Form, rows: Rows<'_>) -> Result<Chunk> {
        let (codes, values) = match form {
            Form::Each(each) => return self.each(each, None, rows),
            Form::Codes { codes, values } => (codes, values),
        };
        let dictionary = values.dictionary();
        if dictionary.is_empty() {
            return self.each(codes.iter().map(|_| &b""[..]).collect(), None, rows);
        }
        let coded = Coded::new(codes, dictionary, rows);
        if dictionary.len() * OFTEN > rows.count && coded.string_bytes() <= MOST_BYTES {
            let each = coded.each(rows)?;
            let estimate = strings::estimate(each.strings());
            if estimate.bytes < coded.estimated_bytes() {
                return self.each(each, Some(estimate), rows);
            }
        }
        self.coded(&coded, rows)
    }

    fn coded(&mut self, coded: &Coded, rows: Rows<'_>) -> Result<Chunk> {
        let mut chunk = self.chunk(Layout::Codes);
        let values = coded.values.strings();
        let bounds = |min: i64, max: i64| Bounds::strings(values.get(min as usize), values.get(max as usize));
        let dictionary = |writer: &mut Self, chunk: &mut Chunk| writer.dictionary(chunk, coded);
        self.planned_integers(&mut chunk, &coded.codes, rows, dictionary, bounds)?;
        Ok(chunk)
    }

    fn dictionary(&mut self, chunk: &mut Chunk, coded: &Coded) -> Result<()> {
        if let Some(tokenizer) = &coded.tokenizer {
            chunk.tokens = self.block(|out| tokenizer.tokens().write(out))?;
        }
        for values in coded.blocks() {
            let block = self.block(|out| strings::encode_sorted(values, coded.tokenizer.as_ref(), out))?;
            chunk.dictionary.push((values.len() as u32, block));
        }
        Ok(())
    }

    /// Appends a chunk in which each row has its own string.
    fn each(&mut self, mut each: StringBuffer, estimate: Option<Estimate>, rows: Rows<'_>) -> Result<Chunk> {
        if estimate.is_none() {
            fill(&mut each, rows)?;
        }
        let all = each.strings();
        let tokenizer = estimate.unwrap_or_else(|| strings::estimate(all)).tokenizer;
        let mut chunk = self.chunk(Layout::Strings);
        if let Some(tokenizer) = &tokenizer {
            chunk.tokens = self.block(|out| tokenizer.tokens().write(out))?;
        }
        for of_block in rows.blocks() {
            let values = all.slice(of_block.clone());
            let valid = || values.iter().enumerate().filter(|(row, _)| rows.is_valid(of_block.start + row));
            let (min, max) = (valid().map(|(_, value)| value).min(), valid().map(|(_, value)| value).max());
            let bounds = min.zip(max).and_then(|(min, max)| Bounds::strings(min, max));
            self.row_block(&mut chunk, rows, of_block.clone(), bounds, |out| {
                strings::encode(values, tokenizer.as_ref(), out);
            })?;
        }
        Ok(chunk)
    }
}

/// Strings as positions in their dictionary.
struct Coded {
    /// Nulls have those of values near them.
    codes: Vec<i64>,
    /// In ascending order.
    values: StringBuffer,
    /// Tokens for the dictionary, if these make it smaller.
    tokenizer: Option<Tokenizer>,
    dictionary_bytes: usize,
}

impl Coded {
    fn new(codes: Vec<u32>, dictionary: &Dictionary, rows: Rows<'_>) -> Self {
        let mut sorted: Vec<u32> = (0..dictionary.len() as u32).collect();
        sorted.sort_unstable_by_key(|&code| dictionary.get(code));
        let mut positions = vec![0i64; sorted.len()];
        for (position, &code) in (0..).zip(&sorted) {
            positions[code as usize] = position;
        }
        let mut codes: Vec<i64> = codes.into_iter().map(|code| positions[code as usize]).collect();
        rows.fill(&mut codes, 0);
        let values = sorted.iter().map(|&code| dictionary.get(code)).collect();
        let mut coded = Self { codes, values, tokenizer: None, dictionary_bytes: 0 };
        coded.dictionary_bytes = coded.size_of_dictionary(None);
        if coded.values.strings().total_bytes() >= WORTH_TOKENS {
            let tokenizer = strings::train_sorted(coded.values.strings());
            let bytes = tokenizer.tokens().stored_bytes() + coded.size_of_dictionary(Some(&tokenizer));
            if bytes < coded.dictionary_bytes {
                coded.dictionary_bytes = bytes;
                coded.tokenizer = Some(tokenizer);
            }
        }
        coded
    }

    /// The values, as many at a time as a block has.
    fn blocks(&self) -> impl Iterator<Item = Strings<'_>> {
        let values = self.values.strings();
        (0..values.len())
            .step_by(BLOCK_ROWS)
            .map(move |start| values.slice(start..values.len().min(start + BLOCK_ROWS)))
    }

    fn size_of_dictionary(&self, tokenizer: Option<&Tokenizer>) -> usize {
        let mut bytes = Vec::new();
        self.blocks().for_each(|values| strings::encode_sorted(values, tokenizer, &mut bytes));
        bytes.len()
    }

    fn estimated_bytes(&self) -> u64 {
        integers::Plan::choose(&self.codes, &[]).estimated_bytes() + self.dictionary_bytes as u64
    }

    /// The bytes of the strings of all rows.
    fn string_bytes(&self) -> usize {
        let values = self.values.strings();
        self.codes.iter().map(|&code| values.get(code as usize).len()).fold(0, usize::saturating_add)
    }

    /// Each row's own string.
    fn each(&self, rows: Rows<'_>) -> Result<StringBuffer> {
        let values = self.values.strings();
        let mut each = StringBuffer::default();
        self.codes.iter().try_for_each(|&code| push(&mut each, values.get(code as usize)))?;
        fill(&mut each, rows)?;
        Ok(each)
    }
}

/// Replaces nulls by the shortest value: where all values have something in common, nulls have it too. Where values are
/// long they become empty.
fn fill(strings: &mut StringBuffer, rows: Rows<'_>) -> Result<()> {
    const SHORT: usize = 64;
    if rows.validity.is_none() {
        return Ok(());
    }
    let all = strings.strings();
    let valid = (0..rows.count).filter(|&row| rows.is_valid(row)).map(|row| all.get(row));
    let filler = valid.min_by_key(|value| value.len()).filter(|value| value.len() <= SHORT).unwrap_or_default();
    let mut filled = StringBuffer::default();
    for row in 0..rows.count {
        push(&mut filled, if rows.is_valid(row) { all.get(row) } else { filler })?;
    }
    *strings = filled;
    Ok(())
}
