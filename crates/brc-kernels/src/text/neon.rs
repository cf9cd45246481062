//! Separators with NEON.

use super::marks::Separators;
use super::portable::SeparatorsOnly;
use crate::isa::Neon;
use crate::structure::{bits_of_bytes, registers};
use std::arch::aarch64::*;

impl SeparatorsOnly for Neon {}

impl Separators for Neon {
    #[inline(always)]
    unsafe fn separators(block: &[u8; 64], delimiter: u8) -> u64 {
        let [a, b, c, d] = registers(block);
        // SAFETY: every processor of the target has NEON.
        unsafe {
            let (delimiter, line_feed) = (vdupq_n_u8(delimiter), vdupq_n_u8(b'\n'));
            let either = |bytes: uint8x16_t| vorrq_u8(vceqq_u8(bytes, delimiter), vceqq_u8(bytes, line_feed));
            bits_of_bytes([either(a), either(b), either(c), either(d)])
        }
    }
}
