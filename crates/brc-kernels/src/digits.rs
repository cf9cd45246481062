//! Fixed-width numeric strings: a common prefix followed by decimal digits, as in `id0000012345`. As numbers they can
//! index an array, whereas strings would have to be hashed.

use crate::cpu::{Kernel, Level, run_at};

const ZEROS: u64 = 0x3030_3030_3030_3030;

/// The format that fixed-width numeric strings share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Digits {
    len: usize,
    /// The bits that the first eight bytes of every string have under this mask.
    prefix: u64,
    prefix_mask: u64,
    /// The digit positions in the bytes before the last eight, shifted up to the end of a word.
    upper_mask: u64,
    /// The digit positions in the last eight bytes.
    lower_mask: u64,
}

/// A mask of the first `bytes` of eight.
fn first(bytes: usize) -> u64 {
    if bytes >= 8 { u64::MAX } else { (1 << (8 * bytes)) - 1 }
}

impl Digits {
    /// Derives the format from one string; `None` if it does not have 8 to 16 bytes, does not end with a digit, or has
    /// other bytes than digits after the first eight.
    #[must_use]
    pub fn of(string: &[u8]) -> Option<Self> {
        let len = string.len();
        let prefix_len = string.iter().rposition(|byte| !byte.is_ascii_digit()).map_or(0, |last| last + 1);
        if !(8..=16).contains(&len) || prefix_len > 8 || prefix_len == len {
            return None;
        }
        let prefix_mask = first(prefix_len);
        let before = len - 8;
        Some(Self {
            len,
            prefix: u64::from_le_bytes(*string.first_chunk()?) & prefix_mask,
            prefix_mask,
            upper_mask: !first(8 - before + prefix_len.min(before)),
            lower_mask: !first(prefix_len.saturating_sub(before)),
        })
    }

    /// Replaces `values` by the numbers of strings that are contiguous in `bytes`, each from one of `offsets` to the
    /// next; `false` if a string does not have this format.
    pub fn parse(&self, level: Level, offsets: &[i32], bytes: &[u8], values: &mut Vec<i64>) -> bool {
        values.clear();
        let (Some(&start), Some(&end)) = (offsets.first(), offsets.last()) else { return false };
        let Some(strings) = bytes.get(start as usize..end as usize) else { return false };
        if !offsets.windows(2).all(|pair| pair[1].wrapping_sub(pair[0]) as usize == self.len) {
            return false;
        }
        run_at(level, Parse { digits: *self, strings, values })
    }

    #[inline(always)]
    fn value(&self, string: &[u8]) -> Option<i64> {
        let first = u64::from_le_bytes(*string.first_chunk()?);
        let last = u64::from_le_bytes(*string.last_chunk()?);
        // In two steps, because a shift by 64 bits is not defined.
        let upper = first << (4 * (16 - self.len)) << (4 * (16 - self.len));
        let upper = upper & self.upper_mask | ZEROS & !self.upper_mask;
        let lower = last & self.lower_mask | ZEROS & !self.lower_mask;
        let fits = (first & self.prefix_mask == self.prefix) & are_digits(upper) & are_digits(lower);
        fits.then(|| number(upper) * 100_000_000 + number(lower))
    }
}

struct Parse<'a> {
    digits: Digits,
    strings: &'a [u8],
    values: &'a mut Vec<i64>,
}

impl Kernel for Parse<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let strings = self.strings.chunks_exact(self.digits.len);
        let count = strings.len();
        self.values.extend(strings.map_while(|string| self.digits.value(string)));
        self.values.len() == count
    }
}

#[inline(always)]
fn are_digits(bytes: u64) -> bool {
    const UPPER: u64 = 0xf0f0_f0f0_f0f0_f0f0;
    (bytes & UPPER == ZEROS) & (bytes.wrapping_add(0x0606_0606_0606_0606) & UPPER == ZEROS)
}

/// Parses eight digits by combining pairs of digits, then pairs of pairs, then both halves.
#[inline(always)]
fn number(digits: u64) -> i64 {
    let pairs = (digits & 0x0f0f_0f0f_0f0f_0f0f).wrapping_mul(10 << 8 | 1) >> 8;
    let fours = (pairs & 0x00ff_00ff_00ff_00ff).wrapping_mul(100 << 16 | 1) >> 16;
    ((fours & 0x0000_ffff_0000_ffff).wrapping_mul(10_000 << 32 | 1) >> 32) as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parsed(digits: Digits, level: Level, strings: &[String]) -> Option<Vec<i64>> {
        let mut offsets = vec![0];
        strings.iter().for_each(|string| offsets.push(offsets[offsets.len() - 1] + string.len() as i32));
        let mut values = Vec::new();
        digits.parse(level, &offsets, strings.concat().as_bytes(), &mut values).then_some(values)
    }

    proptest! {
        #[test]
        fn numbers_are_read(
            prefix in "[a-z:/]{0,8}",
            width in 1usize..17,
            numbers in prop::collection::vec(0i64..10_000_000_000_000_000, 1..20),
            odd in (0usize..20, 0usize..16, prop::sample::select(vec![b'/', b':', b'x', 0xb0])),
        ) {
            let numbers: Vec<i64> = numbers.iter().map(|number| number % 10i64.pow(width.min(16) as u32)).collect();
            let strings: Vec<String> = numbers.iter().map(|number| format!("{prefix}{number:0width$}")).collect();
            let len = prefix.len() + width;
            let Some(digits) = Digits::of(strings[0].as_bytes()) else {
                prop_assert!(!(8..=16).contains(&len));
                return Ok(());
            };
            for level in Level::available() {
                prop_assert_eq!(parsed(digits, level, &strings), Some(numbers.clone()));
                let longer = [strings.clone(), vec![format!("{}0", strings[0])]].concat();
                prop_assert_eq!(parsed(digits, level, &longer), None);
                let mut other = strings.clone();
                let (row, byte) = (odd.0 % other.len(), odd.1 % len);
                if odd.2.is_ascii() && other[row].as_bytes()[byte] != odd.2 {
                    other[row].replace_range(byte..byte + 1, &char::from(odd.2).to_string());
                    prop_assert_eq!(parsed(digits, level, &other), None);
                }
            }
        }
    }

    #[test]
    fn other_strings_have_no_format() {
        for string in ["", "1234567", "12345678901234567", "id00000x", "abcdefghi1"] {
            assert_eq!(Digits::of(string.as_bytes()), None, "{string}");
        }
    }
}
