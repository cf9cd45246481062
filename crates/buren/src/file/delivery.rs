//! Delivers the selected rows of a row group in batches of a few thousand rows, which stay in the first-level cache
//! until the sink has processed them. The columns of conjuncts are decoded first; other columns are decoded only where
//! rows are left.

use super::column::{BATCH_ROWS, BlockPosition};
use super::reader::Reader;
use super::scanner::{FileScanner, column_statistics, is_met};
use crate::integers::{BLOCK_ROWS, GROUP_ROWS};
use crate::slots::with_slots;
use brc_core::{Batch, Column, ColumnStatistics, Conjunct, Integers, Predicate, PruneResult, Result, Scanned, Sink};
use brc_kernels::filter::{valid_bits, words};
use std::ops::Range;

/// A range of rows of a row group to deliver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RowRange {
    pub(super) rows: Range<usize>,
    /// Whether the predicate is not known to be true for all of them.
    pub(super) needs_filter: bool,
}

/// The number of columns of a batch that need no heap memory.
const COLUMNS: usize = 8;

/// The ranges to deliver, consumed batch by batch in row order.
struct SelectedRanges<'a> {
    /// The ranges that do not end before the current batch.
    left: &'a [RowRange],
}

/// The number of selected rows of a batch.
#[derive(Debug, PartialEq, Eq)]
struct BatchSelection {
    rows: usize,
    /// Whether the predicate is not known to be true for all of them.
    needs_filter: bool,
}

/// The indices of the conjuncts to test.
#[derive(Default)]
struct Tests {
    /// For rows that may not match the predicate.
    if_unverified: Vec<usize>,
    /// For rows that are known to match it.
    if_verified: Vec<usize>,
}

impl<'a> SelectedRanges<'a> {
    /// Drops the ranges that end at or before `start`; returns the rest.
    fn from(&mut self, start: usize) -> &'a [RowRange] {
        while let [first, rest @ ..] = self.left
            && first.rows.end <= start
        {
            self.left = rest;
        }
        self.left
    }

    /// The selected ranges within `rows`. Must be called in ascending row order.
    fn within(&mut self, rows: Range<usize>) -> impl Iterator<Item = Range<usize>> + use<'a> {
        let (start, end) = (rows.start, rows.end);
        let in_rows = self.from(start).iter().take_while(move |range| range.rows.start < end);
        in_rows.map(move |range| range.rows.start.max(start)..range.rows.end.min(end))
    }

    /// The number of selected rows within `rows`.
    fn count(&mut self, rows: &Range<usize>) -> usize {
        self.within(rows.clone()).map(|rows| rows.len()).sum()
    }

    /// Sets the bits of the selected rows of a batch and clears the others.
    fn select(&mut self, batch: &Range<usize>, bits: &mut [u64]) -> BatchSelection {
        bits.fill(0);
        let mut found = BatchSelection { rows: 0, needs_filter: false };
        for range in self.from(batch.start).iter().take_while(|range| range.rows.start < batch.end) {
            let rows = range.rows.start.max(batch.start) - batch.start..range.rows.end.min(batch.end) - batch.start;
            found.rows += rows.len();
            found.needs_filter |= range.needs_filter;
            set(bits, rows);
        }
        found
    }
}

/// Sets the bits of a range.
fn set(bits: &mut [u64], rows: Range<usize>) {
    if rows.is_empty() {
        return;
    }
    let (first, last) = (rows.start / 64, (rows.end - 1) / 64);
    let (from_first, to_last) = (u64::MAX << (rows.start % 64), u64::MAX >> (63 - (rows.end - 1) % 64));
    if first == last {
        bits[first] |= from_first & to_last;
        return;
    }
    bits[first] |= from_first;
    bits[first + 1..last].fill(u64::MAX);
    bits[last] |= to_last;
}

impl Reader {
    /// The number of rows of a block.
    fn rows_of_block(&self, index: usize, number: usize) -> usize {
        BLOCK_ROWS.min(self.row_group(index).rows as usize - number * BLOCK_ROWS)
    }

    /// The statistics of columns in a block of a row group with this cluster key.
    fn statistics_of_block<'r>(
        &'r self,
        index: usize,
        key: Option<usize>,
        number: usize,
    ) -> impl Fn(usize) -> ColumnStatistics<'r> {
        move |column| match self.chunk(index, column) {
            Some(_) if Some(column) == key => self.statistics_of(index, column),
            Some(chunk) => match chunk.blocks.get(number) {
                Some(block) => {
                    let rows = self.rows_of_block(index, number) as u32;
                    column_statistics(chunk.statistics_of_block(number), block.nulls, rows)
                }
                None => ColumnStatistics::UNKNOWN,
            },
            None => ColumnStatistics::UNKNOWN,
        }
    }
}

impl FileScanner<'_> {
    /// Delivers ranges of rows of a row group, except in blocks that the predicate prunes. If the row group is
    /// clustered, `key` is its cluster key, and its runs have been loaded.
    pub(super) fn deliver(
        &mut self,
        index: usize,
        key: Option<usize>,
        ranges: &[RowRange],
        sink: &mut dyn Sink,
        scanned: &mut Scanned,
    ) -> Result<()> {
        let of_block = |number: usize| self.reader.statistics_of_block(index, key, number);
        let rows_of = |number: usize| self.reader.rows_of_block(index, number);
        let all = self.reader.row_group(index).rows as usize;
        let blocks = self.unpruned_blocks(index, key, ranges);
        self.expect_blocks(index, key, &blocks);
        let of_blocks: usize = blocks.iter().map(|(_, rows)| rows).sum();
        let selected_rows: usize = ranges.iter().map(|range| range.rows.len()).sum();
        scanned.skipped_rows += (selected_rows - of_blocks) as u64;
        let expected = if of_blocks > 0 { self.expected_rows(of_blocks, all) } else { 0 };
        let runs = std::mem::take(&mut self.runs.runs);
        let current_runs = key.map(|_| &runs);
        let mut selected = SelectedRanges { left: ranges };
        let delivered = blocks.into_iter().try_for_each(|(block, rows)| {
            let at = BlockPosition { row_group: index, expected, block, rows: rows_of(block), runs: current_runs };
            let mut tests = Tests::default();
            for (test, conjunct) in self.options.conjuncts.iter().enumerate() {
                let is_pushed_down = self.is_pushed_down(conjunct);
                let is_of_key = key.is_some_and(|key| conjunct.columns == [key] && is_pushed_down);
                let is_later = self.met.is_some() && conjunct.columns.is_empty();
                if is_of_key && self.runs.key_position.is_some() || is_met(conjunct, of_block(block)) || is_later {
                    continue;
                }
                tests.if_unverified.push(test);
                if !is_pushed_down {
                    tests.if_verified.push(test);
                }
            }
            scanned.rows += rows as u64;
            self.deliver_block(at, &mut selected, &tests, sink)
        });
        self.runs.runs = runs;
        delivered
    }

    /// The blocks of a row group that have selected rows and are not pruned, each with its number of selected rows.
    pub(super) fn unpruned_blocks(&self, index: usize, key: Option<usize>, ranges: &[RowRange]) -> Vec<(usize, usize)> {
        let mut selected = SelectedRanges { left: ranges };
        let needs_filter = ranges.iter().any(|range| range.needs_filter);
        let all = self.reader.row_group(index).rows as usize;
        let blocks = (0..all.div_ceil(BLOCK_ROWS)).map(|number| {
            let start = number * BLOCK_ROWS;
            (number, selected.count(&(start..start + self.reader.rows_of_block(index, number))))
        });
        let is_pruned = |number| {
            needs_filter && self.decide(self.reader.statistics_of_block(index, key, number)) == PruneResult::Never
        };
        blocks.filter(|&(number, rows)| rows > 0 && !is_pruned(number)).collect()
    }

    /// Whether the conjunct is part of the predicate, so that rows known to match the predicate satisfy it.
    fn is_pushed_down(&self, conjunct: &Conjunct) -> bool {
        match (&self.options.predicate, &conjunct.predicate) {
            (Some(Predicate::And(parts)), Some(predicate)) => parts.contains(predicate),
            (Some(all), Some(predicate)) => all == predicate,
            (None, _) | (_, None) => false,
        }
    }

    fn deliver_block(
        &mut self,
        at: BlockPosition<'_>,
        selected: &mut SelectedRanges<'_>,
        tests: &Tests,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        let start = at.block * BLOCK_ROWS;
        let mut bits = [0; BATCH_ROWS / 64];
        for first in (0..at.rows).step_by(BATCH_ROWS) {
            let batch = first..at.rows.min(first + BATCH_ROWS);
            if self.options.conjuncts.is_empty() {
                for range in selected.within(start + batch.start..start + batch.end) {
                    let rows = range.start - start..range.end - start;
                    self.ensure_all_decoded(at, &rows)?;
                    self.pass_on(&rows, |batch| sink.batch(batch))?;
                }
                continue;
            }
            let bits = &mut bits[..words(batch.len())];
            let found = selected.select(&(start + batch.start..start + batch.end), bits);
            if found.rows > 0 {
                let tests = if found.needs_filter { &tests.if_unverified } else { &tests.if_verified };
                self.deliver_groups(at, batch, tests, bits, sink)?;
            }
        }
        Ok(())
    }

    /// Delivers the selected rows of a batch that satisfy the given conjuncts. Groups without a selected row are not
    /// decoded.
    fn deliver_groups(
        &mut self,
        at: BlockPosition<'_>,
        batch: Range<usize>,
        tests: &[usize],
        rows: &mut [u64],
        sink: &mut dyn Sink,
    ) -> Result<()> {
        const WORDS: usize = GROUP_ROWS / 64;
        let mut have_rows = [false; BATCH_ROWS.div_ceil(GROUP_ROWS)];
        let groups = have_rows.iter_mut().zip(rows.chunks(WORDS));
        groups.for_each(|(has_rows, group)| *has_rows = group.iter().any(|&word| word != 0));
        let mut first = 0;
        for groups in have_rows[..rows.len().div_ceil(WORDS)].chunk_by(|one, other| one == other) {
            let words = first..rows.len().min(first + groups.len() * WORDS);
            first = words.end;
            if groups[0] {
                let part = batch.start + words.start * 64..batch.end.min(batch.start + words.end * 64);
                self.deliver_rows(at, part, tests, &mut rows[words], sink)?;
            }
        }
        Ok(())
    }

    /// Evaluates the first conjunct on some rows. Without conjuncts, delivers the rows, or records them if they must be
    /// put back in order first.
    fn deliver_rows(
        &mut self,
        at: BlockPosition<'_>,
        part: Range<usize>,
        tests: &[usize],
        rows: &mut [u64],
        sink: &mut dyn Sink,
    ) -> Result<()> {
        let Some((&test, later)) = tests.split_first() else {
            if let Some(met) = &mut self.met {
                let first = (at.block * BLOCK_ROWS + part.start) / 64;
                met[first..first + rows.len()].copy_from_slice(rows);
                return Ok(());
            }
            self.ensure_all_decoded(at, &part)?;
            let is_all = rows.iter().enumerate().all(|(index, &word)| word == valid_bits(part.len(), index));
            return self.pass_on(&part, |batch| sink.tested(batch, (!is_all).then_some(rows)));
        };
        for index in 0..self.tested[test].len() {
            let position = self.tested[test][index];
            self.ensure_decoded(position, at, &part, false)?;
            if self.met.is_some() && sink.wants(position) && self.key_of(position).is_none() {
                self.keep(position, at, &part);
            }
        }
        let columns: Vec<_> = self.tested[test].iter().map(|&position| self.rows_of(position, &part)).collect();
        if sink.test(test, &Batch { rows: part.len(), columns: &columns }, rows)? == 0 {
            return Ok(());
        }
        self.deliver_groups(at, part, later, rows, sink)
    }

    /// Decodes rows of a column from the start of their group, unless that has been done. A cluster key may be
    /// delivered as runs.
    fn ensure_decoded(
        &mut self,
        position: usize,
        at: BlockPosition<'_>,
        rows: &Range<usize>,
        as_runs: bool,
    ) -> Result<()> {
        match at.runs {
            Some(runs) if self.key_of(position).is_some() => {
                let start = at.block * BLOCK_ROWS;
                self.runs.key.set_rows(runs, start + rows.start..start + rows.end, rows.clone(), as_runs);
                Ok(())
            }
            _ => {
                let rows = rows.start / GROUP_ROWS * GROUP_ROWS..rows.end;
                self.columns[position].ensure_decoded(at, &rows, &mut self.cost)
            }
        }
    }

    /// Decodes rows of all columns.
    fn ensure_all_decoded(&mut self, at: BlockPosition<'_>, rows: &Range<usize>) -> Result<()> {
        (0..self.columns.len()).try_for_each(|position| self.ensure_decoded(position, at, rows, true))
    }

    /// Keeps decoded rows of a column for putting the matching rows back in order.
    fn keep(&mut self, position: usize, at: BlockPosition<'_>, rows: &Range<usize>) {
        let (column, start) = (&self.columns[position], at.block * BLOCK_ROWS);
        let of_row_group = start + rows.start..start + rows.end;
        self.clustered[position].keep(&column.rows(rows), of_row_group, column.values_in(at.row_group));
    }

    /// The decoded rows of a column.
    fn rows_of(&self, position: usize, rows: &Range<usize>) -> Column<'_> {
        match self.key_of(position) {
            Some(key) => self.runs.key.rows(rows, key.dictionary()),
            None => self.columns[position].rows(rows),
        }
    }

    /// Passes decoded rows of all columns to `sink`.
    fn pass_on(&self, rows: &Range<usize>, sink: impl FnOnce(&Batch<'_>) -> Result<()>) -> Result<()> {
        let filler = Column::integers(Integers::I16(&[]));
        with_slots::<_, COLUMNS, _>(self.columns.len(), filler, |columns| {
            columns.iter_mut().enumerate().for_each(|(position, slot)| *slot = self.rows_of(position, rows));
            sink(&Batch { rows: rows.len(), columns })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rows_of_ranges_are_selected(
            lengths in prop::collection::vec((0usize..200, 1usize..200, any::<bool>()), 0..20),
            batch in 1usize..300,
        ) {
            let mut end = 0;
            let range = |&(gap, rows, needs_filter): &(usize, usize, bool)| {
                let start = end + gap;
                end = start + rows;
                RowRange { rows: start..end, needs_filter }
            };
            let ranges: Vec<_> = lengths.iter().map(range).collect();
            let of_row = |row: usize| ranges.iter().find(|range| range.rows.contains(&row));
            let (mut selected, mut counted) = (SelectedRanges { left: &ranges }, SelectedRanges { left: &ranges });
            for start in (0..end + 100).step_by(batch) {
                let rows = start..start + batch;
                let mut bits = vec![u64::MAX; words(batch)];
                let found = selected.select(&rows, &mut bits);
                for row in rows.clone() {
                    let bit = bits[(row - start) / 64] >> ((row - start) % 64) & 1;
                    prop_assert_eq!(bit == 1, of_row(row).is_some());
                }
                let in_batch: Vec<_> = rows.clone().filter_map(of_row).collect();
                let needs_filter = in_batch.iter().any(|range| range.needs_filter);
                prop_assert_eq!(&found, &BatchSelection { rows: in_batch.len(), needs_filter });
                prop_assert_eq!(bits.iter().map(|word| word.count_ones() as usize).sum::<usize>(), in_batch.len());
                prop_assert_eq!(counted.count(&rows), in_batch.len());
            }
        }
    }
}
