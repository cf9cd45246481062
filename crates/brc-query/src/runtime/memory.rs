//! How much memory a query may take, and when it spills.
//!
//! The limit is compared with all that the program has allocated: buffers of the scan, tables, states, strings and
//! whatever else an aggregate keeps. So no stage has to estimate its size, and nothing is forgotten.

use brc_kernels::memory::{in_use, kept_by_thread};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// How much memory a query may take, and where it spills the rest.
///
/// It holds for programs whose allocator is [`brc_kernels::memory::Allocator`]; that of others is not known.
#[derive(Debug, Clone)]
pub struct Memory {
    /// How many bytes the program may have allocated; [`u64::MAX`] is no limit.
    pub limit: u64,
    /// The directory for temporary files.
    pub temp_dir: PathBuf,
    /// The bytes that were written to temporary files so far; another thread may look at it.
    pub spilled: Arc<AtomicU64>,
}

impl Memory {
    /// No limit.
    #[must_use]
    pub fn unlimited() -> Self {
        Self { limit: u64::MAX, temp_dir: std::env::temp_dir(), spilled: Arc::default() }
    }

    /// For one of the threads that read rows: half is left for what is made of them later.
    pub(crate) fn of_scan(&self, threads: usize) -> Gauge {
        /// Fewer bytes are not worth writing, unless the limit is smaller still.
        const MIN_SPILLED_BYTES: u64 = 1 << 16;
        Gauge::new(self.limit / 2, self.share(threads).max(MIN_SPILLED_BYTES.min(self.limit)))
    }

    /// For one of the threads that group a partition each.
    pub(crate) fn of_partition(&self, threads: usize) -> Gauge {
        /// A partition may take this many bytes whatever the limit, because splitting it takes memory too.
        const MIN_PARTITION_BYTES: u64 = 1 << 22;
        Gauge::new(self.limit / 4 * 3, self.share(threads).max(MIN_PARTITION_BYTES))
    }

    /// Whether so much memory is in use that the next stage, which takes several times as much, should work in parts.
    pub(crate) fn is_scarce(&self) -> bool {
        in_use() >= self.limit / 4
    }

    /// Whether results should be written to a file as soon as they are made.
    pub(crate) fn is_short(&self) -> bool {
        in_use() >= self.limit / 2
    }

    /// The bytes that a thread may keep while memory is short before it spills: a quarter of the limit for all threads.
    fn share(&self, threads: usize) -> u64 {
        self.limit / (4 * threads.max(1) as u64)
    }
}

/// How many bytes the program may have allocated while values are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Allowance(pub(crate) u64);

impl Default for Allowance {
    fn default() -> Self {
        Self(u64::MAX)
    }
}

impl Allowance {
    /// Whether a buffer may grow from one number of bytes to another.
    pub(crate) fn allows(self, from: usize, to: usize) -> bool {
        /// A buffer may have this many bytes whatever the limit.
        const MIN_BUFFER_BYTES: usize = 1 << 23;
        to <= MIN_BUFFER_BYTES || in_use().saturating_sub(from as u64).saturating_add(to as u64) <= self.0
    }
}

/// Reports to one thread when memory is short because of what this thread keeps.
#[derive(Debug, Clone)]
pub(crate) struct Gauge {
    limit: u64,
    /// A thread that keeps less than this many bytes need not spill.
    least: i64,
    start: i64,
}

impl Gauge {
    fn new(limit: u64, least: u64) -> Self {
        Self { limit, least: i64::try_from(least).unwrap_or(i64::MAX), start: kept_by_thread() }
    }

    pub(crate) fn is_short(&self) -> bool {
        in_use() >= self.limit && kept_by_thread() - self.start >= self.least
    }

    /// Stops counting what the thread keeps now.
    pub(crate) fn restart(&mut self) {
        self.start = kept_by_thread();
    }
}
