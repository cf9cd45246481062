//! The metadata of a file in memory. [`super::footer_message`] parses and writes it, and [`super::footer_check`] checks
//! it against itself and the file size.
//!
//! Most of it describes chunks of columns that a query does not read. These are not part of [`Footer`], which every
//! reader needs, but parsed column by column.

use super::bounds::{Bounds, BoundsOfBlocks};
use crate::block::Block;
use crate::integers::DIFFERENCE;
use brc_compress::Compression;
use brc_core::predicate::ValueBounds;
use brc_core::{PhysicalType, Schema};

/// The maximum number of rows of a row group.
pub(super) const MAX_ROW_GROUP_ROWS: u32 = 1 << 26;

/// The number of additional chunks of a clustered row group: the order stream and the run lengths.
pub(super) const CHUNKS_OF_CLUSTER: usize = 2;

/// The name of the order stream in messages.
pub(super) const ORDER_STREAM: &str = "(order of rows)";

/// The name of the run lengths in messages.
pub(super) const RUN_LENGTHS: &str = "(lengths of runs)";

pub(crate) struct Footer {
    pub(super) schema: Schema,
    pub(super) rows: u64,
    pub(super) compression: &'static dyn Compression,
    /// The dictionary of each column; without parts if there is none.
    pub(super) dictionaries: Vec<Dictionary>,
    pub(super) row_groups: Vec<RowGroup>,
    pub(super) unused: Vec<Unused>,
    pub(super) metadata: Vec<(String, Vec<u8>)>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct RowGroup {
    pub(super) rows: u32,
    /// `None` if rows are stored in original order.
    pub(super) cluster: Option<Cluster>,
}

/// How the rows of a row group are clustered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cluster {
    /// The column of the cluster key.
    pub(super) key: usize,
    /// The number of runs, which is the number of distinct key values, null included.
    pub(super) runs: u32,
}

/// All chunks of a column, or all order streams, or all run lengths.
pub(super) struct StoredColumn {
    /// The column's number; order streams come after all columns, then run lengths.
    pub(super) number: usize,
    /// One chunk per row group, without blocks if the row group has no such chunk.
    pub(super) chunks: Vec<Chunk>,
    /// The number of rows of each value in the column's dictionary, if known.
    pub(super) counts: Option<Chunk>,
}

impl StoredColumn {
    /// The chunks of all row groups, and the value counts.
    pub(super) fn all_chunks(&self) -> impl Iterator<Item = &Chunk> {
        self.chunks.iter().chain(&self.counts)
    }
}

/// The dictionary of a column of the file, in code order.
#[derive(Debug, Clone, Default)]
pub(super) struct Dictionary {
    pub(super) parts: Vec<DictionaryPart>,
}

/// Values that were written together.
#[derive(Debug, Clone)]
pub(super) struct DictionaryPart {
    /// The offset of its first block.
    pub(super) offset: u64,
    /// New tokens for this part and later ones, if any.
    pub(super) tokens: Block,
    /// The blocks, each with its number of values. Values ascend across all blocks of a part.
    pub(super) blocks: Vec<(u32, Block)>,
}

/// Bytes that no longer belong to the table.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unused {
    pub(super) offset: u64,
    pub(super) bytes: u64,
    pub(super) checksum: u32,
}

/// How the values of a chunk are stored; the ids are part of the file format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// Integers of up to 64 bits.
    Integers = 0,
    /// Integers of 128 bits.
    Wide = 1,
    Floats = 2,
    /// Each row has its own string.
    Strings = 3,
    /// Codes of the chunk's dictionary of strings.
    Codes = 4,
    /// Codes of the column's dictionary of strings.
    FileCodes = 5,
    /// Integers of up to 64 bits, relative to the minimum of their run.
    InRuns = 6,
}

impl Layout {
    pub(super) fn from_id(id: u8) -> Option<Self> {
        let all = [Self::Integers, Self::Wide, Self::Floats, Self::Strings, Self::Codes, Self::FileCodes, Self::InRuns];
        all.into_iter().nth(id.into())
    }

    /// The physical type of the values.
    pub(super) fn physical(self) -> PhysicalType {
        match self {
            Self::Integers | Self::Wide | Self::InRuns => PhysicalType::Integers,
            Self::Floats => PhysicalType::Floats,
            Self::Strings | Self::Codes | Self::FileCodes => PhysicalType::Bytes,
        }
    }
}

/// One column of one row group.
#[derive(Debug, Clone)]
pub(super) struct Chunk {
    /// The offset of its first block in the file, or in its [`brc_core::Part`] before that is appended.
    pub(super) offset: u64,
    pub(super) layout: Layout,
    /// The scheme of integers and codes.
    pub(super) scheme: u8,
    pub(super) nulls: u32,
    pub(super) parameters: Block,
    pub(super) tokens: Block,
    /// The blocks of the chunk's dictionary, each with its number of values.
    pub(super) dictionary: Vec<(u32, Block)>,
    /// An upper bound (exclusive) of codes in the column's dictionary.
    pub(super) codes: u32,
    /// The statistics of runs, if they are stored.
    pub(super) run_index: Block,
    pub(super) blocks: Vec<RowBlock>,
    pub(super) bounds: Option<Bounds>,
    /// Also unknown if there is only one block.
    pub(super) bounds_of_blocks: BoundsOfBlocks,
    pub(super) sum: Option<i128>,
    /// The column from which the chunk stores differences, while it is being written; stored as a parameter.
    pub(super) reference: Option<u32>,
}

/// [`BLOCK_ROWS`](crate::integers::BLOCK_ROWS) rows of a chunk, fewer in the last block.
#[derive(Debug, Clone)]
pub(super) struct RowBlock {
    pub(super) nulls: u32,
    pub(super) validity: Block,
    pub(super) values: Block,
}

impl Chunk {
    pub(super) fn new(layout: Layout, offset: u64) -> Self {
        Self {
            offset,
            layout,
            scheme: 0,
            nulls: 0,
            parameters: Block::default(),
            tokens: Block::default(),
            dictionary: Vec::new(),
            codes: 0,
            run_index: Block::default(),
            blocks: Vec::new(),
            bounds: None,
            bounds_of_blocks: BoundsOfBlocks::Unknown,
            sum: None,
            reference: None,
        }
    }

    /// Whether its values are codes.
    pub(super) fn is_coded(&self) -> bool {
        matches!(self.layout, Layout::Codes | Layout::FileCodes)
    }

    /// Whether all its values are codes of the column's dictionary.
    pub(super) fn is_of_file(&self, rows: u32) -> bool {
        self.layout == Layout::FileCodes || self.nulls == rows
    }

    /// Whether its values are integers of at most 64 bits, relative to runs or not.
    pub(super) fn is_of_integers(&self) -> bool {
        matches!(self.layout, Layout::Integers | Layout::InRuns)
    }

    /// Whether its values are relative to the minimum of their run.
    pub(super) fn is_in_runs(&self) -> bool {
        self.layout == Layout::InRuns
    }

    /// Whether it stores differences from another column.
    pub(super) fn is_difference(&self) -> bool {
        self.layout == Layout::Integers && self.scheme == DIFFERENCE
    }

    /// Whether its values are integers that can be decoded without other chunks.
    pub(super) fn is_by_itself(&self) -> bool {
        self.layout == Layout::Integers && !self.is_difference()
    }

    /// The statistics of a block, if known.
    pub(super) fn statistics_of_block(&self, number: usize) -> Option<ValueBounds<'_>> {
        match self.blocks.len() {
            1 => self.bounds.as_ref().map(Bounds::value_bounds),
            _ => self.bounds_of_blocks.value_bounds(number),
        }
    }

    /// The number of value blocks that the footer lists.
    pub(super) fn stored_blocks(&self) -> usize {
        self.blocks.len() + self.dictionary.len()
    }

    /// The number of distinct values in the chunk's dictionary.
    pub(super) fn distinct(&self) -> u64 {
        self.dictionary.iter().map(|(values, _)| u64::from(*values)).sum()
    }

    /// All blocks in file order.
    pub(super) fn all_blocks(&self) -> impl Iterator<Item = &Block> {
        let of_rows = self.blocks.iter().flat_map(|block| [&block.validity, &block.values]);
        let dictionary = self.dictionary.iter().map(|(_, block)| block);
        [&self.parameters, &self.tokens].into_iter().chain(dictionary).chain([&self.run_index]).chain(of_rows)
    }

    /// All blocks in file order, mutable.
    pub(super) fn all_blocks_mut(&mut self) -> impl Iterator<Item = &mut Block> {
        let of_rows = self.blocks.iter_mut().flat_map(|block| [&mut block.validity, &mut block.values]);
        let dictionary = self.dictionary.iter_mut().map(|(_, block)| block);
        let shared = [&mut self.parameters, &mut self.tokens].into_iter().chain(dictionary);
        shared.chain([&mut self.run_index]).chain(of_rows)
    }

    /// The stored size in bytes.
    pub(super) fn stored_bytes(&self) -> u64 {
        self.all_blocks().map(|block| u64::from(block.stored)).sum()
    }

    /// Sets the offset of each block.
    pub(super) fn place_blocks(&mut self) {
        let offset = self.offset;
        set_offsets(self.all_blocks_mut(), offset);
    }
}

impl Dictionary {
    /// The number of values.
    pub(super) fn values(&self) -> u64 {
        self.parts.iter().flat_map(|part| &part.blocks).map(|(values, _)| u64::from(*values)).sum()
    }
}

impl DictionaryPart {
    /// All blocks in file order.
    pub(super) fn all_blocks(&self) -> impl Iterator<Item = &Block> {
        std::iter::once(&self.tokens).chain(self.blocks.iter().map(|(_, block)| block))
    }

    /// The stored size in bytes.
    pub(super) fn stored_bytes(&self) -> u64 {
        self.all_blocks().map(|block| u64::from(block.stored)).sum()
    }

    /// Sets the offset of each block.
    pub(super) fn place_blocks(&mut self) {
        set_offsets(
            std::iter::once(&mut self.tokens).chain(self.blocks.iter_mut().map(|(_, block)| block)),
            self.offset,
        );
    }
}

/// Sets the offsets of contiguous blocks.
fn set_offsets<'a>(blocks: impl Iterator<Item = &'a mut Block>, mut offset: u64) {
    for block in blocks {
        block.offset = offset;
        offset = offset.saturating_add(block.stored.into());
    }
}

impl Footer {
    /// The number of the order streams, which follow the columns.
    pub(super) fn order_streams(&self) -> usize {
        self.schema.fields().len()
    }

    /// The number of values in the chunk of a column. Those of the cluster key and the run lengths have one value per
    /// run.
    pub(super) fn values_of(&self, row_group: &RowGroup, column: usize) -> u32 {
        let of_runs = row_group.cluster.filter(|cluster| [cluster.key, self.run_lengths()].contains(&column));
        of_runs.map_or(row_group.rows, |cluster| cluster.runs)
    }

    /// The number of the run lengths.
    pub(super) fn run_lengths(&self) -> usize {
        self.order_streams() + 1
    }

    /// The name of a column, of the order stream or of the run lengths.
    pub(super) fn name(&self, column: usize) -> &str {
        match self.schema.fields().get(column) {
            Some(field) => &field.name,
            None if column == self.order_streams() => ORDER_STREAM,
            None => RUN_LENGTHS,
        }
    }
}
