//! Conditions against a slow oracle, and tables of files.

use super::truth::evaluate;
use super::*;
use crate::{CreateOptions, Input, OpenOptions, Output, OutputOptions, RejectLog, by_name, convert};
use brc_core::{Bitmap, ByteStrings, Column, Comparison, Data, Dictionary, Integers, Progress, Run, float_order};
use proptest::prelude::*;

#[test]
fn rows_are_taken_out_of_every_kind_of_column() {
    let dictionary: Dictionary = ["a", "b"].into_iter().collect();
    let runs = [Run { code: 1, rows: 2 }, Run { code: 0, rows: 2 }];
    let validity = Bitmap::new(&[0b1101], 0, 4);
    for (data, expected) in [
        (Data::Codes { codes: &[1, 0, 0, 1], dictionary: &dictionary }, ["b", "NULL", "b"]),
        (Data::Runs { runs: &runs, dictionary: &dictionary }, ["b", "NULL", "a"]),
        (Data::Bytes(ByteStrings::new(&[0, 1, 1, 1, 3], b"xyz")), ["x", "NULL", "yz"]),
        (Data::Integers(Integers::I8(&[1, 2, 3, 4])), ["1", "NULL", "4"]),
        (Data::Integers(Integers::I16(&[1, 2, 3, 4])), ["1", "NULL", "4"]),
        (Data::Integers(Integers::I32(&[1, 2, 3, 4])), ["1", "NULL", "4"]),
        (Data::Integers(Integers::I64(&[1, 2, 3, 4])), ["1", "NULL", "4"]),
        (Data::Integers(Integers::I128(&[1, 2, 3, 4])), ["1", "NULL", "4"]),
        (Data::Floats(&[0.5, 1.5, 2.5, 3.5]), ["0.5", "NULL", "3.5"]),
    ] {
        let column = Column::from(data).with_validity(Some(validity));
        let taken = Taken::of(&column, &[0, 1, 3]);
        let lent = taken.lend(&column);
        let text = |row| match brc_core::Value::of_row(&lent, row) {
            Some(value) => value.to_text(brc_core::LogicalType::Int64),
            None => "NULL".to_owned(),
        };
        assert_eq!([text(0), text(1), text(2)], expected);
    }
}

/// The truth of a condition on one row: `None` is null.
fn oracle(predicate: &Predicate, number: Option<i64>, string: Option<&str>) -> Option<bool> {
    let all = |parts: &[Predicate]| parts.iter().map(|part| oracle(part, number, string)).collect::<Vec<_>>();
    match predicate {
        Predicate::Constant(holds) => Some(*holds),
        Predicate::Range { low, high, .. } => number.map(|number| (*low..=*high).contains(&number.into())),
        Predicate::Compare { comparison, value, .. } => {
            string.map(|string| comparison.holds(string.as_bytes().cmp(value)))
        }
        Predicate::IsNull { column: 0 } => Some(number.is_none()),
        Predicate::IsNull { .. } => Some(string.is_none()),
        Predicate::And(parts) => match all(parts) {
            parts if parts.contains(&Some(false)) => Some(false),
            parts if parts.contains(&None) => None,
            _ => Some(true),
        },
        Predicate::Or(parts) => match all(parts) {
            parts if parts.contains(&Some(true)) => Some(true),
            parts if parts.contains(&None) => None,
            _ => Some(false),
        },
        Predicate::Not(part) => oracle(part, number, string).map(|holds| !holds),
    }
}

fn predicates() -> impl Strategy<Value = Predicate> {
    let comparisons = prop::sample::select(vec![Comparison::Equal, Comparison::Less, Comparison::GreaterOrEqual]);
    let leaf = prop_oneof![
        any::<bool>().prop_map(Predicate::Constant),
        (-3i128..3, -3i128..3).prop_map(|(low, high)| Predicate::Range { column: 0, low, high }),
        (comparisons, "[a-c]{0,1}").prop_map(|(comparison, value)| Predicate::Compare {
            column: 1,
            comparison,
            value: value.into_bytes()
        }),
        (0usize..2).prop_map(|column| Predicate::IsNull { column }),
    ];
    leaf.prop_recursive(3, 12, 3, |part| {
        prop_oneof![
            prop::collection::vec(part.clone(), 0..3).prop_map(Predicate::And),
            prop::collection::vec(part.clone(), 0..3).prop_map(Predicate::Or),
            part.prop_map(|part| Predicate::Not(Box::new(part))),
        ]
    })
}

proptest! {
    #[test]
    fn conditions_are_those_of_sql(
        predicate in predicates(),
        rows in prop::collection::vec((prop::option::of(-3i64..3), prop::option::of("[a-c]{0,1}")), 1..20),
    ) {
        let numbers: Vec<_> = rows.iter().map(|(number, _)| number.unwrap_or(0)).collect();
        let bits = |is_valid: &dyn Fn(usize) -> bool| {
            let mut bits = brc_core::BitmapBuffer::default();
            (0..rows.len()).for_each(|row| bits.push(is_valid(row)));
            bits
        };
        let [valid_numbers, valid_strings] = [bits(&|row| rows[row].0.is_some()), bits(&|row| rows[row].1.is_some())];
        let dictionary: Dictionary = ["", "a", "b", "c"].into_iter().collect();
        let code = |string: &Option<String>| match string {
            Some(string) => dictionary.iter().position(|known| known == string.as_bytes()).unwrap() as u32,
            None => 0,
        };
        let codes: Vec<_> = rows.iter().map(|(_, string)| code(string)).collect();
        let runs: Vec<_> = codes.iter().map(|&code| Run { code, rows: 1 }).collect();
        let numbers = Column::integers(Integers::I64(&numbers)).with_validity(valid_numbers.bitmap());
        for strings in [Column::codes(&codes, &dictionary), Column::runs(&runs, &dictionary)] {
            let columns = [numbers, strings.with_validity(valid_strings.bitmap())];
            let truths = evaluate(&predicate, &Batch { rows: rows.len(), columns: &columns });
            for ((number, string), truth) in rows.iter().zip(truths) {
                let expected = oracle(&predicate, *number, string.as_deref());
                prop_assert_eq!([Some(false), None, Some(true)][usize::from(truth)], expected);
            }
        }
    }
}

#[test]
fn floats_are_compared_in_their_order() {
    let values = [-1.5, 0.0, 2.5, f64::INFINITY];
    let low = float_order(0.0).into();
    let range = Predicate::Range { column: 0, low, high: float_order(f64::INFINITY).into() };
    let columns = [Column::from(Data::Floats(&values))];
    assert_eq!(evaluate(&range, &Batch { rows: 4, columns: &columns }), [0, 2, 2, 2]);
}

/// What `cat` of a text writes.
fn selected(text: &str, columns: Option<&[&str]>, predicate: Option<Predicate>) -> Result<String> {
    let directory = tempfile::tempdir().unwrap();
    let [from, to] = ["t.txt", "out.csv"].map(|name| directory.path().join(name));
    std::fs::write(&from, text).unwrap();
    let csv = by_name("csv").unwrap();
    let table = csv.open(Input::open(&from)?, &OpenOptions { row_group_bytes: Some(20), ..OpenOptions::default() })?;
    let columns: Option<Vec<_>> = columns.map(|columns| columns.iter().map(|&column| column.to_owned()).collect());
    let filter = predicate.map(|predicate| -> Box<Filter> { Box::new(move |_| Ok(predicate.clone())) });
    let table = Projected::new(table.as_ref(), columns.as_deref(), filter.as_deref())?;
    let create = CreateOptions::new(brc_compress::Compressor::none());
    let writer = csv.create(table.schema(), &create)?;
    let output = Output::create(&to, &OutputOptions::default())?;
    convert(&table, writer, output, RejectLog::none(), 2, &Progress::default())
        .map(|_| std::fs::read_to_string(&to).unwrap())
        .map_err(|error| match error {
            Error::BadRow { place, fault, .. } => Error::Usage(format!("{place}: {fault}")),
            error => error,
        })
}

#[test]
fn columns_and_rows_are_selected() {
    let text = "a;1.0\nb;2.0\nc;-3.5\na;4.0\nd;5.0\n";
    assert_eq!(selected(text, None, None).unwrap(), text);
    let positive = || Predicate::Range { column: 1, low: 15, high: i64::MAX.into() };
    assert_eq!(selected(text, None, Some(positive())).unwrap(), "b;2.0\na;4.0\nd;5.0\n");
    assert_eq!(selected(text, Some(&["station"]), Some(positive())).unwrap(), "station\nb\na\nd\n");
    assert_eq!(selected(text, Some(&["temperature", "station"]), None).unwrap().lines().nth(1), Some("1.0,a"));
    assert_eq!(selected(text, None, Some(Predicate::Constant(false))).unwrap(), "");
    let unknown = selected(text, Some(&["city"]), None).unwrap_err().to_string();
    assert_eq!(unknown, "unknown column 'city' (columns: station, temperature)");
    assert!(selected(text, Some(&["station", "station"]), None).is_err());
}

#[test]
fn bad_rows_keep_their_lines() {
    let text = "a;1.0\nb;2.0\nc;-3.5\na;4.0\nd;x\n";
    let predicate = Predicate::Compare { column: 0, comparison: Comparison::Equal, value: b"a".to_vec() };
    let error = selected(text, Some(&["temperature"]), Some(predicate)).unwrap_err().to_string();
    assert!(error.starts_with("line 5, byte 25, column 'temperature': "), "{error}");
}
