//! Encodes keys batch by batch.

use super::bits::{set, set_all};
use super::inline;
use super::{EncodedKey, KeyEncoding, Kind};
use crate::values::error::BatchError;
use crate::values::error::TOO_LARGE;
use crate::values::float_key::float_key;
use brc_core::batch::codes_of;
use brc_core::{Batch, ByteStrings, Column, Data, Dictionary, Integers};
use brc_kernels::cpu::Level;
use brc_kernels::direct::{bounds, integer_bounds};

const NO_CODE: BatchError = BatchError("a code is not in its dictionary");

/// Encodes the keys of batch after batch for one worker.
#[derive(Debug)]
pub(crate) struct KeyEncoder<'a> {
    encoding: &'a KeyEncoding,
    /// What each of the scanner's codes is encoded as, for each key whose strings are encoded as one number.
    numbers: Vec<Numbers>,
    codes: Vec<u32>,
    column_words: Vec<u64>,
    /// The tuples of the rows of a batch.
    pub(crate) tuples: Vec<u64>,
    /// Which rows fit.
    pub(crate) fits: Vec<bool>,
}

/// What codes are encoded as.
#[derive(Debug, Clone)]
struct Numbers {
    of_codes: Vec<Option<u64>>,
    /// Each as itself.
    are_codes: bool,
}

/// Which rows of a column are null; none if none is.
struct Nulls(Vec<bool>);

impl Nulls {
    fn of(column: &Column<'_>) -> Self {
        let validity = column.validity.filter(|validity| validity.count_nulls() > 0);
        Self(validity.map_or(Vec::new(), |validity| validity.iter().map(|valid| !valid).collect()))
    }

    #[inline]
    fn has(&self, row: usize) -> bool {
        self.0.get(row).is_some_and(|&null| null)
    }
}

impl<'a> KeyEncoder<'a> {
    pub(crate) fn new(encoding: &'a KeyEncoding) -> Self {
        let numbers = vec![Numbers { of_codes: Vec::new(), are_codes: true }; encoding.keys.len()];
        Self { encoding, numbers, codes: Vec::new(), column_words: Vec::new(), tuples: Vec::new(), fits: Vec::new() }
    }

    /// Encodes the keys of all rows of a batch, which has no other columns.
    pub(crate) fn encode(&mut self, batch: &Batch<'_>) -> Result<(), BatchError> {
        self.fits.clear();
        self.fits.resize(batch.rows, true);
        self.tuples.clear();
        self.tuples.resize(batch.rows * self.encoding.width, 0);
        for (index, (key, column)) in self.encoding.keys.iter().zip(batch.columns).enumerate() {
            self.encode_key(index, key, column)?;
        }
        Ok(())
    }

    fn encode_key(&mut self, index: usize, key: &EncodedKey, column: &Column<'_>) -> Result<(), BatchError> {
        let nulls = Nulls::of(column);
        if let Some(bit) = key.null.filter(|_| !nulls.0.is_empty()) {
            let tuples = self.tuples.chunks_exact_mut(self.encoding.width);
            tuples.zip(&nulls.0).for_each(|(tuple, &null)| set(tuple, bit, 1, null.into()));
        } else if !nulls.0.is_empty() {
            self.fits.iter_mut().zip(&nulls.0).for_each(|(fits, null)| *fits &= !null);
        }
        match (&key.kind, column.data) {
            (Kind::Integers { min, span }, Data::Integers(values)) => {
                self.column_words.clear();
                integers(values, *min, &mut self.column_words)?;
                let bounds = integer_bounds(Level::best(), values);
                let is_inside = |(low, high): (i64, i64)| low >= *min && high.wrapping_sub(*min) as u64 <= *span;
                if !nulls.0.is_empty() || !bounds.is_some_and(is_inside) {
                    for (row, (word, fits)) in self.column_words.iter_mut().zip(&mut self.fits).enumerate() {
                        let (null, inside) = (nulls.has(row), *word <= *span);
                        *fits &= inside | null;
                        *word = if inside & !null { *word } else { 0 };
                    }
                }
            }
            (Kind::Floats, Data::Floats(values)) => {
                self.column_words.clear();
                let word = |(row, &value): (usize, &f64)| if nulls.has(row) { 0 } else { float_key(value) };
                self.column_words.extend(values.iter().enumerate().map(word));
            }
            (Kind::Coded(_) | Kind::Symbols(_), Data::Codes { dictionary, .. } | Data::Runs { dictionary, .. }) => {
                self.numbers_of_codes(index, &key.kind, column, dictionary, &nulls)?;
            }
            (kind @ (Kind::Coded(_) | Kind::Symbols(_)), Data::Bytes(strings)) => {
                self.numbers_of(kind, strings, &nulls);
            }
            (Kind::Inline { longest }, Data::Bytes(strings)) => {
                self.strings(key, *longest, strings, &nulls);
                return Ok(());
            }
            (Kind::Inline { longest }, Data::Codes { dictionary, .. } | Data::Runs { dictionary, .. }) => {
                self.codes.clear();
                codes_of(column, &mut self.codes);
                let (mut offsets, mut bytes) = (vec![0], Vec::new());
                for (row, &code) in self.codes.iter().enumerate() {
                    if !nulls.has(row) {
                        let known = (code as usize) < dictionary.len();
                        bytes.extend_from_slice(known.then(|| dictionary.get(code)).ok_or(NO_CODE)?);
                    }
                    offsets.push(i32::try_from(bytes.len()).map_err(|_| TOO_LARGE)?);
                }
                self.strings(key, *longest, ByteStrings::new(&offsets, &bytes), &nulls);
                return Ok(());
            }
            (Kind::Integers { .. } | Kind::Floats | Kind::Coded(_) | Kind::Symbols(_) | Kind::Inline { .. }, _) => {
                return Err(BatchError("a key is of another type than its column"));
            }
        }
        set_all(&mut self.tuples, self.encoding.width, key.start, key.kind.bits(), &self.column_words);
        Ok(())
    }

    /// Finds the numbers of strings by their codes.
    fn numbers_of_codes(
        &mut self,
        index: usize,
        kind: &Kind,
        column: &Column<'_>,
        dictionary: &Dictionary,
        nulls: &Nulls,
    ) -> Result<(), BatchError> {
        self.codes.clear();
        codes_of(column, &mut self.codes);
        self.column_words.clear();
        if let (Kind::Coded(coded), true) = (kind, nulls.0.is_empty())
            && let Some(ranks) = coded.ranks(dictionary)
        {
            let rank = |&code: &u32| ranks.get(code as usize).map(|&rank| u64::from(rank)).ok_or(NO_CODE);
            return self.codes.iter().try_for_each(|code| rank(code).map(|rank| self.column_words.push(rank)));
        }
        let Numbers { of_codes: numbers, are_codes } = &mut self.numbers[index];
        for code in numbers.len() as u32..dictionary.len() as u32 {
            let number = number(kind, dictionary.get(code), code);
            *are_codes &= number == Some(code.into());
            numbers.push(number);
        }
        if *are_codes && nulls.0.is_empty() {
            self.column_words.extend(self.codes.iter().map(|&code| u64::from(code)));
            let is_unknown = |(_, most): (i64, i64)| most >= numbers.len() as i64;
            return if bounds(Level::best(), &self.codes).is_some_and(is_unknown) { Err(NO_CODE) } else { Ok(()) };
        }
        for (row, (&code, fits)) in self.codes.iter().zip(&mut self.fits).enumerate() {
            if nulls.has(row) {
                self.column_words.push(0);
                continue;
            }
            let number = *numbers.get(code as usize).ok_or(NO_CODE)?;
            *fits &= number.is_some();
            self.column_words.push(number.unwrap_or(0));
        }
        Ok(())
    }

    /// Finds the numbers of strings.
    fn numbers_of(&mut self, kind: &Kind, strings: ByteStrings<'_>, nulls: &Nulls) {
        self.column_words.clear();
        if let (Kind::Symbols(symbols), true) = (kind, nulls.0.is_empty()) {
            return symbols.numbers(strings, &mut self.fits, &mut self.column_words);
        }
        for (row, (string, fits)) in strings.iter().zip(&mut self.fits).enumerate() {
            let number = if nulls.has(row) { Some(0) } else { number(kind, string, 0) };
            *fits &= number.is_some();
            self.column_words.push(number.unwrap_or(0));
        }
    }

    fn strings(&mut self, key: &EncodedKey, longest: usize, strings: ByteStrings<'_>, nulls: &Nulls) {
        let (offsets, bytes) = strings.parts();
        for (row, (pair, fits)) in offsets.windows(2).zip(&mut self.fits).enumerate() {
            *fits &= (pair[1] - pair[0]) as usize <= longest || nulls.has(row);
        }
        if key.start == 0 && nulls.0.is_empty() {
            let width = self.encoding.width;
            brc_kernels::inline::write(Level::best(), offsets, bytes, longest, &mut self.tuples, width);
            return;
        }
        let mut at = key.start;
        for piece in inline::pieces(longest).enumerate() {
            inline::pieces_of(strings, piece, longest, |row| nulls.has(row), &mut self.column_words);
            set_all(&mut self.tuples, self.encoding.width, at, piece.1, &self.column_words);
            at += piece.1;
        }
    }
}

/// The number of a string; if it is a rank in a dictionary, it probably is `hint`.
#[inline]
pub(crate) fn number(kind: &Kind, string: &[u8], hint: u32) -> Option<u64> {
    match kind {
        Kind::Coded(coded) => coded.find_near(string, hint),
        Kind::Symbols(symbols) => symbols.number(string),
        Kind::Integers { .. } | Kind::Floats | Kind::Inline { .. } => None,
    }
}

/// Appends the distances of integers from `min`, modulo 2⁶⁴: those up to a span are just those of the values up to it.
pub(crate) fn integers(values: Integers<'_>, min: i64, column_words: &mut Vec<u64>) -> Result<(), BatchError> {
    let distance = |value: i64| value.wrapping_sub(min) as u64;
    match values {
        Integers::I8(values) => column_words.extend(values.iter().map(|&value| distance(value.into()))),
        Integers::I16(values) => column_words.extend(values.iter().map(|&value| distance(value.into()))),
        Integers::I32(values) => column_words.extend(values.iter().map(|&value| distance(value.into()))),
        Integers::I64(values) => column_words.extend(values.iter().map(|&value| distance(value))),
        Integers::I128(values) => {
            for &value in values {
                column_words.push(distance(value.try_into().map_err(|_| TOO_LARGE)?));
            }
        }
    }
    Ok(())
}
