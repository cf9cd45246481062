//! The states of all aggregates of a plan, updated by batches whose groups are known.

mod in_slots;
mod weighted;

use crate::accumulate::filtered_values::FilteredValues;
use crate::accumulate::partial::{Partial, Rows};
use crate::keys::group_ids::GroupIds;
use crate::keys::group_keys::GroupKeys;
use crate::plan::Plan;
use crate::states::slots::SlotPosition;
use crate::states::{Accumulator, State, Values};
use crate::values::error::BatchError;
use crate::values::selection::Selection;
use crate::values::view::both_valid;
use brc_core::{Batch, BitmapBuffer, Column, Summary};
use brc_kernels::accumulate::table::SlotTable;
use brc_kernels::cpu::Level;
use std::collections::HashMap;

/// The states, and how many rows each group has.
#[derive(Debug, Clone)]
pub(crate) struct Accumulators {
    rows: Rows,
    /// Whether the numbers of rows are wanted, and not just whether a group has rows.
    rows_are_asked_for: bool,
    /// At most this many groups have no rows yet.
    empty: usize,
    columns: Vec<Aggregated>,
    memory: Vec<Scratch>,
    /// The slots of the states that only add up; empty if there are none. The first slot of the first table counts
    /// rows.
    tables: Vec<SlotTable>,
}

/// Columns of which aggregates are computed together: one, or two for aggregates of pairs.
#[derive(Debug, Clone)]
struct Aggregated {
    /// Where they are in a batch.
    positions: Vec<usize>,
    states: Vec<Kept>,
}

/// What is kept of columns.
#[derive(Debug, Clone)]
struct Kept {
    /// Its index among all states of the plan.
    index: usize,
    state: State,
    /// Its slots in the tables, if it has some.
    place: Option<SlotPosition>,
}

/// Buffers for the values of a batch, used again for the next.
#[derive(Debug, Clone, Default)]
struct Scratch {
    first: FilteredValues,
    second: FilteredValues,
    /// Rows of which both columns have a value.
    both: BitmapBuffer,
}

/// The values of columns that count, and their groups.
struct Counted<'a> {
    ids: GroupIds<'a>,
    values: Vec<Values<'a>>,
    /// Some of the rows have none.
    nulls: bool,
}

impl Accumulators {
    /// No groups yet.
    pub(crate) fn new(plan: &Plan) -> Self {
        let mut new = Self::of_few_rows(plan);
        new.lay_out();
        new
    }

    /// The same for groups of which most have a single row: it would not pay to add up their values elsewhere first.
    pub(crate) fn of_few_rows(plan: &Plan) -> Self {
        let (batch, fields) = (plan.batch_columns(), plan.fields());
        let batch: HashMap<usize, usize> = batch.into_iter().zip(0..).collect();
        let mut columns: Vec<Aggregated> = Vec::new();
        let mut known = HashMap::new();
        for (index, (aggregated, kind)) in plan.states().into_iter().enumerate() {
            let state = State::new(kind, &aggregated, &fields);
            let kept = Kept { index, state, place: None };
            let place = |column| batch.get(&column).copied().unwrap_or(usize::MAX);
            let positions: Vec<usize> = aggregated.into_iter().map(place).collect();
            let place = *known.entry(positions.clone()).or_insert(columns.len());
            match columns.get_mut(place) {
                Some(column) => column.states.push(kept),
                None => columns.push(Aggregated { positions, states: vec![kept] }),
            }
        }
        let memory = columns.iter().map(|_| Scratch::default()).collect();
        let (rows, rows_are_asked_for) = (plan.rows(), plan.counts_rows());
        Self { rows, rows_are_asked_for, empty: 0, columns, memory, tables: Vec::new() }
    }

    fn kept(&mut self) -> impl Iterator<Item = &mut Kept> {
        self.columns.iter_mut().flat_map(|column| &mut column.states)
    }

    /// How many distinct values are kept to be counted.
    pub(crate) fn distinct_values(&self) -> usize {
        let kept = self.columns.iter().flat_map(|column| &column.states);
        kept.map(|kept| if let State::Distinct(distinct) = &kept.state { distinct.values() } else { 0 }).sum()
    }

    /// Whether rows of a batch may be of [no group](brc_kernels::accumulate::table::NO_GROUP): all states are sums of
    /// integers, of which none is null.
    pub(crate) fn ignore_others(&self, batch: &Batch<'_>) -> bool {
        let ignores = |kept: &Kept| kept.place.is_some() && matches!(kept.state, State::Sums(_) | State::WideSums(_));
        let has_nulls = |&position: &usize| batch.columns.get(position).is_some_and(Column::has_nulls);
        !self.tables.is_empty()
            && self.columns.iter().all(|it| it.states.iter().all(ignores) && !it.positions.iter().any(has_nulls))
    }

    /// Adds the selected rows of a batch that has all columns of the plan, whose groups are `ids`. There are
    /// `groups` of them by now.
    pub(crate) fn update(
        &mut self,
        level: Level,
        batch: &Batch<'_>,
        selection: Selection<'_>,
        ids: GroupIds<'_>,
        groups: usize,
    ) -> Result<(), BatchError> {
        self.grow_rows(groups);
        if self.rows.state.is_none() && self.tables.is_empty() {
            self.count_rows(ids)?;
        }
        self.tables.iter_mut().for_each(|table| table.grow(groups));
        let mut memory = std::mem::take(&mut self.memory);
        let counted = self.columns.iter().zip(&mut memory);
        let counted = counted.map(|(column, memory)| column.counted(level, batch, selection, ids, memory));
        let counted = counted.collect::<Result<Vec<_>, _>>()?;
        self.share(level, selection.wanted(batch.rows), ids, &counted)?;
        for (column, counted) in self.columns.iter_mut().zip(&counted) {
            for Kept { index, state, .. } in column.states.iter_mut().filter(|kept| kept.place.is_none()) {
                state.grow(groups);
                state.add(level, counted.ids, &counted.values)?;
                if self.rows.state == Some(*index) && counted.nulls {
                    self.rows.others.add(ids)?;
                    self.rows.others.subtract(counted.ids)?;
                }
            }
        }
        drop(counted);
        self.memory = memory;
        Ok(())
    }

    /// Makes room to count the rows of this many groups, the new ones being empty.
    fn grow_rows(&mut self, groups: usize) {
        self.empty += groups.saturating_sub(self.rows.others.len());
        self.rows.others.grow(groups);
    }

    /// Counts rows, as far as that is of interest.
    fn count_rows(&mut self, ids: GroupIds<'_>) -> Result<(), BatchError> {
        if self.rows_are_asked_for {
            return self.rows.others.add(ids);
        }
        if self.empty > 0 {
            self.empty -= self.rows.others.mark(ids)?;
        }
        Ok(())
    }

    /// Adds sets of rows of which only sums and bounds are known, to these groups.
    pub(crate) fn summarise(
        &mut self,
        level: Level,
        summary: &Summary<'_>,
        ids: &[u32],
        groups: usize,
    ) -> Result<(), BatchError> {
        self.grow_rows(groups);
        if self.rows.state.is_none() {
            self.rows.others.add_sets(ids, summary.rows)?;
        }
        for Aggregated { positions, states } in &mut self.columns {
            let column = positions.first().and_then(|&position| summary.columns.get(position));
            let column = column.ok_or(BatchError("a summary's column is not there"))?;
            for Kept { state, .. } in states {
                state.grow(groups);
                state.summaries(level, ids, summary.rows, column)?;
            }
        }
        Ok(())
    }

    /// The states of all groups that have these keys.
    pub(crate) fn finish(mut self, keys: Option<GroupKeys>, threads: usize) -> Partial {
        self.gather(threads);
        let mut states: Vec<Kept> = self.columns.into_iter().flat_map(|column| column.states).collect();
        states.sort_by_key(|kept| kept.index);
        Partial::new(keys, self.rows, states.into_iter().map(|kept| kept.state).collect())
    }
}

impl Aggregated {
    /// The values of the columns that count. Pairs of which one is null do not.
    fn counted<'a>(
        &self,
        level: Level,
        batch: &Batch<'a>,
        selection: Selection<'a>,
        ids: GroupIds<'a>,
        Scratch { first, second, both }: &'a mut Scratch,
    ) -> Result<Counted<'a>, BatchError> {
        let column = |position: usize| batch.columns.get(position).ok_or(BatchError("a column is not there"));
        match self.positions[..] {
            [one] => {
                let column = column(one)?;
                let (ids, values) = first.of(level, column, selection, ids);
                Ok(Counted { ids, values: vec![values], nulls: column.has_nulls() })
            }
            [one, other, ..] => {
                let (one, other) = (column(one)?, column(other)?);
                *both = both_valid(batch.rows, one.validity, other.validity);
                let nulls = one.has_nulls() || other.has_nulls();
                let [one, other] = [one, other].map(|column| column.with_validity(both.bitmap()));
                let (_, others) = second.of(level, &other, selection, ids);
                let (ids, values) = first.of(level, &one, selection, ids);
                Ok(Counted { ids, values: vec![values, others], nulls })
            }
            [] => Err(BatchError("an aggregate has no column")),
        }
    }
}
