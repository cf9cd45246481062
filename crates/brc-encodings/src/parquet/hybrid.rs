//! Parquet's RLE/bit-packing hybrid: how it stores dictionary codes and definition levels.
//!
//! A run of equal values is stored as its length and the value. Other values are bit-packed in groups of eight, each in
//! as many bits as the largest one needs, lowest bit first.

use super::thrift::bad_number;
use crate::columnar::Fault;
use crate::varint;
use brc_kernels::bitpack::unpack_consecutive;
use brc_kernels::cpu::Level;

/// The widest code, in bits.
const WIDEST: u32 = 32;
/// Values per group.
const GROUP: usize = 8;
/// The minimum length of a run that is stored as such.
const SHORTEST_RUN: usize = 2 * GROUP;

/// The number of bits for values up to `largest`.
pub(super) fn width_of(largest: u32) -> u32 {
    u32::BITS - largest.leading_zeros()
}

/// Calls the function compiled for each width.
macro_rules! of_width {
    (@ $width:expr, $function:ident $arguments:tt, $($each:literal)+) => {
        match $width {
            $($each => of_width!(# $function, $each, $arguments),)+
            _ => of_width!(# $function, 32, $arguments),
        }
    };
    (# $function:ident, $each:literal, ($($argument:expr),*)) => { $function::<$each>($($argument),*) };
    ($width:expr, $function:ident($($argument:expr),*)) => {
        of_width!(@ $width, $function($($argument),*),
            0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31)
    };
}

/// Appends values of up to `width` bits.
pub(super) fn encode(width: u32, values: &[u32], out: &mut Vec<u8>) {
    let (mut start, mut at) = (0, 0);
    while at < values.len() {
        let run = values[at..].iter().take_while(|value| **value == values[at]).count();
        if run >= SHORTEST_RUN {
            pack_run(width, &values[start..at], out);
            varint::push((run as u64) << 1, out);
            out.extend_from_slice(&values[at].to_le_bytes()[..width.div_ceil(8) as usize]);
            at += run;
            start = at;
        } else {
            // A run may begin inside a group; then its first values fill the group.
            at = (at + GROUP).min(values.len());
        }
    }
    pack_run(width, &values[start..], out);
}

fn pack_run(width: u32, values: &[u32], out: &mut Vec<u8>) {
    if !values.is_empty() {
        varint::push((values.len().div_ceil(GROUP) as u64) << 1 | 1, out);
        of_width!(width, pack(values, out));
    }
}

fn pack<const WIDTH: usize>(values: &[u32], out: &mut Vec<u8>) {
    out.reserve(values.len().div_ceil(GROUP) * WIDTH);
    for group in values.chunks(GROUP) {
        let mut full = [0; GROUP];
        full[..group.len()].copy_from_slice(group);
        let mut words = [0u64; 5];
        for (index, &value) in full.iter().enumerate() {
            let (word, shift) = (index * WIDTH / 64, index * WIDTH % 64);
            words[word] |= u64::from(value) << shift;
            if shift + WIDTH > 64 {
                words[word + 1] |= u64::from(value) >> (64 - shift);
            }
        }
        let mut bytes = [0; 40];
        for (bytes, word) in bytes.chunks_exact_mut(8).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        out.extend_from_slice(&bytes[..WIDTH]);
    }
}

/// A position in encoded values. Each call gets the bytes, which must always be the same.
#[derive(Debug)]
pub(super) struct Hybrid {
    width: u32,
    /// The offset of the next run.
    at: usize,
    run: Run,
}

#[derive(Debug, Clone, Copy)]
enum Run {
    Repeated {
        value: u32,
        left: usize,
    },
    Packed {
        /// The offset of its first group.
        start: usize,
        /// The number of its values that were read.
        read: usize,
        left: usize,
    },
}

impl Hybrid {
    /// The start of values of `width` bits at an offset.
    pub(super) fn new(width: u32, at: usize) -> Result<Self, Fault> {
        if width > WIDEST {
            return Err(Fault::corrupt(format!("values of {width} bits")));
        }
        Ok(Self { width, at, run: Run::Repeated { value: 0, left: 0 } })
    }

    /// Fills `out` with the next values.
    pub(super) fn read(&mut self, bytes: &[u8], mut out: &mut [u32]) -> Result<(), Fault> {
        while !out.is_empty() {
            let (done, rest) = match &mut self.run {
                Run::Repeated { left: 0, .. } | Run::Packed { left: 0, .. } => {
                    self.next_run(bytes)?;
                    continue;
                }
                Run::Repeated { value, left } => {
                    let (now, rest) = out.split_at_mut((*left).min(out.len()));
                    now.fill(*value);
                    *left -= now.len();
                    (now.len(), rest)
                }
                Run::Packed { start, read, left } => {
                    let (now, rest) = out.split_at_mut((*left).min(out.len()));
                    let packed = bytes.get(*start..).unwrap_or_default();
                    unpack_consecutive(Level::best(), self.width, packed, *read, 0, now);
                    *read += now.len();
                    *left -= now.len();
                    (now.len(), rest)
                }
            };
            debug_assert!(done > 0, "each round makes progress");
            out = rest;
        }
        Ok(())
    }

    /// Whether the next `count` one-bit values are all 1, as the definition levels of a column without nulls are.
    pub(super) fn all_ones(&mut self, bytes: &[u8], mut count: usize) -> Result<bool, Fault> {
        let mut values = [0; 1024];
        while count > 0 {
            match &mut self.run {
                Run::Repeated { value: 1, left } if *left > 0 => {
                    let now = (*left).min(count);
                    *left -= now;
                    count -= now;
                }
                _ => {
                    let now = &mut values[..count.min(1024)];
                    self.read(bytes, now)?;
                    if now.iter().any(|&value| value != 1) {
                        return Ok(false);
                    }
                    count -= now.len();
                }
            }
        }
        Ok(true)
    }

    fn next_run(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        let ends = || Fault::corrupt("a page ends before its last value");
        let mut rest = bytes.get(self.at..).ok_or_else(ends)?;
        let header = varint::take(&mut rest).and_then(|header| u32::try_from(header).ok()).ok_or_else(bad_number)?;
        self.at = bytes.len() - rest.len();
        let length = (header >> 1) as usize;
        if header & 1 == 0 {
            let size = self.width.div_ceil(8) as usize;
            let stored = bytes.get(self.at..self.at + size).ok_or_else(ends)?;
            let mut value = [0; 4];
            value[..size].copy_from_slice(stored);
            self.at += size;
            self.run = Run::Repeated { value: u32::from_le_bytes(value), left: length };
        } else {
            let (start, width) = (self.at, self.width as usize);
            // Some writers omit the bytes after the last value of a page.
            let size = length.saturating_mul(width).min(bytes.len().saturating_sub(start));
            let left = (size * 8).checked_div(width).unwrap_or(length.saturating_mul(GROUP));
            self.at = start + size;
            self.run = Run::Packed { start, read: 0, left };
        }
        if matches!(self.run, Run::Repeated { left: 0, .. } | Run::Packed { left: 0, .. }) {
            return Err(Fault::corrupt("a page has a run without values"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decode(width: u32, bytes: &[u8], counts: &[usize]) -> Result<Vec<u32>, Fault> {
        let mut hybrid = Hybrid::new(width, 0)?;
        let mut values = Vec::new();
        for &count in counts {
            let start = values.len();
            values.resize(start + count, 0);
            hybrid.read(bytes, &mut values[start..])?;
        }
        Ok(values)
    }

    proptest! {
        #[test]
        fn values_round_trip(
            width in 0u32..=32,
            runs in prop::collection::vec((any::<u32>(), 1usize..40, any::<bool>()), 0..30),
            step in 1usize..50,
        ) {
            let mask = if width == 32 { u32::MAX } else { (1 << width) - 1 };
            let mut values = Vec::new();
            for (value, length, equal) in runs {
                let next = |index: usize| if equal { value } else { value.wrapping_mul(index as u32 | 1) };
                values.extend((0..length).map(|index| next(index) & mask));
            }
            let mut bytes = Vec::new();
            encode(width, &values, &mut bytes);
            let mut counts = vec![step; values.len() / step];
            counts.push(values.len() % step);
            prop_assert_eq!(decode(width, &bytes, &counts).unwrap(), values);
        }

        #[test]
        fn any_bytes_are_rejected_or_decoded(width in 0u32..40, bytes: Vec<u8>, count in 0usize..300) {
            let _ = decode(width, &bytes, &[count]);
        }
    }

    #[test]
    fn runs_of_more_values_than_32_bits_count_are_refused() {
        let mut bytes = Vec::new();
        varint::push(u64::MAX, &mut bytes);
        bytes.extend_from_slice(&[0xff; 21]);
        assert!(decode(21, &bytes, &[8]).is_err());
    }

    #[test]
    fn runs_are_small_and_levels_are_checked() {
        let mut bytes = Vec::new();
        encode(1, &[1; 100_000], &mut bytes);
        assert!(bytes.len() < 6);
        assert!(Hybrid::new(1, 0).unwrap().all_ones(&bytes, 100_000).unwrap());
        assert!(Hybrid::new(1, 0).unwrap().all_ones(&bytes, 100_001).is_err());
        let mut levels = vec![1; 3000];
        levels[2999] = 0;
        bytes.clear();
        encode(1, &levels, &mut bytes);
        assert!(!Hybrid::new(1, 0).unwrap().all_ones(&bytes, 3000).unwrap());
        assert_eq!([0, 1, 2, 255, 256, u32::MAX].map(width_of), [0, 1, 2, 8, 9, 32]);
    }
}
