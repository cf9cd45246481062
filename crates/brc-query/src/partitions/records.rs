//! The rows of a partition as contiguous words: encoded keys, then aggregated values.

use super::layout::RecordLayout;
use super::ranges::Ranges;
use crate::keys::encoding::integers;
use crate::values::error::BatchError;
use crate::values::error::TOO_LARGE;
use crate::values::selection::Selection;
use crate::values::selection::set_rows;
use brc_core::{Batch, Data, Integers};
use brc_kernels::partition_buffers::{Chunks, PartitionBuffers};

pub(super) use brc_kernels::partition_buffers::PARTITIONS;

const NO_COLUMN: BatchError = BatchError("a column is not there");
const OTHER_TYPE: BatchError = BatchError("a column is of another type");

/// One worker's records.
#[derive(Debug)]
pub(crate) struct Records<'a> {
    layout: &'a RecordLayout,
    ranges: &'a Ranges,
    buffers: PartitionBuffers,
    /// The records of a batch, and the values of one of its columns.
    batch: Vec<u64>,
    numbers: Vec<u64>,
    nulls: Vec<u64>,
}

impl<'a> Records<'a> {
    pub(super) fn new(layout: &'a RecordLayout, ranges: &'a Ranges) -> Self {
        let (batch, numbers, nulls) = Default::default();
        Self { layout, ranges, buffers: PartitionBuffers::default(), batch, numbers, nulls }
    }

    /// The records of each partition.
    pub(super) fn into_partitions(self) -> impl Iterator<Item = Chunks> {
        self.buffers.into_each()
    }

    /// The same; none are left.
    pub(super) fn take_partitions(&mut self) -> impl Iterator<Item = Chunks> {
        std::mem::take(&mut self.buffers).into_each()
    }

    /// About how many words they have.
    pub(super) fn words(&self) -> usize {
        self.buffers.words()
    }

    /// Whether a partition has none.
    pub(super) fn are_none_of(&self, partition: usize) -> bool {
        self.buffers.are_none_of(partition as u8)
    }

    /// Those of a partition, some after the other.
    pub(super) fn of_partition(&mut self, partition: usize) -> impl Iterator<Item = &[u64]> {
        self.buffers.of_partition(partition as u8)
    }

    /// Calls `each` with some records of a partition after the other, as long as it takes them, which are dropped then.
    pub(super) fn drain<E>(&mut self, partition: usize, each: impl FnMut(&[u64]) -> Result<bool, E>) -> Result<(), E> {
        self.buffers.drain(partition as u8, each)
    }

    /// Packs the values of a batch that lie within tuples after the keys there. Reports which rows do not fit.
    pub(super) fn pack_values(
        &mut self,
        tuples: &mut [u64],
        fits: &mut [bool],
        batch: &Batch<'_>,
    ) -> Result<(), BatchError> {
        for within in &self.layout.within {
            let column = batch.columns.get(within.position).ok_or(NO_COLUMN)?;
            let Data::Integers(values) = column.data else { return Err(OTHER_TYPE) };
            self.numbers.clear();
            integers(values, within.min, &mut self.numbers)?;
            let all_bits = || self.numbers.iter().fold(0, |bits, distance| bits | distance);
            if self.layout.width == 1 && within.has_room(all_bits()) {
                // Such loops are of vectors.
                tuples.iter_mut().zip(&self.numbers).for_each(|(tuple, &distance)| *tuple |= within.bits(distance));
                continue;
            }
            let lasts = tuples.iter_mut().skip(self.layout.width - 1).step_by(self.layout.width);
            for ((last, &distance), fits) in lasts.zip(&self.numbers).zip(&mut *fits) {
                let is_inside = distance <= within.span;
                *last |= within.bits(if is_inside { distance } else { 0 });
                *fits &= is_inside;
            }
        }
        Ok(())
    }

    /// Adds the wanted rows of a batch whose tuples fit, as do their values. Marks the others in `left`, and returns
    /// how many they are.
    pub(super) fn add(
        &mut self,
        tuples: &[u64],
        fits: &mut [bool],
        batch: &Batch<'_>,
        selection: Selection<'_>,
        left: &mut [u64],
    ) -> Result<usize, BatchError> {
        if !self.layout.nulls {
            let positions = self.layout.values.iter().map(|&(position, _)| position);
            let positions = positions.chain(self.layout.within.iter().map(|within| within.position));
            let values = positions.filter_map(|position| batch.columns.get(position));
            for validity in values.filter(|column| column.has_nulls()).filter_map(|column| column.validity) {
                fits.iter_mut().zip(validity.iter()).for_each(|(fits, valid)| *fits &= valid);
            }
        }
        // A fold without an early exit, which is vectorised.
        let all_fit = fits.iter().fold(true, |all, &fits| all & fits);
        let mut rows = None;
        let mut unfit = 0;
        if !all_fit || matches!(selection, Selection::Some(..)) {
            let kept: &mut Vec<u32> = rows.insert(Vec::with_capacity(batch.rows));
            let mut add = |row: usize| match fits[row] {
                true => kept.push(row as u32),
                false => {
                    left[row / 64] |= 1 << (row % 64);
                    unfit += 1;
                }
            };
            match selection {
                Selection::All => (0..batch.rows).for_each(add),
                Selection::Some(mask, _) => set_rows(mask).for_each(&mut add),
            }
        }
        // Merged records have a count after them.
        let are_records = self.layout.words() == self.layout.width && rows.is_none();
        if !are_records {
            self.lay_out(tuples, batch, rows.as_deref())?;
        }
        let records = are_records.then_some(tuples);
        match self.layout.words() {
            1 => self.scatter::<1>(records),
            2 => self.scatter::<2>(records),
            3 => self.scatter::<3>(records),
            4 => self.scatter::<4>(records),
            5 => self.scatter::<5>(records),
            6 => self.scatter::<6>(records),
            7 => self.scatter::<7>(records),
            8 => self.scatter::<8>(records),
            9 => self.scatter::<9>(records),
            _ => self.scatter_long(records),
        }
        Ok(unfit)
    }

    /// Makes records of some rows of a batch, or of all of them.
    fn lay_out(&mut self, tuples: &[u64], batch: &Batch<'_>, rows: Option<&[u32]>) -> Result<(), BatchError> {
        let (width, words) = (self.layout.width, self.layout.words());
        self.batch.clear();
        self.batch.resize(rows.map_or(batch.rows, <[u32]>::len) * words, 0);
        for word in 0..width {
            put(&mut self.batch, words, word, rows, |row| tuples[row * width + word]);
        }
        self.nulls.clear();
        if self.layout.nulls {
            self.nulls.resize(batch.rows, 0);
        }
        for (place, &(position, is_float)) in self.layout.values.iter().enumerate() {
            let column = batch.columns.get(position).ok_or(NO_COLUMN)?;
            let validity = column.validity.filter(|validity| validity.count_nulls() > 0);
            self.numbers.clear();
            match (column.data, is_float) {
                (Data::Integers(values), false) => words_of(values, |row| column.is_valid(row), &mut self.numbers)?,
                (Data::Floats(values), true) => self.numbers.extend(values.iter().map(|value| value.to_bits())),
                // Only whether there is a value counts.
                (Data::Codes { .. } | Data::Runs { .. } | Data::Bytes(_), false) => self.numbers.resize(batch.rows, 0),
                (Data::Integers(_) | Data::Floats(_), _) | (_, true) => {
                    return Err(OTHER_TYPE);
                }
            }
            let numbers = self.numbers.get(..batch.rows).ok_or(BatchError("its columns are not equally long"))?;
            put(&mut self.batch, words, width + place, rows, |row| numbers[row]);
            if let Some(validity) = validity.filter(|_| self.layout.nulls) {
                let bits = self.nulls.iter_mut().zip(validity.iter());
                bits.for_each(|(nulls, valid)| *nulls |= u64::from(!valid) << place);
            }
        }
        if self.layout.nulls {
            put(&mut self.batch, words, words - 1, rows, |row| self.nulls[row]);
        }
        if self.layout.merged {
            put(&mut self.batch, words, words - 1, rows, |_| 1);
        }
        Ok(())
    }

    /// Partitions `records`, or those of the batch that were laid out if there are none.
    fn scatter<const WORDS: usize>(&mut self, records: Option<&[u64]>) {
        let Self { layout, ranges, buffers, batch, .. } = self;
        let records = match records {
            Some(records) => records.as_chunks::<WORDS>().0,
            None => {
                let records = batch.as_chunks_mut::<WORDS>().0;
                let left = if layout.merged { merge_repeated(records, layout.width) } else { records.len() };
                &records[..left]
            }
        };
        match ranges.of_first_words() {
            Some(range) => records.iter().for_each(|record| buffers.push(range(record[0]), record)),
            None => records.iter().for_each(|record| buffers.push(ranges.of_tuple(&record[..layout.width]), record)),
        }
    }

    /// The same for records of any length, which are too long to be worth merging.
    fn scatter_long(&mut self, records: Option<&[u64]>) {
        let words = self.layout.words();
        for record in records.unwrap_or(&self.batch).chunks_exact(words) {
            self.buffers.push_long(self.ranges.of_tuple(&record[..self.layout.width]), record);
        }
    }
}

/// Sets a word of all records of this many words, of which these are the rows.
#[inline(always)]
fn put(records: &mut [u64], words: usize, word: usize, rows: Option<&[u32]>, value: impl Fn(usize) -> u64) {
    let places = records.iter_mut().skip(word).step_by(words);
    match rows {
        None => places.enumerate().for_each(|(row, place)| *place = value(row)),
        Some(rows) => places.zip(rows).for_each(|(place, &row)| *place = value(row as usize)),
    }
}

/// Merges adjacent records with the same tuple, as far as their sums fit; returns how many are left.
fn merge_repeated<const WORDS: usize>(records: &mut [[u64; WORDS]], width: usize) -> usize {
    let Some(&(mut sum)) = records.first() else { return 0 };
    let mut last = 0;
    for next in 1..records.len() {
        let (mut added, mut differs) = (records[next], 0);
        // A loop of a small constant length is unrolled.
        for word in 0..WORDS {
            if word < width {
                differs |= added[word] ^ sum[word];
            } else {
                let (value, overflows) = (added[word] as i64).overflowing_add(sum[word] as i64);
                differs |= u64::from(overflows);
                added[word] = value as u64;
            }
        }
        last += usize::from(differs != 0);
        sum = if differs == 0 { added } else { records[next] };
        records[last] = sum;
    }
    last + 1
}

/// Appends integers as words.
fn words_of(values: Integers<'_>, is_valid: impl Fn(usize) -> bool, numbers: &mut Vec<u64>) -> Result<(), BatchError> {
    match values {
        Integers::I8(values) => numbers.extend(values.iter().map(|&value| i64::from(value) as u64)),
        Integers::I16(values) => numbers.extend(values.iter().map(|&value| i64::from(value) as u64)),
        Integers::I32(values) => numbers.extend(values.iter().map(|&value| i64::from(value) as u64)),
        Integers::I64(values) => numbers.extend(values.iter().map(|&value| value as u64)),
        Integers::I128(values) => {
            for (row, &value) in values.iter().enumerate() {
                let value = if is_valid(row) { value } else { 0 };
                numbers.push(i64::try_from(value).map_err(|_| TOO_LARGE)? as u64);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_one_key_become_one_record() {
        let max = i64::MAX as u64;
        let mut records =
            [[1, 5, 1], [1, -7i64 as u64, 1], [2, 1, 1], [1, max, 1], [1, 1, 1], [1, 2, 1], [3, 0, 1], [3, 0, 1]];
        let merged = merge_repeated(&mut records, 1);
        assert_eq!(records[..merged], [[1, -2i64 as u64, 2], [2, 1, 1], [1, max, 1], [1, 3, 2], [3, 0, 2]]);
        assert_eq!(merge_repeated::<3>(&mut [], 1), 0);
    }
}
