//! Finds the tokens of a column: what is frequent in a sample of it.
//!
//! In each generation the sample is cut into the tokens of the one before. A token and every pair of neighbours are
//! candidates for the next generation, rated by the bytes of the sample they cover; the best survive. Lengths double
//! from one generation to the next, as in the training of FSST; longest-match parsing with many short codes is OnPair's.

use super::sample::sample;
use super::tokens::{LONGEST, MOST, SINGLES, Tokens};
use super::{Strings, Tokenizer};
use hashbrown::HashMap;

/// The bytes that each generation looks at: little while there is little to choose from.
const GENERATIONS: [usize; 6] = [32 << 10, 64 << 10, 128 << 10, 256 << 10, 512 << 10, 512 << 10];

type Counts<K> = HashMap<K, u32, foldhash::fast::FixedState>;

/// Finds tokens for values like these. The same values always give the same tokens.
#[must_use]
pub fn train(values: Strings<'_>) -> Tokenizer {
    let mut tokenizer = Tokenizer::new(Tokens::new(std::iter::empty()));
    for bytes in GENERATIONS {
        tokenizer = Tokenizer::new(next_generation(&tokenizer, sample(values, bytes).strings()));
    }
    tokenizer
}

/// The tokens that cover the most of a sample, among the present ones and pairs of them.
fn next_generation(tokenizer: &Tokenizer, sample: Strings<'_>) -> Tokens {
    let tokens = tokenizer.tokens();
    let mut gains: Counts<Candidate> = Counts::default();
    let mut rate = |token: Candidate, count: u32| *gains.entry(token).or_default() += count * u32::from(token.length);
    let (singles, pairs) = count(tokenizer, sample);
    for (code, &count) in (0u16..).zip(&singles).skip(SINGLES).filter(|(_, count)| **count > 0) {
        rate(Candidate::new(tokens.get(code), &[]), count);
    }
    for (pair, count) in pairs {
        let (first, second) = (tokens.get((pair >> 16) as u16), tokens.get(pair as u16));
        if first.len() + second.len() <= LONGEST && count > 1 {
            rate(Candidate::new(first, second), count);
        }
    }
    let mut best: Vec<_> = gains.into_iter().map(|(token, gain)| (std::cmp::Reverse(gain), token)).collect();
    let most = MOST - SINGLES;
    if best.len() > most {
        best.select_nth_unstable(most - 1);
        best.truncate(most);
    }
    let mut chosen: Vec<_> = best.into_iter().map(|(_, token)| token).collect();
    chosen.sort_unstable();
    Tokens::new(chosen.iter().map(Candidate::bytes))
}

/// How often each token, and each pair of neighbours in a value, comes.
fn count(tokenizer: &Tokenizer, sample: Strings<'_>) -> (Vec<u32>, Counts<u32>) {
    let mut codes = Vec::new();
    tokenizer.encode(sample, &mut codes);
    let mut singles = vec![0u32; MOST];
    let mut pairs: Counts<u32> = Counts::default();
    let mut codes = codes.iter().map(|&code| code as u32);
    for value in sample.iter() {
        let (mut left, mut last) = (value.len(), None);
        while left > 0
            && let Some(code) = codes.next()
        {
            singles[code as usize] += 1;
            if let Some(last) = last {
                *pairs.entry(last << 16 | code).or_default() += 1;
            }
            left -= tokenizer.tokens().get(code as u16).len();
            last = Some(code);
        }
    }
    (singles, pairs)
}

/// What may become a token; ordered as byte strings are.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Candidate {
    padded: [u8; LONGEST],
    length: u8,
}

impl Candidate {
    fn new(first: &[u8], second: &[u8]) -> Self {
        let mut padded = [0; LONGEST];
        let length = first.len() + second.len();
        padded[..first.len()].copy_from_slice(first);
        padded[first.len()..length].copy_from_slice(second);
        Self { padded, length: length as u8 }
    }

    fn bytes(&self) -> &[u8] {
        &self.padded[..usize::from(self.length)]
    }
}
