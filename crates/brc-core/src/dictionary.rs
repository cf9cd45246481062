//! Dictionaries: the distinct values of a string column, addressed by dense codes.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Byte strings numbered from 0 in insertion order. It only stores the values, in one allocation; finding the code of a
/// string is up to the caller. Clones share the values until one of them changes.
#[derive(Debug, Clone, Default, Eq)]
pub struct Dictionary {
    values: Arc<Buffers>,
    is_complete: bool,
}

#[derive(Debug)]
struct Buffers {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    identity: u64,
}

impl Buffers {
    fn new(bytes: Vec<u8>, ends: Vec<usize>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self { bytes, ends, identity: NEXT.fetch_add(1, Relaxed) }
    }
}

impl Default for Buffers {
    fn default() -> Self {
        Self::new(Vec::new(), Vec::new())
    }
}

impl Clone for Buffers {
    fn clone(&self) -> Self {
        Self::new(self.bytes.clone(), self.ends.clone())
    }
}

impl PartialEq for Buffers {
    fn eq(&self, other: &Self) -> bool {
        (&self.bytes, &self.ends) == (&other.bytes, &other.ends)
    }
}

impl Eq for Buffers {}

impl PartialEq for Dictionary {
    fn eq(&self, other: &Self) -> bool {
        self.shares(other) || self.values == other.values
    }
}

impl Dictionary {
    /// An empty dictionary.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Marks the dictionary as final: no values will be added, and the column's source has all values before the first
    /// row.
    #[must_use]
    pub fn complete(self) -> Self {
        Self { is_complete: true, ..self }
    }

    /// Marks the dictionary as growing: values may be added.
    #[must_use]
    pub fn incomplete(self) -> Self {
        Self { is_complete: false, ..self }
    }

    /// Whether the dictionary is known to be final.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Whether both are clones of one unchanged dictionary, and therefore equal. Dictionaries built separately may be
    /// equal, too.
    #[must_use]
    pub fn shares(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.values, &other.values)
    }

    /// An identifier of this dictionary's history: of two dictionaries with the same identity, the shorter one is a
    /// prefix of the longer one. Adding values does not change it, unless a clone shares the present values.
    #[must_use]
    pub fn identity(&self) -> u64 {
        self.values.identity
    }

    /// Reserves memory for `values` more values of `bytes` bytes in total.
    pub fn reserve(&mut self, values: usize, bytes: usize) {
        let all = Arc::make_mut(&mut self.values);
        all.ends.reserve(values);
        all.bytes.reserve(bytes);
    }

    /// Removes all values.
    pub fn clear(&mut self) {
        self.is_complete = false;
        match Arc::get_mut(&mut self.values) {
            Some(Buffers { bytes, ends, identity }) => {
                bytes.clear();
                ends.clear();
                *identity = Buffers::default().identity;
            }
            None => *self = Self::default(),
        }
    }

    /// Adds a value and returns its code. The caller ensures that the value is new.
    ///
    /// # Panics
    /// If there are 2³² values already.
    #[inline]
    pub fn push(&mut self, value: &[u8]) -> u32 {
        self.is_complete = false;
        let Buffers { bytes, ends, .. } = Arc::make_mut(&mut self.values);
        let code = u32::try_from(ends.len()).unwrap_or_else(|_| unreachable!("fewer than 2^32 distinct values"));
        bytes.extend_from_slice(value);
        ends.push(bytes.len());
        code
    }

    /// Adds the values that are contiguous in `bytes`; `ends` are their ascending end offsets, the last being the
    /// length of `bytes`.
    ///
    /// # Panics
    /// If there would be 2³² values, or the ends do not match the bytes.
    pub fn extend(&mut self, ends: impl ExactSizeIterator<Item = usize>, bytes: &[u8]) {
        self.is_complete = false;
        let all = Arc::make_mut(&mut self.values);
        let start = all.bytes.len();
        assert!(u32::try_from(all.ends.len() + ends.len()).is_ok(), "fewer than 2^32 distinct values");
        all.bytes.extend_from_slice(bytes);
        let first = all.ends.len();
        all.ends.extend(ends.map(|end| start + end));
        assert!(all.ends[first.saturating_sub(1)..].is_sorted(), "ends ascend");
        assert_eq!(all.ends.last().copied().unwrap_or(0), all.bytes.len(), "the last value ends with the bytes");
    }

    /// The value of a code.
    ///
    /// # Panics
    /// If the code is not below [`Dictionary::len`].
    #[must_use]
    #[inline]
    pub fn get(&self, code: u32) -> &[u8] {
        let (bytes, range) = self.place(code);
        &bytes[range]
    }

    /// Appends the value of a code.
    ///
    /// # Panics
    /// As for [`Dictionary::get`].
    #[inline]
    pub fn append(&self, code: u32, out: &mut Vec<u8>) {
        let (bytes, range) = self.place(code);
        crate::append(bytes, range, out);
    }

    /// The contiguous bytes of all values, and the range of the value of a code within them.
    ///
    /// # Panics
    /// As for [`Dictionary::get`].
    #[must_use]
    #[inline]
    pub fn place(&self, code: u32) -> (&[u8], Range<usize>) {
        let index = code as usize;
        let Buffers { bytes, ends, .. } = &*self.values;
        let start = if index == 0 { 0 } else { ends[index - 1] };
        (bytes, start..ends[index])
    }

    /// The contiguous bytes of the values of consecutive codes.
    ///
    /// # Panics
    /// If a code is not below [`Dictionary::len`].
    #[must_use]
    pub fn span(&self, codes: Range<u32>) -> &[u8] {
        let Buffers { bytes, ends, .. } = &*self.values;
        let end = |code: u32| if code == 0 { 0 } else { ends[code as usize - 1] };
        &bytes[end(codes.start)..end(codes.end)]
    }

    /// The number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.ends.len()
    }

    /// Whether there is no value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.ends.is_empty()
    }

    /// The values in code order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> + Clone {
        (0..self.len() as u32).map(|code| self.get(code))
    }

    /// The total length of all values, in bytes.
    #[must_use]
    pub fn value_bytes(&self) -> usize {
        self.values.bytes.len()
    }
}

impl<T: AsRef<[u8]>> FromIterator<T> for Dictionary {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        let mut dictionary = Self::new();
        for value in values {
            dictionary.push(value.as_ref());
        }
        dictionary
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_dense_and_values_round_trip() {
        let dictionary: Dictionary = ["Abha", "", "São Paulo"].into_iter().collect();
        assert_eq!(dictionary.len(), 3);
        assert_eq!(dictionary.get(0), b"Abha");
        assert_eq!(dictionary.place(2), ("AbhaSão Paulo".as_bytes(), 4..14));
        assert_eq!(dictionary.get(1), b"");
        assert_eq!(dictionary.get(2), "São Paulo".as_bytes());
        assert_eq!([dictionary.span(0..0), dictionary.span(1..2), dictionary.span(3..3)], [b""; 3]);
        assert_eq!([dictionary.span(0..2), dictionary.span(0..3)], [&b"Abha"[..], "AbhaSão Paulo".as_bytes()]);
        assert_eq!(dictionary.iter().map(<[u8]>::len).sum::<usize>(), dictionary.value_bytes());
        let mut longer = dictionary.clone();
        assert_eq!(longer.push(b"x"), 3);
        assert!(dictionary.shares(&dictionary.clone().complete()) && !longer.shares(&dictionary));
        assert_eq!((dictionary.len(), longer.len(), longer == dictionary), (3, 4, false));
        assert!(longer.identity() != dictionary.identity());
        let before = longer.identity();
        longer.push(b"y");
        assert_eq!(longer.identity(), before);
        longer = dictionary.clone();
        assert_eq!((longer.identity(), longer.push(b"x")), (dictionary.identity(), 3));
        let mut extended = dictionary.clone();
        extended.extend([1].into_iter(), b"x");
        assert_eq!(extended, longer);
        let complete = extended.clone().complete();
        assert!(complete == extended && complete.is_complete() && !extended.is_complete());
        extended = complete;
        extended.push(b"y");
        assert!(!extended.is_complete());
        let before = extended.identity();
        extended.clear();
        assert_ne!(extended.identity(), before);
        assert_eq!((extended.len(), longer.len()), (0, 4));
    }
}
