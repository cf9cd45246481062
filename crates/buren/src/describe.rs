//! What a file is made of, for people who want to know where its bytes go.

use crate::block::Block;
use crate::footer::{Chunk, Content};
use crate::reader::Reader;
use crate::trailer::VERSION;
use brc_core::{LogicalType, Result, Schema, Statistics};

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
    /// The smallest and the largest number of bits a value is stored in; `None` without row groups.
    pub widths: Option<(u8, u8)>,
    /// The blocks of its chunks.
    pub data: BlockTotals,
    /// The blocks that map codes to the dictionary; none for a decimal column.
    pub maps: BlockTotals,
    /// The blocks of the dictionary; none for a decimal column.
    pub dictionary: BlockTotals,
    /// The number of distinct values of a string column.
    pub cardinality: Option<u32>,
    /// The smallest and the largest value, unless there is none.
    pub bounds: Option<Bounds>,
}

/// Smallest and largest value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bounds {
    /// Of strings, in byte order.
    Text {
        /// The smallest.
        min: Vec<u8>,
        /// The largest.
        max: Vec<u8>,
    },
    /// Of numbers, in units of the column's scale.
    Number {
        /// The smallest.
        min: i64,
        /// The largest.
        max: i64,
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
    /// Bits a value.
    pub width: u8,
    /// The blocks.
    pub data: BlockTotals,
    /// The number of distinct values of a string chunk.
    pub cardinality: Option<u32>,
    /// The statistics of a decimal chunk, in units of the column's scale.
    pub statistics: Option<Statistics>,
}

impl BlockTotals {
    fn of<'a>(blocks: impl IntoIterator<Item = &'a Block>) -> Self {
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

impl Reader {
    /// Describes the file. Reads the dictionaries, for their first and last values, and nothing else.
    ///
    /// # Errors
    /// If a dictionary cannot be read.
    pub fn describe(&self) -> Result<FileDescription> {
        let footer = self.footer();
        let columns = (0..footer.schema.fields().len()).map(|column| self.describe_column(column));
        let row_groups = footer.row_groups.iter().map(|row_group| RowGroupDescription {
            rows: row_group.rows,
            key: row_group.cluster.map(|cluster| cluster.key),
            run_index: BlockTotals::of(row_group.cluster.iter().map(|cluster| &cluster.run_index)),
            chunks: row_group.chunks.iter().map(describe_chunk).collect(),
        });
        let clusters = footer.row_groups.iter().filter_map(|row_group| row_group.cluster.as_ref());
        Ok(FileDescription {
            version: VERSION,
            schema: footer.schema.clone(),
            rows: footer.rows,
            bytes: self.file_bytes(),
            footer_bytes: self.footer_bytes(),
            compression: footer.compression.name(),
            rows_per_block: footer.rows_per_block,
            columns: columns.collect::<Result<_>>()?,
            run_indexes: BlockTotals::of(clusters.map(|cluster| &cluster.run_index)),
            row_groups: row_groups.collect(),
        })
    }

    fn describe_column(&self, column: usize) -> Result<ColumnDescription> {
        let footer = self.footer();
        let field = &footer.schema.fields()[column];
        let chunks = || footer.row_groups.iter().map(|row_group| &row_group.chunks[column]);
        let mut schemes: Vec<(&'static str, u64)> = Vec::new();
        for chunk in chunks() {
            match schemes.iter_mut().find(|(name, _)| *name == chunk.scheme.name()) {
                Some((_, chunks)) => *chunks += 1,
                None => schemes.push((chunk.scheme.name(), 1)),
            }
        }
        let widths = || chunks().map(|chunk| chunk.width);
        let maps = chunks().filter_map(|chunk| match &chunk.content {
            Content::String { map, .. } => Some(map),
            Content::Decimal(_) => None,
        });
        Ok(ColumnDescription {
            name: field.name.clone(),
            logical_type: field.logical_type,
            schemes,
            widths: widths().min().zip(widths().max()),
            data: BlockTotals::of(chunks().flat_map(|chunk| &chunk.blocks)),
            maps: BlockTotals::of(maps),
            dictionary: BlockTotals::of(footer.dictionaries[column].blocks.iter().map(|(_, block)| block)),
            cardinality: footer.is_string(column).then_some(footer.dictionaries[column].values),
            bounds: self.bounds(column)?,
        })
    }

    fn bounds(&self, column: usize) -> Result<Option<Bounds>> {
        let footer = self.footer();
        if footer.is_string(column) {
            let dictionary = self.dictionary(column)?;
            let last = (dictionary.len() as u32).checked_sub(1);
            return Ok(
                last.map(|last| Bounds::Text { min: dictionary.get(0).to_vec(), max: dictionary.get(last).to_vec() })
            );
        }
        let mut all = Statistics::EMPTY;
        let statistics = footer.row_groups.iter().filter_map(|row_group| row_group.chunks[column].statistics());
        statistics.for_each(|statistics| all.merge(statistics));
        Ok((all.count > 0).then_some(Bounds::Number { min: all.min, max: all.max }))
    }
}

fn describe_chunk(chunk: &Chunk) -> ChunkDescription {
    ChunkDescription {
        scheme: chunk.scheme.name(),
        width: chunk.width,
        data: BlockTotals::of(&chunk.blocks),
        cardinality: chunk.statistics().is_none().then_some(chunk.cardinality()),
        statistics: chunk.statistics().copied(),
    }
}
