//! The packed layout itself: unsigned values of up to 64 bits, in lanes.

use super::{Kernel, run_at};
use crate::cpu::Level;

/// Values in a full group.
pub const GROUP: usize = 1024;

/// The size of one word of every lane, in bytes: what packed data is a multiple of.
pub const LANE_ROW_BYTES: usize = 128;

/// The bits a value needs.
#[must_use]
pub fn width_of(value: u64) -> u32 {
    u64::BITS - value.leading_zeros()
}

/// The lane that values of this width are packed in: 16, 32 or 64 bits.
#[must_use]
pub fn lane_bits(width: u32) -> u32 {
    match width {
        0..=16 => 16,
        17..=32 => 32,
        _ => 64,
    }
}

/// The size of `count` packed values of this width in bytes; `None` if it does not fit 64 bits or `width` is above 64.
#[must_use]
pub fn packed_bytes(width: u32, count: u64) -> Option<u64> {
    if width > 64 {
        return None;
    }
    let bits = u64::from(lane_bits(width));
    let lanes = GROUP as u64 / bits;
    let group_bytes = u64::from(width) * LANE_ROW_BYTES as u64;
    let rest_rows = (count % GROUP as u64).div_ceil(lanes);
    let rest_bytes = (rest_rows * u64::from(width)).div_ceil(bits) * LANE_ROW_BYTES as u64;
    (count / GROUP as u64).checked_mul(group_bytes)?.checked_add(rest_bytes)
}

fn packed_length(width: u32, count: usize) -> usize {
    packed_bytes(width, count as u64).and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(usize::MAX)
}

/// An unsigned integer that values are packed from and unpacked to.
pub trait Lane: Copy + Default + Send + Sync + 'static {
    /// Its width in bits.
    const BITS: u32;

    #[doc(hidden)]
    fn pack_groups(width: u32, groups: &[[Self; GROUP]], packed: &mut [u8]);

    #[doc(hidden)]
    fn unpack_groups(width: u32, packed: &[u8], groups: &mut [[Self; GROUP]]);
}

/// Appends `values` in packed form.
///
/// Bits of a value above `width` are lost. Widths are packed in the lane that [`lane_bits`] tells.
///
/// # Panics
/// If `L` is not that lane.
pub fn pack<L: Lane>(level: Level, width: u32, values: &[L], packed: &mut Vec<u8>) {
    assert_eq!(L::BITS, lane_bits(width), "values of {width} bits are packed in another lane");
    let start = packed.len();
    packed.resize(start + packed_length(width, values.len()), 0);
    let (groups, rest) = values.as_chunks::<GROUP>();
    let (full, tail) = packed[start..].split_at_mut(groups.len() * width as usize * LANE_ROW_BYTES);
    run_at(level, Pack { width, groups, packed: full });
    if !rest.is_empty() {
        let mut group = [L::default(); GROUP];
        group[..rest.len()].copy_from_slice(rest);
        let mut room = [0; GROUP * 8];
        let room = &mut room[..width as usize * LANE_ROW_BYTES];
        run_at(level, Pack { width, groups: std::slice::from_ref(&group), packed: room });
        tail.copy_from_slice(&room[..tail.len()]);
    }
}

/// Unpacks the first `values.len()` values of `packed`.
///
/// # Panics
/// If `L` is not the lane that [`lane_bits`] tells, or `packed` is shorter than [`packed_bytes`].
pub fn unpack<L: Lane>(level: Level, width: u32, packed: &[u8], values: &mut [L]) {
    assert_eq!(L::BITS, lane_bits(width), "values of {width} bits are packed in another lane");
    let packed = &packed[..packed_length(width, values.len())];
    let (groups, rest) = values.as_chunks_mut::<GROUP>();
    let (full, tail) = packed.split_at(groups.len() * width as usize * LANE_ROW_BYTES);
    run_at(level, Unpack { width, packed: full, groups });
    if !rest.is_empty() {
        let mut room = [0; GROUP * 8];
        let room = &mut room[..width as usize * LANE_ROW_BYTES];
        room[..tail.len()].copy_from_slice(tail);
        let mut group = [L::default(); GROUP];
        run_at(level, Unpack { width, packed: room, groups: std::slice::from_mut(&mut group) });
        rest.copy_from_slice(&group[..rest.len()]);
    }
}

struct Pack<'a, L> {
    width: u32,
    groups: &'a [[L; GROUP]],
    packed: &'a mut [u8],
}

impl<L: Lane> Kernel for Pack<'_, L> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        L::pack_groups(self.width, self.groups, self.packed);
    }
}

struct Unpack<'a, L> {
    width: u32,
    packed: &'a [u8],
    groups: &'a mut [[L; GROUP]],
}

impl<L: Lane> Kernel for Unpack<'_, L> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        L::unpack_groups(self.width, self.packed, self.groups);
    }
}

/// Implements [`Lane`]: one copy of the loops for each width, so that all shifts are constants.
macro_rules! lane {
    ($lane:ident, $pack:ident, $unpack:ident, $from_bytes:ident, $to_bytes:ident, $($width:literal)+) => {
        #[inline(always)]
        fn $pack<const WIDTH: usize>(group: &[$lane; GROUP], packed: &mut [u8]) {
            const BITS: usize = $lane::BITS as usize;
            const LANES: usize = GROUP / BITS;
            let mask = $lane::MAX >> (BITS - WIDTH);
            let (packed, _) = packed.as_chunks_mut::<LANE_ROW_BYTES>();
            let mut pending = [0 as $lane; LANES];
            for (row, values) in group.as_chunks::<LANES>().0.iter().enumerate() {
                let (word, shift) = (row * WIDTH / BITS, row * WIDTH % BITS);
                let mut next = [0 as $lane; LANES];
                for lane in 0..LANES {
                    pending[lane] |= (values[lane] & mask) << shift;
                }
                if shift + WIDTH >= BITS {
                    if shift + WIDTH > BITS {
                        for lane in 0..LANES {
                            next[lane] = (values[lane] & mask) >> (BITS - shift);
                        }
                    }
                    if let Some(bytes) = packed.get_mut(word) {
                        *bytes = $to_bytes(pending);
                    }
                    pending = next;
                }
            }
        }

        #[inline(always)]
        fn $unpack<const WIDTH: usize>(packed: &[u8], group: &mut [$lane; GROUP]) {
            const BITS: usize = $lane::BITS as usize;
            const LANES: usize = GROUP / BITS;
            let mask = $lane::MAX >> (BITS - WIDTH);
            let (packed, _) = packed.as_chunks::<LANE_ROW_BYTES>();
            let Some(words) = packed.first_chunk::<WIDTH>() else { return };
            for (row, values) in group.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
                let (word, shift) = (row * WIDTH / BITS, row * WIDTH % BITS);
                let mut unpacked = $from_bytes(&words[word]);
                for value in &mut unpacked {
                    *value >>= shift;
                }
                if shift + WIDTH > BITS {
                    let high = $from_bytes(&words[word + 1]);
                    for lane in 0..LANES {
                        unpacked[lane] |= high[lane] << (BITS - shift);
                    }
                }
                for value in &mut unpacked {
                    *value &= mask;
                }
                *values = unpacked;
            }
        }

        #[inline(always)]
        fn $from_bytes(bytes: &[u8; LANE_ROW_BYTES]) -> [$lane; GROUP / $lane::BITS as usize] {
            // SAFETY: both are 128 bytes, and every bit pattern is a value of either.
            let words: [$lane; GROUP / $lane::BITS as usize] = unsafe { std::mem::transmute(*bytes) };
            if cfg!(target_endian = "big") { words.map($lane::swap_bytes) } else { words }
        }

        #[inline(always)]
        fn $to_bytes(words: [$lane; GROUP / $lane::BITS as usize]) -> [u8; LANE_ROW_BYTES] {
            let words = if cfg!(target_endian = "big") { words.map($lane::swap_bytes) } else { words };
            // SAFETY: both are 128 bytes, and every bit pattern is a value of either.
            unsafe { std::mem::transmute(words) }
        }

        impl Lane for $lane {
            const BITS: u32 = $lane::BITS;

            #[inline(always)]
            fn pack_groups(width: u32, groups: &[[Self; GROUP]], packed: &mut [u8]) {
                match width {
                    0 => {}
                    $($width => {
                        for (group, packed) in groups.iter().zip(packed.chunks_exact_mut($width * LANE_ROW_BYTES)) {
                            $pack::<$width>(group, packed);
                        }
                    })+
                    _ => unreachable!("the width was checked"),
                }
            }

            #[inline(always)]
            fn unpack_groups(width: u32, packed: &[u8], groups: &mut [[Self; GROUP]]) {
                match width {
                    0 => groups.as_flattened_mut().fill(0),
                    $($width => {
                        for (group, packed) in groups.iter_mut().zip(packed.chunks_exact($width * LANE_ROW_BYTES)) {
                            $unpack::<$width>(packed, group);
                        }
                    })+
                    _ => unreachable!("the width was checked"),
                }
            }
        }
    };
}

lane!(u16, pack_u16, unpack_u16, u16_from_bytes, u16_to_bytes, 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16);
lane!(u32, pack_u32, unpack_u32, u32_from_bytes, u32_to_bytes, 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32);
lane!(u64, pack_u64, unpack_u64, u64_from_bytes, u64_to_bytes,
    33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64);
