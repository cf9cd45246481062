//! Tests of JSON in the variants that programs write: every source and every command gives the same outcome.

#![allow(clippy::unwrap_used)]

mod common;

use common::Place;
use std::time::Duration;

/// Runs a shell script with a time limit for streams.
fn shell(place: &Place, script: &str) -> common::Outcome {
    let limit = Duration::from_secs(120).as_secs();
    place.shell(&format!(
        "export BRC='{}'; timeout {limit} sh -c '{}'",
        env!("CARGO_BIN_EXE_brc"),
        script.replace('\'', "'\\''")
    ))
}

#[test]
fn all_commands_and_sources_agree() {
    let place = Place::new();
    let mut rows = String::new();
    for row in 0..3000 {
        rows += &format!("{{\"n\":{row},\"day\":\"2024-02-{:02}\",\"v\":{{\"x\":[{row}]}}}}\n", row % 28 + 1);
    }
    // The first rows show neither the decimals, nor the text, nor the last key.
    rows += "{\"n\":1.25,\"day\":\"2024-02-29\",\"v\":null}\n{\"n\":4.1e26,\"day\":null,\"late\":\"x\"}\n";
    place.write("t.json", &rows);
    let array = format!("[\n{}\n]\n", rows.trim_end().replace('\n', ",\n"));
    place.write("array.json", &array);
    let pretty = rows.replace(",\"", ",\n  \"").replace("{\"n", "{\n  \"n");
    place.write("pretty.json", pretty);
    let expected = " name   type      nulls\n────────────────────────\n n      float64   null\n day    date      null\n late   string    null\n";
    let query = "select count(*) as rows, max(n) as most, max(day) as last";
    for file in ["t.json", "array.json", "pretty.json"] {
        assert_eq!(place.run(&format!("schema {file}")).text(), expected, "{file}");
        place.run(&format!("convert {file} {file}.buren --force")).ok();
        assert_eq!(place.run(&format!("schema {file}.buren")).text(), expected, "{file}");
        let from_buren = place.run_of(&["query", &format!("{file}.buren"), query]).text();
        assert_eq!(place.run_of(&["query", file, query]).text(), from_buren);
        assert!(from_buren.contains("3002") && from_buren.contains("4.1e26") && from_buren.contains("2024-02-29"));
        let all = place.run_of(&["query", &format!("{file}.buren"), "select *", "--format", "csv"]).text();
        assert_eq!(place.run_of(&["query", file, "select *", "--format", "csv"]).text(), all);
        assert_eq!(place.run(&format!("cat {file}")).text(), all);
        assert_eq!(shell(&place, &format!("cat {file} | $BRC cat - --from json")).text(), all);
        assert_eq!(shell(&place, &format!("gzip -c {file} > t.json.gz; $BRC cat t.json.gz")).text(), all);
        assert_eq!(
            shell(&place, &format!("cat {file} | $BRC query - --from json \"select *\" --format csv")).text(),
            all
        );
        assert!(place.run(&format!("head {file} -n 2")).text().contains("2024-02-02"));
        assert!(place.run(&format!("sniff {file}")).text().contains("encoding             json"));
    }
    let outcome = place.run("convert t.json t.parquet");
    assert!(
        outcome.stderr.contains("column 'v' is a list or an object, which brc does not read"),
        "{}",
        outcome.stderr
    );
    outcome.ok();
}

#[test]
fn queries_and_conversions_write_the_same_json() {
    let place = Place::new();
    place.write("t.csv", "s,f,d,n\n\"a \"\"b\"\"\",1e300,2024-02-29,1.50\n,nan,,-0.25\nz,-inf,1999-01-01,\n");
    place.run("convert t.csv t.json").ok();
    let written = String::from_utf8(place.read("t.json")).unwrap();
    assert_eq!(
        written,
        "{\"s\":\"a \\\"b\\\"\",\"f\":1e300,\"d\":\"2024-02-29\",\"n\":1.50}\n\
         {\"s\":null,\"f\":\"NaN\",\"d\":null,\"n\":-0.25}\n{\"s\":\"z\",\"f\":\"-Infinity\",\"d\":\"1999-01-01\",\"n\":null}\n"
    );
    for file in ["t.csv", "t.json"] {
        assert_eq!(place.run_of(&["query", file, "select *", "--format", "json"]).text(), written);
        assert_eq!(place.run(&format!("cat {file} --to json")).text(), written);
        place.run_of(&["query", file, "select *", "-o", "out.json", "--force"]).ok();
        assert_eq!(place.read("out.json"), written.as_bytes());
    }
    let array = place.run_of(&["query", "t.csv", "select *", "--format", "json-array"]).text();
    place.write("array.json", &array);
    assert_eq!(place.run("cat array.json --to json").text(), written);
}

#[test]
fn bad_objects_are_located_and_may_be_rejected() {
    let place = Place::new();
    place.write("t.json", "{\"a\":1}\n{\"a\":2,}\n\n{\"a\":3} {\"a\":4}\n{\"a\":\"\\ud800\"}\n");
    place
        .run("convert t.json o.csv")
        .fails(3, "brc: t.json: line 2, byte 8: malformed JSON at byte 8 of the object: trailing comma");
    place.run("convert t.json o.csv --rejects bad.tsv").ok();
    assert_eq!(String::from_utf8(place.read("o.csv")).unwrap(), "a\n1\n3\n4\n");
    assert_eq!(
        String::from_utf8(place.read("bad.tsv")).unwrap(),
        "line\tbyte\tcolumn\treason\trow\n2\t8\t\tmalformed JSON at byte 8 of the object: trailing comma\t\"{\"\"a\"\":2,}\"\n\
         5\t34\ta\tmalformed string: half of a surrogate pair\t\"{\"\"a\"\":\"\"\\ud800\"\"}\"\n"
    );
    place.write("cut.json", "[{\"a\":1},\n{\"a\":2},\n{\"a\":");
    let message = "brc: cut.json: line 3, byte 24: malformed JSON: the array does not end: the file is cut off; the \
                   rest cannot be read";
    place.run("convert cut.json o.csv --force --rejects bad.tsv").fails(3, message);
    place.run_of(&["query", "cut.json", "select *"]).fails(3, message);
    place.write("empty.json", "");
    place.run("convert empty.json o.csv --force").fails_with(2, "has no rows to infer columns from");
}

#[test]
fn json_files_with_other_keys_are_one_table() {
    let place = Place::new();
    place.write("1.json", "{\"a\":1}\n".repeat(20_000) + "{\"a\":2,\"late\":true}\n");
    place.write("2.json", "{\"b\":\"x\",\"a\":1.5}\n");
    place.write("3.csv", "b,a\ny,7\n");
    let query = "select file, count(*) as rows, max(a) as a, max(b) as b group by file order by file";
    let found = place.run_of(&[
        "query",
        "1.json",
        "2.json",
        "3.csv",
        "--union-by-name",
        "--file-name",
        "file",
        query,
        "--format",
        "csv",
    ]);
    assert_eq!(found.text(), "file,rows,a,b\n1.json,20001,2.0,\n2.json,1,1.5,x\n3.csv,1,7.0,y\n");
    place.run("convert 1.json 2.json 3.csv all.buren --union-by-name").ok();
    assert!(place.run("schema all.buren").text().contains("late"));
}

#[test]
fn late_keys_may_be_queried() {
    let place = Place::new();
    place.write("t.json", "{\"a\":1}\n".repeat(20_000) + "{\"a\":2.5,\"late\":\"x\"}\n");
    let found = place.run_of(&["cat", "t.json", "--columns", "late,a", "--where", "late = 'x'"]);
    assert_eq!(found.text(), "late,a\nx,2.5\n");
    let found = place.run_of(&["query", "t.json", "select a, late where late is not null", "--format", "csv"]);
    assert_eq!(found.text(), "a,late\n2.5,x\n");
    place.run("cat t.json --columns never").fails_with(2, "unknown column 'never' (columns: a, late)");
}

#[test]
fn rows_without_keys_are_rows_among_others() {
    let place = Place::new();
    place.write("a.json", "{\"a\":1}\n");
    place.write("lines.json", "{}\n{}\n");
    place.write("array.json", "[{},{}]");
    place.write("a.csv", "a\n1\n");
    place.write("none.json", "");
    for others in ["a.json lines.json", "lines.json a.json", "a.json array.json", "array.json a.csv none.json"] {
        for option in ["", "--union-by-name"] {
            let rows =
                place.run(&format!("query {others} {option} --agg count(*),count(a),sum(a) --format csv")).text();
            assert_eq!(rows, "count(*),count(a),sum(a)\n3,1,1\n", "{others} {option}");
        }
        place.run(&format!("convert {others} out.csv --force")).ok();
        let lines = String::from_utf8(place.read("out.csv")).unwrap();
        assert_eq!(lines.lines().count(), 4, "{others}: {lines:?}");
    }
    place
        .run("query lines.json --agg count(*)")
        .fails_with(2, "lines.json: its rows have no keys to infer columns from");
    place.run("query none.json --agg count(*)").fails_with(2, "none.json: has no rows to infer columns from");
    place.shell("$BRC query a.json - --agg 'count(*)' < lines.json").fails_with(2, "its rows have no keys");
}

#[test]
fn a_value_that_makes_a_column_text_is_named() {
    let place = Place::new();
    let reason = "note: 'p' is text because of '\"24\"' (1 of 3 values, line 2); use try_cast(p as int64)\n";
    for rows in ["{\"p\":9}\n{\"p\":\"24\"}\n{\"p\":100}\n", "[{\"p\":9},\n{\"p\":\n\"24\"},{\"p\":100}]"] {
        place.write("t.json", rows);
        let largest = place.run_of(&["query", "t.json", "select max(p)", "--format", "csv"]);
        assert_eq!(largest.stderr, reason);
        assert_eq!(largest.text(), "max(p)\n9\n");
        let error = place.run_of(&["query", "t.json", "select avg(p)"]);
        assert!(error.stderr.ends_with(&reason[6..]), "{}", error.stderr);
        let piped = place.pipe_of(&["query", "-", "select max(p)"], rows.as_bytes());
        assert!(piped.stderr.contains("most of its first values are int64; try_cast(p as int64)"), "{}", piped.stderr);
    }
    place.write("more.json", "{\"p\":1.5}\n".repeat(20) + "{}\n{\"p\":null}\n{\"p\":\"n.a.\"}\n");
    let converted = place.run("convert more.json more.csv");
    let reason = "'p' is text because of '\"n.a.\"' (1 of 21 values, line 23); use try_cast(p as decimal(18,1))";
    assert!(converted.stderr.contains(reason), "{}", converted.stderr);
    place.write("words.json", "{\"p\":\"a\"}\n{\"p\":\"1\"}\n");
    assert_eq!(place.run_of(&["query", "words.json", "select max(p)"]).stderr, "");
}
