//! A few bytes of one encoding may be gigabytes of another: parts of a split are written before its end.

#![forbid(unsafe_code)]
#![allow(clippy::panic, clippy::unwrap_used)]

use brc_compress::Compressor;
use brc_core::{Batch, Column, Dictionary, Integers, Progress, ScanOptions, Scanned, Schema, Sink, Split, Table};
use brc_encodings::{CreateOptions, Encoding, Input, OpenOptions, Output, OutputOptions, RejectLog};
use brc_testing::{Cell, FunctionTable, collect_columns};

/// Rows per split; all of them come as one batch.
const ROWS: usize = 300;
const SPLITS: u64 = 2;

fn codes() -> Vec<u32> {
    (0..ROWS).map(|row| u32::from(row % 100 == 99)).collect()
}

/// Rows nearly all of which have the same long string.
fn long_rows(length: usize) -> impl Table {
    let dictionary: Dictionary = [vec![b'x'; length], b"short".to_vec()].iter().collect();
    let deliver = move |split: &Split, _: &ScanOptions, sink: &mut dyn Sink| {
        let values: Vec<i64> = (0..ROWS as i64).map(|row| split.index as i64 * 10_000 + row).collect();
        let codes = codes();
        let columns = [Column::codes(&codes, &dictionary), Column::integers(Integers::I64(&values))];
        sink.batch(&Batch { rows: ROWS, columns: &columns })?;
        Ok(Some(Scanned { rows: ROWS as u64, ..Scanned::default() }))
    };
    let schema = Schema::parse("name:string,n:int").unwrap();
    FunctionTable::new("long rows", schema, SPLITS, deliver).with_rows(Some(SPLITS * ROWS as u64))
}

/// The rows: the length of the name, and the number.
type Found = Vec<(usize, Cell)>;

/// Converts them; returns the number of parts, the file's bytes and the rows read back.
fn converted(table: &dyn Table, encoding: &dyn Encoding, compression: &str, threads: usize) -> (u64, Vec<u8>, Found) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t");
    let compression = Compressor::parse(compression).unwrap();
    let options = CreateOptions::new(compression);
    let writer = brc_encodings::writer(encoding, table.schema(), &options).unwrap();
    let output = Output::create(&path, &OutputOptions { sync: false, ..OutputOptions::default() }).unwrap();
    let none = RejectLog::none();
    let parts = brc_encodings::convert(table, writer, output, none, threads, &Progress::default()).unwrap().parts;
    let options = OpenOptions { schema: Some(table.schema().clone()), ..OpenOptions::default() };
    let file = encoding.open(Input::open(&path).unwrap(), &options).unwrap();
    let columns = collect_columns(file.as_ref(), &[0, 1], 1).unwrap();
    let length = |cell: &Cell| if let Cell::Bytes(name) = cell { name.len() } else { panic!("{cell:?}") };
    let found = columns[0].iter().map(length).zip(columns[1].iter().cloned()).collect();
    (parts, std::fs::read(path).unwrap(), found)
}

fn check(length: usize, encoding: &str, compression: &str, least_parts: u64) {
    let table = long_rows(length);
    let encoding = brc_encodings::by_name(encoding).unwrap();
    let (parts, bytes, found) = converted(&table, encoding, compression, 1);
    let what = format!("{} {compression}", encoding.name());
    assert!(parts >= least_parts, "{what}: {parts} parts");
    let lengths = codes().into_iter().map(|code| [length, "short".len()][code as usize]);
    let row = |split: i64| move |(row, length)| (length, Cell::from(split * 10_000 + row as i64));
    let rows: Found = (0..SPLITS as i64).flat_map(|split| lengths.clone().enumerate().map(row(split))).collect();
    assert!(found == rows, "{what}: other rows");
    let (_, with_threads, _) = converted(&table, encoding, compression, 3);
    assert!(bytes == with_threads, "{what}: three threads write something else than one");
}

#[test]
fn text_is_written_before_the_end_of_its_split() {
    // 36 MB per split.
    check(120_000, "csv", "none", 2 * SPLITS);
    check(120_000, "json", "lz4", 2 * SPLITS);
    check(100, "csv", "none", SPLITS);
}

#[test]
fn frames_are_written_before_the_end_of_their_split() {
    check(150_000, "msgpack", "none", 2 * SPLITS);
    check(150_000, "protobuf", "zstd", 2 * SPLITS);
    // Each message has the string once.
    check(120_000, "capnp", "none", SPLITS);
}

/// 256 rows of such strings exceed a frame.
#[test]
fn long_frames_end_after_any_row() {
    check(270_000, "cbor", "lz4", 2 * SPLITS);
}
