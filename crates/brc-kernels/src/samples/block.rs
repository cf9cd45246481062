//! Bit masks of 64 bytes of text, the lowest bit for the first byte.

/// The digits before each byte, and the ends of numbers.
#[derive(Clone, Copy)]
pub(super) struct Block {
    /// White space after a digit.
    pub(super) ends: u64,
    /// For each `n` from 1: bytes after at least `n` digits.
    pub(super) after_digits: [u64; 5],
}

/// The digits at the end of the previous block: for each `n` from 1, bit 0 is the byte that is `n` bytes before the
/// next block (and the bits above are the bytes after it).
pub(super) type Carry = [u64; 5];

impl Block {
    /// Creates a block from masks of digits, of white space, and of the bytes that count, and from the end of the
    /// previous block; `None` if any other byte counts, or a number has more than `DIGITS` digits.
    #[inline(always)]
    pub(super) fn new<const DIGITS: usize>(digits: u64, white: u64, valid: u64, carry: &mut Carry) -> Option<Self> {
        let mut after_digits = [0; 5];
        let mut all = !0;
        for place in 0..DIGITS {
            all &= digits << (place + 1) | carry[place];
            after_digits[place] = all;
            carry[place] = digits >> (63 - place);
        }
        if (!(digits | white) | digits & all) & valid != 0 {
            return None;
        }
        Some(Self { ends: white & after_digits[0] & valid, after_digits })
    }
}

/// A mask of the first `left` bytes.
#[inline(always)]
pub(super) fn first(left: usize) -> u64 {
    if left >= 64 { !0 } else { (1 << left) - 1 }
}
