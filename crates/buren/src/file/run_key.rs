//! The values of a cluster key during a scan: one per run, so that rows need not be decoded.

use super::column::ScanColumn;
use super::decoded_rows::DecodedRows;
use super::decoder::DecodedStrings;
use super::runs::Runs;
use crate::block::Cost;
use brc_core::{Column, Dictionary, Result, Run};
use std::ops::Range;

/// The minimum average length of runs for delivering rows as runs; shorter ones are grouped as fast row by row.
const MIN_ROWS_PER_RUN: usize = 16;

/// The values of all runs, and the current rows.
#[derive(Default)]
pub(super) struct RunKey {
    values: DecodedRows,
    /// The position of the current rows in their block.
    rows: Range<usize>,
    /// The runs of the current rows.
    runs: Vec<Run>,
    /// Whether `runs` have codes of the dictionary; otherwise rows are expanded.
    is_runs: bool,
    expanded: DecodedRows,
    no_strings: DecodedStrings,
}

impl RunKey {
    /// Reads the values of all runs of a row group.
    pub(super) fn read(&mut self, column: &mut ScanColumn<'_>, row_group: usize, cost: &mut Cost) -> Result<()> {
        self.values.replace(column, row_group, None, cost)
    }

    /// The values of all runs.
    pub(super) fn values(&self) -> &DecodedRows {
        &self.values
    }

    /// Sets the current rows: `rows` of the row group are `of_block` in their block. Runs are kept if `as_runs` is set
    /// and they are long enough.
    pub(super) fn set_rows(&mut self, runs: &Runs, rows: Range<usize>, of_block: Range<usize>, as_runs: bool) {
        let count = rows.len();
        self.rows = of_block;
        runs.of_rows(rows, &mut self.runs);
        let codes = self.values.codes();
        let are_long = self.runs.len() <= count.div_ceil(MIN_ROWS_PER_RUN);
        self.is_runs = as_runs && are_long && !codes.is_empty() && !self.values.has_nulls();
        if self.is_runs {
            self.runs.iter_mut().for_each(|run| run.code = codes[run.code as usize]);
        } else {
            self.expanded.repeat(&self.values, &self.runs);
        }
    }

    /// Some of the current rows, given by their position in the block; all current rows if they are runs.
    pub(super) fn rows<'a>(&'a self, rows: &Range<usize>, dictionary: &'a Dictionary) -> Column<'a> {
        if self.is_runs {
            return Column::runs(&self.runs, dictionary);
        }
        let all = self.expanded.as_column(&self.no_strings, dictionary);
        all.slice(rows.start - self.rows.start..rows.end - self.rows.start, &[])
    }
}
