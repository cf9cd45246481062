//! All strings of each group, in the order of their rows.

use super::{Accumulator, GroupIds, Values, places};
use crate::values::error::BatchError;
use brc_core::Value;
use brc_kernels::accumulate::UnknownGroup;
use brc_kernels::cpu::Level;
use serde::{Deserialize, Serialize};

/// Strings as they came, each with its group and the number of its row.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Listed {
    strings: Vec<(u32, i64, Vec<u8>)>,
    /// Where the strings of each group begin, when they lie group by group.
    #[serde(skip)]
    starts: Vec<usize>,
    len: usize,
}

impl Accumulator for Listed {
    fn len(&self) -> usize {
        self.len
    }

    fn grow(&mut self, groups: usize) {
        self.len = groups.max(self.len);
    }

    fn update(&mut self, _: Level, _: GroupIds<'_>, _: Values<'_>) -> Result<(), BatchError> {
        Err(BatchError("values are not pairs"))
    }

    fn update_pairs(
        &mut self,
        _: Level,
        groups: GroupIds<'_>,
        values: Values<'_>,
        rows: Values<'_>,
    ) -> Result<(), BatchError> {
        let known = self.len;
        groups.each(values.len(), |group, row| match (values.get(row)?, rows.get(row)?) {
            _ if group >= known => Err(UnknownGroup.into()),
            (Value::Bytes(string), Value::Integer(place)) => {
                self.strings.push((group as u32, place as i64, string.to_vec()));
                Ok(())
            }
            _ => Err(BatchError("a column of strings is not there")),
        })
    }

    fn take(&self, groups: &[u32]) -> Self {
        let places = places(groups, self.len);
        let strings = self
            .strings
            .iter()
            .filter_map(|(group, row, string)| places[*group as usize].map(|place| (place, *row, string.clone())));
        Self { strings: strings.collect(), starts: Vec::new(), len: groups.len() }
    }

    fn merge(&mut self, other: &Self, groups: &[u32]) {
        let strings = other.strings.iter().map(|(group, row, string)| (groups[*group as usize], *row, string.clone()));
        self.strings.extend(strings);
    }

    fn prepare(&mut self, _: usize) {
        self.strings.sort_by_key(|(group, row, _)| (*group, *row));
        self.starts = vec![0; self.len + 1];
        self.strings.iter().for_each(|(group, ..)| self.starts[*group as usize + 1] += 1);
        for group in 0..self.len {
            self.starts[group + 1] += self.starts[group];
        }
    }

    fn is_sound(&self) -> bool {
        self.strings.iter().all(|(group, ..)| (*group as usize) < self.len)
    }

    fn join(&self, group: usize, separator: &[u8], out: &mut Vec<u8>) -> Option<()> {
        let strings = &self.strings[*self.starts.get(group)?..*self.starts.get(group + 1)?];
        for (place, (_, _, string)) in strings.iter().enumerate() {
            if place > 0 {
                out.extend_from_slice(separator);
            }
            out.extend_from_slice(string);
        }
        (!strings.is_empty()).then_some(())
    }
}
