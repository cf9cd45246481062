//! Encodes the rows of a part as record batches, for one worker.
//!
//! A file has one dictionary per column, and its codes apply to all record batches. The code of a value must depend on
//! the order of the parts alone, so the writer assigns codes when a part is appended. Assigned codes never change, so a
//! worker whose values all have codes already translates to them at once. The writer translates only parts with new
//! values; the result is the same either way.

use super::NAME;
use super::bounds::{self, BOUNDS, Bounds};
use super::codec::Codec;
use super::column_buffers;
use super::messages::{self, ColumnBuffers, padding};
use crate::columnar::part_rows::{PartColumn, PartRows, PartValues};
use brc_core::{Batch, Dictionary, LogicalType, Part, PartEncoder, Result, Schema, Sink};
use brc_kernels::interner::DictionaryBuilder;
use crc_fast::{CrcAlgorithm, Digest};
use parking_lot::RwLock;
use std::ops::Range;
use std::sync::Arc;

/// Rows per record batch: few enough for a reader's caches.
const BATCH_ROWS: usize = 64 << 10;

/// The file's dictionaries of the string columns, which assign the codes.
pub(super) type Codes = Arc<RwLock<Vec<DictionaryBuilder>>>;

/// The metadata of a part until it is appended.
pub(super) struct PartMeta {
    pub(super) batches: Vec<BatchMeta>,
    /// The part's own dictionaries, if its codes are not translated yet.
    pub(super) own: Option<Vec<Dictionary>>,
}

/// A record batch. Offsets are relative to the start of the part.
#[derive(Debug, Clone)]
pub(super) struct BatchMeta {
    pub(super) rows: usize,
    pub(super) message: Range<usize>,
    pub(super) body: Range<usize>,
    pub(super) columns: Vec<ColumnBuffers>,
    pub(super) bounds: Bounds,
    /// The checksums of the message and of each column's buffers, once they are final.
    pub(super) checksums: Vec<u32>,
}

pub(super) struct Encoder {
    schema: Arc<Schema>,
    rows: PartRows,
    codec: Option<Codec>,
    codes: Codes,
}

impl Encoder {
    pub(super) fn new(schema: &Arc<Schema>, codec: Option<Codec>, codes: &Codes) -> Self {
        let rows = PartRows::new(NAME, schema);
        Self { schema: Arc::clone(schema), rows, codec, codes: Arc::clone(codes) }
    }

    /// The file's codes for each string column's own codes, if all values have one.
    fn known_codes(&self) -> Option<Vec<Vec<u32>>> {
        let codes = self.codes.read();
        let all = self.dictionaries().zip(codes.iter());
        all.map(|(own, file)| own.iter().map(|value| file.get(value)).collect()).collect()
    }

    fn dictionaries(&self) -> impl Iterator<Item = &Dictionary> {
        let columns = self.rows.columns().iter().zip(self.schema.fields());
        let texts = columns.filter(|(_, field)| field.logical_type == LogicalType::String);
        texts.filter_map(|(rows, _)| rows.dictionary())
    }
}

impl Sink for Encoder {
    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        self.rows.push(batch)
    }
}

impl PartEncoder for Encoder {
    fn finish(&mut self) -> Result<Part> {
        let rows = self.rows.rows();
        let (mut bytes, mut batches) = lay_out(&self.schema, self.rows.columns(), rows as usize)?;
        let own = match self.known_codes() {
            Some(codes) => {
                translate(&mut bytes, &batches, &self.schema, &codes);
                (bytes, batches) = finish(bytes, batches, self.codec);
                None
            }
            None => Some(self.dictionaries().cloned().collect()),
        };
        self.rows.clear();
        Ok(Part { rows, bytes, cuts: Vec::new(), meta: Box::new(PartMeta { batches, own }), meta_bytes: 0 })
    }
}

/// The uncompressed record batches of some rows, with the part's own codes.
fn lay_out(schema: &Schema, columns: &[PartColumn], rows: usize) -> Result<(Vec<u8>, Vec<BatchMeta>)> {
    let (mut out, mut batches) = (Vec::new(), Vec::new());
    for start in (0..rows).step_by(BATCH_ROWS) {
        let range = start..rows.min(start + BATCH_ROWS);
        let mut body = Vec::with_capacity(range.len() * columns.len() * 8 + 64 * columns.len());
        let mut layouts = Vec::with_capacity(columns.len());
        for (column, field) in columns.iter().zip(schema.fields()) {
            layouts.push(column_buffers::lay_out(field.logical_type, column, range.clone(), &mut body)?);
        }
        let bounds = columns.iter().map(|column| bounds(column, range.clone())).collect();
        batches.push(append(range.len(), &body, layouts, bounds, None, &mut out));
    }
    Ok((out, batches))
}

/// The minimum and maximum integer of a range of rows of a column.
fn bounds(column: &PartColumn, rows: Range<usize>) -> Option<(i128, i128)> {
    let PartValues::Integers(numbers) = &column.values else { return None };
    let numbers = numbers.as_integers().slice(rows.clone());
    match column.validity.bitmap().map(|validity| validity.slice(rows)) {
        Some(validity) if validity.count_nulls() > 0 => {
            let valid = validity.iter().enumerate().filter(|(_, is_valid)| *is_valid);
            let bounds = valid.map(|(row, _)| numbers.get(row)).map(|number| (number, number));
            bounds.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
        }
        _ => numbers.bounds(),
    }
}

/// Appends a record batch whose buffers have these ranges in its body.
fn append(
    rows: usize,
    body: &[u8],
    columns: Vec<ColumnBuffers>,
    bounds: Bounds,
    codec: Option<Codec>,
    out: &mut Vec<u8>,
) -> BatchMeta {
    let about = [(BOUNDS, bounds::to_text(&bounds))];
    let message = messages::batch(rows, &columns, codec.map(|codec| codec.id), &about);
    let start = out.len();
    out.extend_from_slice(&message);
    let body_start = out.len();
    out.extend_from_slice(body);
    let shifted = |buffer: &Range<usize>| buffer.start + body_start..buffer.end + body_start;
    let columns = columns
        .into_iter()
        .map(|column| ColumnBuffers { nulls: column.nulls, buffers: column.buffers.iter().map(shifted).collect() });
    let columns = columns.collect();
    BatchMeta { rows, message: start..body_start, body: body_start..out.len(), columns, bounds, checksums: Vec::new() }
}

/// Replaces the part's own codes by the file's: `codes` has those of each string column.
pub(super) fn translate(bytes: &mut [u8], batches: &[BatchMeta], schema: &Schema, codes: &[Vec<u32>]) {
    let strings = schema.fields().iter().enumerate().filter(|(_, field)| field.logical_type == LogicalType::String);
    for ((column, _), codes) in strings.zip(codes) {
        for batch in batches {
            let Some(buffer) = batch.columns[column].buffers.last() else { continue };
            for bytes in bytes[buffer.clone()].chunks_exact_mut(4) {
                let own = bytes.first_chunk().map_or(0, |own| u32::from_le_bytes(*own));
                // If all rows are null, there is no value.
                let code = codes.get(own as usize).copied().unwrap_or_default();
                bytes.copy_from_slice(&code.to_le_bytes());
            }
        }
    }
}

/// The record batches as stored in the file, with checksums.
pub(super) fn finish(bytes: Vec<u8>, batches: Vec<BatchMeta>, codec: Option<Codec>) -> (Vec<u8>, Vec<BatchMeta>) {
    let (bytes, mut batches) = compress(bytes, batches, codec);
    for batch in &mut batches {
        let message = crc_fast::crc32_iscsi(&bytes[batch.message.clone()]);
        let columns = batch.columns.iter().map(|column| {
            let mut digest = Digest::new(CrcAlgorithm::Crc32Iscsi);
            for buffer in &column.buffers {
                digest.update(&bytes[buffer.clone()]);
            }
            digest.finalize() as u32
        });
        batch.checksums = std::iter::once(message).chain(columns).collect();
    }
    (bytes, batches)
}

/// The record batches with compressed buffers.
fn compress(bytes: Vec<u8>, batches: Vec<BatchMeta>, codec: Option<Codec>) -> (Vec<u8>, Vec<BatchMeta>) {
    let Some(codec) = codec else { return (bytes, batches) };
    let (mut out, mut packed) = (Vec::new(), Vec::new());
    for batch in batches {
        let mut body = Vec::new();
        let mut columns = Vec::with_capacity(batch.columns.len());
        for column in batch.columns {
            let mut buffers = Vec::with_capacity(column.buffers.len());
            for buffer in column.buffers {
                let at = body.len();
                // An empty buffer has no length prefix either.
                if !buffer.is_empty() {
                    codec.compress(&bytes[buffer], &mut body);
                }
                buffers.push(at..body.len());
                body.resize(body.len() + padding(body.len()), 0);
            }
            columns.push(ColumnBuffers { nulls: column.nulls, buffers });
        }
        packed.push(append(batch.rows, &body, columns, batch.bounds, Some(codec), &mut out));
    }
    (out, packed)
}
