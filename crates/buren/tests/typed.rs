//! Tables of every type, nulls included, round-trip for all batches and row groups.

#![allow(clippy::unwrap_used)]

mod common;

use brc_core::predicate::float_order;
use brc_core::{
    Batch, BatchWriter, BitmapBuffer, Column, Comparison, Data, Error, Integers, LogicalType, Order, PartEncoder,
    Predicate, Progress, Result, ScanOptions, Schema, Sink, Table,
};
use brc_testing::{Cell, Typed, all_types};
use buren::{Writer, WriterOptions};
use common::{encode, matching, mix, open, options, random_table, rows, scan, source, with_dates, write};
use proptest::prelude::*;

fn columns() -> impl Strategy<Value = Vec<(LogicalType, u64, u64)>> {
    let spread = prop::sample::select(vec![0u64, 1, 2, 5, 300, 1 << 20, 1 << 50]);
    let nulls = prop::sample::select(vec![0u64, 0, 10, 60, 100]);
    prop::collection::vec((prop::sample::select(all_types()), spread, nulls), 1..6)
}

fn tables() -> impl Strategy<Value = Typed> {
    let rows = prop_oneof![Just(0usize), Just(1), 2usize..50, 1000usize..4000];
    (columns(), rows, any::<u64>()).prop_map(|(columns, rows, seed)| random_table(&columns, rows, seed))
}

fn everything(table: &Typed) -> ScanOptions {
    ScanOptions::everything(&table.schema)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn rows_round_trip(
        table in tables(),
        parts in prop::collection::vec(0usize..3000, 0..3),
        compression in prop::sample::select(vec!["none", "snappy", "zstd"]),
        cut in 0usize..1000,
    ) {
        let bytes = write(&table, &parts, options(compression, None), 0).unwrap();
        prop_assert!(bytes == write(&table, &parts, options(compression, None), cut).unwrap(), "batches do not matter");
        let reader = open(&bytes).unwrap();
        prop_assert_eq!(reader.schema(), &table.schema);
        prop_assert_eq!(reader.rows(), Some(table.rows() as u64));
        let found = |order| scan(&reader, &ScanOptions { order, ..everything(&table) }).unwrap().0.columns;
        prop_assert_eq!(&found(Order::Original), &table.columns);
        // A table may be clustered automatically by a column that makes it smaller.
        prop_assert_eq!(sorted_rows(&found(Order::Any)), sorted_rows(&table.columns));
        prop_assert_eq!(reader.verify(2, &Progress::default()).unwrap().bytes, bytes.len() as u64);
        reader.describe().unwrap();
    }

    #[test]
    fn value_counts_replace_rows(
        table in tables(),
        parts in prop::collection::vec(0usize..3000, 0..3),
        memory in prop::sample::select(vec![0usize, 2000, 1 << 20]),
        pick: prop::sample::Index,
    ) {
        let options = WriterOptions { dictionary_bytes: memory, ..options("zstd", None) };
        let reader = open(&write(&table, &parts, options, 0).unwrap()).unwrap();
        reader.verify(2, &Progress::default()).unwrap();
        for (column, cells) in table.columns.iter().enumerate() {
            let is_wanted = |predicate: &Option<Predicate>, rows: Vec<Vec<Cell>>| match predicate {
                Some(predicate) => rows.into_iter().filter(|row| {
                    predicate.decide(&|_| row[0].statistics()) == brc_core::PruneResult::Always
                }).collect(),
                None => rows,
            };
            let value = if cells.is_empty() { &Cell::Null } else { pick.get(cells) };
            let condition = match value {
                Cell::Bytes(value) => Some(Predicate::Compare {
                    column, comparison: Comparison::LessOrEqual, value: value.clone(),
                }),
                Cell::Null => Some(Predicate::IsNull { column }),
                Cell::Integer(_) | Cell::Float(_) => None,
            };
            for predicate in [None, condition] {
                let asked = ScanOptions {
                    projection: vec![column], predicate, counts: true, order: Order::Any, ..everything(&table)
                };
                let (found, scanned) = scan(&reader, &asked).unwrap();
                let rows = |cells: &Vec<Cell>| is_wanted(&asked.predicate, sorted_rows(std::slice::from_ref(cells)));
                prop_assert_eq!(rows(&found.columns[0]), rows(cells));
                let all = scanned.iter().map(brc_core::Scanned::all_rows).sum::<u64>();
                prop_assert_eq!(all, table.rows() as u64);
            }
        }
    }

    #[test]
    fn clustered_rows_round_trip(
        (mut columns, key) in columns().prop_flat_map(|columns| {
            let keys = 0..columns.len();
            (Just(columns), keys)
        }),
        rows in prop_oneof![Just(0usize), 1usize..200, 1000usize..4000],
        seed: u64,
        parts in prop::collection::vec(0usize..3000, 0..3),
        cut in 0usize..1000,
        predicate_on_key: bool,
    ) {
        let of_key = columns[key].0;
        if of_key.is_float() || matches!(of_key, LogicalType::Uuid | LogicalType::Decimal { precision: 19.., .. }) {
            columns[key].0 = LogicalType::String;
        }
        columns[key].1 = columns[key].1.min(5);
        let table = random_table(&columns, rows, seed);
        let name = table.schema.fields()[key].name.clone();
        let bytes = write(&table, &parts, options("lz4", Some(&name)), 0).unwrap();
        prop_assert!(bytes == write(&table, &parts, options("lz4", Some(&name)), cut).unwrap(), "batches do not matter");
        let reader = open(&bytes).unwrap();
        let (found, _) = scan(&reader, &everything(&table)).unwrap();
        prop_assert_eq!(&found.columns, &table.columns);
        let predicate = match table.columns[key].first() {
            Some(Cell::Bytes(value)) if predicate_on_key => {
                Predicate::Compare { column: key, comparison: Comparison::Equal, value: value.clone() }
            }
            _ => Predicate::And(Vec::new()),
        };
        for order in [Order::Original, Order::Any] {
            let asked = ScanOptions { order, predicate: Some(predicate.clone()), ..everything(&table) };
            let (found, scanned) = scan(&reader, &asked).unwrap();
            prop_assert_eq!(scanned.iter().map(brc_core::Scanned::all_rows).sum::<u64>(), rows as u64);
            let sorted = |mut rows: Vec<Vec<Cell>>| { rows.sort_unstable(); rows };
            prop_assert_eq!(sorted(matching(&found.columns, &predicate)), sorted(matching(&table.columns, &predicate)));
        }
        reader.verify(2, &Progress::default()).unwrap();
        reader.describe().unwrap();
    }

    #[test]
    fn only_non_matching_rows_are_skipped(
        table in tables(),
        parts in prop::collection::vec(1usize..2000, 0..3),
        pick: prop::sample::Index,
        (negated, either, null) in any::<(bool, bool, bool)>(),
    ) {
        prop_assume!(table.rows() > 0);
        let mut conditions = Vec::new();
        for (column, cells) in table.columns.iter().enumerate() {
            conditions.push(match pick.get(cells) {
                _ if null && column == 0 => Predicate::IsNull { column },
                Cell::Null => Predicate::IsNull { column },
                Cell::Integer(value) => Predicate::Range { column, low: *value, high: i128::MAX },
                Cell::Float(bits) => Predicate::Range {
                    column, low: i128::MIN, high: float_order(f64::from_bits(*bits)).into(),
                },
                Cell::Bytes(value) => {
                    Predicate::Compare { column, comparison: Comparison::LessOrEqual, value: value.clone() }
                }
            });
        }
        let predicate = if either { Predicate::Or(conditions) } else { Predicate::And(conditions) };
        let predicate = if negated { Predicate::Not(Box::new(predicate)) } else { predicate };
        let reader = open(&write(&table, &parts, options("none", None), 0).unwrap()).unwrap();
        let asked = ScanOptions { predicate: Some(predicate.clone()), ..everything(&table) };
        let (found, scanned) = scan(&reader, &asked).unwrap();
        prop_assert_eq!(scanned.iter().map(brc_core::Scanned::all_rows).sum::<u64>(), table.rows() as u64);
        prop_assert_eq!(matching(&found.columns, &predicate), matching(&table.columns, &predicate));
    }
}

fn sorted_rows(columns: &[Vec<Cell>]) -> Vec<Vec<Cell>> {
    let mut rows = rows(columns);
    rows.sort();
    rows
}

/// A column of each type and spread, with and without nulls.
fn every_column() -> Vec<(LogicalType, u64, u64)> {
    let nulls = [0, 20, 100];
    let columns = all_types().into_iter().flat_map(|logical_type| [0u64, 2, 300].map(|spread| (logical_type, spread)));
    columns.enumerate().map(|(index, (logical_type, spread))| (logical_type, spread, nulls[index % 3])).collect()
}

#[test]
fn chunks_of_several_blocks() {
    let few: Vec<_> = every_column().into_iter().step_by(4).collect();
    let table = random_table(&few, 140_000, 5);
    let reader = open(&write(&table, &[131_072 + 5], options("lz4", None), 3).unwrap()).unwrap();
    assert!(scan(&reader, &everything(&table)).unwrap().0.columns == table.columns);
    reader.verify(2, &Progress::default()).unwrap();
}

#[test]
fn blocks_without_matches_are_not_read() {
    let types = [(LogicalType::Int64, 2, 0), (LogicalType::String, 300, 0), (LogicalType::Float64, 1 << 30, 0)];
    let table = random_table(&types, 200_000, 1);
    let reader = open(&write(&table, &[], options("none", None), 0).unwrap()).unwrap();
    let predicate = Some(Predicate::Range { column: 0, low: 0, high: 30 });
    let (found, scanned) = scan(&reader, &ScanOptions { predicate, ..everything(&table) }).unwrap();
    assert_eq!((found.columns[0].len(), scanned[0].skipped_rows), (65_536, 200_000 - 65_536));
    let projected = ScanOptions { projection: vec![2, 0, 2], ..everything(&table) };
    let (found, _) = scan(&reader, &projected).unwrap();
    assert!(found.columns == [2, 0, 2].map(|column: usize| table.columns[column].clone()));
}

#[test]
fn clusters_of_several_blocks() {
    let types = [(LogicalType::Date, 1 << 20, 0), (LogicalType::String, 5, 10), (LogicalType::String, 300, 30)];
    let table = with_dates(random_table(&types, 140_000, 1));
    let reader = open(&write(&table, &[135_000], options("none", Some("c1")), 0).unwrap()).unwrap();
    let description = reader.describe().unwrap();
    assert_eq!(description.row_groups.iter().map(|group| group.key).collect::<Vec<_>>(), [Some(1), Some(1)]);
    reader.verify(2, &Progress::default()).unwrap();
    assert!(scan(&reader, &everything(&table)).unwrap().0.columns == table.columns);
    let Cell::Bytes(first) = &table.columns[1][0] else { panic!("the first row has a string") };
    let predicate = Predicate::Compare { column: 1, comparison: Comparison::Equal, value: first.clone() };
    let asked = ScanOptions { predicate: Some(predicate.clone()), order: Order::Any, ..everything(&table) };
    let (found, scanned) = scan(&reader, &asked).unwrap();
    assert_eq!(matching(&found.columns, &predicate).len(), matching(&table.columns, &predicate).len());
    assert!(scanned[0].skipped_rows > 60_000, "{}", scanned[0].skipped_rows);
}

#[test]
fn keys_with_many_values_do_not_cluster() {
    let table = random_table(&[(LogicalType::Int64, 2, 0), (LogicalType::Int32, 1, 0)], 3000, 1);
    let reader = open(&write(&table, &[], options("none", Some("c0")), 0).unwrap()).unwrap();
    assert_eq!(reader.describe().unwrap().row_groups[0].key, None);
    assert!(scan(&reader, &everything(&table)).unwrap().0.columns == table.columns);
}

#[test]
fn statistics_replace_integers_without_nulls() {
    let types = [(LogicalType::Int32, 300, 0), (LogicalType::Date, 300, 10), (LogicalType::String, 300, 0)];
    let table = random_table(&types, 5000, 1);
    let reader = open(&write(&table, &[3000], options("none", None), 0).unwrap()).unwrap();
    for (projection, summarised) in [(vec![0], 5000), (vec![1], 0), (vec![0, 2], 0), (vec![], 5000)] {
        let asked = ScanOptions { projection, statistics: true, order: Order::Any, ..everything(&table) };
        let (found, scanned) = scan(&reader, &asked).unwrap();
        assert_eq!(found.summarised_rows(), summarised);
        assert_eq!(scanned.iter().map(|scanned| scanned.summarised_rows).sum::<u64>(), summarised);
    }
}

/// Runs without nulls are delivered as statistics, other rows as they are; a predicate on the key or on numbers skips
/// runs.
#[test]
fn run_statistics_replace_rows() {
    let rows = 80_000;
    let key = |row: usize| mix(1, row) % 12;
    let column = |cell: &dyn Fn(usize) -> Cell| (0..rows).map(cell).collect::<Vec<_>>();
    let name = |row| if key(row) == 11 { Cell::Null } else { Cell::Bytes(format!("k{:02}", key(row)).into_bytes()) };
    let number = |row| match key(row) {
        3 if row % 5 == 0 => Cell::Null,
        4 => Cell::Null,
        key => Cell::Integer((key * 1000 + mix(2, row) % 700) as i128),
    };
    let schema = Schema::parse("name:string,number:int64,day:date not null").unwrap();
    let day = column(&|row| Cell::Integer((mix(3, row) % 5000) as i128));
    let table = Typed { schema, columns: vec![column(&name), column(&number), day] };
    let reader = open(&write(&table, &[70_000], options("none", Some("name")), 0).unwrap()).unwrap();
    reader.verify(2, &Progress::default()).unwrap();
    let description = reader.describe().unwrap();
    assert_eq!(description.columns[1].schemes, [("in runs", 2)]);
    assert!(description.run_indexes.blocks > 0);

    let rows_of = |keys: &[u64]| (0..rows).filter(|&row| keys.contains(&key(row))).count() as u64;
    let of_key = Predicate::Compare { column: 0, comparison: Comparison::Equal, value: b"k07".to_vec() };
    let low = Predicate::Range { column: 1, low: 0, high: 1999 };
    let all = rows as u64;
    for (predicate, summarised, delivered) in [
        (None, all - rows_of(&[3, 4, 11]), rows_of(&[3, 4, 11])),
        (Some(of_key.clone()), rows_of(&[7]), 0),
        (Some(low.clone()), rows_of(&[0, 1]), 0),
        (Some(Predicate::And(vec![of_key.clone(), low.clone()])), 0, 0),
        (Some(Predicate::Or(vec![of_key, low])), rows_of(&[0, 1, 7]), 0),
        (Some(Predicate::IsNull { column: 0 }), 0, rows_of(&[11])),
        (Some(Predicate::IsNull { column: 1 }), 0, rows_of(&[3, 4])),
    ] {
        let asked = ScanOptions {
            projection: vec![0, 1],
            statistics: true,
            order: Order::Any,
            predicate: predicate.clone(),
            ..everything(&table)
        };
        let (found, scanned) = scan(&reader, &asked).unwrap();
        assert_eq!(found.summarised_rows(), summarised, "{predicate:?}");
        assert_eq!(found.rows as u64, delivered, "{predicate:?}");
        assert_eq!(scanned.iter().map(brc_core::Scanned::all_rows).sum::<u64>(), all);
    }
}

#[test]
fn value_counts_replace_strings_of_the_column_s_dictionary() {
    let types = [(LogicalType::String, 300, 10), (LogicalType::Int32, 300, 0), (LogicalType::String, 1 << 50, 0)];
    let table = random_table(&types, 5000, 1);
    let bytes = |dictionary_bytes| {
        let options = WriterOptions { dictionary_bytes, ..options("none", None) };
        write(&table, &[3000], options, 0).unwrap()
    };
    let none = Predicate::Compare { column: 0, comparison: Comparison::Less, value: Vec::new() };
    for (bytes, column, counts, order, predicate, weighted) in [
        (1 << 20, 0, true, Order::Any, None, 5000),
        (1 << 20, 0, false, Order::Any, None, 0),
        (1 << 20, 0, true, Order::Original, None, 0),
        // No row can match these.
        (1 << 20, 0, true, Order::Any, Some(none), 0),
        (1 << 20, 1, true, Order::Any, None, 0),
        (1 << 20, 2, true, Order::Any, None, 0),
        // These row groups have their own dictionaries.
        (0, 0, true, Order::Any, None, 0),
    ]
    .map(|(memory, column, counts, order, predicate, weighted)| {
        (bytes(memory), column, counts, order, predicate, weighted)
    }) {
        let reader = open(&bytes).unwrap();
        let asked = ScanOptions { projection: vec![column], counts, order, predicate, ..everything(&table) };
        let (found, scanned) = scan(&reader, &asked).unwrap();
        assert_eq!(found.weighted_rows, weighted);
        assert_eq!(scanned.iter().map(|scanned| scanned.summarised_rows).sum::<u64>(), weighted);
    }
}

#[test]
fn metadata_is_kept() {
    let metadata = vec![("b".to_owned(), "12".to_owned()), ("a".to_owned(), String::new())];
    let schema = Schema::one_brc().with_metadata(metadata);
    let mut writer = Writer::new(&schema, options("none", None)).unwrap();
    let reader = open(&[writer.start(), writer.finish().unwrap()].concat()).unwrap();
    assert_eq!(reader.metadata(), [("a".to_owned(), vec![]), ("b".to_owned(), b"12".to_vec())]);
    assert_eq!(reader.schema(), &schema);
}

/// The value of a null makes no difference to the file, even if the column's type cannot hold it.
#[test]
fn values_of_nulls_are_not_stored() {
    let schema = Schema::parse("n:int64").unwrap();
    let mut validity = BitmapBuffer::default();
    (0..3000).for_each(|row| validity.push(row % 7 != 0));
    let file = |null: i128| {
        let values: Vec<i128> = (0..3000).map(|row| if row % 7 == 0 { null } else { row * row % 1009 }).collect();
        let column = Column::integers(Integers::I128(&values)).with_validity(validity.bitmap());
        let mut writer = Writer::new(&schema, options("none", None)).unwrap();
        let (start, mut encoder) = (writer.start(), writer.encoder());
        encoder.batch(&Batch { rows: values.len(), columns: &[column] }).unwrap();
        let mut part = encoder.finish().unwrap();
        writer.append(&mut part).unwrap();
        [start, part.bytes, writer.finish().unwrap()].concat()
    };
    assert!(file(0) == file(i128::MIN / 3));
}

/// A column whose type widened is encoded again, and the file is identical to one written with that type from the
/// start.
#[test]
fn columns_are_replaced() {
    let schema = Schema::parse("id:int64 not null,value:int32 not null").unwrap();
    let wider = Schema::parse("id:int64 not null,value:string").unwrap();
    let numbers: Vec<_> = (0..3000).map(|row| Cell::Integer(row % 100)).collect();
    let ids: Vec<_> = (0..6000).map(Cell::Integer).collect();
    let texts: Vec<_> = (0..6000)
        .map(|row| if row % 7 == 0 { Cell::Null } else { Cell::Bytes(format!("x{row}").into_bytes()) })
        .collect();
    let part = |mut encoder: Box<dyn PartEncoder>, table: &Typed, rows| {
        encode(&mut source(table, 0), rows, 0, encoder.as_mut()).unwrap();
        encoder.finish().unwrap()
    };
    let first = Typed { schema: schema.clone(), columns: vec![ids[..3000].to_vec(), numbers] };
    let only_texts = Typed { schema: Schema::parse("value:string").unwrap(), columns: vec![texts.clone()] };
    let both = Typed { schema: wider.clone(), columns: vec![ids, texts] };

    let mut direct = Writer::new(&wider, options("none", None)).unwrap();
    let mut expected = direct.start();
    for rows in [0..3000, 3000..6000] {
        let mut made = part(direct.encoder(), &both, rows);
        direct.append(&mut made).unwrap();
        expected.extend_from_slice(&made.bytes);
    }
    expected.extend(direct.finish().unwrap());

    let mut writer = Writer::new(&schema, options("none", None)).unwrap();
    let mut file = writer.start();
    let mut made = part(writer.encoder(), &first, 0..3000);
    writer.append(&mut made).unwrap();
    file.extend_from_slice(&made.bytes);
    let encoder = writer.columnar().unwrap().encoder_of(&wider, &[0, 1]).unwrap();
    let mut made = part(encoder, &both, 3000..6000);
    writer.append(&mut made).unwrap();
    file.extend_from_slice(&made.bytes);

    let columnar = writer.columnar().unwrap();
    assert!(matches!(columnar.rearrange(&wider), Err(Error::Usage(_))), "the first part still has numbers");
    assert!(columnar.spans_parts(LogicalType::String), "there is one dictionary for all parts");
    for (number, rows) in [(0, 0..3000), (1, 3000..6000)] {
        let encoder = columnar.encoder_of(&wider, &[1]).unwrap();
        let mut made = part(encoder, &only_texts, rows);
        columnar.replace(number, &[1], &mut made).unwrap();
        file.extend_from_slice(&made.bytes);
    }
    let mut rearranged: Vec<u8> = columnar
        .rearrange(&wider)
        .unwrap()
        .into_iter()
        .flat_map(|range| file[range.start as usize..range.end as usize].to_vec())
        .collect();
    rearranged.extend(writer.finish().unwrap());
    assert!(rearranged == expected);
    let reader = open(&rearranged).unwrap();
    assert!(scan(&reader, &ScanOptions::everything(&wider)).unwrap().0.columns == both.columns);
}

/// Distinct values are stored once for all row groups, until their dictionary exceeds the memory budget.
#[test]
fn dictionaries_are_shared_by_row_groups() {
    let schema = Schema::parse("few:string,many:string").unwrap();
    let text = |number: usize| Cell::Bytes(format!("value {number:07}").into_bytes());
    let few: Vec<_> = (0..12_000).map(|row| if row % 9 == 0 { Cell::Null } else { text(row * row % 7) }).collect();
    let many: Vec<_> = (0..12_000).map(|row| text(row / 3000 * 100 + row % 300)).collect();
    let table = Typed { schema, columns: vec![few, many] };
    let write = |dictionary_bytes, cut| {
        let options = WriterOptions { dictionary_bytes, ..options("none", None) };
        write(&table, &[3000, 3000, 3000], options, cut).unwrap()
    };
    let mut sizes = Vec::new();
    for (bytes, distinct) in [(1 << 20, [Some(4), Some(600)]), (12_000, [Some(4), None]), (0, [None, None])] {
        let file = write(bytes, 0);
        assert!(file == write(bytes, 5), "batches make no difference");
        let reader = open(&file).unwrap();
        assert!(scan(&reader, &ScanOptions::everything(&table.schema)).unwrap().0.columns == table.columns);
        reader.verify(2, &Progress::default()).unwrap();
        let columns = reader.describe().unwrap().columns;
        assert_eq!(columns.iter().map(|column| column.cardinality).collect::<Vec<_>>(), distinct);
        assert!(columns.iter().all(|column| column.schemes == [("dictionary", 4)]));
        sizes.push(file.len());
    }
    assert!(sizes.is_sorted(), "{sizes:?}");
}

/// Whether values repeat is decided by the first thousands of rows, of which most are new even if a dictionary pays.
#[test]
fn dictionaries_pay_if_a_quarter_of_values_repeats() {
    let schema = Schema::parse("quarter:string,hardly:string").unwrap();
    let text =
        |number: u64| Cell::Bytes(format!("http://{:016x}.{:016x}", mix(1, number as usize), number).into_bytes());
    let again = |one_in: u64| {
        let number = move |row: usize| if mix(2, row).is_multiple_of(one_in) { row as u64 % 1000 } else { row as u64 };
        (0..60_000).map(|row| text(number(row))).collect()
    };
    let table = Typed { schema, columns: vec![again(4), again(50)] };
    let file = write(&table, &[30_000, 30_000], options("none", None), 0).unwrap();
    let reader = open(&file).unwrap();
    assert!(scan(&reader, &ScanOptions::everything(&table.schema)).unwrap().0.columns == table.columns);
    let columns = reader.describe().unwrap().columns;
    assert_eq!(columns[0].schemes, [("dictionary", 2)]);
    assert!(columns[1].schemes.iter().all(|(scheme, _)| *scheme != "dictionary"), "{:?}", columns[1].schemes);
}

/// Fixed-width numeric strings get codes if there are few, whatever digits they share within a block. If there are
/// many, or their lengths differ so that bounds are unknown, they are delivered as strings.
#[test]
fn fixed_width_numeric_strings_get_codes() {
    struct AllCoded(Vec<bool>);
    impl Sink for AllCoded {
        fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
            let coded = batch.columns.iter().map(|column| matches!(column.data, Data::Codes { .. }));
            self.0 = self.0.iter().zip(coded).map(|(all, coded)| *all && coded).collect();
            Ok(())
        }
    }
    let rows = 120_000;
    let column = |text: &dyn Fn(u64) -> String| -> Vec<Cell> {
        (0..rows).map(|row| Cell::Bytes(text(mix(3, row)).into_bytes())).collect()
    };
    let columns = vec![
        column(&|number| format!("id{:010}/x", number % 3000)),
        column(&|number| format!("{}", 40_000 + number % 3000)),
        column(&|number| format!("id{:010}", number % 80_000)),
        (0..rows).map(|row| Cell::Bytes(format!("{}", row % 3000).into_bytes())).collect(),
    ];
    let schema = Schema::parse("few:string,digits:string,many:string,ordered:string").unwrap();
    let table = Typed { schema, columns };
    let options = WriterOptions { dictionary_bytes: 0, ..options("none", None) };
    let file = write(&table, &[3000; 39], options, 0).unwrap();
    let reader = open(&file).unwrap();
    assert!(scan(&reader, &everything(&table)).unwrap().0.columns == table.columns);
    reader.verify(2, &Progress::default()).unwrap();
    let schemes: Vec<_> = reader.describe().unwrap().columns.into_iter().map(|column| column.schemes).collect();
    assert!(schemes.iter().all(|schemes| *schemes == [("strings", 40)]), "{schemes:?}");
    let all_coded = |options: &ScanOptions| {
        let mut all = AllCoded(vec![true; 4]);
        let scanned = reader.scanner(options).unwrap().scan(&reader.split(0).unwrap(), &mut all);
        assert!(scanned.is_ok());
        all.0
    };
    assert_eq!(all_coded(&everything(&table)), [true, true, false, false]);
}

/// A date that follows another is stored as a difference and can be read without requesting the other column.
#[test]
fn dates_are_differences_from_other_dates() {
    let table = with_dates(random_table(&[(LogicalType::Int64, 1 << 20, 10)], 70_000, 5));
    let file = write(&table, &[66_000, 1000], options("none", None), 0).unwrap();
    assert!(file == write(&table, &[66_000, 1000], options("none", None), 999).unwrap(), "batches make no difference");
    let reader = open(&file).unwrap();
    reader.verify(2, &Progress::default()).unwrap();
    let columns = reader.describe().unwrap().columns;
    assert_eq!([&columns[2].schemes, &columns[3].schemes], [&[("difference", 3)]; 2]);
    for column in 0..4 {
        let options = ScanOptions { projection: vec![column], ..everything(&table) };
        assert!(scan(&reader, &options).unwrap().0.columns == table.columns[column..=column]);
    }
}

/// A column that others are differences from cannot be replaced alone.
#[test]
fn reference_columns_are_not_replaced_alone() {
    let table = Typed { schema: Schema::parse("n:int64").unwrap(), columns: vec![vec![Cell::Null; 3000]] };
    let table = with_dates(table);
    let mut writer = Writer::new(&table.schema, options("none", None)).unwrap();
    let mut encoder = writer.encoder();
    encode(&mut source(&table, 0), 0..3000, 0, encoder.as_mut()).unwrap();
    writer.append(&mut encoder.finish().unwrap()).unwrap();
    let columnar = writer.columnar().unwrap();
    for (column, can_be) in [(0, true), (1, false), (2, true), (3, true)] {
        let mut encoder = columnar.encoder_of(&table.schema, &[column]).unwrap();
        let field = table.schema.fields()[column].clone();
        let one = Typed::new(vec![(field, table.columns[column].clone())]);
        encode(&mut source(&one, 0), 0..3000, 0, encoder.as_mut()).unwrap();
        let replaced = columnar.replace(0, &[column], &mut encoder.finish().unwrap());
        assert_eq!(matches!(replaced, Err(Error::Widened)), !can_be, "column {column}");
    }
}
