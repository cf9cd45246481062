//! Columns of any name can be given, asked and shown.

#![allow(clippy::unwrap_used)]

mod common;

use common::Place;

/// Names with all that means something in an option.
const SCHEMA: &str = r#""a ""b"", c":string,"max(x), y":decimal(1),-5 <:decimal(1)"#;

#[test]
fn quoted_names_are_taken_everywhere() {
    let place = Place::new();
    place.write("t.txt", "k;1.5;-6.0\nk;2.5;-7.0\nl;0.5;3.0\n");
    let encodings = ["csv", "buren", "parquet", "arrow", "capnp", "capnp-packed", "protobuf", "bincode", "msgpack"];
    for encoding in encodings.into_iter().chain(["cbor", "json"]) {
        let file = format!("t.{encoding}");
        place.run_of(&["convert", "t.txt", &file, "--to", encoding, "--schema", SCHEMA]).ok();
        let mut question = vec!["query", &file, "--by", r#""a ""b"", c""#];
        question.extend(["--agg", r#"max("max(x), y"),count("a ""b"", c"),min("-5 <")"#]);
        question.extend(["--where", r#"-5 > "-5 <" and "a ""b"", c" != 'x'"#, "--order-by", r#"max("max(x), y") desc"#]);
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
    assert_eq!(ask("--by", "-a").text(), "{k=-6.0/-6.0/-6.0, l=3.0/3.0/3.0}\n");
    ask("--agg", "-b").fails_with(2, "'-b' is not a number");
    ask("--order-by", "-b").fails_with(2, "'-b' is not a number");
}

#[test]
fn what_is_wrong_with_a_list_of_names_is_told() {
    let place = Place::new();
    place.write("t.txt", "k;-6.0\n");
    for (list, reason) in [
        ("a,\"b", "missing closing \" of \"b"),
        ("\"a\" b", "expected ',' or the end after the quoted name, found 'b'"),
        ("a,,b", "a name is empty"),
    ] {
        place.run_of(&["query", "t.txt", "--by", list]).fails(2, &format!("brc: --by {list}: {reason}"));
    }
}

#[test]
fn rows_are_counted_by_any_column() {
    let place = Place::new();
    place.write("t.txt", "k;1.0\nl;2.0\nk;3.0\n");
    place.run("convert t.txt t.buren --schema s:string,x:decimal(1)").ok();
    for more in ["", " --no-statistics"] {
        let question = format!("query t.buren --agg count(s),count(x),max(x),count() --by s --format csv{more}");
        assert_eq!(
            place.run(&question).text(),
            "s,count(s),count(x),max(x),count()\nk,2,2,3.0,2\nl,1,1,2.0,1\n"
        );
    }
    place.run("query t.buren --agg sum(s)").fails(2, "brc: sum(s) needs a column of numbers");
}
