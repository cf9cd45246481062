//! The finaliser of SplitMix64, for hashes and random numbers that must be the same in every version and on every
//! machine.

/// A bijection on 64-bit numbers whose results look random.
#[inline]
pub(crate) fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}
