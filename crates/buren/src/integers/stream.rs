//! Streams: integers packed in one width, with a few *exceptions*. The blocks of most schemes consist of streams.
//!
//! All integers except the exceptions share a frame of reference and a width; the row numbers and values of the
//! exceptions follow. So a few outliers do not widen all other integers.

use super::spread::{PackedRange, Spread};
use super::{BLOCK_ROWS, GROUP_ROWS};
use crate::integer_slice::{IntegerSlice, for_widths};
use crate::malformed::{Malformed, Result, take, take_array};
use crate::slots::with_slots;
use brc_core::Run;
use brc_core::bounds::bounds;
use brc_kernels::arithmetic::{Integer, add_by_run};
use brc_kernels::bitpack::{pack, packed_bytes, unpack, unpack_codes, width_of};
use brc_kernels::cpu::Level;
use brc_kernels::filter;

/// The size of the header: frame (8), width (1), bytes per exception (1), zeros (2), number of exceptions (4).
pub(super) const HEADER_BYTES: u64 = 16;

/// The estimated size in bytes of a stream of integers with this distribution.
pub(super) fn estimate(spread: &Spread) -> u64 {
    HEADER_BYTES + spread.best().bytes
}

/// Appends a stream of these integers, at most [`BLOCK_ROWS`].
pub(super) fn write<'a>(values: impl Into<IntegerSlice<'a>>, out: &mut Vec<u8>) {
    let values = values.into();
    write_range(values, &Spread::of(values).best(), out);
}

/// Like [`write()`], with a known packed range.
pub(super) fn write_range(values: IntegerSlice<'_>, best: &PackedRange, out: &mut Vec<u8>) {
    if best.is_full {
        return write_packed(values, best.frame, best.width, &Exceptions::default(), out);
    }
    let full = Spread::of(values).full();
    let exceptions = Exceptions::of(values, best.frame, best.width);
    // The sample may have missed exceptions.
    if exceptions.bytes() + packed_bytes(best.width, values.len() as u64).unwrap_or(u64::MAX) < full.bytes {
        return write_packed(values, best.frame, best.width, &exceptions, out);
    }
    write_packed(values, full.frame, full.width, &Exceptions::default(), out);
}

fn write_packed(values: IntegerSlice<'_>, frame: i64, width: u32, exceptions: &Exceptions, out: &mut Vec<u8>) {
    out.extend_from_slice(&frame.to_le_bytes());
    out.extend_from_slice(&[width as u8, exceptions.width as u8, 0, 0]);
    out.extend_from_slice(&(exceptions.positions.len() as u32).to_le_bytes());
    let runs = [one_run(values.len())];
    for_widths!(values, values => pack(Level::best(), width, values, &runs, &[frame], out));
    exceptions.write(out);
}

fn one_run(rows: usize) -> Run {
    Run { code: 0, rows: rows as u32 }
}

#[derive(Debug, Default)]
struct Exceptions {
    positions: Vec<u16>,
    values: Vec<i64>,
    /// The minimum of the values.
    frame: i64,
    /// The bytes per value, stored as the difference from `frame`.
    width: u32,
}

impl Exceptions {
    fn of(values: IntegerSlice<'_>, frame: i64, width: u32) -> Self {
        let (first, last) = (i128::from(frame), i128::from(frame) + (1 << width) - 1);
        let mut mask = vec![0; filter::words(values.len())];
        filter::range(Level::best(), values.into(), first, last, &mut mask);
        mask.iter_mut().for_each(|word| *word = !*word);
        let mut rows = Vec::new();
        filter::row_numbers(Level::best(), &mask, &mut rows);
        rows.truncate(rows.partition_point(|&row| (row as usize) < values.len()));
        let positions = rows.iter().map(|&row| row as u16).collect();
        let values: Vec<_> = rows.iter().map(|&row| values.get(row as usize)).collect();
        let (frame, last) = bounds(&values).unwrap_or((0, 0));
        let range = last.wrapping_sub(frame) as u64;
        Self { positions, values, frame, width: width_of(range).div_ceil(8) }
    }

    fn bytes(&self) -> u64 {
        8 + self.positions.len() as u64 * (2 + u64::from(self.width))
    }

    fn write(&self, out: &mut Vec<u8>) {
        if self.positions.is_empty() {
            return;
        }
        out.extend_from_slice(&self.frame.to_le_bytes());
        self.positions.iter().for_each(|position| out.extend_from_slice(&position.to_le_bytes()));
        write_short(self.values.iter().map(|value| value.wrapping_sub(self.frame) as u64), self.width as usize, out);
    }
}

/// Appends the lowest `width` bytes of each integer.
pub(super) fn write_short(values: impl Iterator<Item = u64>, width: usize, out: &mut Vec<u8>) {
    for value in values {
        out.extend_from_slice(&value.to_le_bytes()[..width]);
    }
}

/// The integer of `width` bytes (at most 8) at `index`; `None` after the last.
pub(super) fn read_short(bytes: &[u8], width: usize, index: usize) -> Option<u64> {
    let start = index * width;
    if let Some(eight) = bytes.get(start..).and_then(<[u8]>::first_chunk) {
        // Usually more bytes follow than are needed.
        return Some(u64::from_le_bytes(*eight) & u64::MAX.checked_shr(64 - 8 * width as u32).unwrap_or(0));
    }
    let mut eight = [0; 8];
    eight[..width].copy_from_slice(bytes.get(start..start + width)?);
    Some(u64::from_le_bytes(eight))
}

/// A stream with random access by group.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stream<'a> {
    frame: i64,
    width: u32,
    packed: &'a [u8],
    exceptions: Option<StoredExceptions<'a>>,
}

#[derive(Debug, Clone, Copy)]
struct StoredExceptions<'a> {
    frame: i64,
    width: usize,
    /// The row numbers, ascending.
    positions: &'a [[u8; 2]],
    values: &'a [u8],
}

impl<'a> Stream<'a> {
    /// Takes a stream of `count` integers off the front of `bytes`.
    pub(super) fn take(bytes: &mut &'a [u8], count: usize) -> Result<Self> {
        let frame = i64::from_le_bytes(take_array(bytes)?);
        let [width, exception_width, 0, 0] = take_array(bytes)? else {
            return Err(Malformed("its reserved bytes are not zero"));
        };
        let exceptions = u32::from_le_bytes(take_array(bytes)?) as usize;
        let idle_width = exceptions == 0 && exception_width != 0;
        if count > BLOCK_ROWS || exceptions > count || exception_width > 8 || idle_width {
            return Err(Malformed("its packed integers are of an impossible size"));
        }
        let length = packed_bytes(width.into(), count as u64).and_then(|bytes| usize::try_from(bytes).ok());
        let packed = take(bytes, length.ok_or(Malformed("its packed integers are wider than 64 bits"))?)?;
        let exceptions = match exceptions {
            0 => None,
            _ => Some(StoredExceptions {
                frame: i64::from_le_bytes(take_array(bytes)?),
                width: exception_width.into(),
                positions: take(bytes, 2 * exceptions)?.as_chunks().0,
                values: take(bytes, exceptions * usize::from(exception_width))?,
            }),
        };
        Ok(Self { frame, width: width.into(), packed, exceptions })
    }

    /// Whether all integers are known to fit an `i32`.
    pub(super) fn is_narrow(&self) -> bool {
        let fits = |value: i128| i32::try_from(value).is_ok();
        let frame = i128::from(self.frame);
        self.exceptions.is_none() && fits(frame) && fits(frame + (1 << self.width) - 1)
    }

    /// Reads `out.len()` integers from index `first` on, which the stream must have. Integers wider than `T` are
    /// truncated.
    pub(super) fn read<T: Integer>(&self, first: usize, out: &mut [T]) -> Result<()> {
        if self.width <= T::BITS {
            unpack(Level::best(), self.width, self.packed, first, &[one_run(out.len())], &[self.frame], out);
        } else {
            self.read_wide(first, out);
        }
        self.exceptions.map_or(Ok(()), |exceptions| exceptions.patch(first, out, |_, value| value))
    }

    /// Like [`Stream::read`], and adds `smallest[run.code]` to the integers of each run.
    pub(super) fn read_in_runs<T: Integer>(
        &self,
        first: usize,
        runs: &[Run],
        smallest: &[i64],
        out: &mut [T],
    ) -> Result<()> {
        /// The number of runs of a batch that need no heap memory.
        const RUNS_ON_STACK: usize = 64;
        let of_run = |run: &Run| smallest[run.code as usize];
        if self.width <= T::BITS {
            with_slots::<_, RUNS_ON_STACK, _>(runs.len(), self.frame, |bases| {
                bases.iter_mut().zip(runs).for_each(|(base, run)| *base = base.wrapping_add(of_run(run)));
                unpack(Level::best(), self.width, self.packed, first, runs, bases, out);
            });
        } else {
            self.read_wide(first, out);
            add_by_run(Level::best(), out, runs, smallest);
        }
        let Some(exceptions) = self.exceptions else { return Ok(()) };
        let (mut ends, mut end, mut least) = (runs.iter(), 0, 0);
        exceptions.patch(first, out, |row, value| {
            while row >= end
                && let Some(run) = ends.next()
            {
                (end, least) = (end + run.rows as usize, of_run(run));
            }
            value.wrapping_add(least)
        })
    }

    /// Like [`Stream::read`], for codes. Returns the largest code as unsigned, if decoding computes it anyway.
    pub(super) fn read_codes(&self, first: usize, out: &mut [i32]) -> Result<Option<u32>> {
        // The packed values at exceptions are not codes.
        if self.exceptions.is_some() || self.width > u32::BITS || out.is_empty() {
            return self.read(first, out).map(|()| None);
        }
        Ok(Some(unpack_codes(Level::best(), self.width, self.packed, first, self.frame, out)))
    }

    fn read_wide<T: Integer>(&self, first: usize, out: &mut [T]) {
        let mut wide = [0i64; GROUP_ROWS];
        for (index, out) in out.chunks_mut(GROUP_ROWS).enumerate() {
            let wide = &mut wide[..out.len()];
            let first = first + index * GROUP_ROWS;
            unpack(Level::best(), self.width, self.packed, first, &[one_run(wide.len())], &[self.frame], wide);
            out.iter_mut().zip(wide).for_each(|(out, wide)| *out = T::cut(*wide));
        }
    }
}

impl StoredExceptions<'_> {
    /// Writes the exceptions to `out`; `value` computes the final value from the row in `out` and the stored value.
    fn patch<T: Integer>(&self, first: usize, out: &mut [T], mut value: impl FnMut(usize, i64) -> i64) -> Result<()> {
        patch(self.positions, first, out, |row, index| {
            let short = read_short(self.values, self.width, index).unwrap_or(0);
            T::cut(value(row, self.frame.wrapping_add(short as i64)))
        })
    }
}

/// Overwrites the exceptions in `out`, which starts at row `first`. `positions` ascend; `value` computes the value from
/// the row in `out` and the index of the exception.
pub(crate) fn patch<T>(
    positions: &[[u8; 2]],
    first: usize,
    out: &mut [T],
    mut value: impl FnMut(usize, usize) -> T,
) -> Result<()> {
    let position = |stored: &[u8; 2]| usize::from(u16::from_le_bytes(*stored));
    let start = positions.partition_point(|stored| position(stored) < first);
    for (index, stored) in positions.iter().enumerate().skip(start) {
        let row = position(stored).checked_sub(first).ok_or(Malformed("its exceptions are out of order"))?;
        let Some(out) = out.get_mut(row) else { break };
        *out = value(row, index);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check<T: Integer>(stream: &Stream<'_>, values: &[i64], first: usize) {
        let mut back = vec![T::default(); values.len() - first];
        stream.read(first, &mut back).unwrap();
        let expected: Vec<_> = values[first..].iter().map(|&value| T::cut(value)).collect();
        assert_eq!(back, expected);
    }

    proptest! {
        #[test]
        fn round_trips(
            near in prop::collection::vec(any::<i64>(), 1..3000),
            shift in 0u32..64,
            far in prop::collection::vec((any::<prop::sample::Index>(), any::<i64>()), 0..20),
            far_shift in 0u32..64,
            first: prop::sample::Index,
        ) {
            let mut values: Vec<_> = near.iter().map(|value| value >> shift).collect();
            for (row, value) in far {
                let row = row.index(values.len());
                values[row] = value >> far_shift;
            }
            let mut bytes = Vec::new();
            write(&values, &mut bytes);
            bytes.push(7);
            let mut rest = bytes.as_slice();
            let stream = Stream::take(&mut rest, values.len()).unwrap();
            prop_assert_eq!(rest, [7]);
            let first = first.index(values.len());
            check::<i16>(&stream, &values, first);
            check::<i32>(&stream, &values, first);
            check::<i64>(&stream, &values, first);
            prop_assert!(!stream.is_narrow() || values.iter().all(|&value| i32::try_from(value).is_ok()));
            // As if each of them were some more, by runs.
            let runs: Vec<Run> = (0..).zip((first..values.len()).step_by(100)).map(|(code, start)| {
                Run { code: code % 3, rows: (values.len() - start).min(100) as u32 }
            }).collect();
            let smallest = [7, -5, i64::MAX];
            let more = values[first..].iter().zip(runs.iter().flat_map(|run| vec![smallest[run.code as usize]; run.rows as usize]));
            let expected: Vec<i64> = more.map(|(value, more)| value.wrapping_add(more)).collect();
            let (mut wide, mut narrow) = (vec![0i64; expected.len()], vec![0i16; expected.len()]);
            stream.read_in_runs(first, &runs, &smallest, &mut wide).unwrap();
            stream.read_in_runs(first, &runs, &smallest, &mut narrow).unwrap();
            prop_assert_eq!(&wide, &expected);
            prop_assert!(narrow.iter().zip(&expected).all(|(narrow, value)| *narrow == *value as i16));
            let mut codes = vec![0; values.len() - first];
            let largest = stream.read_codes(first, &mut codes).unwrap();
            let expected: Vec<_> = values[first..].iter().map(|&value| value as i32).collect();
            prop_assert_eq!(&codes, &expected);
            let is_found = stream.exceptions.is_none() && stream.width <= 32;
            prop_assert_eq!(largest, expected.iter().map(|&code| code as u32).max().filter(|_| is_found));
        }

        #[test]
        fn any_bytes_are_refused_or_read(
            mut bytes in prop::collection::vec(any::<u8>(), 12..600),
            width in 0u8..70,
            exceptions in 0u32..40,
            count in 0usize..3000,
            first: prop::sample::Index,
        ) {
            bytes[8..12].copy_from_slice(&[width, width % 11, 0, 0]);
            bytes.splice(12..12, exceptions.to_le_bytes());
            if let Ok(stream) = Stream::take(&mut bytes.as_slice(), count) {
                let first = first.index(count + 1);
                let _ = stream.read(first, &mut vec![0i16; count - first]);
                let _ = stream.read(first, &mut vec![0i64; count - first]);
                let _ = stream.read_codes(first, &mut vec![0; count - first]);
            }
        }
    }

    #[test]
    fn streams_that_fit_32_bits_are_narrow() {
        let is_narrow = |values: &[i64]| {
            let mut bytes = Vec::new();
            write(values, &mut bytes);
            Stream::take(&mut bytes.as_slice(), values.len()).unwrap().is_narrow()
        };
        let (min, max) = (i64::from(i32::MIN), i64::from(i32::MAX));
        for values in [&[min, max][..], &[min], &[max], &[max - 255, max], &[0; 70], &[]] {
            assert!(is_narrow(values), "{values:?}");
        }
        for values in [&[min - 1][..], &[max + 1], &[max - 254, max + 1], &[i64::MIN, i64::MAX], &[min - 1, max]] {
            assert!(!is_narrow(values), "{values:?}");
        }
        let mut exceptions = [5; 1000];
        exceptions[7] = 1 << 40;
        assert!(!is_narrow(&exceptions));
    }

    /// The example of the specification.
    #[test]
    fn equal_exceptions_take_only_their_positions() {
        let values: Vec<i64> = (0..65_536).map(|row| if row % 100 == 7 { -1 << 40 } else { row % 256 }).collect();
        let mut bytes = Vec::new();
        write(&values, &mut bytes);
        assert_eq!(bytes.len(), 16 + 65_536 + 8 + 2 * 656);
        assert_eq!(bytes[..16], [0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0x90, 2, 0, 0]);
        assert_eq!(bytes[16 + 65_536..][..12], [0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 7, 0, 107, 0]);
    }
}
