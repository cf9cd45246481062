//! The distinct values of each group: a set of pairs of a group and a value.

use super::{Accumulator, GroupIds, Values, places};
use crate::filter::Selection;
use crate::group::Malformed;
use crate::keys::direct::Direct;
use crate::keys::key_set::{KeyParts, KeySet};
use brc_core::{Column, Data, Integers, LogicalType};
use brc_kernels::accumulate::UnknownGroup;
use brc_kernels::cpu::Level;
use serde::{Deserialize, Serialize};

/// The group is the first key of a pair. Its 32 bits are those of a date, group 0 being the first that there is.
const GROUP: LogicalType = LogicalType::Date;

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Parts", into = "Parts")]
pub(crate) struct Distinct {
    pairs: KeySet,
    direct: Direct,
    groups: usize,
    /// How many values each group has, when all have come.
    counts: Vec<u64>,
    days: Vec<i32>,
    numbers: Vec<u32>,
}

#[derive(Serialize, Deserialize)]
struct Parts {
    pairs: KeyParts,
    groups: usize,
}

impl Distinct {
    pub(super) fn new(logical_type: LogicalType) -> Self {
        Self::of(KeySet::new(&[(GROUP, false), (logical_type, false)]), 0)
    }

    fn of(pairs: KeySet, groups: usize) -> Self {
        let (direct, counts, days, numbers) = Default::default();
        Self { pairs, direct, groups, counts, days, numbers }
    }

    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.pairs.types() == other.pairs.types()
    }

    pub(super) fn get(&self, group: usize) -> u64 {
        self.counts[group]
    }

    /// How many values there are, those of all groups together.
    pub(crate) fn values(&self) -> usize {
        self.pairs.len()
    }

    fn count(&mut self) {
        self.counts.clear();
        self.counts.resize(self.groups, 0);
        for pair in 0..self.pairs.len() {
            self.counts[self.pairs.low_bits(0, pair) as usize] += 1;
        }
    }
}

/// The date that stands for a group.
fn day(group: usize) -> i32 {
    (group as u32 ^ 1 << 31) as i32
}

impl Accumulator for Distinct {
    fn len(&self) -> usize {
        self.groups
    }

    fn grow(&mut self, groups: usize) {
        self.groups = groups.max(self.groups);
    }

    fn update(&mut self, level: Level, groups: GroupIds<'_>, values: Values<'_>) -> Result<(), Malformed> {
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
                self.pairs.take(0, &groups, Selection::All)?;
                self.pairs.take_strings(1, rows.iter().map(|&row| strings.get(row as usize)));
                self.pairs.number(&mut self.numbers);
                return Ok(());
            }
        };
        let (pairs, keys) = (&mut self.pairs, [groups, values]);
        if !self.direct.groups_in(level, &keys, Selection::All, rows, pairs, &mut self.numbers)? {
            pairs.take(0, &groups, Selection::All)?;
            pairs.take(1, &values, Selection::All)?;
            pairs.number(&mut self.numbers);
        }
        Ok(())
    }

    fn take(&self, groups: &[u32]) -> Self {
        let places = places(groups, self.groups);
        let pairs = self.pairs.take_tuples(|layout, pair| {
            let group = &layout.keys[0];
            let place = places[group.low.get(pair) as usize];
            place.inspect(|&place| group.replace(pair, place.into())).is_some()
        });
        Self::of(pairs, groups.len())
    }

    fn merge(&mut self, other: &Self, groups: &[u32]) {
        self.pairs.merge_with(&other.pairs, |layout, pair| {
            let group = &layout.keys[0];
            group.replace(pair, groups[group.low.get(pair) as usize].into());
        });
    }

    fn settle(&mut self, _: usize) {
        self.count();
    }
}

impl From<Distinct> for Parts {
    fn from(distinct: Distinct) -> Self {
        Self { pairs: distinct.pairs.into(), groups: distinct.groups }
    }
}

impl TryFrom<Parts> for Distinct {
    type Error = &'static str;

    fn try_from(Parts { pairs, groups }: Parts) -> Result<Self, Self::Error> {
        let pairs = KeySet::try_from(pairs)?;
        if !matches!(pairs.types(), [(GROUP, false), (_, false)]) {
            return Err("the pairs are no groups and values");
        }
        if (0..pairs.len()).any(|pair| pairs.low_bits(0, pair) as usize >= groups) {
            return Err("a value is of no group");
        }
        Ok(Self::of(pairs, groups))
    }
}
