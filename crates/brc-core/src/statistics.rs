//! Column statistics: count, sum, minimum and maximum.

use serde::{Deserialize, Serialize};

/// Count, sum, minimum and maximum of integers or decimals, in units of the column's scale.
///
/// Statistics of two sets of values can be [merged](Statistics::merge), which is associative and commutative. The sum
/// is wide enough for 2⁶⁴ values of 64 bits: it never wraps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statistics {
    /// The number of values.
    pub count: u64,
    /// The exact sum.
    pub sum: i128,
    /// The minimum; [`i64::MAX`] if there are no values.
    pub min: i64,
    /// The maximum; [`i64::MIN`] if there are no values.
    pub max: i64,
}

impl Statistics {
    /// The statistics of no values.
    pub const EMPTY: Self = Self { count: 0, sum: 0, min: i64::MAX, max: i64::MIN };

    /// Adds the statistics of another set of values.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Adds one value.
    pub fn add(&mut self, value: i64) {
        self.merge(&Self { count: 1, sum: i128::from(value), min: value, max: value });
    }
}

impl Default for Statistics {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl FromIterator<i64> for Statistics {
    fn from_iter<I: IntoIterator<Item = i64>>(values: I) -> Self {
        let mut statistics = Self::EMPTY;
        for value in values {
            statistics.add(value);
        }
        statistics
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The statistics by definition, without merging.
    fn expected(values: &[i64]) -> Statistics {
        Statistics {
            count: values.len() as u64,
            sum: values.iter().map(|&value| i128::from(value)).sum(),
            min: values.iter().copied().min().unwrap_or(i64::MAX),
            max: values.iter().copied().max().unwrap_or(i64::MIN),
        }
    }

    fn any_values() -> impl Strategy<Value = Vec<i64>> {
        let value = prop_oneof![any::<i64>(), -3i64..4, Just(i64::MIN), Just(i64::MAX)];
        prop::collection::vec(value, 0..20)
    }

    proptest! {
        #[test]
        fn merged_statistics_are_those_of_all_values(one in any_values(), other in any_values()) {
            let all = expected(&[&one[..], &other].concat());
            let [first, second]: [Statistics; 2] = [&one, &other].map(|values| values.iter().copied().collect());
            prop_assert_eq!(first, expected(&one));
            let (mut merged, mut swapped) = (first, second);
            merged.merge(&second);
            swapped.merge(&first);
            prop_assert_eq!(merged, all);
            prop_assert_eq!(swapped, all);
        }
    }
}
