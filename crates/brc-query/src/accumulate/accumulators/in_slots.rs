//! States that only add up share rows of slots, so that a batch touches one row of memory for each group instead of one
//! for each state.

use super::{Accumulators, Counted, Kept};
use crate::keys::group_ids::GroupIds;
use crate::runtime::parallel;
use crate::states::slots::{Offer, SlotPosition};
use crate::states::{Accumulator, State, Values};
use crate::values::error::BatchError;
use brc_kernels::accumulate::table::{self, MAX_AT_ONCE, MAX_SLOTS, Operand, SlotTable};
use brc_kernels::cpu::Level;

/// What is in the slots of this many groups is gathered by several threads.
const MIN_GROUPS_FOR_PARALLEL_GATHER: usize = 1 << 14;

/// Integers up to this magnitude share the slot that counts rows, which has room for millions of them.
const MAX_COUNTED_INTEGER: u64 = 1 << 16;

/// What a batch adds to the slots of one table.
type Operands<'a> = Vec<(usize, Operand<'a>)>;

impl Accumulators {
    /// Gives slots to the states that add up, but for the one whose integers are counted together with rows.
    pub(super) fn lay_out(&mut self) {
        let sums = self.kept().filter(|kept| matches!(kept.state, State::Sums(_)));
        if let Some(kept) = sums.min_by_key(|kept| kept.index) {
            kept.place = Some(SlotPosition::WithRows);
        }
        self.lay_out_others();
    }

    /// Gives slots to the states that add up and have none yet.
    fn lay_out_others(&mut self) {
        let mut slots = vec![1];
        let mut shared = false;
        for Kept { state, place, .. } in self.kept().filter(|kept| kept.state.slots() > 0) {
            shared = true;
            if *place != Some(SlotPosition::WithRows) {
                *place = Some(next_place(&mut slots, state.slots()));
            }
        }
        self.tables = slots.into_iter().filter(|_| shared).map(SlotTable::new).collect();
    }

    /// Gives slots of its own to the state whose integers were counted together with rows: they are not small any more.
    fn part(&mut self, groups: usize) {
        self.gather(1);
        self.kept().filter(|kept| kept.place == Some(SlotPosition::WithRows)).for_each(|kept| kept.place = None);
        self.lay_out_others();
        self.tables.iter_mut().for_each(|table| table.grow(groups));
    }

    /// Adds values to the slots of the states that share rows of state.
    pub(super) fn share(
        &mut self,
        level: Level,
        rows: usize,
        ids: GroupIds<'_>,
        counted: &[Counted<'_>],
    ) -> Result<(), BatchError> {
        let Some(groups) = self.tables.first().map(SlotTable::groups) else { return Ok(()) };
        self.keep_small_apart(level, groups, counted)?;
        let mut of_all: Vec<Operands<'_>> = vec![Vec::new(); self.tables.len()];
        of_all[0].push((0, Operand::One));
        for (column, counted) in counted.iter().enumerate() {
            for state in 0..self.columns[column].states.len() {
                let Some(place) = self.columns[column].states[state].place else { continue };
                let operands = self.operands(level, (column, state), place, &counted.values)?;
                let kept = &mut self.columns[column].states[state].state;
                if counted.nulls || operands.is_none() {
                    kept.grow(groups);
                    // All rows are counted with the others.
                    kept.recount(ids, u64::wrapping_sub)?;
                }
                match (operands, place) {
                    (Some(mut operands), SlotPosition::WithRows) => {
                        of_all[0].splice(..1, operands.drain(..1)).for_each(drop);
                    }
                    (Some(operands), SlotPosition::Slots { table, .. }) if counted.nulls => {
                        kept.recount(counted.ids, u64::wrapping_add)?;
                        let values = counted.values[0].len();
                        self.tables[table].add(level, counted.ids.into(), values, &operands)?;
                    }
                    (Some(operands), SlotPosition::Slots { table, .. }) => of_all[table].extend(operands),
                    (None, _) => kept.add(level, counted.ids, &counted.values)?,
                }
            }
        }
        for (table, operands) in self.tables.iter_mut().zip(of_all).filter(|(_, operands)| !operands.is_empty()) {
            table.add(level, ids.into(), rows, &operands)?;
        }
        Ok(())
    }

    /// Moves integers that are counted together with rows to slots of their own as soon as they are not small.
    fn keep_small_apart(&mut self, level: Level, groups: usize, counted: &[Counted<'_>]) -> Result<(), BatchError> {
        for (column, counted) in self.columns.iter_mut().zip(counted) {
            for kept in column.states.iter_mut().filter(|kept| kept.place == Some(SlotPosition::WithRows)) {
                let offer = kept.state.offer(level, &counted.values)?;
                let rows = counted.values[0].len() as u64;
                let small = |(_, most): &(Operand<'_>, u64)| *most <= rows.saturating_mul(MAX_COUNTED_INTEGER);
                if counted.nulls || !matches!(offer, Offer::Slots(offered) if offered.iter().all(small)) {
                    self.part(groups);
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// What values add to the slots of a state; `None` if slots cannot hold them. What is in all slots may be taken
    /// over for that.
    fn operands<'a>(
        &mut self,
        level: Level,
        (column, state): (usize, usize),
        place: SlotPosition,
        values: &[Values<'a>],
    ) -> Result<Option<Operands<'a>>, BatchError> {
        for _ in 0..2 {
            match self.columns[column].states[state].state.offer(level, values)? {
                Offer::Unfit => return Ok(None),
                Offer::Slots(offered) if offered.iter().any(|(_, most)| *most > MAX_AT_ONCE) => return Ok(None),
                Offer::Slots(offered) => {
                    let (table, first, offered) = match place {
                        SlotPosition::Slots { table, first } => (table, first, offered),
                        SlotPosition::WithRows => (0, 0, offered.into_iter().map(with_rows).collect()),
                    };
                    let table = &mut self.tables[table];
                    let mut slots = (first..).zip(&offered);
                    if slots.all(|(slot, (operand, most))| reserve(table, slot, operand, *most)) {
                        let operands = (first..).zip(offered).map(|(slot, (operand, _))| (slot, operand));
                        return Ok(Some(operands.collect()));
                    }
                }
                Offer::Full => {}
            }
            self.gather(1);
        }
        Ok(None)
    }

    /// Lets the states take over what is in the tables.
    pub(super) fn gather(&mut self, threads: usize) {
        let Some(first) = self.tables.first() else { return };
        let with_rows = self.counts_with_rows();
        let rows = |slot: i64| if with_rows { table::Counted::of(slot).count } else { slot as u64 };
        let rows: Vec<u64> = first.slot(0).map(rows).collect();
        self.rows.others.grow(rows.len());
        self.rows.others.add_all(&rows);
        let kept = self.columns.iter_mut().flat_map(|column| &mut column.states);
        let mut placed: Vec<_> = kept.filter_map(|kept| Some((&mut kept.state, kept.place?))).collect();
        let threads = if rows.len() < MIN_GROUPS_FOR_PARALLEL_GATHER { 1 } else { threads };
        parallel::for_each(&mut placed, threads, |(state, place)| state.gather(&rows, &self.tables, *place));
        self.tables.iter_mut().for_each(SlotTable::clear);
    }

    /// Whether the first slot of all holds more than numbers of rows.
    fn counts_with_rows(&self) -> bool {
        self.columns.iter().flat_map(|it| &it.states).any(|it| it.place == Some(SlotPosition::WithRows))
    }

    /// Whether all there is lies in slots.
    pub(crate) fn are_in_slots(&self) -> bool {
        let in_slots = |kept: &Kept| kept.place.is_some() && kept.state.len() == 0;
        !self.tables.is_empty()
            && self.columns.iter().all(|column| column.states.iter().all(in_slots))
            && self.rows.others.are_zero()
    }

    /// Whether the slots of others may be [added](Accumulators::merge_slots) to these. All that both have must be
    /// [in slots](Accumulators::are_in_slots), and of the same groups.
    pub(crate) fn have_room_for(&mut self, other: &mut Self) -> bool {
        let states = self.columns.iter_mut().flat_map(|it| &mut it.states);
        let mut pairs = states.zip(other.columns.iter().flat_map(|it| &it.states));
        if self.tables.len() != other.tables.len()
            || !pairs.all(|(ours, theirs)| ours.place == theirs.place && ours.state.shares_slots_with(&theirs.state))
        {
            return false;
        }
        let with_rows = self.counts_with_rows();
        self.tables.iter_mut().zip(&mut other.tables).enumerate().all(|(number, (ours, theirs))| {
            let are_like = ours.slots() == theirs.slots() && ours.groups() == theirs.groups();
            are_like
                && (0..ours.slots()).all(|slot| {
                    let is_counted = with_rows && (number, slot) == (0, 0);
                    ours.has_room_for(theirs, slot)
                        || [&mut *ours, &mut *theirs].into_iter().all(|table| tighten(table, slot, is_counted))
                })
        })
    }

    /// Adds the slots of others, for which [there is room](Accumulators::have_room_for).
    pub(crate) fn merge_slots(&mut self, other: &Self) {
        self.tables.iter_mut().zip(&other.tables).for_each(|(ours, theirs)| ours.merge(theirs));
    }
}

/// The next slots, of tables that have this many.
fn next_place(tables: &mut Vec<usize>, wanted: usize) -> SlotPosition {
    if tables.last().is_none_or(|slots| slots + wanted > MAX_SLOTS) {
        tables.push(0);
    }
    let table = tables.len() - 1;
    let first = tables[table];
    tables[table] += wanted;
    SlotPosition::Slots { table, first }
}

/// Whether a batch of which the operands of a slot come together to `most` may be added; room is made if that is easy.
fn reserve(table: &mut SlotTable, slot: usize, operand: &Operand<'_>, most: u64) -> bool {
    let is_counted = matches!(operand, Operand::Counted(_));
    table.reserve(slot, most) || (most <= MAX_AT_ONCE && tighten(table, slot, is_counted) && table.reserve(slot, most))
}

/// Makes room in a slot, which holds [`Counted`](table::Counted) words or plain sums; `false` if less than half is free
/// afterwards.
fn tighten(table: &mut SlotTable, slot: usize, is_counted: bool) -> bool {
    match is_counted {
        true => table.tighten(slot, |sum| table::Counted::of(sum).size()),
        false => table.tighten(slot, i64::unsigned_abs),
    }
}

/// Counts integers together with rows.
fn with_rows((operand, most): (Operand<'_>, u64)) -> (Operand<'_>, u64) {
    match operand {
        Operand::Integers(values) => (Operand::Counted(values), table::Counted::room(values.len(), most)),
        other => (other, u64::MAX),
    }
}
