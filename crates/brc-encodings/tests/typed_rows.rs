//! Tables of every type, with nulls and without, come back from every encoding of rows and from Cap'n Proto; and what is
//! damaged in their files is seen.

#![forbid(unsafe_code)]
#![allow(clippy::panic, clippy::unwrap_used)]

use brc_compress::Compressor;
use brc_core::{
    Batch, BitmapBuffer, ByteStrings, Column, Data, Dictionary, Error, Field, Integers, LogicalType, PhysicalType,
    Progress, Result, ScanOptions, Scanned, Schema, Sink, Split, Summary, TimeUnit, Value, Worker, scan,
};
use brc_encodings::{CreateOptions, Encoding, Input, OpenOptions, by_name, writer};
use proptest::prelude::{BoxedStrategy, Just, ProptestConfig, Strategy, any, prop, prop_oneof, proptest};
use std::io::{Cursor, Write};
use std::sync::Mutex;

const ENCODINGS: [&str; 7] = ["capnp", "capnp-packed", "protobuf", "bincode", "msgpack", "cbor", "json"];

/// A value with memory of its own. Floats are their bits, so that all of these are equal to themselves.
#[derive(Debug, Clone, PartialEq)]
enum Owned {
    Integer(i128),
    Float(u64),
    Bytes(Vec<u8>),
}

type Cell = Option<Owned>;

/// A table in memory, column by column.
#[derive(Debug, Clone)]
struct Typed {
    schema: Schema,
    columns: Vec<Vec<Cell>>,
    rows: usize,
}

fn all_types() -> Vec<LogicalType> {
    let decimal = |precision, scale| LogicalType::Decimal { precision, scale };
    let mut types = vec![
        LogicalType::Bool,
        LogicalType::Int8,
        LogicalType::Int16,
        LogicalType::Int32,
        LogicalType::Int64,
        LogicalType::UInt64,
        decimal(3, 3),
        decimal(18, 0),
        decimal(18, 2),
        decimal(19, 2),
        decimal(38, 10),
        decimal(38, 38),
        LogicalType::Float64,
        LogicalType::Date,
        LogicalType::String,
        LogicalType::Binary,
    ];
    for unit in TimeUnit::ALL {
        types.push(LogicalType::Time { unit });
        types.extend([false, true].map(|zone| LogicalType::Timestamp { unit, zone }));
    }
    types
}

/// What is at the edges of a type. Text without a form of its own for a value, as JSON is, gets no such value.
fn extremes(logical_type: LogicalType, is_text: bool) -> Vec<Owned> {
    match logical_type.physical() {
        PhysicalType::Integers => {
            let (min, max) = logical_type.bounds().unwrap();
            let near = [0, 1, -1, 100, -128, 40_000, 1 << 40, -(1 << 33) - 1, i64::MAX.into(), i64::MIN.into()];
            let near = near.into_iter().filter(|value| (min..=max).contains(value));
            [min, max].into_iter().chain(near).map(Owned::Integer).collect()
        }
        PhysicalType::Floats => {
            let payload = f64::from_bits(0xfff8_0000_dead_beef);
            let floats = [0.0, -0.0, 1.5, f64::MIN, f64::MAX, f64::MIN_POSITIVE, 5e-324, f64::INFINITY, -f64::INFINITY];
            let odd = if is_text { f64::NAN } else { payload };
            floats.into_iter().chain([odd, 0.1 + 0.2]).map(|float: f64| Owned::Float(float.to_bits())).collect()
        }
        PhysicalType::Bytes => {
            let mut strings = vec![Vec::new(), b"\0".to_vec(), "S\u{e3}o \"Paulo\"\n".into(), vec![b'x'; 300]];
            if !is_text || logical_type == LogicalType::Binary {
                strings.push(b"\xff\xfe\0".to_vec());
            }
            strings.into_iter().map(Owned::Bytes).collect()
        }
    }
}

impl Typed {
    /// So many rows of extremes, in columns of all types; every `nulls`-th is null, where that is not 0.
    fn of_extremes(rows: usize, nulls: usize, is_text: bool) -> Self {
        let (mut fields, mut columns) = (Vec::new(), Vec::new());
        for (index, logical_type) in all_types().into_iter().enumerate() {
            let values = extremes(logical_type, is_text);
            let cell = |row: usize| {
                let is_null = nulls > 0 && (row + index).is_multiple_of(nulls);
                (!is_null).then(|| values[(row * 7 + row / values.len()) % values.len()].clone())
            };
            columns.push((0..rows).map(cell).collect());
            fields.push(Field { name: format!("{logical_type}, {index}"), logical_type, nullable: nulls > 0 });
        }
        Self { schema: Schema::new(fields).unwrap(), columns, rows }
    }

    /// Hands over all rows in batches of `step`, strings as codes or as they are.
    fn give(&self, step: usize, coded: bool, sink: &mut dyn Sink) -> Result<()> {
        let mut dictionaries = vec![Dictionary::new(); self.columns.len()];
        for start in (0..self.rows).step_by(step) {
            let rows = start..self.rows.min(start + step);
            let built: Vec<_> = self
                .columns
                .iter()
                .zip(self.schema.fields())
                .zip(&mut dictionaries)
                .map(|((cells, field), dictionary)| {
                    Built::new(&cells[rows.clone()], field.logical_type, coded.then_some(dictionary))
                })
                .collect();
            let columns: Vec<_> = built
                .iter()
                .zip(&dictionaries)
                .map(|(built, dictionary)| built.lend(coded.then_some(dictionary)))
                .collect();
            sink.batch(&Batch { rows: rows.len(), columns: &columns })?;
        }
        Ok(())
    }

    fn file(&self, encoding: &dyn Encoding, step: usize, coded: bool) -> Vec<u8> {
        let options = CreateOptions::new(Compressor::none());
        let mut writer = writer(encoding, &self.schema, &options).unwrap();
        let mut bytes = writer.start();
        let mut encoder = writer.encoder();
        self.give(step, coded, encoder.as_mut()).unwrap();
        let mut part = encoder.finish().unwrap();
        writer.append(&mut part).unwrap();
        bytes.extend(part.bytes);
        bytes.extend(writer.finish().unwrap());
        bytes
    }
}

/// A column of a batch; under nulls there are values that no type holds.
struct Built {
    validity: BitmapBuffer,
    integers: Vec<i128>,
    narrow: Option<Vec<i64>>,
    floats: Vec<f64>,
    codes: Vec<u32>,
    offsets: Vec<i32>,
    bytes: Vec<u8>,
    physical: PhysicalType,
}

impl Built {
    fn new(cells: &[Cell], logical_type: LogicalType, mut dictionary: Option<&mut Dictionary>) -> Self {
        let mut built = Self {
            validity: BitmapBuffer::default(),
            integers: Vec::new(),
            narrow: None,
            floats: Vec::new(),
            codes: Vec::new(),
            offsets: vec![0],
            bytes: Vec::new(),
            physical: logical_type.physical(),
        };
        for cell in cells {
            built.validity.push(cell.is_some());
            match (cell, built.physical) {
                (Some(Owned::Integer(integer)), _) => built.integers.push(*integer),
                (Some(Owned::Float(bits)), _) => built.floats.push(f64::from_bits(*bits)),
                (Some(Owned::Bytes(bytes)), _) => {
                    built.bytes.extend(bytes);
                    if let Some(dictionary) = &mut dictionary {
                        let known = dictionary.iter().position(|known| known == bytes);
                        built.codes.push(known.map_or_else(|| dictionary.push(bytes), |code| code as u32));
                    }
                }
                (None, PhysicalType::Integers) => built.integers.push(77),
                (None, PhysicalType::Floats) => built.floats.push(7.5),
                (None, PhysicalType::Bytes) => {
                    built.bytes.extend(b"null");
                    built.codes.push(0);
                }
            }
            built.offsets.push(built.bytes.len() as i32);
        }
        built.narrow = built.integers.iter().map(|&integer| i64::try_from(integer).ok()).collect();
        built
    }

    fn lend<'a>(&'a self, dictionary: Option<&'a Dictionary>) -> Column<'a> {
        let data = match (self.physical, dictionary, &self.narrow) {
            (PhysicalType::Integers, _, Some(narrow)) => Data::Integers(Integers::I64(narrow)),
            (PhysicalType::Integers, _, None) => Data::Integers(Integers::I128(&self.integers)),
            (PhysicalType::Floats, ..) => Data::Floats(&self.floats),
            (PhysicalType::Bytes, Some(dictionary), _) => Data::Codes { codes: &self.codes, dictionary },
            (PhysicalType::Bytes, None, _) => Data::Bytes(ByteStrings::new(&self.offsets, &self.bytes)),
        };
        Column { data, validity: self.validity.bitmap() }
    }
}

/// Gathers the columns; a single worker gets the splits in order.
struct Gather<'a> {
    columns: &'a Mutex<Vec<Vec<Cell>>>,
    types: &'a [LogicalType],
}

impl Worker for Gather<'_> {
    fn sink(&mut self) -> &mut dyn Sink {
        self
    }

    fn split_done(&mut self, _: &Split, _: Scanned) -> Result<()> {
        Ok(())
    }
}

impl Sink for Gather<'_> {
    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        let mut columns = self.columns.lock().unwrap();
        for ((cells, column), logical_type) in columns.iter_mut().zip(batch.columns).zip(self.types) {
            for row in 0..batch.rows {
                let value = Value::of_row(column, row);
                assert!(value.is_none_or(|value| value.check(*logical_type).is_ok()), "{value:?} of {logical_type}");
                cells.push(value.map(|value| match value {
                    Value::Integer(integer) => Owned::Integer(integer),
                    Value::Float(float) => Owned::Float(float.to_bits()),
                    Value::Bytes(bytes) => Owned::Bytes(bytes.to_vec()),
                }));
            }
        }
        Ok(())
    }

    fn summary(&mut self, _: &Summary<'_>) -> Result<()> {
        panic!("nobody allowed summaries")
    }
}

fn from_disk(bytes: &[u8]) -> Input {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    Input::from_file("table".into(), file).unwrap()
}

fn from_pipe(bytes: &[u8]) -> Input {
    Input::from_stream("-".into(), Box::new(Cursor::new(bytes.to_vec()))).unwrap()
}

/// The columns of a projection; of JSON, which does not tell its schema, in the types of `schema`.
fn read(encoding: &dyn Encoding, input: Input, schema: &Schema, projection: &[usize]) -> Result<Vec<Vec<Cell>>> {
    let told = (encoding.name() == "json").then(|| schema.clone());
    let table = encoding.open(input, &OpenOptions { schema: told, ..OpenOptions::default() })?;
    assert_eq!(table.schema(), schema, "{}", encoding.name());
    let options = ScanOptions { projection: projection.to_vec(), ..ScanOptions::everything(schema) };
    let columns = Mutex::new(vec![Vec::new(); projection.len()]);
    let types: Vec<_> = projection.iter().map(|&column| schema.fields()[column].logical_type).collect();
    scan(table.as_ref(), &options, 1, &Progress::default(), || Gather { columns: &columns, types: &types })?;
    Ok(columns.into_inner().unwrap())
}

fn check(encoding: &dyn Encoding, table: &Typed, step: usize, coded: bool, what: &str) {
    let bytes = table.file(encoding, step, coded);
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
fn every_type_comes_back() {
    for (encoding, is_text) in encodings() {
        for (rows, nulls) in [(1, 0), (1, 1), (50, 0), (50, 1), (50, 2), (50, 3), (5_000, 7)] {
            let table = Typed::of_extremes(rows, nulls, is_text);
            for (step, coded) in [(1 << 20, true), (1 << 20, false), (13, true), (13, false)] {
                check(encoding, &table, step, coded, &format!("{rows} rows, nulls {nulls}, steps {step}"));
            }
        }
        // A table of no rows has its columns nevertheless, and a column that may have nulls need not have any.
        check(encoding, &Typed::of_extremes(0, 3, is_text), 1, true, "no rows");
        let mut required = Typed::of_extremes(30, 0, is_text);
        let fields = required.schema.fields().iter().map(|field| Field { nullable: true, ..field.clone() });
        required.schema = Schema::new(fields.collect()).unwrap();
        check(encoding, &required, 7, true, "no nulls");
    }
}

#[test]
fn some_columns_come_back_without_the_others() {
    for (encoding, is_text) in encodings() {
        let table = Typed::of_extremes(100, 3, is_text);
        let bytes = table.file(encoding, 1000, true);
        for column in 0..table.columns.len() {
            let found = read(encoding, from_disk(&bytes), &table.schema, &[column]).unwrap();
            assert!(found == table.columns[column..=column], "{}, column {column}", encoding.name());
        }
    }
}

#[test]
fn a_thousand_columns_come_back() {
    let types = all_types();
    for (encoding, is_text) in encodings() {
        let column = |index: usize| {
            let values = extremes(types[index % types.len()], is_text);
            (0..20)
                .map(|row| (!(row + index).is_multiple_of(5)).then(|| values[(row + index) % values.len()].clone()))
                .collect()
        };
        let field = |index: usize| Field::nullable(format!("column {index}"), types[index % types.len()]);
        let schema = Schema::new((0..1000).map(field).collect()).unwrap();
        let table = Typed { schema, columns: (0..1000).map(column).collect(), rows: 20 };
        check(encoding, &table, 1000, true, "a thousand columns");
    }
}

#[test]
fn damage_is_seen() {
    for (encoding, is_text) in encodings().filter(|(encoding, _)| encoding.detects_damage()) {
        let table = Typed::of_extremes(3, 3, is_text);
        let bytes = table.file(encoding, 1000, true);
        let everything: Vec<_> = (0..table.columns.len()).collect();
        let damaged = |bytes: &[u8], what: String| match read(encoding, from_disk(bytes), &table.schema, &everything) {
            Ok(_) => panic!("{}: {what} is not seen", encoding.name()),
            Err(Error::Corrupt { .. } | Error::Unsupported { .. }) => {}
            // Not even the first bytes are those of the encoding.
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
            let near = (-3000i128..3000).prop_map(move |value| Owned::Integer(value.clamp(min, max)));
            prop_oneof![(min..=max).prop_map(Owned::Integer), near].boxed()
        }
        PhysicalType::Floats => any::<f64>().prop_map(|float| Owned::Float(float.to_bits())).boxed(),
        PhysicalType::Bytes => "\\PC{0,20}".prop_map(|text| Owned::Bytes(text.into_bytes())).boxed(),
    };
    prop_oneof![3 => value.prop_map(Some), 1 => Just(None)].boxed()
}

fn any_table() -> impl Strategy<Value = Typed> {
    let column = |rows: usize| {
        prop::sample::select(all_types()).prop_flat_map(move |logical_type| {
            (Just(logical_type), prop::collection::vec(any_cell(logical_type), rows), any::<bool>())
        })
    };
    (0usize..60).prop_flat_map(move |rows| {
        prop::collection::vec(column(rows), 1..6).prop_map(move |made| {
            let (mut fields, mut columns) = (Vec::new(), Vec::new());
            for (index, (logical_type, cells, nullable)) in made.into_iter().enumerate() {
                let nullable = nullable || cells.contains(&None);
                fields.push(Field { name: format!("c{index}"), logical_type, nullable });
                columns.push(cells);
            }
            Typed { schema: Schema::new(fields).unwrap(), columns, rows }
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_table_comes_back(table in any_table(), step in 1usize..70, coded: bool) {
        for (encoding, is_text) in encodings() {
            // The text form of a NaN is the same for all of them, and v1 files have no bytes that JSON lacks.
            let has_nan = table.columns.iter().flatten().any(
                |cell| matches!(cell, Some(Owned::Float(bits)) if f64::from_bits(*bits).is_nan()));
            if !(is_text && has_nan) {
                check(encoding, &table, step, coded, "any table");
            }
        }
    }
}
