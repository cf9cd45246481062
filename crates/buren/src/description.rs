//! What a file is made of, for people who want to know where its bytes go.

use crate::block::Block;
use brc_core::{LogicalType, Schema, Statistics};

/// A file.
#[derive(Debug, Clone)]
pub struct FileDescription {
    /// The format version.
    pub version: u32,
    /// The columns' names and types.
    pub schema: Schema,
    /// The number of rows.
    pub rows: u64,
    /// The size of the file in bytes.
    pub bytes: u64,
    /// The size of the footer in bytes.
    pub footer_bytes: u64,
    /// The name of the compression of blocks.
    pub compression: &'static str,
    /// Rows of every block of a column chunk but its last.
    pub rows_per_block: u32,
    /// What the writer's user wanted to keep with the table.
    pub metadata: Vec<(String, Vec<u8>)>,
    /// Bytes that are no longer part of the table.
    pub unused_bytes: u64,
    /// The columns.
    pub columns: Vec<ColumnDescription>,
    /// The run indexes of all row groups.
    pub run_indexes: BlockTotals,
    /// The row groups.
    pub row_groups: Vec<RowGroupDescription>,
}

/// A column over all row groups.
#[derive(Debug, Clone)]
pub struct ColumnDescription {
    /// Its name.
    pub name: String,
    /// Its type.
    pub logical_type: LogicalType,
    /// The schemes of its chunks in the order of their first use, each with how many chunks use it.
    pub schemes: Vec<(&'static str, u64)>,
    /// The blocks of its chunks.
    pub data: BlockTotals,
    /// The blocks of dictionaries and their tokens.
    pub dictionary: BlockTotals,
    /// The number of distinct values of a string column, where it is known.
    pub cardinality: Option<u32>,
    /// The number of rows that are null.
    pub nulls: u64,
    /// The smallest and the largest value, unless there is none or they are not known.
    pub bounds: Option<Bounds>,
}

/// Smallest and largest value.
#[derive(Debug, Clone, PartialEq)]
pub enum Bounds {
    /// Of strings, in byte order. A smallest value of more than 64 bytes is cut, and a largest one rounded up.
    Text {
        /// The smallest.
        min: Vec<u8>,
        /// The largest.
        max: Vec<u8>,
    },
    /// Of numbers, in units of the column's scale.
    Number {
        /// The smallest.
        min: i128,
        /// The largest.
        max: i128,
    },
    /// Of floats, in the order of IEEE 754's `totalOrder`.
    Float {
        /// The smallest.
        min: f64,
        /// The largest.
        max: f64,
    },
}

/// How large some blocks are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BlockTotals {
    /// How many there are.
    pub blocks: u64,
    /// How many of them are compressed.
    pub compressed_blocks: u64,
    /// Bytes in the file.
    pub stored_bytes: u64,
    /// Bytes when decompressed.
    pub unpacked_bytes: u64,
}

/// A row group.
#[derive(Debug, Clone)]
pub struct RowGroupDescription {
    /// The number of rows.
    pub rows: u32,
    /// The position of the cluster key's column; `None` if the rows lie in their original order.
    pub key: Option<usize>,
    /// The run index; none if the rows lie in their original order.
    pub run_index: BlockTotals,
    /// Its columns.
    pub chunks: Vec<ChunkDescription>,
}

/// A column of a row group.
#[derive(Debug, Clone)]
pub struct ChunkDescription {
    /// The scheme's name.
    pub scheme: &'static str,
    /// The blocks.
    pub data: BlockTotals,
    /// The number of distinct values of a string chunk.
    pub cardinality: Option<u32>,
    /// The statistics of a chunk of integers of which all have values, in units of the column's scale.
    pub statistics: Option<Statistics>,
}

impl BlockTotals {
    pub(crate) fn of<'a>(blocks: impl IntoIterator<Item = &'a Block>) -> Self {
        let mut totals = Self::default();
        for block in blocks {
            totals.blocks += 1;
            totals.compressed_blocks += u64::from(block.length > block.stored);
            totals.stored_bytes += u64::from(block.stored);
            totals.unpacked_bytes += u64::from(block.length);
        }
        totals
    }
}
