//! Tests of unusual column names in options, queries and output.

#![allow(clippy::unwrap_used)]

mod common;

use common::Place;

/// Names with every character that has a meaning in options.
const SCHEMA: &str = r#""a ""b"", c":string,"max(x), y":decimal(1),-5 <:decimal(1)"#;

#[test]
fn quoted_names_are_accepted_everywhere() {
    let place = Place::new();
    place.write("t.txt", "k;1.5;-6.0\nk;2.5;-7.0\nl;0.5;3.0\n");
    let encodings = ["csv", "buren", "parquet", "arrow", "capnp", "capnp-packed", "protobuf", "bincode", "msgpack"];
    for encoding in encodings.into_iter().chain(["cbor", "json"]) {
        let file = format!("t.{encoding}");
        place.run_of(&["convert", "t.txt", &file, "--to", encoding, "--schema", SCHEMA]).ok();
        let mut question = vec!["query", &file, "--by", r#""a ""b"", c""#];
        question.extend(["--agg", r#"max("max(x), y"),count("a ""b"", c"),min("-5 <")"#]);
        question.extend([
            "--where",
            r#"-5 > "-5 <" and "a ""b"", c" != 'x'"#,
            "--order-by",
            r#"max("max(x), y") desc"#,
        ]);
        if encoding == "csv" {
            question.extend(["--schema", SCHEMA]);
        }
        question.extend(["--format", "csv"]);
        let answer = "\"a \"\"b\"\", c\",\"max(\"\"max(x), y\"\")\",\"count(\"\"a \"\"\"\"b\"\"\"\", c\"\")\",\
                      \"min(\"\"-5 <\"\")\"\nk,2.5,2,-7.0\n";
        assert_eq!(place.run_of(&question).text(), answer, "{encoding}");
    }
}

#[test]
fn a_value_of_an_option_may_begin_with_a_minus() {
    let place = Place::new();
    place.write("t.txt", "k;-6.0\nl;3.0\n");
    let schema = "-a:string,-b:decimal(1)";
    let ask = |option: &str, value: &str| place.run_of(&["query", "t.txt", "--schema", schema, option, value]);
    assert_eq!(ask("--where", "-5 > \"-b\"").text(), "{k=-6.0/-6.0/-6.0}\n");
    assert_eq!(ask("--by", "\"-a\"").text(), "{k=-6.0/-6.0/-6.0, l=3.0/3.0/3.0}\n");
    ask("--agg", "-b").fails_with(2, "unknown column 'b'");
    ask("--order-by", "-b").fails_with(2, "unknown column 'b'");
}

#[test]
fn errors_in_a_list_of_names_are_reported() {
    let place = Place::new();
    place.write("t.txt", "k;-6.0\n");
    for (list, reason) in [
        ("a,\"b", "missing closing \""),
        ("\"a\" b", "expected ',', 'as', an operator or the end, found 'b'"),
        ("a,,b", "expected an expression, found ','"),
    ] {
        place.run_of(&["query", "t.txt", "--by", list]).fails_with(2, reason);
    }
}

#[test]
fn rows_are_counted_by_any_column() {
    let place = Place::new();
    place.write("t.txt", "k;1.0\nl;2.0\nk;3.0\n");
    place.run("convert t.txt t.buren --schema s:string,x:decimal(1)").ok();
    for more in ["", " --no-statistics"] {
        let question = format!("query t.buren --agg count(s),count(x),max(x),count() --by s --format csv{more}");
        assert_eq!(place.run(&question).text(), "s,count(s),count(x),max(x),count()\nk,2,2,3.0,2\nl,1,1,2.0,1\n");
    }
    place.run("query t.buren --agg sum(s)").fails_with(2, "'sum' needs a column of numbers, found string");
}

#[test]
fn the_names_of_a_text_are_those_of_its_header_or_those_that_are_given() {
    let place = Place::new();
    place.write("header.csv", "city,people,area\nHamburg,1900000,755.22\nBonn,330000,141.06\n");
    place.write("bare.csv", "Hamburg,1900000,755.22\nBonn,330000,141.06\n");
    let ask = |file: &str, arguments: &[&str]| {
        place.run_of(&[&["query", file, "--delimiter", ",", "--format", "csv"], arguments].concat())
    };
    let answer = |names: [&str; 2]| format!("{},sum({})\nBonn,141.06\nHamburg,755.22\n", names[0], names[1]);
    assert_eq!(ask("header.csv", &["--agg", "sum(area)"]).text(), answer(["city", "area"]));
    assert_eq!(ask("bare.csv", &["--agg", "sum(column_3)"]).text(), answer(["column_1", "column_3"]));
    for file in ["header.csv", "bare.csv"] {
        let named = ["--names", "town, \"a, b\",km2", "--agg", "sum(km2)"];
        assert_eq!(ask(file, &named).text(), answer(["town", "km2"]), "{file}");
    }
    let schema = ["--schema", "city:string,people:int,area:decimal(2)", "--agg", "sum(area)"];
    for file in ["header.csv", "bare.csv"] {
        assert_eq!(ask(file, &schema).text(), answer(["city", "area"]), "{file}");
    }
    ask("bare.csv", &["--names", "a,b"])
        .fails(2, "brc: bare.csv: --names has 2 columns, but the first lines have 3 columns");
    ask("bare.csv", &["--names", "a,b,c", "--schema", "a:int"]).fails_with(2, "cannot be used with");
    assert_eq!(place.run("query header.csv --by city --agg sum(area) --format csv").text(), answer(["city", "area"]));
    place.run("convert header.csv t.buren --delimiter ,").ok();
    place.run("query t.buren --names a,b,c").fails_with(2, "t.buren: names its columns itself: they are city:string");
}

#[test]
fn other_texts_are_not_taken_for_that_of_the_challenge() {
    let place = Place::new();
    place.write("prices.txt", "pen;1.25\nink;10.50\n");
    assert_eq!(place.run("query prices.txt").text(), "{ink=10.50/10.50/10.50, pen=1.25/1.25/1.25}\n");
    place.run("query prices.txt --agg max(temperature)").fails_with(2, "(columns: column_1, column_2)");
    place.write("weather.txt", "Abha;1.2\nBonn;-10.5\n");
    assert_eq!(
        place.run("query weather.txt --by station --agg max(temperature) --limit 1 --format csv").text(),
        "station,max(temperature)\nAbha,1.2\n"
    );
}

#[test]
fn a_header_that_is_skipped_with_the_first_rows_is_kept() {
    let place = Place::new();
    place.write("t.csv", format!("city;n\n{}", "Bonn;1\nHamburg;2\n".repeat(500)));
    for rows in ["", "--rows 100"] {
        let arguments = format!("compare t.csv --encodings csv,buren --compressions none --runs 1 --agg max(n) {rows}");
        let report = place.run(&arguments).text();
        assert!(!report.contains("FAILED"), "{report}");
    }
}
