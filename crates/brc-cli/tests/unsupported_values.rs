//! Tests of rows that the output encoding cannot hold: the message names the same row for any number of threads, and no
//! file is left.

#![allow(clippy::unwrap_used)]

mod common;

use common::Place;

const HINT: &str = "brc: encodings that hold any bytes in strings: \
                    buren, capnp, capnp-packed, protobuf, bincode, msgpack, cbor";

const UTF8_HINT: &str = "brc: --charset converts a text file to UTF-8, as in --charset latin1\n\
                         brc: encodings that hold any bytes in strings: \
                         buren, capnp, capnp-packed, protobuf, bincode, msgpack, cbor";

/// A tab-separated text of many splits of 64 KiB, with some names replaced.
fn text(strange: &[(usize, &[u8])]) -> Vec<u8> {
    let mut text = Vec::new();
    for line in 1..=30_000 {
        let name = strange.iter().find(|(at, _)| *at == line).map_or(&b"Hamburg"[..], |(_, name)| name);
        text.extend_from_slice(name);
        text.extend_from_slice(b"\t1.5\n");
    }
    text
}

/// The same as JSON.
fn json(strange: &[(usize, &str)]) -> String {
    let name = |line: usize| strange.iter().find(|(at, _)| *at == line).map_or("Hamburg", |(_, name)| name);
    (1..=30_000).map(|line| format!("{{\"station\":\"{}\",\"temperature\":1.5}}\n", name(line))).collect()
}

/// Converts with one thread and with four, and expects the same message; the files stay as they are.
#[track_caller]
fn check(place: &Place, arguments: &str, message: &str) {
    let names = place.names();
    for threads in [1, 4] {
        place.run(&format!("convert {arguments} --threads {threads}")).fails(3, message);
        assert_eq!(place.names(), names);
    }
}

#[test]
fn a_name_with_the_separator() {
    let place = Place::new();
    // The output format of the One Billion Row Challenge has no quotes.
    place.write("t.json", json(&[(21_000, "a;b"), (21_001, "c;d"), (29_000, "e;f")]));
    place.run("convert t.json t.buren --row-group 64k").ok();
    let place_and_reason = "row 21000, column 'station': csv cannot hold 'a;b', which contains the delimiter ';'";
    let message = format!(
        "brc: t.buren: {place_and_reason}\nbrc: --output-delimiter , writes a header, commas and quotes\n{HINT}"
    );
    check(&place, "t.buren out.csv", &message);
    check(&place, "t.buren out.csv.gz", &message);
    place.run("convert t.buren commas.csv --output-delimiter ,").ok();
    assert!(place.read("commas.csv").starts_with(b"station,temperature\nHamburg,1.5\n"));
    assert_eq!(
        place.run("query commas.csv --where station='a;b' --agg count() --format csv").text(),
        "station,count()\na;b,1\n"
    );
    // Other CSV output has quotes.
    place.write("t.txt", text(&[(21_000, b"a;b"), (21_001, b"c,d"), (29_000, b"e\"f")]));
    place.run("convert t.txt u.buren --delimiter tab --row-group 64k").ok();
    for csv in ["u.csv", "u.csv.gz"] {
        place.run(&format!("convert u.buren {csv}")).ok();
        place.run(&format!("convert {csv} back.buren --row-group 64k --force")).ok();
        let question = "--by column_1 --agg count(),sum(column_2) --format csv";
        let answer = place.run(&format!("query u.buren {question}")).text();
        assert_eq!(place.run(&format!("query back.buren {question}")).text(), answer);
    }
}

#[test]
fn a_name_that_is_no_utf8() {
    let place = Place::new();
    place.write("t.txt", text(&[(9_999, b"K\xf6ln"), (10_000, b"M\xfcnchen"), (20_000, b"\xff")]));
    let reason = "cannot hold 'K\\xf6ln', which is not UTF-8";
    for encoding in ["json", "parquet", "arrow"] {
        let message = format!("brc: t.txt: row 9999, column 'column_1': {encoding} {reason}\n{UTF8_HINT}");
        let row_group = if encoding == "json" { "" } else { "--row-group 64k" };
        check(&place, &format!("t.txt out --to {encoding} --delimiter tab {row_group}"), &message);
    }
    place.run("convert t.txt t.cbor --delimiter tab --row-group 64k").ok();
    let message = format!("brc: t.cbor: row 9999, column 'column_1': json {reason}\n{UTF8_HINT}");
    check(&place, "t.cbor out.json", &message);
    let piped = place.pipe("convert - out.json --from csv --delimiter tab", &place.read("t.txt"));
    piped.fails(3, &message.replace("t.cbor", "-"));
}

#[test]
fn names_that_are_no_text() {
    let place = Place::new();
    let cases = [
        ("", "", "is empty"),
        ("a\\nb", "a\\nb", "contains a line feed"),
        ("a\\u0000b", "a\\x00b", "contains a NUL byte"),
    ];
    for (name, shown, fault) in cases {
        place.write("t.json", json(&[(12_345, name), (12_346, "a\\nb;")]));
        let reason = format!("csv cannot hold '{shown}', which {fault}");
        // Some encodings that do not hold arbitrary bytes cannot be written.
        let hint = if name.is_empty() { String::new() } else { format!("\n{HINT}") };
        check(&place, "t.json out.csv", &format!("brc: t.json: row 12345, column 'station': {reason}{hint}"));
    }
}

#[test]
fn a_name_that_begins_with_a_byte_order_mark() {
    let place = Place::new();
    place.write("t.json", "{\"n\":\"\u{feff}a\",\"v\":1}\n{\"n\":\"\u{feff}b\",\"v\":2}\n");
    place.run("convert t.json out.csv").ok();
    place.run("convert out.csv back.json --schema n:string,v:int").ok();
    assert!(place.read("back.json") == place.read("t.json"));
}

#[test]
fn a_time_out_of_range_has_no_hint_on_bytes() {
    let place = Place::new();
    place.write("t.csv", "t\n+300000000-01-01 00:00:00\n");
    place.run_of(&["convert", "t.csv", "t.buren", "--type", "t=timestamp(s)"]).ok();
    for target in ["t.parquet", "t.avro"] {
        let outcome = place.run(&format!("convert t.buren {target}"));
        outcome.fails_with(3, "is out of range for its type in this encoding");
        assert!(!outcome.stderr.contains("any bytes"), "{}", outcome.stderr);
    }
}

#[test]
fn rejected_rows_count_and_keep_nothing_of_others() {
    let place = Place::new();
    // Bad rows in earlier splits, and before and after it in the same split.
    let mut lines: Vec<Vec<u8>> =
        text(&[(20_000, b"\xff"), (20_001, b"\xfe")]).split(|&b| b == b'\n').map(Vec::from).collect();
    for line in [1, 2, 7_000, 19_998, 19_999, 20_002, 20_003, 25_000] {
        lines[line - 1] = b"bad".to_vec();
    }
    place.write("t.txt", lines.join(&b'\n'));
    let message = "row 20000, column 'station': json cannot hold '\\xff', which is not UTF-8";
    let schema = "--schema station:string,temperature:decimal(1)";
    check(
        &place,
        &format!("t.txt out.json --delimiter tab {schema} --rejects bad.tsv"),
        &format!("brc: t.txt: {message}\n{UTF8_HINT}"),
    );
    // The first failing row of the table is reported: a bad row of a text, or an unsupported value.
    let outcome = place.run(&format!("convert t.txt out.json --delimiter tab {schema}"));
    outcome.fails(3, "brc: t.txt: line 1, byte 0, column 'station': missing delimiter '\t'");
    for (rows, expected) in [(&b"\xff\t1\nbad\n"[..], "row 1, "), (b"bad\n\xff\t1\n", "line 1, ")] {
        place.write("two.txt", rows);
        for schema in [schema, "--schema station:string,temperature:int"] {
            let outcome = place.run(&format!("convert two.txt out.json --delimiter tab {schema}"));
            outcome.fails_with(3, &format!("brc: two.txt: {expected}"));
        }
    }
    assert_eq!(place.names(), ["t.txt", "two.txt"]);
}

#[test]
fn a_row_that_is_longer_than_a_line() {
    let place = Place::new();
    // JSON escapes each control character with six bytes.
    let (name, controls) = ("x".repeat(10 << 20), "\u{1}".repeat(2 << 20));
    place.write("t.txt", format!("x;x\n{name};{controls}\n"));
    let schema = "--schema a:string,b:string";
    let message = "brc: t.txt: row 2: json cannot hold it: its line would be longer than 16777216 bytes";
    check(&place, &format!("t.txt out.json {schema}"), message);
    place.run(&format!("convert t.txt out.buren {schema}")).ok();
}

#[test]
fn options_that_the_encoding_does_not_have_are_refused() {
    let place = Place::new();
    place.write("t.csv", "id,name\n1,a\n2,b\n");
    for (output, option, what) in [
        ("t.parquet", "--key id", "cluster key"),
        ("t.parquet", "--key nonexistent", "cluster key"),
        ("t.json", "--key none", "cluster key"),
        ("o.csv", "--row-group 1M", "row groups unless it is compressed"),
        ("o.json", "--row-group 1M", "row groups unless it is compressed"),
        ("t.buren", "--output-delimiter ;", "delimiter"),
        ("t.json", "--output-delimiter ;", "delimiter"),
        ("t.buren", "--ascii", "second form that is text"),
        ("part --partition-by name --to json", "--key id", "cluster key"),
    ] {
        let encoding = ["parquet", "json", "csv", "buren"].into_iter().find(|it| output.contains(it)).unwrap();
        let name = option.split(' ').next().unwrap();
        let message = format!("brc: {name}: {encoding} has no {what}");
        place.run(&format!("convert t.csv {output} {option}")).fails(2, &message);
    }
    place.run("cat t.csv -o t.json --output-delimiter ;").fails(2, "brc: --output-delimiter: json has no delimiter");
    place.run("cat t.csv --format csv --output-delimiter ;").fails_with(2, "cannot be used with");
    assert_eq!(place.names(), ["t.csv"]);
    place.run("convert t.csv o.csv --output-delimiter ;").ok();
    for output in ["t.parquet", "t.arrow", "t.avro", "t.cbor", "t.capnp", "t.csv.gz", "t.json.zst"] {
        place.run(&format!("convert t.csv {output} --row-group 64k")).ok();
    }
}
