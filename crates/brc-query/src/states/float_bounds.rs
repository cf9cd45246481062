//! The smallest and the largest float of each group. All NaNs are one, and above all numbers.

use super::{Accumulator, GroupIds, Values};
use crate::values::error::BatchError;
use crate::values::float_key::{float_key, float_of_key};
use brc_core::Value;
use brc_kernels::accumulate::UnknownGroup;
use brc_kernels::cpu::Level;
use serde::{Deserialize, Serialize};

/// Each group's bounds as [`float_key`]s, the smaller one being the larger if there are no values.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct FloatBounds(Vec<(u64, u64)>);

const EMPTY: (u64, u64) = (u64::MAX, u64::MIN);

impl Accumulator for FloatBounds {
    const IGNORES_REPEATS: bool = true;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn grow(&mut self, groups: usize) {
        self.0.resize(groups.max(self.0.len()), EMPTY);
    }

    fn update(&mut self, _: Level, groups: GroupIds<'_>, values: Values<'_>) -> Result<(), BatchError> {
        let values = values.floats()?;
        groups.each(values.len(), |group, row| {
            let (min, max) = self.0.get_mut(group).ok_or(UnknownGroup)?;
            let key = float_key(values[row]);
            (*min, *max) = (key.min(*min), key.max(*max));
            Ok(())
        })
    }

    fn take(&self, groups: &[u32]) -> Self {
        Self(groups.iter().map(|&group| self.0[group as usize]).collect())
    }

    fn merge(&mut self, other: &Self, groups: &[u32]) {
        for (&group, theirs) in groups.iter().zip(&other.0) {
            let (min, max) = &mut self.0[group as usize];
            (*min, *max) = (theirs.0.min(*min), theirs.1.max(*max));
        }
    }

    fn bounds(&self, group: usize) -> Option<(Value<'_>, Value<'_>)> {
        let (min, max) = self.0[group];
        (min <= max).then(|| (Value::Float(float_of_key(min)), Value::Float(float_of_key(max))))
    }
}
