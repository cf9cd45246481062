//! Tests of the program `brc-sql`.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

use brc_datafusion::write_rows;
use datafusion::arrow::array::{ArrayRef, Int64Array, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::{StreamExt, stream};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

struct Ended {
    code: i32,
    out: String,
    err: String,
}

fn run(directory: &Path, words: &[&str], input: &str) -> Ended {
    run_with(directory, words, input, &[])
}

/// Runs with environment variables.
fn run_with(directory: &Path, words: &[&str], input: &str, variables: &[(&str, &str)]) -> Ended {
    let mut child = Command::new(env!("CARGO_BIN_EXE_brc-sql"))
        .args(words)
        .envs(variables.iter().copied())
        .current_dir(directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let ended = child.wait_with_output().unwrap();
    Ended {
        code: ended.status.code().unwrap(),
        out: String::from_utf8(ended.stdout).unwrap(),
        err: String::from_utf8(ended.stderr).unwrap(),
    }
}

/// A directory with two related tables.
fn place() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(directory.path().join(name), text).unwrap();
    write("visits.csv", "station,temperature\nAbha,12.5\nOslo,-3.0\nAbha,14.5\nQuito,15.0\n");
    write("stations.csv", "name,Country\nAbha,SA\nOslo,NO\n");
    directory
}

const JOIN: &str = "select Country, count(*) as n, avg(temperature) as mean from visits join stations on station = name \
                    group by Country order by Country";

#[test]
fn files_are_joined_by_the_names_of_tables() {
    let place = place();
    let ended = run(place.path(), &["visits.csv", "stations.csv", "--format", "csv", JOIN], "");
    assert_eq!((ended.code, ended.err.as_str()), (0, ""));
    assert_eq!(ended.out, "Country,n,mean\nNO,1,-3.00000\nSA,2,13.50000\n");
    let named = "select count(*) as n from a, b where a.station = b.name";
    let ended = run(place.path(), &["a=visits.csv", "b=stations.csv", "--format", "jsonl"], named);
    assert_eq!((ended.code, ended.out.as_str()), (0, "{\"n\":3}\n"), "{}", ended.err);
}

#[test]
fn a_quoted_path_is_a_table() {
    let place = place();
    let question = "select max(temperature) as high from 'visits.csv'; select 1 as one;";
    let ended = run(place.path(), &["--format", "csv", question], "");
    assert_eq!((ended.code, ended.out.as_str()), (0, "high\n15.0\none\n1\n"), "{}", ended.err);
    let created = "create external table v stored as brc location 'visits.csv'; select count(*) as n from v";
    let ended = run(place.path(), &["--format", "csv", created], "");
    assert_eq!((ended.code, ended.out.as_str()), (0, "n\n4\n"), "{}", ended.err);
}

#[test]
fn results_are_written_in_any_encoding() {
    let place = place();
    for name in ["answer.buren", "answer.parquet", "answer.csv"] {
        let ended = run(place.path(), &["visits.csv", "stations.csv", "-o", name, JOIN], "");
        assert_eq!((ended.code, ended.out.as_str()), (0, ""), "{}", ended.err);
        let question = format!("select sum(n) as n from '{name}'");
        let ended = run(place.path(), &["--format", "csv", &question], "");
        assert_eq!((ended.code, ended.out.as_str()), (0, "n\n3\n"), "{name}: {}", ended.err);
    }
    let ended = run(place.path(), &["visits.csv", "-o", "answer.buren", "select * from visits"], "");
    assert_eq!(ended.code, 2, "{}", ended.err);
    assert!(ended.err.contains("--force"), "{}", ended.err);
    let failing = "select station, cast(station as int) as number from visits";
    let ended = run(place.path(), &["visits.csv", "-o", "failed.buren", failing], "");
    assert_eq!(ended.code, 1);
    assert!(ended.err.contains("Abha"), "{}", ended.err);
    assert!(!place.path().join("failed.buren").exists());
}

#[test]
fn windows_and_explain_work() {
    let place = place();
    let window = "select station, row_number() over (partition by station order by temperature desc) as place from visits \
                  order by station, place";
    let ended = run(place.path(), &["visits.csv", "--format", "tsv", window], "");
    assert_eq!(ended.out, "station\tplace\nAbha\t1\nAbha\t2\nOslo\t1\nQuito\t1\n", "{}", ended.err);
    let plan =
        run(place.path(), &["visits.csv", "explain select station, min(temperature) from visits group by station"], "");
    assert!(plan.out.contains("BrcAnswer"), "{}", plan.out);
}

#[test]
fn strings_that_are_not_utf_8_are_read_as_binary() {
    let place = place();
    std::fs::write(place.path().join("latin.csv"), b"a;b\n1;tea\n2;caf\xe9\n3;tea\n").unwrap();
    let question = "select encode(b, 'hex') as b, count(*) as n from latin where b <> 'milk' group by b order by n";
    for words in [
        &["--strings-as-binary", "latin.csv", "--format", "csv", question][..],
        &[
            "--format",
            "csv",
            &format!(
                "create external table latin stored as brc location 'latin.csv' options (strings_as_binary true, \
                 delimiter ';'); {question}"
            ),
        ],
    ] {
        let ended = run(place.path(), words, "");
        assert_eq!((ended.code, ended.out.as_str()), (0, "b,n\n636166e9,1\n746561,2\n"), "{}", ended.err);
    }
}

#[test]
fn lists_and_structs_are_read() {
    let place = place();
    let rows = "{\"a\":1,\"s\":{\"x\":5},\"l\":[1,2]}\n{\"a\":2,\"s\":{\"x\":7},\"l\":[]}\n";
    std::fs::write(place.path().join("nested.jsonl"), rows).unwrap();
    let copied = run(place.path(), &["copy (select * from 'nested.jsonl') to 'nested.parquet' stored as parquet"], "");
    assert_eq!(copied.code, 0, "{}", copied.err);
    for name in ["nested.jsonl", "nested.parquet"] {
        let question = "select a, s['x'] as x, array_length(l) as n from nested order by a desc";
        let ended = run(place.path(), &[name, "--format", "csv", question], "");
        assert_eq!((ended.code, ended.out.as_str()), (0, "a,x,n\n2,7,0\n1,5,2\n"), "{name}: {}", ended.err);
    }
    std::fs::write(place.path().join("nested.json"), format!("[{}]", rows.trim_end().replace('\n', ","))).unwrap();
    let ended = run(place.path(), &["nested.json", "--format", "csv", "select * from nested"], "");
    assert_eq!((ended.code, ended.out.as_str()), (0, "a\n1\n2\n"), "{}", ended.err);
    assert!(
        ended.err.contains("column 'l' is a list or an object, which brc does not read; it is left out"),
        "{}",
        ended.err
    );
}

#[test]
fn failures_are_located() {
    const NOT_UTF8: &str = "latin.csv: row 2, column 'b': arrow cannot hold 'caf\\xe9', which is not UTF-8";
    let place = place();
    std::fs::write(place.path().join("bad.csv"), "a,b\n1,2\n3,4\n5\n").unwrap();
    std::fs::write(place.path().join("latin.csv"), b"a,b\n1,tea\n2,caf\xe9\n").unwrap();
    for (words, code, said) in [
        (&["absent.csv", "select 1"][..], 1, "absent.csv"),
        (&["visits.csv", "selec 1"], 1, "selec 1"),
        (&["visits.csv", "select wrong from visits"], 2, "line 1, column 8"),
        (&["visits.csv", "select 1 +"], 2, "Expected: an expression"),
        (&["visits.csv", "visits.csv", "select 1"], 2, "two tables are named 'visits'"),
        (&["select count(*) from 'bad.csv'"], 3, "line 4"),
        (&["visits.csv", "select * from other"], 2, "other"),
        (&["latin.csv", "select * from latin where a > 1"], 3, NOT_UTF8),
        (&["latin.csv", "select min(b) from latin"], 3, NOT_UTF8),
        (&["latin.csv", "select * from latin"], 3, "--strings-as-binary"),
        (&["create external table t stored as brc location 'latin.csv' options (wrong 'x')"], 2, "--wrong"),
        (&["visits.csv", "copy visits to 's3://bucket/visits.csv'"], 2, "local files only"),
    ] {
        let ended = run(place.path(), words, "");
        assert_eq!(ended.code, code, "{words:?}: {}", ended.err);
        assert!(ended.err.starts_with("brc-sql: ") && ended.err.contains(said), "{words:?}: {}", ended.err);
    }
}

#[test]
fn copy_writes_files_of_any_encoding() {
    let place = place();
    for (name, more) in [
        ("copy.buren", "options (compression 'lz4', key 'station')"),
        ("copy.avro", ""),
        ("copy.capnp", ""),
        ("copy.parquet", "stored as parquet"),
        ("copy.csv", ""),
        ("copied", "stored as buren"),
    ] {
        let copy = format!("copy (select * from visits where temperature > 0) to '{name}' {more}");
        let ended = run(place.path(), &["visits.csv", "--format", "csv", &copy], "");
        assert_eq!((ended.code, ended.out.as_str()), (0, "count\n3\n"), "{name}: {}", ended.err);
        let question = format!("select count(*) as n, sum(temperature) as sum from './{name}'");
        let ended = run(place.path(), &["--format", "csv", &question], "");
        assert_eq!((ended.code, ended.out.as_str()), (0, "n,sum\n3,42.0\n"), "{name}: {}", ended.err);
    }
}

#[test]
fn copy_replaces_files_only_by_force_and_leaves_none_when_it_fails() {
    let place = place();
    let to = |target: &str, options: &str| {
        let copy = format!("copy visits to '{target}' options ({options})");
        run(place.path(), &["visits.csv", "--format", "csv", &copy], "")
    };
    assert_eq!(to("v.buren", "compression 'none'").code, 0);
    let before = std::fs::read(place.path().join("v.buren")).unwrap();
    let refused = to("v.buren", "compression 'none'");
    assert_eq!(refused.code, 2, "{}", refused.err);
    assert!(refused.err.contains("v.buren"), "{}", refused.err);
    assert_eq!(std::fs::read(place.path().join("v.buren")).unwrap(), before);
    assert_eq!(to("v.buren", "force true, compression 'snappy'").code, 0);
    for (target, options, said) in [
        ("w.buren", "compression 'tight'", "tight"),
        ("w.buren", "wrong true", "--wrong"),
        ("no/such/w.buren", "compression 'none'", "no/such"),
    ] {
        let failed = to(target, options);
        assert_ne!(failed.code, 0, "{target} {options}");
        assert!(failed.err.contains(said), "{target} {options}: {}", failed.err);
    }
    let failing = "copy (select cast(station as int) as number from visits) to 'w.buren'";
    let failed = run(place.path(), &["visits.csv", failing], "");
    assert!(failed.code == 1 && failed.err.contains("Abha"), "{}", failed.err);
    let partitioned = "copy visits to 'w.buren' partitioned by (station)";
    let failed = run(place.path(), &["visits.csv", partitioned], "");
    assert!(failed.code != 0 && failed.err.contains("not partitioned"), "{}", failed.err);
    let left: Vec<_> = std::fs::read_dir(place.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 3, "{left:?}");
}

#[test]
fn external_tables_are_stored_as_any_encoding() {
    let place = place();
    // The extension does not matter.
    std::fs::copy(place.path().join("visits.csv"), place.path().join("visits.txt")).unwrap();
    let ended = run(place.path(), &["visits.csv", "copy visits to 'visits.buren'"], "");
    assert_eq!(ended.code, 0, "{}", ended.err);
    for (stored, location) in
        [("buren", "visits.buren"), ("BUREN", "visits.buren"), ("brc", "visits.txt"), ("csv", "visits.csv")]
    {
        let statements = format!(
            "create external table v stored as {stored} location '{location}'; select max(temperature) as high from v"
        );
        let ended = run(place.path(), &["--format", "csv", &statements], "");
        assert_eq!((ended.code, ended.out.trim_end()), (0, "high\n15.0"), "{stored}: {}", ended.err);
    }
    let wrong = "create external table v stored as buren location 'visits.csv'; select * from v";
    let ended = run(place.path(), &[wrong], "");
    assert!(ended.code != 0 && ended.err.contains("visits.csv"), "{}", ended.err);
}

#[test]
fn sorts_beyond_the_memory_limit_spill() {
    let place = place();
    let rows: String =
        (0..300_000u64).map(|row| format!("{},{}\n", row.wrapping_mul(0x9e37_79b9) % 300_000, row)).collect();
    std::fs::write(place.path().join("many.csv"), format!("a,b\n{rows}")).unwrap();
    let sorted = "select sum(place * a % 1009) as check from \
                  (select a, row_number() over (order by b % 1000, a) as place from many)";
    let within = |memory: &str| run(place.path(), &["many.csv", "--memory", memory, "--format", "csv", sorted], "");
    let plenty = within("1G");
    assert_eq!(plenty.code, 0, "{}", plenty.err);
    let scarce = within("12M");
    assert_eq!((scarce.code, scarce.out), (0, plenty.out), "{}", scarce.err);
    let wrong = run(place.path(), &["many.csv", "--memory", "many", sorted], "");
    assert!(wrong.code == 2 && wrong.err.contains("many"), "{}", wrong.err);
}

/// Grouping by brc respects the memory limit of DataFusion.
#[test]
fn groups_beyond_the_memory_limit_spill() {
    let place = place();
    let rows: String = (0..300_000u64).map(|row| format!("{}-{:040},{row}\n", row % 299_993, row % 299_993)).collect();
    std::fs::write(place.path().join("many.csv"), format!("a,b\n{rows}")).unwrap();
    let groups = "select count(*) as n, max(m) as m from (select a, count(*) as m from many group by a)";
    let within = |memory: &str, temporary: &str| {
        let words = ["many.csv", "--memory", memory, "--threads", "2", "--format", "csv", groups];
        run_with(place.path(), &words, "", &[("TMPDIR", temporary)])
    };
    let here = place.path().to_str().unwrap();
    let scarce = within("40M", here);
    assert_eq!((scarce.code, scarce.out.as_str()), (0, "n,m\n299993,2\n"), "{}", scarce.err);
    assert_eq!(within("4G", "/no/such/directory").code, 0, "nothing has to be written");
    let failed = within("40M", "/no/such/directory");
    assert!(failed.code != 0 && failed.err.contains("/no/such/directory"), "{}", failed.err);
}

#[test]
fn options_that_are_true_or_false_mean_the_same_as_yes_and_no() {
    let place = place();
    std::fs::write(place.path().join("names.csv"), "name\nAbha\n").unwrap();
    for (option, expected) in [("false", "name\nAbha\n"), ("true", "Abha\n")] {
        let text = format!(
            "create external table t stored as brc location 'names.csv' options (header {option}); select * from t"
        );
        let ended = run(place.path(), &["--format", "csv", &text], "");
        let rows = ended.out.split_once('\n').unwrap().1;
        assert_eq!((ended.code, rows), (0, expected), "{}", ended.err);
    }
}

#[test]
fn statements_are_planned_in_the_session_that_those_before_have_left() {
    let place = place();
    let text = "create schema s; set datafusion.catalog.default_schema = 's'; create table t as select 1 as a; \
                select a from t";
    let ended = run(place.path(), &["--format", "csv", text], "");
    assert_eq!((ended.code, ended.out.as_str()), (0, "a\n1\n"), "{}", ended.err);
}

#[test]
fn words_that_begin_like_statements_are_files() {
    let place = place();
    std::fs::copy(place.path().join("visits.csv"), place.path().join("table-1.csv")).unwrap();
    let ended = run(place.path(), &["table-*.csv", "--format", "csv", "select count(*) as n from \"table\""], "");
    assert_eq!((ended.code, ended.out.as_str()), (0, "n\n4\n"), "{}", ended.err);
    for query in ["select*from visits limit 1", "select'x'", "select\"station\" from visits limit 1"] {
        assert_eq!(run(place.path(), &["visits.csv", query], "").code, 0, "{query}");
    }
    let ended = run(place.path(), &["values.csv", "select 1"], "");
    assert_eq!(ended.code, 1, "{}", ended.err);
    assert!(ended.err.contains("values.csv"), "{}", ended.err);
}

/// Rows whose end is never told must not become a file that looks complete.
#[test]
fn an_interrupted_result_leaves_no_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.buren");
    let schema = Arc::new(Schema::new(vec![Field::new("a", DataType::Int64, false)]));
    let column: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
    let batch = RecordBatch::try_new(Arc::clone(&schema), vec![column]).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let rows = stream::iter([Ok(batch)]).chain(stream::pending());
        let rows = Box::pin(RecordBatchStreamAdapter::new(schema, rows));
        let written = tokio::time::timeout(Duration::from_millis(300), write_rows(rows, &path, &[])).await;
        assert!(written.is_err(), "it waits for rows");
    });
    // Waits for the conversion.
    drop(runtime);
    assert!(!path.exists());
}
