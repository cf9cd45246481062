//! Random tables round-trip with all options, and scans skip and summarise the correct rows.

#![allow(clippy::unwrap_used)]

mod common;

use brc_core::{
    Batch, BatchWriter, Column, Comparison, Dictionary, Error, Integers, Order, Predicate, Progress, ScanOptions,
    Schema, Statistics, Table,
};
use brc_testing::{Cell, CellSummary, Typed};
use buren::{Reader, Writer};
use common::{holds, matching, mix, open, options, rows, scan, write, write_by};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// A table of these columns, named `a`, `b` …
fn table(columns: Vec<Vec<Cell>>, nullable: bool) -> Typed {
    let column = |(index, column): (usize, &Vec<Cell>)| {
        let name = char::from(b'a' + index as u8);
        let logical_type = match (&column[0], nullable, index) {
            (Cell::Bytes(_), ..) => "string".to_owned(),
            (_, true, _) | (_, _, 0) => "int64".to_owned(),
            _ => format!("decimal({index})"),
        };
        format!("{name}:{logical_type}{}", if nullable { "" } else { " not null" })
    };
    let fields: Vec<_> = columns.iter().enumerate().map(column).collect();
    Typed { schema: Schema::parse(&fields.join(",")).unwrap(), columns }
}

/// Reads all rows of all columns.
fn scan_all(reader: &Reader, order: Order) -> Vec<Vec<Cell>> {
    scan(reader, &ScanOptions { order, ..ScanOptions::everything(reader.schema()) }).unwrap().0.into_rows()
}

/// Columns of equal length: strings of various cardinalities, numbers of various ranges.
fn tables() -> impl Strategy<Value = Vec<Vec<Cell>>> {
    let column = |rows: usize| {
        let names = prop::sample::select(vec![1usize, 2, 5, 40, 100_000]);
        let strings = (names, any::<u64>()).prop_map(move |(names, seed)| {
            let name = move |row: usize| format!("n{}", mix(seed, row) as usize % names);
            (0..rows).map(|row| Cell::from(name(row))).collect()
        });
        let shift = prop::sample::select(vec![0u32, 20, 31, 33, 47, 50, 54, 60, 63]);
        let numbers = (shift, any::<i64>(), any::<u64>()).prop_map(move |(shift, base, seed)| {
            let base = if shift > 40 { base >> shift.min(62) } else { base };
            let most = 10i64.pow(18) - 1;
            let number = move |row: usize| base.wrapping_add((mix(seed, row) as i64) >> shift).clamp(-most, most);
            (0..rows).map(|row| Cell::from(number(row))).collect()
        });
        prop_oneof![strings, numbers]
    };
    prop_oneof![1usize..50, 1000usize..4000].prop_flat_map(move |rows| prop::collection::vec(column(rows), 1..5))
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
        columns in tables(),
        parts in prop::collection::vec(0usize..3000, 0..4),
        compression in compressions(),
        by_key: bool,
        nullable: bool,
    ) {
        let table = table(columns, nullable);
        let is_key = |column: &Vec<Cell>| nullable || matches!(column[0], Cell::Bytes(_));
        let key = table.columns.iter().position(is_key).filter(|_| by_key);
        let key = key.map(|column| table.schema.fields()[column].name.clone());
        let write = |compression, workers| {
            write_by(&table, &parts, options(compression, key.as_deref()), 0, workers).unwrap()
        };
        let bytes = write(compression, 2);
        prop_assert_eq!(&bytes, &write(compression, 1));
        let uncompressed = write("none", 1);
        prop_assert!(nullable || bytes.len() <= uncompressed.len() + 8, "compression makes no file larger");
        let reader = open(&bytes).unwrap();
        let names = |schema: &Schema| schema.fields().iter().map(|field| (field.name.clone(), field.logical_type.scale())).collect::<Vec<_>>();
        prop_assert_eq!(names(reader.schema()), names(&table.schema));
        prop_assert_eq!(reader.rows(), Some(table.rows() as u64));
        let expected = rows(&table.columns);
        prop_assert_eq!(&scan_all(&reader, Order::Original), &expected);
        prop_assert_eq!(sorted(scan_all(&reader, Order::Any)), sorted(expected));
        let verified = reader.verify(2, &Progress::default()).unwrap();
        prop_assert_eq!(verified.rows, table.rows() as u64);
        reader.describe().unwrap();
    }

    #[test]
    fn projections_deliver_their_columns(all in tables(), columns in prop::collection::vec(0usize..4, 0..4)) {
        let columns: Vec<_> = columns.into_iter().filter(|&column| column < all.len()).collect();
        let table = table(all, false);
        let bytes = write(&table, &[1500], options("none", None), 0).unwrap();
        let reader = open(&bytes).unwrap();
        for order in [Order::Any, Order::Original] {
            let asked = ScanOptions { projection: columns.clone(), order, ..ScanOptions::everything(reader.schema()) };
            let (found, scanned) = scan(&reader, &asked).unwrap();
            let expected = rows(&table.columns);
            let expected = expected.iter().map(|row| columns.iter().map(|&column| row[column].clone()).collect::<Vec<_>>());
            prop_assert_eq!(sorted(found.into_rows()), sorted(expected.collect()));
            prop_assert_eq!(scanned.iter().map(|scanned| scanned.rows).sum::<u64>(), table.rows() as u64);
        }
    }

    #[test]
    fn rows_are_skipped_and_summarised_correctly(
        columns in tables(),
        parts in prop::collection::vec(0usize..3000, 0..3),
        number: prop::sample::Index,
        text: prop::sample::Index,
        negated: bool,
        either: bool,
        key: Option<prop::sample::Index>,
        nullable: bool,
    ) {
        let table = table(columns, nullable);
        let width = table.columns.len();
        let key = key.filter(|_| nullable).map(|key| table.schema.fields()[key.index(width)].name.clone());
        let mut conditions = Vec::new();
        for (column, cells) in table.columns.iter().enumerate() {
            let pick = if matches!(cells[0], Cell::Bytes(_)) { text } else { number };
            conditions.push(match pick.get(cells).clone() {
                Cell::Bytes(value) => Predicate::Compare { column, comparison: Comparison::LessOrEqual, value },
                Cell::Integer(low) => Predicate::Range { column, low, high: i64::MAX.into() },
                cell => unreachable!("{cell:?}"),
            });
        }
        let predicate = if either { Predicate::Or(conditions) } else { Predicate::And(conditions) };
        let predicate = if negated { Predicate::Not(Box::new(predicate)) } else { predicate };
        let expected = matching(&table.columns, &predicate);
        let reader = open(&write(&table, &parts, options("none", key.as_deref()), 0).unwrap()).unwrap();
        for (statistics, order) in [(false, Order::Any), (true, Order::Any), (true, Order::Original)] {
            let predicate = Some(predicate.clone());
            let options = ScanOptions { predicate: predicate.clone(), statistics, order, ..ScanOptions::everything(reader.schema()) };
            let (found, scanned) = scan(&reader, &options).unwrap();
            let accounted: u64 = scanned.iter().map(brc_core::Scanned::all_rows).sum();
            prop_assert_eq!(accounted, table.rows() as u64);
            let matching = matching(&found.columns, predicate.as_ref().unwrap());
            if found.summaries.is_empty() {
                prop_assert_eq!(sorted(matching), sorted(expected.clone()));
            } else {
                prop_assert!(statistics && order == Order::Any);
                prop_assert_eq!(totals(&matching, &found.summaries, width), totals(&expected, &[], width));
            }
        }
    }
}

/// For each column, the statistics of its numbers, or the number of rows of each string.
fn totals(
    rows: &[Vec<Cell>],
    summaries: &[(u64, Vec<CellSummary>)],
    columns: usize,
) -> Vec<(Statistics, BTreeMap<Cell, u64>)> {
    let mut totals = vec![(Statistics::EMPTY, BTreeMap::new()); columns];
    for row in rows {
        for ((numbers, strings), cell) in totals.iter_mut().zip(row) {
            match cell {
                Cell::Integer(value) => numbers.add(*value as i64),
                value => *strings.entry(value.clone()).or_default() += 1,
            }
        }
    }
    for (rows, columns) in summaries {
        for ((numbers, strings), column) in totals.iter_mut().zip(columns) {
            match column {
                CellSummary::Numbers(statistics) => numbers.merge(statistics),
                CellSummary::Value(value) => *strings.entry(value.clone()).or_default() += rows,
            }
        }
    }
    totals
}

#[test]
fn an_empty_table_is_a_file_without_row_groups() {
    let schema = Schema::parse("a:string not null,b:decimal(1) not null").unwrap();
    let table = Typed { schema, columns: vec![Vec::new(); 2] };
    let reader = open(&write(&table, &[0, 0], options("none", None), 0).unwrap()).unwrap();
    assert_eq!(reader.rows(), Some(0));
    assert_eq!(reader.split(0), None);
    assert_eq!(scan_all(&reader, Order::Original), Vec::<Vec<Cell>>::new());
}

#[test]
fn the_key_must_be_a_column_of_strings_or_integers() {
    let table = Schema::parse("name:string not null,size:float64,price:decimal(30,2)").unwrap();
    for (key, message) in [
        ("size", "cannot cluster by column 'size': it is float64"),
        ("price", "cannot cluster by column 'price': it is decimal(30,2)"),
        ("color", "there is no column 'color' to cluster by (columns: name, size, price)"),
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
    let columns = vec![
        (0..row_count).map(|row| format!("k{}", key(row)).into()).collect(),
        (0..row_count).map(|row| Cell::from((key(row) * 1000 + mix(2, row) % 700) as i64)).collect(),
        (0..row_count).map(|row| (mix(3, row) % 300).to_string().into()).collect(),
        (0..row_count).map(|row| Cell::from((mix(4, row) >> 20) as i64)).collect(),
    ];
    let table = table(columns, false);
    let expected = rows(&table.columns);
    for compression in ["none", "snappy"] {
        let reader = open(&write(&table, &[150_000], options(compression, None), 0).unwrap()).unwrap();
        assert_eq!(scan_all(&reader, Order::Original), expected);
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
        assert_eq!(sorted(found.into_rows()), sorted(matching));
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
    let names = (0..5000u32).map(|row| (row * row % 97).to_string().into()).collect();
    let table = table(vec![(0..5000).map(|row| Cell::from(row * 37 % 1999 - 999)).collect(), names], false);
    let parts = [700, 1, 900, 1300, 600];
    let one = write(&table, &parts, options("lz4", None), 0).unwrap();
    for workers in 2..6 {
        assert_eq!(write_by(&table, &parts, options("lz4", None), 0, workers).unwrap(), one);
    }
}
