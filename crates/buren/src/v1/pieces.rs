//! Decodes rows piece by piece. A piece is small enough that what is decoded is still in the first-level cache when the
//! sink folds it; per piece there is one call and a little work for each run.

use crate::block::Cost;
use crate::v1::reader::Reader;
use crate::v1::run_table::RunTable;
use crate::v1::runs::RunWalk;
use crate::v1::scan_column::ScanColumn;
use crate::v1::schemes::Frames;
use crate::v1::selection::Span;
use brc_core::{Run, ScanError};
use std::time::Instant;

/// Rows of a piece.
pub(crate) const PIECE: usize = 4096;

/// Decodes a span piece by piece and hands the columns, the runs and the number of rows of each piece on. The column
/// `key` is not decoded: it has one value a run. Without a key all rows are one run.
#[allow(clippy::too_many_arguments)]
pub(crate) fn for_each_piece<'r>(
    reader: &Reader,
    index: usize,
    columns: &mut [ScanColumn<'r>],
    key: Option<usize>,
    runs: &mut RunTable,
    span: Span,
    cost: &mut Cost,
    mut on_piece: impl FnMut(&[ScanColumn<'r>], &[Run], usize) -> Result<(), ScanError>,
) -> Result<(), ScanError> {
    let row_group = reader.row_group(index);
    let rows_per_block = reader.footer().rows_per_block as usize;
    let mut walk = key.map(|_| RunWalk::new(&runs.codes, &runs.rows, span.first_run));
    let mut row = span.first_row as usize;
    let end = row + span.rows as usize;
    while row < end {
        let block = row / rows_per_block;
        let block_start = block * rows_per_block;
        let block_end = end.min(block_start + rows_per_block);
        for column in columns.iter_mut().filter(|column| Some(column.column) != key) {
            column.load(block, cost)?;
        }
        let rows_of_block = block_end - row;
        let mut sampled = false;
        while row < block_end {
            let first = row - block_start;
            let rows = (PIECE - first % PIECE).min(block_end - row);
            let started = (!sampled && (rows == PIECE || row + rows == block_end)).then(Instant::now);
            let of_piece = match &mut walk {
                Some(walk) => walk.take(rows, &mut runs.piece),
                None => {
                    runs.piece.clear();
                    runs.piece.push(Run { code: 0, rows: rows as u32 });
                    0..0
                }
            };
            for column in columns.iter_mut().filter(|column| Some(column.column) != key) {
                let bases = if row_group.has_run_statistics(column.column) {
                    &runs.statistics[column.column].min[of_piece.clone()]
                } else {
                    &[]
                };
                column.decode(first, rows, Frames { chunk: 0, runs: &runs.piece, bases });
                column.translate()?;
            }
            // The clock is read for one piece of a block only, and the others are taken to be like it.
            if let Some(started) = started {
                cost.decode_time += started.elapsed() * rows_of_block as u32 / rows as u32;
                sampled = true;
            }
            on_piece(columns, &runs.piece, rows)?;
            row += rows;
        }
    }
    Ok(())
}

/// Lends a slice of `count` slots that costs no allocation as long as they are few.
pub(crate) fn with_slots<T: Copy, R>(count: usize, empty: T, then: impl FnOnce(&mut [T]) -> R) -> R {
    const FEW: usize = 8;
    if count <= FEW { then(&mut [empty; FEW][..count]) } else { then(&mut vec![empty; count]) }
}
