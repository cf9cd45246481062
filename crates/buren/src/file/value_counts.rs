//! The number of occurrences of each value in a column's dictionary. For a query that reads only this column, each
//! value is delivered once with its count, and no codes are read.

use super::column::{BATCH_ROWS, ScanColumn};
use super::decoder::Decoder;
use super::footer::{Chunk, StoredColumn};
use super::reader::Reader;
use crate::Malformed;
use crate::block::{BlockBuffer, Cost};
use crate::integers::{BLOCK_ROWS, Block};
use crate::location::Location;
use brc_core::{Batch, Bitmap, Column, Result, Sink};
use std::ops::Range;
use std::time::Instant;

/// The value counts of a column.
pub(super) struct ValueCounts<'r> {
    reader: &'r Reader,
    column: &'r StoredColumn,
    chunk: &'r Chunk,
    /// The number of values counted.
    pub(super) values: usize,
    /// `None` before the first block.
    decoder: Option<Decoder>,
    buffer: BlockBuffer,
}

impl<'r> ValueCounts<'r> {
    /// The value counts of a column, if they are stored.
    pub(super) fn of(reader: &'r Reader, column: &'r StoredColumn) -> Option<Self> {
        let values = reader.footer.dictionaries.get(column.number)?.values() as usize;
        let chunk = column.counts.as_ref()?;
        Some(Self { reader, column, chunk, values, decoder: None, buffer: BlockBuffer::default() })
    }

    /// Reads the counts of a block of values.
    fn read(&mut self, block: usize, cost: &mut Cost) -> Result<Vec<u32>> {
        let (reader, chunk) = (self.reader, self.chunk);
        let location = Location::Counts { column: reader.footer.name(self.column.number) };
        let corrupt = |reason: Malformed| reader.corrupt(location, reason);
        let decoder = match &mut self.decoder {
            Some(decoder) => decoder,
            none => {
                self.buffer.load(reader.source(), &chunk.parameters, location, cost)?;
                none.insert(Decoder::open(chunk, self.buffer.bytes(), None).map_err(corrupt)?)
            }
        };
        self.buffer.load(reader.source(), &chunk.blocks[block].values, location, cost)?;
        let started = Instant::now();
        let Range { start, end } = of_block(block, self.values);
        let stored = Block { bytes: self.buffer.bytes(), rows: end - start, start: start as u64 };
        let mut counts = Vec::with_capacity(end - start);
        for first in (0..end - start).step_by(BATCH_ROWS) {
            let batch = first..(end - start).min(first + BATCH_ROWS);
            decoder.decode(&stored, batch.clone(), None).map_err(corrupt)?;
            let Some(decoded) = decoder.integers() else { return Err(corrupt(TOO_MANY)) };
            counts.extend(batch.map(|row| decoded.get(row - first)));
        }
        cost.decode_time += started.elapsed();
        let counts: std::result::Result<Vec<u32>, _> = counts.into_iter().map(u32::try_from).collect();
        let are_known =
            |counts: &Vec<u32>| counts.iter().map(|&count| u64::from(count)).sum::<u64>() <= reader.footer.rows;
        counts.ok().filter(are_known).ok_or_else(|| corrupt(TOO_MANY))
    }

    /// The byte ranges of the counts that are delivered with a row group.
    pub(super) fn ranges_of(&self, row_group: usize) -> impl Iterator<Item = Range<u64>> {
        let first = (row_group == 0).then(|| self.chunk.parameters.range());
        let row_groups = self.reader.footer.row_groups.len();
        first
            .into_iter()
            .chain(self.chunk.blocks.iter().skip(row_group).step_by(row_groups).map(|it| it.values.range()))
    }

    /// Reads all counts.
    pub(super) fn read_all(&mut self, cost: &mut Cost) -> Result<Vec<u32>> {
        let blocks = (0..self.chunk.blocks.len()).map(|block| self.read(block, cost));
        Ok(blocks.collect::<Result<Vec<_>>>()?.concat())
    }

    /// Delivers the nulls of a row group, and its share of the dictionary's values with their counts over all row
    /// groups.
    pub(super) fn deliver(
        &mut self,
        row_group: usize,
        column: &mut ScanColumn<'_>,
        sink: &mut dyn Sink,
        cost: &mut Cost,
    ) -> Result<()> {
        column.values.expect_codes(self.values);
        column.read_file_dictionary(self.values, cost)?;
        for block in (row_group..self.chunk.blocks.len()).step_by(self.reader.footer.row_groups.len()) {
            let counts = self.read(block, cost)?;
            let values = of_block(block, self.values).zip(counts).filter(|(_, rows)| *rows > 0);
            let (codes, weights): (Vec<u32>, Vec<u32>) =
                values.map(|(value, rows)| (column.values.code_of(value), rows)).unzip();
            for (codes, weights) in codes.chunks(BATCH_ROWS).zip(weights.chunks(BATCH_ROWS)) {
                let columns = [Column::codes(codes, column.dictionary())];
                sink.weighted(&Batch { rows: codes.len(), columns: &columns }, weights)?;
            }
        }
        match self.column.chunks[row_group].nulls {
            0 => Ok(()),
            nulls => {
                let null = Column::codes(&[0], column.dictionary()).with_validity(Some(Bitmap::new(&[0], 0, 1)));
                sink.weighted(&Batch { rows: 1, columns: &[null] }, &[nulls])
            }
        }
    }
}

const TOO_MANY: Malformed = Malformed("they are more than there are rows");

/// The values whose counts are in a block.
fn of_block(block: usize, values: usize) -> Range<usize> {
    block * BLOCK_ROWS..values.min((block + 1) * BLOCK_ROWS)
}
