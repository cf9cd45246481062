//! Blocks with AVX-512: one register per block.

use super::FieldEnd;
use super::blocks::{BLOCK, BlockText, Blocks, FieldEnds, SHIFTED_INDEXES};
use crate::isa::Avx512;
use std::arch::x86_64::*;

impl Blocks for Avx512 {
    #[inline(always)]
    unsafe fn positions(block: &[u8; BLOCK], needle: u8) -> u64 {
        // SAFETY: a block is as large as a register; the caller promises the instructions.
        unsafe {
            let bytes = _mm512_loadu_si512(block.as_ptr().cast());
            _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(needle as i8))
        }
    }

    #[inline(always)]
    unsafe fn prefix_xor(bits: u64) -> u64 {
        // SAFETY: the caller promises the instructions.
        unsafe { prefix_xor(bits) }
    }

    /// The positions and flags of the ends are compressed as bytes, then widened. They are compressed into a register:
    /// compressing to memory is slow on some processors.
    #[inline(always)]
    unsafe fn emit<const QUOTES: bool>(_: &BlockText<'_>, found: &FieldEnds, base: usize, out: *mut FieldEnd) {
        let count = found.ends.count_ones();
        // SAFETY: the caller promises the instructions, and room for twice as many ends as a block has bytes; at most
        // 15 excess entries are written.
        unsafe {
            let indexes = _mm512_loadu_si512(SHIFTED_INDEXES.as_ptr().cast());
            let flagged = _mm512_mask_add_epi8(indexes, found.rows, indexes, _mm512_set1_epi8(FieldEnd::ROW as i8));
            let quoted = _mm512_set1_epi8(FieldEnd::QUOTED as i8);
            let flagged = _mm512_mask_add_epi8(flagged, found.quoted(), flagged, quoted);
            let mut picked = _mm512_maskz_compress_epi8(found.ends, flagged);
            let base = _mm512_set1_epi32((base << FieldEnd::FLAG_BITS) as i32);
            let store = |picked: __m512i, at: usize| {
                let ends = _mm512_add_epi32(_mm512_cvtepu8_epi32(_mm512_castsi512_si128(picked)), base);
                _mm512_storeu_si512(out.add(at).cast(), ends);
            };
            store(picked, 0);
            let mut at = 16;
            while at < count as usize {
                picked = _mm512_alignr_epi32::<4>(picked, picked);
                store(picked, at);
                at += 16;
            }
        }
    }
}

/// # Safety
/// The processor has PCLMULQDQ.
#[target_feature(enable = "pclmulqdq,sse2")]
#[inline]
pub(super) unsafe fn prefix_xor(bits: u64) -> u64 {
    let product = _mm_clmulepi64_si128::<0>(_mm_cvtsi64_si128(bits as i64), _mm_set1_epi8(-1));
    _mm_cvtsi128_si64(product) as u64
}
