//! The value that goes with the smallest and with the largest other value of each group: what `min_by`, `max_by`,
//! `first` and `last` are. Of equal ones, the smallest value counts; of zeros, the negative one.

use super::{Accumulator, GroupIds, Values, owned};
use crate::functions::typed::Scalar;
use crate::values::error::BatchError;
use crate::values::float_key::float_key;
use brc_core::bounds::prefix;
use brc_core::{Value, for_integers};
use brc_kernels::accumulate::UnknownGroup;
use brc_kernels::cpu::Level;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Extremes {
    /// For each group the smallest and the largest key, each with its value.
    entries: Vec<Option<[Entry; 2]>>,
    /// The [order prefixes](place) of those keys, as far as they are known: keys between them, which most are, are
    /// skipped.
    #[serde(skip)]
    places: Vec<[u64; 2]>,
    #[serde(skip)]
    batch: Vec<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    key: Scalar,
    value: Scalar,
}

impl Extremes {
    fn add(&mut self, group: usize, key: Value<'_>, value: Value<'_>) -> Result<(), BatchError> {
        let entries = self.entries.get_mut(group).ok_or(UnknownGroup)?;
        let entry = || Entry { key: key.into(), value: value.into() };
        let Some([least, most]) = entries else {
            *entries = Some([entry(), entry()]);
            return Ok(());
        };
        for (known, better) in [(least, Ordering::Less), (most, Ordering::Greater)] {
            let order = owned::order(key, known.key.value());
            if order == better || (order.is_eq() && is_before(value, known.value.value())) {
                *known = entry();
            }
        }
        Ok(())
    }
}

/// Whether a value counts rather than another.
fn is_before(one: Value<'_>, other: Value<'_>) -> bool {
    match (one, other) {
        (Value::Float(one), Value::Float(other)) => one.total_cmp(&other).is_lt(),
        _ => owned::order(one, other).is_lt(),
    }
}

/// The order prefix of a value: a number that orders values, but may be the same for different ones.
fn place(value: Value<'_>) -> u64 {
    match value {
        Value::Integer(value) => value.clamp(i64::MIN.into(), i64::MAX.into()) as u64 ^ 1 << 63,
        Value::Float(value) => float_key(value),
        Value::Bytes(value) => prefix(value),
    }
}

/// Appends the [order prefixes](place) of values.
#[allow(clippy::useless_conversion)]
fn places(values: Values<'_>, out: &mut Vec<u64>) -> Result<(), BatchError> {
    match values {
        Values::Integers(values) => for_integers!(values, values => {
            out.extend(values.iter().map(|&value| place(Value::Integer(value.into()))));
        }),
        Values::Floats(values) => out.extend(values.iter().map(|&value| float_key(value))),
        Values::Codes { .. } | Values::Bytes { .. } => {
            for row in 0..values.len() {
                out.push(place(values.get(row)?));
            }
        }
    }
    Ok(())
}

impl Accumulator for Extremes {
    fn len(&self) -> usize {
        self.entries.len()
    }

    fn grow(&mut self, groups: usize) {
        self.entries.resize(groups.max(self.entries.len()), None);
    }

    fn update(&mut self, _: Level, _: GroupIds<'_>, _: Values<'_>) -> Result<(), BatchError> {
        Err(BatchError("values are not pairs"))
    }

    fn update_pairs(
        &mut self,
        _: Level,
        groups: GroupIds<'_>,
        values: Values<'_>,
        keys: Values<'_>,
    ) -> Result<(), BatchError> {
        let mut batch = std::mem::take(&mut self.batch);
        batch.clear();
        places(keys, &mut batch)?;
        // No key lies between these two, so that none is skipped.
        self.places.resize(self.entries.len(), [u64::MAX, 0]);
        let added = groups.each(values.len(), |group, row| {
            let [least, most] = self.places.get(group).copied().unwrap_or_default();
            if least < batch[row] && batch[row] < most {
                return Ok(());
            }
            self.add(group, keys.get(row)?, values.get(row)?)?;
            if let Some(entries) = &self.entries[group] {
                self.places[group] = [0, 1].map(|side| place(entries[side].key.value()));
            }
            Ok(())
        });
        self.batch = batch;
        added
    }

    fn take(&self, groups: &[u32]) -> Self {
        let entries = groups.iter().map(|&group| self.entries[group as usize].clone()).collect();
        Self { entries, ..Self::default() }
    }

    fn merge(&mut self, other: &Self, groups: &[u32]) {
        for (&group, entries) in groups.iter().zip(&other.entries) {
            for Entry { key, value } in entries.iter().flatten() {
                // The group is there: groups are grown before they are merged.
                let _ = self.add(group as usize, key.value(), value.value());
            }
        }
    }

    fn extreme(&self, group: usize, largest: bool) -> Option<Value<'_>> {
        self.entries[group].as_ref().map(|entries| entries[usize::from(largest)].value.value())
    }
}
