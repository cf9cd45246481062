//! Vectors that become buffers of arrays, with recycled memory.
//!
//! Memory that is new to the process costs a page fault per 4 KiB, which takes about as long as filling it. A reader
//! that drops each record batch before the next one lets its memory be reused.

use arrow_buffer::{ArrowNativeType, Buffer};
use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};

/// The maximum number of buffers that are kept for recycling, including those that readers still hold.
const MAX_RETAINED: usize = 8;

/// A vector that becomes a buffer when it is full, and restarts in the memory of a buffer that has been released.
#[derive(Default)]
pub(crate) struct RecycledVec<T> {
    values: Vec<T>,
    /// The number of values to reserve memory for: the largest expected or taken so far.
    room: usize,
    /// The last buffers.
    retained: VecDeque<Buffer>,
}

impl<T: ArrowNativeType> RecycledVec<T> {
    /// Reserves memory for the given number of values.
    pub(crate) fn expect(&mut self, values: usize) {
        self.room = self.room.max(values);
    }

    /// All values, in memory that is little larger than they need: with huge pages, unused memory would be wasted.
    pub(crate) fn take(&mut self) -> Buffer {
        let mut values = std::mem::take(&mut self.values);
        self.room = self.room.max(values.len());
        if values.capacity() - values.len() > values.len() / 32 {
            values.shrink_to_fit();
        }
        let buffer = Buffer::from_vec(values);
        if self.retained.len() == MAX_RETAINED {
            self.retained.pop_front();
        }
        self.retained.push_back(buffer.clone());
        buffer
    }

    /// Starts a new vector, as late as possible.
    fn begin(&mut self) {
        self.values = self.take_released().unwrap_or_default();
        // Allocates instead of growing, which would copy the old contents.
        if self.values.capacity() < self.room {
            self.values = Vec::with_capacity(self.room);
        }
    }

    /// A vector of a released buffer, without values.
    fn take_released(&mut self) -> Option<Vec<T>> {
        let index = self.retained.iter().position(|buffer| buffer.strong_count() == 1)?;
        let mut values = self.retained.remove(index)?.into_vec().ok()?;
        values.clear();
        Some(values)
    }
}

impl<T> Deref for RecycledVec<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.values
    }
}

impl<T: ArrowNativeType> DerefMut for RecycledVec<T> {
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
    fn released_memory_is_recycled() {
        let mut values = RecycledVec::default();
        let mut fill = |number: i64| {
            values.extend(std::iter::repeat_n(number, 1000));
            values.take()
        };
        let first = fill(1);
        let pointer = first.as_ptr();
        let second = fill(2);
        assert_eq!(second.typed_data::<i64>(), [2; 1000]);
        assert_ne!(second.as_ptr(), pointer);
        drop(first);
        let third = fill(3);
        assert_eq!(third.as_ptr(), pointer);
        assert_eq!((second.typed_data::<i64>(), third.typed_data::<i64>()), (&[2; 1000][..], &[3; 1000][..]));
    }

    #[test]
    fn buffers_waste_little_memory() {
        let mut values = RecycledVec::default();
        for rows in [100_000, 10, 100_000, 90_000] {
            values.extend(std::iter::repeat_n(0u8, rows));
            let buffer = values.take();
            assert_eq!(buffer.len(), rows);
            assert!(buffer.capacity() <= rows + rows / 32 + 64, "{rows}: {}", buffer.capacity());
        }
    }
}
