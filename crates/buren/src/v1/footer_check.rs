//! Holds a footer against itself and against the size of its file, before anything of it is believed.
//!
//! After this every block lies in the file, no length asks for much more memory than the file is large, columns have the
//! types and chunks the schema says, and every block has the size its scheme says.

use crate::array;
use crate::block::{Block, MOST_SHRINKING};
use crate::place::Place;
use crate::trailer::HEADER_BYTES;
use crate::v1::footer::{Chunk, Content, Footer, RowGroup};
use brc_core::LogicalType;
use brc_kernels::bitpack;

/// Rows of a block are at most this many.
const MOST_ROWS_PER_BLOCK: u32 = 1 << 20;

/// Rows of a row group are at most this many, which limits what restoring their order may cost.
pub(crate) const MOST_ROWS: u32 = 1 << 26;

/// Checks a footer, gives each block its offset and completes the counts of the statistics.
///
/// # Errors
/// What does not hold.
pub(crate) fn check(footer: &mut Footer, footer_offset: u64) -> Result<(), String> {
    let rows_per_block = footer.rows_per_block;
    if rows_per_block == 0
        || rows_per_block > MOST_ROWS_PER_BLOCK
        || !rows_per_block.is_multiple_of(bitpack::GROUP as u32)
    {
        return Err(format!("blocks of {rows_per_block} rows"));
    }
    place_blocks(footer, footer_offset)?;
    let mut rows = 0u64;
    for index in 0..footer.row_groups.len() {
        check_row_group(footer, index).map_err(|reason| format!("row group {index}: {reason}"))?;
        rows += u64::from(footer.row_groups[index].rows);
    }
    if rows != footer.rows {
        return Err(format!("the row groups have {rows} rows, the table {}", footer.rows));
    }
    for (column, dictionary) in footer.dictionaries.iter().enumerate() {
        let mut values = 0;
        for (index, (count, block)) in dictionary.blocks.iter().enumerate() {
            // Distinct values but one have a byte at least.
            if *count == 0 || *count > block.length {
                return Err(format!(
                    "{}: {count} values",
                    Place::Dictionary { column: footer.name(column), block: index }
                ));
            }
            values += u64::from(*count);
        }
        if values != u64::from(dictionary.values) {
            return Err(format!("the blocks of dictionary '{}' have {values} values", footer.name(column)));
        }
    }
    Ok(())
}

/// Blocks lie one behind the other from the header to the footer.
fn place_blocks(footer: &mut Footer, footer_offset: u64) -> Result<(), String> {
    let mut offset = HEADER_BYTES as u64;
    for block in footer.blocks_mut() {
        let (stored, length) = (u64::from(block.stored), u64::from(block.length));
        if stored > length || length > stored * MOST_SHRINKING {
            return Err(format!("a block of {length} bytes is stored in {stored}"));
        }
        block.offset = offset;
        offset += stored;
    }
    if offset != footer_offset {
        return Err(format!("the blocks end at byte {offset}, but the footer starts at byte {footer_offset}"));
    }
    Ok(())
}

fn check_row_group(footer: &mut Footer, index: usize) -> Result<(), String> {
    let row_group = &mut footer.row_groups[index];
    if row_group.rows == 0 || row_group.rows > MOST_ROWS {
        return Err(format!("{} rows", row_group.rows));
    }
    let fields = footer.schema.fields();
    if row_group.chunks.len() != fields.len() {
        return Err(format!("{} chunks for {} columns", row_group.chunks.len(), fields.len()));
    }
    for chunk in &mut row_group.chunks {
        if let Content::Decimal(statistics) = &mut chunk.content {
            statistics.count = u64::from(row_group.rows);
        }
    }
    for (column, field) in fields.iter().enumerate() {
        check_chunk(row_group, column, field.logical_type, footer.dictionaries[column].values, footer.rows_per_block)
            .map_err(|reason| format!("column '{}': {reason}", field.name))?;
    }
    if let Some(cluster) = &row_group.cluster {
        let key = row_group.chunks.get(cluster.key).filter(|chunk| chunk.cardinality() > 0);
        let key = key.ok_or_else(|| format!("the cluster key, column {}, is no string column", cluster.key))?;
        let decimals = row_group.chunks.iter().filter(|chunk| chunk.statistics().is_some()).count();
        let arrays = 1 + 4 * decimals as u64;
        if u64::from(cluster.run_index.length) < arrays * array::HEADER_BYTES as u64 {
            return Err(format!("the run index of {} runs is too short", key.cardinality()));
        }
    }
    Ok(())
}

fn check_chunk(
    row_group: &RowGroup,
    column: usize,
    logical_type: LogicalType,
    distinct: u32,
    rows_per_block: u32,
) -> Result<(), String> {
    let chunk = &row_group.chunks[column];
    match (&chunk.content, logical_type) {
        (Content::String { cardinality, map }, LogicalType::String) => {
            check_map(*cardinality, map)?;
            if *cardinality > row_group.rows || *cardinality > distinct {
                return Err(format!("{cardinality} distinct values"));
            }
        }
        (Content::Decimal(statistics), LogicalType::Int64 | LogicalType::Decimal { .. }) => {
            let rows = i128::from(row_group.rows);
            let sums = i128::from(statistics.min) * rows..=i128::from(statistics.max) * rows;
            if !sums.contains(&statistics.sum) {
                return Err("the sum does not lie between smallest and largest".to_owned());
            }
        }
        _ => return Err("the chunk is of another type than the column".to_owned()),
    }
    check_blocks(chunk, row_group.rows, rows_per_block, row_group.has_run_statistics(column))
}

/// Distinct codes need at least as many bits as the last of them, so a forged cardinality needs a large block.
fn check_map(cardinality: u32, map: &Block) -> Result<(), String> {
    let width = bitpack::width_of(u64::from(cardinality.saturating_sub(1)));
    let least = bitpack::packed_bytes(width, u64::from(cardinality)).map(|bytes| bytes + array::HEADER_BYTES as u64);
    if cardinality == 0 || least.is_none_or(|least| u64::from(map.length) < least) {
        return Err(format!("a code map of {} bytes for {cardinality} codes", map.length));
    }
    Ok(())
}

fn check_blocks(chunk: &Chunk, rows: u32, rows_per_block: u32, has_run_statistics: bool) -> Result<(), String> {
    let scheme = chunk.scheme;
    if !scheme.accepts(chunk.width, &chunk.facts(has_run_statistics)) {
        return Err(format!("scheme {} cannot store such values in {} bits", scheme.name(), chunk.width));
    }
    if scheme.block_bytes(chunk.width, rows_per_block).is_none() {
        return if chunk.blocks.is_empty() { Ok(()) } else { Err(format!("scheme {} with blocks", scheme.name())) };
    }
    if chunk.blocks.len() != rows.div_ceil(rows_per_block) as usize {
        return Err(format!("{} blocks for {rows} rows", chunk.blocks.len()));
    }
    let mut left = rows;
    for (index, block) in chunk.blocks.iter().enumerate() {
        let of_block = left.min(rows_per_block);
        if scheme.block_bytes(chunk.width, of_block) != Some(u64::from(block.length)) {
            return Err(format!("block {index} of {of_block} rows has {} bytes", block.length));
        }
        left -= of_block;
    }
    Ok(())
}
