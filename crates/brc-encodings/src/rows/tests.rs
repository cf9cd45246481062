//! Assembled rows equal rows written value by value.

use super::*;
use brc_core::{Dictionary, Integers, Run};
use proptest::prelude::*;

/// Values in brackets, and the length of the row at its end. A string with an `x` cannot be encoded.
struct Brackets;

impl RowWriter for Brackets {
    fn around(&self, column: usize) -> (Vec<u8>, Vec<u8>) {
        (vec![b'<'; column % 2], vec![b'>'; 1 + 40 * (column % 3)])
    }

    fn value(&self, _: usize, value: Option<Value<'_>>, out: &mut RowBuffer) -> Result<(), UnsupportedReason> {
        match value {
            None => out.push(b"null"),
            Some(Value::Bytes(text)) if text.contains(&b'x') => return Err(UnsupportedReason::NotUtf8),
            Some(Value::Bytes(text)) => out.push(text),
            Some(Value::Integer(number)) => out.push(number.to_string().as_bytes()),
            Some(Value::Float(number)) => out.push(number.to_string().as_bytes()),
        }
        Ok(())
    }

    fn number(&self, _: usize, number: i64) -> Short {
        Short::new(number.to_string().as_bytes())
    }

    fn end_row(&self, row: &mut [u8], length: usize) -> usize {
        let end = format!("{length}\n");
        row[length..][..end.len()].copy_from_slice(end.as_bytes());
        length + end.len()
    }
}

#[derive(Debug, Clone)]
enum Given {
    Texts(Vec<u32>),
    I16(Vec<i16>),
    I32(Vec<i32>),
    I64(Vec<i64>),
}

/// Most strings are as long as names, some as long as the fixed copies, some longer.
fn strings() -> impl Strategy<Value = Vec<String>> {
    let length = prop_oneof![8 => 0usize..40, 2 => 20usize..140, 1 => 0usize..3000];
    prop::collection::vec(length.prop_map(|length| "abcdefg".chars().cycle().take(length).collect()), 1..12)
}

fn column(rows: usize, strings: u32) -> impl Strategy<Value = Given> {
    let near = prop_oneof![4 => -3000i64..3000, 1 => any::<i64>()];
    prop_oneof![
        2 => prop::collection::vec(0..strings, rows).prop_map(Given::Texts),
        2 => prop::collection::vec(any::<i16>(), rows).prop_map(Given::I16),
        1 => prop::collection::vec(-70_000i32..70_000, rows).prop_map(Given::I32),
        1 => prop::collection::vec(near, rows).prop_map(Given::I64),
    ]
}

fn schema(columns: &[Given]) -> Schema {
    let field = |(index, values): (usize, &Given)| match values {
        Given::Texts(_) => format!("c{index}:string"),
        _ => format!("c{index}:int"),
    };
    Schema::parse(&columns.iter().enumerate().map(field).collect::<Vec<_>>().join(",")).unwrap()
}

fn dictionary(strings: &[String]) -> Dictionary {
    let mut dictionary = Dictionary::new();
    for string in strings {
        dictionary.push(string.as_bytes());
    }
    dictionary
}

/// The columns of a batch; strings as runs of one row if requested.
fn columns_of<'a>(columns: &'a [Given], dictionary: &'a Dictionary, runs: &'a [Vec<Run>]) -> Vec<Column<'a>> {
    let column_of = |(index, values): (usize, &'a Given)| match values {
        Given::Texts(_) if !runs.is_empty() => Column::runs(&runs[index], dictionary),
        Given::Texts(codes) => Column::codes(codes, dictionary),
        Given::I16(values) => Column::integers(Integers::I16(values)),
        Given::I32(values) => Column::integers(Integers::I32(values)),
        Given::I64(values) => Column::integers(Integers::I64(values)),
    };
    columns.iter().enumerate().map(column_of).collect()
}

fn expected(columns: &[Given], strings: &[String], row: usize) -> String {
    let mut text = String::new();
    for (index, values) in columns.iter().enumerate() {
        let (before, after) = Brackets.around(index);
        text.extend(before.iter().map(|&byte| char::from(byte)));
        text.push_str(&match values {
            Given::Texts(codes) => strings[codes[row] as usize].clone(),
            Given::I16(values) => values[row].to_string(),
            Given::I32(values) => values[row].to_string(),
            Given::I64(values) => values[row].to_string(),
        });
        text.extend(after.iter().map(|&byte| char::from(byte)));
    }
    format!("{text}{}\n", text.len())
}

fn tables() -> impl Strategy<Value = (Vec<String>, usize, Vec<Given>)> {
    (strings(), 0usize..400).prop_flat_map(|(strings, rows)| {
        let columns = prop::collection::vec(column(rows, strings.len() as u32), 1..5);
        (Just(strings), Just(rows), columns)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn rows_are_their_values_in_sequence(
        (strings, rows, columns) in tables(),
        as_runs: bool,
        cut in any::<prop::sample::Index>(),
    ) {
        let dictionary = dictionary(&strings);
        let run = |values: &Given| match values {
            Given::Texts(codes) => codes.iter().map(|&code| Run { code, rows: 1 }).collect(),
            _ => Vec::new(),
        };
        let runs: Vec<Vec<Run>> = if as_runs { columns.iter().map(run).collect() } else { Vec::new() };
        let batch = columns_of(&columns, &dictionary, &runs);
        let batch = Batch { rows, columns: &batch };
        let mut encoder = RowEncoder::new("brackets", &schema(&columns), Brackets);
        let (mut out, mut ends) = (RowBuffer::default(), vec![0]);
        let cut = cut.index(rows + 1);
        for part in [0..cut, cut..rows] {
            encoder
                .push(&batch, part, 0, &mut out, |row| {
                    assert_eq!(Some(&row.start), ends.last());
                    ends.push(row.end);
                    true
                })
                .unwrap();
        }
        prop_assert_eq!(ends.len(), rows + 1);
        for (row, ends) in ends.windows(2).enumerate() {
            let text = std::str::from_utf8(&out.as_slice()[ends[0]..ends[1]]).unwrap();
            prop_assert_eq!(text, expected(&columns, &strings, row));
        }
        prop_assert_eq!(ends.last(), Some(&out.len()));
    }
}

#[test]
fn the_first_unsupported_row_is_reported() {
    let dictionary = dictionary(&["a".into(), "x".into(), "b".into(), "yx".into()]);
    let encoded = |first: &[u32], second: &[u32], row_done: fn(Range<usize>) -> bool| {
        let columns = [first, second].map(|codes| Column::codes(codes, &dictionary));
        let mut encoder = RowEncoder::new("brackets", &Schema::parse("k:string,l:string").unwrap(), Brackets);
        let batch = Batch { rows: first.len(), columns: &columns };
        encoder.push(&batch, 1..first.len(), 100, &mut RowBuffer::default(), row_done).map_err(|error| match error {
            Error::UnsupportedValue(unsupported_value) => {
                (unsupported_value.row, unsupported_value.value, unsupported_value.fault)
            }
            other => panic!("{other}"),
        })
    };
    let value = |column: &str, text: &str| Some((column.to_owned(), text.to_owned()));
    assert_eq!(encoded(&[0, 2, 0], &[2, 0, 0], |_| true), Ok(2));
    // Rows before the requested ones do not matter.
    assert_eq!(encoded(&[1, 2, 0], &[3, 0, 0], |_| true), Ok(2));
    assert_eq!(encoded(&[0, 2, 1], &[2, 0, 3], |_| true), Err((103, value("k", "x"), UnsupportedReason::NotUtf8)));
    assert_eq!(encoded(&[0, 2, 1], &[2, 3, 0], |_| true), Err((102, value("l", "yx"), UnsupportedReason::NotUtf8)));
    // The second row is enough, whatever comes after it.
    assert_eq!(encoded(&[0, 2, 0, 1], &[2, 0, 0, 0], |row| row.start == 0), Ok(2));
}
