//! Compares two columns row by row.

use super::words;
use crate::arithmetic::{Line, append};
use crate::cpu::{Kernel, Level, run_at};
use brc_core::{Comparison, Integers};

/// Sets the bits of the rows in which a comparison holds, and clears the others. Returns `false` and sets nothing if
/// the columns cannot be compared here, because they have 128-bit integers.
///
/// # Panics
/// If the columns differ in length, or `mask` does not have exactly [`words`] words.
#[must_use]
pub fn compare_integers(
    level: Level,
    comparison: Comparison,
    ones: Integers<'_>,
    others: Integers<'_>,
    mask: &mut [u64],
) -> bool {
    assert_eq!(ones.len(), others.len(), "as many rows in both");
    assert_eq!(mask.len(), words(ones.len()), "one word for 64 rows");
    match (ones, others) {
        (Integers::I8(ones), Integers::I8(others)) => compare(level, comparison, ones, others, mask),
        (Integers::I16(ones), Integers::I16(others)) => compare(level, comparison, ones, others, mask),
        (Integers::I32(ones), Integers::I32(others)) => compare(level, comparison, ones, others, mask),
        (Integers::I64(ones), Integers::I64(others)) => compare(level, comparison, ones, others, mask),
        (Integers::I128(_), _) | (_, Integers::I128(_)) => return false,
        (ones, others) => {
            let (mut wide, mut other) = (Vec::with_capacity(BLOCK), Vec::with_capacity(BLOCK));
            for (block, mask) in mask.chunks_mut(words(BLOCK)).enumerate() {
                let rows = block * BLOCK..ones.len().min((block + 1) * BLOCK);
                for (values, wide) in [(ones, &mut wide), (others, &mut other)] {
                    wide.clear();
                    append(level, Line::IDENTITY, values.slice(rows.clone()), wide);
                }
                compare(level, comparison, &wide, &other, mask);
            }
        }
    }
    true
}

/// The number of rows that are widened at a time.
const BLOCK: usize = 512;

/// The same for floats. All NaNs are equal and above all numbers, and the two zeros are equal.
///
/// # Panics
/// As for [`compare_integers`].
pub fn compare_floats(level: Level, comparison: Comparison, ones: &[f64], others: &[f64], mask: &mut [u64]) {
    assert_eq!(ones.len(), others.len(), "as many rows in both");
    assert_eq!(mask.len(), words(ones.len()), "one word for 64 rows");
    compare(level, comparison, ones, others, mask);
}

/// Values with a total order.
trait Ordered: Copy {
    fn is_below(self, other: Self) -> bool;
    fn is_equal(self, other: Self) -> bool;
}

macro_rules! ordered {
    ($($integer:ident)+) => {$(
        impl Ordered for $integer {
            #[inline(always)]
            fn is_below(self, other: Self) -> bool {
                self < other
            }

            #[inline(always)]
            fn is_equal(self, other: Self) -> bool {
                self == other
            }
        }
    )+};
}

ordered!(i8 i16 i32 i64);

impl Ordered for f64 {
    #[inline(always)]
    fn is_below(self, other: Self) -> bool {
        (self < other) | (other.is_nan() & !self.is_nan())
    }

    #[inline(always)]
    fn is_equal(self, other: Self) -> bool {
        (self == other) | (self.is_nan() & other.is_nan())
    }
}

fn compare<T: Ordered>(level: Level, comparison: Comparison, ones: &[T], others: &[T], mask: &mut [u64]) {
    let (ones, others) = match comparison {
        Comparison::Greater | Comparison::LessOrEqual => (others, ones),
        _ => (ones, others),
    };
    let negated = matches!(comparison, Comparison::NotEqual | Comparison::LessOrEqual | Comparison::GreaterOrEqual);
    if matches!(comparison, Comparison::Equal | Comparison::NotEqual) {
        run_at(level, Compare { ones, others, mask, negated, holds: T::is_equal });
    } else {
        run_at(level, Compare { ones, others, mask, negated, holds: T::is_below });
    }
}

struct Compare<'a, T, F> {
    ones: &'a [T],
    others: &'a [T],
    mask: &'a mut [u64],
    negated: bool,
    holds: F,
}

impl<T: Ordered, F: Fn(T, T) -> bool> Kernel for Compare<'_, T, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (ones, last_ones) = self.ones.as_chunks::<64>();
        let (others, last_others) = self.others.as_chunks::<64>();
        let (words, last) = self.mask.split_at_mut(ones.len());
        let mut holds = [0u8; 64];
        for ((word, ones), others) in words.iter_mut().zip(ones).zip(others) {
            for row in 0..64 {
                holds[row] = u8::from((self.holds)(ones[row], others[row]));
            }
            let bits = super::gathered(&holds);
            *word = if self.negated { !bits } else { bits };
        }
        if let [word] = last {
            *word = 0;
            for (row, (&one, &other)) in last_ones.iter().zip(last_others).enumerate() {
                *word |= u64::from((self.holds)(one, other) != self.negated) << row;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cmp::Ordering;

    const ALL: [Comparison; 6] = [
        Comparison::Equal,
        Comparison::NotEqual,
        Comparison::Less,
        Comparison::LessOrEqual,
        Comparison::Greater,
        Comparison::GreaterOrEqual,
    ];

    fn expected(comparison: Comparison, orders: impl Iterator<Item = Ordering>) -> Vec<u64> {
        let holds: Vec<bool> = orders.map(|order| comparison.holds(order)).collect();
        holds.chunks(64).map(|chunk| chunk.iter().rev().fold(0, |word, &holds| word << 1 | u64::from(holds))).collect()
    }

    proptest! {
        #[test]
        fn integers_of_all_widths_are_compared(
            rows in prop::collection::vec((any::<i64>(), any::<i64>(), 0u32..64, any::<bool>()), 0..1200),
        ) {
            let ones: Vec<i64> = rows.iter().map(|row| row.0 >> row.2).collect();
            let others: Vec<i64> = rows.iter().map(|row| if row.3 { row.0 >> row.2 } else { row.1 >> row.2 }).collect();
            let shorts: Vec<i32> = others.iter().map(|&value| value as i32).collect();
            let tiny: Vec<i8> = ones.iter().map(|&value| value as i8).collect();
            let narrow: Vec<i16> = ones.iter().map(|&value| value as i16).collect();
            let wide: Vec<i128> = ones.iter().map(|&value| value.into()).collect();
            let pairs = [
                (Integers::I64(&ones), Integers::I64(&others)),
                (Integers::I32(&shorts), Integers::I32(&shorts)),
                (Integers::I64(&ones), Integers::I32(&shorts)),
                (Integers::I8(&tiny), Integers::I32(&shorts)),
                (Integers::I16(&narrow), Integers::I8(&tiny)),
                (Integers::I16(&narrow), Integers::I16(&narrow)),
            ];
            for level in Level::available() {
                for comparison in ALL {
                    let mut mask = vec![u64::MAX; words(rows.len())];
                    for (ones, others) in pairs {
                        prop_assert!(compare_integers(level, comparison, ones, others, &mut mask));
                        let orders = (0..rows.len()).map(|row| ones.get(row).cmp(&others.get(row)));
                        prop_assert_eq!(&mask, &expected(comparison, orders));
                    }
                    let wide = Integers::I128(&wide);
                    prop_assert!(!compare_integers(level, comparison, wide, Integers::I64(&others), &mut mask));
                }
            }
        }

        #[test]
        fn floats_are_compared_as_they_are_sorted(
            rows in prop::collection::vec((any::<f64>(), any::<f64>(), 0u8..4), 0..200),
        ) {
            let special = |value: f64, kind| match kind {
                0 => value,
                1 => f64::NAN,
                2 => -0.0,
                _ => 0.0,
            };
            let ones: Vec<f64> = rows.iter().map(|row| special(row.0, row.2)).collect();
            let others: Vec<f64> = rows.iter().map(|row| special(row.1, row.0.to_bits() as u8 % 4)).collect();
            let order = |(one, other): (&f64, &f64)| match (one.is_nan(), other.is_nan()) {
                (false, false) => one.partial_cmp(other).unwrap_or(Ordering::Equal),
                (one, other) => one.cmp(&other),
            };
            for level in Level::available() {
                for comparison in ALL {
                    let mut mask = vec![u64::MAX; words(rows.len())];
                    compare_floats(level, comparison, &ones, &others, &mut mask);
                    prop_assert_eq!(&mask, &expected(comparison, ones.iter().zip(&others).map(order)));
                }
            }
        }
    }
}
