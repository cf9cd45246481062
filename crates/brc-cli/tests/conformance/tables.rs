//! The tables that every encoding must hold, as text, with queries over them.

use crate::cell::File;
use brc_core::Schema;
use brc_query::{Expression, Query};
use std::fmt::Write;
use std::sync::OnceLock;

/// A table and queries over it.
pub(crate) struct Source {
    pub(crate) name: &'static str,
    pub(crate) schema: Schema,
    pub(crate) text: Vec<u8>,
    pub(crate) queries: Vec<Query>,
    rows: OnceLock<Vec<Vec<String>>>,
}

impl Source {
    fn new(name: &'static str, schema: &str, text: String, queries: Vec<Query>) -> Self {
        let required = schema.split(',').map(|column| format!("{column} not null")).collect::<Vec<_>>();
        let schema = Schema::parse(&required.join(",")).unwrap();
        Self { name, schema, text: text.into_bytes(), queries, rows: OnceLock::new() }
    }

    /// The expected rows: the text, split at delimiters.
    pub(crate) fn rows(&self) -> &[Vec<String>] {
        self.rows.get_or_init(|| {
            let text = std::str::from_utf8(&self.text).unwrap();
            text.lines().map(|line| line.split(';').map(str::to_owned).collect()).collect()
        })
    }

    /// The result of a query over the text.
    pub(crate) fn answer(&self, query: &Query) -> String {
        File::new("text.csv".into(), self.text.clone()).answer(self, query, 1).unwrap()
    }
}

const ONE_BRC: &str = "station:string,temperature:decimal(1)";

pub(crate) fn query(by: Option<&[&str]>, aggregates: &str, filter: Option<&str>) -> Query {
    Query {
        by: by.map(|by| by.iter().map(|name| Expression::column(name)).collect()),
        aggregates: (!aggregates.is_empty()).then(|| Expression::parse_list(aggregates).unwrap()),
        filter: filter.map(|filter| Expression::parse(filter).unwrap()),
        ..Query::default()
    }
}

/// The standard queries, with and without statistics.
fn one_brc_queries() -> Vec<Query> {
    let mut queries = vec![
        Query::default(),
        query(None, "", Some("temperature > 3")),
        query(None, "count(),sum(temperature)", Some("station in ('Abha', 'São Paulo', 'k7')")),
        query(Some(&[]), "count(),min(temperature),max(temperature),sum(temperature),mean(temperature)", None),
    ];
    queries.push(Query { statistics: false, ..Query::default() });
    queries
}

fn tenths(tenths: i64) -> String {
    format!("{}{}.{}", if tenths < 0 { "-" } else { "" }, tenths.abs() / 10, tenths.abs() % 10)
}

/// Rows with the station `station(row)` and a temperature.
fn one_brc(name: &'static str, rows: usize, station: impl Fn(usize) -> String) -> Source {
    let mut text = String::new();
    for row in 0..rows {
        let mixed = (row as i64).wrapping_mul(0x9E37_79B9_7F4A_7C15_u64 as i64) >> 40;
        writeln!(text, "{};{}", station(row), tenths(mixed.rem_euclid(1999) - 999)).unwrap();
    }
    Source::new(name, ONE_BRC, text, one_brc_queries())
}

/// A table small enough to be damaged at every byte.
pub(crate) fn small() -> Source {
    let mut source = one_brc("small", 14, |row| ["Abha", "São Paulo", "k7"][row * row % 3].to_owned());
    source.queries.clear();
    source
}

/// Columns of several kinds.
pub(crate) fn several_columns() -> Source {
    let mut text = String::new();
    for row in 0..3000_i64 {
        let cents = row * 7919 % 200_003 - 100_000;
        let sign = if cents < 0 { "-" } else { "" };
        let (whole, rest) = (cents.abs() / 100, cents.abs() % 100);
        writeln!(
            text,
            "{row};host{};{sign}{whole}.{rest:02};{};{}",
            row % 7,
            ["GET", "POST"][row as usize % 2],
            row / 3
        )
        .unwrap();
    }
    let schema = "id:int,host:string,price:decimal(2),method:string,bucket:int";
    let queries = vec![
        query(Some(&["host"]), "sum(price),max(id),count()", None),
        query(Some(&["method", "host"]), "mean(price),min(bucket)", Some("price > 10 and not host = 'host3'")),
        query(Some(&["bucket"]), "count()", Some("id < 100")),
        query(Some(&[]), "sum(id),sum(price),max(bucket)", Some("method = 'GET' or bucket >= 900")),
    ];
    Source::new("several columns", schema, text, queries)
}

pub(crate) fn empty() -> Source {
    one_brc("empty", 0, |_| String::new())
}

/// The minimum and maximum of each numeric type.
pub(crate) fn ends_of_the_ranges() -> Source {
    let text = "\
        a;9223372036854775807;0.999999999999999999;-99999999999999999.9;0\n\
        b;-9223372036854775808;-0.999999999999999999;99999999999999999.9;32767\n\
        a;0;0.000000000000000000;0.0;-32768\n\
        b;-1;-0.000000000000000001;-0.1;32768\n\
        c;2147483647;0.100000000000000000;99.9;-32769\n\
        c;-2147483648;0.250000000000000000;-99.9;2147483648\n";
    let schema = "k:string,i:int,d:decimal(18),t:decimal(1),s:int";
    let queries = vec![
        query(Some(&["k"]), "min(i),max(i),sum(i),mean(i),min(d),max(d),sum(d),mean(d)", None),
        query(Some(&["k"]), "sum(t),mean(t),min(s),max(s),count()", Some("i < 0 or s > 32767")),
    ];
    Source::new("ends of the ranges", schema, text.to_owned(), queries)
}

pub(crate) fn tables() -> Vec<Source> {
    vec![
        empty(),
        one_brc("one row", 1, |_| "Abha".to_owned()),
        Source::new("equal rows", ONE_BRC, "São Paulo;3.3\n".repeat(5000), one_brc_queries()),
        one_brc("10,000 keys", 25_000, |row| format!("k{}", row * 7919 % 10_000)),
        one_brc("long names", 2000, |row| {
            let length = row % 100 + 1;
            let character = ["a", "é", "日", "😀"][row % 4];
            let mut name = character.repeat(length / character.len());
            name.push_str(&"x".repeat(length - name.len()));
            name
        }),
        ends_of_the_ranges(),
        several_columns(),
        one_brc("odd names", 500, |row| {
            let odd =
                ["\"quoted\"", "back\\slash", " spaces ", "{brace}", "tab\tbed", "null", "1.5", "comma,", "\u{1}"];
            odd[row % odd.len()].to_owned()
        }),
    ]
}
