//! The answer that groups give: few rows are made at once, many when they are read.

use super::key_order::{KeyOrder, Part, Parts};
use super::sorted_runs::no_cells;
use super::source::Source;
use super::{Answer, MIN_ROWS_FOR_LAZY_RESULT};
use crate::accumulate::partial::Partial;
use crate::finish::groups::{BLOCK, Groups, kind_of};
use crate::plan::Plan;
use crate::runtime::parallel;
use crate::scan::totals::ScanTotals;
use crate::values::cells::Cells;
use brc_core::Result;
use std::collections::HashSet;
use std::time::Instant;

/// Few rows are computed in about this many blocks in parallel, because some rows, such as medians, take long.
const BLOCKS: usize = 8;

/// About how many rows such a block has at least.
const SMALL_BLOCK: usize = 1 << 10;

impl Plan {
    /// The answer that groups give in the order of their keys, which began to be made at `start`.
    pub(crate) fn in_key_order(
        &self,
        order: KeyOrder,
        threads: usize,
        mut totals: ScanTotals,
        start: Instant,
    ) -> Result<Answer> {
        let made = order.first_parts(self, MIN_ROWS_FOR_LAZY_RESULT, threads)?;
        totals.groups = order.groups();
        totals.merge_time = start.elapsed();
        self.answer_of_parts(made, Some(order), threads, totals, start)
    }

    /// The same where the first parts are made, and the others are still to be.
    pub(crate) fn answer_of_parts(
        &self,
        made: Vec<Part>,
        rest: Option<KeyOrder>,
        threads: usize,
        totals: ScanTotals,
        start: Instant,
    ) -> Result<Answer> {
        if totals.groups >= MIN_ROWS_FOR_LAZY_RESULT {
            let parts = Parts { plan: self.clone(), made, rest };
            return Answer::new(self, Source::Parts(Box::new(parts)), totals);
        }
        let blocks = |part: usize| made[part].blocks(self).collect::<Result<Vec<_>>>();
        let blocks = parallel::try_map(made.len(), threads, blocks)?;
        let source = Source::in_memory(blocks.into_iter().flatten().collect());
        Ok(Answer::new(self, source, totals)?.sorted_in(start.elapsed()))
    }

    /// The answer that groups give: prepared partials that have no group in common. They began to be grouped at `start`.
    pub(crate) fn answer_of(
        &self,
        partials: Vec<Partial>,
        threads: usize,
        totals: ScanTotals,
        start: Instant,
    ) -> Result<Answer> {
        let groups = Groups::new(self, &partials);
        let places = groups.in_order(threads)?;
        let source = if totals.groups < MIN_ROWS_FOR_LAZY_RESULT || self.distinct {
            let blocks: Vec<_> = places.chunks((places.len() / BLOCKS).clamp(SMALL_BLOCK, BLOCK)).collect();
            let block = |number: usize| Ok((blocks[number].len(), groups.rows(blocks[number])?));
            let blocks = parallel::try_map(blocks.len(), threads, block)?;
            Source::in_memory(if self.distinct { vec![first_of_their_kind(self, &blocks)] } else { blocks })
        } else {
            Source::Groups { plan: Box::new(self.clone()), partials, places }
        };
        Ok(Answer::new(self, source, totals)?.sorted_in(start.elapsed()))
    }
}

/// The rows that are the first of their kind, as far as they are wanted.
fn first_of_their_kind(plan: &Plan, blocks: &[(usize, Vec<Cells>)]) -> (usize, Vec<Cells>) {
    let mut known = HashSet::new();
    let rows = blocks.iter().flat_map(|(rows, cells)| (0..*rows).map(move |row| (cells, row)));
    let new = rows.filter(|(cells, row)| known.insert(kind_of(plan, |column| cells[column].get(*row))));
    let skipped = usize::try_from(plan.offset).unwrap_or(usize::MAX);
    let wanted = plan.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    let (mut kept, mut all) = (0, no_cells(plan));
    for (cells, row) in new.skip(skipped).take(wanted) {
        for (kept, cells) in all.iter_mut().zip(cells) {
            kept.push(cells.get(row));
        }
        kept += 1;
    }
    (kept, all)
}
