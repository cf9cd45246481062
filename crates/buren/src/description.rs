//! A description of a file's contents, for reports on where its bytes go.

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
    /// The number of rows of every block except the last of a column chunk.
    pub rows_per_block: u32,
    /// User metadata, by key.
    pub metadata: Vec<(String, Vec<u8>)>,
    /// Bytes that no longer belong to the table.
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
    /// The schemes of its chunks in order of first use, each with the number of chunks.
    pub schemes: Vec<(&'static str, u64)>,
    /// The blocks of its chunks.
    pub data: BlockTotals,
    /// The blocks of dictionaries, their tokens and value counts.
    pub dictionary: BlockTotals,
    /// The number of distinct values of a string column, if known.
    pub cardinality: Option<u32>,
    /// The number of nulls.
    pub nulls: u64,
    /// The minimum and maximum; `None` if there are no values or the bounds are unknown.
    pub bounds: Option<Bounds>,
}

/// Minimum and maximum.
#[derive(Debug, Clone, PartialEq)]
pub enum Bounds {
    /// Of strings, in byte order. A minimum of more than 64 bytes is truncated, a maximum is truncated and rounded up.
    Text {
        /// The minimum.
        min: Vec<u8>,
        /// The maximum.
        max: Vec<u8>,
    },
    /// Of numbers, in units of the column's scale.
    Number {
        /// The minimum.
        min: i128,
        /// The maximum.
        max: i128,
    },
    /// Of floats, in the order of IEEE 754's `totalOrder`.
    Float {
        /// The minimum.
        min: f64,
        /// The maximum.
        max: f64,
    },
}

/// Number and sizes of some blocks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BlockTotals {
    /// The number of blocks.
    pub blocks: u64,
    /// The number of compressed blocks.
    pub compressed_blocks: u64,
    /// Their size in the file, in bytes.
    pub stored_bytes: u64,
    /// Their decompressed size, in bytes.
    pub unpacked_bytes: u64,
}

/// A row group.
#[derive(Debug, Clone)]
pub struct RowGroupDescription {
    /// The number of rows.
    pub rows: u32,
    /// The column of the cluster key; `None` if the rows are stored in their original order.
    pub key: Option<usize>,
    /// The run index; empty if the rows are stored in their original order.
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
    /// The statistics of a chunk of integers without nulls, in units of the column's scale.
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
