//! Strings of a row group as codes of its own distinct values, before they become a chunk.
//!
//! Whatever does not depend on other row groups is done here, in parallel. The codes of the column's dictionary are
//! only known when the row group is appended to the file.

use super::bounds::Bounds;
use super::chunk_rows::{ChunkRows, RunLayout};
use super::chunk_writer::ChunkWriter;
use super::file_dictionary::FileDictionary;
use super::footer::{Chunk, Layout};
use super::interner::Interner;
use super::own_dictionary::OwnDictionary;
use super::string_column::{MAX_STRING_BYTES, push};
use super::value_order::ValueOrder;
use crate::integer_buffer::IntegerBuffer;
use crate::integer_slice::{IntegerSlice, for_widths};
use crate::integers::{BLOCK_ROWS, Plan};
use crate::strings::{self, StringBuffer};
use brc_core::{BitmapBuffer, Dictionary, Result};
use brc_kernels::arithmetic::Integer;
use std::ops::Range;

/// With at least this many rows per value, codes are used without comparing sizes: they also decode faster and speed up
/// grouping.
const FREQUENT_ROWS: usize = 8;

/// The number of values from which the size of all is estimated.
const SAMPLE: usize = 2048;

/// The memory per value in addition to its bytes: its end, its hash and its count.
const MEMORY_OF_VALUE: usize = 16;

pub(super) struct LocalCodes {
    /// Null rows have an arbitrary code.
    codes: IntegerBuffer,
    values: Dictionary,
    /// The hash of each value.
    hashes: Vec<u32>,
    /// The number of rows of each value.
    counts: Vec<u32>,
    /// The bounds of each block.
    bounds: Vec<Option<Bounds>>,
    /// The number of rows per code, if there is one code per run.
    lengths: Option<Vec<u32>>,
}

impl LocalCodes {
    pub(super) fn new(codes: IntegerBuffer, values: Interner, rows: ChunkRows<'_>) -> Self {
        let (values, hashes) = values.into_parts();
        // Runs are in the order of their values.
        let order = if matches!(rows.runs, RunLayout::PerRun(_)) { None } else { Some(ValueOrder::new(&values)) };
        let mut counts = vec![0; values.len()];
        let bounds_of_block = |block: Range<usize>| {
            let in_block =
                for_widths!(codes.slice(), codes => counts_of_block(codes, values.len(), rows, block.clone()));
            counts.iter_mut().zip(&in_block).for_each(|(all, count)| *all += count);
            let (min, max) = match &order {
                Some(order) => extremes(&in_block, order)?,
                None => ends(codes.slice(), rows, block)?,
            };
            Bounds::strings(values.get(min), values.get(max))
        };
        let bounds = rows.blocks().map(bounds_of_block).collect();
        let lengths = if let RunLayout::PerRun(lengths) = rows.runs { Some(lengths.to_vec()) } else { None };
        Self { codes, values, hashes, counts, bounds, lengths }
    }

    /// The approximate memory in bytes.
    pub(super) fn memory(&self) -> usize {
        let values = &self.values;
        self.codes.bytes() + values.value_bytes() + MEMORY_OF_VALUE * values.len()
    }

    /// Whether codes and a dictionary are smaller than one string per row. Runs always have codes.
    pub(super) fn pay(&self) -> bool {
        let (rows, values) = (self.codes.len(), &self.values);
        if self.lengths.is_some() {
            return true;
        }
        if values.is_empty() {
            return false;
        }
        let bytes = || self.each_value().map(<[u8]>::len).fold(0, usize::saturating_add);
        if values.len() * FREQUENT_ROWS <= rows || bytes() > MAX_STRING_BYTES {
            return true;
        }
        let every = values.len().div_ceil(SAMPLE);
        let sample: StringBuffer = values.iter().step_by(every).collect();
        let of_value = strings::untrained_bytes(sample.strings()) as f64 / sample.strings().len() as f64;
        let width = usize::BITS - values.len().leading_zeros();
        (rows - values.len()) as f64 * of_value > rows as f64 * f64::from(width) / 8.0
    }

    /// One string per row; null rows have an arbitrary one.
    pub(super) fn each(&self) -> Result<StringBuffer> {
        let mut each = StringBuffer::default();
        self.each_value().try_for_each(|value| push(&mut each, value))?;
        Ok(each)
    }

    fn each_value(&self) -> impl Iterator<Item = &[u8]> {
        let (codes, values) = (self.codes.slice(), &self.values);
        (0..codes.len()).map(move |row| if values.is_empty() { &b""[..] } else { values.get(codes.get(row) as u32) })
    }

    /// Appends the rows as a chunk: with codes of the column's dictionary, or of its own dictionary if that is full.
    pub(super) fn write(
        self,
        validity: &BitmapBuffer,
        dictionary: &mut FileDictionary,
        left: &mut usize,
        writer: &mut ChunkWriter<'_>,
    ) -> Result<Chunk> {
        let runs = self.lengths.as_deref().map_or(RunLayout::None, RunLayout::PerRun);
        let rows = ChunkRows { count: self.codes.len(), validity: validity.bitmap(), runs };
        let all_rows = self.counts.iter().map(|&count| count as usize).sum();
        let (mut chunk, own, map) = match dictionary.add((&self.values, &self.hashes), all_rows, left, writer)? {
            Some(map) => {
                dictionary.count(&map, &self.counts);
                let mut chunk = writer.chunk(Layout::FileCodes);
                chunk.codes = map.iter().max().map_or(0, |&code| code + 1);
                (chunk, None, map)
            }
            None => {
                let (own, map) = OwnDictionary::new(&self.values)?;
                (writer.chunk(Layout::Codes), Some(own), map)
            }
        };
        let mut codes = IntegerBuffer::translated(self.codes.slice(), &map);
        rows.fill_integers(&mut codes);
        let write_own = |writer: &mut ChunkWriter<'_>, chunk: &mut Chunk| match own {
            Some(own) => own.write(dictionary.tokenizer(), chunk, writer),
            None => Ok(()),
        };
        let bounds = |of_block: Range<usize>| self.bounds[of_block.start / BLOCK_ROWS].clone();
        let plan = Plan::choose(codes.slice(), IntegerSlice::EMPTY);
        writer.planned_integers(&mut chunk, &plan, (codes.slice(), None), rows, write_own, bounds)?;
        Ok(writer.sum_up(chunk, rows))
    }
}

/// The number of rows of a block that have each value.
fn counts_of_block(codes: &[impl Integer], values: usize, rows: ChunkRows<'_>, of_block: Range<usize>) -> Vec<u32> {
    let mut counts = vec![0; values];
    let index = |row: usize| codes[row].wide() as usize;
    if let RunLayout::PerRun(lengths) = rows.runs {
        of_block.filter(|&run| rows.is_valid(run)).for_each(|run| counts[index(run)] += lengths[run]);
        return counts;
    }
    match rows.validity {
        None => codes[of_block].iter().for_each(|code| counts[code.wide() as usize] += 1),
        Some(_) => of_block.filter(|&row| rows.is_valid(row)).for_each(|row| counts[index(row)] += 1),
    }
    counts
}

/// The codes of the first and the last run that is not null.
fn ends(codes: IntegerSlice<'_>, rows: ChunkRows<'_>, runs: Range<usize>) -> Option<(u32, u32)> {
    let mut valid = runs.filter(|&run| rows.is_valid(run));
    let first = valid.next()?;
    Some((codes.get(first) as u32, codes.get(valid.next_back().unwrap_or(first)) as u32))
}

/// The codes of the minimum and maximum among occurring values; `None` if no value occurs. Each value is compared once,
/// however often it occurs.
fn extremes(counts: &[u32], order: &ValueOrder<'_>) -> Option<(u32, u32)> {
    let mut occurring = (0..).zip(counts).filter(|(_, count)| **count > 0).map(|(code, _)| code);
    let first = occurring.next()?;
    Some(occurring.fold((first, first), |(min, max), code| {
        let min = if order.compare(code, min).is_lt() { code } else { min };
        (min, if order.compare(code, max).is_gt() { code } else { max })
    }))
}
