//! The runs of a clustered row group: their lengths, and the runs of a range of rows.

use super::column::ScanColumn;
use super::decoded_rows::DecodedRows;
use super::reader::Reader;
use crate::block::Cost;
use crate::location::Location;
use brc_core::{Result, Run};
use brc_kernels::runs::Cursor;
use std::ops::Range;

/// The runs of a row group.
#[derive(Default)]
pub(super) struct Runs {
    /// The number of rows of each run.
    pub(super) lengths: Vec<u32>,
    /// The end (exclusive) of each run.
    ends: Vec<u32>,
}

impl Runs {
    /// Reads the runs of a clustered row group.
    ///
    /// # Errors
    /// If they cannot be read, or their lengths do not add up to the row group's.
    pub(super) fn load(reader: &Reader, row_group: usize, cost: &mut Cost) -> Result<Self> {
        let mut runs = Self::default();
        let mut lengths = ScanColumn::new(reader, reader.column(reader.footer.run_lengths())?);
        runs.replace((&mut lengths, &mut DecodedRows::default()), reader, row_group, cost)?;
        Ok(runs)
    }

    /// Like `load`, reusing memory. `column` is that of the run lengths.
    pub(super) fn replace(
        &mut self,
        (column, lengths): (&mut ScanColumn<'_>, &mut DecodedRows),
        reader: &Reader,
        row_group: usize,
        cost: &mut Cost,
    ) -> Result<()> {
        lengths.replace(column, row_group, None, cost)?;
        lengths.lengths(&mut self.lengths);
        let (mut end, mut shortest) = (0u64, u32::MAX);
        self.ends.clear();
        self.ends.extend(self.lengths.iter().map(|&length| {
            end += u64::from(length);
            shortest = shortest.min(length);
            end as u32
        }));
        if end != u64::from(reader.row_group(row_group).rows) || end == 0 || shortest == 0 {
            let location = Location::Data { row_group, column: reader.footer.name(column.column), block: 0 };
            return Err(reader.corrupt(location, "the runs do not have the rows of the row group"));
        }
        Ok(())
    }

    /// The number of runs.
    pub(super) fn len(&self) -> usize {
        self.lengths.len()
    }

    /// A cursor at the start of each run.
    pub(super) fn cursors(&self) -> Vec<Cursor> {
        self.ends.iter().zip(&self.lengths).map(|(&end, length)| Cursor { next: end - length, end }).collect()
    }

    /// The rows of some consecutive runs.
    pub(super) fn rows_of(&self, runs: Range<usize>) -> Range<usize> {
        let start = runs.start.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        start..runs.end.checked_sub(1).map_or(0, |last| self.ends[last] as usize)
    }

    /// Replaces `runs` with those of a range of rows, the first and the last shortened if necessary; their codes are
    /// run numbers.
    pub(super) fn of_rows(&self, rows: Range<usize>, runs: &mut Vec<Run>) {
        runs.clear();
        let (mut start, end) = (rows.start as u32, rows.end as u32);
        let first = self.ends.partition_point(|&end| end <= start);
        for (number, &end_of_run) in (first..).zip(&self.ends[first..]) {
            if start >= end {
                break;
            }
            runs.push(Run { code: number as u32, rows: end_of_run.min(end) - start });
            start = end_of_run;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_rows_are_split_into_runs() {
        let runs = Runs { lengths: vec![2, 5, 1], ends: vec![2, 7, 8] };
        let of_rows = |rows| {
            let mut found = Vec::new();
            runs.of_rows(rows, &mut found);
            found.into_iter().map(|run| (run.code, run.rows)).collect::<Vec<_>>()
        };
        assert_eq!(of_rows(0..8), [(0, 2), (1, 5), (2, 1)]);
        assert_eq!(of_rows(1..3), [(0, 1), (1, 1)]);
        assert_eq!(of_rows(2..7), [(1, 5)]);
        assert_eq!(of_rows(4..8), [(1, 3), (2, 1)]);
        assert_eq!(of_rows(3..3), []);
        assert_eq!(of_rows(8..8), []);
        assert_eq!((runs.rows_of(0..0), runs.rows_of(0..2), runs.rows_of(2..3)), (0..0, 0..7, 7..8));
    }
}
