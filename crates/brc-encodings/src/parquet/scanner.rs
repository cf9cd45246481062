//! Scans row groups for one worker: reads the column chunks wanted and delivers them window by window.

use super::chunk::{NumberChunk, StringChunk};
use super::page::Pages;
use super::table::{Bounds, Chunk, ParquetTable, RowGroup};
use crate::columnar::{Fault, Numbers, WINDOW};
use crate::input::read_full_at;
use brc_core::{
    Batch, Column, Error, Known, LogicalType, Result, ScanError, ScanOptions, Scanned, Scanner, Sink, Split, Verdict,
};
use brc_kernels::cpu::Level;
use brc_kernels::interner::Interner;
use std::time::{Duration, Instant};

pub(super) struct ParquetScanner<'t> {
    table: &'t ParquetTable,
    options: ScanOptions,
    columns: Vec<ScanColumn>,
}

/// One column of the projection, with buffers that live as long as the scanner.
struct ScanColumn {
    column: usize,
    pages: Pages,
    values: Values,
}

/// The values of the batch, and where we are in the column chunk.
enum Values {
    Strings { chunk: StringChunk, codes: Vec<u32>, interner: Interner },
    Numbers { chunk: NumberChunk, numbers: Numbers },
}

impl<'t> ParquetScanner<'t> {
    pub(super) fn new(table: &'t ParquetTable, options: ScanOptions) -> Result<Self> {
        let columns = options.projection.iter().map(|&column| ScanColumn::new(table, column)).collect::<Result<_>>()?;
        Ok(Self { table, options, columns })
    }

    /// What the predicate is for a whole row group.
    fn decide(&self, row_group: &RowGroup) -> Verdict {
        let known = |column: usize| match row_group.chunks.get(column).map(|chunk| &chunk.bounds) {
            Some(Bounds::Numbers(min, max)) => Known::numbers(*min, *max),
            Some(Bounds::Text(min, max)) if min == max => Known::string(min),
            _ => Known::NOTHING,
        };
        self.options.predicate.as_ref().map_or(Verdict::Always, |predicate| predicate.decide(&known))
    }

    fn deliver(
        &mut self,
        index: usize,
        row_group: &RowGroup,
        sink: &mut dyn Sink,
        scanned: &mut Scanned,
    ) -> Result<Duration, ScanError> {
        let table = self.table;
        let mut in_sink = Duration::ZERO;
        for start in (0..row_group.rows).step_by(WINDOW) {
            let rows = WINDOW.min(row_group.rows - start);
            for column in &mut self.columns {
                let filled = column.fill(rows);
                filled.map_err(|fault| fault.at(&table.path, &table.place(index, column.column)))?;
            }
            let columns: Vec<_> = self.columns.iter().map(ScanColumn::as_column).collect();
            let begun = Instant::now();
            sink.batch(&Batch { rows, columns: &columns })?;
            in_sink += begun.elapsed();
            scanned.rows += rows as u64;
        }
        for column in &mut self.columns {
            column.end().map_err(|fault| fault.at(&table.path, &table.place(index, column.column)))?;
        }
        Ok(in_sink)
    }
}

impl Scanner for ParquetScanner<'_> {
    fn scan(&mut self, split: &Split, sink: &mut dyn Sink) -> Result<Option<Scanned>, ScanError> {
        let table = self.table;
        let index = usize::try_from(split.index).unwrap_or(usize::MAX);
        let Some(row_group) = table.row_groups.get(index) else { return Ok(None) };
        let mut scanned = Scanned::default();
        if self.decide(row_group) == Verdict::Never {
            scanned.skipped_rows = row_group.rows as u64;
            return Ok(Some(scanned));
        }
        let begun = Instant::now();
        for column in &mut self.columns {
            let chunk = &row_group.chunks[column.column];
            scanned.read_time += column.read(table, index, chunk)?;
            scanned.bytes += chunk.stored as u64;
        }
        let in_sink = self.deliver(index, row_group, sink, &mut scanned)?;
        for column in &mut self.columns {
            scanned.decompress_time += std::mem::take(&mut column.pages.decompress_time);
        }
        let elsewhere = scanned.read_time + scanned.decompress_time + in_sink;
        scanned.decode_time = begun.elapsed().saturating_sub(elsewhere);
        Ok(Some(scanned))
    }
}

impl ScanColumn {
    fn new(table: &ParquetTable, column: usize) -> Result<Self> {
        let field = table.schema.fields().get(column);
        let field = field.ok_or_else(|| Error::Usage(format!("there is no column {column}")))?;
        let optional = table.columns[column].is_optional;
        let values = match field.logical_type {
            LogicalType::String => Values::Strings {
                chunk: StringChunk::new(optional),
                codes: Vec::new(),
                interner: Interner::new(Level::best()),
            },
            _ => Values::Numbers {
                chunk: NumberChunk::new(table.columns[column].stored, optional),
                numbers: Numbers::I16(Vec::new()),
            },
        };
        Ok(Self { column, pages: Pages::default(), values })
    }

    /// Reads a column chunk into memory and checks it. Returns the time that reading took.
    fn read(&mut self, table: &ParquetTable, index: usize, chunk: &Chunk) -> Result<Duration> {
        let begun = Instant::now();
        let stored = self.pages.start(chunk.stored, chunk.unpacked, chunk.compression);
        let read = read_full_at(&table.file, stored, chunk.start).map_err(Error::io(&table.path, "read"))?;
        let took = begun.elapsed();
        let corrupt = |reason: &str| Error::corrupt(&table.path, table.place(index, self.column), reason);
        if read != chunk.stored {
            return Err(corrupt("the file ends within it"));
        }
        if chunk.checksum.is_some_and(|checksum| checksum != crc_fast::crc32_iscsi(self.pages.stored())) {
            return Err(corrupt("its checksum does not match"));
        }
        match &mut self.values {
            Values::Strings { chunk, .. } => *chunk = StringChunk::new(table.columns[self.column].is_optional),
            Values::Numbers { chunk, .. } => {
                *chunk = NumberChunk::new(table.columns[self.column].stored, table.columns[self.column].is_optional);
            }
        }
        Ok(took)
    }

    /// Decodes the next rows.
    fn fill(&mut self, rows: usize) -> Result<(), Fault> {
        match &mut self.values {
            Values::Strings { chunk, codes, interner } => {
                codes.clear();
                chunk.fill(&mut self.pages, rows, interner, codes)
            }
            Values::Numbers { chunk, numbers } => {
                numbers.clear();
                chunk.fill(&mut self.pages, rows, numbers)
            }
        }
    }

    /// Checks that no value is left over.
    fn end(&mut self) -> Result<(), Fault> {
        let is_over = match &mut self.values {
            Values::Strings { chunk, interner, .. } => chunk.is_over(&mut self.pages, interner)?,
            Values::Numbers { chunk, .. } => chunk.is_over(&mut self.pages)?,
        };
        if is_over { Ok(()) } else { Err(Fault::corrupt("it has more values than the row group has rows")) }
    }

    fn as_column(&self) -> Column<'_> {
        match &self.values {
            Values::Strings { codes, interner, .. } => Column::codes(codes, interner.dictionary()),
            Values::Numbers { numbers, .. } => Column::integers(numbers.as_values()),
        }
    }
}
