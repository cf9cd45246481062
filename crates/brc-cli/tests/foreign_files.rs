//! Tests of files of other programs: valid Parquet, Arrow and compressed files are read, and damaged ones give an
//! error, never a panic.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

mod common;

use common::{Outcome, Place};

/// A directory with a file of `tests/data`.
fn with(name: &str) -> Place {
    let place = Place::new();
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
    place.write(name, std::fs::read(path).unwrap());
    place
}

fn query(place: &Place, name: &str, statement: &str) -> Outcome {
    place.run_of(&["query", name, statement, "--format", "csv"])
}

#[test]
fn timestamps_of_96_bits_are_exact_in_all_years() {
    let place = with("int96.parquet");
    let rows = "k,t\na,2006-01-02 07:04:05.000000\nb,9999-12-31 23:59:59.999999\nc,0001-01-01 00:00:00.000000\n";
    assert_eq!(place.run("cat int96.parquet").text(), rows);
    let late = "select k where t > timestamp '9999-01-01 00:00:00'";
    assert_eq!(query(&place, "int96.parquet", late).text(), "k\nb\n");
    for target in ["t.buren", "t.parquet", "t.arrow"] {
        place.run(&format!("convert int96.parquet {target}")).ok();
        assert_eq!(place.run(&format!("cat {target}")).text(), rows, "{target}");
    }
}

#[test]
fn pages_of_every_compression_are_read() {
    let sum = |name: &str, statement: &str| query(&with(name), name, statement).text();
    assert_eq!(sum("brotli.parquet", "select sum(a), count(*)"), "sum(a),count(*)\n3,2\n");
    assert_eq!(sum("gzip-members.parquet", "select sum(long_col), count(*)"), "sum(long_col),count(*)\n131841,513\n");
    for name in ["hadoop-lz4.parquet", "raw-lz4.parquet"] {
        assert_eq!(sum(name, "select sum(c0), sum(v11)"), "sum(c0),sum(v11)\n6374419202,99.525\n");
    }
}

#[test]
fn unknown_footer_fields_of_other_writers_are_ignored() {
    let place = with("dremio.parquet");
    let answer = query(&place, "dremio.parquet", "select sum(l_partkey), count(*)").text();
    assert_eq!(answer, "sum(l_partkey),count(*)\n60528,39\n");
}

#[test]
fn column_chunks_that_do_not_count_all_of_their_bytes_are_read() {
    let place = with("unsaid-bytes.parquet");
    let statement = "select sum(nation_key), min(name), count(comment_col)";
    let answer = query(&place, "unsaid-bytes.parquet", statement).text();
    assert_eq!(answer, "sum(nation_key),min(name),count(comment_col)\n300,ALGERIA,25\n");
    place.run("verify unsaid-bytes.parquet").ok();
}

#[test]
fn durations_are_read_as_integers_with_a_note() {
    let place = with("durations.parquet");
    let outcome = query(&place, "durations.parquet", "select d, x");
    assert_eq!(outcome.stderr, "note: column 'd' is a duration(ms), of which brc reads the integers\n");
    assert_eq!(outcome.text(), "d,x\n1500,1\n,2\n");
}

#[test]
fn a_value_that_no_table_holds_is_located() {
    let outcome = query(&with("midnight.parquet"), "midnight.parquet", "select t");
    outcome.fails_with(1, "row group 0, column 't', row 1: the value 86400000000 is out of the range of time");
}

#[test]
fn duplicate_and_empty_names_are_made_unique_with_a_note() {
    for (name, header, note) in [
        ("doubled-name.parquet", "id,v,v_1", "also named 'v', is called 'v_1'"),
        ("blank-name.parquet", "column_1,a", "note: column 1, which has no name, is called 'column_1'"),
    ] {
        let outcome = with(name).run(&format!("cat {name}"));
        assert!(outcome.stderr.contains(note), "{}", outcome.stderr);
        assert!(outcome.text().starts_with(header), "{name}");
    }
}

#[test]
fn unsupported_files_are_not_called_corrupt() {
    let place = with("version-1.feather");
    for command in ["query", "inspect", "verify", "schema"] {
        place.run(&format!("{command} version-1.feather")).fails_with(1, "is a Feather file of version 1");
    }
    let place = with("encrypted-column.parquet");
    assert_eq!(query(&place, "encrypted-column.parquet", "select b").text(), "b\nx\ny\nz\n");
    query(&place, "encrypted-column.parquet", "select a").fails_with(2, "column 'a' is encrypted");
}

#[test]
fn a_library_panic_is_reported_as_a_damaged_file() {
    for name in ["panics.arrow", "panics.parquet"] {
        let outcome = with(name).run(&format!("verify {name}"));
        let stderr = &outcome.stderr;
        assert!(outcome.code == Some(4) && !stderr.contains("internal error"), "{name}: {stderr}");
    }
    with("panics.parquet").run("verify panics.parquet").fails_with(4, "the library that decodes it gave up");
}

#[test]
fn a_damaged_header_does_not_disable_checksums() {
    let place = with("damaged-start.cpacked");
    for command in ["query", "verify", "cat"] {
        let reason = "header: the first bytes are damaged or missing";
        place.run(&format!("{command} damaged-start.cpacked")).fails_with(4, reason);
    }
}

#[test]
fn trailing_bytes_after_compressed_text_are_a_warning() {
    let place = Place::new();
    place.write("t.csv", "a,b\n1,2\n3,4\n");
    for (tool, extension, name) in [("gzip", "gz", "gzip"), ("bzip2", "bz2", "bzip2")] {
        place.shell(&format!("{tool} -c t.csv > sound.csv.{extension}")).ok();
        let (sound, file) = (place.read(&format!("sound.csv.{extension}")), format!("t.csv.{extension}"));
        let head = &sound[..3];
        place.write(&file, [&sound[..], b"\0\0garbage"].concat());
        for outcome in [place.run(&format!("cat {file}")), place.pipe("cat -", &place.read(&file))] {
            let warning = format!("9 bytes after the end of the {name} data are ignored");
            assert_eq!(outcome.stderr.matches(&warning).count(), 1, "{}", outcome.stderr);
            assert!(outcome.stderr.starts_with("warning: "), "{}", outcome.stderr);
            assert_eq!(outcome.text(), "a,b\n1,2\n3,4\n");
        }
        place.write(&file, [&sound[..], &[0; 512]].concat());
        let outcome = place.run(&format!("cat {file}"));
        assert_eq!((outcome.stderr.as_str(), outcome.code), ("", Some(0)));
        // A header with one damaged byte still shows that another member follows.
        for at in 0..head.len() {
            let mut second = sound.clone();
            second[at] ^= 0x40;
            place.write(&file, [&sound[..], &second].concat());
            place.run(&format!("verify {file}")).fails_with(4, "corrupt file: compressed data");
        }
    }
}

#[test]
fn a_closed_standard_error_changes_nothing_else() {
    let place = Place::new();
    place.write("t.csv", "a,b\n1,2\n");
    for stderr in ["2>/dev/full", "2>&-"] {
        let converted = place.shell(&format!("$BRC convert t.csv t.buren --force {stderr}"));
        assert_eq!(converted.code, Some(0), "{stderr}");
        assert_eq!(place.run("cat t.buren").text(), "a,b\n1,2\n");
        for (command, code) in [
            ("query t.csv 'select a' --explain --timings", 0),
            ("query nothing.csv", 1),
            ("query t.csv 'select c'", 2),
            ("generate g.csv --rows 3 --force", 0),
            ("schema t.csv", 0),
            ("no-such-command", 2),
        ] {
            let outcome = place.shell(&format!("$BRC {command} {stderr}"));
            assert_eq!(outcome.code, Some(code), "{command} {stderr}: {}", outcome.stderr);
        }
    }
    for command in [
        "query t.csv 'select a'",
        "query t.csv describe",
        "convert t.csv - --to csv",
        "count t.csv",
        "verify t.buren",
        "cat t.csv",
        "schema t.csv",
        "sniff t.csv",
        "inspect t.buren",
        "help",
        "help cat",
        "cat --help",
        "--version",
    ] {
        let outcome = place.shell(&format!("$BRC {command} >/dev/full"));
        assert_eq!(outcome.code, Some(1), "{command}: {}", outcome.stderr);
        assert!(outcome.stderr.contains("No space left"), "{command}: {}", outcome.stderr);
        let outcome = place.shell(&format!("$BRC {command} >&-"));
        assert!(!outcome.stderr.contains("internal error"), "{command}: {}", outcome.stderr);
        if cfg!(target_os = "linux") {
            outcome.fails_with(1, "Bad file descriptor");
        }
    }
}

#[test]
fn names_that_are_not_utf8_are_read() {
    let place = Place::new();
    let shell = |script: &str| place.shell(&format!("mkdir -p g; cd g; {script}"));
    shell(r#"printf 'a\n1\n' > "$(printf 'b\351.txt')"; printf 'a\n2\n' > c.txt"#).ok();
    assert_eq!(shell("$BRC query '*.txt' 'select sum(a)' --format csv").text(), "sum(a)\n3\n");
    assert_eq!(shell("$BRC query 'b?.txt' 'select sum(a)' --format csv").text(), "sum(a)\n1\n");
    assert_eq!(shell(r#"$BRC query "$(printf 'b\351*')" 'select sum(a)' --format csv"#).text(), "sum(a)\n1\n");
    let names = shell("$BRC query '*.txt' --file-name f 'select f, a' --format csv").ok();
    assert_eq!(names, b"f,a\nb\xe9.txt,1\nc.txt,2\n");
    shell(r#"$BRC convert c.txt "$(printf 'o\377.buren')"; $BRC verify o*"#).ok();
}
