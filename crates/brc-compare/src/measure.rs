//! Measures one cell: converting the input, reading the file, and querying it.
//!
//! A cell counts only if every answer is right: each one is compared with the reference, the first one before anything
//! is timed.

use super::executor::{Completed, Executor};
use super::job::{Job, JobResult};
use super::monitor::Monitor;
use super::results::{FileTimes, Measurements, Parts, QueryTimes, Sample, Settings, Temperatures, Work};
use crate::options::{QueryOptions, TableOptions};
use std::path::Path;
use std::time::Duration;

/// Separate runs that measure the phases of a query.
const PARTS_RUNS: u32 = 3;

/// Measures the cells of one table.
pub(crate) struct Bench<'a> {
    pub(crate) executor: &'a mut dyn Executor,
    pub(crate) monitor: &'a mut dyn Monitor,
    pub(crate) settings: &'a Settings,
    pub(crate) question: &'a QueryOptions,
    /// The time after which a process is killed.
    pub(crate) limit: Duration,
    /// The file with the expected answer.
    pub(crate) reference: &'a Path,
}

/// The number of processes that a cell takes, as far as it is known beforehand.
pub(crate) fn steps(settings: &Settings) -> u64 {
    u64::from(settings.convert_runs) + file_steps(settings)
}

/// The number of processes to read and query a file.
pub(crate) fn file_steps(settings: &Settings) -> u64 {
    let runs = settings.runs;
    let warm = settings.warmup.max(1) + runs + PARTS_RUNS.min(runs) + 1 + runs + 1;
    u64::from(warm + if settings.cold { 2 * runs } else { 0 })
}

impl Bench<'_> {
    /// Converts `input` to `target` and measures the conversion and the new file. On success the target is left in
    /// place.
    ///
    /// # Errors
    /// The reason why the cell fails.
    pub(crate) fn cell(
        &mut self,
        convert: &Job,
        rows: u64,
        input: &Path,
        target: &Path,
        format: &TableOptions,
    ) -> Result<Measurements, String> {
        let mut samples = Vec::new();
        for run in 0..self.settings.convert_runs {
            self.executor.remove(target);
            let Completed { sample, result } = self.run("convert", run, convert, input, target)?;
            if result != JobResult::Rows(rows) {
                return Err(format!("the conversion wrote {result:?} of {rows} rows"));
            }
            samples.push(sample);
        }
        self.executor.sync(target)?;
        let bytes = self.executor.size(target)?;
        Ok(Measurements { bytes, convert: samples, times: self.file(target, format)? })
    }

    /// Measures reading and querying a file.
    ///
    /// # Errors
    /// The reason why the cell fails.
    pub(crate) fn file(&mut self, file: &Path, format: &TableOptions) -> Result<FileTimes, String> {
        let mut query = self.query_times(file, format, false)?;
        let mut with_statistics = self.query_times_with_statistics(file, format)?;
        let mut raw = Temperatures::default();
        self.run("read", 0, &Job::Read, file, file)?;
        for run in 0..self.settings.runs {
            raw.warm.push(self.run("read", run, &Job::Read, file, file)?.sample);
        }
        if self.settings.cold {
            raw.cold = self.cold("cold read", &Job::Read, file)?;
            query.samples.cold = self.cold("cold query", &self.query(format, false, false), file)?;
            if let Some(times) = &mut with_statistics {
                times.samples.cold = self.cold("cold query", &self.query(format, true, false), file)?;
            }
        }
        Ok(FileTimes { raw, query, with_statistics })
    }

    fn query_times(&mut self, file: &Path, format: &TableOptions, statistics: bool) -> Result<QueryTimes, String> {
        let job = self.query(format, statistics, false);
        let mut work = Work::default();
        for run in 0..self.settings.warmup.max(1) {
            work = self.answer("warm up", run, &job, file)?.1;
        }
        let mut warm = Vec::new();
        for run in 0..self.settings.runs {
            warm.push(self.answer("query", run, &job, file)?.0);
        }
        let job = self.query(format, statistics, true);
        let mut parts = Vec::new();
        for run in 0..PARTS_RUNS.min(self.settings.runs) {
            parts.push(self.answer("parts", run, &job, file)?.2);
        }
        Ok(QueryTimes { samples: Temperatures { warm, cold: Vec::new() }, parts, work })
    }

    /// Measures queries that may use stored statistics; `None` if the statistics answer for no row.
    fn query_times_with_statistics(
        &mut self,
        file: &Path,
        format: &TableOptions,
    ) -> Result<Option<QueryTimes>, String> {
        let job = self.query(format, true, false);
        let (_, work, _) = self.answer("statistics", 0, &job, file)?;
        if work.summarised_rows == 0 {
            return Ok(None);
        }
        let settings = self.settings;
        let more = settings.warmup.max(1) + settings.runs + PARTS_RUNS.min(settings.runs);
        self.monitor.more_steps(u64::from(more + if settings.cold { settings.runs } else { 0 }));
        self.query_times(file, format, true).map(Some)
    }

    fn cold(&mut self, stage: &'static str, job: &Job, file: &Path) -> Result<Vec<Sample>, String> {
        let mut samples = Vec::new();
        for run in 0..self.settings.runs {
            self.executor.drop_from_cache(file)?;
            samples.push(match job {
                Job::Query { .. } => self.answer(stage, run, job, file)?.0,
                _ => self.run(stage, run, job, file, file)?.sample,
            });
        }
        Ok(samples)
    }

    /// Runs a query once; an answer that differs from the reference is an error.
    fn answer(
        &mut self,
        stage: &'static str,
        run: u32,
        job: &Job,
        file: &Path,
    ) -> Result<(Sample, Work, Parts), String> {
        let Completed { sample, result } = self.run(stage, run, job, file, self.reference)?;
        match result {
            JobResult::Answer { difference: None, parts, work } => Ok((sample, work, parts)),
            JobResult::Answer { difference: Some(difference), .. } => Err(difference),
            other => Err(format!("no answer but {other:?}")),
        }
    }

    fn query(&self, format: &TableOptions, statistics: bool, parts: bool) -> Job {
        Job::Query { format: format.clone(), question: self.question.clone(), statistics, parts }
    }

    fn run(
        &mut self,
        stage: &'static str,
        run: u32,
        job: &Job,
        input: &Path,
        other: &Path,
    ) -> Result<Completed, String> {
        self.monitor.step(stage, run);
        self.executor.run(job, input, other, Some(self.limit)).map_err(|failure| match job {
            Job::Convert { .. } => format!("converting: {failure}"),
            Job::Query { .. } => format!("querying: {failure}"),
            _ => format!("reading: {failure}"),
        })
    }
}
