//! Where records lie: each partition's in chunks, and the chunks of all partitions in few large slabs of memory, which the
//! system has huge pages for.

use std::sync::Arc;

/// Words of memory that a partition gets at a time.
pub(super) const CHUNK: usize = 1 << 11;

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
    piles: Vec<Pile>,
}

/// Those of one partition.
#[derive(Debug, Clone, Default)]
struct Pile {
    full: Vec<Chunk>,
    last: Chunk,
    /// Words of the last chunk that are free.
    free: u32,
}

#[derive(Debug, Clone, Copy, Default)]
struct Chunk {
    slab: u32,
    start: u32,
    words: u32,
}

impl Piles {
    /// No records of so many partitions.
    pub(super) fn new(partitions: usize) -> Self {
        Self { slabs: Vec::new(), used: 0, piles: vec![Pile::default(); partitions] }
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
        if (self.piles[partition].free as usize) < words {
            self.next_chunk(partition);
        }
        let Pile { last, free, .. } = &mut self.piles[partition];
        let at = last.start as usize + last.words as usize;
        last.words += words as u32;
        *free -= words as u32;
        &mut self.slabs[last.slab as usize][at..at + words]
    }

    #[cold]
    #[inline(never)]
    fn next_chunk(&mut self, partition: usize) {
        if self.slabs.last().is_none_or(|slab| self.used + CHUNK > slab.len()) {
            let chunks = (FIRST_SLAB << self.slabs.len().min(8)).min(LARGEST_SLAB);
            self.slabs.push(vec![0; chunks * CHUNK]);
            self.used = 0;
        }
        let chunk = Chunk { slab: self.slabs.len() as u32 - 1, start: self.used as u32, words: 0 };
        self.used += CHUNK;
        let Pile { full, last, free } = &mut self.piles[partition];
        let before = std::mem::replace(last, chunk);
        if before.words > 0 {
            full.push(before);
        }
        *free = CHUNK as u32;
    }

    /// The records of each partition.
    pub(super) fn into_partitions(self) -> impl Iterator<Item = Chunks> {
        let slabs = Arc::new(self.slabs);
        self.piles.into_iter().map(move |mut pile| {
            pile.full.push(pile.last);
            pile.full.retain(|chunk| chunk.words > 0);
            Chunks { slabs: Arc::clone(&slabs), chunks: pile.full }
        })
    }
}

/// The records of one partition. Memory is given back when those of all partitions of their worker are dropped.
#[derive(Debug)]
pub(super) struct Chunks {
    slabs: Arc<Vec<Vec<u64>>>,
    chunks: Vec<Chunk>,
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
        self.chunks.iter().map(|chunk| &self.slabs[chunk.slab as usize][chunk.start as usize..][..chunk.words as usize])
    }
}
