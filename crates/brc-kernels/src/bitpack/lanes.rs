//! The packed layout: groups of unsigned values of up to 64 bits, in lanes.

/// The number of values in a full group.
pub const GROUP: usize = 1024;

/// The size of one word of every lane, in bytes; packed data is a multiple of it.
pub const LANE_ROW_BYTES: usize = 128;

/// The number of bits that a value needs.
#[must_use]
pub fn width_of(value: u64) -> u32 {
    u64::BITS - value.leading_zeros()
}

/// The width of the lane in which values of this width are packed: 16, 32 or 64 bits.
#[must_use]
pub fn lane_bits(width: u32) -> u32 {
    match width {
        0..=16 => 16,
        17..=32 => 32,
        _ => 64,
    }
}

/// The packed size of `count` values of this width, in bytes; `None` if it does not fit in 64 bits or `width` is above
/// 64.
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

/// An unsigned integer type of a lane.
pub(super) trait Lane: Copy + Default {
    /// Packs a group, as far as `packed` has room: less for a last group that is not full.
    fn pack_group(width: u32, group: &[Self; GROUP], packed: &mut [u8]);

    /// Unpacks a full group and adds `base` to each value, wrapping.
    fn unpack_group(width: u32, packed: &[u8], base: Self, group: &mut [Self; GROUP]);
}

/// Implements [`Lane`] with one copy of the loops for each width, so that all shifts are constants.
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
        fn $unpack<const WIDTH: usize>(packed: &[u8], base: $lane, group: &mut [$lane; GROUP]) {
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
                    *value = (*value & mask).wrapping_add(base);
                }
                *values = unpacked;
            }
        }

        #[inline(always)]
        fn $from_bytes(bytes: &[u8; LANE_ROW_BYTES]) -> [$lane; GROUP / $lane::BITS as usize] {
            // SAFETY: both have 128 bytes, and every bit pattern is valid for both.
            let words: [$lane; GROUP / $lane::BITS as usize] = unsafe { std::mem::transmute(*bytes) };
            if cfg!(target_endian = "big") { words.map($lane::swap_bytes) } else { words }
        }

        #[inline(always)]
        fn $to_bytes(words: [$lane; GROUP / $lane::BITS as usize]) -> [u8; LANE_ROW_BYTES] {
            let words = if cfg!(target_endian = "big") { words.map($lane::swap_bytes) } else { words };
            // SAFETY: both have 128 bytes, and every bit pattern is valid for both.
            unsafe { std::mem::transmute(words) }
        }

        impl Lane for $lane {
            #[inline(always)]
            fn pack_group(width: u32, group: &[Self; GROUP], packed: &mut [u8]) {
                match width {
                    0 => {}
                    $($width => $pack::<$width>(group, packed),)+
                    _ => unreachable!("{width} bits are packed in another lane"),
                }
            }

            #[inline(always)]
            fn unpack_group(width: u32, packed: &[u8], base: Self, group: &mut [Self; GROUP]) {
                match width {
                    0 => group.fill(base),
                    $($width => $unpack::<$width>(packed, base, group),)+
                    _ => unreachable!("{width} bits are packed in another lane"),
                }
            }
        }
    };
}

lane!(u16, pack_u16, unpack_u16, u16_from_bytes, u16_to_bytes, 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16);
lane!(u32, pack_u32, unpack_u32, u32_from_bytes, u32_to_bytes, 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32);
lane!(u64, pack_u64, unpack_u64, u64_from_bytes, u64_to_bytes,
    33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64);
