//! All values of each group, for what depends on their order.

use super::{Accumulator, GroupIds, Values};
use crate::group::Malformed;
use crate::keys::layout::{float_key, float_of_key};
use brc_core::{Value, for_integers};
use brc_kernels::accumulate::UnknownGroup;
use brc_kernels::cpu::Level;
use serde::{Deserialize, Serialize};

/// Values in the order in which they came, each with its group. Settled, they lie group by group, sorted.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct AllValues {
    groups: Vec<u32>,
    /// One of these is empty: floats are there as their keys.
    integers: Vec<i128>,
    floats: Vec<u64>,
    /// Where the values of each group begin, and behind them all where the last end; empty until they are sorted.
    #[serde(skip)]
    starts: Vec<usize>,
    len: usize,
}

impl AllValues {
    /// The value at a place among the sorted values of a group, which `place` finds for their number.
    pub(super) fn ranked(&self, group: usize, place: impl Fn(usize) -> usize) -> Option<Value<'_>> {
        let (start, end) = (*self.starts.get(group)?, *self.starts.get(group + 1)?);
        if start == end {
            return None;
        }
        let index = start + place(end - start).min(end - start - 1);
        Some(match self.integers.get(index) {
            Some(&value) => Value::Integer(value),
            None => Value::Float(float_of_key(*self.floats.get(index)?)),
        })
    }

    /// Puts the values group by group, and sorts those of each.
    fn sort(&mut self) {
        let mut starts = vec![0; self.len + 1];
        self.groups.iter().for_each(|&group| starts[group as usize + 1] += 1);
        for group in 0..self.len {
            starts[group + 1] += starts[group];
        }
        sort(&mut self.integers, &self.groups, &starts);
        sort(&mut self.floats, &self.groups, &starts);
        self.groups.clear();
        for group in 0..self.len {
            self.groups.extend(std::iter::repeat_n(group as u32, starts[group + 1] - starts[group]));
        }
        self.starts = starts;
    }
}

fn sort<T: Copy + Ord + Default>(values: &mut Vec<T>, groups: &[u32], starts: &[usize]) {
    if values.is_empty() {
        return;
    }
    let mut next = starts.to_vec();
    let mut by_group = vec![T::default(); values.len()];
    for (&value, &group) in values.iter().zip(groups) {
        by_group[next[group as usize]] = value;
        next[group as usize] += 1;
    }
    starts.windows(2).for_each(|pair| by_group[pair[0]..pair[1]].sort_unstable());
    *values = by_group;
}

impl Accumulator for AllValues {
    fn len(&self) -> usize {
        self.len
    }

    fn grow(&mut self, groups: usize) {
        self.len = groups.max(self.len);
    }

    fn update(&mut self, _: Level, groups: GroupIds<'_>, values: Values<'_>) -> Result<(), Malformed> {
        let known = self.len;
        groups.each(values.len(), |group, _| {
            self.groups.push(if group < known { group as u32 } else { return Err(UnknownGroup.into()) });
            Ok(())
        })?;
        match values {
            Values::Floats(values) => self.floats.extend(values.iter().map(|&value| float_key(value))),
            values => {
                for_integers!(values.integers()?, values => {
                    self.integers.extend(values.iter().map(|&value| i128::from(value)));
                });
            }
        }
        Ok(())
    }

    fn merge(&mut self, other: &Self, groups: &[u32]) {
        self.groups.extend(other.groups.iter().map(|&group| groups[group as usize]));
        self.integers.extend_from_slice(&other.integers);
        self.floats.extend_from_slice(&other.floats);
    }

    fn settle(&mut self) {
        self.sort();
    }

    fn is_sound(&self) -> bool {
        self.groups.iter().all(|&group| (group as usize) < self.len)
            && (self.integers.is_empty() || self.floats.is_empty())
            && self.integers.len() + self.floats.len() == self.groups.len()
    }
}
