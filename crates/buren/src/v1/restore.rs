//! Puts the rows of a clustered row group back in their original order.
//!
//! The order stream has the key's code of every original row. The next row with code *k* is the next row of run *k*: a
//! cursor for each run tells where that is, and every other column is gathered from there.

use crate::integer_buffer::{IntegerBuffer, IntegerSlice, for_widths};
use crate::place::Place;
use crate::run_statistics::Detail;
use crate::v1::footer::Cluster;
use crate::v1::pieces::{PIECE, for_each_piece, with_slots};
use crate::v1::scan_column::ScanColumn;
use crate::v1::scanner::BurenScanner;
use crate::v1::schemes::Frames;
use crate::v1::selection::Span;
use brc_core::{Batch, Column, Error, Result, Run, ScanError, Scanned, Sink};
use std::time::Instant;

/// Delivers the rows of a clustered row group in original order.
pub(crate) fn scan(
    scanner: &mut BurenScanner<'_>,
    index: usize,
    cluster: Cluster,
    sink: &mut dyn Sink,
    scanned: &mut Scanned,
) -> Result<(), ScanError> {
    let clustered = decode_clustered(scanner, index, cluster)?;
    let BurenScanner { reader, columns, runs, cost, .. } = scanner;
    let mut order = ScanColumn::new(reader, cluster.key)?;
    order.turn_to(index);
    let mut cursors = Cursors::new(&runs.rows);
    let rows_per_block = reader.footer().rows_per_block as usize;
    let rows = reader.row_group(index).rows as usize;
    let mut row = 0;
    while row < rows {
        let (block, first) = (row / rows_per_block, row % rows_per_block);
        let of_piece = (PIECE - first % PIECE).min(rows - row).min(rows_per_block - first);
        order.load(block, cost)?;
        let started = Instant::now();
        let run = Run { code: 0, rows: of_piece as u32 };
        order.decode(first, of_piece, Frames { chunk: 0, runs: &[run], bases: &[] });
        if !for_widths!(order.values(), codes => cursors.walk(codes)) {
            let place = Place::Data { row_group: index, column: reader.footer().name(cluster.key), block };
            return Err(reader.corrupt(place, "the order stream does not fit the run index").into());
        }
        for (column, clustered) in columns.iter_mut().zip(&clustered) {
            let bases = &runs.statistics[column.column].min;
            if column.column == cluster.key {
                let integers = column.integers_mut();
                integers.clear();
                integers.extend_slice(order.values());
            } else if column.chunk().width > 0 {
                gather(clustered.slice(), &cursors.positions, column.integers_mut());
            } else if bases.is_empty() {
                column.decode(0, of_piece, Frames { chunk: 0, runs: &[], bases: &[] });
            } else {
                gather(IntegerSlice::I64(bases), &cursors.codes, column.integers_mut());
            }
            column.translate()?;
        }
        cost.decode_time += started.elapsed();
        deliver(columns, of_piece, sink)?;
        row += of_piece;
    }
    scanned.rows += rows as u64;
    Ok(())
}

/// Decodes all projected columns but the key. Those of width 0 are left out: they have one value, or one a run.
fn decode_clustered(
    scanner: &mut BurenScanner<'_>,
    index: usize,
    cluster: Cluster,
) -> Result<Vec<IntegerBuffer>, ScanError> {
    let BurenScanner { reader, columns, runs, cost, .. } = scanner;
    runs.want(Detail::Min, columns.iter().map(|column| column.column));
    runs.load(reader, index, cluster, cost)?;
    let span = Span { first_run: 0, first_row: 0, rows: reader.row_group(index).rows };
    let mut clustered = Vec::new();
    for column in columns.iter_mut() {
        column.start(index, cost)?;
        let mut values = IntegerBuffer::default();
        if column.column != cluster.key && column.chunk().width > 0 {
            let column = std::slice::from_mut(column);
            for_each_piece(reader, index, column, Some(cluster.key), runs, span, cost, |columns, _, _| {
                columns.iter().for_each(|column| values.extend_slice(column.values()));
                Ok(())
            })?;
        }
        clustered.push(values);
    }
    Ok(clustered)
}

fn deliver(columns: &[ScanColumn<'_>], rows: usize, sink: &mut dyn Sink) -> Result<(), Error> {
    with_slots(columns.len(), Column::integers(IntegerSlice::I16(&[]).into()), |slots| {
        for (slot, column) in slots.iter_mut().zip(columns) {
            *slot = column.as_column();
        }
        sink.batch(&Batch { rows, columns: slots })
    })
}

/// Where the next row of each run is.
struct Cursors {
    next: Vec<u32>,
    ends: Vec<u32>,
    /// For the rows of the piece at hand, where they lie in clustered order, and their run.
    positions: Vec<u32>,
    codes: Vec<u32>,
}

impl Cursors {
    fn new(rows: &[u32]) -> Self {
        let ends: Vec<u32> = rows
            .iter()
            .scan(0, |end, rows| {
                *end += rows;
                Some(*end)
            })
            .collect();
        let next = ends.iter().zip(rows).map(|(end, rows)| end - rows).collect();
        Self { next, ends, positions: Vec::new(), codes: Vec::new() }
    }

    /// Finds the rows with these codes; false if there is no such run, or it has no more rows.
    fn walk<C: Copy + Into<i64>>(&mut self, codes: &[C]) -> bool {
        self.positions.clear();
        self.codes.clear();
        for &code in codes {
            let code = code.into() as usize;
            let (Some(next), Some(end)) = (self.next.get_mut(code), self.ends.get(code)) else { return false };
            if next == end {
                return false;
            }
            self.positions.push(*next);
            self.codes.push(code as u32);
            *next += 1;
        }
        true
    }
}

/// Replaces `out` by the values at these positions, all of which there are.
fn gather(values: IntegerSlice<'_>, positions: &[u32], out: &mut IntegerBuffer) {
    for_widths!(values, values => pick(values, positions, out.room(positions.len())));
}

fn pick<T: Copy>(values: &[T], positions: &[u32], out: &mut [T]) {
    for (out, &position) in out.iter_mut().zip(positions) {
        *out = values[position as usize];
    }
}
