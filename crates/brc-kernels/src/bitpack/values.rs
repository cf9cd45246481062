//! Frame of reference: signed values packed as their differences from the base of their run.

use super::lanes::{GROUP, LANE_ROW_BYTES, Lane, lane_bits, packed_bytes};
use crate::cpu::{Kernel, Level, run_at};
use brc_core::Run;

/// An integer that can be packed: signed with 16, 32 or 64 bits, or unsigned with 32.
#[allow(private_bounds, reason = "which integers there are is decided here")]
pub trait Value: ByLane {}

impl Value for i16 {}
impl Value for i32 {}
impl Value for i64 {}
impl Value for u32 {}

/// Appends the differences of `values` from the bases of their runs, packed in `width` bits each.
///
/// The rows of `runs` are as many as there are values; their codes are ignored. Bits of a difference above `width` are
/// lost.
///
/// # Panics
/// If the numbers of rows and values, or of bases and runs, differ, or a value has fewer bits than `width`.
pub fn pack<V: Value>(level: Level, width: u32, values: &[V], runs: &[Run], bases: &[i64], packed: &mut Vec<u8>) {
    let start = packed.len();
    packed.resize(start + packed_length(width, values.len()), 0);
    V::pack(level, width, values, Frames::new(runs, bases, values.len()), &mut packed[start..]);
}

/// Unpacks values from index `first` of `packed` on, as many as fit in `values`, and adds the bases of their runs.
///
/// `runs` are those of the requested values, as in [`pack`]. All arithmetic wraps.
///
/// # Panics
/// If the numbers of rows and values, or of bases and runs, differ, a value has fewer bits than `width`, or `packed`
/// has fewer than [`packed_bytes`] for all values up to the last requested one.
pub fn unpack<V: Value>(
    level: Level,
    width: u32,
    packed: &[u8],
    first: usize,
    runs: &[Run],
    bases: &[i64],
    values: &mut [V],
) {
    assert!(packed.len() >= packed_length(width, first + values.len()), "all values up to the last one wanted");
    let frames = Frames::new(runs, bases, values.len());
    V::unpack(level, width, packed, first, frames, values);
}

/// [`packed_bytes`] as a `usize`; `usize::MAX`, which no slice can have, if the size does not fit.
pub(super) fn packed_length(width: u32, count: usize) -> usize {
    packed_bytes(width, count as u64).and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(usize::MAX)
}

/// A value type that is packed in the lane that the width requires.
pub(super) trait ByLane: Copy + Default {
    fn pack(level: Level, width: u32, values: &[Self], frames: Frames<'_>, packed: &mut [u8]);

    fn unpack(level: Level, width: u32, packed: &[u8], first: usize, frames: Frames<'_>, values: &mut [Self]);
}

macro_rules! by_lane {
    ($value:ident: $($bits:literal $lane:ident)+) => {
        impl ByLane for $value {
            fn pack(level: Level, width: u32, values: &[Self], frames: Frames<'_>, packed: &mut [u8]) {
                match lane_bits(width) {
                    $($bits => run_at(level, Pack::<$lane, _> { width, values, frames, packed, lane: Default::default() }),)+
                    bits => panic!("differences of {bits} bits of narrower values"),
                }
            }

            fn unpack(level: Level, width: u32, packed: &[u8], first: usize, frames: Frames<'_>, values: &mut [Self]) {
                match lane_bits(width) {
                    $($bits => run_at(level, Unpack::<$lane, _> { width, packed, first, frames, values, lane: Default::default() }),)+
                    bits => panic!("differences of {bits} bits of narrower values"),
                }
            }
        }
        $(narrow!($value $lane);)+
    };
}

/// A value type whose differences are packed in lanes of type `L`, which is not wider.
trait Narrow<L>: Copy {
    /// `base + lane`, wrapping.
    fn rebase(lane: L, base: i64) -> Self;

    /// `self - base`, truncated to the lane.
    fn unbase(self, base: i64) -> L;

    /// The base in the type of the lane.
    fn lane(base: i64) -> L;

    /// The values as lanes, if they have the same width.
    fn as_lanes(values: &mut [Self; GROUP]) -> Option<&mut [L; GROUP]>;
}

macro_rules! narrow {
    ($value:ident $lane:ident) => {
        impl Narrow<$lane> for $value {
            #[inline(always)]
            fn rebase(lane: $lane, base: i64) -> Self {
                (base as $value).wrapping_add(lane as $value)
            }

            #[inline(always)]
            fn unbase(self, base: i64) -> $lane {
                self.wrapping_sub(base as $value) as $lane
            }

            #[inline(always)]
            fn lane(base: i64) -> $lane {
                base as $lane
            }

            #[inline(always)]
            fn as_lanes(values: &mut [Self; GROUP]) -> Option<&mut [$lane; GROUP]> {
                // SAFETY: integers of the same size have the same alignment, and every bit pattern is valid for both.
                ($value::BITS == $lane::BITS).then(|| unsafe { &mut *std::ptr::from_mut(values).cast() })
            }
        }
    };
}

by_lane!(i16: 16 u16);
by_lane!(i32: 16 u16 32 u32);
by_lane!(i64: 16 u16 32 u32 64 u64);
by_lane!(u32: 16 u16 32 u32);

/// A cursor over runs and their bases.
pub(super) struct Frames<'a> {
    runs: std::iter::Zip<std::slice::Iter<'a, Run>, std::slice::Iter<'a, i64>>,
    base: i64,
    left: usize,
}

impl<'a> Frames<'a> {
    fn new(runs: &'a [Run], bases: &'a [i64], values: usize) -> Self {
        assert_eq!(runs.len(), bases.len(), "as many bases as runs");
        let rows: usize = runs.iter().map(|run| run.rows as usize).sum();
        assert_eq!(rows, values, "as many rows as values");
        Self { runs: runs.iter().zip(bases), base: 0, left: 0 }
    }

    /// The base of the next rows, and how many of them, up to `most`, have it.
    #[inline(always)]
    fn next(&mut self, most: usize) -> (i64, usize) {
        let rows = self.peek().min(most);
        self.left -= rows;
        (self.base, rows)
    }

    /// The number of next rows with the same base.
    #[inline(always)]
    fn peek(&mut self) -> usize {
        while self.left == 0
            && let Some((run, base)) = self.runs.next()
        {
            (self.base, self.left) = (*base, run.rows as usize);
        }
        self.left
    }
}

struct Pack<'a, L, V> {
    width: u32,
    values: &'a [V],
    frames: Frames<'a>,
    packed: &'a mut [u8],
    lane: std::marker::PhantomData<L>,
}

impl<L: Lane, V: Narrow<L>> Kernel for Pack<'_, L, V> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        let mut packed = self.packed;
        let mut group = [L::default(); GROUP];
        for values in self.values.chunks(GROUP) {
            group[values.len()..].fill(L::default());
            by_run(&mut self.frames, values, &mut group[..values.len()], V::unbase);
            let (of_group, rest) = packed.split_at_mut(packed.len().min(self.width as usize * LANE_ROW_BYTES));
            L::pack_group(self.width, &group, of_group);
            packed = rest;
        }
    }
}

struct Unpack<'a, L, V> {
    width: u32,
    packed: &'a [u8],
    first: usize,
    frames: Frames<'a>,
    values: &'a mut [V],
    lane: std::marker::PhantomData<L>,
}

impl<L: Lane, V: Narrow<L>> Kernel for Unpack<'_, L, V> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { width, packed, first, mut frames, values, .. } = self;
        // Allocated lazily: many calls do not need it.
        let mut lanes = None;
        let mut groups = PackedGroups::new(width, packed, first, values);
        while let Some((packed, skipped, values)) = groups.next() {
            // A whole group within one run is unpacked directly into values that are as wide as the lanes.
            let one_run = frames.peek() >= GROUP;
            let direct = values.first_chunk_mut::<GROUP>().filter(|_| one_run).and_then(V::as_lanes);
            if let Some(direct) = direct {
                L::unpack_group(width, packed, V::lane(frames.next(GROUP).0), direct);
            } else {
                let lanes = lanes.get_or_insert_with(|| [L::default(); GROUP]);
                L::unpack_group(width, packed, L::default(), lanes);
                by_run(&mut frames, &lanes[skipped..skipped + values.len()], values, V::rebase);
            }
        }
    }
}

/// A cursor over the groups from some row on. It returns borrows of itself, and so is not an iterator.
pub(super) struct PackedGroups<'a, V> {
    /// The number of bytes of a full group.
    bytes: usize,
    /// The remaining input.
    packed: &'a [u8],
    /// The number of values of the next group before the first requested one.
    skipped: usize,
    /// The remaining output.
    values: &'a mut [V],
    /// The last group, padded with zeros.
    padded: Vec<u8>,
}

impl<'a, V> PackedGroups<'a, V> {
    #[inline(always)]
    pub(super) fn new(width: u32, packed: &'a [u8], first: usize, values: &'a mut [V]) -> Self {
        let bytes = width as usize * LANE_ROW_BYTES;
        Self { bytes, packed: &packed[first / GROUP * bytes..], skipped: first % GROUP, values, padded: Vec::new() }
    }

    /// The bytes of the next group, the number of its values to skip, and the output for those after them.
    #[inline(always)]
    pub(super) fn next(&mut self) -> Option<(&[u8], usize, &mut [V])> {
        if self.values.is_empty() {
            return None;
        }
        let skipped = std::mem::take(&mut self.skipped);
        let most = self.values.len().min(GROUP - skipped);
        let (values, others) = std::mem::take(&mut self.values).split_at_mut(most);
        self.values = others;
        let packed = match self.packed.split_at_checked(self.bytes) {
            Some((packed, rest)) => {
                self.packed = rest;
                packed
            }
            None => {
                self.padded = padded(self.packed, self.bytes);
                &self.padded
            }
        };
        Some((packed, skipped, values))
    }
}

/// Pads a last group that is not full with zeros. Few calls have one, so the largest buffer is not allocated and
/// cleared in each.
#[inline(never)]
fn padded(packed: &[u8], bytes: usize) -> Vec<u8> {
    let mut full = Vec::with_capacity(bytes);
    full.extend_from_slice(packed);
    full.resize(bytes, 0);
    full
}

/// The number of values that are computed at once. Short runs are rounded up to it: what is written past the end of a
/// run is overwritten by the next one, and so no run has a slow tail.
const STEP: usize = 32;

/// The minimum number of rows of a run that is processed in one loop, which is the fastest except for its tail.
const MIN_LONG_RUN: usize = 8 * STEP;

/// Computes each output from its input and the base of its run.
#[inline(always)]
fn by_run<A: Copy, B: Copy>(frames: &mut Frames<'_>, input: &[A], output: &mut [B], step: impl Fn(A, i64) -> B) {
    let mut start = 0;
    while start < input.len() {
        let (base, rows) = frames.next(input.len() - start);
        if rows >= MIN_LONG_RUN {
            for (output, input) in output[start..start + rows].iter_mut().zip(&input[start..start + rows]) {
                *output = step(*input, base);
            }
            start += rows;
            continue;
        }
        let mut at = start;
        while at < start + rows {
            if let (Some(input), Some(output)) = (input[at..].first_chunk(), output[at..].first_chunk_mut()) {
                let mut stepped: [B; STEP] = *output;
                for (output, input) in stepped.iter_mut().zip::<&[A; STEP]>(input) {
                    *output = step(*input, base);
                }
                *output = stepped;
            } else {
                for (output, input) in output[at..].iter_mut().zip(&input[at..]) {
                    *output = step(*input, base);
                }
            }
            at += STEP;
        }
        start += rows;
    }
}
