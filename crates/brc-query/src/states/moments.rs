//! Count, sum and sum of squares of numbers: what variances are computed of.

use super::float_products::FloatProducts;
use super::float_sums::FloatSums;
use super::{Accumulator, GroupIds, TOO_LARGE, Values};
use crate::values::error::BatchError;
use brc_core::for_integers;
use brc_kernels::accumulate::UnknownGroup;
use brc_kernels::cpu::Level;
use num_bigint::BigInt;
use serde::{Deserialize, Serialize};

/// The exact moments of a group.
#[derive(Debug, Clone)]
pub(crate) struct Moment {
    pub(crate) count: u64,
    /// The sum times two to the power of `exponent`.
    pub(crate) sum: BigInt,
    /// The sum of squares times two to the power of twice `exponent`.
    pub(crate) squares: BigInt,
    pub(crate) exponent: u32,
}

/// Those of integers of up to 64 bits.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct IntegerMoments(Vec<IntegerMoment>);

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
struct IntegerMoment {
    count: u64,
    sum: i128,
    /// 192 bits: room for 2⁶⁴ squares.
    squares: u128,
    carries: u64,
}

impl IntegerMoment {
    fn add(&mut self, other: &Self) {
        let (squares, carry) = self.squares.overflowing_add(other.squares);
        self.count += other.count;
        self.sum += other.sum;
        self.squares = squares;
        self.carries += other.carries + u64::from(carry);
    }
}

impl IntegerMoments {
    fn add<T: Copy + TryInto<i64>>(&mut self, groups: GroupIds<'_>, values: &[T]) -> Result<(), BatchError> {
        groups.each(values.len(), |group, row| {
            let value: i64 = values[row].try_into().map_err(|_| TOO_LARGE)?;
            let squares = u128::from(value.unsigned_abs()) * u128::from(value.unsigned_abs());
            let one = IntegerMoment { count: 1, sum: value.into(), squares, carries: 0 };
            self.0.get_mut(group).ok_or(UnknownGroup)?.add(&one);
            Ok(())
        })
    }
}

impl Accumulator for IntegerMoments {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn grow(&mut self, groups: usize) {
        self.0.resize(groups.max(self.0.len()), IntegerMoment::default());
    }

    fn update(&mut self, _: Level, groups: GroupIds<'_>, values: Values<'_>) -> Result<(), BatchError> {
        for_integers!(values.integers()?, values => self.add(groups, values))
    }

    fn take(&self, groups: &[u32]) -> Self {
        Self(groups.iter().map(|&group| self.0[group as usize]).collect())
    }

    fn merge(&mut self, other: &Self, groups: &[u32]) {
        for (&group, moment) in groups.iter().zip(&other.0) {
            self.0[group as usize].add(moment);
        }
    }

    fn moment(&self, group: usize) -> Option<Moment> {
        let IntegerMoment { count, sum, squares, carries } = self.0[group];
        let squares = (BigInt::from(carries) << 128) + BigInt::from(squares);
        Some(Moment { count, sum: sum.into(), squares, exponent: 0 })
    }
}

/// Those of integers of up to 128 bits.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct WideMoments(Vec<WideMoment>);

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct WideMoment {
    count: u64,
    #[serde(with = "super::big")]
    sum: BigInt,
    #[serde(with = "super::big")]
    squares: BigInt,
}

impl Accumulator for WideMoments {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn grow(&mut self, groups: usize) {
        self.0.resize_with(groups.max(self.0.len()), WideMoment::default);
    }

    fn update(&mut self, _: Level, groups: GroupIds<'_>, values: Values<'_>) -> Result<(), BatchError> {
        let values = values.integers()?;
        groups.each(values.len(), |group, row| {
            let moment = self.0.get_mut(group).ok_or(UnknownGroup)?;
            let value = BigInt::from(values.get(row));
            moment.count += 1;
            moment.squares += &value * &value;
            moment.sum += value;
            Ok(())
        })
    }

    fn take(&self, groups: &[u32]) -> Self {
        Self(groups.iter().map(|&group| self.0[group as usize].clone()).collect())
    }

    fn merge(&mut self, other: &Self, groups: &[u32]) {
        for (&group, theirs) in groups.iter().zip(&other.0) {
            let ours = &mut self.0[group as usize];
            ours.count += theirs.count;
            ours.sum += &theirs.sum;
            ours.squares += &theirs.squares;
        }
    }

    fn moment(&self, group: usize) -> Option<Moment> {
        let WideMoment { count, sum, squares } = self.0[group].clone();
        Some(Moment { count, sum, squares, exponent: 0 })
    }
}

/// Those of floats.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct FloatMoments {
    sums: FloatSums,
    squares: FloatProducts,
}

impl Accumulator for FloatMoments {
    fn len(&self) -> usize {
        self.sums.len()
    }

    fn grow(&mut self, groups: usize) {
        self.sums.grow(groups);
        self.squares.grow(groups);
    }

    fn update(&mut self, level: Level, groups: GroupIds<'_>, values: Values<'_>) -> Result<(), BatchError> {
        self.sums.update(level, groups, values)?;
        let values = values.floats()?;
        self.squares.update(level, groups, [values, values])
    }

    fn take(&self, groups: &[u32]) -> Self {
        Self { sums: self.sums.take(groups), squares: self.squares.take(groups) }
    }

    fn merge(&mut self, other: &Self, groups: &[u32]) {
        self.sums.merge(&other.sums, groups);
        self.squares.merge(&other.squares, groups);
    }

    fn finish(&mut self) {
        self.squares.finish();
    }

    fn is_sound(&self) -> bool {
        self.sums.is_sound() && self.squares.is_sound() && self.sums.len() == self.squares.len()
    }

    fn count(&self, group: usize) -> u64 {
        self.sums.count(group)
    }

    fn moment(&self, group: usize) -> Option<Moment> {
        let sum = self.sums.exact(group)?.exact()?;
        let squares = self.squares.exact(group)?;
        Some(Moment { count: self.sums.count(group), sum, squares, exponent: 1074 })
    }
}
