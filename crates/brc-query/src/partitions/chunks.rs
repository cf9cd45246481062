//! Where records lie: each partition's in chunks, and the chunks of all partitions in few large slabs of memory, which the
//! system has huge pages for.

use brc_kernels::memory::prefetch;
use std::sync::Arc;

/// Words of memory that a partition gets at a time.
pub(super) const CHUNK: usize = 1 << 11;

/// Words of a line of the cache.
const LINE: usize = 8;

/// The chunks of the first slab; that is one for each partition and more. Later slabs are larger.
const FIRST_SLAB: usize = 1 << 9;

/// The chunks of the largest slabs.
const LARGEST_SLAB: usize = 1 << 11;

/// One worker's records, as they are dealt out.
#[derive(Debug)]
pub(super) struct Piles {
    slabs: Vec<Vec<u64>>,
    /// Words of the last slab that are in use.
    used: usize,
    /// Where the next record of each partition comes. All of that stays in the cache.
    heads: Vec<Head>,
    /// The chunks of each partition that are full.
    full: Vec<Vec<Chunk>>,
    /// Chunks that can be used again.
    free: Vec<Chunk>,
    /// How many chunks are in use.
    chunks: usize,
}

/// What is free of a partition's last chunk.
#[derive(Debug, Clone, Copy, Default)]
struct Head {
    slab: u32,
    start: u32,
    words: u32,
}

#[derive(Debug, Clone, Copy)]
struct Chunk {
    slab: u32,
    start: u32,
    words: u32,
}

impl Piles {
    /// No records of so many partitions.
    pub(super) fn new(partitions: usize) -> Self {
        Self {
            slabs: Vec::new(),
            used: 0,
            heads: vec![Head::default(); partitions],
            full: vec![Vec::new(); partitions],
            free: Vec::new(),
            chunks: 0,
        }
    }

    /// About how many words all records have: what is free of last chunks is counted too.
    pub(super) fn words(&self) -> usize {
        self.chunks * CHUNK
    }

    /// Adds a record, which is not longer than a chunk.
    #[inline(always)]
    pub(super) fn push<const WORDS: usize>(&mut self, partition: usize, record: &[u64; WORDS]) {
        // A copy of so few words that are known is no call.
        if let Some(room) = self.room(partition, WORDS).first_chunk_mut() {
            *room = *record;
        }
    }

    /// Makes room for a record of so many words, which are not more than a chunk has.
    #[inline(always)]
    pub(super) fn room(&mut self, partition: usize, words: usize) -> &mut [u64] {
        if (self.heads[partition].words as usize) < words {
            self.next_chunk(partition);
        }
        let Head { slab, start, words: free } = &mut self.heads[partition];
        let at = *start as usize;
        *start += words as u32;
        *free -= words as u32;
        let slab = &mut self.slabs[*slab as usize];
        // Until the next record comes for this partition, the line behind this one can have come from memory.
        prefetch(slab, at + LINE);
        &mut slab[at..at + words]
    }

    #[cold]
    #[inline(never)]
    fn next_chunk(&mut self, partition: usize) {
        self.close(partition);
        let Chunk { slab, start, .. } = self.free.pop().unwrap_or_else(|| self.new_chunk());
        self.heads[partition] = Head { slab, start, words: CHUNK as u32 };
        self.chunks += 1;
    }

    /// Some memory of the last slab, or of a new one.
    fn new_chunk(&mut self) -> Chunk {
        if self.slabs.last().is_none_or(|slab| self.used + CHUNK > slab.len()) {
            let chunks = (FIRST_SLAB << self.slabs.len().min(8)).min(LARGEST_SLAB);
            self.slabs.push(vec![0; chunks * CHUNK]);
            self.used = 0;
        }
        self.used += CHUNK;
        Chunk { slab: self.slabs.len() as u32 - 1, start: (self.used - CHUNK) as u32, words: 0 }
    }

    /// Puts a partition's last chunk to the full ones, if there is something in it.
    fn close(&mut self, partition: usize) {
        let Head { slab, start, words } = self.heads[partition];
        let words = (CHUNK as u32 - words) * u32::from(start > 0);
        if words > 0 {
            self.full[partition].push(Chunk { slab, start: start - words, words });
            self.heads[partition] = Head::default();
        }
    }

    /// Whether a partition has no records.
    pub(super) fn are_none_of(&self, partition: usize) -> bool {
        self.full[partition].is_empty() && self.heads[partition].start == 0
    }

    /// All records of a partition, chunk by chunk.
    pub(super) fn of_partition(&mut self, partition: usize) -> impl Iterator<Item = &[u64]> {
        self.close(partition);
        self.full[partition].iter().map(|chunk| chunk.of(&self.slabs))
    }

    /// Calls `each` with the records of a partition, chunk by chunk, as long as it takes them. What it took is dropped, and its
    /// memory used again.
    pub(super) fn drain<E>(
        &mut self,
        partition: usize,
        mut each: impl FnMut(&[u64]) -> Result<bool, E>,
    ) -> Result<(), E> {
        self.close(partition);
        let Self { slabs, full, free, .. } = self;
        let mut taken = 0;
        for chunk in &full[partition] {
            if !each(chunk.of(slabs))? {
                break;
            }
            taken += 1;
        }
        free.extend(full[partition].drain(..taken));
        self.chunks -= taken;
        Ok(())
    }

    /// The records of each partition.
    pub(super) fn into_partitions(mut self) -> impl Iterator<Item = Chunks> {
        (0..self.heads.len()).for_each(|partition| self.close(partition));
        let slabs = Arc::new(self.slabs);
        self.full.into_iter().map(move |chunks| Chunks { slabs: Arc::clone(&slabs), chunks })
    }
}

/// The records of one partition. Memory is given back when those of all partitions of their worker are dropped.
#[derive(Debug)]
pub(super) struct Chunks {
    slabs: Arc<Vec<Vec<u64>>>,
    chunks: Vec<Chunk>,
}

impl Chunk {
    fn of<'a>(&self, slabs: &'a [Vec<u64>]) -> &'a [u64] {
        &slabs[self.slab as usize][self.start as usize..][..self.words as usize]
    }
}

impl Chunks {
    pub(super) fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// How many words all records have.
    pub(super) fn words(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.words as usize).sum()
    }

    /// All records, chunk by chunk.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[u64]> {
        self.chunks.iter().map(|chunk| chunk.of(&self.slabs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// All records, which are of two words, of a partition.
    fn records<'a>(chunks: impl Iterator<Item = &'a [u64]>) -> Vec<u64> {
        chunks.flatten().copied().collect()
    }

    proptest! {
        #[test]
        fn records_stay_those_of_their_partitions(
            turns in prop::collection::vec((prop::collection::vec((0..3usize, 1..3000u64), 0..6), 0..3usize, 0..4usize), 1..12),
        ) {
            let (mut piles, mut expected, mut last) = (Piles::new(3), vec![Vec::new(); 3], 0);
            for (pushes, drained, most) in turns {
                for (partition, count) in pushes {
                    for _ in 0..count {
                        last += 1;
                        piles.push(partition, &[last, partition as u64]);
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
                piles.drain(drained, each).unwrap();
                let rest = expected[drained].split_off(taken.len());
                prop_assert_eq!(&taken, &std::mem::replace(&mut expected[drained], rest));
                prop_assert_eq!(piles.are_none_of(drained), expected[drained].is_empty());
                prop_assert_eq!(records(piles.of_partition(drained)), expected[drained].as_slice());
                prop_assert!(piles.words() >= expected.iter().map(Vec::len).sum());
            }
            for (chunks, expected) in piles.into_partitions().zip(&expected) {
                prop_assert_eq!(records(chunks.iter()), expected.as_slice());
            }
        }
    }

    #[test]
    fn memory_is_used_again() {
        let mut piles = Piles::new(2);
        for turn in 0..100u64 {
            (0..10 * CHUNK as u64).for_each(|_| piles.push(1, &[turn]));
            piles.drain(1, |_| Ok::<_, ()>(true)).unwrap();
        }
        assert_eq!((piles.slabs.len(), piles.words()), (1, 0));
    }
}
