//! The results of a comparison: plain data, stored as `results.json`. All reports are computed from it.

use super::environment::Environment;
use crate::options::QueryOptions;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of this structure; files of other versions are not read.
pub(crate) const VERSION: u32 = 2;

/// A whole comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Results {
    pub(crate) version: u32,
    /// The command line, quoted for a shell.
    pub(crate) command: String,
    /// The start of the first run, in UTC.
    pub(crate) started: String,
    pub(crate) environment: Environment,
    /// The program that measured.
    pub(crate) program: FileIdentity,
    pub(crate) settings: Settings,
    /// The cost of starting and ending a process, which every time below includes.
    pub(crate) empty_process: Vec<Sample>,
    pub(crate) tables: Vec<TableResults>,
}

/// The options of the comparison.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Settings {
    pub(crate) encodings: Vec<String>,
    pub(crate) compressions: Vec<String>,
    /// The number of first rows taken from each table; all if `None`.
    pub(crate) rows: Option<u64>,
    pub(crate) runs: u32,
    pub(crate) convert_runs: u32,
    pub(crate) warmup: u32,
    pub(crate) cold: bool,
    pub(crate) threads: usize,
    /// The memory limit of a conversion or a query in bytes, if set.
    #[serde(default)]
    pub(crate) memory: Option<u64>,
    /// The options for reading the tables, by name.
    #[serde(default)]
    pub(crate) reading: BTreeMap<String, String>,
}

/// The results of one query on one table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct TableResults {
    pub(crate) input: FileIdentity,
    pub(crate) question: QueryOptions,
    /// `None` until the table has been read once.
    pub(crate) facts: Option<TableFacts>,
    /// Times of reading and querying the input itself.
    pub(crate) as_it_is: Option<FileTimes>,
    pub(crate) cells: Vec<Cell>,
}

/// Identifies the content of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileIdentity {
    pub(crate) path: String,
    pub(crate) bytes: u64,
    /// Nanoseconds since 1970.
    pub(crate) modified: u64,
    /// A hash of its first and last bytes.
    pub(crate) hash: String,
}

/// Schema and sizes of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TableFacts {
    pub(crate) encoding: String,
    pub(crate) schema: brc_core::Schema,
    pub(crate) rows: u64,
    /// The size of the compared file: the input, or its first rows.
    pub(crate) bytes: u64,
    /// The size of the table as plain text, to which ratios and cycles refer.
    pub(crate) text_bytes: u64,
    /// The number of rows of the answer.
    pub(crate) groups: u64,
}

/// An encoding with a compression.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Cell {
    pub(crate) encoding: String,
    pub(crate) compression: String,
    pub(crate) outcome: Outcome,
}

/// The state of a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Outcome {
    /// Not measured yet.
    Pending,
    /// The encoding cannot hold the table, or does not support the compression.
    Impossible {
        /// Why not.
        reason: String,
    },
    /// A run failed or gave a wrong answer; no times are kept.
    Failed {
        /// What went wrong.
        reason: String,
    },
    Measured(Box<Measurements>),
}

/// All samples of a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Measurements {
    /// The size of the file in bytes.
    pub(crate) bytes: u64,
    /// Conversions of the input, each to a new file that is not synced.
    pub(crate) convert: Vec<Sample>,
    pub(crate) times: FileTimes,
}

/// Times of reading and querying a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct FileTimes {
    /// Reading the bytes without decoding them.
    pub(crate) raw: Temperatures,
    /// The query, answered by reading the data.
    pub(crate) query: QueryTimes,
    /// The query with stored statistics allowed, if they answer for any row.
    pub(crate) with_statistics: Option<QueryTimes>,
}

/// Repeated runs of a query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct QueryTimes {
    pub(crate) samples: Temperatures,
    /// Times of the query phases, from separate runs because measuring them costs time.
    pub(crate) parts: Vec<Parts>,
    pub(crate) work: Work,
}

/// Samples with the file in the page cache (warm) and not in it (cold).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Temperatures {
    pub(crate) warm: Vec<Sample>,
    /// Empty unless requested.
    pub(crate) cold: Vec<Sample>,
}

/// The resources used by one process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sample {
    /// Elapsed time from before the start of the process until after its end, without the time to check its answer.
    pub(crate) wall_ns: u64,
    /// Elapsed time within the process, from the start of its work to the answer.
    pub(crate) inside_ns: u64,
    /// CPU time of all threads.
    pub(crate) cpu_ns: Option<u64>,
    /// Peak memory in bytes.
    pub(crate) peak_memory: Option<u64>,
    /// Bytes read from the disk rather than from the page cache.
    pub(crate) fetched_bytes: Option<u64>,
}

/// The phases of a query, in nanoseconds summed over all threads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Parts {
    pub(crate) read_ns: u64,
    pub(crate) decompress_ns: u64,
    pub(crate) decode_ns: u64,
    pub(crate) aggregate_ns: u64,
    /// Total CPU time; the rest beyond the phases is starting, merging, sorting and printing.
    pub(crate) cpu_ns: Option<u64>,
}

/// The amount of work of a query.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Work {
    pub(crate) rows: u64,
    pub(crate) summarised_rows: u64,
    pub(crate) skipped_rows: u64,
    pub(crate) bytes_read: u64,
}

impl Results {
    /// The name of a table: its file name, and as much of the path before it as tells it from the other tables.
    pub(crate) fn name<'a>(&self, table: &'a TableResults) -> &'a str {
        let own = path(table);
        let is_shared = |end: &str| {
            let mut others = self.tables.iter().map(path).filter(|other| *other != own);
            others.any(|other| other.strip_suffix(end).is_some_and(|start| start.is_empty() || start.ends_with('/')))
        };
        own.rmatch_indices('/').map(|(at, _)| &own[at + 1..]).find(|end| !is_shared(end)).unwrap_or(own)
    }
}

/// The path of a table, without a slash at the end.
fn path(table: &TableResults) -> &str {
    table.input.path.trim_end_matches('/')
}

impl Cell {
    /// The measurements, if the cell succeeded.
    pub(crate) fn measurements(&self) -> Option<&Measurements> {
        match &self.outcome {
            Outcome::Measured(measurements) => Some(measurements),
            _ => None,
        }
    }
}
