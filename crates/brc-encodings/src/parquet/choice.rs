//! Chooses the smallest encoding for the values of a column chunk, judged by a sample.

use super::delta_encoder;
use super::page::{BYTE_STREAM_SPLIT, DELTA_BINARY_PACKED, DELTA_LENGTH_BYTE_ARRAY, PLAIN};
use super::paging::{Page, Paging, code_width};
use super::{hybrid, types};
use brc_compress::Compressor;
use brc_core::bounds::bounds;
use brc_core::{Dictionary, uuid};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use std::hash::Hash;

/// The number of runs of a sample, and of values in each.
const RUNS: usize = 8;
const RUN: usize = 512;

/// The largest range of numbers that are looked up in a table rather than hashed.
const TABLE: u64 = 1 << 16;

/// Up to this number of rows, strings are always dictionary-encoded.
const MAX_ROWS_ALWAYS_CODED: usize = 4096;

/// Appends values.
type Encode<T> = fn(&[T], &mut Vec<u8>);

/// How values of a type are encoded.
pub(super) struct Coder<T> {
    /// The bytes of a plain value.
    width: usize,
    plain: Encode<T>,
    /// An alternative encoding that may be smaller.
    other: Option<Alternative<T>>,
}

#[derive(Clone, Copy)]
struct Alternative<T> {
    encoding: i64,
    encode: Encode<T>,
    /// The number of equal sections of a page whose contents differ: a sample compresses them separately, because in a
    /// page each of them is long.
    parts: usize,
}

/// Integers of 32 bits.
pub(super) const INT_32: Coder<i64> = Coder {
    width: 4,
    plain: plain_32,
    other: Some(Alternative { encoding: DELTA_BINARY_PACKED, encode: delta_encoder::integers_32, parts: 1 }),
};

/// Integers of 64 bits.
pub(super) const INT_64: Coder<i64> = Coder {
    width: 8,
    plain: plain_64,
    other: Some(Alternative { encoding: DELTA_BINARY_PACKED, encode: delta_encoder::integers_64, parts: 1 }),
};

/// Decimals with more digits than 64 bits can hold.
pub(super) const DECIMAL: Coder<i128> = Coder { width: types::WIDE_BYTES, plain: plain_decimals, other: None };

/// UUIDs.
pub(super) const UUID: Coder<i128> = Coder { width: uuid::BYTES, plain: plain_uuids, other: None };

/// 32-bit floats, as their bits.
pub(super) const FLOAT_32: Coder<i64> = Coder {
    width: 4,
    plain: plain_32,
    other: Some(Alternative { encoding: BYTE_STREAM_SPLIT, encode: split::<4>, parts: 4 }),
};

/// 64-bit floats, as their bits.
pub(super) const FLOAT_64: Coder<i64> = Coder {
    width: 8,
    plain: plain_64,
    other: Some(Alternative { encoding: BYTE_STREAM_SPLIT, encode: split::<8>, parts: 8 }),
};

fn plain_32(values: &[i64], out: &mut Vec<u8>) {
    plain(values, |value| (value as i32).to_le_bytes(), out);
}

fn plain_64(values: &[i64], out: &mut Vec<u8>) {
    plain(values, i64::to_le_bytes, out);
}

fn plain_decimals(values: &[i128], out: &mut Vec<u8>) {
    plain(values, |value| -> [u8; types::WIDE_BYTES] { value.to_be_bytes() }, out);
}

fn plain_uuids(values: &[i128], out: &mut Vec<u8>) {
    plain(values, uuid::to_bytes, out);
}

fn plain<T: Copy, const WIDTH: usize>(values: &[T], bytes: impl Fn(T) -> [u8; WIDTH], out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + values.len() * WIDTH, 0);
    for (out, &value) in out[start..].chunks_exact_mut(WIDTH).zip(values) {
        out.copy_from_slice(&bytes(value));
    }
}

/// Byte stream split: the first bytes of all values, then the second ones, and so on.
fn split<const WIDTH: usize>(values: &[i64], out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + values.len() * WIDTH, 0);
    for (byte, out) in out[start..].chunks_exact_mut(values.len().max(1)).enumerate() {
        for (out, value) in out.iter_mut().zip(values) {
            *out = (value >> (8 * byte)) as u8;
        }
    }
}

/// The pages of numbers without nulls; `number` assigns codes to the distinct ones, or returns `None` if that does
/// not pay.
pub(super) fn numbers<T: Copy>(
    paging: &Paging,
    values: &[T],
    coder: &Coder<T>,
    number: impl FnOnce(&[T]) -> Option<(Vec<T>, Vec<u32>)>,
    compressor: Compressor,
) -> Vec<Page> {
    let sampled = sample(values);
    let scale = |bytes: usize| bytes * values.len().max(1) / sampled.len().max(1);
    let cost = |encode: Encode<T>, parts: usize| {
        let mut bytes = Vec::new();
        encode(&sampled, &mut bytes);
        scale(bytes.chunks(bytes.len().div_ceil(parts).max(1)).map(|part| packed(part, compressor)).sum())
    };
    let plain = cost(coder.plain, 1);
    // Plain values are read fastest, unless they have to be decompressed, as they are much larger.
    let is_packed = plain + plain / 32 < scale(coder.width * sampled.len());
    // Byte stream split saves only with compression.
    let other = coder.other.filter(|other| other.encoding != BYTE_STREAM_SPLIT || !compressor.is_none());
    let other = other.map(|other| (cost(other.encode, other.parts), other));
    let other = other.filter(|(cost, _)| *cost < if is_packed { plain } else { plain - plain / 10 });
    let best = other.map_or(plain, |(cost, _)| cost);
    // Values that take a few bits anyway are not worth a pass for distinct ones.
    if (best * 2 > values.len() || is_packed && other.is_none())
        && let Some((distinct, codes)) = number(values)
    {
        let mut dictionary = Vec::new();
        (coder.plain)(&distinct, &mut dictionary);
        let width = code_width(distinct.len());
        let mut bytes = Vec::new();
        hybrid::encode(width, &sample(&codes), &mut bytes);
        let coded = packed(&dictionary, compressor) + scale(packed(&bytes, compressor));
        // Codes are the fastest to read.
        if coded <= best + best / 10 {
            return paging.coded(dictionary, distinct.len(), &codes);
        }
    }
    match other {
        Some((_, Alternative { encoding, encode, .. })) => paging.pages(encoding, values, encode),
        None => paging.pages(PLAIN, values, coder.plain),
    }
}

/// A sample spread over all values.
fn sample<T: Copy>(values: &[T]) -> Vec<T> {
    if values.len() <= RUNS * RUN {
        return values.to_vec();
    }
    let starts = (0..RUNS).map(|run| (values.len() - RUN) * run / (RUNS - 1));
    starts.flat_map(|start| values[start..start + RUN].iter().copied()).collect()
}

/// The compressed size of some bytes.
fn packed(bytes: &[u8], compressor: Compressor) -> usize {
    if compressor.is_none() {
        return bytes.len();
    }
    let mut packed = Vec::new();
    compressor.compress(bytes, &mut packed);
    packed.len().min(bytes.len())
}

/// The distinct integers and the code of each row, if that pays.
pub(super) fn number_integers(values: &[i64]) -> Option<(Vec<i64>, Vec<u32>)> {
    let (min, max) = bounds(values)?;
    if max.abs_diff(min) < TABLE { number_by_table(values, min, max) } else { number_by_hash(values) }
}

/// Whether codes and a dictionary are smaller than the numbers.
fn pays<T>(distinct: usize, rows: usize) -> bool {
    let width = hybrid::width_of(distinct as u32) as usize;
    distinct * size_of::<T>() + rows * width / 8 < rows * size_of::<T>()
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
    if !pays::<i64>(distinct.len(), numbers.len()) {
        return None;
    }
    Some((distinct, numbers.iter().map(|number| codes[number.abs_diff(min) as usize]).collect()))
}

/// The distinct numbers in order of appearance and the code of each row, if that pays.
pub(super) fn number_by_hash<T: Copy + Eq + Hash>(numbers: &[T]) -> Option<(Vec<T>, Vec<u32>)> {
    let mut distinct = Vec::new();
    let mut codes = Vec::with_capacity(numbers.len());
    let mut known: HashMap<T, u32, RandomState> = HashMap::default();
    for number in numbers {
        let code = *known.entry(*number).or_insert_with(|| {
            distinct.push(*number);
            distinct.len() as u32 - 1
        });
        codes.push(code);
        // Where most numbers are new, later ones will be, too.
        if codes.len().is_power_of_two() && codes.len() >= 4096 && distinct.len() > codes.len() / 2 {
            return None;
        }
    }
    pays::<T>(distinct.len(), numbers.len()).then_some((distinct, codes))
}

/// The pages of strings; `codes` has the codes of the valid rows.
pub(super) fn strings(paging: &Paging, codes: &[u32], dictionary: &Dictionary, compressor: Compressor) -> Vec<Page> {
    let is_few = codes.len() <= MAX_ROWS_ALWAYS_CODED || dictionary.len() * 2 <= codes.len();
    if !dictionary.is_empty() && (is_few || codes_pay(codes, dictionary, compressor)) {
        let mut body = Vec::with_capacity(dictionary.value_bytes() + 4 * dictionary.len());
        for value in dictionary.iter() {
            // A value is shorter than its part, and parts are shorter than 4 GiB.
            body.extend_from_slice(&(value.len() as u32).to_le_bytes());
            body.extend_from_slice(value);
        }
        return paging.coded(body, dictionary.len(), codes);
    }
    paging.pages(DELTA_LENGTH_BYTE_ARRAY, codes, |codes, body| {
        delta_encoder::strings(codes, dictionary, body);
    })
}

/// Whether a large dictionary and codes are smaller than the strings of all rows.
fn codes_pay(codes: &[u32], dictionary: &Dictionary, compressor: Compressor) -> bool {
    let mut sampled = Vec::new();
    sample(codes).iter().for_each(|&code| sampled.extend_from_slice(dictionary.get(code)));
    let ratio = |bytes: usize| bytes as u128 * packed(&sampled, compressor) as u128 / sampled.len().max(1) as u128;
    let whole: usize = codes.iter().map(|&code| dictionary.get(code).len()).sum();
    let lengths = (codes.len() - dictionary.len().min(codes.len())) as u128 / 2;
    let coded = ratio(dictionary.value_bytes()) + codes.len() as u128 * u128::from(code_width(dictionary.len())) / 8;
    coded < ratio(whole) + lengths
}
