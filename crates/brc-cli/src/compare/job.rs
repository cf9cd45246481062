//! What the comparison asks of a process of its own, and what that answers: plain data that goes from one to the other as
//! a JSON document.

use super::results::{Parts, Work};
use crate::args::{Names, Question, Source};
use crate::failure::Failure;
use brc_core::Schema;
use serde::{Deserialize, Serialize};

/// What a process is to do with a file, and perhaps with another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Job {
    /// Write the first rows of the file to the other one, in the same encoding.
    Cut { format: TableFormat, rows: u64 },
    /// Read the table, answer the question, and keep the answer in the other file.
    Reference { format: TableFormat, question: Question },
    /// Write the table to the other file.
    Convert { format: TableFormat, to: String, compression: String },
    /// Answer the question, and compare the answer with the other file.
    Query {
        format: TableFormat,
        question: Question,
        statistics: bool,
        /// Whether to measure where the time goes.
        parts: bool,
    },
    /// Read the bytes of the file and nothing else.
    Read,
}

/// How to read a table: what `--from`, `--schema`, `--names`, `--separator` and `--max-copy` say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TableFormat {
    pub(crate) from: Option<String>,
    pub(crate) schema: Option<Schema>,
    pub(crate) names: Option<Names>,
    pub(crate) separator: u8,
    pub(crate) max_copy: u64,
}

impl TableFormat {
    /// The format that these options name.
    pub(crate) fn of(source: &Source) -> Self {
        Self {
            from: source.from.map(|encoding| encoding.name().to_owned()),
            schema: source.schema.clone(),
            names: source.names.clone(),
            separator: source.separator,
            max_copy: source.max_copy,
        }
    }

    /// The options that name it.
    pub(crate) fn source(&self) -> Source {
        let from = self.from.as_deref().and_then(brc_encodings::by_name);
        let (schema, names) = (self.schema.clone(), self.names.clone());
        Source { from, schema, names, separator: self.separator, max_copy: self.max_copy }
    }
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
