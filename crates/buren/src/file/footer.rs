//! What a file knows of itself, in memory. [`super::footer_message`] turns it into bytes and back, and
//! [`super::footer_check`] holds it against itself and the file's size.
//!
//! Most of it are the chunks of columns that a question does not ask for. So they are no part of [`Footer`], which every
//! reader needs: chunks are read column by column.

use super::bounds::{Bounds, BoundsOfBlocks};
use crate::block::Block;
use crate::integers::DIFFERENCE;
use brc_compress::Compression;
use brc_core::predicate::KnownValues;
use brc_core::{PhysicalType, Schema};

/// Rows of a row group are at most this many.
pub(super) const MOST_ROWS: u32 = 1 << 26;

/// A clustered row group has so many chunks beside those of the columns: the order stream and the lengths of runs.
pub(super) const CHUNKS_OF_CLUSTER: usize = 2;

/// What messages call the order stream.
pub(super) const ORDER_STREAM: &str = "(order of rows)";

/// What messages call the lengths of runs.
pub(super) const RUN_LENGTHS: &str = "(lengths of runs)";

pub(crate) struct Footer {
    pub(super) schema: Schema,
    pub(super) rows: u64,
    pub(super) compression: &'static dyn Compression,
    /// Of each column; without parts if it has none.
    pub(super) dictionaries: Vec<Dictionary>,
    pub(super) row_groups: Vec<RowGroup>,
    pub(super) unused: Vec<Unused>,
    pub(super) metadata: Vec<(String, Vec<u8>)>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct RowGroup {
    pub(super) rows: u32,
    /// `None` if rows lie in their original order.
    pub(super) cluster: Option<Cluster>,
}

/// How the rows of a row group are clustered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cluster {
    /// The column by which they are.
    pub(super) key: usize,
    /// How many runs there are: distinct values of the key, with null.
    pub(super) runs: u32,
}

/// All chunks of a column; or the order streams, or the lengths of runs, of all row groups.
pub(super) struct StoredColumn {
    /// Order streams come after all columns, then lengths of runs.
    pub(super) number: usize,
    /// One for each row group; one without blocks where a row group has no such chunk.
    pub(super) chunks: Vec<Chunk>,
    /// How often each value of the column's dictionary occurs, if that is known.
    pub(super) counts: Option<Chunk>,
}

impl StoredColumn {
    /// Those of all row groups, and what stands beside them.
    pub(super) fn all_chunks(&self) -> impl Iterator<Item = &Chunk> {
        self.chunks.iter().chain(&self.counts)
    }
}

/// The dictionary of a column of the file, in the order of its codes.
#[derive(Debug, Clone, Default)]
pub(super) struct Dictionary {
    pub(super) parts: Vec<DictionaryPart>,
}

/// Values that were written together.
#[derive(Debug, Clone)]
pub(super) struct DictionaryPart {
    /// Where its first block starts.
    pub(super) offset: u64,
    /// New ones for this part and those behind it, if there are some.
    pub(super) tokens: Block,
    /// Each block with how many values it has, which ascend in all blocks of a part.
    pub(super) blocks: Vec<(u32, Block)>,
}

/// Bytes that are no longer part of the table.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unused {
    pub(super) offset: u64,
    pub(super) bytes: u64,
    pub(super) checksum: u32,
}

/// How the values of a chunk are stored; the numbers stand in files.
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
    /// Integers of up to 64 bits, less the smallest of their run.
    InRuns = 6,
}

impl Layout {
    pub(super) fn from_id(id: u8) -> Option<Self> {
        let all = [Self::Integers, Self::Wide, Self::Floats, Self::Strings, Self::Codes, Self::FileCodes, Self::InRuns];
        all.into_iter().nth(id.into())
    }

    /// The values that can be stored so.
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
    /// Where its first block starts; while it is part of a [`brc_core::Part`], in that.
    pub(super) offset: u64,
    pub(super) layout: Layout,
    /// Of integers and codes.
    pub(super) scheme: u8,
    pub(super) nulls: u32,
    pub(super) parameters: Block,
    pub(super) tokens: Block,
    /// Each block with how many values it has.
    pub(super) dictionary: Vec<(u32, Block)>,
    /// All codes of the column's dictionary are below it.
    pub(super) codes: u32,
    /// The statistics of each run, if they are stored.
    pub(super) run_index: Block,
    pub(super) blocks: Vec<RowBlock>,
    pub(super) bounds: Option<Bounds>,
    /// Unknown also if there is only one.
    pub(super) bounds_of_blocks: BoundsOfBlocks,
    pub(super) sum: Option<i128>,
    /// The column that it has differences from, as long as it is being written: in the file it is one of the parameters.
    pub(super) reference: Option<u32>,
}

/// [`BLOCK_ROWS`](crate::integers::BLOCK_ROWS) rows of a chunk, or those that are left.
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

    /// Whether all its values are of the column's dictionary.
    pub(super) fn is_of_file(&self, rows: u32) -> bool {
        self.layout == Layout::FileCodes || self.nulls == rows
    }

    /// Whether it has the values of integers of 64 bits, in one way or the other.
    pub(super) fn is_of_integers(&self) -> bool {
        matches!(self.layout, Layout::Integers | Layout::InRuns)
    }

    /// Whether its values are differences from the smallest of their run.
    pub(super) fn is_in_runs(&self) -> bool {
        self.layout == Layout::InRuns
    }

    /// Whether it has differences from another column.
    pub(super) fn is_difference(&self) -> bool {
        self.layout == Layout::Integers && self.scheme == DIFFERENCE
    }

    /// What is known of the values of a block, if that is known.
    pub(super) fn known_of_block(&self, number: usize) -> Option<KnownValues<'_>> {
        match self.blocks.len() {
            1 => self.bounds.as_ref().map(Bounds::known),
            _ => self.bounds_of_blocks.known(number),
        }
    }

    /// How many blocks of values the footer lists for it.
    pub(super) fn stored_blocks(&self) -> usize {
        self.blocks.len() + self.dictionary.len()
    }

    /// How many distinct values the dictionary has.
    pub(super) fn distinct(&self) -> u64 {
        self.dictionary.iter().map(|(values, _)| u64::from(*values)).sum()
    }

    /// All blocks in the order in which they lie in the file.
    pub(super) fn all_blocks(&self) -> impl Iterator<Item = &Block> {
        let of_rows = self.blocks.iter().flat_map(|block| [&block.validity, &block.values]);
        let dictionary = self.dictionary.iter().map(|(_, block)| block);
        [&self.parameters, &self.tokens].into_iter().chain(dictionary).chain([&self.run_index]).chain(of_rows)
    }

    /// The same, to be changed.
    pub(super) fn all_blocks_mut(&mut self) -> impl Iterator<Item = &mut Block> {
        let of_rows = self.blocks.iter_mut().flat_map(|block| [&mut block.validity, &mut block.values]);
        let dictionary = self.dictionary.iter_mut().map(|(_, block)| block);
        let shared = [&mut self.parameters, &mut self.tokens].into_iter().chain(dictionary);
        shared.chain([&mut self.run_index]).chain(of_rows)
    }

    /// Its size in the file in bytes.
    pub(super) fn stored_bytes(&self) -> u64 {
        self.all_blocks().map(|block| u64::from(block.stored)).sum()
    }

    /// Gives each block its offset.
    pub(super) fn place_blocks(&mut self) {
        let offset = self.offset;
        place(self.all_blocks_mut(), offset);
    }
}

impl Dictionary {
    /// How many values it has.
    pub(super) fn values(&self) -> u64 {
        self.parts.iter().flat_map(|part| &part.blocks).map(|(values, _)| u64::from(*values)).sum()
    }
}

impl DictionaryPart {
    /// All blocks in the order in which they lie in the file.
    pub(super) fn all_blocks(&self) -> impl Iterator<Item = &Block> {
        std::iter::once(&self.tokens).chain(self.blocks.iter().map(|(_, block)| block))
    }

    /// Its size in the file in bytes.
    pub(super) fn stored_bytes(&self) -> u64 {
        self.all_blocks().map(|block| u64::from(block.stored)).sum()
    }

    /// Gives each block its offset.
    pub(super) fn place_blocks(&mut self) {
        place(std::iter::once(&mut self.tokens).chain(self.blocks.iter_mut().map(|(_, block)| block)), self.offset);
    }
}

fn place<'a>(blocks: impl Iterator<Item = &'a mut Block>, mut offset: u64) {
    for block in blocks {
        block.offset = offset;
        offset = offset.saturating_add(block.stored.into());
    }
}

impl Footer {
    /// The number of the order streams: that of columns.
    pub(super) fn order_streams(&self) -> usize {
        self.schema.fields().len()
    }

    /// How many values the chunk of a column has in a row group: that of the cluster key, and the lengths of runs, have one for
    /// each run.
    pub(super) fn values_of(&self, row_group: &RowGroup, column: usize) -> u32 {
        let of_runs = row_group.cluster.filter(|cluster| [cluster.key, self.run_lengths()].contains(&column));
        of_runs.map_or(row_group.rows, |cluster| cluster.runs)
    }

    /// The number of the lengths of runs.
    pub(super) fn run_lengths(&self) -> usize {
        self.order_streams() + 1
    }

    /// The name of a column, or what the order stream or the lengths of runs are called.
    pub(super) fn name(&self, column: usize) -> &str {
        match self.schema.fields().get(column) {
            Some(field) => &field.name,
            None if column == self.order_streams() => ORDER_STREAM,
            None => RUN_LENGTHS,
        }
    }
}
