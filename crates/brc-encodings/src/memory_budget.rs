//! Sizes of row groups and number of workers for a conversion within a memory limit.
//!
//! The memory of a worker grows with the row group: its text, values and encoded columns. Less memory means smaller row
//! groups first, then fewer workers. The output depends on the limit, but not on the number of workers.

use crate::convert::Workers;

/// The memory limit of a conversion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryBudget {
    /// The memory left besides the program itself, in bytes.
    left: u64,
}

/// The memory of the program itself, in bytes.
const PROGRAM: u64 = 18 << 20;

/// The size of row groups without memory pressure, and the smallest useful one, in bytes of text.
const ROW_GROUP: u64 = 16 << 20;
const MIN_ROW_GROUP: u64 = 64 << 10;

/// The memory of a worker as a multiple of the size of a row group: measured with short numbers, which take more as
/// values than as text.
const WORKER_OF_ROW_GROUP: u64 = 4;

impl MemoryBudget {
    /// The budget of a process with a limit in bytes.
    #[must_use]
    pub fn new(limit: u64) -> Self {
        Self { left: limit.saturating_sub(PROGRAM) }
    }

    /// The size of row groups, in bytes of text.
    #[must_use]
    pub fn row_group_bytes(self) -> u64 {
        (self.left / 18).clamp(MIN_ROW_GROUP, ROW_GROUP)
    }

    /// The memory for the dictionaries that all row groups share, in bytes.
    #[must_use]
    pub fn dictionary_bytes(self) -> usize {
        usize::try_from(self.left / 4).unwrap_or(usize::MAX)
    }

    /// Up to `threads` workers, as many as memory allows with row groups of this size.
    #[must_use]
    pub fn workers(self, threads: usize, row_group_bytes: u64) -> Workers {
        let usual = Workers::from(threads);
        let parts_aside = usize::try_from(self.left / 16).unwrap_or(usize::MAX).min(usual.parts_aside);
        let of_worker = row_group_bytes.saturating_mul(WORKER_OF_ROW_GROUP).max(1);
        let most = usize::try_from(self.left / 5 * 3 / of_worker).unwrap_or(usize::MAX);
        Workers { threads: threads.min(most).max(1), parts_aside }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ample_memory_changes_nothing() {
        for limit in [1400 << 20, u64::MAX] {
            let budget = MemoryBudget::new(limit);
            assert_eq!(budget.row_group_bytes(), ROW_GROUP);
            assert!(budget.dictionary_bytes() >= 320 << 20);
            assert_eq!(budget.workers(8, ROW_GROUP), Workers::from(8));
        }
    }

    #[test]
    fn all_parts_keep_within_the_limit() {
        for limit in [32, 64, 128, 192, 256, 512].map(|mebibytes| mebibytes << 20) {
            let budget = MemoryBudget::new(limit);
            let row_group = budget.row_group_bytes();
            let Workers { threads, parts_aside } = budget.workers(64, row_group);
            let workers = threads as u64 * row_group * WORKER_OF_ROW_GROUP;
            let all = PROGRAM + workers + budget.dictionary_bytes() as u64 + parts_aside as u64;
            assert!(all <= limit, "{limit}: {all}");
            assert!(threads >= 2);
        }
    }

    #[test]
    fn there_is_always_a_worker() {
        let budget = MemoryBudget::new(0);
        assert_eq!(budget.row_group_bytes(), MIN_ROW_GROUP);
        assert_eq!(budget.workers(8, 64 << 20).threads, 1);
    }
}
