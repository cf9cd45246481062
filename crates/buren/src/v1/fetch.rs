//! Which bytes of a file a scan is going to read, so that those that are far away come ahead of it, and together.

use crate::block::Block;
use crate::v1::footer::{Chunk, Content};
use crate::v1::scanner::BurenScanner;
use crate::v1::selection::Span;
use brc_core::{Order, ReadAhead, ReadAt, Split, Verdict};
use std::ops::Range;

impl Chunk {
    fn map(&self) -> Option<&Block> {
        match &self.content {
            Content::String { map, .. } => Some(map),
            Content::Decimal(_) => None,
        }
    }
}

impl BurenScanner<'_> {
    fn file(&self) -> &dyn ReadAt {
        self.reader.source().file
    }

    /// Says what is going to be read of a row group, and of some of those behind it.
    pub(crate) fn read_ahead(&mut self, split: &Split) {
        let mut ahead = std::mem::take(&mut self.ahead);
        let later = self.options.later_splits(self.reader, split.index);
        ahead.begin(self.file(), later, split.index, |split| self.bytes_of(split as usize));
        self.ahead = ahead;
    }

    /// Says that a row group was read.
    pub(crate) fn end_reading(&self, index: usize) {
        let chunks = self.columns.iter().map(|column| &self.reader.row_group(index).chunks[column.column]);
        ReadAhead::end(self.file(), chunks.flat_map(|chunk| &chunk.blocks).map(Block::place));
    }

    /// What is going to be read of a row group for sure.
    fn bytes_of(&self, index: usize) -> Vec<Range<u64>> {
        let row_group = self.reader.row_group(index);
        let verdict = self.decide(row_group);
        if verdict == Verdict::Never || (verdict == Verdict::Always && self.can_summarise(None)) {
            return Vec::new();
        }
        let chunks = self.columns.iter().map(|column| &row_group.chunks[column.column]);
        let mut blocks: Vec<&Block> = chunks.clone().filter_map(Chunk::map).collect();
        if let Some(cluster) = &row_group.cluster {
            let key = &row_group.chunks[cluster.key];
            blocks.push(&cluster.run_index);
            blocks.extend(key.map());
            if self.options.order == Order::Original {
                blocks.extend(&key.blocks);
            }
        }
        let is_clustered = row_group.cluster.is_some() && self.options.order == Order::Any;
        if !is_clustered {
            blocks.extend(chunks.flat_map(|chunk| &chunk.blocks));
        }
        blocks.into_iter().map(Block::place).collect()
    }

    /// Says that some rows of a clustered row group are going to be read of all columns but the key.
    pub(crate) fn expect_spans(&self, index: usize, key: usize, spans: &[Span]) {
        if !self.file().is_remote() {
            return;
        }
        let of_block = self.reader.footer().rows_per_block;
        let blocks = |span: &Span| {
            let end = (span.first_row + span.rows).div_ceil(of_block);
            (span.first_row / of_block) as usize..end as usize
        };
        let columns = self.columns.iter().filter(|column| column.column != key);
        let chunks = columns.map(|column| &self.reader.row_group(index).chunks[column.column]);
        let places = chunks.flat_map(|chunk| {
            let blocks = spans.iter().flat_map(blocks).filter_map(|block| chunk.blocks.get(block));
            blocks.map(Block::place)
        });
        self.file().expect(places.collect());
    }
}
