//! Encodes the rows of a part as a row group, for one worker.
//!
//! Strings come as codes already and stay codes: the library would look up each of them in a hash table again. Numbers
//! are numbered too where that makes them smaller.

use super::hybrid;
use super::page::{self, DATA_PAGE, DICTIONARY_PAGE, PLAIN, RLE_DICTIONARY};
use super::{NAME, types};
use crate::columnar::part_rows::{PartRows, Rows, Strings};
use brc_compress::Compressor;
use brc_core::{Batch, Error, Part, PartEncoder, Result, Schema, Sink, Summary};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use parquet::basic::CompressionCodec;
use std::sync::Arc;

/// Rows of a page: enough for a compressor to see what repeats, few enough for a nearby cache.
const PAGE_ROWS: usize = 64 << 10;

/// The largest range of numbers that is looked up in a table rather than hashed.
const TABLE: u64 = 1 << 16;

/// The most bytes of a smallest or largest string that are kept.
const LONGEST_BOUND: usize = 256;

/// What is remembered of a part until the footer is written.
pub(super) struct PartMeta {
    pub(super) chunks: Vec<Chunk>,
}

/// What is remembered of a column chunk. Places are counted from the start of the part.
pub(super) struct Chunk {
    pub(super) start: u64,
    /// Where the first page of data is.
    pub(super) data: u64,
    pub(super) stored: u64,
    pub(super) unpacked: u64,
    pub(super) codec: CompressionCodec,
    pub(super) has_dictionary: bool,
    pub(super) checksum: u32,
    pub(super) bounds: Bounds,
}

/// The smallest and the largest value of a column chunk.
pub(super) enum Bounds {
    Unknown,
    Numbers(i64, i64),
    Text(Vec<u8>, Vec<u8>),
}

pub(super) struct Encoder {
    schema: Arc<Schema>,
    rows: PartRows,
    compressor: Compressor,
    bytes: Vec<u8>,
}

impl Encoder {
    pub(super) fn new(schema: &Arc<Schema>, compressor: Compressor) -> Self {
        Self { schema: Arc::clone(schema), rows: PartRows::new(NAME, schema), compressor, bytes: Vec::new() }
    }
}

impl Sink for Encoder {
    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        self.rows.push(batch)
    }

    fn summary(&mut self, _: &Summary<'_>) -> Result<()> {
        Err(Error::Usage("a summary cannot be written as parquet: it has no rows".into()))
    }
}

impl PartEncoder for Encoder {
    fn finish(&mut self) -> Result<Part> {
        let mut bytes = std::mem::take(&mut self.bytes);
        let mut chunks = Vec::new();
        for (rows, field) in self.rows.columns().iter().zip(self.schema.fields()) {
            let (pages, bounds) = match rows {
                Rows::Strings(strings) => strings_pages(strings),
                Rows::Numbers(numbers) => number_pages(numbers, types::is_decimal(field.logical_type)),
            };
            chunks.push(write(&pages, bounds, self.compressor, &mut bytes)?);
        }
        let rows = self.rows.rows();
        self.rows.clear();
        Ok(Part { rows, bytes, cuts: Vec::new(), meta: Box::new(PartMeta { chunks }) })
    }

    fn recycle(&mut self, bytes: Vec<u8>) {
        Part::recycle(bytes, &mut self.bytes);
    }
}

/// A page before compression.
struct Page {
    kind: i64,
    values: usize,
    encoding: i64,
    body: Vec<u8>,
}

fn strings_pages(strings: &Strings) -> (Vec<Page>, Bounds) {
    let dictionary = &strings.dictionary;
    let mut body = Vec::with_capacity(dictionary.value_bytes() + 4 * dictionary.len());
    for value in dictionary.iter() {
        // A value is shorter than its part, and parts than 4 GiB.
        body.extend_from_slice(&(value.len() as u32).to_le_bytes());
        body.extend_from_slice(value);
    }
    let bounds = match (dictionary.iter().min(), dictionary.iter().max()) {
        (Some(min), Some(max)) if min.len().max(max.len()) <= LONGEST_BOUND => Bounds::Text(min.to_vec(), max.to_vec()),
        _ => Bounds::Unknown,
    };
    (dictionary_pages(body, dictionary.len(), &strings.codes), bounds)
}

fn number_pages(numbers: &[i64], is_decimal: bool) -> (Vec<Page>, Bounds) {
    let (Some(&min), Some(&max)) = (numbers.iter().min(), numbers.iter().max()) else {
        return (Vec::new(), Bounds::Unknown);
    };
    let numbered = if max.abs_diff(min) < TABLE { number_by_table(numbers, min, max) } else { number_by_hash(numbers) };
    let pages = match numbered {
        Some((distinct, codes)) => dictionary_pages(number_bytes(&distinct, is_decimal), distinct.len(), &codes),
        None => numbers.chunks(PAGE_ROWS).map(|numbers| plain_page(numbers, is_decimal)).collect(),
    };
    (pages, Bounds::Numbers(min, max))
}

fn plain_page(numbers: &[i64], is_decimal: bool) -> Page {
    let body = number_bytes(numbers, is_decimal);
    Page { kind: DATA_PAGE, values: numbers.len(), encoding: PLAIN, body }
}

fn number_bytes(numbers: &[i64], is_decimal: bool) -> Vec<u8> {
    if is_decimal {
        numbers.iter().flat_map(|&number| types::decimal(number)).collect()
    } else {
        numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
    }
}

/// Whether codes and a dictionary take less than the numbers themselves.
fn pays(distinct: usize, rows: usize) -> bool {
    let width = hybrid::width_of(distinct as u32) as usize;
    distinct * 8 + rows * width / 8 < rows * 8
}

/// The distinct numbers in ascending order and the code of each row, if that pays.
fn number_by_table(numbers: &[i64], min: i64, max: i64) -> Option<(Vec<i64>, Vec<u32>)> {
    let mut codes = vec![0u32; max.abs_diff(min) as usize + 1];
    for &number in numbers {
        codes[number.abs_diff(min) as usize] = 1;
    }
    let mut distinct = Vec::new();
    for (offset, code) in codes.iter_mut().enumerate().filter(|(_, seen)| **seen == 1) {
        *code = distinct.len() as u32;
        distinct.push(min + offset as i64);
    }
    if !pays(distinct.len(), numbers.len()) {
        return None;
    }
    Some((distinct, numbers.iter().map(|number| codes[number.abs_diff(min) as usize]).collect()))
}

/// The distinct numbers in the order in which they appear and the code of each row, if that pays.
fn number_by_hash(numbers: &[i64]) -> Option<(Vec<i64>, Vec<u32>)> {
    let mut distinct = Vec::new();
    let mut codes = Vec::with_capacity(numbers.len());
    let mut known: HashMap<i64, u32, RandomState> = HashMap::default();
    for number in numbers {
        let code = *known.entry(*number).or_insert_with(|| {
            distinct.push(*number);
            distinct.len() as u32 - 1
        });
        codes.push(code);
        // Where most numbers are new, they go on being so.
        if codes.len().is_power_of_two() && codes.len() >= 4096 && distinct.len() > codes.len() / 2 {
            return None;
        }
    }
    pays(distinct.len(), numbers.len()).then_some((distinct, codes))
}

fn dictionary_pages(body: Vec<u8>, distinct: usize, codes: &[u32]) -> Vec<Page> {
    let mut pages = vec![Page { kind: DICTIONARY_PAGE, values: distinct, encoding: PLAIN, body }];
    // A width of 0 is legal, but readers are known to stumble over it.
    let width = hybrid::width_of((distinct as u32).saturating_sub(1)).max(1);
    pages.extend(codes.chunks(PAGE_ROWS).map(|codes| {
        let mut body = vec![width as u8];
        hybrid::encode(width, codes, &mut body);
        Page { kind: DATA_PAGE, values: codes.len(), encoding: RLE_DICTIONARY, body }
    }));
    pages
}

/// Appends a column chunk: compressed, unless that saves nothing.
fn write(pages: &[Page], bounds: Bounds, compressor: Compressor, out: &mut Vec<u8>) -> Result<Chunk> {
    let packed = if compressor.is_none() { None } else { compress(pages, compressor) };
    let codec = match &packed {
        Some(_) => types::codec(compressor.compression).ok_or_else(|| Error::Usage(no_codec(compressor)))?,
        None => CompressionCodec::UNCOMPRESSED,
    };
    let start = out.len();
    let (mut data, mut unpacked) = (start, 0);
    for (index, page) in pages.iter().enumerate() {
        let body = packed.as_ref().and_then(|packed| packed.get(index)).unwrap_or(&page.body);
        let before = out.len();
        if !page::write(page.kind, page.values, page.encoding, page.body.len(), body, out) {
            return Err(Error::too_large(NAME, "a page of it has 2 GiB"));
        }
        unpacked += out.len() - before - body.len() + page.body.len();
        if page.kind == DICTIONARY_PAGE {
            data = out.len();
        }
    }
    Ok(Chunk {
        start: start as u64,
        data: data as u64,
        stored: (out.len() - start) as u64,
        unpacked: unpacked as u64,
        codec,
        has_dictionary: data > start,
        checksum: crc_fast::crc32_iscsi(&out[start..]),
        bounds,
    })
}

fn no_codec(compressor: Compressor) -> String {
    format!("parquet has no {}", compressor.compression.name())
}

/// The bodies of the pages, compressed, if they are smaller then by more than a few hundredths.
fn compress(pages: &[Page], compressor: Compressor) -> Option<Vec<Vec<u8>>> {
    let packed: Vec<_> = pages
        .iter()
        .map(|page| {
            let mut packed = Vec::new();
            compressor.compress(&page.body, &mut packed);
            packed
        })
        .collect();
    let (small, large): (usize, usize) =
        (packed.iter().map(Vec::len).sum(), pages.iter().map(|page| page.body.len()).sum());
    // What saves next to nothing would still have to be decompressed by every reader.
    (small + large / 32 < large).then_some(packed)
}
