//! Writes column chunks: fills nulls, chooses the smallest scheme, compresses and checksums blocks, and records bounds.

use super::bounds::{Bounds, BoundsOfBlocks};
use super::chunk_rows::{ChunkRows, Indexed, RunLayout};
use super::column_buffer::{BufferedValues, ColumnBuffer};
use super::footer::{Chunk, Layout, RowBlock};
use super::footer_check::AllBounds;
use super::local_codes::LocalCodes;
use super::string_column::StringForm;
use crate::block::{self, Block};
use crate::floats;
use crate::integer_buffer::IntegerBuffer;
use crate::integer_slice::IntegerSlice;
use crate::integers::{self, BLOCK_ROWS, DIFFERENCE, wide};
use crate::strings::{Estimate, Strings};
use crate::validity::Validity;
use brc_compress::Compressor;
use brc_core::predicate::float_order;
use brc_core::{BitmapBuffer, Result};
use std::ops::Range;

/// The minimum saving in percent for storing integers relative to the minimum of their run.
const MIN_SAVING_PERCENT: u64 = 2;

/// The encoded rows of a column.
pub(super) enum Encoded {
    Chunk(Chunk),
    /// Codes that are not yet a chunk, and the validity of their rows.
    Codes(LocalCodes, BitmapBuffer),
}

impl Encoded {
    /// The memory of rows that are not yet a chunk, in bytes.
    pub(super) fn memory(&self) -> usize {
        if let Self::Codes(codes, _) = self { codes.memory() } else { 0 }
    }
}

/// The values of another column in the same rows, without nulls, from which differences may be stored.
#[derive(Clone, Copy)]
pub(super) struct Reference<'a> {
    pub(super) column: u32,
    pub(super) values: IntegerSlice<'a>,
}

/// Appends blocks to the bytes of a part.
pub(super) struct ChunkWriter<'a> {
    pub(super) compression: Compressor,
    pub(super) bytes: &'a mut Vec<u8>,
    scratch: Vec<u8>,
    /// The bounds of the current chunk's blocks.
    bounds: Vec<Option<Bounds>>,
}

impl<'a> ChunkWriter<'a> {
    pub(super) fn new(compression: Compressor, bytes: &'a mut Vec<u8>) -> Self {
        Self { compression, bytes, scratch: Vec::new(), bounds: Vec::new() }
    }

    /// Appends the rows of a column as a chunk, unless they are codes that depend on the column's dictionary. Integers
    /// may be stored as differences from one of the references; `estimate` provides tokens for strings.
    pub(super) fn write(
        &mut self,
        column: &mut ColumnBuffer,
        runs: RunLayout<'_>,
        references: &[Reference<'_>],
        estimate: impl FnOnce(Strings<'_>) -> Estimate,
    ) -> Result<Encoded> {
        let ColumnBuffer { values, validity, .. } = column;
        let rows = ChunkRows { count: validity.len(), validity: validity.bitmap(), runs };
        let chunk = match values {
            BufferedValues::Nothing => self.integers(&mut IntegerBuffer::default(), rows, &[])?,
            BufferedValues::Integers(values) => self.integers(values, rows, references)?,
            BufferedValues::Wide(values) => {
                rows.fill(values, 0);
                match values.iter().map(|&value| i64::try_from(value)).collect::<Result<Vec<_>, _>>() {
                    Ok(narrow) => self.integers(&mut narrow.into(), rows, &[])?,
                    Err(_) => self.wide(values, rows)?,
                }
            }
            BufferedValues::Floats(values) => self.floats(values, rows)?,
            BufferedValues::Strings(strings) => match &mut strings.form {
                StringForm::Each(each) => self.each(each, rows, estimate)?,
                StringForm::Codes { codes, values } => {
                    let codes = LocalCodes::new(std::mem::take(codes), std::mem::take(values), rows);
                    if codes.pay() {
                        return Ok(Encoded::Codes(codes, std::mem::take(validity)));
                    }
                    self.each(&mut codes.each()?, rows, estimate)?
                }
            },
        };
        Ok(Encoded::Chunk(self.sum_up(chunk, rows)))
    }

    /// Appends integers that are not a column of the table.
    pub(super) fn extra(&mut self, values: IntegerSlice<'_>) -> Result<Chunk> {
        let rows = ChunkRows { count: values.len(), validity: None, runs: RunLayout::None };
        let planned = choose(values, &[]);
        let chunk = self.plain_integers(planned, values, rows)?;
        // The bounds of their blocks are never used.
        Ok(Chunk { bounds_of_blocks: BoundsOfBlocks::Unknown, ..self.sum_up(chunk, rows) })
    }

    /// Appends integers according to a plan, without run statistics.
    fn plain_integers(
        &mut self,
        (plan, reference): (integers::Plan, Option<Reference<'_>>),
        values: IntegerSlice<'_>,
        rows: ChunkRows<'_>,
    ) -> Result<Chunk> {
        let mut chunk = self.chunk(Layout::Integers);
        chunk.sum = rows.sum_of_integers(values);
        chunk.reference = reference.map(|reference| reference.column);
        let bounds = |rows: Range<usize>| bounds_of_block(plan.bounds(), &rows);
        self.planned_integers(&mut chunk, &plan, (values, reference), rows, |_, _| Ok(()), bounds)?;
        Ok(chunk)
    }

    fn integers(
        &mut self,
        values: &mut IntegerBuffer,
        rows: ChunkRows<'_>,
        references: &[Reference<'_>],
    ) -> Result<Chunk> {
        rows.fill_integers(values);
        let indexed = rows.indexed(values.slice());
        if let Some(indexed) = &indexed {
            let part = middle(values.slice());
            let of_part = integers::Plan::choose(part, IntegerSlice::EMPTY);
            if is_smaller(share(indexed.in_runs.estimated_bytes(), part.len(), rows.count), &of_part) {
                return self.in_runs(indexed, values.slice(), rows);
            }
        }
        let (mut plan, mut reference) = choose(values.slice(), references);
        let Some(indexed) = indexed.or_else(|| rows.indexed_with_nulls(values, plan.bounds())) else {
            return self.plain_integers((plan, reference), values.slice(), rows);
        };
        let values = values.slice();
        if rows.validity.is_some() {
            // The fillers of nulls have changed.
            (plan, reference) = choose(values, references);
        }
        if is_smaller(indexed.in_runs.estimated_bytes(), &plan) {
            return self.in_runs(&indexed, values, rows);
        }
        let mut chunk = self.chunk(Layout::Integers);
        chunk.sum = Some(indexed.statistics.sum);
        chunk.reference = reference.map(|reference| reference.column);
        let bounds = |rows: Range<usize>| bounds_of_block(indexed.in_runs.bounds(), &rows);
        let write_index = |writer: &mut Self, chunk: &mut Chunk| writer.run_index(&indexed, chunk);
        self.planned_integers(&mut chunk, &plan, (values, reference), rows, write_index, bounds)?;
        Ok(chunk)
    }

    /// Appends integers relative to the minimum of their run.
    fn in_runs(&mut self, indexed: &Indexed<'_>, values: IntegerSlice<'_>, rows: ChunkRows<'_>) -> Result<Chunk> {
        let mut chunk = self.chunk(Layout::InRuns);
        let plan = &indexed.in_runs;
        chunk.sum = Some(indexed.statistics.sum);
        chunk.scheme = plan.scheme_id();
        chunk.parameters = self.block(|out| plan.encode_parameters(out))?;
        self.run_index(indexed, &mut chunk)?;
        let (mut differences, mut of_block) = (indexed.statistics.differences(indexed.runs), IntegerBuffer::default());
        for (number, rows_of_block) in rows.blocks().enumerate() {
            differences.of_next(values.slice(rows_of_block.clone()), &mut of_block);
            let bounds = bounds_of_block(plan.bounds(), &rows_of_block);
            let encode = |out: &mut Vec<u8>| plan.encode_values(number, of_block.slice(), out);
            self.row_block(&mut chunk, rows, rows_of_block, bounds, encode)?;
        }
        Ok(chunk)
    }

    fn run_index(&mut self, indexed: &Indexed<'_>, chunk: &mut Chunk) -> Result<()> {
        chunk.run_index = self.block(|out| indexed.statistics.write(out))?;
        Ok(())
    }

    /// Appends parameters and blocks of integers or codes.
    pub(super) fn planned_integers(
        &mut self,
        chunk: &mut Chunk,
        plan: &integers::Plan,
        (values, reference): (IntegerSlice<'_>, Option<Reference<'_>>),
        rows: ChunkRows<'_>,
        after_parameters: impl FnOnce(&mut Self, &mut Chunk) -> Result<()>,
        bounds: impl Fn(Range<usize>) -> Option<Bounds>,
    ) -> Result<()> {
        chunk.scheme = plan.scheme_id();
        chunk.parameters = self.block(|out| {
            out.extend(reference.into_iter().flat_map(|reference| reference.column.to_le_bytes()));
            plan.encode_parameters(out);
        })?;
        after_parameters(self, chunk)?;
        let others = reference.map_or(IntegerSlice::EMPTY, |reference| reference.values);
        for (number, of_block) in rows.blocks().enumerate() {
            let bounds = bounds(of_block.clone());
            self.row_block(chunk, rows, of_block, bounds, |out| plan.encode_block(number, values, others, out))?;
        }
        Ok(())
    }

    fn wide(&mut self, values: &[i128], rows: ChunkRows<'_>) -> Result<Chunk> {
        let mut chunk = self.chunk(Layout::Wide);
        chunk.sum = rows.sum(values);
        let plan = wide::Plan::choose(values);
        chunk.parameters = self.block(|out| plan.encode_parameters(out))?;
        for (number, of_block) in rows.blocks().enumerate() {
            let (min, max) = bounds_of(&values[of_block.clone()], |value| value);
            let bounds = Some(Bounds::Numbers { min, max });
            self.row_block(&mut chunk, rows, of_block, bounds, |out| plan.encode_block(number, out))?;
        }
        Ok(chunk)
    }

    fn floats(&mut self, values: &mut [f64], rows: ChunkRows<'_>) -> Result<Chunk> {
        rows.fill(values, 0.0);
        let mut chunk = self.chunk(Layout::Floats);
        let plan = floats::Plan::choose(values);
        chunk.parameters = self.block(|out| plan.encode_parameters(out))?;
        for (number, of_block) in rows.blocks().enumerate() {
            let (min, max) = bounds_of(&values[of_block.clone()], float_order);
            let bounds = Some(Bounds::Numbers { min: min.into(), max: max.into() });
            self.row_block(&mut chunk, rows, of_block, bounds, |out| plan.encode_block(number, out))?;
        }
        Ok(chunk)
    }

    /// Aggregates null counts and bounds of the current chunk's blocks.
    pub(super) fn sum_up(&mut self, mut chunk: Chunk, rows: ChunkRows<'_>) -> Chunk {
        let (of_blocks, mut all) = (std::mem::take(&mut self.bounds), AllBounds::default());
        for ((block, bounds), of_block) in chunk.blocks.iter().zip(&of_blocks).zip(rows.blocks()) {
            chunk.nulls += block.nulls;
            all.add(bounds.as_ref(), block, of_block.len() as u32);
        }
        if let (RunLayout::PerRun(lengths), Some(validity)) = (rows.runs, rows.validity) {
            let nulls = lengths.iter().zip(validity.iter()).filter(|(_, valid)| !valid);
            chunk.nulls = nulls.map(|(length, _)| length).sum();
        }
        chunk.bounds = all.all();
        if of_blocks.len() > 1 {
            chunk.bounds_of_blocks = BoundsOfBlocks::new(of_blocks);
        }
        chunk
    }

    /// A new chunk at the current position.
    pub(super) fn chunk(&self, layout: Layout) -> Chunk {
        Chunk::new(layout, self.bytes.len() as u64)
    }

    /// Appends the output of `encode` as a block.
    pub(super) fn block(&mut self, encode: impl FnOnce(&mut Vec<u8>)) -> Result<Block> {
        let start = self.bytes.len();
        encode(self.bytes);
        block::seal(self.compression, self.bytes, start, &mut self.scratch)
    }

    /// Appends the validity and the values of some rows. The bounds are ignored if all rows are null.
    pub(super) fn row_block(
        &mut self,
        chunk: &mut Chunk,
        rows: ChunkRows<'_>,
        of_block: Range<usize>,
        bounds: Option<Bounds>,
        encode: impl FnOnce(&mut Vec<u8>),
    ) -> Result<()> {
        let count = of_block.len();
        let validity = rows.validity.map(|validity| validity.slice(of_block));
        let nulls = validity.map_or(0, |validity| validity.count_nulls());
        let mut block = RowBlock { nulls: nulls as u32, validity: Block::default(), values: Block::default() };
        self.bounds.push(bounds.filter(|_| nulls < count));
        if let Some(validity) = validity.filter(|_| nulls > 0) {
            let bitmap: Vec<u8> = validity.words().flat_map(|(word, _)| word.to_le_bytes()).collect();
            block.validity = self.block(|out| Validity::of_bitmap(&bitmap, count).encode(count, out))?;
        }
        block.values = self.block(encode)?;
        chunk.blocks.push(block);
        Ok(())
    }
}

/// A block from the middle of the integers, as a sample.
fn middle(values: IntegerSlice<'_>) -> IntegerSlice<'_> {
    let start = (values.len() - values.len().min(BLOCK_ROWS)) / 2;
    values.slice(start..start + values.len().min(BLOCK_ROWS))
}

/// The share of `bytes` that `part` of `all` rows account for.
fn share(bytes: u64, part: usize, all: usize) -> u64 {
    (u128::from(bytes) * part as u128 / all.max(1) as u128) as u64
}

/// Whether `bytes` is sufficiently smaller than a plan; a slightly larger size is enough if the plan has exceptions,
/// which decode more slowly.
fn is_smaller(bytes: u64, plan: &integers::Plan) -> bool {
    let percent = if plan.is_patched() { 100 + MIN_SAVING_PERCENT } else { 100 - MIN_SAVING_PERCENT };
    bytes * 100 < plan.estimated_bytes() * percent
}

/// The smallest plan for some integers, with the first of equally good references if it stores differences.
fn choose<'a>(values: IntegerSlice<'_>, references: &[Reference<'a>]) -> (integers::Plan, Option<Reference<'a>>) {
    let mut best = (integers::Plan::choose(values, IntegerSlice::EMPTY), None);
    for reference in references {
        let plan = integers::Plan::choose(values, reference.values);
        if plan.scheme_id() == DIFFERENCE && plan.estimated_bytes() < best.0.estimated_bytes() {
            best = (plan, Some(*reference));
        }
    }
    best
}

/// The bounds of a block.
fn bounds_of_block(of_blocks: &[(i64, i64)], rows: &Range<usize>) -> Option<Bounds> {
    let (min, max) = of_blocks.get(rows.start / BLOCK_ROWS)?;
    Some(Bounds::Numbers { min: (*min).into(), max: (*max).into() })
}

fn bounds_of<T: Copy, K: Ord + Copy>(values: &[T], key: impl Fn(T) -> K) -> (K, K) {
    let first = key(values[0]);
    values.iter().fold((first, first), |(min, max), &value| (min.min(key(value)), max.max(key(value))))
}
