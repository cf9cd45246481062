//! Everything that a table delivers, in memory.

use crate::{Cell, Typed};
use brc_core::{
    Batch, Progress, Result, ScanOptions, Scanned, Schema, Sink, Split, Summary, Table, Value, Worker, scan,
};
use std::collections::BTreeMap;
use std::sync::Mutex;

/// Reads all rows of a table with so many threads.
///
/// # Errors
/// Those of the table.
///
/// # Panics
/// If a value is none of its column's type, or a split has not the rows that it said.
pub fn read(table: &dyn Table, threads: usize) -> Result<Typed> {
    let projection: Vec<usize> = (0..table.schema().fields().len()).collect();
    Ok(Typed { schema: table.schema().clone(), columns: Gathered::columns(table, &projection, threads)? })
}

/// Takes the rows of one worker.
pub struct Gathered<'a> {
    schema: &'a Schema,
    projection: &'a [usize],
    /// The columns of each split.
    splits: &'a Mutex<BTreeMap<u64, Vec<Vec<Cell>>>>,
    columns: Vec<Vec<Cell>>,
}

impl Gathered<'_> {
    /// Some columns of a table, in this order.
    ///
    /// # Errors
    /// Those of the table.
    pub fn columns(table: &dyn Table, projection: &[usize], threads: usize) -> Result<Vec<Vec<Cell>>> {
        let splits = Mutex::default();
        let schema = table.schema();
        let options = ScanOptions { projection: projection.to_vec(), ..ScanOptions::everything(schema) };
        let empty = || vec![Vec::new(); projection.len()];
        let worker = || Gathered { schema, projection, splits: &splits, columns: empty() };
        scan(table, &options, threads, &Progress::default(), worker)?;
        let mut columns = empty();
        for split in splits.into_inner().unwrap().into_values() {
            columns.iter_mut().zip(split).for_each(|(column, cells)| column.extend(cells));
        }
        Ok(columns)
    }
}

impl Worker for Gathered<'_> {
    fn sink(&mut self) -> &mut dyn Sink {
        self
    }

    fn split_done(&mut self, split: &Split, scanned: Scanned) -> Result<()> {
        let columns = self.columns.iter_mut().map(std::mem::take).collect::<Vec<_>>();
        assert!(columns.iter().all(|column| column.len() as u64 == scanned.rows), "{scanned:?}");
        self.splits.lock().unwrap().insert(split.index, columns);
        Ok(())
    }
}

impl Sink for Gathered<'_> {
    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        assert_eq!(batch.columns.len(), self.projection.len());
        for ((cells, column), &index) in self.columns.iter_mut().zip(batch.columns).zip(self.projection) {
            let logical_type = self.schema.fields()[index].logical_type;
            cells.extend((0..batch.rows).map(|row| {
                let value = Value::of_row(column, row);
                assert!(value.is_none_or(|value| value.check(logical_type).is_ok()), "{value:?} of {logical_type}");
                Cell::from(value)
            }));
        }
        Ok(())
    }

    fn summary(&mut self, _: &Summary<'_>) -> Result<()> {
        panic!("nobody allowed summaries")
    }
}
