//! Scans splits, and reports what was scanned.

use super::{Sink, Split};
use crate::error::{Error, Result, RowFault};
use crate::rejects::Rejects;
use std::ops::AddAssign;

/// Scans splits for one worker. Codes keep their meaning for the lifetime of the scanner.
pub trait Scanner: Send {
    /// Delivers the rows of a split to `sink`. Returns `None` if a stream ended before the split began.
    ///
    /// # Errors
    /// Unreadable or malformed content, and errors of the sink.
    fn scan(&mut self, split: &Split, sink: &mut dyn Sink) -> Result<Option<Scanned>, ScanError>;

    /// Called once after the last split: delivers what the scanner has held back, such as the sums of pre-aggregated
    /// rows if [`ScanOptions::sums`](super::ScanOptions::sums) is set.
    ///
    /// # Errors
    /// Errors of the sink.
    fn finish(&mut self, _sink: &mut dyn Sink) -> Result<()> {
        Ok(())
    }
}

/// Why the scan of a split failed. The line of a bad row is relative to the split; [`scan`](crate::scan()), which knows
/// the lines of earlier splits, turns it into an [`Error`].
#[derive(Debug)]
pub enum ScanError {
    /// A row does not fit the schema.
    BadRow {
        /// The number of lines of the split before the row.
        line_in_split: u64,
        /// The offset in the file at which the row starts, in bytes.
        byte: u64,
        /// The position of the column at fault, if one is.
        column: Option<usize>,
        /// What is wrong with the row.
        fault: RowFault,
    },
    /// The split has values that do not fit the inferred types, which the table has widened in the meantime. The caller
    /// must discard the rows received from the split and scan it again. Types only ever widen, so this ends.
    Widened,
    /// Any other error.
    Other(Error),
}

impl ScanError {
    /// The error, for a table whose types are known and which has no bad rows.
    #[must_use]
    pub fn into_error(self) -> Error {
        match self {
            Self::Other(error) => error,
            Self::BadRow { .. } | Self::Widened => Error::Widened,
        }
    }
}

impl From<Error> for ScanError {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

/// Counts and times of the scan of one split.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scanned {
    /// Rows read and delivered in batches, or pre-aggregated until [`Scanner::finish`].
    pub rows: u64,
    /// Rows replaced by summaries or by value counts.
    pub summarised_rows: u64,
    /// Rows skipped because they cannot match the predicate.
    pub skipped_rows: u64,
    /// Malformed rows that were not delivered (text only).
    pub rejects: Rejects,
    /// Lines of a text that belong to no row.
    pub skipped_lines: SkippedLines,
    /// The number of lines of a text whose rows may span several lines or which has lines that are no rows; `None`
    /// where each line is a row.
    pub lines: Option<u64>,
    /// Bytes read from the file.
    pub bytes: u64,
    /// Time spent reading.
    pub read_time: std::time::Duration,
    /// Time spent on decompression.
    pub decompress_time: std::time::Duration,
    /// Time spent on checksums and decoding or parsing, excluding the sink.
    pub decode_time: std::time::Duration,
}

impl Scanned {
    /// All rows the scan accounted for: read, summarised, skipped or rejected.
    #[must_use]
    pub fn all_rows(&self) -> u64 {
        self.rows + self.summarised_rows + self.skipped_rows + self.rejects.len()
    }

    /// The number of lines of a text.
    #[must_use]
    pub fn all_lines(&self) -> u64 {
        self.lines.unwrap_or_else(|| self.all_rows())
    }
}

/// The lines of a text that belong to no row, by kind, so that every line is accounted for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SkippedLines {
    /// Lines before the header, or before the first row if there is no header: titles, notes.
    pub preamble: u64,
    /// Header lines.
    pub header: u64,
    /// Comment lines.
    pub comments: u64,
    /// Those of the comment lines that name other columns than the rows above them have.
    pub renamings: u64,
    /// Empty lines.
    pub blank: u64,
    /// Rows that repeat the header, as in concatenated files.
    pub repeated_headers: u64,
    /// Lines after the last row that were to be skipped.
    pub footer: u64,
}

impl AddAssign for SkippedLines {
    fn add_assign(&mut self, other: Self) {
        self.preamble += other.preamble;
        self.header += other.header;
        self.comments += other.comments;
        self.renamings += other.renamings;
        self.blank += other.blank;
        self.repeated_headers += other.repeated_headers;
        self.footer += other.footer;
    }
}
