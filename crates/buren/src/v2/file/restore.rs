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
use super::scanner::{FileScanner, is_met};
use crate::block::Cost;
use crate::place::Place;
use crate::v2::integers::BLOCK_ROWS;
use brc_core::{Batch, Column, Data, Result, Sink, for_integers};
use brc_kernels::cpu::Level;
use brc_kernels::filter::{row_numbers, valid_bits, words};
use std::time::Instant;

impl FileScanner<'_> {
    /// Delivers the rows of a clustered row group, or those that meet all conditions. Of other rows only the columns of conditions
    /// are put in order.
    pub(super) fn restore(&mut self, index: usize, key: usize, sink: &mut dyn Sink) -> Result<()> {
        let (reader, conjuncts) = (self.reader, &self.options.conjuncts);
        let known = |column| reader.known_of(index, column);
        let tests: Vec<usize> = (0..conjuncts.len()).filter(|&test| !is_met(&conjuncts[test], known)).collect();
        let runs = Runs::load(reader, index, &mut self.cost)?;
        let mut columns: Vec<_> = self.columns.iter_mut().map(|column| Restored::new(column, key)).collect();
        let (mut bits, mut wanted) = (Vec::new(), Wanted::default());
        walk(reader, index, &runs, &mut self.cost, |codes, places, cost| {
            let mut at = Places { row_group: index, runs: &runs, codes, places };
            bits.clear();
            bits.extend((0..words(places.len())).map(|word| valid_bits(places.len(), word)));
            columns.iter_mut().for_each(|column| column.is_at_hand = false);
            let mut left = places.len();
            for &test in &tests {
                let tested = &self.tested[test];
                tested.iter().try_for_each(|&position| columns[position].bring(&at, cost))?;
                let lent: Vec<_> = tested.iter().map(|&position| columns[position].lend()).collect();
                left = sink.test(test, &Batch { rows: places.len(), columns: &lent }, &mut bits)?;
                if left == 0 {
                    return Ok(());
                }
            }
            if left < places.len() {
                (at.codes, at.places) = wanted.of(&bits, codes, places);
                columns.iter_mut().for_each(|column| column.is_at_hand = false);
            }
            columns.iter_mut().try_for_each(|column| column.bring(&at, cost))?;
            let lent: Vec<_> = columns.iter().map(Restored::lend).collect();
            let batch = Batch { rows: left, columns: &lent };
            if conjuncts.is_empty() { sink.batch(&batch) } else { sink.tested(&batch, None) }
        })
    }
}

/// Where some rows of a clustered row group lie.
struct Places<'a> {
    row_group: usize,
    runs: &'a Runs,
    /// The run of each.
    codes: &'a [u32],
    places: &'a [u32],
}

/// Memory for the runs and the places of rows that meet conditions.
#[derive(Default)]
struct Wanted {
    rows: Vec<u32>,
    codes: Vec<u32>,
    places: Vec<u32>,
}

impl Wanted {
    /// Those of the rows whose bits are set.
    fn of(&mut self, bits: &[u64], codes: &[u32], places: &[u32]) -> (&[u32], &[u32]) {
        let Self { rows, codes: own_codes, places: own_places } = self;
        row_numbers(Level::best(), bits, rows);
        for (own, all) in [(&mut *own_codes, codes), (&mut *own_places, places)] {
            own.clear();
            own.extend(rows.iter().map(|&row| all[row as usize]));
        }
        (own_codes, own_places)
    }
}

/// A column, of which some rows are in their original order.
struct Restored<'a, 'r> {
    column: &'a mut ScanColumn<'r>,
    is_key: bool,
    /// All rows as they lie, once they are wanted.
    clustered: Option<Rows>,
    rows: Rows,
    strings: DecodedStrings,
    /// Whether these are the rows that are wanted next.
    is_at_hand: bool,
}

impl<'a, 'r> Restored<'a, 'r> {
    fn new(column: &'a mut ScanColumn<'r>, key: usize) -> Self {
        let (is_key, rows, strings) = (column.column == key, Rows::default(), DecodedStrings::default());
        Self { column, is_key, clustered: None, rows, strings, is_at_hand: false }
    }

    /// Replaces the rows by those at some places, unless they are at hand.
    fn bring(&mut self, at: &Places<'_>, cost: &mut Cost) -> Result<()> {
        if self.is_at_hand {
            return Ok(());
        }
        let clustered = match self.clustered.take() {
            Some(clustered) => clustered,
            None => Rows::read(self.column, at.row_group, Some(at.runs), cost)?,
        };
        // The key has one value for each run.
        let places = if self.is_key { at.codes } else { at.places };
        let gathered = self.rows.gather(&clustered, places, &mut self.strings);
        (self.clustered, self.is_at_hand) = (Some(clustered), true);
        gathered.map_err(|reason| self.column.corrupt_at(at.row_group, reason))
    }

    fn lend(&self) -> Column<'_> {
        self.rows.lend(&self.strings, self.column.dictionary())
    }
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
    mut each: impl FnMut(&[u32], &[u32], &mut Cost) -> Result<()>,
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
            each(&codes, &places, cost)?;
        }
    }
    Ok(())
}
