//! The groups of the rows of a batch, which keys find and states are updated by.

use crate::values::error::BatchError;
use brc_core::Run;

/// The groups that the wanted rows of a batch belong to.
#[derive(Debug, Clone, Copy)]
pub(crate) enum GroupIds<'a> {
    /// A group for each row; those of [`NO_GROUP`](brc_kernels::accumulate::table::NO_GROUP) add nothing where that is
    /// known.
    Rows(&'a [u32]),
    /// A group for each run.
    Runs(&'a [Run]),
}

impl GroupIds<'_> {
    /// Whether there is a group for each run.
    pub(crate) fn are_runs(&self) -> bool {
        matches!(self, Self::Runs(_))
    }

    /// Whether there is one for each of this many rows.
    pub(crate) fn are_of_all(&self, rows: usize) -> bool {
        matches!(self, Self::Rows(groups) if groups.len() == rows)
    }

    /// Calls `each` with the group and the number of every row.
    pub(crate) fn each(
        self,
        rows: usize,
        mut each: impl FnMut(usize, usize) -> Result<(), BatchError>,
    ) -> Result<(), BatchError> {
        match self {
            Self::Rows(groups) => {
                check_rows(groups.len(), rows)?;
                groups.iter().enumerate().try_for_each(|(row, &group)| each(group as usize, row))
            }
            Self::Runs(runs) => {
                check_rows(runs.iter().map(|run| run.rows as usize).sum(), rows)?;
                let mut start = 0;
                for run in runs {
                    let end = start + run.rows as usize;
                    (start..end).try_for_each(|row| each(run.code as usize, row))?;
                    start = end;
                }
                Ok(())
            }
        }
    }
}

pub(crate) fn check_rows(found: usize, expected: usize) -> Result<(), BatchError> {
    if found == expected { Ok(()) } else { Err(BatchError("a column has not as many values as rows")) }
}
