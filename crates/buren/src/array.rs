//! Packed arrays: the encoding of the integers in run indexes, code maps and dictionaries.
//!
//! A header of sixteen bytes holds the frame of reference and the width; the packed differences from the frame follow.
//! All arithmetic wraps at 64 bits, so the same encoding serves signed and unsigned integers.

use brc_core::Run;
use brc_core::bounds::bounds;
use brc_kernels::bitpack;
use brc_kernels::cpu::Level;
use std::ops::Range;

/// The size of the header: frame (8), width (1), zeros (7).
pub(crate) const HEADER_BYTES: usize = 16;

/// Appends the packed form of some integers.
pub(crate) fn write(values: &[i64], out: &mut Vec<u8>) {
    let (frame, last) = bounds(values).unwrap_or((0, 0));
    let range = last.wrapping_sub(frame) as u64;
    let width = bitpack::width_of(range);
    out.extend_from_slice(&frame.to_le_bytes());
    out.extend_from_slice(&[width as u8, 0, 0, 0, 0, 0, 0, 0]);
    let runs = [Run { code: 0, rows: values.len() as u32 }];
    bitpack::pack(Level::best(), width, values, &runs, &[frame], out);
}

/// The encoded size of `count` integers between `smallest` and `largest`.
pub(crate) fn size(smallest: i64, largest: i64, count: usize) -> u64 {
    let width = bitpack::width_of(largest.wrapping_sub(smallest) as u64);
    HEADER_BYTES as u64 + bitpack::packed_bytes(width, count as u64).unwrap_or(u64::MAX / 2)
}

/// A packed array inside a block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PackedArray<'a> {
    frame: i64,
    width: u32,
    count: usize,
    packed: &'a [u8],
}

impl<'a> PackedArray<'a> {
    /// Takes an array of `count` integers off the front of `bytes`.
    pub(crate) fn take(bytes: &mut &'a [u8], count: usize) -> Result<Self, &'static str> {
        const SHORT: &str = "a packed array is cut off";
        let (header, rest) = bytes.split_first_chunk::<HEADER_BYTES>().ok_or(SHORT)?;
        let (frame, width) = header.split_first_chunk::<8>().ok_or(SHORT)?;
        if width[1..] != [0; 7] {
            return Err("the reserved bytes of a packed array are not zero");
        }
        let width = u32::from(width[0]);
        let length = bitpack::packed_bytes(width, count as u64).ok_or("a packed array is wider than 64 bits")?;
        let length = usize::try_from(length).map_err(|_| SHORT)?;
        let (packed, rest) = rest.split_at_checked(length).ok_or(SHORT)?;
        *bytes = rest;
        Ok(Self { frame: i64::from_le_bytes(*frame), width, count, packed })
    }

    /// Replaces `out` with the integers, truncated to 32 bits.
    pub(crate) fn read_u32(&self, out: &mut Vec<u32>) {
        if self.width <= 32 {
            out.resize(self.count, 0);
            self.read(0, out);
        } else {
            let mut wide = Vec::new();
            self.read_i64(&mut wide);
            out.clear();
            out.extend(wide.iter().map(|&value| value as u32));
        }
    }

    /// Replaces `out` with the integers.
    pub(crate) fn read_i64(&self, out: &mut Vec<i64>) {
        self.read_part(0..self.count, out);
    }

    /// Resizes `out` to the size of the array and reads only the integers in `part`. The others are unspecified.
    pub(crate) fn read_part(&self, part: Range<usize>, out: &mut Vec<i64>) {
        out.resize(self.count, 0);
        self.read(part.start, &mut out[part]);
    }

    /// Replaces `out` with the integers of these rows.
    pub(crate) fn read_rows(&self, rows: Range<usize>, out: &mut Vec<i64>) {
        out.resize(rows.len(), 0);
        self.read(rows.start, out);
    }

    /// Reads integers from index `first` on.
    ///
    /// # Errors
    /// If they are wider than 32 bits, or too few.
    pub(crate) fn read_u32_part(&self, first: usize, out: &mut [u32]) -> Result<(), &'static str> {
        if self.width > 32 || first + out.len() > self.count {
            return Err("the integers of a packed array are too wide or too few");
        }
        self.read(first, out);
        Ok(())
    }

    /// Whether all integers are 0.
    pub(crate) fn is_zero(&self) -> bool {
        self.width == 0 && self.frame == 0
    }

    fn read<V: bitpack::Value>(&self, first: usize, out: &mut [V]) {
        let runs = [Run { code: 0, rows: out.len() as u32 }];
        bitpack::unpack(Level::best(), self.width, self.packed, first, &runs, &[self.frame], out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn round_trips(mut values: Vec<i64>, shift in 0u32..64, copies in 1usize..20) {
            for value in &mut values {
                *value >>= shift;
            }
            let values = values.repeat(copies);
            let mut bytes = Vec::new();
            write(&values, &mut bytes);
            bytes.push(7);
            let mut rest = bytes.as_slice();
            let array = PackedArray::take(&mut rest, values.len()).unwrap();
            prop_assert_eq!(rest, [7]);
            let mut back = vec![1];
            array.read_i64(&mut back);
            prop_assert_eq!(&back, &values);
            let part = values.len() / 3..values.len() / 2;
            back.clear();
            array.read_part(part.clone(), &mut back);
            prop_assert_eq!(back.len(), values.len());
            prop_assert_eq!(&back[part.clone()], &values[part]);
        }

        #[test]
        fn any_bytes_are_refused_or_read(bytes: Vec<u8>, count in 0usize..3000) {
            if let Ok(array) = PackedArray::take(&mut bytes.as_slice(), count) {
                let mut out = Vec::new();
                array.read_u32(&mut out);
                prop_assert_eq!(out.len(), count);
            }
        }
    }
}
