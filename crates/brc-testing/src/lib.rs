#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![allow(clippy::panic, clippy::unwrap_used)]

mod cell;
mod collect;
mod delivery;
mod function_table;
mod memory_table;

pub use cell::{Cell, all_types, extremes, is_plain, known, ordinary};
pub use collect::{CellSummary, Collector, collect, collect_columns, collect_rows, read};
pub use delivery::{BatchSource, Delivery};
pub use function_table::FunctionTable;
pub use memory_table::MemoryTable;

use brc_core::{Field, LogicalType, Result, Schema, Sink};
use std::ops::Range;

/// A table in memory, column by column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Typed {
    /// The names and types of the columns.
    pub schema: Schema,
    /// The cells of each column, one per row.
    pub columns: Vec<Vec<Cell>>,
}

impl Typed {
    /// A table of these columns.
    ///
    /// # Panics
    /// If two columns have the same name, or different lengths.
    #[must_use]
    pub fn new(columns: Vec<(Field, Vec<Cell>)>) -> Self {
        let (fields, columns): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
        let table = Self { schema: Schema::new(fields).unwrap(), columns };
        assert!(table.columns.iter().all(|column| column.len() == table.rows()), "columns of several lengths");
        table
    }

    /// A table of these rows.
    ///
    /// # Panics
    /// If a row has a different number of cells than there are columns.
    #[must_use]
    pub fn of_rows(schema: Schema, rows: &[Vec<Cell>]) -> Self {
        let width = schema.fields().len();
        assert!(rows.iter().all(|row| row.len() == width), "rows of several lengths");
        let column = |column: usize| rows.iter().map(|row| row[column].clone()).collect();
        Self { columns: (0..width).map(column).collect(), schema }
    }

    /// A column of each type, `c0`, `c1` …, with values that every encoding can hold. `null` decides by row and column
    /// whether a cell is null; a column without nulls is `not null`.
    #[must_use]
    pub fn of_every_type(rows: usize, null: impl Fn(usize, usize) -> bool) -> Self {
        Self::of_types(&all_types(), rows, ordinary, null)
    }

    /// A column of each of these types, with the values that `values` returns for the type.
    #[must_use]
    pub fn of_types(
        types: &[LogicalType],
        rows: usize,
        values: impl Fn(LogicalType) -> Vec<Cell>,
        null: impl Fn(usize, usize) -> bool,
    ) -> Self {
        let column = |(index, &logical_type): (usize, &LogicalType)| {
            let values = values(logical_type);
            // Each value in turn, then in runs, then at random.
            let value = |row: usize| match row / 64 % 3 {
                0 => row,
                1 => row / 7,
                _ => row * row / 3 + index,
            };
            let cell = |row: usize| match null(row, index) {
                true => Cell::Null,
                false => values[value(row) % values.len()].clone(),
            };
            let cells: Vec<_> = (0..rows).map(cell).collect();
            let nullable = cells.contains(&Cell::Null);
            (Field { name: format!("c{index}"), logical_type, nullable }, cells)
        };
        Self::new(types.iter().enumerate().map(column).collect())
    }

    /// The same cells in nullable columns.
    #[must_use]
    pub fn nullable(mut self) -> Self {
        let fields = self.schema.fields().iter().map(|field| Field { nullable: true, ..field.clone() });
        self.schema = Schema::new(fields.collect()).unwrap();
        self
    }

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, Vec::len)
    }

    /// Delivers all columns of some rows to a sink, such as an encoder.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn give(&self, rows: Range<usize>, delivery: Delivery, sink: &mut dyn Sink) -> Result<()> {
        BatchSource::new(self, delivery).give(rows, sink)
    }
}
