//! Vectors that become the buffers of arrays, one after the other.
//!
//! Memory that is new to the process costs a page fault every four kilobytes, about as long as it takes to fill them. Whoever
//! reads record batch after record batch gives up the one before, so that its memory is there for the next.

use arrow_buffer::{ArrowNativeType, Buffer};
use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};

/// So many buffers may be on their way to a reader, and in its hands, until the first of them comes back.
const LENT: usize = 8;

/// A vector that becomes a buffer when it is full, and begins anew: in the memory of one that nobody else holds any more.
#[derive(Default)]
pub(crate) struct Reused<T> {
    values: Vec<T>,
    /// As many values as there were at most.
    room: usize,
    /// The last buffers.
    lent: VecDeque<Buffer>,
}

impl<T: ArrowNativeType> Reused<T> {
    /// Says that so many values are going to come.
    pub(crate) fn expect(&mut self, values: usize) {
        self.room = self.room.max(values);
    }

    /// All values, in little more memory than they need: what they do not use would be lost, where memory is in huge pages.
    pub(crate) fn take(&mut self) -> Buffer {
        let mut values = std::mem::take(&mut self.values);
        self.room = self.room.max(values.len());
        if values.capacity() - values.len() > values.len() / 32 {
            values.shrink_to_fit();
        }
        let buffer = Buffer::from_vec(values);
        if self.lent.len() == LENT {
            self.lent.pop_front();
        }
        self.lent.push_back(buffer.clone());
        buffer
    }

    /// Begins anew, as late as that can be.
    fn begin(&mut self) {
        self.values = self.returned().unwrap_or_default();
        // What it held is not copied, then.
        if self.values.capacity() < self.room {
            self.values = Vec::with_capacity(self.room);
        }
    }

    /// A vector that came back, without values.
    fn returned(&mut self) -> Option<Vec<T>> {
        let place = self.lent.iter().position(|buffer| buffer.strong_count() == 1)?;
        let mut values = self.lent.remove(place)?.into_vec().ok()?;
        values.clear();
        Some(values)
    }
}

impl<T> Deref for Reused<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.values
    }
}

impl<T: ArrowNativeType> DerefMut for Reused<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        if self.values.capacity() == 0 {
            self.begin();
        }
        &mut self.values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_comes_back_once_nobody_holds_it() {
        let mut values = Reused::default();
        let mut fill = |number: i64| {
            values.extend(std::iter::repeat_n(number, 1000));
            values.take()
        };
        let first = fill(1);
        let place = first.as_ptr();
        let second = fill(2);
        assert_eq!(second.typed_data::<i64>(), [2; 1000]);
        assert_ne!(second.as_ptr(), place);
        drop(first);
        let third = fill(3);
        assert_eq!(third.as_ptr(), place);
        assert_eq!((second.typed_data::<i64>(), third.typed_data::<i64>()), (&[2; 1000][..], &[3; 1000][..]));
    }

    #[test]
    fn values_have_little_more_memory_than_they_need() {
        let mut values = Reused::default();
        for rows in [100_000, 10, 100_000, 90_000] {
            values.extend(std::iter::repeat_n(0u8, rows));
            let buffer = values.take();
            assert_eq!(buffer.len(), rows);
            assert!(buffer.capacity() <= rows + rows / 32 + 64, "{rows}: {}", buffer.capacity());
        }
    }
}
