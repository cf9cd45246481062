//! Algorithms that are written once and compiled for each set of instructions, in which only small steps differ.
//!
//! A set of instructions is a type without values. What it does for some algorithm is a trait of that algorithm's module, whose functions
//! are all inlined into the one function here that enables the instructions.

use crate::cpu::Level;
use crate::structure::Blocks;
use crate::text::TextIsa;

/// A set of instructions.
pub(crate) trait Isa: Blocks + TextIsa {}

/// What the compiler makes of plain Rust.
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

/// Something done with any set of instructions: a closure with a type parameter.
pub(crate) trait Work {
    type Output;

    /// Does it; must be inlined into its caller, as everything in it that should be compiled with the caller's instructions.
    ///
    /// # Safety
    /// The processor has the instructions of `I`.
    unsafe fn run<I: Isa>(self) -> Self::Output;
}

/// Does it with the instructions of `level`, or of the best level there is if that is lower.
#[inline]
pub(crate) fn run_with<W: Work>(level: Level, work: W) -> W::Output {
    match level.min(Level::best()) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level is not above the best one that was detected, so its instructions are there.
        Level::Avx512 => unsafe { run_avx512(work) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: likewise.
        Level::Avx2 => unsafe { run_avx2(work) },
        #[cfg(target_arch = "aarch64")]
        // SAFETY: every processor of the target has them.
        Level::Neon => unsafe { work.run::<Neon>() },
        // SAFETY: it needs no instructions but those that all processors of the target have.
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
