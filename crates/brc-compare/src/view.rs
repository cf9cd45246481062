//! Computes the figures of one table from its samples, once for all reports.

use super::results::{Cell, FileTimes, Outcome, Parts, QueryTimes, Results, Sample, TableFacts, TableResults};
use super::statistics::{Summary, median};
use crate::options::QueryOptions;
use crate::quantity::{bytes, digits, rows};

/// The figures of a measured table.
pub(crate) struct View<'a> {
    pub(crate) results: &'a Results,
    pub(crate) table: &'a TableResults,
    pub(crate) facts: &'a TableFacts,
    /// The line of the input itself.
    pub(crate) input: Line<'a>,
    /// The lines of all measured cells; a line with statistics follows the one without.
    pub(crate) lines: Vec<Line<'a>>,
}

/// The figures of one encoding and compression.
#[derive(Debug, Clone)]
pub(crate) struct Line<'a> {
    pub(crate) encoding: &'a str,
    pub(crate) compression: &'a str,
    /// Whether stored statistics were allowed to answer the query.
    pub(crate) statistics: bool,
    pub(crate) bytes: u64,
    /// Conversion time in nanoseconds; `None` for the input.
    pub(crate) convert: Option<Summary>,
    pub(crate) convert_memory: Option<u64>,
    /// Time of a warm query in nanoseconds, as elapsed time of the whole process.
    pub(crate) query: Summary,
    pub(crate) cold: Option<Cold>,
    /// Time of reading the file without decoding, measured likewise.
    pub(crate) raw: Summary,
    /// CPU time of a query in nanoseconds.
    pub(crate) cpu_ns: Option<f64>,
    pub(crate) peak_memory: Option<u64>,
    /// The phases of a query.
    pub(crate) parts: Vec<Part>,
    pub(crate) summarised_rows: u64,
}

/// Times with a cold page cache.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cold {
    pub(crate) query: Summary,
    pub(crate) raw: Summary,
    /// Whether the file was really read from a disk, if the system reports it.
    pub(crate) is_cold: Option<bool>,
}

/// The CPU time of one phase of a query.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part {
    pub(crate) name: &'static str,
    pub(crate) ns: f64,
}

/// The names of the phases, in the order of execution.
pub(crate) const PARTS: [&str; 5] = ["read", "decompress", "decode", "aggregate", "rest"];

impl<'a> View<'a> {
    /// Computes the figures of a table; `None` if it was not measured.
    pub(crate) fn new(results: &'a Results, table: &'a TableResults) -> Option<Self> {
        let facts = table.facts.as_ref()?;
        let times = table.as_it_is.as_ref()?;
        let file = File { encoding: &facts.encoding, compression: "", bytes: facts.bytes, convert: &[], times };
        let input = file.line(&times.query, false)?;
        let lines = table.cells.iter().flat_map(lines_of).collect();
        Some(Self { results, table, facts, input, lines })
    }

    /// The name of the table.
    pub(crate) fn table_name(&self) -> &'a str {
        self.results.name(self.table)
    }

    /// The lines that read the data; only these are ranked.
    pub(crate) fn reading(&self) -> impl Iterator<Item = &Line<'a>> {
        self.lines.iter().filter(|line| !line.statistics)
    }

    /// The line of a cell.
    pub(crate) fn line(&self, encoding: &str, compression: &str, statistics: bool) -> Option<&Line<'a>> {
        self.lines
            .iter()
            .find(|line| (line.encoding, line.compression, line.statistics) == (encoding, compression, statistics))
    }

    /// The state of a cell.
    pub(crate) fn outcome(&self, encoding: &str, compression: &str) -> Option<&'a Outcome> {
        let is_it = |cell: &&Cell| cell.encoding == encoding && cell.compression == compression;
        self.table.cells.iter().find(is_it).map(|cell| &cell.outcome)
    }

    /// The rows of a matrix: every encoding that can hold the table, followed by a row with statistics if any of its
    /// cells has one.
    pub(crate) fn matrix_rows(&self) -> Vec<(&'a str, bool)> {
        let mut rows = Vec::new();
        let can_hold = |encoding: &&String| {
            let mut cells = self.table.cells.iter().filter(|cell| cell.encoding == **encoding);
            cells.any(|cell| !matches!(cell.outcome, Outcome::Impossible { .. }))
        };
        for encoding in self.results.settings.encodings.iter().filter(can_hold) {
            rows.push((encoding.as_str(), false));
            if self.lines.iter().any(|line| line.encoding == encoding && line.statistics) {
                rows.push((encoding.as_str(), true));
            }
        }
        rows
    }

    /// Impossible and failed cells with their reason. Compressions of an encoding that share a reason are listed
    /// together.
    pub(crate) fn blanks(&self) -> Vec<(String, bool, &'a str)> {
        let mut blanks: Vec<(&'a str, Vec<&'a str>, bool, &'a str)> = Vec::new();
        for cell in &self.table.cells {
            let (failed, reason) = match &cell.outcome {
                Outcome::Impossible { reason } => (false, reason.as_str()),
                Outcome::Failed { reason } => (true, reason.as_str()),
                Outcome::Pending | Outcome::Measured(_) => continue,
            };
            let is_same = |blank: &&mut (&str, Vec<&str>, bool, &str)| {
                (blank.0, blank.2, blank.3) == (cell.encoding.as_str(), failed, reason)
            };
            match blanks.iter_mut().find(is_same) {
                Some((_, compressions, ..)) => compressions.push(&cell.compression),
                None => blanks.push((&cell.encoding, vec![&cell.compression], failed, reason)),
            }
        }
        let all = self.results.settings.compressions.len();
        let name = |encoding: &str, compressions: &[&str]| match compressions {
            [one] => name(encoding, one),
            _ if compressions.len() == all => encoding.to_owned(),
            _ => format!("{encoding} {}", compressions.join(", ")),
        };
        let named = |(encoding, compressions, failed, reason): (_, Vec<_>, _, _)| {
            (name(encoding, &compressions), failed, reason)
        };
        blanks.into_iter().map(named).collect()
    }

    /// The number of compared rows, in words.
    pub(crate) fn rows(&self) -> String {
        let first = if self.results.settings.rows.is_some() { "the first " } else { "" };
        format!("{first}{}", rows(self.facts.rows))
    }

    /// The query in words; `None` if all tables have the default query.
    pub(crate) fn query_text(&self) -> Option<String> {
        let default = QueryOptions::default();
        if self.results.tables.iter().all(|table| table.question == default) {
            None
        } else if self.table.question == default {
            Some("min, mean and max of each column of numbers, by the string column".to_owned())
        } else {
            Some(self.table.question.to_string())
        }
    }

    /// The size of a line divided by that of the text; `None` if the text is empty.
    pub(crate) fn ratio(&self, line: &Line<'_>) -> Option<f64> {
        (self.facts.text_bytes > 0).then(|| line.bytes as f64 / self.facts.text_bytes as f64)
    }

    /// The size of a line with its ratio, in words.
    pub(crate) fn size(&self, line: &Line<'_>) -> String {
        let ratio = self.ratio(line).map(|ratio| format!(" ({} of the text)", digits(ratio)));
        bytes(line.bytes) + &ratio.unwrap_or_default()
    }

    /// The throughput of a query in million rows per second.
    pub(crate) fn million_rows(&self, line: &Line<'_>) -> f64 {
        self.facts.rows as f64 / line.query.median.max(1.0) * 1e3
    }

    /// Cycles of all processors per byte of text: CPU time multiplied by the clock rate that the system reports.
    pub(crate) fn cycles(&self, line: &Line<'_>) -> Option<f64> {
        let mhz = self.results.environment.mhz?;
        let cycles = line.cpu_ns? / 1e3 * mhz;
        (self.facts.text_bytes > 0).then(|| cycles / self.facts.text_bytes as f64)
    }

    /// Reasons to distrust the figures, as sentences.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let mut warnings = self.results.environment.warnings();
        let all = || std::iter::once(&self.input).chain(&self.lines);
        let noisy: Vec<String> = all().filter(|line| line.query.outliers > 0).map(Line::name).collect();
        if !noisy.is_empty() {
            let noisy = noisy.join(", ");
            warnings.push(format!("Outliers among the query times of {noisy}: the machine may have been busy."));
        }
        let lukewarm = |line: &&Line<'_>| line.cold.is_some_and(|cold| cold.is_cold == Some(false));
        let lukewarm: Vec<String> = all().filter(lukewarm).map(Line::name).collect();
        if !lukewarm.is_empty() {
            let lukewarm = lukewarm.join(", ");
            warnings.push(format!(
                "Dropping the file from the page cache had no effect for {lukewarm}: little or nothing was read \
                 from the disk, so these cold times are warm."
            ));
        }
        if all().any(|line| line.cold.is_some_and(|cold| cold.is_cold.is_none())) {
            warnings.push("The system does not report whether the cold runs read from the disk.".to_owned());
        }
        warnings
    }
}

impl Line<'_> {
    /// The name of the line in sentences.
    pub(crate) fn name(&self) -> String {
        if self.compression.is_empty() {
            return "the input".to_owned();
        }
        let statistics = if self.statistics { " (with statistics)" } else { "" };
        name(self.encoding, self.compression) + statistics
    }

    /// The query time divided by the time of reading the file.
    pub(crate) fn over_floor(&self) -> f64 {
        self.query.median / self.raw.median.max(1.0)
    }

    /// The sum of all phases, in nanoseconds of CPU time.
    pub(crate) fn parts_total(&self) -> f64 {
        self.parts.iter().map(|part| part.ns).sum()
    }
}

/// The name of a cell: the encoding alone if it is not compressed.
fn name(encoding: &str, compression: &str) -> String {
    if compression == "none" { encoding.to_owned() } else { format!("{encoding} {compression}") }
}

fn lines_of(cell: &Cell) -> Vec<Line<'_>> {
    let Some(measured) = cell.measurements() else { return Vec::new() };
    let file = File {
        encoding: &cell.encoding,
        compression: &cell.compression,
        bytes: measured.bytes,
        convert: &measured.convert,
        times: &measured.times,
    };
    let reading = file.line(&measured.times.query, false);
    let with_statistics = measured.times.with_statistics.as_ref().and_then(|times| file.line(times, true));
    reading.into_iter().chain(with_statistics).collect()
}

/// A measured file.
struct File<'a> {
    encoding: &'a str,
    compression: &'a str,
    bytes: u64,
    convert: &'a [Sample],
    times: &'a FileTimes,
}

impl<'a> File<'a> {
    fn line(&self, times: &QueryTimes, statistics: bool) -> Option<Line<'a>> {
        let most = |samples: &[Sample]| samples.iter().filter_map(|sample| sample.peak_memory).max();
        let warm = &times.samples.warm;
        let cpu: Vec<f64> = warm.iter().filter_map(|sample| sample.cpu_ns).map(|ns| ns as f64).collect();
        let raw = walls(&self.times.raw.warm)?;
        Some(Line {
            encoding: self.encoding,
            compression: self.compression,
            statistics,
            bytes: self.bytes,
            convert: walls(self.convert),
            convert_memory: most(self.convert),
            query: walls(warm)?,
            cold: self.cold(&times.samples.cold),
            raw,
            cpu_ns: (!cpu.is_empty()).then(|| median(&cpu)),
            peak_memory: most(warm),
            parts: parts(&times.parts),
            summarised_rows: times.work.summarised_rows,
        })
    }

    fn cold(&self, samples: &[Sample]) -> Option<Cold> {
        let fetched: Option<Vec<u64>> = self.times.raw.cold.iter().map(|sample| sample.fetched_bytes).collect();
        // Read-ahead and pages mapped by other processes may hide some of the reads.
        let is_cold = fetched.map(|fetched| fetched.iter().all(|&bytes| bytes >= self.bytes / 2));
        Some(Cold { query: walls(samples)?, raw: walls(&self.times.raw.cold)?, is_cold })
    }
}

fn walls(samples: &[Sample]) -> Option<Summary> {
    Summary::of(&samples.iter().map(|sample| sample.wall_ns as f64).collect::<Vec<_>>())
}

/// The median of each phase; the remaining CPU time is the rest.
fn parts(runs: &[Parts]) -> Vec<Part> {
    let middle = |of: fn(&Parts) -> u64| median(&runs.iter().map(|run| of(run) as f64).collect::<Vec<_>>());
    let known = [
        middle(|run| run.read_ns),
        middle(|run| run.decompress_ns),
        middle(|run| run.decode_ns),
        middle(|run| run.aggregate_ns),
    ];
    let all: Vec<f64> = runs.iter().filter_map(|run| run.cpu_ns).map(|ns| ns as f64).collect();
    let rest = (median(&all) - known.iter().sum::<f64>()).max(0.0);
    PARTS.into_iter().zip(known.into_iter().chain([rest])).map(|(name, ns)| Part { name, ns }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn cold_runs_that_read_nothing_are_reported() {
        let mut results = sample::results();
        let no_effect = |results: &Results| {
            let view = View::new(results, &results.tables[0]).unwrap();
            view.warnings().into_iter().find(|warning| warning.contains("had no effect"))
        };
        assert_eq!(no_effect(&results), None);
        let input = results.tables[0].as_it_is.as_mut().unwrap();
        for sample in &mut input.raw.cold {
            sample.fetched_bytes = Some(4096);
        }
        assert!(no_effect(&results).unwrap().contains("for the input:"));
        for sample in &mut results.tables[0].as_it_is.as_mut().unwrap().raw.cold {
            sample.fetched_bytes = None;
        }
        let view = View::new(&results, &results.tables[0]).unwrap();
        assert!(view.warnings().iter().any(|warning| warning.contains("does not report")));
    }

    #[test]
    fn repeated_file_names_keep_the_part_of_the_path_that_differs() {
        let mut results = sample::results();
        for (paths, names) in [
            (["a/m.txt", "b/m.txt"], ["a/m.txt", "b/m.txt"]),
            (["x/a/m.txt", "x/b/m.txt"], ["a/m.txt", "b/m.txt"]),
            (["a/x/m.txt", "b/x/m.txt"], ["a/x/m.txt", "b/x/m.txt"]),
            (["x/m.txt", "x/n.txt"], ["m.txt", "n.txt"]),
            (["m.txt", "/x/b/m.txt"], ["m.txt", "b/m.txt"]),
            (["x/am.txt", "x/m.txt"], ["am.txt", "m.txt"]),
            (["x/data/", "x/other/"], ["data", "other"]),
            // Two queries on one table.
            (["x/m.txt", "x/m.txt"], ["m.txt", "m.txt"]),
        ] {
            for (table, path) in results.tables.iter_mut().zip(paths) {
                table.input.path = path.to_owned();
            }
            let found: Vec<_> = results.tables.iter().map(|table| results.name(table)).collect();
            assert_eq!(found, names);
        }
    }

    #[test]
    fn an_encoding_that_cannot_hold_the_table_has_no_row() {
        let mut results = sample::results();
        for cell in results.tables[0].cells.iter_mut().filter(|cell| cell.encoding == "rows") {
            cell.outcome = Outcome::Impossible { reason: "a column is missing".to_owned() };
        }
        let view = View::new(&results, &results.tables[0]).unwrap();
        assert_eq!(view.matrix_rows(), [("columns", false), ("columns", true), ("text", false)]);
        assert!(view.blanks().contains(&("rows".to_owned(), false, "a column is missing")));
    }

    #[test]
    fn a_shared_reason_is_listed_once() {
        let mut results = sample::results();
        let fails = |cell: &mut Cell, reason: &str| cell.outcome = Outcome::Failed { reason: reason.to_owned() };
        let cells = &mut results.tables[0].cells;
        cells[..3].iter_mut().for_each(|cell| fails(cell, "a NUL byte"));
        cells[3..5].iter_mut().for_each(|cell| fails(cell, "no room"));
        let view = View::new(&results, &results.tables[0]).unwrap();
        let blanks = view.blanks();
        let names: Vec<_> = blanks.iter().map(|(name, failed, _)| (name.as_str(), *failed)).collect();
        let expected = [("columns", true), ("rows none, fast", true), ("rows small:9", true), ("text fast", false)];
        assert_eq!(names, expected);
    }

    #[test]
    fn figures_follow_from_samples() {
        let results = sample::results();
        let view = View::new(&results, &results.tables[0]).unwrap();
        let line = view.line("columns", "none", false).unwrap();
        assert_eq!(line.query.median, 2_100_000.0);
        assert!((view.ratio(line).unwrap() - 2.4 / 13.8).abs() < 1e-9);
        assert!((view.million_rows(line) - 1.0 / 2.1 * 1e3).abs() < 1e-6);
        // 3.15 ms of CPU time at 2.5 GHz for 13.8 MB.
        assert!((view.cycles(line).unwrap() - 3.15e-3 * 2.5e9 / 13.8e6).abs() < 1e-9);
        assert!((line.over_floor() - 2.1 / 1.44).abs() < 1e-9);
        let parts: Vec<(&str, f64)> = line.parts.iter().map(|part| (part.name, part.ns / 2100.0)).collect();
        let expected =
            [("read", 200.0), ("decompress", 100.0), ("decode", 800.0), ("aggregate", 250.0), ("rest", 250.0)];
        assert_eq!(parts, expected);
    }
}
