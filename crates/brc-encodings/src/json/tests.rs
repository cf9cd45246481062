use super::*;
use crate::encoding::read_all;
use crate::output::OutputOptions;
use crate::text::testing::{self, Outcome, file, same, stream};
use crate::text::{BadRow, LONGEST_LINE};
use crate::{Output, RejectLog, convert};
use brc_compress::Compressor;
use brc_core::{Batch, Column, Data, Dictionary, Integers, LogicalType, PartEncoder, Progress, decimal};
use brc_testing::{Cell, collect};
use column::JsonColumn;
use proptest::prelude::*;
use row::Row;
use serde_json::value::RawValue;
use shape::Shapes;
use std::collections::BTreeMap;
use std::path::Path;

/// The values of a line, as [`testing::read`] shows them; none for an empty line.
fn shown(line: &[u8], schema: &Schema) -> std::result::Result<Vec<String>, BadRow> {
    let types = Columns::given(schema.clone(), true).types();
    if line.iter().all(|byte| syntax::is_space(*byte)) {
        return Ok(Vec::new());
    }
    if let Some((column, fault)) = row::fault_of(line, &types, false) {
        return Err(BadRow { column, fault });
    }
    let mut row = Row::default();
    row.read(line, (0, syntax::skip_spaces(line, 0)), &types, false)?;
    let value = |(number, field): (usize, &brc_core::Field)| {
        let member = row.numbers.iter().position(|&other| other == number).map(|index| &row.members[index]);
        match member {
            None => "null".to_owned(),
            Some(member) if member.kind == syntax::ValueKind::Null => "null".to_owned(),
            Some(member) => match value::read(line, member, field.logical_type).unwrap() {
                value::Value::Null => unreachable!(),
                value::Value::Bytes(bytes) => bytes.escape_ascii().to_string(),
                value::Value::Integer(number) => number.to_string(),
                value::Value::Float(number) => format!("{number:?}"),
            },
        }
    };
    Ok(schema.fields().iter().enumerate().map(value).collect())
}

/// Whether the line-based definition applies: no line has two objects, and no object goes on below its first line.
fn is_by_lines(text: &str) -> bool {
    let has_two = |line: &str| line.split('}').skip(1).any(|after| after.trim_start().starts_with('{'));
    let goes_on = |line: &str| line.trim_start().starts_with('{') && !line.contains('}');
    !text.lines().any(|line| has_two(line) || goes_on(line))
}

fn parse(line: &[u8]) -> std::result::Result<Vec<String>, BadRow> {
    shown(line, &Schema::one_brc())
}

fn read(input: Input, options: &OpenOptions, threads: usize) -> Outcome {
    testing::read(&Json, input, options, threads)
}

fn options(split_bytes: u64, keep_rejects: bool) -> OpenOptions {
    testing::options(&Schema::one_brc(), split_bytes, keep_rejects)
}

fn sweep(text: &[u8], keep_rejects: bool, sizes: impl Iterator<Item = u64>) {
    testing::sweep(&Json, &Schema::one_brc(), parse, text, keep_rejects, sizes);
}

/// The columns of a schema with a projection.
fn columns_of(schema: &Schema, projection: &[usize]) -> Vec<JsonColumn> {
    let types = Columns::given(schema.clone(), true).types();
    let column =
        |(number, kind): (usize, &columns::Column)| JsonColumn::new(*kind, projection.contains(&number), false);
    types.columns.iter().enumerate().map(column).collect()
}

/// Parses a row by the shape of a different row: its length, and its values.
fn shaped(like: &[u8], text: &[u8], schema: &Schema, projection: &[usize]) -> Option<(usize, Vec<String>)> {
    let mut columns = columns_of(schema, projection);
    let (mut row, mut shapes) = (Row::default(), Shapes::default());
    let types = Columns::given(schema.clone(), true).types();
    row.read(like, (0, 0), &types, false).unwrap();
    shapes.learn(like, &row.members, &row.numbers, &columns);
    let length = shapes.read(text, &mut columns, 0)?;
    let value = |column: &JsonColumn| match column.as_column().data {
        Data::Integers(values) if values.is_empty() => "skipped".to_owned(),
        Data::Integers(values) => values.get(0).to_string(),
        Data::Codes { dictionary, .. } if dictionary.is_empty() => "null".to_owned(),
        Data::Codes { codes, dictionary } => dictionary.get(codes[0]).escape_ascii().to_string(),
        Data::Floats(values) => format!("{:?}", values[0]),
        Data::Runs { .. } | Data::Bytes(_) => unreachable!(),
    };
    Some((length, columns.iter().map(value).collect()))
}

const TEXTS: &[&str] = &[
    "",
    "{\"station\":\"a\",\"temperature\":1.0}",
    "{\"station\":\"a\",\"temperature\":1.0}\n{\"station\":\"b\",\"temperature\":-2}\n",
    "{\"station\": \"a\", \"temperature\": 1.0}\r\n{\"temperature\":1e1,\"station\":\"b\\n\"}\r\n{\"station\":\"b\\\\n\",\"temperature\":2}",
    "{\"station\":\"S\u{e3}o Paulo\",\"temperature\":25.0}\n\n \n{\"station\":\"x\",\"temperature\":null}\n[]\n",
    "{\"station\":\"\",\"temperature\":0.05}\n{\"station\":\"\",\"temperature\":922337203685477580.8}\n{\"temperature\":1}\n",
    "\n\n\n",
];

#[test]
fn rows_do_not_depend_on_split_bounds() {
    for text in TEXTS {
        for keep_rejects in [false, true] {
            sweep(text.as_bytes(), keep_rejects, 1..=text.len() as u64 + 2);
        }
    }
}

#[test]
fn rows_do_not_depend_on_threads() {
    let mut text = String::new();
    for row in 0..20_000 {
        let name = row % 300;
        text += &match row % 1009 {
            1008 => format!("{{\"station\":\"{name}\",\"temperature\":1.x}}\n"),
            500 => format!("{{\"station\":\"\\u00e9{name}\",\"temperature\":{row}e-1}}\n"),
            _ => format!("{{\"station\":\"station {name}\",\"temperature\":{}.5}}\n", row % 80),
        };
    }
    let text = text.as_bytes();
    for keep_rejects in [false, true] {
        let expected = testing::oracle(text, keep_rejects, parse);
        for threads in 1..=8 {
            same(read(file(text), &options(10_000, keep_rejects), threads), &expected, "file");
            same(read(stream(text, 5000), &options(10_000, keep_rejects), threads), &expected, "stream");
        }
    }
}

#[test]
fn any_valid_json_is_read() {
    let schema = Schema::parse("name:string,price:decimal(2),count:int").unwrap();
    let cases: &[(&str, [&str; 3])] = &[
        (r#"{"name":"pen","price":1.50,"count":3}"#, ["pen", "150", "3"]),
        (r#" { "count" : 30e-1 , "name" : "" , "price" : 2 } "#, ["", "200", "3"]),
        (r#"{"n\u0061me":"\uD83D\uDE00\u0000\/\"\\","price":-0.0,"count":-1e2}"#, ["\u{1f600}\0/\"\\", "0", "-100"]),
        ("\t{\"name\":\"\u{fc}\\t\",\r\"price\":1.500,\"count\":0}\r", ["\u{fc}\t", "150", "0"]),
    ];
    for (line, expected) in cases {
        let expected = expected.map(|value| value.as_bytes().escape_ascii().to_string());
        assert_eq!(shown(line.as_bytes(), &schema).unwrap(), expected, "{line}");
    }
}

#[test]
fn malformed_rows_report_error_and_column() {
    let cases: &[(&[u8], Option<usize>, &str)] = &[
        (b"[1]", None, "not a JSON object"),
        (b"  \"station\": \"a\",", None, "not a JSON object"),
        (b"{", None, "the JSON object does not end"),
        (b"{\"station\":\"a\",", None, "the JSON object does not end"),
        (b"{\"station\":\"a", Some(0), "the JSON object does not end"),
        (
            b"{\"station\":\"a\" \"temperature\":1}",
            None,
            "malformed JSON at byte 16 of the object: expected `,` or `}`",
        ),
        (
            b"{\"station\":\"a\",\"temperature\":1}}",
            None,
            "malformed JSON at byte 32 of the object: trailing characters",
        ),
        (b"{\"station\":\"a\",\"temperature\":1,}", None, "malformed JSON at byte 32 of the object: trailing comma"),
        (b"{\"station\":\"a\",\"temperature\":NaN}", Some(1), "a number in a column of type decimal(18,1)"),
        (b"{\"station\":\"a\",\"temperature\":-Infinity}", Some(1), "a number in a column of type decimal(18,1)"),
        // Text that is not JSON is reported as such, whatever its columns are.
        (b"{\"x\":1,\"station\":\"a\",}", None, "malformed JSON at byte 22 of the object: trailing comma"),
        (b"{\"x\":1,\"y\":1}}", None, "malformed JSON at byte 14 of the object: trailing characters"),
        (b"{\"station\":\"a\",\"temperature\":01}", Some(1), "malformed JSON at byte 31 of the object: invalid number"),
        (b"{\"station\":\"a\",\"temperature\":1.}", Some(1), "malformed JSON at byte 32 of the object: invalid number"),
        (b"{\"station\":\"a\xff\",\"temperature\":1}", None, "malformed JSON at byte 14 of the object: not UTF-8"),
        (
            b"{\"station\":\"a\x01\",\"temperature\":1}",
            Some(0),
            "malformed JSON at byte 14 of the object: control character in a string",
        ),
        (b"{\"station\":\"\\uD83D\",\"temperature\":1}", Some(0), "malformed string: half of a surrogate pair"),
        (b"{\"station\":\"a\",\"temperature\":1,\"x\":[{}]}", None, "no column is named 'x'"),
        (b"{\"station\":\"a\",\"station\":\"b\",\"temperature\":1}", Some(0), "named twice in the row"),
        (b"{\"station\":\"a\"}", Some(1), "missing"),
        (b"{}", Some(0), "missing"),
        (b"{\"station\":null,\"temperature\":1}", Some(0), "null in a column of type string"),
        (b"{\"station\":1,\"temperature\":1}", Some(0), "a number in a column of type string"),
        (b"{\"station\":\"a\",\"temperature\":\"1\"}", Some(1), "a string in a column of type decimal(18,1)"),
        (b"{\"station\":\"a\",\"temperature\":true}", Some(1), "a boolean in a column of type decimal(18,1)"),
        (b"{\"station\":\"a\",\"temperature\":[1]}", Some(1), "an array in a column of type decimal(18,1)"),
        (b"{\"station\":\"a\",\"temperature\":{}}", Some(1), "an object in a column of type decimal(18,1)"),
        (b"{\"station\":\"a\",\"temperature\":1.25}", Some(1), "'1.25' has more than 1 decimal"),
        (b"{\"station\":\"a\",\"temperature\":1e-2}", Some(1), "'1e-2' has more than 1 decimal"),
        (b"{\"station\":\"a\",\"temperature\":1e18}", Some(1), "number '1e18' does not fit 64 bits"),
    ];
    let schema = Schema::one_brc();
    let objects = Objects { columns: Arc::new(Columns::given(schema.clone(), true)) };
    for (line, column, message) in cases {
        let context = line.escape_ascii();
        let (found, fault) = objects.explain(line, &schema).unwrap();
        assert_eq!((found, fault.to_string().as_str()), (*column, *message), "{context}");
        let text = [b"{\"station\":\"a\",\"temperature\":1.0}\n", *line, b"\n"].concat();
        let error = read(file(&text), &options(1 << 20, false), 1).unwrap_err();
        assert!(error.contains("line 2, byte 34") && error.ends_with(message), "{context}: {error}");
        sweep(&text, true, [1, 40, 1 << 20].into_iter());
    }
    assert_eq!(objects.explain(b"{\"temperature\":1,\"station\":\"\"}", &schema), None);
}

#[test]
fn only_malformed_rows_report_the_first_error() {
    for (line, message) in [
        (r#"{"a":1,"b":"x","a":2}"#, "column 'a': named twice in the row"),
        (r#"{"a":1,"b":"x",}"#, "malformed JSON at byte 16 of the object: trailing comma"),
        (r#"{"a":1,"b":Nan}"#, "malformed JSON at byte 14 of the object: expected value"),
    ] {
        let options = OpenOptions { schema: None, ..options(1 << 20, false) };
        let found = read(file(format!("{line}\n{line}\n").as_bytes()), &options, 1).unwrap_err();
        let expected = "line 1, byte 0";
        assert!(found.contains(expected) && found.ends_with(message), "{found}");
    }
}

#[test]
fn an_overlong_line_is_a_malformed_row() {
    for length in [LONGEST_LINE - 33, LONGEST_LINE - 32, 2 * LONGEST_LINE] {
        for end in ["\r\n", ""] {
            let name = "x".repeat(length);
            let line = format!("{{\"station\":\"{name}\",\"temperature\":1.0}}");
            let text = format!("{{\"station\":\"a\",\"temperature\":1.0}}\n{line}{end}");
            for size in [1 << 18, 1 << 30] {
                let (rows, rejects) = read(file(text.as_bytes()), &options(size, true), 1).unwrap();
                let good = line.len() <= LONGEST_LINE;
                assert_eq!((rows.len(), rejects.len()), (1 + usize::from(good), usize::from(!good)), "{length}");
            }
        }
    }
}

#[test]
fn rows_of_a_known_shape_equal_parsed_rows() {
    let schema = "name:string,price:decimal(2),a key of more than sixteen \"bytes\":int,at:date,f:float64,b:bool";
    let schema = Schema::parse(schema).unwrap();
    let key = r#""a key of more than sixteen \"bytes\"""#;
    let like = format!(r#"{{"name":"pen","price":1.50,{key}:-7,"at":"1970-01-02","f":0.5,"b":true}}"#);
    let everything: Vec<usize> = (0..6).collect();
    for (row, has_shape) in [
        (like.clone(), true),
        (
            format!(
                r#"{{"name":"","price":12345678.9,{key}:-9223372036854775808,"at":"2024-02-29","f":1e300,"b":false}}"#
            ),
            true,
        ),
        (format!(r#"{{"name":null,"price":null,{key}:null,"at":null,"f":null,"b":null}}"#), true),
        (like.replace(',', ", "), false),
        (like.replace("pen", "\\n"), false),
        (like.replace("1.50", "1e0"), false),
        (like.replace("1.50", "01.5"), false),
        (like.replace("1.50", ".5"), false),
        (like.replace("1.50", "-.5"), false),
        (like.replace("1.50", "1.505"), false),
        (like.replace("1970-01-02", "1970-02-30"), false),
        (like.replace("0.5", ".5"), false),
        (like.replace("true", "True"), false),
        (like.replace("true}", "true} "), false),
    ] {
        for end in ["\n", "\r\n"] {
            let text = format!("{row}{end}{}", "more".repeat(20));
            let expected = has_shape.then(|| shown(row.as_bytes(), &schema).unwrap());
            let expected = expected.map(|values| values.iter().map(|it| it.replace("null", "")).collect::<Vec<_>>());
            let found = shaped(like.as_bytes(), text.as_bytes(), &schema, &everything);
            match (row.contains("null"), found) {
                // The value under a null does not matter.
                (true, found) => assert_eq!(found.map(|found| found.0), Some(row.len() + end.len())),
                (false, found) => assert_eq!(found, expected.map(|values| (row.len() + end.len(), values)), "{row}"),
            }
        }
    }
}

#[test]
fn escaped_strings_are_distinguished() {
    // When the second row of each pair comes, the interner has the first one, whose bytes up to a quote are the same.
    let text = br#"{"station":"a\\","temperature":1.0}
{"station":"a\","temperature":1.0}
{"station":"a\\nb","temperature":1.0}
{"station":"a\nb","temperature":1.0}
{"station":"\u00e9","temperature":1.0}
{"station":"\\u00e9","temperature":1.0}
{"station":"a\nb","temperature":1.0}
"#;
    sweep(text, true, [1, 1 << 20].into_iter());
    let (rows, rejects) = read(file(text), &options(1 << 20, true), 1).unwrap();
    assert_eq!((rows.len(), rejects.len()), (6, 1));
    let raw = b"{\"station\":\"a\\nb\",\"temperature\":1.0}\n{\"station\":\"a\nb\",\"temperature\":1.0}\n";
    assert_eq!(read(file(raw), &options(1 << 20, true), 1).unwrap().0.len(), 1);
}

#[test]
fn unprojected_columns_are_checked_too() {
    let schema = Schema::one_brc();
    for projection in [vec![], vec![0], vec![1]] {
        for (text, good) in [
            ("{\"station\":\"a\",\"temperature\":1.0}\n".as_bytes(), true),
            (b"{\"station\":\"a\xff\",\"temperature\":1.0}\n", false),
            (b"{\"station\":\"a\x01\",\"temperature\":1.0}\n", false),
            (b"{\"station\":\"a\\x\",\"temperature\":1.0}\n", false),
            (b"{\"station\":\"a\",\"temperature\":1.05}\n", false),
            (b"{\"station\":\"a\",\"temperature\":01.0}\n", false),
        ] {
            let text = [text, &[b' '; 64]].concat();
            let like = b"{\"station\":\"x\",\"temperature\":2.0}";
            let found = shaped(like, &text, &schema, &projection);
            assert_eq!(found.is_some(), good, "{projection:?} of {:?}", text.escape_ascii().to_string());
        }
    }
}

/// The columns of a text after all of it was read, and its rows.
fn inferred(input: Input, split_bytes: u64, threads: usize) -> std::result::Result<(String, testing::Rows), String> {
    let options = OpenOptions { row_group_bytes: Some(split_bytes), ..OpenOptions::default() };
    let table = Json.open(input, &options).map_err(|error| error.to_string())?;
    read_all(table.as_ref(), threads, &Progress::default()).map_err(|error| error.to_string())?;
    let schema = table.inferred().unwrap();
    let mut columns = schema.to_string();
    for column in schema.unsupported_columns() {
        columns += &format!(" without {}", column.name);
    }
    Ok((columns, testing::read_table(table.as_ref(), threads)?.0))
}

/// The rows of a text, read in every way.
fn rows_of(text: &str) -> std::result::Result<(String, testing::Rows), String> {
    let expected = inferred(file(text.as_bytes()), 1 << 20, 1);
    let length = text.len() as u64;
    for size in [1, 7, 20, length / 2 + 1, length + 1] {
        for threads in [1, 3] {
            assert_eq!(inferred(file(text.as_bytes()), size, threads), expected, "splits of {size} bytes of {text}");
            let stream = stream(text.as_bytes(), 1 + size as usize % 9);
            let from_stream = inferred(stream, size, threads).map_err(|error| error.replacen('-', "test", 1));
            assert_eq!(from_stream, expected, "a stream in splits of {size} bytes of {text}");
        }
    }
    expected
}

/// The inferred type of a column with these values.
fn type_of(values: &str) -> String {
    let text: String = values.split(';').map(|value| format!("{{\"a\":{value}}}\n")).collect();
    rows_of(&text).unwrap().0.strip_prefix("a:").unwrap().to_owned()
}

#[test]
fn types_hold_all_values() {
    for (values, logical_type) in [
        ("true;false", "bool"),
        ("null", "string"),
        ("null;1", "int64"),
        ("9223372036854775807;-1", "int64"),
        ("9223372036854775808;1", "uint64"),
        ("9223372036854775808;-1", "decimal(38,0)"),
        ("18446744073709551616;1", "decimal(38,0)"),
        ("99999999999999999999999999999999999999", "decimal(38,0)"),
        ("123456789012345678901234567890123456789;1", "string"),
        ("1.5;12345678901234567890", "decimal(38,1)"),
        ("0.1234567890123456789", "decimal(38,19)"),
        ("1.25;4.1e26", "float64"),
        ("1.25;4.1E+26;-0;1E5;0.1e-7;1.0", "float64"),
        ("1e400;1", "string"),
        ("12345678901234567;1e5", "string"),
        ("1;NaN", "float64"),
        ("-Infinity;null", "float64"),
        ("1;\"NaN\";\"Infinity\";\"-Infinity\"", "float64"),
        ("\"NaN\";\"x\"", "string"),
        ("\"NaN\"", "string"),
        ("1;\"123\"", "string"),
        ("\"123\";\"456\"", "string"),
        ("\"true\"", "string"),
        ("true;1", "string"),
        ("1;1.5;2.25;null", "decimal(18,2)"),
        ("\"2024-02-29\";\"1969-12-31\"", "date"),
        ("\"2024-02-29\";\"\"", "string"),
        ("\"23:59:59\";\"00:00:00.5\"", "time(ms)"),
        ("\"12:30\"", "string"),
        ("\"2024-02-29T10:00:00\";\"2024-02-29 10:00:00.123456\"", "timestamp"),
        ("\"2024-02-29T10:00:00Z\";\"2024-02-29 10:00:00+02\"", "timestamp(s) with zone"),
        ("\"2024-02-29\";1", "string"),
        ("\"2024\\u002d02-29\"", "date"),
        ("1;{\"b\":1}", "string"),
        ("[1,2];\"x\"", "string"),
    ] {
        assert_eq!(type_of(values), logical_type, "{values}");
    }
}

#[test]
fn columns_of_only_nested_values_are_unsupported() {
    let (columns, rows) = rows_of("{\"a\":1,\"v\":{\"x\":[1,{}]},\"w\":null}\n{\"w\":[],\"a\":2}\n").unwrap();
    assert_eq!(
        (columns.as_str(), rows),
        ("a:int64 without v without w", vec![vec!["1".to_owned()], vec!["2".to_owned()]])
    );
    let error = rows_of("{\"v\":[]}\n").unwrap_err();
    assert_eq!(error, "test: its only column 'v' is a list or an object, which brc does not read");
    // Among other values, they are strings of their JSON.
    let (columns, rows) =
        rows_of("{\"v\":{ \"x y\" : \"\\\"  \" , \"z\":[1,\n 2]}}\n{\"v\":1.50}{\"v\":true}\n").unwrap();
    let expected = [r#"{\"x y\":\"\\\"  \",\"z\":[1,2]}"#, "1.50", "true"].map(|value| vec![value.to_owned()]);
    assert_eq!((columns.as_str(), rows), ("v:string", expected.to_vec()));
}

#[test]
fn late_keys_become_columns() {
    let mut text = "{\"a\":1}\n".repeat(40);
    text += "{\"c\":\"x\",\"a\":2}\n{\"a\":3,\"b\":true}\n";
    text += &"{\"b\":false,\"a\":4,\"c\":null}\n".repeat(40);
    text += "{\"a\":5,\"\":1}\n";
    let (columns, rows) = rows_of(&text).unwrap();
    assert_eq!(columns, "a:int64,c:string,b:bool,column_4:int64");
    let row = |index: usize| rows[index].join(" ");
    assert_eq!(rows.len(), 83);
    assert_eq!(
        [row(0), row(40), row(41), row(42), row(82)],
        ["1 null null null", "2 x null null", "3 null 1 null", "4 null 0 null", "5 null null 1"]
    );
    // After the sampled rows.
    let many = format!("{}{{\"a\":2,\"z\":1.5}}\n", "{\"a\":1}\n".repeat(20_000));
    for (size, threads) in [(1 << 20, 1), (10_000, 4)] {
        for input in [file(many.as_bytes()), testing::pipe(many.as_bytes(), 5000)] {
            let (columns, rows) = inferred(input, size, threads).unwrap();
            assert_eq!(
                (columns.as_str(), rows[0].join(" "), rows[20_000].join(" ")),
                ("a:int64,z:decimal(18,1)", "1 null".to_owned(), "2 15".to_owned())
            );
        }
    }
}

#[test]
fn blank_lines_are_not_rows() {
    let (columns, rows) = rows_of("\n{\"a\":1}\n\n  \t\r\n{}\n{\"a\":2}\n\n").unwrap();
    assert_eq!((columns.as_str(), rows.concat()), ("a:int64", ["1", "null", "2"].map(str::to_owned).to_vec()));
}

#[test]
fn the_one_brc_table_keeps_its_schema() {
    let row = "{\"station\":\"a\",\"temperature\":1.5}\n";
    assert_eq!(rows_of(row).unwrap().0, Schema::one_brc().to_string());
    let late = format!("{}{{\"station\":null,\"temperature\":1}}\n", row.repeat(3000));
    assert_eq!(inferred(file(late.as_bytes()), 1000, 2).unwrap().0, "station:string,temperature:decimal(18,1)");
}

#[test]
fn objects_in_any_layout_are_read() {
    let expected =
        inferred(file(b"{\"a\":1,\"b\":\"x,]}\"}\n{\"a\":2,\"b\":\"\\\"\\\\\"}\n{\"a\":3}\n"), 1 << 20, 1).unwrap();
    for text in [
        "[{\"a\":1,\"b\":\"x,]}\"},{\"a\":2,\"b\":\"\\\"\\\\\"},{\"a\":3}]",
        "[\n\t{\"a\":1,\"b\":\"x,]}\"},\n\t{\"a\":2,\"b\":\"\\\"\\\\\"},\n\t{\"a\":3}\n]\n",
        "\u{feff} [ {\"a\":1,\"b\":\"x,]}\"}\r\n, {\"a\":2,\"b\":\"\\\"\\\\\"}\r\n,{\"a\":3}\r\n]\r\n\r\n",
        "[\n  {\n    \"a\": 1,\n    \"b\": \"x,]}\"\n  },\n  {\n    \"a\": 2,\n    \"b\": \"\\\"\\\\\"\n  },\n  {\n    \"a\": 3\n  }\n]",
        "{\n  \"a\": 1,\n  \"b\": \"x,]}\"\n}\n{\n  \"a\": 2,\n  \"b\": \"\\\"\\\\\"\n}\n{\n  \"a\": 3\n}\n",
        "{\"a\":1,\"b\":\"x,]}\"} {\"a\":2,\"b\":\"\\\"\\\\\"}{\"a\":3}",
        "{\"a\":1,\"b\":\"x,]}\"}\n{\"a\":2,\"b\":\"\\\"\\\\\"}\t{\"a\":3}\n",
        "{\"a\":1,\"b\":\n\"x,]}\"}\n\n\n{\"a\":2,\"b\":\"\\\"\\\\\"}\n\n{\"a\":3}",
    ] {
        assert_eq!(rows_of(text).unwrap(), expected, "{text}");
    }
    let none = rows_of("[]").unwrap_err();
    assert_eq!(none, "test: has no rows to infer columns from; set them with --schema");
    assert_eq!(rows_of("").unwrap_err(), none);
}

/// Rows without a byte between them that could become a line feed are also read in splits and in bounded memory.
#[test]
fn objects_without_separators_are_read() {
    let text: String = (0..2000).map(|row| format!("{{\"a\":{row},\"b\":\"}}{{\"}}")).collect();
    let (columns, rows) = rows_of(&text).unwrap();
    assert_eq!((columns.as_str(), rows.len(), rows[1999].join(" ")), ("a:int64,b:string", 2000, "1999 }{".to_owned()));
    let object = format!("{{\"a\":\"{}\"}}", "x".repeat(1 << 20));
    let long = object.repeat(LONGEST_LINE / object.len() + 2);
    for input in [file(long.as_bytes()), testing::pipe(long.as_bytes(), 1 << 18)] {
        let rows = inferred(input, 2 << 20, 2).unwrap().1;
        assert_eq!(rows.len(), long.len() / object.len());
    }
    let too_long = format!("{{\"a\":1}}{{\"a\":\"{}\"}}{{\"a\":2}}{{\"a\":3}}", "x".repeat(LONGEST_LINE));
    let options = OpenOptions { row_group_bytes: Some(1 << 20), keep_rejects: true, ..OpenOptions::default() };
    let (rows, rejects) = read(file(too_long.as_bytes()), &options, 2).unwrap();
    assert_eq!((rows.concat().join(" "), rejects.len(), rejects[0].1), ("1 2 3".to_owned(), 1, 7));
}

#[test]
fn blank_lines_do_not_count_as_a_long_row() {
    let blank = "\n".repeat(LONGEST_LINE + 9);
    for text in [format!("[{{\"a\":1}},{blank}{{\"a\":2}}]"), format!("{{\"a\":1}}{blank}{{\"a\":2}}{{\"a\":3}}")] {
        let found = inferred(file(text.as_bytes()), 1 << 20, 2).unwrap().1;
        assert_eq!(found.concat()[..2], ["1", "2"]);
    }
}

#[test]
fn an_overlong_first_row_is_reported() {
    let long = "x".repeat(LONGEST_LINE);
    for text in [format!("\n[{{\"a\":\"{long}\"}}]"), format!("\n{{\"a\":\"{long}\"}}\n{{\"a\":1}}\n")] {
        let error = inferred(file(text.as_bytes()), 1 << 20, 1).unwrap_err();
        assert_eq!(error, "test: line 2, byte 1: line longer than 16777216 bytes");
    }
}

#[test]
fn malformed_arrays_are_errors() {
    for (text, message) in [
        ("[{\"a\":1},\n{\"a\":2}\n", "line 3, byte 18: malformed JSON: the array does not end: the file is cut off"),
        ("[{\"a\":1},\n{\"a\":2", "line 2, byte 16: malformed JSON: the array does not end: the file is cut off"),
        ("[{\"a\":1},\n]\n", "line 2, byte 10: malformed JSON: a comma before the end of the array"),
        ("[{\"a\":1}]\n{\"a\":2}\n", "line 2, byte 10: malformed JSON: text after the end of the array"),
        (
            "[{\"a\":1}\n {\"a\":2}]",
            "line 2, byte 10: malformed JSON: expected `,` or `]` after an object of the array",
        ),
        ("[{\"a\":1},{\"a\":[2}},{\"a\":3}]", "line 1, byte 16: malformed JSON: a bracket ends what another one began"),
    ] {
        let error = rows_of(text).unwrap_err();
        assert!(error.starts_with(&format!("test: {message}")), "{error}");
    }
    for (text, message) in [
        (
            "[\n{\"a\":1},\n{\"a\":2,},\n{\"a\":3}\n]",
            "line 3, byte 11: malformed JSON at byte 8 of the object: trailing comma",
        ),
        ("[\n{\"a\":1},\n7,\n{\"a\":3}\n]", "line 3, byte 11: not a JSON object"),
        (
            "{\n\"a\":1\n}\n{\n\"a\":tru\n}\n",
            "line 4, byte 10, column 'a': malformed JSON at byte 10 of the object: expected value",
        ),
    ] {
        let error = rows_of(text).unwrap_err();
        assert!(error.ends_with(message), "{error}");
    }
}

/// A malformed object does not hide later ones that can be located.
#[test]
fn rejects_of_arrays_are_kept() {
    let reads = |text: &str, size| {
        let options = OpenOptions { row_group_bytes: Some(size), keep_rejects: true, ..OpenOptions::default() };
        let input = [file(text.as_bytes()), stream(text.as_bytes(), 3)];
        let [from_file, from_stream] = input.map(|input| read(input, &options, 1).unwrap());
        assert_eq!(from_file, from_stream);
        let (rows, rejects) = from_file;
        (
            rows.concat().join(" "),
            rejects.into_iter().map(|(line, _, row)| (line, String::from_utf8(row).unwrap())).collect::<Vec<_>>(),
        )
    };
    for (text, good, bad) in [
        ("[\n{\"a\":1},\n{\"a\":},\n{\"a\":3}\n]\n", "1 3", vec![(3, "{\"a\":}")]),
        ("[\n{\"a\":1},\n{\"a\":\"x},\n{\"a\":3}\n]\n", "1 3", vec![(3, "{\"a\":\"x},")]),
        ("[\n{\"a\":1},\n{\"a\":2,\n{\"a\":3}\n]\n", "1 3", vec![(3, "{\"a\":2,")]),
        (
            "[\n  {\n    \"a\": 1\n  },\n  {\n    \"a\": [2}\n  },\n  {\n    \"a\": 3\n  }\n]\n",
            "1 3",
            vec![(5, "{\n    \"a\": [2}\n  },\n")],
        ),
        ("[\n {\"a\":1},\n {\"a\":2]\n]\n", "1", vec![(3, "{\"a\":2]")]),
        ("{\n\"a\":1}\n{\n\"a\":x}\n{\n\"a\":3}\n", "1 3", vec![(3, "{\n\"a\":x}")]),
        ("{\n\"a\":1}\n{\n\"a\":3", "1", vec![(3, "{\n\"a\":3")]),
    ] {
        for size in [1, 10, 1 << 20] {
            let (rows, rejects) = reads(text, size);
            let trimmed: Vec<_> = rejects.iter().map(|(line, row)| (*line, row.trim())).collect();
            let expected: Vec<_> = bad.iter().map(|(line, row)| (*line, row.trim())).collect();
            assert_eq!((rows.as_str(), trimmed), (good, expected), "{text} in splits of {size}");
        }
    }
}

#[test]
fn deep_nesting_does_not_overflow_the_stack() {
    let deep = "[".repeat(1_000_000);
    let ends = "]".repeat(1_000_000);
    let text = format!("{{\"a\":1,\"v\":{deep}{ends}}}\n{{\"a\":2,\"v\":null}}\n");
    for text in [text.clone(), format!("[{}]", text.trim_end().replace('\n', ","))] {
        let (columns, rows) = inferred(file(text.as_bytes()), 1 << 20, 1).unwrap();
        assert_eq!((columns.as_str(), rows.concat()), ("a:int64 without v", vec!["1".to_owned(), "2".to_owned()]));
    }
    assert!(inferred(file(format!("{{\"a\":1,\"v\":{deep}}}\n").as_bytes()), 1 << 20, 1).is_err());
}

#[test]
fn duplicate_keys_are_an_error() {
    let error = rows_of("{\"a\":1}\n{\"a\":2,\"a\":3}\n").unwrap_err();
    assert_eq!(error, "test: line 2, byte 8, column 'a': named twice in the row");
    let first = "{\"a\":1}\n".repeat(20_000);
    let late = format!("{first}{{\"b\":1,\"\\u0062\":2}}\n");
    let error = read(file(late.as_bytes()), &OpenOptions::default(), 1).unwrap_err();
    assert_eq!(error, "test: line 20001, byte 160000: duplicate key 'b'");
}

#[test]
fn columns_are_inferred_from_long_first_rows() {
    let long = |bytes| format!("{{\"name\":\"{}\",\"v\":1}}\n{{\"name\":\"b\",\"v\":2}}\n", "q".repeat(bytes));
    for input in [file(long(70_000).as_bytes()), testing::pipe(long(3_000_000).as_bytes(), 5000)] {
        let (rows, rejects) = read(input, &OpenOptions::default(), 1).unwrap();
        assert_eq!((rows.len(), rejects.len()), (2, 0));
    }
}

/// Files written by this crate are read back unchanged.
#[test]
fn own_files_round_trip() {
    let schema = "b:bool,i:int64,u:uint64,d:decimal(38,20),f:float64,day:date,t:time(ns),at:timestamp(ms),z:timestamp(ns) with zone,s:string";
    let schema = Schema::parse(schema).unwrap();
    let rows = [
        "true;1;18446744073709551615;0.00000000000000000001;NaN;2024-02-29;23:59:59.000000001;1969-12-31 23:59:59.999;1970-01-01 00:00:00.000000001Z;a",
        "false;-1;0;-123456789012345678.00000000000000000000;-1e300;0001-01-01;00:00:00.000000000;9999-12-31 00:00:00.000;2000-01-01 00:00:00.000000000Z;NaN",
        ";;;;inf;;;;;",
    ];
    let field = |column: usize| (&schema.fields()[column].logical_type, column);
    let mut text = String::new();
    let writer = writer::Lines::new(&schema);
    for row in rows {
        let mut line = crate::rows::RowBuffer::default();
        for (value, (logical_type, column)) in row.split(';').zip((0..10).map(field)) {
            let (before, after) = crate::rows::RowWriter::around(&writer, column);
            line.push(&before);
            let value = Some(value).filter(|value| !value.is_empty());
            let value = value.map(|value| brc_core::Value::parse(value.as_bytes(), *logical_type).unwrap());
            crate::rows::RowWriter::value(&writer, column, value, &mut line).unwrap();
            line.push(&after);
        }
        text += std::str::from_utf8(line.as_slice()).unwrap();
    }
    assert_eq!(rows_of(&text).unwrap().0, schema.to_string());
}

/// Files written by `jq -c`, `jq -ca`, and Python's `json.dumps` in three ways.
#[test]
fn files_of_other_programs_are_read() {
    let expected: Vec<Vec<String>> = [
        ("Abha", "-230"),
        ("São Paulo", "254"),
        ("Oslo", "0"),
        ("say \"hi\"", "15"),
        ("back\\slash", "-1"),
        ("", "70"),
        ("line\nfeed\ttab", "999"),
        ("😀 sun", "120"),
        ("a/b", "33"),
        ("\u{1}\u{7f}\u{2028}", "100"),
    ]
    .map(|(name, number)| vec![name.as_bytes().escape_ascii().to_string(), number.to_owned()])
    .to_vec();
    for name in ["jq", "jq-ascii", "python", "python-utf8", "python-compact"] {
        let text = fixture(name);
        let mut found = read(file(&text), &OpenOptions::default(), 1).unwrap().0;
        if name == "python-compact" {
            found.iter_mut().for_each(|row| row.reverse());
        }
        assert_eq!(found, expected, "{name}");
    }
    // The same, with each object on several lines.
    assert_eq!(read(file(&fixture("jq-lines")), &OpenOptions::default(), 1).unwrap().0, expected);
}

fn fixture(name: &str) -> Vec<u8> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/json");
    std::fs::read(directory.join(format!("{name}.json"))).unwrap()
}

fn create() -> CreateOptions {
    CreateOptions::new(Compressor::parse("none").unwrap())
}

/// Converts a text in a temporary directory.
fn converted(from: &dyn Encoding, to: &dyn Encoding, text: &[u8], options: &OpenOptions) -> Result<(Vec<u8>, Vec<u8>)> {
    let directory = tempfile::tempdir().unwrap();
    let [target, rejects] = ["target", "rejects"].map(|name| directory.path().join(name));
    let table = from.open(file(text), options)?;
    let writer = to.create(table.schema(), &create())?;
    let output = Output::create(&target, &OutputOptions::default())?;
    let log = RejectLog::to(Output::create(&rejects, &OutputOptions::default())?, None);
    convert(table.as_ref(), writer, output, log, 3, &Progress::default())?;
    Ok((std::fs::read(target).unwrap(), std::fs::read(rejects).unwrap()))
}

#[test]
fn csv_round_trips() {
    use crate::csv::Csv;
    let csv = "Abha;-23.0\nS\u{e3}o \"Paulo\";25.4\nback\\slash;0.0\n\u{1};-0.1\n".as_bytes();
    let json = "{\"station\":\"Abha\",\"temperature\":-23.0}\n{\"station\":\"S\u{e3}o \\\"Paulo\\\"\",\"temperature\":25.4}\n\
                {\"station\":\"back\\\\slash\",\"temperature\":0.0}\n{\"station\":\"\\u0001\",\"temperature\":-0.1}\n";
    for size in 1..100 {
        let options = options(size, false);
        assert_eq!(converted(&Csv, &Json, csv, &options).unwrap().0, json.as_bytes());
        assert_eq!(converted(&Json, &Csv, json.as_bytes(), &options).unwrap().0, csv);
    }
    assert_eq!(converted(&Csv, &Json, b"", &options(1, false)).unwrap().0, b"");
}

#[test]
fn rejects_are_kept() {
    let text = b"{\"station\":\"a\",\"temperature\":1}\nx\n{\"station\":\"a\",\"temperature\":\"1\"}\n{\"station\":\"b\",\"temperature\":2}";
    let (json, rejects) = converted(&Json, &Json, text, &options(1 << 20, true)).unwrap();
    assert_eq!(json, b"{\"station\":\"a\",\"temperature\":1.0}\n{\"station\":\"b\",\"temperature\":2.0}\n");
    let expected = "line\tbyte\tcolumn\treason\trow\n2\t32\t\tnot a JSON object\tx\n\
                    3\t34\ttemperature\ta string in a column of type decimal(18,1)\t\
                    \"{\"\"station\"\":\"\"a\"\",\"\"temperature\"\":\"\"1\"\"}\"\n";
    assert_eq!(String::from_utf8(rejects).unwrap(), expected);
}

fn encode(schema: &Schema, rows: usize, columns: &[Column<'_>]) -> Result<Vec<u8>> {
    let writer = Json.create(schema, &create())?;
    let mut encoder: Box<dyn PartEncoder> = writer.encoder();
    encoder.batch(&Batch { rows, columns })?;
    Ok(encoder.finish()?.bytes)
}

#[test]
fn invalid_values_are_rejected() {
    let schema = Schema::parse("a:string").unwrap();
    let write = |name: &[u8]| {
        let dictionary: Dictionary = [name].into_iter().collect();
        encode(&schema, 1, &[Column::codes(&[0], &dictionary)]).map_err(|error| error.to_string())
    };
    assert_eq!(write(b"a\xffb").unwrap_err(), ": row 1, column 'a': json cannot hold 'a\\xffb', which is not UTF-8");
    assert!(write(&vec![b'x'; LONGEST_LINE - 8]).is_ok());
    let too_long = ": row 1: json cannot hold it: its line would be longer than 16777216 bytes";
    assert_eq!(write(&vec![b'x'; LONGEST_LINE - 7]).unwrap_err(), too_long);
    // A string that no row has does not matter.
    let dictionary: Dictionary = [b"\xff".as_slice(), b"a"].into_iter().collect();
    let text = encode(&schema, 1, &[Column::codes(&[1], &dictionary)]).unwrap();
    assert_eq!(text, b"{\"a\":\"a\"}\n");
}

#[test]
fn parts_may_be_cut_between_rows() {
    let schema = Schema::parse("a:int").unwrap();
    let numbers: Vec<i64> = (0..200_000).collect();
    let mut encoder = Json.create(&schema, &create()).unwrap().encoder();
    for numbers in numbers.chunks(4096) {
        let columns = [Column::integers(Integers::I64(numbers))];
        encoder.batch(&Batch { rows: numbers.len(), columns: &columns }).unwrap();
    }
    let part = encoder.finish().unwrap();
    assert!(part.cuts.len() > 2);
    for cut in part.cuts {
        let before = &part.bytes[..cut.at];
        assert!(before.ends_with(b"}\n"));
        assert_eq!(before.iter().filter(|&&byte| byte == b'\n').count() as u64, cut.rows);
    }
}

#[test]
fn a_byte_order_mark_is_skipped() {
    let text = b"\xef\xbb\xbf{\"a\":1.25}\n{\"a\":2}\n";
    assert!(Json.sniff(text));
    let (rows, rejects) = read(file(text), &OpenOptions::default(), 1).unwrap();
    assert_eq!((rows, rejects), (vec![vec!["125".to_owned()], vec!["200".to_owned()]], vec![]));
}

prop_compose! {
    /// A column name or value with all kinds of characters.
    fn any_text()(text in prop_oneof![
        "[a-zA-Z ]{1,20}",
        "\\PC{1,8}",
        prop::collection::vec(prop::sample::select(vec!['"', '\\', '\n', '\0', '\u{1f}', '\u{7f}', '/', 'u', 'n', '😀', 'é']), 1..6)
            .prop_map(String::from_iter),
    ]) -> String {
        text
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_table_round_trips(
        names in prop::collection::btree_set(any_text(), 2),
        scale in 0u8..=18,
        strings in prop::collection::btree_set(prop_oneof![Just(String::new()), any_text()], 1..8),
        rows in prop::collection::vec((any::<prop::sample::Index>(), prop_oneof![any::<i64>(), -2000i64..2000]), 1..40),
        string_first: bool,
        size in 1u64..300,
    ) {
        let names: Vec<_> = names.into_iter().collect();
        let field = |name: &String, logical_type| brc_core::Field::required(name.clone(), logical_type);
        let mut fields = vec![field(&names[0], LogicalType::String), field(&names[1], LogicalType::number(scale))];
        let dictionary: Dictionary = strings.iter().collect();
        let codes: Vec<u32> = rows.iter().map(|(index, _)| index.index(strings.len()) as u32).collect();
        let numbers: Vec<i64> = rows.iter().map(|(_, number)| *number).collect();
        let mut columns =
            [Column::codes(&codes, &dictionary), Column::integers(Integers::I64(&numbers))];
        let mut expected: Vec<Vec<String>> = codes.iter().zip(&numbers)
            .map(|(&code, number)| vec![dictionary.get(code).escape_ascii().to_string(), number.to_string()]).collect();
        if !string_first {
            fields.reverse();
            columns.reverse();
            expected.iter_mut().for_each(|row| row.reverse());
        }
        let schema = Schema::new(fields).unwrap();
        let text = encode(&schema, rows.len(), &columns).unwrap();
        // A generic JSON parser returns the same values.
        for (line, row) in String::from_utf8(text.clone()).unwrap().lines().zip(&expected) {
            let object: BTreeMap<String, Box<RawValue>> = serde_json::from_str(line).unwrap();
            let string: String = serde_json::from_str(object[&names[0]].get()).unwrap();
            prop_assert_eq!(string.as_bytes().escape_ascii().to_string(), row[usize::from(!string_first)].as_str());
            let number = row[usize::from(string_first)].parse::<i64>().unwrap();
            prop_assert_eq!(object[&names[1]].get(), decimal::to_string(i128::from(number), scale));
        }
        let guessed = OpenOptions { row_group_bytes: Some(size), ..OpenOptions::default() };
        drop(schema);
        prop_assert_eq!(read(file(&text), &guessed, 1).unwrap(), (expected, vec![]));
    }

    #[test]
    fn the_fast_path_agrees_with_the_general_parser(
        pieces in prop::collection::vec(prop::sample::select(vec![
            "{", "}", "\"", ",", ":", " ", "\\", "\n", "\r", "station", "temperature", "\"station\":\"", "\"temperature\":",
            "\",\"temperature\":", "1", "0", "-", ".", "23.4", "e1", "Abha", "é", "\u{1}", "{\"station\":\"a\",\"temperature\":1.0}\n",
            "{\"station\": \"b\\\\\", \"temperature\": -2.5}\n",
        ]), 0..24),
        size in 1u64..100,
    ) {
        let text = pieces.concat();
        prop_assume!(is_by_lines(&text));
        sweep(text.as_bytes(), true, size..size + 1);
        sweep(text.as_bytes(), false, size..size + 1);
    }

    #[test]
    fn rows_with_a_byte_changed(
        name in "[a-c\"\\\\n]{0,9}",
        number in prop_oneof![-2000i64..2000, any::<i64>()],
        at in any::<prop::sample::Index>(),
        byte in prop::sample::select(b"{}\":,.-019 \\n\r\0\xffe".to_vec()),
        spaced: bool,
    ) {
        let key = |name: &str| if spaced { format!("\"{name}\": ") } else { format!("\"{name}\":") };
        let comma = if spaced { ", " } else { "," };
        let number = decimal::to_string(i128::from(number), 1);
        let row = format!("{{{}\"{name}\"{comma}{}{number}}}\n", key("station"), key("temperature"));
        let mut text = row.repeat(3).into_bytes();
        sweep(&text, true, 1 << 20..(1 << 20) + 1);
        let at = at.index(text.len());
        // Two objects on a line are two rows, which the line-based definition does not cover.
        prop_assume!(text[at] != b'\n');
        text[at] = byte;
        sweep(&text, true, 1 << 20..(1 << 20) + 1);
    }
}

#[test]
fn values_of_every_type_are_read() {
    let schema = "b:bool,i:int8,u:uint64,d:decimal(20,2),f:float64,day:date,t:time(ms),at:timestamp(s) with zone,s:string,x:binary";
    let schema = Schema::parse(schema).unwrap();
    let line = r#"{"b":true,"i":-128,"u":18446744073709551615,"d":1e17,"f":1,"day":"1970-01-02","t":"00:00:00.001","at":"1970-01-01T00:00:01Z","s":"","x":"00FF"}"#;
    let values = ["1", "-128", "18446744073709551615", "10000000000000000000", "1.0", "1", "1", "1", "", "\\x00\\xff"];
    assert_eq!(shown(line.as_bytes(), &schema).unwrap(), values);
    assert_eq!(shown(b"{\"s\":null}", &schema).unwrap(), ["null"; 10]);
    for (value, float) in [("\"NaN\"", "NaN"), ("\"-Infinity\"", "-inf"), ("-0.0", "-0.0"), ("1e-7", "1e-7")] {
        assert_eq!(shown(format!("{{\"f\":{value}}}").as_bytes(), &schema).unwrap()[4], float);
    }
    for (member, fault) in [
        ("\"i\":128", "'128' is out of range for int8"),
        ("\"u\":-1", "'-1' is out of range for uint64"),
        ("\"d\":1e18", "'1e18' is out of range for decimal(20,2)"),
        ("\"f\":1e999", "'1e999' is out of range for float64"),
        ("\"f\":\"inf\"", "a string in a column of type float64"),
        ("\"day\":\"1970-02-30\"", "'1970-02-30' is not a valid date"),
        ("\"x\":\"0\"", "'0' is not a valid binary"),
        ("\"b\":1", "a number in a column of type bool"),
        ("\"s\":true", "a boolean in a column of type string"),
    ] {
        let bad = shown(format!("{{{member}}}").as_bytes(), &schema).unwrap_err();
        assert_eq!(bad.fault.to_string(), fault);
    }
}

#[test]
fn nulls_work_with_the_fast_path() {
    let schema = Schema::parse("s:string,n:int16").unwrap();
    let text = "{\"s\":\"a\",\"n\":1}\n{\"s\":null,\"n\":2}\n{\"n\":null,\"s\":\"b\"}\n{\"s\":\"a\",\"n\":32768}\n{}\n";
    let options = testing::options(&schema, 1 << 20, true);
    let table = Json.open(file(text.as_bytes()), &options).unwrap();
    let (found, scanned) = collect(table.as_ref(), &ScanOptions::everything(&schema), 1).unwrap().remove(0);
    assert_eq!((scanned.rows, scanned.rejects.len()), (4, 1));
    let strings = [Cell::from("a"), Cell::Null, Cell::from("b"), Cell::Null];
    assert_eq!(found.columns, [strings, [Cell::from(1), Cell::from(2), Cell::Null, Cell::Null]]);
}
