//! What is where in 64 bytes of text: a bit for each byte, the lowest one for the first.

/// The digits before a byte, and where numbers end.
#[derive(Clone, Copy)]
pub(super) struct Block {
    /// White space behind a digit.
    pub(super) ends: u64,
    /// For each count from 1: behind at least so many digits.
    pub(super) behind: [u64; 5],
}

/// The digits at the end of the block before: for each count from 1, whether the last but so many was one, as bit 0 (and what
/// came behind it above).
pub(super) type Carry = [u64; 5];

impl Block {
    /// Of bytes that are digits, bytes that are white space, those that count, and the end of the block before; `None` if
    /// any of them is something else, or a number has more than `DIGITS` digits.
    #[inline(always)]
    pub(super) fn new<const DIGITS: usize>(digits: u64, white: u64, valid: u64, carry: &mut Carry) -> Option<Self> {
        let mut behind = [0; 5];
        let mut all = !0;
        for place in 0..DIGITS {
            all &= digits << (place + 1) | carry[place];
            behind[place] = all;
            carry[place] = digits >> (63 - place);
        }
        if (!(digits | white) | digits & all) & valid != 0 {
            return None;
        }
        Some(Self { ends: white & behind[0] & valid, behind })
    }
}

/// The first of `left` bytes.
#[inline(always)]
pub(super) fn first(left: usize) -> u64 {
    if left >= 64 { !0 } else { (1 << left) - 1 }
}
