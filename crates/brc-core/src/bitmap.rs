//! Validity bitmaps: one bit per row, in the layout of Arrow.

use serde::{Deserialize, Serialize};

/// One bit per row, lowest bit of a byte first: set for a value, clear for a null.
///
/// The first row may be at any bit, so that a slice needs no copy.
#[derive(Debug, Clone, Copy)]
pub struct Bitmap<'a> {
    bytes: &'a [u8],
    offset: usize,
    len: usize,
}

impl<'a> Bitmap<'a> {
    /// The `len` bits from bit `offset` on.
    ///
    /// # Panics
    /// If they are out of bounds.
    #[must_use]
    pub fn new(bytes: &'a [u8], offset: usize, len: usize) -> Self {
        assert!(offset.checked_add(len).is_some_and(|end| end <= bytes.len() * 8), "as many bits as rows");
        Self { bytes, offset, len }
    }

    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether the row has a value.
    ///
    /// # Panics
    /// If `row` is not below [`Bitmap::len`].
    #[must_use]
    pub fn get(&self, row: usize) -> bool {
        assert!(row < self.len, "row {row} of {}", self.len);
        let bit = self.offset + row;
        self.bytes[bit / 8] >> (bit % 8) & 1 == 1
    }

    /// The bits of these rows.
    ///
    /// # Panics
    /// If they are out of bounds.
    #[must_use]
    pub fn slice(&self, rows: std::ops::Range<usize>) -> Self {
        assert!(rows.start <= rows.end && rows.end <= self.len, "rows {rows:?} of {}", self.len);
        Self { bytes: self.bytes, offset: self.offset + rows.start, len: rows.len() }
    }

    /// The number of rows that have a value.
    #[must_use]
    pub fn count_values(&self) -> usize {
        self.words().map(|(word, _)| word.count_ones() as usize).sum()
    }

    /// The number of nulls.
    #[must_use]
    pub fn count_nulls(&self) -> usize {
        self.len - self.count_values()
    }

    /// The bits in words of 64 rows, lowest bit first, each with its number of rows. Bits after the last row are clear.
    pub fn words(&self) -> impl Iterator<Item = (u64, usize)> + use<'a> {
        let Self { bytes, offset, len } = *self;
        (0..len.div_ceil(64)).map(move |index| {
            let rows = (len - index * 64).min(64);
            let bit = offset + index * 64;
            let (first, shift) = (bit / 8, bit % 8);
            let mut word = 0u128;
            match bytes[first..].first_chunk() {
                Some(&all) => word = u128::from_le_bytes(all),
                None => {
                    for (index, byte) in bytes[first..].iter().take((shift + rows).div_ceil(8)).enumerate() {
                        word |= u128::from(*byte) << (8 * index);
                    }
                }
            }
            let kept = if rows == 64 { u64::MAX } else { (1 << rows) - 1 };
            ((word >> shift) as u64 & kept, rows)
        })
    }

    /// Whether each row has a value.
    pub fn iter(&self) -> impl Iterator<Item = bool> + use<'a> {
        self.words().flat_map(|(word, rows)| (0..rows).map(move |row| word >> row & 1 == 1))
    }
}

/// A growable bitmap.
///
/// It takes no memory as long as no row is null; [`BitmapBuffer::bitmap`] is then `None`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct BitmapBuffer {
    /// Empty until the first null.
    bytes: Vec<u8>,
    rows: usize,
    nulls: usize,
}

impl BitmapBuffer {
    /// Converts a selection mask: bit `r % 64` of `words[r / 64]` is row `r`.
    ///
    /// # Panics
    /// If the number of words is not `rows / 64`, rounded up.
    #[must_use]
    pub fn of_words(words: &[u64], rows: usize) -> Self {
        assert_eq!(words.len(), rows.div_ceil(64), "one word for 64 rows");
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.truncate(rows.div_ceil(8));
        if let (Some(last), 1..) = (bytes.last_mut(), rows % 8) {
            *last &= (1 << (rows % 8)) - 1;
        }
        let values = Bitmap::new(&bytes, 0, rows).count_values();
        match rows - values {
            0 => Self { bytes: Vec::new(), rows, nulls: 0 },
            nulls => Self { bytes, rows, nulls },
        }
    }

    /// Appends a row.
    pub fn push(&mut self, value: bool) {
        if !value || self.nulls > 0 {
            self.write(1, u64::from(value));
        }
        self.rows += 1;
        self.nulls += usize::from(!value);
    }

    /// Appends `rows` rows that have values.
    pub fn push_values(&mut self, rows: usize) {
        if self.nulls > 0 {
            for start in (0..rows).step_by(64) {
                self.write((rows - start).min(64), u64::MAX);
                self.rows += (rows - start).min(64);
            }
        } else {
            self.rows += rows;
        }
    }

    /// Appends the rows of a bitmap; `None` means `rows` rows that have values.
    pub fn extend(&mut self, bitmap: Option<Bitmap<'_>>, rows: usize) {
        let Some(bitmap) = bitmap else { return self.push_values(rows) };
        for (word, rows) in bitmap.words() {
            let nulls = rows - word.count_ones() as usize;
            if nulls > 0 || self.nulls > 0 {
                self.write(rows, word);
            }
            self.rows += rows;
            self.nulls += nulls;
        }
    }

    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The number of nulls.
    #[must_use]
    pub fn nulls(&self) -> usize {
        self.nulls
    }

    /// The bitmap; `None` if all rows have values.
    #[must_use]
    pub fn bitmap(&self) -> Option<Bitmap<'_>> {
        (self.nulls > 0).then(|| Bitmap::new(&self.bytes, 0, self.rows))
    }

    /// Removes all rows, keeping the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.rows = 0;
        self.nulls = 0;
    }

    /// Writes up to 64 bits after the last row, and before them those of all earlier rows if this is the first null.
    fn write(&mut self, rows: usize, word: u64) {
        if self.nulls == 0 {
            self.bytes.clear();
            self.bytes.resize(self.rows / 8, 0xff);
            if !self.rows.is_multiple_of(8) {
                self.bytes.push((1 << (self.rows % 8)) - 1);
            }
        }
        let shift = self.rows % 8;
        self.bytes.resize((self.rows + rows).div_ceil(8), 0);
        let kept = if rows == 64 { u64::MAX } else { (1 << rows) - 1 };
        let bits = u128::from(word & kept) << shift;
        let first = self.rows / 8;
        for (index, byte) in self.bytes[first..].iter_mut().enumerate() {
            *byte |= (bits >> (8 * index)) as u8;
        }
    }
}

impl Extend<bool> for BitmapBuffer {
    fn extend<I: IntoIterator<Item = bool>>(&mut self, values: I) {
        for value in values {
            self.push(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn masks_are_bitmaps() {
        for rows in [0usize, 1, 7, 8, 63, 64, 65, 130] {
            for pattern in [0, 0x0123_4567_89ab_cdef, u64::MAX] {
                let words = vec![pattern; rows.div_ceil(64)];
                let mut found = BitmapBuffer::of_words(&words, rows);
                let mut expected = BitmapBuffer::default();
                Extend::extend(&mut expected, (0..rows).map(|row| pattern >> (row % 64) & 1 == 1));
                for buffer in [&mut found, &mut expected] {
                    Extend::extend(buffer, [true, false, true]);
                }
                assert_eq!(found.nulls(), expected.nulls());
                let values = |buffer: &BitmapBuffer| buffer.bitmap().map(|bitmap| bitmap.iter().collect::<Vec<_>>());
                assert_eq!(values(&found), values(&expected), "{rows} rows of {pattern:x}");
            }
        }
    }

    proptest! {
        #[test]
        fn rows_round_trip(
            parts in prop::collection::vec((prop::collection::vec(any::<bool>(), 0..150), 0u8..3), 0..6),
            cut in (any::<prop::sample::Index>(), any::<prop::sample::Index>()),
        ) {
            let mut buffer = BitmapBuffer::default();
            let mut rows = Vec::new();
            for (part, how) in parts {
                match how {
                    0 => part.iter().for_each(|&value| buffer.push(value)),
                    1 => {
                        let mut other = BitmapBuffer::default();
                        Extend::extend(&mut other, part.iter().copied());
                        buffer.extend(other.bitmap(), part.len());
                    }
                    _ => {
                        buffer.push_values(part.len());
                        rows.extend(part.iter().map(|_| true));
                        continue;
                    }
                }
                rows.extend(part);
            }
            let nulls = rows.iter().filter(|&&value| !value).count();
            prop_assert_eq!((buffer.len(), buffer.nulls()), (rows.len(), nulls));
            prop_assert_eq!(buffer.bitmap().is_some(), nulls > 0);
            if let Some(bitmap) = buffer.bitmap() {
                prop_assert_eq!(bitmap.iter().collect::<Vec<_>>(), rows.clone());
                let (a, b) = (cut.0.index(rows.len() + 1), cut.1.index(rows.len() + 1));
                let range = a.min(b)..a.max(b);
                let part = bitmap.slice(range.clone());
                prop_assert_eq!(part.iter().collect::<Vec<_>>(), &rows[range.clone()]);
                prop_assert_eq!(part.count_nulls(), rows[range.clone()].iter().filter(|&&value| !value).count());
                for row in 0..part.len() {
                    prop_assert_eq!(part.get(row), rows[range.start + row]);
                }
            }
        }
    }
}
