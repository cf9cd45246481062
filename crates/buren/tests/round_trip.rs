//! Random tables round-trip with all options, and scans skip and summarise the correct rows.

mod common;

use brc_core::{
    Batch, BatchWriter, Column, Comparison, Dictionary, Error, Integers, Known, Order, Predicate, Progress,
    ScanOptions, Schema, Statistics, Table, Verdict,
};
use buren::Writer;
use common::{Cell, CellSummary, Data, nullable_schema, open, options, rows, scan, scan_all, schema, write, write_as};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Columns of equal length: strings of various cardinalities, numbers of various ranges.
fn tables() -> impl Strategy<Value = Vec<Data>> {
    let column = |rows: usize| {
        let names = prop::sample::select(vec![1usize, 2, 5, 40, 100_000]);
        let strings = (names, any::<u64>()).prop_map(move |(names, seed)| {
            let name = move |row: usize| format!("n{}", mix(seed, row) as usize % names).into_bytes();
            Data::Strings((0..rows).map(name).collect())
        });
        let shift = prop::sample::select(vec![0u32, 20, 31, 33, 47, 50, 54, 60, 63]);
        let numbers = (shift, any::<i64>(), any::<u64>()).prop_map(move |(shift, base, seed)| {
            let base = if shift > 40 { base >> shift.min(62) } else { base };
            let most = 10i64.pow(18) - 1;
            let number = move |row: usize| base.wrapping_add((mix(seed, row) as i64) >> shift).clamp(-most, most);
            Data::Numbers((0..rows).map(number).collect())
        });
        prop_oneof![strings, numbers]
    };
    prop_oneof![1usize..50, 1000usize..4000].prop_flat_map(move |rows| prop::collection::vec(column(rows), 1..5))
}

fn mix(seed: u64, row: usize) -> u64 {
    let mixed = (seed ^ row as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

fn compressions() -> impl Strategy<Value = &'static str> {
    prop::sample::select(brc_compress::COMPRESSIONS.iter().map(|compression| compression.name()).collect::<Vec<_>>())
}

fn sorted(mut rows: Vec<Vec<Cell>>) -> Vec<Vec<Cell>> {
    rows.sort();
    rows
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn rows_round_trip(
        table in tables(),
        parts in prop::collection::vec(0usize..3000, 0..4),
        compression in compressions(),
        by_key: bool,
        nullable: bool,
    ) {
        let schema = if nullable { nullable_schema(&table) } else { schema(&table) };
        let key = table.iter().position(|column| nullable || matches!(column, Data::Strings(_))).filter(|_| by_key);
        let key = key.map(|column| schema.fields()[column].name.clone());
        let write = |compression, workers| {
            write_as(&schema, &table, &parts, options(compression, key.as_deref()), workers).unwrap()
        };
        let bytes = write(compression, 2);
        prop_assert_eq!(&bytes, &write(compression, 1));
        let uncompressed = write("none", 1);
        prop_assert!(nullable || bytes.len() <= uncompressed.len() + 8, "compression makes no file larger");
        let reader = open(&bytes).unwrap();
        let names = |schema: &Schema| schema.fields().iter().map(|field| (field.name.clone(), field.logical_type.scale())).collect::<Vec<_>>();
        prop_assert_eq!(names(reader.schema()), names(&schema));
        prop_assert_eq!(reader.rows(), Some(table[0].len() as u64));
        let expected = rows(&table);
        prop_assert_eq!(&scan_all(&reader, Order::Original).unwrap(), &expected);
        prop_assert_eq!(sorted(scan_all(&reader, Order::Any).unwrap()), sorted(expected));
        let verified = reader.verify(2, &Progress::default()).unwrap();
        prop_assert_eq!(verified.rows, table[0].len() as u64);
        reader.describe().unwrap();
    }

    #[test]
    fn projections_deliver_their_columns(table in tables(), columns in prop::collection::vec(0usize..4, 0..4)) {
        let columns: Vec<_> = columns.into_iter().filter(|&column| column < table.len()).collect();
        let bytes = write(&table, &[1500], options("none", None), 1).unwrap();
        let reader = open(&bytes).unwrap();
        for order in [Order::Any, Order::Original] {
            let asked = ScanOptions { projection: columns.clone(), order, ..ScanOptions::everything(reader.schema()) };
            let (found, scanned) = scan(&reader, &asked).unwrap();
            let expected = rows(&table);
            let expected = expected.iter().map(|row| columns.iter().map(|&column| row[column].clone()).collect::<Vec<_>>());
            prop_assert_eq!(sorted(found.rows), sorted(expected.collect()));
            prop_assert_eq!(scanned.iter().map(|scanned| scanned.rows).sum::<u64>(), table[0].len() as u64);
        }
    }

    #[test]
    fn rows_are_skipped_and_summarised_correctly(
        table in tables(),
        parts in prop::collection::vec(0usize..3000, 0..3),
        number: prop::sample::Index,
        text: prop::sample::Index,
        negated: bool,
        either: bool,
        key: Option<prop::sample::Index>,
        nullable: bool,
    ) {
        let schema = if nullable { nullable_schema(&table) } else { schema(&table) };
        let key = key.filter(|_| nullable).map(|key| schema.fields()[key.index(table.len())].name.clone());
        let mut conditions = Vec::new();
        for (column, data) in table.iter().enumerate() {
            conditions.push(match data {
                Data::Numbers(values) => Predicate::Range { column, low: (*number.get(values)).into(), high: i64::MAX.into() },
                Data::Strings(values) => {
                    Predicate::Compare { column, comparison: Comparison::LessOrEqual, value: text.get(values).clone() }
                }
            });
        }
        let predicate = if either { Predicate::Or(conditions) } else { Predicate::And(conditions) };
        let predicate = if negated { Predicate::Not(Box::new(predicate)) } else { predicate };
        let expected: Vec<_> = rows(&table).into_iter().filter(|row| holds(&predicate, row)).collect();
        let reader = open(&write_as(&schema, &table, &parts, options("none", key.as_deref()), 1).unwrap()).unwrap();
        for (statistics, order) in [(false, Order::Any), (true, Order::Any), (true, Order::Original)] {
            let predicate = Some(predicate.clone());
            let options = ScanOptions { predicate: predicate.clone(), statistics, order, ..ScanOptions::everything(reader.schema()) };
            let (found, scanned) = scan(&reader, &options).unwrap();
            let accounted: u64 = scanned.iter().map(brc_core::Scanned::all_rows).sum();
            prop_assert_eq!(accounted, table[0].len() as u64);
            let matching: Vec<_> = found.rows.into_iter().filter(|row| holds(predicate.as_ref().unwrap(), row)).collect();
            if found.summaries.is_empty() {
                prop_assert_eq!(sorted(matching), sorted(expected.clone()));
            } else {
                prop_assert!(statistics && order == Order::Any);
                prop_assert_eq!(totals(&matching, &found.summaries, table.len()), totals(&expected, &[], table.len()));
            }
        }
    }
}

fn holds(predicate: &Predicate, row: &[Cell]) -> bool {
    let known = |column: usize| match &row[column] {
        Cell::Text(value) => Known::string(value),
        Cell::Number(value) => Known::numbers(*value, *value),
    };
    predicate.decide(&known) == Verdict::Always
}

/// For each column, the statistics of its numbers, or the number of rows of each string.
fn totals(
    rows: &[Vec<Cell>],
    summaries: &[(u64, Vec<CellSummary>)],
    columns: usize,
) -> Vec<(Statistics, BTreeMap<Vec<u8>, u64>)> {
    let mut totals = vec![(Statistics::EMPTY, BTreeMap::new()); columns];
    for row in rows {
        for ((numbers, strings), cell) in totals.iter_mut().zip(row) {
            match cell {
                Cell::Number(value) => numbers.add(*value),
                Cell::Text(value) => *strings.entry(value.clone()).or_default() += 1,
            }
        }
    }
    for (rows, columns) in summaries {
        for ((numbers, strings), column) in totals.iter_mut().zip(columns) {
            match column {
                CellSummary::Numbers(statistics) => numbers.merge(statistics),
                CellSummary::Text(value) => *strings.entry(value.clone()).or_default() += rows,
            }
        }
    }
    totals
}

#[test]
fn an_empty_table_is_a_file_without_row_groups() {
    let table = [Data::Strings(vec![]), Data::Numbers(vec![])];
    let reader = open(&write(&table, &[0, 0], options("none", None), 1).unwrap()).unwrap();
    assert_eq!(reader.rows(), Some(0));
    assert_eq!(reader.split(0), None);
    assert_eq!(scan_all(&reader, Order::Original).unwrap(), Vec::<Vec<Cell>>::new());
}

#[test]
fn the_key_must_be_a_column_of_strings_or_integers() {
    let table = Schema::parse("name:string not null,size:float64,price:decimal(30,2)").unwrap();
    for (key, message) in [
        ("size", "cannot cluster by column 'size': it is float64"),
        ("price", "cannot cluster by column 'price': it is decimal(30,2)"),
        ("color", "there is no column 'color' to cluster by"),
    ] {
        let error = Writer::new(&table, options("none", Some(key))).err().unwrap();
        assert!(matches!(&error, Error::Usage(found) if found == message), "{error}");
    }
}

/// Chunks of several blocks, runs across them, and predicates that prune most of them.
#[test]
fn chunks_of_several_blocks() {
    let row_count = 200_000;
    let key = |row: usize| mix(1, row) % 40;
    let table = [
        Data::Strings((0..row_count).map(|row| format!("k{}", key(row)).into_bytes()).collect()),
        Data::Numbers((0..row_count).map(|row| (key(row) * 1000 + mix(2, row) % 700) as i64).collect()),
        Data::Strings((0..row_count).map(|row| format!("{}", mix(3, row) % 300).into_bytes()).collect()),
        Data::Numbers((0..row_count).map(|row| (mix(4, row) >> 20) as i64).collect()),
    ];
    let expected = rows(&table);
    for compression in ["none", "snappy"] {
        let reader = open(&write(&table, &[150_000], options(compression, None), 1).unwrap()).unwrap();
        assert_eq!(scan_all(&reader, Order::Original).unwrap(), expected);
        assert_eq!(reader.verify(2, &Progress::default()).unwrap().row_groups, 2);
        let everything = ScanOptions { order: Order::Any, ..ScanOptions::everything(reader.schema()) };
        let (_, all) = scan(&reader, &everything).unwrap();
        let predicate = Predicate::And(vec![
            Predicate::Compare { column: 0, comparison: Comparison::Equal, value: b"k7".to_vec() },
            Predicate::Range { column: 1, low: 7000, high: 7699 },
        ]);
        let (found, scanned) =
            scan(&reader, &ScanOptions { predicate: Some(predicate.clone()), ..everything.clone() }).unwrap();
        let matching: Vec<_> = expected.iter().filter(|row| holds(&predicate, row)).cloned().collect();
        assert_eq!(sorted(found.rows), sorted(matching));
        let bytes = |scanned: &[brc_core::Scanned]| scanned.iter().map(|scanned| scanned.bytes).sum::<u64>();
        assert!(bytes(&scanned) * 3 < bytes(&all) * 2, "{} of {} bytes", bytes(&scanned), bytes(&all));
        let description = reader.describe().unwrap();
        assert_eq!(description.columns[1].schemes, [("in runs", 2)]);
    }
}

/// Invalid batches are an error, and do not produce an unreadable file.
#[test]
fn batches_must_fit_the_schema() {
    let schema = Schema::parse("name:string not null,size:int not null").unwrap();
    let new = || Writer::new(&schema, options("none", None)).unwrap();
    let writer = new();
    let names: Dictionary = ["a", "a"].into_iter().collect();
    let strings = Column::codes(&[0, 1], &names);
    let numbers = Column::integers(Integers::I32(&[1, 2]));
    assert!(matches!(writer.encoder().batch(&Batch { rows: 2, columns: &[strings] }), Err(Error::Usage(_))));
    let sound: Dictionary = ["a", "b"].into_iter().collect();
    let sound = Column::codes(&[0, 1], &sound);
    for (columns, name) in [([numbers, numbers], "name"), ([sound, sound], "size")] {
        // Types may widen until the last row, so the end reports the error.
        let mut writer = new();
        let mut encoder = writer.encoder();
        encoder.batch(&Batch { rows: 2, columns: &columns }).unwrap();
        writer.append(&mut encoder.finish().unwrap()).unwrap();
        let error = writer.finish().unwrap_err().to_string();
        assert!(error.starts_with(&format!("column '{name}' cannot be stored: ")), "{error}");
    }
    let mut encoder = writer.encoder();
    let codes = [[0, 1]; 100].concat();
    let columns = [Column::codes(&codes, &names), Column::integers(Integers::I32(&[7; 200]))];
    encoder.batch(&Batch { rows: 200, columns: &columns }).unwrap();
    let mut writer = writer;
    let mut part = encoder.finish().unwrap();
    let error = writer.append(&mut part).unwrap_err();
    assert_eq!(error.to_string(), "two codes of one dictionary stand for 'a'");
    assert!(matches!(writer.append(&mut part), Err(Error::Usage(_))), "a part is appended once");
}

#[test]
fn several_workers_make_the_same_file() {
    let names = (0..5000u32).map(|row| format!("{}", row * row % 97).into_bytes()).collect();
    let table = [Data::Numbers((0..5000).map(|row| row * 37 % 1999 - 999).collect()), Data::Strings(names)];
    let parts = [700, 1, 900, 1300, 600];
    let one = write(&table, &parts, options("lz4", None), 1).unwrap();
    for workers in 2..6 {
        assert_eq!(write(&table, &parts, options("lz4", None), workers).unwrap(), one);
    }
}
