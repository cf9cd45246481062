//! The indexes of the rows that a mask selects.

use crate::cpu::Level;

/// Replaces `rows` by the indexes of the selected rows, in ascending order.
///
/// # Panics
/// If the mask has 2²⁶ words or more: row indexes have 32 bits.
pub fn row_numbers(level: Level, mask: &[u64], rows: &mut Vec<u32>) {
    assert!(mask.len() < 1 << 26, "numbers of rows have 32 bits");
    rows.clear();
    match level.min(Level::best()) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level is not above the best one that was detected.
        Level::Avx512 => unsafe { x86::append(mask, rows) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: likewise.
        Level::Avx2 => unsafe { x86::append_avx2(mask, rows) },
        _ => append(mask, rows),
    }
}

fn append(mask: &[u64], rows: &mut Vec<u32>) {
    for (first, &word) in (0..).step_by(64).zip(mask) {
        let mut left = word;
        while left != 0 {
            rows.push(first + left.trailing_zeros());
            left &= left - 1;
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use crate::cpu::{BYTE_INDEXES, ONES};
    use std::arch::x86_64::*;

    /// The number of indexes per register.
    const LANES: usize = 16;

    /// Appends the indexes of the set bits. A full register is stored for every word, however few of its bits are set,
    /// so that the branches of the loop are predictable.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt")]
    pub(super) fn append(mask: &[u64], rows: &mut Vec<u32>) {
        let mut length = rows.len();
        let all: usize = mask.iter().map(|word| word.count_ones() as usize).sum();
        rows.resize(length + all + LANES, 0);
        // SAFETY: the table is as large as the register.
        let numbers = unsafe { _mm512_loadu_epi8(BYTE_INDEXES.as_ptr().cast()) };
        for (first, &word) in (0u32..).step_by(64).zip(mask) {
            let mut bytes = _mm512_maskz_compress_epi8(word, numbers);
            let mut left = word.count_ones() as usize;
            loop {
                let sixteen = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(bytes));
                let sixteen = _mm512_add_epi32(sixteen, _mm512_set1_epi32(first as i32));
                let room = &mut rows[length..length + LANES];
                // SAFETY: there is room for a whole register.
                unsafe { _mm512_storeu_epi32(room.as_mut_ptr().cast(), sixteen) };
                length += left.min(LANES);
                if left <= LANES {
                    break;
                }
                left -= LANES;
                // The next 16 bytes become the first ones.
                bytes = _mm512_alignr_epi32::<4>(bytes, bytes);
            }
        }
        rows.truncate(length);
    }

    /// The same with AVX2: looks up the indexes of eight bits at a time in a table.
    #[target_feature(enable = "avx2,popcnt,bmi1,bmi2,lzcnt")]
    pub(super) fn append_avx2(mask: &[u64], rows: &mut Vec<u32>) {
        /// The number of indexes per register.
        const LANES: usize = 8;
        let mut length = rows.len();
        let all: usize = mask.iter().map(|word| word.count_ones() as usize).sum();
        rows.resize(length + all + LANES, 0);
        for (first, &word) in (0u32..).step_by(64).zip(mask) {
            let mut bits = word;
            let mut base = _mm256_set1_epi32(first as i32);
            while bits != 0 {
                let ones = &ONES[usize::from(bits as u8)];
                let room = &mut rows[length..length + LANES];
                // SAFETY: an entry of the table has eight bytes, and there is room for a whole register.
                unsafe {
                    let numbers = _mm256_cvtepu8_epi32(_mm_loadl_epi64(ones.as_ptr().cast()));
                    _mm256_storeu_si256(room.as_mut_ptr().cast(), _mm256_add_epi32(numbers, base));
                }
                length += (bits as u8).count_ones() as usize;
                base = _mm256_add_epi32(base, _mm256_set1_epi32(8));
                bits >>= 8;
            }
        }
        rows.truncate(length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn all_levels_agree_with_plain_code(mask in prop::collection::vec(
            prop_oneof![any::<u64>(), (0u32..64).prop_map(|bit| 1 << bit), Just(0), Just(u64::MAX)], 0..20,
        )) {
            let expected: Vec<u32> =
                (0..mask.len() as u32 * 64).filter(|&row| mask[row as usize / 64] >> (row % 64) & 1 == 1).collect();
            for level in Level::available() {
                let mut rows = vec![7];
                row_numbers(level, &mask, &mut rows);
                prop_assert_eq!(&rows, &expected);
            }
        }
    }
}
