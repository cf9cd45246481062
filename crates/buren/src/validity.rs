//! The validity of the values in a block.
//!
//! Values are dense: nulls have a value too, a *filler*. Omitting nulls would save their bits but take four times as
//! long to decode, and the filler that encoders use, the minimum of the block, packs into few bits.

use super::malformed::{Malformed, Result, finish, take_array};

const ALL_VALID: u8 = 0;
const ALL_NULL: u8 = 1;
const BITMAP: u8 = 2;

/// Which values of a block are not null.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Validity<'a> {
    /// All are values.
    AllValid,
    /// All are null.
    AllNull,
    /// One bit per value, set if it is not null, lowest bit first. Bits after the last value are 0.
    Bitmap(&'a [u8]),
}

impl<'a> Validity<'a> {
    /// The simplest form of the first `rows` bits of a bitmap.
    ///
    /// # Panics
    /// If the bitmap has fewer bits.
    #[must_use]
    pub fn of_bitmap(bitmap: &'a [u8], rows: usize) -> Self {
        let (full, last) = split(&bitmap[..rows.div_ceil(8)], rows);
        if full.iter().all(|&byte| byte == u8::MAX) && last.is_none_or(|(byte, mask)| byte & mask == mask) {
            Self::AllValid
        } else if full.iter().all(|&byte| byte == 0) && last.is_none_or(|(byte, mask)| byte & mask == 0) {
            Self::AllNull
        } else {
            Self::Bitmap(&bitmap[..rows.div_ceil(8)])
        }
    }

    /// Appends the encoded form: a byte for the kind, then the bitmap if there is one.
    pub fn encode(&self, rows: usize, out: &mut Vec<u8>) {
        match self {
            Self::AllValid => out.push(ALL_VALID),
            Self::AllNull => out.push(ALL_NULL),
            Self::Bitmap(bitmap) => {
                out.push(BITMAP);
                let (full, last) = split(bitmap, rows);
                out.extend_from_slice(full);
                out.extend(last.map(|(byte, mask)| byte & mask));
            }
        }
    }

    /// Decodes the validity of `rows` values.
    ///
    /// # Errors
    /// If the bytes are malformed.
    pub fn decode(mut bytes: &'a [u8], rows: usize) -> Result<Self> {
        let [kind] = take_array(&mut bytes)?;
        match kind {
            ALL_VALID => finish(bytes).map(|()| Self::AllValid),
            ALL_NULL => finish(bytes).map(|()| Self::AllNull),
            BITMAP if bytes.len() != rows.div_ceil(8) => {
                Err(Malformed("its bitmap does not have one bit for each value"))
            }
            BITMAP if split(bytes, rows).1.is_some_and(|(byte, mask)| byte & !mask != 0) => {
                Err(Malformed("its bitmap has bits after the last value"))
            }
            BITMAP => Ok(Self::Bitmap(bytes)),
            _ => Err(Malformed("its kind of validity is unknown")),
        }
    }
}

/// The bytes whose bits all belong to rows, and the last byte, if partial, with a mask of the bits that do.
fn split(bitmap: &[u8], rows: usize) -> (&[u8], Option<(u8, u8)>) {
    let full = &bitmap[..rows / 8];
    let last = (!rows.is_multiple_of(8)).then(|| (bitmap[rows / 8], (1u8 << (rows % 8)) - 1));
    (full, last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_simplest_form_is_taken() {
        assert_eq!(Validity::of_bitmap(&[0xff, 0x07], 11), Validity::AllValid);
        assert_eq!(Validity::of_bitmap(&[0x00, 0xf8], 11), Validity::AllNull);
        assert_eq!(Validity::of_bitmap(&[0xff, 0x03], 11), Validity::Bitmap(&[0xff, 0x03]));
        assert_eq!(Validity::of_bitmap(&[], 0), Validity::AllValid);
    }

    fn is_valid(validity: &Validity<'_>, row: usize) -> bool {
        match validity {
            Validity::AllValid => true,
            Validity::AllNull => false,
            Validity::Bitmap(bitmap) => bitmap[row / 8] >> (row % 8) & 1 != 0,
        }
    }

    proptest! {
        #[test]
        fn round_trips(valid in prop::collection::vec(prop_oneof![1 => any::<bool>(), 3 => Just(true)], 0..100)) {
            let mut bitmap = vec![0xf0; valid.len().div_ceil(8) + 1];
            for (row, &valid) in valid.iter().enumerate() {
                bitmap[row / 8] = bitmap[row / 8] & !(1 << (row % 8)) | u8::from(valid) << (row % 8);
            }
            let mut bytes = Vec::new();
            Validity::of_bitmap(&bitmap, valid.len()).encode(valid.len(), &mut bytes);
            let back = Validity::decode(&bytes, valid.len()).unwrap();
            prop_assert!(valid.iter().enumerate().all(|(row, &valid)| is_valid(&back, row) == valid));
        }

        #[test]
        fn any_bytes_are_refused_or_read(bytes in prop::collection::vec(0u8..5, 0..6), rows in 0usize..50) {
            if let Ok(validity) = Validity::decode(&bytes, rows) {
                prop_assert!((0..rows).filter(|row| is_valid(&validity, *row)).count() <= rows);
            }
        }
    }
}
