//! Rows of a partition, as words one behind the other: the packed keys, then the values that are aggregated.

use super::fits_record;
use crate::filter::Selection;
use crate::group::Malformed;
use crate::plan::Plan;
use crate::states::{StateKind, TOO_LARGE};
use brc_core::{Batch, BitmapBuffer, Column, Data, Integers};
use foldhash::fast::FixedState;
use std::hash::{BuildHasher, Hasher};

/// The hash of a tuple that chooses its partition is independent of that of the partitions' tables.
const SEED: u64 = 0x7061_7274_6974_696f;

/// The bits of the hash that choose the partition.
const PARTITION_BITS: u32 = 8;

/// How many partitions there are.
pub(super) const PARTITIONS: usize = 1 << PARTITION_BITS;

/// Words of memory that a partition gets at a time.
const CHUNK: usize = 1 << 11;

/// The most columns whose nulls fit a word.
const MOST_COLUMNS: usize = 64;

/// Which columns of a batch a record has values of.
#[derive(Debug)]
pub(crate) struct Layout {
    /// How many columns a batch has.
    columns: usize,
    /// Those with values, of which the flag says whether they are floats.
    values: Vec<(usize, bool)>,
    /// Whether a word of nulls follows.
    nulls: bool,
}

impl Layout {
    /// For the states of a plan; `None` if its values do not fit.
    pub(super) fn of(plan: &Plan) -> Option<Self> {
        let (projection, fields) = (plan.batch_columns(), plan.fields());
        let mut kinds: Vec<(usize, Vec<StateKind>)> = Vec::new();
        for (columns, kind) in plan.states() {
            for column in columns {
                match kinds.iter_mut().find(|(known, _)| *known == column) {
                    Some((_, kinds)) => kinds.push(kind),
                    None => kinds.push((column, vec![kind])),
                }
            }
        }
        let fits = |(column, kinds): &(usize, Vec<StateKind>)| fits_record(fields[*column].logical_type, kinds);
        if !kinds.iter().all(fits) || kinds.len() > MOST_COLUMNS {
            return None;
        }
        let place = |&(column, _): &(usize, Vec<StateKind>)| {
            let position = projection.iter().position(|&projected| projected == column)?;
            Some((position, fields[column].logical_type.physical() == brc_core::PhysicalType::Floats))
        };
        let nulls = kinds.iter().any(|(column, _)| fields[*column].nullable);
        Some(Self { columns: projection.len(), values: kinds.iter().map(place).collect::<Option<_>>()?, nulls })
    }

    fn words(&self) -> usize {
        self.values.len() + usize::from(self.nulls)
    }
}

/// One worker's records.
#[derive(Debug)]
pub(crate) struct Records<'a> {
    pub(super) layout: &'a Layout,
    /// Words of a tuple.
    width: usize,
    pub(super) partitions: Vec<Chunks>,
    /// The values of a batch's columns.
    lanes: Vec<Vec<u64>>,
    nulls: Vec<u64>,
}

/// The records of one partition.
#[derive(Debug, Default)]
pub(super) struct Chunks {
    full: Vec<Vec<u64>>,
    last: Vec<u64>,
}

impl Chunks {
    /// Room for one more record of so many words.
    #[inline]
    fn room(&mut self, words: usize) -> &mut Vec<u64> {
        if self.last.len() + words > self.last.capacity() {
            let chunk = std::mem::replace(&mut self.last, Vec::with_capacity(CHUNK.max(words)));
            if !chunk.is_empty() {
                self.full.push(chunk);
            }
        }
        &mut self.last
    }

    /// How many words all records have.
    pub(super) fn words(&self) -> usize {
        self.full.iter().map(Vec::len).sum::<usize>() + self.last.len()
    }

    /// All records, chunk by chunk.
    pub(super) fn into_iter(self) -> impl Iterator<Item = Vec<u64>> {
        self.full.into_iter().chain([self.last])
    }
}

/// The partition of a tuple.
#[inline]
pub(super) fn partition_of(hasher: &FixedState, tuple: &[u64]) -> usize {
    let mut state = hasher.build_hasher();
    tuple.iter().for_each(|&word| state.write_u64(word));
    (state.finish() >> (64 - PARTITION_BITS)) as usize
}

pub(super) fn partition_hasher() -> FixedState {
    FixedState::with_seed(SEED)
}

impl<'a> Records<'a> {
    pub(super) fn new(width: usize, layout: &'a Layout) -> Self {
        let mut partitions = Vec::new();
        partitions.resize_with(PARTITIONS, Chunks::default);
        Self { layout, width, partitions, lanes: vec![Vec::new(); layout.values.len()], nulls: Vec::new() }
    }

    /// Words of a record.
    pub(super) fn words(&self) -> usize {
        self.width + self.layout.words()
    }

    /// Adds the wanted rows of a batch whose tuples fit. Marks the others in `left`, and returns how many they are.
    pub(super) fn add(
        &mut self,
        tuples: &[u64],
        fits: &[bool],
        batch: &Batch<'_>,
        selection: Selection<'_>,
        left: &mut [u64],
    ) -> Result<usize, Malformed> {
        self.take_values(batch)?;
        let (hasher, width, words) = (partition_hasher(), self.width, self.words());
        let Self { layout, partitions, lanes, nulls, .. } = self;
        let mut unfit = 0;
        let mut add = |row: usize| {
            if !fits[row] {
                left[row / 64] |= 1 << (row % 64);
                unfit += 1;
                return;
            }
            let tuple = &tuples[row * width..(row + 1) * width];
            let record = partitions[partition_of(&hasher, tuple)].room(words);
            // Word by word: so few are not worth a call.
            tuple.iter().for_each(|&word| record.push(word));
            lanes.iter().for_each(|lane| record.push(lane[row]));
            if layout.nulls {
                record.push(nulls[row]);
            }
        };
        match selection {
            Selection::All => (0..batch.rows).for_each(add),
            Selection::Some(mask, _) => {
                for (index, &word) in mask.iter().enumerate() {
                    let mut left = word;
                    while left != 0 {
                        add(index * 64 + left.trailing_zeros() as usize);
                        left &= left - 1;
                    }
                }
            }
        }
        Ok(unfit)
    }

    /// Finds the words of the values of all rows.
    fn take_values(&mut self, batch: &Batch<'_>) -> Result<(), Malformed> {
        self.nulls.clear();
        if self.layout.nulls {
            self.nulls.resize(batch.rows, 0);
        }
        for (place, (&(position, is_float), lane)) in self.layout.values.iter().zip(&mut self.lanes).enumerate() {
            let column = batch.columns.get(position).ok_or(Malformed("a column is not there"))?;
            lane.clear();
            let validity = column.validity.filter(|validity| validity.count_nulls() > 0);
            match (column.data, is_float) {
                (Data::Integers(values), false) => words(values, |row| column.is_valid(row), lane)?,
                (Data::Floats(values), true) => lane.extend(values.iter().map(|value| value.to_bits())),
                // Only whether there is a value counts.
                (Data::Codes { .. } | Data::Runs { .. } | Data::Bytes(_), false) => lane.resize(batch.rows, 0),
                (Data::Integers(_) | Data::Floats(_), _) | (_, true) => {
                    return Err(Malformed("a column is of another type"));
                }
            }
            if let Some(validity) = validity {
                let bits = self.nulls.iter_mut().zip(validity.iter());
                bits.for_each(|(nulls, valid)| *nulls |= u64::from(!valid) << place);
            }
        }
        Ok(())
    }
}

/// Appends integers as words.
fn words(values: Integers<'_>, is_valid: impl Fn(usize) -> bool, lane: &mut Vec<u64>) -> Result<(), Malformed> {
    match values {
        Integers::I8(values) => lane.extend(values.iter().map(|&value| i64::from(value) as u64)),
        Integers::I16(values) => lane.extend(values.iter().map(|&value| i64::from(value) as u64)),
        Integers::I32(values) => lane.extend(values.iter().map(|&value| i64::from(value) as u64)),
        Integers::I64(values) => lane.extend(values.iter().map(|&value| value as u64)),
        Integers::I128(values) => {
            for (row, &value) in values.iter().enumerate() {
                let value = if is_valid(row) { value } else { 0 };
                lane.push(i64::try_from(value).map_err(|_| TOO_LARGE)? as u64);
            }
        }
    }
    Ok(())
}

/// Turns records back into columns.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    layout: &'a Layout,
    width: usize,
    pub(super) tuples: Vec<u64>,
    integers: Vec<Vec<i64>>,
    floats: Vec<Vec<f64>>,
    validity: Vec<BitmapBuffer>,
    rows: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(width: usize, layout: &'a Layout) -> Self {
        let columns = layout.values.len();
        Self {
            layout,
            width,
            tuples: Vec::new(),
            integers: vec![Vec::new(); columns],
            floats: vec![Vec::new(); columns],
            validity: Vec::new(),
            rows: 0,
        }
    }

    /// Words of a record.
    pub(super) fn words(&self) -> usize {
        self.width + self.layout.words()
    }

    /// Takes the records of a chunk.
    pub(super) fn take(&mut self, chunk: &[u64]) {
        let words = self.words();
        self.rows = chunk.len() / words;
        self.tuples.clear();
        chunk.chunks_exact(words).for_each(|record| self.tuples.extend_from_slice(&record[..self.width]));
        let nulls_at = words - 1;
        self.validity.clear();
        for (place, &(_, is_float)) in self.layout.values.iter().enumerate() {
            let values = chunk.chunks_exact(words).map(|record| record[self.width + place]);
            if is_float {
                self.floats[place].clear();
                self.floats[place].extend(values.map(f64::from_bits));
            } else {
                self.integers[place].clear();
                self.integers[place].extend(values.map(|value| value as i64));
            }
            let mut validity = BitmapBuffer::default();
            if self.layout.nulls && chunk.chunks_exact(words).any(|record| record[nulls_at] >> place & 1 == 1) {
                chunk.chunks_exact(words).for_each(|record| validity.push(record[nulls_at] >> place & 1 == 0));
            }
            self.validity.push(validity);
        }
    }

    /// The columns that a batch of the plan would have, as far as they are aggregated.
    pub(super) fn columns(&self) -> (usize, Vec<Column<'_>>) {
        let mut columns = vec![Column::integers(Integers::I64(&[])); self.layout.columns];
        for (place, &(position, is_float)) in self.layout.values.iter().enumerate() {
            let data = match is_float {
                true => Data::Floats(&self.floats[place]),
                false => Data::Integers(Integers::I64(&self.integers[place])),
            };
            columns[position] = Column::from(data).with_validity(self.validity[place].bitmap());
        }
        (self.rows, columns)
    }
}
