//! Row filters bound to a schema, in the form that encodings use to prune data.

use crate::statistics::Statistics;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// How two strings are compared, in byte order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    /// Whether the comparison may hold, and whether it may fail, for values between one that compares as `min` and one
    /// that compares as `max`.
    fn within(self, min: Ordering, max: Ordering) -> (bool, bool) {
        let orders = [Ordering::Less, Ordering::Equal, Ordering::Greater];
        let mut possible = orders.into_iter().filter(|order| (min..=max).contains(order));
        let fails = possible.clone().any(|order| !self.holds(order));
        (possible.any(|order| self.holds(order)), fails)
    }

    /// The equivalent comparison with swapped operands.
    #[must_use]
    pub fn mirrored(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
            Self::Equal | Self::NotEqual => self,
        }
    }

    /// Whether operands with this ordering satisfy the comparison.
    #[must_use]
    pub fn holds(self, ordering: Ordering) -> bool {
        match self {
            Self::Equal => ordering.is_eq(),
            Self::NotEqual => ordering.is_ne(),
            Self::Less => ordering.is_lt(),
            Self::LessOrEqual => ordering.is_le(),
            Self::Greater => ordering.is_gt(),
            Self::GreaterOrEqual => ordering.is_ge(),
        }
    }
}

/// A condition on a row. Columns are positions in the table's schema. As in SQL, it is true, false or null; it is null
/// if a value it compares is null.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Predicate {
    /// The same truth value for every row.
    Constant(bool),
    /// A number lies in `low..=high`; every comparison of numbers has this form. Decimals are in units of their
    /// column's scale, floats are mapped by [`float_order`].
    Range {
        /// The column.
        column: usize,
        /// The lower bound, inclusive.
        low: i128,
        /// The upper bound, inclusive.
        high: i128,
    },
    /// A string compares with `value` as `comparison` says.
    Compare {
        /// The column.
        column: usize,
        /// The comparison operator.
        comparison: Comparison,
        /// The right operand.
        value: Vec<u8>,
    },
    /// The column is null. Never null itself.
    IsNull {
        /// The column.
        column: usize,
    },
    /// All of these are true.
    And(Vec<Predicate>),
    /// Any of these is true.
    Or(Vec<Predicate>),
    /// This is false.
    Not(Box<Predicate>),
}

/// Maps floats to integers in the order of IEEE 754's `totalOrder`, so that bounds and ranges of floats are those of
/// integers. Negative zero sorts before positive zero; NaN with a clear sign bit sorts after all numbers.
#[must_use]
pub fn float_order(value: f64) -> i64 {
    let bits = value.to_bits() as i64;
    bits ^ (((bits >> 63) as u64) >> 1) as i64
}

/// The inverse of [`float_order`].
#[must_use]
pub fn float_of_order(order: i64) -> f64 {
    f64::from_bits((order ^ (((order >> 63) as u64) >> 1) as i64) as u64)
}

/// Column statistics over some rows.
#[derive(Debug, Clone, Copy)]
pub struct ColumnStatistics<'a> {
    /// The bounds of the values that are not null.
    pub values: ValueBounds<'a>,
    /// Whether there may be nulls.
    pub nulls: bool,
}

/// The bounds of the values that are not null.
#[derive(Debug, Clone, Copy)]
pub enum ValueBounds<'a> {
    /// No statistics.
    Unknown,
    /// There are no values: all rows are null.
    None,
    /// The minimum and maximum string.
    Strings {
        /// The minimum.
        min: &'a [u8],
        /// The maximum.
        max: &'a [u8],
    },
    /// The minimum and maximum number, mapped as for [`Predicate::Range`].
    Numbers {
        /// The minimum.
        min: i128,
        /// The maximum.
        max: i128,
    },
}

impl<'a> ColumnStatistics<'a> {
    /// No statistics; there may be nulls.
    pub const UNKNOWN: Self = Self { values: ValueBounds::Unknown, nulls: true };

    /// Every row has this string.
    #[must_use]
    pub fn string(value: &'a [u8]) -> Self {
        Self { values: ValueBounds::Strings { min: value, max: value }, nulls: false }
    }

    /// Every row has a number in this range.
    #[must_use]
    pub fn numbers(min: i64, max: i64) -> Self {
        Self { values: ValueBounds::Numbers { min: min.into(), max: max.into() }, nulls: false }
    }
}

impl From<&Statistics> for ColumnStatistics<'_> {
    fn from(statistics: &Statistics) -> Self {
        if statistics.count == 0 { Self::UNKNOWN } else { Self::numbers(statistics.min, statistics.max) }
    }
}

/// The result of evaluating a predicate on statistics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PruneResult {
    /// True for every row: no row needs a test.
    Always,
    /// True for no row: all rows can be pruned.
    Never,
    /// The rows must be tested.
    Maybe,
}

/// The truth values that a predicate may take over some rows, in three-valued logic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TruthValues {
    may_be_true: bool,
    may_be_false: bool,
    may_be_null: bool,
}

impl TruthValues {
    const TRUE: Self = Self { may_be_true: true, may_be_false: false, may_be_null: false };
    const FALSE: Self = Self { may_be_true: false, may_be_false: true, may_be_null: false };
    const NULL: Self = Self { may_be_true: false, may_be_false: false, may_be_null: true };

    /// The truth values of a condition on a column, given those for rows that have a value.
    fn of_values(known: &ColumnStatistics<'_>, may_be_true: bool, may_be_false: bool) -> Self {
        match known.values {
            ValueBounds::None => Self::NULL,
            ValueBounds::Unknown | ValueBounds::Strings { .. } | ValueBounds::Numbers { .. } => {
                Self { may_be_true, may_be_false, may_be_null: known.nulls }
            }
        }
    }

    fn and(self, other: Self) -> Self {
        let null_or_true = |it: Self| it.may_be_true || it.may_be_null;
        Self {
            may_be_true: self.may_be_true && other.may_be_true,
            may_be_false: self.may_be_false || other.may_be_false,
            may_be_null: (self.may_be_null && null_or_true(other)) || (other.may_be_null && null_or_true(self)),
        }
    }

    fn not(self) -> Self {
        Self { may_be_true: self.may_be_false, may_be_false: self.may_be_true, may_be_null: self.may_be_null }
    }
}

impl Predicate {
    /// Evaluates the predicate on the statistics of each column.
    pub fn decide<'a>(&self, known: &impl Fn(usize) -> ColumnStatistics<'a>) -> PruneResult {
        match self.truth_values(known) {
            TruthValues::TRUE => PruneResult::Always,
            TruthValues { may_be_true: false, .. } => PruneResult::Never,
            _ => PruneResult::Maybe,
        }
    }

    fn truth_values<'a>(&self, known: &impl Fn(usize) -> ColumnStatistics<'a>) -> TruthValues {
        let all = |parts: &[Self], negated: bool| {
            let truth_values = parts.iter().map(|part| part.truth_values(known));
            truth_values
                .map(|truth_values| if negated { truth_values.not() } else { truth_values })
                .fold(TruthValues::TRUE, TruthValues::and)
        };
        match self {
            Self::Constant(true) => TruthValues::TRUE,
            Self::Constant(false) => TruthValues::FALSE,
            Self::Range { column, low, high } => {
                let known = known(*column);
                let (within, without) = match known.values {
                    ValueBounds::Numbers { min, max } => (*low <= max && min <= *high, min < *low || *high < max),
                    ValueBounds::Unknown | ValueBounds::None | ValueBounds::Strings { .. } => (true, true),
                };
                TruthValues::of_values(&known, within && low <= high, without || low > high)
            }
            Self::Compare { column, comparison, value } => {
                let known = known(*column);
                let (holds, fails) = match known.values {
                    ValueBounds::Strings { min, max } => comparison.within(min.cmp(value), max.cmp(value)),
                    ValueBounds::Unknown | ValueBounds::None | ValueBounds::Numbers { .. } => (true, true),
                };
                TruthValues::of_values(&known, holds, fails)
            }
            Self::IsNull { column } => {
                let ColumnStatistics { values, nulls } = known(*column);
                let none = matches!(values, ValueBounds::None);
                TruthValues { may_be_true: none || nulls, may_be_false: !none, may_be_null: false }
            }
            Self::And(parts) => all(parts, false),
            // De Morgan: an OR is false only if all operands are.
            Self::Or(parts) => all(parts, true).not(),
            Self::Not(part) => part.truth_values(known).not(),
        }
    }

    /// Appends the columns that the predicate reads to `columns`, without duplicates.
    pub fn columns(&self, columns: &mut Vec<usize>) {
        match self {
            Self::Constant(_) => {}
            Self::Range { column, .. } | Self::Compare { column, .. } | Self::IsNull { column } => {
                if !columns.contains(column) {
                    columns.push(*column);
                }
            }
            Self::And(parts) | Self::Or(parts) => {
                for part in parts {
                    part.columns(columns);
                }
            }
            Self::Not(part) => part.columns(columns),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn arbitrary() -> impl Strategy<Value = Predicate> {
        let comparison = prop::sample::select(vec![
            Comparison::Equal,
            Comparison::NotEqual,
            Comparison::Less,
            Comparison::LessOrEqual,
            Comparison::Greater,
            Comparison::GreaterOrEqual,
        ]);
        let leaf = prop_oneof![
            any::<bool>().prop_map(Predicate::Constant),
            (0i128..10, 0i128..10).prop_map(|(low, high)| Predicate::Range { column: 0, low, high }),
            (0usize..2).prop_map(|column| Predicate::IsNull { column }),
            (0u8..5, comparison).prop_map(|(letter, comparison)| Predicate::Compare {
                column: 1,
                comparison,
                value: vec![b'a' + letter]
            }),
        ];
        leaf.prop_recursive(4, 20, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Predicate::And),
                prop::collection::vec(inner.clone(), 0..3).prop_map(Predicate::Or),
                inner.prop_map(|part| Predicate::Not(Box::new(part))),
            ]
        })
    }

    /// The SQL truth value of the predicate for a row.
    fn truth(predicate: &Predicate, number: Option<i128>, string: Option<&[u8]>) -> Option<bool> {
        let any = |parts: &[Predicate], wanted: bool| {
            let truth_values: Vec<_> = parts.iter().map(|part| truth(part, number, string)).collect();
            if truth_values.contains(&Some(wanted)) {
                Some(wanted)
            } else if truth_values.contains(&None) {
                None
            } else {
                Some(!wanted)
            }
        };
        match predicate {
            Predicate::Constant(holds) => Some(*holds),
            Predicate::Range { low, high, .. } => number.map(|number| (low..=high).contains(&&number)),
            Predicate::Compare { comparison, value, .. } => string.map(|string| comparison.holds(string.cmp(value))),
            Predicate::IsNull { column: 0 } => Some(number.is_none()),
            Predicate::IsNull { .. } => Some(string.is_none()),
            Predicate::And(parts) => any(parts, false),
            Predicate::Or(parts) => any(parts, true),
            Predicate::Not(part) => truth(part, number, string).map(|truth| !truth),
        }
    }

    const STRINGS: [&[u8]; 5] = [b"a", b"b", b"c", b"d", b"e"];

    proptest! {
        /// A prune result for all rows holds for each of them.
        #[test]
        fn prune_results_hold_for_every_row(
            predicate in arbitrary(),
            numbers in (0i128..10, 0i128..5, any::<bool>()),
            strings in (0usize..3, 0usize..3, any::<bool>()),
        ) {
            let (min, max) = (numbers.0, numbers.0 + numbers.1);
            let (first, last) = (strings.0, strings.0 + strings.1);
            let prune_result = predicate.decide(&|column| match column {
                0 => ColumnStatistics { values: ValueBounds::Numbers { min, max }, nulls: numbers.2 },
                _ => ColumnStatistics {
                    values: ValueBounds::Strings { min: STRINGS[first], max: STRINGS[last] },
                    nulls: strings.2,
                },
            });
            for number in (min..=max).map(Some).chain(numbers.2.then_some(None)) {
                for string in STRINGS[first..=last].iter().copied().map(Some).chain(strings.2.then_some(None)) {
                    let truth = truth(&predicate, number, string);
                    prop_assert!(prune_result != PruneResult::Always || truth == Some(true), "{:?} {:?}", number, string);
                    prop_assert!(prune_result != PruneResult::Never || truth != Some(true), "{:?} {:?}", number, string);
                }
            }
            // A row with exact statistics never yields `Maybe`.
            for number in [None, Some(3i128)] {
                let one = predicate.decide(&|column| match (column, number) {
                    (0, None) => ColumnStatistics { values: ValueBounds::None, nulls: true },
                    (0, Some(number)) => ColumnStatistics { values: ValueBounds::Numbers { min: number, max: number }, nulls: false },
                    _ => ColumnStatistics::string(b"b"),
                });
                let holds = truth(&predicate, number, Some(b"b")) == Some(true);
                prop_assert_eq!(one, if holds { PruneResult::Always } else { PruneResult::Never });
            }
        }

        #[test]
        fn floats_keep_their_order(a: f64, b: f64) {
            prop_assert_eq!(float_order(a).cmp(&float_order(b)), a.total_cmp(&b));
            prop_assert_eq!(float_of_order(float_order(a)).to_bits(), a.to_bits());
        }
    }
}
