//! Encodes DELTA_BINARY_PACKED integers, as differences in as many bits as the largest of a miniblock needs, and
//! DELTA_LENGTH_BYTE_ARRAY strings, with their lengths stored likewise.

use crate::varint;
use brc_core::Dictionary;

/// Differences per block.
const BLOCK: usize = 128;
/// Miniblocks per block, each with its own width.
const PARTS: usize = 4;
const PART: usize = BLOCK / PARTS;

/// Appends integers of 32 bits.
pub(super) fn integers_32(values: &[i64], out: &mut Vec<u8>) {
    // Differences wrap around in the width of the column.
    integers(values, |difference| (difference as i32).into(), |difference| (difference as u32).into(), out);
}

/// Appends integers of 64 bits.
pub(super) fn integers_64(values: &[i64], out: &mut Vec<u8>) {
    integers(values, |difference| difference, |difference| difference as u64, out);
}

fn integers(values: &[i64], signed: impl Fn(i64) -> i64, unsigned: impl Fn(i64) -> u64, out: &mut Vec<u8>) {
    varint::push(BLOCK as u64, out);
    varint::push(PARTS as u64, out);
    varint::push(values.len() as u64, out);
    varint::push(varint::zigzag(values.first().copied().unwrap_or(0)), out);
    let mut before = values.first().copied().unwrap_or(0);
    for block in values.get(1..).unwrap_or_default().chunks(BLOCK) {
        let mut differences = [0; BLOCK];
        for (difference, &value) in differences.iter_mut().zip(block) {
            *difference = signed(value.wrapping_sub(before));
            before = value;
        }
        let differences = &differences[..block.len()];
        let least = differences.iter().copied().min().unwrap_or(0);
        varint::push(varint::zigzag(least), out);
        let widths = out.len();
        out.extend_from_slice(&[0; PARTS]);
        for (part, differences) in differences.chunks(PART).enumerate() {
            let mut above = [0; PART];
            for (above, difference) in above.iter_mut().zip(differences) {
                *above = unsigned(difference.wrapping_sub(least));
            }
            let all = above.iter().fold(0, |all, above| all | above);
            let width = u64::BITS - all.leading_zeros();
            out[widths + part] = width as u8;
            pack(&above, width, out);
        }
    }
}

/// Appends values of `width` bits, lowest bit first.
fn pack(values: &[u64; PART], width: u32, out: &mut Vec<u8>) {
    let mut packed = [[0; 8]; PART];
    let (mut bits, mut count, mut word) = (0u128, 0, 0);
    for &value in values {
        bits |= u128::from(value) << count;
        count += width;
        if count >= u64::BITS {
            packed[word] = (bits as u64).to_le_bytes();
            bits >>= u64::BITS;
            count -= u64::BITS;
            word += 1;
        }
    }
    if count > 0 {
        packed[word] = (bits as u64).to_le_bytes();
    }
    out.extend_from_slice(&packed.as_flattened()[..PART / 8 * width as usize]);
}

/// Appends the strings of these codes: the lengths of all, then the bytes of all.
pub(super) fn strings(codes: &[u32], dictionary: &Dictionary, out: &mut Vec<u8>) {
    let lengths: Vec<_> = codes.iter().map(|&code| dictionary.get(code).len() as i64).collect();
    integers_32(&lengths, out);
    out.reserve(lengths.iter().sum::<i64>() as usize);
    // New strings have consecutive codes, and are contiguous.
    for codes in codes.chunk_by(|code, next| code.wrapping_add(1) == *next) {
        out.extend_from_slice(dictionary.span(codes[0]..codes[0] + codes.len() as u32));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the format's specification, in blocks of 128: 7, 5, 3, 1, 2, 3, 4, 5.
    #[test]
    fn the_example_of_the_specification() {
        let mut out = Vec::new();
        integers_64(&[7, 5, 3, 1, 2, 3, 4, 5], &mut out);
        // Eight values, the first 7, the minimum difference -2; two bits each of 0 0 0 3 3 3 3.
        let expected = [128, 1, 4, 8, 14, 3, 2, 0, 0, 0, 0b1100_0000, 0b0011_1111, 0, 0, 0, 0, 0, 0];
        assert_eq!(out, expected);
    }
}
