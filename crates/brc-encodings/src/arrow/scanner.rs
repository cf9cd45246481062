//! Scans record batches for one worker: reads the projected buffers and delivers them one window at a time, mostly in
//! place.

use super::arrays;
use super::buffers::Buffers;
use super::layout::BatchLayout;
use super::table::{ArrowTable, FileDictionary, StringDictionary};
use super::types::{FileColumn, Width};
use crate::columnar::arrow_columns::ArrowColumn;
use crate::columnar::{Fault, WINDOW};
use arrow_array::ArrayRef;
use arrow_buffer::ArrowNativeType;
use brc_core::{
    Batch, Bitmap, Column, ColumnStatistics, Error, Predicate, PruneResult, ReadAhead, Result, ScanError, ScanOptions,
    Scanned, Scanner, Sink, Split, ValueBounds,
};
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(super) struct ArrowScanner<'t> {
    table: &'t ArrowTable,
    columns: Vec<ScanColumn<'t>>,
    options: ScanOptions,
    ahead: ReadAhead,
}

/// One column of the projection, with buffers that live as long as the scanner.
struct ScanColumn<'t> {
    index: usize,
    column: &'t FileColumn,
    buffers: Buffers,
    values: ValueSource,
}

/// How the values of a column are obtained.
enum ValueSource {
    /// As arrays that the library builds from the buffers; the optional array is the dictionary of codes.
    Arrays(Box<ArrowColumn>, Option<ArrayRef>),
    /// As codes of a string dictionary.
    Codes(Codes),
}

/// Codes as stored in a buffer.
struct Codes {
    dictionary: Arc<StringDictionary>,
    width: Width,
    /// The null count of the record batch.
    nulls: usize,
    /// The rows of the record batch.
    rows: usize,
    /// The codes of a window that cannot be borrowed in place.
    codes: Vec<u32>,
}

/// The positions of the validity bitmap and of the values among the buffers.
const VALIDITY: usize = 0;
const VALUES: usize = 1;

impl<'t> ArrowScanner<'t> {
    pub(super) fn new(table: &'t ArrowTable, options: &ScanOptions) -> Result<Self> {
        let columns = options.projection.iter().map(|&column| ScanColumn::new(table, column)).collect::<Result<_>>()?;
        Ok(Self { table, columns, options: options.clone(), ahead: ReadAhead::default() })
    }

    /// Announces the ranges to read of a split, and of some later ones.
    fn read_ahead(&mut self, split: &Split) {
        let Self { table, options, ahead, .. } = self;
        let bytes_of = |split: u64| {
            let batches = table.batches_of(split).into_iter().flatten().filter_map(|index| table.batches.get(index));
            let open = batches.filter(|batch| decide(options.predicate.as_ref(), batch) != PruneResult::Never);
            let columns =
                open.flat_map(|batch| options.projection.iter().filter_map(|&column| batch.columns.get(column)));
            columns.flatten().cloned().collect()
        };
        ahead.begin(&table.file, options.later_splits(*table, split.index), split.index, bytes_of);
    }

    fn scan_batch(&mut self, index: usize, sink: &mut dyn Sink, scanned: &mut Scanned) -> Result<Duration, ScanError> {
        let table = self.table;
        let Some(layout) = table.batches.get(index) else { return Ok(Duration::ZERO) };
        if decide(self.options.predicate.as_ref(), layout) == PruneResult::Never {
            scanned.skipped_rows += layout.rows as u64;
            return Ok(Duration::ZERO);
        }
        for column in &mut self.columns {
            column.read(table, index, layout)?;
        }
        let mut in_sink = Duration::ZERO;
        for start in (0..layout.rows).step_by(WINDOW) {
            let rows = start..layout.rows.min(start + WINDOW);
            for column in &mut self.columns {
                if let ValueSource::Codes(codes) = &mut column.values {
                    let filled = codes.fill(&column.buffers, rows.clone());
                    filled.map_err(|fault| fault.at(&table.path, &table.location(index, column.index)))?;
                }
            }
            let columns: Vec<_> = self.columns.iter().map(|column| column.as_column(rows.clone())).collect();
            let begun = Instant::now();
            sink.batch(&Batch { rows: rows.len(), columns: &columns })?;
            in_sink += begun.elapsed();
        }
        scanned.rows += layout.rows as u64;
        Ok(in_sink)
    }
}

/// The prune result of a predicate for a record batch.
fn decide(predicate: Option<&Predicate>, batch: &BatchLayout) -> PruneResult {
    let known = |column: usize| match batch.bounds.get(column) {
        Some(&Some((min, max))) => {
            let nulls = batch.nulls.get(column).is_none_or(|&nulls| nulls > 0);
            ColumnStatistics { values: ValueBounds::Numbers { min, max }, nulls }
        }
        _ => ColumnStatistics::UNKNOWN,
    };
    predicate.map_or(PruneResult::Always, |predicate| predicate.decide(&known))
}

impl Scanner for ArrowScanner<'_> {
    fn scan(&mut self, split: &Split, sink: &mut dyn Sink) -> Result<Option<Scanned>, ScanError> {
        let Some(batches) = self.table.batches_of(split.index) else { return Ok(None) };
        let mut scanned = Scanned::default();
        let begun = Instant::now();
        let mut in_sink = Duration::ZERO;
        self.read_ahead(split);
        for index in batches.clone() {
            in_sink += self.scan_batch(index, sink, &mut scanned)?;
        }
        ReadAhead::end(
            &self.table.file,
            batches.filter_map(|index| Some(self.table.batches.get(index)?.location.whole())),
        );
        for column in &mut self.columns {
            let cost = std::mem::take(&mut column.buffers.cost);
            scanned.bytes += cost.bytes;
            scanned.read_time += cost.read_time;
            scanned.decompress_time += cost.decompress_time;
        }
        let elsewhere = scanned.read_time + scanned.decompress_time + in_sink;
        scanned.decode_time = begun.elapsed().saturating_sub(elsewhere);
        Ok(Some(scanned))
    }
}

impl<'t> ScanColumn<'t> {
    fn new(table: &'t ArrowTable, index: usize) -> Result<Self> {
        let column = table.columns.get(index).ok_or_else(|| Error::Usage(format!("there is no column {index}")))?;
        let arrays = || Box::new(ArrowColumn::new(column.logical_type, table.is_own));
        let values = match column.dictionary {
            None => ValueSource::Arrays(arrays(), None),
            Some((id, width)) => match table.dictionary(index, id)? {
                FileDictionary::Any(values) => ValueSource::Arrays(arrays(), Some(values)),
                FileDictionary::Strings(dictionary) => {
                    ValueSource::Codes(Codes { dictionary, width, nulls: 0, rows: 0, codes: Vec::new() })
                }
            },
        };
        Ok(Self { index, column, buffers: Buffers::default(), values })
    }

    /// Reads the column of a record batch.
    fn read(&mut self, table: &ArrowTable, batch: usize, layout: &BatchLayout) -> Result<()> {
        if let ValueSource::Arrays(arrays, _) = &mut self.values {
            arrays.release();
        }
        let ranges = layout.columns.get(self.index).map(Vec::as_slice).unwrap_or_default();
        let checksum = layout.checksums.get(self.index).copied();
        let read = self.buffers.read(&table.path, &table.file, ranges, layout.codec, checksum);
        let read = read.and_then(|()| Ok(self.take(layout)?));
        read.map_err(|error| error.at(&table.path, &table.location(batch, self.index)))
    }

    /// Converts the buffers that were read.
    fn take(&mut self, layout: &BatchLayout) -> Result<(), Fault> {
        let rows = layout.rows;
        let nulls = layout.nulls.get(self.index).copied().unwrap_or_default();
        let buffers = self.buffers.all();
        match (&mut self.values, self.column.dictionary) {
            (ValueSource::Codes(codes), _) => {
                (codes.nulls, codes.rows) = (nulls, rows);
                self.buffers.check(VALUES, rows, codes.width.bytes())?;
                if nulls > 0 { self.buffers.check(VALIDITY, rows.div_ceil(8), 1) } else { Ok(()) }
            }
            (ValueSource::Arrays(arrays, Some(values)), Some((_, width))) => {
                let keys = arrays::array(&width.data_type(), rows, nulls, buffers)?;
                arrays.take(&arrays::looked_up(values, &keys)?)
            }
            (ValueSource::Arrays(arrays, _), _) => {
                arrays.take(&arrays::array(&self.column.stored, rows, nulls, buffers)?)
            }
        }
    }

    fn as_column(&self, rows: Range<usize>) -> Column<'_> {
        match &self.values {
            ValueSource::Arrays(arrays, _) => arrays.column(rows),
            ValueSource::Codes(codes) => codes.column(&self.buffers, rows),
        }
    }
}

impl Codes {
    /// Prepares a range of rows for delivery.
    fn fill(&mut self, buffers: &Buffers, rows: Range<usize>) -> Result<(), Fault> {
        let dictionary = Arc::clone(&self.dictionary);
        let translated = &dictionary.codes;
        let codes = &mut self.codes;
        codes.clear();
        let stored = match self.width {
            // Read as unsigned, a negative code is too large for any dictionary.
            Width::I32 | Width::U32 if translated.is_none() => buffers.values::<u32>(VALUES, rows.clone()),
            width => {
                widen(buffers, width, rows.clone(), codes);
                codes.as_slice()
            }
        };
        let count = translated.as_ref().map_or(dictionary.values.len(), Vec::len);
        if stored.len() != rows.len() {
            return Err(Fault::corrupt("a buffer is shorter than its rows"));
        }
        if stored.iter().max().is_some_and(|&largest| largest as usize >= count) {
            self.blank_nulls(buffers, rows, count)?;
        }
        if let Some(translated) = translated {
            for code in &mut self.codes {
                *code = translated.get(*code as usize).copied().unwrap_or_default();
            }
        }
        Ok(())
    }

    /// Sets the codes of nulls to 0, and checks that all others are below `count`.
    fn blank_nulls(&mut self, buffers: &Buffers, rows: Range<usize>, count: usize) -> Result<(), Fault> {
        self.codes.clear();
        widen(buffers, self.width, rows.clone(), &mut self.codes);
        let validity = self.validity(buffers, rows);
        for (row, code) in self.codes.iter_mut().enumerate() {
            if validity.is_some_and(|validity| !validity.get(row)) {
                *code = 0;
            } else if *code as usize >= count {
                return Err(Fault::corrupt("a code is not in its dictionary"));
            }
        }
        Ok(())
    }

    fn validity<'a>(&self, buffers: &'a Buffers, rows: Range<usize>) -> Option<Bitmap<'a>> {
        (self.nulls > 0).then(|| Bitmap::new(buffers.bytes(VALIDITY), 0, self.rows).slice(rows))
    }

    fn column<'a>(&'a self, buffers: &'a Buffers, rows: Range<usize>) -> Column<'a> {
        let codes: &[u32] =
            if self.codes.is_empty() { buffers.values(VALUES, rows.clone()) } else { self.codes.as_slice() };
        Column::codes(codes, &self.dictionary.values).with_validity(self.validity(buffers, rows))
    }
}

/// Appends the codes of a range of rows.
fn widen(buffers: &Buffers, width: Width, rows: Range<usize>, codes: &mut Vec<u32>) {
    fn extend<T: ArrowNativeType + Into<u32>>(narrow: &[T], codes: &mut Vec<u32>) {
        codes.extend(narrow.iter().map(|&code| code.into()));
    }
    match width {
        Width::I8 | Width::U8 => extend(buffers.values::<u8>(VALUES, rows), codes),
        Width::I16 | Width::U16 => extend(buffers.values::<u16>(VALUES, rows), codes),
        Width::I32 | Width::U32 => extend(buffers.values::<u32>(VALUES, rows), codes),
        Width::I64 | Width::U64 => {
            let narrow = |&code: &u64| u32::try_from(code).unwrap_or(u32::MAX);
            codes.extend(buffers.values::<u64>(VALUES, rows).iter().map(narrow));
        }
    }
}
