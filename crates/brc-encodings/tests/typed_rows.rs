//! Tables of every type, with and without nulls, are read back unchanged from every encoding of rows and from Cap'n
//! Proto, and damage of their files is detected.

#![forbid(unsafe_code)]
#![allow(clippy::panic, clippy::unwrap_used)]

use brc_compress::Compressor;
use brc_core::{Error, Field, LogicalType, PhysicalType, Result, Schema, float32};
use brc_encodings::{CreateOptions, Encoding, Input, OpenOptions, by_name, writer};
use brc_testing::{Cell, Delivery, Typed, all_types, collect_columns, extremes, is_plain};
use proptest::prelude::{BoxedStrategy, Just, ProptestConfig, Strategy, any, prop, prop_oneof, proptest};
use std::io::{Cursor, Write};

const ENCODINGS: [&str; 7] = ["capnp", "capnp-packed", "protobuf", "bincode", "msgpack", "cbor", "json"];

/// The extremes of a type. In text, all NaNs have the same form.
fn values(logical_type: LogicalType, is_text: bool) -> Vec<Cell> {
    let is_held = |cell: &Cell| !is_text || !logical_type.is_float() || is_plain(cell, logical_type);
    extremes(logical_type).into_iter().filter(is_held).collect()
}

/// Rows of extremes, in columns of all types; every `nulls`-th is null, unless that is 0.
fn of_extremes(rows: usize, nulls: usize, is_text: bool) -> Typed {
    let null = |row: usize, column: usize| nulls > 0 && (row + column).is_multiple_of(nulls);
    Typed::of_types(&all_types(), rows, |logical_type| values(logical_type, is_text), null)
}

/// A file of a table whose rows come in batches of `step` rows, in forms chosen by `seed`.
fn file_of(table: &Typed, encoding: &dyn Encoding, step: usize, seed: u64) -> Vec<u8> {
    let options = CreateOptions::new(Compressor::none());
    let mut writer = writer(encoding, &table.schema, &options).unwrap();
    let mut bytes = writer.start();
    let mut encoder = writer.encoder();
    let delivery = Delivery { batch_rows: step, seed, ..Delivery::default() };
    table.give(0..table.rows(), delivery, encoder.as_mut()).unwrap();
    let mut part = encoder.finish().unwrap();
    writer.append(&mut part).unwrap();
    bytes.extend(part.bytes);
    bytes.extend(writer.finish().unwrap());
    bytes
}

fn from_disk(bytes: &[u8]) -> Input {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    Input::from_file("table".into(), file).unwrap()
}

fn from_pipe(bytes: &[u8]) -> Input {
    Input::from_stream("-".into(), Box::new(Cursor::new(bytes.to_vec()))).unwrap()
}

/// The columns of a projection; for JSON, which has no schema, in the types of `schema`.
fn read(encoding: &dyn Encoding, input: Input, schema: &Schema, projection: &[usize]) -> Result<Vec<Vec<Cell>>> {
    let given = (encoding.name() == "json").then(|| schema.clone());
    let table = encoding.open(input, &OpenOptions { schema: given, ..OpenOptions::default() })?;
    assert_eq!(table.schema(), schema, "{}", encoding.name());
    collect_columns(table.as_ref(), projection, 1)
}

fn check(encoding: &dyn Encoding, table: &Typed, step: usize, seed: u64, what: &str) {
    let bytes = file_of(table, encoding, step, seed);
    let everything: Vec<_> = (0..table.columns.len()).collect();
    for input in [from_disk(&bytes), from_pipe(&bytes)] {
        let found = read(encoding, input, &table.schema, &everything);
        let found = found.unwrap_or_else(|error| panic!("{}, {what}: {error}", encoding.name()));
        for ((found, expected), field) in found.iter().zip(&table.columns).zip(table.schema.fields()) {
            assert!(found == expected, "{}, {what}, '{}': {found:?}", encoding.name(), field.name);
        }
    }
}

fn encodings() -> impl Iterator<Item = (&'static dyn Encoding, bool)> {
    ENCODINGS.into_iter().map(|name| (by_name(name).unwrap(), name == "json"))
}

#[test]
fn every_type_round_trips() {
    for (encoding, is_text) in encodings() {
        for (rows, nulls) in [(1, 0), (1, 1), (50, 0), (50, 1), (50, 2), (50, 3), (5_000, 7)] {
            let table = of_extremes(rows, nulls, is_text);
            for (step, seed) in [(1 << 20, 1), (1 << 20, 2), (13, 1), (13, 2)] {
                check(encoding, &table, step, seed, &format!("{rows} rows, nulls {nulls}, steps {step}"));
            }
        }
        // An empty table still has its columns, and a nullable column may have no nulls.
        check(encoding, &of_extremes(0, 3, is_text).nullable(), 1, 1, "no rows");
        check(encoding, &of_extremes(30, 0, is_text).nullable(), 7, 1, "no nulls");
    }
}

#[test]
fn projections_are_read() {
    for (encoding, is_text) in encodings() {
        let table = of_extremes(100, 3, is_text);
        let bytes = file_of(&table, encoding, 1000, 1);
        for column in 0..table.columns.len() {
            let found = read(encoding, from_disk(&bytes), &table.schema, &[column]).unwrap();
            assert!(found == table.columns[column..=column], "{}, column {column}", encoding.name());
        }
    }
}

#[test]
fn a_thousand_columns_round_trip() {
    let types: Vec<LogicalType> = all_types().into_iter().cycle().take(1000).collect();
    for (encoding, is_text) in encodings() {
        let null = |row: usize, column: usize| (row + column).is_multiple_of(5);
        let table = Typed::of_types(&types, 20, |logical_type| values(logical_type, is_text), null);
        check(encoding, &table, 1000, 1, "a thousand columns");
    }
}

#[test]
fn damage_is_detected() {
    for (encoding, is_text) in encodings().filter(|(encoding, _)| encoding.detects_damage()) {
        let table = of_extremes(3, 3, is_text);
        let bytes = file_of(&table, encoding, 1000, 1);
        let everything: Vec<_> = (0..table.columns.len()).collect();
        let damaged = |bytes: &[u8], what: String| match read(encoding, from_disk(bytes), &table.schema, &everything) {
            Ok(_) => panic!("{}: {what} is not seen", encoding.name()),
            Err(Error::Corrupt { .. } | Error::Unsupported { .. }) => {}
            // The first bytes are no longer those of the encoding.
            Err(Error::Usage(_)) => {}
            Err(error) => panic!("{}: {what}: {error}", encoding.name()),
        };
        for at in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << (at % 8);
            damaged(&flipped, format!("byte {at}"));
            damaged(&bytes[..at], format!("the cut at {at}"));
        }
    }
}

fn any_cell(logical_type: LogicalType) -> BoxedStrategy<Cell> {
    let value = match logical_type.physical() {
        PhysicalType::Integers => {
            let (min, max) = logical_type.bounds().unwrap();
            let near = (-3000i128..3000).prop_map(move |value| Cell::Integer(value.clamp(min, max)));
            prop_oneof![(min..=max).prop_map(Cell::Integer), near].boxed()
        }
        PhysicalType::Floats if logical_type == LogicalType::Float32 => {
            any::<f32>().prop_map(|float| Cell::Float(float32::widen(float).to_bits())).boxed()
        }
        PhysicalType::Floats => any::<f64>().prop_map(|float| Cell::Float(float.to_bits())).boxed(),
        PhysicalType::Bytes => "\\PC{0,20}".prop_map(|text| Cell::Bytes(text.into_bytes())).boxed(),
    };
    prop_oneof![3 => value, 1 => Just(Cell::Null)].boxed()
}

fn any_table() -> impl Strategy<Value = Typed> {
    let column = |rows: usize| {
        prop::sample::select(all_types()).prop_flat_map(move |logical_type| {
            (Just(logical_type), prop::collection::vec(any_cell(logical_type), rows), any::<bool>())
        })
    };
    (0usize..60).prop_flat_map(move |rows| {
        prop::collection::vec(column(rows), 1..6).prop_map(move |made| {
            let column = |(index, (logical_type, cells, nullable)): (usize, (LogicalType, Vec<Cell>, bool))| {
                let nullable = nullable || cells.contains(&Cell::Null);
                (Field { name: format!("c{index}"), logical_type, nullable }, cells)
            };
            Typed::new(made.into_iter().enumerate().map(column).collect())
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_table_round_trips(table in any_table(), step in 1usize..70, seed: u64) {
        for (encoding, is_text) in encodings() {
            // In text, all NaNs have the same form.
            let has_nan = table.columns.iter().flatten().any(
                |cell| matches!(cell, Cell::Float(bits) if f64::from_bits(*bits).is_nan()));
            if !(is_text && has_nan) {
                check(encoding, &table, step, seed, "any table");
            }
        }
    }
}
