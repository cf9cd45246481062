//! Tests that `sum`, `min`, `max` and `avg` are right where DataFusion computes them: after joins, in windows and so on.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

mod common;

use brc_datafusion::{CLUSTER_OPTION, session};
use common::{open, set};
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::functions_aggregate::expr_fn::sum;
use datafusion::prelude::{SessionContext, col};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

/// A session with a table of several files.
struct Tables {
    runtime: tokio::runtime::Runtime,
    directory: TempDir,
    context: SessionContext,
}

impl Tables {
    fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        Self { runtime, directory: tempfile::tempdir().unwrap(), context: session(2) }
    }

    /// Registers a table with a file for each text.
    fn add(&self, name: &str, texts: &[String]) {
        let files = self.directory.path().join(name);
        fs::create_dir(&files).unwrap();
        for (number, text) in texts.iter().enumerate() {
            fs::write(files.join(format!("{number}.csv")), text).unwrap();
        }
        self.register(name, &files);
    }

    fn register(&self, name: &str, files: &Path) {
        self.context.register_table(name, Arc::new(open(files, 2))).unwrap();
    }

    fn answer(&self, question: &str) -> Result<Vec<Vec<String>>, String> {
        let batches = async { self.context.sql(question).await?.collect().await };
        let batches = self.runtime.block_on(batches).map_err(|error| error.to_string())?;
        let text = pretty_format_batches(&batches).unwrap().to_string();
        let fields = |line: &str| line.trim_matches('|').split('|').map(|field| field.trim().to_owned()).collect();
        // The names of the columns come first.
        Ok(text.lines().filter(|line| line.starts_with('|')).skip(1).map(fields).collect())
    }
}

fn tables_of_large_numbers() -> Tables {
    let tables = Tables::new();
    let large = i64::MAX;
    tables.add("i", &[format!("k,x\na,{large}\nb,5\n"), "k,x\na,1\n".to_owned()]);
    let digits = "9".repeat(38);
    tables.add("d", &[format!("k,d\na,{digits}\nb,5\n"), "k,d\na,1\n".to_owned()]);
    tables
}

#[test]
fn a_sum_out_of_range_is_an_error_in_every_query() {
    let tables = tables_of_large_numbers();
    for distributed in [false, true] {
        tables.runtime.block_on(set(&tables.context, CLUSTER_OPTION, distributed));
        for question in [
            "select k, sum(x), median(x) from i group by k",
            "select sum(i.x) from i join d on i.k = d.k",
            "select sum(x) from (select x from i union all select x from i)",
            "select sum(distinct x) from i",
            "select k, sum(distinct x), count(*) from i group by k",
            "select sum(x) over () from i",
            "select sum(x) over (order by x) from i",
            "select sum(x) over (order by x desc rows between 1 preceding and current row) from i",
            "select sum(distinct x) over (order by x desc rows between 1 preceding and current row) from i",
            "select k, sum(x) from i group by rollup (k)",
            "select sum(abs(x)) from i",
            "select sum(x + 0), sum(x + 1) from i where upper(k) = 'A'",
            "select sum(case when x > 0 then x end) from i",
            "select sum(x) from i where upper(k) = 'A'",
            "select sum(arrow_cast(x, 'UInt64') * arrow_cast(2, 'UInt64')) from i",
            "select sum(d.d) from d join i on d.k = i.k",
            "select k, sum(d), median(d) from d group by k",
            "select sum(distinct d), count(*) from d",
            "select sum(d) over () from d",
            "select sum(d) over (order by d desc rows between 1 preceding and current row) from d",
            "select sum(arrow_cast(x, 'Decimal32(9, 0)')) from (values (999999999), (999999998)) t (x)",
            "select sum(arrow_cast(d, 'Decimal256(76, 38)')) from d",
        ] {
            let error = tables.answer(question).unwrap_err();
            let is_reported = error.contains("is out of range") || error.contains("too large");
            assert!(is_reported, "distributed: {distributed}: {question}: {error}");
        }
    }
}

#[test]
fn sums_and_averages_of_large_numbers_are_exact() {
    let tables = tables_of_large_numbers();
    let values = "(values (9223372036854775807), (1), (-9223372036854775807), (null)) t (x)";
    let few = "(values (9223372036854775807), (-5), (-7), (null)) t (x)";
    let frame = "over (order by x desc rows between 1 preceding and current row)";
    for (question, expected) in [
        (
            "select sum(x), avg(x), mean(x), avg(distinct x) from VALUES",
            "1 0.3333333333333333 0.3333333333333333 0.3333333333333333",
        ),
        (
            "select x is null, sum(x), avg(x) from VALUES group by x is null order by 1 limit 1",
            "false 1 0.3333333333333333",
        ),
        ("select distinct sum(x) over (), avg(x) over () from VALUES", "1 0.3333333333333333"),
        ("select min(s), min(a) from (select sum(x) FRAME as s, avg(x) FRAME as a from FEW)", "-12 -6.0"),
        (
            "select min(s), min(a) from (select sum(distinct x) FRAME as s, avg(distinct x) FRAME as a from FEW)",
            "-12 -6.0",
        ),
        ("select sum(x), avg(x) from VALUES where x is null", ""),
        ("select sum(x + 1), sum(x + 2) from VALUES", "4 7"),
        ("select avg(i.x), avg(i.x + 0.0) from i join d on i.k = d.k where i.x < 9", "2.3333333333333335 2.33333"),
        ("select sum(d) from (select d from d union all select -2 * d from d where d = 1)", "out of range"),
        (
            "select sum(e), avg(e), avg(distinct e) from (select d - d + 1 as e from d union all select 2.5)",
            "5.500000000000000 1.3750000000000000000 1.7500000000000000000",
        ),
        ("select sum(d) from (select d from d where k = 'a' union all select -3)", &format!("{}7", "9".repeat(37))),
        ("select sum(arrow_cast(x, 'UInt64')) from i where upper(k) = 'A'", "9223372036854775808"),
    ] {
        let question = question.replace("VALUES", values).replace("FRAME", frame).replace("FEW", few);
        let found = match tables.answer(&question) {
            Ok(rows) => rows.last().unwrap().join(" ").trim().to_owned(),
            Err(error) => error,
        };
        assert!(found == expected || !expected.is_empty() && found.contains(expected), "{question}: {found}");
    }
}

/// The orders of rows in which NaN is first, in the middle or last.
const ORDERS: [[&str; 3]; 4] =
    [["1e0", "NaN", "2e0"], ["2e0", "NaN", "1e0"], ["NaN", "2e0", "1e0"], ["1e0", "2e0", "NaN"]];

#[test]
fn nan_is_the_greatest_float_in_any_order() {
    for (number, order) in ORDERS.iter().enumerate() {
        let tables = Tables::new();
        let rows = order.map(|value| format!("a,{value}\nb,-1e0\n"));
        tables.add("one", &[format!("key,x\n{}", rows.concat())]);
        tables.add("many", &rows.map(|rows| format!("key,x\n{rows}")));
        for table in ["one", "many"] {
            let grouped = "select key, min(x), max(x) from t where key = 'a' group by key";
            for (question, expected) in [
                (grouped.to_owned(), ["1.0", "NaN"]),
                (grouped.replace("(x)", "(-x)"), ["-2.0", "NaN"]),
                (grouped.replace("(x)", "(cast(x as real))"), ["1.0", "NaN"]),
                (grouped.replace("(x)", "(distinct x)"), ["1.0", "NaN"]),
                (grouped.replace("from", ", median(length(key)) from"), ["1.0", "NaN"]),
                (grouped.replace("select key", "select ''").replace("group by key", ""), ["1.0", "NaN"]),
                (grouped.replace("(x)", "(x) over ()").replace("group by key", "limit 1"), ["1.0", "NaN"]),
                (format!("{grouped} order by 3 desc limit 1"), ["1.0", "NaN"]),
                (
                    "select key, max(x) as high, max(x) from t group by key order by high desc limit 1".to_owned(),
                    ["NaN", "NaN"],
                ),
                (
                    "select key, min(y) as low, min(y) from (select key, -x as y from t where upper(key) <> 'C') \
                     group by key order by low limit 1"
                        .to_owned(),
                    ["-2.0", "-2.0"],
                ),
            ] {
                let question = question.replace("from t", &format!("from {table}"));
                let found = tables.answer(&question).unwrap();
                assert!(found.len() == 1 && found[0][1..3] == expected, "{number}: {question}: {found:?}");
            }
        }
        let infinite = "select k, max(x) from (values ('a', '-inf'::double)) t (k, x) group by k";
        assert_eq!(tables.answer(infinite).unwrap()[0][1], "-inf");
    }
}

#[test]
fn functions_of_data_frames_are_replaced() {
    let tables = tables_of_large_numbers();
    let sums = tables.runtime.block_on(async {
        let rows = tables.context.sql("select k, x from i where upper(k) = 'A'").await.unwrap();
        rows.aggregate(vec![col("k")], vec![sum(col("x"))]).unwrap().collect().await
    });
    assert!(sums.unwrap_err().to_string().contains("is out of range"));
}
