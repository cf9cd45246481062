//! Exact sums of many floats, and of their products, where their exponents are close: as fixed-point numbers of three pieces
//! each, which vectors add and multiply. With AVX-512 that takes a third of the time of one float after the other as an integer
//! of 128 bits; without registers of 32 bytes, longer than that, and nothing is found here.

#[cfg(target_arch = "x86_64")]
mod x86;

use crate::cpu::Level;

/// The floats of a block: so many products of pieces are added in 64 bits.
pub(super) const BLOCK: usize = 256;

/// The bits of a piece. A float of 53 bits whose lowest piece is not 0 has 24 bits in its highest one at most: so three
/// products of the same weight come to less than twice 2⁵⁶, and those of the 64 floats of a lane, at most, stay below 2⁶³.
const BITS: u32 = 28;

/// How far the second integer of [`sum_of_products`] lies above the first.
pub(super) const PRODUCT_BITS: u32 = 3 * BITS;

/// The sum of at most [`BLOCK`] finite floats as an integer and the exponent of its unit; `None` if their exponents differ too
/// much, or they are better added one after the other.
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

/// The sum of the products of equally many finite floats, at most [`BLOCK`] each, as an integer and one in units of
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
