//! Finds the longest token that a text starts with.
//!
//! Tokens are kept in ascending order. The longest one that a text starts with is the last token that is not above the
//! text, or a prefix of that one: so a binary search finds it whatever the tokens look like, and as the search and what
//! follows hardly branch, it costs little that a text cannot be predicted.

use super::Strings;
use super::tokens::{LONGEST, MOST};
use std::hint::select_unpredictable as select;

/// Tokens in the order in which they are searched.
pub(super) struct Matcher {
    /// The bytes of each token as a number, the first byte in the highest place, zeros behind the last one.
    keys: Box<[u128; MOST]>,
    /// For each token, in bit *n*, whether its first *n* bytes are a token.
    prefixes: Box<[u32; MOST]>,
    /// For each token and each *n*, the code of its first *n* + 1 bytes, if they are a token.
    codes: Box<[[u16; LONGEST]; MOST]>,
    /// For each first two bytes, where the longest token is that is a prefix of them.
    short: Vec<u16>,
    ranges: Ranges,
}

impl Matcher {
    /// Takes all tokens in the order of their codes; every byte is one of them.
    pub(super) fn new<'a>(tokens: impl Iterator<Item = &'a [u8]>) -> Self {
        let tokens = tokens.map(|token| (key(token), token.len()));
        let mut sorted: Vec<_> = tokens.zip(0u16..).map(|((key, length), code)| (key, length, code)).collect();
        sorted.sort_unstable();
        let mut keys = Box::new([0; MOST]);
        let (mut prefixes, mut codes) = (Box::new([0; MOST]), Box::new([[0; LONGEST]; MOST]));
        // The tokens that the last one starts with, and itself: the shortest first.
        let mut within: Vec<(u128, usize, u16)> = Vec::new();
        for (at, &(key, length, code)) in sorted.iter().enumerate() {
            while within.last().is_some_and(|&(other, shorter, _)| common_bytes(other, key) < shorter) {
                within.pop();
            }
            within.push((key, length, code));
            keys[at] = key;
            for &(_, length, code) in &within {
                prefixes[at] |= 1 << length;
                codes[at][length - 1] = code;
            }
        }
        let mut short = vec![0; 1 << 16];
        for (at, &(key, length, _)) in (0u16..).zip(&sorted).filter(|(_, (_, length, _))| *length <= 2) {
            let pair = (key >> 112) as usize;
            short[pair..pair + (1 << (16 - 8 * length))].fill(at);
        }
        let ranges = Ranges::new(&keys[..sorted.len()]);
        Self { keys, prefixes, codes, short, ranges }
    }

    /// The code and the length of the longest token that a text, of which so many bytes count, starts with.
    #[inline(always)]
    fn longest(&self, text: u128, length: usize) -> (u16, usize) {
        let (mut at, mut count) = self.ranges.find(text);
        while count > 1 {
            let half = count / 2;
            let middle = (at + half) % MOST;
            at = select(self.keys[middle] <= text, middle, at);
            count -= half;
        }
        // Without a token of these three bytes that is not above the text, there is only a shorter one.
        let shorter = count == 0 || self.keys[at % MOST] > text;
        let at = select(shorter, usize::from(self.short[(text >> 112) as usize]), at) % MOST;
        let common = common_bytes(self.keys[at], text).min(length);
        let length = (self.prefixes[at] & ((2 << common) - 1)).ilog2() as usize;
        (self.codes[at][(length - 1) % LONGEST], length)
    }

    /// Cuts each value into tokens, always the longest that fits, and appends the codes of all.
    pub(super) fn parse(&self, values: Strings<'_>, codes: &mut Vec<i16>) {
        let offsets = values.offsets();
        let mut at = offsets[0] as usize;
        for &end in &offsets[1..] {
            while at < end as usize {
                let (code, length) = self.longest(text(values.bytes(), at), end as usize - at);
                codes.push(code as i16);
                at += length;
            }
        }
    }
}

/// The bytes from a place on. Those behind the value do no harm: no token is taken that is longer than what is left.
#[inline(always)]
fn text(bytes: &[u8], at: usize) -> u128 {
    match bytes[at..].first_chunk::<LONGEST>() {
        Some(text) => u128::from_be_bytes(*text),
        None => key(&bytes[at..]),
    }
}

/// Where in the order those tokens are that have the same first three bytes (zeros behind a shorter one).
struct Ranges {
    /// First bytes, start, count; in the slot that the hash of the bytes tells, or the next free one.
    slots: Box<[(u32, u16, u16); Self::SLOTS]>,
}

impl Ranges {
    /// Twice as many slots as there can be tokens: most ranges are found where they are looked for.
    const SLOTS: usize = 2 * MOST;

    fn new(keys: &[u128]) -> Self {
        let mut ranges = Self { slots: Box::new([(0, 0, 0); Self::SLOTS]) };
        let mut start = 0;
        for range in keys.chunk_by(|a, b| a >> 104 == b >> 104) {
            let slot = ranges.slot(range[0]);
            ranges.slots[slot] = ((range[0] >> 104) as u32, start, range.len() as u16);
            start += range.len() as u16;
        }
        ranges
    }

    /// Where the range of a text is, or would be put.
    #[inline(always)]
    fn slot(&self, text: u128) -> usize {
        let first = (text >> 104) as u32;
        let mut slot = (first.wrapping_mul(0x9e37_79b1) >> (32 - Self::SLOTS.ilog2())) as usize;
        while self.slots[slot].0 != first && self.slots[slot].2 != 0 {
            slot = (slot + 1) % Self::SLOTS;
        }
        slot
    }

    /// Where the range of a text starts, and how many tokens are in it.
    #[inline(always)]
    fn find(&self, text: u128) -> (usize, usize) {
        let (_, start, count) = self.slots[self.slot(text)];
        (usize::from(start), usize::from(count))
    }
}

/// The first bytes of a text, at most [`LONGEST`], as a number that is compared as they are.
fn key(text: &[u8]) -> u128 {
    let mut padded = [0; LONGEST];
    padded[..text.len()].copy_from_slice(text);
    u128::from_be_bytes(padded)
}

#[inline(always)]
fn common_bytes(a: u128, b: u128) -> usize {
    ((a ^ b).leading_zeros() / 8) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::v2::strings::StringBuffer;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn few_letters(most: usize) -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec(prop_oneof![Just(0u8), Just(b'a'), Just(b'b'), Just(255), any::<u8>()], 2..most)
    }

    proptest! {
        #[test]
        fn the_longest_token_is_found(
            longer in prop::collection::btree_set(few_letters(6), 0..300),
            long in prop::collection::btree_set(few_letters(17), 0..30),
            values in prop::collection::vec(few_letters(60), 0..12),
        ) {
            let longer: BTreeSet<_> = longer.into_iter().chain(long).collect();
            let singles = (0..=u8::MAX).map(|byte| vec![byte]);
            let tokens: Vec<_> = singles.chain(longer).collect();
            let matcher = Matcher::new(tokens.iter().map(Vec::as_slice));
            let values: StringBuffer = values.iter().map(Vec::as_slice).collect();
            let mut codes = Vec::new();
            matcher.parse(values.strings(), &mut codes);
            let mut codes = codes.iter();
            for mut rest in values.strings().iter() {
                while !rest.is_empty() {
                    let longest = tokens.iter().filter(|token| rest.starts_with(token)).max_by_key(|token| token.len());
                    let token = &tokens[*codes.next().unwrap() as usize];
                    prop_assert_eq!(longest, Some(token));
                    rest = &rest[token.len()..];
                }
            }
            prop_assert_eq!(codes.next(), None);
        }
    }
}
