//! Sums, differences and products of integer columns, and linear functions of them, in 64 bits.

use crate::cpu::{Kernel, Level, run_at};
use brc_core::Integers;

/// An operation on two slices of integers, row by row, wrapping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// The sums.
    Add,
    /// The differences.
    Subtract,
    /// The products.
    Multiply,
}

impl Operation {
    fn of(self, one: i64, other: i64) -> i64 {
        match self {
            Self::Add => one.wrapping_add(other),
            Self::Subtract => one.wrapping_sub(other),
            Self::Multiply => one.wrapping_mul(other),
        }
    }
}

/// Applies an operation to the rows of both slices, up to the shorter one.
#[must_use]
pub fn combined(level: Level, operation: Operation, ones: &[i64], others: &[i64]) -> Vec<i64> {
    let mut values = ones[..ones.len().min(others.len())].to_vec();
    combine(level, operation, &mut values, others);
    values
}

/// Applies an operation to each value and the one at the same index in `others`, up to the shorter slice.
pub fn combine(level: Level, operation: Operation, values: &mut [i64], others: &[i64]) {
    run_at(level, Combine { operation, values, others });
}

struct Combine<'a> {
    operation: Operation,
    values: &'a mut [i64],
    others: &'a [i64],
}

impl Kernel for Combine<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let pairs = self.values.iter_mut().zip(self.others);
        match self.operation {
            Operation::Add => pairs.for_each(|(value, other)| *value = value.wrapping_add(*other)),
            Operation::Subtract => pairs.for_each(|(value, other)| *value = value.wrapping_sub(*other)),
            Operation::Multiply => pairs.for_each(|(value, other)| *value = value.wrapping_mul(*other)),
        }
    }
}

/// A linear function of integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line {
    /// The factor.
    pub factor: i64,
    /// The summand.
    pub plus: i64,
}

impl Line {
    /// The identity.
    pub const IDENTITY: Self = Self { factor: 1, plus: 0 };

    #[inline(always)]
    fn of<T: Into<i64>>(self, integer: T) -> i64 {
        integer.into().wrapping_mul(self.factor).wrapping_add(self.plus)
    }
}

/// Appends the function values of integers; 128-bit integers are truncated to 64 bits.
pub fn append(level: Level, line: Line, integers: Integers<'_>, values: &mut Vec<i64>) {
    match integers {
        Integers::I8(integers) => run_at(level, Append { line, integers, values }),
        Integers::I16(integers) => run_at(level, Append { line, integers, values }),
        Integers::I32(integers) => run_at(level, Append { line, integers, values }),
        Integers::I64(integers) => run_at(level, Append { line, integers, values }),
        Integers::I128(integers) => values.extend(integers.iter().map(|&wide| line.of(wide as i64))),
    }
}

struct Append<'a, T> {
    line: Line,
    integers: &'a [T],
    values: &'a mut Vec<i64>,
}

impl<T: Copy + Into<i64>> Kernel for Append<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { line, integers, values } = self;
        match line {
            Line::IDENTITY => values.extend(integers.iter().map(|&integer| integer.into())),
            line => values.extend(integers.iter().map(|&integer| line.of(integer))),
        }
    }
}

/// [`combine`] with the function values of integers; 128-bit integers are truncated to 64 bits.
pub fn combine_with(level: Level, operation: Operation, values: &mut [i64], line: Line, integers: Integers<'_>) {
    match integers {
        Integers::I8(integers) => run_at(level, CombineWith { operation, values, line, integers }),
        Integers::I16(integers) => run_at(level, CombineWith { operation, values, line, integers }),
        Integers::I32(integers) => run_at(level, CombineWith { operation, values, line, integers }),
        Integers::I64(integers) => run_at(level, CombineWith { operation, values, line, integers }),
        Integers::I128(integers) => {
            let pairs = values.iter_mut().zip(integers);
            pairs.for_each(|(value, &wide)| *value = operation.of(*value, line.of(wide as i64)));
        }
    }
}

struct CombineWith<'a, T> {
    operation: Operation,
    values: &'a mut [i64],
    line: Line,
    integers: &'a [T],
}

impl<T: Copy + Into<i64>> Kernel for CombineWith<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let line @ Line { factor, plus } = self.line;
        // A 64-bit multiplication takes several instructions if the instruction set has none.
        match factor {
            1 => self.with(|integer| integer.wrapping_add(plus)),
            -1 => self.with(|integer| plus.wrapping_sub(integer)),
            _ => self.with(|integer| line.of(integer)),
        }
    }
}

impl<T: Copy + Into<i64>> CombineWith<'_, T> {
    #[inline(always)]
    fn with(self, of: impl Fn(i64) -> i64) {
        let pairs = self.values.iter_mut().zip(self.integers);
        match self.operation {
            Operation::Add => pairs.for_each(|(value, &integer)| *value = value.wrapping_add(of(integer.into()))),
            Operation::Subtract => pairs.for_each(|(value, &integer)| *value = value.wrapping_sub(of(integer.into()))),
            Operation::Multiply => pairs.for_each(|(value, &integer)| *value = value.wrapping_mul(of(integer.into()))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arithmetic::tests::shifted;
    use proptest::prelude::*;

    #[test]
    fn operations_wrap() {
        let (ones, others) = ([i64::MAX, 3, i64::MIN], [1, -4, -1]);
        for level in Level::available() {
            assert_eq!(combined(level, Operation::Add, &ones, &others), [i64::MIN, -1, i64::MAX]);
            assert_eq!(combined(level, Operation::Subtract, &ones, &others), [i64::MAX - 1, 7, i64::MIN + 1]);
            assert_eq!(combined(level, Operation::Multiply, &ones, &others), [i64::MAX, -12, i64::MIN]);
        }
    }

    proptest! {
        #[test]
        fn linear_functions_of_any_width(
            values in shifted(),
            factor in prop_oneof![Just(1), Just(-1), any::<i64>()],
            plus in prop_oneof![Just(0), any::<i64>()],
        ) {
            let line = Line { factor, plus };
            let i8s: Vec<_> = values.iter().map(|&value| value as i8).collect();
            let i16s: Vec<_> = values.iter().map(|&value| value as i16).collect();
            let i32s: Vec<_> = values.iter().map(|&value| value as i32).collect();
            let i128s: Vec<_> = values.iter().map(|&value| i128::from(value) << 1).collect();
            for level in Level::available() {
                for integers in [
                    Integers::I8(&i8s), Integers::I16(&i16s), Integers::I32(&i32s), Integers::I64(&values),
                    Integers::I128(&i128s),
                ] {
                    let of = |row: usize| (integers.get(row) as i64).wrapping_mul(factor).wrapping_add(plus);
                    let mut appended = vec![7];
                    append(level, line, integers, &mut appended);
                    prop_assert!(appended.len() == values.len() + 1 && appended[0] == 7);
                    prop_assert!(appended[1..].iter().enumerate().all(|(row, value)| *value == of(row)));
                    for operation in [Operation::Add, Operation::Subtract, Operation::Multiply] {
                        let mut combined = values.clone();
                        combine_with(level, operation, &mut combined, line, integers);
                        let expected = values.iter().enumerate().map(|(row, &value)| operation.of(value, of(row)));
                        prop_assert_eq!(&combined, &expected.collect::<Vec<_>>());
                    }
                }
            }
        }
    }
}
