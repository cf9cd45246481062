//! Reads one row after another: for rows that are longer than a tile, and as the definition of a plain row for all
//! variants.

use super::{Progress, RowReader};
use crate::interner::Interner;

/// A row in the usual form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PlainRow {
    /// The length of the name, never 0.
    pub(super) name: usize,
    /// The number, in tenths.
    pub(super) value: i16,
    /// The length of the row with its line feed.
    pub(super) bytes: usize,
}

/// Parses the row at the start of the text if it is plain and complete.
#[inline(always)]
pub(super) fn first_row(text: &[u8], delimiter: u8) -> Option<PlainRow> {
    let name = find(text, delimiter)?;
    let number = text.get(name + 1..)?;
    let (negative, digits) = match number {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, number),
    };
    let digit = |byte: u8| i16::from(byte.wrapping_sub(b'0'));
    let (tenths, length) = match *digits {
        [a @ b'0'..=b'9', b'.', b @ b'0'..=b'9', b'\n', ..] => (10 * digit(a) + digit(b), 4),
        [a @ b'0'..=b'9', b @ b'0'..=b'9', b'.', c @ b'0'..=b'9', b'\n', ..] => {
            (100 * digit(a) + 10 * digit(b) + digit(c), 5)
        }
        _ => return None,
    };
    if name == 0 || text[..name].iter().any(|byte| matches!(byte, b'\n' | 0)) {
        return None;
    }
    let value = if negative { -tenths } else { tenths };
    Some(PlainRow { name, value, bytes: name + 1 + usize::from(negative) + length })
}

/// [`RowReader::read`].
pub(super) fn read(
    text: &[u8],
    delimiter: u8,
    interner: &mut Interner,
    codes: &mut Vec<u32>,
    values: &mut Vec<i16>,
) -> Progress {
    let mut progress = Progress { rows: 0, bytes: 0 };
    while progress.rows < RowReader::MAX_ROWS {
        let rest = &text[progress.bytes..];
        let Some(row) = first_row(rest, delimiter) else { break };
        codes.push(interner.intern(&rest[..row.name]));
        values.push(row.value);
        progress.rows += 1;
        progress.bytes += row.bytes;
    }
    progress
}

/// The offset of the first `byte`, searching eight bytes at a time.
#[inline(always)]
fn find(text: &[u8], byte: u8) -> Option<usize> {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const HIGHS: u64 = ONES << 7;
    let pattern = ONES * u64::from(byte);
    let mut words = text.chunks_exact(8);
    let mut at = 0;
    for word in &mut words {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(word);
        let differences = u64::from_le_bytes(bytes) ^ pattern;
        // The lowest set bit marks the first zero byte; higher bits may be wrong.
        let zeros = differences.wrapping_sub(ONES) & !differences & HIGHS;
        if zeros != 0 {
            return Some(at + zeros.trailing_zeros() as usize / 8);
        }
        at += 8;
    }
    words.remainder().iter().position(|&found| found == byte).map(|place| at + place)
}
