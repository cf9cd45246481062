//! The answer that groups give: few rows are made at once, many when they are read.

use super::key_order::{KeyOrder, Part};
use super::lazy_result::LongAnswer;
use super::result::QueryResult;
use super::{Answered, MIN_ROWS_FOR_LAZY_RESULT};
use crate::accumulate::partial::Partial;
use crate::finish::groups::Groups;
use crate::plan::Plan;
use crate::runtime::parallel;
use crate::scan::totals::ScanTotals;
use brc_core::Result;
use std::time::Instant;

impl Plan {
    /// The answer that groups give in the order of their keys, which began to be made at `start`.
    pub(crate) fn in_key_order(
        &self,
        order: KeyOrder,
        threads: usize,
        mut totals: ScanTotals,
        start: Instant,
    ) -> Result<Answered> {
        let first = order.first_parts(self, MIN_ROWS_FOR_LAZY_RESULT, threads)?;
        totals.groups = order.groups();
        totals.regroup_time = start.elapsed();
        if totals.groups >= MIN_ROWS_FOR_LAZY_RESULT {
            return Ok(Answered::Long(Box::new(LongAnswer::in_key_order(self, order, first, totals)?)));
        }
        self.answer_of_blocks(&first, threads, totals, start)
    }

    /// The answer that groups give in the order of their keys, which began to be made at `start`.
    pub(crate) fn answer_of_parts(
        &self,
        parts: Vec<Part>,
        threads: usize,
        totals: ScanTotals,
        start: Instant,
    ) -> Result<Answered> {
        match totals.groups >= MIN_ROWS_FOR_LAZY_RESULT {
            true => Ok(Answered::Long(Box::new(LongAnswer::of_parts(self, parts, totals)?))),
            false => self.answer_of_blocks(&parts, threads, totals, start),
        }
    }

    /// The same where they are few.
    fn answer_of_blocks(&self, parts: &[Part], threads: usize, totals: ScanTotals, start: Instant) -> Result<Answered> {
        let blocks =
            parallel::try_map(parts.len(), threads, |part| parts[part].blocks(self).collect::<Result<Vec<_>>>())?;
        let answer = QueryResult::of_blocks(self, blocks.into_iter().flatten().collect(), totals);
        Ok(Answered::held(answer).sorted_in(start.elapsed()))
    }

    /// The answer that groups give: settled partials that have no group in common. They began to be grouped at `start`.
    pub(crate) fn answer_of(
        &self,
        partials: Vec<Partial>,
        threads: usize,
        totals: ScanTotals,
        start: Instant,
    ) -> Result<Answered> {
        if totals.groups < MIN_ROWS_FOR_LAZY_RESULT || self.distinct {
            let answer = Answered::held(QueryResult::of_groups(self, partials, threads, totals)?);
            return Ok(answer.sorted_in(start.elapsed()));
        }
        let sorted = Groups::new(self, &partials).in_order(threads)?;
        let answer = Answered::Long(Box::new(LongAnswer::of_groups(self, partials, sorted, totals)?));
        Ok(answer.sorted_in(start.elapsed()))
    }
}
