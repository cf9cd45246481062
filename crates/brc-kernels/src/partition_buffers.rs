//! Radix partitioning: scatters records to many partition buffers, each a list of chunks, which are allocated in few
//! large slabs that the system can back with huge pages.
//!
//! Scattering a record costs little more than storing it: the write position of each partition is an address, and
//! nothing else is looked up.

use crate::memory::prefetch_address;
use std::ptr::{self, NonNull};
use std::slice;
use std::sync::Arc;

/// The number of partitions.
pub const PARTITIONS: usize = 1 << 8;

/// The number of words of a chunk, which is also the maximum size of a record.
pub const CHUNK: usize = 1 << 11;

/// The number of words of a cache line.
const LINE: usize = 8;

/// The number of chunks of the first slab: at least one for each partition. Later slabs are larger.
const FIRST_SLAB: usize = 1 << 9;

/// The number of chunks of the largest slabs.
const LARGEST_SLAB: usize = 1 << 11;

/// A part of a slab, all of whose words have been written.
#[derive(Debug, Clone, Copy)]
struct Chunk {
    start: NonNull<u64>,
    words: usize,
}

/// The write position of a partition. The positions of all partitions stay in the cache.
#[derive(Debug, Clone, Copy)]
struct Head {
    /// Dangling if the partition has no open chunk.
    next: NonNull<u64>,
    /// The number of free words from there on.
    free: usize,
}

impl Head {
    const NONE: Self = Self { next: NonNull::dangling(), free: 0 };
}

/// The partition buffers of scattered records.
#[derive(Debug)]
pub struct PartitionBuffers {
    /// Vectors of which only the capacity is used: the chunks record which parts have been written.
    slabs: Vec<Vec<u64>>,
    /// The number of words of the last slab that are in use.
    used: usize,
    heads: Box<[Head; PARTITIONS]>,
    /// The chunks of each partition except its open one.
    full: Vec<Vec<Chunk>>,
    /// Chunks that can be reused.
    free: Vec<NonNull<u64>>,
    /// The number of chunks in use.
    chunks: usize,
}

// SAFETY: all addresses refer to memory that is owned by the slabs, which move with them.
unsafe impl Send for PartitionBuffers {}
// SAFETY: nothing is written through shared references.
unsafe impl Sync for PartitionBuffers {}

impl Default for PartitionBuffers {
    fn default() -> Self {
        Self {
            slabs: Vec::new(),
            used: 0,
            heads: Box::new([Head::NONE; PARTITIONS]),
            full: vec![Vec::new(); PARTITIONS],
            free: Vec::new(),
            chunks: 0,
        }
    }
}

impl PartitionBuffers {
    /// The approximate number of words of all records, including the free space in open chunks.
    #[must_use]
    pub fn words(&self) -> usize {
        self.chunks * CHUNK
    }

    /// Appends a record to a partition.
    #[inline(always)]
    pub fn push<const WORDS: usize>(&mut self, partition: u8, record: &[u64; WORDS]) {
        const { assert!(WORDS <= CHUNK, "a record is not longer than a chunk") };
        self.add(partition, record);
    }

    /// Appends a record of any size to a partition.
    ///
    /// # Panics
    /// If the record is longer than a chunk.
    pub fn push_long(&mut self, partition: u8, record: &[u64]) {
        assert!(record.len() <= CHUNK, "a record is not longer than a chunk");
        self.add(partition, record);
    }

    /// Appends a record, which must not be longer than a chunk.
    #[inline(always)]
    fn add(&mut self, partition: u8, record: &[u64]) {
        let words = record.len();
        if self.heads[usize::from(partition)].free < words {
            self.next_chunk(partition);
        }
        let head = &mut self.heads[usize::from(partition)];
        // SAFETY: `words` words are free at `next`, in a slab that only this object uses, or the record is empty. A
        // short copy of constant size is compiled without a call.
        unsafe {
            ptr::copy_nonoverlapping(record.as_ptr(), head.next.as_ptr(), words);
            head.next = head.next.add(words);
        }
        head.free -= words;
        // Prefetch: the cache lines for the partition's next record can arrive before it comes.
        let next = head.next.as_ptr();
        prefetch_address(next.wrapping_add(LINE - 1));
        if words > LINE / 2 {
            prefetch_address(next.wrapping_add(2 * LINE - 1));
        }
    }

    #[cold]
    #[inline(never)]
    fn next_chunk(&mut self, partition: u8) {
        self.close(partition);
        let next = self.free.pop().unwrap_or_else(|| self.new_chunk());
        self.heads[usize::from(partition)] = Head { next, free: CHUNK };
        self.chunks += 1;
    }

    /// Allocates a chunk in the last slab, or in a new one.
    fn new_chunk(&mut self) -> NonNull<u64> {
        if self.slabs.last().is_none_or(|slab| self.used + CHUNK > slab.capacity()) {
            let chunks = (FIRST_SLAB << self.slabs.len().min(8)).min(LARGEST_SLAB);
            self.slabs.push(Vec::with_capacity(chunks * CHUNK));
            self.used = 0;
        }
        let slab = self
            .slabs
            .last_mut()
            .map_or(NonNull::dangling(), |slab| NonNull::new(slab.as_mut_ptr()).unwrap_or(NonNull::dangling()));
        self.used += CHUNK;
        // SAFETY: the slab exists, and has at least `used` words.
        unsafe { slab.add(self.used - CHUNK) }
    }

    /// Closes the open chunk of a partition, if there is one.
    fn close(&mut self, partition: u8) {
        let Head { next, free } = std::mem::replace(&mut self.heads[usize::from(partition)], Head::NONE);
        if next == NonNull::dangling() {
            return;
        }
        let words = CHUNK - free;
        // SAFETY: `words` words of the chunk were written before `next`.
        let start = unsafe { next.sub(words) };
        self.full[usize::from(partition)].push(Chunk { start, words });
    }

    /// Whether a partition has no records.
    #[must_use]
    pub fn are_none_of(&self, partition: u8) -> bool {
        let partition = usize::from(partition);
        self.full[partition].is_empty() && self.heads[partition].next == NonNull::dangling()
    }

    /// All records of a partition, chunk by chunk.
    pub fn of_partition(&mut self, partition: u8) -> impl Iterator<Item = &[u64]> {
        self.close(partition);
        let slabs = &self.slabs;
        self.full[usize::from(partition)].iter().map(|chunk| chunk.of(slabs))
    }

    /// Calls `each` with the records of a partition, chunk by chunk, until it returns `false`. Consumed chunks are
    /// dropped, and their memory is reused.
    ///
    /// # Errors
    /// Errors of `each`.
    pub fn drain<E>(&mut self, partition: u8, mut each: impl FnMut(&[u64]) -> Result<bool, E>) -> Result<(), E> {
        self.close(partition);
        let Self { slabs, full, free, .. } = self;
        let full = &mut full[usize::from(partition)];
        let mut taken = 0;
        for chunk in &*full {
            if !each(chunk.of(slabs))? {
                break;
            }
            taken += 1;
        }
        free.extend(full.drain(..taken).map(|chunk| chunk.start));
        self.chunks -= taken;
        Ok(())
    }

    /// The records of each partition.
    pub fn into_each(mut self) -> impl Iterator<Item = Chunks> {
        (0..=u8::MAX).for_each(|partition| self.close(partition));
        let slabs = Arc::new(self.slabs);
        self.full.into_iter().map(move |chunks| Chunks { slabs: Arc::clone(&slabs), chunks })
    }
}

/// The records of one partition. The memory is freed when the chunks of all partitions have been dropped.
#[derive(Debug)]
pub struct Chunks {
    slabs: Arc<Vec<Vec<u64>>>,
    chunks: Vec<Chunk>,
}

// SAFETY: all addresses refer to memory that is owned by the slabs, to which nothing is written any more.
unsafe impl Send for Chunks {}
// SAFETY: as above.
unsafe impl Sync for Chunks {}

impl Chunk {
    /// The words of the chunk, which is in one of these slabs.
    fn of(self, _slabs: &[Vec<u64>]) -> &[u64] {
        // SAFETY: `words` words of the slab were written there, and are not written to while it is borrowed.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.words) }
    }
}

impl Chunks {
    /// Whether there are no records.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// The total number of words of all records.
    #[must_use]
    pub fn words(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.words).sum()
    }

    /// All records, chunk by chunk.
    pub fn iter(&self) -> impl Iterator<Item = &[u64]> {
        self.chunks.iter().map(|chunk| chunk.of(&self.slabs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// All words of the records of a partition.
    fn records<'a>(chunks: impl Iterator<Item = &'a [u64]>) -> Vec<u64> {
        chunks.flatten().copied().collect()
    }

    proptest! {
        #[test]
        fn records_stay_in_their_partitions(
            turns in prop::collection::vec((prop::collection::vec((0..3usize, 1..3000u64), 0..6), 0..3usize, 0..4usize), 1..12),
        ) {
            let (mut buffers, mut expected, mut last) = (PartitionBuffers::default(), vec![Vec::new(); 3], 0u64);
            for (pushes, drained, most) in turns {
                for (partition, count) in pushes {
                    for _ in 0..count {
                        last += 1;
                        buffers.push(partition as u8, &[last, partition as u64]);
                        expected[partition].extend([last, partition as u64]);
                    }
                }
                let (mut taken, mut chunks) = (Vec::new(), 0);
                let each = |chunk: &[u64]| {
                    let takes = chunks < most;
                    chunks += 1;
                    taken.extend_from_slice(if takes { chunk } else { &[] });
                    Ok::<_, ()>(takes)
                };
                buffers.drain(drained as u8, each).unwrap();
                let rest = expected[drained].split_off(taken.len());
                prop_assert_eq!(&taken, &std::mem::replace(&mut expected[drained], rest));
                prop_assert_eq!(buffers.are_none_of(drained as u8), expected[drained].is_empty());
                prop_assert_eq!(records(buffers.of_partition(drained as u8)), expected[drained].as_slice());
                prop_assert!(buffers.words() >= expected.iter().map(Vec::len).sum());
            }
            for (chunks, expected) in buffers.into_each().zip(&expected) {
                prop_assert_eq!(records(chunks.iter()), expected.as_slice());
            }
        }
    }

    #[test]
    fn memory_is_used_again() {
        let mut buffers = PartitionBuffers::default();
        for turn in 0..100u64 {
            (0..10 * CHUNK as u64).for_each(|_| buffers.push(1, &[turn]));
            buffers.drain(1, |_| Ok::<_, ()>(true)).unwrap();
        }
        assert_eq!((buffers.slabs.len(), buffers.words()), (1, 0));
    }
}
