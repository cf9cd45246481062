//! Checks a footer against itself and the size of its file, before any of it is trusted.
//!
//! After these checks every block lies within the file, no length makes a reader allocate much more memory than the
//! file is large, and columns have the types, chunks and blocks that schema and row counts require. Columns are checked
//! one by one when they are read; checking all of them also establishes that every byte of the file belongs to exactly
//! one block.

use super::bounds::Bounds;
use super::fits;
use super::footer::{
    Chunk, Cluster, Dictionary, DictionaryPart, Footer, Layout, MAX_ROW_GROUP_ROWS, RowBlock, RowGroup, StoredColumn,
};
use crate::block::{Block, MAX_COMPRESSION_RATIO};
use crate::integers::{BLOCK_ROWS, PACKED};
use crate::trailer::HEADER_BYTES;
use brc_core::{Field, LogicalType, PhysicalType};
use std::ops::RangeInclusive;

/// The valid number of values in a block of a dictionary.
const COUNTS: RangeInclusive<u32> = 1..=BLOCK_ROWS as u32;

/// Checks a footer and sets the offset of each dictionary block.
///
/// # Errors
/// What is inconsistent.
pub(super) fn check(footer: &mut Footer, footer_offset: u64) -> Result<(), String> {
    for (dictionary, field) in footer.dictionaries.iter_mut().zip(footer.schema.fields()) {
        check_dictionary(dictionary, field).map_err(|reason| format!("column '{}': {reason}", field.name))?;
        dictionary.parts.iter_mut().for_each(DictionaryPart::place_blocks);
    }
    for (index, RowGroup { rows, cluster }) in footer.row_groups.iter().enumerate() {
        if !(1..=MAX_ROW_GROUP_ROWS).contains(rows) {
            return Err(format!("row group {index}: {rows} rows"));
        }
        if let Some(Cluster { runs, .. }) = cluster.filter(|cluster| cluster.runs > *rows) {
            return Err(format!("row group {index}: {runs} runs of {rows} rows"));
        }
    }
    let rows: u64 = footer.row_groups.iter().map(|row_group| u64::from(row_group.rows)).sum();
    if rows != footer.rows {
        return Err(format!("the row groups have {rows} rows, the table {}", footer.rows));
    }
    check_metadata(&footer.metadata)?;
    check_extents(extents_of_footer(footer), footer_offset).map(drop)
}

/// Checks the chunks of a column of a checked footer and sets the offset of each block.
///
/// # Errors
/// What is inconsistent.
pub(super) fn check_column(column: &mut StoredColumn, footer: &Footer, footer_offset: u64) -> Result<(), String> {
    let number = column.number;
    let of_cluster = Field::required(footer.name(number), LogicalType::Int64);
    let field = footer.schema.fields().get(number).unwrap_or(&of_cluster);
    let known = footer.dictionaries.get(number).map_or(0, Dictionary::values);
    for (index, (chunk, row_group)) in column.chunks.iter_mut().zip(&footer.row_groups).enumerate() {
        let checked = match row_group.cluster {
            None if number >= footer.order_streams() => continue,
            Some(cluster) if number == footer.order_streams() => {
                check_chunk(chunk, field, row_group.rows).and_then(|()| check_order_stream(chunk, cluster.runs))
            }
            Some(cluster) if number == footer.run_lengths() => {
                check_chunk(chunk, field, cluster.runs).and_then(|()| check_run_lengths(chunk, row_group.rows))
            }
            Some(cluster) if number == cluster.key => check_key(chunk, field, row_group.rows, cluster.runs),
            cluster => check_chunk(chunk, field, row_group.rows).and_then(|()| check_run_index(chunk, cluster)),
        };
        checked
            .and_then(|()| check_codes(chunk, known))
            .map_err(|reason| format!("row group {index}, column '{}': {reason}", field.name))?;
        chunk.place_blocks();
    }
    if let Some(counts) = &mut column.counts {
        check_counts(counts, known, footer.row_groups.iter().map(|row_group| row_group.rows).zip(&column.chunks))
            .map_err(|reason| format!("the counts of column '{}': {reason}", field.name))?;
        counts.place_blocks();
    }
    let checked = check_extents(extents_of(column).collect(), footer_offset).map(drop);
    checked.map_err(|reason| format!("column '{}': {reason}", field.name))
}

/// Checks that every byte between header and footer belongs to exactly one chunk or part of a dictionary, or is unused.
///
/// # Errors
/// What is inconsistent.
pub(super) fn check_whole(footer: &Footer, columns: &[&StoredColumn], footer_offset: u64) -> Result<(), String> {
    let chunks = columns.iter().flat_map(|column| extents_of(column));
    let bytes = check_extents(extents_of_footer(footer).into_iter().chain(chunks).collect(), footer_offset)?;
    match footer_offset - HEADER_BYTES as u64 - bytes {
        0 => Ok(()),
        bytes => Err(format!("{bytes} bytes before it belong to nothing")),
    }
}

/// The offsets and sizes of chunks.
fn extents_of(column: &StoredColumn) -> impl Iterator<Item = (u64, u64)> {
    column.all_chunks().map(|chunk| (chunk.offset, chunk.stored_bytes()))
}

/// The offsets and sizes of everything else.
fn extents_of_footer(footer: &Footer) -> Vec<(u64, u64)> {
    let unused = footer.unused.iter().map(|unused| (unused.offset, unused.bytes));
    let parts = footer.dictionaries.iter().flat_map(|dictionary| &dictionary.parts);
    unused.chain(parts.map(|part| (part.offset, part.stored_bytes()))).collect()
}

fn check_metadata(metadata: &[(String, Vec<u8>)]) -> Result<(), String> {
    match metadata.windows(2).find(|pair| pair[0].0 >= pair[1].0) {
        Some(pair) => Err(format!("the keys '{}' and '{}' of metadata are not in order", pair[0].0, pair[1].0)),
        None => Ok(()),
    }
}

/// The total size of extents, which must lie between header and footer and must not overlap.
fn check_extents(mut extents: Vec<(u64, u64)>, footer_offset: u64) -> Result<u64, String> {
    extents.retain(|(_, bytes)| *bytes > 0);
    extents.sort_unstable();
    let (mut end, mut all) = (HEADER_BYTES as u64, 0);
    for (offset, bytes) in extents {
        if offset < end {
            return Err(format!("data that end at byte {end} are overlapped by data at byte {offset}"));
        }
        end = offset.saturating_add(bytes);
        if end > footer_offset {
            return Err(format!("data at byte {offset} extend beyond byte {footer_offset}, where the footer starts"));
        }
        all += bytes;
    }
    Ok(all)
}

fn check_dictionary(dictionary: &Dictionary, field: &Field) -> Result<(), String> {
    if !dictionary.parts.is_empty() && field.logical_type.physical() != PhysicalType::Bytes {
        return Err(format!("a dictionary of values of type {}", field.logical_type));
    }
    for part in &dictionary.parts {
        part.all_blocks().try_for_each(check_block)?;
        if part.blocks.iter().any(|(values, _)| !COUNTS.contains(values)) {
            return Err("a block of its dictionary has too many values or none".to_owned());
        }
    }
    match u32::try_from(dictionary.values()) {
        Ok(_) => Ok(()),
        Err(_) => Err("its dictionary has 2^32 values or more".to_owned()),
    }
}

/// Whether a chunk's codes are valid for a column's dictionary of `known` values.
fn check_codes(chunk: &Chunk, known: u64) -> Result<(), String> {
    let fits = match chunk.layout {
        Layout::FileCodes => (1..=known).contains(&chunk.codes.into()),
        Layout::Integers | Layout::Wide | Layout::Floats | Layout::Strings | Layout::Codes | Layout::InRuns => {
            chunk.codes == 0
        }
    };
    if fits { Ok(()) } else { Err(format!("codes below {} of a dictionary of {known} values", chunk.codes)) }
}

fn check_chunk(chunk: &Chunk, field: &Field, rows: u32) -> Result<(), String> {
    match check_blocks(chunk, field, rows)? {
        nulls if nulls == u64::from(chunk.nulls) => Ok(()),
        nulls => Err(format!("its blocks have {nulls} nulls, the chunk {}", chunk.nulls)),
    }
}

/// Checks the chunk of a cluster key, which has one value per run but counts null rows.
fn check_key(chunk: &Chunk, field: &Field, rows: u32, runs: u32) -> Result<(), String> {
    let null_runs = check_blocks(chunk, field, runs)?;
    let most = rows - runs + 1;
    if null_runs > 1 || (null_runs == 0) != (chunk.nulls == 0) || chunk.nulls > most {
        return Err(format!("{null_runs} runs of nulls, {} nulls", chunk.nulls));
    }
    match (chunk.run_index.length, chunk.layout) {
        (0, Layout::Integers | Layout::Codes | Layout::FileCodes) if !chunk.is_difference() => Ok(()),
        _ => Err("its values are stored as no cluster key's are".to_owned()),
    }
}

/// Checks that only integers of clustered rows have run statistics.
fn check_run_index(chunk: &Chunk, cluster: Option<Cluster>) -> Result<(), String> {
    let is_there = chunk.run_index.length > 0;
    let may_be_there = cluster.is_some() && chunk.is_of_integers();
    if is_there && !may_be_there || !is_there && chunk.is_in_runs() {
        return Err("statistics of runs that are none, or integers of runs without them".to_owned());
    }
    if chunk.is_in_runs() && chunk.scheme != PACKED {
        return Err("integers of runs that are not packed".to_owned());
    }
    Ok(())
}

/// Checks the values of a chunk with `rows` rows; returns the number of nulls.
fn check_blocks(chunk: &Chunk, field: &Field, rows: u32) -> Result<u64, String> {
    chunk.all_blocks().try_for_each(check_block)?;
    if chunk.blocks.len() != (rows as usize).div_ceil(BLOCK_ROWS) {
        return Err(format!("{} blocks of {rows} rows", chunk.blocks.len()));
    }
    let (mut nulls, mut left, mut bounds) = (0u64, rows, AllBounds::default());
    for (number, block) in chunk.blocks.iter().enumerate() {
        let of_block = left.min(BLOCK_ROWS as u32);
        let of_values = chunk.bounds_of_blocks.get(number);
        check_row_block(block, of_values.as_ref(), of_block)?;
        bounds.add(of_values.as_ref(), block, of_block);
        nulls += u64::from(block.nulls);
        left -= of_block;
    }
    let are_those = match chunk.bounds_of_blocks.blocks() {
        None => nulls < u64::from(rows) || chunk.bounds.is_none(),
        Some(blocks) => blocks > 1 && blocks == chunk.blocks.len() && chunk.bounds == bounds.all(),
    };
    if !are_those {
        return Err("the bounds of its blocks are not those of the chunk".to_owned());
    }
    let has_numbers = chunk.is_of_integers() || matches!(chunk.layout, Layout::Wide | Layout::Floats);
    if has_numbers && chunk.bounds.is_none() && nulls < u64::from(rows) {
        return Err("it has no bounds".to_owned());
    }
    if (chunk.layout == Layout::Codes) == chunk.dictionary.is_empty() {
        return Err("a dictionary without codes, or codes without a dictionary".to_owned());
    }
    let has_tokens = matches!(chunk.layout, Layout::Strings | Layout::Codes);
    if !has_tokens && chunk.tokens.length > 0 || chunk.layout == Layout::Strings && chunk.parameters.length > 0 {
        return Err("tokens of numbers, or parameters of strings".to_owned());
    }
    if chunk.distinct() > rows.into() || chunk.dictionary.iter().any(|(values, _)| !COUNTS.contains(values)) {
        return Err(format!("a dictionary of {} values for {rows} rows", chunk.distinct()));
    }
    fits::check(chunk, field).map(|()| nulls)
}

/// Checks that the order stream contains the numbers of all runs.
fn check_order_stream(order: &Chunk, runs: u32) -> Result<(), String> {
    match order.bounds {
        Some(Bounds::Numbers { min: 0, max }) if max == i128::from(runs) - 1 && is_plain(order) => Ok(()),
        _ => Err("the order stream does not match the runs".to_owned()),
    }
}

/// Checks that no run is empty and the lengths add up to all rows.
fn check_run_lengths(lengths: &Chunk, rows: u32) -> Result<(), String> {
    match (&lengths.bounds, lengths.sum) {
        (Some(Bounds::Numbers { min: 1.., .. }), Some(sum)) if sum == rows.into() && is_plain(lengths) => Ok(()),
        _ => Err(format!("the lengths of runs are not those of {rows} rows")),
    }
}

/// Whether a chunk has integers that can be decoded without other chunks, and no run statistics.
fn is_plain(chunk: &Chunk) -> bool {
    chunk.is_by_itself() && chunk.run_index.length == 0
}

/// Checks that there is a count for each of the dictionary's values, and that all rows except nulls have these values.
fn check_counts<'a>(
    counts: &Chunk,
    known: u64,
    mut chunks: impl Iterator<Item = (u32, &'a Chunk)>,
) -> Result<(), String> {
    let known = u32::try_from(known).ok().filter(|&known| known > 0).ok_or("there is nothing to count")?;
    check_chunk(counts, &Field::required("", LogicalType::Int64), known)?;
    if !is_plain(counts) {
        return Err("they are no integers by themselves".to_owned());
    }
    let values = chunks.try_fold(0, |values, (rows, chunk)| {
        chunk.is_of_file(rows).then(|| values + i128::from(rows) - i128::from(chunk.nulls))
    });
    match (&counts.bounds, counts.sum) {
        (Some(Bounds::Numbers { min: 0.., .. }), Some(sum)) if Some(sum) == values => Ok(()),
        _ => Err("they are not as many as there are values".to_owned()),
    }
}

fn check_row_block(block: &RowBlock, bounds: Option<&Bounds>, rows: u32) -> Result<(), String> {
    if block.nulls > rows || (block.nulls == 0) != (block.validity.length == 0) {
        return Err(format!("{} nulls among {rows} rows", block.nulls));
    }
    if block.nulls == rows && bounds.is_some() {
        return Err("bounds of a block without values".to_owned());
    }
    Ok(())
}

fn check_block(block: &Block) -> Result<(), String> {
    let (stored, length) = (u64::from(block.stored), u64::from(block.length));
    if stored > length || length > stored * MAX_COMPRESSION_RATIO {
        return Err(format!("a block of {length} bytes is stored in {stored}"));
    }
    if length == 0 && block.checksum != 0 {
        return Err("a checksum of no bytes".to_owned());
    }
    Ok(())
}

/// Combines the bounds of all blocks.
#[derive(Default)]
pub(super) struct AllBounds {
    all: Option<Bounds>,
    unknown: bool,
}

impl AllBounds {
    pub(super) fn add(&mut self, bounds: Option<&Bounds>, block: &RowBlock, rows: u32) {
        self.unknown |= bounds.is_none() && block.nulls < rows;
        let merged = match (self.all.take(), bounds) {
            (Some(all), Some(of_block)) => all.merge(of_block),
            (all, of_block) => all.or_else(|| of_block.cloned()),
        };
        self.all = merged;
    }

    /// `None` if there are no values, or the bounds of a block are unknown.
    pub(super) fn all(self) -> Option<Bounds> {
        self.all.filter(|_| !self.unknown)
    }
}
