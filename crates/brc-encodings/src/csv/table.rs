//! A text file or stream, open for reading.

use super::pieces::FilePieces;
use super::scanner::{Source, TextScanner};
use super::stream::{Stream, StreamPieces};
use crate::encoding::OpenOptions;
use crate::input::{self, Input};
use brc_core::{Result, ScanOptions, Scanner, Schema, Split, Table};
use std::fs::File;
use std::path::{Path, PathBuf};

pub(super) struct TextTable {
    path: PathBuf,
    pub(super) schema: Schema,
    pub(super) separator: u8,
    pub(super) keep_rejects: bool,
    split_bytes: u64,
    text: Text,
}

enum Text {
    File { file: File, length: u64 },
    Stream(Stream),
}

impl TextTable {
    pub(super) fn new(input: Input, schema: Schema, options: &OpenOptions) -> Self {
        let text = match input.source {
            input::Source::File { file, length } => Text::File { file, length },
            input::Source::Stream(rest) => Text::Stream(Stream::new(&input.path, input.prefix, rest)),
        };
        Self {
            path: input.path,
            schema,
            separator: options.separator,
            keep_rejects: options.keep_rejects,
            split_bytes: options.split_bytes.max(1),
            text,
        }
    }
}

impl Table for TextTable {
    fn path(&self) -> &Path {
        &self.path
    }

    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn rows(&self) -> Option<u64> {
        None
    }

    fn bytes(&self) -> Option<u64> {
        match self.text {
            Text::File { length, .. } => Some(length),
            Text::Stream(_) => None,
        }
    }

    fn split(&self, index: u64) -> Option<Split> {
        let start = index.checked_mul(self.split_bytes)?;
        let end = start.checked_add(self.split_bytes)?;
        match self.text {
            Text::File { length, .. } => (start < length).then(|| Split { index, start, end: end.min(length) }),
            Text::Stream(_) => Some(Split { index, start, end }),
        }
    }

    fn scanner(&self, options: &ScanOptions) -> Result<Box<dyn Scanner + '_>> {
        let source = match &self.text {
            Text::File { file, length } => Source::File(FilePieces::new(file, &self.path, *length)),
            Text::Stream(stream) => Source::Stream(stream, StreamPieces::default()),
        };
        Ok(Box::new(TextScanner::new(self, options, source)))
    }
}
