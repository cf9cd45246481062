//! Strings over a small alphabet, such as addresses, identifiers and numbers as text, encoded as integers that sort as
//! the strings do. A text of twelve digits and points takes 44 bits where its bytes would take 96.
//!
//! A string becomes a number with one digit for each position: the rank of its byte in the alphabet of that position,
//! and 0 after its end.

use brc_core::ByteStrings;
use brc_kernels::cpu::Level;
use brc_kernels::numerals::Numerals;

/// Longer strings are not encoded.
const MAX_LENGTH: usize = 32;

/// All numbers of strings are below this.
const LIMIT: u64 = 1 << 62;

/// The weight of a byte that is not in the alphabet of its position. Its bit shows in the weights that were seen.
const NONE: u64 = 1 << 63;

/// The weights of all bytes at one position, with padding: at a stride of a power of two, those of the same byte at
/// several positions would evict each other from the cache.
type Weights = [u64; WEIGHTS];
const WEIGHTS: usize = 256 + 16;

/// The most combinations of symbols in the table of a [`Part`].
const TEXTS: u64 = 4096;

#[derive(Debug, Clone)]
pub(super) struct Symbols {
    /// What a byte at each position adds to the number of its string.
    weights: Vec<Weights>,
    /// A vectorised encoder, if the alphabets of all positions are equal.
    numerals: Option<Numerals>,
    parts: Vec<Part>,
    /// The largest number.
    pub(super) largest: u64,
}

/// Consecutive positions of all strings, which are decoded by one table lookup.
#[derive(Debug, Clone)]
struct Part {
    /// The first position.
    start: usize,
    /// The difference of the numbers of adjacent texts, and `u64::MAX` divided by it.
    weight: u64,
    inverse: u64,
    /// The texts that these positions may have, in order.
    texts: Vec<Text>,
}

/// Up to 7 bytes, the first of them lowest, and how many there are in the uppermost byte.
#[derive(Debug, Clone, Copy, Default)]
struct Text(u64);

impl Text {
    /// The most bytes of a text.
    const MAX_BYTES: usize = 7;

    fn with(self, position: usize, symbol: u8) -> Self {
        Self(self.bytes() | (u64::from(symbol) << (8 * position)) | ((position as u64 + 1) << 56))
    }

    fn bytes(self) -> u64 {
        self.0 << 8 >> 8
    }

    fn len(self) -> usize {
        (self.0 >> 56) as usize
    }
}

/// The symbols of a position, in order.
type Alphabet = Vec<u8>;

impl Symbols {
    /// For strings like these; `None` if there are too many combinations of their symbols.
    pub(crate) fn of<'a>(strings: impl Iterator<Item = &'a [u8]>) -> Option<Self> {
        let alphabets = alphabets(strings)?;
        let radix = |alphabet: &Alphabet| alphabet.len() as u64 + 1;
        let all = alphabets.iter().try_fold(1u64, |all, alphabet| all.checked_mul(radix(alphabet)));
        let all = all.filter(|&all| all < LIMIT)?;
        let (mut weights, mut parts) = (Vec::new(), Vec::new());
        let mut weight = all;
        for alphabet in &alphabets {
            weight /= radix(alphabet);
            let mut of_position = [NONE; WEIGHTS];
            for (&symbol, rank) in alphabet.iter().zip(1..) {
                of_position[usize::from(symbol)] = rank * weight;
            }
            weights.push(of_position);
        }
        let mut start = 0;
        let mut weight = all;
        while start < alphabets.len() {
            let texts = texts(&alphabets[start..]);
            weight /= texts.1.len() as u64;
            parts.push(Part { start, weight, inverse: u64::MAX / weight, texts: texts.1 });
            start += texts.0;
        }
        let is_one = alphabets.windows(2).all(|pair| pair[0] == pair[1]);
        let numerals = alphabets.first().filter(|_| is_one).and_then(|it| Numerals::new(it, alphabets.len()));
        Some(Self { weights, numerals, parts, largest: all - 1 })
    }

    /// The number of a string; `None` if it has another symbol somewhere, or is longer.
    #[inline]
    pub(crate) fn number(&self, string: &[u8]) -> Option<u64> {
        let (mut number, mut seen) = (0u64, 0);
        for (weights, &byte) in self.weights.iter().zip(string) {
            let weight = weights[usize::from(byte)];
            number = number.wrapping_add(weight);
            seen |= weight;
        }
        (string.len() <= self.weights.len() && seen < NONE).then_some(number)
    }

    /// The vectorised encoder, if it handles several strings at once; one at a time, weights are faster.
    fn side_by_side(&self) -> Option<&Numerals> {
        self.numerals.as_ref().filter(|_| Numerals::writes_several(Level::best()))
    }

    /// Appends the numbers of some strings: 0 for those that have none, which do not fit.
    pub(crate) fn numbers(&self, strings: ByteStrings<'_>, fits: &mut [bool], numbers: &mut Vec<u64>) {
        if let Some(numerals) = self.side_by_side() {
            let (offsets, bytes) = strings.parts();
            return numerals.numbers(Level::best(), offsets, bytes, fits, numbers);
        }
        numbers.extend(strings.iter().zip(fits).map(|(string, fits)| {
            let number = self.number(string);
            *fits &= number.is_some();
            number.unwrap_or(0)
        }));
    }

    /// Appends the strings of some numbers, and where each ends.
    pub(crate) fn write_all(&self, numbers: &[u64], ends: &mut Vec<usize>, bytes: &mut Vec<u8>) {
        if let Some(numerals) = self.side_by_side() {
            return numerals.strings(Level::best(), numbers, ends, bytes);
        }
        let mut end = bytes.len();
        bytes.resize(end + numbers.len() * self.weights.len() + size_of::<Text>(), 0);
        for &number in numbers {
            let (mut rest, mut length) = (number, 0);
            for part in &self.parts {
                let text;
                (text, rest) = part.text(rest);
                // The bytes after a text are overwritten by the next one.
                let start = end + part.start;
                bytes[start..start + size_of::<Text>()].copy_from_slice(&text.bytes().to_le_bytes());
                length += text.len();
            }
            end += length;
            ends.push(end);
        }
        bytes.truncate(end);
    }

    /// Appends the string of a number.
    pub(crate) fn write(&self, number: u64, out: &mut Vec<u8>) {
        self.write_all(&[number], &mut Vec::with_capacity(1), out);
    }
}

impl Part {
    /// The text at these positions of the string of a number, and the rest of the number, for later positions.
    #[inline(always)]
    fn text(&self, number: u64) -> (Text, u64) {
        // Multiplying by the inverse, and correcting a quotient that is one too small, is faster than dividing.
        let times = ((u128::from(number) * u128::from(self.inverse)) >> 64) as u64;
        let rest = number - times * self.weight;
        let more = u64::from(rest >= self.weight);
        let text = self.texts.get((times + more) as usize);
        (text.copied().unwrap_or_default(), rest - more * self.weight)
    }
}

/// The symbols at each position of these strings; `None` if one is too long.
fn alphabets<'a>(strings: impl Iterator<Item = &'a [u8]>) -> Option<Vec<Alphabet>> {
    let mut seen: Vec<[bool; 256]> = Vec::new();
    for string in strings {
        seen.resize(seen.len().max(string.len()), [false; 256]);
        if string.len() > MAX_LENGTH {
            return None;
        }
        seen.iter_mut().zip(string).for_each(|(seen, &byte)| seen[usize::from(byte)] = true);
    }
    let count = |seen: &[bool; 256]| seen.iter().filter(|&&seen| seen).count();
    let mut anywhere = [false; 256];
    for varying in seen.iter().filter(|seen| count(seen) > 1) {
        anywhere.iter_mut().zip(varying).for_each(|(any, &here)| *any |= here);
    }
    for seen in &mut seen {
        // A symbol of one varying position is expected at all of them, and where there is one digit, all digits are.
        if count(seen) > 1 {
            *seen = anywhere;
        }
        if seen[usize::from(b'0')..=usize::from(b'9')].contains(&true) {
            seen[usize::from(b'0')..=usize::from(b'9')].fill(true);
        }
    }
    Some(seen.iter().map(|seen| (0..=255).filter(|&byte| seen[usize::from(byte)]).collect()).collect())
}

/// How many of the first positions have few enough texts together, and these texts in order.
fn texts(alphabets: &[Alphabet]) -> (usize, Vec<Text>) {
    let mut texts = vec![Text::default()];
    let mut positions = 0;
    for alphabet in alphabets.iter().take(Text::MAX_BYTES) {
        if positions > 0 && texts.len() as u64 * (alphabet.len() as u64 + 1) > TEXTS {
            break;
        }
        let longer = |text: &Text| {
            // A text may end here. One that ended before also gets entries with a symbol, which no string has.
            let text = *text;
            let with = move |symbol: Option<&u8>| symbol.map_or(text, |&symbol| text.with(positions, symbol));
            std::iter::once(None).chain(alphabet.iter().map(Some)).map(with)
        };
        texts = texts.iter().flat_map(longer).collect();
        positions += 1;
    }
    (positions, texts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_order_as_strings_and_give_them_back(strings in prop::collection::vec("[a-c0-9.]{0,14}", 1..30)) {
            let symbols = Symbols::of(strings.iter().map(String::as_bytes)).unwrap();
            let numbers: Vec<u64> = strings.iter().map(|string| symbols.number(string.as_bytes()).unwrap()).collect();
            let mut offsets = vec![0];
            strings.iter().for_each(|string| offsets.push(offsets[offsets.len() - 1] + string.len() as i32));
            let (bytes, mut found, mut fits) = (strings.concat(), Vec::new(), vec![true; strings.len()]);
            symbols.numbers(ByteStrings::new(&offsets, bytes.as_bytes()), &mut fits, &mut found);
            prop_assert_eq!(&found, &numbers);
            for (string, &number) in strings.iter().zip(&numbers) {
                let mut text = Vec::new();
                symbols.write(number, &mut text);
                prop_assert_eq!(String::from_utf8(text).unwrap(), string.clone());
                prop_assert!(number <= symbols.largest);
            }
            for (one, number) in strings.iter().zip(&numbers) {
                for (other, other_number) in strings.iter().zip(&numbers) {
                    prop_assert_eq!(one.cmp(other), number.cmp(other_number));
                }
            }
        }
    }

    #[test]
    fn other_strings_have_no_number() {
        let symbols = Symbols::of([&b"id-0012"[..], b"id-0345"].into_iter()).unwrap();
        for (string, has) in
            [("id-0012", true), ("id-9", true), ("", true), ("ix-0012", false), ("id-00120", false), ("id-001x", false)]
        {
            assert_eq!(symbols.number(string.as_bytes()).is_some(), has, "{string}");
        }
        assert!(Symbols::of([&[b'x'; 33][..]].into_iter()).is_none());
        let all: Vec<[u8; 8]> = (0..=255).map(|byte| [byte; 8]).collect();
        assert!(Symbols::of(all.iter().map(<[u8; 8]>::as_slice)).is_none());
    }
}
