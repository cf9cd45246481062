//! Blocks with NEON: four registers per block.

use super::blocks::{BLOCK, Blocks};
use crate::isa::Neon;
use std::arch::aarch64::*;

/// The bit of each byte among eight.
static BITS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];

/// A mask of the bytes of a block that are all ones; the other bytes must be 0.
#[inline(always)]
pub(crate) fn bits_of_bytes(found: [uint8x16_t; 4]) -> u64 {
    // SAFETY: every processor of the target has NEON; the table has sixteen bytes.
    unsafe {
        let bits = vld1q_u8(BITS.as_ptr());
        // Three times the sums of pairs: in the end each byte has the bits of eight.
        let low = vpaddq_u8(vandq_u8(found[0], bits), vandq_u8(found[1], bits));
        let high = vpaddq_u8(vandq_u8(found[2], bits), vandq_u8(found[3], bits));
        let sums = vpaddq_u8(low, high);
        vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(sums, sums)))
    }
}

/// The registers of a block.
#[inline(always)]
pub(crate) fn registers(block: &[u8; BLOCK]) -> [uint8x16_t; 4] {
    // SAFETY: every processor of the target has NEON; the block is as large as four registers.
    unsafe {
        let at = |at: usize| vld1q_u8(block.as_ptr().add(at));
        [at(0), at(16), at(32), at(48)]
    }
}

impl Blocks for Neon {
    #[inline(always)]
    unsafe fn positions(block: &[u8; BLOCK], needle: u8) -> u64 {
        // SAFETY: every processor of the target has NEON.
        unsafe {
            let needle = vdupq_n_u8(needle);
            bits_of_bytes(registers(block).map(|bytes| vceqq_u8(bytes, needle)))
        }
    }
}
