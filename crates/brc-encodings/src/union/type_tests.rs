//! Columns whose types differ between the tables of a union.

use super::*;
use crate::{CreateOptions, Input, OpenOptions, by_name};
use brc_compress::Compressor;
use brc_core::{
    Batch, Column, Conjunct, Field, LogicalType, Order, PhysicalType, Predicate, Sink, Summary, Value, calendar,
    decimal,
};
use brc_testing::{Cell, Delivery, Typed, extremes, read};
use brc_text::infer::Seen;
use proptest::prelude::*;
use std::collections::HashSet;
use std::io::Cursor;

/// A file of a table, opened.
fn file(encoding: &str, table: &Typed) -> Box<dyn Table> {
    let encoding = by_name(encoding).unwrap();
    let mut writer = encoding.create(&table.schema, &CreateOptions::new(Compressor::parse("none").unwrap())).unwrap();
    let (mut encoder, mut bytes) = (writer.encoder(), writer.start());
    for start in (0..table.rows()).step_by(7) {
        let delivery = Delivery { batch_rows: 5, ..Delivery::default() };
        table.give(start..table.rows().min(start + 7), delivery, encoder.as_mut()).unwrap();
        let mut part = encoder.finish().unwrap();
        writer.append(&mut part).unwrap();
        bytes.extend_from_slice(&part.bytes);
    }
    bytes.extend_from_slice(&writer.finish().unwrap());
    let input = Input::from_stream(PathBuf::from(encoding.name()), Box::new(Cursor::new(bytes))).unwrap();
    encoding.open(input, &OpenOptions::default()).unwrap()
}

/// A table of one column, `x`, and the number of each row, `n`.
fn column(logical_type: &str, cells: Vec<Cell>) -> Typed {
    let numbers = (0..cells.len() as i64).map(Cell::from).collect();
    let field = Field { nullable: true, ..Field::required("x", logical_type.parse().unwrap()) };
    Typed::new(vec![(field, cells), (Field::required("n", LogicalType::Int64), numbers)])
}

fn union(encoding: &str, tables: &[Typed]) -> Result<Union> {
    Union::new(tables.iter().map(|table| file(encoding, table)).collect(), UnionOptions::default())
}

fn type_of(union: &Union) -> LogicalType {
    union.schema.fields()[0].logical_type
}

/// The value of a text in a column of that type.
fn parsed(text: &str, logical_type: LogicalType) -> Cell {
    let bytes = text.as_bytes();
    match logical_type {
        LogicalType::Float32 | LogicalType::Float64 => Cell::Float(text.parse::<f64>().unwrap().to_bits()),
        LogicalType::Date => Cell::from(calendar::parse_date(bytes).unwrap()),
        LogicalType::Time { unit } => Cell::from(calendar::parse_time(bytes, unit).unwrap()),
        LogicalType::Timestamp { unit, zone } => {
            let midnight = format!("{text} 00:00:00");
            let timestamp = |text: &str| calendar::parse_timestamp(text.as_bytes(), unit, zone);
            Cell::from(timestamp(text).or_else(|| timestamp(&midnight)).unwrap())
        }
        _ => Cell::Integer(decimal::parse_wide(bytes, logical_type.scale()).unwrap()),
    }
}

/// The cell in a column of another type, by way of its text.
fn converted(cell: &Cell, own: LogicalType, common: LogicalType) -> Cell {
    match cell {
        Cell::Null | Cell::Float(_) => cell.clone(),
        Cell::Integer(_) | Cell::Bytes(_) => parsed(&cell.to_text(own), common),
    }
}

/// What a query computes of the rows of which `x` is in a range.
#[derive(Debug, Default, PartialEq, Eq)]
struct Totals {
    count: u64,
    sum: i128,
    least: Option<i128>,
    most: Option<i128>,
}

impl Totals {
    fn add(&mut self, count: u64, sum: i128, least: i128, most: i128) {
        self.count += count;
        self.sum = self.sum.wrapping_add(sum);
        self.least = Some(self.least.map_or(least, |known| known.min(least)));
        self.most = Some(self.most.map_or(most, |known| known.max(most)));
    }
}

struct Totaller {
    range: (i128, i128),
    totals: Totals,
}

impl Totaller {
    fn wanted(&self, column: &Column<'_>, row: usize) -> Option<i128> {
        match Value::of_row(column, row) {
            Some(Value::Integer(value)) => (self.range.0..=self.range.1).contains(&value).then_some(value),
            Some(Value::Float(_) | Value::Bytes(_)) | None => None,
        }
    }
}

impl Sink for Totaller {
    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        for row in 0..batch.rows {
            if let Some(value) = self.wanted(&batch.columns[0], row) {
                self.totals.add(1, value, value, value);
            }
        }
        Ok(())
    }

    fn test(&mut self, _: usize, batch: &Batch<'_>, rows: &mut [u64]) -> Result<usize> {
        for row in 0..batch.rows {
            if rows[row / 64] >> (row % 64) & 1 == 1 && self.wanted(&batch.columns[0], row).is_none() {
                rows[row / 64] &= !(1 << (row % 64));
            }
        }
        Ok(rows.iter().map(|word| word.count_ones() as usize).sum())
    }

    fn tested(&mut self, batch: &Batch<'_>, rows: Option<&[u64]>) -> Result<()> {
        for row in (0..batch.rows).filter(|row| rows.is_none_or(|rows| rows[row / 64] >> (row % 64) & 1 == 1)) {
            let value = self.wanted(&batch.columns[0], row).expect("a row that passed the test");
            self.totals.add(1, value, value, value);
        }
        Ok(())
    }

    fn weighted(&mut self, batch: &Batch<'_>, weights: &[u32]) -> Result<()> {
        for (row, &weight) in weights.iter().enumerate() {
            if let Some(value) = self.wanted(&batch.columns[0], row) {
                self.totals.add(weight.into(), value.wrapping_mul(weight.into()), value, value);
            }
        }
        Ok(())
    }

    fn summary(&mut self, summary: &Summary<'_>) -> Result<()> {
        let [brc_core::table::ColumnSummary::Numbers(numbers), ..] = summary.columns else { panic!("no numbers") };
        for (set, &rows) in summary.rows.iter().enumerate() {
            let all = numbers.get(set, rows);
            self.totals.add(all.count, all.sum, all.min.into(), all.max.into());
        }
        Ok(())
    }
}

/// The totals of a filtered scan, with or without the help of statistics and of tests column by column.
fn totals(table: &dyn Table, range: (i128, i128), help: u8) -> Totals {
    let (has_predicate, has_conjuncts, summed) = (help & 1 == 1, help & 2 == 2, help & 4 == 4);
    let predicate = Some(Predicate::Range { column: 0, low: range.0, high: range.1 });
    let conjunct = Conjunct { columns: vec![0], predicate: predicate.clone() };
    let options = ScanOptions {
        projection: vec![0],
        predicate: predicate.filter(|_| has_predicate || has_conjuncts || summed),
        conjuncts: if has_conjuncts { vec![conjunct] } else { Vec::new() },
        statistics: summed,
        counts: summed,
        sums: summed,
        order: Order::Any,
        splits: None,
    };
    let mut totaller = Totaller { range, totals: Totals::default() };
    let mut scanner = table.scanner(&options).unwrap();
    for split in (0..).map_while(|split| table.split(split)) {
        scanner.scan(&split, &mut totaller).unwrap().unwrap();
    }
    scanner.finish(&mut totaller).unwrap();
    totaller.totals
}

/// Types that may have a common type.
const FAMILIES: [&[&str]; 4] = [
    &["int8", "int32", "int64", "uint64", "decimal(6,2)", "decimal(12,4)", "decimal(18,1)", "decimal(38,10)"],
    &["int8", "int64", "decimal(6,2)", "decimal(30,2)", "decimal(20,16)", "float32", "float64"],
    &["date", "timestamp(s)", "timestamp(ms)", "timestamp(ns)"],
    &["time(s)", "time(us)", "timestamp(s) with zone", "timestamp(ms) with zone"],
];

/// A cell of a type: small ones, and extremes. Texts of times have years of four digits.
fn cell(logical_type: LogicalType) -> BoxedStrategy<Cell> {
    let small = match logical_type.physical() {
        PhysicalType::Floats => (-8000i32..8000).prop_map(|n| Cell::Float((f64::from(n) / 64.0).to_bits())).boxed(),
        PhysicalType::Integers | PhysicalType::Bytes => {
            let (min, max) = logical_type.bounds().unwrap();
            (-99_999i128..100_000).prop_map(move |n| Cell::Integer(n.clamp(min, max))).boxed()
        }
    };
    let is_written = move |cell: &Cell| match (cell, logical_type) {
        (Cell::Integer(value), LogicalType::Date) => value.abs() < 700_000,
        (Cell::Integer(value), LogicalType::Timestamp { unit, .. }) => {
            value.abs() < 50_000_000_000 * i128::from(unit.per_second())
        }
        _ => true,
    };
    let extremes: Vec<_> = extremes(logical_type).into_iter().filter(is_written).collect();
    prop_oneof![12 => small, 1 => prop::sample::select(extremes), 2 => Just(Cell::Null)].boxed()
}

fn any_column(types: &'static [&'static str]) -> impl Strategy<Value = Typed> {
    prop::sample::select(types).prop_flat_map(|name| {
        let cells = prop::collection::vec(cell(name.parse().unwrap()), 0..30);
        cells.prop_map(move |cells| column(name, cells))
    })
}

fn any_tables() -> impl Strategy<Value = Vec<Typed>> {
    prop::sample::select(&FAMILIES[..]).prop_flat_map(|types| prop::collection::vec(any_column(types), 2..4))
}

/// The type that inference finds for the texts of all tables.
fn inferred(tables: &[Typed]) -> Option<LogicalType> {
    let seen = |table: &Typed| {
        let own = table.schema.fields()[0].logical_type;
        let of_cell = |cell: &Cell| match cell {
            Cell::Null => Seen::NOTHING,
            Cell::Float(_) => Seen::of(b"1e5"),
            Cell::Integer(_) | Cell::Bytes(_) => Seen::of(cell.to_text(own).as_bytes()),
        };
        table.columns[0].iter().map(of_cell).fold(Seen::NOTHING, Seen::join)
    };
    tables.iter().map(seen).fold(Seen::NOTHING, Seen::join).logical_type(false)
}

/// All rows of the tables, in a column of that type.
fn all_of(tables: &[Typed], common: LogicalType) -> Vec<Cell> {
    let of = |table: &Typed| {
        let own = table.schema.fields()[0].logical_type;
        table.columns[0].iter().map(|cell| converted(cell, own, common)).collect::<Vec<_>>()
    };
    tables.iter().flat_map(of).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    /// A union of files has the type and the values that their texts have together.
    #[test]
    fn tables_of_different_types_are_one_table(
        tables in any_tables(),
        threads in 1usize..3,
        bounds in prop::array::uniform2(-200_000i128..200_000),
    ) {
        for encoding in ["buren", "parquet", "arrow"] {
            let Ok(union) = union(encoding, &tables) else { continue };
            let common = type_of(&union);
            let expected = all_of(&tables, common);
            let found = read(&union, threads).unwrap();
            prop_assert_eq!(&found.columns[0], &expected, "{} {}", encoding, common);
            if common.is_float() {
                continue;
            }
            let range = (bounds[0].min(bounds[1]), bounds[0].max(bounds[1]));
            let one = column(&common.to_string(), expected);
            let expected = totals(file(encoding, &one).as_ref(), range, 0);
            for help in 0..8 {
                prop_assert_eq!(&totals(&union, range, help), &expected, "{} {} {}", encoding, common, help);
            }
        }
    }

    /// The common type is the one that inference finds, if statistics are known.
    #[test]
    fn types_are_those_of_inference(tables in any_tables()) {
        let typed = tables.iter().map(|table| (table.schema.fields()[0].logical_type, &table.columns[0]));
        let with_values = typed.filter(|(_, cells)| cells.iter().any(|cell| *cell != Cell::Null));
        let types: HashSet<LogicalType> = with_values.map(|(logical_type, _)| logical_type).collect();
        let found = union("buren", &tables).ok().map(|union| type_of(&union));
        let inferred = inferred(&tables).filter(|inferred| *inferred != LogicalType::String);
        // Inference finds no narrow types. It looks at each value, not at bounds, to find whether floats are exact; and
        // it leaves out the first and last second of timestamps.
        let is_inferred = |own: &LogicalType| match own {
            LogicalType::Int8 | LogicalType::Int16 | LogicalType::Int32 | LogicalType::Float32 => false,
            LogicalType::Float64 => found.is_some(),
            LogicalType::Timestamp { .. } => inferred.is_some(),
            LogicalType::Bool
            | LogicalType::Int64
            | LogicalType::UInt64
            | LogicalType::Decimal { .. }
            | LogicalType::Date
            | LogicalType::Time { .. }
            | LogicalType::String
            | LogicalType::Binary
            | LogicalType::Uuid => true,
        };
        if types.len() > 1 && types.iter().all(is_inferred) {
            prop_assert_eq!(found, inferred);
        }
    }
}

#[test]
fn types_without_statistics_hold_all_values() {
    for (one, other, common) in [
        ("int8", "int32", Some("int32")),
        ("float32", "float64", Some("float64")),
        ("int64", "uint64", Some("decimal(38,0)")),
        ("int64", "decimal(6,2)", Some("decimal(38,2)")),
        ("int32", "float64", Some("float64")),
        ("int64", "float64", None),
        ("date", "timestamp(s)", Some("timestamp(s)")),
        ("date", "timestamp(ns)", None),
        ("bool", "int8", None),
        ("string", "int8", None),
        ("string", "binary", None),
        ("uuid", "string", None),
    ] {
        for (one, other) in [(one, other), (other, one)] {
            let tables = [column(one, vec![Cell::Null]), column(other, vec![Cell::Null])];
            let found = union("arrow", &tables).ok().map(|union| type_of(&union).to_string());
            assert_eq!(found.as_deref(), common, "{one} and {other}");
        }
    }
}

#[test]
fn columns_without_values_have_any_type() {
    let nulls = || column("string", vec![Cell::Null; 20]);
    let numbers = || column("decimal(6,2)", vec![Cell::from(150), Cell::Null]);
    let dates = || column("date", vec![Cell::from(3)]);
    let floats = || column("float64", vec![Cell::Float(0)]);
    let texts = || column("string", vec![Cell::from("x")]);
    for encoding in ["buren", "parquet"] {
        for (tables, common) in [
            (vec![nulls(), numbers()], "decimal(6,2)"),
            (vec![numbers(), nulls()], "decimal(6,2)"),
            (vec![nulls(), dates(), nulls()], "date"),
            (vec![column("decimal(20,16)", vec![Cell::Null]), floats()], "float64"),
            (vec![column("date", vec![]), texts(), column("int8", vec![Cell::Null])], "string"),
            (vec![column("date", vec![]), nulls()], "date"),
        ] {
            let union = union(encoding, &tables).unwrap();
            assert_eq!(type_of(&union).to_string(), common, "{encoding}");
            let expected: Vec<_> = tables.iter().flat_map(|table| table.columns[0].clone()).collect();
            assert_eq!(read(&union, 2).unwrap().columns[0], expected, "{encoding} {common}");
        }
        let error = union(encoding, &[nulls(), numbers(), texts()]).err().unwrap().to_string();
        let expected = "column 'x' is of type string, but decimal(6,2) in";
        assert_eq!(
            error,
            format!("{encoding}: {expected} {encoding}; brc query can cast it in one of them, and --output saves that")
        );
    }
}
