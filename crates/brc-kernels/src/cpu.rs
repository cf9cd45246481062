//! Which instruction set to use: found out once, when the program runs, so that one binary is fast everywhere.

use std::sync::OnceLock;

/// A set of instructions that kernels have variants for. Later ones include what earlier ones can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// What every processor of the target has: SSE2 on x86-64, NEON on AArch64 (the compiler vectorises with it).
    Portable,
    /// AVX2, BMI1, BMI2, POPCNT, LZCNT, AES and PCLMULQDQ on x86-64.
    Avx2,
    /// Additionally AVX-512 F, BW, CD, DQ, VL, VBMI and VBMI2, and VAES, as from Ice Lake and Zen 4.
    Avx512,
}

impl Level {
    /// All levels that this processor has, [`Level::Portable`] first.
    #[must_use]
    pub fn available() -> Vec<Self> {
        [Self::Portable, Self::Avx2, Self::Avx512].into_iter().filter(|&level| level <= Self::best()).collect()
    }

    /// The highest level that this processor has. Having it in hand proves that its instructions are there, as long as
    /// nobody makes up a level above it; kernels therefore take the lower of the two.
    #[must_use]
    pub fn best() -> Self {
        static BEST: OnceLock<Level> = OnceLock::new();
        *BEST.get_or_init(detect)
    }

    /// Its name, as reports show it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Portable if cfg!(target_arch = "aarch64") => "neon",
            Self::Portable => "portable",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn detect() -> Level {
    let avx2 = is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("popcnt")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("aes")
        && is_x86_feature_detected!("pclmulqdq");
    let avx512 = is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512cd")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512vbmi")
        && is_x86_feature_detected!("avx512vbmi2")
        && is_x86_feature_detected!("vaes");
    match (avx2, avx512) {
        (true, true) => Level::Avx512,
        (true, false) => Level::Avx2,
        (false, _) => Level::Portable,
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn detect() -> Level {
    Level::Portable
}

/// 0, 1, 2 … 63: the place of each byte in the widest register.
#[cfg(target_arch = "x86_64")]
pub(crate) static PLACES: [u8; 64] = {
    let mut places = [0; 64];
    let mut at = 0;
    while at < 64 {
        places[at] = at as u8;
        at += 1;
    }
    places
};

/// A loop that is compiled once for each instruction set.
pub(crate) trait Kernel {
    type Output;

    /// Must be inlined into its caller to be compiled with the caller's instruction set.
    fn run(self) -> Self::Output;
}

/// Runs a kernel with the instructions of `level`, or of the best level there is if that is lower.
#[inline]
pub(crate) fn run_at<K: Kernel>(level: Level, kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    match level.min(Level::best()) {
        // SAFETY: `Level::best` found these instructions on this processor.
        Level::Avx512 => return unsafe { run_avx512(kernel) },
        // SAFETY: as above.
        Level::Avx2 => return unsafe { run_avx2(kernel) },
        Level::Portable => {}
    }
    let _ = level;
    kernel.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx2,bmi1,bmi2")]
fn run_avx512<K: Kernel>(kernel: K) -> K::Output {
    kernel.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2")]
fn run_avx2<K: Kernel>(kernel: K) -> K::Output {
    kernel.run()
}
