//! Separators with NEON.

use super::portable::Separators;
use crate::isa::Neon;
use std::arch::aarch64::*;

/// The bit of each byte of eight.
static BITS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];

impl Separators for Neon {
    #[inline(always)]
    fn separators(block: &[u8; 64], delimiter: u8) -> u64 {
        // SAFETY: every processor of the target has NEON; the block is four registers.
        unsafe {
            let (delimiter, line_feed, bits) = (vdupq_n_u8(delimiter), vdupq_n_u8(b'\n'), vld1q_u8(BITS.as_ptr()));
            let found = |at: usize| {
                let bytes = vld1q_u8(block.as_ptr().add(at));
                vandq_u8(vorrq_u8(vceqq_u8(bytes, delimiter), vceqq_u8(bytes, line_feed)), bits)
            };
            // Three times the sums of pairs: the bits of eight bytes in each.
            let (low, high) = (vpaddq_u8(found(0), found(16)), vpaddq_u8(found(32), found(48)));
            let sums = vpaddq_u8(low, high);
            vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(sums, sums)))
        }
    }
}
