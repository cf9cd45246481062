//! Blocks with AVX2: two registers per block.

use super::FieldEnd;
use super::avx512::prefix_xor;
use super::blocks::{BLOCK, BlockText, Blocks, FieldEnds, SHIFTED_INDEXES};
use crate::cpu::ONES;
use crate::isa::Avx2;
use std::arch::x86_64::*;

/// The flags of 32 ends as bytes.
#[inline(always)]
unsafe fn flags(bits: u32, flag: u32) -> __m256i {
    // SAFETY: the caller promises the instructions.
    unsafe {
        let spread = _mm256_setr_epi64x(0, 0x0101_0101_0101_0101, 0x0202_0202_0202_0202, 0x0303_0303_0303_0303);
        let own_bit = _mm256_set1_epi64x(0x8040_2010_0804_0201_u64 as i64);
        let bytes = _mm256_and_si256(_mm256_shuffle_epi8(_mm256_set1_epi32(bits as i32), spread), own_bit);
        _mm256_and_si256(_mm256_cmpeq_epi8(bytes, own_bit), _mm256_set1_epi8(flag as i8))
    }
}

impl Blocks for Avx2 {
    #[inline(always)]
    unsafe fn positions(block: &[u8; BLOCK], needle: u8) -> u64 {
        // SAFETY: a block is as large as two registers; the caller promises the instructions.
        unsafe {
            let (halves, needle) = (block.as_ptr().cast::<__m256i>(), _mm256_set1_epi8(needle as i8));
            let equal = |half| {
                let bytes = _mm256_loadu_si256(halves.add(half));
                _mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, needle)) as u32
            };
            u64::from(equal(1)) << 32 | u64::from(equal(0))
        }
    }

    #[inline(always)]
    unsafe fn prefix_xor(bits: u64) -> u64 {
        // SAFETY: the caller promises the instructions.
        unsafe { prefix_xor(bits) }
    }

    /// A shuffle compacts the ends among eight bytes at a time, without a branch on their number. The flags of bytes that
    /// are no ends do not matter.
    #[inline(always)]
    unsafe fn emit<const QUOTES: bool>(
        &BlockText { text, first, needles }: &BlockText<'_>,
        found: &FieldEnds,
        base: usize,
        out: *mut FieldEnd,
    ) {
        let mut out = out.cast::<__m256i>();
        // SAFETY: the caller promises the instructions, and room for twice as many ends as a block has bytes; at most 8
        // excess entries are written. The block is in the text, and so is the one before it, unless it is the first. The
        // table has a shuffle for each value of a byte.
        unsafe {
            let block = text.as_ptr().add(base);
            let equal = |at: *const u8, needle: u8, flag: u32| {
                let found = _mm256_cmpeq_epi8(_mm256_loadu_si256(at.cast()), _mm256_set1_epi8(needle as i8));
                _mm256_and_si256(found, _mm256_set1_epi8(flag as i8))
            };
            // What is before the first block may be a quote that is data.
            let are_behind_quotes = found.after_return == 0 && base > first;
            let offset = _mm256_set1_epi32((base << FieldEnd::FLAG_BITS) as i32);
            for half in 0..2 {
                let rows = equal(block.add(32 * half), needles.line_end, FieldEnd::ROW);
                let quoted = match are_behind_quotes {
                    _ if !QUOTES => _mm256_setzero_si256(),
                    true => equal(block.add(32 * half).sub(1), needles.quote, FieldEnd::QUOTED),
                    false => flags((found.quoted() >> (32 * half)) as u32, FieldEnd::QUOTED),
                };
                let indexes = _mm256_loadu_si256(SHIFTED_INDEXES.as_ptr().add(32 * half).cast());
                let mut eighths = [0u64; 4];
                let flagged = _mm256_or_si256(indexes, _mm256_or_si256(rows, quoted));
                _mm256_storeu_si256(eighths.as_mut_ptr().cast(), flagged);
                for (flagged, eighth) in eighths.iter().zip(0..) {
                    let ends = (found.ends >> (32 * half + 8 * eighth)) as u8;
                    let shuffle = _mm_loadl_epi64(ONES.as_ptr().add(usize::from(ends)).cast());
                    let picked = _mm_shuffle_epi8(_mm_cvtsi64_si128(*flagged as i64), shuffle);
                    _mm256_storeu_si256(out, _mm256_add_epi32(_mm256_cvtepu8_epi32(picked), offset));
                    out = out.byte_add(4 * ends.count_ones() as usize);
                }
            }
        }
    }
}
