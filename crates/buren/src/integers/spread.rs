//! The distribution of integers, and from it the number of bits in which they are packed best.
//!
//! Minimum and maximum are exact. The values between are known from a sample: one integer from each of up to 1,024
//! equal sections, at a position that depends only on the section, so that the same integers always give the same
//! bytes.

use crate::integer_slice::{IntegerSlice, for_widths};
use brc_kernels::arithmetic::Integer;
use brc_kernels::bitpack::{packed_bytes, width_of};
use std::ops::Range;

/// The maximum size of a sample.
const SAMPLE: usize = 1024;

/// Fewer integers than this are packed without exceptions.
const MIN_WITH_EXCEPTIONS: usize = 512;

/// The number of high bits that divide the range of a sample into buckets.
const BUCKET_BITS: u32 = 6;

/// The distribution of some integers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Spread {
    /// The number of integers.
    pub(super) count: usize,
    /// The minimum.
    pub(super) min: i64,
    /// The maximum minus the minimum.
    pub(super) range: u64,
    /// A sample of the integers minus the minimum.
    pub(super) sample: Vec<u64>,
}

/// The range of integers that are packed: those whose difference from `frame` fits `width` bits. The others are
/// exceptions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PackedRange {
    pub(super) frame: i64,
    pub(super) width: u32,
    /// The estimated size of packed integers and exceptions, in bytes.
    pub(super) bytes: u64,
    /// Whether all integers are in the range, so that there are no exceptions.
    pub(super) is_full: bool,
}

impl Spread {
    /// Computes the distribution of these integers.
    pub(super) fn of(values: IntegerSlice<'_>) -> Self {
        let profile = values.profile();
        for_widths!(values, values => {
            let sample = positions(values.len()).map(|row| values[row].wide());
            Self::new(values.len(), profile.min, profile.max, sample)
        })
    }

    /// The distribution of `count` integers with this minimum, maximum and sample.
    pub(super) fn new(count: usize, min: i64, max: i64, sample: impl Iterator<Item = i64>) -> Self {
        if count == 0 {
            return Self { count, min: 0, range: 0, sample: Vec::new() };
        }
        let sample = sample.map(|value| value.wrapping_sub(min) as u64).collect();
        Self { count, min, range: max.wrapping_sub(min) as u64, sample }
    }

    /// The distribution of the differences from `base` divided by a common divisor.
    pub(super) fn divided(&self, base: i64, divisor: u64) -> Self {
        Self {
            count: self.count,
            min: (self.min.wrapping_sub(base) as u64 / divisor) as i64,
            range: self.range / divisor,
            sample: self.sample.iter().map(|offset| offset / divisor).collect(),
        }
    }

    /// The range of all integers.
    pub(super) fn full(&self) -> PackedRange {
        let width = width_of(self.range);
        PackedRange { frame: self.min, width, bytes: size(width, self.count), is_full: true }
    }

    /// The range that packs the integers in the fewest bytes; all integers if exceptions save less than 2 %.
    pub(super) fn best(&self) -> PackedRange {
        let full = self.full();
        if self.count < MIN_WITH_EXCEPTIONS || !self.may_have_exceptions(full.width) {
            return full;
        }
        self.best_range(full)
    }

    /// Whether exceptions may save anything, found out without sorting the sample, because mostly they do not.
    ///
    /// An exception takes at least two bytes. So if integers are packed in `less` fewer bits, at most one in `16 /
    /// less` may be an exception, and never more than a quarter of all.
    fn may_have_exceptions(&self, width: u32) -> bool {
        let (before, all) = (self.counted(width), self.sample.len());
        (1..=BUCKET_BITS).any(|less| max_packed(&before, less) >= all - all * less.min(4) as usize / 16)
    }

    /// The number of sampled integers before each bucket of a range of `width` bits, and the total.
    fn counted(&self, width: u32) -> [usize; (1 << BUCKET_BITS) + 1] {
        let shift = width.saturating_sub(BUCKET_BITS);
        let mut counts = [0; 1 << BUCKET_BITS];
        self.sample.iter().for_each(|offset| counts[(offset >> shift) as usize] += 1);
        let mut before = [0; (1 << BUCKET_BITS) + 1];
        for (bucket, count) in counts.iter().enumerate() {
            before[bucket + 1] = before[bucket] + count;
        }
        before
    }

    /// A lower bound for the size of [`Spread::best`], as fast to compute as [`Spread::may_have_exceptions`]: at least
    /// three quarters of the integers are packed, and each exception takes two bytes.
    pub(super) fn min_bytes(&self) -> u64 {
        let width = width_of(self.range);
        if self.count < MIN_WITH_EXCEPTIONS || width <= BUCKET_BITS {
            return if self.count < MIN_WITH_EXCEPTIONS { self.full().bytes } else { 0 };
        }
        let (before, all) = (self.counted(width), self.sample.len());
        let of_width = |less: u32| {
            let exceptions = all - max_packed(&before, less);
            (exceptions * 4 <= all).then(|| match less {
                // Widths this small are not distinguished.
                BUCKET_BITS => 0,
                _ => size(width - less, self.count) + 2 * (exceptions * self.count / all) as u64,
            })
        };
        (0..=BUCKET_BITS).map_while(of_width).min().unwrap_or(0)
    }

    fn best_range(&self, full: PackedRange) -> PackedRange {
        let mut best = full;
        let (sample, count) = (Ascending::of(&self.sample, self.range), self.sample.len());
        for width in (0..full.width).rev() {
            let span = (1u64 << width) - 1;
            let (start, covered) = sample.densest(span);
            let missed = count - covered;
            if missed * 4 > count {
                break;
            }
            let exceptions = (missed as u64 * self.count as u64).div_ceil(count as u64);
            let of_exception = exception_bytes(&sample, start..start + covered, (count, self.range));
            let bytes = size(width, self.count) + 8 + exceptions * of_exception;
            if bytes < best.bytes {
                // The unused part of the range is divided evenly between both ends of the sampled integers.
                let first = sample.get(start);
                let slack = span - (sample.get(start + covered - 1) - first);
                let offset = first.saturating_sub(slack / 2);
                best = PackedRange { frame: self.min.wrapping_add(offset as i64), width, bytes, is_full: false };
            }
        }
        if best.bytes * 100 < full.bytes * 98 { best } else { full }
    }
}

/// The maximum number of sampled integers that fit a range `less` bits narrower than all, wherever it starts, given the
/// number of integers before each bucket.
fn max_packed(before: &[usize], less: u32) -> usize {
    let buckets = ((1 << (BUCKET_BITS - less)) + 1).min(before.len() - 1);
    before.iter().zip(&before[buckets..]).map(|(start, end)| end - start).max().unwrap_or(0)
}

/// A sample in ascending order.
enum Ascending {
    Sorted(Vec<u64>),
    /// The number of integers below each number from 0 to the maximum plus 1: faster for small ranges.
    Counted(Vec<i16>),
}

impl Ascending {
    /// Sorts a sample of integers in `0..=range`.
    fn of(sample: &[u64], range: u64) -> Self {
        const MAX_COUNTED: u64 = 1 << 12;
        if range >= MAX_COUNTED {
            let mut sorted = sample.to_vec();
            sorted.sort_unstable();
            return Self::Sorted(sorted);
        }
        let mut below = vec![0; range as usize + 2];
        sample.iter().for_each(|&offset| below[offset as usize + 1] += 1);
        let mut count = 0;
        for below in &mut below {
            count += *below;
            *below = count;
        }
        Self::Counted(below)
    }

    fn get(&self, index: usize) -> u64 {
        match self {
            Self::Sorted(sorted) => sorted[index],
            Self::Counted(below) => below.partition_point(|&below| below as usize <= index) as u64 - 1,
        }
    }

    /// The densest range of width `span`, which is less than the full range: the index of its first integer, and the
    /// number of integers.
    fn densest(&self, span: u64) -> (usize, usize) {
        match self {
            Self::Sorted(sorted) => {
                let (mut low, mut best) = (0, (0, 0));
                for (high, offset) in sorted.iter().enumerate() {
                    while offset - sorted[low] > span {
                        low += 1;
                    }
                    if high + 1 - low > best.1 {
                        best = (low, high + 1 - low);
                    }
                }
                best
            }
            Self::Counted(below) => {
                let of_window = || below.iter().zip(&below[span as usize + 1..]).map(|(start, end)| end - start);
                let most = of_window().fold(0, i16::max);
                let first = of_window().position(|count| count == most).unwrap_or(0);
                (below[first] as usize, most as usize)
            }
        }
    }
}

/// The bytes of an exception (row number and value) outside `part` of an ascending sample of `count` integers up to
/// `range`.
fn exception_bytes(sample: &Ascending, part: Range<usize>, (count, range): (usize, u64)) -> u64 {
    let lowest = match part.start > 0 {
        true => 0,
        false if part.end < count => sample.get(part.end),
        false => range,
    };
    let highest = if part.end < count { range } else { sample.get(part.start.saturating_sub(1)) };
    2 + u64::from(width_of(highest.saturating_sub(lowest)).div_ceil(8))
}

fn size(width: u32, count: usize) -> u64 {
    packed_bytes(width, count as u64).unwrap_or(u64::MAX / 4)
}

/// The rows that are sampled of `count`, ascending.
pub(crate) fn positions(count: usize) -> impl Iterator<Item = usize> {
    /// One pseudo-random number per section.
    static MIXED: [u64; SAMPLE] = {
        let (mut all, mut part) = ([0; SAMPLE], 0);
        while part < SAMPLE {
            all[part] = mixed(part as u64);
            part += 1;
        }
        all
    };
    (0..count.min(SAMPLE)).map(move |part| {
        if count <= SAMPLE {
            return part;
        }
        let (start, end) = (part * count / SAMPLE, (part + 1) * count / SAMPLE);
        let (span, mixed) = ((end - start) as u64, MIXED[part]);
        // A fast path for nearly all sections.
        start + if span.is_power_of_two() { mixed & (span - 1) } else { mixed % span } as usize
    })
}

/// A pseudo-random number: the finalizer of SplitMix64.
const fn mixed(seed: u64) -> u64 {
    let mixed = (seed.wrapping_add(1)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed ^ mixed >> 31) >> 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn samples_are_spread_evenly() {
        for count in [0, 1, 5, 1024, 1025, 65_536] {
            let rows: Vec<_> = positions(count).collect();
            assert_eq!(rows.len(), count.min(SAMPLE));
            assert!(rows.windows(2).all(|pair| pair[0] < pair[1]) && rows.iter().all(|&row| row < count));
        }
    }

    proptest! {
        #[test]
        fn quick_checks_agree_with_the_full_search(
            near in prop::collection::vec(any::<u64>(), MIN_WITH_EXCEPTIONS..2000),
            shifts in (0u32..64, 0u32..64),
            share in 1u64..100,
        ) {
            let value = |offset: &u64| (offset >> if offset.is_multiple_of(share) { shifts.0 } else { shifts.1 }) as i64;
            let values: Vec<i64> = near.iter().map(value).collect();
            let spread = Spread::of((&values).into());
            let full = spread.full();
            prop_assert_eq!(spread.best(), spread.best_range(full));
            prop_assert!(spread.min_bytes() <= spread.best().bytes);
        }
    }

    proptest! {
        #[test]
        fn sorted_and_counted_samples_agree(offsets in prop::collection::vec(0u64..300, 1..1024), span in 0u64..299) {
            let counted = Ascending::of(&offsets, 300);
            prop_assert!(matches!(counted, Ascending::Counted(_)));
            let mut sorted = offsets;
            sorted.sort_unstable();
            prop_assert!((0..sorted.len()).all(|index| counted.get(index) == sorted[index]));
            prop_assert_eq!(counted.densest(span), Ascending::Sorted(sorted).densest(span));
        }
    }

    #[test]
    fn few_outliers_become_exceptions() {
        let values: Vec<i64> = (0..65_536).map(|row| if row % 100 == 7 { -5_000_000_000 } else { row % 250 }).collect();
        let range = Spread::of((&values).into()).best();
        assert_eq!((range.frame.clamp(-6, 0), range.width), (range.frame, 8));
        let even: Vec<i64> = (0..65_536).map(|row| row % 250).collect();
        assert_eq!(Spread::of((&even).into()).best(), Spread::of((&even).into()).full());
        assert_eq!(Spread::of((&[i64::MIN, i64::MAX]).into()).full().width, 64);
    }
}
