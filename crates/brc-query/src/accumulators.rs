//! The states of all aggregates of a plan, as rows of known groups are added to them.

use crate::filter::Selection;
use crate::group::Malformed;
use crate::partial::{GroupKeys, Partial, Rows};
use crate::plan::Plan;
use crate::states::{Accumulator, GroupIds, State};
use crate::vector::both_valid;
use crate::wanted::Wanted;
use brc_core::{Batch, Summary};
use brc_kernels::cpu::Level;

/// The states, and how many rows each group has.
#[derive(Debug)]
pub(crate) struct Accumulators {
    rows: Rows,
    columns: Vec<Aggregated>,
    wanted: Wanted,
    /// The same for second arguments.
    others: Wanted,
}

/// Columns of which aggregates are computed together: one, or two for aggregates of pairs.
#[derive(Debug)]
struct Aggregated {
    /// Where they are in a batch.
    positions: Vec<usize>,
    /// What is kept of it, each with its place among all states of the plan.
    states: Vec<(usize, State)>,
}

impl Accumulators {
    /// No groups yet.
    pub(crate) fn new(plan: &Plan) -> Self {
        let (projection, fields) = (plan.batch_columns(), plan.fields());
        let mut columns: Vec<Aggregated> = Vec::new();
        for (index, (aggregated, kind)) in plan.states().into_iter().enumerate() {
            let state = (index, State::new(kind, &aggregated, &fields));
            let place = |column| projection.iter().position(|&projected| projected == column).unwrap_or(usize::MAX);
            let positions: Vec<usize> = aggregated.into_iter().map(place).collect();
            match columns.iter_mut().find(|column| column.positions == positions) {
                Some(column) => column.states.push(state),
                None => columns.push(Aggregated { positions, states: vec![state] }),
            }
        }
        Self { rows: plan.rows(), columns, wanted: Wanted::default(), others: Wanted::default() }
    }

    /// Adds the selected rows of a batch that has all columns of the plan, of which `ids` tells the groups. There are
    /// `groups` of them by now.
    pub(crate) fn update(
        &mut self,
        level: Level,
        batch: &Batch<'_>,
        selection: Selection<'_>,
        ids: GroupIds<'_>,
        groups: usize,
    ) -> Result<(), Malformed> {
        let Rows { state: counted_by, others } = &mut self.rows;
        others.grow(groups);
        if counted_by.is_none() {
            others.add(ids)?;
        }
        for Aggregated { positions, states } in &mut self.columns {
            let column = |position: usize| batch.columns.get(position).ok_or(Malformed("a column is not there"));
            let (first, second) = match positions[..] {
                [first] => (column(first)?, None),
                [first, second, ..] => (column(first)?, Some(column(second)?)),
                [] => return Err(Malformed("an aggregate has no column")),
            };
            let Some(second) = second else {
                let (with_values, values) = self.wanted.of(level, first, selection, ids);
                for (index, state) in states {
                    state.grow(groups);
                    state.update(level, with_values, values)?;
                    if *counted_by == Some(*index) && first.has_nulls() {
                        others.add(ids)?;
                        others.subtract(with_values)?;
                    }
                }
                continue;
            };
            // Pairs of which one is null do not count.
            let both = both_valid(batch.rows, first.validity, second.validity);
            let [first, second] = [first, second].map(|column| column.with_validity(both.bitmap()));
            let (with_values, values) = self.wanted.of(level, &first, selection, ids);
            let (_, others) = self.others.of(level, &second, selection, ids);
            for (_, state) in states {
                state.grow(groups);
                state.update_pairs(level, with_values, values, others)?;
            }
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
    ) -> Result<(), Malformed> {
        self.rows.others.grow(groups);
        if self.rows.state.is_none() {
            self.rows.others.add_sets(ids, summary.rows)?;
        }
        for Aggregated { positions, states } in &mut self.columns {
            let column = positions.first().and_then(|&position| summary.columns.get(position));
            let column = column.ok_or(Malformed("a summary's column is not there"))?;
            for (_, state) in states {
                state.grow(groups);
                state.summaries(level, ids, summary.rows, column)?;
            }
        }
        Ok(())
    }

    /// The states of all groups that have these keys.
    pub(crate) fn finish(self, keys: Option<GroupKeys>) -> Partial {
        let mut states: Vec<(usize, State)> = self.columns.into_iter().flat_map(|column| column.states).collect();
        states.sort_by_key(|(index, _)| *index);
        Partial::new(keys, self.rows, states.into_iter().map(|(_, state)| state).collect())
    }
}
