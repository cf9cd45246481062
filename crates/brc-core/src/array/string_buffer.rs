//! Strings that own their memory.

use crate::batch::ByteStrings;

/// Byte strings in sequence, with offsets as in Arrow; up to 2 GiB in total.
#[derive(Debug, Clone)]
pub struct StringBuffer {
    /// The end of each string, after a leading 0.
    offsets: Vec<i32>,
    bytes: Vec<u8>,
}

/// Strings of more than 2 GiB in total, the range of their offsets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("strings of more than 2 GiB in total")]
pub struct StringsTooLarge;

impl Default for StringBuffer {
    fn default() -> Self {
        Self { offsets: vec![0], bytes: Vec::new() }
    }
}

impl StringBuffer {
    /// Strings of which row *r* has the bytes from `offsets[r]` to `offsets[r + 1]`; the first offset is 0 and the last
    /// one the length of `bytes`.
    #[must_use]
    pub fn of_parts(offsets: Vec<i32>, bytes: Vec<u8>) -> Self {
        debug_assert!(offsets.last().is_some_and(|&last| last as usize == bytes.len()), "the last offset is the end");
        Self { offsets, bytes }
    }

    /// The number of strings.
    #[must_use]
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there is no string.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The total length of the strings in bytes.
    #[must_use]
    pub fn len_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// The strings, borrowed.
    #[must_use]
    pub fn as_strings(&self) -> ByteStrings<'_> {
        ByteStrings::new(&self.offsets, &self.bytes)
    }

    /// Appends a string.
    ///
    /// # Errors
    /// If the strings would be too large; nothing is appended then.
    #[inline]
    pub fn push(&mut self, string: &[u8]) -> Result<(), StringsTooLarge> {
        self.push_with(|bytes| bytes.extend_from_slice(string))
    }

    /// Appends the string that `write` appends to the bytes, which it must not change otherwise.
    ///
    /// # Errors
    /// As for [`StringBuffer::push`].
    #[inline(always)]
    pub fn push_with(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Result<(), StringsTooLarge> {
        write(&mut self.bytes);
        match i32::try_from(self.bytes.len()) {
            Ok(end) => {
                self.offsets.push(end);
                Ok(())
            }
            Err(_) => {
                self.truncate(self.len());
                Err(StringsTooLarge)
            }
        }
    }

    /// Appends `rows` strings, each of which `write` appends to the bytes.
    ///
    /// # Errors
    /// As for [`StringBuffer::push`].
    #[inline(always)]
    pub fn push_each(
        &mut self,
        rows: usize,
        mut write: impl FnMut(usize, &mut Vec<u8>),
    ) -> Result<(), StringsTooLarge> {
        let (before, bytes) = (self.len(), &mut self.bytes);
        self.offsets.extend((0..rows).map(|row| {
            write(row, bytes);
            bytes.len() as i32
        }));
        // Offsets only grow: if the last one is in range, all are.
        if i32::try_from(self.bytes.len()).is_err() {
            self.truncate(before);
            return Err(StringsTooLarge);
        }
        Ok(())
    }

    /// Appends contiguous strings.
    ///
    /// # Errors
    /// As for [`StringBuffer::push`].
    pub fn extend(&mut self, strings: ByteStrings<'_>) -> Result<(), StringsTooLarge> {
        let (offsets, _) = strings.parts();
        let end = self.bytes.len() + strings.span().len();
        i32::try_from(end).map_err(|_| StringsTooLarge)?;
        let shift = self.bytes.len() as i32 - offsets[0];
        self.bytes.extend_from_slice(strings.span());
        self.offsets.extend(offsets[1..].iter().map(|offset| offset + shift));
        Ok(())
    }

    /// Replaces the strings by those of some rows of others, no row twice, and returns them.
    ///
    /// # Panics
    /// If a row is out of bounds.
    pub fn gather(&mut self, strings: ByteStrings<'_>, rows: &[u32]) -> ByteStrings<'_> {
        self.clear();
        for &row in rows {
            self.bytes.extend_from_slice(strings.get(row as usize));
            // All of the others together are no longer than offsets hold.
            self.offsets.push(self.bytes.len() as i32);
        }
        self.as_strings()
    }

    /// Keeps the first `rows` strings.
    pub fn truncate(&mut self, rows: usize) {
        self.offsets.truncate(rows + 1);
        self.bytes.truncate(self.offsets.last().map_or(0, |&end| end as usize));
    }

    /// Removes all strings, keeping the memory.
    pub fn clear(&mut self) {
        self.truncate(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_those_appended() {
        let mut strings = StringBuffer::default();
        assert!(strings.is_empty() && strings.as_strings().is_empty());
        strings.push(b"a").unwrap();
        strings.push_with(|bytes| bytes.extend_from_slice(b"bc")).unwrap();
        let mut others = StringBuffer::default();
        others.push_each(3, |row, bytes| bytes.resize(bytes.len() + row, b'x')).unwrap();
        strings.extend(others.as_strings().slice(1..3)).unwrap();
        let all =
            |strings: &StringBuffer| -> Vec<Vec<u8>> { strings.as_strings().iter().map(<[u8]>::to_vec).collect() };
        assert_eq!(all(&strings), [&b"a"[..], b"bc", b"x", b"xx"]);
        others.gather(strings.as_strings(), &[1, 3]);
        assert_eq!(all(&others), [b"bc", b"xx"]);
        strings.truncate(2);
        assert_eq!((strings.len(), strings.len_bytes(), all(&strings)), (2, 3, vec![b"a".to_vec(), b"bc".to_vec()]));
        strings.clear();
        assert!(strings.is_empty() && strings.len_bytes() == 0);
    }
}
