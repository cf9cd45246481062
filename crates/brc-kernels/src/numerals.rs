//! Alphabet-encoded strings: strings over a small alphabet as numbers to any base.
//!
//! Addresses, dates and numbers as text are grouped and sorted as numbers. Converting them a byte at a time takes
//! longer than all further processing. Here the digits of four strings are looked up and summed at once, and eight
//! numbers are split at once, by halving: into two numbers of eight digits, four of four, eight of two.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;

use crate::cpu::Level;

/// The maximum number of digits of a number.
pub const MAX_DIGITS: usize = 16;

/// The exclusive limit of numbers.
const LIMIT: u64 = 1 << 62;

/// Maps strings of up to [`MAX_DIGITS`] bytes to numbers with the same order. The digit of a byte is its position in
/// the alphabet, counted from 1; missing bytes at the end are 0.
#[derive(Debug, Clone)]
pub struct Numerals {
    /// The digit of each byte; 0 if it is not in the alphabet.
    values: [u8; 128],
    /// The byte of each digit; 0 if there is none.
    symbols: [u8; 128],
    base: u64,
    count: usize,
}

impl Numerals {
    /// Creates a mapping for strings of at most `count` of these bytes, which must ascend. `None` if a byte is not
    /// ASCII, there are too many bytes or digits, or numbers would be too large.
    #[must_use]
    pub fn new(alphabet: &[u8], count: usize) -> Option<Self> {
        let base = alphabet.len() as u64 + 1;
        let largest = base.checked_pow(u32::try_from(count).ok()?)?;
        if count > MAX_DIGITS || base > 127 || largest >= LIMIT || !alphabet.is_sorted_by(|one, other| one < other) {
            return None;
        }
        let (mut values, mut symbols) = ([0; 128], [0; 128]);
        for (&symbol, value) in alphabet.iter().zip(1..) {
            *values.get_mut(usize::from(symbol))? = value;
            symbols[usize::from(value)] = symbol;
        }
        Some(Self { values, symbols, base, count })
    }

    /// The number of a string; `None` if the string is too long or has a byte that is not in the alphabet.
    #[must_use]
    pub fn number(&self, string: &[u8]) -> Option<u64> {
        if string.len() > self.count {
            return None;
        }
        let value = |&byte: &u8| self.values.get(usize::from(byte)).copied().filter(|&value| value > 0);
        (0..self.count).try_fold(0, |number, place| {
            let digit = string.get(place).map_or(Some(0), value)?;
            Some(number * self.base + u64::from(digit))
        })
    }

    /// Appends the numbers of strings, each of which is in `bytes` from one offset to the next. A string without a
    /// number adds 0 and clears its entry in `fits`, which has one for each string.
    ///
    /// # Panics
    /// If offsets do not ascend, or are out of bounds.
    pub fn numbers(&self, level: Level, offsets: &[i32], bytes: &[u8], fits: &mut [bool], numbers: &mut Vec<u64>) {
        match level.min(Level::best()) {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the level is not above the best one that was detected.
            Level::Avx512 => unsafe { avx512::numbers(self, offsets, bytes, fits, numbers) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: likewise.
            Level::Avx2 => unsafe { avx2::numbers(self, offsets, bytes, fits, numbers) },
            _ => self.portable(offsets, bytes, fits, numbers),
        }
    }

    /// Whether [`Numerals::strings`] is vectorised at this level.
    #[must_use]
    pub fn writes_several(level: Level) -> bool {
        level.min(Level::best()) >= Level::Avx2
    }

    /// Appends the strings with these [numbers](Numerals::number), and where each ends in `bytes`. For other numbers,
    /// some string of at most [`MAX_DIGITS`] bytes is appended.
    pub fn strings(&self, level: Level, numbers: &[u64], ends: &mut Vec<usize>, bytes: &mut Vec<u8>) {
        match level.min(Level::best()) {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the level is not above the best one that was detected.
            Level::Avx512 => unsafe { avx512::strings(self, numbers, ends, bytes) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: likewise.
            Level::Avx2 => unsafe { avx2::strings(self, numbers, ends, bytes) },
            _ => numbers.iter().for_each(|&number| self.write(number, ends, bytes)),
        }
    }

    /// The indexes of a shuffle that moves the digits of each string to the end of its bytes, which are [`MAX_DIGITS`];
    /// those before them are set to 0.
    #[cfg(target_arch = "x86_64")]
    fn to_end<const BYTES: usize>(&self) -> [i8; BYTES] {
        let skipped = MAX_DIGITS - self.count;
        std::array::from_fn(|byte| (byte % MAX_DIGITS).checked_sub(skipped).map_or(-1, |from| from as i8))
    }

    /// The indexes of the opposite shuffle, which sets the bytes after the digits to 0.
    #[cfg(target_arch = "x86_64")]
    fn to_start<const BYTES: usize>(&self) -> [i8; BYTES] {
        let skipped = MAX_DIGITS - self.count;
        std::array::from_fn(
            |byte| {
                if byte % MAX_DIGITS < self.count { (byte % MAX_DIGITS + skipped) as i8 } else { -1 }
            },
        )
    }

    fn write(&self, number: u64, ends: &mut Vec<usize>, bytes: &mut Vec<u8>) {
        let mut digits = [0; MAX_DIGITS];
        let mut rest = number;
        for digit in digits[..self.count].iter_mut().rev() {
            *digit = (rest % self.base) as u8;
            rest /= self.base;
        }
        let used = digits.iter().take_while(|&&digit| digit > 0);
        bytes.extend(used.map(|&digit| self.symbols[usize::from(digit)]));
        ends.push(bytes.len());
    }

    fn portable(&self, offsets: &[i32], bytes: &[u8], fits: &mut [bool], numbers: &mut Vec<u64>) {
        numbers.extend(offsets.windows(2).zip(fits).map(|(ends, fits)| {
            let number = self.number(&bytes[ends[0] as usize..ends[1] as usize]);
            *fits &= number.is_some();
            number.unwrap_or(0)
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn all_levels_find_the_same_numbers(
            strings in prop::collection::vec(
                prop_oneof![4 => "[0-9.]{0,18}", 1 => "[0-9.a\u{0}é]{0,18}", 1 => "[a\u{0}]{0,18}"], 0..40,
            ),
            alphabet in prop::sample::select(
                vec![".0123456789", "0123456789", ".0123456789abcdef", "a", "\u{0}a", "\u{0}.0123456789a"],
            ),
            count in 0usize..17
        ) {
            let Some(numerals) = Numerals::new(alphabet.as_bytes(), count) else { return Ok(()) };
            let mut offsets = vec![0];
            strings.iter().for_each(|string| offsets.push(offsets[offsets.len() - 1] + string.len() as i32));
            let bytes = strings.concat();
            for level in Level::available() {
                let (mut numbers, mut fits) = (vec![7], vec![true; strings.len()]);
                numerals.numbers(level, &offsets, bytes.as_bytes(), &mut fits, &mut numbers);
                for ((string, number), fits) in strings.iter().zip(&numbers[1..]).zip(fits) {
                    prop_assert_eq!(fits.then_some(*number), numerals.number(string.as_bytes()), "{:?} {}", level, string);
                    prop_assert!(fits || *number == 0);
                }
                prop_assert_eq!(numbers.len(), strings.len() + 1);
            }
        }

        #[test]
        fn all_levels_write_the_strings_of_numbers(
            symbols in 1usize..127, count in 0usize..17, strings in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..17), 0..40)
        ) {
            let alphabet: Vec<u8> = (1..=symbols as u8).collect();
            let count = (0..=count).rev().find(|&count| Numerals::new(&alphabet, count).is_some()).unwrap();
            let numerals = Numerals::new(&alphabet, count).unwrap();
            let symbol = |byte: u8| if byte > 250 { symbols as u8 } else { byte % symbols as u8 + 1 };
            let strings = strings.into_iter().map(|string| string.into_iter().take(count).map(symbol).collect());
            let strings: Vec<Vec<u8>> = strings.chain([vec![symbols as u8; count]]).collect();
            let numbers: Vec<u64> = strings.iter().map(|string| numerals.number(string).unwrap()).collect();
            for level in Level::available() {
                let (mut ends, mut bytes) = (vec![2], vec![7, 8]);
                numerals.strings(level, &numbers, &mut ends, &mut bytes);
                let found: Vec<&[u8]> = ends.windows(2).map(|ends| &bytes[ends[0]..ends[1]]).collect();
                prop_assert_eq!(&found, &strings, "{:?}", level);
                prop_assert_eq!(ends[strings.len()], bytes.len());
                // Numbers without a string are handled gracefully.
                numerals.strings(level, &[u64::MAX, u64::MAX - 1, 1 << 63, 1 << 61, 3, 2, 1, 0], &mut ends, &mut bytes);
                prop_assert!(ends.is_sorted() && *ends.last().unwrap() == bytes.len());
            }
        }

        #[test]
        fn numbers_order_as_strings(one in "[0-9.]{0,15}", other in "[0-9.]{0,15}") {
            let numerals = Numerals::new(b".0123456789", 15).unwrap();
            let [a, b] = [&one, &other].map(|string| numerals.number(string.as_bytes()).unwrap());
            prop_assert_eq!(a.cmp(&b), one.cmp(&other));
        }
    }

    #[test]
    fn invalid_alphabets_and_strings_are_rejected() {
        assert!(Numerals::new(b"ba", 3).is_none(), "not in order");
        assert!(Numerals::new(b"0123456789", 17).is_none(), "too long");
        assert!(Numerals::new("é".as_bytes(), 3).is_none(), "not ASCII");
        assert!(Numerals::new(b".0123456789abcdef", 16).is_none(), "too large");
        let numerals = Numerals::new(b"ab", 3).unwrap();
        let numbers = [&b""[..], b"a", b"ab", b"bbb", b"abab", b"c"].map(|string| numerals.number(string));
        assert_eq!(numbers, [Some(0), Some(9), Some(15), Some(26), None, None]);
    }
}
