//! Verifies every byte and every invariant of a file.
//!
//! Opening a file checks the footer against itself and the file size. Verification reads every block and thereby every
//! checksum, and compares whatever is stored redundantly: bounds, sums and null counts with the values, dictionaries
//! with the codes.

use super::bounds::Bounds;
use super::column::{BATCH_ROWS, ScanColumn};
use super::decoded_rows::DecodedRows;
use super::footer::{Chunk, DictionaryPart, Layout, RowGroup, StoredColumn};
use super::footer_check::AllBounds;
use super::reader::Reader;
use super::restore;
use super::runs::Runs;
use super::value_counts::ValueCounts;
use crate::block::{Block, BlockBuffer, Cost};
use crate::integers::BLOCK_ROWS;
use crate::location::Location;
use crate::run_statistics::Detail;
use brc_core::predicate::float_order;
use brc_core::{Column, Data, Error, Progress, Result, Statistics, for_integers, run_workers};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The maximum size of one range of unused bytes that is read at once.
const MAX_UNUSED_BYTES: u64 = 1 << 30;

/// What was verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verified {
    /// The number of rows.
    pub rows: u64,
    /// The number of row groups.
    pub row_groups: u64,
    /// The number of blocks whose checksum was verified.
    pub blocks: u64,
    /// The size of the file in bytes, all of which were checked.
    pub bytes: u64,
}

impl Reader {
    /// Reads the whole file with up to `threads` threads and verifies everything.
    ///
    /// # Errors
    /// The first inconsistency in the file.
    pub fn verify(&self, threads: usize, progress: &Progress) -> Result<Verified> {
        let row_groups = &self.footer.row_groups;
        let columns = self.all_columns()?;
        columns[..self.footer.order_streams()].iter().try_for_each(|column| self.verify_dictionary(column))?;
        let counts = columns.iter().map(|column| ValueCounts::of(self, column)).collect::<Vec<_>>();
        let values = || counts.iter().map(|counts| vec![0; counts.as_ref().map_or(0, |counts| counts.values)]);
        let counted: Mutex<Vec<Vec<u64>>> = Mutex::new(values().collect());
        let next = AtomicUsize::new(0);
        let failed: Mutex<Option<(usize, Error)>> = Mutex::default();
        let work = || {
            // Kept across row groups, so that each dictionary is read once.
            let scans = columns.iter().map(|column| ScanColumn::new(self, column));
            let mut scans: Vec<_> = scans.zip(values()).collect();
            loop {
                let index = next.fetch_add(1, Relaxed);
                let Some(row_group) = row_groups.get(index) else { break };
                let mut cost = Cost::default();
                if let Err(error) = self.verify_row_group(index, row_group, &columns, &mut scans, &mut cost) {
                    let mut first = failed.lock();
                    if first.as_ref().is_none_or(|(earlier, _)| index < *earlier) {
                        *first = Some((index, error));
                    }
                    next.store(row_groups.len(), Relaxed);
                }
                progress.rows.fetch_add(u64::from(row_group.rows), Relaxed);
                progress.bytes.fetch_add(cost.bytes, Relaxed);
            }
            let mut counted = counted.lock();
            for (all, (_, counted)) in counted.iter_mut().zip(scans) {
                all.iter_mut().zip(counted).for_each(|(all, count)| *all += count);
            }
        };
        run_workers(threads, work);
        if let Some((_, error)) = failed.into_inner() {
            return Err(error);
        }
        let counted = counted.into_inner();
        for (number, (counts, counted)) in counts.into_iter().zip(counted).enumerate() {
            let Some(mut counts) = counts else { continue };
            let stored = counts.read_all(&mut Cost::default())?;
            if !stored.into_iter().map(u64::from).eq(counted) {
                let location = Location::Counts { column: self.footer.name(number) };
                return Err(self.corrupt(location, "they are not those of the rows"));
            }
        }
        self.verify_unused()?;
        let chunks = columns.iter().flat_map(|column| column.all_chunks());
        let parts = self.footer.dictionaries.iter().flat_map(|dictionary| &dictionary.parts);
        let blocks = chunks.flat_map(Chunk::all_blocks).chain(parts.flat_map(DictionaryPart::all_blocks));
        let blocks = blocks.filter(|block| block.length > 0).count() as u64;
        Ok(Verified { rows: self.footer.rows, row_groups: row_groups.len() as u64, blocks, bytes: self.file_bytes })
    }

    fn verify_unused(&self) -> Result<()> {
        let mut buffer = BlockBuffer::default();
        for (index, unused) in self.footer.unused.iter().enumerate() {
            let location = Location::Unused { index };
            let length = u32::try_from(unused.bytes).ok().filter(|_| unused.bytes <= MAX_UNUSED_BYTES);
            let length = length.ok_or_else(|| self.corrupt(location, "too many at once"))?;
            let block = Block { offset: unused.offset, stored: length, length, checksum: unused.checksum };
            buffer.load(self.source(), &block, location, &mut Cost::default())?;
        }
        Ok(())
    }

    /// Checks that the values of all parts of a dictionary are distinct.
    fn verify_dictionary(&self, column: &StoredColumn) -> Result<()> {
        let values = self.footer.dictionaries[column.number].values() as usize;
        let mut scan = ScanColumn::new(self, column);
        scan.read_file_dictionary(values, &mut Cost::default())?;
        if scan.dictionary().len() < values {
            let location = Location::Dictionary { column: self.footer.name(column.number), block: 0 };
            return Err(self.corrupt(location, "the dictionary has some value twice"));
        }
        Ok(())
    }

    fn verify_row_group<'r>(
        &'r self,
        index: usize,
        row_group: &RowGroup,
        columns: &[&'r StoredColumn],
        scans: &mut [(ScanColumn<'r>, Vec<u64>)],
        cost: &mut Cost,
    ) -> Result<()> {
        let runs = row_group.cluster.map(|_| Runs::load(self, index, cost)).transpose()?;
        let runs = runs.as_ref();
        let present = if runs.is_some() { columns.len() } else { self.footer.order_streams() };
        for (column, (scan, counted)) in columns[..present].iter().zip(scans) {
            let chunk = &column.chunks[index];
            if chunk.layout == Layout::FileCodes {
                self.verify_chunk(index, (scan, counted), chunk, runs, cost)?;
            } else {
                // A new scanner's dictionary has the codes of the chunk.
                let mut scan = ScanColumn::new(self, column);
                self.verify_chunk(index, (&mut scan, &mut []), chunk, runs, cost)?;
            }
            if let Some(runs) = runs.filter(|_| chunk.run_index.length > 0) {
                self.verify_run_index(index, column, runs, cost)?;
            }
        }
        match (row_group.cluster, runs) {
            (Some(cluster), Some(runs)) => self.verify_runs(index, cluster.key, runs, cost),
            _ => Ok(()),
        }
    }

    /// Checks that each row belongs to a run, and adjacent runs have different keys.
    fn verify_runs(&self, index: usize, key: usize, runs: &Runs, cost: &mut Cost) -> Result<()> {
        // The lengths of runs add up to the number of rows, and `walk` lets no run exceed its length.
        restore::walk(self, index, runs, None, cost, |_, _| Ok(()))?;
        let keys = DecodedRows::read(&mut ScanColumn::new(self, self.column(key)?), index, None, cost)?;
        let location = Location::Data { row_group: index, column: self.footer.name(key), block: 0 };
        match (1..runs.len()).all(|run| !keys.are_equal(run, run - 1)) {
            true => Ok(()),
            false => Err(self.corrupt(location, "two runs have the same key")),
        }
    }

    /// Checks the statistics of runs against their values.
    fn verify_run_index(&self, index: usize, column: &StoredColumn, runs: &Runs, cost: &mut Cost) -> Result<()> {
        let mut scan = ScanColumn::new(self, column);
        let rows = DecodedRows::read(&mut scan, index, Some(runs), cost)?;
        scan.read_run_index(runs, 0..runs.len(), Detail::All, cost)?;
        let (values, stored) = (rows.integers(0..rows.len()), &scan.run_index);
        let is_sound = |run: usize| {
            let valid = runs.rows_of(run..run + 1).filter(|&row| rows.is_valid(row)).map(|row| values[row]);
            let found: Statistics = valid.collect();
            let count = runs.lengths[run] - stored.nulls_of(run);
            found.count == u64::from(count) && (count == 0 || stored.of_runs(run..run + 1).get(0, count) == found)
        };
        let location = Location::RunIndex { row_group: index, column: self.footer.name(column.number) };
        match (0..runs.len()).all(is_sound) {
            true => Ok(()),
            false => Err(self.corrupt(location, "the statistics are not those of the values")),
        }
    }

    /// Verifies a chunk, and adds the number of rows per code to `counted`, if that is not empty.
    fn verify_chunk(
        &self,
        row_group: usize,
        (scan, counted): (&mut ScanColumn<'_>, &mut [u64]),
        chunk: &Chunk,
        runs: Option<&Runs>,
        cost: &mut Cost,
    ) -> Result<()> {
        let column = scan.column;
        let rows = scan.values_in(row_group);
        // The number of rows per value, if it is not one.
        let is_key = self.row_group(row_group).cluster.is_some_and(|cluster| cluster.key == column);
        let lengths = runs.filter(|_| is_key).map(|runs| runs.lengths.as_slice());
        // With 0 expected rows, strings are delivered as stored.
        scan.start(row_group, 0, runs, cost)?;
        let mut nulls = 0;
        let mut used = vec![false; scan.dictionary().len()];
        let (mut sum, mut all) = (Some(0i128), AllBounds::default());
        for (number, start) in (0..rows).step_by(BLOCK_ROWS).enumerate() {
            let of_block = BLOCK_ROWS.min(rows - start);
            scan.load(number, of_block, cost)?;
            let mut seen = BlockStatistics { sum, ..BlockStatistics::default() };
            for first in (0..of_block).step_by(BATCH_ROWS) {
                let batch = first..of_block.min(first + BATCH_ROWS);
                scan.decode(batch.clone(), runs)?;
                let column = scan.as_column();
                let lengths = lengths.map(|lengths| &lengths[start + batch.start..start + batch.end]);
                let length = |row: usize| lengths.map_or(1, |lengths| lengths[row]);
                seen.add(&column, batch.len(), length);
                if let (Data::Codes { codes, .. }, false) = (column.data, counted.is_empty()) {
                    let valid = (0..batch.len()).filter(|&row| column.is_valid(row));
                    valid.for_each(|row| counted[codes[row] as usize] += u64::from(length(row)));
                }
                nulls += (0..batch.len()).filter(|&row| !column.is_valid(row)).map(length).sum::<u32>();
            }
            used.iter_mut().zip(&seen.codes).for_each(|(used, seen)| *used |= seen);
            let stored = &chunk.blocks[number];
            let bounds = seen.bounds();
            all.add(bounds.as_ref(), stored, of_block as u32);
            let are_known = chunk.bounds_of_blocks.blocks().is_some();
            if stored.nulls != seen.nulls || are_known && chunk.bounds_of_blocks.get(number) != bounds {
                let location = Location::Data { row_group, column: self.footer.name(column), block: number };
                return Err(self.corrupt(location, "the statistics are not those of the values"));
            }
            sum = seen.sum;
        }
        let location = Location::Parameters { row_group, column: self.footer.name(column) };
        if chunk.bounds != all.all() {
            return Err(self.corrupt(location, "the statistics are not those of the values"));
        }
        if chunk.nulls != nulls {
            return Err(self.corrupt(location, "the number of nulls is not that of the rows"));
        }
        let has_sum = chunk.is_of_integers() || chunk.layout == Layout::Wide;
        if chunk.sum != sum.filter(|_| has_sum) {
            return Err(self.corrupt(location, "the sum is not that of the values"));
        }
        if chunk.layout == Layout::Codes && used.contains(&false) {
            return Err(self.corrupt(location, "no row has some value of the dictionary"));
        }
        Ok(())
    }
}

/// The statistics of a block's values; `sum` is the running sum of the chunk.
#[derive(Default)]
struct BlockStatistics {
    nulls: u32,
    sum: Option<i128>,
    numbers: Option<(i128, i128)>,
    strings: Option<(Vec<u8>, Vec<u8>)>,
    codes: Vec<bool>,
}

impl BlockStatistics {
    /// Adds rows; row `r` counts `length(r)` times.
    fn add(&mut self, column: &Column<'_>, rows: usize, length: impl Fn(usize) -> u32) {
        let valid = || (0..rows).filter(|&row| column.is_valid(row));
        self.nulls += column.validity.map_or(0, |validity| validity.count_nulls() as u32);
        match column.data {
            Data::Integers(values) => for_integers!(values, values => for row in valid() {
                let value = wide(values[row]);
                self.number(value);
                let of_rows = value.checked_mul(length(row).into());
                self.sum = self.sum.zip(of_rows).and_then(|(sum, of_rows)| sum.checked_add(of_rows));
            }),
            Data::Floats(values) => valid().for_each(|row| self.number(float_order(values[row]).into())),
            Data::Bytes(strings) => valid().for_each(|row| self.string(strings.get(row))),
            Data::Codes { codes, dictionary } => {
                self.codes.resize(dictionary.len(), false);
                for code in valid().map(|row| codes[row]) {
                    if !std::mem::replace(&mut self.codes[code as usize], true) {
                        self.string(dictionary.get(code));
                    }
                }
            }
            Data::Runs { .. } => {}
        }
    }

    fn number(&mut self, value: i128) {
        let (min, max) = self.numbers.unwrap_or((value, value));
        self.numbers = Some((min.min(value), max.max(value)));
    }

    fn string(&mut self, value: &[u8]) {
        match &mut self.strings {
            None => self.strings = Some((value.to_vec(), value.to_vec())),
            Some((min, _)) if value < min.as_slice() => *min = value.to_vec(),
            Some((_, max)) if value > max.as_slice() => *max = value.to_vec(),
            Some(_) => {}
        }
    }

    fn bounds(&self) -> Option<Bounds> {
        match (&self.numbers, &self.strings) {
            (Some((min, max)), _) => Some(Bounds::Numbers { min: *min, max: *max }),
            (None, Some((min, max))) => Bounds::strings(min, max),
            (None, None) => None,
        }
    }
}

fn wide(value: impl Into<i128>) -> i128 {
    value.into()
}
