//! Which rows a query wants, resolved against a schema: the form that encodings use to skip what cannot match.

use crate::statistics::Statistics;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// How a string is compared with another, in byte order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
    /// Whether two things of that order compare so.
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

/// A condition on a row. Columns are positions in the table's schema.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Predicate {
    /// True or false for every row.
    Constant(bool),
    /// A decimal lies in `low..=high`, in units of its column's scale. Every comparison of numbers is one of these.
    Number {
        /// The column.
        column: usize,
        /// The smallest value wanted.
        low: i64,
        /// The largest value wanted.
        high: i64,
    },
    /// A string compares so with `value`.
    Text {
        /// The column.
        column: usize,
        /// How.
        comparison: Comparison,
        /// With what.
        value: Vec<u8>,
    },
    /// All of these.
    And(Vec<Predicate>),
    /// Any of these.
    Or(Vec<Predicate>),
    /// Not this.
    Not(Box<Predicate>),
}

/// What is known of the values of one column over some rows.
#[derive(Debug, Clone, Copy)]
pub enum Known<'a> {
    /// Nothing.
    Nothing,
    /// All have this string.
    Text(&'a [u8]),
    /// Their smallest and largest number.
    Numbers {
        /// Smallest.
        min: i64,
        /// Largest.
        max: i64,
    },
}

impl From<&Statistics> for Known<'_> {
    fn from(statistics: &Statistics) -> Self {
        if statistics.count == 0 { Known::Nothing } else { Known::Numbers { min: statistics.min, max: statistics.max } }
    }
}

/// What a predicate is over some rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// True for every row.
    Always,
    /// False for every row.
    Never,
    /// The rows have to be looked at.
    Maybe,
}

impl Verdict {
    fn of(holds: bool) -> Self {
        if holds { Self::Always } else { Self::Never }
    }

    fn negated(self) -> Self {
        match self {
            Self::Always => Self::Never,
            Self::Never => Self::Always,
            Self::Maybe => Self::Maybe,
        }
    }
}

impl Predicate {
    /// Decides the predicate from what is known of each column.
    pub fn decide<'a>(&self, known: &impl Fn(usize) -> Known<'a>) -> Verdict {
        match self {
            Self::Constant(holds) => Verdict::of(*holds),
            Self::Number { low, high, .. } if low > high => Verdict::Never,
            Self::Number { column, low, high } => match known(*column) {
                Known::Numbers { min, max } if *low <= min && max <= *high => Verdict::Always,
                Known::Numbers { min, max } if max < *low || *high < min => Verdict::Never,
                _ => Verdict::Maybe,
            },
            Self::Text { column, comparison, value } => match known(*column) {
                Known::Text(text) => Verdict::of(comparison.holds(text.cmp(value.as_slice()))),
                _ => Verdict::Maybe,
            },
            Self::And(parts) => all(parts.iter().map(|part| part.decide(known))),
            // De Morgan: any holds unless none does.
            Self::Or(parts) => all(parts.iter().map(|part| part.decide(known).negated())).negated(),
            Self::Not(part) => part.decide(known).negated(),
        }
    }

    /// Adds the columns that the predicate looks at to `columns`, each once.
    pub fn columns(&self, columns: &mut Vec<usize>) {
        match self {
            Self::Constant(_) => {}
            Self::Number { column, .. } | Self::Text { column, .. } => {
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

fn all(verdicts: impl Iterator<Item = Verdict>) -> Verdict {
    let mut together = Verdict::Always;
    for verdict in verdicts {
        match verdict {
            Verdict::Never => return Verdict::Never,
            Verdict::Maybe => together = Verdict::Maybe,
            Verdict::Always => {}
        }
    }
    together
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn arbitrary() -> impl Strategy<Value = Predicate> {
        let leaf = prop_oneof![
            any::<bool>().prop_map(Predicate::Constant),
            (0i64..10, 0i64..10).prop_map(|(low, high)| Predicate::Number { column: 0, low, high }),
            (0u8..3).prop_map(|letter| Predicate::Text {
                column: 1,
                comparison: Comparison::Less,
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

    proptest! {
        /// A verdict over a range of numbers holds for every number of the range.
        #[test]
        fn verdicts_are_true_of_every_row(predicate in arbitrary(), min in 0i64..10, length in 0i64..5) {
            let max = min + length;
            let row = |number: i64, text: &'static [u8]| {
                predicate.decide(&|column| {
                    if column == 0 { Known::Numbers { min: number, max: number } } else { Known::Text(text) }
                })
            };
            let whole = predicate.decide(&|column| {
                if column == 0 { Known::Numbers { min, max } } else { Known::Text(b"b") }
            });
            for number in min..=max {
                let one = row(number, b"b");
                prop_assert_ne!(one, Verdict::Maybe);
                prop_assert!(whole == Verdict::Maybe || whole == one);
            }
        }
    }
}
