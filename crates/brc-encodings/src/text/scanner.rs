//! Scans the splits of a text for one worker.

use super::pieces::Pieces;
use super::table::TextTable;
use super::{BadRow, LONGEST_LINE, Rows, strip_carriage_return};
use brc_core::{
    Batch, Column, Reject, Result, RowFault, ScanError, ScanOptions, Scanned, Scanner, Schema, Sink, Split,
};
use memchr::memchr;
use std::time::{Duration, Instant};

/// How many rows are gathered before they are delivered: as many as stay in the first-level cache.
pub(crate) const BATCH_ROWS: usize = 4096;

pub(super) struct TextScanner<'t> {
    table: &'t TextTable,
    pieces: Pieces<'t>,
    rows: Box<dyn Rows>,
    projection: Vec<usize>,
}

impl<'t> TextScanner<'t> {
    pub(super) fn new(table: &'t TextTable, options: &ScanOptions, pieces: Pieces<'t>) -> Self {
        let rows = table.layout.rows(&table.schema, &options.projection);
        Self { table, pieces, rows, projection: options.projection.clone() }
    }
}

impl Scanner for TextScanner<'_> {
    fn scan(&mut self, split: &Split, sink: &mut dyn Sink) -> Result<Option<Scanned>, ScanError> {
        let before = Instant::now();
        let mut delivery = Delivery {
            schema: &self.table.schema,
            keep_rejects: self.table.keep_rejects,
            projection: &self.projection,
            sink,
            sink_time: Duration::ZERO,
            lines: 0,
            scanned: Scanned::default(),
        };
        if !self.pieces.start(split)? {
            return Ok(None);
        }
        while let Some(piece) = self.pieces.next()? {
            if piece.cut_off {
                let bad = BadRow { column: None, fault: RowFault::LineTooLong(LONGEST_LINE) };
                delivery.bad_row(piece.window.text(), piece.byte, bad)?;
                delivery.lines += 1;
            } else {
                self.rows.take(&piece, &mut delivery)?;
            }
        }
        let Delivery { mut scanned, sink_time, .. } = delivery;
        let cost = self.pieces.cost();
        scanned.bytes = cost.bytes;
        scanned.read_time = cost.read_time;
        scanned.decompress_time = cost.decompress_time;
        scanned.decode_time = before.elapsed().saturating_sub(cost.read_time + cost.decompress_time + sink_time);
        Ok(Some(scanned))
    }
}

/// Where the rows of a split go.
pub(crate) struct Delivery<'a> {
    pub(crate) schema: &'a Schema,
    keep_rejects: bool,
    projection: &'a [usize],
    sink: &'a mut dyn Sink,
    sink_time: Duration,
    /// The lines of the split so far, good and bad.
    pub(crate) lines: u64,
    scanned: Scanned,
}

impl Delivery<'_> {
    /// Hands over rows, given as all columns of the schema.
    pub(crate) fn batch(&mut self, rows: usize, columns: &[Column<'_>]) -> Result<(), ScanError> {
        if rows == 0 {
            return Ok(());
        }
        let projected: Vec<_> = self.projection.iter().map(|&column| columns[column]).collect();
        let before = Instant::now();
        self.sink.batch(&Batch { rows, columns: &projected })?;
        self.sink_time += before.elapsed();
        self.scanned.rows += rows as u64;
        Ok(())
    }

    /// Sets a bad row aside, or fails.
    pub(crate) fn bad_row(&mut self, line: &[u8], byte: u64, bad: BadRow) -> Result<(), ScanError> {
        let line_in_split = self.lines;
        if !self.keep_rejects {
            return Err(ScanError::BadRow { line_in_split, byte, column: bad.column, fault: bad.fault });
        }
        let text = &line[..line.len().min(LONGEST_LINE + 1)];
        self.scanned.rejects.push(Reject { line_in_split, byte, text });
        Ok(())
    }
}

/// The first line of some whole rows, without its end, and its length with it.
pub(crate) fn first_line(text: &[u8]) -> (&[u8], usize) {
    match memchr(b'\n', text) {
        Some(end) => (strip_carriage_return(&text[..end]), end + 1),
        None => (text, text.len()),
    }
}
