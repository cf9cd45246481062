//! Describes a file, from its footer only.

use super::bounds::Bounds as StoredBounds;
use super::footer::{Chunk, DictionaryPart, Layout, RowGroup, StoredColumn};
use super::reader::Reader;
use super::scanner::statistics;
use crate::description::{
    BlockTotals, Bounds, ChunkDescription, ColumnDescription, FileDescription, RowGroupDescription,
};
use crate::integers::{self, BLOCK_ROWS};
use crate::trailer;
use brc_core::predicate::float_of_order;
use brc_core::{LogicalType, PhysicalType, Result, Statistics};

impl Reader {
    /// Describes the file.
    ///
    /// # Errors
    /// If the footer's entries for a column are damaged.
    pub fn describe(&self) -> Result<FileDescription> {
        let footer = &self.footer;
        let all = self.all_columns()?;
        let (columns, of_clusters) = all.split_at(footer.order_streams());
        let describe_column = |column: &&StoredColumn| self.describe_column(column, of_clusters[0]);
        let row_groups = footer.row_groups.iter().enumerate();
        Ok(FileDescription {
            version: trailer::VERSION,
            schema: footer.schema.clone(),
            rows: footer.rows,
            bytes: self.file_bytes,
            footer_bytes: self.footer_bytes,
            compression: footer.compression.name(),
            rows_per_block: BLOCK_ROWS as u32,
            metadata: footer.metadata.clone(),
            unused_bytes: footer.unused.iter().map(|unused| unused.bytes).sum(),
            columns: columns.iter().map(describe_column).collect(),
            run_indexes: run_indexes(of_clusters[1].chunks.iter(), columns.iter().flat_map(|column| &column.chunks)),
            row_groups: row_groups.map(|(index, it)| describe_row_group(it, index, columns, of_clusters)).collect(),
        })
    }

    /// The number of values in the dictionary of a column, if one dictionary covers all rows.
    pub(super) fn cardinality(&self, column: &StoredColumn) -> Option<u32> {
        let mut chunks = column.chunks.iter();
        let of_file = &self.footer.dictionaries[column.number];
        if self.footer.row_groups.len() == 1 && of_file.parts.is_empty() {
            return chunks.next().and_then(cardinality);
        }
        let is_whole = chunks.all(|chunk| chunk.layout == Layout::FileCodes);
        if is_whole { u32::try_from(of_file.values()).ok() } else { None }
    }

    fn describe_column(&self, column: &StoredColumn, order: &StoredColumn) -> ColumnDescription {
        let footer = &self.footer;
        let field = &footer.schema.fields()[column.number];
        let chunks = || column.chunks.iter();
        let mut schemes: Vec<(&'static str, u64)> = Vec::new();
        for name in chunks().map(scheme) {
            match schemes.iter_mut().find(|(known, _)| *known == name) {
                Some((_, chunks)) => *chunks += 1,
                None => schemes.push((name, 1)),
            }
        }
        let of_key = (0..).zip(&footer.row_groups).filter(|(_, row_group)| is_key(row_group, column));
        let order_streams = of_key.map(|(index, _): (usize, _)| &order.chunks[index]);
        let of_dictionary = |chunk: &'_ Chunk| -> Vec<_> {
            let dictionary = chunk.dictionary.iter().map(|(_, block)| *block);
            dictionary.chain(Some(chunk.tokens).filter(|tokens| tokens.length > 0)).collect()
        };
        let of_file = &footer.dictionaries[column.number];
        let of_parts = of_file.parts.iter().flat_map(DictionaryPart::all_blocks).filter(|block| block.length > 0);
        let counts = column.counts.iter().flat_map(Chunk::all_blocks).filter(|block| block.length > 0);
        let of_parts = of_parts.chain(counts).copied();
        let dictionaries: Vec<_> = chunks().flat_map(of_dictionary).chain(of_parts).collect();
        ColumnDescription {
            name: field.name.clone(),
            logical_type: field.logical_type,
            schemes,
            data: totals(chunks().chain(order_streams)),
            dictionary: BlockTotals::of(&dictionaries),
            cardinality: self.cardinality(column),
            nulls: chunks().map(|chunk| u64::from(chunk.nulls)).sum(),
            bounds: bounds_of(footer.row_groups.iter().zip(&column.chunks), field.logical_type),
        }
    }
}

fn describe_row_group(
    row_group: &RowGroup,
    index: usize,
    columns: &[&StoredColumn],
    of_clusters: &[&StoredColumn],
) -> RowGroupDescription {
    let describe = |column: &&StoredColumn| {
        let chunk = &column.chunks[index];
        let order_stream = of_clusters.iter().take(1).filter(|_| is_key(row_group, column)).map(|it| &it.chunks[index]);
        let statistics = statistics(chunk);
        ChunkDescription {
            scheme: scheme(chunk),
            data: totals([chunk].into_iter().chain(order_stream)),
            cardinality: cardinality(chunk),
            statistics: statistics.map(|(min, max, sum)| Statistics { count: row_group.rows.into(), sum, min, max }),
        }
    };
    RowGroupDescription {
        rows: row_group.rows,
        key: row_group.cluster.map(|cluster| cluster.key),
        run_index: run_indexes(
            std::iter::once(&of_clusters[1].chunks[index]),
            columns.iter().map(|column| &column.chunks[index]),
        ),
        chunks: columns.iter().map(describe).collect(),
    }
}

fn is_key(row_group: &RowGroup, column: &StoredColumn) -> bool {
    row_group.cluster.is_some_and(|cluster| cluster.key == column.number)
}

/// The lengths of runs and their statistics.
fn run_indexes<'a>(lengths: impl Iterator<Item = &'a Chunk>, chunks: impl Iterator<Item = &'a Chunk>) -> BlockTotals {
    let all = lengths.flat_map(Chunk::all_blocks).chain(chunks.map(|chunk| &chunk.run_index));
    BlockTotals::of(all.filter(|block| block.length > 0))
}

/// The blocks of values, validity and parameters.
fn totals<'a>(chunks: impl Iterator<Item = &'a Chunk>) -> BlockTotals {
    let blocks = |chunk: &'a Chunk| {
        let of_rows = chunk.blocks.iter().flat_map(|block| [&block.validity, &block.values]);
        std::iter::once(&chunk.parameters).chain(of_rows).filter(|block| block.length > 0)
    };
    BlockTotals::of(chunks.flat_map(blocks))
}

/// The name of the scheme that stores the chunk's values. The scheme of dictionary codes is not reported.
fn scheme(chunk: &Chunk) -> &'static str {
    match chunk.layout {
        Layout::InRuns => "in runs",
        Layout::Integers => integers::scheme_name(chunk.scheme).unwrap_or("unknown"),
        Layout::Wide => "two limbs",
        Layout::Floats => "floats",
        Layout::Strings if chunk.tokens.length > 0 => "tokens",
        Layout::Strings => "strings",
        Layout::Codes | Layout::FileCodes => "dictionary",
    }
}

fn cardinality(chunk: &Chunk) -> Option<u32> {
    (chunk.layout == Layout::Codes).then(|| chunk.distinct() as u32)
}

/// `None` if there are no values, or the bounds of a chunk are unknown.
fn bounds_of<'a>(chunks: impl Iterator<Item = (&'a RowGroup, &'a Chunk)>, logical_type: LogicalType) -> Option<Bounds> {
    let mut all: Option<StoredBounds> = None;
    for (row_group, chunk) in chunks {
        match (&all, &chunk.bounds) {
            (_, None) if chunk.nulls < row_group.rows => return None,
            (_, None) => {}
            (None, Some(bounds)) => all = Some(bounds.clone()),
            (Some(known), Some(bounds)) => all = known.merge(bounds),
        }
    }
    Some(match (all?, logical_type.physical()) {
        (StoredBounds::Strings { min, max }, _) => Bounds::Text { min, max },
        (StoredBounds::Numbers { min, max }, PhysicalType::Floats) => {
            Bounds::Float { min: float_of_order(min as i64), max: float_of_order(max as i64) }
        }
        (StoredBounds::Numbers { min, max }, PhysicalType::Integers | PhysicalType::Bytes) => {
            Bounds::Number { min, max }
        }
    })
}
