//! Decodes DELTA_BINARY_PACKED integers: blocks of differences, in miniblocks of different bit widths.
//!
//! Times, sorted numbers and string lengths are stored this way and dominate many queries, so kernels unpack them and
//! compute the prefix sums.

use super::thrift::bad_number;
use crate::columnar::Fault;
use crate::varint;
use brc_kernels::arithmetic::{Integer, running_sums};
use brc_kernels::bitpack::{Consecutive, unpack_consecutive};
use brc_kernels::cpu::Level;
use std::ops::Range;

/// The maximum number of miniblocks of a block, and of values of a miniblock.
const MAX_VALUES: usize = 1 << 16;

/// A position in encoded integers. Each call gets the bytes, which must always be the same.
#[derive(Debug)]
pub(super) struct Deltas {
    parts: usize,
    part_values: usize,
    /// The number of values after the position.
    left: usize,
    /// The value before the position: 0 before the first one.
    before: i64,
    /// The minimum difference of the block.
    least: i64,
    /// The range of the widths of the block's further miniblocks.
    widths: Range<usize>,
    part: Miniblock,
    /// The offset after the miniblock.
    at: usize,
}

/// The current miniblock.
#[derive(Debug, Default)]
struct Miniblock {
    width: u32,
    start: usize,
    /// The number of its differences that were read, and of those left.
    read: usize,
    left: usize,
}

impl Deltas {
    /// The start of integers at an offset.
    pub(super) fn new(bytes: &[u8], at: usize) -> Result<Self, Fault> {
        let mut deltas = Self {
            parts: 0,
            part_values: 0,
            left: 0,
            before: 0,
            least: 0,
            widths: 0..0,
            part: Miniblock::default(),
            at,
        };
        let [block, parts, values] = [deltas.size(bytes)?, deltas.size(bytes)?, deltas.size(bytes)?];
        // The first value is a difference from 0, in a miniblock of width 0.
        deltas.least = deltas.zigzag(bytes)?;
        (deltas.parts, deltas.left) = (parts, values);
        deltas.part_values = block.checked_div(parts).unwrap_or(0);
        let is_sound = (1..=MAX_VALUES).contains(&parts)
            && (8..=MAX_VALUES).contains(&deltas.part_values)
            && deltas.part_values.is_multiple_of(8)
            && block == parts * deltas.part_values;
        if !is_sound {
            return Err(Fault::corrupt("blocks of differences of an impossible size"));
        }
        deltas.part = Miniblock { left: 1, ..Miniblock::default() };
        Ok(deltas)
    }

    /// The number of values left.
    pub(super) fn remaining(&self) -> usize {
        self.left
    }

    /// The offset after all values. Must be called before the first read.
    pub(super) fn end(&self, bytes: &[u8]) -> Result<usize, Fault> {
        let mut rest = Self { widths: 0..0, part: Miniblock::default(), ..*self };
        let mut differences = rest.left.saturating_sub(1);
        while differences > 0 {
            rest.next_part(bytes)?;
            differences = differences.saturating_sub(rest.part_values);
        }
        Ok(rest.at)
    }

    /// Appends the next values, modulo the range of their type.
    pub(super) fn read<T: Integer + Consecutive>(
        &mut self,
        bytes: &[u8],
        values: usize,
        out: &mut Vec<T>,
    ) -> Result<(), Fault> {
        self.left = self.left.checked_sub(values).ok_or_else(ends)?;
        let start = out.len();
        out.resize(start + values, T::default());
        let out = &mut out[start..];
        let mut done = 0;
        while done < out.len() {
            if self.part.left == 0 {
                self.next_part(bytes)?;
            }
            let Miniblock { width, start, read, left } = &mut self.part;
            let now = (*left).min(out.len() - done);
            let packed = bytes.get(*start..).unwrap_or_default();
            if (*read + now) * *width as usize > packed.len() * 8 {
                return Err(ends());
            }
            let least = T::cut(self.least);
            unpack_consecutive(Level::best(), *width, packed, *read, least, &mut out[done..done + now]);
            (*read, *left) = (*read + now, *left - now);
            done += now;
        }
        running_sums(Level::best(), T::cut(self.before), out);
        self.before = out.last().map_or(self.before, |last| last.wide());
        Ok(())
    }

    fn next_part(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        if self.widths.is_empty() {
            self.least = self.zigzag(bytes)?;
            self.widths = self.at..self.at + self.parts;
            self.at += self.parts;
        }
        let width = self.widths.next().and_then(|at| bytes.get(at)).copied().ok_or_else(ends)?;
        if width > 64 {
            return Err(Fault::corrupt(format!("differences of {width} bits")));
        }
        self.part = Miniblock { width: width.into(), start: self.at, read: 0, left: self.part_values };
        // Some writers omit the bytes after the last difference.
        self.at += self.part_values / 8 * usize::from(width);
        Ok(())
    }

    fn size(&mut self, bytes: &[u8]) -> Result<usize, Fault> {
        usize::try_from(self.varint(bytes)?).map_err(|_| Fault::corrupt("a number is too long"))
    }

    fn zigzag(&mut self, bytes: &[u8]) -> Result<i64, Fault> {
        self.varint(bytes).map(varint::unzigzag)
    }

    fn varint(&mut self, bytes: &[u8]) -> Result<u64, Fault> {
        let mut rest = bytes.get(self.at..).ok_or_else(ends)?;
        let value = varint::take(&mut rest).ok_or_else(bad_number)?;
        self.at = bytes.len() - rest.len();
        Ok(value)
    }
}

fn ends() -> Fault {
    Fault::corrupt("a page ends before its last value")
}

#[cfg(test)]
mod tests {
    use super::super::delta_encoder::{integers_32, integers_64};
    use super::*;
    use proptest::prelude::*;

    fn decode<T: Integer + Consecutive>(bytes: &[u8], step: usize) -> Result<(Vec<T>, usize), Fault> {
        let mut deltas = Deltas::new(bytes, 0)?;
        let end = deltas.end(bytes)?;
        let mut values = Vec::new();
        while deltas.remaining() > 0 {
            deltas.read(bytes, step.min(deltas.remaining()), &mut values)?;
        }
        Ok((values, end))
    }

    proptest! {
        #[test]
        fn integers_round_trip(
            values in prop::collection::vec((any::<i64>(), 0u32..64), 0..700),
            step in 1usize..300,
            trailing in prop::collection::vec(any::<u8>(), 0..20),
        ) {
            let values: Vec<i64> = values.into_iter().map(|(value, shift)| value >> shift).collect();
            let narrow: Vec<i32> = values.iter().map(|&value| value as i32).collect();
            let mut bytes = Vec::new();
            integers_64(&values, &mut bytes);
            let length = bytes.len();
            bytes.extend(&trailing);
            prop_assert_eq!(&decode::<i64>(&bytes, step).unwrap(), &(values.clone(), length));
            prop_assert_eq!(&decode::<i32>(&bytes, step).unwrap().0, &narrow, "differences of 64 bits in 32");
            bytes.clear();
            integers_32(&narrow.iter().map(|&value| value.into()).collect::<Vec<_>>(), &mut bytes);
            prop_assert_eq!(decode::<i32>(&bytes, step).unwrap().0, narrow);
            // More than two blocks, the last of which is missing.
            bytes.truncate(bytes.len() / 2);
            prop_assert!(decode::<i32>(&bytes, step).is_err() || values.len() <= 257);
        }

        #[test]
        fn any_bytes_are_rejected_or_decoded(bytes: Vec<u8>, step in 1usize..300) {
            let Ok(mut deltas) = Deltas::new(&bytes, 0) else { return Ok(()) };
            if deltas.remaining() < 1 << 16 {
                let _ = deltas.end(&bytes);
            }
            let _ = deltas.read(&bytes, step, &mut Vec::<i64>::new());
        }
    }

    #[test]
    fn impossible_block_sizes_are_rejected() {
        for [block, parts] in [[128, 0], [0, 4], [128, 3], [130, 2], [4, 1], [127, 127]] {
            assert!(Deltas::new(&[block, parts, 1, 0], 0).is_err(), "{block} in {parts}");
        }
        assert!(Deltas::new(&[8, 1, 1, 0], 0).is_ok());
        // A block of one miniblock of width 65.
        assert!(decode::<i64>(&[8, 1, 2, 0, 0, 65], 9).is_err());
    }
}
