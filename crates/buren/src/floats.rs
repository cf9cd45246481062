//! Encoding of float column chunks as integers, by the schemes of [`integers`].
//!
//! Most floats come from decimal text, and `digits / 10^exponent` restores every bit of them; those for which it does
//! not (negative zero, NaN, infinity, computed values) are exceptions. If there are too many exceptions, the integers
//! are the bits of the floats, so that constants, runs and dictionaries work for floats too. If all floats are exactly
//! 32-bit floats, these are stored: half the bits, and the digits of their shorter texts.

use super::integers::{self, BLOCK_ROWS, Block, Decodable, GROUP_ROWS, IntegerSlice, patch, sample_rows};
use super::malformed::{Malformed, Result, take, take_array};
use brc_core::float32;
use brc_kernels::bitpack::width_of;
use brc_kernels::cpu::Level;
use brc_kernels::decimals::{MAX_DIGITS, MAX_EXPONENT, comes_back, from_digits, to_digits};

/// The floats that the integers represent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    /// 64-bit floats.
    Double,
    /// 32-bit floats, widened.
    Single,
}

impl Width {
    /// The stored form ids: integers are the bits of floats, or their decimal digits.
    fn forms(self) -> [u8; 2] {
        match self {
            Self::Double => [0, 1],
            Self::Single => [2, 3],
        }
    }

    fn bits(self, value: f64) -> i64 {
        match self {
            Self::Double => value.to_bits() as i64,
            Self::Single => float32::nearest(value).to_bits().into(),
        }
    }

    fn comes_back(self, value: f64, digits: i64, exponent: u8) -> bool {
        match self {
            Self::Double => comes_back(value, digits, exponent),
            Self::Single => single_comes_back(value, digits, exponent),
        }
    }
}

/// Whether the digits restore every bit of a 32-bit float.
fn single_comes_back(value: f64, digits: i64, exponent: u8) -> bool {
    let mut back = [0.0];
    from_digits(Level::best(), &[digits], exponent, &mut back);
    f64::from(back[0] as f32).to_bits() == value.to_bits() && digits.unsigned_abs() <= MAX_DIGITS.unsigned_abs()
}

/// The minimum saving of digits over bits in percent, because digits cost a division.
const MIN_SAVING_PERCENT: u64 = 2;

/// If at most one value in this many is an exception, bits are not tried: they are hardly ever smaller.
const ROWS_PER_EXCEPTION: usize = 100;

/// The size of an exception in bytes: position and bits.
const EXCEPTION_BYTES: u64 = 10;

/// How to store a chunk.
#[derive(Debug)]
pub struct Plan {
    width: Width,
    /// The exponent, if the integers are digits.
    exponent: Option<u8>,
    integers: Vec<i64>,
    plan: integers::Plan,
    /// The rows of the chunk that their digits do not restore, ascending, with their bits.
    exceptions: Vec<(usize, u64)>,
    candidates: [Option<u64>; 2],
}

impl Plan {
    /// Chooses the smallest form for a chunk.
    #[must_use]
    pub fn choose(values: &[f64]) -> Self {
        let double = Self::of_width(values, Width::Double);
        if double.has_few_exceptions() || !values.iter().all(|&value| float32::narrow(value).is_some()) {
            return double;
        }
        let single = Self::of_width(values, Width::Single);
        if single.estimated_bytes() < double.estimated_bytes() { single } else { double }
    }

    fn of_width(values: &[f64], width: Width) -> Self {
        let Some(exponent) = choose_exponent(values, width) else { return Self::bits(values, width) };
        let digits = Self::digits(values, width, exponent);
        if digits.has_few_exceptions() {
            return digits;
        }
        let bits = Self::bits(values, width);
        let candidates = [bits.estimated_bytes(), digits.estimated_bytes()];
        let pays = candidates[1] * 100 < candidates[0] * (100 - MIN_SAVING_PERCENT);
        Self { candidates: candidates.map(Some), ..if pays { digits } else { bits } }
    }

    /// Whether the integers are digits with almost no exceptions.
    fn has_few_exceptions(&self) -> bool {
        self.exponent.is_some() && self.exceptions.len() <= self.integers.len() / ROWS_PER_EXCEPTION
    }

    fn bits(values: &[f64], width: Width) -> Self {
        let integers: Vec<_> = values.iter().map(|&value| width.bits(value)).collect();
        let plan = integers::Plan::choose(&integers, IntegerSlice::EMPTY);
        let plan = Self { width, exponent: None, integers, plan, exceptions: Vec::new(), candidates: [None; 2] };
        Self { candidates: [Some(plan.estimated_bytes()), None], ..plan }
    }

    fn digits(values: &[f64], width: Width, exponent: u8) -> Self {
        let mut digits = Vec::new();
        let mut exceptions = Vec::new();
        if to_digits(Level::best(), values, exponent, &mut digits) > 0 {
            let good = |row: &usize| width.comes_back(values[*row], digits[*row], exponent);
            // The digits of exceptions are those of the value before them, which suits every scheme.
            let mut filler = (0..values.len()).find(good).map_or(0, |row| digits[row]);
            for (row, (value, digits)) in values.iter().zip(&mut digits).enumerate() {
                if width.comes_back(*value, *digits, exponent) {
                    filler = *digits;
                } else {
                    exceptions.push((row, value.to_bits()));
                    *digits = filler;
                }
            }
        }
        let plan = integers::Plan::choose(&digits, IntegerSlice::EMPTY);
        let plan = Self { width, exponent: Some(exponent), integers: digits, plan, exceptions, candidates: [None; 2] };
        Self { candidates: [None, Some(plan.estimated_bytes())], ..plan }
    }

    /// The exponent, if the floats are stored as decimal digits.
    #[must_use]
    pub fn exponent(&self) -> Option<u8> {
        self.exponent
    }

    /// How the integers (digits or bits) are stored.
    #[must_use]
    pub fn integers(&self) -> &integers::Plan {
        &self.plan
    }

    /// The estimated size in bytes of storing bits and of storing digits, if considered.
    #[must_use]
    pub fn candidates(&self) -> [Option<u64>; 2] {
        self.candidates
    }

    /// The estimated size of parameters and blocks, in bytes.
    #[must_use]
    pub fn estimated_bytes(&self) -> u64 {
        let blocks = self.integers.len().div_ceil(BLOCK_ROWS) as u64;
        let of_exceptions = 4 * blocks + EXCEPTION_BYTES * self.exceptions.len() as u64;
        4 + self.plan.estimated_bytes() + if self.exponent.is_some() { of_exceptions } else { 0 }
    }

    /// Appends the parameters shared by all blocks.
    pub fn encode_parameters(&self, out: &mut Vec<u8>) {
        let form = self.width.forms()[usize::from(self.exponent.is_some())];
        out.extend_from_slice(&[form, self.exponent.unwrap_or(0), self.plan.scheme_id(), 0]);
        self.plan.encode_parameters(out);
    }

    /// Appends block `number`: up to `BLOCK_ROWS` values from row `number * BLOCK_ROWS` on.
    ///
    /// # Panics
    /// If there is no such block.
    pub fn encode_block(&self, number: usize, out: &mut Vec<u8>) {
        let start = number * BLOCK_ROWS;
        let end = self.integers.len().min(start + BLOCK_ROWS);
        if self.exponent.is_some() {
            let index = |row| self.exceptions.partition_point(|exception| exception.0 < row);
            let exceptions = &self.exceptions[index(start)..index(end)];
            out.extend_from_slice(&(exceptions.len() as u32).to_le_bytes());
            exceptions.iter().for_each(|(row, _)| out.extend_from_slice(&((row - start) as u16).to_le_bytes()));
            exceptions.iter().for_each(|(_, bits)| out.extend_from_slice(&bits.to_le_bytes()));
        }
        self.plan.encode_block(number, &self.integers, IntegerSlice::EMPTY, out);
    }
}

/// The exponent that makes a sample smallest; `None` if bits are not larger.
fn choose_exponent(values: &[f64], width: Width) -> Option<u8> {
    let sample: Vec<_> = sample_rows(values.len()).map(|row| values[row]).collect();
    let mut digits = Vec::new();
    let bits = |exponent| {
        // Which values are restored depends on the width.
        let _ = to_digits(Level::best(), &sample, exponent, &mut digits);
        let (mut exact, mut min, mut max) = (0, i64::MAX, i64::MIN);
        for (&value, &digits) in sample.iter().zip(&digits) {
            if width.comes_back(value, digits, exponent) {
                (exact, min, max) = (exact + 1, min.min(digits), max.max(digits));
            }
        }
        let bits = if min <= max { width_of((max - min) as u64) as usize } else { 64 };
        (sample.len() - exact) * 8 * EXCEPTION_BYTES as usize + exact * bits
    };
    let sizes: Vec<_> = (0..=MAX_EXPONENT).map(bits).collect();
    let (exponent, smallest) = (0..).zip(sizes).min_by_key(|(_, bits)| *bits)?;
    let of_value = if width == Width::Double { 64 } else { 32 };
    (smallest < sample.len() * of_value).then_some(exponent)
}

/// A chunk that is open for decoding its blocks.
#[derive(Debug)]
pub struct Chunk {
    width: Width,
    /// The exponent, if the integers are digits.
    exponent: Option<u8>,
    integers: integers::Chunk,
}

impl Chunk {
    /// Parses the parameters of a chunk.
    ///
    /// # Errors
    /// If they are malformed.
    pub fn open(mut parameters: &[u8]) -> Result<Self> {
        let [form, exponent, scheme, reserved] = take_array(&mut parameters)?;
        let width = [Width::Double, Width::Single].into_iter().find(|width| width.forms().contains(&form));
        let (width, exponent) = match (width, exponent, reserved) {
            (Some(width), 0, 0) if form == width.forms()[0] => (width, None),
            (Some(width), 0..=MAX_EXPONENT, 0) if form == width.forms()[1] => (width, Some(exponent)),
            _ => return Err(Malformed("its form of floats is unknown")),
        };
        Ok(Self { width, exponent, integers: integers::Chunk::open(scheme, parameters)? })
    }

    /// The exponent, if the floats are stored as decimal digits.
    #[must_use]
    pub fn exponent(&self) -> Option<u8> {
        self.exponent
    }

    /// The name of the scheme of the integers (digits or bits).
    #[must_use]
    pub fn scheme(&self) -> &'static str {
        self.integers.scheme()
    }

    /// Decodes `values.len()` values of a block from row `first` on.
    ///
    /// # Errors
    /// If the block is malformed; the contents of `values` are then unspecified.
    ///
    /// # Panics
    /// If `first` is not a multiple of [`GROUP_ROWS`], or the rows are out of bounds.
    pub fn decode(&self, block: &Block<'_>, first: usize, values: &mut [f64]) -> Result<()> {
        let mut bytes = block.bytes;
        let (mut positions, mut exceptions) = (Default::default(), Default::default());
        if self.exponent.is_some() {
            let count = u32::from_le_bytes(take_array(&mut bytes)?) as usize;
            if count > block.rows {
                return Err(Malformed("it has more exceptions than values"));
            }
            positions = take(&mut bytes, 2 * count)?.as_chunks().0;
            exceptions = take(&mut bytes, 8 * count)?.as_chunks().0;
        }
        let integer_block = Block { bytes, ..*block };
        match self.exponent {
            Some(exponent) if self.integers.is_narrow(&integer_block) => {
                self.decode_groups(&integer_block, first, values, |digits: &[i32], values| {
                    from_digits(Level::best(), digits, exponent, values);
                })
            }
            Some(exponent) => self.decode_groups(&integer_block, first, values, |digits: &[i64], values| {
                from_digits(Level::best(), digits, exponent, values);
            }),
            None if self.width == Width::Single => {
                self.decode_groups(&integer_block, first, values, |bits: &[i64], values| {
                    let float = |bits: i64| float32::widen(f32::from_bits(bits as u32));
                    values.iter_mut().zip(bits).for_each(|(value, bits)| *value = float(*bits));
                })
            }
            None => self.decode_groups(&integer_block, first, values, |bits: &[i64], values| {
                values.iter_mut().zip(bits).for_each(|(value, bits)| *value = f64::from_bits(*bits as u64));
            }),
        }?;
        if self.width == Width::Single && self.exponent.is_some() {
            values.iter_mut().for_each(|value| *value = f64::from(*value as f32));
        }
        patch(positions, first, values, |_, index| f64::from_le_bytes(exceptions[index]))
    }

    /// Decodes integers group by group and converts them to floats while they are in the cache.
    fn decode_groups<T: Decodable>(
        &self,
        block: &Block<'_>,
        first: usize,
        values: &mut [f64],
        floats: impl Fn(&[T], &mut [f64]),
    ) -> Result<()> {
        let mut integers = [T::default(); GROUP_ROWS];
        for (group, values) in values.chunks_mut(GROUP_ROWS).enumerate() {
            let integers = &mut integers[..values.len()];
            self.integers.decode(block, first + group * GROUP_ROWS, &[], integers)?;
            floats(integers, values);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    struct Encoded {
        parameters: Vec<u8>,
        blocks: Vec<Vec<u8>>,
    }

    fn encode(values: &[f64]) -> (Plan, Encoded) {
        let plan = Plan::choose(values);
        let mut encoded = Encoded { parameters: Vec::new(), blocks: Vec::new() };
        plan.encode_parameters(&mut encoded.parameters);
        for number in 0..values.len().div_ceil(BLOCK_ROWS) {
            let mut block = Vec::new();
            plan.encode_block(number, &mut block);
            encoded.blocks.push(block);
        }
        (plan, encoded)
    }

    fn decode(encoded: &Encoded, rows: usize) -> Result<Vec<u64>> {
        let chunk = Chunk::open(&encoded.parameters)?;
        let mut all = vec![0.0; rows];
        for (number, values) in all.chunks_mut(BLOCK_ROWS).enumerate() {
            let start = (number * BLOCK_ROWS) as u64;
            let block = Block { bytes: &encoded.blocks[number], rows: values.len(), start };
            for (batch, values) in values.chunks_mut(2048).enumerate() {
                chunk.decode(&block, batch * 2048, values)?;
            }
        }
        Ok(all.iter().map(|value| value.to_bits()).collect())
    }

    fn check(values: &[f64]) -> Plan {
        let (plan, encoded) = encode(values);
        let bits: Vec<_> = values.iter().map(|value| value.to_bits()).collect();
        assert!(decode(&encoded, values.len()).unwrap() == bits);
        let size = encoded.parameters.len() + encoded.blocks.iter().map(Vec::len).sum::<usize>();
        let estimate = plan.estimated_bytes() as f64;
        assert!((estimate - size as f64).abs() <= 2.0 + size as f64 / 10.0, "{estimate} instead of {size}");
        plan
    }

    #[test]
    fn decimals_are_found() {
        let rows = 0..150_000i64;
        let prices: Vec<_> = rows
            .clone()
            .map(|row| (row.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as i64) as u64 >> 44) as f64 / 100.0)
            .collect();
        assert_eq!(check(&prices).exponent(), Some(2));
        let mut odd = prices.clone();
        odd[..5].copy_from_slice(&[f64::NAN, -0.0, f64::INFINITY, f64::from_bits(0x7ff0_0000_0000_0001), 1.0 / 3.0]);
        odd[140_000] = -0.0;
        assert_eq!(check(&odd).exponent(), Some(2));
        let computed: Vec<_> = rows.map(|row| (row as f64).sqrt()).collect();
        assert_eq!(check(&computed).exponent(), None);
    }

    #[test]
    fn few_distinct_floats_get_a_dictionary_or_a_constant() {
        assert_eq!(check(&[-0.0; 5000]).integers().scheme(), "constant");
        let values: Vec<_> = (0..50_000u64).map(|row| ((row * 7919 % 97) as f64).sqrt()).collect();
        assert_eq!(check(&values).integers().scheme(), "dictionary");
        check(&[]);
        check(&[f64::NAN]);
        check(&[f64::MIN, f64::MAX, f64::MIN_POSITIVE]);
    }

    proptest! {
        #[test]
        fn all_bits_round_trip(
            values in prop::collection::vec((any::<i64>(), any::<u64>(), 0u8..8), 1..3000),
            shift in 0u32..64,
            exponent in 0i32..20,
            odd in 0u8..8,
            damage: (prop::sample::Index, u8),
        ) {
            let values: Vec<_> = values
                .iter()
                .map(|(digits, bits, kind)| match kind < &odd {
                    true => f64::from_bits(*bits),
                    false => (digits >> shift) as f64 / 10f64.powi(exponent),
                })
                .collect();
            let (_, mut encoded) = encode(&values);
            let bits: Vec<_> = values.iter().map(|value| value.to_bits()).collect();
            prop_assert_eq!(decode(&encoded, values.len()).unwrap(), bits);
            for bytes in [&mut encoded.blocks[0], &mut encoded.parameters] {
                if !bytes.is_empty() {
                    let at = damage.0.index(bytes.len().min(48));
                    bytes[at] = damage.1;
                }
            }
            let _ = decode(&encoded, values.len());
        }
    }
}
