//! Splits a sample by a candidate dialect.
//!
//! Reading a table is strict; this is not. The splitter continues after malformed input and counts it: that is how a
//! wrong dialect is recognised.

mod splitter;

use crate::dialect::Dialect;
use memchr::memchr;
use splitter::Splitter;
use std::ops::{AddAssign, Range};

/// The rows of a sample.
#[derive(Debug, Default, Clone)]
pub(super) struct SampleRows<'a> {
    rows: Vec<Row>,
    cells: Vec<Cell<'a>>,
    /// The use of quotes in the sample.
    pub(super) quotes: Quotes,
}

#[derive(Debug, Clone)]
struct Row {
    start: usize,
    /// The position after its line end.
    end: usize,
    /// The number of blanks before the first cell, if blanks delimit.
    indent: usize,
    cells: Range<usize>,
}

/// A field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cell<'a> {
    /// The bytes inside the quotes or, without quotes, without the surrounding blanks.
    pub(super) bytes: &'a [u8],
    /// Whether the field is in quotes or brackets.
    pub(super) is_quoted: bool,
    /// Whether there are blanks around the field, outside the quotes.
    pub(super) is_padded: bool,
    /// Whether the raw field starts or ends with a tab.
    pub(super) is_beside_tab: bool,
}

impl<'a> Cell<'a> {
    /// A field without quotes and blanks around it.
    pub(super) fn plain(bytes: &'a [u8]) -> Self {
        Cell { bytes, is_quoted: false, is_padded: false, is_beside_tab: false }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}

/// Counts of quotes and brackets in a sample.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Quotes {
    /// Fields that start and end with a quote.
    pub(super) sound: usize,
    /// Fields that start with a quote but do not end with the next one.
    pub(super) malformed: usize,
    /// Fields that would extend over most of the sample of the file's start, beyond its end. They count as malformed,
    /// too.
    pub(super) unended: usize,
    /// Fields with doubled quotes.
    pub(super) doubled: usize,
    /// Quoted fields with blanks around them.
    pub(super) padded: usize,
    /// Bracketed fields with blanks in them.
    pub(super) bracketed: usize,
    /// Fields that start with a bracket that is not closed.
    pub(super) unclosed: usize,
    /// Escaped bytes.
    pub(super) escaped: usize,
}

impl Quotes {
    /// Whether quotes are ordinary characters: few of the fields that start with one also end with one.
    pub(super) fn are_text(self) -> bool {
        self.malformed > 2 && self.malformed > 2 * self.sound
    }
}

impl AddAssign for Quotes {
    fn add_assign(&mut self, other: Self) {
        self.sound += other.sound;
        self.malformed += other.malformed;
        self.unended += other.unended;
        self.doubled += other.doubled;
        self.padded += other.padded;
        self.bracketed += other.bracketed;
        self.unclosed += other.unclosed;
        self.escaped += other.escaped;
    }
}

impl<'a> SampleRows<'a> {
    /// Splits `bytes`, which start at a row. If they do not end at a row end, the last row is dropped unless it is the
    /// only one, and many bytes are not split beyond a sufficient number of rows.
    pub(super) fn split(bytes: &'a [u8], dialect: &Dialect, ends_at_row: bool) -> Self {
        let mut splitter = Splitter::new(bytes, dialect, ends_at_row);
        while splitter.at < bytes.len() && (ends_at_row || !splitter.has_enough()) {
            splitter.row();
        }
        splitter.finish()
    }

    /// Splits `bytes` from the first row on that starts in them; before it, they are outside of quotes. If quoted
    /// fields `may_be_cut`, one that does not end in the sample goes on beyond it.
    pub(super) fn split_from_outside(bytes: &'a [u8], dialect: &Dialect, ends_at_row: bool, may_be_cut: bool) -> Self {
        let mut splitter = Splitter::new(bytes, dialect, ends_at_row);
        splitter.may_be_cut = may_be_cut;
        splitter.below_first()
    }

    /// The same for `bytes` that start in quotes; `None` if these do not end, or not at the end of a field.
    pub(super) fn split_from_inside(bytes: &'a [u8], dialect: &Dialect, ends_at_row: bool) -> Option<Self> {
        let mut splitter = Splitter::new(bytes, dialect, ends_at_row);
        splitter.may_be_cut = true;
        splitter.at = splitter.closing(0)?.0 + 1;
        let ends_field = |at: usize| splitter.row_ends_at(at) || splitter.ends_field[usize::from(bytes[at])];
        let is_end = ends_field(splitter.at) || ends_field(splitter.after_blanks(splitter.at));
        is_end.then(|| splitter.below_first())
    }

    /// Merges the cells from the `width`th on, in rows of this text with more cells.
    pub(super) fn take_rest(&mut self, width: usize, text: &'a [u8]) {
        let offset = |cell: &Cell<'_>| cell.bytes.as_ptr() as usize - text.as_ptr() as usize;
        for Row { cells, .. } in self.rows.iter_mut().filter(|row| row.cells.len() > width) {
            let (first, last) = (cells.start + width - 1, &self.cells[cells.end - 1]);
            // With the quotes around the first and the last of them.
            let start = offset(&self.cells[first]) - usize::from(self.cells[first].is_quoted);
            let rest = start..offset(last) + last.bytes.len() + usize::from(last.is_quoted);
            let bytes = text.get(rest).unwrap_or_default();
            self.cells[first] = Cell::plain(bytes);
            cells.end = first + 1;
        }
    }

    /// Whether the first cell of a row starts further to the right than that of the next row that is not empty.
    pub(super) fn is_indented(&self, index: usize) -> bool {
        let below = self.rows[index + 1..].iter().find(|row| !self.cells[row.cells.start].is_empty());
        below.is_some_and(|below| self.rows[index].indent > below.indent)
    }

    /// Whether two cells of a row without quotes are separated by several bytes.
    pub(super) fn is_aligned(&self, index: usize) -> bool {
        let end = |cell: &Cell<'_>| cell.bytes.as_ptr_range().end as usize;
        let is_apart = |pair: &[Cell<'_>]| pair[1].bytes.as_ptr() as usize > end(&pair[0]) + 1;
        let row = self.row(index);
        !row.iter().any(|cell| cell.is_quoted) && row.windows(2).any(is_apart)
    }

    /// Whether a field without quotes contains this byte.
    pub(super) fn have_unquoted(&self, byte: u8) -> bool {
        self.cells.iter().any(|cell| !cell.is_quoted && cell.bytes.contains(&byte))
    }

    /// Whether a quoted field goes on over several lines, which end in this byte.
    pub(super) fn have_lines_in_quotes(&self, line_end: u8) -> bool {
        self.quotes.unended > 0
            || self.cells.iter().any(|cell| cell.is_quoted && memchr(line_end, cell.bytes).is_some())
    }

    /// Removes the rows from the `len`th on.
    pub(super) fn truncate(&mut self, len: usize) {
        self.rows.truncate(len);
    }

    /// The number of rows.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The cells of each row; a row without bytes is one empty cell.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[Cell<'a>]> {
        self.rows.iter().map(|row| &self.cells[row.cells.clone()])
    }

    /// The cells of a row.
    pub(super) fn row(&self, index: usize) -> &[Cell<'a>] {
        &self.cells[self.rows[index].cells.clone()]
    }

    /// Where a row starts.
    pub(super) fn start(&self, index: usize) -> usize {
        self.rows[index].start
    }

    /// The position after a row and its line end.
    pub(super) fn end(&self, index: usize) -> usize {
        self.rows[index].end
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Delimiter;

    fn rows(text: &str, dialect: &Dialect, ends_at_row: bool) -> (Vec<String>, Quotes) {
        let rows = SampleRows::split(text.as_bytes(), dialect, ends_at_row);
        let texts = rows.iter().map(|row| {
            let cells: Vec<String> = row.iter().map(|cell| String::from_utf8_lossy(cell.bytes).into_owned()).collect();
            cells.join("|")
        });
        (texts.collect(), rows.quotes)
    }

    #[test]
    fn rows_are_split_at_line_ends() {
        let (found, quotes) = rows("a,\"b,\n\"\"c\", d \r\n\n,\n", &Dialect::default(), true);
        assert_eq!(found, ["a|b,\n\"\"c|d", "", "|"]);
        assert_eq!(quotes, Quotes { sound: 1, doubled: 1, ..Quotes::default() });
    }

    #[test]
    fn rows_are_split_from_anywhere() {
        let texts = |rows: SampleRows<'_>| rows.iter().map(<[_]>::len).collect::<Vec<_>>();
        let within = b"b, \"\"c\"\"\nd,e\",1\nf,\"g\nh\",2\ni,j,\"k\nl";
        let inside = |text| SampleRows::split_from_inside(text, &Dialect::default(), false).map(texts);
        let outside = |text| texts(SampleRows::split_from_outside(text, &Dialect::default(), false, true));
        assert_eq!(inside(within), Some(vec![3]));
        assert_eq!(outside(within), [3, 3]);
        assert_eq!(inside(b"no quote\n"), None);
        assert_eq!(inside(b"b \"c\" d\n"), None);
        assert_eq!(outside(b"rest,\"of\na row\"\na,b\nc,d\ne"), [2, 2]);
    }

    #[test]
    fn malformed_quotes_are_counted_and_skipped() {
        let (found, quotes) = rows("\"a\"b,c\n \"d\" ,e\n\"f,g\nh,i\n", &Dialect::default(), true);
        assert_eq!(found, ["\"a\"b|c", "d|e", "\"f|g", "h|i"]);
        assert_eq!((quotes.sound, quotes.malformed, quotes.padded), (1, 2, 1));
    }

    #[test]
    fn an_incomplete_row_is_dropped() {
        assert_eq!(rows("a,b\nc,d\ne", &Dialect::default(), false).0, ["a|b", "c|d"]);
        let (found, quotes) = rows("a,b\nc,d\ne,\"f\n,", &Dialect::default(), false);
        assert_eq!((found.len(), quotes.malformed), (2, 0));
        assert_eq!(rows("a,b", &Dialect::default(), false).0, ["a|b"]);
    }

    #[test]
    fn runs_of_blanks_delimit_once() {
        let blanks = Dialect { delimiter: Delimiter::Blanks, ..Dialect::default() };
        assert_eq!(rows("  a \t b\n\"c d\"  e  \n f\n", &blanks, true).0, ["a|b", "c d|e", "f"]);
    }

    #[test]
    fn brackets_may_contain_blanks() {
        let space = Dialect { delimiter: Delimiter::Byte(b' '), brackets: true, ..Dialect::default() };
        let (found, quotes) = rows("a [b c] d\n[]e] [f]\r\n[g h\n", &space, true);
        assert_eq!(found, ["a|b c|d", "]e|f", "[g h"]);
        assert_eq!((quotes.bracketed, quotes.unclosed), (1, 1));
        let plain = Dialect { brackets: false, ..space };
        assert_eq!(rows("a [b c] d\n", &plain, true).0, ["a|[b|c]|d"]);
    }

    #[test]
    fn escapes_and_comments_are_recognised() {
        let dialect = Dialect { escape: Some(b'\\'), comment: Some("#".to_owned()), ..Dialect::default() };
        let (found, quotes) = rows("#x,y\na\\,b,\"c\\\"\"\n", &dialect, true);
        assert_eq!((found, quotes.escaped), (vec!["a\\,b|c\\\"".to_owned()], 2));
    }
}
