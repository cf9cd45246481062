//! `--metrics FILE`: samples progress and resource usage ten times a second, as CSV or as a page with plots.

use crate::interrupt;
use crate::invocation::command_line;
use crate::progress::alongside;
use brc_compare::usage::Usage;
use brc_compare::{Plot, TimedRun, quantity, timeline};
use brc_core::{Error, Progress, Result};
use brc_encodings::{Output, OutputOptions};
use parking_lot::Mutex;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, LazyLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const PERIOD: Duration = Duration::from_millis(100);

/// Whether metrics are recorded.
static IS_ON: AtomicBool = AtomicBool::new(false);
/// The progress of this process.
static ROWS: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);
/// The bytes spilled to temporary files.
static SPILLED: LazyLock<Arc<AtomicU64>> = LazyLock::new(Arc::default);

/// The counter of bytes spilled to temporary files.
pub(crate) fn spilled() -> Arc<AtomicU64> {
    Arc::clone(&SPILLED)
}

/// Samples this process until it finishes or is killed.
pub(crate) struct Metrics {
    record: Arc<Record>,
    end: Sender<()>,
    sampling: JoinHandle<()>,
}

/// The samples and their destination.
struct Record {
    path: PathBuf,
    /// The start time of the process, in UTC.
    started: String,
    start: Instant,
    samples: Mutex<Vec<Sample>>,
}

/// The state at one time.
struct Sample {
    seconds: f64,
    rows: u64,
    bytes: u64,
    spilled: u64,
    usage: Usage,
}

impl Metrics {
    /// Starts sampling.
    ///
    /// # Errors
    /// [`Error::Usage`] if the file exists; I/O errors if it cannot be written or no thread can be started.
    pub(crate) fn start(path: &Path) -> Result<Self> {
        if path.exists() {
            return Err(Error::Usage(format!("{}: already exists; --metrics writes a new file", path.display())));
        }
        drop(Output::create(path, &OutputOptions::default())?);
        IS_ON.store(true, Relaxed);
        let (path, started) = (path.to_owned(), brc_compare::now());
        let record = Arc::new(Record { path, started, start: Instant::now(), samples: Mutex::default() });
        let killed = Arc::clone(&record);
        interrupt::before_end(move || {
            killed.take_sample();
            // A failure cannot be reported any more.
            let _ = killed.write(true);
        });
        let (end, ended) = channel();
        let sampled = Arc::clone(&record);
        let sampling = std::thread::Builder::new().spawn(move || sampled.sample(&ended));
        let sampling = sampling.map_err(Error::io(&record.path, "watch for"))?;
        Ok(Self { record, end, sampling })
    }

    /// Stops sampling and writes the samples.
    ///
    /// # Errors
    /// I/O errors.
    pub(crate) fn finish(self) -> Result<()> {
        drop(self.end);
        let _ = self.sampling.join();
        self.record.write(false)
    }
}

impl Record {
    /// Takes samples until the sender is dropped.
    fn sample(&self, ended: &Receiver<()>) {
        loop {
            let outcome = ended.recv_timeout(PERIOD);
            self.take_sample();
            if outcome != Err(RecvTimeoutError::Timeout) {
                return;
            }
        }
    }

    fn take_sample(&self) {
        let sample = Sample {
            seconds: self.start.elapsed().as_secs_f64(),
            rows: ROWS.load(Relaxed),
            bytes: BYTES.load(Relaxed),
            spilled: SPILLED.load(Relaxed),
            usage: Usage::now(),
        };
        self.samples.lock().push(sample);
    }

    fn write(&self, is_killed: bool) -> Result<()> {
        let is_page = self.path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("html"));
        let samples = self.samples.lock();
        let text = if is_page { page(&samples, &self.started, is_killed) } else { csv(&samples) };
        let output = Output::create(&self.path, &OutputOptions::default())?;
        output.write_at(text.as_bytes(), 0)?;
        output.commit()
    }
}

/// Runs `work`, and copies its progress to the metrics.
pub(crate) fn follow<T: Send>(progress: &Progress, work: impl FnOnce() -> T + Send) -> T {
    if !IS_ON.load(Relaxed) {
        return work();
    }
    let copy = || {
        ROWS.store(progress.rows.load(Relaxed), Relaxed);
        BYTES.store(progress.bytes.load(Relaxed), Relaxed);
    };
    let copying = |end: &Receiver<()>| {
        while end.recv_timeout(PERIOD / 2) == Err(RecvTimeoutError::Timeout) {
            copy();
        }
    };
    let result = alongside(copying, work);
    copy();
    result
}

fn csv(samples: &[Sample]) -> String {
    let mut text = String::from(
        "seconds,rows,bytes_read,cpu_seconds,rss_bytes,peak_rss_bytes,minor_faults,major_faults,spilled_bytes\n",
    );
    for Sample { seconds, rows, bytes, spilled, usage } in samples {
        let Usage { cpu_ns, memory, peak_memory, minor_faults, major_faults } = usage;
        let cpu = *cpu_ns as f64 / 1e9;
        // Writing to memory does not fail.
        _ = writeln!(
            text,
            "{seconds:.3},{rows},{bytes},{cpu:.3},{memory},{peak_memory},{minor_faults},{major_faults},{spilled}"
        );
    }
    text
}

fn page(samples: &[Sample], started: &str, is_killed: bool) -> String {
    let plot = |title: &'static str, show: fn(f64) -> String, value: &dyn Fn(&Sample) -> f64| Plot {
        title,
        show,
        points: samples.iter().map(|sample| (sample.seconds, value(sample))).collect(),
    };
    let bytes = |value: f64| quantity::bytes(value as u64);
    let count = |value: f64| quantity::count(value as u64);
    // The increase per second between samples.
    let rate = |title, show, value: &dyn Fn(&Sample) -> f64| {
        let between = |pair: &[Sample]| {
            let seconds = (pair[1].seconds - pair[0].seconds).max(1e-9);
            (pair[1].seconds, (value(&pair[1]) - value(&pair[0])).max(0.0) / seconds)
        };
        Plot { title, show, points: samples.windows(2).map(between).collect() }
    };
    let plots = [
        plot("rows", count, &|sample| sample.rows as f64),
        rate("bytes read a second", bytes, &|sample| sample.bytes as f64),
        rate("processors busy", |value| format!("{value:.1}"), &|sample| sample.usage.cpu_ns as f64 / 1e9),
        plot("memory (RSS)", bytes, &|sample| sample.usage.memory as f64),
        plot("bytes in temporary files", bytes, &|sample| sample.spilled as f64),
        rate("page faults a second", count, &|sample| (sample.usage.minor_faults + sample.usage.major_faults) as f64),
    ];
    let run = TimedRun { command: command_line(), started: started.to_owned(), is_killed };
    timeline(&run, &plots)
}
