//! Scans row groups for one worker: reads the projected column chunks and delivers them one window at a time.

use super::floats::FloatChunk;
use super::library::LibraryColumn;
use super::numbers::NumberChunk;
use super::page::Pages;
use super::row_group::{Chunk, RowGroup};
use super::string_rows::StringRows;
use super::strings::StringChunk;
use super::table::ParquetTable;
use super::types::Stored;
use crate::columnar::arrow_columns::ArrowColumn;
use crate::columnar::{Fault, WINDOW, check_bounds};
use brc_core::{
    Batch, Column, Conjunct, Data, Error, IntegerBuffer, LogicalType, Predicate, PruneResult, ReadAhead, ReadAt,
    Result, ScanError, ScanOptions, Scanned, Scanner, Sink, Split,
};
use brc_kernels::filter::{valid_bits, words};
use std::ops::Range;
use std::time::{Duration, Instant};

pub(super) struct ParquetScanner<'t> {
    table: &'t ParquetTable,
    options: ScanOptions,
    columns: Vec<ScanColumn>,
    /// For each conjunct, the positions of its columns among the projected ones.
    tested: Vec<Vec<usize>>,
    ahead: ReadAhead,
}

/// One column of the projection, with buffers that live as long as the scanner.
struct ScanColumn {
    column: usize,
    logical_type: LogicalType,
    pages: Pages,
    /// The arrays of the library, and the dictionary of all codes.
    arrays: ArrowColumn,
    decoder: ChunkDecoder,
    /// The rows of the row group decoded last; `0..0` if the column chunk was not read yet.
    decoded: Range<usize>,
}

/// The decoder of the current column chunk: its position, and the values of the batch.
enum ChunkDecoder {
    Strings { chunk: StringChunk, rows: StringRows },
    Numbers { chunk: NumberChunk, numbers: IntegerBuffer },
    Floats { chunk: FloatChunk, floats: Vec<f64> },
    Library(Option<LibraryColumn>),
}

impl<'t> ParquetScanner<'t> {
    pub(super) fn new(table: &'t ParquetTable, options: ScanOptions) -> Result<Self> {
        let columns = options.projection.iter().map(|&column| ScanColumn::new(table, column)).collect::<Result<_>>()?;
        let position = |column: &usize| options.projection.iter().position(|projected| projected == column);
        let positions = |conjunct: &Conjunct| conjunct.columns.iter().filter_map(position).collect();
        let tested = options.conjuncts.iter().map(positions).collect();
        Ok(Self { table, options, columns, tested, ahead: ReadAhead::default() })
    }

    /// Announces the ranges to read of this row group and of some later ones.
    fn read_ahead(&mut self, split: &Split) {
        let Self { table, options, ahead, .. } = self;
        let bytes_of = |split: u64| {
            let row_group = &table.row_groups[split as usize];
            let is_open = Self::decide(options.predicate.as_ref(), row_group) != PruneResult::Never;
            bytes_of(row_group, options).filter(|_| is_open).collect()
        };
        ahead.begin(&table.file, options.later_splits(*table, split.index), split.index, bytes_of);
    }

    /// The prune result of a predicate for a row group.
    fn decide(predicate: Option<&Predicate>, row_group: &RowGroup) -> PruneResult {
        predicate.map_or(PruneResult::Always, |predicate| predicate.decide(&|column| row_group.statistics(column)))
    }

    /// Delivers the rows of a row group. A column is read and decoded only once a row that passed the earlier conjuncts
    /// needs it.
    fn deliver(&mut self, index: usize, sink: &mut dyn Sink, scanned: &mut Scanned) -> Result<Duration, ScanError> {
        let row_group = &self.table.row_groups[index];
        let conjuncts = self.options.conjuncts.iter().enumerate();
        let is_open = |conjunct: &Conjunct| match &conjunct.predicate {
            Some(predicate) => Self::decide(Some(predicate), row_group) != PruneResult::Always,
            None => true,
        };
        let tests: Vec<usize> = conjuncts.filter(|(_, conjunct)| is_open(conjunct)).map(|(test, _)| test).collect();
        let mut in_sink = Duration::ZERO;
        for start in (0..row_group.rows).step_by(WINDOW) {
            let window = start..row_group.rows.min(start + WINDOW);
            self.deliver_window(index, &window, &tests, sink, scanned, &mut in_sink)?;
            scanned.rows += window.len() as u64;
        }
        for column in self.columns.iter_mut().filter(|column| column.decoded.end == row_group.rows) {
            column.end().map_err(|fault| fault.at(&self.table.path, &self.table.location(index, column.column)))?;
        }
        Ok(in_sink)
    }

    fn deliver_window(
        &mut self,
        index: usize,
        window: &Range<usize>,
        tests: &[usize],
        sink: &mut dyn Sink,
        scanned: &mut Scanned,
        in_sink: &mut Duration,
    ) -> Result<()> {
        let table = self.table;
        let mut rows: Vec<u64> = (0..words(window.len())).map(|word| valid_bits(window.len(), word)).collect();
        let mut left = window.len();
        for &test in tests {
            let positions = &self.tested[test];
            for &position in positions {
                self.columns[position].decode_window(table, index, window, scanned)?;
            }
            let columns = positions.iter().map(|&position| self.columns[position].as_column(window.len()));
            let columns: Vec<_> = columns.collect();
            let begun = Instant::now();
            left = sink.test(test, &Batch { rows: window.len(), columns: &columns }, &mut rows)?;
            *in_sink += begun.elapsed();
            if left == 0 {
                return Ok(());
            }
        }
        self.columns.iter_mut().try_for_each(|column| column.decode_window(table, index, window, scanned))?;
        let columns: Vec<_> = self.columns.iter().map(|column| column.as_column(window.len())).collect();
        let batch = Batch { rows: window.len(), columns: &columns };
        let begun = Instant::now();
        match self.tested.is_empty() {
            true => sink.batch(&batch)?,
            false => sink.tested(&batch, (left < window.len()).then_some(&rows))?,
        }
        *in_sink += begun.elapsed();
        Ok(())
    }
}

/// The byte ranges of the column chunks that a scan reads of a row group.
fn bytes_of<'r>(row_group: &'r RowGroup, options: &'r ScanOptions) -> impl Iterator<Item = Range<u64>> + Clone + 'r {
    let chunks = options.projection.iter().map(|&column| &row_group.chunks[column]);
    chunks.map(|chunk| chunk.start..chunk.start + chunk.stored as u64)
}

impl Scanner for ParquetScanner<'_> {
    fn scan(&mut self, split: &Split, sink: &mut dyn Sink) -> Result<Option<Scanned>, ScanError> {
        let table = self.table;
        let index = usize::try_from(split.index).unwrap_or(usize::MAX);
        let Some(row_group) = table.row_groups.get(index) else { return Ok(None) };
        let mut scanned = Scanned::default();
        if Self::decide(self.options.predicate.as_ref(), row_group) == PruneResult::Never {
            scanned.skipped_rows = row_group.rows as u64;
            return Ok(Some(scanned));
        }
        let begun = Instant::now();
        self.read_ahead(split);
        self.columns.iter_mut().for_each(|column| column.decoded = 0..0);
        let in_sink = self.deliver(index, sink, &mut scanned)?;
        ReadAhead::end(&table.file, bytes_of(row_group, &self.options));
        for column in &mut self.columns {
            scanned.decompress_time += column.decompress_time();
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
        Ok(Self {
            column,
            logical_type: field.logical_type,
            pages: Pages::default(),
            arrays: ArrowColumn::new(field.logical_type, table.is_own),
            decoder: ChunkDecoder::Library(None),
            decoded: 0..0,
        })
    }

    /// Decodes the rows of a window, and skips those between it and the previously decoded one.
    fn decode_window(
        &mut self,
        table: &ParquetTable,
        index: usize,
        window: &Range<usize>,
        scanned: &mut Scanned,
    ) -> Result<()> {
        if self.decoded == *window {
            return Ok(());
        }
        let row_group = &table.row_groups[index];
        if self.decoded.is_empty() {
            let chunk = &row_group.chunks[self.column];
            scanned.read_time += self.read(table, index, row_group.rows, chunk)?;
            scanned.bytes += chunk.stored as u64;
        }
        let skipped = self.skip(window.start - self.decoded.end);
        let filled = skipped.and_then(|()| self.fill(window.len(), table.is_own));
        let at = |fault: Fault| fault.after(window.start).at(&table.path, &table.location(index, self.column));
        filled.map_err(at)?;
        self.decoded = window.clone();
        Ok(())
    }

    /// Skips the next rows, which are whole windows.
    fn skip(&mut self, rows: usize) -> Result<(), Fault> {
        match &mut self.decoder {
            ChunkDecoder::Strings { chunk, .. } => chunk.skip(&mut self.pages, rows, &mut self.arrays),
            ChunkDecoder::Numbers { chunk, .. } => chunk.skip(&mut self.pages, rows),
            ChunkDecoder::Floats { chunk, .. } => chunk.skip(&mut self.pages, rows),
            ChunkDecoder::Library(None) => Ok(()),
            ChunkDecoder::Library(Some(library)) => {
                (0..rows).step_by(WINDOW).try_for_each(|_| library.next(WINDOW).map(drop))
            }
        }
    }

    /// Reads a column chunk into memory and checks it. Returns the time spent on reading.
    fn read(&mut self, table: &ParquetTable, index: usize, rows: usize, chunk: &Chunk) -> Result<Duration> {
        let begun = Instant::now();
        let stored = self.pages.start(chunk.stored, chunk.unpacked, chunk.codec, chunk.is_padded.then_some(rows));
        let read = table.file.read_full_at(stored, chunk.start).map_err(Error::io(&table.path, "read"))?;
        let took = begun.elapsed();
        let corrupt = |reason: &str| Error::corrupt(&table.path, table.location(index, self.column), reason);
        if read != chunk.stored {
            return Err(corrupt("the file ends within it"));
        }
        if chunk.checksum.is_some_and(|checksum| checksum != crc_fast::crc32_iscsi(self.pages.stored())) {
            return Err(corrupt("its checksum does not match"));
        }
        let begun = self.begin(table, rows, chunk);
        begun.map_err(|fault| fault.at(&table.path, &table.location(index, self.column)))?;
        Ok(took)
    }

    /// Prepares for a column chunk, reusing buffers.
    fn begin(&mut self, table: &ParquetTable, rows: usize, chunk: &Chunk) -> Result<(), Fault> {
        let column = &table.columns[self.column];
        let is_optional = column.is_optional;
        let before = std::mem::replace(&mut self.decoder, ChunkDecoder::Library(None));
        self.decoder = match chunk.fast {
            None => {
                let pages = std::mem::take(&mut self.pages);
                let library = LibraryColumn::new(&table.metadata, column, rows, pages, chunk.has_dictionary);
                ChunkDecoder::Library(Some(library?))
            }
            Some(Stored::Bytes) => {
                let strings =
                    if let ChunkDecoder::Strings { rows, .. } = before { rows } else { StringRows::default() };
                ChunkDecoder::Strings { chunk: StringChunk::new(is_optional, rows), rows: strings }
            }
            Some(stored @ (Stored::Int32 | Stored::Int64)) => {
                let numbers = if let ChunkDecoder::Numbers { numbers, .. } = before {
                    numbers
                } else {
                    IntegerBuffer::I16(Vec::new())
                };
                ChunkDecoder::Numbers { chunk: NumberChunk::new(stored, chunk.is_narrow(), is_optional), numbers }
            }
            Some(stored @ (Stored::Float32 | Stored::Float64)) => {
                let floats = if let ChunkDecoder::Floats { floats, .. } = before { floats } else { Vec::new() };
                ChunkDecoder::Floats { chunk: FloatChunk::new(stored, is_optional), floats }
            }
        };
        Ok(())
    }

    /// The time spent on decompression since the last call.
    fn decompress_time(&mut self) -> Duration {
        match &self.decoder {
            ChunkDecoder::Library(Some(library)) => library.decompress_time(),
            ChunkDecoder::Library(None)
            | ChunkDecoder::Strings { .. }
            | ChunkDecoder::Numbers { .. }
            | ChunkDecoder::Floats { .. } => std::mem::take(&mut self.pages.decompress_time),
        }
    }

    /// Decodes the next rows.
    fn fill(&mut self, rows: usize, is_own: bool) -> Result<(), Fault> {
        match &mut self.decoder {
            ChunkDecoder::Strings { chunk, rows: strings } => {
                strings.clear();
                chunk.fill(&mut self.pages, rows, &mut self.arrays, strings)
            }
            ChunkDecoder::Numbers { chunk, numbers } => {
                numbers.clear();
                chunk.fill(&mut self.pages, rows, numbers)?;
                if is_own { Ok(()) } else { check_bounds(&numbers.as_integers(), None, self.logical_type) }
            }
            ChunkDecoder::Floats { chunk, floats } => {
                floats.clear();
                chunk.fill(&mut self.pages, rows, floats)
            }
            ChunkDecoder::Library(None) => Ok(()),
            ChunkDecoder::Library(Some(library)) => {
                self.arrays.release();
                self.arrays.take(&library.next(rows)?)
            }
        }
    }

    /// Checks that all values were read.
    fn end(&mut self) -> Result<(), Fault> {
        let is_over = match &mut self.decoder {
            ChunkDecoder::Strings { chunk, .. } => chunk.is_over(&mut self.pages, &mut self.arrays)?,
            ChunkDecoder::Numbers { chunk, .. } => chunk.is_over(&mut self.pages)?,
            ChunkDecoder::Floats { chunk, .. } => chunk.is_over(&mut self.pages)?,
            ChunkDecoder::Library(None) => true,
            ChunkDecoder::Library(Some(library)) => library.is_over()?,
        };
        if is_over { Ok(()) } else { Err(Fault::corrupt("it has more values than the row group has rows")) }
    }

    fn as_column(&self, rows: usize) -> Column<'_> {
        match &self.decoder {
            ChunkDecoder::Strings { chunk, rows } => chunk.as_column(&self.pages, &self.arrays, rows),
            ChunkDecoder::Numbers { numbers, .. } => Column::integers(numbers.as_integers()),
            ChunkDecoder::Floats { floats, .. } => Data::Floats(floats).into(),
            ChunkDecoder::Library(_) => self.arrays.column(0..rows),
        }
    }
}
