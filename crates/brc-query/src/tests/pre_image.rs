//! Keys that are computed of one column of few integers.

use super::cells;
use super::records::{PLAIN, Record, table};
use crate::partitions::Limits;
use crate::run::pre_image::PreImageGrouping;
use crate::runtime::memory::Memory;
use crate::{Expression, Query};
use brc_core::{Progress, Table};
use brc_testing::Delivery;

const AGGREGATES: &str = "count(),count(s),sum(x),min(x),max(x),avg(x),mean(x),min(s),max(t),var(x),stddev_pop(x),corr(x, \
                          \"y y\"),sum(x / 3),sum(\"y y\")";

fn rows() -> Vec<Record> {
    let row = |number: i64| Record {
        s: vec![b'a' + (number % 20) as u8],
        t: (number % 7).to_string().into(),
        x: number * 7919 % 1001,
        // Not all that are between are there.
        y: (number * 31 % 40) * (number % 3) - 50,
    };
    (0..10_000).map(row).collect()
}

#[test]
fn groups_are_the_same_as_those_of_rows() {
    for tests_rows in [false, true] {
        let table = table(rows(), Delivery { tests_rows, ..PLAIN });
        for by in [
            "\"y y\" % 7",
            "abs(\"y y\"),\"y y\" / 3",
            "case when \"y y\" > 3 then 'many' when \"y y\" > -3 then 'few' end",
            "bucket(\"y y\", 5),\"y y\" > 0",
            "case when \"y y\" <> 4 then \"y y\" end",
            // Too large for some, which the filter leaves out.
            "cast(\"y y\" + 100 as tinyint)",
        ] {
            for (aggregates, filter) in [
                (AGGREGATES, None),
                (AGGREGATES, Some("x > 100 and \"y y\" < 20")),
                ("count()", None),
                ("sum(x)", Some("\"y y\" > 99")),
            ] {
                let query = Query {
                    by: Some(Expression::parse_list(by).unwrap()),
                    aggregates: Some(Expression::parse_list(aggregates).unwrap()),
                    filter: filter.map(|text| Expression::parse(text).unwrap()),
                    ..Query::default()
                };
                let plan = query.plan(table.schema()).unwrap();
                assert!(PreImageGrouping::of(&plan, &table).is_some(), "{by}");
                let of_rows = plan.partial(&table, 2, &Progress::default());
                let expected = of_rows.map(|(partial, totals)| cells(&plan.answer([partial], 1, totals).unwrap()));
                let expected = expected.map_err(|error| error.to_string());
                let scarce = Memory { limit: 0, ..Memory::unlimited() };
                for (threads, memory) in [(1, Memory::unlimited()), (3, Memory::unlimited()), (2, scarce)] {
                    let answered = plan.run_limited(&table, threads, &memory, &Progress::default(), Limits::default());
                    let found = answered.map(|answered| cells(&answered));
                    assert_eq!(found.map_err(|error| error.to_string()), expected, "{by} {aggregates}");
                }
            }
        }
    }
}
