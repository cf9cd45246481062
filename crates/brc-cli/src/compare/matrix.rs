//! Goes through all cells of all tables, in their order, and keeps what is found after each.

use super::executor::{Executor, Ran};
use super::job::{Found, Job, TableFormat};
use super::measure::{Bench, file_steps, steps};
use super::monitor::Monitor;
use super::results::{Cell, Outcome, Results, Sample, Settings, TableFacts, TableResults};
use brc_compress::Compressor;
use brc_encodings::Encoding;
use std::path::{Path, PathBuf};

/// Runs of a process that does nothing.
const EMPTY_RUNS: u32 = 5;

/// A comparison that is to be made.
pub(crate) struct Matrix<'a> {
    pub(crate) executor: &'a mut dyn Executor,
    pub(crate) monitor: &'a mut dyn Monitor,
    /// Keeps results: called after each cell.
    pub(crate) save: &'a mut dyn FnMut(&Results) -> anyhow::Result<()>,
    pub(crate) encodings: &'a [&'static dyn Encoding],
    pub(crate) compressions: &'a [Compressor],
    pub(crate) format: &'a TableFormat,
    /// Where files may be made for a while.
    pub(crate) scratch: &'a Path,
    /// Where converted files are to stay, if they are.
    pub(crate) kept: Option<&'a Path>,
}

/// Files of one table.
struct Files {
    input: PathBuf,
    format: TableFormat,
    reference: PathBuf,
    /// What the names of converted files start with.
    stem: String,
}

impl Matrix<'_> {
    /// Measures what is not in `results` yet; cells that failed get another chance. `inputs` are the files of its tables.
    ///
    /// # Errors
    /// If a table cannot be read at all, or results cannot be kept. What goes wrong in a cell is kept as its outcome.
    pub(crate) fn run(&mut self, results: &mut Results, inputs: &[PathBuf]) -> anyhow::Result<()> {
        let settings = results.settings.clone();
        if results.empty_process.is_empty() {
            results.empty_process = self.empty_process()?;
        }
        for table in &results.tables {
            self.monitor.plan(self.steps_left(table, &settings));
        }
        for (table, input) in inputs.iter().enumerate() {
            if is_complete(&results.tables[table]) {
                continue;
            }
            let files = self.prepare(results, table, input)?;
            self.as_it_is(results, table, &files)?;
            self.cells(results, table, &files)?;
            self.executor.remove(&files.reference);
            if files.input != *input {
                self.executor.remove(&files.input);
            }
        }
        (self.save)(results)
    }

    fn empty_process(&mut self) -> anyhow::Result<Vec<Sample>> {
        let nothing = Path::new("/dev/null");
        let runs = (0..EMPTY_RUNS).map(|_| self.executor.run(&Job::Read, nothing, nothing).map(|ran| ran.sample));
        runs.collect::<Result<_, _>>().map_err(anyhow::Error::msg)
    }

    fn steps_left(&self, table: &TableResults, settings: &Settings) -> u64 {
        let cells = if table.facts.is_none() {
            self.encodings.len() * self.compressions.len()
        } else {
            table.cells.iter().filter(|cell| !is_done(cell)).count()
        };
        let own = if table.as_it_is.is_none() { file_steps(settings) } else { 0 };
        own + cells as u64 * steps(settings)
    }

    /// Finds out what the table is and what the answer is.
    fn prepare(&mut self, results: &mut Results, table: usize, input: &Path) -> anyhow::Result<Files> {
        let settings = &results.settings;
        let name = results.tables[table].name().to_owned();
        let first = name.split('.').next().filter(|stem| !stem.is_empty()).unwrap_or("table");
        let stem = if results.tables.len() > 1 { format!("{}-{first}", table + 1) } else { first.to_owned() };
        let mut files = Files {
            input: input.to_owned(),
            format: self.format.clone(),
            reference: self.scratch.join(format!("{stem}.answer")),
            stem,
        };
        self.monitor.begin(&name, 0);
        if let Some(rows) = settings.rows {
            files.input = self.scratch.join(format!("{}.input", files.stem));
            self.executor.remove(&files.input);
            self.monitor.step("take the first rows", 0);
            self.whole(&Job::Cut { format: self.format.clone(), rows }, input, &files.input)?;
            self.executor.settle(&files.input).map_err(anyhow::Error::msg)?;
        }
        self.monitor.step("find the answer", 0);
        let job = Job::Reference { format: self.format.clone(), question: settings.question.clone() };
        let Found::Table { encoding, schema, rows, text_bytes, groups } =
            self.whole(&job, &files.input, &files.reference)?
        else {
            anyhow::bail!("{name}: no table was found");
        };
        let bytes = self.executor.size(&files.input).map_err(anyhow::Error::msg)?;
        files.format =
            TableFormat { from: Some(encoding.clone()), schema: Some(schema.clone()), ..self.format.clone() };
        let table = &mut results.tables[table];
        table.facts = Some(TableFacts { encoding, schema, rows, bytes, text_bytes, groups });
        if table.cells.is_empty() {
            table.cells = self.all_cells(&files);
        }
        Ok(files)
    }

    fn whole(&mut self, job: &Job, input: &Path, other: &Path) -> anyhow::Result<Found> {
        let Ran { found, .. } = self.executor.run(job, input, other).map_err(anyhow::Error::msg)?;
        Ok(found)
    }

    /// Every encoding with every compression; those that cannot be say why.
    fn all_cells(&self, files: &Files) -> Vec<Cell> {
        let mut cells = Vec::new();
        for encoding in self.encodings {
            for compressor in self.compressions {
                let possible = match &files.format.schema {
                    Some(schema) => encoding.can_hold(schema),
                    None => Ok(()),
                };
                let possible = possible.and_then(|()| encoding.can_compress(compressor.compression));
                let outcome = match possible {
                    Ok(()) => Outcome::Pending,
                    Err(reason) => Outcome::Impossible { reason },
                };
                let (encoding, compression) = (encoding.name().to_owned(), compressor.to_string());
                cells.push(Cell { encoding, compression, outcome });
            }
        }
        cells
    }

    fn as_it_is(&mut self, results: &mut Results, table: usize, files: &Files) -> anyhow::Result<()> {
        if results.tables[table].as_it_is.is_some() {
            return Ok(());
        }
        let name = results.tables[table].name().to_owned();
        self.monitor.begin(&name, file_steps(&results.settings));
        let times = self.bench(&results.settings, files).file(&files.input, &files.format);
        self.monitor.end(None);
        results.tables[table].as_it_is = Some(times.map_err(|reason| anyhow::anyhow!("{name}: {reason}"))?);
        (self.save)(results)
    }

    fn cells(&mut self, results: &mut Results, table: usize, files: &Files) -> anyhow::Result<()> {
        for index in 0..results.tables[table].cells.len() {
            let cell = &results.tables[table].cells[index];
            if is_done(cell) {
                continue;
            }
            let outcome = self.cell(cell, &results.tables[table], &results.settings, files);
            results.tables[table].cells[index].outcome = outcome;
            (self.save)(results)?;
        }
        Ok(())
    }

    fn cell(&mut self, cell: &Cell, table: &TableResults, settings: &Settings, files: &Files) -> Outcome {
        self.monitor.begin(&format!("{} {}", cell.encoding, cell.compression), steps(settings));
        let target = self.kept.unwrap_or(self.scratch).join(file_name(&files.stem, cell));
        let convert = Job::Convert {
            format: files.format.clone(),
            to: cell.encoding.clone(),
            compression: cell.compression.clone(),
        };
        let rows = table.facts.as_ref().map_or(0, |facts| facts.rows);
        let format = TableFormat { from: Some(cell.encoding.clone()), ..files.format.clone() };
        let measured = self.bench(settings, files).cell(&convert, rows, &files.input, &target, &format);
        if self.kept.is_none() || measured.is_err() {
            self.executor.remove(&target);
        }
        self.monitor.end(measured.as_ref().err().map(String::as_str));
        match measured {
            Ok(measurements) => Outcome::Measured(Box::new(measurements)),
            Err(reason) => Outcome::Failed { reason },
        }
    }

    fn bench<'b>(&'b mut self, settings: &'b Settings, files: &'b Files) -> Bench<'b> {
        Bench { executor: self.executor, monitor: self.monitor, settings, reference: &files.reference }
    }
}

/// Whether a cell needs no further measuring.
fn is_done(cell: &Cell) -> bool {
    matches!(cell.outcome, Outcome::Measured(_) | Outcome::Impossible { .. })
}

fn is_complete(table: &TableResults) -> bool {
    table.facts.is_some() && table.as_it_is.is_some() && table.cells.iter().all(is_done)
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
