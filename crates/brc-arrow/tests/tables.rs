//! What tables are as record batches: every type, every form of strings, any number of threads.

#![allow(clippy::unwrap_used, clippy::panic)]

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    Time32MillisecondType, Time32SecondType, Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, DataType, TimeUnit};
use brc_arrow::{Options, Reader, StringForm};
use brc_core::{
    Batch, Column, Data, Dictionary, Error, Field, LogicalType, Result, ScanError, ScanOptions, Scanned, Scanner,
    Schema, Sink, Split, Table, float32, uuid,
};
use brc_testing::{Cell, Delivery, MemoryTable, Typed, all_types, extremes};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, mpsc};
use std::time::Duration;

fn cell(array: &dyn Array, row: usize) -> Cell {
    macro_rules! integer {
        ($($type:ty),*) => { match array.data_type() {
            DataType::Boolean => i128::from(array.as_boolean().value(row)),
            $(other if *other == <$type as arrow_array::ArrowPrimitiveType>::DATA_TYPE => array.as_primitive::<$type>().value(row).into(),)*
            other => panic!("{other}"),
        }};
    }
    if array.is_null(row) {
        return Cell::Null;
    }
    match array.data_type() {
        DataType::Float32 => Cell::Float(float32::widen(array.as_primitive::<Float32Type>().value(row)).to_bits()),
        DataType::Float64 => Cell::Float(array.as_primitive::<Float64Type>().value(row).to_bits()),
        DataType::Decimal128(..) => Cell::Integer(array.as_primitive::<Decimal128Type>().value(row)),
        DataType::FixedSizeBinary(_) => {
            Cell::Integer(uuid::from_bytes(array.as_fixed_size_binary().value(row).try_into().unwrap()))
        }
        DataType::Timestamp(unit, _) => Cell::Integer(i128::from(match unit {
            TimeUnit::Second => array.as_primitive::<TimestampSecondType>().value(row),
            TimeUnit::Millisecond => array.as_primitive::<TimestampMillisecondType>().value(row),
            TimeUnit::Microsecond => array.as_primitive::<TimestampMicrosecondType>().value(row),
            TimeUnit::Nanosecond => array.as_primitive::<TimestampNanosecondType>().value(row),
        })),
        DataType::Utf8View => Cell::Bytes(array.as_string_view().value(row).as_bytes().to_vec()),
        DataType::Utf8 => Cell::Bytes(array.as_string::<i32>().value(row).as_bytes().to_vec()),
        DataType::Binary => Cell::Bytes(array.as_binary::<i32>().value(row).to_vec()),
        DataType::Dictionary(..) => {
            let codes = array.as_dictionary::<Int32Type>();
            cell(codes.values().as_ref(), codes.keys().value(row) as usize)
        }
        _ => Cell::Integer(integer!(
            Int8Type,
            Int16Type,
            Int32Type,
            Int64Type,
            UInt64Type,
            Date32Type,
            Time32SecondType,
            Time32MillisecondType,
            Time64MicrosecondType,
            Time64NanosecondType
        )),
    }
}

/// A table that owns what it is made of.
struct Owned(Typed, Delivery);

impl Table for Owned {
    fn path(&self) -> &Path {
        Path::new("memory")
    }

    fn schema(&self) -> &Schema {
        &self.0.schema
    }

    fn rows(&self) -> Option<u64> {
        Some(self.0.rows() as u64)
    }

    fn bytes(&self) -> Option<u64> {
        None
    }

    fn split(&self, index: u64) -> Option<Split> {
        MemoryTable::new(&self.0, self.1).split(index)
    }

    fn scanner(&self, options: &ScanOptions) -> Result<Box<dyn Scanner + '_>> {
        let dictionaries = vec![Dictionary::new(); self.0.columns.len()];
        Ok(Box::new(OwnedScanner(self, options.projection.clone(), dictionaries)))
    }
}

struct OwnedScanner<'a>(&'a Owned, Vec<usize>, Vec<Dictionary>);

impl Scanner for OwnedScanner<'_> {
    fn scan(&mut self, split: &Split, sink: &mut dyn Sink) -> Result<Option<Scanned>, ScanError> {
        let Owned(table, delivery) = self.0;
        let rows = split.start as usize..split.end as usize;
        delivery.give(table, rows.clone(), &self.1, &mut self.2, sink)?;
        Ok(Some(Scanned { rows: rows.len() as u64, ..Scanned::default() }))
    }
}

/// All values of all columns.
fn read(reader: Reader) -> Vec<Vec<Cell>> {
    let schema = reader.schema();
    let mut columns = vec![Vec::new(); schema.fields().len()];
    for batch in reader {
        let batch: RecordBatch = batch.unwrap();
        assert_eq!(batch.schema(), schema);
        for (cells, array) in columns.iter_mut().zip(batch.columns()) {
            let array: &ArrayRef = array;
            cells.extend((0..array.len()).map(|row| cell(array.as_ref(), row)));
        }
    }
    columns
}

fn options(strings: StringForm, threads: usize, batch_rows: usize, bytes_ahead: usize) -> Options {
    Options { strings, threads, batch_rows, bytes_ahead, ..Options::default() }
}

#[test]
fn every_type_comes_as_it_is_in_the_table() {
    let is_text = |bytes: &[u8]| std::str::from_utf8(bytes).is_ok();
    let values = |logical_type| {
        let text =
            |cell: &Cell| logical_type != LogicalType::String || !matches!(cell, Cell::Bytes(bytes) if !is_text(bytes));
        extremes(logical_type).into_iter().filter(text).collect()
    };
    let table = Typed::of_types(&all_types(), 3_000, values, |row, column| (row + column) % 7 == 3);
    for (seed, strings) in [StringForm::View, StringForm::Dictionary, StringForm::Plain].into_iter().enumerate() {
        for (threads, batch_rows, bytes_ahead) in [(1, 1 << 16, 0), (3, 100, 1 << 20), (4, 1_000, 1)] {
            let delivery = Delivery { split_rows: 700, batch_rows: 90, seed: seed as u64 + 5 };
            let source = Arc::new(Owned(table.clone(), delivery));
            let reader = Reader::of(source, options(strings, threads, batch_rows, bytes_ahead)).unwrap();
            let found = read(reader);
            for ((field, expected), found) in table.schema.fields().iter().zip(&table.columns).zip(&found) {
                assert!(expected == found, "{} as {strings:?} with {threads} threads", field.logical_type);
            }
        }
    }
}

#[test]
fn columns_are_chosen_and_rows_without_any_are_counted() {
    let table = Typed::of_every_type(2_500, |_, _| false);
    let source = || Arc::new(Owned(table.clone(), Delivery::default()));
    let reader = Reader::of_columns(source(), vec![9, 0], Options::default()).unwrap();
    assert_eq!(read(reader), [table.columns[9].clone(), table.columns[0].clone()]);
    let reader = Reader::of_columns(source(), vec![], Options::default()).unwrap();
    assert_eq!(reader.map(|batch| batch.unwrap().num_rows()).sum::<usize>(), 2_500);
}

/// Splits without end of one row each, of which one may be bad; counts those that were scanned.
struct Endless {
    schema: Schema,
    bad: Option<u64>,
    scanned: Arc<AtomicU64>,
}

impl Endless {
    fn new(bad: Option<u64>) -> (Arc<Self>, Arc<AtomicU64>) {
        let scanned = Arc::new(AtomicU64::new(0));
        let schema = Schema::new(vec![Field::required("s", LogicalType::String)]).unwrap();
        (Arc::new(Self { schema, bad, scanned: Arc::clone(&scanned) }), scanned)
    }
}

impl Table for Endless {
    fn path(&self) -> &Path {
        Path::new("endless")
    }

    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn rows(&self) -> Option<u64> {
        None
    }

    fn bytes(&self) -> Option<u64> {
        None
    }

    fn split(&self, index: u64) -> Option<Split> {
        Some(Split { index, start: index, end: index + 1 })
    }

    fn scanner(&self, _: &ScanOptions) -> Result<Box<dyn Scanner + '_>> {
        Ok(Box::new(EndlessScanner(self)))
    }
}

struct EndlessScanner<'a>(&'a Endless);

impl Scanner for EndlessScanner<'_> {
    fn scan(&mut self, split: &Split, sink: &mut dyn Sink) -> Result<Option<Scanned>, ScanError> {
        self.0.scanned.fetch_add(1, Relaxed);
        let is_bad = self.0.bad == Some(split.index);
        let dictionary: Dictionary = [if is_bad { &b"\xff is no UTF-8"[..] } else { b"text" }].into_iter().collect();
        let column = Column::from(Data::Codes { codes: &[0], dictionary: &dictionary });
        sink.batch(&Batch { rows: 1, columns: &[column] })?;
        Ok(Some(Scanned { rows: 1, ..Scanned::default() }))
    }
}

/// Fails if `work` takes too long.
fn in_time<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(work()));
    receiver.recv_timeout(Duration::from_secs(60)).unwrap()
}

#[test]
fn a_reader_that_is_dropped_ends_the_scan() {
    in_time(|| {
        for taken in [0, 1, 100] {
            let (table, scanned) = Endless::new(None);
            let mut reader = Reader::of(table, options(StringForm::View, 3, 10, 1_000)).unwrap();
            assert_eq!(reader.by_ref().take(taken).map(|batch| batch.unwrap().num_rows()).sum::<usize>(), taken);
            drop(reader);
            // The scan's thread gives its share of the counter back when it ends.
            while Arc::strong_count(&scanned) > 1 {
                std::thread::yield_now();
            }
            assert!(scanned.load(Relaxed) < taken as u64 + 100, "{} splits", scanned.load(Relaxed));
        }
    });
}

#[test]
fn rows_before_a_bad_one_come_and_then_its_error() {
    in_time(|| {
        for threads in [1, 4] {
            let (table, _) = Endless::new(Some(50));
            let mut reader = Reader::of(table, options(StringForm::Plain, threads, 10, 0)).unwrap();
            assert_eq!(reader.by_ref().take(50).map(|batch| batch.unwrap().num_rows()).sum::<usize>(), 50);
            let ArrowError::ExternalError(error) = reader.next().unwrap().unwrap_err() else {
                panic!("no error of brc")
            };
            let error = error.downcast::<Error>().unwrap().to_string();
            assert!(error.starts_with("endless: ") && error.contains("column 's'"), "{error}");
            assert!(reader.next().is_none());
        }
    });
}

#[test]
fn strings_that_are_no_text_may_be_bytes() {
    let (table, _) = Endless::new(Some(0));
    let mut reader = Reader::of(table, Options { strings_as_binary: true, ..Options::default() }).unwrap();
    let batch = reader.next().unwrap().unwrap();
    assert_eq!(batch.column(0).as_binary::<i32>().value(0), b"\xff is no UTF-8");
}
