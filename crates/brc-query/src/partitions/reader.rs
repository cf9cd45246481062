//! Reads the aggregated columns back from the records of a partition.

use super::layout::RecordLayout;
use crate::accumulate::accumulators::Accumulators;
use crate::keys::group_ids::GroupIds;
use crate::values::error::BatchError;
use crate::values::selection::Selection;
use brc_core::table::{ColumnSummary, Numbers, Sums};
use brc_core::{Batch, BitmapBuffer, Column, Data, Integers, Summary};
use brc_kernels::cpu::Level;

/// Turns records back into columns.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    layout: &'a RecordLayout,
    pub(super) tuples: Vec<u64>,
    within: Vec<Vec<i64>>,
    integers: Vec<Vec<i64>>,
    floats: Vec<Vec<f64>>,
    validity: Vec<BitmapBuffer>,
    /// How many rows each record is of, if those are not all 1.
    rows: Vec<u32>,
    records: usize,
}

impl<'a> Reader<'a> {
    /// For records of that layout.
    pub(super) fn new(layout: &'a RecordLayout) -> Self {
        let columns = layout.values.len();
        Self {
            layout,
            tuples: Vec::new(),
            within: vec![Vec::new(); layout.within.len()],
            integers: vec![Vec::new(); columns],
            floats: vec![Vec::new(); columns],
            validity: Vec::new(),
            rows: Vec::new(),
            records: 0,
        }
    }

    /// Takes the records of a chunk.
    pub(super) fn take(&mut self, chunk: &[u64]) {
        self.tuples.clear();
        self.layout.keys_of_all(chunk, &mut self.tuples);
        self.take_values(chunk);
    }

    /// Takes the values of the records of a chunk, but not their tuples.
    pub(super) fn take_values(&mut self, chunk: &[u64]) {
        let words = self.layout.words();
        self.records = chunk.len() / words;
        match words {
            1 => self.fill(chunk.as_chunks::<1>().0.iter().map(<[u64; 1]>::as_slice)),
            _ => self.fill(chunk.chunks_exact(words)),
        }
    }

    /// Takes the values of some of these records, but not their tuples.
    pub(super) fn pick(&mut self, records: &[u64], numbers: &[u32]) {
        let words = self.layout.words();
        self.records = numbers.len();
        self.fill(numbers.iter().map(|&number| &records[number as usize * words..][..words]));
    }

    fn fill<'r>(&mut self, records: impl Iterator<Item = &'r [u64]> + Clone) {
        let (last, last_of_keys) = (self.layout.words() - 1, self.layout.width - 1);
        self.rows.clear();
        if self.layout.merged {
            self.rows.extend(records.clone().map(|record| record[last] as u32));
        }
        for (within, values) in self.layout.within.iter().zip(&mut self.within) {
            values.clear();
            values.extend(records.clone().map(|record| within.value(record[last_of_keys])));
        }
        self.validity.clear();
        for (place, &(_, is_float)) in self.layout.values.iter().enumerate() {
            let values = records.clone().map(|record| record[self.layout.width + place]);
            if is_float {
                self.floats[place].clear();
                self.floats[place].extend(values.map(f64::from_bits));
            } else {
                self.integers[place].clear();
                self.integers[place].extend(values.map(|value| value as i64));
            }
            let mut validity = BitmapBuffer::default();
            let is_null = |record: &[u64]| record[last] >> place & 1 == 1;
            if self.layout.nulls && records.clone().any(is_null) {
                records.clone().for_each(|record| validity.push(!is_null(record)));
            }
            self.validity.push(validity);
        }
    }

    /// Adds what was taken to the states of the groups with these numbers; `groups` is how many groups there are by
    /// now.
    pub(super) fn add_to(&self, states: &mut Accumulators, numbers: &[u32], groups: usize) -> Result<(), BatchError> {
        if self.layout.merged {
            let columns = self.sums();
            return states.summarise(Level::best(), &Summary { rows: &self.rows, columns: &columns }, numbers, groups);
        }
        let columns = self.columns();
        let batch = Batch { rows: self.records, columns: &columns };
        states.update(Level::best(), &batch, Selection::All, GroupIds::Rows(numbers), groups)
    }

    /// The columns that a batch of the plan would have, as far as they are aggregated.
    fn columns(&self) -> Vec<Column<'_>> {
        let mut columns = vec![Column::integers(Integers::I64(&[])); self.layout.columns];
        for (place, &(position, is_float)) in self.layout.values.iter().enumerate() {
            let data = match is_float {
                true => Data::Floats(&self.floats[place]),
                false => Data::Integers(Integers::I64(&self.integers[place])),
            };
            columns[position] = Column::from(data).with_validity(self.validity[place].bitmap());
        }
        for (within, values) in self.layout.within.iter().zip(&self.within) {
            columns[within.position] = Column::integers(Integers::I64(values));
        }
        columns
    }

    /// What is known of the rows of each record. Their bounds are not wanted.
    fn sums(&self) -> Vec<ColumnSummary<'_>> {
        let numbers = |sums| ColumnSummary::Numbers(Numbers { min: sums, max: sums, sum: Sums::Narrow(sums) });
        let mut columns = vec![numbers(&[]); self.layout.columns];
        for (&(position, _), sums) in self.layout.values.iter().zip(&self.integers) {
            columns[position] = numbers(sums);
        }
        columns
    }
}
