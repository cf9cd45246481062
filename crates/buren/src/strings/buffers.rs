//! Strings in memory: offsets and bytes, as in Arrow, borrowed for encoding and owned for decoding.

use super::Malformed;

/// The number of bytes after the last value that a decoder may write.
pub(super) const SLACK: usize = 16;

/// Contiguous byte strings of any content.
#[derive(Debug, Clone, Copy)]
pub struct Strings<'a> {
    offsets: &'a [u32],
    bytes: &'a [u8],
}

impl<'a> Strings<'a> {
    /// Strings of which value *i* is `bytes[offsets[i]..offsets[i + 1]]`. A slice of the offsets is a slice of the
    /// column.
    ///
    /// # Panics
    /// If `offsets` is empty or descending, or the last offset is out of bounds.
    #[must_use]
    pub fn new(offsets: &'a [u32], bytes: &'a [u8]) -> Self {
        assert!(offsets.is_sorted(), "offsets ascend");
        assert!(offsets.last().is_some_and(|&last| last as usize <= bytes.len()), "all values lie in the bytes");
        Self { offsets, bytes }
    }

    /// The number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there is no value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of a row.
    ///
    /// # Panics
    /// If the row is not below [`Strings::len`].
    #[must_use]
    #[inline]
    pub fn get(&self, row: usize) -> &'a [u8] {
        &self.bytes[self.offsets[row] as usize..self.offsets[row + 1] as usize]
    }

    /// The values in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &'a [u8]> + ExactSizeIterator + Clone + use<'a> {
        let bytes = self.bytes;
        self.offsets.windows(2).map(move |ends| &bytes[ends[0] as usize..ends[1] as usize])
    }

    /// The values of some rows.
    ///
    /// # Panics
    /// If the rows are out of bounds.
    #[must_use]
    pub fn slice(&self, rows: std::ops::Range<usize>) -> Self {
        Self { offsets: &self.offsets[rows.start..=rows.end], bytes: self.bytes }
    }

    /// The total length of all values in bytes.
    #[must_use]
    pub fn total_bytes(&self) -> usize {
        (self.offsets[self.len()] - self.offsets[0]) as usize
    }

    /// The offsets: the start of each value, and the end of the last.
    #[must_use]
    pub fn offsets(&self) -> &'a [u32] {
        self.offsets
    }

    /// The bytes that the offsets refer to.
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The length of each value in bytes.
    pub(super) fn lengths(&self) -> impl ExactSizeIterator<Item = u32> + use<'a> {
        self.offsets.windows(2).map(|ends| ends[1] - ends[0])
    }
}

/// A reusable buffer of decoded strings.
#[derive(Debug, Clone)]
pub struct StringBuffer {
    offsets: Vec<u32>,
    /// Longer than the values, so that a decoder may write past the end of one.
    bytes: Vec<u8>,
}

impl Default for StringBuffer {
    fn default() -> Self {
        Self { offsets: vec![0], bytes: Vec::new() }
    }
}

impl StringBuffer {
    /// The strings in it.
    #[must_use]
    pub fn strings(&self) -> Strings<'_> {
        Strings { offsets: &self.offsets, bytes: &self.bytes }
    }

    /// The offsets: the start of each value, and the end of the last.
    #[must_use]
    pub fn offsets(&self) -> &[u32] {
        &self.offsets
    }

    /// Removes all values.
    pub fn clear(&mut self) {
        self.offsets.truncate(1);
    }

    /// Appends a value.
    ///
    /// # Panics
    /// If the total length would reach 4 GiB.
    pub fn push(&mut self, value: &[u8]) {
        let start = self.end();
        self.bytes.truncate(start);
        self.bytes.extend_from_slice(value);
        self.offsets.push(u32::try_from(self.bytes.len()).unwrap_or_else(|_| unreachable!("less than 4 GiB")));
    }

    /// Appends the values of some rows.
    ///
    /// # Panics
    /// If a row is out of bounds, or the total length would reach 4 GiB.
    pub(crate) fn push_rows(&mut self, values: Strings<'_>, rows: &[u32]) {
        self.bytes.truncate(self.end());
        self.bytes.reserve(values.total_bytes());
        self.offsets.reserve(rows.len());
        for &row in rows {
            let (start, end) = (values.offsets[row as usize], values.offsets[row as usize + 1]);
            brc_core::append(values.bytes, start as usize..end as usize, &mut self.bytes);
            self.offsets.push(u32::try_from(self.bytes.len()).unwrap_or_else(|_| unreachable!("less than 4 GiB")));
        }
    }

    /// Appends the values that are contiguous in `bytes`; `ends` are their ascending end offsets.
    ///
    /// # Panics
    /// If the total length would reach 4 GiB.
    pub fn extend(&mut self, ends: impl Iterator<Item = u32>, bytes: &[u8]) {
        let start = self.end();
        assert!(u32::try_from(start + bytes.len()).is_ok(), "less than 4 GiB");
        self.bytes.truncate(start);
        self.bytes.extend_from_slice(bytes);
        self.offsets.extend(ends.map(|end| start as u32 + end));
        debug_assert_eq!(self.end(), self.bytes.len(), "the last value ends with the bytes");
    }

    /// The number of allocated bytes.
    #[cfg(test)]
    pub(super) fn room_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Keeps only the first `rows` values.
    pub(super) fn truncate(&mut self, rows: usize) {
        self.offsets.truncate(rows + 1);
    }

    fn end(&self) -> usize {
        self.offsets[self.offsets.len() - 1] as usize
    }

    /// Sets the offsets from the lengths of values, each plus `more` bytes. Returns the total length.
    ///
    /// # Errors
    /// If the total reaches 4 GiB; no bytes are allocated then.
    pub(super) fn set_lengths(
        &mut self,
        lengths: impl ExactSizeIterator<Item = u32>,
        more: usize,
    ) -> Result<usize, Malformed> {
        self.offsets.resize(lengths.len() + 1, 0);
        self.offsets[0] = 0;
        let mut end = 0u64;
        for (offset, length) in self.offsets[1..].iter_mut().zip(lengths) {
            end += u64::from(length) + more as u64;
            *offset = end as u32;
        }
        if u32::try_from(end).is_err() {
            self.clear();
            return Err(Malformed("its values have 4 GiB or more"));
        }
        Ok(end as usize)
    }

    /// Replaces the values with those that `write` writes into a buffer of `bytes` bytes; it appends the end of each
    /// value to the offsets.
    ///
    /// # Errors
    /// If `bytes` is 4 GiB or more; nothing is allocated then.
    pub(super) fn write(
        &mut self,
        bytes: usize,
        write: impl FnOnce(&mut [u8], &mut Vec<u32>),
    ) -> Result<(), Malformed> {
        u32::try_from(bytes).map_err(|_| Malformed("its values have 4 GiB or more"))?;
        self.clear();
        write(at_least(&mut self.bytes, bytes), &mut self.offsets);
        Ok(())
    }

    /// The offsets, and memory for the bytes they describe plus [`SLACK`], with unspecified contents.
    pub(super) fn room(&mut self) -> (&[u32], &mut [u8]) {
        let length = self.end() + SLACK;
        (&self.offsets, at_least(&mut self.bytes, length))
    }
}

impl<'a> FromIterator<&'a [u8]> for StringBuffer {
    fn from_iter<I: IntoIterator<Item = &'a [u8]>>(values: I) -> Self {
        let mut buffer = Self::default();
        values.into_iter().for_each(|value| buffer.push(value));
        buffer
    }
}

/// The first `length` entries of a buffer that grows when needed and never shrinks.
pub(super) fn at_least<T: Copy + Default>(buffer: &mut Vec<T>, length: usize) -> &mut [T] {
    if buffer.len() < length {
        buffer.resize(length, T::default());
    }
    &mut buffer[..length]
}
