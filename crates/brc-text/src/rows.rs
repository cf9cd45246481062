//! Splits text into rows of a table with a known number of columns.
//!
//! [`structure`](brc_kernels::structure) finds fields, without knowing how many a row has. A [`RowScanner`] returns
//! [`Rows`], a batch in which every row has one field per column, so that column parsers need no checks, and everything
//! else as [`IrregularRow`]s with their bytes, line and [`Reason`]. No text is lost: each byte belongs to a row, an
//! irregular row or a skipped line.
//!
//! # Blanks
//! If runs of spaces and tabs separate fields, there are no empty fields, and the last column takes the rest of the line.
//! The bytes of a field in [`Rows::ends`] may begin and end with blanks, which [`Rows::field`] strips.
//!
//! # Unclosed quotes
//! A quote that is never closed would make the rest of the text one field. A row is therefore limited to
//! [`max_row`](RowOptions::max_row) bytes; if it is longer, or the text ends inside quotes, only its first line is rejected,
//! and reading resumes at the next. That depends on the text alone, not on how it is split.
//!
//! # Splitting
//! A scanner starts at the beginning of a row. A [`Chain`] splits text that arrives in chunks at row ends, for parallel work.

mod chain;
mod scanner;

pub use chain::{Chain, Cut};
pub use scanner::{Piece, RowScanner, Scanned};

use brc_kernels::fields::FieldColumn;
use brc_kernels::structure::{FieldEnd, LineEnd, Syntax};
use std::fmt;
use std::ops::Range;

/// What is a row of a table, and what is not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowOptions {
    /// How many fields a row has; at least 1.
    pub columns: usize,
    /// The longest row, in bytes with its line end.
    pub max_row: usize,
    /// What to do with lines without a byte.
    pub empty_lines: EmptyLines,
    /// Whether comment lines are handed over, as irregular rows.
    pub report_comments: bool,
}

impl RowOptions {
    /// The longest row, unless said otherwise: 16 MiB.
    pub const MAX_ROW: usize = 16 << 20;

    /// For a table of so many columns: empty lines and comments are skipped.
    #[must_use]
    pub fn new(columns: usize) -> Self {
        Self { columns, max_row: Self::MAX_ROW, empty_lines: EmptyLines::Skip, report_comments: false }
    }
}

/// What to do with lines without a byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmptyLines {
    /// They are left out.
    Skip,
    /// They are irregular rows.
    Report,
    /// They are rows with one empty field, which in a table of one column is a value.
    Row,
}

/// A row that is not one of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IrregularRow {
    /// Where it is in the text, with its line end; of a row that does not end its first line, up to the longest row.
    pub bytes: Range<usize>,
    /// How many lines of the text come before it. Line ends in quotes count.
    pub lines_before: u64,
    /// What is wrong with it.
    pub reason: Reason,
    /// Its start, as [`Rows::starts`] has it.
    start: u32,
    /// Which of [`Rows::irregular_ends`] are its fields; none but with [`Reason::Columns`].
    ends: Range<usize>,
}

/// Why a row is not one of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// It has too few fields or too many.
    Columns {
        /// How many it has.
        found: usize,
    },
    /// A closing quote is followed by something else than a delimiter or line end.
    Malformed {
        /// The place of that in the text, in bytes.
        at: usize,
    },
    /// A quote is not closed before the end of the text, or of the longest row.
    Unclosed,
    /// A line longer than the longest row.
    TooLong,
    /// A comment line.
    Comment,
    /// A line without a byte.
    Empty,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Columns { found: 1 } => write!(f, "1 column"),
            Self::Columns { found } => write!(f, "{found} columns"),
            Self::Malformed { .. } => f.write_str("text after a closing quote"),
            Self::Unclosed => f.write_str("a quote is never closed"),
            Self::TooLong => f.write_str("the line is too long"),
            Self::Comment => f.write_str("a comment"),
            Self::Empty => f.write_str("an empty line"),
        }
    }
}

/// A field as it stands in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field<'a> {
    /// Its bytes, with quotes and escapes.
    pub bytes: &'a [u8],
    /// Whether it has quotes around it or escapes in it: [`unquote`](crate::unquote::unquote()) gives its value.
    /// Otherwise its bytes are its value.
    pub is_quoted: bool,
    /// The text from the field's first byte on, far beyond the field: what reads more than it needs may read there.
    pub(crate) tail: &'a [u8],
}

impl Field<'_> {
    /// Without the blanks around it, which are delimiters.
    #[cold]
    fn without_blanks(self) -> Self {
        let is_data = |byte: &u8| !matches!(byte, b' ' | b'\t');
        let start = self.bytes.iter().position(is_data).unwrap_or(self.bytes.len());
        let end = self.bytes.iter().rposition(is_data).map_or(start, |last| last + 1);
        Self { bytes: &self.bytes[start..end], tail: &self.tail[start..], ..self }
    }
}

/// Some rows of the table, and what stands between them.
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
    /// How many rows there are, without the irregular ones.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// The text that all offsets are meant for.
    #[must_use]
    pub fn text(&self) -> &'a [u8] {
        self.text
    }

    /// Where each row starts, in bytes of the text.
    #[must_use]
    pub fn starts(&self) -> &'a [u32] {
        self.starts
    }

    /// The ends of the fields: that of column `c` in row `r` is at `r * columns + c`. A field starts behind the end
    /// before it, the first one at the row's [start](Self::starts). The last field may have a CR too much: see
    /// [`Self::field`].
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

    /// The fields of a column in some of the rows.
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

    /// A column of one of the [irregular rows](Self::irregular), if the row has as many.
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

    /// What is not a row of the table, in the order of the text.
    #[must_use]
    pub fn irregular(&self) -> &'a [IrregularRow] {
        self.irregular
    }

    /// The fields of one of the [irregular rows](Self::irregular) with [`Reason::Columns`]; others have none.
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
    /// The text that they lie in.
    pub(crate) fn text(&self) -> &'a [u8] {
        self.fields.text
    }

    /// How many there are, one a row.
    pub(crate) fn len(&self) -> usize {
        self.fields.starts.len()
    }

    /// The same for kernels, which take what is between two of these quotes for a value; `None` if there may be blanks
    /// around fields that are delimiters.
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

/// Whether a row's last field, if it ends with a CR, does so with the first byte of the line end.
fn is_crlf(syntax: &Syntax, text: &[u8], end: FieldEnd) -> bool {
    syntax.line_end() == LineEnd::Lf && end.offset() < text.len()
}
