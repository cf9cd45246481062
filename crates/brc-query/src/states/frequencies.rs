//! How often each value occurs in each group. All NaNs are one value, and so are the two zeros.

use super::value_pairs::ValuePairs;
use super::{Accumulator, GroupIds, Values, owned};
use crate::values::error::BatchError;
use brc_core::{LogicalType, Value};
use brc_kernels::cpu::Level;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Frequencies {
    pairs: ValuePairs,
    /// How many rows have the value of each pair.
    times: Vec<u64>,
    /// The pair of each group's most frequent value, when all have come.
    #[serde(skip)]
    modes: Vec<Option<u32>>,
}

impl Frequencies {
    pub(super) fn new(logical_type: LogicalType) -> Self {
        Self { pairs: ValuePairs::new(logical_type), times: Vec::new(), modes: Vec::new() }
    }

    fn add(
        &mut self,
        level: Level,
        groups: GroupIds<'_>,
        values: Values<'_>,
        times_each: impl Iterator<Item = u64>,
    ) -> Result<(), BatchError> {
        let Self { pairs, times, .. } = self;
        // Pairs are numbered in the order in which they come.
        for (&pair, more) in pairs.number(level, groups, values)?.iter().zip(times_each) {
            let pair = pair as usize;
            if pair >= times.len() {
                times.resize(pair + 1, 0);
            }
            times[pair] += more;
        }
        Ok(())
    }

    /// Whether a pair's value is more frequent than another's, or as frequent and smaller.
    fn is_before(&self, pair: usize, other: usize) -> bool {
        match self.times[pair].cmp(&self.times[other]) {
            Ordering::Equal => {
                let values = self.pairs.value(pair).zip(self.pairs.value(other));
                values.is_some_and(|(value, other)| owned::order(value, other).is_lt())
            }
            order => order.is_gt(),
        }
    }
}

impl Accumulator for Frequencies {
    fn len(&self) -> usize {
        self.pairs.groups()
    }

    fn grow(&mut self, groups: usize) {
        self.pairs.grow(groups);
    }

    fn update(&mut self, level: Level, groups: GroupIds<'_>, values: Values<'_>) -> Result<(), BatchError> {
        self.add(level, groups, values, std::iter::repeat(1))
    }

    fn take(&self, groups: &[u32]) -> Self {
        let places = super::places(groups, self.pairs.groups());
        let times = self.times.iter().enumerate().filter(|(pair, _)| places[self.pairs.group(*pair)].is_some());
        Self { times: times.map(|(_, &times)| times).collect(), pairs: self.pairs.take(groups), modes: Vec::new() }
    }

    fn merge(&mut self, other: &Self, groups: &[u32]) {
        let numbers = self.pairs.merge(&other.pairs, groups);
        self.times.resize(self.pairs.len(), 0);
        for (&pair, times) in numbers.iter().zip(&other.times) {
            self.times[pair as usize] += times;
        }
    }

    fn prepare(&mut self, _: usize) {
        let mut modes = vec![None; self.pairs.groups()];
        self.pairs.for_each(|pair, group| {
            let mode: &mut Option<u32> = &mut modes[group];
            if mode.is_none_or(|mode| self.is_before(pair, mode as usize)) {
                *mode = Some(pair as u32);
            }
        });
        self.modes = modes;
    }

    fn is_sound(&self) -> bool {
        self.times.len() == self.pairs.len()
    }

    fn is_like(&self, other: &Self) -> bool {
        self.pairs.is_like(&other.pairs)
    }

    fn mode(&self, group: usize) -> Option<Value<'_>> {
        self.modes.get(group).copied().flatten().and_then(|pair| self.pairs.value(pair as usize))
    }

    fn update_weighted(
        &mut self,
        level: Level,
        groups: &[u32],
        weights: &[u32],
        values: Values<'_>,
    ) -> Result<(), BatchError> {
        let weights = weights.iter().map(|&weight| u64::from(weight));
        self.add(level, GroupIds::Rows(groups), values, weights)
    }

    fn takes_weights(&self) -> bool {
        true
    }
}
