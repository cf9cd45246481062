//! Tables of every type in memory.

use brc_core::{Field, LogicalType, PhysicalType, Schema, float32};
use brc_testing::{Cell, Delivery, MemoryTable, Typed};
use proptest::prelude::*;

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
                LogicalType::Float32 => Cell::from(float32::widen(float32::nearest(value))),
                _ => Cell::from(value),
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
                .prop_map(Cell::from),
            1 => prop::collection::vec(any::<u8>(), 0..4).prop_map(Cell::Bytes),
        ]
        .boxed(),
    };
    if field.nullable { prop_oneof![4 => value, 1 => Just(Cell::Null)].boxed() } else { value }
}

pub(crate) fn table(rows: &[Vec<Cell>], delivery: Delivery) -> MemoryTable<Typed> {
    MemoryTable::new(Typed::of_rows(schema(), rows), delivery)
}
