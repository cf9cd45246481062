//! Tests of type inference when rows after the sample have other types: results reflect all rows.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

mod common;

use common::{Outcome, Place};

/// More rows than a sample and than a split.
const ROWS: usize = 400_000;

/// Integers, and a word in the last row; as a file and compressed.
fn late_word() -> Place {
    let place = Place::new();
    let rows: String = (0..ROWS).map(|row| format!("{row},{row},{}\n", row % 3)).collect();
    place.write("late.csv", format!("a,b,k\n{rows}zz,zz,2\n"));
    place.shell("gzip -k late.csv").ok();
    place
}

/// Runs a command on a file, on a compressed one and on a pipe, by one thread and by several.
fn everywhere(place: &Place, command: &[&str], check: impl Fn(Outcome)) {
    let text = place.read("late.csv");
    for threads in ["1", "3"] {
        let arguments = |file: &'static str| [&[command[0], file], &command[1..], &["--threads", threads]].concat();
        for file in ["late.csv", "late.csv.gz"] {
            check(place.run_of(&arguments(file)));
        }
        check(place.pipe_of(&arguments("-"), &text));
    }
}

#[test]
fn queries_are_bound_to_the_types_of_all_rows() {
    let place = late_word();
    for (question, expected) in [
        ("select count(*) as n where a = 'zz'", "n\n1\n"),
        ("select a where a = 'zz'", "a\nzz\n"),
        ("select a where a = 'zz' limit 1", "a\nzz\n"),
        ("select a where a like 'z%'", "a\nzz\n"),
        ("select upper(a) as u where k = 2 order by u desc limit 1", "u\nZZ\n"),
        ("select coalesce(a, '-') as c where a > '99999'", "c\nzz\n"),
        ("select count(*) as n where a = b", "n\n400001\n"),
        ("select max(a) as m group by k order by m desc limit 1", "m\nzz\n"),
        ("select case when k = 9 then '-' else a end as c where a = 'zz'", "c\nzz\n"),
        ("select a || '!' as c order by a desc limit 1", "c\nzz!\n"),
        ("select k, count(distinct a) as n group by k order by k limit 1", "k,n\n0,133334\n"),
    ] {
        everywhere(&place, &["query", question, "--format", "csv"], |outcome| {
            assert_eq!(outcome.text(), expected, "{question}");
        });
    }
    let condition = ["cat", "--where", "a = 'zz'", "--columns", "a,k"];
    everywhere(&place, &condition, |outcome| assert_eq!(outcome.text(), "a,k\nzz,2\n"));
}

#[test]
fn queries_that_are_valid_only_for_the_sample_are_refused() {
    let place = late_word();
    let refused = "is of type string, but is compared with a number";
    for question in
        ["select a where a > 5", "select count(*) where a > 5", "select b where a > 5 order by b desc limit 3"]
    {
        everywhere(&place, &["query", question, "--format", "csv"], |outcome| outcome.fails_with(2, refused));
    }
    everywhere(&place, &["query", "select sum(a)"], |outcome| outcome.fails_with(2, "'sum' needs"));
    everywhere(&place, &["query", "select a + 1 as c"], |outcome| outcome.fails_with(2, "string"));
    everywhere(&place, &["cat", "--where", "a > 5"], |outcome| outcome.fails_with(2, refused));
}

/// Types that match the sample at the end, but not in between.
#[test]
fn a_column_may_be_empty_then_a_number_then_a_word() {
    let place = Place::new();
    let empty = ",1\n".repeat(50_000);
    place.write("t.csv", format!("a,b\n{empty}7,2\nword,3\n,4\n"));
    for question in
        ["select a where b > 1", "select a where a = 'word' or a = '7' or b = 4", "select a order by b desc limit 3"]
    {
        for threads in ["1", "3"] {
            let text = place.run_of(&["query", "t.csv", question, "--format", "csv", "--threads", threads]).text();
            let mut rows: Vec<_> = text.lines().skip(1).collect();
            rows.sort_unstable();
            assert_eq!(rows, ["", "7", "word"], "{question}");
        }
    }
    assert_eq!(place.run_of(&["cat", "t.csv", "--where", "a = 'word'"]).text(), "a,b\nword,3\n");
    assert_eq!(place.run_of(&["cat", "t.csv", "--where", "a is not null", "--columns", "a"]).text(), "a\n7\nword\n");
    place.run("convert t.csv t.buren").ok();
    assert_eq!(place.run_of(&["query", "t.buren", "select a where b > 1", "--format", "csv"]).text(), "a\n7\nword\n\n");
}

/// The default query depends on the types of all columns.
#[test]
fn initially_empty_columns_are_part_of_the_default_query() {
    let place = Place::new();
    let rows = "x,1,\n".repeat(50_000);
    place.write("t.csv", format!("s,n,late\n{rows}x,2,2.5\n"));
    place.run("convert t.csv t.buren").ok();
    let answer = place.run("query t.buren --format csv").text();
    assert_eq!(answer.lines().next(), Some("s,min(n),mean(n),max(n),min(late),mean(late),max(late)"));
    assert_eq!(place.run("query t.csv --format csv").text(), answer);
    assert_eq!(place.pipe("query - --format csv", &place.read("t.csv")).text(), answer);
}

#[test]
fn files_with_different_samples_may_share_a_type() {
    let place = late_word();
    place.write("words.csv", "a,b,k\nx,y,1\n");
    place.run("convert words.csv words.parquet").ok();
    for files in [["late.csv", "words.parquet"], ["words.parquet", "late.csv.gz"]] {
        let count = ["query", files[0], files[1], "select count(*) as n where a = 'x' or b = 'zz'", "--format", "csv"];
        assert_eq!(place.run_of(&count).text(), "n\n2\n");
        place.run(&format!("convert {} {} all.buren --force", files[0], files[1])).ok();
        assert!(place.run("schema all.buren").text().contains("a      string"));
    }
    place.write("numbers.csv", "a,b,k\n1,2,3\n");
    place.run("cat numbers.csv words.parquet").fails_with(2, "is of type string, but int64 in numbers.csv");
}

#[test]
fn sampled_types_are_noted() {
    let place = late_word();
    let note = "column types are inferred from a sample";
    let sample = place.run("sniff late.csv -n 1").text();
    assert!(sample.contains(note) && sample.contains("a      int64"), "{sample}");
    let all = place.run("sniff late.csv -n 1 --all").text();
    assert!(!all.contains(note) && all.contains("a      string"), "{all}");
    let schema = place.run("sniff late.csv --schema");
    assert!(schema.stderr.contains("--all infers them from all rows"), "{}", schema.stderr);
    assert_eq!(schema.text(), "a:int64,b:int64,k:int64\n");
    let all = place.pipe("sniff - --schema --all", &place.read("late.csv"));
    assert_eq!((all.stderr.as_str(), all.stdout.as_slice()), ("", &b"a:string,b:string,k:int64\n"[..]));
    assert!(place.run("schema late.csv").text().contains("a      string"));
    assert!(place.run("schema late.csv --all").text().contains("a      string"));
    place.write("short.csv", "a\n1\n");
    assert!(!place.run("sniff short.csv").text().contains(note));
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

/// Words that may be booleans are names beside other names: brc writes such a header for an empty answer.
#[test]
fn a_header_alone_is_no_row() {
    let place = Place::new();
    for (row, rows) in [
        ("x,y", 0),
        ("t,value", 0),
        ("no,name", 0),
        ("d,t,f", 0),
        ("a,b", 0),
        ("alice,true", 1),
        ("yes,no", 1),
        ("x,1", 1),
    ] {
        place.write("t.csv", format!("{row}\n"));
        assert_eq!(text(place.run("count t.csv").ok()).trim(), rows.to_string(), "{row}");
    }
    place.write("t.csv", "x,y\n1,2\n");
    place.run_of(&["query", "t.csv", "select * where x > 5", "-o", "none.csv"]).ok();
    assert_eq!(text(place.run_of(&["query", "none.csv", "select count(x)", "--format", "csv"]).ok()), "count(x)\n0\n");
}

#[test]
fn timestamps_at_the_ends_of_nanoseconds_are_inferred() {
    let place = Place::new();
    let rows = "2262-04-11 23:47:16.854775807\n2024-01-01 00:00:00.000000000\n1677-09-21 00:12:43.145224192\n";
    place.write("t.csv", format!("a\n{rows}"));
    assert!(text(place.run("schema t.csv").ok()).contains("timestamp(ns)"));
    place.run("convert t.csv t.buren").ok();
    assert_eq!(text(place.run("cat t.buren").ok()), format!("a\n{rows}"));
    for beyond in ["2262-04-11 23:47:16.854775808", "1677-09-21 00:12:43.145224191"] {
        place.write("t.csv", format!("a\n{rows}{beyond}\n"));
        assert!(text(place.run("schema t.csv").ok()).contains("string"), "{beyond}");
    }
    let other = "a\n11/04/2262 23:47:16.854775807\n13/01/2024 00:00:00.5\n21/09/1677 00:12:43.145224192\n";
    place.write("t.csv", other);
    assert!(text(place.run("schema t.csv").ok()).contains("timestamp(ns)"));
    let answer = place
        .run_of(&[
            "query",
            "t.csv",
            "select min(a) = timestamp '1677-09-21 00:12:43.145224192' as ok",
            "--format",
            "csv",
        ])
        .ok();
    assert_eq!(text(answer), "ok\ntrue\n");
}

/// Nulls fit any type.
#[test]
fn columns_without_values_have_any_type() {
    let place = Place::new();
    place.write("nulls.csv", "a,b,c\n1,,\n2,,\n");
    place.write("header.csv", "a,b,c\n");
    place.write("nulls.json", "{\"a\":1,\"b\":null,\"c\":null}\n{\"a\":2,\"b\":null,\"c\":null}\n");
    place.write("words.csv", "a,b,c\n1,NA,\n2,-,\n");
    for inputs in [&["nulls.csv"][..], &["header.csv"], &["nulls.json"], &["words.csv"], &["nulls.csv", "nulls.json"]] {
        for (question, expected) in [
            ("select sum(b)", "null"),
            ("select count(*) where b > 5", "0"),
            ("select count(*) where b >= date '2024-01-01'", "0"),
            ("select count(*) where c > timestamp '2024-01-01 12:00:00' or b = 1", "0"),
            ("select count(*) where b", "0"),
            ("select max(year(b))", "null"),
            ("select sum(b + c)", "null"),
            ("select sum(c) where b >= date '2024-01-01'", "null"),
        ] {
            let found = place.run_of(&[&["query"], inputs, &[question, "--format", "json"]].concat());
            let found = found.text();
            assert!(found.ends_with(&format!(":{expected}}}\n")), "{inputs:?} {question}: {found}");
        }
    }
    place
        .run_of(&["query", "nulls.csv", "select sum(b) where b > date '2024-01-01'"])
        .fails_with(2, "'b' has no values, so its type is unknown; --type 'b=int64' sets it");
    // Values below the sample.
    place.write("late.csv", format!("a,b\n{}1,x\n", "1,\n".repeat(300_000)));
    place.run_of(&["query", "late.csv", "select sum(b)"]).fails_with(2, "found string");
    place.write("late.csv", format!("a,b\n{}1,7\n", "1,\n".repeat(300_000)));
    assert_eq!(place.run_of(&["query", "late.csv", "select sum(b) as s", "--format", "csv"]).text(), "s\n7\n");
}

#[test]
fn booleans_may_be_declared_as_postgresql_writes_them() {
    let place = Place::new();
    place.write("t.csv", "id,act\n1,t\n2,f\n3,t\n");
    let query = |arguments: &[&str]| place.run_of(&[&["query", "t.csv", "--format", "csv"], arguments].concat());
    assert_eq!(query(&["select id, act where act = 't'"]).text(), "id,act\n1,t\n3,t\n");
    assert_eq!(query(&["select id where act", "--type", "act=bool"]).text(), "id\n1\n3\n");
    assert_eq!(query(&["select id where act = 'f'", "--type", "act=bool"]).text(), "id\n2\n");
    assert_eq!(query(&["select id where cast(act as bool)"]).text(), "id\n1\n3\n");
    query(&["select id where act"]).fails_with(2, "type string; write act = 't' or cast(act as bool)");
    query(&["select id where id"]).fails_with(2, "a value of type int64; write id <> 0");
    let converted = place.run("convert t.csv out.csv --type act=bool");
    assert!(
        converted.stderr.contains("3 values of 'act' will be written differently (t → true)"),
        "{}",
        converted.stderr
    );
    assert_eq!(place.run("cat out.csv").text(), "id,act\n1,true\n2,false\n3,true\n");
    // Beside true and false, t is still a word that makes the column text, and is found.
    let words = format!("x\n{}t\n", "true\nfalse\n".repeat(10));
    place.write("t.csv", words);
    query(&["select count(*) where x"]).fails_with(2, "'x' is text because of 't' (1 of 21 values, line 22)");
}

#[test]
fn types_may_have_names_of_sql() {
    let place = Place::new();
    place.write("t.csv", "a,b\n1,2.5\n");
    let shown = place.run_of(&["schema", "t.csv", "--type", "a=varchar(10)", "--type", "b=double precision"]).text();
    assert_eq!(
        shown,
        " name   type      nulls\n────────────────────────\n a      string    null\n b      float64   null\n"
    );
    let shown = place.run_of(&["schema", "t.csv", "--schema", "a:bigint not null, b:numeric(10,2)"]).text();
    assert!(shown.contains("int64           not null") && shown.contains("decimal(10,2)   null"), "{shown}");
}
