use super::*;
use crate::output::OutputOptions;
use crate::text::testing::{self, Outcome, file, same, stream};
use crate::text::{BadRow, LONGEST_LINE};
use crate::{Output, RejectLog, convert};
use brc_compress::Compressor;
use brc_core::{Batch, Column, Data, Dictionary, Integers, LogicalType, PartEncoder, Progress, decimal};
use column::JsonColumn;
use plain::PlainRow;
use proptest::prelude::*;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::path::Path;

/// The values of a line, as [`testing::read`] shows them.
fn shown(line: &[u8], schema: &Schema) -> std::result::Result<Vec<String>, BadRow> {
    let mut values = Vec::new();
    row::parse(line, schema, &mut values)?;
    let text = |value: &Option<row::Value<'_>>| match value.as_ref().unwrap() {
        row::Value::Null => "null".to_owned(),
        row::Value::Text(text) => text.as_bytes().escape_ascii().to_string(),
        row::Value::Binary(bytes) => format!("{bytes:?}"),
        row::Value::Integer(number) => number.to_string(),
        row::Value::Float(number) => format!("{number:?}"),
    };
    Ok(values.iter().map(text).collect())
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

/// One row on the short way: its length, and its values.
fn plain(text: &[u8], schema: &Schema) -> Option<(usize, Vec<String>)> {
    let everything: Vec<_> = (0..schema.fields().len()).collect();
    let mut columns = JsonColumn::all(schema, &everything);
    let length = PlainRow::new(schema).read(text, &mut columns, 0)?;
    let value = |column: &JsonColumn| match column.lend().data {
        Data::Integers(values) => values.get(0).to_string(),
        Data::Codes { codes, dictionary } => dictionary.get(codes[0]).escape_ascii().to_string(),
        Data::Runs { .. } | Data::Bytes(_) | Data::Floats(_) => unreachable!(),
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
    "{\n  \"station\": \"a\",\n  \"temperature\": 1.0\n}\n",
    "\n\n\n",
];

#[test]
fn rows_do_not_depend_on_where_splits_are_cut() {
    for text in TEXTS {
        for keep_rejects in [false, true] {
            sweep(text.as_bytes(), keep_rejects, 1..=text.len() as u64 + 2);
        }
    }
}

#[test]
fn threads_do_not_matter() {
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
fn bad_rows_say_what_and_where() {
    let cases: &[(&[u8], Option<usize>, &str)] = &[
        (b"", None, "empty line"),
        (b" \t", None, "empty line"),
        (b"[1]", None, "not a JSON object"),
        (b"  \"station\": \"a\",", None, "not a JSON object"),
        (b"{", None, "the JSON object does not end on its line (a line is a whole object)"),
        (b"{\"station\":\"a\",", None, "the JSON object does not end on its line (a line is a whole object)"),
        (b"{\"station\":\"a", Some(0), "the JSON object does not end on its line (a line is a whole object)"),
        (b"{\"station\":\"a\" \"temperature\":1}", None, "malformed JSON at byte 16 of the line: expected `,` or `}`"),
        (b"{\"station\":\"a\",\"temperature\":1}}", None, "malformed JSON at byte 32 of the line: trailing characters"),
        (b"{\"station\":\"a\",\"temperature\":1,}", None, "malformed JSON at byte 32 of the line: trailing comma"),
        (
            b"{\"station\":\"a\",\"temperature\":NaN}",
            Some(1),
            "malformed JSON at byte 30 of the line: NaN is not a JSON value",
        ),
        (
            b"{\"station\":\"a\",\"temperature\":-Infinity}",
            Some(1),
            "malformed JSON at byte 31 of the line: Infinity is not a JSON value",
        ),
        // What is not JSON at all is called so, whatever its columns are.
        (b"{\"x\":1,\"station\":\"a\",}", None, "malformed JSON at byte 22 of the line: trailing comma"),
        (b"{\"x\":1,\"y\":1}}", None, "malformed JSON at byte 14 of the line: trailing characters"),
        (b"{\"station\":\"a\",\"temperature\":01}", Some(1), "malformed JSON at byte 31 of the line: invalid number"),
        (b"{\"station\":\"a\",\"temperature\":1.}", Some(1), "malformed JSON at byte 32 of the line: invalid number"),
        (
            b"{\"station\":\"a\xff\",\"temperature\":1}",
            Some(0),
            "malformed JSON at byte 14 of the line: invalid unicode code point",
        ),
        (
            b"{\"station\":\"a\x01\",\"temperature\":1}",
            Some(0),
            "malformed JSON at byte 13 of the line: control character (\\u0000-\\u001F) found while parsing a string",
        ),
        (b"{\"station\":\"\\uD83D\",\"temperature\":1}", Some(0), "malformed string: unexpected end of hex escape"),
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
    for (line, column, message) in cases {
        let context = line.escape_ascii();
        let (found, fault) = Objects { guessed: false }.explain(line, &schema).unwrap();
        assert_eq!((found, fault.to_string().as_str()), (*column, *message), "{context}");
        let text = [b"{\"station\":\"a\",\"temperature\":1.0}\n", *line, b"\n"].concat();
        let error = read(file(&text), &options(1 << 20, false), 1).unwrap_err();
        assert!(error.contains("line 2, byte 34") && error.ends_with(message), "{context}: {error}");
        sweep(&text, true, [1, 40, 1 << 20].into_iter());
    }
    assert_eq!(Objects { guessed: false }.explain(b"{\"temperature\":1,\"station\":\"\"}", &schema), None);
}

#[test]
fn rows_that_are_all_bad_say_what_is_wrong_with_them() {
    for (line, message) in [
        (r#"{"a":1,"b":"x","a":2}"#, "column 'a': named twice in the row"),
        (r#"{"a":1,"b":"x",}"#, "malformed JSON at byte 16 of the line: trailing comma"),
        (r#"{"a":1,"b":NaN}"#, "malformed JSON at byte 12 of the line: NaN is not a JSON value"),
    ] {
        let options = OpenOptions { schema: None, ..options(1 << 20, false) };
        let found = read(file(format!("{line}\n{line}\n").as_bytes()), &options, 1).unwrap_err();
        let expected = "line 1, byte 0";
        assert!(found.contains(expected) && found.ends_with(message), "{found}");
    }
}

#[test]
fn a_line_that_is_too_long_is_a_bad_row() {
    for length in [LONGEST_LINE - 40, LONGEST_LINE - 33, LONGEST_LINE - 32, LONGEST_LINE, 3 * LONGEST_LINE] {
        for end in ["\n", "\r\n", ""] {
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
fn the_usual_forms_are_plain() {
    let schema =
        Schema::parse("name:string,price:decimal(2),a key of more than sixteen \"bytes\":int,city:string").unwrap();
    let texts = [
        "{\"name\":\"pen\",\"price\":1.50,\"a key of more than sixteen \\\"bytes\\\"\":-7,\"city\":\"S\u{e3}o Paulo\"}\n",
        "{\"name\": \"\", \"price\": -1, \"a key of more than sixteen \\\"bytes\\\"\": 123456789012, \"city\": \"x\"}\r\n",
        "{\"name\":\"\",\"price\":12345678.90,\"a key of more than sixteen \\\"bytes\\\"\":-9223372036854775808,\"city\":\"\"}\n",
    ];
    for text in texts {
        let expected = shown(text.trim_end().as_bytes(), &schema).unwrap();
        assert_eq!(plain(text.as_bytes(), &schema), Some((text.len(), expected.clone())), "{text}");
        let longer = format!("{text}{}", "more".repeat(20));
        assert_eq!(plain(longer.as_bytes(), &schema), Some((text.len(), expected)), "{text}");
    }
}

#[test]
fn strings_that_look_like_others_once_escaped() {
    // The first of each pair is known to the interner when the second comes, of which the bytes up to a quote are the same.
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
fn columns_that_nobody_wants_are_checked_too() {
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
            let mut columns = JsonColumn::all(&schema, &projection);
            let text = [text, &[b' '; 64]].concat();
            let found = PlainRow::new(&schema).read(&text, &mut columns, 0);
            assert_eq!(found.is_some(), good, "{projection:?} of {:?}", text.escape_ascii().to_string());
        }
    }
}

#[test]
fn the_columns_are_guessed() {
    let guess = |text: &str| guess::schema(text.as_bytes()).unwrap().to_string();
    assert_eq!(guess(""), Schema::one_brc().to_string());
    assert_eq!(guess("{\n  \"a\": 1\n}\n"), Schema::one_brc().to_string());
    assert_eq!(
        guess("{\"b\":\"x\",\"a\":1}\n{\"a\":1.25,\"b\":\"\"}\n{\"b\":\"x\",\"a\":1.5"),
        "b:string not null,a:decimal(18,2) not null"
    );
    assert_eq!(guess("garbage\n{\"a\":null}\n{}\n{\"\":1}\n{\"a\":1,\"a\":2}\n{\"a\":1e2}\n"), "a:int64");
    assert_eq!(guess("{\"a\":1.50}\r\n"), "a:decimal(18,2) not null");
    for (values, logical_type) in [
        ("true;false", "bool not null"),
        ("null", "string"),
        ("null;1", "int64"),
        ("9223372036854775807;-1", "int64 not null"),
        ("9223372036854775808;1", "uint64 not null"),
        ("9223372036854775808;-1", "decimal(38,0) not null"),
        ("1.5;12345678901234567890", "decimal(38,1) not null"),
        ("0.1234567890123456789", "decimal(38,19) not null"),
        ("1e-300;5", "float64 not null"),
        ("5;null;1e-300", "float64"),
        ("\"2024-02-29\"", "string not null"),
        ("true;1", "bool not null"),
    ] {
        let text: String = values.split(';').map(|value| format!("{{\"a\":{value}}}\n")).collect();
        assert_eq!(guess(&text), format!("a:{logical_type}"), "{values}");
    }
    assert_eq!(guess("{\"a\":1,\"b\":\"x\"}\n{\"b\":\"y\"}\n"), "a:int64,b:string not null");
    // A row that needs more decimals than all at the start is a bad one, not a rounded one.
    let text = format!("{}{{\"a\":1.25}}\n", "{\"a\":1.5}\n".repeat(10_000));
    let error = read(file(text.as_bytes()), &OpenOptions::default(), 2).unwrap_err();
    assert_eq!(
        error,
        "test: line 10001, byte 100000, column 'a': '1.25' has more than the 1 decimal of the first rows; \
                    --schema says how many there are"
    );
}

#[test]
fn what_cannot_be_guessed_is_told() {
    let open = |text: &str| read(file(text.as_bytes()), &OpenOptions::default(), 1).unwrap_err();
    let told = "test: column 'v' has an array; columns are of strings, numbers or booleans";
    assert_eq!(open("{\"a\":\"x\",\"v\":[]}\n"), told);
    let long = |bytes| format!("{{\"name\":\"{}\",\"v\":1}}\n{{\"name\":\"b\",\"v\":2}}\n", "q".repeat(bytes));
    let told = "test: the first line is longer than 1048576 bytes, so it tells no columns; name them with --schema";
    assert_eq!(open(&long(LONGEST_LINE)), told);
    for input in [file(long(70_000).as_bytes()), testing::pipe(long(70_000).as_bytes(), 5000)] {
        assert_eq!(read(input, &OpenOptions::default(), 1).unwrap().0.len(), 2);
    }
}

#[test]
fn first_bytes_tell() {
    for text in ["{\"", "{}", " \n{ \n\t\"a", "{\"station\":\"a\",\"temperature\":1.0}\n"] {
        assert!(Json.sniff(text.as_bytes()), "{text}");
    }
    for text in ["", "{", "a;1.0\n", "{a;1.0", "[{\"a\":1}]", "\"{\""] {
        assert!(!Json.sniff(text.as_bytes()), "{text}");
    }
}

/// What other programs wrote: `jq -c`, `jq -ca`, and Python's `json.dumps` in three ways.
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
    let error = read(file(&fixture("jq-lines")), &OpenOptions::default(), 1).unwrap_err();
    assert_eq!(error, "test: line 1, byte 0: the JSON object does not end on its line (a line is a whole object)");
}

fn fixture(name: &str) -> Vec<u8> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/json");
    std::fs::read(directory.join(format!("{name}.json"))).unwrap()
}

fn create() -> CreateOptions {
    CreateOptions::new(Compressor::parse("none").unwrap())
}

/// Converts a text in a directory of its own.
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
fn csv_comes_back() {
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
fn what_json_cannot_hold_is_refused() {
    let schema = Schema::parse("a:string").unwrap();
    let write = |name: &[u8]| {
        let dictionary: Dictionary = [name].into_iter().collect();
        encode(&schema, 1, &[Column::codes(&[0], &dictionary)]).map_err(|error| error.to_string())
    };
    assert_eq!(write(b"a\xffb").unwrap_err(), ": row 1, column 'a': json cannot hold 'a\\xffb', which is not UTF-8");
    assert!(write(&vec![b'x'; LONGEST_LINE - 8]).is_ok());
    let too_long = ": row 1: json cannot hold it: its line would be longer than 1048576 bytes";
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
fn a_byte_order_mark_is_no_part_of_a_row() {
    let text = b"\xef\xbb\xbf{\"a\":1.25}\n{\"a\":2}\n";
    assert!(Json.sniff(text));
    let (rows, rejects) = read(file(text), &OpenOptions::default(), 1).unwrap();
    assert_eq!((rows, rejects), (vec![vec!["125".to_owned()], vec!["200".to_owned()]], vec![]));
}

prop_compose! {
    /// A name of a column or a value, of all kinds of characters.
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
    fn any_table_comes_back(
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
        // Any reader of JSON sees the same.
        for (line, row) in String::from_utf8(text.clone()).unwrap().lines().zip(&expected) {
            let object: BTreeMap<String, Box<RawValue>> = serde_json::from_str(line).unwrap();
            let string: String = serde_json::from_str(object[&names[0]].get()).unwrap();
            prop_assert_eq!(string.as_bytes().escape_ascii().to_string(), row[usize::from(!string_first)].as_str());
            let number = row[usize::from(string_first)].parse::<i64>().unwrap();
            prop_assert_eq!(object[&names[1]].get(), decimal::to_string(i128::from(number), scale));
        }
        let guessed = OpenOptions { row_group_bytes: Some(size), ..OpenOptions::default() };
        prop_assert_eq!(guess::schema(&text), Ok(schema));
        prop_assert_eq!(read(file(&text), &guessed, 1).unwrap(), (expected, vec![]));
    }

    #[test]
    fn the_short_way_agrees_with_the_general_one(
        pieces in prop::collection::vec(prop::sample::select(vec![
            "{", "}", "\"", ",", ":", " ", "\\", "\n", "\r", "station", "temperature", "\"station\":\"", "\"temperature\":",
            "\",\"temperature\":", "1", "0", "-", ".", "23.4", "e1", "Abha", "é", "\u{1}", "{\"station\":\"a\",\"temperature\":1.0}\n",
            "{\"station\": \"b\\\\\", \"temperature\": -2.5}\n",
        ]), 0..24),
        size in 1u64..100,
    ) {
        sweep(pieces.concat().as_bytes(), true, size..size + 1);
        sweep(pieces.concat().as_bytes(), false, size..size + 1);
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
        text[at] = byte;
        sweep(&text, true, 1 << 20..(1 << 20) + 1);
    }
}

#[test]
fn values_of_every_type_are_read() {
    let schema = "b:bool,i:int8,u:uint64,d:decimal(20,2),f:float64,day:date,t:time(ms),at:timestamp(s) with zone,s:string,x:binary";
    let schema = Schema::parse(schema).unwrap();
    let line = r#"{"b":true,"i":-128,"u":18446744073709551615,"d":1e17,"f":1,"day":"1970-01-02","t":"00:00:00.001","at":"1970-01-01T00:00:01Z","s":"","x":"00FF"}"#;
    let values = ["1", "-128", "18446744073709551615", "10000000000000000000", "1.0", "1", "1", "1", "", "[0, 255]"];
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
fn nulls_and_the_short_way_mix() {
    let schema = Schema::parse("s:string,n:int16").unwrap();
    let text = "{\"s\":\"a\",\"n\":1}\n{\"s\":null,\"n\":2}\n{\"n\":null,\"s\":\"b\"}\n{\"s\":\"a\",\"n\":32768}\n{}\n";
    let options = testing::options(&schema, 1 << 20, true);
    let table = Json.open(file(text.as_bytes()), &options).unwrap();
    let mut gather = Validity(Vec::new());
    let mut scanner = table.scanner(&ScanOptions::everything(&schema)).unwrap();
    let scanned = scanner.scan(&table.split(0).unwrap(), &mut gather).unwrap().unwrap();
    assert_eq!((scanned.rows, scanned.rejects.len()), (4, 1));
    assert_eq!(gather.0, [vec![true, false, true, false], vec![true, true, false, false]]);
}

/// The validity of each column of the only batch.
struct Validity(Vec<Vec<bool>>);

impl brc_core::Sink for Validity {
    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        let rows = |column: &Column<'_>| (0..batch.rows).map(|row| column.is_valid(row)).collect();
        self.0 = batch.columns.iter().map(rows).collect();
        Ok(())
    }

    fn summary(&mut self, _: &brc_core::Summary<'_>) -> Result<()> {
        unreachable!()
    }
}
