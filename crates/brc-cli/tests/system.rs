//! Tests of the environment: signals, threads, memory, files that change, long names, and standard streams under other
//! names. A run copes or ends cleanly.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Outcome, Place};
use rustix::process::Signal;
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const ANSWER: &str = "{Abha=1.0/1.5/2.0}\n";

/// A directory with a table of two rows.
fn with_table() -> Place {
    let place = Place::new();
    place.write("t.txt", "Abha;1.0\nAbha;2.0\n");
    place
}

/// Runs a script in bash, which supports `ulimit -u` and `>(…)`.
fn bash(place: &Place, script: &str) -> Outcome {
    let mut command = Command::new("bash");
    command.current_dir(place.path("")).args(["-c", script]).env("BRC", env!("CARGO_BIN_EXE_brc"));
    let output = command.stdin(Stdio::null()).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    Outcome { code: output.status.code(), stdout: output.stdout, stderr }
}

/// A conversion from a pipe that is still running.
fn unfinished(place: &Place, target: &str) -> Child {
    let before = place.names().len();
    let mut command = place.command(&format!("convert - {target} --from csv --force"));
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    // More bytes than are used to detect the format.
    child.stdin.as_mut().unwrap().write_all(&b"Abha;1.0\n".repeat(20_000)).unwrap();
    while place.names().len() == before {
        std::thread::sleep(Duration::from_millis(5));
    }
    child
}

#[test]
fn leftovers_of_a_killed_run_are_removed_by_the_next_run_with_the_same_target() {
    let place = with_table();
    let mut killed = unfinished(&place, "t.buren");
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert_eq!(place.names(), [".t.buren.0.brc-tmp", "t.txt"]);
    place.run("convert t.txt other.buren").ok();
    assert_eq!(place.names(), [".t.buren.0.brc-tmp", "other.buren", "t.txt"]);
    place.run("convert t.txt t.buren").ok();
    assert_eq!(place.names(), ["other.buren", "t.buren", "t.txt"]);
}

#[test]
fn leftover_directories_of_partitions_are_removed_by_the_next_run_with_the_same_target() {
    let place = with_table();
    let partition = "--partition-by station --no-sync";
    let mut killed = unfinished(&place, &format!("part {partition}"));
    std::fs::create_dir(place.path(".part.0.brc-tmp/k=1")).unwrap();
    let mut living = unfinished(&place, &format!("part {partition}"));
    assert_eq!(place.names(), [".part.0.brc-tmp", ".part.1.brc-tmp", "t.txt"]);
    killed.kill().unwrap();
    killed.wait().unwrap();
    place.run(&format!("convert t.txt other {partition}")).ok();
    assert_eq!(place.names(), [".part.0.brc-tmp", ".part.1.brc-tmp", "other", "t.txt"]);
    place.run(&format!("convert t.txt part {partition}")).ok();
    assert_eq!(place.names(), [".part.1.brc-tmp", "other", "part", "t.txt"]);
    drop(living.stdin.take());
    assert_eq!(living.wait().unwrap().code(), Some(0));
    assert_eq!(place.names(), ["other", "part", "t.txt"]);
    assert_eq!(place.run("count part").text(), "20000\n");
}

#[test]
fn a_signal_removes_the_directory_of_partitions() {
    if common::ignores(Signal::TERM.as_raw()) {
        return;
    }
    let place = with_table();
    let mut killed = unfinished(&place, "part --partition-by station");
    let _input = killed.stdin.take();
    rustix::process::kill_process(rustix::process::Pid::from_child(&killed), Signal::TERM).unwrap();
    assert_eq!(killed.wait().unwrap().signal(), Some(Signal::TERM.as_raw()));
    assert_eq!(place.names(), ["t.txt"]);
}

#[test]
fn instructions_can_be_limited() {
    let place = with_table();
    let run = |level: &str| {
        let mut command = place.command("query t.txt");
        let output = command.env("BRC_CPU_LEVEL", level).stdin(Stdio::null()).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    for level in ["", "portable", "neon", "avx2", "avx512"] {
        assert_eq!(run(level).1, ANSWER, "{level}");
    }
    let message = "brc: BRC_CPU_LEVEL: 'sse9' is no set of instructions; there are portable, neon, avx2, avx512\n";
    assert_eq!(run("sse9"), (Some(2), String::new(), message.to_owned()));
}

#[test]
fn a_killed_run_leaves_its_metrics() {
    // If this test runs in the background, the program ignores one of the signals.
    for signal in [Signal::INT, Signal::TERM].into_iter().filter(|signal| !common::ignores(signal.as_raw())) {
        let place = with_table();
        let mut killed = unfinished(&place, "t.buren --metrics m.html");
        while !place.names().contains(&".t.buren.0.brc-tmp".to_owned()) {
            std::thread::sleep(Duration::from_millis(5));
        }
        // Waiting closes its input, which would end the run.
        let _input = killed.stdin.take();
        rustix::process::kill_process(rustix::process::Pid::from_child(&killed), signal).unwrap();
        assert_eq!(killed.wait().unwrap().signal(), Some(signal.as_raw()));
        assert_eq!(place.names(), ["m.html", "t.txt"]);
        let page = String::from_utf8(place.read("m.html")).unwrap();
        assert!(page.contains("The run was ended by a signal.") && page.contains("--metrics m.html"), "{page}");
    }
}

#[test]
fn a_run_does_not_touch_the_temporary_file_of_another_run() {
    let place = with_table();
    let mut living = unfinished(&place, "t.buren");
    place.run("convert t.txt t.buren").ok();
    assert_eq!(place.names(), [".t.buren.0.brc-tmp", "t.buren", "t.txt"]);
    drop(living.stdin.take());
    // The run replaces the file, although it did not exist when the run began.
    assert_eq!(living.wait().unwrap().code(), Some(0));
    assert_eq!(place.names(), ["t.buren", "t.txt"]);
    assert_eq!(place.run("query t.buren").text(), "{Abha=1.0/1.0/1.0}\n");
}

#[test]
fn a_limit_on_the_size_of_files_is_an_error() {
    let place = Place::new();
    for arguments in ["generate t.txt --rows 1M", "generate t.txt --rows 1M --threads 4"] {
        let outcome = place.shell(&format!("ulimit -f 100; exec $BRC {arguments}"));
        outcome.fails_with(1, "t.txt: cannot write: File too large");
        assert_eq!(place.names(), [""; 0]);
    }
}

#[test]
fn standard_streams_have_other_names() {
    let place = with_table();
    let text = "Abha;1.0\nAbha;2.0\n";
    for output in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "link"] {
        if output == "link" {
            std::os::unix::fs::symlink("/dev/stdout", place.path("link")).unwrap();
        }
        assert_eq!(place.shell(&format!("$BRC convert t.txt {output} --to csv | cat")).text(), text, "{output}");
        place.shell(&format!("(echo first; $BRC convert t.txt {output} --to csv; echo last) > out")).ok();
        assert_eq!(place.read("out"), format!("first\n{text}last\n").as_bytes(), "{output}");
        place.shell(&format!("$BRC generate {output} --rows 1M | head -c 1")).ok();
    }
    let outcome = place.shell("$BRC convert t.txt /dev/stderr --to csv 2>&1 >/dev/null");
    assert!(outcome.text().starts_with(text));
    place.shell("$BRC convert t.txt - --to csv --rejects /dev/stdout").fails_with(2, "is also the output");
    place.shell("$BRC convert t.txt /dev/stdout --to csv >> t.txt").fails_with(2, "same file");
    assert_eq!(place.names(), ["link", "out", "t.txt"]);
}

#[test]
fn process_substitution_works_like_a_file() {
    let place = with_table();
    let outcome = bash(&place, "$BRC convert t.txt >(cat > out) --to csv; wait $!");
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert_eq!(place.read("out"), b"Abha;1.0\nAbha;2.0\n");
    let outcome =
        bash(&place, "printf 'x\\n' | cat - t.txt | $BRC convert - t.buren --from csv --rejects >(cat > bad)");
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert_eq!(bash(&place, "$BRC query <(cat t.txt)").text(), ANSWER);
    assert_eq!(bash(&place, "$BRC query <(cat t.buren)").text(), ANSWER);
}

#[test]
fn names_may_be_as_long_as_the_file_system_takes_them() {
    let place = with_table();
    for length in [245, 246, 255] {
        let name = format!("{}.buren", "x".repeat(length - 6));
        place.run(&format!("convert t.txt {name}")).ok();
        assert_eq!(place.run(&format!("query {name}")).text(), ANSWER);
        std::fs::remove_file(place.path(&name)).unwrap();
    }
    let name = format!("{}.buren", "x".repeat(250));
    place.run(&format!("convert t.txt {name}")).fails_with(1, "cannot create: File name too long");
    assert_eq!(place.names(), ["t.txt"]);
}

/// A stack size that no thread can get.
const NO_THREADS: &str = "RUST_MIN_STACK=1000000000000000";

#[test]
fn without_threads_the_work_is_done_by_one() {
    let place = Place::new();
    place.run("generate t.txt --rows 100k").ok();
    let answer = place.run("query t.txt").text();
    place.run("convert t.txt t.buren").ok();
    for command in ["generate g.txt --rows 100k", "convert t.txt g.buren", "convert t.buren g.csv"] {
        place.shell(&format!("{NO_THREADS} exec $BRC {command} --threads 8")).ok();
    }
    assert!(place.read("g.txt") == place.read("t.txt") && place.read("g.buren") == place.read("t.buren"));
    for file in ["t.txt", "t.buren", "g.csv"] {
        let query = format!("{NO_THREADS} exec $BRC query {file} --no-statistics --threads 8");
        assert_eq!(place.shell(&query).text(), answer);
        place.shell(&format!("{NO_THREADS} exec $BRC verify {file} --threads 8")).ok();
    }
}

#[test]
fn a_user_with_few_processes_has_few_threads() {
    let place = Place::new();
    place.run("generate t.txt --rows 100k").ok();
    // Root is not bound by the limit, and may not be allowed to switch to another user here.
    let become_nobody = "setpriv --reuid=65534 --regid=65534 --clear-groups";
    bash(&place, "chmod 755 . && chmod 644 t.txt").ok();
    if bash(&place, &format!("{become_nobody} $BRC query t.txt")).code == Some(0) {
        let limited = format!("exec {become_nobody} bash -c 'ulimit -u 1; exec $BRC query t.txt --threads 8'");
        assert_eq!(bash(&place, &limited).text(), place.run("query t.txt").text());
    }
}

#[test]
fn running_out_of_memory_is_an_error_that_leaves_nothing() {
    let place = Place::new();
    place.run("generate t.txt --rows 100k").ok();
    let run = "convert t.txt t.csv.zst --compression zstd:22";
    for limit in [60_000, 100_000, 150_000] {
        for arguments in [&format!("{run} --threads 2"), run, "convert t.txt t.csv.zst --threads 300"] {
            let outcome = place.shell(&format!("ulimit -v {limit}; RUST_BACKTRACE=0 exec $BRC {arguments} --force"));
            // The C library aborts if a new thread gets no memory for its destructors. Files left then are removed by
            // the next run with the same target.
            if outcome.code.is_none() && outcome.stderr.contains("Fatal glibc error") {
                continue;
            }
            if outcome.code != Some(0) {
                outcome.fails_with(1, "emory");
            }
            let _ = std::fs::remove_file(place.path("t.csv.zst"));
            assert_eq!(place.names(), ["t.txt"], "{limit} {arguments}");
        }
    }
}

/// The result of a conversion to JSON of a file that is changed while it is read.
fn changed_meanwhile(place: &Place, name: &str, change: impl FnOnce()) -> Outcome {
    let mut command = place.command(&format!("convert {name} - --to json --threads 2"));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut out = child.stdout.take().unwrap();
    let mut stdout = vec![0];
    out.read_exact(&mut stdout).unwrap();
    change();
    out.read_to_end(&mut stdout).unwrap();
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    Outcome { code: output.status.code(), stdout, stderr }
}

#[test]
fn a_file_that_changes_while_it_is_read_is_an_error() {
    let place = Place::new();
    place.run("generate t.txt --rows 2M").ok();
    for name in ["t.txt", "t.capnp", "t.csv.gz"] {
        if name != "t.txt" {
            place.run(&format!("convert t.txt {name}")).ok();
        }
        let content = place.read(name);
        let cut = content[..100].to_vec();
        let same_length = content.iter().rev().copied().collect();
        let longer = [b"more\n", &content[..]].concat();
        for changed in [cut, same_length, longer] {
            let outcome = changed_meanwhile(&place, name, || place.write(name, &changed));
            let message = format!("brc: {name}: cannot read: it was changed during the run\n");
            assert_eq!((outcome.code, outcome.stderr), (Some(1), message), "{} bytes", changed.len());
            place.write(name, &content);
        }
    }
}

#[test]
fn rows_appended_while_a_file_is_read_are_not_part_of_it() {
    let place = Place::new();
    place.run("generate t.txt --rows 2M").ok();
    let append = || {
        let mut file = std::fs::File::options().append(true).open(place.path("t.txt")).unwrap();
        file.write_all(b"Abha;1.0\n").unwrap();
    };
    let rows = changed_meanwhile(&place, "t.txt", append).ok();
    assert_eq!(rows.iter().filter(|&&byte| byte == b'\n').count(), 2_000_000);
}

#[test]
fn metrics_work_with_any_command() {
    let place = Place::new();
    place.run("generate t.txt --rows 300k --metrics g.csv").ok();
    let text = String::from_utf8(place.read("g.csv")).unwrap();
    assert!(text.starts_with("seconds,rows,bytes_read,cpu_seconds,rss_bytes,"), "{text}");
    let last: Vec<f64> = text.lines().last().unwrap().split(',').map(|field| field.parse().unwrap()).collect();
    assert!(last[1] == 300_000.0 && last[2] > 3e6 && last[3] > 0.0 && last[4] > 1e6 && last[6] > 100.0, "{text}");
    place.run("--metrics q.html query t.txt --format csv").ok();
    let page = String::from_utf8(place.read("q.html")).unwrap();
    assert!(page.contains("<svg class=\"wide\"") && page.contains("<svg class=\"narrow\""), "{page}");
    assert!(page.contains("--metrics q.html query t.txt") && page.contains(" UTC · "), "{page}");
    place.run("query t.txt --metrics g.csv").fails(2, "brc: g.csv: already exists; --metrics writes a new file");
    for run in [
        "convert t.txt m.csv",
        "convert t.txt t.buren --rejects m.csv",
        "query t.txt -o ./m.csv",
        "head t.txt --output m.csv",
        "generate m.csv",
    ] {
        let outcome = place.run(&format!("{run} --metrics m.csv"));
        outcome.fails(2, "brc: m.csv: is also the output; choose a different file for the metrics");
    }
    assert_eq!(place.names(), ["g.csv", "q.html", "t.txt"]);
    place.run("query none.txt --metrics n.csv").fails_with(1, "none.txt");
    assert!(place.read("n.csv").starts_with(b"seconds,"));
}
