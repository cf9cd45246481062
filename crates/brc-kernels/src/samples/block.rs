//! What is where in 64 bytes of text: a bit for each byte, the lowest one for the first.

/// The digits before a byte, and where numbers end.
#[derive(Clone, Copy)]
pub(super) struct Block {
    /// White space behind a digit.
    pub(super) ends: u64,
    /// For each count from 1: behind at least so many digits.
    pub(super) behind: [u64; 5],
}

impl Block {
    /// Of bytes that are digits, bytes that are white space, those that count, and the digits of the block before; `None`
    /// if any of them is something else, or a number is longer than `most` digits.
    #[inline(always)]
    pub(super) fn new<const DIGITS: usize>(
        digits: u64,
        white: u64,
        valid: u64,
        before: u64,
        most: u32,
    ) -> Option<Self> {
        let mut behind = [0; 5];
        let mut all = !0;
        for (index, behind) in behind[..DIGITS].iter_mut().enumerate() {
            all &= digits << (index + 1) | before >> (63 - index);
            *behind = all;
        }
        let too_long = digits & behind[most as usize - 1];
        if (!(digits | white) | too_long) & valid != 0 {
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
