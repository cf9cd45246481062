//! Statistics of integers for each run of a clustered row group, as stored in the run index of a column.
//!
//! They are packed arrays: the minimum of each run; the maximum minus the minimum; the sum of all values' differences
//! from the minimum, as low and high 64 bits; and, if the chunk has nulls, their number. These differences are small
//! and never negative.

use crate::array::{self, PackedArray};
use crate::integer_buffer::{Buffered, IntegerBuffer, for_buffers};
use crate::integer_slice::{IntegerSlice, Width, for_widths};
use brc_core::bounds::bounds;
use brc_core::table::{Numbers, Sums};
use brc_core::{Bitmap, PruneResult, Statistics};
use brc_kernels::arithmetic::Integer;
use brc_kernels::bitpack::{packed_bytes, width_of};
use std::borrow::Cow;
use std::iter::Zip;
use std::ops::Range;
use std::slice::Iter;

/// The statistics may take at most one byte for this many bytes of packed values.
const MIN_VALUE_BYTES_PER_BYTE: u64 = 8;

/// The statistics of all runs of a column, for writing.
#[derive(Debug, Default)]
pub(crate) struct RunStatistics {
    /// The minimum of each run.
    pub(crate) min: Vec<i64>,
    range: Vec<i64>,
    excess_low: Vec<i64>,
    excess_high: Vec<i64>,
    /// The number of nulls of each run; empty if there cannot be any.
    nulls: Vec<i64>,
    /// The sum of all values that are not null.
    pub(crate) sum: i128,
}

impl RunStatistics {
    /// Computes the statistics of values in runs of these lengths. Replaces nulls with the minimum of their run, or
    /// with `otherwise` if the run has no values.
    pub(crate) fn of(values: &mut IntegerBuffer, runs: &[u32], validity: Option<Bitmap<'_>>, otherwise: i64) -> Self {
        for_buffers!(values, values => Self::of_values(values, runs, validity, Integer::cut(otherwise)))
    }

    fn of_values<T: Buffered + Ord>(
        values: &mut [T],
        runs: &[u32],
        validity: Option<Bitmap<'_>>,
        otherwise: T,
    ) -> Self {
        let mut all = Self::default();
        let mut start = 0;
        for &rows in runs {
            let of_run = start..start + rows as usize;
            start = of_run.end;
            let values = &mut values[of_run.clone()];
            let nulls = validity.map(|validity| fill(values, validity.slice(of_run), otherwise));
            all.push(&T::slice(values).statistics(), nulls);
        }
        all
    }

    /// Computes the statistics of values without nulls, and the minimum and maximum of each block of `block_rows` rows.
    pub(crate) fn with_blocks(values: IntegerSlice<'_>, runs: &[u32], block_rows: usize) -> (Self, Vec<(i64, i64)>) {
        let (mut all, mut blocks) = (Self::default(), Vec::new());
        let (mut of_block, mut start) = (Statistics::EMPTY, 0);
        for &rows in runs {
            let (mut of_run, end) = (Statistics::EMPTY, start + rows as usize);
            while start < end {
                let end_of_block = (start / block_rows + 1) * block_rows;
                let part = start..end.min(end_of_block);
                start = part.end;
                let of_part = values.slice(part).statistics();
                of_run.merge(&of_part);
                of_block.merge(&of_part);
                if start == end_of_block || start == values.len() {
                    blocks.push((of_block.min, of_block.max));
                    of_block = Statistics::EMPTY;
                }
            }
            all.push(&of_run, None);
        }
        (all, blocks)
    }

    /// Appends the statistics of the next run. `nulls` is the number of nulls, which were replaced with the minimum;
    /// `None` if there cannot be any.
    pub(crate) fn push(&mut self, of_run: &Statistics, nulls: Option<u32>) {
        let min = i128::from(of_run.min);
        let excess = of_run.sum - min * i128::from(of_run.count);
        self.min.push(of_run.min);
        self.range.push(of_run.max.wrapping_sub(of_run.min));
        self.excess_low.push(excess as i64);
        self.excess_high.push((excess >> 64) as i64);
        self.nulls.extend(nulls.map(i64::from));
        self.sum += of_run.sum - min * i128::from(nulls.unwrap_or(0));
    }

    /// Whether the statistics are small compared with `rows` packed values between `min` and `max`.
    pub(crate) fn are_worth_it(&self, (min, max): (i64, i64), rows: usize) -> bool {
        let of_values = packed_bytes(width_of(max.wrapping_sub(min) as u64), rows as u64).unwrap_or(u64::MAX);
        let size = |values: &Vec<i64>| {
            let (smallest, largest) = bounds(values).unwrap_or((0, 0));
            array::size(smallest, largest, values.len())
        };
        self.arrays().map(size).sum::<u64>() <= of_values / MIN_VALUE_BYTES_PER_BYTE
    }

    /// The largest difference between two values of one run.
    pub(crate) fn widest(&self) -> u64 {
        self.range.iter().map(|&range| range as u64).max().unwrap_or(0)
    }

    /// Subtracts the minimum of their run from values that are passed in row order.
    pub(crate) fn differences<'a>(&'a self, runs: &'a [u32]) -> Differences<'a> {
        // Interpreted as signed: differences that need all 64 bits wrap.
        let width = Width::holding(0, i64::try_from(self.widest()).unwrap_or(i64::MAX));
        Differences { width, runs: runs.iter().zip(&self.min), left: 0, min: 0 }
    }

    fn arrays(&self) -> impl Iterator<Item = &Vec<i64>> {
        let all = [&self.min, &self.range, &self.excess_low, &self.excess_high];
        all.into_iter().chain(Some(&self.nulls).filter(|nulls| !nulls.is_empty()))
    }

    /// Appends the encoded statistics.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        self.arrays().for_each(|values| array::write(values, out));
    }
}

/// Subtracts from values, given in row order, the minimum of their run.
pub(crate) struct Differences<'a> {
    width: Width,
    runs: Zip<Iter<'a, u32>, Iter<'a, i64>>,
    /// The number of rows left in the current run.
    left: usize,
    /// The minimum of the current run.
    min: i64,
}

impl Differences<'_> {
    /// Replaces `differences` with those of the next values.
    pub(crate) fn of_next(&mut self, values: IntegerSlice<'_>, differences: &mut IntegerBuffer) {
        for_widths!(values, values => match self.width {
            Width::Of16 => self.subtract::<_, i16>(values, differences.room(values.len())),
            Width::Of32 => self.subtract::<_, i32>(values, differences.room(values.len())),
            Width::Of64 => self.subtract::<_, i64>(values, differences.room(values.len())),
        });
    }

    fn subtract<T: Integer, D: Integer>(&mut self, values: &[T], differences: &mut [D]) {
        let mut start = 0;
        while start < values.len() {
            if self.left == 0 {
                let Some((rows, min)) = self.runs.next() else { return };
                (self.left, self.min) = (*rows as usize, *min);
            }
            let of_run = start..values.len().min(start + self.left);
            (start, self.left) = (of_run.end, self.left - of_run.len());
            for (difference, value) in differences[of_run.clone()].iter_mut().zip(&values[of_run]) {
                *difference = D::cut(value.wide().wrapping_sub(self.min));
            }
        }
    }
}

/// Replaces nulls with the minimum, or with `otherwise` if all are null. Returns the number of nulls.
fn fill<T: Copy + Ord>(values: &mut [T], validity: Bitmap<'_>, otherwise: T) -> u32 {
    let nulls = validity.count_nulls();
    if nulls > 0 {
        let valid = values.iter().zip(validity.iter()).filter(|(_, valid)| *valid);
        let filler = valid.map(|(value, _)| *value).min().unwrap_or(otherwise);
        for (value, _) in values.iter_mut().zip(validity.iter()).filter(|(_, valid)| !valid) {
            *value = filler;
        }
    }
    nulls as u32
}

/// How much of a run index to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum Detail {
    #[default]
    Nothing,
    /// Minimums: the frames of chunks stored relative to the minimum of their run.
    Min,
    /// Minimums, maximums and null counts.
    Bounds,
    /// Everything, including the sums.
    All,
}

/// The statistics of runs, as far as they were read.
#[derive(Debug, Default)]
pub(crate) struct RunNumbers {
    /// The minimum of each run. Requires [`Detail::Min`].
    pub(crate) min: Vec<i64>,
    /// The maximum of each run. Requires [`Detail::Bounds`].
    pub(crate) max: Vec<i64>,
    /// The number of nulls of each run; empty if the chunk has none. Requires [`Detail::Bounds`].
    pub(crate) nulls: Vec<u32>,
    /// The sums, if all fit 64 bits; otherwise they are in `wide`.
    narrow: Vec<i64>,
    wide: Vec<i128>,
    excess_high: Vec<i64>,
}

impl RunNumbers {
    /// The statistics of some runs. Requires [`Detail::All`].
    pub(crate) fn of_runs(&self, runs: Range<usize>) -> Numbers<'_> {
        let sum = match self.wide.is_empty() {
            true => Sums::Narrow(&self.narrow[runs.clone()]),
            false => Sums::Wide(&self.wide[runs.clone()]),
        };
        Numbers { min: &self.min[runs.clone()], max: &self.max[runs], sum }
    }

    /// The result of [`Predicate::decide`](brc_core::Predicate::decide) for the range `low..=high` on a run without
    /// nulls, computed without unpredictable branches. Requires [`Detail::Bounds`].
    #[inline]
    pub(crate) fn decide_range(&self, run: usize, low: i128, high: i128) -> PruneResult {
        let (min, max) = (i128::from(self.min[run]), i128::from(self.max[run]));
        let outside = (max < low) | (high < min);
        let inside = (low <= min) & (max <= high);
        let prune_results = [PruneResult::Maybe, PruneResult::Always, PruneResult::Never, PruneResult::Never];
        prune_results[usize::from(inside) + 2 * usize::from(outside)]
    }

    /// The number of nulls of a run.
    pub(crate) fn nulls_of(&self, run: usize) -> u32 {
        self.nulls.get(run).copied().unwrap_or(0)
    }

    /// Takes the arrays off the front of `bytes` and decodes the requested detail for the runs in `part`. `rows` are
    /// the lengths of all runs, `bounds` those of the chunk.
    ///
    /// # Errors
    /// If an array is malformed, or a run has more nulls than rows.
    pub(crate) fn read(
        &mut self,
        bytes: &mut &[u8],
        rows: &[u32],
        part: Range<usize>,
        bounds: (i64, i64),
        has_nulls: bool,
        wanted: Detail,
    ) -> Result<(), &'static str> {
        let mut take = || PackedArray::take(bytes, rows.len());
        let [min, range, excess_low, excess_high] = [take()?, take()?, take()?, take()?];
        let nulls = has_nulls.then(take).transpose()?;
        if wanted >= Detail::Min {
            min.read_part(part.clone(), &mut self.min);
        }
        if wanted >= Detail::Bounds {
            range.read_part(part.clone(), &mut self.max);
            let least = &self.min[part.clone()];
            self.max[part.clone()].iter_mut().zip(least).for_each(|(max, min)| *max = max.wrapping_add(*min));
            self.nulls.clear();
            nulls.iter().for_each(|nulls| nulls.read_u32(&mut self.nulls));
            if self.nulls.iter().zip(rows).any(|(nulls, rows)| nulls > rows) {
                return Err("a run has more nulls than rows");
            }
        }
        self.wide.clear();
        if wanted >= Detail::All {
            self.read_sums(&excess_low, &excess_high, rows, part, bounds);
        }
        Ok(())
    }

    fn read_sums(
        &mut self,
        excess_low: &PackedArray<'_>,
        excess_high: &PackedArray<'_>,
        rows: &[u32],
        part: Range<usize>,
        bounds: (i64, i64),
    ) {
        excess_low.read_part(part.clone(), &mut self.narrow);
        let valid: Cow<'_, [u32]> = match self.nulls.is_empty() {
            true => Cow::Borrowed(rows),
            false => rows.iter().zip(&self.nulls).map(|(rows, nulls)| rows - nulls).collect(),
        };
        let fits = |value: i64| i32::try_from(value).is_ok();
        // Then the sum of a run, which has at most 2²⁶ rows, fits 58 bits.
        if excess_high.is_zero() && fits(bounds.0) && fits(bounds.1) {
            let (sums, least) = (&mut self.narrow[part.clone()], &self.min[part.clone()]);
            for ((sum, &valid), &min) in sums.iter_mut().zip(&valid[part]).zip(least) {
                *sum = sum.wrapping_add(i64::from(valid).wrapping_mul(min));
            }
            return;
        }
        excess_high.read_part(part, &mut self.excess_high);
        let excess = self.narrow.iter().zip(&self.excess_high);
        let excess = excess.map(|(&low, &high)| i128::from(high) << 64 | i128::from(low as u64));
        let least = self.min.iter().zip(&*valid).map(|(&min, &valid)| i128::from(min) * i128::from(valid));
        self.wide.extend(excess.zip(least).map(|(excess, least)| least.wrapping_add(excess)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use brc_core::{BitmapBuffer, ColumnStatistics, Predicate};
    use proptest::prelude::*;

    #[test]
    fn decide_range_agrees_with_the_predicate() {
        let all: Vec<(i64, i64)> = (0..6).flat_map(|min| (min..6).map(move |max| (min, max))).collect();
        let mut numbers = RunNumbers::default();
        (numbers.min, numbers.max) = all.iter().copied().unzip();
        for low in 0..6 {
            for high in low..6 {
                let predicate = Predicate::Range { column: 0, low, high };
                for (run, &(min, max)) in all.iter().enumerate() {
                    let expected = predicate.decide(&|_| ColumnStatistics::numbers(min, max));
                    assert_eq!(numbers.decide_range(run, low, high), expected, "{low}..={high} of {min}..={max}");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn statistics_round_trip(
            mut runs in prop::collection::vec(prop::collection::vec(any::<(i64, bool)>(), 1..5), 1..50),
            shift in prop_oneof![Just(0), 30u32..64],
            nullable: bool,
        ) {
            runs.iter_mut().flatten().for_each(|(value, valid)| {
                *value >>= shift;
                *valid |= !nullable;
            });
            let rows: Vec<_> = runs.iter().map(|run| run.len() as u32).collect();
            let values: Vec<i64> = runs.iter().flatten().map(|(value, _)| *value).collect();
            let mut validity = BitmapBuffer::default();
            runs.iter().flatten().for_each(|(_, valid)| validity.push(*valid));
            let mut values = IntegerBuffer::from(values);
            let written = RunStatistics::of(&mut values, &rows, validity.bitmap(), 7);
            let mut bytes = Vec::new();
            written.write(&mut bytes);

            let part = rows.len() / 3..rows.len() / 2 + 1;
            for part in [0..rows.len(), part] {
                let mut back = RunNumbers::default();
                let bounds = (i64::MIN >> shift, i64::MAX >> shift);
                let has_nulls = validity.bitmap().is_some();
                back.read(&mut bytes.as_slice(), &rows, part.clone(), bounds, has_nulls, Detail::All).unwrap();
                for run in part {
                    let expected: Statistics =
                        runs[run].iter().filter(|(_, valid)| *valid).map(|(value, _)| *value).collect();
                    prop_assert_eq!(u64::from(rows[run] - back.nulls_of(run)), expected.count);
                    if expected.count > 0 {
                        let found = back.of_runs(run..run + 1).get(0, expected.count as u32);
                        prop_assert_eq!(found, expected);
                    }
                }
            }
            let sum: i128 = runs.iter().flatten().filter(|(_, valid)| *valid).map(|(value, _)| i128::from(*value)).sum();
            prop_assert_eq!(written.sum, sum);

            let values = values.slice().wide();
            let mut start = 0;
            for (&rows, of_run) in rows.iter().zip(written.min.iter()) {
                let of_values = &values[start..start + rows as usize];
                prop_assert_eq!(of_values.iter().min(), Some(of_run));
                start += rows as usize;
            }
            let mut differences = written.differences(&rows);
            let least = rows.iter().zip(&written.min).flat_map(|(&rows, &min)| vec![min; rows as usize]);
            let expected: Vec<i64> = values.iter().zip(least).map(|(value, min)| value.wrapping_sub(min)).collect();
            let mut found = Vec::new();
            for values in values.chunks(7) {
                let mut some = IntegerBuffer::default();
                differences.of_next(values.into(), &mut some);
                found.extend_from_slice(&some.slice().wide());
            }
            prop_assert_eq!(&found, &expected);
            prop_assert!(found.iter().all(|&difference| difference as u64 <= written.widest()));

            let (again, blocks) = RunStatistics::with_blocks((&*values).into(), &rows, 7);
            prop_assert_eq!((&again.min, &again.range, again.sum), (&written.min, &written.range, values.iter().map(|&value| i128::from(value)).sum()));
            let of_block = |values: &[i64]| bounds(values).unwrap();
            prop_assert_eq!(blocks, values.chunks(7).map(of_block).collect::<Vec<_>>());
        }

        #[test]
        fn any_bytes_are_refused_or_read(bytes: Vec<u8>, runs in 1usize..20, nulls: bool) {
            let rows = vec![3; runs];
            let _ = RunNumbers::default().read(&mut bytes.as_slice(), &rows, 0..runs, (0, 9), nulls, Detail::All);
        }
    }
}
