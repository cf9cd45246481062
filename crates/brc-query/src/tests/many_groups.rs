//! Millions of groups, or what is taken for them.

use super::memory::{MemoryTable, Record};
use super::{PLAIN, cells, table};
use crate::lanes::Lane;
use crate::memory::Memory;
use crate::partitions::Limits;
use crate::run::Answered;
use crate::{Expression, OrderBy, Plan, Query, QueryResult};
use brc_core::Progress;

/// The groups of what `y y` is, with others in between that are not packed like the first.
fn plan(table: &MemoryTable, query: Query) -> Plan {
    let query = Query {
        by: Some(vec![Expression::parse("\"y y\"").unwrap()]),
        aggregates: Some(Expression::parse_list("count(),sum(x),max(x),count(s)").unwrap()),
        ..query
    };
    query.plan(&table.schema).unwrap()
}

fn answer(plan: &Plan, table: &MemoryTable, threads: usize, limits: Limits) -> QueryResult {
    let answered = plan.run_limited(table, threads, &Memory::unlimited(), &Progress::default(), limits).unwrap();
    let groups = answered.totals().groups;
    let result = match answered {
        Answered::Held(answer) => *answer,
        Answered::Long(answer) => {
            let loaded = answer.load(threads).unwrap();
            let even = answer.in_even_splits(threads).unwrap().load(threads).unwrap();
            assert_eq!(cells(&loaded), cells(&even));
            loaded
        }
    };
    assert!(groups > 0 && groups <= result.totals().groups);
    result
}

fn check(rows: Vec<Record>) {
    let table = table(rows, PLAIN);
    let having = Some(Expression::parse("sum(x) > 3").unwrap());
    for query in [
        Query::default(),
        Query { having, ..Query::default() },
        Query { order_by: vec![OrderBy::column("sum(x)", true)], limit: Some(7), offset: 2, ..Query::default() },
    ] {
        let plan = plan(&table, query);
        let expected = cells(&answer(&plan, &table, 1, Limits::NONE));
        for threads in [1, 3] {
            let found = answer(&plan, &table, threads, Limits { hashed: 100, direct: 100, ..Limits::NONE });
            assert!(
                found.totals().lanes.rows().any(|(lane, _)| lane == Lane::Partitions),
                "{:?}",
                found.totals().lanes
            );
            assert_eq!(cells(&found), expected);
        }
    }
}

fn record(y: i64, number: i64) -> Record {
    Record { s: vec![b'a' + (number % 20) as u8], x: number % 10, y, ..Record::default() }
}

#[test]
fn partitions_that_are_too_large_are_cut_again() {
    // Ascending, but not quite: the first rows say nothing of the others.
    let row = |number: i64| record((number / 2 * 8) ^ (number % 2 * 7), number);
    check((0..150_000).map(row).collect());
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
