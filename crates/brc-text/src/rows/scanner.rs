//! Scans a text and delivers its rows.

use super::scan::Scan;
use super::{IrregularRow, RowOptions, Rows};
use brc_core::SkippedLines;
use brc_kernels::cpu::Level;
use brc_kernels::structure::{FieldEnd, Syntax};

/// Text to scan.
#[derive(Debug, Clone, Copy)]
pub struct Piece<'a> {
    /// Starts at a row start, and has at most [`MAX_TEXT`](brc_kernels::structure::MAX_TEXT) bytes.
    pub text: &'a [u8],
    /// Whether the text starts within a line that was rejected as too long; the rest of that line is skipped.
    pub skip: bool,
    /// Whether the whole text ends here, so that the last row ends even without a line end.
    pub last: bool,
}

/// The result of a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scanned {
    /// The number of bytes consumed. The rest is one incomplete row; there is none in the [last](Piece::last) piece.
    pub bytes: usize,
    /// The number of line ends in these bytes.
    pub lines: u64,
    /// The skipped comments, empty lines and repetitions of the [header](RowOptions::header).
    pub skipped_lines: SkippedLines,
    /// Whether the next piece starts within a rejected line.
    pub skip: bool,
}

/// Finds the rows of a table in text. Reusing a scanner reuses its buffers.
#[derive(Debug)]
pub struct RowScanner {
    pub(super) level: Level,
    pub(super) syntax: Syntax,
    pub(super) options: RowOptions,
    pub(super) buffers: Buffers,
}

/// What has been found and not delivered yet.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    /// The fields of regular rows, then those of rows that have not been classified, then those of the incomplete row.
    pub(super) ends: Vec<FieldEnd>,
    pub(super) starts: Vec<u32>,
    pub(super) irregular: Vec<IrregularRow>,
    pub(super) irregular_ends: Vec<FieldEnd>,
}

impl RowScanner {
    /// Creates a scanner.
    ///
    /// # Panics
    /// If the table has no columns, a row may be 0 bytes long, or the header is empty.
    #[must_use]
    pub fn new(level: Level, syntax: Syntax, options: RowOptions) -> Self {
        assert!(options.columns > 0 && options.max_row > 0, "a row has at least a column and a byte");
        assert!(options.header.as_ref().is_none_or(|header| !header.is_empty()), "a header has bytes");
        Self { level, syntax, options, buffers: Buffers::default() }
    }

    /// The syntax.
    #[must_use]
    pub fn syntax(&self) -> &Syntax {
        &self.syntax
    }

    /// The options.
    #[must_use]
    pub fn options(&self) -> &RowOptions {
        &self.options
    }

    /// Delivers all rows that end in a piece of text, in batches of a few thousand, including the irregular rows.
    ///
    /// # Errors
    /// Errors of `deliver`, which end the scan.
    ///
    /// # Panics
    /// If the text is too long.
    pub fn scan<E>(
        &mut self,
        piece: Piece<'_>,
        mut deliver: impl FnMut(&Rows<'_>) -> Result<(), E>,
    ) -> Result<Scanned, E> {
        self.buffers.clear();
        let mut scan = Scan::new(self, piece);
        let mut more = true;
        while more {
            more = scan.advance();
            let rows = scan.rows();
            if !rows.is_empty() || !rows.irregular().is_empty() {
                deliver(&rows)?;
            }
            scan.forget_rows();
        }
        Ok(scan.scanned())
    }
}

impl Buffers {
    fn clear(&mut self) {
        self.ends.clear();
        self.starts.clear();
        self.irregular.clear();
        self.irregular_ends.clear();
    }
}
