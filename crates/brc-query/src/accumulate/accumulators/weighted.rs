//! Updates by (value, count) rows, which a table with stored value counts delivers.

use super::{Accumulators, Counted, Kept};
use crate::keys::group_ids::GroupIds;
use crate::values::error::BatchError;
use crate::values::selection::Selection;
use brc_core::Batch;
use brc_kernels::cpu::Level;

impl Accumulators {
    /// Adds the selected rows of a batch that has all columns of the plan, whose groups are `ids` and
    /// `weights` their counts. There are `groups` by now.
    pub(crate) fn update_weighted(
        &mut self,
        level: Level,
        batch: &Batch<'_>,
        selection: Selection<'_>,
        (ids, weights): (&[u32], &[u32]),
        groups: usize,
    ) -> Result<(), BatchError> {
        self.grow_rows(groups);
        if self.rows.state.is_none() {
            self.rows.others.add_sets(ids, weights)?;
        }
        let places: Vec<u32> = (0..ids.len() as u32).collect();
        for (column, memory) in self.columns.iter_mut().zip(&mut self.memory) {
            let Counted { ids: left, values, nulls } =
                column.counted(level, batch, selection, GroupIds::Rows(&places), memory)?;
            let (GroupIds::Rows(left), [values]) = (left, &values[..]) else {
                return Err(BatchError("pairs of values stand for others"));
            };
            let of_left = |all: &[u32]| left.iter().map(|&place| all[place as usize]).collect::<Vec<_>>();
            let (its_ids, its_weights) = (of_left(ids), of_left(weights));
            for Kept { index, state, .. } in &mut column.states {
                state.grow(groups);
                state.add_weighted(level, &its_ids, &its_weights, *values)?;
                if self.rows.state == Some(*index) && nulls {
                    self.rows.others.add_sets(ids, weights)?;
                    self.rows.others.subtract_sets(&its_ids, &its_weights)?;
                }
            }
        }
        Ok(())
    }
}
