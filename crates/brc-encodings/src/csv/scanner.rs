//! Scans a text: splits are parsed into batches of the types that are current, and teach the inference.

use super::source::SplitRows;
use super::split_text::SplitText;
use super::table::CsvTable;
use crate::chunks::ReadCost;
use brc_core::{Batch, Column, Reject, Rejects, Result, RowFault, ScanError, Scanned, Scanner, Sink, Split};
use brc_text::rows::{self, Piece};
use brc_text::typed::{BadRow, Output, TableParser};
use std::time::{Duration, Instant};

/// A scanner of a text.
pub(super) struct CsvScanner<'t> {
    table: &'t CsvTable,
    projection: Vec<usize>,
    parser: TableParser,
    buffer: SplitText,
}

impl<'t> CsvScanner<'t> {
    pub(super) fn new(table: &'t CsvTable, projection: Vec<usize>) -> Self {
        let parser = TableParser::new(table.format.clone(), &table.types().columns, &projection);
        Self { table, projection, parser, buffer: SplitText::default() }
    }
}

impl Scanner for CsvScanner<'_> {
    fn scan(&mut self, split: &Split, sink: &mut dyn Sink) -> Result<Option<Scanned>, ScanError> {
        let Self { table, projection, parser, buffer } = self;
        let mut cost = ReadCost::default();
        let Some(location) = table.source.load(split.index, |index| table.range(index), buffer, &mut cost)? else {
            return Ok(None);
        };
        let before = Instant::now();
        let now = table.types();
        if table.is_inferred {
            sink.schema(&now.schema)?;
        }
        parser.start(&now.columns);
        let mut delivery = SplitOutput::new(table, location, sink);
        let text = if location.is_empty { &[][..] } else { buffer.as_slice() };
        let piece = Piece { text, skip: location.skip, last: location.last };
        let rows::Scanned { lines, skipped_lines, .. } = parser.parse(piece, &mut delivery)?;
        table.learn(&parser.seen());
        if parser.misfits() {
            return Err(ScanError::Widened);
        }
        table.keep_changes(split.index, projection, &now, parser);
        let scanned = Scanned {
            rows: delivery.rows,
            rejects: delivery.rejects,
            lines: Some(lines),
            skipped_lines,
            bytes: cost.bytes,
            read_time: cost.read_time,
            decompress_time: cost.decompress_time,
            decode_time: before.elapsed().saturating_sub(delivery.sink_time),
            ..Scanned::default()
        };
        Ok(Some(scanned))
    }
}

/// The destination of the rows of a split.
struct SplitOutput<'a> {
    keep_rejects: bool,
    /// The offset of the text.
    byte: u64,
    sink: &'a mut dyn Sink,
    sink_time: Duration,
    rows: u64,
    rejects: Rejects,
}

impl<'a> SplitOutput<'a> {
    fn new(table: &CsvTable, location: SplitRows, sink: &'a mut dyn Sink) -> Self {
        let rejects = Rejects::default();
        Self {
            keep_rejects: table.keep_rejects,
            byte: location.byte,
            sink,
            sink_time: Duration::ZERO,
            rows: 0,
            rejects,
        }
    }
}

impl Output for SplitOutput<'_> {
    type Error = ScanError;

    fn batch(&mut self, rows: usize, columns: &[Column<'_>]) -> Result<(), ScanError> {
        let before = Instant::now();
        self.sink.batch(&Batch { rows, columns }).map_err(|error| error.among(&self.rejects))?;
        self.sink_time += before.elapsed();
        self.rows += rows as u64;
        Ok(())
    }

    fn keeps(&self, fault: &RowFault) -> bool {
        self.keep_rejects && !fault.hides_rows()
    }

    fn keep(&mut self, bad: &BadRow<'_>) {
        let byte = self.byte + bad.at as u64;
        self.rejects.push(Reject { line_in_split: bad.lines_before, byte, text: bad.text });
    }

    fn refuse(&mut self, bad: BadRow<'_>) -> ScanError {
        let byte = self.byte + bad.at as u64;
        ScanError::BadRow { line_in_split: bad.lines_before, byte, column: bad.column, fault: bad.fault }
    }
}
