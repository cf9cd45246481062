//! Delivers the wanted rows of a row group some thousand at a time, which stay in the first-level cache until the sink has
//! taken them. Columns of conditions come first, and no other column is decoded where they leave no row.

use super::column::{BlockPlace, PIECE};
use super::reader::Reader;
use super::scanner::{FileScanner, is_met, known};
use crate::integers::{BLOCK_ROWS, GROUP_ROWS};
use crate::slots::with_slots;
use brc_core::{Batch, Column, Conjunct, Integers, Known, Predicate, Result, Scanned, Sink, Verdict};
use brc_kernels::filter::{valid_bits, words};
use std::ops::Range;

/// Consecutive rows of a row group that are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) rows: Range<usize>,
    /// Whether some of them may not meet the predicate.
    pub(super) is_open: bool,
}

/// So many columns of a batch take no memory from the heap.
const COLUMNS: usize = 8;

/// Which rows of the pieces of a row group, one after the other, lie in stretches.
struct Wanted<'a> {
    /// Those that do not lie before the piece at hand.
    left: &'a [Stretch],
}

/// What is wanted of a piece.
#[derive(Debug, PartialEq, Eq)]
struct OfPiece {
    rows: usize,
    /// Whether some of its rows may not meet the predicate.
    is_open: bool,
}

/// The conditions that have to be tested.
#[derive(Default)]
struct Tests {
    /// Of rows that may not meet the predicate.
    of_open_rows: Vec<usize>,
    /// Of those that do.
    of_all_rows: Vec<usize>,
}

impl<'a> Wanted<'a> {
    /// The rest of the stretches that do not end before a row.
    fn from(&mut self, start: usize) -> &'a [Stretch] {
        while let [first, rest @ ..] = self.left
            && first.rows.end <= start
        {
            self.left = rest;
        }
        self.left
    }

    /// Those of some rows that are wanted, which are not before others that were looked at.
    fn within(&mut self, rows: Range<usize>) -> impl Iterator<Item = Range<usize>> + use<'a> {
        let (start, end) = (rows.start, rows.end);
        let in_rows = self.from(start).iter().take_while(move |stretch| stretch.rows.start < end);
        in_rows.map(move |stretch| stretch.rows.start.max(start)..stretch.rows.end.min(end))
    }

    /// How many they are.
    fn count(&mut self, rows: &Range<usize>) -> usize {
        self.within(rows.clone()).map(|rows| rows.len()).sum()
    }

    /// Sets the bits of those rows of a piece that are wanted, and clears the others.
    fn select(&mut self, piece: &Range<usize>, bits: &mut [u64]) -> OfPiece {
        bits.fill(0);
        let mut found = OfPiece { rows: 0, is_open: false };
        for stretch in self.from(piece.start).iter().take_while(|stretch| stretch.rows.start < piece.end) {
            let rows = stretch.rows.start.max(piece.start) - piece.start..stretch.rows.end.min(piece.end) - piece.start;
            found.rows += rows.len();
            found.is_open |= stretch.is_open;
            set(bits, rows);
        }
        found
    }
}

/// Sets some bits.
fn set(bits: &mut [u64], rows: Range<usize>) {
    if rows.is_empty() {
        return;
    }
    let (first, last) = (rows.start / 64, (rows.end - 1) / 64);
    let (from_first, to_last) = (u64::MAX << (rows.start % 64), u64::MAX >> (63 - (rows.end - 1) % 64));
    if first == last {
        bits[first] |= from_first & to_last;
        return;
    }
    bits[first] |= from_first;
    bits[first + 1..last].fill(u64::MAX);
    bits[last] |= to_last;
}

impl Reader {
    /// How many rows a block of a row group has.
    fn rows_of_block(&self, index: usize, number: usize) -> usize {
        BLOCK_ROWS.min(self.row_group(index).rows as usize - number * BLOCK_ROWS)
    }

    /// What is known of the values of columns in a block of a row group, of which `key` is the cluster key.
    fn known_of_block<'r>(&'r self, index: usize, key: Option<usize>, number: usize) -> impl Fn(usize) -> Known<'r> {
        move |column| match self.chunk(index, column) {
            Some(_) if Some(column) == key => self.known_of(index, column),
            Some(chunk) => match chunk.blocks.get(number) {
                Some(block) => {
                    let rows = self.rows_of_block(index, number) as u32;
                    known(chunk.known_of_block(number), block.nulls, rows)
                }
                None => Known::NOTHING,
            },
            None => Known::NOTHING,
        }
    }
}

impl FileScanner<'_> {
    /// Delivers stretches of rows of a row group, without those of blocks that the predicate rules out. Where it is clustered, `key`
    /// is its cluster key, and its runs are at hand.
    pub(super) fn deliver(
        &mut self,
        index: usize,
        key: Option<usize>,
        stretches: &[Stretch],
        sink: &mut dyn Sink,
        scanned: &mut Scanned,
    ) -> Result<()> {
        let of_block = |number: usize| self.reader.known_of_block(index, key, number);
        let rows_of = |number: usize| self.reader.rows_of_block(index, number);
        let all = self.reader.row_group(index).rows as usize;
        let blocks = self.open_blocks(index, key, stretches);
        self.expect_blocks(index, key, &blocks);
        let of_blocks: usize = blocks.iter().map(|(_, rows)| rows).sum();
        let wanted_rows: usize = stretches.iter().map(|stretch| stretch.rows.len()).sum();
        scanned.skipped_rows += (wanted_rows - of_blocks) as u64;
        let expected = if of_blocks > 0 { self.expected_rows(of_blocks, all) } else { 0 };
        let runs = std::mem::take(&mut self.runs.runs);
        let runs_at_hand = key.map(|_| &runs);
        let mut wanted = Wanted { left: stretches };
        let delivered = blocks.into_iter().try_for_each(|(block, rows)| {
            let place = BlockPlace { row_group: index, expected, block, rows: rows_of(block), runs: runs_at_hand };
            let mut tests = Tests::default();
            for (test, conjunct) in self.options.conjuncts.iter().enumerate() {
                let is_pushed_down = self.is_pushed_down(conjunct);
                let is_of_key = key.is_some_and(|key| conjunct.columns == [key] && is_pushed_down);
                let is_later = self.met.is_some() && conjunct.columns.is_empty();
                if is_of_key && self.runs.key_position.is_some() || is_met(conjunct, of_block(block)) || is_later {
                    continue;
                }
                tests.of_open_rows.push(test);
                if !is_pushed_down {
                    tests.of_all_rows.push(test);
                }
            }
            scanned.rows += rows as u64;
            self.deliver_block(place, &mut wanted, &tests, sink)
        });
        self.runs.runs = runs;
        delivered
    }

    /// The blocks of a row group that have wanted rows and are not ruled out by the predicate, and how many rows those are.
    pub(super) fn open_blocks(&self, index: usize, key: Option<usize>, stretches: &[Stretch]) -> Vec<(usize, usize)> {
        let mut wanted = Wanted { left: stretches };
        let is_open = stretches.iter().any(|stretch| stretch.is_open);
        let all = self.reader.row_group(index).rows as usize;
        let blocks = (0..all.div_ceil(BLOCK_ROWS)).map(|number| {
            let start = number * BLOCK_ROWS;
            (number, wanted.count(&(start..start + self.reader.rows_of_block(index, number))))
        });
        let is_ruled_out =
            |number| is_open && self.decide(self.reader.known_of_block(index, key, number)) == Verdict::Never;
        blocks.filter(|&(number, rows)| rows > 0 && !is_ruled_out(number)).collect()
    }

    /// Whether rows that are known to meet the predicate meet the condition, too.
    fn is_pushed_down(&self, conjunct: &Conjunct) -> bool {
        match (&self.options.predicate, &conjunct.predicate) {
            (Some(Predicate::And(parts)), Some(predicate)) => parts.contains(predicate),
            (Some(all), Some(predicate)) => all == predicate,
            (None, _) | (_, None) => false,
        }
    }

    fn deliver_block(
        &mut self,
        place: BlockPlace<'_>,
        wanted: &mut Wanted<'_>,
        tests: &Tests,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        let start = place.block * BLOCK_ROWS;
        let mut bits = [0; PIECE / 64];
        for first in (0..place.rows).step_by(PIECE) {
            let piece = first..place.rows.min(first + PIECE);
            if self.options.conjuncts.is_empty() {
                for stretch in wanted.within(start + piece.start..start + piece.end) {
                    let rows = stretch.start - start..stretch.end - start;
                    self.bring_all(place, &rows)?;
                    self.hand_over(&rows, |batch| sink.batch(batch))?;
                }
                continue;
            }
            let bits = &mut bits[..words(piece.len())];
            let found = wanted.select(&(start + piece.start..start + piece.end), bits);
            if found.rows > 0 {
                let tests = if found.is_open { &tests.of_open_rows } else { &tests.of_all_rows };
                self.deliver_parts(place, piece, tests, bits, sink)?;
            }
        }
        Ok(())
    }

    /// Delivers those rows of a piece whose bits are set and that meet conditions which are not known to be met. Nothing is
    /// decoded of groups without such a row.
    fn deliver_parts(
        &mut self,
        place: BlockPlace<'_>,
        piece: Range<usize>,
        tests: &[usize],
        rows: &mut [u64],
        sink: &mut dyn Sink,
    ) -> Result<()> {
        const WORDS: usize = GROUP_ROWS / 64;
        let mut have_rows = [false; PIECE.div_ceil(GROUP_ROWS)];
        let groups = have_rows.iter_mut().zip(rows.chunks(WORDS));
        groups.for_each(|(has_rows, group)| *has_rows = group.iter().any(|&word| word != 0));
        let mut first = 0;
        for groups in have_rows[..rows.len().div_ceil(WORDS)].chunk_by(|one, other| one == other) {
            let words = first..rows.len().min(first + groups.len() * WORDS);
            first = words.end;
            if groups[0] {
                let part = piece.start + words.start * 64..piece.end.min(piece.start + words.end * 64);
                self.deliver_part(place, part, tests, &mut rows[words], sink)?;
            }
        }
        Ok(())
    }

    /// Tests which of some rows meet the first of the conditions; delivers or notes them if there is none.
    fn deliver_part(
        &mut self,
        place: BlockPlace<'_>,
        part: Range<usize>,
        tests: &[usize],
        rows: &mut [u64],
        sink: &mut dyn Sink,
    ) -> Result<()> {
        let Some((&test, later)) = tests.split_first() else {
            if let Some(met) = &mut self.met {
                let first = (place.block * BLOCK_ROWS + part.start) / 64;
                met[first..first + rows.len()].copy_from_slice(rows);
                return Ok(());
            }
            self.bring_all(place, &part)?;
            let is_all = rows.iter().enumerate().all(|(index, &word)| word == valid_bits(part.len(), index));
            return self.hand_over(&part, |batch| sink.tested(batch, (!is_all).then_some(rows)));
        };
        for index in 0..self.tested[test].len() {
            let position = self.tested[test][index];
            self.bring(position, place, &part, false)?;
            if self.met.is_some() && sink.wants(position) && self.key_of(position).is_none() {
                self.keep(position, place, &part);
            }
        }
        let columns: Vec<_> = self.tested[test].iter().map(|&position| self.rows_of(position, &part)).collect();
        if sink.test(test, &Batch { rows: part.len(), columns: &columns }, rows)? == 0 {
            return Ok(());
        }
        self.deliver_parts(place, part, later, rows, sink)
    }

    /// Sees to it that rows of a column are decoded, and those of their group before them. A cluster key may come as runs.
    fn bring(&mut self, position: usize, place: BlockPlace<'_>, rows: &Range<usize>, as_runs: bool) -> Result<()> {
        match place.runs {
            Some(runs) if self.key_of(position).is_some() => {
                let start = place.block * BLOCK_ROWS;
                self.runs.key.bring(runs, start + rows.start..start + rows.end, rows.clone(), as_runs);
                Ok(())
            }
            _ => {
                let rows = rows.start / GROUP_ROWS * GROUP_ROWS..rows.end;
                self.columns[position].bring(place, &rows, &mut self.cost)
            }
        }
    }

    /// The same of all columns.
    fn bring_all(&mut self, place: BlockPlace<'_>, rows: &Range<usize>) -> Result<()> {
        (0..self.columns.len()).try_for_each(|position| self.bring(position, place, rows, true))
    }

    /// Keeps rows of a column that are decoded, until those that meet all conditions are put back in order.
    fn keep(&mut self, position: usize, place: BlockPlace<'_>, rows: &Range<usize>) {
        let (column, start) = (&self.columns[position], place.block * BLOCK_ROWS);
        let of_row_group = start + rows.start..start + rows.end;
        self.clustered[position].keep(&column.rows(rows), of_row_group, column.values_in(place.row_group));
    }

    /// Rows of a column that are decoded.
    fn rows_of(&self, position: usize, rows: &Range<usize>) -> Column<'_> {
        match self.key_of(position) {
            Some(key) => self.runs.key.rows(rows, key.dictionary()),
            None => self.columns[position].rows(rows),
        }
    }

    /// Hands over rows that every column has decoded.
    fn hand_over(&self, rows: &Range<usize>, sink: impl FnOnce(&Batch<'_>) -> Result<()>) -> Result<()> {
        let filler = Column::integers(Integers::I16(&[]));
        with_slots::<_, COLUMNS, _>(self.columns.len(), filler, |columns| {
            columns.iter_mut().enumerate().for_each(|(position, slot)| *slot = self.rows_of(position, rows));
            sink(&Batch { rows: rows.len(), columns })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_rows_of_stretches_are_selected(
            lengths in prop::collection::vec((0usize..200, 1usize..200, any::<bool>()), 0..20),
            piece in 1usize..300,
        ) {
            let mut end = 0;
            let stretch = |&(gap, rows, is_open): &(usize, usize, bool)| {
                let start = end + gap;
                end = start + rows;
                Stretch { rows: start..end, is_open }
            };
            let stretches: Vec<_> = lengths.iter().map(stretch).collect();
            let of_row = |row: usize| stretches.iter().find(|stretch| stretch.rows.contains(&row));
            let (mut wanted, mut counted) = (Wanted { left: &stretches }, Wanted { left: &stretches });
            for start in (0..end + 100).step_by(piece) {
                let rows = start..start + piece;
                let mut bits = vec![u64::MAX; words(piece)];
                let found = wanted.select(&rows, &mut bits);
                for row in rows.clone() {
                    let bit = bits[(row - start) / 64] >> ((row - start) % 64) & 1;
                    prop_assert_eq!(bit == 1, of_row(row).is_some());
                }
                let in_piece: Vec<_> = rows.clone().filter_map(of_row).collect();
                let is_open = in_piece.iter().any(|stretch| stretch.is_open);
                prop_assert_eq!(&found, &OfPiece { rows: in_piece.len(), is_open });
                prop_assert_eq!(bits.iter().map(|word| word.count_ones() as usize).sum::<usize>(), in_piece.len());
                prop_assert_eq!(counted.count(&rows), in_piece.len());
            }
        }
    }
}
