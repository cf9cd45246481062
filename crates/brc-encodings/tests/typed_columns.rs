//! Parquet and arrow hold every type: tables of all types come back, whatever is null in them.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::panic)]

use brc_compress::Compressor;
use brc_core::{
    Batch, BatchWriter, BitmapBuffer, ByteStrings, Column, Data, Dictionary, Error, Field, Integers, LogicalType,
    Progress, Result, ScanOptions, Scanned, Schema, Sink, Split, Summary, Table, TimeUnit, Value, Worker, float32,
    scan,
};
use brc_encodings::{CreateOptions, Encoding, Input, OpenOptions, by_name};
use std::collections::BTreeSet;
use std::io::Cursor;
use std::path::PathBuf;

/// A value, by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Cell {
    Null,
    Integer(i128),
    /// Its bits.
    Float(u64),
    Bytes(Vec<u8>),
}

/// The values of one column.
struct Cells {
    field: Field,
    cells: Vec<Cell>,
}

fn types() -> Vec<LogicalType> {
    let mut types = vec![
        LogicalType::Bool,
        LogicalType::Int8,
        LogicalType::Int16,
        LogicalType::Int32,
        LogicalType::Int64,
        LogicalType::UInt64,
        LogicalType::Float32,
        LogicalType::Float64,
        LogicalType::Date,
        LogicalType::String,
        LogicalType::Binary,
        LogicalType::Uuid,
    ];
    types.extend(
        [(1, 0), (9, 9), (10, 2), (18, 1), (19, 3), (38, 0), (38, 38)]
            .map(|(precision, scale)| LogicalType::Decimal { precision, scale }),
    );
    for unit in TimeUnit::ALL {
        types.push(LogicalType::Time { unit });
        types.extend([false, true].map(|zone| LogicalType::Timestamp { unit, zone }));
    }
    types
}

/// Values of a type, the extremes among them.
fn values(logical_type: LogicalType) -> Vec<Cell> {
    let floats = [0.0, -0.0, 1.5, f64::MIN, f64::MAX, f64::MIN_POSITIVE, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    match logical_type {
        LogicalType::Float32 => {
            let floats =
                [0.0, -0.0, 1.1, f32::MIN, f32::MAX, f32::MIN_POSITIVE, 1e-45, f32::INFINITY, f32::NEG_INFINITY];
            let odd = [f32::NAN, f32::from_bits(0xffc0_0123)];
            floats.into_iter().chain(odd).map(|value| Cell::Float(float32::widen(value).to_bits())).collect()
        }
        LogicalType::Float64 => {
            let payload = f64::NAN.to_bits() | 0x8000_0000_0000_0123;
            floats.iter().map(|value| value.to_bits()).chain([payload]).map(Cell::Float).collect()
        }
        LogicalType::String => ["", "a", "São Paulo", "a\0b", "line\nfeed", &"long ".repeat(60)]
            .map(|text| Cell::Bytes(text.into()))
            .into(),
        LogicalType::Binary => [&b""[..], b"\0", b"\xff\xfe", b"text"].map(|bytes| Cell::Bytes(bytes.into())).into(),
        _ => {
            let (mut min, mut max) = logical_type.bounds().unwrap();
            if matches!(logical_type, LogicalType::Timestamp { unit: TimeUnit::Second, .. }) {
                // Parquet counts milliseconds at least.
                (min, max) = (min / 1000, max / 1000);
            }
            let all = [min, max, 0, 1, -1, min + 1, max - 1, 77, -12_345, 1 << 40, max / 3];
            all.into_iter().filter(|value| (min..=max).contains(value)).map(Cell::Integer).collect()
        }
    }
}

/// A column of each type. `null` tells which rows are null; no column is nullable if it is nowhere so.
fn table(rows: usize, is_nullable: bool, null: impl Fn(usize, usize) -> bool) -> Vec<Cells> {
    let column = |(index, logical_type): (usize, LogicalType)| {
        let values = values(logical_type);
        let cell = |row: usize| match null(index, row) {
            true => Cell::Null,
            // Runs of some, and some at random.
            false => values[(row / 40 * (row % 3) + row * row / 7 + index) % values.len()].clone(),
        };
        let field = Field { name: format!("c{index} {logical_type}"), logical_type, nullable: is_nullable };
        Cells { field, cells: (0..rows).map(cell).collect() }
    };
    types().into_iter().enumerate().map(column).collect()
}

fn schema(table: &[Cells]) -> Schema {
    Schema::new(table.iter().map(|cells| cells.field.clone()).collect()).unwrap()
}

/// Gives some rows of columns to a sink; how they lie in memory differs from one call to the next.
fn deliver(table: &[Cells], rows: std::ops::Range<usize>, how: usize, sink: &mut dyn Sink) -> Result<()> {
    struct Lent {
        wide: Vec<i128>,
        narrow: Option<Vec<i64>>,
        floats: Vec<f64>,
        offsets: Vec<i32>,
        bytes: Vec<u8>,
        dictionary: Dictionary,
        codes: Vec<u32>,
        validity: BitmapBuffer,
    }
    let lent: Vec<_> = table
        .iter()
        .map(|cells| {
            let (whole, cells) = (&cells.cells, &cells.cells[rows.clone()]);
            // All batches of a column share one dictionary.
            let text = |cell: &Cell| if let Cell::Bytes(text) = cell { text.clone() } else { Vec::new() };
            let distinct: BTreeSet<_> = whole.iter().map(text).chain([Vec::new()]).collect();
            let dictionary: Dictionary = distinct.into_iter().collect();
            let (mut offsets, mut bytes, mut codes) = (vec![0], Vec::new(), Vec::new());
            let mut validity = BitmapBuffer::default();
            for cell in cells {
                validity.push(*cell != Cell::Null);
                // What lies where rows are null does not matter.
                let text = if let Cell::Bytes(text) = cell { text.as_slice() } else { b"" };
                bytes.extend_from_slice(text);
                offsets.push(bytes.len() as i32);
                let code = dictionary.iter().position(|value| value == text);
                codes.push(code.filter(|_| *cell != Cell::Null).unwrap_or(dictionary.len() - 1) as u32);
            }
            let wide: Vec<_> = cells.iter().map(|cell| if let Cell::Integer(it) = cell { *it } else { 99 }).collect();
            let narrow = wide.iter().map(|&value| i64::try_from(value).ok()).collect();
            let floats =
                cells.iter().map(|cell| if let Cell::Float(bits) = cell { f64::from_bits(*bits) } else { 9.0 });
            Lent { wide, narrow, floats: floats.collect(), offsets, bytes, dictionary, codes, validity }
        })
        .collect();
    let columns: Vec<_> = table
        .iter()
        .zip(&lent)
        .map(|(cells, lent)| {
            let data = match cells.field.logical_type {
                LogicalType::Float32 | LogicalType::Float64 => Data::Floats(&lent.floats),
                LogicalType::String | LogicalType::Binary if how.is_multiple_of(2) => {
                    Data::Bytes(ByteStrings::new(&lent.offsets, &lent.bytes))
                }
                LogicalType::String | LogicalType::Binary => {
                    Data::Codes { codes: &lent.codes, dictionary: &lent.dictionary }
                }
                _ => match &lent.narrow {
                    Some(narrow) if how % 2 == 1 => Data::Integers(Integers::I64(narrow)),
                    _ => Data::Integers(Integers::I128(&lent.wide)),
                },
            };
            Column { data, validity: lent.validity.bitmap() }
        })
        .collect();
    sink.batch(&Batch { rows: rows.len(), columns: &columns })
}

fn creator(encoding: &dyn Encoding, schema: &Schema, compression: &str) -> Box<dyn BatchWriter> {
    let compression = Compressor::parse(compression).unwrap();
    encoding.create(schema, &CreateOptions::new(compression)).unwrap()
}

/// A file of these columns, in parts of so many rows.
fn written(encoding: &dyn Encoding, table: &[Cells], compression: &str, part_rows: usize) -> Result<Vec<u8>> {
    let mut writer = creator(encoding, &schema(table), compression);
    let mut encoder = writer.encoder();
    let mut file = writer.start();
    let rows = table[0].cells.len();
    for part in (0..rows).step_by(part_rows) {
        let end = rows.min(part + part_rows);
        // Each batch makes a dictionary of the whole column, so there should not be many.
        let batch_rows = (rows / 16).max(1000);
        for (how, start) in (part..end).step_by(batch_rows).enumerate() {
            deliver(table, start..end.min(start + batch_rows), how, encoder.as_mut())?;
        }
        let mut part = encoder.finish()?;
        writer.append(&mut part)?;
        file.extend_from_slice(&part.bytes);
    }
    file.extend_from_slice(&writer.finish()?);
    Ok(file)
}

/// All cells, column by column.
#[derive(Default)]
struct Read(Vec<Vec<Cell>>);

impl Sink for Read {
    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        self.0.resize_with(batch.columns.len(), Vec::new);
        for (cells, column) in self.0.iter_mut().zip(batch.columns) {
            cells.extend((0..batch.rows).map(|row| match Value::of_row(column, row) {
                None => Cell::Null,
                Some(Value::Integer(value)) => Cell::Integer(value),
                Some(Value::Float(value)) => Cell::Float(value.to_bits()),
                Some(Value::Bytes(bytes)) => Cell::Bytes(bytes.to_vec()),
            }));
        }
        Ok(())
    }

    fn summary(&mut self, _: &Summary<'_>) -> Result<()> {
        panic!("no summaries here")
    }
}

impl Worker for Read {
    fn sink(&mut self) -> &mut dyn Sink {
        self
    }

    fn split_done(&mut self, _: &Split, _: Scanned) -> Result<()> {
        Ok(())
    }
}

fn open(encoding: &dyn Encoding, bytes: &[u8]) -> Result<Box<dyn Table>> {
    encoding.open(input(bytes), &OpenOptions { row_group_bytes: Some(1), ..OpenOptions::default() })
}

fn input(bytes: &[u8]) -> Input {
    Input::from_stream(PathBuf::from("test"), Box::new(Cursor::new(bytes.to_vec()))).unwrap()
}

fn read(table: &dyn Table, projection: Vec<usize>) -> Result<Vec<Vec<Cell>>> {
    let options = ScanOptions { projection, ..ScanOptions::everything(table.schema()) };
    let workers = scan(table, &options, 1, &Progress::default(), Read::default)?;
    Ok(workers.into_iter().next().unwrap().0)
}

#[track_caller]
fn comes_back(table: &[Cells], part_rows: usize) {
    let all = [("parquet", ["none", "zstd"]), ("arrow", ["none", "lz4"])];
    for (name, compression) in all.into_iter().flat_map(|(name, each)| each.map(|it| (name, it))) {
        let encoding = by_name(name).unwrap();
        let file = written(encoding, table, compression, part_rows).unwrap();
        let found = open(encoding, &file).unwrap();
        assert_eq!(found.schema(), &schema(table), "{name}");
        let rows = table[0].cells.len();
        assert_eq!(found.rows(), Some(rows as u64), "{name}");
        let cells = read(found.as_ref(), (0..table.len()).collect()).unwrap();
        for (expected, found) in table.iter().zip(&cells) {
            let differs = expected.cells.iter().zip(found).position(|(expected, found)| expected != found);
            let about = differs.map(|row| format!("row {row}: {:?} as {:?}", expected.cells[row], found[row]));
            assert_eq!(about, None, "{name} {compression} {}", expected.field.name);
            assert_eq!(found.len(), rows);
        }
        let verified = encoding.verify(input(&file), &OpenOptions::default(), 2, &Progress::default()).unwrap();
        assert_eq!((verified.rows, verified.bytes), (rows as u64, file.len() as u64), "{name}");
        assert_eq!(written(encoding, table, compression, part_rows).unwrap(), file, "{name} is deterministic");
    }
}

#[test]
fn all_types_without_nulls() {
    for rows in [0, 1, 7, 5_000] {
        comes_back(&table(rows, false, |_, _| false), 3_000);
        comes_back(&table(rows, true, |_, _| false), 3_000);
    }
}

#[test]
fn all_types_with_nulls() {
    for rows in [1, 9, 5_000] {
        comes_back(&table(rows, true, |_, _| true), 3_000);
        comes_back(&table(rows, true, |column, row| (row + column) % 3 == 0), 3_000);
        // Parts, pages and windows with nulls only, and without any.
        comes_back(&table(rows, true, |column, row| row / 1_000 % 2 == column % 2), 1_000);
    }
}

#[test]
fn more_rows_than_a_page_has() {
    comes_back(&table(70_000, true, |column, row| row % 11 == column || row > 2_000 && row < 67_000), 68_000);
}

#[test]
fn only_some_columns() {
    for name in ["parquet", "arrow"] {
        let table = table(5_000, true, |column, row| (row + column) % 5 == 0);
        let encoding = by_name(name).unwrap();
        let file = written(encoding, &table, "none", 2_000).unwrap();
        let found = open(encoding, &file).unwrap();
        for column in 0..table.len() {
            let cells = read(found.as_ref(), vec![column, 0]).unwrap();
            assert!(cells[0] == table[column].cells && cells[1] == table[0].cells, "{name} {column}");
        }
    }
}

#[test]
fn every_flipped_bit_is_seen() {
    for (name, compression) in [("parquet", "none"), ("parquet", "zstd"), ("arrow", "none"), ("arrow", "zstd")] {
        let encoding = by_name(name).unwrap();
        let file = written(encoding, &table(4, true, |column, row| row == column % 3), compression, 3).unwrap();
        for at in 0..file.len() {
            let mut damaged = file.clone();
            damaged[at] ^= 1 << (at % 8);
            let verified = encoding.verify(input(&damaged), &OpenOptions::default(), 1, &Progress::default());
            assert!(verified.is_err(), "{name} {compression}: byte {at} of {}", file.len());
        }
    }
}

#[test]
fn seconds_that_are_too_far_away_are_refused_by_parquet() {
    let logical_type = LogicalType::Timestamp { unit: TimeUnit::Second, zone: false };
    let field = Field::nullable("t", logical_type);
    let table = [Cells { field, cells: vec![Cell::Null, Cell::Integer(0), Cell::Integer(i64::MAX.into())] }];
    let refused = written(by_name("parquet").unwrap(), &table, "none", 9).unwrap_err();
    assert!(matches!(refused, Error::UnsupportedValue(_)));
    assert!(refused.to_string().contains("row 3, column 't'"), "{refused}");
    assert!(written(by_name("arrow").unwrap(), &table, "none", 9).is_ok());
}
