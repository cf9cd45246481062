//! Measures all cells of all tables in order, and saves the results after each.

use super::executor::{Completed, Executor};
use super::job::{Job, JobResult};
use super::measure::{Bench, file_steps, steps};
use super::monitor::Monitor;
use super::results::{Cell, Measurements, Outcome, Results, Sample, Settings, TableFacts, TableResults};
use crate::error::Error;
use crate::options::TableOptions;
use brc_compress::Compressor;
use brc_core::Schema;
use brc_encodings::Encoding;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Runs of an empty process; the fastest one counts.
const EMPTY_RUNS: u32 = 10;

/// The default time limit of a process of a cell: 10 minutes, or 100 times the time of the first query of the input if
/// that is longer.
const DEFAULT_LIMIT: Duration = Duration::from_secs(600);
const DEFAULT_LIMIT_FACTOR: u32 = 100;

/// A comparison in progress.
pub(crate) struct Matrix<'a> {
    pub(crate) executor: &'a mut dyn Executor,
    pub(crate) monitor: &'a mut dyn Monitor,
    /// Saves the results; called after each cell.
    pub(crate) save: &'a mut dyn FnMut(&Results) -> Result<(), Error>,
    pub(crate) format: &'a TableOptions,
    /// The directory for temporary files.
    pub(crate) scratch: &'a Path,
    /// The directory for converted files, if they are kept.
    pub(crate) kept: Option<&'a Path>,
    /// The time limit of a process of a cell, if set.
    pub(crate) timeout: Option<Duration>,
    /// The reasons why converted files could not be kept.
    pub(crate) not_kept: Vec<String>,
}

/// The files of one table.
struct Files {
    input: PathBuf,
    format: TableOptions,
    /// How to read files converted from it, except for their encoding.
    made: TableOptions,
    reference: PathBuf,
    /// The start of the names of converted files.
    stem: String,
    /// The time limit of a process of a cell.
    limit: Duration,
}

impl Matrix<'_> {
    /// Measures what is missing in `results`, and repeats failed cells. `inputs` has the file of each table. Returns
    /// why converted files could not be kept.
    ///
    /// # Errors
    /// If a table cannot be read, or results cannot be saved. A failure within a cell is recorded as its outcome.
    pub(crate) fn run(&mut self, results: &mut Results, inputs: &[PathBuf]) -> Result<Vec<String>, Error> {
        if results.empty_process.is_empty() {
            results.empty_process = self.empty_process()?;
        }
        for table in 0..results.tables.len() {
            self.monitor.plan(self.steps_left(results, table));
        }
        // All tables are read completely before anything is timed, so that a bad row in the last one is found early.
        let mut prepared = Vec::new();
        for (table, input) in inputs.iter().enumerate() {
            if !self.is_complete(results, table) {
                prepared.push((table, self.prepare(results, table, input)?));
            }
        }
        for (table, files) in &prepared {
            self.as_it_is(results, *table, files)?;
            self.cells(results, *table, files)?;
        }
        (self.save)(results)?;
        Ok(std::mem::take(&mut self.not_kept))
    }

    fn empty_process(&mut self) -> Result<Vec<Sample>, Error> {
        let nothing = Path::new(if cfg!(windows) { "NUL" } else { "/dev/null" });
        let runs = (0..EMPTY_RUNS).map(|_| self.executor.run(&Job::Read, nothing, nothing, None));
        runs.map(|ran| Ok(ran?.sample)).collect()
    }

    fn is_complete(&self, results: &Results, table: usize) -> bool {
        let known = &results.tables[table];
        known.facts.is_some() && known.as_it_is.is_some() && self.steps_left(results, table) == 0
    }

    /// The number of processes still to run, as far as it is known beforehand.
    fn steps_left(&self, results: &Results, table: usize) -> u64 {
        let known = &results.tables[table];
        let own = if known.as_it_is.is_none() { file_steps(&results.settings) } else { 0 };
        let stem = stem(results, table);
        let cells = known.cells.iter().map(|cell| match &cell.outcome {
            Outcome::Impossible { .. } => 0,
            Outcome::Measured(measured) if self.is_file_in_place(cell, measured, known, &stem) => 0,
            Outcome::Measured(_) => 1,
            Outcome::Pending | Outcome::Failed { .. } => steps(&results.settings),
        });
        own + cells.sum::<u64>()
    }

    /// Whether the file of a cell is in place, or need not be kept.
    fn is_file_in_place(&self, cell: &Cell, measured: &Measurements, table: &TableResults, stem: &str) -> bool {
        let is_kept =
            |kept: &Path| self.executor.is_kept(&kept.join(file_name(stem, cell)), measured.bytes, &table.input);
        self.kept.is_none_or(is_kept)
    }

    /// Reads the table once: determines its schema and size, and stores the reference answer.
    fn prepare(&mut self, results: &mut Results, table: usize, input: &Path) -> Result<Files, Error> {
        let stem = stem(results, table);
        let name = results.name(&results.tables[table]).to_owned();
        self.monitor.begin(&name, 0);
        // The files of a directory are first merged into one, which then counts as the input.
        let rows = results.settings.rows.or(input.is_dir().then_some(u64::MAX));
        self.monitor.more_steps(1 + u64::from(rows.is_some()));
        let (input, format) = match rows {
            Some(rows) => self.first_rows(rows, input, &stem)?,
            None => (input.to_owned(), self.format.clone()),
        };
        self.monitor.step("look at the table", 0);
        let question = results.tables[table].question.clone();
        let reference = self.scratch.join(format!("{table}.answer"));
        let job = Job::Reference { format: format.clone(), question };
        let Completed { sample, result } = self.executor.run(&job, &input, &reference, None)?;
        let JobResult::Table { encoding, schema, rows, text_bytes, groups } = result else {
            return Err(Error::Other(format!("{name}: no table was found")));
        };
        let bytes = self.executor.size(&input).map_err(Error::Other)?;
        let made = format.of_written(schema.clone());
        let format = TableOptions { from: Some(encoding.clone()), ..format };
        results.tables[table].facts = Some(TableFacts { encoding, schema, rows, bytes, text_bytes, groups });
        let much = Duration::from_nanos(sample.wall_ns).saturating_mul(DEFAULT_LIMIT_FACTOR);
        let limit = self.timeout.unwrap_or(DEFAULT_LIMIT.max(much));
        Ok(Files { input, format, made, reference, stem, limit })
    }

    /// Writes the first rows of a table to a file of their own, and returns how to read that; a text file loses its
    /// header.
    fn first_rows(&mut self, rows: u64, input: &Path, stem: &str) -> Result<(PathBuf, TableOptions), Error> {
        let first = self.scratch.join(format!("{stem}.input"));
        self.executor.remove(&first);
        self.monitor.step("take the first rows", 0);
        let ran = self.executor.run(&Job::Cut { format: self.format.clone(), rows }, input, &first, None)?;
        let JobResult::Columns(schema) = ran.result else {
            return Err(Error::Other(format!("{stem}: no columns were found")));
        };
        self.executor.sync(&first).map_err(Error::Other)?;
        Ok((first, self.format.of_written(schema)))
    }

    fn as_it_is(&mut self, results: &mut Results, table: usize, files: &Files) -> Result<(), Error> {
        if results.tables[table].as_it_is.is_some() {
            return Ok(());
        }
        let name = results.name(&results.tables[table]).to_owned();
        self.monitor.begin(&name, file_steps(&results.settings));
        let mut bench = self.bench(&results.settings, &results.tables[table], files);
        let times = bench.file(&files.input, &files.format);
        self.monitor.end(None);
        results.tables[table].as_it_is = Some(times.map_err(|reason| Error::Other(format!("{name}: {reason}")))?);
        (self.save)(results)
    }

    fn cells(&mut self, results: &mut Results, table: usize, files: &Files) -> Result<(), Error> {
        for index in 0..results.tables[table].cells.len() {
            let known = &results.tables[table];
            let cell = &known.cells[index];
            let outcome = match &cell.outcome {
                Outcome::Impossible { .. } => continue,
                Outcome::Measured(measured) if self.is_file_in_place(cell, measured, known, &files.stem) => continue,
                Outcome::Measured(_) => {
                    self.recreate_file(cell, files);
                    continue;
                }
                Outcome::Pending | Outcome::Failed { .. } => self.measured(cell, known, &results.settings, files),
            };
            results.tables[table].cells[index].outcome = outcome;
            (self.save)(results)?;
        }
        Ok(())
    }

    fn measured(&mut self, cell: &Cell, table: &TableResults, settings: &Settings, files: &Files) -> Outcome {
        let rows = table.facts.as_ref().map_or(0, |facts| facts.rows);
        let format = TableOptions { from: Some(cell.encoding.clone()), ..files.made.clone() };
        let made = self.in_scratch_directory(cell, steps(settings), files, |matrix, target| {
            let mut bench = matrix.bench(settings, table, files);
            bench.cell(&convert(cell, files), rows, &files.input, target, &format)
        });
        match made {
            Ok(measurements) => Outcome::Measured(Box::new(measurements)),
            Err(reason) => Outcome::Failed { reason },
        }
    }

    /// Converts again for a cell that is measured, but whose file is missing.
    fn recreate_file(&mut self, cell: &Cell, files: &Files) {
        let made = self.in_scratch_directory(cell, 1, files, |matrix, target| {
            matrix.monitor.step("convert", 0);
            let made = matrix.executor.run(&convert(cell, files), &files.input, target, Some(files.limit));
            made.map(drop).map_err(|failure| format!("converting: {failure}"))
        });
        self.not_kept.extend(made.err());
    }

    /// Creates the file of a cell in a scratch directory that is removed afterwards; keeps the file if requested.
    fn in_scratch_directory<T>(
        &mut self,
        cell: &Cell,
        steps: u64,
        files: &Files,
        make: impl FnOnce(&mut Self, &Path) -> Result<T, String>,
    ) -> Result<T, String> {
        self.monitor.begin(&format!("{} {}", cell.encoding, cell.compression), steps);
        let directory = self.scratch.join("cell");
        let name = file_name(&files.stem, cell);
        let target = directory.join(&name);
        let made = self.executor.make_empty(&directory).and_then(|()| make(self, &target));
        let kept = match self.kept {
            Some(kept) if made.is_ok() => self.executor.keep(&target, &kept.join(&name)),
            _ => Ok(()),
        };
        self.executor.remove_all(&directory);
        self.monitor.end(made.as_ref().err().or(kept.as_ref().err()).map(String::as_str));
        self.not_kept.extend(kept.err());
        made
    }

    fn bench<'b>(&'b mut self, settings: &'b Settings, table: &'b TableResults, files: &'b Files) -> Bench<'b> {
        Bench {
            executor: self.executor,
            monitor: self.monitor,
            settings,
            question: &table.question,
            limit: files.limit,
            reference: &files.reference,
        }
    }
}

/// One cell for every encoding and compression, given the schema of the table; impossible ones have their reason.
pub(crate) fn cells(encodings: &[&'static dyn Encoding], compressions: &[Compressor], schema: &Schema) -> Vec<Cell> {
    let cell = |encoding: &'static dyn Encoding, compressor: &Compressor| {
        let possible = encoding.supports(schema).and_then(|()| encoding.can_compress(compressor.compression));
        let outcome = match possible {
            Ok(()) => Outcome::Pending,
            Err(reason) => Outcome::Impossible { reason },
        };
        Cell { encoding: encoding.name().to_owned(), compression: compressor.to_string(), outcome }
    };
    encodings
        .iter()
        .flat_map(|encoding| compressions.iter().map(move |compressor| cell(*encoding, compressor)))
        .collect()
}

fn convert(cell: &Cell, files: &Files) -> Job {
    Job::Convert { format: files.format.clone(), to: cell.encoding.clone(), compression: cell.compression.clone() }
}

/// The start of the names of a table's files; with several input files it includes the number of the table.
fn stem(results: &Results, table: usize) -> String {
    /// In characters. The complete name stays within the 255 bytes that file systems allow.
    const MAX_CHARS: usize = 48;
    let input = &results.tables[table].input;
    let name = Path::new(&input.path).file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let stem = name.split('.').next().filter(|stem| !stem.is_empty()).unwrap_or("table");
    let stem: String = stem.chars().take(MAX_CHARS).collect();
    let first = results.tables.iter().position(|other| other.input == *input).unwrap_or(table);
    if results.tables.iter().all(|other| other.input == *input) { stem } else { format!("{}-{stem}", first + 1) }
}

/// The file name of a cell, with the extensions that `brc convert` would expect.
fn file_name(stem: &str, cell: &Cell) -> String {
    let encoding = brc_encodings::by_name(&cell.encoding);
    let extension = encoding.and_then(|encoding| encoding.extensions().first().copied()).unwrap_or("table");
    let label = cell.compression.replace(':', "-");
    let Ok(compressor) = Compressor::parse(&cell.compression) else { return format!("{stem}.{extension}") };
    let blocks = encoding.is_some_and(<dyn Encoding>::compresses_blocks);
    let format = compressor.compression.file_format().and_then(|format| format.extensions().first().copied());
    match format {
        _ if compressor.is_none() => format!("{stem}.{extension}"),
        Some(outer) if !blocks => format!("{stem}.{label}.{extension}.{outer}"),
        _ => format!("{stem}.{label}.{extension}"),
    }
}
