//! Determines which bytes of a file a scan will read, so that remote ranges can be prefetched together.
//!
//! This follows the decisions of [`FileScanner::scan_row_group`]. Where these depend on bytes that must be read first,
//! only the latter are announced here; the rest is announced as soon as it is known.

use super::delivery::RowRange;
use super::footer::{Chunk, Cluster};
use super::scanner::FileScanner;
use super::shared_dictionary::parts_of;
use crate::block::Block;
use brc_core::{Order, PruneResult, ReadAhead, Split};
use std::ops::Range;

impl Chunk {
    /// The byte ranges of the chunk, except run statistics.
    pub(super) fn ranges(&self) -> impl Iterator<Item = Range<u64>> {
        self.shared_ranges().chain((0..self.blocks.len()).flat_map(|block| self.ranges_of(block)))
    }

    /// The byte ranges shared by all blocks.
    fn shared_ranges(&self) -> impl Iterator<Item = Range<u64>> {
        let dictionary = self.dictionary.iter().map(|(_, block)| block);
        [&self.parameters, &self.tokens].into_iter().chain(dictionary).map(Block::range)
    }

    fn ranges_of(&self, block: usize) -> impl Iterator<Item = Range<u64>> {
        self.blocks.get(block).into_iter().flat_map(|block| [block.validity.range(), block.values.range()])
    }
}

impl FileScanner<'_> {
    /// Announces the byte ranges of a row group and of some later ones.
    pub(super) fn read_ahead(&mut self, split: &Split) {
        let mut ahead = std::mem::take(&mut self.ahead);
        let file = self.reader.source().file;
        let later = self.options.later_splits(self.reader, split.index);
        ahead.begin(file, later, split.index, |split| self.bytes_of(split as usize));
        self.ahead = ahead;
    }

    /// Announces that a row group has been read.
    pub(super) fn end_reading(&self, index: usize) {
        let of_columns = self.columns.iter().map(|column| column.chunk_of(index));
        let (reader, cluster) = (self.reader, self.reader.row_group(index).cluster);
        let of_cluster = [reader.footer.order_streams(), reader.footer.run_lengths()];
        let of_cluster = of_cluster.into_iter().filter_map(|number| cluster.and(reader.loaded_column(number)));
        let of_cluster = of_cluster.map(|column| &column.chunks[index]);
        let ranges =
            of_columns.chain(of_cluster).map(|chunk| chunk.offset..chunk.offset.saturating_add(chunk.stored_bytes()));
        ReadAhead::end(self.reader.source().file, ranges);
    }

    /// The order stream or the run lengths of a row group, if it is clustered.
    fn chunk_of_cluster(&self, index: usize, number: usize) -> Option<&Chunk> {
        let column = self.reader.row_group(index).cluster.and(self.reader.column(number).ok());
        column.map(|column| &column.chunks[index])
    }

    /// The byte ranges of a row group that will certainly be read.
    fn bytes_of(&self, index: usize) -> Vec<Range<u64>> {
        let prune_result = self.prune_result(index);
        if let Some(counts) = &self.counts {
            return self.dictionaries().chain(counts.ranges_of(index)).collect();
        }
        if prune_result == PruneResult::Never
            || (prune_result == PruneResult::Always && self.statistics_of(index).is_some())
        {
            return Vec::new();
        }
        let reader = self.reader;
        let lengths = self.chunk_of_cluster(index, reader.footer.run_lengths());
        let chunks = || self.columns.iter().map(|column| column.chunk_of(index));
        let needs_filter = prune_result == PruneResult::Maybe;
        let of_unpruned_blocks = |key| {
            let all = RowRange { rows: 0..reader.row_group(index).rows as usize, needs_filter };
            let blocks: Vec<_> = self.unpruned_blocks(index, key, &[all]).into_iter().map(|(block, _)| block).collect();
            self.ranges_of_blocks(index, key, blocks.into_iter())
        };
        match reader.row_group(index).cluster {
            Some(_) if self.options.order == Order::Original => {
                let order = self.chunk_of_cluster(index, reader.footer.order_streams());
                self.dictionaries().chain(chunks().chain(lengths).chain(order).flat_map(Chunk::ranges)).collect()
            }
            Some(Cluster { key, .. }) if self.needs_runs(index, key, prune_result) => {
                let of_key = self.columns.iter().find(|column| column.column == key);
                let of_runs = of_key.map(|column| column.chunk_of(index)).into_iter().chain(lengths);
                let first = self.dictionaries().chain(of_runs.flat_map(Chunk::ranges));
                let summarises = self.may_summarise_runs(index);
                let statistics = chunks().map(|chunk| chunk.run_index.range()).filter(|_| needs_filter || summarises);
                let first = first.chain(statistics);
                // Which runs the key or the statistics leave is only known once they have been read.
                match if needs_filter { self.predicate_has(key) } else { summarises } {
                    true => first.collect(),
                    false => first.chain(of_unpruned_blocks(Some(key))).collect(),
                }
            }
            _ => self.dictionaries().chain(of_unpruned_blocks(None)).collect(),
        }
    }

    /// Whether the predicate reads a column.
    pub(super) fn predicate_has(&self, column: usize) -> bool {
        let mut columns = Vec::new();
        self.options.predicate.iter().for_each(|predicate| predicate.columns(&mut columns));
        columns.contains(&column)
    }

    /// Announces blocks of a row group in all columns except the cluster key.
    pub(super) fn expect_blocks(&self, index: usize, key: Option<usize>, blocks: &[(usize, usize)]) {
        let file = self.reader.source().file;
        if file.is_remote() {
            file.expect(self.ranges_of_blocks(index, key, blocks.iter().map(|(block, _)| *block)).collect());
        }
    }

    /// The byte ranges of some blocks of a row group, including what they share.
    fn ranges_of_blocks(
        &self,
        index: usize,
        key: Option<usize>,
        blocks: impl Iterator<Item = usize> + Clone,
    ) -> impl Iterator<Item = Range<u64>> {
        let is_any = blocks.clone().next().is_some();
        let columns = self.columns.iter().filter(move |column| is_any && Some(column.column) != key);
        columns.map(move |column| column.chunk_of(index)).flat_map(move |chunk| {
            let in_runs = chunk.is_in_runs().then(|| chunk.run_index.range());
            let of_rows = blocks.clone().flat_map(|block| chunk.ranges_of(block));
            chunk.shared_ranges().chain(in_runs).chain(of_rows)
        })
    }

    /// The byte ranges of the file's dictionaries that the scan needs; empty except on the first call.
    fn dictionaries(&self) -> impl Iterator<Item = Range<u64>> {
        let reader = self.reader;
        let row_groups = reader.footer.row_groups.len();
        self.columns.iter().filter(|column| column.column < reader.dictionaries.len()).flat_map(move |column| {
            let parts = &reader.footer.dictionaries[column.column].parts;
            let is_first = !parts.is_empty() && reader.dictionaries[column.column].is_first();
            let possible = (0..row_groups).filter(|&index| is_first && self.prune_result(index) != PruneResult::Never);
            let codes = possible.map(|index| column.chunk_of(index).codes).max().unwrap_or(0);
            let parts = &parts[..parts_of(parts, codes as usize)];
            parts.iter().flat_map(|part| part.all_blocks().map(Block::range))
        })
    }
}
