//! A table in memory that can be scanned.

use crate::{BatchSource, Cell, Delivery, Typed, known};
use brc_core::table::{ColumnSummary, Numbers, Sums};
use brc_core::{
    ColumnStatistics, Order, PhysicalType, Predicate, PruneResult, Result, ScanError, ScanOptions, Scanned, Scanner,
    Schema, Sink, Split, Statistics, Summary, Table,
};
use std::borrow::Borrow;
use std::path::Path;
use std::slice::from_ref;

/// A table in memory that can be scanned: a [`Typed`], owned or borrowed.
#[derive(Debug, Clone)]
pub struct MemoryTable<T> {
    table: T,
    delivery: Delivery,
}

impl<T: Borrow<Typed>> MemoryTable<T> {
    /// The given table, delivered as described.
    #[must_use]
    pub fn new(table: T, delivery: Delivery) -> Self {
        Self { table, delivery }
    }
}

impl<T: Borrow<Typed> + Send + Sync> Table for MemoryTable<T> {
    fn path(&self) -> &Path {
        Path::new("memory")
    }

    fn schema(&self) -> &Schema {
        &self.table.borrow().schema
    }

    fn rows(&self) -> Option<u64> {
        Some(self.table.borrow().rows() as u64)
    }

    fn bytes(&self) -> Option<u64> {
        None
    }

    fn reads_by_column(&self) -> bool {
        self.delivery.has_statistics
    }

    fn split(&self, index: u64) -> Option<Split> {
        let start = index as usize * self.delivery.split_rows;
        let end = self.table.borrow().rows().min(start + self.delivery.split_rows);
        (start < end).then_some(Split { index, start: start as u64, end: end as u64 })
    }

    fn rows_of(&self, split: u64) -> Option<u64> {
        let split = self.split(split).filter(|_| self.delivery.has_statistics)?;
        Some(split.end - split.start)
    }

    fn statistics(&self, split: u64, column: usize) -> ColumnStatistics<'_> {
        match self.split(split).filter(|_| self.delivery.has_statistics) {
            Some(split) => known(&self.table.borrow().columns[column][split.start as usize..split.end as usize]),
            None => ColumnStatistics::UNKNOWN,
        }
    }

    fn scanner(&self, options: &ScanOptions) -> Result<Box<dyn Scanner + '_>> {
        let mut options = options.clone();
        if !self.delivery.tests_rows {
            options.conjuncts.clear();
        }
        options.statistics &= self.delivery.has_statistics;
        Ok(Box::new(MemoryScanner { source: BatchSource::new(self.table.borrow(), self.delivery), options }))
    }
}

struct MemoryScanner<'a> {
    source: BatchSource<'a>,
    options: ScanOptions,
}

impl Scanner for MemoryScanner<'_> {
    fn scan(&mut self, split: &Split, sink: &mut dyn Sink) -> Result<Option<Scanned>, ScanError> {
        let mut rows: Vec<usize> = (split.start as usize..split.end as usize).collect();
        if self.source.delivery.in_runs && self.options.order == Order::Any {
            rows.sort_by_cached_key(|&row| self.strings(row));
        }
        let mut scanned = Scanned::default();
        for rows in rows.chunks(self.source.delivery.batch_rows) {
            if self.options.statistics {
                let runs = rows.chunk_by(|&one, &other| self.strings(one) == self.strings(other));
                let runs: Vec<&[usize]> = runs.collect();
                runs.into_iter().try_for_each(|run| self.summarise(run, sink, &mut scanned))?;
            } else {
                self.batch(rows, sink, &mut scanned)?;
            }
        }
        Ok(Some(scanned))
    }
}

impl<'a> MemoryScanner<'a> {
    /// The cells of a row in columns of strings.
    fn strings(&self, row: usize) -> Vec<&'a Cell> {
        let Typed { schema, columns } = self.source.table;
        let columns = schema.fields().iter().zip(columns);
        let strings = columns.filter(|(field, _)| field.logical_type.physical() == PhysicalType::Bytes);
        strings.map(|(_, cells)| &cells[row]).collect()
    }

    fn batch(&mut self, rows: &[usize], sink: &mut dyn Sink, scanned: &mut Scanned) -> Result<()> {
        scanned.rows += rows.len() as u64;
        self.source.batch(rows, &self.options.projection, &self.options.conjuncts, sink)
    }

    /// Delivers rows of equal strings as cheaply as the predicate and the types of the columns allow.
    fn summarise(&mut self, rows: &[usize], sink: &mut dyn Sink, scanned: &mut Scanned) -> Result<()> {
        let columns = &self.source.table.columns;
        let predicate = self.options.predicate.as_ref().unwrap_or(&Predicate::Constant(true));
        let prune_result = predicate.decide(&|column: usize| known(rows.iter().map(|&row| &columns[column][row])));
        let projection = &self.options.projection;
        let summary = |&column: &usize| OwnedSummary::new(column, rows, &mut self.source);
        match (prune_result, projection.iter().map(summary).collect::<Option<Vec<_>>>()) {
            (PruneResult::Never, _) => scanned.skipped_rows += rows.len() as u64,
            (PruneResult::Always, Some(summaries)) => {
                scanned.summarised_rows += rows.len() as u64;
                let columns: Vec<_> = summaries.iter().map(|summary| summary.column(&self.source)).collect();
                sink.summary(&Summary { rows: &[rows.len() as u32], columns: &columns })?;
            }
            _ => self.batch(rows, sink, scanned)?,
        }
        Ok(())
    }
}

/// A column of a summary.
enum OwnedSummary {
    Code(usize, u32),
    Numbers(Statistics, Option<i64>),
}

impl OwnedSummary {
    /// The summary of some rows; `None` if they have nulls, floats, or integers of more than 64 bits.
    fn new(column: usize, rows: &[usize], source: &mut BatchSource<'_>) -> Option<Self> {
        let cells = &source.table.columns[column];
        if let value @ Cell::Bytes(_) = &cells[rows[0]] {
            return Some(Self::Code(column, source.code(column, value)));
        }
        let number =
            |&row: &usize| if let Cell::Integer(value) = cells[row] { i64::try_from(value).ok() } else { None };
        let numbers: Statistics = rows.iter().map(number).collect::<Option<_>>()?;
        Some(Self::Numbers(numbers, numbers.sum.try_into().ok()))
    }

    fn column<'s>(&'s self, source: &'s BatchSource<'_>) -> ColumnSummary<'s> {
        match self {
            Self::Code(column, code) => {
                ColumnSummary::Codes { codes: from_ref(code), dictionary: source.dictionary(*column) }
            }
            Self::Numbers(numbers, sum) => ColumnSummary::Numbers(Numbers {
                min: from_ref(&numbers.min),
                max: from_ref(&numbers.max),
                sum: sum.as_ref().map_or(Sums::Wide(from_ref(&numbers.sum)), |sum| Sums::Narrow(from_ref(sum))),
            }),
        }
    }
}
