//! Tests of tables with every type, with and without nulls, in every encoding with every compression.

use crate::cell::{Cell, File, answer, options};
use crate::every_cell;
use crate::tables::query;
use brc_core::{Error, Field, LogicalType, PhysicalType, Result, Schema};
use brc_encodings::{OpenOptions, TextOptions};
use brc_query::Query;
use brc_testing::{Cell as Value, Delivery, MemoryTable, Typed, all_types, extremes, ordinary, read};
use brc_text::{Charset, Delimiter, DialectOverrides, LineEnd};

/// The options to open a file of a table. Text is not sniffed, because values as unusual as these may mislead it.
fn how(schema: &Schema) -> OpenOptions {
    let dialect = DialectOverrides {
        delimiter: Some(Delimiter::Byte(b',')),
        quote: Some(Some(b'"')),
        escape: Some(None),
        comment: Some(None),
        header: Some(true),
        trim: Some(false),
        line_end: Some(LineEnd::Lf),
        charset: Some(Charset::Raw),
        preamble_lines: Some(0),
        trailing_lines: Some(0),
        ..DialectOverrides::default()
    };
    let text = TextOptions { dialect, ..TextOptions::default() };
    OpenOptions { text, ..options(schema, None) }
}

fn encoded(cell: &Cell, table: &Typed, threads: usize) -> Result<File> {
    let (file, rows) = cell.encode_table(&MemoryTable::new(table, Delivery::default()), threads)?;
    assert_eq!(rows, table.rows() as u64);
    Ok(file)
}

/// A table with the given number of columns, cycling through all types.
fn many_columns(columns: usize) -> Typed {
    let types: Vec<LogicalType> = all_types().into_iter().cycle().take(columns).collect();
    Typed::of_types(&types, 12, ordinary, |row, column| (row + column).is_multiple_of(5))
}

fn tables() -> Vec<(&'static str, Typed)> {
    let some = |row: usize, column: usize| (row + column).is_multiple_of(5);
    let parts = |row: usize, column: usize| (row / 300 + column).is_multiple_of(2);
    vec![
        ("every type", Typed::of_every_type(300, some)),
        ("all null in parts", Typed::of_every_type(1300, parts)),
        ("all null", Typed::of_every_type(40, |_, _| true)),
        ("not null", Typed::of_every_type(200, |_, _| false)),
        ("no nulls where they may be", Typed::of_every_type(200, |_, _| false).nullable()),
        ("one row", Typed::of_every_type(1, |_, _| false)),
        ("one row of nulls", Typed::of_every_type(1, |_, _| true)),
        ("no rows", Typed::of_every_type(0, some).nullable()),
        ("1,000 columns", many_columns(1000)),
    ]
}

#[test]
fn every_type_round_trips() {
    let tables = tables();
    every_cell(|cell| {
        for (name, table) in &tables {
            let file = encoded(cell, table, 1).unwrap();
            let again = encoded(cell, table, 3).unwrap();
            assert!(file.bytes() == again.bytes(), "{cell}, {name}: the bytes depend on the threads");
            let how = how(&table.schema);
            for (threads, opened) in [(1, file.open(&how)), (3, file.open(&how)), (2, file.open_stream(&how))] {
                assert_same(&read(opened.unwrap().as_ref(), threads).unwrap(), table, &format!("{cell}, {name}"));
            }
            assert_eq!(file.verify(&how).unwrap(), table.rows() as u64, "{cell}, {name}");
        }
    });
}

fn assert_same(found: &Typed, expected: &Typed, what: &str) {
    assert_eq!(found.schema, expected.schema, "{what}");
    for ((found, expected), field) in found.columns.iter().zip(&expected.columns).zip(expected.schema.fields()) {
        assert_eq!(found.len(), expected.len(), "{what}");
        let different = found.iter().zip(expected).position(|(found, expected)| found != expected);
        if let Some(row) = different {
            panic!("{what}, column '{}', row {row}: {:?} instead of {:?}", field.name, found[row], expected[row]);
        }
    }
}

/// An encoding refuses by name what it cannot hold; everything else round-trips.
#[test]
fn no_value_is_changed() {
    every_cell(|cell| {
        for logical_type in all_types() {
            let values = extremes(logical_type);
            for value in &values {
                let values = |_| vec![value.clone()];
                let table = Typed::of_types(&[LogicalType::Bool, logical_type], 3, values_of(&values), |_, _| false);
                let what = format!("{cell}, {logical_type}, {value:?}");
                match encoded(cell, &table, 1) {
                    Ok(file) => {
                        let found = read(file.open(&how(&table.schema)).unwrap().as_ref(), 1).unwrap();
                        let is_text = !cell.encoding.detects_damage();
                        assert!(is_text && is_nan(value) || found == table, "{what}: {:?}", found.columns[1]);
                    }
                    Err(Error::UnsupportedValue(refused)) => {
                        assert!(!ordinary(logical_type).contains(value), "{what} is refused");
                        assert_eq!(refused.value.unwrap().0, "c1", "{what}");
                    }
                    Err(error) => panic!("{what}: {error}"),
                }
            }
        }
    });
}

/// The values of the second column of a table; the first column makes no row empty.
fn values_of(values: &impl Fn(LogicalType) -> Vec<Value>) -> impl Fn(LogicalType) -> Vec<Value> {
    move |logical_type| match logical_type {
        LogicalType::Bool => vec![Value::Integer(0), Value::Integer(1)],
        other => values(other),
    }
}

fn is_nan(value: &Value) -> bool {
    matches!(value, Value::Float(bits) if f64::from_bits(*bits).is_nan())
}

/// The positions of the columns of some types.
fn columns(table: &Typed, is_wanted: impl Fn(LogicalType) -> bool) -> impl Iterator<Item = String> {
    let fields = table.schema.fields().iter().filter(move |field| is_wanted(field.logical_type));
    fields.map(|field| field.name.clone()).collect::<Vec<_>>().into_iter()
}

fn queries(table: &Typed) -> Vec<Query> {
    let aggregates = |names: &mut dyn Iterator<Item = String>, functions: &[&str]| {
        let of = |name: String| functions.iter().map(move |function| format!("{function}{name})")).collect::<Vec<_>>();
        names.flat_map(of).collect::<Vec<_>>().join(",")
    };
    let all = aggregates(&mut columns(table, |_| true), &["count(", "min(", "max(", "count(distinct "]);
    let is_number = |logical_type: LogicalType| {
        logical_type.physical() == PhysicalType::Floats
            || matches!(
                logical_type,
                LogicalType::Int8
                    | LogicalType::Int16
                    | LogicalType::Int32
                    | LogicalType::Int64
                    | LogicalType::UInt64
                    // Sums of wider columns may exceed the largest decimal.
                    | LogicalType::Decimal { precision: ..=19, .. }
            )
    };
    let sums = aggregates(&mut columns(table, is_number), &["sum("]);
    let of_type = |wanted: LogicalType| columns(table, move |logical_type| logical_type == wanted).next().unwrap();
    let [string, day, int] = [LogicalType::String, LogicalType::Date, LogicalType::Int32].map(of_type);
    let filter = format!("{int} > 0 or {string} is null");
    let mut queries = vec![
        query(Some(&[]), &all, None),
        query(Some(&[]), &sums, None),
        query(Some(&[&string]), &all, None),
        query(Some(&[&day, &of_type(LogicalType::Bool)]), &sums, Some(&filter)),
    ];
    queries.extend(columns(table, |_| true).map(|key| query(Some(&[&key]), "count()", Some(&filter))));
    let without = queries.iter().map(|query| Query { statistics: false, ..query.clone() });
    queries.extend(without.collect::<Vec<_>>());
    queries
}

#[test]
fn every_cell_gives_the_same_results_for_every_type() {
    let tables = [
        Typed::of_every_type(200, |row, column| (row + column).is_multiple_of(5)),
        Typed::of_every_type(30, |_, _| true),
        Typed::of_every_type(0, |_, _| true).nullable(),
    ];
    let asked = tables.map(|table| {
        let queries = queries(&table);
        let expected = |query| answer(&MemoryTable::new(&table, Delivery::default()), query, 1).unwrap();
        let expected: Vec<String> = queries.iter().map(expected).collect();
        (table, queries, expected)
    });
    every_cell(|cell| {
        for (table, queries, expected) in &asked {
            let file = encoded(cell, table, 2).unwrap();
            let opened = file.open(&how(&table.schema)).unwrap();
            for (number, (query, expected)) in queries.iter().zip(expected).enumerate() {
                let found = answer(opened.as_ref(), query, 1 + number % 3);
                assert_eq!(found.as_ref(), Ok(expected), "{cell}: {query:?}");
            }
        }
    });
}

/// An error or the same rows, except for text without a checksum.
#[test]
fn damage_to_any_type_is_detected() {
    let table = Typed::of_every_type(3, |row, column| (row + column).is_multiple_of(3));
    every_cell(|cell| {
        let file = encoded(cell, &table, 1).unwrap();
        let sound = file.bytes();
        // The tests of each encoding damage every byte.
        let places = if cell.compression.is_none() { 3000 } else { 500 };
        for at in (0..sound.len()).step_by(sound.len().div_ceil(places)) {
            let mut flipped = sound.to_vec();
            flipped[at] ^= 1 << (at % 8);
            assert_detected(cell, &table, &flipped, &format!("bit {} of byte {at} flipped", at % 8));
            assert_detected(cell, &table, &sound[..at], &format!("cut off at byte {at}"));
        }
    });
}

fn assert_detected(cell: &Cell, table: &Typed, bytes: &[u8], damage: &str) {
    let found = cell.file_of(bytes).open(&how(&table.schema)).and_then(|table| read(table.as_ref(), 1));
    match found {
        Ok(found) => assert!(cell.is_plain_text() || found == *table, "{cell}: {damage}: other rows, and no error"),
        Err(Error::Io { source: error, .. }) => panic!("{cell}: {damage}: taken for an error of the system: {error}"),
        Err(_) => {}
    }
}

/// More distinct values than a dictionary holds, so that each encoding uses its plain form.
#[test]
fn a_million_distinct_strings_round_trip() {
    let strings = (0..1_000_000u64).map(|row| row.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 24);
    let cells = strings.map(|string| Value::Bytes(format!("{string:x}").into_bytes())).collect();
    let table = Typed::new(vec![(Field::required("s", LogicalType::String), cells)]);
    let delivery = Delivery { split_rows: 300_000, batch_rows: 4096, seed: 3, ..Delivery::default() };
    every_cell(|cell| {
        if cell.compression.is_none() {
            let (file, _) = cell.encode_table(&MemoryTable::new(&table, delivery), 2).unwrap();
            let found = read(file.open(&how(&table.schema)).unwrap().as_ref(), 2).unwrap();
            assert!(found == table, "{cell}");
        }
    });
}
