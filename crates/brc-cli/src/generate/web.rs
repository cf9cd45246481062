//! URLs and search words, shared by `uservisits` and `rankings`.

use super::random::mix;

/// A table of letter pairs, indexed by ten random bits.
pub(super) struct Letters(Box<[[u8; 2]; 1024]>);

const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

impl Letters {
    pub(super) fn new() -> Self {
        Self(Box::new(std::array::from_fn(|bits| [ALPHABET[bits / 32], ALPHABET[bits % 32]])))
    }

    /// Appends `count` letters that are determined by `number`.
    #[inline]
    pub(super) fn write(&self, number: u64, count: usize, out: &mut Vec<u8>) {
        let mut letters = [0; 36];
        let (mut number, mut bits) = (number, mix(number));
        for (index, pair) in letters.chunks_exact_mut(2).enumerate() {
            if index * 2 >= count {
                break;
            }
            if index > 0 && index % 6 == 0 {
                number = number.wrapping_add(1 << 40);
                bits = mix(number);
            }
            pair.copy_from_slice(&self.0[(bits % 1024) as usize]);
            bits >>= 10;
        }
        out.extend_from_slice(&letters[..count]);
    }

    /// Appends the URL of a page, of 41 to 64 bytes.
    #[inline]
    pub(super) fn url(&self, seed: u64, page: u64, out: &mut Vec<u8>) {
        out.extend_from_slice(b"http://www.");
        self.write(mix(seed) ^ page, 12, out);
        out.extend_from_slice(b".com/");
        self.write(mix(seed.wrapping_add(1)) ^ page, 8 + (page % 24) as usize, out);
        out.extend_from_slice(b".html");
    }

    /// A word of 4 to 19 letters.
    pub(super) fn word(&self, seed: u64, word: u64) -> Vec<u8> {
        let mut out = Vec::new();
        self.write(mix(seed.wrapping_add(2)) ^ word, 4 + (word % 16) as usize, &mut out);
        out
    }
}

/// The number of pages for a number of visits.
pub(super) fn pages(visits: u64) -> u64 {
    (visits / 10).max(1)
}
