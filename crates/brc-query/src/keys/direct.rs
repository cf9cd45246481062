//! A shortcut for keys that have few values together: an array in place of a hash table.
//!
//! The values of each key so far lie in a range; the product of the ranges indexes the array. The array only remembers
//! groups: an empty slot is looked up elsewhere, mostly in a [`KeySet`], and a wider range empties the array. So
//! nothing is checked here that is checked there.
//!
//! If the possible values are known ahead and few for the rows of the table, all of them are groups from the beginning,
//! some of which may stay without rows. Then the index is the group, and there is no array.

use super::Numbered;
use super::digits::{Digit, Digits, Range};
use super::key_set::KeySet;
use crate::values::error::BatchError;
use crate::values::selection::Selection;
use brc_core::{Column, Dictionary};
use brc_kernels::cpu::Level;
use brc_kernels::direct::look_up;
use brc_kernels::filter::{valid_bits, words};

/// An array of more slots would not stay in the cache, and is not used.
const MAX_SLOTS: u64 = 1 << 20;

/// This many slots are always worth it; more of them only once there have been rows for a good part of them.
const MIN_SLOTS_TO_WAIT: u64 = 1 << 16;

/// How many slots there may be for each row so far.
const SLOTS_A_ROW: u64 = 16;

/// All slots become groups ahead of their rows if there are at most this many, or at most one per [`ROWS_A_GROUP`] rows
/// of the table.
const MAX_GROUPS_AHEAD: u64 = 1 << 10;
const ROWS_A_GROUP: u64 = 64;

/// But not with this few slots: accumulators have faster paths for few groups, which groups without rows would spoil.
const FEWEST_GROUPS: u64 = 64;

/// The entry of a slot whose group is not known yet.
const UNKNOWN: u32 = u32::MAX;

/// What is known of a table's keys before it is scanned.
#[derive(Debug, Clone, Default)]
pub(crate) struct Expected {
    /// Between which integers the values of each key lie, where that is known.
    pub(crate) bounds: Vec<Option<(i64, i64)>>,
    /// Which keys are known not to be null.
    pub(crate) never_null: Vec<bool>,
    /// How many rows there are, wanted or not.
    pub(crate) rows: u64,
}

/// The array.
#[derive(Debug, Clone, Default)]
pub(crate) struct Direct {
    /// Until the first batch.
    expected: Option<Expected>,
    ranges: Vec<Range>,
    groups: Groups,
    /// Rows so far.
    rows: u64,
    /// The ranges were too wide once.
    off: bool,
    /// The keys of the last batch were no digits.
    no_digits: bool,
    /// Which of its keys were numbers of a set in place of strings, not codes of the scan's dictionary.
    are_numbers: Vec<bool>,
    spare: Spare,
}

/// The groups of slots.
#[derive(Debug, Clone)]
enum Groups {
    /// Those numbers themselves.
    Slots,
    /// Those that are known, by slot; empty if the ranges are not known either.
    Table(Vec<u32>),
}

impl Groups {
    /// Whether there is neither, as the ranges are not known either.
    fn are_unknown(&self) -> bool {
        matches!(self, Self::Table(table) if table.is_empty())
    }
}

impl Default for Groups {
    fn default() -> Self {
        Self::Table(Vec::new())
    }
}

/// Memory that is used again for the next batch.
#[derive(Debug, Clone, Default)]
struct Spare {
    digits: Vec<Digits>,
    slots: Vec<u32>,
    missing: Vec<u64>,
    groups: Vec<u32>,
}

impl Direct {
    /// The same for a table of which that is known.
    pub(crate) fn expecting(expected: Expected) -> Self {
        Self { expected: Some(expected), ..Self::default() }
    }

    /// Whether the array is of no use for keys like the last, however many rows are still to come.
    pub(crate) fn is_off(&self) -> bool {
        self.off || self.no_digits
    }

    /// Finds the groups of the wanted rows by these keys, of which the groups are those of `set`, and puts them in the
    /// places of their rows, where those of others mean nothing; `false` if the array is of no use for that.
    ///
    /// # Errors
    /// Those of [`KeySet::take`].
    pub(crate) fn groups_in(
        &mut self,
        level: Level,
        keys: Numbered<'_>,
        selection: Selection<'_>,
        rows: usize,
        set: &mut KeySet,
        groups: &mut Vec<u32>,
    ) -> Result<bool, BatchError> {
        if keys.are_numbers().ne(self.are_numbers.iter().copied()) {
            self.are_numbers = keys.are_numbers().collect();
            self.groups = Groups::default();
        }
        if let Some(expected) = self.expected.take() {
            self.take_all(level, keys.keys, &expected, set);
        }
        let find_groups = |unknown: Selection<'_>| {
            keys.take_to(set, unknown)?;
            let mut numbers = Vec::with_capacity(unknown.wanted(rows));
            set.number(&mut numbers);
            Ok(numbers)
        };
        let none = Dictionary::new();
        self.groups_of(level, &keys.columns(&none), selection, rows, find_groups, groups)
    }

    /// Makes groups of all slots, if they are not too many; `set` has their tuples then.
    fn take_all(&mut self, level: Level, keys: &[Column<'_>], expected: &Expected, set: &mut KeySet) {
        let known = keys.iter().enumerate().map(|(index, key)| match key.dictionary() {
            Some(dictionary) => Some((0, (dictionary.len() as i64).checked_sub(1)?)),
            None => *expected.bounds.get(index)?,
        });
        let known: Vec<_> = known.collect();
        for (index, (known, &(_, nullable))) in known.iter().zip(set.types()).enumerate() {
            let never_null = expected.never_null.get(index).is_some_and(|&never| never);
            self.ranges.push(Range::of(*known, nullable && !never_null));
        }
        let mut digits = vec![Digits::default(); keys.len()];
        let most = MAX_GROUPS_AHEAD.max(expected.rows / ROWS_A_GROUP).min(MAX_SLOTS);
        let few = FEWEST_GROUPS + 1..=most;
        let are_digits = self.cover(level, keys, &mut digits).is_some();
        let unknown = self.ranges.iter_mut().zip(&known).filter(|(_, known)| known.is_none());
        unknown.for_each(|(range, _)| range.widen());
        if are_digits && few.contains(&self.slots()) && set.take_all(keys, &self.ranges) {
            self.groups = Groups::Slots;
        } else {
            self.ranges.clear();
        }
    }

    fn slots(&self) -> u64 {
        self.ranges.iter().map(Range::radix).fold(1, u64::saturating_mul)
    }

    /// The same, where `find_groups` finds the groups of rows.
    pub(crate) fn groups_of(
        &mut self,
        level: Level,
        keys: &[Column<'_>],
        selection: Selection<'_>,
        rows: usize,
        find_groups: impl FnOnce(Selection<'_>) -> Result<Vec<u32>, BatchError>,
        groups: &mut Vec<u32>,
    ) -> Result<bool, BatchError> {
        if self.off {
            return Ok(false);
        }
        self.rows += rows as u64;
        let mut spare = std::mem::take(&mut self.spare);
        let found = self.find(level, keys, rows, &mut spare);
        if found {
            self.fill(level, selection, rows, find_groups, &mut spare)?;
            std::mem::swap(groups, &mut spare.groups);
        }
        self.spare = spare;
        Ok(found)
    }

    /// Computes the slots of all rows; `false` if there would have to be too many.
    fn find(&mut self, level: Level, keys: &[Column<'_>], rows: usize, spare: &mut Spare) -> bool {
        if self.find_in_ranges(level, keys, &mut spare.slots) {
            self.no_digits = false;
            return spare.slots.len() == rows;
        }
        spare.digits.resize_with(keys.len(), Digits::default);
        let wider = self.cover(level, keys, &mut spare.digits);
        self.no_digits = wider.is_none();
        match wider {
            None => return false,
            Some(true) if !self.renew() => return false,
            Some(_) => {}
        }
        for (index, ((key, range), digits)) in keys.iter().zip(&self.ranges).zip(&mut spare.digits).enumerate() {
            digits.set_nulls(key, range.first());
            digits.of(key).add_to(level, &mut spare.slots, range, index == 0);
        }
        spare.slots.len() == rows
    }

    /// The same where all keys lie in their ranges as they are, which they mostly do; otherwise `false`, and slots mean
    /// nothing.
    fn find_in_ranges(&self, level: Level, keys: &[Column<'_>], slots: &mut Vec<u32>) -> bool {
        let in_range = |(index, (key, range)): (usize, (&Column<'_>, &Range))| {
            let digit = Digit::of(key).filter(|_| !key.has_nulls());
            let bounds = digit.and_then(|digit| digit.add_to(level, slots, range, index == 0));
            bounds.is_some_and(|(low, high)| range.holds(low, high))
        };
        !self.groups.are_unknown()
            && keys.len() == self.ranges.len()
            && keys.iter().zip(&self.ranges).enumerate().all(in_range)
    }

    /// Makes the ranges as wide as the keys need them. Returns whether the table has to be renewed; `None` if the keys
    /// are no digits.
    fn cover(&mut self, level: Level, keys: &[Column<'_>], digits: &mut [Digits]) -> Option<bool> {
        let bounds = keys.iter().zip(digits).map(|(key, digits)| {
            let validity = key.validity.filter(|validity| validity.count_nulls() > 0);
            Some((digits.take(key, validity)?.bounds(level)?, validity.is_some()))
        });
        let bounds = bounds.collect::<Option<Vec<_>>>()?;
        self.ranges.resize(keys.len(), Range::default());
        let mut wider = self.groups.are_unknown();
        for (range, ((low, high), nulls)) in self.ranges.iter_mut().zip(bounds) {
            wider |= range.cover(low, high) | range.cover_nulls(nulls);
        }
        Some(wider)
    }

    /// Empties the table, which becomes as large as the ranges are; `false` if that is too large.
    fn renew(&mut self) -> bool {
        let slots = self.slots();
        let Groups::Table(mut table) = std::mem::take(&mut self.groups) else { return self.renew() };
        self.off = slots > MAX_SLOTS;
        if self.off || slots > MIN_SLOTS_TO_WAIT.max(self.rows.saturating_mul(SLOTS_A_ROW)) {
            return false;
        }
        table.clear();
        table.resize(slots as usize, UNKNOWN);
        self.groups = Groups::Table(table);
        true
    }

    /// Looks up the groups of all slots, and finds those of wanted rows that are not known yet.
    fn fill(
        &mut self,
        level: Level,
        selection: Selection<'_>,
        rows: usize,
        find_groups: impl FnOnce(Selection<'_>) -> Result<Vec<u32>, BatchError>,
        spare: &mut Spare,
    ) -> Result<(), BatchError> {
        let Spare { slots, missing, groups, .. } = spare;
        let Groups::Table(table) = &mut self.groups else {
            std::mem::swap(slots, groups);
            return Ok(());
        };
        if !look_up(level, slots, table, groups) {
            return Ok(());
        }
        missing.clear();
        missing.resize(words(rows), 0);
        for (index, (word, groups)) in missing.iter_mut().zip(groups.chunks(64)).enumerate() {
            let bits = groups.iter().enumerate().map(|(bit, &group)| u64::from(group == UNKNOWN) << bit);
            let wanted = match selection {
                Selection::All => valid_bits(rows, index),
                Selection::Some(mask, _) => mask[index],
            };
            *word = bits.fold(0, |word, bit| word | bit) & wanted;
        }
        let count: usize = missing.iter().map(|word| word.count_ones() as usize).sum();
        if count == 0 {
            return Ok(());
        }
        let unknown = if count == rows { Selection::All } else { Selection::Some(missing, count) };
        let numbers = find_groups(unknown)?;
        for (row, number) in crate::values::selection::set_rows(missing).zip(numbers) {
            groups[row] = number;
            table[slots[row] as usize] = number;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use brc_core::{BitmapBuffer, Dictionary, Integers, LogicalType, Value};
    use proptest::prelude::*;

    /// Rows of two keys: an integer that may be null, and a code.
    type Rows = Vec<(Option<i16>, u32)>;

    fn names() -> Dictionary {
        (0..40).map(|name| format!("name {name}")).collect()
    }

    fn no_keys() -> KeySet {
        KeySet::new(&[(LogicalType::Int16, true), (LogicalType::String, false)])
    }

    /// The groups of batches of rows.
    fn groups(direct: &mut Direct, set: &mut KeySet, names: &Dictionary, batches: &[Rows]) -> Vec<u32> {
        let mut all = Vec::new();
        for batch in batches {
            let integers: Vec<i16> = batch.iter().map(|row| row.0.unwrap_or(i16::MIN)).collect();
            let codes: Vec<u32> = batch.iter().map(|row| row.1).collect();
            let mut validity = BitmapBuffer::default();
            batch.iter().for_each(|row| validity.push(row.0.is_some()));
            let integers = Column::integers(Integers::I16(&integers)).with_validity(validity.bitmap());
            let keys = [integers, Column::codes(&codes, names)];
            let (level, mut found) = (Level::best(), Vec::new());
            if !direct.groups_in(level, Numbered::plain(&keys), Selection::All, batch.len(), set, &mut found).unwrap() {
                keys.iter().enumerate().for_each(|(index, key)| set.take(index, key, Selection::All).unwrap());
                set.number(&mut found);
            }
            all.extend(found);
        }
        all
    }

    proptest! {
        #[test]
        fn groups_have_the_keys_of_their_rows(
            batches in prop::collection::vec(prop::collection::vec((prop::option::of(-9i16..9), 0u32..40), 1..50), 1..5),
            bounds in prop::option::of((-9i64..0, 0i64..9)),
            far in any::<i16>(),
            // That may be wrong.
            never_null in prop::collection::vec(any::<bool>(), 0..3),
            rows in 0u64..200_000,
        ) {
            let (mut batches, names) = (batches, names());
            batches.push(vec![(Some(far), 3), (None, 4)]);
            let (mut set, mut plain) = (no_keys(), no_keys());
            let expected = Expected { bounds: vec![bounds, None], never_null, rows };
            let found = groups(&mut Direct::expecting(expected), &mut set, &names, &batches);
            let distinct = groups(&mut Direct::default(), &mut plain, &names, &batches).into_iter().max();
            prop_assert_eq!(found.len(), batches.iter().map(Vec::len).sum::<usize>());
            for (&group, &(integer, code)) in found.iter().zip(batches.iter().flatten()) {
                let integer = integer.map(|integer| Value::Integer(integer.into()));
                prop_assert_eq!(set.value(0, group as usize), integer);
                prop_assert_eq!(set.value(1, group as usize), Some(Value::Bytes(names.get(code))));
            }
            let found: std::collections::BTreeSet<u32> = found.into_iter().collect();
            prop_assert_eq!(found.len() as u32, distinct.unwrap() + 1);
        }
    }

    #[test]
    fn all_tuples_that_may_be_are_groups_where_they_are_few() {
        let batch: Rows = vec![(Some(1), 7), (None, 0), (Some(0), 39)];
        for (bounds, never_null, rows, numbers, tuples) in [
            (Some((0, 1)), [false, true], 0, [87, 0, 79], 120),
            // The values of the first batch, and a little more.
            (None, [false, true], 0, [87, 0, 79], 120),
            (Some((0, 99)), [false, true], 64 * 101 * 40, [87, 0, 79], 101 * 40),
            // Too many for so few rows.
            (Some((0, 99)), [false, true], 64 * 101 * 40 - 1, [0, 1, 2], 3),
        ] {
            let never_null = never_null.to_vec();
            let (mut set, expected) = (no_keys(), Expected { bounds: vec![bounds, None], never_null, rows });
            let found = groups(&mut Direct::expecting(expected), &mut set, &names(), std::slice::from_ref(&batch));
            assert_eq!((found.as_slice(), set.len()), (numbers.as_slice(), tuples));
        }
    }

    #[test]
    fn integers_beyond_their_type_are_no_groups() {
        let (mut set, mut found) = (KeySet::new(&[(LogicalType::Int8, false)]), Vec::new());
        let expected = Expected { bounds: vec![Some((-129, 100))], never_null: Vec::new(), rows: 0 };
        let keys = [Column::integers(Integers::I8(&[5, -128, 5]))];
        let mut direct = Direct::expecting(expected);
        assert!(
            direct.groups_in(Level::best(), Numbered::plain(&keys), Selection::All, 3, &mut set, &mut found).unwrap()
        );
        assert_eq!((found.as_slice(), set.len()), ([0, 1, 0].as_slice(), 2));
    }

    #[test]
    fn nulls_of_a_key_that_has_none_are_refused() {
        let (mut set, mut found) = (KeySet::new(&[(LogicalType::Int8, false)]), Vec::new());
        let mut direct = Direct::expecting(Expected { bounds: vec![Some((0, 99))], never_null: Vec::new(), rows: 0 });
        let values = Column::integers(Integers::I8(&[0, 99]));
        let mut validity = BitmapBuffer::default();
        [true, false].into_iter().for_each(|valid| validity.push(valid));
        assert!(
            direct
                .groups_in(Level::best(), Numbered::plain(&[values]), Selection::All, 2, &mut set, &mut found)
                .unwrap()
        );
        let nulls = [values.with_validity(validity.bitmap())];
        let refused = direct.groups_in(Level::best(), Numbered::plain(&nulls), Selection::All, 2, &mut set, &mut found);
        assert_eq!(refused, Err(BatchError("it has nulls in a column without")));
    }
}
