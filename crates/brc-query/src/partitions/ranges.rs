//! Finds the partition of a row: partitions are ranges of encoded keys, so that they can be output in sequence. A
//! sample determines where ranges are cut.

use crate::keys::encoding::bits_of;

/// The number of steps of equal width into which the values of a word are divided.
const STEP_BITS: u32 = 12;

/// Ranges of tuples.
#[derive(Debug)]
pub(super) struct Ranges {
    /// The words that all tuples of the sample begin with.
    prefix: Vec<u64>,
    /// The smallest word of the sample after them, and the width of a step, as a shift.
    low: u64,
    shift: u32,
    /// The partition of each step. What lies outside of all steps is of the first or the last.
    steps: Vec<u8>,
}

impl Ranges {
    /// At most so many ranges, 256 of them or fewer, that share tuples like these about equally. They do not
    /// depend on the `free` lower bits of the last word, which are 0 in the sample.
    pub(super) fn of(mut sample: Vec<&[u64]>, partitions: usize, free: u32) -> Self {
        sample.sort_unstable();
        let (Some(first), Some(last)) = (sample.first(), sample.last()) else { return Self::one() };
        let Some(word) = (0..first.len()).find(|&word| first[word] != last[word]) else { return Self::one() };
        let (low, span) = (first[word], last[word] - first[word]);
        let is_last = word + 1 == first.len();
        let shift = bits_of(span).saturating_sub(STEP_BITS).max(if is_last { free } else { 0 });
        let mut steps = vec![0; (span >> shift) as usize + 1];
        let mut before = 0;
        for (step, partition) in steps.iter_mut().enumerate() {
            // Where most of the sample is in a few steps, some partitions stay empty.
            *partition = (before * partitions.min(256) / sample.len()) as u8;
            while sample.get(before).is_some_and(|tuple| (tuple[word] - low) >> shift == step as u64) {
                before += 1;
            }
        }
        Self { prefix: first[..word].to_vec(), low, shift, steps }
    }

    /// A single range, of everything.
    fn one() -> Self {
        Self { prefix: Vec::new(), low: 0, shift: 0, steps: vec![0] }
    }

    /// How many ranges there are.
    pub(super) fn len(&self) -> usize {
        usize::from(self.last()) + 1
    }

    fn last(&self) -> u8 {
        self.steps.last().copied().unwrap_or(0)
    }

    /// The range of a tuple.
    #[inline(always)]
    pub(super) fn of_tuple(&self, tuple: &[u64]) -> u8 {
        match tuple[..self.prefix.len()].cmp(&self.prefix) {
            std::cmp::Ordering::Less => 0,
            std::cmp::Ordering::Equal => self.of_word(tuple[self.prefix.len()]),
            std::cmp::Ordering::Greater => self.last(),
        }
    }

    /// The range of a tuple by its first word, if the others do not matter.
    #[inline(always)]
    pub(super) fn of_first_words(&self) -> Option<impl Fn(u64) -> u8> {
        self.prefix.is_empty().then_some(|word| self.of_word(word))
    }

    /// The range of a tuple that begins as all of the sample do, by the next word.
    #[inline(always)]
    fn of_word(&self, word: u64) -> u8 {
        let step = word.saturating_sub(self.low) >> self.shift;
        self.steps.get(step as usize).map_or(self.last(), |partition| *partition)
    }

    /// The first words of the smallest tuple after a range; `None` if that is the last one.
    pub(super) fn end(&self, range: usize) -> Option<Vec<u64>> {
        let step = self.steps.partition_point(|&partition| usize::from(partition) <= range);
        let word = || self.low + ((step as u64) << self.shift);
        (step < self.steps.len()).then(|| self.prefix.iter().copied().chain([word()]).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tuple() -> impl Strategy<Value = Vec<u64>> {
        let word = prop_oneof![Just(7u64), 0u64..40, any::<u64>()];
        (prop_oneof![4 => Just(7u64), 1 => 5u64..9, 1 => any::<u64>()], word).prop_map(|(one, two)| vec![one, two])
    }

    proptest! {
        #[test]
        fn ranges_are_in_order(
            sample in prop::collection::vec(tuple(), 0..60),
            mut tuples in prop::collection::vec(tuple(), 1..60),
            most in 1usize..300
        ) {
            let ranges = Ranges::of(sample.iter().map(Vec::as_slice).collect(), most, 0);
            prop_assert!(ranges.len() <= most.min(256));
            tuples.extend(sample);
            tuples.sort();
            let found: Vec<usize> = tuples.iter().map(|tuple| ranges.of_tuple(tuple).into()).collect();
            prop_assert!(found.is_sorted() && found.iter().all(|&range| range < ranges.len()));
            for (tuple, &found) in tuples.iter().zip(&found) {
                for range in 0..ranges.len() {
                    let is_behind = ranges.end(range).is_some_and(|end| end <= *tuple);
                    prop_assert_eq!(is_behind, range < found, "{:?} {} {}", tuple, range, found);
                }
            }
        }
    }

    #[test]
    fn ranges_reach_up_to_the_largest_word() {
        let ranges = Ranges::of(vec![&[1], &[u64::MAX]], 2, 0);
        assert_eq!([0, 1].map(|range| ranges.end(range).is_some()), [true, false]);
        assert_eq!([[1], [u64::MAX]].map(|tuple| ranges.of_tuple(&tuple)), [0, 1]);
    }

    #[test]
    fn ranges_do_not_look_at_free_bits() {
        let sample: Vec<[u64; 1]> = [3, 4, 5, 6].map(|key| [key << 20]).to_vec();
        let ranges = Ranges::of(sample.iter().map(<[u64; 1]>::as_slice).collect(), 4, 20);
        let lasts = [3, 4, 5, 6].map(|key| [key << 20 | 0xf_ffff]);
        assert_eq!(sample.iter().map(|tuple| ranges.of_tuple(tuple)).collect::<Vec<_>>(), [0, 1, 2, 3]);
        assert_eq!(lasts.map(|tuple| ranges.of_tuple(&tuple)), [0, 1, 2, 3]);
    }

    #[test]
    fn ranges_share_a_sample() {
        let sample: Vec<[u64; 2]> = (0..10_000u64).map(|number| [1, number * number]).collect();
        let ranges = Ranges::of(sample.iter().map(<[u64; 2]>::as_slice).collect(), 100, 0);
        let mut counts = vec![0; 100];
        sample.iter().for_each(|tuple| counts[usize::from(ranges.of_tuple(tuple))] += 1);
        assert!(counts.iter().all(|count| (50..200).contains(count)), "{counts:?}");
    }
}
