//! A scan in progress: tells rows, irregular rows and skipped lines apart, window by window.

use super::scanner::{Buffers, Piece, RowScanner, Scanned};
use super::{EmptyLines, IrregularRow, Reason, RowOptions, Rows, field};
use crate::charset::BYTE_ORDER_MARK;
use crate::unquote::within_blanks;
use brc_core::SkippedLines;
use brc_kernels::cpu::Level;
use brc_kernels::structure::{Cursor, FieldEnd, State, Syntax, scan};
use memchr::{memchr, memchr_iter};

/// How much text is scanned at once, in bytes: the resulting field ends should fit in the L2 cache.
const WINDOW: usize = 32 << 10;

/// A position and the number of lines before it.
#[derive(Debug, Clone, Copy)]
struct LinePosition {
    at: usize,
    before: u64,
}

/// A scan in progress.
pub(super) struct Scan<'a> {
    level: Level,
    syntax: &'a Syntax,
    options: &'a RowOptions,
    buffers: &'a mut Buffers,
    text: &'a [u8],
    last: bool,
    cursor: Cursor,
    /// The number of the cursor's rows that have been classified.
    rows_done: usize,
    /// The start of the incomplete row.
    row: usize,
    /// The lines before that row or an earlier one.
    lines: LinePosition,
    /// The number of leading ends that are fields of regular rows.
    kept: usize,
    /// The number of leading ends that belong to classified rows.
    done: usize,
    skip: bool,
    skipped_lines: SkippedLines,
}

/// The words of a comment that may be names.
fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| b" \t\r\n,;|".contains(byte)).filter(|word| !word.is_empty())
}

/// Whether a row without its line feed repeats the header. The files of a concatenation may begin with a byte order
/// mark and differ in their line ends.
#[inline(always)]
fn repeats(row: &[u8], header: &[u8]) -> bool {
    // Nearly all rows differ in their length.
    row.len().wrapping_sub(header.len()) <= BYTE_ORDER_MARK.len() + 1 && {
        let row = row.strip_prefix(BYTE_ORDER_MARK).unwrap_or(row);
        row.strip_suffix(b"\r").unwrap_or(row) == header
    }
}

impl<'a> Scan<'a> {
    pub(super) fn new(scanner: &'a mut RowScanner, piece: Piece<'a>) -> Self {
        let RowScanner { level, syntax, options, buffers } = scanner;
        let mut scan = Self {
            level: *level,
            syntax,
            options,
            buffers,
            text: piece.text,
            last: piece.last,
            cursor: Cursor::START,
            rows_done: 0,
            row: 0,
            lines: LinePosition { at: 0, before: 0 },
            kept: 0,
            done: 0,
            skip: piece.skip,
            skipped_lines: SkippedLines::default(),
        };
        if piece.skip {
            scan.skip_line();
        }
        scan
    }

    /// The rows that can be delivered.
    pub(super) fn rows(&self) -> Rows<'_> {
        Rows {
            text: self.text,
            syntax: self.syntax,
            columns: self.options.columns,
            starts: &self.buffers.starts,
            ends: &self.buffers.ends[..self.kept],
            irregular: &self.buffers.irregular,
            irregular_ends: &self.buffers.irregular_ends,
        }
    }

    pub(super) fn forget_rows(&mut self) {
        self.buffers.ends.drain(..self.done);
        (self.kept, self.done) = (0, 0);
        self.buffers.starts.clear();
        self.buffers.irregular.clear();
        self.buffers.irregular_ends.clear();
    }

    /// The result, after the last call of [`Scan::advance`].
    pub(super) fn scanned(&self) -> Scanned {
        Scanned { bytes: self.row, lines: self.lines.before, skipped_lines: self.skipped_lines, skip: self.skip }
    }

    /// Scans the next window of text. Returns whether there is more to do.
    pub(super) fn advance(&mut self) -> bool {
        let to = self.text.len().min(self.cursor.at.saturating_add(WINDOW));
        let result = scan(self.level, self.syntax, self.text, &mut self.cursor, to, &mut self.buffers.ends);
        let at_end = result.is_ok() && self.last && to == self.text.len();
        if at_end {
            self.end_last_row();
        }
        if !self.take_rows() {
            return true;
        }
        if let Err(malformed) = result {
            return self.take_malformed(malformed.at);
        }
        if self.cursor.at - self.row > self.options.max_row {
            self.reject_line(None);
        } else if at_end {
            self.reject_last_row();
        }
        self.cursor.at < self.text.len()
    }

    /// Ends the last row of the whole text without a line end, if possible.
    fn end_last_row(&mut self) {
        use State::*;
        match self.cursor.state {
            RowStart | Quoted | QuotedEscape | AfterQuoteReturn | Skip => {}
            FieldStart | Padding | Unquoted | UnquotedEscape | UnquotedEscaped | AfterQuote | AfterQuotePadding
            | Bracketed | AfterBracket | HalfComment | Comment => {
                let end = FieldEnd::new(self.text.len(), true, self.cursor.state.is_quoted());
                self.buffers.ends.push(end);
                self.cursor.rows += 1;
                self.cursor.state = RowStart;
            }
        }
    }

    /// Rejects the last row of the whole text, if it could not end.
    fn reject_last_row(&mut self) {
        if self.cursor.state.is_inside_quotes() {
            self.reject_line(Some(Reason::Unclosed));
        } else if self.row < self.text.len() {
            // Only a CR follows a closing quote.
            self.add_irregular(self.text.len(), Reason::Malformed { at: self.text.len() - 1 });
            self.resume(self.text.len(), self.cursor.lines);
        }
    }

    /// Classifies the rows that have ended. Returns whether all were classified; if not, reading resumes within one of
    /// them.
    fn take_rows(&mut self) -> bool {
        let row = self.row;
        let rows = self.cursor.rows - self.rows_done;
        let regular = if self.are_regular(rows) { self.take_regular(rows) } else { 0 };
        let all = (regular..rows).all(|_| self.take_row());
        self.rows_done = self.cursor.rows;
        if all && self.row > row {
            self.row = self.row.min(self.text.len());
            // The incomplete row starts in this window, so the text to count lines in is short.
            let under_way = self.count_lines(self.row..self.cursor.at);
            self.lines = LinePosition { at: self.row, before: self.cursor.lines - under_way };
        }
        all
    }

    /// Whether all rows that have ended are regular, which is the common case.
    fn are_regular(&self, rows: usize) -> bool {
        let RowOptions { columns, max_row, empty_lines, .. } = *self.options;
        let any_line_is_a_row = empty_lines == EmptyLines::Row && self.syntax.comment().is_none();
        // The number of row ends is known: if there is one at each expected position, there are none elsewhere.
        let ends = &self.buffers.ends;
        self.cursor.at - self.row <= max_row
            && !self.syntax.has_blanks()
            && (columns > 1 || any_line_is_a_row)
            && rows * columns <= ends.len()
            && ends.chunks_exact(columns).take(rows).all(|row| row[columns - 1].is_row_end())
    }

    /// Keeps these rows, which are regular, up to one that repeats the header. Returns their number.
    fn take_regular(&mut self, rows: usize) -> usize {
        let columns = self.options.columns;
        let header = self.options.header.as_deref();
        let mut taken = 0;
        for ends in self.buffers.ends[..rows * columns].chunks_exact(columns) {
            let end = ends[columns - 1].offset();
            if header.is_some_and(|header| repeats(&self.text[self.row..end], header)) {
                break;
            }
            self.buffers.starts.push(self.row as u32);
            self.row = end + 1;
            taken += 1;
        }
        self.kept = taken * columns;
        self.done = self.kept;
        taken
    }

    /// Classifies one row. Returns whether it ends at its line end; if not, reading resumes within it.
    fn take_row(&mut self) -> bool {
        let count = self.buffers.ends[self.done..].iter().position(|end| end.is_row_end()).map_or(0, |last| last + 1);
        let all = count;
        let count = if self.syntax.has_blanks() { self.drop_empty(count) } else { count };
        let ends = self.done..self.done + count;
        let last = self.buffers.ends[ends.end - 1];
        let end = self.text.len().min(last.offset() + 1);
        if end - self.row > self.options.max_row {
            self.reject_line(None);
            return false;
        }
        let is_empty = count == 1 && self.is_empty(last);
        let buffers = &mut *self.buffers;
        let reason = if self.syntax.is_comment(&self.text[self.row..]) {
            self.skipped_lines.comments += u64::from(!self.options.report_comments);
            self.skipped_lines.renamings += u64::from(self.names_others(&self.text[self.row..end]));
            self.options.report_comments.then_some(Reason::Comment)
        } else if self.options.empty_lines != EmptyLines::Row && is_empty {
            let is_reported = self.options.empty_lines == EmptyLines::Report;
            self.skipped_lines.blank += u64::from(!is_reported);
            is_reported.then_some(Reason::Empty)
        } else if self.options.header.as_deref().is_some_and(|it| repeats(&self.text[self.row..last.offset()], it)) {
            self.skipped_lines.repeated_headers += 1;
            None
        } else if count == self.options.columns {
            buffers.ends.copy_within(ends, self.kept);
            self.kept += count;
            buffers.starts.push(self.row as u32);
            None
        } else {
            buffers.irregular_ends.extend_from_slice(&buffers.ends[ends]);
            Some(Reason::Columns { found: count })
        };
        self.done += all;
        if let Some(reason) = reason {
            self.add_irregular(end, reason);
        }
        self.row = end;
        true
    }

    /// Whether a comment names other columns than the one that names those of the table: as many, and mostly the same.
    fn names_others(&self, comment: &[u8]) -> bool {
        let Some(names) = &self.options.names else { return false };
        let prefix = comment.iter().take_while(|byte| b"#%/-".contains(byte)).count();
        let (names, others): (Vec<&[u8]>, Vec<&[u8]>) = (words(names).collect(), words(&comment[prefix..]).collect());
        let known = others.iter().filter(|word| names.contains(word)).count();
        names.len() == others.len() && names != others && 2 * known >= names.len()
    }

    /// Drops the empty fields between blanks from the next `count` ends, which are one row. Returns the number of
    /// remaining ends, from 1 to the number of columns.
    fn drop_empty(&mut self, count: usize) -> usize {
        let ends = &mut self.buffers.ends[self.done..self.done + count];
        let (mut kept, mut start) = (0, self.row);
        for index in 0..count {
            let end = ends[index];
            let is_empty = !end.is_quoted() && field(self.syntax, self.text, start, end).bytes.is_empty();
            start = end.offset() + 1;
            if !is_empty {
                ends[kept] = end;
                kept += 1;
            }
        }
        // The blanks after the last field belong to it.
        let row_end = ends[count - 1].offset();
        let last = kept.saturating_sub(1);
        ends[last] = FieldEnd::new(row_end, true, kept > 0 && ends[last].is_quoted());
        self.take_rest(kept.max(1), row_end)
    }

    /// If blanks delimit fields, a row with too many fields has blanks in its last value, as file names and command
    /// lines do: merges all fields from the last column on.
    fn take_rest(&mut self, count: usize, row_end: usize) -> usize {
        let columns = self.options.columns;
        if columns < 2 || count <= columns {
            return count;
        }
        self.buffers.ends[self.done + columns - 1] = FieldEnd::new(row_end, true, false);
        columns
    }

    /// Whether the only field of a row has no bytes, or, unless it may be a value, nothing but blanks.
    fn is_empty(&self, end: FieldEnd) -> bool {
        let bytes = field(self.syntax, self.text, self.row, end).bytes;
        !end.is_quoted() && (bytes.is_empty() || self.options.columns > 1 && within_blanks(bytes).is_empty())
    }

    /// Handles a malformed byte in the current row, after which the cursor is. Returns whether there is more to do.
    fn take_malformed(&mut self, at: usize) -> bool {
        let line_end = memchr(self.syntax.line_end().byte(), &self.text[self.cursor.at..]);
        let end = line_end.map_or(self.text.len(), |offset| self.cursor.at + offset + 1);
        if end - self.row > self.options.max_row {
            self.reject_line(None);
        } else if line_end.is_some() || self.last {
            self.add_irregular(end, Reason::Malformed { at });
            let lines = self.cursor.lines + u64::from(line_end.is_some());
            self.resume(end, lines);
        } else {
            return false;
        }
        self.cursor.at < self.text.len()
    }

    /// Rejects the first line of the current row, and resumes after it. Without a reason, the row is too long.
    fn reject_line(&mut self, reason: Option<Reason>) {
        let most = self.text.len().min(self.row.saturating_add(self.options.max_row));
        let line_end = memchr(self.syntax.line_end().byte(), &self.text[self.row..]);
        let end = line_end.map_or(self.text.len(), |offset| self.row + offset + 1);
        // A row extends beyond a line end only inside quotes, or after an escape.
        let is_quoted = || end <= most || self.is_inside_quotes(most);
        let reason = reason.unwrap_or_else(|| if is_quoted() { Reason::QuotedTooLong } else { Reason::TooLong });
        self.add_irregular(end.min(most), reason);
        self.skip = line_end.is_none() && !self.last;
        let lines = self.lines.before + u64::from(line_end.is_some());
        self.resume(end, lines);
    }

    /// Whether a byte after the start of the current row is inside quotes.
    fn is_inside_quotes(&self, at: usize) -> bool {
        let mut cursor = Cursor { at: self.row, ..Cursor::START };
        // After a malformed field no quote is open.
        let _ = scan(self.level, self.syntax, self.text, &mut cursor, at, &mut Vec::new());
        cursor.state.is_inside_quotes()
    }

    /// Skips the rest of a rejected line.
    fn skip_line(&mut self) {
        let line_end = memchr(self.syntax.line_end().byte(), self.text);
        self.skip = line_end.is_none() && !self.last;
        let end = line_end.map_or(self.text.len(), |offset| offset + 1);
        self.resume(end, u64::from(line_end.is_some()));
    }

    /// Continues with a new row, and discards the ends of the current one.
    fn resume(&mut self, at: usize, lines: u64) {
        self.buffers.ends.truncate(self.done);
        self.row = at;
        self.lines = LinePosition { at, before: lines };
        self.cursor = Cursor { at, state: State::RowStart, rows: self.cursor.rows, lines };
        self.rows_done = self.cursor.rows;
    }

    /// Records the current row, which ends at `end`, as irregular.
    fn add_irregular(&mut self, end: usize, reason: Reason) {
        let before = self.lines.before + self.count_lines(self.lines.at..self.row);
        self.lines = LinePosition { at: self.row, before };
        let first = self.buffers.irregular.last().map_or(0, |row| row.ends.end);
        let ends = first..self.buffers.irregular_ends.len();
        let (bytes, start) = (self.row..end, self.row as u32);
        self.buffers.irregular.push(IrregularRow { bytes, lines_before: before, reason, start, ends });
    }

    fn count_lines(&self, bytes: std::ops::Range<usize>) -> u64 {
        memchr_iter(self.syntax.line_end().byte(), &self.text[bytes]).count() as u64
    }
}
