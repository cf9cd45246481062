//! Splits text into rows of a table with a known number of columns.
//!
//! [`structure`](brc_kernels::structure) finds fields without knowing how many a row should have. A [`RowScanner`]
//! returns batches of [`Rows`], in which every row has one field per column, so that column parsers need no checks.
//! Everything else is returned as [`IrregularRow`]s with their bytes, line and [`Reason`]. No text is lost: each byte
//! belongs to a row, an irregular row or a skipped line: a comment, an empty line, or the header again.
//!
//! # Blanks
//! If runs of spaces and tabs separate fields, there are no empty fields, and the last column takes the rest of the
//! line. The fields in [`Rows::ends`] may then start and end with blanks, which [`Rows::field`] strips.
//!
//! # Unclosed quotes
//! A quote that is never closed would turn the rest of the text into one field. A row is therefore limited to
//! [`max_row`](RowOptions::max_row) bytes. If the text ends inside quotes, only the first line of the row is rejected,
//! and reading resumes at the next line. So it does after the first line of a row that is longer, but then these lines
//! may be part of a field: its [`Reason::QuotedTooLong`] should end the run. The result depends on the text alone, not
//! on how it is split.
//!
//! # Splitting
//! A scanner starts at a row start. A [`Chain`] splits a stream of chunks at row ends, for parallel work.

mod chain;
mod scan;
mod scanner;

pub use chain::{Chain, Cut};
pub use scanner::{Piece, RowScanner, Scanned};

use crate::unquote::within_blanks;
use brc_kernels::fields::FieldColumn;
use brc_kernels::structure::{FieldEnd, LineEnd, Syntax};
use std::fmt;
use std::ops::Range;

/// What counts as a row of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowOptions {
    /// The number of fields of a row; at least 1.
    pub columns: usize,
    /// The maximum length of a row in bytes, including its line end.
    pub max_row: usize,
    /// The treatment of lines without bytes.
    pub empty_lines: EmptyLines,
    /// Whether comment lines are returned as irregular rows.
    pub report_comments: bool,
    /// The comment that names the columns, without its prefix.
    pub names: Option<Vec<u8>>,
    /// The header without its line end. Rows that repeat it, as in concatenated files, are skipped.
    pub header: Option<Vec<u8>>,
}

impl RowOptions {
    /// The default maximum length of a row: 16 MiB.
    pub const MAX_ROW: usize = 16 << 20;

    /// Options for a table with `columns` columns; empty lines and comments are skipped.
    #[must_use]
    pub fn new(columns: usize) -> Self {
        Self {
            columns,
            max_row: Self::MAX_ROW,
            empty_lines: EmptyLines::Skip,
            report_comments: false,
            names: None,
            header: None,
        }
    }
}

/// The treatment of lines without bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmptyLines {
    /// Skip them.
    Skip,
    /// Return them as irregular rows.
    Report,
    /// Treat them as rows with one empty field, which is a value in a table of one column.
    Row,
}

/// A row that does not belong to the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IrregularRow {
    /// Its byte range in the text, including the line end. A row that does not end in its first line is cut at the
    /// maximum row length.
    pub bytes: Range<usize>,
    /// The number of lines before it in the text. Line ends in quotes count.
    pub lines_before: u64,
    /// What is wrong with it.
    pub reason: Reason,
    /// The start offset, as in [`Rows::starts`].
    start: u32,
    /// Its fields in [`Rows::irregular_ends`]; empty except with [`Reason::Columns`].
    ends: Range<usize>,
}

/// Why a row does not belong to the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// Too few or too many fields.
    Columns {
        /// The number of fields.
        found: usize,
    },
    /// A closing quote is followed by something other than a delimiter or a line end.
    Malformed {
        /// The byte offset of that in the text.
        at: usize,
    },
    /// A quote is not closed before the end of the text.
    Unclosed,
    /// A row exceeds the maximum row length inside quotes, which are never closed, or enclose too much. The lines after
    /// its first one are delivered as if they were rows.
    QuotedTooLong,
    /// A line exceeds the maximum row length outside quotes.
    TooLong,
    /// A comment line.
    Comment,
    /// A line without bytes.
    Empty,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Columns { found: 1 } => write!(f, "1 column"),
            Self::Columns { found } => write!(f, "{found} columns"),
            Self::Malformed { .. } => f.write_str("text after a closing quote"),
            Self::Unclosed => f.write_str("a quote is never closed"),
            Self::QuotedTooLong => f.write_str("the row is too long inside quotes"),
            Self::TooLong => f.write_str("the line is too long"),
            Self::Comment => f.write_str("a comment"),
            Self::Empty => f.write_str("an empty line"),
        }
    }
}

/// A raw field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field<'a> {
    /// The bytes, including quotes and escapes.
    pub bytes: &'a [u8],
    /// Whether the field is quoted or contains escapes, so that [`unquote`](crate::unquote::unquote()) is needed to get
    /// its value. Otherwise the bytes are the value.
    pub is_quoted: bool,
    /// The text from the field's first byte to far after the field, so that wide loads may read past the field.
    pub(crate) tail: &'a [u8],
}

impl Field<'_> {
    /// The field without surrounding blanks, which are delimiters.
    #[cold]
    fn without_blanks(self) -> Self {
        let range = within_blanks(self.bytes);
        Self { bytes: &self.bytes[range.clone()], tail: &self.tail[range.start..], ..self }
    }
}

/// A batch of rows of the table, and the irregular rows between them.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a> {
    text: &'a [u8],
    syntax: &'a Syntax,
    columns: usize,
    starts: &'a [u32],
    ends: &'a [FieldEnd],
    irregular: &'a [IrregularRow],
    irregular_ends: &'a [FieldEnd],
}

impl<'a> Rows<'a> {
    /// The number of rows, without the irregular ones.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// The text that all offsets refer to.
    #[must_use]
    pub fn text(&self) -> &'a [u8] {
        self.text
    }

    /// The start offset of each row in the text.
    #[must_use]
    pub fn starts(&self) -> &'a [u32] {
        self.starts
    }

    /// The ends of the fields: that of column `c` in row `r` is at `r * columns + c`. A field starts one byte after the
    /// previous end, the first one at the row's [start](Self::starts). The last field may include the CR of the line
    /// end; [`Self::field`] strips it.
    #[must_use]
    pub fn ends(&self) -> &'a [FieldEnd] {
        self.ends
    }

    /// A field, without the line end if it is the last one.
    ///
    /// # Panics
    /// If there is no such row or column.
    #[must_use]
    pub fn field(&self, row: usize, column: usize) -> Field<'a> {
        assert!(column < self.columns, "the table has {} columns", self.columns);
        let index = row * self.columns + column;
        let start = if column == 0 { self.starts[row] as usize } else { self.ends[index - 1].offset() + 1 };
        field(self.syntax, self.text, start, self.ends[index])
    }

    /// The fields of a column in a range of rows.
    ///
    /// # Panics
    /// If there is no such column, or not all of these rows.
    pub(crate) fn column(&self, column: usize, rows: Range<usize>) -> ColumnFields<'a> {
        let columns = self.columns;
        assert!(column < columns, "the table has {columns} columns");
        let ends = &self.ends[rows.start * columns..rows.end * columns];
        let may_return = column + 1 == columns && self.syntax.line_end() == LineEnd::Lf;
        let starts = &self.starts[rows];
        let fields = FieldColumn { text: self.text, starts, ends, columns, column, may_return, quote: None };
        ColumnFields { fields, has_blanks: self.syntax.has_blanks() }
    }

    /// A column of one of the [irregular rows](Self::irregular), if the row has that many fields.
    pub(crate) fn irregular_column(&self, row: &'a IrregularRow, column: usize) -> Option<ColumnFields<'a>> {
        let ends = &self.irregular_ends[row.ends.clone()];
        if column >= ends.len() {
            return None;
        }
        let rows = Self { columns: ends.len(), starts: std::slice::from_ref(&row.start), ends, ..*self };
        Some(rows.column(column, 0..1))
    }

    /// The bytes of a row, with its line end.
    ///
    /// # Panics
    /// If there is no such row.
    #[must_use]
    pub fn bytes(&self, row: usize) -> Range<usize> {
        let end = self.ends[(row + 1) * self.columns - 1].offset();
        self.starts[row] as usize..self.text.len().min(end + 1)
    }

    /// The irregular rows, in text order.
    #[must_use]
    pub fn irregular(&self) -> &'a [IrregularRow] {
        self.irregular
    }

    /// The fields of an [irregular row](Self::irregular) with [`Reason::Columns`]; other irregular rows have none.
    pub fn irregular_fields(&self, row: &IrregularRow) -> impl Iterator<Item = Field<'a>> + use<'a> {
        let (text, syntax, mut start) = (self.text, self.syntax, row.bytes.start);
        self.irregular_ends[row.ends.clone()].iter().map(move |&end| {
            let field = field(syntax, text, start, end);
            start = end.offset() + 1;
            field
        })
    }
}

/// The fields of one column.
#[derive(Clone, Copy)]
pub(crate) struct ColumnFields<'a> {
    fields: FieldColumn<'a>,
    has_blanks: bool,
}

impl<'a> ColumnFields<'a> {
    /// The text that contains the fields.
    pub(crate) fn text(&self) -> &'a [u8] {
        self.fields.text
    }

    /// The number of fields, one per row.
    pub(crate) fn len(&self) -> usize {
        self.fields.starts.len()
    }

    /// The fields for kernels, which use the text between a pair of `quote`s as the value; `None` if fields may be
    /// surrounded by blanks that are delimiters.
    pub(crate) fn between(&self, quote: Option<u8>) -> Option<FieldColumn<'a>> {
        (!self.has_blanks).then_some(FieldColumn { quote, ..self.fields })
    }

    /// The field of a row.
    ///
    /// # Panics
    /// If there is no such row.
    #[inline(always)]
    pub(crate) fn get(&self, row: usize) -> Field<'a> {
        let FieldColumn { text, starts, ends, columns, column, may_return, .. } = self.fields;
        let at = row * columns + column;
        let start = if column == 0 { starts[row] as usize } else { ends[at - 1].offset() + 1 };
        let end = ends[at];
        let tail = &text[start..];
        let mut length = end.offset() - start;
        if may_return && end.offset() < text.len() && tail[..length].last() == Some(&b'\r') {
            length -= 1;
        }
        let field = Field { bytes: &tail[..length], is_quoted: end.is_quoted(), tail };
        if self.has_blanks { field.without_blanks() } else { field }
    }
}

fn field<'a>(syntax: &Syntax, text: &'a [u8], start: usize, end: FieldEnd) -> Field<'a> {
    let tail = &text[start..];
    let bytes = &tail[..end.offset() - start];
    let bytes = match bytes {
        [bytes @ .., b'\r'] if end.is_row_end() && is_crlf(syntax, text, end) => bytes,
        _ => bytes,
    };
    let field = Field { bytes, is_quoted: end.is_quoted(), tail };
    if syntax.has_blanks() { field.without_blanks() } else { field }
}

/// Whether a CR at the end of a row's last field belongs to the line end.
fn is_crlf(syntax: &Syntax, text: &[u8], end: FieldEnd) -> bool {
    syntax.line_end() == LineEnd::Lf && end.offset() < text.len()
}
