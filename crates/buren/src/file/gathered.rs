//! The rows of one column of a part, gathered until its row group is encoded.
//!
//! What a column is like shows in its first batch: types that are inferred may still become wider, so an encoder does not
//! hold the batches against a schema. The writer does, when all is known.

use super::cluster::Partition;
use super::strings_gathered::Strings;
use crate::integer_buffer::{IntegerBuffer, at};
use brc_core::{BitmapBuffer, Column, Data, Error, Integers, Result};
use foldhash::fast::RandomState;

/// The rows of one column.
pub(super) struct Gathered {
    pub(super) values: Values,
    pub(super) validity: BitmapBuffer,
    hasher: RandomState,
}

pub(super) enum Values {
    /// No batch came yet, or none that memory was kept of.
    Nothing,
    Integers(IntegerBuffer),
    /// At least one value has needed more than 64 bits; it may have been a null.
    Wide(Vec<i128>),
    Floats(Vec<f64>),
    Strings(Box<Strings>),
}

impl Gathered {
    /// No rows yet. The hasher is that of all dictionaries of the file.
    pub(super) fn new(hasher: &RandomState) -> Self {
        Self { values: Values::Nothing, validity: BitmapBuffer::default(), hasher: hasher.clone() }
    }

    /// Adds the rows of a batch's column.
    ///
    /// # Errors
    /// If these are other values than those before, or too many bytes.
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
    /// The integers of one column lie in the memory that those of another one had.
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

    /// Keeps these rows only, of which strings have codes.
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

    /// Forgets the rows, but keeps memory for others.
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
    /// Whether they are of the kind that these are.
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
