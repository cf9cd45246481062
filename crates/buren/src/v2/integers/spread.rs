//! How far some integers lie apart, and so in how many bits they are packed best.
//!
//! The smallest and the largest are exact. How the others lie between them is known from a sample, one integer of each of
//! up to 1,024 equal parts, at a place that only depends on the part: the same integers always give the same bytes.

use brc_kernels::arithmetic::profile;
use brc_kernels::bitpack::{packed_bytes, width_of};
use brc_kernels::cpu::Level;

/// The largest number of integers in a sample.
const SAMPLE: usize = 1024;

/// Fewer integers than these are packed without exceptions.
const FEW: usize = 512;

/// What is known of some integers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Spread {
    /// How many there are.
    pub(super) count: usize,
    /// The smallest.
    pub(super) min: i64,
    /// The largest minus the smallest.
    pub(super) range: u64,
    /// A sample of them minus the smallest, in ascending order.
    pub(super) sample: Vec<u64>,
}

/// Which bits of the integers are packed: of each its difference from `frame`, if that has no more than `width` bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) frame: i64,
    pub(super) width: u32,
    /// The estimated size of the packed integers and of those that do not fit, in bytes.
    pub(super) bytes: u64,
}

impl Spread {
    /// Of these integers.
    pub(super) fn of(values: &[i64]) -> Self {
        let profile = profile(Level::best(), values);
        Self::new(values.len(), profile.min, profile.max, positions(values.len()).map(|row| values[row]))
    }

    /// Of `count` integers of which these three things are known.
    pub(super) fn new(count: usize, min: i64, max: i64, sample: impl Iterator<Item = i64>) -> Self {
        if count == 0 {
            return Self { count, min: 0, range: 0, sample: Vec::new() };
        }
        let mut sample: Vec<_> = sample.map(|value| value.wrapping_sub(min) as u64).collect();
        sample.sort_unstable();
        Self { count, min, range: max.wrapping_sub(min) as u64, sample }
    }

    /// Of the integers' distances from `base`, divided by a common divisor of them.
    pub(super) fn divided(&self, base: i64, divisor: u64) -> Self {
        Self {
            count: self.count,
            min: (self.min.wrapping_sub(base) as u64 / divisor) as i64,
            range: self.range / divisor,
            sample: self.sample.iter().map(|offset| offset / divisor).collect(),
        }
    }

    /// What packs all integers.
    pub(super) fn everything(&self) -> Window {
        let width = width_of(self.range);
        Window { frame: self.min, width, bytes: size(width, self.count) }
    }

    /// What packs the integers in the fewest bytes; everything, if leaving out some saves less than 2 %.
    pub(super) fn best(&self) -> Window {
        let everything = self.everything();
        let mut best = everything;
        if self.count < FEW {
            return best;
        }
        for width in (0..everything.width).rev() {
            let span = (1u64 << width) - 1;
            let (start, covered) = self.densest(span);
            let missed = self.sample.len() - covered;
            if missed * 4 > self.sample.len() {
                break;
            }
            let exceptions = (missed as u64 * self.count as u64).div_ceil(self.sample.len() as u64);
            let bytes = size(width, self.count) + 8 + exceptions * self.exception_bytes(start, start + covered);
            if bytes < best.bytes {
                // What the sampled ones leave of the window is shared by both its ends.
                let slack = span - (self.sample[start + covered - 1] - self.sample[start]);
                let offset = self.sample[start].saturating_sub(slack / 2);
                best = Window { frame: self.min.wrapping_add(offset as i64), width, bytes };
            }
        }
        if best.bytes * 100 < everything.bytes * 98 { best } else { everything }
    }

    /// The bytes of a position and a value outside of this part of the sample.
    fn exception_bytes(&self, start: usize, end: usize) -> u64 {
        let lowest = if start > 0 { 0 } else { self.sample.get(end).copied().unwrap_or(self.range) };
        let highest = if end < self.sample.len() { self.range } else { self.sample[start.saturating_sub(1)] };
        2 + u64::from(width_of(highest.saturating_sub(lowest)).div_ceil(8))
    }

    /// Where in the sample the most integers lie no more than `span` apart, and how many.
    fn densest(&self, span: u64) -> (usize, usize) {
        let (mut low, mut best) = (0, (0, 0));
        for (high, offset) in self.sample.iter().enumerate() {
            while offset - self.sample[low] > span {
                low += 1;
            }
            if high + 1 - low > best.1 {
                best = (low, high + 1 - low);
            }
        }
        best
    }
}

fn size(width: u32, count: usize) -> u64 {
    packed_bytes(width, count as u64).unwrap_or(u64::MAX / 4)
}

/// The rows that are sampled of `count`, ascending.
pub(in crate::v2) fn positions(count: usize) -> impl Iterator<Item = usize> {
    let parts = count.min(SAMPLE);
    (0..parts).map(move |part| {
        let (start, end) = (part * count / parts, (part + 1) * count / parts);
        start + (mixed(part as u64) % (end - start) as u64) as usize
    })
}

/// A number that looks random: the finish of SplitMix64.
fn mixed(seed: u64) -> u64 {
    let mixed = (seed.wrapping_add(1)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed ^ mixed >> 31) >> 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_spread_evenly() {
        for count in [0, 1, 5, 1024, 1025, 65_536] {
            let rows: Vec<_> = positions(count).collect();
            assert_eq!(rows.len(), count.min(SAMPLE));
            assert!(rows.windows(2).all(|pair| pair[0] < pair[1]) && rows.iter().all(|&row| row < count));
        }
    }

    #[test]
    fn few_far_integers_are_left_out() {
        let values: Vec<i64> = (0..65_536).map(|row| if row % 100 == 7 { -5_000_000_000 } else { row % 250 }).collect();
        let window = Spread::of(&values).best();
        assert_eq!((window.frame.clamp(-6, 0), window.width), (window.frame, 8));
        let even: Vec<i64> = (0..65_536).map(|row| row % 250).collect();
        assert_eq!(Spread::of(&even).best(), Spread::of(&even).everything());
        assert_eq!(Spread::of(&[i64::MIN, i64::MAX]).everything().width, 64);
    }
}
