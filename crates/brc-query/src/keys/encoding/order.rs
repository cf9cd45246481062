//! Sorts tuples by one word each: the first bits in which tuples differ, and the number of the tuple. Whole tuples are
//! compared only where these bits are equal.

use super::bits::bits_of;

/// Fewer words are not worth counting.
const MIN_WORDS_FOR_RADIX_SORT: usize = 512;

/// Words are radix-sorted by this many of their upper bits, least significant digit first. That sorts millions of
/// groups except for a few neighbours.
const UPPER: u32 = 24;

/// From this many words on, there is more to gain from one pass of scattering less than to lose by counting larger
/// digits.
const MIN_WORDS_FOR_LARGE_DIGITS: usize = 1 << 14;

/// Memory for what is sorted, used again for the next tuples.
#[derive(Debug, Default)]
pub(crate) struct Sorting {
    words: Vec<u64>,
    partitioned: Vec<u64>,
}

impl Sorting {
    /// Sorts words.
    pub(crate) fn sort(&mut self, words: &mut Vec<u64>) {
        let Some(&first) = words.first() else { return };
        let differing = words.iter().fold(0, |differing, word| differing | (word ^ first));
        sort(words, &mut self.partitioned, differing.leading_zeros());
    }

    /// The numbers of contiguous tuples of `width` words, in the order of the tuples; equal tuples stay in the order of
    /// their numbers.
    pub(crate) fn order_of(&mut self, tuples: &[u64], width: usize, order: &mut Vec<u32>) {
        order.clear();
        let Some(first) = tuples.get(..width) else { return };
        let count = tuples.len() / width;
        let for_numbers = bits_of(count as u64 - 1);
        let number = |entry: u64| (entry & ((1 << for_numbers) - 1)) as usize;
        let differing = |word: usize| {
            tuples[word..].iter().step_by(width).fold(0, |differing, other| differing | (other ^ first[word]))
        };
        let above = (0..width).map(|word| (word, differing(word))).find(|(_, differing)| *differing != 0);
        let Some((word, above)) = above.map(|(word, differing)| (word, differing.leading_zeros())) else {
            order.extend(0..count as u32);
            return;
        };
        self.words.clear();
        let entry = |upper: u64, number: u64| upper >> for_numbers << for_numbers | number;
        match width {
            1 => self.words.extend(tuples.iter().zip(0..).map(|(tuple, number)| entry(tuple << above, number))),
            _ => self.words.extend(tuples.chunks_exact(width).zip(0..).map(|(tuple, number)| {
                let below = if above > 0 && word + 1 < width { tuple[word + 1] >> (64 - above) } else { 0 };
                entry(tuple[word] << above | below, number)
            })),
        }
        sort(&mut self.words, &mut self.partitioned, 0);
        let tuple = |entry: &u64| &tuples[number(*entry) * width..][..width];
        for same in self.words.chunk_by_mut(|one, other| one >> for_numbers == other >> for_numbers) {
            if same.len() > 1 {
                same.sort_by(|one, other| tuple(one).cmp(tuple(other)));
            }
        }
        order.extend(self.words.iter().map(|&entry| number(entry) as u32));
    }
}

/// Sorts words that differ in the bits below this many upper ones.
fn sort(words: &mut Vec<u64>, partitioned: &mut Vec<u64>, above: u32) {
    if words.len() < MIN_WORDS_FOR_RADIX_SORT {
        return words.sort_unstable();
    }
    let below = (64 - UPPER).saturating_sub(above);
    match words.len() < MIN_WORDS_FOR_LARGE_DIGITS {
        true => scatter::<256, 3>(words, partitioned, below),
        false => scatter::<4096, 2>(words, partitioned, below),
    }
    for same in words.chunk_by_mut(|one, other| one >> below == other >> below) {
        if same.len() > 1 {
            same.sort_unstable();
        }
    }
}

/// Sorts words by `DIGITS` digits of `VALUES` values each, of which the lowest begins above the `below` lowest bits.
fn scatter<const VALUES: usize, const DIGITS: usize>(words: &mut Vec<u64>, partitioned: &mut Vec<u64>, below: u32) {
    const { assert!(VALUES.pow(DIGITS as u32) == 1 << UPPER) };
    let digit = |word: u64, place: usize| (word >> (below + VALUES.ilog2() * place as u32)) as usize % VALUES;
    let mut places = [[0u32; VALUES]; DIGITS];
    for &word in words.iter() {
        (0..DIGITS).for_each(|place| places[place][digit(word, place)] += 1);
    }
    partitioned.resize(words.len(), 0);
    for (place, places) in places.iter_mut().enumerate() {
        let mut start = 0;
        places.iter_mut().for_each(|count| start += std::mem::replace(count, start));
        for &word in words.iter() {
            let next = &mut places[digit(word, place)];
            partitioned[*next as usize] = word;
            *next += 1;
        }
        std::mem::swap(words, partitioned);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn tuples_are_sorted_however_many_bits_differ(
            tuples in prop::collection::vec((any::<u64>(), any::<u64>(), any::<u64>()), 0..40),
            above in 0u32..128, below in 0u32..128, width in 1usize..4, times in prop_oneof![9 => 1usize..40, 1 => 1000usize..2000]
        ) {
            let bits = |word: u64| {
                let word = if above < 64 { word >> above } else { 7 };
                if below < 64 { word << below } else { word & 3 }
            };
            let tuples = tuples.into_iter().map(|(one, two, three)| [bits(one), bits(two), three][..width].to_vec());
            let tuples: Vec<Vec<u64>> = tuples.collect();
            let tuples: Vec<Vec<u64>> = (0..times).flat_map(|_| tuples.clone()).collect();
            let mut expected: Vec<u32> = (0..tuples.len() as u32).collect();
            expected.sort_by_key(|&number| &tuples[number as usize]);
            let mut order = vec![7];
            Sorting::default().order_of(&tuples.concat(), width, &mut order);
            prop_assert_eq!(order, expected);
            let mut words: Vec<u64> = tuples.iter().map(|tuple| tuple[0]).collect();
            let mut expected = words.clone();
            expected.sort_unstable();
            Sorting::default().sort(&mut words);
            prop_assert_eq!(words, expected);
        }
    }
}
