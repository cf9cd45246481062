//! A deterministic sample of a column: short runs of adjacent values from all over it.

use super::{StringBuffer, Strings};

/// The number of adjacent values sampled together.
const RUN: usize = 64;

/// A sample of about `bytes` bytes, with one run from each of several equal sections of the column; all values if they
/// are not larger.
pub(super) fn sample(values: Strings<'_>, bytes: usize) -> StringBuffer {
    let total = values.total_bytes();
    if total <= bytes {
        return values.iter().collect();
    }
    let share = values.len() as u64 * bytes as u64 / total as u64;
    let parts = (share as usize / RUN).max(1);
    let mut random = Random(0x6275_7265_6e00_0002);
    let mut sampled = StringBuffer::default();
    let mut left = bytes;
    for part in 0..parts {
        let (from, to) = (values.len() * part / parts, values.len() * (part + 1) / parts);
        let room = (to - from).saturating_sub(RUN) as u64;
        let start = from + random.below(room + 1) as usize;
        for row in start..to.min(start + RUN) {
            let value = values.get(row);
            // Only a value longer than the whole sample is truncated: half an address is not an address.
            if value.len() > left && !sampled.strings().is_empty() {
                continue;
            }
            sampled.push(&value[..value.len().min(left)]);
            left = left.saturating_sub(value.len());
        }
    }
    sampled
}

/// A pseudo-random number generator (SplitMix64).
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((u128::from(mixed ^ (mixed >> 31)) * u128::from(end)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_values_longer_than_the_sample_are_truncated() {
        let values: Vec<String> = (0..50_000u32).map(|row| format!("10.{}.{}.1", row % 256, row / 256)).collect();
        let values: StringBuffer = values.iter().map(String::as_bytes).collect();
        for bytes in 1000..1100 {
            let sampled = sample(values.strings(), bytes);
            assert!(sampled.strings().total_bytes() <= bytes);
            assert!(sampled.strings().iter().all(|value| value.ends_with(b".1")));
        }
        let long: StringBuffer = [&[b'x'; 5000][..], b"y"].into_iter().collect();
        assert_eq!(sample(long.strings(), 100).strings().total_bytes(), 100);
    }
}
