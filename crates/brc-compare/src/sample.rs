//! A fixed set of made-up results for the snapshot tests of all reports.

use super::environment::Environment;
use super::results::{
    Cell, FileIdentity, FileTimes, Measurements, Outcome, Parts, QueryTimes, Results, Sample, Settings, TableFacts,
    TableResults, Temperatures, VERSION, Work,
};
use crate::options::QueryOptions;
use brc_core::Schema;
use std::collections::BTreeMap;

const ROWS: u64 = 1_000_000;

/// Two tables, three encodings, three compressions; with one failure and one impossible cell.
pub(crate) fn results() -> Results {
    Results {
        version: VERSION,
        command: "brc compare data/measurements.txt '<b> & co.csv' --cold --out results".to_owned(),
        started: "2026-11-20 14:58:40 UTC".to_owned(),
        environment: Environment {
            cpu: Some("Test CPU".to_owned()),
            cpu_level: Some("avx2".to_owned()),
            processors: 2,
            mhz: Some(2500.0),
            caches: vec!["L2 unified 1024K".to_owned()],
            memory_bytes: Some(16 << 30),
            system: "linux 6.0 x86_64".to_owned(),
            virtual_machine: Some(true),
            version: "0.1.0".to_owned(),
            commit: Some("0123456789abcdef".to_owned()),
            compiler: Some("rustc 1.89.0".to_owned()),
            profile: Some("release".to_owned()),
            target: None,
            crates: [("clap".to_owned(), "4.6.0".to_owned())].into(),
        },
        program: FileIdentity { path: "brc".to_owned(), bytes: 1, modified: 2, hash: "3".to_owned() },
        settings: settings(),
        empty_process: warm(1_100_000),
        tables: vec![
            table("data/measurements.txt", QueryOptions::default(), true),
            table("<b> & \"co\", |1|.csv", question("max(`a|b`)", "station = '<x>'"), false),
        ],
    }
}

/// The options of the comparison.
pub(crate) fn settings() -> Settings {
    let names = |names: [&str; 3]| names.map(str::to_owned).to_vec();
    Settings {
        encodings: names(["columns", "rows", "text"]),
        compressions: names(["none", "fast", "small:9"]),
        rows: None,
        runs: 5,
        convert_runs: 2,
        warmup: 1,
        cold: true,
        threads: 2,
        memory: None,
        reading: BTreeMap::new(),
    }
}

fn question(agg: &str, filter: &str) -> QueryOptions {
    QueryOptions { select: None, by: None, agg: Some(agg.to_owned()), filter: Some(filter.to_owned()) }
}

fn table(path: &str, question: QueryOptions, cold: bool) -> TableResults {
    let cell = |encoding: &str, compression: &str, outcome| Cell {
        encoding: encoding.to_owned(),
        compression: compression.to_owned(),
        outcome,
    };
    let measured = |bytes, convert_us, query_us| measured(bytes, convert_us, query_us, cold, query_us < 4000);
    TableResults {
        input: FileIdentity { path: path.to_owned(), bytes: 13_800_000, modified: 5, hash: "6".to_owned() },
        question,
        facts: Some(TableFacts {
            encoding: "text".to_owned(),
            schema: Schema::one_brc(),
            rows: ROWS,
            bytes: 13_800_000,
            text_bytes: 13_800_000,
            groups: 413,
        }),
        as_it_is: Some(times(13_800_000, 9_800, cold, false)),
        cells: vec![
            cell("columns", "none", measured(2_400_000, 21_000, 2_100)),
            cell("columns", "fast", measured(2_380_000, 22_500, 3_300)),
            cell("columns", "small:9", measured(2_100_000, 96_000, 5_800)),
            cell("rows", "none", measured(17_000_000, 18_000, 14_200)),
            cell("rows", "fast", measured(8_200_000, 30_100, 25_400)),
            cell(
                "rows",
                "small:9",
                Outcome::Failed { reason: "wrong answer: line 3 should be 'Abha,-23.0' but is 'Abha,<23>'".to_owned() },
            ),
            cell("text", "none", measured(13_800_000, 19_000, 10_400)),
            cell("text", "fast", Outcome::Impossible { reason: "there is no such file".to_owned() }),
            cell("text", "small:9", measured(1_900_000, 250_000, 31_000)),
        ],
    }
}

fn measured(bytes: u64, convert_us: u64, query_us: u64, cold: bool, statistics: bool) -> Outcome {
    Outcome::Measured(Box::new(Measurements {
        bytes,
        convert: warm(convert_us * 1000)[..2].to_vec(),
        times: times(bytes, query_us, cold, statistics),
    }))
}

fn times(bytes: u64, query_us: u64, cold: bool, statistics: bool) -> FileTimes {
    let raw_ns = 1_200_000 + bytes / 10;
    FileTimes {
        raw: Temperatures { warm: warm(raw_ns), cold: cold_of(raw_ns, bytes, cold) },
        query: query_times(query_us * 1000, bytes, cold, 0),
        with_statistics: statistics.then(|| query_times(query_us * 500, bytes / 100, cold, ROWS)),
    }
}

fn query_times(query_ns: u64, bytes: u64, cold: bool, summarised_rows: u64) -> QueryTimes {
    let parts = Parts {
        read_ns: query_ns / 5,
        decompress_ns: query_ns / 10,
        decode_ns: query_ns * 4 / 5,
        aggregate_ns: query_ns / 4,
        cpu_ns: Some(query_ns * 8 / 5),
    };
    QueryTimes {
        samples: Temperatures { warm: warm(query_ns), cold: cold_of(query_ns, bytes, cold) },
        parts: vec![parts; 3],
        work: Work { rows: ROWS - summarised_rows, summarised_rows, skipped_rows: 0, bytes_read: bytes },
    }
}

/// Five samples around `ns`; the longest times get an outlier.
fn warm(ns: u64) -> Vec<Sample> {
    let last = if ns > 29_000_000 { 300 } else { 103 };
    [98, 100, 99, 101, last].map(|percent| sample(ns * percent / 100)).to_vec()
}

fn cold_of(ns: u64, bytes: u64, cold: bool) -> Vec<Sample> {
    let samples = warm(3 * ns).into_iter().map(|it| Sample { fetched_bytes: Some(bytes), ..it });
    if cold { samples.collect() } else { Vec::new() }
}

fn sample(ns: u64) -> Sample {
    Sample {
        wall_ns: ns,
        inside_ns: ns - ns / 10,
        cpu_ns: Some(ns * 3 / 2),
        peak_memory: Some(6_000_000 + ns / 10),
        fetched_bytes: Some(0),
    }
}
