//! Sorting and comparing keys is fastest if they are a few words that sort as the keys do. This folder encodes keys
//! as such words (normalised keys), in as few bits as possible.
//!
//! In: the types and bounds of keys, a sample of groups, and then key columns. Out: tuples of words, and whether the
//! keys of a row fit. The sample determines the encoding: integers lie in about the same range, and strings are codes
//! of the same dictionary, of the same alphabet, or about as long. So six keys fit two words, where types alone would
//! need nine. A row whose keys do not fit is grouped elsewhere, and its group is none of those whose keys fit.

mod bits;
mod coded;
mod encoder;
mod inline;
mod keys;
pub(crate) mod order;
mod symbols;

pub(crate) use encoder::KeyEncoder;
pub(crate) use encoder::integers;
pub(crate) use keys::{EncodedKeys, push_tuple};

use crate::keys::group_keys::GroupKeys;
use crate::values::cells::Cells;
use crate::values::float_key::{float_key, float_of_key};
pub(crate) use bits::bits_of;
use bits::{get, get_all, set};
use brc_core::{Column, Dictionary, LogicalType, PhysicalType, Value};
use coded::Coded;
use std::sync::Arc;
use symbols::Symbols;

/// Strings of more bytes are not encoded.
const LONGEST: usize = brc_kernels::inline::LONGEST;

/// A dictionary is assumed to be complete if each of its values occurs in at least this many groups on average.
const GROUPS_OF_VALUE: usize = 4;

/// A dictionary that is known to have all values is used if it has no more values than this, because they are sorted
/// first.
const MAX_VALUES: usize = 1 << 17;

/// The same limit if strings would otherwise take more than [`MIN_LONG_BYTES`] bytes of a tuple.
const MAX_LONG_VALUES: usize = 1 << 20;
const MIN_LONG_BYTES: usize = 16;

/// Tuples of more words are not encoded.
const WIDEST: usize = 16;

/// Where the bits of all keys lie in a tuple of words: the first key in the upper bits of the first word.
#[derive(Debug, Clone)]
pub(crate) struct KeyEncoding {
    keys: Vec<EncodedKey>,
    width: usize,
}

#[derive(Debug, Clone)]
struct EncodedKey {
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
    /// Ranks among the sorted values of a dictionary.
    Coded(Arc<Coded>),
    /// Strings over a small alphabet as integers.
    Symbols(Box<Symbols>),
    /// Up to `longest` bytes, padded with zeros, then the length.
    Inline { longest: usize },
}

impl Kind {
    /// How many bits it takes.
    fn bits(&self) -> u32 {
        match self {
            Self::Integers { span, .. } => bits_of(*span),
            Self::Floats => 64,
            Self::Coded(coded) => bits_of(coded.names().len() as u64),
            Self::Symbols(symbols) => bits_of(symbols.largest),
            Self::Inline { longest } => inline::pieces(*longest).sum(),
        }
    }
}

/// What is known of the keys before they are encoded.
pub(crate) trait Sample {
    /// How many groups there are.
    fn groups(&self) -> usize;

    /// The value that a group has for a key.
    fn value(&self, key: usize, group: usize) -> Option<Value<'_>>;

    /// Whether a key may be null, as far as the groups show.
    fn has_nulls(&self, key: usize) -> bool {
        (0..self.groups()).any(|group| self.value(key, group).is_none())
    }
}

impl KeyEncoding {
    /// The encoding for keys of these types, each with whether it may be null, which come as in these columns and lie
    /// within these bounds, where they are known; `None` if there is none.
    pub(crate) fn of(
        types: &[(LogicalType, bool)],
        bounds: &[Option<(i64, i64)>],
        sample: &dyn Sample,
        columns: &[Column<'_>],
    ) -> Option<Self> {
        let mut kinds = Vec::new();
        for (key, ((&(logical_type, _), column), bounds)) in types.iter().zip(columns).zip(bounds).enumerate() {
            kinds.push(match bounds {
                Some((min, max))
                    if logical_type.physical() == PhysicalType::Integers && logical_type.fits_64_bits() =>
                {
                    Kind::Integers { min: *min, span: max.wrapping_sub(*min) as u64 }
                }
                _ => kind_of(key, logical_type, sample, column)?,
            });
        }
        // If there was no null yet, a later one does not fit the encoding.
        let has_nulls = |(key, (&(_, nullable), column)): (usize, (&(_, bool), &Column<'_>))| {
            nullable && (column.has_nulls() || sample.has_nulls(key))
        };
        let nulls: Vec<bool> = types.iter().zip(columns).enumerate().map(has_nulls).collect();
        widen(&mut kinds, bounds, nulls.iter().filter(|has_nulls| **has_nulls).count() as u32);
        let mut end = 0;
        let mut keys = Vec::new();
        for (kind, has_nulls) in kinds.into_iter().zip(nulls) {
            let start = end + u32::from(has_nulls);
            let null = has_nulls.then_some(end);
            end = start + kind.bits();
            keys.push(EncodedKey { kind, null, start });
        }
        let width = end.div_ceil(64).max(1) as usize;
        (width <= WIDEST).then_some(Self { keys, width })
    }

    /// The tuples of a sample of about `most` of the groups, contiguous.
    pub(crate) fn sample(&self, groups: &dyn Sample, most: usize) -> Vec<u64> {
        let mut tuples = Vec::new();
        for group in (0..groups.groups()).step_by(groups.groups().div_ceil(most).max(1)) {
            let mut tuple = vec![0; self.width];
            if (0..self.keys.len()).all(|key| self.encode_value(key, groups.value(key, group), &mut tuple)) {
                tuples.extend(tuple);
            }
        }
        tuples
    }

    /// Words of a tuple.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// How many of the lower bits of a tuple's last word no key has.
    pub(crate) fn free_bits(&self) -> u32 {
        let end = self.keys.last().map_or(0, |key| key.start + key.kind.bits());
        self.width as u32 * 64 - end
    }

    /// How many keys there are.
    pub(crate) fn keys(&self) -> usize {
        self.keys.len()
    }

    /// All values of a key that is encoded as codes.
    pub(crate) fn dictionary(&self, key: usize) -> Option<&Dictionary> {
        if let Kind::Coded(coded) = &self.keys[key].kind { Some(coded.names()) } else { None }
    }

    /// The tuples of all groups, in sequence, and whether the keys of each fit.
    pub(crate) fn encode(&self, keys: &GroupKeys) -> (Vec<u64>, Vec<bool>) {
        let (mut tuples, mut fits) = (vec![0; keys.len() * self.width], vec![true; keys.len()]);
        let mut text = Vec::new();
        for (index, key) in self.keys.iter().enumerate() {
            let rows = tuples.chunks_exact_mut(self.width).zip(&mut fits).enumerate();
            match keys.codes(index).filter(|_| !matches!(key.kind, Kind::Inline { .. })) {
                Some((names, code)) => {
                    let number = |code: u32| encoder::number(&key.kind, names.get(code), code);
                    // Each string is looked up once, not once per group, unless most are of no group.
                    let is_worth_it = names.len() <= keys.len();
                    let numbers = is_worth_it.then(|| (0..names.len() as u32).map(number).collect::<Vec<_>>());
                    let number = |code: u32| numbers.as_ref().map_or_else(|| number(code), |it| it[code as usize]);
                    rows.for_each(|(group, (tuple, fits))| *fits &= key.set(code(group).map(number), tuple));
                }
                None => rows.for_each(|(group, (tuple, fits))| {
                    *fits &= key.encode(keys.value(index, group, &mut text), tuple);
                }),
            }
        }
        (tuples, fits)
    }

    /// Packs a value of a key into a tuple that has none of that key; `false` if it does not fit.
    pub(crate) fn encode_value(&self, key: usize, value: Option<Value<'_>>, tuple: &mut [u64]) -> bool {
        self.keys[key].encode(value, tuple)
    }

    /// Whether a tuple has a null for a key.
    fn is_null(&self, key: usize, tuple: &[u64]) -> bool {
        self.keys[key].null.is_some_and(|null| get(tuple, null, 1) == 1)
    }

    /// The value that a tuple has for a key; `None` if it is null. Strings may be written to `text`.
    pub(crate) fn value<'a>(&'a self, key: usize, tuple: &[u64], text: &'a mut Vec<u8>) -> Option<Value<'a>> {
        if self.is_null(key, tuple) {
            return None;
        }
        let EncodedKey { kind, start, .. } = &self.keys[key];
        Some(match kind {
            Kind::Integers { min, .. } => {
                Value::Integer(min.wrapping_add(get(tuple, *start, kind.bits()) as i64).into())
            }
            Kind::Floats => Value::Float(float_of_key(get(tuple, *start, 64))),
            Kind::Coded(coded) => Value::Bytes(coded.names().get(get(tuple, *start, kind.bits()) as u32)),
            Kind::Symbols(symbols) => {
                text.clear();
                symbols.write(get(tuple, *start, kind.bits()), text);
                Value::Bytes(text)
            }
            Kind::Inline { longest } => {
                text.clear();
                write_inline(tuple, *start, *longest, text);
                Value::Bytes(text)
            }
        })
    }

    /// Appends the values that some tuples, which lie in sequence, have for a key.
    pub(crate) fn decode(&self, key: usize, tuples: &[u64], cells: &mut Cells) {
        let EncodedKey { kind, null, start } = &self.keys[key];
        let (width, bits, rows) = (self.width, kind.bits(), tuples.len() / self.width);
        let mut nulls = Vec::new();
        null.iter().for_each(|&null| get_all(tuples, width, null, 1, |bit| bit == 1, &mut nulls));
        let is_null = |row: usize| nulls.get(row).is_some_and(|&null| null);
        match kind {
            Kind::Integers { min, .. } => {
                let mut all = Vec::with_capacity(rows);
                get_all(tuples, width, *start, bits, |bits| min.wrapping_add(bits as i64), &mut all);
                cells.extend_integers(all.into_iter());
            }
            Kind::Floats => {
                let mut all = Vec::with_capacity(rows);
                get_all(tuples, width, *start, bits, float_of_key, &mut all);
                cells.extend_floats(all.into_iter());
            }
            Kind::Coded(coded) => {
                let mut codes = Vec::new();
                get_all(tuples, width, *start, bits, |code| code as u32, &mut codes);
                cells.extend_codes(codes, coded.names());
            }
            Kind::Symbols(symbols) => {
                let mut column_words = Vec::new();
                get_all(tuples, width, *start, bits, |bits| bits, &mut column_words);
                cells.extend_texts(|ends, bytes| symbols.write_all(&column_words, ends, bytes));
            }
            Kind::Inline { longest } => cells.extend_strings(rows, |row, out| {
                write_inline(&tuples[row * width..(row + 1) * width], *start, *longest, out);
            }),
        }
        cells.extend_validity(rows, |row| !is_null(row), nulls.contains(&true));
    }
}

fn write_inline(tuple: &[u64], start: u32, longest: usize, out: &mut Vec<u8>) {
    let mut at = start;
    let pieces = inline::pieces(longest).map(|bits| {
        at += bits;
        (get(tuple, at - bits, bits), bits)
    });
    inline::write(pieces, longest, out);
}

impl EncodedKey {
    fn encode(&self, value: Option<Value<'_>>, tuple: &mut [u64]) -> bool {
        let Some(value) = value else { return self.set(None, tuple) };
        let word = match (&self.kind, value) {
            (Kind::Integers { min, span }, Value::Integer(value)) => {
                let distance = i64::try_from(value).map(|value| value.wrapping_sub(*min) as u64);
                distance.ok().filter(|word| word <= span)
            }
            (Kind::Floats, Value::Float(value)) => Some(float_key(value)),
            (Kind::Coded(coded), Value::Bytes(name)) => coded.find(name),
            (Kind::Symbols(symbols), Value::Bytes(string)) => symbols.number(string),
            (Kind::Inline { longest }, Value::Bytes(bytes)) if bytes.len() <= *longest => {
                let mut at = self.start;
                for (index, bits) in inline::pieces(*longest).enumerate() {
                    set(tuple, at, bits, inline::piece(bytes, index, bits, *longest));
                    at += bits;
                }
                return true;
            }
            (Kind::Integers { .. } | Kind::Floats | Kind::Coded(_) | Kind::Symbols(_) | Kind::Inline { .. }, _) => None,
        };
        self.set(Some(word), tuple)
    }

    /// Sets the bits of a key that is one number; `false` if it does not fit. `None` is null, `Some(None)` a value that
    /// has no number.
    fn set(&self, word: Option<Option<u64>>, tuple: &mut [u64]) -> bool {
        match (word, self.null) {
            (Some(Some(word)), _) => set(tuple, self.start, self.kind.bits(), word),
            (None, Some(null)) => set(tuple, null, 1, 1),
            (Some(None), _) | (None, None) => return false,
        }
        true
    }
}

/// Gives the unused bits to integers whose bounds are not known, since keys that ascend with the rows go on to ascend.
fn widen(kinds: &mut [Kind], bounds: &[Option<(i64, i64)>], nulls: u32) {
    let used: u32 = nulls + kinds.iter().map(Kind::bits).sum::<u32>();
    let unknown = |(kind, bounds): &(&mut Kind, &Option<_>)| bounds.is_none() && matches!(kind, Kind::Integers { .. });
    let integers = kinds.iter_mut().zip(bounds).filter(unknown).count() as u32;
    // Each range becomes at least this many bits larger.
    const MIN_MARGIN_BITS: u32 = 3;
    let Some(bits) = ((used + MIN_MARGIN_BITS * integers).next_multiple_of(64) - used).checked_div(integers) else {
        return;
    };
    for (kind, _) in kinds.iter_mut().zip(bounds).filter(unknown) {
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

/// How a key that comes as in that column is encoded.
fn kind_of(key: usize, logical_type: LogicalType, sample: &dyn Sample, column: &Column<'_>) -> Option<Kind> {
    let values = || (0..sample.groups()).filter_map(|group| sample.value(key, group));
    match logical_type.physical() {
        PhysicalType::Floats => Some(Kind::Floats),
        PhysicalType::Integers if !logical_type.fits_64_bits() => None,
        PhysicalType::Integers => {
            let integer = |value| match value {
                Value::Integer(value) => i64::try_from(value).ok(),
                Value::Float(_) | Value::Bytes(_) => None,
            };
            let bounds = values().map(integer).try_fold(None, |bounds: Option<(i64, i64)>, value| {
                let (value, bounds) = (value?, bounds);
                let (min, max) = bounds.unwrap_or((value, value));
                Some(Some((min.min(value), max.max(value))))
            });
            let (min, max) = bounds?.unwrap_or((0, 0));
            Some(Kind::Integers { min, span: max.wrapping_sub(min) as u64 })
        }
        PhysicalType::Bytes => {
            let strings = || values().map(|value| if let Value::Bytes(bytes) = value { bytes } else { &[] });
            let longest = strings().map(<[u8]>::len).max().unwrap_or(0).max(1);
            let inline = (longest <= LONGEST).then_some(Kind::Inline { longest });
            let short = || Symbols::of(strings()).map(|symbols| Kind::Symbols(Box::new(symbols))).or(inline);
            let is_whole = |dictionary: &Dictionary| match dictionary.is_complete() {
                true => dictionary.len() <= MAX_VALUES,
                false => dictionary.len() * GROUPS_OF_VALUE <= sample.groups(),
            };
            let coded = |dictionary: &Dictionary| Kind::Coded(Arc::new(Coded::of(dictionary)));
            match column.dictionary() {
                Some(dictionary) if is_whole(dictionary) => Some(coded(dictionary)),
                Some(dictionary) => Some(match short() {
                    Some(Kind::Inline { longest })
                        if longest > MIN_LONG_BYTES
                            && dictionary.is_complete()
                            && dictionary.len() <= MAX_LONG_VALUES =>
                    {
                        coded(dictionary)
                    }
                    short => short.unwrap_or_else(|| coded(dictionary)),
                }),
                None => short(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use brc_core::{Batch, BitmapBuffer, ByteStrings, Data, Integers};
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
            let encoding = KeyEncoding::of(&types, &vec![None; types.len()], &sample, &columns).unwrap();
            let mut encoder = KeyEncoder::new(&encoding);
            encoder.encode(&Batch { rows: rows.len(), columns: &columns }).unwrap();
            prop_assert!(encoder.fits.iter().all(|&fits| fits));
            let mut text = Vec::new();
            let tuples: Vec<&[u64]> = encoder.tuples.chunks_exact(encoding.width()).collect();
            for (row, tuple) in tuples.iter().enumerate() {
                for key in 0..4 {
                    let found = encoding.value(key, tuple, &mut text);
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
        let integers = [5, 1 << 62, 6, i64::MIN];
        let bytes = b"abcabcabcdabc";
        let columns = [
            Column::integers(Integers::I64(&integers)),
            Data::Bytes(ByteStrings::new(&[0, 3, 6, 10, 13], bytes)).into(),
        ];
        let encoding = KeyEncoding::of(&types, &vec![None; types.len()], &sample, &columns).unwrap();
        let mut encoder = KeyEncoder::new(&encoding);
        encoder.encode(&Batch { rows: 4, columns: &columns }).unwrap();
        assert_eq!(encoder.fits, [true, false, false, false]);
    }
    #[test]
    fn keys_take_the_bits_of_what_is_known_of_them() {
        let types = ["int64", "string", "int64"].map(|text| (text.parse().unwrap(), true));
        let few = || vec![Some(Value::Integer(5)), Some(Value::Integer(6))];
        let sample = Columns(vec![few(), vec![Some(Value::Bytes(b"b")), Some(Value::Bytes(b"d"))], few()]);
        let bounds = [Some((1, 100)), None, None];
        let dictionary: Dictionary = ["d", "a", "c", "b"].into_iter().collect();
        let dictionary = dictionary.complete();
        let (integers, codes) = ([100, 1, 5, 6, 0], [1, 0, 3, 2, 2]);
        let mut validity = BitmapBuffer::default();
        [true, true, true, false, true].into_iter().for_each(|valid| validity.push(valid));
        let columns = |validity| {
            [
                Column::integers(Integers::I64(&integers)),
                Column::codes(&codes, &dictionary).with_validity(validity),
                Column::integers(Integers::I64(&[5; 5])),
            ]
        };
        let encoding = KeyEncoding::of(&types, &bounds, &sample, &columns(None)).unwrap();
        assert_eq!(encoding.width(), 1);
        assert!(encoding.keys.iter().all(|key| key.null.is_none()));
        let starts: Vec<u32> = encoding.keys.iter().map(|key| key.start).collect();
        assert_eq!(starts, [0, 7, 10]);
        let mut encoder = KeyEncoder::new(&encoding);
        encoder.encode(&Batch { rows: 5, columns: &columns(validity.bitmap()) }).unwrap();
        assert_eq!(encoder.fits, [true, true, true, false, false]);
        let mut cells = Cells::new(LogicalType::String);
        encoding.decode(1, &encoder.tuples[..3], &mut cells);
        let strings =
            |cells: &Cells| (0..3).map(|row| cells.get(row) == Some(Value::Bytes(&[b"adb"[row]]))).collect::<Vec<_>>();
        assert_eq!(strings(&cells), [true; 3]);
        assert!(matches!(cells.column(0..3, &mut Vec::new()).unwrap().data, Data::Codes { codes: [0, 3, 1], .. }));
        cells.write_out();
        assert_eq!(strings(&cells), [true; 3]);
        assert!(matches!(cells.column(0..3, &mut Vec::new()).unwrap().data, Data::Bytes(_)));
    }
}
