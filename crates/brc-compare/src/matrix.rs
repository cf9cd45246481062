//! Goes through all cells of all tables, in their order, and keeps what is found after each.

use super::executor::{Executor, Ran};
use super::job::{Found, Job};
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

/// Runs of a process that does nothing: some, for the quickest of them counts.
const EMPTY_RUNS: u32 = 10;

/// How long a process of a cell may take if nobody says: this long, or so many times as long as it took to read and ask
/// the input for the first time.
const USUAL_LIMIT: Duration = Duration::from_secs(600);
const USUAL_FACTOR: u32 = 100;

/// A comparison that is to be made.
pub(crate) struct Matrix<'a> {
    pub(crate) executor: &'a mut dyn Executor,
    pub(crate) monitor: &'a mut dyn Monitor,
    /// Keeps results: called after each cell.
    pub(crate) save: &'a mut dyn FnMut(&Results) -> Result<(), Error>,
    pub(crate) format: &'a TableOptions,
    /// Where files may be made for a while.
    pub(crate) scratch: &'a Path,
    /// Where converted files are to stay, if they are.
    pub(crate) kept: Option<&'a Path>,
    /// How long a process of a cell may take, if that is given.
    pub(crate) timeout: Option<Duration>,
    /// Why files are not where they should stay.
    pub(crate) not_kept: Vec<String>,
}

/// Files of one table.
struct Files {
    input: PathBuf,
    format: TableOptions,
    /// The format of files that are made of it, but for their encoding.
    made: TableOptions,
    reference: PathBuf,
    /// What the names of converted files start with.
    stem: String,
    /// How long a process of a cell may take.
    limit: Duration,
}

impl Matrix<'_> {
    /// Measures what is not in `results` yet; cells that failed get another chance. `inputs` are the files of its tables.
    /// Returns why files are not where they should stay.
    ///
    /// # Errors
    /// If a table cannot be read at all, or results cannot be kept. What goes wrong in a cell is kept as its outcome.
    pub(crate) fn run(&mut self, results: &mut Results, inputs: &[PathBuf]) -> Result<Vec<String>, Error> {
        if results.empty_process.is_empty() {
            results.empty_process = self.empty_process()?;
        }
        for table in 0..results.tables.len() {
            self.monitor.plan(self.steps_left(results, table));
        }
        // All tables are read to their ends before anything is timed: a bad row in the last one is found early.
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

    /// How many processes are still to be run, as far as it is known beforehand.
    fn steps_left(&self, results: &Results, table: usize) -> u64 {
        let known = &results.tables[table];
        let own = if known.as_it_is.is_none() { file_steps(&results.settings) } else { 0 };
        let stem = stem(results, table);
        let cells = known.cells.iter().map(|cell| match &cell.outcome {
            Outcome::Impossible { .. } => 0,
            Outcome::Measured(measured) if self.is_where_it_stays(cell, measured, known, &stem) => 0,
            Outcome::Measured(_) => 1,
            Outcome::Pending | Outcome::Failed { .. } => steps(&results.settings),
        });
        own + cells.sum::<u64>()
    }

    /// Whether the file of a cell need not be made, since it is there or is not to stay.
    fn is_where_it_stays(&self, cell: &Cell, measured: &Measurements, table: &TableResults, stem: &str) -> bool {
        let is_kept =
            |kept: &Path| self.executor.is_kept(&kept.join(file_name(stem, cell)), measured.bytes, &table.input);
        self.kept.is_none_or(is_kept)
    }

    /// Finds out what the table is and what the answer is.
    fn prepare(&mut self, results: &mut Results, table: usize, input: &Path) -> Result<Files, Error> {
        let stem = stem(results, table);
        let name = results.tables[table].name().to_owned();
        self.monitor.begin(&name, 0);
        // The files of a directory become one, which is the table as it is.
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
        let Ran { sample, found } = self.executor.run(&job, &input, &reference, None)?;
        let Found::Table { encoding, schema, rows, text_bytes, groups } = found else {
            return Err(Error::Other(format!("{name}: no table was found")));
        };
        let bytes = self.executor.size(&input).map_err(Error::Other)?;
        let made = format.of_written(schema.clone());
        let format = TableOptions { from: Some(encoding.clone()), ..format };
        results.tables[table].facts = Some(TableFacts { encoding, schema, rows, bytes, text_bytes, groups });
        let much = Duration::from_nanos(sample.wall_ns).saturating_mul(USUAL_FACTOR);
        let limit = self.timeout.unwrap_or(USUAL_LIMIT.max(much));
        Ok(Files { input, format, made, reference, stem, limit })
    }

    /// The first rows of a table in a file of their own, and how to read that: a text loses its header.
    fn first_rows(&mut self, rows: u64, input: &Path, stem: &str) -> Result<(PathBuf, TableOptions), Error> {
        let first = self.scratch.join(format!("{stem}.input"));
        self.executor.remove(&first);
        self.monitor.step("take the first rows", 0);
        let ran = self.executor.run(&Job::Cut { format: self.format.clone(), rows }, input, &first, None)?;
        let Found::Columns(schema) = ran.found else {
            return Err(Error::Other(format!("{stem}: no columns were found")));
        };
        self.executor.settle(&first).map_err(Error::Other)?;
        Ok((first, self.format.of_written(schema)))
    }

    fn as_it_is(&mut self, results: &mut Results, table: usize, files: &Files) -> Result<(), Error> {
        if results.tables[table].as_it_is.is_some() {
            return Ok(());
        }
        let name = results.tables[table].name().to_owned();
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
                Outcome::Measured(measured) if self.is_where_it_stays(cell, measured, known, &files.stem) => continue,
                Outcome::Measured(_) => {
                    self.make_again(cell, files);
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
        let made = self.in_own_directory(cell, steps(settings), files, |matrix, target| {
            let mut bench = matrix.bench(settings, table, files);
            bench.cell(&convert(cell, files), rows, &files.input, target, &format)
        });
        match made {
            Ok(measurements) => Outcome::Measured(Box::new(measurements)),
            Err(reason) => Outcome::Failed { reason },
        }
    }

    /// Makes the file of a cell that was measured before but is not where it should stay.
    fn make_again(&mut self, cell: &Cell, files: &Files) {
        let made = self.in_own_directory(cell, 1, files, |matrix, target| {
            matrix.monitor.step("convert", 0);
            let made = matrix.executor.run(&convert(cell, files), &files.input, target, Some(files.limit));
            made.map(drop).map_err(|failure| format!("converting: {failure}"))
        });
        self.not_kept.extend(made.err());
    }

    /// Has a cell's file made in a directory that goes afterwards, whatever else was left there; the file may stay.
    fn in_own_directory<T>(
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

/// Every encoding with every compression, for a table of that schema; those that cannot be say why.
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

/// What the names of a table's files start with: tables of several files are told apart by their numbers.
fn stem(results: &Results, table: usize) -> String {
    /// In characters. With what comes around it, a name stays within the 255 bytes that file systems allow.
    const LONGEST: usize = 48;
    let input = &results.tables[table].input;
    let name = results.tables[table].name();
    let stem = name.split('.').next().filter(|stem| !stem.is_empty()).unwrap_or("table");
    let stem: String = stem.chars().take(LONGEST).collect();
    let first = results.tables.iter().position(|other| other.input == *input).unwrap_or(table);
    if results.tables.iter().all(|other| other.input == *input) { stem } else { format!("{}-{stem}", first + 1) }
}

/// What the file of a cell is called: as `brc convert` would have it, so that extensions tell the truth.
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
