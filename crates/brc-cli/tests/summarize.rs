//! Tests of `brc summarize`.

#![allow(clippy::unwrap_used)]

mod common;

use common::Place;

const SALES: &str = "city,day,price,sold\nOslo,2024-01-30,12.50,1\nOslo,2024-01-31,10.50,6\nBergen,2024-01-31,11.50,4\n\
                     Bergen,2024-02-01,,5\nOslo,2024-02-01,7.50,9\n";

#[test]
fn every_column_is_summarized() {
    let place = Place::new();
    place.write("t.csv", SALES);
    let expected = "\
5 rows, 4 columns

city   string
  no nulls   2 distinct
  min Bergen   max Oslo
  Oslo     3   60 %   ████████████████████
  Bergen   2   40 %   █████████████

day   date
  no nulls   3 distinct
  min 2024-01-30   25 % 2024-01-31   50 % 2024-01-31   75 % 2024-02-01
  max 2024-02-01
  2024-01-31   2   40 %   ████████████████████
  2024-02-01   2   40 %   ████████████████████

price   decimal(18,2)
  1 null (20 %)   4 distinct   mean 10.5   stddev 2.16025
  min 7.50   25 % 7.50   50 % 10.50   75 % 11.50   max 12.50

sold   int64
  no nulls   5 distinct   mean 5   stddev 2.91548
  min 1   25 % 4   50 % 5   75 % 6   max 9
";
    for file in ["t.csv", "t.parquet", "t.buren", "t.json"] {
        if file != "t.csv" {
            place.run(&format!("convert t.csv {file}")).ok();
        }
        for command in ["summarize", "describe"] {
            assert_eq!(place.run(&format!("{command} {file}")).text(), expected, "{file}");
        }
    }
    assert_eq!(place.pipe("summarize -", SALES.as_bytes()).text(), expected);
    let some = place.run_of(&["summarize", "t.csv", "--columns", "sold,city", "--where", "city = 'Oslo'"]).text();
    assert!(some.starts_with("3 rows, 2 columns\n\nsold   int64\n"), "{some}");
    assert!(some.ends_with("min Oslo   max Oslo\n  Oslo   3   100 %   ████████████████████\n"), "{some}");
    place.run("summarize t.csv --columns town").fails_with(2, "unknown column 'town'");
}

#[test]
fn every_encoding_is_summarized() {
    let place = Place::new();
    place.write("t.csv", "city,n,price\nOslo,1,0.50\nBergen,2,1.25\nOslo,3,20.00\n");
    let expected = place.run("summarize t.csv --json").text();
    for encoding in
        brc_encodings::ENCODINGS.iter().filter(|encoding| !encoding.is_read_only() && encoding.name() != "ppm")
    {
        let file = format!("other.{}", encoding.extensions()[0]);
        place.run(&format!("convert t.csv {file}")).ok();
        assert_eq!(place.run(&format!("summarize {file} --json")).text(), expected, "{file}");
    }
    let twice = place.run("summarize t.csv other.parquet --json --columns n").text();
    assert!(twice.contains("\"rows\": 6,") && twice.contains("\"distinct\": 3,"), "{twice}");
    place.write("bad.csv", "n,s\n1,x\n2\n");
    place.run("summarize bad.csv").fails_with(3, "line 3");
    place.run("summarize t.csv --temp-dir nowhere").fails_with(1, "nowhere: cannot make a temporary file in");
    assert!(place.names().iter().all(|name| name.contains('.')), "nothing is left behind");
}

#[test]
fn summaries_are_printed_as_json() {
    let place = Place::new();
    place.write("t.csv", SALES);
    let json = place.run_of(&["summarize", "t.csv", "--json", "--columns", "city,price"]).text();
    let expected = r#"{
  "rows": 5,
  "columns": [
    {"name": "city", "type": "string", "nulls": 0, "distinct": 2, "min": "Bergen", "q25": null, "q50": null, "q75": null, "max": "Oslo", "mean": null, "stddev": null, "most_frequent": [{"value": "Oslo", "count": 3}, {"value": "Bergen", "count": 2}]},
    {"name": "price", "type": "decimal(18,2)", "nulls": 1, "distinct": 4, "min": 7.50, "q25": 7.50, "q50": 10.50, "q75": 11.50, "max": 12.50, "mean": 10.5, "stddev": 2.160246899469287, "most_frequent": [{"value": 7.50, "count": 1}, {"value": 10.50, "count": 1}, {"value": 11.50, "count": 1}, {"value": 12.50, "count": 1}]}
  ]
}
"#;
    assert_eq!(json, expected);
}

/// Floats that JSON lacks are written as by `query --format json`.
#[test]
fn floats_that_are_no_numbers_are_named() {
    let place = Place::new();
    place.write("t.csv", "n,x\n1,1.5\n2,inf\n3,-inf\n4,NaN\n5,1e300\n");
    let json = place.run("summarize t.csv --json --columns x").text();
    for part in [
        r#""min": "-Infinity", "q25": 1.5, "q50": 1e300, "q75": "Infinity", "max": "NaN", "mean": "NaN", "stddev": "NaN""#,
        r#"{"value": "-Infinity", "count": 1}, {"value": 1.5, "count": 1}"#,
    ] {
        assert!(json.contains(part), "{part}\n{json}");
    }
    let answer = place.run_of(&["query", "t.csv", "select min(x), avg(x) as a, max(x)", "--format", "json"]).text();
    assert_eq!(answer, "{\"min(x)\":\"-Infinity\",\"a\":\"NaN\",\"max(x)\":\"NaN\"}\n");
}

/// JSON has no binary data, and its strings are UTF-8.
#[test]
fn bytes_that_are_not_text_are_told_apart_in_json() {
    let place = Place::new();
    place.write("t.csv", b"b,s\n\xfe,K\xf6ln\n\xff,K\xf8ln\n");
    place.run("convert t.csv t.buren --schema b:binary,s:string").ok();
    place.run_of(&["query", "t.buren", "select b", "-o", "t.parquet"]).ok();
    for file in ["t.buren", "t.parquet"] {
        let json = place.run(&format!("summarize {file} --json --columns b")).text();
        assert!(json.contains(r#""min": "fe""#) && json.contains(r#"{"value": "ff", "count": 1}"#), "{json}");
        let json = place.run(&format!("inspect {file} --json")).text();
        assert!(json.contains(r#""min": "fe", "max": "ff""#), "{json}");
    }
    let json = place.run("inspect t.buren --json").text();
    for json in [json, place.run("summarize t.buren --json").text()] {
        assert!(
            json.contains(r#""K\\xf6ln""#) && json.contains(r#""K\\xf8ln""#) && !json.contains('\u{fffd}'),
            "{json}"
        );
    }
}

/// Summaries equal the results of queries, also for many values in little memory and for empty tables.
#[test]
fn summaries_agree_with_queries() {
    let place = Place::new();
    let row = |row: u64| format!("{},name {},{}\n", row * 7919 % 100_003, row % 50_021, row as f64 / 8.0);
    place.write("t.csv", "n,name,x\n".to_owned() + &(0..200_000).map(row).collect::<String>());
    let whole = place.run("summarize t.csv --json").text();
    let select = "select count(distinct n), min(n), quantile(n, 0.25), quantile(n, 0.5), quantile(n, 0.75), max(n), avg(n), \
                  stddev_samp(n), mode(n)";
    let answer = place.run_of(&["query", "t.csv", select, "--format", "csv"]).text();
    let values: Vec<&str> = answer.lines().nth(1).unwrap().split(',').collect();
    let names = ["distinct", "min", "q25", "q50", "q75", "max", "mean", "stddev"];
    for (name, value) in names.iter().zip(&values) {
        assert!(whole.contains(&format!("\"{name}\": {value}, ")), "{name}: {value}\n{whole}");
    }
    assert!(whole.contains(&format!("\"most_frequent\": [{{\"value\": {}, \"count\": 2}}", values[8])), "{whole}");
    for options in ["--memory 1M --threads 2", "--threads 1"] {
        assert_eq!(place.run(&format!("summarize t.csv --json {options}")).text(), whole);
    }
    place.write("none.csv", "n,name\n");
    let none = place.run("summarize none.csv --header yes").text();
    assert!(none.starts_with("0 rows, 2 columns\n\nn   string\n  no nulls   0 distinct\n"), "{none}");
}

#[test]
fn a_hundred_columns_are_summarized() {
    let place = Place::new();
    let line = |cell: &dyn Fn(usize) -> String| (0..100).map(cell).collect::<Vec<_>>().join(",") + "\n";
    let rows: String = (0..50).map(|row| line(&|column| format!("{}", row * column))).collect();
    place.write("t.csv", line(&|column| format!("a rather long name of column {column}")) + &rows);
    let text = place.run("summarize t.csv").text();
    assert!(text.starts_with("50 rows, 100 columns\n"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(text.contains("max 4851"), "{text}");
}
