//! The number of values of each group.

use super::{Accumulator, GroupIds, Values};
use crate::values::error::BatchError;
use brc_core::Run;
use brc_core::table::ColumnSummary;
use brc_kernels::accumulate::UnknownGroup;
use brc_kernels::cpu::Level;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Counts(Vec<u64>);

impl Counts {
    pub(crate) fn get(&self, group: usize) -> u64 {
        self.0[group]
    }

    /// Whether nothing was counted.
    pub(crate) fn are_zero(&self) -> bool {
        self.0.iter().all(|&count| count == 0)
    }

    /// Counts the rows of these groups.
    pub(crate) fn add(&mut self, groups: GroupIds<'_>) -> Result<(), BatchError> {
        self.change(groups, |count, rows| *count += rows)
    }

    /// Counts one row of each of these groups that has none. Returns how many those are.
    pub(crate) fn mark(&mut self, groups: GroupIds<'_>) -> Result<usize, BatchError> {
        let mut marked = 0;
        self.change(groups, |count, rows| {
            let is_first = u64::from(*count == 0 && rows > 0);
            *count += is_first;
            marked += is_first as usize;
        })?;
        Ok(marked)
    }

    /// Takes rows of these groups away, which were counted.
    pub(crate) fn subtract(&mut self, groups: GroupIds<'_>) -> Result<(), BatchError> {
        self.change(groups, |count, rows| *count -= rows)
    }

    /// Adds this many rows to each group.
    pub(crate) fn add_all(&mut self, rows: &[u64]) {
        self.0.iter_mut().zip(rows).for_each(|(count, rows)| *count += rows);
    }

    fn change(&mut self, groups: GroupIds<'_>, mut change: impl FnMut(&mut u64, u64)) -> Result<(), BatchError> {
        let mut change = |code: u32, rows: u32| {
            change(self.0.get_mut(code as usize).ok_or(UnknownGroup)?, rows.into());
            Ok(())
        };
        match groups {
            GroupIds::Rows(groups) => groups.iter().try_for_each(|&code| change(code, 1)),
            GroupIds::Runs(runs) => runs.iter().try_for_each(|run| change(run.code, run.rows)),
        }
    }

    /// Takes the rows of sets of rows away, which were counted.
    pub(crate) fn subtract_sets(&mut self, groups: &[u32], rows: &[u32]) -> Result<(), BatchError> {
        groups.iter().zip(rows).try_for_each(|(&code, &rows)| self.subtract(GroupIds::Runs(&[Run { code, rows }])))
    }

    /// Counts the rows of sets of rows.
    pub(crate) fn add_sets(&mut self, groups: &[u32], rows: &[u32]) -> Result<(), BatchError> {
        groups.iter().zip(rows).try_for_each(|(&code, &rows)| self.add(GroupIds::Runs(&[Run { code, rows }])))
    }
}

impl Accumulator for Counts {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn grow(&mut self, groups: usize) {
        self.0.resize(groups.max(self.0.len()), 0);
    }

    fn update(&mut self, _: Level, groups: GroupIds<'_>, _: Values<'_>) -> Result<(), BatchError> {
        self.add(groups)
    }

    fn take(&self, groups: &[u32]) -> Self {
        Self(groups.iter().map(|&group| self.0[group as usize]).collect())
    }

    fn merge(&mut self, other: &Self, groups: &[u32]) {
        for (&group, count) in groups.iter().zip(&other.0) {
            self.0[group as usize] += count;
        }
    }

    fn takes_weights(&self) -> bool {
        true
    }

    fn update_weighted(&mut self, _: Level, groups: &[u32], weights: &[u32], _: Values<'_>) -> Result<(), BatchError> {
        self.add_sets(groups, weights)
    }

    fn update_sets(&mut self, _: Level, groups: &[u32], rows: &[u32], _: &ColumnSummary<'_>) -> Result<(), BatchError> {
        self.add_sets(groups, rows)
    }

    fn count(&self, group: usize) -> u64 {
        self.get(group)
    }
}
