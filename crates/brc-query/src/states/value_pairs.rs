//! The distinct values of each group: pairs of a group and a value, numbered in the order in which they first came.

use super::{GroupIds, Values, places};
use crate::keys::Numbered;
use crate::keys::direct::Direct;
use crate::keys::key_set::{KeyParts, KeySet};
use crate::values::error::BatchError;
use crate::values::selection::Selection;
use brc_core::{Column, Data, Dictionary, Integers, LogicalType, Value, interrupt};
use brc_kernels::accumulate::UnknownGroup;
use brc_kernels::cpu::Level;
use serde::{Deserialize, Serialize};

/// The group is the first key of a pair. Its 32 bits are those of a date, group 0 being the first that there is.
const GROUP: LogicalType = LogicalType::Date;

/// Pairs that are read between two checks for interruption.
const TOGETHER: usize = 4096;

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Parts", into = "Parts")]
pub(super) struct ValuePairs {
    set: KeySet,
    direct: Direct,
    groups: usize,
    days: Vec<i32>,
    numbers: Vec<u32>,
}

#[derive(Serialize, Deserialize)]
struct Parts {
    pairs: KeyParts,
    groups: usize,
}

impl ValuePairs {
    /// No pairs with values of this type.
    pub(super) fn new(logical_type: LogicalType) -> Self {
        Self::of(KeySet::new(&[(GROUP, false), (logical_type, false)]), 0)
    }

    fn of(set: KeySet, groups: usize) -> Self {
        Self { set, direct: Direct::default(), groups, days: Vec::new(), numbers: Vec::new() }
    }

    /// No pairs, but of as many groups, and with values of the same type.
    pub(super) fn emptied(&self) -> Self {
        Self::of(KeySet::new(self.set.types()), self.groups)
    }

    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.set.types() == other.set.types()
    }

    /// How many pairs there are.
    pub(super) fn len(&self) -> usize {
        self.set.len()
    }

    pub(super) fn groups(&self) -> usize {
        self.groups
    }

    pub(super) fn grow(&mut self, groups: usize) {
        self.groups = groups.max(self.groups);
    }

    /// The group of a pair.
    pub(super) fn group(&self, pair: usize) -> usize {
        self.set.low_bits(0, pair) as usize
    }

    /// Calls `each` with every pair and its group; not with all if the query is interrupted.
    pub(super) fn for_each(&self, mut each: impl FnMut(usize, usize)) {
        for pair in 0..self.len() {
            if pair % TOGETHER == 0 && interrupt::check().is_err() {
                return;
            }
            each(pair, self.group(pair));
        }
    }

    /// The value of a pair.
    pub(super) fn value(&self, pair: usize) -> Option<Value<'_>> {
        self.set.value(1, pair)
    }

    /// The pair of each row, which may be new.
    pub(super) fn number(
        &mut self,
        level: Level,
        groups: GroupIds<'_>,
        values: Values<'_>,
    ) -> Result<&[u32], BatchError> {
        let (rows, known) = (values.len(), self.groups);
        self.days.clear();
        groups.each(rows, |group, _| {
            self.days.push(if group < known { day(group) } else { return Err(UnknownGroup.into()) });
            Ok(())
        })?;
        let groups = Column::integers(Integers::I32(&self.days));
        let values = match values {
            Values::Integers(values) => Column::integers(values),
            Values::Floats(values) => Data::Floats(values).into(),
            Values::Codes { codes, dictionary } => Column::codes(codes, dictionary),
            Values::Bytes { strings, rows } => {
                self.set.take(0, &groups, Selection::All)?;
                self.set.take_strings(1, rows.iter().map(|&row| strings.get(row as usize)));
                self.set.number(&mut self.numbers);
                return Ok(&self.numbers);
            }
        };
        let (set, keys) = (&mut self.set, [groups, values]);
        if !self.direct.groups_in(level, Numbered::plain(&keys), Selection::All, rows, set, &mut self.numbers)? {
            set.take(0, &groups, Selection::All)?;
            set.take(1, &values, Selection::All)?;
            set.number(&mut self.numbers);
        }
        Ok(&self.numbers)
    }

    /// Takes pairs of groups and codes, all of which are in the dictionary.
    pub(super) fn take_codes(&mut self, groups: &[u32], codes: &[u32], dictionary: &Dictionary) {
        let days: Vec<i32> = groups.iter().map(|&group| day(group as usize)).collect();
        let keys = [Column::integers(Integers::I32(&days)), Column::codes(codes, dictionary)];
        let taken = (0..).zip(&keys).try_for_each(|(index, key)| self.set.take(index, key, Selection::All));
        debug_assert!(taken.is_ok(), "all codes are known");
        self.set.number(&mut self.numbers);
    }

    /// The pairs of these groups only, renumbered by the groups' indices.
    pub(super) fn take(&self, groups: &[u32]) -> Self {
        let places = places(groups, self.groups);
        let set = self.set.take_tuples(|layout, pair| {
            let group = &layout.keys[0];
            let place = places[group.low.get(pair) as usize];
            place.inspect(|&place| group.replace(pair, place.into())).is_some()
        });
        Self::of(set, groups.len())
    }

    /// Takes the pairs of another under the numbers in `groups`. Returns the number that each has here.
    pub(super) fn merge(&mut self, other: &Self, groups: &[u32]) -> Vec<u32> {
        self.set.merge_with(&other.set, |layout, pair| {
            let group = &layout.keys[0];
            group.replace(pair, groups[group.low.get(pair) as usize].into());
        })
    }
}

/// A group as the date that represents it in a key.
fn day(group: usize) -> i32 {
    (group as u32 ^ 1 << 31) as i32
}

impl From<ValuePairs> for Parts {
    fn from(pairs: ValuePairs) -> Self {
        Self { pairs: pairs.set.into(), groups: pairs.groups }
    }
}

impl TryFrom<Parts> for ValuePairs {
    type Error = &'static str;

    fn try_from(Parts { pairs, groups }: Parts) -> Result<Self, Self::Error> {
        let pairs = Self::of(KeySet::try_from(pairs)?, groups);
        if !matches!(pairs.set.types(), [(GROUP, false), (_, false)]) {
            return Err("the pairs are no groups and values");
        }
        if (0..pairs.len()).any(|pair| pairs.group(pair) >= groups) {
            return Err("a value is of no group");
        }
        Ok(pairs)
    }
}
