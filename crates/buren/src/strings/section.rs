//! Variable-length values: their lengths, the end of each group of 1,024, and their bytes or tokens.

use super::buffers::{StringBuffer, at_least};
use super::tokens::LONGEST;
use super::{GROUP, LENGTHS, Malformed, Scratch, Strings, Tokenizer, Tokens};
use crate::array::{self, PackedArray};
use brc_core::Run;
use brc_kernels::bitpack;
use brc_kernels::cpu::Level;
use std::ops::Range;

/// The encoded size of the lengths of some values and the ends of their groups.
pub(super) fn lengths_size(values: Strings<'_>) -> u64 {
    let (shortest, longest) =
        values.lengths().fold((u32::MAX, 0), |(low, high), length| (length.min(low), length.max(high)));
    let shortest = shortest.min(longest);
    let groups = values.len().div_ceil(GROUP) as u64;
    array::size(shortest.into(), longest.into(), values.len()) + 4 * groups
}

/// Appends the lengths of some values.
pub(super) fn write_lengths(values: Strings<'_>, out: &mut Vec<u8>) {
    array::write(&values.lengths().map(i64::from).collect::<Vec<_>>(), out);
}

/// Appends the end of each group within the stored bytes or codes.
pub(super) fn write_ends(ends: &[u32], out: &mut Vec<u8>) {
    ends.iter().for_each(|end| out.extend_from_slice(&end.to_le_bytes()));
}

/// Splits rows into groups.
pub(super) fn groups(values: Strings<'_>) -> impl Iterator<Item = Strings<'_>> {
    let rows = values.len();
    (0..rows).step_by(GROUP).map(move |first| values.slice(first..rows.min(first + GROUP)))
}

/// The lengths of a block's values, and the end of each group within the stored bytes or codes.
#[derive(Clone, Copy)]
pub(super) struct Lengths<'a> {
    array: PackedArray<'a>,
    ends: &'a [[u8; 4]],
    rows: usize,
}

impl<'a> Lengths<'a> {
    /// Takes the lengths off the front of `bytes`.
    pub(super) fn take(bytes: &mut &'a [u8], rows: usize) -> Result<Self, Malformed> {
        let array = PackedArray::take(bytes, rows)?;
        let groups = rows.div_ceil(GROUP);
        let (ends, rest) = bytes.split_at_checked(4 * groups).ok_or(Malformed("the ends of its groups are cut off"))?;
        *bytes = rest;
        Ok(Self { array, ends: ends.as_chunks().0, rows })
    }

    /// The number of stored bytes or codes.
    pub(super) fn total(&self) -> usize {
        self.end(self.ends.len())
    }

    /// The end of the first `groups` groups.
    fn end(&self, groups: usize) -> usize {
        groups.checked_sub(1).map_or(0, |last| u32::from_le_bytes(self.ends[last]) as usize)
    }

    /// Extends a range of rows that starts at a group to the end of its last group.
    pub(super) fn whole_groups(&self, rows: &Range<usize>) -> Range<usize> {
        rows.start..rows.end.next_multiple_of(GROUP).min(self.rows)
    }

    /// The range of stored bytes or codes of these whole groups.
    pub(super) fn stored(&self, rows: &Range<usize>) -> Result<Range<usize>, Malformed> {
        let stored = self.end(rows.start / GROUP)..self.end(rows.end.div_ceil(GROUP));
        let ascend = stored.start <= stored.end && stored.end <= self.total();
        if ascend { Ok(stored) } else { Err(Malformed("the ends of its groups descend")) }
    }

    /// The lengths of some rows.
    pub(super) fn read<'b>(&self, rows: &Range<usize>, scratch: &'b mut Vec<u32>) -> Result<&'b [u32], Malformed> {
        let lengths = at_least(scratch, rows.len());
        self.array.read_u32_part(rows.start, lengths)?;
        Ok(lengths)
    }
}

/// Appends values: their lengths, the ends of groups, and bytes or codes.
pub(super) fn write(values: Strings<'_>, tokenizer: Option<&Tokenizer>, out: &mut Vec<u8>) {
    if let Some(tokenizer) = tokenizer {
        let (mut codes, mut ends) = (Vec::new(), Vec::new());
        tokenizer.encode(values, GROUP, &mut codes, &mut ends);
        write_tokenized(values, tokenizer, &codes, &ends, out);
    } else {
        write_lengths(values, out);
        let first = values.offsets()[0];
        let ends: Vec<_> = groups(values).map(|group| group.offsets()[group.len()] - first).collect();
        write_ends(&ends, out);
        out.extend_from_slice(&values.bytes()[first as usize..][..values.total_bytes()]);
    }
}

/// Appends values whose codes, and the number of codes up to the end of each group, are known.
pub(super) fn write_tokenized(
    values: Strings<'_>,
    tokenizer: &Tokenizer,
    codes: &[i16],
    ends: &[u32],
    out: &mut Vec<u8>,
) {
    write_lengths(values, out);
    write_ends(ends, out);
    let run = Run { code: 0, rows: codes.len() as u32 };
    bitpack::pack(Level::best(), tokenizer.tokens().width(), codes, &[run], &[0], out);
}

/// Variable-length values in a block.
#[derive(Clone, Copy)]
pub(super) struct Section<'a> {
    pub(super) lengths: Lengths<'a>,
    stored: &'a [u8],
    tokens: Option<&'a Tokens>,
}

impl<'a> Section<'a> {
    /// Opens a section of `rows` values.
    pub(super) fn open(mut bytes: &'a [u8], rows: usize, tokens: Option<&'a Tokens>) -> Result<Self, Malformed> {
        let lengths = Lengths::take(&mut bytes, rows)?;
        let total = lengths.total() as u64;
        let size = tokens.map_or(Some(total), |tokens| bitpack::packed_bytes(tokens.width(), total));
        if size != Some(bytes.len() as u64) {
            return Err(Malformed("the ends of its groups do not fit what is stored"));
        }
        Ok(Self { lengths, stored: bytes, tokens })
    }

    /// Replaces `out` with the values of some rows, which start at a group.
    pub(super) fn decode(
        &self,
        rows: Range<usize>,
        scratch: &mut Scratch,
        out: &mut StringBuffer,
    ) -> Result<(), Malformed> {
        let groups = self.lengths.whole_groups(&rows);
        let stored = self.lengths.stored(&groups)?;
        let lengths = self.lengths.read(&groups, &mut scratch.lengths)?;
        let total = out.set_lengths(lengths.iter().copied(), 0)?;
        // Checked before memory is allocated.
        let possible = if self.tokens.is_some() { total <= stored.len() * LONGEST } else { total == stored.len() };
        if !possible {
            return Err(LENGTHS);
        }
        let (_, room) = out.room();
        let end = match self.tokens {
            Some(tokens) => tokens.expand(self.codes(tokens, stored, &mut scratch.codes), room)?,
            None => {
                room[..total].copy_from_slice(&self.stored[stored]);
                total
            }
        };
        if end != total {
            return Err(LENGTHS);
        }
        out.truncate(rows.len());
        Ok(())
    }

    /// Unpacks a range of codes.
    fn codes<'b>(&self, tokens: &Tokens, stored: Range<usize>, codes: &'b mut Vec<i16>) -> &'b [i16] {
        // Unpacking from the start of a packed group takes a single pass.
        let first = stored.start / bitpack::GROUP * bitpack::GROUP;
        let codes = at_least(codes, stored.end - first);
        let run = Run { code: 0, rows: codes.len() as u32 };
        bitpack::unpack(Level::best(), tokens.width(), self.stored, first, &[run], &[0], codes);
        &codes[stored.start - first..]
    }

    /// Appends the expansion of some stored bytes or codes.
    pub(super) fn append(&self, stored: Range<usize>, out: &mut Vec<u8>) -> Result<(), Malformed> {
        if stored.start > stored.end || stored.end > self.lengths.total() {
            return Err(LENGTHS);
        }
        match self.tokens {
            Some(tokens) => {
                let mut codes = Vec::new();
                let codes = self.codes(tokens, stored, &mut codes);
                codes.iter().for_each(|&code| out.extend_from_slice(tokens.get(code as u16)));
            }
            None => out.extend_from_slice(&self.stored[stored]),
        }
        Ok(())
    }
}
