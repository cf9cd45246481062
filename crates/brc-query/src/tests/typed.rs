//! Queries over tables of every type, with nulls, against plain code.

mod scattered;

use super::records::{PLAIN, delivery};
use super::typed_table::{COLUMNS, cell, field, schema, table};
use super::{cells, limits, memory};
use crate::AGGREGATES;
use crate::Expression;
use crate::Form;
use crate::OrderBy;
use crate::Partial;
use crate::Plan;
use crate::Query;
use crate::partitions::Limits;
use crate::runtime::memory::Memory;
use crate::values::ratio;
use brc_core::{LogicalType, PhysicalType, Progress, Value, float_order};
use brc_kernels::accumulate::floats::parts;
use brc_testing::{Cell, Delivery};
use num_bigint::{BigInt, BigUint};
use proptest::prelude::*;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// A value as it is grouped and sorted by: nulls are last, NaNs are one and above all numbers, zeros are one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Integer(i128),
    Bytes(Vec<u8>),
    Null,
}

fn key(cell: &Cell) -> Key {
    match cell {
        Cell::Null => Key::Null,
        Cell::Integer(value) => Key::Integer(*value),
        Cell::Float(bits) => Key::Integer(float_order(normal(*bits)).into()),
        Cell::Bytes(bytes) => Key::Bytes(bytes.clone()),
    }
}

fn normal(bits: u64) -> f64 {
    match f64::from_bits(bits) {
        0.0 => 0.0,
        value if value.is_nan() => f64::NAN.abs(),
        value => value,
    }
}

#[derive(Debug, Clone)]
enum Condition {
    Compare { column: usize, operator: &'static str, constant: Cell },
    IsNull { column: usize, negated: bool },
    Between { column: usize, low: Cell, high: Cell },
    In { column: usize, list: Vec<Cell>, negated: bool },
    And(Vec<Condition>),
    Or(Vec<Condition>),
    Not(Box<Condition>),
}

/// A constant as it is written.
fn literal(column: usize, constant: &Cell) -> String {
    let logical_type = field(column).logical_type;
    let quoted = |text: &str| format!("'{}'", text.replace('\'', "''"));
    let text = constant.to_text(logical_type);
    let is_finite = matches!(constant.value(), Some(Value::Float(value)) if value.is_finite());
    match logical_type {
        LogicalType::Date => format!("date {}", quoted(&text)),
        LogicalType::Time { .. } => format!("time {}", quoted(&text)),
        LogicalType::Timestamp { .. } => format!("timestamp {}", quoted(&text)),
        LogicalType::String | LogicalType::Binary | LogicalType::Uuid => quoted(&text),
        LogicalType::Float32 | LogicalType::Float64 if !is_finite => quoted(&text),
        _ => text,
    }
}

impl Condition {
    fn write(&self) -> String {
        let name = |column: usize| COLUMNS[column].0;
        let joined = |parts: &[Self], word: &str| {
            parts.iter().map(|part| format!("({})", part.write())).collect::<Vec<_>>().join(word)
        };
        match self {
            Self::Compare { column, operator, constant } => {
                format!("{} {operator} {}", name(*column), literal(*column, constant))
            }
            Self::IsNull { column, negated } => {
                format!("{} is {}null", name(*column), if *negated { "not " } else { "" })
            }
            Self::Between { column, low, high } => {
                format!("{} between {} and {}", name(*column), literal(*column, low), literal(*column, high))
            }
            Self::In { column, list, negated } => {
                let list: Vec<_> = list.iter().map(|constant| literal(*column, constant)).collect();
                format!("{} {}in ({})", name(*column), if *negated { "not " } else { "" }, list.join(", "))
            }
            Self::And(parts) => joined(parts, " and "),
            Self::Or(parts) => joined(parts, " or "),
            Self::Not(part) => format!("not ({})", part.write()),
        }
    }

    /// `None` is null.
    fn holds(&self, row: &[Cell]) -> Option<bool> {
        let order = |column: usize, constant: &Cell| match &row[column] {
            Cell::Null => None,
            cell => Some(key(cell).cmp(&key(constant))),
        };
        let all = |parts: &[Self]| {
            let found: Vec<_> = parts.iter().map(|part| part.holds(row)).collect();
            if found.contains(&Some(false)) {
                Some(false)
            } else {
                found.into_iter().collect::<Option<Vec<_>>>().map(|_| true)
            }
        };
        match self {
            Self::Compare { column, operator, constant } => order(*column, constant).map(|order| match *operator {
                "=" => order.is_eq(),
                "<>" => order.is_ne(),
                "<" => order.is_lt(),
                "<=" => order.is_le(),
                ">" => order.is_gt(),
                _ => order.is_ge(),
            }),
            Self::IsNull { column, negated } => Some((row[*column] == Cell::Null) != *negated),
            Self::Between { column, low, high } => Some(order(*column, low)?.is_ge() && order(*column, high)?.is_le()),
            Self::In { column, list, negated } => {
                let found = list.iter().map(|constant| order(*column, constant)).collect::<Option<Vec<_>>>()?;
                Some(found.contains(&Ordering::Equal) != *negated)
            }
            Self::And(parts) => all(parts),
            Self::Or(parts) => {
                let negated: Vec<_> = parts.iter().map(|part| Self::Not(Box::new(part.clone()))).collect();
                all(&negated).map(|none| !none)
            }
            Self::Not(part) => part.holds(row).map(|holds| !holds),
        }
    }
}

fn condition() -> impl Strategy<Value = Condition> {
    let constant = |column: usize| {
        let valid = |cell: &Cell| match cell {
            Cell::Null => false,
            Cell::Bytes(bytes) => std::str::from_utf8(bytes).is_ok(),
            Cell::Integer(_) | Cell::Float(_) => true,
        };
        cell(column).prop_filter("a value with a text form", valid)
    };
    let operator = || prop::sample::select(vec!["=", "<>", "<", "<=", ">", ">="]);
    let leaf = (0..COLUMNS.len()).prop_flat_map(move |column| {
        prop_oneof![
            4 => (operator(), constant(column))
                .prop_map(move |(operator, constant)| Condition::Compare { column, operator, constant }),
            2 => any::<bool>().prop_map(move |negated| Condition::IsNull { column, negated }),
            1 => (constant(column), constant(column))
                .prop_map(move |(low, high)| Condition::Between { column, low, high }),
            1 => (prop::collection::vec(constant(column), 1..4), any::<bool>())
                .prop_map(move |(list, negated)| Condition::In { column, list, negated }),
        ]
    });
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 2..4).prop_map(Condition::And),
            prop::collection::vec(inner.clone(), 2..4).prop_map(Condition::Or),
            inner.prop_map(|part| Condition::Not(Box::new(part))),
        ]
    })
}

#[derive(Debug, Clone)]
struct Question {
    by: Vec<usize>,
    /// Functions by their place in the list, and their columns.
    aggregates: Vec<(usize, Option<usize>)>,
    condition: Option<Condition>,
    order_by: Vec<(usize, bool)>,
    limit: Option<u64>,
}

const FRACTION: &str = "0.3";

impl Question {
    fn any() -> impl Strategy<Value = Self> {
        let columns: Vec<usize> = (0..COLUMNS.len()).collect();
        let by = prop::sample::subsequence(columns, 0..=3).prop_shuffle();
        let mut all = vec![];
        for (place, function) in AGGREGATES.iter().enumerate() {
            if function.form == Form::Rows {
                all.push((place, None));
            }
            let known =
                matches!(function.form, Form::Column | Form::Set | Form::Rows | Form::Distinct | Form::Fraction);
            let known = known && function.name != "approx_count_distinct";
            let fits = |&column: &usize| known && (function.bind)(&[&field(column)]).is_ok();
            all.extend((0..COLUMNS.len()).filter(fits).map(|column| (place, Some(column))));
        }
        let aggregates = prop::sample::subsequence(all, 0..5).prop_shuffle();
        let order_by = prop::collection::vec((any::<usize>(), any::<bool>()), 0..3);
        let limit = prop::option::weighted(0.3, 0u64..6);
        (by, aggregates, prop::option::of(condition()), order_by, limit)
            .prop_map(|(by, aggregates, condition, order_by, limit)| {
                let columns = by.len() + aggregates.len();
                let inside = |(column, descending): (usize, bool)| Some((column.checked_rem(columns)?, descending));
                let order_by = order_by.into_iter().filter_map(inside).collect();
                Self { by, aggregates, condition, order_by, limit }
            })
            .prop_filter("an answer has columns", |it| it.by.len() + it.aggregates.len() > 0)
    }

    fn aggregate(&self, index: usize) -> Expression {
        let (place, column) = self.aggregates[index];
        let function = AGGREGATES[place];
        let column = column.map_or("", |column| COLUMNS[column].0);
        let text = match function.form {
            Form::Distinct => format!("{}(distinct {column})", function.name),
            Form::Fraction => format!("{}({column}, {FRACTION})", function.name),
            _ => format!("{}({column})", function.name),
        };
        Expression::parse(&text).unwrap()
    }

    fn plan(&self) -> Plan {
        let aggregates: Vec<Expression> = (0..self.aggregates.len()).map(|index| self.aggregate(index)).collect();
        let by: Vec<String> = self.by.iter().map(|&column| COLUMNS[column].0.to_owned()).collect();
        let names: Vec<String> = by.iter().cloned().chain(aggregates.iter().map(ToString::to_string)).collect();
        let order = |&(column, descending): &(usize, bool)| OrderBy::column(&names[column], descending);
        let query = Query {
            by: Some(by.iter().map(|name| Expression::column(name)).collect()),
            aggregates: Some(aggregates),
            filter: self.condition.as_ref().map(|condition| Expression::parse(&condition.write()).unwrap()),
            order_by: self.order_by.iter().map(order).collect(),
            limit: self.limit,
            ..Query::default()
        };
        query.plan(&schema()).unwrap()
    }

    fn answer(&self, rows: &[Vec<Cell>]) -> Option<Vec<Vec<Cell>>> {
        let mut groups: BTreeMap<Vec<Key>, Vec<&Vec<Cell>>> = BTreeMap::new();
        if self.by.is_empty() {
            groups.insert(Vec::new(), Vec::new());
        }
        for row in rows.iter().filter(|row| self.condition.as_ref().is_none_or(|it| it.holds(row) == Some(true))) {
            groups.entry(self.by.iter().map(|&column| key(&row[column])).collect()).or_default().push(row);
        }
        // A value out of range is an error where it is sorted by or printed; nothing computes the others.
        let mut answer = Vec::new();
        for rows in groups.values() {
            let keys = self.by.iter().map(|&column| Some(normalised(&rows[0][column])));
            let values = self.aggregates.iter().map(|&(place, column)| computed(place, column, rows));
            let cells: Vec<Option<Cell>> = keys.chain(values).collect();
            if self.order_by.iter().any(|&(column, _)| cells[column].is_none()) {
                return None;
            }
            answer.push(cells);
        }
        answer.sort_by(|one, other| {
            let mut orders = self.order_by.iter().map(|&(column, descending)| {
                let [one, other] = [one, other].map(|cells: &Vec<Option<Cell>>| cells[column].as_ref().map(key));
                let [one_null, other_null] = [&one, &other].map(|key| *key == Some(Key::Null));
                let nulls = one_null.cmp(&other_null);
                nulls.then_with(|| if descending { other.cmp(&one) } else { one.cmp(&other) })
            });
            orders.find(|ordering| ordering.is_ne()).unwrap_or(Ordering::Equal)
        });
        answer.truncate(self.limit.map_or(usize::MAX, |limit| limit as usize));
        answer.into_iter().map(|cells| cells.into_iter().collect()).collect()
    }
}

fn normalised(cell: &Cell) -> Cell {
    match cell {
        Cell::Float(bits) => Cell::from(normal(*bits)),
        cell => cell.clone(),
    }
}

/// An exact number: an integer in units of 2^-1074 of a scale's units; `None` if it is none.
fn exact(cell: &Cell) -> Option<BigInt> {
    match cell.value()? {
        Value::Integer(value) => Some(BigInt::from(value) << 1074),
        Value::Float(value) if value.is_finite() => {
            let (mantissa, exponent) = parts(value);
            Some(BigInt::from(mantissa) << (exponent + 1074))
        }
        _ => None,
    }
}

/// The value of an aggregate; `None` if it is out of range.
fn computed(place: usize, column: Option<usize>, rows: &[&Vec<Cell>]) -> Option<Cell> {
    let function = AGGREGATES[place];
    let Some(column) = column else { return Some(Cell::Integer(rows.len() as i128)) };
    let values: Vec<&Cell> = rows.iter().map(|row| &row[column]).filter(|cell| **cell != Cell::Null).collect();
    let mut sorted: Vec<(Key, &Cell)> = values.iter().map(|cell| (key(cell), *cell)).collect();
    sorted.sort_by(|one, other| one.0.cmp(&other.0));
    let at = |index: usize| Some(normalised(sorted[index].1));
    let logical_type = field(column).logical_type;
    let is_float = logical_type.physical() == PhysicalType::Floats;
    let ten = BigUint::from(10u8).pow(logical_type.scale().into());
    let count = values.len();
    let exacts: Option<Vec<BigInt>> = values.iter().map(|cell| exact(cell)).collect();
    let sum: Option<BigInt> = exacts.as_ref().map(|exacts| exacts.iter().sum());
    // The sum of floats that are not all numbers.
    let floats = || {
        values.iter().filter_map(|cell| if let Cell::Float(bits) = cell { Some(f64::from_bits(*bits)) } else { None })
    };
    let infinite = floats().filter(|value| !value.is_finite());
    let special: f64 = infinite.map(|value| value.clamp(-1.0, 1.0) * f64::INFINITY).sum();
    let special = if floats().any(f64::is_nan) { f64::NAN } else { special };
    match (function.name, function.form) {
        ("count", Form::Distinct) => {
            sorted.dedup_by(|one, other| one.0 == other.0);
            Some(Cell::Integer(sorted.len() as i128))
        }
        ("count", _) => Some(Cell::Integer(count as i128)),
        _ if count == 0 => Some(Cell::Null),
        ("min", _) => at(0),
        ("max", _) => at(count - 1),
        ("mode", _) => {
            let times = |index: usize| sorted.iter().filter(|(key, _)| *key == sorted[index].0).count();
            at((0..count).max_by_key(|&index| (times(index), std::cmp::Reverse(index)))?)
        }
        ("quantile", _) => at((3 * count).div_ceil(10) - 1),
        ("quantile_cont", _) => Some(between(logical_type, &at, (count - 1) * 3)),
        ("median", _) if !logical_type.is_numeric() => Some(between(logical_type, &at, (count - 1) * 5)),
        ("bool_and", _) => at(0),
        ("bool_or", _) => at(count - 1),
        ("sum", _) if is_float => Some(Cell::from(match &sum {
            Some(sum) => ratio::nearest(sum, &1u8.into(), -1074),
            None => special,
        })),
        ("sum", _) => {
            let sum = i128::try_from(sum? >> 1074).ok()?;
            (sum.unsigned_abs() < 10u128.pow(38)).then_some(Cell::Integer(sum))
        }
        ("mean", _) if !is_float => {
            let (sum, count) = (sum? >> 1074, BigInt::from(count));
            let twice: BigInt = sum * 2 + &count;
            let two = count * 2;
            let mut floor: BigInt = &twice / &two;
            if &floor * &two > twice {
                floor -= 1;
            }
            Some(Cell::Integer(floor.try_into().unwrap()))
        }
        ("mean" | "avg", _) => Some(Cell::from(match &sum {
            Some(sum) => ratio::nearest(sum, &(ten * count), -1074),
            None => special,
        })),
        ("median", _) => {
            let (low, high) = (at((count - 1) / 2)?, at(count / 2)?);
            Some(Cell::from(match (exact(&low), exact(&high)) {
                (Some(low), Some(high)) => ratio::nearest(&(low + high), &(ten * 2u8), -1074),
                _ => match (low.value(), high.value()) {
                    (Some(Value::Float(low)), Some(Value::Float(high))) => low / 2.0 + high / 2.0,
                    _ => unreachable!("only floats are no numbers"),
                },
            }))
        }
        (name, _) => {
            let less = usize::from(name.ends_with("samp"));
            if count <= less {
                return Some(Cell::Null);
            }
            let Some((exacts, sum)) = exacts.zip(sum) else { return Some(Cell::from(f64::NAN)) };
            let squares: BigInt = exacts.iter().map(|value| value * value).sum();
            let numerator: BigInt = squares * count - &sum * &sum;
            let rounded = if name.starts_with("stddev") { ratio::root } else { ratio::nearest };
            Some(Cell::from(rounded(&numerator, &(&ten * &ten * count * (count - less)), -2148)))
        }
    }
}

/// What lies so many tenths of the way between sorted values after the first one.
fn between(logical_type: LogicalType, at: &dyn Fn(usize) -> Option<Cell>, tenths: usize) -> Cell {
    let (index, part) = (tenths / 10, (tenths % 10) as i128);
    let high = if part > 0 { at(index + 1) } else { at(index) };
    let unit = if logical_type == LogicalType::Date { 86_400 } else { 1 };
    match (at(index), high) {
        (Some(Cell::Integer(low)), Some(Cell::Integer(high))) if !logical_type.is_numeric() => {
            Cell::Integer(((low * (10 - part) + high * part) * unit + 5).div_euclid(10))
        }
        (Some(Cell::Integer(low)), Some(Cell::Integer(high))) => {
            let (low, high): (BigInt, BigInt) = (low.into(), high.into());
            let scale = BigUint::from(10u8).pow(logical_type.scale().into());
            Cell::from(ratio::nearest(&(low * (10 - part) + high * part), &(scale * 10u8), 0))
        }
        (Some(Cell::Float(low)), Some(Cell::Float(high))) => {
            let (low, high, part) = (f64::from_bits(low), f64::from_bits(high), part as f64 / 10.0);
            Cell::from(match () {
                () if part == 0.0 || low == high => low,
                () if (high - low).is_finite() => low + (high - low) * part,
                () => low * (1.0 - part) + high * part,
            })
        }
        (low, high) => unreachable!("{low:?} and {high:?} are numbers"),
    }
}

/// Whether they are the same; any NaN is as good as another.
fn same(found: &[Vec<Cell>], expected: &[Vec<Cell>]) -> bool {
    let same = |(one, other): (&Cell, &Cell)| match (one, other) {
        (Cell::Float(one), Cell::Float(other)) => {
            one == other || [one, other].iter().all(|&&bits| f64::from_bits(bits).is_nan())
        }
        (one, other) => one == other,
    };
    found.len() == expected.len()
        && found.iter().zip(expected).all(|(one, other)| one.len() == other.len() && one.iter().zip(other).all(same))
}

fn rows(most: usize) -> impl Strategy<Value = Vec<Vec<Cell>>> {
    let row: Vec<_> = (0..COLUMNS.len()).map(|column| cell(column).boxed()).collect();
    prop::collection::vec(row, 0..most)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn answers_are_those_of_plain_code(
        rows in rows(60),
        question in Question::any(),
        delivery in delivery(),
        threads in 1usize..8,
        limits in limits(),
        memory in memory(),
    ) {
        let expected = question.answer(&rows);
        let plan = question.plan();
        let table = table(&rows, delivery);
        let answer = plan.run_limited(&table, threads, &memory, &Progress::default(), limits);
        match (answer.and_then(|answer| answer.load(2)), expected) {
            (Ok(answer), Some(expected)) => {
                prop_assert!(same(&cells(&answer), &expected), "{:?}\n{:?}", cells(&answer), expected);
            }
            (Err(error), None) => prop_assert!(error.to_string().contains("is out of range for"), "{}", error),
            (found, expected) => prop_assert!(false, "{found:?} {expected:?}"),
        }
    }

    #[test]
    fn partials_travel_and_merge_in_any_order(
        rows in rows(40),
        question in Question::any(),
        delivery in delivery(),
        cuts in (0usize..40, 0usize..40),
    ) {
        let cuts = (cuts.0.min(rows.len()), cuts.1.min(rows.len()));
        let (first, second) = (cuts.0.min(cuts.1), cuts.0.max(cuts.1));
        let Some(expected) = question.answer(&rows) else { return Ok(()) };
        let plan = question.plan();
        let partial =
            |rows: &[Vec<Cell>]| plan.partial(&table(rows, delivery), 2, &Progress::default()).unwrap().0;
        let parts = [partial(&rows[..first]), partial(&rows[first..second]), partial(&rows[second..])];
        for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2]] {
            let mut inner: Partial = parts[order[1]].clone();
            inner.merge(parts[order[2]].clone()).unwrap();
            let answer = plan.answer([parts[order[0]].clone(), inner], 2, Default::default()).unwrap();
            prop_assert!(same(&cells(&answer), &expected), "{:?}\n{:?}", cells(&answer), expected);
        }
    }
}

fn column_of(name: &str) -> usize {
    COLUMNS.iter().position(|(column, _)| *column == name).unwrap()
}

/// A row with these values, and nothing much in other columns.
fn row(values: &[(usize, Cell)]) -> Vec<Cell> {
    let value = |column: usize| match values.iter().find(|(at, _)| *at == column) {
        Some((_, value)) => value.clone(),
        None if field(column).nullable => Cell::Null,
        None if field(column).logical_type == LogicalType::String => Cell::Bytes(b"a".to_vec()),
        None => Cell::Integer(1),
    };
    (0..COLUMNS.len()).map(value).collect()
}

#[test]
fn groups_that_are_cut_off_are_no_errors_while_memory_is_scarce() {
    let (key, wide) = (column_of("n"), column_of("w"));
    let lowest = field(wide).logical_type.bounds().unwrap().0;
    let rows = [(4, 0), (3, lowest), (3, -1), (2, 5), (1, lowest), (1, -1)];
    let rows = rows.map(|(n, w)| row(&[(key, Cell::Integer(n)), (wide, Cell::Integer(w))]));
    let table = table(&rows, Delivery { split_rows: 2, batch_rows: 2, ..PLAIN });
    let scarce = Memory { limit: 0, ..Memory::unlimited() };
    for (offset, limit, is_right) in [(0, 1, true), (0, 2, false), (1, 1, false), (2, 1, true), (2, 2, false)] {
        let query = Query {
            by: Some(Expression::parse_list("n").unwrap()),
            aggregates: Some(Expression::parse_list("sum(w)").unwrap()),
            order_by: vec![OrderBy::column("n", true)],
            limit: Some(limit),
            offset,
            ..Query::default()
        };
        let plan = query.plan(&schema()).unwrap();
        for memory in [Memory::unlimited(), scarce.clone()] {
            let limits = Limits { hashed: 0, direct: 0, partition: 1, ..Limits::NONE };
            let answer = plan.run_limited(&table, 2, &memory, &Progress::default(), limits);
            let answer = answer.and_then(|answer| answer.load(2));
            assert_eq!(answer.is_ok(), is_right, "{offset} {limit} {}: {answer:?}", memory.limit);
        }
    }
}

#[test]
fn variances_of_floats_are_exact() {
    let floats = [1.5, -2.25, 1e10, 0.1, 0.1, -1e-10];
    let column = column_of("f");
    let rows: Vec<Vec<Cell>> = floats.iter().map(|&value| row(&[(column, Cell::from(value))])).collect();
    let aggregates = (0..AGGREGATES.len())
        .filter(|&place| AGGREGATES[place].name.starts_with("var_") || AGGREGATES[place].name.starts_with("stddev_"));
    let aggregates = aggregates.map(|place| (place, Some(column))).collect();
    let question = Question { by: vec![], aggregates, condition: None, order_by: vec![], limit: None };
    let expected = question.answer(&rows).unwrap();
    let delivery = Delivery { split_rows: 2, batch_rows: 2, ..PLAIN };
    let answer = question.plan().run(&table(&rows, delivery), 2, &Progress::default()).unwrap();
    assert!(same(&cells(&answer), &expected), "{:?}\n{expected:?}", cells(&answer));
}
