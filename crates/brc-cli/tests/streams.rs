//! Tests of tables with an unknown number of rows and splits: pipes, compressed files, and mixes of these with others.
//!
//! Every run of `brc` in these tests has a time limit.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

mod common;

use common::Place;

/// The same ten rows in files of all kinds, three or four in each.
fn ten_rows() -> Place {
    let place = Place::new();
    for (name, rows) in [("a", 0..4), ("b", 4..7), ("c", 7..10)] {
        let rows: String = rows.map(|row| format!("{row},{}\n", row % 2)).collect();
        place.write(&format!("{name}.csv"), format!("x,k\n{rows}"));
        for encoding in ["buren", "parquet", "arrow", "json", "msgpack"] {
            place.run(&format!("convert {name}.csv {name}.{encoding}")).ok();
        }
    }
    place.shell("gzip -k ?.csv; bzip2 -k ?.csv; xz -k ?.csv; zstd -q ?.csv; true").ok();
    place
}

/// Compressions whose programs are installed.
fn compressions(place: &Place) -> Vec<&'static str> {
    let there: Vec<_> =
        ["gz", "bz2", "xz", "zst"].into_iter().filter(|it| place.path(&format!("a.csv.{it}")).exists()).collect();
    assert!(there.contains(&"gz"));
    there
}

#[test]
fn offsets_skip_rows_across_files_with_and_without_a_row_count() {
    let place = ten_rows();
    let streams = compressions(&place);
    let stream = format!("csv.{}", streams[streams.len() - 1]);
    let kinds = ["buren", "csv", "csv.gz", "parquet", &stream, "msgpack"];
    for (number, first) in kinds.iter().enumerate() {
        for second in kinds {
            let third = kinds[(number + 2) % kinds.len()];
            let files = [format!("a.{first}"), format!("b.{second}"), format!("c.{third}")];
            for (offset, limit) in [(0, 2), (3, 2), (6, 3), (8, 2), (8, 20), (9, 0), (100, 20)] {
                let question = format!("select x limit {limit} offset {offset}");
                let expected: String = (0..10).skip(offset).take(limit).map(|row| format!("{row}\n")).collect();
                for threads in ["1", "3"] {
                    let arguments =
                        ["query", &files[0], &files[1], &files[2], &question, "--format", "csv", "--threads", threads];
                    assert_eq!(place.run_of(&arguments).text(), format!("x\n{expected}"), "{arguments:?}");
                }
            }
        }
    }
}

#[test]
fn rows_of_pipes_are_skipped_and_sorted() {
    let place = ten_rows();
    let all = place.read("a.csv");
    for (files, question, expected) in [
        ("b.buren - c.csv", "select x limit 3 offset 2", "6\n0\n1\n"),
        ("b.buren - c.csv", "select x limit 3 offset 6", "3\n7\n8\n"),
        ("- b.buren", "select x limit 3 offset 3", "3\n4\n5\n"),
        ("- b.buren", "select x order by x desc limit 3 offset 2", "4\n3\n2\n"),
        ("- b.buren", "select x order by k desc, x limit 2 offset 2", "5\n0\n"),
        ("- b.buren", "select x where k = 1 limit 5 offset 1", "3\n5\n"),
        ("- b.buren", "select x order by x limit 0", ""),
        ("- b.buren", "select x limit 5 offset 7", ""),
        ("- b.buren", "select x order by x offset 6", "6\n"),
        ("- b.buren", "select count(*)", "7\n"),
        ("- b.buren", "select count(*) where k = 1", "3\n"),
    ] {
        for threads in ["1", "3"] {
            let arguments: Vec<_> = files.split(' ').collect();
            let arguments = [&["query"], &arguments[..], &[question, "--format", "csv", "--threads", threads]].concat();
            let text = place.pipe_of(&arguments, &all).text();
            let (_, rows) = text.split_once('\n').unwrap();
            assert_eq!(rows, expected, "{arguments:?}");
        }
    }
}

#[test]
fn streams_know_their_file() {
    let place = ten_rows();
    for compression in compressions(&place) {
        let file = format!("a.csv.{compression}");
        let count = ["query", &file, "--file-name", "f", "select f, count(*) as n group by f", "--format", "csv"];
        assert_eq!(place.run_of(&count).text(), format!("f,n\n{file},4\n"));
        let count =
            ["query", &file, "b.buren", "--file-name", "f", "select f, sum(x) as n group by f", "--format", "csv"];
        assert_eq!(place.run_of(&count).text(), format!("f,n\n{file},6\nb.buren,15\n"));
        let sorted =
            ["query", &file, "b.csv", "--file-name", "f", "select f, x order by f, x desc limit 2", "--format", "csv"];
        assert_eq!(place.run_of(&sorted).text(), format!("f,x\n{file},3\n{file},2\n"));
        place.run(&format!("convert {file} b.parquet all.buren --file-name f --force")).ok();
        let count = ["query", "all.buren", "select f, count(*) as n group by f", "--format", "csv"];
        assert_eq!(place.run_of(&count).text(), format!("f,n\n{file},4\nb.parquet,3\n"));
    }
    for question in ["select f, count(*) as n group by f", "select f, count(distinct x) as n group by f"] {
        let arguments = ["query", "-", "--file-name", "f", question, "--format", "csv"];
        assert_eq!(place.pipe_of(&arguments, &place.read("a.csv")).text(), "f,n\n-,4\n");
    }
}

#[test]
fn streams_are_matched_by_name_with_other_files() {
    let place = ten_rows();
    place.write("u.csv", "k,y\n0,1.5\n1,2.5\n");
    place.shell("gzip -k u.csv").ok();
    let expected = "k,sum(x),sum(y)\n0,2,1.5\n1,4,2.5\n";
    for files in [
        ["a.parquet", "u.csv.gz"],
        ["u.csv.gz", "a.parquet"],
        ["a.buren", "u.csv.gz"],
        ["a.csv.gz", "u.csv.gz"],
        ["u.csv", "a.csv.gz"],
    ] {
        for by in ["k", "x, k", "k, y"] {
            let question = format!("select k, sum(x), sum(y) group by {by}");
            let arguments = ["query", files[0], files[1], "--union-by-name", &question, "--format", "csv"];
            let text = place.run_of(&arguments).text();
            if by == "k" {
                assert_eq!(text, expected, "{arguments:?}");
            }
            assert!(text.lines().count() > 2, "{text}");
        }
        let count =
            ["query", files[0], files[1], "--union-by-name", "select count(*), count(x), count(y)", "--format", "csv"];
        let text = place.run_of(&count).text();
        assert_eq!(text, "count(*),count(x),count(y)\n6,4,2\n");
        place.run(&format!("convert {} {} all.buren --union-by-name --force", files[0], files[1])).ok();
        let again = ["query", "all.buren", "select k, sum(x), sum(y) group by k", "--format", "csv"];
        assert_eq!(place.run_of(&again).text(), expected);
    }
}

/// An endless stream is read only as far as needed.
#[test]
fn endless_streams_are_abandoned() {
    let place = Place::new();
    let endless = |command: &str| place.shell(&format!("yes 1,x | {command}"));
    assert_eq!(endless("$BRC head - -n 2 --names a,b --format csv").text(), "a,b\n1,x\n1,x\n");
    assert_eq!(endless("$BRC head - -n 1 --names a,b --file-name f --format csv").text(), "a,b,f\n1,x,-\n");
    let limited = "$BRC query - --names a,b --format csv 'select a where b = chr(120) limit 2 offset 5'";
    assert_eq!(endless(&limited.replace("chr(120)", "'\\''x'\\''")).text(), "a\n1\n1\n");
    assert_eq!(endless("$BRC query - --names a,b --format csv 'select a limit 0'").text(), "a\n");
    assert!(endless("$BRC sniff - --names a,b").text().contains("a      int64"));
    // Errors that later rows cannot fix are reported immediately.
    endless("$BRC query - --names a,b 'select nothing'").fails_with(2, "nothing");
    endless("$BRC query - --names a,b 'select nofunction(a)'").fails_with(2, "nofunction");
    endless("$BRC query - --names a,b 'select a, count(*)'")
        .fails_with(2, "neither in group by nor inside an aggregate");
    endless("$BRC cat - --names a,b --columns c").fails_with(2, "unknown column 'c'");
}

/// Rows of another program, which have no frames, are read in order even from a file.
#[test]
fn files_without_frames_can_be_queried_twice() {
    let place = Place::new();
    let ids = 0..200_000u32;
    place.write("t.msgpack", ids.flat_map(|id| [&[0x91, 0xce][..], &id.to_be_bytes()].concat()).collect::<Vec<u8>>());
    let schema = ["--schema", "id:int64", "--format", "csv"];
    let twice = "select count(*) as n; select count(*) as n, max(id) as most";
    let found = place.run_of(&[&["query", "t.msgpack", twice][..], &schema].concat());
    assert_eq!(found.text(), "n\n200000\nn,most\n200000,199999\n");
    // More distinct values than the first attempt to count them allows.
    let distinct = "select count(distinct id) as d, count(*) as n";
    let found = place.run_of(&[&["query", "t.msgpack", distinct][..], &schema].concat());
    assert_eq!(found.text(), "d,n\n200000,200000\n");
    place.shell("seq -f '%.0f' 1 200000 | sed 's/$/,x/' > rows.txt").ok();
    for (file, from) in [("t.msgpack", "msgpack"), ("rows.txt", "csv")] {
        let schema = if from == "csv" { "'id:int64,k:string' --header no" } else { "id:int64" };
        let query = "select count(distinct id) as d, count(*) as n";
        let found = place
            .shell(&format!("cat {file} | \"$BRC\" query - --from {from} --schema {schema} '{query}' --format csv"));
        assert_eq!(found.text(), "d,n\n200000,200000\n", "{from}");
    }
}
