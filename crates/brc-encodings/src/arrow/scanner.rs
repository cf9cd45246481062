//! Scans record batches for one worker: reads the buffers wanted and lends them, window by window, mostly as they lie.

use super::buffers::Buffers;
use super::strings;
use super::table::{ArrowTable, FileDictionary};
use super::types::{FileColumn, Stored, Width};
use crate::columnar::{Fault, WINDOW};
use arrow_buffer::ArrowNativeType;
use brc_core::{
    Batch, Column, Error, Integers, Known, Predicate, Result, ScanError, ScanOptions, Scanned, Scanner, Sink, Split,
    Verdict,
};
use brc_kernels::cpu::Level;
use brc_kernels::interner::Interner;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(super) struct ArrowScanner<'t> {
    table: &'t ArrowTable,
    predicate: Option<Predicate>,
    columns: Vec<ScanColumn<'t>>,
}

/// One column of the projection, with buffers that live as long as the scanner.
struct ScanColumn<'t> {
    index: usize,
    column: &'t FileColumn,
    strings: Option<Names>,
    buffers: Buffers,
    /// What of the batch cannot be lent as it lies.
    codes: Vec<u32>,
    shorts: Vec<i16>,
    numbers: Vec<i64>,
}

/// What codes stand for.
enum Names {
    /// Those of the file.
    File(Arc<FileDictionary>),
    /// Those of this scanner, for strings that have none in the file.
    Own(Interner),
}

impl<'t> ArrowScanner<'t> {
    pub(super) fn new(table: &'t ArrowTable, options: &ScanOptions) -> Result<Self> {
        let columns = options.projection.iter().map(|&column| ScanColumn::new(table, column)).collect::<Result<_>>()?;
        Ok(Self { table, predicate: options.predicate.clone(), columns })
    }

    fn scan_batch(&mut self, index: usize, sink: &mut dyn Sink, scanned: &mut Scanned) -> Result<Duration, ScanError> {
        let table = self.table;
        let Some(layout) = table.batches.get(index) else { return Ok(Duration::ZERO) };
        let known = |column: usize| match layout.bounds.get(column) {
            Some(Some((min, max))) => Known::numbers(*min, *max),
            _ => Known::NOTHING,
        };
        if self.predicate.as_ref().is_some_and(|predicate| predicate.decide(&known) == Verdict::Never) {
            scanned.skipped_rows += layout.rows as u64;
            return Ok(Duration::ZERO);
        }
        for column in &mut self.columns {
            column.read(table, index)?;
        }
        let mut in_sink = Duration::ZERO;
        for start in (0..layout.rows).step_by(WINDOW) {
            let rows = start..layout.rows.min(start + WINDOW);
            for column in &mut self.columns {
                let filled = column.fill(rows.clone());
                filled.map_err(|fault| fault.at(&table.path, &table.place(index, column.index)))?;
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

impl Scanner for ArrowScanner<'_> {
    fn scan(&mut self, split: &Split, sink: &mut dyn Sink) -> Result<Option<Scanned>, ScanError> {
        let Some(batches) = self.table.batches_of(split.index) else { return Ok(None) };
        let mut scanned = Scanned::default();
        let begun = Instant::now();
        let mut in_sink = Duration::ZERO;
        for index in batches {
            in_sink += self.scan_batch(index, sink, &mut scanned)?;
        }
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
        let strings = match (column.dictionary, column.stored) {
            (Some((id, _)), _) => Some(Names::File(table.dictionary(index, id)?)),
            (None, Stored::Integers(_) | Stored::Wide) => None,
            (None, _) => Some(Names::Own(Interner::new(Level::best()))),
        };
        let buffers = Buffers::default();
        Ok(Self { index, column, strings, buffers, codes: Vec::new(), shorts: Vec::new(), numbers: Vec::new() })
    }

    /// Reads the column of a record batch.
    fn read(&mut self, table: &ArrowTable, batch: usize) -> Result<()> {
        let layout = &table.batches[batch];
        layout.check_nulls(self.index).map_err(|fault| fault.at(&table.path, &table.place(batch, self.index)))?;
        let places = layout.columns.get(self.index).map(Vec::as_slice).unwrap_or_default();
        let checksum = layout.checksums.get(self.index).copied();
        let stored = self.stored();
        let read = self.buffers.read(&table.path, &table.file, places, layout.codec, checksum);
        let read = read.and_then(|()| Ok(self.buffers.check(stored, layout.rows)?));
        read.map_err(|error| error.at(&table.path, &table.place(batch, self.index)))
    }

    /// How what is in the first buffer lies.
    fn stored(&self) -> Stored {
        self.column.dictionary.map_or(self.column.stored, |(_, width)| Stored::Integers(width))
    }

    /// Makes some rows ready to be lent.
    fn fill(&mut self, rows: Range<usize>) -> Result<(), Fault> {
        self.codes.clear();
        let in_buffer = self.stored();
        match (&mut self.strings, in_buffer) {
            (Some(Names::Own(interner)), stored) => {
                let codes = &mut self.codes;
                strings::for_each(&self.buffers, stored, rows, |value| codes.push(interner.intern(value)))
            }
            (Some(Names::File(dictionary)), Stored::Integers(width)) => {
                let dictionary = Arc::clone(dictionary);
                self.fill_codes(width, rows, &dictionary)
            }
            (None, Stored::Integers(width)) => self.fill_numbers(width, rows),
            (Some(Names::File(_)) | None, _) => {
                self.numbers.clear();
                for &value in self.buffers.values::<i128>(rows) {
                    let narrow = i64::try_from(value);
                    self.numbers.push(narrow.map_err(|_| Fault::unsupported("a number does not fit 64 bits"))?);
                }
                Ok(())
            }
        }
    }

    fn fill_codes(&mut self, width: Width, rows: Range<usize>, dictionary: &FileDictionary) -> Result<(), Fault> {
        let Self { buffers, codes, .. } = self;
        let values = dictionary.codes.as_ref().map_or(dictionary.values.len(), Vec::len);
        let lent = match width {
            // A negative code is too large for any dictionary if it is read without its sign.
            Width::I32 | Width::U32 if dictionary.codes.is_none() => buffers.values::<u32>(rows),
            _ => {
                match width {
                    Width::I8 | Width::U8 => widen(buffers.values::<u8>(rows), codes),
                    Width::I16 | Width::U16 => widen(buffers.values::<u16>(rows), codes),
                    Width::I32 | Width::U32 => widen(buffers.values::<u32>(rows), codes),
                    Width::I64 | Width::U64 => {
                        let narrow = |&code: &u64| u32::try_from(code).unwrap_or(u32::MAX);
                        codes.extend(buffers.values::<u64>(rows).iter().map(narrow));
                    }
                }
                codes.as_slice()
            }
        };
        if lent.iter().max().is_some_and(|&largest| largest as usize >= values) {
            return Err(Fault::corrupt("a code is not in its dictionary"));
        }
        if let Some(translated) = &dictionary.codes {
            for code in codes {
                *code = translated[*code as usize];
            }
        }
        Ok(())
    }

    fn fill_numbers(&mut self, width: Width, rows: Range<usize>) -> Result<(), Fault> {
        let Self { buffers, shorts, numbers, .. } = self;
        shorts.clear();
        numbers.clear();
        match width {
            Width::I16 | Width::I32 | Width::I64 => {}
            Width::I8 => shorts.extend(buffers.values::<i8>(rows).iter().map(|&value| i16::from(value))),
            Width::U8 => shorts.extend(buffers.values::<u8>(rows).iter().map(|&value| i16::from(value))),
            Width::U16 => numbers.extend(buffers.values::<u16>(rows).iter().map(|&value| i64::from(value))),
            Width::U32 => numbers.extend(buffers.values::<u32>(rows).iter().map(|&value| i64::from(value))),
            Width::U64 => {
                for &value in buffers.values::<u64>(rows) {
                    let too_large = || Fault::unsupported(format!("the unsigned number {value} does not fit 64 bits"));
                    numbers.push(i64::try_from(value).map_err(|_| too_large())?);
                }
            }
        }
        Ok(())
    }

    fn as_column(&self, rows: Range<usize>) -> Column<'_> {
        match (&self.strings, self.column.stored) {
            (Some(Names::Own(interner)), _) => Column::codes(&self.codes, interner.dictionary()),
            (Some(Names::File(file)), _) => {
                let is_lent = self.codes.is_empty();
                let codes = if is_lent { self.buffers.values(rows) } else { self.codes.as_slice() };
                Column::codes(codes, &file.values)
            }
            (None, Stored::Integers(Width::I16)) => Column::integers(Integers::I16(self.buffers.values(rows))),
            (None, Stored::Integers(Width::I32)) => Column::integers(Integers::I32(self.buffers.values(rows))),
            (None, Stored::Integers(Width::I64)) => Column::integers(Integers::I64(self.buffers.values(rows))),
            (None, Stored::Integers(Width::I8 | Width::U8)) => Column::integers(Integers::I16(&self.shorts)),
            (None, _) => Column::integers(Integers::I64(&self.numbers)),
        }
    }
}

fn widen<T: ArrowNativeType + Into<u32>>(narrow: &[T], codes: &mut Vec<u32>) {
    codes.extend(narrow.iter().map(|&code| code.into()));
}
