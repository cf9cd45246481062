//! Strings that are numbers in disguise, as in `id0000012345`: what decodes them as numbers, and what they look like.
//!
//! Whoever looks values up, rather than printing them, is faster with numbers: they index an array.

use super::Malformed;
use super::schemes::Packed;
use super::template::Template;
use std::ops::Range;

/// What numbers look like as strings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumberFormat {
    /// What is before the digits; its last byte is none.
    prefix: Vec<u8>,
    /// How many digits each number has; 0 if none has a leading zero.
    digits: usize,
    suffix: Vec<u8>,
}

impl NumberFormat {
    /// The number that a string is; `None` if it does not look like one.
    #[must_use]
    pub fn number(&self, value: &[u8]) -> Option<i64> {
        let digits = value.strip_prefix(self.prefix.as_slice())?.strip_suffix(self.suffix.as_slice())?;
        super::schemes::number(digits, self.digits)
    }

    /// Whether strings order as their numbers do.
    #[must_use]
    pub fn is_ordered(&self) -> bool {
        self.digits > 0
    }

    /// Replaces what is in `out` by a number as a string.
    pub fn write(&self, number: i64, out: &mut Vec<u8>) {
        use std::io::Write;
        out.clear();
        out.extend_from_slice(&self.prefix);
        // Writing to memory does not fail.
        let _ = write!(out, "{number:0width$}", width = self.digits);
        out.extend_from_slice(&self.suffix);
    }

    /// Makes of a number as a string the next one, if all have as many digits.
    pub fn increment(&self, text: &mut [u8]) {
        let end = text.len().saturating_sub(self.suffix.len());
        for digit in text[..end].iter_mut().rev().take(self.digits) {
            if *digit != b'9' {
                *digit += 1;
                return;
            }
            *digit = b'0';
        }
    }
}

/// The values of a block as numbers.
pub struct Numbers<'a> {
    /// What they look like.
    pub format: NumberFormat,
    packed: Packed<'a>,
    /// What the digits in the template stand for.
    base: i64,
}

impl<'a> Numbers<'a> {
    /// Numbers of which the digits that differ are packed; `None` if the template has them at several places.
    pub(super) fn new(template: &Template, packed: Packed<'a>) -> Option<Self> {
        let (prefix, suffix) = template.affixes()?;
        let shared = prefix.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let (prefix, shared) = prefix.split_at(prefix.len() - shared);
        if shared.is_empty() {
            let format = NumberFormat { prefix: prefix.to_vec(), digits: packed.digits, suffix: suffix.to_vec() };
            return Some(Self { format, packed, base: 0 });
        }
        let digits = shared.len() + packed.digits;
        if packed.digits == 0 {
            return None;
        }
        let base = super::schemes::number(shared, shared.len())?;
        // As many digits as fit 64 bits.
        let base = (digits <= super::schemes::MOST_DIGITS).then(|| base * 10i64.pow(packed.digits as u32))?;
        let format = NumberFormat { prefix: prefix.to_vec(), digits, suffix: suffix.to_vec() };
        Some(Self { format, packed, base })
    }

    /// Replaces what is in `out` by the numbers of some rows, the first of which starts a group.
    ///
    /// # Errors
    /// If the bytes are not those of a block.
    pub fn read(&self, rows: Range<usize>, out: &mut Vec<i64>) -> Result<(), Malformed> {
        self.packed.read(rows, out)?;
        if self.base != 0 {
            out.iter_mut().for_each(|number| *number += self.base);
        }
        Ok(())
    }
}
