//! Tests of `brc compare` on small tables: all cells, result files, resuming and failures.

#![allow(clippy::unwrap_used)]

mod common;

use common::Place;
use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Options for the fastest comparison.
const QUICK: &str = "--runs 1 --convert-runs 1 --warmup 0";

/// The values of a column of `results.csv`.
fn column(place: &Place, name: &str) -> Vec<String> {
    let records = records(&String::from_utf8(place.read("out/results.csv")).unwrap());
    let position = records[0].iter().position(|title| title == name).unwrap();
    records[1..].iter().map(|record| record[position].clone()).collect()
}

/// The names in a directory, sorted.
fn names(place: &Place, directory: &str) -> Vec<String> {
    let entries = fs::read_dir(place.path(directory)).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort_unstable();
    names
}

#[test]
fn every_encoding_with_every_compression_is_measured() {
    let place = Place::new();
    place.run("generate t.txt --rows 6000 --stations 20").ok();
    let shown = place.run(&format!("compare t.txt {QUICK} --out out")).text();
    for words in ["t.txt: 6,000 rows", "buren", "with statistics", "For repeated queries: ", "Pareto front"] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    assert_eq!(names(&place, "out"), ["README.md", "report.html", "results.csv", "results.json"]);
    assert_eq!(place.names(), ["out", "t.txt"]);

    // Every cell is measured or impossible; none failed.
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
fn a_finished_comparison_is_shown_again_and_a_different_one_is_refused() {
    let place = Place::new();
    place.write("t.txt", "Abha;1.0\nHamburg;2.0\nAbha;-3.0\n");
    let command = format!("compare t.txt {QUICK} --encodings buren,csv --compressions none --out out");
    let shown = place.run(&command).text();
    let results = place.read("out/results.json");
    assert_eq!(place.run(&command).text(), shown);
    assert!(place.read("out/results.json") == results);

    place.run(&command.replace("--runs 1", "--runs 2")).fails_with(2, "measured with --runs 1, not 2 (--force");
    place.run(&format!("{command} --memory 1M")).fails_with(2, "measured with --memory unset, not 1048576 (--force");
    place.run(&format!("{command} --by station --force")).ok();
    place.run(&command).fails_with(2, "with the queries --by station, not the default (--force measures again)");
    place.write("t.txt", "Abha;1.0\n");
    place.run(&format!("{command} --by station")).fails_with(2, "before the input file t.txt changed");
    assert_eq!(place.names(), ["out", "t.txt"]);
}

#[test]
fn processes_keep_to_the_memory_limit() {
    let place = Place::new();
    place.run("generate t.csv --preset uservisits --rows 100000").ok();
    let converted_in = |options: &str| -> u64 {
        place
            .run(&format!("compare t.csv {QUICK} --by country_code --encodings buren --compressions none --force --out out {options}"))
            .ok();
        column(&place, "convert_peak_memory_bytes").iter().find_map(|bytes| bytes.parse().ok()).unwrap()
    };
    let (usual, little) = (converted_in(""), converted_in("--memory 24M"));
    assert!(little < usual / 10 * 7, "{little} of {usual} bytes");
}

#[test]
fn first_rows_of_any_encoding_are_compared_and_files_are_kept() {
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
fn several_tables_and_queries_are_compared() {
    let place = Place::new();
    place.write("a.txt", "Abha;1.0\nHamburg;2.0\n");
    place.write("b.txt", "Abha;-1.0\n");
    place.run("convert b.txt b.buren --schema place:string,temperature:decimal(1)").ok();
    let options = "--encodings csv,buren --compressions none --out out";
    // The same query must fit both tables, which is checked before anything is measured.
    place.run(&format!("compare a.txt b.buren {QUICK} {options} --by station")).fails_with(2, "station");
    assert_eq!(place.names(), ["a.txt", "b.buren", "b.txt"]);
    let shown = place.run(&format!("compare a.txt b.buren {QUICK} {options} --agg max(temperature)")).text();
    assert!(shown.contains("a.txt: 2 rows") && shown.contains("b.buren: 1 row,"), "{shown}");
    place.write("empty.txt", "");
    let schema = "--schema station:string,temperature:decimal(1)";
    place.run(&format!("compare empty.txt {schema} {QUICK} --encodings csv,buren --compressions none,gzip")).ok();
}

#[test]
fn an_encoding_that_cannot_hold_the_table_fails_alone() {
    let place = Place::new();
    place.write("t.json", "{\"name\":\"a\\u0000b\",\"n\":1}\n{\"name\":\"c\",\"n\":22}\n");
    place.run("convert t.json t.buren").ok();
    let options = format!("{QUICK} --encodings buren,csv --compressions none --out out");
    let outcome = place.run(&format!("compare t.buren {options}"));
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    assert_eq!(column(&place, "outcome").last().unwrap(), "failed");
    assert!(column(&place, "outcome").contains(&"measured".to_owned()));
    let shown = String::from_utf8(outcome.stdout).unwrap();
    assert!(shown.contains("csv cannot hold 'a\\x00b', which contains a NUL byte"), "{shown}");
    // The table as text: "a\0b,1" and "c,22", each with a line end.
    assert!(shown.contains("11 B as text"), "{shown}");
}

/// With a limit on file sizes, the cell with a large file fails and no other.
#[test]
fn a_failed_cell_is_shown_and_the_others_continue() {
    let place = Place::new();
    place.run("generate t.txt --rows 200k").ok();
    let options = format!("{QUICK} --encodings buren,csv --compressions none --out out");
    let outcome = place.shell(&format!("ulimit -f 2000; exec \"$BRC\" compare t.txt {options}"));
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    let shown = String::from_utf8(outcome.stdout).unwrap();
    let failed = shown.lines().find(|line| line.starts_with("FAILED csv: converting: "));
    assert!(failed.is_some_and(|line| line.contains("cannot write: File too large")), "{shown}");
    assert!(shown.contains("For repeated queries: buren"), "{shown}");
    // The failed cell is measured again; the others are resumed.
    place.run(&format!("compare t.txt {options}")).ok();
    assert_eq!(column(&place, "outcome"), ["input", "measured", "measured", "measured"]);
}

#[test]
fn invalid_comparisons_are_refused() {
    let place = Place::new();
    place.write("t.txt", "Abha;1.0\n");
    place.run("compare t.txt --agg sum(humidity)").fails_with(2, "humidity");
    place.run("compare /dev/null").fails_with(2, "must be a file");
    place.run("compare nowhere.txt").fails_with(1, "nowhere.txt");
    place.run("compare t.txt --keep").fails_with(2, "--out");
    place.run("compare t.txt --encodings nonsense").fails_with(2, "nonsense");
    place.run("compare -").fails_with(2, "-: compare reads its input many times");
    for options in ["--rows 0", "--runs 0", "--convert-runs 0", "--timeout 0s", "--timeout 5", "--query --nonsense"] {
        let option = options.split(' ').next().unwrap();
        place.run(&format!("compare t.txt {options}")).fails_with(2, option);
    }
    place.run("compare t.txt --query --by=station --by station").fails_with(2, "cannot be used with");
    assert_eq!(place.names(), ["t.txt"]);
}

#[test]
fn impossible_cells_are_skipped_and_a_run_without_others_is_refused() {
    let place = Place::new();
    place.write("t.txt", "Abha;1.0\nHamburg;2.0\n");
    let refused = place.run("compare t.txt --encodings arrow --compressions snappy,gzip --out out");
    refused.fails_with(2, "t.txt: none of these files is possible: arrow snappy: ");
    refused.fails_with(2, "; arrow gzip: ");
    assert_eq!(place.names(), ["t.txt"]);
    let shown =
        place.run(&format!("compare t.txt {QUICK} --encodings arrow,csv --compressions snappy --out out")).text();
    assert!(shown.contains("\n– arrow snappy: "), "{shown}");
    assert_eq!(column(&place, "outcome"), ["input", "impossible", "measured"]);
}

/// A bad input ends a comparison like a query, before anything is measured.
#[test]
fn bad_input_is_reported_as_by_a_query() {
    let place = Place::new();
    place.write("good.txt", "Abha;1.0\nHamburg;2.0\n");
    place.write("bad.txt", "Abha;1.0\nHamburg;x\nBonn;2.0\n");
    place.write("header.txt", "name;x\nHamburg;2.0\n");
    place.run("generate t.txt --rows 3000").ok();
    place.run("convert t.txt corrupt.buren").ok();
    let mut bytes = place.read("corrupt.buren");
    bytes[1000] ^= 1;
    place.write("corrupt.buren", &bytes);
    place.write("cut.buren", &bytes[..5000]);
    place.run("convert t.txt cut.parquet").ok();
    let parquet = place.read("cut.parquet");
    place.write("cut.parquet", &parquet[..parquet.len() / 2]);
    for (input, code) in [
        ("bad.txt", 3),
        ("header.txt --schema station:string,temperature:decimal(1)", 3),
        ("corrupt.buren", 4),
        ("cut.buren", 4),
        ("cut.parquet", 4),
        ("nowhere.txt", 1),
        ("good.txt --from parquet", 1),
        ("good.txt --agg sum(humidity)", 2),
        ("good.txt --where nonsense", 2),
    ] {
        let asked = place.run(&format!("query {input} --no-statistics"));
        assert_eq!(asked.code, Some(code), "{input}: {}", asked.stderr);
        place.run(&format!("compare {input} {QUICK}")).fails(code, asked.stderr.trim_end());
        if !input.contains("good.txt") {
            place.run(&format!("compare good.txt {input} {QUICK} --out out")).fails(code, asked.stderr.trim_end());
            assert!(!place.path("out/results.json").exists(), "{input}");
        }
    }
}

#[test]
fn tiny_tables_have_no_odd_figures() {
    let place = Place::new();
    place.write("empty.txt", "");
    place.write("one.txt", "Abha;1.0\n");
    let empty = "empty.txt --schema station:string,temperature:decimal(1)";
    for input in [empty, "one.txt", "one.txt --rows 1", "one.txt --where temperature>50", "one.txt --cold"] {
        let options = "--encodings buren,csv,parquet --compressions none,zstd --out out --force";
        let shown = place.run(&format!("compare {input} {QUICK} {options}")).text();
        let files = ["out/README.md", "out/report.html", "out/results.csv"].map(|name| place.read(name));
        let files = files.map(|file| String::from_utf8(file).unwrap());
        for text in files.iter().chain([&shown]) {
            // The style sheet contains numbers.
            let text = text.split_once("<body>").map_or(text.as_str(), |(_, body)| body);
            for odd in ["NaN", "inf ", "inf,", " -0.0", " 0.00 times"] {
                assert!(!text.contains(odd), "{input}: {odd}: {text}");
            }
        }
        assert_eq!(input == empty, !shown.contains("of the text"), "{input}: {shown}");
    }
}

/// The records of a CSV file (RFC 4180).
fn records(text: &str) -> Vec<Vec<String>> {
    let (mut records, mut record, mut field) = (Vec::new(), Vec::new(), String::new());
    let mut characters = text.chars().peekable();
    let mut is_quoted = false;
    while let Some(character) = characters.next() {
        match (is_quoted, character) {
            (true, '"') if characters.next_if_eq(&'"').is_some() => field.push('"'),
            (_, '"') => is_quoted = !is_quoted,
            (false, ',') => record.push(std::mem::take(&mut field)),
            (false, '\n') => {
                record.push(std::mem::take(&mut field));
                records.push(std::mem::take(&mut record));
            }
            (_, character) => field.push(character),
        }
    }
    assert!(!is_quoted && field.is_empty() && record.is_empty());
    records
}

#[test]
fn markup_in_names_is_escaped() {
    let place = Place::new();
    let name = "a|b <x> & \"q\", 'z'`*[\n]é🦀.txt";
    let long = "ä".repeat(120) + ".txt";
    place.write(name, "Abha;1.0\nHamburg;2.0\n");
    place.write(&long, "Abha;1.0\n");
    let options = format!("{QUICK} --encodings buren,json --compressions none,zstd --out out --keep");
    let mut arguments = vec!["compare", name, &long, "--schema", "a|b <x> & \"q\":string,\u{1b}[31m'<i>`:decimal(1)"];
    arguments.extend(options.split(' '));
    let shown = place.run_of(&arguments).text();
    assert!(!shown.contains('\u{1b}') && shown.contains("a|b <x> & \"q\", 'z'`*[\\n]é🦀.txt: 2 rows"), "{shown}");
    let text = String::from_utf8(place.read("out/results.csv")).unwrap();
    let records = records(&text);
    assert!(records.iter().all(|record| record.len() == records[0].len()), "{text}");
    assert!(records[1..].iter().all(|record| record[0] == name || record[0] == long), "{text}");
    let page = String::from_utf8(place.read("out/report.html")).unwrap();
    let readme = String::from_utf8(place.read("out/README.md")).unwrap();
    assert!(!page.contains('\u{1b}') && !readme.contains('\u{1b}') && !page.contains("<i>"));
    assert!(readme.contains("\\[31m'&lt;i>\\` | decimal(18,1) |"), "{readme}");
    assert!(page.contains("a|b &lt;x&gt; &amp; &quot;q&quot;, &#39;z&#39;`*["), "{page}");
    assert!(!page.contains("<x>"));
    assert!(readme.contains("\n## a\\|b &lt;x> &amp; \"q\", 'z'\\`\\*\\[ \\]é🦀.txt\n"), "{readme}");
    assert_eq!(fs::read_dir(place.path("out/files")).unwrap().count(), 8);
}

#[test]
fn several_queries_are_compared() {
    let place = Place::new();
    place.write("a.txt", "Abha;1.0\nHamburg;2.0\nAbha;3.0\n");
    place.write("b.txt", "Abha;1.0\n");
    let mut arguments = vec!["compare", "a.txt", "b.txt", "a.txt", "--query", "", "--query"];
    arguments.push("--by '' --agg 'max(temperature), count()' --where \"station = 'Abha'\"");
    arguments.extend(["--encodings", "csv", "--compressions", "none", "--out", "out"]);
    arguments.extend(QUICK.split(' '));
    let shown = place.run_of(&arguments).text();
    let asked = "query: --by '' --agg 'max(temperature), count()' --where \"station = 'Abha'\"";
    assert_eq!(shown.matches(asked).count(), 2, "{shown}");
    assert_eq!(shown.matches("query: min, mean and max of each column of numbers").count(), 2, "{shown}");
    assert_eq!(shown.matches("a.txt: 3 rows").count(), 2, "{shown}");
    let records = records(&String::from_utf8(place.read("out/results.csv")).unwrap());
    assert_eq!(records.len(), 9);
    let questions: Vec<_> = records.iter().filter(|record| record[0] == "a.txt").map(|record| &record[1]).collect();
    assert!(questions[0].is_empty() && questions[2].starts_with("--by '' --agg"), "{questions:?}");
    for name in ["out/README.md", "out/report.html"] {
        let text = String::from_utf8(place.read(name)).unwrap();
        assert_eq!(text.matches("query: ").count(), 4, "{name}: {text}");
    }
    // The same query, spelled differently.
    arguments[5] = " ";
    place.run_of(&arguments).ok();
}

#[test]
fn other_files_in_the_directory_are_left_unchanged() {
    let place = Place::new();
    place.write("t.txt", "Abha;1.0\n");
    place.write("file", "mine");
    let quick = format!("{QUICK} --encodings csv --compressions none");
    place.run(&format!("compare t.txt {quick} --out file")).fails_with(2, "file: is not a directory");
    place.run(&format!("compare t.txt {quick} --out file/below")).fails_with(1, "file/below: cannot");
    place.run(&format!("compare t.txt {quick} --out /proc/nowhere")).fails_with(1, "/proc/nowhere: cannot create");
    fs::create_dir_all(place.path("mine/.brc-compare-old/cell")).unwrap();
    fs::create_dir(place.path("mine/files")).unwrap();
    for name in ["README.md", "notes.txt", ".notes.txt.1.brc-tmp", "files/t.json", ".results.json.1.brc-tmp"] {
        place.write(&format!("mine/{name}"), "mine");
    }
    let run = format!("compare t.txt {quick} --out mine --keep");
    place.run(&run).fails_with(2, "mine/README.md: already exists, without the results.json of a comparison (--force");
    assert!(place.read("mine/README.md") == b"mine");
    fs::remove_file(place.path("mine/README.md")).unwrap();
    place.run(&run).ok();
    let expected =
        [".notes.txt.1.brc-tmp", "README.md", "files", "notes.txt", "report.html", "results.csv", "results.json"];
    assert_eq!(names(&place, "mine"), expected);
    assert!(place.read("mine/files/t.json") == b"mine" && place.read("file") == b"mine");
    // A result file cannot be an input.
    let csv = place.read("mine/files/t.csv");
    place.run("compare mine/files/t.csv --out mine --force --keep").fails_with(2, "lies where the results are kept");
    place.run("compare mine/files/../files/t.csv --out mine --force").fails_with(2, "lies where the results are kept");
    assert!(place.read("mine/files/t.csv") == csv);
    // Two comparisons cannot write to one directory.
    let directory = fs::File::open(place.path("mine")).unwrap();
    directory.lock().unwrap();
    place.run(&run).fails_with(2, "mine: another brc compare is writing");
}

#[test]
fn missing_kept_files_are_converted_again() {
    let place = Place::new();
    place.run("generate t.txt --rows 2000").ok();
    let command = format!("compare t.txt {QUICK} --encodings buren,csv --compressions none,lz4 --out out");
    place.run(&command).ok();
    let results = place.read("out/results.json");
    place.run(&format!("{command} --keep")).ok();
    let kept = names(&place, "out/files");
    assert_eq!(kept, ["t.buren", "t.csv", "t.lz4.buren", "t.lz4.csv.lz4"]);
    let read = || kept.iter().map(|name| place.read(&format!("out/files/{name}"))).collect::<Vec<_>>();
    let files = read();
    fs::remove_file(place.path("out/files/t.buren")).unwrap();
    place.write("out/files/t.csv", "short");
    place.run(&format!("{command} --keep")).ok();
    assert!(read() == files);
    assert!(place.read("out/results.json") == results);
}

#[test]
fn compared_files_equal_those_of_a_conversion() {
    let place = Place::new();
    place.run("generate t.csv --preset uservisits --rows 30k").ok();
    place
        .run(&format!("compare t.csv {QUICK} --encodings buren --compressions none --by country_code --out out --keep"))
        .ok();
    place.run("convert t.csv t.buren").ok();
    assert!(place.read("out/files/t.buren") == place.read("t.buren"));
}

/// Converted files are removed whenever the run is killed.
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

/// The processes that run in a directory, with their command lines.
#[cfg(target_os = "linux")]
fn processes(place: &Place) -> Vec<(i32, String)> {
    let here = place.path("").canonicalize().unwrap();
    let processes = fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let entry = entry.ok()?;
        let process = entry.file_name().to_str()?.parse().ok()?;
        if fs::read_link(entry.path().join("cwd")).ok()? != here {
            return None;
        }
        let command = fs::read(entry.path().join("cmdline")).ok()?;
        Some((process, String::from_utf8_lossy(&command).into_owned()))
    });
    processes.collect()
}

/// After SIGKILL the next run cleans up.
#[test]
#[cfg(target_os = "linux")]
fn leftovers_of_a_killed_run_are_removed_by_the_next() {
    let place = Place::new();
    place.run("generate t.txt --rows 300k").ok();
    let options = "--encodings buren,csv --compressions none,zstd --runs 20 --convert-runs 1 --out out";
    let mut run = place.command(&format!("compare t.txt {options}")).spawn().unwrap();
    while !fs::read_to_string(place.path("out/results.json")).is_ok_and(|text| text.contains("measured")) {
        assert_eq!(run.try_wait().unwrap(), None);
        std::thread::sleep(Duration::from_millis(5));
    }
    run.kill().unwrap();
    run.wait().unwrap();
    assert!(names(&place, "out").iter().any(|name| name.starts_with(".brc-compare-")));
    let start = Instant::now();
    while !processes(&place).is_empty() {
        assert!(start.elapsed().as_secs() < 10, "{:?}", processes(&place));
        std::thread::sleep(Duration::from_millis(5));
    }
    place.run(&format!("compare t.txt {options}")).ok();
    assert_eq!(names(&place, "out"), ["README.md", "report.html", "results.csv", "results.json"]);
    assert!(!column(&place, "outcome").contains(&"failed".to_owned()));
}

/// A stopped process behaves like one that hangs.
#[test]
#[cfg(target_os = "linux")]
fn a_hanging_cell_times_out() {
    let place = Place::new();
    place.run("generate t.txt --rows 20k").ok();
    let options = "--encodings json,buren,csv --compressions none --runs 1 --convert-runs 30 --timeout 3s --out out";
    let run = place.command(&format!("compare t.txt {options}")).stdout(Stdio::piped()).spawn().unwrap();
    let is_it = |command: &str| command.contains("\"convert\"") && command.contains("\"buren\"");
    let start = Instant::now();
    // The process may end before it is stopped; then try the next one.
    while !processes(&place).into_iter().filter(|(_, command)| is_it(command)).any(|(process, _)| stop(process)) {
        assert!(start.elapsed().as_secs() < 60);
    }
    let output = run.wait_with_output().unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{shown}");
    assert!(shown.contains("FAILED buren: converting: stopped after 3.00 s (--timeout"), "{shown}");
    let outcomes = column(&place, "outcome");
    assert_eq!(outcomes, ["input", "measured", "failed", "measured"]);
    assert!(processes(&place).is_empty());
    assert_eq!(names(&place, "out"), ["README.md", "report.html", "results.csv", "results.json"]);
}

/// Stops a process; returns whether it still existed.
#[cfg(target_os = "linux")]
fn stop(process: i32) -> bool {
    use rustix::process::{Pid, Signal, kill_process};
    let stopped = Pid::from_raw(process).is_some_and(|process| kill_process(process, Signal::STOP).is_ok());
    // A zombie accepts signals too.
    let state = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stopped && !state.is_empty() && !state.contains(") Z ")
}
