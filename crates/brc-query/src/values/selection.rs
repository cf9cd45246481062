//! The wanted rows of a batch, as bit masks.

use super::error::BatchError;
use brc_core::{Column, Data};
use brc_kernels::cpu::Level;
use brc_kernels::filter;

/// The rows of a batch that are wanted.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Selection<'a> {
    /// Every row.
    All,
    /// This many rows, but not all: those whose bit is set.
    Some(&'a [u64], usize),
}

impl Selection<'_> {
    /// How many rows of a batch of `rows` are wanted.
    pub(crate) fn wanted(self, rows: usize) -> usize {
        match self {
            Self::All => rows,
            Self::Some(_, wanted) => wanted,
        }
    }
}

/// Every column of a batch has as many rows as the batch.
pub(crate) fn check_lengths(rows: usize, columns: &[Column<'_>]) -> Result<(), BatchError> {
    let length = |column: &Column<'_>| match column.data {
        Data::Codes { codes, .. } => codes.len() as u64,
        Data::Runs { runs, .. } => runs.iter().map(|run| u64::from(run.rows)).sum(),
        Data::Bytes(strings) => strings.len() as u64,
        Data::Integers(values) => values.len() as u64,
        Data::Floats(values) => values.len() as u64,
    };
    let fits = |column: &Column<'_>| {
        length(column) == rows as u64 && column.validity.is_none_or(|validity| validity.len() == rows)
    };
    if columns.iter().all(fits) { Ok(()) } else { Err(BatchError("its columns are not equally long")) }
}

/// The rows of a mask in two masks, half of them in each; `None` if there are fewer than two.
pub(crate) fn halved(mask: &[u64]) -> Option<[Vec<u64>; 2]> {
    let rows = row_numbers(mask);
    let half = rows.len() / 2;
    let of = |rows: &[u32]| {
        let mut part = vec![0; mask.len()];
        rows.iter().for_each(|&row| part[row as usize / 64] |= 1 << (row % 64));
        part
    };
    (half > 0).then(|| [of(&rows[..half]), of(&rows[half..])])
}

/// The numbers of the rows whose bits are set.
pub(crate) fn row_numbers(mask: &[u64]) -> Vec<u32> {
    let mut rows = Vec::new();
    filter::row_numbers(Level::best(), mask, &mut rows);
    rows
}

/// The rows whose bits are set.
pub(crate) fn set_rows(mask: &[u64]) -> impl Iterator<Item = usize> {
    mask.iter().enumerate().flat_map(|(index, &word)| {
        let mut left = word;
        std::iter::from_fn(move || {
            let bit = (left != 0).then(|| left.trailing_zeros() as usize)?;
            left &= left - 1;
            Some(index * 64 + bit)
        })
    })
}

/// Leaves only the values of rows whose bits are set; of no values, none.
pub(crate) fn keep<T: Copy>(values: &mut Vec<T>, mask: &[u64]) {
    if values.is_empty() {
        return;
    }
    let mut length = 0;
    for row in set_rows(mask) {
        values[length] = values[row];
        length += 1;
    }
    values.truncate(length);
}
