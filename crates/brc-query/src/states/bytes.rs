//! The smallest and the largest string of each group, in byte order.

use super::{Accumulator, GroupIds, Values};
use crate::values::error::BatchError;
use brc_core::Value;
use brc_kernels::accumulate::UnknownGroup;
use brc_kernels::cpu::Level;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct ByteBounds(Vec<Option<Bounds>>);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Bounds {
    min: Vec<u8>,
    max: Vec<u8>,
}

fn add(bounds: &mut Option<Bounds>, string: &[u8]) {
    match bounds {
        None => *bounds = Some(Bounds { min: string.to_vec(), max: string.to_vec() }),
        Some(Bounds { min, .. }) if string < min.as_slice() => replace(min, string),
        Some(Bounds { max, .. }) if string > max.as_slice() => replace(max, string),
        Some(_) => {}
    }
}

/// Keeps the memory.
fn replace(old: &mut Vec<u8>, new: &[u8]) {
    old.clear();
    old.extend_from_slice(new);
}

impl Accumulator for ByteBounds {
    const IGNORES_REPEATS: bool = true;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn grow(&mut self, groups: usize) {
        self.0.resize(groups.max(self.0.len()), None);
    }

    fn update(&mut self, _: Level, groups: GroupIds<'_>, values: Values<'_>) -> Result<(), BatchError> {
        values.each_string(groups, |group, string| {
            add(self.0.get_mut(group).ok_or(UnknownGroup)?, string);
            Ok(())
        })
    }

    fn take(&self, groups: &[u32]) -> Self {
        Self(groups.iter().map(|&group| self.0[group as usize].clone()).collect())
    }

    fn merge(&mut self, other: &Self, groups: &[u32]) {
        for (&group, bounds) in groups.iter().zip(&other.0) {
            if let Some(Bounds { min, max }) = bounds {
                add(&mut self.0[group as usize], min);
                add(&mut self.0[group as usize], max);
            }
        }
    }

    fn bounds(&self, group: usize) -> Option<(Value<'_>, Value<'_>)> {
        self.0[group].as_ref().map(|bounds| (Value::Bytes(&bounds.min), Value::Bytes(&bounds.max)))
    }
}
