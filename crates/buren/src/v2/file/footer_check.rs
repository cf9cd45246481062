//! Holds a footer against itself and against the size of its file, before anything of it is believed.
//!
//! After this every block lies in the file and every byte belongs to exactly one of them, no length asks for much more
//! memory than the file is large, and columns have the types, chunks and blocks that the schema and the rows say.

use super::bounds::Bounds;
use super::fits;
use super::footer::{Chunk, Dictionary, Footer, Layout, MOST_ROWS, ORDER_STREAM, RowBlock};
use crate::block::{Block, MOST_SHRINKING};
use crate::trailer::HEADER_BYTES;
use crate::v2::integers::BLOCK_ROWS;
use brc_core::{Field, LogicalType, PhysicalType};
use std::ops::RangeInclusive;

/// The values of a block of a dictionary.
const COUNTS: RangeInclusive<u32> = 1..=BLOCK_ROWS as u32;

/// Checks a footer and gives each block its offset.
///
/// # Errors
/// What does not hold.
pub(super) fn check(footer: &mut Footer, footer_offset: u64) -> Result<(), String> {
    let mut rows = 0u64;
    let mut extents: Vec<(u64, u64)> = footer.unused.iter().map(|unused| (unused.offset, unused.bytes)).collect();
    for (dictionary, field) in footer.dictionaries.iter_mut().zip(footer.schema.fields()) {
        check_dictionary(dictionary, field).map_err(|reason| format!("column '{}': {reason}", field.name))?;
        for part in &mut dictionary.parts {
            part.place_blocks();
            extents.push((part.offset, part.stored_bytes()));
        }
    }
    let order = Field::required(ORDER_STREAM, LogicalType::Int64);
    let fields: Vec<&Field> = footer.schema.fields().iter().chain([&order]).collect();
    let known: Vec<u64> = footer.dictionaries.iter().map(Dictionary::values).chain([0]).collect();
    for (index, row_group) in footer.row_groups.iter_mut().enumerate() {
        if row_group.rows == 0 || row_group.rows > MOST_ROWS {
            return Err(format!("row group {index}: {} rows", row_group.rows));
        }
        rows = rows.saturating_add(row_group.rows.into());
        for ((chunk, field), known) in row_group.chunks.iter_mut().zip(&fields).zip(&known) {
            check_chunk(chunk, field, row_group.rows)
                .and_then(|()| check_codes(chunk, *known))
                .map_err(|reason| format!("row group {index}, column '{}': {reason}", field.name))?;
            chunk.place_blocks();
            extents.push((chunk.offset, chunk.stored_bytes()));
        }
        if let Some(order) = row_group.order_stream() {
            check_order_stream(order, row_group.rows).map_err(|reason| format!("row group {index}: {reason}"))?;
        }
    }
    if rows != footer.rows {
        return Err(format!("the row groups have {rows} rows, the table {}", footer.rows));
    }
    check_metadata(&footer.metadata)?;
    check_extents(extents, footer_offset)
}

fn check_metadata(metadata: &[(String, Vec<u8>)]) -> Result<(), String> {
    match metadata.windows(2).find(|pair| pair[0].0 >= pair[1].0) {
        Some(pair) => Err(format!("the keys '{}' and '{}' of metadata are not in order", pair[0].0, pair[1].0)),
        None => Ok(()),
    }
}

/// Every byte from the header to the footer belongs to one chunk, or is unused.
fn check_extents(mut extents: Vec<(u64, u64)>, footer_offset: u64) -> Result<(), String> {
    extents.retain(|(_, bytes)| *bytes > 0);
    extents.sort_unstable();
    let mut end = HEADER_BYTES as u64;
    for (offset, bytes) in extents {
        if offset != end {
            return Err(format!("what is stored up to byte {end} is followed by something at byte {offset}"));
        }
        end = end.saturating_add(bytes);
    }
    if end != footer_offset {
        return Err(format!("the blocks end at byte {end}, but the footer starts at byte {footer_offset}"));
    }
    Ok(())
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

/// Whether a chunk's codes can be those of the column's dictionary, which has so many values.
fn check_codes(chunk: &Chunk, known: u64) -> Result<(), String> {
    let fits = match chunk.layout {
        Layout::FileCodes => (1..=known).contains(&chunk.codes.into()),
        Layout::Integers | Layout::Wide | Layout::Floats | Layout::Strings | Layout::Codes => chunk.codes == 0,
    };
    if fits { Ok(()) } else { Err(format!("codes below {} of a dictionary of {known} values", chunk.codes)) }
}

fn check_chunk(chunk: &Chunk, field: &Field, rows: u32) -> Result<(), String> {
    chunk.all_blocks().try_for_each(check_block)?;
    if chunk.blocks.len() != (rows as usize).div_ceil(BLOCK_ROWS) {
        return Err(format!("{} blocks of {rows} rows", chunk.blocks.len()));
    }
    let (mut nulls, mut left, mut bounds) = (0u64, rows, BoundsOfBlocks::default());
    for block in &chunk.blocks {
        let of_block = left.min(BLOCK_ROWS as u32);
        check_row_block(block, of_block)?;
        bounds.add(block, of_block);
        nulls += u64::from(block.nulls);
        left -= of_block;
    }
    if nulls != u64::from(chunk.nulls) {
        return Err(format!("its blocks have {nulls} nulls, the chunk {}", chunk.nulls));
    }
    if chunk.bounds != bounds.all() {
        return Err("the bounds of its blocks are not those of the chunk".to_owned());
    }
    let has_numbers = matches!(chunk.layout, Layout::Integers | Layout::Wide | Layout::Floats);
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
    fits::check(chunk, field)
}

/// Codes of a key are less than there are rows.
fn check_order_stream(order: &Chunk, rows: u32) -> Result<(), String> {
    match order.bounds {
        Some(Bounds::Numbers { min: 0, max }) if max < rows.into() && !order.is_difference() => Ok(()),
        _ => Err("the order of rows is none of codes".to_owned()),
    }
}

fn check_row_block(block: &RowBlock, rows: u32) -> Result<(), String> {
    if block.nulls > rows || (block.nulls == 0) != (block.validity.length == 0) {
        return Err(format!("{} nulls among {rows} rows", block.nulls));
    }
    if block.nulls == rows && block.bounds.is_some() {
        return Err("bounds of a block without values".to_owned());
    }
    Ok(())
}

fn check_block(block: &Block) -> Result<(), String> {
    let (stored, length) = (u64::from(block.stored), u64::from(block.length));
    if stored > length || length > stored * MOST_SHRINKING {
        return Err(format!("a block of {length} bytes is stored in {stored}"));
    }
    if length == 0 && block.checksum != 0 {
        return Err("a checksum of no bytes".to_owned());
    }
    Ok(())
}

/// What the bounds of all blocks come to.
#[derive(Default)]
pub(super) struct BoundsOfBlocks {
    all: Option<Bounds>,
    unknown: bool,
}

impl BoundsOfBlocks {
    pub(super) fn add(&mut self, block: &RowBlock, rows: u32) {
        self.unknown |= block.bounds.is_none() && block.nulls < rows;
        let merged = match (&self.all, &block.bounds) {
            (Some(all), Some(of_block)) => all.merge(of_block),
            (all, of_block) => all.clone().or_else(|| of_block.clone()),
        };
        self.all = merged;
    }

    /// `None` if there is no value, or one of a block of which nothing is known.
    pub(super) fn all(self) -> Option<Bounds> {
        self.all.filter(|_| !self.unknown)
    }
}
