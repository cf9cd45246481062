//! Integers of seven bits per byte, lowest first, as Avro, Parquet and Protocol Buffers store them.

/// The maximum size in bytes.
pub(crate) const MAX_BYTES: usize = 10;

/// Takes a number off the front of `bytes`; `None` if they end within it, or it is too long.
#[inline]
pub(crate) fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for (index, &byte) in bytes.iter().take(MAX_BYTES).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * index);
        if byte < 0x80 {
            *bytes = &bytes[index + 1..];
            return Some(value);
        }
    }
    None
}

/// The bytes of a number, and how many they are.
#[inline]
pub(crate) fn bytes_of(mut value: u64) -> ([u8; MAX_BYTES], usize) {
    let (mut bytes, mut length) = ([0; MAX_BYTES], 0);
    while value >= 0x80 {
        bytes[length] = value as u8 | 0x80;
        value >>= 7;
        length += 1;
    }
    bytes[length] = value as u8;
    (bytes, length + 1)
}

/// Appends a number.
pub(crate) fn push(value: u64, out: &mut Vec<u8>) {
    let (bytes, length) = bytes_of(value);
    out.extend_from_slice(&bytes[..length]);
}

/// A signed number with its sign in the lowest bit, so that small numbers stay small.
#[inline]
pub(crate) fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}

/// Undoes [`zigzag`].
#[inline]
pub(crate) fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_round_trip() {
        for value in [0, 1, 63, 64, 127, 128, 300, i64::MAX, -1, -64, -65, i64::MIN] {
            let mut bytes = Vec::new();
            push(zigzag(value), &mut bytes);
            bytes.push(7);
            let mut rest = bytes.as_slice();
            assert_eq!(take(&mut rest).map(unzigzag), Some(value));
            assert_eq!(rest, [7]);
            assert_eq!(take(&mut &bytes[..bytes.len() - 2]), None);
        }
        assert_eq!((zigzag(-1), zigzag(1)), (1, 2));
        assert_eq!(take(&mut &[0xff; 11][..]), None);
    }
}
