//! A table of every type in memory, which delivers each column in any form that an encoding may.

use super::tested::hand_over;
use brc_core::{
    Batch, BitmapBuffer, ByteStrings, Column, Conjunct, Data, Dictionary, Field, Integers, LogicalType, PhysicalType,
    Result, Run, ScanError, ScanOptions, Scanned, Scanner, Schema, Sink, Split, Table, float32,
};
use proptest::prelude::*;
use std::path::Path;

/// The columns' names and types.
pub(crate) const COLUMNS: [(&str, &str); 17] = [
    ("b", "bool"),
    ("i8", "int8"),
    ("n", "int16 not null"),
    ("i", "int64"),
    ("u", "uint64"),
    ("d", "decimal(10,2)"),
    ("w", "decimal(38,3)"),
    ("f", "float64"),
    ("g", "float32"),
    ("day", "date"),
    ("tod", "time(ms)"),
    ("at", "timestamp with zone"),
    ("ns", "timestamp(ns)"),
    ("s", "string"),
    ("k", "string not null"),
    ("bin", "binary"),
    ("id", "uuid"),
];

/// A value of a row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cell {
    Null,
    Integer(i128),
    Float(f64),
    Bytes(Vec<u8>),
}

pub(crate) fn schema() -> Schema {
    let columns: Vec<_> = COLUMNS.iter().map(|(name, logical_type)| format!("{name}:{logical_type}")).collect();
    Schema::parse(&columns.join(",")).unwrap()
}

pub(crate) fn field(column: usize) -> Field {
    schema().fields()[column].clone()
}

/// Any value of a column: few different ones mostly, and the extremes of its type.
pub(crate) fn cell(column: usize) -> impl Strategy<Value = Cell> {
    let field = field(column);
    let value = match (field.logical_type.physical(), field.logical_type.bounds()) {
        (PhysicalType::Integers, Some((min, max))) => prop_oneof![
            12 => (-3i128..4).prop_map(move |value| Cell::Integer(value.clamp(min, max))),
            3 => (-40000i128..40000).prop_map(move |value| Cell::Integer(value.clamp(min, max))),
            1 => prop::sample::select(vec![min, max]).prop_map(Cell::Integer),
        ]
        .boxed(),
        (PhysicalType::Integers | PhysicalType::Floats, _) => {
            let of_type = move |value: f64| match field.logical_type {
                LogicalType::Float32 => Cell::Float(float32::widen(float32::nearest(value))),
                _ => Cell::Float(value),
            };
            let extremes = [f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, -0.0, 5e-324, 1e300];
            prop_oneof![
                8 => prop::sample::select(vec![0.0, 0.1, -0.1, 1.5, 2.5, 1e10]),
                3 => -1e6f64..1e6,
                1 => prop::sample::select(extremes.to_vec()),
                1 => any::<f64>(),
            ]
            .prop_map(of_type)
            .boxed()
        }
        (PhysicalType::Bytes, _) => prop_oneof![
            8 => prop::sample::select(vec!["", "a", "b", "it's", "São", "a\0", "abcdefgh", "abcdefghi"])
                .prop_map(|text| Cell::Bytes(text.as_bytes().to_vec())),
            1 => prop::collection::vec(any::<u8>(), 0..4).prop_map(Cell::Bytes),
        ]
        .boxed(),
    };
    if field.nullable { prop_oneof![4 => value, 1 => Just(Cell::Null)].boxed() } else { value }
}

/// How rows are delivered.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Manner {
    pub(crate) rows_in_split: usize,
    pub(crate) rows_in_batch: usize,
    /// What decides in which form a column of a batch comes.
    pub(crate) seed: u64,
}

pub(crate) fn manner() -> impl Strategy<Value = Manner> {
    (1usize..40, 1usize..80, any::<u64>()).prop_map(|(rows_in_split, rows_in_batch, seed)| Manner {
        rows_in_split,
        rows_in_batch,
        seed,
    })
}

#[derive(Debug)]
pub(crate) struct TypedTable {
    schema: Schema,
    rows: Vec<Vec<Cell>>,
    manner: Manner,
}

impl TypedTable {
    pub(crate) fn new(rows: Vec<Vec<Cell>>, manner: Manner) -> Self {
        Self { schema: schema(), rows, manner }
    }

    /// Whether it reports the row counts of splits, and lets rows be tested before decoding.
    fn tells_more(&self) -> bool {
        self.manner.seed % 2 == 1
    }
}

impl Table for TypedTable {
    fn path(&self) -> &Path {
        Path::new("memory")
    }

    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn rows(&self) -> Option<u64> {
        Some(self.rows.len() as u64)
    }

    fn bytes(&self) -> Option<u64> {
        None
    }

    fn split(&self, index: u64) -> Option<Split> {
        let start = index as usize * self.manner.rows_in_split;
        let end = (start + self.manner.rows_in_split).min(self.rows.len());
        (start < end).then_some(Split { index, start: start as u64, end: end as u64 })
    }

    fn rows_of(&self, split: u64) -> Option<u64> {
        let split = self.split(split).filter(|_| self.tells_more())?;
        Some(split.end - split.start)
    }

    fn scanner(&self, options: &ScanOptions) -> Result<Box<dyn Scanner + '_>> {
        let dictionaries = vec![Dictionary::new(); COLUMNS.len()];
        let conjuncts = if self.tells_more() { options.conjuncts.clone() } else { Vec::new() };
        Ok(Box::new(TypedScanner { table: self, projection: options.projection.clone(), conjuncts, dictionaries }))
    }
}

struct TypedScanner<'a> {
    table: &'a TypedTable,
    projection: Vec<usize>,
    conjuncts: Vec<Conjunct>,
    dictionaries: Vec<Dictionary>,
}

impl Scanner for TypedScanner<'_> {
    fn scan(&mut self, split: &Split, sink: &mut dyn Sink) -> Result<Option<Scanned>, ScanError> {
        let rows = &self.table.rows[split.start as usize..split.end as usize];
        for (index, rows) in rows.chunks(self.table.manner.rows_in_batch).enumerate() {
            let form = |column: usize| {
                let mixed = self.table.manner.seed ^ (split.index * 31 + index as u64) << 8 ^ column as u64;
                (mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 60) as u8
            };
            let forms: Vec<u8> = self.projection.iter().map(|&column| form(column)).collect();
            let columns: Vec<Vec<&Cell>> =
                self.projection.iter().map(|&column| rows.iter().map(|row| &row[column]).collect()).collect();
            let owned: Vec<Owned> = columns
                .iter()
                .zip(&self.projection)
                .zip(&forms)
                .map(|((cells, &column), &form)| {
                    let logical_type = self.table.schema.fields()[column].logical_type;
                    Owned::new(cells, logical_type, form, &mut self.dictionaries[column])
                })
                .collect();
            let columns: Vec<Column<'_>> = owned
                .iter()
                .zip(&self.projection)
                .map(|(owned, &column)| owned.column(&self.dictionaries[column]))
                .collect();
            let batch = Batch { rows: rows.len(), columns: &columns };
            hand_over(&batch, &self.projection, &self.conjuncts, sink)?;
        }
        Ok(Some(Scanned { rows: rows.len() as u64, ..Scanned::default() }))
    }
}

struct Owned {
    data: OwnedData,
    validity: BitmapBuffer,
}

enum OwnedData {
    Codes(Vec<u32>),
    Runs(Vec<Run>),
    Bytes(Vec<i32>, Vec<u8>),
    I8(Vec<i8>),
    I16(Vec<i16>),
    I32(Vec<i32>),
    I64(Vec<i64>),
    I128(Vec<i128>),
    Floats(Vec<f64>),
}

impl Owned {
    fn new(cells: &[&Cell], logical_type: LogicalType, form: u8, dictionary: &mut Dictionary) -> Self {
        let mut validity = BitmapBuffer::default();
        Extend::extend(&mut validity, cells.iter().map(|cell| **cell != Cell::Null));
        let data = match logical_type.physical() {
            PhysicalType::Integers => integers(cells, form),
            PhysicalType::Floats => {
                let float = |cell: &&Cell| if let Cell::Float(value) = cell { *value } else { 7.5 };
                OwnedData::Floats(cells.iter().map(float).collect())
            }
            PhysicalType::Bytes => strings(cells, form, dictionary),
        };
        Self { data, validity }
    }

    fn column<'a>(&'a self, dictionary: &'a Dictionary) -> Column<'a> {
        let data = match &self.data {
            OwnedData::Codes(codes) => Data::Codes { codes, dictionary },
            OwnedData::Runs(runs) => Data::Runs { runs, dictionary },
            OwnedData::Bytes(offsets, bytes) => Data::Bytes(ByteStrings::new(offsets, bytes)),
            OwnedData::I8(values) => Data::Integers(Integers::I8(values)),
            OwnedData::I16(values) => Data::Integers(Integers::I16(values)),
            OwnedData::I32(values) => Data::Integers(Integers::I32(values)),
            OwnedData::I64(values) => Data::Integers(Integers::I64(values)),
            OwnedData::I128(values) => Data::Integers(Integers::I128(values)),
            OwnedData::Floats(values) => Data::Floats(values),
        };
        Column::from(data).with_validity(self.validity.bitmap())
    }
}

/// Integers in the narrowest width that holds them, or a wider one.
fn integers(cells: &[&Cell], form: u8) -> OwnedData {
    // Nulls have any value.
    let all: Vec<i128> = cells.iter().map(|cell| if let Cell::Integer(value) = cell { *value } else { 77 }).collect();
    fn narrowed<T: TryFrom<i128>>(all: &[i128]) -> Option<Vec<T>> {
        all.iter().map(|&value| T::try_from(value).ok()).collect()
    }
    let form = form % 5;
    None.or_else(|| narrowed(&all).map(OwnedData::I8).filter(|_| form < 1))
        .or_else(|| narrowed(&all).map(OwnedData::I16).filter(|_| form < 2))
        .or_else(|| narrowed(&all).map(OwnedData::I32).filter(|_| form < 3))
        .or_else(|| narrowed(&all).map(OwnedData::I64).filter(|_| form < 4))
        .unwrap_or(OwnedData::I128(all))
}

fn strings(cells: &[&Cell], form: u8, dictionary: &mut Dictionary) -> OwnedData {
    let text = |cell: &Cell| if let Cell::Bytes(bytes) = cell { bytes.clone() } else { Vec::new() };
    if form.is_multiple_of(3) {
        let (mut offsets, mut bytes) = (vec![0], Vec::new());
        for cell in cells {
            bytes.extend(text(cell));
            offsets.push(bytes.len() as i32);
        }
        return OwnedData::Bytes(offsets, bytes);
    }
    let mut code = |cell: &&Cell| {
        if **cell == Cell::Null {
            return 0;
        }
        let text = text(cell);
        let known = dictionary.iter().position(|known| known == text);
        known.map_or_else(|| dictionary.push(&text), |code| code as u32)
    };
    let codes: Vec<u32> = cells.iter().map(&mut code).collect();
    if form % 3 == 1 {
        return OwnedData::Codes(codes);
    }
    let runs = codes.chunk_by(|one, other| one == other);
    OwnedData::Runs(runs.map(|run| Run { code: run[0], rows: run.len() as u32 }).collect())
}
