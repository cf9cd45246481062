//! Scans the splits of a text for one worker.

use super::general::GeneralRows;
use super::pieces::{FilePieces, Piece};
use super::plain::PlainRows;
use super::row::BadRow;
use super::stream::{Stream, StreamPieces};
use super::table::TextTable;
use super::{LONGEST_LINE, row};
use brc_core::{
    Batch, Column, DataType, Reject, Result, RowFault, ScanError, ScanOptions, Scanned, Scanner, Schema, Sink, Split,
};
use brc_kernels::cpu::Level;
use memchr::memchr;
use std::time::{Duration, Instant};

/// How many rows are gathered before they are delivered: as many as stay in the first-level cache.
pub(super) const BATCH_ROWS: usize = 4096;

pub(super) enum Source<'t> {
    File(FilePieces<'t>),
    Stream(&'t Stream, StreamPieces),
}

pub(super) struct TextScanner<'t> {
    table: &'t TextTable,
    source: Source<'t>,
    rows: Rows,
    projection: Vec<usize>,
}

/// How rows are read: both ways give the same rows.
enum Rows {
    /// A string and a decimal of scale 1, by the kernels.
    Plain(Box<PlainRows>),
    /// Any columns, one row after the other.
    General(GeneralRows),
}

impl<'t> TextScanner<'t> {
    pub(super) fn new(table: &'t TextTable, options: &ScanOptions, source: Source<'t>) -> Self {
        let types: Vec<_> = table.schema.fields().iter().map(|field| field.data_type).collect();
        let rows = if types == [DataType::String, DataType::Decimal { scale: 1 }] {
            // Nobody wants to see single rows: each name's can be added up.
            let fold = options.statistics && options.predicate.is_none() && options.projection == [0, 1];
            Rows::Plain(Box::new(PlainRows::new(Level::best(), table.separator, fold)))
        } else {
            Rows::General(GeneralRows::new(&table.schema))
        };
        Self { table, source, rows, projection: options.projection.clone() }
    }
}

impl Scanner for TextScanner<'_> {
    fn scan(&mut self, split: &Split, sink: &mut dyn Sink) -> Result<Option<Scanned>, ScanError> {
        let before = Instant::now();
        let mut delivery = Delivery {
            schema: &self.table.schema,
            separator: self.table.separator,
            keep_rejects: self.table.keep_rejects,
            projection: &self.projection,
            sink,
            sink_time: Duration::ZERO,
            lines: 0,
            scanned: Scanned::default(),
        };
        match &mut self.source {
            Source::File(pieces) => {
                pieces.start(split);
                while let Some(piece) = pieces.next()? {
                    self.rows.take(&piece, &mut delivery)?;
                }
                delivery.scanned.bytes = pieces.bytes_read;
                delivery.scanned.read_time = pieces.read_time;
            }
            Source::Stream(stream, pieces) => {
                if !stream.read(split, pieces)? {
                    return Ok(None);
                }
                while let Some(piece) = pieces.next() {
                    self.rows.take(&piece, &mut delivery)?;
                }
                delivery.scanned.bytes = pieces.bytes_read;
                delivery.scanned.read_time = pieces.read_time;
            }
        }
        let Delivery { mut scanned, sink_time, .. } = delivery;
        scanned.decode_time = before.elapsed().saturating_sub(scanned.read_time + sink_time);
        Ok(Some(scanned))
    }

    fn finish(&mut self, sink: &mut dyn Sink) -> Result<()> {
        match &mut self.rows {
            Rows::Plain(rows) => rows.finish(sink),
            Rows::General(_) => Ok(()),
        }
    }
}

impl Rows {
    fn take(&mut self, piece: &Piece<'_>, delivery: &mut Delivery<'_>) -> Result<(), ScanError> {
        if piece.cut_off {
            let bad = BadRow { column: None, fault: RowFault::LineTooLong(LONGEST_LINE) };
            delivery.bad_row(piece.window.text(), piece.byte, bad)?;
            delivery.lines += 1;
            return Ok(());
        }
        match self {
            Self::Plain(rows) => rows.take(piece, delivery),
            Self::General(rows) => rows.take(piece, delivery),
        }
    }
}

/// Where the rows of a split go.
pub(super) struct Delivery<'a> {
    pub(super) schema: &'a Schema,
    pub(super) separator: u8,
    keep_rejects: bool,
    projection: &'a [usize],
    sink: &'a mut dyn Sink,
    sink_time: Duration,
    /// The lines of the split so far, good and bad.
    pub(super) lines: u64,
    scanned: Scanned,
}

impl Delivery<'_> {
    /// Hands over rows, given as all columns of the schema.
    pub(super) fn batch(&mut self, rows: usize, columns: &[Column<'_>]) -> Result<(), ScanError> {
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

    /// Counts rows that are added up.
    pub(super) fn folded(&mut self, rows: usize) {
        self.scanned.rows += rows as u64;
    }

    /// Sets a bad row aside, or fails.
    pub(super) fn bad_row(&mut self, line: &[u8], byte: u64, bad: BadRow) -> Result<(), ScanError> {
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
pub(super) fn first_line(text: &[u8]) -> (&[u8], usize) {
    match memchr(b'\n', text) {
        Some(end) => (row::strip_carriage_return(&text[..end]), end + 1),
        None => (text, text.len()),
    }
}
