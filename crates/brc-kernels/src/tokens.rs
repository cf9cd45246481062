//! Splits strings into tokens, always the longest match: the hot loop of storing text as token codes.
//!
//! Tokens of at least eight bytes are in buckets by their first eight bytes, those of at least three in buckets by
//! their first three; within a bucket, longer tokens come first, so that the first match is the longest. A bucket has
//! few tokens, which are compared at once, and a text is looked up in both of its buckets. Until the length of the
//! token is known, no step depends on the previous one; and since several sections of the strings are processed in an
//! interleaved way, the processor works on other tokens while it waits for the length.

use crate::cpu::Level;
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;
use std::ops::Range;

/// The maximum length of a token in bytes.
pub const LONGEST: usize = 16;

/// The number of one-byte tokens, whose codes are their bytes.
pub const SINGLES: usize = 256;

/// The number of tokens that are compared at once.
const COMPARED_TOKENS: usize = 8;

/// The lengths of the prefixes that select buckets: of longer tokens, and of shorter ones.
const FRONTS: [usize; 2] = [8, 3];

/// The number of bits of a prefix hash that select a bucket.
const BUCKET_BITS: u32 = 12;

/// The number of sections of the strings that are processed in an interleaved way.
const SECTIONS: usize = 8;

/// The number of rounds between checks whether all sections are finished.
const ROUNDS: usize = 16;

/// The number of strings that are processed together.
const WINDOW: usize = SECTIONS * 1024;

/// Up to this number of strings are processed one after another,
const MAX_SERIAL_STRINGS: usize = 4 * SECTIONS;

/// and so are strings of more bytes: there must be room for one code per byte.
const MAX_INTERLEAVED_BYTES: usize = 1 << 20;

/// A lookup table of tokens.
#[derive(Debug)]
pub struct TokenTable {
    /// The code of the longest token of at most two bytes, by the first two bytes as a little-endian number.
    pairs: Box<[u16]>,
    /// For each of the [`FRONTS`], the start of each bucket, and the end of the last one.
    starts: [Box<[u16]>; 2],
    /// The first and the second eight bytes of each token, in bucket order: first the longer tokens, then the others.
    /// Each of both parts is followed by [`COMPARED_TOKENS`] entries that never match.
    words: [Vec<u64>; 2],
    lengths: Vec<u8>,
    /// The code of each token in bucket order, with its length above.
    entries: Vec<u32>,
}

/// Contiguous strings: string `i` is `bytes[offsets[i]..offsets[i + 1]]`.
#[derive(Debug, Clone, Copy)]
pub struct Pieces<'a> {
    /// Ascending offsets within `bytes`.
    pub offsets: &'a [u32],
    /// The bytes of the strings.
    pub bytes: &'a [u8],
}

impl TokenTable {
    /// Creates a table of tokens in the order of their codes: first each single byte, then longer ones.
    ///
    /// # Panics
    /// If a token is empty or longer than [`LONGEST`], or there are more than 32,768.
    #[must_use]
    pub fn new<'a>(tokens: impl Iterator<Item = &'a [u8]>) -> Self {
        let mut table = Self {
            pairs: (0..=u16::MAX).map(|pair| pair & 0xff).collect(),
            starts: [Box::default(), Box::default()],
            words: [Vec::new(), Vec::new()],
            lengths: Vec::new(),
            entries: Vec::new(),
        };
        let mut longer: [Vec<(u16, &[u8])>; 2] = [Vec::new(), Vec::new()];
        for (code, token) in tokens.enumerate() {
            assert!((1..=LONGEST).contains(&token.len()) && code <= i16::MAX as usize, "tokens are short, and few");
            let code = code as u16;
            match *token {
                [_] => {}
                [first, second] => table.pairs[usize::from(u16::from_le_bytes([first, second]))] = code,
                _ => longer[usize::from(token.len() < FRONTS[0])].push((code, token)),
            }
        }
        for (number, tokens) in longer.into_iter().enumerate() {
            table.add(number, tokens);
        }
        // The entry for no match may be just after the last one.
        table.entries.push(0);
        table
    }

    /// Adds all tokens that are bucketed by prefix `number`.
    fn add(&mut self, number: usize, mut tokens: Vec<(u16, &[u8])>) {
        tokens.sort_by_cached_key(|&(code, token)| {
            (bucket_of(words_of(token, 0)[0], FRONTS[number]), std::cmp::Reverse(token.len()), code)
        });
        let mut starts = vec![0; (1 << BUCKET_BITS) + 1];
        starts[0] = self.lengths.len() as u16;
        for (code, token) in tokens {
            let words = words_of(token, 0);
            starts[bucket_of(words[0], FRONTS[number]) + 1] += 1;
            self.words.iter_mut().zip(words).for_each(|(all, word)| all.push(word));
            self.lengths.push(token.len() as u8);
            self.entries.push(u32::from(code) | (token.len() as u32) << 16);
        }
        for bucket in 1..starts.len() {
            starts[bucket] += starts[bucket - 1];
        }
        self.starts[number] = starts.into();
        // No text is as long as these lengths, so these entries never match.
        let end = self.lengths.len() + COMPARED_TOKENS;
        self.words.iter_mut().for_each(|words| words.resize(end, 0));
        self.lengths.resize(end, u8::MAX);
        self.entries.resize(end, 0);
    }

    /// The code and the length of the longest token at the start of a text; the length is 0 for an empty text.
    #[must_use]
    pub fn longest(&self, text: &[u8]) -> (u16, usize) {
        self.longest_by(&|first, words, left| self.compare(first, words, left), text, 0, text.len())
    }

    /// Splits each string, and appends the codes of all strings, and for each string the number of codes up to its end.
    pub fn cut(&self, level: Level, pieces: Pieces<'_>, codes: &mut Vec<i16>, ends: &mut Vec<u32>) {
        match level.min(Level::best()) {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the level is not above the best one that was detected.
            Level::Avx512 => unsafe { self.cut_avx512(pieces, codes, ends) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: likewise.
            Level::Avx2 => unsafe { self.cut_avx2(pieces, codes, ends) },
            _ => self.cut_by(&|first, words, left| self.compare(first, words, left), pieces, codes, ends),
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi1,bmi2")]
    fn cut_avx512(&self, pieces: Pieces<'_>, codes: &mut Vec<i16>, ends: &mut Vec<u32>) {
        let compare = |first: usize, words: [u64; 2], left: usize| {
            let (low, high) =
                (&self.words[0][first..first + COMPARED_TOKENS], &self.words[1][first..first + COMPARED_TOKENS]);
            let lengths = &self.lengths[first..first + COMPARED_TOKENS];
            // SAFETY: each slice has as many entries as are read.
            let (low, high, lengths) = unsafe {
                let (low, high) = (low.as_ptr(), high.as_ptr());
                let lengths = _mm_loadl_epi64(lengths.as_ptr().cast());
                (_mm512_loadu_si512(low.cast()), _mm512_loadu_si512(high.cast()), lengths)
            };
            let bits = _mm512_slli_epi64::<3>(_mm512_cvtepu8_epi64(lengths));
            let (low, high) = (
                _mm512_xor_si512(low, _mm512_set1_epi64(words[0] as i64)),
                _mm512_xor_si512(high, _mm512_set1_epi64(words[1] as i64)),
            );
            // Bytes beyond the token are shifted out: the whole second word if the token has only one.
            let low = _mm512_sllv_epi64(low, _mm512_subs_epu16(_mm512_set1_epi64(64), bits));
            let high = _mm512_sllv_epi64(high, _mm512_subs_epu16(_mm512_set1_epi64(128), bits));
            let different = _mm512_or_si512(low, high);
            let fits = _mm_cmple_epu8_mask(lengths, _mm_set1_epi8(left.min(LONGEST) as i8));
            _mm512_testn_epi64_mask(different, different) & fits as u8
        };
        self.cut_by(&compare, pieces, codes, ends);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    fn cut_avx2(&self, pieces: Pieces<'_>, codes: &mut Vec<i16>, ends: &mut Vec<u32>) {
        /// The number of tokens in half a comparison.
        const HALF: usize = COMPARED_TOKENS / 2;
        let compare = |first: usize, words: [u64; 2], left: usize| {
            let (low, high) =
                (&self.words[0][first..first + COMPARED_TOKENS], &self.words[1][first..first + COMPARED_TOKENS]);
            let lengths = &self.lengths[first..first + COMPARED_TOKENS];
            let all = [_mm256_set1_epi64x(words[0] as i64), _mm256_set1_epi64x(words[1] as i64)];
            // SAFETY: each slice has as many entries as are read.
            let same = |half: usize| unsafe {
                let lengths = _mm256_cvtepu8_epi64(_mm_loadu_si32(lengths.as_ptr().add(half).cast()));
                let bits = _mm256_slli_epi64::<3>(lengths);
                let low = _mm256_xor_si256(_mm256_loadu_si256(low.as_ptr().add(half).cast()), all[0]);
                let high = _mm256_xor_si256(_mm256_loadu_si256(high.as_ptr().add(half).cast()), all[1]);
                // As in the AVX-512 variant.
                let low = _mm256_sllv_epi64(low, _mm256_subs_epu16(_mm256_set1_epi64x(64), bits));
                let high = _mm256_sllv_epi64(high, _mm256_subs_epu16(_mm256_set1_epi64x(128), bits));
                let is_same = _mm256_cmpeq_epi64(_mm256_or_si256(low, high), _mm256_setzero_si256());
                _mm256_movemask_pd(_mm256_castsi256_pd(is_same)) as u8
            };
            // SAFETY: there are as many lengths as are read.
            let lengths = unsafe { _mm_loadl_epi64(lengths.as_ptr().cast()) };
            let fits = _mm_cmpeq_epi8(_mm_min_epu8(lengths, _mm_set1_epi8(left.min(LONGEST) as i8)), lengths);
            (same(0) | same(HALF) << HALF) & _mm_movemask_epi8(fits) as u8
        };
        self.cut_by(&compare, pieces, codes, ends);
    }

    /// A mask of the tokens, from index `first` on, that a text with these first bytes starts with; the lowest bit is
    /// for the first one. Tokens of other buckets never match.
    fn compare(&self, first: usize, words: [u64; 2], left: usize) -> u8 {
        let is_prefix = |token: usize| {
            let length = usize::from(self.lengths[token]);
            let differs = |word: usize, bytes: usize| {
                let different = self.words[word][token] ^ words[word];
                different.checked_shl(64 - 8 * bytes.min(8) as u32).unwrap_or(0) != 0
            };
            length <= left && !differs(0, length) && !differs(1, length.saturating_sub(8))
        };
        (0..COMPARED_TOKENS).fold(0, |mask, at| mask | u8::from(is_prefix(first + at)) << at)
    }

    /// The code and the length of the longest token at the start of the `left` bytes of a text from `at` on.
    #[inline(always)]
    fn longest_by(
        &self,
        compare: &impl Fn(usize, [u64; 2], usize) -> u8,
        text: &[u8],
        at: usize,
        left: usize,
    ) -> (u16, usize) {
        let words = words_of(text, at);
        let longer = self.find(compare, 0, words, left);
        let shorter = self.find(compare, 1, words, left);
        let pair = words[0] as u16;
        let code = if left < 2 { pair & 0xff } else { self.pairs[usize::from(pair)] };
        let length = (1 + usize::from(usize::from(code) >= SINGLES)).min(left);
        let short = u32::from(code) | (length as u32) << 16;
        let entry = longer.or(shorter.or(TokenMatch { entry: short, is_found: true })).entry;
        (entry as u16, (entry >> 16) as usize)
    }

    /// The longest token in a bucket that a text starts with.
    #[inline(always)]
    fn find(
        &self,
        compare: &impl Fn(usize, [u64; 2], usize) -> u8,
        number: usize,
        words: [u64; 2],
        left: usize,
    ) -> TokenMatch {
        let bucket = bucket_of(words[0], FRONTS[number]);
        let (mut first, end) = (usize::from(self.starts[number][bucket]), usize::from(self.starts[number][bucket + 1]));
        // Also compares if the bucket is empty, to avoid a branch that depends on the text.
        let mut found = compare(first, words, left);
        while found == 0 && first + COMPARED_TOKENS < end {
            first += COMPARED_TOKENS;
            found = compare(first, words, left);
        }
        TokenMatch { entry: self.entries[first + found.trailing_zeros() as usize], is_found: found != 0 }
    }

    /// Without closures or iterators of its own in hot code, which would be compiled without the instructions of the
    /// caller.
    #[inline(always)]
    fn cut_by(
        &self,
        compare: &impl Fn(usize, [u64; 2], usize) -> u8,
        pieces: Pieces<'_>,
        codes: &mut Vec<i16>,
        ends: &mut Vec<u32>,
    ) {
        let Pieces { offsets, bytes } = pieces;
        let count = offsets.len().saturating_sub(1);
        let mut scratch = Scratch::default();
        for first in (0..count).step_by(WINDOW) {
            let window = &offsets[first..=count.min(first + WINDOW)];
            let total = (window[window.len() - 1] - window[0]) as usize;
            if window.len() > MAX_SERIAL_STRINGS && total <= MAX_INTERLEAVED_BYTES {
                let mut sections = Sections::new(window, &mut scratch);
                while sections.are_busy(window) {
                    for _ in 0..ROUNDS {
                        for section in &mut sections.0 {
                            let left = window[section.row + 1] as usize - section.at;
                            let (code, length) = self.longest_by(compare, bytes, section.at, left);
                            section.take(code, length, left, &mut scratch);
                        }
                    }
                }
                sections.write(&mut scratch, codes, ends);
                continue;
            }
            for row in 1..window.len() {
                let (mut at, end) = (window[row - 1] as usize, window[row] as usize);
                while at < end {
                    let (code, length) = self.longest_by(compare, bytes, at, end - at);
                    codes.push(code as i16);
                    at += length;
                }
                ends.push(codes.len() as u32);
            }
        }
    }
}

/// Sixteen bytes of a text from `at` on, in little-endian order, padded with zeros.
#[inline(always)]
fn words_of(text: &[u8], at: usize) -> [u64; 2] {
    let bytes = match text[at..].first_chunk::<LONGEST>() {
        Some(bytes) => *bytes,
        None => last_bytes(&text[at..]),
    };
    let bytes = u128::from_le_bytes(bytes);
    [bytes as u64, (bytes >> 64) as u64]
}

#[cold]
fn last_bytes(text: &[u8]) -> [u8; LONGEST] {
    let mut padded = [0; LONGEST];
    padded[..text.len()].copy_from_slice(text);
    padded
}

/// The bucket for the first `bytes` bytes of a word.
#[inline(always)]
fn bucket_of(word: u64, bytes: usize) -> usize {
    let mixed = (word << (64 - 8 * bytes)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> (u64::BITS - BUCKET_BITS)) as usize
}

/// A token's entry, its code with the length above; and whether there is a match.
#[derive(Clone, Copy)]
struct TokenMatch {
    entry: u32,
    is_found: bool,
}

impl TokenMatch {
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        // Written as arithmetic, because compilers turn a selection into a branch.
        let entry = self.entry ^ (self.entry ^ other.entry) & u32::from(!self.is_found).wrapping_neg();
        Self { entry, is_found: self.is_found | other.is_found }
    }
}

/// The codes of each section, and for each row the number of codes of its section up to the row's end.
#[derive(Default)]
struct Scratch {
    codes: Vec<i16>,
    counts: Vec<u32>,
}

/// A section of the strings of a window, which is processed interleaved with others.
struct Section {
    rows: Range<usize>,
    /// The current row, and the position in it.
    row: usize,
    at: usize,
    /// The start of the section's codes, and their number.
    start: usize,
    count: usize,
}

impl Section {
    #[inline(always)]
    fn take(&mut self, code: u16, length: usize, left: usize, scratch: &mut Scratch) {
        scratch.codes[self.start + self.count] = code as i16;
        self.count += usize::from(left > 0);
        self.at += length;
        scratch.counts[self.row] = self.count as u32;
        self.row += usize::from((length == left) & (self.row + 1 < self.rows.end));
    }
}

struct Sections(Vec<Section>);

impl Sections {
    fn new(offsets: &[u32], scratch: &mut Scratch) -> Self {
        let count = offsets.len() - 1;
        let total = (offsets[count] - offsets[0]) as usize;
        // There is a spare entry between sections: one is written before it is known whether it is needed.
        scratch.codes.resize(scratch.codes.len().max(total + SECTIONS), 0);
        scratch.counts.resize(scratch.counts.len().max(count), 0);
        let rows_per_section = count.div_ceil(SECTIONS);
        let section = |(number, first): (usize, usize)| Section {
            rows: first..count.min(first + rows_per_section),
            row: first,
            at: offsets[first] as usize,
            start: (offsets[first] - offsets[0]) as usize + number,
            count: 0,
        };
        Self((0..count).step_by(rows_per_section).enumerate().map(section).collect())
    }

    fn are_busy(&self, offsets: &[u32]) -> bool {
        self.0
            .iter()
            .any(|section| section.at < offsets[section.rows.end] as usize || section.row + 1 < section.rows.end)
    }

    /// Appends the codes and ends of all sections.
    fn write(self, scratch: &mut Scratch, codes: &mut Vec<i16>, ends: &mut Vec<u32>) {
        for section in self.0 {
            // The loop ends when all bytes are processed, so an empty last string may not have been visited.
            scratch.counts[section.rows.end - 1] = section.count as u32;
            let before = codes.len() as u32;
            ends.extend(scratch.counts[section.rows].iter().map(|count| before + count));
            codes.extend_from_slice(&scratch.codes[section.start..section.start + section.count]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn few_letters(most: usize) -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec(prop_oneof![Just(0u8), Just(b'a'), Just(b'b'), Just(255), any::<u8>()], 2..most)
    }

    #[test]
    fn a_section_may_end_with_an_empty_string() {
        let singles: Vec<[u8; 1]> = (0..=u8::MAX).map(|byte| [byte]).collect();
        let table = TokenTable::new(singles.iter().map(<[u8; 1]>::as_slice));
        // As many codes as there are rounds, followed by a string without codes.
        let section = [ROUNDS - 3, 1, 1, 1, 0];
        let lengths: Vec<usize> = section.iter().copied().cycle().take(section.len() * SECTIONS).collect();
        let bytes = vec![b'a'; ROUNDS * SECTIONS];
        let mut offsets = vec![0];
        offsets.extend(lengths.iter().scan(0, |end, length| {
            *end += *length as u32;
            Some(*end)
        }));
        for level in Level::available() {
            let (mut codes, mut ends) = (Vec::new(), Vec::new());
            table.cut(level, Pieces { offsets: &offsets, bytes: &bytes }, &mut codes, &mut ends);
            assert_eq!((codes.len(), &ends[..]), (bytes.len(), &offsets[1..]));
        }
    }

    proptest! {
        #[test]
        fn the_longest_token_is_found(
            longer in prop::collection::btree_set(few_letters(6), 0..300),
            long in prop::collection::btree_set(few_letters(17), 0..30),
            values in prop::collection::vec(prop_oneof![5 => few_letters(60), 1 => Just(Vec::new()), 1 => Just(vec![b'z'])], 0..12),
            copies in prop_oneof![Just(1usize), 1usize..400],
        ) {
            let longer: BTreeSet<_> = longer.into_iter().chain(long).collect();
            let singles = (0..=u8::MAX).map(|byte| vec![byte]);
            let tokens: Vec<_> = singles.chain(longer).collect();
            let table = TokenTable::new(tokens.iter().map(Vec::as_slice));
            let values: Vec<&[u8]> = values.iter().map(Vec::as_slice).cycle().take(values.len() * copies).collect();
            let bytes = values.concat();
            let mut offsets = vec![0];
            offsets.extend(values.iter().scan(0, |end, value| { *end += value.len() as u32; Some(*end) }));
            for level in Level::available() {
                let (mut codes, mut ends) = (vec![7], Vec::new());
                table.cut(level, Pieces { offsets: &offsets, bytes: &bytes }, &mut codes, &mut ends);
                prop_assert_eq!(ends.len(), values.len());
                let mut start = 1;
                for (value, &end) in values.iter().zip(&ends) {
                    let mut rest = *value;
                    for &code in &codes[start..end as usize] {
                        let longest = tokens.iter().filter(|token| rest.starts_with(token)).max_by_key(|token| token.len());
                        let token = &tokens[code as usize];
                        prop_assert_eq!(longest, Some(token));
                        prop_assert_eq!(table.longest(rest), (code as u16, token.len()));
                        rest = &rest[token.len()..];
                    }
                    prop_assert_eq!(rest, b"");
                    start = end as usize;
                }
                prop_assert_eq!(start, codes.len());
            }
        }
    }
}
