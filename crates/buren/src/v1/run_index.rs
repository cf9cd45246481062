//! The run index of a clustered row group: for each run how many rows it has, and the statistics of each decimal column.
//!
//! A packed array of the runs' rows, then four for each decimal column: the smallest value, the largest less the
//! smallest, and the sum less rows times the smallest, in its low and its high 64 bits. These differences are small and
//! never negative.

use crate::array::{self, PackedArray};
use crate::run_statistics::{Detail, RunNumbers, RunStatistics};
use std::ops::Range;

/// Appends a run index: the rows of each run, and the statistics of each decimal column in the schema's order.
pub(crate) fn write<'a>(rows: &[u32], columns: impl Iterator<Item = &'a RunStatistics>, out: &mut Vec<u8>) {
    let rows: Vec<_> = rows.iter().copied().map(i64::from).collect();
    array::write(&rows, out);
    for column in columns {
        column.write(out);
    }
}

/// Reads a run index of `runs` runs that make up `all_rows` rows: the rows of each, and of each decimal column, given
/// with its smallest and largest value, as much as is wanted, for the runs `part` at least.
///
/// # Errors
/// What does not hold: the arrays fill the block, every run has a row, and the rows add up.
pub(crate) fn read<'a>(
    mut bytes: &[u8],
    runs: usize,
    part: Range<usize>,
    all_rows: u32,
    rows: &mut Vec<u32>,
    columns: impl Iterator<Item = (Detail, (i64, i64), &'a mut RunNumbers)>,
) -> Result<(), &'static str> {
    PackedArray::take(&mut bytes, runs)?.read_u32(rows);
    let fewest = rows.iter().fold(u32::MAX, |fewest, &rows| fewest.min(rows));
    if fewest == 0 || rows.iter().copied().map(u64::from).sum::<u64>() != u64::from(all_rows) {
        return Err("the rows of the runs do not add up to the row group's");
    }
    for (wanted, bounds, numbers) in columns {
        numbers.read(&mut bytes, rows, part.clone(), bounds, false, wanted)?;
    }
    if bytes.is_empty() { Ok(()) } else { Err("it is longer than its arrays") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use brc_core::Statistics;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn statistics_survive(
            mut runs in prop::collection::vec(prop::collection::vec(any::<i64>(), 1..5), 1..50),
            shift in prop_oneof![Just(0), 30u32..64],
        ) {
            runs.iter_mut().flatten().for_each(|value| *value >>= shift);
            let statistics: Vec<Statistics> = runs.iter().map(|run| run.iter().copied().collect()).collect();
            let rows: Vec<_> = runs.iter().map(|run| run.len() as u32).collect();
            let mut column = RunStatistics::default();
            statistics.iter().for_each(|run| column.push(run, None));
            let mut bytes = Vec::new();
            write(&rows, std::iter::once(&column), &mut bytes);
            let (mut rows_back, mut back) = (Vec::new(), RunNumbers::default());
            let all = rows.iter().sum();
            let bounds = (i64::MIN >> shift, i64::MAX >> shift);
            let columns = std::iter::once((Detail::All, bounds, &mut back));
            read(&bytes, rows.len(), 0..rows.len(), all, &mut rows_back, columns).unwrap();
            prop_assert_eq!(&rows_back, &rows);
            prop_assert_eq!(back.of_runs(0..rows.len()).sets(), Some(rows.len()));
            for (run, expected) in statistics.iter().enumerate() {
                prop_assert_eq!(&back.of_runs(run..run + 1).get(0, rows[run]), expected);
            }
            let part = rows.len() / 3..rows.len() / 2 + 1;
            let mut of_part = RunNumbers::default();
            let columns = std::iter::once((Detail::All, bounds, &mut of_part));
            read(&bytes, rows.len(), part.clone(), all, &mut rows_back, columns).unwrap();
            for run in part {
                prop_assert_eq!(of_part.of_runs(run..run + 1).get(0, rows[run]), statistics[run]);
            }
            let columns = std::iter::once((Detail::Min, bounds, &mut back));
            let wrong = read(&bytes, rows.len(), 0..0, all + 1, &mut rows_back, columns);
            prop_assert!(wrong.is_err());
        }
    }
}
