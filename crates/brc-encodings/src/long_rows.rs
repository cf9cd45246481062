//! Splits batches of long rows into smaller ones.
//!
//! A batch has several thousand rows, and each may hold the same string of a megabyte: a few bytes in the source,
//! gigabytes in an output that repeats it for each row. An encoder therefore gets only as many rows at once as fit a
//! bound, and may flush before the next ones.

use brc_core::{Batch, Column, Data, Result};
use std::ops::Range;

/// The maximum string bytes of the rows of a slice, unless a single row has more.
const PORTION: usize = 16 << 20;

/// The longest strings of the columns of one scan, whose dictionaries only grow.
#[derive(Default)]
pub(crate) struct LongRows {
    /// For each column, the number of dictionary strings seen, and the length of the longest.
    columns: Vec<(usize, usize)>,
}

impl LongRows {
    /// Passes a batch on as a whole or, if its rows may be long, in slices.
    ///
    /// # Errors
    /// Those of `take`.
    pub(crate) fn portions(&mut self, batch: &Batch<'_>, mut take: impl FnMut(&Batch<'_>) -> Result<()>) -> Result<()> {
        if self.most_bytes(batch) <= PORTION {
            return take(batch);
        }
        let rows = (PORTION / longest_row(batch, &self.columns).max(1)).max(1);
        (0..batch.rows).step_by(rows).try_for_each(|start| slice(batch, start..batch.rows.min(start + rows), &mut take))
    }

    /// The maximum bytes of the strings of all rows.
    fn most_bytes(&mut self, batch: &Batch<'_>) -> usize {
        self.columns.resize(batch.columns.len(), (0, 0));
        let mut bytes = 0;
        for ((known, longest), column) in self.columns.iter_mut().zip(batch.columns) {
            if let Some(dictionary) = column.dictionary() {
                for code in *known..dictionary.len() {
                    *longest = dictionary.get(code as u32).len().max(*longest);
                }
                *known = dictionary.len();
                bytes += longest.saturating_mul(batch.rows);
            } else if let Data::Bytes(strings) = column.data {
                bytes += strings.span().len();
            }
        }
        bytes
    }
}

/// The maximum bytes of the strings of a row, given the longest string of each dictionary.
fn longest_row(batch: &Batch<'_>, dictionaries: &[(usize, usize)]) -> usize {
    let longest = |(column, (_, of_dictionary)): (&Column<'_>, &(usize, usize))| match column.data {
        Data::Bytes(strings) => strings.iter().map(<[u8]>::len).max().unwrap_or(0),
        Data::Codes { .. } | Data::Runs { .. } => *of_dictionary,
        Data::Integers(_) | Data::Floats(_) => 0,
    };
    batch.columns.iter().zip(dictionaries).map(longest).sum()
}

/// Passes a range of rows of a batch on.
///
/// # Errors
/// Those of `take`.
pub(crate) fn slice(
    batch: &Batch<'_>,
    rows: Range<usize>,
    take: &mut impl FnMut(&Batch<'_>) -> Result<()>,
) -> Result<()> {
    let runs: Vec<_> = batch.columns.iter().map(|column| column.runs_of_rows(rows.clone())).collect();
    let columns = batch.columns.iter().zip(&runs).map(|(column, runs)| column.slice(rows.clone(), runs));
    let columns: Vec<_> = columns.collect();
    take(&Batch { rows: rows.len(), columns: &columns })
}

#[cfg(test)]
mod tests {
    use super::*;
    use brc_core::{Dictionary, Integers, Run, batch};

    /// The number of rows of each slice, and all rows.
    fn sliced(names: &[usize], codes: &[u32]) -> (Vec<usize>, Vec<(u32, i64)>) {
        let dictionary: Dictionary = names.iter().map(|length| vec![b'x'; *length]).collect();
        let values: Vec<i64> = (0..codes.len() as i64).collect();
        let runs: Vec<Run> = codes.iter().map(|&code| Run { code, rows: 1 }).collect();
        let columns = [
            Column::codes(codes, &dictionary),
            Column::integers(Integers::I64(&values)),
            Column::runs(&runs, &dictionary),
        ];
        let (mut portions, mut rows) = (Vec::new(), Vec::new());
        let batch = Batch { rows: codes.len(), columns: &columns };
        let outcome = LongRows::default().portions(&batch, |portion| {
            let (mut first, mut last) = (Vec::new(), Vec::new());
            batch::codes_of(&portion.columns[0], &mut first);
            batch::codes_of(&portion.columns[2], &mut last);
            assert_eq!(first, last);
            let Data::Integers(values) = portion.columns[1].data else { panic!("not the numbers") };
            assert_eq!((first.len(), values.len()), (portion.rows, portion.rows));
            rows.extend((0..portion.rows).map(|row| (first[row], values.get(row) as i64)));
            portions.push(portion.rows);
            Ok(())
        });
        outcome.unwrap();
        (portions, rows)
    }

    #[test]
    fn long_rows_are_sliced() {
        let codes: Vec<u32> = (0..1000).map(|row| row % 2).collect();
        let all: Vec<(u32, i64)> = codes.iter().copied().zip(0..).collect();
        assert_eq!(sliced(&[10, 20], &codes), (vec![1000], all.clone()));
        let (portions, rows) = sliced(&[10, 1 << 15], &codes);
        assert_eq!((portions, rows), (vec![256, 256, 256, 232], all));
        let all = vec![(0, 0), (0, 1), (0, 2)];
        assert_eq!(sliced(&[PORTION], &[0, 0, 0]), (vec![1, 1, 1], all));
    }
}
