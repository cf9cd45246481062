//! Numbers near zero as they look in a row, so that they are written by copying.

/// Each number near zero, encoded.
pub(crate) struct Numbers {
    /// For each number from -[`Numbers::REACH`] on: its bytes, and in the last place how many of them count. Empty if
    /// even a number near zero has more bytes.
    encoded: Vec<[u8; 8]>,
}

impl Numbers {
    /// Far enough for a temperature in tenths.
    const REACH: i64 = 2048;

    /// Numbers that are encoded by that function.
    pub(crate) fn new(encode: impl Fn(i64, &mut Vec<u8>)) -> Self {
        let mut encoded = Vec::with_capacity(2 * Self::REACH as usize);
        let mut bytes = Vec::new();
        for number in -Self::REACH..Self::REACH {
            bytes.clear();
            encode(number, &mut bytes);
            let length = bytes.len();
            bytes.resize(length.max(7), 0);
            bytes.push(length as u8);
            match bytes.as_slice().try_into() {
                Ok(bytes) => encoded.push(bytes),
                Err(_) => return Self { encoded: Vec::new() },
            }
        }
        Self { encoded }
    }

    /// Appends a number, if it is near zero. Returns whether it is.
    #[inline]
    pub(crate) fn copy(&self, number: i64, out: &mut Vec<u8>) -> bool {
        let index = number.wrapping_add(Self::REACH) as u64;
        let bytes = usize::try_from(index).ok().and_then(|index| self.encoded.get(index));
        if let Some(bytes) = bytes {
            let end = out.len() + usize::from(bytes[7]);
            out.extend_from_slice(bytes);
            out.truncate(end);
        }
        bytes.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_copied_is_what_is_encoded() {
        let encode = |number: i64, out: &mut Vec<u8>| {
            out.extend_from_slice(&number.to_le_bytes()[..number.rem_euclid(8) as usize]);
        };
        let numbers = Numbers::new(encode);
        for number in (-3000..3000).chain([i64::MIN, i64::MIN + 2048, i64::MAX, i64::MAX - 2048]) {
            let (mut copied, mut encoded) = (b"abc".to_vec(), b"abc".to_vec());
            assert_eq!(numbers.copy(number, &mut copied), (-2048..2048).contains(&number));
            if copied != b"abc" {
                encode(number, &mut encoded);
                assert_eq!(copied, encoded);
            }
        }
    }

    #[test]
    fn numbers_of_many_bytes_are_not_kept() {
        assert!(!Numbers::new(|number, out| out.extend_from_slice(&number.to_le_bytes())).copy(1, &mut Vec::new()));
    }
}
