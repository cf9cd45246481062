//! Count, sum, smallest and largest of integers of up to 128 bits.

use super::wide_sums::WideSum;
use super::{Accumulator, GroupIds, Sum, Values};
use crate::values::error::BatchError;
use brc_core::{Integers, Statistics, Value};
use brc_kernels::accumulate::{GroupStatistics, UnknownGroup};
use brc_kernels::cpu::Level;
use serde::{Deserialize, Serialize};

/// The state of one group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WideState {
    sum: WideSum,
    min: i128,
    max: i128,
}

impl WideState {
    const EMPTY: Self = Self { sum: WideSum::EMPTY, min: i128::MAX, max: i128::MIN };

    pub(crate) fn count(&self) -> u64 {
        self.sum.count
    }

    fn add(&mut self, value: i128) {
        self.sum.add(value, 1);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    fn merge(&mut self, other: &Self) {
        self.sum.merge(&other.sum);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }
}

impl From<Statistics> for WideState {
    fn from(Statistics { count, sum, min, max }: Statistics) -> Self {
        let mut of_values = WideSum::EMPTY;
        of_values.add(sum, count);
        Self { sum: of_values, min: min.into(), max: max.into() }
    }
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct WideStates {
    /// Of values that came in up to 64 bits, while values come.
    #[serde(skip)]
    narrow: GroupStatistics,
    wide: Vec<WideState>,
}

impl WideStates {
    fn add<T: Copy + Into<i128>>(&mut self, groups: GroupIds<'_>, values: &[T]) -> Result<(), BatchError> {
        groups.each(values.len(), |group, row| {
            self.wide.get_mut(group).ok_or(UnknownGroup)?.add(values[row].into());
            Ok(())
        })
    }
}

impl Accumulator for WideStates {
    fn len(&self) -> usize {
        self.wide.len()
    }

    fn grow(&mut self, groups: usize) {
        self.wide.resize(groups.max(self.wide.len()), WideState::EMPTY);
    }

    fn update(&mut self, level: Level, groups: GroupIds<'_>, values: Values<'_>) -> Result<(), BatchError> {
        match (values.integers()?, groups) {
            (Integers::I128(values), groups) => self.add(groups, values),
            (values, GroupIds::Rows(groups)) => {
                self.narrow.grow(self.wide.len());
                Ok(self.narrow.rows(level, groups, values)?)
            }
            (values, GroupIds::Runs(runs)) => {
                self.narrow.grow(self.wide.len());
                Ok(self.narrow.runs(level, runs, values)?)
            }
        }
    }

    fn finish(&mut self) {
        let narrow = std::mem::take(&mut self.narrow).finish();
        let pairs = self.wide.iter_mut().zip(narrow);
        pairs.filter(|(_, narrow)| narrow.count > 0).for_each(|(wide, narrow)| wide.merge(&narrow.into()));
    }

    fn take(&self, groups: &[u32]) -> Self {
        let wide = groups.iter().map(|&group| self.wide[group as usize]).collect();
        Self { narrow: GroupStatistics::default(), wide }
    }

    fn merge(&mut self, other: &Self, groups: &[u32]) {
        for (&group, state) in groups.iter().zip(&other.wide) {
            self.wide[group as usize].merge(state);
        }
    }

    fn count(&self, group: usize) -> u64 {
        self.wide[group].count()
    }

    fn sum(&self, group: usize) -> Option<Sum> {
        let state = self.wide[group];
        (state.count() > 0).then_some(Sum::Wide(state.sum))
    }

    fn bounds(&self, group: usize) -> Option<(Value<'_>, Value<'_>)> {
        let WideState { sum, min, max } = self.wide[group];
        (sum.count > 0).then_some((Value::Integer(min), Value::Integer(max)))
    }
}
