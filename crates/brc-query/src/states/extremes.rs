//! The value that goes with the smallest and with the largest other value of each group: what `min_by`, `max_by`, `first`
//! and `last` are. Of equal ones, the smallest value counts.

use super::{Accumulator, GroupIds, Values, owned};
use crate::group::Malformed;
use crate::node::Scalar;
use brc_core::Value;
use brc_kernels::accumulate::UnknownGroup;
use brc_kernels::cpu::Level;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// For each group the smallest and the largest key, each with its value.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Extremes(Vec<Option<[Entry; 2]>>);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    key: Scalar,
    value: Scalar,
}

impl Extremes {
    /// The value at the smallest, or the largest, key.
    pub(super) fn value(&self, group: usize, largest: bool) -> Option<Value<'_>> {
        self.0[group].as_ref().map(|entries| entries[usize::from(largest)].value.value())
    }

    fn add(&mut self, group: usize, key: Value<'_>, value: Value<'_>) -> Result<(), Malformed> {
        let entries = self.0.get_mut(group).ok_or(UnknownGroup)?;
        let entry = || Entry { key: key.into(), value: value.into() };
        let Some([least, most]) = entries else {
            *entries = Some([entry(), entry()]);
            return Ok(());
        };
        for (known, better) in [(least, Ordering::Less), (most, Ordering::Greater)] {
            let order = owned::order(key, known.key.value());
            if order == better || (order.is_eq() && owned::order(value, known.value.value()).is_lt()) {
                *known = entry();
            }
        }
        Ok(())
    }
}

impl Accumulator for Extremes {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn grow(&mut self, groups: usize) {
        self.0.resize(groups.max(self.0.len()), None);
    }

    fn update(&mut self, _: Level, _: GroupIds<'_>, _: Values<'_>) -> Result<(), Malformed> {
        Err(Malformed("values are not pairs"))
    }

    fn update_pairs(
        &mut self,
        _: Level,
        groups: GroupIds<'_>,
        values: Values<'_>,
        keys: Values<'_>,
    ) -> Result<(), Malformed> {
        groups.each(values.len(), |group, row| self.add(group, keys.get(row)?, values.get(row)?))
    }

    fn take(&self, groups: &[u32]) -> Self {
        Self(groups.iter().map(|&group| self.0[group as usize].clone()).collect())
    }

    fn merge(&mut self, other: &Self, groups: &[u32]) {
        for (&group, entries) in groups.iter().zip(&other.0) {
            for Entry { key, value } in entries.iter().flatten() {
                // The group is there: groups are grown before they are merged.
                let _ = self.add(group as usize, key.value(), value.value());
            }
        }
    }
}
