//! How often each value occurs in each group. All NaNs are one value, and so are the two zeros.

use super::{Accumulator, GroupIds, Values, owned};
use crate::group::Malformed;
use crate::keys::layout::{float_key, float_of_key};
use crate::node::Scalar;
use brc_core::Value;
use brc_kernels::accumulate::UnknownGroup;
use brc_kernels::cpu::Level;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// For each group its values, each with how many rows have it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Frequencies(Vec<HashMap<Scalar, u64>>);

impl Frequencies {
    /// The value that most rows have, the smallest of several; `None` if there is no value.
    pub(super) fn mode(&self, group: usize) -> Option<Value<'_>> {
        let most = self.0.get(group)?.iter().max_by(|(one, times), (other, others)| {
            times.cmp(others).then_with(|| owned::order(other.value(), one.value()))
        });
        most.map(|(value, _)| value.value())
    }
}

impl Accumulator for Frequencies {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn grow(&mut self, groups: usize) {
        self.0.resize_with(groups.max(self.0.len()), HashMap::new);
    }

    fn update(&mut self, _: Level, groups: GroupIds<'_>, values: Values<'_>) -> Result<(), Malformed> {
        groups.each(values.len(), |group, row| {
            let value = match values.get(row)? {
                Value::Float(value) => Value::Float(float_of_key(float_key(value))),
                value => value,
            };
            *self.0.get_mut(group).ok_or(UnknownGroup)?.entry(value.into()).or_default() += 1;
            Ok(())
        })
    }

    fn take(&self, groups: &[u32]) -> Self {
        Self(groups.iter().map(|&group| self.0[group as usize].clone()).collect())
    }

    fn merge(&mut self, other: &Self, groups: &[u32]) {
        for (&group, values) in groups.iter().zip(&other.0) {
            for (value, times) in values {
                *self.0[group as usize].entry(value.clone()).or_default() += times;
            }
        }
    }
}
