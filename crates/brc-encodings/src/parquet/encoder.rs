//! Encodes the rows of a part as a row group, for one worker.
//!
//! Strings arrive as codes and stay codes: the library would look up each of them in a hash table again. Numbers
//! are dictionary-encoded too where that makes them smaller.

use super::page::{
    self, BYTE_STREAM_SPLIT, DATA_PAGE, DELTA_BINARY_PACKED, DELTA_LENGTH_BYTE_ARRAY, DICTIONARY_PAGE, PLAIN,
    RLE_DICTIONARY,
};
use super::paging::{Page, Paging};
use super::{NAME, choice, codec, types};
use crate::columnar::factor;
use crate::columnar::part_rows::{PartColumn, PartRows, PartValues};
use crate::refused::Refused;
use crate::rows::foreign;
use brc_compress::Compressor;
use brc_core::bounds::{bounds, string_bounds};
use brc_core::{
    Batch, Bitmap, BitmapBuffer, Data, Error, Field, Integers, LogicalType, Part, PartEncoder, Result, Schema, Sink,
    UnsupportedReason, Value, float32, for_integers,
};
use parquet::basic::{CompressionCodec, Encoding, Type as Physical};
use std::sync::Arc;

/// The maximum bytes of a stored string minimum or maximum.
const LONGEST_BOUND: usize = 256;

/// Pages from this size in bytes on are judged by a sample of this size to find their best compression.
const SAMPLED: usize = 64 << 10;
const SAMPLE: usize = 8 << 10;

/// The metadata of a part, until the footer is written.
pub(super) struct PartMeta {
    pub(super) chunks: Vec<Chunk>,
}

/// The metadata of a column chunk. Offsets are relative to the start of the part.
pub(super) struct Chunk {
    /// The column that it was encoded for.
    pub(super) field: Field,
    pub(super) start: u64,
    /// The offset of the first data page.
    pub(super) data: u64,
    pub(super) stored: u64,
    pub(super) unpacked: u64,
    pub(super) codec: CompressionCodec,
    pub(super) encodings: Vec<Encoding>,
    pub(super) has_dictionary: bool,
    pub(super) checksum: u32,
    pub(super) bounds: Bounds,
    pub(super) nulls: u64,
}

/// The minimum and maximum of a column chunk, as stored.
pub(super) enum Bounds {
    Unknown,
    Integers(i128, i128),
    Floats(f64, f64),
    Text(Vec<u8>, Vec<u8>),
}

pub(super) struct Encoder {
    schema: Arc<Schema>,
    rows: PartRows,
    compressor: Compressor,
    bytes: Vec<u8>,
    packed: PackedPages,
}

/// The compressed bodies of the pages of a column chunk, contiguous.
#[derive(Default)]
struct PackedPages {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Encoder {
    pub(super) fn new(schema: &Arc<Schema>, compressor: Compressor) -> Self {
        Self {
            schema: Arc::clone(schema),
            rows: PartRows::new(NAME, schema),
            compressor,
            bytes: Vec::new(),
            packed: PackedPages::default(),
        }
    }

    /// Checks that times in seconds can be stored as milliseconds: the format has no seconds.
    fn check_seconds(&self, batch: &Batch<'_>) -> Result<()> {
        let mut refused = Vec::new();
        for (index, (column, field)) in batch.columns.iter().zip(self.schema.fields()).enumerate() {
            let most = i128::from(i64::MAX / factor(field.logical_type));
            let Data::Integers(values) = column.data else { continue };
            if most == i64::MAX.into() || values.bounds().is_none_or(|(min, max)| -most <= min && max <= most) {
                continue;
            }
            let is_far = |row: &usize| column.is_valid(*row) && values.get(*row).abs() > most;
            if let Some(row) = (0..values.len()).find(is_far) {
                let text = Value::Integer(values.get(row)).to_text(field.logical_type);
                refused.push(Refused::value(row, index, text.as_bytes(), UnsupportedReason::OutOfRange));
            }
        }
        match Refused::first(refused.into_iter()) {
            Some(refused) => Err(refused.into_error(self.rows.rows(), NAME, &self.schema)),
            None => Ok(()),
        }
    }
}

impl Sink for Encoder {
    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        self.check_seconds(batch)?;
        self.rows.push(batch)
    }
}

impl PartEncoder for Encoder {
    fn finish(&mut self) -> Result<Part> {
        let mut bytes = std::mem::take(&mut self.bytes);
        let mut chunks = Vec::new();
        let rows = self.rows.rows();
        for (column, field) in self.rows.columns().iter().zip(self.schema.fields()) {
            let (pages, bounds) = pages(column, field, rows as usize, self.compressor)?;
            let chunk = write(&pages, field, self.compressor, &mut self.packed, &mut bytes)?;
            chunks.push(Chunk { bounds, nulls: column.validity.nulls() as u64, ..chunk });
        }
        self.rows.clear();
        Ok(Part { rows, bytes, cuts: Vec::new(), meta: Box::new(PartMeta { chunks }), meta_bytes: 0 })
    }

    fn recycle(&mut self, bytes: Vec<u8>) {
        Part::recycle(bytes, &mut self.bytes);
    }
}

/// The pages of a column chunk, and its bounds.
fn pages(column: &PartColumn, field: &Field, rows: usize, compressor: Compressor) -> Result<(Vec<Page>, Bounds)> {
    let validity = column.validity.bitmap();
    let paging = |bytes: usize| Paging::new(field.nullable, validity, rows, bytes);
    match &column.values {
        PartValues::Strings(strings) => {
            let codes = dense(&strings.codes, validity);
            let dictionary = strings.dictionary();
            let bytes = codes.iter().map(|&code| dictionary.get(code).len()).sum();
            let pages = choice::strings(&paging(bytes), &codes, dictionary, compressor);
            let bounds = match string_bounds(dictionary.iter()) {
                Some((min, max)) if min.len().max(max.len()) <= LONGEST_BOUND => {
                    Bounds::Text(min.to_vec(), max.to_vec())
                }
                _ => Bounds::Unknown,
            };
            Ok((pages, bounds))
        }
        PartValues::Floats(floats) => {
            let floats = dense(floats, validity);
            let (bits, coder): (Vec<_>, _) = if field.logical_type == LogicalType::Float32 {
                let bits = floats.iter().map(|&value| i64::from(float32::nearest(value).to_bits()));
                (bits.collect(), &choice::FLOAT_32)
            } else {
                (floats.iter().map(|value| value.to_bits() as i64).collect(), &choice::FLOAT_64)
            };
            let pages = choice::numbers(&paging(0), &bits, coder, choice::number_by_hash, compressor);
            Ok((pages, float_bounds(&floats)))
        }
        PartValues::Integers(numbers) => integer_pages(&numbers.as_integers(), validity, field, &paging(0), compressor),
    }
}

#[allow(clippy::useless_conversion)]
fn integer_pages(
    values: &Integers<'_>,
    validity: Option<Bitmap<'_>>,
    field: &Field,
    paging: &Paging,
    compressor: Compressor,
) -> Result<(Vec<Page>, Bounds)> {
    let physical = types::physical(field.logical_type);
    if physical == Physical::FIXED_LEN_BYTE_ARRAY {
        let values =
            for_integers!(values, values => dense(values, validity).into_iter().map(i128::from).collect::<Vec<_>>());
        let coder = if field.logical_type == LogicalType::Uuid { &choice::UUID } else { &choice::DECIMAL };
        let pages = choice::numbers(paging, &values, coder, choice::number_by_hash, compressor);
        return Ok((pages, integer_bounds(&values)));
    }
    let values = stored_integers(values, validity, field)?;
    let bounds = match field.logical_type.bounds() {
        // Unsigned values have unsigned order.
        Some((0, max)) if max == u64::MAX.into() => {
            let unsigned: Vec<_> = values.iter().map(|&value| i128::from(value as u64)).collect();
            integer_bounds(&unsigned)
        }
        _ => integer_bounds(&values),
    };
    let pages = match physical {
        Physical::BOOLEAN => paging.pages(PLAIN, &values, bits),
        Physical::INT32 => choice::numbers(paging, &values, &choice::INT_32, choice::number_integers, compressor),
        _ => choice::numbers(paging, &values, &choice::INT_64, choice::number_integers, compressor),
    };
    Ok((pages, bounds))
}

/// The valid integers as pages store them: in units of the format, in 32 or 64 bits, signed or unsigned.
fn stored_integers(values: &Integers<'_>, validity: Option<Bitmap<'_>>, field: &Field) -> Result<Vec<i64>> {
    let factor = factor(field.logical_type);
    let (min, max) = field.logical_type.bounds().unwrap_or((0, 0));
    let narrow = match types::physical(field.logical_type) {
        Physical::INT32 => i128::from(i32::MIN)..=i128::from(i32::MAX),
        // A decimal of eighteen digits may have come with nineteen.
        _ => min.min(i64::MIN.into())..=max.max(i64::MAX.into()),
    };
    let stored = |value: i64| value.checked_mul(factor).ok_or_else(foreign);
    match *values {
        Integers::I128(values) => {
            let values = dense(values, validity).into_iter();
            values.map(|value| if narrow.contains(&value) { stored(value as i64) } else { Err(foreign()) }).collect()
        }
        _ => {
            if values.bounds().is_some_and(|(low, high)| !narrow.contains(&low) || !narrow.contains(&high)) {
                return Err(foreign());
            }
            let values: Vec<i64> = match values {
                Integers::I8(values) => dense(values, validity).into_iter().map(i64::from).collect(),
                Integers::I16(values) => dense(values, validity).into_iter().map(i64::from).collect(),
                Integers::I32(values) => dense(values, validity).into_iter().map(i64::from).collect(),
                Integers::I64(values) => dense(values, validity),
                Integers::I128(_) => Vec::new(),
            };
            if factor == 1 { Ok(values) } else { values.into_iter().map(stored).collect() }
        }
    }
}

/// The valid values.
fn dense<T: Copy>(values: &[T], validity: Option<Bitmap<'_>>) -> Vec<T> {
    match validity {
        None => values.to_vec(),
        Some(validity) => {
            values.iter().zip(validity.iter()).filter(|(_, valid)| *valid).map(|(&value, _)| value).collect()
        }
    }
}

/// Appends one bit per bool.
fn bits(values: &[i64], out: &mut Vec<u8>) {
    let mut bits = BitmapBuffer::default();
    // Without a null there is no validity bitmap.
    values.iter().for_each(|&value| bits.push(value != 0));
    match bits.bitmap() {
        Some(bitmap) => {
            let bytes = bitmap.words().flat_map(|(word, rows)| word.to_le_bytes().into_iter().take(rows.div_ceil(8)));
            out.extend(bytes);
        }
        None => {
            out.resize(out.len() + values.len() / 8, 0xff);
            out.extend((!values.len().is_multiple_of(8)).then(|| (1u8 << (values.len() % 8)) - 1));
        }
    }
}

fn integer_bounds<T: Copy + Ord + Into<i128>>(values: &[T]) -> Bounds {
    bounds(values).map_or(Bounds::Unknown, |(min, max)| Bounds::Integers(min.into(), max.into()))
}

/// As the format requires: no NaN, and a zero is -0 as minimum and +0 as maximum.
fn float_bounds(values: &[f64]) -> Bounds {
    if values.is_empty() || values.iter().any(|value| value.is_nan()) {
        return Bounds::Unknown;
    }
    let min = values.iter().copied().fold(f64::INFINITY, f64::min);
    let max = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Bounds::Floats(if min == 0.0 { -0.0 } else { min }, if max == 0.0 { 0.0 } else { max })
}

/// Appends a column chunk: compressed, unless that saves nothing.
fn write(
    pages: &[Page],
    field: &Field,
    compressor: Compressor,
    packed: &mut PackedPages,
    out: &mut Vec<u8>,
) -> Result<Chunk> {
    let is_packed = !compressor.is_none() && packed.compress(pages, compressor);
    let codec = match is_packed {
        true => codec::written(compressor.compression).ok_or_else(|| Error::Usage(no_codec(compressor)))?,
        false => CompressionCodec::UNCOMPRESSED,
    };
    let start = out.len();
    let (mut data, mut unpacked) = (start, 0);
    for (index, page) in pages.iter().enumerate() {
        let body = if is_packed { packed.get(index) } else { &page.body };
        let before = out.len();
        if !page::write(page.kind, page.values, page.encoding, page.body.len(), body, out) {
            return Err(Error::too_large(NAME, "a page of it has 2 GiB"));
        }
        unpacked += out.len() - before - body.len() + page.body.len();
        if page.kind == DICTIONARY_PAGE {
            data = out.len();
        }
    }
    let mut encodings = vec![Encoding::PLAIN, Encoding::RLE];
    match pages.last().map(|page| page.encoding) {
        Some(RLE_DICTIONARY) => encodings.push(Encoding::RLE_DICTIONARY),
        Some(DELTA_BINARY_PACKED) => encodings.push(Encoding::DELTA_BINARY_PACKED),
        Some(DELTA_LENGTH_BYTE_ARRAY) => encodings.push(Encoding::DELTA_LENGTH_BYTE_ARRAY),
        Some(BYTE_STREAM_SPLIT) => encodings.push(Encoding::BYTE_STREAM_SPLIT),
        _ => {}
    }
    Ok(Chunk {
        field: field.clone(),
        start: start as u64,
        data: data as u64,
        stored: (out.len() - start) as u64,
        unpacked: unpacked as u64,
        codec,
        has_dictionary: data > start,
        encodings,
        checksum: crc_fast::crc32_iscsi(&out[start..]),
        bounds: Bounds::Unknown,
        nulls: 0,
    })
}

fn no_codec(compressor: Compressor) -> String {
    format!("parquet does not support {}", compressor.compression.name())
}

impl PackedPages {
    /// Compresses pages. Returns whether that saves more than a few per cent: otherwise readers would decompress for
    /// hardly any gain.
    fn compress(&mut self, pages: &[Page], compressor: Compressor) -> bool {
        self.bytes.clear();
        self.ends.clear();
        let [dictionary, data] = [DICTIONARY_PAGE, DATA_PAGE].map(|kind| suited(pages, kind, compressor));
        for page in pages {
            let compressor = if page.kind == DICTIONARY_PAGE { dictionary } else { data };
            compressor.compress(&page.body, &mut self.bytes);
            self.ends.push(self.bytes.len());
        }
        let large: usize = pages.iter().map(|page| page.body.len()).sum();
        self.bytes.len() + large / 32 < large
    }

    fn get(&self, index: usize) -> &[u8] {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[index]]
    }
}

/// The compressor for the pages of a kind.
fn suited(pages: &[Page], kind: i64, compressor: Compressor) -> Compressor {
    let page = pages.iter().find(|page| page.kind == kind && page.body.len() >= SAMPLED);
    page.map_or(compressor, |page| {
        // Lengths and levels come first.
        let start = page.body.len() / 3;
        compressor.suited_to(&page.body[start..start + SAMPLE])
    })
}
