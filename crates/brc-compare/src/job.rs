//! The jobs that a comparison sends to worker processes and their replies: plain data exchanged as JSON documents.

use crate::error::Failure;
use crate::options::{QueryOptions, TableOptions};
use crate::results::{Parts, Work};
use brc_core::Schema;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A job as arguments of its process: the program passes them to [`crate::Worker`].
#[derive(Debug, Clone, Copy)]
pub struct JobArguments<'a> {
    /// The job as JSON.
    pub job: &'a str,
    /// The file to read.
    pub input: &'a Path,
    /// The file to write or to compare with.
    pub other: &'a Path,
    /// The number of worker threads.
    pub threads: usize,
    /// The memory limit of a conversion or query in bytes; `None` for the default.
    pub memory: Option<u64>,
}

/// What a process does with the input file and, for most jobs, a second file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Job {
    /// Write the first rows of the input to the second file, in the same encoding.
    Cut { format: TableOptions, rows: u64 },
    /// Run the query on the table, and store its result in the second file.
    Reference { format: TableOptions, question: QueryOptions },
    /// Convert the table to the second file.
    Convert { format: TableOptions, to: String, compression: String },
    /// Run the query, and compare its result with the second file.
    Query {
        format: TableOptions,
        question: QueryOptions,
        statistics: bool,
        /// Whether to measure the phases of the query.
        parts: bool,
    },
    /// Read the bytes of the input without decoding them.
    Read,
}

/// What a process prints when it is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Reply {
    Done(Report),
    Failed(Failure),
}

/// The result of a job and the resources it used, as measured within the process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Report {
    pub(crate) inside_ns: u64,
    pub(crate) cpu_ns: Option<u64>,
    pub(crate) peak_memory: Option<u64>,
    pub(crate) fetched_bytes: Option<u64>,
    /// The time spent checking the answer, which does not count as work.
    pub(crate) check_ns: u64,
    pub(crate) result: JobResult,
}

/// The result of a [`Job`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum JobResult {
    Bytes(u64),
    Rows(u64),
    Columns(Schema),
    Table { encoding: String, schema: Schema, rows: u64, text_bytes: u64, groups: u64 },
    Answer { parts: Parts, work: Work, difference: Option<String> },
}
