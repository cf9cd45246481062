//! What the comparison asks of a process of its own, and what that answers: plain data that goes from one to the other as
//! a JSON document.

use crate::error::Failure;
use crate::options::{QueryOptions, TableOptions};
use crate::results::{Parts, Work};
use brc_core::Schema;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A job as arguments of the process that does it: the program that is run passes them to [`crate::Worker`].
#[derive(Debug, Clone, Copy)]
pub struct JobArguments<'a> {
    /// What to do, as JSON.
    pub job: &'a str,
    /// The file to read.
    pub input: &'a Path,
    /// The file to write, or to compare with.
    pub other: &'a Path,
    /// How many threads work.
    pub threads: usize,
    /// How many bytes of memory a conversion or a query may use; `None` is as for any other.
    pub memory: Option<u64>,
}

/// What a process is to do with a file, and perhaps with another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Job {
    /// Write the first rows of the file to the other one, in the same encoding.
    Cut { format: TableOptions, rows: u64 },
    /// Read the table, answer the question, and keep the answer in the other file.
    Reference { format: TableOptions, question: QueryOptions },
    /// Write the table to the other file.
    Convert { format: TableOptions, to: String, compression: String },
    /// Answer the question, and compare the answer with the other file.
    Query {
        format: TableOptions,
        question: QueryOptions,
        statistics: bool,
        /// Whether to measure where the time goes.
        parts: bool,
    },
    /// Read the bytes of the file and nothing else.
    Read,
}

/// What a process says when it is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Reply {
    Done(Report),
    Failed(Failure),
}

/// What it did, and what it took as far as it knows itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Report {
    pub(crate) inside_ns: u64,
    pub(crate) cpu_ns: Option<u64>,
    pub(crate) peak_memory: Option<u64>,
    pub(crate) fetched_bytes: Option<u64>,
    /// How long it took afterwards to check the answer: no part of the work.
    pub(crate) check_ns: u64,
    pub(crate) found: Found,
}

/// The result of a [`Job`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Found {
    Bytes(u64),
    Rows(u64),
    Columns(Schema),
    Table { encoding: String, schema: Schema, rows: u64, text_bytes: u64, groups: u64 },
    Answer { parts: Parts, work: Work, difference: Option<String> },
}
