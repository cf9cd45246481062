//! Splits a sample by a candidate dialect.
//!
//! Reading a table is strict; this is not. The splitter continues after malformed input and counts it: that is how a
//! wrong dialect is recognised.

use crate::charset::BYTE_ORDER_MARK;
use crate::dialect::{Delimiter, Dialect};
use crate::unquote::{is_blank, within_blanks};
use std::ops::{AddAssign, Range};

/// The rows of a sample.
#[derive(Debug, Default)]
pub(super) struct SampleRows<'a> {
    rows: Vec<Row>,
    cells: Vec<Cell<'a>>,
    /// The use of quotes in the sample.
    pub(super) quotes: Quotes,
}

#[derive(Debug)]
struct Row {
    start: usize,
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
    /// Fields that would extend over most of the sample, beyond its end. They count as malformed, too.
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
    /// only one.
    pub(super) fn split(bytes: &'a [u8], dialect: &Dialect, ends_at_row: bool) -> Self {
        let mut splitter = Splitter::new(bytes, dialect, ends_at_row);
        while splitter.at < bytes.len() {
            splitter.row();
        }
        let mut rows = splitter.rows;
        if !ends_at_row && rows.rows.len() > 1 {
            rows.rows.pop();
        }
        rows
    }

    /// Merges the cells from the `width`th on, in rows of this text with more cells.
    pub(super) fn take_rest(&mut self, width: usize, text: &'a [u8]) {
        let offset = |cell: &Cell<'_>| cell.bytes.as_ptr() as usize - text.as_ptr() as usize;
        for Row { cells, .. } in self.rows.iter_mut().filter(|row| row.cells.len() > width) {
            let (first, last) = (cells.start + width - 1, &self.cells[cells.end - 1]);
            let rest = offset(&self.cells[first])..offset(last) + last.bytes.len();
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
}

struct Splitter<'a, 'd> {
    bytes: &'a [u8],
    at: usize,
    /// Whether each byte value ends an unquoted field.
    ends_field: [bool; 256],
    line_end: u8,
    blanks_delimit: bool,
    quote: Option<u8>,
    doubled: bool,
    escape: Option<u8>,
    brackets: bool,
    comment: &'d [u8],
    /// Whether the sample ends at the end of the table or of a row.
    ends_at_row: bool,
    rows: SampleRows<'a>,
}

/// How a field that starts with a quote continues.
enum Quoted<'a> {
    /// It ends with another quote.
    Closed(Cell<'a>),
    /// The sample ends first.
    CutOff,
    /// Its second quote is missing, or not at the end of the field.
    Malformed,
}

impl<'a, 'd> Splitter<'a, 'd> {
    fn new(bytes: &'a [u8], dialect: &'d Dialect, ends_at_row: bool) -> Self {
        let line_end = dialect.line_end.last_byte();
        let mut ends_field = [false; 256];
        ends_field[usize::from(line_end)] = true;
        match dialect.delimiter {
            Delimiter::Byte(byte) => ends_field[usize::from(byte)] = true,
            Delimiter::Blanks => (ends_field[usize::from(b' ')], ends_field[usize::from(b'\t')]) = (true, true),
        }
        Splitter {
            bytes,
            at: 0,
            ends_field,
            line_end,
            blanks_delimit: dialect.delimiter == Delimiter::Blanks,
            quote: dialect.quote,
            doubled: dialect.doubled_quotes,
            escape: dialect.escape.filter(|_| dialect.escape != dialect.quote),
            brackets: dialect.brackets,
            comment: dialect.comment.as_deref().unwrap_or_default().as_bytes(),
            ends_at_row,
            rows: SampleRows::default(),
        }
    }

    fn row(&mut self) {
        let start = self.at;
        if !self.comment.is_empty() && self.bytes[start..].starts_with(self.comment) {
            self.at = self.line_ends_at(start) + 1;
            return;
        }
        if self.bytes[start..].starts_with(BYTE_ORDER_MARK) {
            // A file that was appended to another one starts here.
            self.at += BYTE_ORDER_MARK.len();
        }
        let first = self.rows.cells.len();
        let indent = if self.blanks_delimit { self.after_blanks(start) - start } else { 0 };
        loop {
            if self.blanks_delimit {
                self.at = self.after_blanks(self.at);
                let is_over = self.rows.cells.len() > first && self.row_ends_at(self.at);
                if is_over {
                    self.at = self.line_ends_at(self.at) + 1;
                    break;
                }
            }
            let cell = self.cell();
            self.rows.cells.push(cell);
            let end = self.bytes.get(self.at).copied();
            self.at += 1;
            if end.is_none_or(|byte| byte == self.line_end) {
                break;
            }
        }
        self.at = self.at.min(self.bytes.len());
        self.rows.rows.push(Row { start, indent, cells: first..self.rows.cells.len() });
    }

    /// Reads the field at the current position, and advances to its delimiter or line end, or to the end.
    fn cell(&mut self) -> Cell<'a> {
        let start = self.at;
        let quote_at = self.after_blanks(start);
        if self.quote.is_some() && self.bytes.get(quote_at).copied() == self.quote {
            match self.quoted(quote_at) {
                Quoted::Closed(cell) => return cell,
                Quoted::CutOff => {
                    self.at = self.bytes.len();
                    return Cell {
                        bytes: &self.bytes[quote_at + 1..],
                        is_quoted: true,
                        is_padded: false,
                        is_beside_tab: false,
                    };
                }
                Quoted::Malformed => self.rows.quotes.malformed += 1,
            }
        }
        if self.brackets && self.bytes.get(quote_at) == Some(&b'[') {
            return self.bracketed(quote_at);
        }
        let mut at = start;
        while let Some(&byte) = self.bytes.get(at).filter(|byte| !self.ends_field[usize::from(**byte)]) {
            let escapes = Some(byte) == self.escape && self.is_special(at + 1);
            self.rows.quotes.escaped += usize::from(escapes);
            at += if escapes { 2 } else { 1 };
        }
        self.at = at.min(self.bytes.len());
        let all = &self.bytes[start..self.at];
        let all = if self.row_ends_at(self.at) { all.strip_suffix(b"\r").unwrap_or(all) } else { all };
        let bytes = &all[within_blanks(all)];
        let is_beside_tab = all.starts_with(b"\t") || all.ends_with(b"\t");
        Cell { bytes, is_quoted: false, is_padded: bytes.len() < all.len(), is_beside_tab }
    }

    /// Reads the field at `start`, which starts with a bracket.
    fn bracketed(&mut self, start: usize) -> Cell<'a> {
        let end = self.line_ends_at(start);
        let ends_field = |at: &usize| self.row_ends_at(at + 1) || self.ends_field[usize::from(self.bytes[at + 1])];
        let closing = memchr::memchr_iter(b']', &self.bytes[start..end]).map(|at| start + at).find(ends_field);
        let field_end = closing.map_or(end, |at| at + 1);
        // The CR of a line end does not belong to the field.
        self.at = if self.row_ends_at(field_end) { end } else { field_end };
        let all = &self.bytes[start..field_end];
        let all = all.strip_suffix(b"\r").unwrap_or(all);
        let bytes = if closing.is_some() { &all[1..all.len() - 1] } else { &all[within_blanks(all)] };
        self.rows.quotes.bracketed += usize::from(closing.is_some() && bytes.contains(&b' '));
        self.rows.quotes.unclosed += usize::from(closing.is_none());
        Cell { bytes, is_quoted: closing.is_some(), is_padded: false, is_beside_tab: false }
    }

    /// Reads the field at `quote_at`, which starts with a quote.
    fn quoted(&mut self, quote_at: usize) -> Quoted<'a> {
        let (mut at, mut doubled, mut escaped) = (quote_at + 1, 0, 0);
        loop {
            let Some(&byte) = self.bytes.get(at) else {
                // A quote that would extend over most of the sample is probably not one.
                let is_cut_off = !self.ends_at_row && quote_at > self.bytes.len() / 2;
                self.rows.quotes.unended += usize::from(!self.ends_at_row && !is_cut_off);
                return if is_cut_off { Quoted::CutOff } else { Quoted::Malformed };
            };
            if Some(byte) == self.escape {
                escaped += 1;
                at += 2;
            } else if Some(byte) != self.quote {
                at += 1;
            } else if self.doubled && self.bytes.get(at + 1) == Some(&byte) {
                doubled = 1;
                at += 2;
            } else {
                break;
            }
        }
        let bytes = &self.bytes[quote_at + 1..at];
        let blanks_end = self.after_blanks(at + 1);
        let is_padded = !self.blanks_delimit && (quote_at > self.at || blanks_end > at + 1);
        let is_delimited = self.blanks_delimit && blanks_end > at + 1;
        let end =
            if self.bytes.get(blanks_end) == Some(&b'\r') && self.row_ends_at(blanks_end) && self.line_end == b'\n' {
                blanks_end + 1
            } else {
                blanks_end
            };
        if !is_delimited && self.bytes.get(end).is_some_and(|byte| !self.ends_field[usize::from(*byte)]) {
            return Quoted::Malformed;
        }
        let quotes = &mut self.rows.quotes;
        quotes.sound += 1;
        quotes.doubled += doubled;
        quotes.escaped += escaped;
        quotes.padded += usize::from(is_padded);
        self.at = if is_delimited { at + 1 } else { end };
        Quoted::Closed(Cell { bytes, is_quoted: true, is_padded, is_beside_tab: false })
    }

    /// Whether the byte at `at` would have a meaning if it were not escaped.
    fn is_special(&self, at: usize) -> bool {
        let Some(&byte) = self.bytes.get(at) else { return false };
        self.ends_field[usize::from(byte)] || Some(byte) == self.quote || Some(byte) == self.escape
    }

    /// The first position from `at` on that is not a blank, or is a delimiter.
    fn after_blanks(&self, mut at: usize) -> usize {
        let skips = |byte: u8| is_blank(byte) && (self.blanks_delimit || !self.ends_field[usize::from(byte)]);
        while self.bytes.get(at).is_some_and(|byte| skips(*byte)) {
            at += 1;
        }
        at
    }

    /// Whether a row ends at `at`: at a line end, at the carriage return before it, or at the end of the sample.
    fn row_ends_at(&self, at: usize) -> bool {
        match self.bytes.get(at) {
            None => true,
            Some(b'\r') => self.line_end == b'\r' || self.bytes.get(at + 1).is_none_or(|byte| *byte == b'\n'),
            Some(&byte) => byte == self.line_end,
        }
    }

    fn line_ends_at(&self, at: usize) -> usize {
        let rest = &self.bytes[at.min(self.bytes.len())..];
        at + memchr::memchr(self.line_end, rest).unwrap_or(rest.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
