//! Finds the longest token that a text starts with.
//!
//! Tokens are kept in ascending order. The longest one that a text starts with is the last token that is not above the
//! text, or a prefix of that one: so a binary search finds it whatever the tokens look like. It starts among the tokens
//! with the same first two bytes and always takes the same number of steps. As no branch depends on the text, a processor
//! works on the next tokens before it is done with one, if they do not depend on it: so several values are cut at a time.

use super::Strings;
use super::tokens::{LONGEST, MOST};
use std::ops::Range;

/// A token for each first two bytes, and all longer ones; and as many places that a search may look at behind them.
const ENTRIES: usize = 4 * MOST;

/// Parts of a column that are cut at a time.
const LANES: usize = 8;

/// Rounds without a look at whether all lanes are done.
const ROUNDS: usize = 16;

/// Values that are cut in lanes together.
const WINDOW: usize = LANES * 1024;

/// Fewer values are cut one after the other.
const MOST_SERIAL: usize = 4 * LANES;

/// And longer ones: there must be room for a code for each byte.
const MOST_BYTES: usize = 1 << 20;

/// Tokens in the order in which they are searched.
pub(super) struct Matcher {
    /// For each first two bytes the entry of the longest token of at most two bytes that they start with: those of longer
    /// tokens that start with them lie behind it.
    pairs: Vec<u16>,
    /// The bytes of each token as a number, the first byte in the highest place, zeros behind the last one; in ascending
    /// order. A token of one byte that has an entry for two bytes has these there.
    keys: Box<[u128; ENTRIES]>,
    /// For each token, in bit *n*, whether its first *n* bytes are a token, or none.
    prefixes: Box<[u32; ENTRIES]>,
    /// For each token and each *n*, the code of its first *n* + 1 bytes, if they are a token.
    codes: Box<[[u16; LONGEST]; ENTRIES]>,
    /// The first step of a search is half of 2 to the power of it.
    steps: u32,
}

impl Matcher {
    /// Takes all tokens in the order of their codes; every byte is one of them.
    pub(super) fn new<'a>(tokens: impl Iterator<Item = &'a [u8]>) -> Self {
        let mut sorted: Vec<Token> = tokens.zip(0u16..).map(|(token, code)| Token::new(token, code)).collect();
        sorted.sort_unstable();
        let mut matcher =
            Self { pairs: vec![0; 1 << 16], keys: zeroed(), prefixes: zeroed(), codes: zeroed(), steps: 0 };
        // The tokens that the last one starts with, and itself: the shortest first.
        let mut within: Vec<Token> = Vec::new();
        let (mut end, mut of_longer, mut longer) = (0, None, 0);
        for token in sorted {
            while within.last().is_some_and(|last| common_bytes(last.key, token.key) < last.length) {
                within.pop();
            }
            let pair = (token.key >> 112) as usize;
            if token.length <= 2 {
                matcher.pairs[pair..pair + (1 << (16 - 8 * token.length))].fill(end as u16);
            } else if of_longer == Some(pair) {
                longer += 1;
            } else {
                (of_longer, longer) = (Some(pair), 1);
                if usize::from(matcher.pairs[pair]) + 1 != end {
                    matcher.put(end, &within);
                    matcher.keys[end] = (pair as u128) << 112;
                    matcher.pairs[pair] = end as u16;
                    end += 1;
                }
            }
            matcher.steps = matcher.steps.max(usize::BITS - usize::leading_zeros(longer));
            within.push(token);
            matcher.put(end, &within);
            end += 1;
        }
        (end..end + (1 << matcher.steps)).for_each(|at| matcher.put(at, &within));
        matcher
    }

    /// Makes an entry of the last of these tokens; the others are those that it starts with.
    fn put(&mut self, at: usize, within: &[Token]) {
        self.prefixes[at] = 1;
        for token in within {
            self.keys[at] = token.key;
            self.prefixes[at] |= 1 << token.length;
            self.codes[at][token.length - 1] = token.code;
        }
    }

    /// The code and the length of the longest token that a text, of which so many bytes count, starts with. If no byte
    /// counts the length is 0.
    #[inline(always)]
    fn longest(&self, text: u128, length: usize) -> (u16, usize) {
        let mut at = usize::from(self.pairs[(text >> 112) as usize]);
        for step in (0..self.steps).rev() {
            // Behind the tokens with these two bytes all are above the text; behind the last one it is repeated.
            let next = at + (1 << step);
            // A shifted truth value, as compilers make a branch of a selection.
            at += usize::from(self.keys[next % ENTRIES] <= text) << step;
        }
        let at = at % ENTRIES;
        let common = common_bytes(self.keys[at], text).min(length);
        let length = (self.prefixes[at] & ((2 << common) - 1)).ilog2() as usize;
        (self.codes[at][length.wrapping_sub(1) % LONGEST], length)
    }

    /// The length of the first token of a value.
    pub(super) fn first(&self, value: &[u8]) -> usize {
        self.longest(text(value, 0), value.len()).1
    }

    /// How many tokens a value is cut into.
    pub(super) fn count(&self, mut value: &[u8]) -> u32 {
        let mut count = 0;
        while !value.is_empty() {
            value = &value[self.first(value)..];
            count += 1;
        }
        count
    }

    /// Cuts each value into tokens, always the longest that fits, and appends the codes of all; and, for each `every`
    /// values, how many codes there are up to their end.
    pub(super) fn parse(&self, values: Strings<'_>, every: usize, codes: &mut Vec<i16>, ends: &mut Vec<u32>) {
        let mut scratch = Scratch::default();
        for first in (0..values.len()).step_by(WINDOW) {
            let rows = first..values.len().min(first + WINDOW);
            let window = values.slice(rows.clone());
            if window.len() < MOST_SERIAL || window.total_bytes() > MOST_BYTES {
                for (row, value) in rows.zip(window.iter()) {
                    self.parse_one(value, codes);
                    if (row + 1).is_multiple_of(every) {
                        ends.push(codes.len() as u32);
                    }
                }
                continue;
            }
            for lane in self.parse_in_lanes(window, &mut scratch) {
                let counts = &scratch.counts[lane.rows.clone()];
                let after = |row: usize| (codes.len() + counts[row - first - lane.rows.start] as usize) as u32;
                let start = first + lane.rows.start;
                ends.extend((start..first + lane.rows.end).skip(every - 1 - start % every).step_by(every).map(after));
                codes.extend_from_slice(&scratch.codes[lane.start..lane.start + lane.count]);
            }
        }
        if !values.len().is_multiple_of(every) {
            ends.push(codes.len() as u32);
        }
    }

    fn parse_one(&self, value: &[u8], codes: &mut Vec<i16>) {
        let mut at = 0;
        while at < value.len() {
            let (code, length) = self.longest(text(value, at), value.len() - at);
            codes.push(code as i16);
            at += length;
        }
    }

    /// Cuts the values in parts, side by side.
    fn parse_in_lanes(&self, values: Strings<'_>, scratch: &mut Scratch) -> Vec<Lane> {
        let (offsets, bytes) = (values.offsets(), values.bytes());
        // Between lanes is a place: one is written before it is known whether it is needed.
        scratch.codes.resize(scratch.codes.len().max(values.total_bytes() + LANES), 0);
        scratch.counts.resize(scratch.counts.len().max(values.len()), 0);
        let a_lane = values.len().div_ceil(LANES);
        let lane = |(number, first): (usize, usize)| Lane {
            rows: first..values.len().min(first + a_lane),
            row: first,
            at: offsets[first] as usize,
            start: (offsets[first] - offsets[0]) as usize + number,
            count: 0,
        };
        let mut lanes: Vec<Lane> = (0..values.len()).step_by(a_lane).enumerate().map(lane).collect();
        while lanes.iter().any(|lane| lane.at < offsets[lane.rows.end] as usize || lane.row + 1 < lane.rows.end) {
            for _ in 0..ROUNDS {
                for lane in &mut lanes {
                    let left = offsets[lane.row + 1] as usize - lane.at;
                    let (code, length) = self.longest(text(bytes, lane.at), left);
                    scratch.codes[lane.start + lane.count] = code as i16;
                    lane.count += usize::from(left > 0);
                    lane.at += length;
                    scratch.counts[lane.row] = lane.count as u32;
                    lane.row += usize::from((length == left) & (lane.row + 1 < lane.rows.end));
                }
            }
        }
        lanes
    }
}

/// Some of the rows, which are cut beside others.
struct Lane {
    rows: Range<usize>,
    /// The row at hand, and what is left of it.
    row: usize,
    at: usize,
    /// Where its codes start, and how many there are.
    start: usize,
    count: usize,
}

/// The codes of each lane, and for each row how many its lane has up to its end.
#[derive(Default)]
struct Scratch {
    codes: Vec<i16>,
    counts: Vec<u32>,
}

/// A token, to be sorted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Token {
    key: u128,
    length: usize,
    code: u16,
}

impl Token {
    fn new(token: &[u8], code: u16) -> Self {
        Self { key: key(token), length: token.len(), code }
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

fn zeroed<T: Copy + Default>() -> Box<[T; ENTRIES]> {
    vec![T::default(); ENTRIES].try_into().unwrap_or_else(|_| unreachable!("so many entries"))
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
            values in prop::collection::vec(prop_oneof![5 => few_letters(60), 1 => Just(Vec::new()), 1 => Just(vec![b'z'])], 0..12),
            copies in prop_oneof![Just(1usize), 1usize..400],
            every in prop_oneof![Just(1usize), Just(16), Just(1024)],
        ) {
            let longer: BTreeSet<_> = longer.into_iter().chain(long).collect();
            let singles = (0..=u8::MAX).map(|byte| vec![byte]);
            let tokens: Vec<_> = singles.chain(longer).collect();
            let matcher = Matcher::new(tokens.iter().map(Vec::as_slice));
            let values: StringBuffer = values.iter().map(Vec::as_slice).collect();
            let values: StringBuffer = values.strings().iter().cycle().take(values.strings().len() * copies).collect();
            let (mut codes, mut ends) = (Vec::new(), Vec::new());
            matcher.parse(values.strings(), every, &mut codes, &mut ends);
            let all = codes.len();
            let mut codes = codes.iter();
            let mut ends = ends.iter();
            for (row, mut rest) in (1..).zip(values.strings().iter()) {
                while !rest.is_empty() {
                    let longest = tokens.iter().filter(|token| rest.starts_with(token)).max_by_key(|token| token.len());
                    let token = &tokens[*codes.next().unwrap() as usize];
                    prop_assert_eq!(longest, Some(token));
                    rest = &rest[token.len()..];
                }
                if row % every == 0 || row == values.strings().len() {
                    prop_assert_eq!(ends.next(), Some(&((all - codes.len()) as u32)));
                }
            }
            prop_assert_eq!(ends.next(), None);
            prop_assert_eq!(codes.next(), None);
        }
    }
}
