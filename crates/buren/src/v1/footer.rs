//! What a file knows of itself, in memory. [`crate::v1::footer_message`] turns it into bytes and back, and
//! [`crate::v1::footer_check`] holds it against itself and the file's size.

use crate::block::Block;
use crate::integer_buffer::Width;
use crate::v1::schemes::{Facts, Scheme};
use brc_compress::Compression;
use brc_core::{LogicalType, Schema, Statistics};

/// Rows of a block that this crate writes; a reader takes it from the footer.
pub(crate) const ROWS_PER_BLOCK: u32 = 1 << 16;

pub(crate) struct Footer {
    pub(crate) schema: Schema,
    pub(crate) rows: u64,
    pub(crate) rows_per_block: u32,
    pub(crate) compression: &'static dyn Compression,
    /// One for each column; empty for those that are no strings.
    pub(crate) dictionaries: Vec<DictionaryBlocks>,
    pub(crate) row_groups: Vec<RowGroup>,
}

/// Where the distinct values of a string column are.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct DictionaryBlocks {
    pub(crate) values: u32,
    /// Each with how many values it has.
    pub(crate) blocks: Vec<(u32, Block)>,
}

#[derive(Clone)]
pub(crate) struct RowGroup {
    pub(crate) rows: u32,
    /// `None` if the rows lie in their original order.
    pub(crate) cluster: Option<Cluster>,
    pub(crate) chunks: Vec<Chunk>,
}

/// How the rows of a row group are clustered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cluster {
    /// The column whose values make the runs; its own chunk is the order stream.
    pub(crate) key: usize,
    pub(crate) run_index: Block,
}

/// One column of one row group.
#[derive(Clone)]
pub(crate) struct Chunk {
    pub(crate) scheme: &'static dyn Scheme,
    pub(crate) width: u8,
    pub(crate) content: Content,
    pub(crate) blocks: Vec<Block>,
}

/// What is known of the values of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    /// Codes from 0 to `cardinality` - 1, and the block that maps them to those of the dictionary.
    String { cardinality: u32, map: Block },
    /// Numbers with these statistics.
    Decimal(Statistics),
}

impl Chunk {
    /// The smallest and the largest integer stored.
    pub(crate) fn bounds(&self) -> (i64, i64) {
        match &self.content {
            Content::String { cardinality, .. } => (0, i64::from(cardinality.saturating_sub(1))),
            Content::Decimal(statistics) => (statistics.min, statistics.max),
        }
    }

    /// The narrowest width that holds the integers stored.
    pub(crate) fn width_in_memory(&self) -> Width {
        let (min, max) = self.bounds();
        Width::holding(min, max)
    }

    /// What the scheme knew when it encoded the chunk; of the runs, the most that is possible.
    pub(crate) fn facts(&self, has_run_statistics: bool) -> Facts {
        let (min, max) = self.bounds();
        Facts { min, max, widest_run: has_run_statistics.then_some(max.wrapping_sub(min) as u64) }
    }

    /// The number of distinct values of a string chunk; 0 for a decimal one.
    pub(crate) fn cardinality(&self) -> u32 {
        match self.content {
            Content::String { cardinality, .. } => cardinality,
            Content::Decimal(_) => 0,
        }
    }

    /// The statistics of a decimal chunk.
    pub(crate) fn statistics(&self) -> Option<&Statistics> {
        match &self.content {
            Content::String { .. } => None,
            Content::Decimal(statistics) => Some(statistics),
        }
    }
}

impl RowGroup {
    /// Whether the run index has statistics of that column.
    pub(crate) fn has_run_statistics(&self, column: usize) -> bool {
        self.cluster.is_some() && self.chunks[column].statistics().is_some()
    }
}

impl Footer {
    /// The name of a column.
    pub(crate) fn name(&self, column: usize) -> &str {
        &self.schema.fields()[column].name
    }

    pub(crate) fn is_string(&self, column: usize) -> bool {
        self.schema.fields()[column].logical_type == LogicalType::String
    }

    /// All blocks in the order in which they lie in the file.
    pub(crate) fn blocks_mut(&mut self) -> impl Iterator<Item = &mut Block> {
        let mut in_groups = Vec::new();
        let mut maps = Vec::new();
        for row_group in &mut self.row_groups {
            for chunk in &mut row_group.chunks {
                in_groups.extend(&mut chunk.blocks);
                if let Content::String { map, .. } = &mut chunk.content {
                    maps.push(map);
                }
            }
            in_groups.extend(row_group.cluster.as_mut().map(|cluster| &mut cluster.run_index));
        }
        let dictionaries = self.dictionaries.iter_mut().flat_map(|dictionary| &mut dictionary.blocks);
        in_groups.into_iter().chain(dictionaries.map(|(_, block)| block)).chain(maps)
    }
}
