//! A few bytes of one encoding may be gigabytes of another: what is written of a split must not wait for its end.

#![forbid(unsafe_code)]
#![allow(clippy::panic, clippy::unwrap_used)]

use brc_compress::Compressor;
use brc_core::{
    Batch, Column, Data, Dictionary, Integers, Progress, Result, ScanError, ScanOptions, Scanned, Scanner, Schema,
    Sink, Split, Summary, Table, Worker, batch, scan,
};
use brc_encodings::{CreateOptions, Encoding, Input, OpenOptions, Output, OutputOptions, RejectLog};
use std::path::Path;

/// Rows of a split; all of them come as one batch.
const ROWS: usize = 300;
const SPLITS: u64 = 2;

/// Rows of which nearly every one has the same long string.
struct LongRows {
    schema: Schema,
    dictionary: Dictionary,
}

impl LongRows {
    fn new(length: usize) -> Self {
        let dictionary = [vec![b'x'; length], b"short".to_vec()].iter().collect();
        Self { schema: Schema::parse("name:string,n:int").unwrap(), dictionary }
    }

    fn codes() -> Vec<u32> {
        (0..ROWS).map(|row| u32::from(row % 100 == 99)).collect()
    }
}

impl Table for LongRows {
    fn path(&self) -> &Path {
        Path::new("long rows")
    }

    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn rows(&self) -> Option<u64> {
        Some(SPLITS * ROWS as u64)
    }

    fn bytes(&self) -> Option<u64> {
        None
    }

    fn split(&self, index: u64) -> Option<Split> {
        (index < SPLITS).then_some(Split { index, start: index, end: index + 1 })
    }

    fn scanner(&self, _: &ScanOptions) -> Result<Box<dyn Scanner + '_>> {
        Ok(Box::new(LongRowsScanner(self)))
    }
}

struct LongRowsScanner<'a>(&'a LongRows);

impl Scanner for LongRowsScanner<'_> {
    fn scan(&mut self, split: &Split, sink: &mut dyn Sink) -> Result<Option<Scanned>, ScanError> {
        let values: Vec<i64> = (0..ROWS as i64).map(|row| split.index as i64 * 10_000 + row).collect();
        let codes = LongRows::codes();
        let columns = [Column::codes(&codes, &self.0.dictionary), Column::integers(Integers::I64(&values))];
        sink.batch(&Batch { rows: ROWS, columns: &columns })?;
        Ok(Some(Scanned { rows: ROWS as u64, ..Scanned::default() }))
    }
}

/// Converts them, and returns in how many parts they were written, the file's bytes and what is read of it.
fn converted(table: &LongRows, encoding: &dyn Encoding, compression: &str, threads: usize) -> (u64, Vec<u8>, Found) {
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
    let everything = ScanOptions::everything(file.schema());
    let found = scan(file.as_ref(), &everything, 1, &Progress::default(), Found::default).unwrap().remove(0);
    (parts, std::fs::read(path).unwrap(), found)
}

/// The rows: how long the name is, and the number.
#[derive(Default, PartialEq)]
struct Found(Vec<(usize, i64)>);

impl Worker for Found {
    fn sink(&mut self) -> &mut dyn Sink {
        self
    }

    fn split_done(&mut self, _: &Split, _: Scanned) -> Result<()> {
        Ok(())
    }
}

impl Sink for Found {
    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        let mut codes = Vec::new();
        batch::codes_of(&batch.columns[0], &mut codes);
        let (Some(dictionary), Data::Integers(values)) = (batch.columns[0].dictionary(), batch.columns[1].data) else {
            panic!("other columns")
        };
        self.0.extend((0..batch.rows).map(|row| (dictionary.get(codes[row]).len(), values.get(row) as i64)));
        Ok(())
    }

    fn summary(&mut self, _: &Summary<'_>) -> Result<()> {
        Ok(())
    }
}

fn check(length: usize, encoding: &str, compression: &str, least_parts: u64) {
    let table = LongRows::new(length);
    let encoding = brc_encodings::by_name(encoding).unwrap();
    let (parts, bytes, found) = converted(&table, encoding, compression, 1);
    let what = format!("{} {compression}", encoding.name());
    assert!(parts >= least_parts, "{what}: {parts} parts");
    let lengths = LongRows::codes().into_iter().map(|code| table.dictionary.get(code).len());
    let rows: Vec<_> = (0..SPLITS as i64)
        .flat_map(|split| lengths.clone().enumerate().map(move |(row, length)| (length, split * 10_000 + row as i64)))
        .collect();
    assert!(found == Found(rows), "{what}: other rows");
    let (_, with_threads, _) = converted(&table, encoding, compression, 3);
    assert!(bytes == with_threads, "{what}: three threads write something else than one");
}

#[test]
fn text_is_written_before_the_end_of_its_split() {
    // 36 MB a split.
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

/// 256 rows of such strings are more than a frame may have.
#[test]
fn frames_end_behind_any_row_if_they_are_long() {
    check(270_000, "cbor", "lz4", 2 * SPLITS);
}
