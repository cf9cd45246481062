//! Parquet and arrow support every type: tables of all types are read back unchanged, with any nulls.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::panic)]

use brc_compress::Compressor;
use brc_core::{BatchWriter, Error, Field, LogicalType, Progress, Result, Schema, Table, TimeUnit};
use brc_encodings::{CreateOptions, Encoding, Input, OpenOptions, by_name};
use brc_testing::{Cell, Delivery, Typed, all_types, collect_columns, extremes, is_plain, read};
use std::io::Cursor;
use std::path::PathBuf;

/// A column of each type, with values that both support. `null` selects the null rows.
fn table(rows: usize, is_nullable: bool, null: impl Fn(usize, usize) -> bool) -> Typed {
    let is_held = |cell: &Cell, logical_type| match cell {
        // The finest unit that parquet has for seconds is the millisecond.
        Cell::Integer(_) => is_plain(cell, logical_type),
        Cell::Bytes(text) => logical_type != LogicalType::String || std::str::from_utf8(text).is_ok(),
        Cell::Float(_) | Cell::Null => true,
    };
    let values = |logical_type| extremes(logical_type).into_iter().filter(|cell| is_held(cell, logical_type)).collect();
    let table = Typed::of_types(&all_types(), rows, values, |row, column| null(column, row));
    if is_nullable { table.nullable() } else { table }
}

fn creator(encoding: &dyn Encoding, schema: &Schema, compression: &str) -> Box<dyn BatchWriter> {
    let compression = Compressor::parse(compression).unwrap();
    encoding.create(schema, &CreateOptions::new(compression)).unwrap()
}

/// A file of these columns, in parts of `part_rows` rows.
fn written(encoding: &dyn Encoding, table: &Typed, compression: &str, part_rows: usize) -> Result<Vec<u8>> {
    let mut writer = creator(encoding, &table.schema, compression);
    let mut encoder = writer.encoder();
    let mut file = writer.start();
    for start in (0..table.rows()).step_by(part_rows) {
        let delivery = Delivery { batch_rows: 1000, ..Delivery::default() };
        table.give(start..table.rows().min(start + part_rows), delivery, encoder.as_mut())?;
        let mut part = encoder.finish()?;
        writer.append(&mut part)?;
        file.extend_from_slice(&part.bytes);
    }
    file.extend_from_slice(&writer.finish()?);
    Ok(file)
}

fn open(encoding: &dyn Encoding, bytes: &[u8]) -> Result<Box<dyn Table>> {
    encoding.open(input(bytes), &OpenOptions { row_group_bytes: Some(1), ..OpenOptions::default() })
}

fn input(bytes: &[u8]) -> Input {
    Input::from_stream(PathBuf::from("test"), Box::new(Cursor::new(bytes.to_vec()))).unwrap()
}

#[track_caller]
fn comes_back(table: &Typed, part_rows: usize) {
    let all = [("parquet", ["none", "zstd"]), ("arrow", ["none", "lz4"])];
    for (name, compression) in all.into_iter().flat_map(|(name, each)| each.map(|it| (name, it))) {
        let encoding = by_name(name).unwrap();
        let file = written(encoding, table, compression, part_rows).unwrap();
        let found = open(encoding, &file).unwrap();
        assert_eq!(found.schema(), &table.schema, "{name}");
        let rows = table.rows();
        assert_eq!(found.rows(), Some(rows as u64), "{name}");
        let found = read(found.as_ref(), 1).unwrap();
        for ((expected, found), field) in table.columns.iter().zip(&found.columns).zip(table.schema.fields()) {
            let differs = expected.iter().zip(found).position(|(expected, found)| expected != found);
            let about = differs.map(|row| format!("row {row}: {:?} as {:?}", expected[row], found[row]));
            assert_eq!(about, None, "{name} {compression} {}", field.logical_type);
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
        // Parts, pages and windows with only nulls, and with none.
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
        for column in 0..table.columns.len() {
            let cells = collect_columns(found.as_ref(), &[column, 0], 1).unwrap();
            assert!(cells[0] == table.columns[column] && cells[1] == table.columns[0], "{name} {column}");
        }
    }
}

#[test]
fn every_flipped_bit_is_detected() {
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
fn parquet_rejects_seconds_out_of_range() {
    let logical_type = LogicalType::Timestamp { unit: TimeUnit::Second, zone: false };
    let field = Field::nullable("t", logical_type);
    let table = Typed::new(vec![(field, vec![Cell::Null, Cell::from(0), Cell::from(i64::MAX)])]);
    let refused = written(by_name("parquet").unwrap(), &table, "none", 9).unwrap_err();
    assert!(matches!(refused, Error::UnsupportedValue(_)));
    assert!(refused.to_string().contains("row 3, column 't'"), "{refused}");
    assert!(written(by_name("arrow").unwrap(), &table, "none", 9).is_ok());
}
