//! The rejected rows of a split.
//!
//! A text file may consist of millions of short bad rows. They share one buffer that is hardly larger than their text,
//! so memory stays proportional to the split.

/// A rejected row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reject<'a> {
    /// The number of lines of the split before the row.
    pub line_in_split: u64,
    /// The offset in the file at which the row starts, in bytes.
    pub byte: u64,
    /// The text of the row without its line end, truncated to the maximum line length.
    pub text: &'a [u8],
}

/// The rejected rows of one split, in file order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rejects {
    /// For each row: the differences of line and byte from the previous row, the length of its text, its text.
    bytes: Vec<u8>,
    len: u64,
    last_line: u64,
    last_byte: u64,
}

impl Rejects {
    /// Adds a row.
    ///
    /// # Panics
    /// If the row precedes the one added last.
    pub fn push(&mut self, reject: Reject<'_>) {
        assert!(reject.line_in_split >= self.last_line && reject.byte >= self.last_byte, "rejects come in their order");
        let numbers = [reject.line_in_split - self.last_line, reject.byte - self.last_byte, reject.text.len() as u64];
        for number in numbers {
            write_number(number, &mut self.bytes);
        }
        self.bytes.extend_from_slice(reject.text);
        self.len += 1;
        (self.last_line, self.last_byte) = (reject.line_in_split, reject.byte);
    }

    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The line within the split of the `row`-th row that was not rejected; both count from 0.
    #[must_use]
    pub fn line_of(&self, row: u64) -> u64 {
        let mut line = row;
        for reject in self.iter() {
            if reject.line_in_split > line {
                break;
            }
            line += 1;
        }
        line
    }

    /// The memory used, in bytes.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.bytes.len()
    }

    /// The rows in file order.
    pub fn iter(&self) -> impl Iterator<Item = Reject<'_>> {
        let (mut rest, mut line_in_split, mut byte) = (self.bytes.as_slice(), 0, 0);
        (0..self.len).map(move |_| {
            line_in_split += read_number(&mut rest);
            byte += read_number(&mut rest);
            let length = read_number(&mut rest) as usize;
            let (text, others) = rest.split_at(length);
            rest = others;
            Reject { line_in_split, byte, text }
        })
    }
}

/// Appends a number as a LEB128 varint: seven bits per byte, low bits first; all bytes but the last have the highest
/// bit set.
fn write_number(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn read_number(bytes: &mut &[u8]) -> u64 {
    let (mut number, mut shift) = (0, 0);
    while let Some((&byte, rest)) = bytes.split_first() {
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
        shift += 7;
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rows_round_trip(rows: Vec<(u16, u64, Vec<u8>)>) {
            let (mut line_in_split, mut byte) = (0u64, 0u64);
            let mut rejects = Rejects::default();
            let mut expected = Vec::new();
            for (lines, bytes, text) in &rows {
                line_in_split += u64::from(*lines);
                byte = byte.saturating_add(*bytes);
                let reject = Reject { line_in_split, byte, text };
                rejects.push(reject);
                expected.push(reject);
            }
            prop_assert_eq!(rejects.len(), rows.len() as u64);
            prop_assert_eq!(rejects.iter().collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn line_of_skips_rejected_lines() {
        let mut rejects = Rejects::default();
        assert_eq!([0, 1, 7].map(|row| rejects.line_of(row)), [0, 1, 7]);
        for line_in_split in [0, 2, 3, 6] {
            rejects.push(Reject { line_in_split, byte: line_in_split, text: b"" });
        }
        assert_eq!([0, 1, 2, 3, 4].map(|row| rejects.line_of(row)), [1, 4, 5, 7, 8]);
    }

    #[test]
    fn short_rows_take_little_memory() {
        let mut rejects = Rejects::default();
        for row in 0..1000 {
            rejects.push(Reject { line_in_split: row, byte: 2 * row, text: b"x" });
        }
        assert_eq!(rejects.memory(), 4000);
    }
}
