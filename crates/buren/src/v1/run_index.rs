//! The run index of a clustered row group: for each run how many rows it has, and the statistics of each decimal column.
//!
//! A packed array of the runs' rows, then four for each decimal column: the smallest value, the largest less the
//! smallest, and the sum less rows times the smallest, in its low and its high 64 bits. These differences are small and
//! never negative.

use crate::array::{self, PackedArray};
use crate::v1::integers::Kind;
use brc_core::Statistics;
use brc_core::table::{Numbers, Sums};
use std::ops::Range;

/// The statistics of all runs of one column, to be written.
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
}

/// The statistics of all runs of one column as they were read, as much of them as was asked for.
#[derive(Debug, Default)]
pub(crate) struct RunNumbers {
    /// The smallest value of each run. Needs [`Detail::Min`].
    pub(crate) min: Vec<i64>,
    /// The largest value of each run. Needs [`Detail::Bounds`].
    pub(crate) max: Vec<i64>,
    /// The sums, if all fit 64 bits; else they are in `wide`.
    narrow: Vec<i64>,
    wide: Vec<i128>,
    excess_high: Vec<i64>,
}

impl RunNumbers {
    /// The statistics of some runs. Needs [`Detail::All`].
    pub(crate) fn of_runs(&self, runs: Range<usize>) -> Numbers<'_> {
        let sum = match self.wide.is_empty() {
            true => Sums::Narrow(&self.narrow[runs.clone()]),
            false => Sums::Wide(&self.wide[runs.clone()]),
        };
        Numbers { min: &self.min[runs.clone()], max: &self.max[runs], sum }
    }

    /// Takes the column's four arrays off the front of `bytes` and reads as much of the runs `part` as is wanted. `bounds`
    /// are the smallest and the largest value of the column.
    fn read(
        &mut self,
        bytes: &mut &[u8],
        rows: &[u32],
        part: Range<usize>,
        bounds: (i64, i64),
        wanted: Detail,
    ) -> Result<(), &'static str> {
        let [min, range, excess_low, excess_high] = [
            PackedArray::take(bytes, rows.len())?,
            PackedArray::take(bytes, rows.len())?,
            PackedArray::take(bytes, rows.len())?,
            PackedArray::take(bytes, rows.len())?,
        ];
        if wanted >= Detail::Min {
            min.read_part(part.clone(), &mut self.min);
        }
        if wanted >= Detail::Bounds {
            range.read_part(part.clone(), &mut self.max);
            let least = &self.min[part.clone()];
            self.max[part.clone()].iter_mut().zip(least).for_each(|(max, min)| *max = max.wrapping_add(*min));
        }
        self.wide.clear();
        if wanted >= Detail::All {
            excess_low.read_part(part.clone(), &mut self.narrow);
            // Then no sum of a run, which has at most 2²⁶ rows, needs more than 58 bits.
            let is_small = excess_high.is_zero() && Kind::holding(bounds.0, bounds.1) != Kind::I64;
            if is_small {
                let (sums, least) = (&mut self.narrow[part.clone()], &self.min[part.clone()]);
                for ((sum, &rows), &min) in sums.iter_mut().zip(&rows[part]).zip(least) {
                    *sum = sum.wrapping_add(i64::from(rows).wrapping_mul(min));
                }
            } else {
                excess_high.read_part(part, &mut self.excess_high);
                let excess = self.narrow.iter().zip(&self.excess_high);
                let excess = excess.map(|(&low, &high)| i128::from(high) << 64 | i128::from(low as u64));
                let least = self.min.iter().zip(rows).map(|(&min, &rows)| i128::from(min) * i128::from(rows));
                self.wide.extend(excess.zip(least).map(|(excess, least)| least.wrapping_add(excess)));
            }
        }
        Ok(())
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
        numbers.read(&mut bytes, rows, part.clone(), bounds, wanted)?;
    }
    if bytes.is_empty() { Ok(()) } else { Err("it is longer than its arrays") }
}

#[cfg(test)]
mod tests {
    use super::*;
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
            statistics.iter().for_each(|run| column.push(run));
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
