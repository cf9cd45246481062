//! Fixed-width numeric strings, such as `id0000012345`: decoding as numbers, and their text format.
//!
//! Lookups are faster with numbers than with strings, because numbers can index an array.

use super::Malformed;
use super::schemes::Packed;
use super::template::Template;
use std::ops::Range;

/// The text format of numeric strings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumberFormat {
    /// The text before the digits; it does not end with a digit.
    prefix: Vec<u8>,
    /// The number of digits of each number; 0 if none has a leading zero.
    digits: usize,
    suffix: Vec<u8>,
}

impl NumberFormat {
    /// The number in a string; `None` if the string does not match the format.
    #[must_use]
    pub fn number(&self, value: &[u8]) -> Option<i64> {
        let digits = value.strip_prefix(self.prefix.as_slice())?.strip_suffix(self.suffix.as_slice())?;
        super::schemes::number(digits, self.digits)
    }

    /// Whether the strings sort like their numbers.
    #[must_use]
    pub fn is_ordered(&self) -> bool {
        self.digits > 0
    }

    /// Replaces `out` with the text of a number.
    pub fn write(&self, number: i64, out: &mut Vec<u8>) {
        use std::io::Write;
        out.clear();
        out.extend_from_slice(&self.prefix);
        // Writing to memory does not fail.
        let _ = write!(out, "{number:0width$}", width = self.digits);
        out.extend_from_slice(&self.suffix);
    }

    /// Increments the text of a number in place, if all have the same number of digits.
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
    /// Their text format.
    pub format: NumberFormat,
    packed: Packed<'a>,
    /// The contribution of the shared digits in the template.
    base: i64,
}

impl<'a> Numbers<'a> {
    /// Numbers whose differing digits are packed; `None` if the template has several gaps.
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
        // Limited to the number of digits that fit 64 bits.
        let base = (digits <= super::schemes::MAX_DIGITS).then(|| base * 10i64.pow(packed.digits as u32))?;
        let format = NumberFormat { prefix: prefix.to_vec(), digits, suffix: suffix.to_vec() };
        Some(Self { format, packed, base })
    }

    /// Replaces `out` with the numbers of some rows, which start at a group.
    ///
    /// # Errors
    /// If the block is malformed.
    pub fn read(&self, rows: Range<usize>, out: &mut Vec<i64>) -> Result<(), Malformed> {
        self.packed.read(rows, out)?;
        if self.base != 0 {
            out.iter_mut().for_each(|number| *number += self.base);
        }
        Ok(())
    }
}
