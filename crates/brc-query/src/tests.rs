//! Whole queries against plain code.

mod comparisons;
pub(crate) mod conditions;
mod functions;
mod growth;
mod many_groups;
mod pre_image;
pub(crate) mod records;
mod select;
mod sorted_rows;
mod strings;
mod typed;
pub(crate) mod typed_table;
mod widening;

use crate::functions::typed::Typed;
use crate::partitions::Limits;
use crate::{Answer, Expression, Memory, OrderBy, Partial, Plan, Query, Row};
use brc_core::{LogicalType, Progress, Schema, Statistics, Table, decimal};
use brc_testing::{Cell, Delivery};
use conditions::{Condition, condition};
use proptest::prelude::*;
use records::{PLAIN, Record, delivery, table};
use std::collections::BTreeMap;

const COLUMNS: [&str; 4] = ["s", "t", "x", "y y"];

fn cell(row: &Record, column: &str) -> Cell {
    match column {
        "s" => Cell::Bytes(row.s.clone()),
        "t" => Cell::Bytes(row.t.clone()),
        "x" => row.x.into(),
        _ => row.y.into(),
    }
}

/// What `of` says of each row.
fn each_row<T>(answer: &Answer, of: impl Fn(Row<'_>) -> T) -> Vec<T> {
    answer.blocks().flat_map(|block| block.unwrap().rows().map(&of).collect::<Vec<_>>()).collect()
}

fn cells(answer: &Answer) -> Vec<Vec<Cell>> {
    each_row(answer, |row| row.map(Cell::from).collect())
}

#[derive(Debug, Clone)]
struct Question {
    by: Vec<&'static str>,
    aggregates: Vec<(&'static str, Option<&'static str>)>,
    condition: Option<Condition>,
    order_by: Vec<(usize, bool)>,
    limit: Option<u64>,
    statistics: bool,
}

fn aggregate(function: &str, column: Option<&str>) -> Expression {
    Expression::call(function, &column.into_iter().collect::<Vec<_>>())
}

impl Question {
    fn any() -> impl Strategy<Value = Self> {
        let by = prop::sample::subsequence(COLUMNS.to_vec(), 0..=4).prop_shuffle();
        let mut all = vec![("count", None)];
        for function in ["min", "mean", "max", "sum", "count"] {
            all.extend([(function, Some("x")), (function, Some("y y"))]);
        }
        all.extend([("count", Some("s")), ("count", Some("t"))]);
        let aggregates = prop::sample::subsequence(all, 0..4).prop_shuffle();
        let order_by = prop::collection::vec((any::<usize>(), any::<bool>()), 0..3);
        let limit = prop::option::weighted(0.3, 0u64..5);
        (by, aggregates, prop::option::of(condition()), order_by, limit, any::<bool>())
            .prop_map(|(by, aggregates, condition, order_by, limit, statistics)| {
                let columns = by.len() + aggregates.len();
                let inside = |(column, descending): (usize, bool)| Some((column.checked_rem(columns)?, descending));
                let order_by = order_by.into_iter().filter_map(inside).collect();
                Self { by, aggregates, condition, order_by, limit, statistics }
            })
            .prop_filter("an answer has columns", |it| it.by.len() + it.aggregates.len() > 0)
    }

    fn names(&self) -> Vec<String> {
        let aggregate = |(function, column): &(&'static str, Option<&str>)| aggregate(function, *column).to_string();
        self.by.iter().map(|key| (*key).to_owned()).chain(self.aggregates.iter().map(aggregate)).collect()
    }

    fn plan(&self, schema: &Schema) -> Plan {
        let aggregate = |&(function, column): &(&'static str, Option<&str>)| aggregate(function, column);
        let names = self.names();
        let order = |&(column, descending): &(usize, bool)| OrderBy::column(&names[column], descending);
        let query = Query {
            by: Some(self.by.iter().map(|key| Expression::column(key)).collect()),
            aggregates: Some(self.aggregates.iter().map(aggregate).collect()),
            filter: self.condition.as_ref().map(|condition| Expression::parse(&condition.write()).unwrap()),
            order_by: self.order_by.iter().map(order).collect(),
            limit: self.limit,
            statistics: self.statistics,
            timings: true,
            ..Query::default()
        };
        query.plan(schema).unwrap()
    }

    fn answer(&self, rows: &[Record]) -> Vec<Vec<Cell>> {
        let mut groups: BTreeMap<Vec<Cell>, Vec<&Record>> = BTreeMap::new();
        if self.by.is_empty() {
            groups.insert(Vec::new(), Vec::new());
        }
        for row in rows.iter().filter(|row| self.condition.as_ref().is_none_or(|condition| condition.holds(row))) {
            groups.entry(self.by.iter().map(|key| cell(row, key)).collect()).or_default().push(row);
        }
        let mut answer: Vec<Vec<Cell>> = groups
            .into_iter()
            .map(|(mut cells, rows)| {
                cells.extend(self.aggregates.iter().map(|(function, column)| computed(function, *column, &rows)));
                cells
            })
            .collect();
        answer.sort_by(|one, other| {
            let keys = (0..self.by.len()).map(|key| one[key].cmp(&other[key]));
            let orders = self.order_by.iter().map(|&(column, descending)| {
                let ordering = one[column].cmp(&other[column]);
                if descending { ordering.reverse() } else { ordering }
            });
            orders.chain(keys).find(|ordering| ordering.is_ne()).unwrap_or(std::cmp::Ordering::Equal)
        });
        answer.truncate(self.limit.map_or(usize::MAX, |limit| limit as usize));
        answer
    }
}

fn computed(function: &str, column: Option<&str>, rows: &[&Record]) -> Cell {
    let numbers: Vec<i128> =
        rows.iter().map(|row| if column == Some("x") { row.x.into() } else { row.y.into() }).collect();
    let sum: i128 = numbers.iter().sum();
    let value = match function {
        "count" => Some(rows.len() as i128),
        "min" => numbers.iter().min().copied(),
        "max" => numbers.iter().max().copied(),
        _ if rows.is_empty() => None,
        "sum" => Some(sum),
        _ => {
            let count = rows.len() as i128;
            Some((2 * sum + count).div_euclid(2 * count))
        }
    };
    value.map_or(Cell::Null, Cell::Integer)
}

/// Of how many groups on rows are partitioned to partitions, and of how many on partitions are split.
pub(crate) fn limits() -> impl Strategy<Value = Limits> {
    let many = prop_oneof![Just(0), 1usize..8, Just(usize::MAX)];
    let partition = prop_oneof![Just(1), 2usize..5, Just(usize::MAX)];
    let distinct = prop_oneof![0usize..8, Just(usize::MAX)];
    let of_splits = prop_oneof![Just(1), Just(u64::MAX)];
    let records = prop_oneof![Just(0), Just(usize::MAX)];
    (many, records, partition, distinct, 0usize..3, of_splits).prop_map(
        |(many, records, partition, distinct, distinct_of_group, of_splits)| Limits {
            hashed: many,
            direct: many,
            records,
            partition,
            distinct,
            distinct_of_group,
            of_splits,
        },
    )
}

/// All that there is, or none, so that everything goes to a file.
pub(crate) fn memory() -> impl Strategy<Value = Memory> {
    prop_oneof![Just(u64::MAX), Just(0)].prop_map(|limit| Memory { limit, ..Memory::unlimited() })
}

fn run(plan: &Plan, table: &dyn Table, threads: usize) -> Answer {
    plan.run(table, threads, &Progress::default()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn answers_are_those_of_plain_code(
        rows in prop::collection::vec(Record::any(), 0..200),
        question in Question::any(),
        delivery in delivery(),
        threads in 1usize..5,
        limits in limits(),
        memory in memory(),
    ) {
        let expected = question.answer(&rows);
        let row_count = rows.len();
        let table = table(rows, delivery);
        let plan = question.plan(table.schema());
        let answer = plan.run_limited(&table, threads, &memory, &Progress::default(), limits).unwrap();
        prop_assert_eq!(cells(&answer), expected);
        let names: Vec<_> = answer.schema().fields().iter().map(|column| column.name.clone()).collect();
        prop_assert_eq!(names, question.names());
        let totals = answer.totals();
        prop_assert_eq!(totals.rows + totals.summarised_rows + totals.skipped_rows, row_count as u64);
        prop_assert_eq!(totals.splits, row_count.div_ceil(delivery.split_rows) as u64);
    }

    #[test]
    fn merging_is_associative_and_commutative(
        rows in prop::collection::vec(Record::any(), 0..120),
        question in Question::any(),
        delivery in delivery(),
        cuts in (0usize..120, 0usize..120),
    ) {
        let cuts = (cuts.0.min(rows.len()), cuts.1.min(rows.len()));
        let (first, second) = (cuts.0.min(cuts.1), cuts.0.max(cuts.1));
        let expected = question.answer(&rows);
        let plan = question.plan(&Record::schema());
        let partial =
            |rows: &[Record]| plan.partial(&table(rows.to_vec(), delivery), 2, &Progress::default()).unwrap().0;
        let [a, b, c] = [partial(&rows[..first]), partial(&rows[first..second]), partial(&rows[second..])];
        let merged = |parts: &[&Partial]| {
            let mut all = parts[0].clone();
            for part in &parts[1..] {
                all.merge((*part).clone()).unwrap();
            }
            all
        };
        for order in [[&a, &b, &c], [&a, &c, &b], [&b, &a, &c], [&b, &c, &a], [&c, &a, &b], [&c, &b, &a]] {
            for partial in [merged(&order), merged(&[order[0], &merged(&order[1..])])] {
                let answer = plan.answer([partial], 1, Default::default()).unwrap();
                prop_assert_eq!(cells(&answer), expected.clone());
            }
        }
    }
}

#[test]
fn defaults_fit_the_table() {
    let plan = |schema: &str| Query::default().plan(&Schema::parse(schema).unwrap());
    let names = |schema: &str| -> Vec<String> {
        plan(schema).unwrap().columns().into_iter().map(|column| column.name).collect()
    };
    assert_eq!(names("s:string,x:int"), ["s", "min(x)", "mean(x)", "max(x)"]);
    assert_eq!(names("x:int,s:string,y:int").len(), 7);
    assert_eq!(names("x:int"), ["min(x)", "mean(x)", "max(x)"]);
    assert_eq!(names("s:string"), ["s", "count()"]);
    assert_eq!(
        plan("s:string,x:int,t:string").unwrap_err().to_string(),
        "no single column to group by; choose with --by: s, t; or '' for all rows as one group"
    );
    let one_brc = Query::default().plan(&Schema::one_brc()).unwrap();
    assert!(one_brc.is_one_brc());
    assert_eq!(one_brc.columns()[2].logical_type, LogicalType::decimal(1));
    assert!(!plan("x:int,s:string,y:int").unwrap().is_one_brc());
    assert!(!plan("x:int").unwrap().is_one_brc());
}

#[test]
fn the_official_shape_is_exactly_that() {
    let shape = |by: Option<&str>, aggregates: &str| {
        let query = Query {
            by: by.map(|key| vec![Expression::column(key)]),
            aggregates: Some(Expression::parse_list(aggregates).unwrap()),
            ..Query::default()
        };
        query.plan(&Schema::parse("s:string,x:decimal(1),y:int").unwrap()).unwrap().is_one_brc()
    };
    assert!(shape(Some("s"), "min(x),mean(x),max(x)"));
    assert!(!shape(Some("s"), "min(x),avg(x),max(x)"));
    assert!(!shape(Some("y"), "min(x),mean(x),max(x)"));
    assert!(!shape(None, "min(x),max(x),mean(x)"));
    assert!(!shape(None, "min(x),mean(x),max(y)"));
    assert!(!shape(None, "min(x),mean(x)"));
}

#[test]
fn impossible_questions_say_what_is_possible() {
    let error = |query: Query| query.plan(&Record::schema()).unwrap_err().to_string();
    let by = |names: &[&str]| Some(names.iter().map(|name| Expression::column(name)).collect());
    let aggregates = |text| Some(Expression::parse_list(text).unwrap());
    let question = || Query { by: by(&["s"]), aggregates: aggregates("count()"), ..Query::default() };
    let unknown = "unknown column 'S', did you mean 's'? (columns: s, t, x, y y)\n  S\n  ^";
    assert_eq!(error(Query { by: by(&["S"]), ..question() }), unknown);
    assert_eq!(error(Query { by: by(&["s", "s"]), ..question() }).lines().next(), Some("'s' is named twice as a key"));
    assert_eq!(
        error(Query { aggregates: aggregates("min(z)"), ..question() }),
        "unknown column 'z', did you mean 's'? (columns: s, t, x, y y)\n  min(z)\n      ^"
    );
    assert_eq!(
        error(Query { aggregates: aggregates("sum(t)"), ..question() }),
        "'sum' needs a column of numbers, found string\n  sum(t)\n      ^"
    );
    assert_eq!(
        error(Query { aggregates: aggregates("mean(x), mean(x)"), ..question() }),
        "two output columns are named 'mean(x)'; rename one with: as NAME"
    );
    assert!(
        error(Query { order_by: OrderBy::parse_list("z").unwrap(), ..question() }).starts_with("unknown column 'z'")
    );
    assert!(
        error(Query { order_by: OrderBy::parse_list("x").unwrap(), ..question() })
            .starts_with("column 'x' is neither in group by nor inside an aggregate")
    );
}

#[test]
fn nothing_is_one_row_without_keys_and_none_with_keys() {
    let query = |by: &[&str]| Query {
        by: Some(by.iter().map(|name| Expression::column(name)).collect()),
        aggregates: Some(Expression::parse_list("count(),min(x),mean(x),sum(x)").unwrap()),
        ..Query::default()
    };
    let empty = table(Vec::new(), PLAIN);
    let answer = run(&query(&[]).plan(empty.schema()).unwrap(), &empty, 2);
    assert_eq!(cells(&answer), [[Cell::Integer(0), Cell::Null, Cell::Null, Cell::Null]]);
    assert_eq!(run(&query(&["s"]).plan(empty.schema()).unwrap(), &empty, 2).rows(), Some(0));
    assert_eq!(run(&query(&["x", "s"]).plan(empty.schema()).unwrap(), &empty, 2).rows(), Some(0));
}

#[test]
fn statistics_answer_and_filters_skip() {
    let rows: Vec<Record> =
        (0..100).map(|x| Record { s: vec![b'a' + (x / 50) as u8], x, ..Record::default() }).collect();
    let table = table(rows, Delivery { in_runs: true, ..PLAIN });
    let totals = |filter: Option<&str>, statistics| {
        let filter = filter.map(|text| Expression::parse(text).unwrap());
        let query = Query { by: Some(vec![Expression::column("s")]), filter, statistics, ..Query::default() };
        let totals = run(&query.plan(table.schema()).unwrap(), &table, 1).totals();
        (totals.rows, totals.summarised_rows, totals.skipped_rows)
    };
    assert_eq!(totals(None, true), (0, 100, 0));
    assert_eq!(totals(None, false), (100, 0, 0));
    assert_eq!(totals(Some("s = 'a'"), true), (0, 50, 50));
    assert_eq!(totals(Some("x >= 5"), true), (0, 50, 50));
    assert_eq!(totals(Some("x > 7"), true), (50, 0, 50));
}

#[test]
fn a_plan_is_checked_against_its_table() {
    let table = table(vec![Record::default()], PLAIN);
    let plan = Query::default().plan(&Schema::one_brc()).unwrap();
    let error = plan.run(&table, 1, &Progress::default()).unwrap_err().to_string();
    assert!(
        error.contains("but the plan is for station:string not null,temperature:decimal(18,1) not null"),
        "{error}"
    );
    for spoil in [
        (|plan: &mut Plan| plan.keys = vec![7]) as fn(&mut Plan),
        |plan| plan.outputs[0].columns = vec![9],
        |plan| plan.outputs[1].columns = vec![0],
        |plan| plan.outputs[0].columns.clear(),
        |plan| plan.predicate = Some(brc_core::Predicate::Range { column: 0, low: 0, high: 1 }),
        |plan| plan.columns[0].value = Typed::column(4, LogicalType::Int64, false),
    ] {
        let mut plan = plan.clone();
        spoil(&mut plan);
        let error = plan.answer([], 1, Default::default()).unwrap_err().to_string();
        assert_eq!(error, "the plan names columns that its schema does not have");
    }
}

#[test]
fn partials_of_different_plans_are_not_merged() {
    let plan = |by: &str| {
        Query { by: Some(vec![Expression::column(by)]), ..Query::default() }.plan(&Record::schema()).unwrap()
    };
    let mut partial = plan("s").no_groups();
    assert!(partial.merge(plan("x").no_groups()).is_err());
}

#[test]
fn plans_and_partials_are_plain_data() {
    fn is_plain<T: serde::Serialize + serde::de::DeserializeOwned>() {}
    is_plain::<Plan>();
    is_plain::<Partial>();
}

#[test]
fn sums_and_means_are_exact_at_the_ends() {
    let rows = vec![Record { x: i64::MAX, ..Record::default() }; 3];
    let query = Query {
        by: Some(vec![]),
        aggregates: Some(Expression::parse_list("sum(x),mean(x)").unwrap()),
        ..Query::default()
    };
    let table = table(rows.clone(), PLAIN);
    let expected: Statistics = rows.iter().map(|row| row.x).collect();
    assert_eq!(
        cells(&run(&query.plan(table.schema()).unwrap(), &table, 1)),
        [[Cell::Integer(expected.sum), Cell::Integer(decimal::mean(expected.sum, 3))]]
    );
}

#[test]
fn the_group_of_all_rows_may_be_cut_off_while_memory_is_scarce() {
    let table = table(vec![Record::default(); 3], PLAIN);
    let query = Query {
        by: Some(Vec::new()),
        aggregates: Some(Expression::parse_list("count(),sum(x),avg(x)").unwrap()),
        order_by: vec![OrderBy::column("sum(x)", true)],
        limit: Some(0),
        ..Query::default()
    };
    let plan = query.plan(table.schema()).unwrap();
    let scarce = Memory { limit: 0, ..Memory::unlimited() };
    let answer = plan.run_within(&table, 2, &scarce, &Progress::default()).unwrap();
    assert_eq!(answer.rows(), Some(0));
}

#[test]
fn rows_of_one_key_that_follow_each_other_are_added_up_before_they_are_dealt_out() {
    let row =
        |number: i64| Record { s: vec![b'a' + (number % 3) as u8], x: number / 5, y: number, ..Record::default() };
    let mut rows: Vec<Record> = (0..2000).map(row).collect();
    // Sums of these do not fit the records.
    rows.extend([i64::MAX, i64::MAX, i64::MIN].map(|y| Record { x: 1000, y, ..Record::default() }));
    let table = table(rows, PLAIN);
    for filter in [None, Some("s <> 'b'")] {
        let query = Query {
            by: Some(vec![Expression::column("x")]),
            aggregates: Some(Expression::parse_list("count(),sum(\"y y\"),avg(\"y y\"),count(t)").unwrap()),
            filter: filter.map(|text| Expression::parse(text).unwrap()),
            ..Query::default()
        };
        let plan = query.plan(table.schema()).unwrap();
        let few = Limits { hashed: 10, direct: 10, ..Limits::NONE };
        let answer = |limits| plan.run_limited(&table, 2, &Memory::unlimited(), &Progress::default(), limits).unwrap();
        let partitioned = answer(few);
        assert!(
            partitioned
                .totals()
                .access_paths
                .rows()
                .any(|(access_path, _)| access_path == crate::keys::access_path::AccessPath::Partitions)
        );
        assert_eq!(cells(&partitioned), cells(&answer(Limits::NONE)));
    }
}

#[test]
fn rows_that_show_all_keys_are_distinct_already() {
    let is_distinct = |text: &str| Query::parse(text).unwrap().plan(&Record::schema()).unwrap().distinct;
    assert!(!is_distinct("select distinct s, x from t"));
    assert!(!is_distinct("select distinct x + 1, upper(s) from t"));
    assert!(!is_distinct("select distinct x, sum(x) from t group by 1"));
    assert!(is_distinct("select distinct sum(x) from t group by s"));
    assert!(is_distinct("select distinct s from t group by s, x"));
}
