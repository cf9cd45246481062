//! Functions that make long strings of short ones: they take no more memory than they may.

use super::records::{self, PLAIN, Record};
use crate::{Memory, Query, Row};
use brc_core::{Progress, Result, Value};
use brc_testing::{Delivery, MemoryTable, Typed};

/// Forty rows, of which t has this many bytes.
fn table(bytes: usize) -> MemoryTable<Typed> {
    let row = |place: i64| Record { s: format!("{place:02}").into_bytes(), t: vec![b'a'; bytes], x: place, y: place };
    records::table((0..40).map(row).collect(), Delivery { split_rows: 40, batch_rows: 40, ..PLAIN })
}

/// The rows of an answer, and the sum of its first column.
fn ask(text: &str, bytes: usize, memory: &Memory) -> Result<(usize, i128)> {
    let query = Query::parse(text).unwrap();
    let answer = query.ask_within(&table(bytes), 1, memory, &Progress::default())?.1.load(1)?;
    let number = |row: Row<'_>| if let Some(Value::Integer(value)) = row.value(0) { value } else { 0 };
    let numbers = super::each_row(&answer, number);
    Ok((numbers.len(), numbers.into_iter().sum()))
}

/// A string of this many bytes for each of t.
fn replaced(bytes: usize) -> String {
    format!("replace(t, 'a', '{}')", "b".repeat(bytes))
}

/// Nothing but small buffers.
fn scarce() -> Memory {
    Memory { limit: 1, ..Memory::unlimited() }
}

#[test]
fn a_string_that_is_too_long_is_not_even_begun() {
    for text in [
        // Each of these would take 10 GB or more.
        format!("select {} limit 1", replaced(10_000)),
        format!("select length({0} || {0}) limit 1", replaced(10_000)),
        format!("select upper({}) as u, count(*) group by u", replaced(10_000)),
        format!("select sum(x) where {} like '%c'", replaced(10_000)),
        format!("select replace(min(t), 'a', '{}')", "b".repeat(10_000)),
        "select max(rpad('b', 2000000000)) as longest".to_owned(),
        "select length(rpad('é', 1000000000, 'xy')) limit 1".to_owned(),
        "select count(*) where t < 'abc' || rpad('b', 2000000000)".to_owned(),
        "select max(t || upper(rpad('b', 2000000000))) group by s".to_owned(),
    ] {
        let message = ask(&text, 1_000_000, &scarce()).unwrap_err().to_string();
        let expected = "a computed string needs more than the memory limit of 1 bytes";
        assert_eq!(message, expected, "{}", &text[..40]);
    }
}

#[test]
fn a_batch_of_long_strings_is_computed_in_parts() {
    // 40 rows of a megabyte each.
    let long = replaced(100);
    for (text, expected) in [
        (format!("select length({long})"), (40, 40_000_000)),
        (format!("select length({long}) order by s"), (40, 40_000_000)),
        (format!("select length({long}) order by s limit 39"), (39, 39_000_000)),
        (format!("select count(*) where length({long}) = 1000000 and x < 3"), (1, 30)),
        (format!("select sum(length({long}))"), (1, 40_000_000)),
        ("select length(rpad('é', 1000000, 'é'))".to_owned(), (40, 40_000_000)),
        (format!("select length(replace(min(t), 'a', '{}')) group by s", "b".repeat(100)), (40, 40_000_000)),
    ] {
        assert_eq!(ask(&text, 10_000, &scarce()).unwrap(), expected, "{}", &text[..40]);
    }
}
