//! Bounds of the values of some rows.

use brc_core::bounds::after_prefix;
use brc_core::predicate::ValueBounds;

/// The maximum length of a string bound in bytes.
const MAX_BYTES: usize = 64;

/// A minimum and a maximum. Those of numbers are exact; long strings are truncated, and rounded up for the maximum, so
/// that no value is outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Bounds {
    /// Of integers, or of floats mapped by [`brc_core::predicate::float_order`].
    Numbers {
        min: i128,
        max: i128,
    },
    Strings {
        min: Vec<u8>,
        max: Vec<u8>,
    },
}

impl Bounds {
    /// Bounds from the minimum and maximum string; `None` if no string of at most [`MAX_BYTES`] is above all values.
    pub(super) fn strings(min: &[u8], max: &[u8]) -> Option<Self> {
        Some(Self::Strings { min: min[..min.len().min(MAX_BYTES)].to_vec(), max: rounded_up(max)? })
    }

    /// The bounds of two sets of rows together.
    pub(super) fn merge(&self, other: &Self) -> Option<Self> {
        match (self, other) {
            (Self::Numbers { min: a, max: b }, Self::Numbers { min: c, max: d }) => {
                Some(Self::Numbers { min: *a.min(c), max: *b.max(d) })
            }
            (Self::Strings { min: a, max: b }, Self::Strings { min: c, max: d }) => {
                Some(Self::Strings { min: a.min(c).clone(), max: b.max(d).clone() })
            }
            (Self::Numbers { .. }, Self::Strings { .. }) | (Self::Strings { .. }, Self::Numbers { .. }) => None,
        }
    }

    pub(super) fn value_bounds(&self) -> ValueBounds<'_> {
        match self {
            Self::Numbers { min, max } => ValueBounds::Numbers { min: *min, max: *max },
            Self::Strings { min, max } => ValueBounds::Strings { min, max },
        }
    }

    /// The stored form: numbers as [`number_to_bytes`] writes them, strings unchanged.
    pub(super) fn to_bytes(&self) -> (Vec<u8>, Vec<u8>) {
        match self {
            Self::Numbers { min, max } => (number_to_bytes(*min), number_to_bytes(*max)),
            Self::Strings { min, max } => (min.clone(), max.clone()),
        }
    }

    /// Parses bounds of numbers; `None` if they are malformed or out of order.
    pub(super) fn numbers_of(min: &[u8], max: &[u8]) -> Option<Self> {
        let (min, max) = (number_of(min)?, number_of(max)?);
        (min <= max).then_some(Self::Numbers { min, max })
    }

    /// Parses bounds of strings; `None` if they are too long or out of order.
    pub(super) fn strings_of(min: &[u8], max: &[u8]) -> Option<Self> {
        let fine = min <= max && min.len() <= MAX_BYTES && max.len() <= MAX_BYTES;
        fine.then(|| Self::Strings { min: min.to_vec(), max: max.to_vec() })
    }
}

/// The bounds of each block of a chunk with several blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum BoundsOfBlocks {
    Unknown,
    /// Integers, or mapped floats; a block whose minimum exceeds its maximum has no bounds.
    Numbers(Vec<(i64, i64)>),
    Each(Vec<Option<Bounds>>),
}

impl BoundsOfBlocks {
    /// Represents a block without bounds.
    const NONE: (i64, i64) = (1, 0);

    pub(super) fn new(bounds: Vec<Option<Bounds>>) -> Self {
        let narrow = |bounds: &Option<Bounds>| match bounds {
            None => Some(Self::NONE),
            Some(Bounds::Numbers { min, max }) => Some((i64::try_from(*min).ok()?, i64::try_from(*max).ok()?)),
            Some(Bounds::Strings { .. }) => None,
        };
        match bounds.iter().map(narrow).collect() {
            _ if bounds.iter().all(Option::is_none) => Self::Unknown,
            Some(numbers) => Self::Numbers(numbers),
            None => Self::Each(bounds),
        }
    }

    /// The number of blocks; `None` if bounds are unknown.
    pub(super) fn blocks(&self) -> Option<usize> {
        match self {
            Self::Unknown => None,
            Self::Numbers(numbers) => Some(numbers.len()),
            Self::Each(bounds) => Some(bounds.len()),
        }
    }

    /// The statistics of a block, if known.
    pub(super) fn value_bounds(&self, block: usize) -> Option<ValueBounds<'_>> {
        match self {
            Self::Unknown => None,
            Self::Numbers(numbers) => {
                let (min, max) = numbers_of_block(numbers, block)?;
                Some(ValueBounds::Numbers { min, max })
            }
            Self::Each(bounds) => Some(bounds.get(block)?.as_ref()?.value_bounds()),
        }
    }

    /// The bounds of a block.
    pub(super) fn get(&self, block: usize) -> Option<Bounds> {
        match self {
            Self::Unknown => None,
            Self::Numbers(numbers) => {
                let (min, max) = numbers_of_block(numbers, block)?;
                Some(Bounds::Numbers { min, max })
            }
            Self::Each(bounds) => bounds.get(block)?.clone(),
        }
    }
}

/// The minimum and maximum of a block, if it has bounds.
fn numbers_of_block(numbers: &[(i64, i64)], block: usize) -> Option<(i128, i128)> {
    let (min, max) = *numbers.get(block).filter(|(min, max)| min <= max)?;
    Some((min.into(), max.into()))
}

/// The shortest string above all strings with the same first [`MAX_BYTES`] bytes; the value itself if it is not
/// longer.
fn rounded_up(value: &[u8]) -> Option<Vec<u8>> {
    if value.len() <= MAX_BYTES {
        return Some(value.to_vec());
    }
    after_prefix(&value[..MAX_BYTES])
}

/// The stored form of a number: little-endian, in as few bytes as possible.
pub(super) fn number_to_bytes(value: i128) -> Vec<u8> {
    let bytes = value.to_le_bytes();
    let bits = 129 - if value < 0 { value.leading_ones() } else { value.leading_zeros() };
    bytes[..bits.div_ceil(8) as usize].to_vec()
}

/// The inverse of [`number_to_bytes`], which also accepts more bytes than necessary; `None` if there are none, or more
/// than sixteen.
pub(super) fn number_of(bytes: &[u8]) -> Option<i128> {
    let sign = *bytes.last()? as i8 >> 7;
    let mut all = [sign as u8; 16];
    all.get_mut(..bytes.len())?.copy_from_slice(bytes);
    Some(i128::from_le_bytes(all))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn long_bounds_are_truncated_or_rounded_up() {
        let long = [b'a'; 100];
        let mut up = vec![b'a'; 64];
        up[63] = b'b';
        assert_eq!(Bounds::strings(&long, &long), Some(Bounds::Strings { min: vec![b'a'; 64], max: up }));
        let mut high = [0xff; 100];
        assert_eq!(Bounds::strings(b"", &high), None);
        high[0] = 7;
        assert_eq!(Bounds::strings(b"", &high), Some(Bounds::Strings { min: vec![], max: vec![8] }));
    }

    proptest! {
        #[test]
        fn numbers_round_trip(value: i128, shift in 0u32..128) {
            let value = value >> shift;
            prop_assert_eq!(number_of(&number_to_bytes(value)), Some(value));
        }
    }
}
