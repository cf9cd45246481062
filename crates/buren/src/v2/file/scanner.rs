//! Scans row groups: leaves out what statistics rule out, lets them stand for rows where they may, delivers the rest.

use super::bounds::Bounds;
use super::column::{BlockPlace, PIECE, ScanColumn};
use super::footer::{Chunk, Layout};
use super::reader::Reader;
use super::restore;
use super::value_counts::ValueCounts;
use crate::block::Cost;
use crate::v2::integers::{BLOCK_ROWS, GROUP_ROWS};
use brc_core::predicate::{Known, KnownValues};
use brc_core::table::{ColumnSummary, Numbers, Sums};
use brc_core::{
    Batch, Column, Conjunct, Data, Order, Result, Run, ScanError, ScanOptions, Scanned, Scanner, Sink, Split, Summary,
    Verdict,
};
use brc_kernels::cpu::Level;
use brc_kernels::direct::bounds;
use brc_kernels::filter::{valid_bits, words};
use std::ops::Range;

pub(super) struct FileScanner<'r> {
    reader: &'r Reader,
    options: ScanOptions,
    columns: Vec<ScanColumn<'r>>,
    /// Those of the only column, if rows come value by value.
    counts: Option<ValueCounts<'r>>,
    /// Where among them those of each conjunct are.
    tested: Vec<Vec<usize>>,
    /// The rows of all row groups that the predicate does not rule out; not yet counted at first.
    possible_rows: Option<u64>,
    cost: Cost,
}

impl<'r> FileScanner<'r> {
    pub(super) fn new(reader: &'r Reader, options: ScanOptions) -> Result<Self> {
        let column = |&column: &usize| Ok(ScanColumn::new(reader, reader.column(column)?));
        let columns = options.projection.iter().map(column).collect::<Result<_>>()?;
        let position = |column: &usize| options.projection.iter().position(|projected| projected == column);
        let positions = |conjunct: &Conjunct| conjunct.columns.iter().filter_map(position).collect();
        let tested = options.conjuncts.iter().map(positions).collect();
        let (possible_rows, cost) = (None, Cost::default());
        let mut scanner = Self { reader, options, columns, counts: None, tested, possible_rows, cost };
        scanner.counts = scanner.worthwhile_counts()?;
        Ok(scanner)
    }

    /// The counts that may stand for all rows; `None` if it takes less to read those that the predicate does not rule out.
    fn worthwhile_counts(&mut self) -> Result<Option<ValueCounts<'r>>> {
        let mut used = self.options.projection.clone();
        if let Some(predicate) = &self.options.predicate {
            predicate.columns(&mut used);
        }
        used.dedup();
        let [column] = used[..] else { return Ok(None) };
        if !self.options.counts || self.options.order != Order::Any {
            return Ok(None);
        }
        let counts = ValueCounts::of(self.reader, self.reader.column(column)?);
        Ok(counts.filter(|counts| counts.values as u64 <= self.look_ahead()))
    }

    fn decide<'a>(&self, known: impl Fn(usize) -> Known<'a>) -> Verdict {
        self.options.predicate.as_ref().map_or(Verdict::Always, |predicate| predicate.decide(&known))
    }

    fn verdict(&self, row_group: usize) -> Verdict {
        self.decide(|column| self.reader.known_of(row_group, column))
    }

    /// About how many rows of the file are asked for, if those of a row group are so many of `all`.
    fn expected_rows(&mut self, wanted: usize, all: usize) -> usize {
        let possible = match self.possible_rows {
            Some(rows) => rows,
            None => self.look_ahead(),
        };
        (possible as f64 * wanted as f64 / all as f64) as usize
    }

    /// Counts the rows of all row groups that are going to be read, by whichever scanner, and tells columns which values of
    /// their dictionaries those may have.
    fn look_ahead(&mut self) -> u64 {
        let row_groups = 0..self.reader.footer.row_groups.len();
        let possible: Vec<_> = row_groups.filter(|&row_group| self.verdict(row_group) != Verdict::Never).collect();
        for column in &mut self.columns {
            let codes = possible.iter().map(|&row_group| column.chunk_of(row_group).codes);
            column.expect_codes(codes.max().unwrap_or(0) as usize);
        }
        let rows = possible.iter().map(|&row_group| u64::from(self.reader.row_group(row_group).rows)).sum();
        self.possible_rows = Some(rows);
        rows
    }

    fn scan_row_group(&mut self, index: usize, sink: &mut dyn Sink, scanned: &mut Scanned) -> Result<()> {
        let rows = self.reader.row_group(index).rows;
        if let (Some(counts), [column]) = (&mut self.counts, &mut self.columns[..]) {
            scanned.summarised_rows += u64::from(rows);
            return counts.deliver(index, column, sink, &mut self.cost);
        }
        match self.verdict(index) {
            Verdict::Never => scanned.skipped_rows += u64::from(rows),
            Verdict::Always if self.summarise(index, sink)? => scanned.summarised_rows += u64::from(rows),
            Verdict::Always => self.deliver(index, false, sink, scanned)?,
            Verdict::Maybe => self.deliver(index, true, sink, scanned)?,
        }
        Ok(())
    }

    /// Gives the statistics of a row group to the sink, if they may stand for its rows.
    fn summarise(&self, index: usize, sink: &mut dyn Sink) -> Result<bool> {
        if !self.options.statistics || self.options.order != Order::Any {
            return Ok(false);
        }
        let projected = self.columns.iter().map(|column| statistics(column.chunk_of(index)));
        let Some(statistics) = projected.collect::<Option<Vec<_>>>() else { return Ok(false) };
        let columns: Vec<_> = statistics.iter().map(summary_of).collect();
        sink.summary(&Summary { rows: &[self.reader.row_group(index).rows], columns: &columns })?;
        Ok(true)
    }

    /// Delivers the rows of a row group, without those of blocks that the predicate rules out.
    fn deliver(&mut self, index: usize, by_block: bool, sink: &mut dyn Sink, scanned: &mut Scanned) -> Result<()> {
        let reader = self.reader;
        let row_group = reader.row_group(index);
        let all = row_group.rows as usize;
        if row_group.key.is_some() && self.options.order == Order::Original {
            restore::deliver(reader, index, &mut self.columns, &mut self.cost, sink)?;
            scanned.rows += all as u64;
            return Ok(());
        }
        let rows_of = |number: usize| BLOCK_ROWS.min(all - number * BLOCK_ROWS);
        let of_block = |number: usize| {
            move |column: usize| match reader.chunk(index, column).and_then(|chunk| chunk.blocks.get(number)) {
                Some(block) => known(block.bounds.as_ref(), block.nulls, rows_of(number) as u32),
                None => Known::NOTHING,
            }
        };
        let mut numbers: Vec<usize> = (0..all.div_ceil(BLOCK_ROWS)).collect();
        if by_block {
            numbers.retain(|&number| self.decide(of_block(number)) != Verdict::Never);
        }
        let wanted: usize = numbers.iter().map(|&number| rows_of(number)).sum();
        scanned.skipped_rows += (all - wanted) as u64;
        if numbers.is_empty() {
            return Ok(());
        }
        let expected = self.expected_rows(wanted, all);
        for number in numbers {
            let place = BlockPlace { row_group: index, expected, block: number, rows: rows_of(number) };
            let conjuncts = self.options.conjuncts.iter().enumerate();
            let is_open = |conjunct: &Conjunct| match &conjunct.predicate {
                Some(predicate) => by_block && predicate.decide(&of_block(number)) != Verdict::Always,
                None => true,
            };
            let tests: Vec<usize> = conjuncts.filter(|(_, it)| is_open(it)).map(|(test, _)| test).collect();
            for first in (0..place.rows).step_by(PIECE) {
                let piece = first..place.rows.min(first + PIECE);
                self.deliver_piece(place, piece, row_group.key, &tests, sink)?;
            }
            scanned.rows += place.rows as u64;
        }
        Ok(())
    }

    /// Delivers the rows of a piece that meet all conjuncts, of which these are not known to be met.
    fn deliver_piece(
        &mut self,
        place: BlockPlace,
        piece: Range<usize>,
        key: Option<usize>,
        tests: &[usize],
        sink: &mut dyn Sink,
    ) -> Result<()> {
        if self.options.conjuncts.is_empty() {
            self.bring_all(place, &piece)?;
            return self.hand_over(&piece, key, |batch| sink.batch(batch));
        }
        let mut rows = [0; PIECE / 64];
        let rows = &mut rows[..words(piece.len())];
        rows.iter_mut().enumerate().for_each(|(index, word)| *word = valid_bits(piece.len(), index));
        self.deliver_tested(place, piece, key, tests, rows, sink)
    }

    /// Tests which of some rows meet conjuncts, as far as they have met all before, and delivers those. No other column is
    /// decoded where no row is left, and none but those of the next test where few are.
    fn deliver_tested(
        &mut self,
        place: BlockPlace,
        piece: Range<usize>,
        key: Option<usize>,
        tests: &[usize],
        rows: &mut [u64],
        sink: &mut dyn Sink,
    ) -> Result<()> {
        let Some((&test, later)) = tests.split_first() else {
            self.bring_all(place, &piece)?;
            let is_all = rows.iter().enumerate().all(|(index, &word)| word == valid_bits(piece.len(), index));
            return self.hand_over(&piece, key, |batch| sink.tested(batch, (!is_all).then_some(rows)));
        };
        for &position in &self.tested[test] {
            self.columns[position].bring(place, &piece, &mut self.cost)?;
        }
        let columns: Vec<_> = self.tested[test].iter().map(|&position| self.columns[position].rows(&piece)).collect();
        if sink.test(test, &Batch { rows: piece.len(), columns: &columns }, rows)? == 0 {
            return Ok(());
        }
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
                self.deliver_tested(place, part, key, later, &mut rows[words], sink)?;
            }
        }
        Ok(())
    }

    /// Sees to it that rows of all columns are decoded.
    fn bring_all(&mut self, place: BlockPlace, rows: &Range<usize>) -> Result<()> {
        self.columns.iter_mut().try_for_each(|column| column.bring(place, rows, &mut self.cost))
    }

    /// Hands over rows that every column has decoded; those of a cluster key as runs, where these are long.
    fn hand_over(
        &self,
        rows: &Range<usize>,
        key: Option<usize>,
        sink: impl FnOnce(&Batch<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut columns: Vec<_> = self.columns.iter().map(|column| column.rows(rows)).collect();
        let mut room = [Run { code: 0, rows: 0 }; MOST_RUNS];
        let is_key = |column: &ScanColumn<'_>| Some(column.column) == key;
        if let Some(place) = self.columns.iter().position(is_key)
            && let Column { data: Data::Codes { codes, dictionary }, validity: None } = columns[place]
            && let Some(runs) = long_runs(codes, &mut room)
        {
            columns[place] = Column::runs(runs, dictionary);
        }
        sink(&Batch { rows: rows.len(), columns: &columns })
    }
}

/// As many runs of a piece as are worth it: fewer rows than sixteen to a run are grouped as fast one by one.
const MOST_RUNS: usize = PIECE / 16;

/// The runs of equal codes, unless there are too many.
fn long_runs<'r>(codes: &[u32], room: &'r mut [Run; MOST_RUNS]) -> Option<&'r [Run]> {
    let room = &mut room[..codes.len().div_ceil(16).min(MOST_RUNS)];
    if let (Some(&code), Some((min, max))) = (codes.first(), bounds(Level::best(), codes))
        && min == max
    {
        // Most pieces lie within a run.
        room[0] = Run { code, rows: codes.len() as u32 };
        return Some(&room[..1]);
    }
    let (mut count, mut left) = (0, codes);
    while let [code, ..] = *left {
        let rows = run_length(left, code);
        *room.get_mut(count)? = Run { code, rows: rows as u32 };
        (count, left) = (count + 1, &left[rows..]);
    }
    Some(&room[..count])
}

/// How many of the first codes are this one.
fn run_length(codes: &[u32], code: u32) -> usize {
    // So many are compared without a branch, unless the last one tells that the run ends before.
    const AT_ONCE: usize = 16;
    let is_equal = |codes: &&[u32]| codes.iter().fold(0, |difference, other| difference | (other ^ code)) == 0;
    let is_run = |codes: &&[u32]| codes.last() == Some(&code) && is_equal(codes);
    let rows = codes.chunks_exact(AT_ONCE).take_while(is_run).count() * AT_ONCE;
    rows + codes[rows..].iter().take_while(|&&other| other == code).count()
}

impl Reader {
    /// What is known of the values of a column in a row group.
    pub(super) fn known_of(&self, row_group: usize, column: usize) -> Known<'_> {
        match (self.footer.row_groups.get(row_group), self.chunk(row_group, column)) {
            (Some(row_group), Some(chunk)) => known(chunk.bounds.as_ref(), chunk.nulls, row_group.rows),
            _ => Known::NOTHING,
        }
    }
}

/// What is known of the values of some rows.
fn known(bounds: Option<&Bounds>, nulls: u32, rows: u32) -> Known<'_> {
    let values = match bounds {
        Some(bounds) => bounds.known(),
        None if nulls == rows => KnownValues::None,
        None => KnownValues::Nothing,
    };
    Known { values, nulls: nulls > 0 }
}

/// Smallest value, largest value and sum of a chunk of integers without nulls.
pub(super) fn statistics(chunk: &Chunk) -> Option<(i64, i64, i128)> {
    let of_64_bits = chunk.layout == Layout::Integers && chunk.nulls == 0;
    match (&chunk.bounds, chunk.sum) {
        (Some(Bounds::Numbers { min, max }), Some(sum)) if of_64_bits => {
            Some((i64::try_from(*min).ok()?, i64::try_from(*max).ok()?, sum))
        }
        _ => None,
    }
}

fn summary_of((min, max, sum): &(i64, i64, i128)) -> ColumnSummary<'_> {
    let [min, max] = [min, max].map(std::slice::from_ref);
    ColumnSummary::Numbers(Numbers { min, max, sum: Sums::Wide(std::slice::from_ref(sum)) })
}

impl Scanner for FileScanner<'_> {
    fn scan(&mut self, split: &Split, sink: &mut dyn Sink) -> Result<Option<Scanned>, ScanError> {
        let index = usize::try_from(split.index).unwrap_or(usize::MAX);
        if index >= self.reader.footer.row_groups.len() {
            return Ok(None);
        }
        self.cost = Cost::default();
        let mut scanned = Scanned::default();
        self.scan_row_group(index, sink, &mut scanned)?;
        scanned.bytes = self.cost.bytes;
        scanned.read_time = self.cost.read_time;
        scanned.decompress_time = self.cost.decompress_time;
        scanned.decode_time = self.cost.decode_time;
        Ok(Some(scanned))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn runs_are_found_if_they_are_long(runs in prop::collection::vec((0u32..4, 1usize..100), 0..100)) {
            let codes: Vec<u32> = runs.iter().flat_map(|&(code, rows)| std::iter::repeat_n(code, rows)).take(PIECE).collect();
            let expected: Vec<_> = codes.chunk_by(|one, other| one == other).map(|run| (run[0], run.len() as u32)).collect();
            let mut room = [Run { code: 0, rows: 0 }; MOST_RUNS];
            let found = long_runs(&codes, &mut room).map(|runs| runs.iter().map(|run| (run.code, run.rows)).collect());
            let are_long = expected.len() <= MOST_RUNS && expected.len() <= codes.len().div_ceil(16);
            prop_assert_eq!(found, are_long.then_some(expected));
        }
    }
}
