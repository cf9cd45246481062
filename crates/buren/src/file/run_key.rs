//! The values of a cluster key while its row group is read: one for each run, which rows have without being decoded.

use super::column::ScanColumn;
use super::decoder::DecodedStrings;
use super::rows::Rows;
use super::runs::Runs;
use crate::block::Cost;
use brc_core::{Column, Dictionary, Result, Run};
use std::ops::Range;

/// Rows that come as runs have so many in a run on average: shorter ones are grouped as fast one by one.
const MIN_ROWS_OF_A_RUN: usize = 16;

/// The values of all runs, and the rows at hand.
#[derive(Default)]
pub(super) struct RunKey {
    values: Rows,
    /// Where in their block the rows at hand are.
    rows: Range<usize>,
    /// The runs of the rows at hand.
    runs: Vec<Run>,
    /// Whether codes of the runs are those of the dictionary; else rows are written out.
    is_runs: bool,
    written_out: Rows,
    no_strings: DecodedStrings,
}

impl RunKey {
    /// Reads the values of all runs of a row group.
    pub(super) fn read(&mut self, column: &mut ScanColumn<'_>, row_group: usize, cost: &mut Cost) -> Result<()> {
        self.values.replace(column, row_group, None, cost)
    }

    /// Those of all runs.
    pub(super) fn values(&self) -> &Rows {
        &self.values
    }

    /// Takes rows of the row group in hand, which are these ones of their block; as runs, if that is possible and wanted.
    pub(super) fn bring(&mut self, runs: &Runs, rows: Range<usize>, of_block: Range<usize>, as_runs: bool) {
        let count = rows.len();
        self.rows = of_block;
        runs.of_rows(rows, &mut self.runs);
        let codes = self.values.codes();
        let are_long = self.runs.len() <= count.div_ceil(MIN_ROWS_OF_A_RUN);
        self.is_runs = as_runs && are_long && !codes.is_empty() && !self.values.has_nulls();
        if self.is_runs {
            self.runs.iter_mut().for_each(|run| run.code = codes[run.code as usize]);
        } else {
            self.written_out.repeat(&self.values, &self.runs);
        }
    }

    /// The rows at hand, which these are some of their block; all of them, if they come as runs.
    pub(super) fn rows<'a>(&'a self, rows: &Range<usize>, dictionary: &'a Dictionary) -> Column<'a> {
        if self.is_runs {
            return Column::runs(&self.runs, dictionary);
        }
        let all = self.written_out.lend(&self.no_strings, dictionary);
        all.slice(rows.start - self.rows.start..rows.end - self.rows.start, &[])
    }
}
