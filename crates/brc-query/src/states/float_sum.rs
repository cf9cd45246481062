//! The exact sum of some floats, as a result.

use crate::values::ratio::{nearest, nearest_small, power};
use num_bigint::{BigInt, BigUint};
use std::ops::Range;

/// The power of two of the unit that all floats are multiples of.
pub(super) const FINEST: i32 = -1074;

/// Units by which scaling is exact: the result is a normal number.
pub(super) const NORMAL: Range<i32> = -900..800;

/// The exact sum of some floats.
#[derive(Debug, Clone)]
pub(crate) struct FloatSum {
    pub(super) sum: ExactSum,
    pub(super) count: u64,
}

#[derive(Debug, Clone)]
pub(super) enum ExactSum {
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
            ExactSum::Small { sum, unit } if NORMAL.contains(unit) => {
                nearest_small(*sum, count.into()) * power((*unit).into())
            }
            ExactSum::Small { sum, unit } => nearest(&(*sum).into(), &count.into(), (*unit).into()),
            ExactSum::Large(sum) => nearest(sum, &BigUint::from(count), FINEST.into()),
            ExactSum::Special(value) => *value,
        }
    }
}

/// `value * 2^exponent` in the finest units.
pub(super) fn finest(value: i128, exponent: i32) -> BigInt {
    match u32::try_from(exponent - FINEST) {
        Ok(left) => BigInt::from(value) << left,
        // Only what was shifted up before lies below: nothing is lost.
        Err(_) => BigInt::from(value) >> exponent.abs_diff(FINEST),
    }
}
