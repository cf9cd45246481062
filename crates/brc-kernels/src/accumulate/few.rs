//! Sums of few groups: each pass over all values sums one or several groups, counting the values of other groups as 0.
//! No row depends on the one before, and a pass adds a register of values at a time.

#[cfg(target_arch = "x86_64")]
mod x86;

use super::table::NO_GROUP;
use crate::cpu::{Kernel, Level, run_at};
use brc_core::Integers;
#[cfg(target_arch = "x86_64")]
use x86::{avx2, avx512};

/// The maximum number of groups for which a pass each is worthwhile.
pub(super) const MAX_GROUPS: usize = 8;

/// The number of rows that are processed for all groups while they are in the cache. The sum of this many 16-bit
/// integers fits in 32 bits.
const CHUNK: usize = 1024;

/// The minimum number of rows whose sum fits in 32 bits for which sums of 32 bits are faster than sums of 64.
const MIN_NARROW_ROWS: usize = 32;

/// Adds the number of rows of each group to `counts`.
pub(super) fn count(level: Level, groups: &[u32], counts: &mut [i64]) {
    match level.min(Level::best()) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level is not above the best one that was detected.
        Level::Avx512 => unsafe { avx512::count(groups, counts) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: likewise.
        Level::Avx2 => unsafe { avx2::count(groups, counts) },
        _ => {
            for groups in groups.chunks(CHUNK) {
                by_group(counts, |group| run_at(level, Count { groups, group }));
            }
        }
    }
}

/// The number of rows with [no group](NO_GROUP).
pub(super) fn of_none(level: Level, groups: &[u32]) -> usize {
    groups.chunks(CHUNK).map(|groups| run_at(level, Count { groups, group: NO_GROUP }) as usize).sum()
}

/// Adds the values of the rows to the sums of their groups; 128-bit integers are truncated to 64 bits.
pub(super) fn add(level: Level, groups: &[u32], values: Integers<'_>, sums: &mut [i64]) {
    match values {
        Integers::I8(values) => add_chunks(level, groups, values, sums),
        Integers::I16(values) => add_chunks(level, groups, values, sums),
        Integers::I32(values) => add_chunks(level, groups, values, sums),
        Integers::I64(values) => add_chunks(level, groups, values, sums),
        Integers::I128(values) => {
            for (&group, &value) in groups.iter().zip(values) {
                if let Some(sum) = sums.get_mut(group as usize) {
                    *sum = sum.wrapping_add(value as i64);
                }
            }
        }
    }
}

/// Adds chunk by chunk: in one pass for all groups if the processor has AVX2, else in one pass each.
fn add_chunks<T: SummedInteger>(level: Level, groups: &[u32], values: &[T], sums: &mut [i64]) {
    for (groups, values) in groups.chunks(CHUNK).zip(values.chunks(CHUNK)) {
        match level.min(Level::best()) {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the level is not above the best one that was detected.
            Level::Avx512 => unsafe { T::add_avx512(groups, values, sums) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: likewise.
            Level::Avx2 => unsafe { T::add_avx2(groups, values, sums) },
            _ => T::add_by_group(level, groups, values, sums),
        }
    }
}

/// Adds the result of `of_group` to each sum.
fn by_group(sums: &mut [i64], of_group: impl Fn(u32) -> i64) {
    sums.iter_mut().zip(0..).for_each(|(sum, group)| *sum = sum.wrapping_add(of_group(group)));
}

/// A type of values, with the kernels for it.
trait SummedInteger: Copy {
    /// Adds the values of at most a chunk to the sums of their groups, in one pass for each.
    fn add_by_group(level: Level, groups: &[u32], values: &[Self], sums: &mut [i64]);

    /// Adds the values of at most a chunk to the sums of their groups, of which there are [few](MAX_GROUPS).
    ///
    /// # Safety
    /// The processor has AVX-512 F, BW and VL.
    #[cfg(target_arch = "x86_64")]
    unsafe fn add_avx512(groups: &[u32], values: &[Self], sums: &mut [i64]);

    /// The same with AVX2.
    ///
    /// # Safety
    /// The processor has AVX2.
    #[cfg(target_arch = "x86_64")]
    unsafe fn add_avx2(groups: &[u32], values: &[Self], sums: &mut [i64]);
}

macro_rules! summed_integer {
    ($($integer:ty, $by_group:ident, $add:ident;)+) => {$(
        impl SummedInteger for $integer {
            fn add_by_group(level: Level, groups: &[u32], values: &[Self], sums: &mut [i64]) {
                $by_group(level, groups, values, sums);
            }

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
            unsafe fn add_avx512(groups: &[u32], values: &[Self], sums: &mut [i64]) {
                avx512::$add(groups, values, sums)
            }

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2")]
            unsafe fn add_avx2(groups: &[u32], values: &[Self], sums: &mut [i64]) {
                avx2::$add(groups, values, sums)
            }
        }
    )+};
}

summed_integer! {
    i8, add_small, add;
    i16, add_small, add;
    i32, add_any, add;
    i64, add_any, add_wide;
}

/// Adds values whose sum fits in 32 bits.
fn add_small<T: Copy + Into<i32>>(level: Level, groups: &[u32], values: &[T], sums: &mut [i64]) {
    by_group(sums, |group| run_at(level, SumSmall { groups, values, group }));
}

/// Adds the values of a chunk. Most values have so few bits that the sums of many rows fit in 32 bits: the values are
/// converted once, and added in half the time of sums of 64 bits.
fn add_any<T: Copy + Into<i64>>(level: Level, groups: &[u32], values: &[T], sums: &mut [i64]) {
    let mut narrow = [0; CHUNK];
    let narrow = &mut narrow[..values.len()];
    let bits = run_at(level, Convert { values, narrow: &mut *narrow });
    match 1usize << 31u32.saturating_sub(bits) {
        ..MIN_NARROW_ROWS => by_group(sums, |group| run_at(level, Sum { groups, values, group })),
        rows => {
            for (groups, values) in groups.chunks(rows).zip(narrow.chunks(rows)) {
                add_small(level, groups, values, sums);
            }
        }
    }
}

/// Converts values to 32 bits. Returns the maximum number of bits of a value, without its sign.
struct Convert<'a, T> {
    values: &'a [T],
    narrow: &'a mut [i32],
}

impl<T: Copy + Into<i64>> Kernel for Convert<'_, T> {
    type Output = u32;

    #[inline(always)]
    fn run(self) -> u32 {
        let mut bits = 0;
        for (narrow, &value) in self.narrow.iter_mut().zip(self.values) {
            let value: i64 = value.into();
            bits |= value ^ (value >> 63);
            *narrow = value as i32;
        }
        u64::BITS - (bits as u64).leading_zeros()
    }
}

struct Count<'a> {
    groups: &'a [u32],
    group: u32,
}

impl Kernel for Count<'_> {
    type Output = i64;

    #[inline(always)]
    fn run(self) -> i64 {
        self.groups.iter().map(|&group| u32::from(group == self.group)).sum::<u32>().into()
    }
}

struct SumSmall<'a, T> {
    groups: &'a [u32],
    values: &'a [T],
    group: u32,
}

impl<T: Copy + Into<i32>> Kernel for SumSmall<'_, T> {
    type Output = i64;

    #[inline(always)]
    fn run(self) -> i64 {
        let pairs = self.groups.iter().zip(self.values);
        let of_group = pairs.map(|(&group, &value)| if group == self.group { value.into() } else { 0 });
        of_group.fold(0i32, i32::wrapping_add).into()
    }
}

struct Sum<'a, T> {
    groups: &'a [u32],
    values: &'a [T],
    group: u32,
}

impl<T: Copy + Into<i64>> Kernel for Sum<'_, T> {
    type Output = i64;

    #[inline(always)]
    fn run(self) -> i64 {
        let pairs = self.groups.iter().zip(self.values);
        let of_group = pairs.map(|(&group, &value)| if group == self.group { value.into() } else { 0 });
        of_group.fold(0, i64::wrapping_add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn all_levels_and_widths_agree_with_plain_code(
            rows in prop::collection::vec((0u32..9, any::<i64>()), 0..2500), shift in 0u32..64,
        ) {
            let groups: Vec<u32> = rows.iter().map(|row| row.0).collect();
            let wide: Vec<i128> = rows.iter().map(|row| (row.1 >> shift).into()).collect();
            let i64s: Vec<i64> = wide.iter().map(|&value| value as i64).collect();
            let i32s: Vec<i32> = i64s.iter().map(|&value| value as i32).collect();
            let i16s: Vec<i16> = i64s.iter().map(|&value| value as i16).collect();
            let i8s: Vec<i8> = i64s.iter().map(|&value| value as i8).collect();
            for level in Level::available() {
                for values in [
                    Integers::I8(&i8s), Integers::I16(&i16s), Integers::I32(&i32s), Integers::I64(&i64s), Integers::I128(&wide),
                ] {
                    let (mut sums, mut times) = ([5i64; MAX_GROUPS], [0; MAX_GROUPS]);
                    add(level, &groups, values, &mut sums);
                    count(level, &groups, &mut times);
                    for group in 0..MAX_GROUPS {
                        let of_group = (0..rows.len()).filter(|&row| groups[row] as usize == group);
                        prop_assert_eq!(times[group], of_group.clone().count() as i64);
                        let sum = of_group.fold(5, |sum: i64, row| sum.wrapping_add(values.get(row) as i64));
                        prop_assert_eq!(sums[group], sum, "{:?}", level);
                    }
                }
            }
        }
    }
}
