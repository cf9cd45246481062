//! States that only add up: while rows go by, they share one row of state for each group, and take over what is in it
//! when all rows have gone by, or when it becomes too large.

use super::{GroupIds, State, Values};
use crate::values::error::BatchError;
use brc_core::Integers;
use brc_kernels::accumulate::UnknownGroup;
use brc_kernels::accumulate::table::{Counted, Groups, NO_GROUP, Operand, SlotTable};
use brc_kernels::cpu::Level;

/// What values add to the slots of a state.
pub(crate) enum Offer<'a> {
    /// For each slot the values to add, and the largest possible magnitude of their sum.
    Slots(Vec<(Operand<'a>, u64)>),
    /// Nothing before the state has taken over what there is.
    Full,
    /// Slots cannot hold such values.
    Unfit,
}

/// A state that can share rows of state.
pub(crate) trait Gathered {
    /// How many slots it needs.
    fn slots(&self) -> usize;

    /// What values of its columns add to them.
    fn offer<'a>(&mut self, level: Level, values: &[Values<'a>]) -> Result<Offer<'a>, BatchError>;

    /// Takes over the sums of a group that is there, and this many rows.
    fn gather(&mut self, group: usize, rows: u64, sums: &[i64]);

    /// All groups have been gathered.
    fn gathered(&mut self) {}

    /// The number of values of a group, modulo 2⁶⁴.
    fn counts_mut(&mut self, group: usize) -> Option<&mut u64>;
}

/// Which slots a state has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SlotPosition {
    /// Those of a table from a first one on.
    Slots { table: usize, first: usize },
    /// The one in which rows are counted: for small integers without nulls, which there is room for.
    WithRows,
}

/// Evaluates an expression with the state if it can share rows of state, and another expression if not.
macro_rules! for_gathered {
    ($state:expr, $gathered:ident => $body:expr, $other:expr) => {
        match $state {
            State::Sums($gathered) => $body,
            State::WideSums($gathered) => $body,
            State::FloatSums($gathered) => $body,
            State::IntegerPairs($gathered) => $body,
            _ => $other,
        }
    };
}

impl State {
    /// How many slots it shares; 0 if it keeps all for itself.
    pub(crate) fn slots(&self) -> usize {
        for_gathered!(self, state => state.slots(), 0)
    }

    pub(crate) fn offer<'a>(&mut self, level: Level, values: &[Values<'a>]) -> Result<Offer<'a>, BatchError> {
        for_gathered!(self, state => state.offer(level, values), Ok(Offer::Unfit))
    }

    /// Whether what is in the slots of another worker's state may be added to what is in its own.
    pub(crate) fn shares_slots_with(&mut self, other: &Self) -> bool {
        match (self, other) {
            (Self::FloatSums(ours), Self::FloatSums(theirs)) => ours.shares_slots_with(theirs),
            (ours, _) => ours.slots() > 0,
        }
    }

    /// Takes over what is in its slots, where groups have this many rows.
    pub(crate) fn gather(&mut self, rows: &[u64], tables: &[SlotTable], place: SlotPosition) {
        self.grow(rows.len());
        for_gathered!(self, state => {
            let slots = state.slots();
            match place {
                SlotPosition::WithRows => {
                    for (group, (&rows, slot)) in rows.iter().zip(tables[0].slot(0)).enumerate() {
                        state.gather(group, rows, &[Counted::of(slot).sum]);
                    }
                }
                SlotPosition::Slots { table, first } => {
                    let mut sums = [0; brc_kernels::accumulate::table::MAX_SLOTS];
                    for (group, &rows) in rows.iter().enumerate() {
                        match tables[table].sums(group) {
                            Some(sums) => state.gather(group, rows, &sums[first..first + slots]),
                            None => {
                                (0..slots).for_each(|slot| sums[slot] = tables[table].sum(first + slot, group));
                                state.gather(group, rows, &sums[..slots]);
                            }
                        }
                    }
                }
            }
            state.gathered();
        }, ());
    }

    /// Changes the number of values of the groups of rows.
    pub(crate) fn recount(&mut self, groups: GroupIds<'_>, change: impl Fn(u64, u64) -> u64) -> Result<(), BatchError> {
        for_gathered!(self, state => {
            let mut recount = |group: u32, rows: u32| {
                let count = state.counts_mut(group as usize).ok_or(UnknownGroup)?;
                *count = change(*count, rows.into());
                Ok(())
            };
            match groups {
                GroupIds::Rows(groups) => {
                    groups.iter().filter(|&&group| group != NO_GROUP).try_for_each(|&group| recount(group, 1))
                }
                GroupIds::Runs(runs) => runs.iter().try_for_each(|run| recount(run.code, run.rows)),
            }
        }, Ok(()))
    }
}

impl<'a> From<GroupIds<'a>> for Groups<'a> {
    fn from(ids: GroupIds<'a>) -> Self {
        match ids {
            GroupIds::Rows(groups) => Self::Rows(groups),
            GroupIds::Runs(runs) => Self::Runs(runs),
        }
    }
}

/// Both columns of pairs, if they are of integers.
pub(super) fn integers<'a>(values: &[Values<'a>]) -> Option<[Integers<'a>; 2]> {
    let [one, other] = values else { return None };
    Some([one.integers().ok()?, other.integers().ok()?])
}
