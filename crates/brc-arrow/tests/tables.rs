//! Tables as record batches: all types and string layouts, with several numbers of threads.

#![allow(clippy::unwrap_used, clippy::panic)]

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    Time32MillisecondType, Time32SecondType, Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, DataType, Field as ArrowField, Schema as ArrowSchema, TimeUnit};
use brc_arrow::{Feed, Options, Reader, StringForm, arrow_schema, requested_schema};
use brc_core::{
    Batch, Bitmap, ByteStrings, Column, Data, Dictionary, Error, Field, LogicalType, ScanOptions, Scanned, Schema,
    Sink, Split, Table, float32, uuid,
};
use brc_testing::{Cell, Delivery, FunctionTable, MemoryTable, Typed, all_types, extremes};
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
        DataType::LargeUtf8 => Cell::Bytes(array.as_string::<i64>().value(row).as_bytes().to_vec()),
        DataType::LargeBinary => Cell::Bytes(array.as_binary::<i64>().value(row).to_vec()),
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

/// The extreme values of a type; only valid UTF-8 for strings.
fn text_extremes(logical_type: LogicalType) -> Vec<Cell> {
    let is_text = |cell: &Cell| !matches!(cell, Cell::Bytes(bytes) if std::str::from_utf8(bytes).is_err());
    let all = extremes(logical_type).into_iter();
    all.filter(|cell| logical_type != LogicalType::String || is_text(cell)).collect()
}

#[test]
fn every_type_round_trips() {
    let table = Typed::of_types(&all_types(), 3_000, text_extremes, |row, column| (row + column) % 7 == 3);
    for (seed, strings) in [StringForm::View, StringForm::Dictionary, StringForm::Plain].into_iter().enumerate() {
        for (threads, batch_rows, bytes_ahead) in [(1, 1 << 16, 0), (3, 100, 1 << 20), (4, 1_000, 1)] {
            let delivery = Delivery { split_rows: 700, batch_rows: 90, seed: seed as u64 + 5, ..Delivery::default() };
            let source = Arc::new(MemoryTable::new(table.clone(), delivery));
            let reader = Reader::of(source, options(strings, threads, batch_rows, bytes_ahead)).unwrap();
            let found = read(reader);
            for ((field, expected), found) in table.schema.fields().iter().zip(&table.columns).zip(&found) {
                assert!(expected == found, "{} as {strings:?} with {threads} threads", field.logical_type);
            }
        }
    }
}

#[test]
fn projections_may_be_empty() {
    let table = Typed::of_every_type(2_500, |_, _| false);
    let source = || Arc::new(MemoryTable::new(table.clone(), Delivery::default()));
    let reader = Reader::of_columns(source(), vec![9, 0], Options::default()).unwrap();
    assert_eq!(read(reader), [table.columns[9].clone(), table.columns[0].clone()]);
    let reader = Reader::of_columns(source(), vec![], Options::default()).unwrap();
    assert_eq!(reader.map(|batch| batch.unwrap().num_rows()).sum::<usize>(), 2_500);
}

/// Endless splits of one row each, of which one may be bad; counts the scanned ones.
fn endless(bad: Option<u64>) -> (Arc<dyn Table>, Arc<AtomicU64>) {
    let scanned = Arc::new(AtomicU64::new(0));
    let schema = Schema::new(vec![Field::required("s", LogicalType::String)]).unwrap();
    let counter = Arc::clone(&scanned);
    let deliver = move |split: &Split, _: &ScanOptions, sink: &mut dyn Sink| {
        counter.fetch_add(1, Relaxed);
        let is_bad = bad == Some(split.index);
        let dictionary: Dictionary = [if is_bad { &b"\xff is no UTF-8"[..] } else { b"text" }].into_iter().collect();
        let column = Column::from(Data::Codes { codes: &[0], dictionary: &dictionary });
        sink.batch(&Batch { rows: 1, columns: &[column] })?;
        Ok(Some(Scanned { rows: 1, ..Scanned::default() }))
    };
    (Arc::new(FunctionTable::new("endless", schema, u64::MAX, deliver)), scanned)
}

/// Fails if `work` takes too long.
fn in_time<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(work()));
    receiver.recv_timeout(Duration::from_secs(60)).unwrap()
}

#[test]
fn dropping_a_reader_ends_the_scan() {
    in_time(|| {
        for taken in [0, 1, 100] {
            let (table, scanned) = endless(None);
            let mut reader = Reader::of(table, options(StringForm::View, 3, 10, 1_000)).unwrap();
            assert_eq!(reader.by_ref().take(taken).map(|batch| batch.unwrap().num_rows()).sum::<usize>(), taken);
            drop(reader);
            // The scan's thread drops its reference to the counter when it ends.
            while Arc::strong_count(&scanned) > 1 {
                std::thread::yield_now();
            }
            assert!(scanned.load(Relaxed) < taken as u64 + 100, "{} splits", scanned.load(Relaxed));
        }
    });
}

#[test]
fn rows_before_an_error_are_delivered() {
    in_time(|| {
        for threads in [1, 4] {
            let (table, _) = endless(Some(50));
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
fn invalid_strings_may_be_binary() {
    let (table, _) = endless(Some(0));
    let mut reader = Reader::of(table, Options { strings_as_binary: true, ..Options::default() }).unwrap();
    let batch = reader.next().unwrap().unwrap();
    assert_eq!(batch.column(0).as_binary::<i32>().value(0), b"\xff is no UTF-8");
}

/// Rows with only the first string of a dictionary of two, then both as bytes, then the first one again.
fn mixed(strings: [&'static [u8]; 2]) -> Arc<dyn Table> {
    let schema = Schema::new(vec![Field::nullable("s", LogicalType::String)]).unwrap();
    let deliver = move |_: &Split, _: &ScanOptions, sink: &mut dyn Sink| {
        let dictionary = strings.into_iter().collect::<Dictionary>().complete();
        let bits = [0b101];
        let validity = Some(Bitmap::new(&bits, 0, 3));
        // Nulls may have any code.
        let codes = Column::from(Data::Codes { codes: &[0, 9, 0], dictionary: &dictionary }).with_validity(validity);
        sink.batch(&Batch { rows: 3, columns: &[codes] })?;
        let bytes = ["first, which is long", "", "it"].concat();
        let bytes = Column::from(Data::Bytes(ByteStrings::new(&[0, 20, 20, 22], bytes.as_bytes())));
        sink.batch(&Batch { rows: 3, columns: &[bytes] })?;
        sink.batch(&Batch { rows: 3, columns: &[codes] })?;
        Ok(Some(Scanned { rows: 9, ..Scanned::default() }))
    };
    Arc::new(FunctionTable::new("mixed", schema, 1, deliver))
}

#[test]
fn strings_may_change_form_and_only_used_ones_are_validated() {
    for second in [&b"second"[..], b"\xff is no UTF-8"] {
        let table = mixed([b"first, which is long", second]);
        for batch_rows in [2, 4, 100] {
            for strings in [StringForm::View, StringForm::Plain, StringForm::Dictionary] {
                // A dictionary array has all strings of the dictionary.
                if strings == StringForm::Dictionary && second[0] == 0xff {
                    continue;
                }
                let reader = Reader::of(Arc::clone(&table), options(strings, 1, batch_rows, 0));
                let found = read(reader.unwrap()).remove(0);
                let text = |text: &str| Cell::Bytes(text.as_bytes().to_vec());
                let codes = [text("first, which is long"), Cell::Null, text("first, which is long")];
                let bytes = [text("first, which is long"), text(""), text("it")];
                assert_eq!(found, [codes.clone(), bytes, codes].concat(), "{strings:?} {batch_rows}");
            }
        }
    }
}

#[test]
fn requested_types_are_used_if_lossless() {
    let names = ["s", "b", "i8", "i16", "i32", "i64", "f", "d"];
    let types = [
        LogicalType::String,
        LogicalType::Binary,
        LogicalType::Int8,
        LogicalType::Int16,
        LogicalType::Int32,
        LogicalType::Int64,
        LogicalType::Float64,
        LogicalType::Date,
    ];
    let table = Typed::of_types(&types, 500, text_extremes, |row, column| (row + column) % 7 == 3);
    let fields: Vec<_> =
        names.iter().zip(types).map(|(name, logical_type)| Field::nullable(*name, logical_type)).collect();
    let own = arrow_schema(&fields, &Options::default());
    let dictionary = |index, values| DataType::Dictionary(Box::new(index), Box::new(values));
    for (wanted, given) in [
        ([DataType::LargeUtf8, DataType::LargeBinary, DataType::Int64, DataType::Int32, DataType::Int64], None),
        ([DataType::Utf8, DataType::Binary, DataType::Int16, DataType::Int16, DataType::Int32], None),
        // A narrower type is ignored, and only one dictionary type is supported.
        (
            [
                dictionary(DataType::Int8, DataType::LargeUtf8),
                DataType::Utf8,
                DataType::UInt8,
                DataType::Int8,
                DataType::Float64,
            ],
            Some([
                dictionary(DataType::Int32, DataType::Utf8),
                DataType::Binary,
                DataType::Int8,
                DataType::Int16,
                DataType::Int32,
            ]),
        ),
    ] {
        let requested =
            names.iter().zip(wanted.clone()).map(|(name, data_type)| ArrowField::new(*name, data_type, true));
        let requested = requested_schema(&own, &ArrowSchema::new(requested.rev().collect::<Vec<_>>()));
        let found: Vec<_> = requested.fields().iter().map(|field| field.data_type().clone()).collect();
        assert_eq!(found[..5], given.unwrap_or(wanted));
        assert_eq!(found[5..], [DataType::Int64, DataType::Float64, DataType::Date32]);
        let source = MemoryTable::new(table.clone(), Delivery::default());
        let fields = fields.clone();
        let scan = move |feed: &Feed| feed.scan(&source, &fields, &ScanOptions::everything(source.schema()));
        assert!(read(Reader::new(requested, Options::default(), scan).unwrap()) == table.columns);
    }
}
