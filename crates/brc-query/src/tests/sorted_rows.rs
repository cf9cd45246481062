//! Sorted rows against plain code, however little memory there is.

use super::memory;
use super::records::{PLAIN, Record, delivery, table};
use crate::{Memory, Query, RowBlock};
use brc_core::{Progress, Table, Value};
use brc_testing::Delivery;
use proptest::prelude::*;
use std::cmp::Ordering;

/// A key to sort by, as it is written, and of which type of column.
#[derive(Debug, Clone, Copy)]
enum By {
    /// A string.
    S,
    /// Null where `y y` is 0, else x.
    Nullable,
    Y,
}

#[derive(Debug, Clone, Copy)]
struct Key {
    by: By,
    descending: bool,
    nulls_first: bool,
}

impl Key {
    fn any() -> impl Strategy<Value = Self> {
        let by = prop_oneof![Just(By::S), Just(By::Nullable), Just(By::Y)];
        (by, any::<bool>(), any::<bool>()).prop_map(|(by, descending, nulls_first)| Self {
            by,
            descending,
            nulls_first,
        })
    }

    fn write(self) -> String {
        let by = match self.by {
            By::S => "s",
            By::Nullable => "case when \"y y\" <> 0 then x end",
            By::Y => "\"y y\"",
        };
        let order = if self.descending { "desc" } else { "asc" };
        format!("{by} {order} nulls {}", if self.nulls_first { "first" } else { "last" })
    }

    fn compare(self, one: &Record, other: &Record) -> Ordering {
        let directed = |ordering: Ordering| if self.descending { ordering.reverse() } else { ordering };
        match self.by {
            By::S => directed(one.s.cmp(&other.s)),
            By::Y => directed(one.y.cmp(&other.y)),
            By::Nullable => match (one.y != 0, other.y != 0) {
                (true, true) => directed(one.x.cmp(&other.x)),
                (one, other) if self.nulls_first => one.cmp(&other),
                (one, other) => other.cmp(&one),
            },
        }
    }
}

#[derive(Debug, Clone)]
struct Question {
    keys: Vec<Key>,
    filter: bool,
    limit: Option<usize>,
    offset: usize,
}

impl Question {
    fn any() -> impl Strategy<Value = Self> {
        let limit = prop_oneof![Just(None), (0usize..50).prop_map(Some)];
        (prop::collection::vec(Key::any(), 0..3), any::<bool>(), limit, prop_oneof![0usize..4, 0usize..200])
            .prop_map(|(keys, filter, limit, offset)| Self { keys, filter, limit, offset })
    }

    fn query(&self) -> Query {
        let mut text = "select t, x + 1 as next, \"y y\"".to_owned();
        if self.filter {
            text += " where s <> 'b'";
        }
        if !self.keys.is_empty() {
            let keys: Vec<String> = self.keys.iter().map(|key| key.write()).collect();
            text += &format!(" order by {}", keys.join(", "));
        }
        text += &self.limit.map_or(String::new(), |limit| format!(" limit {limit}"));
        Query::parse(&format!("{text} offset {}", self.offset)).unwrap()
    }

    fn answer<'a>(&self, rows: &'a [Record]) -> Vec<&'a Record> {
        let mut rows: Vec<&Record> = rows.iter().filter(|row| !self.filter || row.s != b"b").collect();
        rows.sort_by(|one, other| {
            let orders = self.keys.iter().map(|key| key.compare(one, other));
            orders.fold(Ordering::Equal, Ordering::then)
        });
        rows.into_iter().skip(self.offset).take(self.limit.unwrap_or(usize::MAX)).collect()
    }

    fn check(&self, rows: &[Record], delivery: Delivery, threads: usize, memory: &Memory) {
        let table = table(rows.to_vec(), delivery);
        let plan = self.query().plan(table.schema()).unwrap();
        let answer = plan.run_within(&table, threads, memory, &Progress::default()).unwrap();
        let blocks: Vec<_> = answer.blocks().map(Result::unwrap).collect();
        let found: Vec<_> = blocks.iter().flat_map(RowBlock::rows).map(Iterator::collect::<Vec<_>>).collect();
        fn values(row: &Record) -> Vec<Option<Value<'_>>> {
            let next = Value::Integer(i128::from(row.x) + 10);
            vec![Some(Value::Bytes(&row.t)), Some(next), Some(Value::Integer(row.y.into()))]
        }
        assert_eq!(found, self.answer(rows).into_iter().map(values).collect::<Vec<_>>());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn rows_are_sorted_as_by_plain_code(
        rows in prop::collection::vec(Record::any(), 0..200),
        question in Question::any(),
        delivery in delivery(),
        threads in 1usize..5,
        memory in memory(),
    ) {
        let rows: Vec<Record> = rows.into_iter().map(|row| Record { x: row.x / 2, ..row }).collect();
        // Runs change the order of a table's rows.
        question.check(&rows, Delivery { in_runs: false, ..delivery }, threads, &memory);
    }
}

#[test]
fn the_first_of_many_rows_are_kept() {
    let row = |number: i64| Record {
        s: [b"a", b"b", b"c"][number as usize % 3].to_vec(),
        t: number.to_string().into_bytes(),
        x: number * 7919 % 10_007,
        y: number % 5,
    };
    let rows: Vec<Record> = (0..30_000).map(row).collect();
    let delivery = Delivery { split_rows: 4000, batch_rows: 500, tests_rows: true, ..PLAIN };
    let keys = [By::Nullable, By::S, By::Y].map(|by| Key { by, descending: true, nulls_first: false });
    for (keys, limit) in [(&keys[..1], 1), (&keys[..2], 10), (&keys[1..], 3000), (&keys[2..], 29_000)] {
        let question = Question { keys: keys.to_vec(), filter: true, limit: Some(limit), offset: 3 };
        question.check(&rows, delivery, 2, &Memory::unlimited());
    }
}

#[test]
fn expressions_are_computed_of_the_rows_of_the_answer() {
    // The larger y is, the later a row comes; what is computed of late rows is no number.
    let row = |number: i64| Record {
        s: if number % 1000 < 500 { b"7".to_vec() } else { b"x".to_vec() },
        y: number % 1000,
        ..Record::default()
    };
    let delivery = Delivery { split_rows: 700, batch_rows: 100, tests_rows: true, ..PLAIN };
    let table = table((0..20_000).map(row).collect(), delivery);
    let ask = |text: &str, threads: usize| {
        let plan = Query::parse(text).unwrap().plan(table.schema()).unwrap();
        let answer = plan.run(&table, threads, &Progress::default());
        answer.map(|answer| answer.rows().unwrap()).map_err(|error| error.to_string())
    };
    for threads in [1, 2, 5] {
        assert_eq!(ask("select cast(s as int) order by \"y y\" limit 3", threads), Ok(3));
        assert_eq!(ask("select 1 order by \"y y\" limit 3", threads), Ok(3));
        for text in [
            "select cast(s as int) order by \"y y\" desc limit 3",
            "select t order by \"y y\", cast(s as int) limit 3",
            "select cast(s as int) order by \"y y\"",
        ] {
            assert_eq!(
                ask(text, threads),
                Err("cannot cast 'x' to int64; try_cast gives null instead".to_owned()),
                "{text}"
            );
        }
    }
}
