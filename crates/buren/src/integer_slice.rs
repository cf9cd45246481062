//! Integers of a column in the narrowest of three widths that holds them.

use brc_core::Statistics;
use brc_kernels::accumulate::{statistics_i16, statistics_i32, statistics_i64};
use brc_kernels::arithmetic::{Integer, Profile, profile, widened};
use brc_kernels::cpu::Level;
use std::borrow::Cow;
use std::ops::Range;

/// Evaluates an expression with the slice of an [`IntegerSlice`] of any width.
macro_rules! for_widths {
    ($integers:expr, $values:ident => $body:expr) => {
        match $integers {
            crate::integer_slice::IntegerSlice::I16($values) => $body,
            crate::integer_slice::IntegerSlice::I32($values) => $body,
            crate::integer_slice::IntegerSlice::I64($values) => $body,
        }
    };
}
pub(crate) use for_widths;

/// Integers of one of three widths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntegerSlice<'a> {
    /// 16 bits per value.
    I16(&'a [i16]),
    /// 32 bits per value.
    I32(&'a [i32]),
    /// 64 bits per value.
    I64(&'a [i64]),
}

impl<'a> IntegerSlice<'a> {
    /// A slice without values.
    pub const EMPTY: Self = Self::I64(&[]);

    /// The number of values.
    #[must_use]
    pub fn len(self) -> usize {
        for_widths!(self, values => values.len())
    }

    /// Whether there are no values.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The value of a row.
    ///
    /// # Panics
    /// If `row` is out of bounds.
    #[must_use]
    pub fn get(self, row: usize) -> i64 {
        for_widths!(self, values => values[row].wide())
    }

    /// The values of some rows.
    ///
    /// # Panics
    /// If the rows are out of bounds.
    #[must_use]
    pub fn slice(self, rows: Range<usize>) -> Self {
        match self {
            Self::I16(values) => Self::I16(&values[rows]),
            Self::I32(values) => Self::I32(&values[rows]),
            Self::I64(values) => Self::I64(&values[rows]),
        }
    }

    /// Consecutive slices of `rows` values; the last one may be shorter.
    pub(crate) fn chunks(self, rows: usize) -> impl Iterator<Item = Self> {
        let all = self.len();
        (0..all).step_by(rows).map(move |start| self.slice(start..all.min(start + rows)))
    }

    /// The values in 64 bits.
    #[must_use]
    pub fn wide(self) -> Cow<'a, [i64]> {
        match self {
            Self::I16(values) => Cow::Owned(widened(Level::best(), values)),
            Self::I32(values) => Cow::Owned(widened(Level::best(), values)),
            Self::I64(values) => Cow::Borrowed(values),
        }
    }

    pub(crate) fn profile(self) -> Profile {
        for_widths!(self, values => profile(Level::best(), values))
    }

    /// Count, sum, minimum and maximum.
    pub(crate) fn statistics(self) -> Statistics {
        match self {
            Self::I16(values) => statistics_i16(Level::best(), values),
            Self::I32(values) => statistics_i32(Level::best(), values),
            Self::I64(values) => statistics_i64(Level::best(), values),
        }
    }
}

impl<'a> From<IntegerSlice<'a>> for brc_core::Integers<'a> {
    fn from(values: IntegerSlice<'a>) -> Self {
        match values {
            IntegerSlice::I16(values) => Self::I16(values),
            IntegerSlice::I32(values) => Self::I32(values),
            IntegerSlice::I64(values) => Self::I64(values),
        }
    }
}

macro_rules! from_slices {
    ($($integer:ident $variant:ident)+) => {$(
        impl<'a> From<&'a [$integer]> for IntegerSlice<'a> {
            fn from(values: &'a [$integer]) -> Self {
                Self::$variant(values)
            }
        }

        impl<'a> From<&'a Vec<$integer>> for IntegerSlice<'a> {
            fn from(values: &'a Vec<$integer>) -> Self {
                Self::$variant(values)
            }
        }

        impl<'a, const COUNT: usize> From<&'a [$integer; COUNT]> for IntegerSlice<'a> {
            fn from(values: &'a [$integer; COUNT]) -> Self {
                Self::$variant(values)
            }
        }
    )+};
}

from_slices!(i16 I16 i32 I32 i64 I64);

/// The width of an integer in bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum Width {
    #[default]
    Of16,
    Of32,
    Of64,
}

impl Width {
    /// The narrowest width that holds both values.
    pub(crate) fn holding(min: i64, max: i64) -> Self {
        if i16::try_from(min).is_ok() && i16::try_from(max).is_ok() {
            Self::Of16
        } else if i32::try_from(min).is_ok() && i32::try_from(max).is_ok() {
            Self::Of32
        } else {
            Self::Of64
        }
    }

    pub(crate) fn of(values: &[impl Integer]) -> Self {
        // Without an early exit, so that it vectorises.
        let all = |fits: fn(i64) -> bool| values.iter().fold(true, |all, &value| all & fits(value.wide()));
        if all(|value| value == i64::from(value as i16)) {
            Self::Of16
        } else if all(|value| value == i64::from(value as i32)) {
            Self::Of32
        } else {
            Self::Of64
        }
    }
}
