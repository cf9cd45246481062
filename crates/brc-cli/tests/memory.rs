//! Tests of queries and conversions under memory limits.

mod common;

use common::Place;
use std::io::Write;
use std::process::Stdio;
use std::time::Duration;

const QUESTIONS: &[&str] = &[
    "select substr(source_ip, 1, 8), sum(ad_revenue), count(*) group by 1",
    "select source_ip, dest_url, median(duration), count(distinct search_word) group by 1, 2 order by 3 desc limit 20 offset 5",
    "select user_agent, string_agg(country_code, ','), max(ad_revenue) filter (where duration < 5) group by 1",
    "select distinct country_code, length(search_word) from t order by 2 desc, 1",
    "select avg(ad_revenue), mode(country_code) from t",
    "select dest_url, count(*) as n group by 1 having n > 1 order by n desc, 1",
    "select source_ip, duration where duration > 2 order by duration desc, source_ip",
    "select * order by search_word, visit_date desc limit 30 offset 3",
];

fn visits(rows: u32) -> Place {
    let place = Place::new();
    place.run(&format!("generate t.csv --preset uservisits --rows {rows}")).ok();
    place.shell("mkdir spill").ok();
    place
}

#[test]
fn results_do_not_depend_on_memory() {
    let place = visits(5_000);
    place.run("convert t.csv t.buren --row-group 64k").ok();
    for question in QUESTIONS {
        let ask = |options: &str| {
            let options = options.split_whitespace();
            let arguments: Vec<&str> = ["query", "t.buren", question].into_iter().chain(options).collect();
            place.run_of(&arguments)
        };
        let expected = ask("--format csv").text();
        for memory in ["1", "1M", "1G"] {
            for threads in [1, 3] {
                let options = format!("--memory {memory} --threads {threads} --temp-dir spill --format csv --explain");
                let outcome = ask(&options);
                let spills = outcome.stderr.contains("\nspilled ");
                assert!(memory == "1M" || spills == (memory == "1"), "{question}: {}", outcome.stderr);
                assert_eq!(outcome.text(), expected, "{question}");
            }
        }
        assert_eq!(ask("--memory 1").text(), ask("").text());
        ask("--memory 1 --out spilled.parquet --force --metrics m.csv").ok();
        let metrics = String::from_utf8(place.read("m.csv")).unwrap();
        let last = |line: &str| line.rsplit(',').next().map(str::to_owned);
        assert_eq!(metrics.lines().next().and_then(last).unwrap(), "spilled_bytes");
        assert!(metrics.lines().last().and_then(last).unwrap().parse::<u64>().unwrap() > 0, "{metrics}");
        place.shell("rm m.csv").ok();
        ask("--out held.parquet --force").ok();
        assert_eq!(place.run("cat spilled.parquet").text(), place.run("cat held.parquet").text());
    }
    assert!(std::fs::read_dir(place.path("spill")).unwrap().next().is_none());
}

#[test]
fn a_group_that_is_too_large_is_an_error() {
    let place = Place::new();
    place.run("generate t.txt --rows 2M").ok();
    place.run_of(&["query", "t.txt", "--by", "", "--agg", "median(temperature)", "--memory", "1M"]).fails(
        1,
        "brc: median(temperature) of one group needs more than the memory limit of 1048576 bytes\n\
         brc: raise the limit with --memory",
    );
    place.write("d.csv", "a,b\n".to_owned() + &(0..200_000).map(|row| format!("{row},-{row}\n")).collect::<String>());
    let distinct = "select count(distinct a), count(distinct b)";
    place.run_of(&["query", "d.csv", distinct, "--memory", "4K"]).fails_with(
        1,
        "brc: count(distinct a), count(distinct b) of one group needs more than the memory limit of 4096 bytes",
    );
}

#[test]
fn a_constant_that_is_too_long_is_an_error() {
    let place = Place::new();
    place.write("a.csv", "a\n1\n2\n");
    for text in ["select max(rpad('b', 2000000000)) as m", "select a where 'x' || rpad('é', 1000000000, 'xy') > 'a'"] {
        place.run_of(&["query", "a.csv", text, "--memory", "100M"]).fails(
            1,
            "brc: a computed string needs more than the memory limit of 104857600 bytes\n\
             brc: raise the limit with --memory",
        );
    }
    let text = "select a, length(rpad('é', 20000000, 'xy')) as l";
    let answer = place.run_of(&["query", "a.csv", text, "--memory", "200M", "--format", "csv"]).text();
    assert_eq!(answer, "a,l\n1,20000000\n2,20000000\n");
}

#[test]
fn a_full_disk_is_an_error() {
    let place = visits(20_000);
    let question = format!("query t.csv '{}' --memory 1", QUESTIONS[0]);
    place
        .shell(&format!("ulimit -f 10; exec $BRC {question} --temp-dir spill"))
        .fails_with(1, "spill: cannot write a temporary file: File too large");
    place.shell(&format!("exec $BRC {question} --temp-dir none")).fails_with(1, "none: cannot write a temporary file");
    assert_eq!(place.names(), ["spill", "t.csv"]);
    assert!(std::fs::read_dir(place.path("spill")).unwrap().next().is_none());
}

#[test]
fn a_killed_query_leaves_nothing() {
    let place = visits(20_000);
    let arguments = ["query", "-", QUESTIONS[0], "--memory", "1", "--temp-dir", "spill"];
    let mut run = place.command_of(&arguments).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut input = run.stdin.take().unwrap();
    input.write_all(&place.read("t.csv")).unwrap();
    // Its input does not end, so it waits after spilling.
    let has_spilled = || {
        let files = std::fs::read_dir(format!("/proc/{}/fd", run.id())).unwrap().flatten();
        let targets: Vec<_> = files.filter_map(|file| std::fs::read_link(file.path()).ok()).collect();
        targets.iter().any(|target| target.starts_with(place.path("spill")))
    };
    let waited = (0..600).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        has_spilled()
    });
    assert!(waited, "nothing was spilled");
    assert!(std::fs::read_dir(place.path("spill")).unwrap().next().is_none());
    run.kill().unwrap();
    run.wait().unwrap();
    assert!(std::fs::read_dir(place.path("spill")).unwrap().next().is_none());
}

#[test]
fn a_conversion_keeps_within_its_memory() {
    const MEBIBYTE: f64 = (1 << 20) as f64;
    let place = visits(200_000);
    for (memory, target) in [(48, "t.buren"), (48, "t.parquet"), (64, "t.json")] {
        let options = format!("--memory {memory}M --threads 4 --force --metrics m.csv");
        // A row group of default size would exceed the limit.
        for command in [
            format!("exec $BRC convert t.csv {target} --no-sync"),
            format!("cat t.csv | $BRC convert - {target} --no-sync"),
            format!("exec $BRC cat t.csv -o {target}"),
        ] {
            place.shell(&format!("rm -f m.csv; {command} {options}")).ok();
            let metrics = String::from_utf8(place.read("m.csv")).unwrap();
            let peak: f64 = metrics.lines().last().unwrap().split(',').nth(5).unwrap().parse().unwrap();
            // The pages of the program itself count, of which the system maps more or fewer at once, and the number of
            // waiting parts depends on scheduling.
            assert!(peak < f64::from(memory) * MEBIBYTE * 1.2, "{command} {options}: {} MiB", peak / MEBIBYTE);
        }
    }
}

#[test]
fn output_under_a_memory_limit_depends_on_nothing_else() {
    let place = visits(20_000);
    place.run("convert t.csv usual.buren").ok();
    place.run("convert t.csv t.buren --memory 1G").ok();
    assert!(place.read("t.buren") == place.read("usual.buren"));
    place.run("convert t.csv small.buren --memory 9M --threads 1").ok();
    assert!(place.read("small.buren") != place.read("usual.buren"));
    assert_eq!(place.run("cat small.buren").text(), place.run("cat t.buren").text());
    place.run("convert t.csv t.buren --force --memory 9M --threads 3").ok();
    assert!(place.read("t.buren") == place.read("small.buren"));
    place.shell("cat t.csv | $BRC convert - t.buren --force --memory 9M --threads 3").ok();
    assert!(place.read("t.buren") == place.read("small.buren"));
    place.run("cat t.csv -o t.buren --force --memory 9M --threads 3").ok();
    assert!(place.read("t.buren") == place.read("small.buren"));
    place.run("cat t.csv -o t.buren --force").ok();
    assert!(place.read("t.buren") == place.read("usual.buren"));
    place.run("convert t.csv t.buren --force --memory none").fails_with(2, "--memory");
}

#[test]
fn columns_of_wide_texts_take_little_memory() {
    let place = Place::new();
    for word in ["", "word "] {
        let line = |prefix: &str| (0..20_000).map(|column| format!("{prefix}{column}")).collect::<Vec<_>>().join(",");
        place.write("t.csv", format!("{}\n{}\n", line("column "), line(word)));
        place.run("convert t.csv t.json --header yes --force --metrics m.csv").ok();
        let metrics = String::from_utf8(place.read("m.csv")).unwrap();
        let (names, values) = metrics.split_once('\n').unwrap();
        let peak = names.split(',').position(|name| name == "peak_rss_bytes").unwrap();
        let peak: u64 = values.lines().last().unwrap().split(',').nth(peak).unwrap().parse().unwrap();
        // Tables of fixed size for each column would take 40 kB and more.
        assert!(peak < 400 << 20, "{peak} bytes");
        place.shell("rm m.csv").ok();
    }
}
