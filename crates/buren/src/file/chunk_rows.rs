//! The rows of a column chunk while it is written: their blocks and runs, and what is stored in place of nulls.

use crate::integer_buffer::{IntegerBuffer, for_buffers};
use crate::integer_slice::IntegerSlice;
use crate::integers::{self, BLOCK_ROWS};
use crate::run_statistics::RunStatistics;
use brc_core::Bitmap;
use std::ops::Range;

/// The rows of a chunk.
#[derive(Clone, Copy)]
pub(super) struct ChunkRows<'a> {
    /// The number of values.
    pub(super) count: usize,
    pub(super) validity: Option<Bitmap<'a>>,
    pub(super) runs: RunLayout<'a>,
}

/// How the values of a chunk relate to the runs of a clustered row group.
#[derive(Clone, Copy)]
pub(super) enum RunLayout<'a> {
    /// The row group is not clustered.
    None,
    /// One value per run of these lengths: the chunk of the cluster key.
    PerRun(&'a [u32]),
    /// One value per row, in runs of these lengths.
    PerRow(&'a [u32]),
}

impl<'a> ChunkRows<'a> {
    pub(super) fn is_valid(self, row: usize) -> bool {
        self.validity.is_none_or(|validity| validity.get(row))
    }

    pub(super) fn blocks(self) -> impl Iterator<Item = Range<usize>> + use<> {
        (0..self.count).step_by(BLOCK_ROWS).map(move |start| start..self.count.min(start + BLOCK_ROWS))
    }

    /// The run statistics of integers without nulls, if they are small enough to be stored.
    pub(super) fn indexed(self, values: IntegerSlice<'_>) -> Option<Indexed<'a>> {
        let (RunLayout::PerRow(runs), None) = (self.runs, self.validity) else { return None };
        let (statistics, of_blocks) = RunStatistics::with_blocks(values, runs, BLOCK_ROWS);
        Indexed::new(values, runs, statistics, of_blocks)
    }

    /// Like `indexed`, for integers with nulls; fills nulls with the minimum of their run. `of_blocks` are the minimum
    /// and maximum of each block.
    pub(super) fn indexed_with_nulls(
        self,
        values: &mut IntegerBuffer,
        of_blocks: &[(i64, i64)],
    ) -> Option<Indexed<'a>> {
        let (RunLayout::PerRow(runs), Some(_)) = (self.runs, self.validity) else { return None };
        let smallest = of_blocks.iter().map(|block| block.0).min()?;
        let statistics = RunStatistics::of(values, runs, self.validity, smallest);
        let indexed = Indexed::new(values.slice(), runs, statistics, of_blocks.to_vec());
        if indexed.is_none() {
            self.fill_integers(values);
        }
        indexed
    }

    /// Like [`fill`](Self::fill), with 0 if all values are null.
    pub(super) fn fill_integers(self, values: &mut IntegerBuffer) {
        for_buffers!(values, values => self.fill(values, 0));
    }

    /// Replaces nulls with the minimum of their block; if the block has no values, with that of the chunk, or with
    /// `otherwise`.
    pub(super) fn fill<T: Copy + PartialOrd>(self, values: &mut [T], otherwise: T) {
        let Some(validity) = self.validity else { return };
        let smallest = |values: &[T], validity: Bitmap<'_>| {
            let valid = values.iter().zip(validity.iter()).filter(|(_, valid)| *valid).map(|(value, _)| *value);
            valid.reduce(|least, value| if value < least { value } else { least })
        };
        let of_chunk = smallest(values, validity).unwrap_or(otherwise);
        for of_block in self.blocks() {
            let validity = validity.slice(of_block.clone());
            let values = &mut values[of_block];
            let filler = smallest(values, validity).unwrap_or(of_chunk);
            for (value, _) in values.iter_mut().zip(validity.iter()).filter(|(_, valid)| !valid) {
                *value = filler;
            }
        }
    }

    /// The sum of all values that are not null, which cannot overflow.
    pub(super) fn sum_of_integers(self, values: IntegerSlice<'_>) -> Option<i128> {
        match (self.runs, self.validity) {
            (RunLayout::None | RunLayout::PerRow(_), None) => Some(values.statistics().sum),
            _ => self.sum(&values.wide()),
        }
    }

    /// The sum of all values that are not null; `None` if it overflows.
    pub(super) fn sum<T: Copy + Into<i128>>(self, values: &[T]) -> Option<i128> {
        let add = |sum: i128, value: &T| sum.checked_add((*value).into());
        if let RunLayout::PerRun(lengths) = self.runs {
            let mut valid = lengths.iter().zip(values).enumerate().filter(|(run, _)| self.is_valid(*run));
            return valid.try_fold(0, |sum: i128, (_, (&length, &value))| {
                sum.checked_add(value.into().checked_mul(length.into())?)
            });
        }
        match self.validity {
            None => values.iter().try_fold(0, add),
            Some(validity) => {
                let valid = values.iter().zip(validity.iter()).filter(|(_, valid)| *valid);
                valid.map(|(value, _)| value).try_fold(0, add)
            }
        }
    }
}

/// The run statistics of integers in a clustered row group.
pub(super) struct Indexed<'a> {
    /// The number of rows of each run.
    pub(super) runs: &'a [u32],
    pub(super) statistics: RunStatistics,
    /// The plan for storing the integers relative to the minimum of their run, with the bounds of the integers
    /// themselves.
    pub(super) in_runs: integers::Plan,
}

impl<'a> Indexed<'a> {
    /// `None` if the statistics are too large to be worth storing. `of_blocks` are the minimum and maximum of each
    /// block.
    fn new(
        values: IntegerSlice<'_>,
        runs: &'a [u32],
        statistics: RunStatistics,
        of_blocks: Vec<(i64, i64)>,
    ) -> Option<Self> {
        let all = of_blocks.iter().copied().reduce(|all, block| (all.0.min(block.0), all.1.max(block.1)))?;
        if !statistics.are_worth_it(all, values.len()) {
            return None;
        }
        let in_runs = integers::Plan::in_runs(values, (runs, &statistics.min), statistics.widest(), of_blocks);
        Some(Self { runs, statistics, in_runs })
    }
}
