//! The text of a split, in memory that is reused for the next one.
//!
//! A split's first row nearly always begins before it, but where is known only after the split was read. So there is
//! spare space before the text, and nothing has to move. The state transition of the text is computed while it is read,
//! and still in a cache.

use brc_kernels::cpu::Level;
use brc_kernels::structure::{Syntax, Transition};
use std::ops::Range;

/// The number of bytes read and scanned at once: they stay in a cache.
pub(super) const PORTION: usize = 256 << 10;

/// The spare space before the text, in bytes: rows are rarely longer.
const ROOM: usize = 64 << 10;

#[derive(Default)]
pub(super) struct SplitText {
    /// It keeps its length, so that only new memory is cleared.
    buffer: Vec<u8>,
    text: Range<usize>,
    /// The state transition of each portion, and its length in bytes.
    transitions: Vec<(Transition, usize)>,
}

impl SplitText {
    pub(super) fn as_slice(&self) -> &[u8] {
        &self.buffer[self.text.clone()]
    }

    /// The state transitions of the portions that were [appended](Self::append_portion), each with its length in bytes.
    pub(super) fn transitions(&self) -> &[(Transition, usize)] {
        &self.transitions
    }

    pub(super) fn clear(&mut self) {
        self.transitions.clear();
        self.text = ROOM..ROOM;
        self.buffer.resize(self.buffer.len().max(ROOM), 0);
    }

    /// Drops the first bytes, or all if there are fewer.
    pub(super) fn skip(&mut self, bytes: usize) {
        self.text.start = self.text.end.min(self.text.start + bytes);
    }

    /// Reserves address space for `bytes` further bytes; memory is taken only when it is used.
    pub(super) fn reserve(&mut self, bytes: usize) {
        self.buffer.reserve_exact((self.text.end + bytes).saturating_sub(self.buffer.len()));
    }

    /// Appends the bytes that `fill` writes to a buffer of at most `bytes` bytes; it returns their number.
    pub(super) fn append<E>(
        &mut self,
        bytes: usize,
        fill: impl FnOnce(&mut [u8]) -> Result<usize, E>,
    ) -> Result<(), E> {
        let new = self.text.end..self.text.end + bytes;
        if self.buffer.len() < new.end {
            self.buffer.resize(new.end, 0);
        }
        self.text.end += fill(&mut self.buffer[new])?;
        Ok(())
    }

    /// The same, and computes the state transition of the new bytes; returns them.
    pub(super) fn append_portion<E>(
        &mut self,
        bytes: usize,
        syntax: &Syntax,
        fill: impl FnOnce(&mut [u8]) -> Result<usize, E>,
    ) -> Result<&[u8], E> {
        let start = self.text.end;
        self.append(bytes, fill)?;
        self.follow(start..self.text.end, syntax);
        Ok(&self.buffer[start..self.text.end])
    }

    /// Computes the state transition of the whole text.
    pub(super) fn follow_all(&mut self, syntax: &Syntax) {
        for start in self.text.clone().step_by(PORTION) {
            self.follow(start..self.text.end.min(start + PORTION), syntax);
        }
    }

    fn follow(&mut self, portion: Range<usize>, syntax: &Syntax) {
        let transition = Transition::new(Level::best(), syntax, &self.buffer[portion.clone()]);
        self.transitions.push((transition, portion.len()));
    }

    /// Appends the bytes that `extend` appends to a vector.
    pub(super) fn extend<T, E>(&mut self, extend: impl FnOnce(&mut Vec<u8>) -> Result<T, E>) -> Result<T, E> {
        self.buffer.resize(self.text.end, 0);
        let outcome = extend(&mut self.buffer);
        self.text.end = self.buffer.len();
        outcome
    }

    /// Inserts bytes before the text.
    pub(super) fn prepend(&mut self, bytes: &[u8]) {
        if bytes.len() > self.text.start {
            let text = self.text.clone();
            self.text = bytes.len()..bytes.len() + text.len();
            self.buffer.resize(self.buffer.len().max(self.text.end), 0);
            self.buffer.copy_within(text, bytes.len());
        }
        let start = self.text.start - bytes.len();
        self.buffer[start..self.text.start].copy_from_slice(bytes);
        self.text.start = start;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    #[test]
    fn text_before_and_after_is_joined() {
        let mut text = SplitText::default();
        for before in [0, 1, ROOM - 2, ROOM, ROOM + 1, 3 * ROOM, 5] {
            text.clear();
            let Ok(()) = text.append(8, |room| {
                room[..6].copy_from_slice(b"behind");
                Ok::<_, Infallible>(6)
            });
            let Ok(_) = text.extend(|bytes| std::io::Write::write(bytes, b" it")) else { unreachable!() };
            text.skip(2);
            text.prepend(&vec![b'x'; before]);
            assert_eq!(text.as_slice(), [&vec![b'x'; before], b"hind it".as_slice()].concat());
        }
        text.skip(100);
        assert_eq!(text.as_slice(), b"");
        let mut empty = SplitText::default();
        empty.clear();
        assert_eq!(empty.as_slice(), b"");
        empty.prepend(b"before");
        assert_eq!(empty.as_slice(), b"before");
    }
}
