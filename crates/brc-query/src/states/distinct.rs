//! The distinct values of each group: a set of pairs of a group and a value, or bits as long as values are codes and few.

use super::code_bits::CodeBits;
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
    /// Pairs of which the values are codes.
    bits: Box<CodeBits>,
    /// Bits were too many once.
    bits_are_off: bool,
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
        let (direct, bits, bits_are_off, counts, days, numbers) = Default::default();
        Self { pairs, direct, bits, bits_are_off, groups, counts, days, numbers }
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
        if self.pairs.len() > 0 {
            self.empty_bits();
        }
        self.counts.clear();
        self.counts.resize(self.groups, 0);
        self.bits.count(&mut self.counts);
        for pair in 0..self.pairs.len() {
            self.counts[self.pairs.low_bits(0, pair) as usize] += 1;
        }
    }
}

/// Pairs that are moved together.
const TOGETHER: usize = 4096;

impl Distinct {
    /// Moves all pairs that are bits to the others.
    fn empty_bits(&mut self) {
        let bits = std::mem::take(&mut self.bits);
        let (mut set, mut pairs) = (KeySet::new(self.pairs.types()), bits.pairs());
        loop {
            let (days, codes): (Vec<i32>, Vec<u32>) =
                pairs.by_ref().take(TOGETHER).map(|(group, code)| (day(group), code)).unzip();
            if codes.is_empty() {
                break;
            }
            let keys = [Column::integers(Integers::I32(&days)), Column::codes(&codes, bits.names())];
            let taken = (0..).zip(&keys).try_for_each(|(index, key)| set.take(index, key, Selection::All));
            debug_assert!(taken.is_ok(), "all codes are known");
            set.number(&mut self.numbers);
        }
        if self.pairs.len() == 0 {
            self.pairs = set;
        } else {
            self.pairs.merge_with(&set, |_, _| {});
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
        if let Values::Codes { codes, dictionary } = values
            && !self.bits_are_off
        {
            if self.bits.make_room(self.groups, dictionary) {
                return self.bits.add(groups, codes);
            }
            self.bits_are_off = true;
            self.empty_bits();
        }
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
        let bits = Box::new(self.bits.take(groups));
        let places = places(groups, self.groups);
        let pairs = self.pairs.take_tuples(|layout, pair| {
            let group = &layout.keys[0];
            let place = places[group.low.get(pair) as usize];
            place.inspect(|&place| group.replace(pair, place.into())).is_some()
        });
        Self { bits, ..Self::of(pairs, groups.len()) }
    }

    fn merge(&mut self, other: &Self, groups: &[u32]) {
        if !self.bits.merge(&other.bits, groups) {
            self.empty_bits();
            let mut bits =
                Self { bits: other.bits.clone(), ..Self::of(KeySet::new(other.pairs.types()), other.groups) };
            bits.empty_bits();
            self.merge(&bits, groups);
        }
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
    fn from(mut distinct: Distinct) -> Self {
        distinct.empty_bits();
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
