//! The run index of a clustered row group: for each run how many rows it has, and the statistics of each decimal column.
//!
//! A packed array of the runs' rows, then four for each decimal column: the smallest value, the largest less the
//! smallest, and the sum less rows times the smallest, in its low and its high 64 bits. These differences are small and
//! never negative.

use crate::array::{self, PackedArray};
use brc_core::Statistics;

/// The statistics of all runs of one column, or as much of them as was asked for.
#[derive(Debug, Default)]
pub(crate) struct RunStatistics {
    pub(crate) min: Vec<i64>,
    range: Vec<i64>,
    excess_low: Vec<i64>,
    excess_high: Vec<i64>,
}

impl RunStatistics {
    pub(crate) fn clear(&mut self) {
        for array in [&mut self.min, &mut self.range, &mut self.excess_low, &mut self.excess_high] {
            array.clear();
        }
    }

    pub(crate) fn push(&mut self, statistics: &Statistics) {
        let excess = statistics.sum - i128::from(statistics.min) * i128::from(statistics.count);
        self.min.push(statistics.min);
        self.range.push(statistics.max.wrapping_sub(statistics.min));
        self.excess_low.push(excess as i64);
        self.excess_high.push((excess >> 64) as i64);
    }

    /// The largest difference between two values of one run.
    pub(crate) fn widest(&self) -> u64 {
        self.range.iter().map(|&range| range as u64).max().unwrap_or(0)
    }

    /// Smallest and largest value of a run. Needs [`Detail::Bounds`].
    pub(crate) fn bounds(&self, run: usize) -> (i64, i64) {
        let min = self.min[run];
        (min, min.wrapping_add(self.range[run]))
    }

    /// The statistics of a run. Needs [`Detail::All`].
    pub(crate) fn get(&self, run: usize, rows: u32) -> Statistics {
        let (min, max) = self.bounds(run);
        let excess = i128::from(self.excess_high[run]) << 64 | i128::from(self.excess_low[run] as u64);
        let sum = (i128::from(min) * i128::from(rows)).wrapping_add(excess);
        Statistics { count: u64::from(rows), sum, min, max }
    }
}

/// How much of a column's run statistics is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum Detail {
    #[default]
    Nothing,
    /// The smallest value: the frame of reference.
    Min,
    /// Smallest and largest.
    Bounds,
    /// The sum as well.
    All,
}

/// Appends a run index: the rows of each run, and the statistics of each decimal column in the schema's order.
pub(crate) fn write<'a>(rows: &[u32], columns: impl Iterator<Item = &'a RunStatistics>, out: &mut Vec<u8>) {
    let rows: Vec<_> = rows.iter().copied().map(i64::from).collect();
    array::write(&rows, out);
    for column in columns {
        for values in [&column.min, &column.range, &column.excess_low, &column.excess_high] {
            array::write(values, out);
        }
    }
}

/// Reads a run index of `runs` runs that make up `all_rows` rows: the rows of each, and of each decimal column as much
/// as the iterator wants.
///
/// # Errors
/// What does not hold: the arrays fill the block, every run has a row, and the rows add up.
pub(crate) fn read<'a>(
    mut bytes: &[u8],
    runs: usize,
    all_rows: u32,
    rows: &mut Vec<u32>,
    columns: impl Iterator<Item = (Detail, &'a mut RunStatistics)>,
) -> Result<(), &'static str> {
    PackedArray::take(&mut bytes, runs)?.read_u32(rows);
    if rows.contains(&0) || rows.iter().copied().map(u64::from).sum::<u64>() != u64::from(all_rows) {
        return Err("the rows of the runs do not add up to the row group's");
    }
    for (detail, statistics) in columns {
        let wanted = [
            (Detail::Min, &mut statistics.min),
            (Detail::Bounds, &mut statistics.range),
            (Detail::All, &mut statistics.excess_low),
            (Detail::All, &mut statistics.excess_high),
        ];
        for (needed_for, values) in wanted {
            let array = PackedArray::take(&mut bytes, runs)?;
            if detail >= needed_for {
                array.read_i64(values);
            }
        }
    }
    if bytes.is_empty() { Ok(()) } else { Err("it is longer than its arrays") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn statistics_survive(runs in prop::collection::vec(prop::collection::vec(any::<i64>(), 1..5), 1..50)) {
            let statistics: Vec<Statistics> = runs.iter().map(|run| run.iter().copied().collect()).collect();
            let rows: Vec<_> = runs.iter().map(|run| run.len() as u32).collect();
            let mut column = RunStatistics::default();
            statistics.iter().for_each(|run| column.push(run));
            let mut bytes = Vec::new();
            write(&rows, std::iter::once(&column), &mut bytes);
            let (mut rows_back, mut back) = (Vec::new(), RunStatistics::default());
            let all = rows.iter().sum();
            read(&bytes, rows.len(), all, &mut rows_back, std::iter::once((Detail::All, &mut back))).unwrap();
            prop_assert_eq!(&rows_back, &rows);
            for (run, expected) in statistics.iter().enumerate() {
                prop_assert_eq!(&back.get(run, rows[run]), expected);
            }
            let wrong = read(&bytes, rows.len(), all + 1, &mut rows_back, std::iter::once((Detail::Min, &mut back)));
            prop_assert!(wrong.is_err());
        }
    }
}
