//! Buffers the rows of one column of a part until its row group is encoded.
//!
//! The first batch determines the kind of values. Inferred types may still widen, so an encoder does not check batches
//! against a schema; the writer does so at the end.

use super::cluster::Partition;
use super::string_column::StringColumn;
use crate::integer_buffer::{IntegerBuffer, at};
use brc_core::{BitmapBuffer, Column, Data, Error, Integers, Result};
use foldhash::fast::RandomState;

/// The buffered rows of one column.
pub(super) struct ColumnBuffer {
    pub(super) values: BufferedValues,
    pub(super) validity: BitmapBuffer,
    hasher: RandomState,
}

pub(super) enum BufferedValues {
    /// No rows yet, and no buffer to reuse.
    Nothing,
    Integers(IntegerBuffer),
    /// At least one value, possibly under a null, needed more than 64 bits.
    Wide(Vec<i128>),
    Floats(Vec<f64>),
    Strings(Box<StringColumn>),
}

impl ColumnBuffer {
    /// An empty buffer. All dictionaries of the file share the hasher.
    pub(super) fn new(hasher: &RandomState) -> Self {
        Self { values: BufferedValues::Nothing, validity: BitmapBuffer::default(), hasher: hasher.clone() }
    }

    /// Appends a column of a batch.
    ///
    /// # Errors
    /// If its values are of a different kind than those before, or there are too many bytes.
    pub(super) fn append(&mut self, column: &Column<'_>, rows: usize) -> Result<()> {
        if self.validity.is_empty() && !self.values.may_be(&column.data) {
            self.values = match column.data {
                Data::Integers(_) => BufferedValues::Integers(IntegerBuffer::default()),
                Data::Floats(_) => BufferedValues::Floats(Vec::new()),
                Data::Codes { .. } | Data::Runs { .. } | Data::Bytes(_) => {
                    BufferedValues::Strings(Box::new(StringColumn::new(&self.hasher)))
                }
            };
        }
        self.validity.extend(column.validity, rows);
        match (&mut self.values, column.data) {
            (BufferedValues::Integers(_) | BufferedValues::Wide(_), Data::Integers(new)) => self.values.extend(new),
            (BufferedValues::Floats(values), Data::Floats(new)) => values.extend_from_slice(new),
            (BufferedValues::Strings(strings), Data::Codes { .. } | Data::Runs { .. } | Data::Bytes(_)) => {
                strings.append(column)?;
            }
            _ => return Err(Error::Usage("a column of one part has values of several types".to_owned())),
        }
        Ok(())
    }

    /// Moves the rows into their runs.
    ///
    /// Integers are moved into the memory of `spare`, and their old memory becomes the new `spare`.
    pub(super) fn cluster(&mut self, partition: &Partition, spare: &mut IntegerBuffer) {
        if let Some(bitmap) = self.validity.bitmap() {
            let mut arranged = BitmapBuffer::default();
            partition.rows().iter().for_each(|&row| arranged.push(bitmap.get(row as usize)));
            self.validity = arranged;
        }
        match &mut self.values {
            BufferedValues::Nothing => {}
            BufferedValues::Integers(values) => {
                partition.scatter_integers(values.slice(), spare);
                std::mem::swap(values, spare);
            }
            BufferedValues::Wide(values) => *values = partition.scatter(values),
            BufferedValues::Floats(values) => *values = partition.scatter(values),
            BufferedValues::Strings(strings) => strings.cluster(partition, spare),
        }
    }

    /// Keeps only these rows. Strings must have codes.
    pub(super) fn pick(&mut self, rows: &[u32]) {
        let mut picked = BitmapBuffer::default();
        match self.validity.bitmap() {
            Some(bitmap) => rows.iter().for_each(|&row| picked.push(bitmap.get(row as usize))),
            None => picked.push_values(rows.len()),
        }
        self.validity = picked;
        match &mut self.values {
            BufferedValues::Nothing => {}
            BufferedValues::Integers(values) => *values = values.picked(rows),
            BufferedValues::Wide(values) => *values = at(values, rows),
            BufferedValues::Floats(values) => *values = at(values, rows),
            BufferedValues::Strings(strings) => strings.pick(rows),
        }
    }

    /// Removes all rows, keeping memory for reuse.
    pub(super) fn clear(&mut self) {
        self.validity.clear();
        match &mut self.values {
            BufferedValues::Integers(values) => values.clear(),
            BufferedValues::Floats(values) => values.clear(),
            BufferedValues::Strings(strings) => strings.clear(&self.hasher),
            BufferedValues::Nothing | BufferedValues::Wide(_) => self.values = BufferedValues::Nothing,
        }
    }
}

impl BufferedValues {
    /// Whether the values can hold this data.
    fn may_be(&self, data: &Data<'_>) -> bool {
        match data {
            Data::Integers(_) => matches!(self, Self::Integers(_) | Self::Wide(_)),
            Data::Floats(_) => matches!(self, Self::Floats(_)),
            Data::Codes { .. } | Data::Runs { .. } | Data::Bytes(_) => matches!(self, Self::Strings(_)),
        }
    }

    fn extend(&mut self, new: Integers<'_>) {
        if let Self::Integers(values) = self {
            if values.extend(new).is_some() {
                return;
            }
            let values = values.slice().wide();
            *self = Self::Wide(values.iter().map(|&value| value.into()).collect());
        }
        if let Self::Wide(values) = self {
            values.extend((0..new.len()).map(|row| new.get(row)));
        }
    }
}
