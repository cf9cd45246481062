//! Integer arithmetic on slices: the part of column schemes other than packing.
//!
//! All operations wrap, so that integers of any width can be computed in their target width, and no file contents can
//! cause a failure.

pub mod decimals;
mod floats;
mod operations;
mod running;

pub use floats::{Rounding, quotients, round, round_quotients};
pub use operations::{Line, Operation, append, combine, combine_with, combined};
pub use running::{progression, running_sums};

use crate::bitpack;
use crate::cpu::{Kernel, Level, run_at};
use brc_core::Run;

/// A signed integer of 16, 32 or 64 bits.
pub trait Integer: bitpack::Value + running::Lane + Default + PartialEq + std::fmt::Debug {
    /// The number of bits.
    const BITS: u32;

    /// Truncates a value to its low bits.
    fn cut(value: i64) -> Self;

    /// The sign-extended value.
    fn wide(self) -> i64;

    /// The sum, wrapping.
    #[must_use]
    fn plus(self, other: Self) -> Self;

    /// The difference, wrapping.
    #[must_use]
    fn minus(self, other: Self) -> Self;

    /// The product, wrapping.
    #[must_use]
    fn times(self, other: Self) -> Self;
}

macro_rules! integer {
    ($($integer:ident)+) => {$(
        #[allow(clippy::unnecessary_cast, clippy::useless_conversion, reason = "one text for three types")]
        impl Integer for $integer {
            const BITS: u32 = $integer::BITS;

            #[inline(always)]
            fn cut(value: i64) -> Self {
                value as $integer
            }

            #[inline(always)]
            fn wide(self) -> i64 {
                i64::from(self)
            }

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
        }
    )+};
}

integer!(i16 i32 i64);

/// Replaces each value by `base + factor * value`.
pub fn scale<T: Integer>(level: Level, factor: T, base: T, values: &mut [T]) {
    run_at(level, Scale { factor, base, values });
}

struct Scale<'a, T> {
    factor: T,
    base: T,
    values: &'a mut [T],
}

impl<T: Integer> Kernel for Scale<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for value in self.values {
            *value = value.times(self.factor).plus(self.base);
        }
    }
}

/// Adds to each value the one at the same index in `others`, up to the shorter slice.
pub fn add<T: Integer>(level: Level, values: &mut [T], others: &[T]) {
    run_at(level, Add { values, others });
}

struct Add<'a, T> {
    values: &'a mut [T],
    others: &'a [T],
}

impl<T: Integer> Kernel for Add<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (value, other) in self.values.iter_mut().zip(self.others) {
            *value = value.plus(*other);
        }
    }
}

/// Adds to the values of each run the base of the run, which is at the index of the run's code. The runs have as many
/// rows as there are values.
///
/// # Panics
/// If a run has no base, or the runs have more rows than there are values.
pub fn add_by_run<T: Integer>(level: Level, values: &mut [T], runs: &[Run], bases: &[i64]) {
    run_at(level, AddByRun { values, runs, bases });
}

struct AddByRun<'a, T> {
    values: &'a mut [T],
    runs: &'a [Run],
    bases: &'a [i64],
}

impl<T: Integer> Kernel for AddByRun<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let mut left = self.values;
        for run in self.runs {
            let (of_run, rest) = left.split_at_mut(run.rows as usize);
            let base = T::cut(self.bases[run.code as usize]);
            for value in of_run {
                *value = value.plus(base);
            }
            left = rest;
        }
    }
}

/// Widens values to 64 bits.
#[must_use]
pub fn widened<T: Copy + Into<i64>>(level: Level, values: &[T]) -> Vec<i64> {
    run_at(level, Widened(values))
}

struct Widened<'a, T>(&'a [T]);

impl<T: Copy + Into<i64>> Kernel for Widened<'_, T> {
    type Output = Vec<i64>;

    #[inline(always)]
    fn run(self) -> Vec<i64> {
        self.0.iter().map(|&value| value.into()).collect()
    }
}

/// Fills `out` with each value repeated `length + 1` times. Returns false if the total is not exactly the length of
/// `out`, whose contents are then unspecified.
#[must_use]
pub fn repeat<T: Integer>(level: Level, values: &[T], lengths: &[i16], out: &mut [T]) -> bool {
    run_at(level, Repeat { values, lengths, out })
}

struct Repeat<'a, T> {
    values: &'a [T],
    lengths: &'a [i16],
    out: &'a mut [T],
}

impl<T: Integer> Kernel for Repeat<'_, T> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        if size_of::<T>() == 8 { self.in_steps::<16>() } else { self.in_steps::<32>() }
    }
}

impl<T: Integer> Repeat<'_, T> {
    /// Most runs are short. Each is rounded up to a step, and what is written past its end is overwritten by the next
    /// one: this avoids a branch on the length that would often be mispredicted.
    #[inline(always)]
    fn in_steps<const STEP: usize>(self) -> bool {
        let mut at = 0;
        for (&value, &length) in self.values.iter().zip(self.lengths) {
            let length = usize::from(length as u16) + 1;
            let Some(rest) = self.out.get_mut(at..).filter(|rest| length <= rest.len()) else { return false };
            match rest.first_chunk_mut::<STEP>() {
                Some(step) if length <= STEP => *step = [value; STEP],
                _ => rest[..length].fill(value),
            }
            at += length;
        }
        at == self.out.len()
    }
}

/// Replaces `out` by the entry of `table` at each position, up to the shorter slice. Returns false if a position is out
/// of bounds; the contents of `out` are then unspecified. Positions are unsigned.
#[must_use]
pub fn look_up<T: Integer>(level: Level, table: &[i64], positions: &[i16], out: &mut [T]) -> bool {
    run_at(level, LookUp { table, positions, out })
}

struct LookUp<'a, T> {
    table: &'a [i64],
    positions: &'a [i16],
    out: &'a mut [T],
}

impl<T: Integer> Kernel for LookUp<'_, T> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let last = self.positions.iter().fold(0, |last, &position| last.max(position as u16));
        if usize::from(last) >= self.table.len() {
            return false;
        }
        for (out, &position) in self.out.iter_mut().zip(self.positions) {
            // SAFETY: no position exceeds the last one, which is in bounds.
            *out = T::cut(unsafe { *self.table.get_unchecked(usize::from(position as u16)) });
        }
        true
    }
}

/// Statistics of consecutive values from one pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Profile {
    /// Smallest value.
    pub min: i64,
    /// Largest value.
    pub max: i64,
    /// The number of values that differ from their predecessor.
    pub changes: usize,
    /// Smallest difference from the predecessor, wrapping; `i64::MAX` if there is none.
    pub min_step: i64,
    /// Largest difference from the predecessor, wrapping; `i64::MIN` if there is none.
    pub max_step: i64,
}

impl Profile {
    /// The profile of no values.
    pub const EMPTY: Self = Self { min: i64::MAX, max: i64::MIN, changes: 0, min_step: i64::MAX, max_step: i64::MIN };
}

/// Profiles values in one pass.
///
/// # Panics
/// If there are 2³¹ values or more.
#[must_use]
pub fn profile<T: Stepping>(level: Level, values: &[T]) -> Profile {
    assert!(i32::try_from(values.len()).is_ok(), "changes are counted in 32 bits");
    run_at(level, Profiling { values })
}

/// An integer with a type for differences: one that holds them all, except for the widest type, whose differences wrap.
pub trait Stepping: Integer {
    /// The type of differences.
    type Step: Integer + Ord;

    /// The value as a difference.
    fn as_step(self) -> Self::Step;
}

macro_rules! stepping {
    ($($integer:ident $step:ident)+) => {$(
        #[allow(clippy::useless_conversion, reason = "one text for three types")]
        impl Stepping for $integer {
            type Step = $step;

            #[inline(always)]
            fn as_step(self) -> $step {
                self.into()
            }
        }
    )+};
}

stepping!(i16 i32 i32 i64 i64 i64);

struct Profiling<'a, T> {
    values: &'a [T],
}

impl<T: Stepping> Kernel for Profiling<'_, T> {
    type Output = Profile;

    #[inline(always)]
    fn run(self) -> Profile {
        let Some((&first, rest)) = self.values.split_first() else { return Profile::EMPTY };
        if rest.is_empty() {
            return Profile { min: first.wide(), max: first.wide(), ..Profile::EMPTY };
        }
        let first = first.as_step();
        let (mut min, mut max, mut changes) = (first, first, T::Step::default());
        let step = rest[0].as_step().minus(first);
        let (mut min_step, mut max_step) = (step, step);
        for (&value, &before) in rest.iter().zip(self.values) {
            let value = value.as_step();
            let step = value.minus(before.as_step());
            min = min.min(value);
            max = max.max(value);
            changes = changes.plus(T::Step::cut(i64::from(step != T::Step::default())));
            min_step = min_step.min(step);
            max_step = max_step.max(step);
        }
        Profile {
            min: min.wide(),
            max: max.wide(),
            changes: changes.wide() as usize,
            min_step: min_step.wide(),
            max_step: max_step.wide(),
        }
    }
}

/// Replaces `quotients` by `(value - base) / divisor` for each value. Returns false if one of the divisions has a
/// remainder; the quotients are then unspecified.
///
/// Differences are unsigned and wrap. Multiples are divided by multiplying with the divisor's inverse modulo 2^64.
///
/// # Panics
/// If the divisor is 0.
#[must_use]
pub fn divide(level: Level, values: &[i64], base: i64, divisor: u64, quotients: &mut Vec<i64>) -> bool {
    let shift = divisor.trailing_zeros();
    let odd = divisor >> shift;
    // Newton's iteration doubles the number of correct bits, starting with three: an odd number is its own inverse
    // modulo 8.
    let inverse = (0..5).fold(odd, |inverse, _| inverse.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(inverse))));
    quotients.clear();
    quotients.resize(values.len(), 0);
    run_at(level, Divide { values, base, shift, inverse, largest: u64::MAX / divisor, quotients })
}

struct Divide<'a> {
    values: &'a [i64],
    base: i64,
    shift: u32,
    inverse: u64,
    largest: u64,
    quotients: &'a mut [i64],
}

impl Kernel for Divide<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let mut all = true;
        for (quotient, value) in self.quotients.iter_mut().zip(self.values) {
            // At most the largest possible quotient if and only if the difference is a multiple.
            let product = (value.wrapping_sub(self.base) as u64).wrapping_mul(self.inverse).rotate_right(self.shift);
            all &= product <= self.largest;
            *quotient = product as i64;
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn values_are_widened() {
        for level in Level::available() {
            assert_eq!(widened(level, &[-1i16, i16::MAX]), [-1, 32767]);
        }
    }

    pub(super) fn shifted() -> impl Strategy<Value = Vec<i64>> {
        (prop::collection::vec(any::<i64>(), 0..200), 0u32..64)
            .prop_map(|(values, shift)| values.iter().map(|value| value >> shift).collect())
    }

    proptest! {
        #[test]
        fn elementwise_arithmetic_matches_its_definition(values in shifted(), factor: i64, base: i64) {
            for level in Level::available() {
                let mut wide = values.clone();
                scale(level, factor, base, &mut wide);
                let mut narrow: Vec<_> = values.iter().map(|&value| value as i16).collect();
                scale(level, factor as i16, base as i16, &mut narrow);
                for ((value, wide), narrow) in values.iter().zip(&wide).zip(&narrow) {
                    let expected = value.wrapping_mul(factor).wrapping_add(base);
                    prop_assert_eq!((*wide, *narrow), (expected, expected as i16));
                }
                add(level, &mut wide, &values);
                for (index, value) in values.iter().enumerate() {
                    prop_assert_eq!(wide[index], value.wrapping_mul(factor).wrapping_add(base).wrapping_add(*value));
                }
            }
        }

        #[test]
        fn runs_are_repeated(
            runs in prop::collection::vec((any::<i64>(), prop_oneof![0i16..10, 0i16..60]), 0..40),
            room in prop::option::of(0usize..100),
        ) {
            let expected: Vec<_> =
                runs.iter().flat_map(|&(value, length)| std::iter::repeat_n(value, length as usize + 1)).collect();
            let (values, lengths): (Vec<_>, Vec<_>) = runs.into_iter().unzip();
            let room = room.unwrap_or(expected.len());
            for level in Level::available() {
                let mut out = vec![1; room];
                let fits = repeat(level, &values, &lengths, &mut out);
                prop_assert_eq!(fits, room == expected.len());
                prop_assert!(!fits || out == expected);
            }
            prop_assert!(!repeat(Level::best(), &[1i16], &[-1], &mut [0; 10]));
        }

        #[test]
        fn values_are_looked_up(
            table in prop::collection::vec(any::<i64>(), 1..200),
            positions in prop::collection::vec(0i16..150, 0..100),
        ) {
            let known = positions.iter().all(|&position| (position as usize) < table.len());
            for level in Level::available() {
                let mut out = vec![0i32; positions.len()];
                prop_assert_eq!(look_up(level, &table, &positions, &mut out), known);
                if known {
                    let expected: Vec<_> = positions.iter().map(|&position| table[position as usize] as i32).collect();
                    prop_assert_eq!(&out, &expected);
                }
            }
            prop_assert!(!look_up(Level::best(), &table, &[-1], &mut [0i64]));
        }

        #[test]
        fn profiles_match_their_definition(values in shifted()) {
            let steps: Vec<_> = values.windows(2).map(|pair| pair[1].wrapping_sub(pair[0])).collect();
            let expected = Profile {
                min: values.iter().copied().min().unwrap_or(i64::MAX),
                max: values.iter().copied().max().unwrap_or(i64::MIN),
                changes: steps.iter().filter(|step| **step != 0).count(),
                min_step: steps.iter().copied().min().unwrap_or(i64::MAX),
                max_step: steps.iter().copied().max().unwrap_or(i64::MIN),
            };
            let narrow: Vec<i32> = values.iter().map(|&value| value as i32).collect();
            let narrowest: Vec<i16> = values.iter().map(|&value| value as i16).collect();
            for level in Level::available() {
                prop_assert_eq!(profile(level, &values), expected);
                prop_assert_eq!(profile(level, &narrow), profile(level, &widened(level, &narrow)));
                prop_assert_eq!(profile(level, &narrowest), profile(level, &widened(level, &narrowest)));
            }
        }

        #[test]
        fn division_is_exact_or_refused(
            values in shifted(),
            base: i64,
            divisor in prop_oneof![1u64..1000, any::<u64>().prop_map(|divisor| divisor.max(1))],
            multiples: bool,
        ) {
            let values: Vec<_> = values
                .iter()
                .map(|&value| {
                    let distance = value as u64;
                    base.wrapping_add(if multiples { distance / divisor * divisor } else { distance } as i64)
                })
                .collect();
            let distance = |value: &i64| value.wrapping_sub(base) as u64;
            let mut quotients = Vec::new();
            for level in Level::available() {
                let exact = divide(level, &values, base, divisor, &mut quotients);
                prop_assert_eq!(exact, values.iter().all(|value| distance(value) % divisor == 0));
                if exact {
                    let expected: Vec<_> = values.iter().map(|value| (distance(value) / divisor) as i64).collect();
                    prop_assert_eq!(&quotients, &expected);
                }
            }
        }
    }
}
