//! Goes through a text and hands over its rows.

use super::{EmptyLines, IrregularRow, Reason, RowOptions, Rows, field};
use brc_kernels::cpu::Level;
use brc_kernels::structure::{Cursor, FieldEnd, State, Syntax, scan};
use memchr::{memchr, memchr_iter};

/// How much text is scanned at once: its fields' ends should fit the second-level cache.
const WINDOW: usize = 32 << 10;

/// Text to scan.
#[derive(Debug, Clone, Copy)]
pub struct Piece<'a> {
    /// It starts at the start of a row, and has at most [`MAX_TEXT`](brc_kernels::structure::MAX_TEXT) bytes.
    pub text: &'a [u8],
    /// It starts in a line that was rejected as too long: what is left of that is skipped.
    pub skip: bool,
    /// The whole text ends with it, and so does the last row, with or without a line end.
    pub last: bool,
}

/// How far a scan came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scanned {
    /// How many bytes were used up. What follows is one row that is not finished; nothing in the [last](Piece::last)
    /// piece.
    pub bytes: usize,
    /// The line ends in these bytes.
    pub lines: u64,
    /// Comment lines that were skipped.
    pub comments: u64,
    /// Lines without a byte that were skipped.
    pub blank: u64,
    /// Whether the next piece starts in a rejected line.
    pub skip: bool,
}

/// Finds the rows of a table in text. It is best kept for the next text: its buffers are reused.
#[derive(Debug)]
pub struct RowScanner {
    level: Level,
    syntax: Syntax,
    options: RowOptions,
    buffers: Buffers,
}

/// What has been found and not handed over.
#[derive(Debug, Default)]
struct Buffers {
    /// The fields of the rows, then of those that were not looked at, and of the row under way.
    ends: Vec<FieldEnd>,
    starts: Vec<u32>,
    irregular: Vec<IrregularRow>,
    irregular_ends: Vec<FieldEnd>,
}

impl RowScanner {
    /// For tables that are written so.
    ///
    /// # Panics
    /// If the table has no columns, or a row may be 0 bytes long.
    #[must_use]
    pub fn new(level: Level, syntax: Syntax, options: RowOptions) -> Self {
        assert!(options.columns > 0 && options.max_row > 0, "a row has at least a column and a byte");
        Self { level, syntax, options, buffers: Buffers::default() }
    }

    /// What means what in the text.
    #[must_use]
    pub fn syntax(&self) -> &Syntax {
        &self.syntax
    }

    /// What is a row.
    #[must_use]
    pub fn options(&self) -> &RowOptions {
        &self.options
    }

    /// Hands over all rows that end in a piece of text, some thousand at once, with what stands between them.
    ///
    /// # Errors
    /// Those of `deliver`, which end the scan.
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
        let Scan { row: bytes, skip, comments, blank, .. } = scan;
        Ok(Scanned { bytes, lines: scan.lines.before, comments, blank, skip })
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

/// How many lines come before a byte.
#[derive(Debug, Clone, Copy)]
struct Lines {
    at: usize,
    before: u64,
}

/// A scan under way.
struct Scan<'a> {
    level: Level,
    syntax: &'a Syntax,
    options: &'a RowOptions,
    buffers: &'a mut Buffers,
    text: &'a [u8],
    last: bool,
    cursor: Cursor,
    /// How many of the cursor's rows have been looked at.
    rows_done: usize,
    /// Where the row under way starts.
    row: usize,
    /// The lines before that row or an earlier one.
    lines: Lines,
    /// How many of the ends are fields of regular rows.
    kept: usize,
    /// How many of the ends are those and of rows that have been looked at.
    done: usize,
    skip: bool,
    comments: u64,
    blank: u64,
}

impl<'a> Scan<'a> {
    fn new(scanner: &'a mut RowScanner, piece: Piece<'a>) -> Self {
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
            lines: Lines { at: 0, before: 0 },
            kept: 0,
            done: 0,
            skip: piece.skip,
            comments: 0,
            blank: 0,
        };
        if piece.skip {
            scan.skip_line();
        }
        scan
    }

    /// What may be handed over.
    fn rows(&self) -> Rows<'_> {
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

    fn forget_rows(&mut self) {
        self.buffers.ends.drain(..self.done);
        (self.kept, self.done) = (0, 0);
        self.buffers.starts.clear();
        self.buffers.irregular.clear();
        self.buffers.irregular_ends.clear();
    }

    /// Scans a window. Returns whether there is more to do.
    fn advance(&mut self) -> bool {
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

    /// Lets the last row of the whole text end without a line end, if it can.
    fn end_last_row(&mut self) {
        use State::*;
        match self.cursor.state {
            RowStart | Quoted | QuotedEscape | AfterQuoteReturn | Skip => {}
            FieldStart | Unquoted | UnquotedEscape | UnquotedEscaped | AfterQuote | Bracketed | AfterBracket
            | HalfComment | Comment => {
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
            // Only a CR stands behind a closing quote.
            self.add_irregular(self.text.len(), Reason::Malformed { at: self.text.len() - 1 });
            self.resume(self.text.len(), self.cursor.lines);
        }
    }

    /// Looks at the rows that have ended. Returns whether it did so to the last: reading may have to resume in one of
    /// them.
    fn take_rows(&mut self) -> bool {
        let row = self.row;
        let rows = self.cursor.rows - self.rows_done;
        let all = if self.are_regular(rows) {
            let columns = self.options.columns;
            for ends in self.buffers.ends[..rows * columns].chunks_exact(columns) {
                self.buffers.starts.push(self.row as u32);
                self.row = ends[columns - 1].offset() + 1;
            }
            self.kept = rows * columns;
            self.done = self.kept;
            true
        } else {
            (0..rows).all(|_| self.take_row())
        };
        self.rows_done = self.cursor.rows;
        if all && self.row > row {
            self.row = self.row.min(self.text.len());
            // A row that starts in this window has but little text so far, however long it may become.
            let under_way = self.count_lines(self.row..self.cursor.at);
            self.lines = Lines { at: self.row, before: self.cursor.lines - under_way };
        }
        all
    }

    /// Whether the rows that have ended are all of the table, as they nearly always are.
    fn are_regular(&self, rows: usize) -> bool {
        let RowOptions { columns, max_row, empty_lines, .. } = *self.options;
        let any_line_is_a_row = empty_lines == EmptyLines::Row && self.syntax.comment().is_none();
        // As there are just so many ends of rows, those that are where they should be leave none for other places.
        let ends = &self.buffers.ends;
        self.cursor.at - self.row <= max_row
            && !self.syntax.has_blanks()
            && (columns > 1 || any_line_is_a_row)
            && rows * columns <= ends.len()
            && ends.chunks_exact(columns).take(rows).all(|row| row[columns - 1].is_row_end())
    }

    /// Looks at one row. Returns whether it ends where its line ends say; if not, reading resumes in it.
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
            self.comments += u64::from(!self.options.report_comments);
            self.options.report_comments.then_some(Reason::Comment)
        } else if self.options.empty_lines != EmptyLines::Row && is_empty {
            let is_reported = self.options.empty_lines == EmptyLines::Report;
            self.blank += u64::from(!is_reported);
            is_reported.then_some(Reason::Empty)
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

    /// Drops the empty fields between blanks from the next `count` ends, which are a row. Returns how many are left: one
    /// at least, and as many as there are columns at most.
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
        // The blanks behind the last field belong to it.
        let row_end = ends[count - 1].offset();
        let last = kept.saturating_sub(1);
        ends[last] = FieldEnd::new(row_end, true, kept > 0 && ends[last].is_quoted());
        self.take_rest(kept.max(1), row_end)
    }

    /// Where blanks delimit fields, a row of more fields than columns has blanks in its last value, as names of files and
    /// command lines do: takes all fields from the last column on for one.
    fn take_rest(&mut self, count: usize, row_end: usize) -> usize {
        let columns = self.options.columns;
        if columns < 2 || count <= columns {
            return count;
        }
        self.buffers.ends[self.done + columns - 1] = FieldEnd::new(row_end, true, false);
        columns
    }

    fn is_empty(&self, end: FieldEnd) -> bool {
        !end.is_quoted() && field(self.syntax, self.text, self.row, end).bytes.is_empty()
    }

    /// The row under way turned out to be malformed at a byte, behind which the cursor is. Returns whether there is
    /// more to do.
    fn take_malformed(&mut self, at: usize) -> bool {
        let line_end = memchr(self.syntax.line_end().byte(), &self.text[self.cursor.at..]);
        let end = line_end.map_or(self.text.len(), |place| self.cursor.at + place + 1);
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

    /// Rejects the first line of the row under way, and resumes behind it. Without a reason it is that the row is too
    /// long.
    fn reject_line(&mut self, reason: Option<Reason>) {
        let most = self.text.len().min(self.row.saturating_add(self.options.max_row));
        let line_end = memchr(self.syntax.line_end().byte(), &self.text[self.row..]);
        let end = line_end.map_or(self.text.len(), |place| self.row + place + 1);
        // A row goes on behind a line end only in quotes, or behind an escape.
        let reason = reason.unwrap_or(if end <= most { Reason::Unclosed } else { Reason::TooLong });
        self.add_irregular(end.min(most), reason);
        self.skip = line_end.is_none() && !self.last;
        let lines = self.lines.before + u64::from(line_end.is_some());
        self.resume(end, lines);
    }

    /// Skips the rest of a line that was rejected.
    fn skip_line(&mut self) {
        let line_end = memchr(self.syntax.line_end().byte(), self.text);
        self.skip = line_end.is_none() && !self.last;
        let end = line_end.map_or(self.text.len(), |place| place + 1);
        self.resume(end, u64::from(line_end.is_some()));
    }

    /// Goes on with a new row, whatever has been found of the one under way.
    fn resume(&mut self, at: usize, lines: u64) {
        self.buffers.ends.truncate(self.done);
        self.row = at;
        self.lines = Lines { at, before: lines };
        self.cursor = Cursor { at, state: State::RowStart, rows: self.cursor.rows, lines };
        self.rows_done = self.cursor.rows;
    }

    /// The row under way is irregular, and ends at `end`.
    fn add_irregular(&mut self, end: usize, reason: Reason) {
        let before = self.lines.before + self.count_lines(self.lines.at..self.row);
        self.lines = Lines { at: self.row, before };
        let first = self.buffers.irregular.last().map_or(0, |row| row.ends.end);
        let ends = first..self.buffers.irregular_ends.len();
        let (bytes, start) = (self.row..end, self.row as u32);
        self.buffers.irregular.push(IrregularRow { bytes, lines_before: before, reason, start, ends });
    }

    fn count_lines(&self, bytes: std::ops::Range<usize>) -> u64 {
        memchr_iter(self.syntax.line_end().byte(), &self.text[bytes]).count() as u64
    }
}
