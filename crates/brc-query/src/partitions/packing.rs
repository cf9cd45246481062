//! How the keys of a row become few bits that order as the keys do.
//!
//! What the first groups show is believed of all: integers lie in about the same range, strings are codes of the same
//! dictionary, or about as long. So six keys fit three words, where types alone would need nine. A row that does not fit
//! is told as such: it is grouped elsewhere, and its group is none of those whose keys fit.

use crate::group::Malformed;
use crate::keys::index::{NameIndex, TupleIndex};
use crate::keys::layout::{float_key, float_of_key};
use crate::partial::Partial;
use crate::states::TOO_LARGE;
use brc_core::batch::codes_of;
use brc_core::{Batch, ByteStrings, Column, Data, Dictionary, Integers, LogicalType, PhysicalType, Value};
use std::sync::Arc;

/// Strings of more bytes are not packed.
const LONGEST: usize = 64;

/// A dictionary with values for at least so many groups each is believed to have all values that will come.
const GROUPS_OF_VALUE: usize = 4;

/// Tuples of more words are not packed.
const WIDEST: usize = 16;

/// Where the bits of all keys lie in a tuple of words: the first key in the upper bits of the first word.
#[derive(Debug, Clone)]
pub(crate) struct Packing {
    keys: Vec<PackedKey>,
    width: usize,
}

#[derive(Debug, Clone)]
struct PackedKey {
    kind: Kind,
    /// The bit that is set for null, counted from the uppermost of the first word; all others of the key are 0 then.
    null: Option<u32>,
    /// Where the value begins.
    start: u32,
}

#[derive(Debug, Clone)]
enum Kind {
    /// Distances from the smallest integer.
    Integers { min: i64, span: u64 },
    /// Floats as their [keys](float_key).
    Floats,
    /// Places among the sorted values of a dictionary.
    Coded { names: Dictionary, index: NameIndex },
    /// Up to so many bytes, zeros up to that length, then the length.
    Inline { longest: usize },
}

impl Kind {
    /// The bits of what it consists of, each of no more than a word.
    fn pieces(&self) -> Vec<u32> {
        match self {
            Self::Integers { span, .. } => vec![bits_of(*span)],
            Self::Floats => vec![64],
            Self::Coded { names, .. } => vec![bits_of(names.len() as u64)],
            Self::Inline { longest } => {
                let words = (0..longest.div_ceil(8)).map(|word| 8 * (longest - word * 8).min(8) as u32);
                words.chain([bits_of(*longest as u64)]).collect()
            }
        }
    }
}

fn bits_of(largest: u64) -> u32 {
    64 - largest.leading_zeros()
}

/// What is known of the keys before they are packed.
pub(crate) trait Sample {
    /// How many groups there are.
    fn groups(&self) -> usize;

    /// The value that a group has for a key.
    fn value(&self, key: usize, group: usize) -> Option<Value<'_>>;
}

impl Packing {
    /// A packing for keys of these types, each with whether it may be null, which come as in these columns; `None` if
    /// there is none.
    pub(crate) fn of(types: &[(LogicalType, bool)], sample: &dyn Sample, columns: &[Column<'_>]) -> Option<Self> {
        let kinds = types.iter().zip(columns).enumerate();
        let kinds = kinds.map(|(key, (&(logical_type, _), column))| kind_of(key, logical_type, sample, column));
        let mut kinds = kinds.collect::<Option<Vec<_>>>()?;
        let nulls = types.iter().filter(|(_, nullable)| *nullable).count() as u32;
        widen(&mut kinds, nulls);
        let mut end = 0;
        let mut keys = Vec::new();
        for (kind, &(_, nullable)) in kinds.into_iter().zip(types) {
            let start = end + u32::from(nullable);
            let null = nullable.then_some(end);
            end = start + kind.pieces().iter().sum::<u32>();
            keys.push(PackedKey { kind, null, start });
        }
        let width = end.div_ceil(64).max(1) as usize;
        (width <= WIDEST).then_some(Self { keys, width })
    }

    /// Words of a tuple.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// How many keys there are.
    pub(super) fn keys(&self) -> usize {
        self.keys.len()
    }

    /// The tuple of a group; `None` if its keys do not fit.
    pub(super) fn pack(&self, groups: &Partial, group: usize, text: &mut Vec<u8>) -> Option<Vec<u64>> {
        let mut tuple = vec![0; self.width];
        let mut keys = self.keys.iter().enumerate();
        keys.all(|(key, packed)| packed.pack(groups.key(key, group, text), &mut tuple)).then_some(tuple)
    }

    /// Packs a value of a key into a tuple that has none of that key; `false` if it does not fit.
    pub(super) fn pack_value(&self, key: usize, value: Option<Value<'_>>, tuple: &mut [u64]) -> bool {
        self.keys[key].pack(value, tuple)
    }

    /// The value that a tuple has for a key; `None` if it is null. Strings may be written to `text`.
    pub(crate) fn value<'a>(&'a self, key: usize, tuple: &[u64], text: &'a mut Vec<u8>) -> Option<Value<'a>> {
        let PackedKey { kind, null, start } = &self.keys[key];
        if null.is_some_and(|null| get(tuple, null, 1) == 1) {
            return None;
        }
        Some(match kind {
            Kind::Integers { min, span } => {
                Value::Integer(min.wrapping_add(get(tuple, *start, bits_of(*span)) as i64).into())
            }
            Kind::Floats => Value::Float(float_of_key(get(tuple, *start, 64))),
            Kind::Coded { names, .. } => {
                Value::Bytes(names.get(get(tuple, *start, bits_of(names.len() as u64)) as u32))
            }
            Kind::Inline { longest } => {
                let mut at = *start;
                text.clear();
                for bits in kind.pieces() {
                    let piece = get(tuple, at, bits);
                    at += bits;
                    if text.len() < *longest {
                        text.extend_from_slice(&piece.to_be_bytes()[8 - bits as usize / 8..]);
                    } else {
                        text.truncate(piece as usize);
                    }
                }
                Value::Bytes(text)
            }
        })
    }
}

impl PackedKey {
    fn pack(&self, value: Option<Value<'_>>, tuple: &mut [u64]) -> bool {
        let Some(value) = value else {
            self.null.into_iter().for_each(|null| set(tuple, null, 1, 1));
            return self.null.is_some();
        };
        let mut put = |bits: u32, word: u64| {
            set(tuple, self.start, bits, word);
            true
        };
        match (&self.kind, value) {
            (Kind::Integers { min, span }, Value::Integer(value)) => {
                let distance = i64::try_from(value).map(|value| value.wrapping_sub(*min) as u64);
                distance.is_ok_and(|word| word <= *span && put(bits_of(*span), word))
            }
            (Kind::Floats, Value::Float(value)) => put(64, float_key(value)),
            (Kind::Coded { names, index }, Value::Bytes(name)) => {
                let place = index.find(name, names);
                place.is_some_and(|place| put(bits_of(names.len() as u64), place.into()))
            }
            (Kind::Inline { longest }, Value::Bytes(bytes)) => {
                let mut at = self.start;
                for (word, bits) in self.kind.pieces().into_iter().enumerate() {
                    let is_length = word * 8 >= *longest;
                    let piece = if is_length {
                        bytes.len() as u64
                    } else {
                        word_of(bytes, word * 8, bytes.len()) >> (64 - bits)
                    };
                    if bytes.len() <= *longest {
                        set(tuple, at, bits, piece);
                    }
                    at += bits;
                }
                bytes.len() <= *longest
            }
            (Kind::Integers { .. } | Kind::Floats | Kind::Coded { .. } | Kind::Inline { .. }, _) => false,
        }
    }
}

/// Gives integers the bits that are left: keys that ascend with the rows go on for long.
fn widen(kinds: &mut [Kind], nulls: u32) {
    let used: u32 = nulls + kinds.iter().flat_map(Kind::pieces).sum::<u32>();
    let integers = kinds.iter().filter(|kind| matches!(kind, Kind::Integers { .. })).count() as u32;
    // At least so many bits each, which make the range so much larger.
    const LEAST: u32 = 3;
    let Some(bits) = ((used + LEAST * integers).next_multiple_of(64) - used).checked_div(integers) else { return };
    for kind in kinds {
        if let Kind::Integers { min, span } = kind {
            let all = bits_of(*span) + bits;
            let larger = if all >= 64 { u64::MAX } else { (1 << all) - 1 };
            // Half of what is new lies below.
            let below = ((larger - *span) / 2).min(min.abs_diff(i64::MIN));
            *min = min.wrapping_sub(below as i64);
            *span = larger.min(min.abs_diff(i64::MAX));
        }
    }
}

/// How a key that comes as in that column is packed.
fn kind_of(key: usize, logical_type: LogicalType, sample: &dyn Sample, column: &Column<'_>) -> Option<Kind> {
    let values = (0..sample.groups()).filter_map(|group| sample.value(key, group));
    match logical_type.physical() {
        PhysicalType::Floats => Some(Kind::Floats),
        PhysicalType::Integers if !logical_type.fits_64_bits() => None,
        PhysicalType::Integers => {
            let integer = |value| match value {
                Value::Integer(value) => i64::try_from(value).ok(),
                Value::Float(_) | Value::Bytes(_) => None,
            };
            let bounds = values.map(integer).try_fold(None, |bounds: Option<(i64, i64)>, value| {
                let (value, bounds) = (value?, bounds);
                let (min, max) = bounds.unwrap_or((value, value));
                Some(Some((min.min(value), max.max(value))))
            });
            let (min, max) = bounds?.unwrap_or((0, 0));
            Some(Kind::Integers { min, span: max.wrapping_sub(min) as u64 })
        }
        PhysicalType::Bytes => {
            let longest = values.map(|value| if let Value::Bytes(bytes) = value { bytes.len() } else { 0 }).max();
            let longest = longest.unwrap_or(0).max(1);
            let inline = (longest <= LONGEST).then_some(Kind::Inline { longest });
            match column.dictionary() {
                Some(dictionary) if dictionary.len() * GROUPS_OF_VALUE <= sample.groups() => Some(coded(dictionary)),
                Some(dictionary) => Some(inline.unwrap_or_else(|| coded(dictionary))),
                None => inline,
            }
        }
    }
}

fn coded(dictionary: &Dictionary) -> Kind {
    let mut names: Vec<&[u8]> = dictionary.iter().collect();
    names.sort_unstable();
    names.dedup();
    let names: Dictionary = names.into_iter().collect();
    Kind::Coded { index: NameIndex::of(&names), names }
}

/// Up to 64 bits of a tuple.
fn get(tuple: &[u64], start: u32, bits: u32) -> u64 {
    let (word, used) = ((start / 64) as usize, start % 64);
    let room = 64 - used;
    match bits {
        0 => 0,
        _ if bits <= room => tuple[word] << used >> (64 - bits),
        _ => (tuple[word] << used >> (64 - bits)) | tuple[word + 1] >> (128 - used - bits),
    }
}

/// Sets bits that are 0 so far.
fn set(tuple: &mut [u64], start: u32, bits: u32, value: u64) {
    let (word, used) = ((start / 64) as usize, start % 64);
    let room = 64 - used;
    if bits <= room {
        if bits > 0 {
            tuple[word] |= value << (room - bits);
        }
    } else {
        tuple[word] |= value >> (bits - room);
        tuple[word + 1] |= value << (64 - (bits - room));
    }
}

/// Tuples of packed keys, each once.
#[derive(Debug, Clone)]
pub(crate) struct PackedKeys {
    packing: Arc<Packing>,
    tuples: Vec<u64>,
    index: TupleIndex,
}

impl PackedKeys {
    pub(crate) fn new(packing: Arc<Packing>) -> Self {
        Self { packing, tuples: Vec::new(), index: TupleIndex::default() }
    }

    pub(crate) fn len(&self) -> usize {
        self.tuples.len() / self.packing.width
    }

    /// How many keys a tuple has.
    pub(crate) fn keys(&self) -> usize {
        self.packing.keys.len()
    }

    /// Replaces `numbers` by those of some tuples, of which some may be new.
    pub(crate) fn number(&mut self, tuples: &[u64], numbers: &mut Vec<u32>) {
        self.index.number_all(tuples, self.packing.width, &mut self.tuples, numbers);
    }

    /// No more tuples will come.
    pub(crate) fn settle(&mut self) {
        self.index = TupleIndex::default();
    }

    /// The words of a tuple: they order as the keys do, nulls last.
    pub(crate) fn tuple(&self, number: usize) -> &[u64] {
        &self.tuples[number * self.packing.width..(number + 1) * self.packing.width]
    }

    /// The value that a tuple has for a key; `None` if it is null. Strings may be written to `text`.
    pub(crate) fn value<'a>(&'a self, key: usize, number: usize, text: &'a mut Vec<u8>) -> Option<Value<'a>> {
        self.packing.value(key, self.tuple(number), text)
    }
}

/// Packs the keys of batch after batch for one worker.
#[derive(Debug)]
pub(crate) struct Packer<'a> {
    packing: &'a Packing,
    /// The place of each of the scanner's codes among the values of each key that has a dictionary.
    places: Vec<Vec<u32>>,
    codes: Vec<u32>,
    lane: Vec<u64>,
    /// The tuples of the rows of a batch.
    pub(crate) tuples: Vec<u64>,
    /// Which rows fit.
    pub(crate) fits: Vec<bool>,
}

/// Stands for a code whose value the packing does not know.
const UNKNOWN: u32 = u32::MAX;

impl<'a> Packer<'a> {
    pub(crate) fn new(packing: &'a Packing) -> Self {
        let places = vec![Vec::new(); packing.keys.len()];
        Self { packing, places, codes: Vec::new(), lane: Vec::new(), tuples: Vec::new(), fits: Vec::new() }
    }

    /// Packs the keys of all rows of a batch, which has nothing else.
    pub(crate) fn pack(&mut self, batch: &Batch<'_>) -> Result<(), Malformed> {
        self.fits.clear();
        self.fits.resize(batch.rows, true);
        self.tuples.clear();
        self.tuples.resize(batch.rows * self.packing.width, 0);
        for (index, (key, column)) in self.packing.keys.iter().zip(batch.columns).enumerate() {
            self.pack_key(index, key, column)?;
        }
        Ok(())
    }

    fn pack_key(&mut self, index: usize, key: &PackedKey, column: &Column<'_>) -> Result<(), Malformed> {
        let validity = column.validity.filter(|validity| validity.count_nulls() > 0);
        let nulls: Vec<bool> = validity.map_or(Vec::new(), |validity| validity.iter().map(|valid| !valid).collect());
        let is_null = |row: usize| nulls.get(row).is_some_and(|&null| null);
        if let Some(bit) = key.null.filter(|_| !nulls.is_empty()) {
            let tuples = self.tuples.chunks_exact_mut(self.packing.width);
            tuples.zip(&nulls).for_each(|(tuple, &null)| set(tuple, bit, 1, null.into()));
        } else if !nulls.is_empty() {
            return Err(Malformed("it has nulls in a column without"));
        }
        match (&key.kind, column.data) {
            (Kind::Integers { min, span }, Data::Integers(values)) => {
                self.lane.clear();
                integers(values, *min, &mut self.lane)?;
                for (row, (word, fits)) in self.lane.iter_mut().zip(&mut self.fits).enumerate() {
                    let (null, inside) = (is_null(row), *word <= *span);
                    *fits &= inside | null;
                    *word = if inside & !null { *word } else { 0 };
                }
                put(&mut self.tuples, self.packing.width, key.start, bits_of(*span), &self.lane);
            }
            (Kind::Floats, Data::Floats(values)) => {
                self.lane.clear();
                let word = |(row, &value): (usize, &f64)| if is_null(row) { 0 } else { float_key(value) };
                self.lane.extend(values.iter().enumerate().map(word));
                put(&mut self.tuples, self.packing.width, key.start, 64, &self.lane);
            }
            (Kind::Coded { names, index: known }, Data::Codes { dictionary, .. } | Data::Runs { dictionary, .. }) => {
                let places = &mut self.places[index];
                for code in places.len() as u32..dictionary.len() as u32 {
                    let name = dictionary.get(code);
                    let is_same = (code as usize) < names.len() && names.get(code) == name;
                    places.push(if is_same { code } else { known.find(name, names).unwrap_or(UNKNOWN) });
                }
                self.codes.clear();
                codes_of(column, &mut self.codes);
                self.lane.clear();
                for (row, (&code, fits)) in self.codes.iter().zip(&mut self.fits).enumerate() {
                    self.lane.push(match places.get(code as usize) {
                        _ if is_null(row) => 0,
                        Some(&UNKNOWN) => {
                            *fits = false;
                            0
                        }
                        Some(&place) => place.into(),
                        None => return Err(Malformed("a code is not in its dictionary")),
                    });
                }
                put(&mut self.tuples, self.packing.width, key.start, bits_of(names.len() as u64), &self.lane);
            }
            (Kind::Coded { names, index: known }, Data::Bytes(strings)) => {
                self.lane.clear();
                for (row, (string, fits)) in strings.iter().zip(&mut self.fits).enumerate() {
                    let place = if is_null(row) { Some(0) } else { known.find(string, names) };
                    *fits &= place.is_some();
                    self.lane.push(place.unwrap_or(0).into());
                }
                put(&mut self.tuples, self.packing.width, key.start, bits_of(names.len() as u64), &self.lane);
            }
            (Kind::Inline { longest }, Data::Bytes(strings)) => self.strings(key, *longest, strings, is_null),
            (Kind::Inline { longest }, Data::Codes { dictionary, .. } | Data::Runs { dictionary, .. }) => {
                self.codes.clear();
                codes_of(column, &mut self.codes);
                let (mut offsets, mut bytes) = (vec![0], Vec::new());
                for (row, &code) in self.codes.iter().enumerate() {
                    if !is_null(row) {
                        let known = (code as usize) < dictionary.len();
                        let unknown = Malformed("a code is not in its dictionary");
                        bytes.extend_from_slice(known.then(|| dictionary.get(code)).ok_or(unknown)?);
                    }
                    offsets.push(i32::try_from(bytes.len()).map_err(|_| TOO_LARGE)?);
                }
                self.strings(key, *longest, ByteStrings::new(&offsets, &bytes), is_null);
            }
            (Kind::Integers { .. } | Kind::Floats | Kind::Coded { .. } | Kind::Inline { .. }, _) => {
                return Err(Malformed("a key is of another type than its column"));
            }
        }
        Ok(())
    }

    fn strings(&mut self, key: &PackedKey, longest: usize, strings: ByteStrings<'_>, is_null: impl Fn(usize) -> bool) {
        let (offsets, bytes) = strings.parts();
        let mut at = key.start;
        let mut from = 0;
        for bits in key.kind.pieces() {
            self.lane.clear();
            if from >= longest {
                for (row, (pair, fits)) in offsets.windows(2).zip(&mut self.fits).enumerate() {
                    let length = if is_null(row) { 0 } else { (pair[1] - pair[0]) as usize };
                    *fits &= length <= longest;
                    self.lane.push(length.min(longest) as u64);
                }
            } else {
                for (row, pair) in offsets.windows(2).enumerate() {
                    let (start, end) = (pair[0] as usize + from, pair[1] as usize);
                    let word = if is_null(row) { 0 } else { word_of(bytes, start, end) };
                    self.lane.push(word >> (64 - bits));
                }
                from += 8;
            }
            put(&mut self.tuples, self.packing.width, at, bits, &self.lane);
            at += bits;
        }
    }
}

/// Up to eight of the bytes from `start` on, the first in the upper bits.
#[inline]
fn word_of(bytes: &[u8], start: usize, end: usize) -> u64 {
    let length = end.saturating_sub(start).min(8);
    if length == 0 {
        return 0;
    }
    match bytes.get(start..start + 8) {
        Some(eight) => {
            let mut word = [0; 8];
            word.copy_from_slice(eight);
            u64::from_be_bytes(word) & u64::MAX << (64 - 8 * length)
        }
        None => bytes[start..start + length].iter().rev().fold(0, |word, &byte| word >> 8 | u64::from(byte) << 56),
    }
}

/// Appends the distances of integers from `min`, modulo 2⁶⁴: those up to a span are just those of the values up to it.
fn integers(values: Integers<'_>, min: i64, lane: &mut Vec<u64>) -> Result<(), Malformed> {
    let distance = |value: i64| value.wrapping_sub(min) as u64;
    match values {
        Integers::I8(values) => lane.extend(values.iter().map(|&value| distance(value.into()))),
        Integers::I16(values) => lane.extend(values.iter().map(|&value| distance(value.into()))),
        Integers::I32(values) => lane.extend(values.iter().map(|&value| distance(value.into()))),
        Integers::I64(values) => lane.extend(values.iter().map(|&value| distance(value))),
        Integers::I128(values) => {
            for &value in values {
                lane.push(distance(value.try_into().map_err(|_| TOO_LARGE)?));
            }
        }
    }
    Ok(())
}

/// Sets these bits of all tuples.
fn put(tuples: &mut [u64], width: usize, start: u32, bits: u32, lane: &[u64]) {
    let (word, used) = ((start / 64) as usize, start % 64);
    let room = 64 - used;
    if bits == 0 {
    } else if bits <= room {
        let shift = room - bits;
        tuples.chunks_exact_mut(width).zip(lane).for_each(|(tuple, &value)| tuple[word] |= value << shift);
    } else {
        let (right, left) = (bits - room, 64 - (bits - room));
        for (tuple, &value) in tuples.chunks_exact_mut(width).zip(lane) {
            tuple[word] |= value >> right;
            tuple[word + 1] |= value << left;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use brc_core::BitmapBuffer;
    use proptest::prelude::*;

    struct Columns(Vec<Vec<Option<Value<'static>>>>);

    impl Sample for Columns {
        fn groups(&self) -> usize {
            self.0[0].len()
        }

        fn value(&self, key: usize, group: usize) -> Option<Value<'_>> {
            self.0[key][group]
        }
    }

    const WORDS: [&str; 7] = ["", "a", "a\0", "abcdefgh", "abcdefghi", "b", "zz"];

    proptest! {
        #[test]
        fn tuples_order_as_their_keys_and_give_them_back(
            rows in prop::collection::vec((any::<Option<i8>>(), 0usize..7, any::<f64>(), 0usize..7), 1..40)
        ) {
            let types = ["int64", "string", "float64", "string"].map(|text| (text.parse().unwrap(), true));
            let sample = Columns(vec![
                rows.iter().map(|row| row.0.map(|value| Value::Integer(value.into()))).collect(),
                rows.iter().map(|row| Some(Value::Bytes(WORDS[row.1].as_bytes()))).collect(),
                rows.iter().map(|row| Some(Value::Float(row.2))).collect(),
                rows.iter().map(|row| Some(Value::Bytes(WORDS[row.3].as_bytes()))).collect(),
            ]);
            let mut validity = BitmapBuffer::default();
            rows.iter().for_each(|row| validity.push(row.0.is_some()));
            let integers: Vec<i8> = rows.iter().map(|row| row.0.unwrap_or(7)).collect();
            let (mut offsets, mut bytes) = (vec![0], Vec::new());
            for row in &rows {
                bytes.extend_from_slice(WORDS[row.1].as_bytes());
                offsets.push(bytes.len() as i32);
            }
            let floats: Vec<f64> = rows.iter().map(|row| row.2).collect();
            let dictionary: Dictionary = WORDS.iter().rev().collect();
            let codes: Vec<u32> = rows.iter().map(|row| 6 - row.3 as u32).collect();
            let columns = [
                Column::integers(Integers::I8(&integers)).with_validity(validity.bitmap()),
                Data::Bytes(ByteStrings::new(&offsets, &bytes)).into(),
                Data::Floats(&floats).into(),
                Column::codes(&codes, &dictionary),
            ];
            let packing = Packing::of(&types, &sample, &columns).unwrap();
            let mut packer = Packer::new(&packing);
            packer.pack(&Batch { rows: rows.len(), columns: &columns }).unwrap();
            prop_assert!(packer.fits.iter().all(|&fits| fits));
            let mut text = Vec::new();
            let tuples: Vec<&[u64]> = packer.tuples.chunks_exact(packing.width()).collect();
            for (row, tuple) in tuples.iter().enumerate() {
                for key in 0..4 {
                    let found = packing.value(key, tuple, &mut text);
                    match (found, sample.value(key, row)) {
                        (Some(Value::Float(found)), Some(Value::Float(expected))) => {
                            prop_assert_eq!(float_key(found), float_key(expected));
                        }
                        (found, expected) => prop_assert_eq!(found, expected),
                    }
                }
            }
            let order = |row: usize| {
                let (integer, string, float, coded) = rows[row];
                (integer.is_none(), integer, WORDS[string], float_key(float), WORDS[coded])
            };
            for one in 0..rows.len() {
                for other in 0..rows.len() {
                    prop_assert_eq!(tuples[one].cmp(tuples[other]), order(one).cmp(&order(other)));
                }
            }
        }
    }

    #[test]
    fn rows_that_do_not_fit_are_told() {
        let types = [("int64".parse().unwrap(), false), ("string".parse().unwrap(), false)];
        let sample = Columns(vec![vec![Some(Value::Integer(5))], vec![Some(Value::Bytes(b"abc"))]]);
        let integers = [5, 1 << 40, 6, i64::MIN];
        let bytes = b"abcabcabcdabc";
        let columns = [
            Column::integers(Integers::I64(&integers)),
            Data::Bytes(ByteStrings::new(&[0, 3, 6, 10, 13], bytes)).into(),
        ];
        let packing = Packing::of(&types, &sample, &columns).unwrap();
        let mut packer = Packer::new(&packing);
        packer.pack(&Batch { rows: 4, columns: &columns }).unwrap();
        assert_eq!(packer.fits, [true, false, false, false]);
    }
}
