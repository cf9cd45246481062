//! The instruction set to use, detected once at run time, so that one binary is fast everywhere.

use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

/// An instruction set that kernels have variants for. Within an architecture, later levels include earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The baseline instruction set of the target; on x86-64 that is SSE2.
    Portable,
    /// NEON, which every AArch64 processor has.
    Neon,
    /// AVX2, FMA, BMI1, BMI2, POPCNT, LZCNT, AES and PCLMULQDQ on x86-64.
    Avx2,
    /// Additionally AVX-512 F, BW, CD, DQ, VL, VBMI and VBMI2, and VAES, as from Ice Lake and Zen 4.
    Avx512,
}

/// An unknown name of a level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownLevel(String);

impl fmt::Display for UnknownLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Level::ALL.map(Level::name).join(", ");
        write!(f, "'{}' is no set of instructions; there are {names}", self.0)
    }
}

impl std::error::Error for UnknownLevel {}

impl FromStr for Level {
    type Err = UnknownLevel;

    fn from_str(name: &str) -> Result<Self, UnknownLevel> {
        let level = Self::ALL.into_iter().find(|level| level.name() == name);
        level.ok_or_else(|| UnknownLevel(name.to_owned()))
    }
}

impl Level {
    /// The environment variable that lowers [`Level::best`], for comparisons and bug reports.
    pub const VARIABLE: &'static str = "BRC_CPU_LEVEL";

    /// All levels, lowest first.
    pub const ALL: [Self; 4] = [Self::Portable, Self::Neon, Self::Avx2, Self::Avx512];

    /// All levels that this processor supports, [`Level::Portable`] first.
    #[must_use]
    pub fn available() -> Vec<Self> {
        Self::ALL.into_iter().filter(|level| level.is_of_target() && *level <= Self::best()).collect()
    }

    /// The highest level that this processor supports, or a lower one if [`Level::VARIABLE`] is set; the variable is
    /// read once, and invalid values are ignored. A level can be constructed without support for it; kernels therefore
    /// use the minimum of it and this one.
    #[must_use]
    pub fn best() -> Self {
        static BEST: OnceLock<Level> = OnceLock::new();
        *BEST.get_or_init(|| detect().lowered_to(Self::requested().ok().flatten()))
    }

    /// The level in [`Level::VARIABLE`], if the variable is set and not empty.
    ///
    /// # Errors
    /// If the level is unknown.
    pub fn requested() -> Result<Option<Self>, UnknownLevel> {
        match std::env::var_os(Self::VARIABLE) {
            Some(name) if !name.is_empty() => name.to_string_lossy().parse().map(Some),
            _ => Ok(None),
        }
    }

    /// The highest level of this target that is neither above this one nor above `most`.
    fn lowered_to(self, most: Option<Self>) -> Self {
        let most = most.map_or(self, |most| most.min(self));
        let levels = Self::ALL.into_iter().filter(|level| level.is_of_target() && *level <= most);
        levels.max().unwrap_or(Self::Portable)
    }

    fn is_of_target(self) -> bool {
        match self {
            Self::Portable => true,
            Self::Neon => cfg!(target_arch = "aarch64"),
            Self::Avx2 | Self::Avx512 => cfg!(target_arch = "x86_64"),
        }
    }

    /// Whether a fused multiply-add is a single instruction.
    pub(crate) fn has_fma(self) -> bool {
        self.min(Self::best()) != Self::Portable
    }

    /// The name, as shown in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Neon => "neon",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn detect() -> Level {
    let avx2 = is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
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

#[cfg(target_arch = "aarch64")]
fn detect() -> Level {
    Level::Neon
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn detect() -> Level {
    Level::Portable
}

/// 0, 1, 2 … 63: the index of each byte in the widest register.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) static BYTE_INDEXES: [u8; 64] = {
    let mut indexes = [0; 64];
    let mut at = 0;
    while at < 64 {
        indexes[at] = at as u8;
        at += 1;
    }
    indexes
};

/// For each mask of eight bits, the indexes of its ones, lowest first.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) static ONES: [[u8; 8]; 256] = {
    let mut table = [[0; 8]; 256];
    let mut mask = 0;
    while mask < 256 {
        let (mut place, mut count) = (0, 0);
        while place < 8 {
            if mask >> place & 1 == 1 {
                table[mask][count] = place;
                count += 1;
            }
            place += 1;
        }
        mask += 1;
    }
    table
};

/// The four 64-bit integers of a 32-byte register.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn four_lanes(register: std::arch::x86_64::__m256i) -> [i64; 4] {
    let mut lanes = [0; 4];
    // SAFETY: the array is as large as the register.
    unsafe { std::arch::x86_64::_mm256_storeu_si256(lanes.as_mut_ptr().cast(), register) };
    lanes
}

/// A loop that is compiled once for each instruction set.
pub(crate) trait Kernel {
    type Output;

    /// Must be inlined into its caller to be compiled with the caller's instruction set.
    fn run(self) -> Self::Output;
}

/// Runs a kernel with the instructions of `level`, or of the best supported level if that is lower.
#[inline]
pub(crate) fn run_at<K: Kernel>(level: Level, kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    match level.min(Level::best()) {
        // SAFETY: `Level::best` detected these instructions.
        Level::Avx512 => return unsafe { run_avx512(kernel) },
        // SAFETY: as above.
        Level::Avx2 => return unsafe { run_avx2(kernel) },
        Level::Neon | Level::Portable => {}
    }
    let _ = level;
    kernel.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,popcnt,lzcnt")]
fn run_avx512<K: Kernel>(kernel: K) -> K::Output {
    kernel.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,popcnt,lzcnt")]
fn run_avx2<K: Kernel>(kernel: K) -> K::Output {
    kernel.run()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_named() {
        for level in Level::ALL {
            assert_eq!(level.name().parse(), Ok(level));
        }
        let error = "avx1024".parse::<Level>().unwrap_err();
        assert_eq!(error.to_string(), "'avx1024' is no set of instructions; there are portable, neon, avx2, avx512");
    }

    #[test]
    fn levels_are_lowered_but_never_raised() {
        let detected = detect();
        assert_eq!(detected.lowered_to(None), detected);
        for level in Level::ALL {
            let lowered = detected.lowered_to(Some(level));
            assert!(lowered <= level && lowered <= detected && lowered.is_of_target(), "{level:?}: {lowered:?}");
            assert!(!level.is_of_target() || level > detected || lowered == level);
        }
        assert_eq!(Level::available().last(), Some(&Level::best()));
        assert_eq!(Level::Portable.lowered_to(Some(Level::Avx512)), Level::Portable);
    }
}
