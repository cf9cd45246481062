//! The statistics of many groups; each value is added to the group of its row or run.

use super::long::{LongSlot, add_long};
use super::run;
use super::slots::{Sets, Slot, UnknownGroup, each_run, rows_i16, runs_i16, sets_i16};
use crate::cpu::Level;
use crate::direct::{Key, bounds};
use brc_core::table::{Numbers, Sums};
use brc_core::{Integers, Run, Statistics};

/// The number of slots per group if there are few groups: consecutive rows use different slots, so that a row does not
/// wait for the one before if both belong to the same group. With many groups there is one slot each: equal neighbours
/// are rare, and memory matters more.
const COPIES: usize = 2;

/// The maximum number of groups that count as few: all their slots fit in the L1 cache.
const MAX_FEW_GROUPS: usize = 512;

/// A slot with this many rows is flushed before [`ROOM`] more rows may follow. Even [`COPIES`] such slots can be merged
/// into one.
pub(crate) const FULL: u64 = 1 << 20;

/// See [`FULL`].
pub(crate) const ROOM: usize = 3 << 20;

/// The limit for sums in long slots.
const MAX_LONG_SUM: u64 = 1 << 62;

/// The number of pre-aggregated sets that are validated and added together.
const SETS: usize = 1024;

/// The statistics of groups that are numbered from 0.
#[derive(Debug, Clone, Default)]
pub struct GroupStatistics {
    /// [`COPIES`] consecutive slots per group while there are few groups, else one.
    slots: Vec<Slot>,
    groups: usize,
    /// One slot per group for values of more than 16 bits; empty until there are such values.
    long: Vec<LongSlot>,
    /// An upper bound of the sums in long slots.
    long_bound: u64,
    /// The overflow of slots, one entry per group; empty until needed.
    wide: Vec<Statistics>,
    /// The number of rows that every slot has room for.
    room: usize,
}

impl GroupStatistics {
    /// Creates statistics without groups.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of groups.
    #[must_use]
    pub fn len(&self) -> usize {
        self.groups
    }

    /// Whether there are no groups.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.groups == 0
    }

    /// Adds empty groups up to `groups`.
    pub fn grow(&mut self, groups: usize) {
        if groups <= self.groups {
            return;
        }
        if self.groups <= MAX_FEW_GROUPS && groups > MAX_FEW_GROUPS {
            self.slots = self.slots.chunks(COPIES).map(merged).collect();
            self.room = 0;
        }
        self.groups = groups;
        self.slots.resize(groups * self.copies(), Slot::EMPTY);
        if !self.long.is_empty() {
            self.long.resize(groups, LongSlot::EMPTY);
        }
        if !self.wide.is_empty() {
            self.wide.resize(groups, Statistics::EMPTY);
        }
    }

    /// Adds each value to its row's group.
    ///
    /// # Errors
    /// If a group is not below [`GroupStatistics::len`], `groups` and `values` differ in length, or a value does not
    /// fit in 64 bits. Some values may have been added.
    pub fn rows(&mut self, level: Level, groups: &[u32], values: Integers<'_>) -> Result<(), UnknownGroup> {
        if groups.len() != values.len() {
            return Err(UnknownGroup);
        }
        match values {
            Integers::I16(values) if values.len() <= ROOM => {
                self.reserve(values.len());
                match self.copies() {
                    1 => rows_i16(level, groups, values, self.slots.as_chunks_mut::<1>().0),
                    _ => rows_i16(level, groups, values, self.slots.as_chunks_mut::<COPIES>().0),
                }
            }
            Integers::I8(values) => self.long_rows(level, groups, values),
            Integers::I16(values) => self.long_rows(level, groups, values),
            Integers::I32(values) => self.long_rows(level, groups, values),
            Integers::I64(values) => self.long_rows(level, groups, values),
            Integers::I128(values) => self.long_rows(level, groups, &narrowed(values)?),
        }
    }

    /// Adds the values run by run; the code of a run is its group.
    ///
    /// # Errors
    /// If a group is not below [`GroupStatistics::len`], the number of rows of the runs differs from the number of
    /// values, or a value does not fit in 64 bits. Some values may have been added.
    pub fn runs(&mut self, level: Level, runs: &[Run], values: Integers<'_>) -> Result<(), UnknownGroup> {
        match values {
            Integers::I16(values) if values.len() <= ROOM => {
                self.reserve(values.len());
                match self.copies() {
                    1 => runs_i16(level, runs, values, self.slots.as_chunks_mut::<1>().0),
                    _ => runs_i16(level, runs, values, self.slots.as_chunks_mut::<COPIES>().0),
                }
            }
            Integers::I8(values) => {
                self.wide_runs(runs, values, |part| part.iter().map(|&value| value.into()).collect())
            }
            Integers::I16(values) => self.wide_runs(runs, values, |part| run::statistics_i16(level, part)),
            Integers::I32(values) => self.wide_runs(runs, values, |part| run::statistics_i32(level, part)),
            Integers::I64(values) => self.wide_runs(runs, values, |part| run::statistics_i64(level, part)),
            Integers::I128(values) => self.wide_runs(runs, &narrowed(values)?, |part| run::statistics_i64(level, part)),
        }
    }

    /// Adds the pre-aggregated statistics of sets of rows, each to its group.
    ///
    /// # Errors
    /// If a group is not below [`GroupStatistics::len`], or the slices differ in length. Some sets may have been added.
    pub fn summaries(
        &mut self,
        level: Level,
        groups: &[u32],
        rows: &[u32],
        numbers: &Numbers<'_>,
    ) -> Result<(), UnknownGroup> {
        if rows.len() != groups.len() || numbers.sets() != Some(groups.len()) {
            return Err(UnknownGroup);
        }
        for start in (0..groups.len()).step_by(SETS) {
            let part = start..groups.len().min(start + SETS);
            if let Sums::Narrow(sums) = numbers.sum {
                let sets = Sets {
                    groups: &groups[part.clone()],
                    rows: &rows[part.clone()],
                    min: &numbers.min[part.clone()],
                    max: &numbers.max[part.clone()],
                    sum: &sums[part.clone()],
                };
                let all_rows = sets.rows.iter().map(|&rows| rows as usize).sum();
                if all_rows <= ROOM && sets.fit(level) {
                    self.reserve(all_rows);
                    match self.copies() {
                        1 => sets_i16(level, sets, self.slots.as_chunks_mut::<1>().0)?,
                        _ => sets_i16(level, sets, self.slots.as_chunks_mut::<COPIES>().0)?,
                    }
                    continue;
                }
            }
            let wide = self.wide();
            for set in part {
                let statistics = numbers.get(set, rows[set]);
                wide.get_mut(groups[set] as usize).ok_or(UnknownGroup)?.merge(&statistics);
            }
        }
        Ok(())
    }

    /// Merges the statistics of some rows into a group.
    pub(crate) fn add(&mut self, group: u32, statistics: &Statistics) -> Result<(), UnknownGroup> {
        self.wide().get_mut(group as usize).ok_or(UnknownGroup)?.merge(statistics);
        Ok(())
    }

    /// The statistics of all groups, in group order.
    #[must_use]
    pub fn finish(mut self) -> Vec<Statistics> {
        if !self.long.is_empty() {
            self.empty_long_slots();
        }
        let slots = self.slots.chunks(self.copies()).map(|slots| merged(slots).statistics());
        if self.wide.is_empty() {
            return slots.collect();
        }
        for (wide, slots) in self.wide.iter_mut().zip(slots) {
            wide.merge(&slots);
        }
        self.wide
    }

    fn copies(&self) -> usize {
        if self.groups <= MAX_FEW_GROUPS { COPIES } else { 1 }
    }

    fn wide(&mut self) -> &mut [Statistics] {
        if self.wide.is_empty() {
            self.wide = vec![Statistics::EMPTY; self.groups];
        }
        &mut self.wide
    }

    /// Uses long slots while sums fit in them, else wide statistics.
    fn long_rows<T: Key>(&mut self, level: Level, groups: &[u32], values: &[T]) -> Result<(), UnknownGroup> {
        let Some((min, max)) = bounds(level, values) else { return Ok(()) };
        let size = min.unsigned_abs().max(max.unsigned_abs());
        let Some(more) = size.checked_mul(values.len() as u64).filter(|&more| more < MAX_LONG_SUM) else {
            return self.wide_rows(groups, values);
        };
        if self.long_bound + more >= MAX_LONG_SUM {
            self.empty_long_slots();
        }
        self.long_bound += more;
        if self.long.is_empty() {
            self.long.resize(self.groups, LongSlot::EMPTY);
        }
        add_long(level, groups, values, &mut self.long)
    }

    fn empty_long_slots(&mut self) {
        let mut long = std::mem::take(&mut self.long);
        for (wide, slot) in self.wide().iter_mut().zip(&mut long) {
            wide.merge(&std::mem::replace(slot, LongSlot::EMPTY).statistics());
        }
        (self.long, self.long_bound) = (long, 0);
    }

    fn wide_rows<T: Copy + Into<i64>>(&mut self, groups: &[u32], values: &[T]) -> Result<(), UnknownGroup> {
        let wide = self.wide();
        for (&group, &value) in groups.iter().zip(values) {
            wide.get_mut(group as usize).ok_or(UnknownGroup)?.add(value.into());
        }
        Ok(())
    }

    fn wide_runs<T>(
        &mut self,
        runs: &[Run],
        values: &[T],
        fold: impl Fn(&[T]) -> Statistics,
    ) -> Result<(), UnknownGroup> {
        let wide = self.wide();
        each_run(runs, values, |group, part| {
            wide.get_mut(group as usize).ok_or(UnknownGroup)?.merge(&fold(part));
            Ok(())
        })
    }

    /// Ensures that every slot has room for `rows` more rows, at most [`ROOM`].
    fn reserve(&mut self, rows: usize) {
        if rows > self.room {
            self.empty_full_slots();
            self.room = ROOM;
        }
        self.room -= rows;
    }

    /// Flushes slots with many rows. These are few: with millions of groups hardly anything is written.
    fn empty_full_slots(&mut self) {
        let copies = self.copies();
        for index in 0..self.slots.len() {
            let slot = self.slots[index];
            if slot.count() >= FULL {
                self.wide()[index / copies].merge(&slot.statistics());
                self.slots[index] = Slot::EMPTY;
            }
        }
    }
}

fn narrowed(values: &[i128]) -> Result<Vec<i64>, UnknownGroup> {
    values.iter().map(|&value| i64::try_from(value).map_err(|_| UnknownGroup)).collect()
}

fn merged(slots: &[Slot]) -> Slot {
    let mut all = Slot::EMPTY;
    for slot in slots {
        all.merge(*slot);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn oracle(len: usize, groups: &[u32], values: &[i64]) -> Vec<Statistics> {
        let mut all = vec![Statistics::EMPTY; len];
        for (&group, &value) in groups.iter().zip(values) {
            all[group as usize].add(value);
        }
        all
    }

    fn with_widths(values: &[i64], check: impl Fn(Integers<'_>)) {
        check(Integers::I16(&values.iter().map(|&value| value as i16).collect::<Vec<_>>()));
        check(Integers::I32(&values.iter().map(|&value| value as i32).collect::<Vec<_>>()));
        check(Integers::I64(values));
        check(Integers::I8(&values.iter().map(|&value| value as i8).collect::<Vec<_>>()));
        check(Integers::I128(&values.iter().map(|&value| value.into()).collect::<Vec<_>>()));
    }

    proptest! {
        #[test]
        fn rows_and_runs_agree_with_plain_code(
            runs in prop::collection::vec((0u32..20, prop::collection::vec(any::<i64>(), 0..80)), 0..30),
            grown in prop_oneof![20usize..40, MAX_FEW_GROUPS - 2..MAX_FEW_GROUPS + 3],
        ) {
            let groups: Vec<u32> = runs.iter().flat_map(|(group, part)| vec![*group; part.len()]).collect();
            let values: Vec<i64> = runs.iter().flat_map(|(_, part)| part.clone()).collect();
            let runs: Vec<Run> = runs.iter().map(|(code, part)| Run { code: *code, rows: part.len() as u32 }).collect();
            for level in Level::available() {
                with_widths(&values, |values| {
                    let widened: Vec<i64> = (0..values.len()).map(|row| values.get(row) as i64).collect();
                    let mut state = GroupStatistics::new();
                    state.grow(20);
                    state.rows(level, &groups, values).unwrap();
                    assert_eq!(state.clone().finish(), oracle(20, &groups, &widened), "{level:?}");
                    state.grow(grown);
                    state.runs(level, &runs, values).unwrap();
                    let twice = (groups.repeat(2), widened.repeat(2));
                    assert_eq!(state.finish(), oracle(grown, &twice.0, &twice.1), "{level:?}");
                });
            }
        }
    }

    /// Adds pre-aggregated sets, given as (group, statistics), with 64-bit sums if they fit.
    fn add(state: &mut GroupStatistics, level: Level, sets: &[(u32, Statistics)]) -> Result<(), UnknownGroup> {
        let groups: Vec<u32> = sets.iter().map(|(group, _)| *group).collect();
        let rows: Vec<u32> = sets.iter().map(|(_, set)| set.count as u32).collect();
        let min: Vec<i64> = sets.iter().map(|(_, set)| set.min).collect();
        let max: Vec<i64> = sets.iter().map(|(_, set)| set.max).collect();
        let wide: Vec<i128> = sets.iter().map(|(_, set)| set.sum).collect();
        let narrow: Result<Vec<i64>, _> = wide.iter().map(|&sum| i64::try_from(sum)).collect();
        let sum = narrow.as_ref().map_or(Sums::Wide(&wide), |narrow| Sums::Narrow(narrow));
        state.summaries(level, &groups, &rows, &Numbers { min: &min, max: &max, sum })
    }

    fn summaries_agree_with_plain_code(groups: usize, sets: &[(u32, Statistics)]) {
        let mut expected = vec![Statistics::EMPTY; groups];
        for (group, set) in sets {
            expected[*group as usize].merge(set);
        }
        for level in Level::available() {
            let mut state = GroupStatistics::new();
            state.grow(groups);
            add(&mut state, level, sets).unwrap();
            assert_eq!(state.finish(), expected, "{level:?}");
        }
    }

    proptest! {
        #[test]
        fn summaries_of_any_width_agree_with_plain_code(
            mut sets in prop::collection::vec((0u32..20, prop::collection::vec(any::<i64>(), 1..5)), 1..1200),
            shift in prop_oneof![Just(0), 30u32..64],
            groups in prop_oneof![20usize..40, MAX_FEW_GROUPS - 2..MAX_FEW_GROUPS + 3],
        ) {
            sets.iter_mut().for_each(|(_, values)| values.iter_mut().for_each(|value| *value >>= shift));
            let sets: Vec<(u32, Statistics)> =
                sets.iter().map(|(group, values)| (*group, values.iter().copied().collect())).collect();
            summaries_agree_with_plain_code(groups, &sets);
        }

        /// Also inconsistent statistics: a slot must not receive what does not fit in it.
        #[test]
        fn inconsistent_summaries_are_added(
            sets in prop::collection::vec(
                (0u32..3, 1u32.., any::<i16>(), any::<i16>(), any::<i64>(), 0u32..64)
                    .prop_map(|(group, rows, min, max, sum, shift)| {
                        let (count, sum) = (rows.into(), i128::from(sum >> shift));
                        (group, Statistics { count, sum, min: min.into(), max: max.into() })
                    }),
                1..50,
            ),
        ) {
            summaries_agree_with_plain_code(3, &sets);
        }
    }

    #[test]
    fn summaries_of_many_rows_do_not_overflow_slots() {
        for (extreme, rows) in [(i16::MIN, ROOM as u64), (i16::MAX, 100_000), (i16::MIN, 1 << 26), (0, 1)] {
            let (min, max) = (extreme.into(), extreme.into());
            let set = Statistics { count: rows, sum: i128::from(rows) * i128::from(extreme), min, max };
            summaries_agree_with_plain_code(2, &vec![(1, set); 3000]);
        }
    }

    #[test]
    fn widths_and_summaries_may_mix() {
        let mut state = GroupStatistics::new();
        state.grow(2);
        let level = Level::best();
        state.rows(level, &[0, 1, 0], Integers::I16(&[-3, 5, 7])).unwrap();
        state.rows(level, &[1], Integers::I64(&[i64::MAX])).unwrap();
        state.runs(level, &[Run { code: 1, rows: 2 }], Integers::I32(&[1 << 20, -1])).unwrap();
        add(&mut state, level, &[(0, Statistics { count: 10, sum: -50, min: -9, max: 2 })]).unwrap();
        state.grow(3);
        assert_eq!(
            state.finish(),
            [
                Statistics { count: 12, sum: -46, min: -9, max: 7 },
                Statistics { count: 4, sum: i128::from(i64::MAX) + 5 + (1 << 20) - 1, min: -1, max: i64::MAX },
                Statistics::EMPTY
            ]
        );
    }

    #[test]
    fn slots_are_emptied_before_they_overflow() {
        let rows = (1 << 20) + 3;
        let groups = vec![1; rows];
        let runs = [Run { code: 1, rows: rows as u32 }];
        for extreme in [i16::MIN, i16::MAX] {
            let values = vec![extreme; rows];
            for level in Level::available() {
                let mut state = GroupStatistics::new();
                state.grow(2);
                let mut count = 0;
                for round in 0..20 {
                    if round == 9 {
                        state.grow(MAX_FEW_GROUPS + 1);
                    }
                    state.rows(level, &groups, Integers::I16(&values)).unwrap();
                    state.runs(level, &runs, Integers::I16(&values)).unwrap();
                    count += 2 * rows as u64;
                }
                let (min, max) = (extreme.into(), extreme.into());
                let expected = Statistics { count, sum: i128::from(count) * i128::from(extreme), min, max };
                assert_eq!(state.finish()[..3], [Statistics::EMPTY, expected, Statistics::EMPTY], "{level:?}");
            }
        }
    }

    #[test]
    fn sums_of_large_values_do_not_overflow_long_slots() {
        for value in [1i64 << 50, -1 << 50, i64::MIN] {
            let mut state = GroupStatistics::new();
            state.grow(2);
            for _ in 0..5 {
                state.rows(Level::best(), &[1; 3000], Integers::I64(&[value; 3000])).unwrap();
            }
            let sum = 15_000 * i128::from(value);
            let expected = Statistics { count: 15_000, sum, min: value, max: value };
            assert_eq!(state.finish(), [Statistics::EMPTY, expected]);
        }
    }

    #[test]
    fn one_call_may_exceed_a_slot() {
        let rows = ROOM + 1;
        let values = vec![i16::MIN; rows];
        let mut state = GroupStatistics::new();
        state.grow(1);
        state.rows(Level::best(), &vec![0; rows], Integers::I16(&values)).unwrap();
        state.runs(Level::best(), &[Run { code: 0, rows: rows as u32 }], Integers::I16(&values)).unwrap();
        assert_eq!(state.finish()[0].sum, 2 * rows as i128 * i128::from(i16::MIN));
    }

    #[test]
    fn unknown_groups_and_unequal_lengths_are_refused() {
        for level in Level::available() {
            with_widths(&vec![1; 2000], |values| {
                let mut state = GroupStatistics::new();
                state.grow(3);
                let mut groups = vec![2; 2000];
                assert_eq!(state.rows(level, &groups, values), Ok(()));
                assert_eq!(state.rows(level, &groups[1..], values), Err(UnknownGroup));
                for place in [0, 1023, 1024, 1999] {
                    groups[place] = 3;
                    assert_eq!(state.rows(level, &groups, values), Err(UnknownGroup));
                    groups[place] = 2;
                }
                let run = |code, rows| Run { code, rows };
                assert_eq!(state.runs(level, &[run(2, 1999), run(0, 1)], values), Ok(()));
                for runs in [[run(3, 1999), run(0, 1)], [run(2, 1999), run(0, 2)], [run(2, 1000), run(0, 999)]] {
                    assert_eq!(state.runs(level, &runs, values), Err(UnknownGroup));
                }
                let set = Statistics { count: 1, sum: 2, min: 2, max: 2 };
                let wide = Statistics { sum: 1 << 80, ..set };
                for set in [set, wide] {
                    assert_eq!(add(&mut state, level, &[(2, set); 2000]), Ok(()));
                    assert_eq!(add(&mut state, level, &[(2, set), (3, set)]), Err(UnknownGroup));
                }
                let unequal = Numbers { min: &[2], max: &[2, 2], sum: Sums::Narrow(&[2]) };
                assert_eq!(state.summaries(level, &[0], &[1], &unequal), Err(UnknownGroup));
                let one = Numbers { min: &[2], max: &[2], sum: Sums::Narrow(&[2]) };
                assert_eq!(state.summaries(level, &[0], &[1, 1], &one), Err(UnknownGroup));
                assert_eq!(state.summaries(level, &[0, 0], &[1, 1], &one), Err(UnknownGroup));
            });
        }
    }
}
