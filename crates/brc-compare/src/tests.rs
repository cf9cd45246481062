//! Tests the order of measurements, the handling of failures and resuming, without running processes.

use super::executor::{Completed, Executor};
use super::job::{Job, JobResult};
use super::matrix::{Matrix, cells};
use super::measure::{file_steps, steps};
use super::monitor::Monitor;
use super::results::{FileIdentity, Outcome, Parts, Results, Sample, Settings, TableResults, Work};
use super::sample;
use super::store::Store;
use crate::error::{Error, Failure};
use crate::options::{QueryOptions, TableOptions};
use brc_compress::{COMPRESSIONS, Compressor};
use brc_core::Schema;
use brc_encodings::{ENCODINGS, Encoding};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// An executor that only logs its jobs.
#[derive(Default)]
struct LogExecutor {
    log: Vec<String>,
    /// A file whose answers are wrong, and the number of the first wrong query.
    wrong: Option<(String, usize)>,
    /// The encoding to which conversions fail.
    broken: Option<&'static str>,
    /// The encoding whose files are answered from statistics.
    summarises: Option<&'static str>,
    queries: usize,
    limits: Vec<Option<Duration>>,
    /// Additional time of every process, in nanoseconds.
    slowness: u64,
    /// The input that cannot be parsed.
    unreadable: Option<&'static str>,
    /// The names of kept files that still exist.
    kept: Vec<String>,
}

impl Executor for LogExecutor {
    fn run(&mut self, job: &Job, input: &Path, other: &Path, limit: Option<Duration>) -> Result<Completed, Failure> {
        self.limits.push(limit);
        let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
        let sample = Sample { wall_ns: 1000 + self.log.len() as u64 + self.slowness, ..Sample::default() };
        let (line, result) = match job {
            Job::Read => (format!("read {}", name(input)), JobResult::Bytes(1)),
            Job::Cut { rows, .. } => {
                let cut = format!("cut {rows} {} to {}", name(input), name(other));
                (cut, JobResult::Columns(Schema::one_brc()))
            }
            Job::Reference { .. } if self.unreadable.is_some_and(|name| input.ends_with(name)) => {
                return Err(Failure { code: 3, ..Failure::new("line 7") });
            }
            Job::Reference { .. } => {
                let (schema, encoding) = (Schema::one_brc(), brc_encodings::text().name().to_owned());
                let result = JobResult::Table { encoding, schema, rows: 7, text_bytes: 100, groups: 2 };
                (format!("reference {}", name(input)), result)
            }
            Job::Convert { to, compression, .. } => {
                if self.broken == Some(to.as_str()) {
                    return Err(Failure::new("no room"));
                }
                (format!("convert {to} {compression} to {}", name(other)), JobResult::Rows(7))
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
                (what, JobResult::Answer { parts: Parts::default(), work, difference })
            }
        };
        self.log.push(line);
        Ok(Completed { sample, result })
    }

    fn size(&mut self, _: &Path) -> Result<u64, String> {
        Ok(10)
    }

    fn sync(&mut self, file: &Path) -> Result<(), String> {
        self.log.push(format!("sync {}", file.file_name().unwrap().to_string_lossy()));
        Ok(())
    }

    fn remove(&mut self, _: &Path) {}

    fn make_empty(&mut self, _: &Path) -> Result<(), String> {
        Ok(())
    }

    fn remove_all(&mut self, _: &Path) {}

    fn keep(&mut self, file: &Path, name: &Path) -> Result<(), String> {
        assert_eq!(file.file_name(), name.file_name());
        self.kept.push(name.file_name().unwrap().to_string_lossy().into_owned());
        Ok(())
    }

    fn is_kept(&self, file: &Path, bytes: u64, _: &FileIdentity) -> bool {
        bytes == 10 && self.kept.iter().any(|name| file.ends_with(name))
    }

    fn drop_from_cache(&mut self, _: &Path) -> Result<(), String> {
        self.log.push("drop".to_owned());
        Ok(())
    }
}

/// A monitor that counts steps.
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

/// One encoding that compresses blocks, and text.
fn encodings() -> Vec<&'static dyn Encoding> {
    ENCODINGS.iter().copied().filter(|it| it.compresses_blocks()).take(1).chain([brc_encodings::text()]).collect()
}

fn wanted(encodings: &[&'static dyn Encoding], settings: Settings) -> Results {
    let input = FileIdentity { path: "t.txt".to_owned(), bytes: 1, modified: 1, hash: String::new() };
    let cells = cells(encodings, &[Compressor::of(COMPRESSIONS[0])], &Schema::one_brc());
    let encodings = encodings.iter().map(|encoding| encoding.name().to_owned()).collect();
    let question = QueryOptions::default();
    Results {
        empty_process: Vec::new(),
        settings: Settings { encodings, compressions: vec!["none".to_owned()], ..settings },
        tables: vec![TableResults { input, question, facts: None, as_it_is: None, cells }],
        ..sample::results()
    }
}

fn settings() -> Settings {
    Settings { runs: 2, convert_runs: 2, warmup: 0, cold: false, ..sample::settings() }
}

fn run(
    executor: &mut LogExecutor,
    monitor: &mut Steps,
    results: &mut Results,
    save: &mut dyn FnMut(&Results) -> Result<(), Error>,
) -> Result<(), Error> {
    run_all(executor, monitor, results, save, None).map(drop)
}

fn run_keeping(executor: &mut LogExecutor, monitor: &mut Steps, results: &mut Results, kept: Option<&Path>) {
    assert_eq!(run_all(executor, monitor, results, &mut |_| Ok(()), kept).unwrap(), [""; 0]);
}

fn run_all(
    executor: &mut LogExecutor,
    monitor: &mut Steps,
    results: &mut Results,
    save: &mut dyn FnMut(&Results) -> Result<(), Error>,
    kept: Option<&Path>,
) -> Result<Vec<String>, Error> {
    let mut matrix = Matrix {
        executor,
        monitor,
        save,
        format: &TableOptions::default(),
        scratch: Path::new("/scratch"),
        kept,
        timeout: None,
        not_kept: Vec::new(),
    };
    let inputs: Vec<PathBuf> = results.tables.iter().map(|table| PathBuf::from(&table.input.path)).collect();
    matrix.run(results, &inputs)
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
fn cells_are_converted_then_checked_then_timed() {
    let (mut executor, mut monitor) = (LogExecutor::default(), Steps::default());
    let mut results = wanted(&encodings(), settings());
    let mut saved = 0;
    run(&mut executor, &mut monitor, &mut results, &mut |_| {
        saved += 1;
        Ok(())
    })
    .unwrap();
    assert_eq!(outcomes(&results), ["measured", "measured"]);
    let text = brc_encodings::text().name();
    let start = executor.log.iter().position(|line| line.starts_with(&format!("convert {text}"))).unwrap();
    let convert = format!("convert {text} none to t.{text}");
    let expected = [
        &convert,
        &convert,
        "sync t.csv",
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
    assert_eq!(executor.log[start..], expected);
    // Results are saved after the input, after each cell, and at the end.
    assert_eq!(saved, 4);
    let cell = results.tables[0].cells[1].measurements().unwrap();
    assert_eq!((cell.convert.len(), cell.times.query.samples.warm.len(), cell.times.raw.warm.len()), (2, 2, 2));
    assert!(cell.times.with_statistics.is_none() && cell.times.raw.cold.is_empty());
    assert_eq!(monitor.taken, monitor.planned);
    assert_eq!(monitor.planned, 1 + file_steps(&results.settings) + 2 * steps(&results.settings));
}

#[test]
fn cold_runs_drop_the_file_each_time() {
    let mut executor = LogExecutor::default();
    let mut results = wanted(&encodings(), Settings { cold: true, ..settings() });
    run(&mut executor, &mut Steps::default(), &mut results, &mut |_| Ok(())).unwrap();
    let tail: Vec<&str> = executor.log.iter().rev().take(8).rev().map(String::as_str).collect();
    assert_eq!(tail, ["drop", "read t.csv", "drop", "read t.csv", "drop", "query t.csv", "drop", "query t.csv"]);
}

#[test]
fn statistics_are_measured_where_they_answer() {
    let name = encodings()[0].name();
    let mut executor = LogExecutor { summarises: Some(name), ..LogExecutor::default() };
    let mut results = wanted(&encodings(), settings());
    run(&mut executor, &mut Steps::default(), &mut results, &mut |_| Ok(())).unwrap();
    let times = |cell: usize| &results.tables[0].cells[cell].measurements().unwrap().times;
    assert_eq!(times(0).with_statistics.as_ref().unwrap().samples.warm.len(), 2);
    assert!(times(1).with_statistics.is_none());
}

#[test]
fn a_wrong_answer_fails_the_cell_and_nothing_else() {
    // If the first answer of a cell is wrong, nothing is timed. If a later one is, the times are discarded.
    for (from, timed) in [(1, false), (8, true)] {
        let (mut executor, mut monitor) =
            (LogExecutor { wrong: Some(("t.csv".to_owned(), from)), ..LogExecutor::default() }, Steps::default());
        let mut results = wanted(&encodings(), settings());
        run(&mut executor, &mut monitor, &mut results, &mut |_| Ok(())).unwrap();
        assert_eq!(outcomes(&results), ["measured", "failed"]);
        let reason = Outcome::Failed { reason: "wrong answer".to_owned() };
        assert_eq!(results.tables[0].cells[1].outcome, reason);
        assert_eq!(monitor.failures, ["wrong answer"]);
        let queries = executor.log.iter().filter(|line| line.starts_with("query t.csv")).count();
        assert!(queries == 1 || timed, "{:?}", executor.log);
        assert!(!executor.log.contains(&"read t.csv".to_owned()));
    }
}

#[test]
fn a_failed_conversion_fails_its_cell() {
    let name = encodings()[0].name();
    let mut executor = LogExecutor { broken: Some(name), ..LogExecutor::default() };
    let mut results = wanted(&encodings(), settings());
    run(&mut executor, &mut Steps::default(), &mut results, &mut |_| Ok(())).unwrap();
    assert_eq!(outcomes(&results), ["failed", "measured"]);
    assert_eq!(results.tables[0].cells[0].outcome, Outcome::Failed { reason: "converting: no room".to_owned() });
}

#[test]
fn first_rows_are_cut_once_and_then_used() {
    let mut executor = LogExecutor::default();
    let mut results = wanted(&encodings(), Settings { rows: Some(7), ..settings() });
    run(&mut executor, &mut Steps::default(), &mut results, &mut |_| Ok(())).unwrap();
    assert_eq!(executor.log.iter().filter(|line| line.contains("t.txt")).count(), 1, "{:?}", executor.log);
    assert!(executor.log.contains(&"cut 7 t.txt to t.input".to_owned()));
    assert!(executor.log.contains(&"reference t.input".to_owned()));
}

#[test]
fn an_interrupted_run_is_resumed() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::new(directory.path(), &[]).unwrap();
    let mut results = store.resume(wanted(&encodings(), settings())).unwrap();
    let mut left = 3;
    let interrupted = run(&mut LogExecutor::default(), &mut Steps::default(), &mut results, &mut |results| {
        store.save(results)?;
        left -= 1;
        if left == 0 { Err(Error::Other("interrupted".to_owned())) } else { Ok(()) }
    });
    assert!(interrupted.is_err() || left == 0);

    // The input and one cell are measured; a failed cell is measured again.
    let mut resumed = store.resume(wanted(&encodings(), settings())).unwrap();
    assert_eq!(resumed, results);
    resumed.tables[0].cells[1].outcome = Outcome::Failed { reason: "no room".to_owned() };
    let (mut executor, mut monitor) = (LogExecutor::default(), Steps::default());
    run(&mut executor, &mut monitor, &mut resumed, &mut |results| store.save(results)).unwrap();
    assert_eq!(outcomes(&resumed), ["measured", "measured"]);
    assert!(!executor.log.iter().any(|line| line.starts_with(&format!("convert {}", encodings()[0].name()))));
    assert_eq!(monitor.planned, 1 + steps(&resumed.settings));

    // Everything is measured now, so nothing runs.
    let mut known = store.resume(wanted(&encodings(), settings())).unwrap();
    let mut executor = LogExecutor::default();
    run(&mut executor, &mut Steps::default(), &mut known, &mut |_| Ok(())).unwrap();
    assert_eq!(executor.log, [""; 0]);
}

#[test]
fn missing_kept_files_are_converted_again() {
    let mut results = wanted(&encodings(), settings());
    let mut executor = LogExecutor::default();
    run(&mut executor, &mut Steps::default(), &mut results, &mut |_| Ok(())).unwrap();
    assert_eq!(executor.kept, [""; 0]);
    let measured = results.clone();
    let text = brc_encodings::text().name();
    let [other, csv] = [encodings()[0].name(), text].map(|name| format!("t.{name}"));
    let resume = |kept: &[&String], results: &mut Results, broken| {
        let kept = kept.iter().map(|name| (*name).clone()).collect();
        let (mut executor, mut monitor) = (LogExecutor { kept, broken, ..LogExecutor::default() }, Steps::default());
        run_keeping(&mut executor, &mut monitor, results, Some(Path::new("/kept")));
        assert_eq!(monitor.taken, monitor.planned);
        executor
    };
    // Only the missing file is converted, and nothing is timed.
    let executor = resume(&[&other], &mut results, None);
    assert_eq!(executor.log, ["reference t.txt".to_owned(), format!("convert {text} none to {csv}")]);
    assert_eq!(executor.kept, [other.clone(), csv.clone()]);
    assert_eq!(results, measured);
    assert_eq!(resume(&[&other, &csv], &mut results, None).log, [""; 0]);
    // A failed conversion is reported, and the measurements are kept.
    let mut executor = LogExecutor { kept: vec![other], broken: Some(text), ..LogExecutor::default() };
    let kept = Some(Path::new("/kept"));
    let outcome = run_all(&mut executor, &mut Steps::default(), &mut results, &mut |_| Ok(()), kept);
    assert_eq!(outcome.unwrap(), ["converting: no room"]);
    assert_eq!(results, measured);
}

#[test]
fn processes_of_cells_have_a_limit() {
    let mut executor = LogExecutor::default();
    run(&mut executor, &mut Steps::default(), &mut wanted(&encodings(), settings()), &mut |_| Ok(())).unwrap();
    let without = executor.limits.iter().take_while(|limit| limit.is_none()).count();
    // Empty processes and the first read of the table have no limit.
    assert_eq!(without, 11);
    assert!(
        executor.limits[without..].iter().all(|limit| *limit == Some(Duration::from_secs(600))),
        "{:?}",
        executor.limits
    );
    let mut executor = LogExecutor { slowness: 7_000_000_000, ..LogExecutor::default() };
    run(&mut executor, &mut Steps::default(), &mut wanted(&encodings(), settings()), &mut |_| Ok(())).unwrap();
    let limit = executor.limits[without].unwrap();
    assert!((700..701).contains(&limit.as_secs()), "{limit:?}");
}

/// Hours may pass between the first table and the last one, so errors must be found early.
#[test]
fn all_tables_are_read_before_anything_is_timed() {
    let mut results = wanted(&encodings(), settings());
    let mut second = results.tables[0].clone();
    second.input.path = "u.txt".to_owned();
    results.tables.push(second);
    let mut executor = LogExecutor { unreadable: Some("u.txt"), ..LogExecutor::default() };
    let error = run(&mut executor, &mut Steps::default(), &mut results, &mut |_| Ok(())).unwrap_err();
    assert!(matches!(error, Error::Job(Failure { code: 3, .. })), "{error}");
    assert_eq!(executor.log[executor.log.len() - 1], "reference t.txt");
}

#[test]
fn impossible_cells_have_a_reason() {
    let arrow: Vec<_> = ENCODINGS.iter().copied().filter(|it| it.name() == "arrow").collect();
    let compressions: Vec<_> = COMPRESSIONS.iter().map(|compression| Compressor::of(*compression)).collect();
    let cells = cells(&arrow, &compressions, &Schema::one_brc());
    assert_eq!(cells.len(), compressions.len());
    for cell in cells {
        let possible = ["none", "lz4", "zstd"].contains(&cell.compression.as_str());
        assert_eq!(cell.outcome == Outcome::Pending, possible, "{cell:?}");
    }
}

#[test]
fn results_measured_differently_are_not_resumed() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::new(directory.path(), &[]).unwrap();
    let first = wanted(&encodings(), settings());
    store.save(&first).unwrap();
    let refused = |wanted: Results, words: &str| {
        let error = store.resume(wanted).unwrap_err().to_string();
        assert!(error.contains(words) && error.contains("--force"), "{error}");
    };
    let changed = |change: fn(&mut Results)| {
        let mut other = first.clone();
        change(&mut other);
        other
    };
    refused(changed(|it| it.settings.runs = 3), "measured with --runs 2, not 3 (");
    refused(changed(|it| it.settings.rows = Some(5)), "with --rows unset, not 5 (");
    let comma = |it: &mut Results| {
        it.settings.reading.insert("--delimiter".to_owned(), ",".to_owned());
    };
    refused(changed(comma), "with --delimiter unset, not , (");
    let words = "with --compressions none, not none,zstd:3, and with --cold false, not true (";
    let two = changed(|it| {
        it.settings.compressions.push("zstd:3".to_owned());
        it.settings.cold = true;
    });
    refused(two, words);
    refused(changed(|it| it.tables[0].input.modified += 1), "before the input file t.txt changed");
    refused(changed(|it| it.tables[0].input.hash.push('x')), "before the input file t.txt changed");
    refused(changed(|it| it.tables[0].input.path = "u.txt".to_owned()), "with the input files t.txt, not u.txt");
    let twice = |it: &mut Results| it.tables.push(it.tables[0].clone());
    refused(changed(twice), "with the queries the default, not the default and the default");
    let question = QueryOptions { by: Some("x".to_owned()), ..QueryOptions::default() };
    let asked = Results { tables: vec![TableResults { question, ..first.tables[0].clone() }], ..first.clone() };
    refused(asked, "with the queries the default, not --by x");
    refused(changed(|it| it.program.hash.push('x')), "by another build of brc 0.1.0");
    refused(
        changed(|it| it.environment.commit = Some("f00".to_owned())),
        "not brc 0.1.0 (release build of commit f00)",
    );
    refused(changed(|it| it.environment.cpu = Some("Other CPU".to_owned())), "not 2 processors of Other CPU");
    refused(changed(|it| it.environment.cpu_level = Some("portable".to_owned())), " (portable) with ");
    // A different clock rate or a different spelling of the path is not a difference.
    let mut same = Results { started: "later".to_owned(), ..first.clone() };
    same.program.modified += 1;
    same.tables[0].input.path = "./t.txt".to_owned();
    same.environment.mhz = Some(1.0);
    assert_eq!(store.resume(same).unwrap(), first);
    std::fs::write(directory.path().join("results.json"), "{").unwrap();
    refused(first, "was not written by");
}
