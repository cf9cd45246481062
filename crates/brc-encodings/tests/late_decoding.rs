//! Parquet columns are decoded only in windows with rows that satisfy the conditions on other columns.
#![allow(clippy::unwrap_used)]

use brc_compress::{COMPRESSIONS, Compressor};
use brc_core::{
    Batch, Conjunct, Progress, Result, ScanOptions, Scanned, Schema, Sink, Split, Table, Value, Worker, scan,
};
use brc_encodings::{CreateOptions, Input, OpenOptions, Output, OutputOptions, RejectLog, by_name, convert};
use std::io::Cursor;
use std::ops::Range;
use std::path::PathBuf;

const ROWS: usize = 30_000;

/// A sink for rows whose first column is in a range and whose second is not `b`, as text.
struct Tested {
    wanted: Range<i128>,
    schema: Schema,
    rows: Vec<String>,
    bytes: u64,
}

impl Tested {
    fn row(&self, batch: &Batch<'_>, row: usize) -> String {
        let mut text = Vec::new();
        for (column, field) in batch.columns.iter().zip(self.schema.fields()) {
            if let Some(value) = Value::of_row(column, row) {
                value.write(field.logical_type, &mut text);
            }
            text.push(b';');
        }
        String::from_utf8(text).unwrap()
    }
}

impl Sink for Tested {
    fn batch(&mut self, _: &Batch<'_>) -> Result<()> {
        unreachable!("rows are tested first")
    }

    fn test(&mut self, conjunct: usize, batch: &Batch<'_>, rows: &mut [u64]) -> Result<usize> {
        assert_eq!(batch.columns.len(), 1);
        for row in 0..batch.rows {
            let is_met = match (conjunct, Value::of_row(&batch.columns[0], row)) {
                (0, Some(Value::Integer(value))) => self.wanted.contains(&value),
                (1, Some(Value::Bytes(value))) => value != b"b",
                _ => false,
            };
            if !is_met {
                rows[row / 64] &= !(1 << (row % 64));
            }
        }
        Ok(rows.iter().map(|word| word.count_ones() as usize).sum())
    }

    fn tested(&mut self, batch: &Batch<'_>, rows: Option<&[u64]>) -> Result<()> {
        let is_set = |row: usize| rows.is_none_or(|rows| rows[row / 64] >> (row % 64) & 1 == 1);
        let new: Vec<_> = (0..batch.rows).filter(|&row| is_set(row)).map(|row| self.row(batch, row)).collect();
        self.rows.extend(new);
        Ok(())
    }
}

impl Worker for Tested {
    fn sink(&mut self) -> &mut dyn Sink {
        self
    }

    fn split_done(&mut self, _: &Split, scanned: Scanned) -> Result<()> {
        self.bytes += scanned.bytes;
        Ok(())
    }
}

fn line(row: usize) -> String {
    let missing = if row.is_multiple_of(7) { String::new() } else { (row % 1000).to_string() };
    let letter = ["a", "b", "c"][row / 3 % 3];
    format!("{row};{letter};text {};{missing};{}.5;{}", row * 7919, row % 100, row / 5000)
}

/// The table as a parquet file of one row group.
fn parquet(compression: Compressor) -> Box<dyn Table> {
    let directory = tempfile::tempdir().unwrap();
    let (source, target) = (directory.path().join("text.csv"), directory.path().join("target"));
    std::fs::write(&source, (0..ROWS).map(|row| line(row) + "\n").collect::<String>()).unwrap();
    let schema = "key:int not null,letter:string not null,text:string not null,gaps:int,number:decimal(18,1) not null,\
                  steps:int not null";
    let options = OpenOptions { schema: Some(Schema::parse(schema).unwrap()), ..OpenOptions::default() };
    let table = by_name("csv").unwrap().open(Input::open(&source).unwrap(), &options).unwrap();
    let parquet = by_name("parquet").unwrap();
    let writer = parquet.create(table.schema(), &CreateOptions::new(compression)).unwrap();
    let output = Output::create(&target, &OutputOptions::default()).unwrap();
    convert(table.as_ref(), writer, output, RejectLog::none(), 1, &Progress::default()).unwrap();
    let bytes = Cursor::new(std::fs::read(&target).unwrap());
    let input = Input::from_stream(PathBuf::from("test"), Box::new(bytes)).unwrap();
    parquet.open(input, &OpenOptions::default()).unwrap()
}

fn find(table: &dyn Table, wanted: Range<usize>) -> Tested {
    let conjunct = |column| Conjunct { columns: vec![column], predicate: None };
    let schema = table.schema();
    let options = ScanOptions { conjuncts: vec![conjunct(0), conjunct(1)], ..ScanOptions::everything(schema) };
    let wanted = wanted.start as i128..wanted.end as i128;
    let new = || Tested { wanted: wanted.clone(), schema: schema.clone(), rows: Vec::new(), bytes: 0 };
    scan(table, &options, 1, &Progress::default(), new).unwrap().remove(0)
}

#[test]
fn only_windows_with_matching_rows_are_decoded() {
    let parquet_takes = |compression: &&&'static dyn brc_compress::Compression| {
        by_name("parquet").unwrap().can_compress(**compression).is_ok()
    };
    for compression in COMPRESSIONS.iter().filter(parquet_takes) {
        let table = parquet(Compressor::of(*compression));
        for wanted in [0..ROWS, 0..1, 4095..4097, 5000..5001, 12_000..12_020, 4096..20_000, ROWS - 1..ROWS] {
            let is_met = |row: &usize| row / 3 % 3 != 1;
            let expected: Vec<String> = wanted.clone().filter(is_met).map(|row| line(row) + ";").collect();
            assert_eq!(find(table.as_ref(), wanted.clone()).rows, expected, "{wanted:?} {}", compression.name());
        }
        let (none, all) = (find(table.as_ref(), ROWS..ROWS + 1), find(table.as_ref(), 0..ROWS));
        assert!(none.rows.is_empty() && none.bytes < all.bytes / 2, "{} of {}", none.bytes, all.bytes);
    }
}
