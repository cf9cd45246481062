//! The statistics of many groups, each value going to the group of its row or run.

use super::run;
use super::slots::{Slot, UnknownGroup, each_run, rows_i16, runs_i16};
use crate::cpu::Level;
use brc_core::{Run, Statistics, Values};

/// How many slots each of a few groups has: consecutive rows take turns, so that a row does not wait for the one before
/// if both are of one group. Of many groups each has one: equal neighbours are rare, and memory is what counts.
const COPIES: usize = 2;

/// So many groups are few: all their slots fit the first-level cache.
const FEW: usize = 512;

/// A slot with so many rows is emptied before [`ROOM`] more may come. Even [`COPIES`] such slots fit one.
pub(crate) const FULL: u64 = 1 << 20;

/// See [`FULL`].
pub(crate) const ROOM: usize = 3 << 20;

/// The statistics of groups that are numbered from 0.
#[derive(Debug, Clone, Default)]
pub struct GroupStatistics {
    /// One for each group, or [`COPIES`] of them, one after the other.
    slots: Vec<Slot>,
    groups: usize,
    /// What slots could not hold; empty until it is needed.
    wide: Vec<Statistics>,
    /// Rows that any slot has room for.
    room: usize,
}

impl GroupStatistics {
    /// No groups.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of groups.
    #[must_use]
    pub fn len(&self) -> usize {
        self.groups
    }

    /// Whether there is no group.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.groups == 0
    }

    /// Adds empty groups until there are `groups`.
    pub fn grow(&mut self, groups: usize) {
        if groups <= self.groups {
            return;
        }
        if self.groups <= FEW && groups > FEW {
            self.slots = self.slots.chunks(COPIES).map(merged).collect();
            self.room = 0;
        }
        self.groups = groups;
        self.slots.resize(groups * self.copies(), Slot::EMPTY);
        if !self.wide.is_empty() {
            self.wide.resize(groups, Statistics::EMPTY);
        }
    }

    /// Adds each value to the group that stands at the same place in `groups`.
    ///
    /// # Errors
    /// If a group is not below [`GroupStatistics::len`], or `groups` and `values` are not equally long. Some values may
    /// have been added.
    pub fn rows(&mut self, level: Level, groups: &[u32], values: Values<'_>) -> Result<(), UnknownGroup> {
        if groups.len() != values.len() {
            return Err(UnknownGroup);
        }
        match values {
            Values::I16(values) if values.len() <= ROOM => {
                self.reserve(values.len());
                match self.copies() {
                    1 => rows_i16(level, groups, values, self.slots.as_chunks_mut::<1>().0),
                    _ => rows_i16(level, groups, values, self.slots.as_chunks_mut::<COPIES>().0),
                }
            }
            Values::I16(values) => self.wide_rows(groups, values),
            Values::I32(values) => self.wide_rows(groups, values),
            Values::I64(values) => self.wide_rows(groups, values),
        }
    }

    /// Adds the values to groups, run after run; a run's code is the group.
    ///
    /// # Errors
    /// If a group is not below [`GroupStatistics::len`], or the runs' rows are not as many as the values. Some values
    /// may have been added.
    pub fn runs(&mut self, level: Level, runs: &[Run], values: Values<'_>) -> Result<(), UnknownGroup> {
        match values {
            Values::I16(values) if values.len() <= ROOM => {
                self.reserve(values.len());
                match self.copies() {
                    1 => runs_i16(level, runs, values, self.slots.as_chunks_mut::<1>().0),
                    _ => runs_i16(level, runs, values, self.slots.as_chunks_mut::<COPIES>().0),
                }
            }
            Values::I16(values) => self.wide_runs(runs, values, |part| run::statistics(level, Values::I16(part))),
            Values::I32(values) => self.wide_runs(runs, values, |part| run::statistics(level, Values::I32(part))),
            Values::I64(values) => self.wide_runs(runs, values, |part| run::statistics(level, Values::I64(part))),
        }
    }

    /// Adds what is known of some values to a group.
    ///
    /// # Errors
    /// If the group is not below [`GroupStatistics::len`].
    pub fn add(&mut self, group: u32, statistics: &Statistics) -> Result<(), UnknownGroup> {
        self.wide().get_mut(group as usize).ok_or(UnknownGroup)?.merge(statistics);
        Ok(())
    }

    /// The statistics of all groups, in their order.
    #[must_use]
    pub fn finish(mut self) -> Vec<Statistics> {
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
        if self.groups <= FEW { COPIES } else { 1 }
    }

    fn wide(&mut self) -> &mut [Statistics] {
        if self.wide.is_empty() {
            self.wide = vec![Statistics::EMPTY; self.groups];
        }
        &mut self.wide
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

    /// Sees to it that every slot has room for so many rows, at most [`ROOM`].
    fn reserve(&mut self, rows: usize) {
        if rows > self.room {
            self.empty_full_slots();
            self.room = ROOM;
        }
        self.room -= rows;
    }

    /// Only slots with many rows are emptied, and those are few: with millions of groups nearly nothing is written.
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

    fn with_widths(values: &[i64], check: impl Fn(Values<'_>)) {
        check(Values::I16(&values.iter().map(|&value| value as i16).collect::<Vec<_>>()));
        check(Values::I32(&values.iter().map(|&value| value as i32).collect::<Vec<_>>()));
        check(Values::I64(values));
    }

    proptest! {
        #[test]
        fn rows_and_runs_agree_with_plain_code(
            runs in prop::collection::vec((0u32..20, prop::collection::vec(any::<i64>(), 0..80)), 0..30),
            grown in prop_oneof![20usize..40, FEW - 2..FEW + 3],
        ) {
            let groups: Vec<u32> = runs.iter().flat_map(|(group, part)| vec![*group; part.len()]).collect();
            let values: Vec<i64> = runs.iter().flat_map(|(_, part)| part.clone()).collect();
            let runs: Vec<Run> = runs.iter().map(|(code, part)| Run { code: *code, rows: part.len() as u32 }).collect();
            for level in Level::available() {
                with_widths(&values, |values| {
                    let widened: Vec<i64> = (0..values.len()).map(|row| values.get(row)).collect();
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

    #[test]
    fn widths_and_summaries_may_mix() {
        let mut state = GroupStatistics::new();
        state.grow(2);
        let level = Level::best();
        state.rows(level, &[0, 1, 0], Values::I16(&[-3, 5, 7])).unwrap();
        state.rows(level, &[1], Values::I64(&[i64::MAX])).unwrap();
        state.runs(level, &[Run { code: 1, rows: 2 }], Values::I32(&[1 << 20, -1])).unwrap();
        state.add(0, &Statistics { count: 10, sum: -50, min: -9, max: 2 }).unwrap();
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
                        state.grow(FEW + 1);
                    }
                    state.rows(level, &groups, Values::I16(&values)).unwrap();
                    state.runs(level, &runs, Values::I16(&values)).unwrap();
                    count += 2 * rows as u64;
                }
                let (min, max) = (extreme.into(), extreme.into());
                let expected = Statistics { count, sum: i128::from(count) * i128::from(extreme), min, max };
                assert_eq!(state.finish()[..3], [Statistics::EMPTY, expected, Statistics::EMPTY], "{level:?}");
            }
        }
    }

    #[test]
    fn one_call_may_hold_more_than_a_slot() {
        let rows = ROOM + 1;
        let values = vec![i16::MIN; rows];
        let mut state = GroupStatistics::new();
        state.grow(1);
        state.rows(Level::best(), &vec![0; rows], Values::I16(&values)).unwrap();
        state.runs(Level::best(), &[Run { code: 0, rows: rows as u32 }], Values::I16(&values)).unwrap();
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
                assert_eq!(state.add(3, &Statistics::EMPTY), Err(UnknownGroup));
            });
        }
    }
}
