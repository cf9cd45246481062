//! Cuts values into tokens, always the longest that fits.
//!
//! Where the next token starts is known only when this one is found; so several values are cut at a time, each by itself, and
//! a processor works on the next tokens before it is done with one.

use super::Strings;
use super::trie::Trie;
use std::ops::Range;

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

/// Cuts values into tokens.
pub(super) struct Matcher {
    trie: Trie,
}

impl Matcher {
    /// Takes all tokens in the order of their codes: first each byte, then longer ones.
    pub(super) fn new<'a>(tokens: impl Iterator<Item = &'a [u8]>) -> Self {
        Self { trie: Trie::new(tokens) }
    }

    /// The length of the first token of a value.
    pub(super) fn first(&self, value: &[u8]) -> usize {
        self.trie.longest(value, 0, value.len()).1
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
            let (code, length) = self.trie.longest(value, at, value.len() - at);
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
                    let (code, length) = self.trie.longest(bytes, lane.at, left);
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
