//! Sums of floats that are exact, and so the same for any order of values, any number of threads, and any split.
//!
//! Each group's sum is an integer of 128 bits in units of a power of two that all groups of a state share; floats of data
//! that people have nearly always lie within its range. What does not is added up in an integer of any length.

use super::{Accumulator, GroupIds, Values};
use crate::group::Malformed;
use crate::ratio::{nearest, nearest_small};
use brc_kernels::accumulate::UnknownGroup;
use brc_kernels::cpu::Level;
use num_bigint::{BigInt, BigUint};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// The power of two of the unit that all floats are multiples of.
const FINEST: i32 = -1074;

/// Units are multiples of this power of two: so states of the same kind of values mostly have the same one.
const STEP: i32 = 32;

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct FloatSums {
    counts: Vec<u64>,
    /// In units of two to the power of `unit`.
    sums: Vec<i128>,
    /// Chosen by the first value that is not 0.
    unit: Option<i32>,
    /// What does not fit.
    rest: HashMap<u32, Rest>,
}

/// What the sum of a group has besides.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Rest {
    /// In units of two to the power of [`FINEST`].
    #[serde(with = "super::big")]
    sum: BigInt,
    nan: bool,
    infinity: bool,
    negative_infinity: bool,
}

/// A finite float as an integer times a power of two.
pub(crate) fn parts_of(value: f64) -> (i64, i32) {
    let bits = value.to_bits();
    let (fraction, exponent) = ((bits & ((1 << 52) - 1)) as i64, (bits >> 52 & 0x7ff) as i32);
    let magnitude = if exponent == 0 { fraction } else { fraction | 1 << 52 };
    (if value.is_sign_negative() { -magnitude } else { magnitude }, exponent.max(1) - 1075)
}

/// `value * 2^from` in units of `2^to`, if that is an integer of not too many bits.
fn in_units(value: i128, from: i32, to: i32) -> Option<i128> {
    if value == 0 {
        return Some(0);
    }
    match u32::try_from(from - to) {
        Ok(left) => {
            let used = 128 - value.unsigned_abs().leading_zeros();
            (used + left <= 126).then(|| value << left)
        }
        Err(_) => {
            let right = from.abs_diff(to);
            (value.trailing_zeros() >= right).then(|| value >> right)
        }
    }
}

impl FloatSums {
    pub(super) fn count(&self, group: usize) -> u64 {
        self.counts[group]
    }

    /// The sum of a group; `None` if it has no values.
    pub(crate) fn sum(&self, group: usize) -> Option<FloatSum> {
        let count = self.counts[group];
        if count == 0 {
            return None;
        }
        let unit = self.unit.unwrap_or(0);
        let sum = match self.rest.get(&(group as u32)) {
            None => ExactSum::Small { sum: self.sums[group], unit },
            Some(rest) if rest.nan || (rest.infinity && rest.negative_infinity) => ExactSum::Special(f64::NAN),
            Some(rest) if rest.infinity => ExactSum::Special(f64::INFINITY),
            Some(rest) if rest.negative_infinity => ExactSum::Special(f64::NEG_INFINITY),
            Some(rest) => {
                let mut sum = rest.sum.clone();
                sum += finest(self.sums[group], unit);
                ExactSum::Large(sum)
            }
        };
        Some(FloatSum { sum, count })
    }

    pub(super) fn add(&mut self, group: usize, value: f64) -> Result<(), Malformed> {
        *self.counts.get_mut(group).ok_or(UnknownGroup)? += 1;
        if !value.is_finite() {
            let rest = self.rest.entry(group as u32).or_default();
            rest.nan |= value.is_nan();
            rest.infinity |= value == f64::INFINITY;
            rest.negative_infinity |= value == f64::NEG_INFINITY;
            return Ok(());
        }
        let (mantissa, exponent) = parts_of(value);
        self.add_units(group, mantissa.into(), exponent);
        Ok(())
    }

    /// Adds `value * 2^exponent`.
    fn add_units(&mut self, group: usize, value: i128, exponent: i32) {
        if value == 0 {
            return;
        }
        let unit = *self.unit.get_or_insert_with(|| (exponent - 20).div_euclid(STEP) * STEP);
        let sum = &mut self.sums[group];
        match in_units(value, exponent, unit).and_then(|value| sum.checked_add(value)) {
            Some(larger) => *sum = larger,
            None => self.rest.entry(group as u32).or_default().sum += finest(value, exponent),
        }
    }
}

/// `value * 2^exponent` in the finest units.
fn finest(value: i128, exponent: i32) -> BigInt {
    match u32::try_from(exponent - FINEST) {
        Ok(left) => BigInt::from(value) << left,
        // Only what was shifted up before lies below: nothing is lost.
        Err(_) => BigInt::from(value) >> exponent.abs_diff(FINEST),
    }
}

impl Accumulator for FloatSums {
    fn len(&self) -> usize {
        self.counts.len()
    }

    fn grow(&mut self, groups: usize) {
        self.counts.resize(groups.max(self.counts.len()), 0);
        self.sums.resize(self.counts.len(), 0);
    }

    fn update(&mut self, _: Level, groups: GroupIds<'_>, values: Values<'_>) -> Result<(), Malformed> {
        let values = values.floats()?;
        groups.each(values.len(), |group, row| self.add(group, values[row]))
    }

    fn take(&self, groups: &[u32]) -> Self {
        let rest = (0..).zip(groups).filter_map(|(place, group)| Some((place, self.rest.get(group)?.clone())));
        Self {
            counts: groups.iter().map(|&group| self.counts[group as usize]).collect(),
            sums: groups.iter().map(|&group| self.sums[group as usize]).collect(),
            unit: self.unit,
            rest: rest.collect(),
        }
    }

    fn merge(&mut self, other: &Self, groups: &[u32]) {
        self.unit = self.unit.or(other.unit);
        for ((&group, &count), &sum) in groups.iter().zip(&other.counts).zip(&other.sums) {
            self.counts[group as usize] += count;
            self.add_units(group as usize, sum, other.unit.unwrap_or(0));
        }
        for (&theirs, rest) in &other.rest {
            let ours = self.rest.entry(groups[theirs as usize]).or_default();
            ours.sum += &rest.sum;
            ours.nan |= rest.nan;
            ours.infinity |= rest.infinity;
            ours.negative_infinity |= rest.negative_infinity;
        }
    }

    fn is_sound(&self) -> bool {
        self.sums.len() == self.counts.len()
            && self.rest.keys().all(|&group| (group as usize) < self.counts.len())
            && self.unit.is_none_or(|unit| (-1200..1200).contains(&unit))
    }
}

/// The exact sum of some floats.
#[derive(Debug, Clone)]
pub(crate) struct FloatSum {
    sum: ExactSum,
    count: u64,
}

#[derive(Debug, Clone)]
enum ExactSum {
    /// In units of two to the power of `unit`.
    Small { sum: i128, unit: i32 },
    /// In the finest units.
    Large(BigInt),
    /// No number.
    Special(f64),
}

impl FloatSum {
    /// The nearest float.
    pub(crate) fn value(&self) -> f64 {
        self.over(1)
    }

    /// The float nearest to the mean.
    pub(crate) fn mean(&self) -> f64 {
        self.over(self.count)
    }

    /// The sum in units of two to the power of −1074, unless it is no number.
    pub(crate) fn exact(&self) -> Option<BigInt> {
        match &self.sum {
            ExactSum::Small { sum, unit } => Some(finest(*sum, *unit)),
            ExactSum::Large(sum) => Some(sum.clone()),
            ExactSum::Special(_) => None,
        }
    }

    fn over(&self, count: u64) -> f64 {
        match &self.sum {
            // Scaling by a power of two is exact as long as the result is a normal number.
            ExactSum::Small { sum, unit } if (-900..800).contains(unit) => {
                nearest_small(*sum, count.into()) * f64::from_bits(((unit + 1023) as u64) << 52)
            }
            ExactSum::Small { sum, unit } => nearest(&(*sum).into(), &count.into(), (*unit).into()),
            ExactSum::Large(sum) => nearest(sum, &BigUint::from(count), FINEST.into()),
            ExactSum::Special(value) => *value,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sum(values: &[f64]) -> f64 {
        state(values).sum(0).map_or(0.0, |sum| sum.value())
    }

    fn state(values: &[f64]) -> FloatSums {
        let mut state = FloatSums::default();
        state.grow(1);
        values.iter().for_each(|&value| state.add(0, value).unwrap());
        state
    }

    #[test]
    fn sums_are_exact() {
        assert_eq!(sum(&[1e300, 1.0, -1e300]), 1.0);
        assert_eq!(sum(&[0.1; 10]), 1.0);
        assert_eq!(sum(&[f64::MAX, f64::MAX, -f64::MAX]), f64::MAX);
        assert_eq!(sum(&[f64::MAX, f64::MAX]), f64::INFINITY);
        assert_eq!(sum(&[f64::from_bits(1); 3]), f64::from_bits(3));
        assert_eq!(sum(&[f64::INFINITY, 1.0]), f64::INFINITY);
        assert!(sum(&[f64::INFINITY, f64::NEG_INFINITY]).is_nan());
        assert!(sum(&[f64::NAN, 1.0]).is_nan());
        assert_eq!(sum(&[-0.0, -0.0]).to_bits(), 0);
        assert_eq!(state(&[f64::MAX; 4]).sum(0).unwrap().mean(), f64::MAX);
        assert_eq!(state(&[f64::from_bits(3), 0.0]).sum(0).unwrap().mean(), f64::from_bits(2));
    }

    proptest! {
        #[test]
        fn any_order_gives_the_same_bits(
            values in prop::collection::vec(prop_oneof![4 => -1e6f64..1e6, 1 => any::<f64>()], 1..40),
            cut in 0usize..40,
        ) {
            let cut = cut.min(values.len());
            let mut backwards = values.clone();
            backwards.reverse();
            let whole = sum(&values);
            prop_assert_eq!(sum(&backwards).to_bits(), whole.to_bits());
            for (first, second) in [(&values[..cut], &values[cut..]), (&values[cut..], &values[..cut])] {
                let mut merged = state(first);
                merged.merge(&state(second), &[0]);
                prop_assert_eq!(merged.sum(0).unwrap().value().to_bits(), whole.to_bits());
            }
        }
    }
}
