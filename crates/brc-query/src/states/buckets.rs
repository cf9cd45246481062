//! How the values of a long group are spread: enough to find the one of any rank by a look at a few of them.

use serde::{Deserialize, Serialize};

/// Buckets of a group.
const BUCKETS_LOG: u32 = 11;

/// Values that a 64-bit number orders, which may be the same for different ones.
pub(super) trait Ordinal: Copy + Ord + Default {
    fn ordinal(self) -> u64;
}

impl Ordinal for i32 {
    fn ordinal(self) -> u64 {
        u64::from(self as u32 ^ 1 << 31)
    }
}

impl Ordinal for i64 {
    fn ordinal(self) -> u64 {
        self as u64 ^ 1 << 63
    }
}

impl Ordinal for u64 {
    fn ordinal(self) -> u64 {
        self
    }
}

impl Ordinal for i128 {
    fn ordinal(self) -> u64 {
        (self.clamp(i64::MIN.into(), i64::MAX.into()) as i64).ordinal()
    }
}

/// How many values of a group lie in each of some ranges of equal width.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Buckets {
    least: u64,
    /// The width of a range, as a power of two.
    width_log: u32,
    counts: Vec<u64>,
}

impl Buckets {
    /// Those of the values in some slices.
    pub(super) fn of<'a, T: Ordinal + 'a>(slices: impl Iterator<Item = &'a [T]> + Clone) -> Self {
        let bounds = |slice: &[T]| Some((*slice.iter().min()?, *slice.iter().max()?));
        let bounds = slices.clone().filter_map(bounds).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        let (least, most) = bounds.map_or((0, 0), |(least, most)| (least.ordinal(), most.ordinal()));
        let width_log = (u64::BITS - (most - least).leading_zeros()).saturating_sub(BUCKETS_LOG);
        let mut counts = vec![0; 1 << BUCKETS_LOG];
        for &value in slices.flatten() {
            counts[((value.ordinal() - least) >> width_log) as usize] += 1;
        }
        Self { least, width_log, counts }
    }

    /// The value of a rank among those in the slices that the buckets are of.
    pub(super) fn ranked<'a, T: Ordinal + 'a>(
        &self,
        mut rank: usize,
        slices: impl Iterator<Item = &'a [T]>,
    ) -> Option<T> {
        let holds_rank = |&(_, &count): &(usize, &u64)| {
            let is_here = (rank as u64) < count;
            rank -= if is_here { 0 } else { count as usize };
            is_here
        };
        let (bucket, _) = self.counts.iter().enumerate().find(holds_rank)?;
        let is_of_bucket =
            |value: &T| (value.ordinal().wrapping_sub(self.least)).checked_shr(self.width_log) == Some(bucket as u64);
        let mut values: Vec<T> = slices.flatten().copied().filter(is_of_bucket).collect();
        (rank < values.len()).then(|| *values.select_nth_unstable(rank).1)
    }
}
