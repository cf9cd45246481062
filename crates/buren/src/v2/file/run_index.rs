//! The run index of a column of integers: what is known of each run of a clustered row group.
//!
//! Packed arrays: the smallest value of each run, the largest less the smallest, and the sum of what all values are above
//! the smallest, in its low and its high 64 bits; then, if the chunk has nulls, how many of them. These differences are
//! small and never negative.

use crate::array::{self, PackedArray};
use brc_core::Bitmap;
use brc_core::bounds::bounds;
use brc_core::table::{Numbers, Sums};
use brc_kernels::accumulate::statistics_i64;
use brc_kernels::bitpack::{packed_bytes, width_of};
use brc_kernels::cpu::Level;
use std::ops::Range;

/// The statistics may take one byte for so many of the values.
const WORTH: u64 = 8;

/// The statistics of all runs of one column, to be written.
#[derive(Debug, Default)]
pub(super) struct RunStatistics {
    min: Vec<i64>,
    range: Vec<i64>,
    excess_low: Vec<i64>,
    excess_high: Vec<i64>,
    /// Empty if there are none.
    nulls: Vec<i64>,
    /// Of all values that are not null.
    pub(super) sum: i128,
}

impl RunStatistics {
    /// Those of values that lie in runs of so many rows. Replaces nulls by the smallest value of their run, or by `otherwise`
    /// where it has none.
    pub(super) fn of(values: &mut [i64], runs: &[u32], validity: Option<Bitmap<'_>>, otherwise: i64) -> Self {
        let mut all = Self::default();
        let mut start = 0;
        for &rows in runs {
            let of_run = start..start + rows as usize;
            start = of_run.end;
            let nulls = validity
                .map_or(0, |validity| fill(&mut values[of_run.clone()], validity.slice(of_run.clone()), otherwise));
            if validity.is_some() {
                all.nulls.push(nulls.into());
            }
            all.push(&values[of_run], nulls);
        }
        all
    }

    fn push(&mut self, values: &[i64], nulls: u32) {
        let of_run = statistics_i64(Level::best(), values);
        let min = i128::from(of_run.min);
        let excess = of_run.sum - min * i128::from(of_run.count);
        self.min.push(of_run.min);
        self.range.push(of_run.max.wrapping_sub(of_run.min));
        self.excess_low.push(excess as i64);
        self.excess_high.push((excess >> 64) as i64);
        self.sum += of_run.sum - min * i128::from(nulls);
    }

    /// Whether they are small beside so many values, which lie this far apart.
    pub(super) fn are_worth_it(&self, (min, max): (i64, i64), rows: usize) -> bool {
        let of_values = packed_bytes(width_of(max.wrapping_sub(min) as u64), rows as u64).unwrap_or(u64::MAX);
        let size = |values: &Vec<i64>| {
            let (smallest, largest) = bounds(values).unwrap_or((0, 0));
            array::size(smallest, largest, values.len())
        };
        self.arrays().map(size).sum::<u64>() <= of_values / WORTH
    }

    /// The bits that the largest difference between two values of one run takes.
    pub(super) fn width(&self) -> u32 {
        width_of(self.range.iter().map(|&range| range as u64).max().unwrap_or(0))
    }

    /// Each value less the smallest of its run.
    pub(super) fn differences(&self, values: &[i64], runs: &[u32]) -> Vec<i64> {
        let mut differences = Vec::with_capacity(values.len());
        let mut left = values;
        for (&rows, &min) in runs.iter().zip(&self.min) {
            let (of_run, rest) = left.split_at(rows as usize);
            differences.extend(of_run.iter().map(|value| value.wrapping_sub(min)));
            left = rest;
        }
        differences
    }

    fn arrays(&self) -> impl Iterator<Item = &Vec<i64>> {
        let all = [&self.min, &self.range, &self.excess_low, &self.excess_high];
        all.into_iter().chain(Some(&self.nulls).filter(|nulls| !nulls.is_empty()))
    }

    /// Appends them.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        self.arrays().for_each(|values| array::write(values, out));
    }
}

/// Replaces nulls by the smallest value, or by `otherwise` if there is none; returns how many they are.
fn fill(values: &mut [i64], validity: Bitmap<'_>, otherwise: i64) -> u32 {
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

/// How much of a run index is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum Detail {
    #[default]
    Nothing,
    /// The smallest values: what the values of chunks in runs are above.
    Min,
    /// Smallest and largest values, and nulls.
    Bounds,
    /// The sums as well.
    All,
}

/// The statistics of runs as they were read, as much of them as was wanted.
#[derive(Debug, Default)]
pub(super) struct RunNumbers {
    /// The smallest value of each run. Needs [`Detail::Min`].
    pub(super) min: Vec<i64>,
    /// The largest value of each run. Needs [`Detail::Bounds`].
    pub(super) max: Vec<i64>,
    /// How many rows of each run are null; empty if none is. Needs [`Detail::Bounds`].
    pub(super) nulls: Vec<u32>,
    /// The sums, if all fit 64 bits; else they are in `wide`.
    narrow: Vec<i64>,
    wide: Vec<i128>,
    excess_high: Vec<i64>,
}

impl RunNumbers {
    /// The statistics of some runs. Needs [`Detail::All`].
    pub(super) fn of_runs(&self, runs: Range<usize>) -> Numbers<'_> {
        let sum = match self.wide.is_empty() {
            true => Sums::Narrow(&self.narrow[runs.clone()]),
            false => Sums::Wide(&self.wide[runs.clone()]),
        };
        Numbers { min: &self.min[runs.clone()], max: &self.max[runs], sum }
    }

    /// How many rows of a run, which has so many, are null.
    pub(super) fn nulls_of(&self, run: usize) -> u32 {
        self.nulls.get(run).copied().unwrap_or(0)
    }

    /// Reads as much of the runs `part` as is wanted, of runs with so many rows each. `bounds` are the smallest and the
    /// largest value of the chunk, which may have nulls.
    ///
    /// # Errors
    /// If the arrays do not fill the bytes.
    pub(super) fn read(
        &mut self,
        mut bytes: &[u8],
        rows: &[u32],
        part: Range<usize>,
        bounds: (i64, i64),
        has_nulls: bool,
        wanted: Detail,
    ) -> Result<(), &'static str> {
        let bytes = &mut bytes;
        let mut take = || PackedArray::take(bytes, rows.len());
        let [min, range, excess_low, excess_high] = [take()?, take()?, take()?, take()?];
        let nulls = has_nulls.then(take).transpose()?;
        if !bytes.is_empty() {
            return Err("it is longer than its arrays");
        }
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
        let valid = |run: usize| rows[run] - self.nulls.get(run).copied().unwrap_or(0);
        let fits = |value: i64| i32::try_from(value).is_ok();
        // Then no sum of a run, which has at most 2²⁶ rows, needs more than 58 bits.
        if excess_high.is_zero() && fits(bounds.0) && fits(bounds.1) {
            for run in part {
                let least = i64::from(valid(run)).wrapping_mul(self.min[run]);
                self.narrow[run] = self.narrow[run].wrapping_add(least);
            }
            return;
        }
        excess_high.read_part(part, &mut self.excess_high);
        let sum = |run: usize| {
            let excess = i128::from(self.excess_high[run]) << 64 | i128::from(self.narrow[run] as u64);
            excess.wrapping_add(i128::from(self.min[run]) * i128::from(valid(run)))
        };
        self.wide = (0..rows.len()).map(sum).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use brc_core::{BitmapBuffer, Statistics};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn statistics_survive(
            mut runs in prop::collection::vec(prop::collection::vec(any::<(i64, bool)>(), 1..5), 1..50),
            shift in prop_oneof![Just(0), 30u32..64],
            nullable: bool,
        ) {
            runs.iter_mut().flatten().for_each(|(value, valid)| {
                *value >>= shift;
                *valid |= !nullable;
            });
            let rows: Vec<_> = runs.iter().map(|run| run.len() as u32).collect();
            let mut values: Vec<i64> = runs.iter().flatten().map(|(value, _)| *value).collect();
            let mut validity = BitmapBuffer::default();
            runs.iter().flatten().for_each(|(_, valid)| validity.push(*valid));
            let written = RunStatistics::of(&mut values, &rows, validity.bitmap(), 7);
            let mut bytes = Vec::new();
            written.write(&mut bytes);

            let part = rows.len() / 3..rows.len() / 2 + 1;
            for part in [0..rows.len(), part] {
                let mut back = RunNumbers::default();
                let bounds = (i64::MIN >> shift, i64::MAX >> shift);
                let has_nulls = validity.bitmap().is_some();
                back.read(&bytes, &rows, part.clone(), bounds, has_nulls, Detail::All).unwrap();
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

            let mut start = 0;
            for (&rows, of_run) in rows.iter().zip(written.min.iter()) {
                let of_values = &values[start..start + rows as usize];
                prop_assert_eq!(of_values.iter().min(), Some(of_run));
                start += rows as usize;
            }
            let differences = written.differences(&values, &rows);
            prop_assert!(differences.iter().all(|&difference| width_of(difference as u64) <= written.width()));
        }

        #[test]
        fn any_bytes_are_refused_or_read(bytes: Vec<u8>, runs in 1usize..20, nulls: bool) {
            let rows = vec![3; runs];
            let _ = RunNumbers::default().read(&bytes, &rows, 0..runs, (0, 9), nulls, Detail::All);
        }
    }
}
