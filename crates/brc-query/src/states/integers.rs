//! Count, sum, smallest and largest of integers of up to 64 bits: the kernels' own state, for which they have their
//! fastest slots, and which the statistics in a file can replace.

use super::{Accumulator, GroupIds, Sum, Values, numbers_of, weighted_integers};
use crate::values::error::BatchError;
use brc_core::table::ColumnSummary;
use brc_core::{Statistics, Value};
use brc_kernels::accumulate::GroupStatistics;
use brc_kernels::cpu::Level;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct IntegerStates {
    /// While values come.
    #[serde(skip)]
    incoming: GroupStatistics,
    /// When all have come.
    finished: Vec<Statistics>,
}

impl Accumulator for IntegerStates {
    fn len(&self) -> usize {
        self.finished.len().max(self.incoming.len())
    }

    fn grow(&mut self, groups: usize) {
        if self.finished.is_empty() {
            self.incoming.grow(groups);
        } else if self.finished.len() < groups {
            self.finished.resize(groups, Statistics::EMPTY);
        }
    }

    fn update(&mut self, level: Level, groups: GroupIds<'_>, values: Values<'_>) -> Result<(), BatchError> {
        let values = values.integers()?;
        match groups {
            GroupIds::Rows(groups) => self.incoming.rows(level, groups, values)?,
            GroupIds::Runs(runs) => self.incoming.runs(level, runs, values)?,
        }
        Ok(())
    }

    fn take(&self, groups: &[u32]) -> Self {
        let finished = groups.iter().map(|&group| self.finished[group as usize]).collect();
        Self { incoming: GroupStatistics::default(), finished }
    }

    fn merge(&mut self, other: &Self, groups: &[u32]) {
        for (&group, statistics) in groups.iter().zip(&other.finished) {
            self.finished[group as usize].merge(statistics);
        }
    }

    fn finish(&mut self) {
        if self.finished.is_empty() {
            self.finished = std::mem::take(&mut self.incoming).finish();
        }
    }

    fn takes_weights(&self) -> bool {
        true
    }

    fn update_weighted(
        &mut self,
        level: Level,
        groups: &[u32],
        weights: &[u32],
        values: Values<'_>,
    ) -> Result<(), BatchError> {
        weighted_integers(values, weights, |numbers| Ok(self.incoming.summaries(level, groups, weights, numbers)?))
    }

    fn update_sets(
        &mut self,
        level: Level,
        groups: &[u32],
        rows: &[u32],
        column: &ColumnSummary<'_>,
    ) -> Result<(), BatchError> {
        Ok(self.incoming.summaries(level, groups, rows, numbers_of(column)?)?)
    }

    fn count(&self, group: usize) -> u64 {
        self.finished[group].count
    }

    fn sum(&self, group: usize) -> Option<Sum> {
        let Statistics { sum, count, .. } = self.finished[group];
        (count > 0).then_some(Sum::Integer { sum, count })
    }

    fn bounds(&self, group: usize) -> Option<(Value<'_>, Value<'_>)> {
        let Statistics { min, max, count, .. } = self.finished[group];
        (count > 0).then_some((Value::Integer(min.into()), Value::Integer(max.into())))
    }
}
