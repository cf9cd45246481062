//! The distinct values of a string column, addressed by dense codes.

/// Byte strings numbered from 0 in the order they were added. Finding the code of a string is the interner's or the
/// sorted order's business; this type only keeps them, in one allocation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Dictionary {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Dictionary {
    /// An empty dictionary.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes room for so many more values of so many bytes together.
    pub fn reserve(&mut self, values: usize, bytes: usize) {
        self.ends.reserve(values);
        self.bytes.reserve(bytes);
    }

    /// Takes all values out.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Adds a value and returns its code. The caller sees to it that it is not there yet.
    ///
    /// # Panics
    /// If there are 2³² values already.
    #[inline]
    pub fn push(&mut self, value: &[u8]) -> u32 {
        let code = u32::try_from(self.ends.len()).unwrap_or_else(|_| unreachable!("fewer than 2^32 distinct values"));
        self.bytes.extend_from_slice(value);
        self.ends.push(self.bytes.len());
        code
    }

    /// The value of a code.
    ///
    /// # Panics
    /// If the code is not below [`Dictionary::len`].
    #[must_use]
    #[inline]
    pub fn get(&self, code: u32) -> &[u8] {
        let index = code as usize;
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.bytes[start..self.ends[index]]
    }

    /// How many values there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The values in the order of their codes.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> + Clone {
        (0..self.len() as u32).map(|code| self.get(code))
    }

    /// The length of all values together, in bytes.
    #[must_use]
    pub fn value_bytes(&self) -> usize {
        self.bytes.len()
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
    fn codes_are_dense_and_values_come_back() {
        let dictionary: Dictionary = ["Abha", "", "São Paulo"].into_iter().collect();
        assert_eq!(dictionary.len(), 3);
        assert_eq!(dictionary.get(0), b"Abha");
        assert_eq!(dictionary.get(1), b"");
        assert_eq!(dictionary.get(2), "São Paulo".as_bytes());
        assert_eq!(dictionary.iter().map(<[u8]>::len).sum::<usize>(), dictionary.value_bytes());
    }
}
