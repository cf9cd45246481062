//! Scans the splits of a text for one worker.

use super::pieces::Pieces;
use super::table::TextTable;
use super::{BadRow, LONGEST_LINE, RowParser, strip_carriage_return};
use crate::delivery;
use brc_core::{
    Column, Reject, Rejects, Result, RowFault, ScanError, ScanOptions, Scanned, Scanner, Schema, Sink, SkippedLines,
    Split,
};
use brc_text::BYTE_ORDER_MARK;
use memchr::memchr;
use std::time::Instant;

/// The number of rows collected before they are delivered: they stay in the L1 cache.
pub(crate) const BATCH_ROWS: usize = 4096;

pub(super) struct TextScanner<'t> {
    table: &'t TextTable,
    pieces: Pieces<'t>,
    rows: Box<dyn RowParser>,
    options: ScanOptions,
}

impl<'t> TextScanner<'t> {
    pub(super) fn new(table: &'t TextTable, options: &ScanOptions, pieces: Pieces<'t>) -> Self {
        Self::with(table, options, pieces, table.layout.rows(&table.schema, options))
    }

    /// The same with another parser.
    pub(super) fn with(
        table: &'t TextTable,
        options: &ScanOptions,
        pieces: Pieces<'t>,
        rows: Box<dyn RowParser>,
    ) -> Self {
        Self { table, pieces, rows, options: options.clone() }
    }
}

impl Scanner for TextScanner<'_> {
    fn scan(&mut self, split: &Split, sink: &mut dyn Sink) -> Result<Option<Scanned>, ScanError> {
        let before = Instant::now();
        let mut delivery = TextDelivery {
            schema: &self.table.schema,
            keep_rejects: self.table.keep_rejects,
            rows: delivery::Delivery::new(&self.options, sink),
            lines: 0,
            blank_lines: 0,
            rejects: Rejects::default(),
        };
        if !self.pieces.start(split)? {
            return Ok(None);
        }
        self.rows.begin(delivery.rows.sink)?;
        while let Some(mut piece) = self.pieces.next()? {
            if piece.byte == 0 {
                let before = before_rows(piece.window.text(), self.table.layout.has_header());
                piece.window.advance(before);
                piece.byte += before as u64;
            }
            if piece.cut_off {
                let bad = BadRow { column: None, fault: RowFault::LineTooLong(LONGEST_LINE) };
                let lines = delivery.lines;
                delivery.lines = piece.newlines.map_or(lines, |newlines| newlines.before(piece.byte));
                delivery.bad_row(piece.window.text(), piece.byte, bad)?;
                delivery.lines = lines + 1;
            } else if let Err(error) = self.rows.take(&piece, &mut delivery) {
                if let ScanError::BadRow { .. } = error {
                    // Errors of the sink for earlier rows come first.
                    self.rows.deliver(&mut delivery)?;
                }
                return Err(error);
            }
        }
        self.rows.end()?;
        let TextDelivery { rows, rejects, lines, blank_lines, .. } = delivery;
        let cost = self.pieces.cost();
        let elsewhere = cost.read_time + cost.decompress_time + rows.sink_time;
        let scanned = Scanned {
            rows: rows.rows,
            rejects,
            lines: Some(self.pieces.lines().unwrap_or(lines)),
            skipped_lines: SkippedLines { blank: blank_lines, ..SkippedLines::default() },
            bytes: cost.bytes,
            read_time: cost.read_time,
            decompress_time: cost.decompress_time,
            decode_time: before.elapsed().saturating_sub(elsewhere),
            ..Scanned::default()
        };
        Ok(Some(scanned))
    }

    fn finish(&mut self, sink: &mut dyn Sink) -> Result<()> {
        self.rows.finish(sink)
    }
}

/// The destination of the rows of a split.
pub(crate) struct TextDelivery<'a> {
    pub(crate) schema: &'a Schema,
    keep_rejects: bool,
    rows: delivery::Delivery<'a>,
    /// The lines of the split so far, valid and malformed.
    pub(crate) lines: u64,
    /// The blank lines among them, with nothing but spaces.
    pub(crate) blank_lines: u64,
    rejects: Rejects,
}

impl TextDelivery<'_> {
    /// Delivers rows, given all columns of the schema.
    pub(crate) fn batch(&mut self, rows: usize, columns: &[Column<'_>]) -> Result<(), ScanError> {
        self.rows.batch(rows, columns).map_err(|error| error.among(&self.rejects).into())
    }

    /// Counts rows that are added up and delivered at the end.
    pub(crate) fn aggregated(&mut self, rows: usize) {
        self.rows.rows += rows as u64;
    }

    /// Sets a malformed row aside, or fails.
    pub(crate) fn bad_row(&mut self, line: &[u8], byte: u64, bad: BadRow) -> Result<(), ScanError> {
        let line_in_split = self.lines;
        if !self.keep_rejects {
            return Err(ScanError::BadRow { line_in_split, byte, column: bad.column, fault: bad.fault });
        }
        let text = &line[..line.len().min(LONGEST_LINE + 1)];
        self.rejects.push(Reject { line_in_split, byte, text });
        Ok(())
    }
}

/// The number of bytes before the first row.
fn before_rows(text: &[u8], has_header: bool) -> usize {
    let mark = if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
    let header = if has_header { first_line(&text[mark..]).1 } else { 0 };
    mark + header
}

/// The first line of some whole rows, without its end, and its length with it.
pub(crate) fn first_line(text: &[u8]) -> (&[u8], usize) {
    match memchr(b'\n', text) {
        Some(end) => (strip_carriage_return(&text[..end]), end + 1),
        None => (text, text.len()),
    }
}
