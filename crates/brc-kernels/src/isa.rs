//! Algorithms that are written once and compiled for each instruction set, in which only small steps differ.
//!
//! An instruction set is a marker type. The steps of an algorithm are a trait in that algorithm's module, which the
//! marker types implement; all of its functions are inlined into the one function here that enables the instructions.

use crate::cpu::Level;
use crate::structure::Blocks;
use crate::text::TextIsa;

/// An instruction set.
pub(crate) trait Isa: Blocks + TextIsa {}

/// The baseline instruction set of the target.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Portable;

/// All of [`Level::Neon`].
#[cfg(target_arch = "aarch64")]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Neon;

/// All of [`Level::Avx2`].
#[cfg(target_arch = "x86_64")]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Avx2;

/// All of [`Level::Avx512`].
#[cfg(target_arch = "x86_64")]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Avx512;

impl Isa for Portable {}
#[cfg(target_arch = "aarch64")]
impl Isa for Neon {}
#[cfg(target_arch = "x86_64")]
impl Isa for Avx2 {}
#[cfg(target_arch = "x86_64")]
impl Isa for Avx512 {}

/// An algorithm for any instruction set: a closure with a type parameter.
pub(crate) trait Work {
    type Output;

    /// Runs the algorithm. Must be inlined into its caller, and so must everything in it that should be compiled with
    /// the caller's instructions.
    ///
    /// # Safety
    /// The processor has the instructions of `I`.
    unsafe fn run<I: Isa>(self) -> Self::Output;
}

/// Runs an algorithm with the instructions of `level`, or of the best supported level if that is lower.
#[inline]
pub(crate) fn run_with<W: Work>(level: Level, work: W) -> W::Output {
    match level.min(Level::best()) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level is not above the best one that was detected.
        Level::Avx512 => unsafe { run_avx512(work) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: likewise.
        Level::Avx2 => unsafe { run_avx2(work) },
        #[cfg(target_arch = "aarch64")]
        // SAFETY: every processor of the target has these instructions.
        Level::Neon => unsafe { work.run::<Neon>() },
        // SAFETY: only instructions that all processors of the target have are used.
        _ => unsafe { work.run::<Portable>() },
    }
}

/// # Safety
/// The processor has all of [`Level::Avx512`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,vaes")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,popcnt,lzcnt,aes,pclmulqdq")]
unsafe fn run_avx512<W: Work>(work: W) -> W::Output {
    // SAFETY: promised by the caller.
    unsafe { work.run::<Avx512>() }
}

/// # Safety
/// The processor has all of [`Level::Avx2`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,popcnt,lzcnt,aes,pclmulqdq")]
unsafe fn run_avx2<W: Work>(work: W) -> W::Output {
    // SAFETY: promised by the caller.
    unsafe { work.run::<Avx2>() }
}
