//! Puts the rows of a clustered row group back in their original order.
//!
//! The order stream has the run of each row, as rows lay originally. The next row of a run is the next one of it, so one walk
//! tells where each row lies, and every column is gathered from there.

use super::cluster::starts;
use super::column::{PIECE, ScanColumn};
use super::decoder::DecodedStrings;
use super::reader::Reader;
use super::rows::Rows;
use super::runs::Runs;
use crate::block::Cost;
use crate::place::Place;
use crate::v2::integers::BLOCK_ROWS;
use brc_core::{Batch, Data, Result, Sink, for_integers};
use std::time::Instant;

/// Delivers all rows of a clustered row group.
pub(super) fn deliver(
    reader: &Reader,
    index: usize,
    key: usize,
    columns: &mut [ScanColumn<'_>],
    cost: &mut Cost,
    sink: &mut dyn Sink,
) -> Result<()> {
    let runs = Runs::load(reader, index, cost)?;
    let read = |column: &mut ScanColumn<'_>| Rows::read(column, index, Some(&runs), cost);
    let clustered = columns.iter_mut().map(read).collect::<Result<Vec<_>>>()?;
    let mut restored: Vec<_> = clustered.iter().map(|_| (Rows::default(), DecodedStrings::default())).collect();
    walk(reader, index, &runs, cost, |codes, places| {
        for ((column, clustered), (rows, strings)) in columns.iter().zip(&clustered).zip(&mut restored) {
            // The key has one value for each run.
            let gathered = rows.gather(clustered, if column.column == key { codes } else { places }, strings);
            let place = Place::Data { row_group: index, column: reader.footer.name(column.column), block: 0 };
            gathered.map_err(|reason| reader.corrupt(place, reason))?;
        }
        let lent = columns.iter().zip(&restored);
        let lent: Vec<_> = lent.map(|(column, (rows, strings))| rows.lend(strings, column.dictionary())).collect();
        sink.batch(&Batch { rows: places.len(), columns: &lent })
    })
}

/// Calls `each` with the runs and the places of some rows after the others, in their original order.
///
/// # Errors
/// If a row is of no run, or a run has other rows than it should; those of `each`.
pub(super) fn walk(
    reader: &Reader,
    index: usize,
    runs: &Runs,
    cost: &mut Cost,
    mut each: impl FnMut(&[u32], &[u32]) -> Result<()>,
) -> Result<()> {
    let number = reader.footer.order_streams();
    let mut order = ScanColumn::new(reader, reader.column(number)?);
    order.start(index, 0, None, cost)?;
    let mut next = starts(&runs.lengths);
    let ends: Vec<u32> = next.iter().zip(&runs.lengths).map(|(start, length)| start + length).collect();
    let (mut codes, mut places) = (Vec::with_capacity(PIECE), Vec::with_capacity(PIECE));
    let rows = reader.row_group(index).rows as usize;
    for (block, start) in (0..rows).step_by(BLOCK_ROWS).enumerate() {
        let of_block = BLOCK_ROWS.min(rows - start);
        order.load(block, of_block, cost)?;
        for first in (0..of_block).step_by(PIECE) {
            let started = Instant::now();
            order.decode(first..of_block.min(first + PIECE), None)?;
            codes.clear();
            let Data::Integers(decoded) = order.as_column().data else { continue };
            for_integers!(decoded, values => codes.extend(values.iter().map(|&code| code as u32)));
            places.clear();
            let mut are_there = true;
            places.extend(codes.iter().map(|&code| match next.get_mut(code as usize) {
                Some(place) => {
                    *place += 1;
                    are_there &= *place <= ends[code as usize];
                    *place - 1
                }
                None => {
                    are_there = false;
                    0
                }
            }));
            if !are_there {
                let place = Place::Data { row_group: index, column: reader.footer.name(number), block };
                return Err(reader.corrupt(place, "the order of rows is not that of the runs"));
            }
            cost.decode_time += started.elapsed();
            each(&codes, &places)?;
        }
    }
    Ok(())
}
