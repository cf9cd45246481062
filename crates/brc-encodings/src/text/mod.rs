//! Tables as text with one row per line: the common structure of csv and json.
//!
//! A line feed is never part of a row, so a text can be split at any byte. A carriage return right before a line feed
//! is not part of the row. The last line may lack its line feed.

mod chunk_pieces;
mod file_pieces;
mod pieces;
mod reline;
mod scanner;
mod stream;
mod table;
#[cfg(test)]
pub(crate) mod testing;
mod writer;

use crate::tally::Tally;
use brc_core::{LogicalType, Result, RowFault, ScanError, ScanOptions, Schema, Sink};
use brc_text::rows::RowOptions;
use memchr::memchr;
use parking_lot::Mutex;
use std::sync::Arc;

pub(crate) use pieces::Piece;
pub(crate) use reline::{Newlines, Notes, Reline, RelineFault, Relines};
pub(crate) use scanner::{BATCH_ROWS, TextDelivery, first_line};
pub(crate) use table::TextTable;
pub(crate) use writer::TextWriter;

/// The maximum length of a row's line in bytes. A longer one is not from a table, and must not fill the memory.
pub(crate) const LONGEST_LINE: usize = RowOptions::MAX_ROW;

/// How a line represents a row.
pub(crate) trait LineLayout: Send + Sync {
    /// Whether the first line is a header.
    fn has_header(&self) -> bool {
        false
    }

    /// The columns as currently known, if they are inferred ([`brc_core::Table::inferred`]).
    fn inferred(&self) -> Option<Arc<Schema>> {
        None
    }

    /// [`brc_core::Table::is_untyped`].
    fn is_untyped(&self, _column: usize) -> bool {
        false
    }

    /// [`brc_core::Table::assume`].
    fn assume(&self, _column: usize, _logical_type: Option<LogicalType>) -> bool {
        false
    }

    /// [`brc_core::Table::notes`].
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// A parser that counts the values of these columns by their types, of so many rows at most, and what it counts;
    /// `None` if the types are given.
    fn tallying(&self, _columns: &[usize], _rows: u64) -> Option<(Box<dyn RowParser>, SharedTallies)> {
        None
    }

    /// A reader of rows for one worker with these options.
    fn rows(&self, schema: &Schema, options: &ScanOptions) -> Box<dyn RowParser>;

    /// The error of a malformed line, and the column at fault.
    fn explain(&self, line: &[u8], schema: &Schema) -> Option<(Option<usize>, RowFault)>;
}

/// What a parser counts.
pub(crate) type SharedTallies = Arc<Mutex<Tallies>>;

/// The values of some columns by their types.
pub(crate) struct Tallies {
    pub(crate) columns: Vec<Tally>,
    /// The lines of earlier splits.
    pub(crate) lines: u64,
}

/// Parses lines as rows.
pub(crate) trait RowParser: Send {
    /// Called before the rows of a split: passes inferred columns to the sink.
    fn begin(&mut self, _sink: &mut dyn Sink) -> Result<(), ScanError> {
        Ok(())
    }

    /// Called after them. [`ScanError::Widened`] if they do not fit the columns passed to the sink.
    fn end(&mut self) -> Result<(), ScanError> {
        Ok(())
    }

    /// Delivers all rows of a piece: each batch with all columns of the schema, of which those outside the projection
    /// may be empty.
    fn take(&mut self, piece: &Piece<'_>, delivery: &mut TextDelivery<'_>) -> Result<(), ScanError>;

    /// Delivers buffered rows, if there are any.
    fn deliver(&mut self, delivery: &mut TextDelivery<'_>) -> Result<(), ScanError>;

    /// [`brc_core::Scanner::finish`].
    fn finish(&mut self, _sink: &mut dyn Sink) -> Result<()> {
        Ok(())
    }
}

/// Why a line is not a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BadRow {
    /// The column at fault, if one is.
    pub(crate) column: Option<usize>,
    pub(crate) fault: RowFault,
}

/// Whether the first bytes cannot be text. Text has no NUL byte; if it has one nevertheless, as in a malformed row, it
/// has few other control bytes. (These alone are legal in a name.)
pub(crate) fn is_binary(prefix: &[u8]) -> bool {
    /// The minimum number of control bytes that is no accident in a short text.
    const MIN_CONTROLS: usize = 8;
    let controls =
        prefix.iter().filter(|byte| byte.is_ascii_control() && !matches!(byte, b'\t' | b'\n' | b'\r')).count();
    controls >= MIN_CONTROLS && controls * 20 >= prefix.len() && memchr(0, prefix).is_some()
}

/// Removes a carriage return from the end of a line whose line feed is already removed.
pub(crate) fn strip_carriage_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}
