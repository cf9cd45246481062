//! Comparisons of values of different types, each as what it is.

use super::records::{PLAIN, delivery};
use super::typed_table::{COLUMNS, cell, field, table};
use crate::Query;
use brc_core::{Comparison, LogicalType, Progress, Value};
use brc_testing::{Cell, Delivery};
use num_bigint::BigInt;
use proptest::prelude::*;

/// What is compared with each other.
const KINDS: [&[&str]; 2] = [&["i8", "n", "i", "u", "d", "w", "f"], &["day", "at", "ns"]];

const OPERATORS: [(&str, Comparison); 6] = [
    ("=", Comparison::Equal),
    ("<>", Comparison::NotEqual),
    ("<", Comparison::Less),
    ("<=", Comparison::LessOrEqual),
    (">", Comparison::Greater),
    (">=", Comparison::GreaterOrEqual),
];

fn column(name: &str) -> usize {
    COLUMNS.iter().position(|(known, _)| *known == name).unwrap()
}

/// A number or a point in time, in units of which each is a whole number; NaN is above all, infinities are at the ends.
fn exact(cell: &Cell, logical_type: LogicalType) -> Option<(i8, BigInt)> {
    /// Floats are of units of this power of two.
    const BITS: u32 = 1074;
    let units = |value: i128, per_unit: u64| Some((0, (BigInt::from(value) * per_unit) << BITS));
    let value = cell.value()?;
    match (value, logical_type) {
        (Value::Float(value), _) if value.is_nan() => Some((2, BigInt::ZERO)),
        (Value::Float(value), _) if value.is_infinite() => Some((value.signum() as i8, BigInt::ZERO)),
        (Value::Float(value), _) => {
            let digits = format!("{:.1074}", value.abs());
            let (whole, decimals) = digits.split_once('.').unwrap();
            let value_in_decimals: BigInt = format!("{whole}{decimals}").parse().unwrap();
            let exact: BigInt = ((value_in_decimals * 1000) << BITS) / BigInt::from(10).pow(1074);
            Some((0, if value < 0.0 { -exact } else { exact }))
        }
        (Value::Integer(value), LogicalType::Date) => units(value, 86_400_000_000_000),
        (Value::Integer(value), LogicalType::Timestamp { unit, .. }) => {
            units(value, 1_000_000_000 / unit.per_second() as u64)
        }
        (Value::Integer(value), number) => units(value, 10u64.pow(3 - u32::from(number.scale()))),
        (Value::Bytes(_), _) => unreachable!("strings are not compared here"),
    }
}

/// The numbers of the rows for which a condition holds.
fn found(rows: &[Vec<Cell>], delivery: Delivery, condition: &str) -> Vec<usize> {
    let numbered = rows.iter().enumerate().map(|(number, row)| {
        let mut row = row.clone();
        row[column("k")] = format!("{number:06}").into();
        row
    });
    let query = Query::parse(&format!("select k where {condition} order by k")).unwrap();
    let answer = query.ask(&table(&numbered.collect::<Vec<_>>(), delivery), 1, &Progress::default());
    let answer = answer.unwrap_or_else(|error| panic!("{condition}: {error}")).1;
    let number = |value: Option<Value<'_>>| value.unwrap().to_text(LogicalType::String).parse().unwrap();
    super::each_row(&answer, |row| number(row.value(0)))
}

fn row() -> impl Strategy<Value = Vec<Cell>> {
    (0..COLUMNS.len()).map(cell).collect::<Vec<_>>()
}

/// A value near which types differ, of a column that has such.
fn near(column: usize, cell: Cell, which: usize) -> Cell {
    let edges = [1i128 << 53, (1 << 53) + 1, (1 << 53) - 1, i64::MAX.into(), i64::MIN.into(), u64::MAX.into(), 0];
    let (edge, logical_type) = (edges[which % edges.len()], field(column).logical_type);
    match (logical_type, logical_type.bounds()) {
        (LogicalType::Float64, _) => Cell::from(edge as f64),
        (_, Some((min, max))) if logical_type.is_numeric() => {
            Cell::Integer((edge * 10i128.pow(logical_type.scale().into())).clamp(min, max))
        }
        _ => cell,
    }
}

proptest! {
    #[test]
    fn values_of_all_types_compare_exactly(
        rows in prop::collection::vec((row(), prop::collection::vec(any::<usize>(), COLUMNS.len())), 1..40),
        delivery in delivery(),
        kind in prop::sample::select(KINDS.to_vec()),
        (one, other) in (any::<prop::sample::Index>(), any::<prop::sample::Index>()),
        (symbol, comparison) in prop::sample::select(OPERATORS.to_vec()),
        computed: bool,
    ) {
        let (one, other) = (kind[one.index(kind.len())], kind[other.index(kind.len())]);
        let edged = |(row, which): (Vec<Cell>, Vec<usize>)| -> Vec<Cell> {
            let cells = row.into_iter().zip(which).enumerate();
            cells.map(|(at, (cell, which))| if which % 3 == 0 { near(at, cell, which / 3) } else { cell }).collect()
        };
        let rows: Vec<Vec<Cell>> = rows.into_iter().map(edged).collect();
        let value = |row: &[Cell], name| exact(&row[column(name)], field(column(name)).logical_type);
        let holds = |row: &[Cell]| {
            let (one, other) = (value(row, one)?, value(row, other)?);
            Some(comparison.holds(one.cmp(&other)))
        };
        let expected = (0..rows.len()).filter(|&number| holds(&rows[number]) == Some(true));
        let condition = match computed {
            true => format!("coalesce({one}) {symbol} case when k is not null then {other} end"),
            false => format!("{one} {symbol} {other}"),
        };
        prop_assert_eq!(found(&rows, delivery, &condition), expected.collect::<Vec<_>>(), "{}", condition);
    }
}

/// One row of which these columns have these values, others none.
fn one_row(values: &[(&str, Cell)]) -> Vec<Cell> {
    let mut row: Vec<Cell> = (0..COLUMNS.len()).map(|_| Cell::Null).collect();
    (row[column("n")], row[column("k")]) = (Cell::Integer(0), Cell::Bytes(Vec::new()));
    values.iter().for_each(|(name, value)| row[column(name)] = value.clone());
    row
}

#[test]
fn constants_compare_as_they_are_written() {
    let row = one_row(&[
        ("i", Cell::Integer((1 << 53) + 1)),
        ("u", Cell::Integer(1 << 63)),
        ("d", Cell::Integer(10)),
        ("f", Cell::from(9_007_199_254_740_992.0)),
        ("day", Cell::Integer(200_000)),
        ("at", Cell::Integer(0)),
        ("tod", Cell::Integer(1)),
        ("ns", Cell::Integer(0)),
    ]);
    for (condition, holds) in [
        ("f = 9007199254740993", false),
        ("f < 9007199254740993", true),
        ("f <> 9007199254740993", true),
        ("f >= 9007199254740993", false),
        ("f in (9007199254740991, 9007199254740993)", false),
        ("f between 9007199254740992 and 9007199254740993", true),
        ("i = 9007199254740992e0", false),
        ("i > 9007199254740992e0", true),
        ("i = f", false),
        ("case i when f then 'same' else 'other' end = 'other'", true),
        ("i in (f, 9007199254740993)", true),
        ("u = cast('9223372036854775808' as double)", true),
        ("u < cast('inf' as double)", true),
        ("u > cast('nan' as double)", false),
        ("d = 0.1", true),
        ("d = 1e-1", true),
        ("d = cast('0.1' as double)", true),
        ("f * 0 + 0.1e0 = 0.1", true),
        ("d + 0 = 0.1e0", true),
        ("0.1 = 1e-1", true),
        ("9007199254740993 = 9007199254740992e0", false),
        ("f < 1e400 and f > -1e400", true),
        ("ns < '2600-01-01' and ns > timestamp '1600-01-01 00:00:00.000000001'", true),
        ("ns + interval '0 days' < '2600-01-01 00:00:00.000000001'", true),
        ("day > ns and day > timestamp '2500-01-01 10:00:00.123456789'", true),
        ("at < '1970-01-01 00:00:00.000000001Z' and at > '1970-01-01 00:59:59+01:00'", true),
        ("tod > time '00:00:00.000999999' and coalesce(tod) < '00:00:00.001000001'", true),
    ] {
        let expected: &[usize] = if holds { &[0] } else { &[] };
        assert_eq!(found(std::slice::from_ref(&row), PLAIN, condition), expected, "{condition}");
    }
}
