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
        }
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
        if self.slabs.last().is_none_or(|slab| self.used + CHUNK > slab.len()) {
            let chunks = (FIRST_SLAB << self.slabs.len().min(8)).min(LARGEST_SLAB);
            self.slabs.push(vec![0; chunks * CHUNK]);
            self.used = 0;
        }
        self.close(partition);
        self.heads[partition] =
            Head { slab: self.slabs.len() as u32 - 1, start: self.used as u32, words: CHUNK as u32 };
        self.used += CHUNK;
    }

    /// Puts a partition's last chunk to the full ones, if there is something in it.
    fn close(&mut self, partition: usize) {
        let Head { slab, start, words } = self.heads[partition];
        let words = (CHUNK as u32 - words) * u32::from(start > 0);
        if words > 0 {
            self.full[partition].push(Chunk { slab, start: start - words, words });
        }
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
