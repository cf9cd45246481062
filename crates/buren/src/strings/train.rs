//! Trains the tokens of a column: the strings that are frequent in a sample of it.
//!
//! Each generation cuts the sample into the tokens of the previous one. Every token and every pair of adjacent tokens
//! is a candidate for the next generation, rated by the codes it saves; the best survive. Generations, and extending a
//! token by just the next byte, come from FSST; longest matches over many tokens of one code width come from OnPair.

use super::sample::sample;
use super::template::Template;
use super::tokens::{LONGEST, MAX_TOKENS, SINGLES, Tokens};
use super::{GROUP, Strings, Tokenizer};
use hashbrown::HashMap;

/// The sample size of each generation in bytes: small while there are few tokens.
const GENERATIONS: [usize; 6] = [32 << 10, 64 << 10, 128 << 10, 256 << 10, 512 << 10, 512 << 10];

/// The maximum number of pairs considered as tokens.
const CANDIDATES: usize = 2 * MAX_TOKENS;

/// The weight of one saved code, so that it can be divided by the length of a token.
const WHOLE: u32 = 16;

type Counts<K> = HashMap<K, u32, foldhash::fast::FixedState>;

/// Trains tokens for values like these. The same values always give the same tokens.
#[must_use]
pub fn train(values: Strings<'_>) -> Tokenizer {
    let mut tokenizer = Tokenizer::new(Tokens::new(std::iter::empty()));
    for bytes in GENERATIONS {
        let sample = sample(values, bytes);
        // The template of the values will not be cut into tokens.
        let left = Template::of_affixes(sample.strings()).strip(sample.strings());
        tokenizer = Tokenizer::new(next_generation(&tokenizer, left.strings()));
    }
    tokenizer
}

/// The candidates that save the most codes of a sample.
fn next_generation(tokenizer: &Tokenizer, sample: Strings<'_>) -> Tokens {
    let tokens = tokenizer.tokens();
    let mut savings: Counts<Candidate> = Counts::default();
    let (singles, pairs) = count(tokenizer, sample);
    let pairs = largest(pairs.into_iter().filter(|(_, saving)| *saving > WHOLE).collect(), CANDIDATES);
    for (code, &count) in (0u16..).zip(&singles).skip(SINGLES).filter(|(_, count)| **count > 0) {
        let token = tokens.get(code);
        *savings.entry(Candidate::new(token, &[])).or_default() += WHOLE * count * (tokenizer.count_parts(token) - 1);
    }
    for (pair, saving) in pairs {
        let (first, second) = (tokens.get((pair >> 16) as u16), tokens.get(pair as u16));
        if first.len() + second.len() <= LONGEST {
            *savings.entry(Candidate::new(first, second)).or_default() += saving;
        }
    }
    let best = largest(savings.into_iter().collect(), MAX_TOKENS - SINGLES);
    let mut chosen: Vec<_> = best.into_iter().map(|(token, _)| token).collect();
    chosen.sort_unstable();
    Tokens::new(chosen.iter().map(Candidate::bytes))
}

/// The `most` candidates with the largest savings; ties go to the smaller candidate.
fn largest<T: Copy + Ord>(mut savings: Vec<(T, u32)>, most: usize) -> Vec<(T, u32)> {
    if savings.len() > most {
        savings.select_nth_unstable_by_key(most, |&(candidate, saving)| (std::cmp::Reverse(saving), candidate));
        savings.truncate(most);
    }
    savings
}

/// The number of occurrences of each token, and the savings of each pair of adjacent tokens in units of [`WHOLE`]. A
/// token and the first byte of the next form a pair too, with smaller savings.
fn count(tokenizer: &Tokenizer, sample: Strings<'_>) -> (Vec<u32>, Counts<u32>) {
    let mut codes = Vec::new();
    tokenizer.encode(sample, GROUP, &mut codes, &mut Vec::new());
    let mut singles = vec![0u32; MAX_TOKENS];
    let mut pairs: Counts<u32> = Counts::with_capacity_and_hasher(codes.len() / 2, Default::default());
    let mut codes = codes.iter().map(|&code| code as u32);
    for value in sample.iter() {
        let (mut left, mut last) = (value.len(), None);
        while left > 0
            && let Some(code) = codes.next()
        {
            let token = tokenizer.tokens().get(code as u16);
            singles[code as usize] += 1;
            if let Some(last) = last {
                *pairs.entry(last << 16 | code).or_default() += WHOLE;
                if token.len() > 1 {
                    *pairs.entry(last << 16 | u32::from(token[0])).or_default() += WHOLE / token.len() as u32;
                }
            }
            left -= token.len();
            last = Some(code);
        }
    }
    (singles, pairs)
}

/// A candidate token; ordered like byte strings.
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
