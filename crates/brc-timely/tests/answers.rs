//! Tests that results of several processes equal those of `brc query`, byte for byte.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{Cluster, Tables, brc, rows};
use std::path::Path;

/// Aggregate queries of all kinds with their options.
const QUERIES: &[&[&str]] = &[
    &["select k, count(*), sum(v), min(v), max(n), mean(v), count(n) group by k"],
    &["select n, sum(f), avg(f), stddev(f), var_pop(v), min(f), max(f) group by n", "--format", "csv"],
    &["select k, count(distinct s), count(distinct n), approx_count_distinct(id) group by k", "--format", "json"],
    &["select n, median(v), quantile(f, 0.3), quantile_cont(v, 0.9), mode(s) group by n", "--format", "csv"],
    &["select k, top(v, 3), first(s), last(s), min_by(s, v), max_by(id, f) group by k", "--format", "csv"],
    &["select k, string_agg(s, ';') group by k", "--format", "tsv"],
    &["select k, min(s), max(s), corr(v, f) group by k order by max(s) desc nulls first, 1"],
    &["select s, count(*) as c, sum(v) group by s having count(*) > 2 order by c desc, s limit 20 offset 3"],
    &["select distinct n, k order by 1 desc, 2", "--format", "csv"],
    &["select count(*), sum(f), count(distinct s), median(v), min(d), max(s)"],
    &["select count(*), sum(v) where n > 100", "--format", "json"],
    &["select k, count(*) where n > 100 group by k"],
    &[
        "select date_trunc('month', d) as m, n % 3, upper(k), count(*), sum(v * 2) where v > -500 group by 1, 2, 3",
        "--format",
        "csv",
    ],
    &["select id, s, k, n, count(*), sum(v), median(f) group by id, s, k, n", "--format", "csv"],
    &["select f, -f as g, count(*) group by f, g", "--format", "markdown"],
    &[
        "--by",
        "k",
        "--agg",
        "sum(v),count(*)",
        "--where",
        "s like '%7%'",
        "--having",
        "sum(v) > 0",
        "--order-by",
        "2 desc",
    ],
    &["--by", "k", "--no-statistics", "-x"],
    &["select v, count(*) filter (where n = 3) group by v order by 2 desc, 1 limit 5"],
];

fn same(directory: &Path, words: &[&str], processes: usize, workers: usize) {
    let expected = brc(directory, &[&["query"], words].concat());
    assert_eq!(expected.code, Some(0), "{words:?}: {}", expected.err);
    assert!(!expected.out.is_empty());
    let ended = Cluster::new(processes).run(directory, workers, words);
    for (process, ended) in ended.iter().enumerate() {
        assert_eq!(ended.code, Some(0), "{words:?}, process {process} of {processes}: {}", ended.err);
        assert!(process == 0 || ended.out.is_empty(), "only the first process prints");
    }
    let [found, expected] = [&ended[0].out, &expected.out].map(|out| String::from_utf8_lossy(out));
    assert!(found == expected, "{words:?}, {processes} × {workers}:\n{found}\n{expected}");
}

/// Runs every query on every kind of file, with varying numbers of processes and workers.
#[test]
fn results_equal_those_of_one_process() {
    let tables = Tables::new();
    let mut number = 0;
    for words in QUERIES {
        for files in &tables.files {
            let (processes, workers) = (1 + number % 3, 1 + number / 3 % 3);
            same(&tables.path(), &[files, *words].concat(), processes, workers);
            // All pairs occur, because there are 8 kinds of files.
            number += 1;
        }
    }
}

#[test]
fn results_do_not_depend_on_processes_and_workers() {
    let tables = Tables::new();
    for (processes, workers) in (1..=3).flat_map(|processes| (1..=3).map(move |workers| (processes, workers))) {
        same(&tables.path(), &["clustered.buren", QUERIES[0][0]], processes, workers);
        same(&tables.path(), &["part-*.csv", QUERIES[4][0], "--format", "csv"], processes, workers);
    }
    same(&tables.path(), &["clustered.buren", QUERIES[3][0]], 5, 2);
}

#[test]
fn empty_tables_have_results() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("empty.csv"), "k,v\n").unwrap();
    for words in [
        &["empty.csv", "--type", "v=int", "select count(*), sum(v), max(k)"][..],
        &["empty.csv", "select k, count(*) group by k"],
        &["empty.csv", "--schema", "k:string,v:int", "--header", "yes", "select distinct v", "--format", "csv"],
    ] {
        same(directory.path(), words, 2, 2);
    }
}

#[test]
fn a_table_of_the_one_billion_row_challenge_needs_no_query() {
    let directory = tempfile::tempdir().unwrap();
    let generated = brc(directory.path(), &["generate", "--rows", "200000", "m.txt"]);
    assert_eq!(generated.code, Some(0), "{}", generated.err);
    for (processes, workers) in [(1, 2), (3, 1)] {
        same(directory.path(), &["m.txt"], processes, workers);
        same(directory.path(), &["m.txt", "--schema", "station:string,temperature:decimal(1)"], processes, workers);
    }
}

/// Partials exceed the message size, and the result is computed while it is printed.
#[test]
fn many_groups_give_the_same_result() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("many.csv"), rows(150_000)).unwrap();
    let converted = brc(directory.path(), &["convert", "many.csv", "many.buren", "--row-group", "1M"]);
    assert_eq!(converted.code, Some(0), "{}", converted.err);
    for query in [
        "select id, s, count(*), sum(v), median(f) group by id, s",
        "select id, string_agg(s, ',') as all group by id order by min(v), id limit 10",
    ] {
        same(directory.path(), &["many.buren", query, "--format", "csv"], 2, 2);
    }
}

/// Inferred types must not depend on which worker reads which split, even if only the last row determines them.
#[test]
fn types_are_those_of_all_rows() {
    let directory = tempfile::tempdir().unwrap();
    let mut text = "k,v,w\n".to_owned();
    (0..120_000).for_each(|row| text += &format!("k{},{row},NA\n", row % 7));
    text += "k1,1.25,x\n";
    std::fs::write(directory.path().join("late.csv"), text).unwrap();
    let query = "select k, sum(v), max(w), count(w) group by k";
    same(directory.path(), &["late.csv", query], 2, 2);
    let zipped = brc(directory.path(), &["convert", "late.csv", "late.csv.gz"]);
    assert_eq!(zipped.code, Some(0), "{}", zipped.err);
    same(directory.path(), &["late.csv.gz", query], 2, 1);
}

#[test]
fn results_are_written_to_files() {
    let tables = Tables::new();
    let words = ["plain.buren", "select k, sum(v) group by k", "-o", "answer.parquet"];
    let ended = Cluster::new(2).run(&tables.path(), 1, &words);
    assert_eq!(ended.iter().map(|ended| ended.code).collect::<Vec<_>>(), [Some(0), Some(0)], "{ended:?}");
    let shown = brc(&tables.path(), &["cat", "answer.parquet"]);
    let expected = brc(&tables.path(), &["query", "plain.buren", "select k, sum(v) group by k", "--format", "csv"]);
    assert_eq!(String::from_utf8_lossy(&shown.out), String::from_utf8_lossy(&expected.out));
    let ended = Cluster::new(2).run(&tables.path(), 1, &[&words[..], &["--timeout", "2"]].concat());
    assert_eq!(ended[0].code, Some(2), "{}", ended[0].err);
    assert!(ended[0].err.contains("--force"), "{}", ended[0].err);
}
