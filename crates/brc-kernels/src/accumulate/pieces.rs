//! Exact sums of many floats, and of their products, whose exponents are close: as fixed-point numbers of three pieces
//! each, which vectors add and multiply. With AVX-512 this takes a third of the time of adding one float after another
//! as a 128-bit integer; without 32-byte registers it is slower, and the functions return `None`.

#[cfg(target_arch = "x86_64")]
mod x86;

use crate::cpu::Level;

/// The number of floats of a block, limited so that sums of products of pieces fit in 64 bits.
pub(super) const BLOCK: usize = 256;

/// The number of bits of a piece. A 53-bit float with a nonzero lowest piece has at most 24 bits in its highest piece:
/// three products of the same weight are below twice 2⁵⁶, and those of the at most 64 floats of a SIMD lane below 2⁶³.
const BITS: u32 = 28;

/// The number of bits by which the second integer of [`sum_of_products`] is shifted relative to the first.
pub(super) const PRODUCT_BITS: u32 = 3 * BITS;

/// The sum of at most [`BLOCK`] finite floats as an integer and the exponent of its unit; `None` if their exponents
/// differ too much, or adding them one by one is faster.
pub(super) fn sum(level: Level, values: &[f64]) -> Option<(i128, i32)> {
    match level.min(Level::best()) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level is not above the best one that was detected.
        Level::Avx512 => unsafe { x86::avx512::sum(values) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: likewise.
        Level::Avx2 => unsafe { x86::avx2::sum(values) },
        _ => {
            let _ = values;
            None
        }
    }
}

/// The sum of the products of at most [`BLOCK`] pairs of finite floats, as a low integer and a high one in units of
/// [`PRODUCT_BITS`] bits more, and the exponent of the unit; `None` as above.
pub(super) fn sum_of_products(level: Level, ones: &[f64], others: &[f64]) -> Option<([i128; 2], i32)> {
    match level.min(Level::best()) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level is not above the best one that was detected.
        Level::Avx512 => unsafe { x86::avx512::sum_of_products(ones, others) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: likewise.
        Level::Avx2 => unsafe { x86::avx2::sum_of_products(ones, others) },
        _ => {
            let _ = (ones, others);
            None
        }
    }
}
