//! The tokens of a column: up to 4,096 strings of up to 16 bytes, from which all its values can be assembled.
//!
//! A token costs at most 12 bits, whatever its length, and is written with one copy of 16 bytes. 256 of the tokens are
//! the single bytes, so any value can be cut into tokens; [`train`](super::train()) finds the others. All blocks of a
//! chunk, or of a column, share them.

use super::{LENGTHS, Malformed, Strings};
use brc_kernels::bitpack;
use brc_kernels::cpu::Level;
use brc_kernels::tokens::{Pieces, TokenTable};

/// The maximum length of a token in bytes; and the number of single-byte tokens, which are not stored because their
/// codes are their bytes.
pub(super) use brc_kernels::tokens::{LONGEST, SINGLES};

/// The maximum number of tokens.
pub(super) const MAX_TOKENS: usize = 4096;

/// Tokens for decoding.
#[derive(Clone)]
pub struct Tokens {
    /// Each token, followed by arbitrary bytes. Every code in a file has an entry, an empty one if it has no token.
    bytes: Box<[[u8; LONGEST]; MAX_TOKENS]>,
    lengths: Box<[u8; MAX_TOKENS]>,
    count: usize,
}

impl Tokens {
    /// The single bytes and these longer tokens, which must ascend.
    pub(super) fn new<'a>(longer: impl Iterator<Item = &'a [u8]>) -> Self {
        let mut tokens =
            Self { bytes: Box::new([[0; LONGEST]; MAX_TOKENS]), lengths: Box::new([0; MAX_TOKENS]), count: SINGLES };
        for byte in 0..=u8::MAX {
            tokens.bytes[usize::from(byte)][0] = byte;
            tokens.lengths[usize::from(byte)] = 1;
        }
        for token in longer {
            tokens.bytes[tokens.count][..token.len()].copy_from_slice(token);
            tokens.lengths[tokens.count] = token.len() as u8;
            tokens.count += 1;
        }
        tokens
    }

    /// Parses the output of [`Tokens::write`].
    ///
    /// # Errors
    /// If the bytes are malformed.
    pub fn read(bytes: &[u8]) -> Result<Self, Malformed> {
        const CUT: Malformed = Malformed("the tokens are cut off");
        let (count, rest) = bytes.split_first_chunk::<2>().ok_or(CUT)?;
        let count = usize::from(u16::from_le_bytes(*count));
        if count > MAX_TOKENS - SINGLES {
            return Err(Malformed("there are more than 4,096 tokens"));
        }
        let (lengths, mut rest) = rest.split_at_checked(count.div_ceil(2)).ok_or(CUT)?;
        let mut longer: Vec<&[u8]> = Vec::with_capacity(count);
        for token in 0..count {
            let length = 1 + usize::from(lengths[token / 2] >> (token % 2 * 4) & 15);
            let (bytes, after) = rest.split_at_checked(length).ok_or(CUT)?;
            if length == 1 || longer.last().is_some_and(|&last| last >= bytes) {
                return Err(Malformed("the tokens are not in ascending order, or one is a single byte"));
            }
            longer.push(bytes);
            rest = after;
        }
        if !rest.is_empty() || count % 2 == 1 && lengths[count / 2] > 15 {
            return Err(Malformed("there are bytes after the tokens"));
        }
        Ok(Self::new(longer.into_iter()))
    }

    /// Appends the encoded tokens.
    pub fn write(&self, out: &mut Vec<u8>) {
        let longer = self.count - SINGLES;
        out.extend_from_slice(&(longer as u16).to_le_bytes());
        let nibbles = self.lengths[SINGLES..self.count].chunks(2);
        out.extend(nibbles.map(|pair| (pair[0] - 1) | pair.get(1).map_or(0, |length| (length - 1) << 4)));
        self.longer().for_each(|token| out.extend_from_slice(token));
    }

    /// The encoded size in bytes.
    #[must_use]
    pub fn stored_bytes(&self) -> usize {
        let longer = &self.lengths[SINGLES..self.count];
        2 + longer.len().div_ceil(2) + longer.iter().map(|&length| usize::from(length)).sum::<usize>()
    }

    /// The bits per code: 8 to 12.
    #[must_use]
    pub fn width(&self) -> u32 {
        bitpack::width_of(self.count as u64 - 1)
    }

    /// The tokens of more than one byte, in ascending order.
    fn longer(&self) -> impl Iterator<Item = &[u8]> {
        (SINGLES..self.count).map(|code| self.get(code as u16))
    }

    /// The token of a code.
    pub(super) fn get(&self, code: u16) -> &[u8] {
        let code = usize::from(code) % MAX_TOKENS;
        &self.bytes[code][..usize::from(self.lengths[code])]
    }

    /// Writes the tokens of some codes to `out`. Returns the end of the last one.
    ///
    /// # Errors
    /// If fewer than [`LONGEST`] bytes are left for a token.
    #[inline]
    pub(super) fn expand(&self, codes: &[i16], out: &mut [u8]) -> Result<usize, Malformed> {
        let mut at = 0;
        for &code in codes {
            let code = code as usize % MAX_TOKENS;
            let room = out.get_mut(at..).and_then(|out| out.first_chunk_mut()).ok_or(LENGTHS)?;
            *room = self.bytes[code];
            at += usize::from(self.lengths[code]);
        }
        Ok(at)
    }
}

/// Tokens for encoding, with a search table.
pub struct Tokenizer {
    tokens: Tokens,
    table: TokenTable,
}

impl Tokenizer {
    /// Prepares tokens for encoding.
    #[must_use]
    pub fn new(tokens: Tokens) -> Self {
        let table = TokenTable::new((0..tokens.count).map(|code| tokens.get(code as u16)));
        Self { tokens, table }
    }

    /// The tokens, to be stored beside the blocks.
    #[must_use]
    pub fn tokens(&self) -> &Tokens {
        &self.tokens
    }

    /// Appends the codes of all values, each cut greedily into the longest tokens, and for every `every` values the
    /// number of codes up to their end.
    pub(super) fn encode(&self, values: Strings<'_>, every: usize, codes: &mut Vec<i16>, ends: &mut Vec<u32>) {
        let mut all = Vec::with_capacity(values.len());
        let pieces = Pieces { offsets: values.offsets(), bytes: values.bytes() };
        self.table.cut(Level::best(), pieces, codes, &mut all);
        ends.extend(all.chunks(every).filter_map(|ends| ends.last()));
    }

    /// The number of codes for a value if it may not be a single token.
    pub(super) fn count_parts(&self, value: &[u8]) -> u32 {
        let (_, mut at) = self.table.longest(&value[..value.len() - 1]);
        let mut count = 1;
        while at < value.len() {
            at += self.table.longest(&value[at..]).1;
            count += 1;
        }
        count
    }
}
