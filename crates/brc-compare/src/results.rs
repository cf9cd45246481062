//! What a comparison finds: plain data, kept as `results.json`. Everything that is shown is computed from it.

use super::environment::Environment;
use crate::options::QueryOptions;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of this shape; files of another one are not read.
pub(crate) const VERSION: u32 = 2;

/// A whole comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Results {
    pub(crate) version: u32,
    /// The command line, as a shell takes it.
    pub(crate) command: String,
    /// When it was started first, in UTC.
    pub(crate) started: String,
    pub(crate) environment: Environment,
    /// The program that measured.
    pub(crate) program: FileIdentity,
    pub(crate) settings: Settings,
    /// What it takes to start a process and end it again: a part of every time below.
    pub(crate) empty_process: Vec<Sample>,
    pub(crate) tables: Vec<TableResults>,
}

/// What was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Settings {
    pub(crate) encodings: Vec<String>,
    pub(crate) compressions: Vec<String>,
    /// How many rows of each table were taken, if not all.
    pub(crate) rows: Option<u64>,
    pub(crate) runs: u32,
    pub(crate) convert_runs: u32,
    pub(crate) warmup: u32,
    pub(crate) cold: bool,
    pub(crate) threads: usize,
    /// How many bytes of memory a conversion or a query might use, if that was asked for.
    #[serde(default)]
    pub(crate) memory: Option<u64>,
    /// The options that say how to read the tables, by name.
    #[serde(default)]
    pub(crate) reading: BTreeMap<String, String>,
}

/// One table in all its cells, asked one question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct TableResults {
    pub(crate) input: FileIdentity,
    pub(crate) question: QueryOptions,
    /// `None` until the table was read for the first time.
    pub(crate) facts: Option<TableFacts>,
    /// The input itself: just read, and asked.
    pub(crate) as_it_is: Option<FileTimes>,
    pub(crate) cells: Vec<Cell>,
}

/// How a file is known again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileIdentity {
    pub(crate) path: String,
    pub(crate) bytes: u64,
    /// Nanoseconds since 1970.
    pub(crate) modified: u64,
    /// Of its first and last bytes.
    pub(crate) hash: String,
}

/// What a table is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TableFacts {
    pub(crate) encoding: String,
    pub(crate) schema: brc_core::Schema,
    pub(crate) rows: u64,
    /// Of the file that was compared: the input, or its first rows.
    pub(crate) bytes: u64,
    /// The size of the table as plain text: what ratios and cycles refer to.
    pub(crate) text_bytes: u64,
    /// Rows of the answer.
    pub(crate) groups: u64,
}

/// An encoding with a compression.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Cell {
    pub(crate) encoding: String,
    pub(crate) compression: String,
    pub(crate) outcome: Outcome,
}

/// What became of a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Outcome {
    /// Not measured yet.
    Pending,
    /// There is no such thing.
    Impossible {
        /// Why not.
        reason: String,
    },
    /// It went wrong, or its answer was wrong: no time counts then.
    Failed {
        /// What went wrong.
        reason: String,
    },
    Measured(Box<Measurements>),
}

/// All samples of a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Measurements {
    /// The size of the file.
    pub(crate) bytes: u64,
    /// Conversions of the input, each to a new file that is not synced to the disk.
    pub(crate) convert: Vec<Sample>,
    pub(crate) times: FileTimes,
}

/// What it takes to read a file and to ask it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct FileTimes {
    /// Just reading the bytes.
    pub(crate) raw: Temperatures,
    /// The question, answered by reading the data.
    pub(crate) query: Asked,
    /// The question, where statistics in the file may answer, if that makes a difference.
    pub(crate) with_statistics: Option<Asked>,
}

/// A question, asked again and again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Asked {
    pub(crate) samples: Temperatures,
    /// Where the time goes, from further runs: measuring it takes a little time itself.
    pub(crate) parts: Vec<Parts>,
    pub(crate) work: Work,
}

/// Samples with the file in the page cache, and without.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Temperatures {
    pub(crate) warm: Vec<Sample>,
    /// Empty unless asked for.
    pub(crate) cold: Vec<Sample>,
}

/// What one process took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sample {
    /// From before it was started until it had ended, without the time in which it checked its answer.
    pub(crate) wall_ns: u64,
    /// From the start of its work until it had the answer.
    pub(crate) inside_ns: u64,
    /// Time on processors, of all threads together.
    pub(crate) cpu_ns: Option<u64>,
    /// The most memory that it had at once, in bytes.
    pub(crate) peak_memory: Option<u64>,
    /// Bytes that came from the disk rather than from the page cache.
    pub(crate) fetched_bytes: Option<u64>,
}

/// Where the time of a query goes, in nanoseconds of all threads together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Parts {
    pub(crate) read_ns: u64,
    pub(crate) decompress_ns: u64,
    pub(crate) decode_ns: u64,
    pub(crate) aggregate_ns: u64,
    /// All of it: what the parts do not add up to is starting, merging, sorting and printing.
    pub(crate) cpu_ns: Option<u64>,
}

/// What a query had to do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Work {
    pub(crate) rows: u64,
    pub(crate) summarised_rows: u64,
    pub(crate) skipped_rows: u64,
    pub(crate) bytes_read: u64,
}

impl TableResults {
    /// The part of the table's path that names it.
    pub(crate) fn name(&self) -> &str {
        self.input.path.rsplit('/').next().unwrap_or(&self.input.path)
    }
}

impl Cell {
    /// What was measured, if all went well.
    pub(crate) fn measurements(&self) -> Option<&Measurements> {
        match &self.outcome {
            Outcome::Measured(measurements) => Some(measurements),
            _ => None,
        }
    }
}
