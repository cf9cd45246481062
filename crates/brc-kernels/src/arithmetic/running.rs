//! Running sums and arithmetic progressions.

use super::Integer;
use crate::cpu::{Kernel, Level, run_at};

/// Fills `values` with the arithmetic progression from `start` with difference `step`.
pub fn progression<T: Integer>(level: Level, start: T, step: T, values: &mut [T]) {
    run_at(level, Progression { start, step, values });
}

struct Progression<'a, T> {
    start: T,
    step: T,
    values: &'a mut [T],
}

impl<T: Integer> Kernel for Progression<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let mut next = self.start;
        for value in self.values {
            *value = next;
            next = next.plus(self.step);
        }
    }
}

/// Replaces each value by the sum of `start` and all values up to and including it.
pub fn running_sums<T: Integer>(level: Level, start: T, values: &mut [T]) {
    match level.min(Level::best()) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level is not above the best one that was detected.
        Level::Avx512 => unsafe { T::running_sums_avx512(start, values) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: likewise.
        Level::Avx2 => unsafe { T::running_sums_avx2(start, values) },
        _ => run_at(level, RunningSums { start, values }),
    }
}

struct RunningSums<'a, T> {
    start: T,
    values: &'a mut [T],
}

impl<T: Integer> Kernel for RunningSums<'_, T> {
    type Output = ();

    /// The sums within eight values do not depend on preceding ones; only one addition waits for the previous eight.
    #[inline(always)]
    fn run(self) {
        let mut sum = self.start;
        let (eights, rest) = self.values.as_chunks_mut::<8>();
        for eight in eights {
            let [a, b, c, d, e, f, g, h] = *eight;
            let (ab, cd, ef, gh) = (a.plus(b), c.plus(d), e.plus(f), g.plus(h));
            let abcd = ab.plus(cd);
            let (abc, abcdef) = (ab.plus(c), abcd.plus(ef));
            *eight = [a, ab, abc, abcd, abcd.plus(e), abcdef, abcdef.plus(g), abcdef.plus(gh)];
            eight.iter_mut().for_each(|step| *step = step.plus(sum));
            sum = eight[7];
        }
        for value in rest {
            sum = sum.plus(*value);
            *value = sum;
        }
    }
}

/// An integer type with its kernels for each instruction set.
pub trait Lane: Sized {
    /// # Safety
    /// The processor has AVX-512 F and BW.
    #[cfg(target_arch = "x86_64")]
    unsafe fn running_sums_avx512(start: Self, values: &mut [Self]);

    /// # Safety
    /// The processor has AVX2.
    #[cfg(target_arch = "x86_64")]
    unsafe fn running_sums_avx2(start: Self, values: &mut [Self]);
}

impl Lane for i16 {
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn running_sums_avx512(start: Self, values: &mut [Self]) {
        use std::arch::x86_64::*;
        // The last value of each 128-bit quarter, in all its positions.
        let last_of_quarter = _mm512_set1_epi16(0x0f0e);
        let (mut before, none) = (_mm512_set1_epi16(start), _mm512_setzero_si512());
        let (registers, rest) = values.as_chunks_mut::<32>();
        for register in registers {
            // SAFETY: a chunk has as many values as are loaded.
            let mut sums = unsafe { _mm512_loadu_si512(register.as_ptr().cast()) };
            sums = _mm512_add_epi16(sums, _mm512_bslli_epi128::<2>(sums));
            sums = _mm512_add_epi16(sums, _mm512_bslli_epi128::<4>(sums));
            sums = _mm512_add_epi16(sums, _mm512_bslli_epi128::<8>(sums));
            // The totals of all preceding quarters.
            let totals = _mm512_shuffle_epi8(sums, last_of_quarter);
            let one = _mm512_alignr_epi32::<12>(totals, none);
            let two = _mm512_add_epi16(one, _mm512_alignr_epi32::<12>(one, none));
            let three = _mm512_add_epi16(two, _mm512_alignr_epi32::<12>(_mm512_alignr_epi32::<12>(one, none), none));
            sums = _mm512_add_epi16(sums, three);
            // SAFETY: a chunk has as many values as are stored.
            unsafe { _mm512_storeu_si512(register.as_mut_ptr().cast(), _mm512_add_epi16(sums, before)) };
            before = _mm512_add_epi16(before, _mm512_permutexvar_epi16(_mm512_set1_epi16(31), sums));
        }
        // All elements hold the sum.
        let start = _mm_cvtsi128_si32(_mm512_castsi512_si128(before)) as i16;
        RunningSums { start, values: rest }.run();
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    unsafe fn running_sums_avx2(start: Self, values: &mut [Self]) {
        use std::arch::x86_64::*;
        // The last value of each 128-bit half, in all its positions.
        let last_of_half = _mm256_set1_epi16(0x0f0e);
        let mut before = _mm256_set1_epi16(start);
        let (registers, rest) = values.as_chunks_mut::<16>();
        for register in registers {
            // SAFETY: a chunk has as many values as are loaded.
            let mut sums = unsafe { _mm256_loadu_si256(register.as_ptr().cast()) };
            sums = _mm256_add_epi16(sums, _mm256_bslli_epi128::<2>(sums));
            sums = _mm256_add_epi16(sums, _mm256_bslli_epi128::<4>(sums));
            sums = _mm256_add_epi16(sums, _mm256_bslli_epi128::<8>(sums));
            let totals = _mm256_shuffle_epi8(sums, last_of_half);
            // Adds the total of the first half to the second.
            sums = _mm256_add_epi16(sums, _mm256_permute2x128_si256::<0x08>(totals, totals));
            // SAFETY: a chunk has as many values as are stored.
            unsafe { _mm256_storeu_si256(register.as_mut_ptr().cast(), _mm256_add_epi16(sums, before)) };
            let total = _mm256_permute2x128_si256::<0x11>(sums, sums);
            before = _mm256_add_epi16(before, _mm256_shuffle_epi8(total, last_of_half));
        }
        let start = _mm_cvtsi128_si32(_mm256_castsi256_si128(before)) as i16;
        RunningSums { start, values: rest }.run();
    }
}

/// Running sums, a register at a time: first within the register, by adding it to itself shifted by one element, by two
/// and so on; only one addition waits for the previous register.
macro_rules! lane {
    ($integer:ident, $lanes:literal, $set:ident, $add:ident, $align:ident [$($shift:literal)+], $permute:ident) => {
        impl Lane for $integer {
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f")]
            unsafe fn running_sums_avx512(start: Self, values: &mut [Self]) {
                use std::arch::x86_64::*;
                let mut before = $set(start);
                let (registers, _) = values.as_chunks_mut::<$lanes>();
                for register in registers {
                    // SAFETY: a chunk has as many values as are loaded.
                    let mut sums = unsafe { _mm512_loadu_si512(register.as_ptr().cast()) };
                    $(sums = $add(sums, $align::<{ $lanes - $shift }>(sums, _mm512_setzero_si512()));)+
                    // SAFETY: as above.
                    unsafe { _mm512_storeu_si512(register.as_mut_ptr().cast(), $add(sums, before)) };
                    before = $add(before, $permute($set($lanes - 1), sums));
                }
                let last = values.len() - values.len() % $lanes;
                let mut sum = last.checked_sub(1).map_or(start, |last| values[last]);
                for value in &mut values[last..] {
                    sum = sum.wrapping_add(*value);
                    *value = sum;
                }
            }

            #[cfg(target_arch = "x86_64")]
            unsafe fn running_sums_avx2(start: Self, values: &mut [Self]) {
                run_at(Level::Avx2, RunningSums { start, values });
            }
        }
    };
}

lane!(i64, 8, _mm512_set1_epi64, _mm512_add_epi64, _mm512_alignr_epi64 [1 2 4], _mm512_permutexvar_epi64);
lane!(i32, 16, _mm512_set1_epi32, _mm512_add_epi32, _mm512_alignr_epi32 [1 2 4 8], _mm512_permutexvar_epi32);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check<T: Integer>(start: T, values: &[T]) {
        for level in Level::available() {
            let (mut sums, mut steps) = (values.to_vec(), values.to_vec());
            running_sums(level, start, &mut sums);
            let step = values.first().copied().unwrap_or_default();
            progression(level, start, step, &mut steps);
            let (mut sum, mut next) = (start, start);
            for (row, &value) in values.iter().enumerate() {
                sum = sum.plus(value);
                assert_eq!((sums[row], steps[row]), (sum, next), "{level:?} {row}");
                next = next.plus(step);
            }
        }
    }

    proptest! {
        #[test]
        fn all_levels_and_widths_agree_with_plain_code(start: i64, values in prop::collection::vec(any::<i64>(), 0..100)) {
            check(start, &values);
            check(start as i32, &values.iter().map(|&value| value as i32).collect::<Vec<_>>());
            check(start as i16, &values.iter().map(|&value| value as i16).collect::<Vec<_>>());
        }
    }
}
