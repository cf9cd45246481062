//! Comparisons of small tables, for real: all cells, files of results, going on, and what goes wrong.

#![allow(clippy::unwrap_used)]

mod common;

use common::Place;
use std::fs;

/// A comparison that takes no longer than it must.
const QUICK: &str = "--runs 1 --convert-runs 1 --warmup 0";

/// The values of a column of `results.csv`; none of its fields has a comma.
fn column(place: &Place, name: &str) -> Vec<String> {
    let text = String::from_utf8(place.read("out/results.csv")).unwrap();
    let position = text.lines().next().unwrap().split(',').position(|title| title == name).unwrap();
    text.lines().skip(1).map(|line| line.split(',').nth(position).unwrap().to_owned()).collect()
}

#[test]
fn every_encoding_with_every_compression_is_right() {
    let place = Place::new();
    place.run("generate t.txt --rows 2000 --stations 20").ok();
    let shown = place.run(&format!("compare t.txt {QUICK} --out out")).text();
    for words in ["t.txt: 2_000 rows", "buren", "with statistics", "Who asks often: ", "Pareto front"] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    let names: Vec<_> = fs::read_dir(place.path("out")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    let mut names: Vec<_> = names.iter().map(|name| name.to_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, ["README.md", "report.html", "results.csv", "results.json"]);
    assert_eq!(place.names(), ["out", "t.txt"]);

    // No cell may have failed: each one was measured, or there can be no such file.
    let outcomes = column(&place, "outcome");
    assert!(outcomes.iter().all(|outcome| ["input", "measured", "impossible"].contains(&outcome.as_str())), "{shown}");
    let cells: Vec<(String, String)> =
        column(&place, "encoding").into_iter().zip(column(&place, "compression")).collect();
    for encoding in ["buren", "csv"] {
        for compression in ["none", "snappy", "lz4", "gzip", "zlib", "zstd"] {
            assert!(cells.contains(&(encoding.to_owned(), compression.to_owned())), "{encoding} {compression}");
        }
    }
    let page = String::from_utf8(place.read("out/report.html")).unwrap();
    assert!(page.contains("<svg") && page.contains("t.txt"));
}

#[test]
fn a_finished_comparison_is_shown_again_and_another_is_refused() {
    let place = Place::new();
    place.write("t.txt", "Abha;1.0\nHamburg;2.0\nAbha;-3.0\n");
    let command = format!("compare t.txt {QUICK} --encodings buren,csv --compressions none --out out");
    let shown = place.run(&command).text();
    let results = place.read("out/results.json");
    assert_eq!(place.run(&command).text(), shown);
    assert!(place.read("out/results.json") == results);

    place.run(&command.replace("--runs 1", "--runs 2")).fails_with(2, "other options");
    place.run(&format!("{command} --by station --force")).ok();
    place.run(&command).fails_with(2, "--force starts anew");
    place.write("t.txt", "Abha;1.0\n");
    place.run(&format!("{command} --by station")).fails_with(2, "other input files");
    assert_eq!(place.names(), ["out", "t.txt"]);
}

#[test]
fn some_rows_of_any_encoding_can_be_compared_and_files_kept() {
    let place = Place::new();
    place.run("generate t.txt --rows 100k --stations 30").ok();
    place.run("convert t.txt t.buren --row-group 64k").ok();
    let text = place.read("t.txt");
    let first: Vec<u8> = text.split_inclusive(|&byte| byte == b'\n').take(12_345).flatten().copied().collect();
    for input in ["t.txt", "t.buren"] {
        let options = "--encodings buren,csv --compressions none,lz4 --rows 12345 --keep --out out --force --cold";
        place.run(&format!("compare {input} {QUICK} {options}")).ok();
        assert_eq!(column(&place, "rows"), vec!["12345"; 7], "{input}");
        assert!(place.read("out/files/t.csv") == first, "{input}");
        place.run("convert out/files/t.lz4.buren back.csv --force").ok();
        assert!(place.read("back.csv") == first, "{input}");
        assert_eq!(fs::read_dir(place.path("out/files")).unwrap().count(), 4);
    }
}

#[test]
fn several_tables_and_questions_are_compared() {
    let place = Place::new();
    place.write("a.txt", "Abha;1.0\nHamburg;2.0\n");
    place.write("b.txt", "Abha;-1.0\n");
    place.run("convert b.txt b.buren --schema place:string,temperature:decimal(1)").ok();
    let options = "--encodings csv,buren --compressions none --out out";
    // The same question must fit both, and that is seen before anything is measured.
    place.run(&format!("compare a.txt b.buren {QUICK} {options} --by station")).fails_with(2, "station");
    assert_eq!(place.names(), ["a.txt", "b.buren", "b.txt"]);
    let shown = place.run(&format!("compare a.txt b.buren {QUICK} {options} --agg max(temperature)")).text();
    assert!(shown.contains("a.txt: 2 rows") && shown.contains("b.buren: 1 rows"), "{shown}");
    place.write("empty.txt", "");
    place.run(&format!("compare empty.txt {QUICK} --encodings csv,buren --compressions none,gzip")).ok();
}

/// The shell lets no file grow beyond some size: the large file of one cell fails, and nothing else does.
#[test]
fn a_cell_that_fails_is_shown_and_the_others_go_on() {
    let place = Place::new();
    place.run("generate t.txt --rows 200k").ok();
    let options = format!("{QUICK} --encodings buren,csv --compressions none --out out");
    let outcome = place.shell(&format!("ulimit -f 2000; exec \"$BRC\" compare t.txt {options}"));
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    let shown = String::from_utf8(outcome.stdout).unwrap();
    assert!(shown.contains("FAILED csv: converting: its process ended with signal"), "{shown}");
    assert!(shown.contains("Who asks often: buren"), "{shown}");
    // It gets another chance, and the rest is known.
    place.run(&format!("compare t.txt {options}")).ok();
    assert_eq!(column(&place, "outcome"), ["input", "measured", "measured", "measured"]);
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let place = Place::new();
    place.write("t.txt", "Abha;1.0\n");
    place.run("compare t.txt --agg sum(humidity)").fails_with(2, "humidity");
    place.run("compare /dev/null").fails_with(2, "must be a file");
    place.run("compare nowhere.txt").fails_with(1, "nowhere.txt");
    place.run("compare t.txt --keep").fails_with(2, "--out");
    place.run("compare t.txt --encodings nonsense").fails_with(2, "nonsense");
    place.write("bad.txt", "Abha;1.0\nHamburg;x\n");
    place.run(&format!("compare bad.txt {QUICK}")).fails_with(1, "line 2");
}

/// Whenever it ends, it takes its converted files along.
#[test]
fn nothing_is_left_after_a_kill() {
    let place = Place::new();
    place.run("generate t.txt --rows 300k").ok();
    let options = "--encodings buren,csv --compressions none --runs 200 --out out";
    let killed = place.shell(&format!("timeout -s TERM 0.5 \"$BRC\" compare t.txt {options}"));
    assert_eq!(killed.code, Some(124), "{}", killed.stderr);
    let left: Vec<_> = fs::read_dir(place.path("out")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| name == "results.json"), "{left:?}");
}
