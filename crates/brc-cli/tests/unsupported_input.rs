//! Tests of valid but unsupported files: they are not called corrupt, and the message gives advice.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

mod common;

use brc_compress::by_name;
use common::{Outcome, Place};

const ROW: &[u8] = b"Abha;1.0\n";
const ANSWER: &str = "{Abha=1.0/1.0/1.0}\n";
const SCHEMA: &str = "--schema station:string,temperature:decimal(1)";

/// The outcomes of all commands that read tables, from the file and from a pipe.
fn all(place: &Place, file: &str, options: &str) -> Vec<Outcome> {
    let bytes = place.read(file);
    let mut outcomes = Vec::new();
    for command in ["query", "inspect", "verify", "convert"] {
        let target = if command == "convert" { "target.csv" } else { "" };
        outcomes.push(place.run(&format!("{command} {file} {target} {options}")));
        outcomes.push(place.pipe(&format!("{command} - {target} {options}"), &bytes));
    }
    outcomes
}

#[track_caller]
fn all_fail(place: &Place, file: &str, options: &str, code: i32, words: &[&str]) {
    for outcome in all(place, file, options) {
        words.iter().for_each(|words| outcome.fails_with(code, words));
    }
    assert!(!place.path("target.csv").exists());
}

fn compressed(compression: &str, content: &[u8]) -> Vec<u8> {
    let format = by_name(compression).unwrap().file_format().unwrap();
    let mut file = format.start();
    let chunk = format.chunk(1, content, 1, &mut file);
    file.extend(format.finish(&[chunk]));
    file
}

#[test]
fn zstd_with_a_window_or_a_dictionary_beyond_the_limits_is_not_corrupt() {
    let place = Place::new();
    // Headers with a window of 2 GiB and with dictionary id 7, each followed by the row as a raw block.
    let file = |head: &[u8]| [b"\x28\xb5\x2f\xfd", head, b"\x49\0\0", ROW].concat();
    place.write("wide.txt.zst", file(b"\x00\xa8"));
    all_fail(&place, "wide.txt.zst", "", 1, &["2048 MiB", "128 MiB", "zstd -d --long=31"]);
    place.write("dictionary.txt.zst", file(b"\x01\x00\x07"));
    all_fail(&place, "dictionary.txt.zst", "", 1, &["the dictionary 7", "zstd -d -D"]);
    place.write("sound.txt.zst", file(b"\x00\x88"));
    assert_eq!(place.run("query sound.txt.zst").text(), ANSWER);
    // Damaged files are still corrupt.
    place.write("bad.txt.zst", file(b"\x08\x88"));
    place.run("query bad.txt.zst").fails_with(4, "corrupt");
}

#[test]
fn compressions_that_are_not_read_come_with_advice() {
    let place = Place::new();
    let seven_zip = [b"7z\xbc\xaf\x27\x1c\0\x04", ROW].concat();
    let legacy_lz4 = [b"\x02\x21\x4c\x18\x0a\0\0\0\x90", ROW].concat();
    let files: [(&str, &[u8], &str); 2] = [
        ("7z", &seven_zip, "decompress it first, with 7z x -so"),
        ("lz4", &legacy_lz4, "it is of the legacy LZ4 format: decompress it first, with lz4 -d"),
    ];
    for (extension, bytes, words) in files {
        for name in [&format!("t.csv.{extension}"), "t", "t.csv", "t.csv.gz"] {
            place.write(name, bytes);
            all_fail(&place, name, "", 1, &[words]);
            all_fail(&place, name, "--from csv", 1, &[words]);
        }
        place.write("t.csv.gz", compressed("gzip", bytes));
        place.run("query t.csv.gz").fails_with(1, "is compressed twice");
    }
    // Brotli files have no magic number.
    place.write("t.csv.br", b"\x0b\x04\x80Abha;1.0\n\x03");
    for options in ["", "--from csv"] {
        place.run(&format!("query t.csv.br {options}")).fails_with(1, "decompress it first, with brotli -dc");
    }
}

#[test]
fn damaged_files_that_are_only_read_compressed_are_corrupt() {
    let place = Place::new();
    let files: [(&str, &[u8]); 2] =
        [("bz2", b"BZh91AY&SY\xe1\x0e\x0f\x9c"), ("xz", b"\xfd7zXZ\0\0\x04\xe6\xd6\xb4\x46")];
    for (extension, bytes) in files {
        for name in [&format!("t.csv.{extension}"), "t", "t.csv", "t.csv.gz"] {
            place.write(name, bytes);
            all_fail(&place, name, "--from csv", 4, &["corrupt file: compressed data"]);
        }
        place.write("t.csv.gz", compressed("gzip", bytes));
        place.run("query t.csv.gz").fails_with(1, "is compressed twice");
    }
    place.write("t.bz2", b"BZh9\x17\x72\x45\x38\x50\x90\0\0\0\0");
    place.run("query t.bz2 --from csv").fails_with(2, "no columns");
}

#[test]
fn outputs_with_a_contradicting_extension_are_refused() {
    let place = Place::new();
    place.write("t.txt", ROW);
    for (arguments, words) in [
        ("convert t.txt t.csv.bz2 --to csv", "t.csv.bz2: the extension means bzip2"),
        ("convert t.txt t.csv.bz2 --to csv --compression gzip", "t.csv.bz2: the extension means bzip2"),
        ("convert t.txt t.buren.xz --to buren", "t.buren.xz: the extension means xz"),
        ("convert t.txt t.csv.br --to csv", "t.csv.br: the extension means brotli"),
        ("convert t.txt t.buren --rejects bad.tsv.gz", "bad.tsv.gz: the extension means gzip"),
        ("generate t.csv.gz --rows 3", "t.csv.gz: the extension means gzip"),
        ("generate t.csv.xz --rows 3", "t.csv.xz: the extension means xz"),
    ] {
        place.run(arguments).fails_with(2, words);
    }
    assert_eq!(place.names(), ["t.txt"]);
}

#[test]
fn the_content_of_a_compressed_file_counts_more_than_its_name() {
    let place = Place::new();
    for compression in ["snappy", "lz4", "gzip", "zlib", "zstd"] {
        for extension in ["sz", "lz4", "gz", "zz", "zst", "bz2", "br"] {
            place.write(&format!("t.csv.{extension}"), compressed(compression, ROW));
            let answer = place.run(&format!("query t.csv.{extension}")).text();
            assert_eq!(answer, ANSWER, "{compression} as {extension}");
        }
    }
}

#[test]
fn gzip_followed_by_zeros_is_valid() {
    let place = Place::new();
    for compress in ["$BRC convert t.txt t.csv.gz --force", "gzip -c t.txt t.txt > t.csv.gz"] {
        place.write("t.txt", ROW);
        place.shell(compress).ok();
        let padded = [place.read("t.csv.gz"), vec![0; 10_000]].concat();
        place.write("t.csv.gz", &padded);
        for outcome in [place.run("query t.csv.gz"), place.pipe("query -", &padded)] {
            assert_eq!(outcome.text(), ANSWER, "{compress}");
        }
        place.run("verify t.csv.gz").ok();
    }
}

#[test]
fn rows_without_a_header_need_a_schema_but_damaged_files_are_corrupt() {
    let place = Place::new();
    place.write("t.txt", ROW);
    let foreign: [(&str, &[u8]); 4] = [
        ("msgpack", b"\x92\xa4Abha\x0a"),
        ("cbor", b"\x82\x64Abha\x0a"),
        ("pb", b"\x08\x0a\x04Abha\x10\x14"),
        ("bincode", b"\x04\0\0\0\0\0\0\0Abha\x0a\0\0\0\0\0\0\0"),
    ];
    for (extension, bytes) in foreign {
        let name = format!("t.{extension}");
        place.write(&name, bytes);
        for command in ["query", "inspect", "verify"] {
            let outcome = place.run(&format!("{command} {name}"));
            outcome.fails_with(2, &format!("{name}: has no header that describes its columns"));
            outcome.fails_with(2, "--schema");
        }
        let schema = "station:string not null,temperature:decimal(1) not null";
        assert_eq!(place.run_of(&["query", &name, "--schema", schema]).text(), ANSWER, "{name}");
        let (own, damaged) = (format!("own.{extension}"), format!("damaged.{extension}"));
        place.run(&format!("convert t.txt {own}")).ok();
        let sound = place.read(&own);
        for at in 0..13 {
            let mut bytes = sound.clone();
            bytes[at] ^= 0x20;
            place.write(&damaged, &bytes);
            place.run(&format!("query {damaged}")).fails_with(4, "corrupt file: header: ");
            place.write(&damaged, &sound[..at]);
            let code = place.run(&format!("query {damaged}")).code;
            assert_eq!(code, Some(4), "{damaged} cut off at {at}");
        }
    }
}

#[test]
fn valid_rows_of_another_shape_are_not_corrupt() {
    let place = Place::new();
    let query = |place: &Place, name: &str| {
        place.run_of(&["query", name, "--schema", "station:string not null,temperature:decimal(1) not null"])
    };
    let msgpack = |row: &[u8]| [b"\x92\xa4Abha\x0a\x92\xa4Abha\x0b", row].concat();
    let cbor = |row: &[u8]| [b"\x82\x64Abha\x0a\x82\x64Abha\x0b", row].concat();
    let cases: [(&str, Vec<u8>, &str); 12] = [
        ("msgpack", msgpack(b"\x81\xa1a\x01"), "row 3, byte 14: a map where a row should be; brc reads"),
        ("msgpack", msgpack(b"\x92\xa1a\xc0"), "row 3, byte 14, column 'temperature': nil in a column of numbers"),
        ("msgpack", msgpack(b"\x92\xc0\x01"), "row 3, byte 14, column 'station': nil in a column of strings"),
        ("msgpack", msgpack(b"\x92\xa1a\xca\0\0\0\0"), "column 'temperature': a float in a column of numbers"),
        ("msgpack", msgpack(b"\x92\xa1a\xcf\xff\0\0\0\0\0\0\0"), "an integer does not fit 64 bits"),
        ("msgpack", b"\x91\x92\xa4Abha\x0a".to_vec(), "row 1, byte 0: an array around all rows"),
        ("msgpack", msgpack(b"\x93\xa1a\x01\x02"), "row 3, byte 14: a row of 3 values, but there are 2 columns"),
        ("cbor", cbor(b"\xa1\x61a\x01"), "row 3, byte 14: a map where a row should be; brc reads"),
        ("cbor", cbor(b"\x82\x61a\xf6"), "row 3, byte 14, column 'temperature': null in a column of numbers"),
        ("cbor", cbor(b"\x82\x61a\xf9\0\0"), "row 3, byte 14, column 'temperature': a float in a column of numbers"),
        ("cbor", b"\x9f\x82\x64Abha\x0a\xff".to_vec(), "row 1, byte 0: an array around all rows"),
        ("cbor", cbor(b"\x82\x61a\xc4\x82\x21\x03"), "the decimal fraction 3e-2 does not fit 64 bits with 1 decimals"),
    ];
    for (extension, bytes, message) in cases {
        let name = format!("t.{extension}");
        place.write(&name, bytes);
        query(&place, &name).fails_with(1, &format!("brc: {name}: "));
        query(&place, &name).fails_with(1, message);
    }
    // Invalid bytes and truncated rows are still corrupt.
    let corrupt = [("msgpack", msgpack(b"\xc1")), ("msgpack", msgpack(b"\x92\xa4Ab")), ("cbor", cbor(b"\xff"))];
    for (extension, bytes) in corrupt.into_iter().chain([("cbor", cbor(b"\x82\x61a\xc4\x82\x21"))]) {
        let name = format!("t.{extension}");
        place.write(&name, bytes);
        query(&place, &name).fails_with(4, "corrupt file");
    }
}

#[test]
fn decimal_fractions_of_cbor_are_decimals() {
    let place = Place::new();
    // 1.5 as 15e-1 and 1500e-3, and an integer in tenths.
    place.write("t.cbor", b"\x82\x61a\xc4\x82\x20\x0f\x82\x61a\xc4\x82\x22\x19\x05\xdc\x82\x61a\x0f");
    let answer = place.run("query t.cbor --schema station:string,temperature:decimal(1)").text();
    assert_eq!(answer, "{a=1.5/1.5/1.5}\n");
}

#[test]
fn half_floats_of_cbor_are_read() {
    let place = Place::new();
    let halves: [(u16, &str); 8] = [
        (0x7e00, "NaN"),
        (0x7c00, "inf"),
        (0xfc00, "-inf"),
        (0x3e00, "1.5"),
        (0xc000, "-2.0"),
        (0x8000, "-0.0"),
        (0x7bff, "65504.0"),
        (0x0001, "5.960464477539063e-8"),
    ];
    let row = |(bits, _): &(u16, &str)| [&[0x81, 0xf9][..], &bits.to_be_bytes()].concat();
    place.write("t.cbor", halves.iter().flat_map(row).collect::<Vec<u8>>());
    let text: String = halves.iter().map(|(_, text)| format!("{text}\n")).collect();
    assert_eq!(place.run("cat t.cbor --schema x:float64").text(), format!("x\n{text}"));
    let narrow = text.replace("5.960464477539063e-8", "5.9604645e-8");
    assert_eq!(place.run("cat t.cbor --schema x:float32").text(), format!("x\n{narrow}"));
    place.write("cut.cbor", b"\x81\xf9\x3e");
    place.run("convert cut.cbor t.buren --schema x:float64").fails_with(4, "corrupt file");
}

#[test]
fn values_that_do_not_fit_a_column_are_explained() {
    let place = Place::new();
    let cases: [(&str, &[u8], &str, &str); 6] = [
        ("t.cbor", b"\x81\xc1\x01", "timestamp with zone", "a time with the tag 1; brc reads times as integers in"),
        ("t.cbor", b"\x81\xd8\x20\x01", "int64", "an item with the tag 32 in a column of numbers"),
        ("t.cbor", b"\x82\x01\x02", "int64", "a row of 2 values, but there is 1 column; see --schema"),
        ("t.msgpack", b"\x91\xcb\x3f\xf1\x99\x99\x99\x99\x99\x9a", "float32", "1.1 is not exact as float32"),
        ("t.msgpack", b"\x91\xcb\x7e\x37\xe4\x3c\x88\0\x75\x9c", "float32", "1e300 is out of range for float32"),
        ("t.msgpack", b"\x91\xcd\x01\x00", "int8", "256 is out of range for int8"),
    ];
    for (name, bytes, logical_type, message) in cases {
        place.write(name, bytes);
        let schema = format!("x:{logical_type}");
        place.run_of(&["convert", name, "t.buren", "--schema", &schema]).fails_with(1, message);
    }
    place.write("two.cbor", b"\x81\x01");
    place
        .run("convert two.cbor t.buren --schema x:int64,y:int64")
        .fails_with(1, "a row of 1 value, but there are 2 columns");
}

#[test]
fn files_of_another_encoding_than_the_named_one_are_not_corrupt() {
    let place = Place::new();
    place.write("t.csv", "id,day\n1,2024-01-01\n");
    place.run("convert t.csv t.parquet").ok();
    for named in ["buren", "parquet", "arrow", "avro"] {
        for (file, looks) in [("t.csv", "csv"), ("t.parquet", "parquet")] {
            let outcome = place.run(&format!("head {file} --from {named}"));
            if named == looks {
                outcome.ok();
            } else {
                let reason = format!("is no {named} file, but looks like {looks} (--from {looks} reads it as that)");
                outcome.fails(1, &format!("brc: {file}: {reason}"));
            }
        }
    }
    let mut damaged = place.read("t.parquet");
    damaged[0] ^= 1;
    place.write("t.parquet", damaged);
    place.run("head t.parquet --from parquet").fails_with(4, "corrupt file");
}

#[test]
fn tar_archives_are_refused_with_advice() {
    let place = Place::new();
    place.write("t.csv", "a\n1\n");
    place.shell("tar cf t.tar t.csv; gzip -k t.tar").ok();
    for command in ["head t.tar", "head t.tar.gz", "convert t.tar t.parquet"] {
        place
            .run(command)
            .fails_with(1, "tar archive is not supported; extract a file of it: tar -xOf in.tar NAME | brc");
    }
}

#[test]
fn a_text_that_begins_as_another_encoding_can_be_read() {
    let place = Place::new();
    for name in ["PAR1", "ARROW1"] {
        place.write("t.txt", format!("{name};12.0\n"));
        let outcome = place.run("query t.txt");
        outcome.fails_with(1, "t.txt: its extension says csv, but it looks like ");
        outcome.fails_with(1, "--from csv as text");
        assert_eq!(place.run("query t.txt --from csv").text(), format!("{{{name}=12.0/12.0/12.0}}\n"));
    }
}

#[test]
fn orc_is_refused_with_advice() {
    let place = Place::new();
    place.write("t.orc", b"ORC\x0a\x0b\0\0\0rest");
    place.write("t.csv", "a\n1\n");
    for command in ["query t.orc", "head t.orc", "sniff t.orc", "convert t.orc t.parquet"] {
        let outcome = place.run(command);
        outcome.fails_with(1, "t.orc: ORC is not supported; convert it to Parquet, as with pyarrow: python3 -c \"");
        outcome.fails_with(1, "p.write_table(o.read_table('in.orc'), 'out.parquet')");
    }
    for command in [
        "convert t.csv out.orc",
        "cat t.csv -o out.ORC",
        "head t.csv -o out.orc",
        "query t.csv -o out.orc --by '' --agg count()",
    ] {
        let outcome = place.run(command);
        outcome.fails_with(2, "ORC is not supported; write Parquet, and convert that, as with pyarrow");
    }
    assert!(!place.names().iter().any(|name| name.starts_with("out")));
}

#[test]
fn doubly_compressed_files_are_reported() {
    let place = Place::new();
    for (inner, outer) in [("gzip", "gzip"), ("zstd", "gzip"), ("lz4", "zstd"), ("snappy", "lz4"), ("gzip", "zlib")] {
        place.write("t.txt", compressed(outer, &compressed(inner, ROW)));
        let words = format!("is compressed twice, with {inner} inside {outer}");
        for options in ["", "--from csv"] {
            all_fail(&place, "t.txt", options, 1, &[&words]);
        }
    }
    // The usual name of such a file, written by another program.
    place.write("t.txt", ROW);
    place.shell("gzip t.txt && gzip -c t.txt.gz > t.txt.gz.gz").ok();
    place.run("query t.txt.gz.gz").fails_with(1, "t.txt.gz.gz: is compressed twice");
}

/// Random bytes that match no format.
fn noise(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed;
    let next = || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (state >> 56) as u8
    };
    std::iter::repeat_with(next).take(length).collect()
}

#[test]
fn random_bytes_have_no_known_encoding() {
    let place = Place::new();
    for seed in 0..20 {
        let noise = noise(5000, seed);
        for name in ["noise", "noise.bin", "noise.txt", "noise.csv", "noise.json"] {
            place.write(name, &noise);
            let outcome = place.run(&format!("query {name}"));
            outcome.fails_with(1, &format!("{name}: unrecognised file format"));
            outcome.fails_with(1, "--from");
        }
        place.pipe("query -", &noise).fails_with(1, "-: unrecognised file format");
    }
    place.run("query noise.txt --from csv --schema s:string,x:int").fails_with(3, "line 1");
}

#[test]
fn names_of_any_bytes_are_text() {
    let place = Place::new();
    let name: Vec<u8> = (1..=255).filter(|byte| !b";\n".contains(byte)).collect();
    let controls: Vec<u8> = (1..32).filter(|byte| *byte != b'\n').collect();
    for name in [&name[..], &name[..100], &name[127..], &controls, b"\xff\xfe", b"\x1b[1m"] {
        let text = [name, b";1.0\n"].concat().repeat(300);
        let answer = [b"{", name, b"=1.0/1.0/1.0}\n"].concat();
        for file in ["t", "t.txt"] {
            place.write(file, &text);
            assert_eq!(place.run(&format!("query {file} --format 1brc")).ok(), answer, "{}", name.escape_ascii());
        }
        assert_eq!(place.pipe("query - --format 1brc", &text).ok(), answer);
    }
}

#[test]
fn a_closed_standard_input_is_reported_and_an_empty_one_needs_a_schema() {
    let place = Place::new();
    for command in ["query -", "inspect -", "verify -", "convert - t.buren"] {
        place
            .shell(&format!("$BRC {command} <&-"))
            .fails(1, "brc: -: cannot read: standard input is closed, or is the null device");
    }
    assert_eq!(place.names(), [""; 0]);
    let schema = "--schema 'station:string,temperature:decimal(1)'";
    assert_eq!(place.shell(&format!("$BRC query - {schema} </dev/null")).text(), "{}\n");
    assert_eq!(place.shell(&format!(": | $BRC query - {schema}")).text(), "{}\n");
    place.pipe("query -", b"").fails_with(2, "no columns");
}

#[test]
fn copies_of_columnar_files_have_a_limit() {
    let place = Place::new();
    place.run("generate t.txt --rows 20k").ok();
    for extension in ["buren", "parquet", "arrow"] {
        let name = format!("t.{extension}");
        place.run(&format!("convert t.txt {name}")).ok();
        let bytes = place.read(&name);
        let answer = place.run(&format!("query {name} --max-copy 0")).text();
        let (most, less) = (bytes.len(), bytes.len() - 1);
        for compression in ["gzip", "zstd"] {
            let packed = format!("packed-{name}");
            place.write(&packed, compressed(compression, &bytes));
            let words = format!("needs a temporary copy of more than {less} bytes; raise the limit with --max-copy");
            all_fail(&place, &packed, &format!("--max-copy {less}"), 1, &[&words]);
            all_fail(&place, &packed, "--max-copy 1k", 1, &["a temporary copy of more than 1 KiB"]);
            assert_eq!(place.run(&format!("query {packed} --max-copy {most}")).text(), answer);
        }
        // The length of another program's output is not known in advance.
        place.shell(&format!("gzip -c {name} > foreign")).ok();
        all_fail(&place, "foreign", &format!("--max-copy {less}"), 1, &["raise the limit with --max-copy"]);
        assert_eq!(place.run(&format!("query foreign --max-copy {most}")).text(), answer);
        place.pipe(&format!("query - --max-copy {less}"), &bytes).fails_with(1, "raise the limit with --max-copy");
        assert_eq!(place.pipe(&format!("query - --max-copy {most}"), &bytes).text(), answer);
    }
}

#[test]
fn only_columnar_files_are_copied() {
    let place = Place::new();
    let bomb = compressed("zstd", &vec![b'x'; 4 << 20]);
    for encoding in ["buren", "parquet", "arrow"] {
        place.write(&format!("bomb.{encoding}.zst"), &bomb);
        // A copy would exceed the limit.
        let reason = format!("is no {encoding} file, but looks like csv");
        place.run(&format!("query bomb.{encoding}.zst --from {encoding} --max-copy 1M")).fails_with(1, &reason);
        place.pipe(&format!("query - --from {encoding} --max-copy 1M"), &bomb).fails_with(1, &reason);
    }
}

#[test]
fn a_json_row_that_does_not_fit_the_schema_is_a_bad_row() {
    let place = Place::new();
    let rows = "{\"station\":\"Abha\",\"temperature\":1.5}\n".repeat(5000);
    place.write("t.json", format!("{rows}{{\"station\":\"Abha\",\"temperature\":1.25}}\n"));
    let place_of_row = "brc: t.json: line 5001, byte 185000, column 'temperature': ";
    place.run(&format!("query t.json {SCHEMA}")).fails(3, &format!("{place_of_row}'1.25' has more than 1 decimal"));
    for schema in ["", "--schema station:string,temperature:decimal(2)"] {
        assert_eq!(place.run(&format!("query t.json {schema}")).text(), "{Abha=1.25/1.50/1.50}\n");
    }
}

#[test]
fn web_pages_and_xml_are_no_tables() {
    let place = Place::new();
    for (file, name) in [
        ("<html><body><table><tr><td>a,b</td></tr></table></body></html>\n", "a web page"),
        ("\u{feff}\n<!DOCTYPE HTML>\n<html lang=\"en\">\n", "a web page"),
        ("<?xml version=\"1.0\"?>\n<rows/>\n", "XML"),
    ] {
        for path in ["export.xls", "export.xlsx", "export.html", "export"] {
            place.write(path, file);
            all_fail(&place, path, "", 1, &["unrecognised file format", &format!("looks like {name}")]);
        }
        // A name or an option that says so makes it a text.
        place.write("page.csv", file);
        place.run("cat page.csv --header no").ok();
        place.run("cat export --from csv --header no").ok();
    }
}

#[test]
fn an_unsupported_compression_is_answered_with_the_supported_ones() {
    let place = Place::new();
    place.write("t.csv", "a,b\n1,2\n");
    for (name, own, others) in [
        ("x.arrow", "lz4", "lz4, zstd"),
        ("x.parquet", "gzip", "snappy, lz4, gzip, zstd"),
        ("x.avro", "zstd", "snappy, zstd"),
    ] {
        let encoding = name.strip_prefix("x.").unwrap();
        let instead = "name the file without that extension, and add --compression";
        let extension = by_name(own).and_then(brc_compress::Compression::file_format).unwrap().extensions()[0];
        let reason = format!("{encoding} compresses its blocks: {instead} {own}");
        place.run(&format!("convert t.csv {name}.{extension}")).fails(2, &format!("brc: {name}.{extension}: {reason}"));
        let reason =
            format!("{encoding} compresses its blocks, but not with zlib: {instead} {}", others.replace(", ", "|"));
        place.run(&format!("convert t.csv {name}.zz")).fails(2, &format!("brc: {name}.zz: {reason}"));
        let outcome = place.run(&format!("convert t.csv {name} --compression zlib"));
        outcome.fails_with(2, &format!("brc: {encoding} does not support zlib"));
        outcome.fails_with(2, &format!("; it supports {others}"));
    }
    assert_eq!(place.names(), ["t.csv"]);
}
