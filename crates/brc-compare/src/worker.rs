//! The worker process: runs one job of a comparison and reports the resources it used.
//!
//! It calls the same functions as `brc convert` and `brc query` and does nothing else, so that its memory and caches
//! are those of a real run.

use super::job::{Job, JobArguments, JobResult, Reply, Report};
use super::limit::FirstRows;
use super::results::{Parts, Work};
use super::text_size::text_size;
use super::usage;
use crate::error::Failure;
use crate::options::{QueryOptions, TableOptions};
use brc_compress::Compressor;
use brc_core::{Error, Progress, ReadAt, Result, Schema, Table, run_workers};
use brc_encodings::document::{self, DocumentError};
use brc_encodings::encoding::read_all;
use brc_encodings::{
    CreateOptions, Encoding, MemoryBudget, Output, OutputOptions, RejectLog, Target, Workers, convert_inferred,
};
use brc_query::{Answer, Memory, Plan, ScanTotals};
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Formats a result as text; results that are not equal must differ in their text.
pub type Render = fn(&Plan, &Answer, &mut Vec<u8>) -> Result<()>;

/// The state of a process that was started with [`JobArguments`].
pub struct Worker<'a> {
    job: Job,
    threads: usize,
    memory: Memory,
    input: &'a Path,
    other: &'a Path,
    render: Render,
}

impl<'a> Worker<'a> {
    /// Creates a worker that formats results with `render`.
    ///
    /// # Errors
    /// If the job cannot be parsed by this version of the program.
    pub fn new(arguments: JobArguments<'a>, render: Render) -> std::result::Result<Self, DocumentError> {
        let JobArguments { job, input, other, threads, memory } = arguments;
        let memory = Memory { limit: memory.unwrap_or(u64::MAX), ..Memory::unlimited() };
        Ok(Self { job: document::from_json(job)?, threads, memory, input, other, render })
    }

    /// Whether the job writes a table, which must be removed if it is incomplete.
    #[must_use]
    pub fn writes_table(&self) -> bool {
        matches!(self.job, Job::Cut { .. } | Job::Convert { .. })
    }

    /// Runs the job. Returns the reply to print on standard output; `describe` converts an error to a failure.
    ///
    /// # Errors
    /// If the reply cannot be serialised.
    pub fn run(&self, describe: fn(&Error) -> Failure) -> std::result::Result<String, DocumentError> {
        document::to_json(&reply(self.work(), describe))
    }
}

fn reply(result: Result<Report>, describe: fn(&Error) -> Failure) -> Reply {
    match result {
        Ok(report) => Reply::Done(report),
        Err(error) => Reply::Failed(Failure { message: message(&error), ..describe(&error) }),
    }
}

/// The message of an error. A full disk is named as such, in clearer words than the system's.
fn message(error: &Error) -> String {
    match error {
        Error::Io { path, source, .. }
            if matches!(source.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded) =>
        {
            let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
            format!("the disk is full: no room for {name}")
        }
        error => error.to_string(),
    }
}

/// Reports the resources used up to now.
fn report(start: Instant, result: JobResult) -> Report {
    Report {
        inside_ns: nanoseconds(start.elapsed()),
        cpu_ns: usage::cpu_ns(),
        peak_memory: usage::peak_memory(),
        fetched_bytes: usage::fetched_bytes(),
        check_ns: 0,
        result,
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

impl Worker<'_> {
    fn work(&self) -> Result<Report> {
        let start = Instant::now();
        let result = match &self.job {
            Job::Cut { format, rows } => self.cut(format, *rows)?,
            Job::Reference { format, question } => self.reference(format, question)?,
            Job::Convert { format, to, compression } => self.convert(format, to, compression)?,
            Job::Query { format, question, statistics, parts } => {
                return self.query(start, format, question, *statistics, *parts);
            }
            Job::Read => self.read().map(JobResult::Bytes)?,
        };
        Ok(report(start, result))
    }

    fn cut(&self, format: &TableOptions, rows: u64) -> Result<JobResult> {
        let (encoding, table) = format.open(self.input)?;
        let options = default_options(Compressor::none(), format);
        self.write(&FirstRows::new(table.as_ref(), rows), encoding, &options, 1.into())?;
        Ok(JobResult::Columns(known_schema(table.as_ref())))
    }

    fn convert(&self, format: &TableOptions, to: &str, compression: &str) -> Result<JobResult> {
        let unknown = || Error::Usage(format!("unknown encoding {to}"));
        let encoding = brc_encodings::by_name(to).ok_or_else(unknown)?;
        let compression = Compressor::parse(compression).map_err(|error| Error::Usage(error.to_string()))?;
        let budget = MemoryBudget::new(self.memory.limit);
        let row_group_bytes = budget.row_group_bytes();
        let (_, table) = format.open_in(self.input, Some(row_group_bytes))?;
        let options =
            CreateOptions { dictionary_bytes: Some(budget.dictionary_bytes()), ..default_options(compression, format) };
        let workers = budget.workers(self.threads, row_group_bytes);
        self.write(table.as_ref(), encoding, &options, workers).map(JobResult::Rows)
    }

    /// Writes a table to the second file without syncing it.
    fn write(
        &self,
        table: &dyn Table,
        encoding: &dyn Encoding,
        options: &CreateOptions,
        workers: Workers,
    ) -> Result<u64> {
        let begin = |schema: &Schema| {
            let writer = brc_encodings::writer(encoding, schema, options)?;
            let options =
                OutputOptions { sync: false, inputs: vec![self.input.to_owned()], ..OutputOptions::default() };
            let output = Output::create(self.other, &options)?;
            // Only what `--ragged reject` leaves out is rejected here.
            Ok(Target { writer, output, rejects: RejectLog::counting() })
        };
        Ok(convert_inferred(table, begin, workers, &Progress::default())?.rows_stored)
    }

    fn reference(&self, format: &TableOptions, question: &QueryOptions) -> Result<JobResult> {
        let (encoding, table) = format.open(self.input)?;
        if table.inferred().is_some() {
            read_all(table.as_ref(), self.threads, &Progress::default())?;
        }
        let query = brc_query::Query { statistics: false, ..question.query()? };
        let (answer, text) = self.answer(table.as_ref(), &query)?;
        fs::write(self.other, text).map_err(Error::io(self.other, "write"))?;
        let (rows, text_bytes) = text_size(table.as_ref(), self.threads)?;
        let (schema, groups) = (known_schema(table.as_ref()), answer.count_rows(self.threads)?);
        Ok(JobResult::Table { encoding: encoding.name().to_owned(), schema, rows, text_bytes, groups })
    }

    fn query(
        &self,
        start: Instant,
        format: &TableOptions,
        question: &QueryOptions,
        statistics: bool,
        parts: bool,
    ) -> Result<Report> {
        let query = brc_query::Query { statistics, timings: parts, ..question.query()? };
        let (_, table) = format.open(self.input)?;
        let (answer, text) = self.answer(table.as_ref(), &query)?;
        let taken = report(start, JobResult::Bytes(0));

        let check = Instant::now();
        let difference = difference(&text, self.other)?;
        let (parts, work) = totals(&answer.totals(), taken.cpu_ns);
        let result = JobResult::Answer { parts, work, difference };
        Ok(Report { check_ns: nanoseconds(check.elapsed()), result, ..taken })
    }

    fn answer(&self, table: &dyn Table, query: &brc_query::Query) -> Result<(Answer, Vec<u8>)> {
        let (plan, answer) = query.ask_within(table, self.threads, &self.memory, &Progress::default())?;
        let answer = answer.load(self.threads)?;
        let mut text = Vec::new();
        (self.render)(&plan, &answer, &mut text)?;
        Ok((answer, text))
    }

    /// Reads the whole file in blocks; each thread takes the next unread one.
    fn read(&self) -> Result<u64> {
        const BLOCK_BYTES: usize = 256 << 10;
        let file = File::open(self.input).map_err(Error::io(self.input, "open"))?;
        let next = AtomicU64::new(0);
        let one = || -> std::io::Result<u64> {
            let mut buffer = vec![0; BLOCK_BYTES];
            let mut bytes = 0;
            loop {
                let offset = next.fetch_add(BLOCK_BYTES as u64, Relaxed);
                let read = file.read_full_at(&mut buffer, offset)?;
                if read == 0 {
                    return Ok(bytes);
                }
                bytes += std::hint::black_box(&buffer[..read]).len() as u64;
            }
        };
        let bytes: std::io::Result<u64> = run_workers(self.threads, one).into_iter().sum();
        bytes.map_err(Error::io(self.input, "read"))
    }
}

/// The options of files that are written with defaults.
fn default_options(compression: Compressor, format: &TableOptions) -> CreateOptions {
    CreateOptions { delimiter: format.written_delimiter(), ..CreateOptions::new(compression) }
}

/// The schema of a table, with the types inferred so far.
fn known_schema(table: &dyn Table) -> Schema {
    table.inferred().map_or_else(|| table.schema().clone(), |schema| Schema::clone(&schema))
}

fn totals(totals: &ScanTotals, cpu_ns: Option<u64>) -> (Parts, Work) {
    let parts = Parts {
        read_ns: nanoseconds(totals.read_time),
        decompress_ns: nanoseconds(totals.decompress_time),
        decode_ns: nanoseconds(totals.decode_time),
        aggregate_ns: nanoseconds(totals.aggregate_time),
        cpu_ns,
    };
    let work = Work {
        rows: totals.rows,
        summarised_rows: totals.summarised_rows,
        skipped_rows: totals.skipped_rows,
        bytes_read: totals.bytes,
    };
    (parts, work)
}

/// Compares an answer with the one in a file; `None` if the bytes are equal, otherwise the first difference.
fn difference(answer: &[u8], expected: &Path) -> Result<Option<String>> {
    let expected = fs::read(expected).map_err(Error::io(expected, "read"))?;
    if answer == expected {
        return Ok(None);
    }
    let lines = |text: &[u8]| text.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect::<Vec<_>>();
    let (found, expected) = (lines(answer), lines(&expected));
    let same = found.iter().zip(&expected).take_while(|(found, expected)| found == expected).count();
    let show = |lines: &[Vec<u8>]| match lines.get(same).filter(|line| !line.is_empty()) {
        Some(line) => format!("'{}'", brc_core::RowFault::quote(line)),
        None => "nothing".to_owned(),
    };
    let (expected, found) = (show(&expected), show(&found));
    Ok(Some(format!("wrong answer: line {} should be {expected} but is {found}", same + 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_called_so() {
        let failure = |kind: ErrorKind| {
            let error = Error::io(Path::new("scratch/cell/t.json"), "write")(kind.into());
            match reply(Err(error), |error| Failure::new(error.to_string())) {
                Reply::Failed(failure) => (failure.message, failure.code),
                Reply::Done(report) => panic!("{report:?}"),
            }
        };
        for kind in [ErrorKind::StorageFull, ErrorKind::QuotaExceeded] {
            assert_eq!(failure(kind), ("the disk is full: no room for t.json".to_owned(), 1));
        }
        assert!(failure(ErrorKind::PermissionDenied).0.starts_with("scratch/cell/t.json: cannot write: "));
    }
}
