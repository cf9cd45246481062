//! Unpacks dictionary codes and computes their maximum in the same pass, so that checking them against the dictionary
//! needs no second one.

use super::lanes::{GROUP, Lane, lane_bits};
use super::values::{PackedGroups, packed_length};
use crate::cpu::{Kernel, Level, run_at};
use std::marker::PhantomData;

/// Unpacks codes from index `first` of `packed` on, as many as fit in `codes`, and adds `base` to each, modulo 2³².
/// Returns the largest of them [as unsigned](crate::direct::unsigned), or 0 if there are none.
///
/// # Panics
/// If `width` is above 32, or `packed` has fewer than [`packed_bytes`](super::packed_bytes) for all codes up to the
/// last requested one.
pub fn unpack_codes(level: Level, width: u32, packed: &[u8], first: usize, base: i64, codes: &mut [i32]) -> u32 {
    assert!(packed.len() >= packed_length(width, first + codes.len()), "all codes up to the last one wanted");
    assert!(width <= u32::BITS, "codes of up to 32 bits");
    let base = base as u32;
    match lane_bits(width) {
        16 => run_at(level, UnpackCodes::<u16> { width, packed, first, base, codes, lane: PhantomData }),
        _ => run_at(level, UnpackCodes::<u32> { width, packed, first, base, codes, lane: PhantomData }),
    }
}

struct UnpackCodes<'a, L> {
    width: u32,
    packed: &'a [u8],
    first: usize,
    base: u32,
    codes: &'a mut [i32],
    lane: PhantomData<L>,
}

impl<L: Lane + Into<u32>> Kernel for UnpackCodes<'_, L> {
    type Output = u32;

    #[inline(always)]
    fn run(self) -> u32 {
        let Self { width, packed, first, base, codes, .. } = self;
        let (mut lanes, mut largest) = ([L::default(); GROUP], 0);
        let mut groups = PackedGroups::new(width, packed, first, codes);
        while let Some((packed, skipped, codes)) = groups.next() {
            L::unpack_group(width, packed, L::default(), &mut lanes);
            for (code, &lane) in codes.iter_mut().zip(&lanes[skipped..]) {
                let unsigned = base.wrapping_add(lane.into());
                *code = unsigned as i32;
                largest = largest.max(unsigned);
            }
        }
        largest
    }
}
