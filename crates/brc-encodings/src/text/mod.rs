//! Tables as text with one row a line: what csv and json share.
//!
//! A line feed is never part of a row, so a text can be cut into splits at any byte. A carriage return right before a line
//! feed is not part of the row. The last line may lack its line feed.

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

use brc_core::{Result, RowFault, ScanError, ScanOptions, Schema, Sink};
use brc_text::rows::RowOptions;
use memchr::memchr;
use std::sync::Arc;

pub(crate) use pieces::Piece;
pub(crate) use reline::{Newlines, Notes, Reline, RelineFault, Relines};
pub(crate) use scanner::{BATCH_ROWS, BYTE_ORDER_MARK, Delivery, first_line};
pub(crate) use table::TextTable;
pub(crate) use writer::TextWriter;

/// The longest line that may be a row, in bytes. What is longer is not a table, and must not fill the memory.
pub(crate) const LONGEST_LINE: usize = RowOptions::MAX_ROW;

/// How a line holds a row.
pub(crate) trait Layout: Send + Sync {
    /// Whether the first line is no row, but names the columns.
    fn has_header(&self) -> bool {
        false
    }

    /// The columns as they are known by now, where they are inferred ([`brc_core::Table::inferred`]).
    fn inferred(&self) -> Option<Arc<Schema>> {
        None
    }

    /// [`brc_core::Table::notes`].
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// Reads rows for one worker that wants this.
    fn rows(&self, schema: &Schema, options: &ScanOptions) -> Box<dyn Rows>;

    /// What is wrong with a line, if it is no row, and in which column.
    fn explain(&self, line: &[u8], schema: &Schema) -> Option<(Option<usize>, RowFault)>;
}

/// Turns lines into rows.
pub(crate) trait Rows: Send {
    /// Called before the rows of a split: tells the sink the columns, where they are inferred.
    fn begin(&mut self, _sink: &mut dyn Sink) -> Result<(), ScanError> {
        Ok(())
    }

    /// Called behind them. [`ScanError::Widened`] if they do not fit the columns that were told.
    fn end(&mut self) -> Result<(), ScanError> {
        Ok(())
    }

    /// Delivers all rows of a piece: each batch as all columns of the schema, of which those outside the projection may
    /// be empty.
    fn take(&mut self, piece: &Piece<'_>, delivery: &mut Delivery<'_>) -> Result<(), ScanError>;

    /// Delivers the rows that were read and are kept back, if there are any.
    fn deliver(&mut self, delivery: &mut Delivery<'_>) -> Result<(), ScanError>;

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

/// Whether some first bytes cannot be a text: text has no NUL byte, and where it has nevertheless, as in a bad row, it has
/// not many other control bytes. (By themselves these are legal in a name.)
pub(crate) fn is_binary(prefix: &[u8]) -> bool {
    /// So many of a few bytes are no chance.
    const LEAST: usize = 8;
    let controls =
        prefix.iter().filter(|byte| byte.is_ascii_control() && !matches!(byte, b'\t' | b'\n' | b'\r')).count();
    controls >= LEAST && controls * 20 >= prefix.len() && memchr(0, prefix).is_some()
}

/// Takes a carriage return off the end of a line, of which the line feed is already gone.
pub(crate) fn strip_carriage_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}
