//! Reads the rows of a sample one after the other.

use super::{Cell, Row, SampleRows};
use crate::charset::BYTE_ORDER_MARK;
use crate::dialect::{Delimiter, Dialect};
use crate::sniff::{ENOUGH_ROWS, MANY_BYTES};
use crate::unquote::{is_blank, within_blanks};
use memchr::{memchr, memchr2};

/// Splits a sample, row by row.
pub(super) struct Splitter<'a, 'd> {
    bytes: &'a [u8],
    pub(super) at: usize,
    /// Whether each byte value ends an unquoted field.
    pub(super) ends_field: [bool; 256],
    line_end: u8,
    blanks_delimit: bool,
    quote: Option<u8>,
    doubled: bool,
    escape: Option<u8>,
    brackets: bool,
    comment: &'d [u8],
    /// Whether the sample ends at the end of the table or of a row.
    ends_at_row: bool,
    /// Whether any quoted field may go on beyond the sample, not only one in its second half.
    pub(super) may_be_cut: bool,
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
    pub(super) fn new(bytes: &'a [u8], dialect: &'d Dialect, ends_at_row: bool) -> Self {
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
            may_be_cut: false,
            rows: SampleRows::default(),
        }
    }

    /// Whether the rows of many bytes suffice.
    pub(super) fn has_enough(&self) -> bool {
        self.at >= MANY_BYTES && self.rows.rows.len() >= ENOUGH_ROWS
    }

    /// The rows below the one that the current position is in.
    pub(super) fn below_first(mut self) -> SampleRows<'a> {
        self.row();
        self.rows = SampleRows::default();
        while self.at < self.bytes.len() {
            self.row();
        }
        self.finish()
    }

    /// The rows, without one that the end of the sample cuts off.
    pub(super) fn finish(mut self) -> SampleRows<'a> {
        if !self.ends_at_row && self.rows.rows.len() > 1 {
            self.rows.rows.pop();
        }
        self.rows
    }

    pub(super) fn row(&mut self) {
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
        self.rows.rows.push(Row { start, end: self.at, indent, cells: first..self.rows.cells.len() });
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
        let Some((at, doubled, escaped)) = self.closing(quote_at + 1) else {
            // A quote that would extend over most of the sample is probably not one.
            let is_cut_off = !self.ends_at_row && (self.may_be_cut || quote_at > self.bytes.len() / 2);
            self.rows.quotes.unended += usize::from(!self.ends_at_row && !is_cut_off);
            return if is_cut_off { Quoted::CutOff } else { Quoted::Malformed };
        };
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

    /// The position of the quote that ends the field with a byte at `at`, whether quotes before it are doubled (0 or
    /// 1), and the number of escapes; `None` if the sample ends first.
    pub(super) fn closing(&self, mut at: usize) -> Option<(usize, usize, usize)> {
        let (quote, mut doubled, mut escaped) = (self.quote?, 0, 0);
        loop {
            let rest = self.bytes.get(at..)?;
            at += match self.escape {
                Some(escape) => memchr2(quote, escape, rest)?,
                None => memchr(quote, rest)?,
            };
            if Some(self.bytes[at]) == self.escape {
                escaped += 1;
            } else if self.doubled && self.bytes.get(at + 1) == Some(&quote) {
                doubled = 1;
            } else {
                return Some((at, doubled, escaped));
            }
            at += 2;
        }
    }

    /// Whether the byte at `at` would have a meaning if it were not escaped.
    fn is_special(&self, at: usize) -> bool {
        let Some(&byte) = self.bytes.get(at) else { return false };
        self.ends_field[usize::from(byte)] || Some(byte) == self.quote || Some(byte) == self.escape
    }

    /// The first position from `at` on that is not a blank, or is a delimiter.
    pub(super) fn after_blanks(&self, mut at: usize) -> usize {
        let skips = |byte: u8| is_blank(byte) && (self.blanks_delimit || !self.ends_field[usize::from(byte)]);
        while self.bytes.get(at).is_some_and(|byte| skips(*byte)) {
            at += 1;
        }
        at
    }

    /// Whether a row ends at `at`: at a line end, at the carriage return before it, or at the end of the sample.
    pub(super) fn row_ends_at(&self, at: usize) -> bool {
        match self.bytes.get(at) {
            None => true,
            Some(b'\r') => self.line_end == b'\r' || self.bytes.get(at + 1).is_none_or(|byte| *byte == b'\n'),
            Some(&byte) => byte == self.line_end,
        }
    }

    fn line_ends_at(&self, at: usize) -> usize {
        let rest = &self.bytes[at.min(self.bytes.len())..];
        at + memchr(self.line_end, rest).unwrap_or(rest.len())
    }
}
