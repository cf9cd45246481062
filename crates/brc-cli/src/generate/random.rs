//! Random numbers that depend only on a seed: the same on every machine and for every number of threads.
//!
//! Each block of rows has a stream of its own. Only exact arithmetic is used, because the last bit of a library's `exp`
//! or `ln` differs between systems.

/// A stream of random 64-bit numbers (the "wyrand" generator: one addition and one multiplication each).
pub(super) struct Random {
    state: u64,
}

impl Random {
    /// Creates the stream with the given number and seed.
    pub(super) fn new(seed: u64, stream: u64) -> Self {
        Self { state: mix(mix(seed) ^ stream) }
    }

    /// The next number.
    #[inline]
    pub(super) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0xa076_1d64_78bd_642f);
        let product = u128::from(self.state) * u128::from(self.state ^ 0xe703_7ed1_a0b4_28db);
        (product >> 64) as u64 ^ product as u64
    }

    /// A uniform number below `end`.
    #[inline]
    pub(super) fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(end)) >> 64) as u64
    }
}

/// Draws ranks starting from 0, each with probability proportional to 1 / (1 + rank): Zipf's law with exponent 1.
///
/// It first draws a range from 2ⁿ to 2ⁿ⁺¹; all ranges are about equally likely. Within the range it draws uniformly and
/// accepts by rejection sampling.
pub(super) struct Zipf {
    count: u64,
    /// The total weight of all ranges; each but the last has weight [`RANGE`].
    weight: u64,
}

/// The weight of a whole range.
const RANGE: u64 = 1 << 32;

impl Zipf {
    /// A distribution over `count` ranks; `count` is at least 1.
    pub(super) fn new(count: u64) -> Self {
        let ranges = u64::from(count.ilog2());
        let last = (u128::from(count - (1 << ranges) + 1) * u128::from(RANGE)) >> ranges;
        Self { count, weight: ranges * RANGE + last as u64 }
    }

    /// Draws a rank below `count`.
    pub(super) fn draw(&self, random: &mut Random) -> u64 {
        loop {
            let range = 1 << (random.below(self.weight) / RANGE);
            let width = range.min(self.count - range + 1);
            let number = range + random.below(width);
            if random.below(number) < range {
                return number - 1;
            }
        }
    }
}

/// Mixes the bits of a number (the finaliser of "splitmix64").
pub(super) fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Normally distributed integers with mean 0, by Walker's alias method: one table lookup per draw.
pub(super) struct Normal {
    slots: Box<[Slot; SLOTS]>,
}

/// A slot of the alias table: draws below `threshold` give the first number, others the second.
#[derive(Clone, Copy, Default)]
struct Slot {
    threshold: u32,
    numbers: [i16; 2],
}

const SLOT_BITS: u32 = 11;
const SLOTS: usize = 1 << SLOT_BITS;
/// The share of each slot in the 2³² equally likely draws.
const SHARE: u32 = 1 << (32 - SLOT_BITS);

impl Normal {
    /// A distribution with the given standard deviation, up to about 150: numbers lie between -1024 and 1023.
    pub(super) fn new(deviation: u16) -> Self {
        let weights = weights(deviation);
        let mut slots = Box::new([Slot::default(); SLOTS]);
        let mut left: Vec<u64> = weights.to_vec();
        let (mut small, mut large): (Vec<usize>, Vec<usize>) =
            (0..SLOTS).partition(|&slot| left[slot] < u64::from(SHARE));
        while let Some(slot) = small.pop() {
            // The weights sum to the total of all shares, so if one is below its share, another is above.
            let Some(&donor) = large.last() else { break };
            slots[slot] = Slot { threshold: left[slot] as u32, numbers: [number(slot), number(donor)] };
            left[donor] -= u64::from(SHARE) - left[slot];
            if left[donor] < u64::from(SHARE) {
                large.pop();
                small.push(donor);
            }
        }
        for slot in large {
            slots[slot] = Slot { threshold: SHARE, numbers: [number(slot); 2] };
        }
        Self { slots }
    }

    /// Maps 32 random bits to a number.
    #[inline]
    pub(super) fn pick(&self, random: u32) -> i16 {
        let slot = &self.slots[(random >> (32 - SLOT_BITS)) as usize];
        // Selected by index, because a branch would be mispredicted too often.
        slot.numbers[usize::from(random & (SHARE - 1) >= slot.threshold)]
    }
}

fn number(slot: usize) -> i16 {
    slot as i16 - (SLOTS / 2) as i16
}

/// The number of draws out of 2³² that give each number: `exp(-k²/2σ²)`, scaled. Each weight follows from the previous
/// one by a factor of `exp(-(2k+1)/2σ²)`, so a short power series and multiplications suffice.
fn weights(deviation: u16) -> [u64; SLOTS] {
    let x = -1.0 / (2.0 * f64::from(deviation) * f64::from(deviation));
    let step = 1.0 + x * (1.0 + x / 2.0 * (1.0 + x / 3.0 * (1.0 + x / 4.0)));
    let half = SLOTS / 2;
    let mut densities = [0.0; SLOTS];
    let (mut density, mut ratio) = (1.0, step);
    for distance in 0..half {
        densities[half + distance] = density;
        densities[half - distance] = density;
        density *= ratio;
        ratio *= step * step;
    }
    let sum: f64 = densities.iter().sum();
    let all = u64::from(SHARE) * SLOTS as u64;
    let mut weights = densities.map(|density| (density / sum * all as f64) as u64);
    weights[half] += all - weights.iter().sum::<u64>();
    weights
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_reproducible_and_differ() {
        let first = |seed, stream| Random::new(seed, stream).next();
        assert_eq!(first(0, 0), first(0, 0));
        assert_ne!(first(0, 0), first(0, 1));
        assert_ne!(first(0, 1), first(1, 0));
        let mut random = Random::new(1, 2);
        let numbers: Vec<u64> = (0..1000).map(|_| random.below(10)).collect();
        assert!((0..10).all(|number| numbers.contains(&number)));
    }

    #[test]
    fn the_alias_table_gives_every_number_its_weight() {
        for deviation in [70, 100] {
            let mut mass = [0u64; SLOTS];
            for slot in Normal::new(deviation).slots.iter() {
                mass[(slot.numbers[0] + (SLOTS / 2) as i16) as usize] += u64::from(slot.threshold);
                mass[(slot.numbers[1] + (SLOTS / 2) as i16) as usize] += u64::from(SHARE - slot.threshold);
            }
            assert_eq!(mass, weights(deviation));
        }
    }

    #[test]
    fn the_distribution_is_normal() {
        let weights = weights(100);
        let half = (SLOTS / 2) as f64;
        let share = |index: usize| weights[index] as f64 / 4_294_967_296.0;
        let variance: f64 = (0..SLOTS).map(|index| (index as f64 - half).powi(2) * share(index)).sum();
        assert!((variance.sqrt() - 100.0).abs() < 0.001, "{variance}");
        let within_one: f64 = (924..=1124).map(share).sum();
        assert!((within_one - 0.6851).abs() < 0.0005, "{within_one}");
    }
}
