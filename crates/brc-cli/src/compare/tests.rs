//! What is measured in which order, what becomes of failures, and how a run goes on: without running anything.

use super::executor::{Executor, Ran};
use super::job::{Found, Job, TableFormat};
use super::matrix::Matrix;
use super::measure::{file_steps, steps};
use super::monitor::Monitor;
use super::results::{FileIdentity, Outcome, Parts, Results, Sample, Settings, TableResults, Work};
use super::sample;
use super::store::Store;
use brc_compress::{COMPRESSIONS, Compressor};
use brc_core::Schema;
use brc_encodings::{ENCODINGS, Encoding};
use std::path::{Path, PathBuf};

/// An executor that only takes note.
#[derive(Default)]
struct Notes {
    log: Vec<String>,
    /// Answers in the name of which file are wrong from which query on.
    wrong: Option<(String, usize)>,
    /// Conversions to which encoding fail.
    broken: Option<&'static str>,
    /// Files of which encoding are answered from statistics.
    summarises: Option<&'static str>,
    queries: usize,
}

impl Executor for Notes {
    fn run(&mut self, job: &Job, input: &Path, other: &Path) -> Result<Ran, String> {
        let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
        let sample = Sample { wall_ns: 1000 + self.log.len() as u64, ..Sample::default() };
        let (line, found) = match job {
            Job::Read => (format!("read {}", name(input)), Found::Bytes(1)),
            Job::Cut { rows, .. } => (format!("cut {rows} {} to {}", name(input), name(other)), Found::Rows(*rows)),
            Job::Reference { .. } => {
                let (schema, encoding) = (Schema::one_brc(), brc_encodings::text().name().to_owned());
                let found = Found::Table { encoding, schema, rows: 7, text_bytes: 100, groups: 2 };
                (format!("reference {}", name(input)), found)
            }
            Job::Convert { to, compression, .. } => {
                if self.broken == Some(to.as_str()) {
                    return Err("no room".to_owned());
                }
                (format!("convert {to} {compression} to {}", name(other)), Found::Rows(7))
            }
            Job::Query { statistics, parts, format, .. } => {
                self.queries += 1;
                let wrong = self.wrong.as_ref().filter(|(file, from)| *file == name(input) && self.queries >= *from);
                let difference = wrong.map(|_| "wrong answer".to_owned());
                let summarised = *statistics && self.summarises == format.from.as_deref();
                let work = Work { summarised_rows: u64::from(summarised), ..Work::default() };
                let what = format!(
                    "query {}{}{}",
                    name(input),
                    if *statistics { " +" } else { "" },
                    if *parts { " parts" } else { "" }
                );
                (what, Found::Answer { parts: Parts::default(), work, difference })
            }
        };
        self.log.push(line);
        Ok(Ran { sample, found })
    }

    fn size(&mut self, _: &Path) -> Result<u64, String> {
        Ok(10)
    }

    fn settle(&mut self, file: &Path) -> Result<(), String> {
        self.log.push(format!("settle {}", file.file_name().unwrap().to_string_lossy()));
        Ok(())
    }

    fn remove(&mut self, _: &Path) {}

    fn drop_from_cache(&mut self, _: &Path) -> Result<(), String> {
        self.log.push("drop".to_owned());
        Ok(())
    }
}

/// A monitor that counts.
#[derive(Default)]
struct Steps {
    planned: u64,
    taken: u64,
    failures: Vec<String>,
}

impl Monitor for Steps {
    fn plan(&mut self, steps: u64) {
        self.planned += steps;
    }

    fn begin(&mut self, _: &str, _: u64) {}

    fn more_steps(&mut self, steps: u64) {
        self.planned += steps;
    }

    fn step(&mut self, _: &'static str, _: u32) {
        self.taken += 1;
    }

    fn end(&mut self, failure: Option<&str>) {
        self.failures.extend(failure.map(str::to_owned));
    }
}

/// One encoding that compresses its blocks and the text encoding, without compression.
fn encodings() -> Vec<&'static dyn Encoding> {
    ENCODINGS.iter().copied().filter(|it| it.compresses_blocks()).take(1).chain([brc_encodings::text()]).collect()
}

fn wanted(encodings: &[&'static dyn Encoding], settings: Settings) -> Results {
    let input = FileIdentity { path: "t.txt".to_owned(), bytes: 1, modified: 1, hash: String::new() };
    let encodings = encodings.iter().map(|encoding| encoding.name().to_owned()).collect();
    Results {
        empty_process: Vec::new(),
        settings: Settings { encodings, compressions: vec!["none".to_owned()], ..settings },
        tables: vec![TableResults { input, facts: None, as_it_is: None, cells: Vec::new() }],
        ..sample::results()
    }
}

fn settings() -> Settings {
    Settings { runs: 2, convert_runs: 2, warmup: 0, cold: false, ..sample::settings() }
}

fn run(
    notes: &mut Notes,
    monitor: &mut Steps,
    results: &mut Results,
    save: &mut dyn FnMut(&Results) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut matrix = Matrix {
        executor: notes,
        monitor,
        save,
        encodings: &encodings(),
        compressions: &[Compressor::of(COMPRESSIONS[0])],
        format: &TableFormat { from: None, schema: None, separator: b';', max_copy: 0 },
        scratch: Path::new("/scratch"),
        kept: None,
    };
    matrix.run(results, &[PathBuf::from("t.txt")])
}

fn outcomes(results: &Results) -> Vec<&'static str> {
    let name = |outcome: &Outcome| match outcome {
        Outcome::Pending => "pending",
        Outcome::Impossible { .. } => "impossible",
        Outcome::Failed { .. } => "failed",
        Outcome::Measured(_) => "measured",
    };
    results.tables[0].cells.iter().map(|cell| name(&cell.outcome)).collect()
}

#[test]
fn cells_are_made_then_checked_then_timed() {
    let (mut notes, mut monitor) = (Notes::default(), Steps::default());
    let mut results = wanted(&encodings(), settings());
    let mut saved = 0;
    run(&mut notes, &mut monitor, &mut results, &mut |_| {
        saved += 1;
        Ok(())
    })
    .unwrap();
    assert_eq!(outcomes(&results), ["measured", "measured"]);
    let text = brc_encodings::text().name();
    let start = notes.log.iter().position(|line| line.starts_with(&format!("convert {text}"))).unwrap();
    let convert = format!("convert {text} none to t.{text}");
    let expected = [
        &convert,
        &convert,
        "settle t.csv",
        "query t.csv",
        "query t.csv",
        "query t.csv",
        "query t.csv parts",
        "query t.csv parts",
        "query t.csv +",
        "read t.csv",
        "read t.csv",
        "read t.csv",
    ];
    assert_eq!(notes.log[start..], expected);
    // The input, each cell, and the end.
    assert_eq!(saved, 4);
    let cell = results.tables[0].cells[1].measurements().unwrap();
    assert_eq!((cell.convert.len(), cell.times.query.samples.warm.len(), cell.times.raw.warm.len()), (2, 2, 2));
    assert!(cell.times.with_statistics.is_none() && cell.times.raw.cold.is_empty());
    assert!(monitor.taken <= monitor.planned + 1, "{} of {}", monitor.taken, monitor.planned);
    assert_eq!(monitor.planned, file_steps(&results.settings) + 2 * steps(&results.settings));
}

#[test]
fn cold_runs_drop_the_file_each_time() {
    let mut notes = Notes::default();
    let mut results = wanted(&encodings(), Settings { cold: true, ..settings() });
    run(&mut notes, &mut Steps::default(), &mut results, &mut |_| Ok(())).unwrap();
    let tail: Vec<&str> = notes.log.iter().rev().take(8).rev().map(String::as_str).collect();
    assert_eq!(tail, ["drop", "read t.csv", "drop", "read t.csv", "drop", "query t.csv", "drop", "query t.csv"]);
}

#[test]
fn statistics_are_measured_where_they_answer() {
    let name = encodings()[0].name();
    let mut notes = Notes { summarises: Some(name), ..Notes::default() };
    let mut results = wanted(&encodings(), settings());
    run(&mut notes, &mut Steps::default(), &mut results, &mut |_| Ok(())).unwrap();
    let times = |cell: usize| &results.tables[0].cells[cell].measurements().unwrap().times;
    assert_eq!(times(0).with_statistics.as_ref().unwrap().samples.warm.len(), 2);
    assert!(times(1).with_statistics.is_none());
}

#[test]
fn a_wrong_answer_fails_the_cell_and_nothing_else() {
    // The first answer of a cell is wrong: nothing is timed. A later one is: what was timed does not count.
    for (from, timed) in [(1, false), (8, true)] {
        let (mut notes, mut monitor) =
            (Notes { wrong: Some(("t.csv".to_owned(), from)), ..Notes::default() }, Steps::default());
        let mut results = wanted(&[brc_encodings::text()], settings());
        run(&mut notes, &mut monitor, &mut results, &mut |_| Ok(())).unwrap();
        assert_eq!(outcomes(&results), ["measured", "failed"]);
        let reason = Outcome::Failed { reason: "wrong answer".to_owned() };
        assert_eq!(results.tables[0].cells[1].outcome, reason);
        assert_eq!(monitor.failures, ["wrong answer"]);
        let queries = notes.log.iter().filter(|line| line.starts_with("query t.csv")).count();
        assert!(queries == 1 || timed, "{:?}", notes.log);
        assert!(!notes.log.contains(&"read t.csv".to_owned()));
    }
}

#[test]
fn a_failed_conversion_fails_its_cell() {
    let name = encodings()[0].name();
    let mut notes = Notes { broken: Some(name), ..Notes::default() };
    let mut results = wanted(&encodings(), settings());
    run(&mut notes, &mut Steps::default(), &mut results, &mut |_| Ok(())).unwrap();
    assert_eq!(outcomes(&results), ["failed", "measured"]);
    assert_eq!(results.tables[0].cells[0].outcome, Outcome::Failed { reason: "converting: no room".to_owned() });
}

#[test]
fn first_rows_are_cut_once_and_then_used() {
    let mut notes = Notes::default();
    let mut results = wanted(&encodings(), Settings { rows: Some(7), ..settings() });
    run(&mut notes, &mut Steps::default(), &mut results, &mut |_| Ok(())).unwrap();
    assert_eq!(notes.log.iter().filter(|line| line.contains("t.txt")).count(), 1, "{:?}", notes.log);
    assert!(notes.log.contains(&"cut 7 t.txt to t.input".to_owned()));
    assert!(notes.log.contains(&"reference t.input".to_owned()));
}

#[test]
fn a_run_goes_on_where_it_was() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::new(directory.path()).unwrap();
    let mut results = store.resume(wanted(&encodings(), settings())).unwrap();
    let mut left = 3;
    let interrupted = run(&mut Notes::default(), &mut Steps::default(), &mut results, &mut |results| {
        store.save(results)?;
        left -= 1;
        if left == 0 { Err(anyhow::anyhow!("interrupted")) } else { Ok(()) }
    });
    assert!(interrupted.is_err() || left == 0);

    // The input and one cell are known; a failed cell would get another chance.
    let mut resumed = store.resume(wanted(&encodings(), settings())).unwrap();
    assert_eq!(resumed, results);
    resumed.tables[0].cells[1].outcome = Outcome::Failed { reason: "no room".to_owned() };
    let (mut notes, mut monitor) = (Notes::default(), Steps::default());
    run(&mut notes, &mut monitor, &mut resumed, &mut |results| store.save(results)).unwrap();
    assert_eq!(outcomes(&resumed), ["measured", "measured"]);
    assert!(!notes.log.iter().any(|line| line.starts_with(&format!("convert {}", encodings()[0].name()))));
    assert_eq!(monitor.planned, steps(&resumed.settings));

    // Now all is known, and nothing runs.
    let mut known = store.resume(wanted(&encodings(), settings())).unwrap();
    let mut notes = Notes::default();
    run(&mut notes, &mut Steps::default(), &mut known, &mut |_| Ok(())).unwrap();
    assert_eq!(notes.log, [""; 0]);
}

#[test]
fn results_of_something_else_are_not_gone_on_with() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::new(directory.path()).unwrap();
    let first = wanted(&encodings(), settings());
    store.save(&first).unwrap();
    let refused = |wanted: Results, words: &str| {
        let error = store.resume(wanted).unwrap_err().to_string();
        assert!(error.contains(words) && error.contains("--force"), "{error}");
    };
    refused(Results { settings: Settings { runs: 3, ..first.settings.clone() }, ..first.clone() }, "other options");
    let mut other = first.clone();
    other.tables[0].input.modified += 1;
    refused(other, "other input files");
    let mut other = first.clone();
    other.program.hash.push('x');
    refused(other, "another build");
    // The machine's clock or a changed command line that means the same are no reason.
    let same = Results { started: "later".to_owned(), ..first.clone() };
    assert_eq!(store.resume(same).unwrap(), first);
    std::fs::write(directory.path().join("results.json"), "{").unwrap();
    refused(first, "is not what");
}
