//! Tests that all processes end soon, with the reason, when one of them fails.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{Cluster, Ended, Running, brc, rows};
use std::path::Path;
use std::time::{Duration, Instant};

/// Asserts that all processes end with the given exit code and message, without panics.
fn assert_all_fail(ended: &[Ended], code: i32, text: &str) {
    for (process, Ended { code: found, out, err }) in ended.iter().enumerate() {
        assert_eq!(*found, Some(code), "process {process}: {err}");
        assert!(err.contains(text), "process {process} does not say '{text}': {err}");
        assert!(out.is_empty() && !err.contains("panicked") && !err.contains("internal error"), "{process}: {err}");
        let messages = err.lines().filter(|line| line.starts_with("brc-timely: ") && line.contains(text));
        assert_eq!(messages.count(), 1, "{err}");
    }
}

/// A slow query. The types are given, so nothing is read before the processes agree.
const SLOW: &[&str] = &[
    "slow.csv",
    "--schema",
    "id:int,k:string,s:string,n:int,v:decimal(2),f:float64,d:date",
    "select s, median(f), string_agg(k, ','), count(distinct id) group by s order by 2 limit 1",
];

fn write_slow(directory: &Path) {
    let text = rows(100_000);
    let (header, rest) = text.split_once('\n').unwrap();
    let rest = rest.repeat(4);
    std::fs::write(directory.join("slow.csv"), format!("{header}\n{rest}")).unwrap();
}

/// Three processes; the second is stopped after they have connected.
fn with_one_stopped(directory: &Path, options: &[&str]) -> (Cluster, Vec<Running>) {
    write_slow(directory);
    let cluster = Cluster::new(3);
    let words = [SLOW, &["-w", "1"], options].concat();
    let mut running: Vec<Running> = (0..3).map(|process| cluster.start(process, directory, &words)).collect();
    running[1].wait_for_others();
    running[1].signal("STOP");
    running[0].wait_for_others();
    running[2].wait_for_others();
    std::thread::sleep(Duration::from_millis(100));
    assert!(running.iter_mut().all(Running::is_running), "the query takes too short for this test");
    (cluster, running)
}

#[test]
fn a_process_that_is_killed_ends_all() {
    let directory = tempfile::tempdir().unwrap();
    let (cluster, mut running) = with_one_stopped(directory.path(), &[]);
    let killed = running.remove(1);
    let start = Instant::now();
    killed.signal("KILL");
    assert_eq!(killed.wait().code, None);
    let ended: Vec<Ended> = running.into_iter().map(Running::wait).collect();
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    assert_all_fail(&ended, 1, &format!("{} is lost", cluster.name(1)));
}

#[test]
fn a_process_that_hangs_ends_all() {
    let directory = tempfile::tempdir().unwrap();
    let (cluster, mut running) = with_one_stopped(directory.path(), &["--timeout", "2"]);
    let stopped = running.remove(1);
    let ended: Vec<Ended> = running.into_iter().map(Running::wait).collect();
    assert_all_fail(&ended, 1, &format!("{} is lost: it gave no sign of life for 2 s", cluster.name(1)));
    stopped.signal("CONT");
    assert_eq!(stopped.wait().code, Some(1));
}

#[test]
fn a_process_that_never_starts_ends_all() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("t.csv"), "k,v\na,1\n").unwrap();
    for absent in 0..3 {
        let cluster = Cluster::new(3);
        let words = ["t.csv", "select count(*)", "--timeout", "1", "-w", "1"];
        let start = |process| cluster.start(process, directory.path(), &words);
        let running: Vec<Running> = (0..3).filter(|process| *process != absent).map(start).collect();
        let ended: Vec<Ended> = running.into_iter().map(Running::wait).collect();
        assert_all_fail(&ended, 1, &format!("no connection with {} after 1 s: ", cluster.name(absent)));
    }
}

#[test]
fn processes_must_agree() {
    let place = tempfile::tempdir().unwrap();
    let other = tempfile::tempdir().unwrap();
    for (directory, text) in [(&place, "k,v\na,1\n"), (&other, "k,v\nb,1\n")] {
        std::fs::write(directory.path().join("t.csv"), text).unwrap();
    }
    let query = "select k, count(*) group by k";
    for (directory, words, message) in [
        (&place, &["t.csv", "select k, sum(v) group by k", "-w", "2"][..], "was given a different query"),
        (&place, &["t.csv", query, "--limit", "3", "-w", "2"], "cannot be combined with a SQL query"),
        (&other, &["t.csv", query, "-w", "2"], "finds different files"),
        (&place, &["t.csv", query, "-w", "3"], "-w"),
    ] {
        let cluster = Cluster::new(2);
        let timeout = ["--timeout", "3"];
        let first = cluster.start(0, place.path(), &[&["t.csv", query, "-w", "2"], &timeout[..]].concat());
        let second = cluster.start(1, directory.path(), &[words, &timeout].concat());
        let (first, second) = (first.wait(), second.wait());
        assert_eq!(second.code, Some(2), "{}", second.err);
        assert!(second.err.contains(message), "{}", second.err);
        // A process that fails before connecting is just missing.
        let is_absent = message.contains("combined");
        assert_eq!(first.code, Some(if is_absent { 1 } else { 2 }), "{}", first.err);
        assert!(is_absent || first.err.contains(message), "{}", first.err);
        assert!(first.out.is_empty());
    }
}

#[test]
fn a_process_that_is_refused_ends_those_that_wait() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("t.csv"), "k,v\na,1\n").unwrap();
    let (cluster, start) = (Cluster::new(3), Instant::now());
    let start_process = |process, workers| {
        let words = ["t.csv", "select count(*)", "--timeout", "60", "-w", workers];
        cluster.start(process, directory.path(), &words)
    };
    let (first, second) = (start_process(0, "1"), start_process(1, "1"));
    std::thread::sleep(Duration::from_secs(2));
    let third = start_process(2, "3").wait();
    let (first, second) = (first.wait(), second.wait());
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
    assert_eq!([first.code, second.code, third.code], [Some(2), Some(1), Some(2)], "{first:?} {second:?} {third:?}");
    assert!(first.err.contains("was started with -w 3, and this one with -w 1"), "{}", first.err);
    assert!(second.err.contains(&format!("{} has ended", cluster.name(0))), "{}", second.err);
}

/// Every split except the first has a line that is too short.
#[test]
fn bad_rows_are_reported_as_by_one_process() {
    let directory = tempfile::tempdir().unwrap();
    let mut text = rows(60_000);
    text += &rows(60_000).split_once('\n').unwrap().1.replace("\n999,", "\nbad\n999,");
    std::fs::write(directory.path().join("slow.csv"), &text).unwrap();
    let line = text.lines().position(|line| line == "bad").unwrap() + 1;
    let expected = brc(directory.path(), &[&["query"], SLOW].concat());
    assert_eq!(expected.code, Some(3), "{}", expected.err);
    let message = format!("slow.csv: line {line}, byte ");
    assert!(expected.err.contains(&message), "{}", expected.err);
    for (processes, workers) in [(1, 3), (2, 1), (3, 2)] {
        assert_all_fail(&Cluster::new(processes).run(directory.path(), workers, SLOW), 3, &message);
    }
}

#[test]
fn a_corrupt_file_ends_all() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("t.csv"), rows(5000)).unwrap();
    let converted = brc(directory.path(), &["convert", "t.csv", "t.buren", "--row-group", "64k"]);
    assert_eq!(converted.code, Some(0), "{}", converted.err);
    let mut bytes = std::fs::read(directory.path().join("t.buren")).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 300].iter_mut().for_each(|byte| *byte ^= 0x55);
    std::fs::write(directory.path().join("t.buren"), bytes).unwrap();
    let query = ["t.buren", "select count(distinct s), sum(f), sum(v), max(d), sum(id), sum(n), max(k)"];
    let expected = brc(directory.path(), &[&["query"], &query[..]].concat());
    assert_eq!(expected.code, Some(4), "{}", expected.err);
    assert_all_fail(&Cluster::new(3).run(directory.path(), 2, &query), 4, "t.buren: corrupt file: row group ");
}

#[test]
fn a_failure_at_the_end_ends_all() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("t.csv"), "k,v\na,1\nb,x\n").unwrap();
    let query = ["t.csv", "select k, cast(max(v) as int) as number group by k"];
    let expected = brc(directory.path(), &[&["query"], &query[..]].concat());
    let message = expected.err.lines().find_map(|line| line.strip_prefix("brc: ")).unwrap();
    let ended = Cluster::new(2).run(directory.path(), 1, &query);
    assert_all_fail(&ended, expected.code.unwrap(), message);
}

#[test]
fn command_line_errors_are_reported_immediately() {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(directory.path().join(name), text).unwrap();
    write("t.csv", "k,v\na,1\n");
    write("hosts.txt", "127.0.0.1:2101\nlocalhost\n");
    let cluster = Cluster::new(1);
    for (words, code, message) in [
        (&["t.csv", "select * "][..], 2, "use brc query"),
        (&["t.csv", "select count(*); select sum(v)"], 2, "one query is expected"),
        (&["t.csv", "describe"], 2, "one query is expected"),
        (&["t.csv", "select sum(w)"], 2, "'w'"),
        (&["t.csv", "select sum(k)"], 2, "found string"),
        (&["absent.csv", "select count(*)"], 1, "absent.csv"),
        (&["t.csv", "select count(*)", "--explain"], 2, "--explain"),
    ] {
        assert_all_fail(&cluster.run(directory.path(), 1, words), code, message);
    }
    let run = |words: &[&str]| common::brc_timely(directory.path(), words);
    for (words, message) in [
        (&["-n", "2", "-p", "0"][..], "-h FILE"),
        (&["-n", "2", "-p", "0", "-h", "hosts.txt"], "'localhost' is not an address"),
        (&["-n", "3", "-p", "0", "-h", "hosts.txt"], "it has 2 addresses"),
        (&["-n", "1", "-p", "1", "-h", "hosts.txt"], "-p 1 is out of range"),
    ] {
        assert_all_fail(&[run(&[&["query", "t.csv", "select count(*)"], words].concat())], 2, message);
    }
    let help = run(&["query", "--help"]);
    let help = String::from_utf8(help.out).unwrap();
    assert!(["demonstration", "--hosts", "without passwords"].iter().all(|text| help.contains(text)), "{help}");
}
