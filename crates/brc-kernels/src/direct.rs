//! Direct addressing: computes array slots from the values of keys, as the mixed-radix number that the key values of a
//! row form.

use crate::cpu::{Kernel, Level, run_at};
use brc_core::Integers;

/// A value of a key column.
pub trait Key: Copy + Ord + Into<i64> {
    /// The lower 32 bits, sign extended if the type is narrower.
    fn low(self) -> u32;
}

macro_rules! key {
    ($($integer:ident)+) => {$(
        impl Key for $integer {
            #[inline(always)]
            #[allow(clippy::unnecessary_cast, reason = "one text for several types")]
            fn low(self) -> u32 {
                self as u32
            }
        }
    )+};
}

key!(i8 i16 i32 i64 u32);

/// The minimum and maximum; `None` if there are no values.
#[must_use]
pub fn bounds<T: Key>(level: Level, values: &[T]) -> Option<(i64, i64)> {
    run_at(level, Bounds(values)).map(|(min, max)| (min.into(), max.into()))
}

/// The same for integers of any width; `None` also for 128-bit integers.
#[must_use]
pub fn integer_bounds(level: Level, values: Integers<'_>) -> Option<(i64, i64)> {
    match values {
        Integers::I8(values) => bounds(level, values),
        Integers::I16(values) => bounds(level, values),
        Integers::I32(values) => bounds(level, values),
        Integers::I64(values) => bounds(level, values),
        Integers::I128(_) => None,
    }
}

struct Bounds<'a, T>(&'a [T]);

impl<T: Key> Kernel for Bounds<'_, T> {
    type Output = Option<(T, T)>;

    #[inline(always)]
    fn run(self) -> Self::Output {
        let first = *self.0.first()?;
        Some(self.0.iter().fold((first, first), |(min, max), &value| (min.min(value), max.max(value))))
    }
}

/// Replaces `slots` by the differences of values from `low`, modulo 2³². Returns the [bounds] of the values.
pub fn set_digits<T: Key>(level: Level, slots: &mut Vec<u32>, values: &[T], low: i64) -> Option<(i64, i64)> {
    slots.resize(values.len(), 0);
    let found = run_at(level, Slots { slots, values, low: low as u32, slot: |_, digit| digit });
    found.map(|(min, max)| (min.into(), max.into()))
}

/// Multiplies each slot by `radix` and adds the difference of its row's value from `low`, modulo 2³². Returns the
/// [bounds] of the values.
pub fn add_digits<T: Key>(level: Level, slots: &mut [u32], radix: u32, values: &[T], low: i64) -> Option<(i64, i64)> {
    let slot = |slot: u32, digit| slot.wrapping_mul(radix).wrapping_add(digit);
    let found = run_at(level, Slots { slots, values, low: low as u32, slot });
    found.map(|(min, max)| (min.into(), max.into()))
}

struct Slots<'a, T, F> {
    slots: &'a mut [u32],
    values: &'a [T],
    low: u32,
    /// Computes a slot from its previous value and a further digit.
    slot: F,
}

impl<T: Key, F: Fn(u32, u32) -> u32> Kernel for Slots<'_, T, F> {
    type Output = Option<(T, T)>;

    #[inline(always)]
    fn run(self) -> Self::Output {
        let (mut min, mut max) = (*self.values.first()?, *self.values.first()?);
        for (slot, &value) in self.slots.iter_mut().zip(self.values) {
            *slot = (self.slot)(*slot, value.low().wrapping_sub(self.low));
            (min, max) = (min.min(value), max.max(value));
        }
        Some((min, max))
    }
}

/// Replaces `found` by the entries of `table` at these slots. Returns whether one of them is `u32::MAX`, which also
/// results from slots that are out of bounds.
pub fn look_up(level: Level, slots: &[u32], table: &[u32], found: &mut Vec<u32>) -> bool {
    #[cfg(target_arch = "x86_64")]
    if level.min(Level::best()) >= Level::Avx2 && table.len() <= x86::MAX_SHORT_TABLE {
        found.resize(slots.len(), 0);
        // SAFETY: the level is not above the best one that was detected.
        return unsafe { x86::look_up_short(level, slots, table, found) };
    }
    found.clear();
    if !are_known(level, slots, table.len()) {
        found.extend(slots.iter().map(|&slot| table.get(slot as usize).copied().unwrap_or(u32::MAX)));
        return true;
    }
    // SAFETY: all slots are in bounds.
    found.extend(slots.iter().map(|&slot| unsafe { *table.get_unchecked(slot as usize) }));
    bounds(level, found).is_some_and(|(_, largest)| largest == u32::MAX.into())
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use crate::cpu::Level;
    use std::arch::x86_64::*;

    /// The maximum number of entries of a short table, which fits in two registers, or four.
    pub(super) const MAX_SHORT_TABLE: usize = 32;

    /// Replaces `found` by the entries of a table of up to [`MAX_SHORT_TABLE`] entries, as [`look_up`](super::look_up) does.
    ///
    /// # Safety
    /// The processor has AVX2.
    pub(super) unsafe fn look_up_short(level: Level, slots: &[u32], table: &[u32], found: &mut [u32]) -> bool {
        let mut entries = [u32::MAX; MAX_SHORT_TABLE];
        entries.iter_mut().zip(table).for_each(|(entry, &of_table)| *entry = of_table);
        match level.min(Level::best()) {
            // SAFETY: the level is not above the best one that was detected.
            Level::Avx512 => unsafe { look_up_avx512(slots, &entries, found) },
            // SAFETY: promised by the caller.
            _ => unsafe { look_up_avx2(slots, &entries, found) },
        }
    }

    #[target_feature(enable = "avx512f")]
    fn look_up_avx512(slots: &[u32], entries: &[u32; MAX_SHORT_TABLE], found: &mut [u32]) -> bool {
        // SAFETY: `entries` is as large as the registers.
        let (low, high) = unsafe {
            (
                _mm512_loadu_epi32(entries.as_ptr().cast()),
                _mm512_loadu_epi32(entries.as_ptr().add(MAX_SHORT_TABLE / 2).cast()),
            )
        };
        let (beyond, unknown) = (_mm512_set1_epi32(MAX_SHORT_TABLE as i32), _mm512_set1_epi32(-1));
        let (groups, rest) = slots.as_chunks::<16>();
        let (found, found_of_rest) = found.as_chunks_mut::<16>();
        let mut missing = 0;
        for (slots, found) in groups.iter().zip(found) {
            // SAFETY: there are 16 slots, and room for as many entries.
            unsafe {
                let slots = _mm512_loadu_epi32(slots.as_ptr().cast());
                let entries = _mm512_permutex2var_epi32(low, slots, high);
                let entries = _mm512_mask_mov_epi32(entries, _mm512_cmpge_epu32_mask(slots, beyond), unknown);
                missing |= _mm512_cmpeq_epi32_mask(entries, unknown);
                _mm512_storeu_epi32(found.as_mut_ptr().cast(), entries);
            }
        }
        look_up_each(rest, entries, found_of_rest) | (missing != 0)
    }

    #[target_feature(enable = "avx2")]
    fn look_up_avx2(slots: &[u32], entries: &[u32; MAX_SHORT_TABLE], found: &mut [u32]) -> bool {
        // SAFETY: `entries` is as large as the registers.
        let eight = |first: usize| unsafe { _mm256_loadu_si256(entries.as_ptr().add(first).cast()) };
        let table = [eight(0), eight(8), eight(16), eight(24)];
        let (last, unknown) = (_mm256_set1_epi32(MAX_SHORT_TABLE as i32 - 1), _mm256_set1_epi32(-1));
        let (groups, rest) = slots.as_chunks::<8>();
        let (found, found_of_rest) = found.as_chunks_mut::<8>();
        let mut missing = _mm256_setzero_si256();
        for (slots, found) in groups.iter().zip(found) {
            // SAFETY: there are eight slots, and room for as many entries.
            unsafe {
                let slots = _mm256_loadu_si256(slots.as_ptr().cast());
                // Bits 3 and 4 of a slot, moved to the sign, select among the four lookups by its lower bits.
                let of = |eight: __m256i| _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(eight, slots));
                let by_fourth = _mm256_castsi256_ps(_mm256_slli_epi32::<28>(slots));
                let by_fifth = _mm256_castsi256_ps(_mm256_slli_epi32::<27>(slots));
                let low = _mm256_blendv_ps(of(table[0]), of(table[1]), by_fourth);
                let high = _mm256_blendv_ps(of(table[2]), of(table[3]), by_fourth);
                let entries = _mm256_castps_si256(_mm256_blendv_ps(low, high, by_fifth));
                let is_inside = _mm256_cmpeq_epi32(_mm256_min_epu32(slots, last), slots);
                let entries = _mm256_or_si256(entries, _mm256_andnot_si256(is_inside, unknown));
                missing = _mm256_or_si256(missing, _mm256_cmpeq_epi32(entries, unknown));
                _mm256_storeu_si256(found.as_mut_ptr().cast(), entries);
            }
        }
        look_up_each(rest, entries, found_of_rest) | (_mm256_movemask_epi8(missing) != 0)
    }

    fn look_up_each(slots: &[u32], entries: &[u32; MAX_SHORT_TABLE], found: &mut [u32]) -> bool {
        let mut is_missing = false;
        for (&slot, found) in slots.iter().zip(found) {
            *found = entries.get(slot as usize).copied().unwrap_or(u32::MAX);
            is_missing |= *found == u32::MAX;
        }
        is_missing
    }
}

/// The entry of `table` for each integer, of which the first is that of `low`; `None` if an integer has no entry.
#[must_use]
pub fn look_up_integers<T: Copy>(level: Level, integers: Integers<'_>, low: i64, table: &[T]) -> Option<Vec<T>> {
    let (min, max) = integer_bounds(level, integers)?;
    let last = low.checked_add(i64::try_from(table.len()).ok()?.checked_sub(1)?)?;
    if min < low || max > last {
        return None;
    }
    // SAFETY: all integers are within the bounds of the table.
    let entry = |integer: i64| unsafe { *table.get_unchecked((integer - low) as usize) };
    Some(match integers {
        Integers::I8(integers) => integers.iter().map(|&integer| entry(integer.into())).collect(),
        Integers::I16(integers) => integers.iter().map(|&integer| entry(integer.into())).collect(),
        Integers::I32(integers) => integers.iter().map(|&integer| entry(integer.into())).collect(),
        Integers::I64(integers) => integers.iter().map(|&integer| entry(integer)).collect(),
        Integers::I128(_) => return None,
    })
}

/// Whether all codes are below `known`.
#[must_use]
pub fn are_known(level: Level, codes: &[u32], known: usize) -> bool {
    bounds(level, codes).is_none_or(|(_, largest)| largest < known as i64)
}

/// Reinterprets integers as unsigned: negative ones become large.
#[must_use]
pub fn unsigned(integers: &[i32]) -> &[u32] {
    // SAFETY: both are 32-bit integers, and every bit pattern is valid for both.
    unsafe { std::slice::from_raw_parts(integers.as_ptr().cast(), integers.len()) }
}

/// Appends the entries of `table` for these codes; appends nothing and returns `false` if a code is out of bounds.
#[must_use]
pub fn translate<T: Copy>(level: Level, codes: &[u32], table: &[T], found: &mut Vec<T>) -> bool {
    let are_known = are_known(level, codes, table.len());
    if are_known {
        // SAFETY: all codes are in bounds.
        found.extend(codes.iter().map(|&code| unsafe { *table.get_unchecked(code as usize) }));
    }
    are_known
}

/// [`translate`] for tables of codes, vectorised if the table is short.
#[must_use]
pub fn translate_codes(level: Level, codes: &[u32], table: &[u32], found: &mut Vec<u32>) -> bool {
    #[cfg(target_arch = "x86_64")]
    if level.min(Level::best()) >= Level::Avx2 && table.len() <= x86::MAX_SHORT_TABLE {
        let before = found.len();
        found.resize(before + codes.len(), 0);
        // SAFETY: the level is not above the best one that was detected.
        if !unsafe { x86::look_up_short(level, codes, table, &mut found[before..]) } {
            return true;
        }
        found.truncate(before);
    }
    translate(level, codes, table, found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn all_levels_agree_with_plain_code(
            rows in prop::collection::vec((any::<i16>(), any::<i64>(), any::<u32>()), 0..200),
            radix in any::<u32>(),
        ) {
            let i16s: Vec<i16> = rows.iter().map(|row| row.0).collect();
            let i64s: Vec<i64> = rows.iter().map(|row| row.1).collect();
            let codes: Vec<u32> = rows.iter().map(|row| row.2).collect();
            let low = i64s.first().copied().unwrap_or(0);
            for level in Level::available() {
                prop_assert_eq!(bounds(level, &i16s), i16s.iter().min().zip(i16s.iter().max()).map(|(a, b)| ((*a).into(), (*b).into())));
                prop_assert_eq!(bounds(level, &i64s), i64s.iter().min().zip(i64s.iter().max()).map(|(a, b)| (*a, *b)));
                let mut slots = vec![1; 150];
                prop_assert_eq!(set_digits(level, &mut slots, &codes, 5), bounds(level, &codes));
                prop_assert_eq!(add_digits(level, &mut slots, radix, &i16s, -3), bounds(level, &i16s));
                prop_assert_eq!(add_digits(level, &mut slots, radix, &i64s, low), bounds(level, &i64s));
                let expected = rows.iter().map(|&(a, b, code)| {
                    let slot = code.wrapping_sub(5).wrapping_mul(radix).wrapping_add((i64::from(a) + 3) as u32);
                    slot.wrapping_mul(radix).wrapping_add(b.wrapping_sub(low) as u32)
                });
                prop_assert_eq!(&slots, &expected.collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn integers_of_128_bits_have_no_bounds() {
        assert_eq!(integer_bounds(Level::best(), Integers::I16(&[3, -1])), Some((-1, 3)));
        assert_eq!(integer_bounds(Level::best(), Integers::I128(&[1])), None);
    }

    #[test]
    fn tables_of_all_lengths_are_looked_up() {
        for length in [1u32, 15, 16, 17, 31, 32, 33, 200] {
            let table: Vec<u32> = (0..length).map(|entry| entry.wrapping_mul(0x9e37_79b9) >> 1).collect();
            let slots: Vec<u32> = (0..100).map(|slot| slot * 7 % length).collect();
            let expected: Vec<u32> = slots.iter().map(|&slot| table[slot as usize]).collect();
            let mut found = vec![1];
            for level in Level::available() {
                assert!(!look_up(level, &slots, &table, &mut found));
                assert_eq!(found, expected, "{level:?} {length}");
            }
        }
    }

    #[test]
    fn slots_out_of_bounds_are_unknown() {
        let mut found = Vec::new();
        for level in Level::available() {
            assert!(!look_up(level, &[1, 0, 1], &[7, 8], &mut found));
            assert_eq!(found, [8, 7, 8]);
            for unknown in [2, 32, 34, u32::MAX] {
                for rows in [2, 16, 17, 40] {
                    let slots: Vec<u32> = std::iter::repeat_n(1, rows - 1).chain([unknown]).collect();
                    assert!(look_up(level, &slots, &[7, 8], &mut found));
                    assert_eq!(found, [vec![8; rows - 1], vec![u32::MAX]].concat());
                    let (slots, expected): (Vec<_>, Vec<_>) = slots.into_iter().zip(found.clone()).rev().unzip();
                    assert!(look_up(level, &slots, &[7, 8], &mut found));
                    assert_eq!(found, expected);
                }
            }
            assert!(look_up(level, &[0], &[u32::MAX], &mut found));
            assert!(!look_up(level, &[], &[], &mut found));
        }
    }

    #[test]
    fn integers_are_looked_up_where_the_table_has_all_of_them() {
        for level in Level::available() {
            let look_up = |integers: &[i16]| look_up_integers(level, Integers::I16(integers), -1, &[7i64, 8, 9]);
            assert_eq!(look_up(&[-1, 1, 0, -1]), Some(vec![7, 9, 8, 7]));
            assert_eq!(look_up(&[-2]), None);
            assert_eq!(look_up(&[2]), None);
            assert_eq!(look_up_integers(level, Integers::I64(&[i64::MAX]), i64::MAX, &[5]), Some(vec![5]));
            assert_eq!(look_up_integers::<i8>(level, Integers::I64(&[i64::MIN]), i64::MAX, &[]), None);
            assert_eq!(look_up_integers(level, Integers::I128(&[0]), 0, &[5]), None);
        }
    }

    #[test]
    fn unknown_codes_are_not_translated() {
        for level in Level::available() {
            let mut found = vec![9];
            assert!(translate(level, &[1, 0, 1], &[7, 8], &mut found));
            assert!(translate(level, &[], &[], &mut found) && are_known(level, &[], 0));
            let (codes, mut others) = ([vec![1; 30], vec![0]].concat(), vec![9]);
            for table in [[7, 8], [7, u32::MAX]] {
                others.truncate(1);
                assert!(translate_codes(level, &codes, &table, &mut others));
                assert_eq!(others, [vec![9], vec![table[1]; 30], vec![7]].concat());
                assert!(!translate_codes(level, &[vec![2; 9], codes.clone()].concat(), &table, &mut others));
                assert_eq!(others.len(), 32);
            }
            for codes in [[0, 2], [-1, 0]] {
                assert!(!are_known(level, unsigned(&codes), 2));
                assert!(!translate(level, unsigned(&codes), &[7, 8], &mut found));
            }
            assert!(!translate(level, &[0], &[], &mut found));
            assert_eq!(found, [9, 8, 7, 8]);
        }
    }
}
