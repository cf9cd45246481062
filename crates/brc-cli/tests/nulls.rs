//! Tests of null tokens: null in columns of numbers, dates and booleans, text among strings.

#![forbid(unsafe_code)]

mod common;

use common::Place;

const FLIGHTS: &str = "\
carrier,delay,day,late,note
UA,11,2013-01-01,true,-
B6,NA,2013-01-02,NULL,NA
AA,-3,N/A,false,late
DL,\"\",2013-01-04,true,?
";

fn place() -> Place {
    let place = Place::new();
    place.write("f.csv", FLIGHTS);
    place
}

#[test]
fn null_tokens_are_null_where_other_values_have_a_type() {
    let place = place();
    let outcome = place.run("schema f.csv");
    let types: Vec<&str> = std::str::from_utf8(&outcome.stdout).map_or(vec![], |text| text.lines().skip(2).collect());
    let types: Vec<&str> = types.iter().filter_map(|line| line.split_whitespace().nth(1)).collect();
    assert_eq!(types, ["string", "int64", "date", "bool", "string"]);
    for note in [
        "note: \"\" and 'NA' in 'delay' read as null (2 values; --null '' keeps them as text)",
        "note: 'N/A' in 'day' read as null (1 value; --null '' keeps it as text)",
        "note: 'NULL' in 'late' read as null (1 value; --null '' keeps it as text)",
    ] {
        assert!(outcome.stderr.contains(note), "{note}: {}", outcome.stderr);
    }
    assert!(!outcome.stderr.contains("'note'"), "{}", outcome.stderr);
    let outcome = place.run("convert f.csv f.buren");
    assert!(outcome.stderr.contains("in 'delay' read as null (2 values"), "{}", outcome.stderr);
    let answer = place.run_of(&["query", "f.buren", "select count(delay), avg(delay), count(note)", "--format", "csv"]);
    assert_eq!(answer.text(), "count(delay),avg(delay),count(note)\n2,4.0,4\n");
    let sniffed = place.run("sniff f.csv").text();
    assert!(sniffed.contains("in 'delay' read as null (2 values"), "{sniffed}");
    let answer = place.run_of(&["query", "f.csv", "select sum(delay)", "--format", "csv"]);
    assert!(answer.stderr.contains("in 'delay' read as null (2 values"), "{}", answer.stderr);
    assert!(!answer.stderr.contains("'day'"), "what is not read is not said: {}", answer.stderr);
}

#[test]
fn errors_of_spreadsheets_and_other_words_for_nothing_are_null() {
    let place = Place::new();
    let words = ["#DIV/0!", "#VALUE!", "#REF!", "#NUM!", "#NAME?", "[NULL]", "NIL", "NONE", "—", "–"];
    let rows: String = words.iter().map(|word| format!("3,{word}\n")).collect();
    place.write("t.csv", format!("a,b\n1,5\n2,7\n{rows}"));
    let found = place.run_of(&["query", "t.csv", "select sum(b) as s, count(b) as n", "--format", "csv"]);
    assert!(found.stderr.contains("read as null (10 values; --null '' keeps them as text)"), "{}", found.stderr);
    assert_eq!(found.text(), "s,n\n12,2\n");
}

/// For any order of values, splits and threads.
#[test]
fn the_type_does_not_depend_on_the_position_of_null_tokens() {
    let place = Place::new();
    let numbers: Vec<String> = (0..400_000).map(|number| number.to_string()).collect();
    for at in [0, 5, 200_000, 399_999] {
        let mut values = numbers.clone();
        values[at] = "NA".to_owned();
        place.write(
            "t.csv",
            format!("a,b\n{}\n", values.iter().map(|v| format!("{v},x")).collect::<Vec<_>>().join("\n")),
        );
        for threads in ["1", "3"] {
            let question = ["query", "t.csv", "select count(a), count(*)", "--format", "csv", "--threads", threads];
            assert_eq!(place.run_of(&question).text(), "count(a),count(*)\n399999,400000\n", "{at}");
        }
        // A single non-number makes all of them text.
        values[300_000] = "x".to_owned();
        place.write("t.csv", format!("a\n{}\n", values.join("\n")));
        let question = ["query", "t.csv", "select count(*) where a = 'NA'", "--format", "csv"];
        let answer = place.run_of(&question);
        assert!(!answer.stderr.contains("read as null"), "{}", answer.stderr);
        assert_eq!(answer.text(), "count(*)\n1\n", "{at}");
    }
}

#[test]
fn options_say_which_fields_are_null() {
    let place = place();
    for (options, counts) in [
        // Empty fields and the given tokens are null; all other words are text.
        ("--null ''", "4,4"),
        ("--null NA", "3,3"),
        ("--null NA,?", "3,2"),
        ("--null-only NA", "3,3"),
        ("--exact-text", "4,4"),
        ("", "2,4"),
    ] {
        let answer =
            place.shell(&format!("$BRC query f.csv {options} 'select count(delay), count(note)' --format csv"));
        assert_eq!(answer.code, Some(0), "{options}: {}", answer.stderr);
        assert_eq!(answer.text().lines().nth(1), Some(counts), "{options}");
    }
    place.write("e.csv", "a,b\n,x\nNA,y\n");
    let count =
        |options: &str| place.shell(&format!("$BRC query e.csv {options} 'select count(a)' --format csv")).text();
    assert_eq!(count("--null NA"), "count(a)\n0\n");
    assert_eq!(count("--null-only NA"), "count(a)\n1\n");
    let both = place.shell("$BRC query e.csv --null NA --null-only x 'select count(a)'");
    assert_eq!(both.code, Some(2), "{}", both.stderr);
}

/// A query that is invalid for numbers is bound again for text.
#[test]
fn null_tokens_can_be_queried_as_text() {
    let place = place();
    for (question, expected) in [
        ("select carrier where delay = 'NA'", "carrier\nB6\n"),
        ("select carrier where delay like 'N%'", "carrier\nB6\n"),
        ("select upper(late) as l where carrier = 'B6'", "l\nNULL\n"),
        ("select carrier where delay is null", "carrier\nB6\nDL\n"),
    ] {
        assert_eq!(place.run_of(&["query", "f.csv", question, "--format", "csv"]).text(), expected, "{question}");
    }
    let outcome = place.run_of(&["query", "f.csv", "select avg(delay) where delay = 'x'"]);
    assert!(outcome.code == Some(2) && outcome.stderr.contains("is of type int64"), "{}", outcome.stderr);
}

/// A column is not compared as text only because some of its values are null.
#[test]
fn only_comparisons_with_null_tokens_make_a_column_text() {
    let place = place();
    place.write("d.csv", "id,delay,day\n1,9,2023-01-01\n2,100,2024-01-01\n3,NA,N/A\n4,20,2024-02-01\n");
    let without_quotes = "is of type int64, but is compared with a string; write numbers without quotes";
    for (question, message) in [
        ("select * where delay > '10'", without_quotes),
        ("select * where delay > 'NA'", without_quotes),
        ("select max(delay) where delay <> '9'", without_quotes),
        ("select * where delay = '9' or delay is null", without_quotes),
        ("select * where delay between '1' and '9'", without_quotes),
        ("select * where day > 'soon'", "is not a date"),
        ("select * where day >= '2024'", "is not a date"),
        ("select coalesce(delay, 'none')", "cannot be combined"),
        ("select id having max(delay) > '10' group by id", "found"),
        ("select * where delay > '10' and upper(day) = 'N/A'", without_quotes),
    ] {
        place.run_of(&["query", "d.csv", question]).fails_with(2, message);
    }
    for (question, expected) in [
        ("select id where delay in ('9', 'NA')", "id\n1\n3\n"),
        ("select id where delay not in ('NA')", "id\n1\n2\n4\n"),
        ("select id where delay <> 'NA'", "id\n1\n2\n4\n"),
        ("select id where delay = '9' or delay = 'NA'", "id\n1\n3\n"),
        (
            "select case delay when '9' then 'few' when 'NA' then 'none' else 'many' end as n limit 3",
            "n\nfew\nmany\nnone\n",
        ),
        ("select id where upper(day) = 'N/A' and delay is null", "id\n3\n"),
        ("select sum(delay) as s where day = 'N/A' or id = 2", "s\n100\n"),
    ] {
        assert_eq!(place.run_of(&["query", "d.csv", question, "--format", "csv"]).text(), expected, "{question}");
    }
}

#[test]
fn nan_is_a_number_among_decimals_only() {
    let place = Place::new();
    for (values, expected) in [
        ("1\nNaN\n3", "int64"),
        ("1.5\nNaN\n3", "float64"),
        ("2024-01-01\nNaN\n", "date"),
        ("NaN\n\nNaN", "float64"),
        ("NaN\n1e300", "float64"),
    ] {
        place.write("t.csv", format!("a\n{values}\n"));
        let schema = place.run("schema t.csv --header yes").text();
        assert_eq!(schema.lines().nth(2).and_then(|line| line.split_whitespace().nth(1)), Some(expected), "{values}");
    }
}

#[test]
fn the_files_of_a_table_agree_on_what_is_null() {
    let place = Place::new();
    place.write("1.csv", "a,b\n1,x\nNA,y\n");
    place.write("2.csv", "a,b\nNA,x\nN/A,y\n");
    let answer = place.run_of(&["query", "1.csv", "2.csv", "select count(a), count(*)", "--format", "csv"]);
    assert!(answer.stderr.contains("'N/A' and 'NA' in 'a' read as null (3 values"), "{}", answer.stderr);
    assert_eq!(answer.text(), "count(a),count(*)\n1,4\n");
    // A word makes the column text in both files.
    place.write("2.csv", "a,b\nNA,x\nword,y\n");
    let answer = place.run_of(&["query", "1.csv", "2.csv", "select count(a), count(*)", "--format", "csv"]);
    assert_eq!(answer.text(), "count(a),count(*)\n4,4\n");
}

/// The error about the mean of a text column names the value that makes it text.
#[test]
fn errors_name_the_value_that_makes_a_column_text() {
    let place = Place::new();
    let rows = |rows: std::ops::Range<u32>| rows.map(|row| format!("{},{row}\n", row % 7)).collect::<String>();
    place.write("t.csv", format!("# made by hand\nk,x y\n{}1,abc\n2,NA\n{}3,de\n", rows(0..200_000), rows(0..5)));
    place.shell("gzip -k t.csv").ok();
    let expected = "'x y' is text because of 'abc' (2 of 200,007 values, line 200,003); use try_cast(\"x y\" as int64), or \
                    brc convert --type 'x y=int64' --rejects FILE";
    for question in [
        "select avg(\"x y\")",
        "select sum(\"x y\" + 1)",
        "select count(*) where \"x y\" > 5",
        "select k where \"x y\" = k",
        "select stddev(\"x y\") group by k",
    ] {
        for file in ["t.csv", "t.csv.gz"] {
            let outcome = place.run_of(&["query", file, question]);
            assert!(outcome.code == Some(2) && outcome.stderr.contains(expected), "{question}: {}", outcome.stderr);
        }
    }
    let piped = place.shell("cat t.csv | $BRC query - 'select avg(\"x y\")'");
    assert!(piped.stderr.contains(expected), "{}", piped.stderr);
    let answer =
        place.run_of(&["query", "t.csv", "select count(try_cast(\"x y\" as int64))", "--format", "csv"]).text();
    assert_eq!(answer.lines().nth(1), Some("200005"));
    // A column of text only has no such value.
    place.write("w.csv", "k,w\n1,Oslo\n2,5\n3,Rome\n");
    let outcome = place.run_of(&["query", "w.csv", "select avg(w)"]);
    assert!(!outcome.stderr.contains("because of"), "{}", outcome.stderr);
    place.write("d.csv", "k,d\n1,2024-01-01\n2,soon\n3,2024-01-03\n");
    let outcome = place.run_of(&["query", "d.csv", "select year(d)"]);
    let expected = "'d' is text because of 'soon' (1 of 3 values, line 3); use try_cast(d as date)";
    assert!(outcome.stderr.contains(expected), "{}", outcome.stderr);
}

/// `\N` is null in the texts of MySQL and PostgreSQL, whether or not other fields have escapes.
#[test]
fn an_unquoted_backslash_n_is_null_besides_escapes() {
    let place = Place::new();
    place.write("m.csv", "1,\"O\\\"Reilly\",\\N\n2,\"Smith\",5\n3,\\N,\"\\N\"\n");
    place.run("convert m.csv m.buren").ok();
    for file in ["m.csv", "m.buren"] {
        let query = "select count(column_2) as names, count(column_3) as n, max(column_3) as most";
        let answer = place.run_of(&["query", file, query, "--format", "csv"]).text();
        assert_eq!(answer, "names,n,most\n2,1,5\n", "{file}");
    }
    let given =
        place.run_of(&["query", "m.csv", "--null", "-", "select count(column_2) as n", "--format", "csv"]).text();
    assert_eq!(given, "n\n3\n");
}

#[test]
fn a_null_in_a_column_that_is_not_null_is_called_so() {
    let place = Place::new();
    place.write("t.csv", "a,b\nx,1\n,2\ny,\n");
    let query = |schema: &str| place.run_of(&["query", "t.csv", "--schema", schema, "select *"]);
    let expected = "t.csv: line 3, byte 8, column 'a': null in a column that is not null";
    query("a:string not null,b:int64").fails_with(3, expected);
    query("a:string,b:int64 not null").fails_with(3, "line 4, byte 11, column 'b': null in a column that is not null");
    query("a:string,b:float64 not null").fails_with(3, "column 'b': null in a column that is not null");
}
