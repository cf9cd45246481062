//! Millions of groups, or what is taken for them.

use super::cells;
use super::records::{PLAIN, Record, table};
use crate::keys::access_path::AccessPath;
use crate::partitions::Limits;
use crate::runtime::memory::Memory;
use crate::{Answer, Expression, OrderBy, Plan, Query};
use brc_core::{Progress, Table};
use brc_testing::{Cell, Delivery};

/// The groups of what `y y` is, with others in between that are not encoded like the first.
fn plan(table: &dyn Table, aggregates: &str, query: Query) -> Plan {
    let query = Query {
        by: Some(vec![Expression::parse("\"y y\"").unwrap()]),
        aggregates: Some(Expression::parse_list(aggregates).unwrap()),
        ..query
    };
    query.plan(table.schema()).unwrap()
}

fn answer(plan: &Plan, table: &dyn Table, threads: usize, limits: Limits) -> Answer {
    let answer = plan.run_limited(table, threads, &Memory::unlimited(), &Progress::default(), limits).unwrap();
    let (groups, read) = (answer.totals().groups, cells(&answer));
    assert_eq!(answer.count_rows(threads).unwrap(), read.len() as u64);
    let even = answer.in_even_splits(threads).unwrap();
    assert_eq!(read, cells(&even));
    let loaded = even.load(threads).unwrap();
    assert_eq!(read, cells(&loaded));
    assert!(groups > 0 && groups <= loaded.totals().groups);
    loaded
}

fn check(rows: Vec<Record>) {
    let table = table(rows, PLAIN);
    let having = Some(Expression::parse("sum(x) > 3").unwrap());
    let queries = [
        Query::default(),
        Query { having, ..Query::default() },
        Query { order_by: vec![OrderBy::column("sum(x)", true)], limit: Some(7), offset: 2, ..Query::default() },
    ];
    // Of the first, records are words that have keys and values.
    let aggregates = ["count(),sum(x),max(x)", "count(),sum(x),max(x),count(s)"];
    for (aggregates, query) in aggregates.into_iter().flat_map(|it| queries.iter().map(move |query| (it, query))) {
        let plan = plan(&table, aggregates, query.clone());
        let expected = cells(&answer(&plan, &table, 1, Limits::NONE));
        for (threads, records) in [(1, usize::MAX), (3, usize::MAX), (1, 0), (3, 0), (1, 1 << 20)] {
            let found = answer(&plan, &table, threads, Limits { hashed: 100, direct: 100, records, ..Limits::NONE });
            assert!(
                found.totals().access_paths.rows().any(|(access_path, _)| access_path == AccessPath::Partitions),
                "{:?}",
                found.totals().access_paths
            );
            assert_eq!(cells(&found), expected);
        }
    }
}

fn record(y: i64, number: i64) -> Record {
    Record { s: vec![b'a' + (number % 20) as u8], x: number % 10, y, ..Record::default() }
}

#[test]
fn sums_that_fill_their_slots_are_right_for_any_threads() {
    // A batch alone takes a twelfth of the room that the sum of a group has.
    let row = |number: i64| Record { x: (1 << 52) + number, ..record(number * 7 % 1000, number) };
    let rows: Vec<Record> = (0..30_000).map(row).collect();
    let sum = |group: i64| -> i64 { rows.iter().filter(|row| row.y == group).map(|row| row.x).sum() };
    let expected: Vec<Vec<Cell>> =
        (0..1000).map(|group| [group, 30, sum(group), 30 * group].map(Cell::from).to_vec()).collect();
    for tests_rows in [false, true] {
        let table = table(rows.clone(), Delivery { tests_rows, ..PLAIN });
        let plan = plan(&table, "count(),sum(x),sum(\"y y\")", Query::default());
        for threads in [1, 2, 5] {
            assert_eq!(cells(&answer(&plan, &table, threads, Limits::NONE)), expected);
        }
    }
}

#[test]
fn partitions_that_are_too_large_are_cut_again() {
    // Ascending, but not quite: the first rows say nothing of the others.
    let row = |number: i64| record((number / 2 * 8) ^ (number % 2 * 7), number);
    check((0..150_000).map(row).collect());
}

#[test]
fn partitions_with_groups_are_cut_again() {
    // Keys that repeat, so that records are grouped early; then others, which do not, and of which many are left in one
    // partition.
    let key = |number: i64| if number < 10_000 { number * 7919 % 151 } else { number ^ 7 };
    check((0..400_000).map(|number| record(key(number), number)).collect());
}

#[test]
fn partitions_of_one_key_are_left_as_they_are() {
    let row = |number: i64| record(if number % 50 == 49 { -number } else { 5 }, number);
    check((0..60_000).map(row).collect());
}

#[test]
fn keys_that_cannot_be_packed_stand_where_they_belong() {
    let far = |number: i64| if number % 2 == 0 { i64::MIN + number } else { i64::MAX - number };
    let row = |number: i64| record(if number % 40 == 39 { far(number) } else { number * 7919 % 10_007 }, number);
    check((0..20_000).map(row).collect());
}

#[test]
fn keys_that_ascend_are_dealt_out() {
    let row = |number: i64| record(number / 3 * 1_000_000 - 5_000_000_000, number);
    check((0..500_000).map(row).collect());
}

/// The answers to questions by several keys, where splits that have keys of their own are or are not partitions.
fn check_splits(rows: Vec<Record>, split_rows: usize, is_taken: bool) {
    let table = table(rows, Delivery { split_rows, batch_rows: split_rows.min(1000), ..PLAIN });
    let limits = Limits { hashed: 100, direct: 100, of_splits: 1, ..Limits::NONE };
    let by = ["\"y y\"", "\"y y\", x", "x, \"y y\""].map(|text| Some(Expression::parse_list(text).unwrap()));
    let having = Some(Expression::parse("count() > 2").unwrap());
    let sorted = vec![OrderBy::column("sum(x)", true)];
    for (by, filter) in by.into_iter().flat_map(|by| [(by.clone(), None), (by, Some("x > 0.2 or \"y y\" % 5 = 1"))]) {
        let filter = filter.map(|text| Expression::parse(text).unwrap());
        let aggregates = Some(Expression::parse_list("count(),sum(x),min(x),min(s),avg(x*x)").unwrap());
        let all = Query { by, aggregates, filter, ..Query::default() };
        for query in [
            all.clone(),
            Query { having: having.clone(), ..all.clone() },
            Query { order_by: sorted.clone(), limit: Some(7), offset: 2, ..all.clone() },
            Query { order_by: sorted.clone(), ..all.clone() },
            Query { limit: Some(5), ..all.clone() },
        ] {
            let plan = query.clone().plan(table.schema()).unwrap();
            let expected = cells(&answer(&plan, &table, 1, Limits::NONE));
            for threads in [1, 3] {
                let found = answer(&plan, &table, threads, limits);
                assert_eq!(
                    found.totals().access_paths.rows().any(|(access_path, _)| access_path == AccessPath::Splits),
                    is_taken
                );
                assert!(cells(&found) == expected, "{query:?}");
            }
        }
    }
}

#[test]
fn sorted_splits_are_partitions() {
    check_splits((0..20_000).map(|number| record(number / 3 * 1_000 - 5_000_000, number)).collect(), 2_500, true);
    // The keys at the ends of a split go on in the next.
    check_splits((0..20_000).map(|number| record(number / 700, number)).collect(), 2_500, true);
    // Some splits have none of their own.
    check_splits((0..20_000).map(|number| record((number - 9_999).max(0), number)).collect(), 500, true);
}

#[test]
fn splits_that_are_clustered_are_partitions() {
    // In no order inside a split, which reaches into the next one.
    let clustered = |number: i64| number / 2_500 * 10_000 + number * 7919 % 12_000;
    check_splits((0..20_000).map(|number| record(clustered(number), number)).collect(), 2_500, true);
    let descending = |number: i64| -number / 4;
    check_splits((0..20_000).map(|number| record(descending(number), number)).collect(), 2_500, true);
}

#[test]
fn splits_of_the_same_keys_are_none() {
    check_splits((0..20_000).map(|number| record(number * 7919 % 10_007, number)).collect(), 2_500, false);
}
