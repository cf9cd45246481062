//! A growing byte buffer whose memory is reused.

use std::io;

/// A vector of which only a prefix is content. The spare bytes after it are initialised but meaningless, so they need
/// not be cleared before content is written over them.
#[derive(Default)]
pub(crate) struct RowBuffer {
    bytes: Vec<u8>,
    length: usize,
}

impl RowBuffer {
    /// The minimum number of bytes by which the buffer grows. It at least doubles up to the larger one: a wide table
    /// has several buffers for each column, most of which hold little.
    const GROWTH: [usize; 2] = [128, 64 << 10];

    /// The number of bytes.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// All bytes.
    pub(crate) fn as_slice(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// All bytes, mutable.
    pub(crate) fn as_mut_slice(&mut self) -> &mut [u8] {
        &mut self.bytes[..self.length]
    }

    /// All bytes and the spare ones after them.
    #[inline]
    pub(super) fn with_room(&self) -> &[u8] {
        &self.bytes
    }

    /// The spare bytes after the content, at least `least`.
    #[inline]
    pub(super) fn room(&mut self, least: usize) -> &mut [u8] {
        if self.bytes.len() - self.length < least {
            let [first, most] = Self::GROWTH;
            self.bytes.resize(self.length + least.max(self.length.clamp(first, most)), 0);
        }
        &mut self.bytes[self.length..]
    }

    /// Adds the first `count` spare bytes, which were written, to the content.
    ///
    /// # Panics
    /// If there are fewer spare bytes.
    #[inline]
    pub(super) fn advance(&mut self, count: usize) {
        assert!(count <= self.bytes.len() - self.length, "there is room for what was written");
        self.length += count;
    }

    /// Appends bytes.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.room(bytes.len())[..bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len();
    }

    /// Keeps only the first `length` bytes.
    pub(super) fn truncate(&mut self, length: usize) {
        self.length = self.length.min(length);
    }

    /// Appends `count` zeros.
    pub(crate) fn push_zeros(&mut self, count: usize) {
        self.room(count)[..count].fill(0);
        self.length += count;
    }

    /// Takes all bytes, leaving none.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.truncate(std::mem::take(&mut self.length));
        bytes
    }

    /// Takes the first bytes; the others stay.
    pub(crate) fn take_first(&mut self, count: usize) -> Vec<u8> {
        let left = self.as_slice()[count..].to_vec();
        self.truncate(count);
        let first = self.take();
        self.push(&left);
        first
    }

    /// Reuses the memory of bytes taken earlier, unless the buffer has content or more memory.
    pub(crate) fn recycle(&mut self, taken: Vec<u8>) {
        if self.length == 0 && taken.len() > self.bytes.len() {
            self.bytes = taken;
        }
    }
}

impl io::Write for RowBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.push(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Debug, Clone)]
    enum Step {
        Push(Vec<u8>),
        Zeros(usize),
        Room(u8, usize),
        Take,
        TakeFirst(prop::sample::Index),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            8 => prop::collection::vec(any::<u8>(), 0..200).prop_map(Step::Push),
            2 => prop::collection::vec(any::<u8>(), 0..200_000).prop_map(Step::Push),
            1 => (0usize..100).prop_map(Step::Zeros),
            4 => (1u8..255, 0usize..100).prop_map(|(byte, count)| Step::Room(byte, count)),
            1 => Just(Step::Take),
            1 => any::<prop::sample::Index>().prop_map(Step::TakeFirst),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn a_row_buffer_behaves_like_a_vector(steps in prop::collection::vec(step(), 0..40)) {
            let (mut buffer, mut expected) = (RowBuffer::default(), Vec::new());
            for step in steps {
                match step {
                    Step::Push(bytes) => {
                        buffer.push(&bytes);
                        expected.extend_from_slice(&bytes);
                    }
                    Step::Zeros(count) => {
                        buffer.push_zeros(count);
                        expected.resize(expected.len() + count, 0);
                    }
                    Step::Room(byte, count) => {
                        // Half of it will not become content.
                        buffer.room(2 * count)[..2 * count].fill(byte);
                        buffer.advance(count);
                        expected.resize(expected.len() + count, byte);
                    }
                    Step::TakeFirst(count) => {
                        let left = expected.split_off(count.index(expected.len() + 1));
                        prop_assert_eq!(buffer.take_first(expected.len()), expected);
                        expected = left;
                    }
                    Step::Take => {
                        let taken = buffer.take();
                        prop_assert_eq!(&taken, &expected);
                        expected.clear();
                        buffer.recycle(taken);
                    }
                }
                prop_assert_eq!(buffer.len(), expected.len());
                prop_assert_eq!(buffer.as_slice(), &*expected);
                prop_assert_eq!(buffer.with_room().get(..buffer.len()), Some(&*expected));
            }
        }
    }
}
