//! Buffers the rows of one column of a part until its row group is encoded.
//!
//! The first batch determines the kind of values. Inferred types may still widen, so an encoder does not check batches
//! against a schema; the writer does so at the end.

use super::cluster::Partition;
use super::strings_gathered::Strings;
use crate::integer_buffer::{IntegerBuffer, at};
use brc_core::{BitmapBuffer, Column, Data, Error, Integers, Result};
use foldhash::fast::RandomState;

/// The buffered rows of one column.
pub(super) struct Gathered {
    pub(super) values: Values,
    pub(super) validity: BitmapBuffer,
    hasher: RandomState,
}

pub(super) enum Values {
    /// No rows yet, and no buffer to reuse.
    Nothing,
    Integers(IntegerBuffer),
    /// At least one value, possibly under a null, needed more than 64 bits.
    Wide(Vec<i128>),
    Floats(Vec<f64>),
    Strings(Box<Strings>),
}

impl Gathered {
    /// An empty buffer. All dictionaries of the file share the hasher.
    pub(super) fn new(hasher: &RandomState) -> Self {
        Self { values: Values::Nothing, validity: BitmapBuffer::default(), hasher: hasher.clone() }
    }

    /// Appends a column of a batch.
    ///
    /// # Errors
    /// If its values are of a different kind than those before, or there are too many bytes.
    pub(super) fn append(&mut self, column: &Column<'_>, rows: usize) -> Result<()> {
        if self.validity.is_empty() && !self.values.may_be(&column.data) {
            self.values = match column.data {
                Data::Integers(_) => Values::Integers(IntegerBuffer::default()),
                Data::Floats(_) => Values::Floats(Vec::new()),
                Data::Codes { .. } | Data::Runs { .. } | Data::Bytes(_) => {
                    Values::Strings(Box::new(Strings::new(&self.hasher)))
                }
            };
        }
        self.validity.extend(column.validity, rows);
        match (&mut self.values, column.data) {
            (Values::Integers(_) | Values::Wide(_), Data::Integers(new)) => self.values.extend(new),
            (Values::Floats(values), Data::Floats(new)) => values.extend_from_slice(new),
            (Values::Strings(strings), Data::Codes { .. } | Data::Runs { .. } | Data::Bytes(_)) => {
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
            Values::Nothing => {}
            Values::Integers(values) => {
                partition.scatter_integers(values.slice(), spare);
                std::mem::swap(values, spare);
            }
            Values::Wide(values) => *values = partition.scatter(values),
            Values::Floats(values) => *values = partition.scatter(values),
            Values::Strings(strings) => strings.cluster(partition, spare),
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
            Values::Nothing => {}
            Values::Integers(values) => *values = values.picked(rows),
            Values::Wide(values) => *values = at(values, rows),
            Values::Floats(values) => *values = at(values, rows),
            Values::Strings(strings) => strings.pick(rows),
        }
    }

    /// Removes all rows, keeping memory for reuse.
    pub(super) fn clear(&mut self) {
        self.validity.clear();
        match &mut self.values {
            Values::Integers(values) => values.clear(),
            Values::Floats(values) => values.clear(),
            Values::Strings(strings) => strings.clear(&self.hasher),
            Values::Nothing | Values::Wide(_) => self.values = Values::Nothing,
        }
    }
}

impl Values {
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
