//! The layout of key tuples: the values of several keys in a few 64-bit words, which are hashed, compared, kept and
//! merged.
//!
//! Each value takes as many bits as its type needs, and one more if it may be null. A value that does not fit the rest
//! of a word begins the next one. The bits of a value sort as its type does.

use brc_core::{LogicalType, PhysicalType};

/// How the values of a key are represented as bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyKind {
    /// Codes of strings.
    Strings,
    /// Distances from the smallest integer of the type.
    Integers {
        /// That integer.
        min: i128,
        /// The largest distance.
        span: u128,
    },
    /// Floats in their order. The two zeros are one, and so are all NaNs, which are above all numbers.
    Floats,
}

impl KeyKind {
    pub(crate) fn of(logical_type: LogicalType) -> Self {
        match (logical_type.physical(), logical_type.bounds()) {
            // Decimals of 18 digits have been stored with more of them: whatever fits 64 bits is taken.
            (PhysicalType::Integers, Some((min, max))) if logical_type.fits_64_bits() && max - min > 1 << 48 => {
                Self::Integers { min: i64::MIN.into(), span: u64::MAX.into() }
            }
            (PhysicalType::Integers, Some((min, max))) => Self::Integers { min, span: max.wrapping_sub(min) as u128 },
            (PhysicalType::Integers | PhysicalType::Floats, _) => Self::Floats,
            (PhysicalType::Bytes, _) => Self::Strings,
        }
    }

    fn bits(self) -> u32 {
        match self {
            Self::Strings => 32,
            Self::Integers { span, .. } => 128 - span.leading_zeros(),
            Self::Floats => 64,
        }
    }

    /// The integer whose bits are 0, and the largest distance from it, of integers and of codes; floats have none.
    pub(crate) fn integers(self) -> (i128, u128) {
        match self {
            Self::Strings => (0, u32::MAX.into()),
            Self::Integers { min, span } => (min, span),
            Self::Floats => (i128::MAX, 0),
        }
    }

    /// The smallest value, if all are integers that fit 64 bits with their signs.
    pub(crate) fn least_of_64_bits(self) -> Option<i64> {
        let Self::Integers { min, span } = self else { return None };
        let most = i128::try_from(span).ok().and_then(|span| min.checked_add(span))?;
        i64::try_from(most).ok().and(i64::try_from(min).ok())
    }

    /// Whether its values may need more than 64 bits.
    pub(crate) fn is_wide(self) -> bool {
        self.bits() > 64
    }
}

/// Some bits of one word of a tuple.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BitRange {
    word: usize,
    shift: u32,
    mask: u64,
}

impl BitRange {
    pub(crate) fn get(self, tuple: &[u64]) -> u64 {
        tuple[self.word] >> self.shift & self.mask
    }

    /// Sets bits that are 0 so far.
    pub(crate) fn set(self, tuple: &mut [u64], bits: u64) {
        tuple[self.word] |= (bits & self.mask) << self.shift;
    }

    fn clear(self, tuple: &mut [u64]) {
        tuple[self.word] &= !(self.mask << self.shift);
    }
}

/// Where one key lies.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeyLayout {
    pub(crate) kind: KeyKind,
    pub(crate) low: BitRange,
    /// The upper bits of what needs more than 64.
    pub(crate) high: Option<BitRange>,
    /// Set for null, all other bits of which are 0; none if the key is never null.
    pub(crate) null: Option<BitRange>,
}

/// Where all keys lie.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    pub(crate) keys: Vec<KeyLayout>,
    /// Words of a tuple; 0 if there is no key.
    pub(crate) width: usize,
}

impl Layout {
    /// The keys' types, each with whether it may be null.
    pub(crate) fn new(types: &[(LogicalType, bool)]) -> Self {
        let mut used: Vec<u32> = Vec::new();
        let mut place = |bits: u32| {
            let mask = if bits >= 64 { u64::MAX } else { (1 << bits) - 1 };
            let free = used.iter().position(|used| used + bits <= 64).unwrap_or_else(|| {
                used.push(0);
                used.len() - 1
            });
            let shift = used[free];
            used[free] += bits;
            BitRange { word: free, shift: shift % 64, mask }
        };
        let keys = types.iter().map(|&(logical_type, nullable)| {
            let kind = KeyKind::of(logical_type);
            KeyLayout {
                kind,
                low: place(kind.bits().min(64)),
                high: kind.is_wide().then(|| place(kind.bits() - 64)),
                null: nullable.then(|| place(1)),
            }
        });
        let keys = keys.collect();
        Self { keys, width: used.len() }
    }
}

impl KeyLayout {
    pub(crate) fn is_null(&self, tuple: &[u64]) -> bool {
        self.null.is_some_and(|null| null.get(tuple) == 1)
    }

    /// The bits of a value, whatever their number; 0 if it is null.
    pub(crate) fn bits(&self, tuple: &[u64]) -> u128 {
        let high = self.high.map_or(0, |high| high.get(tuple));
        u128::from(high) << 64 | u128::from(self.low.get(tuple))
    }

    /// Sets the bits of a value, or that it is null, where they are all 0 so far.
    pub(crate) fn set(&self, tuple: &mut [u64], bits: Option<u128>) {
        match (bits, self.null, self.high) {
            (None, null, _) => null.into_iter().for_each(|null| null.set(tuple, 1)),
            (Some(bits), _, high) => {
                self.low.set(tuple, bits as u64);
                high.into_iter().for_each(|high| high.set(tuple, (bits >> 64) as u64));
            }
        }
    }

    /// Replaces the lower bits of a value.
    pub(crate) fn replace(&self, tuple: &mut [u64], bits: u64) {
        self.low.clear(tuple);
        self.low.set(tuple, bits);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_share_words_and_come_back() {
        let types: Vec<(LogicalType, bool)> = ["string", "int8", "int32", "int64", "decimal(38,0)", "float64", "bool"]
            .iter()
            .flat_map(|text| [(text.parse().unwrap(), false), (text.parse().unwrap(), true)])
            .collect();
        let layout = Layout::new(&types);
        assert_eq!(Layout::new(&types[..4]).width, 2);
        assert_eq!(Layout::new(&[]).width, 0);
        for set in 0..types.len() {
            let mut tuple = vec![0; layout.width];
            let key = &layout.keys[set];
            let bits = if key.kind.is_wide() { (1 << 127) - 1 } else { (1 << key.kind.bits()) - 1 };
            key.low.set(&mut tuple, bits as u64);
            if let Some(high) = key.high {
                high.set(&mut tuple, (bits >> 64) as u64);
            }
            if let Some(null) = key.null {
                null.set(&mut tuple, 1);
            }
            for (other, key) in layout.keys.iter().enumerate() {
                let expected = if other == set { (bits, key.null.is_some()) } else { (0, false) };
                assert_eq!((key.bits(&tuple), key.is_null(&tuple)), expected, "{set} {other}");
            }
            layout.keys[set].replace(&mut tuple, 1);
            assert_eq!(layout.keys[set].bits(&tuple) as u64, 1);
        }
    }

    #[test]
    fn integers_of_64_bits_have_a_least_one() {
        let least = |text: &str| KeyKind::of(text.parse().unwrap()).least_of_64_bits();
        assert_eq!(["int8", "date", "int64"].map(least), [Some(-128), Some(i32::MIN.into()), Some(i64::MIN)]);
        assert_eq!(["uint64", "decimal(38,0)", "float64", "string"].map(least), [None; 4]);
    }
}
