//! Frames of reference: adding and subtracting the base of each run.

use super::lanes::Lane;
use super::{Kernel, run_at};
use crate::cpu::Level;
use brc_core::Run;

/// A signed value that lanes of type `L`, not wider than itself, become.
pub trait Narrow<L: Lane>: Copy + Send + Sync + 'static {
    /// `base + lane`, wrapping.
    fn rebase(lane: L, base: i64) -> Self;

    /// `self - base`, cut to the lane.
    fn unbase(self, base: i64) -> L;
}

macro_rules! narrow {
    ($($lane:ident => $value:ident;)+) => {$(
        impl Narrow<$lane> for $value {
            #[inline(always)]
            fn rebase(lane: $lane, base: i64) -> Self {
                (base as $value).wrapping_add(lane as $value)
            }

            #[inline(always)]
            fn unbase(self, base: i64) -> $lane {
                self.wrapping_sub(base as $value) as $lane
            }
        }
    )+};
}

narrow! {
    u16 => i16;
    u16 => i32;
    u16 => i64;
    u32 => i32;
    u32 => i64;
    u64 => i64;
}

/// Turns unpacked values into signed ones: those of run *k* by adding `bases[k]`, wrapping.
///
/// Only the lengths of `runs` count, not their codes.
///
/// # Panics
/// If the three lengths differ: `lanes`, `values`, and the rows of `runs`; or those of `runs` and `bases`.
pub fn rebase<L: Lane, V: Narrow<L>>(level: Level, lanes: &[L], runs: &[Run], bases: &[i64], values: &mut [V]) {
    run_at(level, ByRun { input: lanes, runs, bases, output: values, step: V::rebase });
}

/// The reverse of [`rebase`]: subtracts `bases[k]` from the values of run *k* and keeps what fits the lane.
///
/// # Panics
/// As [`rebase`].
pub fn unbase<L: Lane, V: Narrow<L>>(level: Level, values: &[V], runs: &[Run], bases: &[i64], lanes: &mut [L]) {
    run_at(level, ByRun { input: values, runs, bases, output: lanes, step: V::unbase });
}

struct ByRun<'a, A, B, F> {
    input: &'a [A],
    runs: &'a [Run],
    bases: &'a [i64],
    output: &'a mut [B],
    step: F,
}

/// How many values are computed at once. Short runs are rounded up to it: what is written past the end of a run is
/// overwritten by the next one, and so no run has a slow tail.
const STEP: usize = 32;

impl<A: Copy, B: Copy, F: Fn(A, i64) -> B> Kernel for ByRun<'_, A, B, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { input, runs, bases, output, step } = self;
        assert_eq!(input.len(), output.len(), "as many values as lanes");
        assert_eq!(runs.len(), bases.len(), "as many bases as runs");
        let mut start = 0;
        for (run, &base) in runs.iter().zip(bases) {
            let end = start + run.rows as usize;
            let mut at = start;
            while at < end {
                match (input[at..].first_chunk::<STEP>(), output[at..].first_chunk_mut::<STEP>()) {
                    (Some(input), Some(output)) => {
                        let mut stepped = *output;
                        for (output, input) in stepped.iter_mut().zip(input) {
                            *output = step(*input, base);
                        }
                        *output = stepped;
                    }
                    _ => {
                        for (output, input) in output[at..].iter_mut().zip(&input[at..]) {
                            *output = step(*input, base);
                        }
                    }
                }
                at += STEP;
            }
            start = end;
        }
        assert_eq!(start, input.len(), "as many rows as values");
    }
}
